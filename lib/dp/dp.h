/* SPDX-License-Identifier: BSD-3-Clause */
/* The data plane: what runs on workers, and how control tells them what to do. A worker runs the
 * few tasks of its plan. A plan does not change once it is posted. What outlives a plan (queues,
 * states of tasks) is owned by control and written by one worker. A worker never waits for
 * another thread, locks, allocates or logs, and its only system calls are in idle.c.
 * docs/ARCHITECTURE.md says why, how that is held, and what the words mean ("What never happens
 * on a worker", "Words"). */
#pragma once
#include "count.h"
#include "dp_clock.h"
#include "dp_hear.h"
#include "dpdk.h"
#include "mbox.h"

#define DP_BURST_MAX 512
#define DP_POOL_CACHE 256

struct hist;
struct dp_task;
struct dp_rxq;
struct dp_burst;
struct dp_worker;
struct dp_wheel;

#define DP_CYCLE_PARTS 256 /* a slow counter may not tick once during a burst */

/* What bursts cost, from samples: `bursts` bursts took `cycles` cycles. Every turn that follows a
 * turn without frames is measured. Of busy turns one in DP_PUBLISH_TURNS is measured, and its
 * bursts count that many times. Bursts in which the thread lost its CPU are left out. */
struct dp_times {
	cell_t bursts, cycles;
	uint64_t typical; /* recent cost of a burst, in 1 / DP_CYCLE_PARTS cycles; 0: not known */
};

/* Special values for the time at which a task must run next; all others are cycles. */
#define DP_NOW 0ull         /* in every turn */
#define DP_NEVER UINT64_MAX /* not until something else sets another time */

/* The first member of every task's state. Its worker writes it. */
struct dp_state {
	/* From this time on poll() is called in each turn: cycles, DP_NOW or DP_NEVER. The worker
	 * does not sleep past it. */
	uint64_t next;
	struct dp_times times; /* of calls of poll() that moved frames */
};

/* A kind: the type of a task. All its functions run on the worker and return without waiting. */
struct dp_kind {
	const char *name;
	/* It may be called a little later than at state->next: the worker sleeps, if nothing else
	 * is due, although that time is near. */
	bool patient;
	/* A new plan is in use, and t->job may differ from the job before. old: the job that the
	 * same state had in the previous plan. old NULL: it was not in that plan; its `next` is
	 * DP_NEVER, which this function may change. Without this function there is nothing to take
	 * over. */
	void (*adopt)(struct dp_worker *w, const struct dp_task *t, const void *old, uint64_t now);
	/* Takes received frames that this task owns, mbufs included: a whole burst, or the part of
	 * it that the task's sort has claimed, or the part that nobody has claimed. b describes the
	 * whole burst and is true of each part. now: the time of this turn or of the one before it;
	 * where the queue has taps or sorts it was read after the burst was taken. A kind without
	 * this function owns no frames. */
	void (*rx)(struct dp_worker *w, const struct dp_task *t, struct dp_rxq *q,
		   struct rte_mbuf **m, unsigned n, const struct dp_burst *b, uint64_t now);
	/* Called in each turn from state->next on. It does what is due and may send through its
	 * share of a Tx queue. Returns how many frames it moved, 0 if there was nothing to do. In a
	 * kind without this function `next` stays DP_NEVER. */
	unsigned (*poll)(struct dp_worker *w, const struct dp_task *t, uint64_t now);
	/* The next plan does not have this task: it gives back what it holds. */
	void (*drop)(struct dp_worker *w, const struct dp_task *t, uint64_t now);
};

/* A tap looks at received frames before their owner takes them, and changes nothing in them. b
 * describes these frames. now was read after the burst was taken. */
struct dp_tap {
	void (*rx)(void *state, const struct dp_burst *b, struct rte_mbuf *const *m, unsigned n,
		   uint64_t now);
	void *state;
	/* The queue was found empty, or the plan ends: the tap does now what it has put off. NULL:
	 * it puts nothing off. */
	void (*flush)(void *state);
};

/* A tap of a Tx queue looks at the frames that a share offers to the device, and changes nothing in
 * them. offered() gets each burst before the device does: what it wants of these frames it copies
 * at once, since they may be gone when the device has them. taken() follows at once and says how
 * many of them, from the first one on, the device has accepted; the others are offered again later,
 * or given up. */
struct dp_tx_tap {
	void (*offered)(void *state, struct rte_mbuf *const *m, unsigned n);
	void (*taken)(void *state, unsigned n);
	void *state;
};

#define DP_MAX_TX_TAPS 3

/* Functions that move the bursts of a queue in place of its ethdev's. They run on the queue's
 * worker and return how many frames they moved: rx those that it put into m, tx those at the head
 * of m that the caller does not own any more. q is the queue's io_q, which belongs to whoever made
 * these functions. An Rx queue uses rx alone, a Tx queue tx alone. */
