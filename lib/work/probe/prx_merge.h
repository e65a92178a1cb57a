/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds copies of one flow that came in on several Rx queues: numbers that two of them have both
 * seen. Each queue knows its own duplicates (prx.h); this finds the others, by looking at the
 * windows of the queues again and again while they move. Of each queue a number counts once, in the
 * first pass that sees its bit, so it does not matter in what order frames come, nor whether their
 * block was looked at before.
 *
 * The result is exact when nothing arrives, and each window was looked at again before it had moved
 * on by half of its length (see struct prx_block). Otherwise numbers may have gone through a window
 * unseen. The flow's counts show that, and the result says so where it may matter. Control thread
 * only. */
#pragma once
#include "prx.h"

struct prx_merge;

struct prx_merged {
	/* Copies whose number had come in on another queue already. If missed is not 0 there may be
	 * more. */
	uint64_t crossed;
	unsigned nqueues; /* queues on which the flow has come in */
	uint64_t missed;  /* how often copies may have gone by unseen; 0: the result is exact */
};

/* Bytes for so many queues, whose windows have nblocks blocks each. */
size_t prx_merge_size(unsigned nqueues, uint32_t nblocks);
/* Begins in zeroed memory of that size. */
void prx_merge_init(struct prx_merge *g, unsigned nqueues, uint32_t nblocks);
/* Looks at one queue's window of the flow. Returns false if nothing came since the last look. */
bool prx_merge_pass(struct prx_merge *g, unsigned queue, const struct prx_flow *f,
		    const struct prx_block *window);
struct prx_merged prx_merge_result(const struct prx_merge *g);
