/* SPDX-License-Identifier: BSD-3-Clause */
/* What control does with flows: opens that find no tuple, transactions on call, drains, resets, new
 * versions, and a device that takes little. */
#include "flow_world.h"

static const struct wl_bytes_conf once = {.request = WL_FIXED(64),
					  .response = WL_FIXED(100),
					  .transactions = 1,
					  .close = WL_CLOSE_FIN};
static const struct wl_bytes_conf forever = {.request = WL_FIXED(64),
					     .response = WL_FIXED(100),
					     .close = WL_CLOSE_FIN,
					     .think = WL_FIXED(10 * MS)};

static unsigned open_n(struct world *w, unsigned n)
{
	return flow_open(w->end[0].m, w->end[0].version, n, w->now, 0, w->now);
}

/* Tuples that rest are used again when there are no others, and the server takes their SYNs. */
static void test_tuples_run_short(void **state)
{
	struct world *w =
		world_new(&(struct world_setup){.wl = &wl_bytes, .conf = &once, .ports = 4});

	(void)state;
	w->end[0].spec.timewait_ns = w->end[1].spec.timewait_ns = 3600 * SECOND;
	world_adopt(w);
	assert_int_equal(open_n(w, 6), 6);
	assert_int_equal(w->end[0].counts.opened, 4);
	assert_int_equal(w->end[0].counts.no_tuple, 2);
	world_run(w, w->now + SECOND);
	assert_int_equal(w->end[0].counts.closed, 4);
	for (unsigned i = 1; i <= 5; i++) {
		open_n(w, 4);
		world_run(w, w->now + SECOND);
		assert_int_equal(w->end[0].counts.closed, 4 + 4 * i);
		assert_int_equal(w->end[0].counts.timewait_reused, 4 * i);
	}
	assert_int_equal(w->end[0].counts.retransmitted, 0);
	assert_int_equal(w->end[0].counts.no_tuple, 2);
	world_run(w, w->now + 4000 * SECOND);
	world_empty(w);
	world_free(w);
}

/* A SYN for a connection that rests at a server opens the next one, and is one segment. */
static void test_tuples_rest_at_server(void **state)
{
	struct wl_bytes_conf conf = once;
	struct world *w =
		world_new(&(struct world_setup){.wl = &wl_bytes, .conf = &conf, .ports = 4});
	struct flow_counts *c = &w->end[0].counts, *s = &w->end[1].counts;

	(void)state;
	conf.server_closes = true;
	w->end[1].spec.timewait_ns = 3600 * SECOND;
	world_adopt(w);
	for (unsigned i = 0; i <= 5; i++) {
		assert_int_equal(open_n(w, 4), 4);
		world_run(w, w->now + SECOND);
		assert_int_equal(s->timewait_reused, 4 * i);
	}
	assert_int_equal(c->tx, s->rx);
	world_free(w);
}

/* The order of tuples: the destination port runs before the source port, and so on. */
static void test_order_of_tuples(void **state)
{
	struct flow_values local = {.count = 2, .base = 10}, remote = {.count = 3, .base = 20};
	struct flow_values lport = {.count = 5, .base = 30}, rport = {.count = 7, .base = 40};
	struct flow_tuples_conf conf = {.remote = &remote,
					.remote_port = &rport,
					.local = &local,
					.local_port = &lport,
					.dense = true};
	static const uint32_t any[3] = {9, 4, 7};
	struct flow_tuples *t;
	struct flow_tuple one;

	(void)state;
	assert_int_equal(flow_tuples_new(&t, &conf, NULL), 0);
	assert_int_equal(flow_tuples_count(t), 210);
	assert_int_equal(flow_tuples_bytes(t), 840);
	for (unsigned i = 0; i < 210; i++) {
		flow_tuples_at(t, i, &one);
		assert_int_equal(one.remote.v4, 20 + i % 3);
		assert_int_equal(one.remote_port, 40 + i / 3 % 7);
		assert_int_equal(one.local.v4, 10 + i / 21 % 2);
		assert_int_equal(one.local_port, 30 + i / 42);
		assert_true(flow_tuples_have(t, &one));
	}
	one.local_port++;
	assert_false(flow_tuples_have(t, &one));
	flow_tuples_free(t);
	/* all addresses there are, and a list: no memory for slots */
	remote.count = 0;
	local.list = any;
	local.count = 3;
	assert_int_equal(flow_tuples_new(&t, &conf, NULL), 0);
	assert_int_equal(flow_tuples_bytes(t), 0);
	assert_int_equal(flow_tuples_count(t), (1ull << 32) * 7 * 3 * 5);
	flow_tuples_at(t, (1ull << 32) * 7 + 5, &one);
	assert_int_equal(one.remote.v4, 25);
	assert_int_equal(one.local.v4, 4);
	flow_tuples_free(t);
}

