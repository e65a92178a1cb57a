/* SPDX-License-Identifier: BSD-3-Clause */
/* Pure functions that turn the settings of a wire into what a worker needs: cycles, probabilities
 * and memory. */
#include <math.h>

#include "wire_ctl.h"

/* Of a distribution that has no end, this share is cut off at each end. */
#define TAIL 0x1p-21
/* Less than TAIL lies beyond so many standard deviations (normal) or means (exponential). */
#define NORMAL_REACH 5.0
#define EXPONENTIAL_REACH 14.6

/* The longest delay in seconds. */
static double longest_s(const struct delay *d)
{
	double a = (double)d->a_ns / 1e9, b = (double)d->b_ns / 1e9;

	switch (d->law) {
	case DELAY_UNIFORM:
		return b;
	case DELAY_NORMAL:
		return a + NORMAL_REACH * b;
	case DELAY_EXPONENTIAL:
		return EXPONENTIAL_REACH * a;
	default:
		return a;
	}
}

static uint64_t cells_of(uint64_t bytes)
{
	return (bytes + 64 + DUT_CELL - 1) / DUT_CELL;
}

/* The memory for delays assumes that a frame takes at most twice the bytes in cells that it has on
 * the wire. */
uint64_t wire_dut_room(const struct wire_cfg *w, uint64_t speed_bps, uint64_t mtu)
{
	uint64_t frame = cells_of(mtu + RTE_ETHER_HDR_LEN + 8), frames = 4096 + DUT_HELD;
	double cells = longest_s(&w->delay) * (double)speed_bps / 8 * 2 / DUT_CELL;

	if (w->limit.rate.kind != RATE_MAX)
		frames += w->limit.queue;
	return (uint64_t)cells + frames * frame;
}

/* The share of a normal distribution, in standard deviations about 0, that lies below x. */
static double normal_below(double x)
{
	return erfc(-x / sqrt(2)) / 2;
}

/* The value below which the share p of that distribution lies, found by halving an interval. */
static double normal_at(double p)
{
	double lo = -8, hi = 8;

	for (unsigned i = 0; i < 48; i++) {
		double mid = (lo + hi) / 2;
		if (normal_below(mid) < p)
			lo = mid;
		else
			hi = mid;
	}
	return (lo + hi) / 2;
}

/* The delay in cycles below which the share p of all delays lies. */
static uint64_t law_at(const struct delay *d, double p)
{
	p = fmin(fmax(p, TAIL), 1 - TAIL);
	double ns = d->law == DELAY_NORMAL ? (double)d->a_ns + (double)d->b_ns * normal_at(p)
					   : -(double)d->a_ns * log1p(-p);
	return ns > 0 ? clock_cycles((uint64_t)ns) : 0;
}

void wire_dut_law(const struct delay *d, struct dut_law *law)
{
	for (unsigned i = 0; i <= DUT_STEPS; i++) {
		double p = (double)i / DUT_STEPS;
		law->mid[i] = law_at(d, p);
		law->low[i] = law_at(d, p / DUT_STEPS);
		law->high[i] = law_at(d, 1 - (1 - p) / DUT_STEPS);
	}
}

static struct dut_hits hits_of(const struct hits *h)
{
	struct dut_hits out = {.every = h->every};

	if (h->every == 0 && h->percent >= 100)
		out.every = 1;
	else if (h->every == 0 && h->percent > 0)
		out.below = (uint64_t)(h->percent / 100 * 0x1p64);
	return out;
}

/* For losses by chance in bursts of n: how often bursts must begin, so that together they hit the
 * share of all frames that the setting asks for. */
static struct dut_hits bursts_of(const struct hits *h)
{
	struct hits begin = *h;

	if (h->has_with && h->every == 0 && h->percent < 100)
		begin.percent = -expm1(log1p(-h->percent / 100) / (double)h->with) * 100;
	return hits_of(&begin);
}

/* Fills the part of a job that is about the limit. */
static void limit_of(const struct rate *r, uint64_t speed_bps, struct dut_job *out)
{
	double hz = clock_hz(), per_s = r->value;

	if (r->kind == RATE_PERCENT)
		per_s = (double)speed_bps * r->value / 100;
	out->limited = true;
	out->by_bytes = r->kind != RATE_PPS;
	out->more_bytes = RTE_ETHER_CRC_LEN + (r->kind == RATE_L2_BPS ? 0 : PACE_WIRE_OVERHEAD);
	out->unit_time = (dut_time)(hz * (out->by_bytes ? 8 : 1) / per_s * 0x1p32);
}

void wire_dut_job(const struct wire_cfg *w, uint64_t speed_bps, struct dut_job *out)
{
	*out = (struct dut_job){
		.seed = w->seed,
		.fail = w->fail,
		.max_len = (uint32_t)w->mtu,
		.loss = bursts_of(&w->loss),
		.duplicate = hits_of(&w->duplicate),
		.reorder = hits_of(&w->reorder),
		.corrupt = hits_of(&w->corrupt),
		.loss_burst = w->loss.has_with ? (uint32_t)w->loss.with : 1,
		.reorder_by = w->reorder.has_with ? (uint32_t)w->reorder.with : 1,
		.corrupt_at = w->corrupt.has_with ? (int32_t)w->corrupt.with : -1,
		.queue = (uint32_t)w->limit.queue,
		.in_order = w->in_order != 0,
	};
	if (w->limit.rate.kind != RATE_MAX)
		limit_of(&w->limit.rate, speed_bps, out);
	if (w->delay.law == DELAY_FIXED || w->delay.law == DELAY_UNIFORM)
		out->delay = clock_cycles(w->delay.a_ns);
	if (w->delay.law == DELAY_UNIFORM)
		out->spread = clock_cycles(w->delay.b_ns) - out->delay;
}

static bool hits_any(const struct hits *h)
{
	return h->percent > 0 || h->every != 0;
}

bool wire_dut_acts(const struct wire_cfg *w)
{
	return w->limit.rate.kind != RATE_MAX || w->delay.a_ns != 0 || w->delay.b_ns != 0 ||
	       hits_any(&w->loss) || hits_any(&w->duplicate) || hits_any(&w->reorder) ||
	       hits_any(&w->corrupt) || w->mtu != 0 || w->fail || w->link_down != 0 ||
	       w->flap.every_ns != 0;
}
