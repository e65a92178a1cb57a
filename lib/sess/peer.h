/* SPDX-License-Identifier: BSD-3-Clause */
/* JSON lines to and from a server, for remote.c: what is sent never waits, what has come stands in a queue. */
#pragma once
#include <jansson.h>
#include "base.h"
#include "loop.h"

struct peer;

/* Connected; the loop watches it. Waits some seconds at most. NULL with *e. path NULL: TCP. name: for messages. */
struct peer *peer_open(const char *path, const char *host, const char *port, const char *name, struct loop *loop, struct err *e);
void peer_close(struct peer *);
/* Takes the object. */
void peer_send(struct peer *, json_t *o);
/* The oldest line that has come, new reference; NULL: none. */
json_t *peer_next(struct peer *);
/* Wait until `has` says so of a line that has come, which is taken out of the queue: new reference. NULL: max_ms have passed, or the server is
 * gone. */
json_t *peer_wait(struct peer *, int max_ms, bool (*has)(void *arg, const json_t *line), void *arg);
/* Why nothing more will come; NULL: it is there. */
const char *peer_lost(const struct peer *);
