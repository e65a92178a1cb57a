/* SPDX-License-Identifier: BSD-3-Clause */
/* What a traceroute has found: who has answered the requests of each hop, and where the way ends. A
 * plain machine, which is told what became of each request. Those of the first hop come first, and
 * each hop has as many. One thread. */
#pragma once
#include "neigh_ping.h"

#define NEIGH_TRACE_HOPS 64
#define NEIGH_TRACE_PROBES 10
/* Requests are sent for so many hops before it is known what became of the first one's: routers
 * answer only so many of them in a second. */
#define NEIGH_TRACE_AHEAD 6

enum neigh_trace_state {
	NEIGH_TRACE_OPEN,
	NEIGH_TRACE_REACHED, /* the destination itself has answered */
	NEIGH_TRACE_ERROR,   /* somebody on the way has, by ICMP */
	NEIGH_TRACE_LOST,
};
struct neigh_trace_probe {
	enum neigh_trace_state state;
	uint64_t rtt_ns;
	struct neigh_pong pong; /* REACHED, ERROR */
};

struct neigh_trace {
	unsigned hops, probes; /* the most hops, and requests for each of them */
	struct neigh_trace_probe probe[NEIGH_TRACE_HOPS * NEIGH_TRACE_PROBES];
};

void neigh_trace_init(struct neigh_trace *t, unsigned hops, unsigned probes);
void neigh_trace_hear(struct neigh_trace *t, const struct neigh_pings_news *news);
const struct neigh_trace_probe *neigh_trace_probe(const struct neigh_trace *t, unsigned hop,
						  unsigned probe);
/* The number of hops to where the way ends: the first one at which the destination has answered, or
 * at which all who have answered say that there is no way on. 0: neither is known. */
unsigned neigh_trace_end(const struct neigh_trace *t);
/* How many requests there are to be, by what is known, and how many of them may be sent by now. */
unsigned neigh_trace_count(const struct neigh_trace *t);
unsigned neigh_trace_due(const struct neigh_trace *t);
bool neigh_trace_reached(const struct neigh_trace *t);
/* How many of the first n requests are in a state. */
unsigned neigh_trace_in(const struct neigh_trace *t, unsigned n, enum neigh_trace_state state);
/* Whether an ICMP error says no more than that the time to live was over. */
bool neigh_pong_expired(const struct neigh_pong *p);
