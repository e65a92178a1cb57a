/* SPDX-License-Identifier: BSD-3-Clause */
#include "part.h"

static int config_add(struct app *app, const struct snap *snap, const struct part_arg *arg,
		      json_t *doc, struct err *e)
{
	json_t *ports = ctl_ports_json(app->ctl), *map = app_map_json(app);

	(void)snap;
	(void)arg;
	(void)e;
	json_object_set(doc, "config", json_object_get(ports, "ports"));
	json_object_set_new(doc, "map", map);
	json_decref(ports);
	return 0;
}

const struct snap_part part_config = {.name = "config", .add = config_add};
