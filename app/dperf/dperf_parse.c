/* SPDX-License-Identifier: BSD-3-Clause */
/* From the text of a file to its lines: one directive in each, and words behind it. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dperf_int.h"

/* One line of the text, without its end. */
struct parse_line {
	const char *at;
	size_t n;
	unsigned number;
};

struct parse_word {
	char *text;
	unsigned col;
};

void dperf_fail(struct dperf_wrong *w, unsigned line, unsigned col, const char *fmt, ...)
{
	va_list ap;

	w->n++;
	if (w->n == DPERF_WRONG_MOST + 1)
		sbuf_addf(w->out, "%s: there are more errors behind these\n", w->name);
	if (w->n > DPERF_WRONG_MOST)
		return;
	sbuf_addf(w->out, "%s:%u:%u: ", w->name, line, col);
	va_start(ap, fmt);
	sbuf_vaddf(w->out, fmt, ap);
	va_end(ap);
	sbuf_addc(w->out, '\n');
}

static bool parse_characters(const struct parse_line *l, struct dperf_wrong *w)
{
	for (size_t i = 0; i < l->n; i++) {
		unsigned char c = (unsigned char)l->at[i];
		if ((c >= 0x20 && c < 0x7f) || (c != '\0' && isspace(c)))
			continue;
		dperf_fail(w, l->number, (unsigned)i + 1,
			   "a byte 0x%02x; allowed: printable ASCII, blanks and tabs", c);
		return false;
	}
	return true;
}

/* Splits the line. Returns how many words it has, 0 for a comment, or -1. */
static int parse_split(const struct parse_line *l, struct parse_word *word, struct dperf_wrong *w)
{
	int n = 0;

	for (size_t i = 0; i < l->n;) {
		if (isspace((unsigned char)l->at[i])) {
			i++;
			continue;
		}
		if (n == 0 && l->at[i] == '#')
			return 0;
		size_t end = i;
		while (end < l->n && !isspace((unsigned char)l->at[end]))
			end++;
		if (n == DPERF_WORDS_MOST) {
			dperf_fail(w, l->number, (unsigned)i + 1, "more than %d words in a line",
				   DPERF_WORDS_MOST);
			return -1;
		}
		struct sbuf b = {0};
		sbuf_addn(&b, l->at + i, end - i);
		word[n++] = (struct parse_word){.text = b.s, .col = (unsigned)i + 1};
		i = end;
	}
	return n;
}

static int parse_directive(const struct parse_line *l, const struct parse_word *word,
			   struct dperf_wrong *w)
{
	const char *names[DPERF_IDS];

	for (int i = 0; i < DPERF_IDS; i++) {
		names[i] = dperf_directives[i].name;
		if (strcmp(names[i], word->text) == 0)
			return i;
	}
	const char *near = str_nearest(word->text, names, DPERF_IDS);
	if (near != NULL)
		dperf_fail(w, l->number, word->col,
			   "'%.60s' is no directive of dperf; did you mean '%s'?", word->text,
			   near);
	else
		dperf_fail(w, l->number, word->col,
			   "'%.60s' is no directive of dperf; `wirerate --dperf-manual` lists them",
			   word->text);
	return -1;
}

/* The argument that word number i behind the directive is; NULL: it has not so many. */
static const struct dperf_arg *parse_arg(const struct dperf_directive *d, unsigned i)
{
	unsigned k;

	for (k = 0; k < DPERF_ARGS && d->arg[k].name != NULL; k++)
		if (k == i || d->arg[k].many)
			return &d->arg[k];
	return NULL;
}

static bool parse_values(const struct dperf_directive *d, struct dperf_line *dl,
			 struct dperf_wrong *w)
{
	const struct dperf_arg *a;

	for (unsigned i = 0; i < dl->n; i++) {
		struct dperf_value *v = &dl->v[i];

		a = parse_arg(d, i);
		if (a == NULL) {
			dperf_fail(
				w, dl->line, v->col,
				"'%.60s' is one word too many for %s; a comment has a line of its own",
				v->text, d->name);
			return false;
		}
		if (dperf_value(a, v))
			continue;
		struct sbuf allowed = {0};
		dperf_allowed(a, &allowed);
		dperf_fail(w, dl->line, v->col, "%s: %s is '%.60s'; allowed: %s", d->name, a->name,
			   v->text, sbuf_str(&allowed));
		sbuf_free(&allowed);
		return false;
	}
	a = parse_arg(d, dl->n);
	if (a == NULL || a->optional || (a->many && dl->n > 0))
		return true;
	struct sbuf allowed = {0};
	dperf_allowed(a, &allowed);
	dperf_fail(w, dl->line, dl->col, "%s: %s is missing; allowed: %s", d->name, a->name,
		   sbuf_str(&allowed));
	sbuf_free(&allowed);
	return false;
}

static void parse_free_line(struct dperf_line *dl)
{
	for (unsigned i = 0; i < dl->n; i++)
		free(dl->v[i].text);
	free(dl->v);
}

/* Room doubles: a file may have as many lines as memory takes. */
static void parse_add(struct dperf_conf *c, const struct dperf_line *dl)
{
	struct dperf_lines *of = &c->of[dl->id];

	if ((of->n & (of->n - 1)) == 0)
		of->line = xrealloc(of->line, (of->n > 0 ? 2 * of->n : 1) * sizeof(*of->line));
	of->line[of->n++] = c->nlines;
	if ((c->nlines & (c->nlines - 1)) == 0)
		c->line = xrealloc(c->line, (c->nlines > 0 ? 2 * c->nlines : 1) * sizeof(*c->line));
	c->line[c->nlines++] = *dl;
}

