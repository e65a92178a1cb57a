/* SPDX-License-Identifier: BSD-3-Clause */
/* The verb show capture. */
#include <errno.h>

#include "capture_app.h"

static const struct out_col cols[] = {
	{"port", "port", OF_COUNT},
	{"name", "name", OF_STR},
	{"file", "file", OF_STR},
	{"files", "files", OF_COUNT},
	{"state", "state", OF_STR},
	{"why", "why", OF_STR},
	{"direction", "direction", OF_STR},
	{"filter", "filter", OF_STR},
	{"snap", "snap", OF_COUNT},
	{"seen", "seen", OF_COUNT},
	{"accepted", "accepted", OF_COUNT},
	{"frames", "frames", OF_COUNT},
	{"bytes", "bytes", OF_COUNT},
	{"dropped", "dropped", OF_COUNT},
	{"no_block", "no block", OF_COUNT},
	{"write_failed", "write failed", OF_COUNT},
	{"beyond_limit", "beyond limit", OF_COUNT},
	{"rotated_out", "rotated out", OF_COUNT},
	{"waiting", "waiting", OF_COUNT},
	{"file_bytes", "file bytes", OF_COUNT},
	{"memory_bytes", "memory bytes", OF_COUNT},
	{"duration_ns", "duration", OF_NS},
};
static const struct out_view text_view = {.rows = "ports",
					  .cols = cols,
					  .ncols = ARRAY_SIZE(cols),
					  .transpose = true};
static const struct out_view csv_view = {.rows = "ports", .cols = cols, .ncols = ARRAY_SIZE(cols)};

void capture_print(struct cmd_run *r, json_t *doc)
{
	verb_out(r, r->out_mode, doc, r->out_mode == OUT_TEXT ? &text_view : &csv_view);
}

int capture_show(struct cmd_run *r, const struct show_sel *sel, struct err *e)
{
	json_t *doc = capture_json(app_of(r)->ctl, &sel->ports);

	if (json_array_size(json_object_get(doc, "ports")) == 0) {
		json_decref(doc);
		return err_set(
			e, EINVAL,
			"none of these ports has been captured; `capture 0 FILE` writes what port 0 sends and receives");
	}
	return show_out(r, doc, r->out_mode == OUT_TEXT ? &text_view : &csv_view);
}
