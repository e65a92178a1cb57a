/* SPDX-License-Identifier: BSD-3-Clause */
/* While curses has the terminal, text that libraries write to stdout and stderr would garble it.
 * This puts a pipe in the place of both, and hands over what arrives, in whole lines. */
#pragma once
#include "loop.h"

struct stdout_pipe;
/* line() gets one or more whole lines, from the loop. Of stdout and stderr, one that is not a
 * terminal stays as it is. Returns NULL when no pipe could be made: then nothing is taken. */
struct stdout_pipe *stdout_pipe_open(struct loop *, void (*line)(void *arg, const char *text),
				     void *arg);
/* Hands over what was written last, and puts stdout and stderr back. NULL is allowed. */
void stdout_pipe_close(struct stdout_pipe *);
/* The end of the pipe that is read. It does not block. -1: there is no pipe. */
int stdout_pipe_fd(const struct stdout_pipe *);
