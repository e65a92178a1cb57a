/* SPDX-License-Identifier: BSD-3-Clause */
/* When frames are due if their spacing is not constant: distributions of arrivals, and rates that
 * change with time. A deadline is a pure function of the frame's number and of the units before the
 * frame (frames or bytes, as in pace.h). With Poisson arrivals it is a sum of gaps, each of which
 * is a function of its number alone. Nothing here reads a clock; any thread. */
#pragma once
#include "pace.h"

enum arrival_kind {
	ARRIVAL_CONSTANT,
	ARRIVAL_POISSON,
	ARRIVAL_BURST,
	ARRIVAL_JITTER,
	ARRIVAL_ONOFF
};

/* A distribution of arrivals, as a user gives it:
 * POISSON  Gaps are exponential, with the period as their mean. Q queues are Q independent
 *          processes of rate / Q each; together they are a process of the whole rate again.
 * BURST    Each burst has `burst` frames as close as the wire allows, and bursts begin as far apart
 *          as the rate asks for. With gap_ns the frames inside a burst have the rate that is asked
 *          for, and gap_ns without frames follow each burst.
 * JITTER   Each frame is due somewhere in the first 2 x share of its slot, equally likely: +- share
 *          of the period around a constant spacing. share <= 1/2, so that frames never change
 *          order.
 * ONOFF    Frames have the rate that is asked for during on_ns; then there are none during
 *          off_ns. */
struct arrival {
	uint32_t kind, burst;
	uint64_t gap_ns, on_ns, off_ns;
	double share;
	uint64_t seed; /* 0: none was given */
};
#define ARRIVAL_BURST_MAX 1000000

/* A rate in units/s that may change with time. over_ns 0: it is always `from`. step 0: it goes
 * linearly from `from` to `to` within over_ns. step > 0: it goes there in steps of this height,
 * each of which lasts over_ns. Then it stays at `to`. */
struct pace_trend {
	double from, to, step;
	uint64_t over_ns;
};

__extension__ typedef unsigned __int128 pace_pos; /* a number of units, fixed point 64.64 */
#define PACE_POS(units) ((pace_pos)(units) << 64)

enum pace_trend_kind { TREND_STEADY, TREND_RAMP, TREND_STEPS };

/* An arrival and a trend in cycles of one clock. Members that do not matter are zero, and so is the
 * padding, because shapes are compared as bytes. */
struct pace_shape {
	uint32_t kind, burst;
	uint32_t trend;
	bool gap; /* BURST: it has a gap_ns */
	uint8_t pad[3];
	uint64_t seed;
	uint64_t width; /* JITTER: in 2^-64 of a slot */
	/* Cycles. A frame that is due less than `near` before the end of an on period is due at the
	 * begin of the next one: the difference may be rounding. */
	uint64_t on, off, near;
	struct pace_period period; /* of a unit at the rate with which the trend begins */
	struct pace_period wire;   /* BURST: of a unit inside a burst */
	/* About the most cycles between two units in a row; Poisson gaps are rarely longer. */
	uint64_t slow;
	/* r0, r1: units per cycle with which the trend begins and ends. dr: what the rate gains,
	 * RAMP: in a cycle, STEPS: in a step. */
	double r0, r1, dr;
	/* span: cycles, RAMP: of the whole ramp, STEPS: of one step. units: those before the rate
	 * is r1 for good. */
	double span, units;
	double nsteps; /* STEPS: those before the rate is r1 for good */
};

/* Makes the shape of an arrival and a trend on a clock of hz. wire_per_s: units/s at the speed of
 * the link; only bursts without gap_ns need it. */
void pace_shape_make(struct pace_shape *out, const struct arrival *a, const struct pace_trend *t,
		     double hz, double wire_per_s);

/* The place of a frame, counted from where the pattern began. */
struct pace_at {
	uint64_t k;     /* frames before it */
	pace_pos x;     /* units before it; POISSON: the sum of the gaps before it */
	uint64_t begin; /* units before the first frame of its burst */
	uint64_t slot;  /* units of the frame itself */
};
/* Returns the cycles from where the pattern began to the frame's deadline. number: the frame's
 * number in its group, from which random values are made. */
uint64_t pace_shape_due(const struct pace_shape *s, const struct pace_at *at, uint64_t number);

/* Returns random word n of a seed. These are the words of SplitMix64 in their order: mix64(seed +
 * (n + 1) * 0x9e3779b97f4a7c15). */
static inline uint64_t pace_random(uint64_t seed, uint64_t n)
{
	uint64_t z = seed + (n + 1) * 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}
/* Returns the gap before frame i of a Poisson process, in mean gaps, fixed point 32.32. */
uint64_t pace_poisson_gap(uint64_t seed, uint64_t i);
/* The queues of a port are processes of their own: returns the seed of one of them. */
static inline uint64_t pace_queue_seed(uint64_t seed, unsigned queue)
{
	return pace_random(seed ^ 0x5ca1ab1e, queue);
}
