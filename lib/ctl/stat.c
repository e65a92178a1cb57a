/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading counters: cells of the workers, numbers of the devices, baselines, rates, snapshots. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl_int.h"

int stat_init(struct ctl_port *cp)
{
	unsigned n = cp->nqueues ? cp->nqueues : 1;

	cp->base.q = xcalloc(n, sizeof(*cp->base.q));
	cp->prev.q = xcalloc(n, sizeof(*cp->prev.q));
	cp->prev_retries = xcalloc(n, sizeof(*cp->prev_retries));
	cp->tx_rate = xcalloc(n, sizeof(*cp->tx_rate));
	cp->rx_rate = xcalloc(n, sizeof(*cp->rx_rate));
	return 0;
}

void stat_free(struct ctl_port *cp)
{
	free(cp->base.q);
	free(cp->prev.q);
	free(cp->prev_retries);
	free(cp->tx_rate);
	free(cp->rx_rate);
}

/* Tables describe these structs as rows of uint64_t: reading and subtracting is one loop for any of them. */
static void cells_read(void *dst, const void *src, size_t bytes)
{
	uint64_t *d = dst;
	const cell_t *s = src;

	for (size_t i = 0; i < bytes / sizeof(*d); i++)
		d[i] = cell_get(&s[i]);
}

static void cells_sub(void *a, const void *b, size_t bytes)
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

static void read_queue(const struct ctl_port *cp, unsigned q, struct q_raw *out)
{
	*out = (struct q_raw){0};
	if (q < cp->p.ntxq)
		cells_read(&out->tx, &cp->txq[q]->cnt, sizeof(out->tx));
	if (q < cp->p.nrxq)
		cells_read(&out->rx, &cp->rxq[q]->cnt, sizeof(out->rx));
}

void stat_dev(struct ctl_port *cp, struct snap_port *out)
{
	struct rte_eth_stats st = {0};

	if (!cp->used)
		return;
	for (unsigned q = 0; q < cp->nqueues; q++) {
		struct q_raw raw;
		read_queue(cp, q, &raw);
		cells_sum(&out->tx, &raw.tx, sizeof(out->tx));
		cells_sum(&out->rx, &raw.rx, sizeof(out->rx));
	}
	if (rte_eth_stats_get(cp->p.dev, &st) == 0) {
		out->tx_errors = st.oerrors;
		out->rx_missed = st.imissed;
		out->rx_nombuf = st.rx_nombuf;
		out->rx_errors = st.ierrors;
		out->nic.source = "device";
		out->nic.tx_packets = st.opackets;
		out->nic.rx_packets = st.ipackets;
		out->nic.tx_bytes = st.obytes;
		out->nic.rx_bytes = st.ibytes;
		out->nic.has_tx_packets = out->nic.has_rx_packets = true;
		out->nic.has_tx_bytes = st.obytes != 0 || st.opackets == 0;
		out->nic.has_rx_bytes = st.ibytes != 0 || st.ipackets == 0;
		out->nic.tx_errors = st.oerrors;
		out->nic.rx_errors = st.ierrors;
	}
	if (cp->p.spec->stats != NULL)
		cp->p.spec->stats(&cp->p, out);
}

/* The device's numbers since the last clear, into a snapshot. */
static void take_dev(struct snap_port *to, const struct snap_port *now, const struct snap_port *base)
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
	to->nic.unconfirmed = now->nic.unconfirmed > base->nic.unconfirmed ? now->nic.unconfirmed - base->nic.unconfirmed : 0;
}

void ctl_clear(struct ctl *c, const struct portset *ports)
{
	for (unsigned i = 0; i < c->nports; i++) {
		struct ctl_port *cp = c->port[i];
		if (!portset_has(ports, i) || !cp->used)
			continue;
		streams_clear(cp);
		cp->base.dev = (struct snap_port){0};
		stat_dev(cp, &cp->base.dev);
		for (unsigned q = 0; q < cp->nqueues; q++)
			read_queue(cp, q, &cp->base.q[q]);
	}
}

static struct snap_rate rate_of(uint64_t packets, uint64_t bytes, double seconds)
{
	/* l1: 20 bytes per frame on the wire beside the frame with its FCS */
	return (struct snap_rate){.pps = (double)packets / seconds,
				  .l1_bps = ((double)bytes + (double)packets * PACE_WIRE_OVERHEAD) * 8 / seconds};
}

