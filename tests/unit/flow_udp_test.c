/* SPDX-License-Identifier: BSD-3-Clause */
/* Datagrams: their transactions and streams, and what their numbers tell. */
#include "flow_world.h"

static unsigned open_n(struct world *w, unsigned n)
{
	return flow_open(w->end[0].m, w->end[0].version, n, w->now, 0, w->now);
}

static bool lose_some(struct world *w, unsigned from, struct world_frame *f)
{
	(void)from;
	(void)f;
	return world_random(w) % 100 >= 20;
}

static void test_datagrams(void **state)
{
	static const struct wl_bytes_conf conf = {.request = WL_FIXED(64),
						  .response = WL_FIXED(1400),
						  .transactions = 10,
						  .timeout_ns = 10 * MS,
						  .close = WL_CLOSE_FIN};
	struct world *w = world_new(&(struct world_setup){.wl = &wl_bytes,
							  .conf = &conf,
							  .udp = true,
							  .verify = true,
							  .fill = WL_FILL_PATTERN});
	struct world_end *c = &w->end[0], *s = &w->end[1];

	(void)state;
	s->spec.finwait_ns = SECOND;
	world_adopt(w);
	open_n(w, 100);
	assert_true(world_run(w, w->now + 100 * SECOND));
	assert_int_equal(c->counts.closed, 100);
	assert_int_equal(s->counts.closed, 100);
	assert_int_equal(c->transactions.done, 1000);
	assert_int_equal(s->numbers.lost, 0);
	w->fault = lose_some;
	open_n(w, 100);
	assert_true(world_run(w, w->now + 100 * SECOND));
	assert_int_equal(c->transactions.done + c->transactions.failed, 2000);
	/* of a request and its response one was lost: 36 % */
	assert_in_range(c->transactions.failed, 300, 420);
	assert_int_equal(c->counts.closed, 200);
	/* the last requests that were lost left no trace */
	assert_in_range(s->numbers.lost, 120, 200);
	assert_int_equal(c->transactions.mismatched + s->transactions.mismatched, 0);
	world_empty(w);
	world_free(w);
}

static bool twice_and_late(struct world *w, unsigned from, struct world_frame *f)
{
	struct world_frame copy = *f;

	(void)from;
	if (f->nr % 10 == 3) {
		copy.when += 50;
		world_post(w, &copy);
	}
	if (f->nr % 10 == 7)
		f->when += 5 * MS;
	return f->nr % 10 != 9;
}

static void test_one_way(void **state)
{
	static const struct wl_stream_conf conf = {.direction = WL_UP,
						   .bytes = 1000000,
						   .datagram = 1000,
						   .gap_ns = MS};
	struct world *w = world_new(&(struct world_setup){.wl = &wl_stream,
							  .conf = &conf,
							  .udp = true,
							  .verify = true,
							  .fill = WL_FILL_PATTERN});
	struct world_end *s = &w->end[1];

	(void)state;
	w->fault = twice_and_late;
	s->spec.finwait_ns = SECOND;
	world_adopt(w);
	open_n(w, 1);
	assert_true(world_run(w, w->now + 100 * SECOND));
	assert_int_equal(w->end[0].counts.tx, 1000);
	assert_int_equal(s->counts.rx, 1000); /* 100 lost, 100 twice */
	assert_int_equal(s->numbers.duplicated, 100);
	assert_int_equal(s->numbers.reordered, 100);
	assert_int_equal(s->numbers.lost, 99); /* the very last one is not missed */
	assert_int_equal(s->transactions.mismatched, 0);
	world_empty(w);
	world_free(w);
}

static void assert_numbers(const struct world_end *e)
{
	assert_int_equal(e->numbers.lost, 0);
	assert_int_equal(e->numbers.reordered, 0);
	assert_int_equal(e->numbers.duplicated, 0);
	assert_int_equal(e->numbers.late, 0);
}

