/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames for a host, judged and answered one by one. */
#include "neigh_ip.h"
#include "neigh_mld_run.h"

enum { TYPE_IP4 = 0x0800, TYPE_ARP = 0x0806, TYPE_IP6 = 0x86dd };
enum { PROTO_ICMP = 1, PROTO_ICMP6 = 58 };
enum { ECHO4 = 8, ECHO6 = 128, ECHO6_REPLY = 129 };
enum { ARP_REQUEST = 1, ARP_REPLY = 2 };
enum { OPT_SOURCE = 1, OPT_TARGET = 2 };
enum { ND_SOLICITED = 0x40, ND_OVERRIDE = 0x20 };
#define HOPS 64

/* Adds a word to a sum of ones' complement: what overflows comes in again at the other end. */
static inline uint64_t sum_word(uint64_t sum, uint64_t word)
{
	sum += word;
	return sum + (sum < word);
}

/* Adds words of memory as they are: the sum of ones' complement is the same in both orders of
 * bytes, when its result is read in the same order (RFC 1071 section 2). */
static uint64_t sum_add(uint64_t sum, const uint8_t *p, unsigned n)
{
	uint64_t eight;
	uint32_t four;
	uint16_t two;

	for (; n >= 8; p += 8, n -= 8) {
		memcpy(&eight, p, 8);
		sum = sum_word(sum, eight);
	}
	if (n & 4) {
		memcpy(&four, p, 4);
		sum = sum_word(sum, four);
		p += 4;
	}
	if (n & 2) {
		memcpy(&two, p, 2);
		sum = sum_word(sum, two);
		p += 2;
	}
	if (n & 1) {
		memcpy(&two, (const uint8_t[2]){*p, 0}, 2);
		sum = sum_word(sum, two);
	}
	return sum;
}

uint16_t neigh_sum(const uint8_t *p, unsigned n, uint64_t first)
{
	uint64_t sum = sum_add(first, p, n);

	sum = (sum & UINT32_MAX) + (sum >> 32); /* below 2^33 */
	sum = (sum & 0xffff) + (sum >> 16);     /* below 2^18 */
	sum = (sum & 0xffff) + (sum >> 16);     /* 0xffff + 2 at most */
	sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)~sum;
}

uint64_t neigh_sum_ip6(const uint8_t *ip6, unsigned len)
{
	uint8_t rest[8] = {0, 0, (uint8_t)(len >> 8), (uint8_t)len, 0, 0, 0, PROTO_ICMP6};

	return sum_add(sum_add(0, ip6 + 8, 2 * NEIGH_IP), rest, sizeof(rest));
}

bool neigh_within(const uint8_t ip[NEIGH_IP], const uint8_t prefix[NEIGH_IP], unsigned bits)
{
	unsigned whole = bits / 8, rest = bits % 8;

	return memcmp(ip, prefix, whole) == 0 &&
	       (rest == 0 || (ip[whole] ^ prefix[whole]) >> (8 - rest) == 0);
}

const struct neigh_own *neigh_own_find(const struct neigh_self *s, const uint8_t ip[NEIGH_IP])
{
	for (unsigned i = 0; i < s->nown; i++)
		if (neigh_same_ip(s->own[i].ip, ip))
			return &s->own[i];
	return NULL;
}

unsigned neigh_payload(const struct neigh_self *s, const uint8_t *f, unsigned len, unsigned *type)
{
	unsigned at = NEIGH_ETH;

	for (unsigned i = 0; i < s->tags.n; i++, at += NEIGH_TAG)
		if (len < at + NEIGH_TAG || get_be16(f + at - 2) != s->tags.at[i].tpid ||
		    (get_be16(f + at) & 0xfff) != s->tags.at[i].vid)
			return 0;
	if (len <= at)
		return 0;
	*type = get_be16(f + at - 2);
	return at;
}

static bool wants_ip4(const struct neigh_self *s, const uint8_t *ip, unsigned len)
{
	uint8_t dst[NEIGH_IP];

	if (len < NEIGH_IP4 || ip[9] != PROTO_ICMP || (s->answer & NEIGH_ANSWER_PING) == 0)
		return false;
	neigh_ip_from4(dst, ip + 16);
	/* The type stands behind the header, whose length it says. Of a fragment behind the first
	 * one it is not known. */
	unsigned at = (ip[0] & 0xfu) * 4;
	return neigh_ip_used(s, dst) && (get_be16(ip + 6) & 0x1fff) == 0 && len > at &&
	       ip[at] == ECHO4;
}

