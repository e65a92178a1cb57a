/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds copies that came in on two Rx queues. Nothing is needed for a flow that came in on one
 * queue only. For all others the windows of the queues are merged (prx_merge.h), again and again
 * while they move: over all queues of the process and, if several ports have Rx queues, over those
 * of each port too. The latter begins as soon as the flow comes in on two queues of a port, so that
 * a copy on another port does not change what is known of this one. */
#include <stdlib.h>
#include <string.h>

#include "probe_int.h"

#define TURN_NS 500000   /* of control's time in each turn */
#define LOOK_AT_CLOCK 64 /* after so many flows, control looks at the clock */

/* The merging of one flow. NULL: not needed so far. port[rx] is NULL if the flow came in on at most
 * one queue of that port. */
struct flow_merge {
	struct prx_merge *all, **port;
};

struct probe_merge {
	/* base: index of the first flow of a sending port. at: flow with which the next turn goes
	 * on. */
	uint32_t base[PROBE_PORTS], nflows, at;
	uint32_t nports;
	bool moved;   /* some flow on several queues has come in since the last turn */
	bool starved; /* there was no memory for the merging of some flow */
	size_t bytes; /* memory taken so far */
	struct flow_merge *flow;
};

static size_t merge_bytes(unsigned nqueues, uint32_t nblocks)
{
	return RTE_ALIGN_CEIL(prx_merge_size(nqueues, nblocks), CACHE_LINE);
}

/* The most is taken if each flow comes in on each queue: then its windows are merged over all
 * queues, and over those of each port. */
size_t probe_merge_most(const struct ctl *c, const struct prx_spec *s)
{
	size_t flows = 0, each, own = 0;
	unsigned queues = 0, ports = 0;

	for (unsigned p = 0; p < c->nports; p++) {
		unsigned n = c->port[p]->p.used ? c->port[p]->p.nrxq : 0;
		queues += n;
		ports += n > 0;
		own += n > 1 ? merge_bytes(n, s->window_blocks) : 0;
	}
	if (queues < 2)
		return 0;
	each = merge_bytes(queues, s->window_blocks) +
	       (ports > 1 ? own + c->nports * sizeof(struct prx_merge *) : 0);
	for (unsigned p = 0; p < s->nports; p++)
		flows += (size_t)s->of[p].nstreams * s->of[p].nqueues;
	return sizeof(struct probe_merge) + (flows + 1) * sizeof(struct flow_merge) + flows * each;
}

size_t probe_merge_bytes(const struct probe_merge *m)
{
	return m != NULL ? m->bytes : 0;
}

struct probe_merge *probe_merge_new(const struct probe_arm *a, unsigned nports)
{
	struct probe_merge *m = xcalloc(1, sizeof(*m));

	for (unsigned p = 0; p < a->spec.nports; p++) {
		m->base[p] = m->nflows;
		m->nflows += (uint32_t)a->spec.of[p].nstreams * a->spec.of[p].nqueues;
	}
	m->nports = nports;
	m->flow = xcalloc(m->nflows + 1, sizeof(*m->flow));
	m->bytes = sizeof(*m) + (m->nflows + 1) * sizeof(*m->flow);
	return m;
}

void probe_merge_free(struct probe_merge *m)
{
	if (m == NULL)
		return;
	for (uint32_t i = 0; i < m->nflows; i++) {
		for (unsigned p = 0; m->flow[i].port != NULL && p < m->nports; p++)
			free(m->flow[i].port[p]);
		free(m->flow[i].port);
		free(m->flow[i].all);
	}
	free(m->flow);
	free(m);
}

static struct prx_merge *probe_merge_make(struct probe_merge *m, unsigned nqueues, uint32_t nblocks)
{
	size_t size = merge_bytes(nqueues, nblocks);
	struct prx_merge *g = aligned_alloc(CACHE_LINE, size);

	if (g == NULL) {
		m->starved = true;
		return NULL;
	}
	memset(g, 0, size);
	prx_merge_init(g, nqueues, nblocks);
	m->bytes += size;
	return g;
}

struct flow_id {
	unsigned tx, cell, queue;
};

/* Has the flow come in on this tap's queue? */
static bool probe_merge_heard(const struct probe_tap *t, const struct flow_id *f)
{
	const struct prx_flow *flow = prx_flow(t->prx, f->tx, f->cell, f->queue);

	return cell_get(&flow->received) + cell_get(&flow->corrupted) > 0;
}

/* Looks at the windows of n taps from the tap `first` on. The numbers of queues in g are the places
 * of taps, counted from there. */
static void probe_merge_pass(struct prx_merge *g, const struct probe_arm *a,
			     const struct flow_id *f, unsigned first, unsigned n)
{
	uint32_t nblocks;

	for (unsigned t = first; g != NULL && t < first + n; t++) {
		const struct prx_flow *flow = prx_flow(a->tap[t].prx, f->tx, f->cell, f->queue);
		a->merge->moved |= prx_merge_pass(g, t - first, flow,
						  prx_window(a->tap[t].prx, f->tx, f->cell,
							     f->queue, &nblocks));
	}
}

