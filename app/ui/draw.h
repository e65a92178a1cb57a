/* SPDX-License-Identifier: BSD-3-Clause */
/* Text and grids onto curses' standard screen, and where its areas lie. */
#pragma once
#include "grid.h"
#include "paint.h"

struct layout {
	int rows, cols;
	int page_most;         /* rows that a page may have, */
	int page_rows;         /* and that this one has, from row 0 on */
	int sep;               /* the row between page and log, -1: none */
	int log, log_rows;
	int prompt;
	int footer;            /* -1: none */
};
/* At least 1x1; everything but the prompt may be absent. The page has as many rows as it may have. */
void layout_make(struct layout *, int rows, int cols);
/* The page needs so many rows: those that it leaves are for the log. */
void layout_fit(struct layout *, int need);

/* Columns used, at most width. Characters without a column join the one before them; what is none is shown as ^X or '?'. */
int draw_wide(const struct paint *, int row, int col, int width, enum role, const wchar_t *text, size_t n);
int draw_text(const struct paint *, int row, int col, int width, enum role, const char *text);
void draw_fill(const struct paint *, int row, int col, int n, enum role, wchar_t ch);
void draw_grid(const struct paint *, int row, const struct grid *);
