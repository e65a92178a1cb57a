/* SPDX-License-Identifier: BSD-3-Clause */
/* The clock of a device beside our cycle counter, so that a time of the device can be converted to
 * cycles. It is computed from readings of the device's clock, each of which was taken between two
 * readings of the cycle counter, its bracket. The device's clock runs at a frequency of its own,
 * which may drift, and somebody may set it. By how much conversions were off is known only when
 * the next reading comes; the largest error is kept. Nothing here reads a clock itself: control
 * passes in readings of a device's clock, tests pass in others. */
#pragma once
#include "base.h"

#define CLOCK_DEV_READINGS 16
#define CLOCK_DEV_SPAN_NS 10000000ull /* the shortest span from which a frequency is computed */
/* The next reading is due when a quarter of the span of all readings has passed again, but after no
 * less than CLOCK_DEV_STEP_NS and no more than CLOCK_DEV_LONGEST_NS. */
#define CLOCK_DEV_STEP_NS 1000000ull
#define CLOCK_DEV_LONGEST_NS 250000000ull

/* One reading: `ticks` is the device's time, `tsc` the cycle count in the middle of the bracket,
 * and `width` the length of the bracket in cycles. */
struct clock_dev_reading {
	uint64_t tsc, ticks, width;
};

/* A time stamp of the device is converted by
 * cycles = last.tsc + (stamp - last.ticks) * cycles_per_tick, where last is clock_dev_last(). */
struct clock_dev {
	double hz;                                       /* cycles per second, nearly */
	struct clock_dev_reading at[CLOCK_DEV_READINGS]; /* n of them; the newest is at[n - 1] */
	unsigned n;
	double cycles_per_tick; /* 0: not known yet */
	double slope_error;     /* a bound of the relative error of cycles_per_tick */
	/* The next three are in cycles. missed: the largest error of a conversion that a later
	 * reading has shown, plus what that reading itself leaves open. strayed: the same, only
	 * from readings at which nobody had set the clock. wander: the error that readings have
	 * shown lately; it fades from reading to reading. */
	double missed;
	double strayed;
	double wander;
	uint64_t narrowest; /* width of the narrowest bracket so far */
	/* How many readings were used, how many were rejected because their bracket was wide, and
	 * at how many somebody had set the clock or its frequency had changed at once. */
	uint64_t readings, rejected, steps;
	uint64_t failed; /* how often the clock could not be read */
	unsigned rejected_in_row;
};

void clock_dev_begin(struct clock_dev *d, double hz);
/* Adds a later reading. Returns whether it was used. It is not used when it comes too soon after
 * the reading before, or when its bracket is much wider than others, because the thread was
 * preempted. After several wide ones in a row the next one is used all the same. */
bool clock_dev_add(struct clock_dev *d, struct clock_dev_reading r);
/* Tells that the clock could not be read. Nobody knows what happened to it meanwhile, so nothing
 * that was known holds until it has been learnt anew. Counts go on, and `missed` is kept. */
void clock_dev_lost(struct clock_dev *d);
/* Is a frequency known? Only then may clock_dev_last() be called: it is the reading from which
 * conversions begin. */
static inline bool clock_dev_known(const struct clock_dev *d)
{
	return d->cycles_per_tick > 0;
}
static inline const struct clock_dev_reading *clock_dev_last(const struct clock_dev *d)
{
	return &d->at[d->n - 1];
}
/* The cycle count at which the next reading is due. */
uint64_t clock_dev_next(const struct clock_dev *d);
/* By how many cycles the conversion of a time at the cycle count tsc may be off, or some conversion
 * has been off since `missed` was set to 0. INFINITY: no frequency is known. */
double clock_dev_error(const struct clock_dev *d, uint64_t tsc);
/* By how many cycles conversions may be off from the newest reading on. Unlike clock_dev_error(),
 * it leaves out errors from somebody having set the clock before that reading. */
double clock_dev_slack(const struct clock_dev *d);