static void parse_one(struct dperf_conf *c, const struct parse_line *l, struct dperf_wrong *w)
{
	struct parse_word word[DPERF_WORDS_MOST] = {0};
	int id = -1, n = 0;

	if (l->n > DPERF_LINE_MOST)
		dperf_fail(w, l->number, DPERF_LINE_MOST + 1,
			   "a line of %zu characters; allowed: up to %d", l->n, DPERF_LINE_MOST);
	else if (parse_characters(l, w))
		n = parse_split(l, word, w);
	if (n > 0)
		id = parse_directive(l, word, w);
	if (id < 0) {
		for (unsigned i = 0; i < DPERF_WORDS_MOST; i++)
			free(word[i].text);
		return;
	}
	struct dperf_line dl = {.id = (enum dperf_id)id,
				.line = l->number,
				.col = word[0].col,
				.n = (unsigned)n - 1,
				.v = xcalloc((size_t)n, sizeof(*dl.v))};
	for (int i = 1; i < n; i++)
		dl.v[i - 1] = (struct dperf_value){.text = word[i].text, .col = word[i].col};
	free(word[0].text);
	const struct dperf_line *first = dperf_find(c, dl.id, 0);
	if (first != NULL && !dperf_directives[id].repeats)
		dperf_fail(w, dl.line, dl.col, "%s stands in line %u already; allowed: once",
			   dperf_directives[id].name, first->line);
	else if (parse_values(&dperf_directives[id], &dl, w)) {
		parse_add(c, &dl);
		return;
	}
	parse_free_line(&dl);
}

const struct dperf_line *dperf_find(const struct dperf_conf *c, enum dperf_id id, unsigned i)
{
	return i < c->of[id].n ? &c->line[c->of[id].line[i]] : NULL;
}

bool dperf_has(const struct dperf_conf *c, enum dperf_id id)
{
	return dperf_find(c, id, 0) != NULL;
}

uint64_t dperf_number(const struct dperf_conf *c, enum dperf_id id, uint64_t otherwise)
{
	const struct dperf_line *l = dperf_find(c, id, 0);

	return l != NULL && l->n > 0 ? l->v[0].n : otherwise;
}

unsigned dperf_addresses(const struct dperf_line *l)
{
	return (unsigned)l->v[1].n + l->n - 2;
}

void dperf_address(const struct dperf_line *l, unsigned i, struct dperf_addr *out)
{
	*out = i < l->v[1].n ? dperf_add(&l->v[0].addr, i) : l->v[2 + i - (unsigned)l->v[1].n].addr;
}

unsigned dperf_cpu(const struct dperf_conf *c, unsigned i)
{
	const struct dperf_line *l = dperf_find(c, DPERF_CPU, 0);

	for (unsigned k = 0; l != NULL && k < l->n; k++) {
		uint64_t n = l->v[k].to - l->v[k].n + 1;
		if (i < n)
			return (unsigned)l->v[k].n + i;
		i -= (unsigned)n;
	}
	return 0;
}

/* What many of the checks and of the translation ask for. */
static void parse_sum(struct dperf_conf *c)
{
	const struct dperf_line *client = dperf_find(c, DPERF_CLIENT, 0);
	const struct dperf_line *cpu = dperf_find(c, DPERF_CPU, 0);
	uint64_t protocol = dperf_number(c, DPERF_PROTOCOL, 0);

	c->server = dperf_number(c, DPERF_MODE, 0) == 1;
	c->udp = protocol == 1;
	c->http = protocol == 2;
	c->six = client != NULL && client->v[0].addr.six;
	c->ports = c->of[DPERF_PORT].n;
	for (unsigned i = 0; cpu != NULL && i < cpu->n; i++)
		c->cpus += (unsigned)(cpu->v[i].to - cpu->v[i].n + 1);
}

struct dperf_conf *dperf_read(const char *name, const char *text, size_t bytes, struct sbuf *wrong)
{
	struct dperf_conf *c = xcalloc(1, sizeof(*c));
	struct dperf_wrong w = {.name = name, .out = wrong};
	struct parse_line l = {.number = 1};

	c->name = xstrdup(name);
	for (size_t at = 0; at < bytes; l.number++) {
		const char *end = memchr(text + at, '\n', bytes - at);
		l.at = text + at;
		l.n = end != NULL ? (size_t)(end - l.at) : bytes - at;
		parse_one(c, &l, &w);
		at += l.n + 1;
	}
	parse_sum(c);
	/* What is missing or contradicts itself is told of lines that are right in themselves. */
	if (w.n == 0)
		dperf_check(c, &w);
	if (w.n == 0)
		return c;
	dperf_free(c);
	return NULL;
}

void dperf_free(struct dperf_conf *c)
{
	if (c == NULL)
		return;
	for (unsigned i = 0; i < c->nlines; i++)
		parse_free_line(&c->line[i]);
	for (unsigned i = 0; i < DPERF_IDS; i++)
		free(c->of[i].line);
	free(c->line);
	free(c->name);
	free(c);
}
