/* SPDX-License-Identifier: BSD-3-Clause */
/* Matches the words after a verb against the verb's arguments. An optional argument is tried first
 * and skipped if it does not fit. If nothing fits, the error is that of the attempt that came
 * furthest. */
#include "cmd_impl.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct matching {
	const struct cmd *c;
	const struct verb *verb;
	const struct line_words *l;
	int end_col; /* where a missing word would stand */
	struct arg_val *args;
	struct sbuf *text;            /* texts of arguments that take several words, by argument */
	const struct target *targets; /* those matched before the argument at hand; NULL: none */
	/* targets_possible: the verb has an ARG_TARGETS. look: streams need not exist. */
	bool targets_possible, look;
	unsigned best; /* the weight of the failure in rc and err, see match_keep(); 0: none yet */
	int rc;
	struct err err;
};

unsigned verb_nargs(const struct verb *v)
{
	unsigned n = 0;

	while (v->args != NULL && n < CMD_MAX_ARGS && v->args[n].kind != ARG_END)
		n++;
	return n;
}

unsigned verb_group_end(const struct arg_spec *a, unsigned i)
{
	bool word = a[i].kind == ARG_WORD;

	for (i++; i < CMD_MAX_ARGS && a[i].kind != ARG_END; i++)
		if (!(a[i].flags & ARG_AFTER) &&
		    !(word && (a[i].flags & ARG_OPT) && a[i].kind != ARG_WORD))
			break;
	return i;
}

bool verb_mixed(const struct arg_spec *a, unsigned i)
{
	return a[i].kind == ARG_WORD && (a[i].flags & ARG_MIXED) != 0;
}

const char *arg_name(const struct arg_spec *a)
{
	static const char *const names[] = {
		[ARG_END] = "",        [ARG_WORD] = "",           [ARG_TARGETS] = "ports",
		[ARG_VALUE] = "value", [ARG_SETTING] = "setting", [ARG_REST] = "text",
		[ARG_FILE] = "FILE",   [ARG_CHOICE] = "word"};

	return a->name != NULL ? a->name : names[a->kind];
}

bool looks_like_targets(const char *word)
{
	return isdigit((unsigned char)word[0]) ||
	       (word[0] == '-' && isdigit((unsigned char)word[1])) ||
	       (strncmp(word, "all", 3) == 0 && !isalnum((unsigned char)word[3]) &&
		word[3] != '_' && word[3] != '.');
}

/* Remembers a failure at word `at` unless a better one is known already. The failure that came
 * furthest is the best. Of two at the same word, the better one is `telling`: it says more than
 * that the word was not expected. Always returns false, so that the caller can return it. */
static bool match_keep(struct matching *m, unsigned at, bool telling, int rc, const struct err *e)
{
	unsigned weight = at * 2 + telling + 1;

	if (weight > m->best) {
		m->best = weight;
		m->rc = rc;
		m->err = *e;
	}
	return false;
}

static bool match_unexpected(struct matching *m, unsigned at, const char *word)
{
	struct sbuf syntax = {0};
	struct err e;

	verb_syntax(m->verb, &syntax);
	if (word != NULL)
		err_at(&e, EINVAL, m->l->w[at].col, "\"%.40s\" is not \"%s\"; syntax: %s",
		       m->l->w[at].text, word, syntax.s);
	else
		err_at(&e, EINVAL, m->l->w[at].col, "unexpected \"%.40s\"; syntax: %s",
		       m->l->w[at].text, syntax.s);
	sbuf_free(&syntax);
	return match_keep(m, at, false, -EINVAL, &e);
}

static bool match_missing(struct matching *m, unsigned at, const struct arg_spec *a)
{
	struct sbuf syntax = {0}, allowed = {0};
	struct err e;

	verb_syntax(m->verb, &syntax);
	const struct setting *s = NULL;
	for (unsigned i = 0; i < CMD_MAX_ARGS && a->kind == ARG_REST; i++)
		if (m->args[i].given && m->args[i].setting != NULL)
			s = m->args[i].setting;
	if (s != NULL)
		setting_allowed(s, &allowed);
	else if (a->kind == ARG_VALUE || a->kind == ARG_CHOICE) {
		struct vspec v = a->v;
		if (a->kind == ARG_CHOICE)
			v.type = &vt_enum;
		vspec_allowed(&v, &allowed);
	}
	if (a->flags & ARG_ALL)
		sbuf_addf(&allowed, "`%s all` means all ports", m->verb->name);
	err_at(&e, EINVAL, m->end_col, "%s%s%s is missing%s%s; syntax: %s",
	       s != NULL ? s->name : "", s != NULL ? ": the " : "",
	       a->kind == ARG_WORD ? a->name : arg_name(a),
	       allowed.len == 0         ? ""
	       : a->kind == ARG_TARGETS ? "; "
					: "; allowed: ",
	       sbuf_str(&allowed), syntax.s);
	sbuf_free(&syntax);
	sbuf_free(&allowed);
	return match_keep(m, at, true, -EINVAL, &e);
}

