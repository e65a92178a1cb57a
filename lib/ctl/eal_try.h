/* SPDX-License-Identifier: BSD-3-Clause */
/* EAL ends the process where it lacks a descriptor or a thread: what it takes is tried before it starts, and a panic while it starts is an error. */
#pragma once
#include <stdbool.h>
#include <sys/types.h>

#include "base.h"

struct eal_wants {
	unsigned workers; /* lcores besides the main one; 0: not known, the user's own EAL options say */
	uint64_t pages;   /* hugepages, each of them a descriptor */
	unsigned own;     /* descriptors of ports and of the program, after EAL has started */
};

/* The soft limit on descriptors becomes the hard one, as EAL would do later. 0, or -ENODEV with what is there, what is wanted and what to do. */
int eal_wants_check(const struct eal_wants *w, struct err *e);
/* rte_eal_init() with its log and what it prints given to write(), on any thread. As it returns, with rte_errno; *panic: it wanted to end the
 * process, and cannot be used at all. Once in a process. */
int eal_try(int argc, char **argv, ssize_t (*write)(void *cookie, const char *text, size_t n), bool *panic);
