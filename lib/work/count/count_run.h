/* SPDX-License-Identifier: BSD-3-Clause */
/* Kind "sink": counts what arrives and gives the buffers back. */
#pragma once
#include "dp.h"

struct count_state {
	struct dp_state base;
};

extern const struct dp_kind dp_kind_sink;

/* Where others claim some of a queue's frames, all are counted before they are shared out, by a tap whose state is the queue, and kind "rest" gives
 * back what nobody claimed. */
extern const struct dp_kind dp_kind_rest;
void count_see(void *rxq, const struct dp_burst *b, struct rte_mbuf *const *m, unsigned n, uint64_t now);
