/* SPDX-License-Identifier: BSD-3-Clause */
/* The data plane: what runs on workers, and how control hands work to it. A worker runs the few tasks of its plan; a plan is immutable
 * once posted; everything that outlives a plan (queues, task states) is owned by control and written by one worker. A worker never
 * waits for another thread, locks, allocates or logs; its only system calls are in idle.c. docs/ARCHITECTURE.md says why, how that is held, and
 * what the words mean ("What never happens on a worker", "Words"). */
#pragma once
#include "count.h"
#include "dp_clock.h"
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

#define DP_CYCLE_PARTS 256 /* a burst takes less than a tick of a slow counter */

/* What bursts cost, from samples: `cycles` of so many bursts. Turns after one that moved nothing are all looked at; of busy ones one in
 * DP_PUBLISH_TURNS, which counts for as many. Those in which the thread lost its CPU do not count. */
struct dp_times {
	cell_t bursts, cycles;
	uint64_t typical; /* of a burst lately, in 1 / DP_CYCLE_PARTS cycles; 0: there was none yet */
};

/* When a task next must run, beside cycles. */
#define DP_NOW 0ull           /* in every turn */
#define DP_NEVER UINT64_MAX   /* not by itself */

/* The first member of every task's state. Written by its worker. */
struct dp_state {
	uint64_t next; /* poll() is called in each turn from then on: cycles, DP_NOW or DP_NEVER. Its worker does not sleep past it */
	struct dp_times times; /* of turns that moved frames */
};

/* A kind of work. All functions run on the worker and return at once. */
struct dp_kind {
	const char *name;
	/* A new plan is in use; t->job may differ from before, old is the previous job of the same state. NULL: none; then next is DP_NEVER and this
	 * may change it. Itself NULL: there is nothing to take over. */
	void (*adopt)(struct dp_worker *w, const struct dp_task *t, const void *old, uint64_t now);
	/* Received frames that this task owns, all of a burst, what it claims, or what nobody does: it takes the mbufs. b: of the burst, and
	 * true of any part of it. now: of this turn or the one before; where somebody asks, read behind the burst. NULL: the kind owns none. */
	void (*rx)(struct dp_worker *w, const struct dp_task *t, struct dp_rxq *q, struct rte_mbuf **m, unsigned n, const struct dp_burst *b,
		   uint64_t now);
	/* What is due by state->next; may send through its Tx queue. Returns frames moved (0: nothing to do). NULL: next stays DP_NEVER. */
	unsigned (*poll)(struct dp_worker *w, const struct dp_task *t, uint64_t now);
	/* The plan that comes no longer has this task: give back what is held. */
	void (*drop)(struct dp_worker *w, const struct dp_task *t, uint64_t now);
};

/* A read-only look at received frames before the owner takes them; b: of these; now: read after the burst was taken. */
struct dp_tap {
	void (*rx)(void *state, const struct dp_burst *b, struct rte_mbuf *const *m, unsigned n, uint64_t now);
	void *state;
	void (*flush)(void *state); /* the queue was found empty, or the plan ends: what was put off is due; NULL: nothing ever is */
};

/* How the bursts of a queue are moved that do not simply go from or to its ethdev. Both run on its worker and return how many frames they moved: rx
 * those that it put into m, tx those at the head of m that are no longer the caller's. q: the queue's io_q, of who made the pair. Only that of
 * the queue's own direction is called. */
struct dp_io {
	uint16_t (*rx)(void *q, struct rte_mbuf **m, uint16_t n);
	uint16_t (*tx)(void *q, struct rte_mbuf **m, uint16_t n);
};

/* One Rx queue; const part by control before use, cells by its worker. io: by control before use, and later by a task of its worker that takes over
 * a plan or is dropped. */
struct dp_rxq {
	uint16_t port, dev, queue;
	const struct dp_io *io;    /* NULL: the ethdev's functions */
	void *io_q;
	WR_ALIGNED(CACHE_LINE) struct cnt_rx cnt;
	WR_ALIGNED(CACHE_LINE) struct cnt_sizes sizes;
	struct dp_times times;     /* taking a burst and handing it to its owner */
} WR_ALIGNED(CACHE_LINE);

/* What a device may have changed in a buffer of ours when it is free again, beside what DPDK puts right when it frees one.
 * NOTHING: all is as it was.
 * SHAPE: data_off, lengths, segments: what the mbuf's first line tells of each buffer. Headers only where checksums are left to the device.
 * ALL: any byte, and a buffer that it copied a frame into carries that frame's mark. Frames that it refuses are not as they were either, and the
 * array that it was offered may hold other buffers than before. */
enum dp_edits { DP_EDITS_NOTHING, DP_EDITS_SHAPE, DP_EDITS_ALL };

/* A task's share of a Tx queue: the pool that it sends from, its unsent tail and its counters. Tasks that share a queue of a device have one each,
 * on the same worker; bursts of several tasks follow each other in any order, those of one task in theirs. io is set as that of an Rx queue is, for
 * all of them at once. */
