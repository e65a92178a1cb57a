/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables on a page: one decides which of its columns have room and how wide they are, and puts
 * their cells; the other one has a column for each object of a list. */
#pragma once
#include "page.h"

#define TABLE_COLS 16
#define TABLE_GAP 2 /* blanks between two columns of the table */

struct table_col {
	const char *title;
	int min, want; /* its least and its full width, in columns of the grid */
	int rank;      /* as for page_fit(): 0 stays always, the highest goes first */
	bool right;    /* cells are flush right */
};

struct table {
	const struct table_col *col;
	unsigned n;                            /* at most TABLE_COLS */
	int at[TABLE_COLS], width[TABLE_COLS]; /* set by table_fit(); at is -1: left out */
};

/* Places the columns of the table in `room` columns of the grid, the first at 0. */
void table_fit(struct table *, int room);
/* Puts the titles. */
void table_heads(const struct table *, struct grid *, int row, int col, enum role);
/* Puts the text of a cell in column i. Longer text is cut and marked with '~', but a number in a
 * column that is flush right becomes a '~'. Nothing is put into a column that is left out. */
void table_put(const struct table *, struct grid *, int row, int col, unsigned i, enum role,
	       const char *text);

/* A table whose lines are the same for each object of a list. Its head has the objects' ports. */
struct sheet {
	const char *none; /* what is said where the list is empty */
	int label, width; /* columns of the grid for the titles of lines, and most for an object */
	unsigned nlines;
	const char *(*title)(unsigned line);
	void (*put)(struct grid *, int row, int col, int width, unsigned line, const json_t *of);
};

/* Draws the sheet of the objects of an array, from in->first on as many as there is room for. The
 * head stays while lines scroll. */
void sheet_draw(const struct sheet *, const json_t *list, const struct page_in *, struct grid *,
		struct page_out *);
