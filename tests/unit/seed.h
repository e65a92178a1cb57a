/* SPDX-License-Identifier: BSD-3-Clause */
/* Where what is random in a test begins: each run the same, so that a gate says the same twice. WIRERATE_SEED=N begins elsewhere, and
 * WIRERATE_SEED=random anew in each run; what is used is printed. */
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

/* The same for generators that stay at 0 for ever. */
static inline uint64_t test_seed_not_0(void)
{
	return test_seed() * 0x9e3779b97f4a7c15ull | 1;
}
