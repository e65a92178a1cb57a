/* SPDX-License-Identifier: BSD-3-Clause */
/* Snapshots as JSON: see snap.h. */
#include "snap.h"

#include <math.h>
#include <stdlib.h>

static const char *const link_names[] = {[LINK_DOWN] = "down",
					 [LINK_UP] = "up",
					 [LINK_UNKNOWN] = "unknown",
					 [LINK_GONE] = "deleted"};
static const char *const run_names[] = {
	[RUN_IDLE] = "idle", [RUN_SENDING] = "sending", [RUN_DRAINING] = "draining"};

const char *snap_link_name(enum snap_link l)
{
	return link_names[l];
}

void snap_free(struct snap *s)
{
	if (s == NULL)
		return;
	for (unsigned i = 0; s->port != NULL && i < s->nports; i++) {
		free(s->port[i].queue);
		free(s->port[i].history);
	}
	free(s->port);
	free(s->worker);
	*s = (struct snap){0};
}

static void snap_put(json_t *o, const char *key, uint64_t v)
{
	json_object_set_new(o, key, json_integer((json_int_t)v));
}

/* Adds a rate as a whole number of base units (frames/s, bit/s); null if it is not finite. */
static void put_rate(json_t *o, const char *key, double v)
{
	json_object_set_new(o, key,
			    isfinite(v) ? json_integer((json_int_t)llround(v)) : json_null());
}

/* A name as a JSON string; "?" if it is not UTF-8. Names come from outside (interfaces, files) and
 * may be any bytes. */
static json_t *snap_text(const char *s)
{
	json_t *v = json_string(s);

	return v != NULL ? v : json_string("?");
}

static json_t *snap_counters(const struct counter *table, const void *cells)
{
	json_t *o = json_object();

	for (const struct counter *c = table; c->name != NULL; c++)
		snap_put(o, c->name, *(const uint64_t *)((const char *)cells + c->offset));
	return o;
}

static void add_rate(json_t *o, const struct snap_rate *r)
{
	put_rate(o, "pps", r->pps);
	put_rate(o, "l1_bps", r->l1_bps);
}

static void add_worker(json_t *o, int lcore)
{
	if (lcore >= 0)
		snap_put(o, "worker", (uint64_t)lcore);
}

static json_t *rates_json(const struct snap_rate *r)
{
	json_t *o = json_object();

	add_rate(o, r);
	return o;
}

static void add_late(json_t *o, const struct snap_late *l)
{
	json_t *v = json_object();

	snap_put(v, "bursts", l->count);
	snap_put(v, "p50", l->p50);
	snap_put(v, "p99", l->p99);
	snap_put(v, "max", l->max);
	put_rate(v, "mean", l->mean);
	if (l->max == UINT64_MAX)
		json_object_set_new(v, "max", json_null());
	if (l->count == 0) {
		json_decref(v);
		v = json_null();
	}
	json_object_set_new(o, "lateness_ns", v);
}

static void add_queue_rates(json_t *o, const struct snap_rate_row *row,
			    const struct snap_queue_rates *r)
{
	for (; row->name != NULL; row++)
		put_rate(o, row->name, *(const double *)((const char *)r + row->offset));
}

static json_t *queue_json(const struct snap_queue *q, unsigned n)
{
	json_t *o = json_object(), *side;

	snap_put(o, "queue", n);
	if (q->has_tx) {
		side = snap_counters(cnt_tx_table, &q->tx);
		add_late(side, &q->late);
		add_rate(side, &q->rates.tx);
		add_queue_rates(side, snap_tx_rates, &q->rates);
		add_worker(side, q->tx_worker);
		json_object_set_new(o, "tx", side);
	}
	if (q->has_rx) {
		side = snap_counters(cnt_rx_table, &q->rx);
		add_rate(side, &q->rates.rx);
		add_queue_rates(side, snap_rx_rates, &q->rates);
		add_worker(side, q->rx_worker);
		json_object_set_new(o, "rx", side);
	}
	return o;
}

static json_t *run_json(const struct snap_port *p)
{
	json_t *o = json_object();

	json_object_set_new(o, "state", json_string(run_names[p->state]));
	snap_put(o, "sent", p->run.sent);
	snap_put(o, "bytes", p->run.bytes);
	snap_put(o, "unsent", p->run.unsent);
	snap_put(o, "duration_ns", p->run.duration_ns);
	snap_put(o, "steady_ns", p->run.steady_ns);
	/* "As fast as possible" asks for no number. */
	bool known = !p->run.asked_max && !p->run.unasked;
	put_rate(o, "asked_pps", known ? p->run.asked_pps : (double)NAN);
	put_rate(o, "asked_l1_bps", known ? p->run.asked_l1_bps : (double)NAN);
	json_object_set_new(o, "asked_max", json_boolean(p->run.asked_max));
	json_object_set_new(o, "rate_changed", json_boolean(p->run.rate_changed));
	put_rate(o, "mean_pps", p->run.mean_pps);
	put_rate(o, "mean_l1_bps", p->run.mean_l1_bps);
	return o;
}

static json_t *nic_json(const struct snap_nic *n)
{
	json_t *o = json_object(), *tx = json_object(), *rx = json_object();

	if (n->source != NULL)
		json_object_set_new(o, "source", snap_text(n->source));
	if (n->has_tx_packets)
		snap_put(tx, "packets", n->tx_packets);
	if (n->has_tx_bytes)
		snap_put(tx, "bytes", n->tx_bytes);
	snap_put(tx, "errors", n->tx_errors);
	if (n->has_rx_packets)
		snap_put(rx, "packets", n->rx_packets);
	if (n->has_rx_bytes)
		snap_put(rx, "bytes", n->rx_bytes);
	snap_put(rx, "errors", n->rx_errors);
	json_object_set_new(o, "tx", tx);
	json_object_set_new(o, "rx", rx);
	if (n->has_unconfirmed)
		snap_put(o, "unconfirmed", n->unconfirmed);
	return o;
}