/* A client that only receives sends one datagram, by which the server learns of it. */
static void test_one_way_down(void **state)
{
	static const struct wl_stream_conf conf = {.direction = WL_DOWN,
						   .bytes = 100000,
						   .datagram = 1000,
						   .gap_ns = MS};
	struct world *w = world_new(&(struct world_setup){.wl = &wl_stream,
							  .conf = &conf,
							  .udp = true,
							  .ports = 2,
							  .verify = true,
							  .fill = WL_FILL_PATTERN});
	struct world_end *c = &w->end[0], *s = &w->end[1];

	(void)state;
	s->spec.finwait_ns = SECOND;
	world_adopt(w);
	open_n(w, 2);
	assert_true(world_run(w, w->now + 100 * SECOND));
	assert_int_equal(c->counts.tx, 2);
	assert_int_equal(s->counts.tx, 200);
	assert_int_equal(c->counts.rx, 200);
	assert_int_equal(c->counts.closed, 2);
	assert_int_equal(c->transactions.mismatched + s->transactions.mismatched, 0);
	assert_numbers(c);
	assert_numbers(s);
	world_empty(w);
	world_free(w);
}

/* A tuple is used again while the server still knows the connection before: the numbers of the new
 * one are not those of the old one come again. */
static void run_again(const struct workload *wl, const void *conf)
{
	struct world *w = world_new(&(struct world_setup){
		.wl = wl, .conf = conf, .udp = true, .ports = 3, .fill = WL_FILL_PATTERN});
	struct world_end *c = &w->end[0], *s = &w->end[1];

	world_adopt(w);
	for (unsigned i = 0; i < 10; i++) {
		assert_int_equal(open_n(w, 3), 3);
		world_run(w, w->now + 200 * MS);
		assert_int_equal(c->counts.closed, 3 * (i + 1));
	}
	assert_int_equal(s->counts.opened, 3);
	assert_int_equal(c->counts.tx, s->counts.rx);
	assert_numbers(c);
	assert_numbers(s);
	assert_true(world_run(w, w->now + 1000 * SECOND));
	world_empty(w);
	world_free(w);
}

static void test_again(void **state)
{
	struct wl_bytes_conf bytes = {.request = WL_FIXED(64),
				      .response = WL_FIXED(64),
				      .transactions = 1,
				      .timeout_ns = SECOND,
				      .close = WL_CLOSE_FIN};
	const struct wl_stream_conf both = {.direction = WL_BOTH,
					    .bytes = 5000,
					    .datagram = 100,
					    .gap_ns = MS},
				    up = {.direction = WL_UP, .bytes = 5000, .datagram = 100},
				    down = {.direction = WL_DOWN, .bytes = 5000, .datagram = 100};

	(void)state;
	run_again(&wl_bytes, &bytes);
	bytes.transactions = 50;
	run_again(&wl_bytes, &bytes);
	run_again(&wl_stream, &both);
	run_again(&wl_stream, &up);
	run_again(&wl_stream, &down);
}

/* A client ends, and its server goes on, since nobody tells it. The next one with the tuple gets
 * numbers of its own, and what was on its way to the one before is not counted as its. */
static void run_on(enum wl_direction direction)
{
	const struct wl_stream_conf conf = {.direction = direction, .datagram = 100, .gap_ns = MS};
	struct world *w = world_new(
		&(struct world_setup){.wl = &wl_stream, .conf = &conf, .udp = true, .ports = 1});
	struct world_end *c = &w->end[0], *s = &w->end[1];

	w->delay = 3500000;
	world_adopt(w);
	for (unsigned i = 0; i < 5; i++) {
		c->wl.draining = false;
		assert_int_equal(open_n(w, 1), 1);
		world_run(w, w->now + 100 * MS);
		c->wl.draining = true;
		flow_drain(c->m, &c->wl);
		world_run(w, w->now + MS / 2);
		assert_int_equal(c->counts.closed, i + 1);
	}
	assert_int_equal(s->counts.opened, 1);
	assert_int_equal(c->numbers.lost + c->numbers.reordered + c->numbers.duplicated, 0);
	assert_int_equal(s->numbers.lost + s->numbers.reordered + s->numbers.duplicated, 0);
	assert_in_range(c->numbers.late, 4 * 6, 4 * 8); /* 7 ms of them */
	s->wl.draining = true;
	flow_drain(s->m, &s->wl);
	assert_true(world_run(w, w->now + 1000 * SECOND));
	world_empty(w);
	world_free(w);
}

