/* SPDX-License-Identifier: BSD-3-Clause */
/* The part "wires" of a snapshot: what devices under test did, as in `show wire`, but without the
 * text of the settings. */
#include "wire_app.h"
#include "wire_face.h"

static int part_add(struct app *app, const struct snap *snap, const struct part_arg *arg,
		    json_t *doc, struct err *e)
{
	struct portset ports;

	(void)snap;
	(void)arg;
	(void)e;
	app_all_ports(app, &ports);
	json_t *wires = wire_json(app->ctl, &ports);
	json_object_set(doc, "wires", json_object_get(wires, "ports"));
	json_decref(wires);
	return 0;
}

const struct snap_part part_wires = {.name = "wires", .takes = PART_ALONE, .add = part_add};
