/* SPDX-License-Identifier: BSD-3-Clause */
/* Fields of a frame, by its layout. */
#include "frame_layout.h"

#include <string.h>

/* First byte of the header or section in which the field's offset counts; -1: its section is not
 * there or too short for it. */
static int base_of(const struct layout *l, unsigned i, const struct field *f)
{
	if (f->section == NULL)
		return (int)l->h[i].off;
	for (unsigned k = l->h[i].section; k < l->h[i].section + l->h[i].nsections; k++)
		if (l->section[k].section == f->section)
			return f->bit + f->bits <= l->section[k].len * 8 ? (int)l->section[k].off
									 : -1;
	return -1;
}

int layout_field(const struct layout *l, unsigned i, const struct field *f)
{
	int base = base_of(l, i, f);

	if (base < 0)
		return -1;
	return f->kind == FIELD_BYTES ? (base + f->section->len) * 8 : base * 8 + f->bit;
}

bool layout_has(const struct layout *l, const uint8_t *bytes, unsigned i, const struct field *f)
{
	if (f->section != NULL && layout_field(l, i, f) < 0)
		return false;
	if (f->when.field == NULL)
		return true;
	return cond_has(&f->when,
			layout_get_u64(l, bytes, i, proto_field(l->h[i].proto, f->when.field)));
}

unsigned layout_bytes_len(const struct layout *l, unsigned i, const struct field *f)
{
	for (unsigned k = l->h[i].section; k < l->h[i].section + l->h[i].nsections; k++)
		if (l->section[k].section == f->section)
			return l->section[k].len - f->section->len;
	return 0;
}

void layout_get(const struct layout *l, const uint8_t *bytes, unsigned i, const struct field *f,
		uint8_t v[VT_FIELD_BYTES])
{
	int base = base_of(l, i, f);

	memset(v, 0, VT_FIELD_BYTES);
	if (f->role == ROLE_HERE)
		v[VT_FIELD_BYTES - 1] = base >= 0;
	else if (base >= 0)
		proto_get(f, bytes + base, v);
}

uint64_t layout_get_u64(const struct layout *l, const uint8_t *bytes, unsigned i,
			const struct field *f)
{
	uint8_t v[VT_FIELD_BYTES];
	uint64_t x = 0;

	layout_get(l, bytes, i, f, v);
	for (unsigned k = VT_FIELD_BYTES - 8; k < VT_FIELD_BYTES; k++)
		x = x << 8 | v[k];
	return x;
}

void layout_put(const struct layout *l, uint8_t *bytes, unsigned i, const struct field *f,
		const uint8_t v[VT_FIELD_BYTES])
{
	int base = base_of(l, i, f);

	if (base >= 0)
		proto_put(f, bytes + base, v);
}

void layout_put_u64(const struct layout *l, uint8_t *bytes, unsigned i, const struct field *f,
		    uint64_t v)
{
	int base = base_of(l, i, f);

	if (base >= 0)
		proto_put_u64(f, bytes + base, v);
}

bool frame_field_get(const struct frame *f, unsigned i, const struct field *field,
		     uint8_t v[VT_FIELD_BYTES])
{
	if (i >= f->l.n || field->kind == FIELD_BYTES || !layout_has(&f->l, f->bytes, i, field))
		return false;
	layout_get(&f->l, f->bytes, i, field, v);
	return true;
}

int frame_field_at(const struct frame *f, unsigned i, const struct field *field)
{
	if (i >= f->l.n || field->kind == FIELD_BYTES || !layout_has(&f->l, f->bytes, i, field))
		return -1;
	return layout_field(&f->l, i, field);
}

const uint8_t *frame_field_bytes(const struct frame *f, unsigned i, const struct field *field,
				 unsigned *n)
{
	if (i >= f->l.n || field->kind != FIELD_BYTES || !layout_has(&f->l, f->bytes, i, field))
		return NULL;
	*n = layout_bytes_len(&f->l, i, field);
	return f->bytes + layout_field(&f->l, i, field) / 8;
}
