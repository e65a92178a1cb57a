/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the tables of counters, and snapshots: their rates, and what they are as JSON. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "snap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Checks that every counter is in its table exactly once: the offsets cover the struct. */
static void covers(const struct counter *t, size_t size)
{
	uint64_t seen = 0;
	unsigned n = 0;

	for (; t->name != NULL; t++, n++) {
		assert_int_equal(t->offset % sizeof(uint64_t), 0);
		assert_true(t->offset < size);
		assert_false(seen >> (t->offset / sizeof(uint64_t)) & 1);
		seen |= 1ull << (t->offset / sizeof(uint64_t));
		assert_non_null(t->unit);
		assert_non_null(t->help);
	}
	assert_int_equal(n * sizeof(uint64_t), size);
}

static void test_tables(void **state)
{
	(void)state;
	covers(cnt_tx_table, sizeof(struct cnt_tx));
	covers(cnt_rx_table, sizeof(struct cnt_rx));
	covers(cnt_sizes_table, sizeof(struct cnt_sizes));
}

/* Every rate of a queue but the two pairs in tx and rx is in one of the tables exactly once. */
static void test_rate_tables(void **state)
{
	const struct snap_rate_row *tables[] = {snap_tx_rates, snap_rx_rates};
	size_t first = offsetof(struct snap_queue_rates, rx) + sizeof(struct snap_rate), n = 0;
	uint64_t seen = 0;

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(tables); i++)
		for (const struct snap_rate_row *r = tables[i]; r->name != NULL; r++, n++) {
			assert_in_range(r->offset, first, sizeof(struct snap_queue_rates) - 1);
			assert_int_equal(r->offset % sizeof(double), 0);
			assert_false(seen >> (r->offset / sizeof(double)) & 1);
			seen |= 1ull << (r->offset / sizeof(double));
			assert_true(r->of < sizeof(struct cnt_queue));
			assert_true(r->per < sizeof(struct cnt_queue) || r->per == SNAP_SECONDS);
		}
	assert_int_equal(first + n * sizeof(double), sizeof(struct snap_queue_rates));
}

/* A rate is what was counted, divided by the seconds of the interval, or cycles divided by bursts.
 * If no burst was sampled there is none. A rate without a row stays as it is. */
static void test_rates(void **state)
{
	struct cnt_queue d = {.tx = {.dropped = 6, .stalls = 5, .nombuf = 4},
			      .tx_times = {.bursts = 4, .cycles = 2802}};
	struct snap_queue_rates r = {.tx = {1, 2}, .rx = {3, 4}, .rx_cycles = 5};

	(void)state;
	snap_queue_rates(&r, &d, 2);
	assert_true(r.dropped_pps == 3 && r.stalls_per_s == 2.5 && r.nombuf_per_s == 2);
	assert_true(r.tx_cycles == 700.5 && isnan(r.rx_cycles));
	assert_true(r.tx.pps == 1 && r.tx.l1_bps == 2 && r.rx.pps == 3 && r.rx.l1_bps == 4);
	d.rx_times = (struct cnt_times){.bursts = 3, .cycles = 6};
	snap_queue_rates(&r, &d, 0.5);
	assert_true(r.rx_cycles == 2 && r.dropped_pps == 12);
}

/* The rows of the table say which sizes they count. */
static void test_sizes(void **state)
{
	(void)state;
	for (unsigned c = 0; c < CNT_NSIZES; c++) {
		char *end;
		unsigned long lo = strtoul(cnt_sizes_table[c].name, &end, 10),
			      hi = *end == '\0' ? lo : UINT32_MAX;
		if (*end == '-' && end[1] != '\0')
			hi = strtoul(end + 1, NULL, 10);
		assert_int_equal(cnt_sizes_table[c].offset, c * sizeof(uint64_t));
		assert_int_equal(cnt_size_class(lo), c);
		assert_int_equal(cnt_size_class((lo + hi) / 2), c);
		assert_int_equal(cnt_size_class(hi), c);
		assert_int_equal(cnt_size_class(hi + 1), c + 1 < CNT_NSIZES ? c + 1 : c);
	}
}

