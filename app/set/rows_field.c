/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows for header fields, made from the protocol table. Each field of each protocol has a row
 * ("udp.dst"). Rows for second and further headers of a kind ("vlan[2].vid") are made when somebody
 * asks for them. */
#include "rows.h"

#include "face.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct field_arg {
	const struct proto *proto;
	const struct field *field;
	unsigned nth;     /* which header of this protocol in the stack, from 1 on */
	struct vspec one; /* the type of one value, without a variation */
};

struct field_row {
	struct setting row;
	struct field_arg arg;
	/* In the row of the first header: the rows of the second header and on, by nth - 2. Each is
	 * NULL until it is made. */
	struct setting **more;
};

/* Rows of one protocol, in the order of its fields. */
struct proto_rows {
	const struct proto *proto;
	struct field_row *field;
};

static struct proto_rows *protos;
static unsigned nprotos;
/* rows of further headers, sorted by protocol, header and field */
static const struct setting **more;
static unsigned nmore;

static const struct frame_spec *spec_of(const struct set_obj *obj)
{
	return &((const struct stream_cfg *)obj->cfg)->frame;
}

static struct frame_vals *vals_of(const struct set_obj *obj)
{
	return &((struct stream_cfg *)obj->cfg)->frame.vals;
}

static const struct frame_val *val_of(const struct field_arg *a, const struct set_obj *obj)
{
	return frame_vals_find(&spec_of(obj)->vals, a->proto, a->nth, a->field);
}

/* Index of the nth header of protocol p in the stack, -1: it is not there. */
static int header_at(const struct frame_stack *s, const struct proto *p, unsigned nth)
{
	if (nth > FRAME_REPLY)
		nth -= FRAME_REPLY;
	for (unsigned i = 0; i < s->n; i++)
		if (s->hdr[i] == p && --nth == 0)
			return (int)i;
	return -1;
}

/* The frame that would be sent now, and in *h the index of the header that has the field. NULL: no
 * frame can be built, or it does not have the header. */
static const struct frame *frame_of(const struct field_arg *a, const struct set_obj *obj,
				    unsigned *h)
{
	int at = header_at(&spec_of(obj)->stack, a->proto, a->nth);

	*h = (unsigned)at;
	return at >= 0 ? set_frame_now(obj) : NULL;
}

/* The value that is used when the user has set none. It is read from the frame, so that lengths and
 * checksums are the true ones. Where the frame has no such field, it is the default of the port or
 * of the field. */
static void field_in_force(const struct field_arg *a, const struct set_obj *obj, uint8_t *v)
{
	const struct stream_cfg *c = obj->cfg;
	unsigned h;
	const struct frame *f = frame_of(a, obj, &h);
	const struct frame_val *d = frame_vals_find(&c->dflt, a->proto, a->nth, a->field),
			       *same = a->nth > FRAME_REPLY
					       ? frame_vals_find(&spec_of(obj)->vals, a->proto,
								 a->nth - FRAME_REPLY, a->field)
					       : NULL;

	if (same != NULL && same->bytes == NULL) {
		memcpy(v, same->v, VT_FIELD_BYTES);
		return;
	}
	if (f != NULL && frame_field_get(f, h, a->field, v))
		return;
	if (d != NULL)
		memcpy(v, d->v, VT_FIELD_BYTES);
	else
		proto_default(a->proto, a->field, v);
}

static void field_unset(const struct setting *row, const struct set_obj *obj)
{
	const struct field_arg *a = row->arg;

	frame_vals_unset(vals_of(obj), a->proto, a->nth, a->field);
}

/* The row whose value was written last, if that was an address with bits beside its prefix; else
 * NULL. The row's check, which is called after the write, warns of it. */
static const struct setting *one_of_prefix;

static void vary_put(const struct setting *row, const struct set_obj *obj, const void *val)
{
	const struct field_arg *a = row->arg;
	const struct vary_val *v = val;

	if (v->found)
		frame_vals_found(vals_of(obj), a->proto, a->nth, a->field, NULL);
	else
		frame_vals_vary(vals_of(obj), a->proto, a->nth, a->field, &v->v);
	one_of_prefix = v->one_of_prefix ? row : NULL;
}

