/* SPDX-License-Identifier: BSD-3-Clause */
/* A ping that goes through a stream: on its link, or behind its headers. */
#pragma once
#include "host_route_ctl.h"
#include "neigh_ping.h"

/* Where the requests go, and what lies in front of them. */
struct host_through {
	struct neigh_tags tags; /* of the link */
	/* Headers other than Ethernet, VLAN tags and one IP header are in front of the request. All
	 * below is only there then. */
	bool inside;
	struct host_hop hop;    /* whose MAC address the frames go to; known: it is there already */
	bool asked;             /* hop.ip is a next hop; else eth.dst is set, and nobody is asked */
	unsigned len, ip, icmp; /* of the frame without FCS; where the last headers begin */
	uint16_t first;         /* for neigh_ping_number() */
	uint8_t *image;         /* the frame; the caller frees it */
};

/* Reads what a stream says of a ping of p->to. size: of its frames, with FCS; 0: HOST_PING_SIZE, or
 * what the headers need if that is more. Inside, p->from becomes the source of the last IP header.
 * -errno with *e, and nothing to free: there is no such stream, it ends in no IP header or in one
 * of another family, its frames cannot be built or have no next hop, or the size does not do. */
int host_through(struct ctl *c, const struct ctl_port *cp, unsigned stream, struct neigh_ping *p,
		 unsigned size, struct host_through *out, struct err *e);
