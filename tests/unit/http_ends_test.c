/* SPDX-License-Identifier: BSD-3-Clause */
/* HTTP as a client and as a server, against texts and against each other, without TCP. Numbers in
 * comments are sections of RFC 9112. */
#include "cmocka_names.h"
#include <errno.h>
#include "http_parse.h"
#include "wl_pair.h"
#include "wl_text.h"

static size_t cut_arg(struct pair *p, size_t left)
{
	return p->arg < left ? p->arg : left;
}
/* Short and long pieces by turns, from p->arg on. */
static size_t cut_mixed(struct pair *p, size_t left)
{
	uint64_t n;

	p->arg = p->arg * 6364136223846793005ull + 1442695040888963407ull;
	n = p->arg >> 33;
	n = (n & 1) != 0 ? n % 8 + 1 : n % 1460 + 1;
	return n < left ? n : left;
}

static struct wl_http *make(const struct wl_http_settings *s)
{
	struct wl_http *h;
	struct err e;
	int rc = wl_http_make(s, &h, &e);

	if (rc != 0)
		print_error("%s\n", e.text);
	assert_int_equal(rc, 0);
	return h;
}
static void end_of(struct pair_end *e, const struct wl_http *h)
{
	e->flow.wl = h->wl;
	e->flow.conf = &h->conf;
	e->flow.content = h->content;
	e->flow.ncontent = h->ncontent;
}
static const struct wl_http_counts *counts(const struct pair *p, unsigned end)
{
	return p->end[end].flow.own;
}

/* What a server says to a text that comes in pieces of `piece` bytes (0: in one). The answer stays
 * until the next call. */
static struct pair served;
static const char *serve_bytes(const struct wl_http_settings *s, const char *text, size_t n,
			       size_t piece)
{
	struct wl_http *h = make(s);
	static char answer[8192];

	served = (struct pair){.cut = piece != 0 ? cut_arg : NULL, .arg = piece};
	end_of(&served.end[1], h);
	pair_say(&served.end[0], text, n);
	served.end[0].fin = true;
	pair_open(&served);
	pair_run(&served);
	assert_true(served.end[1].len < sizeof(answer));
	answer[0] = '\0';
	if (served.end[1].len > 0)
		memcpy(answer, served.end[1].out, served.end[1].len + 1);
	pair_free(&served);
	served.end[1].flow.own = NULL;
	wl_http_free(h);
	return answer;
}
static void serve(const struct wl_http_settings *s, const char *text, const char *want)
{
	for (size_t piece = 0; piece <= strlen(text); piece++) {
		assert_string_equal(serve_bytes(s, text, strlen(text), piece), want);
		assert_int_equal(served.end[1].counts.open, 0);
	}
}

static const struct wl_vary size3 = WL_FIXED(3);
static const struct wl_http_settings three = {.size = &size3, .close = WL_CLOSE_FIN};
#define OK3 "HTTP/1.1 200 OK\r\nServer: wirerate\r\nContent-Length: 3\r\n"
#define GET "GET / HTTP/1.1\r\nHost: h\r\n"

static void test_server_answers(void **state)
{
	(void)state;
	serve(&three, GET "\r\n", OK3 "\r\nxxx");
	serve(&three, "HEAD / HTTP/1.1\r\nHost: h\r\n\r\n", OK3 "\r\n");
	serve(&three, "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nabcde",
	      OK3 "\r\nxxx");
	serve(&three,
	      "PUT / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
	      "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n",
	      OK3 "\r\nxxx");
	/* 9.6 */
	serve(&three, GET "Connection: close\r\n\r\n" GET "\r\n",
	      OK3 "Connection: close\r\n\r\nxxx");
	/* 9.3: HTTP/1.0, without and with keep-alive */
	serve(&three, "GET / HTTP/1.0\r\n\r\n" GET "\r\n", OK3 "Connection: close\r\n\r\nxxx");
	serve(&three, "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\nGET / HTTP/1.0\r\n\r\n",
	      OK3 "Connection: keep-alive\r\n\r\nxxx" OK3 "Connection: close\r\n\r\nxxx");
}

