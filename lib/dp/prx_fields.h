/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside the receiver of probes: what a burst's probes say, several at once. */
#pragma once
#include "base.h"

#define PRX_BATCH 64
#define PRX_LANES 8

struct prx_batch {
	const uint8_t *at[PRX_BATCH]; /* the probes; to a multiple of PRX_LANES, copies of the first fill up */
	/* what they say */
	uint64_t flow[PRX_BATCH], transit[PRX_BATCH];
	uint32_t seq[PRX_BATCH];
	uint32_t slot[PRX_BATCH], due[PRX_BATCH]; /* in the port's histograms: of the transit, and of the time since the probe was due */
	uint64_t transits, dues;                  /* sums, cycles */
	uint64_t min, max;                        /* of the transits */
	bool one_slot, one_due;                   /* all are the same slot */
	bool in_order;                            /* all are of one flow, with numbers that follow each other */
	uint64_t taken_off;                       /* bits of those that are not counted */
} WR_ALIGNED(CACHE_LINE);

/* What they have in common. */
struct prx_common {
	uint64_t now, limit;     /* cycles; from limit on a time is out of the histograms' range, or below 0 */
	double ns;               /* of a cycle */
	uint32_t port, base, nstreams, nqueues, queue_bits;
};

/* false: there is one that is not a whole probe of a known flow of that port, or whose times are out of range. */
typedef bool prx_fields_fn(struct prx_batch *b, unsigned n, const struct prx_common *c);
prx_fields_fn prx_fields_plain, prx_fields_avx2, prx_fields_avx512;
prx_fields_fn *prx_fields_best(void);
