/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside lib/frame: the first half of building. It says which headers and sections a spec has and
 * where they lie; frame_build.c then writes their bytes. */
#pragma once
#include "frame_layout.h"

struct build {
	const struct frame_spec *spec;
	const struct frame_vals *dflt;
	struct layout *l;
	/* By header: the bind of what the header carries, which is the next header or payload, or
	 * NULL; and the header's own field that this bind fills in, or NULL. */
	const struct bind *bind[FRAME_MAX_HDRS];
	const struct field *bind_field[FRAME_MAX_HDRS];
};

/* Lays out the headers, but leaves h[].end to place_ends(). -EINVAL with text: too many headers or
 * options, or no room for a probe. */
int place_headers(struct build *b, struct err *e);
/* Fills in h[].end for a frame of len bytes. */
void place_ends(struct build *b, unsigned len);
/* The value that the spec sets for a field of header i, or NULL. */
const struct frame_val *place_user(const struct build *b, unsigned i, const struct field *f);
/* The number with which a ROLE_HAS field of header i fills itself. */
uint64_t place_has(const struct build *b, unsigned i, const struct field *f);
