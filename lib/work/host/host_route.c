/* SPDX-License-Identifier: BSD-3-Clause */
/* The next hop of a stream: its destination if that is on the link, else the gateway. */
#include "host_route_ctl.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host_ctl.h"
#include "host_face.h"

/* What a stream says of where its frames go. Addresses are numbers, those of IPv4 as
 * ::ffff:a.b.c.d. */
struct route_ask {
	const struct ctl_port *cp;
	const struct host_cfg *cfg;
	struct neigh_setup self; /* its addresses, with the link-local one that nobody has set */
	char name[32], where[24];
	bool six;
	bool program; /* whose user knows its server, and the port's addresses, but no stream */
};

const struct proto *host_l3(const struct frame_stack *stack, unsigned *ntags)
{
	static const struct proto *eth, *vlan, *qinq, *four, *six;
	unsigned i = 1;

	if (eth == NULL) {
		eth = proto_find("eth");
		vlan = proto_find("vlan");
		qinq = proto_find("qinq");
		four = proto_find("ipv4");
		six = proto_find("ipv6");
	}
	*ntags = 0;
	if (stack->n < 2 || stack->hdr[0] != eth)
		return NULL;
	while (i < stack->n && (stack->hdr[i] == vlan || stack->hdr[i] == qinq))
		i++;
	*ntags = i - 1;
	return i < stack->n && (stack->hdr[i] == four || stack->hdr[i] == six) ? stack->hdr[i]
									       : NULL;
}

bool host_routable(const struct stream *s)
{
	unsigned ntags;

	return host_l3(&s->cfg.frame.stack, &ntags) != NULL;
}

void host_stream_name(const struct ctl_port *cp, const struct stream *s, char name[32],
		      char where[24])
{
	bool alone = cp->total == 1 && s->cfg.id == 0;

	snprintf(where, 24, alone ? "%u" : "%u/%u", cp->p.id, s->cfg.id);
	snprintf(name, 32, "%s %s", alone ? "port" : "stream", where);
}

static vary_u route_load(const uint8_t ip[NEIGH_IP])
{
	vary_u v = 0;

	for (unsigned i = 0; i < NEIGH_IP; i++)
		v = v << 8 | ip[i];
	return v;
}

static void route_store(vary_u v, uint8_t ip[NEIGH_IP])
{
	for (unsigned i = NEIGH_IP; i-- > 0; v >>= 8)
		ip[i] = (uint8_t)v;
}

/* The addresses of a prefix, whose length is as in struct neigh_prefix. */
static void prefix_span(const uint8_t ip[NEIGH_IP], unsigned bits, vary_u *lo, vary_u *hi)
{
	vary_u host = bits >= 128 ? 0 : ~(vary_u)0 >> bits;

	*lo = route_load(ip) & ~host;
	*hi = *lo | host;
}

/* The address of all, or of a group, has a MAC address that follows from it (RFC 1112 6.4, RFC 2464
 * section 7). */
static bool group_mac(const struct host_cfg *cfg, vary_u to, uint8_t mac[6])
{
	uint8_t ip[NEIGH_IP];
	bool all;
	vary_u lo, hi;

	route_store(to, ip);
	if (!neigh_is_ip4(ip)) {
		memcpy(mac, (const uint8_t[6]){0x33, 0x33, ip[12], ip[13], ip[14], ip[15]}, 6);
		return ip[0] == 0xff;
	}
	memcpy(mac, (const uint8_t[6]){0x01, 0x00, 0x5e, ip[13] & 0x7f, ip[14], ip[15]}, 6);
	if ((ip[12] & 0xf0) == 224)
		return true;
	all = memcmp(ip + 12, "\xff\xff\xff\xff", 4) == 0;
	for (unsigned i = 0; i < cfg->ip.n && !all; i++) {
		prefix_span(cfg->ip.at[i].ip, cfg->ip.at[i].bits, &lo, &hi);
		all = neigh_is_ip4(cfg->ip.at[i].ip) && hi - lo >= 3 && to == hi;
	}
	memset(mac, 0xff, 6);
	return all;
}

