/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
#include "dp_model.h"

/* The run's time is over, and all but the last look of the worker at the grace that follows; the next turn ends the run. */
static inline void to_last_grace(struct world *x)
{
	x->now = x->job.end_tsc;
	for (unsigned i = 0; i < 4; i++) {
		poll_at(x);
		x->now += x->job.grace_cycles / 4;
	}
}
