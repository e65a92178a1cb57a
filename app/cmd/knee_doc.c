/* SPDX-License-Identifier: BSD-3-Clause */
#include "knee_doc.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "html.h"

/* ---- the document ---- */

static json_t *ns_or_null(double v)
{
	return isfinite(v) ? json_integer((json_int_t)v) : json_null();
}

static json_t *times_json(const struct knee_times *t)
{
	json_t *o = json_object();
	char key[32];

	json_object_set_new(o, "samples", json_integer((json_int_t)t->samples));
	for (unsigned i = 0; i < KNEE_RANKS; i++) {
		snprintf(key, sizeof(key), "%s_ns", knee_ranks[i].key);
		json_object_set_new(o, key, ns_or_null(t->ns[i]));
	}
	json_object_set_new(o, "max_ns", ns_or_null(t->max_ns));
	return o;
}

static json_t *load_json(const struct knee_load *l, enum trial_of of)
{
	const struct knee_reading *r = &l->at;
	json_t *o = json_object(), *latency = json_object();

	json_object_set_new(o, "load", trial_json_real(l->share));
	json_object_set_new(o, "rate", trial_json_rate(&l->rate));
	json_object_set_new(o, "valid", json_boolean(r->valid));
	json_object_set_new(o, "verdict", json_string(r->verdict));
	json_object_set_new(o, "why", out_json_text_or_null(r->why));
	json_object_set_new(o, "intended_per_s", trial_json_real(r->intended));
	json_object_set_new(o, "offered_per_s", trial_json_real(r->offered));
	json_object_set_new(o, "loss_ratio", trial_json_real(r->loss));
	if (of != TRIAL_FRAMES)
		json_object_set_new(o, "resent_ratio", trial_json_real(r->resent));
	json_object_set_new(o, "trials", json_integer(l->trials));
	for (unsigned t = 0; t < KNEE_TIMES; t++)
		if (knee_time_of(of, (enum knee_time)t))
			json_object_set_new(latency, knee_time_key((enum knee_time)t),
					    times_json(&r->time[t]));
	json_object_set_new(o, "latency", latency);
	return o;
}

/* The lowest load, and the knee. */
static json_t *place_json(const struct knee *k, enum trial_of of)
{
	struct knee_place at;
	json_t *o = json_object(), *by = json_array();

	knee_find(k, of, &at);
	bool known = at.found != KNEE_UNKNOWN;
	for (unsigned t = 0; t < KNEE_TIMES; t++)
		if (knee_time_decides(of, (enum knee_time)t))
			json_array_append_new(by, json_string(knee_time_key((enum knee_time)t)));
	json_object_set_new(o, "state", json_string(knee_found_name(at.found)));
	json_object_set_new(o, "load", trial_json_real(known ? k->load[at.at].share : (double)NAN));
	json_object_set_new(o, "intended_per_s",
			    trial_json_real(known ? k->load[at.at].at.intended : (double)NAN));
	json_object_set_new(o, "lowest_load",
			    trial_json_real(known ? k->load[at.base].share : (double)NAN));
	json_object_set_new(o, "worse_load",
			    trial_json_real(at.found == KNEE_FOUND ? k->load[at.above].share
								   : (double)NAN));
	json_object_set_new(o, "why", out_json_text_or_null(at.why));
	json_object_set_new(o, "by", by);
	json_object_set_new(o, "factor", json_real(KNEE_FACTOR));
	return o;
}

static json_t *limit_json(const struct knee *k)
{
	bool known =
		k->limit_by == KNEE_GIVEN || k->limit_by == KNEE_EXACT || k->limit_by == KNEE_LEAST;
	struct rate limit = k->limit;
	json_t *o = json_object();

	if (k->limit_by == KNEE_SEARCHING && k->search.low > 0) {
		known = true; /* as far as the search has come */
		limit = (struct rate){.kind = RATE_EACH, .value = k->search.low};
	}
	json_object_set_new(o, "state", json_string(knee_limit_name(k->limit_by)));
	json_object_set_new(o, "rate", known ? trial_json_rate(&limit) : json_null());
	json_object_set_new(o, "per_s",
			    trial_json_real(known && limit.kind == RATE_EACH ? limit.value
									     : (double)NAN));
	json_object_set_new(o, "why", out_json_text_or_null(k->why));
	json_object_set_new(o, "trials", json_integer(k->search.trials));
	json_object_set_new(o, "not_valid", json_integer(k->search.untold));
	return o;
}

json_t *knee_json(const struct knee *k, const struct knee_about *about)
{
	json_t *o = json_object(), *loads = json_array();

	for (unsigned i = 0; i < knee_measured(k); i++)
		json_array_append_new(loads, load_json(&k->load[i], about->of));
	json_object_set_new(o, "ports", ctl_portset_json(about->ports));
	json_object_set_new(o, "of", json_string(trial_words(about->of)->noun));
	json_object_set_new(o, "unit", json_string(trial_words(about->of)->per_s));
	json_object_set_new(o, "duration_ns", json_integer((json_int_t)about->duration_ns));
	json_object_set_new(o, "max_loss", json_real(k->ask.max_loss));
	json_object_set_new(o, "max_resent",
			    k->ask.by_resent ? json_real(k->ask.max_resent) : json_null());
	json_object_set_new(o, "complete", json_boolean(about->complete));
	json_object_set_new(o, "limit", limit_json(k));
	json_object_set_new(o, "knee", place_json(k, about->of));
	json_object_set_new(o, "loads", loads);
	return json_pack("{s:o}", "knee", o);
}

