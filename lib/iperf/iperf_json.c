/* SPDX-License-Identifier: BSD-3-Clause */
/* Reports as JSON, with iperf3's keys. */
#include "iperf_int.h"

#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

static void put_int(json_t *o, const char *key, int64_t v)
{
	json_object_set_new(o, key, json_integer(v));
}

static void put_real(json_t *o, const char *key, double v)
{
	json_object_set_new(o, key, json_real(v));
}

static void put_bool(json_t *o, const char *key, bool v)
{
	json_object_set_new(o, key, json_boolean(v));
}

static void put_text(json_t *o, const char *key, const char *text)
{
	json_t *v = json_string(text);

	json_object_set_new(o, key, v != NULL ? v : json_string("?"));
}

static void json_event(struct iperf *t, const char *event, json_t *data)
{
	json_t *o = json_object();

	put_text(o, "event", event);
	json_object_set(o, "data", data);
	char *text = json_dumps(o, JSON_COMPACT);
	json_decref(o);
	struct sbuf b = {0};
	sbuf_addf(&b, "%s\n", text != NULL ? text : "{}");
	free(text);
	iperf_out(t, sbuf_str(&b));
	sbuf_free(&b);
}

/* ---- start ---- */

void iperf_json_connected(struct iperf *t, const struct iperf_stream *s)
{
	json_t *o = json_object();
	char text[64];

	put_int(o, "socket", s->socket);
	iperf_host(&s->own, text, sizeof(text));
	put_text(o, "local_host", text);
	put_int(o, "local_port", sock_addr_port(&s->own));
	iperf_host(&s->peer, text, sizeof(text));
	put_text(o, "remote_host", text);
	put_int(o, "remote_port", sock_addr_port(&s->peer));
	json_array_append_new(t->connected, o);
}

static json_t *json_time(void)
{
	json_t *o = json_object();
	struct timespec now;
	struct tm tm;
	char text[64];

	clock_gettime(CLOCK_REALTIME, &now);
	gmtime_r(&now.tv_sec, &tm);
	strftime(text, sizeof(text), "%a, %d %b %Y %H:%M:%S GMT", &tm);
	put_text(o, "time", text);
	put_int(o, "timesecs", now.tv_sec);
	put_int(o, "timemillisecs", now.tv_sec * 1000 + now.tv_nsec / 1000000);
	return o;
}

static json_t *json_test(const struct iperf *t)
{
	const struct iperf_params *p = &t->p;
	json_t *o = json_object();

	put_text(o, "protocol", p->udp ? "UDP" : "TCP");
	put_int(o, "num_streams", p->parallel);
	put_int(o, "blksize", p->blksize);
	put_int(o, "omit", (int64_t)p->omit_s);
	put_int(o, "duration", (int64_t)p->time_s);
	put_int(o, "bytes", (int64_t)p->bytes);
	put_int(o, "blocks", (int64_t)p->blocks);
	put_int(o, "reverse", p->reverse);
	put_int(o, "tos", p->tos);
	put_int(o, "target_bitrate", (int64_t)p->rate);
	put_int(o, "bidir", p->bidir);
	put_int(o, "fqrate", (int64_t)p->fq_rate);
	if (t->o.interval_s == (double)(int64_t)t->o.interval_s)
		put_int(o, "interval", (int64_t)t->o.interval_s);
	else
		put_real(o, "interval", t->o.interval_s);
	put_int(o, "gso", 0);
	put_int(o, "gro", 0);
	return o;
}

static void json_peer(const struct iperf *t, json_t *o)
{
	json_t *peer = json_object();
	char text[64];

	if (t->o.server) {
		iperf_host(&t->ctl_peer, text, sizeof(text));
		put_text(peer, "host", text);
		put_int(peer, "port", sock_addr_port(&t->ctl_peer));
		json_object_set_new(o, "accepted_connection", peer);
	} else {
		put_text(peer, "host", t->o.host);
		put_int(peer, "port", t->o.port);
		json_object_set_new(o, "connecting_to", peer);
	}
}

