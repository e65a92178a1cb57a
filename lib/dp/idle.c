/* SPDX-License-Identifier: BSD-3-Clause */
/* What a worker does when a turn has moved nothing: it wakes control, yields or sleeps. These are
 * the only system calls of a worker. */
#include <sched.h>
#include <time.h>
#include <unistd.h>

#include "dp.h"

/* A worker that shares its CPU yields once in so many turns that move nothing. Without this two
 * workers on one CPU reached 0.1 Mpps, with it 7 to 19. */
#define BARREN_TURNS 64
#define MS 1000000l
/* A sleep ends with the present millisecond, or later if the machine is busy. If a task must run
 * within 1 / NAP_PER_S s, the worker does not sleep. */
#define NAP_PER_S 500

/* Returns whether no task must run so soon that the worker could oversleep. */
static bool time_for_nap(const struct dp_plan *p, uint64_t now)
{
	uint64_t next = DP_NEVER;

	for (unsigned i = 0; i < p->ntasks; i++) {
		const struct dp_task *t = &p->task[i];
		if (!t->kind->patient || t->state->next <= now)
			next = RTE_MIN(next, t->state->next);
	}
	return next > now && next - now > rte_get_tsc_hz() / NAP_PER_S;
}

/* Called when no frame waits for the worker. A write that fails is no loss: it can fail only if the
 * eventfd's counter is full, and then control is woken already. */
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
	if (w->plan->may_sleep && now - w->progress_tsc > w->plan->idle_cycles &&
	    time_for_nap(w->plan, now)) {
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
