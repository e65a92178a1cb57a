/* SPDX-License-Identifier: BSD-3-Clause */
/* The timer of one second works out the rates of each queue, port and worker in the interval that
 * has just ended. This file also keeps the highest rates since the last clear. */
#include <math.h>

#include "ctl_int.h"

#define TICK_NS 1000000000ull

static struct snap_rate rate_of(uint64_t packets, uint64_t bytes, double seconds)
{
	/* bytes have the FCS; on the wire each frame takes 20 bytes more */
	return (struct snap_rate){.pps = (double)packets / seconds,
				  .l1_bps = ((double)bytes + (double)packets * PACE_WIRE_OVERHEAD) *
					    8 / seconds};
}

static double stat_tick_mean(uint64_t sum, uint64_t n)
{
	return n > 0 ? (double)sum / (double)n : (double)NAN;
}

static void rate_add(struct snap_rate *a, const struct snap_rate *b)
{
	a->pps += b->pps;
	a->l1_bps += b->l1_bps;
}

static void rate_most(struct snap_rate *a, const struct snap_rate *b)
{
	a->pps = b->pps > a->pps ? b->pps : a->pps;
	a->l1_bps = b->l1_bps > a->l1_bps ? b->l1_bps : a->l1_bps;
}

/* Reads what the port has received since open. */
static void stat_tick_received(const struct ctl_port *cp, uint64_t *packets, uint64_t *bytes)
{
	*packets = *bytes = 0;
	for (unsigned q = 0; q < cp->p.nrxq; q++) {
		*packets += cell_get(&cp->p.rxq[q]->cnt.packets);
		*bytes += cell_get(&cp->p.rxq[q]->cnt.bytes);
	}
}

void most_since(struct ctl_port *cp)
{
	cp->rx_since.tsc = clock_tsc();
	stat_tick_received(cp, &cp->rx_since.packets, &cp->rx_since.bytes);
}

void most_before(struct ctl *c)
{
	for (unsigned i = 0; i < c->nports; i++)
		if (c->port[i]->p.used && clock_tsc() < c->runs_tsc)
			most_since(c->port[i]);
}

/* A run that sends as fast as possible and lasts less than this may only have filled the device's
 * queues, which tells nothing of the link. */
#define MAX_LEAST_NS 1000000

/* The mean rate of the run may be the highest rate that the port has sent. Likewise, on every port,
 * the mean of what was received since the runs began or since the last clear may be its highest.
 * This mean is never too high: it lacks the frames that are still on their way, and its time is at
 * least as long as the one in which the counted frames came. */
void most_of_run(struct ctl *c, struct ctl_port *cp, const struct run_result *r)
{
	uint64_t now, packets, bytes;

	if (cp->run.start_tsc >= cp->clear_tsc && r->duration_ns > 0 &&
	    (!r->asked_max || r->duration_ns >= MAX_LEAST_NS))
		rate_most(&cp->max.tx,
			  &(struct snap_rate){.pps = r->mean_pps, .l1_bps = r->mean_l1_bps});
	for (unsigned i = 0; i < c->nports; i++) {
		struct ctl_port *rx = c->port[i];
		if (!rx->p.used || rx->rx_since.tsc == 0)
			continue;
		stat_tick_received(rx, &packets, &bytes);
		now = clock_tsc();
		if (now <= rx->rx_since.tsc)
			continue;
		struct snap_rate mean =
			rate_of(packets - rx->rx_since.packets, bytes - rx->rx_since.bytes,
				(double)clock_ns(now - rx->rx_since.tsc) / 1e9);
		rate_most(&rx->max.rx, &mean);
	}
}

/* Puts an interval into the history, and its rates into the highest ones unless the port was
 * cleared within it. If the timer was late, the history gets the interval once for each second that
 * it lasted. */
static void stat_tick_remember(struct ctl_port *cp, const struct snap_interval *v, double seconds)
{
	long times = lround(seconds);

	for (long i = 0; i < (times < 1 ? 1 : times > SNAP_HISTORY ? SNAP_HISTORY : times); i++)
		cp->history[cp->nhistory++ % SNAP_HISTORY] = *v;
	if (!cp->cleared) {
		rate_most(&cp->max.tx, &v->tx);
		rate_most(&cp->max.rx, &v->rx);
	}
	cp->cleared = false;
}

