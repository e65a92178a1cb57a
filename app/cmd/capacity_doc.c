/* SPDX-License-Identifier: BSD-3-Clause */
#include "capacity_doc.h"

#include <math.h>
#include <string.h>

static const struct out_col point_cols[] = {
	{"direction", "direction", OF_STR},    {"size", "size", OF_COUNT},
	{"queues", "queues", OF_COUNT},        {"tx_queues", "tx q", OF_COUNT},
	{"rx_queues", "rx q", OF_COUNT},       {"workers", "workers", OF_COUNT},
	{"state", "carries", OF_STR},          {"sent_pps", "sent pps", OF_PPS},
	{"received_pps", "recv pps", OF_PPS},  {"l1_bps", "l1 bit/s", OF_BPS},
	{"link_share", "of link", OF_PERCENT}, {"limit", "limit", OF_STR},
	{"cycles_tx", "cycles tx", OF_REAL},   {"cycles_rx", "cycles rx", OF_REAL},
	{"cores", "cores", OF_COUNT},          {"trials", "trials", OF_COUNT},
	{"not_valid", "not valid", OF_COUNT},
};
const struct out_view capacity_view = {.rows = "capacity.points",
				       .cols = point_cols,
				       .ncols = ARRAY_SIZE(point_cols)};

static const struct out_col point_key[] = {
	{"direction", "direction", OF_STR},
	{"size", "size", OF_COUNT},
	{"queues", "queues", OF_COUNT},
};
static const struct out_col queue_cols[] = {
	{"queue", "queue", OF_COUNT},
	{"tx_worker", "tx worker", OF_COUNT},
	{"sent_pps", "sent pps", OF_PPS},
	{"rx_worker", "rx worker", OF_COUNT},
	{"received_pps", "received pps", OF_PPS},
};
const struct out_view capacity_queues_view = {.rows = "capacity.points",
					      .cols = point_key,
					      .ncols = ARRAY_SIZE(point_key),
					      .sub = "each_queue",
					      .sub_cols = queue_cols,
					      .nsub_cols = ARRAY_SIZE(queue_cols)};

static json_t *real_or_null(bool known, double v)
{
	return known && isfinite(v) ? json_real(v < 1e9 ? round(v * 1e6) / 1e6 : v) : json_null();
}

static json_t *worker_or_null(int lcore)
{
	return lcore >= 0 ? json_integer(lcore) : json_null();
}

static json_t *queues_json(const struct capacity_point *p, bool tx, bool rx)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < p->at.nqueues; i++) {
		const struct capacity_queue *q = &p->at.queue[i];
		json_t *o = json_pack("{s:i}", "queue", (int)q->queue);
		json_object_set_new(o, "tx_worker", worker_or_null(q->tx_worker));
		json_object_set_new(o, "sent_pps", real_or_null(tx, q->sent_pps));
		json_object_set_new(o, "rx_worker", worker_or_null(q->rx_worker));
		json_object_set_new(o, "received_pps", real_or_null(rx, q->received_pps));
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *point_json(const struct capacity *k, const struct capacity_point *p)
{
	const struct capacity_port *port = &k->ask.port[CAPACITY_OWN];
	bool known = p->state == CAPACITY_EXACT || p->state == CAPACITY_LEAST,
	     tx = known && p->direction != CAPACITY_RECEIVE,
	     rx = known && p->direction != CAPACITY_SEND;
	const struct capacity_side *own = p->at.side[CAPACITY_OWN],
				   *partner = p->at.side[CAPACITY_PARTNER];
	json_t *o = json_pack("{s:s, s:i, s:i, s:s, s:b}", "direction",
			      capacity_direction_name(p->direction), "size", (int)p->size, "queues",
			      (int)p->queues, "state", capacity_state_name(p->state), "valid",
			      (int)(p->state != CAPACITY_INVALID));

	/* what was used is that of the port which sends and of the one that receives */
	json_object_set_new(o, "tx_queues",
			    known ? json_integer((tx ? own : partner)[CAPACITY_TX].queues)
				  : json_null());
	json_object_set_new(o, "rx_queues",
			    rx ? json_integer(own[CAPACITY_RX].queues) : json_null());
	json_object_set_new(o, "workers", known ? json_integer(p->at.workers) : json_null());
	json_object_set_new(o, "sent_pps", real_or_null(tx, own[CAPACITY_TX].pps));
	json_object_set_new(o, "received_pps", real_or_null(rx, own[CAPACITY_RX].pps));
	json_object_set_new(o, "l1_bps", real_or_null(known, p->l1_bps));
	json_object_set_new(o, "link_share",
			    real_or_null(known && port->link_told && port->link_bps > 0,
					 p->l1_bps / port->link_bps));
	json_object_set_new(o, "limit",
			    p->state == CAPACITY_INVALID
				    ? json_null()
				    : json_string(capacity_limit_name(p->limit)));
	json_object_set_new(o, "why", out_json_text_or_null(p->why));
	json_object_set_new(o, "cycles_tx", real_or_null(tx, own[CAPACITY_TX].cycles));
	json_object_set_new(o, "cycles_rx", real_or_null(rx, own[CAPACITY_RX].cycles));
	json_object_set_new(o, "cores", p->cores > 0 ? json_integer(p->cores) : json_null());
	json_object_set_new(o, "need", out_json_text_or_null(p->need));
	json_object_set_new(o, "trials", json_integer(p->search.trials));
	json_object_set_new(o, "not_valid", json_integer(p->search.untold));
	json_object_set_new(o, "each_queue", known ? queues_json(p, tx, rx) : json_array());
	return o;
}

json_t *capacity_json(const struct capacity *k, const char *name, uint64_t duration_ns)
{
	const struct capacity_port *port = &k->ask.port[CAPACITY_OWN];
	json_t *points = json_array(), *o = json_object();

	json_object_set_new(o, "port", json_integer(port->port));
	json_object_set_new(o, "name", out_json_text(name));
	json_object_set_new(o, "duration_ns", json_integer((json_int_t)duration_ns));
	json_object_set_new(o, "max_loss", json_real(k->ask.max_loss));
	json_object_set_new(o, "link_bps", json_real(port->link_bps));
	json_object_set_new(o, "link_told", json_boolean(port->link_told));
	json_object_set_new(o, "pcie_bps", real_or_null(port->pcie_bps > 0, port->pcie_bps));
	for (unsigned i = 0; i < k->npoints; i++)
		json_array_append_new(points, point_json(k, &k->point[i]));
	json_object_set_new(o, "points", points);
	return json_pack("{s:o}", "capacity", o);
}

void capacity_words(const json_t *doc, struct sbuf *out)
{
	const json_t *p;
	size_t i;

	json_array_foreach(out_get(doc, "capacity.points"), i, p) {
		const char *why = json_string_value(json_object_get(p, "why")),
			   *need = json_string_value(json_object_get(p, "need")),
			   *limit = json_string_value(json_object_get(p, "limit"));
		sbuf_addf(out, "%s %lld bytes, queues %lld: %s: %s\n",
			  json_string_value(json_object_get(p, "direction")),
			  (long long)json_integer_value(json_object_get(p, "size")),
			  (long long)json_integer_value(json_object_get(p, "queues")),
			  limit != NULL ? limit : "not valid", why != NULL ? why : "-");
		if (need != NULL)
			sbuf_addf(out, "  %s\n", need);
	}
}
