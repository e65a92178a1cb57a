/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests kind gen on Tx queues that have a pair of functions of their own. */
#include "dp_model.h"

static uint16_t no_device(void *q, struct rte_mbuf **m, uint16_t n)
{
	(void)q, (void)m, (void)n;
	fail_msg("a burst went to the device of a queue that has a pair");
	return 0;
}

/* A queue with a pair sends bursts and tails through it alone, and counts what the pair takes. */
static void test_made_tx(void **state)
{
	static const struct dp_io pair = {.tx = fake_tx};
	struct world *x = world_new(2, 700);
	uint64_t before;

	(void)state;
	rte_eth_fp_ops[FAKE_DEV].tx_pkt_burst = no_device;
	for (unsigned q = 0; q < 2; q++) {
		x->txq[q]->io = &pair;
		x->txq[q]->io_q = &fake[q];
		fake[q].take = TAKE_RANDOM;
		fake[q].hold = 400;
	}
	x->group[0].limit = 20001;
	adopt_now(x);
	run_to_end(x);
	assert_int_equal(fake[0].frames, 10001);
	assert_int_equal(fake[1].frames, 10000);
	for (unsigned q = 0; q < 2; q++) {
		const struct dp_txq *t = x->txq[q];
		assert_int_equal(t->cnt.packets, fake[q].frames);
		assert_int_equal(t->cnt.bytes, fake[q].bytes);
		assert_true(t->cnt.stalls > 0 && t->retries > 0 && t->cnt.bursts <= fake[q].calls);
		assert_int_equal(t->cnt.dropped + t->cnt.unsent, 0);
	}
	/* A tail that the pair has refused goes to where the queue sends next. */
	x->job.run = 2;
	fake[0].take = fake[1].take = TAKE_NONE;
	adopt_now(x);
	turns(x, 3);
	assert_int_equal(fake[0].nrefused, 32);
	before = TOTAL(x, packets);
	rte_eth_fp_ops[FAKE_DEV].tx_pkt_burst = fake_tx;
	for (unsigned q = 0; q < 2; q++) {
		x->txq[q]->io = NULL;
		x->txq[q]->io_q = NULL;
		fake[q].take = TAKE_ALL;
	}
	run_to_end(x);
	assert_int_equal(TOTAL(x, packets) - before, 20001);
	assert_int_equal(TOTAL(x, dropped) + TOTAL(x, unsent), 0);
	world_free(x);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_made_tx)};
	int rc = eal_or_skip(argv[argc - 1]);

	return rc != 0 ? rc : cmocka_run_group_tests(tests, NULL, NULL);
}
