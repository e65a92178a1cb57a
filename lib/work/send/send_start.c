/* SPDX-License-Identifier: BSD-3-Clause */
/* The runs of this work (struct work_run): whether a port may start, and what has come of a run. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "send_groups.h"

/* ---- a start ---- */

/* Returns how many frames the port's schedule sends at most; 0: no bound. */
static uint64_t count_of(const struct ctl_port *cp, const struct run_ask *ask)
{
	return ask->own_count ? ask->count : cp->cfg.count;
}

static const struct rate *rate_of(const struct ctl_port *cp, const struct run_ask *ask)
{
	return ask->rate != NULL ? ask->rate : &cp->cfg.rate;
}

/* Returns how many of the port's Tx queues the run sends on. */
static unsigned queues_of(const struct ctl_port *cp, const struct run_ask *ask)
{
	return ask->queues != 0 && ask->queues < cp->p.ntxq ? ask->queues : cp->p.ntxq;
}

/* Refuses a stream whose frames are sent as fast as possible and have arrivals other than constant:
 * these need deadlines. */
static int check_times(const struct ctl_port *cp, const struct run_ask *ask, const struct stream *s,
		       unsigned id, struct err *e)
{
	bool own = s->cfg.rate.set;
	const struct rate *r = own ? &s->cfg.rate.rate : rate_of(cp, ask);
	const struct arrival *a = own ? &s->cfg.arrival : &cp->cfg.arrival;
	char who[32];

	if (r->kind != RATE_MAX || a->kind == ARRIVAL_CONSTANT)
		return 0;
	snprintf(who, sizeof(who), own ? "%u/%u" : "%u", cp->p.id, id);
	return err_set(
		e, EINVAL,
		"%s %s: frames as fast as possible have no times at which they arrive; `set %s rate 10%%`, or `set "
		"%s arrival constant`",
		own ? "stream" : "port", who, who, who);
}

/* Refuses settings of streams that contradict each other or those of the port. A count of the port
 * does not end a stream with a rate of its own, so that needs another end. */
static int check_streams(const struct ctl_port *cp, const struct run_ask *ask, struct err *e)
{
	int rc = 0;

	for (unsigned i = 0; i < cp->nstreams && rc == 0; i++) {
		const struct stream *s = cp->stream[i];
		if (!stream_scheduled(s))
			continue;
		rc = stream_stray(cp, s, e);
		if (rc == 0 && s->cfg.latency && s->cfg.frame.probe == 0 && !cp->tell_all)
			rc = err_set(
				e, EINVAL,
				"stream %u/%u has latency on, and its frames have no probes that could tell it: `set %u/%u probe "
				"on` puts one in each, or `set %u/%u latency off`",
				cp->p.id, i, cp->p.id, i, cp->p.id, i);
		if (rc == 0)
			rc = check_times(cp, ask, s, i, e);
		if (rc == 0 && s->cfg.rate.set && s->cfg.count == 0 && count_of(cp, ask) != 0 &&
		    ask->duration_ns == 0)
			rc = err_set(
				e, EINVAL,
				"port %u has a count, but stream %u/%u has a rate of its own and no end: `set "
				"%u/%u count N` gives it one, "
				"or `start %u for 10s`",
				cp->p.id, cp->p.id, i, cp->p.id, i, cp->p.id);
	}
	return rc;
}

static int send_may_start(struct ctl *c, struct ctl_port *cp, const struct run_ask *ask,
			  struct err *e)
{
	struct send_port *sp = send_of(cp);

	if (cp->cfg.burst > port_txq(&cp->p, 0)->pool_size)
		return err_set(
			e, EINVAL,
			"port %u (%s): a burst of %llu frames never finds as many buffers in a pool of %u; `set "
			"%u burst %u`, "
			"or more with `set %u mbufs`",
			cp->p.id, cp->p.name, (unsigned long long)cp->cfg.burst,
			port_txq(&cp->p, 0)->pool_size, cp->p.id, port_txq(&cp->p, 0)->pool_size,
			cp->p.id);
	int rc = check_streams(cp, ask, e);
	if (rc < 0)
		return rc;
	return groups_make(c, cp, &sp->groups, queues_of(cp, ask),
			   count_of(cp, ask) != 0 ? count_of(cp, ask) : UINT64_MAX, &sp->next, e);
}

