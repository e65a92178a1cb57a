/* SPDX-License-Identifier: BSD-3-Clause */
/* The one thread of the program that writes files of frames, so that neither workers nor control
 * wait for a disk or for the reader of a pipe. It takes turns: whoever has something to write is
 * asked again and again, and says whether it had something to do. There is one for all works; it
 * starts when it is first needed. The functions here are for control, except where they say
 * otherwise. */
#pragma once
#include "base.h"

struct ctl;
struct writer;

enum writer_turn {
	WRITER_IDLE,  /* there was nothing to do */
	WRITER_MOVED, /* there was, and there may be more */
	WRITER_DONE,  /* it is over: turn() is not called again, and the client is control's */
};
/* Who writes: turn() runs on the thread. */
struct writer_client {
	enum writer_turn (*turn)(struct writer_client *);
	struct writer_client *next; /* the thread's own */
	bool over;                  /* written with release order when turn() said DONE */
};

/* The thread, which is started if it does not run. Control is woken when a client is over or
 * writer_tell() was called. NULL with *e. */
struct writer *ctl_writer(struct ctl *c, struct err *e);
/* Hands a client over to the thread, until it is over. */
void writer_add(struct writer *, struct writer_client *);
/* Any thread: is the client over? Then it is control's again. */
bool writer_over(const struct writer_client *);
/* Wakes the thread, so that a client is asked now. */
void writer_kick(struct writer *);
/* On the thread: wakes control. */
void writer_tell(const struct writer *);
/* For ctl.c: ends the thread, if there is one, once all clients are over. false: it does not end,
 * as it hangs in the kernel. Then it, and all that its clients use, must stay as it is. */
bool writer_end(struct ctl *c);
