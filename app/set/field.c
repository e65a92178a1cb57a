/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows for every field of every protocol, made from the protocol table: "udp.dst", those of further headers ("vlan[2].vid") when they are
 * asked for, and one row per Pktgen word ("dport", "dst-ip", typed "dst ip") that stands for the outermost header of the stream's frame
 * that has it. */
#include "rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct field_arg {
	const struct proto *proto;
	const struct field *field;
	unsigned nth; /* 1: first header of this protocol in the stack */
	struct vspec one; /* of one value */
};

struct field_row {
	struct setting row;
	struct field_arg arg;
	struct setting **more; /* of the first header: rows of the further ones, made when they are asked for */
};

/* Rows of one protocol, in the order of its fields. */
struct proto_rows {
	const struct proto *proto;
	struct field_row *field;
};

/* Pktgen's word and the fields that it may mean, one per protocol. */
struct word_arg {
	char *word;
	unsigned n;
	struct { const struct proto *proto; const struct setting *row; } *in;
};

static struct proto_rows *protos;
static unsigned nprotos;
static struct setting **words; /* arg: struct word_arg */
static unsigned nwords;
static struct setting **more; /* rows of further headers, in the order in which they were made */
static unsigned nmore;

static const struct frame_spec *spec_of(const void *obj)
{
	return &((const struct stream_cfg *)obj)->frame;
}

static struct frame_vals *vals_of(void *obj)
{
	return &((struct stream_cfg *)obj)->frame.vals;
}

static const struct frame_val *val_of(const struct field_arg *a, const void *obj)
{
	return frame_vals_find(&spec_of(obj)->vals, a->proto, a->nth, a->field);
}

/* Index of the nth header of p in the stack, -1: not there. */
static int header_at(const struct frame_stack *s, const struct proto *p, unsigned nth)
{
	for (unsigned i = 0; i < s->n; i++)
		if (s->hdr[i] == p && --nth == 0)
			return (int)i;
	return -1;
}

/* What would be used when the user says nothing: read from the frame itself, so lengths and checksums are the true ones; without such
 * a header, the port's default or the field's. */
static void field_in_force(const struct field_arg *a, const struct stream_cfg *c, uint8_t *v)
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
		a->one.type->parse(&a->one, a->field->dflt, v, NULL);
}

static void field_unset(const struct setting *row, void *obj)
{
	const struct field_arg *a = row->arg;

	frame_vals_unset(vals_of(obj), a->proto, a->nth, a->field);
}

/* The row whose last value was an address with bits beside its prefix: told by its check, which is called after the write. */
static const struct setting *one_of_prefix;

static void vary_put(const struct setting *row, void *obj, const void *val)
{
	const struct field_arg *a = row->arg;
	const struct vary_val *v = val;

	frame_vals_vary(vals_of(obj), a->proto, a->nth, a->field, &v->v);
	one_of_prefix = v->one_of_prefix ? row : NULL;
}

static bool vary_get(const struct setting *row, const void *obj, void *val)
{
	const struct field_arg *a = row->arg;
	const struct frame_val *set = val_of(a, obj);
	struct vary_val *out = val;
	uint8_t v[VT_FIELD_BYTES];

	out->one_of_prefix = false;
	if (set != NULL && set->vary != NULL) {
		out->v = *set->vary;
		if (out->v.kind == VARY_LIST)
			out->v.list = memcpy(out->list, set->vary->list, out->v.n * sizeof(out->list[0]));
		return true;
	}
	if (set != NULL)
		memcpy(v, set->v, sizeof(v));
	else
		field_in_force(a, obj, v);
	out->v = (struct vary){.bits = (uint8_t)a->one.bits, .div = 1, .first = vary_load(v)};
	return set != NULL;
}

static const struct setting_store vary_store_fns = {vary_put, vary_get, field_unset};

static void bytes_put(const struct setting *row, void *obj, const void *val)
{
	const struct field_arg *a = row->arg;

	frame_vals_bytes(vals_of(obj), a->proto, a->nth, a->field, val);
}

static bool bytes_get(const struct setting *row, const void *obj, void *val)
{
	const struct field_arg *a = row->arg;
	const struct frame_val *set = val_of(a, obj);
	struct hexbytes *out = val;

	out->n = 0;
	if (set != NULL && set->bytes != NULL)
		memcpy(out, set->bytes, sizeof(*out) + set->bytes->n);
	else if (set == NULL && a->field->dflt != NULL)
		a->one.type->parse(&a->one, a->field->dflt, val, NULL);
	return set != NULL;
}

static const struct setting_store bytes_store = {bytes_put, bytes_get, field_unset};

