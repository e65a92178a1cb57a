/* SPDX-License-Identifier: BSD-3-Clause */
/* What the program needs before anything else. */
#pragma once
#include <stdbool.h>

#include "loop.h"

/* A file opened later must not take the place of a closed standard stream and receive what is printed there. */
void begin_std_fds(void);
/* The loop, and the thread that hears signals where it does not. The caller frees it. NULL: it has said why on standard error. */
struct loop *begin_loop(bool interactive, bool serves);