static void test_server_goes_on(void **state)
{
	(void)state;
	run_on(WL_DOWN);
	run_on(WL_BOTH);
}

/* Timers come in ticks of 262 us: those that are due between two of them follow together. After a
 * stall those of 50 ms do. */
static void run_fast(enum wl_direction direction)
{
	const struct wl_stream_conf conf = {.direction = direction,
					    .datagram = 100,
					    .gap_ns = 50000};
	struct world *w =
		world_new(&(struct world_setup){.wl = &wl_stream, .conf = &conf, .udp = true});
	struct world_end *c = &w->end[0], *s = &w->end[1];
	struct world_end *from = direction == WL_DOWN ? s : c, *to = direction == WL_DOWN ? c : s;
	uint64_t before;

	world_adopt(w);
	assert_int_equal(open_n(w, 1), 1);
	world_run(w, w->now + 100 * MS);
	assert_in_range(from->counts.tx, 1980, 2001);
	assert_in_range(to->counts.rx, 1960, 2001);
	before = from->counts.tx;
	w->now += SECOND;
	world_run(w, w->now + MS);
	assert_in_range(from->counts.tx - before, 1000, 1040);
	assert_int_equal(to->numbers.lost + to->numbers.reordered + to->numbers.duplicated, 0);
	for (unsigned i = 0; i < 2; i++) {
		w->end[i].wl.draining = true;
		flow_drain(w->end[i].m, &w->end[i].wl);
	}
	assert_true(world_run(w, w->now + 1000 * SECOND));
	world_empty(w);
	world_free(w);
}

static void test_fast(void **state)
{
	(void)state;
	run_fast(WL_UP);
	run_fast(WL_DOWN);
	run_fast(WL_BOTH);
}

/* An answer to the connection that had the tuple before is late. */
static void test_late(void **state)
{
	static const struct wl_bytes_conf conf = {.request = WL_FIXED(64),
						  .response = WL_FIXED(64),
						  .transactions = 1,
						  .timeout_ns = 10 * MS,
						  .close = WL_CLOSE_FIN};
	struct world *w = world_new(
		&(struct world_setup){.wl = &wl_bytes, .conf = &conf, .udp = true, .ports = 1});
	struct world_end *c = &w->end[0];

	(void)state;
	w->delay = 6 * MS;
	world_adopt(w);
	open_n(w, 1);
	world_run(w, w->now + 11 * MS); /* it is given up 1 ms before its answer comes */
	assert_int_equal(c->transactions.failed, 1);
	open_n(w, 1);
	world_run(w, w->now + 2 * MS);
	assert_int_equal(c->numbers.late, 1);
	assert_int_equal(c->transactions.open, 1);
	assert_true(world_run(w, w->now + 1000 * SECOND));
	assert_int_equal(c->transactions.done, 0);
	world_empty(w);
	world_free(w);
}

static void no_room(struct world_end *e)
{
	for (unsigned i = 0; i < FLOW_ROOMS; i++)
		e->sink.nroom[i] = 0;
}

/* A device takes nothing: what waits for it when its connection ends, in whichever way, was not
 * sent, and is counted so. */
