/* SPDX-License-Identifier: BSD-3-Clause */
/* Time. The TSC is calibrated against CLOCK_MONOTONIC_RAW from the moment of clock_init() on; every refinement lengthens the
 * span and so sharpens the frequency. DPDK's own figure is not used: it can be off by 1500 ppm. Conversions on the control thread;
 * clock_tsc() anywhere. */
#pragma once
#include "base.h"

#if defined(__x86_64__)
#include <x86intrin.h>
static inline uint64_t clock_tsc(void) { return __rdtsc(); }
#elif defined(__aarch64__)
static inline uint64_t clock_tsc(void)
{
	uint64_t v;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(v));
	return v;
}
#else
#error "no cycle counter known for this architecture"
#endif

/* Counters that are supported: those of arm64 tick at 19.2, 25, 50, 62.5 MHz and at 1 GHz, those of x86 at up to some GHz. All times that are taken
 * are known to one tick; of two, nothing shorter than CLOCK_COARSE_NS is worth a word. */
#define CLOCK_HZ_MIN 4e6
#define CLOCK_HZ_MAX 1e10
#define CLOCK_COARSE_NS 5.0

struct clock_info {
	double hz;              /* calibrated */
	double uncertainty_ppm; /* a bound, from the widths of the bracketed readings */
	uint64_t span_ns;       /* time between the two readings */
	double moved_ppm;       /* clock_moved_ppm() of the last minute */
	uint64_t readings, rejected, restarts; /* see clock_cal.h */
	bool constant, nonstop, reliable; /* CPU flags constant_tsc, nonstop_tsc, tsc_reliable (x86) */
	char source[32];        /* the kernel's clock source; empty: it does not say */
};

void clock_init(void);   /* take the first reading; cheap, first thing in main */
void clock_refine(void); /* take another reading: hz gets sharper */
double clock_hz(void);   /* cycles per second; waits until 10 ms have passed since clock_init() */
/* Takes a reading, and tells by how much the calibration has moved since then (clock_raw_ns()): the greatest change of clock_hz(), or of the
 * frequency of any stretch between two readings, that the widths of readings do not explain. */
double clock_moved_ppm(uint64_t since_ns);
void clock_info(struct clock_info *out);
uint64_t clock_raw_ns(void);  /* CLOCK_MONOTONIC_RAW */
uint64_t clock_wall_ns(void); /* CLOCK_REALTIME */
/* How long somebody has waited for others, by the times at which he looked. Who stood still himself, as all do on a machine that has no CPU for
 * them, has waited for no more than CLOCK_LOOK_MAX_NS between two looks: when he wakes the others may not have had their turn yet. Zeroed before
 * the first look; clock_waited() takes that time and returns the sum. */
#define CLOCK_LOOK_MAX_NS 50000000ull
struct clock_wait { uint64_t looked_ns, waited_ns; };
uint64_t clock_waited(struct clock_wait *, uint64_t now_ns);
/* A span in another unit, rounded; at most UINT64_MAX. Exact to one unit on any supported clock, and to 1 / 2^62 of itself. */
static inline uint64_t clock_scaled(uint64_t span, double by, double of)
{
	long double v = (long double)span * (long double)by / (long double)of + 0.5L;

	return v < 0x1p64L ? (uint64_t)v : UINT64_MAX;
}
static inline uint64_t clock_ns_at(double hz, uint64_t cycles) { return clock_scaled(cycles, 1e9, hz); }
static inline uint64_t clock_cycles_at(double hz, uint64_t ns) { return clock_scaled(ns, hz, 1e9); }
uint64_t clock_ns(uint64_t cycles);  /* length of a span of cycles in ns */
uint64_t clock_cycles(uint64_t ns);
