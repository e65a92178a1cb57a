/* SPDX-License-Identifier: BSD-3-Clause */
/* Kind "dut": a device under test in one direction of a wire. It takes the frames that one port sends, loses, delays, doubles and spoils
 * them as its job says, and hands them to the receiver's queues.
 *
 * What happens to a frame is a function of the seed and of the frame's number in its direction, never of when anybody looked: a frame
 * arrives when it was sent (its sender's worker stamps it, kind "reroute"), and service and delay are counted from there. Only the moment of
 * handing it over depends on the clock: the first poll at or after it is due.
 *
 * Of a frame, in this order: link down or failed; too long; lost; no room in the queue in front of the limit (tail drop); no buffer; then
 * it waits for service and delay. A frame that is reordered is handed over behind the next `by` frames of its Tx queue, however slowly they
 * come. What is inside when the receiver's ring is full stays, and nothing is taken from the sender meanwhile. */
#pragma once
#include "dp.h"

#define DUT_QUEUES 16
#define DUT_CELL 64             /* a frame takes a whole number of such cells */
#define DUT_STEPS 1024          /* of a law, and of each of its ends */
#define DUT_HELD 256            /* frames that wait for others to overtake them; those beyond go in order */
#define DUT_TAKE 32             /* frames taken from a ring at once */
#define DUT_QUEUE_MAX (1u << 20)
__extension__ typedef unsigned __int128 dut_time; /* cycles << 32 */

/* What is written into each frame that is sent to a device. */
struct dut_stamp { uint64_t tsc; uint32_t txq; };

/* Which frames: each `every`th, or where a random number is below `below`. Both 0: none. */
struct dut_hits { uint64_t below, every; };

/* Delays in cycles by probability: the whole range in equal steps of it, and its first and last step in as many steps again. */
struct dut_law { uint64_t mid[DUT_STEPS + 1], low[DUT_STEPS + 1], high[DUT_STEPS + 1]; };

/* What the device owns; control's, the same as long as the task is there. */
struct dut_line {
	uint16_t nrings;
	struct rte_ring *in[DUT_QUEUES], *out[DUT_QUEUES];
	struct rte_mempool *pool;   /* frames that are handed over; only this task takes from it */
	int stamp_at;               /* of the stamp in an mbuf */
	uint32_t max_len;           /* what a buffer of the pool holds */
	void *cells;                /* DUT_CELL bytes each, dut_cells() of them */
	uint32_t ncells;
	struct dut_late *late;      /* ncells / 2 + 1 */
	uint64_t *service;          /* DUT_QUEUE_MAX */
};

/* Cells that a line must have: ncells in its ring, and places for DUT_HELD frames of max_len. */
uint32_t dut_cells(const struct dut_line *);

struct dut_job {
	const struct dut_line *line;
	uint64_t seed;
	bool fail, link_down;
	uint64_t flap_tsc, flap_period, flap_down; /* cycles: of each period the last flap_down is down; period 0: none */
	uint32_t max_len;           /* of what lies behind Ethernet header and VLAN tags; 0: any */
	struct dut_hits loss, duplicate, reorder, corrupt;
	uint32_t loss_burst;        /* frames lost together, at least 1 */
	uint32_t reorder_by;        /* at least 1 */
	int32_t corrupt_at;         /* byte; -1: any behind the Ethernet header */
	bool limited;
	dut_time unit_time;         /* service time of a frame, or of a byte of it */
	bool by_bytes;
	uint32_t more_bytes;        /* that a frame has on the wire beside its data: 24 (l1) or 4 (l2) */
	uint32_t queue;             /* frames that have not been served, at most */
	uint64_t delay, spread;     /* cycles: delay + uniform 0 .. spread */
	const struct dut_law *law;  /* NULL: none; else instead */
	bool in_order;              /* a frame is not handed over before those that came before it */
	uint32_t room;              /* cells that frames may take */
	bool sender_idle;           /* nobody will come: frames that wait for others to overtake them go */
};

/* The sum closes: in + duplicated == out + lost + queue_drops + too_long + failed + overflow + flushed + waiting. */
struct dut_counts {
	uint64_t in, out;
	uint64_t lost, queue_drops, too_long, failed;
	uint64_t overflow;          /* found no room in the device */
	uint64_t flushed;           /* inside when the device was closed */
	uint64_t duplicated, reordered, corrupted;
	uint64_t waiting, held;     /* inside now; of them those that others shall overtake */
	uint64_t taken;             /* from rings and not yet `in`: frames of other rings may have been sent before */
	uint64_t most_waiting, most_cells;
};
#define DUT_NCOUNTS (sizeof(struct dut_counts) / sizeof(uint64_t))

struct dut_late { uint64_t due, seq; uint32_t at; };
struct dut_held { uint32_t at, left; };
struct dut_taken { struct rte_mbuf *m[DUT_TAKE]; unsigned at, n; }; /* from a ring, and m[at..n) have not arrived */

struct dut_state {
	struct dp_state base;
	/* read by control: dut_read() */
	WR_ALIGNED(CACHE_LINE) cell_t epoch;
	cell_t shown[DUT_NCOUNTS];
	/* worker's own */
	WR_ALIGNED(CACHE_LINE) struct dut_counts now;
	uint64_t number;            /* of the next frame */
	uint64_t arrival, seq, last_due;
	dut_time busy;              /* the server is, until then */
	uint64_t served, asked;     /* of all that were let into the queue; service times of those between lie in line->service */
	uint32_t loss_left;
	uint32_t head, tail, last, nslots; /* of the cells: the oldest slot, the first free cell, the newest slot */
	bool wrapped;
	uint32_t used;              /* cells */
	uint32_t fifo, fifo_last, nfifo;
	uint64_t fifo_due;
	uint32_t nlate, nheld, nstock;
	struct dut_held held[DUT_HELD];
	uint32_t held_free[DUT_HELD], held_back, held_made; /* places: those that were given back, and how many were ever taken */
	uint64_t newest[DUT_QUEUES]; /* number + 1 of the newest frame of each Tx queue that was handed over */
	bool blocked;
	struct rte_mbuf *stock[64];
	struct dut_taken taken[DUT_QUEUES];
};

/* All counters of one moment. Any thread; false: the worker is just writing, ask again. */
bool dut_read(const struct dut_state *s, struct dut_counts *out);

/* ---- kind "reroute": for as long as the task is there an Rx queue is read from a ring, or bursts of a Tx queue are stamped, each time that they are
 * offered, before they go to the ethdev ---- */
struct dut_sender { uint16_t dev, queue; int stamp_at; };

struct reroute_job {
	void *q;                    /* the ring, or a dut_sender, which stay where they are */
	struct dp_rxq *rxq;         /* NULL: a Tx queue, */
	unsigned nshares;           /* of which these are all shares */
	struct dp_txq *share[];
};

extern const struct dp_kind dp_kind_dut, dp_kind_reroute;
