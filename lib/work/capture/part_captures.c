/* SPDX-License-Identifier: BSD-3-Clause */
/* The part "captures" of a snapshot: what `show capture` says. */
#include "capture_app.h"
#include "part/part.h"

static int part_add(struct app *app, const struct snap *snap, const struct part_arg *arg,
		    json_t *doc, struct err *e)
{
	struct portset ports;

	(void)snap;
	(void)arg;
	(void)e;
	app_all_ports(app, &ports);
	json_t *all = capture_json(app->ctl, &ports);
	json_object_set(doc, "captures", json_object_get(all, "ports"));
	json_decref(all);
	return 0;
}

const struct snap_part part_captures = {.name = "captures", .takes = PART_ALONE, .add = part_add};
