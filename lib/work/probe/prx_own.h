/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside the receiver of probes: its memory, and what its files share. Functions that change it run
 * on the queue's worker. */
#pragma once
#include "prx.h"
#include "prx_fields.h"
#include "prx_parse.h"

#define PRX_KNOWN_PLACES 4
/* A transit is the time in cycles from sending to arrival, mod 2^36. From PRX_LATEST on it stands
 * for a time below 0. */
#define PRX_LATEST (1ull << (PROBE_SENT_BITS - 1))
#define PRX_NEAR_FLOWS (8 << 10) /* so many bytes of flows need not be fetched ahead */
#define PRX_SCRATCH 65536 /* bytes of a frame of several segments that are copied and looked at */

/* What else is known of a flow, and is seldom looked at. */
struct prx_more {
	uint32_t hist; /* number of its stream's pair of histograms, from 1; 0: none */
	uint16_t holes_at, holes_used; /* where the next hole is kept, and how many are kept */
	bool quotes; /* its frames are ICMP errors that quote a packet with the probe */
};

/* Buckets of a histogram in which a batch has still to be counted: each of the n buckets gets
 * `times` more. */
struct prx_pending {
	unsigned n;
	uint64_t times;
	uint32_t bucket[PRX_BATCH] WR_ALIGNED(CACHE_LINE);
};

struct prx {
	/* these are read for each burst */
	uint32_t place[PRX_KNOWN_PLACES]; /* where probes were found; the newest place is first */
	uint32_t nplaces;
	uint32_t window_mask;  /* blocks of a window - 1 */
	uint32_t window_shift; /* 1 << window_shift is the number of blocks of a window */
	bool verify, streams_have_hists;
	bool guarded;     /* what lies at place[0] may be a quotation */
	bool many_flows;  /* more than a core's first cache holds beside everything else */
	uint64_t ns_mult; /* that of the spec << 64 - PRX_MULT_BITS: see prx_ns() */
	double ns;        /* ns of a cycle */
	/* A time of so many cycles or more is out of the range of histograms, or below 0. */
	uint64_t limit;
	const struct prx_ops *ops;
	const struct dp_clock *clock;     /* NULL: time stamps of the device are not used */
	const struct dp_watcher *watcher; /* as it was set last; NULL: nobody watches */
	/* The watcher during this burst, and the transit in cycles above which he is told of a
	 * frame; UINT64_MAX: of none. */
	const struct dp_watcher *tell;
	uint64_t late;
	struct prx_extra *extra;  /* NULL: nothing but counting is asked for */
	struct prx_flow *flow;    /* of all flows: see prx_flow_index() */
	struct prx_more *more;    /* of all flows */
	struct prx_block *window; /* the windows of all flows */
	struct hist *hist[3];     /* by enum prx_hist */
	uint8_t *stream_hist;     /* PRX_ACTUAL, then PRX_INTENDED, of each stream that has them */
	size_t stream_hist_size;  /* bytes of one of these */
	/* Flows of each port; base is the index of the first. 1 << queue_bits >= nqueues. */
	struct {
		uint32_t base;
		uint16_t nstreams;
		uint8_t nqueues, queue_bits;
	} of[PROBE_PORTS];
	/* these are read rarely */
	struct prx_hole *hole;            /* the holes of all flows */
	uint32_t holes;                   /* how many are remembered of a flow */
	cell_t target_ns;                 /* PRX_NO_TARGET: none */
	uint32_t late_blocks;             /* numbers of blocks further back than so many are late */
	uint8_t *scratch;                 /* [PRX_SCRATCH] */
	uint64_t quoted[PRX_PLACES / 64]; /* as in prx_spec */
	uint8_t nports;
	struct dp_clock_view view; /* what this worker knows of `clock` */
	WR_ALIGNED(CACHE_LINE) struct prx_port port;
	struct prx_pending pending[2]; /* PRX_ACTUAL, PRX_INTENDED */
};

/* Converts less than 2^56 cycles (83 days on a clock of 10 GHz) to ns. It takes one multiplication,
 * of which only the upper half is used: mult is shifted so that no further shift over both halves
 * is needed. */
static inline uint64_t prx_ns(uint64_t mult, uint64_t cycles)
{
	return (uint64_t)((unsigned __int128)(cycles << (PRX_MULT_BITS - 32)) * mult >> 64);
}

/* A histogram of a stream. hist is the number of its pair, from 1. */
static inline struct hist *prx_own_hist(const struct prx *x, uint32_t hist, enum prx_hist which)
{
	return (struct hist *)(void *)(x->stream_hist +
				       ((hist - 1) * 2ul + which) * x->stream_hist_size);
}

/* Reads the words of the probe that lies at p. */
static inline void prx_load(const uint8_t *p, uint64_t *hi, uint64_t *lo)
{
	memcpy(hi, p, 8);
	memcpy(lo, p + 8, 8);
	*hi = rte_be_to_cpu_64(*hi);
	*lo = rte_be_to_cpu_64(*lo);
}

