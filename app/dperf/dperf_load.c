/* SPDX-License-Identifier: BSD-3-Clause */
/* One port of a file in commands: what connections do, and how many there are. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dperf_int.h"

#define WAIT_SECONDS 3
#define SLOW_START_SECONDS 30
#define RETRIES 3
/* What settings of requests take at most: docs/flows.md. */
#define PATH_MOST 240
#define HEADER_MOST 1015
#define UDP_LEAST 8
#define SMALL_BODY 14 /* of dperf's response without a size */

uint64_t dperf_wait(const struct dperf_conf *c)
{
	return dperf_number(c, DPERF_WAIT, WAIT_SECONDS);
}

uint64_t dperf_slow_start(const struct dperf_conf *c)
{
	return dperf_number(c, DPERF_SLOW_START, SLOW_START_SECONDS);
}

uint64_t dperf_worker_share(const struct dperf_conf *c, unsigned worker, uint64_t all)
{
	uint64_t each = all / c->cpus;

	/* fewer than CPUs: so many CPUs have one each, as in dperf */
	if (each == 0)
		return worker < all;
	return each + (worker == 0 ? all % c->cpus : 0);
}

void dperf_plain(double n, const char *unit, struct sbuf *out)
{
	sbuf_addf(out, n < 1e9 ? "%.9g%s" : "%.0f%s", n, unit);
}

uint64_t dperf_share(const struct dperf_say *s, uint64_t all)
{
	uint64_t n = 0;

	for (unsigned q = 0; q < s->queues; q++)
		n += dperf_worker_share(s->c, s->i * s->queues + q, all);
	return n;
}

void dperf_ramp(const struct dperf_say *s, double rate, const char *unit, struct sbuf *out)
{
	uint64_t wait = dperf_wait(s->c), slow = dperf_slow_start(s->c);

	if (wait + 1 >= slow) {
		dperf_plain(rate, unit, out);
		return;
	}
	double step = rate / (double)slow;
	dperf_plain(step * (double)(wait + 1), unit, out);
	sbuf_add(out, "..");
	dperf_plain(rate, unit, out);
	sbuf_add(out, " step ");
	dperf_plain(step, unit, out);
	sbuf_add(out, " every 1s");
}

/* Nothing is kept alive, and the client does not reset: then the server closes. */
static bool load_closes(const struct dperf_say *s)
{
	return !dperf_has(s->c, DPERF_KEEPALIVE) && !dperf_has(s->c, DPERF_FAST_CLOSE) &&
	       (s->peer == NULL || !dperf_has(s->peer, DPERF_KEEPALIVE));
}

/* The same of a server, by its client's file if there is one. */
static bool load_server_closes(const struct dperf_say *s)
{
	const struct dperf_say client = {.c = s->peer, .peer = s->c};

	return s->peer == NULL ? !dperf_has(s->c, DPERF_KEEPALIVE) : load_closes(&client);
}

/* The sizes of a file: of a server with several all of them, in equal parts. */
static void load_sizes(const struct dperf_conf *c, uint64_t (*size)(uint64_t), struct sbuf *out)
{
	const struct dperf_line *l = dperf_find(c, DPERF_PAYLOAD_SIZE, 0);
	unsigned n = l != NULL ? l->n : 1;

	for (unsigned i = 0; i < n; i++)
		sbuf_addf(out, "%s%llu%s", i > 0 ? "," : "",
			  (unsigned long long)size(l != NULL ? l->v[i].n : 0), n > 1 ? ":1" : "");
}

/* The body of a response of n bytes in all: 55 bytes of its head, and the digits of its length. */
static uint64_t load_body(uint64_t n)
{
	uint64_t body = n;

	if (n == 0)
		return SMALL_BODY;
	for (unsigned digits = 1; digits <= 10; digits++) {
		char text[24];
		body = n - 55 - digits;
		if (snprintf(text, sizeof(text), "%llu", (unsigned long long)body) <= (int)digits)
			break;
	}
	return body;
}

