/* SPDX-License-Identifier: BSD-3-Clause */
/* The kind "gen", whose tasks send frames: what control gives such a task (struct gen_job), and
 * what the task tells control (struct gen_state). */
#pragma once
#include "arrival.h"
#include "dp.h"
#include "frame_run.h"
#include "hist.h"

/* Shape of histograms of lateness in cycles. Values are exact to 1 / 64 and below 2^42, which is
 * some minutes. */
#define GEN_LATE_SHAPE ((struct hist_shape){.bits = 6, .top = 42})

/* Numbers of streams are below this. On workers the number of a stream is not its id: it is what
 * control calls the stream's cell, and stays when the id changes. */
#define GEN_MAX_STREAMS 8192
#define GEN_MARKS (1u << 31) /* control gives marks below this; the others are those of queues */

/* Where a frame and its lengths lie in the buffers of our pools (frun_spec). The pools are made
 * without private bytes between the mbuf and its data, which gen_pool_fits() checks. */
#define GEN_DATA_OFF (sizeof(struct rte_mbuf) + RTE_PKTMBUF_HEADROOM)
#define GEN_LEN16_OFF offsetof(struct rte_mbuf, data_len)
#define GEN_LEN32_OFF offsetof(struct rte_mbuf, pkt_len)
static inline bool gen_pool_fits(struct rte_mempool *mp)
{
	return rte_pktmbuf_priv_size(mp) == 0;
}

/* How far a run has come on a queue. DRAINING: all frames are built, and the device has not
 * accepted all of them yet. */
enum gen_state_id { GEN_IDLE, GEN_SENDING, GEN_DRAINING, GEN_DONE };

/* What one Tx queue sends in a run is one or more groups of frames, each with a k and a pace of its
 * own. If the port has a schedule it is group 0; the others are streams with a rate of their own.
 * Of each group this queue sends the frames k = queue, queue + nqueues, ..., which are its own
 * frames 0, 1, ... */

/* A phase of a group: in the frames k0 <= k < end the same streams take turns. A stream that has
 * sent its count is not in the next phase any more. */
struct gen_phase {
	/* The last phase ends with the schedule. UINT64_MAX: the schedule has no end. */
	uint64_t k0, end;
	/* The first own frame of the phase is own frame 0 of frun. */
	const struct frun *frun;
	/* The state of frun. Control zeroes it when frun is new, then it is the worker's. The same
	 * frun in the next plan comes with the same state. */
	void *state;
	/* A mark for each class of frun, from 1 to GEN_MARKS - 1. It stands for image, lengths and
	 * offload, and is never used for another content. */
	const uint32_t *mark;
};

/* A group on one queue. */
struct gen_group {
	int32_t stream; /* number of the stream with this rate; -1: the port's schedule */
	uint16_t nphases;
	const struct gen_phase *phase; /* the first has k0 = 0 */
	/* Number of the group's order. If it is the same as in the plan before, the group goes on
	 * where it is, in the same phase. If it is another one, this queue begins the new order
	 * with its own frame 0, and the k of the phases count from there. In both cases streams
	 * keep their ordinals, whatever group they were in. */
	uint64_t epoch;
	/* The period is that of a byte and not of a frame: of a byte at layer 2 (frames with FCS)
	 * if l2, else of a byte on the wire. */
	bool by_bytes;
	bool l2;
	struct pace_period period;
	/* Not NULL where deadlines are not k periods from the start, or where late frames are given
	 * up (GEN_SKIP). */
	const struct pace_shape *shape;
	/* Frames k < limit are sent, counted from the start of the run over all epochs. UINT64_MAX:
	 * no bound. */
	uint64_t limit;
};

/* Returns how many of the frames 0 .. k - 1 of a group queue `queue` of `nqueues` sends. */
static inline uint64_t gen_own_frames(unsigned queue, unsigned nqueues, uint64_t k)
{
	return k > queue ? (k - queue - 1) / nqueues + 1 : 0;
}

/* What becomes of frames that are too late. KEEP: they are sent as fast as possible. SKIP: they are
 * given up and count as unsent. OVERSPEED: frames are sent somewhat faster than asked until none is
 * late. */
enum gen_catchup { GEN_KEEP, GEN_SKIP, GEN_OVERSPEED };