#define PRX_NO_TARGET UINT64_MAX
#define PRX_NO_FLOW UINT32_MAX
/* The index of the flow of a probe, whose two words are hi and lo; PRX_NO_FLOW: it is not known. */
static inline uint32_t prx_flow_index(const struct prx *x, uint64_t hi, uint64_t lo)
{
	unsigned port = PROBE_PORT(hi), queue = PROBE_QUEUE(hi),
		 stream = (unsigned)PROBE_STREAM(lo);

	if (__builtin_expect(stream >= x->of[port].nstreams || queue >= x->of[port].nqueues, 0))
		return PRX_NO_FLOW;
	return x->of[port].base + (stream << x->of[port].queue_bits) + queue;
}

/* Takes a place of a window for another block. no is the number of that block + 1. */
static inline void prx_new_block(struct prx_block *b, uint64_t no, uint64_t bits)
{
	__atomic_store_n(&b->no, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&b->bits, bits, __ATOMIC_RELEASE);
	__atomic_store_n(&b->no, no, __ATOMIC_RELEASE);
}

/* The number + 1 of the block of the highest numbers; 0: there is none yet. */
static inline uint64_t prx_block_no(uint64_t next)
{
	return next != 0 ? ((next - 1) >> 6) + 1 : 0;
}

/* Begins a block above all others, in which next - 1 is the highest number so far. What the block
 * before holds goes to the window first. `bits` is 0 while `next` changes, so that a reader never
 * takes bits of one block for those of another. */
static inline void prx_begin_block(struct prx *x, uint32_t flow, uint64_t next, uint64_t bits)
{
	struct prx_flow *f = &x->flow[flow];
	uint64_t was = cell_get(&f->next);

	if (__builtin_expect(was != 0, 1))
		prx_new_block(&x->window[((uint64_t)flow << x->window_shift) +
					 ((was - 1) >> 6 & x->window_mask)],
			      prx_block_no(was), cell_get(&f->bits));
	__atomic_store_n(&f->bits, 0, __ATOMIC_RELEASE);
	__atomic_store_n(&f->next, next, __ATOMIC_RELEASE);
	__atomic_store_n(&f->bits, bits, __ATOMIC_RELEASE);
}

/* What a sequence number is to a flow: impossible, the first one, the next one or one further
 * ahead, or one below that. */
enum prx_order { PRX_FOREIGN, PRX_FIRST, PRX_AHEAD, PRX_BEHIND };
/* Says which of these seq is, and sets *ext to the number extended to 64 bits. */
enum prx_order prx_order(const struct prx *x, const struct prx_flow *f, uint32_t seq, uint64_t now,
			 uint64_t *ext);
/* Counts the number of frame m that is not simply the next one. Returns false if it is impossible,
 * and then nothing is counted. */
bool prx_number(struct prx *x, const struct rte_mbuf *m, uint32_t flow, uint32_t seq, uint64_t now);
/* The same for a probe whose frame is damaged elsewhere. Whichever frame of a number arrives first
 * decides whether the number is received or corrupted; all further ones are duplicates. */
bool prx_corrupted(struct prx *x, const struct rte_mbuf *m, uint32_t flow, uint32_t seq,
		   uint64_t transit, uint64_t now);
/* Is this the probe of a known flow, with a number that is possible? */
bool prx_plausible(const struct prx *x, uint64_t hi, uint64_t lo, uint64_t now);

/* Looks at a frame that has no whole probe where the last one was found, or whose checksums must be
 * checked, and says what it is. If it holds a whole probe, hi and lo are the words of that. */
enum prx_class { PRX_PROBE, PRX_CORRUPTED, PRX_IS_FOREIGN, PRX_DAMAGED, PRX_PLAIN };
enum prx_class prx_classify(struct prx *x, const struct rte_mbuf *m, uint64_t now, uint64_t *hi,
			    uint64_t *lo);

/* Tells the watcher of this burst, if there is one that asks for this kind. f has what the caller
 * knows of the fault; what the flow says is filled in. flow PRX_NO_FLOW: it is not known. */
void prx_fault(const struct prx *x, uint32_t flow, struct dp_fault *f);
/* Tells of each frame of a batch that took too long. flow: of all frames, or PRX_NO_FLOW where
 * each has its own, in b->flow. */
struct prx_batch;
void prx_fault_late(const struct prx *x, uint32_t flow, const struct prx_batch *b, unsigned n,
		    uint64_t now);

struct prx_extra;
/* Does what `extra` asks for with one latency. It is called before the flow's last_transit becomes
 * this one. */
void prx_extra_count(const struct prx *x, struct prx_extra *e, const struct prx_flow *f,
		     uint64_t transit, uint64_t now);

/* Sets when[i] to the time at which frame i came, in cycles: by its time stamp of the device if it
 * has one that can be right, else `now`. Counts how many had one. */
void prx_times(struct prx *x, const struct dp_clock *c, struct rte_mbuf *const *m, unsigned n,
	       uint64_t now, uint64_t *when);
