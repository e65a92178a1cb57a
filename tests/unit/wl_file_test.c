/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages that are whole files: their contents, of what HTTP they may be, and what ends do with
 * them. */
#include "cmocka_names.h"
#include <errno.h>
#include "wl_pair.h"
#include "wl_text.h"

/* ---- contents ---- */

static uint32_t folded(uint32_t sum)
{
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return sum == 0xffff ? 0 : sum;
}

static void test_contents(void **state)
{
	static const uint32_t sizes[] = {1, 2, 15, 65535, 65536, 65537, 131072, 131073, 300001};
	uint8_t *bytes = malloc(300001), *got = malloc(131072);
	struct wl_content c;

	(void)state;
	assert_true(bytes != NULL && got != NULL);
	for (uint32_t i = 0; i < 300001; i++)
		bytes[i] = (uint8_t)(i * 7 + i / 251);
	for (unsigned s = 0; s < ARRAY_SIZE(sizes); s++) {
		uint32_t step = sizes[s] / 5 + 1;
		wl_content_init_whole(&c, bytes, sizes[s]);
		for (uint32_t at = 0; at < sizes[s]; at += step) {
			uint32_t left = sizes[s] - at, n = left < 131072 ? left : 131072, sum;
			memset(got, 0, n);
			sum = wl_content_put(&c, at, got, n);
			assert_memory_equal(got, bytes + at, n);
			assert_int_equal(folded(sum), folded(wl_sum(bytes + at, n)));
			assert_int_equal(folded(wl_content_sum(&c, at, n)), folded(sum));
			assert_true(wl_content_same(&c, at, bytes + at, n));
			got[n - 1] ^= 1;
			assert_false(wl_content_same(&c, at, got, n));
		}
	}
	free(bytes);
	free(got);
}

/* ---- what is one whole message ---- */

#define GET "GET / HTTP/1.1\r\nHost: h\r\n"

static void test_whole(void **state)
{
	static const struct {
		const char *text;
		bool response;
		uint32_t body;
		bool closes, to_head;
	} of[] = {
		{GET "\r\n", false, 0, false, false},
		{"GET / HTTP/1.1\nHost: h\n\n", false, 0, false, false},
		{GET "Connection: close\r\n\r\n", false, 0, true, false},
		{"GET / HTTP/1.0\r\n\r\n", false, 0, true, false},
		{"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", false, 0, false, false},
		{"HEAD / HTTP/1.1\r\nHost: h\r\n\r\n", false, 0, false, true},
		{"DELETE /a HTTP/1.1\r\nHost: h\r\n\r\n", false, 0, false, false},
		{"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc", false, 3, false,
		 false},
		{"PATCH / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc", false, 3, false,
		 false},
		{"PUT / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n",
		 false, 2, false, false},
		{"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nab", true, 2, false, false},
		{"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", true, 0, false, false},
		{"HTTP/1.1 204 No Content\r\n\r\n", true, 0, false, false},
		{"HTTP/1.1 200 OK\r\n\r\nup to its end", true, 13, true, false},
		{"HTTP/1.1 200 OK\r\n\r\n", true, 0, true, false},
		{"HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nx", true, 1, true, false},
		{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n2;x=y\r\nbc\r\n0\r\nT: v\r\n\r\n",
		 true, 3, false, false},
	};
	struct wl_http_whole w;
	struct err e;

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(of); i++) {
		const uint8_t *p = (const uint8_t *)of[i].text;
		uint32_t n = (uint32_t)strlen(of[i].text);
		assert_true(wl_http_like(p, n, of[i].response));
		assert_false(wl_http_like(p, n, !of[i].response));
		if (wl_http_whole(p, n, of[i].response, &w, &e) != 0)
			fail_msg("%s: %s", of[i].text, e.text);
		assert_int_equal(w.body, of[i].body);
		assert_int_equal(w.closes, of[i].closes);
		assert_int_equal(w.to_head, of[i].to_head);
		if (w.data != NULL)
			assert_memory_equal(w.data, "abc", w.body);
		else
			assert_int_equal(w.head + w.body, n);
		free(w.data);
		/* no part of it is one, but what the end of the connection ends */
		for (uint32_t k = 0; k < n; k++) {
			if (wl_http_whole(p, k, of[i].response, &w, &e) != 0)
				continue;
			assert_true(of[i].response && w.closes && k >= w.head);
			free(w.data);
		}
	}
}

