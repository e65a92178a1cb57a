/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests kind "reroute": from where the receiver's queues are read, and what is written into the
 * sender's frames. */
#include "dp_fake.h"
#include "dut.h"

static struct dut_stamp stamp_in(const struct rte_mbuf *m, size_t at)
{
	struct dut_stamp s;

	memcpy(&s, (const uint8_t *)m + at, sizeof(s));
	return s;
}

/* Whatever is sent on the queue is stamped, even if it was refused before. The device takes as much
 * as it likes. */
static void test_stamp(void **state)
{
	struct rte_mempool *mp = pool_of(63);
	struct rte_mbuf *m[3] = {rte_pktmbuf_alloc(mp), rte_pktmbuf_alloc(mp),
				 rte_pktmbuf_alloc(mp)};
	struct dp_txq share[2] = {{.dev = FAKE_DEV, .queue = 3}, {.dev = FAKE_DEV, .queue = 3}};
	struct dut_sender sender = {.dev = FAKE_DEV,
				    .queue = 3,
				    .stamp_at = offsetof(struct rte_mbuf, dynfield1)};
	struct reroute_job *j = zeroed(sizeof(*j) + 2 * sizeof(j->share[0]));
	struct dp_state s = {.next = DP_NEVER};
	struct dp_task t = {.kind = &dp_kind_reroute, .state = &s, .job = j};
	size_t at = offsetof(struct rte_mbuf, dynfield1);
	uint64_t before = rte_rdtsc();

	(void)state;
	fake_open();
	fake[3].keep = true;
	*j = (struct reroute_job){.q = &sender, .nshares = 2};
	for (unsigned i = 0; i < 2; i++)
		j->share[i] = &share[i];
	dp_kind_reroute.adopt(NULL, &t, NULL, 0);
	fake[3].take = TAKE_NONE;
	assert_int_equal(dp_tx_burst(&share[0], m, 1), 0);
	uint64_t refused = stamp_in(m[0], at).tsc;
	assert_true(refused >= before);
	fake[3].take = TAKE_ALL;
	assert_int_equal(dp_tx_burst(&share[0], m, 1), 1);
	assert_int_equal(dp_tx_burst(&share[1], m + 1, 1), 1);
	assert_true(stamp_in(m[0], at).tsc > refused && stamp_in(m[1], at).tsc > refused);
	assert_true(stamp_in(m[1], at).tsc <= rte_rdtsc());
	assert_int_equal(stamp_in(m[0], at).txq, 3);
	assert_int_equal(stamp_in(m[1], at).txq, 3);
	dp_kind_reroute.drop(NULL, &t, 0);
	for (unsigned i = 0; i < 2; i++)
		assert_true(share[i].io == NULL && share[i].io_q == NULL);
	assert_int_equal(dp_tx_burst(&share[0], m + 2, 1), 1);
	assert_int_equal(stamp_in(m[2], at).tsc, 0);
	assert_int_equal(fake[3].frames, 3);
	fake_release(&fake[3], 0);
	assert_true(rte_mempool_full(mp));
	rte_mempool_free(mp);
	free(j);
}

static void test_reroute(void **state)
{
	/* this device gives no frames, and nobody may ask it */
	struct dp_rxq q = {.dev = FAKE_DEV};
	struct rte_ring *ring =
		rte_ring_create("reroute", 64, SOCKET_ID_ANY, RING_F_SP_ENQ | RING_F_SC_DEQ);
	struct reroute_job j = {.q = ring, .rxq = &q};
	struct dp_state s = {.next = DP_NEVER};
	struct dp_task t = {.kind = &dp_kind_reroute, .state = &s, .job = &j};
	struct rte_mbuf frame[6], *got[8];

	(void)state;
	assert_non_null(ring);
	dp_kind_reroute.adopt(NULL, &t, NULL, 0);
	assert_int_equal(s.next, DP_NEVER);
	assert_int_equal(dp_rx_burst(&q, got, 4), 0);
	for (unsigned i = 0; i < 6; i++)
		assert_int_equal(rte_ring_enqueue(ring, &frame[i]), 0);
	assert_int_equal(dp_rx_burst(&q, got, 4), 4);
	assert_int_equal(dp_rx_burst(&q, got + 4, 4), 2);
	for (unsigned i = 0; i < 6; i++)
		assert_ptr_equal(got[i], &frame[i]);
	dp_kind_reroute.drop(NULL, &t, 0);
	assert_null(q.io);
	assert_int_equal(q.dev, FAKE_DEV);
	rte_ring_free(ring);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_stamp),
					   cmocka_unit_test(test_reroute)};
	int rc = eal_or_skip(argv[argc - 1]);

	return rc != 0 ? rc : cmocka_run_group_tests(tests, NULL, NULL);
}
