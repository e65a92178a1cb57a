/* SPDX-License-Identifier: BSD-3-Clause */
/* page, port: choose what the screen shows. The choice is kept without a screen too, so that the
 * same command files run everywhere. */
#include "verbs.h"
#include "show.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The argument of `page`: a page, a step to the next or previous page, or Pktgen's number of a
 * group of ports. */
struct page_arg {
	const struct page *page; /* NULL: the step or the group */
	int step;                /* 0: the group */
	uint64_t group;
};

static const struct {
	const char *word;
	int step;
} steps[] = {{"next", 1}, {"previous", -1}};

/* Returns the step that a word stands for, or its first three or more letters; 0: none. */
static int step_of(const char *word)
{
	size_t len = strlen(word);

	for (unsigned i = 0; i < ARRAY_SIZE(steps); i++)
		if (len >= 3 && strncmp(steps[i].word, word, len) == 0)
			return steps[i].step;
	return 0;
}

static int page_parse(const struct vspec *s, const char *text, void *out, struct err *e)
{
	struct page_arg a = {0};
	const struct vspec group = {.type = &vt_uint, .min = 0, .max = PORTSET_MAX};
	struct err why;

	if (isdigit((unsigned char)*text)) {
		int rc = vt_uint.parse(&group, text, &a.group, e);
		if (rc == 0)
			memcpy(out, &a, sizeof(a));
		return rc;
	}
	a.step = step_of(text);
	if (a.step != 0) {
		memcpy(out, &a, sizeof(a));
		return 0;
	}
	if (*text == '\0')
		return vspec_fail(s, EINVAL, 0, e, text, "is no page");
	a.page = page_find(text, &why);
	if (a.page == NULL)
		return err_at(
			e, EINVAL, 0,
			"%.900s; next and previous go by their order; a number is a group of ports",
			why.text);
	memcpy(out, &a, sizeof(a));
	return 0;
}

static void page_print(const struct vspec *s, const void *v, struct sbuf *out)
{
	const struct page_arg *a = v;

	(void)s;
	if (a->page != NULL)
		sbuf_add(out, a->page->name);
	else if (a->step != 0)
		sbuf_add(out, steps[a->step < 0].word);
	else
		sbuf_addf(out, "%u", (unsigned)a->group);
}

static void page_allowed(const struct vspec *s, struct sbuf *out)
{
	(void)s;
	sbuf_add(
		out,
		"the name of a page (`page` lists them) | next | previous | a group of ports, from 0");
}

static void page_or_step_offer(const struct vspec *s, const char *prefix,
			       void (*offer)(void *arg, const char *word), void *arg)
{
	page_offer(s, prefix, offer, arg);
	for (unsigned i = 0; i < ARRAY_SIZE(steps); i++)
		if (strncmp(steps[i].word, prefix, strlen(prefix)) == 0)
			offer(arg, steps[i].word);
}

static const struct vtype vt_page_or_group = {
	.name = "page",
	.syntax = "name of a page, next, previous, or number of a group of ports",
	.size = sizeof(struct page_arg),
	.parse = page_parse,
	.print = page_print,
	.complete = page_or_step_offer,
	.allowed = page_allowed,
	.about = page_about,
};

static const struct out_col list_cols[] = {
	{"current", "", OF_STR},   {"key", "key", OF_STR}, {"name", "page", OF_STR},
	{"alias", "also", OF_STR}, {"help", "", OF_STR},
};
static const struct out_view list_view = {.rows = "pages",
					  .cols = list_cols,
					  .ncols = ARRAY_SIZE(list_cols)};

static int list_pages(struct cmd_run *r)
{
	const struct view *v = &app_of(r)->view;
	json_t *doc = show_doc("pages"), *list = json_array();

	for (unsigned i = 0; pages[i] != NULL; i++) {
		json_t *o = json_pack("{s:s, s:s, s:s}", "current", pages[i] == v->page ? "*" : "",
				      "name", pages[i]->name, "help", pages[i]->help);
		/* the key of the tenth page is 0 */
		if (i < 10)
			json_object_set_new(o, "key", json_integer((i + 1) % 10));
		if (pages[i]->alias != NULL)
			json_object_set_new(o, "alias", json_string(pages[i]->alias));
		json_array_append_new(list, o);
	}
	json_object_set_new(doc, "pages", list);
	return show_out(r, doc, &list_view);
}

