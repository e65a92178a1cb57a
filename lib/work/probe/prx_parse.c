/* SPDX-License-Identifier: BSD-3-Clause */
/* The walk through the headers of a received frame: see prx_parse.h. A function for each kind of
 * header checks that all of it is there, notes its checksum, and moves the reader on behind it.
 *
 * By which numbers most headers follow each other, and the lengths of the fixed ones, are in
 * proto_run.h, from which the table of protocols has them too. Where fields lie, how long the
 * extension headers of IPv6 and GTP-U's optional fields are, and what an ICMP or SCTP type carries,
 * is written here once more: a walk by the rows of the table would cost each frame that is looked
 * at.
 * tests/unit/prx_parse_test.c holds the two together: it builds stacks of all headers by the table
 * and finds every probe and no damage. */
#include "prx_parse.h"
#include "frame_run.h"
#include "proto_run.h"

#include <string.h>

#define UDP_VXLAN_OLD 8472 /* of Linux before the port was assigned; we send no such frames */

enum next {
	NEXT_STOP,
	NEXT_ETH,
	NEXT_VLAN,
	NEXT_LLC,
	NEXT_IP4,
	NEXT_IP6,
	NEXT_MPLS,
	NEXT_PPPOE,
	NEXT_IP_PROTO
};

struct reader {
	const uint8_t *p;
	uint32_t at, end; /* at <= end <= length of the frame */
	enum next next;
	uint32_t number; /* IP protocol that follows, or the length in front of LLC */
	/* Length and places of the addresses of the nearest IP header. alen 0: none came yet. */
	uint32_t alen, src, dst;
	/* This is a part of a packet that was sent in fragments or cut off: the checksums of what
	 * follows cannot be checked. */
	bool part;
	struct prx_walk *w;
};

/* Moves on behind a header of n bytes, and notes the place. prx_parse_need() has said that they are
 * there. */
static void prx_parse_behind(struct reader *r, uint32_t n, enum next next)
{
	struct prx_walk *w = r->w;

	r->at += n;
	r->next = next;
	if (w->nplaces == PRX_MAX_PLACES) {
		memmove(w->place, w->place + 1, (PRX_MAX_PLACES - 1) * sizeof(w->place[0]));
		w->nplaces--;
	}
	w->place[w->nplaces++] = r->at;
	w->payload = r->at;
}

/* Are n more bytes there? If not the walk ends. */
static bool prx_parse_need(struct reader *r, uint32_t n)
{
	if (r->end - r->at >= n)
		return true;
	r->next = NEXT_STOP;
	return false;
}

/* Notes that the header here is wrong. The walk goes on. */
static void bad_but_readable(struct reader *r)
{
	if (r->w->bad == UINT32_MAX)
		r->w->bad = r->at;
}

/* Notes that the header here is wrong, and ends the walk. */
static void prx_parse_bad(struct reader *r)
{
	bad_but_readable(r);
	r->next = NEXT_STOP;
}

/* Notes that an ICMP error begins to quote a packet here. */
static void prx_parse_quotes(struct reader *r)
{
	if (r->w->quote == UINT32_MAX)
		r->w->quote = r->at;
}

/* Notes a checksum that covers n bytes from here on. add: the sum of its pseudo header. */
static void prx_parse_covers(struct reader *r, uint32_t n, uint32_t add)
{
	struct prx_walk *w = r->w;

	if (w->nsums < PRX_MAX_SUMS)
		w->sum[w->nsums++] = (struct prx_sum){.from = r->at, .to = r->at + n, .add = add};
}

/* Notes a checksum that covers n bytes from here on, with a pseudo header of the IP addresses, the
 * protocol `number` and n. */
static void covers_l4(struct reader *r, uint32_t n, uint32_t number)
{
	if (r->part || r->alen == 0)
		return;
	prx_parse_covers(r, n,
			 prx_add(r->p + r->src, r->alen) + prx_add(r->p + r->dst, r->alen) +
				 (uint32_t)__builtin_bswap16((uint16_t)number) +
				 __builtin_bswap16((uint16_t)n) +
				 __builtin_bswap16((uint16_t)(n >> 16)));
}

