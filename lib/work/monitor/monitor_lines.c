/* SPDX-License-Identifier: BSD-3-Clause */
/* Control's half of `monitor`: the frames of several queues, in the order in which they were seen,
 * and no more than people can read. */
#include "monitor_ctl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Frames are let through in so many parts of a second. */
#define PARTS 10
/* A source has room for so many parts, so that a program which stands still for a moment loses
 * nothing. */
#define ROOM_PARTS 16
/* Frames of several queues are held back for so long, so that a later one of another queue does not
 * come before them. */
#define HOLD_NS 5000000ull
#define VLAN_TAG 4
#define TYPE_AT 12
#define TYPE_VLAN 0x8100
#define TYPE_QINQ 0x88a8

/* ---- frames ---- */

static void whole_insert(struct monitor_whole *to, unsigned type, unsigned tci)
{
	if (to->have < TYPE_AT)
		return;
	memmove(to->bytes + TYPE_AT + VLAN_TAG, to->bytes + TYPE_AT, to->have - TYPE_AT);
	put_be16(to->bytes + TYPE_AT, type);
	put_be16(to->bytes + TYPE_AT + 2, tci);
	to->have += VLAN_TAG;
	to->len += VLAN_TAG;
}

void monitor_whole(const struct monitor_frame *is, const uint8_t *bytes, struct monitor_whole *out)
{
	out->len = is->len;
	out->have = RTE_MIN(is->have, (uint32_t)MONITOR_KEEP_MAX);
	memcpy(out->bytes, bytes, out->have);
	if (is->ntags > 0)
		whole_insert(out, TYPE_VLAN, is->tci);
	if (is->ntags > 1)
		whole_insert(out, TYPE_QINQ, is->tci_outer);
}

/* ---- making and freeing ---- */

static void monitor_limit_set(struct monitor_limit *l, unsigned rate)
{
	l->quota = RTE_MAX(rate / PARTS, 1u);
	l->interval = clock_cycles(l->quota * 1000000000ull / rate);
}

static void monitor_destroy(struct monitor *k)
{
	for (unsigned i = 0; i < k->nsources; i++) {
		free(k->source[i]->slot);
		free(k->source[i]);
	}
	free(k->source);
	free(k->number);
	filter_unload(k->filter);
	free(k);
}

static void add_source(struct monitor *k, const struct ctl_port *cp, bool tx, unsigned queue)
{
	struct monitor_source *s = xcalloc_lines(sizeof(*s));

	s->limit = k->limit;
	s->nslots = rte_align32pow2(k->limit.quota * ROOM_PARTS);
	s->slot = xcalloc_lines(s->nslots * sizeof(*s->slot));
	s->end_tsc = k->end_tsc;
	s->filter = k->filter;
	s->port = (uint16_t)cp->p.id;
	s->queue = (uint16_t)queue;
	s->tx = tx;
	s->tap = (struct dp_tx_tap){.offered = monitor_offered, .taken = monitor_taken, .state = s};
	k->source = xrealloc(k->source, (k->nsources + 1) * sizeof(*k->source));
	k->source[k->nsources++] = s;
}

/* Memory of the tasks of workers, which stays until the port is closed. */
static int port_states(const struct ctl *c, const struct ctl_port *cp, struct err *e)
{
	struct monitor_port *mp = monitor_of_port(cp);

	if (mp->state == NULL)
		mp->state = xcalloc(c->nworkers, sizeof(struct monitor_state *));
	for (unsigned q = 0; q < cp->p.ntxq; q++) {
		struct monitor_state **state = &mp->state[cp->tx_worker[q]];
		if (*state == NULL)
			*state = state_new(sizeof(**state), c->worker[cp->tx_worker[q]].node);
		if (*state == NULL)
			return err_set(e, ENOMEM, "no memory to monitor port %u", cp->p.id);
	}
	return 0;
}

static int add_port(const struct ctl *c, struct monitor *k, const struct ctl_port *cp,
		    struct err *e)
{
	unsigned nrx = k->spec.rx ? cp->p.nrxq : 0, ntx = k->spec.tx ? cp->p.ntxq : 0;

	for (unsigned q = 0; q < nrx; q++)
		add_source(k, cp, false, q);
	for (unsigned q = 0; q < ntx; q++)
		add_source(k, cp, true, q);
	return ntx > 0 ? port_states(c, cp, e) : 0;
}

static void monitor_replan(struct ctl *c, const struct monitor *k)
{
	for (unsigned w = 0; w < c->nworkers; w++)
		if (worker_serves(c, w, &k->spec.ports, &k->spec.ports))
			ctl_replan(c, w);
}

static int port_may(const struct ctl_port *cp, const struct monitor_spec *spec, struct err *e)
{
	if (monitor_of_port(cp)->now != NULL)
		return err_set(
			e, EBUSY,
			"port %u is being monitored already, by another client or script; `show frame %u rx` works beside that",
			cp->p.id, cp->p.id);
	if ((spec->rx ? cp->p.nrxq : 0) + (spec->tx ? cp->p.ntxq : 0) == 0)
		return err_set(e, EINVAL, "port %u has no %s queue, so there is nothing to monitor",
			       cp->p.id,
			       !spec->tx   ? "Rx"
			       : !spec->rx ? "Tx"
					   : "used");
	return 0;
}

