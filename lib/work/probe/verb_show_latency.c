/* SPDX-License-Identifier: BSD-3-Clause */
/* The verb show latency: what became of the probes, how long they took, and how evenly frames came.
 * Control makes the document (probe_latency_json()); this prints it. */
#include "clock.h"
#include "cmd/show.h"
#include "out.h"
#include "probe.h"
#include "probe_app.h"

#include <math.h>
#include <string.h>

#define COUNTS(in) \
	{in "sent", "probes sent", OF_COUNT}, {in "received", "received", OF_COUNT}, \
		{in "lost", "lost", OF_COUNT}, {in "loss", "loss", OF_PERCENT}, \
		{in "duplicated", "duplicated", OF_COUNT}, \
		{in "reordered", "reordered", OF_COUNT}, {in "late", "late", OF_COUNT}, \
	{ \
		in "corrupted", "corrupted", OF_COUNT \
	}
#define PERCENTILES(in, title) \
	{in ".percentiles_ns.p50", title " 50%", OF_NS}, \
		{in ".percentiles_ns.p90", title " 90%", OF_NS}, \
		{in ".percentiles_ns.p95", title " 95%", OF_NS}, \
		{in ".percentiles_ns.p99", title " 99%", OF_NS}, \
		{in ".percentiles_ns.p99_9", title " 99.9%", OF_NS}, \
		{in ".percentiles_ns.p99_99", title " 99.99%", OF_NS}, \
	{ \
		in ".percentiles_ns.p99_999", title " 99.999%", OF_NS \
	}
#define VALUES(in, title) \
	{in ".min_ns", title " min", OF_NS}, {in ".mean_ns", title " mean", OF_NS}, \
		PERCENTILES(in, title), \
	{ \
		in ".max_ns", title " max", OF_NS \
	}
#define NEAR(ns) \
	{ \
		"gap.near." ns, "gap within " ns "ns", OF_PERCENT \
	}
#define DISPERSION(scale) \
	{ \
		"gap.dispersion." scale, "dispersion " scale, OF_REAL \
	}

#define PORT_COLS \
	{"port", "port", OF_COUNT}, {"name", "name", OF_STR}, COUNTS("counts."), \
		{"counts.extent_max", "extent max", OF_COUNT, .some = true}, \
		{"counts.extent_mean", "extent mean", OF_REAL, .some = true}, \
		{"damaged", "damaged", OF_COUNT, .some = true}, \
		{"foreign", "foreign", OF_COUNT, .some = true}, \
		{"plain", "frames without probe", OF_COUNT, .some = true}, \
		{"early", "too early or late to time", OF_COUNT, .some = true}, \
		VALUES("latency.actual", "latency"), VALUES("latency.intended", "since due"), \
		{"latency.actual.above", "out of range", OF_COUNT, .some = true}, \
		{"counts.jitter_ns", "jitter", OF_NS}, \
		{"jitter.limit_ns", "jitter threshold", OF_NS, .some = true}, \
		{"jitter.above", "jitter above it", OF_COUNT, .some = true}, \
		{"jitter.share", "jitter share", OF_PERCENT, .some = true}, \
		{"latency.actual.pdv_ns", "delay variation", OF_NS}, \
		{"bias_ns", "own share (bias)", OF_NS, .some = true}, \
		{"bias_clock", "own share timed by", OF_STR, .some = true}, VALUES("gap", "gap"), \
		{"gap.target_ns", "gap asked", OF_NS, .some = true}, NEAR("64"), NEAR("128"), \
		NEAR("256"), NEAR("512"), {"gap.cv", "gap variation", OF_REAL}, DISPERSION("1us"), \
		DISPERSION("10us"), DISPERSION("100us"), DISPERSION("1ms")

static const struct out_col port_cols[] = {PORT_COLS};
static const struct out_view port_view = {.rows = "ports",
					  .cols = port_cols,
					  .ncols = ARRAY_SIZE(port_cols),
					  .transpose = true};

