/* SPDX-License-Identifier: BSD-3-Clause */
/* Control's half of sending: what a port sends, ready for its workers. A group is the port's schedule, or one stream with a rate of its own: a
 * program and its worker's state for each phase and Tx queue. Groups are shared by all plans that send the same and go with the last one. */
#pragma once
#include "ctl_int.h"
#include "run.h"
#include "schedule.h"
#include "send_run.h"

struct tag_entry;

/* One phase on one Tx queue. */
struct prog {
	struct frun *run;
	void *state, *mem;         /* mem: the allocation that state lies in */
	uint32_t *tag;             /* of each class; NULL: none */
	struct tag_entry **entry;
};

struct group_member {
	uint32_t cell;
	uint64_t version;          /* of the stream's plans */
	struct stream_frames *frames;
};

/* What a group is made of; `sched` is taken. */
struct group_spec {
	int32_t cell;
	unsigned n, of;
	struct group_member *member;
	struct sched_in *in;
	struct sched sched;
	struct group *like;        /* the same order goes on: the group that it was until now; else NULL */
};

struct group {
	unsigned refs;
	int32_t cell;              /* of the stream whose own rate this is; -1: the port's schedule */
	struct sched sched;
	struct sched_in *in;       /* what the schedule was made of */
	struct group_member *member; /* in the order of in */
	unsigned n, nqueues;
	unsigned of;               /* groups like it that the port has */
	struct prog *prog;         /* [queue * sched.nphases + phase] */
	uint64_t epoch, sched_id;  /* of the order: equal numbers, equal order */
	uint64_t *l1, *l2;         /* per phase: bytes on the wire and at layer 2 of all frames before it */
	unsigned size;             /* of all frames, with FCS; 0: they differ */
	double mean_size;          /* of a frame, with FCS */
	uint64_t sizes;            /* names the sequence of sizes */
	bool offload;
	size_t bytes;              /* of programs and states of one queue */
};

/* All that a port sends; groups ascending by cell. */
struct program {
	unsigned ngroups;
	struct group **group;
	bool counted;              /* some stream has a count of its own */
};

/* The rate of a group of frames in a run. */
struct group_rate {
	int32_t cell;
	bool by_bytes, l2, max;
	bool changed;          /* since the start */
	double pps, per_s;     /* frames, of a rate that changes with time its last; frames or bytes, whatever is paced */
	double from_pps;       /* with which it begins, while frames leave */
	uint64_t since_tsc;    /* it began then; 0: with the run */
	struct pace_period period; /* on the clock as it was known then */
	uint64_t frames;       /* of the run's time at the first rate, UINT64_MAX: none */
	uint64_t sizes;        /* by_bytes: names the sequence of sizes */
	bool shaped;           /* deadlines are those of: */
	struct shape_spec {    /* compared as bytes */
		struct arrival arrival;
		struct pace_trend trend;
		double wire_per_s; /* units at the speed of the link, of bursts */
	} spec;
	struct pace_shape shape; /* on the clock as it was known then */
};

/* What it keeps of a port. */
struct send_port {
	struct gen_state **gen;    /* per Tx queue, with its cells and probes of streams */
	struct program program;    /* what the port sends, or sent last */
	struct program next;       /* what a start would send that is being checked */
	struct cnt_tx before;      /* what its queues had sent and not sent when the run began */
	struct group_rate *rate;   /* of each group of the program */
	unsigned nrates;
	struct hist **late_base;   /* per Tx queue: lateness at the last clear; NULL: none */
	char said[SAID_MAX];       /* the last note about what could not be taken over */
	bool order_waits;          /* the settings ask for another order than that in which it sends */
};
struct send_ctl {
	uint64_t epoch_seq, sched_seq; /* the newest numbers of orders */
	struct tags *tags;
};
extern const struct work work_send;
static inline struct send_port *send_of(const struct ctl_port *cp) { return work_port(cp, &work_send); }
static inline struct send_ctl *send_ctl(const struct ctl *ctl) { return work_ctl(ctl, &work_send); }

