/* SPDX-License-Identifier: BSD-3-Clause */
#define NCURSES_NOMACROS
#include "draw.h"

#include <stdlib.h>
#include <string.h>
#include "scroll.h"

#define SEP_FROM 8 /* from this many rows on, there is a row between page and log */
#define LOG_ENOUGH 8
#define PAGE_WHOLE 53 /* the rows of page main with its head line */

void layout_make(struct layout *l, int rows, int cols)
{
	bool footer = rows >= 5, sep = rows >= SEP_FROM;
	int rest = rows - 1 - footer - sep;

	*l = (struct layout){.rows = rows,
			     .cols = cols,
			     .sep = -1,
			     .footer = footer ? rows - 1 : -1,
			     .prompt = rows - 1 - footer};
	/* The page gets two thirds: of 24 rows it has 14, and the log 7. Once the log has
	 * LOG_ENOUGH, the page gets more, up to PAGE_WHOLE. */
	l->page_rows = rest >= 2 ? (2 * rest + 1) / 3 : 0;
	if (rest - LOG_ENOUGH > l->page_rows && l->page_rows < PAGE_WHOLE)
		l->page_rows = rest - LOG_ENOUGH < PAGE_WHOLE ? rest - LOG_ENOUGH : PAGE_WHOLE;
	l->page_most = l->page_rows;
	layout_fit(l, l->page_most);
}

void layout_fit(struct layout *l, int need)
{
	bool sep = l->rows >= SEP_FROM;

	l->page_rows = need < 0 ? 0 : need < l->page_most ? need : l->page_most;
	if (sep)
		l->sep = l->page_rows;
	l->log = l->page_rows + sep;
	l->log_rows = l->prompt - l->log;
}

static void draw_put(const struct paint *p, int row, int col, enum role role, const wchar_t *text)
{
	cchar_t cell;

	paint_char(p, role, text, &cell);
	mvadd_wchnstr(row, col, &cell, 1);
}

int draw_wide(const struct paint *p, int row, int col, int width, enum role role,
	      const wchar_t *text, size_t n)
{
	int used = 0;

	for (size_t i = 0; i < n; i++) {
		wchar_t cell[CCHARW_MAX + 1] = {text[i]};
		int w = wcwidth(text[i]);
		if (w < 0) {
			const wchar_t shown[2] = {L'^', text[i] < L' ' ? text[i] + L'@' : L'?'};
			used += used + 2 <= width ? draw_wide(p, row, col + used, width - used,
							      role, shown, 2)
						  : 0;
			continue;
		}
		for (int k = 1;
		     k < CCHARW_MAX - 1 && w > 0 && i + 1 < n && wcwidth(text[i + 1]) == 0; k++)
			cell[k] = text[++i];
		if (w == 0)
			continue;
		if (used + w > width)
			break;
		draw_put(p, row, col + used, role, cell);
		used += w;
	}
	return used;
}

int draw_text(const struct paint *p, int row, int col, int width, enum role role, const char *text)
{
	size_t n = strlen(text);
	wchar_t *wide = xcalloc(n + 1, sizeof(*wide));
	size_t k = mbstowcs(wide, text, n);
	int used = k != (size_t)-1 ? draw_wide(p, row, col, width, role, wide, k) : 0;

	free(wide);
	return used;
}

void draw_fill(const struct paint *p, int row, int col, int n, enum role role, wchar_t ch)
{
	const wchar_t text[] = {ch, L'\0'};

	for (int i = 0; i < n; i++)
		draw_put(p, row, col + i, role, text);
}

void draw_grid(const struct paint *p, int row, const struct grid *g)
{
	for (int r = 0; r < g->rows; r++)
		for (int c = 0; c < g->cols; c++) {
			const struct grid_cell *cell = &g->cell[r * g->cols + c];
			const wchar_t text[] = {cell->ch, L'\0'};
			if (cell->ch != L'\0')
				draw_put(p, row + r, c, cell->role, text);
		}
}
