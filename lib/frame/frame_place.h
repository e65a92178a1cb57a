/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside lib/frame: the first half of building, which headers and parts a spec has and where they lie. */
#pragma once
#include "frame_layout.h"

struct build {
	const struct frame_spec *spec;
	const struct frame_vals *dflt;
	struct layout *l;
	const struct bind *bind[FRAME_MAX_HDRS];        /* of what is above each header, or NULL */
	const struct field *bind_field[FRAME_MAX_HDRS]; /* the field of the header that it fills in, or NULL */
};

/* Lay out the headers; h[].end is left to place_ends(). */
int place_headers(struct build *b, struct err *e);
/* Of a frame of len bytes. */
void place_ends(struct build *b, unsigned len);
/* The spec's own value of a field of header i, or NULL. */
const struct frame_val *place_user(const struct build *b, unsigned i, const struct field *f);
/* What a ROLE_HAS field fills itself with. */
uint64_t place_has(const struct build *b, unsigned i, const struct field *f);
