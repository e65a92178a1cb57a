/* SPDX-License-Identifier: BSD-3-Clause */
/* The records of iperf3's connections on a port, called as an arm would. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "iperf_wl.h"

#define MS 1000000ull

struct line {
	struct iperf_wl_conf conf;
	struct iperf_wl_line own;
	struct wl_content content[IPERF_WL_CONTENTS];
	uint8_t head[IPERF_UDP_HEAD64];
	char hello[IPERF_COOKIE]; /* with zeros behind it */
	struct wl_counts counts;
	struct wl_flow flow;
	struct wl_turn turn;
	uint32_t mem[WL_MEM_WORDS];
};

static void line_new(struct line *l, const struct workload *wl, const char *hello)
{
	l->own = (struct iperf_wl_line){0};
	l->counts = (struct wl_counts){0};
	l->conf.content = l->content;
	l->conf.head = l->head;
	l->conf.burst = 1;
	memset(l->hello, 0, sizeof(l->hello));
	memcpy(l->hello, hello, strlen(hello));
	iperf_wl_contents(l->content, l->hello, wl->udp ? 4 : IPERF_COOKIE, l->head);
	l->flow = (struct wl_flow){.wl = wl,
				   .conf = &l->conf,
				   .content = l->content,
				   .ncontent = IPERF_WL_CONTENTS,
				   .counts = &l->counts,
				   .own = &l->own,
				   .client = true,
				   .on_call = true};
}

static struct wl_turn *turn(struct line *l, uint64_t now_ns)
{
	l->turn = (struct wl_turn){.flow = &l->flow,
				   .mem = l->mem,
				   .now_ns = now_ns,
				   .datagram = l->flow.wl->udp};
	return &l->turn;
}

static void assert_sends(const struct line *l, unsigned content, uint64_t bytes)
{
	assert_int_equal(l->turn.send, bytes);
	if (bytes != 0)
		assert_int_equal(l->turn.content, content);
}

static void test_stream(void **state)
{
	static const char cookie[IPERF_COOKIE] = "abcdefghijklmnopqrstuvwxyz2345672345";
	const struct workload *wl = &iperf_wl_stream;
	int64_t left = 2500;
	struct line a = {.conf = {.sends = true, .blksize = 1000, .left = &left}}, b = a;

	(void)state;
	line_new(&a, wl, cookie);
	line_new(&b, wl, cookie);
	wl->opened(turn(&b, 1));
	wl->opened(turn(&a, 1));
	assert_sends(&a, IPERF_WL_HELLO, IPERF_COOKIE);
	assert_true(a.turn.ready && a.counts.started == 1);
	assert_memory_equal(a.content[IPERF_WL_HELLO].head, cookie, IPERF_COOKIE);
	wl->may_send(turn(&a, 2)); /* the cookie has gone, the test has not begun */
	assert_sends(&a, 0, 0);
	wl->go(turn(&a, 3));
	assert_sends(&a, IPERF_WL_DATA, 1000);
	wl->go(turn(&b, 3));
	assert_sends(&b, IPERF_WL_DATA, 1000);
	wl->may_send(turn(&a, 4)); /* what both together may send */
	assert_sends(&a, IPERF_WL_DATA, 500);
	wl->may_send(turn(&b, 4));
	assert_sends(&b, 0, 0);
	assert_int_equal(a.own.tx_bytes + b.own.tx_bytes, 2500);
	assert_int_equal(wl->received(turn(&a, 5), NULL, 77), 77);
	assert_int_equal(a.own.rx_bytes, 77);
	wl->ended(turn(&a, 6));
	assert_int_equal(a.turn.close, WL_CLOSE_FIN);
	wl->closed(turn(&a, 7), WL_END_CLOSED);
	wl->closed(turn(&b, 7), WL_END_RESET_BY_PEER);
	assert_int_equal(a.counts.done, 1);
	assert_int_equal(b.counts.failed, 1);
	assert_int_equal(a.counts.open + b.counts.open, 0);
}

