/* SPDX-License-Identifier: BSD-3-Clause */
/* Several requests open at once on a connection of UDP: each response belongs to its own request,
 * whatever the network does, and what is begun is done, given up, or open. */
#include "flow_world.h"
#include "wl_pair.h"

#define PAYLOAD (14 + 20 + 8) /* of a frame of the world */
#define NUMBERS 20000

/* What the network has done with the datagrams of one connection. */
static struct net {
	uint64_t sent[NUMBERS];  /* when each request went, by its number */
	uint64_t times, answers; /* from requests to their responses, of those that arrive */
	unsigned lost, copies;
	uint64_t jitter, late;
	unsigned percent;
	bool dead;
} net;

static uint32_t net_number(const struct world_frame *f)
{
	uint32_t number;

	memcpy(&number, f->data + PAYLOAD, 4);
	assert_in_range(number, 1, NUMBERS - 1);
	return number;
}

static bool net_fault(struct world *w, unsigned from, struct world_frame *f)
{
	uint32_t number = net_number(f);

	if (net.dead)
		return false;
	if (world_random(w) % 100 < net.percent) {
		net.lost++;
		return false;
	}
	if (net.jitter != 0)
		f->when += world_random(w) % net.jitter;
	if (from == 0) {
		net.sent[number] = w->now;
	} else {
		net.times += f->when - net.sent[number];
		net.answers++;
	}
	return true;
}

static unsigned open_n(struct world *w, unsigned n)
{
	return flow_open(w->end[0].m, w->end[0].version, n, w->now, 0, w->now);
}

static struct world *pipe_world(const struct wl_bytes_conf *conf, unsigned connections)
{
	struct world *w = world_new(&(struct world_setup){.wl = &wl_bytes_pipelined,
							  .conf = conf,
							  .udp = true,
							  .verify = true,
							  .connections = connections,
							  .fill = WL_FILL_PATTERN});
	struct wl_flow *f = &w->end[0].wl;

	w->end[1].wl.wl = &wl_bytes;
	f->whole.h = hist_new((struct hist_shape){.bits = 7, .top = 40});
	f->since_due.h = hist_new((struct hist_shape){.bits = 7, .top = 40});
	assert_non_null(f->whole.h);
	assert_non_null(f->since_due.h);
	w->end[1].spec.finwait_ns = SECOND;
	world_adopt(w);
	memset(&net, 0, sizeof(net));
	return w;
}

static uint64_t time_sum(const struct wl_timing *t)
{
	return (uint64_t)hist_sum(t->h) + t->sum;
}

static void pipe_free(struct world *w)
{
	assert_int_equal(w->end[0].transactions.mismatched, 0);
	assert_int_equal(w->end[1].transactions.mismatched, 0);
	assert_int_equal(hist_count(w->end[0].wl.whole.h), w->end[0].transactions.done);
	assert_int_equal(hist_count(w->end[0].wl.since_due.h), w->end[0].transactions.done);
	free(w->end[0].wl.whole.h);
	free(w->end[0].wl.since_due.h);
	world_empty(w);
	world_free(w);
}

static void drain(struct world *w)
{
	w->end[0].wl.draining = true;
	flow_drain(w->end[0].m, &w->end[0].wl);
}

#define CONF(n, all) \
	{ \
		.request = WL_FIXED(64), .response = WL_FIXED(100), .transactions = (all), \
		.timeout_ns = 50 * MS, .close = WL_CLOSE_FIN, .pipeline = (n) \
	}

/* So many are open from the first moment to the last transactions. */
static void test_open(void **state)
{
	(void)state;
	for (unsigned n = 2; n <= WL_BYTES_PIPELINE; n++) {
		const struct wl_bytes_conf conf = CONF((uint8_t)n, 500);
		struct world *w = pipe_world(&conf, 3);
		struct world_end *c = &w->end[0], *s = &w->end[1];
		uint64_t rounds = (500 + n - 1) / n, began = w->now;

		w->delay = 5 * MS;
		assert_int_equal(open_n(w, 3), 3);
		assert_int_equal(c->transactions.open, 3 * n);
		world_run(w, began + (rounds - 1) * 10 * MS - 1);
		assert_int_equal(c->transactions.open, 3 * n);
		assert_int_equal(c->counts.tx, 3 * n * (rounds - 1));
		world_run(w, began + rounds * 10 * MS);
		assert_int_equal(c->counts.closed, 3);
		assert_int_equal(c->transactions.done, 1500);
		assert_int_equal(s->transactions.done, 1500);
		assert_int_equal(time_sum(&c->wl.whole), 1500 * 10 * MS);
		assert_int_equal(time_sum(&c->wl.since_due), 1500 * 10 * MS);
		assert_int_equal(c->numbers.reordered + s->numbers.reordered, 0);
		assert_int_equal(c->numbers.late + c->numbers.duplicated + s->numbers.lost, 0);
		assert_true(world_run(w, w->now + 100 * SECOND));
		pipe_free(w);
	}
}

