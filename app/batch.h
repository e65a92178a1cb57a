/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs the program without a prompt. Its commands are files, texts of -e and piped input, or one
 * command of the command line. */
#pragma once
#include "app.h"
#include "sess.h"

struct batch_opts {
	const char *command; /* the only command, NULL: none */
	bool read_stdin;
	void (*turn)(void *arg); /* one turn of the loop */
	void *arg;
};

/* Runs until the session's queue and standard input are done, a command is refused, or the loop is
 * stopped. When all input is done, ports with a bound are waited for and the others are stopped.
 * Returns 0, or 1 when a device does not accept the frames of such a port. */
int batch_run(struct app *app, struct sess *sess, const struct batch_opts *opts);
/* Stops all ports and waits until nothing moves any more, but not longer than most_ns. Time during
 * which this program itself got no CPU is not counted. */
void batch_settle(struct app *app, uint64_t most_ns);