int monitor_may_start(const struct ctl *c, const struct monitor_spec *spec, struct err *e)
{
	int rc = 0;

	for (unsigned i = 0; i < c->nports && rc == 0; i++)
		if (portset_has(&spec->ports, i))
			rc = port_may(c->port[i], spec, e);
	return rc;
}

int monitor_start(struct ctl *c, const struct monitor_spec *spec, const struct filter_prog *prog,
		  struct monitor **out, struct err *e)
{
	struct monitor *k = xcalloc(1, sizeof(*k));
	int rc = monitor_may_start(c, spec, e);

	k->spec = *spec;
	if (rc == 0 && prog != NULL)
		rc = filter_load(prog, &k->filter, e);
	monitor_limit_set(&k->limit, spec->rate);
	k->begin_tsc = clock_tsc();
	k->begin_ns = clock_wall_ns();
	k->end_tsc = spec->for_ns > 0 ? k->begin_tsc + clock_cycles(spec->for_ns) : UINT64_MAX;
	for (unsigned i = 0; i < c->nports && rc == 0; i++)
		if (portset_has(&spec->ports, i))
			rc = add_port(c, k, c->port[i], e);
	if (rc < 0) {
		monitor_destroy(k);
		return rc;
	}
	k->number = xcalloc(k->nsources + 1u, sizeof(*k->number));
	k->armed = true;
	k->next = monitor_all_of(c)->first;
	monitor_all_of(c)->first = k;
	for (unsigned i = 0; i < c->nports; i++)
		if (portset_has(&spec->ports, i))
			monitor_of_port(c->port[i])->now = k;
	monitor_replan(c, k);
	*out = k;
	return 0;
}

void monitor_stop(struct ctl *c, struct monitor *k)
{
	if (!k->armed)
		return;
	k->armed = false;
	for (unsigned i = 0; i < c->nports; i++)
		if (monitor_of_port(c->port[i])->now == k)
			monitor_of_port(c->port[i])->now = NULL;
	monitor_replan(c, k);
}

void monitor_free(struct ctl *c, struct monitor *k)
{
	if (k == NULL)
		return;
	monitor_stop(c, k);
	k->gone = true;
}

void monitor_release(struct ctl *c, void *monitor)
{
	(void)c;
	((struct monitor *)monitor)->refs--;
}

bool monitor_sweeps(const struct ctl *c)
{
	for (const struct monitor *k = monitor_all_of(c)->first; k != NULL; k = k->next)
		if (k->gone)
			return true;
	return false;
}

void monitor_sweep(struct ctl *c)
{
	struct monitor **at = &monitor_all_of(c)->first, *k;

	while ((k = *at) != NULL) {
		if (!k->gone || k->refs > 0) {
			at = &k->next;
			continue;
		}
		*at = k->next;
		monitor_destroy(k);
	}
}

/* ---- lines ---- */

bool monitor_over(const struct monitor *k)
{
	return !k->armed && k->refs == 0;
}

/* The source whose next frame was seen first, but not after until_tsc; -1: none. */
static int monitor_oldest(const struct monitor *k, uint64_t until_tsc)
{
	uint64_t oldest = until_tsc;
	int found = -1;

	for (unsigned i = 0; i < k->nsources; i++) {
		const struct monitor_slot *slot = monitor_next(k->source[i]);
		if (slot != NULL &&
		    (slot->is.tsc < oldest || (found < 0 && slot->is.tsc == oldest))) {
			oldest = slot->is.tsc;
			found = (int)i;
		}
	}
	return found;
}

bool monitor_line_next(struct monitor *k, struct monitor_line *out)
{
	uint64_t until = UINT64_MAX;
	int i;

	if (k->nsources > 1 && !monitor_over(k))
		until = clock_tsc() - clock_cycles(HOLD_NS);
	while ((i = monitor_oldest(k, until)) >= 0) {
		struct monitor_source *s = k->source[i];
		const struct monitor_slot *slot = monitor_next(s);
		const struct monitor_frame is = slot->is;
		bool may = monitor_limit_left(&k->limit, is.tsc) > 0;
		if (may)
			monitor_whole(&is, slot->bytes, &k->whole);
		monitor_read(s);
		k->passed += is.number - k->number[i] - 1 + !may;
		k->number[i] = is.number;
		if (!may)
			continue;
		monitor_limit_take(&k->limit, is.tsc, 1);
		*out = (struct monitor_line){.port = s->port,
					     .queue = s->queue,
					     .tx = s->tx,
					     .wall_ns =
						     k->begin_ns + clock_ns(is.tsc - k->begin_tsc),
					     .not_shown = k->passed,
					     .len = k->whole.len,
					     .have = k->whole.have,
					     .bytes = k->whole.bytes};
		k->passed = 0;
		k->shown++;
		return true;
	}
	return false;
}

void monitor_count(const struct monitor *k, struct monitor_counts *out)
{
	*out = (struct monitor_counts){.shown = k->shown};
	for (unsigned i = 0; i < k->nsources; i++) {
		out->matched += cell_get(&k->source[i]->matched);
		out->full += cell_get(&k->source[i]->full);
	}
	out->not_shown = out->matched - out->shown;
}
