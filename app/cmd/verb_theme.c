/* SPDX-License-Identifier: BSD-3-Clause */
/* theme: shows and changes the colours of the screen, each of which belongs to a role. Words and
 * files are as in Pktgen. */
#include "verbs.h"
#include "show.h"
#include "file.h"
#include "ui/theme_file.h"

#include <errno.h>
#include <string.h>

/* Words that may follow `theme` beside the roles. Their numbers go on behind those of enum role. */
enum { WORD_ON = ROLES, WORD_OFF, WORD_SHOW, WORD_RESET };
static const struct {
	const char *name, *help;
} words[] = {
	{"on", "with colours"},
	{"off", "without colours: bold, reverse and the like alone"},
	{"show", "list the roles, their colours and what they are for"},
	{"reset", "the built-in theme"},
};

static int what_parse(const struct vspec *s, const char *text, void *out, struct err *e)
{
	enum role role;
	int what = -1;

	(void)s;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (strcmp(words[i].name, text) == 0)
			what = WORD_ON + (int)i;
	if (what < 0 && theme_role(text, &role, e) < 0) {
		if (e != NULL)
			e->col = 0;
		return -EINVAL;
	}
	what = what < 0 ? (int)role : what;
	memcpy(out, &what, sizeof(what));
	return 0;
}

static const char *what_name(int what)
{
	return what < ROLES ? theme_role_name[what] : words[what - ROLES].name;
}

static void what_print(const struct vspec *s, const void *v, struct sbuf *out)
{
	int what;

	(void)s;
	memcpy(&what, v, sizeof(what));
	sbuf_add(out, what_name(what));
}

static void what_offer(const struct vspec *s, const char *prefix,
		       void (*offer)(void *arg, const char *word), void *arg)
{
	(void)s;
	for (int i = 0; i < ROLES + (int)ARRAY_SIZE(words); i++) {
		/* the words come before the roles, because they are used more often */
		int what = i < (int)ARRAY_SIZE(words) ? ROLES + i : i - (int)ARRAY_SIZE(words);
		if (strncmp(what_name(what), prefix, strlen(prefix)) == 0)
			offer(arg, what_name(what));
	}
}

static const char *what_about(const struct vspec *s, const char *word)
{
	int what;

	if (what_parse(s, word, &what, NULL) < 0)
		return NULL;
	return what < ROLES ? theme_role_help[what] : words[what - ROLES].help;
}

static const struct vtype vt_what = {
	.name = "theme role",
	.syntax = "on | off | show | reset | a role; `theme show` lists the roles",
	.size = sizeof(int),
	.parse = what_parse,
	.print = what_print,
	.complete = what_offer,
	.about = what_about,
};

static int color_parse(const struct vspec *s, const char *text, void *out, struct err *e)
{
	int32_t color;
	int rc = theme_color(text, &color, e);

	(void)s;
	if (rc == 0)
		memcpy(out, &color, sizeof(color));
	return rc;
}

static void color_print(const struct vspec *s, const void *v, struct sbuf *out)
{
	int32_t color;

	(void)s;
	memcpy(&color, v, sizeof(color));
	theme_color_print(color, out);
}

static void offer_all(const char *const *list, const char *prefix,
		      void (*offer)(void *arg, const char *word), void *arg)
{
	for (; *list != NULL; list++)
		if (strncmp(*list, prefix, strlen(prefix)) == 0)
			offer(arg, *list);
}

static void color_offer(const struct vspec *s, const char *prefix,
			void (*offer)(void *arg, const char *word), void *arg)
{
	static const char *const names[] = {
		"black",        "red",
		"green",        "yellow",
		"blue",         "magenta",
		"cyan",         "white",
		"bright_black", "bright_red",
		"bright_green", "bright_yellow",
		"bright_blue",  "bright_magenta",
		"bright_cyan",  "bright_white",
		"default",      "none",
		NULL,
	};

	(void)s;
	offer_all(names, prefix, offer, arg);
}

static const char *color_about(const struct vspec *s, const char *word)
{
	(void)s;
	if (strcmp(word, "default") == 0)
		return "the terminal's own";
	return strcmp(word, "none") == 0 ? "that of the role \"default\"" : NULL;
}

static const struct vtype vt_color = {
	.name = "colour",
	.syntax =
		"red, bright_red ... | default (the terminal's own) | none (the role default's) | 0 to 255 | 0xrrggbb",
	.size = sizeof(int32_t),
	.parse = color_parse,
	.print = color_print,
	.complete = color_offer,
	.about = color_about,
};

