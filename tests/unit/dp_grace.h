/* SPDX-License-Identifier: BSD-3-Clause */
/* A helper for the end of a run, for tests of senders. */
#pragma once
#include "dp_model.h"

/* Goes to the end of the run's time, and through the grace time after it up to the worker's last
 * turn within it. The next turn ends the run. */
static inline void to_last_grace(struct world *x)
{
	x->now = x->job.end_tsc;
	for (unsigned i = 0; i < 4; i++) {
		poll_at(x);
		x->now += x->job.grace_cycles / 4;
	}
}
