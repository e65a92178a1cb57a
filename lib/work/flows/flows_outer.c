/* SPDX-License-Identifier: BSD-3-Clause */
/* The headers outside of the innermost IP header of a flow, by the table of protocols alone: what
 * in them depends on each frame, what tells a received frame's encapsulation, and what answers
 * exchange. */
#include <errno.h>
#include <string.h>

#include "flows_ctl.h"
#include "proto_run.h"

/* The field of a header that says what follows it; NULL: none does. */
static const struct field *outer_names(const struct frame *f, unsigned i, const struct bind **b)
{
	*b = proto_bind(f->l.h[i].proto, f->l.h[i + 1].proto);
	return *b == NULL ? NULL : proto_bind_field(f->l.h[i].proto, *b);
}

static bool outer_is_set(const struct frame *f, unsigned i, const struct field *x)
{
	return (f->l.h[i].set >> (x - f->l.h[i].proto->fields) & 1) != 0;
}

/* ---- what depends on each frame ---- */

struct outer_fixes {
	struct flow_fix fix[FLOW_FIXES];
	unsigned n; /* may be more */
};

static void outer_add(struct outer_fixes *o, enum flow_fix_kind kind, unsigned at, unsigned from,
		      unsigned sum)
{
	if (o->n < FLOW_FIXES)
		o->fix[o->n] = (struct flow_fix){.kind = (uint8_t)kind,
						 .at = (uint8_t)at,
						 .from = (uint8_t)from,
						 .sum = (uint8_t)sum};
	o->n++;
}

static int outer_cannot(const struct frame *f, unsigned i, const struct field *x, struct err *e)
{
	struct sbuf name = {0};

	frame_field_name(f->l.h[i].proto, f->l.h[i].nth, x, &name);
	err_set(e, EINVAL, "%s would be another one in each frame, and flows cannot compute it",
		sbuf_str(&name));
	sbuf_free(&name);
	return -EINVAL;
}

/* The length of what follows, in a header's own field or in the one that names the next header. */
static int outer_length(const struct frame *f, unsigned i, const struct field *x, unsigned from,
			struct outer_fixes *o, struct err *e)
{
	const struct field *sum = proto_role(f->l.h[i].proto, ROLE_SUM_HDR);
	int at = frame_field_at(f, i, x), sum_at = sum != NULL ? frame_field_at(f, i, sum) : -1;

	if (at < 0)
		return 0;
	/* whoever continues such a checksum takes the length for an IPv4 header's */
	if (x->bits != 16 || at % 8 != 0 || x->len_unit > 1 ||
	    (sum_at >= 0 && (from != f->off[i] || (unsigned)at / 8 != from + 2)))
		return outer_cannot(f, i, x, e);
	outer_add(o, sum_at >= 0 ? FLOW_FIX_IP4 : FLOW_FIX_LENGTH, (unsigned)at / 8, from,
		  sum_at >= 0 ? (unsigned)sum_at / 8 : 0);
	return 0;
}

static int outer_lengths(const struct frame *f, unsigned at, struct outer_fixes *o, struct err *e)
{
	int rc = 0;

	for (unsigned i = 0; i < at && rc == 0; i++) {
		const struct proto *p = f->l.h[i].proto;
		const struct bind *b;
		const struct field *names = outer_names(f, i, &b);
		for (const struct field *x = p->fields; x->name != NULL && rc == 0; x++)
			if (x->role == ROLE_LEN)
				rc = outer_length(f, i, x, (unsigned)((int)f->off[i] + x->len_from),
						  o, e);
		if (rc == 0 && names != NULL && b->is_len)
			rc = outer_length(f, i, names, f->off[i + 1], o, e);
	}
	return rc;
}

/* Where the IP header is whose addresses are in the pseudo header of header i. */
static unsigned outer_pseudo(const struct frame *f, unsigned i)
{
	while (i > 0 && !f->l.h[i].proto->has_pseudo)
		i--;
	return f->off[i];
}

/* A checksum that somebody has set is none: see flows_design_new(). */
static int outer_sums(const struct frame *f, unsigned at, struct outer_fixes *o, struct err *e)
{
	for (unsigned i = at; i-- > 0;) {
		const struct proto *p = f->l.h[i].proto;
		for (const struct field *x = p->fields; x->name != NULL; x++) {
			int bit = frame_field_at(f, i, x);
			if ((x->role != ROLE_SUM_L4 && x->role != ROLE_CRC32C) || bit < 0 ||
			    outer_is_set(f, i, x))
				continue;
			if (x->role == ROLE_CRC32C ||
			    (p->pseudo_proto != 0 && p->pseudo_proto != IP_UDP))
				return outer_cannot(f, i, x, e);
			outer_add(o, p->pseudo_proto != 0 ? FLOW_FIX_UDP : FLOW_FIX_SUM,
				  (unsigned)bit / 8, f->off[i],
				  p->pseudo_proto != 0 ? outer_pseudo(f, i) : 0);
		}
	}
	return 0;
}

int flows_outer_fixes(const struct frame *f, unsigned at, struct flow_fix fix[FLOW_FIXES],
		      unsigned *n, struct err *e)
{
	struct outer_fixes o = {.n = 0};

	*n = 0;
	if (f->off[at] + LEN_IP4 > FLOW_PREFIX_MAX)
		return err_set(e, EINVAL,
			       "%u bytes of headers before the innermost one: at most %u",
			       f->off[at], FLOW_PREFIX_MAX - LEN_IP4);
	int rc = outer_lengths(f, at, &o, e);
	rc = rc < 0 ? rc : outer_sums(f, at, &o, e);
	if (rc == 0 && o.n > FLOW_FIXES)
		rc = err_set(e, EINVAL, "%u lengths and checksums of outer headers: at most %u",
			     o.n, FLOW_FIXES);
	if (rc == 0) {
		memcpy(fix, o.fix, o.n * sizeof(*fix));
		*n = o.n;
	}
	return rc;
}

