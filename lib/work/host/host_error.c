/* SPDX-License-Identifier: BSD-3-Clause */
#include "host_error.h"

#include <stdlib.h>
#include <string.h>

#include "host_ctl.h"
#include "host_error_run.h"

_Static_assert(sizeof(struct cnt_icmp) == NEIGH_ERROR_KINDS * sizeof(uint64_t),
	       "a counter for each kind, in the same order");

static struct host_errors *errors_of(const struct ctl_port *cp)
{
	return &host_of_port(cp)->errors;
}

/* ---- what the port sends ---- */

/* The bits that vary in the frames of a recipe, as an image of the frame. */
static void error_varies(const struct frame_recipe *r, uint8_t *varies)
{
	memset(varies, 0, r->hdr_len);
	memset(varies + r->hdr_len, r->random_payload ? 0xff : 0, (size_t)(r->len - r->hdr_len));
	for (unsigned i = 0; i < r->nvars; i++)
		for (uint32_t bit = r->var[i].bit; bit < r->var[i].bit + r->var[i].bits; bit++)
			varies[bit / 8] |= (uint8_t)(0x80 >> bit % 8);
}

/* What the stream sends, by its first recipe: those of other sizes differ from it in lengths and
 * checksums alone. false: no error can be about it. */
static bool error_sent(const struct stream *s, struct neigh_sent *out)
{
	const struct frame_recipe *r = &s->frames->recipe[0];
	uint8_t *varies = xcalloc(1, r->len);

	error_varies(r, varies);
	bool some = neigh_sent_read(r->bytes, varies, r->len, out);
	free(varies);
	/* A work that carries the stream may have ports of its own. */
	if (!stream_scheduled(s))
		memset(out->fixed.ports, 0, sizeof(out->fixed.ports));
	if (stream_answers(s))
		memset(out->fixed.dst, 0, sizeof(out->fixed.dst));
	out->of = s->cell;
	return some;
}

/* Lists what the port sends, from its first start on. */
static void errors_list(struct ctl *c, struct ctl_port *cp, struct host_errors *x)
{
	struct err e;

	x->stale = x->more = false;
	x->nsent = 0;
	if (x->sent == NULL)
		x->sent = xcalloc(HOST_ERROR_SENT, sizeof(*x->sent));
	for (unsigned i = 0; i < cp->nstreams && cp->run.id != 0; i++) {
		struct stream *s = stream_at(cp, i);
		struct neigh_sent sent;
		if (s == NULL || !s->cfg.enabled || stream_recipes(c, cp, s, &e) < 0 ||
		    !error_sent(s, &sent))
			continue;
		if (x->nsent == HOST_ERROR_SENT) {
			x->more = x->over = true;
			break;
		}
		x->sent[x->nsent++] = sent;
	}
}

void host_error_prepare(struct ctl *c, struct ctl_port *cp, uint32_t why)
{
	struct host_port *h = host_of_port(cp);

	(void)why;
	h->errors.stale = true;
	for (unsigned w = 0; h->n != NULL && w < c->nworkers; w++)
		if (h->state[w] != NULL)
			ctl_replan(c, w);
}

/* ---- plans ---- */

/* The state of a worker, which is large and made for hosts alone. NULL: there is no memory. */
static struct host_error_state *errors_state(const struct ctl *c, struct host_errors *x,
					     unsigned worker)
{
	if (x->state == NULL)
		x->state = xcalloc(c->nworkers + 1u, sizeof(struct host_error_state *));
	if (x->state[worker] == NULL)
		x->state[worker] = state_new(sizeof(struct host_error_state) +
						     CTL_CELLS * sizeof(struct host_error_stream),
					     c->worker[worker].node);
	return x->state[worker];
}

void host_error_fill(struct ctl *c, struct ctl_port *cp, struct plan_writer *w,
		     const struct host_job_link *link, unsigned nlinks)
{
	struct host_port *h = host_of_port(cp);
	struct host_errors *x = &h->errors;
	unsigned worker = plan_worker(w);
	struct host_error_state *state = errors_state(c, x, worker);

	if (state == NULL) {
		x->more = x->over = true;
		return;
	}
	if (x->stale || x->sent == NULL)
		errors_list(c, cp, x);
	struct host_error_job *j = plan_carve(w, sizeof(*j));
	j->link = link;
	j->nlinks = nlinks;
	j->host = h->state[worker];
	j->nsent = x->nsent;
	memcpy(j->sent, x->sent, x->nsent * sizeof(j->sent[0]));
	unsigned task = plan_task(
		w, &(struct dp_task){.kind = &dp_kind_host_error, .state = &state->base, .job = j},
		NULL);
	for (unsigned q = 0; q < cp->p.nrxq; q++) {
		struct dp_duty *duty = plan_duty(w, cp, q);
		if (duty != NULL)
			plan_sort(duty, host_error_claims, j, task);
	}
}

/* ---- what is known ---- */

/* How many states there may be. */
static unsigned errors_states(const struct ctl_port *cp)
{
	return errors_of(cp)->state != NULL ? host_of_port(cp)->nworkers : 0;
}

/* Sums over all workers, since open. */
static void errors_count(const struct ctl_port *cp, struct cnt_icmp *sum)
{
	const struct host_errors *x = errors_of(cp);
	uint64_t *to = (uint64_t *)sum;

	*sum = (struct cnt_icmp){0};
	for (unsigned w = 0; w < errors_states(cp); w++)
		for (unsigned i = 0; x->state[w] != NULL && i < NEIGH_ERROR_KINDS; i++)
			to[i] += cell_get(&x->state[w]->kind[i]);
}

void host_error_icmp(const struct ctl_port *cp, unsigned cell, struct stream_icmp *sum)
{
	const struct host_errors *x = errors_of(cp);

	sum->known = host_of_port(cp)->n != NULL && !x->over;
	for (unsigned w = 0; w < errors_states(cp); w++) {
		if (x->state[w] == NULL)
			continue;
		const struct host_error_stream *from = &x->state[w]->stream[cell];
		sum->unreachable += cell_get(&from->n[HOST_ERROR_UNREACHABLE]);
		sum->too_big += cell_get(&from->n[HOST_ERROR_TOO_BIG]);
		sum->time_exceeded += cell_get(&from->n[HOST_ERROR_EXCEEDED]);
		sum->other += cell_get(&from->n[HOST_ERROR_OTHER]);
		sum->shared += cell_get(&from->shared);
	}
}

void host_error_snap(const struct ctl_port *cp, struct snap_port *s)
{
	const struct host_errors *x = errors_of(cp);
	const uint64_t *base = (const uint64_t *)&x->base;
	uint64_t *now = (uint64_t *)&s->icmp;

	s->icmp_known = host_of_port(cp)->n != NULL && !x->over;
	errors_count(cp, &s->icmp);
	for (unsigned i = 0; i < NEIGH_ERROR_KINDS; i++)
		now[i] -= base[i];
}

void host_error_clear(struct ctl_port *cp)
{
	errors_count(cp, &errors_of(cp)->base);
	errors_of(cp)->over = errors_of(cp)->more;
}

void host_error_free(struct ctl_port *cp)
{
	struct host_errors *x = errors_of(cp);

	for (unsigned w = 0; w < errors_states(cp); w++)
		rte_free(x->state[w]);
	free(x->state);
	free(x->sent);
}