/* A field without bits of its own says only that a part of its header is there. */
static void here_put(const struct setting *row, void *obj, const void *val)
{
	const struct field_arg *a = row->arg;

	frame_vals_set(vals_of(obj), a->proto, a->nth, a->field, val);
}

static bool here_get(const struct setting *row, const void *obj, void *val)
{
	const struct field_arg *a = row->arg;
	const struct frame_val *set = val_of(a, obj);

	if (set != NULL)
		memcpy(val, set->v, VT_FIELD_BYTES);
	else
		field_in_force(a, obj, val);
	return set != NULL;
}

static const struct setting_store here_store = {here_put, here_get, field_unset};

static bool is_field_row(const struct setting *row)
{
	return row->store == &vary_store_fns || row->store == &bytes_store || row->store == &here_store;
}

static bool field_check(const struct setting *row, const void *obj, struct err *warn)
{
	const struct field_arg *a = row->arg;
	const struct frame_stack *s = &spec_of(obj)->stack;
	const struct frame_val *set = val_of(a, obj);
	struct sbuf text = {0};

	if (set != NULL && header_at(s, a->proto, a->nth) < 0) {
		frame_stack_print(s, &text);
		err_set(warn, EINVAL, "'%s' is set, but the frame %s has no such header; `set <ports> frame ...` adds it", row->name,
			sbuf_str(&text));
	} else if (set != NULL && one_of_prefix == row && set->vary == NULL) {
		a->one.type->print(&a->one, set->v, &text);
		err_set(warn, EINVAL, "'%s' is %s in every frame, because it has bits beside the prefix; the prefix without them gives all of "
			"its addresses", row->name, sbuf_str(&text));
	} else {
		return true;
	}
	sbuf_free(&text);
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

bool set_applies(const struct setting *row, const void *obj)
{
	const struct field_arg *a = row->arg;

	if (row->flags & (SET_DERIVED | SET_LATER) || row->resolve != NULL)
		return false;
	if (set_is_held(row))
		return set_held_given(row, obj);
	if (!is_field_row(row))
		return row->scope != SCOPE_STREAM || !set_payload_idle(row, obj);
	return header_at(&spec_of(obj)->stack, a->proto, a->nth) >= 0 || val_of(a, obj) != NULL;
}

static struct field_row *field_row(const struct proto *p, const struct field *f)
{
	for (unsigned i = 0; i < nprotos; i++)
		if (protos[i].proto == p)
			return &protos[i].field[f - p->fields];
	return NULL;
}

static const struct setting *word_resolve(const struct setting *row, const void *obj, struct err *e)
{
	const struct word_arg *w = row->arg;
	struct sbuf stack = {0}, has = {0};

	if (obj == NULL || w->n == 1) /* a word with one meaning needs no header yet: the field's own rule warns */
		return w->in[0].row;
	const struct frame_stack *s = &spec_of(obj)->stack;
	for (unsigned h = 0; h < s->n; h++)
		for (unsigned i = 0; i < w->n; i++)
			if (w->in[i].proto == s->hdr[h])
				return w->in[i].row;
	frame_stack_print(s, &stack);
	for (unsigned i = 0; i < w->n; i++)
		sbuf_addf(&has, "%s%s", i > 0 ? ", " : "", w->in[i].row->name);
	err_set(e, EINVAL, "no header of the frame %s has '%s', which could be %s; set that field by its name, or the frame first",
		sbuf_str(&stack), w->word, sbuf_str(&has));
	sbuf_free(&stack);
	sbuf_free(&has);
	return NULL;
}

/* Value type and store: what a field's kind allows. */
static void row_type(struct setting *row, const struct field_arg *a)
{
	row->v = a->one;
	if (a->field->kind == FIELD_BYTES) {
		row->store = &bytes_store;
	} else if (a->field->bits == 0) {
		row->store = &here_store;
	} else {
		row->v = (struct vspec){.type = &vt_vary, .of = &a->one};
		row->store = &vary_store_fns;
	}
}

void set_field_name(const struct proto *p, unsigned nth, const struct field *f, struct sbuf *out)
{
	sbuf_add(out, p->name);
	if (nth > 1)
		sbuf_addf(out, "[%u]", nth);
	sbuf_addf(out, ".%s", f->name);
}

static void row_init(struct field_row *r, const struct proto *p, unsigned nth, const struct field *f)
{
	struct sbuf name = {0};

	set_field_name(p, nth, f, &name);
	r->arg = (struct field_arg){.proto = p, .field = f, .nth = nth};
	proto_vspec(f, &r->arg.one);
	r->row = (struct setting){.name = name.s, .scope = SCOPE_STREAM, .dflt = f->dflt, .help = f->help, .arg = &r->arg, .check = field_check};
	row_type(&r->row, &r->arg);
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

static void word_means(struct setting *row, const struct proto *p, const struct setting *field)
{
	struct word_arg *w = (struct word_arg *)(uintptr_t)row->arg;

	for (unsigned i = 0; i < w->n; i++)
		if (w->in[i].proto == p)
			return;
	w->in = xrealloc(w->in, (w->n + 1) * sizeof(*w->in));
	w->in[w->n].proto = p;
	w->in[w->n++].row = field;
}

static struct setting *word_new(const char *word, struct field_row *r)
{
	struct setting *row = xcalloc(1, sizeof(*row));
	struct word_arg *w = xcalloc(1, sizeof(*w));
	struct sbuf help = {0};
	char *name = xstrdup(word);

	w->word = xstrdup(word);
	for (char *c = name; *c != '\0'; c++)
		if (*c == ' ')
			*c = '-';
	sbuf_addf(&help, "%s, in the outermost header that has it", r->arg.field->help);
	*row = (struct setting){.name = name, .arg = w, .scope = SCOPE_STREAM, .v = r->row.v, .dflt = r->row.dflt, .help = help.s,
				.resolve = word_resolve};
	words = xrealloc(words, (nwords + 1) * sizeof(*words));
	return words[nwords++] = row;
}

/* One row for a field's word list: the first word that no earlier row has is its name, those after it are aliases. A word that has a row
 * means this field too, in headers of this protocol. */
static void add_words(const struct proto *p, struct field_row *r)
{
	const char *list = r->arg.field->word;
	struct setting *row = NULL;
	struct sbuf alias = {0};
	char word[64];

	while (next_word(&list, word, sizeof(word)) != NULL) {
		struct setting *known = word_row(word);
		bool first = row == NULL;
		if (known != NULL && known != row)
			word_means(known, p, &r->row);
		if (known != NULL)
			continue;
		if (first) {
			row = word_new(word, r);
			word_means(row, p, &r->row);
		}
		if (!first || strchr(word, ' ') != NULL)
			sbuf_addf(&alias, "%s%s", alias.len > 0 ? "," : "", word);
	}
	if (row != NULL)
		row->alias = alias.s;
}

static void make_rows(void)
{
	for (const struct proto *const *p = proto_table; *p != NULL; p++, nprotos++) {
		unsigned n = 0;
		while ((*p)->fields != NULL && (*p)->fields[n].name != NULL)
			n++;
		protos = xrealloc(protos, (nprotos + 1) * sizeof(*protos));
		protos[nprotos] = (struct proto_rows){*p, xcalloc(n + 1, sizeof(struct field_row))};
		for (unsigned i = 0; i < n; i++)
			row_init(&protos[nprotos].field[i], *p, 1, &(*p)->fields[i]);
	}
	for (unsigned i = 0; i < nprotos; i++)
		for (struct field_row *r = protos[i].field; r->row.name != NULL; r++)
			add_words(protos[i].proto, r);
}

static void add_row(const struct setting ***rows, unsigned *n, const struct setting *row)
{
	*rows = xrealloc(*rows, (*n + 1) * sizeof(**rows));
	(*rows)[(*n)++] = row;
}

void set_field_rows(const struct setting ***rows, unsigned *n)
{
	if (protos == NULL)
		make_rows();
	for (unsigned i = 0; i < nprotos; i++)
		for (const struct field_row *r = protos[i].field; r->row.name != NULL; r++)
			add_row(rows, n, &r->row);
	for (unsigned i = 0; i < nwords; i++)
		add_row(rows, n, words[i]);
}

const struct setting *set_more_row(unsigned i)
{
	return i < nmore ? more[i] : NULL;
}

const struct setting *set_row_named(const char *name)
{
	const struct proto *p;
	const struct field *f;
	unsigned nth;

	if (strchr(name, '[') == NULL || frame_field_parse(name, &p, &nth, &f, NULL) != 0)
		return NULL;
	if (protos == NULL)
		make_rows();
	struct field_row *first = field_row(p, f);
	if (first == NULL || nth == 1)
		return first != NULL ? &first->row : NULL;
	if (first->more == NULL)
		first->more = xcalloc(FRAME_MAX_HDRS - 1, sizeof(struct setting *));
	struct setting **known = &first->more[nth - 2];
	if (*known == NULL) {
		struct field_row *r = xcalloc(1, sizeof(*r));
		row_init(r, p, nth, f);
		*known = &r->row;
		more = xrealloc(more, (nmore + 1) * sizeof(struct setting *));
		more[nmore++] = &r->row;
	}
	return *known;
}
