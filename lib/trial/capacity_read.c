/* SPDX-License-Identifier: BSD-3-Clause */
/* What a trial of a measurement told: how fast each side was, how busy its workers were, and who
 * lost frames. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capacity_int.h"

/* A worker that moves fewer frames of other sides than this share of all does nothing else. */
#define STRAY 0.01
/* From the first to the last frame it is so much of the time that was asked for, at least: else a
 * device took what its queues hold, and nothing after that. */
#define WHOLE 0.9

static const struct ctl_port *port_of(const struct capacity_run *r, unsigned who)
{
	return who == CAPACITY_OWN ? r->c->port[r->spec.port]
	       : r->partner >= 0   ? r->c->port[r->partner]
				   : NULL;
}

void capacity_mark_free(struct capacity_base *b)
{
	for (unsigned who = 0; who < CAPACITY_PORTS; who++)
		free(b->q[who]);
	free(b->busy);
	free(b->other);
	*b = (struct capacity_base){{NULL}};
}

static uint64_t frames_of(const struct cnt_queue *q, unsigned side)
{
	return side == CAPACITY_TX ? q->tx.packets : q->rx.packets;
}

static int worker_of(const struct ctl_port *cp, unsigned queue, unsigned side)
{
	if (queue >= (side == CAPACITY_TX ? cp->p.ntxq : cp->p.nrxq))
		return -1;
	return side == CAPACITY_TX ? cp->tx_worker[queue] : cp->rx_worker[queue];
}

/* Adds the frames of a port to those of the workers that moved them. */
static void mark_other(const struct ctl_port *cp, uint64_t *other)
{
	struct cnt_queue c;

	for (unsigned q = 0; q < cp->p.nqueues; q++) {
		stat_queue(cp, q, &c);
		for (unsigned i = 0; i < CAPACITY_SIDES; i++) {
			int w = worker_of(cp, q, i);
			if (w >= 0)
				other[w] += frames_of(&c, i);
		}
	}
}

void capacity_mark(const struct capacity_run *r, struct capacity_base *out)
{
	capacity_mark_free(out);
	for (unsigned who = 0; who < CAPACITY_PORTS; who++) {
		const struct ctl_port *cp = port_of(r, who);
		unsigned n = cp != NULL ? cp->p.nqueues : 0;
		out->q[who] = xcalloc(n + 1, sizeof(*out->q[who]));
		for (unsigned q = 0; q < n; q++)
			stat_queue(cp, q, &out->q[who][q]);
	}
	out->busy = xcalloc(r->c->nworkers, sizeof(*out->busy));
	for (unsigned w = 0; w < r->c->nworkers; w++)
		out->busy[w] = cell_get(&r->c->worker[w].w->cells.busy_tsc);
	out->other = xcalloc(r->c->nworkers, sizeof(*out->other));
	for (unsigned p = 0; p < r->c->nports; p++) {
		const struct ctl_port *cp = r->c->port[p];
		if (cp->p.used && cp != port_of(r, CAPACITY_OWN) &&
		    cp != port_of(r, CAPACITY_PARTNER))
			mark_other(cp, out->other);
	}
}

/* What one worker did in the trial. */
struct worker_did {
	uint64_t other; /* frames of ports beside the two */
	uint64_t frames[CAPACITY_PORTS][CAPACITY_SIDES];
	uint64_t busy; /* cycles */
};

/* What was counted in the trial. */
struct counted {
	struct cnt_queue *q[CAPACITY_PORTS];
	struct worker_did *worker;
	double seconds;
};

/* What has been counted since the base; out->q and out->worker are to be freed. */
static void count_since(const struct capacity_run *r, struct counted *out)
{
	struct capacity_base now = {{NULL}};

	capacity_mark(r, &now);
	out->worker = xcalloc(r->c->nworkers, sizeof(*out->worker));
	for (unsigned w = 0; w < r->c->nworkers; w++)
		out->worker[w] = (struct worker_did){.busy = now.busy[w] - r->base.busy[w],
						     .other = now.other[w] - r->base.other[w]};
	for (unsigned who = 0; who < CAPACITY_PORTS; who++) {
		const struct ctl_port *cp = port_of(r, who);
		for (unsigned q = 0; cp != NULL && q < cp->p.nqueues; q++) {
			uint64_t *a = (uint64_t *)&now.q[who][q];
			const uint64_t *b = (const uint64_t *)&r->base.q[who][q];
			for (size_t i = 0; i < sizeof(struct cnt_queue) / sizeof(*a); i++)
				a[i] -= b[i];
			for (unsigned i = 0; i < CAPACITY_SIDES; i++) {
				int w = worker_of(cp, q, i);
				if (w >= 0)
					out->worker[w].frames[who][i] +=
						frames_of(&now.q[who][q], i);
			}
		}
		out->q[who] = now.q[who];
	}
	free(now.busy);
	free(now.other);
}

