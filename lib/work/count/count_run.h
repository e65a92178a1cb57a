/* SPDX-License-Identifier: BSD-3-Clause */
/* The kinds "sink" and "rest": they own received frames that no other task takes. */
#pragma once
#include "dp.h"

struct count_state {
	struct dp_state base;
};

/* Kind "sink" owns all frames of an Rx queue: it counts them and gives their buffers back. */
extern const struct dp_kind dp_kind_sink;

/* On an Rx queue of which other tasks claim some frames, count_see() is a tap that counts all of
 * them before they are shared out; its state is the struct dp_rxq. The kind "rest" gives back the
 * buffers of those that nobody claimed, without counting them again. */
extern const struct dp_kind dp_kind_rest;
void count_see(void *rxq, const struct dp_burst *b, struct rte_mbuf *const *m, unsigned n,
	       uint64_t now);