/* Fewer transactions than may be open at once. */
static void test_few(void **state)
{
	const struct wl_bytes_conf conf = CONF(100, 3);
	struct world *w = pipe_world(&conf, 10);

	(void)state;
	assert_int_equal(wl_bytes_pipelined.cells(&w->end[0].wl, true), 2);
	assert_int_equal(open_n(w, 10), 10);
	assert_int_equal(w->end[0].transactions.open, 30);
	assert_true(world_run(w, w->now + 100 * SECOND));
	assert_int_equal(w->end[0].counts.closed, 10);
	assert_int_equal(w->end[0].transactions.done, 30);
	pipe_free(w);
}

/* Each response is that to its own request, in whichever order they come. */
static void test_any_order(void **state)
{
	(void)state;
	for (unsigned n = 2; n <= WL_BYTES_PIPELINE; n += n < 10 ? 1 : 30) {
		struct wl_bytes_conf conf = CONF((uint8_t)n, 5000);
		struct world *w = pipe_world(&conf, 1);
		struct world_end *c = &w->end[0];

		w->fault = net_fault;
		net.jitter = 3 * MS;
		assert_int_equal(open_n(w, 1), 1);
		assert_true(world_run(w, w->now + 100 * SECOND));
		assert_int_equal(c->transactions.done, 5000);
		assert_int_equal(net.answers, 5000);
		/* times are kept in units of 64 ns */
		assert_in_range(time_sum(&c->wl.whole), net.times - 5000 * 64,
				net.times + 5000 * 64);
		assert_true(c->numbers.reordered > 500);
		assert_int_equal(c->numbers.late + c->numbers.duplicated, 0);
		assert_int_equal(w->end[1].numbers.lost, 0);
		pipe_free(w);
	}
}

/* What was lost is given up in its time, and what takes its place goes on. */
static void test_loss(void **state)
{
	static const uint8_t deep[] = {2, 8, 100};

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(deep); i++) {
		struct wl_bytes_conf conf = CONF(deep[i], 0);
		struct world *w = pipe_world(&conf, 1);
		struct world_end *c = &w->end[0];

		w->fault = net_fault;
		w->delay = 2 * MS;
		net.percent = 5;
		assert_int_equal(open_n(w, 1), 1);
		for (unsigned k = 0; k < 50; k++) {
			world_run(w, w->now + 10 * MS);
			assert_int_equal(c->transactions.open, deep[i]);
		}
		assert_true(c->transactions.done > 50);
		drain(w);
		assert_true(world_run(w, w->now + 100 * SECOND));
		assert_int_equal(c->transactions.failed, net.lost);
		assert_int_equal(c->transactions.done, net.answers);
		assert_int_equal(c->counts.closed, 1);
		assert_int_equal(c->numbers.late + c->numbers.duplicated, 0);
		pipe_free(w);
	}
}

/* The server dies, and comes back: in between as many are given up in each of their times. */
static void test_dead(void **state)
{
	const struct wl_bytes_conf conf = CONF(20, 0);
	struct world *w = pipe_world(&conf, 1);
	struct world_end *c = &w->end[0];
	uint64_t done;

	(void)state;
	w->fault = net_fault;
	w->delay = 2 * MS;
	assert_int_equal(open_n(w, 1), 1);
	world_run(w, w->now + 100 * MS);
	net.dead = true;
	world_run(w, w->now + 5 * MS);
	done = c->transactions.done;
	world_run(w, w->now + 500 * MS);
	assert_int_equal(c->transactions.done, done);
	/* 10 times 50 ms, and ticks of timers */
	assert_in_range(c->transactions.failed, 9 * 20, 10 * 20);
	assert_int_equal(c->transactions.failed % 20, 0);
	net.dead = false;
	world_run(w, w->now + 100 * MS);
	assert_true(c->transactions.done > done + 200);
	assert_int_equal(c->transactions.open, 20);
	assert_int_equal(c->counts.open, 1);
	flow_abort(c->m, &c->wl);
	assert_true(world_run(w, w->now + 100 * SECOND));
	assert_int_equal(c->counts.aborted, 1);
	pipe_free(w);
}

