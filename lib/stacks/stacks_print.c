/* SPDX-License-Identifier: BSD-3-Clause */
/* The document as tables, a page and a drawing. */
#include <math.h>
#include <string.h>

#include "html.h"
#include "stacks.h"
#include "svg.h"

/* ---- tables ---- */

static const struct out_col run_cols[] = {
	{"workload", "workload", OF_STR},
	{"arm", "arm", OF_STR},
	{"device", "device", OF_STR},
	{"run", "run", OF_COUNT},
	{"interval_ns", "interval", OF_NS},
	{"transfer_bytes", "transfer B", OF_PPS},
	{"bandwidth_bps", "bandwidth bit/s", OF_BPS},
	{"retransmits", "retransmits", OF_COUNT},
	{"sender_bps", "sender bit/s", OF_BPS},
	{"receiver_bps", "receiver bit/s", OF_BPS},
	{"value", "result", OF_PPS},
	{"unit", "unit", OF_STR},
	{"cpu_s_per", "CPU s", OF_REAL},
	{"cycles_per", "busy cycles", OF_PPS},
	{"per", "per", OF_STR},
	/* of datagrams, the last ones: what has none is told without these columns */
	{"datagrams", "datagrams", OF_COUNT},
	{"lost_share", "lost", OF_PERCENT},
	{"jitter_ns", "jitter", OF_NS},
};
#define RUN_OF_DATAGRAMS 3
static const struct out_view run_view = {.rows = "stacks.runs",
					 .cols = run_cols,
					 .ncols = ARRAY_SIZE(run_cols)};

static const struct out_col result_cols[] = {
	{"workload", "workload", OF_STR},
	{"arm", "arm", OF_STR},
	{"device", "device", OF_STR},
	{"median", "median", OF_PPS},
	{"low", "from", OF_PPS},
	{"high", "to", OF_PPS},
	{"unit", "unit", OF_STR},
	{"ratio", "ratio", OF_REAL},
	{"p", "p", OF_REAL},
	{"different", "different", OF_STR},
	{"retransmits", "resent", OF_REAL},
	{"cpu_s_per", "CPU s", OF_REAL},
	{"cycles_per", "busy cycles", OF_PPS},
	{"per", "per", OF_STR},
	{"touched", "payload touched", OF_STR},
	{"lost_share", "lost", OF_PERCENT},
	{"jitter_ns", "jitter", OF_NS},
};
#define RESULT_OF_DATAGRAMS 2
static const struct out_view result_view = {.rows = "stacks.results",
					    .cols = result_cols,
					    .ncols = ARRAY_SIZE(result_cols)};

/* A copy with yes and no in place of what is true and false. New reference. */
static json_t *doc_for_table(const json_t *doc)
{
	json_t *copy = json_deep_copy(doc), *o;
	size_t i;

	json_array_foreach(out_get(copy, "stacks.results"), i, o)
		json_object_set_new(o, "touched",
				    json_string(json_is_true(json_object_get(o, "payload_touched"))
							? "yes"
							: "no"));
	return copy;
}

/* The view for people, of the rows that are there. */
static struct out_view view_of(const struct out_view *all, unsigned of_datagrams, const json_t *doc)
{
	struct out_view view = *all;
	bool any = false;
	const json_t *o;
	size_t i;

	json_array_foreach(out_get(doc, all->rows), i, o)
		any |= json_is_number(json_object_get(o, "lost_share"));
	if (!any)
		view.ncols -= of_datagrams;
	return view;
}

/* ---- sentences ---- */

static const char *text_at(const json_t *doc, const char *path)
{
	const char *s = json_string_value(out_get(doc, path));

	return s != NULL ? s : "";
}

static void all_words(const json_t *doc, void (*put)(const char *text, struct sbuf *out),
		      struct sbuf *out)
{
	const json_t *first = json_array_get(out_get(doc, "stacks.results"), 0);
	struct sbuf b = {0};