static int64_t buffer_of(int fd, int which)
{
	int v = 0;
	socklen_t n = sizeof(v);

	return fd >= 0 && getsockopt(fd, SOL_SOCKET, which, &v, &n) == 0 ? v : 0;
}

static void json_system(json_t *o)
{
	struct utsname u;
	struct sbuf b = {0};

	if (uname(&u) == 0)
		sbuf_addf(&b, "%s %s %s %s %s", u.sysname, u.nodename, u.release, u.version,
			  u.machine);
	put_text(o, "version", "iperf 3.21 (wirerate)");
	put_text(o, "system_info", sbuf_str(&b));
	sbuf_free(&b);
}

void iperf_json_start(struct iperf *t)
{
	json_t *o = t->start;
	int fd = t->n > 0 ? t->stream[0].fd : -1;

	json_object_set(o, "connected", t->connected);
	json_system(o);
	json_object_set_new(o, "timestamp", json_time());
	json_peer(t, o);
	put_text(o, "cookie", t->ctl.cookie);
	if (!t->p.udp && t->p.mss != 0)
		put_int(o, "tcp_mss", t->p.mss);
	else if (!t->p.udp)
		put_int(o, "tcp_mss_default", t->ctl_mss);
	put_int(o, "target_bitrate", (int64_t)t->p.rate);
	put_int(o, "fq_rate", (int64_t)t->p.fq_rate);
	put_int(o, "sock_bufsize", t->p.window);
	put_int(o, "sndbuf_actual", buffer_of(fd, SO_SNDBUF));
	put_int(o, "rcvbuf_actual", buffer_of(fd, SO_RCVBUF));
	json_object_set_new(o, "test_start", json_test(t));
	if (t->o.json_stream)
		json_event(t, "start", o);
}

/* ---- intervals ---- */

/* The keys that all have: times, bytes and their rate. */
static json_t *json_common(const struct iperf_part *p)
{
	json_t *o = json_object();
	double s = p->end_s - p->start_s;

	if (p->s != NULL)
		put_int(o, "socket", p->s->socket);
	put_real(o, "start", p->start_s);
	put_real(o, "end", p->end_s);
	put_real(o, "seconds", s);
	put_int(o, "bytes", (int64_t)p->bytes);
	put_real(o, "bits_per_second", s > 0 ? (double)p->bytes * 8 / s : 0);
	return o;
}

static void json_loss(json_t *o, const struct iperf_part *p)
{
	put_real(o, "jitter_ms", p->jitter_s * 1000);
	put_int(o, "lost_packets", p->lost);
	put_int(o, "packets", (int64_t)p->packets);
	put_real(o, "lost_percent",
		 p->packets > 0 ? 100.0 * (double)p->lost / (double)p->packets : 0);
}

static json_t *json_part(const struct iperf *t, const struct iperf_part *p)
{
	json_t *o = json_common(p);

	if (t->p.udp && !p->sends) {
		json_loss(o, p);
	} else if (t->p.udp) {
		put_int(o, "packets", (int64_t)p->packets);
	} else if (p->sends) {
		put_int(o, "retransmits", p->retransmits);
		if (p->s != NULL) {
			const struct iperf_now *now = &p->s->now;
			put_int(o, "snd_cwnd", now->cwnd);
			put_int(o, "snd_wnd", now->snd_wnd);
			put_int(o, "rtt", now->rtt_us);
			put_int(o, "pmtu", now->pmtu);
			if (t->port == NULL) { /* our own TCP does not keep them */
				put_int(o, "rttvar", now->rttvar_us);
				put_int(o, "reorder", now->reorder);
			}
		}
	}
	put_bool(o, "omitted", p->omitted);
	put_bool(o, "sender", p->sends);
	return o;
}

/* The direction whose sum has the plain names: that of a client's own sending, if it sends. */
static bool first_sends(const struct iperf *t)
{
	return t->p.bidir ? !t->o.server : t->o.server == t->p.reverse;
}

