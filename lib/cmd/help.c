/* SPDX-License-Identifier: BSD-3-Clause */
/* The verb `help`: texts that are made from the rows of both tables. */
#include "cmd_impl.h"
#include "out.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Says whether the sentence goes on after this newline. A newline in a help text may end a
 * sentence, or only a line that would become too wide. */
static bool goes_on(const char *newline, const char *begin)
{
	return newline > begin && strchr(".:;", newline[-1]) == NULL && newline[1] != '\0' &&
	       !isupper((unsigned char)newline[1]);
}

void cmd_help_first(const char *help, struct sbuf *out)
{
	for (const char *p = help; p != NULL && *p != '\0'; p++) {
		bool stop = *p == '.' && (p[1] == ' ' || p[1] == '\n');
		if (*p == '\n' && !goes_on(p, help))
			break;
		sbuf_addc(out, *p == '\n' ? ' ' : *p);
		if (stop)
			break;
	}
}

static void arg_syntax(const struct arg_spec *a, struct sbuf *out)
{
	const char *name = arg_name(a);

	if (a->kind == ARG_WORD || !islower((unsigned char)name[0]))
		sbuf_add(out, name);
	else if (a->kind == ARG_CHOICE && a->name == NULL) {
		for (unsigned i = 0; a->v.choices != NULL && a->v.choices[i] != NULL; i++)
			sbuf_addf(out, "%s%s", i ? "|" : "", a->v.choices[i]);
	} else
		sbuf_addf(out, "<%s>", name);
}

void cmd_verb_syntax(const struct verb *v, struct sbuf *out)
{
	verb_syntax(v, out);
}

void verb_syntax(const struct verb *v, struct sbuf *out)
{
	unsigned n = verb_nargs(v);

	sbuf_add(out, v->name);
	for (unsigned i = 0; i < n;) {
		bool opt = v->args[i].flags & ARG_OPT;
		unsigned end = opt ? verb_group_end(v->args, i) : i + 1;
		sbuf_add(out, opt ? " [" : " ");
		for (unsigned k = i; k < end; k++) {
			bool after = k > i && (v->args[k].flags & ARG_AFTER);
			if (k > i)
				sbuf_add(out, after ? " [" : " ");
			arg_syntax(&v->args[k], out);
			if (after)
				sbuf_addc(out, ']');
		}
		if (opt)
			sbuf_addc(out, ']');
		i = end;
	}
}

void setting_syntax(const struct setting *s, struct sbuf *out)
{
	sbuf_add(out, "set ");
	scope_before(s->scope, out);
	sbuf_addf(out, "%s <value>", s->name);
}

void setting_allowed(const struct setting *s, struct sbuf *out)
{
	if (s->v.type != NULL)
		vspec_allowed(&s->v, out);
	else
		sbuf_add(out, "as for the setting that it stands for");
}

#define MAX_COL 120 /* no line of a help text is wider */

/* Appends text, which begins at column col, and breaks it into lines that are not too wide. Lines
 * after the first begin with `indent` blanks. */
static void put_wrapped(const char *text, size_t col, size_t indent, struct sbuf *out)
{
	size_t at = col;

	for (size_t n; *text != '\0'; text += n + (text[n] == ' ')) {
		n = strcspn(text, " ");
		if (at > col && at + 1 + n > MAX_COL) {
			sbuf_addf(out, "\n%*s", (int)indent, "");
			at = col = indent;
		} else if (at > col) {
			sbuf_addc(out, ' ');
			at++;
		}
		sbuf_addn(out, text, n);
		at += n;
	}
	sbuf_addc(out, '\n');
}

static void put_aliases(const char *alias, struct sbuf *out)
{
	const char *name;
	size_t len;
	bool first = true;

	while (name_next(&alias, &name, &len)) {
		sbuf_addf(out, "%s%.*s", first ? "  also:    " : ", ", (int)len, name);
		first = false;
	}
	if (!first)
		sbuf_addc(out, '\n');
}