static bool wants_ip6(const struct neigh_self *s, const uint8_t *ip, unsigned len)
{
	if (len <= NEIGH_IP6 || ip[6] != PROTO_ICMP6)
		return neigh_mld_wants(ip, len);
	if (ip[NEIGH_IP6] == ECHO6)
		return (s->answer & NEIGH_ANSWER_PING) != 0 && neigh_ip_used(s, ip + 24);
	return ip[NEIGH_IP6] == ND_SOLICIT || ip[NEIGH_IP6] == ND_ADVERT;
}

bool neigh_wants(const struct neigh_self *s, const uint8_t *f, unsigned len)
{
	unsigned type, at = neigh_payload(s, f, len, &type);

	if (at == 0)
		return false;
	bool group = (f[0] & 1) != 0;
	if (!group && !neigh_same_mac(f, s->mac))
		return false;
	if (neigh_unreach_wants(s, f, len) || neigh_reset_wants(s, f, len))
		return true;
	switch (type) {
	case TYPE_ARP:
		return true;
	case TYPE_IP4:
		return !group && wants_ip4(s, f + at, len - at);
	case TYPE_IP6:
		return wants_ip6(s, f + at, len - at) &&
		       (!group || f[at + 6] != PROTO_ICMP6 || f[at + NEIGH_IP6] != ECHO6);
	default:
		return false;
	}
}

/* ---- ARP ---- */

static unsigned answer_arp(const struct neigh_self *s, uint8_t *f, uint8_t *arp, unsigned len)
{
	uint8_t target[4];

	memcpy(target, arp + 24, 4);
	memcpy(f, arp + 8, 6);
	memcpy(f + 6, s->mac, 6);
	put_be16(arp + 6, ARP_REPLY);
	memcpy(arp + 18, arp + 8, 10);
	memcpy(arp + 8, s->mac, 6);
	memcpy(arp + 14, target, 4);
	return len;
}

static void judge_arp(const struct neigh_self *s, uint8_t *f, unsigned at, unsigned len,
		      unsigned room, struct neigh_verdict *v)
{
	static const uint8_t form[6] = {0, 1, 8, 0, 6, 4}, zero[4];
	uint8_t *arp = f + at, target[NEIGH_IP];
	struct neigh_heard *h = &v->heard;

	if (len - at < NEIGH_ARP) {
		v->fate = NEIGH_TRUNCATED;
		return;
	}
	unsigned op = get_be16(arp + 6);
	if (memcmp(arp, form, sizeof(form)) != 0 || (op != ARP_REQUEST && op != ARP_REPLY)) {
		v->fate = NEIGH_MALFORMED;
		return;
	}
	if (neigh_same_mac(arp + 8, s->mac)) {
		v->fate = NEIGH_ECHOED;
		return;
	}
	neigh_ip_from4(h->ip, arp + 14);
	neigh_ip_from4(target, arp + 24);
	bool tries = op == ARP_REQUEST && memcmp(arp + 14, zero, 4) == 0;
	if (!neigh_mac_sends(arp + 8) || (!tries && !neigh_ip_sends(h->ip))) {
		v->fate = NEIGH_SENDER;
		return;
	}
	h->has_mac = h->override = true;
	memcpy(h->mac, arp + 8, 6);
	const struct neigh_own *asked = neigh_own_find(s, target);
	if (tries) {
		h->said = NEIGH_TRIES;
		memcpy(h->ip, target, NEIGH_IP);
	} else if (op == ARP_REPLY) {
		h->said = asked != NULL && (f[0] & 1) == 0 ? NEIGH_ANSWERS : NEIGH_SAYS;
	} else {
		h->said = asked != NULL ? NEIGH_ASKS : NEIGH_SAYS;
	}
	bool claim = neigh_own_find(s, h->ip) != NULL;
	v->fate = claim ? NEIGH_CLAIM : NEIGH_HEARD;
	/* Who only tries an address of a proxied prefix is its rightful owner. */
	bool answers = asked != NULL ? asked->usable && (tries || !claim)
				     : !tries && memcmp(arp + 14, arp + 24, 4) != 0 &&
					       neigh_ip_proxied(s, target);
	if (op != ARP_REQUEST || !answers || (s->answer & NEIGH_ANSWER_ARP) == 0)
		return;
	if (room < len) {
		v->fate = NEIGH_NO_ROOM;
		return;
	}
	v->fate = NEIGH_DID_ARP;
	v->answer = answer_arp(s, f, arp, len);
}

/* ---- neighbour discovery ---- */

