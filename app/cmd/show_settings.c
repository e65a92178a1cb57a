/* SPDX-License-Identifier: BSD-3-Clause */
/* show settings, frame: the settings in force, and the frames that are made from them. */
#include "show.h"
#include "set/set.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void add_rows(struct cmd_run *r, json_t *list, enum cmd_scope scope, unsigned port,
		     unsigned stream)
{
	struct set_obj obj;
	unsigned n;

	if (!cmd_object(r->cmd, scope, port, stream, &obj))
		return;
	if (scope == SCOPE_STREAM)
		set_rows_for(&((const struct stream_cfg *)obj.cfg)->frame.stack);
	const struct setting *const *rows = set_rows(&n);
	set_hold(true);
	for (unsigned i = 0; i < n; i++) {
		struct sbuf text = {0}, target = {0};

		if (rows[i]->scope != scope || !set_applies(rows[i], &obj))
			continue;
		bool set = cmd_setting_text(r->cmd, rows[i], port, stream, &text);
		json_t *o = json_object();
		if (scope == SCOPE_GLOBAL)
			sbuf_add(&target, "-");
		else
			sbuf_addf(&target, scope == SCOPE_STREAM ? "%u/%u" : "%u", port, stream);
		json_object_set_new(o, "target", json_string(sbuf_str(&target)));
		if (scope != SCOPE_GLOBAL)
			json_object_set_new(o, "port", json_integer(port));
		if (scope == SCOPE_STREAM)
			json_object_set_new(o, "stream", json_integer(stream));
		json_object_set_new(o, "name", json_string(rows[i]->name));
		json_object_set_new(o, "value", out_json_text(sbuf_str(&text)));
		json_object_set_new(o, "default", json_boolean(!set));
		if (rows[i]->unit != NULL)
			json_object_set_new(o, "unit", json_string(rows[i]->unit));
		json_array_append_new(list, o);
		sbuf_free(&text);
		sbuf_free(&target);
	}
	set_hold(false);
}

struct settings_walk {
	json_t *list;
	struct portset ports_done;
};

static int add_stream(struct cmd_run *r, unsigned port, unsigned stream, void *arg, struct err *e)
{
	struct settings_walk *w = arg;

	(void)e;
	if (!portset_has(&w->ports_done, port)) {
		portset_add(&w->ports_done, port);
		add_rows(r, w->list, SCOPE_PORT, port, 0);
	}
	add_rows(r, w->list, SCOPE_STREAM, port, stream);
	return 0;
}

static const struct out_col setting_cols[] = {
	{"target", "target", OF_STR}, {"name", "setting", OF_STR},    {"value", "value", OF_STR},
	{"unit", "unit", OF_STR},     {"default", "default", OF_STR},
};
static const struct out_view setting_view = {.rows = "settings",
					     .cols = setting_cols,
					     .ncols = ARRAY_SIZE(setting_cols)};

int show_settings(struct cmd_run *r, const struct show_sel *sel, struct err *e)
{
	struct settings_walk w = {.list = json_array()};
	json_t *doc = show_doc("settings");

	if (!sel->given)
		add_rows(r, w.list, SCOPE_GLOBAL, 0, 0);
	int rc = show_streams(r, sel, true, add_stream, &w, e);

	json_object_set_new(doc, "settings", w.list);
	if (rc < 0) {
		json_decref(doc);
		return rc;
	}
	return show_out(r, doc, &setting_view);
}

static int add_frame(struct cmd_run *r, unsigned port, unsigned stream, void *arg, struct err *e)
{
	json_t *o = ctl_frame_json(app_of(r)->ctl, port, stream, e);
	if (o == NULL)
		return -EINVAL;
	json_array_append_new(arg, o);
	if (r->out_mode != OUT_TEXT)
		return 0;
	struct frame *f = xcalloc(1, sizeof(*f));
	int rc = ctl_frame(app_of(r)->ctl, port, stream, f, e);
	if (rc == 0) {
		sbuf_addf(r->out, "port %u stream %u: ", port, stream);
		frame_print(f->bytes, f->len, r->out);
	}
	free(f);
	return rc;
}

int show_frame(struct cmd_run *r, const struct show_sel *sel, struct err *e)
{
	json_t *doc = show_doc("frame"), *frames = json_array();
	int rc = show_streams(r, sel, false, add_frame, frames, e);

	json_object_set_new(doc, "frames", frames);
	if (rc == 0 && r->out_mode != OUT_TEXT)
		return show_out(r, doc, NULL);
	if (rc == 0)
		cmd_result(r, doc);
	json_decref(doc);
	return rc;
}
