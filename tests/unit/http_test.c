/* SPDX-License-Identifier: BSD-3-Clause */
/* The reader of HTTP: heads and bodies as programs send them, and as nobody should, whole and cut
 * at every place. Numbers in names are sections of RFC 9112 where nothing else is said. */
#include "cmocka_names.h"
#include <stdlib.h>
#include <string.h>
#include "http_parse.h"

#define LIMIT 4096

/* What a message came to. */
struct seen {
	struct http_msg msg;
	uint64_t data;   /* bytes of the body */
	uint32_t used;   /* bytes of the message */
	uint8_t framing; /* as the head said it */
};

/* Reads one message, in pieces of the lengths of `cut` (the last one again and again). */
static struct seen read_message(const char *text, size_t n, unsigned flags, const size_t *cut,
				unsigned ncut, uint32_t limit)
{
	struct seen s = {.msg = {.flags = (uint16_t)flags}};
	unsigned k = 0;
	bool data;

	while (s.used < n && s.msg.bad == HTTP_FINE && s.msg.state != HTTP_STATE_ENDED) {
		size_t want = cut[k < ncut ? k : ncut - 1], left = n - s.used;
		uint32_t piece = (uint32_t)(want < left ? want : left), used = 0;
		uint8_t *copy = malloc(piece);

		k++;
		assert_non_null(copy);
		memcpy(copy, text + s.used, piece);
		while (used < piece && s.msg.bad == HTTP_FINE && s.msg.state != HTTP_STATE_ENDED) {
			uint32_t one;

			if (http_in_head(&s.msg)) {
				one = http_head(&s.msg, limit, copy + used, piece - used);
				s.framing = s.msg.framing;
			} else {
				one = http_body(&s.msg, limit, copy + used, piece - used, &data);
				s.data += data ? one : 0;
			}
			assert_true(one > 0 || s.msg.bad != HTTP_FINE);
			used += one;
		}
		free(copy);
		s.used += used;
	}
	return s;
}

static void same(const struct seen *a, const struct seen *b)
{
	assert_int_equal(a->msg.bad, b->msg.bad);
	assert_int_equal(a->used, b->used);
	assert_int_equal(a->data, b->data);
	assert_int_equal(a->msg.state, b->msg.state);
	assert_int_equal(a->msg.flags, b->msg.flags);
	assert_int_equal(a->msg.status, b->msg.status);
	assert_int_equal(a->msg.method, b->msg.method);
	assert_int_equal(a->framing, b->framing);
	assert_int_equal(a->msg.length, b->msg.length);
}

/* Whole; and cut in two at each place, and byte by byte, with the same result. */
static struct seen read_all(const char *text, size_t n, unsigned flags)
{
	struct seen whole = read_message(text, n, flags, &n, 1, LIMIT), other;
	size_t one = 1;

	for (size_t at = 1; at < n; at++) {
		other = read_message(text, n, flags, (size_t[]){at, n}, 2, LIMIT);
		same(&whole, &other);
	}
	other = read_message(text, n, flags, &one, 1, LIMIT);
	same(&whole, &other);
	return whole;
}
static struct seen read_text(const char *text, unsigned flags)
{
	return read_all(text, strlen(text), flags);
}

struct good {
	const char *text;
	unsigned framing, method_or_status;
	uint64_t body;
	unsigned flags; /* of those that are compared */
};
#define COMPARED (HTTP_10 | HTTP_PERSIST | HTTP_EXPECT)

static void read_good(const struct good *g, size_t n, bool response)
{
	for (size_t i = 0; i < n; i++) {
		struct seen s = read_text(g[i].text, response ? HTTP_RESPONSE : 0);

		assert_int_equal(s.msg.bad, HTTP_FINE);
		assert_int_equal(s.framing, g[i].framing);
		assert_int_equal(response ? s.msg.status : s.msg.method, g[i].method_or_status);
		assert_int_equal(s.data, g[i].body);
		assert_int_equal(s.msg.flags & COMPARED, g[i].flags);
		assert_int_equal(s.used, strlen(g[i].text));
		assert_int_equal(s.msg.state, g[i].framing == HTTP_UNTIL_CLOSE ? HTTP_STATE_BODY
									       : HTTP_STATE_ENDED);
	}
}

