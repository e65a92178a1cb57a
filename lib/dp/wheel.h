/* SPDX-License-Identifier: BSD-3-Clause */
/* Timers of one worker, exact to the turn: each fires in the first turn at or after its time.
 * Starting and stopping a timer cost the same however many there are. The timers of a worker are a
 * task of the kind dp_kind_wheel, which a plan has only if some task wants timers; other workers do
 * not pay for them. Worker only. */
#pragma once
#include "dp.h"

/* A level has 64 lists. One list of a level spans the same time as all lists of the level below,
 * and all levels together hold any time. */
#define DP_WHEEL_LEVELS 9
#define DP_WHEEL_LISTS 64

/* A timer, in its owner's memory, where it stays as long as it runs. Zeroed, it does not run. */
struct dp_timer {
	uint64_t due;                /* cycles */
	struct dp_timer *next, **at; /* at: the pointer to this timer; NULL: it does not run */
	/* Called when the timer fires; it does not run any more then. The function may start it
	 * again, and start or stop any other: what it starts fires in the next turn at the
	 * earliest. Timers that are due in the same turn fire in any order. Returns how many frames
	 * it moved, as dp_kind.poll does. */
	unsigned (*fn)(struct dp_worker *w, const struct dp_task *t, struct dp_timer *tm,
		       uint64_t now);
	/* Handed to fn. It is a part of the plan, so its owner sets it anew in each adopt(). */
	const struct dp_task *task;
};

/* All timers of a worker, in control's memory, which is zeroed at first. It outlives plans, and so
 * do timers that run: a task that is dropped stops its own. */
struct dp_wheel {
	struct dp_state base;
	uint64_t notch;       /* the present notch of time; lists of earlier notches are empty */
	struct dp_timer *due; /* timers that are still to fire in this turn */
	/* A bit for each list. 0: the list is empty. 1: it may hold timers. */
	uint64_t used[DP_WHEEL_LEVELS];
	struct dp_timer *list[DP_WHEEL_LEVELS][DP_WHEEL_LISTS];
};

/* For tasks of a plan that has the wheel. due: any time in cycles; if it has passed, the timer
 * fires in the next turn. A timer that runs already gets the new time. Stopping a timer that does
 * not run is allowed. */
void dp_timer_start(struct dp_worker *w, struct dp_timer *tm, uint64_t due);
void dp_timer_stop(struct dp_worker *w, struct dp_timer *tm);

extern const struct dp_kind dp_kind_wheel; /* its state is the worker's wheel; it has no job */
