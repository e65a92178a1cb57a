/* SPDX-License-Identifier: BSD-3-Clause */
/* This draws a distribution of times: a curve over a logarithmic axis of time, with percentiles
 * marked below it. */
#pragma once
#include "page_flow.h"

#define DIST_LEAST 4 /* rows: the curve, the marks, the axis */

/* Draws the distribution of o, an object with "bins" and "percentiles_ns". The drawing takes `rows`
 * rows at ->row, which moves below them. Returns false when there is nothing to draw or no room for
 * it; then no rows were taken. */
bool dist_draw(struct flow *, const json_t *o, int rows, bool ascii);
