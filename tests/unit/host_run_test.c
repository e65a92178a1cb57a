/* SPDX-License-Identifier: BSD-3-Clause */
/* The worker's half of a host on a device made of functions, by a clock of the test: when answers
 * are offered and how many at a time, what becomes of those that the device does not take, and that
 * every buffer goes back to its pool. */
#include "dp_fake.h"
#include "host_run.h"
#include "neigh_world.h"
#include "txq.h"

#define HOLD 1000
#define PERIOD 1000000
#define BUFFERS 1023

struct host_world {
	struct dp_worker *w;
	struct dp_txq *q;
	struct host_state *s;
	struct host_job job;
	struct host_job_link link;
	struct dp_task task;
	struct rte_mempool *asks, *answers;
	uint64_t now, asked;
};
static struct host_world x;

static void judge_answer(void *arg, const struct rte_mbuf *m)
{
	const uint8_t *f = rte_pktmbuf_mtod(m, const uint8_t *);
	unsigned len = m->data_len;

	(void)arg;
	assert_int_equal(m->ol_flags, 0);
	assert_int_equal(m->hash.usr, 0); /* a sender of streams fills the buffer anew */
	assert_memory_equal(f, mac_b, 6);
	assert_memory_equal(f + 6, mac_a, 6);
	assert_int_equal(f[34], 0);
	assert_int_equal(sum_slow(f + 14, 20, 0), 0);
	assert_int_equal(sum_slow(f + 34, len - 34, 0), 0);
	assert_true(m->pool == x.answers);
}

static void open_host(bool speaks)
{
	struct neigh_setup set = setup_of(mac_a, 1);
	struct neigh_self *self = &x.link.self;

	fake_open();
	fake[0].judge = judge_answer;
	x = (struct host_world){.now = 10 * HOLD};
	x.asks = pool_of(BUFFERS);
	x.answers = pool_of(BUFFERS);
	x.w = zeroed(sizeof(*x.w));
	x.q = zeroed(sizeof(*x.q));
	x.q->dev = FAKE_DEV;
	x.q->pool = x.answers;
	x.s = zeroed(sizeof(*x.s));
	memcpy(self->mac, mac_a, 6);
	self->answer = set.answer;
	self->nown = 1;
	self->own[0] = (struct neigh_own){.bits = set.own[0].bits, .usable = true};
	memcpy(self->own[0].ip, set.own[0].ip, NEIGH_IP);
	x.job = (struct host_job){.nlinks = 1,
				  .link = &x.link,
				  .q = x.q,
				  .speaks = speaks,
				  .period = PERIOD,
				  .hold = HOLD};
	x.task = (struct dp_task){.kind = &dp_kind_host, .state = &x.s->base, .job = &x.job};
	dp_kind_host.adopt(x.w, &x.task, NULL, x.now);
	dp_kind_host.poll(x.w, &x.task, x.now);
}

/* Ends the task. Nothing may be missing then. */
static void close_host(void)
{
	dp_kind_host.drop(x.w, &x.task, x.now);
	assert_false(txq_has_tail(x.q));
	assert_int_equal(x.s->nheld, 0);
	fake_release(&fake[0], 0);
	assert_int_equal(x.s->cnt.fate[NEIGH_DID_PING], x.q->cnt.packets + x.s->cnt.dropped);
	assert_int_equal(x.q->cnt.packets, fake[0].frames);
	assert_int_equal(x.q->cnt.bytes, fake[0].bytes);
	uint64_t sizes = 0;
	for (unsigned i = 0; i < CNT_NSIZES; i++)
		sizes += x.s->sizes.n[i];
	assert_int_equal(sizes, fake[0].frames);
	assert_true(rte_mempool_full(x.asks));
	assert_true(rte_mempool_full(x.answers));
	rte_mempool_free(x.asks);
	rte_mempool_free(x.answers);
	free(x.w);
	free(x.q);
	free(x.s);
}