static void test_on_call(void **state)
{
	struct world *w = world_new(&(struct world_setup){.wl = &wl_bytes, .conf = &forever});
	struct world_end *c = &w->end[0];

	(void)state;
	c->wl.on_call = true;
	world_adopt(w);
	open_n(w, 10);
	assert_int_equal(flow_go(c->m, c->version, 5, w->now, 0, w->now), 0);
	world_run(w, w->now + 2 * SECOND);
	assert_int_equal(c->counts.established, 10);
	assert_int_equal(c->transactions.started, 0);
	/* nothing is due: a worker may sleep */
	assert_int_equal(flow_next_ns(c->m), UINT64_MAX);
	assert_int_equal(flow_go(c->m, c->version, 3, w->now, 0, w->now), 3);
	assert_int_equal(flow_go(c->m, c->version, 30, w->now, 0, w->now), 7);
	world_run(w, w->now + SECOND);
	assert_int_equal(c->transactions.done, 10);
	for (unsigned i = 0; i < 10000; i++) {
		assert_int_equal(flow_go(c->m, c->version, 1, w->now, 0, w->now), 1);
		world_run(w, w->now + MS);
	}
	assert_int_equal(c->transactions.done, 10010);
	c->wl.draining = true;
	flow_drain(c->m, &c->wl);
	assert_true(flow_sweeping(c->m));
	assert_true(world_run(w, w->now + 100 * SECOND));
	assert_int_equal(c->counts.closed, 10);
	world_empty(w);
	world_free(w);
}

/* A server that resets each connection does so behind its response, however long that is. */
static void test_server_resets(void **state)
{
	static const uint32_t sizes[] = {100, 1460, 100000, 5000000};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		const struct wl_bytes_conf conf = {.request = WL_FIXED(64),
						   .response = {.least = sizes[i],
								.most = sizes[i]},
						   .transactions = 1,
						   .server_closes = true,
						   .close = WL_CLOSE_RST};
		struct world *w = world_new(
			&(struct world_setup){.wl = &wl_bytes, .conf = &conf, .verify = true});
		struct world_end *c = &w->end[0], *s = &w->end[1];

		world_adopt(w);
		open_n(w, 3);
		world_run(w, w->now + 20 * SECOND);
		assert_int_equal(c->transactions.done, 3);
		assert_int_equal(c->counts.rx_bytes, 3ull * sizes[i]);
		assert_int_equal(c->counts.reset_by_peer, 3);
		assert_int_equal(s->counts.reset_by_us, 3);
		assert_true(world_run(w, w->now + 100 * SECOND));
		world_empty(w);
		world_free(w);
	}
}

/* Whoever is to close, and however, does so at the end of a run too: behind a drain no connection
 * of bytes is left. */
