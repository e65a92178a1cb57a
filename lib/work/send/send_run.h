/* SPDX-License-Identifier: BSD-3-Clause */
/* Kind "gen": what control gives a worker that sends, and what the worker tells. */
#pragma once
#include "arrival.h"
#include "dp.h"
#include "frame_run.h"
#include "hist.h"

/* Lateness in cycles: to 1 / 64, and below 2^42, some minutes. */
#define GEN_LATE_SHAPE ((struct hist_shape){.bits = 6, .top = 42})

#define GEN_MAX_STREAMS 8192 /* numbers of streams are below */
#define GEN_MARKS (1u << 31) /* marks from here on are those of queues */

/* Where a frame and its lengths lie in the buffers of our pools (frun_spec): these are made without private bytes between the mbuf and its data. */
#define GEN_DATA_OFF (sizeof(struct rte_mbuf) + RTE_PKTMBUF_HEADROOM)
#define GEN_LEN16_OFF offsetof(struct rte_mbuf, data_len)
#define GEN_LEN32_OFF offsetof(struct rte_mbuf, pkt_len)
static inline bool gen_pool_fits(struct rte_mempool *mp) { return rte_pktmbuf_priv_size(mp) == 0; }

enum gen_state_id { GEN_IDLE, GEN_SENDING, GEN_DRAINING, GEN_DONE };

/* One Tx queue's share of a port's run is one or more groups of frames, each with its own k and its own pace: group 0 is the port's schedule (may be
 * absent), the others are streams with a rate of their own. Of a group, this queue sends k = queue, queue + nqueues, ... */

/* Frames k0 <= k < end of a group follow one schedule; a stream that has sent its count leaves it with the next phase. */
struct gen_phase {
	uint64_t k0, end;         /* of the last: where the schedule ends, UINT64_MAX: never */
	const struct frun *prog;  /* first own frame of the phase is its own frame 0 */
	void *state;              /* the worker's, zeroed by control when prog is new; the same prog in the next plan comes with the same state */
	const uint32_t *tag;      /* mark of each class of prog: names image, lengths and offload; never reused, from 1 to GEN_MARKS - 1 */
};

struct gen_group {
	int32_t stream;           /* id of the stream whose own rate this is; -1: the port's schedule */
	uint16_t nphases;
	const struct gen_phase *phase; /* the first has k0 = 0 */
	/* Number of the schedule. The same as in the plan before: k goes on and says which phase it is. Another one: this queue begins the new
	 * schedule at k = 0 and streams keep their ordinals, whatever group they were in; phases count from there. */
	uint64_t epoch;
	bool by_bytes;            /* the period is that of a byte on the wire (l1) or of a byte of a frame with FCS (l2), not of a frame */
	bool l2;
	struct pace_period period;
	const struct pace_shape *shape; /* deadlines are not k periods from the start, or late frames are given up (GEN_SKIP); NULL: neither */
	uint64_t limit;           /* frames k < limit are sent, counted from the start of the run over all epochs; UINT64_MAX: no bound */
};

/* Own frames of queue `queue` of `nqueues` among frames 0 .. k - 1. */
static inline uint64_t gen_own_frames(unsigned queue, unsigned nqueues, uint64_t k)
{
	return k > queue ? (k - queue - 1) / nqueues + 1 : 0;
}

/* KEEP: they are sent at full speed. SKIP: they are given up and count as unsent. OVERSPEED: they are sent a bit faster than asked until none is
 * late. */
enum gen_catchup { GEN_KEEP, GEN_SKIP, GEN_OVERSPEED };