void group_ref(struct group *g);
void group_unref(struct ctl *c, struct group *g);
void program_free(struct ctl *c, struct program *p);
/* Refused: e names what, not the port. Parts of spec.like are taken over where nothing changed. */
int group_make(struct ctl *c, struct ctl_port *cp, struct group_spec *spec, struct group **out, struct err *e);
struct group *group_of(const struct program *p, int32_t cell); /* NULL: there is none */
/* The enabled streams: those of the schedule in ascending order of id, those with a rate of their own in that of their cell. */
struct picked {
	struct stream **turn, **own;
	unsigned nturn, nown;
};
int program_pick(const struct ctl_port *cp, struct picked *out, struct err *e); /* after a failure too: program_picked_free() */
void program_picked_free(struct picked *p);
int program_compile(struct ctl *c, struct ctl_port *cp, const struct picked *p, struct err *e);
struct sched_in sched_in_of(const struct stream *s);
struct group_member group_member_of(const struct stream *s);
/* What the enabled streams of a port make, into a new *out; parts of `old` (may be NULL) are taken over where nothing changed. limit: frames
 * of the port's count, UINT64_MAX: none. Errors name the port or stream. */
int program_make(struct ctl *c, struct ctl_port *cp, const struct program *old, uint64_t limit, struct program *out, struct err *e);
/* It becomes what the port sends; taken. control.c */
void program_take(struct ctl *c, struct ctl_port *cp, struct program *p);
extern const struct work_run send_run; /* send_start.c */
/* Takes a reference. */
void program_add(struct program *p, struct group *g);

/* change.c: what a port goes on sending while a stream with a count is sent: the streams of `old` in the same order, with the frames that they have
 * now. *other: the settings ask for another order, which is for the next start. */
int program_follow(struct ctl *c, struct ctl_port *cp, const struct program *old, uint64_t limit, struct program *out, bool *other,
		   struct err *e);
int program_sizes_check(const struct ctl_port *cp, uint64_t sizes, struct err *e); /* of all that the port sends, or would send */
/* Bytes on the wire (l2: at layer 2) of the frames 0 .. k - 1 of a group. */
uint64_t group_wire(const struct group *g, uint64_t k, bool l2);

/* tags.c: a mark for what a buffer holds; equal contents have the same one as long as somebody uses it, and no number comes twice. */
struct tags;
struct tag_entry *tag_take(struct ctl *c, const struct frun *f, const struct frun_class *k);
uint32_t tag_number(const struct tag_entry *t);
void tag_give(struct ctl *c, struct tag_entry *t);
void tags_free(struct ctl *c);

/* rate.c */
void rates_follow(struct ctl_port *cp);             /* the rates of the run and what the run is asked, from settings and the program */
void rates_arm(struct ctl_port *cp);                /* cp->run has its start */
bool program_all_counted(const struct program *p);  /* everything in it comes to an end */
uint64_t rates_end(const struct ctl_port *cp, uint64_t sent, uint64_t bytes, uint64_t *all);
bool rates_vary(const struct ctl_port *cp);
bool rates_load(const struct ctl_port *cp, struct ctl_load *l); /* of struct work_run */
/* When frame k of the run was due, in cycles from frame 0; 0: it does not follow from its number. */
uint64_t rates_due(const struct ctl_port *cp, uint64_t k);
uint64_t rates_limit(const struct ctl_port *cp, unsigned group); /* frames from the start of the run, over all that changed; UINT64_MAX: none */

/* shape.c */
/* How a group of that rate is to arrive, from the settings; a->per_s and so on are known. */
void shape_of(const struct ctl_port *cp, const struct group *g, const struct rate *r, const struct arrival *arrival, struct group_rate *a);
void shape_make(struct group_rate *a);              /* a->shape, on the clock; a->period is known */
double shape_share(const struct group_rate *a, double pps); /* of the time, in which frames leave at that rate */
/* Frames/s that are asked for so long after its begin; *ramps: it is on its way to another rate. */
double shape_pps(const struct group_rate *a, uint64_t ns, bool *ramps);
/* The arrivals follow from constants: a->frames is what pace_frames() says. */
bool shape_is_plain(const struct group_rate *a);
uint64_t shape_frames(const struct group *g, const struct group_rate *a, uint64_t duration_ns); /* UINT64_MAX: they follow from nothing but time */
uint64_t shape_due(const struct group *g, const struct group_rate *a, uint64_t k); /* cycles from the start */

/* late.c */
int late_open(struct ctl_port *cp, unsigned q, void *mem, struct err *e);
void late_clear(struct ctl_port *cp);
void late_free(struct ctl_port *cp);
void late_snap(const struct ctl_port *cp, struct snap_port *s); /* since the last clear: of s and of its queues */

/* send_fill.c: a task for each Tx queue of a started port, in the plan of a worker */
void send_fill(struct ctl *c, struct ctl_port *cp, struct plan_writer *p);
