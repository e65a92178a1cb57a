/* SPDX-License-Identifier: BSD-3-Clause */
/* iperf3's control connection as machines: whole sessions as recorded, in pieces of all sizes, and
 * what is wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "iperf_proto.h"

static const char cookie[IPERF_COOKIE] = "koxjuwyfy2bscv7veaf2ctwwr7iunav577pk";
/* As iperf 3.12 says them. */
static const char params[] =
	"{\"tcp\":true,\"omit\":0,\"time\":1,\"num\":0,\"blockcount\":0,\"parallel\":3,\"len\":131072,"
	"\"pacing_timer\":1000,\"client_version\":\"3.12\"}";
/* As a server before 3.14 does: -1 without a sign. */
static const char results[] =
	"{\"cpu_util_total\":3.5,\"cpu_util_user\":0.5,\"cpu_util_system\":3,\"sender_has_retransmits\":-1,"
	"\"congestion_used\":\"cubic\",\"streams\":[{\"id\":1,\"bytes\":160038912,"
	"\"retransmits\":18446744073709551615,\"jitter\":0,\"errors\":0,\"packets\":0,\"start_time\":0,"
	"\"end_time\":1.021354}]}";

static void put_json(struct sbuf *b, const char *text)
{
	uint8_t head[4] = {0, 0};

	put_be16(head + 2, (unsigned)strlen(text));
	sbuf_addn(b, (const char *)head, 4);
	sbuf_add(b, text);
}

/* Gives bytes in pieces of `piece`, and lets the owner answer. Returns the last event. */
static enum iperf_event feed(struct iperf_ctl *c, const char *bytes, size_t n, size_t piece,
			     const char *own)
{
	enum iperf_event ev = IPERF_EV_NONE, last = IPERF_EV_NONE;

	for (size_t at = 0; at < n;) {
		size_t give = n - at < piece ? n - at : piece;
		size_t took = iperf_ctl_in(c, (const uint8_t *)bytes + at, give, &ev);
		assert_true(took > 0 && took <= give);
		at += took;
		if (ev == IPERF_EV_NONE)
			continue;
		last = ev;
		if (ev == IPERF_EV_PARAMS) {
			assert_string_equal(sbuf_str(&c->json), params);
			iperf_ctl_streams(c);
			iperf_ctl_go(c);
		} else if (ev == IPERF_EV_END) {
			iperf_ctl_exchange(c);
		} else if (ev == IPERF_EV_RUN) {
			iperf_ctl_end(c);
		} else if (ev == IPERF_EV_ASKED || (ev == IPERF_EV_RESULTS && !c->client)) {
			iperf_ctl_results(c, xstrdup(own));
		}
	}
	return last;
}

static void test_client_session(void **state)
{
	struct sbuf in = {0}, out = {0};

	(void)state;
	sbuf_addn(&in, "\x09\x0a\x01\x02\x0d", 5);
	put_json(&in, results);
	sbuf_addn(&in, "\x0e", 1);
	sbuf_addn(&out, cookie, IPERF_COOKIE);
	put_json(&out, params);
	sbuf_addn(&out, "\x04", 1);
	put_json(&out, "{}");
	sbuf_addn(&out, "\x10", 1);
	for (size_t piece = 1; piece <= in.len; piece++) {
		struct iperf_ctl c;
		iperf_ctl_client(&c, cookie, xstrdup(params));
		assert_int_equal(feed(&c, in.s, in.len, piece, "{}"), IPERF_EV_DONE);
		assert_int_equal(c.out.len, out.len);
		assert_memory_equal(c.out.s, out.s, out.len);
		assert_string_equal(sbuf_str(&c.json), results);
		assert_int_equal(iperf_ctl_gone(&c, 0), IPERF_EV_NONE);
		iperf_ctl_free(&c);
	}
	sbuf_free(&in);
	sbuf_free(&out);
}

