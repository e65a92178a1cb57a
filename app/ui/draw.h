/* SPDX-License-Identifier: BSD-3-Clause */
/* These functions put text and grids onto curses' standard screen, and say where its areas lie.
 * Rows and columns count from 0. */
#pragma once
#include "grid.h"
#include "paint.h"

struct layout {
	int rows, cols;
	int page_most;     /* rows that a page may have */
	int page_rows;     /* rows that this page has, from row 0 on */
	int sep;           /* the row between page and log, -1: none */
	int log, log_rows; /* first row of the log, and how many it has */
	int prompt;
	int footer; /* -1: none */
};
/* Divides a screen of at least 1x1 among its areas. On a low screen all of them but the prompt may
 * be absent. The page gets as many rows as it may have. */
void layout_make(struct layout *, int rows, int cols);
/* Gives the page the `need` rows that it needs, at most page_most, and the others to the log. */
void layout_fit(struct layout *, int need);

/* Both draw text in at most `width` columns and return how many columns it took. A combining
 * character joins the character before it; a character that cannot be shown becomes ^X or ^?. */
int draw_wide(const struct paint *, int row, int col, int width, enum role, const wchar_t *text,
	      size_t n);
int draw_text(const struct paint *, int row, int col, int width, enum role, const char *text);
void draw_fill(const struct paint *, int row, int col, int n, enum role, wchar_t ch);
void draw_grid(const struct paint *, int row, const struct grid *);
