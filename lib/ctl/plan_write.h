/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside lib/ctl: the plan of one worker while it is being made. Works add their tasks, taps and memory to it, port by port; when all have, it is
 * handed over as one struct dp_plan, which is constant from then on. Control thread. Where memory runs out the process ends, as with xcalloc().
 * docs/ARCHITECTURE.md follows a setting into a plan, and the plan to the worker and back. */
#pragma once
#include "dp.h"

struct ctl;
struct ctl_port;
struct plan_writer;

/* Memory that goes with the plan, on cache lines of its own, zeroed. What is carved in one piece lies together. */
void *plan_carve(struct plan_writer *p, size_t bytes);
/* obj is needed as long as the plan is: release(c, obj) is called when no worker uses it any more. */
void plan_keep(struct plan_writer *p, void *obj, void (*release)(struct ctl *c, void *obj));
/* Adds a task and returns its number while the plan is being made. about: what plan_about() says of it, which goes with the plan; may be NULL. */
unsigned plan_task(struct plan_writer *p, const struct dp_task *task, const void *about);
/* Its tasks start timers: the worker has a wheel from now on, and this plan has its task, which is asked before all others. As often as it likes. */
void plan_wheel(struct plan_writer *p);
/* What the worker is to do with an Rx queue of a port; NULL: the queue is another worker's. Once per queue and plan the core makes it. */
struct dp_rx_slot *plan_slot(struct plan_writer *p, const struct ctl_port *cp, unsigned queue);
/* That task owns the frames of the queue; each queue needs one owner. */
void plan_own(struct dp_rx_slot *slot, unsigned task);
/* Frames that fn claims are the task's; who asks first claims first. arg goes with the plan. */
void plan_sort(struct dp_rx_slot *slot, dp_sort_fn *fn, const void *arg, unsigned task);
void plan_tap(struct dp_rx_slot *slot, const struct dp_tap *tap);

/* For plan.c. */
struct plan_writer *plan_begin(struct ctl *c, unsigned worker, bool without_ports);
struct dp_plan *plan_end(struct plan_writer *p); /* frees p; the caller gives the plan back by plan_free() */
unsigned plan_worker(const struct plan_writer *p); /* whose plan it is: index into ctl.worker */
void plan_free(struct ctl *c, struct dp_plan *p); /* NULL is allowed */
const void *plan_about(const struct dp_plan *p, unsigned task); /* what was said to plan_task() of this task */
