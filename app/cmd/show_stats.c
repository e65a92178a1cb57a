/* SPDX-License-Identifier: BSD-3-Clause */
/* show stats, rates, queues: three tables that are made from a snapshot. */
#include "show.h"

#include <math.h>
#include <stdlib.h>

#define NS_PER_S 1000000000ull

#define SIZE_ROW(side, name) \
	{ \
		side ".sizes." name, side " " name, OF_COUNT, .some = true \
	}
#define SIZE_ROWS(side) \
	SIZE_ROW(side, "0-63"), SIZE_ROW(side, "64"), SIZE_ROW(side, "65-127"), \
		SIZE_ROW(side, "128-255"), SIZE_ROW(side, "256-511"), SIZE_ROW(side, "512-1023"), \
		SIZE_ROW(side, "1024-1522"), SIZE_ROW(side, "1523-")

static const struct out_col stats_cols[] = {
	{"port", "port", OF_COUNT},
	{"name", "name", OF_STR},
	{"link", "link", OF_STR},
	{"speed_mbps", "speed", OF_MBPS},
	{"run.state", "state", OF_STR},
	{"run.sent", "run sent", OF_COUNT},
	{"run.duration_ns", "run time", OF_NS},
	{"run.mean_pps", "run mean pps", OF_PPS},
	{"tx.packets", "tx packets", OF_COUNT},
	{"tx.bytes", "tx bytes", OF_COUNT},
	{"tx.pps", "tx pps", OF_PPS},
	{"tx.l1_bps", "tx l1 bit/s", OF_BPS},
	{"tx.dropped", "tx dropped", OF_COUNT},
	{"tx.stalls", "tx stalls", OF_COUNT},
	{"tx.unsent", "tx unsent", OF_COUNT},
	{"tx.nombuf", "tx nombuf", OF_COUNT},
	{"tx.late", "tx late", OF_COUNT},
	{"tx.lateness_ns.p50", "tx lateness p50", OF_NS},
	{"tx.lateness_ns.p99", "tx lateness p99", OF_NS},
	{"tx.lateness_ns.max", "tx lateness max", OF_NS},
	{"tx.errors", "tx errors", OF_COUNT},
	{"rx.packets", "rx packets", OF_COUNT},
	{"rx.bytes", "rx bytes", OF_COUNT},
	{"rx.pps", "rx pps", OF_PPS},
	{"rx.l1_bps", "rx l1 bit/s", OF_BPS},
	{"rx.missed", "rx missed", OF_COUNT},
	{"rx.nombuf", "rx nombuf", OF_COUNT},
	{"rx.errors", "rx errors", OF_COUNT},
	{"nic.tx.packets", "nic tx packets", OF_COUNT},
	{"nic.rx.packets", "nic rx packets", OF_COUNT},
	{"nic.unconfirmed", "unconfirmed", OF_COUNT},
	{"rx.broadcast", "rx broadcast", OF_COUNT, .some = true},
	{"rx.multicast", "rx multicast", OF_COUNT, .some = true},
	{"icmp_errors.net_unreachable", "icmp net", OF_COUNT, .some = true},
	{"icmp_errors.host_unreachable", "icmp host", OF_COUNT, .some = true},
	{"icmp_errors.protocol_unreachable", "icmp protocol", OF_COUNT, .some = true},
	{"icmp_errors.port_unreachable", "icmp port", OF_COUNT, .some = true},
	{"icmp_errors.prohibited", "icmp prohibited", OF_COUNT, .some = true},
	{"icmp_errors.unreachable", "icmp unreach", OF_COUNT, .some = true},
	{"icmp_errors.too_big", "icmp too big", OF_COUNT, .some = true},
	{"icmp_errors.hop_limit", "icmp hop limit", OF_COUNT, .some = true},
	{"icmp_errors.reassembly", "icmp reassembly", OF_COUNT, .some = true},
	{"icmp_errors.other", "icmp other", OF_COUNT, .some = true},
	{"max.tx.pps", "max tx pps", OF_PPS, .some = true},
	{"max.tx.l1_bps", "max tx l1 bit/s", OF_BPS, .some = true},
	{"max.rx.pps", "max rx pps", OF_PPS, .some = true},
	{"max.rx.l1_bps", "max rx l1 bit/s", OF_BPS, .some = true},
	SIZE_ROWS("tx"),
	SIZE_ROWS("rx"),
};

/* Each port has a column, as in Pktgen. */
static const struct out_view stats_view = {.rows = "ports",
					   .cols = stats_cols,
					   .ncols = ARRAY_SIZE(stats_cols),
					   .transpose = true};

