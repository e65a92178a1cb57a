/* SPDX-License-Identifier: BSD-3-Clause */
/* traceroute: a host asks another one with growing hop limits, and tells who answers on the way. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "host_app.h"
#include "host_face.h"
#include "host_ping.h"
#include "neigh_trace.h"

enum { EXIT_UNANSWERED = 1 };
enum { A_PORT, A_TO, A_HOPS = 3, A_PROBES = 5, A_SIZE = 7, A_EVERY = 9 };

#define DFLT_HOPS 30
#define DFLT_PROBES 3
#define DFLT_EVERY_NS 10000000ull

struct tracing {
	struct host_ping *ping;
	struct host_ping_spec spec;
};
_Static_assert(sizeof(struct tracing) <= VERB_STATE_BYTES, "state of a verb");

static struct tracing *trace_state(struct cmd_run *r)
{
	return (struct tracing *)r->state;
}

/* ---- the result ---- */

static const struct out_col text_cols[] = {
	{"hop", "hop", OF_COUNT},
	{"from", "from", OF_STR},
	{"rtt", "rtt", OF_STR},
	{"error", "error", OF_STR},
};
static const struct out_view text_view = {.rows = "rows",
					  .cols = text_cols,
					  .ncols = ARRAY_SIZE(text_cols)};
static const struct out_view short_view = {.rows = "rows",
					   .cols = text_cols,
					   .ncols = ARRAY_SIZE(text_cols) - 1};
static const struct out_col csv_hop[] = {{"hop", "hop", OF_COUNT}};
static const struct out_col csv_probe[] = {
	{"state", "state", OF_STR}, {"from", "from", OF_STR}, {"error", "error", OF_STR},
	{"mtu", "mtu", OF_COUNT},   {"rtt_ns", "rtt", OF_NS},
};
static const struct out_view csv_view = {.rows = "hops",
					 .cols = csv_hop,
					 .ncols = ARRAY_SIZE(csv_hop),
					 .sub = "probes",
					 .sub_cols = csv_probe,
					 .nsub_cols = ARRAY_SIZE(csv_probe)};

static const char *probe_text(const json_t *probe, const char *key)
{
	const char *text = json_string_value(json_object_get(probe, key));

	return text != NULL ? text : "";
}

static bool probe_is(const json_t *probe, const char *state)
{
	return strcmp(probe_text(probe, "state"), state) == 0;
}

static bool probe_is_silent(const json_t *probe)
{
	return probe_is(probe, "lost") || probe_is(probe, "open");
}

/* Whether two who have answered are the same one and say the same. */
static bool probes_agree(const json_t *a, const json_t *b)
{
	return strcmp(probe_text(a, "from"), probe_text(b, "from")) == 0 &&
	       strcmp(probe_text(a, "error"), probe_text(b, "error")) == 0 &&
	       json_equal(json_object_get(a, "mtu"), json_object_get(b, "mtu"));
}

static bool hop_is_silent(const json_t *hop)
{
	const json_t *probe;
	size_t i;

	json_array_foreach(json_object_get(hop, "probes"), i, probe) {
		if (!probe_is_silent(probe))
			return false;
	}
	return true;
}

/* What is told of an error. That the hop limit was over is what was asked for. */
static json_t *error_json(const json_t *probe)
{
	struct sbuf text = {0};
	json_int_t mtu = json_integer_value(json_object_get(probe, "mtu"));

	if (!probe_is(probe, "error") || strcmp(probe_text(probe, "error"), "time exceeded") == 0)
		return json_null();
	sbuf_add(&text, probe_text(probe, "error"));
	if (mtu > 0)
		sbuf_addf(&text, ", its mtu is %" JSON_INTEGER_FORMAT, mtu);
	json_t *error = json_string(sbuf_str(&text));
	sbuf_free(&text);
	return error;
}

