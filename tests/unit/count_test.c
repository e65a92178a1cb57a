/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "snap.h"

#include <stdlib.h>
#include <string.h>

/* Every counter is in its table exactly once: the offsets cover the struct. */
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
	s->worker[0] = (struct snap_worker){.lcore = 3, .cpu = 5, .busy = 0.5};
	struct snap_port *p = &s->port[0];
	strcpy(p->name, "wire0");
	p->link = LINK_UP;
	p->speed_mbps = 10000;
	p->state = RUN_SENDING;
	p->run.sent = 42;
	p->run.asked_pps = 999999.6;
	p->tx = (struct cnt_tx){.packets = 1, .bytes = 64, .dropped = 3, .stalls = 4, .unsent = 5, .nombuf = 6};
	p->rx = (struct cnt_rx){.packets = UINT64_C(1) << 60, .bytes = 8};
	p->tx_errors = 9;
	p->rx_missed = 10;
	p->rx_nombuf = 11;
	p->rx_errors = 12;
	p->tx_rate = (struct snap_rate){.pps = 0.4, .l1_bps = 672};
	p->nic = (struct snap_nic){.source = "kernel", .tx_packets = 13, .has_tx_packets = true, .unconfirmed = 14, .has_unconfirmed = true};
	p->nqueues = 2;
	p->queue = xcalloc(2, sizeof(*p->queue));
	p->queue[0] = (struct snap_queue){.has_tx = true, .has_rx = true, .tx = {.packets = 1}, .tx_worker = 3, .rx_worker = -1};
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
	assert_int_equal(num(port, "speed_mbps", NULL), 10000);
	assert_string_equal(json_string_value(json_object_get(json_object_get(port, "run"), "state")), "sending");
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

static void test_absent_side(void **state)
{
	struct snap *s = sample();
	json_t *doc = snap_json(s);
	json_t *queues = json_object_get(json_array_get(json_object_get(doc, "ports"), 0), "queues"), *q;

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
	json_t *doc = snap_json(s), *run = json_object_get(json_array_get(json_object_get(doc, "ports"), 0), "run");
	assert_true(json_is_null(json_object_get(run, "asked_pps")));
	json_decref(doc);
	snap_free(s);
	snap_free(s); /* what is freed is empty */
	free(s);
	snap_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tables), cmocka_unit_test(test_json), cmocka_unit_test(test_absent_side),
		cmocka_unit_test(test_max_asks_no_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