/* ---- tables ---- */

#define RATE_COLS \
	{"load", "load", OF_PERCENT}, {"intended_per_s", "intended/s", OF_PPS}, \
	{ \
		"offered_per_s", "offered/s", OF_PPS \
	}
#define TIME_COLS(at) \
	{at "samples", "samples", OF_COUNT}, {at "p50_ns", "50%", OF_NS}, \
		{at "p90_ns", "90%", OF_NS}, {at "p99_ns", "99%", OF_NS}, \
		{at "p99_9_ns", "99.9%", OF_NS}, {at "p99_99_ns", "99.99%", OF_NS}, \
	{ \
		at "max_ns", "max", OF_NS \
	}
#define END_COLS \
	{"verdict", "verdict", OF_STR}, \
	{ \
		"trials", "trials", OF_COUNT \
	}

/* Of one of the times, which doc_for_table() puts where these columns are. */
static const struct out_col frames_time_cols[] = {RATE_COLS,
						  {"loss", "loss", OF_STR},
						  TIME_COLS("time."),
						  END_COLS};
static const struct out_col calls_time_cols[] = {RATE_COLS,
						 {"loss", "loss", OF_STR},
						 {"resent", "sent again", OF_STR},
						 TIME_COLS("time."),
						 END_COLS};
static const struct out_view time_views[2] = {
	{.rows = "knee.loads", .cols = frames_time_cols, .ncols = ARRAY_SIZE(frames_time_cols)},
	{.rows = "knee.loads", .cols = calls_time_cols, .ncols = ARRAY_SIZE(calls_time_cols)},
};

static const struct out_col frames_cols[] = {
	RATE_COLS,
	{"loss_ratio", "loss", OF_PERCENT},
	{"rate", "rate", OF_STR},
	END_COLS,
	{"why", "why", OF_STR},
	TIME_COLS("latency.since_due."),
	TIME_COLS("latency.since_sent."),
};
static const struct out_col calls_cols[] = {
	RATE_COLS,
	{"loss_ratio", "loss", OF_PERCENT},
	{"resent_ratio", "sent again", OF_PERCENT},
	{"rate", "rate", OF_STR},
	END_COLS,
	{"why", "why", OF_STR},
	TIME_COLS("latency.since_due."),
	TIME_COLS("latency.connect."),
	TIME_COLS("latency.first_byte."),
	TIME_COLS("latency.transaction."),
	TIME_COLS("latency.close."),
};
static const struct out_view frames_view = {.rows = "knee.loads",
					    .cols = frames_cols,
					    .ncols = ARRAY_SIZE(frames_cols)};
static const struct out_view calls_view = {.rows = "knee.loads",
					   .cols = calls_cols,
					   .ncols = ARRAY_SIZE(calls_cols)};

static bool of_calls(const json_t *doc)
{
	return strcmp(json_string_value(out_get(doc, "knee.of")),
		      trial_words(TRIAL_FRAMES)->noun) != 0;
}

const struct out_view *knee_csv(const json_t *doc)
{
	return of_calls(doc) ? &calls_view : &frames_view;
}

/* ---- sentences ---- */

static const char *text_at(const json_t *doc, const char *path)
{
	const char *s = json_string_value(out_get(doc, path));

	return s != NULL ? s : "";
}

static void put_share(const json_t *doc, const char *path, struct sbuf *out)
{
	sbuf_addf(out, "%.4g%%", 100 * json_number_value(out_get(doc, path)));
}

/* "limit: exact, 98kpps" */
static void limit_words(const json_t *doc, struct sbuf *out)
{
	const char *rate = text_at(doc, "knee.limit.rate"), *why = text_at(doc, "knee.limit.why");
	double trials = json_number_value(out_get(doc, "knee.limit.trials"));

	sbuf_addf(out, "limit: %s", text_at(doc, "knee.limit.state"));
	if (rate[0] != '\0') {
		double each = json_number_value(out_get(doc, "knee.limit.per_s"));
		sbuf_add(out, ", ");
		if (each > 0) {
			out_si(each, out);
			sbuf_add(out, text_at(doc, "knee.unit"));
		} else {
			sbuf_add(out, rate);
		}
	}
	if (trials > 0)
		sbuf_addf(out, " (%.0f trials, %.0f not valid)", trials,
			  json_number_value(out_get(doc, "knee.limit.not_valid")));
	if (why[0] != '\0')
		sbuf_addf(out, ": %s", why);
}