static void test_drain_closes(void **state)
{
	static const struct {
		enum wl_close close;
		bool server_closes, on_call;
		uint64_t transactions;
	} cases[] = {
		{WL_CLOSE_NOT, false, false, 0}, {WL_CLOSE_FIN, true, false, 0},
		{WL_CLOSE_RST, true, false, 0},  {WL_CLOSE_NOT, false, true, 0},
		{WL_CLOSE_FIN, false, true, 9},  {WL_CLOSE_FIN, true, true, 9},
		{WL_CLOSE_NOT, false, true, 1},  {WL_CLOSE_RST, false, false, 0},
		{WL_CLOSE_RST, false, true, 9},
	};

	(void)state;
	for (size_t i = 0; i < 2 * ARRAY_SIZE(cases); i++) {
		struct wl_bytes_conf conf = forever;
		struct world *w = world_new(&(struct world_setup){.wl = &wl_bytes, .conf = &conf});
		struct world_end *c = &w->end[0];
		bool rst = cases[i / 2].close == WL_CLOSE_RST && !cases[i / 2].server_closes;

		conf.close = cases[i / 2].close;
		conf.server_closes = cases[i / 2].server_closes;
		conf.transactions = cases[i / 2].transactions;
		c->wl.on_call = cases[i / 2].on_call;
		w->delay = MS;
		world_adopt(w);
		open_n(w, 10);
		/* before, or in the middle of a transaction; or while they open */
		if (i % 2 == 0) {
			world_run(w, w->now + 50 * MS);
			assert_int_equal(c->counts.open, 10);
			if (c->wl.on_call)
				flow_go(c->m, c->version, 5, w->now, 0, w->now);
		}
		c->wl.draining = true;
		flow_drain(c->m, &c->wl);
		world_run(w, w->now + SECOND);
		assert_int_equal(c->counts.established, 10);
		assert_int_equal(c->counts.closed, rst ? 0 : 10);
		assert_int_equal(c->counts.reset_by_us, rst ? 10 : 0);
		assert_int_equal(c->transactions.failed, 0);
		assert_true(world_run(w, w->now + 100 * SECOND));
		world_empty(w);
		world_free(w);
	}
}

/* A drain lets transactions end; an abort does not. */
static void test_drain_and_abort(void **state)
{
	struct world *w = world_new(&(struct world_setup){.wl = &wl_bytes, .conf = &forever});
	struct world_end *c = &w->end[0], *s = &w->end[1];

	(void)state;
	w->delay = MS;
	world_adopt(w);
	open_n(w, 100);
	world_run(w, w->now + 50 * MS + MS / 2);
	assert_int_equal(c->counts.open, 100);
	c->wl.draining = true;
	flow_drain(c->m, &c->wl);
	assert_true(world_run(w, w->now + 100 * SECOND));
	assert_int_equal(c->counts.closed, 100);
	assert_int_equal(c->transactions.failed, 0);
	assert_int_equal(c->transactions.started, c->transactions.done);
	c->wl.draining = false;
	open_n(w, 100);
	world_run(w, w->now + 50 * MS);
	open_n(w, 100);
	flow_abort(c->m, &c->wl);
	world_run(w, w->now + 100 * SECOND);
	assert_int_equal(c->counts.aborted, 100);
	assert_int_equal(c->counts.aborted_opening, 100);
	/* those that were opening leave the server to its timers */
	assert_int_equal(s->counts.reset_by_peer, 100);
	assert_int_equal(s->counts.refused + s->counts.connect_timeout, 100);
	world_empty(w);
	world_free(w);
}

/* Connections keep the version they began with; it is given back with the last of them. */
static void test_versions(void **state)
{
	static const struct wl_bytes_conf other = {.request = WL_FIXED(64),
						   .response = WL_FIXED(100),
						   .transactions = 1,
						   .close = WL_CLOSE_FIN};
	struct world *w = world_new(&(struct world_setup){.wl = &wl_bytes, .conf = &forever});
	struct world_end *c = &w->end[0];
	struct flow_spec next;
	struct wl_flow wl;
	int version;

	(void)state;
	world_adopt(w);
	open_n(w, 3);
	world_run(w, w->now + 100 * MS);
	wl = c->wl;
	wl.conf = &other;
	next = c->spec;
	next.wl = &wl;
	version = flow_adopt(c->m, &next);
	assert_true(version >= 0 && version != c->version);
	flow_retire(c->m, c->version);
	assert_int_equal(open_n(w, 1), 0);
	assert_null(flow_released(c->m));
	assert_int_equal(flow_open(c->m, version, 20, w->now, 0, w->now), 20);
	world_run(w, w->now + 100 * MS);
	assert_int_equal(c->counts.closed, 20);
	assert_int_equal(c->counts.open, 3);
	assert_null(flow_released(c->m));
	c->wl.draining = true;
	flow_drain(c->m, &c->wl);
	assert_true(world_run(w, w->now + 100 * SECOND));
	assert_int_equal(c->counts.closed, 23);
	assert_ptr_equal(flow_released(c->m), &c->spec);
	assert_null(flow_released(c->m));
	flow_retire(c->m, version);
	assert_ptr_equal(flow_released(c->m), &next);
	world_sums(w);
	world_free(w);
}

