/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the cells of workers and the numbers of devices, subtracts their baselines, and makes
 * snapshots of all of them. It also notices changes of links. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ctl_int.h"

int stat_init(struct ctl_port *cp)
{
	unsigned n = cp->p.nqueues ? cp->p.nqueues : 1;

	cp->base.q = xcalloc(n, sizeof(*cp->base.q));
	cp->prev = xcalloc(n, sizeof(*cp->prev));
	cp->last = xcalloc(n, sizeof(*cp->last));
	cp->seen_sizes = xcalloc(n, sizeof(*cp->seen_sizes));
	for (unsigned q = 0; q < n; q++)
		snap_queue_rates(&cp->last[q], &(struct cnt_queue){0}, 1);
	return 0;
}

void stat_free(struct ctl_port *cp)
{
	free(cp->base.q);
	free(cp->prev);
	free(cp->last);
	free(cp->seen_sizes);
}

/* cells_read(), cells_sub() and cells_sum() take structs whose members are all counters of 64 bits,
 * so that one loop reads, subtracts or adds any such struct. bytes is its size. */
static void cells_read(void *dst, const void *src, size_t bytes)
{
	uint64_t *d = dst;
	const cell_t *s = src;

	for (size_t i = 0; i < bytes / sizeof(*d); i++)
		d[i] = cell_get(&s[i]);
}

void cells_sub(void *a, const void *b, size_t bytes)
{
	uint64_t *d = a;
	const uint64_t *s = b;

	for (size_t i = 0; i < bytes / sizeof(*d); i++)
		d[i] -= s[i];
}

static void cells_sum(void *a, const void *b, size_t bytes)
{
	uint64_t *d = a;
	const uint64_t *s = b;

	for (size_t i = 0; i < bytes / sizeof(*d); i++)
		d[i] += s[i];
}

static void times_sum(struct cnt_times *sum, const struct dp_times *t)
{
	sum->bursts += cell_get(&t->bursts);
	sum->cycles += cell_get(&t->cycles);
}

void stat_queue(const struct ctl_port *cp, unsigned q, struct cnt_queue *out)
{
	*out = (struct cnt_queue){0};
	if (q < cp->p.ntxq) {
		for (unsigned i = 0; i < cp->p.tx[q].n; i++) {
			const struct dp_txq *share = cp->p.tx[q].share[i];
			struct cnt_tx cnt;
			cells_read(&cnt, &share->cnt, sizeof(cnt));
			cells_sum(&out->tx, &cnt, sizeof(cnt));
			out->retries += cell_get(&share->retries);
		}
		EACH_WORK(w, times)
			times_sum(&out->tx_times, w->times(cp, q));
	}
	if (q < cp->p.nrxq) {
		cells_read(&out->rx, &cp->p.rxq[q]->cnt, sizeof(out->rx));
		cells_read(&out->rx_sizes, &cp->p.rxq[q]->sizes, sizeof(out->rx_sizes));
		times_sum(&out->rx_times, &cp->p.rxq[q]->times);
	}
}

/* The number of looks at a worker that takes over a plan, after which control gives up waiting. The
 * worker needs only microseconds for it while it has a CPU. */
#define LOOKS 20000

/* Reads the frames by size that all works have sent on the queue since open. false: a worker takes
 * over a plan, and the caller asks again in a moment. */
static bool queue_sizes(const struct ctl_port *cp, unsigned q, struct cnt_sizes *now)
{
	*now = (struct cnt_sizes){0};
	EACH_WORK(w, sizes)
		if (!w->sizes(cp, q, now))
			return false;
	return true;
}

/* Adds up the frames by size that were sent on all queues since open. If a worker lost its CPU
 * while it took over a plan, the numbers that were read the last time stand for its queue: the
 * worker sends nothing meanwhile. */
static void read_tx_sizes(struct ctl_port *cp, struct cnt_sizes *out)
{
	*out = (struct cnt_sizes){0};
	for (unsigned q = 0; q < cp->p.ntxq; q++) {
		struct cnt_sizes now = {0};
		bool read = false;
		for (unsigned i = 0; i < LOOKS && !read; i++) {
			read = queue_sizes(cp, q, &now);
			if (!read)
				rte_pause();
		}
		if (read)
			cp->seen_sizes[q] = now;
		cells_sum(out, &cp->seen_sizes[q], sizeof(*out));
	}
}

