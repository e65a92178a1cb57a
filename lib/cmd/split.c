/* SPDX-License-Identifier: BSD-3-Clause */
/* Splits text into commands and commands into words, and puts both back: quoting, and errors with a
 * caret. Blanks, quotes, comments and separators are known here alone. */
#include "cmd_impl.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static bool is_quote(char c)
{
	return c == '"' || c == '\'' || c == '{';
}

static bool ends_word(char c)
{
	return c == '\0' || c == '\n' || c == ';' || is_blank(c);
}

/* Returns where the text goes on after the closing quote, NULL if there is none. The bytes between
 * the quotes are written to *out, which moves on; out may be NULL. */
static const char *skip_quoted(const char *p, char **out)
{
	char open = *p++;
	unsigned depth = 1;

	for (; *p != '\0'; p++) {
		if (open == '"' && *p == '\\' && (p[1] == '"' || p[1] == '\\'))
			p++;
		else if (open == '{' && *p == '{')
			depth++;
		else if (*p == (open == '{' ? '}' : open) && --depth == 0)
			return p + 1;
		if (out != NULL)
			*(*out)++ = *p;
	}
	return NULL;
}

static const char *skip_word(const char *p)
{
	if (is_quote(*p)) {
		const char *end = skip_quoted(p, NULL);
		return end != NULL ? end : p + strlen(p);
	}
	while (!ends_word(*p))
		p++;
	return p;
}

bool cmd_next(const char **text, struct sbuf *one)
{
	const char *p = *text, *start = p;

	sbuf_reset(one);
	if (*p == '\0')
		return false;
	while (*p != '\0' && *p != ';' && *p != '\n') {
		if (is_blank(*p))
			p++;
		else if (*p == '#')
			p += strcspn(p, "\n");
		else
			p = skip_word(p);
	}
	sbuf_addn(one, start, (size_t)(p - start));
	*text = *p != '\0' ? p + 1 : p;
	return true;
}

static unsigned long split_newlines(const char *from, const char *to)
{
	unsigned long n = 0;

	for (; from < to; from++)
		n += *from == '\n';
	return n;
}

const char *cmd_past_prompt(const char *text)
{
	const size_t n = sizeof(CMD_PROMPT_WORD) - 1;
	const char *p = text;

	while (is_blank(*p))
		p++;
	while (strncmp(p, CMD_PROMPT_WORD, n) == 0 && ends_word(p[n])) {
		p += n;
		while (is_blank(*p))
			p++;
	}
	return p;
}

/* Returns where the first word in [from, to) begins, after blanks, prompts, separators and
 * comments; `to` if there is no word. */
static const char *first_word(const char *from, const char *to)
{
	while (from < to) {
		if (*from == '#')
			while (from < to && *from != '\n')
				from++;
		else if (strchr(" \t\r\n;", *from) != NULL)
			from++;
		else if (cmd_past_prompt(from) != from)
			from = cmd_past_prompt(from);
		else
			break;
	}
	return from < to ? from : to;
}

bool cmd_next_command(const char **text, unsigned long *line, struct sbuf *one, unsigned long *at)
{
	const char *from = *text;

	while (cmd_next(text, one)) {
		const char *word = first_word(from, *text);
		bool any = word < *text;
		*at = *line + split_newlines(from, word);
		*line += split_newlines(from, *text);
		from = *text;
		if (!any)
			continue;
		size_t before = (size_t)(cmd_past_prompt(one->s) - one->s);
		memmove(one->s, one->s + before, one->len + 1 - before);
		one->len -= before;
		return true;
	}
	return false;
}

int cmd_split(const char *line, struct cmd_word *words, unsigned max, char *buf, size_t bufsz,
	      struct err *e)
{
	const char *p = line;
	unsigned n = 0;

	if (bufsz < strlen(line) + 1)
		return err_set(e, E2BIG, "the line is too long (%zu bytes)", strlen(line));
	for (;;) {
		while (is_blank(*p) || *p == '\n')
			p++;
		if (*p == '#') {
			p += strcspn(p, "\n");
			continue;
		}
		if (*p == '\0')
			return (int)n;
		if (*p == ';')
			return err_at(e, EINVAL, (int)(p - line),
				      "\";\" separates commands, one command is wanted here");
		if (n == max)
			return err_at(e, E2BIG, (int)(p - line), "more than %u words", max);
		struct cmd_word *w = &words[n++];
		*w = (struct cmd_word){.text = buf, .col = (int)(p - line), .quoted = is_quote(*p)};
		if (w->quoted) {
			const char *end = skip_quoted(p, &buf);
			if (end == NULL)
				return err_at(e, EINVAL, w->col, "no closing %c for this quote",
					      *p == '{' ? '}' : *p);
			if (!ends_word(*end))
				return err_at(e, EINVAL, (int)(end - line),
					      "a blank is wanted after the closing quote");
			p = end;
		} else {
			while (!ends_word(*p))
				*buf++ = *p++;
		}
		*buf++ = '\0';
	}
}