struct dp_txq {
	uint16_t port, dev, queue;
	uint8_t edits;           /* enum dp_edits, of its device */
	bool foreign;            /* buffers of other pools are sent too: those that are given up go back one by one */
	const struct dp_io *io;  /* NULL: the ethdev's functions */
	void *io_q;
	struct rte_mempool *pool;
	uint32_t pool_size;
	/* worker */
	WR_ALIGNED(CACHE_LINE) struct cnt_tx cnt;
	WR_ALIGNED(CACHE_LINE) uint32_t tag; /* of what clean buffers hold; 0: every burst is looked at */
	uint32_t mark;           /* that they carry for it; no number comes twice, so each buffer is filled once */
	struct rte_mempool_cache *cache; /* this worker's, of pool */
	uint32_t stale;          /* buffers not known to hold it; 0: no check needed */
	bool written;            /* every burst is looked at, and stale is not exact: somebody may write into frames */
	bool again;              /* the newest burst was refused at least in part, and is built anew (DP_EDITS_ALL) */
	uint32_t swept;          /* buffers taken through the pool's back end since the last cache flush */
	uint16_t head, n;        /* m[head..n) is the unsent tail */
	cell_t first_tsc;        /* when the device accepted the first frame of the run; 0: none yet */
	cell_t last_tsc;         /* when the device last accepted a frame */
	cell_t retries;          /* offers of a tail that was not taken whole: how control sees a device that takes nothing */
	/* Cycles from its deadline to the turn in which it went, of the first frame of each burst: none waited longer. NULL: nobody asks. Control's
	 * memory, the worker's to write. */
	struct hist *lateness;
	WR_ALIGNED(CACHE_LINE) struct rte_mbuf *m[DP_BURST_MAX];
} WR_ALIGNED(CACHE_LINE);

struct dp_task {
	const struct dp_kind *kind;
	struct dp_state *state;
	const void *job; /* the kind's own immutable part, inside the plan's memory */
};

/* Which of m[0..n) a task wants: sets owner[i] = mine of those where it is 0, and leaves the others as they are. Once per burst, on the worker; b: of
 * these. It reads frames and keeps nothing. */
typedef void dp_sort_fn(const void *arg, const struct dp_burst *b, struct rte_mbuf *const *m, unsigned n, uint8_t *owner, uint8_t mine);

struct dp_sort {
	dp_sort_fn *fn;
	const void *arg;
	uint16_t task; /* who owns what it claims: index into task[] */
};

#define DP_MAX_TAPS 4
#define DP_MAX_SORTS 4
struct dp_rx_slot {
	struct dp_rxq *q;
	uint16_t burst, owner; /* owner: index into task[], of what no sort claims */
	union {
		struct { uint8_t ntaps, nsorts; };
		uint16_t asks; /* 0: nobody asks anything of its frames, the owner gets them as they come */
	};
	struct dp_tap tap[DP_MAX_TAPS];
	struct dp_sort sort[DP_MAX_SORTS]; /* who comes first claims first */
};

/* Everything one worker needs for its job. Control's memory, with that of jobs; freed when a later plan was acknowledged. */
struct dp_plan {
	uint64_t seq;
	bool quit;               /* leave the loop */
	bool may_sleep;          /* idle: sleep after idle_cycles without work */
	uint64_t idle_cycles;
	uint64_t stall_cycles;   /* a turn that takes longer is a stall; 0: none is */
	uint16_t ntasks, nrx;
	struct dp_task *task;
	struct dp_rx_slot *rx;
};

struct dp_worker_cells { /* written by the worker, one line */
	cell_t acked;            /* seq of the oldest plan that it still uses */
	cell_t barren;           /* turns that moved nothing: each looked at all its Rx queues and found them empty */
	cell_t loops, busy_tsc, sleeps, yields, events_lost, asleep; /* loops, busy_tsc: every DP_PUBLISH_TURNS */
} WR_ALIGNED(CACHE_LINE);

/* Turns that took longer than the plan says: the worker had no CPU, or a call of a driver was slow. Time asleep is none of a turn. Count and
 * cycles only grow; the longest one is kept since each mark of control's, which the worker looks at when a turn was too long. */
enum dp_mark { DP_MARK_CLEAR, DP_MARK_TRIAL, DP_MARKS };
struct dp_stalls {
	cell_t count, cycles;
	cell_t longest[DP_MARKS], seen[DP_MARKS]; /* cycles; number of the mark that it is of */
	cell_t asked[DP_MARKS];  /* number of the newest mark; control's */
};

/* Any thread: the longest since the newest mark, in cycles; 0: there was none. */
static inline uint64_t dp_stall_longest(const struct dp_stalls *s, enum dp_mark m)
{
	if (__atomic_load_n(&s->seen[m], __ATOMIC_ACQUIRE) != cell_get(&s->asked[m]))
		return 0;
	return cell_get(&s->longest[m]);
}

