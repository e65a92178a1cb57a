/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside the receiver of probes: what a burst's probes say, several at once. */
#pragma once
#include "base.h"

#define PRX_BATCH 64
#define PRX_LANES 8

/* Arrays are filled up to a multiple of PRX_LANES. */
struct prx_batch {
	const uint8_t *at[PRX_BATCH]; /* the probes; copies of the first fill up */
	/* what they say */
	uint64_t transit[PRX_BATCH], due[PRX_BATCH]; /* cycles since it was sent, and since it was to be sent */
	uint32_t flow[PRX_BATCH], seq[PRX_BATCH];
	uint64_t delays;              /* sum of due - transit */
	bool one_transit, one_due;    /* all are the same */
	uint64_t taken_off;           /* bits of those that are not counted */
} WR_ALIGNED(CACHE_LINE);

/* The flow that all probes are to be of, with numbers that follow each other. */
struct prx_one {
	uint64_t now, limit;     /* cycles; times from limit on are out of the histograms' range, or below 0 */
	uint64_t hi, lo;         /* of the first probe, as far as PRX_ONE_HI and PRX_ONE_LO */
};
#define PRX_ONE_HI 0x0000ffffffffffe0ull
#define PRX_ONE_LO 0xfff8000000000000ull

/* The port that all probes are to be of. */
struct prx_common {
	uint64_t now, limit;
	uint32_t port, base, nstreams, nqueues, queue_bits;
};

/* What transits of several probes come to. */
struct prx_range {
	uint64_t sum, min, max;
	uint64_t was;            /* transit of the probe before */
	double jitter;           /* of the probe before, then of the last one: cycles */
};

struct prx_ops {
	/* false: there is one that is not a whole probe of that flow and number, or whose times are out of range. Not filled: flow, seq. */
	bool (*one)(struct prx_batch *b, unsigned n, const struct prx_one *c);
	/* false: there is one that is not a whole probe of a known flow of that port, or whose times are out of range. */
	bool (*many)(struct prx_batch *b, unsigned n, const struct prx_common *c);
	void (*range)(const struct prx_batch *b, unsigned n, struct prx_range *r);
	/* Slots of a port's histogram; ns: of a cycle. */
	void (*slots)(uint32_t *slot, const uint64_t *cycles, unsigned n, double ns);
};
extern const struct prx_ops prx_ops_plain, prx_ops_avx2, prx_ops_avx512;
const struct prx_ops *prx_ops_best(void);

/* RFC 3550 6.4.1: what the difference of a probe is worth 63, 62, .. 0 probes later, then 0. */
#define PRX_JITTER_SHARE (1.0 / 16)
extern double prx_weight[PRX_BATCH + PRX_LANES];
/* What the jitter before n probes is still worth. */
#define PRX_OLD_JITTER(n) (prx_weight[PRX_BATCH - (n)] * (1 / PRX_JITTER_SHARE - 1))
