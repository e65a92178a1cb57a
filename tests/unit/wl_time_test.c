/* SPDX-License-Identifier: BSD-3-Clause */
/* Times of all records are right however long they are: of transactions, up to the first byte, and
 * of closes. The peer is a text that answers late. */
#include "cmocka_names.h"
#include "wl_pair.h"

#define SECOND 1000000000ull
#define HOUR (3600 * SECOND)
/* Behind the range of 32 bits of a time, of 40, and far beyond. */
static const uint64_t waits[] = {1000064,       200 * SECOND, 300 * SECOND, 1000 * SECOND,
				 20 * HOUR + 1, 47 * HOUR,    700 * HOUR,   1200 * HOUR};
#define UNIT_NS 64

static struct wl_timing *const none;
static struct wl_timing *timing(struct pair *p, unsigned which)
{
	struct wl_flow *f = &p->end[0].flow;
	struct wl_timing *const all[] = {&f->first, &f->whole, &f->since_due, &f->close};

	return which < ARRAY_SIZE(all) ? all[which] : none;
}
enum { FIRST, WHOLE, DUE, CLOSE };

static void want_times(struct pair *p)
{
	for (unsigned i = 0; timing(p, i) != NULL; i++) {
		timing(p, i)->h = hist_new((struct hist_shape){.bits = 7, .top = 62});
		assert_non_null(timing(p, i)->h);
	}
}
static void free_times(struct pair *p)
{
	for (unsigned i = 0; timing(p, i) != NULL; i++)
		free(timing(p, i)->h);
}
/* One more has been measured, and took so long. */
static void check_time(struct pair *p, unsigned which, uint64_t nr, uint64_t ns)
{
	struct wl_timing *t = timing(p, which);

	assert_int_equal(hist_count(t->h), nr);
	assert_in_range(t->sum, ns - ns % UNIT_NS, ns - ns % UNIT_NS + UNIT_NS);
	t->sum = 0;
}

static void answer(struct pair *p, const void *bytes, size_t n)
{
	pair_receive(p, &p->end[0], bytes, (uint32_t)n);
}

/* ---- HTTP ---- */

static struct wl_http *http_client(struct pair *p, const struct wl_http_settings *s)
{
	struct wl_http *h;
	struct err e;

	assert_int_equal(wl_http_make(s, &h, &e), 0);
	p->end[0].flow.wl = h->wl;
	p->end[0].flow.conf = &h->conf;
	p->end[0].flow.content = h->content;
	p->end[0].flow.ncontent = h->ncontent;
	want_times(p);
	return h;
}

/* A response in two pieces, of which the second one is late; or all of it is. */
static void http_late(struct pair *p, const char *head, uint32_t body, uint32_t piece,
		      uint64_t wait, uint64_t nr)
{
	size_t n = strlen(head) + body;
	char *text = malloc(n + 1);

	assert_non_null(text);
	memset(text, WL_X, n);
	memcpy(text, head, strlen(head));
	answer(p, text, piece);
	p->now_ns += wait;
	if (piece < strlen(head))
		assert_int_equal(hist_count(p->end[0].flow.first.h), nr - 1);
	answer(p, text + piece, n - piece);
	assert_int_equal(p->end[0].counts.done, nr);
	check_time(p, FIRST, nr, piece < strlen(head) ? wait : 0);
	check_time(p, WHOLE, nr, wait);
	check_time(p, DUE, nr, wait);
	free(text);
}

#define PAIR_OK "HTTP/1.1 200 OK\r\nServer: somebody else\r\nContent-Length: "
static void test_http(void **state)
{
	static const struct {
		const char *head;
		uint32_t body, piece;
	} cases[] = {
		{PAIR_OK "5\r\n\r\n", 5, 0},    /* all at once, of a head not known */
		{PAIR_OK "5\r\n\r\n", 5, 0},    /* and of a known one */
		{PAIR_OK "5\r\n\r\n", 5, 20},   /* in the middle of the head */
		{PAIR_OK "10\r\n\r\n", 10, 63}, /* in the body */
		{PAIR_OK "65535\r\n\r\n", 65535, 66},
		{PAIR_OK "65536\r\n\r\n", 65536, 66}, /* more than the words have room for */
		{PAIR_OK "5000000\r\n\r\n", 5000000, 70000},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(waits); i++) {
		struct pair p = {0};
		struct wl_http *h =
			http_client(&p, &(struct wl_http_settings){.client = true, .host = "h"});

		pair_open(&p);
		for (size_t k = 0; k < ARRAY_SIZE(cases); k++)
			http_late(&p, cases[k].head, cases[k].body, cases[k].piece, waits[i],
				  k + 1);
		http_late(&p, "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 9\r\n\r\n",
			  9, 60, waits[i], ARRAY_SIZE(cases) + 1);
		free_times(&p);
		pair_free(&p);
		wl_http_free(h);
	}
}

