/* SPDX-License-Identifier: BSD-3-Clause */
/* save: writes a command file that makes the present settings again. It begins with `reset all`.
 * Then come the settings of the program, and for each port its streams and those settings that
 * differ from the defaults, in the order of the table: first those of the port, then those of its
 * streams and of other objects that have numbers, scope by scope. Objects in a row with the same
 * value share a line. */
#include "verb_save.h"
#include "file.h"
#include "verbs.h"
#include "set/set.h"

#include <stdlib.h>
#include <string.h>

/* One value of one object, such as a stream. */
struct entry {
	/* what its place in the file follows from: the row's place in the table times MAX_NTH, plus
	 * the number of the header among those of its kind */
	unsigned order;
	unsigned id;
	const struct setting *row;
	char *text;
};

/* The row of a header field. Rows that were found are kept, because thousands of streams ask for
 * the same few. */
struct known_field {
	const struct field *field;
	unsigned nth, order;
	const struct setting *row;
};

/* Memory and the default for one row of objects that have numbers, made once, because the row is
 * read for thousands of streams. */
struct reader {
	/* val: room for a value; NULL: the row is not saved, or is read in another way. dflt: the
	 * parsed default; NULL: the row has a store or no default. */
	void *val, *dflt;
	struct sbuf dflt_text; /* the default as it is printed */
};

struct saving {
	struct cmd *cmd;
	const struct cmd_host *host;
	struct port_cfg *start;
	struct sbuf *out;
	const struct setting *const *rows;
	unsigned nrows;
	/* one for each row; used for rows of numbered objects that are no header fields */
	struct reader *reader;
	struct known_field *known;
	unsigned nknown;
	struct entry *e;
	unsigned n, cap;
	/* for each number of the port's objects: the next one that exists, UINT32_MAX: none */
	unsigned *next;
};

#define MAX_NTH 256

static bool save_has(const struct saving *s, const struct cmd_scope *scope, unsigned port,
		     unsigned id)
{
	struct set_obj obj;

	return cmd_object(s->cmd, scope, port, id, &obj);
}

static unsigned save_count(const struct saving *s, const struct cmd_scope *scope, unsigned port)
{
	return s->host->count(s->host->arg, scope, port);
}

static bool is_saved(const struct setting *row)
{
	return !(row->flags & (SET_DERIVED | SET_LATER)) && row->resolve == NULL;
}

/* Appends a value in the form that a command takes. Words with single blanks between them stay as
 * they are if none of them needs quotes; any other text is quoted as one word. */
static void put_value(const char *text, struct sbuf *out)
{
	struct sbuf word = {0};
	bool plain = text[0] != '\0';

	for (const char *p = text; plain; p++) {
		size_t n = strcspn(p, " ");
		struct sbuf quoted = {0};
		sbuf_reset(&word);
		sbuf_addn(&word, p, n);
		cmd_quote(sbuf_str(&word), &quoted);
		plain = n > 0 && strcmp(quoted.s, sbuf_str(&word)) == 0;
		sbuf_free(&quoted);
		p += n;
		if (*p == '\0')
			break;
	}
	if (plain)
		sbuf_add(out, text);
	else
		cmd_quote(text, out);
	sbuf_free(&word);
}

static void put_line(struct sbuf *out, const char *name, const char *text)
{
	sbuf_addf(out, " %s ", name);
	put_value(text, out);
	sbuf_addc(out, '\n');
}

static void put_global(struct saving *s)
{
	for (unsigned i = 0; i < s->nrows; i++) {
		struct sbuf text = {0};
		if (s->rows[i]->scope->level == LEVEL_PROGRAM && is_saved(s->rows[i]) &&
		    cmd_setting_text(s->cmd, s->rows[i], 0, 0, &text)) {
			sbuf_add(s->out, "set");
			put_line(s->out, s->rows[i]->name, sbuf_str(&text));
		}
		sbuf_free(&text);
	}
}

/* Appends the commands that make the streams of a port out of stream 0, which is all that `reset`
 * leaves. */
static void put_streams(struct saving *s, unsigned port)
{
	unsigned n = save_count(s, &scope_stream, port);

	for (unsigned i = 1; i < n; i++) {
		unsigned first = i;
		if (!save_has(s, &scope_stream, port, i))
			continue;
		while (i + 1 < n && save_has(s, &scope_stream, port, i + 1))
			i++;
		sbuf_addf(s->out, i > first ? "stream add %u/%u-%u\n" : "stream add %u/%u\n", port,
			  first, i);
	}
	if (!save_has(s, &scope_stream, port, 0))
		sbuf_addf(s->out, "stream delete %u/0\n", port);
}

