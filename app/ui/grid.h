/* SPDX-License-Identifier: BSD-3-Clause */
/* A grid of styled text is what a page draws, what the screen puts on a terminal, and what `show
 * page` prints. It knows neither curses nor control. Rows and columns count from 0. What lies
 * outside of the grid is cut off, so that every page can be drawn at every size, 0x0 included. */
#pragma once
#include <wchar.h>
#include "theme.h"

struct grid_cell {
	wchar_t ch;   /* 0: the right half of a wide character before it */
	uint8_t role; /* enum role */
};

struct grid {
	int rows, cols;
	struct grid_cell *cell; /* [rows * cols] */
};

void grid_init(struct grid *, int rows, int cols); /* blanks in ROLE_DEFAULT */
void grid_free(struct grid *);
static inline struct grid_cell *grid_at(struct grid *g, int row, int col)
{
	return &g->cell[row * g->cols + col];
}

/* Puts UTF-8 text from (row, col) on, in at most `width` columns (width < 0: to the grid's edge).
 * Control characters, and bytes that are no character, become '?'; combining marks are left out,
 * and so is a wide character that does not fit whole. Returns the columns that the text takes. */
int grid_put(struct grid *, int row, int col, int width, enum role, const char *text);
int grid_putf(struct grid *, int row, int col, int width, enum role, const char *fmt, ...)
	WR_PRINTF(6, 7);
/* Does the same, but longer text is cut at its end and marked with '~'. */
int grid_left(struct grid *, int row, int col, int width, enum role, const char *text);
/* Puts text flush right in `width` columns; longer text is cut as by grid_left(). */
void grid_right(struct grid *, int row, int col, int width, enum role, const char *text);
/* Puts a figure flush right. One that does not fit is left out, with a '~' in its place: a figure
 * that is cut would be another one. */
void grid_rightf(struct grid *, int row, int col, int width, enum role, const char *fmt, ...)
	WR_PRINTF(6, 7);
/* Puts the same character n times. */
void grid_fill(struct grid *, int row, int col, int n, enum role, wchar_t ch);
/* Gives n columns, blanks included, the role of what is selected (ROLE_SELECTED). Their text
 * stays. */
void grid_select(struct grid *, int row, int col, int n);
/* Draws a bar of `width` columns for a share from 0 to 1, in eighths of a column (ascii: in whole
 * columns, of '#' and '.'). */
void grid_bar(struct grid *, int row, int col, int width, double share, bool ascii);
/* A curve shows the last of n values, the newest at the right. Its upper edge stands for `top` (0:
 * the greatest value that is shown). `line` is a value at which a line is drawn across all columns,
 * if there are two rows or more; NAN: none. The curve is drawn in braille with two values to a
 * column. In ASCII, or in a single row, one column is one value. A value above 0 shows at least the
 * lowest mark, 0 shows a '_', and NAN leaves a gap. */
struct curve {
	const double *value;
	unsigned n;
	double top, line;
	bool ascii;
};
void grid_curve(struct grid *, int row, int col, int width, int rows, const struct curve *);

/* Returns how many rows there are down to the last one that shows something. */
int grid_used(const struct grid *);
/* Appends the grid as text: rows without blanks at their ends, each with a newline, and without the
 * empty rows at the bottom. */
void grid_text(const struct grid *, struct sbuf *out);
/* Returns how many columns UTF-8 text takes on a terminal. */
int grid_width(const char *text);
