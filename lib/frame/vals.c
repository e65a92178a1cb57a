/* SPDX-License-Identifier: BSD-3-Clause */
#include "frame.h"

#include <stdlib.h>
#include <string.h>

static struct frame_val *find(const struct frame_vals *a, const struct proto *p, unsigned nth, const struct field *f)
{
	for (unsigned i = 0; i < a->n; i++) {
		struct frame_val *v = &a->val[i];
		if (v->proto == p && v->field == f && v->nth == nth)
			return v;
	}
	return NULL;
}

const struct frame_val *frame_vals_find(const struct frame_vals *a, const struct proto *p, unsigned nth,
					const struct field *f)
{
	return find(a, p, nth, f);
}

void frame_vals_set(struct frame_vals *a, const struct proto *p, unsigned nth, const struct field *f, const uint8_t *v)
{
	struct frame_val *val = find(a, p, nth, f);

	if (val == NULL) {
		if (a->n == a->cap) {
			a->cap = a->cap != 0 ? a->cap * 2 : 8;
			a->val = xrealloc(a->val, a->cap * sizeof(*a->val));
		}
		val = &a->val[a->n++];
		*val = (struct frame_val){.proto = p, .field = f, .nth = (uint8_t)nth};
	}
	memcpy(val->v, v, VT_FIELD_BYTES);
}

bool frame_vals_unset(struct frame_vals *a, const struct proto *p, unsigned nth, const struct field *f)
{
	struct frame_val *val = find(a, p, nth, f);

	if (val == NULL)
		return false;
	a->n--;
	memmove(val, val + 1, (size_t)(&a->val[a->n] - val) * sizeof(*val));
	return true;
}

void frame_vals_copy(struct frame_vals *dst, const struct frame_vals *src)
{
	if (dst == src)
		return;
	if (dst->cap < src->n) {
		dst->val = xrealloc(dst->val, src->n * sizeof(*dst->val));
		dst->cap = src->n;
	}
	if (src->n != 0)
		memcpy(dst->val, src->val, src->n * sizeof(*dst->val));
	dst->n = src->n;
}

void frame_vals_free(struct frame_vals *a)
{
	free(a->val);
	*a = (struct frame_vals){0};
}
