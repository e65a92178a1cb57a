/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests kind gen on Tx queues that have a pair of functions of their own, or taps. */
#include "dp_model.h"
#include "txq.h"

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
		txq_io(x->txq[q], &pair, &fake[q]);
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
		txq_io(x->txq[q], NULL, NULL);
		fake[q].take = TAKE_ALL;
	}
	run_to_end(x);
	assert_int_equal(TOTAL(x, packets) - before, 20001);
	assert_int_equal(TOTAL(x, dropped) + TOTAL(x, unsent), 0);
	world_free(x);
}

/* What a tap has seen of one queue. */
struct seen {
	struct rte_mbuf *const *offered;
	unsigned noffered;
	uint64_t offers, frames, taken, bytes;
};

static void see_offered(void *state, struct rte_mbuf *const *m, unsigned n)
{
	struct seen *s = state;

	assert_null(s->offered);
	s->offered = m;
	s->noffered = n;
	s->offers++;
	s->frames += n;
	for (unsigned i = 0; i < n; i++)
		s->bytes += m[i]->pkt_len + RTE_ETHER_CRC_LEN;
}

static void see_taken(void *state, unsigned n)
{
	struct seen *s = state;

	assert_non_null(s->offered);
	assert_true(n <= s->noffered);
	s->bytes -= txq_bytes(s->offered + n, s->noffered - n);
	s->offered = NULL;
	s->taken += n;
}

/* Taps see each burst that is offered, tails too, and how much of it is taken; by the device and by
 * a pair. */
static void test_taps(void **state)
{
	static const struct dp_io pair = {.tx = fake_tx};
	struct world *x = world_new(2, 700);
	struct seen seen[2][2] = {{{0}}};
	struct dp_tx_tap tap[2][2];

	(void)state;
	for (unsigned q = 0; q < 2; q++) {
		for (unsigned i = 0; i < 2; i++) {
			tap[q][i] = (struct dp_tx_tap){see_offered, see_taken, &seen[q][i]};
			txq_tap(x->txq[q], &tap[q][i]);
		}
		fake[q].take = TAKE_RANDOM;
		fake[q].hold = 400;
	}
	txq_io(x->txq[1], &pair, &fake[1]);
	x->group[0].limit = 20001;
	adopt_now(x);
	run_to_end(x);
	for (unsigned q = 0; q < 2; q++)
		for (unsigned i = 0; i < 2; i++) {
			const struct seen *s = &seen[q][i];
			const struct cnt_tx *cnt = &x->txq[q]->cnt;
			assert_int_equal(s->taken, cnt->packets);
			assert_int_equal(s->offers, fake[q].calls);
			assert_true(s->frames > s->taken);
			assert_int_equal(s->bytes, cnt->bytes);
		}
	txq_untap(x->txq[0], &tap[0][0]);
	txq_untap(x->txq[0], &tap[0][0]);
	assert_true(x->txq[0]->detour && x->txq[0]->ntaps == 1 && x->txq[0]->tap[0] == &tap[0][1]);
	txq_untap(x->txq[0], &tap[0][1]);
	assert_false(x->txq[0]->detour);
	for (unsigned i = 0; i < 2; i++)
		txq_untap(x->txq[1], &tap[1][i]);
	assert_true(x->txq[1]->detour);
	txq_io(x->txq[1], NULL, NULL);
	assert_false(x->txq[1]->detour);
	world_free(x);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_made_tx),
					   cmocka_unit_test(test_taps)};
	int rc = eal_or_skip(argv[argc - 1]);

	return rc != 0 ? rc : cmocka_run_group_tests(tests, NULL, NULL);
}