static json_int_t num(const json_t *o, const char *a, const char *b)
{
	const json_t *v = json_object_get(o, a);

	if (b != NULL)
		v = json_object_get(v, b);
	if (!json_is_integer(v))
		fail_msg("%s.%s is not an integer", a, b != NULL ? b : "");
	return json_integer_value(v);
}

static struct snap *sample(void)
{
	struct snap *s = xcalloc(1, sizeof(*s));

	s->time_ns = 111;
	s->wall_ns = 222;
	s->nports = 1;
	s->port = xcalloc(1, sizeof(*s->port));
	s->nworkers = 1;
	s->worker = xcalloc(1, sizeof(*s->worker));
	s->worker[0] = (struct snap_worker){
		.lcore = 3,
		.cpu = 5,
		.busy = 0.5,
		.node = -1,
		.wait = 0.25,
		.loops_per_s = 1e6,
		.pps = 2e6,
		.cycles_per_packet = 17.5,
		.stalls_per_s = 3,
		.stall = {.count = 4, .total_ns = 900000, .longest_ns = 500000, .over_ns = 50000},
		.waited_ns = 77,
		.waited_known = true};
	struct snap_port *p = &s->port[0];
	strcpy(p->name, "wire0");
	p->link = LINK_UP;
	p->speed_mbps = 10000;
	p->state = RUN_SENDING;
	p->run.sent = 42;
	p->run.asked_pps = 999999.6;
	p->tx = (struct cnt_tx){
		.packets = 1, .bytes = 64, .dropped = 3, .stalls = 4, .unsent = 5, .nombuf = 6};
	p->rx = (struct cnt_rx){.packets = UINT64_C(1) << 60, .bytes = 8};
	p->tx_errors = 9;
	p->rx_missed = 10;
	p->rx_nombuf = 11;
	p->rx_errors = 12;
	p->tx_rate = (struct snap_rate){.pps = 0.4, .l1_bps = 672};
	p->nic = (struct snap_nic){.source = "kernel",
				   .tx_packets = 13,
				   .has_tx_packets = true,
				   .unconfirmed = 14,
				   .has_unconfirmed = true};
	p->run.asked_l1_bps = 671999999.7;
	p->run.mean_l1_bps = 28;
	for (unsigned c = 0; c < CNT_NSIZES; c++) {
		p->tx_sizes.n[c] = c;
		p->rx_sizes.n[c] = 10 + c;
	}
	p->rx.broadcast = 2;
	p->rx.multicast = 3;
	p->max = (struct snap_interval){.tx = {100, 200}, .rx = {300, 400}};
	p->nhistory = 2;
	p->history = xcalloc(2, sizeof(*p->history));
	p->history[0] = (struct snap_interval){.tx = {1, 2}, .rx = {3, 4}};
	p->history[1] = (struct snap_interval){.tx = {5, 6}, .rx = {7, 8.5}};
	p->nqueues = 2;
	p->queue = xcalloc(2, sizeof(*p->queue));
	p->queue[0] = (struct snap_queue){.has_tx = true,
					  .has_rx = true,
					  .tx = {.packets = 1, .bursts = 4},
					  .tx_worker = 3,
					  .rx_worker = -1,
					  .rates = {.dropped_pps = 5,
						    .stalls_per_s = 6,
						    .nombuf_per_s = 7,
						    .tx_cycles = 700.4,
						    .rx_cycles = (double)NAN},
					  .rx = {.bursts = 8, .full = 9}};
	p->queue[1] = (struct snap_queue){.has_rx = true, .rx = {.packets = 77}};
	return s;
}

