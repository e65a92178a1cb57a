/* SPDX-License-Identifier: BSD-3-Clause */
/* The clock of a device beside our cycle counter: see clock_dev.h. */
#include "clock_dev.h"

#include <math.h>
#include <string.h>

/* A bracket is wide if it is more than WIDE times as wide as the narrowest one, and by more than
 * WIDE_NS: the thread was preempted. */
#define WIDE 4
#define WIDE_NS 200
#define REJECT_ROW 8 /* after so many wide ones in a row, the next one is used */
#define FADES 0.9    /* share of `wander` that is left at the next reading */
/* From one reading to the next, no oscillator changes its frequency by STEP_PPM (a ratio, not ppm),
 * and a clock that nobody sets does not move by STEP_NS. */
#define STEP_PPM 50e-6
#define STEP_NS 1000.0

void clock_dev_begin(struct clock_dev *d, double hz)
{
	*d = (struct clock_dev){.hz = hz, .narrowest = UINT64_MAX};
}

void clock_dev_lost(struct clock_dev *d)
{
	*d = (struct clock_dev){.hz = d->hz,
				.narrowest = UINT64_MAX,
				.missed = d->missed,
				.readings = d->readings,
				.rejected = d->rejected,
				.steps = d->steps,
				.failed = d->failed + 1};
}

static bool clock_dev_usable(struct clock_dev *d, const struct clock_dev_reading *r)
{
	if (d->n > 0 &&
	    (double)(int64_t)(r->tsc - clock_dev_last(d)->tsc) < d->hz * CLOCK_DEV_STEP_NS / 1e9)
		return false;
	if (r->width < d->narrowest)
		d->narrowest = r->width;
	double more = (double)(r->width - d->narrowest);
	if (r->width > WIDE * d->narrowest && more > d->hz * WIDE_NS / 1e9 + 1 &&
	    d->rejected_in_row < REJECT_ROW) {
		d->rejected++;
		d->rejected_in_row++;
		return false;
	}
	d->rejected_in_row = 0;
	return true;
}

/* Looks at how far the conversion is off at a new reading. The error grew since the last reading,
 * so all times that were converted meanwhile were off by at most as much. Returns true if the
 * error is more than a clock comes to by itself: somebody has set it. */
static bool clock_dev_judge(struct clock_dev *d, const struct clock_dev_reading *r)
{
	const struct clock_dev_reading *last = clock_dev_last(d);
	double cycles = (double)(r->tsc - last->tsc),
	       ticks = (double)(int64_t)(r->ticks - last->ticks);
	double off = fabs(ticks * d->cycles_per_tick - cycles),
	       open = (double)r->width / 2 + 1 + 2 * d->cycles_per_tick;
	double explained = open + (double)last->width / 2 + cycles * (d->slope_error + STEP_PPM) +
			   d->hz * STEP_NS / 1e9;

	d->missed = fmax(d->missed, off + open);
	if (off > explained)
		return true;
	d->strayed = fmax(d->strayed, off + open);
	d->wander = fmax(off, d->wander * FADES);
	return false;
}

/* Computes the frequency anew from the oldest and the newest reading. */
static void clock_dev_fit(struct clock_dev *d)
{
	const struct clock_dev_reading *a = &d->at[0], *b = clock_dev_last(d);
	double cycles = (double)(b->tsc - a->tsc), ticks = (double)(int64_t)(b->ticks - a->ticks);

	if (cycles < d->hz * CLOCK_DEV_SPAN_NS / 1e9 || ticks < 1)
		return;
	d->cycles_per_tick = cycles / ticks;
	d->slope_error = ((double)(a->width + b->width) / 2 + 2 + d->cycles_per_tick) / cycles;
}

bool clock_dev_add(struct clock_dev *d, struct clock_dev_reading r)
{
	if (!clock_dev_usable(d, &r))
		return false;
	bool back = d->n > 0 && (int64_t)(r.ticks - clock_dev_last(d)->ticks) < 0;
	bool step = clock_dev_known(d) ? clock_dev_judge(d, &r) : back;
	if (step) { /* only the frequency is kept: it is as before, or soon known again */
		d->steps++;
		d->n = 0;
		d->slope_error = fmax(d->slope_error, STEP_PPM);
	}
	if (d->n == CLOCK_DEV_READINGS) {
		memmove(d->at, d->at + 1, (CLOCK_DEV_READINGS - 1) * sizeof(d->at[0]));
		d->n--;
	}
	d->at[d->n++] = r;
	d->readings++;
	clock_dev_fit(d);
	return true;
}

/* Cycles from the newest reading until the next one is due. */
static double next_cycles(const struct clock_dev *d)
{
	double span = d->n > 0 ? (double)(clock_dev_last(d)->tsc - d->at[0].tsc) : 0;

	return fmin(fmax(span / 4, d->hz * CLOCK_DEV_STEP_NS / 1e9),
		    d->hz * CLOCK_DEV_LONGEST_NS / 1e9);
}

uint64_t clock_dev_next(const struct clock_dev *d)
{
	return d->n > 0 ? clock_dev_last(d)->tsc + (uint64_t)next_cycles(d) + 1 : 0;
}

/* By how many cycles a conversion at tsc may be off, if nobody sets the clock. */
static double error_now(const struct clock_dev *d, uint64_t tsc)
{
	double away = fabs((double)(int64_t)(tsc - clock_dev_last(d)->tsc));

	return (double)clock_dev_last(d)->width / 2 + 1 + 2 * d->cycles_per_tick + d->wander +
	       d->slope_error * fmax(away, next_cycles(d));
}

double clock_dev_error(const struct clock_dev *d, uint64_t tsc)
{
	return clock_dev_known(d) ? fmax(error_now(d, tsc), d->missed) : INFINITY;
}

double clock_dev_slack(const struct clock_dev *d)
{
	return clock_dev_known(d) ? fmax(error_now(d, clock_dev_last(d)->tsc), d->strayed)
				  : INFINITY;
}