static void look_at_link(struct ctl *c, struct ctl_port *cp)
{
	enum snap_link was = cp->link;
	uint64_t was_mbps = cp->link_mbps;

	dev_link(cp);
	if (cp->link_mbps != was_mbps)
		cp->touched = true; /* a rate in percent follows the speed */
	if (cp->link != was)
		ctl_note(c, cp->p.id, "port %u (%s): link %s", cp->p.id, cp->p.name,
			 cp->link == LINK_UP ? "up" : cp->link == LINK_DOWN ? "down" : "unknown");
}

int ctl_link_fd(struct ctl *c)
{
	(void)c;
	return port_event_fd();
}

void ctl_links(struct ctl *c)
{
	for (unsigned i = 0; i < c->nports; i++)
		if (c->port[i]->used)
			look_at_link(c, c->port[i]);
}

static void tick_port(struct ctl *c, struct ctl_port *cp, double seconds)
{
	look_at_link(c, cp);
	uint64_t taken = 0, refused = 0;

	for (unsigned q = 0; q < cp->nqueues; q++) {
		struct q_raw now;
		read_queue(cp, q, &now);
		struct q_raw d = now;
		cells_sub(&d, &cp->prev.q[q], sizeof(d));
		if (seconds > 0) {
			cp->tx_rate[q] = rate_of(d.tx.packets, d.tx.bytes, seconds);
			cp->rx_rate[q] = rate_of(d.rx.packets, d.rx.bytes, seconds);
		}
		cp->prev.q[q] = now;
		taken += d.tx.packets;
		refused += d.tx.stalls + d.tx.nombuf;
		if (q < cp->p.ntxq) {
			uint64_t retries = cell_get(&cp->txq[q]->retries);
			refused += retries - cp->prev_retries[q];
			cp->prev_retries[q] = retries;
		}
	}
	streams_tick(cp, seconds);
	cp->stuck_ticks = cp->run.active && taken == 0 && refused > 0 ? cp->stuck_ticks + 1 : 0;
}

void ctl_tick(struct ctl *c)
{
	uint64_t now = clock_raw_ns();
	double seconds = c->prev_tick_ns != 0 ? (double)(now - c->prev_tick_ns) / 1e9 : 0;

	clock_refine();
	for (unsigned i = 0; i < c->nports; i++)
		if (c->port[i]->used)
			tick_port(c, c->port[i], seconds);
	for (unsigned w = 0; w < c->nworkers; w++) {
		struct ctl_worker *cw = &c->worker[w];
		uint64_t tsc = clock_tsc(), busy = cell_get(&cw->w->cells.busy_tsc);
		if (cw->prev_tsc != 0)
			cw->busy = (double)(busy - cw->prev_busy) / (double)(tsc - cw->prev_tsc);
		cw->busy = cw->busy > 1 ? 1 : cw->busy;
		cw->prev_tsc = tsc;
		cw->prev_busy = busy;
	}
	c->prev_tick_ns = now;
}

/* A paced frame occupies its slot to the end: n frames at p frames/s last n / p, not (n - 1) / p. */
static void run_times(const struct ctl_port *cp, struct snap_port *s)
{
	const struct run *r = &cp->run;
	uint64_t sent = 0, bytes = 0, last = 0, end;

	for (unsigned q = 0; q < cp->p.ntxq; q++) {
		const struct gen_state *g = cp->gen[q];
		bytes += cell_get(&cp->txq[q]->cnt.bytes);
		enum gen_state_id st = gen_run_state(g, r->id);
		if (st == GEN_IDLE)
			continue;
		bool over = st == GEN_DONE;
		uint64_t t = cell_get(over ? &g->last_tsc : &cp->txq[q]->last_tsc);
		sent += over ? cell_get(&g->sent) : cell_get(&cp->txq[q]->cnt.packets) - cell_get(&g->base_packets);
		last = t > last ? t : last;
	}
	s->run.sent = sent;
	s->run.bytes = bytes > r->base_bytes ? bytes - r->base_bytes : 0;
	s->run.rate_changed = r->rate_changed || ((r->active || r->stop) && rates_vary(cp));
	s->run.steady_ns = r->changed_ns != 0 ? clock_raw_ns() - r->changed_ns : 0;
	s->run.asked_pps = r->asked_pps;
	s->run.asked_max = r->asked_max;
	if (r->armed || r->start_tsc == 0)
		return;
	end = r->active ? clock_tsc() : last;
	if (!r->active && !r->asked_max && !s->run.rate_changed && sent > 0) {
		uint64_t all, due = rates_end(cp, sent, s->run.bytes, &all);
		if (r->start_tsc + due > end)
			end = r->start_tsc + due;
		if (due > 0 && (cp->nrates > 1 || cp->rate[0].by_bytes)) /* it follows from more than one number */
			s->run.asked_pps = (double)all * 1e9 / (double)clock_ns(due);
	}
	if (end > r->start_tsc) {
		s->run.duration_ns = clock_ns(end - r->start_tsc);
		if (s->run.duration_ns > 0)
			s->run.mean_pps = (double)sent * 1e9 / (double)s->run.duration_ns;
	}
}