static void test_requests_of_programs(void **state)
{
	static const struct good requests[] = {
		/* curl */
		{"GET /index.html HTTP/1.1\r\nHost: 10.0.0.2\r\nUser-Agent: curl/7.88.1\r\n"
		 "Accept: */*\r\n\r\n",
		 HTTP_NO_BODY, HTTP_GET, 0, HTTP_PERSIST},
		{"HEAD / HTTP/1.1\r\nHost: www.example.com:8080\r\nUser-Agent: curl/8.5.0\r\n"
		 "Accept: */*\r\n\r\n",
		 HTTP_NO_BODY, HTTP_HEAD, 0, HTTP_PERSIST},
		{"POST /form HTTP/1.1\r\nHost: h\r\nUser-Agent: curl/7.88.1\r\nAccept: */*\r\n"
		 "Content-Length: 9\r\nContent-Type: application/x-www-form-urlencoded\r\n\r\n"
		 "a=1&b=two",
		 HTTP_COUNTED, HTTP_POST, 9, HTTP_PERSIST},
		{"PUT /file HTTP/1.1\r\nHost: h\r\nUser-Agent: curl/7.88.1\r\nAccept: */*\r\n"
		 "Transfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n"
		 "5\r\nhello\r\n0\r\n\r\n",
		 HTTP_CHUNKED, HTTP_PUT, 5, HTTP_PERSIST | HTTP_EXPECT},
		{"GET / HTTP/1.0\r\nHost: h\r\nUser-Agent: curl/7.88.1\r\nAccept: */*\r\n\r\n",
		 HTTP_NO_BODY, HTTP_GET, 0, HTTP_10},
		/* wget */
		{"GET /a%20b HTTP/1.1\r\nHost: example.com\r\nUser-Agent: Wget/1.21.3\r\n"
		 "Accept: */*\r\nAccept-Encoding: identity\r\nConnection: Keep-Alive\r\n\r\n",
		 HTTP_NO_BODY, HTTP_GET, 0, HTTP_PERSIST},
		/* ab, without and with -k */
		{"GET / HTTP/1.0\r\nHost: 127.0.0.1:8000\r\nUser-Agent: ApacheBench/2.3\r\n"
		 "Accept: */*\r\n\r\n",
		 HTTP_NO_BODY, HTTP_GET, 0, HTTP_10},
		{"GET / HTTP/1.0\r\nConnection: Keep-Alive\r\nHost: 127.0.0.1:8000\r\n"
		 "User-Agent: ApacheBench/2.3\r\nAccept: */*\r\n\r\n",
		 HTTP_NO_BODY, HTTP_GET, 0, HTTP_10 | HTTP_PERSIST},
		/* wrk */
		{"GET /?x=1 HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n\r\n", HTTP_NO_BODY, HTTP_GET, 0,
		 HTTP_PERSIST},
		/* Python's http.client, which writes the body apart */
		{"POST /x HTTP/1.1\r\nHost: 127.0.0.1:1\r\nAccept-Encoding: identity\r\n"
		 "Content-Length: 3\r\n\r\nabc",
		 HTTP_COUNTED, HTTP_POST, 3, HTTP_PERSIST},
		/* a proxy in front, by nginx's defaults */
		{"GET / HTTP/1.0\r\nHost: backend\r\nConnection: close\r\n"
		 "User-Agent: Mozilla/5.0\r\n\r\n",
		 HTTP_NO_BODY, HTTP_GET, 0, HTTP_10},
		/* 2.2: empty lines first; LF alone; 5.2: folded; fields in any case and order */
		{"\r\n\nGET / HTTP/1.1\nhOsT:h\nX: a\n\tb\n c\ncontent-LENGTH:\t2 \n\nxy",
		 HTTP_COUNTED, HTTP_GET, 2, HTTP_PERSIST},
		{"GET / HTTP/1.1\r\nHost: h\r\nConnection: x,\r\n close , keep-alive\r\n\r\n",
		 HTTP_NO_BODY, HTTP_GET, 0, 0},
		/* 6.3: the same length again, as a list and as a field */
		{"PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 2, 2\r\nContent-Length: 2\r\n\r\n"
		 "ab",
		 HTTP_COUNTED, HTTP_PUT, 2, HTTP_PERSIST},
		/* 6.1: with a length besides the coding the connection ends */
		{"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 100\r\n"
		 "Transfer-Encoding: Chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n",
		 HTTP_CHUNKED, HTTP_POST, 1, 0},
		/* names that begin or end as those that are asked about */
		{"GET / HTTP/1.1\r\nHost: h\r\nContent-Lengths: 5\r\nXContent-Length: 5\r\n"
		 "Content-Lengt: 5\r\nConnectio: close\r\nConnection: closed, keep-alivex\r\n"
		 "Expect: 100-continues\r\n\r\n",
		 HTTP_NO_BODY, HTTP_GET, 0, HTTP_PERSIST},
		{"GET / HTTP/1.9\r\nHost:\r\nContent-Length: 0\r\n\r\n", HTTP_NO_BODY, HTTP_GET, 0,
		 HTTP_PERSIST},
		{"GET / HTTP/1.1\r\nHost: [2001:db8::1]:80\r\nX: \x80\xff\"\t \r\n\r\n",
		 HTTP_NO_BODY, HTTP_GET, 0, HTTP_PERSIST},
	};

	(void)state;
	read_good(requests, ARRAY_SIZE(requests), false);
}

