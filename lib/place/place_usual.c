/* SPDX-License-Identifier: BSD-3-Clause */
/* Which lcores there are when nobody says so, and what says so. */
#include "place.h"

#include <string.h>

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
