/* SPDX-License-Identifier: BSD-3-Clause */
/* The only system calls of a worker. */
#include <sched.h>
#include <time.h>

#include "dp.h"

#define BARREN_TURNS 64 /* without the yield two workers on one CPU reach 0.1 Mpps, with it 7 to 19 */
#define MS 1000000l

void dp_idle(struct dp_worker *w, bool active, uint64_t now)
{
	w->barren++;
	if (!active && w->plan->may_sleep && now - w->progress_tsc > w->plan->idle_cycles) {
		struct timespec t;

		clock_gettime(CLOCK_MONOTONIC, &t);
		t.tv_nsec = (t.tv_nsec / MS + 1) * MS;
		if (t.tv_nsec >= 1000 * MS) {
			t.tv_nsec -= 1000 * MS;
			t.tv_sec++;
		}
		cell_set(&w->cells.asleep, 1);
		cell_add(&w->cells.sleeps, 1);
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
		cell_set(&w->cells.asleep, 0);
		w->turn_tsc = rte_rdtsc(); /* a sleep is no stall */
	} else if (w->shares_cpu && w->barren % BARREN_TURNS == 0) {
		cell_add(&w->cells.yields, 1);
		sched_yield();
	}
}