/* A sink that takes few frames at a time: all is sent, only later. */
static void test_back_pressure(void **state)
{
	static const struct wl_bytes_conf large = {.request = WL_FIXED(200000),
						   .response = WL_FIXED(300000),
						   .transactions = 2,
						   .close = WL_CLOSE_FIN};
	struct world *w = world_new(&(struct world_setup){
		.wl = &wl_bytes, .conf = &large, .verify = true, .fill = WL_FILL_PATTERN});
	unsigned opened = 0;

	(void)state;
	w->end[0].sink.max_out = 3;
	w->end[1].sink.max_out = 2;
	world_adopt(w);
	while (opened < 20) {
		opened += open_n(w, 20 - opened);
		world_run(w, w->now + 1000);
		world_sums(w);
	}
	assert_true(world_run(w, w->now + 1000 * SECOND));
	assert_true(flow_machine_counts(w->end[1].m)->sink_full > 100);
	assert_int_equal(w->end[0].counts.window_full + w->end[1].counts.window_full, 0);
	assert_int_equal(w->end[0].counts.closed, 20);
	assert_int_equal(w->end[0].transactions.done, 40);
	assert_int_equal(w->end[0].transactions.mismatched, 0);
	assert_int_equal(w->end[1].transactions.mismatched, 0);
	world_empty(w);
	world_free(w);
}

/* Who closes first owes the last ACK, also where there is no room for it for longer than it has to
 * rest: nobody has to send his FIN again, and it is not answered by a reset. */
static void last_ack_waits_for_room(uint64_t timewait_ns)
{
	static const struct wl_bytes_conf short_one = {.request = WL_FIXED(100),
						       .response = WL_FIXED(100),
						       .transactions = 1,
						       .close = WL_CLOSE_FIN};
	struct world *w = world_new(&(struct world_setup){.wl = &wl_bytes, .conf = &short_one});
	struct world_end *c = &w->end[0], *s = &w->end[1];
	uint32_t full;

	c->spec.timewait_ns = timewait_ns;
	world_adopt(w);
	assert_int_equal(open_n(w, 20), 20);
	while (s->counts.opened < 20 || s->transactions.done < 20) {
		w->now += 10000;
		world_turn(w);
	}
	full = flow_machine_counts(c->m)->sink_full;
	for (unsigned turn = 0; turn < 400; turn++) {
		/* for a while nothing, then all FINs at once, and behind them nothing again */
		c->sink.max_out = turn == 200 ? 20 : turn < 300 ? 0 : 1;
		w->now += 100000;
		world_turn(w);
	}
	assert_true(flow_machine_counts(c->m)->sink_full > full);
	assert_true(world_run(w, w->now + 100 * SECOND));
	assert_int_equal(c->counts.closed, 20);
	assert_int_equal(s->counts.closed, 20);
	assert_int_equal(s->counts.retransmitted + s->counts.reset_by_peer, 0);
	assert_int_equal(flow_machine_counts(c->m)->rst_sent, 0);
	world_empty(w);
	world_free(w);
}

static void test_last_ack_waits_for_room(void **state)
{
	(void)state;
	last_ack_waits_for_room(0);
	last_ack_waits_for_room(1 * MS);
}

/* More connections than the machine has places for wait for room, each with a response: all get it,
 * and none has to send anything again. */
static void test_many_wait_for_room(void **state)
{
	enum { MANY = 70000 };
	struct world *w = world_new(&(struct world_setup){
		.wl = &wl_bytes, .conf = &forever, .connections = MANY, .addresses = 2});
	struct world_end *c = &w->end[0], *s = &w->end[1];
	unsigned done;

	(void)state;
	c->wl.on_call = true;
	world_adopt(w);
	for (unsigned n = 0; n < MANY; n += done) {
		done = open_n(w, 500);
		world_run(w, w->now + MS);
	}
	assert_int_equal(s->counts.open, MANY);
	assert_false(flow_waiting(s->m));
	s->sink.max_out = 0;
	for (unsigned n = 0; n < MANY; n += done) {
		done = flow_go(c->m, c->version, 200, w->now, 0, w->now);
		w->now += 20000;
		world_turn(w);
	}
	w->now += 20000;
	world_turn(w);
	assert_true(flow_waiting(s->m));
	assert_int_equal(c->transactions.done, 0);
	s->sink.max_out = 128;
	for (unsigned turn = 0; turn < 10000 && c->transactions.done < MANY; turn++) {
		w->now += 20000;
		world_turn(w);
	}
	assert_int_equal(c->transactions.done, MANY);
	assert_false(flow_waiting(s->m));
	assert_int_equal(c->counts.retransmitted + s->counts.retransmitted, 0);
	c->sink.max_out = 128;
	flow_abort(c->m, &c->wl);
	while (flow_sweeping(c->m)) {
		w->now += 20000;
		world_turn(w);
	}
	world_run(w, w->now + 100 * SECOND);
	world_empty(w);
	world_free(w);
}

