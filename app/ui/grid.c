/* SPDX-License-Identifier: BSD-3-Clause */
#include "grid.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EIGHTHS 8

/* Returns the character at *s and moves *s behind it; '?' for a byte that begins none (RFC 3629: no
 * surrogates, no overlong forms). */
static wchar_t utf8_next(const char **s)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	const unsigned char *p = (const unsigned char *)*s;
	int len = p[0] < 0x80             ? 1
		  : (p[0] & 0xe0) == 0xc0 ? 2
		  : (p[0] & 0xf0) == 0xe0 ? 3
		  : (p[0] & 0xf8) == 0xf0 ? 4
					  : 0;
	uint32_t ch = len <= 1 ? p[0] : p[0] & (0x7fu >> len);

	(*s)++;
	if (len == 0)
		return L'?';
	for (int i = 1; i < len; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return L'?';
		ch = ch << 6 | (p[i] & 0x3f);
	}
	if (len > 1 && (ch < least[len] || ch > 0x10ffff || (ch >= 0xd800 && ch < 0xe000)))
		return L'?';
	*s += len > 1 ? len - 1 : 0;
	return (wchar_t)ch;
}

static void utf8_add(wchar_t wc, struct sbuf *out)
{
	uint32_t ch = (uint32_t)wc;
	int more = ch < 0x80 ? 0 : ch < 0x800 ? 1 : ch < 0x10000 ? 2 : 3;
	static const unsigned char lead[] = {0, 0xc0, 0xe0, 0xf0};

	sbuf_addc(out, (char)(lead[more] | ch >> (6 * more)));
	while (more-- > 0)
		sbuf_addc(out, (char)(0x80 | (ch >> (6 * more) & 0x3f)));
}

/* Returns how many columns a character takes; -1: it cannot be shown. This does not depend on the
 * user's locale, so that a page looks the same everywhere. */
static int char_width(wchar_t ch)
{
	static locale_t utf8;
	static bool tried;

	if (ch < 0x20 || (ch >= 0x7f && ch < 0xa0))
		return -1;
	if (ch < 0x300)
		return 1;
	if (!tried) {
		utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
		tried = true;
	}
	if (utf8 == (locale_t)0)
		return 1;
	locale_t before = uselocale(utf8);
	int n = wcwidth(ch);
	uselocale(before);
	return n;
}

/* Returns the next character that takes columns, with its width in *w; 0 at the end. Combining
 * marks have no cell of their own and are left out. */
static wchar_t text_next(const char **s, int *w)
{
	while (**s != '\0') {
		wchar_t ch = utf8_next(s);
		*w = char_width(ch);
		if (*w < 0) {
			ch = L'?';
			*w = 1;
		}
		if (*w > 0)
			return ch;
	}
	return 0;
}

int grid_width(const char *text)
{
	int w, n = 0;

	while (text_next(&text, &w) != 0)
		n += w;
	return n;
}

void grid_init(struct grid *g, int rows, int cols)
{
	g->rows = rows > 0 ? rows : 0;
	g->cols = cols > 0 ? cols : 0;
	g->cell = xcalloc((size_t)g->rows * (size_t)g->cols + 1, sizeof(*g->cell));
	for (int i = 0; i < g->rows * g->cols; i++)
		g->cell[i] = (struct grid_cell){.ch = L' ', .role = ROLE_DEFAULT};
}

void grid_free(struct grid *g)
{
	free(g->cell);
	*g = (struct grid){0};
}

/* Sets one cell. If it was half of a wide character, the other half becomes a blank. */
static void cell_set(struct grid *g, int row, int64_t col, wchar_t ch, enum role role)
{
	if (row < 0 || row >= g->rows || col < 0 || col >= g->cols)
		return;
	struct grid_cell *c = grid_at(g, row, (int)col);
	if (c->ch == 0 && col > 0)
		c[-1].ch = L' ';
	if (col + 1 < g->cols && c[1].ch == 0)
		c[1].ch = L' ';
	*c = (struct grid_cell){.ch = ch, .role = (uint8_t)role};
}

