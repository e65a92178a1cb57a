/* SPDX-License-Identifier: BSD-3-Clause */
/* Standard output of --json-stream. Text waits here until its reader takes it, so that control
 * never waits for the reader. Nothing is lost as long as somebody holds the other end. Callers ask
 * how much is waiting, and print less when it is too much. Control thread. */
#pragma once
#include "loop.h"

struct spool;

/* fd is borrowed. A regular file is written at once, because no reader can delay that. */
struct spool *spool_open(struct loop *, int fd);
void spool_close(struct spool *); /* NULL: does nothing */
/* Returns 0, or the -errno of this or an earlier write; -EPIPE: the reader is gone. */
int spool_add(struct spool *, const char *text);
size_t spool_waiting(const struct spool *); /* bytes that nobody has taken yet; NULL: 0 */
/* 0, or -errno of the first write that failed; NULL: 0 */
int spool_error(const struct spool *);
/* Turns the loop until everything is taken, a write has failed or stop() returns true. stop() is
 * called at least every 100 ms and learns how long the reader has taken nothing. After a second of
 * that, stderr says what the program waits for. NULL: does nothing. */
void spool_drain(struct spool *, bool (*stop)(void *arg, uint64_t idle_ns), void *arg);
/* Opens an output anew without blocking. O_NONBLOCK cannot be set on fd itself, because it would
 * hold for every process that shares the open file, and these may write into it too. Returns -1 if
 * that is not possible. */
int spool_reopen(int fd);