/* CSV has columns that say how far the numbers may be trusted too; text says that in
 * show_latency_remarks(). */
static const struct out_col port_cols_csv[] = {
	PORT_COLS,
	{"counts.exact", "exact", OF_STR},
	{"counts.why", "why", OF_STR},
	{"counts.rx_queues", "rx queues", OF_COUNT},
	{"counts.extent_unknown", "extent unknown", OF_COUNT},
	{"verify", "verify", OF_STR},
	{"latency.actual.samples", "samples", OF_COUNT},
	{"latency.actual.error", "error", OF_REAL},
	{"gap.samples", "gaps", OF_COUNT},
	{"timestamps.source", "timed by", OF_STR},
	{"timestamps.error_ns", "stamps off by", OF_NS},
	{"corrected", "corrected", OF_STR},
};
static const struct out_view port_view_csv = {.rows = "ports",
					      .cols = port_cols_csv,
					      .ncols = ARRAY_SIZE(port_cols_csv)};

/* These columns fit a terminal of 120 columns; CSV and JSON have more. */
static const struct out_col stream_cols[] = {
	{"port", "port", OF_COUNT},
	{"stream", "stream", OF_COUNT},
	{"sent", "sent", OF_COUNT},
	{"received", "received", OF_COUNT},
	{"lost", "lost", OF_COUNT},
	{"duplicated", "dup", OF_COUNT},
	{"reordered", "reord", OF_COUNT},
	{"late", "late", OF_COUNT},
	{"corrupted", "corr", OF_COUNT},
	{"jitter_ns", "jitter", OF_NS},
	{"latency.min_ns", "min", OF_NS},
	{"latency.percentiles_ns.p50", "50%", OF_NS},
	{"latency.percentiles_ns.p99", "99%", OF_NS},
	{"latency.percentiles_ns.p99_9", "99.9%", OF_NS},
	{"latency.max_ns", "max", OF_NS},
};
static const struct out_col stream_cols_csv[] = {
	{"port", "port", OF_COUNT},
	{"stream", "stream", OF_COUNT},
	COUNTS(""),
	{"extent_max", "extent", OF_COUNT},
	{"extent_mean", "extent mean", OF_STR},
	{"jitter_ns", "jitter", OF_NS},
	{"latency.samples", "samples", OF_COUNT},
	VALUES("latency", "latency"),
	{"latency.pdv_ns", "delay variation", OF_NS},
	{"exact", "exact", OF_STR},
	{"why", "why", OF_STR},
	{"rx_queues", "rx queues", OF_COUNT},
	{"extent_unknown", "extent unknown", OF_COUNT},
	{"latency.error", "error", OF_REAL},
	{"corrected", "corrected", OF_STR},
	VALUES("intended", "since due"),
};
static const struct out_view stream_view = {.rows = "streams",
					    .cols = stream_cols,
					    .ncols = ARRAY_SIZE(stream_cols)};
static const struct out_view stream_view_csv = {.rows = "streams",
						.cols = stream_cols_csv,
						.ncols = ARRAY_SIZE(stream_cols_csv)};

/* A small number, such as that of a port or a stream. show_latency_frames() is for counts, which
 * may be
 * large. */
static unsigned show_latency_number(const json_t *o, const char *key)
{
	return (unsigned)json_integer_value(json_object_get(o, key));
}

static long long show_latency_frames(const json_t *o, const char *key)
{
	return json_integer_value(json_object_get(o, key));
}

/* Which clock timed the arrivals at this port. */
static const char *show_latency_source(const json_t *port)
{
	const char *text =
		json_string_value(json_object_get(json_object_get(port, "timestamps"), "source"));

	return text != NULL ? text : "-";
}