/* What follows behind an EtherType. may_be_len: the field may hold a length instead. */
static enum next of_type(struct reader *r, uint32_t type, bool may_be_len)
{
	switch (type) {
	case ETYPE_IP4:
		return NEXT_IP4;
	case ETYPE_IP6:
		return NEXT_IP6;
	case ETYPE_VLAN:
	case ETYPE_QINQ:
	case 0x9100: /* before 802.1ad */
		return NEXT_VLAN;
	case ETYPE_MPLS:
	case 0x8848: /* multicast, RFC 5332 */
		return NEXT_MPLS;
	case ETYPE_PPPOE:
		return NEXT_PPPOE;
	case ETYPE_ETH:
		return NEXT_ETH;
	default:
		r->number = type;
		return may_be_len && type <= ETYPE_MAX_LEN ? NEXT_LLC : NEXT_STOP;
	}
}

/* What follows `off` bytes from here, by the version in its first four bits. */
static enum next of_version(const struct reader *r, uint32_t off)
{
	unsigned version = r->end - r->at > off ? r->p[r->at + off] >> 4 : 0;

	return version == 4 ? NEXT_IP4 : version == 6 ? NEXT_IP6 : NEXT_STOP;
}

/* Takes a length field into account: what follows ends n bytes from here. Returns false, and ends
 * the walk, if the frame is shorter than that. */
static bool prx_parse_bound(struct reader *r, uint32_t n)
{
	if (n > r->end - r->at) {
		prx_parse_bad(r);
		r->part = true;
		return false;
	}
	r->end = r->at + n;
	return true;
}

static void prx_parse_eth(struct reader *r)
{
	if (prx_parse_need(r, LEN_ETH))
		prx_parse_behind(r, LEN_ETH, of_type(r, get_be16(r->p + r->at + 12), true));
}

static void prx_parse_vlan(struct reader *r)
{
	if (prx_parse_need(r, LEN_VLAN))
		prx_parse_behind(r, LEN_VLAN, of_type(r, get_be16(r->p + r->at + 2), true));
}

static void prx_parse_llc(struct reader *r)
{
	if (!prx_parse_bound(r, r->number) || !prx_parse_need(r, LEN_LLC))
		return;
	const uint8_t *p = r->p + r->at;
	bool snap =
		p[0] == LLC_OF_SNAP && p[1] == LLC_OF_SNAP && r->end - r->at >= LEN_LLC + LEN_SNAP;
	prx_parse_behind(r, LEN_LLC, NEXT_STOP);
	if (snap)
		prx_parse_behind(r, LEN_SNAP, of_type(r, get_be16(p + 6), false));
}

static void prx_parse_pppoe(struct reader *r)
{
	if (!prx_parse_need(r, LEN_PPPOE))
		return;
	const uint8_t *p = r->p + r->at;
	uint32_t len = get_be16(p + 4), proto = get_be16(p + 6);
	if (p[0] >> 4 != 1 || len < 2) {
		prx_parse_bad(r);
		return;
	}
	if (prx_parse_bound(r, len + LEN_PPPOE - 2))
		prx_parse_behind(r, LEN_PPPOE,
				 proto == PPP_OF_IP4    ? NEXT_IP4
				 : proto == PPP_OF_IP6  ? NEXT_IP6
				 : proto == PPP_OF_MPLS ? NEXT_MPLS
							: NEXT_STOP);
}

static void prx_parse_mpls(struct reader *r)
{
	if (!prx_parse_need(r, LEN_MPLS))
		return;
	bool bottom = (r->p[r->at + 2] & 1) != 0;
	enum next next = of_version(r, LEN_MPLS);
	prx_parse_behind(r, LEN_MPLS, !bottom ? NEXT_MPLS : next == NEXT_STOP ? NEXT_ETH : next);
}

