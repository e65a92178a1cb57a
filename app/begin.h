/* SPDX-License-Identifier: BSD-3-Clause */
/* The first things that main() does: make the standard streams safe, and make the loop. */
#pragma once
#include <stdbool.h>

#include "loop.h"

/* Exit code of a daemon that wants its parent to call begin_again(). */
#define BEGIN_AGAIN 75

/* Opens /dev/null for each standard stream that is closed. Else a file opened later would get its
 * number, and would receive what is printed there. */
void begin_std_fds(void);
/* Makes the loop, and starts the watchdog: a thread that takes signals while the loop stands still
 * (watchdog.h). The caller frees the loop. NULL: that failed, and standard error says why. */
struct loop *begin_loop(bool interactive, bool serves);
/* Starts the program anew in this process, for begin_is_again() to say so; it finds what pipes with
 * commands have said. argv: of main(). Returns only if that cannot be done, with errno. */
void begin_again(char *const *argv);
bool begin_is_again(void);
