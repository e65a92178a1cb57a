/* SPDX-License-Identifier: BSD-3-Clause */
/* What a host says of UDP: that nobody listens (RFC 1122 section 3.2.2.1, RFC 4443 section 3.1). An
 * error quotes as much of the datagram as its RFC allows, since senders such as tracepath keep what
 * they want to know of it behind its headers. */
#include "neigh_ip.h"

enum { TYPE_IP4 = 0x0800 };
enum { PROTO_ICMP = 1, PROTO_ICMP6 = 58 };
enum { UNREACH4 = 3, UNREACH4_PORT = 3, UNREACH6 = 1, UNREACH6_PORT = 4 };
#define HOPS 64
#define ICMP 8
#define UDP 8
#define UDP_SUM 6
#define ERROR4_MAX 576  /* bytes from the IPv4 header on (RFC 1812 section 4.3.2.3) */
#define ERROR6_MAX 1280 /* the same for IPv6 (RFC 4443 section 3.1) */

bool neigh_unreach_wants(const struct neigh_self *s, const uint8_t *f, unsigned len)
{
	return (s->answer & NEIGH_ANSWER_UNREACHABLE) != 0 &&
	       neigh_l4_wants(s, f, len, NEIGH_IS_UDP, false);
}

/* What is wrong with the datagram; NEIGH_DID_UNREACHABLE: nothing. */
static enum neigh_fate unreach_fate(const struct neigh_self *s, const uint8_t *ip, unsigned len,
				    bool four)
{
	struct neigh_l4 l4;
	enum neigh_fate fate = neigh_l4_fate(s, ip, len, four, UDP, &l4);

	if (fate != NEIGH_HEARD)
		return fate;
	const uint8_t *udp = ip + l4.head;
	unsigned n = get_be16(udp + 4);
	if (n < UDP || n > l4.n)
		return NEIGH_TRUNCATED;
	/* IPv6 has none without a checksum (RFC 8200 section 8.1) */
	bool good = get_be16(udp + 6) == 0 ? four : neigh_l4_sum(ip, &l4, NEIGH_IS_UDP, n, UDP_SUM);
	return good ? NEIGH_DID_UNREACHABLE : NEIGH_CHECKSUM;
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

	v->fate = unreach_fate(s, ip, len - at, four);
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
