/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>

#include "svg.h"

const char *const svg_colours[SVG_COLOURS] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
					      "#56b4e9", "#e69f00", "#000000"};

void svg_open(int wide, int high, struct sbuf *out)
{
	sbuf_addf(
		out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" "
		"font-family=\"sans-serif\" font-size=\"13\">\n"
		"<rect width=\"%d\" height=\"%d\" fill=\"#ffffff\"/>\n",
		wide, high, wide, high, wide, high);
}

void svg_close(struct sbuf *out)
{
	sbuf_add(out, "</svg>\n");
}

void svg_escaped(const char *text, struct sbuf *out)
{
	for (; *text != '\0'; text++)
		if (*text == '&')
			sbuf_add(out, "&amp;");
		else if (*text == '<')
			sbuf_add(out, "&lt;");
		else if ((unsigned char)*text < ' ')
			sbuf_addc(out, ' '); /* no character of XML */
		else
			sbuf_addc(out, *text);
}

void svg_text(int x, int y, const char *anchor, const char *text, struct sbuf *out)
{
	sbuf_addf(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"%s\" xml:space=\"preserve\">", x, y,
		  anchor);
	svg_escaped(text, out);
	sbuf_add(out, "</text>\n");
}

/* ---- bars, in pixels ---- */

#define WIDE 860
#define LEFT 230
#define BAR 400
#define ROW 24
#define TOP 20

static int bar_length(double share)
{
	return isfinite(share) ? (int)lround(fmax(share, 0) * BAR) : 0;
}

void svg_bars_open(size_t rows, struct sbuf *out)
{
	svg_open(WIDE, 2 * TOP + (int)rows * ROW, out);
}

void svg_bar(size_t row, const struct svg_bar *b, struct sbuf *out)
{
	int y = TOP + (int)row * ROW, wide = bar_length(b->share), end = wide;

	svg_text(LEFT - 8, y + 13, "end", b->label, out);
	if (wide > 0)
		sbuf_addf(
			out,
			"<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" stroke=\"%s\" fill=\"%s\"/>\n",
			LEFT, y, wide, ROW - 8, b->colour, b->hollow ? "#ffffff" : b->colour);
	if (b->interval) {
		int low = LEFT + bar_length(b->low), high = LEFT + bar_length(b->high);
		sbuf_addf(
			out,
			"<path d=\"M%d %dH%dM%d %dv8M%d %dv8\" stroke=\"#000000\" fill=\"none\"/>\n",
			low, y + 8, high, low, y + 4, high, y + 4);
		end = bar_length(fmax(b->high, b->share));
	}
	svg_text(LEFT + end + 8, y + 13, "start", b->value, out);
}
