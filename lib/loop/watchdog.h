/* SPDX-License-Identifier: BSD-3-Clause */
/* Ends the program by a signal when control does not listen. The loop takes signals when it turns.
 * If something holds its thread (a file system that does not answer, a reader who takes nothing, a
 * script that waits in the kernel), the watchdog sees them, on a thread of its own. */
#pragma once
#include <signal.h>
#include "base.h"
#include "loop.h"

/* Starts the watchdog, once, after loop_new() and before the loop turns. `signals` are signals that
 * the process keeps blocked: when one has waited 2 s and nobody has taken it, end() is called with
 * it on the watchdog's thread, and does not return. `interrupt` is SIGINT, or 0 for none. An
 * interrupt that has waited so long is kept, and is pending again when the loop turns next, because
 * it asks for an end in the ordinary way; end() is called when a second one comes meanwhile. Time
 * in which the whole process is stopped does not count. 0 or -errno. */
int watchdog_start(struct loop *, const sigset_t *signals, int interrupt, void (*end)(int signo));
/* Makes an interrupt that is kept pending again, for a caller who looks for one but turns the loop
 * no more. */
void watchdog_give_back(void);
/* Moves the watchdog's thread to the CPUs of the calling thread, so that it takes no time from
 * workers. Does nothing if there is no watchdog. */
void watchdog_come_along(void);
