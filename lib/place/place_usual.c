/* SPDX-License-Identifier: BSD-3-Clause */
/* Which lcores there are when nobody says so, and what says so. */
#include "place.h"

#include <sched.h>
#include <string.h>

unsigned place_cpus(int cpu[PLACE_USUAL_LCORES])
{
	cpu_set_t *set = CPU_ALLOC(4096);
	size_t size = CPU_ALLOC_SIZE(4096);
	unsigned n = 0;

	CPU_ZERO_S(size, set);
	if (sched_getaffinity(0, size, set) == 0)
		for (int i = 0; i < 4096 && n < PLACE_USUAL_LCORES; i++)
			if (CPU_ISSET_S(i, size, set))
				cpu[n++] = i;
	CPU_FREE(set);
	return n;
}

unsigned place_usual(const int *cpu, unsigned ncpus, int out[PLACE_USUAL_LCORES])
{
	unsigned n = 0;

	for (unsigned i = 0; i < ncpus && n < PLACE_USUAL_LCORES; i++)
		out[n++] = cpu[i];
	if (n == 1)
		out[n++] = cpu[0];
	return n;
}

bool place_is_lcore_option(const char *arg)
{
	static const char word[] = "--lcores";

	if (strncmp(arg, word, strlen(word)) == 0)
		return arg[strlen(word)] == '\0' || arg[strlen(word)] == '=';
	return arg[0] == '-' && (arg[1] == 'l' || arg[1] == 'c' || arg[1] == 's');
}
