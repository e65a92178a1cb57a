/* SPDX-License-Identifier: BSD-3-Clause */
/* The array of values that a spec sets. */
#include "frame.h"

#include <stdlib.h>
#include <string.h>

static struct frame_val *vals_find(const struct frame_vals *a, const struct proto *p, unsigned nth,
				   const struct field *f)
{
	for (unsigned i = 0; i < a->n; i++) {
		struct frame_val *v = &a->val[i];
		if (v->proto == p && v->field == f && v->nth == nth)
			return v;
	}
	return NULL;
}

const struct frame_val *frame_vals_find(const struct frame_vals *a, const struct proto *p,
					unsigned nth, const struct field *f)
{
	return vals_find(a, p, nth, f);
}

/* The entry of a field, new or emptied. A value that it had is freed. */
static struct frame_val *vals_emptied(struct frame_vals *a, const struct proto *p, unsigned nth,
				      const struct field *f)
{
	struct frame_val *val = vals_find(a, p, nth, f);

	if (val != NULL) {
		free(val->vary);
		free(val->bytes);
	} else {
		if (a->n == a->cap) {
			a->cap = a->cap != 0 ? a->cap * 2 : 8;
			a->val = xrealloc(a->val, a->cap * sizeof(*a->val));
		}
		val = &a->val[a->n++];
	}
	*val = (struct frame_val){.proto = p, .field = f, .nth = (uint8_t)nth};
	return val;
}

void frame_vals_set(struct frame_vals *a, const struct proto *p, unsigned nth,
		    const struct field *f, const uint8_t *v)
{
	uint8_t copy[VT_FIELD_BYTES]; /* v may lie in the array, which moves when it grows */

	memcpy(copy, v, sizeof(copy));
	memcpy(vals_emptied(a, p, nth, f)->v, copy, sizeof(copy));
}

void frame_vals_vary(struct frame_vals *a, const struct proto *p, unsigned nth,
		     const struct field *f, const struct vary *v)
{
	struct vary *copy = v->kind != VARY_FIXED ? vary_copy(v) : NULL;
	vary_u first = vary_at(v, 0);
	struct frame_val *val = vals_emptied(a, p, nth, f);

	val->vary = copy;
	vary_store(first, val->v);
}

void frame_vals_beside(struct frame_vals *a, const struct proto *p, unsigned nth,
		       const struct field *f, const struct vary *v, struct frame_lead lead)
{
	const struct frame_val *was = vals_find(a, p, nth, f);
	bool found = was != NULL && was->found;

	frame_vals_vary(a, p, nth, f, v);
	struct frame_val *val = vals_find(a, p, nth, f);
	val->found = found;
	val->lead = lead;
}

void frame_vals_found(struct frame_vals *a, const struct proto *p, unsigned nth,
		      const struct field *f, const uint8_t *v)
{
	struct frame_val *val = vals_find(a, p, nth, f);
	uint8_t was[sizeof(val->v)] = {0};

	/* until something is found, frames have what they had */
	if (val != NULL)
		memcpy(was, val->v, sizeof(was));
	if (val == NULL || !val->found || v != NULL) {
		val = vals_emptied(a, p, nth, f);
		memcpy(val->v, was, sizeof(was));
	}
	val->found = true;
	if (v != NULL)
		memcpy(val->v, v, sizeof(val->v));
}

void frame_vals_bytes(struct frame_vals *a, const struct proto *p, unsigned nth,
		      const struct field *f, const struct hexbytes *b)
{
	struct hexbytes *copy = hexbytes_copy(b);

	vals_emptied(a, p, nth, f)->bytes = copy;
}

bool frame_vals_unset(struct frame_vals *a, const struct proto *p, unsigned nth,
		      const struct field *f)
{
	struct frame_val *val = vals_find(a, p, nth, f);

	if (val == NULL)
		return false;
	free(val->vary);
	free(val->bytes);
	a->n--;
	memmove(val, val + 1, (size_t)(&a->val[a->n] - val) * sizeof(*val));
	return true;
}

void frame_vals_copy(struct frame_vals *dst, const struct frame_vals *src)
{
	if (dst == src)
		return;
	for (unsigned i = 0; i < dst->n; i++) {
		free(dst->val[i].vary);
		free(dst->val[i].bytes);
	}
	if (dst->cap < src->n) {
		dst->val = xrealloc(dst->val, src->n * sizeof(*dst->val));
		dst->cap = src->n;
	}
	dst->n = src->n;
	for (unsigned i = 0; i < src->n; i++) {
		dst->val[i] = src->val[i];
		if (src->val[i].vary != NULL)
			dst->val[i].vary = vary_copy(src->val[i].vary);
		dst->val[i].bytes = hexbytes_copy(src->val[i].bytes);
	}
}

void frame_vals_free(struct frame_vals *a)
{
	for (unsigned i = 0; i < a->n; i++) {
		free(a->val[i].vary);
		free(a->val[i].bytes);
	}
	free(a->val);
	*a = (struct frame_vals){0};
}