static void run_full(struct world *w, void (*end)(struct world *w, struct world_end *s))
{
	struct world_end *c = &w->end[0], *s = &w->end[1];

	s->spec.finwait_ns = SECOND;
	world_adopt(w);
	assert_int_equal(open_n(w, 10), 10);
	world_flush(w, 0);
	w->now += w->delay;
	no_room(s);
	world_deliver(w, 1);
	flow_poll(s->m, w->now);
	assert_int_equal(s->counts.rx, 10);
	assert_int_equal(s->transactions.done, 10);
	assert_int_equal(s->counts.open, 10);
	assert_int_equal(s->counts.not_sent, 0);
	end(w, s);
	assert_int_equal(s->counts.open, 0);
	assert_int_equal(s->counts.tx, 0);
	assert_int_equal(s->counts.not_sent, 10);
	assert_true(world_run(w, w->now + 1000 * SECOND));
	assert_int_equal(s->counts.tx, 0);
	assert_int_equal(s->counts.not_sent, 10);
	assert_int_equal(c->transactions.failed, 10);
	world_empty(w);
	world_free(w);
}

static void end_by_drain(struct world *w, struct world_end *s)
{
	s->wl.draining = true;
	flow_drain(s->m, &s->wl);
	flow_poll(s->m, w->now);
}

static void end_by_silence(struct world *w, struct world_end *s)
{
	for (unsigned i = 0; i < 30; i++)
		flow_poll(s->m, w->now += 100 * MS);
}

static void end_by_loss(struct world *w, struct world_end *s)
{
	flow_lost(s->m, w->now);
}

static void test_full(void **state)
{
	static const struct wl_bytes_conf conf = {.request = WL_FIXED(64),
						  .response = WL_FIXED(64),
						  .transactions = 1,
						  .timeout_ns = 10 * MS,
						  .close = WL_CLOSE_FIN};
	static void (*const end[])(struct world *, struct world_end *) = {end_by_drain,
									  end_by_silence,
									  end_by_loss};

	(void)state;
	for (unsigned i = 0; i < 3; i++)
		run_full(world_new(&(
				 struct world_setup){.wl = &wl_bytes, .conf = &conf, .udp = true}),
			 end[i]);
}

static void test_numbers(void **state)
{
	const uint64_t began = 0xfffffff0ull << 32;
	struct wl_numbers k = {0};
	uint32_t seen[2] = {0};

	(void)state;
	/* round at 2^31, and the sum with the beginning round at 2^32 */
	for (uint64_t n = 1; n < 100; n++)
		wl_number_seen(seen, began | n, &k);
	assert_int_equal(seen[0], 83);
	seen[0] += 0x7ffffffe - 99;
	wl_number_seen(seen, began | 0x7fffffff, &k);
	for (uint64_t n = 0; n < 100; n++)
		wl_number_seen(seen, began | n, &k);
	assert_int_equal(k.lost + k.reordered + k.duplicated, 0);
	wl_number_seen(seen, began | 99, &k);
	wl_number_seen(seen, began | 102, &k);
	wl_number_seen(seen, began | 101, &k);
	assert_int_equal(k.duplicated, 1);
	assert_int_equal(k.reordered, 1);
	assert_int_equal(k.lost, 1);
	/* the first two of a new connection do not come */
	wl_number_seen(seen, 100ull << 32 | 3, &k);
	assert_int_equal(k.lost, 3);
	/* nothing is told of when it began */
	memset(&k, 0, sizeof(k));
	memset(seen, 0, sizeof(seen));
	wl_number_seen(seen, 2, &k);
	wl_number_seen(seen, 1, &k);
	wl_number_seen(seen, 1, &k);
	assert_int_equal(k.lost, 0);
	assert_int_equal(k.reordered, 1);
	assert_int_equal(k.duplicated, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_datagrams),      cmocka_unit_test(test_one_way),
		cmocka_unit_test(test_one_way_down),   cmocka_unit_test(test_again),
		cmocka_unit_test(test_server_goes_on), cmocka_unit_test(test_late),
		cmocka_unit_test(test_fast),           cmocka_unit_test(test_full),
		cmocka_unit_test(test_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
