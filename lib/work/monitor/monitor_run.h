/* SPDX-License-Identifier: BSD-3-Clause */
/* The workers' half of the monitor: copies of frames for people to look at. A source copies some of
 * the frames of one queue and direction into a ring, at a limited rate, and counts all of them. A
 * keeper holds the newest frame that a queue has received. Workers have them only while somebody
 * asked. */
#pragma once
#include "dp.h"
#include "filter_match.h"

#define MONITOR_SNAP 256       /* bytes of a frame that a source copies */
#define MONITOR_KEEP_MAX 16380 /* bytes of a frame that a keeper copies */

/* What is known of a frame. A tag that the device has taken out of the frame is beside it. */
struct monitor_frame {
	uint64_t tsc;    /* when it was seen */
	uint64_t number; /* of a source: how many frames it has let through, with this one */
	uint32_t len;    /* of the frame without FCS, and without tags that were taken out */
	uint32_t have;   /* how many bytes of it were copied */
	uint16_t tci, tci_outer;
	uint8_t ntags; /* that were taken out: 0 to 2 */
};

/* At most `quota` frames in `interval` cycles. An interval begins with the first frame behind the
 * end of the one before. */
struct monitor_limit {
	uint64_t interval;
	uint32_t quota, used; /* used 0: none has begun */
	uint64_t begin_tsc;
};

/* How many frames may pass at this time. */
static inline uint32_t monitor_limit_left(struct monitor_limit *l, uint64_t now)
{
	if (l->used > 0 && (int64_t)(now - l->begin_tsc) >= (int64_t)l->interval)
		l->used = 0;
	return l->quota - l->used;
}

/* n > 0 of them pass. */
static inline void monitor_limit_take(struct monitor_limit *l, uint64_t now, uint32_t n)
{
	if (l->used == 0)
		l->begin_tsc = now;
	l->used += n;
}

struct monitor_slot {
	struct monitor_frame is;
	uint8_t bytes[MONITOR_SNAP];
};

/* A worker writes it, and control reads it. */
struct monitor_source {
	/* Control sets these before a worker has the source. */
	uint64_t end_tsc; /* frames from here on are not looked at; UINT64_MAX: no such time */
	uint32_t nslots;  /* a power of two */
	struct monitor_slot *slot;
	const struct filter_exec *filter; /* NULL: all frames are let through */
	uint16_t port, queue;
	bool tx;
	struct dp_tx_tap tap; /* tx: in the shares of its queue */

	/* The worker alone uses these. What follows limit is of the burst that is not settled yet:
	 * its time, how many frames it has, how many of them the limit lets be copied, and how many
	 * were, which are the first ones that were let through. */
	WR_ALIGNED(CACHE_LINE) struct monitor_limit limit;
	uint64_t now;
	unsigned offered, may, stored;
	bool all;                          /* it was let through as a whole */
	uint64_t match[DP_BURST_MAX / 64]; /* else: a bit for each frame that was */

	/* Cells of the worker: frames that were let through, and those of them that the limit let
	 * be copied and that found no room, because control had not read the ring. */
	WR_ALIGNED(CACHE_LINE) cell_t matched;
	cell_t full;
	uint32_t put; /* slots that were filled so far; written with release order */
	WR_ALIGNED(CACHE_LINE) uint32_t got; /* slots that control has read */
} WR_ALIGNED(CACHE_LINE);

struct monitor_kept {
	struct monitor_frame is;
	uint8_t bytes[MONITOR_KEEP_MAX];
};

/* Three places for a frame: the worker writes into one, control reads another one, and the third
 * lies between them. Either exchanges its own for that one. */
struct monitor_keeper {
	struct monitor_kept *place;             /* [3] */
	uint32_t back, front;                   /* of the worker, of control */
	WR_ALIGNED(CACHE_LINE) uint32_t middle; /* | MONITOR_NEW: control has not seen it */
};
#define MONITOR_NEW 4u

/* What looks at a received burst; a tap's state, in the memory of a plan. */
struct monitor_look {
	struct monitor_source *source; /* NULL: nobody monitors */
	struct monitor_keeper *keeper; /* NULL: nobody asked for the last frame */
};

/* A tap (struct dp_tap) whose state is a struct monitor_look. */
void monitor_rx(void *look, const struct dp_burst *b, struct rte_mbuf *const *m, unsigned n,
		uint64_t now);
/* A tap of Tx queues (struct dp_tx_tap) whose state is a source. */
void monitor_offered(void *source, struct rte_mbuf *const *m, unsigned n);
void monitor_taken(void *source, unsigned n);

/* The two steps of either: a burst is looked at, and then the first n of its frames count. */
void monitor_see(struct monitor_source *s, struct rte_mbuf *const *m, unsigned n, uint64_t now);
void monitor_settle(struct monitor_source *s, unsigned n);
void monitor_keep(struct monitor_keeper *k, const struct rte_mbuf *m, uint64_t now);

/* Control: the oldest frame of the ring that it has not read, until monitor_read(). NULL: none. */
const struct monitor_slot *monitor_next(const struct monitor_source *s);
void monitor_read(struct monitor_source *s);
/* Control: the newest frame, until the next call. NULL: none has come. */
const struct monitor_kept *monitor_newest(struct monitor_keeper *k);

/* The task of a worker that sends on queues which are monitored: it puts the taps there. */
struct monitor_state {
	struct dp_state base;
};

struct monitor_job {
	unsigned nsources;
	struct monitor_job_source {
		struct monitor_source *source;
		unsigned nshares;
		struct dp_txq *const *share;
	} source[];
};

extern const struct dp_kind dp_kind_monitor;
