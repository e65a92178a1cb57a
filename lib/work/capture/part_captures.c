/* SPDX-License-Identifier: BSD-3-Clause */
/* The part "captures" of a snapshot: what `show capture` says. */
#include "capture_app.h"
#include "part/part.h"

static int part_add(struct app *app, const struct snap *snap, const struct part_arg *arg,
		    json_t *doc, struct err *e)
{
	(void)snap;
	(void)arg;
	(void)e;
	part_add_shown(app, doc, "captures", capture_json, "ports");
	return 0;
}

const struct snap_part part_captures = {.name = "captures", .takes = PART_ALONE, .add = part_add};