/* Prints how arrivals are timed, if time stamps of the device are or were used. */
static void remark_stamps(unsigned id, const json_t *stamps, struct sbuf *out)
{
	const char *source = json_string_value(json_object_get(stamps, "source"));

	if (source == NULL || strcmp(source, "software") == 0)
		return;
	sbuf_addf(out, "port %u: arrivals are timed %s", id,
		  json_string_value(json_object_get(stamps, "text")));
	if (show_latency_frames(stamps, "nic") > 0)
		sbuf_addf(out, "; so far %lld frames by stamps",
			  show_latency_frames(stamps, "nic"));
	if (show_latency_frames(stamps, "software") > 0)
		sbuf_addf(out, ", %lld by our clock (%lld had no stamp, %lld one that cannot be)",
			  show_latency_frames(stamps, "software"),
			  show_latency_frames(stamps, "unstamped"),
			  show_latency_frames(stamps, "odd"));
	sbuf_addc(out, '\n');
}

/* Prints in words what the numbers do not say: about each port for which there is something to
 * know, then about all of them. */
static void show_latency_remarks(const json_t *doc, struct sbuf *out)
{
	const json_t *clock = json_object_get(doc, "clock"), *port;
	bool asked = json_is_true(json_object_get(doc, "corrected")), corrected = false,
	     biased = false;
	size_t i;

	json_array_foreach(json_object_get(doc, "ports"), i, port) {
		const json_t *counts = json_object_get(port, "counts"),
			     *why = json_object_get(counts, "why");
		unsigned id = show_latency_number(port, "port");
		corrected |= json_is_true(json_object_get(port, "corrected"));
		biased |= !json_is_null(json_object_get(port, "bias_ns"));
		if (show_latency_number(counts, "rx_queues") > 1)
			sbuf_addf(
				out,
				"port %u: probes of one stream and Tx queue came on up to %u Rx queues: order and jitter are judged on "
				"each queue alone\n",
				id, show_latency_number(counts, "rx_queues"));
		remark_stamps(id, json_object_get(port, "timestamps"), out);
		if (why != NULL)
			sbuf_addf(out, "port %u: not exact: %s\n", id, json_string_value(why));
		if (show_latency_frames(port, "early") > 0)
			sbuf_addf(
				out,
				"port %u: %lld probes came before they were sent, as clocks go, or more than %.1f s after: they count with "
				"latency 0\n",
				id, show_latency_frames(port, "early"),
				(double)(1ull << 35) /
					json_real_value(json_object_get(clock, "hz")));
		if (json_is_false(json_object_get(port, "verify")) &&
		    show_latency_frames(port, "damaged") > 0)
			sbuf_addf(
				out,
				"port %u: frames are damaged, and only damage to probes is found: `set %u verify on` finds all of it\n",
				id, id);
		if (json_is_true(json_object_get(port, "bias_other")))
			sbuf_addf(
				out,
				"port %u: `calibrate` measured the tester's own share by another clock than timed these arrivals (%s): it is "
				"not %s\n",
				id, show_latency_source(port), asked ? "subtracted" : "shown");
		else if (asked && json_is_null(json_object_get(port, "bias_ns")))
			sbuf_addf(
				out,
				"port %u: nothing was subtracted: `calibrate` has not measured it\n",
				id);
	}
	if (!json_is_true(json_object_get(doc, "settled")))
		sbuf_add(out, "ports are sending: what is on its way counts as lost\n");
	sbuf_addf(out,
		  "values are known to 1/1024 of themselves (streams: 1/64), the clock to %.3g ppm",
		  json_real_value(json_object_get(clock, "uncertainty_ppm")));
	double tick = json_real_value(json_object_get(clock, "tick_ns"));
	if (tick > CLOCK_COARSE_NS)
		sbuf_addf(out, " and to its tick of %.3g ns", tick);
	sbuf_add(out,
		 corrected
			 ? "; the tester's own share is subtracted, and what is less than it is 0\n"
		 : biased ? "; the tester's own share is not subtracted\n"
			  : "\n");
}

