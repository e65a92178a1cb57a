/* SPDX-License-Identifier: BSD-3-Clause */
/* Time. The cycle counter (TSC) is calibrated against CLOCK_MONOTONIC_RAW from clock_init() on;
 * each further reading lengthens the span between the first reading and the last, and so makes
 * the frequency more exact. DPDK's own figure for the frequency is not used, because it can be
 * off by 1500 ppm. clock_tsc(), clock_raw_ns(), clock_wall_ns(), clock_wall_at() and functions
 * that are given hz may be called on any thread, all others on the control thread only. */
#pragma once
#include "base.h"

#if defined(__x86_64__)
#include <x86intrin.h>
static inline uint64_t clock_tsc(void)
{
	return __rdtsc();
}
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

/* The range of frequencies that is supported: counters of arm64 tick at 19.2, 25, 50 or 62.5 MHz
 * or at 1 GHz, those of x86 at up to some GHz. Each time that is taken is known to one tick. A
 * tick longer than CLOCK_COARSE_NS is mentioned where times are printed, a shorter one is not. */
#define CLOCK_HZ_MIN 4e6
#define CLOCK_HZ_MAX 1e10
#define CLOCK_COARSE_NS 5.0

struct clock_info {
	double hz;              /* cycles per second, as calibrated */
	double uncertainty_ppm; /* a bound, from the widths of the bracketed readings */
	uint64_t span_ns;       /* from the first reading of the calibration to the last */
	double moved_ppm;       /* clock_moved_ppm() of the last minute */
	uint64_t readings, rejected, restarts; /* see clock_cal.h */
	/* CPU flags constant_tsc, nonstop_tsc, tsc_reliable (x86); all true on arm64. */
	bool constant, nonstop, reliable;
	char source[32]; /* the kernel's clock source; empty: it does not say */
};

/* Takes the first reading. It is cheap. Whoever uses this calls it once, as early as possible,
 * because readings far from each other make the frequency exact; ctl_open() does. */
void clock_init(void);
/* Takes another reading, which makes clock_hz() more exact. */
void clock_refine(void);
/* Cycles per second. Waits until 10 ms have passed since clock_init(). */
double clock_hz(void);
/* Takes a reading, and returns by how many ppm the calibration has moved since `since_ns`, a time
 * of clock_raw_ns(): see clock_cal_moved(). */
double clock_moved_ppm(uint64_t since_ns);
void clock_info(struct clock_info *out);
uint64_t clock_raw_ns(void);  /* CLOCK_MONOTONIC_RAW */
uint64_t clock_wall_ns(void); /* CLOCK_REALTIME */
/* The wall clock at a cycle count, for those who turn counts into times of day. */
void clock_wall_at(uint64_t *tsc, uint64_t *ns);
/* Measures how long a caller has waited for other threads. The caller zeroes the struct before its
 * first look and calls clock_waited() at each look with the time of it; the function returns the
 * sum of all times between looks so far. Between two looks at most CLOCK_LOOK_MAX_NS are counted.
 * If more time passed, the caller itself did not run, perhaps because the machine had no CPU for
 * any of these threads. The others may not have run either, so that time is not held against
 * them. */
#define CLOCK_LOOK_MAX_NS 50000000ull
struct clock_wait {
	uint64_t looked_ns, waited_ns;
};
uint64_t clock_waited(struct clock_wait *, uint64_t now_ns);
/* Returns a span in another unit, rounded: span * by / of, at most UINT64_MAX. The result is exact
 * to one unit on any supported clock, and to 1 / 2^62 of itself. */
static inline uint64_t clock_scaled(uint64_t span, double by, double of)
{
	long double v = (long double)span * (long double)by / (long double)of + 0.5L;

	return v < 0x1p64L ? (uint64_t)v : UINT64_MAX;
}
static inline uint64_t clock_ns_at(double hz, uint64_t cycles)
{
	return clock_scaled(cycles, 1e9, hz);
}
static inline uint64_t clock_cycles_at(double hz, uint64_t ns)
{
	return clock_scaled(ns, hz, 1e9);
}
/* Convert the length of a span from cycles to ns and back, by clock_hz(). */
uint64_t clock_ns(uint64_t cycles);
uint64_t clock_cycles(uint64_t ns);
