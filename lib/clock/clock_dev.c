/* SPDX-License-Identifier: BSD-3-Clause */
#include "clock_dev.h"

#include <math.h>
#include <string.h>

#define WIDE 4           /* times the narrowest bracket: preempted */
#define WIDE_NS 200      /* more than that one; less is no harm */
#define REJECT_ROW 8     /* wide ones in a row: the clock has become slow to read */
#define FADES 0.9        /* what a reading was off by, from one to the next */
#define STEP_PPM 50e-6   /* no oscillator changes by that much from one reading to the next, */
#define STEP_NS 1000.0   /* nor does a clock that nobody sets */

void clock_dev_begin(struct clock_dev *d, double hz)
{
	*d = (struct clock_dev){.hz = hz, .narrowest = UINT64_MAX};
}

void clock_dev_lost(struct clock_dev *d)
{
	*d = (struct clock_dev){.hz = d->hz, .narrowest = UINT64_MAX, .missed = d->missed, .readings = d->readings, .rejected = d->rejected,
				.steps = d->steps, .failed = d->failed + 1};
}

static bool usable(struct clock_dev *d, const struct clock_dev_reading *r)
{
	if (d->n > 0 && (double)(int64_t)(r->tsc - clock_dev_last(d)->tsc) < d->hz * CLOCK_DEV_STEP_NS / 1e9)
		return false;
	if (r->width < d->narrowest)
		d->narrowest = r->width;
	double more = (double)(r->width - d->narrowest);
	if (r->width > WIDE * d->narrowest && more > d->hz * WIDE_NS / 1e9 + 1 && d->rejected_in_row < REJECT_ROW) {
		d->rejected++;
		d->rejected_in_row++;
		return false;
	}
	d->rejected_in_row = 0;
	return true;
}

/* What was converted since the last reading was off by at most what it was off by at the end. true: that is more than a clock does by itself. */
static bool judge(struct clock_dev *d, const struct clock_dev_reading *r)
{
	const struct clock_dev_reading *last = clock_dev_last(d);
	double cycles = (double)(r->tsc - last->tsc), ticks = (double)(int64_t)(r->ticks - last->ticks);
	double off = fabs(ticks * d->cycles_per_tick - cycles), open = (double)r->width / 2 + 1 + 2 * d->cycles_per_tick;
	double explained = open + (double)last->width / 2 + cycles * (d->slope_error + STEP_PPM) + d->hz * STEP_NS / 1e9;

	d->missed = fmax(d->missed, off + open);
	if (off > explained)
		return true;
	d->strayed = fmax(d->strayed, off + open);
	d->wander = fmax(off, d->wander * FADES);
	return false;
}

static void fit(struct clock_dev *d)
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
	if (!usable(d, &r))
		return false;
	bool back = d->n > 0 && (int64_t)(r.ticks - clock_dev_last(d)->ticks) < 0;
	bool step = clock_dev_known(d) ? judge(d, &r) : back;
	if (step) { /* the frequency is as it was, or known again soon */
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
	fit(d);
	return true;
}

static double next_cycles(const struct clock_dev *d)
{
	double span = d->n > 0 ? (double)(clock_dev_last(d)->tsc - d->at[0].tsc) : 0;

	return fmin(fmax(span / 4, d->hz * CLOCK_DEV_STEP_NS / 1e9), d->hz * CLOCK_DEV_LONGEST_NS / 1e9);
}

uint64_t clock_dev_next(const struct clock_dev *d)
{
	return d->n > 0 ? clock_dev_last(d)->tsc + (uint64_t)next_cycles(d) + 1 : 0;
}

static double error_now(const struct clock_dev *d, uint64_t tsc)
{
	double away = fabs((double)(int64_t)(tsc - clock_dev_last(d)->tsc));

	return (double)clock_dev_last(d)->width / 2 + 1 + 2 * d->cycles_per_tick + d->wander + d->slope_error * fmax(away, next_cycles(d));
}

double clock_dev_error(const struct clock_dev *d, uint64_t tsc)
{
	return clock_dev_known(d) ? fmax(error_now(d, tsc), d->missed) : INFINITY;
}

double clock_dev_slack(const struct clock_dev *d)
{
	return clock_dev_known(d) ? fmax(error_now(d, clock_dev_last(d)->tsc), d->strayed) : INFINITY;
}
