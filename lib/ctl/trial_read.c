/* SPDX-License-Identifier: BSD-3-Clause */
/* The numbers of a trial, as they changed since its begin. */
#include <math.h>
#include <stdlib.h>

#include "trial_int.h"

static uint64_t grown(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

/* Counters of one direction, but for `arrived_late`: all that has arrived so far is `arrived`. */
static void count(struct trial *t, const struct trial_flow *f, struct trial_counts *out)
{
	*out = (struct trial_counts){.unicast = f->counts.unicast};
	for (unsigned i = 0; i < t->c->nports; i++) {
		bool from = portset_has(&f->from, i), to = portset_has(&f->to, i);
		const struct snap_port *b = &t->base[i].dev;
		struct snap_port now = {0};
		if (!from && !to)
			continue;
		stat_dev(t->c->port[i], &now);
		if (from) {
			out->accepted += now.tx.packets - b->tx.packets;
			out->dropped += now.tx.dropped - b->tx.dropped;
			out->tx_errors += grown(now.tx_errors, b->tx_errors);
			if (now.nic.has_unconfirmed)
				out->unconfirmed += grown(now.nic.unconfirmed, b->nic.unconfirmed);
		}
		if (to) {
			out->arrived += now.rx.packets - b->rx.packets;
			out->group += now.rx.broadcast + now.rx.multicast - b->rx.broadcast - b->rx.multicast;
			out->missed += grown(now.rx_missed, b->rx_missed);
			out->nombuf += grown(now.rx_nombuf, b->rx_nombuf);
			out->rx_errors += grown(now.rx_errors, b->rx_errors);
		}
	}
}

/* What all senders of a direction have to tell so far. */
static void probe_read(struct trial *t, const struct trial_flow *f, struct trial_probe_base *out)
{
	*out = (struct trial_probe_base){.live.jitter_cycles = (double)NAN, .whys = t->c->probes->whys};
	for (unsigned i = 0; i < t->c->nports && i < PROBE_PORTS; i++) {
		struct flow_live l;
		if (!portset_has(&f->from, i))
			continue;
		probe_total(t->c, i, -1, &f->to, &l); /* before what was sent: nothing seems to come from nowhere */
		out->sent += probe_sent(t->c, i, -1);
		probe_live_add(&out->live, &l, false);
		if (!(out->live.jitter_cycles >= l.jitter_cycles))
			out->live.jitter_cycles = l.jitter_cycles;
	}
	out->damaged = ctl_probe_damaged(t->c, &f->to);
	out->plain = ctl_probe_plain(t->c, &f->to);
}

void trial_probes_base(struct trial *t)
{
	for (unsigned i = 0; i < t->r.nflows; i++)
		probe_read(t, &t->r.flow[i], &t->probe[i]);
	t->latency[PROBE_ACTUAL] = ctl_probe_hist(t->c, &t->rx, PROBE_ACTUAL);
	t->latency[PROBE_INTENDED] = ctl_probe_hist(t->c, &t->rx, PROBE_INTENDED);
}

/* What was disturbed before the trial is not its. */
static const char *inexact(const struct trial *t, const struct trial_probe_base *b, const struct trial_probe_base *now)
{
	if (now->whys == b->whys)
		return probe_why(&now->live);
	return t->c->probes->why != NULL ? t->c->probes->why : "the counts of the probes were cleared";
}

/* Each frame that was accepted has a probe, or they do not tell of all. */
static void count_probes(struct trial *t, unsigned flow, struct trial_counts *out)
{
	const struct trial_probe_base *b = &t->probe[flow];
	const struct trial_flow *f = &t->r.flow[flow];
	struct trial_probe_base now;

	if (!t->probes)
		return;
	probe_read(t, f, &now);
	probe_live_add(&now.live, &b->live, true);
	if (probe_several(t->c, &f->to))
		probe_cross(&now.live);
	const struct flow_sum *s = &now.live.sum;
	uint64_t copies = s->duplicate + s->crossed;
	double jitter_ns = now.live.jitter_cycles * 1e9 / clock_hz();
	out->probes = grown(now.sent, b->sent) == out->accepted;
	out->whole = s->received > copies ? s->received - copies : 0;
	out->duplicated = copies;
	out->reordered = s->reordered;
	out->beyond = s->late;
	out->corrupted = s->corrupted;
	out->damaged = grown(now.damaged, b->damaged);
	out->plain = grown(now.plain, b->plain);
	if (inexact(t, b, &now) != NULL)
		t->r.inexact = inexact(t, b, &now);
	if (!(t->r.jitter_ns >= jitter_ns) && !isnan(jitter_ns))
		t->r.jitter_ns = jitter_ns;
}

uint64_t trial_movement(struct trial *t)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < t->r.nflows; i++) {
		struct trial_counts c;
		count(t, &t->r.flow[i], &c);
		sum += c.arrived + c.missed + c.nombuf + c.rx_errors - c.unconfirmed;
	}
	return sum;
}

