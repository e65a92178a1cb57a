/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside lib/neigh: what addresses are, for those who judge frames. */
#pragma once
#include <string.h>

#include "neigh_run.h"

static inline bool neigh_ip_used(const struct neigh_self *s, const uint8_t ip[NEIGH_IP])
{
	const struct neigh_own *o = neigh_own_find(s, ip);

	return o != NULL && o->usable;
}

static inline bool neigh_ip_proxied(const struct neigh_self *s, const uint8_t ip[NEIGH_IP])
{
	for (unsigned i = 0; i < s->nproxy; i++)
		if (neigh_within(ip, s->proxy[i].ip, s->proxy[i].bits))
			return true;
	return false;
}

/* Whether a host may have this address, of IPv4 or IPv6: no group, not nothing, not a loopback. */
static inline bool neigh_ip_sends(const uint8_t ip[NEIGH_IP])
{
	static const uint8_t zero[NEIGH_IP], one[NEIGH_IP] = {[15] = 1};

	if (neigh_is_ip4(ip))
		return ip[12] != 0 && ip[12] != 127 && ip[12] < 224;
	return ip[0] != 0xff && !neigh_same_ip(ip, zero) && !neigh_same_ip(ip, one);
}

static inline bool neigh_mac_sends(const uint8_t mac[6])
{
	static const uint8_t zero[6];

	return (mac[0] & 1) == 0 && !neigh_same_mac(mac, zero);
}

/* neigh_l4.c: packets of UDP and TCP, of both families. IPv6 has none behind extension headers. */
enum { NEIGH_IS_TCP = 6, NEIGH_IS_UDP = 17 };
struct neigh_l4 {
	bool four;
	unsigned head; /* bytes of the IP header */
	unsigned n;    /* bytes of the packet behind it */
};
/* Whether a frame came to the host's MAC address, with a packet of this protocol for one of its
 * addresses; proxied: or for one that it answers for. */
bool neigh_l4_wants(const struct neigh_self *s, const uint8_t *f, unsigned len, unsigned protocol,
		    bool proxied);
/* What is wrong with the IP header of a packet (four: of IPv4) of which len bytes are there, and of
 * which at least `least` must be behind that header; NEIGH_HEARD: nothing. */
enum neigh_fate neigh_l4_fate(const struct neigh_self *s, const uint8_t *ip, unsigned len,
			      bool four, unsigned least, struct neigh_l4 *out);
/* The first sum of its n bytes: that of its pseudo header. */
uint64_t neigh_l4_pseudo(const uint8_t *ip, bool four, unsigned protocol, unsigned n);
/* Whether the checksum of its n bytes, of which it is bytes at and at + 1, is right, or is that of
 * the pseudo header alone: a kernel on this machine leaves the rest to a NIC that its virtual
 * interfaces do not have. */
bool neigh_l4_sum(const uint8_t *ip, const struct neigh_l4 *l4, unsigned protocol, unsigned n,
		  unsigned at);
