/* SPDX-License-Identifier: BSD-3-Clause */
/* What the programs of the bench share: failure, memory, DPDK. */
#pragma once
#include "base.h"

/* Prints what failed, with DPDK's error, and ends the process. */
void die(const char *what) __attribute__((noreturn));
/* Returns zeroed memory that shares no cache line with anything else. Most of it is never freed. */
void *zeroed(size_t n);
/* Sorts the n values. */
double median(double *v, unsigned n);

/* Starts DPDK on that lcore. huge: with memory in hugepages. */
void start_eal(char *program, char *lcore, bool huge);
/* Calls the function on a thread of its own, as workers do: there the distance between stack and
 * thread-local data is fixed. On the main thread it differs from process to process, and one
 * process in seven ran 5 to 40 percent slower or faster for its whole life. */
void on_own_thread(void (*fn)(void));
