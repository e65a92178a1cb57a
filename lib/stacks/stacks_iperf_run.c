/* SPDX-License-Identifier: BSD-3-Clause */
/* A run of iperf3: each end is a process with the verb of this name, and what has been measured is
 * in the client's document, which has the server's results, too. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "out.h"
#include "stacks_run.h"

#define READY_MS 30000
#define MORE_MS 30000 /* than the test itself, for its begin and its end */

/* ---- beginning ---- */

/* Until it has printed a line that has this in it. */
static int iperf_await(struct stacks_end *x, const char *what, struct err *e)
{
	bool there = false;
	int rc = 0;

	while (rc == 0 && !there) {
		char *line = stacks_end_line(x);
		there = line != NULL && strstr(line, what) != NULL;
		if (line == NULL)
			rc = stacks_ends_wait(&x, 1, READY_MS, e);
		free(line);
	}
	if (rc == -ETIMEDOUT)
		err_set(e, ETIMEDOUT, "an end of iperf3 is not ready within %d s", READY_MS / 1000);
	return rc;
}

static int iperf_await_sending(struct stacks_end *x, struct err *e)
{
	return iperf_await(x, "\"state\":\"sending\"", e);
}

int stacks_iperf_port_there(struct stacks *s, struct err *e)
{
	return iperf_await(&s->asks, "\"event\":\"start\"", e);
}

int stacks_iperf_serve(struct stacks_end *x, int ns, int cpu, unsigned port, struct err *e)
{
	char words[64];

	/* a line for each second would be too much for a pipe that nobody reads */
	snprintf(words, sizeof(words), "iperf3 -s -1 -i 0 -p %u", port);
	x->term = true;
	int rc = stacks_end_words(x, ns, cpu, words, e);
	return rc < 0 ? rc : iperf_await(x, "Server listening", e);
}

static void iperf_words(const struct stacks *s, const char *host, struct sbuf *out)
{
	sbuf_add(out, "iperf3 -i 0 ");
	stacks_iperf_options(s->o, out);
	sbuf_addf(out, " -c %s -p %u", host, stacks_run_port(s->o));
}

int stacks_iperf_ask(struct stacks *s, int ns, const char *host, struct err *e)
{
	struct sbuf words = {0};

	sbuf_add(&words, "--json ");
	iperf_words(s, host, &words);
	s->asks.term = true;
	int rc = stacks_end_words(&s->asks, ns, s->o->cpu[1], sbuf_str(&words), e);
	sbuf_free(&words);
	return rc;
}

/* Connections of iperf3 have the least time of the port's first stream. */
#define SET_RTO "set 0 flow.rto %dms; "

void stacks_iperf_ask_port(struct stacks *s, const char *host)
{
	struct sbuf text = {0};

	sbuf_addf(&text, SET_RTO, STACKS_RTO_MS);
	iperf_words(s, host, &text);
	stacks_end_say(&s->asks, sbuf_str(&text));
	sbuf_free(&text);
}

/* Each has its worker on the CPU of its end, and its control on the other one, which has little to
 * do. The socket by which they find each other is of a network namespace, and no file. */
int stacks_iperf_memif(struct stacks *s, struct err *e)
{
	const struct stacks_opts *o = s->o;
	const int back[2] = {o->cpu[1], o->cpu[0]};
	struct stacks_program p = {.ns = s->net.own,
				   .cpu = back,
				   .spec = "memif:role=server,id=0",
				   .ip = STACKS_PEER_IP "/24",
				   .map = "1.0",
				   .mtu = o->mtu,
				   .nports = 1,
				   .events = true};
	char text[96];

	s->asks.term = s->serves.term = true;
	int rc = stacks_end_port(&s->serves, &p, e);
	if (rc < 0)
		return rc;
	snprintf(text, sizeof(text), SET_RTO "iperf3 -s -1 -i 0 -p %u", STACKS_RTO_MS,
		 stacks_run_port(o));
	stacks_end_say(&s->serves, text);
	p.cpu = o->cpu;
	p.spec = "memif:role=client,id=0";
	p.ip = STACKS_OWN_IP "/24";
	rc = stacks_end_port(&s->asks, &p, e);
	rc = rc < 0 ? rc : iperf_await_sending(&s->serves, e);
	if (rc == 0)
		stacks_iperf_ask_port(s, STACKS_PEER_IP);
	snprintf(s->device, sizeof(s->device), "memif");
	return rc;
}

/* ---- while it runs ---- */