/* Round trips of 6 s are longer than 32 bits of ns can tell. They are known all the same, and
 * nothing is sent again or asked for before its answer can have come. */
static void test_round_trips_of_seconds(void **state)
{
	static const struct wl_bytes_conf conf = {.request = WL_FIXED(4000),
						  .response = WL_FIXED(4000),
						  .transactions = 8,
						  .close = WL_CLOSE_FIN};
	struct world *w = world_new(&(struct world_setup){.wl = &wl_bytes, .conf = &conf});
	struct flow_info info;
	uint32_t at = 0;

	(void)state;
	w->delay = 3 * SECOND;
	for (unsigned i = 0; i < 2; i++)
		w->end[i].spec.rto_first_ns = 20 * SECOND;
	world_adopt(w);
	open_n(w, 1);
	world_run(w, w->now + 40 * SECOND);
	assert_true(flow_walk(w->end[0].m, &at, 10, &info) && info.number != 0);
	assert_in_range(info.srtt_ns, 6 * SECOND - MS, 6 * SECOND + 100 * MS);
	assert_true(world_run(w, w->now + 1000 * SECOND));
	assert_int_equal(w->end[0].transactions.done, 8);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(w->end[i].counts.tail_probe, 0);
		assert_int_equal(w->end[i].counts.retransmitted, 0);
	}
	world_empty(w);
	world_free(w);
}

/* Connections that waited for a sink go on in one turn as far as it has buffers of the kind that
 * they need, though it has none of the other kind. */
static void test_filled_buffers_alone(void **state)
{
	static const struct wl_stream_conf up = {.direction = WL_UP};
	struct world *w = world_new(&(struct world_setup){.wl = &wl_stream, .conf = &up});
	struct world_end *c = &w->end[0];
	bool seen[65536] = {false};
	unsigned sent = 0;

	(void)state;
	c->sink.offload = FLOW_OFFLOAD_FILL;
	w->end[1].spec.window = 8000; /* few segments of each, so that all find room */
	world_adopt(w);
	for (unsigned turn = 0; turn < 100; turn++) {
		w->now += 10000;
		if (turn < 20)
			open_n(w, 1);
		c->sink.max_out = turn < 60 ? WORLD_OUT : 0; /* then each stands at the sink */
		world_turn(w);
	}
	assert_int_equal(c->counts.open, 20);
	world_refill(c, WORLD_OUT);
	c->sink.max_out = WORLD_OUT;
	c->sink.nroom[FLOW_PLAIN] = 0;
	flow_poll(c->m, w->now);
	for (unsigned i = 0; i < c->sink.nout; i++) {
		const uint8_t *port = (const uint8_t *)c->out[i].handle + c->out[i].l4;

		assert_true(c->out[i].fill > 0);
		sent += !seen[port[0] << 8 | port[1]];
		seen[port[0] << 8 | port[1]] = true;
	}
	assert_int_equal(sent, 20);
	c->wl.draining = true;
	flow_drain(c->m, &c->wl);
	assert_true(world_run(w, w->now + 100 * SECOND));
	world_empty(w);
	world_free(w);
}

/* A drain does not wait for a sink that connections always fill: a device takes 3 frames in each
 * us, and their windows would allow them 40. */
