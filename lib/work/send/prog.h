/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside lib/ctl: what a port sends, ready for its workers. A group is the port's schedule, or one stream with a rate of its own: a
 * program and its worker's state for each phase and Tx queue. Groups are shared by all plans that send the same and go with the last one. */
#pragma once
#include "dp.h"
#include "run.h"
#include "schedule.h"

struct ctl;
struct ctl_port;
struct stream;

struct tag_entry;

/* The plans of a stream's frames, shared by it and by the groups that send them. */
struct stream_frames {
	unsigned refs, nplans, nitems;
	struct frame_plan *plan;   /* one for each different size */
	uint16_t *item;            /* number of the size in the sequence -> plan */
	double mean_size;          /* with FCS */
};

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

void group_ref(struct group *g);
void group_unref(struct ctl *c, struct group *g);
void program_free(struct ctl *c, struct program *p);
void frames_unref(struct stream_frames *f);
/* Refused: e names what, not the port. Parts of spec.like are taken over where nothing changed. */
int group_make(struct ctl *c, struct ctl_port *cp, struct group_spec *spec, struct group **out, struct err *e);
struct group *group_of(const struct program *p, int32_t cell); /* NULL: there is none */
/* The enabled streams: those of the schedule in ascending order of id, those with a rate of their own in that of their cell. */
struct picked {
	struct stream **turn, **own;
	unsigned nturn, nown;
};
int streams_pick(const struct ctl_port *cp, struct picked *out, struct err *e); /* after a failure too: picked_free() */
void picked_free(struct picked *p);
int streams_compile(struct ctl *c, struct ctl_port *cp, const struct picked *p, struct err *e);
struct sched_in sched_in_of(const struct stream *s);
struct group_member member_of(const struct stream *s);
/* What the enabled streams of a port make, into a new *out; parts of `old` (may be NULL) are taken over where nothing changed. limit: frames
 * of the port's count, UINT64_MAX: none. Errors name the port or stream. */
int program_make(struct ctl *c, struct ctl_port *cp, const struct program *old, uint64_t limit, struct program *out, struct err *e);
/* It becomes what the port sends; taken. send.c */
void program_take(struct ctl *c, struct ctl_port *cp, struct program *p);
extern const struct work_run send_run; /* send_run.c */
/* Takes a reference. */
void program_add(struct program *p, struct group *g);

/* change.c: what a port goes on sending while a stream with a count is sent: the streams of `old` in the same order, with the frames that they have
 * now. *other: the settings ask for another order, which is for the next start. */
int program_follow(struct ctl *c, struct ctl_port *cp, const struct program *old, uint64_t limit, struct program *out, bool *other,
		   struct err *e);
int sizes_check(const struct ctl_port *cp, uint64_t sizes, struct err *e); /* of all that the port sends, or would send */
/* Bytes on the wire (l2: at layer 2) of the frames 0 .. k - 1 of a group. */
uint64_t group_wire(const struct group *g, uint64_t k, bool l2);

/* tags.c: a mark for what a buffer holds; equal contents have the same one as long as somebody uses it, and no number comes twice. */
struct tags;
struct tag_entry *tag_take(struct ctl *c, const struct frun *f, const struct frun_class *k);
uint32_t tag_number(const struct tag_entry *t);
void tag_give(struct ctl *c, struct tag_entry *t);
void tags_free(struct ctl *c);