static void add_row(json_t *rows, const json_t *hop, const json_t *who, struct sbuf *rtt)
{
	if (rtt->len == 0)
		return;
	json_array_append_new(rows, json_pack("{sO,ss,ss,so}", "hop", json_object_get(hop, "hop"),
					      "from", who != NULL ? probe_text(who, "from") : "*",
					      "rtt", sbuf_str(rtt), "error",
					      who != NULL ? error_json(who) : json_null()));
	sbuf_reset(rtt);
}

/* Adds a row for each one who has answered at a hop, with his times one after the other. Where
 * nobody answered stands a star, in the row of the one before. */
static void add_hop(json_t *rows, const json_t *hop)
{
	const json_t *who = NULL, *probe;
	struct sbuf rtt = {0};
	size_t i;

	json_array_foreach(json_object_get(hop, "probes"), i, probe) {
		if (!probe_is_silent(probe)) {
			if (who != NULL && !probes_agree(who, probe))
				add_row(rows, hop, who, &rtt);
			who = probe;
		}
		if (rtt.len > 0)
			sbuf_addc(&rtt, ' ');
		if (probe_is_silent(probe))
			sbuf_addc(&rtt, probe_is(probe, "lost") ? '*' : '?');
		else
			out_duration((uint64_t)json_integer_value(json_object_get(probe, "rtt_ns")),
				     &rtt);
	}
	add_row(rows, hop, who, &rtt);
	sbuf_free(&rtt);
}

static void print_end(const json_t *one, size_t silent, struct sbuf *out)
{
	const char *to = json_string_value(json_object_get(one, "to"));
	size_t hops = json_array_size(json_object_get(one, "hops"));

	if (json_is_true(json_object_get(one, "reached")))
		sbuf_addf(out, "%s answered: it is %zu hop%s away\n", to, hops,
			  hops == 1 ? "" : "s");
	else if (silent + 1 < hops)
		sbuf_addf(out, "%s did not answer, and nobody from hop %zu to %zu did\n", to,
			  silent + 1, hops);
	else
		sbuf_addf(out, "%s did not answer\n", to);
}

static void print_text(const json_t *one, struct sbuf *out)
{
	const json_t *hops = json_object_get(one, "hops");
	json_t *rows = json_array(), *doc = json_pack("{so}", "rows", rows);
	const json_t *row;
	size_t n, silent = json_array_size(hops); /* hops before those at the end that are silent */

	while (silent > 0 && hop_is_silent(json_array_get(hops, silent - 1)))
		silent--;
	for (size_t i = 0; i < json_array_size(hops) && i <= silent; i++)
		add_hop(rows, json_array_get(hops, i));
	bool some_error = false;
	json_array_foreach(rows, n, row) {
		some_error = some_error || json_is_string(json_object_get(row, "error"));
	}
	out_write(OUT_TEXT, doc, some_error ? &text_view : &short_view, out);
	print_end(one, silent, out);
	json_decref(doc);
}

/* Prints what is known, and ends. Returns whether the destination has answered. */
static bool trace_end(struct cmd_run *r)
{
	struct tracing *x = trace_state(r);
	struct ctl *ctl = app_of(r)->ctl;
	json_t *one = host_ping_json(ctl, x->ping), *doc = json_pack("{sO}", "traceroute", one);
	bool reached = json_is_true(json_object_get(one, "reached"));

	cmd_result(r, doc);
	if (r->out_mode == OUT_JSON)
		out_write(OUT_JSON, doc, NULL, r->out);
	else if (r->out_mode == OUT_CSV)
		out_write(OUT_CSV, one, &csv_view, r->out);
	else
		print_text(one, r->out);
	json_decref(doc);
	json_decref(one);
	host_ping_free(ctl, x->ping);
	x->ping = NULL;
	return reached;
}

/* ---- the verb ---- */