/* Whether some of the addresses from lo to hi are on the link, or groups. */
static bool meets_link(const struct route_ask *a, vary_u lo, vary_u hi)
{
	static const struct neigh_prefix other[] = {
		{{0xfe, 0x80}, 10},
		{{0xff}, 8},
		{{[10] = 0xff, [11] = 0xff, [12] = 224}, 96 + 4},
		{{[10] = 0xff, [11] = 0xff, 0xff, 0xff, 0xff, 0xff}, 128},
	};
	vary_u first, last;

	for (unsigned i = 0; i < a->cfg->ip.n + ARRAY_SIZE(other); i++) {
		const struct neigh_prefix *p =
			i < a->cfg->ip.n ? &a->cfg->ip.at[i] : &other[i - a->cfg->ip.n];
		prefix_span(p->ip, p->bits, &first, &last);
		if (lo <= last && hi >= first)
			return true;
	}
	return false;
}

static int too_many_hops(const struct route_ask *a, struct err *e)
{
	const char *six = a->six ? "ipv6" : "ipv4";

	return err_set(
		e, EINVAL,
		"%s: %s.dst takes values on the link that differ from frame to frame without end, or more than %d of them, and "
		"eth.dst auto finds a next hop for each of at most so many; `set %s %s.dst A..B` or a list of fewer, "
		"`repeat N seed S` behind random, a gateway for all of them, or `set %s eth.dst MAC`",
		a->name, six, HOST_HOPS_MAX, a->where, six, a->where);
}

/* The gateway, for addresses that are not on the link; `to` is one of them. */
static int route_away(const struct route_ask *a, vary_u to, struct host_hop *hop, struct err *e)
{
	struct sbuf text = {0};
	uint8_t ip[NEIGH_IP];
	unsigned port = a->cp->p.id;

	for (unsigned i = 0; i < a->cfg->gateway.n; i++) {
		memcpy(hop->ip, a->cfg->gateway.at[i].ip, NEIGH_IP);
		if (neigh_is_ip4(hop->ip) == !a->six)
			return 1;
	}
	route_store(to, ip);
	host_print_ip(ip, &text);
	if (a->program)
		err_set(e, EINVAL,
			"port %u has no way to %s, which is in no prefix of its addresses, and it has no %s gateway; --ip "
			"ADDRESS/LENGTH,GATEWAY or `set %u gateway A` says who forwards it",
			port, sbuf_str(&text), a->six ? "IPv6" : "IPv4", port);
	else
		err_set(e, EINVAL,
			"%s: %s.dst %s is in no prefix of the addresses of port %u, and it has no %s gateway, so eth.dst auto finds no next "
			"hop; `set %u gateway A` says who forwards it, `set %s %s.dst A` sends to a neighbour, `set %s eth.dst MAC` says the "
			"address itself",
			a->name, a->six ? "ipv6" : "ipv4", sbuf_str(&text), port,
			a->six ? "IPv6" : "IPv4", port, a->where, a->six ? "ipv6" : "ipv4",
			a->where);
	sbuf_free(&text);
	return -EINVAL;
}

/* Nobody on a link has an IPv4 address in the form of IPv6 (RFC 4291 section 2.5.5.2), so nobody is
 * asked for one among lo to hi. */
static int route_mapped(const struct route_ask *a, vary_u lo, vary_u hi, struct err *e)
{
	const vary_u first = (vary_u)0xffff << 32, last = first | 0xffffffff;
	struct sbuf text = {0};
	uint8_t ip[NEIGH_IP];

	if (!a->six || lo > last || hi < first)
		return 0;
	route_store(lo > first ? lo : first, ip);
	host_print_ip(ip, &text);
	if (a->program)
		err_set(e, EINVAL,
			"port %u has no way to ::ffff:%s, an IPv4 address in the form of IPv6, which nobody on a link answers for; %s is "
			"the address itself",
			a->cp->p.id, sbuf_str(&text), sbuf_str(&text));
	else
		err_set(e, EINVAL,
			"%s: ipv6.dst ::ffff:%s is an IPv4 address in the form of IPv6, which nobody on a link answers for, so eth.dst auto finds no "
			"next hop; `set %s ipv6.dst A` sends to somebody, `set %s eth.dst MAC` sends it all the same",
			a->name, sbuf_str(&text), a->where, a->where);
	sbuf_free(&text);
	return -EINVAL;
}

