/* SPDX-License-Identifier: BSD-3-Clause */
/* When frames are due where their spacing is not constant: distributions of arrivals, and rates that change with time. A deadline is a pure
 * function of the frame's number and of the units before it (frames or bytes, as in pace.h); of Poisson arrivals it is the sum of gaps that each
 * follow from their number alone. No clock inside; any thread. */
#pragma once
#include "pace.h"

enum arrival_kind { ARRIVAL_CONSTANT, ARRIVAL_POISSON, ARRIVAL_BURST, ARRIVAL_JITTER, ARRIVAL_ONOFF };

/* As a user says it:
 * POISSON  gaps are exponential with the period as their mean. Q queues are Q independent processes of rate / Q each: together a process of the
 *          whole rate again
 * BURST    of so many frames at the wire's own spacing, their begins as far apart as the rate asks for; with gap_ns, the frames inside a burst
 *          have the asked rate and gap_ns without a frame follow
 * JITTER   each frame is due somewhere in the first 2 x share of its slot, equally likely: +- share of the period around a constant spacing.
 *          share <= 1/2, so that frames never change order
 * ONOFF    the asked rate for on_ns, nothing for off_ns */
struct arrival {
	uint32_t kind, burst;
	uint64_t gap_ns, on_ns, off_ns;
	double share;
	uint64_t seed;             /* 0: none was given */
};
#define ARRIVAL_BURST_MAX 1000000

/* The rate in units/s: steady (over_ns 0), linear from one to the other, or in steps (step > 0) of over_ns each; then it stays. */
struct pace_trend {
	double from, to, step;
	uint64_t over_ns;
};

__extension__ typedef unsigned __int128 pace_pos; /* units, 64.64 */
#define PACE_POS(units) ((pace_pos)(units) << 64)

enum pace_trend_kind { TREND_STEADY, TREND_RAMP, TREND_STEPS };

/* The same in cycles of a clock. Zero where a member does not matter, padding too: shapes are compared as bytes. */
struct pace_shape {
	uint32_t kind, burst;
	uint32_t trend;
	bool gap;                  /* BURST: frames inside it have the asked rate */
	uint8_t pad[3];
	uint64_t seed;
	uint64_t width;            /* JITTER: in 2^-64 of a slot */
	uint64_t on, off, near;    /* cycles; near: what may be rounding before the end of an on period */
	struct pace_period period; /* TREND_STEADY; else of the rate that it starts with */
	struct pace_period wire;   /* BURST: of a unit inside a burst */
	uint64_t slow;             /* no two frames of one queue are further apart, apart from Poisson's luck */
	double r0, r1, dr;         /* units per cycle; RAMP: dr per cycle, STEPS: per step */
	double span, units;        /* RAMP: its whole length in cycles and units; STEPS: of one step, and of all but the last */
	double nsteps;
};

/* On a clock of hz. wire_per_s: units/s at the speed of the link. */
void pace_shape_make(struct pace_shape *out, const struct arrival *a, const struct pace_trend *t, double hz, double wire_per_s);

/* Where a frame is, all from where the pattern began. */
struct pace_at {
	uint64_t k;                /* frames before it */
	pace_pos x;                /* units before it; of Poisson arrivals as the sum of its gaps says */
	uint64_t begin;            /* units before the first frame of its burst */
	uint64_t slot;             /* units of the frame itself */
};
/* Cycles from where the pattern began to the frame's deadline. number: of the frame in all, for what is random. */
uint64_t pace_shape_due(const struct pace_shape *s, const struct pace_at *at, uint64_t number);
/* Cycles in which so many units lie by the rate alone. */
uint64_t pace_shape_flat(const struct pace_shape *s, pace_pos x);

/* A random word of each number, as SplitMix64 gives them by number: mix64(seed + (n + 1) * 0x9e3779b97f4a7c15). */
static inline uint64_t pace_random(uint64_t seed, uint64_t n)
{
	uint64_t z = seed + (n + 1) * 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}
/* Gap before frame i of a Poisson process, in mean gaps, 32.32. The seed of queue q of a process of several. */
uint64_t pace_poisson_gap(uint64_t seed, uint64_t i);
static inline uint64_t pace_queue_seed(uint64_t seed, unsigned queue) { return pace_random(seed ^ 0x5ca1ab1e, queue); }
