/* SPDX-License-Identifier: BSD-3-Clause */
/* The kinds "sink" and "rest": they own received frames that no other task takes. */
#pragma once
#include "dp.h"

/* What a frame that nobody takes is. Each is of one sort. */
enum count_sort {
	COUNT_TCP,
	COUNT_UDP,
	COUNT_ICMP, /* and ICMPv6 */
	COUNT_ARP,
	COUNT_FRAGMENT, /* of a packet of IPv4 or IPv6, the first one too */
	/* IPv4, TCP or UDP with a wrong checksum, or with lengths that say more than there is */
	COUNT_BAD,
	COUNT_OTHER,
	COUNT_SORTS
};

struct count_state {
	struct dp_state base;
	cell_t sort[COUNT_SORTS];
};

/* Either kind counts by sorts what it gives back if the task's job is not NULL. The job is the
 * task's own struct count_state then.
 *
 * Kind "sink" owns all frames of an Rx queue: it counts them and gives their buffers back. */
extern const struct dp_kind dp_kind_sink;

/* On an Rx queue of which other tasks claim some frames, count_see() is a tap that counts all of
 * them before they are shared out; its state is the struct dp_rxq. The kind "rest" gives back the
 * buffers of those that nobody claimed, without counting them as received again. */
extern const struct dp_kind dp_kind_rest;
void count_see(void *rxq, const struct dp_burst *b, struct rte_mbuf *const *m, unsigned n,
	       uint64_t now);

/* Counts n frames by their sorts. Runs on workers. */
void count_sorts(struct count_state *s, struct rte_mbuf *const *m, unsigned n);