static void test_pace(void **state)
{
	const struct workload *wl = &iperf_wl_stream;
	struct line l = {.conf = {.sends = true, .blksize = 1000, .ns_byte = 1000}};

	(void)state;
	line_new(&l, wl, "");
	wl->opened(turn(&l, 1));
	wl->go(turn(&l, 10 * MS));
	assert_sends(&l, IPERF_WL_DATA, 1000);
	wl->may_send(turn(&l, 10 * MS + 1));
	assert_sends(&l, 0, 0);
	assert_int_equal(l.turn.timer_ns, MS - 1);
	/* what is late is made up for */
	for (unsigned i = 0; i < 3; i++) {
		wl->timer(turn(&l, 13 * MS));
		assert_sends(&l, IPERF_WL_DATA, 1000);
	}
	wl->timer(turn(&l, 13 * MS));
	assert_sends(&l, 0, 0);
	l.flow.draining = true;
	wl->timer(turn(&l, 100 * MS));
	assert_sends(&l, 0, 0);
}

static void test_datagrams(void **state)
{
	const struct workload *wl = &iperf_wl_datagrams;
	struct line l = {.conf = {.sends = true, .blksize = 100}};
	uint8_t bytes[100] = "6789";

	(void)state;
	line_new(&l, wl, "9876");
	wl->opened(turn(&l, MS));
	assert_sends(&l, IPERF_WL_HELLO, 4);
	assert_true(!l.turn.ready && l.turn.timer_ns == 1000 * MS);
	wl->timer(turn(&l, 1001 * MS)); /* the answer was lost */
	assert_sends(&l, IPERF_WL_HELLO, 4);
	turn(&l, 1002 * MS)->length = 4;
	wl->received(&l.turn, bytes, 4);
	assert_true(l.turn.ready && l.turn.timer_ns == WL_NO_TIMER && l.own.packets == 0);
	for (uint8_t i = 1; i < 4; i++) {
		i == 1 ? wl->go(turn(&l, 2000 * MS)) : wl->may_send(turn(&l, 2000 * MS));
		assert_sends(&l, IPERF_WL_DATA, 100);
		wl_content_put(l.content, 0, bytes, sizeof(bytes));
		assert_memory_equal(bytes + 8, ((uint8_t[]){0, 0, 0, i}), 4);
		wl->timer(turn(&l, 2000 * MS)); /* one that has not gone keeps its number */
		assert_sends(&l, 0, 0);
	}
	assert_int_equal(l.own.packets, 3);
	assert_int_equal(l.own.tx_bytes, 300);
}

static void test_greetings_end(void **state)
{
	const struct workload *wl = &iperf_wl_datagrams;
	struct line l = {.conf = {.sends = true, .blksize = 100}};
	unsigned sent = 1;

	(void)state;
	line_new(&l, wl, "9876");
	wl->opened(turn(&l, MS));
	for (; sent < 100 && l.turn.close == WL_CLOSE_NOT; sent += l.turn.send != 0)
		wl->timer(turn(&l, MS + sent * 1000 * MS));
	assert_int_equal(sent, 10);
	wl->closed(turn(&l, MS), WL_END_CLOSED);
	assert_int_equal(l.counts.started, 0);
}

static void test_receives(void **state)
{
	const struct workload *wl = &iperf_wl_datagrams;
	struct line l = {.conf = {.blksize = 100}};
	uint8_t bytes[100] = {0};
	static const uint64_t numbers[] = {1, 2, 5, 4};

	(void)state;
	line_new(&l, wl, "9876");
	wl->opened(turn(&l, MS));
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		iperf_udp_put(bytes, 1000, numbers[i], false);
		turn(&l, (2 + i) * MS)->length = 100;
		wl->received(&l.turn, bytes, 16);
		/* data says as much as the answer to a greeting, which may be lost */
		assert_true(l.turn.ready == (i == 0));
	}
	assert_int_equal(l.own.rx_bytes, 400);
	assert_int_equal(l.own.packets, 5);
	assert_int_equal(l.own.lost, 1);
	assert_int_equal(l.own.unordered, 1);
}