int line_split(const char *line, struct line_words *out, struct err *e)
{
	size_t len = strlen(line);

	out->w = xcalloc(len / 2 + 1, sizeof(*out->w));
	out->buf = xcalloc(len + 1, 1);
	out->n = 0;
	int n = cmd_split(line, out->w, (unsigned)(len / 2 + 1), out->buf, len + 1, e);
	if (n < 0) {
		line_free(out);
		return n;
	}
	out->n = (unsigned)n;
	return 0;
}

void line_free(struct line_words *l)
{
	free(l->w);
	free(l->buf);
	*l = (struct line_words){0};
}

int line_rest_col(const char *line, int col, int off)
{
	struct line_words l;
	int at = col;

	if (line_split(line, &l, NULL) != 0)
		return col;
	for (unsigned i = 0; i < l.n; i++) {
		int len = (int)strlen(l.w[i].text);
		if (l.w[i].col < col)
			continue;
		at = l.w[i].col + l.w[i].quoted + (off < len ? off : len);
		if (off <= len)
			break;
		off -= len + 1;
	}
	line_free(&l);
	return at;
}

void cmd_quote(const char *text, struct sbuf *out)
{
	bool plain = text[0] != '\0' && !is_quote(text[0]) && text[0] != '#';

	for (const char *p = text; plain && *p != '\0'; p++)
		plain = !ends_word(*p);
	if (plain) {
		sbuf_add(out, text);
	} else if (strchr(text, '\'') == NULL) {
		sbuf_addf(out, "'%s'", text);
	} else {
		sbuf_addc(out, '"');
		for (const char *p = text; *p != '\0'; p++) {
			if (*p == '"' || *p == '\\')
				sbuf_addc(out, '\\');
			sbuf_addc(out, *p);
		}
		sbuf_addc(out, '"');
	}
}

void cmd_err_print(const char *line, const struct err *e, struct sbuf *out)
{
	size_t len = strlen(line);

	if (e->col >= 0 && (size_t)e->col <= len) {
		size_t start = (size_t)e->col, end = (size_t)e->col;
		while (start > 0 && line[start - 1] != '\n')
			start--;
		end += strcspn(line + end, "\n");
		for (size_t i = start; i < end; i++)
			sbuf_addc(out, iscntrl((unsigned char)line[i]) && line[i] != '\t'
					       ? '?'
					       : line[i]);
		sbuf_addc(out, '\n');
		for (size_t i = start; i < (size_t)e->col; i++) {
			/* a tab is copied, so that it is as wide as in the line above; the second
			 * and further bytes of a UTF-8 character have no width */
			if (line[i] == '\t' || ((unsigned char)line[i] & 0xc0) != 0x80)
				sbuf_addc(out, line[i] == '\t' ? '\t' : ' ');
		}
		sbuf_add(out, "^ ");
	}
	sbuf_add(out, e->text);
	sbuf_addc(out, '\n');
}

char *cmd_where(const char *where, unsigned long more)
{
	const char *colon = strrchr(where, ':');
	char *end;
	struct sbuf b = {0};
	char *text;

	unsigned long n = colon != NULL ? strtoul(colon + 1, &end, 10) : 0;
	if (colon == NULL || end == colon + 1 || *end != '\0') {
		text = xstrdup(where);
	} else {
		sbuf_addn(&b, where, (size_t)(colon - where));
		sbuf_addf(&b, ":%lu", n + more);
		text = xstrdup(sbuf_str(&b));
		sbuf_free(&b);
	}
	return text;
}

void cmd_err_print_at(const char *where, const char *line, const struct err *e, struct sbuf *out)
{
	struct sbuf shown = {0};
	struct err shifted = *e;

	if (e->col < 0) {
		sbuf_addf(out, "%s: %s\n", where, e->text);
		return;
	}
	int col = e->col < (int)strlen(line) ? e->col : (int)strlen(line), from = col;
	while (from > 0 && line[from - 1] != '\n')
		from--;
	char *at = cmd_where(where, split_newlines(line, line + from));
	sbuf_addf(&shown, "%s: %s", at, line + from);
	shifted.col = col - from + (int)strlen(at) + 2;
	cmd_err_print(shown.s, &shifted, out);
	free(at);
	sbuf_free(&shown);
}
