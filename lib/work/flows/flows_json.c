/* SPDX-License-Identifier: BSD-3-Clause */
/* Flows as a document. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "flows_ctl.h"
#include "hist_json.h"

static json_t *json_count(uint64_t n)
{
	return json_integer((json_int_t)n);
}

/* What became of connections, in the order of documents, and where the records of a flow and of a
 * server count it. */
#define FATE(name) \
	{ \
#name, offsetof(struct flow_counts, name), \
			offsetof(struct flow_server_counts, name) \
	}
#define FATE_OF_FLOW(name) \
	{ \
#name, offsetof(struct flow_counts, name), FATE_NONE \
	}
#define FATE_NONE SIZE_MAX
static const struct {
	const char *name;
	size_t of_flow, of_server;
} fates[] = {
	FATE(opened),      FATE(established),      FATE(refused),         FATE(connect_timeout),
	FATE(unreachable), FATE_OF_FLOW(no_tuple), FATE(aborted_opening), FATE_OF_FLOW(opening),
	FATE(closed),      FATE(reset_by_us),      FATE(reset_by_peer),   FATE(timed_out),
	FATE(aborted),     FATE_OF_FLOW(open),
};

static json_t *json_fates(const struct flow_counts *k)
{
	json_t *o = json_object();
	uint64_t n;

	for (unsigned i = 0; i < ARRAY_SIZE(fates); i++) {
		memcpy(&n, (const uint8_t *)k + fates[i].of_flow, sizeof(n));
		json_object_set_new(o, fates[i].name, json_count(n));
	}
	return o;
}

/* Cells are read one after the other while workers count. */
static uint64_t fate_left(uint64_t all, uint64_t gone)
{
	return all > gone ? all - gone : 0;
}

json_t *flows_server_fates_json(const struct flow_server_counts *of)
{
	struct flow_counts k = {0};

	for (unsigned i = 0; i < ARRAY_SIZE(fates); i++)
		if (fates[i].of_server != FATE_NONE)
			memcpy((uint8_t *)&k + fates[i].of_flow,
			       (const uint8_t *)of + fates[i].of_server, sizeof(uint64_t));
	k.opening = fate_left(k.opened, k.established + k.refused + k.connect_timeout +
						k.unreachable + k.aborted_opening);
	k.open = fate_left(k.established,
			   k.closed + k.reset_by_us + k.reset_by_peer + k.timed_out + k.aborted);
	json_t *o = json_fates(&k);
	json_object_del(o, "no_tuple"); /* such an open has no server */
	return o;
}

static json_t *json_segments(const struct flow_counts *k)
{
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "tx", json_count(k->tx), "rx",
			 json_count(k->rx), "retransmitted", json_count(k->retransmitted),
			 "duplicate", json_count(k->duplicate), "out_of_order",
			 json_count(k->out_of_order), "bad_checksum", json_count(k->bad_checksum),
			 "unverified", json_count(k->unverified), "same_tos",
			 json_count(k->same_tos));
}

static json_t *json_http(const struct wl_http_counts *k)
{
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "1xx",
			 json_count(k->status[0]), "2xx", json_count(k->status[1]), "3xx",
			 json_count(k->status[2]), "4xx", json_count(k->status[3]), "5xx",
			 json_count(k->status[4]), "bad", json_count(k->bad), "head",
			 json_count(k->head), "post", json_count(k->post), "put",
			 json_count(k->put));
}

static bool json_is_fate(const char *name)
{
	for (unsigned i = 0; i < ARRAY_SIZE(fates); i++)
		if (strcmp(fates[i].name, name) == 0)
			return true;
	return false;
}

/* Adds the counters of a table that are not 0 and have no place of their own. */
static void json_rest(json_t *o, const struct counter *table, const void *k, const char *const *but)
{
	for (; table->name != NULL; table++) {
		uint64_t n = *(const uint64_t *)((const uint8_t *)k + table->offset);
		unsigned i = 0;
		while (but[i] != NULL && strcmp(but[i], table->name) != 0)
			i++;
		if (n != 0 && but[i] == NULL && !json_is_fate(table->name))
			json_object_set_new(o, table->name, json_count(n));
	}
}

/* All that happened beside the fates, by name. */
static json_t *json_errors(const struct flows_sum *k)
{
	static const char *const told[] = {"tx_bytes",
					   "rx_bytes",
					   "tx",
					   "rx",
					   "duplicate",
					   "out_of_order",
					   "retransmitted",
					   "unverified",
					   "same_tos",
					   "bad_checksum",
					   "ack_sent",
					   NULL};
	static const char *const http[] = {"status_1xx", "status_2xx", "status_3xx", "status_4xx",
					   "status_5xx", "1xx",        "2xx",        "3xx",
					   "4xx",        "5xx",        "bad",        "head",
					   "post",       "put",        NULL};
	static const char *const none[] = {NULL};
	json_t *o = json_object();

	json_rest(o, flow_counts_table, &k->flow, told);
	json_rest(o, wl_http_table, &k->http, http);
	json_rest(o, wl_numbers_table, &k->numbers, none);
	if (k->wl.mismatched != 0)
		json_object_set_new(o, "mismatched", json_count(k->wl.mismatched));
	return o;
}