/* 9.3.2: answers in the order of requests, of every kind, however many come in a piece. */
static void test_server_pipelining(void **state)
{
	(void)state;
	serve(&three,
	      GET "\r\n"
		  "HEAD / HTTP/1.1\r\nHost: h\r\n\r\n"
		  "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\nz\r\n" GET "\r\n",
	      OK3 "\r\nxxx" OK3 "\r\n" OK3 "\r\nxxx" OK3 "\r\nxxx");
	assert_int_equal(served.end[1].counts.done, 4);
	assert_int_equal(served.end[1].counts.failed, 0);
}

static void test_server_framing(void **state)
{
	struct wl_http_settings s = three;

	(void)state;
	s.chunked = true;
	serve(&s, GET "\r\n" GET "\r\n",
	      "HTTP/1.1 200 OK\r\nServer: wirerate\r\nTransfer-Encoding: chunked\r\n\r\n"
	      "3\r\nxxx\r\n0\r\n\r\n"
	      "HTTP/1.1 200 OK\r\nServer: wirerate\r\nTransfer-Encoding: chunked\r\n\r\n"
	      "3\r\nxxx\r\n0\r\n\r\n");
	serve(&s, "HEAD / HTTP/1.1\r\nHost: h\r\n\r\n",
	      "HTTP/1.1 200 OK\r\nServer: wirerate\r\nTransfer-Encoding: chunked\r\n\r\n");
	s.size = sizes_of("35");
	s.chunk = 16;
	serve(&s, GET "\r\n",
	      "HTTP/1.1 200 OK\r\nServer: wirerate\r\nTransfer-Encoding: chunked\r\n\r\n"
	      "10\r\nxxxxxxxxxxxxxxxx\r\n10\r\nxxxxxxxxxxxxxxxx\r\n3\r\nxxx\r\n0\r\n\r\n");
	s.size = three.size;
	/* 6.1: a client of HTTP/1.0 knows no chunks */
	serve(&s, "GET / HTTP/1.0\r\n\r\n", OK3 "Connection: close\r\n\r\nxxx");
	s.size = sizes_of("0");
	serve(&s, GET "\r\n",
	      "HTTP/1.1 200 OK\r\nServer: wirerate\r\nTransfer-Encoding: chunked\r\n\r\n"
	      "0\r\n\r\n");
	s = three;
	s.until_close = true;
	serve(&s, GET "\r\n" GET "\r\n",
	      "HTTP/1.1 200 OK\r\nServer: wirerate\r\nConnection: close\r\n\r\nxxx");
	serve(&s, "HEAD / HTTP/1.1\r\nHost: h\r\n\r\n" GET "\r\n",
	      "HTTP/1.1 200 OK\r\nServer: wirerate\r\nConnection: close\r\n\r\n");
	/* RFC 9110 15.3.5, 15.4.5: no body, and no length of one */
	s = three;
	s.status = "204";
	serve(&s, GET "\r\n" GET "Connection: close\r\n\r\n",
	      "HTTP/1.1 204 No Content\r\nServer: wirerate\r\n\r\n"
	      "HTTP/1.1 204 No Content\r\nServer: wirerate\r\nConnection: close\r\n\r\n");
}

/* RFC 9110 10.1.1. The answer depends on whether a part of the body came with the head. */
static void test_server_continue(void **state)
{
	static const char head[] = "PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n"
				   "Expect: 100-continue\r\n\r\n";
	static const char continued[] = "HTTP/1.1 100 Continue\r\n\r\n" OK3 "\r\nxxx";
	char text[200];

	(void)state;
	strcpy(text, head);
	strcat(text, "abc");
	assert_string_equal(serve_bytes(&three, text, strlen(text), 0), OK3 "\r\nxxx");
	assert_string_equal(serve_bytes(&three, text, strlen(text), 1), continued);
	assert_string_equal(serve_bytes(&three, text, strlen(text), strlen(head)), continued);
	assert_string_equal(serve_bytes(&three, text, strlen(text), strlen(head) + 1),
			    OK3 "\r\nxxx");
	/* not to HTTP/1.0, and not if there is no body to wait for */
	serve(&three, "PUT / HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\nx",
	      OK3 "Connection: close\r\n\r\nxxx");
	serve(&three, GET "Expect: 100-continue\r\n\r\n", OK3 "\r\nxxx");
}

#define REFUSED(line) "HTTP/1.1 " line "\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"

