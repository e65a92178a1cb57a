/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds in a frame, or in a text, what RSS hashes. */
#include "rss.h"

#include <arpa/inet.h>
#include <errno.h>
#include <rte_vxlan.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VXLAN_GPE_PORT 4790
#define GENEVE_PORT 6081
#define MPLS_PORT 6635
#define GTPU_PORT 2152
#define PROTO_ETHERIP 97  /* RFC 3378 */
#define TYPE_LOWEST 0x600 /* what is below is a length, and LLC follows */

/* A frame that is being read. */
struct reader {
	const uint8_t *frame;
	unsigned len;
	uint8_t *used;
};

/* Gives n bytes of the frame and notes for what they were looked at. NULL: the frame ends
 * before. */
static const uint8_t *reader_look(const struct reader *r, unsigned at, unsigned n, enum rss_use use)
{
	if (at + n > r->len)
		return NULL;
	if (r->used != NULL)
		memset(r->used + at, use, n);
	return r->frame + at;
}

static bool type_is_tag(unsigned type)
{
	return type == RTE_ETHER_TYPE_VLAN || type == RTE_ETHER_TYPE_QINQ;
}

/* Passes over tags. Returns the type of what follows them, and where it begins in *at. *doubt: why
 * devices differ in whether they look behind these. */
static unsigned read_type(const struct reader *r, unsigned *at, const char **doubt)
{
	const uint8_t *b = reader_look(r, 12, 2, RSS_USE_SHAPE);
	unsigned type = b != NULL ? get_be16(b) : 0;

	*at = 14;
	while (type_is_tag(type)) {
		if (type == RTE_ETHER_TYPE_QINQ || *at > 14)
			*doubt = "some devices hash nothing behind two tags, or behind one of QinQ";
		b = reader_look(r, *at + 2, 2, RSS_USE_SHAPE);
		type = b != NULL ? get_be16(b) : 0;
		*at += 4;
	}
	return type;
}

/* Says why devices differ in what they hash of a frame of this type, which is not IP. */
static const char *type_doubt(unsigned type)
{
	switch (type) {
	case RTE_ETHER_TYPE_MPLS:
	case RTE_ETHER_TYPE_MPLSM:
		return "some devices hash the headers behind the labels of MPLS";
	case RTE_ETHER_TYPE_PPPOE_SESSION:
		return "some devices hash the headers behind PPPoE";
	case RTE_ETHER_TYPE_QINQ1:
	case RTE_ETHER_TYPE_QINQ2:
	case RTE_ETHER_TYPE_QINQ3:
	case RTE_ETHER_TYPE_ETAG:
		return "some devices take this type for a tag and hash the headers behind it";
	default:
		return type < TYPE_LOWEST ? "some devices hash the headers behind LLC" : NULL;
	}
}

/* Says why devices differ in what they hash of a frame with this behind its first IP header. */
static const char *proto_doubt(uint8_t proto)
{
	switch (proto) {
	case IPPROTO_SCTP:
		return "some devices hash the verification tag of SCTP, too";
	case IPPROTO_IPIP:
	case IPPROTO_IPV6:
	case IPPROTO_GRE:
	case PROTO_ETHERIP:
	case IPPROTO_MPLS:
		return "some devices hash the inner headers of a tunnel";
	case IPPROTO_HOPOPTS:
	case IPPROTO_ROUTING:
	case IPPROTO_DSTOPTS:
	case IPPROTO_FRAGMENT:
	case IPPROTO_AH:
		return "devices differ in what they hash behind headers of options";
	default:
		return NULL;
	}
}

static bool udp_is_tunnel(uint16_t dport)
{
	return dport == RTE_VXLAN_DEFAULT_PORT || dport == VXLAN_GPE_PORT || dport == GENEVE_PORT ||
	       dport == GTPU_PORT || dport == MPLS_PORT;
}

/* Says why devices differ in what they hash of such a tuple. */
static const char *tuple_doubt(const struct rss_tuple *t)
{
	if (t->ports && t->proto == IPPROTO_UDP && udp_is_tunnel(t->dport))
		return "some devices hash the inner headers of a tunnel";
	return proto_doubt(t->proto);
}

static void read_ports(const struct reader *r, unsigned at, struct rss_tuple *t)
{
	if (t->fragment ||
	    (t->proto != IPPROTO_TCP && t->proto != IPPROTO_UDP && t->proto != IPPROTO_SCTP))
		return;
	const uint8_t *b = reader_look(r, at, 4, RSS_USE_PORTS);
	if (b == NULL)
		return;
	t->ports = true;
	t->sport = (uint16_t)get_be16(b);
	t->dport = (uint16_t)get_be16(b + 2);
}

