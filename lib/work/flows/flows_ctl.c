/* SPDX-License-Identifier: BSD-3-Clause */
/* Control's half of the work flows: streams whose frames are connections. */
#include "flows_ctl.h"

#include <errno.h>
#include <stdlib.h>

#define TICK_NS 1000000000ull

static void flows_cfg_init(void *cfg)
{
	struct flows_cfg *f = cfg;
	uint64_t cps;

	value_default(&vt_uint, FLOWS_DFLT_CPS, &cps);
	f->cps = (struct rate){.kind = RATE_PPS, .value = (double)cps};
	value_default(&vt_duration, FLOWS_DFLT_DRAIN, &f->drain_ns);
	value_default(&vt_duration, FLOWS_DFLT_TIMEWAIT, &f->timewait_ns);
	value_default(&vt_duration, FLOWS_DFLT_RTO, &f->rto_ns);
	value_default(&vt_uint, FLOWS_DFLT_RETRIES, &f->retries);
	value_default(&vt_uint, FLOWS_DFLT_PIPELINE, &f->pipeline);
	value_default(&vt_uint, FLOWS_DFLT_PIPELINE, &f->bytes_pipeline);
	value_default(&vt_uint, FLOWS_DFLT_TRANSACTIONS, &f->transactions);
	value_default(&vt_bool, FLOWS_DFLT_SACK, &f->sack);
}

static bool flows_carries(const struct stream_cfg *cfg)
{
	return flows_cfg_of(cfg)->role != FLOWS_OFF;
}

static bool flows_answers(const struct stream_cfg *cfg)
{
	return flows_cfg_of(cfg)->role == FLOWS_SERVER;
}

/* ---- opening and closing ---- */

/* A connection receives and sends on one worker: so each queue has to have both sides there. */
static bool flows_both_sides(const struct ctl_port *cp)
{
	bool both = cp->p.ntxq > 0 && cp->p.ntxq == cp->p.nrxq;

	for (unsigned q = 0; q < cp->p.ntxq && both; q++)
		both = cp->rx_worker[q] == cp->tx_worker[q];
	return both;
}

static int flows_port_open(struct ctl *c, struct ctl_port *cp, struct err *e)
{
	struct flows_port *p = flows_of(cp);

	p->c = c;
	if (!flows_both_sides(cp))
		return 0;
	p->nqueues = cp->p.ntxq;
	p->share = xcalloc(p->nqueues, sizeof(*p->share));
	p->sizes_before = xcalloc(p->nqueues, sizeof(*p->sizes_before));
	p->handed = xcalloc_lines(p->nqueues * sizeof(*p->handed));
	p->handed_base = xcalloc_lines(p->nqueues * sizeof(*p->handed_base));
	for (unsigned q = 0; q < p->nqueues; q++) {
		p->share[q] = tx_share(&cp->p, q, c->worker[cp->tx_worker[q]].node, false);
		if (p->share[q] == NULL)
			return err_set(e, ENODEV, "no memory for the flows of port %u", cp->p.id);
	}
	return 0;
}

/* Workers and plans are gone, and with them all that uses machines of before. */
static void flows_port_close(struct ctl *c, struct ctl_port *cp)
{
	struct flows_port *p = flows_of(cp);

	(void)c;
	for (struct flows_one *f = p->first; f != NULL; f = f->next)
		flows_one_drop(f);
	flows_engine_unref(p, p->engine);
	flows_request_unref(p->request);
	while (p->first != NULL) {
		struct flows_one *f = p->first;
		p->first = f->next;
		flows_one_free(f);
	}
	free(p->share);
	free(p->sizes_before);
	free(p->handed);
	free(p->handed_base);
}

/* ---- in each turn ---- */

/* All ports: whether flows compare what they receive is a matter of both ends. */
static void flows_prepared(struct ctl *c)
{
	for (unsigned i = 0; i < c->nports; i++)
		if (c->port[i]->p.used && ctl_port_runs(c->port[i]))
			flows_follow(c, c->port[i]);
}

static void flows_step(struct ctl *c)
{
	flows_follow_ends(c);
	flows_hold_follow(c);
}

static bool flows_used(const struct flows_port *p)
{
	return p->engine != NULL;
}

