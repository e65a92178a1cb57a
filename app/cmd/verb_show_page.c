/* SPDX-License-Identifier: BSD-3-Clause */
/* show page: prints a page of the screen as text, with all its rows. */
#include "out.h"
#include "snapshot.h"
#include "verbs.h"
#include "ui/tty.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* A page is drawn with this many rows first. One that has more is drawn again with as many as it
 * needs, at most ROWS_MOST. */
#define ROWS 200
#define ROWS_MOST 20000

static int page_parse(const struct vspec *s, const char *text, void *out, struct err *e)
{
	const struct page *p = page_find(text, e);

	(void)s;
	if (p == NULL) {
		if (e != NULL)
			e->col = 0;
		return -EINVAL;
	}
	memcpy(out, &p, sizeof(p));
	return 0;
}

static void page_print(const struct vspec *s, const void *v, struct sbuf *out)
{
	const struct page *p;

	(void)s;
	memcpy(&p, v, sizeof(p));
	sbuf_add(out, p->name);
}

void page_offer(const struct vspec *s, const char *prefix,
		void (*offer)(void *arg, const char *word), void *arg)
{
	(void)s;
	for (unsigned i = 0; pages[i] != NULL; i++)
		if (strncmp(pages[i]->name, prefix, strlen(prefix)) == 0)
			offer(arg, pages[i]->name);
}

const char *page_about(const struct vspec *s, const char *word)
{
	(void)s;
	for (unsigned i = 0; pages[i] != NULL; i++)
		if (strcmp(pages[i]->name, word) == 0)
			return pages[i]->help;
	return NULL;
}

static void page_allowed(const struct vspec *s, struct sbuf *out)
{
	(void)s;
	for (unsigned i = 0; pages[i] != NULL; i++)
		sbuf_addf(out, "%s%s", i > 0 ? " | " : "", pages[i]->name);
}

/* A page. A value is a const struct page *. */
static const struct vtype vt_page = {
	.name = "page",
	.syntax = "name of a page",
	.size = sizeof(const struct page *),
	.parse = page_parse,
	.print = page_print,
	.complete = page_offer,
	.allowed = page_allowed,
	.about = page_about,
};

/* Finds the one port and stream that an argument names; a port alone stands for its first stream.
 * Returns 0, or -EINVAL with *e. */
static int select_one(struct cmd_run *r, const struct arg_val *a, unsigned *port, unsigned *stream,
		      struct err *e)
{
	const struct target *t = &a->target;

	if (t->n != 1 || t->item[0].p0 != t->item[0].p1 ||
	    (t->item[0].has_streams && t->item[0].s0 != t->item[0].s1))
		return err_at(e, EINVAL, a->col,
			      "a page has one selected port and stream: 0 or 0/3, not a list");
	*port = t->item[0].p0;
	*stream = t->item[0].has_streams ? t->item[0].s0 : app_first_stream(app_of(r), *port);
	return 0;
}

static void draw_whole(const struct page *page, const struct page_in *in, int cols,
		       struct sbuf *out)
{
	struct page_out o;
	struct grid g;
	int rows = ROWS;

	for (;;) {
		grid_init(&g, rows, cols);
		page_draw(page, in, &g, &o);
		if (o.all <= o.rows || rows == ROWS_MOST)
			break;
		grid_free(&g);
		rows = o.all - o.rows < (unsigned)(ROWS_MOST - rows) ? rows + (int)(o.all - o.rows)
								     : ROWS_MOST;
	}
	grid_text(&g, out);
	grid_free(&g);
}

static int show_page_run(struct cmd_run *r, const struct arg_val *args, struct err *e)
{
	const struct app *app = app_of(r);
	unsigned port = app->view.port, stream = app->view.stream;
	const struct page *page;
	struct sbuf parts = {0};

	memcpy(&page, args[0].v.raw, sizeof(page));
	if (args[1].given && select_one(r, &args[1], &port, &stream, e) < 0)
		return -EINVAL;
	page_parts(page, port, stream, &parts);
	json_t *snap = app_snapshot(r->host, sbuf_str(&parts), e);
	sbuf_free(&parts);
	if (snap == NULL)
		return -EINVAL;
	cmd_result(r, snap);
	if (r->out_mode == OUT_TEXT) {
		struct page_in in = {
			.snap = snap,
			.port = port,
			.stream = stream,
			.max_ports = (unsigned)app->view.max_ports,
			.ascii = view_ascii(&app->view),
		};
		draw_whole(page, &in,
			   app->view.cols > 0 ? app->view.cols : (int)tty_columns(STDOUT_FILENO),
			   r->out);
	} else {
		json_object_set_new(snap, "show", json_string("page"));
		json_object_set_new(snap, "page", json_string(page->name));
		out_write((enum out_mode)r->out_mode, snap, NULL, r->out);
	}
	json_decref(snap);
	return 0;
}

static const struct arg_spec args_show_page[] = {
	{ARG_VALUE, "page", 0, {.type = &vt_page}},
	{ARG_TARGETS, "port", ARG_OPT},
	{ARG_END},
};

const struct verb verb_show_page = {
	.name = "show page",
	.args = args_show_page,
	.run = show_page_run,
	.flags = VERB_LOOKS | VERB_NO_LOAD | VERB_HERE,
	.help = "Print a page of the screen, as wide as the terminal (else COLUMNS, else 80) and with all its rows.\n"
		"port: the selected one, 0, or with a stream 0/3; without it those of the screen. With --json and --csv: the\n"
		"snapshot that the page is drawn from.",
};