/* What the workers of a program with a port did in the second before. */
struct iperf_tick {
	double wall_ns, busy;
};
struct iperf_side {
	struct stacks_end *end;
	struct iperf_tick *tick;
	unsigned n, room;
	json_t *doc; /* its result; NULL: not yet */
};

static void side_tick(struct iperf_side *d, const json_t *event)
{
	const json_t *w, *stats = json_object_get(event, "stats");
	double busy = 0;
	size_t i;

	json_array_foreach(json_object_get(stats, "workers"), i, w)
		busy += json_number_value(json_object_get(w, "busy"));
	if (d->n == d->room) {
		d->room = d->room == 0 ? 64 : 2 * d->room;
		d->tick = xrealloc(d->tick, d->room * sizeof(*d->tick));
	}
	d->tick[d->n++] =
		(struct iperf_tick){.wall_ns = json_number_value(json_object_get(stats, "wall_ns")),
				    .busy = busy};
}

/* A line of events, or the one document of a client on sockets. */
static void side_line(struct iperf_side *d, const char *line)
{
	json_t *doc = json_loads(line, 0, NULL), *found = json_object_get(doc, "iperf3");
	const char *event = json_string_value(json_object_get(doc, "event"));

	if (event != NULL && strcmp(event, "interval") == 0)
		side_tick(d, doc);
	else if (event != NULL && strcmp(event, "result") == 0)
		found = json_object_get(json_array_get(json_object_get(doc, "results"), 0),
					"iperf3");
	if (found != NULL && d->doc == NULL)
		d->doc = json_incref(found);
	json_decref(doc);
}

static void side_lines(struct iperf_side *d)
{
	char *line;

	while ((line = stacks_end_line(d->end)) != NULL) {
		side_line(d, line);
		free(line);
	}
}

static int side_error(const struct iperf_side *d, struct err *e)
{
	const char *why = json_string_value(json_object_get(d->doc, "error"));

	return why == NULL ? 0 : err_set(e, EPIPE, "iperf3: %s", why);
}

static int iperf_wait(struct stacks *s, struct iperf_side side[2], struct err *e)
{
	uint64_t test_ms = s->o->duration_ns / 1000000 + s->o->iperf.omit_s * 1000;
	uint64_t end = sock_now_ns() + (test_ms + MORE_MS) * 1000000;
	struct stacks_end *list[2] = {&s->asks, &s->serves};
	unsigned n = s->serves.pid > 0 ? 2 : 1;
	int rc = 0;

	side[0].end = list[0];
	side[1].end = list[1];
	while (rc == 0 && side[0].doc == NULL) {
		rc = stacks_ends_wait(list, n, 1000, e);
		rc = rc == -ETIMEDOUT ? 0 : rc;
		for (unsigned i = 0; i < n; i++)
			side_lines(&side[i]);
		if (rc == 0 && side[0].doc == NULL && sock_now_ns() > end)
			rc = err_set(e, ETIMEDOUT, "iperf3, %s: no result within %llu s",
				     stacks_arm_name[s->arm],
				     (unsigned long long)(test_ms + MORE_MS) / 1000);
	}
	/* who ends says why, in the document itself if there is one */
	if (side[0].doc != NULL)
		rc = side_error(&side[0], e);
	return rc;
}

/* ---- what has come of it ---- */

/* The share of a second that workers were busy, over the whole seconds of a span; NAN: it had
 * none. */
static double side_busy(const struct iperf_side *d, double begin_ns, double end_ns)
{
	double sum = 0;
	unsigned n = 0;

	for (unsigned i = 0; i < d->n; i++)
		if (d->tick[i].wall_ns - 1e9 >= begin_ns && d->tick[i].wall_ns <= end_ns) {
			sum += d->tick[i].busy;
			n++;
		}
	return n == 0 ? (double)NAN : sum / n;
}

static double number_of(const json_t *doc, const char *path)
{
	const json_t *v = out_get(doc, path);

	return json_is_number(v) ? json_number_value(v) : (double)NAN;
}

/* A sum of the test, of both directions if it has two. */
static double sum_of(const struct stacks_iperf *i, const json_t *doc, const char *sum,
		     const char *key)
{
	char path[96];
	double v;

	snprintf(path, sizeof(path), "end.%s.%s", sum, key);
	v = number_of(doc, path);
	snprintf(path, sizeof(path), "end.%s_bidir_reverse.%s", sum, key);
	return i->bidir ? v + number_of(doc, path) : v;
}

