/* SPDX-License-Identifier: BSD-3-Clause */
/* show: finds the function of a word, and the ports or streams that are shown. */
#include "show.h"
#include "face.h"
#include "pieces.h"

#include <errno.h>
#include <string.h>

static const struct show_row own_rows[] = {
	{100, "stats", "counters of each port", show_stats, TAKES_PORTS},
	{100, "rates", "asked beside offered, marked where they differ by 0.1 %", show_rates,
	 TAKES_PORTS},
	{100, "queues", "counters of each queue", show_queues, TAKES_PORTS},
	{100, "xstats", "the device's own counters", show_xstats, TAKES_PORTS},
	{100, "ports", "devices and what is known about them", show_ports, TAKES_PORTS},
	{100, "map", "which core serves which queue", show_map, TAKES_NONE},
	{100, "plan", "what each worker runs now", show_plan, TAKES_NONE},
	{100, "frame",
	 "the frame that is sent, header by header, and its bytes; rx: the last that came",
	 show_frame, TAKES_STREAMS},
	{100, "settings", "values in force", show_settings, TAKES_OBJECTS},
	{100, "rss", "which Rx queue the frames of each stream come to, predicted and counted",
	 show_rss, TAKES_PORTS},
	{400, "trial", "the result of the last trial, and what it was judged by", show_trial,
	 TAKES_NONE},
	{400, "log", "the last messages", show_log, TAKES_NONE},
	{400, "clock", "how the clock was calibrated", show_clock, TAKES_NONE},
	{0},
};

static const void **rows;
static unsigned nrows;

static const struct show_row *row_at(unsigned i)
{
	return rows[i];
}

json_t *show_doc(const char *what)
{
	json_t *doc = json_object();

	json_object_set_new(doc, "show", json_string(what));
	return doc;
}

void show_filter(json_t *doc, const struct show_sel *sel)
{
	json_t *ports = json_object_get(doc, "ports");

	for (size_t i = json_array_size(ports); sel->given && i-- > 0;) {
		json_int_t p =
			json_integer_value(json_object_get(json_array_get(ports, i), "port"));
		if (p < 0 || !portset_has(&sel->ports, (unsigned)p))
			json_array_remove(ports, i);
	}
}

bool show_names(const struct target *t, uint64_t port, uint64_t stream)
{
	for (unsigned i = 0; i < t->n; i++)
		if (port >= t->item[i].p0 && port <= t->item[i].p1 &&
		    (!t->item[i].has_streams ||
		     (stream >= t->item[i].s0 && stream <= t->item[i].s1)))
			return true;
	return false;
}

int show_out(struct cmd_run *r, json_t *doc, const struct out_view *view)
{
	verb_out(r, r->out_mode, doc, view);
	json_decref(doc);
	return 0;
}

static int streams_of(struct cmd_run *r, unsigned port, uint32_t s0, uint32_t s1,
		      int (*fn)(struct cmd_run *r, unsigned port, unsigned stream, void *arg,
				struct err *e),
		      void *arg, struct err *e)
{
	struct ctl *ctl = app_of(r)->ctl;
	unsigned n = ctl_nstreams(ctl, port);
	bool any = false;
	int rc = 0;

	for (uint32_t s = s0; s <= s1 && s < n && rc == 0; s++) {
		if (ctl_stream_cfg(ctl, port, s) == NULL)
			continue;
		any = true;
		rc = fn(r, port, s, arg, e);
	}
	return any ? rc : cmd_no_stream(r->cmd, port, s0, e);
}

int show_streams(struct cmd_run *r, const struct show_sel *sel, bool all,
		 int (*fn)(struct cmd_run *r, unsigned port, unsigned stream, void *arg,
			   struct err *e),
		 void *arg, struct err *e)
{
	unsigned nports = ctl_nports(app_of(r)->ctl);
	uint32_t last = all ? UINT32_MAX : 0;
	int rc = 0;

	for (unsigned p = 0; !sel->given && p < nports && rc == 0; p++) {
		uint32_t first = all ? 0 : app_first_stream(app_of(r), p);
		rc = streams_of(r, p, first, all ? last : first, fn, arg, e);
	}
	if (!sel->given)
		return rc;
	for (unsigned i = 0; i < sel->target->n; i++) {
		bool has = sel->target->item[i].has_streams;
		for (uint32_t p = sel->target->item[i].p0;
		     p <= sel->target->item[i].p1 && p < nports && rc == 0; p++)
			rc = streams_of(r, p, has ? sel->target->item[i].s0 : 0,
					has ? sel->target->item[i].s1 : last, fn, arg, e);
	}
	return rc;
}