void iperf_json_parts(struct iperf *t, const struct iperf_part *p, unsigned n)
{
	json_t *o = json_object(), *streams = json_array();
	bool sends = first_sends(t);

	for (unsigned i = 0; i < n; i++)
		json_array_append_new(streams, json_part(t, &p[i]));
	json_object_set_new(o, "streams", streams);
	struct iperf_part sum = iperf_sum(p, n, sends);
	json_object_set_new(o, "sum", json_part(t, &sum));
	if (t->p.bidir) {
		sum = iperf_sum(p, n, !sends);
		json_object_set_new(o, "sum_bidir_reverse", json_part(t, &sum));
	}
	if (t->o.json_stream)
		json_event(t, "interval", o);
	if (t->o.json_stream && !t->p.get_output)
		json_decref(o);
	else
		json_array_append_new(t->intervals, o);
}

/* ---- end ---- */

static json_t *json_tcp_half(const struct iperf *t, const struct iperf_stream *s, bool sender)
{
	struct iperf_part p = iperf_total(t, s, sender);
	json_t *o = json_common(&p);

	if (sender && (s->sends || !t->o.server)) {
		put_int(o, "retransmits", p.retransmits);
		if (t->port == NULL)
			put_int(o, "reorder", s->now.reorder);
		put_int(o, "max_snd_cwnd", s->max_cwnd);
		put_int(o, "max_snd_wnd", s->max_wnd);
		put_int(o, "max_rtt", s->max_rtt);
		put_int(o, "min_rtt", s->min_rtt);
		put_int(o, "mean_rtt", s->nrtt > 0 ? (int64_t)(s->sum_rtt / s->nrtt) : 0);
	}
	put_bool(o, "sender", s->sends);
	return o;
}

static json_t *json_stream(const struct iperf *t, const struct iperf_stream *s)
{
	json_t *o = json_object();

	if (!t->p.udp) {
		json_object_set_new(o, "sender", json_tcp_half(t, s, true));
		json_object_set_new(o, "receiver", json_tcp_half(t, s, false));
		return o;
	}
	struct iperf_part sent = iperf_total(t, s, true), got = iperf_total(t, s, false);
	json_t *udp = json_common(&sent);
	got.packets = got.packets > 0 ? got.packets : sent.packets;
	json_loss(udp, &got);
	put_int(udp, "out_of_order", (int64_t)got.unordered);
	put_bool(udp, "sender", s->sends);
	json_object_set_new(o, "udp", udp);
	return o;
}

static json_t *json_sum(const struct iperf *t, bool sends, bool sender)
{
	struct iperf_part half[IPERF_ALL];

	for (unsigned i = 0; i < t->n; i++)
		half[i] = iperf_total(t, &t->stream[i], sender);
	struct iperf_part sum = iperf_sum(half, t->n, sends);
	json_t *o = json_common(&sum);
	if (t->p.udp)
		json_loss(o, &sum);
	else if (sender && (sends || !t->o.server))
		put_int(o, "retransmits", sum.retransmits);
	put_bool(o, "sender", t->p.udp ? sender : sends);
	return o;
}

/* UDP has a sum of both halves, too. */
static json_t *json_udp_sum(const struct iperf *t, bool sends)
{
	json_t *o = json_sum(t, sends, true), *got = json_sum(t, sends, false);
	static const char *const keys[] = {"end", "seconds", "jitter_ms", "lost_packets",
					   "lost_percent"};

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		json_object_set(o, keys[i], json_object_get(got, keys[i]));
	put_bool(o, "sender", sends);
	json_decref(got);
	return o;
}

static json_t *json_cpu(const struct iperf *t)
{
	json_t *o = json_object();
	double here[3];

	iperf_cpu(t, here);
	put_real(o, "host_total", here[0]);
	put_real(o, "host_user", here[1]);
	put_real(o, "host_system", here[2]);
	put_real(o, "remote_total", t->there.cpu[0]);
	put_real(o, "remote_user", t->there.cpu[1]);
	put_real(o, "remote_system", t->there.cpu[2]);
	return o;
}

