/* SPDX-License-Identifier: BSD-3-Clause */
/* Starts EAL with memory of its own and one lcore, for tests that need rings or pools. If it does
 * not start, the test is skipped and does not count as passed. */
#pragma once
#include <stdio.h>

#include "base.h"
#include "dpdk.h"

/* Returns 0, or the exit code of a test that is skipped. */
static inline int eal_or_skip(const char *prog)
{
	char name[64];
	char *args[] = {name,          "--no-huge", "-m",
			"64",          "--no-pci",  "--no-telemetry",
			"--no-shconf", "-l",        "0",
			"--log-level", "3"};

	snprintf(name, sizeof(name), "%s", prog);
	if (rte_eal_init((int)ARRAY_SIZE(args), args) >= 0)
		return 0;
	fprintf(stderr, "skipped: EAL does not start here: %s\n", rte_strerror(rte_errno));
	return 77;
}
