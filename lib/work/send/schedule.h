/* SPDX-License-Identifier: BSD-3-Clause */
/* The schedule: the order in which the streams of a port are sent. It is a pure function of their
 * weights, counts and numbers of sizes. Take the streams of the port that are enabled and have no
 * rate of their own, in ascending order of id. Frame k = 0, 1, ... of the port is then what this
 * gives:
 *
 *	o = [0] * n
 *	while any(count[s] == 0 or o[s] < count[s] for s in streams):
 *		for r in range(max(weight)):
 *			for s in streams:
 *				if weight[s] > r and (count[s] == 0 or o[s] < count[s]):
 *					yield s, o[s], sizes[s][o[s] % len(sizes[s])]
 *					o[s] += 1
 *
 * A `count` of the port ends the sequence after that many frames. A stream with a rate of its own
 * is a sequence by itself. For workers a sequence is cut into phases. In a phase the same streams
 * take turns: a cycle of slots repeats until the phase ends. */
#pragma once
#include "base.h"

#define SCHED_MAX_CYCLE 65536  /* slots of one phase */
#define SCHED_MAX_SLOTS 262144 /* slots of all phases together */

/* A stream, as far as the schedule depends on it. */
struct sched_in {
	uint32_t id;     /* for texts of errors */
	uint32_t key;    /* identifies the stream, also when its id changes */
	uint32_t weight; /* >= 1 */
	uint32_t nsizes; /* >= 1 */
	uint64_t count;  /* frames after which the stream ends; 0: it does not end */
};

/* One frame of a cycle. */
struct sched_slot {
	uint16_t stream; /* index into the phase's streams */
	uint16_t item;   /* number of the size, among the stream's sizes */
};

struct sched_phase {
	/* The phase has the frames k0 <= k < end. The last phase has end UINT64_MAX, and
	 * sched.total says where it stops. */
	uint64_t k0, end;
	unsigned ncycle, nstreams;
	struct sched_slot *slot; /* ncycle of them; frame k has slot (k - k0) % ncycle */
	uint16_t *stream;        /* nstreams indexes into the input, ascending */
	uint64_t *o0;            /* of each of these streams: its frames before k0 */
};

struct sched {
	unsigned nphases;
	struct sched_phase *phase;
	uint64_t total; /* frames in all; UINT64_MAX: no end */
};

/* Makes the schedule of in[n], n >= 1, up to frame `limit` (UINT64_MAX: no limit), into *out.
 * Returns 0, or -EINVAL for an order that does not repeat within the bounds above; *e then names
 * streams of `port` and what helps. */
int sched_make(const struct sched_in *in, unsigned n, uint64_t limit, unsigned port,
	       struct sched *out, struct err *e);
void sched_free(struct sched *);
/* Makes a deep copy. dst is overwritten, not freed first. */
void sched_copy(struct sched *dst, const struct sched *src);
/* Returns whether both send the same streams (by key) in the same order. */
bool sched_equal(const struct sched *a, const struct sched_in *ain, const struct sched *b,
		 const struct sched_in *bin);
