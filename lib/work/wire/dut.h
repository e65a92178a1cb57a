/* SPDX-License-Identifier: BSD-3-Clause */
/* Kind "dut": a device under test in one direction of a wire. It takes the frames that one port
 * sends, loses, delays, duplicates and corrupts them as its job says, and hands them to the
 * receiver's queues.
 *
 * Which frames that happens to is a function of the seed and of the frame's number in its direction
 * alone, and never of when a worker looked. A frame counts as arrived when it was sent (its
 * sender's worker stamps it, see kind "reroute"), and service and delay are counted from there.
 * Only the moment at which it is handed over depends on the clock: the first poll at or after the
 * time at which it is due.
 *
 * A frame that arrives is dropped for the first of these reasons that holds: the link is down or
 * the direction has failed; the frame is too long; it is to be lost; there is no room in the queue
 * in front of the limit (tail drop); there is no room in the device. Otherwise it waits for service
 * and delay. A frame that is to be reordered is held, and handed over behind the next `reorder_by`
 * frames of its Tx queue, however slowly they come. While the receiver's ring is full, frames stay
 * inside, and nothing is taken from the sender. */
#pragma once
#include "dp.h"

#define DUT_QUEUES 16
#define DUT_CELL 64    /* bytes of a cell; a frame takes a whole number of cells */
#define DUT_STEPS 1024 /* steps of a law, and of each of its ends */
#define DUT_HELD 256   /* frames held for others to overtake; more go in order */
#define DUT_TAKE 32    /* frames taken from a ring at once */
#define DUT_QUEUE_MAX (1u << 20)
__extension__ typedef unsigned __int128 dut_time; /* cycles << 32 */

/* The stamp in the buffer of each frame that is sent to a device: when the frame was sent, and on
 * which Tx queue. */
struct dut_stamp {
	uint64_t tsc;
	uint32_t txq;
};

/* Says which frames something happens to: every `every`th one, or those whose random number is
 * below `below`. Both 0: none. */
struct dut_hits {
	uint64_t below, every;
};

/* A law of delays in cycles, by probability: a share of i / DUT_STEPS of all frames has a delay of
 * mid[i] or less. low[] and high[] divide the first and the last step of mid[] into as many steps
 * again. */
struct dut_law {
	uint64_t mid[DUT_STEPS + 1], low[DUT_STEPS + 1], high[DUT_STEPS + 1];
};

/* What a device consists of. It is control's memory, and stays the same as long as the task is
 * there. */
struct dut_line {
	uint16_t nrings;
	struct rte_ring *in[DUT_QUEUES], *out[DUT_QUEUES]; /* from the sender; to the receiver */
	struct rte_mempool *pool; /* buffers that are handed over; only this task takes some */
	int stamp_at;             /* offset of the stamp in an mbuf */
	uint32_t max_len;         /* bytes that a buffer of the pool holds */
	void *cells;              /* dut_cells() cells of DUT_CELL bytes, for frames inside */
	uint32_t ncells;          /* how many of them are in the ring: see dut_store.h */
	struct dut_late *late;    /* the heap of dut_store.h; [ncells / 2 + 1] */
	uint64_t *service;        /* [DUT_QUEUE_MAX]: when frames in the queue are served */
};

/* How many cells a line must have: ncells in its ring, and places for DUT_HELD frames of max_len
 * bytes. */
uint32_t dut_cells(const struct dut_line *);

struct dut_job {
	const struct dut_line *line;
	uint64_t seed;
	bool fail, link_down;
	/* In cycles: the link flaps from flap_tsc on, and is down in the last flap_down of each
	 * period. flap_period 0: it does not flap. */
	uint64_t flap_tsc, flap_period, flap_down;
	uint32_t max_len; /* bytes behind Ethernet header and VLAN tags; 0: any */
	struct dut_hits loss, duplicate, reorder, corrupt;
	uint32_t loss_burst; /* frames lost together, at least 1 */
	uint32_t reorder_by; /* frames that overtake a reordered one, at least 1 */
	int32_t corrupt_at;  /* byte with the wrong bit; -1: any behind Ethernet's header */
	bool limited;        /* frames are served at a rate; the next four say how */
	dut_time unit_time;  /* service time of a frame or, if by_bytes, of a byte of it */
	bool by_bytes;
	uint32_t more_bytes;       /* beside the data of a frame: 24 at a rate of l1, 4 of l2 */
	uint32_t queue;            /* the most frames that have not been served yet */
	uint64_t delay, spread;    /* in cycles: the delay is delay + uniform 0 .. spread */
	const struct dut_law *law; /* says the delay instead of these two; NULL: it does not */
	bool in_order;             /* delays do not let frames overtake each other */
	uint32_t room;             /* cells of the ring that frames may take */
	bool sender_idle;          /* no more frames will come, so held frames are let go */
};