/* Turns between looks at what need not be exact to the turn (loops, busy time). */
#define DP_PUBLISH_TURNS 64

struct dp_worker {
	unsigned lcore;
	struct mbox mbox;
	bool has_news;           /* worker: events were posted since wake_fd was last written to */
	bool shares_cpu;         /* another thread of the process may need this CPU: yield when there is nothing to do */
	struct dp_wheel *wheel;  /* control's memory, there before the first plan that has its task; NULL: no plan had it yet */
	const int *wake_fd;      /* eventfd of who takes the events, set before the worker runs; NULL: he looks by himself */
	struct dp_worker_cells cells;
	struct dp_stalls stalls;
	/* worker's own */
	WR_ALIGNED(CACHE_LINE) const struct dp_plan *plan;
	uint32_t barren;         /* turns without progress */
	uint32_t turns;
	uint64_t progress_tsc, turn_tsc;
	uint64_t busy_tsc;       /* not yet published */
} WR_ALIGNED(CACHE_LINE);

enum dp_event { DP_EV_RUN_DONE = 1 };

/* The worker's main loop, for rte_eal_remote_launch(); arg: struct dp_worker. Returns when a plan says quit. */
int dp_worker_main(void *arg);
/* One turn of the loop, or so many; false: the plan said quit. */
bool dp_turn(struct dp_worker *w);
bool dp_turns(struct dp_worker *w, unsigned turns);
/* idle.c: what to do after a turn that moved nothing. */
void dp_idle(struct dp_worker *w, uint64_t now);
/* Worker: to control, which is woken in the next turn that moves nothing. One that finds no room is counted as lost. */
void dp_event_post(struct dp_worker *w, uint16_t kind, uint16_t port, uint16_t queue, uint64_t value);

/* Out of line: with the call inside, bursts of one frame took 5 % longer where there is no pair, without it 1 %. */
static __rte_noinline __rte_cold uint16_t dp_io_rx(const struct dp_rxq *q, struct rte_mbuf **m, uint16_t n)
{
	return q->io->rx(q->io_q, m, n);
}

static __rte_noinline __rte_cold uint16_t dp_io_tx(const struct dp_txq *q, struct rte_mbuf **m, uint16_t n)
{
	return q->io->tx(q->io_q, m, n);
}

static __rte_always_inline uint16_t dp_rx_burst(const struct dp_rxq *q, struct rte_mbuf **m, uint16_t n)
{
	if (unlikely(q->io != NULL))
		return dp_io_rx(q, m, n);
	return rte_eth_rx_burst(q->dev, q->queue, m, n);
}

static __rte_always_inline uint16_t dp_tx_burst(const struct dp_txq *q, struct rte_mbuf **m, uint16_t n)
{
	if (unlikely(q->io != NULL))
		return dp_io_tx(q, m, n);
	return rte_eth_tx_burst(q->dev, q->queue, m, n);
}

/* What a frame is addressed to, in bits of packet_type that DPDK has no use for. A sender in this process says it where
 * it is the same for all that a buffer will hold: the receiver's core then need not fetch the line that the sender's
 * core has just written. */
#define DP_DST_SHIFT 28
#define DP_DST_KNOWN (1u << DP_DST_SHIFT)
#define DP_DST_GROUP (2u << DP_DST_SHIFT)
#define DP_DST_BROADCAST (4u << DP_DST_SHIFT)
#define DP_DST_ALL (DP_DST_KNOWN | DP_DST_GROUP | DP_DST_BROADCAST)
_Static_assert((DP_DST_ALL & RTE_PTYPE_ALL_MASK) == 0, "bits of packet_type");

/* A frame that this worker did not build was written to: its buffer must be filled anew before its owner sends it. */
static inline void frame_touch(struct rte_mbuf *m)
{
	m->hash.usr = 0;
	m->packet_type = 0;
}

/* What n > 0 received frames have in common; the worker looks, once for all who want to know. */
struct dp_burst {
	uint32_t len;   /* of each of them without FCS, 0: they differ */
	uint32_t dst;   /* DP_DST_* of all of them, 0: not known */
	bool group;     /* dst not known: some may be for a group address; false: none is */
	bool plain;     /* all single, unshared and of one pool: they can go back by a raw put */
	bool alike;     /* data_off, data_len and ol_flags of all are those of the first */
};

/* Looks at n > 0 frames that have just come. dp_look: the fastest that this CPU runs, decided before main(). */
typedef struct dp_burst dp_look_fn(struct rte_mbuf *const *m, unsigned n);
extern dp_look_fn *dp_look;
/* That one is 0, slower ones follow: they say the same. NULL: there are no more. */
dp_look_fn *dp_look_nth(unsigned i);

/* Free n received frames: one raw put where dp_look() said that they are plain, else one by one. */
static inline void dp_free_burst(struct rte_mbuf **m, unsigned n, bool plain)
{
	if (likely(plain))
		rte_mempool_put_bulk(m[0]->pool, (void **)m, n);
	else
		rte_pktmbuf_free_bulk(m, n);
}