void stat_dev(struct ctl_port *cp, struct snap_port *out)
{
	if (!cp->p.used)
		return;
	for (unsigned q = 0; q < cp->p.nqueues; q++) {
		struct cnt_queue raw;
		stat_queue(cp, q, &raw);
		cells_sum(&out->tx, &raw.tx, sizeof(out->tx));
		cells_sum(&out->rx, &raw.rx, sizeof(out->rx));
	}
	port_stats(&cp->p, out);
}

void stat_streams(struct ctl *c, unsigned port, struct snap_port *out, uint64_t *claimed)
{
	struct ctl_port *cp = c->port[port];
	struct cnt_claimed sum = {0};

	/* before the frames that arrived, so that more were never claimed than have arrived */
	EACH_WORK(w, claimed)
		w->claimed(c, cp, &sum);
	stat_dev(cp, out);
	out->rx.packets -= sum.frames;
	out->rx.multicast -= sum.group;
	*claimed = sum.frames;
	out->tx = (struct cnt_tx){0};
	for (unsigned q = 0; cp->p.used && q < cp->p.ntxq; q++) {
		struct cnt_tx cnt;
		cells_read(&cnt, &port_txq(&cp->p, q)->cnt, sizeof(cnt));
		cells_sum(&out->tx, &cnt, sizeof(cnt));
	}
}

/* Puts the device's numbers since the last clear into a snapshot. */
static void take_dev(struct snap_port *to, const struct snap_port *now,
		     const struct snap_port *base)
{
	to->tx_errors = now->tx_errors - base->tx_errors;
	to->rx_missed = now->rx_missed - base->rx_missed;
	to->rx_nombuf = now->rx_nombuf - base->rx_nombuf;
	to->rx_errors = now->rx_errors - base->rx_errors;
	to->nic = now->nic;
	to->nic.tx_packets -= base->nic.tx_packets;
	to->nic.tx_bytes -= base->nic.tx_bytes;
	to->nic.tx_errors -= base->nic.tx_errors;
	to->nic.rx_packets -= base->nic.rx_packets;
	to->nic.rx_bytes -= base->nic.rx_bytes;
	to->nic.rx_errors -= base->nic.rx_errors;
	to->nic.unconfirmed = now->nic.unconfirmed > base->nic.unconfirmed
				      ? now->nic.unconfirmed - base->nic.unconfirmed
				      : 0;
}

static uint64_t all_sizes(const struct cnt_sizes *s)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < CNT_NSIZES; i++)
		sum += s->n[i];
	return sum;
}

/* How control waits for a worker that is just counting a burst. That takes the worker less time
 * than SETTLED_LOOKS looks. If it has lost its CPU, control sleeps SETTLED_NAP_NS between further
 * looks, at most SETTLED_NAPS times for all queues of a clear together. */
#define SETTLED_LOOKS 1000 /* about a microsecond each */
#define SETTLED_NAP_NS 100000
#define SETTLED_NAPS 1000

/* Takes the baseline of a queue. The number of frames and the numbers by size must be of one
 * moment, or their sums would never agree again, so the queue is read until they do. *naps: how
 * many sleeps the clear has left. */
static void queue_begins(struct ctl_port *cp, unsigned q, unsigned *naps)
{
	struct cnt_queue *raw = &cp->base.q[q];

	for (unsigned i = 0;; i++) {
		struct cnt_sizes tx = {0};
		stat_queue(cp, q, raw);
		bool read = q < cp->p.ntxq && queue_sizes(cp, q, &tx);
		if (read)
			cp->seen_sizes[q] = tx;
		if ((q >= cp->p.ntxq || (read && all_sizes(&tx) == raw->tx.packets)) &&
		    (q >= cp->p.nrxq || all_sizes(&raw->rx_sizes) == raw->rx.packets))
			break;
		if (i < SETTLED_LOOKS) {
			rte_pause();
			continue;
		}
		if (*naps == 0)
			break;
		nanosleep(&(struct timespec){.tv_nsec = SETTLED_NAP_NS}, NULL);
		(*naps)--;
	}
	if (q < cp->p.ntxq)
		cells_sum(&cp->base.tx_sizes, &cp->seen_sizes[q], sizeof(cp->base.tx_sizes));
}

