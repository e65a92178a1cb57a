/* SPDX-License-Identifier: BSD-3-Clause */
#include "field_text.h"

#include "vary.h"

static void hex_text(const uint8_t *b, unsigned n, struct sbuf *out)
{
	for (unsigned i = 0; i < n; i++)
		sbuf_addf(out, "%02x", b[i]);
}

static void one_text(const struct field *field, const uint8_t v[VT_FIELD_BYTES], struct sbuf *out)
{
	struct vspec one;

	proto_vspec(field, &one);
	one.type->print(&one, v, out);
}

void field_val_text(const struct frame_val *v, struct sbuf *out)
{
	static struct vary_val val; /* large; control thread only */
	struct vspec one;

	if (v->field->kind == FIELD_BYTES) {
		hex_text(v->bytes != NULL ? v->bytes->b : NULL, v->bytes != NULL ? v->bytes->n : 0,
			 out);
	} else if (v->vary != NULL) {
		proto_vspec(v->field, &one);
		val.v = *v->vary;
		vt_vary.print(&(struct vspec){.type = &vt_vary, .of = &one}, &val, out);
	} else {
		one_text(v->field, v->v, out);
	}
}

bool field_val_varies(const struct frame_val *v)
{
	return v->vary != NULL && v->vary->kind != VARY_FIXED;
}

int field_val_header(const struct frame_stack *s, const struct frame_val *v)
{
	unsigned nth = 0;

	for (unsigned h = 0; h < s->n; h++)
		if (s->hdr[h] == v->proto && ++nth == v->nth)
			return (int)h;
	return -1;
}

const struct frame_val *field_val(const struct frame_spec *spec, unsigned h,
				  const struct field *field)
{
	unsigned nth = 0;

	for (unsigned i = 0; i <= h; i++)
		nth += spec->stack.hdr[i] == spec->stack.hdr[h];
	return frame_vals_find(&spec->vals, spec->stack.hdr[h], nth, field);
}

static bool default_text(const struct proto *p, const struct field *field,
			 const struct frame_vals *dflt, struct sbuf *out)
{
	const struct frame_val *own = frame_vals_find(dflt, p, 1, field);
	uint8_t v[VT_FIELD_BYTES];

	if (own == NULL && (field->dflt == NULL || field->kind == FIELD_BYTES))
		return false;
	if (own == NULL)
		proto_default(p, field, v);
	one_text(field, own != NULL ? own->v : v, out);
	return true;
}

bool field_text(const struct frame_spec *spec, const struct frame *f, const struct frame_vals *dflt,
		unsigned h, const struct field *field, struct sbuf *out)
{
	const struct frame_val *val = field_val(spec, h, field);
	uint8_t v[VT_FIELD_BYTES];
	unsigned n = 0;

	if (val != NULL) {
		field_val_text(val, out);
		return true;
	}
	if (f == NULL)
		return default_text(spec->stack.hdr[h], field, dflt, out);
	const uint8_t *bytes = frame_field_bytes(f, h, field, &n);
	if (bytes != NULL)
		hex_text(bytes, n, out);
	else if (frame_field_get(f, h, field, v))
		one_text(field, v, out);
	else
		return false;
	return true;
}
