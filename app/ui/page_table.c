/* SPDX-License-Identifier: BSD-3-Clause */
#include "page_table.h"

#include <limits.h>
#include <string.h>

#define LITTLE 8 /* how much a column may lack, in columns of the grid */

/* Returns the column that gets room next, or t->n when none lacks any. Columns that lack at most
 * LITTLE come first, the one that lacks least before the others, so that as many columns as
 * possible have their full width. The others follow in the order of their ranks. */
static unsigned next_column(const struct table *t, const int *size)
{
	unsigned found = t->n;

	for (unsigned i = 0; i < t->n; i++) {
		int more = t->col[i].want - size[i];
		if (t->at[i] < 0 || more <= 0)
			continue;
		int best = found == t->n ? INT_MAX : t->col[found].want - size[found];
		if (more <= LITTLE ? more < best
				   : best > LITTLE &&
					     (found == t->n || t->col[i].rank < t->col[found].rank))
			found = i;
	}
	return found;
}

void table_fit(struct table *t, int room)
{
	int size[TABLE_COLS], rank[TABLE_COLS], used = -TABLE_GAP, place = 0;

	for (unsigned i = 0; i < t->n; i++) {
		size[i] = t->col[i].min;
		rank[i] = t->col[i].rank;
	}
	page_fit(size, rank, t->n, TABLE_GAP, room, t->at);
	for (unsigned i = 0; i < t->n; i++)
		used += t->at[i] >= 0 ? size[i] + TABLE_GAP : 0;
	for (unsigned i = next_column(t, size); used < room && i < t->n; i = next_column(t, size)) {
		int more = t->col[i].want - size[i] < room - used ? t->col[i].want - size[i]
								  : room - used;
		size[i] += more;
		used += more;
	}
	for (unsigned i = 0; i < t->n; i++) {
		if (t->at[i] < 0)
			continue;
		/* The columns that always stay may be too wide together. Then the last one is
		 * cut. */
		t->at[i] = place;
		t->width[i] = place + size[i] <= room ? size[i] : room - place;
		place += size[i] + TABLE_GAP;
		if (t->width[i] <= 0)
			t->at[i] = -1;
	}
}

/* Returns true when the text is one number, with or without a unit. */
static bool is_number(const char *text)
{
	return text[strspn(text, "-")] >= '0' && text[strspn(text, "-")] <= '9' &&
	       text[strspn(text, "-+.'e0123456789kMGTPE%")] == '\0';
}

void table_put(const struct table *t, struct grid *g, int row, int col, unsigned i, enum role role,
	       const char *text)
{
	if (t->at[i] < 0)
		return;
	if (t->col[i].right)
		grid_right(g, row, col + t->at[i], t->width[i], role,
			   is_number(text) && grid_width(text) > t->width[i] ? "~" : text);
	else
		grid_left(g, row, col + t->at[i], t->width[i], role, text);
}

void table_heads(const struct table *t, struct grid *g, int row, int col, enum role role)
{
	for (unsigned i = 0; i < t->n; i++)
		table_put(t, g, row, col, i, role, t->col[i].title);
}

#define SHEET_HEADS 1

static void sheet_column(const struct sheet *t, const json_t *of, const struct page_in *in,
			 struct grid *g, int col, int width, const struct page_out *out)
{
	struct sbuf name = {0};

	page_port_name(of, in, width - 1, &name);
	grid_right(g, 0, col, width, ROLE_STAT_LABEL, sbuf_str(&name));
	sbuf_free(&name);
	for (unsigned r = 0; r < out->rows; r++)
		t->put(g, SHEET_HEADS + (int)r, col, width, out->top + r, of);
}

void sheet_draw(const struct sheet *t, const json_t *list, const struct page_in *in, struct grid *g,
		struct page_out *out)
{
	int width = g->cols - t->label < t->width ? g->cols - t->label : t->width;
	unsigned n = (unsigned)json_array_size(list),
		 room = width > 0 ? (unsigned)((g->cols - t->label) / width) : 0,
		 first = page_first(in, n);

	if (n == 0) {
		grid_left(g, 0, 0, g->cols, ROLE_STAT_LABEL, t->none);
		return;
	}
	page_list(in, t->nlines, g->rows - SHEET_HEADS, out);
	if (in->max_ports > 0 && room > in->max_ports)
		room = in->max_ports;
	for (unsigned r = 0; r < out->rows; r++)
		grid_left(g, SHEET_HEADS + (int)r, 0, t->label, ROLE_STAT_LABEL,
			  t->title(out->top + r));
	for (unsigned i = 0; i < room && first + i < n; i++, out->shown++)
		sheet_column(t, json_array_get(list, first + i), in, g, t->label + (int)i * width,
			     width, out);
	out->of = n;
}