/* What is no request is told so, and what stands behind it is not looked at. */
static void test_server_refuses(void **state)
{
	struct wl_http_settings s = three;

	(void)state;
	serve(&three, "hello\r\n" GET "\r\n", REFUSED("400 Bad Request"));
	assert_int_equal(served.end[1].counts.failed, 1);
	serve(&three, GET "\r\nhello\r\n" GET "\r\n", OK3 "\r\nxxx" REFUSED("400 Bad Request"));
	serve(&three, "GET / HTTP/1.1\r\n\r\n", REFUSED("400 Bad Request"));
	serve(&three, GET "Transfer-Encoding: gzip\r\n\r\n", REFUSED("400 Bad Request"));
	serve(&three, GET "Transfer-Encoding: gzip, chunked\r\n\r\n",
	      REFUSED("501 Not Implemented"));
	serve(&three, "TRACE / HTTP/1.1\r\nHost: h\r\n\r\n", REFUSED("501 Not Implemented"));
	serve(&three, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
	      REFUSED("505 HTTP Version Not Supported"));
	s.head_limit = 40;
	serve(&s, "GET /01234567890123456789012345678901234567890 HTTP/1.1\r\nHost: h\r\n\r\n",
	      REFUSED("414 URI Too Long"));
	serve(&s, GET "X: 012345678901234567890\r\n\r\n",
	      REFUSED("431 Request Header Fields Too Large"));
	/* nothing at all is no request, and neither are empty lines */
	serve(&three, "\r\n\r\n", "");
	assert_int_equal(served.end[1].counts.started, 0);
	/* a request that is cut off has failed */
	serve(&three, GET, "");
	assert_int_equal(served.end[1].counts.failed, 1);
}

/* A client against a text: how its transactions end. */
struct told {
	const char *text;
	bool to_head;
	unsigned done, failed, bad;
	int class; /* of the last response, 0: none */
	bool reset;
};
static void ask(const struct told *w, size_t piece)
{
	struct wl_http *h = make(&(struct wl_http_settings){.client = true,
							    .host = "h",
							    .method = w->to_head ? "HEAD" : "GET",
							    .close = WL_CLOSE_FIN,
							    .transactions = 2});
	struct pair p = {.cut = piece != 0 ? cut_arg : NULL, .arg = piece};
	const struct wl_http_counts *k;

	end_of(&p.end[0], h);
	pair_open(&p);
	pair_say(&p.end[1], w->text, strlen(w->text));
	p.end[1].fin = true;
	p.end[0].taken = p.end[0].len; /* nobody reads them */
	pair_run(&p);
	k = counts(&p, 0);
	if (p.end[0].counts.done != w->done || p.end[0].counts.failed != w->failed)
		print_error("%zu: \"%s\"\n", piece, w->text);
	assert_int_equal(p.end[0].counts.done, w->done);
	assert_int_equal(p.end[0].counts.failed, w->failed);
	assert_int_equal(k->bad, w->bad);
	assert_int_equal(p.end[0].rst, w->reset);
	for (int i = 1; i <= 5 && w->class != 0; i++)
		assert_int_equal(k->status[i - 1] != 0, i == w->class);
	pair_free(&p);
	wl_http_free(h);
}

