/* SPDX-License-Identifier: BSD-3-Clause */
/* The next hops of a client whose destinations have different MAC addresses on the link: by
 * stream_found() they are a list beside the destinations. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "flows_ctl.h"

/* What was found: number i is for destination i mod n, in VLANs i mod each. */
struct hops {
	const struct frame_val *mac;
	const struct vary *dst; /* one by one */
	unsigned n, each;
};

static const struct frame_val *hops_value(const struct stream *s, const struct frame_spec *spec,
					  const struct proto *p, unsigned nth,
					  const struct field *f)
{
	const struct frame_val *v = frame_vals_find(&spec->vals, p, nth, f);

	return v != NULL ? v : frame_vals_find(&s->cfg.dflt, p, nth, f);
}

/* After how many clients the VLANs of a frame come again. */
static uint64_t hops_vlans(const struct frame_spec *spec)
{
	uint64_t n = 1;

	for (unsigned i = 1; i < spec->stack.n; i++) {
		const struct proto *p = spec->stack.hdr[i];
		const struct field *vid = proto_field(p, "vid");
		const struct frame_val *v;
		if (vid == NULL)
			break;
		v = frame_vals_find(&spec->vals, p, frame_stack_nth(&spec->stack, i), vid);
		n = lcm(n, v != NULL && v->vary != NULL ? vary_period(v->vary) : 1, FLOWS_PATHS);
		if (n == 0)
			return 1; /* of such nothing is found */
	}
	return n;
}

/* The MAC address of destination k for the clients of VLANs number j. */
static uint64_t hops_mac(const struct hops *h, unsigned k, unsigned j)
{
	unsigned i = k;

	while (i % h->each != j)
		i += h->n;
	return (uint64_t)vary_at(h->mac->vary, i);
}

/* Finds the destinations that have the same addresses in all VLANs, and gives each its kind. */
static void hops_kinds(struct flows_design *d, const struct hops *h)
{
	uint64_t *all = xcalloc((size_t)h->n * h->each, sizeof(*all));

	d->to_path = xcalloc(d->remote.count + 1u, sizeof(*d->to_path));
	for (unsigned k = 0; k < h->n; k++) {
		uint64_t *own = all + (size_t)d->nto * h->each;
		unsigned kind = 0;
		uint32_t to = flow_servers_find(d->to, (uint32_t)vary_at(h->dst, k), 0);
		for (unsigned j = 0; j < h->each; j++)
			own[j] = hops_mac(h, k, j);
		while (memcmp(all + (size_t)kind * h->each, own, h->each * sizeof(*own)) != 0)
			kind++;
		d->nto = (uint16_t)RTE_MAX(d->nto, kind + 1);
		d->to_path[to] = (uint16_t)kind;
	}
	d->to_mac = all;
	d->neach = h->each;
}

/* Next hops are found for the pairs that frames of streams have, side by side. */
static int hops_apart(const struct hops *h, const struct ctl_port *cp, const struct stream *s,
		      struct err *e)
{
	char where[24];

	flows_where(cp, s, where);
	return err_set(
		e, EINVAL,
		"stream %u/%u is a flow with %u destinations, which have different MAC addresses on the link, in each of %u VLANs, and both "
		"numbers have a common factor: a stream for each VLAN, a destination more or less, or `set %s eth.dst MAC`",
		cp->p.id, s->cfg.id, h->n, h->each, where);
}

int flows_design_hops(struct flows_design *d, const struct ctl_port *cp, const struct stream *s,
		      struct frame_spec *spec, const struct flows_field *remote, struct err *e)
{
	static const struct flow_values any = {.count = 1, .step = 1};
	const struct proto *eth = proto_find("eth");
	const struct field *dst = proto_field(eth, "dst");
	struct hops h = {.mac = hops_value(s, spec, eth, 1, dst)};
	const struct frame_val *to = hops_value(s, spec, remote->proto, 1, remote->field);
	struct vary each = {.kind = VARY_FIXED, .div = 1};
	uint64_t n, vlans = hops_vlans(spec);
	uint8_t first[VT_FIELD_BYTES];

	if (!d->client || remote->nth != 1 || h.mac == NULL || h.mac->vary == NULL ||
	    h.mac->lead.field != remote->field || to == NULL)
		return 0;
	each.first = vary_load(to->v);
	if (to->vary != NULL)
		each = *to->vary;
	each.div = 1;
	n = vary_period(&each);
	h.dst = &each;
	h.n = (unsigned)n;
	h.each = (unsigned)vlans;
	if (lcm(n, vlans, UINT64_MAX) != n * vlans)
		return hops_apart(&h, cp, s, e);
	/* more of them are not found: these are of settings before */
	if (n > 0 && n * vlans <= FLOWS_PATHS && d->remote.count <= FLOW_SERVERS_MAX)
		d->to = flow_servers_new(&d->remote, &any, true);
	if (d->to != NULL)
		hops_kinds(d, &h);
	vary_store(vary_at(h.mac->vary, 0), first);
	frame_vals_set(&spec->vals, eth, 1, dst, first); /* the rest does not vary by it */
	return 0;
}

void flows_hops_at(const struct flows_design *d, unsigned client, unsigned kind, uint8_t *frame)
{
	uint64_t mac;

	if (d->to == NULL)
		return;
	mac = d->to_mac[(size_t)kind * d->neach + client % d->neach];
	for (unsigned i = 0; i < 6; i++)
		frame[i] = (uint8_t)(mac >> (40 - 8 * i));
}
