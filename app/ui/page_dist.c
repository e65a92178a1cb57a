/* SPDX-License-Identifier: BSD-3-Clause */
#include "page_dist.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "out.h"

#define MARGIN 10       /* columns for labels, as in the rows above the drawing */
#define LEAST_OCTAVES 1 /* least length of the axis, so that a narrow distribution looks narrow */

struct axis {
	double from_ns, octaves;
	int col, width;
};

static int page_dist_column(const struct axis *a, double ns)
{
	double at = ns > a->from_ns ? log2(ns / a->from_ns) / a->octaves * a->width : 0;

	return a->col + (at < a->width - 1 ? (int)at : a->width - 1);
}

/* Returns the count between two places on the axis, which are given in bins. A bin that lies
 * between them in part gives the same part of its count. */
static double page_dist_between(const json_t *counts, double from, double to)
{
	double sum = 0;

	for (double b = floor(from); b < to && b < (double)json_array_size(counts); b++) {
		double lo = b > from ? b : from, hi = b + 1 < to ? b + 1 : to;
		sum += (double)json_integer_value(json_array_get(counts, (size_t)b)) * (hi - lo);
	}
	return sum;
}

/* Draws the curve. A small count still shows a dot, and a place without counts shows nothing. */
static void page_dist_curve(struct grid *g, int row, int rows, const struct axis *a,
			    const json_t *counts, double per_octave, bool ascii)
{
	unsigned n = (unsigned)a->width * (ascii ? 1 : 2);
	double *v = xcalloc(n, sizeof(*v)), step = a->octaves * per_octave / n;

	for (unsigned i = 0; i < n; i++) {
		v[i] = page_dist_between(counts, i * step, (i + 1) * step);
		v[i] = v[i] > 0 ? v[i] : NAN;
	}
	grid_curve(g, row, a->col, a->width, rows,
		   &(struct curve){.value = v, .n = n, .line = NAN, .ascii = ascii});
	free(v);
}

/* Puts the names of percentiles below their places. Where two would overlap, the one that is first
 * in the list is shown. */
static void page_dist_marks(struct grid *g, int row, const struct axis *a, const json_t *o,
			    bool ascii)
{
	static const struct {
		const char *name, *path;
	} known[] = {
		{"50%", "percentiles_ns.p50"},       {"99%", "percentiles_ns.p99"},
		{"99.9%", "percentiles_ns.p99_9"},   {"90%", "percentiles_ns.p90"},
		{"99.99%", "percentiles_ns.p99_99"},
	};
	char taken[1024] = {0};

	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		double ns = page_num(o, known[i].path, NAN);
		int len = (int)strlen(known[i].name) + 1, col;
		if (!(ns > 0))
			continue;
		col = page_dist_column(a, ns);
		if (col + len > a->col + a->width || col + len >= (int)sizeof(taken) ||
		    memchr(taken + col - 1, 1, (size_t)len + 1) != NULL)
			continue;
		memset(taken + col, 1, (size_t)len);
		grid_put(g, row, col, 1, ROLE_SEP_TEXT, ascii ? "^" : "╵");
		grid_put(g, row, col + 1, len - 1, ROLE_DYN_LABEL, known[i].name);
	}
}

/* Draws the axis, with a tick and its time at each power of ten. */
static void page_dist_ticks(struct grid *g, int row, const struct axis *a, bool ascii)
{
	int end = a->col;

	grid_fill(g, row, a->col, a->width, ROLE_SEP_DASH, ascii ? L'-' : L'─');
	for (double ns = pow(10, ceil(log10(a->from_ns))); ns < a->from_ns * exp2(a->octaves);
	     ns *= 10) {
		struct sbuf b = {0};
		int col = page_dist_column(a, ns);
		sbuf_addc(&b, ascii ? '+' : '|');
		if (ns < 1e3)
			sbuf_addf(&b, "%.0fns", ns);
		else
			sbuf_addf(&b,
				  ns < 1e6   ? "%.0fus"
				  : ns < 1e9 ? "%.0fms"
					     : "%.0fs",
				  ns < 1e6   ? ns / 1e3
				  : ns < 1e9 ? ns / 1e6
					     : ns / 1e9);
		if (col >= end && col + (int)b.len <= a->col + a->width) {
			grid_put(g, row, col, (int)b.len, ROLE_SEP_TEXT, b.s);
			end = col + (int)b.len + 1;
		}
		sbuf_free(&b);
	}
}

bool dist_draw(struct flow *f, const json_t *o, int rows, bool ascii)
{
	const json_t *counts = out_get(o, "bins.counts");
	double per_octave = page_num(o, "bins.per_octave", 0),
	       from = page_num(o, "bins.from_ns", 0);
	struct axis a = {.from_ns = from,
			 .octaves = (double)json_array_size(counts) / per_octave,
			 .col = MARGIN,
			 .width = f->g.cols - MARGIN};

	if (json_array_size(counts) == 0 || !(per_octave >= 1) || !(from >= 1) || !(from < 1e18) ||
	    a.width < 2 * MARGIN || rows < DIST_LEAST || !(a.octaves < 64))
		return false;
	a.octaves = a.octaves > LEAST_OCTAVES ? a.octaves : LEAST_OCTAVES;
	flow_room(f, rows);
	grid_left(&f->g, f->row, 0, MARGIN - 1, ROLE_DYN_LABEL, "latency");
	page_dist_curve(&f->g, f->row, rows - 2, &a, counts, per_octave, ascii);
	page_dist_ticks(&f->g, f->row + rows - 2, &a, ascii);
	page_dist_marks(&f->g, f->row + rows - 1, &a, o, ascii);
	f->row += rows;
	return true;
}