static void char_set(struct grid *g, int row, int64_t col, wchar_t ch, int w, enum role role)
{
	/* A wide character that does not fit whole becomes blanks. */
	if (w == 2 && (col < 0 || col + 1 >= g->cols)) {
		cell_set(g, row, col, L' ', role);
		cell_set(g, row, col + 1, L' ', role);
		return;
	}
	cell_set(g, row, col, ch, role);
	if (w == 2 && row >= 0 && row < g->rows) {
		cell_set(g, row, col + 1, L' ', role);
		grid_at(g, row, (int)col + 1)->ch = 0;
	}
}

int grid_put(struct grid *g, int row, int col, int width, enum role role, const char *text)
{
	int64_t room = width >= 0 ? width : (int64_t)g->cols - col, n = 0;
	wchar_t ch;
	int w;

	while ((ch = text_next(&text, &w)) != 0 && n + w <= room) {
		char_set(g, row, col + n, ch, w, role);
		n += w;
	}
	return (int)n;
}

int grid_putf(struct grid *g, int row, int col, int width, enum role role, const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return grid_put(g, row, col, width, role, text);
}

int grid_left(struct grid *g, int row, int col, int width, enum role role, const char *text)
{
	if (width < 0)
		width = g->cols > col ? g->cols - col : 0;
	if (width == 0 || grid_width(text) <= width)
		return grid_put(g, row, col, width, role, text);
	int n = grid_put(g, row, col, width - 1, role, text);
	grid_fill(g, row, col + n, 1, role, L'~');
	return n + 1;
}

void grid_right(struct grid *g, int row, int col, int width, enum role role, const char *text)
{
	int n = grid_width(text);

	if (width < 0)
		width = g->cols > col ? g->cols - col : 0;
	if (n > width)
		grid_left(g, row, col, width, role, text);
	else
		grid_put(g, row, col + width - n, n, role, text);
}

void grid_rightf(struct grid *g, int row, int col, int width, enum role role, const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	grid_right(g, row, col, width, role, width >= 0 && grid_width(text) > width ? "~" : text);
}

void grid_fill(struct grid *g, int row, int col, int n, enum role role, wchar_t ch)
{
	for (int64_t c = col > 0 ? col : 0; c < (int64_t)col + n && c < g->cols; c++)
		cell_set(g, row, c, ch, role);
}

void grid_select(struct grid *g, int row, int col, int n)
{
	if (row < 0 || row >= g->rows)
		return;
	for (int64_t c = col > 0 ? col : 0; c < (int64_t)col + n && c < g->cols; c++)
		grid_at(g, row, (int)c)->role = ROLE_SELECTED;
}

void grid_bar(struct grid *g, int row, int col, int width, double share, bool ascii)
{
	static const wchar_t part[] = L"▏▎▍▌▋▊▉█";
	const int unit = ascii ? 1 : EIGHTHS;
	int64_t full = 0, all = (int64_t)width * unit;

	if (share > 0)
		full = share >= 1 ? all : llround(share * (double)all);
	/* Any share above 0 shows. */
	if (share > 0 && full == 0)
		full = 1;
	for (int i = 0; i < width && (int64_t)col + i < g->cols; i++) {
		int64_t here = full - (int64_t)i * unit;
		if (here <= 0)
			cell_set(g, row, (int64_t)col + i, ascii ? L'.' : L'·', ROLE_BAR_EMPTY);
		else
			cell_set(g, row, (int64_t)col + i,
				 ascii ? L'#' : part[(here > EIGHTHS ? EIGHTHS : here) - 1],
				 ROLE_BAR);
	}
}

/* Returns the level of a value, from 0 to `all`, which is the level of `top`. A value above 0 has
 * at least level 1. -1: there is no value. */
static int level_of(double v, double top, int all)
{
	if (!isfinite(v))
		return -1;
	if (!(v > 0))
		return 0;
	double level = ceil(v / top * all);
	return level < 1 ? 1 : level > all ? all : (int)level;
}

/* Draws a curve of one row, with a mark for each value. */
static void grid_spark(struct grid *g, int row, int col, int width, const struct curve *c,
		       double top)
{
	static const wchar_t blocks[] = L"▁▂▃▄▅▆▇█", signs[] = L".:-=+*#@";
	int shown = c->n < (unsigned)width ? (int)c->n : width;

	for (int i = 0; i < shown; i++) {
		int level = level_of(c->value[c->n - (unsigned)(shown - i)], top, EIGHTHS);
		if (level >= 0)
			cell_set(g, row, (int64_t)col + width - shown + i,
				 level == 0 ? L'_' : (c->ascii ? signs : blocks)[level - 1],
				 level == 0 ? ROLE_ZERO : ROLE_BAR);
	}
}