/* Appends the settings of a port. Options of the program (-P) may give ports other values at start
 * than the defaults of the table, and `reset` sets those. So a row with such a value is always
 * written. */
static void put_port(struct saving *s, unsigned port)
{
	const struct set_obj start = {.scope = &scope_port, .cfg = s->start};
	struct set_obj obj;

	cmd_object(s->cmd, &scope_port, port, 0, &obj);
	for (unsigned i = 0; i < s->nrows; i++) {
		struct sbuf text = {0}, first = {0};
		if (s->rows[i]->scope->level != LEVEL_PORT || !is_saved(s->rows[i]))
			continue;
		bool differs = cmd_value_text(s->rows[i], &obj, &text);
		if (cmd_value_text(s->rows[i], &start, &first) || differs) {
			sbuf_addf(s->out, "set %u", port);
			put_line(s->out, s->rows[i]->name, sbuf_str(&text));
		}
		sbuf_free(&text);
		sbuf_free(&first);
	}
}

static void add_entry(struct saving *s, unsigned order, unsigned id, const struct setting *row,
		      const char *text)
{
	if (s->n == s->cap) {
		s->cap = s->cap ? s->cap * 2 : 1024;
		s->e = xrealloc(s->e, s->cap * sizeof(*s->e));
	}
	s->e[s->n++] = (struct entry){order, id, row, xstrdup(text)};
}

static const struct setting *find_field(struct saving *s, const struct frame_val *v, unsigned nth)
{
	struct sbuf name = {0};

	frame_field_name(v->proto, nth, v->field, &name);
	const struct setting *row = cmd_setting_find(s->cmd, name.s, NULL);
	sbuf_free(&name);
	return row;
}

static const struct known_field *field_row(struct saving *s, const struct frame_val *v)
{
	struct known_field k = {.field = v->field, .nth = v->nth};

	for (unsigned i = 0; i < s->nknown; i++)
		if (s->known[i].field == v->field && s->known[i].nth == v->nth)
			return &s->known[i];
	/* Rows of second and further headers of a kind are at the end of the table or not in it, so
	 * all headers go by the place of the first one's row. */
	const struct setting *first = find_field(s, v, 1);
	while (k.order < s->nrows && s->rows[k.order] != first)
		k.order++;
	k.order = k.order * MAX_NTH + v->nth;
	k.row = find_field(s, v, v->nth);
	s->known = xrealloc(s->known, (s->nknown + 1) * sizeof(*s->known));
	s->known[s->nknown] = k;
	return &s->known[s->nknown++];
}

static void reader_open(struct reader *rd, const struct setting *row)
{
	rd->val = xcalloc(1, row->v.type->size);
	if (row->store != NULL || row->dflt == NULL)
		return;
	rd->dflt = xcalloc(1, row->v.type->size);
	row->v.type->parse(&row->v, row->dflt, rd->dflt, NULL);
	row->v.type->print(&row->v, rd->dflt, &rd->dflt_text);
}

/* Does the same as cmd_value_text() for a row of numbered objects, but faster: a value that equals
 * the default is not printed. */
static bool save_differs(const struct reader *rd, const struct setting *row,
			 const struct set_obj *obj, struct sbuf *out)
{
	const void *val = (const char *)obj->cfg + row->offset;

	sbuf_reset(out);
	if (row->store != NULL) {
		if (!row->store->get(row, obj, rd->val))
			return false;
		val = rd->val;
	} else if (memcmp(val, rd->dflt, row->v.type->size) == 0) {
		return false;
	}
	row->v.type->print(&row->v, val, out);
	return row->store != NULL || strcmp(sbuf_str(out), sbuf_str(&rd->dflt_text)) != 0;
}

/* Adds the header fields that a stream has set: their rows are many, and most are not set. */
static void collect_fields(struct saving *s, const struct set_obj *obj)
{
	const struct stream_cfg *cfg = obj->cfg;
	struct sbuf text = {0};

	for (unsigned i = 0; i < cfg->frame.vals.n; i++) {
		const struct known_field *k = field_row(s, &cfg->frame.vals.val[i]);
		sbuf_reset(&text);
		if (k->row != NULL && cmd_value_text(k->row, obj, &text))
			add_entry(s, k->order, obj->id, k->row, sbuf_str(&text));
	}
	sbuf_free(&text);
}