/* Appends a help text with each of its lines indented. */
static void put_help(const char *help, struct sbuf *out)
{
	struct sbuf line = {0};

	while (help != NULL && *help != '\0') {
		size_t n = strcspn(help, "\n");
		sbuf_reset(&line);
		sbuf_addn(&line, help, n);
		sbuf_add(out, "  ");
		put_wrapped(sbuf_str(&line), 2, 2, out);
		help += n + (help[n] == '\n');
	}
	sbuf_free(&line);
}

/* Appends the choices of an argument, each with the line about it. */
static void put_choices(const struct arg_spec *a, struct sbuf *out)
{
	int width = 9;

	for (unsigned k = 0; a->v.choices[k] != NULL; k++)
		width = (int)strlen(a->v.choices[k]) > width ? (int)strlen(a->v.choices[k]) : width;
	for (unsigned k = 0; a->v.choices[k] != NULL; k++)
		sbuf_addf(out, "  %-*s %s\n", width, a->v.choices[k], a->about[k]);
}

/* Appends a line for each scope whose objects the verb may be given. */
static void put_kinds(const struct cmd *c, const struct arg_spec *a, struct sbuf *out)
{
	for (unsigned i = 0; i < c->nscopes && target_kinds(c, a) != NULL; i++)
		if (scope_is_kind(c->scopes[i]))
			sbuf_addf(out, "  %s: %ss as port/%s.N: 0/%s.0-2,1/%s.all\n", arg_name(a),
				  c->scopes[i]->name, c->scopes[i]->name, c->scopes[i]->name,
				  c->scopes[i]->name);
}

static void verb_help_put(const struct cmd *c, const struct verb *v, struct sbuf *out)
{
	struct sbuf syntax = {0};

	verb_syntax(v, &syntax);
	put_wrapped(syntax.s, 0, 8, out);
	sbuf_free(&syntax);
	put_help(v->help, out);
	for (unsigned i = 0; i < verb_nargs(v); i++) {
		const struct arg_spec *a = &v->args[i];
		struct vspec spec = a->v;
		if (a->kind == ARG_CHOICE)
			spec.type = &vt_enum;
		if (a->kind == ARG_TARGETS)
			sbuf_addf(
				out,
				"  %s: all | N | N-M, joined by commas; streams as port/stream: 0,2-3,1/0-7\n",
				arg_name(a));
		put_kinds(c, a, out);
		if (spec.type == NULL)
			continue;
		if (a->kind == ARG_CHOICE && a->about != NULL) {
			put_choices(a, out);
			continue;
		}
		struct sbuf allowed = {0};
		sbuf_addf(out, "  %s: ", arg_name(a));
		vspec_allowed(&spec, &allowed);
		size_t col = strlen(arg_name(a)) + 4;
		put_wrapped(sbuf_str(&allowed), col, col, out);
		sbuf_free(&allowed);
	}
	put_aliases(v->alias, out);
	if (v->flags & VERB_LATER)
		sbuf_add(out, "  not in this version\n");
}

static void setting_help_put(const struct setting *s, struct sbuf *out)
{
	struct sbuf allowed = {0};

	setting_syntax(s, out);
	sbuf_addc(out, '\n');
	put_help(s->help, out);
	sbuf_add(out, "  allowed: ");
	setting_allowed(s, &allowed);
	put_wrapped(sbuf_str(&allowed), 11, 11, out);
	sbuf_free(&allowed);
	if (s->unit != NULL)
		sbuf_addf(out, "  unit:    %s\n", s->unit);
	if (s->dflt != NULL)
		sbuf_addf(out, "  default: %s\n", s->dflt);
	put_aliases(s->alias, out);
	if (s->flags & SET_RESTART)
		sbuf_add(out, "  needs a stopped port, whose device is restarted\n");
	else if (s->flags & SET_STOPPED)
		sbuf_add(out, "  needs a stopped port\n");
	if (s->flags & SET_LATER)
		sbuf_add(out, "  not in this version\n");
}

static void two_columns(const char *left, const char *right, struct sbuf *out)
{
	struct sbuf first = {0};

	if (strlen(left) <= 34) {
		sbuf_addf(out, "  %-34s  ", left);
	} else {
		sbuf_add(out, "  ");
		put_wrapped(left, 2, 10, out);
		sbuf_addf(out, "%38s", "");
	}
	cmd_help_first(right, &first);
	put_wrapped(sbuf_str(&first), 38, 38, out);
	sbuf_free(&first);
}