static int route_one(const struct route_ask *a, vary_u to, struct host_hop *hop, struct err *e)
{
	struct sbuf text = {0};
	int rc = route_mapped(a, to, to, e);

	if (rc < 0)
		return rc;
	*hop = (struct host_hop){0};
	route_store(to, hop->ip);
	if (group_mac(a->cfg, to, hop->mac)) {
		hop->known = hop->group = true;
		return 1;
	}
	memset(hop->mac, 0, 6);
	for (unsigned i = 0; i < a->self.nown; i++) {
		if (memcmp(a->self.own[i].ip, hop->ip, NEIGH_IP) != 0)
			continue;
		host_print_ip(hop->ip, &text);
		if (a->program)
			err_set(e, EINVAL,
				"%s is port %u's own address, and the server has to have another one",
				sbuf_str(&text), a->cp->p.id);
		else
			err_set(e, EINVAL,
				"%s: %s.dst is the port's own address %s; `set %s %s.dst A` sends to somebody else, `set %s eth.dst MAC` "
				"sends it all the same",
				a->name, a->six ? "ipv6" : "ipv4", sbuf_str(&text), a->where,
				a->six ? "ipv6" : "ipv4", a->where);
		sbuf_free(&text);
		return -EINVAL;
	}
	return meets_link(a, to, to) ? 1 : route_away(a, to, hop, e);
}

/* A variation value by value. Returns how many come until they begin again; 0: there is no end. */
static uint64_t route_values(const struct vary *v, struct vary *each)
{
	bool random = v->kind == VARY_RANDOM || v->kind == VARY_MASK;

	*each = *v;
	each->div = 1;
	return random && v->seed == 0 ? 0 : vary_period(each);
}

/* One next hop for each value, in their order. */
static int route_each(const struct route_ask *a, const struct vary *v, vary_u base,
		      struct host_way *way, struct err *e)
{
	struct vary each;
	uint64_t n = route_values(v, &each);
	bool same = true;

	if (n == 0 || n > HOST_HOPS_MAX)
		return too_many_hops(a, e);
	way->hop = xrealloc(way->hop, n * sizeof(*way->hop));
	for (uint64_t i = 0; i < n; i++) {
		int rc = route_one(a, base | vary_at(&each, i), &way->hop[i], e);
		if (rc <= 0)
			return rc;
		same = same && memcmp(way->hop[i].ip, way->hop[0].ip, NEIGH_IP) == 0;
	}
	way->n = same ? 1 : (unsigned)n;
	way->div = v->div > 1 ? v->div : 1;
	return 1;
}

/* By a value, and how it varies. */
static int route_value(const struct route_ask *a, const uint8_t *value, const struct vary *v,
		       struct host_way *way, struct err *e)
{
	vary_u base = a->six ? 0 : (vary_u)0xffff << 32, lo, hi;

	way->n = 1;
	way->hop = xcalloc(1, sizeof(*way->hop));
	if (v == NULL)
		return route_one(a, base | vary_load(value), way->hop, e);
	switch (v->kind) {
	case VARY_LIST:
		return route_each(a, v, base, way, e);
	case VARY_MASK:
		lo = v->first & ~v->mask;
		hi = v->first | v->mask;
		break;
	case VARY_RANGE:
	case VARY_RANDOM:
		lo = v->lo;
		hi = v->hi;
		break;
	default:
		lo = hi = v->first;
		break;
	}
	if (lo == hi)
		return route_one(a, base | lo, way->hop, e);
	int rc = route_mapped(a, lo, hi, e);
	if (rc < 0)
		return rc;
	return meets_link(a, base | lo, base | hi) ? route_each(a, v, base, way, e)
						   : route_away(a, base | lo, way->hop, e);
}

