/* SPDX-License-Identifier: BSD-3-Clause */
#include "part.h"
#include "out.h"

static int frame_part_add(struct app *app, const struct snap *snap, const struct part_arg *arg,
			  json_t *doc, struct err *e)
{
	struct err why = {.text = ""};
	json_t *frame = ctl_frame_json(app->ctl, arg->port, arg->stream, &why);

	(void)snap;
	(void)e;
	json_object_set_new(doc, "frame", frame != NULL ? frame : json_null());
	json_object_set_new(doc, "frame_error",
			    frame != NULL ? json_null() : out_json_text(why.text));
	return 0;
}

const struct snap_part part_frame = {.name = "frame", .takes = PART_STREAM, .add = frame_part_add};
