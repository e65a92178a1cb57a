/* SPDX-License-Identifier: BSD-3-Clause */
/* The workers' half of captures. What a worker sees of a port is taken by sources: one for each
 * queue and direction. A source copies frames, as finished blocks of pcapng, into pieces of memory.
 * Pieces that are full go to the writer by a ring, empty ones come back by another. Where no piece
 * is free, frames are counted and left out; nobody waits. */
#pragma once
#include "dp.h"
#include "dp_clock.h"
#include "filter_match.h"
#include "pcapio_run.h"

/* A piece of memory with Enhanced Packet Blocks of one source, one behind the other. Whoever holds
 * it, a worker or the writer, is alone with it. */
struct capture_piece {
	uint32_t used, frames; /* bytes of whole blocks; their number */
	uint64_t bytes;        /* of the frames before they were cut, with FCS */
	uint64_t first_ns, last_ns;
	WR_ALIGNED(CACHE_LINE) uint8_t data[];
};
/* A copy may write so many bytes behind the block that it belongs to. */
#define CAPTURE_SLACK CACHE_LINE
/* A piece with its header. It has room for any frame that a device gives. */
#define CAPTURE_PIECE_BYTES (128u << 10)
#define CAPTURE_ROOM (CAPTURE_PIECE_BYTES - sizeof(struct capture_piece) - CAPTURE_SLACK)
/* One burst may fill so many of them. */
#define CAPTURE_OPEN_MAX 48
/* A piece that is not full is handed over when its first frame is so old. */
#define CAPTURE_AGE_NS 20000000ull
#define CAPTURE_LOOK_NS 2000000ull

/* What a burst adds to an open piece. */
struct capture_add {
	uint32_t used, frames;
	uint64_t bytes;
};

struct capture_source {
	/* Control sets these before any worker has the source. Stamps are ns + (tsc - tsc_at) *
	 * mult, as in dp_clock.h, so that their differences are those of our cycle counter. */
	uint64_t tsc_at, ns_at, mult;
	uint64_t end_tsc; /* frames from here on are not captured; UINT64_MAX: no such time */
	uint32_t snap;
	uint32_t npieces;
	struct pcapio_epb epb;
	const struct filter_exec *filter; /* NULL: all frames */
	struct rte_ring *full, *empty;
	/* [npieces]; the last one is taken first: the writer gave it back most recently, and it may
	 * still be in a cache. */
	struct capture_piece **spare;
	uint8_t *memory; /* of all pieces */
	uint16_t port, queue;
	bool tx;
	struct dp_tx_tap tap; /* tx: in the shares of its queue */

	/* The worker alone uses these. open[0 .. nopen): pieces in the order in which they are
	 * filled; all but the last one wait for the end of a burst. */
	WR_ALIGNED(CACHE_LINE) unsigned nspare;
	unsigned nopen;
	struct capture_piece *open[CAPTURE_OPEN_MAX];
	struct capture_add add[CAPTURE_OPEN_MAX];
	/* Of the burst that was offered: its time and its frames, those that the filter lets
	 * through, and those that found room. */
	uint64_t burst_ns;
	unsigned offered, accepted_now, stored;
	uint64_t began_ns;                 /* the stamp of the first frame in open[0] */
	uint64_t match[DP_BURST_MAX / 64]; /* with a filter: a bit for each frame of the burst */

	/* Cells of the worker. seen: frames that passed while armed. accepted: those that the
	 * filter let through. no_block: of them, those for which there was no piece. */
	WR_ALIGNED(CACHE_LINE) cell_t seen;
	cell_t accepted, no_block;
	/* All frames with an earlier stamp have been handed over. UINT64_MAX: no worker has the
	 * source. It is written with release order, behind the ring. */
	cell_t horizon_ns;
} WR_ALIGNED(CACHE_LINE);

/* The task of a worker that captures: it hands over pieces that have become old. Frames come by
 * taps. */
struct capture_state {
	struct dp_state base;
};

struct capture_job {
	unsigned nsources;
	uint64_t look_cycles, age_ns;
	struct capture_job_source {
		struct capture_source *source;
		/* The shares of the Tx queue, for sources of sent frames. */
		unsigned nshares;
		struct dp_txq *const *share;
	} source[];
};

extern const struct dp_kind dp_kind_capture;

/* Received frames: a tap (struct dp_tap) whose state is the source. */
void capture_rx(void *source, const struct dp_burst *b, struct rte_mbuf *const *m, unsigned n,
		uint64_t now);
/* Frames that are about to be sent, and then how many of them the device has accepted: the others
 * are forgotten. A tap of Tx queues (struct dp_tx_tap), with the source as its state. */
void capture_offered(void *source, struct rte_mbuf *const *m, unsigned n);
void capture_taken(void *source, unsigned n);
/* Hands over what the source holds. */
void capture_hand_over(struct capture_source *s);
