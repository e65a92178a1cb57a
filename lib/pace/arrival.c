/* SPDX-License-Identifier: BSD-3-Clause */
#include "arrival.h"

#include <math.h>
#include <string.h>

#define FAR_CYCLES 0x1p62

/* Sets the members of s that describe how the rate changes. */
static void steady_or(struct pace_shape *s, const struct pace_trend *t, double hz)
{
	s->r0 = t->from / hz;
	s->r1 = t->to / hz;
	if (t->over_ns == 0 || t->from == t->to) {
		s->trend = TREND_STEADY;
		s->r1 = s->r0;
		return;
	}
	s->span = (double)t->over_ns * hz / 1e9;
	if (t->step == 0) {
		s->trend = TREND_RAMP;
		s->dr = (s->r1 - s->r0) / s->span;
		s->units = (s->r0 + s->r1) / 2 * s->span;
		return;
	}
	s->trend = TREND_STEPS;
	s->nsteps = ceil(fabs(t->to - t->from) / t->step * (1 - 1e-12));
	s->dr = (t->to > t->from ? t->step : -t->step) / hz;
	s->units = s->span * (s->nsteps * s->r0 + s->dr * s->nsteps * (s->nsteps - 1) / 2);
}

static uint64_t cycles_of(double ns, double hz)
{
	double c = ns * hz / 1e9;

	return c < FAR_CYCLES ? (uint64_t)(c + 0.5) : 1ull << 62;
}

void pace_shape_make(struct pace_shape *out, const struct arrival *a, const struct pace_trend *t,
		     double hz, double wire_per_s)
{
	struct pace_shape s;

	memset(&s, 0, sizeof(s));
	s.kind = a->kind;
	s.seed = a->seed;
	steady_or(&s, t, hz);
	s.period = pace_period(hz, t->from);
	double fastest = s.trend != TREND_STEADY && t->to > t->from ? t->to : t->from;
	double slowest = s.trend != TREND_STEADY && t->to < t->from ? t->to : t->from;
	s.slow = pace_period(hz, slowest).cycles + 1;
	switch ((enum arrival_kind)a->kind) {
	case ARRIVAL_BURST:
		s.burst = a->burst;
		s.gap = a->gap_ns != 0;
		s.off = cycles_of((double)a->gap_ns, hz);
		s.wire = pace_period(hz, wire_per_s > fastest ? wire_per_s : fastest);
		s.slow = s.gap                   ? s.slow + s.off
			 : s.slow < (1ull << 40) ? s.slow * a->burst
						 : 1ull << 62;
		break;
	case ARRIVAL_JITTER:
		s.width = a->share >= 0.5 ? UINT64_MAX : (uint64_t)(a->share * 0x1p65);
		s.slow *= 2;
		break;
	case ARRIVAL_ONOFF:
		s.on = cycles_of((double)a->on_ns, hz);
		s.off = cycles_of((double)a->off_ns, hz);
		s.on += s.on == 0;
		s.near = 1 + (pace_period(hz, fastest).cycles >> 10);
		s.near = s.near < s.on ? s.near : s.on - 1; /* on may be a few cycles */
		s.slow += s.off;
		break;
	case ARRIVAL_POISSON:
		s.slow *= 64;
		break;
	case ARRIVAL_CONSTANT:
		break;
	}
	*out = s;
}

static double units_of(pace_pos x)
{
	return (double)(uint64_t)(x >> 64) + (double)(uint64_t)x * 0x1p-64;
}

/* Cycles that x units take on a ramp: r0 t + dr t^2 / 2 = x, solved for t. */
static double arrival_ramp(const struct pace_shape *s, double x)
{
	if (x >= s->units)
		return s->span + (x - s->units) / s->r1;
	double square = s->r0 * s->r0 + 2 * s->dr * x; /* rounding may put it below 0 */
	return 2 * x / (s->r0 + sqrt(square > 0 ? square : 0));
}

/* Units that lie before step j. */
static double arrival_before(const struct pace_shape *s, double j)
{
	return s->span * (j * s->r0 + s->dr * j * (j - 1) / 2);
}