static void test_client(void **state)
{
	static const struct told cases[] = {
		{"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc"
		 "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
		 .done = 2, .class = 2},
		/* interim responses come before the final one (RFC 9110 15.2) */
		{"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n"
		 "HTTP/1.1 204 No Content\r\n\r\nHTTP/1.1 304 Not Modified\r\n\r\n",
		 .done = 2},
		{"HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx",
		 .done = 1, .class = 4},
		/* 6.3: until close */
		{"HTTP/1.1 500 Oh\r\n\r\nabc", .done = 1, .class = 5},
		{"HTTP/1.0 301 Moved\r\nContent-Length: 2\r\n\r\nab", .done = 1, .class = 3},
		{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n"
		 "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nT: x\r\n\r\n",
		 .done = 2, .class = 2},
		/* RFC 9110 9.3.2: lengths of what GET would have brought */
		{"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"
		 "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
		 .to_head = true, .done = 2, .class = 2},
		{"HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 200 OK\r\n\r\n", .to_head = true, .done = 2,
		 .class = 2},
		/* cut: before, in the head, in a body, in a chunk */
		{"", .failed = 1},
		{"HTTP/1.1 20", .failed = 1},
		{"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab", .failed = 1, .class = 2},
		{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n", .failed = 1},
		/* no response: reset, since it may go on for ever */
		{"hello", .failed = 1, .bad = 1, .reset = true},
		{"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", .failed = 1, .bad = 1,
		 .reset = true},
		{"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n", .failed = 1, .bad = 1,
		 .reset = true},
		{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nabc", .failed = 1,
		 .bad = 1, .reset = true},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		for (size_t piece = 0; piece < strlen(cases[i].text) + 1; piece++)
			ask(&cases[i], piece);
	}
}

/* 9.2: what nobody asked for is no response. */
static void test_client_unasked(void **state)
{
	struct wl_http *h = make(&(struct wl_http_settings){
		.client = true, .host = "h", .close = WL_CLOSE_FIN, .think = WL_FIXED(1000)});
	struct pair p = {0};
	static const char text[] = "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nxy";

	(void)state;
	end_of(&p.end[0], h);
	pair_open(&p);
	pair_say(&p.end[1], text, sizeof(text) - 1);
	pair_run(&p);
	assert_int_equal(counts(&p, 0)->unasked, 1);
	assert_int_equal(p.end[0].counts.done, 1);
	assert_true(p.end[0].rst);
	pair_free(&p);
	wl_http_free(h);
}

/* ---- both ends ---- */

struct both {
	struct wl_http_settings client, server;
	bool verify;
};

static void both_run(struct pair *p, const struct both *b)
{
	struct wl_http *client = make(&b->client), *server = make(&b->server);
	bool failed;

	end_of(&p->end[0], client);
	end_of(&p->end[1], server);
	for (unsigned i = 0; i < 2; i++)
		p->end[i].flow.verify = b->verify;
	pair_open(p);
	pair_run(p);
	failed = p->end[0].gone != p->end[1].gone;
	pair_free(p);
	assert_false(failed);
	p->end[0].flow.own = p->end[1].flow.own = NULL;
	wl_http_free(client);
	wl_http_free(server);
}

static void both_case(const struct both *b, unsigned want)
{
	static const size_t pieces[] = {0, 1, 2, 3, 7, 64, 100, 1460};

	for (unsigned k = 0; k < ARRAY_SIZE(pieces) + 3; k++) {
		struct pair p = {0};

		if (k < ARRAY_SIZE(pieces)) {
			p.cut = pieces[k] != 0 ? cut_arg : NULL;
			p.arg = pieces[k];
		} else {
			p.cut = cut_mixed;
			p.arg = k;
		}
		both_run(&p, b);
		for (unsigned i = 0; i < 2; i++) {
			assert_int_equal(p.end[i].counts.done, want);
			assert_int_equal(p.end[i].counts.failed, 0);
			assert_int_equal(p.end[i].counts.mismatched, 0);
			assert_int_equal(p.end[i].why, WL_END_CLOSED);
		}
	}
}

/* Each method with each framing, both ways, with every kind of end. */
static void test_both(void **state)
{
	static const char *const methods[] = {"GET", "HEAD", "POST", "PUT", "GET:2,POST,HEAD,PUT"};

	(void)state;
	for (unsigned i = 0; i < 5 * 2 * 3 * 2 * 2 * 2; i++) {
		bool body = i % 5 >= 2, http10 = i / 30 % 2 != 0;
		unsigned server = i / 10 % 3, n = i / 120 % 2 != 0 ? 5 : 1;
		struct both b = {
			.client = {.client = true,
				   .host = "a:2,b::1",
				   .method = methods[i % 5],
				   .path = "/,/x:3",
				   .size = sizes_of(body ? "0,1,700:2" : "0"),
				   .chunked = body && !http10 && i / 5 % 2 != 0,
				   .chunk = i % 7 == 0 ? 16 : 251,
				   .http10 = http10,
				   .transactions = n,
				   .close = WL_CLOSE_FIN,
				   .server_closes = i / 60 % 2 != 0,
				   .fill = WL_FILL_PATTERN},
			.server = {.size = sizes_of("0,5,1400"),
				   .status = "200:5,404,204,503",
				   .chunked = server == 1,
				   .chunk = i % 3 == 0 ? 16 : 0,
				   .until_close = server == 2,
				   .close = WL_CLOSE_FIN,
				   .fill = WL_FILL_PATTERN},
			.verify = i % 2 != 0,
		};

		if (server == 2) /* the first body ends the connection */
			b.client.transactions = n = 1;
		both_case(&b, n);
	}
}

static void test_both_pipelined(void **state)
{
	(void)state;
	for (unsigned depth = 2; depth <= WL_HTTP_PIPELINE; depth += 5) {
		struct both b = {
			.client = {.client = true,
				   .host = "h",
				   .method = "GET:2,HEAD,POST:3",
				   .size = sizes_of("5,300"),
				   .pipeline = depth,
				   .transactions = 20,
				   .close = WL_CLOSE_FIN,
				   .fill = WL_FILL_PATTERN},
			.server = {.size = sizes_of("0,3,2000"),
				   .chunked = true,
				   .fill = WL_FILL_PATTERN},
			.verify = true,
		};

		both_case(&b, 20);
		b.client.think = vary_of(&vt_wl_pauses, "0ns,1us..9us");
		both_case(&b, 20);
		b.client.server_closes = true;
		both_case(&b, 20);
		b.server.chunked = false;
		both_case(&b, 20);
	}
}

/* As many requests as may be open are there before the first answer. */
static void test_pipeline_depth(void **state)
{
	struct wl_http *h = make(&(struct wl_http_settings){
		.client = true, .host = "h", .pipeline = 5, .transactions = 7});
	struct pair p = {0};
	static const char ok[] = "HTTP/1.1 204 No Content\r\n\r\n";

	(void)state;
	end_of(&p.end[0], h);
	pair_open(&p);
	assert_int_equal(p.end[0].counts.open, 5);
	for (unsigned i = 0; i < 7; i++) {
		pair_receive(&p, &p.end[0], (const uint8_t *)ok, sizeof(ok) - 1);
		assert_int_equal(p.end[0].counts.done, i + 1);
		assert_int_equal(p.end[0].counts.started, i < 2 ? i + 6 : 7);
	}
	pair_free(&p);
	wl_http_free(h);
}

/* The server ends after so many of the connection, and says so before. */
static void test_server_closes_after(void **state)
{
	struct both b = {.client = {.client = true, .host = "h", .server_closes = true},
			 .server = {.transactions = 3,
				    .server_closes = true,
				    .close = WL_CLOSE_FIN}};

	(void)state;
	both_case(&b, 3);
}

/* Transactions at times that others choose. */
static void test_on_call(void **state)
{
	struct wl_http *client = make(&(struct wl_http_settings){.client = true,
								 .host = "h",
								 .close = WL_CLOSE_FIN}),
		       *server = make(&three);
	struct pair p = {0};

	(void)state;
	end_of(&p.end[0], client);
	end_of(&p.end[1], server);
	p.end[0].flow.on_call = true;
	pair_open(&p);
	for (unsigned i = 0; i < 5; i++) {
		pair_run(&p);
		assert_true(p.end[0].ready);
		assert_int_equal(p.end[0].counts.started, i);
		p.end[0].ready = false;
		pair_call(&p, &p.end[0], p.end[0].flow.wl->go);
		assert_int_equal(p.end[0].counts.open, 1);
	}
	pair_run(&p);
	assert_int_equal(p.end[0].counts.done, 5);
	p.end[0].flow.draining = true;
	pair_call(&p, &p.end[0], p.end[0].flow.wl->drain);
	pair_run(&p);
	assert_int_equal(p.end[0].why, WL_END_CLOSED);
	pair_free(&p);
	wl_http_free(client);
	wl_http_free(server);
}

/* Heads that are remembered are the flow's, which may get another limit meanwhile. */
static void test_remembered_heads(void **state)
{
	struct wl_http_settings s = three;
	struct wl_http *wide = make(&s), *narrow;
	void *own = calloc(1, wl_http.own_bytes);
	static const char text[] = GET "User-Agent: somebody\r\n\r\n";
	const struct wl_http_counts *k = own;

	(void)state;
	s.head_limit = 40;
	narrow = make(&s);
	for (unsigned i = 0; i < 6; i++) {
		struct pair p = {0};

		end_of(&p.end[1], i % 3 == 2 ? narrow : wide);
		p.end[1].flow.own = own;
		pair_say(&p.end[0], text, sizeof(text) - 1);
		pair_open(&p);
		pair_run(&p);
		assert_int_equal(p.end[1].counts.done, i % 3 != 2);
		assert_int_equal(p.end[1].counts.failed, i % 3 == 2);
		p.end[1].flow.own = NULL;
		pair_free(&p);
	}
	assert_int_equal(k->status[1], 4);
	assert_int_equal(k->status[3], 2);
	assert_int_equal(k->reason[HTTP_LONG_HEAD - 1], 2);
	free(own);
	wl_http_free(wide);
	wl_http_free(narrow);
}

/* Without memory for its state a connection is reset, and counted; one whose client goes away in
 * the middle of a body needs none any more. One that has got half of an empty line has no request,
 * and closes in a drain. */
static void test_no_cell(void **state)
{
	static const char *const text[] = {
		GET "\r\n", "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\nabc", "\r"};
	struct wl_http *h = make(&three);

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(text); i++) {
		struct pair p = {.cut = i == 0 ? cut_arg : NULL, .arg = 5};
		struct pair_end *e = &p.end[1];

		end_of(e, h);
		pair_say(&p.end[0], text[i], strlen(text[i]));
		pair_open(&p);
		e->no_cells = i < 2;
		p.end[0].fin = i == 1;
		pair_step(&p, 0);
		pair_step(&p, 0);
		e->flow.draining = i == 2;
		if (i == 2)
			pair_call(&p, e, e->flow.wl->drain);
		assert_true(i == 0 ? e->rst : e->fin && !e->rst);
		assert_int_equal(counts(&p, 1)->no_cell, i == 0);
		assert_int_equal(counts(&p, 1)->cut, i == 1);
		pair_gone(&p, e, WL_END_CLOSED);
		assert_int_equal(e->counts.failed, i < 2);
		pair_free(&p);
	}
	wl_http_free(h);
}

