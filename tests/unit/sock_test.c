/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernel arm: both ends in one process, over loopback. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "sock.h"
#include "spin.h"
#include "workload.h"

struct world {
	struct wl_content content;
	struct wl_bytes_conf bytes;
	struct wl_stream_conf stream;
	struct sock_spec client, server;
	struct sock_arm *arm, *peer;
	struct sock_addr at;
	bool spins;
};

static void world_init(struct world *w, const struct workload *wl, const void *conf)
{
	struct err e;

	*w = (struct world){.bytes = {.request = WL_FIXED(100),
				      .response = WL_FIXED(3000),
				      .timeout_ns = 1000000000},
			    .stream = {.direction = WL_UP}};
	assert_int_equal(wl_content_init(&w->content, NULL, 0, WL_FILL_PATTERN), 0);
	w->client.flow = (struct wl_flow){.wl = wl,
					  .conf = conf,
					  .content = &w->content,
					  .ncontent = 1,
					  .verify = true,
					  .client = true};
	w->server = w->client;
	w->server.flow.client = false;
	w->server.keep = true;
	assert_int_equal(sock_resolve("127.0.0.1", 0, AF_INET, &w->at, 1, &e), 1);
}

static void world_open(struct world *w, unsigned threads, unsigned lines, uint64_t budget)
{
	struct sock_conf conf = {.threads = threads,
				 .gather = true,
				 .budget = budget,
				 .spins = w->spins};
	bool udp = w->client.tune.udp;
	struct err e;
	socklen_t n = sizeof(w->at.sa);
	int fd;

	w->arm = sock_new(&conf);
	conf.gather = false;
	w->peer = sock_new(&conf);
	fd = udp ? sock_bind(&w->at, &w->server.tune, &e)
		 : sock_listen(&w->at, &w->server.tune, &e);
	assert_true(fd >= 0);
	getsockname(fd, &w->at.sa.any, &n);
	sock_serve(w->peer, 0, &w->server, fd);
	for (unsigned i = 0; i < lines; i++)
		sock_add(w->arm, i % threads, &w->client, &w->at, NULL);
	assert_int_equal(sock_start(w->peer, &e), 0);
	assert_int_equal(sock_start(w->arm, &e), 0);
}

static unsigned arm_wait(struct sock_arm *arm, unsigned events)
{
	struct pollfd p = {.fd = sock_event_fd(arm), .events = POLLIN};
	unsigned seen = 0;

	while ((seen & events) == 0) {
		assert_int_equal(poll(&p, 1, 10000), 1);
		seen |= sock_events(arm);
	}
	return seen;
}

static void world_close(struct world *w)
{
	sock_free(w->arm);
	sock_free(w->peer);
}

struct sum {
	uint64_t done, tx, rx, opened, mismatched, lines;
};

static void add_up(void *arg, struct sock_line *l)
{
	struct sum *s = arg;

	s->done += l->counts.done;
	s->mismatched += l->counts.mismatched;
	s->tx += l->n.tx_bytes;
	s->rx += l->n.rx_bytes;
	s->opened += l->n.opened;
	s->lines++;
}

static struct sum sum_of(struct sock_arm *a)
{
	struct sum s = {0};

	sock_each(a, add_up, &s);
	return s;
}

/* Requests and responses by a budget: exactly so many, with the right bytes. */
static void budget_of(bool udp)
{
	struct world w;
	struct sum s;

	world_init(&w, &wl_bytes, NULL);
	w.client.flow.conf = w.server.flow.conf = &w.bytes;
	w.client.flow.on_call = true;
	w.client.tune.udp = w.server.tune.udp = udp;
	world_open(&w, 2, 5, 1000);
	arm_wait(w.arm, SOCK_CONNECTED);
	assert_int_equal(sum_of(w.arm).done, 0); /* they begin together */
	sock_go(w.arm);
	arm_wait(w.arm, SOCK_SPENT);
	sock_stop(w.arm);
	sock_stop(w.peer);
	s = sum_of(w.arm);
	assert_int_equal(s.done, 1000);
	assert_int_equal(s.tx, 1000 * 100);
	assert_int_equal(s.rx, 1000 * 3000);
	assert_int_equal(s.opened, 5);
	assert_int_equal(s.mismatched, 0);
	s = sum_of(w.peer);
	assert_int_equal(s.done, 1000);
	assert_int_equal(s.rx, 1000 * 100);
	assert_int_equal(s.lines, 5);
	assert_int_equal(s.mismatched, 0);
	world_close(&w);
}

static void test_budget_tcp(void **state)
{
	(void)state;
	budget_of(false);
}