static const struct out_col what_cols[] = {{"name", "show", OF_STR},
					   {"takes", "of", OF_STR},
					   {"help", "", OF_STR}};
static const struct out_view what_view = {.rows = "results",
					  .cols = what_cols,
					  .ncols = ARRAY_SIZE(what_cols)};

static int show_what(struct cmd_run *r)
{
	static const char *const takes[] = {[TAKES_NONE] = "-",
					    [TAKES_PORTS] = "[<ports>]",
					    [TAKES_STREAMS] = "[<streams>]",
					    [TAKES_OBJECTS] = "[<streams>]"};
	json_t *doc = show_doc("show"), *list = json_array();

	for (unsigned i = 0; i < nrows; i++)
		json_array_append_new(list,
				      json_pack("{s:s, s:s, s:s}", "name", row_at(i)->word, "takes",
						takes[row_at(i)->takes], "help", row_at(i)->about));
	json_array_append_new(list,
			      json_pack("{s:s, s:s, s:s}", "name", "snapshot", "takes", "[<parts>]",
					"help", "what pages and other clients get, as JSON"));
	/* Words that are verbs of their own, such as `show page`. */
	for (unsigned i = 0; i < cmd_nverbs(r->cmd); i++) {
		const struct verb *v = cmd_verb_at(r->cmd, i);
		if (strncmp(v->name, "show ", 5) != 0)
			continue;
		struct sbuf help = {0};
		cmd_help_first(v->help, &help);
		json_array_append_new(list, json_pack("{s:s, s:s, s:s}", "name", v->name + 5,
						      "takes", "", "help", sbuf_str(&help)));
		sbuf_free(&help);
	}
	json_object_set_new(doc, "results", list);
	return show_out(r, doc, &what_view);
}

enum { WHAT, PORTS, RX };

static int show_run(struct cmd_run *r, const struct arg_val *args, struct err *e)
{
	struct show_sel sel = {.given = args[PORTS].given,
			       .target = &args[PORTS].target,
			       .col = args[PORTS].col};
	int rc = 0;

	if (!args[WHAT].given)
		return show_what(r);
	const struct show_row *row = row_at((unsigned)args[WHAT].choice);
	if (args[RX].given && row->fn != show_frame)
		return err_at(
			e, EINVAL, args[RX].col,
			"`rx` is for `show frame` alone: the last frame that came; leave it out");
	if (args[RX].given)
		return verb_show_received(r, &args[PORTS], e);
	if (!sel.given)
		app_all_ports(app_of(r), &sel.ports);
	else if (row->takes == TAKES_NONE)
		return err_at(e, EINVAL, sel.col, "`show %s` takes no ports; leave them out",
			      row->word);
	else if (sel.target->kind != NULL && row->takes != TAKES_OBJECTS)
		return err_at(e, EINVAL, sel.col,
			      "`show %s` takes no %ss; leave out what follows the '/'", row->word,
			      sel.target->kind);
	else
		rc = app_ports(app_of(r), sel.target, row->takes >= TAKES_STREAMS, &sel.ports, e);
	if (rc == 0)
		rc = row->fn(r, &sel, e);
	if (rc < 0 && e->col < 0 && sel.given)
		e->col = sel.col;
	return rc;
}

static struct arg_spec args_show[] = {
	[WHAT] = {ARG_CHOICE, "what", ARG_OPT, {.type = &vt_enum}},
	[PORTS] = {ARG_TARGETS, "ports", ARG_OPT | ARG_AFTER | ARG_OBJECTS},
	[RX] = {ARG_WORD, "rx", ARG_OPT | ARG_AFTER},
	{ARG_END},
};

static const void *shows_of(const struct face *f)
{
	return f->shows;
}

void show_make(void)
{
	rows = pieces(own_rows, shows_of, sizeof(own_rows[0]), &nrows);
	const char **words = xcalloc(nrows + 1, sizeof(*words));
	const char **about = xcalloc(nrows, sizeof(*about));

	for (unsigned i = 0; i < nrows; i++) {
		words[i] = row_at(i)->word;
		about[i] = row_at(i)->about;
	}
	args_show[WHAT].v.choices = words;
	args_show[WHAT].about = about;
}

const struct verb verb_show = {
	.name = "show",
	.args = args_show,
	.run = show_run,
	.flags = VERB_LOOKS | VERB_NO_LOAD,
	.help = "Print a result: as text, or with --json and --csv for programs. Alone: what can be shown.\n"
		"`show frame <ports> rx` is the last frame that each port has received. Nothing is kept until somebody asks: the first\n"
		"time it waits up to 1 s for a frame, and from then on the last one is kept, until `reset <ports>`. Exit code 1: of\n"
		"some port none came.",
};