static struct rte_mbuf *question(unsigned payload)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(x.asks);
	unsigned len;

	assert_non_null(m);
	len = put_ping(rte_pktmbuf_mtod(m, uint8_t *), false, payload);
	m->data_len = (uint16_t)len;
	m->pkt_len = len;
	return m;
}

/* Gives the host n questions of one burst, and behind them one that it does not answer if `deaf`.
 */
static void ask(unsigned n, bool deaf)
{
	struct rte_mbuf *m[DP_BURST_MAX] = {NULL};
	struct dp_rxq rx = {0};
	uint8_t owner[DP_BURST_MAX] = {0};
	unsigned all = n + deaf;

	for (unsigned i = 0; i < all; i++)
		m[i] = question(x.asked++ % 3 == 0 ? 18 : 57);
	if (deaf)
		rte_pktmbuf_mtod(m[n], uint8_t *)[40] ^= 1; /* its checksum is wrong */
	struct dp_burst b = dp_look(m, all);
	host_claims(&x.job, &b, m, all, owner, 1);
	for (unsigned i = 0; i < all; i++)
		assert_int_equal(owner[i], 1);
	dp_kind_host.rx(x.w, &x.task, &rx, m, all, &b, x.now);
}

/* Polls as a worker does in its turn. */
static void turn(void)
{
	if (x.s->base.next <= x.now)
		dp_kind_host.poll(x.w, &x.task, x.now);
}

static void test_alone(void **state)
{
	(void)state;
	open_host(false);
	for (unsigned i = 1; i <= 5; i++) {
		x.now += HOLD;
		ask(1, i == 3);
		assert_int_equal(fake[0].frames, i);
		assert_int_equal(x.s->base.next, DP_NEVER);
	}
	assert_int_equal(x.s->cnt.fate[NEIGH_CHECKSUM], 1);
	close_host();
}

/* What follows within the time is held for as long, and then goes in one call. */
static void test_held(void **state)
{
	uint64_t first;

	(void)state;
	open_host(false);
	ask(1, false);
	assert_int_equal(fake[0].calls, 1);
	first = x.now += HOLD / 4;
	ask(1, false);
	assert_int_equal(x.s->base.next, first + HOLD);
	x.now += HOLD / 2;
	ask(2, true);
	turn();
	assert_int_equal(fake[0].calls, 1);
	assert_int_equal(x.s->nheld, 3);
	x.now = first + HOLD;
	turn();
	assert_int_equal(fake[0].calls, 2);
	assert_int_equal(fake[0].frames, 4);
	assert_int_equal(x.s->base.next, DP_NEVER);
	close_host();
}

/* As many as it holds do not wait, nor does what comes late. */
static void test_full(void **state)
{
	(void)state;
	open_host(false);
	ask(1, false);
	for (unsigned i = 0; i < HOST_HELD; i++) {
		assert_int_equal(fake[0].calls, 1);
		x.now++;
		ask(1, false);
	}
	assert_int_equal(fake[0].calls, 2);
	assert_int_equal(fake[0].frames, 1 + HOST_HELD);
	x.now++;
	ask(HOST_HELD - 1, false);
	ask(2, false); /* there is no room for both */
	assert_int_equal(fake[0].frames, 2 * HOST_HELD);
	assert_int_equal(x.s->nheld, 2);
	ask(HOST_HELD + 1, false); /* more than can be held */
	assert_int_equal(fake[0].frames, 3 * HOST_HELD + 3);
	ask(3, false);
	x.now += HOLD;
	ask(1, false); /* behind those that are held */
	assert_int_equal(fake[0].frames, 3 * HOST_HELD + 7);
	turn();
	assert_int_equal(x.s->base.next, DP_NEVER);
	close_host();
}

/* A device that takes nothing gets the same frames again. What is answered meanwhile waits, as many
 * as there is room for, and goes when it takes frames again; the rest is given up. */
