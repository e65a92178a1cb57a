/* SPDX-License-Identifier: BSD-3-Clause */
/* Control's half of sending: what a port sends, ready for its workers. A group is the port's
 * schedule, or one stream with a rate of its own. For each phase and Tx queue it has a frun with
 * its state. Groups are shared by all plans that send the same, and are freed with the last of
 * them. Control thread only. */
#pragma once
#include "work.h"
#include "schedule.h"
#include "send_run.h"

struct mark_entry;

/* One phase on one Tx queue. */
struct queue_frun {
	struct frun *run;
	void *state, *mem;         /* mem: the allocation that state lies in */
	uint32_t *mark;            /* the mark of each class; NULL: there are none yet */
	struct mark_entry **entry; /* what holds these marks */
};

/* A stream in a group. */
struct group_member {
	uint32_t cell;    /* of the stream; it stays when the id changes */
	uint64_t version; /* of the stream's recipes: another number, other frames */
	struct stream_frames *frames;
};

/* What group_make() makes a group of. Its members are those of struct group. group_make() takes
 * `sched` and copies the rest. */
struct group_spec {
	int32_t cell;
	unsigned n, of;
	struct group_member *member;
	struct sched_in *in;
	struct sched sched;
	struct group *like; /* the group until now, if the same order goes on; else NULL */
	unsigned nqueues;   /* see struct groups */
};

struct group {
	unsigned refs;
	/* of the stream whose own rate this is; -1: the port's schedule */
	int32_t cell;
	struct sched sched;
	struct sched_in *in;         /* n streams that the schedule was made of */
	struct group_member *member; /* the same streams in the same order */
	unsigned n, nqueues;
	/* The port's groups of this kind, this one included: 1 for the schedule, else the number of
	 * streams with rates of their own. The more there are, the fewer lanes each frun gets. */
	unsigned of;
	struct queue_frun *frun; /* [queue * sched.nphases + phase] */
	/* Numbers of the group's order. A group that replaces this one and has the same order takes
	 * them over. epoch is gen_group.epoch; phase p has sched_id + p as frun_spec.sched_id. */
	uint64_t epoch, sched_id;
	uint64_t *l1, *l2; /* bytes before each phase: on the wire, at layer 2 */
	unsigned size;     /* of all frames, with FCS; 0: sizes differ */
	double mean_size;  /* of a frame, with FCS */
	uint64_t sizes;    /* a hash of the sequence of sizes */
	bool offload;      /* checksums are made by the NIC */
	size_t bytes;      /* memory of fruns and states of one queue */
};

/* All that a port sends. Groups are in ascending order of cell. */
struct groups {
	unsigned ngroups;
	struct group **group;
	unsigned nqueues; /* the first Tx queues of the port, on which they are sent */
	bool counted;     /* some stream has a count of its own */
};

/* The rate of a group in a run. */
struct group_rate {
	int32_t cell;
	/* by_bytes: bytes are paced, not frames; l2: those at layer 2, else those on the wire. max:
	 * as fast as possible. */
	bool by_bytes, l2, max;
	bool changed; /* since the run's start */
	/* pps: frames/s. If the rate changes with time this is the rate at the end; if frames leave
	 * only a part of the time it is the mean. per_s: frames/s or bytes/s, whichever is paced,
	 * with which the rate begins, while frames leave. */
	double pps, per_s;
	double from_pps;           /* frames/s at the begin, while frames leave */
	uint64_t since_tsc;        /* since when it has this rate; 0: since the run began */
	struct pace_period period; /* by the clock as it was known then */
	uint64_t frames;    /* due within the run's time at this rate; UINT64_MAX: no bound */
	uint64_t sizes;     /* by_bytes: group.sizes */
	bool shaped;        /* deadlines follow from `shape`, which is made of `spec` */
	struct shape_spec { /* compared as bytes */
		struct arrival arrival;
		struct pace_trend trend;
		double wire_per_s; /* bursts: units/s at the speed of the link */
	} spec;
	struct pace_shape shape; /* by the clock as it was known then */
};

