/* SPDX-License-Identifier: BSD-3-Clause */
/* The networks and tunnels of flows: those of a design get their numbers on a port. A port has
 * room for as many as there are numbers in what a machine is told of a frame (FLOWS_IDENTS), and
 * keeps all that it ever had. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "flows_ctl.h"

unsigned flows_idents_add(struct flows_idents *t, unsigned shape, const uint64_t *value,
			  unsigned nids)
{
	unsigned ident = flows_ident(t, shape, value, nids);
	uint32_t at = flows_key_slot(shape, value, nids);

	if (ident != FLOWS_IDENTS || t->n == FLOWS_IDENTS)
		return ident;
	ident = t->n++;
	t->key[ident].shape = shape;
	memcpy(t->key[ident].value, value, nids * sizeof(*value));
	while (t->slot[at] != 0)
		at = (at + 1) & (FLOWS_SLOTS - 1);
	__atomic_store_n(&t->slot[at], (uint16_t)(ident + 1), __ATOMIC_RELEASE);
	return ident;
}

/* Where a shape is among those of a port, at most FLOWS_SHAPES, which get it if they do not have
 * it. FLOWS_SHAPES: there is no room. */
static unsigned idents_shape(struct flows_shape *in, unsigned *n, const struct flows_shape *s)
{
	for (unsigned k = 0; k < *n; k++)
		if (memcmp(&in[k], s, sizeof(*s)) == 0)
			return k;
	if (*n == FLOWS_SHAPES)
		return FLOWS_SHAPES;
	in[*n] = *s;
	return (*n)++;
}

/* How many of a design's networks the engine does not have; those of a shape that is new are all
 * new. place: of the design's shapes. */
static uint32_t idents_new(const struct flows_engine *x, const struct flows_design *d,
			   const unsigned place[FLOWS_SHAPES])
{
	const struct flows_idents *t = d->idents;
	uint32_t n = 0;

	for (uint32_t i = 0; i < t->n; i++) {
		const struct flows_key *k = &t->key[i];
		n += flows_ident(x->idents, place[k->shape], k->value, d->shape[k->shape].nids) ==
		     FLOWS_IDENTS;
	}
	return n;
}

/* Adds up what designs would need beside what the engine has. */
struct idents_need {
	struct flows_shape shape[FLOWS_SHAPES];
	unsigned nshapes;
	uint64_t idents;
	bool fits;
};

static void idents_need(const struct flows_engine *x, const struct flows_design *d,
			struct idents_need *need)
{
	unsigned place[FLOWS_SHAPES];

	for (unsigned i = 0; i < d->nshapes; i++) {
		place[i] = idents_shape(need->shape, &need->nshapes, &d->shape[i]);
		need->fits &= place[i] != FLOWS_SHAPES;
	}
	if (need->fits)
		need->idents += idents_new(x, d, place);
	need->fits &= need->idents <= FLOWS_IDENTS;
}

bool flows_engine_fits(const struct flows_engine *x, struct flows_design *const *d, unsigned n)
{
	struct idents_need need = {.nshapes = x->nshapes, .idents = x->idents->n, .fits = true};

	memcpy(need.shape, x->shape, sizeof(need.shape));
	for (unsigned i = 0; i < n && need.fits; i++)
		if (d[i] != NULL)
			idents_need(x, d[i], &need);
	return need.fits;
}

/* A server with several paths: which one whose answers take. */
static void idents_paths(struct flows_design *d)
{
	d->nidents = 0;
	for (uint32_t i = 0; i < d->idents->n; i++)
		d->nidents = RTE_MAX(d->nidents, d->ident[i] + 1u);
	d->path_of = xcalloc(d->nidents, sizeof(*d->path_of));
	for (unsigned i = 0; i < d->npath; i++)
		d->path_of[d->path[i].ident] = (uint16_t)(i + 1);
}

int flows_engine_idents(struct flows_engine *x, struct flows_design *d, const struct flows_one *f,
			struct err *e)
{
	unsigned place[FLOWS_SHAPES];

	if (!flows_engine_fits(x, &d, 1))
		return err_set(
			e, EINVAL,
			"stream %u is a flow, and the flows of its port have had more than %u different stacks of headers, or %u VLANs, labels "
			"or tunnels, since it was started: fewer, or a new start",
			f->id, FLOWS_SHAPES, FLOWS_IDENTS);
	for (unsigned i = 0; i < d->nshapes; i++)
		place[i] = idents_shape(x->shape, &x->nshapes, &d->shape[i]);
	d->ident = xcalloc(d->idents->n, sizeof(*d->ident));
	for (uint32_t i = 0; i < d->idents->n; i++) {
		const struct flows_key *k = &d->idents->key[i];
		d->ident[i] = (uint16_t)flows_idents_add(x->idents, place[k->shape], k->value,
							 d->shape[k->shape].nids);
	}
	for (unsigned i = 0; i < d->npath; i++)
		d->path[i].ident = d->ident[d->path_ident[i]];
	if (!d->client && d->npath > 1)
		idents_paths(d);
	return 0;
}
