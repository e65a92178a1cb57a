/* SPDX-License-Identifier: BSD-3-Clause */
/* Page xstats: the device's own counters of the selected port that are not zero, with what they
 * gain each second. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "out.h"
#include "page_flow.h"
#include "page_table.h"

#define GAP 4 /* columns between two tables */

enum { C_NAME, C_VALUE, C_RATE, COLS };

static const struct table_col columns[COLS] = {
	[C_NAME] = {"counter", 8, 0, 0, false},
	[C_VALUE] = {"value", 6, 0, 1, true},
	[C_RATE] = {"per second", 10, 0, 2, true},
};

/* Returns true when a counter counts losses. Names are the driver's, but all drivers use these
 * words. */
static bool is_loss(const char *name)
{
	static const char *const words[] = {"err",        "drop", "miss",      "discard", "nombuf",
					    "allocation", "crc",  "undersize", "fail"};

	for (unsigned i = 0; i < ARRAY_SIZE(words); i++)
		if (strstr(name, words[i]) != NULL)
			return true;
	return false;
}

static void cell_text(const json_t *x, unsigned i, struct sbuf *out)
{
	sbuf_reset(out);
	if (i == C_NAME)
		sbuf_add(out, page_str(x, "name", "?"));
	else
		out_cell(json_object_get(x, i == C_VALUE ? "value" : "per_s"),
			 i == C_VALUE ? OF_COUNT : OF_PPS, out);
}

static void one_row(const struct table *t, struct grid *g, int row, int col, const json_t *x)
{
	bool loss = is_loss(page_str(x, "name", ""));
	struct sbuf b = {0};

	for (unsigned i = 0; i < COLS; i++) {
		enum role role = i == C_NAME   ? loss ? ROLE_PORT_ERRLBL : ROLE_STAT_LABEL
				 : loss        ? ROLE_PORT_ERRORS
				 : i == C_RATE ? ROLE_DYN_VALUES
					       : ROLE_PORT_TOTALS;
		if (i == C_VALUE) {
			if (t->at[i] >= 0)
				page_put_count(g, row, col + t->at[i], t->width[i], role,
					       json_object_get(x, "value"));
			continue;
		}
		cell_text(x, i, &b);
		if (i == C_RATE &&
		    (strcmp(sbuf_str(&b), "0") == 0 || strcmp(sbuf_str(&b), "-") == 0))
			role = ROLE_ZERO;
		table_put(t, g, row, col, i, role, sbuf_str(&b));
	}
	sbuf_free(&b);
}

/* Returns the counters to show. *zeros and *unknown say how many are left out, because they are 0
 * or the driver does not count them. The caller frees the array. */
static const json_t **xstats_choose(const json_t *values, unsigned *n, unsigned *zeros,
				    unsigned *unknown)
{
	const json_t **list = xcalloc(json_array_size(values) + 1, sizeof(*list)), *x;
	size_t i;

	*n = *zeros = *unknown = 0;
	json_array_foreach(values, i, x) {
		const json_t *v = json_object_get(x, "value");
		if (!json_is_number(v))
			(*unknown)++;
		else if (json_number_value(v) == 0)
			(*zeros)++;
		else
			list[(*n)++] = x;
	}
	return list;
}

static void xstats_summary(const struct page_in *in, struct grid *g, int row, unsigned n,
			   unsigned zeros, unsigned unknown)
{
	struct sbuf b = {0};

	if (n + zeros + unknown == 0) {
		sbuf_addf(&b, "port %u has no counters of its own", in->port);
	} else if (n + unknown == 0) {
		sbuf_addf(&b, "all %u counters are zero", zeros);
	} else {
		sbuf_addf(&b, "hidden: %u zero", zeros);
		if (unknown > 0)
			sbuf_addf(&b, ", %u not counted by the driver", unknown);
	}
	grid_left(g, row, 0, g->cols, ROLE_STAT_LABEL, sbuf_str(&b));
	sbuf_free(&b);
}

static void xstats_draw(const struct page_in *in, struct grid *g, struct page_out *out)
{
	unsigned n, zeros, unknown;
	const json_t **list =
		xstats_choose(out_get(in->snap, "xstats.values"), &n, &zeros, &unknown);
	struct table_col col[COLS];
	struct table t = {.col = col, .n = COLS};
	struct sbuf b = {0};

	memcpy(col, columns, sizeof(col));
	for (unsigned k = 0; k < n; k++) {
		for (unsigned i = 0; i < COLS; i++) {
			cell_text(list[k], i, &b);
			int w = grid_width(sbuf_str(&b));
			col[i].want = w > col[i].want ? w : col[i].want;
		}
	}
	sbuf_free(&b);
	/* A name says more than the last digits of a value, so names get their width first. */
	int most = g->cols - 2 - columns[C_VALUE].min;
	col[C_NAME].min = col[C_NAME].want < most      ? col[C_NAME].want
			  : most > columns[C_NAME].min ? most
						       : columns[C_NAME].min;
	/* Tables stand beside each other, as many as there is room for in their full width. */
	int whole = 2 * 2;
	for (unsigned i = 0; i < COLS; i++)
		whole += col[i].want > col[i].min ? col[i].want : col[i].min;
	unsigned across = (unsigned)((g->cols + GAP) / (whole + GAP)),
		 room = g->rows > 2 ? (unsigned)g->rows - 2 : 0;
	across = across == 0 ? 1 : across;
	/* There are no more tables than are needed to show all without scrolling: long columns are
	 * easier to read. */
	while (across > 1 && (n + across - 2) / (across - 1) <= room)
		across--;
	unsigned down = (n + across - 1) / across;
	table_fit(&t, across > 1 ? whole : g->cols < whole ? g->cols : whole);
	out->all = down;
	out->rows = down < room ? down : room;
	out->top = flow_top(in->top, out->rows, out->all);
	for (unsigned a = 0; a < across && n > 0; a++) {
		int c = (int)a * (whole + GAP);
		table_heads(&t, g, 0, c, ROLE_STAT_LABEL);
		for (unsigned r = 0; r < out->rows; r++)
			if (a * down + out->top + r < n)
				one_row(&t, g, 1 + (int)r, c, list[a * down + out->top + r]);
	}
	xstats_summary(in, g, n > 0 ? 1 + (int)out->rows : 0, n, zeros, unknown);
	free(list);
}

const struct page page_xstats = {
	.name = "xstats",
	.parts = "xstats:@",
	.one_port = true,
	.draw = xstats_draw,
	.help = "The device's own counters of the selected port that are not zero, and their rates.",
};
