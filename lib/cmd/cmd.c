/* SPDX-License-Identifier: BSD-3-Clause */
/* Running a command line: it is split, matched against the tables, and its verb is run and
 * polled. */
#include "cmd_impl.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct cmd *cmd_new(const struct setting *const *settings, unsigned nsettings,
		    const struct verb *const *verbs, unsigned nverbs, const struct cmd_host *host)
{
	struct cmd *c = xcalloc(1, sizeof(*c));

	c->settings = xcalloc(nsettings, sizeof(*settings));
	c->verbs = xcalloc(nverbs, sizeof(*verbs));
	for (unsigned i = 0; i < nsettings; i++)
		c->settings[i] = settings[i];
	for (unsigned i = 0; i < nverbs; i++)
		c->verbs[i] = verbs[i];
	c->nsettings = nsettings;
	c->nverbs = nverbs;
	for (unsigned i = 0; i < nsettings; i++) {
		names_add(&c->setting_names, settings[i]->name, false, i);
		names_add(&c->setting_names, settings[i]->alias, true, i);
	}
	for (unsigned i = 0; i < nverbs; i++) {
		names_add(&c->verb_names, verbs[i]->name, false, i);
		names_add(&c->verb_names, verbs[i]->alias, true, i);
	}
	names_index(&c->setting_names);
	names_index(&c->verb_names);
	scopes_collect(c);
	if (host != NULL)
		c->host = *host;
	return c;
}

void cmd_free(struct cmd *c)
{
	if (c == NULL)
		return;
	names_free(&c->setting_names);
	names_free(&c->verb_names);
	scopes_free(c);
	free(c->settings);
	free(c->verbs);
	free(c);
}

unsigned cmd_nsettings(const struct cmd *c)
{
	return c->nsettings;
}

const struct setting *cmd_setting_at(const struct cmd *c, unsigned i)
{
	return i < c->nsettings ? c->settings[i] : NULL;
}

unsigned cmd_nverbs(const struct cmd *c)
{
	return c->nverbs;
}

const struct verb *cmd_verb_at(const struct cmd *c, unsigned i)
{
	return i < c->nverbs ? c->verbs[i] : NULL;
}

/* A parsed line: its words, its verb, and its arguments as values. */
struct parsed {
	struct line_words l;
	const struct verb *verb; /* NULL: empty line */
	struct arg_val args[CMD_MAX_ARGS + 1];
	struct sbuf text[CMD_MAX_ARGS];
};

static void parsed_free(struct parsed *p)
{
	line_free(&p->l);
	for (unsigned i = 0; i < CMD_MAX_ARGS; i++)
		sbuf_free(&p->text[i]);
	free(p);
}

static int no_load(const char *word, int col, struct err *e)
{
	return err_at(
		e, EINVAL, col,
		"%s is not allowed in a file that is loaded: it holds settings and streams; -f FILE runs all commands",
		word);
}

/* Parses a line into *p. With `look` the line is only checked: its streams need not exist, since a
 * line before it may make them, and verbs and words that `load` does not allow are refused. Returns
 * 0 or -errno with *e; p->verb stays NULL for an empty line. */
static int cmd_parse(const struct cmd *c, const char *line, bool look, struct parsed *p,
		     struct err *e)
{
	unsigned used = 1;
	int rc = line_split(line, &p->l, e);

	if (rc != 0 || p->l.n == 0)
		return rc;
	const struct verb *v = verb_match(c, p->l.w, p->l.n, &used, e);
	if (v == NULL)
		return -EINVAL;
	if (v->flags & VERB_LATER)
		return err_at(e, ENOTSUP, p->l.w[0].col, "%s: " CMD_LATER, v->name);
	if (look && (v->flags & VERB_NO_LOAD))
		return no_load(v->name, p->l.w[0].col, e);
	rc = args_match(c, v, &p->l, line, used, look, p->args, p->text, e);
	for (unsigned i = 0; rc == 0 && look && i < verb_nargs(v); i++)
		if (p->args[i].given && (v->args[i].flags & ARG_NO_LOAD))
			return no_load(v->args[i].name, p->args[i].col, e);
	if (rc == 0)
		p->verb = v;
	return rc;
}

int cmd_exec(struct cmd *c, struct cmd_run *r, const char *line, struct err *e)
{
	struct parsed *p = xcalloc(1, sizeof(*p));

	r->cmd = c;
	r->verb = NULL;
	r->line = line;
	r->exit_code = 0;
	int rc = cmd_parse(c, line, false, p, e);
	if (rc == 0 && p->verb != NULL) {
		memset(r->state, 0, sizeof(r->state));
		r->verb = p->verb;
		rc = p->verb->run(r, p->args, e);
	}
	parsed_free(p);
	return rc;
}

