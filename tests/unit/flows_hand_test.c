/* SPDX-License-Identifier: BSD-3-Clause */
/* Handing over between queues, whatever their workers do in which order: each frame comes to its
 * owner once and in its order, not before that one knows what its giver knew, and each buffer goes
 * back to who has received into it. */
#include "cmocka_names.h"
#include <stdlib.h>
#include <string.h>

#include "eal_skip.h"
#include "effort.h"
#include "flows_own.h"
#include "mbox.h"
#include "seed.h"

#define QUEUES 3
#define POOL 511
#define SLOTS 64

static struct rte_mempool *pool;
static struct flows_hand hand[QUEUES];
static struct flows_hand_counts counts[QUEUES];
static struct rte_ring *from[QUEUES][QUEUES], *to[QUEUES][QUEUES];
static struct rte_ring *home[QUEUES][QUEUES], *back[QUEUES][QUEUES];
static struct flows_state state[QUEUES];
static struct flows_shape shape = {.l3 = 14};
static struct flows_job job[QUEUES];
static uint64_t rnd;

static unsigned draw(unsigned n)
{
	rnd ^= rnd << 13;
	rnd ^= rnd >> 7;
	rnd ^= rnd << 17;
	return (unsigned)((rnd >> 20) % n);
}

static void set_up(void)
{
	memset(counts, 0, sizeof(counts));
	for (unsigned q = 0; q < QUEUES; q++) {
		for (unsigned i = 0; i < QUEUES; i++) {
			if (i == q)
				continue;
			to[i][q] = from[q][i] = mbox_pass_new(SLOTS, SOCKET_ID_ANY);
			back[i][q] = home[q][i] = mbox_pass_new(SLOTS, SOCKET_ID_ANY);
			assert_true(from[q][i] != NULL && home[q][i] != NULL);
		}
		hand[q] = (struct flows_hand){.n = QUEUES,
					      .me = (uint16_t)q,
					      .to = to[q],
					      .from = from[q],
					      .back = back[q],
					      .home = home[q],
					      .counts = &counts[q],
					      .all = counts,
					      .state = &state[q]};
		state[q].mem = aligned_alloc(CACHE_LINE, flows_mem_size());
		assert_non_null(state[q].mem);
		memset(state[q].mem, 0, flows_mem_size());
		job[q] = (struct flows_job){.shape = &shape,
					    .nshapes = 1,
					    .queue = (uint16_t)q,
					    .hand = &hand[q]};
	}
}

static void tear_down(void)
{
	for (unsigned q = 0; q < QUEUES; q++)
		flows_hand_end(&hand[q]);
	for (unsigned q = 0; q < QUEUES; q++) {
		flows_hand_end(&hand[q]); /* what others gave behind their end */
		for (unsigned i = 0; i < QUEUES; i++) {
			mbox_pass_free(from[q][i]);
			mbox_pass_free(home[q][i]);
			from[q][i] = home[q][i] = NULL;
		}
		free(state[q].mem);
	}
	assert_int_equal(rte_mempool_avail_count(pool), POOL);
}

/* A frame of a connection that is an owner's, with a number. */
static struct rte_mbuf *frame(unsigned owner, uint32_t number)
{
	static const uint8_t headers[54] = {2,  [12] = 8, 0, 0x45, 0,  0, 40, [22] = 64, 6, 0, 0,
					    10, 0,        0, 2,    10, 0, 0,  1,         0, 80};
	struct flow_tuple t = {.local.v4 = 0x0a000001, .remote.v4 = 0x0a000002, .remote_port = 80};
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);
	uint8_t *p;

	assert_non_null(m);
	p = (uint8_t *)rte_pktmbuf_append(m, sizeof(headers));
	memcpy(p, headers, sizeof(headers));
	do
		t.local_port = (uint16_t)draw(65536);
	while (flows_owner(&t, QUEUES) != owner);
	put_be16(p + 36, t.local_port);
	memcpy(p + 38, &number, 4);
	return m;
}

static uint32_t number_of(const struct rte_mbuf *m)
{
	uint32_t n;

	memcpy(&n, rte_pktmbuf_mtod_offset(m, const uint8_t *, 38), 4);
	return n;
}

/* What has been given and not been taken yet, by pairs: numbers, and what the giver knew. */
#define GIVEN 4096
static struct given {
	uint32_t number[GIVEN];
	uint64_t heard[GIVEN];
	unsigned put, took;
} given[QUEUES][QUEUES]; /* [to][from] */

/* A queue receives a burst, of which most are others'. */
static void give(unsigned q, uint32_t *number)
{
	struct rte_mbuf *m[8];
	unsigned owner[8], n = 1 + draw(8), stay = 0, left;
	uint64_t full = counts[q].full;

	for (unsigned i = 0; i < n; i++) {
		owner[i] = draw(QUEUES);
		m[i] = frame(owner[i], ++*number);
		flows_own(&state[q])->shape[i] = FLOWS_HAND;
		stay += owner[i] == q;
	}
	for (unsigned to_queue = 0; to_queue < QUEUES; to_queue++) {
		struct given *g = &given[to_queue][q];
		unsigned room = to_queue == q ? 0 : SLOTS - mbox_pass_count(from[to_queue][q]);
		for (unsigned i = 0; i < n && to_queue != q; i++) {
			if (owner[i] != to_queue || room == 0)
				continue;
			room--;
			g->number[g->put % GIVEN] = number_of(m[i]);
			g->heard[g->put++ % GIVEN] = counts[q].heard;
		}
	}
	left = flows_hand_over(flows_own(&state[q]), &job[q], m, n);
	assert_int_equal(left, stay);
	if (left > 0)
		rte_pktmbuf_free_bulk(m, left);
	assert_in_range(counts[q].full, full, full + n);
}