static void prx_parse_ip4(struct reader *r)
{
	if (!prx_parse_need(r, LEN_IP4))
		return;
	const uint8_t *p = r->p + r->at;
	uint32_t hlen = (p[0] & 15) * 4u, len = get_be16(p + 2);
	if (p[0] >> 4 != 4 || hlen < LEN_IP4 || len < hlen) {
		prx_parse_bad(r);
		return;
	}
	if (!prx_parse_bound(r, len))
		return;
	prx_parse_covers(r, hlen, 0);
	r->alen = 4;
	r->src = r->at + 12;
	r->dst = r->at + 16;
	r->number = p[9];
	r->part |= (get_be16(p + 6) & 0x3fff) != 0;
	prx_parse_behind(r, hlen, (get_be16(p + 6) & 0x1fff) != 0 ? NEXT_STOP : NEXT_IP_PROTO);
}

static void prx_parse_ip6(struct reader *r)
{
	if (!prx_parse_need(r, LEN_IP6))
		return;
	const uint8_t *p = r->p + r->at;
	if (p[0] >> 4 != 6) {
		prx_parse_bad(r);
		return;
	}
	if (!prx_parse_bound(r, get_be16(p + 4) + LEN_IP6))
		return;
	r->alen = 16;
	r->src = r->at + 8;
	r->dst = r->at + 24;
	r->number = p[6];
	prx_parse_behind(r, LEN_IP6, NEXT_IP_PROTO);
}

/* The length of an extension header: `unit` times its length field, and `from`. 0: not all of it is
 * here. */
static uint32_t ext_len(struct reader *r, uint32_t unit, uint32_t from)
{
	if (!prx_parse_need(r, 8))
		return 0;
	uint32_t n = r->p[r->at + 1] * unit + from;
	if (n > r->end - r->at) {
		prx_parse_bad(r);
		return 0;
	}
	return n;
}

/* Destination options. A home address option (RFC 6275) stands for the source address in the pseudo
 * header; a later one replaces an earlier one. */
static void ext_dst(struct reader *r)
{
	uint32_t n = ext_len(r, 8, 8);
	const uint8_t *p = r->p + r->at;

	if (n == 0)
		return;
	for (uint32_t o = 2, olen; o < n; o += olen) {
		olen = p[o] == 0 ? 1 : o + 1 < n ? p[o + 1] + 2u : n;
		if (olen > n - o)
			break;
		if (p[o] == 201 && olen == 18 && r->alen == 16)
			r->src = r->at + o + 2;
	}
	r->number = p[0];
	prx_parse_behind(r, n, NEXT_IP_PROTO);
}

/* A routing header. If segments are left, the final destination is in it and stands for the
 * destination address in the pseudo header; a later one replaces an earlier one. */
static void ext_route(struct reader *r)
{
	uint32_t n = ext_len(r, 8, 8);
	const uint8_t *p = r->p + r->at;

	if (n == 0)
		return;
	if (p[3] != 0 && n >= 24 && r->alen == 16)
		r->dst = r->at + 8 + (p[2] == 4 ? 0 : (n - 8) / 16 * 16 - 16);
	r->number = p[0];
	prx_parse_behind(r, n, NEXT_IP_PROTO);
}

static void ext_frag(struct reader *r)
{
	if (!prx_parse_need(r, 8))
		return;
	const uint8_t *p = r->p + r->at;
	r->part |= (get_be16(p + 2) & ~6u) != 0;
	r->number = p[0];
	prx_parse_behind(r, 8, get_be16(p + 2) >> 3 != 0 ? NEXT_STOP : NEXT_IP_PROTO);
}

static void ext_plain(struct reader *r, uint32_t unit)
{
	uint32_t n = ext_len(r, unit, 8);

	if (n == 0)
		return;
	r->number = r->p[r->at];
	prx_parse_behind(r, n, NEXT_IP_PROTO);
}

static void prx_parse_gtpu(struct reader *r)
{
	if (!prx_parse_need(r, LEN_GTPU))
		return;
	const uint8_t *p = r->p + r->at;
	if (p[0] >> 5 != 1) {
		prx_parse_bad(r);
		return;
	}
	bool opt = (p[0] & 7) != 0, more = (p[0] & 4) != 0;
	bool user = p[1] == GTPU_G_PDU;
	if (!prx_parse_bound(r, get_be16(p + 2) + LEN_GTPU))
		return;
	prx_parse_behind(r, LEN_GTPU, NEXT_STOP);
	if (opt) {
		if (!prx_parse_need(r, 4))
			return;
		unsigned ext = more ? r->p[r->at + 3] : 0;
		prx_parse_behind(r, 4, NEXT_STOP);
		while (ext != 0 && r->at < r->end && r->p[r->at] != 0 &&
		       r->p[r->at] * 4u <= r->end - r->at) {
			uint32_t n = r->p[r->at] * 4u;
			ext = r->p[r->at + n - 1];
			prx_parse_behind(r, n, NEXT_STOP);
		}
	}
	r->next = user ? of_version(r, 0) : NEXT_STOP;
}

