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
#define TOP 20
#define RATE_NS 25e6 /* between two samples; there is one each 50 ms, and others at events */

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

/* Each line of a text as a paragraph. */
static void page_lines(const char *at, struct sbuf *out)
{
	struct sbuf line = {0};

	while (*at != '\0') {
		size_t n = strcspn(at, "\n");
		sbuf_reset(&line);
		sbuf_addf(&line, "%.*s", (int)n, at);
		html_paragraph(sbuf_str(&line), out);
		at += n + (at[n] == '\n');
	}
	sbuf_free(&line);
}

/* ---- tables: those of the text would be wider than a page ---- */

static const struct out_col trial_cols[] = {
	{"title", "figure", OF_STR},
	{"what", "trial", OF_STR},
	{"asked", "asked", OF_PPS},
	{"carried", "carried", OF_PPS},
	{"pps", "frames/s", OF_PPS, .some = true},
	{"loss_ratio", "loss", OF_PERCENT},
	{"told", "told", OF_STR},
	{"p50_ns", "50%", OF_NS},
	{"p99_ns", "99%", OF_NS},
	{"max_ns", "max", OF_NS},
	{"client_cpu", "client CPU", OF_PERCENT},
	{"server_cpu", "server CPU", OF_PERCENT},
	{"device_cpu", "device CPU", OF_PERCENT, .some = true},
	{"softirq_cpu", "softirq", OF_PERCENT},
};
static const struct out_col device_cols[] = {
	{"title", "figure", OF_STR},
	{"what", "trial", OF_STR},
	{"told", "told", OF_STR},
	{"opened", "opened", OF_COUNT},
	{"device_opened", "device opened", OF_COUNT},
	{"device_cps", "device CPS", OF_PPS},
	{"device_held", "device held", OF_COUNT, .some = true},
	{"device_room", "device room", OF_COUNT, .some = true},
};
static const struct out_view trials_view = {.rows = "trials",
					    .cols = trial_cols,
					    .ncols = ARRAY_SIZE(trial_cols)};
static const struct out_view device_view = {.rows = "trials",
					    .cols = device_cols,
					    .ncols = ARRAY_SIZE(device_cols)};

/* What each figure carries. */
static void table_carried(const json_t *doc, struct sbuf *out)
{
	html_table(doc,
		   &(struct out_view){.rows = "lb.figures",
				      .cols = lb_figure_cols,
				      .ncols = LB_COL_LOAD},
		   out);
}

/* How it was at half and full load, behind the title. */
static void table_loads(const json_t *doc, struct sbuf *out)
{
	struct out_col cols[1 + LB_COL_COUNTS - LB_COL_LOAD] = {lb_figure_cols[0]};

	memcpy(cols + 1, lb_figure_cols + LB_COL_LOAD, sizeof(cols) - sizeof(cols[0]));
	html_table(doc,
		   &(struct out_view){.rows = "lb.figures",
				      .cols = cols,
				      .ncols = ARRAY_SIZE(cols)},
		   out);
}

/* The trials of all figures, or those of connections, as {"trials": [...]}. New reference. */
static json_t *page_trials(const json_t *doc, bool connections)
{
	const json_t *f, *t;
	json_t *rows = json_array();
	size_t i, k;

	json_array_foreach(out_get(doc, "lb.figures"), i, f)
		json_array_foreach(json_object_get(f, "trials"), k, t) {
			if (connections && !json_is_integer(json_object_get(t, "opened")))
				continue;
			json_t *row = json_copy((json_t *)(uintptr_t)t);
			json_object_set(row, "title", json_object_get(f, "title"));
			json_array_append_new(rows, row);
		}
	return json_pack("{s:o}", "trials", rows);
}

/* ---- what searches have found ---- */

static size_t value_rows(const json_t *figures)
{
	const json_t *p;
	size_t i, rows = 0;

	json_array_foreach(figures, i, p)
		rows += json_array_size(json_object_get(p, "values"));
	return rows;
}

