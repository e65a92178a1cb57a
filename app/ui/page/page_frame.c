/* SPDX-License-Identifier: BSD-3-Clause */
/* Page frame: the frame of the selected stream, header by header and as bytes. What changes from
 * frame to frame is marked. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "out.h"
#include "page_flow.h"

#define NAME_COLS 13 /* columns for the name and offset of a header, before its fields */
#define HEX_COLS 76  /* columns for a line of 16 bytes */
#define GAP 3
#define AIRY 20 /* from this many rows on, a blank row stands between the areas */

static bool has_name(const json_t *list, const char *name)
{
	const json_t *x;
	size_t i;

	json_array_foreach(list, i, x)
		if (json_is_string(x) && strcmp(json_string_value(x), name) == 0)
			return true;
	return false;
}

/* Says whether a field varies, or follows from fields that do. The frame lists fields as settings
 * name them: "ipv4[2].src". */
static enum pair_mark field_mark(const json_t *frame, size_t header, const char *field)
{
	const json_t *headers = json_object_get(frame, "headers");
	const char *name = page_str(json_array_get(headers, header), "name", "");
	char full[96];
	unsigned nth = 1;

	for (size_t i = 0; i < header; i++)
		nth += strcmp(page_str(json_array_get(headers, i), "name", ""), name) == 0;
	if (nth > 1)
		snprintf(full, sizeof(full), "%s[%u].%s", name, nth, field);
	else
		snprintf(full, sizeof(full), "%s.%s", name, field);
	return has_name(json_object_get(frame, "varies"), full)    ? PAIR_VARIES
	       : has_name(json_object_get(frame, "follows"), full) ? PAIR_FOLLOWS
								   : PAIR_FIXED;
}

/* Returns a word that says whether a checksum is right. The object has FIELD_ok beside FIELD for
 * this. */
static const char *sum_word(const json_t *fields, const char *field)
{
	char key[64];

	snprintf(key, sizeof(key), "%s_ok", field);
	const json_t *ok = json_object_get(fields, key);
	return ok == NULL ? "" : json_is_true(ok) ? " good" : json_is_false(ok) ? " bad" : "";
}

static void add_fields(const json_t *frame, size_t header, struct pairs *p)
{
	const json_t *h = json_array_get(json_object_get(frame, "headers"), header), *v;
	json_t *fields = json_object_get(h, "fields");
	const json_t *text = json_object_get(h, "text");
	struct sbuf b = {0};
	const char *key;

	json_object_foreach(fields, key, v) {
		size_t n = strlen(key);
		if (n > 3 && strcmp(key + n - 3, "_ok") == 0)
			continue;
		const json_t *shown = json_object_get(text, key);
		sbuf_reset(&b);
		out_cell(shown != NULL ? shown : v, OF_STR, &b);
		sbuf_add(&b, sum_word(fields, key));
		struct pair *x = pairs_add(p, key, sbuf_str(&b), field_mark(frame, header, key));
		x->warn = strcmp(sum_word(fields, key), " bad") == 0;
	}
	if (page_str(h, "malformed", NULL) != NULL)
		pairs_add(p, "malformed", page_str(h, "malformed", NULL), PAIR_FIXED)->warn = true;
	sbuf_free(&b);
}

/* Draws the name and offset of a header, and its fields beside them, or below where there is too
 * little room. */
static void header_block(struct flow *f, const char *name, double offset, const struct pairs *p)
{
	bool beside = f->g.cols >= NAME_COLS + 24;

	flow_room(f, 1);
	grid_left(&f->g, f->row, 0, NAME_COLS - 5, ROLE_PORT_LABEL, name);
	grid_rightf(&f->g, f->row, NAME_COLS - 5, 4, ROLE_STAT_LABEL, "%.0f", offset);
	if (!beside || p->n == 0)
		f->row++;
	flow_pairs(f, beside ? NAME_COLS : 1, f->g.cols - (beside ? NAME_COLS : 1), p);
}