/* Whether what nobody has set is found, when the port starts. */
static bool found_by_default(const struct set_obj *obj)
{
	struct ctl *ctl = set_ctl(obj);

	return ctl != NULL && ctl_stream_finds(ctl, obj->port, obj->id);
}

static bool vary_get(const struct setting *row, const struct set_obj *obj, void *val)
{
	const struct field_arg *a = row->arg;
	const struct frame_val *set = val_of(a, obj);
	struct vary_val *out = val;
	uint8_t v[VT_FIELD_BYTES];

	out->one_of_prefix = false;
	out->found = set != NULL ? set->found : row->v.found && found_by_default(obj);
	if (set != NULL && set->vary != NULL && !set->found) {
		out->v = *set->vary;
		if (out->v.kind == VARY_LIST)
			out->v.list =
				memcpy(out->list, set->vary->list, out->v.n * sizeof(out->list[0]));
		return true;
	}
	for (const struct face *const *f = faces; set == NULL && *f != NULL; f++)
		if ((*f)->field_default != NULL &&
		    (*f)->field_default(obj->cfg, a->proto, a->nth, a->field, &out->v))
			return false;
	if (set != NULL)
		memcpy(v, set->v, sizeof(v));
	else
		field_in_force(a, obj, v);
	out->v = (struct vary){.bits = (uint8_t)a->one.bits, .div = 1, .first = vary_load(v)};
	return set != NULL;
}

static const struct setting_store vary_store_fns = {vary_put, vary_get, field_unset};

static void bytes_put(const struct setting *row, const struct set_obj *obj, const void *val)
{
	const struct field_arg *a = row->arg;

	frame_vals_bytes(vals_of(obj), a->proto, a->nth, a->field, val);
}

static bool bytes_get(const struct setting *row, const struct set_obj *obj, void *val)
{
	const struct field_arg *a = row->arg;
	const struct frame_val *set = val_of(a, obj);
	const struct hexbytes *from =
		set != NULL ? set->bytes : proto_default_bytes(a->proto, a->field);
	struct hexbytes *out = val;
	unsigned h, n = 0;
	const struct frame *f = set == NULL ? frame_of(a, obj, &h) : NULL;
	const uint8_t *b = f != NULL ? frame_field_bytes(f, h, a->field, &n) : NULL;

	out->n = 0;
	if (b != NULL && n <= HEXBYTES_MAX) {
		out->n = (uint16_t)n;
		memcpy(out->b, b, n);
	} else if (from != NULL) {
		memcpy(out, from, sizeof(*out) + from->n);
	}
	return set != NULL;
}

static const struct setting_store bytes_store = {bytes_put, bytes_get, field_unset};

/* The store of fields that have no bits. Such a field only says that a part of its header is
 * there. */
static void here_put(const struct setting *row, const struct set_obj *obj, const void *val)
{
	const struct field_arg *a = row->arg;

	frame_vals_set(vals_of(obj), a->proto, a->nth, a->field, val);
}

static bool here_get(const struct setting *row, const struct set_obj *obj, void *val)
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
	return row->store == &vary_store_fns || row->store == &bytes_store ||
	       row->store == &here_store;
}

static bool absent_header(const struct setting *row, const struct frame_stack *stack,
			  struct err *warn)
{
	struct sbuf text = {0};

	frame_stack_print(stack, &text);
	err_set(warn, EINVAL,
		"'%s' is set, but the frame %s has no such header; `set <ports> frame ...` adds it",
		row->name, sbuf_str(&text));
	sbuf_free(&text);
	return false;
}

/* Says whether the user expects to see a value in the frame. That is not so for no bytes, or where
 * a field that stands for a part of the header is set to 0. */
static bool field_asks(const struct field_arg *a, const struct frame_val *set)
{
	if (a->field->kind == FIELD_BYTES)
		return set->bytes != NULL && set->bytes->n != 0;
	return a->field->bits != 0 || set->v[VT_FIELD_BYTES - 1] != 0;
}

