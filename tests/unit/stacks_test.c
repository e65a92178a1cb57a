/* SPDX-License-Identifier: BSD-3-Clause */
/* What of `stacks` needs no process: its words, orders to an end, and what runs come to. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "chance.h"
#include "stacks.h"
#include "stacks_result.h"

#define assert_near(a, b, within) assert_true(fabs((double)(a) - (b)) <= (within))

static int words(const char *text, struct stacks_opts *o, struct err *e)
{
	static char copy[256];
	char *argv[32], *save = NULL;
	int n = 0;

	strcpy(copy, text);
	for (char *w = strtok_r(copy, " ", &save); w != NULL; w = strtok_r(NULL, " ", &save))
		argv[n++] = w;
	return stacks_words(n, argv, o, e);
}

static void test_words(void **state)
{
	struct stacks_opts o;
	struct err e;

	(void)state;
	assert_int_equal(words("udp_stream --runs 7 --duration 1.5s tcp_stream --down --cpus 3,1",
			       &o, &e),
			 0);
	assert_int_equal(o.kinds, 2);
	assert_string_equal(o.kind[0]->name, "udp_stream");
	assert_string_equal(o.kind[1]->name, "tcp_stream");
	assert_int_equal(o.runs, 7);
	assert_int_equal(o.duration_ns, 1500000000);
	assert_true(o.down && o.arm[STACKS_KK] && o.arm[STACKS_PK] && o.arm[STACKS_PP]);
	assert_int_equal(o.cpu[0], 3);
	assert_int_equal(o.cpu[1], 1);
	/* without a port the arms are those that can be */
	assert_int_equal(words("--peer h tcp_rr", &o, &e), 0);
	assert_true(o.arm[STACKS_KK] && !o.arm[STACKS_PK] && !o.arm[STACKS_PP]);
	assert_int_equal(words("--peer h --port-spec if:e --ip 1.2.3.4/24 tcp_rr", &o, &e), 0);
	assert_true(o.arm[STACKS_PK] && !o.arm[STACKS_PP]);
	assert_int_equal(words("serve --port 77", &o, &e), 0);
	assert_true(o.serve && !o.listens);
	assert_int_equal(o.port, 77);
	assert_int_equal(words("", &o, &e), -EINVAL);
	assert_int_equal(words("tcp_stream udp_rr --down", &o, &e), -EINVAL);
	assert_int_equal(words("tcp_rr --runs 0", &o, &e), -EINVAL);
	assert_int_equal(words("tcp_rr --mss 9001", &o, &e), -EINVAL);
	assert_int_equal(words("tcp_stream --skip-rx-copy", &o, &e), 0);
	assert_true(o.skip && !o.verify);
	assert_int_equal(words("tcp_stream --skip-rx-copy --verify", &o, &e), -EINVAL);
	assert_int_equal(words("tcp_rr --port-peer 1.2.3.4 --peer h", &o, &e), -EINVAL);
}

/* What stands behind iperf3 is its own, but for options of ours. */
static void test_iperf_words(void **state)
{
	static const struct {
		const char *words, *why;
	} bad[] = {
		{"iperf3 tcp_rr", "stand before it"},
		{"iperf3 --blob", "of iperf3"},
		{"iperf3 -P 63", "63 streams: on a port"},
		{"iperf3 -P 1 --bidir -R", "exclude each other"},
		{"iperf3 -t 3", "--duration says"},
		{"iperf3 -O 2", "--warm-up says"},
		{"iperf3 -i 1", "one interval"},
		{"iperf3 -n 1M", "-n, --bytes"},
		{"iperf3 -k 10", "-k, --blockcount"},
		{"iperf3 -c 10.0.0.1", "no -c, --client"},
		{"iperf3 -s", "exclude each other"},
		{"iperf3 -p 5201", "stacks --port"},
		{"iperf3 -B 10.0.0.1", "no -B"},
		{"iperf3 -4", "-4 and -6"},
		{"iperf3 -A 1", "--cpus says it"},
		{"iperf3 --stack kernel", "--arms says it"},
		{"iperf3 -J", "no -J"},
		{"iperf3 -T x", "-T, --extra-data"},
		{"iperf3 --rcv-timeout 500", "tried again"},
		{"iperf3 -C a;quit", "'a;quit'"},
		{"iperf3 -C bbr", "on a port it is cubic"},
		{"iperf3 --fq-rate 1G", "--fq-rate on a port"},
		{"iperf3 -u -M 1000", "about TCP"},
		{"--down iperf3", "-R behind iperf3"},
		{"--flows 4 iperf3", "-P N behind iperf3"},
		{"iperf3 --mss 1000", "-M N behind iperf3"},
		{"--verify iperf3", "compares nothing"},
		{"--duration 1500ms iperf3", "--duration: a test of iperf3 has whole"},
		{"--warm-up 500ms iperf3", "--warm-up: a test of iperf3 has whole"},
	};
	struct stacks_opts o;
	struct sbuf text = {0};
	struct err e;

	(void)state;
	assert_int_equal(words("tcp_rr iperf3 -P 4 -R --runs 3 -w 1M --duration 3s -t 3", &o, &e),
			 0);
	assert_int_equal(o.kinds, 2);
	assert_int_equal(o.runs, 3);
	assert_int_equal(o.iperf.omit_s, 1);
	assert_true(o.iperf.reverse && !o.iperf.udp && !stacks_udp(&o, o.kind[1]));
	stacks_iperf_options(&o, &text);
	assert_string_equal(text.s, "-t 3 -O 1 -C cubic -P 4 -R -w 1M -t 3");
	sbuf_reset(&text);
	assert_int_equal(words("iperf3 -C reno --warm-up 0 --skip-rx-copy", &o, &e), 0);
	stacks_iperf_options(&o, &text);
	assert_string_equal(text.s, "-t 10 -O 0 --skip-rx-copy -C reno");
	assert_string_equal(o.iperf.congestion, "reno");
	assert_int_equal(words("iperf3 -u -b 1G", &o, &e), 0);
	assert_true(stacks_udp(&o, o.kind[0]));
	assert_string_equal(o.iperf.congestion, "none");
	/* only the kernel has it, and only its sockets are asked */
	assert_int_equal(words("--arms kernel-kernel iperf3 -C bbr --fq-rate 1G", &o, &e), 0);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		if (words(bad[i].words, &o, &e) == 0 || strstr(e.text, bad[i].why) == NULL)
			fail_msg("%s: %s", bad[i].words, e.text);
	}
	sbuf_free(&text);
}

