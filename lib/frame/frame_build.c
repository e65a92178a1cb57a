/* SPDX-License-Identifier: BSD-3-Clause */
/* frame_build(): from a spec to bytes. Each header is written in layers: its defaults, values of
 * the port, what names the next header, values of the user, fields with a role. Checksums come
 * last. */
#include "frame_payload.h"
#include "frame_place.h"
#include "run_bits.h"

#include <errno.h>
#include <string.h>

/* The length of the frame without FCS, from the size that the spec asks for and the length of its
 * headers. */
static int choose_len(const struct frame_spec *spec, unsigned hdrs, unsigned max_size,
		      unsigned *len, struct err *e)
{
	unsigned min = hdrs > FRAME_MIN_LEN ? hdrs : FRAME_MIN_LEN;
	unsigned size = spec->size != 0 ? spec->size : min + FRAME_FCS;
	unsigned limit =
		max_size < FRAME_MAX_LEN + FRAME_FCS ? max_size : FRAME_MAX_LEN + FRAME_FCS;
	struct sbuf stack = {0};
	int rc = 0;

	frame_stack_print(&spec->stack, &stack);
	if (hdrs > FRAME_MAX_LEN) {
		rc = err_set(
			e, EINVAL,
			"the headers and options of %s take %u bytes, a frame has at most %u: leave some out",
			sbuf_str(&stack), hdrs, FRAME_MAX_LEN);
	} else if (size < min + FRAME_FCS) {
		if (hdrs > FRAME_MIN_LEN)
			rc = err_set(
				e, EINVAL,
				"size %u is too small for %s%s: the smallest is %u (%u bytes of headers%s and %u of FCS)",
				size, sbuf_str(&stack), spec->probe != 0 ? " with a probe" : "",
				min + FRAME_FCS, hdrs, spec->probe != 0 ? " and probe" : "",
				FRAME_FCS);
		else
			rc = err_set(
				e, EINVAL,
				"size %u is too small: the smallest Ethernet frame is %u bytes with FCS",
				size, min + FRAME_FCS);
	} else if (size > limit && size <= FRAME_MAX_LEN + FRAME_FCS) {
		rc = err_set(
			e, EINVAL,
			"size %u is above %u, the largest frame at this MTU: set a size up to %u, or mtu %u or more",
			size, limit, limit, size - FRAME_FCS - 14);
	} else if (size > limit) {
		rc = err_set(e, EINVAL,
			     "size %u is above %u, the largest frame possible: set a smaller size",
			     size, limit);
	}
	sbuf_free(&stack);
	*len = size - FRAME_FCS;
	return rc;
}

static bool is_set(const struct build *b, unsigned i, const struct field *f)
{
	return (b->l->h[i].set >> (f - b->l->h[i].proto->fields) & 1) != 0;
}

static int put_number(const struct build *b, uint8_t *bytes, unsigned i, const struct field *f,
		      uint64_t v, const char *what, struct err *e)
{
	if (f->bits < 64 && v >> f->bits != 0)
		return err_set(
			e, EINVAL,
			"%s.%s cannot hold %s %llu: it ends at %llu. Set it yourself, or a smaller size or fewer options",
			b->l->h[i].proto->name, f->name, what, (unsigned long long)v,
			(unsigned long long)((1ull << f->bits) - 1));
	layout_put_u64(b->l, bytes, i, f, v);
	return 0;
}

/* Writes n bytes of padding over zeros: PadN (RFC 8200 4.2), or Pad1, which is one zero byte. */
static void pad_ip6(uint8_t *p, unsigned n)
{
	if (n < 2)
		return;
	p[0] = 1;
	p[1] = (uint8_t)(n - 2);
}

/* Writes the header with all its defaults, and its padding. The bytes there must be 0. */
static void put_image(const struct build *b, uint8_t *bytes, unsigned i)
{
	const struct layout *l = b->l;
	const struct proto *p = l->h[i].proto;
	unsigned end = l->h[i].off + p->len;

	proto_image(p, NULL, bytes + l->h[i].off);
	for (unsigned k = l->h[i].section; k < l->h[i].section + l->h[i].nsections; k++) {
		proto_image(p, l->section[k].section, bytes + l->section[k].off);
		end = l->section[k].off + l->section[k].len;
	}
	if (p->options == OPTIONS_IP6)
		pad_ip6(bytes + end, l->h[i].off + l->h[i].hlen - end);
}

