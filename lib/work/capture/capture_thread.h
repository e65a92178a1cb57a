/* SPDX-License-Identifier: BSD-3-Clause */
/* The one thread that writes files of frames, so that neither workers nor control wait for a disk
 * or for the reader of a pipe. It takes turns: whoever has something to write is asked again and
 * again, and says whether it had something to do. The functions here are for control. */
#pragma once
#include "base.h"

struct capture_thread;

enum capture_turn {
	CAPTURE_IDLE,  /* there was nothing to do */
	CAPTURE_MOVED, /* there was, and there may be more */
	CAPTURE_DONE,  /* it is over: turn() is not called again, and the client is control's */
};
/* Who writes: turn() runs on the thread. */
struct capture_client {
	enum capture_turn (*turn)(struct capture_client *);
	struct capture_client *next; /* the thread's own */
	bool over;                   /* written with release order when turn() said DONE */
};

/* Starts the thread, on the CPUs that control may use and with all signals blocked. wake_fd: an
 * eventfd that is written to when a client is over or capture_thread_tell() was called. NULL with
 * *e. */
struct capture_thread *capture_thread_start(const int *wake_fd, struct err *e);
/* Hands a client over to the thread, until it is over. */
void capture_thread_add(struct capture_thread *, struct capture_client *);
/* Any thread: is the client over? Then it is control's again. */
bool capture_client_over(const struct capture_client *);
/* Wakes the thread, so that a client is asked now. */
void capture_thread_kick(struct capture_thread *);
/* On the thread: wakes control. */
void capture_thread_tell(const struct capture_thread *);
/* Ends the thread once all clients are over, and frees it. false: it did not end in max_ns, as it
 * hangs in the kernel. Then it, and all that its clients use, must stay as it is. */
bool capture_thread_end(struct capture_thread *, uint64_t max_ns);
