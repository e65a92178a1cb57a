/* SPDX-License-Identifier: BSD-3-Clause */
/* The calibration of a cycle counter: how fast cycles pass, computed from readings of a clock. Each
 * reading of the clock was taken between two readings of the cycle counter, its bracket. Nothing
 * here reads a clock itself: clock.c passes in readings of the machine's clock, tests pass in
 * others. */
#pragma once
#include "base.h"

#define CLOCK_MIN_SPAN_NS 10000000ull /* the shortest span from which a frequency is computed */
#define CLOCK_MIN_STEP_NS 1000000ull  /* the shortest time from one reading to the next */
#define CLOCK_MARKS 1024
#define CLOCK_RESTART_PPM 5.0

/* One reading: `ns` is the clock's time, `tsc` the cycle count in the middle of the bracket, and
 * `width` the length of the bracket in cycles, or that of the counter's steps if it is more. */
struct clock_reading {
	uint64_t tsc, ns, width;
};

/* What one reading told at the time ns, or several in a row that share a mark. moved_ppm: how far
 * the frequency since the reading before was from the calibrated frequency, beyond what the widths
 * of the brackets explain. hz: the calibrated frequency after the reading. */
struct clock_mark {
	uint64_t ns;
	double moved_ppm, hz;
};

struct clock_cal {
	struct clock_reading first, last;
	double hz;              /* the frequency from first to last; 0: not known yet */
	double uncertainty_ppm; /* a bound: each clock reading lies somewhere in its bracket */
	uint64_t narrowest;     /* width of the narrowest bracket so far */
	/* How many readings were used, how many were rejected because their bracket was wide, and
	 * how often the calibration began anew. */
	uint64_t readings, rejected, restarts;
	unsigned rejected_in_row;
	/* `first` was just replaced: hz is still the frequency from before, and the next reading
	 * that is used gives a new one. */
	bool settling;
	unsigned nmarks;
	struct clock_mark mark[CLOCK_MARKS];
};

/* By how many units the counter moves at once. That is 1, or more if the source of the counter is
 * slower than the unit in which it counts: a counter of 1 GHz may be fed by a source of 25 MHz, and
 * an emulator's moves once in a microsecond. If the counter moves faster than it can be read, the
 * result is what passes from one reading to the next. */
uint64_t clock_cal_step(uint64_t (*counter)(void));
void clock_cal_begin(struct clock_cal *c, struct clock_reading first);
/* Adds a later reading. Returns whether it was used. It is not used when it comes too soon after
 * the reading before, or when its bracket is much wider than others, because the thread was
 * preempted. After several wide ones in a row the next one is used all the same, and the
 * uncertainty grows accordingly. If the frequency has moved by more than CLOCK_RESTART_PPM, the
 * calibration begins anew, so that what was true before a machine was migrated or slept is not
 * averaged in. */
bool clock_cal_add(struct clock_cal *c, struct clock_reading r);
/* The greatest change in ppm since the time since_ns: of the calibrated frequency against the one
 * that was known at that time, or of the frequency between two successive readings against the
 * calibrated one, beyond what the widths of brackets explain. */
double clock_cal_moved(const struct clock_cal *c, uint64_t since_ns);
