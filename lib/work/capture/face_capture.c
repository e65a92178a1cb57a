/* SPDX-License-Identifier: BSD-3-Clause */
/* The work "capture" as the program sees it. */
#include "capture_app.h"
#include "face.h"

static const struct set_chunk rows[] = {{620, capture_rows}, {0}};

static const struct show_row shows[] = {
	{320, "capture", "captures of ports: their files, and what became of the frames",
	 capture_show, TAKES_PORTS},
	{0},
};

static const struct verb_row verbs[] = {{240, &verb_capture}, {0}};

static const struct part_row parts[] = {{710, &part_captures}, {0}};

const struct face face_capture = {.rows = rows, .shows = shows, .verbs = verbs, .parts = parts};
