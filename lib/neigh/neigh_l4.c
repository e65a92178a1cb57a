/* SPDX-License-Identifier: BSD-3-Clause */
/* What hosts look at in packets of UDP and TCP before they answer them. */
#include "neigh_ip.h"

enum { TYPE_IP4 = 0x0800, TYPE_IP6 = 0x86dd };

static bool l4_ours(const struct neigh_self *s, const uint8_t ip[NEIGH_IP], bool proxied)
{
	return neigh_ip_used(s, ip) ||
	       (proxied && neigh_own_find(s, ip) == NULL && neigh_ip_proxied(s, ip));
}

bool neigh_l4_wants(const struct neigh_self *s, const uint8_t *f, unsigned len, unsigned protocol,
		    bool proxied)
{
	unsigned type, at = neigh_payload(s, f, len, &type);
	const uint8_t *ip = f + at;
	uint8_t dst[NEIGH_IP];

	if (at == 0 || !neigh_same_mac(f, s->mac))
		return false;
	if (type == TYPE_IP4) {
		if (len - at < NEIGH_IP4 || ip[9] != protocol)
			return false;
		neigh_ip_from4(dst, ip + 16);
		return l4_ours(s, dst, proxied);
	}
	return type == TYPE_IP6 && len - at > NEIGH_IP6 && ip[6] == protocol &&
	       l4_ours(s, ip + 24, proxied);
}

static enum neigh_fate l4_fate4(const struct neigh_self *s, const uint8_t *ip, unsigned len,
				unsigned least, struct neigh_l4 *out)
{
	unsigned head = (ip[0] & 0xfu) * 4, total = get_be16(ip + 2);
	uint8_t from[NEIGH_IP];

	if (ip[0] >> 4 != 4 || head < NEIGH_IP4)
		return NEIGH_MALFORMED;
	if (total > len || total < head + least)
		return NEIGH_TRUNCATED;
	if (neigh_sum(ip, head, 0) != 0)
		return NEIGH_CHECKSUM;
	/* Of the first one it is not known whether the others will come. */
	if ((get_be16(ip + 6) & 0x3fff) != 0)
		return NEIGH_FRAGMENT;
	neigh_ip_from4(from, ip + 12);
	if (!neigh_ip_sends(from) || neigh_own_find(s, from) != NULL)
		return NEIGH_SENDER;
	*out = (struct neigh_l4){.four = true, .head = head, .n = total - head};
	return NEIGH_HEARD;
}

static enum neigh_fate l4_fate6(const struct neigh_self *s, const uint8_t *ip, unsigned len,
				unsigned least, struct neigh_l4 *out)
{
	unsigned n = get_be16(ip + 4);

	if (ip[0] >> 4 != 6)
		return NEIGH_MALFORMED;
	if (n > len - NEIGH_IP6 || n < least)
		return NEIGH_TRUNCATED;
	if (!neigh_ip_sends(ip + 8) || neigh_own_find(s, ip + 8) != NULL)
		return NEIGH_SENDER;
	*out = (struct neigh_l4){.head = NEIGH_IP6, .n = n};
	return NEIGH_HEARD;
}

enum neigh_fate neigh_l4_fate(const struct neigh_self *s, const uint8_t *ip, unsigned len,
			      bool four, unsigned least, struct neigh_l4 *out)
{
	return four ? l4_fate4(s, ip, len, least, out) : l4_fate6(s, ip, len, least, out);
}

uint64_t neigh_l4_pseudo(const uint8_t *ip, bool four, unsigned protocol, unsigned n)
{
	uint8_t rest[4] = {0, (uint8_t)protocol, (uint8_t)(n >> 8), (uint8_t)n};
	uint16_t low = (uint16_t)~neigh_sum(ip + (four ? 12 : 8), four ? 8 : 2 * NEIGH_IP, 0);
	uint16_t high = (uint16_t)~neigh_sum(rest, 4, 0);

	return (uint64_t)low + high;
}

bool neigh_l4_sum(const uint8_t *ip, const struct neigh_l4 *l4, unsigned protocol, unsigned n,
		  unsigned at)
{
	const uint8_t *p = ip + l4->head;
	uint64_t pseudo = neigh_l4_pseudo(ip, l4->four, protocol, n);
	uint16_t was, only = (uint16_t)~neigh_sum(p, 0, pseudo);

	memcpy(&was, p + at, 2);
	return neigh_sum(p, n, pseudo) == 0 || was == only;
}
