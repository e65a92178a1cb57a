/* SPDX-License-Identifier: BSD-3-Clause */
/* What rates were in the last minute, as curves that can be compared: the same scale for all ports beside each other. */
#pragma once
#include "page.h"

struct trend {
	const char *path;   /* of the history in a port */
	const char *line;   /* path of a rate that is drawn as a line while the port sends; NULL: none */
};

/* The top of a scale that holds these trends of each port, or (sum) of all of them together; 0: there is nothing to draw. */
double trend_top(const struct trend *, unsigned ntrends, const json_t **port, unsigned n, bool sum);
/* "15k" */
void trend_text(double top, struct sbuf *out);
/* The sum over n ports in these columns; mark: the top of its scale stands in the first row. */
void trend_draw(const struct trend *, double top, bool mark, const json_t **port, unsigned n, struct grid *, int row, int col, int width, int rows,
		bool ascii);
