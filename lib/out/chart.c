/* SPDX-License-Identifier: BSD-3-Clause */
#include "chart.h"

#include <math.h>
#include <stdlib.h>

#include "out.h"
#include "svg.h"

#define CHART_WIDE 860
#define CHART_HIGH 440
#define CHART_LEFT 90
#define CHART_RIGHT 740 /* names of curves stand behind it */
#define CHART_TOP 56
#define CHART_BOTTOM 370
#define CHART_LABEL 14 /* pixels from one name of a curve to the next */
#define CHART_TICKS 6
#define GRID "stroke=\"#dddddd\""

/* One axis: the values at its ends, and where they are. */
struct axis {
	bool log;
	double lo, hi, step; /* step: between ticks; of a logarithmic axis a factor */
	int from, to;        /* pixels */
};

static double axis_place(const struct axis *a, double v)
{
	double part =
		a->log ? log10(v / a->lo) / log10(a->hi / a->lo) : (v - a->lo) / (a->hi - a->lo);

	return a->from + part * (a->to - a->from);
}

static bool axis_has(const struct axis *a, double v)
{
	return isfinite(v) && (!a->log || v > 0);
}

/* The smallest of 1, 2 and 5 times a power of ten that is not below the value. */
static double round_up(double v)
{
	static const double steps[] = {1, 2, 5, 10};
	double power = pow(10, floor(log10(v)));

	for (unsigned i = 0; i < ARRAY_SIZE(steps); i++)
		if (steps[i] * power >= v * 0.999999)
			return steps[i] * power;
	return 10 * power;
}

/* An axis from 0, or of whole powers of ten. */
static void axis_make(struct axis *a, double lo, double hi)
{
	if (!a->log) {
		hi = hi > 0 ? hi : 1;
		a->lo = 0;
		a->step = round_up(hi / CHART_TICKS);
		a->hi = ceil(hi / a->step - 1e-6) * a->step;
		return;
	}
	if (!(lo <= hi))
		lo = hi = 1;
	a->lo = pow(10, floor(log10(lo) + 1e-9));
	a->hi = pow(10, ceil(log10(hi) - 1e-9));
	if (a->hi <= a->lo)
		a->hi = 10 * a->lo;
	a->step = pow(10, ceil(log10(a->hi / a->lo) / (2 * CHART_TICKS)));
}

static void axes_make(const struct chart *c, struct axis *x, struct axis *y)
{
	double x_hi = 0, lo = (double)INFINITY, hi = 0;

	*x = (struct axis){.from = CHART_LEFT, .to = CHART_RIGHT};
	*y = (struct axis){.log = c->y_ns, .from = CHART_BOTTOM, .to = CHART_TOP};
	for (unsigned i = 0; i < c->nseries; i++)
		for (unsigned k = 0; k < c->series[i].n; k++) {
			const struct chart_point *p = &c->series[i].point[k];
			x_hi = isfinite(p->x) ? fmax(x_hi, p->x) : x_hi;
			if (!axis_has(y, p->y))
				continue;
			lo = fmin(lo, p->y);
			hi = fmax(hi, p->y);
		}
	axis_make(x, 0, x_hi);
	axis_make(y, lo, hi);
}

static void svg_line(double x1, double y1, double x2, double y2, const char *how, struct sbuf *out)
{
	sbuf_addf(out, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" %s/>\n", x1, y1, x2,
		  y2, how);
}

static void draw_x(const struct axis *x, const struct axis *y, double v, struct sbuf *out)
{
	struct sbuf text = {0};
	double at = axis_place(x, v);

	svg_line(at, y->from, at, y->to, GRID, out);
	out_si_digits(v, 3, &text);
	svg_text((int)at, CHART_BOTTOM + 18, "middle", sbuf_str(&text), out);
	sbuf_free(&text);
}

static void draw_y(const struct axis *x, const struct axis *y, double v, struct sbuf *out)
{
	struct sbuf text = {0};
	double at = axis_place(y, v);

	svg_line(x->from, at, x->to, at, GRID, out);
	if (y->log)
		out_ns_digits(v, 1, &text);
	else
		out_si_digits(v, 3, &text);
	svg_text(CHART_LEFT - 8, (int)at + 4, "end", sbuf_str(&text), out);
	sbuf_free(&text);
}

static void draw_axes(const struct chart *c, const struct axis *x, const struct axis *y,
		      struct sbuf *out)
{
	/* few powers of ten have room for numbers between them */
	bool few = y->log && y->hi / y->lo < 1001;

	for (double v = x->lo; v <= x->hi * 1.000001; v += x->step)
		draw_x(x, y, v, out);
	for (double v = y->lo; v <= y->hi * 1.000001; v = y->log ? v * y->step : v + y->step) {
		draw_y(x, y, v, out);
		for (unsigned n = 2; few && n <= 5 && v < y->hi * 0.999999; n += 3)
			draw_y(x, y, n * v, out);
	}
	svg_line(x->from, y->from, x->to, y->from, "stroke=\"#000000\"", out);
	svg_line(x->from, y->from, x->from, y->to, "stroke=\"#000000\"", out);
	svg_text((x->from + x->to) / 2, CHART_BOTTOM + 38, "middle", c->x_label, out);
	svg_text(16, CHART_TOP - 12, "start", c->y_label, out);
}