/* Each of as many open requests has a time of its own. */
static void test_http_pipelined(void **state)
{
	static const char ok[] = PAIR_OK "0\r\n\r\n";

	(void)state;
	for (unsigned deep = 2; deep <= WL_HTTP_PIPELINE; deep++) {
		struct pair p = {0};
		struct wl_http *h = http_client(&p, &(struct wl_http_settings){.client = true,
									       .host = "h",
									       .pipeline = deep});
		uint64_t began[WL_HTTP_PIPELINE];

		pair_open(&p);
		assert_int_equal(p.end[0].counts.open, deep);
		for (unsigned i = 0; i < deep; i++)
			began[i] = p.now_ns;
		for (unsigned i = 0; i < 40; i++) {
			p.now_ns += 200 * SECOND + i * 64;
			answer(&p, ok, sizeof(ok) - 1);
			check_time(&p, FIRST, i + 1, p.now_ns - began[i % deep]);
			check_time(&p, WHOLE, i + 1, p.now_ns - began[i % deep]);
			began[i % deep] = p.now_ns;
		}
		free_times(&p);
		pair_free(&p);
		wl_http_free(h);
	}
}

/* Without memory for the times behind the sixth request the connection is reset. */
static void test_http_no_memory(void **state)
{
	(void)state;
	for (unsigned deep = 2; deep <= WL_HTTP_PIPELINE; deep++) {
		struct pair p = {0};
		struct wl_http *h = http_client(&p, &(struct wl_http_settings){.client = true,
									       .host = "h",
									       .pipeline = deep});
		struct pair_end *e = &p.end[0];
		const struct wl_http_counts *k;
		struct pair_turn w;

		e->flow.counts = &e->counts;
		e->flow.own = calloc(1, e->flow.wl->own_bytes);
		e->flow.client = true;
		k = e->flow.own;
		/* two cells are left: for the state and one more */
		for (unsigned i = 2; i < PAIR_CELLS; i++)
			e->used[i] = true;
		w = pair_begin(&p, e);
		e->flow.wl->opened(&w.t);
		for (unsigned i = 1; i < deep && w.t.close == WL_CLOSE_NOT; i++) {
			assert_true(w.t.send != 0);
			w = pair_begin(&p, e);
			e->flow.wl->may_send(&w.t);
		}
		for (unsigned i = 2; i < PAIR_CELLS; i++)
			e->used[i] = false;
		assert_int_equal(w.t.close, deep > 6 ? WL_CLOSE_RST : WL_CLOSE_NOT);
		assert_int_equal(k->no_cell, deep > 6);
		assert_int_equal(e->counts.started, deep > 6 ? 6 : deep);
		pair_gone(&p, e, WL_END_RESET_BY_US);
		assert_int_equal(e->counts.failed, e->counts.started);
		free_times(&p);
		pair_free(&p);
		wl_http_free(h);
	}
}

/* ---- bytes ---- */

static void bytes_case(uint32_t response, uint64_t transactions, uint64_t wait)
{
	struct wl_bytes_conf conf = {.request = WL_FIXED(10),
				     .response = {.least = response, .most = response},
				     .transactions = transactions,
				     .close = WL_CLOSE_FIN};
	struct wl_content content;
	char *text = malloc(response);
	struct pair p = {0};

	assert_int_equal(wl_content_init(&content, NULL, 0, WL_FILL_X), 0);
	assert_non_null(text);
	memset(text, WL_X, response);
	p.end[0].flow = (struct wl_flow){.wl = &wl_bytes,
					 .conf = &conf,
					 .content = &content,
					 .ncontent = 1};
	want_times(&p);
	pair_open(&p);
	for (unsigned i = 1; i <= (transactions == 0 ? 4 : transactions); i++) {
		p.now_ns += wait;
		answer(&p, text, response / 2);
		p.now_ns += wait;
		answer(&p, text, response - response / 2);
		check_time(&p, FIRST, i, response == 1 ? 2 * wait : wait);
		check_time(&p, WHOLE, i, 2 * wait);
		check_time(&p, DUE, i, 2 * wait);
	}
	assert_int_equal(p.end[0].counts.mismatched, 0);
	if (transactions != 0) { /* it closes, and the peer is late */
		assert_true(p.end[0].fin);
		p.now_ns += wait;
		pair_run(&p);
		check_time(&p, CLOSE, 1, wait);
	}
	free_times(&p);
	pair_free(&p);
	free(text);
}

static void test_bytes(void **state)
{
	static const uint32_t sizes[] = {1, 64, 65535, 65536, 300000};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(waits); i++)
		for (size_t k = 0; k < ARRAY_SIZE(sizes); k++)
			for (unsigned transactions = 0; transactions <= 3; transactions++)
				bytes_case(sizes[k], transactions, waits[i] / 2);
}

