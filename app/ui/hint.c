/* SPDX-License-Identifier: BSD-3-Clause */
#include "hint.h"

#include <stdlib.h>
#include <string.h>

#define LINES_MOST 16 /* up to this many words have a line each */
#define MAX_WORDS 256

static void hint_offer(void *arg, const char *word, const char *help)
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

static void hint_look_up(struct sess *sess, const char *line, struct hint_list *l)
{
	*l = (struct hint_list){.start = (int)strlen(line)};
	sess_complete(sess, line, l->start, &l->start, hint_offer, l);
}

/* Returns the first word of the last command on the line, as a place in the line; *n is its
 * length. */
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

	hint_look_up(sess, line, l);
	const char *verb = verb_of(line, &n);
	if (l->n > 0 || l->forms.len > 0 || n == 0 || *verb == '#')
		return;
	/* There are no hints. If that is because the first word is no command, the list says so. */
	char *upto = xstrdup(line);
	upto[(size_t)(verb - line) + n] = '\0';
	hint_look_up(sess, upto, &verbs);
	if (verbs.n == 0)
		sbuf_addf(&l->forms, "  there is no command \"%.*s\"; `help` lists them\n",
			  (int)(n < 60 ? n : 60), verb);
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

/* Returns how many bytes at their beginning all words share. They never end within a character. */
static size_t hint_common(const struct hint_list *l)
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
	size_t len = hint_common(l);
	const char *word = l->item[0].word;
	bool extends = len >= typed && strncmp(word, line + l->start, typed) == 0;
	if (!extends && l->n > 1)
		return 0;
	int drop = extends ? 0 : (int)typed;
	sbuf_addn(more, word + (extends ? typed : 0), len - (extends ? typed : 0));
	/* The only word is complete, unless it is a folder. A list or a range that could follow is
	 * typed anyway. */
	if (l->n == 1 && (len == 0 || word[len - 1] != '/'))
		sbuf_addc(more, ' ');
	return drop;
}

/* Appends text, broken between words so that no line is wider than `columns`, unless a single word
 * is. The caller has indented the first line; the others get `indent` blanks. */
static void put_wrapped(const char *text, unsigned indent, unsigned columns, struct sbuf *out)
{
	unsigned at = indent;

	for (size_t n; *text != '\0' && *text != '\n'; text += n + (text[n] == ' ')) {
		n = strcspn(text, " \n");
		if (at > indent && at + 1 + n > columns) {
			sbuf_addf(out, "\n%*s", (int)indent, "");
			at = indent;
		} else if (at > indent) {
			sbuf_addc(out, ' ');
			at++;
		}
		sbuf_addn(out, text, n);
		at += (unsigned)n;
	}
}

/* Appends a line for each word, with its help beside it. */
static void print_lines(const struct hint_list *l, unsigned columns, struct sbuf *out)
{
	unsigned wide = 0;

	for (unsigned i = 0; i < l->n; i++) {
		unsigned n = (unsigned)strlen(l->item[i].word);
		if (n > wide && n <= columns / 2)
			wide = n;
	}
	for (unsigned i = 0; i < l->n; i++) {
		const char *help = l->item[i].help;
		bool some = help[0] != '\0' && help[0] != '\n';
		unsigned n = (unsigned)strlen(l->item[i].word);
		sbuf_addf(out, "  %-*s", (int)(some ? wide + 2 : 0), l->item[i].word);
		if (some && n > wide)
			sbuf_addf(out, "\n%*s", (int)wide + 4, "");
		put_wrapped(help, wide + 4, columns, out);
		sbuf_addc(out, '\n');
	}
}

/* Returns how many bytes of a word are shown where there are many words: "udp." alone when several
 * words begin with it. */
static size_t shown_bytes(const struct hint_list *l, unsigned i)
{
	const char *word = l->item[i].word, *dot = strchr(word, '.');

	for (unsigned k = 0; dot != NULL && dot != word && k < l->n; k++)
		if (k != i && strncmp(l->item[k].word, word, (size_t)(dot - word) + 1) == 0)
			return (size_t)(dot - word) + 1;
	return strlen(word);
}

/* Appends many words side by side, without their help. */
static void print_names(const struct hint_list *l, unsigned columns, struct sbuf *out)
{
	struct cmd_names names = {0};

	for (unsigned i = 0; i < l->n; i++)
		cmd_names_add(&names, l->item[i].word, shown_bytes(l, i));
	cmd_names_put(&names, columns > 2 ? columns - 2 : 1, out);
	sbuf_add(out, "  A letter more and Tab again tells what each of them is.\n");
}

void hint_print(const struct hint_list *l, unsigned columns, struct sbuf *out)
{
	if (l->n > LINES_MOST)
		print_names(l, columns, out);
	else
		print_lines(l, columns, out);
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