struct dp_io {
	uint16_t (*rx)(void *q, struct rte_mbuf **m, uint16_t n);
	uint16_t (*tx)(void *q, struct rte_mbuf **m, uint16_t n);
};

/* One Rx queue. Control sets its constant members before it is used; its worker writes the cells.
 * io and io_q are set by control before use, and later only by a task of the queue's worker, while
 * that task adopts a plan or is dropped. */
struct dp_rxq {
	uint16_t port, dev, queue;
	const struct dp_io *io; /* NULL: the ethdev's functions */
	void *io_q;
	WR_ALIGNED(CACHE_LINE) struct cnt_rx cnt;
	WR_ALIGNED(CACHE_LINE) struct cnt_sizes sizes;
	struct dp_times times; /* of taking a burst and handing it out */
} WR_ALIGNED(CACHE_LINE);

/* What a device may have changed in one of our buffers by the time that it is free again, beside
 * what DPDK itself restores when it frees a buffer.
 * NOTHING  Everything is as it was.
 * SHAPE    data_off, lengths and segments may differ, which the first line of each mbuf shows.
 *          Headers may differ only where checksums are left to the device.
 * ALL      Any byte may differ, and a buffer that the device copied a frame into carries that
 *          frame's mark. Frames that it refuses may be changed as well, and the array that it was
 *          offered may hold other buffers than before. */
enum dp_edits { DP_EDITS_NOTHING, DP_EDITS_SHAPE, DP_EDITS_ALL };

/* A task's share of a Tx queue: the pool that it sends from, its tail and its counters. Tasks that
 * use the same queue of a device have one share each, all on the same worker. The bursts of one
 * task keep their order; those of different tasks follow each other in any order. io and taps are
 * set like io of an Rx queue, in all shares of the queue at once, by txq_io() and txq_tap()
 * (txq.h). */
struct dp_txq {
	uint16_t port, dev, queue;
	uint8_t edits; /* enum dp_edits of the device */
	/* Buffers of other pools are sent too, so buffers that are given up go back one by one. */
	bool foreign;
	uint8_t ntaps;
	bool detour; /* there is io, or a tap: bursts go by dp_detour_tx() */
	uint32_t pool_size;
	const struct dp_io *io; /* NULL: the ethdev's functions */
	void *io_q;
	const struct dp_tx_tap *tap[DP_MAX_TX_TAPS];
	struct rte_mempool *pool;
	/* The worker writes all that follows. */
	WR_ALIGNED(CACHE_LINE) struct cnt_tx cnt;
	/* The mark that control gave to the image that all buffers are to hold. 0: they hold
	 * several images, and every burst is looked at. */
	WR_ALIGNED(CACHE_LINE) uint32_t image;
	/* The number that buffers with this image carry. It is a new one whenever `image` changes,
	 * so that each buffer is filled once after the change, and is then taken off `stale`. */
	uint32_t mark;
	struct rte_mempool_cache *cache; /* this worker's cache of the pool */
	uint32_t stale; /* buffers not known to hold the image; 0: no check is needed */
	/* The device or a receiver may write into our buffers: every burst is looked at, even if
	 * `stale` is 0, and `stale` is not exact. */
	bool written;
	/* DP_EDITS_ALL: part of the newest burst or all of it was refused, and is built anew. */
	bool again;
	/* Buffers that were taken through the pool's back end since the cache was last flushed. */
	uint32_t swept;
	uint16_t head, n; /* m[head..n) is the unsent tail */
	/* when the device accepted the first frame of the run; 0: none yet */
	cell_t first_tsc;
	cell_t last_tsc; /* when the device last accepted a frame */
	/* How often frames that had been refused were offered again and not accepted whole. By this
	 * control notices a device that accepts nothing. */
	cell_t retries;
	/* How late bursts were, in cycles: from the deadline of the first frame of each burst,
	 * which waited longest, to the turn in which it left. NULL: nobody asks. Control owns the
	 * memory, the worker writes it. */
	struct hist *lateness;
	WR_ALIGNED(CACHE_LINE) struct rte_mbuf *m[DP_BURST_MAX];
} WR_ALIGNED(CACHE_LINE);

/* One entry of a plan. */
struct dp_task {
	const struct dp_kind *kind;
	struct dp_state *state;
	const void *job; /* what the kind wants to know; constant, in the plan's memory */
};

/* A sort claims received frames for a task. Of the frames m[0..n) that the task wants, it sets
 * owner[i] = mine where owner[i] is 0, and leaves all other entries as they are. It is called once
 * per burst on the worker, if those before it have left any frame; b describes these frames. It
 * reads frames and keeps none. */
