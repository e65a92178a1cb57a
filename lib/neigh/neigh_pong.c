/* SPDX-License-Identifier: BSD-3-Clause */
/* What comes back for a ping, judged frame by frame. */
#include <string.h>

#include "neigh_ping_run.h"

enum { TYPE_IP4 = 0x0800, TYPE_ARP = 0x0806, TYPE_IP6 = 0x86dd };
enum { PROTO_ICMP = 1, PROTO_ICMP6 = 58, ARP_REPLY = 2, OPT_TARGET = 2 };
enum { ECHO4_REPLY = 0, UNREACHABLE4 = 3, ECHO4 = 8, EXCEEDED4 = 11, PARAMETER4 = 12 };
enum { TOO_BIG6 = 2, PARAMETER6 = 4, ECHO6 = 128, ECHO6_REPLY = 129 };
enum { CODE_FRAGMENT = 4 }; /* of UNREACHABLE4: it is too big, RFC 1191 */
#define ICMP_HEAD 8u

static unsigned pong_get16(const uint8_t *p)
{
	return (unsigned)p[0] << 8 | p[1];
}

/* An IP packet: where its payload begins, and how much of it is there. */
struct packet {
	const uint8_t *ip, *icmp;
	unsigned len;   /* of the payload, as the header says; 0: it is not ICMP */
	unsigned there; /* of it in the frame */
	bool six;
};

/* Reads the header of a packet of which so many bytes are there. */
static struct packet packet_read(const uint8_t *ip, unsigned n, bool six)
{
	struct packet k = {.ip = ip, .six = six};

	if (n < (six ? NEIGH_IP6 : NEIGH_IP4) || ip[0] >> 4 != (six ? 6 : 4))
		return k;
	unsigned head = six ? NEIGH_IP6 : (ip[0] & 0xfu) * 4;
	unsigned total = six ? NEIGH_IP6 + pong_get16(ip + 4) : pong_get16(ip + 2);
	bool icmp = six ? ip[6] == PROTO_ICMP6
			: ip[9] == PROTO_ICMP && (pong_get16(ip + 6) & 0x3fff) == 0;
	if (!icmp || head < NEIGH_IP4 || n < head || total < head + ICMP_HEAD)
		return k;
	k.icmp = ip + head;
	k.len = total - head;
	k.there = n - head < k.len ? n - head : k.len;
	return k;
}

/* Whether an address of the packet, source or destination, is this one. */
static bool packet_ip_is(const struct packet *k, bool dst, const uint8_t ip[NEIGH_IP])
{
	if (neigh_is_ip4(ip) == k->six)
		return false;
	return k->six ? memcmp(k->ip + (dst ? 24 : 8), ip, NEIGH_IP) == 0
		      : memcmp(k->ip + (dst ? 16 : 12), ip + 12, 4) == 0;
}

static void packet_source(const struct packet *k, uint8_t ip[NEIGH_IP])
{
	if (k->six)
		memcpy(ip, k->ip + 8, NEIGH_IP);
	else
		neigh_ip_from4(ip, k->ip + 12);
}

static bool is_error(const struct packet *k)
{
	unsigned type = k->icmp[0];

	return k->six ? type >= 1 && type <= PARAMETER6
		      : type == UNREACHABLE4 || type == EXCEEDED4 || type == PARAMETER4;
}

/* The packet that an ICMP error quotes. */
static struct packet packet_quoted(const struct packet *k)
{
	return k->there > ICMP_HEAD ? packet_read(k->icmp + ICMP_HEAD, k->there - ICMP_HEAD, k->six)
				    : (struct packet){0};
}

/* Whether the packet is a request of the ping. */
static bool is_request(const struct packet *k, const struct neigh_ping *p)
{
	return k->there >= ICMP_HEAD && k->icmp[0] == (k->six ? ECHO6 : ECHO4) &&
	       pong_get16(k->icmp + 4) == p->id && packet_ip_is(k, false, p->from) &&
	       packet_ip_is(k, true, p->to);
}

/* What came for a ping: the packet that says it, and the request that this one quotes if it is an
 * error. said.icmp NULL: nothing came. */
struct pong {
	struct packet said, quoted;
};

/* Reads a packet that is for us. */
static struct pong pong_read(const struct neigh_ping *p, const uint8_t *ip, unsigned n, bool six)
{
	struct pong g = {.said = packet_read(ip, n, six)};