/* ---- a server's ---- */

static uint64_t identity(struct wl_turn *t)
{
	return t->mem[1] * 1000 + 7;
}

static struct iperf_served served;
static struct iperf_served_lines lines;
static struct wl_content contents[IPERF_SERVED_CONTENTS];
static uint8_t heads[IPERF_ALL][IPERF_UDP_HEAD64];

static void serve(struct line *l, const struct workload *wl)
{
	static const struct wl_arm arm = {.identity = identity};

	*l = (struct line){.flow = {.wl = wl,
				    .conf = &served,
				    .content = contents,
				    .ncontent = IPERF_SERVED_CONTENTS,
				    .counts = &l->counts,
				    .own = &lines,
				    .on_call = true}};
	wl->opened(turn(l, MS));
	l->turn.arm = &arm;
}

static void test_begins(bool udp, unsigned want)
{
	static const char cookie[IPERF_COOKIE] = "abcdefghijklmnopqrstuvwxyz2345672345";

	static uint64_t tests;

	iperf_served_contents(contents, udp, heads);
	served = (struct iperf_served){.test = ++tests, .want = want};
	lines = (struct iperf_served_lines){0};
	memcpy(served.cookie, cookie, IPERF_COOKIE);
	for (unsigned i = 0; i < want; i++)
		served.line[i] = (struct iperf_wl_conf){.sends = i == 1,
							.blksize = 100,
							.burst = 1,
							.content = &contents[1 + i],
							.head = heads[i],
							.number = (uint16_t)(1 + i)};
}

/* Says n bytes as if they came one by one, or all at once. */
static uint32_t says(struct line *l, const void *bytes, uint32_t n, bool slowly)
{
	const struct wl_arm *arm = l->turn.arm;
	uint32_t took = 0;

	for (uint32_t at = 0; at < n; at += slowly ? 1 : n) {
		turn(l, 2 * MS)->length = n;
		l->turn.arm = arm;
		took += l->flow.wl->received(&l->turn, (const uint8_t *)bytes + at, slowly ? 1 : n);
	}
	return took;
}

static void test_who_comes(void **state)
{
	const struct workload *wl = &iperf_wl_served;
	struct line first, second, other, odd, silent, late;
	char text[100] = {0};

	(void)state;
	test_begins(false, 2);
	serve(&other, wl);
	assert_true(other.turn.timer_ns > 0 && other.turn.timer_ns != WL_NO_TIMER);
	memset(text, 'x', IPERF_COOKIE - 1);
	assert_int_equal(says(&other, text, IPERF_COOKIE, false), IPERF_COOKIE);
	assert_sends(&other, 0, 1);
	assert_int_equal(contents[0].head[0], 0xff);
	assert_true(other.turn.close == WL_CLOSE_FIN && lines.n == 0);
	assert_int_equal(says(&other, text, 5, false), 5); /* it goes on, and nobody hears it */
	assert_sends(&other, 0, 0);
	serve(&odd, wl);
	assert_int_equal(says(&odd, "GET / HTTP/1.1\r\nHost: localhost:5201\r\n", 41, false),
			 IPERF_COOKIE);
	assert_sends(&odd, 0, 0);
	assert_int_equal(odd.turn.close, WL_CLOSE_FIN);
	serve(&silent, wl);
	assert_false(wl->ahead(&silent.turn, 3, NULL, 1)); /* its cookie is wanted byte by byte */
	wl->timer(turn(&silent, 20000 * MS));
	assert_int_equal(silent.turn.close, WL_CLOSE_FIN);

	/* a cookie in pieces, and data behind one in the same segment */
	serve(&first, wl);
	assert_int_equal(says(&first, served.cookie, IPERF_COOKIE, true), IPERF_COOKIE);
	assert_true(first.turn.ready && lines.n == 1 && lines.line[0].identity == 7 + 1000);
	memcpy(text, served.cookie, IPERF_COOKIE);
	serve(&second, wl);
	assert_int_equal(says(&second, text, 60, false), IPERF_COOKIE);
	assert_int_equal(says(&second, text, 23, false), 23);
	assert_true(lines.n == 2 && lines.line[1].wl.rx_bytes == 23);
	serve(&late, wl);
	assert_int_equal(says(&late, text, IPERF_COOKIE, false), IPERF_COOKIE);
	assert_sends(&late, 0, 1); /* there are as many as it wants */

	wl->may_send(turn(&second, 3 * MS));
	assert_sends(&second, 0, 0);
	wl->go(turn(&second, 4 * MS));
	assert_sends(&second, 2, 100);
	wl->go(turn(&first, 4 * MS));
	assert_sends(&first, 0, 0);
	wl->ended(turn(&first, 5 * MS)); /* a client's end of data says nothing about the test */
	assert_int_equal(first.turn.close, WL_CLOSE_NOT);

	/* the test is over: what is left of it is none of the next one */
	served.test = 0;
	wl->may_send(turn(&second, 6 * MS));
	assert_sends(&second, 0, 0);
	test_begins(false, 2);
	assert_int_equal(says(&first, text, 60, false), 60);
	wl->may_send(turn(&second, 7 * MS));
	assert_sends(&second, 0, 0);
	assert_true(lines.n == 0 && lines.line[0].wl.rx_bytes == 0);
	wl->drain(turn(&second, 8 * MS));
	assert_int_equal(second.turn.close, WL_CLOSE_FIN);
	wl->closed(turn(&second, 9 * MS), WL_END_CLOSED);
	wl->closed(turn(&first, 9 * MS), WL_END_ABORTED);
	wl->closed(turn(&odd, 9 * MS), WL_END_CLOSED);
	assert_true(second.counts.done == 1 && first.counts.failed == 1 && odd.counts.started == 0);
	assert_int_equal(first.counts.open + second.counts.open, 0);
}

