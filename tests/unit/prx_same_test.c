/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests that receivers of all instruction sets find the same, cell by cell, and what a receiver
 * finds that gets each frame by itself. Bursts have many flows: in order and not, with holes,
 * copies and damage, flows that begin, also with a damaged frame, flows twice among eight frames,
 * numbers on both sides of a block's end and of 2^32, and impossible numbers. */
#include "prx_frames.h"
#include "prx_own.h"
#include "seed.h"

#define STREAMS 40
#define TXQ 2
#define BLOCKS 8
#define BURSTS 4000

static struct rte_mempool *pool;
static const struct prx_spec spec = {
	.nports = 2,
	.of = {{STREAMS, TXQ}, {3, 1}},
	.window_blocks = BLOCKS,
	.holes = 8,
	.hz = 2000000000,
	.ns_mult = NS_MULT,
	.target_gap_cycles = 3000,
};

struct sender {
	uint64_t no[STREAMS][TXQ], n;
};

/* How many frames of 10000 are not as they should be. */
struct trouble {
	unsigned skipped, again, damaged, elsewhere, wild;
};

static struct rte_mbuf *frame(uint32_t seq, unsigned port, unsigned queue, unsigned stream,
			      uint64_t sent, uint64_t delay)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);

	assert_non_null(m);
	put_frame((uint8_t *)rte_pktmbuf_append(m, PRX_LEN), seq, port, queue, stream, sent, delay);
	return m;
}

/* Damages a frame: the end of its probe, any byte of it, or something that only the device has
 * seen. */
static void damage(struct rte_mbuf *m)
{
	unsigned how = any(3);

	if (how == 2)
		m->ol_flags |= RTE_MBUF_F_RX_L4_CKSUM_BAD;
	else
		rte_pktmbuf_mtod(m, uint8_t *)[how == 0 ? 54 + any(4) : any(PRX_LEN)] ^=
			(uint8_t)(1 << any(8));
}

/* Returns when a frame was sent: all at the same time, or each at its own time, some at the time at
 * which they come. */
static uint64_t sent_at(uint64_t now, bool one_time)
{
	if (one_time)
		return now - 5000;
	return any(16) == 0 ? now : now - 5000 - any(4000);
}

static struct rte_mbuf *next_frame(struct sender *s, const struct trouble *t, uint64_t sent)
{
	unsigned stream = (unsigned)(s->n % STREAMS), queue = (unsigned)(s->n / STREAMS % TXQ),
		 odd = any(10000);

	s->n++;
	if (odd < t->elsewhere)
		return frame((uint32_t)any(1000), 1, 0, any(3), sent, 0);
	if ((odd -= t->elsewhere) < t->again) { /* the frame is out of turn, or comes once more */
		stream = any(STREAMS);
		return frame((uint32_t)(s->no[stream][queue] - any(3)), 0, queue, stream, sent, 0);
	}
	/* This number is impossible, unless it is the flow's first one. */
	if ((odd -= t->again) < t->wild)
		return frame((uint32_t)s->no[stream][queue] + (1u << 31), 0, queue, stream, sent,
			     0);
	if ((odd -= t->wild) < t->skipped)
		s->no[stream][queue] += 1 + any(3);
	struct rte_mbuf *m = frame((uint32_t)s->no[stream][queue]++, 0, queue, stream, sent,
				   any(4) == 0 ? any(1 << 15) : 0);
	if (odd - t->skipped < t->damaged)
		damage(m);
	return m;
}

static void assert_flows(const struct prx *x, const struct prx *y)
{
	for (unsigned s = 0; s < STREAMS; s++)
		for (unsigned q = 0; q < TXQ; q++) {
			struct prx_flow a = *prx_flow(x, 0, s, q), b = *prx_flow(y, 0, s, q);
			double is = prx_jitter(&a), due = prx_jitter(&b);
			/* The sums of a batch are rounded in another order. */
			assert_true(is >= due * (1 - 1e-9) && is <= due * (1 + 1e-9));
			a.jitter = b.jitter = 0;
			assert_memory_equal(&a, &b, sizeof(a));
			uint32_t n;
			const struct prx_block *window = prx_window(x, 0, s, q, &n);
			assert_memory_equal(window, prx_window(y, 0, s, q, &n),
					    n * sizeof(*window));
		}
}

static void assert_same(const struct prx *x, const struct prx *y)
{
	assert_flows(x, y);
	assert_memory_equal(prx_port(x), prx_port(y), sizeof(struct prx_port));
	for (unsigned h = PRX_ACTUAL; h <= PRX_GAP; h++) {
		const struct hist *a = prx_port_hist(x, (enum prx_hist)h),
				  *b = prx_port_hist(y, (enum prx_hist)h);
		assert_memory_equal(a, b, hist_size(a->shape));
	}
}

/* Compares with a receiver that gets frames one by one. It sees other gaps, and rounds sums of ns
 * for each frame. */