	sbuf_addf(&b,
		  "TCP of all arms: congestion control %s, at least %.0f ms before a segment is "
		  "sent again",
		  text_at(doc, "stacks.congestion"),
		  json_number_value(out_get(doc, "stacks.rto_floor_ns")) / 1e6);
	put(sbuf_str(&b), out);
	sbuf_reset(&b);
	sbuf_addf(&b,
		  "from, to: an interval that has the median with a probability of %.1f%%; ratio, "
		  "p: against %s, p < 0.05 is a difference (Mann and Whitney)",
		  100 * json_number_value(json_object_get(first, "confidence")),
		  text_at(doc, "stacks.against"));
	put(sbuf_str(&b), out);
	if (*text_at(doc, "stacks.iperf3") != '\0') {
		sbuf_reset(&b);
		sbuf_addf(&b, "clients of iperf3 have %s", text_at(doc, "stacks.iperf3"));
		put(sbuf_str(&b), out);
	}
	if (json_is_false(out_get(doc, "stacks.complete")))
		put("ended early: not all runs were made", out);
	sbuf_free(&b);
}

static void put_line(const char *text, struct sbuf *out)
{
	sbuf_addf(out, "%s\n", text);
}

void stacks_print(enum out_mode mode, const json_t *doc, struct sbuf *out)
{
	json_t *table;

	if (mode != OUT_TEXT) {
		out_write(mode, doc, &run_view, out);
		return;
	}
	table = doc_for_table(doc);
	const struct out_view runs = view_of(&run_view, RUN_OF_DATAGRAMS, doc);
	const struct out_view results = view_of(&result_view, RESULT_OF_DATAGRAMS, doc);
	out_write(mode, table, &runs, out);
	sbuf_addc(out, '\n');
	out_write(mode, table, &results, out);
	sbuf_addc(out, '\n');
	all_words(doc, put_line, out);
	json_decref(table);
}

/* ---- the drawing ---- */

static double real_at(const json_t *o, const char *key)
{
	return json_number_value(json_object_get(o, key));
}

/* The longest of the bars of a workload. */
static double most_of(const json_t *results, const char *workload)
{
	const json_t *o;
	double most = 0;
	size_t i;

	json_array_foreach(results, i, o)
		if (strcmp(json_string_value(json_object_get(o, "workload")), workload) == 0)
			most = fmax(most, real_at(o, "high"));
	return most;
}

/* A bar to the median, and a line over the interval. */
static void draw_bar(size_t row, const json_t *o, double most, const char *colour, struct sbuf *out)
{
	double scale = most > 0 ? 1 / most : 0;
	struct svg_bar bar = {.colour = colour,
			      .share = real_at(o, "median") * scale,
			      .interval = true,
			      .low = real_at(o, "low") * scale,
			      .high = real_at(o, "high") * scale};
	struct sbuf label = {0}, value = {0};

	sbuf_addf(&label, "%s, %s", text_at(o, "workload"), text_at(o, "arm"));
	out_si(real_at(o, "median"), &value);
	sbuf_addf(&value, " %s", text_at(o, "unit"));
	bar.label = sbuf_str(&label);
	bar.value = sbuf_str(&value);
	svg_bar(row, &bar, out);
	sbuf_free(&label);
	sbuf_free(&value);
}

void stacks_svg(const json_t *doc, struct sbuf *out)
{
	const json_t *results = out_get(doc, "stacks.results"), *o;
	const char *workload = "";
	int colour = -1;
	size_t i;

	svg_bars_open(json_array_size(results), out);
	json_array_foreach(results, i, o) {
		if (strcmp(workload, text_at(o, "workload")) != 0)
			colour++;
		workload = text_at(o, "workload");
		draw_bar(i, o, most_of(results, workload), svg_colours[colour % SVG_COLOURS], out);
	}
	svg_close(out);
}

void stacks_html(const json_t *doc, struct sbuf *out)
{
	const struct out_view runs = view_of(&run_view, RUN_OF_DATAGRAMS, doc);
	const struct out_view results = view_of(&result_view, RESULT_OF_DATAGRAMS, doc);
	json_t *table = doc_for_table(doc);

	html_open("The same workload on two stacks", out);
	all_words(doc, html_paragraph, out);
	stacks_svg(doc, out);
	html_paragraph("Bars end at the median, the line is its interval. Those of a workload have "
		       "one scale.",
		       out);
	html_heading("Results", out);
	html_table(table, &results, out);
	html_heading("Runs", out);
	html_table(table, &runs, out);
	html_close(out);
	json_decref(table);
}