static void test_server_session(void **state)
{
	struct sbuf in = {0}, out = {0};

	(void)state;
	sbuf_addn(&in, cookie, IPERF_COOKIE);
	put_json(&in, params);
	sbuf_addn(&in, "\x04", 1);
	put_json(&in, results);
	sbuf_addn(&in, "\x10", 1);
	sbuf_addn(&out, "\x09\x0a\x01\x02\x0d", 5);
	put_json(&out, "{\"a\":1}");
	sbuf_addn(&out, "\x0e", 1);
	for (size_t piece = 1; piece <= in.len; piece++) {
		struct iperf_ctl c;
		iperf_ctl_server(&c);
		assert_int_equal(feed(&c, in.s, in.len, piece, "{\"a\":1}"), IPERF_EV_DONE);
		assert_int_equal(c.out.len, out.len);
		assert_memory_equal(c.out.s, out.s, out.len);
		assert_string_equal(c.cookie, cookie);
		iperf_ctl_free(&c);
	}
	sbuf_free(&in);
	sbuf_free(&out);
}

/* ---- what is wrong ---- */

static void client_fails(const char *bytes, size_t n, const char *why, int code)
{
	struct iperf_ctl c;

	iperf_ctl_client(&c, cookie, xstrdup(params));
	assert_int_equal(feed(&c, bytes, n, n, "{}"), IPERF_EV_FAILED);
	assert_non_null(strstr(c.why.text, why));
	assert_int_equal(c.code, code);
	iperf_ctl_free(&c);
}

static void server_fails(const char *bytes, size_t n, const char *why)
{
	struct iperf_ctl c;

	iperf_ctl_server(&c);
	assert_int_equal(feed(&c, bytes, n, n, "{}"), IPERF_EV_FAILED);
	assert_non_null(strstr(c.why.text, why));
	iperf_ctl_free(&c);
}

static void test_clients_refuse(void **state)
{
	(void)state;
	client_fails("\xff", 1, "busy with another test", 121);
	client_fails("\x09\xfe\0\0\0\x86\0\0\0\x02", 10, "congestion control (-C) (No such file",
		     134);
	client_fails("\x09\xfe\0\0\0\x4d\0\0\0\0", 10, "error 77 of iperf3", 77);
	client_fails("\x09\x0a\x01\x02\x0b", 5, "the server has terminated", 120);
	client_fails("\x0a", 1, "state 10 before it had asked for the test", 0);
	client_fails("SSH-2.0-OpenSSH\r\n", 1, "state 83", 0);
	client_fails("\x09\x0a\x01\x02\x0d\x7f\xff\xff\xff", 9,
		     "results of 2147483647 bytes; allowed are 1 to 16777216", 0);
	client_fails("\x09\x0a\x01\x02\x0d\0\0\0\0", 9, "results of 0 bytes", 0);
}

static void test_servers_refuse(void **state)
{
	struct sbuf b = {0};

	(void)state;
	server_fails("GET / HTTP/1.1\r\nHost: 10.0.0.1:5201\r\n\r\n", 40, "cookie");
	sbuf_addn(&b, cookie, IPERF_COOKIE);
	sbuf_addn(&b, "\x7f\xff\xff\xff", 4);
	server_fails(b.s, b.len, "parameters of 2147483647 bytes; allowed are 1 to 8192");
	sbuf_reset(&b);
	sbuf_addn(&b, cookie, IPERF_COOKIE);
	put_json(&b, params);
	sbuf_addn(&b, "\x0c", 1);
	server_fails(b.s, b.len, "the client has terminated while the test ran");
	b.s[b.len - 1] = IPERF_DONE;
	server_fails(b.s, b.len, "the client has given up while the test ran");
	b.s[b.len - 1] = 99;
	server_fails(b.s, b.len, "state 99 while the test ran");
	sbuf_free(&b);
}

static void test_peers_that_go(void **state)
{
	struct iperf_ctl c;

	(void)state;
	iperf_ctl_client(&c, cookie, xstrdup(params));
	feed(&c, "\x09\x0a\x01", 3, 3, "{}");
	assert_int_equal(iperf_ctl_gone(&c, 0), IPERF_EV_FAILED);
	assert_string_equal(
		c.why.text,
		"the server has closed the control connection before the test had begun");
	iperf_ctl_free(&c);
	iperf_ctl_server(&c);
	assert_int_equal(iperf_ctl_gone(&c, ECONNRESET), IPERF_EV_FAILED);
	assert_non_null(strstr(c.why.text, "Connection reset by peer"));
	iperf_ctl_free(&c);
}