/* Reads a queue; *d is what it counted in the interval. */
static void tick_queue(struct ctl *c, struct ctl_port *cp, unsigned q, double seconds,
		       struct cnt_queue *d)
{
	struct cnt_queue now;

	stat_queue(cp, q, &now);
	*d = now;
	cells_sub(d, &cp->prev[q], sizeof(*d));
	cp->prev[q] = now;
	if (q < cp->p.ntxq) {
		c->worker[cp->tx_worker[q]].moved += d->tx.packets;
		c->worker[cp->tx_worker[q]].stalls += d->tx.stalls;
	}
	if (q < cp->p.nrxq)
		c->worker[cp->rx_worker[q]].moved += d->rx.packets;
	if (seconds <= 0)
		return;
	cp->last[q].tx = rate_of(d->tx.packets, d->tx.bytes, seconds);
	cp->last[q].rx = rate_of(d->rx.packets, d->rx.bytes, seconds);
	snap_queue_rates(&cp->last[q], d, seconds);
}

static void tick_port(struct ctl *c, struct ctl_port *cp)
{
	uint64_t now = clock_raw_ns(), taken = 0, refused = 0;
	double seconds = cp->prev_ns != 0 ? (double)(now - cp->prev_ns) / 1e9 : 0;
	struct snap_interval sum = {0};

	for (unsigned q = 0; q < cp->p.nqueues; q++) {
		struct cnt_queue d;
		tick_queue(c, cp, q, seconds, &d);
		taken += d.tx.packets;
		refused += d.tx.stalls + d.tx.nombuf + d.retries;
		rate_add(&sum.tx, &cp->last[q].tx);
		rate_add(&sum.rx, &cp->last[q].rx);
	}
	if (seconds > 0)
		stat_tick_remember(cp, &sum, seconds);
	cp->prev_ns = now;
	cp->stuck_ticks = cp->run.active && taken == 0 && refused > 0 ? cp->stuck_ticks + 1 : 0;
}

static void tick_worker(struct ctl_worker *cw)
{
	uint64_t tsc = clock_tsc(), busy = cell_get(&cw->w->cells.busy_tsc),
		 loops = cell_get(&cw->w->cells.loops), waited = 0;
	bool known = worker_waited(cw, &waited), before = cw->waited_known;
	double seconds = cw->prev_tsc != 0 ? (double)clock_ns(tsc - cw->prev_tsc) / 1e9 : 0;

	if (seconds > 0) {
		cw->busy = fmin((double)(busy - cw->prev_busy) / (double)(tsc - cw->prev_tsc), 1);
		cw->loops_per_s = (double)(loops - cw->prev_loops) / seconds;
		cw->pps = (double)cw->moved / seconds;
		cw->cycles_per_packet = stat_tick_mean(busy - cw->prev_busy, cw->moved);
		cw->stalls_per_s = (double)cw->stalls / seconds;
		/* the kernel counts a wait when it ends, so it may be longer than the interval */
		cw->wait = known && before
				   ? fmin((double)(waited - cw->prev_waited_ns) / 1e9 / seconds, 1)
				   : (double)NAN;
	}
	cw->prev_tsc = tsc;
	cw->prev_busy = busy;
	cw->prev_loops = loops;
	cw->prev_waited_ns = waited;
	cw->waited_known = known;
	cw->moved = cw->stalls = 0;
}

void ctl_tick(struct ctl *c)
{
	uint64_t now = clock_raw_ns();

	clock_refine();
	for (unsigned i = 0; i < c->nports; i++)
		if (c->port[i]->p.used)
			link_look(c, c->port[i]);
	/* the tick before was late: this one is left out, and the next covers its time too */
	if (c->prev_tick_ns != 0 && now - c->prev_tick_ns < TICK_NS / 2)
		return;
	for (unsigned i = 0; i < c->nports; i++)
		if (c->port[i]->p.used)
			tick_port(c, c->port[i]);
	for (unsigned w = 0; w < c->nworkers; w++)
		tick_worker(&c->worker[w]);
	for (unsigned i = 0; i < c->nports; i++)
		if (c->port[i]->p.used)
			streams_tick(c->port[i]);
	c->prev_tick_ns = now;
}
