/* SPDX-License-Identifier: BSD-3-Clause */
/* A test of filters starts their compiler. Where programs are run by an emulator, a program cannot
 * start another one of its kind. */
#pragma once
#include <errno.h>
#include <stdio.h>

#include "filter.h"

static inline bool filter_skip(void)
{
	struct filter_prog p = {0};
	struct err why;
	bool cannot = filter_compile("ip", 96, FILTER_ETHERNET, &p, &why) == -ENOEXEC;

	if (cannot)
		fprintf(stderr, "skipped: %s\n", why.text);
	filter_prog_free(&p);
	return cannot;
}
