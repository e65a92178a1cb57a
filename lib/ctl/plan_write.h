/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside lib/ctl and the control halves of works: the plan of one worker while it is being made.
 * Works add their tasks, taps and memory to it, port by port. When all have done so, it becomes one
 * struct dp_plan, which is constant from then on. Control thread. If memory runs out the process
 * ends, as with xcalloc(). docs/ARCHITECTURE.md follows a setting into a plan, and the plan to the
 * worker and back. */
#pragma once
#include "dp.h"

struct ctl;
struct ctl_port;
struct plan_writer;

/* Returns zeroed memory on cache lines of its own, which is freed with the plan. */
void *plan_carve(struct plan_writer *p, size_t bytes);
/* Says that obj is needed as long as the plan: release(c, obj) is called when no worker uses the
 * plan any more. */
void plan_keep(struct plan_writer *p, void *obj, void (*release)(struct ctl *c, void *obj));
/* Adds a task and returns its number, which holds while the plan is being made. about is what
 * plan_about() returns for the task. It must live as long as the plan, and may be NULL. */
unsigned plan_task(struct plan_writer *p, const struct dp_task *task, const void *about);
/* To be called by a work whose tasks start timers, as often as it likes. The worker has a wheel
 * from now on, and the plan has the wheel's task, which comes before all others in a turn. */
void plan_wheel(struct plan_writer *p);
/* The part of the plan that says what the worker does with an Rx queue of a port. plan_begin() has
 * made it. NULL: this worker does not serve the queue. */
struct dp_duty *plan_duty(struct plan_writer *p, const struct ctl_port *cp, unsigned queue);
/* Lets the worker receive from q as from its Rx queues, up to `burst` frames at a time, although it
 * is none of a device: all that comes from there is the task's, nobody looks at it before, and it
 * does not count as received. q has functions of its own (dp_io) and must live as long as the
 * plan. Duties that plan_duty() has returned are not valid any more. */
void plan_source(struct plan_writer *p, struct dp_rxq *q, unsigned burst, unsigned task);
/* Makes a task the owner of the queue: it gets the frames that nobody claims. Each queue needs one
 * owner. */
void plan_own(struct dp_duty *duty, unsigned task);
/* Gives a task the frames that fn claims. The sorts of a queue claim in the order in which they
 * were added. arg must live as long as the plan. */
void plan_sort(struct dp_duty *duty, dp_sort_fn *fn, const void *arg, unsigned task);
/* The same before all that were added so far: who knows frames by more than others do. */
void plan_sort_first(struct dp_duty *duty, dp_sort_fn *fn, const void *arg, unsigned task);
/* Lets a tap look at the frames of the queue. *tap is copied; its state must live as long as the
 * plan. */
void plan_tap(struct dp_duty *duty, const struct dp_tap *tap);
/* Lets a task of this worker hear of ICMP errors about frames of the port. h->arg must live as long
 * as the plan. */
void plan_hear(struct plan_writer *p, const struct dp_hearer *h);

/* For plan.c and those who look at a plan. without_ports: the plan has no Rx queues. */
struct plan_writer *plan_begin(struct ctl *c, unsigned worker, bool without_ports);
/* Frees p and returns the finished plan, which the caller gives back with plan_free(). */
struct dp_plan *plan_end(struct plan_writer *p);
unsigned plan_worker(const struct plan_writer *p); /* whose plan it is: index into ctl.worker */
/* Releases all that the plan keeps, and frees it; NULL is allowed. */
void plan_free(struct ctl *c, struct dp_plan *p);
const void *plan_about(const struct dp_plan *p, unsigned task); /* as it was given to plan_task() */
unsigned plan_queues(const struct dp_plan *p); /* of rx[]: how many are Rx queues of devices */
