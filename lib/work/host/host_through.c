/* SPDX-License-Identifier: BSD-3-Clause */
#include "host_through_ctl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host_ctl.h"
#include "host_face.h"
#include "host_ping.h"

struct through_ask {
	struct ctl *c;
	const struct ctl_port *cp;
	const struct stream *s;
	struct frame_spec spec;
	unsigned last; /* index of the last IP header */
	char name[32], where[24];
};

static bool is_ip(const struct proto *p)
{
	return p == proto_find("ipv4") || p == proto_find("ipv6");
}

/* The last IP header by which frames are sent: one that an ICMP error quotes is none. 0: none. */
static unsigned last_ip(const struct frame_stack *stack)
{
	unsigned last = 0;

	for (unsigned i = 0; i < stack->n; i++) {
		if (stack->hdr[i] == proto_find("icmp") || stack->hdr[i] == proto_find("icmpv6"))
			break;
		if (is_ip(stack->hdr[i]))
			last = i;
	}
	return last;
}

static int through_none(const struct through_ask *a, struct err *e)
{
	struct sbuf stack = {0};

	frame_stack_print(&a->spec.stack, &stack);
	err_set(e, EINVAL,
		"%s sends %s, which has no ipv4 or ipv6 that an echo request could follow; `set %s frame eth/vlan/ipv4/udp` gives it "
		"one, and a port alone asks without any stream",
		a->name, sbuf_str(&stack), a->where);
	sbuf_free(&stack);
	return -EINVAL;
}

static int through_family(const struct through_ask *a, const uint8_t to[NEIGH_IP], struct err *e)
{
	struct sbuf ip = {0};

	host_print_ip(to, &ip);
	err_set(e, EINVAL,
		"%s: the last IP header of its frames is %s, and %s is an address of the other family",
		a->name, a->spec.stack.hdr[a->last]->name, sbuf_str(&ip));
	sbuf_free(&ip);
	return -EINVAL;
}

/* Cuts the frame behind its last IP header, of which only the source stays, and puts an echo
 * request there. */
static void through_cut(struct through_ask *a, const struct neigh_ping *p)
{
	struct frame_spec *spec = &a->spec;
	const struct proto *ip = spec->stack.hdr[a->last];
	unsigned nth = frame_stack_nth(&spec->stack, a->last);
	const struct field *src = proto_field(ip, "src"), *dst = proto_field(ip, "dst");
	uint8_t to[VT_FIELD_BYTES] = {0};

	for (const struct field *f = ip->fields; f->name != NULL; f++)
		if (f != src)
			frame_vals_unset(&spec->vals, ip, nth, f);
	if (neigh_is_ip4(p->to))
		memcpy(to + VT_FIELD_BYTES - 4, p->to + 12, 4);
	else
		memcpy(to + VT_FIELD_BYTES - NEIGH_IP, p->to, NEIGH_IP);
	frame_vals_set(&spec->vals, ip, nth, dst, to);
	const struct proto *icmp = proto_find(neigh_is_ip4(p->to) ? "icmp" : "icmpv6");
	for (const struct field *f = icmp->fields; f->name != NULL; f++)
		frame_vals_unset(&spec->vals, icmp, 1, f);
	spec->stack.n = a->last + 1;
	spec->stack.hdr[spec->stack.n++] = icmp;
	spec->nest.n = 0;
	spec->probe = 0;
	spec->rnd_on = false;
}

static int through_inside(struct through_ask *a, struct neigh_ping *p, unsigned size,
			  struct host_through *out, struct err *e)
{
	static struct frame frame; /* large, and control is one thread */
	struct host_way way;
	bool six = a->spec.stack.hdr[a->last] == proto_find("ipv6");

	if (neigh_is_ip4(p->to) == six)
		return through_family(a, p->to, e);
	if (a->last + 2 > FRAME_MAX_HDRS)
		return err_set(e, EINVAL, "%s: its frames have no room for a further header",
			       a->name);
	int rc = host_route(a->c, a->cp, a->s, &way, e);
	if (rc < 0)
		return rc;
	out->asked = rc > 0;
	if (rc > 0) {
		out->hop = way.hop[0];
		out->tags = way.hop[0].tags;
		free(way.hop);
	}
	through_cut(a, p);
	rc = host_ping_size(a->cp, &out->tags, frame_headers_len(&a->spec) + NEIGH_PING_NUMBER,
			    a->name, &size, e);
	a->spec.size = (uint16_t)size;
	if (rc == 0)
		rc = frame_build(&a->spec, &a->s->cfg.dflt, FRAME_MAX_LEN, &frame, e);
	if (rc < 0)
		return rc;
	if (!out->asked) {
		memcpy(out->hop.mac, frame.bytes, 6);
		out->hop.known = true;
	}
	out->inside = p->inside = true;
	out->len = frame.len;
	out->ip = frame.off[a->last];
	out->icmp = frame.off[a->last + 1];
	if (six)
		memcpy(p->from, frame.bytes + out->ip + 8, NEIGH_IP);
	else
		neigh_ip_from4(p->from, frame.bytes + out->ip + 12);
	neigh_ping_echo(p, frame.bytes, out->ip, out->icmp, out->len, &out->first);
	out->image = xcalloc(1, out->len);
	memcpy(out->image, frame.bytes, out->len);
	return 0;
}

static int through_link(struct through_ask *a, unsigned ntags, struct host_through *out,
			struct err *e)
{
	static struct frame frame;
	int rc = frame_build(&a->spec, &a->s->cfg.dflt, FRAME_MAX_LEN, &frame, e);

	if (rc < 0)
		return rc;
	if (ntags > NEIGH_TAGS_MAX)
		return err_set(
			e, EINVAL,
			"%s: its frames have %u VLAN tags, and a host asks through at most %d",
			a->name, ntags, NEIGH_TAGS_MAX);
	host_frame_tags(frame.bytes, ntags, &out->tags);
	return 0;
}

int host_through(struct ctl *c, const struct ctl_port *cp, unsigned stream, struct neigh_ping *p,
		 unsigned size, struct host_through *out, struct err *e)
{
	struct through_ask a = {.c = c, .cp = cp, .s = stream_at(cp, stream)};
	struct sizes sizes;
	unsigned ntags;

	*out = (struct host_through){0};
	int rc = ctl_stream_spec(c, cp->p.id, stream, &a.spec, &sizes, e);
	if (rc == 0) {
		host_stream_name(cp, a.s, a.name, a.where);
		a.last = last_ip(&a.spec.stack);
		host_l3(&a.spec.stack, &ntags);
		if (a.last == 0)
			rc = through_none(&a, e);
		else if (p->link || a.last == ntags + 1)
			rc = through_link(&a, ntags, out, e);
		else
			rc = through_inside(&a, p, size, out, e);
	}
	frame_spec_free(&a.spec);
	return rc;
}
