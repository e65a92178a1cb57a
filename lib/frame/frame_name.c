/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of fields, "udp.dst" and "ipv4[2].src", and their values as text. */
#include "frame.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAX_WORDS 64

static int unknown_proto(const char *name, struct err *e)
{
	const char *words[MAX_WORDS] = {0};
	size_t n = 0;

	for (const struct proto *const *p = proto_table; *p != NULL && n < MAX_WORDS; p++)
		words[n++] = (*p)->name;
	const char *near = str_nearest(name, words, n);
	return err_at(
		e, EINVAL, 0,
		"unknown header \"%s\"%s%s; a field is written HEADER.FIELD or HEADER[N].FIELD, such as udp.dst",
		name, near != NULL ? ": did you mean " : "", near != NULL ? near : "");
}

static int unknown_field(const struct proto *p, const char *name, int col, struct err *e)
{
	const char *words[MAX_WORDS] = {0};
	size_t n = 0;
	struct sbuf all = {0};

	for (const struct field *f = p->fields; f->name != NULL && n < MAX_WORDS; f++) {
		sbuf_addf(&all, " %s", f->name);
		words[n++] = f->name;
	}
	const char *near = str_nearest(name, words, n);
	err_at(e, EINVAL, col, "%s has no field \"%s\"%s%s; it has:%s", p->name, name,
	       near != NULL ? ": did you mean " : "", near != NULL ? near : "",
	       n != 0 ? sbuf_str(&all) : " none");
	sbuf_free(&all);
	return -EINVAL;
}

#define REPLY "reply."

static int name_parse(const char *text, const struct proto **p, unsigned *nth,
		      const struct field **f, struct err *e)
{
	size_t len = strcspn(text, ".[");
	char name[32];
	unsigned n = 1;

	if (len >= sizeof(name))
		return err_at(
			e, EINVAL, 0,
			"no header has so long a name; a field is written HEADER.FIELD, such as udp.dst");
	memcpy(name, text, len);
	name[len] = '\0';
	const struct proto *proto = proto_find(name);
	if (proto == NULL)
		return unknown_proto(name, e);
	const char *at = text + len;
	if (*at == '[') {
		const char *digits = at + 1;
		size_t nd = strspn(digits, "0123456789");
		n = 0;
		for (size_t i = 0; i < nd && nd <= 3; i++)
			n = n * 10 + (unsigned)(digits[i] - '0');
		if (n < 1 || n > FRAME_MAX_HDRS || digits[nd] != ']')
			return err_at(
				e, EINVAL, (int)(digits - text),
				"expected 1..%u and ] here: %s[2] is the second %s of the stack",
				FRAME_MAX_HDRS, name, name);
		at = digits + nd + 1;
	}
	if (*at != '.')
		return err_at(e, EINVAL, (int)(at - text),
			      "expected a dot and a field's name after %s", name);
	const struct field *field = proto_field(proto, at + 1);
	if (field == NULL)
		return unknown_field(proto, at + 1, (int)(at + 1 - text), e);
	*p = proto;
	*nth = n;
	*f = field;
	return 0;
}

int frame_field_parse(const char *text, const struct proto **p, unsigned *nth,
		      const struct field **f, struct err *e)
{
	size_t skip = strncmp(text, REPLY, strlen(REPLY)) == 0 ? strlen(REPLY) : 0;
	int rc = name_parse(text + skip, p, nth, f, e);

	if (rc < 0 && skip != 0 && e != NULL && e->col >= 0)
		e->col += (int)skip;
	if (rc == 0 && skip != 0)
		*nth += FRAME_REPLY;
	return rc;
}

void frame_field_name(const struct proto *p, unsigned nth, const struct field *f, struct sbuf *out)
{
	if (nth > FRAME_REPLY) {
		sbuf_add(out, REPLY);
		nth -= FRAME_REPLY;
	}
	sbuf_add(out, p->name);
	if (nth > 1)
		sbuf_addf(out, "[%u]", nth);
	sbuf_addf(out, ".%s", f->name);
}

static int parse_bytes(struct frame_vals *a, const struct proto *p, unsigned nth,
		       const struct field *f, const char *text, struct err *e)
{
	struct hexbytes *bytes = xcalloc(1, HEXBYTES_SIZE);
	struct vspec spec;

	proto_vspec(f, &spec);
	int rc = spec.type->parse(&spec, text, bytes, e);
	if (rc == 0)
		frame_vals_bytes(a, p, nth, f, bytes);
	free(bytes);
	return rc;
}

int frame_vals_parse(struct frame_vals *a, const char *field, const char *value, struct err *e)
{
	const struct proto *p = NULL;
	const struct field *f = NULL;
	unsigned nth = 0;
	struct vspec one;

	int rc = frame_field_parse(field, &p, &nth, &f, e);
	if (rc != 0)
		return rc;
	if (f->kind == FIELD_BYTES)
		return parse_bytes(a, p, nth, f, value, e);
	struct vary_val *val = xcalloc(1, sizeof(*val));
	proto_vspec(f, &one);
	rc = vt_vary.parse(&(struct vspec){.type = &vt_vary, .of = &one}, value, val, e);
	if (rc == 0)
		frame_vals_vary(a, p, nth, f, &val->v);
	free(val);
	return rc;
}
