/* SPDX-License-Identifier: BSD-3-Clause */
/* One flow that came in on several Rx queues: the numbers that two of them have both seen. Each queue tells its own duplicates (prx.h); this finds
 * the others by looking at the queues' windows again and again while they move. A number counts once, in the first pass that sees its bit, so
 * that it does not matter in what order frames come or whether their block was looked at before.
 *
 * Exact when nothing arrives and each window was looked at before it moved on by its length. Otherwise numbers went by unseen: that is known from
 * the flow's counts, and the result says so where it may matter. */
#pragma once
#include "prx.h"

struct prx_merge;

struct prx_merged {
	uint64_t crossed;  /* copies that came in on another queue than the first one; less than there are when inexact */
	unsigned nqueues;  /* that have heard the flow */
	uint64_t missed;   /* times that numbers may have gone by unseen; 0: exact */
};

size_t prx_merge_size(unsigned nqueues, uint32_t nblocks); /* of windows of so many blocks */
void prx_merge_init(struct prx_merge *g, unsigned nqueues, uint32_t nblocks); /* in zeroed memory */
/* Look at one queue's window of the flow. false: nothing came since the last look. */
bool prx_merge_pass(struct prx_merge *g, unsigned queue, const struct prx_flow *f, const struct prx_block *window);
struct prx_merged prx_merge_result(const struct prx_merge *g);