static void prx_parse_geneve(struct reader *r)
{
	if (!prx_parse_need(r, LEN_GENEVE))
		return;
	const uint8_t *p = r->p + r->at;
	uint32_t n = LEN_GENEVE + (p[0] & 63) * 4u;
	if (p[0] >> 6 != 0 || n > r->end - r->at)
		prx_parse_bad(r);
	else
		prx_parse_behind(r, n, of_type(r, get_be16(p + 2), false));
}

/* Does this UDP port belong to a tunnel? */
static bool holds_more(uint32_t port)
{
	return port == UDP_OF_GTPU || port == UDP_OF_GENEVE || port == UDP_OF_MPLS ||
	       port == UDP_OF_VXLAN || port == UDP_VXLAN_OLD;
}

static void prx_parse_udp(struct reader *r)
{
	if (!prx_parse_need(r, LEN_UDP))
		return;
	const uint8_t *p = r->p + r->at;
	uint32_t len = get_be16(p + 4), dst = get_be16(p + 2);
	if (len < LEN_UDP) {
		prx_parse_bad(r);
		return;
	}
	if (!prx_parse_bound(r, len))
		return;
	if (get_be16(p + 6) != 0)
		covers_l4(r, len, IP_UDP);
	else if (r->alen == 16 &&
		 !holds_more(dst)) /* RFC 8200, 8.1; tunnels may go without: RFC 6935 */
		bad_but_readable(r);
	prx_parse_behind(r, LEN_UDP, NEXT_STOP);
	if (dst == UDP_OF_GTPU) {
		prx_parse_gtpu(r);
	} else if (dst == UDP_OF_GENEVE) {
		prx_parse_geneve(r);
	} else if (dst == UDP_OF_MPLS) {
		r->next = NEXT_MPLS;
	} else if (dst == UDP_OF_VXLAN || dst == UDP_VXLAN_OLD) {
		if (prx_parse_need(r, LEN_VXLAN))
			prx_parse_behind(r, LEN_VXLAN, NEXT_ETH);
	}
}

static void prx_parse_tcp(struct reader *r)
{
	if (!prx_parse_need(r, LEN_TCP))
		return;
	uint32_t n = (r->p[r->at + 12] >> 4) * 4u;
	if (n < LEN_TCP || n > r->end - r->at) {
		prx_parse_bad(r);
		return;
	}
	covers_l4(r, r->end - r->at, IP_TCP);
	prx_parse_behind(r, n, NEXT_STOP);
}

static void prx_parse_sctp(struct reader *r)
{
	if (!prx_parse_need(r, LEN_SCTP))
		return;
	unsigned type = r->p[r->at + 12], nsums = r->w->nsums;
	if (!r->part)
		prx_parse_covers(r, r->end - r->at, 0);
	if (r->w->nsums > nsums)
		r->w->sum[nsums].crc32c = true;
	prx_parse_behind(r, LEN_SCTP, NEXT_STOP);
	if (type == 0 && r->end - r->at >= 12)
		prx_parse_behind(r, 12, NEXT_STOP);
	else if ((type == 1 || type == 2) && r->end - r->at >= 16)
		prx_parse_behind(r, 16, NEXT_STOP);
}

