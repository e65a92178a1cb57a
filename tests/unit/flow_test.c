/* SPDX-License-Identifier: BSD-3-Clause */
/* Connections from open to close, over a network that behaves. */
#include "flow_world.h"

static const struct wl_bytes_conf small = {.request = WL_FIXED(64),
					   .response = WL_FIXED(100),
					   .transactions = 1,
					   .close = WL_CLOSE_FIN};

static struct world *open_some(const struct world_setup *s, unsigned n)
{
	struct world *w = world_new(s);

	world_adopt(w);
	assert_int_equal(flow_open(w->end[0].m, w->end[0].version, n, w->now, 0, w->now), n);
	return w;
}

static void test_one_connection(void **state)
{
	struct world *w = open_some(&(struct world_setup){.wl = &wl_bytes, .conf = &small}, 1);
	const struct flow_counts *c = &w->end[0].counts, *s = &w->end[1].counts;

	(void)state;
	assert_int_equal(c->opening, 1);
	assert_true(world_run(w, w->now + 10 * SECOND));
	assert_int_equal(c->closed, 1);
	assert_int_equal(s->closed, 1);
	assert_int_equal(c->tx_bytes, 64);
	assert_int_equal(c->rx_bytes, 100);
	assert_int_equal(w->end[0].transactions.done, 1);
	assert_int_equal(w->end[1].transactions.done, 1);
	assert_int_equal(c->retransmitted + s->retransmitted, 0);
	/* SYN, request with the ACK, FIN with the ACK of the response, ACK of the FIN */
	assert_int_equal(c->tx, 4);
	world_empty(w);
	world_free(w);
}

static void test_many_connections(void **state)
{
	struct world *w = open_some(&(struct world_setup){.wl = &wl_bytes, .conf = &small}, 100);

	(void)state;
	assert_true(world_run(w, w->now + 10 * SECOND));
	assert_int_equal(w->end[0].counts.closed, 100);
	assert_int_equal(w->end[1].counts.closed, 100);
	world_empty(w);
	world_free(w);
}

static void test_hashed_clients(void **state)
{
	struct world *w =
		open_some(&(struct world_setup){.wl = &wl_bytes, .conf = &small, .hashed = true},
			  100);

	(void)state;
	assert_true(world_run(w, w->now + 10 * SECOND));
	assert_int_equal(w->end[0].counts.closed, 100);
	world_empty(w);
	world_free(w);
}

/* Larger than any window, in both directions, each byte compared. */
static void test_large_messages(void **state)
{
	static const struct wl_bytes_conf large = {.request = WL_FIXED(1000000),
						   .response = WL_FIXED(3000000),
						   .transactions = 3,
						   .close = WL_CLOSE_FIN};
	struct world *w = open_some(&(struct world_setup){.wl = &wl_bytes,
							  .conf = &large,
							  .verify = true,
							  .fill = WL_FILL_PATTERN},
				    2);

	(void)state;
	assert_true(world_run(w, w->now + 100 * SECOND));
	assert_int_equal(w->end[0].transactions.done, 6);
	assert_int_equal(w->end[0].counts.rx_bytes, 18000000);
	assert_int_equal(w->end[0].transactions.mismatched, 0);
	assert_int_equal(w->end[1].transactions.mismatched, 0);
	assert_int_equal(w->end[1].counts.retransmitted, 0);
	world_empty(w);
	world_free(w);
}

/* Nobody listens: RST. */
static void test_refused(void **state)
{
	struct world *w = world_new(&(struct world_setup){.wl = &wl_bytes, .conf = &small});

	(void)state;
	world_adopt(w);
	w->end[1].wl.draining = true; /* takes no new ones */
	flow_open(w->end[0].m, w->end[0].version, 3, w->now, 0, w->now);
	assert_true(world_run(w, w->now + 10 * SECOND));
	assert_int_equal(w->end[0].counts.refused, 3);
	assert_int_equal(w->end[1].counts.opened, 0);
	world_empty(w);
	world_free(w);
}

static bool lose_all(struct world *w, unsigned from, struct world_frame *f)
{
	(void)w;
	(void)from;
	(void)f;
	return false;
}

static void test_connect_timeout(void **state)
{
	struct world *w = open_some(&(struct world_setup){.wl = &wl_bytes, .conf = &small}, 2);
	uint64_t began = w->now;

	(void)state;
	w->fault = lose_all;
	assert_true(world_run(w, w->now + 100 * SECOND));
	assert_int_equal(w->end[0].counts.connect_timeout, 2);
	assert_int_equal(w->end[0].counts.syn_retransmitted, 10);
	/* 1 + 2 + 4 + 8 + 16 + 32 s */
	assert_in_range(w->now - began, 63 * SECOND, 64 * SECOND);
	world_empty(w);
	world_free(w);
}

/* Nothing is sent again before the floor, SYNs included; without one so high they are after the
 * second that RFC 6298 asks for, or after five times a low one. */
static void test_syn_waits_for_the_floor(void **state)
{
	static const struct {
		uint64_t floor, ends; /* sent again once, and given up after twice as long */
	} cases[] = {{2 * MS, 30 * MS},
		     {0, 3 * SECOND},
		     {999 * MS, 3 * SECOND},
		     {3 * SECOND, 9 * SECOND},
		     {300 * SECOND, 600 * SECOND}};

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
		struct world *w = world_new(&(struct world_setup){.wl = &wl_bytes, .conf = &small});
		w->end[0].spec.rto_ns = cases[i].floor;
		w->end[0].spec.retries = 1;
		world_adopt(w);
		w->fault = lose_all;
		flow_open(w->end[0].m, w->end[0].version, 1, w->now, 0, w->now);
		uint64_t began = w->now;
		assert_true(world_run(w, w->now + 1000 * SECOND));
		assert_int_equal(w->end[0].counts.syn_retransmitted, 1);
		assert_in_range(w->now - began, cases[i].ends, cases[i].ends * 11 / 10);
		world_empty(w);
		world_free(w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_connection),
		cmocka_unit_test(test_many_connections),
		cmocka_unit_test(test_hashed_clients),
		cmocka_unit_test(test_large_messages),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_connect_timeout),
		cmocka_unit_test(test_syn_waits_for_the_floor),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