static void test_who_greets(void **state)
{
	const struct workload *wl = &iperf_wl_served_datagrams;
	struct line gets, sends, other;
	uint8_t bytes[100] = {0};

	(void)state;
	test_begins(true, 2);
	serve(&other, wl);
	says(&other, bytes, 100, false); /* no greeting */
	assert_true(other.turn.close == WL_CLOSE_FIN && lines.n == 0);
	serve(&gets, wl);
	says(&gets, "9876", 4, false);
	assert_sends(&gets, 0, 4);
	assert_memory_equal(contents[0].head, "6789", 4);
	says(&gets, "9876", 4, false); /* one answer at a time */
	assert_sends(&gets, 0, 0);
	wl->may_send(turn(&gets, 3 * MS));
	says(&gets, "9876", 4, false); /* it was lost */
	assert_sends(&gets, 0, 4);
	serve(&sends, wl);
	says(&sends, "\1\2\3\4", 4, false);
	wl->may_send(turn(&sends, 3 * MS));
	assert_int_equal(lines.n, 2);
	wl->go(turn(&gets, 4 * MS));
	wl->go(turn(&sends, 4 * MS));
	assert_sends(&sends, 2, 100);
	wl_content_put(&contents[2], 0, bytes, sizeof(bytes));
	assert_memory_equal(bytes + 8, "\0\0\0\1", 4);
	iperf_udp_put(bytes, 1000, 3, false);
	says(&gets, bytes, 100, false);
	assert_true(lines.line[0].wl.rx_bytes == 100 && lines.line[0].wl.lost == 2);
	says(&gets, "9876", 4, false); /* behind the begin nobody answers */
	assert_sends(&gets, 0, 0);
	served.test = 0;
	says(&gets, bytes, 100, false);
	assert_true(gets.turn.close == WL_CLOSE_FIN && lines.line[0].wl.rx_bytes == 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stream),     cmocka_unit_test(test_pace),
		cmocka_unit_test(test_datagrams),  cmocka_unit_test(test_greetings_end),
		cmocka_unit_test(test_receives),   cmocka_unit_test(test_who_comes),
		cmocka_unit_test(test_who_greets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
