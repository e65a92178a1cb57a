/* SPDX-License-Identifier: BSD-3-Clause */
/* frame_dissect(): the headers of a frame as JSON. */
#include "frame_walk.h"

#include <stdio.h>
#include <string.h>

static json_t *hex_json(const uint8_t *bytes, unsigned n)
{
	struct sbuf hex = {0};

	for (unsigned i = 0; i < n; i++)
		sbuf_addf(&hex, "%02x", bytes[i]);
	json_t *j = json_string(sbuf_str(&hex));
	sbuf_free(&hex);
	return j;
}

/* The value of a field in the form in which `set` takes it. */
static json_t *field_text(const struct walk *w, const uint8_t *bytes, unsigned i,
			  const struct field *f)
{
	struct sbuf text = {0};
	struct vspec spec;
	uint8_t v[VT_FIELD_BYTES];

	proto_vspec(f, &spec);
	layout_get(&w->l, bytes, i, f, v);
	spec.type->print(&spec, v, &text);
	json_t *j = json_string(sbuf_str(&text));
	sbuf_free(&text);
	return j;
}

/* Adds the text of a number if people write it in another way ("0x0800"). Takes `text`. */
static void add_text(json_t *texts, const struct field *f, const json_t *number, json_t *text)
{
	char plain[24];

	snprintf(plain, sizeof(plain), "%" JSON_INTEGER_FORMAT, json_integer_value(number));
	if (strcmp(plain, json_string_value(text)) != 0)
		json_object_set(texts, f->name, text);
	json_decref(text);
}

static json_t *field_json(const struct walk *w, const uint8_t *bytes, unsigned i,
			  const struct field *f)
{
	if (f->kind == FIELD_BYTES)
		return hex_json(bytes + layout_field(&w->l, i, f) / 8,
				layout_bytes_len(&w->l, i, f));
	if (f->kind == FIELD_UINT && f->bits < 64)
		return json_integer((json_int_t)layout_get_u64(&w->l, bytes, i, f));
	return field_text(w, bytes, i, f);
}

static json_t *header_json(const struct walk *w, const uint8_t *bytes, unsigned i)
{
	const struct proto *p = w->l.h[i].proto;
	const uint8_t *hdr = bytes + w->l.h[i].off;
	json_t *fields = json_object(), *texts = json_object();

	for (const struct field *f = p->fields; f->name != NULL; f++) {
		if (!layout_has(&w->l, bytes, i, f))
			continue;
		enum sum_state sum = frame_sum_state(w, bytes, i, f);
		json_t *value = field_json(w, bytes, i, f);
		if (json_is_integer(value))
			add_text(texts, f, value, field_text(w, bytes, i, f));
		json_object_set_new(fields, f->name, value);
		if (sum == SUM_GOOD || sum == SUM_BAD) {
			struct sbuf key = {0};
			sbuf_addf(&key, "%s_ok", f->name);
			json_object_set_new(fields, sbuf_str(&key), json_boolean(sum == SUM_GOOD));
			sbuf_free(&key);
		}
	}
	json_t *h = json_pack("{s:s, s:i, s:o}", "name", p->name, "offset", (int)w->l.h[i].off,
			      "fields", fields);
	json_object_set_new(h, "text", texts);
	if (w->l.h[i].hlen > p->len && p->options != OPTIONS_NONE &&
	    proto_role(p, ROLE_HLEN) != NULL)
		json_object_set_new(h, "options", hex_json(hdr + p->len, w->l.h[i].hlen - p->len));
	if (verdict_text(w->verdict[i]) != NULL)
		json_object_set_new(h, "malformed", json_string(verdict_text(w->verdict[i])));
	return h;
}

json_t *frame_dissect(const uint8_t *bytes, unsigned len)
{
	struct walk w;
	struct sbuf stack = {0};
	json_t *headers = json_array();

	frame_walk(bytes, len, &w);
	for (unsigned i = 0; i < w.l.n; i++) {
		sbuf_addf(&stack, "%s%s", i != 0 ? "/" : "", w.l.h[i].proto->name);
		json_array_append_new(headers, header_json(&w, bytes, i));
	}
	json_t *j = json_pack("{s:i, s:s, s:o, s:{s:i, s:i}}", "size", (int)(len + FRAME_FCS),
			      "stack", sbuf_str(&stack), "headers", headers, "payload", "offset",
			      (int)w.payload, "len", (int)(w.padding - w.payload));
	if (w.len > w.padding)
		json_object_set_new(j, "padding",
				    json_pack("{s:i, s:i}", "offset", (int)w.padding, "len",
					      (int)(w.len - w.padding)));
	json_object_set_new(j, "hex", hex_json(bytes, len));
	sbuf_free(&stack);
	return j;
}
