/* SPDX-License-Identifier: BSD-3-Clause */
/* The part "dperf": what a client and a server of dperf would print. "dperf": [{"role": "client",
 * "server" or "both", "ports": [..], "protocol": "tcp", "udp" or null, "app": "http", "raw" or null,
 * "single": whether rtt(us) is told, "seconds": of the run, "cpuUsage": [percent of each worker],
 * "second": the last full one, null: not known yet, "total": since the last clear}]. These two have
 * dperf's numbers by their names (dperf_numbers), "rtt_us", and "errors": {our name: n}. A number is
 * null where nothing here counts it: docs/dperf.md says what each one is made of. */
#include "part_dperf.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "event.h"
#include "out.h"
#include "part.h"
#include "snapshot.h"
#include "ui/page_as_dperf.h"

/* Our names of what is an error, and where it is counted. */
static const char *const side_errors[] = {
	"connections.refused",     "connections.connect_timeout", "connections.unreachable",
	"connections.no_tuple",    "connections.aborted_opening", "connections.timed_out",
	"connections.aborted",     "transactions.failed",         "transactions.mismatched",
	"connections.no_memory",   "connections.not_sent",        "connections.syn_dropped",
	"connections.rst_ignored",
};
#define SIDE_ERRORS ARRAY_SIZE(side_errors)

enum side_role { SIDE_CLIENT, SIDE_SERVER, SIDE_BOTH, SIDES };
static const char *const side_names[SIDES] = {"client", "server", "both"};

/* The ports of one role, and their numbers together. */
struct side {
	struct portset ports;
	bool any, tcp, udp, http, single, flood;
	bool whole; /* all that its ports have received is in some number */
	bool mixed; /* and some of it in that of the wrong protocol, maybe */
	bool known[DPERF_NNUMBERS];
	uint64_t n[DPERF_NNUMBERS];
	uint64_t error[SIDE_ERRORS];
	uint64_t trips, trips_ns;
	uint64_t ran_ns;
};

struct dperf_memory {
	struct app_listener *listener;
	unsigned ticks;
	struct side before[SIDES], second[SIDES];
};

static uint64_t side_at(const json_t *o, const char *path)
{
	const json_t *v = out_get(o, path);

	return json_is_integer(v) ? (uint64_t)json_integer_value(v) : 0;
}

static void side_add(struct side *s, unsigned i, uint64_t n)
{
	s->known[i] = true;
	s->n[i] += n;
}

