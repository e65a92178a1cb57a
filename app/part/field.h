/* SPDX-License-Identifier: BSD-3-Clause */
/* Texts of what a stream's frames hold, as `set` takes them. */
#pragma once
#include "ctl.h"

/* A value that the spec has: "1000..2000", "10.0.0.1". */
void field_val_text(const struct frame_val *v, struct sbuf *out);
bool field_val_varies(const struct frame_val *v);
/* Index of the header of the stack that a value is for, -1: the frame has none. */
int field_val_header(const struct frame_stack *s, const struct frame_val *v);
/* What a field of header h holds: the spec's value, or what stands in f, a frame of the spec. Where no frame can be built (f NULL): the port's
 * default or the field's own. False: the frame has no such field, or nobody knows what would be in it. */
bool field_text(const struct frame_spec *spec, const struct frame *f, const struct frame_vals *dflt, unsigned h, const struct field *field,
		struct sbuf *out);
/* The spec's value for a field of header h, NULL: none. */
const struct frame_val *field_val(const struct frame_spec *spec, unsigned h, const struct field *field);