/* What a task of this kind is to send on its Tx queue. Constant; a part of the plan. */
struct gen_job {
	struct dp_txq *txq;
	uint16_t ngroups;
	const struct gen_group *group; /* ascending by stream */
	/* The worker's memory: gen_mem_size(ngroups) bytes, aligned to a cache line. Control zeroes
	 * it for each plan. */
	void *mem;
	uint16_t burst;
	uint16_t queue, nqueues;
	bool stop;    /* the run is to end now */
	bool prepare; /* the NIC makes checksums: call rte_eth_tx_prepare() */
	/* Whoever receives our frames may write into them, so the mark of each buffer is
	 * checked. */
	bool rx_written;
	/* Number of the run. A number that the task has not seen begins a run. 0: no run yet. */
	uint64_t run;
	uint64_t start_tsc;
	uint64_t end_tsc; /* frames that are due before it are sent; UINT64_MAX: no end */
	/* For so long after end_tsc frames that were due may still leave; the rest then counts as
	 * unsent. Time in which the worker stood still is not counted. */
	uint64_t grace_cycles;
	uint64_t forgive_cycles; /* a lag beyond this is dropped when the rate changes */
	uint64_t late_cycles;    /* frames that are later count in cnt_tx.late */
	/* What becomes of frames that are later than lag_cycles. GEN_SKIP needs groups with a
	 * shape. */
	enum gen_catchup catchup;
	uint64_t lag_cycles;
	/* Not NULL: the device sends each frame that has a deadline at the time that the frame
	 * carries, by this clock. It is given such frames up to lead_cycles before. NULL: it sends
	 * at once. */
	const struct dp_clock *stamp;
	uint64_t lead_cycles; /* 0 without stamp */
	/* GEN_OVERSPEED: times between frames become slower / 2^64 of what they are otherwise. */
	uint64_t slower;
};

/* The probes of each stream (frame_probe.h), by number of the stream. Control's memory, the
 * worker writes it. */
struct gen_probes {
	/* Probes that the device accepted, which is also the number of the next one. */
	cell_t seq[GEN_MAX_STREAMS];
	/* Frames until the next probe, of streams in which not every frame has one. Only the worker
	 * reads it. */
	uint32_t left[GEN_MAX_STREAMS];
};

/* Returns the bytes of gen_job.mem. The worker keeps there what each group needs while it runs, and
 * the order in which groups are due. */
size_t gen_mem_size(unsigned ngroups);

/* A frame that the device sends at a given time: its deadline in cycles, and the same in the
 * device's time. */
struct gen_stamped {
	uint64_t due, stamp;
};

/* The state of a task; the worker writes it, control reads it. The frames of a stream are the sum
 * of two parts: what was added to its cell[], and, for streams of the port's schedule, what follows
 * from its frun for the frames since then: frun_count(frun, accepted). gen_counts() reads both
 * parts, and `epoch` before and after them: if it is odd or has changed, the parts do not belong
 * together, and the caller has to ask again. Sums are exact, mod 2^64. */
struct gen_state {
	struct dp_state base;
	struct cnt_stream *cell;   /* by number; control's memory, the worker writes it */
	struct gen_probes *probes; /* like cell; NULL: frames get no probes */
	/* sent and last_tsc hold for a run that has ended. While it goes on, what it has sent is
	 * the queue's packets - base_packets, and the last time is the queue's last_tsc. */
	WR_ALIGNED(CACHE_LINE) cell_t run, state, base_packets, sent, start_tsc, last_tsc;
	/* Even: cell[], sizes, accepted and frun belong together. Odd: they are being changed. */
	cell_t epoch;
	/* Own frames of `frun` that are through: accepted, or not sent (refused by the driver, or
	 * given up as late) and subtracted from the cell of their stream. */
	cell_t accepted;
	/* The frun of the port's schedule; NULL: no run is going on, or it has no schedule. Read
	 * by an atomic load. */
	const struct frun *frun;
	/* Like cell[], for all streams together: frames by size that were added. */
	WR_ALIGNED(CACHE_LINE) struct cnt_sizes sizes;
	/* Only the worker uses all that follows. own: see gen_own.h. */
	WR_ALIGNED(CACHE_LINE) uint8_t own[512];
	struct {
		struct dp_clock_view view;
		struct gen_stamped last; /* the newest frame that got a time */
		/* For each frame of the share's array: what `last` was before that frame. */
		struct gen_stamped before[DP_BURST_MAX];
	} stamps;
};

/* Adds the exact numbers of this queue for each stream to sum[0..n), n <= GEN_MAX_STREAMS. Control
 * thread; g->frun must not be freed meanwhile. false: sum is as it was, because the worker is just
 * changing the numbers; ask again in a moment. */
bool gen_counts(const struct gen_state *g, struct cnt_stream *sum, unsigned n);

/* Adds the frames of all streams together by size, in the same way. */
bool gen_sizes(const struct gen_state *g, struct cnt_sizes *sum);

/* Returns how many probes of a stream this queue's device has accepted since the memory was made.
 * While frames are being handed over the number may be a little too high. */
static inline uint64_t gen_probes_sent(const struct gen_state *g, uint32_t stream)
{
	return g->probes != NULL ? __atomic_load_n(&g->probes->seq[stream], __ATOMIC_RELAXED) : 0;
}

/* Any thread: returns how far a run has come on this queue; GEN_IDLE until the worker knows of
 * it. */
static inline enum gen_state_id gen_run_state(const struct gen_state *g, uint64_t run)
{
	if (__atomic_load_n(&g->run, __ATOMIC_ACQUIRE) != run)
		return GEN_IDLE;
	return (enum gen_state_id)__atomic_load_n(&g->state, __ATOMIC_ACQUIRE);
}

/* Worker: a run is going on: the task sends, or waits until it may. */
static inline bool gen_is_on(const struct gen_state *g)
{
	return g->base.next == DP_NOW;
}

extern const struct dp_kind dp_kind_gen;