void host_frame_tags(const uint8_t *f, unsigned n, struct neigh_tags *tags)
{
	*tags = (struct neigh_tags){.n = (uint8_t)n};
	for (unsigned i = 0; i < n; i++) {
		const uint8_t *at = f + NEIGH_ETH + i * NEIGH_TAG;
		tags->at[i] = (struct neigh_tag){get_be16(at - 2), get_be16(at) & 0xfff};
	}
	if (n == 1 && tags->at[0].vid == 0)
		tags->n = 0; /* it says a priority, and no VLAN (IEEE 802.1Q 9.6) */
}

/* The VLAN tags of a stream's frames, of which some ids may vary, side by side. */
struct route_tags {
	uint8_t bytes[NEIGH_ETH + NEIGH_TAGS_MAX * NEIGH_TAG];
	unsigned ntags, nvars, period;
	struct {
		const struct frame_val *val;
		struct vary each; /* its values one by one */
		unsigned at;      /* which of the tags */
	} var[NEIGH_TAGS_MAX];
};

/* The tags of the i-th frame, not counting frames that have the same values as the one before. */
static void tags_at(const struct route_tags *t, unsigned i, struct neigh_tags *out)
{
	uint8_t bytes[sizeof(t->bytes)];

	memcpy(bytes, t->bytes, sizeof(bytes));
	for (unsigned k = 0; k < t->nvars; k++)
		put_be16(bytes + NEIGH_ETH + t->var[k].at * NEIGH_TAG,
			 (unsigned)vary_at(&t->var[k].each, i) & 0xfff);
	host_frame_tags(bytes, t->ntags, out);
}

/* The digit of the nested fields that a field is in, counted from 1; 0: it steps with each
 * frame. */
static unsigned nest_digit(const struct frame_nest *nest, const struct frame_val *v)
{
	unsigned digit = 0;

	for (unsigned i = 0; i < nest->n; i++) {
		digit += i == 0 || !nest->at[i].same_digit;
		if (nest->at[i].proto == v->proto && nest->at[i].nth == v->nth &&
		    nest->at[i].field == v->field)
			return digit;
	}
	return 0;
}

/* Whether two fields step together. */
static bool same_step(const struct frame_spec *spec, const struct frame_val *a,
		      const struct frame_val *b)
{
	return nest_digit(&spec->nest, a) == nest_digit(&spec->nest, b) &&
	       RTE_MAX(a->vary->div, 1u) == RTE_MAX(b->vary->div, 1u);
}

static int tags_apart(const struct route_ask *a, struct err *e)
{
	return err_set(
		e, EINVAL,
		"%s: its VLAN ids, and its destinations on the link, do not step together, and eth.dst auto finds a next hop for each pair "
		"of those that do; `set %s nest none` makes them, `set %s eth.dst MAC` says the address",
		a->name, a->where, a->where);
}

static int tags_without_end(const struct route_ask *a, struct err *e)
{
	return err_set(
		e, EINVAL,
		"%s: the VLANs of its frames differ from frame to frame without end, or come again after more than %d frames, and "
		"eth.dst auto finds a next hop for each of at most so many; a range or a list of fewer, `repeat N seed S` behind random, "
		"or `set %s eth.dst MAC`",
		a->name, HOST_HOPS_MAX, a->where);
}

/* Notes an id that varies. */
static int tags_vary(const struct route_ask *a, const struct frame_spec *spec,
		     const struct frame_val *v, unsigned at, struct route_tags *t, struct err *e)
{
	uint64_t n = route_values(v->vary, &t->var[t->nvars].each);

	t->period = (unsigned)lcm(t->period, n, HOST_HOPS_MAX);
	if (t->period == 0)
		return tags_without_end(a, e);
	t->var[t->nvars].val = v;
	t->var[t->nvars++].at = at;
	/* what goes beside an id that is nested names its header, the first of its protocol */
	if (!same_step(spec, v, t->var[0].val) || (v->nth > 1 && nest_digit(&spec->nest, v) > 0))
		return tags_apart(a, e);
	return 0;
}

