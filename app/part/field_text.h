/* SPDX-License-Identifier: BSD-3-Clause */
/* The values of header fields of a stream as texts, in the form that `set` takes. */
#pragma once
#include "ctl.h"

/* Appends a value of a spec, with its variation: "1000..2000", "10.0.0.1". */
void field_val_text(const struct frame_val *v, struct sbuf *out);
bool field_val_varies(const struct frame_val *v);
/* Index of the header in the stack that a value is for, -1: the stack does not have it. */
int field_val_header(const struct frame_stack *s, const struct frame_val *v);
/* Appends what a field of header h holds: the value of the spec if it has one, else what is in f, a
 * frame made from the spec. f is NULL where no frame can be built; then it is the default of the
 * port (dflt) or of the field. Returns false when the frame has no such field, or when its value is
 * not known. */
bool field_text(const struct frame_spec *spec, const struct frame *f, const struct frame_vals *dflt,
		unsigned h, const struct field *field, struct sbuf *out);
/* The value that the spec has for a field of header h, NULL: it has none. */
const struct frame_val *field_val(const struct frame_spec *spec, unsigned h,
				  const struct field *field);
