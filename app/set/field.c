/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows for every field of every protocol, made from the protocol table: "udp.dst", "vlan[2].vid", and one row per Pktgen word
 * ("dport", "dst-ip", typed "dst ip") that stands for the outermost header of the stream's frame that has it. */
#include "rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct field_arg {
	const struct proto *proto;
	const struct field *field;
	unsigned nth; /* 1: first header of this protocol in the stack */
};

static struct setting *rows;
static unsigned nrows, nfields; /* field rows first, then word rows */

static const struct frame_spec *spec_of(const void *obj)
{
	return &((const struct stream_cfg *)obj)->frame;
}

/* Index of the nth header of p in the stack, -1: not there. */
static int header_at(const struct frame_stack *s, const struct proto *p, unsigned nth)
{
	for (unsigned i = 0; i < s->n; i++)
		if (s->hdr[i] == p && --nth == 0)
			return (int)i;
	return -1;
}

static void field_put(const struct setting *row, void *obj, const void *val)
{
	const struct field_arg *a = row->arg;

	frame_vals_set(&((struct stream_cfg *)obj)->frame.vals, a->proto, a->nth, a->field, val);
}

/* What would be used when the user says nothing: read from the frame itself, so lengths and checksums are the true ones; without such
 * a header, the port's default or the field's. */
static void field_in_force(const struct field_arg *a, const struct setting *row, const struct stream_cfg *c, uint8_t *v)
{
	int h = header_at(&c->frame.stack, a->proto, a->nth);
	const struct frame *f = h >= 0 ? set_frame_now(c) : NULL;
	const struct frame_val *d = frame_vals_find(&c->dflt, a->proto, a->nth, a->field);

	memset(v, 0, VT_FIELD_BYTES);
	if (f != NULL)
		proto_get(a->field, f->bytes + f->off[h], v);
	else if (d != NULL)
		memcpy(v, d->v, VT_FIELD_BYTES);
	else if (a->field->dflt != NULL)
		row->v.type->parse(&row->v, a->field->dflt, v, NULL);
}

static bool field_get(const struct setting *row, const void *obj, void *val)
{
	const struct field_arg *a = row->arg;
	const struct frame_val *set = frame_vals_find(&spec_of(obj)->vals, a->proto, a->nth, a->field);

	if (set != NULL)
		memcpy(val, set->v, VT_FIELD_BYTES);
	else
		field_in_force(a, row, obj, val);
	return set != NULL;
}

static void field_unset(const struct setting *row, void *obj)
{
	const struct field_arg *a = row->arg;

	frame_vals_unset(&((struct stream_cfg *)obj)->frame.vals, a->proto, a->nth, a->field);
}

static const struct setting_store field_store = {field_put, field_get, field_unset};

static bool field_check(const struct setting *row, const void *obj, struct err *warn)
{
	const struct field_arg *a = row->arg;
	const struct frame_stack *s = &spec_of(obj)->stack;
	struct sbuf stack = {0};

	if (header_at(s, a->proto, a->nth) >= 0 || frame_vals_find(&spec_of(obj)->vals, a->proto, a->nth, a->field) == NULL)
		return true;
	frame_stack_print(s, &stack);
	err_set(warn, EINVAL, "'%s' is set, but the frame %s has no such header; `set <ports> frame ...` adds it", row->name,
		sbuf_str(&stack));
	sbuf_free(&stack);
	return false;
}

/* Next word of a comma list into buf; NULL at the end. */
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

static bool field_has_word(const struct field *f, const char *word)
{
	const char *list = f->word;
	char buf[64];

	while (next_word(&list, buf, sizeof(buf)) != NULL)
		if (strcmp(buf, word) == 0)
			return true;
	return false;
}

bool set_applies(const struct setting *row, const void *obj)
{
	const struct field_arg *a = row->arg;

	if (row->flags & (SET_DERIVED | SET_LATER) || row->resolve != NULL)
		return false;
	if (set_is_held(row))
		return set_held_given(row, obj);
	return row->store != &field_store || header_at(&spec_of(obj)->stack, a->proto, a->nth) >= 0 ||
	       frame_vals_find(&spec_of(obj)->vals, a->proto, a->nth, a->field) != NULL;
}

static const struct setting *field_row(const struct proto *p, unsigned nth, const struct field *f)
{
	for (unsigned i = 0; i < nfields; i++) {
		const struct field_arg *a = rows[i].arg;
		if (a->proto == p && a->nth == nth && a->field == f)
			return &rows[i];
	}
	return NULL;
}