static void test_drain_behind_a_full_sink(void **state)
{
	static const struct wl_stream_conf up = {.direction = WL_UP};
	struct world *w = world_new(&(struct world_setup){.wl = &wl_stream, .conf = &up});
	struct world_end *c = &w->end[0];

	(void)state;
	c->sink.max_out = 3;
	c->spec.congestion = FLOW_NO_CONGESTION;
	w->end[1].spec.window = 65535;
	world_adopt(w);
	for (unsigned turn = 0; turn < 4000; turn++) {
		w->now += 1000;
		if (turn < 20)
			open_n(w, 1);
		if (turn == 1000) {
			assert_int_equal(c->counts.open, 20);
			c->wl.draining = true;
			flow_drain(c->m, &c->wl);
		}
		world_turn(w);
	}
	assert_false(flow_sweeping(c->m));
	assert_int_equal(c->counts.closed, 20);
	assert_true(world_run(w, w->now + 100 * SECOND));
	world_empty(w);
	world_free(w);
}

/* `most` bounds what is open; a machine without cells says so. */
static void test_bounds(void **state)
{
	struct world *w = world_new(
		&(struct world_setup){.wl = &wl_bytes, .conf = &forever, .connections = 50});

	(void)state;
	w->end[1].spec.timewait_ns = 0;
	world_adopt(w);
	assert_int_equal(open_n(w, 60), 50);
	world_run(w, w->now + 100 * MS);
	assert_int_equal(w->end[0].counts.open, 50);
	assert_int_equal(open_n(w, 60), 0);
	w->end[0].spec.most = 1000;
	assert_int_equal(open_n(w, 60), 60);
	assert_int_equal(w->end[0].counts.no_memory, 10);
	world_run(w, w->now + 100 * MS);
	assert_int_equal(w->end[0].counts.open, 100);
	assert_int_equal(w->end[1].counts.open, 100);
	flow_abort(w->end[0].m, &w->end[0].wl);
	assert_true(world_run(w, w->now + 100 * SECOND));
	world_empty(w);
	world_free(w);
}

/* A million seconds and more without anything: deadlines do not wrap into the past. */
static void test_idle_for_long(void **state)
{
	struct world *w = world_new(&(struct world_setup){.wl = &wl_bytes, .conf = &forever});
	struct world_end *c = &w->end[0];

	(void)state;
	c->wl.on_call = true;
	world_adopt(w);
	open_n(w, 10);
	world_run(w, w->now + SECOND);
	for (unsigned i = 0; i < 10; i++) {
		w->now += 1234567 * SECOND;
		assert_int_equal(flow_go(c->m, c->version, 10, w->now, 0, w->now), 10);
		world_run(w, w->now + SECOND);
		assert_int_equal(c->transactions.done, 10 * (i + 1));
	}
	assert_int_equal(c->counts.retransmitted, 0);
	flow_abort(c->m, &c->wl);
	world_run(w, w->now + 100 * SECOND);
	world_empty(w);
	world_free(w);
}

/* Half-open connections of a flood are bounded, and make room for those that answer. */
static bool only_syns(struct world *w, unsigned from, struct world_frame *f)
{
	return from == 0 && f->data[47] == 2 && w->arg == NULL;
}

static void test_syn_flood(void **state)
{
	struct world *w = world_new(&(struct world_setup){.wl = &wl_bytes, .conf = &once});
	const struct flow_counts *s = &w->end[1].counts;

	(void)state;
	w->fault = only_syns;
	w->end[0].spec.retries = 0;
	w->end[1].spec.retries = 1;
	world_adopt(w);
	for (unsigned i = 0; i < 100; i++) {
		open_n(w, 300);
		flow_abort(w->end[0].m, &w->end[0].wl);
		world_run(w, w->now + 300 * MS);
		world_sums(w);
	}
	assert_int_equal(s->established, 0);
	assert_true(s->connect_timeout > 1000);
	assert_true(flow_machine_counts(w->end[1].m)->cells_used <= 2000);
	w->fault = NULL;
	w->end[0].spec.retries = 5;
	open_n(w, 50);
	assert_true(world_run(w, w->now + 1000 * SECOND));
	assert_int_equal(w->end[0].counts.closed, 50);
	world_empty(w);
	world_free(w);
}

