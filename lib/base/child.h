/* SPDX-License-Identifier: BSD-3-Clause */
/* Other programs that this one starts. It blocks the signals that it waits for and ignores others;
 * they do not inherit that. */
#pragma once
#include <stdbool.h>
#include <sys/types.h>

struct child_ask {
	const char *path;
	char *const *argv;
	int out, err;  /* its standard output and standard error; -1: those of this program */
	bool no_input; /* its standard input is empty */
	bool group;    /* a job of its own for the terminal, so that ^C does not end it */
};
/* Starts it. 0 or an errno. */
int child_start(const struct child_ask *ask, pid_t *pid);
/* Whether it has ended, and then its status as wait() gives it. */
bool child_over(pid_t pid, int *status);
/* Waits for its end. Returns its status as wait() gives it, or -1. */
int child_wait(pid_t pid);
