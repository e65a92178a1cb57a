/* SPDX-License-Identifier: BSD-3-Clause */
/* frame_brief(): a frame in one line. The table of protocols finds the headers, and the rows here
 * say which of their fields are worth a place in the line. */
#include "frame_walk.h"

#include <stdlib.h>
#include <string.h>

/* Fields are printed in this order behind the name of their header. A header without rows is
 * there by its name alone. */
static const struct brief_row {
	const char *proto, *field;
	const char *label; /* NULL: the value stands without one */
	enum { ALWAYS, NOT_ZERO } when;
} brief_fields[] = {
	{"vlan", "vid", NULL, ALWAYS},          {"vlan", "pcp", "pcp", NOT_ZERO},
	{"vlan", "dei", "dei", NOT_ZERO},       {"qinq", "vid", NULL, ALWAYS},
	{"qinq", "pcp", "pcp", NOT_ZERO},       {"qinq", "dei", "dei", NOT_ZERO},
	{"mpls", "label", NULL, ALWAYS},        {"mpls", "tc", "tc", NOT_ZERO},
	{"pppoe", "sid", NULL, ALWAYS},         {"pppoe", "code", "code", NOT_ZERO},
	{"tcp", "flags", NULL, ALWAYS},         {"tcp", "seq", "seq", ALWAYS},
	{"tcp", "ack", "ack", NOT_ZERO},        {"tcp", "window", "win", ALWAYS},
	{"tcp", "mss", "mss", ALWAYS},          {"sctp", "type", "chunk", ALWAYS},
	{"sctp", "vtag", "vtag", ALWAYS},       {"sctp", "tsn", "tsn", ALWAYS},
	{"icmp", "code", "code", NOT_ZERO},     {"icmp", "id", "id", ALWAYS},
	{"icmp", "seq", "seq", ALWAYS},         {"icmp", "mtu", "mtu", ALWAYS},
	{"icmp", "gateway", "gateway", ALWAYS}, {"icmpv6", "code", "code", NOT_ZERO},
	{"icmpv6", "id", "id", ALWAYS},         {"icmpv6", "seq", "seq", ALWAYS},
	{"icmpv6", "mtu", "mtu", ALWAYS},       {"icmpv6", "target", "target", ALWAYS},
	{"icmpv6", "maddr", "group", ALWAYS},   {"igmp", "type", "type", ALWAYS},
	{"igmp", "group", "group", ALWAYS},     {"ipv6frag", "offset", "offset", ALWAYS},
	{"ipv6frag", "id", "id", ALWAYS},       {"ipv6frag", "m", "more", NOT_ZERO},
	{"ipv6rt", "segleft", "left", ALWAYS},  {"gre", "key", "key", ALWAYS},
	{"gre", "seq", "seq", ALWAYS},          {"vxlan", "vni", NULL, ALWAYS},
	{"geneve", "vni", NULL, ALWAYS},        {"gtpu", "teid", NULL, ALWAYS},
	{"gtpu", "type", "type", ALWAYS},       {"esp", "spi", "spi", ALWAYS},
	{"esp", "seq", "seq", ALWAYS},          {"ah", "spi", "spi", ALWAYS},
	{"ah", "seq", "seq", ALWAYS},           {"bfd", "my", "my", ALWAYS},
	{"bfd", "your", "your", ALWAYS},        {"llc", "dsap", "dsap", ALWAYS},
	{"snap", "type", "type", ALWAYS},       {"probe", "stream", "stream", ALWAYS},
	{"probe", "seq", "seq", ALWAYS},
};

/* Names of messages: RFC 792, RFC 4443, RFC 4861, RFC 2710, RFC 3810. */
static const struct brief_name {
	const char *proto;
	uint8_t type;
	const char *text;
} brief_names[] = {
	{"icmp", 0, "echo reply"},
	{"icmp", 3, "unreachable"},
	{"icmp", 5, "redirect"},
	{"icmp", 8, "echo request"},
	{"icmp", 11, "time exceeded"},
	{"icmp", 12, "parameter problem"},
	{"icmpv6", 1, "unreachable"},
	{"icmpv6", 2, "packet too big"},
	{"icmpv6", 3, "time exceeded"},
	{"icmpv6", 4, "parameter problem"},
	{"icmpv6", 128, "echo request"},
	{"icmpv6", 129, "echo reply"},
	{"icmpv6", 130, "listener query"},
	{"icmpv6", 131, "listener report"},
	{"icmpv6", 132, "listener done"},
	{"icmpv6", 133, "router solicitation"},
	{"icmpv6", 134, "router advertisement"},
	{"icmpv6", 135, "neighbour solicitation"},
	{"icmpv6", 136, "neighbour advertisement"},
	{"icmpv6", 137, "redirect"},
	{"icmpv6", 143, "listener report"},
};

