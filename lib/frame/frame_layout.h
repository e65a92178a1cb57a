/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside lib/frame: reads and writes fields of a frame by its layout (struct layout in frame.h),
 * and says what checksums cover. */
#pragma once
#include "frame.h"

/* Bit offset in the frame of a field of header i; for a FIELD_BYTES field, of its first byte. -1:
 * the section of the field is not there or is too short for it. The condition of the field is not
 * looked at; layout_has() does that. */
int layout_field(const struct layout *l, unsigned i, const struct field *f);
/* True if the section of the field is there and its condition holds in these bytes. */
bool layout_has(const struct layout *l, const uint8_t *bytes, unsigned i, const struct field *f);
/* Length of a FIELD_BYTES field; 0 if its section is not there. */
unsigned layout_bytes_len(const struct layout *l, unsigned i, const struct field *f);
/* Read or write a field that layout_field() finds. A ROLE_HERE field reads as 1 and writes
 * nothing. */
void layout_get(const struct layout *l, const uint8_t *bytes, unsigned i, const struct field *f,
		uint8_t v[VT_FIELD_BYTES]);
uint64_t layout_get_u64(const struct layout *l, const uint8_t *bytes, unsigned i,
			const struct field *f);
void layout_put(const struct layout *l, uint8_t *bytes, unsigned i, const struct field *f,
		const uint8_t v[VT_FIELD_BYTES]);
void layout_put_u64(const struct layout *l, uint8_t *bytes, unsigned i, const struct field *f,
		    uint64_t v);

/* Says what the checksum field f of header i covers; layout_field() must find it. False: f is no
 * checksum. */
bool layout_sum(const struct layout *l, const uint8_t *bytes, unsigned i, const struct field *f,
		struct frame_sum *s);
/* All checksums that the builder fills in, the inner before the outer. At most max of them are
 * written to out; the return value is the number of all. */
unsigned layout_sums(const struct layout *l, const uint8_t *bytes, struct frame_sum *out,
		     unsigned max);
#define LAYOUT_MAX_SUMS (2 * FRAME_MAX_HDRS)
/* True if the bytes hold the right checksum. */
bool frame_sum_good(const struct frame_sum *s, const uint8_t *bytes);
