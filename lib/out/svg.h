/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes drawings as SVG: a document of its own, or a part of a page (html.h). What is drawn needs
 * nothing from a network, and no colour to be understood. */
#pragma once
#include "base.h"

/* Colours that people with any kind of colour vision can tell apart (Okabe and Ito). */
#define SVG_COLOURS 7
extern const char *const svg_colours[SVG_COLOURS];

/* Begins and ends a drawing of so many pixels on a white ground. */
void svg_open(int wide, int high, struct sbuf *out);
void svg_close(struct sbuf *out);
/* Appends a text as the inside of an element: no mark of it is read as one of XML or HTML. */
void svg_escaped(const char *text, struct sbuf *out);
/* A line of text. anchor: "start", "middle" or "end", which is what stands at x; y: of the line
 * below the letters. */
void svg_text(int x, int y, const char *anchor, const char *text, struct sbuf *out);

/* A drawing of bars that lie below each other, a row each, numbered from 0: what a bar is of on its
 * left, its value at its end. */
struct svg_bar {
	const char *label, *value;
	const char *colour;
	double share;     /* its length, of the longest there is: 0 to 1; NAN: there is none */
	bool hollow;      /* its outline alone */
	bool interval;    /* a line from low to high over it; the value stands behind that */
	double low, high; /* shares, as share is */
};
void svg_bars_open(size_t rows, struct sbuf *out);
void svg_bar(size_t row, const struct svg_bar *b, struct sbuf *out);
