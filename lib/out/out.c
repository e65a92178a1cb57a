/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables and trees in the three modes. */
#include "out_grid.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COL_GAP "  "

const struct out_col *out_grid_col(const struct out_grid *g, unsigned c)
{
	return c < g->view->ncols ? &g->view->cols[c] : &g->view->sub_cols[c - g->view->ncols];
}

/* Appends a value for spreadsheets: numbers in base units, true or false, nothing for what is
 * missing. */
static void csv_value(const json_t *v, struct sbuf *out)
{
	if (v == NULL || json_is_null(v) || (json_is_array(v) && json_array_size(v) == 0))
		return;
	if (json_is_boolean(v))
		sbuf_add(out, json_is_true(v) ? "true" : "false");
	else
		out_cell(v, OF_STR, out);
}

static void csv_quote(const char *s, struct sbuf *out)
{
	if (strpbrk(s, ",\"\n\r") == NULL && s[0] != ' ') {
		sbuf_add(out, s);
		return;
	}
	sbuf_addc(out, '"');
	for (; *s != '\0'; s++) {
		if (*s == '"')
			sbuf_addc(out, '"');
		sbuf_addc(out, *s);
	}
	sbuf_addc(out, '"');
}

/* True for a character that may belong to a number: a digit, its unit, the point, the mark between
 * groups of digits. */
static bool of_number(char c)
{
	return isalnum((unsigned char)c) || strchr(".%'", c) != NULL;
}

/* Cuts UTF-8 text to w columns; "~" stands for what is cut off. A number is left out as a whole,
 * because without its end it would be another one. */
static void out_cut(char *s, int w)
{
	char *last = s, *begin = s;

	for (int n = 0; *s != '\0'; s++) {
		if (((unsigned char)*s & 0xc0) == 0x80)
			continue;
		if (++n == w)
			last = s;
		if (n <= w)
			continue;
		char *number = last;
		while (number > begin && of_number(number[-1]))
			number--;
		if (of_number(*last) && isdigit((unsigned char)*number))
			last = number;
		strcpy(last, "~");
		return;
	}
}

/* Writes a number that is too long again, with fewer digits. */
static void out_shorten(const json_t *v, int w, struct sbuf *b)
{
	for (int digits = 4; digits > 0 && (int)b->len > w; digits--) {
		sbuf_reset(b);
		out_si_digits(json_number_value(v), digits, b);
	}
}

static void grid_row(struct out_grid *g, const json_t *row, const json_t *sub)
{
	g->cell = xrealloc(g->cell, (g->nrows + 1) * g->ncols * sizeof(*g->cell));
	for (unsigned c = 0; c < g->ncols; c++) {
		const struct out_col *col = out_grid_col(g, c);
		const json_t *v = out_get(c < g->view->ncols ? row : sub, col->key);
		struct sbuf b = {0};

		if (g->csv)
			csv_value(v, &b);
		else
			out_cell(v, col->fmt, &b);
		if (!g->csv && col->width > 0 && json_is_number(v))
			out_shorten(v, col->width, &b);
		char *cell = xstrdup(sbuf_str(&b));
		/* It may be what a user typed, and it goes to a terminal: no newline, no escape. */
		for (char *p = cell; !g->csv && *p != '\0'; p++)
			if (iscntrl((unsigned char)*p))
				*p = '?';
		if (!g->csv && col->width > 0)
			out_cut(cell, col->width);
		g->cell[g->nrows * g->ncols + c] = cell;
		sbuf_free(&b);
	}
	g->nrows++;
}

void out_grid_make(struct out_grid *g, const json_t *doc, const struct out_view *view, bool csv)
{
	const json_t *row, *sub;
	size_t i, j;

	*g = (struct out_grid){.view = view, .csv = csv};
	g->ncols = g->view->ncols + (g->view->sub != NULL ? g->view->nsub_cols : 0);
	json_array_foreach(out_get(doc, g->view->rows), i, row) {
		if (g->view->sub == NULL) {
			grid_row(g, row, NULL);
			continue;
		}
		json_array_foreach(out_get(row, g->view->sub), j, sub)
			grid_row(g, row, sub);
	}
}

void out_grid_free(struct out_grid *g)
{
	for (size_t i = 0; i < g->nrows * g->ncols; i++)
		free(g->cell[i]);
	free(g->cell);
}

/* Columns that UTF-8 text takes on a screen, one for each code point. */
static int out_width(const char *s)
{
	int n = 0;

	for (; *s != '\0'; s++)
		n += ((unsigned char)*s & 0xc0) != 0x80;
	return n;
}

static void out_pad(const char *s, int w, bool right, struct sbuf *out)
{
	int fill = w - out_width(s);

	if (!right)
		sbuf_add(out, s);
	for (int i = 0; i < fill; i++)
		sbuf_addc(out, ' ');
	if (right)
		sbuf_add(out, s);
}

static void end_line(struct sbuf *out)
{
	while (out->len > 0 && out->s[out->len - 1] == ' ')
		out->s[--out->len] = '\0';
	sbuf_addc(out, '\n');
}