/* Notes the fields of tags that vary. */
static int tags_find(const struct route_ask *a, const struct frame_spec *spec, unsigned ntags,
		     struct route_tags *t, struct err *e)
{
	int rc = 0;

	for (unsigned i = 0; i < ntags && rc == 0; i++) {
		const struct proto *p = spec->stack.hdr[i + 1];
		unsigned nth = frame_stack_nth(&spec->stack, i + 1);
		const struct frame_val *vid =
			frame_vals_find(&spec->vals, p, nth, proto_field(p, "vid"));
		const struct frame_val *type =
			frame_vals_find(&spec->vals, p, nth, proto_field(p, "type"));

		if (type != NULL && type->vary != NULL)
			return err_set(
				e, EINVAL,
				"%s: what follows its VLAN tags changes from frame to frame, and so where they go; `set %s eth.dst "
				"MAC` says the address",
				a->name, a->where);
		if (vid != NULL && vid->vary != NULL)
			rc = tags_vary(a, spec, vid, i, t, e);
	}
	return rc;
}

/* 0: others refuse the stream. */
static int route_tags(const struct route_ask *a, const struct stream *s,
		      const struct frame_spec *spec, unsigned ntags, struct route_tags *t,
		      struct err *e)
{
	static struct frame frame; /* large, and control is one thread */
	struct err other;

	*t = (struct route_tags){.ntags = ntags, .period = 1};
	if (ntags > NEIGH_TAGS_MAX)
		return err_set(
			e, EINVAL,
			"%s: its frames have %u VLAN tags, and a host asks for next hops through at most %d; `set %s eth.dst MAC` "
			"says the address",
			a->name, ntags, NEIGH_TAGS_MAX, a->where);
	int rc = tags_find(a, spec, ntags, t, e);
	if (rc < 0)
		return rc;
	if (frame_build(spec, &s->cfg.dflt, FRAME_MAX_LEN, &frame, &other) < 0)
		return 0; /* the start tells why */
	memcpy(t->bytes, frame.bytes, sizeof(t->bytes));
	return 1;
}

/* Puts the next hops of a stream into its VLANs: where one of both varies, each goes beside it, and
 * where both do, there is one for each pair that frames have. */
static int way_tag(const struct route_ask *a, const struct frame_spec *spec,
		   const struct frame_val *to, const struct route_tags *t, struct host_way *way,
		   struct err *e)
{
	struct host_hop *ip = way->hop;
	unsigned nips = way->n;

	if (t->nvars > 0 && nips > 1 && !same_step(spec, to, t->var[0].val))
		return tags_apart(a, e);
	way->n = (unsigned)lcm(nips, t->period, HOST_HOPS_MAX);
	if (way->n == 0)
		return tags_without_end(a, e);
	way->hop = xcalloc(way->n, sizeof(*way->hop));
	for (unsigned i = 0; i < way->n; i++) {
		way->hop[i] = ip[i % nips];
		tags_at(t, i, &way->hop[i].tags);
	}
	free(ip);
	if (t->nvars > 0 && nips == 1) {
		const struct frame_val *v = t->var[0].val;
		way->lead = v->nth == 1 ? (struct frame_lead){v->proto, v->field}
					: (struct frame_lead){NULL, NULL};
		way->div = RTE_MAX(v->vary->div, 1u);
	}
	return 1;
}

static int route_spec(struct route_ask *a, const struct stream *s, const struct frame_spec *spec,
		      struct host_way *way, struct err *e)
{
	const struct proto *eth = proto_find("eth");
	const struct frame_val *set = frame_vals_find(&spec->vals, eth, 1, proto_field(eth, "dst"));
	bool own = set != NULL, on = a->cfg->ip.n > 0 && !port_deaf(&a->cp->p);
	uint8_t raw[VT_FIELD_BYTES];
	unsigned ntags = 0;

