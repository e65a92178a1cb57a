/* SPDX-License-Identifier: BSD-3-Clause */
/* show flows: what became of connections and transactions, and how fast they were. Control makes
 * the document (flows_json()). */
#include <errno.h>

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
	{"http.1xx", "http 1xx", OF_COUNT, .some = true},
	{"http.2xx", "http 2xx", OF_COUNT, .some = true},
	{"http.3xx", "http 3xx", OF_COUNT, .some = true},
	{"http.4xx", "http 4xx", OF_COUNT, .some = true},
	{"http.5xx", "http 5xx", OF_COUNT, .some = true},
	{"http.bad", "http bad", OF_COUNT, .some = true},
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

int flows_show(struct cmd_run *r, const struct show_sel *sel, struct err *e)
{
	json_t *doc = flows_json(app_of(r)->ctl, &sel->ports), *kept = json_array(), *flow;
	size_t i;

	json_array_foreach(json_object_get(doc, "flows"), i, flow) {
		json_int_t port = json_integer_value(json_object_get(flow, "port")),
			   id = json_integer_value(json_object_get(flow, "stream"));
		if (!sel->given || show_names(sel->target, (uint64_t)port, (uint64_t)id))
			json_array_append(kept, flow);
	}
	json_object_set_new(doc, "flows", kept);
	if (json_array_size(kept) == 0) {
		json_decref(doc);
		return err_set(
			e, EINVAL,
			"no flow has run on these ports; `set 0 flow client; set 1 flow server; start all` opens connections");
	}
	if (r->out_mode != OUT_TEXT)
		return show_out(r, doc, &flow_view);
	verb_out(r, OUT_TEXT, doc, &flow_view);
	json_array_foreach(kept, i, flow)
		flows_errors_text(flow, r->out);
	if (json_array_size(json_object_get(doc, "handed_over")) > 0)
		out_write(OUT_TEXT, doc, &handed_view, r->out);
	json_decref(doc);
	return 0;
}

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
