/* SPDX-License-Identifier: BSD-3-Clause */
/* show flows: what became of connections and transactions, and how fast they were. Control makes
 * the document (flows_json()). */
#include <errno.h>
#include <string.h>

#include "flows_app.h"
#include "flows_face.h"

extern const struct work work_flows;

#define FATE(key, title) \
	{ \
		"connections." key, title, OF_COUNT, .some = true \
	}
#define TIMES(of, title) \
	{"latency." of ".p50_ns", title " 50%", OF_NS, .some = true}, \
		{"latency." of ".p99_ns", title " 99%", OF_NS, .some = true}, \
	{ \
		"latency." of ".max_ns", title " max", OF_NS, .some = true \
	}

static const struct out_col flow_cols[] = {
	{"port", "port", OF_COUNT},
	{"stream", "stream", OF_COUNT},
	{"role", "role", OF_STR},
	{"state", "state", OF_STR},
	{"connections.opened", "opened", OF_COUNT},
	{"connections.established", "established", OF_COUNT},
	FATE("refused", "refused"),
	FATE("connect_timeout", "connect timeout"),
	FATE("unreachable", "unreachable"),
	FATE("aborted_opening", "aborted opening"),
	FATE("opening", "opening"),
	{"connections.closed", "closed", OF_COUNT},
	FATE("reset_by_us", "reset by us"),
	FATE("reset_by_peer", "reset by peer"),
	FATE("timed_out", "timed out"),
	FATE("aborted", "aborted"),
	{"connections.open", "open", OF_COUNT},
	FATE("no_tuple", "no tuple"),
	{"transactions.started", "transactions", OF_COUNT},
	{"transactions.done", "done", OF_COUNT},
	{"transactions.failed", "failed", OF_COUNT, .some = true},
	{"transactions.open", "open", OF_COUNT, .some = true},
	{"payload.tx_bytes", "payload tx bytes", OF_COUNT},
	{"payload.rx_bytes", "payload rx bytes", OF_COUNT},
	{"segments.tx", "segments tx", OF_COUNT},
	{"segments.rx", "segments rx", OF_COUNT},
	{"segments.retransmitted", "retransmitted", OF_COUNT, .some = true},
	{"segments.duplicate", "duplicate", OF_COUNT, .some = true},
	{"segments.out_of_order", "out of order", OF_COUNT, .some = true},
	{"segments.bad_checksum", "bad checksum", OF_COUNT, .some = true},
	{"segments.unverified", "unverified", OF_COUNT, .some = true},
	{"segments.same_tos", "same tos", OF_COUNT, .some = true},
	{"http.1xx", "http 1xx", OF_COUNT, .some = true},
	{"http.2xx", "http 2xx", OF_COUNT, .some = true},
	{"http.3xx", "http 3xx", OF_COUNT, .some = true},
	{"http.4xx", "http 4xx", OF_COUNT, .some = true},
	{"http.5xx", "http 5xx", OF_COUNT, .some = true},
	{"http.bad", "http bad", OF_COUNT, .some = true},
	{"http.head", "http head", OF_COUNT, .some = true},
	{"http.post", "http post", OF_COUNT, .some = true},
	{"http.put", "http put", OF_COUNT, .some = true},
	{"rates.cps", "connections/s", OF_PPS},
	{"rates.tps", "transactions/s", OF_PPS},
	{"rates.tx_bps", "payload tx bit/s", OF_BPS},
	{"rates.rx_bps", "payload rx bit/s", OF_BPS},
	{"pace.connections.late", "late connections", OF_COUNT, .some = true},
	{"pace.transactions.late", "late transactions", OF_COUNT, .some = true},
	TIMES("connect", "connect"),
	TIMES("first_byte", "first byte"),
	TIMES("transaction", "transaction"),
	TIMES("since_due", "since due"),
	TIMES("close", "close"),
};
static const struct out_view flow_view = {.rows = "flows",
					  .cols = flow_cols,
					  .ncols = ARRAY_SIZE(flow_cols),
					  .transpose = true};

/* What workers have handed over to each other, where they do. */
static const struct out_col handed_cols[] = {
	{"port", "port", OF_COUNT},        {"queue", "queue", OF_COUNT},
	{"lcore", "lcore", OF_COUNT},      {"handed", "handed over", OF_COUNT},
	{"taken", "taken over", OF_COUNT}, {"hand_full", "no room", OF_COUNT},
};
static const struct out_view handed_view = {.rows = "handed_over",
					    .cols = handed_cols,
					    .ncols = ARRAY_SIZE(handed_cols)};

