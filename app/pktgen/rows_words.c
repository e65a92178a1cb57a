/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows for Pktgen's words for header fields, made from the protocol table. Each word ("dport";
 * "dst-ip", which is also written "dst ip") has a row that stands for a field: that of the outermost
 * header in the stream's frame that has the word. */
#include "set/rows.h"

#include <errno.h>
#include <string.h>

#include "frame_edit.h"
#include "pktgen.h"

/* A word of Pktgen and the fields that it may stand for, at most one for each protocol. */
struct word_arg {
	char *word;
	unsigned n;
	struct {
		const struct proto *proto;
		const struct field *field;
		const struct setting *row;
	} * in;
};

static struct setting **words; /* arg: struct word_arg */
static unsigned nwords;

/* Copies the next word of a list with commas into buf, and moves *list behind it. Returns NULL at
 * the end. */
static const char *next_word(const char **list, char *buf, size_t bufsz)
{
	if (*list == NULL || **list == '\0')
		return NULL;
	size_t n = strcspn(*list, ","), k = n < bufsz ? n : bufsz - 1;
	memcpy(buf, *list, k);
	buf[k] = '\0';
	*list += n + ((*list)[n] == ',');
	return buf;
}

static const struct setting *word_resolve(const struct setting *row, const struct set_obj *obj,
					  struct err *e)
{
	const struct word_arg *w = row->arg;
	struct sbuf stack = {0}, has = {0};

	/* with only one field the header need not be there; the field's own check warns */
	if (obj == NULL || w->n == 1)
		return w->in[0].row;
	const struct frame_stack *s = &((const struct stream_cfg *)obj->cfg)->frame.stack;
	for (unsigned h = 0; h < s->n; h++)
		for (unsigned i = 0; i < w->n; i++)
			if (w->in[i].proto == s->hdr[h])
				return w->in[i].row;
	/* The same holds for values that may wait for their header. */
	const struct frame_val val = {.proto = w->in[0].proto, .field = w->in[0].field, .nth = 1};
	if (frame_val_waits(&val))
		return w->in[0].row;
	frame_stack_print(s, &stack);
	for (unsigned i = 0; i < w->n; i++)
		sbuf_addf(&has, "%s%s", i > 0 ? ", " : "", w->in[i].row->name);
	err_set(e, EINVAL,
		"no header of the frame %s has '%s', which could be %s; set that field by its name, or the frame first",
		sbuf_str(&stack), w->word, sbuf_str(&has));
	sbuf_free(&stack);
	sbuf_free(&has);
	return NULL;
}

/* The row that has the word as its name or alias. */
static struct setting *word_row(const char *word)
{
	char buf[64];

	for (unsigned i = 0; i < nwords; i++) {
		const char *list = words[i]->alias;
		if (strcmp(((const struct word_arg *)words[i]->arg)->word, word) == 0)
			return words[i];
		while (next_word(&list, buf, sizeof(buf)) != NULL)
			if (strcmp(buf, word) == 0)
				return words[i];
	}
	return NULL;
}

static void word_means(struct setting *row, const struct proto *p, const struct field *f)
{
	struct word_arg *w = (struct word_arg *)(uintptr_t)row->arg;

	for (unsigned i = 0; i < w->n; i++)
		if (w->in[i].proto == p)
			return;
	w->in = xrealloc(w->in, (w->n + 1) * sizeof(*w->in));
	w->in[w->n].proto = p;
	w->in[w->n].field = f;
	w->in[w->n++].row = set_field_row(p, f);
}

static struct setting *word_new(const char *word, const struct setting *field)
{
	struct setting *row = xcalloc(1, sizeof(*row));
	struct word_arg *w = xcalloc(1, sizeof(*w));
	char *name = xstrdup(word);

	w->word = xstrdup(word);
	for (char *c = name; *c != '\0'; c++)
		if (*c == ' ')
			*c = '-';
	*row = (struct setting){.name = name,
				.arg = w,
				.scope = &scope_stream,
				.v = field->v,
				.dflt = field->dflt,
				.help = field->help,
				.resolve = word_resolve};
	words = xrealloc(words, (nwords + 1) * sizeof(*words));
	return words[nwords++] = row;
}

/* Makes a row for the words of a field. The first word that no row has yet becomes its name, and
 * the words after it become aliases. A word that has a row already stands for this field too, in
 * headers of this protocol. */
static void add_words(const struct proto *p, const struct field *f)
{
	const char *list = f->word;
	struct setting *row = NULL;
	struct sbuf alias = {0};
	char word[64];

	while (next_word(&list, word, sizeof(word)) != NULL) {
		struct setting *known = word_row(word);
		bool first = row == NULL;
		if (known != NULL && known != row)
			word_means(known, p, f);
		if (known != NULL)
			continue;
		if (first) {
			row = word_new(word, set_field_row(p, f));
			word_means(row, p, f);
		}
		if (!first || strchr(word, ' ') != NULL)
			sbuf_addf(&alias, "%s%s", alias.len > 0 ? "," : "", word);
	}
	if (row != NULL)
		row->alias = alias.s;
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

/* Sets the help, type and default of a word's row. Type and default are those of its fields if they
 * all have the same, else none. */
static void word_finish(struct setting *row)
{
	const struct word_arg *w = row->arg;
	struct vspec first, one;
	struct sbuf help = {0};

	if (w->n > 1) {
		for (unsigned i = 0; i < w->n; i++)
			sbuf_addf(&help, "%s%s",
				  i == 0         ? ""
				  : i + 1 < w->n ? ", "
						 : " or ",
				  w->in[i].row->name);
		sbuf_add(&help, ": the one of the outermost header that has it");
	} else {
		sbuf_addf(&help, "%s; the same as %s", row->help, w->in[0].row->name);
	}
	row->help = help.s;
	proto_vspec(w->in[0].field, &first);
	for (unsigned i = 1; i < w->n; i++) {
		if (!same_text(row->dflt, w->in[i].row->dflt))
			row->dflt = NULL;
		proto_vspec(w->in[i].field, &one);
		if (one.type != first.type || one.bits != first.bits)
			row->v = (struct vspec){0};
	}
	if (row->v.type == NULL)
		row->dflt = NULL;
}

static void make_words(void)
{
	for (const struct proto *const *p = proto_table; *p != NULL; p++)
		for (const struct field *f = (*p)->fields; f != NULL && f->name != NULL; f++)
			add_words(*p, f);
	for (unsigned i = 0; i < nwords; i++)
		word_finish(words[i]);
}

void pktgen_word_rows(const struct setting ***rows, unsigned *n)
{
	if (words == NULL)
		make_words();
	for (unsigned i = 0; i < nwords; i++)
		set_add_row(rows, n, words[i]);
}
