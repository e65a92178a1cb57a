/* SPDX-License-Identifier: BSD-3-Clause */
/* The page of streams: the streams of the selected port, one line each, and below them what the
 * selected one sets and varies (Pktgen's random page). The list follows the selected stream;
 * page_in.top scrolls what is below it. */
#include <stdio.h>
#include <string.h>

#include "out.h"
#include "page_flow.h"
#include "page_table.h"

#define MARK 1        /* a column before each line, which marks the selected one */
#define COUNT_COLS 15 /* columns of counts are not wider: 999'999'999'999 */

enum {
	C_ID,
	C_ON,
	C_FRAME,
	C_SIZE,
	C_WEIGHT,
	C_COUNT,
	C_PACKETS,
	C_PPS,
	C_SHARE,
	C_ENGINE,
	C_VARIES,
	COLS
};

static const char *const keys[COLS] = {
	[C_ID] = "stream",     [C_ON] = "enabled",    [C_FRAME] = "frame",        [C_SIZE] = "size",
	[C_WEIGHT] = "weight", [C_COUNT] = "count",   [C_PACKETS] = "tx.packets", [C_PPS] = "pps",
	[C_SHARE] = "share",   [C_ENGINE] = "engine", [C_VARIES] = "varies",
};
static const enum out_fmt fmts[COLS] = {
	[C_WEIGHT] = OF_COUNT, [C_COUNT] = OF_COUNT,   [C_PACKETS] = OF_COUNT,
	[C_PPS] = OF_PPS,      [C_SHARE] = OF_PERCENT,
};
static const struct table_col columns[COLS] = {
	[C_ID] = {"id", 2, 2, 0, true},
	[C_ON] = {"on", 3, 3, 4, false},
	[C_FRAME] = {"frame", 12, 0, 2, false},
	[C_SIZE] = {"size", 5, 0, 5, true},
	[C_WEIGHT] = {"w/rate", 6, 0, 6, true},
	[C_COUNT] = {"count", 5, 0, 7, true},
	[C_PACKETS] = {"tx packets", 10, 0, 3, true},
	[C_PPS] = {"tx pps", 6, 6, 1, true},
	[C_SHARE] = {"share", 6, 6, 8, true},
	[C_ENGINE] = {"engine", 6, 0, 10, false},
	[C_VARIES] = {"varies", 12, 0, 9, false},
};

/* Counts that are too long for their column are rounded, not cut. */
static bool is_count(unsigned i)
{
	return i == C_COUNT || i == C_PACKETS;
}

static void cell_text(const json_t *s, unsigned i, struct sbuf *out)
{
	const json_t *rate = json_object_get(s, "rate");

	sbuf_reset(out);
	if (i == C_ON)
		sbuf_add(out, json_is_false(json_object_get(s, "enabled")) ? "off" : "on");
	else if (i == C_WEIGHT && json_is_string(rate)) /* its own rate, so no weight */
		sbuf_add(out, json_string_value(rate));
	else if (i == C_COUNT && page_num(s, "count", 0) == 0)
		sbuf_add(out, "-");
	else
		out_cell(out_get(s, keys[i]), fmts[i], out);
}

static enum role cell_role(const json_t *s, unsigned i, const char *text)
{
	bool off = json_is_false(json_object_get(s, "enabled"));

	if (strcmp(text, "-") == 0 || ((i == C_PACKETS || i == C_PPS) && strcmp(text, "0") == 0))
		return ROLE_ZERO;
	switch (i) {
	case C_ON:
		return off ? ROLE_WARN : ROLE_GOOD;
	case C_PACKETS:
		return ROLE_PORT_TOTALS;
	case C_PPS:
		return ROLE_DYN_VALUES;
	case C_VARIES:
		return ROLE_VARIES;
	default:
		return ROLE_STAT_VALUES;
	}
}

static void put_cell(const struct table *t, struct grid *g, int row, const json_t *s, unsigned i,
		     const char *text)
{
	enum role role = cell_role(s, i, text);

	if (is_count(i) && t->at[i] >= 0 && strcmp(text, "-") != 0)
		page_put_count(g, row, MARK + t->at[i], t->width[i], role, out_get(s, keys[i]));
	else
		table_put(t, g, row, MARK, i, role, text);
}

