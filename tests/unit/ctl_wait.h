/* SPDX-License-Identifier: BSD-3-Clause */
/* Helpers of tests that wait for workers. */
#pragma once
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "ctl_int.h"
#include "port_int.h"

static struct ctl *c;

static inline struct portset only(unsigned port)
{
	struct portset s = {{0}};

	portset_add(&s, port);
	return s;
}

static inline void pause_ms(long ms)
{
	nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL);
}

/* Turns control until nothing moves on the port any more. */
static inline void settle(unsigned port)
{
	struct portset s = only(port);

	for (unsigned i = 0; i < 60000; i++) {
		ctl_turn(c);
		if (ctl_settled(c, &s) == 1)
			return;
		pause_ms(1);
	}
	fail_msg("port %u does not come to an end", port);
}
