/* SPDX-License-Identifier: BSD-3-Clause */
/* The curves of latency over load, in text and as SVG. */
#include "knee_doc.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "chart.h"

#define CURVES (KNEE_RANKS + 1) /* and the largest */
#define CHART_COLUMNS 72

static const struct {
	const char *key, *name;
	char letter;
} curves[CURVES] = {
	{"p50_ns", "50%", 'a'},     {"p90_ns", "90%", 'b'},       {"p99_ns", "99%", 'c'},
	{"p99_9_ns", "99.9%", 'd'}, {"p99_99_ns", "99.99%", 'e'}, {"max_ns", "max", 'm'},
};

static double curve_ns(const json_t *load, const char *time, unsigned curve)
{
	const json_t *v = json_object_get(json_object_get(json_object_get(load, "latency"), time),
					  curves[curve].key);

	return json_is_number(v) ? json_number_value(v) : (double)NAN;
}

/* The smallest and the largest number. false: there is none. */
static bool chart_span(const json_t *doc, const char *time, double *lo, double *hi)
{
	const json_t *l;
	size_t i;

	*lo = (double)INFINITY;
	*hi = 0;
	json_array_foreach(out_get(doc, "knee.loads"), i, l)
		for (unsigned c = 0; c < CURVES; c++) {
			double ns = curve_ns(l, time, c);
			if (!(ns > 0))
				continue;
			*lo = fmin(*lo, ns);
			*hi = fmax(*hi, ns);
		}
	return *hi > 0;
}

bool knee_has(const json_t *doc, const char *time)
{
	double lo, hi;

	return chart_span(doc, time, &lo, &hi);
}

/* ---- text ---- */

void knee_chart(const json_t *doc, const char *time, struct sbuf *out)
{
	double lo, hi;
	const json_t *l;
	struct sbuf text = {0};
	size_t i;

	if (!chart_span(doc, time, &lo, &hi))
		return;
	hi = fmax(hi, lo * 1.01);
	sbuf_add(&text, "from ");
	out_ns_digits(lo, 3, &text);
	sbuf_add(&text, " to ");
	out_ns_digits(hi, 3, &text);
	sbuf_addf(out, "%s, logarithmic:", sbuf_str(&text));
	for (unsigned c = 0; c < CURVES; c++)
		sbuf_addf(out, "  %c %s", curves[c].letter, curves[c].name);
	sbuf_addc(out, '\n');
	json_array_foreach(out_get(doc, "knee.loads"), i, l) {
		char row[CHART_COLUMNS + 1];
		memset(row, ' ', sizeof(row) - 1);
		row[CHART_COLUMNS] = '\0';
		/* the lowest percentile is seen where several fall together */
		for (unsigned c = CURVES; c-- > 0;) {
			double ns = curve_ns(l, time, c);
			if (ns > 0)
				row[lround(log(ns / lo) / log(hi / lo) * (CHART_COLUMNS - 1))] =
					curves[c].letter;
		}
		sbuf_addf(out, "%6.4g%% |%s|%s\n",
			  100 * json_number_value(json_object_get(l, "load")), row,
			  json_is_true(json_object_get(l, "valid")) ? "" : " not valid");
	}
	sbuf_free(&text);
}

/* ---- SVG ---- */

void knee_svg(const json_t *doc, const char *time, struct sbuf *out)
{
	static struct chart_point point[CURVES][KNEE_MOST_LOADS];
	struct chart_series series[CURVES] = {0};
	const json_t *l;
	struct chart_mark knee = {.x = (double)NAN, .label = "knee"};
	char title[128], label[64];
	size_t i;

	json_array_foreach(out_get(doc, "knee.loads"), i, l)
		for (unsigned c = 0; c < CURVES && i < KNEE_MOST_LOADS; c++) {
			const json_t *x = json_object_get(l, "intended_per_s");
			point[c][i] = (struct chart_point){
				.x = json_is_number(x) ? json_number_value(x) : (double)NAN,
				.y = curve_ns(l, time, c),
				.open = !json_is_true(json_object_get(l, "valid"))};
			series[c] = (struct chart_series){.name = curves[c].name,
							  .point = point[c],
							  .n = (unsigned)i + 1};
		}
	const json_t *at = out_get(doc, "knee.knee.intended_per_s");
	if (json_is_number(at) && json_is_number(out_get(doc, "knee.knee.worse_load")))
		knee.x = json_number_value(at);
	const char *unit = json_string_value(out_get(doc, "knee.unit"));
	snprintf(title, sizeof(title), "%s over load, percentiles", time);
	for (char *c = title; *c != '\0'; c++)
		*c = *c == '_' ? ' ' : *c;
	snprintf(label, sizeof(label), "load [%s]", unit != NULL ? unit : "");
	chart_svg(&(struct chart){.title = title,
				  .x_label = label,
				  .y_label = "latency",
				  .y_ns = true,
				  .series = series,
				  .nseries = CURVES,
				  .mark = &knee,
				  .nmarks = isfinite(knee.x)},
		  out);
}