/* Cycles that x units take by steps: first the step in which they end, by before(s, j) = x, then
 * the rest at the rate of that step. */
static double arrival_steps(const struct pace_shape *s, double x)
{
	if (x >= s->units)
		return s->nsteps * s->span + (x - s->units) / s->r1;
	double b = s->r0 - s->dr / 2, under = b * b + 2 * s->dr * x / s->span;
	double root = sqrt(under > 0 ? under : 0);
	/* Two forms of the same root. The first is 0 / 0 for x = 0 where a step is twice the first
	 * rate or more; the second loses digits where b is positive. */
	double j = floor(b > 0 ? 2 * x / s->span / (b + root) : (root - b) / s->dr);
	/* Rounding may have put the root into a neighbouring step. */
	while (j > 0 && arrival_before(s, j) > x)
		j--;
	while (j + 1 < s->nsteps && arrival_before(s, j + 1) <= x)
		j++;
	return j * s->span + (x - arrival_before(s, j)) / (s->r0 + j * s->dr);
}

/* Returns the cycles that x units take by the rate and its trend, without the arrivals. */
static uint64_t pace_shape_flat(const struct pace_shape *s, pace_pos x)
{
	uint64_t n = (uint64_t)(x >> 64), f = (uint64_t)x;

	if (s->trend == TREND_STEADY) /* as pace_due() */
		return n * s->period.cycles + (uint64_t)((pace_pos)n * s->period.frac >> 64) +
		       (uint64_t)((pace_pos)f * s->period.cycles >> 64);
	double t = s->trend == TREND_RAMP ? arrival_ramp(s, units_of(x))
					  : arrival_steps(s, units_of(x));
	return t < FAR_CYCLES ? (uint64_t)t : 1ull << 62;
}

/* Whole cycles of n units. */
static uint64_t arrival_times(const struct pace_period *p, uint64_t n)
{
	return n * p->cycles + (uint64_t)((pace_pos)n * p->frac >> 64);
}

uint64_t pace_shape_due(const struct pace_shape *s, const struct pace_at *at, uint64_t number)
{
	pace_pos x = at->x;
	uint64_t t, n;

	switch ((enum arrival_kind)s->kind) {
	case ARRIVAL_BURST:
		if (s->gap)
			return pace_shape_flat(s, x) + at->k / s->burst * s->off;
		return pace_shape_flat(s, PACE_POS(at->begin)) +
		       arrival_times(&s->wire, (uint64_t)(x >> 64) - at->begin);
	case ARRIVAL_JITTER:
		x += (pace_pos)at->slot *
		     (uint64_t)((pace_pos)pace_random(s->seed, number) * s->width >> 64);
		return pace_shape_flat(s, x);
	case ARRIVAL_ONOFF:
		t = pace_shape_flat(s, x);
		n = (t + s->near) / s->on;
		return n * (s->on + s->off) + (t > n * s->on ? t - n * s->on : 0);
	case ARRIVAL_POISSON:
	case ARRIVAL_CONSTANT:
		break;
	}
	return pace_shape_flat(s, x);
}

/* The gap is -ln of a random number in (0, 1) that has 53 bits. The logarithm is made by the series
 * of artanh, with an error below 10^-12. */
uint64_t pace_poisson_gap(uint64_t seed, uint64_t i)
{
	uint64_t r = pace_random(seed, i) >> 11 << 1 | 1; /* odd: neither 0 nor 2^54 */
	unsigned e = 63 - (unsigned)__builtin_clzll(r);
	double m = (double)r / (double)(1ull << e); /* 1 .. 2 */
	double shift = 54 - (double)e;

	if (m > 1.4142135623730951) {
		m /= 2;
		shift -= 1;
	}
	double z = (m - 1) / (m + 1), q = z * z;
	double ln =
		2 * z *
		(1 + q * (1.0 / 3 +
			  q * (1.0 / 5 +
			       q * (1.0 / 7 + q * (1.0 / 9 + q * (1.0 / 11 + q * (1.0 / 13)))))));
	double gap = shift * 0.69314718055994530942 - ln;

	return (uint64_t)(gap * 0x1p32);
}