static void test_not_whole(void **state)
{
	static const struct {
		const char *text;
		bool response;
		const char *why;
	} of[] = {
		{"", false, "does not begin as an HTTP request"},
		{"GETS / HTTP/1.1\r\n\r\n", false, "does not begin as an HTTP request"},
		{"HTTP/1.1 200 OK\r\n\r\n", false, "does not begin as an HTTP request"},
		{GET "\r\n", true,
		 "does not begin as an HTTP response does, with HTTP/1.1 and a status"},
		{GET, false,
		 "ends in the middle of the head of its request: an empty line ends it"},
		{GET "\r\n\n", false, "1 more bytes: nothing in its head says of a body"},
		{GET "Content-Length: 5\r\n\r\nabcd", false,
		 "ends in the middle of its body: Content-Length says 5 bytes of body, and 4 are there"},
		{GET "Content-Length: 3\r\n\r\nabcd", false,
		 "with 1 more bytes: Content-Length says 3 bytes of body"},
		{GET "Content-Length: 0\r\n\r\nabcd", false,
		 "with 4 more bytes: Content-Length says 0 bytes of body"},
		{GET "Content-Length: x\r\n\r\n", false,
		 "by its line 3: a Content-Length that is none"},
		{"GET / HTTP/1.1\r\n\r\n", false, "by its line 2: no Host field"},
		{"GET  / HTTP/1.1\r\nHost: h\r\n\r\n", false, "by its line 1: the request line"},
		{"GET / HTTP/2.0\r\nHost: h\r\n\r\n", false, "by its line 1: another version"},
		{GET "a b\r\n\r\n", false, "by its line 3: a field line that is none"},
		{"CONNECT a:1 HTTP/1.1\r\nHost: h\r\n\r\n", false, "CONNECT makes a tunnel"},
		{GET "Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n", false,
		 "the one of size 0, and 2 are"},
		{GET "Transfer-Encoding: chunked\r\n\r\nz\r\n", false, "a chunk without a size"},
		{"HTTP/1.1 100 Continue\r\n\r\n", true, "status 100 is followed by another one"},
		{"HTTP/1.1 204 No\r\n\r\nx", true, "1 more bytes"},
		{"HTTP/1.1 2x0 No\r\n\r\nx", true, "by its line 1"},
	};
	struct wl_http_whole w;

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(of); i++) {
		struct err e = {0};
		assert_int_equal(wl_http_whole((const uint8_t *)of[i].text,
					       (uint32_t)strlen(of[i].text), of[i].response, &w,
					       &e),
				 -EINVAL);
		if (strstr(e.text, of[i].why) == NULL)
			fail_msg("%s: %s", of[i].text, e.text);
	}
}

/* ---- HTTP ---- */

static const struct wl_vary size3 = WL_FIXED(3);

static struct wl_http *http_of(struct wl_http_settings s, const char *whole, const char *known)
{
	struct wl_http *h;
	struct err e;

	s.whole = (const uint8_t *)whole;
	s.whole_bytes = whole != NULL ? (uint32_t)strlen(whole) : 0;
	s.known = (const uint8_t *)known;
	s.known_bytes = known != NULL ? (uint32_t)strlen(known) : 0;
	if (wl_http_make(&s, &h, &e) != 0)
		fail_msg("%s", e.text);
	return h;
}