static void test_json(void **state)
{
	struct snap *s = sample();
	json_t *doc = snap_json(s), *port = json_array_get(json_object_get(doc, "ports"), 0);

	(void)state;
	assert_string_equal(json_string_value(json_object_get(doc, "show")), "stats");
	assert_int_equal(num(doc, "time_ns", NULL), 111);
	assert_int_equal(num(doc, "wall_ns", NULL), 222);
	assert_string_equal(json_string_value(json_object_get(port, "name")), "wire0");
	assert_string_equal(json_string_value(json_object_get(port, "link")), "up");
	assert_string_equal(snap_link_name(LINK_GONE), "deleted");
	assert_int_equal(num(port, "speed_mbps", NULL), 10000);
	assert_string_equal(json_string_value(
				    json_object_get(json_object_get(port, "run"), "state")),
			    "sending");
	assert_int_equal(num(port, "run", "sent"), 42);
	assert_int_equal(num(port, "run", "asked_pps"), 1000000);
	assert_int_equal(num(port, "tx", "packets"), 1);
	assert_int_equal(num(port, "tx", "bytes"), 64);
	assert_int_equal(num(port, "tx", "dropped"), 3);
	assert_int_equal(num(port, "tx", "stalls"), 4);
	assert_int_equal(num(port, "tx", "unsent"), 5);
	assert_int_equal(num(port, "tx", "errors"), 9);
	assert_int_equal(num(port, "tx", "pps"), 0);
	assert_int_equal(num(port, "tx", "l1_bps"), 672);
	assert_int_equal(num(port, "rx", "packets"), UINT64_C(1) << 60);
	assert_int_equal(num(port, "rx", "missed"), 10);
	assert_int_equal(num(port, "rx", "nombuf"), 11);
	assert_int_equal(num(port, "rx", "errors"), 12);
	json_t *nic = json_object_get(port, "nic");
	assert_int_equal(num(nic, "tx", "packets"), 13);
	assert_int_equal(num(nic, "unconfirmed", NULL), 14);
	assert_null(json_object_get(json_object_get(nic, "rx"), "packets"));
	assert_int_equal(num(json_array_get(json_object_get(doc, "workers"), 0), "lcore", NULL), 3);
	json_decref(doc);
	snap_free(s);
	free(s);
}

static void check_list(const json_t *history, const char *name, json_int_t a, json_int_t b)
{
	const json_t *list = json_object_get(history, name);

	assert_int_equal(json_array_size(list), 2);
	assert_int_equal(json_integer_value(json_array_get(list, 0)), a);
	assert_int_equal(json_integer_value(json_array_get(list, 1)), b);
}

/* The snapshot has what pages draw beside the counters. */
static void test_page_keys(void **state)
{
	struct snap *s = sample();
	json_t *doc = snap_json(s), *port = json_array_get(json_object_get(doc, "ports"), 0), *o;

	(void)state;
	assert_int_equal(num(port, "run", "asked_l1_bps"), 672000000);
	assert_int_equal(num(port, "run", "mean_l1_bps"), 28);
	assert_int_equal(num(port, "rx", "broadcast"), 2);
	assert_int_equal(num(port, "rx", "multicast"), 3);
	for (unsigned c = 0; c < CNT_NSIZES; c++) {
		assert_int_equal(num(json_object_get(port, "tx"), "sizes", cnt_sizes_table[c].name),
				 c);
		assert_int_equal(num(json_object_get(port, "rx"), "sizes", cnt_sizes_table[c].name),
				 10 + c);
	}
	o = json_object_get(port, "max");
	assert_int_equal(num(o, "tx", "pps"), 100);
	assert_int_equal(num(o, "tx", "l1_bps"), 200);
	assert_int_equal(num(o, "rx", "pps"), 300);
	assert_int_equal(num(o, "rx", "l1_bps"), 400);
	o = json_object_get(port, "history");
	assert_int_equal(num(o, "interval_ns", NULL), 1000000000);
	check_list(o, "tx_pps", 1, 5);
	check_list(o, "tx_l1_bps", 2, 6);
	check_list(o, "rx_pps", 3, 7);
	check_list(o, "rx_l1_bps", 4, 9);
	o = json_array_get(json_object_get(port, "queues"), 0);
	assert_int_equal(num(o, "tx", "bursts"), 4);
	assert_int_equal(num(o, "tx", "dropped_pps"), 5);
	assert_int_equal(num(o, "tx", "stalls_per_s"), 6);
	assert_int_equal(num(o, "tx", "nombuf_per_s"), 7);
	assert_int_equal(num(o, "tx", "cycles_per_burst"), 700);
	assert_int_equal(num(o, "rx", "bursts"), 8);
	assert_int_equal(num(o, "rx", "full"), 9);
	assert_true(json_is_null(json_object_get(json_object_get(o, "rx"), "cycles_per_burst")));
	o = json_array_get(json_object_get(doc, "workers"), 0);
	assert_true(json_is_null(json_object_get(o, "node")));
	assert_int_equal(num(o, "loops_per_s", NULL), 1000000);
	assert_int_equal(num(o, "pps", NULL), 2000000);
	assert_int_equal(num(o, "stalls_per_s", NULL), 3);
	assert_int_equal(num(o, "stall", "count"), 4);
	assert_int_equal(num(o, "stall", "total_ns"), 900000);
	assert_int_equal(num(o, "stall", "longest_ns"), 500000);
	assert_int_equal(num(o, "stall", "over_ns"), 50000);
	assert_int_equal(num(o, "waited_ns", NULL), 77);
	assert_true(json_real_value(json_object_get(o, "cycles_per_packet")) > 17.4);
	assert_true(json_real_value(json_object_get(o, "wait")) > 0.2);
	json_decref(doc);
	snap_free(s);
	free(s);
}