static void test_budget_udp(void **state)
{
	(void)state;
	budget_of(true);
}

/* A connection for each transaction, reset by the client. */
/* Calls of more than the filling that lies there in one piece: the right bytes all the same, behind
 * a head, too. */
static void test_large_calls(void **state)
{
	static const char head[] = "a head of its own";
	static const uint32_t buffers[] = {WL_REST + 1, 3 * WL_REST, SOCK_BUFFER_MOST,
					   SOCK_BUFFER_MOST + 1};
	struct world w;
	struct sum s;

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(buffers); i++) {
		world_init(&w, &wl_bytes, NULL);
		w.bytes.request = (struct wl_vary)WL_FIXED(700001);
		w.bytes.response = (struct wl_vary)WL_FIXED(2500003);
		assert_int_equal(wl_content_init(&w.content, head, i % 2 * sizeof(head),
						 WL_FILL_PATTERN),
				 0);
		w.client.flow.conf = w.server.flow.conf = &w.bytes;
		w.client.flow.on_call = true;
		w.client.buffer = w.server.buffer = buffers[i];
		world_open(&w, 1, 2, 10);
		arm_wait(w.arm, SOCK_CONNECTED);
		sock_go(w.arm);
		arm_wait(w.arm, SOCK_SPENT);
		sock_stop(w.arm);
		sock_stop(w.peer);
		s = sum_of(w.arm);
		assert_int_equal(s.done, 10);
		assert_int_equal(s.rx, 10 * 2500003);
		assert_int_equal(s.mismatched, 0);
		s = sum_of(w.peer);
		assert_int_equal(s.rx, 10 * 700001);
		assert_int_equal(s.mismatched, 0);
		world_close(&w);
	}
}

static void test_again(void **state)
{
	struct world w;
	struct sum s;

	(void)state;
	world_init(&w, &wl_bytes, NULL);
	w.bytes.transactions = 1;
	w.bytes.close = WL_CLOSE_RST;
	w.client.flow.conf = w.server.flow.conf = &w.bytes;
	w.client.flow.on_call = w.client.again = true;
	world_open(&w, 1, 3, 300);
	arm_wait(w.arm, SOCK_CONNECTED);
	sock_go(w.arm);
	arm_wait(w.arm, SOCK_SPENT);
	sock_stop(w.arm);
	s = sum_of(w.arm);
	assert_int_equal(s.done, 300);
	assert_in_range(s.opened, 300, 306);
	assert_int_equal(s.mismatched, 0);
	world_close(&w);
}

/* Bytes both ways, so many: each end gets all of them, and the connection closes by itself. */
static void stream_both_ways(bool spins)
{
	struct world w;
	struct sum s;

	world_init(&w, &wl_stream, NULL);
	w.spins = spins;
	w.stream.direction = WL_BOTH;
	w.stream.bytes = 10000000;
	w.client.flow.conf = w.server.flow.conf = &w.stream;
	w.client.preamble = "";
	world_open(&w, 1, 1, 0);
	arm_wait(w.arm, SOCK_CONNECTED);
	sock_go(w.arm);
	arm_wait(w.arm, SOCK_ENDED);
	s = sum_of(w.arm);
	assert_int_equal(s.tx, 10000000);
	assert_int_equal(s.rx, 10000000);
	assert_int_equal(s.mismatched, 0);
	assert_int_equal(s.done, 1);
	arm_wait(w.peer, SOCK_ENDED);
	s = sum_of(w.peer);
	assert_int_equal(s.rx, 10000000);
	assert_int_equal(s.mismatched, 0);
	world_close(&w);
}

static void test_stream(void **state)
{
	(void)state;
	stream_both_ways(false);
}

/* Threads that look for a while before they sleep miss nothing: neither bytes nor control. */
static void test_stream_spins(void **state)
{
	(void)state;
	stream_both_ways(true);
}

/* Waits in vain until it sleeps. Returns how long it has looked. */
static uint64_t spin_in_vain(struct sock_spin *s, uint64_t *now)
{
	uint64_t since = *now;

	for (; sock_spin_looks(s, *now); *now += SOCK_SPIN_NS / 4)
		assert_true(*now - since < SOCK_SPIN_NS);
	return *now - since;
}

