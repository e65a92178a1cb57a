/* SPDX-License-Identifier: BSD-3-Clause */
/* Curves over a horizontal axis, as SVG (svg.h). Each curve has a mark of its own, a pattern of
 * dashes and its name at its end, so that no colour is needed to tell them apart. */
#pragma once
#include "base.h"

struct chart_point {
	double x, y; /* y: NAN or, on a logarithmic axis, 0 and less: a gap */
	bool open;   /* not to be trusted: its mark is hollow */
};

struct chart_series {
	const char *name;
	const struct chart_point *point; /* from left to right */
	unsigned n;
};

/* A line across all curves at x. */
struct chart_mark {
	double x;
	const char *label;
};

struct chart {
	const char *title, *x_label, *y_label;
	bool y_ns; /* y is a time in ns on a logarithmic axis; else any number on one from 0 */
	const struct chart_series *series;
	unsigned nseries;
	const struct chart_mark *mark;
	unsigned nmarks;
};

void chart_svg(const struct chart *c, struct sbuf *out);