struct gen_job {
	struct dp_txq *txq;
	uint16_t ngroups;
	const struct gen_group *group; /* ascending by stream */
	void *mem;                /* the worker's: gen_mem_size(ngroups) bytes, aligned to a cache line, zeroed by control for each plan */
	uint16_t burst;
	uint16_t queue, nqueues;
	bool stop;
	bool prepare;             /* rte_eth_tx_prepare() before each burst: checksums are the NIC's */
	bool rx_written;          /* who receives our frames may write into them: check the mark of every buffer */
	uint64_t run;             /* number of the start; a new number begins at frame 0 */
	uint64_t start_tsc;
	uint64_t end_tsc;         /* frames due before it are sent; UINT64_MAX: no end */
	/* So long after end_tsc they may still go; the rest then counts as unsent. Time in which the worker stood still is not counted. */
	uint64_t grace_cycles;
	uint64_t forgive_cycles;  /* a lag beyond this is dropped when the rate changes */
	uint64_t late_cycles;     /* frames that are later count in cnt_tx.late */
	/* When frames are later than lag_cycles; GEN_SKIP: of groups with a shape. */
	enum gen_catchup catchup;
	uint64_t lag_cycles;
	/* The device sends frames that have deadlines at the times that they carry, and is given them so long before; NULL: it sends at once. */
	const struct dp_clock *stamp;
	uint64_t lead_cycles;     /* 0 without stamp */
	uint64_t slower;          /* GEN_OVERSPEED: times between frames shrink to so many 2^-64 of themselves */
};

/* Probes in frames (frame_probe.h), by stream id; control's memory, written by the worker. */
struct gen_probes {
	cell_t seq[GEN_MAX_STREAMS];     /* probes that the device accepted; a frame that it takes now has this number */
	uint32_t left[GEN_MAX_STREAMS];  /* frames until the next one, where not all have one; the worker's own */
};

/* Bytes behind gen_job.mem: what a group keeps while it runs, and the order in which groups are due. */
size_t gen_mem_size(unsigned ngroups);

/* A frame that the device sends at a time: its deadline, and that in the device's time. */
struct gen_stamped { uint64_t due, stamp; };

/* Read by control. Streams: cell[id] holds what was folded in, and for the port's schedule the frames since then follow from its program:
 * frun_count(prog, accepted). Read `epoch` before and after: odd or changed, read again. The sums are exact, mod 2^64; prog is NULL
 * when no run is going on. gen_counts() does it. */
struct gen_state {
	struct dp_state base;
	struct cnt_stream *cell;    /* by stream id; control's memory, written by the worker */
	struct gen_probes *probes; /* NULL: no program has probes */
	/* sent: of a run that ended; while it lasts, the queue's packets - base_packets. last_tsc: likewise, else the queue's */
	WR_ALIGNED(CACHE_LINE) cell_t run, state, base_packets, sent, start_tsc, last_tsc;
	cell_t epoch;             /* even: settled; of cell[].., sizes, accepted, prog */
	cell_t accepted;          /* own frames of `prog` that are through: accepted, or refused by the driver and taken off their cell */
	const struct frun *prog;  /* group 0's, NULL: none; read with an atomic load */
	WR_ALIGNED(CACHE_LINE) struct cnt_sizes sizes; /* as cell[]: of all streams together, by size */
	/* worker's own, see gen_own.h */
	WR_ALIGNED(CACHE_LINE) uint8_t own[512];
	struct {
		struct dp_clock_view view;
		struct gen_stamped last;                 /* the newest frame that got one */
		struct gen_stamped before[DP_BURST_MAX]; /* the one before each frame of the queue's array */
	} stamps;
};

/* Add the exact numbers of this queue per stream to sum[0..n), n <= GEN_MAX_STREAMS. Control thread; prog must live. false: the worker is
 * just taking over a plan, ask again in a moment. */
bool gen_counts(const struct gen_state *g, struct cnt_stream *sum, unsigned n);

/* The same by size, all streams together. */
bool gen_sizes(const struct gen_state *g, struct cnt_sizes *sum);

/* Probes of that stream that this queue's device accepted, since the memory was made; while frames are handed over it may be some too high. */
static inline uint64_t gen_probes_sent(const struct gen_state *g, uint32_t stream)
{
	return g->probes != NULL ? __atomic_load_n(&g->probes->seq[stream], __ATOMIC_RELAXED) : 0;
}

/* State of that run on this queue; GEN_IDLE until the worker has taken it up. Any thread. */
static inline enum gen_state_id gen_run_state(const struct gen_state *g, uint64_t run)
{
	if (__atomic_load_n(&g->run, __ATOMIC_ACQUIRE) != run)
		return GEN_IDLE;
	return (enum gen_state_id)__atomic_load_n(&g->state, __ATOMIC_ACQUIRE);
}

/* It sends or waits for its time. The worker. */
static inline bool gen_is_on(const struct gen_state *g) { return g->base.next == DP_NOW; }

extern const struct dp_kind dp_kind_gen;
