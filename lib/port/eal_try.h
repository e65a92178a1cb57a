/* SPDX-License-Identifier: BSD-3-Clause */
/* EAL ends the process when it runs out of descriptors or threads. So we try to get as many as it
 * will need before it starts, and turn a panic while it starts into an error. */
#pragma once
#include <stdbool.h>
#include <sys/types.h>

#include "base.h"

struct eal_wants {
	unsigned workers; /* lcores besides the main one; 0: only the user's EAL options tell */
	uint64_t pages;   /* hugepages, each of them a descriptor */
	unsigned own;     /* descriptors of ports and of the program, after EAL has started */
};

/* Checks that descriptors and threads are enough. It also raises the soft limit on descriptors to
 * the hard one, which EAL would do later. 0, or -ENODEV, and e says what there is, what is needed
 * and what helps. */
int eal_wants_check(const struct eal_wants *w, struct err *e);
/* Calls rte_eal_init(), and gives its log and all that it prints to write(), which may be called on
 * any thread. Returns what rte_eal_init() returns, with rte_errno. *panic: EAL wanted to end the
 * process, and cannot be used at all. Only once in a process. */
int eal_try(int argc, char **argv, ssize_t (*write)(void *cookie, const char *text, size_t n),
	    bool *panic);