static void prx_parse_icmp(struct reader *r)
{
	if (!prx_parse_need(r, LEN_ICMP))
		return;
	unsigned type = r->p[r->at];
	uint32_t more = type == 13 || type == 14 ? 12 : type == 17 || type == 18 ? 4 : 0;
	if (!r->part)
		prx_parse_covers(r, r->end - r->at, 0);
	bool error = type == 11 || type == 12 || (type >= 3 && type <= 5);
	prx_parse_behind(r, LEN_ICMP, error ? NEXT_IP4 : NEXT_STOP);
	if (error)
		prx_parse_quotes(r);
	if (more != 0 && r->end - r->at >= more)
		prx_parse_behind(r, more, NEXT_STOP);
}

static void prx_parse_icmp6(struct reader *r)
{
	if (!prx_parse_need(r, LEN_ICMP))
		return;
	unsigned type = r->p[r->at];
	covers_l4(r, r->end - r->at, IP_ICMP6);
	bool error = type >= 1 && type <= 4;
	prx_parse_behind(r, LEN_ICMP, error ? NEXT_IP6 : NEXT_STOP);
	if (error)
		prx_parse_quotes(r);
}

static void prx_parse_gre(struct reader *r)
{
	if (!prx_parse_need(r, LEN_GRE))
		return;
	uint32_t flags = get_be16(r->p + r->at), type = get_be16(r->p + r->at + 2);
	uint32_t n = LEN_GRE + (flags >> 15) * 4 + (flags >> 13 & 1) * 4 + (flags >> 12 & 1) * 4;
	if ((flags & 7) != 0 || n > r->end - r->at) {
		prx_parse_bad(r);
		return;
	}
	if (flags >> 15 != 0 && !r->part)
		prx_parse_covers(r, r->end - r->at, 0);
	prx_parse_behind(r, n, (flags & 0x4000) != 0 ? NEXT_STOP : of_type(r, type, false));
}

static void ip_proto(struct reader *r)
{
	switch (r->number) {
	case IP_IP4:
		r->next = NEXT_IP4;
		break;
	case IP_IP6:
		r->next = NEXT_IP6;
		break;
	case IP_MPLS:
		r->next = NEXT_MPLS;
		break;
	case IP_UDP:
		prx_parse_udp(r);
		break;
	case IP_TCP:
		prx_parse_tcp(r);
		break;
	case IP_SCTP:
		prx_parse_sctp(r);
		break;
	case IP_ICMP:
		prx_parse_icmp(r);
		break;
	case IP_ICMP6:
		prx_parse_icmp6(r);
		break;
	case IP_GRE:
		prx_parse_gre(r);
		break;
	case IP_ESP:
		r->next = NEXT_STOP;
		if (prx_parse_need(r, LEN_ESP))
			prx_parse_behind(r, LEN_ESP, NEXT_STOP);
		break;
	case IP_AH:
		ext_plain(r, 4);
		break;
	case IP_HOPOPT:
		ext_plain(r, 8);
		break;
	case IP_DSTOPT:
		ext_dst(r);
		break;
	case IP_ROUTE:
		ext_route(r);
		break;
	case IP_FRAG:
		ext_frag(r);
		break;
	default:
		r->next = NEXT_STOP;
		break;
	}
}

void prx_walk(const uint8_t *frame, uint32_t len, struct prx_walk *w)
{
	static void (*const step[])(struct reader *) = {
		[NEXT_ETH] = prx_parse_eth,     [NEXT_VLAN] = prx_parse_vlan,
		[NEXT_LLC] = prx_parse_llc,     [NEXT_IP4] = prx_parse_ip4,
		[NEXT_IP6] = prx_parse_ip6,     [NEXT_MPLS] = prx_parse_mpls,
		[NEXT_PPPOE] = prx_parse_pppoe, [NEXT_IP_PROTO] = ip_proto,
	};
	struct reader r = {.p = frame, .end = len, .next = NEXT_ETH, .w = w};

	w->nplaces = w->nsums = 0;
	w->payload = 0;
	w->bad = w->quote = UINT32_MAX;
	/* a stack has at most 64 headers */
	for (unsigned depth = 0; r.next != NEXT_STOP && depth < 64; depth++)
		step[r.next](&r);
}

/* Up to 7 bytes from p on, placed as in a 64-bit word that begins at p and goes on with zeroes. */
static uint64_t some_bytes(const uint8_t *p, uint32_t n)
{
	uint64_t v = 0;

	for (uint32_t i = 0; i < n; i++)
		v |= (uint64_t)p[i] << 8 * i;
	return v;
}