static uint64_t side_less(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

static bool side_word(const json_t *o, const char *key, const char *word)
{
	const char *text = json_string_value(json_object_get(o, key));

	return text != NULL && strcmp(text, word) == 0;
}

/* What only TCP has. */
static void side_tcp(struct side *s, const json_t *f, bool client)
{
	const json_t *c = json_object_get(f, "connections");
	uint64_t syn_rt = side_at(c, "syn_retransmitted"), fin_rt = side_at(c, "fin_retransmitted"),
		 all_rt = side_at(c, "retransmitted"), closed = side_at(c, "closed"),
		 drop = side_at(c, "duplicate") + side_at(c, "beyond_window") +
			side_at(c, "not_kept") + side_at(c, "rst_ignored") +
			side_at(c, "syn_dropped");

	s->tcp = true;
	side_add(s, DPERF_tcpRx, side_less(side_at(c, "rx"), side_at(c, "bad_checksum")));
	side_add(s, DPERF_tcpTx, side_at(c, "tx"));
	side_add(s, DPERF_synRx,
		 client ? side_at(c, "established")
			: side_at(c, "opened") + side_at(c, "syn_dropped"));
	side_add(s, DPERF_synTx, side_at(c, "opened") + syn_rt);
	side_add(s, DPERF_finRx, closed);
	side_add(s, DPERF_finTx, closed + fin_rt);
	side_add(s, DPERF_rstRx, side_at(c, "rst_received") + side_at(c, "rst_ignored"));
	side_add(s, DPERF_rstTx, side_at(c, "rst_sent"));
	side_add(s, DPERF_synRt, syn_rt);
	side_add(s, DPERF_finRt, fin_rt);
	side_add(s, DPERF_ackRt, side_at(c, "ack_again"));
	side_add(s, DPERF_pushRt, all_rt > syn_rt + fin_rt ? all_rt - syn_rt - fin_rt : 0);
	side_add(s, DPERF_ackDup, side_at(c, "dup_ack"));
	side_add(s, DPERF_tcpDrop, drop);
}

static void side_udp(struct side *s, const json_t *f)
{
	s->udp = true;
	side_add(s, DPERF_udpRx,
		 side_less(side_at(f, "connections.rx"), side_at(f, "connections.bad_checksum")));
	side_add(s, DPERF_udpTx, side_at(f, "connections.tx"));
	side_add(s, DPERF_udpRt, side_at(f, "transactions.failed"));
	side_add(s, DPERF_udpDrop,
		 side_at(f, "numbers.late") + side_at(f, "numbers.duplicated") +
			 side_at(f, "connections.syn_dropped"));
}

/* Requests of a client are counted by their method, if they have one alone. Those of a server are
 * counted when they are answered; what is neither GET nor POST is in none of the two. */
static void side_http(struct side *s, const json_t *f, bool client)
{
	uint64_t n = side_at(f, client ? "transactions.started" : "transactions.done"),
		 posts = side_at(f, "requests.post"),
		 others = posts + side_at(f, "requests.head") + side_at(f, "requests.put");
	bool post = client && side_word(f, "method", "POST"), get = side_word(f, "method", "GET");

	s->http = true;
	side_add(s, DPERF_httpGet, !client ? side_less(n, others) : post ? 0 : n);
	if (!client || post || get)
		side_add(s, DPERF_httpPost, !client ? posts : post ? n : 0);
	side_add(s, DPERF_http2XX, side_at(f, "responses.2xx"));
	side_add(s, DPERF_httpErr, side_at(f, "responses.other"));
}

static void side_flow(struct side *s, const json_t *f)
{
	const json_t *c = json_object_get(f, "connections");
	bool client = side_word(f, "role", "client");
	uint64_t gone = side_at(c, "refused") + side_at(c, "connect_timeout") +
			side_at(c, "unreachable") + side_at(c, "aborted_opening") +
			side_at(c, "timed_out") + side_at(c, "aborted");

	if (side_word(f, "protocol", "udp"))
		side_udp(s, f);
	else
		side_tcp(s, f, client);
	side_add(s, DPERF_tosRx, side_at(c, "same_tos"));
	side_add(s, DPERF_badRx, side_at(c, "bad_checksum"));
	side_add(s, DPERF_skOpen, side_at(c, "opened"));
	side_add(s, DPERF_skClose,
		 side_at(c, "closed") + side_at(c, "reset_by_us") + side_at(c, "reset_by_peer") +
			 gone);
	side_add(s, DPERF_skCon, side_at(c, "opening") + side_at(c, "open"));
	side_add(s, DPERF_skErr, gone);
	if (json_is_true(json_object_get(f, "http"))) {
		side_http(s, f, client);
	} else {
		side_add(s, DPERF_tcpReq, side_at(f, "transactions.started"));
		side_add(s, DPERF_tcpRsp, side_at(f, "transactions.done"));
	}
	if (json_is_object(json_object_get(f, "first_trip"))) {
		s->single = true;
		s->trips += side_at(f, "first_trip.count");
		s->trips_ns += side_at(f, "first_trip.sum_ns");
	}
	for (unsigned i = 0; i < SIDE_ERRORS; i++)
		s->error[i] += side_at(f, side_errors[i]);
}

/* What the port's host has taken; each frame is in one number that dperf has for what comes. */
static void side_host(struct side *s, const json_t *h)
{
	static const char *const odd[] = {"truncated", "malformed", "sender", "own_frame",
					  "hop_limit", "options",   "no_room"};
	uint64_t ping = side_at(h, "answered.ping"), no = side_at(h, "answered.unreachable"),
		 arp = side_at(h, "answered.arp") + side_at(h, "answered.nd"),
		 reset = side_at(h, "answered.reset"), rate = side_at(h, "refused.rate");
	const json_t *refused = json_object_get(h, "refused");

	side_add(s, DPERF_arpRx, arp + side_at(h, "heard") + side_at(h, "claims"));
	side_add(s, DPERF_arpTx, arp + side_at(h, "sent"));
	side_add(s, DPERF_icmpRx,
		 ping + side_at(h, "pongs") + side_at(h, "errors") + side_at(h, "errors_unasked"));
	side_add(s, DPERF_icmpTx, ping + no);
	side_add(s, DPERF_tcpRx, reset);
	side_add(s, DPERF_rstTx, reset);
	side_add(s, DPERF_udpRx, no + rate);
	side_add(s, DPERF_udpDrop, no + rate);
	side_add(s, DPERF_badRx, side_at(refused, "checksum") + side_at(refused, "fragment"));
	for (unsigned i = 0; i < ARRAY_SIZE(odd); i++)
		side_add(s, DPERF_otherRx, side_at(refused, odd[i]));
}

/* What flows of the port have claimed, all of them TCP or all UDP, and was of no connection. */
static void side_strays(struct side *s, const json_t *strays, bool udp)
{
	uint64_t none = side_at(strays, "no_match"), rst = side_at(strays, "rst_sent");

	side_add(s, udp ? DPERF_udpRx : DPERF_tcpRx, none);
	side_add(s, udp ? DPERF_udpDrop : DPERF_tcpDrop, side_less(none, rst));
	side_add(s, DPERF_rstTx, rst);
	side_add(s, DPERF_badRx,
		 side_at(strays, "bad_checksum") + side_at(strays, "fragments") +
			 side_at(strays, "malformed"));
	side_add(s, DPERF_otherRx, side_at(strays, "dead") + side_at(strays, "hand_full"));
}

/* What nothing has taken. */
static void side_unclaimed(struct side *s, const json_t *u)
{
	uint64_t tcp = side_at(u, "tcp"), udp = side_at(u, "udp");

	side_add(s, DPERF_tcpRx, tcp);
	side_add(s, DPERF_tcpDrop, tcp);
	side_add(s, DPERF_udpRx, udp);
	side_add(s, DPERF_udpDrop, udp);
	side_add(s, DPERF_icmpRx, side_at(u, "icmp"));
	side_add(s, DPERF_arpRx, side_at(u, "arp"));
	side_add(s, DPERF_badRx, side_at(u, "bad") + side_at(u, "fragments"));
	side_add(s, DPERF_otherRx, side_at(u, "other"));
}

/* A size here has the FCS, one of dperf has not. */
static uint64_t side_bits(const json_t *port, const char *way)
{
	struct sbuf path = {0};

	sbuf_addf(&path, "%s.bytes", way);
	uint64_t bytes = side_at(port, sbuf_str(&path));
	sbuf_reset(&path);
	sbuf_addf(&path, "%s.packets", way);
	uint64_t fcs = 4 * side_at(port, sbuf_str(&path));
	sbuf_free(&path);
	return bytes > fcs ? (bytes - fcs) * 8 : 0;
}

static void side_port(struct side *s, const json_t *port, const json_t *unclaimed)
{
	uint64_t ran = side_at(port, "run.duration_ns");

	s->any = true;
	s->ran_ns = ran > s->ran_ns ? ran : s->ran_ns;
	/* what came before it counted what nothing takes is in no number */
	side_add(s, DPERF_pktRx,
		 side_less(side_at(port, "rx.packets"), side_at(unclaimed, "before")));
	side_add(s, DPERF_pktTx, side_at(port, "tx.packets"));
	side_add(s, DPERF_bitsRx, side_bits(port, "rx"));
	side_add(s, DPERF_bitsTx, side_bits(port, "tx"));
	side_add(s, DPERF_dropTx, side_at(port, "tx.dropped"));
	side_add(s, DPERF_ierrors, side_at(port, "rx.errors"));
	side_add(s, DPERF_oerrors, side_at(port, "tx.errors"));
	side_add(s, DPERF_imissed, side_at(port, "rx.missed"));
}

/* The connections that n frames stand for. Those that are held are open until the run ends; then
 * dperf closes those of TCP. */
static void side_flood_connections(struct side *s, uint64_t n, uint64_t held, bool ended)
{
	uint64_t open = n < held ? n : held, closed = held == 0 ? n : s->tcp && ended ? open : 0;

	side_add(s, DPERF_skOpen, held == 0 ? n : open);
	side_add(s, DPERF_skClose, closed);
	side_add(s, DPERF_skCon, held == 0 ? 0 : open - closed);
	side_add(s, DPERF_skErr, 0);
}

/* A stream of frames that waits for nothing: the frames that the port's host has not sent. */
static void side_flood(struct side *s, const json_t *port, const json_t *host, const json_t *brief,
		       uint64_t held)
{
	uint64_t n = side_at(port, "tx.packets"),
		 others = side_at(host, "sent") + side_at(host, "answered.arp") +
			  side_at(host, "answered.nd") + side_at(host, "answered.ping") +
			  side_at(host, "answered.unreachable") + side_at(host, "answered.reset");

	s->flood = true;
	n = n > others ? n - others : 0;
	if (side_word(brief, "proto", "UDP")) {
		s->udp = true;
		side_add(s, DPERF_udpTx, n);
		side_add(s, DPERF_udpRt, 0); /* it waits for nothing */
	} else if (side_word(brief, "proto", "TCP")) {
		s->tcp = true;
		side_add(s, DPERF_tcpTx, n);
		if (side_word(brief, "tcp_flags", "syn"))
			side_add(s, DPERF_synTx, n);
	} else {
		return;
	}
	side_flood_connections(s, n, held,
			       !side_word(json_object_get(port, "run"), "state", "sending"));
}

static const json_t *side_of(const json_t *list, unsigned port)
{
	const json_t *o;
	size_t i;

	json_array_foreach(list, i, o)
		if ((unsigned)json_integer_value(json_object_get(o, "port")) == port)
			return o;
	return NULL;
}

/* The role of a port: what its flows are, or a client if it has sent anything else. */
static enum side_role side_role(const json_t *flows, const json_t *port)
{
	unsigned id = (unsigned)json_integer_value(json_object_get(port, "port"));
	bool has[2] = {false, false};
	const json_t *f;
	size_t i;

	json_array_foreach(flows, i, f)
		if ((unsigned)json_integer_value(json_object_get(f, "port")) == id)
			has[side_word(f, "role", "client") ? SIDE_CLIENT : SIDE_SERVER] = true;
	if (has[0] && has[1])
		return SIDE_BOTH;
	if (has[0] || has[1])
		return has[0] ? SIDE_CLIENT : SIDE_SERVER;
	return side_at(port, "run.sent") > 0 ? SIDE_CLIENT : SIDES;
}

static void side_one(struct app *app, struct side *s, const json_t *doc, const json_t *port)
{
	unsigned id = (unsigned)json_integer_value(json_object_get(port, "port"));
	const json_t *host = side_of(json_object_get(doc, "hosts"), id), *f,
		     *strays = side_of(json_object_get(doc, "flow_strays"), id),
		     *unclaimed = side_of(json_object_get(doc, "unclaimed"), id);
	bool any = false, tcp = false, udp = false;
	size_t i;

	portset_add(&s->ports, id);
	side_port(s, port, unclaimed);
	if (host != NULL)
		side_host(s, host);
	json_array_foreach(json_object_get(doc, "flow_counts"), i, f)
		if ((unsigned)json_integer_value(json_object_get(f, "port")) == id) {
			side_flow(s, f);
			udp |= side_word(f, "protocol", "udp");
			tcp |= !side_word(f, "protocol", "udp");
			any = true;
		}
	if (!any)
		side_flood(s, port, host, side_of(json_object_get(doc, "brief"), id),
			   ctl_port_cfg(app->ctl, id)->dperf_held);
	if (strays != NULL)
		side_strays(s, strays, udp);
	if (unclaimed != NULL)
		side_unclaimed(s, unclaimed);
	/* without these counts, and where strays may be either, nobody knows what else came */
	s->whole &= unclaimed != NULL;
	s->mixed |= tcp && udp && side_at(strays, "no_match") > 0;
}

/* What is known of a side as a whole. Numbers to which a part is missing are not. Of a flood nobody
 * knows which frames answer one of its own, and dperf does not call these dropped. */
static void side_ends(struct side *s)
{
	static const unsigned parts[] = {DPERF_otherRx, DPERF_tcpDrop, DPERF_udpDrop},
			      either[] = {DPERF_tcpRx, DPERF_udpRx, DPERF_tcpDrop, DPERF_udpDrop},
			      sent[] = {DPERF_tcpTx, DPERF_udpTx, DPERF_arpTx, DPERF_icmpTx};

	/* what the first stream of a port says goes for all of them, as does what its flows are */
	for (unsigned i = 0; i < ARRAY_SIZE(sent) && (s->tcp || s->udp); i++)
		s->known[sent[i]] = true;
	if (s->flood)
		s->known[s->tcp ? DPERF_tcpDrop : DPERF_udpDrop] = false;
	for (unsigned i = 0; i < ARRAY_SIZE(parts) && !s->whole; i++)
		s->known[parts[i]] = false;
	for (unsigned i = 0; i < ARRAY_SIZE(either) && s->mixed; i++)
		s->known[either[i]] = false;
}

/* Reads all numbers. Returns the snapshot that they are from, a new reference. */
static json_t *sides_read(struct app *app, struct side side[SIDES])
{
	struct err e;
	json_t *doc = app_snapshot(app, "stats,flow_counts,flow_strays,hosts,unclaimed,brief", &e);
	const json_t *port;
	size_t i;

	memset(side, 0, SIDES * sizeof(*side));
	for (unsigned r = 0; r < SIDES; r++)
		side[r].whole = true;
	json_array_foreach(json_object_get(doc, "ports"), i, port) {
		enum side_role role = side_role(json_object_get(doc, "flow_counts"), port);
		if (role != SIDES)
			side_one(app, &side[role], doc, port);
	}
	for (unsigned r = 0; r < SIDES; r++)
		side_ends(&side[r]);
	return doc;
}

/* What has come since `before`. */
static void side_since(struct side *out, const struct side *now, const struct side *before)
{
	*out = *now;
	for (unsigned i = 0; i < DPERF_NNUMBERS; i++)
		if (dperf_numbers[i].sort != DPERF_NOW && dperf_numbers[i].sort != DPERF_EVER)
			out->n[i] = side_less(now->n[i], before->n[i]);
	for (unsigned i = 0; i < SIDE_ERRORS; i++)
		out->error[i] = side_less(now->error[i], before->error[i]);
	out->trips = side_less(now->trips, before->trips);
	out->trips_ns = side_less(now->trips_ns, before->trips_ns);
}

static void dperf_tick(void *arg, const struct app_event *ev)
{
	struct app *app = arg;
	struct dperf_memory *m = app->dperf;
	struct side now[SIDES];

	if (ev->kind != APP_EVENT_TICK)
		return;
	json_decref(sides_read(app, now));
	for (unsigned r = 0; r < SIDES; r++)
		side_since(&m->second[r], &now[r], &m->before[r]);
	memcpy(m->before, now, sizeof(now));
	m->ticks++;
}

void dperf_watch(struct app *app)
{
	if (app->dperf != NULL)
		return;
	app->dperf = xcalloc(1, sizeof(*app->dperf));
	app->dperf->listener = app_listen(app, dperf_tick, app);
}

void dperf_forget(struct app *app)
{
	if (app->dperf == NULL)
		return;
	app_unlisten(app->dperf->listener);
	free(app->dperf);
	app->dperf = NULL;
}

static json_t *side_json(const struct side *s)
{
	json_t *o = json_object(), *errors = json_object();

	for (unsigned i = 0; i < DPERF_NNUMBERS; i++)
		json_object_set_new(o, dperf_numbers[i].name,
				    s->known[i] ? json_integer((json_int_t)s->n[i]) : json_null());
	json_object_set_new(o, "rtt_us",
			    s->trips > 0 ? json_real((double)s->trips_ns / (double)s->trips / 1e3)
					 : json_null());
	for (unsigned i = 0; i < SIDE_ERRORS; i++)
		if (s->error[i] > 0)
			json_object_set_new(errors, strchr(side_errors[i], '.') + 1,
					    json_integer((json_int_t)s->error[i]));
	json_object_set_new(o, "errors", errors);
	return o;
}

/* Whether a worker serves a queue of these ports. */
static bool side_serves(const json_t *doc, const struct portset *ports, json_int_t lcore)
{
	const json_t *port, *queue;
	size_t i, k;

	json_array_foreach(json_object_get(doc, "ports"), i, port) {
		if (!portset_has(ports, (unsigned)i))
			continue;
		json_array_foreach(json_object_get(port, "queues"), k, queue) {
			const json_t *tx = out_get(queue, "tx.worker"),
				     *rx = out_get(queue, "rx.worker");
			if ((json_is_integer(tx) && json_integer_value(tx) == lcore) ||
			    (json_is_integer(rx) && json_integer_value(rx) == lcore))
				return true;
		}
	}
	return false;
}

static json_t *side_cpus(const json_t *doc, const struct portset *ports)
{
	json_t *list = json_array();
	const json_t *w;
	size_t i;

	json_array_foreach(json_object_get(doc, "workers"), i, w)
		if (side_serves(doc, ports, json_integer_value(json_object_get(w, "lcore"))))
			json_array_append_new(list,
					      json_integer((json_int_t)lround(
						      100 * json_number_value(
								    json_object_get(w, "busy")))));
	return list;
}

static json_t *block_json(const json_t *doc, unsigned role, const struct side *s,
			  const struct dperf_memory *m)
{
	const char *protocol = s->tcp ? "tcp" : s->udp ? "udp" : NULL;
	const char *app = s->http ? "http" : s->tcp && !s->flood ? "raw" : NULL;
	return json_pack("{s:s, s:o, s:o, s:o, s:b, s:I, s:o, s:o, s:o}", "role", side_names[role],
			 "ports", ctl_portset_json(&s->ports), "protocol",
			 protocol != NULL ? json_string(protocol) : json_null(), "app",
			 app != NULL ? json_string(app) : json_null(), "single", s->single,
			 "seconds", (json_int_t)(s->ran_ns / SNAP_INTERVAL_NS), "cpuUsage",
			 side_cpus(doc, &s->ports), "second",
			 m->ticks > 1 && m->second[role].any ? side_json(&m->second[role])
							     : json_null(),
			 "total", side_json(s));
}

static int dperf_add(struct app *app, const struct snap *snap, const struct part_arg *arg,
		     json_t *doc, struct err *e)
{
	json_t *list = json_array();
	struct side now[SIDES];

	(void)snap;
	(void)arg;
	(void)e;
	dperf_watch(app);
	json_t *from = sides_read(app, now);
	for (unsigned r = 0; r < SIDES; r++)
		if (now[r].any)
			json_array_append_new(list, block_json(from, r, &now[r], app->dperf));
	json_decref(from);
	json_object_set_new(doc, "dperf", list);
	return 0;
}

const struct snap_part part_dperf = {.name = "dperf", .takes = PART_ALONE, .add = dperf_add};
