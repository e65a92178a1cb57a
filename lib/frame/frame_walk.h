/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside lib/frame: walks through the headers of received or built bytes, by the bindings of the
 * protocol table. JSON (frame_dissect.c) and text (frame_print.c) are made from the result. */
#pragma once
#include "frame_layout.h"

enum verdict {
	HDR_GOOD,
	HDR_VERSION, /* a version that the table does not know */
	HDR_LENGTH,  /* a length that is shorter than the header itself */
	HDR_CUT,     /* a length that goes beyond the frame */
};

struct walk {
	struct layout l;
	enum verdict verdict[FRAME_MAX_HDRS];
	bool unsure[FRAME_MAX_HDRS]; /* a checksum may cover bytes that are missing */
	/* Payload: payload .. padding - 1; padding: padding .. len - 1. */
	unsigned payload, padding, len;
};

void frame_walk(const uint8_t *bytes, unsigned len, struct walk *w);
const char *verdict_text(enum verdict v); /* NULL when good */

/* What frame_sum_state() says of field f of header i: it is no checksum, it cannot be judged, it is
 * right, it is wrong. */
enum sum_state { SUM_NO_FIELD, SUM_UNKNOWN, SUM_GOOD, SUM_BAD };
enum sum_state frame_sum_state(const struct walk *w, const uint8_t *bytes, unsigned i,
			       const struct field *f);
