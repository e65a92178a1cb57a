/* SPDX-License-Identifier: BSD-3-Clause */
/* Completes names in a line of Lua. They are taken from the tables alone, and nothing is run. */
#include "script_int.h"

#include <ctype.h>
#include <string.h>

struct names {
	struct cmd *cmd;
	const char *head; /* the expression up to its last name: "wr.port[0].", head_len bytes */
	size_t head_len;
	const char *part; /* the part of that name that is typed already */
	void (*offer)(void *arg, const char *word, const char *help);
	void *arg;
};

static bool in_chain(char c)
{
	return isalnum((unsigned char)c) || strchr("_.:[]\"", c) != NULL;
}

/* Offers a name, with the texts before and after it, if it begins with what is typed already. */
static void complete_give(struct names *k, const char *before, size_t len, const char *name,
			  const char *after, const char *help)
{
	struct sbuf word = {0}, first = {0};

	if (strncmp(name, k->part, strlen(k->part)) != 0)
		return;
	sbuf_addn(&word, before, len);
	sbuf_addf(&word, "%s%s", name, after);
	if (help != NULL)
		sbuf_addn(&first, help, strcspn(help, "\n"));
	k->offer(k->arg, word.s, help != NULL ? sbuf_str(&first) : NULL);
	sbuf_free(&word);
	sbuf_free(&first);
}

static void give_name(struct names *k, const char *name, const char *help)
{
	complete_give(k, k->head, k->head_len, name, "", help);
}

static bool is_identifier(const char *name)
{
	for (const char *p = name; *p != '\0'; p++)
		if (!isalnum((unsigned char)*p) && *p != '_')
			return false;
	return !isdigit((unsigned char)name[0]);
}

/* Offers a setting. A name that is no identifier of Lua, such as "udp.dst", is put in brackets,
 * which take the place of the dot before it. */
static void give_setting(struct names *k, const struct setting *s)
{
	struct sbuf before = {0};

	if (s->flags & SET_LATER)
		return;
	bool open = k->head_len > 0 && k->head[k->head_len - 1] == '"';
	if (is_identifier(s->name) && !open) {
		give_name(k, s->name, s->help);
		return;
	}
	sbuf_addn(&before, k->head, k->head_len - (open ? 2 : 1));
	sbuf_add(&before, "[\"");
	if (k->part[0] != '\0' || open)
		complete_give(k, before.s, before.len, s->name, "\"]", s->help);
	sbuf_free(&before);
}

/* What a setting has to belong to, to be offered: a scope of which `of` is true. */
struct of_scopes {
	bool program, port, bare;
	const struct cmd_scope *scope; /* this one too; may be NULL */
};

static bool is_of(const struct cmd_scope *scope, const struct of_scopes *of)
{
	if (scope->level == LEVEL_PROGRAM)
		return of->program;
	if (scope->level == LEVEL_PORT)
		return of->port;
	return scope == of->scope || (scope->bare && of->bare);
}

static void give_settings(struct names *k, const struct of_scopes *of)
{
	for (unsigned i = 0; i < cmd_nsettings(k->cmd); i++) {
		const struct setting *s = cmd_setting_at(k->cmd, i);
		if (is_of(s->scope, of))
			give_setting(k, s);
	}
}

/* Offers verbs. If first is not NULL, it offers the second words of those verbs whose first word is
 * this one. */
static void give_verbs(struct names *k, const char *first)
{
	for (unsigned i = 0; i < cmd_nverbs(k->cmd); i++) {
		const struct verb *v = cmd_verb_at(k->cmd, i);
		struct sbuf key = {0}, one = {0};
		const char *blank = strchr(v->name, ' ');
		size_t n = blank != NULL ? (size_t)(blank - v->name) : 0;
		sbuf_addn(&one, v->name, n);
		args_key(first == NULL ? v->name : blank != NULL ? blank + 1 : "", &key);
		if (!(v->flags & (VERB_LATER | VERB_HIDDEN)) && key.len > 0 &&
		    (first == NULL || strcmp(sbuf_str(&one), first) == 0))
			give_name(k, key.s, v->help);
		sbuf_free(&key);
		sbuf_free(&one);
	}
}

static bool head_is(const struct names *k, const char *text)
{
	return k->head_len == strlen(text) && memcmp(k->head, text, k->head_len) == 0;
}

/* Says whether the head goes on behind an object of the scope: "wr.port[0].stream[3].". */
static bool is_object(const char *head, const struct cmd_scope *scope)
{
	struct sbuf list = {0};

	sbuf_addf(&list, "].%s[", scope->name);
	bool is = scope->level == LEVEL_NUMBERED && strstr(head, list.s) != NULL;
	sbuf_free(&list);
	return is;
}

