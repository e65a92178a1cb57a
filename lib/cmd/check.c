/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks that each row of the tables obeys the rules of rows. Tests call it. */
#include "cmd_impl.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct checking {
	struct sbuf *out;
	int problems;
};

static void WR_PRINTF(3, 4) problem(struct checking *k, const char *row, const char *fmt, ...)
{
	char text[600];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	sbuf_addf(k->out, "%s: %s\n", row, text);
	k->problems++;
}

static bool list_has(const char *list, const char *word, size_t wn)
{
	const char *name;
	size_t len;

	while (name_next(&list, &name, &len))
		if (len == wn && strncmp(name, word, len) == 0)
			return true;
	return false;
}

/* Complains if a name of row i is also a name of a row before it. `of` gives the name of row j if
 * the names of rows i and j must differ, else NULL. */
static void check_names(struct checking *k, const struct cmd *c, const struct names *t, unsigned i,
			const char *const lists[2],
			const char *(*of)(const struct cmd *c, unsigned i, unsigned j))
{
	struct line_words l;
	size_t len;

	for (unsigned a = 0; a < 2; a++) {
		const char *list = lists[a], *name;
		while (name_next(&list, &name, &len)) {
			struct sbuf text = {0};
			sbuf_addn(&text, name, len);
			if (line_split(text.s, &l, NULL) == 0) {
				for (const struct name *e = names_find(t, l.w, l.n); e != NULL;
				     e = names_more(t, e, l.w)) {
					const char *other = e->row < i ? of(c, i, e->row) : NULL;
					if (other != NULL)
						problem(k, lists[0], "\"%s\" is also a name of %s",
							text.s, other);
				}
				line_free(&l);
			}
			sbuf_free(&text);
		}
	}
}

static const char *same_scope(const struct cmd *c, unsigned i, unsigned j)
{
	return c->settings[i]->scope == c->settings[j]->scope ? c->settings[j]->name : NULL;
}

static const char *any_verb(const struct cmd *c, unsigned i, unsigned j)
{
	(void)i;
	return c->verbs[j]->name;
}

struct wanted {
	const char *word;
	bool found;
};

static void check_want(void *arg, const char *word)
{
	struct wanted *w = arg;

	w->found |= strcmp(w->word, word) == 0;
}

static void check_choices(struct checking *k, const char *row, const struct vspec *v)
{
	for (unsigned i = 0; v->choices != NULL && v->choices[i] != NULL; i++) {
		struct wanted w = {.word = v->choices[i]};
		if (v->choices[i][0] == '\0')
			continue;
		if (v->type->complete != NULL)
			v->type->complete(v, w.word, check_want, &w);
		if (!w.found)
			problem(k, row, "choice \"%s\" does not complete", w.word);
		for (unsigned j = 0; j < i; j++)
			if (strcmp(v->choices[j], w.word) == 0)
				problem(k, row, "choice \"%s\" twice", w.word);
	}
}

static void check_spec(struct checking *k, const char *row, const struct vspec *v)
{
	if (v->type->name == NULL || v->type->syntax == NULL || v->type->size == 0 ||
	    v->type->parse == NULL || v->type->print == NULL) {
		problem(k, row, "its type is incomplete");
		return;
	}
	if (v->max < v->min)
		problem(k, row, "its limits run backwards");
	if (v->type == &vt_enum && (v->choices == NULL || v->choices[0] == NULL))
		problem(k, row, "a choice without choices");
	check_choices(k, row, v);
}

/* Complains unless the default parses and its printed form parses to a value that prints the
 * same. */
static void check_default(struct checking *k, const struct setting *s)
{
	const struct vtype *t = s->v.type;
	void *val = xcalloc(1, t->size), *again = xcalloc(1, t->size);
	struct sbuf text = {0}, text2 = {0};
	struct err e;

	if (t->parse(&s->v, s->dflt, val, &e) != 0) {
		problem(k, s->name, "its default does not parse: %s", e.text);
	} else {
		t->print(&s->v, val, &text);
		if (t->parse(&s->v, sbuf_str(&text), again, &e) != 0)
			problem(k, s->name, "its printed default does not parse: %s", e.text);
		else
			t->print(&s->v, again, &text2);
		if (strcmp(sbuf_str(&text), sbuf_str(&text2)) != 0)
			problem(k, s->name, "its default prints as \"%s\", then as \"%s\"",
				sbuf_str(&text), sbuf_str(&text2));
	}
	sbuf_free(&text);
	sbuf_free(&text2);
	free(val);
	free(again);
}

static void check_setting(struct checking *k, const struct cmd *c, unsigned i)
{
	const struct setting *s = c->settings[i];

	if (s->help == NULL || s->help[0] == '\0')
		problem(k, s->name, "no help");
	if (strpbrk(s->name, " ,;#\"'{\n") != NULL)
		problem(k, s->name, "a name is one plain word");
	if (looks_like_targets(s->name) && s->scope->level == LEVEL_PROGRAM)
		problem(k, s->name, "its name reads as a port list");
	check_names(k, c, &c->setting_names, i, (const char *const[]){s->name, s->alias},
		    same_scope);
	if (list_has(s->alias, s->name, strlen(s->name)))
		problem(k, s->name, "its alias repeats its name");
	if (s->store != NULL && (s->store->put == NULL || s->store->get == NULL))
		problem(k, s->name, "its store lacks put or get");
	if (s->v.type == NULL) {
		if (s->resolve == NULL && !(s->flags & SET_LATER))
			problem(k, s->name, "no type");
		return;
	}
	check_spec(k, s->name, &s->v);
	if (s->dflt != NULL)
		check_default(k, s);
	else if (s->store == NULL && s->resolve == NULL && !(s->flags & SET_LATER))
		problem(k, s->name, "no default");
}