/* ---- settings ---- */

static void test_weights(void **state)
{
	struct wl_http *h = make(
		&(struct wl_http_settings){.client = true, .host = "h", .path = "/a:14,/b:4,/c:2"});
	unsigned n[3] = {0}, twice = 0;

	(void)state;
	assert_int_equal(h->choices, 3);
	assert_int_equal(h->conf.npick, 10); /* 7 + 2 + 1 */
	for (unsigned i = 0; i < 10; i++) {
		n[h->conf.pick[i]]++;
		twice += h->conf.pick[i] != 0 && h->conf.pick[i] == h->conf.pick[(i + 1) % 10];
	}
	assert_int_equal(n[0], 7);
	assert_int_equal(n[1], 2);
	assert_int_equal(n[2], 1);
	assert_int_equal(twice, 0);
	wl_http_free(h);
	h = make(&(struct wl_http_settings){.client = true,
					    .host = "a:80:3,b,[::1]:8080,[::2]::2,c::1",
					    .path = "/a:b,/c,/d",
					    .method = "GET,POST",
					    .size = sizes_of("1k,2:3")});
	assert_int_equal(h->choices, 5 * 3 * 2 * 2);
	assert_int_equal(h->conf.npick, 8 * 3 * 2 * 4);
	wl_http_free(h);
}