struct brief {
	const uint8_t *bytes;
	unsigned have;
	bool sums;
	const struct walk *w;
	struct sbuf *out;
};

static const char *brief_proto(const struct brief *b, unsigned i)
{
	return i < b->w->l.n ? b->w->l.h[i].proto->name : "";
}

static bool brief_is(const struct brief *b, unsigned i, const char *name)
{
	return strcmp(brief_proto(b, i), name) == 0;
}

static bool brief_is_ip(const struct brief *b, unsigned i)
{
	return i < b->w->l.n && b->w->l.h[i].proto->has_pseudo;
}

static bool brief_has_ports(const struct brief *b, unsigned i)
{
	return brief_is(b, i, "udp") || brief_is(b, i, "tcp") || brief_is(b, i, "sctp");
}

/* The field of header i; NULL: this frame has none of that name. */
static const struct field *brief_field(const struct brief *b, unsigned i, const char *name)
{
	const struct field *f;

	/* Fields of different messages may share a name; the one whose condition holds is it. */
	for (f = b->w->l.h[i].proto->fields; f->name != NULL; f++)
		if (strcmp(f->name, name) == 0 && layout_has(&b->w->l, b->bytes, i, f))
			return f;
	return NULL;
}

static uint64_t brief_number(const struct brief *b, unsigned i, const char *name)
{
	const struct field *f = brief_field(b, i, name);

	return f != NULL && f->bits <= 64 ? layout_get_u64(&b->w->l, b->bytes, i, f) : 0;
}

static void brief_value(const struct brief *b, unsigned i, const char *name)
{
	const struct field *f = brief_field(b, i, name);
	uint8_t v[VT_FIELD_BYTES];
	struct vspec spec;

	if (f == NULL || f->kind == FIELD_BYTES) {
		sbuf_addc(b->out, '?');
		return;
	}
	proto_vspec(f, &spec);
	layout_get(&b->w->l, b->bytes, i, f, v);
	spec.type->print(&spec, v, b->out);
}

static void brief_rows(const struct brief *b, unsigned i)
{
	for (unsigned k = 0; k < ARRAY_SIZE(brief_fields); k++) {
		const struct brief_row *row = &brief_fields[k];
		if (!brief_is(b, i, row->proto) || brief_field(b, i, row->field) == NULL ||
		    (row->when == NOT_ZERO && brief_number(b, i, row->field) == 0))
			continue;
		sbuf_addc(b->out, ' ');
		if (row->label != NULL)
			sbuf_addf(b->out, "%s ", row->label);
		brief_value(b, i, row->field);
	}
}

static void brief_end(const struct brief *b, unsigned i, const char *name, int ports)
{
	bool colons = ports >= 0 && brief_is(b, i, "ipv6");

	sbuf_add(b->out, colons ? "[" : "");
	brief_value(b, i, name);
	sbuf_add(b->out, colons ? "]" : "");
	if (ports >= 0) {
		sbuf_addc(b->out, ':');
		brief_value(b, (unsigned)ports, name);
	}
}

/* "10.0.0.1:1024 > 10.0.0.2:5000"; ports: the header behind that has them, or -1. */
static void brief_ends(const struct brief *b, unsigned i, int ports)
{
	brief_end(b, i, "src", ports);
	sbuf_add(b->out, " > ");
	brief_end(b, i, "dst", ports);
}

#define PORTS_LEN 4 /* both ports are at the begin of a header */

static void brief_ip(const struct brief *b, unsigned i)
{
	uint64_t at = brief_number(b, i, "frag") * 8, more = brief_number(b, i, "flags") & 1;

	bool ports = brief_has_ports(b, i + 1) && b->w->l.h[i + 1].off + PORTS_LEN <= b->have;

	brief_ends(b, i, ports ? (int)i + 1 : -1);
	if (brief_is(b, i, "ipv4") && (at != 0 || more != 0))
		sbuf_addf(b->out, " fragment %u at %u%s", (unsigned)brief_number(b, i, "id"),
			  (unsigned)at, more != 0 ? ", more follow" : "");
	if (i + 1 == b->w->l.n && at == 0)
		sbuf_addf(b->out, " protocol %u",
			  (unsigned)brief_number(b, i, brief_is(b, i, "ipv4") ? "proto" : "nh"));
}

static void brief_arp(const struct brief *b, unsigned i)
{
	uint64_t op = brief_number(b, i, "op");

	if (op == 1) {
		sbuf_add(b->out, "arp who has ");
		brief_value(b, i, "pdst");
		sbuf_add(b->out, ", tell ");
		brief_value(b, i, "psrc");
	} else if (op == 2) {
		sbuf_add(b->out, "arp ");
		brief_value(b, i, "psrc");
		sbuf_add(b->out, " is at ");
		brief_value(b, i, "hwsrc");
	} else {
		sbuf_addf(b->out, "arp operation %u", (unsigned)op);
	}
}