static void check_args(struct checking *k, const struct verb *v)
{
	unsigned n = verb_nargs(v);

	if (n == CMD_MAX_ARGS)
		problem(k, v->name, "more than %d arguments", CMD_MAX_ARGS - 1);
	for (unsigned i = 0; i < n; i++) {
		const struct arg_spec *a = &v->args[i];
		if (a->kind == ARG_WORD && (a->name == NULL || a->name[0] == '\0'))
			problem(k, v->name, "argument %u: a word without text", i);
		if (a->kind == ARG_REST && i + 1 < n)
			problem(k, v->name, "argument %u takes the rest, but more follows", i);
		if (a->kind == ARG_WORD && (a->flags & ARG_OPT) && i + 1 < n &&
		    !(v->args[i + 1].flags & ARG_OPT) && v->args[i + 1].kind != ARG_WORD)
			problem(k, v->name,
				"argument %u: what follows an optional word must be marked optional too",
				i);
		if (a->kind == ARG_VALUE && a->v.type == NULL) {
			problem(k, v->name, "argument %u: a value without a type", i);
		} else if (a->kind == ARG_VALUE) {
			check_spec(k, v->name, &a->v);
		} else if (a->kind == ARG_CHOICE) {
			struct vspec choice = {.type = &vt_enum, .choices = a->v.choices};
			check_spec(k, v->name, &choice);
		}
	}
}

static void check_verb(struct checking *k, const struct cmd *c, unsigned i)
{
	const struct verb *v = c->verbs[i];

	if (v->help == NULL || v->help[0] == '\0')
		problem(k, v->name, "no help");
	check_names(k, c, &c->verb_names, i, (const char *const[]){v->name, v->alias}, any_verb);
	if (name_words(v->name, strlen(v->name)) > 2)
		problem(k, v->name, "a command's name has one word or two");
	if (list_has(v->alias, v->name, strlen(v->name)))
		problem(k, v->name, "its alias repeats its name");
	if (v->run == NULL && !(v->flags & VERB_LATER))
		problem(k, v->name, "nothing to run");
	check_args(k, v);
}

/* Complains if a scope before this one takes the place that only one can have. */
static void check_only(struct checking *k, const struct cmd *c, unsigned at)
{
	for (unsigned i = 0; i < at; i++)
		if (!scope_is_kind(c->scopes[i]) && c->scopes[i]->level == c->scopes[at]->level)
			problem(k, c->scopes[at]->name,
				"its objects would be written as those of %s", c->scopes[i]->name);
}

/* Says whether a setting that ports or their objects have has this name. */
static bool check_taken(const struct cmd *c, const char *name)
{
	struct cmd_word w = {.text = name};

	for (const struct name *e = names_find(&c->setting_names, &w, 1); e != NULL;
	     e = names_more(&c->setting_names, e, &w))
		if (c->settings[e->row]->scope->level != LEVEL_PROGRAM)
			return true;
	return false;
}

/* Complains if another row of the tables has the name of a scope whose objects are written with it,
 * or its plural. In Lua a port has both, beside its settings and verbs. */
static void check_kind(struct checking *k, const struct cmd *c, unsigned at)
{
	const struct cmd_scope *scope = c->scopes[at];
	struct cmd_word w = {.text = scope->name};
	struct sbuf many = {0};

	for (unsigned i = 0; i < at; i++)
		if (strcmp(c->scopes[i]->name, scope->name) == 0)
			problem(k, scope->name, "two scopes of this name");
	if (!islower((unsigned char)scope->name[0]) ||
	    scope->name[strspn(scope->name, "abcdefghijklmnopqrstuvwxyz0123456789_")] != '\0' ||
	    strcmp(scope->name, "all") == 0)
		problem(k, scope->name, "the name of a scope is one plain word");
	sbuf_addf(&many, "%ss", scope->name);
	if (check_taken(c, scope->name) || check_taken(c, many.s))
		problem(k, scope->name, "a scope and a setting of this name, or of its plural");
	sbuf_free(&many);
	if (names_find(&c->verb_names, &w, 1) != NULL)
		problem(k, scope->name, "a scope and a command of this name");
}

int cmd_table_check(const struct cmd *c, struct sbuf *problems)
{
	struct checking k = {.out = problems};

	for (unsigned i = 0; i < c->nsettings; i++)
		check_setting(&k, c, i);
	for (unsigned i = 0; i < c->nverbs; i++)
		check_verb(&k, c, i);
	for (unsigned i = 0; i < c->nscopes; i++)
		if (scope_is_kind(c->scopes[i]))
			check_kind(&k, c, i);
		else
			check_only(&k, c, i);
	return k.problems;
}