/* The list of streams: the snapshot has a window of it, and a part of that is shown. */
struct list {
	const json_t *json;
	unsigned n, before, total; /* streams in the window, before it, of the port */
	unsigned top, shown;       /* shown: index of the first in the window, and how many */
};

static void list_read(const struct page_in *in, struct list *l)
{
	*l = (struct list){.json = json_object_get(in->snap, "streams")};
	l->n = (unsigned)json_array_size(l->json);
	double before = page_num(in->snap, "streams_before", 0),
	       total = page_num(in->snap, "streams_total", l->n);
	l->before = before > 0 && before < UINT32_MAX ? (unsigned)before : 0;
	l->total =
		total > l->before + l->n && total < UINT32_MAX ? (unsigned)total : l->before + l->n;
}

/* Chooses what is shown in so many rows: the selected stream stands in the middle, or as near to it
 * as the ends of the list allow. */
static void list_show(const struct page_in *in, struct list *l, unsigned rows)
{
	unsigned at = 0;

	while (at < l->n && page_num(json_array_get(l->json, at), "stream", -1) < in->stream)
		at++;
	l->shown = rows < l->n ? rows : l->n;
	l->top = flow_top(at > l->shown / 2 ? at - l->shown / 2 : 0, l->shown, l->n);
}

/* Writes what the selected stream sets and varies. s NULL: there is no such stream. */
static void page_streams_detail(const struct page_in *in, const json_t *s, struct flow *f)
{
	const json_t *fields = json_object_get(s, "fields"), *x;
	struct pairs p = {0};
	size_t i;

	json_array_foreach(fields, i, x) {
		bool varies = json_is_true(json_object_get(x, "varies"));
		pairs_add(&p, page_str(x, "name", "?"), page_str(x, "value", "-"),
			  varies ? PAIR_VARIES : PAIR_FIXED);
	}
	json_array_foreach(json_object_get(s, "varies"), i, x)
		if (json_is_string(x) && strcmp(json_string_value(x), "size") == 0)
			pairs_add(&p, "size", page_str(s, "size", "-"), PAIR_VARIES);
	if (s == NULL) {
		struct sbuf b = {0};
		sbuf_addf(&b, "port %u has no stream %u", in->port, in->stream);
		flow_text(f, 0, f->g.cols, ROLE_WARN, sbuf_str(&b));
		sbuf_free(&b);
	} else if (p.n == 0) {
		flow_text(f, 0, f->g.cols, ROLE_STAT_LABEL, "every field is at its default");
	}
	flow_columns(f, 0, f->g.cols, &p);
	pairs_free(&p);
}

/* Writes which part of the list is shown, " 5-9 of 4096 streams ", or "~" where there is no room.
 * Nothing if all of it is shown. */
static void list_mark(const struct list *l, struct grid *g, int row, int right)
{
	struct sbuf b = {0};

	sbuf_addf(&b, " %u-%u of %u streams ", l->before + l->top + 1,
		  l->before + l->top + l->shown, l->total);
	if (l->shown < l->total && grid_width(sbuf_str(&b)) <= right)
		grid_right(g, row, g->cols - right, right - 1, ROLE_SEP_TEXT, sbuf_str(&b));
	else if (l->shown < l->total)
		grid_put(g, row, g->cols - 1, 1, ROLE_SEP_TEXT, "~");
	sbuf_free(&b);
}

/* Draws the line between the list and what is below it, for example
 * "-- stream 0/3 eth/ipv4/udp * varies ------- 5-9 of 4096 streams -". */
static void page_streams_separator(const struct page_in *in, const json_t *s, const struct list *l,
				   struct grid *g, int row)
{
	struct sbuf b = {0};

	grid_fill(g, row, 0, g->cols, ROLE_SEP_DASH, in->ascii ? L'-' : L'─');
	sbuf_addf(&b, " stream %u/%u ", in->port, in->stream);
	if (s != NULL && g->cols >= 60)
		sbuf_addf(&b, "%s ", page_str(s, "frame", "-"));
	if (json_is_true(json_object_get(s, "ranges")))
		sbuf_add(&b, "ranges ");
	if (json_array_size(json_object_get(s, "varies")) > 0)
		sbuf_add(&b, "* varies ");
	int n = grid_left(g, row, 2, g->cols - 2, ROLE_SEP_TEXT, sbuf_str(&b));
	list_mark(l, g, row, g->cols - 2 - n);
	sbuf_free(&b);
}