/* Counts of frames. The sum closes: in + duplicated == out + lost + queue_drops + too_long + failed
 * + overflow + flushed + waiting. */
struct dut_counts {
	uint64_t in, out;
	/* The reasons of drops in the text above; failed: the link was down or the direction had
	 * failed. */
	uint64_t lost, queue_drops, too_long, failed;
	uint64_t overflow; /* frames, or copies, that found no room in the device */
	uint64_t flushed;  /* frames that were inside when the device was closed */
	uint64_t duplicated, reordered, corrupted;
	uint64_t waiting, held; /* inside now; those of them that others shall overtake */
	/* Frames that were taken from rings and do not count as `in` yet: frames of other rings may
	 * have been sent before them. */
	uint64_t taken;
	uint64_t most_waiting, most_cells;
};
#define DUT_NCOUNTS (sizeof(struct dut_counts) / sizeof(uint64_t))

/* A frame in the heap of those that are not due in the order of their arrival; `at` is its
 * place. */
struct dut_late {
	uint64_t due, seq;
	uint32_t at;
};
/* A held frame at place `at`, which `left` frames have still to overtake. */
struct dut_held {
	uint32_t at, left;
};
/* Frames taken from a ring, of which m[at..n) have not arrived in the device yet. */
struct dut_taken {
	struct rte_mbuf *m[DUT_TAKE];
	unsigned at, n;
};

struct dut_state {
	struct dp_state base;
	/* control reads these with dut_read() */
	WR_ALIGNED(CACHE_LINE) cell_t epoch; /* odd: the worker is writing shown[] */
	cell_t shown[DUT_NCOUNTS];
	/* these are the worker's own */
	WR_ALIGNED(CACHE_LINE) struct dut_counts now;
	uint64_t number; /* of the next frame */
	/* When the newest frame arrived; the seq of the next frame in dut_store.h; when the newest
	 * frame that was stored is due. */
	uint64_t arrival, seq, last_due;
	dut_time busy; /* until then the server is busy */
	/* How many frames the queue has let in (asked), and how many of those have been served. The
	 * service times of the others lie in line->service. */
	uint64_t served, asked;
	uint32_t loss_left; /* so many more frames are lost in this burst of loss */
	/* The ring of cells: the oldest frame, the first free cell, the newest frame, and how many
	 * frames there are. */
	uint32_t head, tail, last, nparked;
	bool wrapped;  /* the newest frame lies below the oldest */
	uint32_t used; /* cells of the ring that are in use */
	/* The list of frames that are due in the order of arrival: its first, its last, how
	 * many it has, and when the last one is due. */
	uint32_t fifo, fifo_last, nfifo;
	uint64_t fifo_due;
	uint32_t nlate, nheld, nstock; /* frames in the heap and in held[]; buffers in stock[] */
	struct dut_held held[DUT_HELD];
	/* Places for held frames: those that were given back, how many these are, and how many
	 * places were ever taken. */
	uint32_t held_free[DUT_HELD], held_back, held_made;
	/* Of each Tx queue: number + 1 of the newest frame that was handed over. */
	uint64_t newest[DUT_QUEUES];
	bool blocked;                       /* a frame is due and cannot be handed over */
	struct rte_mbuf *stock[64];         /* free buffers of the pool */
	struct dut_taken taken[DUT_QUEUES]; /* by ring */
};

/* Reads all counters as they were at one moment. Returns false if the worker is just writing them:
 * then the caller asks again. Any thread. */
bool dut_read(const struct dut_state *s, struct dut_counts *out);

/* ---- kind "reroute" ----
 * For as long as its task is there, an Rx queue is read from a ring of the device instead of its
 * ethdev, or the bursts of a Tx queue are stamped, each time that they are offered, before they go
 * to the ethdev. */
struct dut_sender {
	uint16_t dev, queue;
	int stamp_at;
};

struct reroute_job {
	void *q;            /* a ring, or a dut_sender; it stays where it is */
	struct dp_rxq *rxq; /* NULL: this is about a Tx queue */
	unsigned nshares;   /* of the Tx queue: all of its shares; 0 for an Rx queue */
	struct dp_txq *share[];
};

extern const struct dp_kind dp_kind_dut, dp_kind_reroute;