/* Writes the port's values. What it says of the first header of a kind also holds for later headers
 * of that kind, unless it says something of these. */
static void put_port(const struct build *b, uint8_t *bytes, unsigned i)
{
	const struct proto *p = b->l->h[i].proto;
	unsigned nth = b->l->h[i].nth;

	for (unsigned k = 0; b->dflt != NULL && k < b->dflt->n; k++) {
		const struct frame_val *v = &b->dflt->val[k];
		if (v->proto != p ||
		    (v->nth != nth &&
		     (v->nth != 1 || frame_vals_find(b->dflt, p, nth, v->field) != NULL)))
			continue;
		if (v->field->kind != FIELD_BYTES && v->field->when.field == NULL)
			layout_put(b->l, bytes, i, v->field, v->v);
	}
}

/* The FIELD_BYTES field that field f of p counts, or NULL. */
static const struct field *of_bytes(const struct proto *p, const struct field *f)
{
	for (const struct field *g = p->fields; g->name != NULL; g++)
		if (g->kind == FIELD_BYTES && proto_of_has(f, g->name))
			return g;
	return NULL;
}

/* Fills a field with a role, except checksums. Lengths and next-header values do not depend on what
 * other fields hold, so that a wrong value that the user sets on purpose spoils nothing else. */
static int put_role(const struct build *b, uint8_t *bytes, unsigned i, const struct field *f,
		    struct err *e)
{
	const struct layout *l = b->l;
	unsigned off = l->h[i].off, unit = f->len_unit != 0 ? f->len_unit : 1;
	int units;

	/* Lengths are rounded up to whole units. */
	switch (f->role) {
	case ROLE_LEN:
		return put_number(b, bytes, i, f,
				  (l->h[i].end - off - (unsigned)f->len_from + unit - 1) / unit,
				  "the length", e);
	case ROLE_HLEN:
		return put_number(b, bytes, i, f,
				  (l->h[i].hlen - (unsigned)f->len_from + unit - 1) / unit,
				  "the length", e);
	case ROLE_COUNT:
		units = (int)(layout_bytes_len(l, i, of_bytes(l->h[i].proto, f)) / unit) +
			f->len_from;
		return put_number(b, bytes, i, f, units > 0 ? (uint64_t)units : 0, "the number", e);
	case ROLE_HAS:
		layout_put_u64(l, bytes, i, f, place_has(b, i, f));
		return 0;
	default:
		return 0;
	}
}

/* Fills the fields that say what the next header is. */
static int put_bind(const struct build *b, uint8_t *bytes, unsigned i, struct err *e)
{
	const struct bind *bind = b->bind[i];
	const struct field *f = b->bind_field[i];
	uint64_t v = bind->value;

	if (bind->is_len) {
		/* Padding of the frame does not count (IEEE 802.3 3.2.7). */
		v = b->l->h[i + 1].end - b->l->h[i + 1].off;
		if (v > bind->value && !is_set(b, i, f))
			return err_set(
				e, EINVAL,
				"%s.%s cannot hold the length %llu of what follows it: it ends at %llu. "
				"Set it yourself, or a size smaller by %llu",
				b->l->h[i].proto->name, f->name, (unsigned long long)v,
				(unsigned long long)bind->value,
				(unsigned long long)(v - bind->value));
	}
	if (!is_set(b, i, f))
		layout_put_u64(b->l, bytes, i, f, v);
	if (bind->also != NULL && !is_set(b, i, proto_field(b->l->h[i].proto, bind->also)))
		layout_put_u64(b->l, bytes, i, proto_field(b->l->h[i].proto, bind->also), v);
	return 0;
}

