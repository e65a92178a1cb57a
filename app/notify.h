/* SPDX-License-Identifier: BSD-3-Clause */
/* Tells a service manager (systemd) how the program is, by the protocol of sd_notify(3): datagrams
 * to the socket that the environment variable NOTIFY_SOCKET names. Without that variable nothing is
 * told. A struct notify that is NULL is accepted everywhere and does nothing. */
#pragma once
#include "base.h"

struct app;
struct notify;

/* Reads the variables and removes them from the environment, so that no child process speaks for
 * this one. NULL: no service manager listens. */
struct notify *notify_open(void);
void notify_close(struct notify *);
/* Tells that the ports are up and clients are served. forked: the process that the manager started
 * ends, and this one is the service. From now on each start and end of a port is told, and if the
 * manager wants signs of life (its watchdog), they are sent from the loop. */
void notify_ready(struct notify *, struct app *, bool forked);
/* Tells, once, that the program is about to end. */
void notify_stopping(struct notify *);