/* What is not known is null: on a machine without schedstat, or for a worker without frames. */
static void test_unknown_is_null(void **state)
{
	struct snap *s = sample();

	(void)state;
	s->worker[0].wait = s->worker[0].cycles_per_packet = (double)NAN;
	s->worker[0].waited_known = false;
	s->port[0].nhistory = 0;
	json_t *doc = snap_json(s), *w = json_array_get(json_object_get(doc, "workers"), 0);
	assert_true(json_is_null(json_object_get(w, "wait")));
	assert_true(json_is_null(json_object_get(w, "waited_ns")));
	assert_true(json_is_null(json_object_get(w, "cycles_per_packet")));
	w = json_object_get(json_array_get(json_object_get(doc, "ports"), 0), "history");
	assert_int_equal(json_array_size(json_object_get(w, "tx_pps")), 0);
	assert_true(json_is_array(json_object_get(w, "rx_l1_bps")));
	json_decref(doc);
	snap_free(s);
	free(s);
}

static void test_absent_side(void **state)
{
	struct snap *s = sample();
	json_t *doc = snap_json(s);
	json_t *queues =
		       json_object_get(json_array_get(json_object_get(doc, "ports"), 0), "queues"),
	       *q;

	(void)state;
	assert_int_equal(json_array_size(queues), 2);
	q = json_array_get(queues, 0);
	assert_int_equal(num(q, "queue", NULL), 0);
	assert_int_equal(num(q, "tx", "worker"), 3);
	assert_null(json_object_get(json_object_get(q, "rx"), "worker"));
	q = json_array_get(queues, 1);
	assert_int_equal(num(q, "queue", NULL), 1);
	assert_null(json_object_get(q, "tx"));
	assert_int_equal(num(q, "rx", "packets"), 77);
	json_decref(doc);
	snap_free(s);
	free(s);
}

static void test_max_asks_no_number(void **state)
{
	struct snap *s = sample();

	(void)state;
	s->port[0].run.asked_max = true;
	json_t *doc = snap_json(s),
	       *run = json_object_get(json_array_get(json_object_get(doc, "ports"), 0), "run");
	assert_true(json_is_null(json_object_get(run, "asked_pps")));
	assert_true(json_is_null(json_object_get(run, "asked_l1_bps")));
	json_decref(doc);
	snap_free(s);
	snap_free(s); /* a snapshot that was freed is empty */
	free(s);
	snap_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tables),          cmocka_unit_test(test_json),
		cmocka_unit_test(test_absent_side),     cmocka_unit_test(test_max_asks_no_number),
		cmocka_unit_test(test_sizes),           cmocka_unit_test(test_page_keys),
		cmocka_unit_test(test_unknown_is_null), cmocka_unit_test(test_rate_tables),
		cmocka_unit_test(test_rates),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
