/* SPDX-License-Identifier: BSD-3-Clause */
/* Streams of the selected port, one line each, and below them what the selected one sets and varies: Pktgen's range, sequence and random pages. */
#include <stdio.h>
#include <string.h>

#include "out.h"
#include "page_flow.h"
#include "page_table.h"

#define MARK 1 /* before each line: which is selected */

enum { C_ID, C_ON, C_FRAME, C_SIZE, C_WEIGHT, C_COUNT, C_PACKETS, C_PPS, C_SHARE, C_ENGINE, C_VARIES, COLS };

static const char *const keys[COLS] = {
	[C_ID] = "stream", [C_ON] = "enabled", [C_FRAME] = "frame", [C_SIZE] = "size", [C_WEIGHT] = "weight", [C_COUNT] = "count",
	[C_PACKETS] = "tx.packets", [C_PPS] = "pps", [C_SHARE] = "share", [C_ENGINE] = "engine", [C_VARIES] = "varies",
};
static const enum out_fmt fmts[COLS] = {
	[C_WEIGHT] = OF_COUNT, [C_COUNT] = OF_COUNT, [C_PACKETS] = OF_COUNT, [C_PPS] = OF_PPS, [C_SHARE] = OF_PERCENT,
};
static const struct table_col columns[COLS] = {
	[C_ID] = {"id", 2, 4, 0, true},
	[C_ON] = {"on", 3, 3, 4, false},
	[C_FRAME] = {"frame", 8, 0, 2, false},
	[C_SIZE] = {"size", 6, 0, 5, true},
	[C_WEIGHT] = {"weight/rate", 11, 0, 6, true},
	[C_COUNT] = {"count", 7, 0, 7, true},
	[C_PACKETS] = {"tx packets", 10, 0, 3, true},
	[C_PPS] = {"tx pps", 6, 6, 1, true},
	[C_SHARE] = {"share", 6, 6, 8, true},
	[C_ENGINE] = {"engine", 6, 0, 10, false},
	[C_VARIES] = {"varies", 12, 0, 9, false},
};

static void cell_text(const json_t *s, unsigned i, struct sbuf *out)
{
	const json_t *rate = json_object_get(s, "rate");

	sbuf_reset(out);
	if (i == C_ON)
		sbuf_add(out, json_is_false(json_object_get(s, "enabled")) ? "off" : "on");
	else if (i == C_WEIGHT && json_is_string(rate)) /* a load of its own, which then takes no turn in the port's */
		sbuf_add(out, json_string_value(rate));
	else if (i == C_COUNT && page_num(s, "count", 0) == 0)
		sbuf_add(out, "-");
	else
		out_cell(out_get(s, keys[i]), fmts[i], out);
}