int cmd_poll(struct cmd_run *r, struct err *e)
{
	return r->verb != NULL && r->verb->poll != NULL ? r->verb->poll(r, e) : VERB_DONE;
}

bool cmd_run_progress(const struct cmd_run *r, struct cmd_progress *out)
{
	*out = (struct cmd_progress){.share = (double)NAN, .left_ns = CMD_LEFT_UNKNOWN};
	return r->verb != NULL && r->verb->progress != NULL && r->verb->progress(r, out);
}

void cmd_progress_time(struct cmd_progress *p, uint64_t gone_ns, uint64_t all_ns)
{
	if (gone_ns > all_ns)
		gone_ns = all_ns;
	p->share = all_ns > 0 ? (double)gone_ns / (double)all_ns : 1;
	p->left_ns = all_ns - gone_ns;
}

void cmd_progress_span(uint64_t ns, struct sbuf *out)
{
	const uint64_t second = 1000000000, tenth = second / 10;
	uint64_t s = (ns + second / 2) / second;

	if ((ns + tenth / 2) / tenth < 100)
		sbuf_addf(out, "%.1f s", (double)((ns + tenth / 2) / tenth) / 10);
	else if (s < 60)
		sbuf_addf(out, "%" PRIu64 " s", s);
	else if (s < 3600)
		sbuf_addf(out, "%" PRIu64 " min %" PRIu64 " s", s / 60, s % 60);
	else
		sbuf_addf(out, "%" PRIu64 " h %" PRIu64 " min", s / 3600, s % 3600 / 60);
}

void cmd_progress_spans(uint64_t gone_ns, uint64_t all_ns, struct sbuf *out)
{
	cmd_progress_span(gone_ns, out);
	sbuf_add(out, " of ");
	cmd_progress_span(all_ns, out);
}

void cmd_result(struct cmd_run *r, json_t *doc)
{
	size_t n = json_array_size(r->results);

	if (n > 0 && json_array_get(r->results, n - 1) == doc)
		return;
	if (r->results == NULL)
		r->results = json_array();
	json_array_append(r->results, doc);
}

void cmd_cancel(struct cmd_run *r)
{
	if (r->verb != NULL && r->verb->cancel != NULL)
		r->verb->cancel(r);
}

/* Checks the values in a line: an ARG_REST after an ARG_SETTING is a value of that setting,
 * whatever the verb is. */
static int check_values(struct cmd *c, const struct parsed *p, const char *line, struct err *e)
{
	const struct target *t = NULL;
	bool in_value;

	for (unsigned i = 0; i + 1 < verb_nargs(p->verb); i++) {
		if (p->verb->args[i].kind == ARG_TARGETS && p->args[i].given)
			t = &p->args[i].target;
		if (p->args[i].setting == NULL || p->verb->args[i + 1].kind != ARG_REST ||
		    !p->args[i + 1].given)
			continue;
		struct err own = {.col = -1};
		int rc = set_apply(c, t, p->args[i].setting, p->args[i + 1].text, SET_LOOK, NULL,
				   &in_value, &own);
		if (rc == 0)
			continue;
		own.col = in_value ? line_rest_col(line, p->args[i + 1].col,
						   own.col > 0 ? own.col : 0)
				   : p->args[i].col;
		if (e != NULL)
			*e = own;
		return rc;
	}
	return 0;
}

int cmd_check(struct cmd *c, const char *line, struct err *e)
{
	struct parsed *p = xcalloc(1, sizeof(*p));
	int rc = cmd_parse(c, line, true, p, e);

	if (rc == 0 && p->verb != NULL)
		rc = check_values(c, p, line, e);
	parsed_free(p);
	return rc;
}

bool cmd_look(const struct cmd *c, const char *line, struct cmd_seen *out)
{
	struct parsed *p = xcalloc(1, sizeof(*p));
	unsigned used = 1;
	struct err e;

	*out = (struct cmd_seen){0};
	if (line_split(line, &p->l, &e) == 0 && p->l.n > 0)
		p->verb = verb_match(c, p->l.w, p->l.n, &used, &e);
	bool ok = p->verb != NULL &&
		  args_match(c, p->verb, &p->l, line, used, true, p->args, p->text, &e) == 0;
	for (unsigned i = 0; ok && i < verb_nargs(p->verb); i++) {
		if (p->args[i].given && p->args[i].setting != NULL)
			out->setting = p->args[i].setting;
		if (p->args[i].given && p->verb->args[i].kind == ARG_CHOICE)
			out->choice = p->verb->args[i].v.choices[p->args[i].choice];
	}
	out->verb = ok ? p->verb : NULL;
	parsed_free(p);
	return ok;
}
