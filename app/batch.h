/* SPDX-License-Identifier: BSD-3-Clause */
/* A run without a prompt: files, -e texts and piped input, or one command, then the end of input. */
#pragma once
#include "app.h"
#include "sess.h"

struct batch_opts {
	const char *command; /* the only command, NULL: none */
	bool read_stdin;
	void (*turn)(void *arg); /* one turn of the loop */
	void *arg;
};

/* Until all that the session holds and standard input are done, a command is refused or the loop is stopped. At the end
 * of input ports with a bound are waited for; the others are stopped. 0, or 1 when a port's frames cannot be sent. */
int batch_run(struct app *app, struct sess *sess, const struct batch_opts *opts);
/* All ports are stopped and waited for, at most so long; time in which the program itself stood still is not counted. */
void batch_settle(struct app *app, uint64_t most_ns);
