/* SPDX-License-Identifier: BSD-3-Clause */
/* Rates whose deadlines are not simply k periods from the start: makes their shapes from the
 * settings, and says how many frames are due in a time. */
#include <math.h>
#include <string.h>

#include "send_groups.h"

#define SEED 0x77697265u /* the default seeds are made of this one */
/* shape_frames() counts on a clock of its own, which is much finer than that of any worker, and for
 * which a year is within range. */
#define COUNT_HZ 1e11
#define COUNT_MAX_NS 31536000000000000ull

/* Returns how many units/s the link carries at most. */
static double wire_per_s(const struct group *g, const struct group_rate *a, double speed_bps)
{
	double per_frame = (g->mean_size + PACE_WIRE_OVERHEAD) * 8;

	if (!a->by_bytes)
		return speed_bps / per_frame;
	return speed_bps / per_frame * (a->l2 ? g->mean_size : g->mean_size + PACE_WIRE_OVERHEAD);
}

void shape_of(const struct ctl_port *cp, const struct group *g, const struct rate *r,
	      const struct arrival *arrival, struct group_rate *a)
{
	struct shape_spec *s = &a->spec;

	memset(s, 0, sizeof(*s));
	memcpy(&s->arrival, arrival, sizeof(s->arrival));
	s->trend.from = s->trend.to = a->per_s;
	if (r->over_ns != 0) {
		s->trend.to = a->per_s * (r->to / r->value);
		s->trend.step = a->per_s * (r->step / r->value);
		s->trend.over_ns = r->over_ns;
	}
	if (s->arrival.kind == ARRIVAL_BURST)
		s->wire_per_s = wire_per_s(g, a, (double)port_speed(&cp->p));
	/* The default seed is the same in each run, and different for each stream. */
	if ((s->arrival.kind == ARRIVAL_POISSON || s->arrival.kind == ARRIVAL_JITTER) &&
	    s->arrival.seed == 0)
		s->arrival.seed =
			pace_random(SEED, (uint64_t)cp->p.id << 32 | (uint32_t)(g->cell + 1));
	a->shaped = s->arrival.kind != ARRIVAL_CONSTANT || r->over_ns != 0 ||
		    cp->cfg.catchup.kind == CATCHUP_SKIP;
}

void shape_make(struct group_rate *a)
{
	pace_shape_make(&a->shape, &a->spec.arrival, &a->spec.trend, clock_hz(),
			a->spec.wire_per_s);
	a->shape.period = a->period;
}

bool shape_is_plain(const struct group_rate *a)
{
	return a->spec.arrival.kind == ARRIVAL_CONSTANT && a->spec.trend.over_ns == 0;
}

double shape_share(const struct group_rate *a, double pps)
{
	const struct arrival *v = &a->spec.arrival;
	double on;

	if (v->kind == ARRIVAL_ONOFF)
		return (double)v->on_ns / ((double)v->on_ns + (double)v->off_ns);
	if (v->kind != ARRIVAL_BURST || v->gap_ns == 0)
		return 1;
	on = v->burst / pps * 1e9;
	return on / (on + (double)v->gap_ns);
}

double shape_pps(const struct group_rate *a, uint64_t ns, bool *ramps)
{
	const struct pace_trend *t = &a->spec.trend;
	double at = t->over_ns != 0 ? (double)ns / (double)t->over_ns : 0, way, rate, pps;

	if (a->max || t->over_ns == 0)
		return a->pps;
	way = t->step > 0 ? floor(at) * t->step / fabs(t->to - t->from) : at;
	if (!(way < 1))
		return a->pps;
	*ramps = true;
	rate = t->from + way * (t->to - t->from);
	pps = a->from_pps * (rate / t->from);
	return pps * shape_share(a, pps);
}

uint64_t shape_begins(const struct group *g, const struct group_rate *a, uint64_t k)
{
	return a->by_bytes ? group_wire(g, k, a->l2) : k;
}

/* Returns the deadline of frame k in cycles of the clock for which s was made. */
static uint64_t due_on(const struct group *g, const struct group_rate *a,
		       const struct pace_shape *s, uint64_t k)
{
	uint64_t at = shape_begins(g, a, k);
	struct pace_at p = {.k = k, .x = PACE_POS(at), .slot = 1};

	if (s->kind == ARRIVAL_BURST && !s->gap)
		p.begin = shape_begins(g, a, k - k % s->burst);
	if (s->kind == ARRIVAL_JITTER && a->by_bytes)
		p.slot = shape_begins(g, a, k + 1) - at;
	return pace_shape_due(s, &p, k);
}

uint64_t shape_due(const struct group *g, const struct group_rate *a, uint64_t k)
{
	return due_on(g, a, &a->shape, k);
}

uint64_t shape_frames(const struct group *g, const struct group_rate *a, uint64_t duration_ns)
{
	uint64_t end, lo = 0, hi = 1;
	struct pace_shape s;

	if (a->spec.arrival.kind == ARRIVAL_POISSON || duration_ns > COUNT_MAX_NS)
		return UINT64_MAX;
	pace_shape_make(&s, &a->spec.arrival, &a->spec.trend, COUNT_HZ, a->spec.wire_per_s);
	end = (uint64_t)((double)duration_ns * (COUNT_HZ / 1e9));
	/* A frame that is due exactly at the end is not sent. Rounding must not put it before. */
	end -= 4 + (uint64_t)((double)end * 1e-14);
	for (; due_on(g, a, &s, hi) < end; hi *= 2)
		lo = hi;
	while (lo < hi) { /* finds the first frame that is not due before the end */
		uint64_t mid = lo + (hi - lo) / 2;
		if (due_on(g, a, &s, mid) >= end)
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}
