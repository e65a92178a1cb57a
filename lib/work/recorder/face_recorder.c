/* SPDX-License-Identifier: BSD-3-Clause */
/* The work "recorder" as the program sees it. */
#include "face.h"
#include "recorder_app.h"

static const struct show_row shows[] = {
	{330, "recorder", "recorders of ports: which faults they were told, and their files",
	 recorder_show, TAKES_PORTS},
	{0},
};

static const struct verb_row verbs[] = {{250, &verb_recorder}, {0}};

const struct face face_recorder = {.shows = shows, .verbs = verbs};