/* A server names its own alone, as iperf3 does. */
static void json_congestion(const struct iperf *t, json_t *o)
{
	bool here_sends = first_sends(t) || t->p.bidir;
	const char *here = t->congestion, *there = t->o.server ? "" : t->there.congestion;
	const char *sender = here_sends ? here : there, *receiver = here_sends ? there : here;

	if (sender[0] != '\0')
		put_text(o, "sender_tcp_congestion", sender);
	if (receiver[0] != '\0')
		put_text(o, "receiver_tcp_congestion", receiver);
}

void iperf_json_end(struct iperf *t)
{
	json_t *o = t->finish, *streams = json_array();
	bool sends = first_sends(t);

	for (unsigned i = 0; i < t->n; i++)
		json_array_append_new(streams, json_stream(t, &t->stream[i]));
	json_object_set_new(o, "streams", streams);
	if (t->p.udp)
		json_object_set_new(o, "sum", json_udp_sum(t, sends));
	json_object_set_new(o, "sum_sent", json_sum(t, sends, true));
	json_object_set_new(o, "sum_received", json_sum(t, sends, false));
	if (t->p.bidir) {
		if (t->p.udp)
			json_object_set_new(o, "sum_bidir_reverse", json_udp_sum(t, !sends));
		json_object_set_new(o, "sum_sent_bidir_reverse", json_sum(t, !sends, true));
		json_object_set_new(o, "sum_received_bidir_reverse", json_sum(t, !sends, false));
	}
	json_object_set_new(o, "cpu_utilization_percent", json_cpu(t));
	if (!t->p.udp)
		json_congestion(t, o);
	if (t->carrier != NULL)
		json_object_set(o, "carrier", t->carrier);
	if (!t->o.json_stream || t->o.server)
		return;
	if (t->there.output_json != NULL)
		json_event(t, "server_output_json", t->there.output_json);
	if (t->there.output_text != NULL) {
		json_t *text = json_string(t->there.output_text);
		json_event(t, "server_output_text", text);
		json_decref(text);
	}
}

json_t *iperf_json_document(struct iperf *t)
{
	json_t *o = json_object();

	json_object_set(o, "start", t->start);
	json_object_set(o, "intervals", t->intervals);
	json_object_set(o, "end", t->finish);
	if (t->p.title[0] != '\0')
		put_text(o, "title", t->p.title);
	if (t->p.extra[0] != '\0')
		put_text(o, "extra_data", t->p.extra);
	if (!t->o.server && t->there.output_json != NULL)
		json_object_set(o, "server_output_json", t->there.output_json);
	if (!t->o.server && t->there.output_text != NULL)
		put_text(o, "server_output_text", t->there.output_text);
	if (t->why.text[0] != '\0')
		put_text(o, "error", t->why.text);
	return o;
}

void iperf_json_print(struct iperf *t)
{
	if (t->o.json_stream) {
		if (t->why.text[0] != '\0') {
			json_t *text = json_string(t->why.text);
			json_event(t, "error", text);
			json_decref(text);
		}
		json_event(t, "end", t->finish);
		return;
	}
	if (json_object_get(t->start, "version") == NULL) {
		json_object_set(t->start, "connected", t->connected);
		json_system(t->start);
	}
	json_t *o = iperf_json_document(t);
	if (t->o.wrapped) {
		json_t *outer = json_object();
		json_object_set_new(outer, "iperf3", o);
		o = outer;
	}
	char *text = json_dumps(o, t->o.wrapped ? JSON_COMPACT : JSON_INDENT(2));
	struct sbuf b = {0};
	sbuf_addf(&b, "%s\n", text != NULL ? text : "{}");
	free(text);
	json_decref(o);
	iperf_out(t, sbuf_str(&b));
	sbuf_free(&b);
}