static void text_table(const struct out_grid *g, struct sbuf *out)
{
	int *w = xcalloc(g->ncols, sizeof(*w));

	for (unsigned c = 0; c < g->ncols; c++) {
		w[c] = out_width(out_grid_col(g, c)->title);
		for (size_t r = 0; r < g->nrows; r++)
			if (out_width(g->cell[r * g->ncols + c]) > w[c])
				w[c] = out_width(g->cell[r * g->ncols + c]);
	}
	for (size_t r = 0; r <= g->nrows; r++) {
		for (unsigned c = 0; c < g->ncols; c++) {
			const struct out_col *col = out_grid_col(g, c);
			if (c > 0)
				sbuf_add(out, COL_GAP);
			out_pad(r == 0 ? col->title : g->cell[(r - 1) * g->ncols + c], w[c],
				col->fmt != OF_STR, out);
		}
		end_line(out);
	}
	free(w);
}

bool out_grid_says(const struct out_grid *g, unsigned c)
{
	for (size_t r = 0; r < g->nrows; r++) {
		const char *cell = g->cell[r * g->ncols + c];
		if (strcmp(cell, "0") != 0 && strcmp(cell, "-") != 0)
			return true;
	}
	return false;
}

static void text_transposed(const struct out_grid *g, struct sbuf *out)
{
	int *w = xcalloc(g->nrows, sizeof(*w)), label = 0;

	for (unsigned c = 0; c < g->ncols; c++) {
		if (out_width(out_grid_col(g, c)->title) > label)
			label = out_width(out_grid_col(g, c)->title);
		for (size_t r = 0; r < g->nrows; r++)
			if (out_width(g->cell[r * g->ncols + c]) > w[r])
				w[r] = out_width(g->cell[r * g->ncols + c]);
	}
	for (unsigned c = 0; c < g->ncols; c++) {
		if (out_grid_col(g, c)->some && !out_grid_says(g, c))
			continue;
		out_pad(out_grid_col(g, c)->title, label, false, out);
		for (size_t r = 0; r < g->nrows; r++) {
			sbuf_add(out, COL_GAP);
			out_pad(g->cell[r * g->ncols + c], w[r], true, out);
		}
		end_line(out);
	}
	free(w);
}

static void csv_table(const struct out_grid *g, struct sbuf *out)
{
	for (size_t r = 0; r <= g->nrows; r++) {
		for (unsigned c = 0; c < g->ncols; c++) {
			if (c > 0)
				sbuf_addc(out, ',');
			csv_quote(r == 0 ? out_grid_col(g, c)->key
					 : g->cell[(r - 1) * g->ncols + c],
				  out);
		}
		sbuf_addc(out, '\n');
	}
}

static bool array_of_objects(const json_t *v)
{
	return json_is_array(v) && json_is_object(json_array_get(v, 0));
}

/* Appends a tree without a view: a line or row for each value, named by its path. */
static void out_flat(const json_t *v, const char *name, enum out_mode mode, struct sbuf *out)
{
	const char *key;
	json_t *item;
	size_t i;
	struct sbuf b = {0};

	if (json_is_object(v)) {
		json_object_foreach((json_t *)v, key, item) {
			sbuf_reset(&b);
			sbuf_addf(&b, "%s%s%s", name, name[0] != '\0' ? "." : "", key);
			out_flat(item, sbuf_str(&b), mode, out);
		}
	} else if (array_of_objects(v)) {
		json_array_foreach(v, i, item) {
			sbuf_reset(&b);
			sbuf_addf(&b, "%s[%zu]", name, i);
			out_flat(item, sbuf_str(&b), mode, out);
		}
	} else if (mode == OUT_CSV) {
		csv_quote(name, out);
		sbuf_addc(out, ',');
		csv_value(v, &b);
		csv_quote(sbuf_str(&b), out);
		sbuf_addc(out, '\n');
	} else {
		out_cell(v, OF_STR, &b);
		sbuf_addf(out, "%s: %s\n", name, sbuf_str(&b));
	}
	sbuf_free(&b);
}

void out_write(enum out_mode mode, const json_t *doc, const struct out_view *view, struct sbuf *out)
{
	if (mode == OUT_JSON) {
		size_t before = out->len;
		out_json(doc, JSON_REAL_PRECISION(15), out);
		sbuf_add(out, out->len > before ? "\n" : "null\n");
		return;
	}
	if (view == NULL) {
		if (mode == OUT_CSV)
			sbuf_add(out, "key,value\n");
		out_flat(doc, "", mode, out);
		return;
	}
	struct out_grid g;
	out_grid_make(&g, doc, view, mode == OUT_CSV);
	if (mode == OUT_CSV)
		csv_table(&g, out);
	else if (view->transpose)
		text_transposed(&g, out);
	else
		text_table(&g, out);
	out_grid_free(&g);
}

int out_stdout(const char *text)
{
	errno = 0;
	if (fputs(text, stdout) < 0 || fflush(stdout) != 0)
		return errno != 0 ? -errno : -EIO;
	return 0;
}