/* A bar for each search; those of a figure have the same scale and colour. */
static void values_chart(const json_t *doc, struct sbuf *out)
{
	const json_t *figures = out_get(doc, "lb.figures"), *p, *v;
	struct sbuf value = {0};
	size_t i, k, row = 0;

	svg_bars_open(value_rows(figures), out);
	json_array_foreach(figures, i, p) {
		const char *state = page_text(p, "state");
		bool least = strcmp(state, capacity_state_name(CAPACITY_LEAST)) == 0;
		json_array_foreach(json_object_get(p, "values"), k, v) {
			sbuf_reset(&value);
			sbuf_add(&value, least ? "at least " : "");
			out_si(json_number_value(v), &value);
			sbuf_addf(&value, " %s", page_text(p, "unit"));
			svg_bar(row++,
				&(struct svg_bar){.label = k == 0 ? page_text(p, "title") : "",
						  .value = sbuf_str(&value),
						  .colour = svg_colours[i % SVG_COLOURS],
						  .share = json_number_value(v) /
							   page_number(p, "most"),
						  .hollow = least},
				out);
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
static size_t time_rows(const json_t *figures, double *low, double *high)
{
	const json_t *p;
	size_t i, rows = 0;

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
	size_t i, row = 0, rows = time_rows(figures, &low, &high);

	if (rows == 0) {
		html_paragraph("No latencies are known.", out);
		return;
	}
	html_paragraph("The scale is logarithmic: each time the same length is ten times as long.",
		       out);
	svg_bars_open(rows, out);
	json_array_foreach(figures, i, p)
		for (unsigned t = 0; t < ARRAY_SIZE(times); t++) {
			double ns = page_number(p, times[t].key);
			if (!(ns > 0))
				continue;
			sbuf_reset(&value);
			out_ns_digits(ns, 4, &value);
			sbuf_reset(&label);
			sbuf_addf(&label, "%s, %s", page_text(p, "title"), times[t].label);
			svg_bar(row++,
				&(struct svg_bar){.label = sbuf_str(&label),
						  .value = sbuf_str(&value),
						  .colour = svg_colours[i % SVG_COLOURS],
						  .share = (log10(ns) - low) / (high - low),
						  .hollow = strcmp(times[t].load, "half") == 0},
				out);
		}
	svg_close(out);
	sbuf_free(&value);
	sbuf_free(&label);
}

/* ---- what the device has counted ---- */

static const struct out_col count_cols[] = {
	{"title", "figure", OF_STR},
	{"what", "trial", OF_STR},
	{"ns", "after", OF_NS},
	{"opened", "opened", OF_COUNT},
	{"device", "device opened", OF_COUNT},
	{"opened_per_s", "opened/s", OF_PPS},
	{"device_per_s", "device/s", OF_PPS},
};
static const struct out_view counts_view = {.rows = "counts",
					    .cols = count_cols,
					    .ncols = ARRAY_SIZE(count_cols)};

/* Both counts at half and full load, a row for each time at which they were read, of the figure
 * that opens connections as long as a trial lasts: those of the others stay. New reference. */
static json_t *counts_rows(const json_t *doc)
{
	const json_t *f, *c;
	json_t *rows = json_array();
	size_t i, k;

	json_array_foreach(out_get(doc, "lb.figures"), i, f)
		for (unsigned t = 0; t < 2; t++) {
			const json_t *trial = out_get(f, t == 0 ? "half" : "full");
			if (!json_is_number(json_object_get(trial, "device_cps")))
				continue;
			json_array_foreach(json_object_get(trial, "counts"), k, c) {
				json_t *row = json_copy((json_t *)(uintptr_t)c);
				json_object_set(row, "title", json_object_get(f, "title"));
				json_object_set(row, "what", json_object_get(trial, "what"));
				json_array_append_new(rows, row);
			}
		}
	return json_pack("{s:o}", "counts", rows);
}

/* How much more there was of it than in the row before, if that is of the same trial. */
static double count_more(const json_t *rows, size_t i, const char *key)
{
	const json_t *c = json_array_get(rows, i),
		     *was = i > 0 ? json_array_get(rows, i - 1) : NULL;
	bool same = was != NULL && strcmp(page_text(c, "title"), page_text(was, "title")) == 0 &&
		    strcmp(page_text(c, "what"), page_text(was, "what")) == 0;

	return page_number(c, key) - (same ? page_number(was, key) : 0);
}

/* Two bars for each: what was opened and what the device has counted since the one before. They are
 * no rates: most of the time between two readings may lie behind the end of the trial. */
static void counts_chart(const json_t *rows, struct sbuf *out)
{
	static const char *const keys[] = {"opened", "device"};
	struct sbuf label = {0}, value = {0};
	const json_t *c;
	double most = 1;
	size_t i, row = 0;

	json_array_foreach(rows, i, c)
		for (unsigned d = 0; d < ARRAY_SIZE(keys); d++)
			most = fmax(most, count_more(rows, i, keys[d]));
	svg_bars_open(2 * json_array_size(rows), out);
	json_array_foreach(rows, i, c)
		for (unsigned d = 0; d < ARRAY_SIZE(keys); d++) {
			double v = count_more(rows, i, keys[d]);
			sbuf_reset(&value);
			sbuf_reset(&label);
			if (isfinite(v))
				out_si(v, &value);
			else
				sbuf_add(&value, "not known");
			sbuf_add(&value, d == 0 ? " opened" : " by the device");
			if (d == 0) {
				sbuf_addf(&label, "%s, %s load, ", page_text(c, "title"),
					  page_text(c, "what"));
				out_duration((uint64_t)page_number(c, "ns"), &label);
			}
			svg_bar(row++,
				&(struct svg_bar){.label = sbuf_str(&label),
						  .value = sbuf_str(&value),
						  .colour = svg_colours[d],
						  .share = v / most,
						  .hollow = d > 0},
				out);
		}
	svg_close(out);
	sbuf_free(&label);
	sbuf_free(&value);
}

static void page_counts(const json_t *doc, struct sbuf *out)
{
	json_t *all = counts_rows(doc);
	const json_t *rows = json_object_get(all, "counts");

	if (json_array_size(rows) > 0) {
		html_heading("What the device has counted", out);
		html_paragraph(
			"Connections that were opened since the reading before, and beside them "
			"(hollow) those that the device has counted. Connections per second are of "
			"all the time between two readings, in which the trial may have ended.",
			out);
		counts_chart(rows, out);
		html_table(all, &counts_view, out);
	}
	json_decref(all);
	all = page_trials(doc, true);
	if (json_is_string(out_get(doc, "lb.device_cps")) &&
	    json_array_size(json_object_get(all, "trials")) > 0) {
		html_heading("Trials of connections, as the device tells of them", out);
		html_paragraph("What was opened, and what the device has counted of it; held: the "
			       "most at any moment, where it tells that; room: the most that it "
			       "can hold.",
			       out);
		html_table(all, &device_view, out);
	}
	json_decref(all);
}

/* ---- servers ---- */

/* A bar for each: what it got of all, and hollow what was expected. */
static void spread_chart(const json_t *servers, struct sbuf *out)
{
	struct sbuf value = {0};
	const json_t *s;
	double most = 0;
	size_t i, row = 0;

	json_array_foreach(servers, i, s)
		most = fmax(most, fmax(page_number(s, "share"), page_number(s, "expected")));
	svg_bars_open(2 * json_array_size(servers), out);
	json_array_foreach(servers, i, s)
		for (unsigned x = 0; x < 2; x++) {
			double v = page_number(s, x == 0 ? "share" : "expected");
			sbuf_reset(&value);
			out_share_digits(v, 4, &value);
			sbuf_add(&value, x == 0 ? "" : " expected");
			svg_bar(row++,
				&(struct svg_bar){.label = x == 0 ? page_text(s, "address") : "",
						  .value = sbuf_str(&value),
						  .colour = svg_colours[0],
						  .share = v / most,
						  .hollow = x > 0},
				out);
		}
	svg_close(out);
	sbuf_free(&value);
}

/* How fast a key grows between two samples. NAN: they lie so close together that nobody can say. */
static double death_rate(const json_t *was, const json_t *s, const char *key)
{
	double ns = page_number(s, "ns") - page_number(was, "ns");

	return ns >= RATE_NS ? (page_number(s, key) - page_number(was, key)) / (ns / 1e9)
			     : (double)NAN;
}

/* Two keys over time, as rates from sample to sample: not all lie equally far apart. */
static void death_chart(const json_t *death, const char *const keys[2], const char *const label[2],
			struct sbuf *out)
{
	enum { TALL = 240, BOTTOM = 30 };
	const json_t *samples = json_object_get(death, "samples"), *s,
		     *was = json_array_get(samples, 0);
	struct sbuf top = {0};
	double most = 1, end = 1;
	size_t i;

	json_array_foreach(samples, i, s) {
		end = fmax(end, page_number(s, "ns"));
		if (isnan(death_rate(was, s, keys[0])))
			continue;
		for (unsigned k = 0; k < 2; k++)
			most = fmax(most, death_rate(was, s, keys[k]));
		was = s;
	}
	svg_open(WIDE, TALL + TOP + BOTTOM, out);
	for (unsigned d = 0; d < 2; d++) {
		double x = LEFT + (WIDE - LEFT - TOP) *
					  page_number(death, d == 0 ? "died_ns" : "returned_ns") /
					  end;
		sbuf_addf(
			out,
			"<line x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\" stroke=\"#888888\"/>\n",
			x, TOP, x, TOP + TALL);
		svg_text((int)x, TOP + TALL + 18, "middle", d == 0 ? "it dies" : "it returns", out);
	}
	for (unsigned k = 0; k < 2; k++) {
		sbuf_addf(out, "<polyline fill=\"none\" stroke=\"%s\"%s points=\"", svg_colours[k],
			  k > 0 ? " stroke-dasharray=\"4 3\"" : "");
		was = json_array_get(samples, 0);
		const char *gap = "";
		json_array_foreach(samples, i, s) {
			double rate = death_rate(was, s, keys[k]);
			if (isnan(rate))
				continue;
			sbuf_addf(out, "%s%.1f,%.1f", gap,
				  LEFT + (WIDE - LEFT - TOP) * page_number(s, "ns") / end,
				  TOP + TALL * (1 - rate / most));
			gap = " ";
			was = s;
		}
		sbuf_add(out, "\"/>\n");
		svg_text(LEFT - 8, TOP + 14 + (int)k * 18, "end", label[k], out);
	}
	sbuf_add(&top, "the top is ");
	out_si(most, &top);
	sbuf_add(&top, "/s");
	svg_text(LEFT - 8, TOP + 50, "end", sbuf_str(&top), out);
	sbuf_free(&top);
	svg_close(out);
}

/* Of a trial in which a server died, if there was one: `key` beside what failed. */
static void page_death(const json_t *death, const char *about, const char *key, const char *label,
		       struct sbuf *out)
{
	if (!json_is_object(death))
		return;
	html_paragraph(about, out);
	death_chart(death, (const char *const[]){key, "failed"},
		    (const char *const[]){label, "failed (dashes)"}, out);
}

static void page_servers(const json_t *doc, struct sbuf *out)
{
	const json_t *servers = out_get(doc, lb_servers_view.rows);

	struct sbuf words = {0};

	lb_servers_words(doc, &words);
	if (words.len > 0) {
		html_heading("Servers", out);
		page_lines(sbuf_str(&words), out);
	}
	sbuf_free(&words);
	if (json_array_size(servers) == 0)
		return;
	spread_chart(servers, out);
	html_table(doc, &lb_servers_view, out);
	if (json_array_size(out_get(doc, lb_clients_view.rows)) > 0)
		html_table(doc, &lb_clients_view, out);
	page_death(out_get(doc, "lb.real_servers.death"),
		   "A server that dies: its new connections per second, and those that failed.",
		   "server_opened", "it got (line)", out);
	page_death(out_get(doc, "lb.real_servers.death_open"),
		   "Connections that are open when it dies: their transactions per second, and "
		   "connections that failed.",
		   "done", "transactions (line)", out);
}

/* ---- the page ---- */

static void page_figures(const json_t *doc, struct sbuf *out)
{
	if (value_rows(out_get(doc, "lb.figures")) > 0) {
		html_heading("What each search has found", out);
		html_paragraph("A hollow bar stands for \"at least\".", out);
		values_chart(doc, out);
	}
	html_heading("At half and full load", out);
	table_loads(doc, out);
	times_chart(doc, out);
}

void lb_page(const json_t *doc, struct sbuf *out)
{
	const json_t *lb = json_object_get(doc, "lb");
	struct sbuf about = {0}, words = {0};

	html_open("Figures of a load balancer", out);
	sbuf_addf(&about, "Clients on port %.0f; trials of ", page_number(lb, "client"));
	out_duration((uint64_t)page_number(lb, "duration_ns"), &about);
	double repeats = page_number(lb, "repeats");
	sbuf_addf(&about, "; %.0f search%s; allowed loss %.6g%%; %.0f tuples.", repeats,
		  repeats == 1 ? "" : "es each", 100 * page_number(lb, "max_loss"),
		  page_number(lb, "tuples"));
	html_paragraph(sbuf_str(&about), out);
	bool any = json_array_size(json_object_get(lb, "figures")) > 0;
	if (any)
		table_carried(doc, out);
	lb_words(doc, false, &words);
	page_lines(sbuf_str(&words), out);
	if (any)
		page_figures(doc, out);
	page_counts(doc, out);
	page_servers(doc, out);
	if (any) {
		json_t *all = page_trials(doc, false);
		html_heading("All trials", out);
		html_table(all, &trials_view, out);
		json_decref(all);
	}
	html_close(out);
	sbuf_free(&about);
	sbuf_free(&words);
}