/* Is there anything to print? Probes that came from elsewhere count too. */
static bool any_probes(const json_t *doc)
{
	static const char *const port_keys[] = {"probes", "damaged", "foreign", "counts.sent",
						"counts.received"};
	const json_t *o;
	size_t i;

	json_array_foreach(json_object_get(doc, "ports"), i, o)
		for (size_t k = 0; k < ARRAY_SIZE(port_keys); k++)
			if (json_number_value(out_get(o, port_keys[k])) > 0)
				return true;
	json_array_foreach(json_object_get(doc, "streams"), i, o)
		if (show_latency_frames(o, "sent") > 0)
			return true;
	return false;
}

static void show_latency_print(struct cmd_run *r, json_t *doc, bool streams)
{
	if (r->out_mode == OUT_JSON) {
		verb_out(r, OUT_JSON, doc, NULL);
		return;
	}
	if (r->out_mode == OUT_CSV) {
		verb_out(r, OUT_CSV, doc, streams ? &stream_view_csv : &port_view_csv);
		return;
	}
	if (!any_probes(doc)) {
		sbuf_add(
			r->out,
			"no frame has carried a probe since the start or the last clear: `set <ports> probe on` puts one into each, "
			"`start` sends them\n");
		cmd_result(r, doc);
		return;
	}
	if (!streams)
		verb_out(r, OUT_TEXT, doc, &port_view);
	bool some = json_array_size(json_object_get(doc, "streams")) > 0;
	if (!streams && some)
		sbuf_addc(r->out, '\n');
	if (streams || some)
		verb_out(r, OUT_TEXT, doc, &stream_view);
	show_latency_remarks(doc, r->out);
}

enum { PORTS, CORRECTED };

static int show_latency_run(struct cmd_run *r, const struct arg_val *args, struct err *e)
{
	struct app *app = app_of(r);
	struct portset ports;
	bool streams = false;
	json_t *s;
	size_t i;
	int rc = 0;

	if (args[PORTS].given)
		rc = app_ports(app, &args[PORTS].target, true, &ports, e);
	else
		app_all_ports(app, &ports);
	if (rc < 0) {
		e->col = args[PORTS].col;
		return rc;
	}
	for (unsigned k = 0; args[PORTS].given && k < args[PORTS].target.n; k++)
		streams |= args[PORTS].target.item[k].has_streams;
	json_t *doc = probe_latency_json(app->ctl, &ports,
					 args[CORRECTED].given ? LATENCY_CORRECTED : 0),
	       *kept = json_array();
	json_array_foreach(json_object_get(doc, "streams"), i, s) {
		/* text leaves streams without `latency on` out, because a port may have 4096 */
		bool line = r->out_mode != OUT_TEXT || streams ||
			    !json_is_null(json_object_get(s, "latency"));
		if (line && (!args[PORTS].given ||
			     show_names(&args[PORTS].target, show_latency_number(s, "port"),
					show_latency_number(s, "stream"))))
			json_array_append(kept, s);
	}
	json_object_set_new(doc, "streams", kept);
	show_latency_print(r, doc, streams);
	json_decref(doc);
	return 0;
}

static const struct arg_spec args_show_latency[] = {
	[PORTS] = {ARG_TARGETS, "ports", ARG_OPT},
	[CORRECTED] = {ARG_WORD, "corrected", ARG_OPT},
	{ARG_END},
};

const struct verb verb_show_latency = {
	.name = "show latency",
	.args = args_show_latency,
	.run = show_latency_run,
	.flags = VERB_LOOKS | VERB_NO_LOAD,
	.help = "Loss, order, duplicates, latency and gaps, from the probes in received frames.\n"
		"`set <ports> probe on` puts a probe in each frame, `probe every N` in one of N. A column is a receiving port: what was sent\n"
		"to it and what became of it. Latency is counted from the moment of sending, \"since due\" from the moment at which the\n"
		"rate had the frame due. Streams with `latency on` have a line of their own, and so has each that is named: show latency 0/0-3.\n"
		"A percentile for which there are too few frames is left out. corrected: less the tester's own share, which `calibrate`\n"
		"measures.",
};