/* ---- what tells an encapsulation ---- */

/* Whether frames that differ in a field are laid out in another way. */
static bool outer_lays_out(const struct frame *f, unsigned i, const struct field *x)
{
	const struct bind *b;
	const struct field *names = outer_names(f, i, &b);

	if (names == x)
		return !b->is_len;
	if (b != NULL && b->also != NULL && strcmp(b->also, x->name) == 0)
		return true;
	switch (x->role) {
	case ROLE_VERSION:
	case ROLE_HLEN:
	case ROLE_NEXT:
	case ROLE_HAS:
	case ROLE_FRAG:
	case ROLE_MORE:
		return true;
	default:
		return false;
	}
}

/* The bits of a field that is read. */
static void outer_mark(const struct frame *f, unsigned i, const struct field *x, uint8_t *mask)
{
	int bit = frame_field_at(f, i, x);
	unsigned bits = x->bits;

	if (x->role == ROLE_MORE) { /* its lowest bit */
		bit += x->bits - 1;
		bits = 1;
	}
	for (; bits > 0; bit++, bits--)
		mask[bit / 8] |= (uint8_t)(0x80 >> bit % 8);
}

/* A checksum of an outer header that is verified in frames that come. */
static void outer_check(const struct frame *f, unsigned i, const struct field *x,
			struct flows_shape *out)
{
	const struct proto *p = f->l.h[i].proto;
	int bit = frame_field_at(f, i, x);

	if (bit < 0 || out->nchecks == FLOW_FIXES ||
	    (x->role != ROLE_SUM_HDR && x->role != ROLE_SUM_L4) ||
	    (p->pseudo_proto != 0 && p->pseudo_proto != IP_UDP))
		return;
	out->check[out->nchecks++] =
		(struct flows_check){.kind = x->role == ROLE_SUM_HDR ? FLOW_FIX_IP4
					     : p->pseudo_proto != 0  ? FLOW_FIX_UDP
								     : FLOW_FIX_SUM,
				     .at = (uint8_t)(bit / 8),
				     .from = (uint8_t)f->off[i],
				     .ip = (uint8_t)outer_pseudo(f, i)};
}

void flows_outer_shape(const struct frame *f, const uint8_t *bytes, unsigned at,
		       struct flows_shape *out, uint64_t value[FLOWS_SHAPE_WORDS])
{
	uint64_t id[FLOWS_SHAPE_WORDS] = {0}, word;

	memset(out, 0, sizeof(*out));
	out->l3 = f->off[at];
	out->is6 = bytes[f->off[at]] >> 4 == 6;
	for (unsigned i = 0; i < at; i++) {
		out->tunnel |= f->l.h[i].proto->has_pseudo;
		for (const struct field *x = f->l.h[i].proto->fields; x->name != NULL; x++) {
			if (frame_field_at(f, i, x) < 0)
				continue;
			outer_check(f, i, x, out);
			if (outer_lays_out(f, i, x))
				outer_mark(f, i, x, (uint8_t *)out->mask);
			else if (x->ident)
				outer_mark(f, i, x, (uint8_t *)id);
		}
	}
	out->words = (uint16_t)((out->l3 + 7) / 8);
	for (unsigned i = 0; i < out->words; i++) {
		memcpy(&word, bytes + 8 * i, 8);
		out->value[i] = word & out->mask[i];
		if (id[i] == 0)
			continue;
		out->id_at[out->nids] = (uint8_t)i;
		out->id[out->nids] = id[i];
		value[out->nids++] = word & id[i];
	}
}

/* ---- what answers exchange ---- */

void flows_outer_turn(struct frame_vals *a, bool answers)
{
	for (unsigned i = a->n; i-- > 0;) {
		struct frame_val v = a->val[i];
		unsigned nth = v.nth - (unsigned)FRAME_REPLY;
		if (v.nth <= FRAME_REPLY)
			continue;
		if (answers && v.vary != NULL)
			frame_vals_vary(a, v.proto, nth, v.field, v.vary);
		else if (answers && v.bytes != NULL)
			frame_vals_bytes(a, v.proto, nth, v.field, v.bytes);
		else if (answers)
			frame_vals_set(a, v.proto, nth, v.field, v.v);
		frame_vals_unset(a, v.proto, v.nth, v.field);
	}
}

static const char *outer_other(const struct field *x)
{
	if (x->kind != FIELD_MAC && x->kind != FIELD_IP4 && x->kind != FIELD_IP6)
		return NULL;
	return strcmp(x->name, "src") == 0 ? "dst" : strcmp(x->name, "dst") == 0 ? "src" : NULL;
}

void flows_outer_back(const struct frame *came, const struct frame *sent, unsigned at,
		      struct flow_back *out)
{
	out->n = 0;
	for (unsigned i = 0; i < at; i++) {
		const struct proto *p = came->l.h[i].proto;
		for (const struct field *x = p->fields; x->name != NULL; x++) {
			const char *other = outer_other(x);
			if (other == NULL)
				continue;
			unsigned from = (unsigned)frame_field_at(came, i, x) / 8, len = x->bits / 8;
			unsigned to = (unsigned)frame_field_at(sent, i, proto_field(p, other)) / 8;
			for (unsigned done = 0, some; done < len && out->n < FLOW_BACK;
			     done += some) {
				some = RTE_MIN(len - done, 8u);
				out->span[out->n++] =
					(struct flow_span){(uint8_t)(from + done),
							   (uint8_t)(to + done), (uint8_t)some};
			}
		}
	}
}