/* The frames that a worker moved of other sides: of other ports alone, or of all. */
static uint64_t frames_beside(const struct worker_did *w, unsigned who, unsigned side, bool port)
{
	uint64_t sum = w->other;

	for (unsigned p = 0; p < CAPACITY_PORTS; p++)
		for (unsigned i = 0; i < CAPACITY_SIDES; i++)
			if (p != who || (!port && i != side))
				sum += w->frames[p][i];
	return sum;
}

/* Cycles of a frame by the samples of bursts: those of a burst, and the frames in one. */
static double sampled_cycles(const struct counted *k, unsigned who, unsigned side, unsigned nqueues)
{
	double cycles = 0, frames = 0;

	for (unsigned q = 0; q < nqueues; q++) {
		const struct cnt_queue *c = &k->q[who][q];
		const struct cnt_times *t = side == CAPACITY_TX ? &c->tx_times : &c->rx_times;
		uint64_t bursts = side == CAPACITY_TX ? c->tx.bursts : c->rx.bursts;
		if (t->bursts == 0 || bursts == 0)
			continue;
		cycles += (double)t->cycles / (double)t->bursts * (double)bursts;
		frames += (double)frames_of(c, side);
	}
	return frames > 0 ? cycles / frames : (double)NAN;
}

static void read_side(const struct capacity_run *r, const struct counted *k, unsigned who,
		      unsigned side, struct capacity_side *out)
{
	const struct ctl_port *cp = port_of(r, who);
	uint64_t frames = 0, busy = 0, refused = 0, starved = 0, bursts = 0;
	double hz = clock_hz();
	bool alone = true;

	*out = (struct capacity_side){.cycles = (double)NAN};
	if (cp == NULL)
		return;
	for (unsigned q = 0; q < cp->p.nqueues; q++) {
		const struct cnt_queue *c = &k->q[who][q];
		out->queues += frames_of(c, side) > 0;
		frames += frames_of(c, side);
		/* the rest of a burst is offered again until it is taken */
		refused += c->tx.stalls + c->retries;
		starved += c->tx.nombuf;
		bursts += c->tx.bursts;
	}
	for (unsigned w = 0; w < r->c->nworkers; w++) {
		const struct worker_did *d = &k->worker[w];
		double mine = (double)d->frames[who][side];
		if (d->frames[who][side] == 0)
			continue;
		double share = fmin(1, (double)d->busy / (hz * k->seconds));
		if (out->workers == 0 || share > out->busy) {
			out->busy = share;
			out->busiest = r->c->worker[w].lcore;
		}
		out->workers++;
		out->shared |= (double)frames_beside(d, who, side, true) > STRAY * mine;
		alone &= (double)frames_beside(d, who, side, false) <= STRAY * mine;
		busy += d->busy;
	}
	out->pps = (double)frames / k->seconds;
	out->cycles = alone && frames > 0 ? (double)busy / (double)frames
					  : sampled_cycles(k, who, side, cp->p.nqueues);
	/* the device takes that much at once; our own wire has no queue of that kind */
	if (side == CAPACITY_TX && port_peer(&cp->p) == NULL)
		out->room = RTE_MIN((double)out->queues * cp->p.txd, (double)frames) / k->seconds;
	if (side == CAPACITY_TX && bursts + refused > 0) {
		out->stall_share = (double)refused / (double)(bursts + refused);
		out->starved_share = (double)starved / (double)RTE_MAX(bursts, 1u);
	}
}

/* Is the trial good for something? A port that is measured may lose what it is sent, so that alone
 * does not count against it. */
static void read_worth(const struct capacity_run *r, const struct trial_result *res,
		       struct capacity_reading *out)
{
	static const enum trial_verdict bad[] = {TRIAL_COUNTERS, TRIAL_LINK, TRIAL_CLOCK,
						 TRIAL_PREEMPTED};

