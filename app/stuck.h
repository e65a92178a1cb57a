/* SPDX-License-Identifier: BSD-3-Clause */
/* Ctrl-C while a command keeps the loop from turning, for example a script that reads from a pipe.
 * Elsewhere SIGINT is blocked, and the loop takes it. While commands run, a handler takes it: the
 * first SIGINT is remembered and passed to the loop afterwards, and one that follows more than a
 * second later ends the program. Main thread. */
#pragma once
#include <stdbool.h>

/* Installs the handler. at_once(SIGINT) must end the program and is called in the handler. Where
 * SIGINT is ignored, this module does nothing. */
void stuck_open(void (*at_once)(int signo));
/* Call it with true before commands run and with false afterwards. In between SIGINT is not
 * blocked, so that a process which a command starts does not inherit the block. */
void stuck_runs(bool begins);
bool stuck_noted(void); /* SIGINT has come, and the loop has not taken it yet */