unsigned neigh_put_nd(uint8_t *ip6, unsigned type, unsigned flags, const uint8_t target[NEIGH_IP],
		      const uint8_t *mac)
{
	uint8_t *icmp = ip6 + NEIGH_IP6;
	unsigned len = NEIGH_ND + (mac != NULL ? 8 : 0);

	memcpy(ip6, (const uint8_t[8]){0x60, 0, 0, 0, 0, (uint8_t)len, PROTO_ICMP6, 255}, 8);
	memcpy(icmp, (const uint8_t[8]){(uint8_t)type, 0, 0, 0, (uint8_t)flags}, 8);
	memcpy(icmp + 8, target, NEIGH_IP);
	if (mac != NULL) {
		icmp[NEIGH_ND] = type == ND_SOLICIT ? OPT_SOURCE : OPT_TARGET;
		icmp[NEIGH_ND + 1] = 1;
		memcpy(icmp + NEIGH_ND + 2, mac, 6);
	}
	uint16_t sum = neigh_sum(icmp, len, neigh_sum_ip6(ip6, len));
	memcpy(icmp + 2, &sum, 2);
	return NEIGH_IP6 + len;
}

/* Finds the option with the sender's link address. false: an option's length is not one. */
static bool find_link(const uint8_t *opt, unsigned len, unsigned wanted, const uint8_t **mac)
{
	while (len > 0) {
		unsigned n = len >= 8 ? opt[1] * 8u : 0;
		if (n == 0 || n > len)
			return false;
		if (opt[0] == wanted && n == 8)
			*mac = opt + 2;
		opt += n;
		len -= n;
	}
	return true;
}

/* An address that may be used as the source of an advertisement for somebody else: one of ours. */
static const uint8_t *own_ip6(const struct neigh_self *s)
{
	for (unsigned i = 0; i < s->nown; i++)
		if (s->own[i].usable && !neigh_is_ip4(s->own[i].ip))
			return s->own[i].ip;
	return NULL;
}

/* Turns a solicitation into its advertisement (RFC 4861 7.2.4). */
static void answer_nd(const struct neigh_self *s, uint8_t *f, unsigned at, unsigned room,
		      const struct neigh_own *asked, struct neigh_verdict *v)
{
	static const uint8_t all_nodes[NEIGH_IP] = {0xff, 2, [15] = 1};
	uint8_t *ip = f + at, target[NEIGH_IP];
	bool tries = v->heard.said == NEIGH_TRIES;
	unsigned flags = tries ? 0 : ND_SOLICITED;
	const uint8_t *from = asked != NULL ? target : own_ip6(s);

	if (room < at + NEIGH_IP6 + NEIGH_ND + 8) {
		v->fate = NEIGH_NO_ROOM;
		return;
	}
	if (from == NULL)
		return;
	memcpy(target, ip + NEIGH_IP6 + 8, NEIGH_IP);
	if (tries) {
		memcpy(f, "\x33\x33\0\0\0\1", 6);
		memcpy(ip + 24, all_nodes, NEIGH_IP);
	} else {
		memcpy(f, v->heard.has_mac ? v->heard.mac : f + 6, 6);
		memcpy(ip + 24, ip + 8, NEIGH_IP);
	}
	memcpy(f + 6, s->mac, 6);
	memcpy(ip + 8, from, NEIGH_IP);
	v->answer = at + neigh_put_nd(ip, ND_ADVERT, asked != NULL ? flags | ND_OVERRIDE : flags,
				      target, s->mac);
	v->fate = NEIGH_DID_ND;
}

static void judge_solicit(const struct neigh_self *s, uint8_t *f, unsigned at, unsigned room,
			  const uint8_t *mac, struct neigh_verdict *v)
{
	static const uint8_t zero[NEIGH_IP], group[13] = {0xff, 2, [11] = 1, [12] = 0xff};
	const uint8_t *ip = f + at, *target = ip + NEIGH_IP6 + 8;
	struct neigh_heard *h = &v->heard;
	const struct neigh_own *asked = neigh_own_find(s, target);
	bool tries = memcmp(ip + 8, zero, NEIGH_IP) == 0;

	if (tries && (mac != NULL || memcmp(ip + 24, group, sizeof(group)) != 0)) {
		v->fate = NEIGH_MALFORMED;
		return;
	}
	if (!tries && !neigh_ip_sends(ip + 8)) {
		v->fate = NEIGH_SENDER;
		return;
	}
	memcpy(h->ip, tries ? target : ip + 8, NEIGH_IP);
	h->has_mac = mac != NULL;
	h->override = true;
	memcpy(h->mac, mac != NULL ? mac : f + 6, 6);
	h->said = tries ? NEIGH_TRIES : asked != NULL ? NEIGH_ASKS : NEIGH_NOTHING;
	bool claim = neigh_own_find(s, h->ip) != NULL;
	v->fate = claim ? NEIGH_CLAIM : NEIGH_HEARD;
	bool answers = asked != NULL ? asked->usable && (tries || !claim)
				     : !tries && !claim && neigh_ip_proxied(s, target);
	if (answers && (s->answer & NEIGH_ANSWER_ND) != 0)
		answer_nd(s, f, at, room, asked, v);
}

