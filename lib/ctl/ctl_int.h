/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside lib/ctl: the functions that its files have for each other. Control thread only. */
#pragma once
#include "log.h"
#include "work.h"

/* work.c */
/* Zeroed memory for control and for a port, together with what each work keeps there. */
struct ctl *ctl_new(void);
void ctl_free(struct ctl *c);
struct ctl_port *ctl_port_new(void);
void ctl_port_free(struct ctl_port *cp);

/* ctl.c */
/* Lists the devices of all ports. */
void ctl_devices(const struct ctl *c, struct port *list[CTL_MAX_PORTS]);

/* workers.c */
/* The CPU that an lcore is pinned to; -1: it has several. */
int workers_lcore_cpu(unsigned lcore);
/* Makes the workers of all lcores that the placement names; their threads do not run them yet. */
int workers_make(struct ctl *c, struct err *e);
int workers_index(const struct ctl *c, unsigned lcore); /* into c->worker, -1: none */
/* Starts the workers, with the plans of all ports. */
int workers_launch(struct ctl *c, struct err *e);
/* Tells all workers to end, and waits until they have: up to 5 s to tell them and 5 s for their
 * answer. false: some worker has not answered, and may still use all that it has been given. */
bool workers_stop(struct ctl *c);
/* Takes new baselines for the worker's stalls and waits. */
void worker_clear(struct ctl_worker *cw);

/* tsc.c */
/* Compares the cycle counters of the workers' CPUs, before workers run. -ENODEV: they disagree. */
int tsc_check(struct ctl *c, struct err *e);

/* stream.c */
void streams_free(struct ctl_port *cp);
/* Leaves only stream 0, with default settings. */
void streams_default(struct ctl_port *cp);
/* Gives cp->dflt, which has become known, to all streams. */
void streams_dflt(struct ctl_port *cp);

/* stream_recipe.c */
/* Bytes of the largest frame that the port may send with these headers: its mtu, the Ethernet
 * header, the FCS and VLAN tags. */
unsigned recipe_max_size(const struct ctl_port *cp, const struct frame_stack *stack);
void stream_recipes_free(struct stream *s);
/* The first frame of the stream, without FCS; see ctl_frame(). */
int stream_frame(const struct ctl_port *cp, const struct stream *s, struct frame *out,
		 struct err *e);
/* The recipe of the frames of spec, which must fit into a buffer of the port. */
int stream_compile(const struct ctl_port *cp, const struct stream_cfg *cfg,
		   const struct frame_spec *spec, struct frame_recipe *out, struct err *e);
/* "port 0", "stream 0/3" */
void stream_name(const struct ctl_port *cp, const struct stream *s, char *out, size_t size);

/* port_pacing.c */
/* Asks the port's device for the pacing that settings and rates of now want. */
void port_pacing_follow(struct ctl *c, struct ctl_port *cp);
/* For `show plan`: when the frames of each port are to leave, and who sees to it. */
json_t *port_pacing_json(const struct ctl *c);

/* info.c: as the prompt prints it */
json_t *value_json(const struct vtype *type, const void *value);

/* plan.c */
/* A new plan of a worker (index into c->worker). without_ports: it has no queue and no task. */
struct dp_plan *plan_build(struct ctl *c, unsigned worker, bool without_ports);
/* Posts a plan and owns it from then on. false: the ring is full, and p is still the caller's. */
bool plan_post(struct ctl *c, struct ctl_worker *cw, struct dp_plan *p);
/* Lets works prepare what has changed, gives armed runs their start, and posts new plans to all
 * dirty workers. */
void plan_post_all(struct ctl *c);
/* Whether some port has a change that is in no plan yet, or some work is about to have one. */
bool plan_waits(const struct ctl *c);
/* Frees the old plans whose workers have acknowledged a later one. */
void plan_reap(struct ctl *c);
/* Waits until all plans are posted and in use. false: max_ns passed before. */
bool plan_wait_acks(struct ctl *c, uint64_t max_ns);
/* A worker that does not use its newest plan yet, or is to get one; NULL: there is none. */
const struct ctl_worker *plan_behind(const struct ctl *c);

/* run.c, beside run.h */
/* Sets the start time of the armed runs, the same one for all of them. It is called before plans
 * are built. */
void run_arm(struct ctl *c);
/* a change of its link */
void ctl_note_link(struct ctl *c, unsigned port, const char *fmt, ...) WR_PRINTF(3, 4);

/* stat.c */
int stat_init(struct ctl_port *cp);
void stat_free(struct ctl_port *cp);
/* a -= b, for counters that are rows of uint64_t. */
void cells_sub(void *a, const void *b, size_t bytes);

/* stat_tick.c: the highest rates since open or clear. They are those of full intervals, and the
 * means of whole runs, which may be shorter than an interval. */
/* For the mean of what is received, the port counts from now on. */
void most_since(struct ctl_port *cp);
/* In each turn: calls most_since() for all ports until the runs begin, because what has come before
 * is not theirs. */
void most_before(struct ctl *c);
/* A run has ended: its mean rates may be the highest ones. */
void most_of_run(struct ctl *c, struct ctl_port *cp, const struct run_result *r);

/* stream_stat.c */
/* The frames of each cell that all queues have sent since open: [CTL_CELLS], which the caller
 * frees. Exact when nothing is sending. Of a queue whose worker takes over a plan just then, and
 * has no CPU to get done with it, it has what was read the last time. */
struct cnt_stream *stream_cells(struct ctl_port *cp);
void stream_begins(struct ctl_port *cp, struct stream *s); /* its counters count from now on */
void streams_clear(struct ctl_port *cp);
void streams_tick(struct ctl_port *cp);