typedef void dp_sort_fn(const void *arg, const struct dp_burst *b, struct rte_mbuf *const *m,
			unsigned n, uint8_t *owner, uint8_t mine);

struct dp_sort {
	dp_sort_fn *fn;
	const void *arg;
	uint16_t task; /* owner of what the sort claims: index into task[] */
};

#define DP_MAX_TAPS 6
#define DP_MAX_SORTS 4
/* What a worker does with one of its Rx queues. */
struct dp_duty {
	struct dp_rxq *q;
	uint16_t burst, owner; /* owner of the frames that no sort claims: index into task[] */
	union {
		struct {
			uint8_t ntaps, nsorts;
		};
		uint16_t asks; /* 0: no taps and no sorts, the owner gets each burst as it is */
	};
	struct dp_tap tap[DP_MAX_TAPS];
	struct dp_sort sort[DP_MAX_SORTS]; /* the first ones claim first */
};

/* Everything that one worker is told. Control owns the memory, that of the jobs included, and frees
 * it when the worker has acknowledged a later plan. */
struct dp_plan {
	uint64_t seq;
	bool quit;      /* the worker is to leave its loop */
	bool may_sleep; /* it may sleep after idle_cycles without frames */
	uint64_t idle_cycles;
	uint64_t stall_cycles; /* a turn that takes longer is a stall; 0: none is */
	uint16_t ntasks, nrx, nhear;
	struct dp_task *task;
	struct dp_duty *rx;
	struct dp_hearer *hear;
};

/* A worker's cells, in one cache line. */
struct dp_worker_cells {
	cell_t acked;  /* seq of the plan in use; older ones may be freed */
	cell_t barren; /* turns that moved nothing: all Rx queues were empty in each */
	/* loops and busy_tsc are written every DP_PUBLISH_TURNS turns, the others at once. */
	cell_t loops, busy_tsc, sleeps, yields, events_lost, asleep;
} WR_ALIGNED(CACHE_LINE);

/* Stalls: turns that took longer than the plan's stall_cycles, because the worker had no CPU or a
 * call of a driver was slow. Time asleep does not belong to a turn. count and cycles only grow. The
 * longest stall is kept for each kind of mark, since the newest mark of that kind. Control sets a
 * mark by counting up `asked`, and the worker looks at it when it has a stall. */
enum dp_mark { DP_MARK_CLEAR, DP_MARK_TRIAL, DP_MARKS };
struct dp_stalls {
	cell_t count, cycles;
	cell_t longest[DP_MARKS], seen[DP_MARKS]; /* longest: cycles, since mark number `seen` */
	cell_t asked[DP_MARKS];                   /* number of the newest mark; control writes it */
};

/* Any thread: returns the longest stall since the newest mark, in cycles; 0: there was none. */
static inline uint64_t dp_stall_longest(const struct dp_stalls *s, enum dp_mark m)
{
	if (__atomic_load_n(&s->seen[m], __ATOMIC_ACQUIRE) != cell_get(&s->asked[m]))
		return 0;
	return cell_get(&s->longest[m]);
}

/* What need not be exact to the turn (loops, busy time) is done once in so many turns. */
#define DP_PUBLISH_TURNS 64

struct dp_worker {
	unsigned lcore;
	struct mbox mbox;
	bool has_news; /* worker: it has posted events since it last wrote to wake_fd */
	/* Another thread of the process may need this CPU: yield when there is nothing to do. */
	bool shares_cpu;
	/* Control's memory, which is there before the first plan that has the wheel's task. NULL:
	 * no plan had it yet. */
	struct dp_wheel *wheel;
	/* eventfd that wakes control for events, set before the worker runs. NULL: control looks by
	 * itself. */
	const int *wake_fd;
	struct dp_worker_cells cells;
	struct dp_stalls stalls;
	/* The worker alone uses all that follows. */
	WR_ALIGNED(CACHE_LINE) const struct dp_plan *plan;
	uint32_t barren; /* turns in a row that moved nothing */
	uint32_t turns;
	uint64_t progress_tsc, turn_tsc;
	uint64_t busy_tsc; /* busy cycles that are not yet in the cell */
} WR_ALIGNED(CACHE_LINE);

enum dp_event { DP_EV_RUN_DONE = 1 };

/* The worker's main loop, for rte_eal_remote_launch(). arg: its struct dp_worker. It returns 0 when
 * a plan says quit. */
int dp_worker_main(void *arg);
/* Runs one turn of the loop, or `turns` of them. false: a plan said quit. */
bool dp_turn(struct dp_worker *w);
bool dp_turns(struct dp_worker *w, unsigned turns);
/* idle.c: ends a turn that moved nothing: it may wake control, yield or sleep. */
void dp_idle(struct dp_worker *w, uint64_t now);
/* Worker: posts an event to control, which is woken in the next turn that moves nothing. An event
 * for which the ring has no room is counted as lost. */