static void judge_advert(const struct neigh_self *s, const uint8_t *f, unsigned at,
			 const uint8_t *mac, struct neigh_verdict *v)
{
	const uint8_t *ip = f + at, *icmp = ip + NEIGH_IP6;
	struct neigh_heard *h = &v->heard;
	bool solicited = (icmp[4] & ND_SOLICITED) != 0;

	if (solicited && ip[24] == 0xff) {
		v->fate = NEIGH_MALFORMED;
		return;
	}
	if (!neigh_ip_sends(ip + 8)) {
		v->fate = NEIGH_SENDER;
		return;
	}
	memcpy(h->ip, icmp + 8, NEIGH_IP);
	h->has_mac = mac != NULL;
	memcpy(h->mac, mac != NULL ? mac : f + 6, 6);
	h->override = (icmp[4] & ND_OVERRIDE) != 0;
	h->said = solicited ? NEIGH_ANSWERS : NEIGH_SAYS;
	v->fate = neigh_own_find(s, h->ip) != NULL ? NEIGH_CLAIM : NEIGH_HEARD;
}

static void judge_nd(const struct neigh_self *s, uint8_t *f, unsigned at, unsigned n, unsigned room,
		     struct neigh_verdict *v)
{
	const uint8_t *ip = f + at, *icmp = ip + NEIGH_IP6, *mac = NULL;
	bool solicit = icmp[0] == ND_SOLICIT;

	if (ip[7] != 255) {
		v->fate = NEIGH_HOP_LIMIT;
		return;
	}
	if (n < NEIGH_ND) {
		v->fate = NEIGH_TRUNCATED;
		return;
	}
	if (icmp[1] != 0 || icmp[8] == 0xff ||
	    !find_link(icmp + NEIGH_ND, n - NEIGH_ND, solicit ? OPT_SOURCE : OPT_TARGET, &mac)) {
		v->fate = NEIGH_MALFORMED;
		return;
	}
	if (mac != NULL && neigh_same_mac(mac, s->mac)) {
		v->fate = NEIGH_ECHOED;
		return;
	}
	if (mac != NULL && !neigh_mac_sends(mac)) {
		v->fate = NEIGH_SENDER;
		return;
	}
	if (solicit)
		judge_solicit(s, f, at, room, mac, v);
	else
		judge_advert(s, f, at, mac, v);
}

/* ---- echoes ---- */

/* Changes a word of a checksum's data (RFC 1624): the type of an echo, and 0 in its place. */
static void sum_update(uint8_t *sum, unsigned was, unsigned is)
{
	uint32_t s = (uint16_t)~get_be16(sum) + (uint32_t)(uint16_t)~was + is;

	s = (s & 0xffff) + (s >> 16);
	s = (s & 0xffff) + (s >> 16);
	put_be16(sum, (uint16_t)~s);
}

static void turn_mac(const struct neigh_self *s, uint8_t *f)
{
	memcpy(f, f + 6, 6);
	memcpy(f + 6, s->mac, 6);
}

static void judge_swap(uint8_t *a, uint8_t *b, unsigned n)
{
	uint8_t was[NEIGH_IP];

	memcpy(was, a, n);
	memcpy(a, b, n);
	memcpy(b, was, n);
}

