/* SPDX-License-Identifier: BSD-3-Clause */
/* The plan of one worker while it is being made, and what a plan keeps until it is freed. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "ctl_int.h"
#include "wheel.h"

#define NO_OWNER UINT16_MAX

struct kept {
	void *obj;
	void (*release)(struct ctl *c, void *obj);
};

/* A plan with what only control knows of it. Workers see only the first member. */
struct ctl_plan {
	struct dp_plan p;
	const void **about; /* [p.ntasks]: what plan_about() returns */
	struct kept *kept;
	unsigned nkept, cap_kept;
	unsigned nqueues; /* of p.rx: those of devices, which come first */
};

struct plan_writer {
	struct ctl *c;
	unsigned worker;
	struct ctl_plan *plan;
	unsigned cap_tasks, cap_hear;
	bool has_wheel;
	unsigned wheel; /* number of the wheel's task, with has_wheel */
};

static void release_memory(struct ctl *c, void *mem)
{
	(void)c;
	free(mem);
}

void plan_keep(struct plan_writer *p, void *obj, void (*release)(struct ctl *c, void *obj))
{
	struct ctl_plan *plan = p->plan;

	if (plan->nkept == plan->cap_kept) {
		plan->cap_kept = plan->cap_kept > 0 ? 2 * plan->cap_kept : 16;
		plan->kept = xrealloc(plan->kept, plan->cap_kept * sizeof(*plan->kept));
	}
	plan->kept[plan->nkept++] = (struct kept){obj, release};
}

void *plan_carve(struct plan_writer *p, size_t bytes)
{
	void *mem = xcalloc_lines(bytes);

	plan_keep(p, mem, release_memory);
	return mem;
}

unsigned plan_task(struct plan_writer *p, const struct dp_task *task, const void *about)
{
	struct ctl_plan *plan = p->plan;

	if (plan->p.ntasks == p->cap_tasks) {
		p->cap_tasks = p->cap_tasks > 0 ? 2 * p->cap_tasks : 8;
		plan->p.task = xrealloc(plan->p.task, p->cap_tasks * sizeof(*plan->p.task));
		plan->about = xrealloc(plan->about, p->cap_tasks * sizeof(*plan->about));
	}
	plan->p.task[plan->p.ntasks] = *task;
	plan->about[plan->p.ntasks] = about;
	return plan->p.ntasks++;
}

void plan_wheel(struct plan_writer *p)
{
	struct dp_worker *w = p->c->worker[p->worker].w;

	if (p->has_wheel)
		return;
	if (w->wheel == NULL)
		w->wheel = xcalloc_lines(sizeof(*w->wheel));
	p->wheel = plan_task(p, &(struct dp_task){.kind = &dp_kind_wheel, .state = &w->wheel->base},
			     NULL);
	p->has_wheel = true;
}

struct dp_duty *plan_duty(struct plan_writer *p, const struct ctl_port *cp, unsigned queue)
{
	struct dp_plan *plan = &p->plan->p;

	for (unsigned i = 0; i < plan->nrx; i++)
		if (plan->rx[i].q == cp->p.rxq[queue])
			return &plan->rx[i];
	return NULL;
}

void plan_source(struct plan_writer *p, struct dp_rxq *q, unsigned burst, unsigned task)
{
	struct dp_plan *plan = &p->plan->p;
	struct dp_duty *rx = xcalloc_lines((plan->nrx + 1u) * sizeof(*rx));

	memcpy(rx, plan->rx, plan->nrx * sizeof(*rx));
	rx[plan->nrx++] =
		(struct dp_duty){.q = q, .burst = (uint16_t)burst, .owner = (uint16_t)task};
	free(plan->rx);
	plan->rx = rx;
}

void plan_own(struct dp_duty *duty, unsigned task)
{
	assert(duty->owner == NO_OWNER);
	duty->owner = (uint16_t)task;
}

void plan_sort(struct dp_duty *duty, dp_sort_fn *fn, const void *arg, unsigned task)
{
	assert(duty->nsorts < DP_MAX_SORTS);
	duty->sort[duty->nsorts++] = (struct dp_sort){.fn = fn, .arg = arg, .task = (uint16_t)task};
}

void plan_sort_first(struct dp_duty *duty, dp_sort_fn *fn, const void *arg, unsigned task)
{
	plan_sort(duty, fn, arg, task);
	struct dp_sort last = duty->sort[duty->nsorts - 1];
	memmove(&duty->sort[1], &duty->sort[0], (duty->nsorts - 1u) * sizeof(last));
	duty->sort[0] = last;
}

