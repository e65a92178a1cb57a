/* SPDX-License-Identifier: BSD-3-Clause */
/* The workers' half of the work host. A worker that serves queues of the port has one task: it
 * claims the frames that are for the host, answers them, and tells control what they said. Frames
 * that the host sends of its own accord come from control. */
#pragma once
#include "dp.h"
#include "neigh_run.h"

#define HOST_HEARD 256 /* what frames have said, until control has read it */
#define HOST_SENT 64   /* frames of control until they are sent */
#define HOST_PASSED 512
#define HOST_HELD 16    /* answers that wait for more, so that the device gets them in one call */
#define HOST_WAITING 64 /* most answers that wait while the device is behind */
#define HOST_HOLD_NS 2000

/* One writer and one reader, who each write one of the numbers. Elements lie at the number modulo
 * the size, which is a power of two. */
struct host_ring {
	WR_ALIGNED(CACHE_LINE) uint32_t put;
	WR_ALIGNED(CACHE_LINE) uint32_t got;
};

/* How many elements the reader can take. */
static inline uint32_t host_ring_has(const struct host_ring *r)
{
	return __atomic_load_n(&r->put, __ATOMIC_ACQUIRE) -
	       __atomic_load_n(&r->got, __ATOMIC_RELAXED);
}

/* Whether the writer can put one more into a ring of this size. */
static inline bool host_ring_room(const struct host_ring *r, uint32_t size)
{
	return __atomic_load_n(&r->put, __ATOMIC_RELAXED) -
		       __atomic_load_n(&r->got, __ATOMIC_ACQUIRE) <
	       size;
}

/* The writer has written the element, the reader has read it. */
static inline void host_ring_step(uint32_t *end)
{
	__atomic_store_n(end, *end + 1, __ATOMIC_RELEASE);
}

struct host_counts {
	cell_t fate[NEIGH_FATES];
	cell_t group;   /* frames in `fate` that came to group addresses */
	cell_t pongs;   /* frames that came back for `ping` and its like */
	cell_t errors;  /* ICMP errors about streams of the port */
	cell_t unasked; /* ICMP errors that quote what the port has not sent */
	cell_t sent;    /* frames of the host's own accord */
	cell_t unheard; /* what frames said while control had too much to read */
	/* Answers and frames of its own accord that were made and not sent: each counts once
	 * here, and where the device took no more, once in the drops of the queue. */
	cell_t dropped;
};

/* Answers that have to leave by another worker, because the one that has received the question
 * sends on no queue of the port. The first one writes, the other one reads. */
struct host_passed {
	struct host_ring ring;
	struct rte_mbuf *m[HOST_PASSED];
};

struct host_state {
	struct dp_state base;
	struct host_counts cnt;
	struct cnt_sizes sizes; /* of the frames that the device accepted */
	uint64_t errors_full;   /* of neigh_rate_may() */
	uint64_t busy_until;    /* until then it looks in every turn for what others pass to it */
	uint64_t look_at;       /* when it looks again for what control and others give */
	uint64_t answered;      /* when it last had an answer */
	uint64_t held_until;    /* when those that it holds are offered; nheld 0: no meaning */
	unsigned nheld;
	struct rte_mbuf *held[HOST_WAITING]; /* of the share's pool */
	struct host_ring heard_ring;
	struct {
		struct neigh_heard what;
		uint32_t link; /* id */
	} heard[HOST_HEARD];
	struct host_ring sent_ring;
	struct {
		uint8_t len, frame[NEIGH_FRAME_MAX];
	} to_send[HOST_SENT];
	struct host_passed passed;
};

struct host_job_link {
	struct neigh_self self;
	uint32_t id; /* by which control knows it */
};

struct host_job {
	unsigned nlinks;
	const struct host_job_link *link;
	struct dp_txq *q; /* the work's share of a Tx queue of this worker; NULL: it has none */
	bool speaks;      /* it sends what control and others give */
	uint32_t first;   /* number of control's first frame that is this host's, in sent_ring */
	uint64_t period;  /* cycles from one look at what they give to the next */
	/* Cycles within which one answer must follow another to be held, and for which it is held
	 * at most: only where questions come so fast are answers offered together, and a single
	 * ping is answered at once. */
	uint64_t hold;
	uint64_t each;    /* cycles in which one more ICMP error may be sent */
	unsigned nothers; /* it sends what these workers have answered */
	struct host_passed **other;
};

extern const struct dp_kind dp_kind_host;
dp_sort_fn host_claims; /* arg: struct host_job */
/* Offers the n frames at the head of the share's array, which are new, or its tail if n is 0. What
 * a device refuses that edits even that is given up. Returns how many were accepted. */
unsigned host_offer(struct host_state *s, struct dp_txq *q, unsigned n, uint64_t now);
