/* SPDX-License-Identifier: BSD-3-Clause */
/* Standard output of --json-stream: what is printed waits here for its reader, so that control never does. Nothing of it is lost while
 * somebody holds the other end; who prints asks how much waits and leaves out what can be left out. Control thread. */
#pragma once
#include "loop.h"

struct spool;

/* fd is borrowed. A file is written at once: nobody reads it at his own speed. */
struct spool *spool_open(struct loop *, int fd);
void spool_close(struct spool *); /* NULL: nothing */
/* 0 or -errno: of this or of an earlier write; -EPIPE: the reader is gone. */
int spool_add(struct spool *, const char *text);
size_t spool_waiting(const struct spool *); /* bytes that nobody has taken yet; NULL: 0 */
int spool_error(const struct spool *);      /* -errno of a write, also of one in the background; NULL: 0 */
/* Turns of the loop until everything is taken, a write failed or stop() is true, which is asked at least each 100 ms; after a second stderr
 * says what is waited for. NULL: nothing. */
void spool_drain(struct spool *, bool (*stop)(void *arg, uint64_t idle_ns), void *arg);