static unsigned page_count(void)
{
	unsigned n = 0;

	while (pages[n] != NULL)
		n++;
	return n;
}

/* Returns the page that comes `step` places after this one. The first page follows the last one. */
static const struct page *page_beside(const struct page *now, int step)
{
	unsigned n = page_count(), at = 0;

	while (at < n && pages[at] != now)
		at++;
	return pages[(at % n + n + (unsigned)step) % n];
}

static int run_page(struct cmd_run *r, const struct arg_val *args, struct err *e)
{
	struct app *app = app_of(r);
	struct page_arg a;

	if (!args[0].given)
		return list_pages(r);
	memcpy(&a, args[0].v.raw, sizeof(a));
	if (a.step != 0)
		a.page = page_beside(app->view.page, a.step);
	if (a.page != NULL) {
		app->view.page = a.page;
		app->view.top = 0;
	} else {
		unsigned size = view_group(&app->view), n = app_nports(app);
		if (a.group > 0 && n <= size)
			return err_at(
				e, EINVAL, args[0].col,
				"there is no group %u of ports: with %u on a page all are in group 0; "
				"a page goes by its name, `page %s`",
				(unsigned)a.group, size,
				pages[a.group <= page_count() ? a.group - 1 : 0]->name);
		if (a.group > 0 && a.group * size >= n)
			return err_at(
				e, EINVAL, args[0].col,
				"there is no group %u of ports: with %u on a page, %u port%s are groups 0 to %u",
				(unsigned)a.group, size, n, n == 1 ? "" : "s",
				n > 0 ? (n - 1) / size : 0);
		app->view.first = (unsigned)a.group * size;
	}
	view_touch(&app->view);
	return 0;
}

static const struct arg_spec args_page[] = {{ARG_VALUE, "PAGE", ARG_OPT, {&vt_page_or_group}},
					    {ARG_END}};

const struct verb verb_page = {
	.name = "page",
	.args = args_page,
	.run = run_page,
	.flags = VERB_HERE,
	.help = "Choose the page of the screen; without a name, list the pages. next and previous go by their order.\n"
		"A number is a group of ports on pages that show several, as in Pktgen: `page 1` begins with the ports that\n"
		"`page 0` has no room for (`set pages.ports` says how many those are).",
};

static int run_port(struct cmd_run *r, const struct arg_val *args, struct err *e)
{
	struct app *app = app_of(r);
	const struct target *t = &args[0].target;
	struct portset ports;

	if (!args[0].given) {
		json_t *doc = show_doc("port");
		json_object_set_new(doc, "port", json_integer(app->view.port));
		json_object_set_new(doc, "stream", json_integer(app->view.stream));
		return show_out(r, doc, NULL);
	}
	if (app_ports(app, t, true, &ports, e) < 0) {
		e->col = args[0].col;
		return -EINVAL;
	}
	if (t->n != 1 || t->item[0].p0 != t->item[0].p1 ||
	    (t->item[0].has_streams && t->item[0].s0 != t->item[0].s1))
		return err_at(
			e, EINVAL, args[0].col,
			"\"%.60s\" is more than one; a page shows one port (`port 1`) or one stream (`port 1/3`)",
			args[0].text);
	app->view.port = t->item[0].p0;
	app->view.stream =
		t->item[0].has_streams ? t->item[0].s0 : app_first_stream(app, t->item[0].p0);
	app->view.top = 0;
	/* pages of several ports move to the group that has this port */
	unsigned size = view_group(&app->view), first = app->view.first;
	if ((app->view.room > 0 || app->view.max_ports > 0) &&
	    (app->view.port < first || app->view.port >= first + size))
		app->view.first = app->view.port - app->view.port % size;
	view_touch(&app->view);
	return 0;
}

static const struct arg_spec args_port[] = {{ARG_TARGETS, "port", ARG_OPT}, {ARG_END}};

const struct verb verb_port = {
	.name = "port",
	.args = args_port,
	.run = run_port,
	.flags = VERB_HERE,
	.help = "Select the port, or the stream, that pages of one port show: `port 1`, `port 1/3`.\n"
		"Without one, say which is selected.",
};