/* The same where the head says that the server closes. */
static uint64_t load_last_body(uint64_t n)
{
	return n == 0 ? SMALL_BODY : load_body(n - strlen("Connection: close\r\n"));
}

static uint64_t load_datagram(uint64_t n)
{
	return n < UDP_LEAST ? UDP_LEAST : n;
}

/* The same without the number of a request in it: dperf's own may be empty, and none is here. */
static uint64_t load_plain_datagram(uint64_t n)
{
	return n > 0 ? n : 1;
}

static uint64_t load_bytes(uint64_t n)
{
	return n > 0 ? n : DPERF_HTTP_LEAST;
}

static void load_fill(const struct dperf_say *s, uint64_t path, uint64_t header)
{
	struct sbuf b = {0};

	for (uint64_t i = 0; i < path; i++)
		sbuf_addc(&b, 'a');
	if (path > 0)
		dperf_set(s, DPERF_PAYLOAD_SIZE, "http.path /%s", sbuf_str(&b));
	sbuf_reset(&b);
	for (uint64_t i = 0; i < header; i++)
		sbuf_addc(&b, 'a');
	if (header > 0)
		dperf_set(s, DPERF_PAYLOAD_SIZE, "http.header \"X-Fill: %s\"", sbuf_str(&b));
	sbuf_free(&b);
}

/* A host or path, which a setting takes for a list of several with weights: what looks like a
 * weight in the file gets one behind it, and so does what is a word of the setting, but nothing
 * makes a comma a part of one. */
static void load_choice(const struct dperf_say *s, enum dperf_id id, const char *setting,
			const char *text)
{
	bool host = id == DPERF_HTTP_HOST;
	const char *end = host ? strchr(text, ']') : NULL;
	const struct dperf_line *l = dperf_find(s->c, id, 0);
	struct sbuf b = {0};
	unsigned colons = 0;

	for (const char *at = end != NULL ? end : text; *at != '\0'; at++)
		colons += *at == ':';
	if (strchr(text, ',') != NULL && s->i == 0)
		dperf_fail(s->wrong, l->line, l->v[0].col + (unsigned)strcspn(text, ","),
			   "%s: '%.60s' has a comma, which stands between several of them in "
			   "'%s' here; allowed: one without a comma%s",
			   dperf_directives[id].name, text, setting,
			   host ? "" : ", which can be written as %2C");
	sbuf_add(&b, text);
	if (host ? colons > 1 || strcmp(text, "address") == 0 : colons > 0)
		sbuf_add(&b, host ? "::1" : ":1");
	dperf_set_word(s, id, setting, sbuf_str(&b));
	sbuf_free(&b);
}

/* A request of n bytes. One without a size is as it is. */
static void load_request(const struct dperf_say *s, uint64_t n, const char *host, bool closes)
{
	bool post = dperf_number(s->c, DPERF_HTTP_METHOD, 0) == 1;
	const struct dperf_line *path = dperf_find(s->c, DPERF_HTTP_PATH, 0);
	uint64_t head =
		strlen("GET / HTTP/1.1\r\nHost: \r\nUser-Agent: wirerate\r\nAccept: */*\r\n\r\n") +
		strlen(host) + (closes ? strlen("Connection: close\r\n") : 0);

	if (!post && n > head + PATH_MOST + strlen("X-Fill: \r\n") + HEADER_MOST) {
		sbuf_addf(
			s->out,
			"# payload_size: a GET cannot be of %llu bytes here, so the request is a POST of "
			"that size\n",
			(unsigned long long)n);
		post = true;
	}
	if (path != NULL)
		load_choice(s, DPERF_HTTP_PATH, "http.path", path->v[0].text);
	if (post) {
		uint64_t body = n > head + 1 + strlen("Content-Length: 1000\r\n")
					? n - head - 1 - strlen("Content-Length: \r\n")
					: 1;
		for (uint64_t at = body; at > 0; at /= 10)
			body--;
		dperf_set(s, DPERF_HTTP_METHOD, "http.method POST");
		dperf_set(s, DPERF_PAYLOAD_SIZE, "request %llu", (unsigned long long)body);
		return;
	}
	if (n <= head)
		return;
	uint64_t fill = n - head, in_path = fill < PATH_MOST ? fill : PATH_MOST;
	uint64_t rest = fill - in_path, least = strlen("X-Fill: \r\n") + 1;
	if (rest > 0 && rest < least) {
		in_path -= least - rest;
		rest = least;
	}
	load_fill(s, in_path, rest > 0 ? rest - least + 1 : 0);
}

