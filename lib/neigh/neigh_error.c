/* SPDX-License-Identifier: BSD-3-Clause */
#include "neigh_error_run.h"

#include "neigh_ip.h"

enum {
	TYPE_IP4 = 0x0800,
	TYPE_TAG = 0x8100,
	TYPE_QINQ = 0x88a8,
	TYPE_9100 = 0x9100,
	TYPE_IP6 = 0x86dd
};
enum { PROTO_ICMP = 1, PROTO_TCP = 6, PROTO_UDP = 17, PROTO_ICMP6 = 58, PROTO_SCTP = 132 };
enum { UNREACHABLE4 = 3, QUENCH4 = 4, REDIRECT4 = 5, EXCEEDED4 = 11, PARAMETER4 = 12 };
enum { UNREACHABLE6 = 1, TOO_BIG6 = 2, EXCEEDED6 = 3, PARAMETER6 = 4 };
enum { CODE_FRAGMENT = 4 }; /* of UNREACHABLE4: it is too big, RFC 1191 */
#define ICMP_HEAD 8u
#define QUOTED_LEAST 8u /* bytes behind the quoted IP header, RFC 792 */
#define TAGS_MAX 8u

static bool is_error_type(unsigned type, bool six)
{
	if (six)
		return type >= UNREACHABLE6 && type <= PARAMETER6;
	return type == UNREACHABLE4 || type == QUENCH4 || type == REDIRECT4 || type == EXCEEDED4 ||
	       type == PARAMETER4;
}

static bool error_is_for(const struct neigh_self *s, const uint8_t ip[NEIGH_IP])
{
	return neigh_ip_used(s, ip) || neigh_ip_proxied(s, ip);
}

static bool error_wants4(const struct neigh_self *s, const uint8_t *ip, unsigned n)
{
	uint8_t dst[NEIGH_IP];

	/* The type stands behind the header. Of a fragment behind the first one it is not known. */
	if (n < NEIGH_IP4 || ip[9] != PROTO_ICMP || (get_be16(ip + 6) & 0x1fff) != 0)
		return false;
	unsigned head = (ip[0] & 0xfu) * 4;
	if (n <= head || !is_error_type(ip[head], false))
		return false;
	neigh_ip_from4(dst, ip + 16);
	return error_is_for(s, dst);
}

bool neigh_error_wants(const struct neigh_self *s, const uint8_t *f, unsigned len)
{
	unsigned type, at = neigh_payload(s, f, len, &type);

	if (at == 0 || memcmp(f, s->mac, 6) != 0)
		return false;
	if (type == TYPE_IP4)
		return error_wants4(s, f + at, len - at);
	return type == TYPE_IP6 && len - at > NEIGH_IP6 && f[at + 6] == PROTO_ICMP6 &&
	       is_error_type(f[at + NEIGH_IP6], true) && error_is_for(s, f + at + 24);
}

static enum neigh_error_kind error_kind4(unsigned type, unsigned code)
{
	static const uint8_t unreachable[16] = {
		[0] = NEIGH_ERROR_NET,
		[1] = NEIGH_ERROR_HOST,
		[2] = NEIGH_ERROR_PROTOCOL,
		[3] = NEIGH_ERROR_PORT,
		[CODE_FRAGMENT] = NEIGH_ERROR_TOO_BIG,
		[5] = NEIGH_ERROR_UNREACHABLE,
		[6] = NEIGH_ERROR_NET,
		[7] = NEIGH_ERROR_HOST,
		[8] = NEIGH_ERROR_UNREACHABLE,
		[9] = NEIGH_ERROR_PROHIBITED,
		[10] = NEIGH_ERROR_PROHIBITED,
		[11] = NEIGH_ERROR_NET,
		[12] = NEIGH_ERROR_HOST,
		[13] = NEIGH_ERROR_PROHIBITED,
		[14] = NEIGH_ERROR_UNREACHABLE,
		[15] = NEIGH_ERROR_UNREACHABLE,
	};

	if (type == UNREACHABLE4)
		return code < ARRAY_SIZE(unreachable) ? unreachable[code] : NEIGH_ERROR_UNREACHABLE;
	if (type == EXCEEDED4 && code <= 1)
		return code == 0 ? NEIGH_ERROR_HOP_LIMIT : NEIGH_ERROR_REASSEMBLY;
	return NEIGH_ERROR_OTHER;
}