static struct snap *show_stats_snapshot(struct cmd_run *r)
{
	return ctl_snapshot(app_of(r)->ctl);
}

static void snapshot_free(struct snap *s)
{
	snap_free(s);
	free(s);
}

static json_t *snapshot_json(struct cmd_run *r, const struct show_sel *sel)
{
	struct snap *s = show_stats_snapshot(r);
	json_t *doc = snap_json(s);

	snapshot_free(s);
	show_filter(doc, sel);
	return doc;
}

int show_stats(struct cmd_run *r, const struct show_sel *sel, struct err *e)
{
	(void)e;
	return show_out(r, snapshot_json(r, sel), &stats_view);
}

static const struct out_col queue_port_cols[] = {{"port", "port", OF_COUNT}};
static const struct out_col queue_cols[] = {
	{"queue", "queue", OF_COUNT},
	{"tx.packets", "tx packets", OF_COUNT},
	{"tx.bytes", "tx bytes", OF_COUNT},
	{"tx.pps", "tx pps", OF_PPS},
	{"tx.l1_bps", "tx l1 bit/s", OF_BPS},
	{"tx.stalls", "stalls", OF_COUNT},
	{"tx.dropped", "dropped", OF_COUNT},
	{"tx.unsent", "unsent", OF_COUNT},
	{"tx.nombuf", "nombuf", OF_COUNT},
	{"tx.late", "late", OF_COUNT},
	{"tx.worker", "tx core", OF_COUNT},
	{"rx.packets", "rx packets", OF_COUNT},
	{"rx.bytes", "rx bytes", OF_COUNT},
	{"rx.pps", "rx pps", OF_PPS},
	{"rx.l1_bps", "rx l1 bit/s", OF_BPS},
	{"rx.worker", "rx core", OF_COUNT},
	{"tx.cycles_per_burst", "tx cycles/burst", OF_COUNT},
	{"rx.cycles_per_burst", "rx cycles/burst", OF_COUNT},
};
static const struct out_view queue_view = {
	.rows = "ports",
	.cols = queue_port_cols,
	.ncols = ARRAY_SIZE(queue_port_cols),
	.sub = "queues",
	.sub_cols = queue_cols,
	.nsub_cols = ARRAY_SIZE(queue_cols),
};

int show_queues(struct cmd_run *r, const struct show_sel *sel, struct err *e)
{
	static const char *const keep[] = {"port", "name", "queues"};
	json_t *stats = snapshot_json(r, sel), *doc = show_doc("queues"), *ports = json_array(),
	       *port;
	size_t i;

	(void)e;
	json_object_set(doc, "time_ns", json_object_get(stats, "time_ns"));
	json_object_set(doc, "wall_ns", json_object_get(stats, "wall_ns"));
	json_array_foreach(json_object_get(stats, "ports"), i, port) {
		json_t *o = json_object();
		for (size_t k = 0; k < ARRAY_SIZE(keep); k++)
			json_object_set(o, keep[k], json_object_get(port, keep[k]));
		json_array_append_new(ports, o);
	}
	json_object_set_new(doc, "ports", ports);
	json_decref(stats);
	return show_out(r, doc, &queue_view);
}

static const struct out_col rate_cols[] = {
	{"port", "port", OF_COUNT},
	{"name", "name", OF_STR},
	{"state", "state", OF_STR},
	{"rate", "rate", OF_STR},
	{"asked_pps", "asked pps", OF_PPS},
	{"offered_pps", "offered pps", OF_PPS},
	{"asked_l1_bps", "asked l1 bit/s", OF_BPS},
	{"offered_l1_bps", "offered l1 bit/s", OF_BPS},
	{"mark", "", OF_STR},
};
static const struct out_view rate_view = {.rows = "ports",
					  .cols = rate_cols,
					  .ncols = ARRAY_SIZE(rate_cols)};

struct load {
	double asked_pps, asked_l1_bps, offered_pps, offered_l1_bps;
	bool asked_known, differs;
};

/* Fills in the load of a port that sends: what its present settings ask for, and what was sent in
 * the last interval of a second. Until a whole interval lies within the run, the mean that
 * load_ran() has filled in is kept. */
