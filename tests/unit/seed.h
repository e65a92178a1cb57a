/* SPDX-License-Identifier: BSD-3-Clause */
/* The seed of a test's random numbers. It is the same in each run, so that a test which fails does
 * so again. WIRERATE_SEED=N is another seed, and WIRERATE_SEED=random takes a new one in each run.
 * The seed is printed. */
#pragma once
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static inline uint64_t test_seed(void)
{
	const char *given = getenv("WIRERATE_SEED");
	struct timespec now = {0};
	uint64_t n = 1;

	if (given != NULL && strcmp(given, "random") == 0) {
		clock_gettime(CLOCK_REALTIME, &now);
		n = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	} else if (given != NULL && *given != '\0') {
		n = strtoull(given, NULL, 0);
	}
	printf("WIRERATE_SEED=%llu\n", (unsigned long long)n);
	fflush(stdout);
	return n;
}

/* Returns a seed that is never 0, for generators that would stay at 0 for ever. */
static inline uint64_t test_seed_not_0(void)
{
	return test_seed() * 0x9e3779b97f4a7c15ull | 1;
}
