/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside the receiver of probes: what a burst's probes say, several at once. */
#pragma once
#include <rte_mbuf.h>

#include "base.h"
#include "prx.h"

#define PRX_BATCH 64
#define PRX_LANES 8

/* Of a multiple of PRX_LANES of frames. */
struct prx_batch {
	/* what the probes say; aligned: vectors go in and come out whole */
	uint64_t transit[PRX_BATCH];  /* cycles since it was sent */
	uint32_t flow[PRX_BATCH], seq[PRX_BATCH];
	uint32_t *slot;               /* [PRX_BATCH]: those of a port's histogram for the time since it was to be sent; aligned too */
	uint64_t delays;              /* sum of what it was sent late */
	bool one_transit, one_due;    /* all times are the same */
	uint64_t taken_off;           /* bits of those that are not counted */
	struct rte_mbuf *const *m;
	uint32_t off;                 /* of the probe in each buffer */
} WR_ALIGNED(CACHE_LINE);

/* The flow that all probes are to be of, with numbers that follow each other. */
struct prx_one {
	uint64_t now, limit;     /* cycles; times from limit on are out of the histograms' range, or below 0 */
	double ns;               /* of a cycle */
	uint64_t hi, lo;         /* of the first probe, as far as PRX_ONE_HI and PRX_ONE_LO */
};
#define PRX_ONE_HI 0x0000ffffffffffe0ull
#define PRX_ONE_LO 0xfff8000000000000ull

/* The port that all probes are to be of. */
struct prx_common {
	uint64_t now, limit;
	double ns;
	uint32_t port, base, nstreams, nqueues, queue_bits;
};

/* What transits of several probes come to. */
struct prx_range {
	uint64_t sum, min, max;
	uint64_t was;            /* transit of the probe before */
	double jitter;           /* of the probe before, then of the last one: cycles */
};

#define PRX_PROBE(m, off) ((const uint8_t *)(m)->buf_addr + (off))

struct prx_ops {
	/* false: there is one that is not a whole probe of that flow and number, or whose times are out of range. Not filled: flow, seq. */
	bool (*one)(struct prx_batch *b, unsigned n, const struct prx_one *c);
	/* false: there is one that is not a whole probe of a known flow of that port, or whose times are out of range. */
	bool (*many)(struct prx_batch *b, unsigned n, const struct prx_common *c);
	void (*range)(const struct prx_batch *b, unsigned n, struct prx_range *r);
	/* Slots of a port's histogram for so many cycles; both aligned. */
	void (*slots)(uint32_t *slot, const uint64_t *cycles, unsigned n, double ns);
	/* Counts probes from the ith on, PRX_LANES at once, for as long as these are of different flows, each with the number that is due, in the
	 * block of the one before. *sum: their transits are added. Returns the first one that is not counted. NULL: one by one is as good. */
	unsigned (*flows)(struct prx_flow *flow, const struct prx_batch *b, unsigned i, unsigned n, uint64_t now, uint64_t *sum);
};
extern const struct prx_ops prx_ops_plain, prx_ops_avx2, prx_ops_avx512;
const struct prx_ops *prx_ops_best(void);

/* RFC 3550 6.4.1: what the difference of a probe is worth 63, 62, .. 0 probes later. */
#define PRX_JITTER_SHARE (1.0 / 16)
extern double prx_weight[PRX_BATCH];
/* What the jitter before n probes is still worth. */
#define PRX_OLD_JITTER(n) (prx_weight[PRX_BATCH - (n)] * (1 / PRX_JITTER_SHARE - 1))