static void flows_tick(struct flows_port *p, uint64_t now)
{
	if (p->prev_ns != 0 && now - p->prev_ns < TICK_NS)
		return;
	for (struct flows_one *f = p->first; f != NULL && p->prev_ns != 0; f = f->next)
		flows_one_tick(f, (double)(now - p->prev_ns) / 1e9);
	p->prev_ns = now;
	flows_reap(p);
}

static void flows_turn(struct ctl *c)
{
	uint64_t now = clock_raw_ns();

	for (unsigned i = 0; i < c->nports; i++)
		if (flows_used(flows_of(c->port[i])))
			flows_tick(flows_of(c->port[i]), now);
}

static uint64_t flows_next_ns(const struct ctl *c)
{
	uint64_t next = UINT64_MAX, now = clock_raw_ns();

	for (unsigned i = 0; i < c->nports; i++) {
		const struct flows_port *p = flows_of(c->port[i]);
		if (flows_used(p)) {
			uint64_t at = p->prev_ns + TICK_NS;
			next = RTE_MIN(next, at > now ? at - now : 0);
		}
	}
	return next;
}

static bool flows_writes(const struct ctl *c)
{
	for (unsigned i = 0; i < c->nports; i++)
		if (flows_used(flows_of(c->port[i])))
			return true;
	return false;
}

/* ---- what is known ---- */

struct flows_hand_counts flows_handed(const struct flows_port *p, unsigned queue)
{
	const struct flows_hand_counts *k = &p->handed[queue];

	return (struct flows_hand_counts){.handed = cell_get(&k->handed),
					  .full = cell_get(&k->full),
					  .taken = cell_get(&k->taken)};
}

static void flows_clear(struct ctl *c, const struct portset *ports)
{
	for (unsigned i = 0; i < c->nports; i++) {
		struct flows_port *p = flows_of(c->port[i]);
		if (!portset_has(ports, i))
			continue;
		for (struct flows_one *f = p->first; f != NULL; f = f->next)
			flows_one_clear(f);
		for (unsigned q = 0; q < p->nqueues; q++)
			p->handed_base[q] = flows_handed(p, q);
		p->strays_base = flows_strays(p);
	}
}

static bool flows_sizes(const struct ctl_port *cp, unsigned queue, struct cnt_sizes *sum)
{
	const struct flows_port *p = flows_of(cp);

	if (queue >= p->nqueues)
		return true;
	for (unsigned i = 0; i < CNT_NSIZES; i++)
		sum->n[i] += p->sizes_before[queue].n[i];
	for (const struct flows_engine *x = p->engine, *older = p->old; x != NULL;
	     x = older, older = older != NULL ? older->older : NULL)
		for (unsigned i = 0; i < CNT_NSIZES; i++)
			sum->n[i] += cell_get(&x->queue[queue].state->sizes.n[i]);
	return true;
}

static void flows_claimed(const struct ctl *c, const struct ctl_port *cp, struct cnt_claimed *sum)
{
	const struct flows_port *p = flows_of(cp);

	(void)c;
	sum->frames += p->claimed_before.frames;
	sum->group += p->claimed_before.group;
	for (const struct flows_engine *x = p->engine, *older = p->old; x != NULL;
	     x = older, older = older != NULL ? older->older : NULL)
		for (unsigned q = 0; q < x->nqueues; q++) {
			sum->frames += cell_get(&x->queue[q].state->claimed);
			sum->group += cell_get(&x->queue[q].state->claimed_group);
		}
}

static const char *flows_engine_name(const struct ctl_port *cp, const struct stream *s)
{
	(void)cp;
	return flows_is_on(s) ? "flow" : NULL;
}

const struct work work_flows = {
	.name = "flows",
	.port_bytes = sizeof(struct flows_port),
	.stream_cfg_bytes = sizeof(struct flows_cfg),
	.stream_cfg_init = flows_cfg_init,
	.carries = flows_carries,
	.answers = flows_answers,
	.of_program = flows_arm_has,
	.carried_frame = "eth/ipv4/tcp",
	.port_open = flows_port_open,
	.port_close = flows_port_close,
	.prepared = flows_prepared,
	.holds_starts = flows_holds,
	.fill = flows_fill,
	.writes = flows_writes,
	.step = flows_step,
	.turn = flows_turn,
	.next_ns = flows_next_ns,
	.clear = flows_clear,
	.sizes = flows_sizes,
	.claimed = flows_claimed,
	.engine = flows_engine_name,
	.task_json = flows_task_json,
	.plan_json = flows_plan_json,
	.run = &flows_run,
	.calls = &flows_calls,
};
