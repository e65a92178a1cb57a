/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests flows that several Rx queues have heard: merging them takes at most the memory that is
 * announced, and copies are found. */
#include "probe_int.h"
#include "prx_frames.h"

#define STREAMS 8
#define TXQ 2
#define BLOCKS 16

static struct rte_mempool *pool;
static struct ctl *c;

/* Makes probes with so many Rx queues on each of three ports. */
static struct probe_arm *arm_of(const unsigned *nrxq)
{
	struct probe_arm *a = zeroed(sizeof(*a));

	c = zeroed(sizeof(*c));
	a->spec = (struct prx_spec){.nports = 1,
				    .of = {{STREAMS, TXQ}},
				    .window_blocks = BLOCKS,
				    .holes = 8,
				    .hz = 2000000000,
				    .ns_mult = NS_MULT};
	a->tap = zeroed(16 * sizeof(*a->tap));
	for (unsigned p = 0; p < 3; p++) {
		c->port[c->nports++] = zeroed(sizeof(struct ctl_port));
		c->port[p]->p.used = nrxq[p] > 0;
		c->port[p]->p.nrxq = (uint16_t)nrxq[p];
		for (unsigned q = 0; q < nrxq[p]; q++) {
			struct prx *x = zeroed(prx_size(&a->spec));
			prx_init(x, &a->spec);
			a->tap[a->ntaps++] = (struct probe_tap){.port = (uint16_t)p,
								.queue = (uint16_t)q,
								.prx = x};
		}
	}
	a->merge = probe_merge_new(a, c->nports);
	return a;
}

static void arm_free(struct probe_arm *a)
{
	probe_merge_free(a->merge);
	for (unsigned i = 0; i < a->ntaps; i++)
		free(a->tap[i].prx);
	for (unsigned p = 0; p < c->nports; p++)
		free(c->port[p]);
	free(a->tap);
	free(a);
	free(c);
}

/* Lets the next probe of each flow come in on that queue. */
static void hear(struct probe_arm *a, unsigned tap, uint32_t seq)
{
	for (unsigned s = 0; s < STREAMS; s++)
		for (unsigned q = 0; q < TXQ; q++) {
			struct rte_mbuf *m = rte_pktmbuf_alloc(pool);
			put_frame((uint8_t *)rte_pktmbuf_append(m, PRX_LEN), seq, 0, q, s, 1000, 0);
			prx_burst(a->tap[tap].prx, &m, 1, 2000 + seq);
			rte_pktmbuf_free(m);
		}
}

static void merge_all(struct probe_arm *a)
{
	for (unsigned i = 0; i < 100; i++)
		probe_merge_turn(a);
}

static void test_memory(void **state)
{
	static const unsigned shape[][3] = {{2, 1, 0}, {1, 1, 1}, {4, 0, 0}, {3, 0, 2}};

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(shape); i++) {
		struct probe_arm *a = arm_of(shape[i]);
		size_t most = probe_merge_most(c, &a->spec), first = probe_merge_bytes(a->merge);
		hear(a, 0, 0);
		merge_all(a);
		/* only one queue has heard each flow */
		assert_int_equal(probe_merge_bytes(a->merge), first);
		for (unsigned t = 1; t < a->ntaps; t++)
			hear(a, t, 0);
		merge_all(a);
		assert_true(probe_merge_bytes(a->merge) >
			    first + STREAMS * TXQ * BLOCKS * sizeof(struct prx_block));
		assert_int_equal(probe_merge_bytes(a->merge), most);
		struct flow_live l = {0};
		probe_crossed(a, -1, 0, -1, &l);
		assert_int_equal(l.sum.crossed, STREAMS * TXQ * (a->ntaps - 1));
		assert_int_equal(l.sum.missed, 0);
		arm_free(a);
	}
}

static void test_one_queue(void **state)
{
	struct probe_arm *a = arm_of((const unsigned[]){0, 1, 0});

	(void)state;
	assert_int_equal(probe_merge_most(c, &a->spec), 0);
	assert_int_equal(probe_merge_bytes(NULL), 0);
	arm_free(a);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_memory),
					   cmocka_unit_test(test_one_queue)};
	int rc = eal_or_skip(argv[argc - 1]);

	if (rc != 0)
		return rc;
	pool = pool_of(255);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
