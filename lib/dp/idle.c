/* SPDX-License-Identifier: BSD-3-Clause */
/* The only system calls of a worker. */
#include <sched.h>
#include <time.h>
#include <unistd.h>

#include "dp.h"

#define BARREN_TURNS 64 /* without the yield two workers on one CPU reach 0.1 Mpps, with it 7 to 19 */
#define MS 1000000l
#define NAP_PER_S 500   /* a nap ends with a millisecond, or when the machine comes to it: none where a task must run in 1 / so many s */

/* No task must run so soon that it could be overslept. */
static bool time_for_nap(const struct dp_plan *p, uint64_t now)
{
	uint64_t next = DP_NEVER;

	for (unsigned i = 0; i < p->ntasks; i++)
		next = RTE_MIN(next, p->task[i].state->next);
	return next > now && next - now > rte_get_tsc_hz() / NAP_PER_S;
}

/* Behind the last frame, where it keeps none waiting. An eventfd that nobody reads is full in 500 years: a write that fails is no loss. */
static void wake_control(struct dp_worker *w)
{
	uint64_t one = 1;

	w->has_news = false;
	if (w->wake_fd != NULL) {
		ssize_t written = write(*w->wake_fd, &one, sizeof(one));
		(void)written;
	}
}

void dp_idle(struct dp_worker *w, uint64_t now)
{
	w->barren++;
	if (unlikely(w->has_news))
		wake_control(w);
	if (w->plan->may_sleep && now - w->progress_tsc > w->plan->idle_cycles && time_for_nap(w->plan, now)) {
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