static void load_now(struct cmd_run *r, const struct snap_port *p, struct load *l)
{
	const bool whole = p->run.duration_ns >= 2 * NS_PER_S;
	struct ctl_load asked = {0};

	l->asked_known = ctl_load(app_of(r)->ctl, p->port, &asked, NULL) == 0 && !asked.is_max &&
			 !p->run.unasked;
	l->asked_pps = asked.pps;
	l->asked_l1_bps = asked.l1_bps;
	if (p->run.ramps) {
		l->asked_pps = p->run.asked_pps;
		l->asked_l1_bps = p->run.asked_l1_bps;
	}
	if (whole) {
		l->offered_pps = p->tx_rate.pps;
		l->offered_l1_bps = p->tx_rate.l1_bps;
	}
	/* Asked and offered are not compared when the rate was changed within the interval, nor
	 * while a change has not reached the workers. */
	l->differs = fabs(l->asked_pps - p->run.asked_pps) <= 1e-9 * l->asked_pps;
	l->differs &= p->run.steady_ns >= 2 * NS_PER_S || (!whole && !p->run.rate_changed);
}

/* Fills in the load of the last run: what was asked, and the mean of what was sent. Bits/s follow
 * from the mean size of the frames that were sent. */
static void load_ran(const struct snap_port *p, struct load *l)
{
	double seconds = (double)p->run.duration_ns / NS_PER_S, bits = 0;

	if (p->run.sent > 0)
		bits = 8 * ((double)p->run.bytes / (double)p->run.sent + APP_WIRE_EXTRA);
	l->asked_pps = p->run.asked_pps;
	l->asked_l1_bps = l->asked_pps * bits;
	l->asked_known = !p->run.asked_max && !p->run.unasked && !p->run.rate_changed;
	l->offered_pps = p->run.mean_pps;
	l->offered_l1_bps = seconds > 0 ? (double)p->run.sent * bits / seconds : 0;
	l->differs = true;
}

static void load_of(struct cmd_run *r, const struct snap_port *p, struct load *l)
{
	double seconds = (double)p->run.duration_ns / NS_PER_S;

	*l = (struct load){0};
	load_ran(p, l);
	if (p->run.duration_ns == 0 || p->state == RUN_SENDING)
		load_now(r, p, l);
	/* A measured rate may be wrong by one frame in the time in which it was measured. */
	double off = fabs(l->offered_pps - l->asked_pps);
	if (p->state == RUN_SENDING && seconds >= 2)
		seconds = 1;
	l->differs &= p->run.duration_ns > 0 && l->asked_known && off >= 0.001 * l->asked_pps &&
		      off * seconds > 1;
}

static void put_pps(json_t *o, const char *key, double v)
{
	json_object_set_new(o, key, json_integer((json_int_t)llround(v)));
}

static json_t *rate_row(struct cmd_run *r, const struct snap_port *p)
{
	static const char *const states[] = {
		[RUN_IDLE] = "idle", [RUN_SENDING] = "sending", [RUN_DRAINING] = "draining"};
	const struct port_cfg *cfg = ctl_port_cfg(app_of(r)->ctl, p->port);
	json_t *o = json_object();
	struct sbuf text = {0};
	struct load l;

	load_of(r, p, &l);
	vt_rate.print(&(struct vspec){&vt_rate}, &cfg->rate, &text);
	json_object_set_new(o, "port", json_integer(p->port));
	json_object_set_new(o, "name", out_json_text(p->name));
	json_object_set_new(o, "state", json_string(states[p->state]));
	json_object_set_new(o, "rate", out_json_text(sbuf_str(&text)));
	if (l.asked_known) {
		put_pps(o, "asked_pps", l.asked_pps);
		put_pps(o, "asked_l1_bps", l.asked_l1_bps);
	} else {
		json_object_set_new(o, "asked_pps", json_null());
		json_object_set_new(o, "asked_l1_bps", json_null());
	}
	put_pps(o, "offered_pps", l.offered_pps);
	put_pps(o, "offered_l1_bps", l.offered_l1_bps);
	json_object_set_new(o, "differs", json_boolean(l.differs));
	json_object_set_new(o, "mark", json_string(l.differs ? "!" : ""));
	sbuf_free(&text);
	return o;
}

int show_rates(struct cmd_run *r, const struct show_sel *sel, struct err *e)
{
	struct snap *s = show_stats_snapshot(r);
	json_t *doc = show_doc("rates"), *ports = json_array();

	(void)e;
	json_object_set_new(doc, "time_ns", json_integer((json_int_t)s->time_ns));
	json_object_set_new(doc, "wall_ns", json_integer((json_int_t)s->wall_ns));
	for (unsigned i = 0; i < s->nports; i++)
		if (portset_has(&sel->ports, s->port[i].port))
			json_array_append_new(ports, rate_row(r, &s->port[i]));
	json_object_set_new(doc, "ports", ports);
	snapshot_free(s);
	return show_out(r, doc, &rate_view);
}
