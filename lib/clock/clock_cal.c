/* SPDX-License-Identifier: BSD-3-Clause */
/* The calibration of a cycle counter: see clock_cal.h. */
#include "clock_cal.h"

#include <math.h>
#include <string.h>

/* A bracket is wide if it is more than WIDE times as wide as the narrowest one, and by more than
 * WIDE_NS: the thread was preempted, or the clock took a slow path. */
#define WIDE 4
#define WIDE_NS 200
#define REJECT_ROW 8 /* after so many wide ones in a row, the next one is used */

#define STEPS 3         /* so many steps of a counter are looked at */
#define STEP_READS 4096 /* in so many readings at most, because a counter that stands has none */

uint64_t clock_cal_step(uint64_t (*counter)(void))
{
	uint64_t step = UINT64_MAX, last = counter();
	unsigned moves = 0;

	for (unsigned i = 0; i < STEP_READS && moves <= STEPS; i++) {
		uint64_t now = counter();
		if (now == last)
			continue;
		if (moves++ > 0 && now - last < step)
			step = now - last;
		last = now;
	}
	return step == UINT64_MAX ? 1 : step;
}

static double rate_hz(const struct clock_reading *a, const struct clock_reading *b)
{
	return (double)(b->tsc - a->tsc) * 1e9 / (double)(b->ns - a->ns);
}

/* By how many ppm rate_hz() of the two readings may be off. Each end is known to half of its
 * bracket and to a unit of the counter, and the time between them to one ns. */
static double bound_ppm(const struct clock_reading *a, const struct clock_reading *b)
{
	return (((double)(a->width + b->width) / 2 + 2) / (double)(b->tsc - a->tsc) +
		1 / (double)(b->ns - a->ns)) *
	       1e6;
}

void clock_cal_begin(struct clock_cal *c, struct clock_reading first)
{
	*c = (struct clock_cal){.first = first,
				.last = first,
				.narrowest = first.width,
				.readings = 1};
}

/* Makes room when all marks are taken: one mark is merged into the next one. It is the mark whose
 * neighbours are closest to each other in proportion to its age, so that marks lie farther apart
 * the longer ago they are. How much the frequency moved is kept; only the exact time is lost. */
static void mark_thin(struct clock_cal *c, uint64_t now)
{
	unsigned least = 1;
	double cost = INFINITY;

	for (unsigned i = 1; i + 1 < c->nmarks; i++) {
		double gap = (double)(c->mark[i + 1].ns - c->mark[i - 1].ns) /
			     (double)(now - c->mark[i].ns);
		if (gap < cost) {
			cost = gap;
			least = i;
		}
	}
	c->mark[least + 1].moved_ppm = fmax(c->mark[least].moved_ppm, c->mark[least + 1].moved_ppm);
	memmove(&c->mark[least], &c->mark[least + 1], (c->nmarks - least - 1) * sizeof(c->mark[0]));
	c->nmarks--;
}

static void mark_add(struct clock_cal *c, struct clock_mark m)
{
	if (c->nmarks == CLOCK_MARKS)
		mark_thin(c, m.ns);
	c->mark[c->nmarks++] = m;
}

/* Decides whether a reading may be used, and counts it as rejected if its bracket is wide. */
static bool clock_cal_usable(struct clock_cal *c, const struct clock_reading *r)
{
	if (r->ns < c->last.ns || r->ns - c->last.ns < CLOCK_MIN_STEP_NS)
		return false;
	if ((c->hz == 0 || c->settling) && r->ns - c->first.ns < CLOCK_MIN_SPAN_NS)
		return false;
	if (r->width < c->narrowest)
		c->narrowest = r->width;
	double more = (double)(r->width - c->narrowest);
	if (c->hz != 0 && r->width > WIDE * c->narrowest && more > c->hz * WIDE_NS / 1e9 + 1 &&
	    c->rejected_in_row < REJECT_ROW) {
		c->rejected++;
		c->rejected_in_row++;
		return false;
	}
	c->rejected_in_row = 0;
	return true;
}

bool clock_cal_add(struct clock_cal *c, struct clock_reading r)
{
	double moved = 0;
	bool restart = false;

	if (!clock_cal_usable(c, &r))
		return false;
	if (r.tsc <= c->last.tsc) { /* the counter was set back: its frequency is not known */
		moved = 1e6;
		restart = true;
	} else if (c->hz != 0) {
		moved = fabs(rate_hz(&c->last, &r) / c->hz - 1) * 1e6 - bound_ppm(&c->last, &r) -
			c->uncertainty_ppm;
		restart = moved > CLOCK_RESTART_PPM && !c->settling;
	}
	c->last = r;
	c->readings++;
	c->settling = restart;
	if (restart) {
		c->first = r;
		c->restarts++;
	} else {
		c->hz = rate_hz(&c->first, &r);
		c->uncertainty_ppm = bound_ppm(&c->first, &r);
	}
	mark_add(c, (struct clock_mark){.ns = r.ns, .moved_ppm = fmax(moved, 0), .hz = c->hz});
	return true;
}

double clock_cal_moved(const struct clock_cal *c, uint64_t since_ns)
{
	double hz = 0, most = 0;

	for (unsigned i = 0; i < c->nmarks; i++) {
		const struct clock_mark *m = &c->mark[i];
		if (hz == 0 || m->ns <= since_ns)
			hz = m->hz;
		if (m->ns > since_ns)
			most = fmax(most, fmax(m->moved_ppm, fabs(m->hz / hz - 1) * 1e6));
	}
	return most;
}
