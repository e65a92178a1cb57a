/* SPDX-License-Identifier: BSD-3-Clause */
#include "part.h"

static int log_add(struct app *app, const struct snap *snap, const struct part_arg *arg,
		   json_t *doc, struct err *e)
{
	(void)app;
	(void)snap;
	(void)e;
	json_object_set_new(doc, "log", app_log_json(arg->n));
	return 0;
}

const struct snap_part part_log = {.name = "log", .takes = PART_LAST, .add = log_add};
