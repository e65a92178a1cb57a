/* SPDX-License-Identifier: BSD-3-Clause */
/* In which order the streams of a port are sent: a pure function of their weights, counts and numbers of sizes. With streams in ascending
 * order of id, all enabled and without a rate of their own, frame k = 0, 1, ... of the port is what this gives:
 *
 *	o = [0] * n
 *	while any(count[s] == 0 or o[s] < count[s] for s in streams):
 *		for r in range(max(weight)):
 *			for s in streams:
 *				if weight[s] > r and (count[s] == 0 or o[s] < count[s]):
 *					yield s, o[s], sizes[s][o[s] % len(sizes[s])]
 *					o[s] += 1
 *
 * A `count` of the port ends it after as many frames. A stream with a rate of its own is such a sequence by itself.
 * For workers it is cut into phases: the sequence of one phase is a cycle of slots that repeats to the phase's end. */
#pragma once
#include "base.h"

#define SCHED_MAX_CYCLE 65536  /* slots of one phase */
#define SCHED_MAX_SLOTS 262144 /* of all phases */

struct sched_in {
	uint32_t id;           /* for texts */
	uint32_t key;          /* which stream it is, whatever its id */
	uint32_t weight;       /* >= 1 */
	uint32_t nsizes;       /* >= 1 */
	uint64_t count;        /* 0: no end */
};

struct sched_slot {
	uint16_t stream;       /* index into the phase's streams */
	uint16_t item;         /* number of its size */
};

struct sched_phase {
	uint64_t k0, end;      /* frames k0 <= k < end; the last one has end UINT64_MAX, and sched.total says where it stops */
	unsigned ncycle, nstreams;
	struct sched_slot *slot;
	uint16_t *stream;      /* index into the input; ascending */
	uint64_t *o0;          /* frames that each of them sent before k0 */
};

struct sched {
	unsigned nphases;
	struct sched_phase *phase;
	uint64_t total;        /* frames in all; UINT64_MAX: no end */
};

/* The schedule of in[n], n >= 1, to frame `limit` (UINT64_MAX: no limit). Refuses what does not repeat within the bounds above; e names
 * streams of `port` and what helps. */
int sched_make(const struct sched_in *in, unsigned n, uint64_t limit, unsigned port, struct sched *out, struct err *e);
void sched_free(struct sched *);
void sched_copy(struct sched *dst, const struct sched *src); /* deep; dst is overwritten, not freed first */
/* Equal order of equal streams (by key)? */
bool sched_equal(const struct sched *a, const struct sched_in *ain, const struct sched *b, const struct sched_in *bin);
