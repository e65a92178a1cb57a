/* SPDX-License-Identifier: BSD-3-Clause */
/* A host that answers on a queue which streams keep full, on a device that has room for so many
 * frames in each turn of the worker: each answer goes out, and costs the streams one frame. */
#include "dp_model.h"
#include "effort.h"
#include "host_run.h"
#include "txq.h"

#define HOLD 1000
#define TURN (HOLD / 4)
#define TURNS ((unsigned)effort(1000, 250))
#define LEN 60

static struct {
	struct dp_txq *q; /* the host's share of the streams' queue */
	struct host_state *s;
	struct host_job job;
	struct host_job_link link;
	struct dp_task task;
	struct rte_mempool *asks;
	uint64_t asked, answered;
} h;

static void answer_or_stream(void *arg, const struct rte_mbuf *m)
{
	if (m->pool != h.q->pool) {
		judge(arg, m);
		return;
	}
	assert_int_equal(rte_pktmbuf_mtod(m, const uint8_t *)[34], 0); /* an echo reply */
	h.answered++;
}

static void host_on(struct world *x)
{
	struct neigh_self *self = &h.link.self;

	memset(&h, 0, sizeof(h));
	h.q = zeroed(sizeof(*h.q));
	h.q->dev = FAKE_DEV;
	h.q->pool = pool_of(511);
	h.s = zeroed(sizeof(*h.s));
	h.asks = pool_of(63);
	memcpy(self->mac, "\x02\0\0\0\0\x01", 6);
	self->answer = NEIGH_ANSWER_PING;
	self->nown = 1;
	self->own[0] = (struct neigh_own){.bits = 96 + 24, .usable = true};
	memcpy(self->own[0].ip, (const uint8_t[NEIGH_IP]){[10] = 255, 255, 10, 0, 0, 1}, NEIGH_IP);
	h.job = (struct host_job){
		.nlinks = 1, .link = &h.link, .q = h.q, .period = UINT64_MAX / 2, .hold = HOLD};
	h.task = (struct dp_task){.kind = &dp_kind_host, .state = &h.s->base, .job = &h.job};
	dp_kind_host.adopt(x->w, &h.task, NULL, x->now);
	fake[0].judge = answer_or_stream;
	fake[0].drops = true; /* two shares have a tail each */
}

static void host_off(struct world *x)
{
	dp_kind_host.drop(x->w, &h.task, x->now);
	fake_release(&fake[0], 0);
	assert_true(rte_mempool_full(h.asks));
	assert_true(rte_mempool_full(h.q->pool));
	fake[0].frames -= h.q->cnt.packets; /* what world_free() counts is the streams' */
	fake[0].bytes -= h.q->cnt.bytes;
	rte_mempool_free(h.asks);
	rte_mempool_free(h.q->pool);
	free(h.q);
	free(h.s);
}

static void ask(struct world *x, unsigned n)
{
	static const uint8_t echo[LEN] = {2,    0, 0,  0,        0, 1, 2, 0, 0,  0, 0, 2, 8,  0,
					  0x45, 0, 0,  LEN - 14, 0, 0, 0, 0, 64, 1, 0, 0, 10, 0,
					  0,    2, 10, 0,        0, 1, 8, 0, 0,  0, 1, 2, 0,  7};
	struct rte_mbuf *m[DP_BURST_MAX];
	struct dp_rxq rx = {0};
	uint8_t owner[DP_BURST_MAX] = {0};

	for (unsigned i = 0; i < n; i++) {
		m[i] = rte_pktmbuf_alloc(h.asks);
		assert_non_null(m[i]);
		m[i]->data_len = LEN;
		m[i]->pkt_len = LEN;
		uint8_t *f = rte_pktmbuf_mtod(m[i], uint8_t *);
		memcpy(f, echo, LEN);
		uint16_t sum = neigh_sum(f + 14, 20, 0);
		memcpy(f + 24, &sum, 2);
		sum = neigh_sum(f + 34, LEN - 34, 0);
		memcpy(f + 36, &sum, 2);
	}
	if (n == 0)
		return;
	struct dp_burst b = dp_look(m, n);
	host_claims(&h.job, &b, m, n, owner, 1);
	dp_kind_host.rx(x->w, &h.task, &rx, m, n, &b, x->now);
	h.asked += n;
}

/* Sends streams at full load for TURNS turns. In each, the device has room for `room` frames, and
 * `questions` come in so many turns of four. Returns the frames that the streams have sent. */
static uint64_t full_load(unsigned room, unsigned questions, unsigned of_four)
{
	struct world *x = world_new(1, 4095);
	uint64_t sent;

	x->now = 10 * HOLD;
	x->job.start_tsc = x->now;
	adopt_at(x);
	host_on(x);
	fake[0].take = TAKE_ROOM;
	fake[0].hold = 100;
	for (unsigned i = 0; i < TURNS; i++) { /* receives first, as dp_turns() does */
		x->now += TURN;
		fake[0].room = room;
		ask(x, i % 4 < of_four ? questions : 0);
		if (h.s->base.next <= x->now)
			dp_kind_host.poll(x->w, &h.task, x->now);
		poll_at(x);
		assert_int_equal(fake[0].room, 0); /* the load is full indeed */
	}
	sent = x->txq[0]->cnt.packets;
	assert_true(sent > 0 && x->txq[0]->cnt.stalls > 0);
	assert_int_equal(h.s->cnt.dropped, 0);
	assert_int_equal(h.s->cnt.fate[NEIGH_DID_PING], h.asked);
	assert_int_equal(h.answered + h.s->nheld + (unsigned)(h.q->n - h.q->head), h.asked);
	assert_true(h.asked - h.answered <= HOST_HELD);
	assert_int_equal(sent + h.answered, (uint64_t)room * TURNS);
	dp_kind_gen.drop(x->w, &x->w->plan->task[0], x->now);
	fake[0].room = UINT32_MAX;
	host_off(x);
	world_free(x);
	return sent;
}

/* What is answered is what the streams have sent less, frame for frame. */
static void test_share(void **state)
{
	static const unsigned rooms[] = {1, 7, 16, 31, 32, 33, 64};

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(rooms); i++) {
		assert_int_equal(full_load(rooms[i], 0, 0), (uint64_t)rooms[i] * TURNS);
		for (unsigned of_four = 1; of_four <= 4; of_four++)
			for (unsigned q = 1; q < rooms[i] && q <= 16; q += 5)
				full_load(rooms[i], q, of_four);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_share)};
	int rc = eal_or_skip(argv[0]);

	(void)argc;
	return rc != 0 ? rc : cmocka_run_group_tests(tests, NULL, NULL);
}
