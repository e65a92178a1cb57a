/* SPDX-License-Identifier: BSD-3-Clause */
/* Columns of a table on a page: which are there, and how wide. */
#pragma once
#include "page.h"

#define TABLE_COLS 16
#define TABLE_GAP 2 /* columns between them */

struct table_col {
	const char *title;
	int min, want; /* columns; what is more than min is given where there is room */
	int rank;      /* as for page_fit(): 0 stays always, the highest goes first */
	bool right;    /* flush right */
};

struct table {
	const struct table_col *col;
	unsigned n;    /* at most TABLE_COLS */
	int at[TABLE_COLS], width[TABLE_COLS]; /* at -1: left out */
};

/* Place the columns in `room` columns, the first at 0. */
void table_fit(struct table *, int room);
void table_heads(const struct table *, struct grid *, int row, int col, enum role);
/* Text of a cell, cut with a mark; nothing for a column that is left out. */
void table_put(const struct table *, struct grid *, int row, int col, unsigned i, enum role, const char *text);
