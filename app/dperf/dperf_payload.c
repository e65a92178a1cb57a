/* SPDX-License-Identifier: BSD-3-Clause */
/* Files that connections send: `payload_file`. */
#include <stdlib.h>

#include "dperf_int.h"
#include "workload.h"

static bool payload_floods(const struct dperf_conf *c)
{
	return dperf_has(c, DPERF_FLOOD) && !c->server;
}

const char *dperf_payload_file(const struct dperf_conf *c)
{
	const struct dperf_line *l = dperf_find(c, DPERF_PAYLOAD_FILE, 0);

	return l != NULL && !payload_floods(c) ? l->v[0].text : NULL;
}

bool dperf_is_http(const struct dperf_conf *c)
{
	uint64_t size = dperf_number(c, DPERF_PAYLOAD_SIZE, 0);

	if (c->udp)
		return false;
	if (dperf_payload_file(c) != NULL)
		return wl_http_like(c->payload, c->payload_bytes, c->server);
	return size == 0 || size >= DPERF_HTTP_LEAST;
}

bool dperf_payload_closes(const struct dperf_conf *c)
{
	struct wl_http_whole whole;

	if (!dperf_is_http(c) ||
	    wl_http_whole(c->payload, c->payload_bytes, c->server, &whole, NULL) != 0)
		return false;
	free(whole.data);
	return whole.closes;
}

/* A connection that its client keeps, for more than one request. */
static const struct dperf_line *payload_kept(const struct dperf_conf *c)
{
	const struct dperf_line *l = dperf_find(c, DPERF_KEEPALIVE, 0);

	return l != NULL && !c->server && !(l->n > 1 && l->v[1].n == 1) ? l : NULL;
}

static void payload_http(const struct dperf_conf *c, const struct dperf_line *l,
			 struct dperf_wrong *w)
{
	const struct dperf_line *kept = payload_kept(c);
	struct wl_http_whole whole;
	struct err why;

	if (wl_http_whole(c->payload, c->payload_bytes, c->server, &whole, &why) != 0) {
		dperf_fail(w, l->line, l->v[0].col, "payload_file: '%.200s': %s", l->v[0].text,
			   why.text);
		return;
	}
	free(whole.data);
	if (whole.closes && kept != NULL)
		dperf_fail(
			w, l->line, l->v[0].col,
			"payload_file: the request in '%.200s' ends its connection, by "
			"Connection: close or as HTTP/1.0 without keep-alive, and keepalive (line "
			"%u) sends more than one; change one of them",
			l->v[0].text, kept->line);
}

void dperf_payload_check(const struct dperf_conf *c, bool http, struct dperf_wrong *w)
{
	const struct dperf_line *l = dperf_find(c, DPERF_PAYLOAD_FILE, 0);

	if (l == NULL)
		return;
	if (payload_floods(c)) {
		if (!c->udp)
			dperf_fail(w, l->line, l->col,
				   "payload_file: a flood of TCP is SYNs, which have no payload; "
				   "'protocol udp' has, or take flood away");
		return;
	}
	if (c->udp && c->payload_bytes > dperf_room(c))
		dperf_fail(w, l->line, l->v[0].col,
			   "payload_file: '%.200s' has %u bytes, and one datagram up to %u%s",
			   l->v[0].text, c->payload_bytes, dperf_room(c),
			   dperf_has(c, DPERF_JUMBO) ? "" : ", or more with jumbo");
	else if (c->http && !c->server && !dperf_is_http(c))
		dperf_fail(w, l->line, l->v[0].col,
			   "payload_file: '%.200s' does not begin with a method of HTTP, and the "
			   "file has 'protocol http'; 'protocol tcp' sends any bytes",
			   l->v[0].text);
	else if (http)
		payload_http(c, l, w);
}

/* Directives whose place a file takes. */
static void payload_notes(const struct dperf_say *s)
{
	static const enum dperf_id ids[] = {DPERF_HTTP_HOST, DPERF_HTTP_PATH, DPERF_HTTP_METHOD};

	for (unsigned i = 0; i < ARRAY_SIZE(ids) && s->i == 0; i++)
		if (dperf_has(s->c, ids[i]))
			sbuf_addf(s->out, "# %s: the file is sent as it is\n",
				  dperf_directives[ids[i]].name);
}

void dperf_say_files(const struct dperf_say *s)
{
	struct dperf_say peer = *s;

	if (dperf_payload_file(s->c) != NULL) {
		payload_notes(s);
		dperf_set_word(s, DPERF_PAYLOAD_FILE,
			       s->c->server ? "response.file" : "request.file",
			       dperf_payload_file(s->c));
	}
	if (s->peer == NULL || dperf_payload_file(s->peer) == NULL)
		return;
	peer.c = s->peer; /* it is that file which says so */
	dperf_set_word(&peer, DPERF_PAYLOAD_FILE, s->c->server ? "request.file" : "response.file",
		       dperf_payload_file(s->peer));
}