/* Datagrams may be answered as late as their timeout allows. */
static void test_datagrams(void **state)
{
	(void)state;
	for (unsigned transactions = 0; transactions <= 2; transactions++) {
		struct wl_bytes_conf conf = {.request = WL_FIXED(10),
					     .response = WL_FIXED(12),
					     .transactions = transactions,
					     .timeout_ns = 1000 * SECOND,
					     .close = WL_CLOSE_FIN};
		struct pair p = {.now_ns = SECOND};
		struct pair_end *e = &p.end[0];
		struct pair_turn w;
		uint8_t bytes[12] = {0};

		e->flow = (struct wl_flow){.wl = &wl_bytes,
					   .conf = &conf,
					   .counts = &e->counts,
					   .own = calloc(1, wl_bytes.own_bytes),
					   .client = true};
		want_times(&p);
		w = pair_begin(&p, e);
		w.t.datagram = true;
		wl_bytes.opened(&w.t);
		for (unsigned i = 1; i <= (transactions == 1 ? 1 : 2); i++) {
			assert_true(w.t.stamped);
			assert_int_equal((uint32_t)w.t.stamp, i);
			assert_int_equal(w.t.stamp >> 32, (uint32_t)(SECOND / UNIT_NS));
			memcpy(bytes, &w.t.stamp, sizeof(w.t.stamp));
			p.now_ns += 900 * SECOND;
			w = pair_begin(&p, e);
			w.t.datagram = true;
			w.t.length = sizeof(bytes);
			assert_int_equal(wl_bytes.received(&w.t, bytes, sizeof(bytes)),
					 sizeof(bytes));
			check_time(&p, WHOLE, i, 900 * SECOND);
			check_time(&p, DUE, i, 900 * SECOND);
		}
		assert_int_equal(e->counts.failed, 0);
		free_times(&p);
		w = pair_begin(&p, e);
		w.t.datagram = true;
		e->flow.whole.h = e->flow.since_due.h = e->flow.close.h = NULL;
		wl_bytes.closed(&w.t, WL_END_CLOSED);
		free(e->flow.own);
	}
}

/* ---- the others ---- */

static void test_dialog(void **state)
{
	struct wl_content content;
	struct wl_dialog_conf conf = {.close = WL_CLOSE_FIN};

	(void)state;
	assert_int_equal(wl_content_init(&content, NULL, 0, WL_FILL_X), 0);
	assert_int_equal(wl_dialog_parse("send 5, recv 3", &conf, NULL), 0);
	for (size_t i = 0; i < ARRAY_SIZE(waits); i++) {
		struct pair p = {0};

		p.end[0].flow = (struct wl_flow){.wl = &wl_dialog,
						 .conf = &conf,
						 .content = &content,
						 .ncontent = 1};
		want_times(&p);
		pair_open(&p);
		p.now_ns += waits[i];
		answer(&p, "x", 1);
		p.now_ns += waits[i];
		answer(&p, "xx", 2);
		check_time(&p, FIRST, 1, waits[i]);
		check_time(&p, WHOLE, 1, 2 * waits[i]);
		p.now_ns += waits[i];
		pair_run(&p);
		check_time(&p, CLOSE, 1, waits[i]);
		free_times(&p);
		pair_free(&p);
	}
}

/* A stream that its client has closed goes on until the server has said all; and each byte of it is
 * compared, behind a head as long as they get. */
static void test_stream(void **state)
{
	const struct wl_stream_conf conf = {.direction = WL_DOWN};
	static uint8_t head[WL_HEAD_MAX], text[3000000];
	struct wl_content content;

	(void)state;
	for (size_t i = 0; i < sizeof(head); i++)
		head[i] = (uint8_t)(i * 7 % 256);
	assert_int_equal(wl_content_init(&content, head, sizeof(head), WL_FILL_PATTERN), 0);
	for (size_t i = 0; i < sizeof(text); i += 65536)
		wl_content_put(&content, i, text + i,
			       sizeof(text) - i < 65536 ? (uint32_t)(sizeof(text) - i) : 65536);
	for (size_t i = 0; i < ARRAY_SIZE(waits); i++) {
		static const uint32_t pieces[] = {1460, 1, 65536, 800000, 131000};
		struct pair p = {0};
		uint32_t n;

		p.end[0].flow = (struct wl_flow){.wl = &wl_stream,
						 .conf = &conf,
						 .content = &content,
						 .ncontent = 1,
						 .verify = true};
		want_times(&p);
		pair_open(&p);
		pair_call(&p, &p.end[0], wl_stream.drain);
		assert_true(p.end[0].fin);
		p.now_ns += waits[i];
		for (size_t at = 0, k = 0; at < sizeof(text); at += n, k++) {
			n = pieces[k % ARRAY_SIZE(pieces)];
			if (n > sizeof(text) - at)
				n = (uint32_t)(sizeof(text) - at);
			answer(&p, text + at, n);
		}
		assert_int_equal(p.end[0].counts.mismatched, 0);
		answer(&p, head, 100); /* not what is due */
		assert_int_equal(p.end[0].counts.mismatched, 100);
		pair_run(&p);
		check_time(&p, CLOSE, 1, waits[i]);
		free_times(&p);
		pair_free(&p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_http),           cmocka_unit_test(test_http_pipelined),
		cmocka_unit_test(test_http_no_memory), cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_datagrams),      cmocka_unit_test(test_dialog),
		cmocka_unit_test(test_stream),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