#define DOTS 4  /* levels of a cell in braille */
#define STEPS 3 /* levels of a cell in ASCII */

/* Returns how many of the `steps` levels of a cell a value fills. `base` levels lie below the
 * cell. */
static int part_of(int level, int base, int steps)
{
	return level - base < 0 ? 0 : level - base > steps ? steps : level - base;
}

/* Returns a character of braille whose two columns of dots are filled from below. line: the row of
 * dots that is set in any case; -1: none. */
static wchar_t grid_braille(int left, int right, int line)
{
	static const uint8_t bit[2][DOTS] = {{0x40, 0x04, 0x02, 0x01}, {0x80, 0x20, 0x10, 0x08}};
	unsigned dots = 0;

	for (int i = 0; i < DOTS; i++)
		dots |= (i < left || i == line ? bit[0][i] : 0u) |
			(i < right || i == line ? bit[1][i] : 0u);
	return (wchar_t)(0x2800 + dots);
}

void grid_curve(struct grid *g, int row, int col, int width, int rows, const struct curve *c)
{
	int steps = c->ascii ? STEPS : DOTS, all = rows * steps, per = c->ascii ? 1 : 2;
	double top = c->top;
	unsigned shown = width > 0 ? (unsigned)width * (unsigned)(rows > 1 ? per : 1) : 0;

	for (unsigned i = c->n > shown ? c->n - shown : 0; i < c->n && !(c->top > 0); i++)
		top = isfinite(c->value[i]) && c->value[i] > top ? c->value[i] : top;
	if (width <= 0 || rows <= 1) {
		if (width > 0 && rows == 1)
			grid_spark(g, row, col, width, c, top);
		return;
	}
	int line =
		isfinite(c->line) && c->line > 0 && top > 0 ? level_of(c->line, top, all) - 1 : -1;
	for (int x = 0; x < width && (int64_t)col + x < g->cols; x++) {
		int level[2] = {-1, -1};
		for (int k = 0; k < per; k++) {
			int64_t at = (int64_t)c->n - (int64_t)(width - x) * per + k;
			level[k] = at >= 0 ? level_of(c->value[at], top, all) : -1;
		}
		for (int r = 0; r < rows; r++) {
			int base = (rows - 1 - r) * steps,
			    dot = line >= base && line < base + steps ? line - base : -1;
			int left = part_of(level[0], base, steps),
			    right = part_of(level[per - 1], base, steps);
			bool bar = left > 0 || right > 0;
			if (bar)
				cell_set(g, row + r, (int64_t)col + x,
					 c->ascii ? L".:#"[left - 1]
						  : grid_braille(left, right, dot),
					 ROLE_BAR);
			else if (dot >= 0)
				cell_set(g, row + r, (int64_t)col + x,
					 c->ascii ? L'-' : grid_braille(0, 0, dot),
					 ROLE_RATE_COUNT);
			else if (base == 0 && (level[0] == 0 || level[per - 1] == 0))
				cell_set(g, row + r, (int64_t)col + x, L'_', ROLE_ZERO);
		}
	}
}

int grid_used(const struct grid *g)
{
	int n = g->rows * g->cols;

	while (n > 0 && (g->cell[n - 1].ch == L' ' || g->cell[n - 1].ch == 0))
		n--;
	return g->cols > 0 ? (n + g->cols - 1) / g->cols : 0;
}

void grid_text(const struct grid *g, struct sbuf *out)
{
	size_t keep = out->len;

	for (int r = 0; r < g->rows; r++) {
		size_t start = out->len, end = start;
		for (int c = 0; c < g->cols; c++) {
			wchar_t ch = g->cell[r * g->cols + c].ch;
			if (ch == 0)
				continue;
			utf8_add(ch, out);
			if (ch != L' ')
				end = out->len;
		}
		out->len = end;
		sbuf_addc(out, '\n');
		if (end > start)
			keep = out->len;
	}
	out->len = keep;
	if (out->s != NULL)
		out->s[keep] = '\0';
}