	if (g.said.there < ICMP_HEAD || !packet_ip_is(&g.said, true, p->from))
		return (struct pong){0};
	if (g.said.icmp[0] == (six ? ECHO6_REPLY : ECHO4_REPLY))
		return pong_get16(g.said.icmp + 4) == p->id ? g : (struct pong){0};
	if (is_error(&g.said))
		g.quoted = packet_quoted(&g.said);
	return is_request(&g.quoted, p) ? g : (struct pong){0};
}

/* Finds the next IP header, from `at` on, that has this address as its destination. NULL: there is
 * none in the first bytes of the frame, which ends at `end`. */
static const uint8_t *find_to(const uint8_t *at, const uint8_t *end, const uint8_t ip[NEIGH_IP])
{
	bool four = neigh_is_ip4(ip);
	unsigned dst = four ? 16 : 24, size = four ? 4 : NEIGH_IP;

	if (end - at < (ptrdiff_t)(dst + size))
		return NULL;
	const uint8_t *found =
		memmem(at + dst, (size_t)(end - at) - dst, ip + NEIGH_IP - size, size);
	return found != NULL ? found - dst : NULL;
}

/* Finds an answer behind other headers, or an error about the outer ones that quotes so much that
 * the request is in it. */
static struct pong pong_inside(const struct neigh_self *s, const struct neigh_ping *p,
			       const uint8_t *f, unsigned len)
{
	const uint8_t *end = f + len;
	const uint8_t *most = len > NEIGH_PONG_SEARCH ? f + NEIGH_PONG_SEARCH : end;
	bool six = !neigh_is_ip4(p->to);

	for (const uint8_t *at = f + NEIGH_ETH; (at = find_to(at, most, p->from)) != NULL; at++) {
		struct pong g = pong_read(p, at, (unsigned)(end - at), six);
		if (g.said.icmp != NULL)
			return g;
	}
	unsigned type, outer = neigh_payload(s, f, len, &type);
	if (outer == 0 || (type != TYPE_IP4 && type != TYPE_IP6))
		return (struct pong){0};
	struct pong g = {.said = packet_read(f + outer, len - outer, type == TYPE_IP6)};
	if (g.said.there < ICMP_HEAD || !is_error(&g.said))
		return (struct pong){0};
	for (const uint8_t *at = g.said.icmp + ICMP_HEAD; (at = find_to(at, most, p->to)) != NULL;
	     at++) {
		g.quoted = packet_read(at, (unsigned)(end - at), six);
		if (is_request(&g.quoted, p))
			return g;
	}
	return (struct pong){0};
}

/* What a frame, which is not about the link, has brought for a ping. */
static struct pong pong_find(const struct neigh_self *s, const struct neigh_ping *p,
			     const uint8_t *f, unsigned len)
{
	if (p->inside)
		return len > NEIGH_ETH ? pong_inside(s, p, f, len) : (struct pong){0};
	unsigned type, at = neigh_payload(s, f, len, &type);
	if (at == 0 || memcmp(f, s->mac, 6) != 0 || (type != TYPE_IP4 && type != TYPE_IP6))
		return (struct pong){0};
	return pong_read(p, f + at, len - at, type == TYPE_IP6);
}

/* Whether it is an answer of the address that is asked for, to us. */
static bool wants_link(const struct neigh_ping *p, const uint8_t *at, unsigned n, unsigned type)
{
	if (neigh_is_ip4(p->to))
		return type == TYPE_ARP && n >= NEIGH_ARP && pong_get16(at + 6) == ARP_REPLY &&
		       memcmp(at + 14, p->to + 12, 4) == 0 && memcmp(at + 24, p->from + 12, 4) == 0;
	if (type != TYPE_IP6)
		return false;
	struct packet k = packet_read(at, n, true);
	return k.there >= NEIGH_ND && k.icmp[0] == ND_ADVERT && at[7] == 255 &&
	       packet_ip_is(&k, true, p->from) && memcmp(k.icmp + 8, p->to, NEIGH_IP) == 0;
}

bool neigh_pong_wants(const struct neigh_self *s, const struct neigh_ping *p, const uint8_t *f,
		      unsigned len)
{
	if (!p->link)
		return pong_find(s, p, f, len).said.icmp != NULL;
	unsigned type, at = neigh_payload(s, f, len, &type);
	return at != 0 && memcmp(f, s->mac, 6) == 0 && wants_link(p, f + at, len - at, type);
}

