/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside lib/out: a view applied to a tree, which is the text of each cell. */
#pragma once
#include "out.h"

struct out_grid {
	const struct out_view *view;
	unsigned ncols;
	size_t nrows;
	char **cell; /* nrows x ncols; the grid owns the strings */
	bool csv;
};

void out_grid_make(struct out_grid *g, const json_t *doc, const struct out_view *view, bool csv);
void out_grid_free(struct out_grid *g);
const struct out_col *out_grid_col(const struct out_grid *g, unsigned c);
/* True if a cell of column c is something else than 0 or missing. */
bool out_grid_says(const struct out_grid *g, unsigned c);
