/* SPDX-License-Identifier: BSD-3-Clause */
#include "fill.h"
#include "frame_layout.h"

#include <errno.h>
#include <string.h>

/* One frame while it is built. */
struct build {
	const struct frame_spec *spec;
	const struct frame_vals *dflt;
	struct frame *out;
	struct layout l;
	uint8_t nth[FRAME_MAX_HDRS]; /* how many headers of its protocol there are up to this one */
};

/* From the stack, the size in bytes without FCS. */
static int choose_len(const struct frame_spec *spec, unsigned max_size, unsigned *len, struct err *e)
{
	unsigned hdrs = frame_stack_len(&spec->stack), min = hdrs > FRAME_MIN_LEN ? hdrs : FRAME_MIN_LEN;
	unsigned size = spec->size != 0 ? spec->size : min + FRAME_FCS;
	unsigned limit = max_size < FRAME_MAX_LEN + FRAME_FCS ? max_size : FRAME_MAX_LEN + FRAME_FCS;
	struct sbuf stack = {0};
	int rc = 0;

	frame_stack_print(&spec->stack, &stack);
	if (size < min + FRAME_FCS) {
		if (hdrs > FRAME_MIN_LEN)
			rc = err_set(
				e, EINVAL,
				"size %u is too small for %s: the smallest is %u (%u bytes of headers and %u of FCS)",
				size, sbuf_str(&stack), min + FRAME_FCS, hdrs, FRAME_FCS);
		else
			rc = err_set(e, EINVAL,
				     "size %u is too small: the smallest Ethernet frame is %u bytes with FCS", size,
				     min + FRAME_FCS);
	} else if (size > limit && size <= FRAME_MAX_LEN + FRAME_FCS) {
		rc = err_set(
			e, EINVAL,
			"size %u is above %u, the largest frame at this MTU: set a size up to %u, or mtu %u or more",
			size, limit, limit, size - FRAME_FCS - 14);
	} else if (size > limit) {
		rc = err_set(e, EINVAL, "size %u is above %u, the largest frame possible: set a smaller size", size,
			     limit);
	}
	sbuf_free(&stack);
	*len = size - FRAME_FCS;
	return rc;
}

static bool is_sum(const struct field *f)
{
	return f->role == ROLE_SUM_HDR || f->role == ROLE_SUM_L4;
}

static const struct frame_val *user_value(const struct build *b, unsigned i, const struct field *f)
{
	return frame_vals_find(&b->spec->vals, b->l.h[i].proto, b->nth[i], f);
}

/* The port's default. What it says of the first header serves further ones of the kind that have none of their own. */
static const struct frame_val *port_value(const struct build *b, unsigned i, const struct field *f)
{
	if (b->dflt == NULL)
		return NULL;
	const struct frame_val *v = frame_vals_find(b->dflt, b->l.h[i].proto, b->nth[i], f);
	return v != NULL ? v : frame_vals_find(b->dflt, b->l.h[i].proto, 1, f);
}

/* The header above i, or the payload where it has a binding of its own, or NULL. */
static const struct bind *bind_above(const struct build *b, unsigned i)
{
	const struct proto *lower = b->l.h[i].proto;

	if (i + 1 < b->l.n)
		return proto_bind(lower, b->l.h[i + 1].proto);
	for (const struct proto *const *p = proto_table; *p != NULL; p++)
		if ((*p)->is_payload)
			return proto_bind(lower, *p);
	return NULL;
}

static int put_number(const struct build *b, unsigned i, const struct field *f, uint64_t v, const char *what,
		      struct err *e)
{
	if (f->bits < 64 && v >> f->bits != 0)
		return err_set(e, EINVAL,
			       "%s.%s cannot hold %s %llu: it ends at %llu. Set it yourself, or a smaller size",
			       b->l.h[i].proto->name, f->name, what, (unsigned long long)v,
			       (unsigned long long)((1ull << f->bits) - 1));
	proto_put_u64(f, b->out->bytes + b->l.h[i].off, v);
	return 0;
}

