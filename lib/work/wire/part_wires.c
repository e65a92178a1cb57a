/* SPDX-License-Identifier: BSD-3-Clause */
/* The part "wires" of a snapshot: what devices under test did, as in `show wire`, but without the
 * text of the settings. */
#include "wire_app.h"
#include "wire_face.h"

static int part_add(struct app *app, const struct snap *snap, const struct part_arg *arg,
		    json_t *doc, struct err *e)
{
	(void)snap;
	(void)arg;
	(void)e;
	part_add_shown(app, doc, "wires", wire_json, "ports");
	return 0;
}

const struct snap_part part_wires = {.name = "wires", .takes = PART_ALONE, .add = part_add};