/* drawn: with what a drawing needs. */
static json_t *json_times(const struct hist *h, bool drawn)
{
	static const struct {
		const char *name;
		double percent;
	} rank[] = {{"p50_ns", 50},
		    {"p90_ns", 90},
		    {"p99_ns", 99},
		    {"p999_ns", 99.9},
		    {"p9999_ns", 99.99}};
	uint64_t n = hist_count(h);
	json_t *o = json_object();

	json_object_set_new(o, "min_ns", n > 0 ? whole_json(hist_min(h)) : json_null());
	json_object_set_new(o, "mean_ns", real_json(hist_mean(h)));
	for (unsigned i = 0; i < ARRAY_SIZE(rank); i++)
		json_object_set_new(o, rank[i].name,
				    n > 0 ? whole_json(hist_percentile(h, rank[i].percent))
					  : json_null());
	json_object_set_new(o, "max_ns", n > 0 ? whole_json(hist_max(h)) : json_null());
	json_object_set_new(o, "count", json_count(n));
	if (drawn) {
		json_t *all = hist_json(h, 0);
		json_object_set(o, "percentiles_ns", json_object_get(all, "percentiles_ns"));
		json_object_set_new(o, "bins", hist_bins_json(h));
		json_decref(all);
	}
	return o;
}

/* Of the current or last run. */
static json_t *json_pace(const struct flows_one *f)
{
	uint64_t due = 0, done = 0, late = 0, worst = 0, due_tps = 0, done_tps = 0, late_tps = 0,
		 worst_tps = 0;

	for (unsigned q = 0; q < f->nqueues; q++) {
		const struct flows_state_of *s = f->state[q];
		due += cell_get(&s->due);
		done += cell_get(&s->done);
		late += cell_get(&s->late);
		worst = RTE_MAX(worst, cell_get(&s->late_max_ns));
		due_tps += cell_get(&s->due_tps);
		done_tps += cell_get(&s->done_tps);
		late_tps += cell_get(&s->late_tps);
		worst_tps = RTE_MAX(worst_tps, cell_get(&s->late_tps_max_ns));
	}
	return json_pack("{s:{s:o, s:o, s:o, s:o}, s:{s:o, s:o, s:o, s:o}}", "connections", "due",
			 json_count(due), "done", json_count(done), "late", json_count(late),
			 "late_max_ns", json_count(worst), "transactions", "due",
			 json_count(due_tps), "done", json_count(done_tps), "late",
			 json_count(late_tps), "late_max_ns", json_count(worst_tps));
}

/* Nobody answers before all of the flow's workers know of the run. */
static const char *json_state(const struct ctl_port *cp, const struct flows_one *f)
{
	enum flows_stage stage = flows_one_stage(f, cp->run.id);

	if (!f->in_run || !cp->run.active || stage == FLOWS_DONE)
		return "idle";
	if (stage == FLOWS_IDLE)
		return "starting";
	if (stage == FLOWS_DRAINING)
		return "draining";
	return f->client && flows_ramps(cp, &f->cps) ? "ramping" : "running";
}

static void json_numbers(json_t *o, const struct flows_sum *k, struct hist *const h[FLOWS_HISTS],
			 bool drawn)
{
	static const char *const names[FLOWS_HISTS] = {[FLOWS_CONNECT] = "connect",
						       [FLOWS_FIRST] = "first_byte",
						       [FLOWS_WHOLE] = "transaction",
						       [FLOWS_DUE] = "since_due",
						       [FLOWS_CLOSE] = "close"};
	json_t *latency = json_object();

	json_object_set_new(o, "connections", json_fates(&k->flow));
	json_object_set_new(o, "transactions",
			    json_pack("{s:o, s:o, s:o, s:o}", "started", json_count(k->wl.started),
				      "done", json_count(k->wl.done), "failed",
				      json_count(k->wl.failed), "open", json_count(k->wl.open)));
	json_object_set_new(o, "payload",
			    json_pack("{s:o, s:o}", "tx_bytes", json_count(k->flow.tx_bytes),
				      "rx_bytes", json_count(k->flow.rx_bytes)));
	json_object_set_new(o, "segments", json_segments(&k->flow));
	json_object_set_new(o, "http", json_http(&k->http));
	json_object_set_new(o, "errors", json_errors(k));
	for (unsigned i = 0; i < FLOWS_HISTS; i++)
		json_object_set_new(latency, names[i], json_times(h[i], drawn));
	json_object_set_new(o, "latency", latency);
}

void flows_numbers_json(json_t *o, const struct flows_sum *k, struct hist *const h[FLOWS_HISTS])
{
	json_numbers(o, k, h, false);
}

static bool json_waits(const struct flows_one *f)
{
	for (unsigned q = 0; q < f->nqueues; q++)
		if (cell_get(&f->state[q]->waits) != 0)
			return true;
	return false;
}

