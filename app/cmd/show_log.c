/* SPDX-License-Identifier: BSD-3-Clause */
/* show log: prints the last messages. */
#include "show.h"

static const struct out_col cols[] = {{"time", "time", OF_STR},
				      {"level", "level", OF_STR},
				      {"text", "message", OF_STR}};
static const struct out_view view = {.rows = "messages", .cols = cols, .ncols = ARRAY_SIZE(cols)};

int show_log(struct cmd_run *r, const struct show_sel *sel, struct err *e)
{
	json_t *doc = show_doc("log");

	(void)sel;
	(void)e;
	json_object_set_new(doc, "messages", app_log_json(0));
	return show_out(r, doc, &view);
}