/* Draws the payload or the padding, if there is any. */
static void frame_rest(struct flow *f, const json_t *frame, const char *name)
{
	const json_t *r = json_object_get(frame, name);
	double len = page_num(r, "len", 0);
	struct pairs p = {0};
	char text[32];

	if (len <= 0)
		return;
	snprintf(text, sizeof(text), "%.0f", len);
	pairs_add(&p, len == 1 ? "byte" : "bytes", text,
		  has_name(json_object_get(frame, "varies"), name) ? PAIR_VARIES : PAIR_FIXED);
	header_block(f, name, page_num(r, "offset", 0), &p);
	pairs_free(&p);
}

/* Draws what varies, each variation in full. */
static void frame_variations(struct flow *f, const struct page_in *in, const json_t *frame,
			     bool airy)
{
	const json_t *s = page_by(json_object_get(in->snap, "streams"), "stream", in->stream), *x;
	const json_t *names = json_object_get(frame, "varies"), *name;
	struct pairs p = {0};
	size_t i;

	json_array_foreach(json_object_get(s, "fields"), i, x)
		if (json_is_true(json_object_get(x, "varies")))
			pairs_add(&p, page_str(x, "name", "?"), page_str(x, "value", "-"),
				  PAIR_VARIES);
	if (p.n == 0)
		json_array_foreach(names, i, name)
			if (json_is_string(name) && strcmp(json_string_value(name), "size") != 0)
				pairs_add(&p, json_string_value(name), "varies", PAIR_VARIES);
	if (has_name(names, "size"))
		pairs_add(&p, "size", page_str(s, "size", "varies"), PAIR_VARIES);
	if (p.n > 0) {
		f->row += airy;
		flow_text(f, 0, f->g.cols, ROLE_PORT_LABEL,
			  "* [ ] varies from frame to frame, + ( ) follows it:");
		flow_columns(f, 0, f->g.cols, &p);
	}
	pairs_free(&p);
}

static void frame_headers(struct flow *f, const struct page_in *in, const json_t *frame, bool airy)
{
	const json_t *list = json_object_get(frame, "headers"), *h;
	struct sbuf b = {0};
	size_t i;

	sbuf_addf(&b, "stream %u/%u  %s  %.0f bytes with FCS", in->port, in->stream,
		  page_str(frame, "stack", "-"), page_num(frame, "size", 0));
	flow_text(f, 0, f->g.cols, ROLE_STAT_VALUES, sbuf_str(&b));
	sbuf_free(&b);
	json_array_foreach(list, i, h) {
		struct pairs p = {0};
		add_fields(frame, i, &p);
		header_block(f, page_str(h, "name", "?"), page_num(h, "offset", 0), &p);
		pairs_free(&p);
	}
	frame_rest(f, frame, "payload");
	frame_rest(f, frame, "padding");
	frame_variations(f, in, frame, airy);
}