static size_t name_head(const char *name)
{
	return strcspn(name, ".");
}

/* Says whether a setting is a field of the header that head begins with ("udp." of "udp.dst").
 * Fields of a second header of a kind ("vlan[2].vid") are left out of lists. */
static bool is_field_of(const struct setting *s, const struct cmd_scope *scope, const char *head,
			size_t len)
{
	return s->scope == scope && strncmp(s->name, head, len) == 0 && !(s->flags & SET_LATER) &&
	       strchr(s->name, '[') == NULL;
}

/* Appends the fields of a scope. They are many, so those of one header share lines. */
static void list_fields(const struct cmd *c, const struct cmd_scope *scope, struct sbuf *out)
{
	for (unsigned i = 0; i < c->nsettings; i++) {
		const char *name = c->settings[i]->name;
		size_t head = name_head(name) + 1, col = 0;
		bool seen =
			name[head - 1] == '\0' || !is_field_of(c->settings[i], scope, name, head);
		for (unsigned k = 0; k < i && !seen; k++)
			seen = is_field_of(c->settings[k], scope, name, head);
		for (unsigned k = i; k < c->nsettings && !seen; k++) {
			const struct setting *s = c->settings[k];
			size_t len = strlen(s->name) + 1;
			if (!is_field_of(s, scope, name, head))
				continue;
			bool first = col == 0;
			if (first || col + len > 79) {
				col = first ? 2 : 4;
				sbuf_addf(out, "%s%*s", first ? "" : "\n", (int)col, "");
			} else {
				sbuf_addc(out, ' ');
			}
			sbuf_add(out, s->name);
			col += len;
		}
		if (col > 0)
			sbuf_addc(out, '\n');
	}
}

#define NAMES_COLUMNS 79

void cmd_names_add(struct cmd_names *l, const char *name, size_t len)
{
	for (unsigned i = 0; i < l->n; i++)
		if (l->len[i] == len && strncmp(l->name[i], name, len) == 0)
			return;
	l->name = xrealloc(l->name, (l->n + 1) * sizeof(*l->name));
	l->len = xrealloc(l->len, (l->n + 1) * sizeof(*l->len));
	l->name[l->n] = name;
	l->len[l->n++] = len;
}

void cmd_names_put(struct cmd_names *l, unsigned columns, struct sbuf *out)
{
	size_t wide = 0;

	for (unsigned i = 0; i < l->n; i++)
		if (l->len[i] > wide && l->len[i] <= columns / 2)
			wide = l->len[i];
	unsigned across = columns / (unsigned)(wide + 2);
	across = across > 0 ? across : 1;
	for (unsigned i = 0; i < l->n; i++) {
		bool last = i + 1 == l->n || (i + 1) % across == 0;
		sbuf_addf(out, "  %.*s", (int)l->len[i], l->name[i]);
		if (last)
			sbuf_addc(out, '\n');
		else
			sbuf_addf(out, "%*s", l->len[i] < wide ? (int)(wide - l->len[i]) : 0, "");
	}
	free(l->name);
	free(l->len);
	*l = (struct cmd_names){0};
}

/* Appends the heading of the settings of a scope. */
static void put_title(const struct cmd_scope *scope, struct sbuf *out)
{
	bool vowel = strchr("aeiou", scope->name[0]) != NULL;

	if (scope->level == LEVEL_PROGRAM)
		sbuf_add(out, "\nSettings of the program: set ");
	else
		sbuf_addf(out, "\nSettings of %s %s: set ", vowel ? "an" : "a", scope->name);
	scope_before(scope, out);
	sbuf_add(out, "<setting> <value>");
	if (scope->bare)
		sbuf_addf(out, "; a bare port means its %s 0", scope->name);
	sbuf_addc(out, '\n');
}

static void list_settings(const struct cmd *c, const struct cmd_scope *scope, bool whole,
			  struct sbuf *out)
{
	struct cmd_names names = {0};
	bool any = false;

