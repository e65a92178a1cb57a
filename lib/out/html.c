/* SPDX-License-Identifier: BSD-3-Clause */
#include "html.h"

#include "out_grid.h"
#include "svg.h"

void html_open(const char *title, struct sbuf *out)
{
	sbuf_add(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		      "<title>");
	svg_escaped(title, out);
	sbuf_add(out,
		 "</title>\n<style>\n"
		 "body { font-family: sans-serif; margin: 2em; color: #000; background: #fff }\n"
		 "table { border-collapse: collapse; margin: 1em 0; font-size: 0.85em }\n"
		 "th, td { border: 1px solid #999; padding: 0.2em 0.45em; text-align: right }\n"
		 "th { background: #eee }\n"
		 ".text { text-align: left }\n"
		 "svg { max-width: 100%; height: auto }\n"
		 "</style>\n</head>\n<body>\n<h1>");
	svg_escaped(title, out);
	sbuf_add(out, "</h1>\n");
}

void html_close(struct sbuf *out)
{
	sbuf_add(out, "</body>\n</html>\n");
}

static void html_element(const char *name, const char *text, struct sbuf *out)
{
	sbuf_addf(out, "<%s>", name);
	svg_escaped(text, out);
	sbuf_addf(out, "</%s>\n", name);
}

void html_heading(const char *text, struct sbuf *out)
{
	html_element("h2", text, out);
}

void html_paragraph(const char *text, struct sbuf *out)
{
	html_element("p", text, out);
}

static void html_cell(const char *element, bool words, const char *text, struct sbuf *out)
{
	sbuf_addf(out, "<%s%s>", element, words ? " class=\"text\"" : "");
	svg_escaped(text, out);
	sbuf_addf(out, "</%s>", element);
}

static void html_rows(const struct out_grid *g, struct sbuf *out)
{
	for (size_t r = 0; r <= g->nrows; r++) {
		sbuf_add(out, "<tr>");
		for (unsigned c = 0; c < g->ncols; c++) {
			const struct out_col *col = out_grid_col(g, c);
			if (col->some && !out_grid_says(g, c))
				continue;
			html_cell(r == 0 ? "th" : "td", col->fmt == OF_STR,
				  r == 0 ? col->title : g->cell[(r - 1) * g->ncols + c], out);
		}
		sbuf_add(out, "</tr>\n");
	}
}

static void html_columns(const struct out_grid *g, struct sbuf *out)
{
	for (unsigned c = 0; c < g->ncols; c++) {
		if (out_grid_col(g, c)->some && !out_grid_says(g, c))
			continue;
		sbuf_add(out, "<tr>");
		html_cell("th", true, out_grid_col(g, c)->title, out);
		for (size_t r = 0; r < g->nrows; r++)
			html_cell("td", false, g->cell[r * g->ncols + c], out);
		sbuf_add(out, "</tr>\n");
	}
}

void html_table(const json_t *doc, const struct out_view *view, struct sbuf *out)
{
	struct out_grid g;

	out_grid_make(&g, doc, view, false);
	sbuf_add(out, "<table>\n");
	if (view->transpose)
		html_columns(&g, out);
	else
		html_rows(&g, out);
	sbuf_add(out, "</table>\n");
	out_grid_free(&g);
}