static void knee_words(const json_t *doc, struct sbuf *out)
{
	const char *state = text_at(doc, "knee.knee.state"), *why = text_at(doc, "knee.knee.why");

	sbuf_addf(out, "knee: %s", state);
	if (json_is_number(out_get(doc, "knee.knee.load"))) {
		sbuf_add(out, ", at ");
		put_share(doc, "knee.knee.load", out);
		sbuf_add(out, " of the limit, ");
		out_si(json_number_value(out_get(doc, "knee.knee.intended_per_s")), out);
		sbuf_add(out, text_at(doc, "knee.unit"));
	}
	if (json_is_number(out_get(doc, "knee.knee.worse_load"))) {
		sbuf_add(out, "; at ");
		put_share(doc, "knee.knee.worse_load", out);
		sbuf_addf(out, " %s", why);
	} else if (why[0] != '\0') {
		sbuf_addf(out, ": %s", why);
	}
}

static size_t loads_not_valid(const json_t *doc)
{
	size_t i, n = 0;
	const json_t *l;

	json_array_foreach(out_get(doc, "knee.loads"), i, l)
		n += !json_is_true(json_object_get(l, "valid"));
	return n;
}

/* The sentences behind the tables: each is given to put(). */
static void all_words(const json_t *doc, void (*put)(const char *text, struct sbuf *out),
		      struct sbuf *out)
{
	struct sbuf b = {0};
	const json_t *l;
	size_t i;

	limit_words(doc, &b);
	put(sbuf_str(&b), out);
	sbuf_reset(&b);
	knee_words(doc, &b);
	put(sbuf_str(&b), out);
	json_array_foreach(out_get(doc, "knee.loads"), i, l) {
		if (json_is_true(json_object_get(l, "valid")))
			continue;
		sbuf_reset(&b);
		put_share(l, "load", &b);
		sbuf_addf(&b, " is not valid: %s: %s", text_at(l, "verdict"), text_at(l, "why"));
		put(sbuf_str(&b), out);
	}
	if (json_is_false(out_get(doc, "knee.complete")))
		put("ended early: loads above these were not measured", out);
	sbuf_free(&b);
}

/* A share as text, as exactly as it is known. */
static void put_ratio(json_t *load, const char *from, const char *to)
{
	const json_t *ratio = json_object_get(load, from);
	char text[32];

	if (!json_is_number(ratio))
		return;
	snprintf(text, sizeof(text), "%.4g%%", 100 * json_number_value(ratio));
	json_object_set_new(load, to, json_string(text));
}

/* A copy for the table of a time: with its numbers, and with shares as texts. New reference. */
static json_t *doc_for_table(const json_t *doc, const char *time)
{
	json_t *copy = json_deep_copy(doc), *l;
	size_t i;

	json_array_foreach(out_get(copy, "knee.loads"), i, l) {
		put_ratio(l, "loss_ratio", "loss");
		put_ratio(l, "resent_ratio", "resent");
		json_object_set(l, "time", json_object_get(json_object_get(l, "latency"), time));
	}
	return copy;
}

static void put_line(const char *text, struct sbuf *out)
{
	sbuf_addf(out, "%s\n", text);
}

void knee_text(const json_t *doc, struct sbuf *out)
{
	bool any = false;

	for (unsigned t = 0; t < KNEE_TIMES; t++) {
		const char *key = knee_time_key((enum knee_time)t);
		if (!knee_has(doc, key) && t != KNEE_DUE)
			continue;
		if (json_array_size(out_get(doc, "knee.loads")) == 0)
			break;
		sbuf_addf(out, "%s%s\n", any ? "\n" : "", knee_time_name((enum knee_time)t));
		json_t *table = doc_for_table(doc, key);
		out_write(OUT_TEXT, table, &time_views[of_calls(doc)], out);
		json_decref(table);
		any = true;
	}
	if (knee_has(doc, knee_time_key(KNEE_DUE))) {
		sbuf_addc(out, '\n');
		knee_chart(doc, knee_time_key(KNEE_DUE), out);
	}
	if (any)
		sbuf_addc(out, '\n');
	all_words(doc, put_line, out);
}

void knee_html(const json_t *doc, struct sbuf *out)
{
	struct sbuf title = {0};
	json_t *ports = out_get(doc, "knee.ports"), *p;
	size_t i;

	sbuf_addf(&title, "Latency under load of %s, port", text_at(doc, "knee.of"));
	json_array_foreach(ports, i, p)
		sbuf_addf(&title, "%s %" JSON_INTEGER_FORMAT, i > 0 ? "," : "",
			  json_integer_value(p));
	html_open(sbuf_str(&title), out);
	sbuf_free(&title);
	all_words(doc, html_paragraph, out);
	for (unsigned t = 0; t < KNEE_TIMES; t++) {
		const char *key = knee_time_key((enum knee_time)t);
		if (!knee_has(doc, key))
			continue;
		html_heading(knee_time_name((enum knee_time)t), out);
		knee_svg(doc, key, out);
		json_t *table = doc_for_table(doc, key);
		html_table(table, &time_views[of_calls(doc)], out);
		json_decref(table);
	}
	if (loads_not_valid(doc) > 0)
		html_paragraph("Loads whose verdict is not \"valid\" say nothing about the device: "
			       "their marks are hollow.",
			       out);
	html_paragraph("A percentile is left out where there are too few samples for it.", out);
	html_close(out);
}