static void test_what_owners_say(void **state)
{
	struct iperf_ctl c;

	(void)state;
	iperf_ctl_server(&c);
	assert_false(iperf_ctl_met(&c));
	iperf_ctl_deny(&c);
	assert_int_equal(c.out.len, 1);
	assert_int_equal((uint8_t)c.out.s[0], 0xff);
	sbuf_reset(&c.out);
	iperf_ctl_refuse(&c, IPERF_E_CONGESTION, ENOENT);
	assert_int_equal(c.out.len, 9);
	assert_memory_equal(c.out.s, "\xfe\0\0\0\x86\0\0\0\x02", 9);
	iperf_ctl_free(&c);
}

static void test_cookies(void **state)
{
	char a[IPERF_COOKIE], b[IPERF_COOKIE];

	(void)state;
	iperf_cookie(a);
	iperf_cookie(b);
	assert_true(iperf_cookie_is((const uint8_t *)a));
	assert_int_equal(strspn(a, "abcdefghijklmnopqrstuvwxyz234567"), IPERF_COOKIE - 1);
	assert_string_not_equal(a, b);
	a[5] = '\n';
	assert_false(iperf_cookie_is((const uint8_t *)a));
}

/* ---- parameters and results ---- */

static void test_params(void **state)
{
	struct iperf_params p = {.udp = true,
				 .reverse = true,
				 .udp64 = true,
				 .get_output = true,
				 .time_s = 7,
				 .omit_s = 2,
				 .rate = 5000000,
				 .parallel = 3,
				 .blksize = 1400,
				 .burst = 10,
				 .tos = 16,
				 .window = 65536,
				 .title = "a \"b\"",
				 .congestion = "bbr"},
			    q;
	struct err e;
	int code;
	char *text = iperf_params_text(&p);

	(void)state;
	assert_int_equal(iperf_params_read(text, strlen(text), &q, &code, &e), 0);
	assert_true(q.udp && q.reverse && q.udp64 && q.get_output && !q.bidir && !q.nodelay);
	assert_int_equal(q.time_s, 7);
	assert_int_equal(q.omit_s, 2);
	assert_int_equal(q.rate, 5000000);
	assert_int_equal(q.parallel, 3);
	assert_int_equal(q.blksize, 1400);
	assert_int_equal(q.burst, 10);
	assert_int_equal(q.tos, 16);
	assert_int_equal(q.window, 65536);
	assert_string_equal(q.title, p.title);
	assert_string_equal(q.congestion, "bbr");
	free(text);
}

static void test_wrong_params(void **state)
{
	static const struct {
		const char *text;
		int rc, code;
	} wrong[] = {
		{"", -EPROTO, IPERF_E_RECV_PARAMS},
		{"{\"tcp\":true", -EPROTO, IPERF_E_RECV_PARAMS},
		{"[]", -EPROTO, IPERF_E_RECV_PARAMS},
		{"{\"tcp\":true,\"parallel\":129}", -ERANGE, IPERF_E_STREAMS},
		{"{\"tcp\":true,\"parallel\":0}", -EINVAL, IPERF_E_STREAMS},
		{"{\"tcp\":true,\"len\":-1}", -ERANGE, IPERF_E_BLOCK},
		{"{\"udp\":true,\"len\":65508}", -ERANGE, IPERF_E_UDP_BLOCK},
		{"{\"udp\":true,\"len\":15}", -ERANGE, IPERF_E_UDP_BLOCK},
		{"{\"tcp\":true,\"time\":1e300}", -ERANGE, IPERF_E_DURATION},
		{"{\"sctp\":true}", -ENOTSUP, IPERF_E_NO_SCTP},
		{"{\"tcp\":true,\"reverse\":true,\"bidirectional\":1}", -EINVAL,
		 IPERF_E_UNIMPLEMENTED},
	};
	struct iperf_params p;
	struct err e;
	int code;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		assert_int_equal(iperf_params_read(wrong[i].text, strlen(wrong[i].text), &p, &code,
						   &e),
				 wrong[i].rc);
		assert_int_equal(code, wrong[i].code);
	}
	/* what is not known, and what has another type, is passed over */
	assert_int_equal(iperf_params_read("{\"parallel\":\"many\",\"new\":{}}", 28, &p, &code, &e),
			 0);
	assert_int_equal(p.parallel, 1);
	assert_int_equal(p.blksize, 131072);
}