static enum snap_run run_state(const struct ctl_port *cp)
{
	if (!cp->run.active)
		return RUN_IDLE;
	for (unsigned q = 0; q < cp->p.ntxq; q++) {
		enum gen_state_id st = gen_run_state(cp->gen[q], cp->run.id);
		if (st == GEN_IDLE || st == GEN_SENDING)
			return RUN_SENDING;
	}
	return RUN_DRAINING;
}

static void snap_queues(struct ctl *c, struct ctl_port *cp, struct snap_port *s)
{
	s->nqueues = cp->nqueues;
	s->queue = xcalloc(cp->nqueues ? cp->nqueues : 1, sizeof(*s->queue));
	for (unsigned q = 0; q < cp->nqueues; q++) {
		struct snap_queue *sq = &s->queue[q];
		struct q_raw raw;
		read_queue(cp, q, &raw);
		cells_sub(&raw, &cp->base.q[q], sizeof(raw));
		sq->has_tx = q < cp->p.ntxq;
		sq->has_rx = q < cp->p.nrxq;
		sq->tx = raw.tx;
		sq->rx = raw.rx;
		sq->tx_rate = cp->tx_rate[q];
		sq->rx_rate = cp->rx_rate[q];
		sq->tx_worker = sq->has_tx ? (int)c->worker[cp->tx_worker[q]].lcore : -1;
		sq->rx_worker = sq->has_rx ? (int)c->worker[cp->rx_worker[q]].lcore : -1;
		cells_sum(&s->tx, &raw.tx, sizeof(s->tx));
		cells_sum(&s->rx, &raw.rx, sizeof(s->rx));
		s->tx_rate.pps += sq->tx_rate.pps;
		s->tx_rate.l1_bps += sq->tx_rate.l1_bps;
		s->rx_rate.pps += sq->rx_rate.pps;
		s->rx_rate.l1_bps += sq->rx_rate.l1_bps;
	}
}

static void snap_one(struct ctl *c, struct ctl_port *cp, struct snap_port *s)
{
	struct snap_port dev = {0};

	s->port = cp->p.id;
	snprintf(s->name, sizeof(s->name), "%s", cp->p.name);
	s->used = cp->used;
	if (cp->used)
		look_at_link(c, cp);
	s->link = cp->link;
	s->speed_mbps = plan_speed(cp) / 1000000;
	s->state = run_state(cp);
	snap_queues(c, cp, s);
	if (!cp->used)
		return;
	stat_dev(cp, &dev);
	take_dev(s, &dev, &cp->base.dev);
	run_times(cp, s);
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
	for (unsigned w = 0; w < c->nworkers; w++) {
		const struct ctl_worker *cw = &c->worker[w];
		const struct dp_worker_cells *d = &cw->w->cells;
		s->worker[w] = (struct snap_worker){
			.lcore = cw->lcore, .cpu = cw->cpu, .busy = cw->busy, .asleep = cell_get(&d->asleep) != 0, .loops = cell_get(&d->loops),
			.sleeps = cell_get(&d->sleeps), .yields = cell_get(&d->yields), .events_lost = cell_get(&d->events_lost),
			.plan = cell_get(&d->acked), .tasks = cw->posted != NULL ? cw->posted->ntasks : 0,
			.rx_queues = cw->posted != NULL ? cw->posted->nrx : 0,
		};
	}
	return s;
}
