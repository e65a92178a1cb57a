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