static void judge_ping4(const struct neigh_self *s, uint8_t *f, unsigned at, unsigned len,
			unsigned room, struct neigh_verdict *v)
{
	uint8_t *ip = f + at, *icmp = ip + NEIGH_IP4, from[NEIGH_IP];
	unsigned head = (ip[0] & 0xfu) * 4, total = get_be16(ip + 2);

	if (ip[0] >> 4 != 4 || head < NEIGH_IP4) {
		v->fate = NEIGH_MALFORMED;
		return;
	}
	if (total > len - at || total < head + 8) {
		v->fate = NEIGH_TRUNCATED;
		return;
	}
	if (neigh_sum(ip, head, 0) != 0) {
		v->fate = NEIGH_CHECKSUM;
		return;
	}
	neigh_ip_from4(from, ip + 12);
	if ((get_be16(ip + 6) & 0x3fff) != 0)
		v->fate = NEIGH_FRAGMENT;
	else if (head > NEIGH_IP4)
		v->fate = NEIGH_OPTIONS;
	else if (icmp[1] != 0)
		v->fate = NEIGH_MALFORMED;
	else if (neigh_sum(icmp, total - head, 0) != 0)
		v->fate = NEIGH_CHECKSUM;
	else if (!neigh_ip_sends(from) || neigh_own_find(s, from) != NULL)
		v->fate = NEIGH_SENDER;
	else if (room < len)
		v->fate = NEIGH_NO_ROOM;
	else
		v->fate = NEIGH_DID_PING;
	if (v->fate != NEIGH_DID_PING)
		return;
	turn_mac(s, f);
	sum_update(ip + 10, get_be16(ip + 8), (unsigned)HOPS << 8 | ip[9]);
	ip[8] = HOPS;
	judge_swap(ip + 12, ip + 16, 4);
	sum_update(icmp + 2, ECHO4 << 8, 0);
	icmp[0] = 0;
	v->answer = len;
}

static void judge_ping6(const struct neigh_self *s, uint8_t *f, unsigned at, unsigned len,
			unsigned n, unsigned room, struct neigh_verdict *v)
{
	uint8_t *ip = f + at, *icmp = ip + NEIGH_IP6;

	if (n < 8)
		v->fate = NEIGH_TRUNCATED;
	else if (icmp[1] != 0)
		v->fate = NEIGH_MALFORMED;
	else if (!neigh_ip_sends(ip + 8) || neigh_own_find(s, ip + 8) != NULL)
		v->fate = NEIGH_SENDER;
	else if (room < len)
		v->fate = NEIGH_NO_ROOM;
	else
		v->fate = NEIGH_DID_PING;
	if (v->fate != NEIGH_DID_PING)
		return;
	turn_mac(s, f);
	judge_swap(ip + 8, ip + 24, NEIGH_IP);
	ip[7] = HOPS;
	sum_update(icmp + 2, ECHO6 << 8, ECHO6_REPLY << 8);
	icmp[0] = ECHO6_REPLY;
	v->answer = len;
}

static void judge_ip6(const struct neigh_self *s, uint8_t *f, unsigned at, unsigned len,
		      unsigned room, struct neigh_verdict *v)
{
	uint8_t *ip = f + at;
	unsigned n = get_be16(ip + 4);

	if (ip[0] >> 4 != 6)
		v->fate = NEIGH_MALFORMED;
	else if (n > len - at - NEIGH_IP6 || n < 4)
		v->fate = NEIGH_TRUNCATED;
	else if (neigh_sum(ip + NEIGH_IP6, n, neigh_sum_ip6(ip, n)) != 0)
		v->fate = NEIGH_CHECKSUM;
	else if (ip[NEIGH_IP6] == ECHO6)
		judge_ping6(s, f, at, len, n, room, v);
	else
		judge_nd(s, f, at, n, room, v);
}

void neigh_judge(const struct neigh_self *s, uint8_t *f, unsigned len, unsigned room,
		 struct neigh_verdict *v)
{
	unsigned type = 0, at = neigh_payload(s, f, len, &type);

	*v = (struct neigh_verdict){.fate = NEIGH_HEARD};
	if (!neigh_mac_sends(f + 6))
		v->fate = NEIGH_SENDER;
	else if (neigh_same_mac(f + 6, s->mac))
		v->fate = NEIGH_ECHOED;
	else if (neigh_unreach_wants(s, f, len))
		neigh_unreach_judge(s, f, len, room, v);
	else if (neigh_reset_wants(s, f, len))
		neigh_reset_judge(s, f, len, room, v);
	else if (type == TYPE_ARP)
		judge_arp(s, f, at, len, room, v);
	else if (type == TYPE_IP4)
		judge_ping4(s, f, at, len, room, v);
	else if (f[at + 6] != PROTO_ICMP6)
		v->fate = neigh_mld_judge(f + at, len - at, &v->heard);
	else
		judge_ip6(s, f, at, len, room, v);
	if (v->fate >= NEIGH_TRUNCATED && v->fate != NEIGH_NO_ROOM)
		v->heard.said = NEIGH_NOTHING;
}