/* Every tenth response comes twice, and every tenth when it has been given up. */
static bool twice_and_late(struct world *w, unsigned from, struct world_frame *f)
{
	struct world_frame copy = *f;

	if (from == 0)
		return true;
	if (f->nr % 10 == 3) {
		net.copies++;
		copy.when += 50;
		world_post(w, &copy);
	}
	if (f->nr % 10 == 7) {
		net.late++;
		f->when += 60 * MS;
	}
	return true;
}

static void test_late_and_twice(void **state)
{
	const struct wl_bytes_conf conf = CONF(30, 1000);
	struct world *w = pipe_world(&conf, 1);
	struct world_end *c = &w->end[0];

	(void)state;
	w->fault = twice_and_late;
	assert_int_equal(open_n(w, 1), 1);
	world_run(w, w->now + 49 * MS);
	assert_int_equal(c->numbers.late, 0);
	/* the second ones of the last few find no connection any more */
	assert_true(world_run(w, w->now + 100 * SECOND));
	assert_int_equal(c->transactions.failed, net.late);
	assert_int_equal(c->transactions.done, 1000 - net.late);
	assert_in_range(c->numbers.duplicated, net.copies - 3, net.copies);
	assert_true(c->numbers.late > net.late / 2);
	assert_int_equal(c->counts.rx,
			 c->transactions.done + c->numbers.late + c->numbers.duplicated);
	pipe_free(w);
}

static void room_for(struct world_end *e, unsigned n)
{
	for (unsigned i = 0; i < FLOW_ROOMS; i++)
		e->sink.nroom[i] = n;
}

/* A device that takes nothing for a while: requests are due all the same, and go in their order
 * when they can; what was given up meanwhile does not go. */
static void test_full(void **state)
{
	const struct wl_bytes_conf conf = CONF(100, 300);
	struct world *w = pipe_world(&conf, 10);
	struct world_end *c = &w->end[0], *s = &w->end[1];

	(void)state;
	room_for(c, 1);
	assert_int_equal(open_n(w, 1), 1);
	assert_int_equal(c->transactions.open, 100);
	flow_poll(c->m, w->now += 20 * MS);
	assert_int_equal(c->counts.tx, 1);
	assert_true(world_run(w, w->now + SECOND * 10));
	assert_int_equal(c->transactions.done, 300);
	assert_int_equal(s->numbers.reordered + s->numbers.lost + s->counts.not_sent, 0);
	assert_int_equal(c->counts.not_sent + c->numbers.reordered, 0);
	assert_in_range(time_sum(&c->wl.whole), 100 * 20 * MS, 100 * 20 * MS + 300 * MS);
	assert_int_equal(c->counts.tx, 300);

	room_for(c, 1);
	assert_int_equal(open_n(w, 1), 1);
	for (unsigned i = 0; i < 60; i++)
		flow_poll(c->m, w->now += MS);
	assert_int_equal(c->transactions.failed, 100);
	assert_int_equal(c->transactions.open, 100);
	assert_true(world_run(w, w->now + SECOND * 10));
	assert_int_equal(c->transactions.done, 300 + 200);
	/* one had gone, and one was ready to go: their responses come late */
	assert_int_equal(c->numbers.late, 2);
	assert_int_equal(c->counts.tx, 300 + 200 + 2);
	assert_int_equal(s->numbers.lost, 98);
	pipe_free(w);
}

