/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the numbers of a trial: by how much counters have grown since its base, what the frames
 * told, and what the ports were asked to send. */
#include <math.h>
#include <stdlib.h>

#include "trial_int.h"

void trial_read_count(struct trial *t, const struct trial_flow *f, struct trial_counts *out)
{
	*out = (struct trial_counts){.unicast = f->counts.unicast};
	for (unsigned i = 0; i < t->c->nports; i++) {
		bool from = portset_has(&f->from, i), to = portset_has(&f->to, i);
		const struct snap_port *b = &t->base[i].dev;
		struct snap_port now = {0};
		uint64_t claimed;
		if (!from && !to)
			continue;
		stat_streams(t->c, i, &now, &claimed);
		if (from) {
			out->accepted += now.tx.packets - b->tx.packets;
			out->dropped += now.tx.dropped - b->tx.dropped;
			out->tx_errors += grown(now.tx_errors, b->tx_errors);
			if (now.nic.has_unconfirmed)
				out->unconfirmed += grown(now.nic.unconfirmed, b->nic.unconfirmed);
		}
		if (to) {
			uint64_t group = now.rx.broadcast + now.rx.multicast,
				 had = b->rx.broadcast + b->rx.multicast;
			out->arrived += grown(now.rx.packets, b->rx.packets);
			out->claimed += claimed - t->base[i].claimed;
			out->group += grown(group, had);
			out->missed += grown(now.rx_missed, b->rx_missed);
			out->nombuf += grown(now.rx_nombuf, b->rx_nombuf);
			out->rx_errors += grown(now.rx_errors, b->rx_errors);
		}
	}
}

void trial_told_base(struct trial *t)
{
	for (unsigned i = 0; i < t->r.nflows; i++)
		t->told_base[i] = t->witness->base(t->c, &t->r.flow[i].from, &t->r.flow[i].to);
	for (unsigned i = 0; i < LATENCY_KINDS; i++)
		t->latency[i] = t->witness->latency(t->c, &t->rx, (enum latency_of)i);
}

/* Puts what the frames of a flow told into *out. It may be used (out->told) only if each accepted
 * frame said which one it was. */
static void count_told(struct trial *t, unsigned flow, struct trial_counts *out)
{
	const struct trial_flow *f = &t->r.flow[flow];
	struct witness_counts w;

	if (!t->told)
		return;
	t->witness->read(t->c, &f->from, &f->to, t->told_base[flow], &w);
	out->told = w.sent == out->accepted;
	out->whole = w.whole;
	out->duplicated = w.duplicated;
	out->reordered = w.reordered;
	out->beyond = w.beyond;
	out->corrupted = w.corrupted;
	out->damaged = w.damaged;
	out->plain = grown(w.plain, out->claimed); /* they carry no probe */
	if (w.inexact != NULL)
		t->r.inexact = w.inexact;
	if (!(t->r.jitter_ns >= w.jitter_ns) && !isnan(w.jitter_ns))
		t->r.jitter_ns = w.jitter_ns;
}

uint64_t trial_movement(struct trial *t)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < t->r.nflows; i++) {
		struct trial_counts c;
		trial_read_count(t, &t->r.flow[i], &c);
		sum += c.arrived + c.missed + c.nombuf + c.rx_errors - c.unconfirmed;
	}
	return sum;
}

bool trial_arrived(struct trial *t)
{
	for (unsigned i = 0; i < t->r.nflows; i++) {
		struct trial_counts c;
		struct trial_fates fates;
		trial_read_count(t, &t->r.flow[i], &c);
		trial_close(&c, &fates); /* counters alone first: the witness takes longer */
		if (fates.lost > 0 || fates.unconfirmed > 0)
			return false;
		count_told(t, i, &c);
		trial_close(&c, &fates);
		if (fates.lost + fates.unknown > 0)
			return false;
	}
	return true;
}

void trial_mark_late(struct trial *t)
{
	for (unsigned i = 0; i < t->r.nflows; i++) {
		trial_read_count(t, &t->r.flow[i], &t->r.flow[i].counts);
		count_told(t, i, &t->r.flow[i].counts);
	}
}

static void read_flow(struct trial *t, unsigned flow)
{
	struct trial_flow *f = &t->r.flow[flow];
	struct trial_counts now;

	trial_read_count(t, f, &now);
	count_told(t, flow, &now);
	now.whole_late = grown(now.whole, f->counts.whole);
	now.whole -= now.whole_late;
	now.arrived_late = grown(now.arrived, f->counts.arrived);
	now.arrived = f->counts.arrived;
	f->counts = now;
	trial_close(&f->counts, &f->fates);
	trial_fates_add(&t->r.sum, &f->fates);
}

static void trial_read_bits(double pps, double size, double *l1, double *l2)
{
	*l1 = pps * (size + PACE_WIRE_OVERHEAD) * 8;
	*l2 = pps * size * 8;
}

uint64_t trial_due_ns(const struct trial *t, uint64_t cycles)
{
	return (uint64_t)((long double)cycles * 1e9L / (long double)t->hz);
}

void trial_read_offered(const struct trial *t, struct trial_load *l, uint64_t n, uint64_t cycles)
{
	l->duration_ns = clock_ns(cycles);
	if (n >= 2 && l->duration_ns > 0)
		l->offered_pps = (double)(n - 1) * 1e9 / (double)l->duration_ns *
				 ((double)l->offered / (double)n);
	else
		l->offered_pps = (double)l->offered * 1e9 / (double)t->spec.duration_ns;
}

