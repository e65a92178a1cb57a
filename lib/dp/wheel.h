/* SPDX-License-Identifier: BSD-3-Clause */
/* Timers of one worker, exact to the turn: each fires in the first turn at or after its time. Starting and stopping cost the same however many there
 * are. They are a task like any, dp_kind_wheel, which a plan has where some task wants timers; nobody else pays for them. Worker only. */
#pragma once
#include "dp.h"

#define DP_WHEEL_LEVELS 9  /* of 64 lists: each list of a level is as long as all lists of the level below, and together they hold any time */
#define DP_WHEEL_LISTS 64

/* In its owner's memory, where it stays as long as it runs. Zeroed: it does not run. */
struct dp_timer {
	uint64_t due;              /* cycles */
	struct dp_timer *next, **at; /* at: what points to it; NULL: it does not run */
	/* It does not run any more, and this may start it again, and start and stop any other: what it starts fires in the next turn at the earliest.
	 * Timers that are due in one turn fire in no order. Returns frames moved, as dp_kind.poll does. */
	unsigned (*fn)(struct dp_worker *w, const struct dp_task *t, struct dp_timer *tm, uint64_t now);
	const struct dp_task *task; /* handed to fn; a part of the plan: each adopt of its owner sets it anew */
};

/* Of a worker: control's memory, zeroed at first. It outlives plans, and so do timers that run: who is dropped stops its own. */
struct dp_wheel {
	struct dp_state base;
	uint64_t slot;             /* time is cut into slots; all lists of earlier ones are empty */
	struct dp_timer *due;      /* that fire in this turn, and have not yet */
	uint64_t used[DP_WHEEL_LEVELS]; /* bits: lists that may hold something; of others it is known that they do not */
	struct dp_timer *list[DP_WHEEL_LEVELS][DP_WHEEL_LISTS];
};

/* By tasks of a plan that has the wheel. due: any, what has passed fires in the next turn. A timer that runs is started anew; one that does not run
 * may be stopped. */
void dp_timer_start(struct dp_worker *w, struct dp_timer *tm, uint64_t due);
void dp_timer_stop(struct dp_worker *w, struct dp_timer *tm);

extern const struct dp_kind dp_kind_wheel; /* its state: the wheel of the worker; no job */
