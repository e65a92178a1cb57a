/* SPDX-License-Identifier: BSD-3-Clause */
/* What a host says of TCP for which there is no connection and nobody listens: a RST (RFC 9293
 * section 3.10.7.1). As Linux and dperf do it, each segment has one, however many come: it is never
 * larger than the shortest segment. */
#include "neigh_ip.h"

enum { TYPE_IP4 = 0x0800 };
enum { TH_FIN = 1, TH_SYN = 2, TH_RST = 4, TH_ACK = 16 };
#define HOPS 64
#define TCP 20
#define TCP_FLAGS 13
#define TCP_SUM 16

bool neigh_reset_wants(const struct neigh_self *s, const uint8_t *f, unsigned len)
{
	unsigned type, at;

	if ((s->answer & NEIGH_ANSWER_RESET) == 0 || !neigh_l4_wants(s, f, len, NEIGH_IS_TCP, true))
		return false;
	at = neigh_payload(s, f, len, &type);
	at += type == TYPE_IP4 ? (f[at] & 0xfu) * 4 : NEIGH_IP6;
	/* Of what is cut off before its flags it is not known. */
	return len <= at + TCP_FLAGS || (f[at + TCP_FLAGS] & TH_RST) == 0;
}

/* What is wrong with the segment; NEIGH_DID_RESET: nothing. */
static enum neigh_fate reset_fate(const uint8_t *ip, const struct neigh_l4 *l4)
{
	unsigned header = (ip[l4->head + 12] >> 4) * 4u;

	if (header < TCP)
		return NEIGH_MALFORMED;
	if (header > l4->n)
		return NEIGH_TRUNCATED;
	return neigh_l4_sum(ip, l4, NEIGH_IS_TCP, l4->n, TCP_SUM) ? NEIGH_DID_RESET
								  : NEIGH_CHECKSUM;
}

static uint32_t reset_word(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return be32toh(v);
}

/* Makes the segment of n bytes at t the TCP header of its answer, all but the checksum. */
static void reset_put(uint8_t *t, unsigned n)
{
	unsigned flags = t[TCP_FLAGS];
	uint32_t place[2] = {0}; /* sequence number, and what is acknowledged */
	uint8_t ports[4] = {t[2], t[3], t[0], t[1]};

	if ((flags & TH_ACK) != 0)
		place[0] = htobe32(reset_word(t + 8));
	else
		place[1] = htobe32(reset_word(t + 4) + n - (t[12] >> 4) * 4u +
				   ((flags & TH_SYN) != 0) + ((flags & TH_FIN) != 0));
	memset(t, 0, TCP);
	memcpy(t, ports, sizeof(ports));
	memcpy(t + 4, place, sizeof(place));
	t[12] = TCP / 4 << 4;
	t[TCP_FLAGS] = (flags & TH_ACK) != 0 ? TH_RST : TH_RST | TH_ACK;
}

/* Puts the IP header of the answer, whose addresses are those of the one at `ip`, exchanged. */
static void reset_ip(uint8_t *ip, bool four)
{
	uint8_t from[NEIGH_IP];

	if (four) {
		memcpy(from, ip + 12, 4);
		memcpy(ip + 12, ip + 16, 4);
		memcpy(ip + 16, from, 4);
		memcpy(ip,
		       (const uint8_t[12]){0x45, 0, 0, NEIGH_IP4 + TCP, 0, 0, 0x40, 0, HOPS,
					   NEIGH_IS_TCP},
		       12);
		uint16_t sum = neigh_sum(ip, NEIGH_IP4, 0);
		memcpy(ip + 10, &sum, 2);
	} else {
		memcpy(from, ip + 8, NEIGH_IP);
		memcpy(ip + 8, ip + 24, NEIGH_IP);
		memcpy(ip + 24, from, NEIGH_IP);
		memcpy(ip, (const uint8_t[8]){0x60, 0, 0, 0, 0, TCP, NEIGH_IS_TCP, HOPS}, 8);
	}
}

void neigh_reset_judge(const struct neigh_self *s, uint8_t *f, unsigned len, unsigned room,
		       struct neigh_verdict *v)
{
	unsigned type = 0, at = neigh_payload(s, f, len, &type);
	bool four = type == TYPE_IP4;
	unsigned end = at + (four ? NEIGH_IP4 : NEIGH_IP6) + TCP;
	unsigned all = end < NEIGH_FRAME_MIN ? NEIGH_FRAME_MIN : end;
	struct neigh_l4 l4;
	uint8_t *ip = f + at;

	v->fate = neigh_l4_fate(s, ip, len - at, four, TCP, &l4);
	if (v->fate != NEIGH_HEARD)
		return;
	v->fate = reset_fate(ip, &l4);
	if (v->fate == NEIGH_DID_RESET && room < all)
		v->fate = NEIGH_NO_ROOM;
	if (v->fate != NEIGH_DID_RESET)
		return;
	memcpy(f, f + 6, 6);
	memcpy(f + 6, s->mac, 6);
	reset_put(ip + l4.head, l4.n);
	/* the answer has no options of IPv4 */
	memmove(f + end - TCP, ip + l4.head, TCP);
	reset_ip(ip, four);
	uint16_t sum = neigh_sum(f + end - TCP, TCP, neigh_l4_pseudo(ip, four, NEIGH_IS_TCP, TCP));
	memcpy(f + end - TCP + TCP_SUM, &sum, 2);
	memset(f + end, 0, all - end);
	v->answer = all;
}