static int attr_parse(const struct vspec *s, const char *text, void *out, struct err *e)
{
	uint32_t attr;
	int rc = theme_attr(text, &attr, e);

	(void)s;
	if (rc == 0)
		memcpy(out, &attr, sizeof(attr));
	return rc;
}

static void attr_print(const struct vspec *s, const void *v, struct sbuf *out)
{
	uint32_t attr;

	(void)s;
	memcpy(&attr, v, sizeof(attr));
	theme_attr_print(attr, out);
}

static void attr_offer(const struct vspec *s, const char *prefix,
		       void (*offer)(void *arg, const char *word), void *arg)
{
	const char *name;

	(void)s;
	for (unsigned i = 0; (name = theme_attr_name(i)) != NULL; i++)
		if (strncmp(name, prefix, strlen(prefix)) == 0)
			offer(arg, name);
}

static const struct vtype vt_attr = {
	.name = "attribute",
	.syntax = THEME_ATTRS,
	.size = sizeof(uint32_t),
	.parse = attr_parse,
	.print = attr_print,
	.complete = attr_offer,
};

/* Offers the names of the themes that there are, for `theme load`. Its argument is such a name or a
 * path, and name_parse() takes any text: whether the theme is there shows when it is opened. */
static void name_offer(const struct vspec *s, const char *prefix,
		       void (*offer)(void *arg, const char *word), void *arg)
{
	unsigned n;
	char **names = theme_names(&n);

	(void)s;
	for (unsigned i = 0; i < n; i++)
		if (strncmp(names[i], prefix, strlen(prefix)) == 0)
			offer(arg, names[i]);
	theme_names_free(names, n);
}

static int name_parse(const struct vspec *s, const char *text, void *out, struct err *e)
{
	const struct vspec plain = {.type = &vt_text};

	(void)s;
	return vt_text.parse(&plain, text, out, e);
}

static void name_print(const struct vspec *s, const void *v, struct sbuf *out)
{
	vt_text.print(s, v, out);
}

static const struct vtype vt_name = {
	.name = "theme",
	.syntax = "name of a theme, or path of a file",
	.size = VT_TEXT_MAX,
	.parse = name_parse,
	.print = name_print,
	.complete = name_offer,
};

static const struct out_col role_cols[] = {
	{"role", "role", OF_STR}, {"fg", "fg", OF_STR}, {"bg", "bg", OF_STR},
	{"attr", "attr", OF_STR}, {"help", "", OF_STR},
};
static const struct out_view role_view = {.rows = "roles",
					  .cols = role_cols,
					  .ncols = ARRAY_SIZE(role_cols)};

static json_t *role_json(const struct theme *t, enum role role)
{
	struct sbuf fg = {0}, bg = {0}, attr = {0};

	theme_color_print(t->style[role].fg, &fg);
	theme_color_print(t->style[role].bg, &bg);
	theme_attr_print(t->style[role].attr, &attr);
	json_t *o = json_pack("{s:s, s:s, s:s, s:s, s:s}", "role", theme_role_name[role], "fg",
			      sbuf_str(&fg), "bg", sbuf_str(&bg), "attr", sbuf_str(&attr), "help",
			      theme_role_help[role]);
	sbuf_free(&fg);
	sbuf_free(&bg);
	sbuf_free(&attr);
	return o;
}

/* Prints the colours of one role, or of all roles if only is ROLES. */
static int show_roles(struct cmd_run *r, int only)
{
	const struct theme *t = &app_of(r)->view.theme;
	json_t *doc = show_doc("theme"), *list = json_array();

	for (int i = 0; i < ROLES; i++)
		if (only == ROLES || only == i)
			json_array_append_new(list, role_json(t, (enum role)i));
	json_object_set_new(doc, "on", json_boolean(t->on));
	json_object_set_new(doc, "roles", list);
	return show_out(r, doc, &role_view);
}

/* `theme` without a word: says whether colours are on and how many roles differ from the built-in
 * theme. */
static int show_state(struct cmd_run *r)
{
	const struct theme *t = &app_of(r)->view.theme;
	struct theme base = {0};
	json_t *doc = show_doc("theme"), *list = json_array();

	theme_default(&base);
	for (int i = 0; i < ROLES; i++)
		if (memcmp(&t->style[i], &base.style[i], sizeof(base.style[i])) != 0)
			json_array_append_new(list, json_string(theme_role_name[i]));
	json_object_set_new(doc, "on", json_boolean(t->on));
	json_object_set_new(doc, "changed", list);
	if (r->out_mode != OUT_TEXT)
		return show_out(r, doc, NULL);
	sbuf_addf(r->out, "theme %s, ", t->on ? "on" : "off");
	if (json_array_size(list) == 0)
		sbuf_add(r->out, "the built-in colours");
	else
		sbuf_addf(r->out, "%zu of %d roles differ from the built-in colours",
			  json_array_size(list), (int)ROLES);
	sbuf_add(r->out, "; `theme show` lists them\n");
	json_decref(doc);
	return 0;
}

