/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside lib/ctl: what a port sends, ready for its workers. A group is the port's schedule, or one stream with a rate of its own: a
 * program and its worker's state for each phase and Tx queue. Groups are shared by all plans that send the same and go with the last one. */
#pragma once
#include "dp.h"
#include "schedule.h"

struct ctl;
struct ctl_port;
struct stream;

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
/* What the enabled streams of a port make, into a new *out; parts of `old` (may be NULL) are taken over where nothing changed. limit: frames
 * of the port's count, UINT64_MAX: none. Errors name the port or stream. */
int program_make(struct ctl *c, struct ctl_port *cp, const struct program *old, uint64_t limit, struct program *out, struct err *e);
/* As old is, with the frames that its streams have now; -ESTALE: an order other than that of old is asked for. */
int program_follow(struct ctl *c, struct ctl_port *cp, const struct program *old, struct program *out, struct err *e);
/* Do both send their streams in the same order? */
bool program_same_order(const struct program *a, const struct program *b);
/* Bytes on the wire (l2: at layer 2) of the frames 0 .. k - 1 of a group. */
uint64_t group_wire(const struct group *g, uint64_t k, bool l2);

/* tags.c: a mark for what a buffer holds; equal contents have the same one as long as somebody uses it, and no number comes twice. */
struct tags;
struct tag_entry *tag_take(struct ctl *c, const struct frun *f, const struct frun_class *k);
uint32_t tag_number(const struct tag_entry *t);
void tag_give(struct ctl *c, struct tag_entry *t);
void tags_free(struct ctl *c);