static json_t *history_json(const struct snap_port *p)
{
	json_t *o = json_object(),
	       *of[4] = {json_array(), json_array(), json_array(), json_array()};
	static const char *const names[4] = {"tx_pps", "rx_pps", "tx_l1_bps", "rx_l1_bps"};

	snap_put(o, "interval_ns", SNAP_INTERVAL_NS);
	for (unsigned i = 0; i < p->nhistory; i++) {
		const struct snap_interval *v = &p->history[i];
		const double n[4] = {v->tx.pps, v->rx.pps, v->tx.l1_bps, v->rx.l1_bps};
		for (unsigned k = 0; k < 4; k++)
			json_array_append_new(of[k], json_integer((json_int_t)llround(n[k])));
	}
	for (unsigned k = 0; k < 4; k++)
		json_object_set_new(o, names[k], of[k]);
	return o;
}

static json_t *max_json(const struct snap_port *p)
{
	json_t *o = json_object();

	json_object_set_new(o, "tx", rates_json(&p->max.tx));
	json_object_set_new(o, "rx", rates_json(&p->max.rx));
	return o;
}

static json_t *port_json(const struct snap_port *p)
{
	json_t *o = json_object(), *tx = snap_counters(cnt_tx_table, &p->tx),
	       *rx = snap_counters(cnt_rx_table, &p->rx), *queues = json_array();

	add_late(tx, &p->late);
	snap_put(o, "port", p->port);
	json_object_set_new(o, "name", snap_text(p->name));
	json_object_set_new(o, "link", json_string(link_names[p->link]));
	snap_put(o, "speed_mbps", p->speed_mbps);
	json_object_set_new(o, "run", run_json(p));
	snap_put(tx, "errors", p->tx_errors);
	add_rate(tx, &p->tx_rate);
	json_object_set_new(tx, "sizes", snap_counters(cnt_sizes_table, &p->tx_sizes));
	json_object_set_new(o, "tx", tx);
	snap_put(rx, "missed", p->rx_missed);
	snap_put(rx, "nombuf", p->rx_nombuf);
	snap_put(rx, "errors", p->rx_errors);
	add_rate(rx, &p->rx_rate);
	json_object_set_new(rx, "sizes", snap_counters(cnt_sizes_table, &p->rx_sizes));
	json_object_set_new(o, "rx", rx);
	json_object_set_new(o, "max", max_json(p));
	json_object_set_new(o, "history", history_json(p));
	json_object_set_new(o, "nic", nic_json(&p->nic));
	json_object_set_new(o, "icmp_errors",
			    p->icmp_known ? snap_counters(cnt_icmp_table, &p->icmp) : json_null());
	for (unsigned q = 0; q < p->nqueues; q++)
		json_array_append_new(queues, queue_json(&p->queue[q], q));
	json_object_set_new(o, "queues", queues);
	json_object_set_new(o, "used", json_boolean(p->used));
	return o;
}

static json_t *snap_real(double v)
{
	return isfinite(v) ? json_real(v) : json_null();
}

static json_t *worker_json(const struct snap_worker *w)
{
	json_t *o = json_object();

	snap_put(o, "lcore", w->lcore);
	json_object_set_new(o, "cpu", json_integer(w->cpu));
	json_object_set_new(o, "node", w->node >= 0 ? json_integer(w->node) : json_null());
	json_object_set_new(o, "busy", snap_real(w->busy));
	json_object_set_new(o, "wait", snap_real(w->wait));
	put_rate(o, "loops_per_s", w->loops_per_s);
	put_rate(o, "pps", w->pps);
	json_object_set_new(o, "cycles_per_packet", snap_real(w->cycles_per_packet));
	put_rate(o, "stalls_per_s", w->stalls_per_s);
	json_object_set_new(o, "asleep", json_boolean(w->asleep));
	snap_put(o, "loops", w->loops);
	snap_put(o, "sleeps", w->sleeps);
	snap_put(o, "yields", w->yields);
	snap_put(o, "events_lost", w->events_lost);
	json_t *stall = json_object();
	snap_put(stall, "count", w->stall.count);
	snap_put(stall, "total_ns", w->stall.total_ns);
	snap_put(stall, "longest_ns", w->stall.longest_ns);
	snap_put(stall, "over_ns", w->stall.over_ns);
	json_object_set_new(o, "stall", stall);
	json_object_set_new(o, "waited_ns",
			    w->waited_known ? json_integer((json_int_t)w->waited_ns) : json_null());
	snap_put(o, "plan", w->plan);
	snap_put(o, "tasks", w->tasks);
	snap_put(o, "rx_queues", w->rx_queues);
	return o;
}

json_t *snap_json(const struct snap *s)
{
	json_t *o = json_object(), *ports = json_array(), *workers = json_array();

	json_object_set_new(o, "show", json_string("stats"));
	snap_put(o, "time_ns", s->time_ns);
	snap_put(o, "wall_ns", s->wall_ns);
	for (unsigned i = 0; i < s->nports; i++)
		json_array_append_new(ports, port_json(&s->port[i]));
	json_object_set_new(o, "ports", ports);
	for (unsigned i = 0; i < s->nworkers; i++)
		json_array_append_new(workers, worker_json(&s->worker[i]));
	json_object_set_new(o, "workers", workers);
	return o;
}