/* Datagrams of a pair one of which is a file have no number, so the other one may be shorter than
 * one. */
static bool load_plain(const struct dperf_say *s)
{
	return s->c->udp && (dperf_payload_file(s->c) != NULL ||
			     (s->peer != NULL && dperf_payload_file(s->peer) != NULL));
}

/* The size of what one end sends; of: its file, NULL: it is not known, and taken to be like this
 * one. Where that end sends a file nothing needs to be said, and over UDP what comes may have any
 * size. */
static void load_raw_size(const struct dperf_say *s, const struct dperf_conf *of,
			  const char *setting)
{
	const struct dperf_conf *like = of != NULL ? of : s->c;
	struct sbuf size = {0};

	if (dperf_payload_file(like) == NULL)
		load_sizes(like,
			   load_plain(s) ? load_plain_datagram
			   : s->c->udp   ? load_datagram
					 : load_bytes,
			   &size);
	else if (of == NULL && !s->c->udp)
		sbuf_addf(&size, "%u", like->payload_bytes);
	if (size.len > 0)
		dperf_set(s, DPERF_PAYLOAD_SIZE, "%s %s", setting, size.s);
	sbuf_free(&size);
}

/* What is to be known about sizes. */
static void load_raw_notes(const struct dperf_say *s, bool file)
{
	const char *other = s->c->server ? "client" : "server";

	if (s->peer == NULL && file && s->c->udp)
		sbuf_addf(s->out,
			  "# payload_file: what the %s sends is not known, so that it may be any "
			  "datagram\n",
			  other);
	else if (s->peer == NULL)
		sbuf_addf(
			s->out,
			"# payload_%s: both ends must have the same sizes; the %s is taken to have "
			"%s\n",
			file ? "file" : "size", other,
			file ? "that of this file" : "those of this file");
	uint64_t size = dperf_number(s->c, DPERF_PAYLOAD_SIZE, 0);
	uint64_t least = load_plain(s) ? load_plain_datagram(size) : load_datagram(size);
	if (s->c->udp && !file && size < least)
		sbuf_addf(s->out, "# payload_size: a datagram of a flow has %llu byte%s at least\n",
			  (unsigned long long)least, least > 1 ? "s" : "");
}

static void load_raw(const struct dperf_say *s)
{
	const struct dperf_line *l = dperf_find(s->c, DPERF_PAYLOAD_SIZE, 0);

	if (s->i == 0)
		load_raw_notes(s, dperf_payload_file(s->c) != NULL);
	if (l != NULL && l->n > 1 && s->i == 0)
		dperf_fail(
			s->wrong, l->line, l->v[1].col,
			"payload_size: several sizes below %d, or over UDP, cannot be: both ends of a "
			"connection must know what is to come; give one",
			DPERF_HTTP_LEAST);
	dperf_set(s, DPERF_PROTOCOL, "app bytes");
	load_raw_size(s, s->c->server ? s->peer : s->c, "request");
	load_raw_size(s, s->c->server ? s->c : s->peer, "response");
	dperf_say_files(s);
}

void dperf_say_payload(const struct dperf_say *s)
{
	uint64_t n = dperf_number(s->c, DPERF_PAYLOAD_SIZE, 0);
	const struct dperf_line *host = dperf_find(s->c, DPERF_HTTP_HOST, 0);
	struct sbuf response = {0};

	if (!dperf_is_http(s->c) || (s->peer != NULL && !dperf_is_http(s->peer))) {
		load_raw(s);
		return;
	}
	dperf_set(s, DPERF_PROTOCOL, "app http");
	dperf_say_files(s);
	if (dperf_payload_file(s->c) != NULL)
		return;
	if (s->c->server) {
		load_sizes(s->c, load_server_closes(s) ? load_last_body : load_body, &response);
		dperf_set(s, DPERF_PAYLOAD_SIZE, "response %s", response.s);
		sbuf_free(&response);
		return;
	}
	const char *name = host != NULL ? host->v[0].text : "dperf";
	load_choice(s, DPERF_HTTP_HOST, "http.host", name);
	load_request(s, n, name, load_closes(s));
}

