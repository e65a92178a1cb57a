/* SPDX-License-Identifier: BSD-3-Clause */
/* screen, on, off, cls, geometry: open the screen, stop redraws, draw it anew, tell its size. */
#include "verbs.h"
#include "show.h"
#include "ui/tty.h"

#include <string.h>
#include <unistd.h>

static const char *const on_off[] = {"on", "off", NULL};
static const char *const about_screen[] = {"page above, prompt below", "the plain prompt"};

static int run_screen(struct cmd_run *r, const struct arg_val *args, struct err *e)
{
	struct view *v = &app_of(r)->view;

	(void)e;
	if (!args[0].given) {
		json_t *doc = show_doc("screen");
		json_object_set_new(doc, "screen", json_string(v->screen ? "on" : "off"));
		json_object_set_new(doc, "redraws", json_string(v->frozen ? "off" : "on"));
		return show_out(r, doc, NULL);
	}
	v->screen = args[0].choice == 0;
	view_touch(v);
	return 0;
}

void view_freeze(struct cmd_run *r, bool frozen)
{
	struct view *v = &app_of(r)->view;

	v->frozen = frozen;
	view_touch(v);
}

static int run_on(struct cmd_run *r, const struct arg_val *args, struct err *e)
{
	(void)args;
	(void)e;
	view_freeze(r, false);
	return 0;
}

static int run_off(struct cmd_run *r, const struct arg_val *args, struct err *e)
{
	(void)args;
	(void)e;
	view_freeze(r, true);
	return 0;
}

static int run_cls(struct cmd_run *r, const struct arg_val *args, struct err *e)
{
	struct view *v = &app_of(r)->view;

	(void)args;
	(void)e;
	v->repaint++;
	view_touch(v);
	return 0;
}

static const struct out_col size_cols[] = {{"columns", "columns", OF_STR},
					   {"rows", "rows", OF_STR}};
static const struct out_view size_view = {.rows = "geometry",
					  .cols = size_cols,
					  .ncols = ARRAY_SIZE(size_cols)};

static int run_geometry(struct cmd_run *r, const struct arg_val *args, struct err *e)
{
	const struct view *v = &app_of(r)->view;
	bool there = v->rows > 0 && v->cols > 0;

	(void)args;
	(void)e;
	if (r->out_mode == OUT_TEXT) {
		if (there)
			sbuf_addf(r->out, "%d columns x %d rows\n", v->cols, v->rows);
		else
			sbuf_addf(r->out, "there is no screen; `show page` prints %u columns\n",
				  tty_columns(STDOUT_FILENO));
		return 0;
	}
	json_t *doc = show_doc("geometry"), *list = json_array();
	if (there)
		json_array_append_new(list,
				      json_pack("{s:i, s:i}", "columns", v->cols, "rows", v->rows));
	json_object_set_new(doc, "geometry", list);
	return show_out(r, doc, &size_view);
}

static const struct arg_spec none[] = {{ARG_END}};
static const struct arg_spec args_screen[] = {
	{ARG_CHOICE, NULL, ARG_OPT, {.choices = on_off}, about_screen}, {ARG_END}};

const struct verb verb_screen = {
	.name = "screen",
	.args = args_screen,
	.run = run_screen,
	.flags = VERB_HERE,
	.help = "Turn the full screen on or off; off leaves the plain prompt. Without a word, say which it is.\n"
		"Without a terminal the word is kept and does nothing. `off` alone is another thing: it stops the redraws of the page.",
};
const struct verb verb_on = {
	.name = "on",
	.args = none,
	.run = run_on,
	.flags = VERB_HIDDEN | VERB_HERE,
	.help = "Go on with redraws of the page that `off` stopped; `enable screen` is the same.",
};
const struct verb verb_off = {
	.name = "off",
	.args = none,
	.run = run_off,
	.flags = VERB_HIDDEN | VERB_HERE,
	.help = "Stop redraws of the page: its numbers stay as they are, the prompt goes on. `disable screen` is the same.",
};
const struct verb verb_cls = {
	.name = "cls",
	.alias = "redisplay",
	.args = none,
	.run = run_cls,
	.flags = VERB_HERE,
	.help = "Draw the whole screen anew.",
};
const struct verb verb_geometry = {
	.name = "geometry",
	.alias = "geom",
	.args = none,
	.run = run_geometry,
	.flags = VERB_HERE,
	.help = "Say how large the screen is.",
};
