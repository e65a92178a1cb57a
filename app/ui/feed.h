/* SPDX-License-Identifier: BSD-3-Clause */
/* A feed reads commands from a file descriptor as they arrive: piped input, and what is typed at a
 * terminal on which no line can be edited. Control thread. */
#pragma once
#include "loop.h"
#include "sess.h"

struct feed;

/* name: what errors call the input, as in "stdin:12"; NULL: errors do not name a line. fd stays the
 * caller's: it is not closed, and whether it blocks is not changed. */
struct feed *feed_new(struct loop *loop, struct sess *sess, int fd, const char *name);
void feed_free(struct feed *);
/* To be called before each turn of the loop. Input is read only while the session has nothing to do
 * or asks for a line, so that a long input is not kept in memory. */
void feed_turn(struct feed *);
/* While `on` is set, nothing is read. */
void feed_hold(struct feed *, bool on);
/* True when the input has ended and all of it was handed to the session. */
bool feed_ended(const struct feed *);
/* Forgets a command that has begun and not ended (Ctrl-C). */
void feed_drop(struct feed *);
/* Returns how many newlines were read so far. */
unsigned long feed_lines(const struct feed *);
