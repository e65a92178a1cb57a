/* SPDX-License-Identifier: BSD-3-Clause */
/* Which sections the headers of a spec have and where all of them lie. A section may depend on a
 * value, and a value may say whether a section is there, so both are found out here, before the
 * frame has bytes. */
#include "frame_place.h"

#include <errno.h>
#include <string.h>

static uint64_t place_low64(const uint8_t v[VT_FIELD_BYTES])
{
	uint64_t x = 0;

	for (unsigned k = VT_FIELD_BYTES - 8; k < VT_FIELD_BYTES; k++)
		x = x << 8 | v[k];
	return x;
}

static bool is_set(const struct build *b, unsigned i, const struct field *f)
{
	return (b->l->h[i].set >> (f - b->l->h[i].proto->fields) & 1) != 0;
}

const struct frame_val *place_user(const struct build *b, unsigned i, const struct field *f)
{
	return is_set(b, i, f)
		       ? frame_vals_find(&b->spec->vals, b->l->h[i].proto, b->l->h[i].nth, f)
		       : NULL;
}

/* The bind by which the header behind header i follows it. If no header is behind it, or a probe,
 * this is the bind of the payload. NULL: there is none. */
static const struct bind *bind_above(const struct build *b, unsigned i)
{
	const struct proto *lower = b->l->h[i].proto;

	if (i + 1 < b->l->n && b->l->h[i + 1].proto != &proto_probe)
		return proto_bind(lower, b->l->h[i + 1].proto);
	for (const struct proto *const *p = proto_table; *p != NULL; p++)
		if ((*p)->is_payload)
			return proto_bind(lower, *p);
	return NULL;
}

static uint64_t place_covers_one(const struct build *b, unsigned i, const struct field *f,
				 const struct section *except);

/* A field's value as conditions see it before the frame has bytes. `except` is the section about
 * which is asked: it is no reason for itself. */
static uint64_t number_now(const struct build *b, unsigned i, const struct field *f,
			   const struct section *except)
{
	const struct frame_val *v = place_user(b, i, f);
	uint8_t raw[VT_FIELD_BYTES];

	if (v != NULL)
		return place_low64(v->v);
	if (f->role == ROLE_HAS)
		return place_covers_one(b, i, f, except);
	if (b->bind_field[i] == f)
		return b->bind[i]->value;
	proto_default(b->l->h[i].proto, f, raw);
	return place_low64(raw);
}

static bool place_holds(const struct build *b, unsigned i, const struct cond *c,
			const struct section *except)
{
	return c->field == NULL ||
	       cond_has(c, number_now(b, i, proto_field(b->l->h[i].proto, c->field), except));
}

/* True if the user has given the field a value that needs its section. */
static bool place_asks(const struct build *b, unsigned i, const struct field *f)
{
	const struct frame_val *v = place_user(b, i, f);

	if (v == NULL)
		return false;
	if (f->kind == FIELD_BYTES)
		return v->bytes != NULL && v->bytes->n != 0;
	return f->role != ROLE_HERE || place_low64(v->v) != 0;
}

/* True if header i has this section. */
static bool section_here(const struct build *b, unsigned i, const struct section *section)
{
	const struct proto *p = b->l->h[i].proto;

	if (!place_holds(b, i, &section->when, section))
		return false;
	if (!section->optional)
		return true;
	for (const struct field *f = p->fields; f->name != NULL && b->l->h[i].set != 0; f++)
		if (f->section == section && place_asks(b, i, f))
			return true;
	for (unsigned k = 0; k < ARRAY_SIZE(section->seen) && section->seen[k].field != NULL; k++) {
		const struct field *f = proto_field(p, section->seen[k].field);
		/* A field inside of a section that fills itself is no reason: it would be its
		 * own. */
		if ((is_set(b, i, f) || (f->role == ROLE_HAS && f->section == NULL)) &&
		    place_holds(b, i, &section->seen[k], section))
			return true;
	}
	return false;
}

static uint64_t place_covers_one(const struct build *b, unsigned i, const struct field *f,
				 const struct section *except)
{
	const struct proto *p = b->l->h[i].proto;
	uint64_t yes = f->has_value != 0 ? f->has_value : 1;
	uint8_t no[VT_FIELD_BYTES];

	for (const struct section *section = p->sections; section != NULL && section->name != NULL;
	     section++)
		if (section != except && proto_of_has(f, section->name) &&
		    section_here(b, i, section))
			return yes;
	for (const struct field *g = p->fields; g->name != NULL && b->l->h[i].set != 0; g++)
		if (is_set(b, i, g) && proto_of_has(f, g->name))
			return yes;
	proto_default(p, f, no);
	return place_low64(no);
}

uint64_t place_has(const struct build *b, unsigned i, const struct field *f)
{
	return place_covers_one(b, i, f, NULL);
}

/* Bytes of a section behind its fixed ones: what its FIELD_BYTES field holds, and as many as other
 * fields that are set need. */