void ctl_clear(struct ctl *c, const struct portset *ports)
{
	unsigned naps = SETTLED_NAPS;

	for (unsigned i = 0; i < c->nports; i++) {
		struct ctl_port *cp = c->port[i];
		if (!portset_has(ports, i) || !cp->p.used)
			continue;
		streams_clear(cp);
		stamps_clear(&cp->p);
		cp->base.dev = (struct snap_port){0};
		stat_dev(cp, &cp->base.dev);
		cp->base.tx_sizes = (struct cnt_sizes){0};
		for (unsigned q = 0; q < cp->p.nqueues; q++)
			queue_begins(cp, q, &naps);
		cp->max = (struct snap_interval){0};
		cp->cleared = true;
		cp->clear_tsc = clock_tsc();
		most_since(cp);
	}
	EACH_WORK(w, clear)
		w->clear(c, ports);
	for (unsigned w = 0; w < c->nworkers; w++)
		if (worker_serves(c, w, ports, ports))
			worker_clear(&c->worker[w]);
}

void link_look(struct ctl *c, struct ctl_port *cp)
{
	enum snap_link was = cp->p.link;
	uint64_t was_mbps = cp->p.link_mbps;

	if (!port_link(&cp->p))
		return;
	if (cp->p.link_mbps != was_mbps)
		ctl_touch(c, cp->p.id, WHY_LINK); /* a rate in percent follows the speed */
	if (cp->p.link != was && cp->p.link == LINK_GONE)
		ctl_note_link(
			c, cp->p.id,
			"port %u (%s): its interface was deleted, or moved to another network namespace",
			cp->p.id, cp->p.name);
	else if (cp->p.link != was)
		ctl_note_link(c, cp->p.id, "port %u (%s): link %s", cp->p.id, cp->p.name,
			      snap_link_name(cp->p.link));
}

int ctl_link_fd(struct ctl *c)
{
	(void)c;
	return port_event_fd();
}

void ctl_links(struct ctl *c)
{
	for (unsigned i = 0; i < c->nports; i++)
		if (c->port[i]->p.used)
			link_look(c, c->port[i]);
}

static void snap_run(const struct ctl_port *cp, struct snap_port *s)
{
	static const enum snap_run state[] = {
		[RUN_STAGE_IDLE] = RUN_IDLE,       [RUN_STAGE_RAMP] = RUN_SENDING,
		[RUN_STAGE_RUNNING] = RUN_SENDING, [RUN_STAGE_DRAINING] = RUN_DRAINING,
		[RUN_STAGE_DONE] = RUN_IDLE,
	};
	struct run_result r;

	run_result(cp, &r);
	s->state = state[r.stage];
	s->run.sent = r.sent;
	s->run.bytes = r.bytes;
	s->run.unsent = r.unsent;
	s->run.duration_ns = r.duration_ns;
	s->run.steady_ns = r.steady_ns;
	s->run.asked_pps = r.asked_pps;
	s->run.asked_l1_bps = r.asked_l1_bps;
	s->run.asked_max = r.asked_max;
	s->run.unasked = r.unasked;
	s->run.rate_changed = r.rate_changed;
	s->run.ramps = r.ramps;
	s->run.mean_pps = r.mean_pps;
	s->run.mean_l1_bps = r.mean_l1_bps;
}

static void snap_queues(struct ctl *c, struct ctl_port *cp, struct snap_port *s)
{
	s->nqueues = cp->p.nqueues;
	s->queue = xcalloc(cp->p.nqueues ? cp->p.nqueues : 1, sizeof(*s->queue));
	for (unsigned q = 0; q < cp->p.nqueues; q++) {
		struct snap_queue *sq = &s->queue[q];
		struct cnt_queue raw;
		stat_queue(cp, q, &raw);
		cells_sub(&raw, &cp->base.q[q], sizeof(raw));
		sq->has_tx = q < cp->p.ntxq;
		sq->has_rx = q < cp->p.nrxq;
		sq->tx = raw.tx;
		sq->rx = raw.rx;
		sq->tx_times = raw.tx_times;
		sq->rx_times = raw.rx_times;
		sq->rates = cp->last[q];
		sq->tx_worker = sq->has_tx ? (int)c->worker[cp->tx_worker[q]].lcore : -1;
		sq->rx_worker = sq->has_rx ? (int)c->worker[cp->rx_worker[q]].lcore : -1;
		cells_sum(&s->tx, &raw.tx, sizeof(s->tx));
		cells_sum(&s->rx, &raw.rx, sizeof(s->rx));
		cells_sum(&s->rx_sizes, &raw.rx_sizes, sizeof(s->rx_sizes));
		s->tx_rate.pps += sq->rates.tx.pps;
		s->tx_rate.l1_bps += sq->rates.tx.l1_bps;
		s->rx_rate.pps += sq->rates.rx.pps;
		s->rx_rate.l1_bps += sq->rates.rx.l1_bps;
	}
}

