/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside lib/frame: a walk through the headers of a frame by the bindings, which JSON and text are made from. */
#pragma once
#include "frame_layout.h"

enum verdict {
	HDR_GOOD,
	HDR_VERSION, /* another version than the table knows */
	HDR_LENGTH,  /* a length below what the header itself has */
	HDR_CUT,     /* a length beyond the frame */
};

struct walk {
	struct layout l;
	enum verdict verdict[FRAME_MAX_HDRS];
	bool unsure[FRAME_MAX_HDRS];    /* not all bytes that a checksum covers are here: a fragment or cut off */
	unsigned payload, padding, len; /* payload from..padding, padding from..len */
};

void frame_walk(const uint8_t *bytes, unsigned len, struct walk *w);
const char *verdict_text(enum verdict v); /* NULL when good */

enum sum_state { SUM_NO_FIELD, SUM_UNKNOWN, SUM_GOOD, SUM_BAD };
enum sum_state frame_sum_state(const struct walk *w, const uint8_t *bytes, unsigned i, const struct field *f);
