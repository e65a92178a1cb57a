/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the frames of a stream go first, by the addresses and gateways of its port. */
#pragma once
#include "host_auto_ctl.h"

/* The next hops of a stream: one for all frames, or one for each value of the destination or of
 * VLAN ids, in the order of the values. hop->known is set for groups alone. */
struct host_way {
	unsigned n; /* 1 .. HOST_HOPS_MAX */
	struct host_hop *hop;
	struct frame_lead lead; /* n > 1: with whose values they go */
	uint64_t div;
};
/* 1: eth.dst of the stream is `auto`, and *way is where its frames go; the caller frees way->hop.
 * 0: it is not, or others refuse the stream. -EINVAL: they have no next hop, or too many, or nobody
 * can be asked for it, and e says what to do. */
int host_route(struct ctl *c, const struct ctl_port *cp, const struct stream *s,
	       struct host_way *way, struct err *e);
/* The VLANs of a stream in which the host has to answer, since those who look for it ask there.
 * Returns how many there are in *tags, which the caller frees; some may be there twice. 0 also for
 * streams without VLANs. */
unsigned host_serves(struct ctl *c, const struct ctl_port *cp, const struct stream *s,
		     struct neigh_tags **tags);
/* Whether the stream has an IP header that frames are sent by: behind Ethernet and VLAN tags. */
bool host_routable(const struct stream *s);
/* The IP header that host_routable() is about, behind so many tags. NULL: there is none; *ntags is
 * how many there are if the stack begins with Ethernet. */
const struct proto *host_l3(const struct frame_stack *stack, unsigned *ntags);
/* Reads the first n (<= NEIGH_TAGS_MAX) VLAN tags of a frame. */
void host_frame_tags(const uint8_t *f, unsigned n, struct neigh_tags *tags);
/* Writes "port 0" or "stream 0/3", and "0" or "0/3". */
void host_stream_name(const struct ctl_port *cp, const struct stream *s, char name[32],
		      char where[24]);
