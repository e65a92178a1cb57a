/* SPDX-License-Identifier: BSD-3-Clause */
/* Message rings between control and one worker: pointers downwards, fixed-size events upwards. Lock-free, one producer and one consumer
 * each way; nobody waits. */
#pragma once
#include "base.h"
#include "dpdk.h"

struct mbox {
	struct rte_ring *down, *up;
};

struct mbox_event {
	uint16_t kind, port, queue, pad;
	uint64_t value;
};

/* Worker, every turn: whether a message may wait. Two loads; the ring's own words change only when control posts. */
static inline bool mbox_waiting(const struct mbox *mb)
{
	return __atomic_load_n(&mb->down->prod.tail, __ATOMIC_RELAXED) != __atomic_load_n(&mb->down->cons.head, __ATOMIC_RELAXED);
}

/* Control. socket: NUMA node or -1. */
int mbox_open(struct mbox *mb, const char *name, int socket, struct err *e);
void mbox_close(struct mbox *);
/* Control posts msg (not NULL); false: the ring is full, try again next turn. */
bool mbox_post(struct mbox *, void *msg);
bool mbox_event_next(struct mbox *, struct mbox_event *out);
/* Worker: the next message or NULL; never waits. */
void *mbox_take(struct mbox *);
/* Worker: false when the ring is full (the caller counts the loss). */
bool mbox_event(struct mbox *, const struct mbox_event *ev);
