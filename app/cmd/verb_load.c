/* SPDX-License-Identifier: BSD-3-Clause */
/* load: checks a command file as a whole, then applies all of it. If a line is refused, nothing
 * changes. */
#include "file.h"
#include "verbs.h"
#include "set/set.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct line {
	char *text;
	unsigned long at; /* number of newlines before it in the file */
};
struct lines {
	struct line *l;
	unsigned n, cap;
};

static void lines_read(const char *text, struct lines *all)
{
	struct sbuf one = {0};
	unsigned long line = 0, at;

	while (cmd_next_command(&text, &line, &one, &at)) {
		if (all->n == all->cap) {
			all->cap = all->cap ? all->cap * 2 : 256;
			all->l = xrealloc(all->l, all->cap * sizeof(*all->l));
		}
		all->l[all->n++] = (struct line){xstrdup(sbuf_str(&one)), at};
	}
	sbuf_free(&one);
}

static void lines_free(struct lines *all)
{
	for (unsigned i = 0; i < all->n; i++)
		free(all->l[i].text);
	free(all->l);
}

/* Makes the error of a refused line: "file:12: set 0 rate abc5", a caret, and what is wrong. A line
 * that is too long for the error is left out, but its place is named. Returns -code. */
static int load_refuse(const char *file, const struct line *l, const struct err *why, int code,
		       struct err *e)
{
	struct sbuf where = {0}, text = {0};

	sbuf_addf(&where, "%.200s:%lu", file, l->at + 1);
	cmd_err_print_at(where.s, l->text, why, &text);
	if (text.len + strlen(file) + 64 > sizeof(e->text)) {
		sbuf_reset(&text);
		sbuf_addf(&text, "%s: %.600s\n", where.s, why->text);
	}
	text.s[text.len - 1] = '\0';
	err_set(e, code, "%.200s is not loaded, nothing has changed:\n%s", file, text.s);
	sbuf_free(&where);
	sbuf_free(&text);
	return -code;
}

static int check_all(struct cmd *cmd, const char *file, const struct lines *all, struct err *e)
{
	for (unsigned i = 0; i < all->n; i++) {
		struct err why = {.col = -1};
		int rc = cmd_check(cmd, all->l[i].text, &why);
		if (rc < 0)
			return load_refuse(file, &all->l[i], &why, -rc, e);
	}
	return 0;
}

/* Runs the lines until one is refused; *done counts those that were run. What they print is
 * dropped, and their notes are kept. */
static int run_all(struct cmd_run *r, const char *file, const struct lines *all, unsigned *done,
		   struct err *e)
{
	struct cmd_run *one = xcalloc(1, sizeof(*one));
	struct sbuf out = {0};
	int rc = 0;

	one->host = r->host;
	one->out = &out;
	one->note = r->note;
	one->batch = true;
	for (*done = 0; *done < all->n && rc == 0; ++*done) {
		struct err why = {.col = -1};
		rc = cmd_exec(r->cmd, one, all->l[*done].text, &why);
		if (rc == VERB_PENDING) {
			/* the check has refused verbs that take time, so this cannot happen */
			cmd_cancel(one);
			rc = err_set(&why, EINVAL,
				     "this takes time and cannot be in a file that is loaded");
		}
		if (rc < 0) {
			load_refuse(file, &all->l[*done], &why, -rc, e);
			break;
		}
		sbuf_reset(&out);
	}
	sbuf_free(&out);
	free(one);
	return rc;
}

/* Warns of streams that are enabled and that something is wrong with. The checks were off while the
 * lines ran, so that each warning is given once and not after each `set`. Streams in a row with the
 * same warning share a line. */
static void warn_frames(struct cmd_run *r, unsigned port, struct sbuf *note)
{
	unsigned n = ctl_nstreams(app_of(r)->ctl, port), first = 0, last = 0;
	struct set_obj obj;
	struct err why, pending = {0};

	for (unsigned s = 0; s <= n; s++) {
		const struct stream_cfg *cfg =
			s < n && cmd_object(r->cmd, &scope_stream, port, s, &obj) ? obj.cfg : NULL;
		if (cfg == NULL && s < n)
			continue;
		why.text[0] = '\0';
		if (cfg != NULL && cfg->enabled)
			set_check_whole(&obj, &why);
		if (pending.text[0] != '\0' && strcmp(pending.text, why.text) == 0) {
			last = s;
			continue;
		}
		if (pending.text[0] != '\0' && last > first)
			sbuf_addf(note, "warning: streams %u/%u-%u: %s\n", port, first, last,
				  pending.text);
		else if (pending.text[0] != '\0')
			sbuf_addf(note, "warning: stream %u/%u: %s\n", port, first, pending.text);
		pending = why;
		first = last = s;
	}
}

static void warn_all(struct cmd_run *r, const uint64_t *counts)
{
	struct app *app = app_of(r);

	for (unsigned p = 0; p < ctl_nports(app->ctl); p++) {
		if (!portset_has(&app->written, p))
			continue;
		warn_frames(r, p, r->note);
		if (ctl_sending(app->ctl, p) && ctl_port_cfg(app->ctl, p)->count != counts[p])
			sbuf_addf(
				r->note,
				"warning: port %u: it is sending; the new count is that of the next start\n",
				p);
	}
}

static int load_apply(struct cmd_run *r, const char *file, const struct lines *all, struct err *e)
{
	struct app *app = app_of(r);
	unsigned np = ctl_nports(app->ctl), done = 0;
	struct ctl_saved *saved = ctl_save(app->ctl);
	uint64_t *counts = xcalloc(np + 1, sizeof(*counts));
	struct view view = app->view;
	struct tester tester = app->tester;
	size_t notes = r->note->len;

	for (unsigned p = 0; p < np; p++)
		counts[p] = ctl_port_cfg(app->ctl, p)->count;
	app->written = (struct portset){0};
	cmd_hold_checks(r->cmd, true);
	int rc = run_all(r, file, all, &done, e);
	cmd_hold_checks(r->cmd, false);
	if (rc == 0) {
		warn_all(r, counts);
	} else {
		/* If the first line was refused, nothing has changed. Then the ports, which may be
		 * sending, are not touched. */
		if (done > 0) {
			ctl_restore(app->ctl, saved);
			view_restore(&app->view, &view);
			app->tester = tester;
			tester_apply(app);
		}
		r->note->len = notes;
		if (r->note->s != NULL)
			r->note->s[notes] = '\0';
	}
	ctl_saved_free(saved);
	free(counts);
	return rc;
}

static int load_run(struct cmd_run *r, const struct arg_val *args, struct err *e)
{
	struct sbuf text = {0};
	struct lines all = {0};
	int rc = file_read_text(args[0].text, &text, e);

	if (rc == 0) {
		lines_read(sbuf_str(&text), &all);
		rc = check_all(r->cmd, args[0].text, &all, e);
	}
	if (rc == 0)
		rc = load_apply(r, args[0].text, &all, e);
	lines_free(&all);
	sbuf_free(&text);
	return rc;
}

static const struct arg_spec args_load[] = {{ARG_FILE, "FILE"}, {ARG_END}};

const struct verb verb_load = {
	.name = "load",
	.args = args_load,
	.run = load_run,
	.flags = VERB_NO_LOAD,
	.help = "Check a file of settings and streams as a whole, then apply it, or nothing of it.\n"
		"It may hold set, reset, stream and Pktgen's words for settings. Commands that do something, like start, go into a file\n"
		"for the option -f.",
};
