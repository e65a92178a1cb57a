/* SPDX-License-Identifier: BSD-3-Clause */
/* The page of Pktgen's ranges of the selected stream: with which value each field begins, between
 * which values it moves, and by how much. */
#include <string.h>

#include "out.h"
#include "page_flow.h"
#include "page_table.h"

/* If not all values fit into their columns, columns are made for values of this width, that of a
 * MAC address. Longer values are then written one after the other. */
#define SHORT 17
/* With fewer columns than this behind the name such values get a line of their own. */
#define LONG_ROOM 20
#define LONG_INDENT 3

enum { C_MARK, C_NAME, C_START, C_MIN, C_MAX, C_INC, COLS };
static const char *const keys[COLS] = {
	[C_NAME] = "name", [C_START] = "start", [C_MIN] = "min", [C_MAX] = "max", [C_INC] = "inc"};
static const struct table_col columns[COLS] = {
	[C_MARK] = {"", 1, 1, 0, false},       [C_NAME] = {"range", 7, 0, 0, false},
	[C_START] = {"start", 5, 0, 0, false}, [C_MIN] = {"min", 5, 0, 0, false},
	[C_MAX] = {"max", 5, 0, 0, false},     [C_INC] = {"inc", 5, 0, 0, false},
};

static bool page_range_yes(const json_t *o, const char *key)
{
	return json_is_true(json_object_get(o, key));
}

/* Returns whether a range is shown: if it does something to this frame once ranges are on, or if it
 * was given, even where it can do nothing. */
static bool page_range_shown(const json_t *word)
{
	return json_is_object(word) &&
	       (page_range_yes(word, "set") ||
		(page_range_yes(word, "fits") && page_str(word, "start", NULL) != NULL));
}

static const char *mark_of(const json_t *word)
{
	if (!page_range_yes(word, "set"))
		return " ";
	return !page_range_yes(word, "fits") ? "!" : page_range_yes(word, "moves") ? "*" : "=";
}

static enum role role_of(const json_t *word)
{
	if (!page_range_yes(word, "set"))
		return ROLE_STAT_LABEL;
	return !page_range_yes(word, "fits")   ? ROLE_WARN
	       : page_range_yes(word, "moves") ? ROLE_VARIES
					       : ROLE_STAT_VALUES;
}

/* Returns whether all values of a range fit into their columns. */
static bool has_room(const struct table *t, const json_t *word)
{
	for (unsigned c = C_NAME; c < COLS; c++)
		if (grid_width(page_str(word, keys[c], "")) > (t->at[c] < 0 ? 0 : t->width[c]))
			return false;
	return true;
}

/* Makes columns as wide as their values, up to `longest`. Returns whether all values fit. */
static bool page_range_fit(struct table *t, struct table_col col[COLS], const json_t *words,
			   int longest, int room)
{
	bool all = true;
	const json_t *w;
	size_t i;

	memcpy(col, columns, sizeof(columns));
	json_array_foreach(words, i, w)
		for (unsigned c = C_NAME; page_range_shown(w) && c < COLS; c++) {
			int width = grid_width(page_str(w, keys[c], ""));
			if (width > col[c].want && width <= longest)
				col[c].want = width;
		}
	col[C_NAME].min = col[C_NAME].want;
	table_fit(t, room);
	json_array_foreach(words, i, w)
		all = all && (!page_range_shown(w) || has_room(t, w));
	return all;
}

/* Writes the values of a range one after the other, because they do not fit into their columns. */
static void put_long(const struct table *t, struct flow *f, const json_t *word)
{
	int room = t->at[C_START] < 0 ? 0 : f->g.cols - t->at[C_START];
	struct sbuf b = {0};

	sbuf_add(&b, page_str(word, keys[C_START], ""));
	for (unsigned c = C_MIN; c < COLS; c++)
		if (page_str(word, keys[c], NULL) != NULL)
			sbuf_addf(&b, "  %s %s", keys[c], page_str(word, keys[c], ""));
	table_put(t, &f->g, f->row, 0, C_NAME, role_of(word), page_str(word, keys[C_NAME], ""));
	if (room < LONG_ROOM)
		f->row++;
	flow_text(f, room < LONG_ROOM ? LONG_INDENT : t->at[C_START],
		  room < LONG_ROOM ? f->g.cols - LONG_INDENT : room, role_of(word), sbuf_str(&b));
	sbuf_free(&b);
}

/* Writes the first line: which stream it is, and whether its ranges are on. */
static void page_range_state(const struct page_in *in, const json_t *r, struct flow *f)
{
	struct sbuf b = {0};
	bool on = page_range_yes(r, "on");

	sbuf_addf(&b, "stream %u/%u  ranges %s  %s", in->port, in->stream, on ? "on" : "off",
		  page_str(r, "frame", "-"));
	if (!on)
		sbuf_addf(&b, "  `enable %u/%u range` puts them to use", in->port, in->stream);
	flow_text(f, 0, f->g.cols, on ? ROLE_STAT_VALUES : ROLE_WARN, sbuf_str(&b));
	sbuf_free(&b);
}

static void page_range_draw(const struct page_in *in, struct grid *g, struct page_out *out)
{
	const json_t *r = json_object_get(in->snap, "ranges"), *words = json_object_get(r, "words"),
		     *w;
	struct table_col col[COLS];
	struct table t = {.col = col, .n = COLS};
	struct flow f;
	size_t i;

	flow_init(&f, g->cols);
	if (!json_is_object(r)) {
		flow_text(&f, 0, g->cols, ROLE_STAT_LABEL, "the port has no such stream");
		flow_show(&f, g, 0, g->rows, 0, in->top, out);
		flow_free(&f);
		return;
	}
	page_range_state(in, r, &f);
	if (!page_range_fit(&t, col, words, g->cols, g->cols))
		page_range_fit(&t, col, words, SHORT, g->cols);
	flow_room(&f, 1);
	table_heads(&t, &f.g, f.row++, 0, ROLE_STAT_LABEL);
	json_array_foreach(words, i, w) {
		if (!page_range_shown(w))
			continue;
		flow_room(&f, 1);
		table_put(&t, &f.g, f.row, 0, C_MARK, role_of(w), mark_of(w));
		if (!has_room(&t, w)) {
			put_long(&t, &f, w);
			continue;
		}
		for (unsigned c = C_NAME; c < COLS; c++)
			table_put(&t, &f.g, f.row, 0, c, role_of(w), page_str(w, keys[c], ""));
		f.row++;
	}
	flow_text(
		&f, 0, g->cols, ROLE_STAT_LABEL,
		"* given and moves, = given and stands still, ! given, and the frame has no such header; others are defaults");
	flow_show(&f, g, 0, g->rows, 0, in->top, out);
	flow_free(&f);
}

const struct page page_range = {
	.name = "range",
	.parts = "ranges:@/#",
	.one_port = true,
	.draw = page_range_draw,
	.help = "Pktgen's ranges of the selected stream: start, min, max and inc of each field.",
};
