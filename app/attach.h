/* SPDX-License-Identifier: BSD-3-Clause */
/* `wirerate attach`: the prompt and the screen of a program that serves, through a session over its socket. */
#pragma once
#include "app.h"
#include "args.h"

/* Until the user leaves, the input has ended or the other end is gone. app has its view and its loop, and no ports. Exit code; *signo is
 * set when it was a signal. */
int attach_run(struct app *, const struct args *, bool interactive, int *signo);

/* Where NAME leads to: nothing (the only program that serves, or "wirerate"), a name, a path (with a slash), HOST:PORT. */
struct attach_to {
	struct sbuf path;       /* of a Unix socket; empty: TCP */
	struct sbuf host, port; /* of TCP */
	struct sbuf name;       /* for messages */
};
int attach_find(const char *name, struct attach_to *, struct err *e);
void attach_to_free(struct attach_to *);