static void table_of(const struct page_in *in, const struct list *l, struct grid *g)
{
	const json_t *list = l->json;
	unsigned first = l->top, n = l->shown;
	struct table_col col[COLS];
	struct table t = {.col = col, .n = COLS};
	struct sbuf b = {0};

	memcpy(col, columns, sizeof(col));
	for (unsigned r = first; r < first + n; r++) {
		for (unsigned i = 0; i < COLS; i++) {
			cell_text(json_array_get(list, r), i, &b);
			int w = grid_width(sbuf_str(&b));
			if (is_count(i) && w > COUNT_COLS)
				w = COUNT_COLS;
			col[i].want = w > col[i].want ? w : col[i].want;
		}
	}
	/* No column gets wider than its title and its values. */
	for (unsigned i = 0; i < COLS; i++) {
		int title = grid_width(col[i].title);
		col[i].want = col[i].want > title ? col[i].want : title;
		col[i].min = col[i].min < col[i].want ? col[i].min : col[i].want;
	}
	/* An id is never cut: by it one knows which stream a line is about. */
	col[C_ID].min = col[C_ID].want;
	table_fit(&t, g->cols - MARK);
	table_heads(&t, g, 0, MARK, ROLE_STAT_LABEL);
	for (unsigned r = 0; r < n; r++) {
		const json_t *s = json_array_get(list, first + r);
		bool selected = page_num(s, "stream", -1) == (double)in->stream;
		for (unsigned i = 0; i < COLS; i++) {
			cell_text(s, i, &b);
			put_cell(&t, g, 1 + (int)r, s, i, sbuf_str(&b));
		}
		/* If there is no room for what varies, a star says that something does. */
		if (t.at[C_VARIES] < 0 && json_array_size(json_object_get(s, "varies")) > 0)
			grid_put(g, 1 + (int)r, MARK + t.at[C_ID] + t.width[C_ID], 1, ROLE_VARIES,
				 "*");
		if (selected) {
			grid_put(g, 1 + (int)r, 0, 1, ROLE_SELECTED, ">");
			grid_select(g, 1 + (int)r, 0, g->cols);
		}
	}
	sbuf_free(&b);
}

static void page_streams_draw(const struct page_in *in, struct grid *g, struct page_out *out)
{
	struct list l;
	int rows = g->rows - 1, below = 0;
	struct flow f;

	list_read(in, &l);
	if (l.n == 0) {
		grid_left(g, 0, 0, g->cols, ROLE_STAT_LABEL, "this port has no streams");
		return;
	}
	const json_t *s = page_by(l.json, "stream", in->stream);
	flow_init(&f, g->cols);
	page_streams_detail(in, s, &f);
	/* What the selected stream sets gets the rows that the list leaves. If there is not room
	 * for both it gets what it needs, at most a third. */
	if (rows >= 6) {
		int least = f.row < rows / 3 ? f.row : rows / 3;
		below = rows - (int)l.n > least + 1 ? rows - (int)l.n : least + 1;
	}
	list_show(in, &l, rows > below ? (unsigned)(rows - below) : 0);
	table_of(in, &l, g);
	if (below > 1) {
		page_streams_separator(in, s, &l, g, 1 + (int)l.shown);
		flow_show(&f, g, 2 + (int)l.shown, below - 1, 0, in->top, out);
	} else if (l.shown > 0 || rows > 0) {
		list_mark(&l, g, 0, 0);
		out->rows = l.shown;
		out->all = l.total;
		out->top = l.before + l.top;
	}
	flow_free(&f);
}

const struct page page_streams = {
	.name = "streams",
	.alias = "rnd",
	.parts = "streams:@/#~200",
	.one_port = true,
	.draw = page_streams_draw,
	.help = "Streams of the selected port, what they send, and what the selected one sets and varies.",
};