/* Offers what a port has for each scope whose objects have numbers: stream, streams. */
static void give_lists(struct names *k)
{
	for (unsigned i = 0; i < cmd_nscopes(k->cmd); i++) {
		const struct cmd_scope *scope = cmd_scope_at(k->cmd, i);
		struct sbuf many = {0};
		if (scope->level != LEVEL_NUMBERED)
			continue;
		sbuf_addf(&many, "%ss", scope->name);
		give_name(k, scope->name, NULL);
		give_name(k, many.s, NULL);
		sbuf_free(&many);
	}
}

static void give_names(struct names *k, const char *const *names)
{
	for (; *names != NULL; names++)
		give_name(k, *names, NULL);
}

/* Offers what a port or an object of it has, after "wr.port[0]." or "wr.port[0].stream[3].". */
static void give_place(struct names *k)
{
	static const char *const of_port[] = {"set",   "start", "stop",   "wait", "clear",
					      "reset", "add",   "number", NULL};
	static const char *const of_stream[] = {"set", "copy", "delete", "move", NULL};
	static const char *const of_object[] = {"id", "port", NULL};
	const struct cmd_scope *scope = NULL;
	struct sbuf head = {0};

	sbuf_addn(&head, k->head, k->head_len);
	for (unsigned i = 0; i < cmd_nscopes(k->cmd) && scope == NULL; i++)
		if (is_object(head.s, cmd_scope_at(k->cmd, i)))
			scope = cmd_scope_at(k->cmd, i);
	bool open = k->head[k->head_len - 1] == '"';
	if (!open && scope == NULL) {
		give_lists(k);
		give_names(k, of_port);
	} else if (!open) {
		if (scope->bare)
			give_names(k, of_stream);
		else
			give_name(k, "set", NULL);
		give_names(k, of_object);
	}
	if (k->head[k->head_len - 1] != ':')
		give_settings(k, &(struct of_scopes){.port = scope == NULL,
						     .bare = scope == NULL,
						     .scope = scope});
	sbuf_free(&head);
}

static void give_module(struct names *k)
{
	for (unsigned i = 0; i < script_nfns; i++)
		give_name(k, script_fns[i].name, script_fns[i].help);
	for (unsigned i = 0; i < cmd_nverbs(k->cmd); i++) {
		const struct verb *v = cmd_verb_at(k->cmd, i);
		struct sbuf key = {0};
		bool taken = v->flags & (VERB_LATER | VERB_HIDDEN);
		verb_key(v, &key);
		for (unsigned f = 0; f < script_nfns; f++)
			taken |= strcmp(script_fns[f].name, key.s) == 0;
		if (!taken)
			give_name(k, key.s, v->help);
		sbuf_free(&key);
	}
	give_settings(k, &(struct of_scopes){.program = true});
}

static void give_group(struct names *k)
{
	struct sbuf first = {0};

	sbuf_addn(&first, k->head + 3, k->head_len - 4);
	give_verbs(k, first.s);
	sbuf_free(&first);
}

void script_complete_line(struct cmd *cmd, const char *line, int cursor, int *start,
			  void (*offer)(void *arg, const char *word, const char *help), void *arg)
{
	size_t end = strlen(line), at, last;
	struct sbuf text = {0};

	if (cursor >= 0 && (size_t)cursor < end)
		end = (size_t)cursor;
	sbuf_addn(&text, line, end);
	sbuf_add(&text, "");
	for (at = end; at > 0 && in_chain(text.s[at - 1]); at--)
		;
	const char *chain = text.s + at;
	bool quoted = strstr(chain, "[\"") != NULL;
	last = strlen(chain);
	while (last > 0 && strchr(quoted ? "\"" : ".:", chain[last - 1]) == NULL)
		last--;
	struct names k = {.cmd = cmd,
			  .head = chain,
			  .head_len = last,
			  .part = chain + last,
			  .offer = offer,
			  .arg = arg};
	*start = (int)at;
	if (last == 0)
		give_name(&k, "wr", "the module wirerate");
	else if (head_is(&k, "wr."))
		give_module(&k);
	else if (head_is(&k, "wr.verb."))
		give_verbs(&k, NULL);
	else if (head_is(&k, "wr.set."))
		give_settings(&k, &(struct of_scopes){.program = true});
	else if (strncmp(chain, "wr.port[", 8) == 0 || strncmp(chain, "wr.port.all", 11) == 0)
		give_place(&k);
	else if (strncmp(chain, "wr.", 3) == 0 && memchr(chain + 3, '.', last - 4) == NULL)
		give_group(&k);
	sbuf_free(&text);
}

void script_complete(struct script *s, const char *line, int cursor, int *start,
		     void (*offer)(void *arg, const char *word, const char *help), void *arg)
{
	script_complete_line(s->host.cmd, line, cursor, start, offer, arg);
}
