/* SPDX-License-Identifier: BSD-3-Clause */
/* How times are distributed: along a logarithm of time, as a curve with its percentiles marked below it. */
#pragma once
#include "page_flow.h"

#define DIST_LEAST 4 /* rows: the curve, the marks, the axis */

/* o: a distribution with "bins" and "percentiles_ns". Takes `rows` rows at ->row, which moves below them. False: there is nothing to draw, and
 * nothing was taken. */
bool dist_draw(struct flow *, const json_t *o, int rows, bool ascii);
