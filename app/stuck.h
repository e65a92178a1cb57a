/* SPDX-License-Identifier: BSD-3-Clause */
/* Ctrl-C while a command does not give way (a script inside a function of C, like a read of a pipe). SIGINT is blocked for the loop, which
 * does not turn then: the first one is noted and handed to the loop when it can, a later one ends the program. Main thread. */
#pragma once
#include <stdbool.h>

/* at_once(SIGINT), a handler of signals, ends the program. What is started while a command runs does not inherit the block. Nothing where
 * SIGINT is ignored. */
void stuck_open(void (*at_once)(int signo));
void stuck_runs(bool begins); /* before and after commands run */
bool stuck_noted(void);       /* it has come, and the loop does not know it yet */