	if (own ? !set->found : !on)
		return 0;
	const struct proto *l3 = host_l3(&spec->stack, &ntags);
	if (l3 == NULL && !own)
		return 0;
	if (l3 == NULL)
		return err_set(
			e, EINVAL,
			"%s: eth.dst is auto, and its frames have no ipv4 or ipv6 behind eth and VLAN tags that says where they "
			"go; `set %s eth.dst MAC` says it",
			a->name, a->where);
	if (port_deaf(&a->cp->p))
		return err_set(
			e, EINVAL,
			"%s: eth.dst is auto, and nobody is at the other end of port %u (-p %s) who could be asked; `set %s eth.dst "
			"MAC` says where frames go",
			a->name, a->cp->p.id, a->cp->p.spec_text, a->where);
	if (!on)
		return err_set(
			e, EINVAL,
			"%s: eth.dst is auto, and port %u has no address from which it could ask; `set %u ip A/LEN` gives it one, "
			"`set %s eth.dst MAC` says where frames go",
			a->name, a->cp->p.id, a->cp->p.id, a->where);
	struct route_tags tags;
	int rc = route_tags(a, s, spec, ntags, &tags, e);
	if (rc <= 0)
		return rc;
	const struct field *dst = proto_field(l3, "dst");
	const struct frame_val *to = frame_vals_find(&spec->vals, l3, 1, dst);
	if (to == NULL)
		to = frame_vals_find(&s->cfg.dflt, l3, 1, dst);
	if (to == NULL)
		proto_default(l3, dst, raw);
	a->six = l3 == proto_find("ipv6");
	rc = route_value(a, to != NULL ? to->v : raw, to != NULL ? to->vary : NULL, way, e);
	way->lead = (struct frame_lead){l3, dst};
	return rc > 0 ? way_tag(a, spec, to, &tags, way, e) : rc;
}

int host_route(struct ctl *c, const struct ctl_port *cp, const struct stream *s,
	       struct host_way *way, struct err *e)
{
	struct route_ask a = {.cp = cp, .cfg = work_cfg(&cp->cfg, &work_host)};
	struct frame_spec spec;
	struct sizes sizes;
	struct err other;
	int rc = 0;

	*way = (struct host_way){0};
	host_stream_name(cp, s, a.name, a.where);
	a.program = stream_of_program(cp, s);
	host_setup(cp, &a.self);
	if (ctl_stream_spec(c, cp->p.id, s->cfg.id, &spec, &sizes, &other) == 0)
		rc = route_spec(&a, s, &spec, way, e);
	frame_spec_free(&spec);
	if (rc <= 0)
		free(way->hop);
	return rc;
}

unsigned host_serves(struct ctl *c, const struct ctl_port *cp, const struct stream *s,
		     struct neigh_tags **tags)
{
	struct route_ask a = {.cp = cp, .cfg = work_cfg(&cp->cfg, &work_host)};
	unsigned ntags = 0, n = 0;
	struct frame_spec spec;
	struct route_tags t;
	struct sizes sizes;
	struct err other;

	*tags = NULL;
	if (a.cfg->ip.n == 0 || host_l3(&s->cfg.frame.stack, &ntags) == NULL || ntags == 0)
		return 0;
	host_stream_name(cp, s, a.name, a.where);
	if (ctl_stream_spec(c, cp->p.id, s->cfg.id, &spec, &sizes, &other) == 0 &&
	    route_tags(&a, s, &spec, ntags, &t, &other) > 0) {
		*tags = xcalloc(t.period, sizeof(**tags));
		for (unsigned i = 0; i < t.period; i++) {
			tags_at(&t, i, *tags + n);
			n += (*tags)[n].n > 0;
		}
	}
	frame_spec_free(&spec);
	return n;
}