static void test_orders(void **state)
{
	struct stacks_order o = {.kind = stacks_kind_find("tcp_crr"),
				 .client = true,
				 .verify = true,
				 .skip = true,
				 .host = "10.9.0.2",
				 .port = 5301,
				 .flows = 50,
				 .mss = 1400,
				 .cpu = 1},
			    back;
	static const char *const bad[] = {"{}", "[]", "{\"client\":true}"};
	json_t *doc = stacks_order_json(&o);
	struct err e;

	(void)state;
	assert_int_equal(stacks_order_read(doc, &back, &e), 0);
	assert_ptr_equal(back.kind, o.kind);
	assert_true(back.client && back.verify && back.skip && !back.down);
	assert_string_equal(back.host, o.host);
	assert_int_equal(back.port, o.port);
	assert_int_equal(back.flows, o.flows);
	assert_int_equal(back.mss, o.mss);
	assert_int_equal(back.cpu, o.cpu);
	json_object_set_new(doc, "flows", json_integer(10001));
	assert_int_equal(stacks_order_read(doc, &back, &e), -EINVAL);
	json_object_set_new(doc, "flows", json_integer(1));
	json_object_set_new(doc, "workload", json_string("tcp"));
	assert_int_equal(stacks_order_read(doc, &back, &e), -EINVAL);
	json_decref(doc);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		doc = json_loads(bad[i], 0, NULL);
		assert_int_equal(stacks_order_read(doc, &back, &e), -EINVAL);
		json_decref(doc);
	}
}

/* Published values: of five and five the least p is 2 / 252. */
static void test_chance(void **state)
{
	static const double a[] = {1, 2, 3, 4, 5}, b[] = {6, 7, 8, 9, 10},
			    c[] = {1.5, 2.5, 3.5, 4.5, 5.5};
	double many[CHANCE_RANKS], more[CHANCE_RANKS], p;

	(void)state;
	assert_near(chance_ranks(a, 5, b, 5), 2 / 252.0, 1e-9);
	assert_near(chance_ranks(b, 5, a, 5), 2 / 252.0, 1e-9);
	assert_near(chance_ranks(a, 5, c, 5), 0.690476, 1e-6);
	assert_near(chance_ranks(a, 5, a, 5), 1, 1e-9);
	assert_near(chance_ranks(a, 3, b, 3), 0.1, 1e-9);
	for (unsigned i = 0; i < CHANCE_RANKS; i++) {
		many[i] = i;
		more[i] = 100 + i;
	}
	/* 2 / (50 over 25) */
	p = chance_ranks(many, CHANCE_RANKS, more, CHANCE_RANKS);
	assert_true(fabs(p / (2 / 126410606437752.0) - 1) < 1e-9);
	assert_int_equal(chance_median(5, 0.95, &p), 0);
	assert_near(p, 0.9375, 1e-9);
	assert_int_equal(chance_median(6, 0.95, &p), 0);
	assert_near(p, 0.96875, 1e-9);
	assert_int_equal(chance_median(9, 0.95, &p), 1);
	assert_near(p, 1 - 20 / 512.0, 1e-9);
}

static void add(struct stacks_results *r, enum stacks_arm arm, unsigned run, double done)
{
	struct stacks_reading first = {.asks = {.known = true,
						.at_ns = 1e9,
						.done = 100,
						.resent = 1}},
			      last = first;

	first.serves.known = true;
	last.serves =
		(struct stacks_sample){.known = true, .rx = 2e6, .cpu_ns = 1e9, .cycles = 1e9};
	last.asks.at_ns += 2e9;
	last.asks.done += done;
	last.asks.tx = 2e6;
	last.asks.resent += 3;
	last.asks.cpu_ns = 1e9;
	last.asks.cycles = 3e9;
	stacks_result_add(r, &stacks_kinds[0], arm, run, "veth", &first, &last);
}

