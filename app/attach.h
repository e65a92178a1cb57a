/* SPDX-License-Identifier: BSD-3-Clause */
/* `wirerate attach` is a client. It has the prompt and the screen for a program that serves, and
 * reaches it by a session over a socket. */
#pragma once
#include "app.h"
#include "args.h"

/* Runs until the user leaves, the input has ended, or the program that serves is gone. Of app only
 * the view and the loop are used; it has no ports. Returns the exit code. *signo becomes the signal
 * that ended it, if one did. */
int attach_run(struct app *, const struct args *, bool interactive, int *signo);

/* The address of a program that serves. */
struct attach_to {
	struct sbuf path;       /* of its Unix socket; empty: it is reached over TCP */
	struct sbuf host, port; /* for TCP */
	struct sbuf name;       /* for messages */
};
/* Finds the address. name is the name of a Unix socket, a path (which has a slash) or HOST:PORT.
 * NULL stands for the only program that serves on this machine, or for the name "wirerate" if none
 * does. Returns 0, or a negative number with *e. Call attach_to_free() in both cases. */
int attach_find(const char *name, struct attach_to *, struct err *e);
void attach_to_free(struct attach_to *);