static void test_results(void **state)
{
	struct iperf_results r, again;
	struct err e;

	(void)state;
	assert_int_equal(iperf_results_read(results, strlen(results), &r, &e), 0);
	assert_int_equal(r.n, 1);
	assert_int_equal(r.has_retransmits, -1);
	assert_int_equal(r.stream[0].bytes, 160038912);
	assert_int_equal(r.stream[0].retransmits, -1);
	assert_string_equal(r.congestion, "cubic");
	r.output_text = xstrdup("two\nlines");
	char *text = iperf_results_text(&r);
	assert_int_equal(iperf_results_read(text, strlen(text), &again, &e), 0);
	assert_string_equal(again.output_text, "two\nlines");
	assert_true(iperf_result_of(&again, 1)->end_s == r.stream[0].end_s);
	assert_null(iperf_result_of(&again, 2));
	free(text);
	iperf_results_free(&r);
	iperf_results_free(&again);
}

static void test_wrong_results(void **state)
{
	static const char *const wrong[] = {
		"",
		"{",
		"7",
		"{\"cpu_util_total\":1,\"cpu_util_user\":1,\"cpu_util_system\":1}",
		"{\"cpu_util_total\":1,\"cpu_util_user\":1,\"cpu_util_system\":1,\"sender_has_retransmits\":1}",
		("{\"cpu_util_total\":1,\"cpu_util_user\":1,\"cpu_util_system\":1,\"sender_has_retransmits\":1,"
		 "\"streams\":[{\"id\":1}]}"),
	};
	struct iperf_results r;
	struct err e;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		assert_int_equal(iperf_results_read(wrong[i], strlen(wrong[i]), &r, &e), -EPROTO);
		iperf_results_free(&r);
	}
}

/* The ids of streams leave out 2. */
static void test_ids(void **state)
{
	static const int ids[] = {1, 3, 4, 5};

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(ids); i++)
		assert_int_equal(iperf_stream_id(i), ids[i]);
}

/* ---- datagrams ---- */

static void see(struct iperf_seq *s, uint64_t number, uint64_t sent_us, uint64_t now_us, bool wide)
{
	uint8_t p[IPERF_UDP_HEAD64];

	iperf_udp_put(p, sent_us, number, wide);
	assert_true(iperf_seq_seen(s, p, wide ? 16 : 12, wide, now_us));
}

static void test_datagrams(void **state)
{
	const uint64_t at = 1700000000999000;
	struct iperf_seq s = {0};
	uint8_t p[12];

	(void)state;
	iperf_udp_put(p, 0x0102030405060708 % 1000000 + 7000000, 0x01020304, false);
	assert_memory_equal(p, "\0\0\0\x07", 4);
	assert_memory_equal(p + 8, "\1\2\3\4", 4);
	assert_false(iperf_seq_seen(&s, p, 11, false, at));
	see(&s, 1, at, at + 100, false);
	see(&s, 2, at + 1000, at + 1100, false);
	assert_true(s.jitter_s < 1e-9);
	/* 1600 us later than the others: a sixteenth of it */
	see(&s, 5, at + 2000, at + 3700, false);
	assert_true(fabs(s.jitter_s - 100e-6) < 1e-6);
	assert_int_equal(s.lost, 2);
	/* one that was overtaken is not lost */
	see(&s, 4, at + 1900, at + 3800, false);
	assert_int_equal(s.lost, 1);
	assert_int_equal(s.unordered, 1);
	assert_int_equal(s.packets, 5);
	see(&s, 1ull << 33, at, at, true);
	assert_int_equal(s.packets, 1ull << 33);
	assert_int_equal(s.lost, (1ll << 33) - 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_client_session), cmocka_unit_test(test_server_session),
		cmocka_unit_test(test_clients_refuse), cmocka_unit_test(test_servers_refuse),
		cmocka_unit_test(test_peers_that_go),  cmocka_unit_test(test_what_owners_say),
		cmocka_unit_test(test_cookies),        cmocka_unit_test(test_params),
		cmocka_unit_test(test_wrong_params),   cmocka_unit_test(test_results),
		cmocka_unit_test(test_wrong_results),  cmocka_unit_test(test_ids),
		cmocka_unit_test(test_datagrams),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
