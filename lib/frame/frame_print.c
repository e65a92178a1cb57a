/* SPDX-License-Identifier: BSD-3-Clause */
/* frame_print(): the headers of a frame as text. */
#include "frame_walk.h"

#include <ctype.h>

static void print_field(const struct walk *w, const uint8_t *bytes, unsigned i,
			const struct field *f, struct sbuf *out)
{
	struct vspec spec;
	uint8_t v[VT_FIELD_BYTES];

	sbuf_addf(out, "  %s ", f->name);
	if (f->kind == FIELD_BYTES) {
		const uint8_t *at = bytes + layout_field(&w->l, i, f) / 8;
		for (unsigned k = 0, n = layout_bytes_len(&w->l, i, f); k < n; k++)
			sbuf_addf(out, "%02x", at[k]);
		return;
	}
	proto_vspec(f, &spec);
	layout_get(&w->l, bytes, i, f, v);
	spec.type->print(&spec, v, out);
	switch (frame_sum_state(w, bytes, i, f)) {
	case SUM_GOOD:
		sbuf_add(out, " (good)");
		break;
	case SUM_BAD:
		sbuf_add(out, " (bad)");
		break;
	case SUM_UNKNOWN:
		sbuf_add(out, w->unsure[i] ? " (not checked)" : " (none)");
		break;
	case SUM_NO_FIELD:
		break;
	}
}

#define MAX_COL 120
#define NAME_COL 13 /* where fields begin, behind a header's name and offset */

/* Appends a header's fields, in lines of at most MAX_COL columns unless one field alone is
 * longer. */
static void print_fields(const struct walk *w, const uint8_t *bytes, unsigned i, struct sbuf *out)
{
	struct sbuf one = {0};
	size_t col = NAME_COL;

	for (const struct field *f = w->l.h[i].proto->fields; f->name != NULL; f++) {
		if (!layout_has(&w->l, bytes, i, f))
			continue;
		sbuf_reset(&one);
		print_field(w, bytes, i, f, &one);
		if (col > NAME_COL && col + one.len > MAX_COL) {
			sbuf_addf(out, "\n%*s", NAME_COL, "");
			col = NAME_COL;
		}
		sbuf_add(out, sbuf_str(&one));
		col += one.len;
	}
	sbuf_free(&one);
}

void frame_print_hex(const uint8_t *bytes, unsigned len, struct sbuf *out)
{
	for (unsigned at = 0; at < len; at += 16) {
		sbuf_addf(out, "%04x ", at);
		for (unsigned i = at; i < at + 16; i++) {
			const char *gap = i % 8 == 0 ? " " : "";
			if (i < len)
				sbuf_addf(out, "%s%02x ", gap, bytes[i]);
			else
				sbuf_addf(out, "%s   ", gap);
		}
		sbuf_addc(out, ' ');
		for (unsigned i = at; i < at + 16 && i < len; i++)
			sbuf_addc(out, bytes[i] < 0x80 && isprint(bytes[i]) ? (char)bytes[i] : '.');
		sbuf_addc(out, '\n');
	}
}

static void print_rest(const char *name, unsigned from, unsigned to, struct sbuf *out)
{
	if (to > from)
		sbuf_addf(out, "%-8s %4u  %u byte%s\n", name, from, to - from,
			  to - from == 1 ? "" : "s");
}

void frame_print(const uint8_t *bytes, unsigned len, struct sbuf *out)
{
	struct walk w;

	frame_walk(bytes, len, &w);
	sbuf_addf(out, "%u bytes with FCS\n", len + FRAME_FCS);
	for (unsigned i = 0; i < w.l.n; i++) {
		const struct proto *p = w.l.h[i].proto;
		sbuf_addf(out, "%-8s %4u", p->name, w.l.h[i].off);
		print_fields(&w, bytes, i, out);
		if (verdict_text(w.verdict[i]) != NULL)
			sbuf_addf(out, "  [%s]", verdict_text(w.verdict[i]));
		sbuf_addc(out, '\n');
	}
	print_rest("payload", w.payload, w.padding, out);
	print_rest("padding", w.padding, w.len, out);
	frame_print_hex(bytes, len, out);
}
