/* SPDX-License-Identifier: BSD-3-Clause */
/* Message rings between control and one worker, and from one worker to another. Each has one
 * producer, one consumer and no lock; nobody waits. Of a mailbox `down` carries pointers to the
 * worker, and `up` events of fixed size to control. */
#pragma once
#include "base.h"
#include "dpdk.h"

struct mbox {
	struct rte_ring *down, *up;
};

/* What a worker tells control. The users of the mailbox give its members their meaning. */
struct mbox_event {
	uint16_t kind, port, queue, pad;
	uint64_t value;
};

/* Worker, in every turn: returns whether a message may be waiting. It costs two loads of words that
 * change only when a message is posted or taken, so they stay in the worker's cache. */
static inline bool mbox_waiting(const struct mbox *mb)
{
	return __atomic_load_n(&mb->down->prod.tail, __ATOMIC_RELAXED) !=
	       __atomic_load_n(&mb->down->cons.head, __ATOMIC_RELAXED);
}

/* Control: makes both rings on NUMA node `socket` (-1: any). name: unique in the process; its first
 * 20 characters count. Returns 0 or -ENOMEM with *e. */
int mbox_open(struct mbox *mb, const char *name, int socket, struct err *e);
void mbox_close(struct mbox *);
/* Control: posts msg (not NULL), which stays the caller's. false: the ring is full, try again in
 * the next turn. */
bool mbox_post(struct mbox *, void *msg);
/* Control: takes the oldest event. false: there is none. */
bool mbox_event_next(struct mbox *, struct mbox_event *out);
/* Worker: returns the oldest message, or NULL if there is none. */
void *mbox_take(struct mbox *);
/* Worker: posts a copy of *ev. false: the ring is full, and the caller counts the loss. */
bool mbox_event(struct mbox *, const struct mbox_event *ev);

/* ---- from one worker to another ---- */

/* Control: makes a ring of pointers with room for `slots` of them, a power of two, on NUMA node
 * `socket` (-1: any). What each end writes has cache lines of its own. NULL: no memory. The free
 * function takes NULL, too, and leaves alone what is in the ring. */
struct rte_ring *mbox_pass_new(unsigned slots, int socket);
void mbox_pass_free(struct rte_ring *r);
/* The worker that gives: puts n pointers into the ring, or as many of the first ones as there is
 * room for. Returns how many. */
unsigned mbox_pass_put(struct rte_ring *r, void *const *p, unsigned n);
/* The worker that takes: how many there are at least. What it reads of the other one behind this is
 * as it was when the last of them was put, or newer. */
unsigned mbox_pass_count(const struct rte_ring *r);
/* The worker that takes: up to n of the oldest pointers. Returns how many. */
unsigned mbox_pass_take(struct rte_ring *r, void **p, unsigned n);