static bool in_frame(const struct field_arg *a, const struct frame *f, unsigned h)
{
	uint8_t v[VT_FIELD_BYTES];
	unsigned n;

	return a->field->kind == FIELD_BYTES ? frame_field_bytes(f, h, a->field, &n) != NULL
					     : frame_field_get(f, h, a->field, v);
}

/* Warns that the header does not have a field because of the value of another one: icmp.id with a
 * type that has no id. */
static void absent_field(const struct setting *row, const struct frame *f, unsigned h,
			 struct err *warn)
{
	const struct field_arg *a = row->arg;
	const char *by = a->field->when.field != NULL ? a->field->when.field
			 : a->field->section != NULL  ? a->field->section->when.field
						      : NULL;
	const struct field *field = by != NULL ? proto_field(a->proto, by) : NULL;
	uint8_t v[VT_FIELD_BYTES];
	struct sbuf text = {0};

	if (field != NULL && frame_field_get(f, h, field, v)) {
		struct vspec one;
		proto_vspec(field, &one);
		one.type->print(&one, v, &text);
		err_set(warn, EINVAL, "'%s' is set, but with %s.%s %s the header has no such field",
			row->name, a->proto->name, by, text.s);
	} else {
		err_set(warn, EINVAL, "'%s' is set, but the header has no such field as it is",
			row->name);
	}
	sbuf_free(&text);
}

static bool field_check(const struct setting *row, const struct set_obj *obj, struct err *warn)
{
	const struct field_arg *a = row->arg;
	const struct frame_stack *s = &spec_of(obj)->stack;
	const struct frame_val *set = val_of(a, obj);
	struct sbuf text = {0};
	unsigned h;

	if (set == NULL)
		return true;
	if (header_at(s, a->proto, a->nth) < 0)
		return absent_header(row, s, warn);
	const struct frame *f =
		field_asks(a, set) && (a->field->section != NULL || a->field->when.field != NULL)
			? frame_of(a, obj, &h)
			: NULL;
	if (f != NULL && !in_frame(a, f, h)) {
		absent_field(row, f, h, warn);
		return false;
	}
	if (one_of_prefix == row && set->vary == NULL) {
		a->one.type->print(&a->one, set->v, &text);
		err_set(warn, EINVAL,
			"'%s' is %s in every frame, because it has bits beside the prefix; the prefix without them gives all of "
			"its addresses",
			row->name, sbuf_str(&text));
		sbuf_free(&text);
		return false;
	}
	return true;
}

bool set_applies(const struct setting *row, const struct set_obj *obj)
{
	const struct field_arg *a = row->arg;

	if (row->flags & (SET_DERIVED | SET_LATER) || row->resolve != NULL)
		return false;
	for (const struct face *const *f = faces; *f != NULL; f++)
		if ((*f)->idle_row != NULL && (*f)->idle_row(row, obj))
			return false;
	if (row->scope == &scope_port)
		return true;
	if (!is_field_row(row))
		return row->scope != &scope_stream || !set_payload_idle(row, obj);
	if (val_of(a, obj) != NULL)
		return true;
	if (a->field->section == NULL && a->field->when.field == NULL)
		return header_at(&spec_of(obj)->stack, a->proto, a->nth) >= 0;
	unsigned h;
	const struct frame *f = frame_of(a, obj, &h);
	return f != NULL && in_frame(a, f, h);
}

static struct field_row *field_row(const struct proto *p, const struct field *f)
{
	for (unsigned i = 0; i < nprotos; i++)
		if (protos[i].proto == p)
			return &protos[i].field[f - p->fields];
	return NULL;
}

/* Gives a row the value type and the store that the kind of its field needs. */
static void row_type(struct setting *row, const struct field_arg *a)
{
	row->v = a->one;
	if (a->field->kind == FIELD_BYTES) {
		row->store = &bytes_store;
	} else if (a->field->bits == 0) {
		row->store = &here_store;
	} else {
		row->v = (struct vspec){.type = &vt_vary,
					.of = &a->one,
					.found = a->field->found && a->nth == 1};
		row->store = &vary_store_fns;
	}
}