/* What this work keeps of a port. */
struct send_port {
	struct gen_state **gen; /* the state of each Tx queue */
	struct groups groups;   /* what the port sends, or sent last */
	struct groups next;     /* while a start is being checked: what it would send */
	struct cnt_tx before;   /* tx_so_far() when the run began */
	/* Of the run that goes on, or of the last one. */
	struct {
		uint64_t end_tsc; /* no frame that is due later is sent */
		uint64_t count;   /* after so many frames the schedule ends; 0: no bound */
		/* When rates or frames last changed, in ns of CLOCK_MONOTONIC_RAW; 0: never. */
		uint64_t changed_ns;
		bool asked_max;    /* some frames are asked for as fast as possible */
		bool rate_changed; /* while it sent, so that no rate holds for all its frames */
	} run;
	struct group_rate *rate; /* one for each of the groups */
	unsigned nrates;
	struct hist **late_base; /* lateness on each Tx queue at the last clear; NULL: none */
	char said[SAID_MAX];     /* the last note about settings that could not be taken over */
	bool order_waits;        /* the settings ask for another order than the one in use */
};
/* What this work keeps of control. */
struct send_ctl {
	uint64_t epoch_seq, sched_seq; /* the newest numbers of orders that were given out */
	struct marks *marks;
};
extern const struct work work_send;
static inline struct send_port *send_of(const struct ctl_port *cp)
{
	return work_port(cp, &work_send);
}
static inline struct send_ctl *send_ctl(const struct ctl *ctl)
{
	return work_ctl(ctl, &work_send);
}

/* ---- send_groups.c ---- */

void group_ref(struct group *g);
/* Gives a reference back; the last one frees the group. NULL is allowed. */
void group_unref(struct ctl *c, struct group *g);
void groups_free(struct ctl *c, struct groups *p);
/* Makes a group with one reference. If nothing has changed since spec->like was made, *out is that
 * group with one reference more. Returns 0 or -errno; *e then says why without naming the port. */
int group_make(struct ctl *c, struct ctl_port *cp, struct group_spec *spec, struct group **out,
	       struct err *e);
/* Returns the group with that cell. NULL: there is none. */
struct group *group_of(const struct groups *p, int32_t cell);
/* The enabled streams of a port: those of the schedule in ascending order of id, and those with a
 * rate of their own in ascending order of cell. */
struct picked {
	struct stream **turn, **own;
	unsigned nturn, nown;
};
/* Finds the enabled streams. Returns 0 or -EINVAL with *e; groups_picked_free() is due after
 * either. */
int groups_pick(const struct ctl_port *cp, struct picked *out, struct err *e);
void groups_picked_free(struct picked *p);
/* Return what a schedule and a group have to know of a stream. For a group its frame recipes must
 * have been made. */
struct sched_in sched_in_of(const struct stream *s);
struct group_member group_member_of(const struct stream *s);
/* Makes new groups of the enabled streams of a port, into *out. Groups of `old` (may be NULL)
 * that have not changed are taken over. nqueues: see struct groups. limit: frames of the port's
 * count; UINT64_MAX: none. Returns 0 or -errno; *e then names the port or stream. */
int groups_make(struct ctl *c, struct ctl_port *cp, const struct groups *old, unsigned nqueues,
		uint64_t limit, struct groups *out, struct err *e);
/* send_ctl.c: makes *p what the port sends. It belongs to the port then. */
void groups_take(struct ctl *c, struct ctl_port *cp, struct groups *p);
extern const struct work_run send_run; /* send_start.c */
/* Appends a group to groups that have room for it, and takes over the caller's reference. */
void groups_add(struct groups *p, struct group *g);

/* send_change.c: does what groups_make() does for a port that is sending a stream with a count,
 * whose order must therefore stay as it is: *out has the streams of `old` in the same order, with
 * the frames that their settings say now. *other: the settings ask for another order, which has to
 * wait for the next start. */
int groups_follow(struct ctl *c, struct ctl_port *cp, const struct groups *old, uint64_t limit,
		  struct groups *out, bool *other, struct err *e);
/* sizes: the number of frame sizes of all streams of the port together. Returns 0, or -EINVAL with
 * *e if a port may not have so many. */
int groups_sizes_check(const struct ctl_port *cp, uint64_t sizes, struct err *e);
/* Returns the bytes on the wire (l2: at layer 2) of the frames 0 .. k - 1 of a group. */
uint64_t group_wire(const struct group *g, uint64_t k, bool l2);

/* ---- send_marks.c ---- */

