/* SPDX-License-Identifier: BSD-3-Clause */
#include "hint.h"

#include <stdlib.h>
#include <string.h>

#define MAX_SHOWN 200
#define MAX_WORDS 256

static void offer(void *arg, const char *word, const char *help)
{
	struct hint_list *l = arg;

	if (word == NULL) {
		sbuf_addf(&l->forms, "  %s\n", help);
		return;
	}
	for (unsigned i = 0; i < l->n; i++)
		if (strcmp(l->item[i].word, word) == 0)
			return;
	l->item = xrealloc(l->item, (l->n + 1) * sizeof(*l->item));
	l->item[l->n].word = xstrdup(word);
	l->item[l->n].help = xstrdup(help != NULL ? help : "");
	l->n++;
}

static void find(struct sess *sess, const char *line, struct hint_list *l)
{
	*l = (struct hint_list){.start = (int)strlen(line)};
	sess_complete(sess, line, l->start, &l->start, offer, l);
}

/* The first word of the last command on the line; *n: its length. */
static const char *verb_of(const char *line, size_t *n)
{
	const char *from = line;
	char quote = '\0';

	for (const char *p = line; *p != '\0'; p++) {
		if (quote != '\0')
			quote = *p == quote ? '\0' : quote;
		else if (*p == '\'' || *p == '"')
			quote = *p;
		else if (*p == ';')
			from = p + 1;
	}
	from += strspn(from, " \t");
	*n = strcspn(from, " \t");
	return from;
}

void hint_find(struct sess *sess, const char *line, struct hint_list *l)
{
	struct hint_list verbs;
	size_t n;

	find(sess, line, l);
	const char *verb = verb_of(line, &n);
	if (l->n > 0 || l->forms.len > 0 || n == 0 || *verb == '#')
		return;
	/* Nothing stands behind what is no command: that is what is wrong. */
	char *upto = xstrdup(line);
	upto[(size_t)(verb - line) + n] = '\0';
	find(sess, upto, &verbs);
	if (verbs.n == 0)
		sbuf_addf(&l->forms, "  there is no command \"%.*s\"; `help` lists them\n", (int)(n < 60 ? n : 60), verb);
	hint_free(&verbs);
	free(upto);
}

void hint_free(struct hint_list *l)
{
	for (unsigned i = 0; i < l->n; i++) {
		free(l->item[i].word);
		free(l->item[i].help);
	}
	free(l->item);
	sbuf_free(&l->forms);
	*l = (struct hint_list){0};
}

/* Bytes that all words share; never a part of a character. */
static size_t common(const struct hint_list *l)
{
	size_t len = strlen(l->item[0].word);

	for (unsigned i = 1; i < l->n; i++) {
		size_t k = 0;
		while (k < len && l->item[i].word[k] == l->item[0].word[k])
			k++;
		len = k;
	}
	while (len > 0 && ((unsigned char)l->item[0].word[len] & 0xc0) == 0x80)
		len--;
	return len;
}

int hint_complete(const struct hint_list *l, const char *line, struct sbuf *more)
{
	size_t typed = strlen(line) - (size_t)l->start;

	if (l->n == 0)
		return 0;
	size_t len = common(l);
	const char *word = l->item[0].word;
	bool extends = len >= typed && strncmp(word, line + l->start, typed) == 0;
	if (!extends && l->n > 1)
		return 0;
	int drop = extends ? 0 : (int)typed;
	sbuf_addn(more, word + (extends ? typed : 0), len - (extends ? typed : 0));
	/* A folder goes on, and so does what a list or a range could follow only when it is typed. */
	if (l->n == 1 && (len == 0 || word[len - 1] != '/'))
		sbuf_addc(more, ' ');
	return drop;
}

void hint_print(const struct hint_list *l, unsigned columns, struct sbuf *out)
{
	unsigned wide = 0, shown = l->n < MAX_SHOWN ? l->n : MAX_SHOWN;

	for (unsigned i = 0; i < shown; i++) {
		unsigned n = (unsigned)strlen(l->item[i].word);
		if (n > wide && n <= columns / 2)
			wide = n;
	}
	for (unsigned i = 0; i < shown; i++) {
		const char *help = l->item[i].help;
		size_t len = strcspn(help, "\n"), room = columns > wide + 5 ? columns - wide - 5 : 0;
		sbuf_addf(out, "  %-*s", (int)(len > 0 ? wide + 2 : 0), l->item[i].word);
		/* one row each: what is longer is cut, and marked as pages do */
		size_t cut = len <= room ? len : room > 1 ? room - 1 : 0;
		while (cut < len && cut > 0 && ((unsigned char)help[cut] & 0xc0) == 0x80)
			cut--;
		sbuf_addn(out, help, cut);
		sbuf_add(out, cut < len && room > 1 ? "~" : "");
		sbuf_addc(out, '\n');
	}
	if (shown < l->n)
		sbuf_addf(out, "  and %u more\n", l->n - shown);
	sbuf_add(out, sbuf_str(&l->forms));
	if (l->n == 0 && l->forms.len == 0)
		sbuf_add(out, "  nothing more, or a value of your own\n");
}

bool hint_word_begins(const char *line)
{
	struct cmd_word words[MAX_WORDS];
	size_t n = strlen(line);
	struct err e;

	if (n > 0 && strchr(" \t;", line[n - 1]) == NULL)
		return false;
	char *buf = xcalloc(2, n + 1);
	int rc = cmd_split(line, words, MAX_WORDS, buf, 2 * (n + 1), &e);
	free(buf);
	return rc >= 0; /* an open quote cannot be split */
}
