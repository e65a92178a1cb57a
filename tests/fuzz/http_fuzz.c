/* SPDX-License-Identifier: BSD-3-Clause */
/* Bytes into an HTTP server and into a client, whole, one by one, and cut as the input says. What
 * comes of them may not depend on the cuts. The first bytes choose settings and cuts. */
#include "../unit/wl_pair.h"
#include "../unit/wl_text.h"
#include "http_parse.h"
#include "input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define KINDS 16
static struct wl_http *client[KINDS], *server[KINDS];

static void make_all(void)
{
	struct err e;

	for (unsigned i = 0; i < KINDS; i++) {
		const struct wl_http_settings c = {.client = true,
						   .host = "h",
						   .method = (i & 1) != 0 ? "HEAD,GET" : "GET",
						   .transactions = (i & 2) != 0 ? 3 : 1,
						   .pipeline = (i & 4) != 0 ? 3 : 1,
						   .server_closes = (i & 8) != 0,
						   .head_limit = (i & 8) != 0 ? 60 : 4096,
						   .close = WL_CLOSE_FIN},
					      s = {.size = sizes_of("3,0"),
						   .chunked = (i & 1) != 0,
						   .until_close = (i & 3) == 2,
						   .server_closes = (i & 4) != 0,
						   .transactions = (i & 8) != 0 ? 3 : 1,
						   .head_limit = (i & 8) != 0 ? 60 : 4096,
						   .close = WL_CLOSE_FIN};

		CHECK(wl_http_make(&c, &client[i], &e) == 0);
		CHECK(wl_http_make(&s, &server[i], &e) == 0);
	}
}

static size_t pieces(struct pair *p, size_t left)
{
	size_t n;

	if (p->arg == 0)
		return left;
	if (p->arg == 1)
		return 1;
	p->arg = (p->arg * 6364136223846793005ull + 1442695040888963407ull) | 2;
	n = (p->arg >> 33) % ((p->arg >> 60 & 1) != 0 ? 200 : 9) + 1;
	return n < left ? n : left;
}

/* What an end made of it. */
struct result {
	struct wl_counts counts;
	struct wl_http_counts http;
	uint8_t *said;
	size_t len;
	bool rst, fin;
};

static struct result feed(bool to_client, unsigned kind, bool verify, uint64_t cuts,
			  const uint8_t *text, size_t n)
{
	struct wl_http *h = to_client ? client[kind] : server[kind];
	struct pair p = {.cut = pieces, .arg = cuts};
	unsigned us = to_client ? 0 : 1;
	struct result r;

	p.end[us].flow.wl = h->wl;
	p.end[us].flow.conf = &h->conf;
	p.end[us].flow.content = h->content;
	p.end[us].flow.ncontent = h->ncontent;
	p.end[us].flow.verify = verify;
	pair_open(&p);
	pair_say(&p.end[!us], text, n);
	p.end[!us].fin = true;
	pair_run(&p);
	r.rst = p.end[us].rst;
	r.fin = p.end[us].fin;
	pair_gone(&p, &p.end[us], WL_END_ABORTED);
	r.counts = p.end[us].counts;
	memcpy(&r.http, p.end[us].flow.own, sizeof(r.http));
	r.said = p.end[us].out;
	r.len = p.end[us].len;
	p.end[us].out = NULL;
	pair_free(&p);
	return r;
}

/* 100 is sent only if nothing of the body came with the head, which the cuts decide. */
static size_t without_continue(uint8_t *said, size_t len)
{
	static const char line[] = "HTTP/1.1 100 Continue\r\n\r\n";
	size_t n = sizeof(line) - 1, to = 0;

	for (size_t from = 0; from < len;) {
		if (len - from >= n && memcmp(said + from, line, n) == 0)
			from += n;
		else
			said[to++] = said[from++];
	}
	return to;
}

static void same(struct result a, struct result b, bool verify)
{
	/* what does not match is counted by pieces */
	CHECK((a.counts.mismatched != 0) == (b.counts.mismatched != 0) &&
	      verify >= (a.counts.mismatched != 0));
	a.counts.mismatched = b.counts.mismatched = 0;
	CHECK(memcmp(&a.counts, &b.counts, sizeof(a.counts)) == 0);
	a.http.status[0] = b.http.status[0] = 0;
	CHECK(memcmp(&a.http, &b.http, sizeof(a.http)) == 0);
	CHECK(a.rst == b.rst && a.fin == b.fin);
	if (a.said != NULL)
		a.len = without_continue(a.said, a.len);
	if (b.said != NULL)
		b.len = without_continue(b.said, b.len);
	CHECK(a.len == b.len && (a.len == 0 || memcmp(a.said, b.said, a.len) == 0));
}

/* What is a whole message as a file is one to the other end, too. */
static void as_file(const uint8_t *text, size_t n)
{
	for (unsigned response = 0; response < 2; response++) {
		struct wl_http_whole w;
		struct err e;

		if (wl_http_whole(text, (uint32_t)n, response != 0, &w, &e) != 0)
			continue;
		CHECK(w.head <= n && w.body <= n - w.head);
		CHECK(w.data != NULL || w.head + w.body == n);
		free(w.data);
		/* there a head is shorter, and a server has these methods alone */
		if (n >= 4096 || (!response && strchr("GHP", text[0]) == NULL) || text[1] == 'A')
			continue;
		struct result r = feed(response != 0, 0, false, 0, text, n);
		CHECK(r.counts.done == 1 && r.counts.failed == 0 && r.http.bad == 0);
		free(r.said);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {data, data + size};
	unsigned how = byte(&in), kind = how % KINDS;
	uint64_t cuts = number(&in, 2) | 2;
	bool verify = (how & 0x10) != 0, to_client = (how & 0x20) != 0;
	const uint8_t *text = in.at;
	size_t n = (size_t)(in.end - in.at);
	struct result whole, other;

	if (server[0] == NULL)
		make_all();
	as_file(text, n);
	whole = feed(to_client, kind, verify, 0, text, n);
	for (unsigned i = 0; i < 2; i++) {
		other = feed(to_client, kind, verify, i == 0 ? 1 : cuts, text, n);
		same(whole, other, verify);
		free(other.said);
	}
	free(whole.said);
	return 0;
}
