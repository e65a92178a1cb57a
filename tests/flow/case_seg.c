/* SPDX-License-Identifier: BSD-3-Clause */
/* Segments as frames, as text, and compared. Sums are computed here by their definition and not by
 * the functions that are judged. */
#include "flow_case.h"

enum { LEN_TCP = 20, LEN_UDP = 8 };

static void seg_put32(uint8_t *p, uint32_t v)
{
	put_be16(p, v >> 16);
	put_be16(p + 2, v & 0xffff);
}

static uint32_t seg_get32(const uint8_t *p)
{
	return (uint32_t)get_be16(p) << 16 | get_be16(p + 2);
}

/* RFC 1071, byte by byte. */
static uint32_t seg_add(uint32_t sum, const uint8_t *p, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		sum += i % 2 == 0 ? (uint32_t)p[i] << 8 : p[i];
	while (sum > 0xffff)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

static uint32_t seg_l4_sum(const uint8_t *ip, const uint8_t *l4, unsigned n)
{
	bool is6 = ip[0] >> 4 == 6;
	const uint8_t rest[4] = {0, ip[is6 ? 6 : 9], (uint8_t)(n >> 8), (uint8_t)n};
	uint32_t sum = is6 ? seg_add(0, ip + 8, 32) : seg_add(0, ip + 12, 8);

	return seg_add(seg_add(sum, rest, 4), l4, n);
}

/* ---- the headers before TCP and UDP ---- */

/* 10.0.0.1 and fd00::1 are the client. */
void seg_addresses(const struct flow_case *c, bool client_first, uint8_t *ip)
{
	uint8_t last[2] = {client_first ? 1 : 2, client_first ? 2 : 1};

	for (unsigned i = 0; i < 2; i++) {
		if (c->is6)
			memcpy(ip + 8 + 16 * i, (uint8_t[16]){0xfd, [15] = last[i]}, 16);
		else
			memcpy(ip + 12 + 4 * i, (uint8_t[4]){10, 0, 0, last[i]}, 4);
	}
	if (c->is6) {
		ip[0] = 0x60;
		ip[6] = c->udp ? 17 : 6;
	}
}

/* VXLAN (RFC 7348 5) without lengths and checksums, if the case is in a tunnel; then Ethernet. */
static void seg_outer(const struct flow_case *c, bool from_us, uint8_t *h)
{
	static const uint8_t outer[CASE_TUNNEL] = {
		[12] = 8, [14] = 0x45, [20] = 0x40, [22] = 64,   [23] = 17, [26] = 1,
		[27] = 2, [28] = 3,    [29] = 4,    [30] = 1,    [31] = 2,  [32] = 3,
		[33] = 5, [35] = 9,    [36] = 0x12, [37] = 0xb5, [42] = 8,  [48] = CASE_IDENT};
	const uint8_t macs[12] = {2, 0, 0, 0, 0, from_us ? 2 : 1, 2, 0, 0, 0, 0, from_us ? 1 : 2};

	if (c->tunnel) {
		memcpy(h, outer, sizeof(outer));
		memcpy(h, macs, sizeof(macs));
	}
	memcpy(h + c->l3 - 14, macs, sizeof(macs));
	put_be16(h + c->l3 - 2, c->is6 ? 0x86dd : 0x800);
}

unsigned seg_path(const struct flow_case *c, uint8_t *h)
{
	uint8_t *ip = h + c->l3;

	seg_outer(c, true, h);
	if (c->is6) {
		ip[0] = 0x60;
		ip[6] = c->udp ? 17 : 6;
		ip[7] = 64;
		return c->l3 + 40;
	}
	ip[0] = 0x45;
	ip[6] = 0x40;
	ip[8] = 64;
	ip[9] = c->udp ? 17 : 6;
	return c->l3 + 20;
}

/* ---- text ---- */

static void seg_flags(unsigned flags, char *to)
{
	static const char name[] = "FSRP.UEC";

	for (unsigned i = 0; i < 8; i++) {
		if ((flags & 1u << i) != 0 && 1u << i != TH_ACK)
			*to++ = name[i];
	}
	if ((flags & TH_ACK) != 0)
		*to++ = '.';
	*to = 0;
}

static unsigned seg_print_sack(const uint8_t *o, unsigned len, uint32_t base, char *to, size_t room)
{
	int n = snprintf(to, room, " sack");

	for (unsigned i = 2; i + 8 <= len && (size_t)n < room; i += 8)
		n += snprintf(to + n, room - (size_t)n, "%c%d-%d", i == 2 ? ' ' : ',',
			      (int32_t)(seg_get32(o + i) - base),
			      (int32_t)(seg_get32(o + i + 4) - base));
	return (unsigned)n;
}

static void seg_print_options(const struct seg *s, uint32_t base, char *to, size_t room)
{
	size_t n = 0;

	*to = 0;
	for (unsigned i = 0; i < s->noptions && n + 24 < room;) {
		const uint8_t *o = s->options + i;
		unsigned len = o[0] < 2 || i + 1 >= s->noptions ? 1 : o[1];

		if (len == 0 || i + len > s->noptions)
			break;
		if (o[0] == 2 && len == 4)
			n += (size_t)snprintf(to + n, room - n, " mss %u", get_be16(o + 2));
		else if (o[0] == 3 && len == 3)
			n += (size_t)snprintf(to + n, room - n, " wscale %u", o[2]);
		else if (o[0] == 4)
			n += (size_t)snprintf(to + n, room - n, " sackOK");
		else if (o[0] == 5)
			n += seg_print_sack(o, len, base, to + n, room - n);
		else if (o[0] > 1)
			n += (size_t)snprintf(to + n, room - n, " option-%u", o[0]);
		i += len;
	}
}

void seg_print(const struct flow_case *c, const struct seg *s, bool from_us, char *to, size_t room)
{
	uint32_t seq = from_us ? c->our_isn : c->their_isn,
		 ack = from_us ? c->their_isn : c->our_isn;
	char flags[12], options[100], number[24] = "";

	if (s->udp) {
		if (s->number != 0)
			snprintf(number, sizeof(number), " number %u", s->number);
		snprintf(to, room, "udp (%u)%s", s->len, number);
		return;
	}
	seg_flags(s->flags, flags);
	seg_print_options(s, ack, options, sizeof(options));
	if ((s->flags & TH_ACK) != 0)
		snprintf(number, sizeof(number), " ack %d", (int32_t)(s->ack - ack));
	snprintf(to, room, "%s %d(%u)%s win %u%s", flags, (int32_t)(s->seq - seq), s->len, number,
		 s->win, options);
}

/* ---- frames of the peer ---- */

static unsigned seg_build_tcp(const struct flow_case *c, const struct seg *s, uint8_t *t)
{
	unsigned header = LEN_TCP + (s->noptions + 3) / 4 * 4;

	memset(t, 0, header);
	put_be16(t, s->sport);
	put_be16(t + 2, s->dport);
	seg_put32(t + 4, s->seq);
	seg_put32(t + 8, s->ack);
	t[12] = (uint8_t)((s->doff >= 0 ? (unsigned)s->doff : header / 4) << 4);
	t[13] = s->flags;
	put_be16(t + 14, s->win);
	put_be16(t + 18, s->urg);
	memcpy(t + LEN_TCP, s->options, s->noptions);
	/* what the peer sends is the content from its first byte on */
	wl_content_put(&c->content, s->seq - c->their_isn - 1 + ((s->flags & TH_SYN) != 0),
		       t + header, s->len);
	return header + s->len;
}

static unsigned seg_build_udp(const struct flow_case *c, const struct seg *s, uint8_t *u)
{
	uint64_t number = s->number;

	put_be16(u, s->sport);
	put_be16(u + 2, s->dport);
	put_be16(u + 4, LEN_UDP + s->len);
	put_be16(u + 6, 0);
	wl_content_put(&c->content, 0, u + LEN_UDP, s->len);
	if (s->number != 0 && s->len >= WL_NUMBER)
		memcpy(u + LEN_UDP, &number, WL_NUMBER);
	return LEN_UDP + s->len;
}

unsigned seg_build(struct flow_case *c, const struct seg *s, uint8_t *f)
{
	uint8_t *ip = f + c->l3;
	unsigned ip_len = (c->is6 ? 40 : 20) + s->ip_options, total, n, sum;
	uint8_t *l4 = ip + ip_len;

	if (c->is6 && (s->ip_options != 0 || s->fragment != 0 || s->bad_ip_sum))
		case_skip(c); /* an IPv6 header has none of them */
	seg_outer(c, false, f);
	memset(ip, 0, ip_len - s->ip_options);
	memset(l4 - s->ip_options, 1, s->ip_options);
	seg_addresses(c, !c->client, ip);
	n = s->udp ? seg_build_udp(c, s, l4) : seg_build_tcp(c, s, l4);
	total = ip_len + n;
	if (c->is6) {
		put_be16(ip, 0x6000 | s->tos << 4);
		put_be16(ip + 4, n);
		ip[7] = 64;
	} else {
		ip[0] = (uint8_t)(0x40 | ip_len / 4);
		ip[1] = s->tos;
		put_be16(ip + 2, total);
		put_be16(ip + 6, s->fragment);
		ip[8] = 64;
		ip[9] = s->udp ? 17 : 6;
		sum = 0xffff ^ seg_add(0, ip, ip_len);
		put_be16(ip + 10, s->bad_ip_sum ? sum ^ 0x101 : sum);
	}
	sum = 0xffff ^ seg_l4_sum(ip, l4, n);
	if (s->udp && sum == 0)
		sum = 0xffff;
	put_be16(l4 + (s->udp ? 6 : 16), s->zero_sum ? 0 : s->bad_sum ? sum ^ 0x101 : sum);
	memset(ip + total, 0, s->ip_more);
	return c->l3 + total + s->ip_more - (unsigned)s->cut;
}

/* ---- frames of the machine ---- */

static void seg_need(struct flow_case *c, bool good, const char *what)
{
	if (!good)
		case_fail(c, "a frame came whose %s is wrong", what);
}

static void seg_read_payload(struct flow_case *c, const uint8_t *p, const struct seg *s)
{
	uint32_t first = s->seq - c->our_isn - 1;

	if (s->len == 0 || !c->isn_known || (!c->spec.buffered && c->wl.wl != &wl_stream))
		return;
	seg_need(c, wl_content_same(&c->content, first, p, s->len), "payload");
}

/* Verifies all that stands before TCP or UDP, and returns its length. */
static unsigned seg_read_ip(struct flow_case *c, const uint8_t *f, unsigned len, struct seg *s)
{
	const uint8_t *ip = f + c->l3;
	unsigned ip_len = c->is6 ? 40 : 20, protocol = c->udp ? 17 : 6;
	uint8_t want[40] = {0};

	seg_need(c, len >= c->l3 + ip_len + LEN_UDP, "length");
	seg_need(c, get_be16(ip - 2) == (c->is6 ? 0x86dd : 0x800), "Ethernet type");
	seg_need(c, f[5] == 2 && f[11] == 1, "MAC address");
	if (c->tunnel) {
		seg_need(c, get_be16(f + 16) == len - 14, "outer IP length");
		seg_need(c, seg_add(0, f + 14, 20) == 0xffff, "outer IP checksum");
		seg_need(c, get_be16(f + 38) == len - 34 && f[48] == CASE_IDENT, "outer header");
	}
	seg_addresses(c, c->client, want);
	if (c->is6) {
		seg_need(c, ip[0] >> 4 == 6 && get_be16(ip + 4) == len - c->l3 - 40, "IP length");
		seg_need(c, memcmp(ip + 8, want + 8, 32) == 0, "IP address");
		seg_need(c, ip[7] > 0 && ip[6] == protocol, "hop limit or protocol");
		s->tos = (uint8_t)(get_be16(ip) >> 4);
		return c->l3 + 40;
	}
	seg_need(c, ip[0] == 0x45 && get_be16(ip + 2) == len - c->l3, "IP length");
	seg_need(c, seg_add(0, ip, 20) == 0xffff, "IP checksum");
	seg_need(c, memcmp(ip + 12, want + 12, 8) == 0, "IP address");
	seg_need(c, ip[8] > 0 && ip[9] == protocol, "TTL or protocol");
	s->tos = ip[1];
	return c->l3 + 20;
}

void seg_read(struct flow_case *c, const uint8_t *f, unsigned len, struct seg *s)
{
	const uint8_t *ip = f + c->l3, *l4;
	unsigned n, header;
	uint64_t number;

	*s = (struct seg){.when_ns = c->now_ns};
	n = seg_read_ip(c, f, len, s);
	l4 = f + n;
	n = len - n;
	s->udp = c->udp;
	s->sport = (uint16_t)get_be16(l4);
	s->dport = (uint16_t)get_be16(l4 + 2);
	seg_need(c, seg_l4_sum(ip, l4, n) == 0xffff, "checksum");
	if (s->udp) {
		seg_need(c, get_be16(l4 + 4) == n && get_be16(l4 + 6) != 0, "UDP header");
		s->len = n - LEN_UDP;
		if (s->len >= WL_NUMBER) {
			memcpy(&number, l4 + LEN_UDP, WL_NUMBER);
			s->number = (unsigned)number;
		}
		return;
	}
	header = (l4[12] >> 4) * 4u;
	seg_need(c, n >= LEN_TCP && header >= LEN_TCP && header <= n && (l4[12] & 15) == 0,
		 "TCP header");
	s->seq = seg_get32(l4 + 4);
	s->ack = seg_get32(l4 + 8);
	s->flags = l4[13];
	s->win = (uint16_t)get_be16(l4 + 14);
	s->urg = (uint16_t)get_be16(l4 + 18);
	s->noptions = header - LEN_TCP;
	memcpy(s->options, l4 + LEN_TCP, s->noptions);
	s->len = n - header;
	seg_read_payload(c, l4 + header, s);
}

/* ---- comparing ---- */

static const uint8_t *seg_option(const struct seg *s, unsigned kind)
{
	for (unsigned i = 0; i + 1 < s->noptions;) {
		const uint8_t *o = s->options + i;

		if (o[0] == 0)
			break;
		if (o[0] == kind)
			return o;
		i += o[0] == 1 ? 1 : o[1] < 2 ? s->noptions : o[1];
	}
	return NULL;
}

static void seg_compare_sack(struct flow_case *c, const struct seg *want, const uint8_t *o)
{
	if (o == NULL || o[1] != 2 + 8u * want->nsack)
		case_fail(c, "the SACK option has not %u blocks", want->nsack);
	for (unsigned i = 0; i < want->nsack; i++) {
		if (seg_get32(o + 2 + 8u * i) != want->sack[i][0] ||
		    seg_get32(o + 6 + 8u * i) != want->sack[i][1])
			case_fail(c, "SACK block %u differs", i + 1);
	}
}

static void seg_compare_options(struct flow_case *c, const struct seg *want, const struct seg *came)
{
	const uint8_t *o;

	if ((want->has & HAS_NO_OPTIONS) != 0 && came->noptions != 0)
		case_fail(c, "it has options");
	for (unsigned kind = 2; kind < 32; kind++) {
		if ((want->absent & 1u << kind) != 0 && seg_option(came, kind) != NULL)
			case_fail(c, "it has option %u", kind);
	}
	o = seg_option(came, 2);
	if ((want->has & HAS_MSS) != 0 && (o == NULL || o[1] != 4 || get_be16(o + 2) != want->mss))
		case_fail(c, "the MSS option differs");
	o = seg_option(came, 3);
	if ((want->has & HAS_WSCALE) != 0 && (o == NULL || o[1] != 3 || o[2] != want->wscale))
		case_fail(c, "the window scale option differs");
	o = seg_option(came, 4);
	if ((want->has & HAS_SACK_OK) != 0 && (o == NULL || o[1] != 2))
		case_fail(c, "SACK is not permitted");
	if ((want->has & HAS_SACK) != 0)
		seg_compare_sack(c, want, seg_option(came, 5));
}

void seg_compare(struct flow_case *c, const struct seg *want, const struct seg *came)
{
	unsigned flags = came->flags;

	if ((want->has & HAS_ANY) != 0)
		return;
	if ((want->flags & TH_PSH) == 0)
		flags &= ~(unsigned)TH_PSH; /* whether to push is the sender's choice */
	if (!came->udp && flags != want->flags)
		case_fail(c, "the flags differ");
	if ((want->has & HAS_SEQ) != 0 && want->seq != came->seq)
		case_fail(c, "the sequence number differs");
	if ((want->has & HAS_LEN) != 0 && want->len != came->len)
		case_fail(c, "the length differs");
	if ((want->has & HAS_ACK) != 0 && want->ack != came->ack)
		case_fail(c, "the acknowledgement number differs");
	if ((want->has & HAS_WIN) != 0 && want->win != came->win)
		case_fail(c, "the window differs");
	if ((want->has & HAS_NUMBER) != 0 && want->number != came->number)
		case_fail(c, "the number in the payload differs");
	if (came->sport != c->our_port || came->dport != c->their_port)
		case_fail(c, "the ports differ: %u to %u", came->sport, came->dport);
	if (!came->udp)
		seg_compare_options(c, want, came);
}
