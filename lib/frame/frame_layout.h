/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside lib/frame: questions to a layout (struct layout in frame.h). */
#pragma once
#include "frame.h"

/* Bit offset in the frame of a field of header i; -1: its part is not there or too short for it. Of a FIELD_BYTES field: its first byte.
 * Whether the field's own condition holds is not asked, see layout_has(). */
int layout_field(const struct layout *l, unsigned i, const struct field *f);
/* Its part is there and its condition holds in these bytes. */
bool layout_has(const struct layout *l, const uint8_t *bytes, unsigned i, const struct field *f);
/* Bytes of a FIELD_BYTES field whose part is there. */
unsigned layout_bytes_len(const struct layout *l, unsigned i, const struct field *f);
/* Of a field that layout_field() finds; ROLE_HERE reads as 1 and writes nothing. */
void layout_get(const struct layout *l, const uint8_t *bytes, unsigned i, const struct field *f, uint8_t v[VT_FIELD_BYTES]);
uint64_t layout_get_u64(const struct layout *l, const uint8_t *bytes, unsigned i, const struct field *f);
void layout_put(const struct layout *l, uint8_t *bytes, unsigned i, const struct field *f, const uint8_t v[VT_FIELD_BYTES]);
void layout_put_u64(const struct layout *l, uint8_t *bytes, unsigned i, const struct field *f, uint64_t v);

/* A checksum field of header i that layout_field() finds: what it covers. False: f is no checksum. */
bool layout_sum(const struct layout *l, const uint8_t *bytes, unsigned i, const struct field *f, struct frame_sum *s);
/* All sums that the builder fills in, the inner before the outer; at most max of them are written, the number of all is returned. */
unsigned layout_sums(const struct layout *l, const uint8_t *bytes, struct frame_sum *out, unsigned max);
#define LAYOUT_MAX_SUMS (2 * FRAME_MAX_HDRS)
/* Is what stands there right? */
bool frame_sum_good(const struct frame_sum *s, const uint8_t *bytes);