/* A number that is congruent mod 65535 to the sum of the 16-bit words of p[0..n). It is 0 only if
 * all bytes are 0. */
static inline uint64_t add_words(const uint8_t *p, uint32_t n)
{
	uint64_t sum = 0, last;
	uint32_t i = 0, rest = n & 7;

	for (; i + 8 <= n; i += 8) {
		uint32_t v[2];
		memcpy(v, p + i, 8);
		sum += (uint64_t)v[0] + v[1];
	}
	if (rest == 0)
		return sum;
	if (i > 0) {
		memcpy(&last, p + n - 8, 8);
		last >>= 64 - 8 * rest;
	} else {
		last = some_bytes(p, rest);
	}
	return sum + (last & 0xffffffff) + (last >> 32);
}

uint32_t prx_add(const uint8_t *p, uint32_t n)
{
	uint64_t sum = add_words(p, n);

	sum = (sum & 0xffffffff) + (sum >> 32);
	sum = (sum & 0xffff) + (sum >> 16 & 0xffff) + (sum >> 32);
	sum = (sum & 0xffff) + (sum >> 16);
	return (uint32_t)((sum & 0xffff) + (sum >> 16));
}

/* Is the CRC32c of an SCTP packet wrong? Its field has the least significant byte first, and counts
 * as 0 (RFC 9260 6.8 and appendix A). */
static bool crc_wrong(const uint8_t *p, uint32_t n)
{
	static const uint8_t none[4];
	uint32_t crc = frun_crc32c(UINT32_MAX, p, 8);

	crc = ~frun_crc32c(frun_crc32c(crc, none, 4), p + 12, n - 12);
	return crc != ((uint32_t)p[8] | (uint32_t)p[9] << 8 | (uint32_t)p[10] << 16 |
		       (uint32_t)p[11] << 24);
}

bool prx_surely_whole(const uint8_t *frame, uint32_t len, uint32_t at)
{
	const uint8_t *ip = frame + LEN_ETH, *u = ip + LEN_IP4;
	struct prx_walk w;

	if (len >= LEN_ETH + LEN_IP4 + LEN_UDP && at >= LEN_ETH + LEN_IP4 + LEN_UDP &&
	    get_be16(frame + 12) == ETYPE_IP4 && ip[0] == 0x45 &&
	    (get_be16(ip + 6) & 0x3fff) == 0 && ip[9] == IP_UDP) {
		uint32_t all = get_be16(ip + 2), n = get_be16(u + 4);
		if (all <= len - LEN_ETH && all >= LEN_IP4 + LEN_UDP && n >= LEN_UDP &&
		    n <= all - LEN_IP4 && get_be16(u + 6) != 0 && !holds_more(get_be16(u + 2))) {
			uint64_t sum = add_words(u, n) + add_words(ip + 12, 8) +
				       (uint32_t)__builtin_bswap16(IP_UDP) +
				       __builtin_bswap16((uint16_t)n);
			return add_words(ip, LEN_IP4) % 65535 == 0 && sum % 65535 == 0;
		}
	}
	prx_walk(frame, len, &w);
	return !prx_damaged(frame, &w, at);
}

bool prx_damaged(const uint8_t *frame, const struct prx_walk *w, uint32_t at)
{
	if (w->bad < at)
		return true;
	for (unsigned i = 0; i < w->nsums && w->sum[i].from < at; i++) {
		if (w->sum[i].crc32c) {
			if (crc_wrong(frame + w->sum[i].from, w->sum[i].to - w->sum[i].from))
				return true;
			continue;
		}
		uint64_t sum =
			(uint64_t)prx_add(frame + w->sum[i].from, w->sum[i].to - w->sum[i].from) +
			w->sum[i].add;
		if (sum == 0 || sum % 65535 != 0)
			return true;
	}
	return false;
}

bool prx_quoted(const uint8_t *frame, const struct prx_walk *w, uint32_t at)
{
	return w->quote != UINT32_MAX && at >= w->quote + LEN_IP4 &&
	       !prx_damaged(frame, w, w->quote);
}
