/* SPDX-License-Identifier: BSD-3-Clause */
/* What the device counts, read beside what we open: before a trial, each second of it, and behind
 * it. */
#include <math.h>
#include <stdlib.h>

#include "lb_run.h"

#define EVERY_NS 1000000000ull
#define CROWDED_LEAST 0.99 /* of what a trial opens must find room */

int lb_counts_begin(struct lb_run *b, struct err *e)
{
	free(b->count);
	b->count = NULL;
	b->ncounts = 0;
	b->asked_last = false;
	b->begun = false; /* what is counted now is of no trial before */
	return lb_device_ask(b->reader, e);
}

/* 1: a number has come and is taken. */
static int counts_take(struct lb_run *b, struct err *e)
{
	struct lb_told told;
	int rc = lb_device_poll(b->reader, &told, e);

	if (rc <= 0)
		return rc;
	b->count = xrealloc(b->count, (b->ncounts + 1) * sizeof(*b->count));
	b->count[b->ncounts++] = (struct lb_count){
		.ns = b->trial != NULL && b->begun ? clock_raw_ns() - b->begun_ns : 0,
		.opened = b->trial != NULL ? trial_opened(b->trial) : 0,
		.device = told.opened,
		.held = told.holds ? (double)told.held : (double)NAN,
		.room = told.holds ? (double)told.room : (double)NAN,
	};
	if (told.holds)
		b->room = (double)told.room;
	return 1;
}

int lb_counts_before(struct lb_run *b, struct err *e)
{
	return counts_take(b, e);
}

int lb_counts_each(struct lb_run *b, struct err *e)
{
	/* the first count is that before the trial: the n-th one is asked for n seconds behind its
	 * begin */
	if (!lb_device_asked(b->reader))
		return clock_raw_ns() - b->begun_ns >= b->ncounts * EVERY_NS
			       ? lb_device_ask(b->reader, e)
			       : 0;
	int rc = counts_take(b, e);
	return rc < 0 ? rc : 0;
}

int lb_counts_after(struct lb_run *b, struct err *e)
{
	if (lb_device_asked(b->reader)) {
		int rc = counts_take(b, e);
		if (rc <= 0 || b->asked_last)
			return rc;
	}
	b->asked_last = true;
	return lb_device_ask(b->reader, e);
}

bool lb_counts_crowded(struct lb_run *b, double opens, uint64_t most_ns)
{
	const struct lb_count *c = &b->count[0];
	uint64_t now = clock_raw_ns();

	if (!(c->held + CROWDED_LEAST * fmin(opens, c->room) > c->room)) {
		b->crowded_ns = 0;
		return false;
	}
	if (b->crowded_ns == 0)
		b->crowded_ns = now;
	if (now - b->crowded_ns < most_ns)
		return true;
	b->crowded_ns = 0;
	return false;
}

void lb_counts_said(const struct lb_trial *t, struct lb_said *out)
{
	*out = (struct lb_said){.counted = (double)NAN, .held = (double)NAN, .room = (double)NAN};
	if (t->ncounts < 2)
		return;
	const struct lb_count *first = &t->count[0], *last = &t->count[t->ncounts - 1];
	if (last->device >= first->device)
		out->counted = (double)(last->device - first->device);
	out->room = last->room;
	for (unsigned i = 1; i < t->ncounts; i++)
		out->held = fmax(out->held, t->count[i].held);
}
