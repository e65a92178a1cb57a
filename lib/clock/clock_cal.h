/* SPDX-License-Identifier: BSD-3-Clause */
/* How fast cycles pass, from readings of a clock between two readings of the cycle counter. A pure state: clock.c feeds it the machine's clock,
 * tests feed it others. */
#pragma once
#include "base.h"

#define CLOCK_MIN_SPAN_NS 10000000ull /* for a frequency */
#define CLOCK_MIN_STEP_NS 1000000ull  /* between readings */
#define CLOCK_MARKS 1024
#define CLOCK_RESTART_PPM 5.0

struct clock_reading { uint64_t tsc, ns, width; }; /* tsc in the middle of a bracket of `width` cycles, or of the counter's own steps */

/* Of one reading, or of several in a row: how far the frequency since the reading before was from the calibrated one, beyond what the widths of
 * brackets explain; and the calibrated frequency after it. */
struct clock_mark { uint64_t ns; double moved_ppm, hz; };

struct clock_cal {
	struct clock_reading first, last;
	double hz;               /* from first to last; 0: not known yet */
	double uncertainty_ppm;  /* a bound: each clock reading lies somewhere in its bracket */
	uint64_t narrowest;      /* bracket so far */
	uint64_t readings, rejected, restarts;
	unsigned rejected_in_row;
	bool settling;           /* first was just replaced: hz is from before, the next reading gives a new one */
	unsigned nmarks;
	struct clock_mark mark[CLOCK_MARKS];
};

/* How many units the counter moves at once: 1, or more where its source is slower than what it counts in (a counter of 1 GHz may be fed by one of
 * 25 MHz, an emulator's moves once in a microsecond). Of a counter that is slower to read than to move, what passes from one reading to the next. */
uint64_t clock_cal_step(uint64_t (*counter)(void));
void clock_cal_begin(struct clock_cal *c, struct clock_reading first);
/* A later reading. It is not used when it comes too soon after the one before, or when its bracket is wide (preempted) beside others; when
 * none but wide ones come they are used, and the uncertainty says so. A frequency that has moved by more than CLOCK_RESTART_PPM begins a new
 * calibration: what was true before a machine moved or slept is not averaged in. true: used. */
bool clock_cal_add(struct clock_cal *c, struct clock_reading r);
/* The greatest change since then: of the calibrated frequency against the one that was known at since_ns, or of the frequency of any stretch between
 * readings against the calibrated one. */
double clock_cal_moved(const struct clock_cal *c, uint64_t since_ns);