/* Each connection of many may have a cell of its workload at once. */
static void test_cells_for_all(void **state)
{
	static const struct wl_bytes_conf counted = {.request = WL_FIXED(8),
						     .response = WL_FIXED(8),
						     .transactions = 2,
						     .think = WL_FIXED(SECOND),
						     .close = WL_CLOSE_FIN};
	struct world *w = world_new(&(struct world_setup){
		.wl = &wl_bytes, .conf = &counted, .connections = 12000, .ports = 12000});

	(void)state;
	world_adopt(w);
	assert_int_equal(wl_bytes.cells(&w->end[0].wl, false), 1);
	for (unsigned i = 0; i < 30; i++) {
		assert_int_equal(open_n(w, 400), 400);
		world_run(w, w->now + MS);
	}
	assert_int_equal(w->end[0].counts.open, 12000);
	assert_int_equal(w->end[0].transactions.done, 12000);
	assert_true(world_run(w, w->now + 100 * SECOND));
	assert_int_equal(w->end[0].counts.closed, 12000);
	assert_int_equal(w->end[0].counts.reset_by_us, 0);
	assert_int_equal(w->end[0].transactions.done, 24000);
	world_empty(w);
	world_free(w);
}

/* A response is acknowledged by the next request, where that is due before the timer of delayed
 * acknowledgements is, and else by that (RFC 9293 3.8.6.3). */
static void test_requests_acknowledge(void **state)
{
	struct wl_bytes_conf slow = forever;

	(void)state;
	slow.think = (struct wl_vary)WL_FIXED(100 * MS);
	for (unsigned i = 0; i < 2; i++) {
		struct world *w = world_new(
			&(struct world_setup){.wl = &wl_bytes, .conf = i == 0 ? &forever : &slow});
		const struct flow_counts *k = &w->end[0].counts;

		world_adopt(w);
		assert_int_equal(open_n(w, 10), 10);
		world_run(w, w->now + SECOND);
		assert_true(w->end[0].transactions.done >= 90);
		if (i == 0)
			assert_int_equal(k->ack_sent, 0);
		else /* of the newest ones it may be still to come */
			assert_in_range(k->ack_sent, w->end[0].transactions.done - 10,
					w->end[0].transactions.done);
		assert_int_equal(k->retransmitted, 0);
		world_free(w);
	}
}

static bool lose_all(struct world *w, unsigned from, struct world_frame *f)
{
	(void)from;
	(void)f;
	return w->now > 1500 * SECOND;
}

/* A connection that opens late: its time is that from its first SYN. */
static void test_connects_late(void **state)
{
	struct world *w = world_new(&(struct world_setup){.wl = &wl_bytes, .conf = &once});
	struct world_end *c = &w->end[0];
	struct hist *h = hist_new((struct hist_shape){.bits = 7, .top = 50});

	(void)state;
	assert_non_null(h);
	c->wl.connect.h = h;
	c->spec.retries = 14;
	w->fault = lose_all;
	world_adopt(w);
	assert_int_equal(open_n(w, 1), 1);
	assert_true(world_run(w, w->now + 2000 * SECOND));
	assert_int_equal(c->counts.closed, 1);
	assert_int_equal(hist_count(h), 1);
	/* behind the first five each SYN comes a minute later: behind 1 + 2 + ... + 32 s */
	assert_in_range((uint64_t)hist_sum(h), 543 * SECOND, 544 * SECOND);
	world_empty(w);
	world_free(w);
	free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tuples_run_short),
		cmocka_unit_test(test_tuples_rest_at_server),
		cmocka_unit_test(test_order_of_tuples),
		cmocka_unit_test(test_on_call),
		cmocka_unit_test(test_drain_and_abort),
		cmocka_unit_test(test_drain_closes),
		cmocka_unit_test(test_server_resets),
		cmocka_unit_test(test_versions),
		cmocka_unit_test(test_back_pressure),
		cmocka_unit_test(test_requests_acknowledge),
		cmocka_unit_test(test_last_ack_waits_for_room),
		cmocka_unit_test(test_many_wait_for_room),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_round_trips_of_seconds),
		cmocka_unit_test(test_filled_buffers_alone),
		cmocka_unit_test(test_drain_behind_a_full_sink),
		cmocka_unit_test(test_idle_for_long),
		cmocka_unit_test(test_syn_flood),
		cmocka_unit_test(test_cells_for_all),
		cmocka_unit_test(test_connects_late),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
