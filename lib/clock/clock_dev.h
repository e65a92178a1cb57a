/* SPDX-License-Identifier: BSD-3-Clause */
/* The clock of a device beside our cycle counter, from readings of it between two readings of the counter. It runs at a frequency of its own that
 * may drift, and may be set: what a conversion was off by is known when the next reading comes, and kept. A pure state: control feeds it a device's
 * clock, tests feed it others. */
#pragma once
#include "base.h"

#define CLOCK_DEV_READINGS 16
#define CLOCK_DEV_SPAN_NS 10000000ull   /* for a frequency, at least */
#define CLOCK_DEV_STEP_NS 1000000ull    /* between readings, at least, */
#define CLOCK_DEV_LONGEST_NS 250000000ull /* and at most: they are taken when a quarter of their span has passed */

struct clock_dev_reading { uint64_t tsc, ticks, width; }; /* tsc in the middle of a bracket of `width` cycles */

/* cycles = last.tsc + (stamp - last.ticks) * cycles_per_tick */
struct clock_dev {
	double hz;               /* cycles per second, nearly */
	struct clock_dev_reading at[CLOCK_DEV_READINGS]; /* the newest is the last one of n */
	unsigned n;
	double cycles_per_tick;  /* 0: not known yet */
	double slope_error;      /* of it, a bound relative to itself */
	double missed;           /* cycles: the most by which a conversion has proved to be off, with what the reading leaves open */
	double strayed;          /* the same where nobody had set the clock */
	double wander;           /* cycles: what lately the conversion has been off by when the next reading came */
	uint64_t narrowest;      /* bracket so far */
	uint64_t readings, rejected, steps; /* steps: somebody set the clock, or its frequency changed at once */
	uint64_t failed;         /* times that it could not be read */
	unsigned rejected_in_row;
};

void clock_dev_begin(struct clock_dev *d, double hz);
/* A later reading. One that comes too soon, or whose bracket is wide beside others (preempted), is not used. true: used. */
bool clock_dev_add(struct clock_dev *d, struct clock_dev_reading r);
/* It could not be read: nobody knows what happened to it, and nothing of what was known holds before it has been learnt anew. Counts go on, and what
 * conversions were off by before stays said. */
void clock_dev_lost(struct clock_dev *d);
/* Is a frequency known? Then: where the conversion begins. */
static inline bool clock_dev_known(const struct clock_dev *d) { return d->cycles_per_tick > 0; }
static inline const struct clock_dev_reading *clock_dev_last(const struct clock_dev *d) { return &d->at[d->n - 1]; }
/* Cycle count at which the next reading is due. */
uint64_t clock_dev_next(const struct clock_dev *d);
/* By how many cycles a conversion of a time at tsc may be off, or has been since `missed` was set to 0. */
double clock_dev_error(const struct clock_dev *d, uint64_t tsc);
/* The same from the newest reading on: what somebody did to the clock before it is over. */
double clock_dev_slack(const struct clock_dev *d);