	out->worth = CAPACITY_CLEAN;
	for (unsigned i = 0; i < ARRAY_SIZE(bad); i++)
		if (res->is[bad[i]]) {
			out->worth = CAPACITY_DISTURBED;
			snprintf(out->why, sizeof(out->why), "%s", res->why[bad[i]]);
			return;
		}
	for (unsigned i = 0; i < res->ntx; i++) {
		const struct trial_load *l = &res->tx[i].load;
		double size = l->offered_pps > 0 ? l->offered_l2_bps / 8 / l->offered_pps : r->size;
		if (fabs(size - r->size) < 1e-6 * r->size)
			continue;
		out->worth = CAPACITY_DISTURBED;
		snprintf(
			out->why, sizeof(out->why),
			"port %u sent frames of %.6g bytes and not of %u: they were changed during the trial",
			res->tx[i].port, size, r->size);
		return;
	}
	for (unsigned i = 0; i < res->ntx; i++) {
		const struct trial_load *l = &res->tx[i].load;
		if (!l->max || (double)l->duration_ns >= WHOLE * (double)res->asked_ns)
			continue;
		out->worth = CAPACITY_DISTURBED;
		snprintf(
			out->why, sizeof(out->why),
			"port %u, as fast as possible, sent for %.4g of %.4g ms: a device that took no more, or too short a trial",
			res->tx[i].port, (double)l->duration_ns / 1e6, (double)res->asked_ns / 1e6);
		return;
	}
	if (!res->senders_limited)
		return;
	out->worth = CAPACITY_DISTURBED;
	snprintf(out->why, sizeof(out->why), "%.255s", res->why[TRIAL_LIMITED]);
	for (unsigned i = 0; i < res->ntx; i++) {
		const struct trial_load *l = &res->tx[i].load;
		if (!l->max && l->counted &&
		    (double)l->offered <
			    (double)l->intended * (1 - (double)r->spec.cfg.max_short / 1e9))
			out->worth = CAPACITY_SHORT;
	}
}

static void read_fates(const struct capacity_run *r, const struct trial_result *res,
		       struct capacity_reading *out)
{
	for (unsigned i = 0; i < res->nflows; i++) {
		const struct trial_flow *f = &res->flow[i];
		const struct trial_fates *t = &f->fates;
		if (!portset_has(&f->to, r->spec.port) || portset_has(&f->from, r->spec.port))
			continue;
		out->sent_for = t->sent - t->not_accepted - t->tx_errors - t->unconfirmed;
		out->came = t->received;
		out->missed = t->rx_missed;
		out->nobuffer = RTE_MAX(t->rx_nombuf, f->counts.nombuf);
		out->lost = t->lost + t->unknown + t->corrupted + t->late + t->rx_errors;
	}
}

/* Who moved the frames of one side of a queue. */
static int lcore_of(const struct capacity_run *r, int worker, uint64_t frames)
{
	return worker >= 0 && frames > 0 ? (int)r->c->worker[worker].lcore : -1;
}

static void read_queues(const struct capacity_run *r, const struct counted *k,
			struct capacity_reading *out)
{
	const struct ctl_port *cp = port_of(r, CAPACITY_OWN);

	for (unsigned q = 0; q < cp->p.nqueues && q < CAPACITY_QUEUES; q++) {
		const struct cnt_queue *c = &k->q[CAPACITY_OWN][q];
		int tx = worker_of(cp, q, CAPACITY_TX), rx = worker_of(cp, q, CAPACITY_RX);
		if (c->tx.packets + c->rx.packets == 0)
			continue;
		out->queue[out->nqueues++] =
			(struct capacity_queue){.queue = q,
						.tx_worker = lcore_of(r, tx, c->tx.packets),
						.rx_worker = lcore_of(r, rx, c->rx.packets),
						.sent_pps = (double)c->tx.packets / k->seconds,
						.received_pps = (double)c->rx.packets / k->seconds};
	}
	for (unsigned w = 0; w < r->c->nworkers; w++)
		out->workers += k->worker[w].frames[CAPACITY_OWN][CAPACITY_TX] +
					k->worker[w].frames[CAPACITY_OWN][CAPACITY_RX] >
				0;
}

void capacity_read(const struct capacity_run *r, const struct trial_result *res,
		   struct capacity_reading *out)
{
	struct counted k = {{NULL}};
	uint64_t ns = 0;

	*out = (struct capacity_reading){.hz = clock_hz()};
	for (unsigned i = 0; i < res->ntx; i++)
		ns = RTE_MAX(ns, res->tx[i].load.duration_ns);
	k.seconds = (double)(ns > 0 ? ns : res->asked_ns) / 1e9;
	count_since(r, &k);
	read_worth(r, res, out);
	read_fates(r, res, out);
	for (unsigned who = 0; who < CAPACITY_PORTS; who++)
		for (unsigned i = 0; i < CAPACITY_SIDES; i++)
			read_side(r, &k, who, i, &out->side[who][i]);
	/* the sender knows its rate from the first to the last frame, less what did not go out */
	for (unsigned i = 0; i < res->ntx; i++) {
		unsigned who = res->tx[i].port == r->spec.port ? CAPACITY_OWN : CAPACITY_PARTNER;
		out->side[who][CAPACITY_TX].pps = res->tx[i].load.offered_pps;
	}
	read_queues(r, &k, out);
	for (unsigned who = 0; who < CAPACITY_PORTS; who++)
		free(k.q[who]);
	free(k.worker);
}
