/* SPDX-License-Identifier: BSD-3-Clause */
/* What a host says of UDP: that nobody listens (RFC 1122 section 3.2.2.1, RFC 4443 section 3.1). An
 * error quotes as much of the datagram as its RFC allows, since senders such as tracepath keep what
 * they want to know of it behind its headers. */
#include "neigh_ip.h"

enum { TYPE_IP4 = 0x0800, TYPE_IP6 = 0x86dd };
enum { PROTO_ICMP = 1, PROTO_UDP = 17, PROTO_ICMP6 = 58 };
enum { UNREACH4 = 3, UNREACH4_PORT = 3, UNREACH6 = 1, UNREACH6_PORT = 4 };
#define HOPS 64
#define ICMP 8
#define UDP 8
#define ERROR4_MAX 576  /* bytes from the IPv4 header on (RFC 1812 section 4.3.2.3) */
#define ERROR6_MAX 1280 /* the same for IPv6 (RFC 4443 section 3.1) */

bool neigh_unreach_wants(const struct neigh_self *s, const uint8_t *f, unsigned len)
{
	unsigned type, at;
	uint8_t dst[NEIGH_IP];

	if ((s->answer & NEIGH_ANSWER_UNREACHABLE) == 0)
		return false;
	at = neigh_payload(s, f, len, &type);
	const uint8_t *ip = f + at;
	if (at == 0 || !neigh_same_mac(f, s->mac))
		return false;
	if (type == TYPE_IP4) {
		if (len - at < NEIGH_IP4 || ip[9] != PROTO_UDP)
			return false;
		neigh_ip_from4(dst, ip + 16);
		return neigh_ip_used(s, dst);
	}
	return type == TYPE_IP6 && len - at > NEIGH_IP6 && ip[6] == PROTO_UDP &&
	       neigh_ip_used(s, ip + 24);
}

/* Whether the checksum is right, or is that of the pseudo header alone: a kernel on this machine
 * leaves the rest to a NIC that its virtual interfaces do not have. */
static bool unreach_sum(const uint8_t *udp, unsigned n, uint64_t pseudo)
{
	uint16_t was, only = (uint16_t)~neigh_sum(udp, 0, pseudo);

	memcpy(&was, udp + 6, 2);
	return neigh_sum(udp, n, pseudo) == 0 || was == only;
}

/* The first sum for UDP over either family. */
static uint64_t unreach_pseudo(const uint8_t *addr, unsigned n, unsigned len)
{
	uint8_t rest[4] = {0, PROTO_UDP, (uint8_t)(len >> 8), (uint8_t)len};
	uint16_t low = (uint16_t)~neigh_sum(addr, n, 0), high = (uint16_t)~neigh_sum(rest, 4, 0);

	return (uint64_t)low + high;
}

/* What is wrong with the datagram; NEIGH_DID_UNREACHABLE: nothing. */
static enum neigh_fate unreach_fate4(const struct neigh_self *s, const uint8_t *ip, unsigned len)
{
	unsigned head = (ip[0] & 0xfu) * 4, total = get_be16(ip + 2);
	uint8_t from[NEIGH_IP];

	if (ip[0] >> 4 != 4 || head < NEIGH_IP4)
		return NEIGH_MALFORMED;
	if (total > len || total < head + UDP)
		return NEIGH_TRUNCATED;
	if (neigh_sum(ip, head, 0) != 0)
		return NEIGH_CHECKSUM;
	/* Of the first one it is not known whether the others will come. */
	if ((get_be16(ip + 6) & 0x3fff) != 0)
		return NEIGH_FRAGMENT;
	neigh_ip_from4(from, ip + 12);
	if (!neigh_ip_sends(from) || neigh_own_find(s, from) != NULL)
		return NEIGH_SENDER;
	const uint8_t *udp = ip + head;
	unsigned n = get_be16(udp + 4);
	if (n < UDP || n > total - head)
		return NEIGH_TRUNCATED;
	return get_be16(udp + 6) == 0 || unreach_sum(udp, n, unreach_pseudo(ip + 12, 8, n))
		       ? NEIGH_DID_UNREACHABLE
		       : NEIGH_CHECKSUM;
}