static void http_pair(struct pair *p, struct wl_http *client, struct wl_http *server)
{
	struct wl_http *h[2] = {client, server};

	*p = (struct pair){0};
	for (unsigned i = 0; i < 2; i++) {
		p->end[i].flow.verify = true;
		if (h[i] == NULL)
			continue;
		p->end[i].flow.wl = h[i]->wl;
		p->end[i].flow.conf = &h[i]->conf;
		p->end[i].flow.content = h[i]->content;
		p->end[i].flow.ncontent = h[i]->ncontent;
	}
	pair_open(p);
	pair_run(p);
}
static void http_done(struct pair *p, struct wl_http *client, struct wl_http *server)
{
	pair_free(p);
	wl_http_free(client);
	wl_http_free(server);
}

static const struct wl_http_settings asks = {.client = true,
					     .host = "h",
					     .transactions = 3,
					     .close = WL_CLOSE_FIN},
				     asks_once = {.client = true,
						  .transactions = 1,
						  .close = WL_CLOSE_FIN},
				     answers = {.size = &size3, .fill = WL_FILL_PATTERN};

/* Both ends send theirs, byte by byte as they are, and take the other's; with the wrong file the
 * other end sees that. */
static void http_both(const char *request, const char *response, bool one)
{
	struct wl_http *c = http_of(one ? asks_once : asks, request, response);
	struct wl_http *s = http_of(answers, response, request);
	unsigned times = one ? 1 : 3;
	struct pair p;

	http_pair(&p, c, s);
	assert_int_equal(p.end[0].counts.done, times);
	assert_int_equal(p.end[1].counts.done, times);
	assert_int_equal(p.end[0].counts.mismatched + p.end[1].counts.mismatched, 0);
	assert_int_equal(p.end[0].len, times * strlen(request));
	assert_int_equal(p.end[1].len, times * strlen(response));
	for (unsigned i = 0; i < times; i++) {
		assert_memory_equal(p.end[0].out + i * strlen(request), request, strlen(request));
		assert_memory_equal(p.end[1].out + i * strlen(response), response,
				    strlen(response));
	}
	assert_int_equal(p.end[0].why, WL_END_CLOSED);
	http_done(&p, c, s);
}

static void test_http(void **state)
{
	(void)state;
	http_both(GET "\r\n", "HTTP/1.1 201 OK\r\nContent-Length: 3\r\n\r\nabc", false);
	http_both(
		"POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\nabcd",
		"HTTP/1.1 404 No\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n",
		false);
	http_both(
		"PUT /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n",
		"HTTP/1.1 204 No\r\n\r\n", false);
	http_both("GET / HTTP/1.0\r\n\r\n", "HTTP/1.0 200 OK\r\n\r\nall of it", true);
	http_both(GET "Connection: close\r\n\r\n",
		  "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx", true);
}

/* A response that ends the connection ends it, although the client would go on; one to HEAD is its
 * head alone. */
static void test_http_ends(void **state)
{
	static const char last[] =
		"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx";
	static const char head[] = "HEAD / HTTP/1.1\r\nHost: h\r\n\r\n";
	struct wl_http *c = http_of(asks, NULL, last), *s = http_of(answers, last, NULL);
	struct pair p;

	(void)state;
	http_pair(&p, c, s);
	assert_int_equal(p.end[0].counts.done, 1);
	assert_int_equal(p.end[0].why, WL_END_CLOSED);
	assert_string_equal((char *)p.end[1].out, last);
	http_done(&p, c, s);
	c = http_of(asks_once, head, last);
	s = http_of(answers, last, head);
	http_pair(&p, c, s);
	assert_int_equal(p.end[0].counts.done, 1);
	assert_int_equal(p.end[1].len, sizeof(last) - 2);
	assert_memory_equal(p.end[1].out, last, sizeof(last) - 2);
	http_done(&p, c, s);
}

