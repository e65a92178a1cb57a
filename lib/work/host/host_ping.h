/* SPDX-License-Identifier: BSD-3-Clause */
/* `ping`, `arping` and `traceroute` as the program sees them. */
#pragma once
#include "ctl.h"
#include "neigh_ping.h"

struct host_ping;

struct host_ping_spec {
	unsigned port;
	int stream; /* through whose headers; -1: on the link of host.vlan */
	uint8_t to[NEIGH_IP];
	uint64_t count, every_ns;
	unsigned size; /* of the frames, with FCS; 0: HOST_PING_SIZE, or what the link's needs */
	bool flood;    /* each request follows the answer before it, or after HOST_PING_FLOOD_NS */
	bool link;     /* arping: by ARP or neighbour solicitation */
	/* traceroute: the first so many requests go no farther than to the first hop, the next ones
	 * to the second, ...; count is the product. 0: none of it. */
	unsigned hops, probes;
	neigh_pings_fn *tell; /* what becomes of each request, in turns of control; may be NULL */
	void *arg;
};

#define HOST_PING_SIZE 128
#define HOST_PING_FLOOD_NS 10000000ull
#define HOST_PING_WAIT_NS 1000000000ull /* so long an answer is waited for */
/* A traceroute whose way has no end yet waits at least so long for one that says why: a router that
 * asks for the destination in vain gives up after about 3 s. */
#define HOST_TRACE_WAIT_NS 4000000000ull
/* With more requests their numbers of 16 bits would come back too soon. */
#define HOST_PING_EVERY_MIN_NS 100000ull

/* Begins. It goes on in the turns of control, until host_ping_free(). Only one may go on at a port.
 * -errno with *e: the address cannot be asked from this port, which says why. */
int host_ping_start(struct ctl *c, const struct host_ping_spec *spec, struct host_ping **out,
		    struct err *e);
void host_ping_free(struct ctl *c, struct host_ping *p);
/* 1: it is over; 0: it goes on. -errno with *e: nothing can be sent, because the next hop or our
 * own address is not what it should be. */
int host_ping_poll(const struct host_ping *p, struct err *e);
/* How many requests were sent; *received: how many of them were answered in time. */
uint64_t host_ping_sent(const struct host_ping *p, uint64_t *received);
/* What is known so far, a new reference: {"port","name","stream","to","from","via","size","sent","received",
 * "late","errors","lost","open","duplicates","foreign","damaged","unread"}, and "macs","told":
 * [{"from","error","mtu","count"}],"rtt_ns":{"min","mean","p50","p90","p99","max"}. Of a traceroute
 * instead of these: "most","probes","end","reached","hops":[{"hop","probes":[{"state","from",
 * "error","mtu","rtt_ns"}]}]. */
json_t *host_ping_json(const struct ctl *c, const struct host_ping *p);