static enum neigh_fate unreach_fate6(const struct neigh_self *s, const uint8_t *ip, unsigned len)
{
	const uint8_t *udp = ip + NEIGH_IP6;
	unsigned n = get_be16(ip + 4);

	if (ip[0] >> 4 != 6)
		return NEIGH_MALFORMED;
	if (n > len - NEIGH_IP6 || n < UDP || get_be16(udp + 4) < UDP || get_be16(udp + 4) > n)
		return NEIGH_TRUNCATED;
	if (!neigh_ip_sends(ip + 8) || neigh_own_find(s, ip + 8) != NULL)
		return NEIGH_SENDER;
	n = get_be16(udp + 4);
	return get_be16(udp + 6) != 0 && unreach_sum(udp, n, unreach_pseudo(ip + 8, 32, n))
		       ? NEIGH_DID_UNREACHABLE
		       : NEIGH_CHECKSUM;
}

/* Puts the headers of an error in front of the n bytes that it quotes. */
static void unreach_put4(uint8_t *ip, unsigned n)
{
	uint8_t *quote = ip + NEIGH_IP4 + ICMP, *icmp = ip + NEIGH_IP4;
	unsigned total = NEIGH_IP4 + ICMP + n;
	uint16_t sum;

	memmove(quote, ip, n);
	memcpy(ip,
	       (const uint8_t[12]){0x45, 0, (uint8_t)(total >> 8), (uint8_t)total, 0, 0, 0x40, 0,
				   HOPS, PROTO_ICMP},
	       12);
	memcpy(ip + 12, quote + 16, 4);
	memcpy(ip + 16, quote + 12, 4);
	sum = neigh_sum(ip, NEIGH_IP4, 0);
	memcpy(ip + 10, &sum, 2);
	memcpy(icmp, (const uint8_t[ICMP]){UNREACH4, UNREACH4_PORT}, ICMP);
	sum = neigh_sum(icmp, ICMP + n, 0);
	memcpy(icmp + 2, &sum, 2);
}

static void unreach_put6(uint8_t *ip, unsigned n)
{
	uint8_t *quote = ip + NEIGH_IP6 + ICMP, *icmp = ip + NEIGH_IP6;
	unsigned len = ICMP + n;
	uint16_t sum;

	memmove(quote, ip, n);
	memcpy(ip,
	       (const uint8_t[8]){0x60, 0, 0, 0, (uint8_t)(len >> 8), (uint8_t)len, PROTO_ICMP6,
				  HOPS},
	       8);
	memcpy(ip + 8, quote + 24, NEIGH_IP);
	memcpy(ip + 24, quote + 8, NEIGH_IP);
	memcpy(icmp, (const uint8_t[ICMP]){UNREACH6, UNREACH6_PORT}, ICMP);
	sum = neigh_sum(icmp, len, neigh_sum_ip6(ip, len));
	memcpy(icmp + 2, &sum, 2);
}

void neigh_unreach_judge(const struct neigh_self *s, uint8_t *f, unsigned len, unsigned room,
			 struct neigh_verdict *v)
{
	unsigned type = 0, at = neigh_payload(s, f, len, &type);
	bool four = type == TYPE_IP4;
	unsigned added = (four ? NEIGH_IP4 : NEIGH_IP6) + ICMP;
	unsigned most = (four ? ERROR4_MAX : ERROR6_MAX) - added;
	uint8_t *ip = f + at;

	v->fate = four ? unreach_fate4(s, ip, len - at) : unreach_fate6(s, ip, len - at);
	if (v->fate != NEIGH_DID_UNREACHABLE)
		return;
	unsigned n = four ? get_be16(ip + 2) : NEIGH_IP6 + get_be16(ip + 4);
	n = n < most ? n : most;
	if (room < at + added + n) {
		v->fate = NEIGH_NO_ROOM;
		return;
	}
	memcpy(f, f + 6, 6);
	memcpy(f + 6, s->mac, 6);
	if (four)
		unreach_put4(ip, n);
	else
		unreach_put6(ip, n);
	v->answer = at + added + n;
}

bool neigh_rate_may(uint64_t *full, uint64_t now, uint64_t each, unsigned burst)
{
	if (*full > now + (burst - 1) * each)
		return false;
	*full = (*full > now ? *full : now) + each;
	return true;
}
