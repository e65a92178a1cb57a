/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside the receiver of probes: reads the probes of several frames at once. A batch is a multiple
 * of PRX_LANES of frames of one burst, at most PRX_BATCH of them. There is a table of functions for
 * each instruction set. */
#pragma once
#include <rte_mbuf.h>

#include "base.h"
#include "prx.h"

#define PRX_BATCH 64
#define PRX_LANES 8

struct prx_batch {
	/* What the probes say. These arrays are aligned, so that whole vectors are stored and
	 * loaded. */
	uint64_t transit[PRX_BATCH]; /* cycles from sending to arrival */
	uint32_t flow[PRX_BATCH], seq[PRX_BATCH];
	/* [PRX_BATCH], aligned too: the bucket of PRX_INTENDED in which each probe is counted, by
	 * the time since it was due. */
	uint32_t *bucket;
	uint64_t delays;           /* sum of the cycles by which probes were sent late */
	bool one_transit, one_due; /* all transits, or all times since due, are the same */
	uint64_t taken_off;        /* a bit for each probe that turned out not to count */
	struct rte_mbuf *const *m;
	uint32_t off; /* where the probe lies in each buffer */
} WR_ALIGNED(CACHE_LINE);

/* What one() compares with: all probes are of one flow, and their numbers follow each other. */
struct prx_one {
	/* In cycles. Times from limit on are out of the range of histograms, or below 0. */
	uint64_t now, limit;
	double ns;       /* ns of a cycle */
	uint64_t hi, lo; /* words of the first probe, & PRX_ONE_HI and PRX_ONE_LO */
};
/* Of hi all but the check and exp, of lo the stream. */
#define PRX_ONE_HI ((1ull << PROBE_HI_CHECK) - (1ull << PROBE_HI_QUEUE))
#define PRX_ONE_LO (UINT64_MAX << PROBE_LO_STREAM)

/* What many() compares with: all probes are of one port. */
struct prx_common {
	uint64_t now, limit;
	double ns;
	uint32_t port, base, nstreams, nqueues, queue_bits;
};

/* What range() computes of the transits of several probes, in cycles. */
struct prx_range {
	uint64_t sum, min, max;
	uint64_t was;  /* in: transit of the probe before the first */
	double jitter; /* in: after the probe before the first; out: after the last */
};

#define PRX_PROBE(m, off) ((const uint8_t *)(m)->buf_addr + (off))

struct prx_ops {
	/* Fills the batch, all but flow and seq, if each frame holds a whole probe of the flow and
	 * number that c says, and no time is out of range. Else it returns false. */
	bool (*one)(struct prx_batch *b, unsigned n, const struct prx_one *c);
	/* Fills the batch if each frame holds a whole probe of a known flow of the port that c
	 * says, and no time is out of range. Else it returns false. */
	bool (*many)(struct prx_batch *b, unsigned n, const struct prx_common *c);
	void (*range)(const struct prx_batch *b, unsigned n, struct prx_range *r);
	/* Sets bucket[i] to the bucket of a port's histogram in which cycles[i] are counted. Both
	 * arrays are aligned. */
	void (*buckets)(uint32_t *bucket, const uint64_t *cycles, unsigned n, double ns);
	/* Counts probes from the ith on, PRX_LANES at once, and adds their transits to *sum. It
	 * goes on as long as the probes that are counted at once are of different flows, and each
	 * has the next number of its flow, in the same block as the number before. Returns the
	 * index of the first probe that is not counted. NULL: counting one by one is as fast. */
	unsigned (*flows)(struct prx_flow *flow, const struct prx_batch *b, unsigned i, unsigned n,
			  uint64_t now, uint64_t *sum);
};
extern const struct prx_ops prx_ops_plain, prx_ops_avx2, prx_ops_avx512;
/* The fastest table that this CPU can run. It sets prx_weight too, so that control calls it before
 * a receiver works. */
const struct prx_ops *prx_ops_best(void);

/* RFC 3550 6.4.1: each probe changes the jitter by a share of 1 / 16. prx_weight[] is by how much
 * the difference of a probe still counts in the jitter 63, 62, .. 0 probes later. */
#define PRX_JITTER_SHARE (1.0 / 16)
extern double prx_weight[PRX_BATCH];
/* By how much the jitter before n probes still counts after them. */
#define PRX_OLD_JITTER(n) (prx_weight[PRX_BATCH - (n)] * (1 / PRX_JITTER_SHARE - 1))