static json_t *json_flow(const struct ctl_port *cp, const struct flows_one *f, bool drawn)
{
	struct hist *h[FLOWS_HISTS];
	json_t *o = json_object();
	struct flows_sum k;

	flows_one_sum(f, &k);
	json_object_set_new(o, "port", json_integer(cp->p.id));
	json_object_set_new(o, "stream", json_integer(f->id));
	json_object_set_new(o, "role", json_string(f->client ? "client" : "server"));
	json_object_set_new(o, "state", json_string(json_state(cp, f)));
	for (unsigned i = 0; i < FLOWS_HISTS; i++)
		h[i] = flows_one_hist(f, i);
	json_numbers(o, &k, h, drawn);
	for (unsigned i = 0; i < FLOWS_HISTS; i++)
		free(h[i]);
	if (json_waits(f))
		json_object_set_new(json_object_get(o, "errors"), "version_waits", json_count(1));
	json_object_set_new(o, "rates",
			    json_pack("{s:o, s:o, s:o, s:o}", "cps", real_json(f->cps_now), "tps",
				      real_json(f->tps_now), "tx_bps", real_json(f->tx_bps),
				      "rx_bps", real_json(f->rx_bps)));
	json_object_set_new(o, "pace", json_pace(f));
	return o;
}

/* What has run as a flow; NULL: the stream has not. */
static const struct flows_one *json_one(const struct ctl_port *cp, const struct stream *s)
{
	const struct flows_one *f = s != NULL ? flows_one_of(flows_of(cp), s) : NULL;

	return f != NULL && f->run != 0 ? f : NULL;
}

json_t *flows_one_json(struct ctl *c, unsigned port, unsigned stream)
{
	struct ctl_port *cp = c->port[port];
	const struct flows_one *f = json_one(cp, stream_at(cp, stream));
	json_t *o = f != NULL ? json_flow(cp, f, true) : NULL;

	if (o != NULL)
		json_object_set_new(o, "by_dst", flows_one_by_dst_json(cp, f));
	return o;
}

/* The first flow that has run, or the first that counts by servers. */
static bool json_any(const struct ctl *c, bool by_dst)
{
	for (unsigned i = 0; i < c->nports; i++)
		for (unsigned k = 0; k < c->port[i]->nstreams; k++) {
			const struct flows_one *f = json_one(c->port[i], c->port[i]->stream[k]);
			if (f != NULL && (!by_dst || f->tally != NULL))
				return true;
		}
	return false;
}

bool flows_any(const struct ctl *c)
{
	return json_any(c, false);
}

bool flows_any_by_dst(const struct ctl *c)
{
	return json_any(c, true);
}

/* Adds what the queues of a port have handed over to each other, if they ever did. */
static void json_handed(const struct ctl *c, const struct ctl_port *cp, json_t *list)
{
	const struct flows_port *p = flows_of(cp);

	for (unsigned q = 0; p->engine != NULL && p->engine->hand != NULL && q < p->nqueues; q++) {
		struct flows_hand_counts k = flows_handed(p, q), *base = &p->handed_base[q];

		json_array_append_new(list,
				      json_pack("{s:i, s:i, s:i, s:o, s:o, s:o}", "port",
						(int)cp->p.id, "queue", (int)q, "lcore",
						(int)c->worker[cp->tx_worker[q]].lcore, "handed",
						json_count(k.handed - base->handed), "taken",
						json_count(k.taken - base->taken), "hand_full",
						json_count(k.full - base->full)));
	}
}

/* Adds what has come to a port for its flows and was of none of their connections, if anything
 * has. */
static void json_strays(const struct ctl_port *cp, json_t *list)
{
	const struct flows_port *p = flows_of(cp);
	struct flows_strays k = flows_strays(p), base = p->strays_base;

	if (memcmp(&k, &base, sizeof(k)) == 0)
		return;
	json_array_append_new(
		list, json_pack("{s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "port", (int)cp->p.id,
				"fragments",
				json_count(k.fragments + k.pieces - base.fragments - base.pieces),
				"malformed", json_count(k.malformed - base.malformed),
				"bad_checksum", json_count(k.bad_checksum - base.bad_checksum),
				"no_match", json_count(k.no_match - base.no_match), "rst_sent",
				json_count(k.rst_sent - base.rst_sent), "other_queue",
				json_count(k.other_queue - base.other_queue), "dead",
				json_count(k.dead + k.dead_sent - base.dead - base.dead_sent)));
}

/* In the order of streams. Those that were deleted are not told. */
json_t *flows_json(struct ctl *c, const struct portset *ports)
{
	json_t *list = json_array(), *handed = json_array(), *strays = json_array();

	for (unsigned i = 0; i < c->nports; i++) {
		struct ctl_port *cp = c->port[i];
		if (portset_has(ports, i))
			json_handed(c, cp, handed);
		if (portset_has(ports, i))
			json_strays(cp, strays);
		for (unsigned k = 0; portset_has(ports, i) && k < cp->nstreams; k++) {
			const struct flows_one *f = json_one(cp, cp->stream[k]);
			if (f != NULL)
				json_array_append_new(list, json_flow(cp, f, false));
		}
	}
	return json_pack("{s:s, s:o, s:o, s:o}", "show", "flows", "flows", list, "handed_over",
			 handed, "strays", strays);
}
