/* SPDX-License-Identifier: BSD-3-Clause */
#include "frame_walk.h"

#include <string.h>

static const struct proto *next_proto(const struct proto *lower, const uint8_t *hdr)
{
	for (const struct proto *const *p = proto_table; *p != NULL; p++) {
		for (const struct bind *b = (*p)->binds; b->lower != NULL; b++) {
			if ((*p)->is_payload || strcmp(b->lower, lower->name) != 0)
				continue;
			const struct field *f = proto_bind_field(lower, b);
			if (f != NULL && proto_get_u64(f, hdr) == b->value)
				return *p;
		}
	}
	return NULL;
}

static uint64_t default_number(const struct field *f)
{
	uint8_t v[VT_FIELD_BYTES] = {0};
	struct vspec spec;
	uint64_t x = 0;

	proto_vspec(f, &spec);
	if (f->dflt != NULL)
		spec.type->parse(&spec, f->dflt, v, NULL);
	for (unsigned i = VT_FIELD_BYTES - 8; i < VT_FIELD_BYTES; i++)
		x = x << 8 | v[i];
	return x;
}

/* What the fields of the header at off say of lengths and of what follows. */
struct reading {
	unsigned hlen, end;
	bool more; /* a fragment that others follow */
	bool stop; /* what follows is no header that could be read */
	enum verdict verdict;
};

static void read_field(const struct proto *p, const struct field *f, const uint8_t *hdr, unsigned off,
		       struct reading *r)
{
	uint64_t v = f->bits <= 64 ? proto_get_u64(f, hdr) : 0;
	uint64_t bytes = v * (f->len_unit != 0 ? f->len_unit : 1) + (uint64_t)f->len_from;

	switch (f->role) {
	case ROLE_VERSION:
		if (v != default_number(f)) {
			r->verdict = HDR_VERSION;
			r->stop = true;
		}
		break;
	case ROLE_HLEN:
		if (bytes < p->len || bytes > r->end - off) {
			r->verdict = bytes < p->len ? HDR_LENGTH : HDR_CUT;
			r->stop = true;
		} else {
			r->hlen = (unsigned)bytes;
		}
		break;
	case ROLE_LEN:
		if (bytes < r->hlen) {
			r->verdict = HDR_LENGTH;
			r->stop = true;
		} else if (bytes > r->end - off) {
			r->verdict = HDR_CUT;
		} else {
			r->end = off + (unsigned)bytes;
		}
		break;
	case ROLE_MORE:
		r->more = (v & 1) != 0;
		break;
	case ROLE_FRAG:
		r->stop |= v != 0;
		break;
	default:
		break;
	}
}

void frame_walk(const uint8_t *bytes, unsigned len, struct walk *w)
{
	const struct proto *p = NULL;
	unsigned off = 0, end = len;
	bool unsure = false;

	memset(w, 0, sizeof(*w));
	for (const struct proto *const *t = proto_table; *t != NULL && p == NULL; t++)
		if ((*t)->starts)
			p = *t;
	while (p != NULL && w->l.n < FRAME_MAX_HDRS && end - off >= p->len) {
		unsigned i = w->l.n++;
		const uint8_t *hdr = bytes + off;
		struct reading r = {.hlen = p->len, .end = end};

		for (const struct field *f = p->fields; f->name != NULL; f++)
			if (!r.stop)
				read_field(p, f, hdr, off, &r);
		end = r.end;
		unsure |= r.verdict != HDR_GOOD;
		w->l.h[i].proto = p;
		w->l.h[i].off = off;
		w->l.h[i].hlen = r.hlen;
		w->l.h[i].end = end;
		w->verdict[i] = r.verdict;
		w->unsure[i] = unsure;
		unsure |= r.more;
		off += r.hlen;
		p = r.stop ? NULL : next_proto(p, hdr);
	}
	w->payload = off;
	w->padding = end;
	w->len = len;
}

const char *verdict_text(enum verdict v)
{
	static const char *const text[] = {
		[HDR_GOOD] = NULL,
		[HDR_VERSION] = "unknown version",
		[HDR_LENGTH] = "length below the header's own",
		[HDR_CUT] = "length beyond the frame",
	};

	return text[v];
}

enum sum_state frame_sum_state(const struct walk *w, const uint8_t *bytes, unsigned i, const struct field *f)
{
	bool l4 = f->role == ROLE_SUM_L4;

	if (!l4 && f->role != ROLE_SUM_HDR)
		return SUM_NO_FIELD;
	if ((l4 && w->unsure[i]) || (f->zero_is_none && proto_get_u64(f, bytes + w->l.h[i].off) == 0))
		return SUM_UNKNOWN;
	return layout_sum(&w->l, bytes, i, f) == 0xffff ? SUM_GOOD : SUM_BAD;
}

static json_t *field_json(const struct field *f, const uint8_t *hdr)
{
	struct sbuf text = {0};
	struct vspec spec;
	uint8_t v[VT_FIELD_BYTES];

	if (f->kind == FIELD_UINT && f->bits < 64)
		return json_integer((json_int_t)proto_get_u64(f, hdr));
	proto_vspec(f, &spec);
	proto_get(f, hdr, v);
	spec.type->print(&spec, v, &text);
	json_t *j = json_string(sbuf_str(&text));
	sbuf_free(&text);
	return j;
}

static json_t *hex_json(const uint8_t *bytes, unsigned n)
{
	struct sbuf hex = {0};

	for (unsigned i = 0; i < n; i++)
		sbuf_addf(&hex, "%02x", bytes[i]);
	json_t *j = json_string(sbuf_str(&hex));
	sbuf_free(&hex);
	return j;
}

static json_t *header_json(const struct walk *w, const uint8_t *bytes, unsigned i)
{
	const struct proto *p = w->l.h[i].proto;
	const uint8_t *hdr = bytes + w->l.h[i].off;
	json_t *fields = json_object();

	for (const struct field *f = p->fields; f->name != NULL; f++) {
		enum sum_state sum = frame_sum_state(w, bytes, i, f);
		json_object_set_new(fields, f->name, field_json(f, hdr));
		if (sum == SUM_GOOD || sum == SUM_BAD) {
			struct sbuf key = {0};
			sbuf_addf(&key, "%s_ok", f->name);
			json_object_set_new(fields, sbuf_str(&key), json_boolean(sum == SUM_GOOD));
			sbuf_free(&key);
		}
	}
	json_t *h = json_pack("{s:s, s:i, s:o}", "name", p->name, "offset", (int)w->l.h[i].off, "fields", fields);
	if (w->l.h[i].hlen > p->len)
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
	json_t *j =
		json_pack("{s:i, s:s, s:o, s:{s:i, s:i}}", "size", (int)(len + FRAME_FCS), "stack", sbuf_str(&stack),
			  "headers", headers, "payload", "offset", (int)w.payload, "len", (int)(w.padding - w.payload));
	if (w.len > w.padding)
		json_object_set_new(j, "padding",
				    json_pack("{s:i, s:i}", "offset", (int)w.padding, "len", (int)(w.len - w.padding)));
	json_object_set_new(j, "hex", hex_json(bytes, len));
	sbuf_free(&stack);
	return j;
}
