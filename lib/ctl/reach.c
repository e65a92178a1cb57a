/* SPDX-License-Identifier: BSD-3-Clause */
/* Tells who starts a port why its frames will not arrive although nothing refuses to send them: the
 * link is down, or nobody has set the destination address. */
#include "ctl_int.h"

/* Returns the value of a field in a stream: the one that the user has set (*own is true then), else
 * the default of the port. NULL: there is neither. */
static const struct frame_val *value_of(const struct stream *s, const struct frame_spec *spec,
					const char *header, const char *name, bool *own)
{
	const struct proto *p = proto_find(header);
	const struct field *f = p != NULL ? proto_field(p, name) : NULL;
	const struct frame_val *v = f != NULL ? frame_vals_find(&spec->vals, p, 1, f) : NULL;

	*own = v != NULL;
	return v != NULL || f == NULL ? v : frame_vals_find(&s->cfg.dflt, p, 1, f);
}

static bool reach_has(const struct frame_spec *spec, const char *header)
{
	const struct proto *p = proto_find(header);

	for (unsigned i = 0; i < spec->stack.n; i++)
		if (spec->stack.hdr[i] == p)
			return true;
	return false;
}

/* Do the stream's frames go to the address 00:00:00:00:00:00? */
static bool to_nobody(const struct stream *s, const struct frame_spec *spec)
{
	const struct frame_val *v;
	bool own;

	if (spec->stack.n == 0 || spec->stack.hdr[0] != proto_find("eth"))
		return false;
	v = value_of(s, spec, "eth", "dst", &own);
	if (v == NULL)
		return true;
	for (unsigned i = VT_FIELD_BYTES - 6; i < VT_FIELD_BYTES; i++)
		if (v->v[i] != 0)
			return false;
	return v->vary == NULL;
}

/* Returns "ipv4" or "ipv6" if the stream has that header and nobody has set its destination
 * address; else NULL. */
static const char *default_addresses(const struct stream *s, const struct frame_spec *spec)
{
	const char *header = reach_has(spec, "ipv4")   ? "ipv4"
			     : reach_has(spec, "ipv6") ? "ipv6"
						       : NULL;
	bool own;

	if (header == NULL)
		return NULL;
	value_of(s, spec, header, "dst", &own);
	return own ? NULL : header;
}

static void tell_addresses(struct ctl *c, struct ctl_port *cp, struct sbuf *out)
{
	unsigned first = 0, n = 0, all = 0;
	const char *header = NULL;

	for (unsigned i = 0; i < cp->nstreams; i++) {
		const struct stream *s = cp->stream[i];
		struct frame_spec spec = {0};
		struct sizes sizes;
		struct err e;
		if (s == NULL || !s->cfg.enabled || stream_answers(s))
			continue;
		all++;
		if (ctl_stream_spec(c, cp->p.id, i, &spec, &sizes, &e) == 0 &&
		    to_nobody(s, &spec) && n++ == 0) {
			first = i;
			header = default_addresses(s, &spec);
		}
		frame_spec_free(&spec);
	}
	if (n == 0)
		return;
	sbuf_addf(out, "port %u (%s) sends ", cp->p.id, cp->p.name);
	if (n < all)
		sbuf_addf(out, "stream %u/%u%s ", cp->p.id, first, n > 1 ? " and others" : "");
	sbuf_addf(out, "to 00:00:00:00:00:00, which no receiver takes; `set %u", cp->p.id);
	if (all > 1)
		sbuf_addf(out, "/%u", first);
	sbuf_add(out, " eth.dst ADDRESS` says to whom");
	EACH_WORK(w, reach)
		w->reach(c, cp, out);
	if (header != NULL)
		sbuf_addf(out, "; nobody has set its %s.src and %s.dst either", header, header);
	sbuf_addc(out, '\n');
}

void ctl_reach_text(struct ctl *c, unsigned port, struct sbuf *out)
{
	struct ctl_port *cp = c->port[port];

	if (port_unaddressed(&cp->p))
		return;
	link_look(c, cp);
	if (cp->p.link == LINK_DOWN)
		sbuf_addf(
			out,
			"port %u (%s): its link is down: what it sends is lost, or waits until it is up\n",
			port, cp->p.name);
	if (cp->p.link == LINK_GONE)
		sbuf_addf(
			out,
			"port %u (%s): its interface was deleted, or moved to another network namespace: "
			"what it sends arrives nowhere; start the program again when it is back\n",
			port, cp->p.name);
	tell_addresses(c, cp, out);
}