static void test_responses_of_programs(void **state)
{
	static const struct good responses[] = {
		/* nginx */
		{"HTTP/1.1 200 OK\r\nServer: nginx/1.22.1\r\nDate: Mon, 01 Jan 2024 00:00:00 GMT\r\n"
		 "Content-Type: text/html\r\nContent-Length: 4\r\n"
		 "Last-Modified: Mon, 01 Jan 2024 00:00:00 GMT\r\nConnection: keep-alive\r\n"
		 "ETag: \"6592-267\"\r\nAccept-Ranges: bytes\r\n\r\nbody",
		 HTTP_COUNTED, 200, 4, HTTP_PERSIST},
		{"HTTP/1.1 200 OK\r\nServer: nginx\r\nContent-Type: text/plain\r\n"
		 "Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
		 "a\r\n0123456789\r\n1F\r\n0123456789012345678901234567890\r\n0\r\n\r\n",
		 HTTP_CHUNKED, 200, 41, 0},
		{"HTTP/1.1 304 Not Modified\r\nServer: nginx/1.22.1\r\nConnection: keep-alive\r\n"
		 "ETag: \"1\"\r\n\r\n",
		 HTTP_NO_BODY, 304, 0, HTTP_PERSIST},
		/* haproxy */
		{"HTTP/1.1 503 Service Unavailable\r\ncontent-length: 3\r\n"
		 "cache-control: no-cache\r\ncontent-type: text/html\r\nconnection: close\r\n\r\n"
		 "503",
		 HTTP_COUNTED, 503, 3, 0},
		{"HTTP/1.0 503 Service Unavailable\r\nCache-Control: no-cache\r\n"
		 "Connection: close\r\nContent-Type: text/html\r\n\r\n<html>",
		 HTTP_UNTIL_CLOSE, 503, 6, HTTP_10},
		/* Python's http.server */
		{"HTTP/1.0 200 OK\r\nServer: SimpleHTTP/0.6 Python/3.11.2\r\n"
		 "Date: Mon, 01 Jan 2024 00:00:00 GMT\r\nContent-type: text/html\r\n"
		 "Content-Length: 2\r\n\r\nok",
		 HTTP_COUNTED, 200, 2, HTTP_10},
		/* Apache, with a trailer; sizes with blanks and extensions behind them */
		{"HTTP/1.1 200 OK\r\nDate: Mon, 01 Jan 2024 00:00:00 GMT\r\n"
		 "Server: Apache/2.4.57 (Debian)\r\nTransfer-Encoding: chunked\r\n\r\n"
		 "4  \r\nabcd\r\n2;name=\"v;a\"\r\nef\r\n000\r\nContent-Length: 9\r\nX: y\r\n\r\n",
		 HTTP_CHUNKED, 200, 6, HTTP_PERSIST},
		/* a status line without a reason, with and without its blank */
		{"HTTP/1.1 204 \r\n\r\n", HTTP_NO_BODY, 204, 0, HTTP_PERSIST},
		{"HTTP/1.1 404\r\nContent-Length:1\r\n\r\nx", HTTP_COUNTED, 404, 1, HTTP_PERSIST},
		{"HTTP/1.1 100 Continue\r\n\r\n", HTTP_NO_BODY, 100, 0, HTTP_PERSIST},
		{"HTTP/1.1 200 OK\n\nall", HTTP_UNTIL_CLOSE, 200, 3, 0},
		/* 6.3: a coding that does not end with chunked goes on until close */
		{"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\nContent-Length: 1\r\n\r\nzzz",
		 HTTP_UNTIL_CLOSE, 200, 3, 0},
		{"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n1\r\nz\r\n0\r\n\r\n",
		 HTTP_CHUNKED, 200, 1, HTTP_PERSIST},
		{"HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n", HTTP_NO_BODY, 204, 0,
		 HTTP_PERSIST},
		{"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", HTTP_NO_BODY, 200, 0,
		 HTTP_PERSIST},
		{"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 1\r\n\r\n1",
		 HTTP_COUNTED, 200, 1, HTTP_10 | HTTP_PERSIST},
	};

	(void)state;
	read_good(responses, ARRAY_SIZE(responses), true);
}