static void put_bytes(const struct build *b, uint8_t *bytes, unsigned i, const struct field *f)
{
	const struct frame_val *v = place_user(b, i, f);
	const struct hexbytes *from =
		v != NULL ? v->bytes : proto_default_bytes(b->l->h[i].proto, f);
	int at = layout_field(b->l, i, f);

	if (at >= 0 && from != NULL)
		memcpy(bytes + at / 8, from->b, from->n);
}

/* Writes a field that exists only under a condition, if that holds. */
static void put_conditional(const struct build *b, uint8_t *bytes, unsigned i,
			    const struct field *f)
{
	const struct frame_val *v = place_user(b, i, f);
	uint8_t raw[VT_FIELD_BYTES];

	if (!layout_has(b->l, bytes, i, f) || (v == NULL && f->role != ROLE_PLAIN))
		return;
	if (v == NULL)
		proto_default(b->l->h[i].proto, f, raw);
	if (v != NULL || f->dflt != NULL)
		layout_put(b->l, bytes, i, f, v != NULL ? v->v : raw);
}

static void put_user(const struct build *b, uint8_t *bytes, unsigned i)
{
	const struct layout *l = b->l;

	for (unsigned k = 0; l->h[i].set != 0 && k < b->spec->vals.n; k++) {
		const struct frame_val *v = &b->spec->vals.val[k];
		if (v->proto == l->h[i].proto && v->nth == l->h[i].nth && v->field->bits != 0 &&
		    v->field->when.field == NULL)
			layout_put(l, bytes, i, v->field, v->v);
	}
}

/* Writes all of header i but checksums. */
static int put_header(const struct build *b, uint8_t *bytes, unsigned i, struct err *e)
{
	const struct proto *p = b->l->h[i].proto;
	int rc = 0;

	put_image(b, bytes, i);
	put_port(b, bytes, i);
	if (b->bind_field[i] != NULL)
		rc = put_bind(b, bytes, i, e);
	for (const struct field *f = p->fields; b->l->h[i].nsections != 0 && f->name != NULL; f++)
		if (f->kind == FIELD_BYTES)
			put_bytes(b, bytes, i, f);
	put_user(b, bytes, i);
	/* A field that depends on another field's value is written after that one. */
	for (const struct field *f = p->fields; rc == 0 && f->name != NULL; f++) {
		if (f->when.field != NULL)
			put_conditional(b, bytes, i, f);
		if (f->role != ROLE_PLAIN && !is_set(b, i, f) && layout_has(b->l, bytes, i, f))
			rc = put_role(b, bytes, i, f, e);
	}
	return rc;
}

int frame_build(const struct frame_spec *spec, const struct frame_vals *dflt, unsigned max_size,
		struct frame *out, struct err *e)
{
	struct build b = {.spec = spec, .dflt = dflt, .l = &out->l};
	struct frame_sum sums[LAYOUT_MAX_SUMS];
	unsigned len, nsums;

	if (spec->stack.n == 0)
		return err_set(e, EINVAL,
			       "the frame has no headers: set a stack, such as eth/ipv4/udp");
	int rc = place_headers(&b, e);
	if (rc == 0)
		rc = choose_len(spec, out->l.tail, max_size, &len, e);
	if (rc != 0)
		return rc;
	place_ends(&b, len);
	out->n = out->l.n;
	out->len = (uint16_t)len;
	memset(out->bytes, 0, out->l.tail);
	rc = frame_payload(spec, out->bytes + out->l.tail, len - out->l.tail, e);
	for (unsigned i = 0; rc == 0 && i < out->n; i++) {
		out->off[i] = (uint16_t)out->l.h[i].off;
		rc = put_header(&b, out->bytes, i, e);
	}
	if (rc != 0)
		return rc;
	/* The inner ones come first, because an outer checksum covers them. */
	nsums = layout_sums(&out->l, out->bytes, sums, LAYOUT_MAX_SUMS);
	for (unsigned k = 0; k < nsums; k++)
		recipe_sum(&sums[k], out->bytes);
	return 0;
}

unsigned frame_headers_len(const struct frame_spec *spec)
{
	struct layout l;
	struct build b = {.spec = spec, .l = &l};

	place_headers(&b, NULL);
	return l.tail;
}