/* What comes is compared with the body of the file that is known, in chunks or not. */
static void test_http_compares(void **state)
{
	static const char abc[] = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc";
	static const char abd[] =
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabd\r\n0\r\n\r\n";
	struct wl_http *c = http_of(asks, NULL, abd), *s = http_of(answers, abc, NULL);
	struct pair p;

	(void)state;
	http_pair(&p, c, s);
	assert_int_equal(p.end[0].counts.done, 3);
	assert_int_equal(p.end[0].counts.mismatched, 9);
	http_done(&p, c, s);
	/* nothing is known: it is compared with filling, as always */
	c = http_of(asks, NULL, NULL);
	s = http_of(answers, NULL, NULL);
	http_pair(&p, c, s);
	assert_int_equal(p.end[0].counts.done, 3);
	http_done(&p, c, s);
}

static void test_http_refused(void **state)
{
	static const char last[] = GET "Connection: close\r\n\r\n",
			  old[] = "GET / HTTP/1.0\r\n\r\n";
	struct wl_http_settings s = asks;
	struct wl_http *h;
	struct err e;

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		s.whole = (const uint8_t *)(i % 2 == 0 ? last : old);
		s.whole_bytes = (uint32_t)strlen((const char *)s.whole);
		s.transactions = i < 2 ? 3 : 1;
		s.close = i < 2 ? WL_CLOSE_FIN : WL_CLOSE_NOT;
		assert_int_equal(wl_http_make(&s, &h, &e), -EINVAL);
		assert_non_null(strstr(e.text, "the connection ends behind it"));
	}
	s.whole_bytes--;
	assert_int_equal(wl_http_make(&s, &h, &e), -EINVAL);
	s = answers;
	s.known = (const uint8_t *)last;
	s.known_bytes = sizeof(last) - 2;
	assert_int_equal(wl_http_make(&s, &h, &e), -EINVAL);
}

/* ---- bytes ---- */

static void bytes_pair(struct pair *p, const struct wl_bytes_conf *conf,
		       const struct wl_content *content)
{
	*p = (struct pair){0};
	for (unsigned i = 0; i < 2; i++) {
		p->end[i].flow.wl = &wl_bytes;
		p->end[i].flow.conf = conf;
		p->end[i].flow.content = content + 2 * i;
		p->end[i].flow.ncontent = 2;
		p->end[i].flow.verify = true;
	}
	pair_open(p);
	pair_run(p);
}

static void test_bytes(void **state)
{
	static const char ask[] = "what\0is it?", answer[] = "this", other[] = "thus";
	const struct wl_bytes_conf conf = {.request = WL_FIXED(sizeof(ask)),
					   .response = WL_FIXED(4),
					   .response_content = 1,
					   .transactions = 5,
					   .close = WL_CLOSE_FIN};
	struct wl_content c[4];
	struct pair p;

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		wl_content_init_whole(&c[0], ask, sizeof(ask));
		wl_content_init_whole(&c[1], i == 0 ? answer : other, 4);
		wl_content_init_whole(&c[2], ask, sizeof(ask));
		wl_content_init_whole(&c[3], answer, 4);
		bytes_pair(&p, &conf, c);
		assert_int_equal(p.end[0].counts.done, 5);
		assert_int_equal(p.end[0].len, 5 * sizeof(ask));
		assert_memory_equal(p.end[0].out + sizeof(ask), ask, sizeof(ask));
		assert_memory_equal(p.end[1].out + 4, answer, 4);
		assert_int_equal(p.end[0].counts.mismatched, i == 0 ? 0 : 20);
		assert_int_equal(p.end[1].counts.mismatched, 0);
		pair_free(&p);
	}
}

/* ---- bytes in datagrams without a number ---- */

struct plain {
	struct wl_bytes_conf conf;
	struct wl_content content[3];
	struct wl_counts counts;
	struct wl_numbers numbers;
	struct wl_flow flow;
	uint32_t mem[WL_MEM_WORDS];
	uint64_t now_ns;
};

static const uint8_t plain_ask[] = "ask", plain_answer[] = "answer";