static uint64_t pong_number(const uint8_t *p)
{
	uint64_t v = 0;

	for (unsigned i = 0; i < NEIGH_PING_NUMBER; i++)
		v = v << 8 | p[i];
	return v;
}

/* The number of a request, or of its answer, as far as it is there. */
static void judge_number(const struct packet *k, struct neigh_pong *out)
{
	out->number = pong_get16(k->icmp + 6);
	out->whole = k->there >= ICMP_HEAD + NEIGH_PING_NUMBER;
	if (!out->whole)
		return;
	uint64_t whole = pong_number(k->icmp + ICMP_HEAD);
	if ((uint16_t)whole != out->number)
		out->kind = NEIGH_PONG_DAMAGED;
	out->number = whole;
}

static void judge_icmp(const struct neigh_ping *p, const struct pong *g, struct neigh_pong *out)
{
	const struct packet *k = &g->said;

	packet_source(k, out->ip);
	out->hops = k->ip[k->six ? 7 : 8];
	if (k->there < k->len ||
	    neigh_sum(k->icmp, k->len, k->six ? neigh_sum_ip6(k->ip, k->len) : 0) != 0) {
		out->kind = NEIGH_PONG_DAMAGED;
	} else if (!is_error(k)) {
		out->kind = packet_ip_is(k, false, p->to) ? NEIGH_PONG_ANSWER : NEIGH_PONG_FOREIGN;
		judge_number(k, out);
		if (!out->whole) /* all of ours have one */
			out->kind = NEIGH_PONG_DAMAGED;
	} else {
		out->kind = NEIGH_PONG_ERROR;
		out->type = k->icmp[0];
		out->code = k->icmp[1];
		if (k->six && out->type == TOO_BIG6)
			out->mtu = pong_get16(k->icmp + 4) << 16 | pong_get16(k->icmp + 6);
		else if (!k->six && out->type == UNREACHABLE4 && out->code == CODE_FRAGMENT)
			out->mtu = pong_get16(k->icmp + 6);
		judge_number(&g->quoted, out);
	}
}

struct neigh_pong neigh_pong_judge(const struct neigh_self *s, const struct neigh_ping *p,
				   const uint8_t *f, unsigned len)
{
	struct neigh_pong out = {.kind = NEIGH_PONG_ANSWER};

	memcpy(out.mac, f + 6, 6);
	if (!p->link) {
		struct pong g = pong_find(s, p, f, len);
		judge_icmp(p, &g, &out);
		return out;
	}
	unsigned type, at = neigh_payload(s, f, len, &type);
	memcpy(out.ip, p->to, NEIGH_IP);
	if (type == TYPE_ARP) {
		memcpy(out.mac, f + at + 8, 6);
		return out;
	}
	struct packet k = packet_read(f + at, len - at, true);
	if (k.there < k.len || neigh_sum(k.icmp, k.len, neigh_sum_ip6(k.ip, k.len)) != 0)
		out.kind = NEIGH_PONG_DAMAGED;
	else if (k.len >= NEIGH_ND + 8 && k.icmp[NEIGH_ND] == OPT_TARGET)
		memcpy(out.mac, k.icmp + NEIGH_ND + 2, 6);
	return out;
}

void neigh_ping_number(uint8_t *icmp, uint16_t first, uint64_t number)
{
	uint8_t *at = icmp + ICMP_HEAD - 2;

	put_be16(at, (uint16_t)number);
	for (unsigned i = 0; i < NEIGH_PING_NUMBER; i++)
		at[2 + i] = (uint8_t)(number >> (56 - 8 * i));
	uint16_t sum = neigh_sum(at, 2 + NEIGH_PING_NUMBER, first);
	memcpy(icmp + 2, &sum, 2);
}

void neigh_ping_hops(uint8_t *ip, unsigned hops)
{
	if (ip[0] >> 4 == 6) {
		ip[7] = (uint8_t)hops;
		return;
	}
	ip[8] = (uint8_t)hops;
	memset(ip + 10, 0, 2);
	uint16_t sum = neigh_sum(ip, NEIGH_IP4, 0);
	memcpy(ip + 10, &sum, 2);
}
