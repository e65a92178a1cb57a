/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside lib/frame: where the headers of a frame lie. The builder makes it from a stack, the dissector from bytes. */
#pragma once
#include "frame.h"

struct layout {
	unsigned n;
	struct {
		const struct proto *proto;
		uint32_t off;  /* first byte */
		uint32_t hlen; /* bytes of this header itself */
		uint32_t end;  /* first byte that no longer belongs to what this header carries */
	} h[FRAME_MAX_HDRS];
};

/* The bytes that a checksum field of header i covers. */
void layout_sum_range(const struct layout *l, unsigned i, const struct field *f, unsigned *from, unsigned *to);
/* Internet checksum, folded and not inverted, over that range as it stands and over the pseudo header: 0xffff when the field
 * in it is right; the field's right value is the complement of the sum with the field 0. */
uint16_t layout_sum(const struct layout *l, const uint8_t *bytes, unsigned i, const struct field *f);
