/* SPDX-License-Identifier: BSD-3-Clause */
/* What has come of lb, as a document, a table and sentences. */
#include <math.h>
#include <string.h>

#include "lb_run.h"

/* The marks are where the page cuts it: as one table it would be wider than a page. */
const struct out_col lb_figure_cols[LB_COLS] = {
	{"title", "figure", OF_STR},
	{"unit", "of", OF_STR},
	{"state", "carries", OF_STR},
	{"median", "median", OF_PPS},
	{"least", "least", OF_PPS},
	{"most", "most", OF_PPS},
	{"searches", "searches", OF_COUNT},
	[LB_COL_LOAD] = {"half.p50_ns", "half: 50%", OF_NS},
	{"half.p99_ns", "half: 99%", OF_NS},
	{"full.p50_ns", "full: 50%", OF_NS},
	{"full.p99_ns", "full: 99%", OF_NS},
	{"full.told", "full: told", OF_STR},
	{"full.client_cpu", "client CPU", OF_PERCENT},
	{"full.server_cpu", "server CPU", OF_PERCENT},
	{"full.device_cpu", "device CPU", OF_PERCENT, .some = true},
	{"full.softirq_cpu", "softirq", OF_PERCENT},
	[LB_COL_COUNTS] = {"full.opened", "opened", OF_COUNT},
	{"full.device_opened", "device opened", OF_COUNT},
	{"full.device_cps", "device CPS", OF_PPS},
	{"full.device_held", "device held", OF_COUNT},
	{"full.device_room", "device room", OF_COUNT},
};
#define FIGURE_VIEW(n) \
	{ \
		.rows = "lb.figures", .cols = lb_figure_cols, .ncols = (n) \
	}
static const struct out_view figure_views[2] = {FIGURE_VIEW(LB_COL_COUNTS), FIGURE_VIEW(LB_COLS)};

const struct out_view *lb_view(const json_t *doc)
{
	return &figure_views[json_is_string(out_get(doc, "lb.device_cps"))];
}

/* The value of a rate of trials in the unit of the figure. */
static double value_of_rate(const struct lb_ask *ask, enum lb_figure f, double rate)
{
	if (!lb_about[f].bits)
		return rate * lb_about[f].per;
	return capacity_l1_bps(rate, f == LB_BPS ? ask->size : LB_ELEPHANT_SIZE);
}

/* What grew from one count to the next, each second. */
static double count_rate(uint64_t from, uint64_t to, uint64_t ns)
{
	return to >= from && ns > 0 ? (double)(to - from) / ((double)ns / 1e9) : (double)NAN;
}

/* A number of connections, which may be unknown. */
static json_t *counted_json(double n)
{
	return isfinite(n) ? json_integer((json_int_t)n) : json_null();
}