/* Addresses of the link are left out where others name the ends. */
static bool brief_eth_needless(const struct brief *b, unsigned i)
{
	for (i++; i < b->w->l.n && !brief_is(b, i, "eth"); i++)
		if (brief_is_ip(b, i) || brief_is(b, i, "arp"))
			return true;
	return false;
}

static void brief_eth(const struct brief *b, unsigned i)
{
	brief_ends(b, i, -1);
	if (i + 1 == b->w->l.n) {
		sbuf_add(b->out, " type ");
		brief_value(b, i, "type");
	}
}

static void brief_other(const struct brief *b, unsigned i)
{
	uint64_t type = brief_number(b, i, "type");
	const char *name = NULL;

	sbuf_add(b->out, brief_proto(b, i));
	for (unsigned k = 0; k < ARRAY_SIZE(brief_names); k++)
		if (brief_is(b, i, brief_names[k].proto) && brief_names[k].type == type)
			name = brief_names[k].text;
	if (name != NULL)
		sbuf_addf(b->out, " %s", name);
	else if (brief_is(b, i, "icmp") || brief_is(b, i, "icmpv6"))
		sbuf_addf(b->out, " type %u", (unsigned)type);
	if (brief_has_ports(b, i) && (i == 0 || !brief_is_ip(b, i - 1))) {
		sbuf_addc(b->out, ' ');
		brief_ends(b, i, -1);
	}
	brief_rows(b, i);
}

/* What is wrong with a header. */
static void brief_faults(const struct brief *b, unsigned i)
{
	const struct proto *p = b->w->l.h[i].proto;
	bool whole = b->have == b->w->len;

	if (verdict_text(b->w->verdict[i]) != NULL)
		sbuf_addf(b->out, " [%s]", verdict_text(b->w->verdict[i]));
	for (const struct field *f = p->fields; b->sums && f->name != NULL; f++)
		if ((whole || f->role == ROLE_SUM_HDR) && layout_has(&b->w->l, b->bytes, i, f) &&
		    frame_sum_state(b->w, b->bytes, i, f) == SUM_BAD)
			sbuf_addf(b->out, " [wrong %s.%s]", p->name, f->name);
}

static void brief_header(const struct brief *b, unsigned i, bool *any)
{
	bool ip = brief_is_ip(b, i);

	if (brief_is(b, i, "eth") && brief_eth_needless(b, i))
		return;
	if (*any)
		sbuf_add(b->out, i > 0 && brief_is_ip(b, i - 1) && !ip ? " " : ", ");
	*any = true;
	if (ip)
		brief_ip(b, i);
	else if (brief_is(b, i, "arp"))
		brief_arp(b, i);
	else if (brief_is(b, i, "eth"))
		brief_eth(b, i);
	else
		brief_other(b, i);
	brief_faults(b, i);
}

static void brief_all(const struct brief *b)
{
	const struct walk *w = b->w;
	bool any = false;
	unsigned i;

	for (i = 0; i < w->l.n && w->l.h[i].off + w->l.h[i].hlen <= b->have; i++)
		brief_header(b, i, &any);
	if (i < w->l.n) {
		sbuf_addf(b->out, "%s%s, cut", any ? ", " : "", brief_proto(b, i));
		return;
	}
	if (w->l.n == 0)
		sbuf_add(b->out, "no header");
	if (w->padding > w->payload)
		sbuf_addf(b->out, ", payload %u", w->padding - w->payload);
}

/* Headers may say that they go on where nothing was kept. Zeros stand there, so that lengths are
 * judged by the whole frame. */
#define BRIEF_LEN_MOST (1u << 17)

void frame_brief(const uint8_t *bytes, unsigned have, unsigned len, bool sums, struct sbuf *out,
		 struct sbuf *stack)
{
	struct brief b = {.have = have, .sums = sums, .out = out};
	struct walk w;
	uint8_t *all = NULL;

	if (len > BRIEF_LEN_MOST)
		len = BRIEF_LEN_MOST;
	if (have < len) {
		all = xcalloc(len, 1);
		memcpy(all, bytes, have);
	} else {
		b.have = len;
	}
	b.bytes = all != NULL ? all : bytes;
	frame_walk(b.bytes, len, &w);
	b.w = &w;
	brief_all(&b);
	for (unsigned i = 0; stack != NULL && i < w.l.n; i++)
		if (w.l.h[i].off + w.l.h[i].hlen <= b.have)
			sbuf_addf(stack, "%s%s", i > 0 ? "/" : "", brief_proto(&b, i));
	free(all);
}