/* A pause is one of the connection: all have been answered, and then as many go again. */
static void test_think(void **state)
{
	struct wl_bytes_conf conf = CONF(4, 40);
	struct world *w;
	struct world_end *c;
	uint64_t began;

	(void)state;
	conf.think = (struct wl_vary)WL_FIXED(20 * MS);
	w = pipe_world(&conf, 1);
	c = &w->end[0];
	w->delay = MS;
	began = w->now;
	assert_int_equal(open_n(w, 1), 1);
	world_run(w, began + 2 * MS - 1);
	assert_int_equal(c->transactions.open, 4);
	world_run(w, began + 20 * MS);
	assert_int_equal(c->transactions.done, 4);
	assert_int_equal(c->transactions.open, 0);
	world_run(w, began + 23 * MS);
	assert_int_equal(c->transactions.open, 4);
	world_run(w, began + 30 * MS);
	assert_int_equal(c->transactions.done, 8);
	drain(w); /* in a pause a connection closes at once */
	world_run(w, w->now + MS);
	assert_int_equal(c->counts.closed, 1);
	c->wl.draining = false;
	open_n(w, 1);
	assert_true(world_run(w, w->now + 100 * SECOND));
	assert_int_equal(c->transactions.done, 48);
	pipe_free(w);
}

/* Others say when transactions begin: as many as may be open at once, each late by itself. */
static void test_on_call(void **state)
{
	const struct wl_bytes_conf conf = CONF(3, 10);
	struct world *w = pipe_world(&conf, 2);
	struct world_end *c = &w->end[0];

	(void)state;
	w->delay = 5 * MS;
	c->wl.on_call = true;
	assert_int_equal(open_n(w, 2), 2);
	assert_int_equal(c->transactions.open, 0);
	/* the first was due 2 ms ago, the next one 1 ms, and the third now */
	assert_int_equal(flow_go(c->m, c->version, 3, w->now - 2 * MS, MS, w->now), 3);
	assert_int_equal(c->transactions.open, 3);
	assert_int_equal(flow_go(c->m, c->version, 100, w->now, 0, w->now), 3);
	assert_int_equal(c->transactions.open, 6);
	world_run(w, w->now + 20 * MS);
	assert_int_equal(c->transactions.done, 6);
	assert_int_equal(time_sum(&c->wl.whole), 60 * MS);
	assert_in_range(time_sum(&c->wl.since_due), 63 * MS - 6 * 64, 63 * MS + 6 * 64);
	for (unsigned i = 0; i < 3; i++) {
		flow_go(c->m, c->version, 100, w->now, 0, w->now);
		world_run(w, w->now + 20 * MS);
	}
	assert_int_equal(c->transactions.done, 20);
	assert_int_equal(c->counts.closed, 2);
	assert_true(world_run(w, w->now + 100 * SECOND));
	pipe_free(w);
}

/* An end lets what is open finish, and begins nothing; of a connection that opens behind it one
 * transaction alone. */
static void test_end(void **state)
{
	const struct wl_bytes_conf conf = CONF(50, 0);
	struct world *w = pipe_world(&conf, 2);
	struct world_end *c = &w->end[0];

	(void)state;
	w->delay = 5 * MS;
	assert_int_equal(open_n(w, 1), 1);
	world_run(w, w->now + 25 * MS);
	assert_int_equal(c->transactions.started, 150);
	drain(w);
	assert_int_equal(open_n(w, 1), 1);
	world_run(w, w->now + 15 * MS);
	assert_int_equal(c->counts.closed, 2);
	assert_int_equal(c->transactions.started, 151);
	assert_int_equal(c->transactions.done, 151);
	assert_true(world_run(w, w->now + 100 * SECOND));
	pipe_free(w);
}

/* A tuple is used again: what is on its way to the connection before is late. */
static void test_again(void **state)
{
	const struct wl_bytes_conf conf = CONF(10, 0);
	struct world *w = world_new(&(struct world_setup){
		.wl = &wl_bytes_pipelined, .conf = &conf, .udp = true, .ports = 1});
	struct world_end *c = &w->end[0], *s = &w->end[1];

	(void)state;
	s->wl.wl = &wl_bytes;
	w->delay = 5 * MS;
	world_adopt(w);
	assert_int_equal(open_n(w, 1), 1);
	world_run(w, w->now + 26 * MS);
	flow_abort(c->m, &c->wl);
	flow_poll(c->m, w->now);
	assert_int_equal(c->counts.aborted, 1);
	assert_int_equal(c->transactions.failed, 10);
	assert_int_equal(open_n(w, 1), 1);
	world_run(w, w->now + 26 * MS);
	assert_int_equal(c->numbers.late, 10);
	assert_int_equal(c->transactions.done, 20 + 20);
	assert_int_equal(c->numbers.reordered + c->numbers.duplicated, 0);
	assert_int_equal(s->numbers.reordered + s->numbers.duplicated + s->numbers.lost, 0);
	drain(w);
	s->wl.draining = true;
	flow_drain(s->m, &s->wl);
	world_run(w, w->now + SECOND);
	flow_abort(s->m, &s->wl);
	assert_true(world_run(w, w->now + 100 * SECOND));
	world_empty(w);
	world_free(w);
}