static int trace_poll(struct cmd_run *r, struct err *e)
{
	struct tracing *x = trace_state(r);
	uint64_t received;
	int rc = host_ping_poll(x->ping, e);

	if (rc == 0)
		return VERB_PENDING;
	if (rc < 0 && host_ping_sent(x->ping, &received) == 0) {
		host_ping_free(app_of(r)->ctl, x->ping);
		x->ping = NULL;
		r->exit_code = EXIT_UNANSWERED;
	} else if (!trace_end(r)) {
		r->exit_code = EXIT_UNANSWERED;
	}
	return rc > 0 ? VERB_DONE : rc;
}

static void trace_cancel(struct cmd_run *r)
{
	trace_end(r);
}

static bool trace_progress(const struct cmd_run *r, struct cmd_progress *out)
{
	const struct tracing *x = (const struct tracing *)r->state;
	uint64_t received, sent = host_ping_sent(x->ping, &received);

	out->share = (double)sent / (double)x->spec.count;
	out->left_ns = CMD_LEFT_UNKNOWN;
	snprintf(out->text, sizeof(out->text), "traceroute, %" PRIu64 " of %u hops asked",
		 sent / x->spec.probes, x->spec.hops);
	return true;
}

static int trace_run(struct cmd_run *r, const struct arg_val *args, struct err *e)
{
	struct tracing *x = trace_state(r);
	struct host_ping_spec *s = &x->spec;
	const struct arg_val *every = &args[A_EVERY];
	int rc = host_asking_port(r, &args[A_PORT], &s->port, &s->stream, e);

	if (rc < 0)
		return rc;
	memcpy(s->to, args[A_TO].v.raw, sizeof(s->to));
	s->hops = args[A_HOPS].given ? (unsigned)args[A_HOPS].v.u : DFLT_HOPS;
	s->probes = args[A_PROBES].given ? (unsigned)args[A_PROBES].v.u : DFLT_PROBES;
	s->count = (uint64_t)s->hops * s->probes;
	s->size = args[A_SIZE].given ? (unsigned)args[A_SIZE].v.u : 0;
	s->every_ns = every->given ? every->v.u : DFLT_EVERY_NS;
	rc = host_asking_every(every, s->every_ns, e);
	if (rc == 0)
		rc = host_ping_start(app_of(r)->ctl, s, &x->ping, e);
	return rc < 0 ? rc : VERB_PENDING;
}

static const struct arg_spec args_traceroute[] = {
	{ARG_TARGETS, "port[/stream]"},
	{ARG_VALUE, "ADDRESS", 0, {&host_vt_address}},
	{ARG_WORD, "hops", ARG_OPT},
	{ARG_VALUE, "N", ARG_OPT, {&vt_uint, 1, NEIGH_TRACE_HOPS}},
	{ARG_WORD, "probes", ARG_OPT},
	{ARG_VALUE, "N", ARG_OPT, {&vt_uint, 1, NEIGH_TRACE_PROBES}},
	{ARG_WORD, "size", ARG_OPT},
	{ARG_VALUE, "BYTES", ARG_OPT, {&vt_uint, 1, 65535}},
	{ARG_WORD, "every", ARG_OPT},
	{ARG_VALUE, "DURATION", ARG_OPT, {&vt_seconds}},
	{ARG_END},
};

const struct verb verb_traceroute = {
	.name = "traceroute",
	.args = args_traceroute,
	.run = trace_run,
	.flags = VERB_NO_LOAD,
	.poll = trace_poll,
	.cancel = trace_cancel,
	.progress = trace_progress,
	.help = "Tell who forwards frames on the way to a host, from a port that has an address.\n"
		"As `ping`, but the requests for the first hop go no farther than to the first router, the next ones to the second,\n"
		"until ADDRESS answers or somebody says why it cannot be reached; at most `hops` (30) of them, `probes` (3) requests\n"
		"for each, frames of `size` (128) bytes with FCS, one each DURATION (10ms) for six hops at a time. * is a request that\n"
		"nobody answered in 1 s. Ctrl-C ends it with what is known. Exit code 1: ADDRESS did not answer.",
};
