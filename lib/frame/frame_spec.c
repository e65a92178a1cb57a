/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies of a frame's spec. */
#include "frame.h"

#include <stdlib.h>

void frame_spec_copy(struct frame_spec *dst, const struct frame_spec *src)
{
	if (dst == src)
		return;
	*dst = *src;
	dst->vals = (struct frame_vals){0};
	frame_vals_copy(&dst->vals, &src->vals);
	dst->data = hexbytes_copy(src->data);
}

void frame_spec_free(struct frame_spec *spec)
{
	frame_vals_free(&spec->vals);
	free(spec->data);
	spec->data = NULL;
}