	for (unsigned i = 0; i < c->nsettings; i++) {
		const struct setting *s = c->settings[i];
		size_t head = name_head(s->name);
		if (s->scope != scope || (s->flags & SET_LATER))
			continue;
		if (!any)
			put_title(scope, out);
		any = true;
		if (whole && s->name[head] == '\0')
			two_columns(s->name, s->help, out);
		else if (!whole && strchr(s->name, '[') == NULL)
			cmd_names_add(&names, s->name, s->name[head] == '\0' ? head : head + 1);
	}
	cmd_names_put(&names, NAMES_COLUMNS, out);
	if (any && whole)
		list_fields(c, scope, out);
}

/* Appends what `help` without a word prints: all names, on one screen or two. */
static void help_names(const struct cmd *c, struct sbuf *out)
{
	struct cmd_names names = {0};

	sbuf_add(
		out,
		"Commands; words may be shortened while they stay unique, \";\" separates, # begins a comment\n");
	for (unsigned i = 0; i < c->nverbs; i++)
		if (!(c->verbs[i]->flags & (VERB_HIDDEN | VERB_LATER)))
			cmd_names_add(&names, c->verbs[i]->name, strlen(c->verbs[i]->name));
	cmd_names_put(&names, NAMES_COLUMNS, out);
	for (unsigned i = 0; i < c->nscopes; i++)
		list_settings(c, c->scopes[i], false, out);
	sbuf_add(
		out,
		"\n\"help WORD\" tells about a command or a setting, \"help udp.\" about all of a header, \"help all\" a line about each.\n");
}

static void help_list(const struct cmd *c, struct sbuf *out)
{
	struct sbuf syntax = {0};

	sbuf_add(
		out,
		"Commands; words may be shortened while they stay unique, \";\" separates, # begins a comment\n");
	for (unsigned i = 0; i < c->nverbs; i++) {
		if (c->verbs[i]->flags & (VERB_HIDDEN | VERB_LATER))
			continue;
		sbuf_reset(&syntax);
		verb_syntax(c->verbs[i], &syntax);
		two_columns(syntax.s, c->verbs[i]->help, out);
	}
	for (unsigned i = 0; i < c->nscopes; i++)
		list_settings(c, c->scopes[i], true, out);
	sbuf_add(out, "\n\"help <word>\" tells more about a command or a setting.\n");
	sbuf_free(&syntax);
}

static bool has_name(const char *list, const char *word)
{
	const char *name;
	size_t len;

	while (name_next(&list, &name, &len))
		if (strlen(word) == len && strncmp(name, word, len) == 0)
			return true;
	return false;
}

/* The rows that a word names. help_find() allocates both arrays, found_free() frees them. */
struct found {
	const struct verb **verbs;
	const struct setting **settings;
	unsigned nverbs, nsettings;
};

static void found_free(struct found *f)
{
	free(f->verbs);
	free(f->settings);
}

/* Finds all rows whose name or alias is the word or, if exact is false, whose name begins with it.
 * Returns their number. There may be several: a verb and a setting, and settings of several
 * scopes. */
static unsigned find_rows(const struct cmd *c, const char *word, bool exact, struct found *f)
{
	for (unsigned i = 0; i < c->nverbs; i++) {
		const struct verb *v = c->verbs[i];
		if (exact ? has_name(v->name, word) || has_name(v->alias, word)
			  : word_prefix(v->name, word) && !(v->flags & VERB_HIDDEN))
			f->verbs[f->nverbs++] = v;
	}
	for (unsigned i = 0; i < c->nsettings; i++) {
		const struct setting *s = c->settings[i];
		if (exact ? has_name(s->name, word) || has_name(s->alias, word)
			  : word_prefix(s->name, word))
			f->settings[f->nsettings++] = s;
	}
	return f->nverbs + f->nsettings;
}