static unsigned taps_of_port(const struct probe_arm *a, unsigned first)
{
	unsigned n = 0;

	while (first + n < a->ntaps && a->tap[first + n].port == a->tap[first].port)
		n++;
	return n;
}

static void pass_ports(struct probe_arm *a, struct flow_merge *m, const struct flow_id *f)
{
	if (m->port == NULL) {
		m->port = xcalloc(a->merge->nports, sizeof(*m->port));
		a->merge->bytes += a->merge->nports * sizeof(*m->port);
	}
	for (unsigned t = 0, n; t < a->ntaps; t += n) {
		unsigned hears = 0;
		n = taps_of_port(a, t);
		for (unsigned i = 0; i < n; i++)
			hears += probe_merge_heard(&a->tap[t + i], f);
		struct prx_merge **g = &m->port[a->tap[t].port];
		if (*g == NULL && hears > 1)
			*g = probe_merge_make(a->merge, n, a->spec.window_blocks);
		probe_merge_pass(*g, a, f, t, n);
	}
}

/* Do several ports have Rx queues? Taps are in the order of their ports. */
static bool several_ports(const struct probe_arm *a)
{
	return a->tap[0].port != a->tap[a->ntaps - 1].port;
}

/* Looks at the windows of one flow, if it came in on several queues. */
static void probe_merge_look(struct probe_arm *a, const struct flow_id *f)
{
	struct flow_merge *m = &a->merge->flow[a->merge->base[f->tx] +
					       f->cell * a->spec.of[f->tx].nqueues + f->queue];
	unsigned hears = 0;

	for (unsigned t = 0; t < a->ntaps; t++)
		hears += probe_merge_heard(&a->tap[t], f);
	if (hears < 2)
		return;
	if (m->all == NULL)
		m->all = probe_merge_make(a->merge, a->ntaps, a->spec.window_blocks);
	probe_merge_pass(m->all, a, f, 0, a->ntaps);
	if (several_ports(a))
		pass_ports(a, m, f);
}

static struct flow_id flow_at(const struct probe_arm *a, uint32_t i)
{
	unsigned tx = 0;

	while (tx + 1u < a->spec.nports && a->merge->base[tx + 1] <= i)
		tx++;
	i -= a->merge->base[tx];
	return (struct flow_id){.tx = tx,
				.cell = i / a->spec.of[tx].nqueues,
				.queue = i % a->spec.of[tx].nqueues};
}

bool probe_merge_turn(struct probe_arm *a)
{
	struct probe_merge *m = a->merge;
	uint64_t until = clock_tsc() + clock_cycles(TURN_NS);

	for (uint32_t i = 0; m != NULL && i < m->nflows; i++) {
		if (i % LOOK_AT_CLOCK == LOOK_AT_CLOCK - 1 && clock_tsc() > until)
			break;
		if (m->at >= m->nflows)
			m->at = 0;
		struct flow_id f = flow_at(a, m->at++);
		probe_merge_look(a, &f);
	}
	bool moved = m != NULL && m->moved;
	if (m != NULL)
		m->moved = false;
	return moved;
}

/* ---- results ---- */

/* Adds the copies found of one flow on port rx; -1: on all ports together. */
static void add_flow(const struct probe_arm *a, const struct flow_id *f, int rx,
		     struct flow_live *out)
{
	const struct flow_merge *m =
		&a->merge->flow[a->merge->base[f->tx] + f->cell * a->spec.of[f->tx].nqueues +
				f->queue];
	const struct prx_merge *g = m->all;

	if (rx >= 0 && several_ports(a))
		g = m->port != NULL ? m->port[rx] : NULL;
	else if (rx >= 0 && a->tap[0].port != (unsigned)rx)
		g = NULL;
	if (g == NULL) {
		out->sum.missed += a->merge->starved;
		return;
	}
	struct prx_merged r = prx_merge_result(g);
	out->sum.crossed += r.crossed;
	out->sum.missed += r.missed;
}

void probe_crossed(struct probe_arm *a, int rx, unsigned tx, int cell, struct flow_live *io)
{
	if (a->merge == NULL || tx >= a->spec.nports)
		return;
	unsigned n = a->spec.of[tx].nstreams, c0 = cell < 0 ? 0 : (unsigned)cell,
		 c1 = cell < 0 ? n : c0 + 1;
	for (unsigned c = c0; c < c1 && c < n; c++)
		for (unsigned q = 0; q < a->spec.of[tx].nqueues; q++) {
			struct flow_id f = {tx, c, q};
			probe_merge_look(a, &f);
			add_flow(a, &f, rx, io);
		}
}