static void row_init(struct field_row *r, const struct proto *p, unsigned nth,
		     const struct field *f)
{
	struct sbuf name = {0}, help = {0};

	frame_field_name(p, nth, f, &name);
	r->arg = (struct field_arg){.proto = p, .field = f, .nth = nth};
	proto_vspec(f, &r->arg.one);
	r->row = (struct setting){.name = name.s,
				  .scope = &scope_stream,
				  .why = WHY_FRAMES,
				  .dflt = f->dflt,
				  .help = f->help,
				  .arg = &r->arg,
				  .check = field_check};
	if (nth > FRAME_REPLY) {
		sbuf_addf(&help, "of a flow, in the frames from its server to its client: %s",
			  f->help);
		r->row.help = help.s;
	}
	if (nth <= FRAME_REPLY && (f->kind == FIELD_IP4 || f->kind == FIELD_IP6)) {
		const char *net = f->kind == FIELD_IP4 ? "10.0.0." : "2001:db8::",
			   *all = f->kind == FIELD_IP4 ? "0" : "";
		sbuf_addf(&help, "%s; %s%s/24 gives all addresses of the prefix, %s1/24 that one",
			  f->help, net, all, net);
		r->row.help = help.s;
	}
	row_type(&r->row, &r->arg);
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
}

void set_field_rows(const struct setting ***rows, unsigned *n)
{
	if (protos == NULL)
		make_rows();
	for (unsigned i = 0; i < nprotos; i++)
		for (const struct field_row *r = protos[i].field; r->row.name != NULL; r++)
			set_add_row(rows, n, &r->row);
}

unsigned set_more_rows(const struct setting *const **rows)
{
	*rows = more;
	return nmore;
}

static unsigned proto_index(const struct proto *p)
{
	unsigned i = 0;

	while (i < nprotos && protos[i].proto != p)
		i++;
	return i;
}

static bool comes_before(const struct field_arg *a, const struct field_arg *b)
{
	if (a->proto != b->proto)
		return proto_index(a->proto) < proto_index(b->proto);
	return a->nth != b->nth ? a->nth < b->nth : a->field < b->field;
}

static void more_add(const struct field_row *r)
{
	unsigned at = nmore;

	more = xrealloc(more, (nmore + 1) * sizeof(*more));
	for (; at > 0 && comes_before(&r->arg, more[at - 1]->arg); at--)
		more[at] = more[at - 1];
	more[at] = &r->row;
	nmore++;
}

/* The row of a field in the nth header of its protocol. It is made at the first call. */
static const struct setting *nth_row(const struct proto *p, unsigned nth, const struct field *f)
{
	if (protos == NULL)
		make_rows();
	struct field_row *first = field_row(p, f);
	if (first == NULL || nth == 1)
		return first != NULL ? &first->row : NULL;
	if (first->more == NULL)
		first->more = xcalloc(FRAME_REPLY + FRAME_MAX_HDRS - 1, sizeof(struct setting *));
	struct setting **known = &first->more[nth - 2];
	if (*known == NULL) {
		struct field_row *r = xcalloc(1, sizeof(*r));
		row_init(r, p, nth, f);
		*known = &r->row;
		more_add(r);
	}
	return *known;
}

const struct setting *set_field_row(const struct proto *p, const struct field *f)
{
	return nth_row(p, 1, f);
}

const struct setting *set_row_named(const char *name)
{
	const struct proto *p;
	const struct field *f;
	unsigned nth;

	if ((strchr(name, '[') == NULL && strncmp(name, "reply.", 6) != 0) ||
	    frame_field_parse(name, &p, &nth, &f, NULL) != 0)
		return NULL;
	return nth_row(p, nth, f);
}

void set_row_wrong(const char *name, struct err *e)
{
	const struct proto *p;
	const struct field *f;
	unsigned nth;

	if (strncmp(name, "reply.", 6) == 0)
		frame_field_parse(name, &p, &nth, &f, e);
}

void set_rows_for(const struct frame_stack *s)
{
	for (unsigned h = 0; h < s->n; h++) {
		unsigned nth = 1;
		for (unsigned i = 0; i < h; i++)
			nth += s->hdr[i] == s->hdr[h];
		for (const struct field *f = s->hdr[h]->fields;
		     nth > 1 && f != NULL && f->name != NULL; f++)
			nth_row(s->hdr[h], nth, f);
	}
}
