/* SPDX-License-Identifier: BSD-3-Clause */
/* Who listens when control does not: whatever holds the loop's thread (a file system that does not answer, a reader who takes nothing, a script that
 * waits in the kernel), a signal that ends the program does so. */
#pragma once
#include <signal.h>
#include "base.h"
#include "loop.h"

/* From now on, on a thread of its own: one of these signals that the process keeps blocked and that has waited 2 s for somebody to take it is
 * given to end(), which does not return. An interrupt that has waited so long is kept, and pending again when the loop turns next: end() is for
 * the second one, because the first asks for an end with all that belongs to it. Time during which the whole process stands still does not count.
 * After loop_new(), once; before the loop turns. interrupt: SIGINT or 0, which is none. 0 or -errno. */
int watchdog_start(struct loop *, const sigset_t *signals, int interrupt, void (*end)(int signo));
/* An interrupt that is kept is pending again, for who looks for one and turns the loop no more. */
void watchdog_give_back(void);
/* The calling thread got CPUs of its own: the watchdog's thread moves there, so that it takes no time from workers. Without one, nothing. */
void watchdog_come_along(void);