static void send_never_mind(struct ctl *c, struct ctl_port *cp)
{
	groups_free(c, &send_of(cp)->next);
}

/* Returns the sums over the Tx queues of those counters that a run needs. */
static struct cnt_tx tx_so_far(const struct ctl_port *cp)
{
	struct cnt_tx sum = {0};

	for (unsigned q = 0; q < cp->p.ntxq; q++) {
		sum.bytes += cell_get(&port_txq(&cp->p, q)->cnt.bytes);
		sum.unsent += cell_get(&port_txq(&cp->p, q)->cnt.unsent);
		sum.dropped += cell_get(&port_txq(&cp->p, q)->cnt.dropped);
		sum.stalls += cell_get(&port_txq(&cp->p, q)->cnt.stalls);
	}
	return sum;
}

static void send_begin(struct ctl *c, struct ctl_port *cp, const struct run_ask *ask)
{
	struct send_port *sp = send_of(cp);

	sp->before = tx_so_far(cp);
	groups_take(c, cp, &sp->next);
	sp->next = (struct groups){0};
	/* What the last run was like is not told of this one, not even before its first frame. */
	memset(&sp->run, 0, sizeof(sp->run));
	sp->run.count = count_of(cp, ask);
	rates_follow(cp);
	sp->said[0] = '\0';
	sp->order_waits = false;
}

static void send_arm(struct ctl *c, struct ctl_port *cp)
{
	(void)c;
	rates_arm(cp);
}

/* ---- what has come of a run ---- */

/* Adds the rate that is asked for now, also while it is on its way to another one. */
static void add_asked(const struct ctl_port *cp, struct run_result *io)
{
	const struct send_port *sp = send_of(cp);
	const struct run *r = &cp->run;
	uint64_t now = clock_tsc();

	io->asked_max |= sp->run.asked_max;
	for (unsigned i = 0; i < sp->nrates; i++) {
		const struct group_rate *a = &sp->rate[i];
		uint64_t since = a->since_tsc != 0 ? a->since_tsc : r->start_tsc;
		uint64_t ns = r->armed || (int64_t)(now - since) < 0 ? 0 : clock_ns(now - since);
		double pps = r->active ? shape_pps(a, ns, &io->ramps) : a->pps;
		io->asked_pps += pps;
		if (i < sp->groups.ngroups)
			io->asked_l1_bps +=
				pps * (sp->groups.group[i]->mean_size + PACE_WIRE_OVERHEAD) * 8;
	}
}

/* Of a finished run: adds when its frames were due, and the rate that follows from it. A frame that
 * is paced takes its slot to the end: n frames at p frames/s last n / p, not (n - 1) / p. */
static void add_due(const struct ctl_port *cp, struct run_result *io)
{
	const struct send_port *sp = send_of(cp);
	uint64_t all;

	if (io->sent >= 2)
		io->due_cycles = rates_due(cp, io->sent - 1);
	if (io->asked_max || io->rate_changed || io->sent == 0)
		return;
	io->slot_cycles = rates_end(cp, io->sent, io->bytes, &all);
	/* Where one number does not say the rate, it follows from all frames and their time. */
	if (io->slot_cycles > 0 &&
	    (sp->nrates > 1 || sp->rate[0].by_bytes || !shape_is_plain(&sp->rate[0])))
		io->asked_pps = (double)all * 1e9 / (double)clock_ns(io->slot_cycles);
	io->asked_l1_bps =
		io->asked_pps * ((double)io->bytes / (double)io->sent + PACE_WIRE_OVERHEAD) * 8;
}

/* Returns after how many frames the run ends by counts; 0: counts do not end it. */
static uint64_t frames_at_end(const struct ctl_port *cp)
{
	const struct send_port *sp = send_of(cp);
	uint64_t sum = 0;

	if (!groups_all_counted(&sp->groups))
		return 0;
	for (unsigned i = 0; i < sp->groups.ngroups; i++)
		sum += sp->groups.group[i]->sched.total;
	return sum;
}