/* Datagrams that are none of ours: too short, with numbers that were never sent, or with those of
 * requests that wait for a device. */
static void test_strange(void **state)
{
	const struct wl_bytes_conf conf = CONF(4, 0);
	struct wl_content content;
	struct pair p = {0};
	struct pair_end *e = &p.end[0];
	const struct wl_numbers *k;
	uint64_t first = 1000000000ull >> WL_TIME_SHIFT;
	const uint64_t stamp[] = {
		5 | first << 32,          0 | first << 32,       0x7fffffff | first << 32,
		0x80000001 | first << 32, 1 | (first + 1) << 32, UINT64_MAX,
	};

	(void)state;
	assert_int_equal(wl_content_init(&content, NULL, 0, WL_FILL_X), 0);
	e->flow = (struct wl_flow){.wl = &wl_bytes_pipelined,
				   .conf = &conf,
				   .content = &content,
				   .ncontent = 1};
	pair_open(&p);
	k = e->flow.own;
	assert_int_equal(e->counts.open, 4);
	for (unsigned i = 0; i < ARRAY_SIZE(stamp); i++) {
		pair_receive(&p, e, (const uint8_t *)&stamp[i], 8);
		assert_int_equal(k->late, i + 1);
	}
	pair_receive(&p, e, (const uint8_t *)stamp, 7);
	assert_int_equal(e->counts.mismatched, 7);
	assert_int_equal(e->counts.open, 4);
	for (uint64_t i = 4; i > 0; i--) {
		uint64_t ours = i | first << 32;

		pair_receive(&p, e, (const uint8_t *)&ours, 8);
		pair_receive(&p, e, (const uint8_t *)&ours, 8);
	}
	assert_int_equal(e->counts.done, 4);
	assert_int_equal(k->duplicated, 4);
	assert_int_equal(k->reordered, 3);
	assert_int_equal(e->counts.open, 4);
	pair_free(&p);
}

/* All of a connection's memory is there, or it does not begin; in either case none stays. */
static void test_no_memory(void **state)
{
	(void)state;
	for (unsigned n = 2; n <= WL_BYTES_PIPELINE; n++) {
		const struct wl_bytes_conf conf = CONF((uint8_t)n, 0);
		unsigned cells = wl_bytes_pipelined.cells(&(const struct wl_flow){.conf = &conf,
										  .client = true},
							  true);

		assert_in_range(cells, 1 + n / 4, 1 + (n + 3) / 4 + 2);
		for (unsigned have = 0; have <= cells; have++) {
			struct wl_content content;
			struct pair p = {0};
			struct pair_end *e = &p.end[0];

			assert_int_equal(wl_content_init(&content, NULL, 0, WL_FILL_X), 0);
			e->flow = (struct wl_flow){.wl = &wl_bytes_pipelined,
						   .conf = &conf,
						   .content = &content,
						   .ncontent = 1};
			e->few = PAIR_CELLS - have;
			pair_open(&p);
			assert_int_equal(e->gone, have < cells);
			assert_int_equal(e->counts.started, have < cells ? 0 : n);
			pair_free(&p);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_open),      cmocka_unit_test(test_few),
		cmocka_unit_test(test_any_order), cmocka_unit_test(test_loss),
		cmocka_unit_test(test_dead),      cmocka_unit_test(test_late_and_twice),
		cmocka_unit_test(test_full),      cmocka_unit_test(test_think),
		cmocka_unit_test(test_on_call),   cmocka_unit_test(test_end),
		cmocka_unit_test(test_again),     cmocka_unit_test(test_strange),
		cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