static int frame_nibble(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Marks the bytes that lie in the runs, an array of [offset, length]. */
static void mark_bytes(const json_t *runs, enum pair_mark what, uint8_t *mark, size_t len)
{
	const json_t *run;
	size_t i;

	json_array_foreach(runs, i, run) {
		json_int_t at = json_integer_value(json_array_get(run, 0)),
			   n = json_integer_value(json_array_get(run, 1));
		for (json_int_t k = at; k >= 0 && n > 0 && k < (json_int_t)len && k - at < n; k++)
			mark[k] = (uint8_t)what;
	}
}

/* Draws a line: the offset, `per` bytes, and their characters. Bytes that vary are in [ ], and
 * bytes that follow from them in ( ), which stand in the gaps between bytes. */
static void hex_line(struct flow *f, const char *hex, const uint8_t *mark, size_t at, size_t len,
		     int per)
{
	int col = 6, chars = col + per * 3 + per / 8;

	flow_room(f, 1);
	grid_putf(&f->g, f->row, 0, 5, ROLE_STAT_LABEL, "%04zx", at);
	if (f->g.cols < 6 + per * 3)
		col = 5;
	for (int i = 0; i < per && at + (size_t)i < len; i++) {
		size_t k = at + (size_t)i;
		int hi = frame_nibble(hex[2 * k]), lo = frame_nibble(hex[2 * k + 1]);
		int byte = hi < 0 || lo < 0 ? '?' : hi << 4 | lo;
		int c = col + i * 3 + i / 8;
		enum role role = mark[k] != PAIR_FIXED ? ROLE_VARIES : ROLE_STAT_VALUES;
		grid_putf(&f->g, f->row, c, 2, role, "%02x", (unsigned)byte);
		if (mark[k] != PAIR_FIXED && (i == 0 || mark[k - 1] != mark[k]))
			grid_put(&f->g, f->row, c - 1, 1, ROLE_VARIES,
				 mark[k] == PAIR_VARIES ? "[" : "(");
		if (mark[k] != PAIR_FIXED &&
		    (i + 1 == per || k + 1 == len || mark[k + 1] == PAIR_FIXED))
			grid_put(&f->g, f->row, c + 2, 1, ROLE_VARIES,
				 mark[k] == PAIR_VARIES ? "]" : ")");
		if (chars + per <= f->g.cols)
			grid_putf(&f->g, f->row, chars + i, 1, role, "%c",
				  byte < 0x80 && isprint(byte) ? byte : '.');
	}
	f->row++;
}

static void hex_dump(struct flow *f, const json_t *frame)
{
	const char *hex = page_str(frame, "hex", "");
	size_t len = strlen(hex) / 2;
	uint8_t *mark = xcalloc(len + 1, 1);
	int per = f->g.cols >= 73 ? 16 : f->g.cols >= 39 ? 8 : 4;

	mark_bytes(json_object_get(frame, "follows_bytes"), PAIR_FOLLOWS, mark, len);
	mark_bytes(json_object_get(frame, "bytes"), PAIR_VARIES, mark, len);
	for (size_t at = 0; at < len; at += (size_t)per)
		hex_line(f, hex, mark, at, len, per);
	free(mark);
}

static void frame_draw(const struct page_in *in, struct grid *g, struct page_out *out)
{
	const json_t *frame = json_object_get(in->snap, "frame");
	bool wide = g->cols >= 2 * HEX_COLS;
	struct flow f, h;

	flow_init(&f, wide ? g->cols - HEX_COLS - GAP : g->cols);
	flow_init(&h, wide ? HEX_COLS : g->cols);
	if (json_is_object(frame)) {
		frame_headers(&f, in, frame, g->rows >= AIRY);
		if (g->rows >= AIRY) {
			flow_room(&f, 1);
			f.row++;
		}
		hex_dump(wide ? &h : &f, frame);
	} else {
		struct sbuf b = {0};
		sbuf_addf(&b, "no frame: %s",
			  page_str(in->snap, "frame_error", "the port has no such stream"));
		flow_text(&f, 0, f.g.cols, ROLE_WARN, sbuf_str(&b));
		sbuf_free(&b);
	}
	/* Headers and bytes scroll together, as far as the longer of the two. */
	struct flow *longer = h.row > f.row ? &h : &f, *shorter = longer == &h ? &f : &h;
	flow_room(shorter, longer->row - shorter->row);
	shorter->row = longer->row;
	if (wide)
		flow_show(&h, g, 0, g->rows, g->cols - HEX_COLS, in->top, NULL);
	flow_show(&f, g, 0, g->rows, 0, in->top, out);
	flow_free(&f);
	flow_free(&h);
}

const struct page page_frame = {
	.name = "frame",
	.alias = "packet",
	.parts = "frame:@/#,streams:@/#~1",
	.one_port = true,
	.draw = frame_draw,
	.help = "The frame of the selected stream, header by header and as bytes; what varies is marked.",
};