struct wrong {
	const char *text;
	unsigned bad;
};
static void read_wrong(const struct wrong *w, size_t n, unsigned flags)
{
	for (size_t i = 0; i < n; i++) {
		struct seen s = read_text(w[i].text, flags);

		if (s.msg.bad != w[i].bad)
			print_error("\"%s\"\n", w[i].text);
		assert_int_equal(s.msg.bad, w[i].bad);
	}
}

#define HEAD "POST / HTTP/1.1\r\nHost: h\r\n"
#define CHUNKS HEAD "Transfer-Encoding: chunked\r\n\r\n"

static void test_wrong_requests(void **state)
{
	static const struct wrong wrong[] = {
		{" GET / HTTP/1.1\r\n", HTTP_BAD_START},
		{"G\x01T / HTTP/1.1\r\n", HTTP_BAD_START},
		{"GET  / HTTP/1.1\r\n", HTTP_BAD_START},
		{"GET /\r\n", HTTP_BAD_START}, /* HTTP/0.9 */
		{"GET / \r\n", HTTP_BAD_START},
		{"GET / http/1.1\r\n", HTTP_BAD_START},
		{"GET / HTTP/1.1 \r\n", HTTP_BAD_START},
		{"GET / HTTP/1.x\r\n", HTTP_BAD_START},
		{"GET / HTTP/1\r\n", HTTP_BAD_START},
		{"GET / HTTP/1.1\rX", HTTP_BAD_START},
		{"GET /\x80 HTTP/1.1\r\n", HTTP_BAD_START},
		{"\rGET / HTTP/1.1\r\n", HTTP_BAD_START},
		{"\x16\x03\x01\x02", HTTP_BAD_START}, /* TLS */
		{"GET / HTTP/2.0\r\n", HTTP_BAD_VERSION},
		{"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", HTTP_BAD_VERSION},
		{"BREW / HTTP/1.1\r\nHost: h\r\n\r\n", HTTP_BAD_METHOD},
		{"get / HTTP/1.1\r\nHost: h\r\n\r\n", HTTP_BAD_METHOD},
		{"GETS / HTTP/1.1\r\nHost: h\r\n\r\n", HTTP_BAD_METHOD},
		/* 2.2, 5.1 */
		{"GET / HTTP/1.1\r\n X: y\r\n", HTTP_BAD_FIELD},
		{"GET / HTTP/1.1\r\nHost : h\r\n", HTTP_BAD_FIELD},
		{"GET / HTTP/1.1\r\nHost\r\n", HTTP_BAD_FIELD},
		{"GET / HTTP/1.1\r\n: h\r\n", HTTP_BAD_FIELD},
		{"GET / HTTP/1.1\r\nX: a\rb\r\n", HTTP_BAD_FIELD},
		{"GET / HTTP/1.1\r\nHost: h\r\n\rX", HTTP_BAD_FIELD},
		/* 3.2 */
		{"GET / HTTP/1.1\r\n\r\n", HTTP_BAD_HOST},
		{"GET / HTTP/1.1\r\nHost: h\r\nHost: h\r\n\r\n", HTTP_BAD_HOST},
		{"GET / HTTP/1.1\r\nHost: a b\r\n\r\n", HTTP_BAD_HOST},
		{"GET / HTTP/1.1\r\nHost: a/b\r\n\r\n", HTTP_BAD_HOST},
		{"GET / HTTP/1.1\r\nHost: a@b\r\n\r\n", HTTP_BAD_HOST},
		/* 6.3 */
		{HEAD "Content-Length: \r\n\r\n", HTTP_BAD_LENGTH},
		{HEAD "Content-Length: +1\r\n\r\n", HTTP_BAD_LENGTH},
		{HEAD "Content-Length: -1\r\n\r\n", HTTP_BAD_LENGTH},
		{HEAD "Content-Length: 1 2\r\n\r\n", HTTP_BAD_LENGTH},
		{HEAD "Content-Length: 1\r\n 2\r\n\r\n", HTTP_BAD_LENGTH},
		{HEAD "Content-Length: 0x10\r\n\r\n", HTTP_BAD_LENGTH},
		{HEAD "Content-Length: 1, 2\r\n\r\n", HTTP_BAD_LENGTH},
		{HEAD "Content-Length: 1,,1\r\n\r\n", HTTP_BAD_LENGTH},
		{HEAD "Content-Length: 1,\r\n\r\n", HTTP_BAD_LENGTH},
		{HEAD "Content-Length: 1\r\nContent-Length: 2\r\n\r\n", HTTP_BAD_LENGTH},
		{HEAD "Content-Length: 18446744073709551616\r\n\r\n", HTTP_BAD_LENGTH},
		{HEAD "Content-Length: 99999999999999999999\r\n\r\n", HTTP_BAD_LENGTH},
		{HEAD "Transfer-Encoding: chunked, chunked\r\n\r\n", HTTP_BAD_CODING},
		{HEAD "Transfer-Encoding: chunked, gzip\r\n\r\n", HTTP_BAD_CODING},
		{HEAD "Transfer-Encoding: gzip\r\n\r\n", HTTP_BAD_CODING},
		{HEAD "Transfer-Encoding: xchunked\r\n\r\n", HTTP_BAD_CODING},
		{HEAD "Transfer-Encoding: chunked x\r\n\r\n", HTTP_BAD_CODING},
		{HEAD "Transfer-Encoding: gzip, chunked\r\n\r\n", HTTP_UNKNOWN_CODING},
		/* 7.1 */
		{CHUNKS "\r\n", HTTP_BAD_CHUNK},
		{CHUNKS "g\r\n", HTTP_BAD_CHUNK},
		{CHUNKS "-1\r\n", HTTP_BAD_CHUNK},
		{CHUNKS "0x1\r\n", HTTP_BAD_CHUNK},
		{CHUNKS "1\nx", HTTP_BAD_CHUNK},
		{CHUNKS "1\rx", HTTP_BAD_CHUNK},
		{CHUNKS "1;a\nx", HTTP_BAD_CHUNK},
		{CHUNKS "1\r\nxy\r\n", HTTP_BAD_CHUNK},
		{CHUNKS "1\r\nx\n1", HTTP_BAD_CHUNK},
		{CHUNKS "10000000000000000\r\n", HTTP_BAD_CHUNK},
		{CHUNKS "0\r\n X\r\n", HTTP_BAD_FIELD},
		{CHUNKS "0\r\nX\r\n", HTTP_BAD_FIELD},
	};

	(void)state;
	read_wrong(wrong, ARRAY_SIZE(wrong), 0);
	assert_int_equal(read_all("GET / HTTP/1.1\r\nX: \0", 20, 0).msg.bad, HTTP_BAD_FIELD);
}