static enum role cell_role(const json_t *s, unsigned i)
{
	bool off = json_is_false(json_object_get(s, "enabled"));

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

static const json_t *selected_of(const json_t *list, unsigned stream)
{
	return page_by(list, "stream", stream);
}

/* What the selected stream sets and varies. */
static void detail(const struct page_in *in, const json_t *s, struct flow *f)
{
	const json_t *fields = json_object_get(s, "fields"), *x;
	struct pairs p = {0};
	size_t i;

	json_array_foreach(fields, i, x)
		pairs_add(&p, page_str(x, "name", "?"), page_str(x, "value", "-"), json_is_true(json_object_get(x, "varies")));
	if (s == NULL) {
		struct sbuf b = {0};
		sbuf_addf(&b, "port %u has no stream %u", in->port, in->stream);
		flow_text(f, 0, f->g.cols, ROLE_WARN, sbuf_str(&b));
		sbuf_free(&b);
	} else if (p.n == 0) {
		flow_text(f, 0, f->g.cols, ROLE_STAT_LABEL, "every field at its default, nothing varies");
	}
	flow_columns(f, 0, f->g.cols, &p);
	pairs_free(&p);
}

/* "--- stream 0/3: eth/ipv4/udp, * varies, 4 of 9 rows ---" */
static void separator(const struct page_in *in, const json_t *s, struct grid *g, int row, unsigned shown, unsigned all)
{
	struct sbuf b = {0};

	grid_fill(g, row, 0, g->cols, ROLE_SEP_DASH, in->ascii ? L'-' : L'─');
	sbuf_addf(&b, " stream %u/%u ", in->port, in->stream);
	if (s != NULL && g->cols >= 60)
		sbuf_addf(&b, "%s ", page_str(s, "frame", "-"));
	if (json_array_size(json_object_get(s, "varies")) > 0)
		sbuf_add(&b, "* varies ");
	if (shown < all)
		sbuf_addf(&b, "~ %u of %u rows ", shown, all);
	grid_left(g, row, 2, g->cols - 2, ROLE_SEP_TEXT, sbuf_str(&b));
	sbuf_free(&b);
}

static void table_of(const struct page_in *in, const json_t *list, struct grid *g, unsigned first, unsigned n)
{
	struct table_col col[COLS];
	struct table t = {.col = col, .n = COLS};
	struct sbuf b = {0};

	memcpy(col, columns, sizeof(col));
	for (unsigned r = first; r < first + n; r++) {
		for (unsigned i = 0; i < COLS; i++) {
			cell_text(json_array_get(list, r), i, &b);
			int w = grid_width(sbuf_str(&b));
			col[i].want = w > col[i].want ? w : col[i].want;
		}
	}
	/* An id is never cut: the others find their streams by it. */
	col[C_ID].min = col[C_ID].want;
	table_fit(&t, g->cols - MARK);
	table_heads(&t, g, 0, MARK, ROLE_STAT_LABEL);
	for (unsigned r = 0; r < n; r++) {
		const json_t *s = json_array_get(list, first + r);
		bool selected = (unsigned)page_num(s, "stream", -1) == in->stream;
		for (unsigned i = 0; i < COLS; i++) {
			cell_text(s, i, &b);
			table_put(&t, g, 1 + (int)r, MARK, i, cell_role(s, i), sbuf_str(&b));
		}
		if (selected) {
			grid_put(g, 1 + (int)r, 0, 1, ROLE_SELECTED, ">");
			grid_reverse(g, 1 + (int)r, 0, g->cols);
		}
	}
	sbuf_free(&b);
}

static void draw(const struct page_in *in, struct grid *g, struct page_out *out)
{
	const json_t *list = json_object_get(in->snap, "streams"), *s = selected_of(list, in->stream);
	int n = (int)json_array_size(list), rows = g->rows - 1, shown = n, below = 0;
	struct flow f;

	if (n == 0) {
		grid_put(g, 0, 0, -1, ROLE_STAT_LABEL, "this port has no streams");
		return;
	}
	flow_init(&f, g->cols);
	detail(in, s, &f);
	/* The list comes first; what is selected gets the rest, at least a third where there is room for both. */
	if (rows >= 6) {
		int least = f.row + 1 < rows / 3 + 1 ? f.row + 1 : rows / 3 + 1;
		below = rows - n > least ? rows - n : least;
		below = below > f.row + 1 ? f.row + 1 : below;
	}
	shown = rows - below < n ? rows - below : n;
	shown = shown > 0 ? shown : 0;
	out->rows = (unsigned)shown;
	out->all = (unsigned)n;
	out->top = flow_top(in->top, out->rows, out->all);
	table_of(in, list, g, out->top, out->rows);
	if (below > 1) {
		separator(in, s, g, 1 + shown, (unsigned)below - 1, (unsigned)f.row);
		flow_show(&f, g, 2 + shown, below - 1, 0, 0, NULL);
	}
	flow_free(&f);
}

const struct page page_streams = {
	.name = "streams", .alias = "range,sequence,seq,rnd", .parts = "streams:@/#", .one_port = true, .draw = draw,
	.help = "Streams of the selected port, what they send, and what the selected one sets and varies.",
};