/* A mark is a number for what a buffer holds. Equal contents have the same mark as long as somebody
 * holds it, and no number is used for a second content. mark_take() takes a mark for class k of f,
 * mark_give() gives it back. */
struct marks;
struct mark_entry *mark_take(struct ctl *c, const struct frun *f, const struct frun_class *k);
uint32_t mark_number(const struct mark_entry *t);
void mark_give(struct ctl *c, struct mark_entry *t);
void marks_free(struct ctl *c);

/* ---- send_rate.c ---- */

/* Sets the rates of the port's groups, and asked_max of the run, from the settings and the groups.
 * To be called whenever these have changed. If a rate changes after the start, rate_changed and
 * changed_ns of the run are set. */
void rates_follow(struct ctl_port *cp);
/* cp->run has got its start: sets its end, and how many frames each group has until then. */
void rates_arm(struct ctl_port *cp);
/* Returns whether every group ends by counts. */
bool groups_all_counted(const struct groups *p);
/* For a finished run that has sent `sent` frames, `bytes` bytes with FCS: returns when the slot of
 * its last frame ends, in cycles from the start, and sets *all to the number of frames up to there.
 * With one group these are the frames that were sent, with several those that were asked for.
 * Returns 0 if the time does not follow from the rates. */
uint64_t rates_end(const struct ctl_port *cp, uint64_t sent, uint64_t bytes, uint64_t *all);
/* Returns whether the rate at which frames are due changes during a run, because it is a ramp or
 * steps, some streams end before others, or phases have different sizes. */
bool rates_vary(const struct ctl_port *cp);
bool rates_load(const struct ctl_port *cp, struct ctl_load *l); /* work_run.load */
/* Returns when frame k of the run was due, in cycles from frame 0; 0: not known. */
uint64_t rates_due(const struct ctl_port *cp, uint64_t k);
/* Returns how many frames group number `group` may send, counted from the start of the run. The
 * schedule is bounded by the run's count, and each group by the frames that are due in the run's
 * time, as long as its rate has not changed. UINT64_MAX: no bound. */
uint64_t rates_limit(const struct ctl_port *cp, unsigned group);

/* ---- send_shape.c ---- */

/* Sets a->spec and a->shaped for a group of that rate, from the settings. a->per_s, a->by_bytes and
 * a->l2 are set already. */
void shape_of(const struct ctl_port *cp, const struct group *g, const struct rate *r,
	      const struct arrival *arrival, struct group_rate *a);
/* Makes a->shape by the clock as it is known now. a->period is set already. */
void shape_make(struct group_rate *a);
/* Returns the share of the time in which frames leave, at that rate. */
double shape_share(const struct group_rate *a, double pps);
/* Returns the frames/s that are asked for `ns` after the rate began. Sets *ramps if they are on
 * their way to another rate, and else leaves it alone. */
double shape_pps(const struct group_rate *a, uint64_t ns, bool *ramps);
/* Returns whether arrivals and rate are constant, so that pace_frames() counts the frames. */
bool shape_is_plain(const struct group_rate *a);
/* Returns how many frames are due within duration_ns. UINT64_MAX: that is not known beforehand. */
uint64_t shape_frames(const struct group *g, const struct group_rate *a, uint64_t duration_ns);
/* Returns the deadline of frame k in cycles from the start. Not for Poisson arrivals. */
uint64_t shape_due(const struct group *g, const struct group_rate *a, uint64_t k);
/* Returns the unit at which frame k begins, in frames or bytes, whichever are paced. */
uint64_t shape_begins(const struct group *g, const struct group_rate *a, uint64_t k);

/* ---- send_late.c ---- */

/* Makes the histogram of Tx queue q in mem, which then belongs to the port. mem NULL: there was no
 * memory, -ENODEV with *e. */
int late_open(struct ctl_port *cp, unsigned q, void *mem, struct err *e);
void late_clear(struct ctl_port *cp);
void late_free(struct ctl_port *cp);
/* Sets the lateness since the last clear, of the port and of each of its queues. */
void late_snap(const struct ctl_port *cp, struct snap_port *s);

/* send_fill.c: adds a task for each Tx queue of a started port that this worker serves. */
void send_fill(struct ctl *c, struct ctl_port *cp, struct plan_writer *p);