static double at(const json_t *doc, const char *list, unsigned i, const char *key)
{
	return json_number_value(json_object_get(json_array_get(out_get(doc, list), i), key));
}

/* Two arms of five runs each, of 2 s. */
static void test_results(void **state)
{
	struct stacks_opts o;
	struct sbuf text = {0};
	struct err e;

	(void)state;
	assert_int_equal(words("tcp_rr", &o, &e), 0);
	struct stacks_results *r = stacks_results_new(&o);
	assert_false(stacks_results_any(r));
	for (unsigned i = 0; i < 5; i++) {
		add(r, STACKS_KK, i + 1, 1e6 + i * 2e4);
		add(r, STACKS_PK, i + 1, 2e6 + i * 2e4);
	}
	json_t *doc = stacks_results_json(r, true);
	assert_int_equal(json_array_size(out_get(doc, "stacks.runs")), 10);
	assert_near(at(doc, "stacks.runs", 0, "value"), 5e5, 1e-3);
	assert_near(at(doc, "stacks.runs", 0, "cpu_s_per"), 2, 1e-9);
	assert_near(at(doc, "stacks.runs", 0, "cycles_per"), 4e9, 1);
	assert_near(at(doc, "stacks.runs", 0, "retransmits"), 3, 1e-9);
	assert_near(at(doc, "stacks.runs", 0, "receiver_bps"), 8e6, 1e-3);
	assert_int_equal(json_array_size(out_get(doc, "stacks.results")), 2);
	assert_near(at(doc, "stacks.results", 1, "median"), 1.02e6, 1e-3);
	assert_near(at(doc, "stacks.results", 1, "low"), 1e6, 1e-3);
	assert_near(at(doc, "stacks.results", 1, "high"), 1.04e6, 1e-3);
	assert_near(at(doc, "stacks.results", 1, "ratio"), 2.04 / 1.04, 1e-9);
	assert_near(at(doc, "stacks.results", 1, "p"), 2 / 252.0, 1e-9);
	const json_t *second = json_array_get(out_get(doc, "stacks.results"), 1);
	assert_string_equal(json_string_value(json_object_get(second, "different")), "yes");
	stacks_print(OUT_TEXT, doc, &text);
	assert_non_null(strstr(text.s, "at least 5 ms"));
	assert_non_null(strstr(text.s, "payload touched"));
	assert_null(strstr(text.s, "jitter"));
	stacks_html(doc, &text);
	assert_non_null(strstr(text.s, "</svg>"));
	sbuf_free(&text);
	json_decref(doc);
	stacks_results_free(r);
}

/* A run of datagrams by iperf3, and its columns. */
static void test_datagrams(void **state)
{
	const struct stacks_found f = {.ns = 2e9,
				       .moved = 2.5e8,
				       .sent_bps = 2e9,
				       .came_bps = 1e9,
				       .done = NAN,
				       .bad = NAN,
				       .resent = NAN,
				       .datagrams = 400,
				       .lost = 100,
				       .jitter_ns = 5000,
				       .cpu_ns = 1e9,
				       .cycles = NAN};
	struct stacks_opts o;
	struct sbuf text = {0};
	struct err e;

	(void)state;
	assert_int_equal(words("--runs 1 iperf3 -u", &o, &e), 0);
	struct stacks_results *r = stacks_results_new(&o);
	stacks_result_put(r, o.kind[0], STACKS_PP, 1, "memif", &f);
	json_t *doc = stacks_results_json(r, true);
	const json_t *run = json_array_get(out_get(doc, "stacks.runs"), 0),
		     *result = json_array_get(out_get(doc, "stacks.results"), 0);
	assert_near(at(doc, "stacks.runs", 0, "value"), 1e9, 1e-3);
	assert_near(at(doc, "stacks.runs", 0, "lost_share"), 0.25, 1e-9);
	assert_near(at(doc, "stacks.runs", 0, "cpu_s_per"), 4, 1e-9);
	assert_near(at(doc, "stacks.results", 0, "jitter_ns"), 5000, 1e-9);
	assert_true(json_is_null(json_object_get(run, "retransmits")));
	assert_true(json_is_null(json_object_get(run, "busy_cycles")));
	assert_true(json_is_true(json_object_get(result, "payload_touched")));
	assert_string_equal(json_string_value(json_object_get(result, "congestion")), "none");
	stacks_print(OUT_TEXT, doc, &text);
	assert_non_null(strstr(text.s, "jitter"));
	assert_non_null(strstr(text.s, "clients of iperf3 have -t 10 -O 1 -u"));
	sbuf_free(&text);
	json_decref(doc);
	stacks_results_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_words),
					   cmocka_unit_test(test_iperf_words),
					   cmocka_unit_test(test_orders),
					   cmocka_unit_test(test_chance),
					   cmocka_unit_test(test_results),
					   cmocka_unit_test(test_datagrams)};

	return cmocka_run_group_tests_name("stacks", tests, NULL, NULL);
}
