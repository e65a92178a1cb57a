/* SPDX-License-Identifier: BSD-3-Clause */
/* Message rings between control and one worker: pointers downwards, fixed-size events upwards. Lock-free, one producer and one consumer
 * each way; nobody waits. */
#pragma once
#include "base.h"

struct mbox;

struct mbox_event {
	uint16_t kind, port, queue, pad;
	uint64_t value;
};

/* Control. socket: NUMA node or -1. */
int mbox_new(struct mbox **out, const char *name, int socket, struct err *e);
void mbox_free(struct mbox *);
/* Control posts msg (not NULL); false: the ring is full, try again next turn. */
bool mbox_post(struct mbox *, void *msg);
bool mbox_event_next(struct mbox *, struct mbox_event *out);
/* Worker: the next message or NULL; never waits. */
void *mbox_take(struct mbox *);
/* Worker: false when the ring is full (the caller counts the loss). */
bool mbox_event(struct mbox *, const struct mbox_event *ev);
