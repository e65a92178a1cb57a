/* SPDX-License-Identifier: BSD-3-Clause */
/* A grid of styled text: what a page draws, what a screen puts on a terminal, what `show page` prints. No curses, no control. Positions
 * count from 0; what lies outside is cut off, so that every page can be drawn at every size, 0x0 included. */
#pragma once
#include <wchar.h>
#include "theme.h"

struct grid_cell {
	wchar_t ch;       /* 0: the right half of a wide character before it */
	uint8_t role;     /* enum role */
};

struct grid {
	int rows, cols;
	struct grid_cell *cell; /* [rows * cols] */
};

void grid_init(struct grid *, int rows, int cols); /* blanks in ROLE_DEFAULT */
void grid_free(struct grid *);
static inline struct grid_cell *grid_at(struct grid *g, int row, int col) { return &g->cell[row * g->cols + col]; }

/* UTF-8 text from (row, col) on, at most width columns (width < 0: to the grid's edge). Bytes that are no character become '?', control
 * characters too; combining marks are left out. Returns columns that the text takes. A wide character that does not fit whole is left out. */
int grid_put(struct grid *, int row, int col, int width, enum role, const char *text);
int grid_putf(struct grid *, int row, int col, int width, enum role, const char *fmt, ...) WR_PRINTF(6, 7);
/* The same, but what is longer is cut at its end and marked with '~'. */
int grid_left(struct grid *, int row, int col, int width, enum role, const char *text);
/* The same, flush right in width columns; longer text is cut at its end and marked with '~'. */
void grid_right(struct grid *, int row, int col, int width, enum role, const char *text);
/* A figure: one that does not fit is left out, with a '~' in its place. */
void grid_rightf(struct grid *, int row, int col, int width, enum role, const char *fmt, ...) WR_PRINTF(6, 7);
/* The same character n times. */
void grid_fill(struct grid *, int row, int col, int n, enum role, wchar_t ch);
/* n columns as selected, blanks too: one area in the look of that role. */
void grid_select(struct grid *, int row, int col, int n);
/* A bar of width columns, share 0..1, in eighths of a column (ascii: '#' and '.', whole columns). */
void grid_bar(struct grid *, int row, int col, int width, double share, bool ascii);
/* The last of n values as a curve of `rows` rows, the newest at the right, from 0 to `top` (0: the greatest of them): braille, two values
 * to a column; one row, and ascii, one to a column. A value above 0 shows at least the lowest mark, 0 a '_'. NAN: a gap. line: across all
 * of it at that height, where there is more than one row; NAN: none. */
struct curve {
	const double *value;
	unsigned n;
	double top, line;
	bool ascii;
};
void grid_curve(struct grid *, int row, int col, int width, int rows, const struct curve *);

/* Rows down to the last one that shows something. */
int grid_used(const struct grid *);
/* Rows of text without blanks at their ends, each with a newline; the last rows that are empty are left out. */
void grid_text(const struct grid *, struct sbuf *out);
/* Columns of UTF-8 text on a terminal. */
int grid_width(const char *text);
