/* SPDX-License-Identifier: BSD-3-Clause */
/* The first things that main() does: make the standard streams safe, and make the loop. */
#pragma once
#include <stdbool.h>

#include "loop.h"

/* Opens /dev/null for each standard stream that is closed. Else a file opened later would get its
 * number, and would receive what is printed there. */
void begin_std_fds(void);
/* Makes the loop, and starts the watchdog: a thread that takes signals while the loop stands still
 * (watchdog.h). The caller frees the loop. NULL: that failed, and standard error says why. */
struct loop *begin_loop(bool interactive, bool serves);
