/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside the receiver of probes: its memory. */
#pragma once
#include "prx.h"
#include "prx_fields.h"
#include "prx_parse.h"

#define PRX_KNOWN_PLACES 4
#define PRX_LATEST (1ull << (PROBE_SENT_BITS - 1)) /* transits from here on are below 0, mod 2^36 */
#define PRX_NEAR_FLOWS (8 << 10) /* bytes of flows that need not be fetched ahead */
#define PRX_SCRATCH 65536 /* frames of several segments are copied there; of longer ones, so much of them */

/* Of a flow too, and seldom looked at. */
struct prx_more {
	uint32_t hist;           /* number of its stream's pair of histograms, from 1; 0: none */
	uint16_t holes_at, holes_used;
};

/* Slots of a histogram in which a batch is still to be counted, each so often. */
struct prx_pending {
	unsigned n;
	uint64_t times;
	uint32_t slot[PRX_BATCH] WR_ALIGNED(CACHE_LINE);
};

struct prx {
	/* read for each burst */
	uint32_t place[PRX_KNOWN_PLACES]; /* where probes were found, the last one first */
	uint32_t nplaces;
	uint32_t window_mask;    /* blocks of a window - 1 */
	uint32_t window_shift;
	bool verify, streams_have_hists;
	bool many_flows;         /* more than a core's first cache holds next to all else */
	uint64_t ns_mult;        /* << 64 - PRX_MULT_BITS: see prx_ns() */
	double ns;               /* of a cycle */
	uint64_t limit;          /* cycles: times from here on are no histogram's, or below 0 */
	const struct prx_ops *ops;
	const struct dp_clock *clock;
	struct prx_extra *extra; /* NULL: nothing more is asked for */
	struct prx_flow *flow;
	struct prx_more *more;
	struct prx_block *window;
	struct hist *hist[3];
	uint8_t *stream_hist;    /* PRX_ACTUAL, then PRX_INTENDED of each stream that has them */
	size_t stream_hist_size;
	struct { uint32_t base; uint16_t nstreams; uint8_t nqueues, queue_bits; } of[PROBE_PORTS]; /* 1 << queue_bits >= nqueues */
	/* rarely */
	struct prx_hole *hole;
	uint32_t holes;          /* of a flow */
	cell_t target_ns;        /* PRX_NO_TARGET: none */
	uint32_t late_blocks;    /* numbers of blocks further back are late */
	uint8_t *scratch;
	uint8_t nports;
	struct dp_clock_view view; /* of clock */
	WR_ALIGNED(CACHE_LINE) struct prx_port port;
	struct prx_pending pending[2]; /* PRX_ACTUAL, PRX_INTENDED */
};

/* Of less than 2^56 cycles, 83 days on a clock of 10 GHz. One multiplication, no shift of both halves. */
static inline uint64_t prx_ns(uint64_t mult, uint64_t cycles)
{
	return (uint64_t)((unsigned __int128)(cycles << (PRX_MULT_BITS - 32)) * mult >> 64);
}

/* hist: number of the pair. */
static inline struct hist *prx_own_hist(const struct prx *x, uint32_t hist, enum prx_hist which)
{
	return (struct hist *)(void *)(x->stream_hist + ((hist - 1) * 2ul + which) * x->stream_hist_size);
}

#define PRX_NO_TARGET UINT64_MAX
#define PRX_NO_FLOW UINT32_MAX
static inline uint32_t prx_flow_index(const struct prx *x, uint64_t hi, uint64_t lo)
{
	unsigned port = hi >> 11 & 31, queue = hi >> 5 & 63, stream = (unsigned)(lo >> 51);

	if (__builtin_expect(stream >= x->of[port].nstreams || queue >= x->of[port].nqueues, 0))
		return PRX_NO_FLOW;
	return x->of[port].base + (stream << x->of[port].queue_bits) + queue;
}

/* A slot of a window is taken for another block; no: its number + 1. */
static inline void prx_new_block(struct prx_block *b, uint64_t no, uint64_t bits)
{
	__atomic_store_n(&b->no, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&b->bits, bits, __ATOMIC_RELEASE);
	__atomic_store_n(&b->no, no, __ATOMIC_RELEASE);
}

/* Number + 1 of the block of the highest numbers, 0: none. */
static inline uint64_t prx_block_no(uint64_t next) { return next != 0 ? ((next - 1) >> 6) + 1 : 0; }

/* A block above all others begins, with the number next - 1 as its highest so far: what the one before holds goes to the window first, and bits are
 * never said to be of another block. */
static inline void prx_begin_block(struct prx *x, uint32_t flow, uint64_t next, uint64_t bits)
{
	struct prx_flow *f = &x->flow[flow];
	uint64_t was = cell_get(&f->next);

	if (__builtin_expect(was != 0, 1))
		prx_new_block(&x->window[((uint64_t)flow << x->window_shift) + ((was - 1) >> 6 & x->window_mask)], prx_block_no(was),
			      cell_get(&f->bits));
	__atomic_store_n(&f->bits, 0, __ATOMIC_RELEASE);
	__atomic_store_n(&f->next, next, __ATOMIC_RELEASE);
	__atomic_store_n(&f->bits, bits, __ATOMIC_RELEASE);
}

/* What a number means to a flow. */
enum prx_order { PRX_FOREIGN, PRX_FIRST, PRX_AHEAD, PRX_BEHIND };
/* *ext: the number extended. */
enum prx_order prx_order(const struct prx *x, const struct prx_flow *f, uint32_t seq, uint64_t now, uint64_t *ext);
/* Count a number that is not simply the next one. false: foreign, nothing is counted. */
bool prx_number(struct prx *x, uint32_t flow, uint32_t seq, uint64_t now);
/* The same for one whose frame is damaged elsewhere: what arrives first of a number decides what becomes of it, all further ones are copies. */
bool prx_corrupted(struct prx *x, uint32_t flow, uint32_t seq, uint64_t transit, uint64_t now);
/* Is it the probe of a known flow, with a number that can be? */
bool prx_plausible(const struct prx *x, uint64_t hi, uint64_t lo, uint64_t now);

/* A frame that has no whole probe where the last one had it, or whose checksums must be looked at. */
enum prx_class { PRX_PROBE, PRX_CORRUPTED, PRX_IS_FOREIGN, PRX_DAMAGED, PRX_PLAIN };
enum prx_class prx_classify(struct prx *x, const struct rte_mbuf *m, uint64_t now, uint64_t *hi, uint64_t *lo);

struct prx_extra;
/* Before the flow takes up its transit. */
void prx_extra_count(const struct prx *x, struct prx_extra *e, const struct prx_flow *f, uint64_t transit, uint64_t now);

/* When frames came: by the device's stamps where they have one, else now. They are counted. */
void prx_times(struct prx *x, const struct dp_clock *c, struct rte_mbuf *const *m, unsigned n, uint64_t now, uint64_t *when);