/* What else happened, in a line. */
static void flows_errors_text(const json_t *flow, struct sbuf *out)
{
	const char *name;
	json_t *n;
	bool any = false;

	json_object_foreach(json_object_get(flow, "errors"), name, n) {
		if (!any)
			sbuf_addf(out,
				  "%d/%d: ", (int)json_integer_value(json_object_get(flow, "port")),
				  (int)json_integer_value(json_object_get(flow, "stream")));
		sbuf_add(out, any ? ", " : "");
		sbuf_addf(out, "%s ", name);
		out_cell(n, OF_COUNT, out);
		any = true;
	}
	sbuf_add(out, any ? "\n" : "");
}

/* Frames of no connection, a line for each port that had some. */
static void flows_strays_text(json_t *stray, struct sbuf *out)
{
	const char *name, *between = "";
	json_t *n;

	sbuf_addf(out, "port %d, frames of no connection: ",
		  (int)json_integer_value(json_object_get(stray, "port")));
	json_object_foreach(stray, name, n) {
		if (strcmp(name, "port") == 0 || json_integer_value(n) == 0)
			continue;
		sbuf_addf(out, "%s%s ", between, name);
		out_cell(n, OF_COUNT, out);
		between = ", ";
	}
	sbuf_add(out, "\n");
}

static void flows_below_text(const json_t *doc, struct sbuf *out)
{
	json_t *stray;
	size_t i;

	json_array_foreach(json_object_get(doc, "strays"), i, stray)
		flows_strays_text(stray, out);
	if (json_array_size(json_object_get(doc, "handed_over")) > 0)
		out_write(OUT_TEXT, doc, &handed_view, out);
}

/* ---- by their servers ---- */

static const struct out_col server_cols[] = {
	{"port", "port", OF_COUNT},
	{"stream", "stream", OF_COUNT},
	{"address", "server", OF_STR},
	{"server_port", "its port", OF_STR},
	{"weight", "weight", OF_COUNT},
	{"opened", "opened", OF_COUNT},
	{"share", "share", OF_PERCENT},
	{"expected", "expected", OF_PERCENT},
	{"established", "established", OF_COUNT},
	{"closed", "closed", OF_COUNT},
	{"open", "open", OF_COUNT},
	{"done", "done", OF_COUNT},
	{"tx_bytes", "payload tx bytes", OF_COUNT},
	{"rx_bytes", "payload rx bytes", OF_COUNT},
	/* the text has these below, where they are not 0 */
	{"opening", "opening", OF_COUNT},
	{"refused", "refused", OF_COUNT},
	{"connect_timeout", "connect timeout", OF_COUNT},
	{"unreachable", "unreachable", OF_COUNT},
	{"aborted_opening", "aborted opening", OF_COUNT},
	{"reset_by_us", "reset by us", OF_COUNT},
	{"reset_by_peer", "reset by peer", OF_COUNT},
	{"timed_out", "timed out", OF_COUNT},
	{"aborted", "aborted", OF_COUNT},
	{"failed", "transactions failed", OF_COUNT},
};
#define SERVER_COLS 14
static const struct out_view server_text = {.rows = "servers",
					    .cols = server_cols,
					    .ncols = SERVER_COLS};
static const struct out_view server_view = {.rows = "servers",
					    .cols = server_cols,
					    .ncols = ARRAY_SIZE(server_cols)};

static unsigned flows_number(const json_t *o, const char *key)
{
	return (unsigned)json_integer_value(json_object_get(o, key));
}