static int help_find(struct cmd *c, const char *word, struct found *f, struct err *e)
{
	struct cmd_word w = {.text = word};
	struct err own, verb_err = {.col = -1};
	unsigned used;

	*f = (struct found){.verbs = xcalloc(c->nverbs, sizeof(*f->verbs)),
			    .settings = xcalloc(c->nsettings, sizeof(*f->settings))};
	if (word[0] != '\0' &&
	    (find_rows(c, word, true, f) > 0 || find_rows(c, word, false, f) > 0))
		return 0;
	const struct setting *s = cmd_setting_find(c, word, &own);
	if (s != NULL) {
		f->settings[f->nsettings++] = s;
		return 0;
	}
	/* for "show frame" the help of show is given, which tells about its words */
	size_t first = strcspn(word, " ");
	for (unsigned i = 0; word[first] != '\0' && i < c->nverbs; i++)
		if (strlen(c->verbs[i]->name) == first &&
		    strncmp(c->verbs[i]->name, word, first) == 0)
			f->verbs[f->nverbs++] = c->verbs[i];
	if (f->nverbs > 0)
		return 0;
	/* the nearest verb is suggested before the nearest setting */
	verb_match(c, &w, 1, &used, &verb_err);
	found_free(f);
	if (strstr(verb_err.text, "did you mean") != NULL && strchr(word, ' ') == NULL)
		return err_set(e, EINVAL, "%s", verb_err.text);
	if (strstr(own.text, "no setting") != own.text || strstr(own.text, "did you mean") != NULL)
		return err_set(e, EINVAL, "%s", own.text);
	return err_set(e, EINVAL, "no command or setting \"%.40s\"; \"help\" lists all", word);
}

/* Appends the help of the rows: in full if there are at most three, else one line about each. */
static void found_put(const struct cmd *c, const struct found *f, struct sbuf *out)
{
	bool full = f->nverbs + f->nsettings <= 3;
	struct sbuf syntax = {0};

	for (unsigned i = 0; i < f->nverbs; i++) {
		sbuf_reset(&syntax);
		verb_syntax(f->verbs[i], &syntax);
		if (full)
			verb_help_put(c, f->verbs[i], out);
		else
			two_columns(syntax.s, f->verbs[i]->help, out);
	}
	for (unsigned i = 0; i < f->nsettings; i++) {
		if (full)
			setting_help_put(f->settings[i], out);
		else
			two_columns(f->settings[i]->name, f->settings[i]->help, out);
	}
	sbuf_free(&syntax);
}

void cmd_help(struct cmd *c, const char *word, struct sbuf *out)
{
	struct found f;
	struct err e;

	if (word == NULL) {
		help_names(c, out);
	} else if (strcmp(word, "all") == 0) {
		help_list(c, out);
	} else if (help_find(c, word, &f, &e) != 0) {
		sbuf_addf(out, "%s\n", e.text);
	} else {
		found_put(c, &f, out);
		found_free(&f);
	}
}

static void help_json(struct cmd_run *r, const struct found *f, const char *word)
{
	json_t *o = rows_json(f->verbs, f->nverbs, f->settings, f->nsettings);

	json_object_set_new(o, "help", word != NULL ? json_string(word) : json_null());
	char *text = json_dumps(o, JSON_COMPACT);
	sbuf_addf(r->out, "%s\n", text != NULL ? text : "{}");
	free(text);
	cmd_result(r, o);
	json_decref(o);
}

static int verb_help_run(struct cmd_run *r, const struct arg_val *args, struct err *e)
{
	struct cmd *c = r->cmd;
	struct found f = {c->verbs, c->settings, c->nverbs, c->nsettings};
	const char *word = args[0].given ? args[0].text : NULL;
	bool all = word != NULL && strcmp(word, "all") == 0;

	word = all ? NULL : word;
	if (word != NULL && help_find(c, word, &f, e) != 0) {
		if (e != NULL)
			e->col = args[0].col;
		return -EINVAL;
	}
	if (r->out_mode == OUT_JSON)
		help_json(r, &f, word);
	else if (all)
		help_list(c, r->out);
	else if (word == NULL)
		help_names(c, r->out);
	else
		found_put(c, &f, r->out);
	if (word != NULL)
		found_free(&f);
	return VERB_DONE;
}

static const struct arg_spec help_args[] = {
	{ARG_REST, "word", .flags = ARG_OPT},
	{ARG_END},
};

const struct verb verb_help = {
	.name = "help",
	.alias = "?",
	.args = help_args,
	.help = "List the commands and settings, or tell about one of them.\n`help all` has a line about each.",
	.flags = VERB_NO_LOAD | VERB_LOOKS,
	.run = verb_help_run,
};