static bool match_value(struct matching *m, const struct arg_spec *a, struct arg_val *v,
			unsigned at)
{
	struct err e = {.col = -1};
	int rc;

	if (a->kind == ARG_CHOICE) {
		struct vspec choice = {.type = &vt_enum, .choices = a->v.choices};
		rc = vt_enum.parse(&choice, v->text, &v->choice, &e);
	} else if (a->v.type->size <= sizeof(v->v)) {
		rc = a->v.type->parse(&a->v, v->text, &v->v, &e);
	} else {
		void *tmp = xcalloc(1, a->v.type->size);
		rc = a->v.type->parse(&a->v, v->text, tmp, &e);
		free(tmp);
	}
	if (rc == 0)
		return true;
	const struct cmd_word *w = &m->l->w[at];
	struct err full;
	err_at(&full, -rc, w->col + w->quoted + (e.col > 0 ? e.col : 0), "%s: %.900s", arg_name(a),
	       e.text);
	return match_keep(m, at, true, rc, &full);
}

static void join_words(struct sbuf *text, const struct cmd_word *w, unsigned n)
{
	sbuf_reset(text);
	sbuf_add(text, "");
	for (unsigned i = 0; i < n; i++) {
		if (i > 0)
			sbuf_addc(text, ' ');
		sbuf_add(text, w[i].text);
	}
}

/* Matches two words that are one value together: "10 s", "5 %". Returns false if they are not, and
 * then nothing has changed. */
static bool match_with_unit(struct matching *m, unsigned i, unsigned at)
{
	const struct cmd_word *w = &m->l->w[at];
	struct arg_val *v = &m->args[i];
	const struct matching before = *m;

	if (m->verb->args[i].kind != ARG_VALUE || at + 1 >= m->l->n || w[0].quoted || w[1].quoted ||
	    !value_is_unit(w[1].text))
		return false;
	join_words(&m->text[i], w, 2);
	v->text = m->text[i].s;
	if (match_value(m, &m->verb->args[i], v, at))
		return true;
	*m = before;
	v->text = w->text;
	return false;
}

static bool match_targets(struct matching *m, const struct arg_spec *a, struct arg_val *v,
			  unsigned at)
{
	const struct cmd_word *w = &m->l->w[at];
	struct err e = {.col = -1};

	if ((a->flags & ARG_OPT) && !looks_like_targets(w->text))
		return false;
	int rc = target_parse(w->text, target_kinds(m->c, a), &v->target, &e);
	if (rc == 0)
		rc = target_check(m->c, &v->target, !m->look && !(a->flags & ARG_NEW), &e);
	if (rc == 0) {
		m->targets = &v->target;
		return true;
	}
	e.col = w->col + w->quoted + (e.col > 0 ? e.col : 0);
	return match_keep(m, at, true, rc, &e);
}

static bool match_setting(struct matching *m, unsigned i, unsigned at, unsigned *used)
{
	const struct cmd_word *w = &m->l->w[at];
	struct find_in in = {.how = FIND_ANY};
	struct err e = {.col = -1};

	if (m->targets_possible)
		in = find_in_targets(m->targets);
	const struct setting *s = setting_match(m->c, in, w, m->l->n - at, used, &e);

	if (s == NULL)
		return match_keep(m, at, true, -EINVAL, &e);
	int rc = setting_later(s, &e);
	e.col = w->col;
	if (rc == 0)
		rc = setting_fits(s, in, w->col, &e);
	if (rc != 0)
		return match_keep(m, at, true, rc, &e);
	join_words(&m->text[i], w, *used);
	m->args[i].text = m->text[i].s;
	m->args[i].setting = s;
	return true;
}

/* Says whether argument i matches at word `at`, and sets *used to the number of words that it
 * takes. */
