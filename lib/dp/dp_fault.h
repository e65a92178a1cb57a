/* SPDX-License-Identifier: BSD-3-Clause */
/* Faults of frames: what somebody who can tell which frame is which (today the receivers of probes)
 * tells somebody who keeps frames. Neither knows the other: control gives the one a watcher, and
 * the other is the watcher. A watcher belongs to one Rx queue, and is called on its worker while
 * the frames of a burst are looked at, at most once for each fault. */
#pragma once
#include "dpdk.h"

/* LOSS: numbers before that of this frame have not come. They may still come: each of those is then
 * told as REORDER, when it comes. DUPLICATE: the number has come before. REORDER: higher numbers
 * came before it. CORRUPT: the frame has a wrong checksum, contradicts itself, or its own number
 * cannot be read. LATENCY: it took longer than the watcher allows. */
enum dp_fault_kind {
	DP_FAULT_LOSS,
	DP_FAULT_DUPLICATE,
	DP_FAULT_REORDER,
	DP_FAULT_CORRUPT,
	DP_FAULT_LATENCY,
	DP_FAULTS
};
#define DP_FAULT_BIT(kind) (1u << DP_FAULT_##kind)

/* A flow is what one (port, stream, Tx queue) of this process sends: its frames are numbered
 * without holes. Times are in cycles. */
struct dp_fault {
	enum dp_fault_kind kind;
	bool known; /* the frame's flow and number; false: corrupted so much that nobody knows */
	uint8_t port, txq;
	uint16_t stream; /* its cell */
	uint32_t seq;    /* of this frame */
	/* LOSS: so many numbers before seq have not come. */
	uint32_t missing;
	/* The next number that would have been in order, before this frame came. */
	uint32_t expected;
	/* Of this flow, on this queue: how many numbers there were from the first one that came to
	 * the highest, and how many of them have come. */
	uint64_t numbers, came;
	uint64_t now;     /* when this frame came */
	uint64_t since;   /* how long before it the one before came; 0: none came */
	uint64_t transit; /* LATENCY: how long it took */
	const struct rte_mbuf *m;
};

struct dp_watcher {
	uint32_t kinds;          /* of which he wants to be told: DP_FAULT_BIT() */
	uint64_t latency_cycles; /* with LATENCY: of frames that took longer */
	void (*fault)(void *state, const struct dp_fault *);
	void *state;
};
