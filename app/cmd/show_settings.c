/* SPDX-License-Identifier: BSD-3-Clause */
/* show settings, frame: the settings in force, and the frames that are made from them. */
#include "show.h"
#include "set/set.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Writes the object as `set` names it, "0/3", and its numbers under the names of their scopes. */
static void put_object(json_t *row, const struct set_obj *obj)
{
	const struct cmd_scope *scope = obj->scope;
	struct sbuf target = {0};

	if (scope->level == LEVEL_PROGRAM)
		sbuf_add(&target, "-");
	else
		sbuf_addf(&target, "%u", obj->port);
	if (scope->level == LEVEL_NUMBERED) {
		sbuf_addc(&target, '/');
		cmd_scope_word(scope, &target);
		sbuf_addf(&target, "%u", obj->id);
	}
	json_object_set_new(row, "target", json_string(sbuf_str(&target)));
	if (scope->level != LEVEL_PROGRAM)
		json_object_set_new(row, "port", json_integer(obj->port));
	if (scope->level == LEVEL_NUMBERED)
		json_object_set_new(row, scope->name, json_integer(obj->id));
	sbuf_free(&target);
}

/* Adds the settings of one object, if it exists. */
static void add_rows(struct cmd_run *r, json_t *list, const struct cmd_scope *scope, unsigned port,
		     unsigned id)
{
	struct set_obj obj;
	unsigned n;

	if (!cmd_object(r->cmd, scope, port, id, &obj))
		return;
	if (scope == &scope_stream)
		set_rows_for(&((const struct stream_cfg *)obj.cfg)->frame.stack);
	const struct setting *const *rows = set_rows(&n);
	set_hold(true);
	for (unsigned i = 0; i < n; i++) {
		struct sbuf text = {0};

		if (rows[i]->scope != scope || !set_applies(rows[i], &obj))
			continue;
		bool set = cmd_setting_text(r->cmd, rows[i], port, id, &text);
		json_t *o = json_object();
		put_object(o, &obj);
		json_object_set_new(o, "name", json_string(rows[i]->name));
		json_object_set_new(o, "value", out_json_text(sbuf_str(&text)));
		json_object_set_new(o, "default", json_boolean(!set));
		if (rows[i]->unit != NULL)
			json_object_set_new(o, "unit", json_string(rows[i]->unit));
		json_array_append_new(list, o);
		sbuf_free(&text);
	}
	set_hold(false);
}

/* Adds the settings of all scopes of this level: those of the program, or those of a port. */
static void add_level(struct cmd_run *r, json_t *list, enum scope_level level, unsigned port)
{
	for (unsigned i = 0; i < cmd_nscopes(r->cmd); i++)
		if (cmd_scope_at(r->cmd, i)->level == level)
			add_rows(r, list, cmd_scope_at(r->cmd, i), port, 0);
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
		add_level(r, w->list, LEVEL_PORT, port);
	}
	add_rows(r, w->list, &scope_stream, port, stream);
	return 0;
}

/* Adds the settings of the objects first..last of a port, of those scopes whose objects are written
 * with the scope's name. If kind is not NULL, it is the name of the only one. */
static void add_kinds(struct cmd_run *r, json_t *list, const char *kind, unsigned port,
		      uint32_t first, uint32_t last)
{
	for (unsigned i = 0; i < cmd_nscopes(r->cmd); i++) {
		const struct cmd_scope *scope = cmd_scope_at(r->cmd, i);
		if (scope->level != LEVEL_NUMBERED || scope->bare ||
		    (kind != NULL && strcmp(kind, scope->name) != 0))
			continue;
		unsigned n = scope->count(r->host, port);
		for (uint32_t id = first; id <= last && id < n; id++)
			add_rows(r, list, scope, port, id);
	}
}

/* Adds the settings of the objects that are not streams: all of them of ports that were named
 * alone, and those that were named. */
static void add_others(struct cmd_run *r, json_t *list, const struct show_sel *sel)
{
	unsigned nports = ctl_nports(app_of(r)->ctl);
	const struct target *t = sel->target;

	for (unsigned p = 0; !sel->given && p < nports; p++)
		add_kinds(r, list, NULL, p, 0, UINT32_MAX);
	for (unsigned i = 0; sel->given && i < t->n; i++) {
		bool all = !t->item[i].has_streams;
		if (!all && t->kind == NULL)
			continue;
		for (uint32_t p = t->item[i].p0; p <= t->item[i].p1 && p < nports; p++)
			add_kinds(r, list, t->kind, p, all ? 0 : t->item[i].s0,
				  all ? UINT32_MAX : t->item[i].s1);
	}
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
	int rc = 0;

	if (!sel->given)
		add_level(r, w.list, LEVEL_PROGRAM, 0);
	if (!sel->given || sel->target->kind == NULL)
		rc = show_streams(r, sel, true, add_stream, &w, e);
	if (rc == 0)
		add_others(r, w.list, sel);

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