/* Who closes: the server where nothing is to be kept alive, as a server of dperf does. A client of
 * raw bytes cannot ask a stranger for that, and closes by itself. */
static void load_close(const struct dperf_say *s)
{
	bool asks =
		s->peer != NULL || (dperf_payload_file(s->c) != NULL ? dperf_payload_closes(s->c)
								     : dperf_is_http(s->c));

	if (s->c->udp)
		return;
	if (dperf_has(s->c, DPERF_FAST_CLOSE))
		dperf_set(s, DPERF_FAST_CLOSE, "close rst client");
	else if (s->c->server ? load_server_closes(s) : load_closes(s) && asks)
		dperf_set(s, DPERF_KEEPALIVE, "close fin server");
	else
		dperf_set(s, DPERF_KEEPALIVE, "close fin client");
}

static void load_keepalive(const struct dperf_say *s, const struct dperf_line *keep)
{
	static const char *const units[] = {"ns", "us", "ms", "s"};
	uint64_t requests = keep->n > 1 ? keep->v[1].n : 0;

	if (requests > 0)
		dperf_set(s, DPERF_KEEPALIVE, "transactions %llu", (unsigned long long)requests);
	else
		dperf_set(s, DPERF_KEEPALIVE, "transactions forever");
	uint64_t n = keep->v[0].n;
	unsigned unit = 0;
	while (unit < 3 && n % 1000 == 0 && n > 0) {
		n /= 1000;
		unit++;
	}
	dperf_set(s, DPERF_KEEPALIVE, "think %llu%s", (unsigned long long)n, units[unit]);
}

uint64_t dperf_least(const struct dperf_say *s, enum dperf_id id, uint64_t otherwise)
{
	uint64_t n = dperf_share(s, dperf_number(s->c, id, otherwise));

	if (n > 0)
		return n;
	sbuf_addf(s->out, "# %s: there are more ports than that; each has 1 at least\n",
		  dperf_directives[id].name);
	return 1;
}

void dperf_say_load(const struct dperf_say *s)
{
	const struct dperf_line *keep = dperf_find(s->c, DPERF_KEEPALIVE, 0);
	const struct dperf_line *pipeline = dperf_find(s->c, DPERF_PIPELINE, 0);
	const struct dperf_line *rto = dperf_find(s->c, DPERF_RETRANSMIT_TIMEOUT, 0);
	const struct dperf_line *mss = dperf_find(s->c, DPERF_MSS, 0);

	load_close(s);
	if (mss != NULL && !s->c->udp)
		dperf_set(s, DPERF_MSS, "flow.mss %s", mss->v[0].text);
	if (rto != NULL) {
		dperf_set(s, DPERF_RETRANSMIT_TIMEOUT, "flow.rto %ss", rto->v[0].text);
		dperf_set(s, DPERF_RETRANSMIT_TIMEOUT, "flow.retries %d", RETRIES);
	}
	if (s->c->server)
		return;
	struct sbuf ramp = {0};
	dperf_ramp(s, (double)dperf_least(s, DPERF_CPS, DPERF_CPS_DEFAULT), "", &ramp);
	dperf_set(s, DPERF_CPS, "cps %s", ramp.s);
	sbuf_free(&ramp);
	if (dperf_has(s->c, DPERF_CC))
		dperf_set(s, DPERF_CC, "connections %llu",
			  (unsigned long long)dperf_least(s, DPERF_CC, 0));
	if (keep != NULL)
		load_keepalive(s, keep);
	if (pipeline != NULL && pipeline->v[0].n > 0)
		dperf_set(s, DPERF_PIPELINE, "bytes.pipeline %s", pipeline->v[0].text);
}
