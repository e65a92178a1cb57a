/* SPDX-License-Identifier: BSD-3-Clause */
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