void plan_tap(struct dp_duty *duty, const struct dp_tap *tap)
{
	assert(duty->ntaps < DP_MAX_TAPS);
	duty->tap[duty->ntaps++] = *tap;
}

void plan_hear(struct plan_writer *p, const struct dp_hearer *h)
{
	struct dp_plan *plan = &p->plan->p;

	if (plan->nhear == p->cap_hear) {
		p->cap_hear = p->cap_hear > 0 ? 2 * p->cap_hear : 4;
		plan->hear = xrealloc(plan->hear, p->cap_hear * sizeof(*plan->hear));
	}
	plan->hear[plan->nhear++] = *h;
}

/* Whether the worker receives from this queue. */
static bool plan_write_reads(const struct ctl_port *cp, unsigned queue, unsigned worker)
{
	return cp->p.used && ctl_port_runs(cp) && cp->rx_worker[queue] == (int)worker;
}

static void plan_make_duties(struct plan_writer *p)
{
	const struct ctl *c = p->c;
	struct dp_plan *plan = &p->plan->p;
	unsigned n = 0;

	for (unsigned i = 0; i < c->nports; i++)
		for (unsigned q = 0; q < c->port[i]->p.nrxq; q++)
			n += plan_write_reads(c->port[i], q, p->worker);
	plan->rx = xcalloc_lines(n * sizeof(*plan->rx));
	for (unsigned i = 0; i < c->nports; i++)
		for (unsigned q = 0; q < c->port[i]->p.nrxq; q++) {
			const struct ctl_port *cp = c->port[i];
			if (plan_write_reads(cp, q, p->worker))
				plan->rx[plan->nrx++] =
					(struct dp_duty){.q = cp->p.rxq[q],
							 .burst = (uint16_t)cp->cfg.rxburst,
							 .owner = NO_OWNER};
		}
	p->plan->nqueues = plan->nrx;
}

struct plan_writer *plan_begin(struct ctl *c, unsigned worker, bool without_ports)
{
	struct plan_writer *p = xcalloc(1, sizeof(*p));

	*p = (struct plan_writer){.c = c, .worker = worker, .plan = xcalloc(1, sizeof(*p->plan))};
	p->plan->p.task = xcalloc(1, sizeof(*p->plan->p.task)); /* never NULL, also without tasks */
	if (!without_ports)
		plan_make_duties(p);
	return p;
}

/* Makes task `first`, which owns no frames, number 0. Those before it get the next higher
 * numbers. */
static void put_first(struct ctl_plan *plan, unsigned first)
{
	struct dp_plan *p = &plan->p;
	struct dp_task task = p->task[first];
	const void *about = plan->about[first];

	memmove(p->task + 1, p->task, first * sizeof(*p->task));
	memmove(plan->about + 1, plan->about, first * sizeof(*plan->about));
	p->task[0] = task;
	plan->about[0] = about;
	for (unsigned i = 0; i < p->nrx; i++) {
		struct dp_duty *duty = &p->rx[i];
		duty->owner += duty->owner < first;
		for (unsigned k = 0; k < duty->nsorts; k++)
			duty->sort[k].task += duty->sort[k].task < first;
	}
}

struct dp_plan *plan_end(struct plan_writer *p)
{
	struct dp_plan *plan = &p->plan->p;

	for (unsigned i = 0; i < plan->nrx; i++)
		assert(plan->rx[i].owner != NO_OWNER);
	/* The wheel comes first: tasks that send by its timers, at their times, would find no room
	 * on a device behind a task that sends as much as it can. */
	if (p->has_wheel)
		put_first(p->plan, p->wheel);
	free(p);
	return plan;
}

unsigned plan_worker(const struct plan_writer *p)
{
	return p->worker;
}

const void *plan_about(const struct dp_plan *p, unsigned task)
{
	return ((const struct ctl_plan *)p)->about[task];
}

unsigned plan_queues(const struct dp_plan *p)
{
	return ((const struct ctl_plan *)p)->nqueues;
}

void plan_free(struct ctl *c, struct dp_plan *p)
{
	struct ctl_plan *plan = (struct ctl_plan *)p;

	if (plan == NULL)
		return;
	for (unsigned i = 0; i < plan->nkept; i++)
		plan->kept[i].release(c, plan->kept[i].obj);
	free(plan->kept);
	free(plan->about);
	free(plan->p.task);
	free(plan->p.rx);
	free(plan->p.hear);
	free(plan);
}