static void plain_begin(struct plain *p, bool client)
{
	*p = (struct plain){.conf = {.request = WL_FIXED(3),
				     .response = WL_FIXED(6),
				     .request_content = 1,
				     .response_content = 2,
				     .transactions = 1,
				     .timeout_ns = 1000,
				     .plain = true,
				     .close = WL_CLOSE_FIN},
			    .now_ns = 1000000000};
	wl_content_init(&p->content[0], NULL, 0, WL_FILL_X);
	wl_content_init_whole(&p->content[1], plain_ask, 3);
	wl_content_init_whole(&p->content[2], plain_answer, 6);
	p->flow = (struct wl_flow){.wl = &wl_bytes,
				   .conf = &p->conf,
				   .content = p->content,
				   .ncontent = 3,
				   .counts = &p->counts,
				   .own = &p->numbers,
				   .client = client,
				   .verify = true};
}

static struct wl_turn plain_turn(struct plain *p)
{
	return (struct wl_turn){.flow = &p->flow,
				.mem = p->mem,
				.now_ns = p->now_ns += 100,
				.arm = &pair_arm,
				.datagram = true};
}

static struct wl_turn plain_came(struct plain *p, const void *data, uint32_t n)
{
	struct wl_turn t = plain_turn(p);

	t.length = n;
	assert_int_equal(wl_bytes.received(&t, data, n), n);
	return t;
}

static void test_plain_client(void **state)
{
	struct plain p;
	struct wl_turn t;

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		plain_begin(&p, true);
		p.conf.response_unknown = i == 3;
		t = plain_turn(&p);
		wl_bytes.opened(&t);
		assert_true(t.send == 3 && t.content == 1 && !t.stamped);
		assert_int_equal(t.timer_ns, 1000);
		/* whatever comes is the answer; what of it is wrong is told where it is known */
		t = plain_came(&p,
			       i == 0   ? "answer"
			       : i == 1 ? "anszer"
					: "no answer",
			       i < 2 ? 6 : 9);
		assert_int_equal(p.counts.done, 1);
		assert_int_equal(p.counts.mismatched, i == 1 ? 6 : i == 2 ? 9 : 0);
		assert_true(t.close == WL_CLOSE_FIN && t.send == 0);
		/* and what follows it is of none */
		t = plain_came(&p, "answer", 6);
		assert_true(p.counts.done == 1 && p.numbers.late == 1 && t.send == 0);
		assert_int_equal(p.numbers.duplicated + p.numbers.lost + p.numbers.reordered, 0);
	}
	/* nothing comes in its time */
	plain_begin(&p, true);
	t = plain_turn(&p);
	wl_bytes.opened(&t);
	t = plain_turn(&p);
	wl_bytes.timer(&t);
	assert_true(p.counts.failed == 1 && p.counts.open == 0);
	plain_came(&p, "answer", 6);
	assert_true(p.counts.done == 0 && p.numbers.late == 1);
}

static void test_plain_server(void **state)
{
	struct plain p;
	struct wl_turn t;

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		plain_begin(&p, false);
		p.conf.request_unknown = i == 2;
		for (unsigned k = 1; k < 4; k++) {
			t = plain_came(&p, i == 0 ? "ask" : "a", i == 0 ? 3 : 1);
			assert_true(t.send == 6 && t.content == 2 && !t.stamped);
			assert_int_equal(p.counts.done, k);
			assert_int_equal(p.counts.mismatched, i == 1 ? k : 0);
		}
		assert_int_equal(p.numbers.lost + p.numbers.reordered + p.numbers.duplicated, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_contents),     cmocka_unit_test(test_whole),
		cmocka_unit_test(test_not_whole),    cmocka_unit_test(test_http),
		cmocka_unit_test(test_http_ends),    cmocka_unit_test(test_http_compares),
		cmocka_unit_test(test_http_refused), cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_plain_client), cmocka_unit_test(test_plain_server),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
