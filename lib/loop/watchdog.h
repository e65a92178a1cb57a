/* SPDX-License-Identifier: BSD-3-Clause */
/* Who listens when control does not: whatever holds the loop's thread (a file system that does not answer, a reader who takes nothing, a script that
 * waits in the kernel), a signal that ends the program does so. */
#pragma once
#include <signal.h>
#include "base.h"

/* From now on, on a thread of its own: one of these signals that the process keeps blocked and that has waited 2 s for somebody to take it is
 * given to end(), which does not return. Time during which the whole process stands still does not count. After loop_new(), once. 0 or -errno. */
int watchdog_start(const sigset_t *signals, void (*end)(int signo));