static void read_load(struct trial *t, struct trial_tx *tx)
{
	struct ctl_port *cp = t->c->port[tx->port];
	struct trial_load *l = &tx->load;
	const struct snap_port *b = &t->base[tx->port].dev;
	struct snap_port now = {0};
	struct run_result r;
	uint64_t claimed;

	stat_streams(t->c, tx->port, &now, &claimed);
	run_result(cp, &r);
	uint64_t n = r.sent, failed = grown(now.tx_errors, b->tx_errors);
	if (now.nic.has_unconfirmed && grown(now.nic.unconfirmed, b->nic.unconfirmed) > failed)
		failed = grown(now.nic.unconfirmed, b->nic.unconfirmed);
	double size = n > 0 ? (double)r.bytes / (double)n : r.mean_size;
	l->max = r.asked_max;
	l->offered = grown(n, failed);
	l->stopped = cp->run.stop;
	l->given_up = r.unsent;
	l->behind = now.tx.late - b->tx.late;
	if (!l->max) {
		l->counted = r.intended != UINT64_MAX;
		l->intended = l->counted ? r.intended : 0;
		/* if the rate was set in bits, run_result() has turned it into frames/s by the mean
		 * size of the frames that were sent */
		l->intended_pps = r.intended_pps;
		trial_read_bits(l->intended_pps, size, &l->intended_l1_bps, &l->intended_l2_bps);
	}
	if (r.first_tsc == 0 || r.last_tsc < r.first_tsc)
		return;
	trial_read_offered(t, l, n, r.last_tsc - r.first_tsc);
	trial_read_bits(l->offered_pps, size, &l->offered_l1_bps, &l->offered_l2_bps);
	l->due_ns = trial_due_ns(t, r.due_cycles);
}

static void read_workers(struct trial *t)
{
	struct ctl *c = t->c;
	struct trial_result *r = &t->r;

	r->worker = xcalloc(c->nworkers, sizeof(*r->worker));
	for (unsigned w = 0; w < c->nworkers; w++) {
		const struct dp_stalls *s = &c->worker[w].w->stalls;
		if (!worker_serves(c, w, &t->rx, &t->spec.tx))
			continue;
		r->worker[r->nworkers++] = (struct trial_worker){
			.lcore = c->worker[w].lcore,
			.stalls = cell_get(&s->count) - t->cpu[w].stalls,
			.stalled_ns = clock_ns(cell_get(&s->cycles) - t->cpu[w].stall_cycles),
			.longest_ns = clock_ns(dp_stall_longest(s, DP_MARK_TRIAL)),
			.waited_known = t->cpu[w].waited_known,
			.waited_ns = t->cpu[w].waited_ns,
			.busy = r->span_ns > 0 ? fmin((double)clock_ns(t->cpu[w].busy_cycles) /
							      (double)r->span_ns,
						      1)
					       : 0,
		};
	}
}

static void read_links(struct trial *t)
{
	for (unsigned i = 0; i < t->c->nports; i++) {
		struct ctl_port *cp = t->c->port[i];
		if (!portset_has(&t->all, i))
			continue;
		link_look(t->c, cp);
		bool changed = cp->p.link_seq != t->base[i].link_seq ||
			       cp->p.carrier_changes != t->base[i].carrier_changes;
		if (changed && t->r.link_changed < 0)
			t->r.link_changed = (int)i;
	}
}

static void read_latency(struct trial *t)
{
	for (unsigned i = 0; t->told && i < LATENCY_KINDS; i++) {
		struct hist *h = t->witness->latency(t->c, &t->rx, (enum latency_of)i);
		if (h != NULL && t->latency[i] != NULL)
			hist_subtract(h, t->latency[i]);
		t->r.latency[i] = h;
	}
}

void trial_read_frames(struct trial *t)
{
	struct trial_result *r = &t->r;

	r->inexact = NULL;
	r->verified = t->told && t->witness->verified(t->c);
	r->jitter_ns = (double)NAN;
	for (unsigned i = 0; i < r->nflows; i++)
		read_flow(t, i);
	read_latency(t);
	for (unsigned i = 0; i < r->ntx; i++)
		read_load(t, &r->tx[i]);
}

void trial_read(struct trial *t)
{
	struct clock_info clock;
	struct trial_result *r = &t->r;

	r->time_ns = clock_raw_ns();
	r->wall_ns = clock_wall_ns();
	double moved = clock_moved_ppm(t->begin_ns), drift;
	clock_info(&clock);
	drift = (clock.hz / t->hz - 1) * 1e6; /* from the frequency that paced the frames */
	r->clock_uncertainty_ppm = clock.uncertainty_ppm;
	r->clock_moved_ppm = fabs(drift) > fabs(moved) ? drift : moved;
	read_links(t);
	read_workers(t);
	r->of = t->of->of;
	t->of->read(t);
	for (unsigned i = 0; i < r->ntx; i++) {
		trial_load_add(&r->load, &r->tx[i].load);
		for (unsigned k = 0; k < r->nflows; k++)
			if (portset_has(&r->flow[k].from, r->tx[i].port))
				trial_load_add(&r->flow[k].load, &r->tx[i].load);
	}
}