static int theme_load(struct cmd_run *r, const char *name, struct err *e)
{
	struct view *v = &app_of(r)->view;
	struct sbuf path = {0};
	int rc = theme_find(name, &path, e);

	if (rc == 0)
		rc = theme_read(path.s, &v->theme, e);
	sbuf_free(&path);
	if (rc == 0)
		view_touch(v);
	return rc;
}

static int theme_save(struct cmd_run *r, const char *path, struct err *e)
{
	struct sbuf text = {0};

	theme_text(&app_of(r)->view.theme, &text);
	int rc = file_replace(path, text.s, text.len, e);
	sbuf_free(&text);
	return rc;
}

enum { WHAT, FG, BG, ATTR, SAVE, SAVE_FILE, LOAD, LOAD_NAME };

static int theme_change(struct cmd_run *r, int what, const struct arg_val *args)
{
	struct view *v = &app_of(r)->view;
	struct theme_style s = {THEME_NONE, THEME_NONE, 0};

	if (what == WORD_RESET) {
		theme_default(&v->theme);
	} else if (what < ROLES) {
		memcpy(&s.fg, args[FG].v.raw, sizeof(s.fg));
		if (args[BG].given)
			memcpy(&s.bg, args[BG].v.raw, sizeof(s.bg));
		if (args[ATTR].given)
			memcpy(&s.attr, args[ATTR].v.raw, sizeof(s.attr));
		v->theme.style[what] = s;
	} else {
		v->theme.on = what == WORD_ON;
	}
	v->theme.version++;
	view_touch(v);
	return 0;
}

static int theme_run(struct cmd_run *r, const struct arg_val *args, struct err *e)
{
	int given = args[SAVE].given + args[LOAD].given + args[WHAT].given, what;

	if (given == 0)
		return show_state(r);
	if (given > 1)
		return err_at(e, EINVAL, args[LOAD].given ? args[LOAD].col : args[SAVE].col,
			      "one thing at a time; separate commands with ;");
	if (args[SAVE].given)
		return theme_save(r, args[SAVE_FILE].text, e);
	if (args[LOAD].given) {
		int rc = theme_load(r, args[LOAD_NAME].text, e);
		if (rc < 0)
			e->col = args[LOAD_NAME].col;
		return rc;
	}
	memcpy(&what, args[WHAT].v.raw, sizeof(what));
	if (what >= ROLES && args[FG].given)
		return err_at(e, EINVAL, args[FG].col, "nothing follows `theme %s`",
			      what_name(what));
	if (what == WORD_SHOW)
		return show_roles(r, ROLES);
	if (what < ROLES && !args[FG].given)
		return show_roles(r, what);
	return theme_change(r, what, args);
}

static const struct arg_spec args_theme[] = {
	[WHAT] = {ARG_VALUE, "ROLE", ARG_OPT, {&vt_what}},
	[FG] = {ARG_VALUE, "FG", ARG_OPT | ARG_AFTER, {&vt_color}},
	[BG] = {ARG_VALUE, "BG", ARG_OPT | ARG_AFTER, {&vt_color}},
	[ATTR] = {ARG_VALUE, "ATTR", ARG_OPT | ARG_AFTER, {&vt_attr}},
	[SAVE] = {ARG_WORD, "save", ARG_OPT | ARG_NO_LOAD},
	[SAVE_FILE] = {ARG_FILE, "FILE", ARG_OPT},
	[LOAD] = {ARG_WORD, "load", ARG_OPT | ARG_NO_LOAD},
	[LOAD_NAME] = {ARG_VALUE, "NAME", ARG_OPT | ARG_PATH, {&vt_name}},
	{ARG_END},
};

const struct verb verb_theme = {
	.name = "theme",
	.args = args_theme,
	.run = theme_run,
	.flags = VERB_HERE,
	.help = "Colours of the screen: `theme log.error red none bold` gives a role a foreground, a background and attributes.\n"
		"A role alone shows its own; `theme show` lists all of them. `theme load` takes a theme by name (`theme load light`)\n"
		"or by path, `theme save` writes one. Your own are in $XDG_CONFIG_HOME/wirerate/themes; default.theme there is\n"
		"taken at start.",
};
