/* SPDX-License-Identifier: BSD-3-Clause */
/* What has come of lb as a page: the table, what each search has found, the latencies at half and
 * full load, and all trials. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "html.h"
#include "lb.h"
#include "svg.h"

#define WIDE 860
#define LEFT 230
#define BAR 400
#define ROW 24
#define TOP 20

static double page_number(const json_t *o, const char *key)
{
	const json_t *v = o != NULL ? out_get(o, key) : NULL;

	return json_is_number(v) ? json_number_value(v) : (double)NAN;
}

static const char *page_text(const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));

	return s != NULL ? s : "";
}

static void page_bar(int row, double share, const char *colour, bool hollow, const char *label,
		     const char *value, struct sbuf *out)
{
	int y = TOP + row * ROW, wide = isfinite(share) ? (int)lround(fmax(share, 0) * BAR) : 0;

	svg_text(LEFT - 8, y + 13, "end", label, out);
	if (wide > 0)
		sbuf_addf(
			out,
			"<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" stroke=\"%s\" fill=\"%s\"/>\n",
			LEFT, y, wide, ROW - 8, colour, hollow ? "#ffffff" : colour);
	svg_text(LEFT + wide + 8, y + 13, "start", value, out);
}

/* ---- what searches have found ---- */

static int value_rows(const json_t *figures)
{
	const json_t *p;
	size_t i;
	int rows = 0;

	json_array_foreach(figures, i, p)
		rows += (int)json_array_size(json_object_get(p, "values"));
	return rows;
}

/* A bar for each search; those of a figure have the same scale and colour. */
static void values_chart(const json_t *doc, struct sbuf *out)
{
	const json_t *figures = out_get(doc, "lb.figures"), *p, *v;
	struct sbuf value = {0};
	size_t i, k;
	int row = 0;

	svg_open(WIDE, 2 * TOP + value_rows(figures) * ROW, out);
	json_array_foreach(figures, i, p) {
		const char *state = page_text(p, "state");
		bool least = strcmp(state, capacity_state_name(CAPACITY_LEAST)) == 0;
		json_array_foreach(json_object_get(p, "values"), k, v) {
			sbuf_reset(&value);
			sbuf_add(&value, least ? "at least " : "");
			out_si(json_number_value(v), &value);
			sbuf_addf(&value, " %s", page_text(p, "unit"));
			page_bar(row++, json_number_value(v) / page_number(p, "most"),
				 svg_colours[i % SVG_COLOURS], least,
				 k == 0 ? page_text(p, "title") : "", sbuf_str(&value), out);
		}
	}
	svg_close(out);
	sbuf_free(&value);
}

/* ---- latencies ---- */

static const struct {
	const char *load, *key, *label;
} times[] = {
	{"half", "half.p50_ns", "half load, 50%"},
	{"half", "half.p99_ns", "half load, 99%"},
	{"full", "full.p50_ns", "full load, 50%"},
	{"full", "full.p99_ns", "full load, 99%"},
};

/* The decades of the scale: from the one below the least time to that above the largest. */
static int time_rows(const json_t *figures, double *low, double *high)
{
	const json_t *p;
	size_t i;
	int rows = 0;

	*low = (double)INFINITY;
	*high = 0;
	json_array_foreach(figures, i, p)
		for (unsigned t = 0; t < ARRAY_SIZE(times); t++) {
			double ns = page_number(p, times[t].key);
			if (!(ns > 0))
				continue;
			*low = fmin(*low, ns);
			*high = fmax(*high, ns);
			rows++;
		}
	*low = floor(log10(*low));
	*high = ceil(log10(*high * 1.0001));
	return rows;
}

static void times_chart(const json_t *doc, struct sbuf *out)
{
	const json_t *figures = out_get(doc, "lb.figures"), *p;
	struct sbuf value = {0}, label = {0};
	double low, high;
	size_t i;
	int row = 0, rows = time_rows(figures, &low, &high);

	if (rows == 0) {
		html_paragraph("No latencies are known.", out);
		return;
	}
	html_paragraph("The scale is logarithmic: each time the same length is ten times as long.",
		       out);
	svg_open(WIDE, 2 * TOP + rows * ROW, out);
	json_array_foreach(figures, i, p)
		for (unsigned t = 0; t < ARRAY_SIZE(times); t++) {
			double ns = page_number(p, times[t].key);
			if (!(ns > 0))
				continue;
			sbuf_reset(&value);
			out_ns_digits(ns, 4, &value);
			sbuf_reset(&label);
			sbuf_addf(&label, "%s, %s", page_text(p, "title"), times[t].label);
			page_bar(row++, (log10(ns) - low) / (high - low),
				 svg_colours[i % SVG_COLOURS], strcmp(times[t].load, "half") == 0,
				 sbuf_str(&label), sbuf_str(&value), out);
		}
	svg_close(out);
	sbuf_free(&value);
	sbuf_free(&label);
}

/* ---- the page ---- */

static void words_of(const json_t *doc, struct sbuf *out)
{
	struct sbuf all = {0}, line = {0};

	lb_words(doc, &all);
	const char *at = sbuf_str(&all);
	while (*at != '\0') {
		size_t n = strcspn(at, "\n");
		sbuf_reset(&line);
		sbuf_addf(&line, "%.*s", (int)n, at);
		html_paragraph(sbuf_str(&line), out);
		at += n + (at[n] == '\n');
	}
	sbuf_free(&all);
	sbuf_free(&line);
}

void lb_page(const json_t *doc, struct sbuf *out)
{
	const json_t *lb = json_object_get(doc, "lb");
	struct sbuf about = {0};

	html_open("Figures of a load balancer", out);
	sbuf_addf(&about, "Clients on port %.0f; trials of ", page_number(lb, "client"));
	out_duration((uint64_t)page_number(lb, "duration_ns"), &about);
	sbuf_addf(&about, "; %.0f searches each; allowed loss %.6g%%; %.0f tuples.",
		  page_number(lb, "repeats"), 100 * page_number(lb, "max_loss"),
		  page_number(lb, "tuples"));
	html_paragraph(sbuf_str(&about), out);
	html_table(doc, &lb_view, out);
	words_of(doc, out);
	html_heading("What each search has found", out);
	html_paragraph("A hollow bar stands for \"at least\".", out);
	values_chart(doc, out);
	html_heading("Latencies", out);
	times_chart(doc, out);
	html_heading("All trials", out);
	html_table(doc, &lb_trials_view, out);
	html_close(out);
	sbuf_free(&about);
}