static int put_default(const struct build *b, unsigned i, const struct field *f, struct err *e)
{
	const struct frame_val *v = port_value(b, i, f);
	uint8_t *hdr = b->out->bytes + b->l.h[i].off;
	uint8_t raw[VT_FIELD_BYTES];
	struct vspec spec;

	if (v != NULL) {
		proto_put(f, hdr, v->v);
		return 0;
	}
	if (f->dflt == NULL)
		return 0;
	proto_vspec(f, &spec);
	int rc = spec.type->parse(&spec, f->dflt, raw, e);
	if (rc == 0)
		proto_put(f, hdr, raw);
	return rc;
}

/* Everything but checksums. Lengths and next-header values do not depend on what other fields hold: what the user has set
 * wrong on purpose spoils nothing else. */
static int put_field(const struct build *b, unsigned i, const struct field *f, struct err *e)
{
	const struct frame_val *user = user_value(b, i, f);
	const struct bind *bind = bind_above(b, i);
	unsigned off = b->l.h[i].off, unit = f->len_unit != 0 ? f->len_unit : 1;

	if (user != NULL) {
		proto_put(f, b->out->bytes + off, user->v);
		return 0;
	}
	if (bind != NULL && proto_bind_field(b->l.h[i].proto, bind) == f)
		return put_number(b, i, f, bind->value, "the next header's number", e);
	/* Rounded up: a unit that is begun is needed. */
	if (f->role == ROLE_LEN)
		return put_number(b, i, f, (b->l.h[i].end - off - (unsigned)f->len_from + unit - 1) / unit,
				  "the length", e);
	if (f->role == ROLE_HLEN)
		return put_number(b, i, f, (b->l.h[i].hlen - (unsigned)f->len_from + unit - 1) / unit, "the length", e);
	if (is_sum(f))
		return 0;
	return put_default(b, i, f, e);
}

static void put_sum(const struct build *b, unsigned i, const struct field *f)
{
	if (!is_sum(f) || user_value(b, i, f) != NULL)
		return;
	uint16_t v = (uint16_t)~layout_sum(&b->l, b->out->bytes, i, f);
	if (v == 0 && f->zero_is_none)
		v = 0xffff;
	proto_put_u64(f, b->out->bytes + b->l.h[i].off, v);
}

static void place(struct build *b, unsigned len)
{
	const struct frame_stack *s = &b->spec->stack;
	unsigned off = 0;

	b->l.n = s->n;
	for (unsigned i = 0; i < s->n; i++) {
		b->nth[i] = 1;
		for (unsigned j = 0; j < i; j++)
			b->nth[i] += s->hdr[j] == s->hdr[i];
		b->l.h[i].proto = s->hdr[i];
		b->l.h[i].off = off;
		b->l.h[i].hlen = s->hdr[i]->len;
		b->l.h[i].end = len;
		b->out->off[i] = (uint16_t)off;
		off += s->hdr[i]->len;
	}
	b->out->n = s->n;
	b->out->len = (uint16_t)len;
}

int frame_build(const struct frame_spec *spec, const struct frame_vals *dflt, unsigned max_size, struct frame *out,
		struct err *e)
{
	struct build b = {.spec = spec, .dflt = dflt, .out = out};
	unsigned len, hdrs = frame_stack_len(&spec->stack);

	if (spec->stack.n == 0)
		return err_set(e, EINVAL, "the frame has no headers: set a stack, such as eth/ipv4/udp");
	int rc = choose_len(spec, max_size, &len, e);
	if (rc != 0)
		return rc;
	place(&b, len);
	memset(out->bytes, 0, hdrs);
	rc = frame_payload(spec, out->bytes + hdrs, len - hdrs, e);
	for (unsigned i = 0; rc == 0 && i < b.l.n; i++)
		for (const struct field *f = b.l.h[i].proto->fields; rc == 0 && f->name != NULL; f++)
			rc = put_field(&b, i, f, e);
	if (rc != 0)
		return rc;
	/* From the inside out: an outer checksum covers the inner ones. */
	for (unsigned i = b.l.n; i-- > 0;)
		for (const struct field *f = b.l.h[i].proto->fields; f->name != NULL; f++)
			put_sum(&b, i, f);
	return 0;
}
