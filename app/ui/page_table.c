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
