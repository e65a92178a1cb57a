/* SPDX-License-Identifier: BSD-3-Clause */
/* The verb show recorder. */
#include <errno.h>

#include "recorder_app.h"

static const struct out_col cols[] = {
	{"ports_text", "ports", OF_STR},
	{"state", "state", OF_STR},
	{"kinds_text", "faults of", OF_STR},
	{"latency_ns", "latency above", OF_NS},
	{"frames", "frames", OF_COUNT},
	{"snap", "snap", OF_COUNT},
	{"memory_bytes", "memory bytes", OF_COUNT},
	{"kept", "frames kept", OF_COUNT},
	{"faults", "faults told", OF_COUNT},
	{"told.loss", "loss", OF_COUNT},
	{"told.duplicate", "duplicate", OF_COUNT},
	{"told.reorder", "reorder", OF_COUNT},
	{"told.corrupt", "corrupt", OF_COUNT},
	{"told.latency", "latency", OF_COUNT},
	{"in_files", "in files", OF_COUNT},
	{"waiting", "waiting", OF_COUNT},
	{"unwritten.busy", "unwritten busy", OF_COUNT},
	{"unwritten.rate", "unwritten rate", OF_COUNT},
	{"unwritten.limit", "unwritten limit", OF_COUNT},
	{"unwritten.failed", "unwritten failed", OF_COUNT},
	{"unwritten.full", "unwritten full", OF_COUNT},
	{"spread", "spread", OF_COUNT},
	{"files", "files", OF_COUNT},
	{"failed", "files failed", OF_COUNT},
	{"file", "last file", OF_STR},
};
static const struct out_view text_view = {.rows = "recorders",
					  .cols = cols,
					  .ncols = ARRAY_SIZE(cols),
					  .transpose = true};
static const struct out_view csv_view = {.rows = "recorders",
					 .cols = cols,
					 .ncols = ARRAY_SIZE(cols)};

/* Joins an array of numbers or words by commas. */
static json_t *list_text(const json_t *list)
{
	struct sbuf text = {0};
	const json_t *v;
	size_t i;

	json_array_foreach(list, i, v) {
		sbuf_add(&text, i > 0 ? "," : "");
		if (json_is_string(v))
			sbuf_add(&text, json_string_value(v));
		else
			sbuf_addf(&text, "%lld", (long long)json_integer_value(v));
	}
	json_t *s = json_string(sbuf_str(&text));
	sbuf_free(&text);
	return s;
}

int recorder_show(struct cmd_run *r, const struct show_sel *sel, struct err *e)
{
	json_t *doc = recorder_json(app_of(r)->ctl, &sel->ports), *one;
	size_t i;

	if (json_array_size(json_object_get(doc, "recorders")) == 0) {
		json_decref(doc);
		return err_set(
			e, EINVAL,
			"none of these ports has been recorded; `recorder 0,1 on` keeps their last frames");
	}
	if (r->out_mode == OUT_JSON)
		return show_out(r, doc, NULL);
	json_array_foreach(json_object_get(doc, "recorders"), i, one) {
		json_object_set_new(one, "ports_text", list_text(json_object_get(one, "ports")));
		json_object_set_new(one, "kinds_text", list_text(json_object_get(one, "kinds")));
	}
	return show_out(r, doc, r->out_mode == OUT_TEXT ? &text_view : &csv_view);
}
