/* SPDX-License-Identifier: BSD-3-Clause */
/* Settings, placement and run life -> immutable plans, and their way to the workers and back. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ctl_int.h"
#include "plan_write.h"

#define IDLE_NS 50000000ull     /* without work for so long: sleep */

/* Said once, not at each plan in which it still holds. */
static void say(struct ctl *c, struct ctl_port *cp, const char *text)
{
	if (strcmp(cp->said, text) == 0)
		return;
	snprintf(cp->said, sizeof(cp->said), "%s", text);
	if (text[0] != '\0')
		ctl_note(c, cp->p.id, "%s", text);
}

/* Does some enabled stream end by a count of its own? */
static bool streams_count(const struct ctl_port *cp)
{
	for (unsigned i = 0; i < cp->nstreams; i++)
		if (cp->stream[i] != NULL && cp->stream[i]->cfg.enabled && cp->stream[i]->cfg.count != 0)
			return true;
	return false;
}

bool plan_waits(const struct ctl *c)
{
	for (unsigned i = 0; i < c->nports; i++)
		if (c->port[i]->used && c->port[i]->touched)
			return true;
	return devices_wait(c);
}

/* The program of a port that sends follows its settings; one that cannot be made is not taken over. While a stream with a count is sent, the
 * order stays. */
void plan_refresh(struct ctl *c, struct ctl_port *cp)
{
	struct program now;
	struct err e;
	char text[sizeof(cp->said)] = "";
	uint64_t limit = cp->run.count != 0 ? cp->run.count : UINT64_MAX;
	bool other = false;
	int rc;

	if (!cp->run.armed && (cp->program.counted || streams_count(cp)))
		rc = program_follow(c, cp, &cp->program, limit, &now, &other, &e);
	else
		rc = program_make(c, cp, &cp->program, limit, &now, &e);
	if (rc < 0)
		snprintf(text, sizeof(text), "%s; the frames in flight stay as they were", e.text);
	else if (other)
		snprintf(text, sizeof(text),
			 "port %u: a stream has a count, so who sends how often stays as it is until the next start (weights, counts, rates of "
			 "their own, set of streams)", cp->p.id);
	say(c, cp, text);
	if (rc == 0) {
		plan_take(c, cp, &now);
		cp->order_waits = other;
	}
	cp->run.bounded = all_counted(&cp->program);
}

/* Takes p. */
void plan_take(struct ctl *c, struct ctl_port *cp, struct program *p)
{
	bool other = p->ngroups != cp->program.ngroups;

	for (unsigned i = 0; i < p->ngroups && !other; i++)
		other = p->group[i] != cp->program.group[i];
	program_free(c, &cp->program);
	cp->program = *p;
	if (!other)
		return;
	cp->run.changed_ns = clock_raw_ns();
}

static uint64_t stall_ns(const struct ctl *c)
{
	return c->trial_stall_ns != 0 ? RTE_MIN(c->trial_stall_ns, c->stall_ns) : c->stall_ns;
}

struct dp_plan *plan_build(struct ctl *c, unsigned worker, bool without_ports)
{
	struct plan_writer *w = plan_begin(c, worker, without_ports);
	bool may_sleep = true;

	for (unsigned i = 0; i < c->nports && !without_ports; i++) {
		struct ctl_port *cp = c->port[i];
		if (!cp->used || !cp->started)
			continue;
		send_fill(c, cp, w);
		devices_fill(c, cp, w);
		count_fill(c, cp, w);
		probes_fill(c, cp, w);
		for (unsigned q = 0; q < cp->p.nrxq; q++)
			if (cp->rx_worker[q] == (int)worker)
				may_sleep &= !cp->p.cfg.idle_busy && !cp->awake && !probes_awake(c);
	}
	struct dp_plan *p = plan_end(w);
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

void plan_post_all(struct ctl *c)
{
	bool touched = false, hold = probes_hold(c);

	for (unsigned i = 0; i < c->nports; i++) {
		struct ctl_port *cp = c->port[i];
		if (hold && cp->run.active && cp->run.armed)
			continue; /* it stays touched */
		if (!cp->touched || !cp->used)
			continue;
		if (probes_wait(c, cp)) {
			cp->touched = true;
			continue;
		}
		cp->touched = false;
		touched = true;
		dev_promiscuous(c, cp);
		devices_touched(c, cp);
		if (cp->started && cp->run.active && !cp->run.stop)
			plan_refresh(c, cp);
		if (cp->run.active)
			rates_follow(cp);
		pacing_follow(c, cp);
		for (unsigned q = 0; q < cp->p.nrxq; q++)
			c->worker[cp->rx_worker[q]].dirty = true;
		for (unsigned q = 0; q < cp->p.ntxq; q++)
			c->worker[cp->tx_worker[q]].dirty = true;
	}
	devices_turn(c);
	if (!hold)
		run_arm(c);
	if (touched)
		probes_targets(c);
	for (unsigned w = 0; w < c->nworkers; w++) {
		struct ctl_worker *cw = &c->worker[w];
		if (!cw->dirty)
			continue;
		struct dp_plan *p = plan_build(c, w, false);
		if (plan_post(c, cw, p))
			cw->dirty = false;
		else /* ring full: next turn */
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

static bool has_plan(const struct ctl_worker *cw)
{
	return !cw->launched || cw->posted == NULL || __atomic_load_n(&cw->w->cells.acked, __ATOMIC_ACQUIRE) >= cw->posted->seq;
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
		if (dirty) { /* what the worker shall let go of has not been told to it */
			plan_post_all(c);
			all = false;
		}
		if (all || clock_waited(&wait, clock_raw_ns()) > max_ns)
			return all;
		nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
	}
}