static void draw_mark(unsigned shape, double x, double y, const char *colour, bool open,
		      struct sbuf *out)
{
	static const char *const paths[] = {
		"M-4 -4H4V4H-4Z",
		"M0 -5L5 4H-5Z",
		"M0 -5.5L5.5 0L0 5.5L-5.5 0Z",
		"M0 5L5 -4H-5Z",
		"M-5 -1.5H-1.5V-5H1.5V-1.5H5V1.5H1.5V5H-1.5V1.5H-5Z",
	};

	if (shape % (ARRAY_SIZE(paths) + 1) == 0)
		sbuf_addf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" ", x, y);
	else
		sbuf_addf(out, "<path transform=\"translate(%.1f %.1f)\" d=\"%s\" ", x, y,
			  paths[shape % (ARRAY_SIZE(paths) + 1) - 1]);
	sbuf_addf(out, "stroke=\"%s\" fill=\"%s\"/>\n", colour, open ? "#ffffff" : colour);
}

static void draw_curve(const struct chart_series *s, unsigned i, const struct axis *x,
		       const struct axis *y, struct sbuf *out)
{
	static const char *const dashes[] = {"none", "8 3", "2 3", "10 3 2 3", "5 5", "1 5"};
	const char *colour = svg_colours[i % SVG_COLOURS];
	bool down = false;

	sbuf_addf(out, "<path fill=\"none\" stroke=\"%s\" stroke-dasharray=\"%s\" d=\"", colour,
		  dashes[i % ARRAY_SIZE(dashes)]);
	for (unsigned k = 0; k < s->n; k++) {
		const struct chart_point *p = &s->point[k];
		bool has = axis_has(y, p->y) && isfinite(p->x);
		if (has)
			sbuf_addf(out, "%c%.1f %.1f", down ? 'L' : 'M', axis_place(x, p->x),
				  axis_place(y, p->y));
		down = has;
	}
	sbuf_add(out, "\"/>\n");
	for (unsigned k = 0; k < s->n; k++)
		if (axis_has(y, s->point[k].y) && isfinite(s->point[k].x))
			draw_mark(i, axis_place(x, s->point[k].x), axis_place(y, s->point[k].y),
				  colour, s->point[k].open, out);
}

/* The name of a curve, and how high it is wanted. */
struct label {
	const struct chart_series *s;
	unsigned i;
	double at;
};

static int label_order(const void *a, const void *b)
{
	double l = ((const struct label *)a)->at, r = ((const struct label *)b)->at;

	return l < r ? -1 : l > r;
}

/* Names stand beside the ends of their curves, as far as there is room. */
static void draw_names(const struct chart *c, const struct axis *y, struct sbuf *out)
{
	struct label *l = xcalloc(c->nseries + 1, sizeof(*l));
	unsigned n = 0;

	for (unsigned i = 0; i < c->nseries; i++) {
		const struct chart_series *s = &c->series[i];
		for (unsigned k = s->n; k > 0; k--)
			if (axis_has(y, s->point[k - 1].y)) {
				l[n++] = (struct label){s, i, axis_place(y, s->point[k - 1].y)};
				break;
			}
	}
	qsort(l, n, sizeof(*l), label_order);
	double next = CHART_TOP;
	for (unsigned i = 0; i < n; i++) {
		double most = CHART_BOTTOM - (double)CHART_LABEL * (n - 1 - i);
		double at = fmin(fmax(l[i].at, next), fmax(most, next));
		draw_mark(l[i].i, CHART_RIGHT + 18, at, svg_colours[l[i].i % SVG_COLOURS], false,
			  out);
		svg_text(CHART_RIGHT + 28, (int)at + 5, "start", l[i].s->name, out);
		next = at + CHART_LABEL;
	}
	free(l);
}

void chart_svg(const struct chart *c, struct sbuf *out)
{
	struct axis x, y;
	bool open = false;

	axes_make(c, &x, &y);
	svg_open(CHART_WIDE, CHART_HIGH, out);
	svg_text(16, 24, "start", c->title, out);
	draw_axes(c, &x, &y, out);
	for (unsigned i = 0; i < c->nmarks; i++) {
		double at = axis_place(&x, c->mark[i].x);
		if (!isfinite(at))
			continue;
		svg_line(at, y.from, at, y.to, "stroke=\"#000000\" stroke-dasharray=\"4 4\"", out);
		svg_text((int)at, CHART_TOP - 6, "middle", c->mark[i].label, out);
	}
	for (unsigned i = 0; i < c->nseries; i++) {
		draw_curve(&c->series[i], i, &x, &y, out);
		for (unsigned k = 0; k < c->series[i].n; k++)
			open |= c->series[i].point[k].open;
	}
	draw_names(c, &y, out);
	if (open)
		svg_text(CHART_LEFT, CHART_HIGH - 10, "start",
			 "hollow marks: the trial was not valid", out);
	svg_close(out);
}