/* What else became of the connections of servers, a line for each that has any of it. */
#define SERVER_LINES 32
static void flows_fates_text(const json_t *doc, struct sbuf *out)
{
	const json_t *servers = json_object_get(doc, "servers"), *one;
	unsigned lines = 0;
	size_t i;

	json_array_foreach(servers, i, one) {
		bool any = false;
		for (unsigned k = SERVER_COLS; k < ARRAY_SIZE(server_cols); k++) {
			const json_t *n = json_object_get(one, server_cols[k].key);
			if (json_integer_value(n) == 0)
				continue;
			if (!any && ++lines > SERVER_LINES)
				break;
			if (!any)
				sbuf_addf(out, "%u/%u %s %u: ", flows_number(one, "port"),
					  flows_number(one, "stream"),
					  json_string_value(json_object_get(one, "address")),
					  flows_number(one, "server_port"));
			sbuf_addf(out, "%s%s ", any ? ", " : "", server_cols[k].title);
			out_cell(n, OF_COUNT, out);
			any = true;
		}
		sbuf_add(out, any ? "\n" : "");
	}
	if (lines > SERVER_LINES)
		sbuf_addf(out, "and %u more servers, which --json and --csv tell\n",
			  lines - SERVER_LINES);
}

/* What is said of a flow below the table. */
static void flows_by_dst_text(const json_t *flow, struct sbuf *out)
{
	const json_t *chi = json_object_get(flow, "chi_square"),
		     *chance = json_object_get(flow, "probability"),
		     *others = json_object_get(flow, "others");
	unsigned port = flows_number(flow, "port"), id = flows_number(flow, "stream");

	if (!json_is_true(json_object_get(flow, "by_dst"))) {
		sbuf_addf(
			out,
			"%u/%u: its connections are not counted by server: `set %u/%u flow.by_dst on`",
			port, id, port, id);
		sbuf_add(out,
			 flows_number(flow, "servers") > 0 ? " (since it was turned off)\n" : "\n");
	}
	if (json_is_number(chi)) {
		sbuf_addf(out, "%u/%u: ", port, id);
		out_cell(json_object_get(flow, "opened"), OF_COUNT, out);
		sbuf_addf(out, " opened on %u servers; chi-square %.2f of %u degrees",
			  flows_number(flow, "degrees") + 1, json_number_value(chi),
			  flows_number(flow, "degrees"));
		if (json_is_number(chance))
			sbuf_addf(out, ", p %.3g\n", json_number_value(chance));
		else
			sbuf_add(out, "; too few for p\n");
	}
	if (json_is_object(others)) {
		sbuf_addf(out, "%u/%u: others, of servers that it had before: ", port, id);
		out_cell(json_object_get(others, "opened"), OF_COUNT, out);
		sbuf_add(out, " opened\n");
	}
}

/* ---- the verb ---- */

/* A document about flows: of the text, what stands in its table, above and below the lines of each
 * flow. */
struct flows_shown {
	json_t *(*doc)(struct ctl *c, const struct portset *ports);
	const struct out_view *view, *text;
	void (*above)(const json_t *doc, struct sbuf *out); /* NULL: nothing */
	void (*flow)(const json_t *flow, struct sbuf *out);
	void (*below)(const json_t *doc, struct sbuf *out); /* NULL: nothing */
};
static const struct flows_shown shown_plain = {.doc = flows_json,
					       .view = &flow_view,
					       .text = &flow_view,
					       .flow = flows_errors_text,
					       .below = flows_below_text};
static const struct flows_shown shown_by_dst = {.doc = flows_by_dst_json,
						.view = &server_view,
						.text = &server_text,
						.above = flows_fates_text,
						.flow = flows_by_dst_text};

static int flows_print(struct cmd_run *r, const struct flows_shown *how, json_t *doc, struct err *e)
{
	const json_t *flows = json_object_get(doc, "flows"), *flow;
	size_t i;

	if (json_array_size(flows) == 0) {
		json_decref(doc);
		return err_set(
			e, EINVAL,
			"no flow has run on these ports; `set 0 flow client; set 1 flow server; start all` opens connections");
	}
	if (r->out_mode != OUT_TEXT)
		return show_out(r, doc, how->view);
	if (json_array_size(json_object_get(doc, how->text->rows)) > 0)
		verb_out(r, OUT_TEXT, doc, how->text);
	else
		cmd_result(r, doc);
	if (how->above != NULL)
		how->above(doc, r->out);
	json_array_foreach(flows, i, flow)
		how->flow(flow, r->out);
	if (how->below != NULL)
		how->below(doc, r->out);
	json_decref(doc);
	return 0;
}

/* Leaves those that were not named out. */
static void flows_keep(json_t *doc, const char *key, const struct target *named)
{
	json_t *kept = json_array(), *one;
	size_t i;

	json_array_foreach(json_object_get(doc, key), i, one)
		if (show_names(named, flows_number(one, "port"), flows_number(one, "stream")))
			json_array_append(kept, one);
	json_object_set_new(doc, key, kept);
}