/* RFC 4443 section 3.1: 5 and 6 are more precise than 1. */
static enum neigh_error_kind error_kind6(unsigned type, unsigned code)
{
	static const uint8_t unreachable[7] = {NEIGH_ERROR_NET,         NEIGH_ERROR_PROHIBITED,
					       NEIGH_ERROR_UNREACHABLE, NEIGH_ERROR_HOST,
					       NEIGH_ERROR_PORT,        NEIGH_ERROR_PROHIBITED,
					       NEIGH_ERROR_PROHIBITED};

	if (type == UNREACHABLE6)
		return code < ARRAY_SIZE(unreachable) ? unreachable[code] : NEIGH_ERROR_UNREACHABLE;
	if (type == TOO_BIG6)
		return NEIGH_ERROR_TOO_BIG;
	if (type == EXCEEDED6 && code <= 1)
		return code == 0 ? NEIGH_ERROR_HOP_LIMIT : NEIGH_ERROR_REASSEMBLY;
	return NEIGH_ERROR_OTHER;
}

static bool has_ports(unsigned proto)
{
	return proto == PROTO_UDP || proto == PROTO_TCP || proto == PROTO_SCTP;
}

/* Reads the packet that begins at ip, of which n bytes are there. Returns the length of its IP
 * header; 0: it is none. */
static unsigned packet_key(const uint8_t *ip, unsigned n, bool six, union neigh_packet *out)
{
	unsigned head = six ? NEIGH_IP6 : n > 0 ? (ip[0] & 0xfu) * 4 : 0;

	*out = (union neigh_packet){0};
	if (head < NEIGH_IP4 || n < head || ip[0] >> 4 != (six ? 6 : 4))
		return 0;
	out->version = six ? 6 : 4;
	out->proto = ip[six ? 6 : 9];
	if (six) {
		memcpy(out->src, ip + 8, NEIGH_IP);
		memcpy(out->dst, ip + 24, NEIGH_IP);
	} else {
		neigh_ip_from4(out->src, ip + 12);
		neigh_ip_from4(out->dst, ip + 16);
	}
	if (has_ports(out->proto) && n - head >= sizeof(out->ports))
		memcpy(out->ports, ip + head, sizeof(out->ports));
	return head;
}

/* What the packet is that an error quotes, in n bytes. */
static enum neigh_fate judge_quoted(const uint8_t *ip, unsigned n, bool six,
				    struct neigh_error *out)
{
	unsigned head;

	if (n < (six ? NEIGH_IP6 : NEIGH_IP4))
		return NEIGH_TRUNCATED;
	head = packet_key(ip, n, six, &out->quoted);
	if (head == 0)
		return ip[0] >> 4 != (six ? 6 : 4) || (ip[0] & 0xfu) * 4 < NEIGH_IP4
			       ? NEIGH_MALFORMED
			       : NEIGH_TRUNCATED;
	if (n - head < QUOTED_LEAST)
		return NEIGH_TRUNCATED;
	memset(&out->known, 0xff, sizeof(out->known));
	/* Ports stand in the first fragment alone. */
	if (!six && (get_be16(ip + 6) & 0x1fff) != 0)
		memset(out->known.ports, 0, sizeof(out->known.ports));
	return NEIGH_HEARD;
}

/* Judges the IPv4 header of an error. *head and *n: of the header and of what is behind it. */
static enum neigh_fate judge_head4(const uint8_t *ip, unsigned there, unsigned *head, unsigned *n)
{
	unsigned total = get_be16(ip + 2);

	*head = (ip[0] & 0xfu) * 4;
	if (ip[0] >> 4 != 4 || *head < NEIGH_IP4)
		return NEIGH_MALFORMED;
	if (total > there || total < *head + ICMP_HEAD)
		return NEIGH_TRUNCATED;
	*n = total - *head;
	if (neigh_sum(ip, *head, 0) != 0)
		return NEIGH_CHECKSUM;
	if ((get_be16(ip + 6) & 0x3fff) != 0)
		return NEIGH_FRAGMENT;
	return neigh_sum(ip + *head, *n, 0) != 0 ? NEIGH_CHECKSUM : NEIGH_HEARD;
}