static void collect_object(struct saving *s, const struct set_obj *obj)
{
	struct sbuf text = {0};

	for (unsigned i = 0; i < s->nrows; i++) {
		if (s->reader[i].val != NULL && s->rows[i]->scope == obj->scope &&
		    save_differs(&s->reader[i], s->rows[i], obj, &text))
			add_entry(s, i * MAX_NTH, obj->id, s->rows[i], sbuf_str(&text));
	}
	sbuf_free(&text);
	if (obj->scope == &scope_stream)
		collect_fields(s, obj);
}

static int by_row(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->order != y->order)
		return x->order < y->order ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

/* Appends the settings of a port's objects of one scope. */
static void put_objects(struct saving *s, const struct cmd_scope *scope, unsigned port)
{
	unsigned n = save_count(s, scope, port), last = UINT32_MAX;
	struct sbuf word = {0};
	struct set_obj obj;

	s->n = 0;
	s->next = xrealloc(s->next, (n + 1) * sizeof(*s->next));
	for (unsigned i = n; i-- > 0;) {
		s->next[i] = last;
		if (save_has(s, scope, port, i))
			last = i;
	}
	for (unsigned i = 0; i < n; i++)
		if (cmd_object(s->cmd, scope, port, i, &obj))
			collect_object(s, &obj);
	if (s->n > 0)
		qsort(s->e, s->n, sizeof(*s->e), by_row);
	cmd_scope_word(scope, &word);
	for (unsigned i = 0; i < s->n;) {
		unsigned k = i;
		while (k + 1 < s->n && s->e[k + 1].row == s->e[i].row &&
		       s->e[k + 1].id == s->next[s->e[k].id] &&
		       strcmp(s->e[k + 1].text, s->e[i].text) == 0)
			k++;
		sbuf_addf(s->out, "set %u/%s%u", port, sbuf_str(&word), s->e[i].id);
		if (k > i)
			sbuf_addf(s->out, "-%u", s->e[k].id);
		put_line(s->out, s->e[i].row->name, s->e[i].text);
		i = k + 1;
	}
	for (unsigned i = 0; i < s->n; i++)
		free(s->e[i].text);
	sbuf_free(&word);
}

void save_text(struct cmd *cmd, const struct cmd_host *host, struct port_cfg *start,
	       struct sbuf *out)
{
	struct saving s = {.cmd = cmd, .host = host, .start = start, .out = out};

	s.rows = set_rows(&s.nrows);
	s.reader = xcalloc(s.nrows, sizeof(*s.reader));
	for (unsigned i = 0; i < s.nrows; i++) {
		const struct proto *p;
		const struct field *f;
		unsigned nth;
		if (s.rows[i]->scope->level == LEVEL_NUMBERED && is_saved(s.rows[i]) &&
		    frame_field_parse(s.rows[i]->name, &p, &nth, &f, NULL) != 0)
			reader_open(&s.reader[i], s.rows[i]);
	}
	sbuf_add(out, "# wirerate " WR_VERSION ": settings and streams, for `load`\nreset all\n");
	put_global(&s);
	for (unsigned p = 0; p < host->nports(host->arg); p++) {
		put_streams(&s, p);
		put_port(&s, p);
		for (unsigned i = 0; i < cmd_nscopes(cmd); i++)
			if (cmd_scope_at(cmd, i)->level == LEVEL_NUMBERED)
				put_objects(&s, cmd_scope_at(cmd, i), p);
	}
	for (unsigned i = 0; i < s.nrows; i++) {
		free(s.reader[i].val);
		free(s.reader[i].dflt);
		sbuf_free(&s.reader[i].dflt_text);
	}
	free(s.reader);
	free(s.known);
	free(s.next);
	free(s.e);
}

static int save_run(struct cmd_run *r, const struct arg_val *args, struct err *e)
{
	struct sbuf text = {0};
	struct cmd_host host;
	struct port_cfg start;

	app_host(app_of(r), &host);
	ctl_port_defaults(app_of(r)->ctl, &start);
	save_text(r->cmd, &host, &start, &text);
	int rc = file_replace(args[0].text, text.s, text.len, e);
	sbuf_free(&text);
	return rc;
}

static const struct arg_spec args_save[] = {{ARG_FILE, "FILE"}, {ARG_END}};

const struct verb verb_save = {
	.name = "save",
	.args = args_save,
	.run = save_run,
	.flags = VERB_NO_LOAD,
	.help = "Write the settings and streams of all ports as a command file, for `load` or the option -f.\n"
		"What has its default is left out, and the file begins with `reset all`. If it cannot be written, the old one stays.",
};
