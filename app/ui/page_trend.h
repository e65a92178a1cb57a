/* SPDX-License-Identifier: BSD-3-Clause */
/* Trends are the rates of the last minute as curves. All ports that stand beside each other have
 * the same scale, so that their curves can be compared. */
#pragma once
#include "page.h"

struct trend {
	const char *path; /* path of the history in a port's object */
	/* path of a rate that is drawn as a line while the port sends; NULL: none */
	const char *line;
};

/* Returns the top of a scale that has room for these trends of each of n ports or, with `sum`, for
 * those of all ports added up. 0: there is nothing to draw. */
double trend_top(const struct trend *, unsigned ntrends, const json_t **port, unsigned n, bool sum);
/* Appends the top of a scale as text, "15k". */
void trend_text(double top, struct sbuf *out);
/* Draws the trend of n ports, added up. With `mark`, `top` is written into the first row. */
void trend_draw(const struct trend *, double top, bool mark, const json_t **port, unsigned n,
		struct grid *, int row, int col, int width, int rows, bool ascii);