static void assert_same_probes(const struct prx *x, const struct prx *singly)
{
	const struct prx_port *p = prx_port(x), *q = prx_port(singly);

	assert_flows(x, singly);
	assert_int_equal(p->probes, q->probes);
	assert_int_equal(p->plain, q->plain);
	assert_int_equal(p->damaged, q->damaged);
	assert_int_equal(p->foreign, q->foreign);
	assert_int_equal(p->early, q->early);
	for (unsigned h = PRX_ACTUAL; h <= PRX_INTENDED; h++) {
		const struct hist *a = prx_port_hist(x, (enum prx_hist)h),
				  *b = prx_port_hist(singly, (enum prx_hist)h);
		assert_int_equal(a->above, b->above);
		assert_memory_equal(a->bucket, b->bucket, a->nbuckets * sizeof(a->bucket[0]));
		assert_true(hist_sum(a) >= hist_sum(b) &&
			    hist_sum(a) - hist_sum(b) <= hist_count(a));
	}
}

/* Sets the first numbers of all flows. Some pass 2^32 soon. The flows of one queue begin with a
 * damaged frame, so that eight flows which have a number and no least transit come together. */
static void begin(struct prx *const *x, unsigned nx, struct sender *s, uint64_t now)
{
	for (unsigned f = 0; f < STREAMS * TXQ; f++) {
		unsigned stream = f % STREAMS, queue = f / STREAMS;
		uint64_t *no = &s->no[stream][queue];
		*no = any(100) - (any(4) == 0 ? 2000u : 0);
		if (queue == 0)
			continue;
		struct rte_mbuf *m = frame((uint32_t)(*no)++, 0, queue, stream, now - 5000, 0);
		m->ol_flags |= RTE_MBUF_F_RX_L4_CKSUM_BAD;
		for (unsigned i = 0; i < nx; i++) {
			prx_burst(x[i], &m, 1, now);
			assert_int_equal(prx_flow(x[i], 0, stream, queue)->corrupted, 1);
		}
		rte_pktmbuf_free(m);
	}
}

/* Says whether a flow has gone on at 0 after its highest number. The first number counts as 2^32
 * and itself. */
static bool numbers_ended(const struct prx *x)
{
	for (unsigned i = 0; i < STREAMS * TXQ; i++)
		if (prx_flow(x, 0, i % STREAMS, i / STREAMS)->next > 2ull << 32)
			return true;
	return false;
}

static void compare(const struct trouble *t, bool one_time)
{
	const unsigned nops = 3;
	struct prx *x[4], *singly = prx_new(&spec);
	struct sender s = {.n = any(1000)};
	uint64_t now = 1ull << 40;

	for (unsigned i = 0; i < nops; i++) {
		x[i] = prx_new(&spec);
		x[i]->ops = ops_of(i);
	}
	x[nops] = singly;
	begin(x, nops + 1, &s, now);
	for (unsigned k = 0; k < BURSTS; k++) {
		struct rte_mbuf *m[DP_BURST_MAX];
		unsigned n = any(3) == 0 ? 1 + any(DP_BURST_MAX) : 8 + 8 * any(8);
		now += n * 300;
		for (unsigned i = 0; i < n; i++)
			m[i] = next_frame(&s, t, sent_at(now, one_time));
		for (unsigned i = 0; i < nops; i++)
			prx_burst(x[i], m, n, now);
		for (unsigned i = 0; i < n; i++)
			prx_burst(singly, &m[i], 1, now);
		rte_pktmbuf_free_bulk(m, n);
		for (unsigned i = 1; i < nops && (k % 64 == 0 || k + 1 == BURSTS); i++)
			assert_same(x[i], x[0]);
		if (k % 64 == 0 || k + 1 == BURSTS)
			assert_same_probes(x[0], singly);
	}
	assert_true(prx_port(x[0])->probes > BURSTS &&
		    (t->wild == 0 || prx_port(x[0])->foreign > 0));
	assert_true(t->again > 0 || numbers_ended(x[0]));
	for (unsigned i = 0; i <= nops; i++)
		free(x[i]);
}

static void test_in_order(void **state)
{
	(void)state;
	compare(&(struct trouble){0}, true);
	compare(&(struct trouble){0}, false);
}

static void test_seldom_odd(void **state)
{
	(void)state;
	compare(&(struct trouble){.skipped = 10,
				  .again = 10,
				  .damaged = 10,
				  .elsewhere = 2,
				  .wild = 10},
		true);
	compare(&(struct trouble){.skipped = 50,
				  .again = 50,
				  .damaged = 20,
				  .elsewhere = 20,
				  .wild = 20},
		false);
}

static void test_often_odd(void **state)
{
	(void)state;
	compare(&(struct trouble){.skipped = 500,
				  .again = 1000,
				  .damaged = 500,
				  .elsewhere = 100,
				  .wild = 300},
		false);
	compare(&(struct trouble){.again = 5000}, false);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_in_order),
					   cmocka_unit_test(test_seldom_odd),
					   cmocka_unit_test(test_often_odd)};

	int rc = eal_or_skip(argv[argc - 1]);

	if (rc != 0)
		return rc;
	any_seed = (unsigned)test_seed();
	pool = pool_of(1000);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