/* Of ranges some sizes are sent, and they weigh what the range does. */
static void test_ranges(void **state)
{
	struct wl_http *h =
		make(&(struct wl_http_settings){.size = sizes_of("0..6300:3,7,1..3:2")});
	unsigned n[3] = {0};

	(void)state;
	assert_int_equal(h->choices, WL_HTTP_RANGE + 1 + 3);
	for (unsigned i = 0; i < WL_HTTP_RANGE; i++)
		assert_int_equal(h->conf.message[i * WL_HTTP_FORMS].bytes -
					 h->conf.message[i * WL_HTTP_FORMS].head,
				 i * 100);
	for (unsigned i = 0; i < h->conf.npick; i++)
		n[h->conf.pick[i] < WL_HTTP_RANGE ? 0 : h->conf.pick[i] == WL_HTTP_RANGE ? 1 : 2]++;
	assert_int_equal(n[0], 3 * n[1]);
	assert_int_equal(n[2], 2 * n[1]);
	wl_http_free(h);
	/* as many as there are messages for */
	h = make(&(struct wl_http_settings){.client = true,
					    .host = "h",
					    .method = "PUT,POST",
					    .path = "/0,/1,/2,/3,/4,/5,/6,/7,/8,/9,/a,/b,/c,/d,/e",
					    .size = sizes_of("1..1000000,7")});
	assert_int_equal(h->choices, 30 * (1000 / 30));
	wl_http_free(h);
}