static unsigned bytes_of(const struct build *b, unsigned i, const struct section *section)
{
	const struct proto *p = b->l->h[i].proto;
	unsigned n = 0;

	for (const struct field *f = p->fields; f->name != NULL; f++) {
		unsigned end = (f->bit + f->bits) / 8;
		if (f->section != section)
			continue;
		const struct frame_val *v = place_user(b, i, f);
		if (f->kind == FIELD_BYTES) {
			const struct hexbytes *bytes =
				v != NULL ? v->bytes : proto_default_bytes(p, f);
			end = section->len + (bytes != NULL ? bytes->n : 0);
		} else if (v == NULL) {
			continue;
		}
		n = end > section->len + n ? end - section->len : n;
	}
	return n;
}

static int place_sections(struct build *b, unsigned i, unsigned *off, struct err *e)
{
	struct layout *l = b->l;
	const struct proto *p = l->h[i].proto;

	for (const struct section *section = p->sections; section != NULL && section->name != NULL;
	     section++) {
		if (!section_here(b, i, section))
			continue;
		if (l->nsections == FRAME_MAX_SECTIONS)
			return err_set(e, EINVAL,
				       "the frame has too many options, at most %u: leave some out",
				       FRAME_MAX_SECTIONS);
		unsigned len = section->len + bytes_of(b, i, section);
		l->section[l->nsections++] = (struct layout_section){section, *off, len};
		l->h[i].nsections++;
		*off += len;
	}
	return 0;
}

/* Notes which fields of header i the spec sets. */
static void note_set(struct build *b, unsigned i)
{
	const struct proto *p = b->l->h[i].proto;

	for (unsigned k = 0; k < b->spec->vals.n; k++) {
		const struct frame_val *v = &b->spec->vals.val[k];
		if (v->proto == p && v->nth == b->l->h[i].nth)
			b->l->h[i].set |= 1ull << (v->field - p->fields);
	}
}

/* True if header i is closed: what follows it in the frame is padding. */
static bool carries_nothing(const struct build *b, unsigned i)
{
	const struct proto *p = b->l->h[i].proto;

	return p->closed && place_holds(b, i, &p->closed_when, NULL);
}

/* Refuses a probe where the last header carries no payload: its receiver looks for the probe
 * there. */
static int place_probe(const struct build *b, struct err *e)
{
	if (b->spec->probe == 0 || b->l->n < 2 || !carries_nothing(b, b->l->n - 2))
		return 0;
	return err_set(
		e, EINVAL,
		"%s carries no payload, so there is no room for a probe: set probe off, or another frame",
		b->l->h[b->l->n - 2].proto->name);
}

int place_headers(struct build *b, struct err *e)
{
	const struct frame_stack *s = &b->spec->stack;
	struct layout *l = b->l;
	unsigned off = 0;
	int rc = 0;

	l->n = s->n + (b->spec->probe != 0);
	l->nsections = 0;
	if (l->n > FRAME_MAX_HDRS)
		return err_set(
			e, EINVAL,
			"a probe needs room behind the headers, of which there are %u already: leave one out",
			s->n);
	for (unsigned i = 0; i < l->n; i++) {
		const struct proto *p = i < s->n ? s->hdr[i] : &proto_probe;
		l->h[i].proto = p;
		l->h[i].set = 0;
		l->h[i].nth = 1;
		for (unsigned j = 0; j < i; j++)
			l->h[i].nth += l->h[j].proto == p;
		note_set(b, i);
	}
	for (unsigned i = 0; rc == 0 && i < l->n; i++) {
		const struct proto *p = l->h[i].proto;
		b->bind[i] = bind_above(b, i);
		b->bind_field[i] = b->bind[i] != NULL ? proto_bind_field(p, b->bind[i]) : NULL;
		l->h[i].off = off;
		l->h[i].section = (uint16_t)l->nsections;
		l->h[i].nsections = 0;
		off += p->len;
		if (p->sections != NULL)
			rc = place_sections(b, i, &off, e);
		unsigned over = p->pad != 0 ? (off - l->h[i].off) % p->pad : 0;
		off += over != 0 ? p->pad - over : 0;
		l->h[i].hlen = off - l->h[i].off;
	}
	l->tail = off;
	return rc == 0 ? place_probe(b, e) : rc;
}

void place_ends(struct build *b, unsigned len)
{
	struct layout *l = b->l;
	unsigned end = len;

	/* What follows a closed header is padding of the Ethernet frame that it is in. */
	if (l->n != 0 && carries_nothing(b, l->n - 1))
		end = l->tail;
	for (unsigned i = l->n; i-- > 0;) {
		if (l->h[i].proto->starts)
			end = len;
		l->h[i].end = end;
	}
}

const struct field *frame_val_idle(const struct frame_spec *spec, const struct frame_val *v,
				   uint64_t *says)
{
	const struct cond *own = &v->field->when,
			  *section = v->field->section != NULL ? &v->field->section->when : own;
	struct layout l;
	struct build b = {.spec = spec, .l = &l};

	if ((own->field == NULL && section->field == NULL) || place_headers(&b, NULL) != 0)
		return NULL;
	for (unsigned i = 0; i < l.n; i++) {
		if (l.h[i].proto != v->proto || l.h[i].nth != v->nth)
			continue;
		const struct cond *c = !place_holds(&b, i, section, NULL) ? section
				       : !place_holds(&b, i, own, NULL)   ? own
									  : NULL;
		const struct field *f = c != NULL ? proto_field(v->proto, c->field) : NULL;
		if (f != NULL)
			*says = number_now(&b, i, f, NULL);
		return f;
	}
	return NULL;
}
