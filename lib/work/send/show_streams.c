/* SPDX-License-Identifier: BSD-3-Clause */
/* `show streams`: a table with one line for each stream, made of the document that control
 * gives. */
#include "send_app.h"

#include <string.h>

static const struct out_col cols[] = {
	{"port", "port", OF_COUNT},
	{"stream", "stream", OF_COUNT},
	{"enabled", "on", OF_STR},
	{"frame", "frame", OF_STR, 30},
	{"size", "size", OF_STR, 12},
	{"weight", "weight", OF_COUNT},
	{"rate", "rate", OF_STR, 14},
	{"count", "count", OF_COUNT, 7},
	{"varies", "varies", OF_STR, 18},
	{"share", "share", OF_PERCENT},
	{"tx.packets", "tx packets", OF_COUNT},
	{"pps", "pps", OF_PPS},
	{"probe", "probe", OF_STR, 8},
};
static const struct out_col cols_csv[] = {
	{"port", "port", OF_COUNT},
	{"stream", "stream", OF_COUNT},
	{"enabled", "on", OF_STR},
	{"frame", "frame", OF_STR},
	{"size", "size", OF_STR},
	{"weight", "weight", OF_COUNT},
	{"rate", "rate", OF_STR},
	{"count", "count", OF_COUNT},
	{"varies", "varies", OF_STR},
	{"share", "share", OF_PERCENT},
	{"tx.packets", "tx packets", OF_COUNT},
	{"tx.bytes", "tx bytes", OF_COUNT},
	{"pps", "pps", OF_PPS},
	{"engine", "engine", OF_STR},
	{"probe", "probe", OF_STR},
};
/* The column of probes is the last one, and is left out if no stream has probes. */
static const struct out_view view = {.rows = "streams",
				     .cols = cols,
				     .ncols = ARRAY_SIZE(cols) - 1};
static const struct out_view view_probe = {.rows = "streams",
					   .cols = cols,
					   .ncols = ARRAY_SIZE(cols)};
static const struct out_view view_csv = {.rows = "streams",
					 .cols = cols_csv,
					 .ncols = ARRAY_SIZE(cols_csv)};

int send_show_streams(struct cmd_run *r, const struct show_sel *sel, struct err *e)
{
	json_t *doc = ctl_streams_json(app_of(r)->ctl, &sel->ports), *kept = json_array(), *s;
	struct sbuf carried = {0};
	bool probes = false;
	size_t i;
	int rc;

	(void)e;
	json_array_foreach(json_object_get(doc, "streams"), i, s) {
		json_int_t port = json_integer_value(json_object_get(s, "port")),
			   id = json_integer_value(json_object_get(s, "stream"));
		if (sel->given && !show_names(sel->target, (uint64_t)port, (uint64_t)id))
			continue;
		json_array_append(kept, s);
		probes |= strcmp(json_string_value(json_object_get(s, "probe")), "off") != 0;
		const char *carrier = json_string_value(json_object_get(s, "carrier"));
		if (carrier != NULL)
			sbuf_addf(&carried, "%d/%d: its frames are counted by `show %s`\n",
				  (int)port, (int)id, carrier);
	}
	json_object_set_new(doc, "streams", kept);
	rc = show_out(r, doc, r->out_mode != OUT_TEXT ? &view_csv : probes ? &view_probe : &view);
	if (r->out_mode == OUT_TEXT)
		sbuf_add(r->out, sbuf_str(&carried));
	sbuf_free(&carried);
	return rc;
}
