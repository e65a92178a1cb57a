/* SPDX-License-Identifier: BSD-3-Clause */
/* Plans: they are built from settings, the placement and runs, posted to the workers, and freed
 * when the workers have acknowledged later ones. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ctl_int.h"

#define IDLE_NS 50000000ull /* a worker that has had no work for so long may sleep */

void ctl_replan(struct ctl *c, unsigned worker)
{
	c->worker[worker].dirty = true;
}

bool plan_waits(const struct ctl *c)
{
	for (unsigned i = 0; i < c->nports; i++)
		if (c->port[i]->p.used && c->port[i]->touched)
			return true;
	EACH_WORK(w, stepping)
		if (w->stepping(c))
			return true;
	return false;
}

/* How long a turn must be to count as a stall: as the setting says, or as a trial asks if that is
 * less. */
static uint64_t stall_ns(const struct ctl *c)
{
	return c->watch_stall_ns != 0 ? RTE_MIN(c->watch_stall_ns, c->stall_ns) : c->stall_ns;
}

/* Asks all works to put their tasks on a port into the plan, from the last one of the list to the
 * first, which owns what nobody claims. */
static void plan_fill(struct ctl *c, struct ctl_port *cp, struct plan_writer *w)
{
	unsigned n = 0;

	while (works[n] != NULL)
		n++;
	while (n-- > 0)
		if (works[n]->fill != NULL)
			works[n]->fill(c, cp, w);
}

struct dp_plan *plan_build(struct ctl *c, unsigned worker, bool without_ports)
{
	struct plan_writer *w = plan_begin(c, worker, without_ports);
	bool may_sleep = true;

	for (unsigned i = 0; i < c->nports && !without_ports; i++) {
		struct ctl_port *cp = c->port[i];
		if (!cp->p.used || !ctl_port_runs(cp))
			continue;
		plan_fill(c, cp, w);
		for (unsigned q = 0; q < cp->p.nrxq; q++)
			if (cp->rx_worker[q] == (int)worker)
				may_sleep &= !cp->cfg.idle_busy && !cp->awake;
	}
	struct dp_plan *p = plan_end(w);
	EACH_WORK(k, awake)
		may_sleep &= p->nrx == 0 || !k->awake(c);
	p->seq = ++c->plan_seq;
	p->may_sleep = may_sleep;
	p->idle_cycles = (uint64_t)(clock_hz() * IDLE_NS / 1e9);
	p->stall_cycles = (uint64_t)(clock_hz() * (double)stall_ns(c) / 1e9);
	return p;
}

bool plan_post(struct ctl *c, struct ctl_worker *cw, struct dp_plan *p)
{
	if (!mbox_post(&cw->w->mbox, p))
		return false;
	if (cw->posted != NULL) {
		if (c->nold == c->cap_old) {
			c->cap_old = c->cap_old ? 2 * c->cap_old : 16;
			c->old = xrealloc(c->old, c->cap_old * sizeof(*c->old));
		}
		c->old[c->nold++] = (struct old_plan){.plan = cw->posted, .w = cw};
	}
	cw->posted = p;
	return true;
}

/* Whether some work makes ports that are to start wait. */
static bool starts_held(const struct ctl *c)
{
	EACH_WORK(w, holds_starts)
		if (w->holds_starts(c))
			return true;
	return false;
}

/* Whether some work says that the port's changes cannot be in plans yet. */
static bool port_waits(struct ctl *c, struct ctl_port *cp)
{
	EACH_WORK(w, waits)
		if (w->waits(c, cp))
			return true;
	return false;
}

/* Every sender is told when works begin or cease to write into buffers. */
static void writes_follow(struct ctl *c)
{
	bool writes = works_write(c);

	for (unsigned i = 0; i < c->nports && writes != c->writes; i++)
		ctl_touch(c, i, WHY_WORK);
	c->writes = writes;
}

void plan_post_all(struct ctl *c)
{
	bool touched = false, hold = starts_held(c);

	writes_follow(c);
	for (unsigned i = 0; i < c->nports; i++) {
		struct ctl_port *cp = c->port[i];
		if (hold && cp->run.active && cp->run.armed)
			continue; /* it stays touched */
		if (!cp->touched || !cp->p.used)
			continue;
		uint32_t why = cp->touched;
		if (port_waits(c, cp)) {
			cp->touched |= why;
			continue;
		}
		cp->touched = 0;
		touched = true;
		if ((why & WHY_PORT) != 0 && ctl_port_runs(cp))
			port_promiscuous(&cp->p);
		EACH_WORK(w, prepare)
			if ((why & w->prepares) != 0)
				w->prepare(c, cp, why);
		port_pacing_follow(c, cp);
		for (unsigned q = 0;
		     q < cp->p.nrxq && (why & ~(WHY_RATE | WHY_FRAMES | WHY_ORDER)) != 0; q++)
			c->worker[cp->rx_worker[q]].dirty = true;
		for (unsigned q = 0; q < cp->p.ntxq && (why & ~WHY_PORT) != 0; q++)
			c->worker[cp->tx_worker[q]].dirty = true;
	}
	EACH_WORK(w, step)
		w->step(c);
	if (!hold)
		run_arm(c);
	if (touched)
		EACH_WORK(w, prepared)
			w->prepared(c);
	for (unsigned w = 0; w < c->nworkers; w++) {
		struct ctl_worker *cw = &c->worker[w];
		if (!cw->dirty)
			continue;
		struct dp_plan *p = plan_build(c, w, false);
		if (plan_post(c, cw, p))
			cw->dirty = false;
		else /* the ring is full: try in the next turn */
			plan_free(c, p);
	}
}

void plan_reap(struct ctl *c)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < c->nold; i++) {
		struct old_plan *o = &c->old[i];
		if (o->plan->seq < __atomic_load_n(&o->w->w->cells.acked, __ATOMIC_ACQUIRE))
			plan_free(c, o->plan);
		else
			c->old[kept++] = *o;
	}
	c->nold = kept;
}

/* Whether the worker uses its newest plan. */
static bool has_plan(const struct ctl_worker *cw)
{
	return !cw->launched || cw->posted == NULL ||
	       __atomic_load_n(&cw->w->cells.acked, __ATOMIC_ACQUIRE) >= cw->posted->seq;
}

const struct ctl_worker *plan_behind(const struct ctl *c)
{
	for (unsigned w = 0; w < c->nworkers; w++)
		if (!has_plan(&c->worker[w]) || c->worker[w].dirty)
			return &c->worker[w];
	return NULL;
}

bool plan_wait_acks(struct ctl *c, uint64_t max_ns)
{
	struct clock_wait wait = {0};

	for (;;) {
		bool all = true, dirty = false;
		for (unsigned w = 0; w < c->nworkers; w++) {
			struct ctl_worker *cw = &c->worker[w];
			dirty |= cw->dirty;
			all &= has_plan(cw);
		}
		if (dirty) { /* some worker has not been told yet what to let go of */
			plan_post_all(c);
			all = false;
		}
		if (all || clock_waited(&wait, clock_raw_ns()) > max_ns)
			return all;
		nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
	}
}