static void test_bad_settings(void **state)
{
	static const struct wl_vary chunk = WL_FIXED((1u << 28) + 1);
	static const struct {
		struct wl_http_settings s;
		int rc, col;
	} cases[] = {
		{{.client = true}, -EINVAL, -1},
		{{.client = true, .host = "a b"}, -EINVAL, 1},
		{{.client = true, .host = "a,b/c"}, -EINVAL, 3},
		{{.client = true, .host = "a::0"}, -EINVAL, 0},
		{{.client = true, .host = "a:80:x"}, -EINVAL, 0},
		{{.client = true, .host = ""}, -EINVAL, 0},
		{{.client = true, .host = "h", .path = "/a,b"}, -EINVAL, 3},
		{{.client = true, .host = "h", .path = "/a b"}, -EINVAL, 2},
		{{.client = true, .host = "h", .path = "/a:0"}, -EINVAL, 0},
		{{.client = true, .host = "h", .path = "/a,,/b"}, -EINVAL, 3},
		{{.client = true, .host = "h", .path = "/a,/c:"}, -EINVAL, 3},
		{{.client = true, .host = "h", .path = "/a:65536"}, -EINVAL, 0},
		{{.client = true, .host = "h", .path = "/a:60001,/b:7001"}, -E2BIG, -1},
		{{.client = true, .host = "h", .method = "GET,PATCH"}, -EINVAL, 4},
		{{.client = true, .host = "h", .size = &size3}, -EINVAL, -1},
		{{.client = true, .host = "h", .chunked = true}, -EINVAL, -1},
		{{.client = true, .host = "h", .method = "PUT", .size = &chunk, .chunked = true},
		 -ERANGE,
		 -1},
		{{.client = true, .host = "h", .method = "PUT", .chunked = true, .http10 = true},
		 -EINVAL,
		 -1},
		{{.client = true, .host = "h", .until_close = true}, -EINVAL, -1},
		{{.client = true, .host = "h", .pipeline = 13}, -ERANGE, -1},
		{{.pipeline = 2}, -EINVAL, -1},
		{{.chunked = true, .until_close = true}, -EINVAL, -1},
		{{.chunked = true, .chunk = 15}, -ERANGE, -1},
		{{.status = "200,100"}, -ERANGE, 4},
		{{.status = "OK"}, -EINVAL, 0},
		{{.header = "X"}, -EINVAL, 1},
		{{.header = "X Y: z"}, -EINVAL, 1},
		{{.header = "X: y\\nContent-length: 1"}, -EINVAL, 6},
		{{.header = "A: b\nHost: x"}, -EINVAL, 5},
		{{.header = "A: b\rC: d"}, -EINVAL, 4},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct wl_http *h = NULL;
		struct err e = {.col = -2};
		int rc = wl_http_make(&cases[i].s, &h, &e);

		if (rc != cases[i].rc || e.col != cases[i].col)
			print_error("case %zu: %d, column %d: %s\n", i, rc, e.col, e.text);
		assert_int_equal(rc, cases[i].rc);
		assert_int_equal(e.col, cases[i].col);
		assert_null(h);
	}
}

static void test_header(void **state)
{
	struct wl_http_settings s = three;

	(void)state;
	s.header = "X-A: 1\\nX-B:2\nX-C:";
	serve(&s, GET "\r\n", OK3 "X-A: 1\r\nX-B:2\r\nX-C:\r\n\r\nxxx");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_server_answers),
		cmocka_unit_test(test_server_pipelining),
		cmocka_unit_test(test_server_framing),
		cmocka_unit_test(test_server_continue),
		cmocka_unit_test(test_server_refuses),
		cmocka_unit_test(test_client),
		cmocka_unit_test(test_client_unasked),
		cmocka_unit_test(test_both),
		cmocka_unit_test(test_both_pipelined),
		cmocka_unit_test(test_pipeline_depth),
		cmocka_unit_test(test_server_closes_after),
		cmocka_unit_test(test_on_call),
		cmocka_unit_test(test_remembered_heads),
		cmocka_unit_test(test_no_cell),
		cmocka_unit_test(test_weights),
		cmocka_unit_test(test_ranges),
		cmocka_unit_test(test_bad_settings),
		cmocka_unit_test(test_header),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