enum { FLOWS_PORTS, FLOWS_BY, FLOWS_BY_WHAT, FLOWS_BY_PORTS };

static int flows_run_show(struct cmd_run *r, const struct arg_val *args, struct err *e)
{
	struct app *app = app_of(r);
	const struct arg_val *named =
		&args[args[FLOWS_BY_PORTS].given ? FLOWS_BY_PORTS : FLOWS_PORTS];
	const struct flows_shown *how = args[FLOWS_BY].given ? &shown_by_dst : &shown_plain;
	struct portset ports;
	int rc = 0;

	if (args[FLOWS_PORTS].given && args[FLOWS_BY_PORTS].given)
		return err_at(e, EINVAL, args[FLOWS_BY_PORTS].col,
			      "ports stand here twice; leave one of both out");
	if (named->given)
		rc = app_ports(app, &named->target, true, &ports, e);
	else
		app_all_ports(app, &ports);
	if (rc < 0) {
		e->col = named->col;
		return rc;
	}
	json_t *doc = how->doc(app->ctl, &ports);
	if (named->given) {
		flows_keep(doc, "flows", &named->target);
		flows_keep(doc, how->text->rows, &named->target);
	}
	rc = flows_print(r, how, doc, e);
	if (rc < 0 && named->given)
		e->col = named->col;
	return rc;
}

static const char *const by_words[] = {"dst", NULL};
static const char *const by_about[] = {
	"by server: a client's destinations, a server's own addresses", NULL};
static const struct arg_spec args_flows[] = {
	[FLOWS_PORTS] = {ARG_TARGETS, "ports", ARG_OPT},
	[FLOWS_BY] = {ARG_WORD, "by", ARG_OPT},
	[FLOWS_BY_WHAT] = {ARG_CHOICE,
			   "what",
			   ARG_OPT,
			   {.type = &vt_enum, .choices = by_words},
			   .about = by_about},
	[FLOWS_BY_PORTS] = {ARG_TARGETS, "ports", ARG_OPT | ARG_AFTER},
	{ARG_END},
};

const struct verb verb_show_flows = {
	.name = "show flows",
	.args = args_flows,
	.run = flows_run_show,
	.flags = VERB_LOOKS | VERB_NO_LOAD,
	.help = "Streams that are flows: connections, transactions and how long they took.\n"
		"by dst: what each server got, where `set <streams> flow.by_dst on` was there before: of a client the destinations that it\n"
		"opens to, of a server its own addresses and ports, where what a balancer made of it is seen. share is that of all opened\n"
		"connections, expected the one by the weights that are set; p is the probability that dealing by these weights at random\n"
		"comes out as far from them, or further.",
};

/* "1k connections/s", "transactions as fast as it can" */
static void loads_rate(const struct rate *r, const char *of, struct sbuf *out)
{
	static const struct vspec per_second = {.type = &vt_per_second};

	if (r->kind == RATE_MAX) {
		sbuf_addf(out, "%s as fast as it can", of);
		return;
	}
	if (r->over_ns != 0)
		sbuf_addf(out, "%s, per second ", of);
	vt_per_second.print(&per_second, r, out);
	if (r->over_ns == 0)
		sbuf_addf(out, " %s/s", of);
}

void flows_loads(const struct app *app, unsigned port, struct sbuf *out)
{
	unsigned n = ctl_nstreams(app->ctl, port);

	for (unsigned i = 0; i < n; i++) {
		const struct stream_cfg *cfg = ctl_stream_cfg(app->ctl, port, i);
		const struct flows_cfg *f = cfg != NULL ? work_stream_cfg(cfg, &work_flows) : NULL;
		if (f == NULL || !cfg->enabled || f->role == FLOWS_OFF)
			continue;
		sbuf_addf(out, "%s%u/%u ", out->len > 0 ? ", " : "", port, i);
		if (f->role == FLOWS_SERVER) {
			sbuf_add(out, "answers connections");
			continue;
		}
		sbuf_add(out, "opens ");
		loads_rate(&f->cps, "connections", out);
		if (f->tps.on) {
			sbuf_add(out, " and starts ");
			loads_rate(&f->tps.rate, "transactions", out);
		}
	}
}
