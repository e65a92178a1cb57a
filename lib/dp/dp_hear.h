/* SPDX-License-Identifier: BSD-3-Clause */
/* Who wants to hear of ICMP errors about frames that a port has sent. Whoever receives and judges
 * errors (today the work host) tells those whom control has put into the plan (plan_hear()), on the
 * worker that got the error. Neither knows the other. */
#pragma once
#include "dpdk.h"

struct neigh_error;

struct dp_hearer {
	uint16_t port;
	/* m: the frame with the error, which e describes; nothing of both is kept. Returns the cell
	 * of the stream that it is about, -1: it is about nothing that the hearer knows. */
	int (*icmp)(const void *arg, const struct rte_mbuf *m, const struct neigh_error *e,
		    uint64_t now);
	const void *arg;
};