static void test_wrong_responses(void **state)
{
	static const struct wrong wrong[] = {
		{"\r\nHTTP/1.1 200 OK\r\n", HTTP_BAD_START},
		{"ICY 200 OK\r\n", HTTP_BAD_START},
		{"HTTP/1.1  200 OK\r\n", HTTP_BAD_START},
		{"HTTP/1.1 20 OK\r\n", HTTP_BAD_START},
		{"HTTP/1.1 2000 OK\r\n", HTTP_BAD_START},
		{"HTTP/1.1 099 OK\r\n", HTTP_BAD_START},
		{"HTTP/1.1 600 OK\r\n", HTTP_BAD_START},
		{"HTTP/1.1 2x0 OK\r\n", HTTP_BAD_START},
		{"HTTP/1.1 200 O\rK\r\n", HTTP_BAD_START},
		{"HTTP/2 200\r\n", HTTP_BAD_VERSION},
		{"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n", HTTP_BAD_LENGTH},
		{"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
		 HTTP_BAD_LENGTH},
		{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, chunked\r\n\r\n", HTTP_BAD_CODING},
		{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nz\r\n", HTTP_BAD_CHUNK},
	};

	(void)state;
	read_wrong(wrong, ARRAY_SIZE(wrong), HTTP_RESPONSE);
}

/* A head of as many bytes as are allowed is read, and one of a byte more is not, wherever it is
 * cut. */
static void test_limits(void **state)
{
	static const char text[] = "GET /0123456789 HTTP/1.1\r\nHost: h\r\n\r\n";
	static const char *const chunk = CHUNKS "1;0123456789\r\nx\r\n0\r\nX: 0123456789\r\n\r\n";
	size_t n = sizeof(text) - 1;

	(void)state;
	for (uint32_t limit = 1; limit <= n; limit++) {
		unsigned want = limit == n    ? HTTP_FINE
				: limit >= 24 ? HTTP_LONG_HEAD
					      : HTTP_LONG_TARGET;

		for (size_t cut = 1; cut <= n; cut++) {
			struct seen s = read_message(text, n, 0, &cut, 1, limit);

			assert_int_equal(s.msg.bad, want);
			assert_int_equal(s.used, limit);
		}
	}
	for (size_t cut = 1; cut <= strlen(chunk); cut++) {
		assert_int_equal(read_message(chunk, strlen(chunk), 0, &cut, 1, 100).msg.bad,
				 HTTP_FINE);
		/* the trailers are as long as the head without its own part */
		assert_int_equal(read_message(chunk, strlen(chunk), 0, &cut, 1, 57).msg.bad,
				 HTTP_FINE);
	}
}

/* Lines of chunks have the limit, too: nobody can keep a reader busy with one. */
static void test_chunk_limits(void **state)
{
	char text[600];
	size_t n = strlen(CHUNKS), one = 1;

	(void)state;
	strcpy(text, CHUNKS);
	memset(text + n, '0', sizeof(text) - n);
	for (size_t cut = 1; cut < 200; cut += 7) {
		struct seen s = read_message(text, sizeof(text), 0, &cut, 1, 100);

		assert_int_equal(s.msg.bad, HTTP_LONG_HEAD);
		assert_int_equal(s.used, n + 100);
	}
	strcpy(text + n, "0\r\nX: ");
	memset(text + n + 6, 'y', sizeof(text) - n - 6);
	assert_int_equal(read_message(text, sizeof(text), 0, &one, 1, 100).msg.bad, HTTP_LONG_HEAD);
	assert_int_equal(read_message(text, sizeof(text), 0, &(size_t){600}, 1, 100).used,
			 n + 3 + 100);
}

/* Bytes that are only known to have come: data of bodies, and nothing else. */
static void test_unknown_bytes(void **state)
{
	struct http_msg m = {.flags = HTTP_RESPONSE};
	static const char head[] = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n";
	bool data;

	(void)state;
	assert_int_equal(http_head(&m, LIMIT, (const uint8_t *)head, sizeof(head) - 1),
			 sizeof(head) - 1);
	assert_int_equal(http_body(&m, LIMIT, NULL, 7, &data), 7);
	assert_true(data);
	assert_int_equal(http_body(&m, LIMIT, NULL, 7, &data), 3);
	assert_int_equal(m.state, HTTP_STATE_ENDED);
	m = (struct http_msg){.flags = HTTP_RESPONSE};
	http_head(&m, LIMIT, NULL, 7);
	assert_int_equal(m.bad, HTTP_BAD_START);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_requests_of_programs),
		cmocka_unit_test(test_responses_of_programs),
		cmocka_unit_test(test_wrong_requests),
		cmocka_unit_test(test_wrong_responses),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_chunk_limits),
		cmocka_unit_test(test_unknown_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