bool trial_arrived(struct trial *t)
{
	for (unsigned i = 0; i < t->r.nflows; i++) {
		struct trial_counts c;
		struct trial_fates fates;
		count(t, &t->r.flow[i], &c);
		trial_close(&c, &fates); /* the cheap look first */
		if (fates.lost > 0 || fates.unconfirmed > 0)
			return false;
		count_probes(t, i, &c);
		trial_close(&c, &fates);
		if (fates.lost + fates.unknown > 0)
			return false;
	}
	return true;
}

void trial_mark_late(struct trial *t)
{
	for (unsigned i = 0; i < t->r.nflows; i++) {
		count(t, &t->r.flow[i], &t->r.flow[i].counts);
		count_probes(t, i, &t->r.flow[i].counts);
	}
}

static void read_flow(struct trial *t, unsigned flow)
{
	struct trial_flow *f = &t->r.flow[flow];
	struct trial_counts now;

	count(t, f, &now);
	count_probes(t, flow, &now);
	now.whole_late = grown(now.whole, f->counts.whole);
	now.whole -= now.whole_late;
	now.arrived_late = now.arrived - f->counts.arrived;
	now.arrived = f->counts.arrived;
	f->counts = now;
	trial_close(&f->counts, &f->fates);
	trial_fates_add(&t->r.sum, &f->fates);
}

static void bits(double pps, double size, double *l1, double *l2)
{
	*l1 = pps * (size + PACE_WIRE_OVERHEAD) * 8;
	*l2 = pps * size * 8;
}

/* On the clock that paced them. */
static uint64_t due_ns(const struct trial *t, const struct run_result *r)
{
	return (uint64_t)((long double)r->due_cycles * 1e9L / (long double)t->hz);
}

static void read_load(struct trial *t, struct trial_tx *tx)
{
	struct ctl_port *cp = t->c->port[tx->port];
	struct trial_load *l = &tx->load;
	const struct snap_port *b = &t->base[tx->port].dev;
	struct snap_port now = {0};
	struct run_result r;

	stat_dev(cp, &now);
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
		/* bytes are paced: the frames that were sent say how many of them that is */
		l->intended_pps = r.intended_pps;
		bits(l->intended_pps, size, &l->intended_l1_bps, &l->intended_l2_bps);
	}
	if (r.first_tsc == 0 || r.last_tsc < r.first_tsc)
		return;
	l->duration_ns = clock_ns(r.last_tsc - r.first_tsc);
	if (n >= 2 && l->duration_ns > 0)
		l->offered_pps = (double)(n - 1) * 1e9 / (double)l->duration_ns * ((double)l->offered / (double)n);
	else
		l->offered_pps = (double)l->offered * 1e9 / (double)t->spec.duration_ns;
	bits(l->offered_pps, size, &l->offered_l1_bps, &l->offered_l2_bps);
	l->due_ns = due_ns(t, &r);
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
			.lcore = c->worker[w].lcore, .stalls = cell_get(&s->count) - t->cpu[w].stalls,
			.stalled_ns = clock_ns(cell_get(&s->cycles) - t->cpu[w].stall_cycles),
			.longest_ns = clock_ns(dp_stall_longest(s, DP_MARK_TRIAL)), .waited_known = t->cpu[w].waited_known,
			.waited_ns = t->cpu[w].waited_ns,
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
		bool changed = cp->link_seq != t->base[i].link_seq || cp->p.carrier_changes != t->base[i].carrier_changes;
		if (changed && t->r.link_changed < 0)
			t->r.link_changed = (int)i;
	}
}

static void read_latency(struct trial *t)
{
	for (unsigned i = 0; t->probes && i < ARRAY_SIZE(t->latency); i++) {
		struct hist *h = ctl_probe_hist(t->c, &t->rx, (enum probe_latency)i);
		if (h != NULL && t->latency[i] != NULL)
			hist_subtract(h, t->latency[i]);
		t->r.latency[i] = h;
	}
}

void trial_read(struct trial *t)
{
	struct clock_info clock;
	struct trial_result *r = &t->r;

	r->time_ns = clock_raw_ns();
	r->wall_ns = clock_wall_ns();
	double moved = clock_moved_ppm(t->begin_ns), drift;
	clock_info(&clock);
	drift = (clock.hz / t->hz - 1) * 1e6; /* of what paced the frames */
	r->clock_uncertainty_ppm = clock.uncertainty_ppm;
	r->clock_moved_ppm = fabs(drift) > fabs(moved) ? drift : moved;
	read_links(t);
	read_workers(t);
	r->inexact = NULL;
	r->verified = t->probes && ctl_probes_verify(t->c);
	r->jitter_ns = (double)NAN;
	for (unsigned i = 0; i < r->nflows; i++)
		read_flow(t, i);
	read_latency(t);
	for (unsigned i = 0; i < r->ntx; i++) {
		read_load(t, &r->tx[i]);
		trial_load_add(&r->load, &r->tx[i].load);
		for (unsigned k = 0; k < r->nflows; k++)
			if (portset_has(&r->flow[k].from, r->tx[i].port))
				trial_load_add(&r->flow[k].load, &r->tx[i].load);
	}
}
