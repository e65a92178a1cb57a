/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands read from a file descriptor as they arrive: piped input, and a terminal that cannot be edited on. */
#pragma once
#include "loop.h"
#include "sess.h"

struct feed;

/* name: what errors call the input ("stdin"), NULL: lines are not counted. fd stays open, and as blocking as it is. */
struct feed *feed_new(struct loop *loop, struct sess *sess, int fd, const char *name);
void feed_free(struct feed *);
/* Before each turn of the loop: reads on while the session has nothing to do, so that a long input is not kept in
 * memory. */
void feed_turn(struct feed *);
/* Nothing is read for now, whatever comes. */
void feed_hold(struct feed *, bool on);
/* The input has ended and all of it was handed to the session. */
bool feed_ended(const struct feed *);
/* Forget a command that was begun (Ctrl-C). */
void feed_drop(struct feed *);
/* Newlines read so far. */
unsigned long feed_lines(const struct feed *);
