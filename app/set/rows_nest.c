/* SPDX-License-Identifier: BSD-3-Clause */
/* The setting nest: varying fields that count like the digits of one number,
 * "udp.src,ipv4.dst+eth.dst". The fastest field comes first. Fields that are joined by + are one
 * digit and step together. */
#include "rows.h"

#include <errno.h>
#include <string.h>

/* Adds the field whose name is text[at .. at + len) to the nest. */
static int add_field(const struct vspec *s, const char *text, size_t at, size_t len,
		     struct frame_nest *n, struct err *e)
{
	const struct proto *p;
	const struct field *f;
	unsigned nth;
	char name[64];

	if (len == 0)
		return vspec_fail(s, EINVAL, (int)at, e, text, "has an empty place");
	if (n->n == FRAME_MAX_NEST)
		return vspec_fail(s, ERANGE, (int)at, e, text, "has more than %d fields",
				  FRAME_MAX_NEST);
	memcpy(name, text + at, len < sizeof(name) ? len : sizeof(name) - 1);
	name[len < sizeof(name) ? len : sizeof(name) - 1] = '\0';
	int rc = frame_field_parse(name, &p, &nth, &f, e);
	if (rc != 0) {
		if (e != NULL)
			e->col += (int)at;
		return rc;
	}
	if (f->kind == FIELD_BYTES || f->bits == 0)
		return vspec_fail(s, EINVAL, (int)at, e, text, "has %s, which does not vary", name);
	for (unsigned i = 0; i < n->n; i++)
		if (n->at[i].proto == p && n->at[i].field == f && n->at[i].nth == nth)
			return vspec_fail(s, EINVAL, (int)at, e, text, "has %s twice", name);
	n->at[n->n].proto = p;
	n->at[n->n].field = f;
	n->at[n->n].nth = (uint8_t)nth;
	n->at[n->n++].same_digit = at > 0 && text[at - 1] == '+';
	return 0;
}

static int nest_vparse(const struct vspec *s, const char *text, void *out, struct err *e)
{
	struct frame_nest n;
	int rc = 0;

	memset(&n, 0, sizeof(n));
	for (size_t at = 0; rc == 0 && strcmp(text, "none") != 0;) {
		size_t len = strcspn(text + at, ",+");
		rc = add_field(s, text, at, len, &n, e);
		at += len;
		if (text[at] == '\0')
			break;
		at++;
	}
	if (rc == 0)
		memcpy(out, &n, sizeof(n));
	return rc;
}

static void nest_vprint(const struct vspec *s, const void *val, struct sbuf *out)
{
	const struct frame_nest *n = val;

	(void)s;
	if (n->n == 0)
		sbuf_add(out, "none");
	for (unsigned i = 0; i < n->n; i++) {
		if (i > 0)
			sbuf_addc(out, n->at[i].same_digit ? '+' : ',');
		frame_field_name(n->at[i].proto, n->at[i].nth, n->at[i].field, out);
	}
}

static void nest_vcomplete(const struct vspec *s, const char *prefix,
			   void (*offer)(void *arg, const char *word), void *arg)
{
	size_t head = 0;
	struct sbuf name = {0}, word = {0};

	(void)s;
	for (size_t i = 0; prefix[i] != '\0'; i++)
		if (prefix[i] == ',' || prefix[i] == '+')
			head = i + 1;
	if (head == 0 && strncmp("none", prefix, strlen(prefix)) == 0)
		offer(arg, "none");
	for (const struct proto *const *p = proto_table; *p != NULL; p++) {
		for (const struct field *f = (*p)->fields; f != NULL && f->name != NULL; f++) {
			sbuf_reset(&name);
			frame_field_name(*p, 1, f, &name);
			if (f->bits == 0 ||
			    strncmp(name.s, prefix + head, strlen(prefix + head)) != 0)
				continue;
			sbuf_reset(&word);
			sbuf_addn(&word, prefix, head);
			sbuf_add(&word, name.s);
			offer(arg, word.s);
		}
	}
	sbuf_free(&name);
	sbuf_free(&word);
}

static const struct vtype vt_nest = {
	.name = "fields",
	.syntax = "none | FIELD,FIELD+FIELD,...: fastest first, those joined by + step together",
	.size = sizeof(struct frame_nest),
	.parse = nest_vparse,
	.print = nest_vprint,
	.complete = nest_vcomplete,
};

static bool check_nest(const struct setting *row, const struct set_obj *obj, struct err *warn)
{
	const struct frame_spec *f = &((const struct stream_cfg *)obj->cfg)->frame;
	struct sbuf name = {0};
	bool ok = true;

	(void)row;
	for (unsigned i = 0; ok && i < f->nest.n; i++) {
		const struct frame_val *v = frame_vals_find(&f->vals, f->nest.at[i].proto,
							    f->nest.at[i].nth, f->nest.at[i].field);
		sbuf_reset(&name);
		frame_field_name(f->nest.at[i].proto, f->nest.at[i].nth, f->nest.at[i].field,
				 &name);
		ok = v != NULL && v->vary != NULL && vary_period(v->vary) != 0;
		if (!ok && (v == NULL || v->vary == NULL))
			err_set(warn, EINVAL, "'%s' is in the nest, but does not vary", name.s);
		else if (!ok)
			err_set(warn, EINVAL,
				"'%s' is in the nest, but never starts over; a random one needs `repeat N`, a range must begin on its "
				"own steps",
				name.s);
	}
	sbuf_free(&name);
	return ok;
}

const struct setting set_nest_rows[] = {
	{.name = "nest",
	 .scope = &scope_stream,
	 .v = {&vt_nest},
	 .dflt = "none",
	 .offset = offsetof(struct stream_cfg, frame.nest),
	 .check = check_nest,
	 .help = "varying fields that count like the digits of a number, all combinations in order; the others step with every frame"},
	{0},
};