static enum neigh_fate judge_head6(const uint8_t *ip, unsigned there, unsigned *head, unsigned *n)
{
	*head = NEIGH_IP6;
	*n = get_be16(ip + 4);
	if (ip[0] >> 4 != 6)
		return NEIGH_MALFORMED;
	if (*n > there - NEIGH_IP6 || *n < ICMP_HEAD)
		return NEIGH_TRUNCATED;
	return neigh_sum(ip + NEIGH_IP6, *n, neigh_sum_ip6(ip, *n)) != 0 ? NEIGH_CHECKSUM
									 : NEIGH_HEARD;
}

enum neigh_fate neigh_error_judge(const struct neigh_self *s, const uint8_t *f, unsigned len,
				  struct neigh_error *out)
{
	unsigned type = 0, at = neigh_payload(s, f, len, &type), head, n;
	bool six = type == TYPE_IP6;
	const uint8_t *ip = f + at;
	uint8_t to[NEIGH_IP];
	enum neigh_fate fate;

	*out = (struct neigh_error){0};
	if (!neigh_mac_sends(f + 6))
		return NEIGH_SENDER;
	if (memcmp(f + 6, s->mac, 6) == 0)
		return NEIGH_ECHOED;
	fate = six ? judge_head6(ip, len - at, &head, &n) : judge_head4(ip, len - at, &head, &n);
	if (fate != NEIGH_HEARD)
		return fate;
	const uint8_t *icmp = ip + head;
	if (six) {
		memcpy(out->from, ip + 8, NEIGH_IP);
		memcpy(to, ip + 24, NEIGH_IP);
	} else {
		neigh_ip_from4(out->from, ip + 12);
		neigh_ip_from4(to, ip + 16);
	}
	if (!neigh_ip_sends(out->from))
		return NEIGH_SENDER;
	out->kind = six ? error_kind6(icmp[0], icmp[1]) : error_kind4(icmp[0], icmp[1]);
	if (out->kind == NEIGH_ERROR_TOO_BIG)
		out->mtu = (six ? (uint32_t)get_be16(icmp + 4) << 16 : 0) | get_be16(icmp + 6);
	out->quote = icmp + ICMP_HEAD;
	out->quote_len = n - ICMP_HEAD;
	fate = judge_quoted(out->quote, out->quote_len, six, out);
	if (fate == NEIGH_HEARD && memcmp(out->quoted.src, to, NEIGH_IP) != 0)
		return NEIGH_CLAIM;
	return fate;
}

bool neigh_sent_read(const uint8_t *f, const uint8_t *varies, unsigned len, struct neigh_sent *out)
{
	union neigh_packet vary;
	unsigned at = NEIGH_ETH, type;

	*out = (struct neigh_sent){0};
	for (unsigned tags = 0;; tags++, at += NEIGH_TAG) {
		if (len < at || tags > TAGS_MAX)
			return false;
		type = get_be16(f + at - 2);
		if (type != TYPE_TAG && type != TYPE_QINQ && type != TYPE_9100)
			break;
	}
	bool six = type == TYPE_IP6;
	if (!six && type != TYPE_IP4)
		return false;
	unsigned head = packet_key(f + at, len - at, six, &out->is);
	if (head == 0)
		return false;
	/* The bits that vary, read as if they were a packet; what it would say of itself is not
	 * asked. */
	const uint8_t *bits = varies + at;
	vary = (union neigh_packet){.proto = bits[six ? 6 : 9]};
	memcpy(vary.src + (six ? 0 : 12), bits + (six ? 8 : 12), six ? NEIGH_IP : 4);
	memcpy(vary.dst + (six ? 0 : 12), bits + (six ? 24 : 16), six ? NEIGH_IP : 4);
	bool ports = has_ports(out->is.proto) && vary.proto == 0 && len - at - head >= 4;
	if (ports)
		memcpy(vary.ports, bits + head, 4);
	else
		memset(vary.ports, 0xff, 4);
	for (unsigned i = 0; i < ARRAY_SIZE(vary.word); i++)
		out->fixed.word[i] = ~vary.word[i];
	return true;
}