static void read_ipv4(const struct reader *r, unsigned at, struct rss_tuple *t)
{
	const uint8_t *first = reader_look(r, at, 1, RSS_USE_SHAPE),
		      *part = reader_look(r, at + 6, 2, RSS_USE_SHAPE),
		      *proto = reader_look(r, at + 9, 1, RSS_USE_SHAPE),
		      *addresses = reader_look(r, at + 12, 8, RSS_USE_ADDRESSES);

	if (addresses == NULL || first[0] >> 4 != 4 || (first[0] & 15) < 5)
		return;
	t->version = 4;
	t->proto = proto[0];
	t->fragment = (get_be16(part) & 0x3fff) != 0; /* more fragments, or an offset */
	memcpy(t->src, addresses, 4);
	memcpy(t->dst, addresses + 4, 4);
	read_ports(r, at + 4 * (first[0] & 15u), t);
}

static void read_ipv6(const struct reader *r, unsigned at, struct rss_tuple *t)
{
	const uint8_t *first = reader_look(r, at, 1, RSS_USE_SHAPE),
		      *next = reader_look(r, at + 6, 1, RSS_USE_SHAPE),
		      *addresses = reader_look(r, at + 8, 32, RSS_USE_ADDRESSES);

	if (addresses == NULL || first[0] >> 4 != 6)
		return;
	t->version = 6;
	t->proto = next[0];
	memcpy(t->src, addresses, 16);
	memcpy(t->dst, addresses + 16, 16);
	t->fragment = t->proto == IPPROTO_FRAGMENT;
	read_ports(r, at + 40, t);
}

void rss_tuple_read(const uint8_t *frame, unsigned len, struct rss_tuple *out, uint8_t *used)
{
	struct reader r = {frame, len, used};
	const char *tags = NULL;
	unsigned at, type;

	*out = (struct rss_tuple){0};
	if (used != NULL)
		memset(used, 0, len);
	type = read_type(&r, &at, &tags);
	if (type == RTE_ETHER_TYPE_IPV4)
		read_ipv4(&r, at, out);
	else if (type == RTE_ETHER_TYPE_IPV6)
		read_ipv6(&r, at, out);
	if (out->version != 0)
		out->doubt = tags != NULL ? tags : tuple_doubt(out);
	else
		out->doubt = type_doubt(type);
}

/* Reads an address, with a port behind it if there is to be one. Returns its version; 0: it is
 * none. Without brackets nobody can tell where an IPv6 address ends and its port begins. */
static unsigned side_parse(const char *text, bool ports, uint8_t *address, uint16_t *port)
{
	char host[INET6_ADDRSTRLEN + 1], *end;
	const char *colon = ports ? strrchr(text, ':') : text + strlen(text), *from = text,
		   *to = colon;

	if (colon == NULL)
		return 0;
	if (ports) {
		errno = 0;
		unsigned long n = strtoul(colon + 1, &end, 10);
		if (colon[1] < '0' || colon[1] > '9' || *end != '\0' || errno != 0 ||
		    n > UINT16_MAX)
			return 0;
		*port = (uint16_t)n;
	}
	bool brackets = ports && *from == '[' && to > from && to[-1] == ']';
	if (brackets) {
		from++;
		to--;
	}
	if (to - from >= (ptrdiff_t)sizeof(host))
		return 0;
	snprintf(host, sizeof(host), "%.*s", (int)(to - from), from);
	if (!brackets && inet_pton(AF_INET, host, address) == 1)
		return 4;
	return brackets == ports && inet_pton(AF_INET6, host, address) == 1 ? 6 : 0;
}

int rss_tuple_parse(const char *text, struct rss_tuple *out, struct err *e)
{
	static const struct {
		const char *word;
		uint8_t proto;
	} kinds[] = {{"tcp", IPPROTO_TCP}, {"udp", IPPROTO_UDP}, {"sctp", IPPROTO_SCTP}, {"ip", 0}};
	char kind[8], src[64], dst[64], more[2];
	struct rss_tuple t = {0};
	size_t i = 0;

	if (sscanf(text, "%7s %63s %63s %1s", kind, src, dst, more) != 3)
		return err_set(
			e, EINVAL,
			"\"%.100s\" is no tuple; write udp SRC:PORT DST:PORT (or tcp, sctp) or ip SRC DST",
			text);
	while (i < ARRAY_SIZE(kinds) && strcmp(kinds[i].word, kind) != 0)
		i++;
	if (i == ARRAY_SIZE(kinds))
		return err_set(e, EINVAL, "\"%s\" is no kind of tuple; allowed: tcp, udp, sctp, ip",
			       kind);
	t.ports = kinds[i].proto != 0;
	t.proto = t.ports ? kinds[i].proto : IPPROTO_NONE;
	t.version = (uint8_t)side_parse(src, t.ports, t.src, &t.sport);
	if (t.version == 0 || side_parse(dst, t.ports, t.dst, &t.dport) != t.version)
		return err_set(
			e, EINVAL, "\"%.100s\" needs two addresses of one version%s, as in \"%s\"",
			text,
			t.ports ? ", each with a port and those of IPv6 in brackets"
				: " without ports",
			t.ports ? "udp 10.0.0.1:1024 10.0.0.2:53\" or \"udp [fd00::1]:1024 [fd00::2]:53"
				: "ip 10.0.0.1 10.0.0.2");
	t.doubt = tuple_doubt(&t);
	*out = t;
	return 0;
}