static void found_datagrams(const struct stacks_iperf *i, const json_t *doc,
			    struct stacks_found *out)
{
	out->datagrams = sum_of(i, doc, "sum", "packets");
	out->lost = sum_of(i, doc, "sum", "lost_packets");
	out->jitter_ns = sum_of(i, doc, "sum", "jitter_ms") * 1e6 / (i->bidir ? 2 : 1);
	out->resent = (double)NAN;
}

/* Of an end: on sockets it is busy while it has a CPU. NAN: nobody knows. */
static double found_cycles(const struct stacks *s, const struct iperf_side *d, const json_t *doc,
			   double cpu_ns, double seconds)
{
	const struct stacks_end *x = d->end;
	double begin_ns = number_of(doc, "start.timestamp.timemillisecs") * 1e6 +
			  (double)s->o->iperf.omit_s * 1e9;

	if (x->to < 0)
		return (double)NAN;
	return x->port ? side_busy(d, begin_ns, begin_ns + seconds * 1e9) * seconds * x->hz
		       : cpu_ns / 1e9 * x->hz;
}

static void iperf_found(const struct stacks *s, const struct iperf_side side[2],
			struct stacks_found *out)
{
	const struct stacks_iperf *i = &s->o->iperf;
	const json_t *doc = side[0].doc;
	/* each end has CPU shares of its own time */
	double sent_s = number_of(doc, "end.sum_sent.seconds");
	double came_s = number_of(doc, "end.sum_received.seconds");
	double here_s = i->reverse ? came_s : sent_s, there_s = i->reverse ? sent_s : came_s;
	double here = number_of(doc, "end.cpu_utilization_percent.host_total") * here_s * 1e7;
	double there = number_of(doc, "end.cpu_utilization_percent.remote_total") * there_s * 1e7;

	*out = (struct stacks_found){.ns = came_s * 1e9,
				     .moved = sum_of(i, doc, "sum_received", "bytes"),
				     .sent_bps = sum_of(i, doc, "sum_sent", "bits_per_second"),
				     .came_bps = sum_of(i, doc, "sum_received", "bits_per_second"),
				     .done = (double)NAN,
				     .bad = (double)NAN,
				     .resent = sum_of(i, doc, "sum_sent", "retransmits"),
				     .datagrams = (double)NAN,
				     .lost = (double)NAN,
				     .jitter_ns = (double)NAN,
				     .cpu_ns = here + there};
	out->cycles = found_cycles(s, &side[0], doc, here, here_s) +
		      found_cycles(s, &side[1], doc, there, there_s);
	if (i->udp)
		found_datagrams(i, doc, out);
}

/* Arms that differ in more than their stacks would be compared in vain. */
static int iperf_same(const struct stacks *s, const json_t *doc, struct err *e)
{
	static const char *const ends[] = {"end.sender_tcp_congestion",
					   "end.receiver_tcp_congestion"};
	double rto_s = number_of(doc, "end.carrier.rto_floor");

	for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
		const char *has = json_string_value(out_get(doc, ends[i]));
		if (has != NULL && strcmp(has, s->o->iperf.congestion) != 0)
			return err_set(e, EPROTO,
				       "iperf3, %s: an end has congestion control %s, and not %s",
				       stacks_arm_name[s->arm], has, s->o->iperf.congestion);
	}
	/* the kernel's is that of its routes, which nobody tells */
	if (s->asks.port && !s->o->iperf.udp && llround(rto_s * 1e3) != STACKS_RTO_MS)
		return err_set(e, EPROTO,
			       "iperf3, %s: the port sends again after %.0f ms at least, and not "
			       "after %d",
			       stacks_arm_name[s->arm], rto_s * 1e3, STACKS_RTO_MS);
	return 0;
}

int stacks_iperf_measure(struct stacks *s, struct stacks_found *out, struct err *e)
{
	struct iperf_side side[2] = {{0}, {0}};
	int rc = iperf_wait(s, side, e);

	rc = rc < 0 ? rc : iperf_same(s, side[0].doc, e);
	if (rc == 0)
		iperf_found(s, side, out);
	if (rc == 0 && !(out->ns > 0 && isfinite(out->moved)))
		rc = err_set(e, EPROTO, "iperf3: a result without the sums of both ends");
	for (unsigned i = 0; i < ARRAY_SIZE(side); i++) {
		free(side[i].tick);
		json_decref(side[i].doc);
	}
	return rc;
}