/* Adds what Tx queue q has sent in the run. */
static void add_queue(const struct ctl_port *cp, unsigned q, struct run_result *io)
{
	const struct gen_state *g = send_of(cp)->gen[q];
	const struct dp_txq *txq = port_txq(&cp->p, q);
	enum gen_state_id st = gen_run_state(g, cp->run.id);
	bool over = st == GEN_DONE;
	enum run_stage stage = over                 ? RUN_STAGE_DONE
			       : st == GEN_DRAINING ? RUN_STAGE_DRAINING
						    : RUN_STAGE_RUNNING;

	io->stage = stage < io->stage ? stage : io->stage;
	if (st == GEN_IDLE)
		return;
	io->sent += over ? cell_get(&g->sent)
			 : cell_get(&txq->cnt.packets) - cell_get(&g->base_packets);
	uint64_t first = cell_get(&txq->first_tsc),
		 last = cell_get(over ? &g->last_tsc : &txq->last_tsc);
	if (first == 0)
		return;
	io->first_tsc = io->first_tsc == 0 || first < io->first_tsc ? first : io->first_tsc;
	io->last_tsc = last > io->last_tsc ? last : io->last_tsc;
}

static void send_result(const struct ctl_port *cp, struct run_result *io)
{
	const struct send_port *sp = send_of(cp);
	const struct run *r = &cp->run;
	struct cnt_tx now = tx_so_far(cp);

	if (sp->groups.ngroups == 0) /* works carry all of its streams */
		return;
	for (unsigned q = 0; q < sp->groups.nqueues; q++)
		add_queue(cp, q, io);
	io->bytes += grown(now.bytes, sp->before.bytes);
	io->unsent += grown(now.unsent, sp->before.unsent);
	io->dropped += grown(now.dropped, sp->before.dropped);
	io->count += frames_at_end(cp);
	io->endless |= !groups_all_counted(&sp->groups);
	io->rate_changed |= sp->run.rate_changed || ((r->active || r->stop) && rates_vary(cp));
	io->changed_ns = sp->run.changed_ns;
	add_asked(cp, io);
	if (io->ramps && io->stage == RUN_STAGE_RUNNING)
		io->stage = RUN_STAGE_RAMP;
	if (sp->nrates == 1 && !sp->rate[0].max)
		io->intended = sp->rate[0].frames;
	io->mean_size = sp->groups.ngroups > 0 ? sp->groups.group[0]->mean_size : 0;
	if (!r->active && r->start_tsc != 0)
		add_due(cp, io);
	io->intended_pps =
		sp->nrates == 1 && !sp->rate[0].by_bytes ? sp->rate[0].pps : io->asked_pps;
}

static bool send_done(const struct ctl_port *cp)
{
	const struct send_port *sp = send_of(cp);

	for (unsigned q = 0; sp->groups.ngroups > 0 && q < sp->groups.nqueues; q++)
		if (gen_run_state(sp->gen[q], cp->run.id) != GEN_DONE)
			return false;
	return true;
}

/* Notes that the time of a run has ended before all of its frames were sent. Of a run that was
 * stopped nothing is said: nobody asked for the rest. */
static void send_ended(struct ctl *c, struct ctl_port *cp, const struct run_result *r)
{
	bool refused = tx_so_far(cp).stalls != send_of(cp)->before.stalls;
	struct sbuf time = {0}, other = {0};

	if (r->unsent == 0 || cp->run.stop)
		return;
	if (cp->run.duration_ns != 0) {
		sbuf_add(&time, " within ");
		vt_duration.print(&(struct vspec){.type = &vt_duration}, &cp->run.duration_ns,
				  &time);
	}
	if (r->dropped > 0)
		sbuf_addf(&other, ", %llu thrown away", (unsigned long long)r->dropped);
	ctl_note(c, cp->p.id,
		 "port %u: %llu frames were due%s: %llu sent, %llu unsent%s; %s %.0f frames/s",
		 cp->p.id, (unsigned long long)(r->sent + r->unsent + r->dropped), sbuf_str(&time),
		 (unsigned long long)r->sent, (unsigned long long)r->unsent, sbuf_str(&other),
		 refused ? "the device took" : "the workers had time for", r->mean_pps);
	sbuf_free(&time);
	sbuf_free(&other);
}

const struct work_run send_run = {
	.may_start = send_may_start,
	.never_mind = send_never_mind,
	.begin = send_begin,
	.arm = send_arm,
	.result = send_result,
	.load = rates_load,
	.done = send_done,
	.ended = send_ended,
};
