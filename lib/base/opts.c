/* SPDX-License-Identifier: BSD-3-Clause */
#include "opts.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

/* getopt returns this plus the index of the row for an option that has no letter */
#define LONG_ONLY 256

struct opts {
	const struct opt_table *t;
	char *shorts;
	struct option *longs; /* of rows that it has, NULL behind them */
	unsigned n;
};

static const struct opt_word *row_at(const struct opt_table *t, unsigned i)
{
	return (const void *)((const char *)t->row + i * t->row_bytes);
}

static bool row_has(const struct opt_table *t, unsigned i)
{
	return t->has == NULL || t->has(row_at(t, i), t->arg);
}

static void opt_dashed(const char *name, struct sbuf *out)
{
	for (; *name != '\0'; name++)
		sbuf_addc(out, *name == '_' ? '-' : *name);
}

void opt_print_long(const struct opt_word *w, struct sbuf *out)
{
	sbuf_add(out, "--");
	opt_dashed(w->name, out);
}

void opt_print(const struct opt_word *w, struct sbuf *out)
{
	if (w->letter != 0)
		sbuf_addf(out, "-%c, ", w->letter);
	opt_print_long(w, out);
}

void opt_print_head(const struct opt_word *w, struct sbuf *out)
{
	if (w->letter == 0)
		sbuf_add(out, "    ");
	opt_print(w, out);
	if (w->arg != NULL)
		sbuf_addf(out, "%s%s", w->arg[0] == '[' ? "" : " ", w->arg);
}

void opt_print_help(const char *head, const char *help, unsigned width, struct sbuf *out)
{
	const char *p = help;

	sbuf_addf(out, "%-*s", (int)width, head);
	if (strlen(head) >= width)
		sbuf_addc(out, ' ');
	for (size_t n; *p != '\0'; p += n + (p[n] == '\n')) {
		n = strcspn(p, "\n");
		sbuf_addf(out, "%*s%.*s\n", p == help ? 0 : (int)width, "", (int)n, p);
	}
}

/* "+" makes getopt stop at the first word that is no option; ":" makes it return ':' for a missing
 * value and '?' for an unknown option. */
struct opts *opts_begin(const struct opt_table *t)
{
	struct opts *o = xcalloc(1, sizeof(*o));
	struct sbuf shorts = {0};

	o->t = t;
	o->longs = xcalloc(t->n + 1, sizeof(*o->longs));
	sbuf_add(&shorts, t->in_order ? "+:" : ":");
	for (unsigned i = 0; i < t->n; i++) {
		const struct opt_word *w = row_at(t, i);
		struct sbuf name = {0};
		int how = w->arg == NULL     ? no_argument
			  : w->arg[0] == '[' ? optional_argument
					     : required_argument;
		if (!row_has(t, i))
			continue;
		opt_dashed(w->name, &name);
		o->longs[o->n++] = (struct option){name.s, how, NULL, LONG_ONLY + (int)i};
		if (w->letter == 0)
			continue;
		sbuf_addc(&shorts, (char)w->letter);
		sbuf_add(&shorts, how == no_argument ? "" : how == required_argument ? ":" : "::");
	}
	o->shorts = shorts.s;
	opterr = 0;
	optind = 0;
	return o;
}

void opts_end(struct opts *o)
{
	if (o == NULL)
		return;
	for (unsigned i = 0; i < o->n; i++)
		free((void *)(uintptr_t)o->longs[i].name);
	free(o->longs);
	free(o->shorts);
	free(o);
}

/* id: a letter, or what the long option has. */
static const struct opt_word *row_of(const struct opts *o, int id)
{
	if (id >= LONG_ONLY)
		return row_at(o->t, (unsigned)(id - LONG_ONLY));
	for (unsigned i = 0; i < o->t->n; i++)
		if (row_has(o->t, i) && row_at(o->t, i)->letter == id)
			return row_at(o->t, i);
	return NULL;
}

static int say_of_row(const struct opts *o, const struct opt_word *w, const char *what,
		      const char *word, const char *end, struct err *e)
{
	struct sbuf name = {0};

	opt_print(w, &name);
	err_set(e, EINVAL, "option %s%s %s%s%s", sbuf_str(&name), o->t->whose, what, word, end);
	sbuf_free(&name);
	return -EINVAL;
}

static int say_unknown(const struct opts *o, const char *word, int letter, struct err *e)
{
	const struct opt_table *t = o->t;
	const char **names, *near;
	char name[48];

	if (letter != 0)
		return err_set(e, EINVAL, "unknown option -%c%s; %s%s", letter, t->whose, t->hint,
			       t->list);
	names = xcalloc(o->n + 1, sizeof(*names));
	for (unsigned i = 0; i < o->n; i++)
		names[i] = o->longs[i].name;
	if (strncmp(word, "--", 2) == 0)
		word += 2;
	size_t len = strcspn(word, "=");
	len = len < sizeof(name) - 1 ? len : sizeof(name) - 1;
	memcpy(name, word, len);
	name[len] = '\0';
	near = str_nearest(name, names, o->n);
	free(names);
	return near != NULL ? err_set(e, EINVAL, "unknown option --%s%s; did you mean --%s? %s",
				      name, t->whose, near, t->list)
			    : err_set(e, EINVAL, "unknown option --%s%s; %s%s", name, t->whose,
				      t->hint, t->list);
}

int opts_next(struct opts *o, int argc, char **argv, const void **row, const char **value,
	      struct err *e)
{
	const struct opt_word *w;
	int c = getopt_long(argc, argv, o->shorts, o->longs, NULL);

	if (c == -1)
		return 0;
	w = c == '?' || c == ':' ? optopt != 0 ? row_of(o, optopt) : NULL : row_of(o, c);
	if (c == ':' && w != NULL)
		return say_of_row(o, w, "needs a value: ", w->arg, "", e);
	if (c == '?' && w != NULL)
		return say_of_row(o, w, "takes no value: '", argv[optind - 1], "'", e);
	if (c == '?' || c == ':' || w == NULL)
		return say_unknown(o, argv[optind - 1], optopt < LONG_ONLY ? optopt : 0, e);
	*row = w;
	*value = optarg;
	return 1;
}