/* When a thread looks again, and when it sleeps at once. */
static void test_spin(void **state)
{
	struct sock_spin s = {0};
	uint64_t now = 1000;
	unsigned waits = 0;

	(void)state;
	/* at first it sleeps; a long sleep was worth it, a short one was not */
	assert_false(sock_spin_looks(&s, now));
	sock_spin_slept(&s, SOCK_SPIN_NS);
	assert_false(sock_spin_looks(&s, now));
	sock_spin_slept(&s, SOCK_SPIN_NS - 1);
	/* as often as something comes in time, it does not sleep */
	for (unsigned i = 0; i < 10; i++, now += SOCK_SPIN_NS) {
		assert_true(sock_spin_looks(&s, now));
		assert_true(sock_spin_looks(&s, now + SOCK_SPIN_NS - 1));
		sock_spin_came(&s);
	}
	/* in vain: for so long, and each time that follows in vain rests twice as many waits */
	for (unsigned rest = 1; rest <= SOCK_SPIN_REST_MOST; rest *= 2) {
		assert_int_equal(spin_in_vain(&s, &now), SOCK_SPIN_NS);
		waits = 0;
		do {
			sock_spin_slept(&s, 1);
			waits++;
		} while (!sock_spin_looks(&s, now));
		assert_int_equal(waits, rest);
	}
	/* no more than the most, and half as many when it was good for something */
	assert_int_equal(spin_in_vain(&s, &now), SOCK_SPIN_NS);
	assert_int_equal(s.rest, SOCK_SPIN_REST_MOST);
	s.rest = 1;
	sock_spin_slept(&s, 1);
	assert_true(sock_spin_looks(&s, now));
	sock_spin_came(&s);
	assert_int_equal(s.vain, SOCK_SPIN_REST_MOST / 2);
}

/* Nobody listens: told once, with the address, and nothing hangs. */
static void test_refused(void **state)
{
	struct sock_conf conf = {.threads = 1, .gather = true};
	struct world w;
	struct err e;
	socklen_t n = sizeof(w.at.sa);
	int fd;

	(void)state;
	world_init(&w, &wl_stream, NULL);
	w.client.flow.conf = &w.stream;
	fd = sock_listen(&w.at, &w.server.tune, &e);
	getsockname(fd, &w.at.sa.any, &n);
	assert_int_equal(sock_listen(&w.at, &w.server.tune, &e), -EADDRINUSE);
	assert_non_null(strstr(e.text, "127.0.0.1"));
	close(fd);
	w.arm = sock_new(&conf);
	sock_add(w.arm, 0, &w.client, &w.at, NULL);
	assert_int_equal(sock_start(w.arm, &e), 0);
	arm_wait(w.arm, SOCK_FAILED);
	assert_true(sock_error(w.arm, &e));
	assert_non_null(strstr(e.text, "cannot connect to 127.0.0.1:"));
	w.peer = NULL;
	world_close(&w);
}

static void adopted_world(struct world *w, int pair[2])
{
	struct sock_conf conf = {.threads = 1};
	struct err e;
	socklen_t n = sizeof(w->at.sa);
	int fd = sock_listen(&w->at, &w->server.tune, &e);

	getsockname(fd, &w->at.sa.any, &n);
	pair[0] = sock_connect(&w->at, NULL, &w->client.tune, &e);
	struct pollfd p = {.fd = fd, .events = POLLIN};
	assert_int_equal(poll(&p, 1, 10000), 1);
	pair[1] = accept(fd, NULL, NULL);
	close(fd);
	w->arm = sock_new(&conf);
	w->peer = NULL;
	assert_int_equal(sock_start(w->arm, &e), 0);
}

/* A connection that control has read from already. */
static void test_adopt(void **state)
{
	struct world w;
	uint8_t bytes[3000];
	int pair[2];

	(void)state;
	world_init(&w, &wl_bytes, NULL);
	w.server.flow.conf = &w.bytes;
	adopted_world(&w, pair);
	wl_content_put(&w.content, 0, bytes, 100);
	sock_adopt(w.arm, 0, &w.server, pair[0], bytes, 40);
	assert_int_equal(send(pair[1], bytes + 40, 60, 0), 60);
	assert_int_equal(recv(pair[1], bytes, 3000, MSG_WAITALL), 3000);
	assert_true(wl_content_same(&w.content, 0, bytes, 3000));
	assert_int_equal(sum_of(w.arm).mismatched, 0);
	close(pair[1]);
	world_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_budget_tcp),  cmocka_unit_test(test_budget_udp),
		cmocka_unit_test(test_large_calls), cmocka_unit_test(test_again),
		cmocka_unit_test(test_stream),      cmocka_unit_test(test_refused),
		cmocka_unit_test(test_adopt),       cmocka_unit_test(test_stream_spins),
		cmocka_unit_test(test_spin),
	};
	return cmocka_run_group_tests_name("sock", tests, NULL, NULL);
}