/* The device's count beside ours. The begin of the trial is the first one, and not in the list. */
static json_t *counts_json(const struct lb_trial *t)
{
	json_t *list = json_array();

	for (unsigned i = 1; i < t->ncounts; i++) {
		const struct lb_count *a = &t->count[i - 1], *b = &t->count[i];
		json_t *o = json_object();
		json_object_set_new(o, "ns", json_integer((json_int_t)b->ns));
		json_object_set_new(o, "opened", json_integer((json_int_t)b->opened));
		json_object_set_new(o, "device",
				    b->device >= t->count[0].device
					    ? json_integer(
						      (json_int_t)(b->device - t->count[0].device))
					    : json_null());
		json_object_set_new(o, "opened_per_s",
				    trial_json_real(
					    count_rate(a->opened, b->opened, b->ns - a->ns)));
		json_object_set_new(o, "device_per_s",
				    trial_json_real(
					    count_rate(a->device, b->device, b->ns - a->ns)));
		json_object_set_new(o, "held", counted_json(b->held));
		json_object_set_new(o, "room", counted_json(b->room));
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *trial_row(const struct lb_ask *ask, enum lb_figure f, const struct lb_trial *t)
{
	static const char *const what[] = {
		[LB_SEARCH] = "search", [LB_HALF] = "half", [LB_FULL] = "full"};
	static const char *const told[] = {[RATE_PASSED] = "passed",
					   [RATE_FAILED] = "failed",
					   [RATE_SHORT] = "tester short",
					   [RATE_UNTOLD] = "not valid"};
	json_t *o = json_pack("{s:s, s:i}", "what", what[t->what], "repeat", (int)t->repeat + 1);

	json_object_set_new(o, "told", json_string(told[t->told]));
	json_object_set_new(o, "asked", trial_json_real(value_of_rate(ask, f, t->asked)));
	json_object_set_new(o, "carried", trial_json_real(value_of_rate(ask, f, t->carried)));
	json_object_set_new(o, "loss_ratio", trial_json_real(t->loss));
	json_object_set_new(o, "pps", trial_json_real(t->pps));
	json_object_set_new(o, "l1_bps", trial_json_real(t->l1_bps));
	json_object_set_new(o, "p50_ns", trial_json_real(t->p50_ns));
	json_object_set_new(o, "p99_ns", trial_json_real(t->p99_ns));
	json_object_set_new(o, "max_ns", trial_json_real(t->max_ns));
	json_object_set_new(o, "client_cpu", trial_json_real(t->client_cpu));
	json_object_set_new(o, "server_cpu", trial_json_real(t->server_cpu));
	json_object_set_new(o, "device_cpu", trial_json_real(t->cpu.device));
	json_object_set_new(o, "softirq_cpu", trial_json_real(t->cpu.softirq));
	struct lb_said said;
	lb_counts_said(t, &said);
	json_object_set_new(o, "opened", counted_json(t->opened));
	json_object_set_new(o, "device_opened", counted_json(said.counted));
	json_object_set_new(o, "device_held", counted_json(said.held));
	json_object_set_new(o, "device_room", counted_json(said.room));
	/* of the same connections in the same time */
	json_object_set_new(o, "device_cps",
			    trial_json_real(f == LB_CPS && t->opened > 0
						    ? t->carried * said.counted / t->opened
						    : (double)NAN));
	json_object_set_new(o, "counts", counts_json(t));
	json_object_set_new(o, "why", out_json_text_or_null(t->why));
	return o;
}

/* CPUs and counts of a trial are those of a load also where it is not the load that was asked for;
 * it has no latencies. */
static json_t *row_without_latencies(const json_t *row)
{
	static const char *const latencies[] = {"p50_ns", "p99_ns", "max_ns"};
	json_t *o = json_copy((json_t *)(uintptr_t)row);

	for (unsigned i = 0; i < ARRAY_SIZE(latencies); i++)
		json_object_set_new(o, latencies[i], json_null());
	return o;
}

static const char *state_of(const struct lb_point *p)
{
	return p->skipped                  ? "n/a"
	       : p->state == CAPACITY_OPEN ? "not measured"
					   : capacity_state_name(p->state);
}

static json_t *point_row(const struct lb_ask *ask, const struct lb_point *p)
{
	const struct lb_about *f = &lb_about[p->figure];
	json_t *o = json_pack("{s:s, s:s, s:s, s:s}", "figure", f->name, "title", f->title, "unit",
			      f->unit, "state", state_of(p)),
	       *values = json_array(), *trials = json_array(), *half = NULL, *full = NULL,
	       *untold = NULL;
	bool known = p->median > 0;

	for (unsigned i = 0; i < p->nvalues; i++)
		json_array_append_new(values,
				      trial_json_real(value_of_rate(ask, p->figure, p->value[i])));
	for (unsigned i = 0; i < p->ntrials; i++) {
		json_t *row = trial_row(ask, p->figure, &p->trial[i]);
		/* a load that the tester did not make has no latency at it */
		bool loaded = p->trial[i].told == RATE_PASSED || p->trial[i].told == RATE_FAILED;
		if (loaded && p->trial[i].what == LB_HALF)
			half = row;
		if (loaded && p->trial[i].what == LB_FULL)
			full = row;
		else if (p->trial[i].what == LB_FULL)
			untold = row;
		json_array_append_new(trials, row);
	}
	json_object_set_new(o, "median",
			    trial_json_real(known ? value_of_rate(ask, p->figure, p->median)
						  : (double)NAN));
	json_object_set_new(o, "least",
			    trial_json_real(known ? value_of_rate(ask, p->figure, p->least)
						  : (double)NAN));
	json_object_set_new(o, "most",
			    trial_json_real(known ? value_of_rate(ask, p->figure, p->most)
						  : (double)NAN));
	json_object_set_new(o, "searches", json_integer(p->nvalues));
	json_object_set_new(o, "values", values);
	json_object_set(o, "half", half != NULL ? half : json_null());
	json_object_set_new(o, "full",
			    full != NULL     ? json_incref(full)
			    : untold != NULL ? row_without_latencies(untold)
					     : json_null());
	json_object_set_new(o, "why", out_json_text_or_null(p->why));
	json_object_set_new(o, "note", out_json_text_or_null(p->note));
	json_object_set_new(o, "trials", trials);
	return o;
}

json_t *lb_json(const struct lb_run *b, bool ended)
{
	const struct lb_ask *ask = &b->ask;
	json_t *o = json_object(), *figures = json_array();

	json_object_set_new(o, "client", json_integer(ask->port));
	json_object_set_new(o, "servers", ctl_portset_json(&ask->servers));
	json_object_set_new(o, "tcp", json_boolean(ask->tcp));
	json_object_set_new(o, "duration_ns", json_integer((json_int_t)ask->duration_ns));
	json_object_set_new(o, "timeout_ns", json_integer((json_int_t)ask->timeout_ns));
	json_object_set_new(o, "repeats", json_integer(ask->repeats));
	json_object_set_new(o, "max_loss", trial_json_real(ask->max_loss));
	json_object_set_new(o, "tuples", trial_json_real((double)b->tuples));
	json_object_set_new(o, "device_cps",
			    out_json_text_or_null(ask->device_cps != NULL ? ask->device_cps : ""));
	json_object_set_new(o, "ended", json_boolean(ended));
	for (unsigned i = 0; i < b->npoints; i++)
		json_array_append_new(figures, point_row(ask, &b->point[i]));
	json_object_set_new(o, "figures", figures);
	json_object_set(o, "real_servers", b->look.doc != NULL ? b->look.doc : json_null());
	return json_pack("{s:o}", "lb", o);
}

void lb_words(const json_t *doc, bool servers, struct sbuf *out)
{
	const json_t *p;
	size_t i;

	json_array_foreach(out_get(doc, "lb.figures"), i, p) {
		const char *why = json_string_value(json_object_get(p, "why")),
			   *note = json_string_value(json_object_get(p, "note"));
		if (why != NULL)
			sbuf_addf(out, "%s: %s\n", json_string_value(json_object_get(p, "title")),
				  why);
		if (note != NULL)
			sbuf_addf(out, "%s: %s\n", json_string_value(json_object_get(p, "title")),
				  note);
	}
	if (servers)
		lb_servers_words(doc, out);
	if (json_is_true(out_get(doc, "lb.ended")))
		sbuf_add(out, "ended early: this is what had been found\n");
}
