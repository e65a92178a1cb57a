/* SPDX-License-Identifier: BSD-3-Clause */
/* What a service manager is told, by the protocol of sd_notify(3): datagrams to the socket that NOTIFY_SOCKET names. Without one nothing happens. */
#pragma once
#include "base.h"

struct app;
struct notify;

/* Takes the variables out of the environment, so that no child speaks for us. NULL: nobody wants to hear. */
struct notify *notify_open(void);
void notify_close(struct notify *);
/* The ports are up and clients are heard. forked: the process that was started has ended, this one is the service. From now on the state of
 * the ports is told, and the watchdog is fed from the loop, if there is one. */
void notify_ready(struct notify *, struct app *, bool forked);
void notify_stopping(struct notify *);
