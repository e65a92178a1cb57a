/* SPDX-License-Identifier: BSD-3-Clause */
/* The verb show wire: what devices under test did to frames. */
#include "wire_app.h"
#include "wire_face.h"

#include <errno.h>
#include <string.h>

static const struct out_col cols[] = {
	{"port", "port", OF_COUNT},
	{"name", "name", OF_STR},
	{"to", "to port", OF_COUNT},
	{"device", "device", OF_STR},
	{"link", "link", OF_STR},
	{"before", "before", OF_COUNT},
	{"in", "in", OF_COUNT},
	{"duplicated", "duplicated", OF_COUNT},
	{"out", "out", OF_COUNT},
	{"lost", "lost", OF_COUNT},
	{"queue_drops", "queue full", OF_COUNT},
	{"too_long", "too long", OF_COUNT},
	{"failed", "failed", OF_COUNT},
	{"overflow", "overflow", OF_COUNT},
	{"flushed", "flushed", OF_COUNT},
	{"waiting", "waiting", OF_COUNT},
	{"reordered", "reordered", OF_COUNT},
	{"corrupted", "corrupted", OF_COUNT},
	{"most_waiting", "most waiting", OF_COUNT},
	{"room_bytes", "room bytes", OF_COUNT},
	{"pool_bytes", "buffer bytes", OF_COUNT},
	{"settings", "settings", OF_STR},
};
static const struct out_view text_view = {.rows = "ports",
					  .cols = cols,
					  .ncols = ARRAY_SIZE(cols) - 1,
					  .transpose = true};
static const struct out_view csv_view = {.rows = "ports", .cols = cols, .ncols = ARRAY_SIZE(cols)};

/* The settings of a wire as they would be typed: "wire.loss 0.1%; wire.delay 1ms". */
static void settings_text(struct cmd_run *r, unsigned port, struct sbuf *out)
{
	for (const struct setting *row = wire_rows; row->name != NULL; row++) {
		struct sbuf value = {0};
		if (cmd_setting_text(r->cmd, row, port, 0, &value))
			sbuf_addf(out, "%s%s %s", out->len > 0 ? "; " : "", row->name,
				  sbuf_str(&value));
		sbuf_free(&value);
	}
}

int wire_show(struct cmd_run *r, const struct show_sel *sel, struct err *e)
{
	json_t *doc = wire_json(app_of(r)->ctl, &sel->ports), *port;
	size_t i;

	if (json_array_size(json_object_get(doc, "ports")) == 0) {
		json_decref(doc);
		return err_set(
			e, EINVAL,
			"none of these ports is a wire; `-p wire` makes two ports connected to each other");
	}
	json_array_foreach(json_object_get(doc, "ports"), i, port) {
		struct sbuf text = {0};
		settings_text(r, (unsigned)json_integer_value(json_object_get(port, "port")),
			      &text);
		json_object_set_new(port, "settings", json_string(sbuf_str(&text)));
		sbuf_free(&text);
	}
	if (r->out_mode != OUT_TEXT)
		return show_out(r, doc, &csv_view);
	verb_out(r, OUT_TEXT, doc, &text_view);
	json_array_foreach(json_object_get(doc, "ports"), i, port) {
		const char *text = json_string_value(json_object_get(port, "settings")),
			   *why = json_string_value(json_object_get(port, "why"));
		int p = (int)json_integer_value(json_object_get(port, "port"));
		bool down = strcmp(json_string_value(json_object_get(port, "link")), "down") == 0;
		sbuf_addf(r->out, "port %d: %s\n", p,
			  text[0] != '\0' ? text
			  : down          ? "the link is down by the other end's settings"
					  : "the wire does nothing to frames");
		if (why != NULL)
			sbuf_addf(r->out, "port %d: no device: %s\n", p, why);
	}
	json_decref(doc);
	return 0;
}
