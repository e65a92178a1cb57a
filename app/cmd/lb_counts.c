/* SPDX-License-Identifier: BSD-3-Clause */
/* What the device counts, read beside what we open: before a trial, each second of it, and behind
 * it. */
#include <math.h>
#include <stdlib.h>

#include "lb_run.h"

#define EVERY_NS 1000000000ull

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
	uint64_t device;
	int rc = lb_device_poll(b->reader, &device, e);

	if (rc <= 0)
		return rc;
	b->count = xrealloc(b->count, (b->ncounts + 1) * sizeof(*b->count));
	b->count[b->ncounts++] = (struct lb_count){
		.ns = b->begun ? clock_raw_ns() - b->begun_ns : 0,
		.opened = b->trial != NULL ? trial_opened(b->trial) : 0,
		.device = device,
	};
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

double lb_counts_device(const struct lb_trial *t)
{
	if (t->ncounts < 2)
		return (double)NAN;
	uint64_t first = t->count[0].device, last = t->count[t->ncounts - 1].device;
	return last >= first ? (double)(last - first) : (double)NAN;
}
