/* SPDX-License-Identifier: BSD-3-Clause */
/* Exchanges JSON lines with a server, for remote.c. Sending never waits, and lines that have
 * arrived are kept in a queue. For the control thread. */
#pragma once
#include <jansson.h>
#include "base.h"
#include "loop.h"

struct peer;

/* Connects to a server, which takes some seconds at most; the loop watches the connection from then
 * on. NULL with *e. path is that of a Unix socket, NULL: TCP to host and port. name is the
 * server's, for messages. */
struct peer *peer_open(const char *path, const char *host, const char *port, const char *name,
		       struct loop *loop, struct err *e);
void peer_close(struct peer *);
/* Sends an object and takes over its reference. Nothing is sent if the server is gone. */
void peer_send(struct peer *, json_t *o);
/* Takes the oldest line that has arrived, a new reference; NULL: none. */
json_t *peer_next(struct peer *);
/* Waits for a line for which `has` returns true, and takes it out of the queue: a new reference.
 * NULL: max_ms have passed, or the server is gone. */
json_t *peer_wait(struct peer *, int max_ms, bool (*has)(void *arg, const json_t *line), void *arg);
/* Says why the connection has ended; NULL: it has not. */
const char *peer_lost(const struct peer *);