static const struct setting *word_in_header(const struct proto *p, const char *word)
{
	for (const struct field *f = p->fields; f != NULL && f->name != NULL; f++)
		if (field_has_word(f, word))
			return field_row(p, 1, f);
	return NULL;
}

static const struct setting *word_resolve(const struct setting *row, const void *obj, struct err *e)
{
	const struct setting *first = NULL;
	struct sbuf stack = {0}, has = {0};
	unsigned n = 0;

	if (obj != NULL) {
		const struct frame_stack *s = &spec_of(obj)->stack;
		for (unsigned i = 0; i < s->n; i++) {
			const struct setting *found = word_in_header(s->hdr[i], row->arg);
			if (found != NULL)
				return found;
		}
		frame_stack_print(s, &stack);
	}
	for (const struct proto *const *p = proto_table; *p != NULL; p++) {
		const struct setting *r = word_in_header(*p, row->arg);
		if (r == NULL)
			continue;
		sbuf_addf(&has, "%s%s", n > 0 ? ", " : "", r->name);
		if (n++ == 0)
			first = r;
	}
	/* A word with one meaning needs no header yet: the order of lines does not matter, and the field's own rule warns. */
	if (obj != NULL && n > 1) {
		err_set(e, EINVAL, "no header of the frame %s has '%s', which could be %s; set that field by its name, or the frame first",
			sbuf_str(&stack), (const char *)row->arg, sbuf_str(&has));
		first = NULL;
	}
	sbuf_free(&stack);
	sbuf_free(&has);
	return first;
}

static struct setting *row_new(void)
{
	rows = xrealloc(rows, (nrows + 1) * sizeof(*rows));
	memset(&rows[nrows], 0, sizeof(*rows));
	return &rows[nrows++];
}

static void add_field(const struct proto *p, unsigned nth, const struct field *f)
{
	struct setting *row = row_new();
	struct field_arg *a = xcalloc(1, sizeof(*a));
	struct sbuf name = {0};

	*a = (struct field_arg){p, f, nth};
	sbuf_add(&name, p->name);
	if (nth > 1)
		sbuf_addf(&name, "[%u]", nth);
	sbuf_addf(&name, ".%s", f->name);
	row->name = name.s;
	row->scope = SCOPE_STREAM;
	proto_vspec(f, &row->v);
	row->dflt = f->dflt;
	row->help = f->help;
	row->store = &field_store;
	row->arg = a;
	row->check = field_check;
}

static bool word_known(const char *word)
{
	char buf[64];

	for (unsigned i = nfields; i < nrows; i++) {
		const char *list = rows[i].alias;
		if (strcmp(rows[i].arg, word) == 0)
			return true;
		while (next_word(&list, buf, sizeof(buf)) != NULL)
			if (strcmp(buf, word) == 0)
				return true;
	}
	return false;
}

/* One row for a field's word list: the first word that no earlier row has is its name, those after it are aliases. */
static void add_words(const struct field *f)
{
	const char *list = f->word;
	char word[64], *first = NULL;
	struct sbuf alias = {0}, help = {0};

	while (next_word(&list, word, sizeof(word)) != NULL) {
		if (word_known(word))
			continue;
		if (first == NULL)
			first = xstrdup(word);
		if (first != NULL && (strcmp(first, word) != 0 || strchr(word, ' ') != NULL))
			sbuf_addf(&alias, "%s%s", alias.len > 0 ? "," : "", word);
	}
	if (first == NULL)
		return;
	struct setting *row = row_new();
	char *name = xstrdup(first);
	for (char *p = name; *p != '\0'; p++)
		if (*p == ' ')
			*p = '-';
	sbuf_addf(&help, "%s, in the outermost header that has it", f->help);
	row->name = name;
	row->alias = alias.s;
	row->arg = first;
	row->scope = SCOPE_STREAM;
	proto_vspec(f, &row->v);
	row->dflt = f->dflt;
	row->help = help.s;
	row->resolve = word_resolve;
}

const struct setting *set_field_rows(unsigned *n)
{
	if (rows == NULL) {
		for (const struct proto *const *p = proto_table; *p != NULL; p++)
			for (unsigned nth = 1; nth <= (proto_bind(*p, *p) != NULL ? 2u : 1u); nth++)
				for (const struct field *f = (*p)->fields; f != NULL && f->name != NULL; f++)
					add_field(*p, nth, f);
		nfields = nrows;
		for (const struct proto *const *p = proto_table; *p != NULL; p++) {
			for (const struct field *f = (*p)->fields; f != NULL && f->name != NULL; f++)
				add_words(f);
		}
	}
	*n = nrows;
	return rows;
}