static void snap_intervals(const struct ctl_port *cp, struct snap_port *s)
{
	uint64_t n = cp->nhistory < SNAP_HISTORY ? cp->nhistory : SNAP_HISTORY;

	s->max = cp->max;
	s->nhistory = (unsigned)n;
	s->history = xcalloc(SNAP_HISTORY, sizeof(*s->history));
	for (uint64_t i = 0; i < n; i++)
		s->history[i] = cp->history[(cp->nhistory - n + i) % SNAP_HISTORY];
}

static void snap_one(struct ctl *c, struct ctl_port *cp, struct snap_port *s)
{
	struct snap_port dev = {0};

	s->port = cp->p.id;
	snprintf(s->name, sizeof(s->name), "%s", cp->p.name);
	s->used = cp->p.used;
	if (cp->p.used)
		link_look(c, cp);
	s->link = cp->p.link;
	s->speed_mbps = port_speed_mbps(&cp->p);
	snap_queues(c, cp, s);
	EACH_WORK(w, snap)
		w->snap(cp, s);
	snap_intervals(cp, s);
	if (!cp->p.used)
		return;
	read_tx_sizes(cp, &s->tx_sizes);
	cells_sub(&s->tx_sizes, &cp->base.tx_sizes, sizeof(s->tx_sizes));
	stat_dev(cp, &dev);
	take_dev(s, &dev, &cp->base.dev);
	snap_run(cp, s);
}

static void snap_one_worker(const struct ctl *c, const struct ctl_worker *cw, struct snap_worker *s)
{
	const struct dp_worker_cells *d = &cw->w->cells;
	const struct dp_stalls *st = &cw->w->stalls;

	*s = (struct snap_worker){
		.lcore = cw->lcore,
		.cpu = cw->cpu,
		.node = cw->node,
		.busy = cw->busy,
		.wait = cw->wait,
		.loops_per_s = cw->loops_per_s,
		.pps = cw->pps,
		.cycles_per_packet = cw->cycles_per_packet,
		.stalls_per_s = cw->stalls_per_s,
		.asleep = cell_get(&d->asleep) != 0,
		.loops = cell_get(&d->loops),
		.sleeps = cell_get(&d->sleeps),
		.yields = cell_get(&d->yields),
		.events_lost = cell_get(&d->events_lost),
		.plan = cell_get(&d->acked),
		.tasks = cw->posted != NULL ? cw->posted->ntasks : 0,
		.rx_queues = cw->posted != NULL ? plan_queues(cw->posted) : 0,
		.stall = {.count = cell_get(&st->count) - cw->base_stalls,
			  .over_ns = c->stall_ns,
			  .total_ns = clock_ns(cell_get(&st->cycles) - cw->base_stall_cycles),
			  .longest_ns = clock_ns(dp_stall_longest(st, DP_MARK_CLEAR))},
	};
	s->waited_known = worker_waited(cw, &s->waited_ns);
	s->waited_ns -= cw->base_waited_ns;
}

struct snap *ctl_snapshot(struct ctl *c)
{
	struct snap *s = xcalloc(1, sizeof(*s));

	run_events(c);
	s->time_ns = clock_raw_ns();
	s->wall_ns = clock_wall_ns();
	s->nports = c->nports;
	s->port = xcalloc(c->nports ? c->nports : 1, sizeof(*s->port));
	for (unsigned i = 0; i < c->nports; i++)
		snap_one(c, c->port[i], &s->port[i]);
	s->nworkers = c->nworkers;
	s->worker = xcalloc(c->nworkers ? c->nworkers : 1, sizeof(*s->worker));
	for (unsigned w = 0; w < c->nworkers; w++)
		snap_one_worker(c, &c->worker[w], &s->worker[w]);
	return s;
}