void dp_event_post(struct dp_worker *w, uint16_t kind, uint16_t port, uint16_t queue,
		   uint64_t value);

/* The calls by way of io and taps are not inlined: inlined, they made bursts of one frame 5 %
 * slower on queues without io, and 1 % this way. */
static __rte_noinline __rte_cold uint16_t dp_io_rx(const struct dp_rxq *q, struct rte_mbuf **m,
						   uint16_t n)
{
	return q->io->rx(q->io_q, m, n);
}

static __rte_noinline __rte_cold uint16_t dp_detour_tx(const struct dp_txq *q, struct rte_mbuf **m,
						       uint16_t n)
{
	for (unsigned i = 0; i < q->ntaps; i++)
		q->tap[i]->offered(q->tap[i]->state, m, n);
	uint16_t sent =
		q->io != NULL ? q->io->tx(q->io_q, m, n) : rte_eth_tx_burst(q->dev, q->queue, m, n);
	for (unsigned i = 0; i < q->ntaps; i++)
		q->tap[i]->taken(q->tap[i]->state, sent);
	return sent;
}

static __rte_always_inline uint16_t dp_rx_burst(const struct dp_rxq *q, struct rte_mbuf **m,
						uint16_t n)
{
	if (unlikely(q->io != NULL))
		return dp_io_rx(q, m, n);
	return rte_eth_rx_burst(q->dev, q->queue, m, n);
}

static __rte_always_inline uint16_t dp_tx_burst(const struct dp_txq *q, struct rte_mbuf **m,
						uint16_t n)
{
	if (unlikely(q->detour))
		return dp_detour_tx(q, m, n);
	return rte_eth_tx_burst(q->dev, q->queue, m, n);
}

/* What a frame is addressed to, in bits of packet_type that DPDK does not use. A sender in this
 * process sets them where all frames that the buffer will hold are addressed alike. The
 * receiver's core then need not fetch the cache line of the frame, which the sender's core has
 * just written. */
#define DP_DST_SHIFT 28
#define DP_DST_KNOWN (1u << DP_DST_SHIFT)
#define DP_DST_GROUP (2u << DP_DST_SHIFT)
#define DP_DST_BROADCAST (4u << DP_DST_SHIFT)
#define DP_DST_ALL (DP_DST_KNOWN | DP_DST_GROUP | DP_DST_BROADCAST)
_Static_assert((DP_DST_ALL & RTE_PTYPE_ALL_MASK) == 0, "bits of packet_type");

/* The mark, in hash.usr, of a buffer that holds WL_X (workload_run.h) all over, but for headers
 * that whoever sends it next overwrites. Control and queues give other numbers to their images. */
#define DP_MARK_FILLED UINT32_MAX
/* The mark of an attached buffer all of whose bytes are the same one. A driver that copies may read
 * its first bytes again and again, which stay in the nearest cache. */
#define DP_MARK_SAME (UINT32_MAX - 1)

/* To be called for a frame that was written to by a worker that did not build it. Takes the mark
 * away, so that the buffer is filled anew before its owner sends it again. */
static inline void frame_touch(struct rte_mbuf *m)
{
	m->hash.usr = 0;
	m->packet_type = 0;
}

/* What n > 0 received frames have in common. The worker finds it out once per burst. */
struct dp_burst {
	uint32_t len; /* length of each frame without FCS; 0: lengths differ */
	uint32_t dst; /* DP_DST_* of all frames; 0: not known */
	bool group;   /* if dst is not known: some may have a group address; false: none has */
	bool plain;   /* single segments, unshared, of one pool: they can go back by a raw put */
	bool alike;   /* data_off, data_len and ol_flags are the same in all */
};

/* Looks at n > 0 frames that have just been received. dp_look is the fastest variant that this CPU
 * can run, chosen before main(). */
typedef struct dp_burst dp_look_fn(struct rte_mbuf *const *m, unsigned n);
extern dp_look_fn *dp_look;
/* Returns variant i of dp_look. 0 is the one in dp_look; the others are slower and give the same
 * answers. NULL: there is no such variant. */
dp_look_fn *dp_look_nth(unsigned i);

/* Frees n received frames: by one raw put if dp_look() said "plain", else one by one. */
static inline void dp_free_burst(struct rte_mbuf **m, unsigned n, bool plain)
{
	if (likely(plain))
		rte_mempool_put_bulk(m[0]->pool, (void **)m, n);
	else
		rte_pktmbuf_free_bulk(m, n);
}