/* A queue looks into its rings. */
static void take(unsigned q)
{
	struct rte_mbuf *m[DP_BURST_MAX];
	struct flows_own *o = flows_own(&state[q]);
	unsigned n = flows_hand_io.rx(&hand[q], m, (uint16_t)(1 + draw(32)));

	for (unsigned i = 0; i < n; i++) {
		struct given *g = &given[q][o->whose[i]];
		assert_true(g->took < g->put);
		assert_int_equal(number_of(m[i]), g->number[g->took % GIVEN]);
		assert_true(g->heard[g->took++ % GIVEN] <= counts[q].heard);
		assert_int_equal(o->shape[i], 0);
	}
	if (n > 0)
		flows_hand_free(&hand[q], o, m, n);
}

static void test_whatever_workers_do(void **unused)
{
	uint32_t number = 0;
	uint64_t heard = 0, taken = 0;

	(void)unused;
	set_up();
	memset(given, 0, sizeof(given));
	for (unsigned step = 0; step < effort(300000, 30000); step++) {
		unsigned q = draw(QUEUES), what = draw(100);
		if (what < 40 && rte_mempool_avail_count(pool) > 16)
			give(q, &number);
		else if (what < 98)
			take(q);
		else if (what < 99)
			heard++;
		job[q].heard = heard; /* control has posted it: the worker adopts it some time */
		if (what == 99)
			flows_hand_begin(&job[q]);
	}
	for (unsigned q = 0; q < QUEUES; q++) {
		job[q].heard = heard;
		flows_hand_begin(&job[q]);
	}
	for (unsigned i = 0; i < 1000; i++)
		take(i % QUEUES);
	for (unsigned q = 0; q < QUEUES; q++) {
		taken += counts[q].taken;
		for (unsigned i = 0; i < QUEUES; i++)
			assert_int_equal(given[q][i].put, given[q][i].took);
	}
	assert_int_equal(counts[0].handed + counts[1].handed + counts[2].handed, taken);
	assert_true(taken > 1000);
	tear_down();
}

/* Frames of a queue that knows more wait; those of others, and what came before, do not. */
static void test_a_newer_job(void **unused)
{
	struct rte_mbuf *m[DP_BURST_MAX];
	uint32_t number = 0;

	(void)unused;
	set_up();
	for (unsigned i = 0; i < 2; i++) { /* from queue 1, and from queue 2, which knows more */
		m[0] = frame(0, ++number);
		flows_own(&state[1 + i])->shape[0] = FLOWS_HAND;
		job[1 + i].heard = i;
		flows_hand_begin(&job[1 + i]);
		assert_int_equal(flows_hand_over(flows_own(&state[1 + i]), &job[1 + i], m, 1), 0);
	}
	assert_int_equal(flows_hand_io.rx(&hand[0], m, 8), 1);
	assert_int_equal(number_of(m[0]), 1);
	flows_hand_free(&hand[0], flows_own(&state[0]), m, 1);
	assert_int_equal(flows_hand_io.rx(&hand[0], m, 8), 0);
	job[0].heard = 1;
	flows_hand_begin(&job[0]);
	assert_int_equal(flows_hand_io.rx(&hand[0], m, 8), 1);
	assert_int_equal(number_of(m[0]), 2);
	flows_hand_free(&hand[0], flows_own(&state[0]), m, 1);
	tear_down();
}

/* A buffer is the pool's again when its receiver has looked, and where that one does not look and
 * its ring is full, at once. */
static void test_buffers_go_home(void **unused)
{
	struct rte_mbuf *m[1];
	unsigned before;

	(void)unused;
	set_up();
	before = rte_mempool_avail_count(pool);
	for (unsigned i = 0; i < SLOTS + 7; i++) {
		m[0] = frame(0, i);
		flows_own(&state[1])->shape[0] = FLOWS_HAND;
		assert_int_equal(flows_hand_over(flows_own(&state[1]), &job[1], m, 1), 0);
		assert_int_equal(flows_hand_io.rx(&hand[0], m, 8), 1);
		flows_hand_free(&hand[0], flows_own(&state[0]), m, 1);
	}
	assert_int_equal(mbox_pass_count(home[1][0]), SLOTS);
	assert_int_equal(rte_mempool_avail_count(pool), before - SLOTS);
	assert_int_equal(flows_hand_io.rx(&hand[1], m, 0), 0);
	assert_int_equal(flows_hand_io.rx(&hand[1], m, 0), 0);
	assert_int_equal(rte_mempool_avail_count(pool), before);
	assert_int_equal(counts[0].taken, SLOTS + 7);
	tear_down();
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whatever_workers_do),
		cmocka_unit_test(test_a_newer_job),
		cmocka_unit_test(test_buffers_go_home),
	};
	int rc = eal_or_skip(argv[argc - 1]);

	if (rc != 0)
		return rc;
	rnd = test_seed_not_0();
	pool = rte_pktmbuf_pool_create("hand", POOL, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE,
				       SOCKET_ID_ANY);
	if (pool == NULL)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
