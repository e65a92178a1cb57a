/* SPDX-License-Identifier: BSD-3-Clause */
/* Completes names in a line of Lua. They are taken from the tables alone, and nothing is run. */
#include "script_int.h"

#include <ctype.h>
#include <string.h>

struct names {
	struct cmd *cmd;
	const char *head; /* the expression up to its last name: "wr.port[0].", head_len bytes */
	size_t head_len;
	const char *part; /* what is already there of that name */
	void (*offer)(void *arg, const char *word, const char *help);
	void *arg;
};

static bool in_chain(char c)
{
	return isalnum((unsigned char)c) || strchr("_.:[]\"", c) != NULL;
}

/* Offers a name if it begins with what is there, with the texts before and after it. */
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

static void give_settings(struct names *k, bool global, bool port, bool stream)
{
	for (unsigned i = 0; i < cmd_nsettings(k->cmd); i++) {
		const struct setting *s = cmd_setting_at(k->cmd, i);
		if (s->scope == SCOPE_GLOBAL ? global : s->scope == SCOPE_PORT ? port : stream)
			give_setting(k, s);
	}
}

/* Offers verbs. If first is not NULL, only the second words of verbs that begin with it. */
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

/* Offers what a port or a stream has, after "wr.port[0]." or "wr.port[0].stream[3].". */
static void give_place(struct names *k)
{
	static const char *const of_port[] = {"stream", "streams", "set",   "start", "stop",
					      "wait",   "clear",   "reset", "add",   "number"};
	static const char *const of_stream[] = {"set", "copy", "delete", "move", "id", "port"};
	struct sbuf head = {0};

	sbuf_addn(&head, k->head, k->head_len);
	bool stream = strstr(head.s, "].stream[") != NULL;
	bool open = k->head[k->head_len - 1] == '"';
	for (size_t i = 0; !open && i < (stream ? ARRAY_SIZE(of_stream) : ARRAY_SIZE(of_port)); i++)
		give_name(k, stream ? of_stream[i] : of_port[i], NULL);
	if (k->head[k->head_len - 1] != ':')
		give_settings(k, false, !stream, true);
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
	give_settings(k, true, false, false);
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
		give_settings(&k, true, false, false);
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