static bool match_one(struct matching *m, unsigned i, unsigned at, unsigned *used)
{
	const struct arg_spec *a = &m->verb->args[i];
	const struct cmd_word *w = &m->l->w[at];
	struct arg_val *v = &m->args[i];

	*v = (struct arg_val){.col = w->col, .text = w->text, .choice = -1};
	*used = 1;
	switch (a->kind) {
	case ARG_WORD:
		if (w->quoted || w->text[0] == '\0' || !word_prefix(a->name, w->text))
			return match_unexpected(m, at, (a->flags & ARG_OPT) ? NULL : a->name);
		return true;
	case ARG_TARGETS:
		return match_targets(m, a, v, at);
	case ARG_VALUE:
	case ARG_CHOICE:
		if (!match_with_unit(m, i, at))
			return match_value(m, a, v, at);
		*used = 2;
		return true;
	case ARG_SETTING:
		return match_setting(m, i, at, used);
	case ARG_REST:
		*used = m->l->n - at;
		join_words(&m->text[i], w, *used);
		v->text = m->text[i].s;
		return true;
	case ARG_FILE:
		return true;
	case ARG_END:
		break;
	}
	return false;
}

static bool match_from(struct matching *m, unsigned i, unsigned at, bool grouped);

static void match_none(struct matching *m, unsigned i, unsigned end)
{
	for (; i < end; i++)
		m->args[i] = (struct arg_val){.col = m->end_col, .choice = -1};
}

/* Matches the arguments of one group at word `at`, and sets *next to the word behind them. */
static bool match_group(struct matching *m, unsigned i, unsigned end, unsigned at, unsigned *next)
{
	for (; i < end; i++) {
		unsigned used = 0;
		if (at == m->l->n)
			return match_missing(m, at, &m->verb->args[i]);
		if (!match_one(m, i, at, &used))
			return false;
		m->args[i].given = true;
		at += used;
	}
	*next = at;
	return true;
}

/* Matches groups that may come in any order, which are the arguments from i on, and what follows
 * them, against all words from `at` on. */
static bool match_mixed(struct matching *m, unsigned i, unsigned at)
{
	const struct arg_spec *a = m->verb->args;
	unsigned g = i, next = at;

	for (; at < m->l->n && verb_mixed(a, g); g = verb_group_end(a, g)) {
		if (m->args[g].given)
			continue;
		if (match_group(m, g, verb_group_end(a, g), at, &next) && match_mixed(m, i, next))
			return true;
		match_none(m, g, verb_group_end(a, g));
	}
	for (g = i; verb_mixed(a, g);)
		g = verb_group_end(a, g);
	return match_from(m, g, at, false);
}

/* Matches the arguments from i on against all words from `at` on. grouped: argument i belongs to an
 * optional group whose word was given. */
static bool match_from(struct matching *m, unsigned i, unsigned at, bool grouped)
{
	const struct arg_spec *a = m->verb->args;
	unsigned used = 0;

	if (i == verb_nargs(m->verb))
		return at == m->l->n ? true : match_unexpected(m, at, NULL);
	if (verb_mixed(a, i)) {
		unsigned end = i;
		while (verb_mixed(a, end))
			end = verb_group_end(a, end);
		match_none(m, i, end);
		return match_mixed(m, i, at);
	}
	bool opt = a[i].flags & ARG_OPT;
	bool needed = !opt || (grouped && a[i].kind != ARG_WORD && !(a[i].flags & ARG_AFTER));
	if (at == m->l->n && needed)
		return match_missing(m, at, &a[i]);
	const struct target *before = m->targets;
	if (at < m->l->n && match_one(m, i, at, &used)) {
		m->args[i].given = true;
		bool in_group = opt && (a[i].kind == ARG_WORD || grouped);
		if (match_from(m, i + 1, at + used, in_group))
			return true;
	}
	m->args[i] = (struct arg_val){.col = m->end_col, .choice = -1};
	m->targets = before;
	if (needed)
		return false;
	unsigned next = verb_group_end(a, i);
	match_none(m, i, next);
	return match_from(m, next, at, false);
}

int args_match(const struct cmd *c, const struct verb *v, const struct line_words *l,
	       const char *line, unsigned first, bool look, struct arg_val *args,
	       struct sbuf text[CMD_MAX_ARGS], struct err *e)
{
	struct matching m = {.c = c, .verb = v, .l = l, .args = args, .text = text, .look = look};
	size_t end = strlen(line);

	while (end > 0 && isspace((unsigned char)line[end - 1]))
		end--;
	m.end_col = (int)end + 1;
	if ((size_t)m.end_col > strlen(line))
		m.end_col = (int)strlen(line);
	for (unsigned i = 0; i < verb_nargs(v); i++)
		m.targets_possible |= v->args[i].kind == ARG_TARGETS;
	if (match_from(&m, 0, first, false))
		return 0;
	if (e != NULL)
		*e = m.err;
	return m.rc;
}