static void test_behind(void **state)
{
	(void)state;
	open_host(true);
	fake[0].take = TAKE_NONE;
	ask(3, false);
	assert_true(txq_has_tail(x.q));
	assert_int_equal(x.s->base.next, DP_NOW);
	x.now++;
	ask(2, false);
	turn();
	assert_int_equal(x.s->nheld, 2);
	ask(HOST_WAITING, false);
	assert_int_equal(x.s->nheld, HOST_WAITING);
	assert_int_equal(x.s->cnt.dropped, 2);
	assert_int_equal(x.q->cnt.dropped, 2);
	turn();
	assert_int_equal(fake[0].frames, 0);
	fake[0].take = TAKE_ALL;
	turn();
	assert_int_equal(fake[0].frames, 3 + HOST_WAITING);
	/* The device falls behind while answers are held: a frame of control's becomes a tail. */
	x.now++;
	ask(2, false);
	assert_int_equal(x.s->nheld, 2);
	fake[0].take = TAKE_NONE;
	x.s->to_send[0].len = (uint8_t)put_ping(x.s->to_send[0].frame, false, 18);
	host_ring_step(&x.s->sent_ring.put);
	x.s->look_at = x.s->base.next = DP_NOW;
	turn();
	assert_true(txq_has_tail(x.q));
	x.now += HOLD;
	turn();
	assert_int_equal(x.s->nheld, 2);
	assert_int_equal(x.q->cnt.dropped, 2);
	dp_kind_host.drop(x.w, &x.task, x.now);
	assert_int_equal(x.s->cnt.dropped, 5);
	assert_int_equal(x.q->cnt.dropped, 5);
	x.s->cnt.dropped -= x.s->cnt.sent; /* that one was no answer */
	close_host();
}

/* What is held when the task ends is offered. */
static void test_end(void **state)
{
	(void)state;
	open_host(false);
	ask(1, false);
	ask(5, false);
	assert_int_equal(x.s->nheld, 5);
	dp_kind_host.drop(x.w, &x.task, x.now);
	assert_int_equal(fake[0].frames, 6);
	close_host();
}

/* A worker that sends nothing on the port passes answers on, and keeps no other buffer. */
static void test_passed(void **state)
{
	struct host_passed *passed;

	(void)state;
	open_host(true);
	passed = &x.s->passed;
	x.job.q = NULL;
	x.job.speaks = false;
	ask(7, true);
	ask(0, true);
	assert_int_equal(host_ring_has(&passed->ring), 7);
	assert_int_equal(rte_mempool_avail_count(x.asks), BUFFERS - 7);
	x.job.q = x.q;
	x.job.speaks = true;
	x.job.other = &passed;
	x.job.nothers = 1;
	x.s->look_at = x.s->base.next = DP_NOW;
	turn();
	assert_int_equal(fake[0].calls, 1);
	assert_int_equal(fake[0].frames, 7);
	close_host();
}

/* At any moments, on a device that takes what it likes: close_host() counts all of them. */
static void test_random(void **state)
{
	(void)state;
	for (unsigned round = 0; round < 20; round++) {
		open_host(round % 2 == 0);
		fake[0].hold = any(200);
		for (unsigned i = 0; i < 2000; i++) {
			fake[0].take = any(4) == 0 ? TAKE_RANDOM : TAKE_ALL;
			x.now += any(3) == 0 ? any(3 * HOLD) : any(HOLD / 8);
			if (any(4) > 0)
				ask(any(8) == 0 ? 1 + any(40) : 1, any(8) == 0);
			turn();
			assert_true(x.s->nheld == 0 || x.s->base.next <= x.s->held_until);
			assert_true(x.s->nheld == 0 || x.now < x.s->held_until ||
				    txq_has_tail(x.q));
		}
		assert_true(fake[0].frames > 1000);
		close_host();
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_alone),  cmocka_unit_test(test_held),
		cmocka_unit_test(test_full),   cmocka_unit_test(test_behind),
		cmocka_unit_test(test_end),    cmocka_unit_test(test_passed),
		cmocka_unit_test(test_random),
	};
	int rc = eal_or_skip(argv[0]);

	(void)argc;
	return rc != 0 ? rc : cmocka_run_group_tests(tests, NULL, NULL);
}
