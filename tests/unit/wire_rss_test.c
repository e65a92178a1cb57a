/* SPDX-License-Identifier: BSD-3-Clause */
/* An end of a wire that hashes what it gets changes how it does so while a worker sends to it: no
 * burst is sent by two setups, the last one counts, and memory does not grow. Neither EAL nor a
 * device is needed: rings, frames and the functions of a device are made by hand. */
#include "cmocka_names.h"

#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "wire_rss.h"

#define RINGS 4
#define FRAMES 32
#define CHANGES 10000
#define DEV 3

static struct rte_ring *ring[RINGS];
static struct rte_mbuf mbuf[FRAMES];
static uint8_t frame[FRAMES][64];
/* Queue 0 sends all the time, and queue 1 never. */
static int txq[2];
static void *txqs[2] = {&txq[0], &txq[1]};
static bool quit;
static uint64_t bursts; /* that were sent */
static unsigned changed, last_ring;

/* Bytes that are allocated now. The sanitizers have their own allocator. */
size_t __sanitizer_get_current_allocated_bytes(void) __attribute__((weak));

static size_t bytes_held(void)
{
	if (__sanitizer_get_current_allocated_bytes != NULL)
		return __sanitizer_get_current_allocated_bytes();
	return mallinfo2().uordblks;
}

static uint16_t plain_send(void *q, struct rte_mbuf **m, uint16_t n)
{
	(void)q;
	return rte_ring_mp_enqueue(ring[0], m[0]) == 0 ? n : 0;
}

static void frames_make(void)
{
	static const uint8_t head[] = {2,  0, 0, 0, 0, 1,  2,  0, 0, 0,  0, 2, 8, 0,  0x45, 0, 0,
				       46, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0,    0, 2};

	for (unsigned i = 0; i < FRAMES; i++) {
		memcpy(frame[i], head, sizeof(head));
		frame[i][35] = (uint8_t)i; /* the source port */
		mbuf[i].buf_addr = frame[i];
		mbuf[i].data_len = mbuf[i].pkt_len = 60;
	}
}

/* Sends a burst by the device's function of now, as workers do, and takes its frames out again. */
static void *send_bursts(void *arg)
{
	struct rte_eth_fp_ops *ops = &rte_eth_fp_ops[DEV];

	(void)arg;
	while (!__atomic_load_n(&quit, __ATOMIC_ACQUIRE)) {
		struct rte_mbuf *m[FRAMES];
		unsigned rings = 0;
		for (unsigned i = 0; i < FRAMES; i++)
			m[i] = &mbuf[i];
		unsigned sent =
			__atomic_load_n(&ops->tx_pkt_burst, __ATOMIC_ACQUIRE)(txqs[0], m, FRAMES);
		for (unsigned r = 0; r < RINGS; r++) {
			void *out[FRAMES];
			if (rte_ring_sc_dequeue_burst(ring[r], out, FRAMES, NULL) == 0)
				continue;
			rings++;
			changed += r != last_ring;
			last_ring = r;
		}
		if (sent != FRAMES || rings != 1)
			abort(); /* cmocka's functions are for the thread of the test */
		__atomic_fetch_add(&bursts, 1, __ATOMIC_RELEASE);
	}
	return NULL;
}

static void wait_bursts(unsigned n)
{
	uint64_t until = __atomic_load_n(&bursts, __ATOMIC_ACQUIRE) + n;

	while (__atomic_load_n(&bursts, __ATOMIC_ACQUIRE) < until)
		sched_yield();
}

/* All frames come to one ring, another one with each setup. */
static void set_ring(struct wire_rss *w, uint64_t hf, unsigned r)
{
	struct rss_setup to = *wire_rss_now(w);

	to.hf = hf;
	for (unsigned i = 0; i < to.entries; i++)
		to.table[i] = (uint16_t)r;
	wire_rss_set(w, &to, DEV, 2);
	assert_memory_equal(wire_rss_now(w)->table, to.table, sizeof(to.table));
}

static void test_changes_while_sending(void **state)
{
	const uint64_t hf = RTE_ETH_RSS_IPV4 | RTE_ETH_RSS_NONFRAG_IPV4_UDP;
	struct rte_eth_fp_ops *ops = &rte_eth_fp_ops[DEV];
	struct wire_rss *w = wire_rss_new(ring, RINGS);
	pthread_t sender;

	(void)state;
	ops->tx_pkt_burst = plain_send;
	ops->txq.data = txqs;
	wire_rss_started(w, DEV, 2);
	assert_ptr_equal(ops->tx_pkt_burst, plain_send);
	assert_int_equal(pthread_create(&sender, NULL, send_bursts, NULL), 0);
	set_ring(w, hf, 0);
	wait_bursts(2);
	size_t held = bytes_held();
	for (unsigned i = 0; i < CHANGES; i++) {
		set_ring(w, i % 100 == 99 ? 0 : hf, 1 + i % (RINGS - 1));
		if (i % 64 == 0)
			wait_bursts(1);
	}
	assert_true(bytes_held() < held + 100000);
	set_ring(w, hf, RINGS - 1);
	wait_bursts(2); /* one may have begun before */
	__atomic_store_n(&quit, true, __ATOMIC_RELEASE);
	assert_int_equal(pthread_join(sender, NULL), 0);
	assert_int_equal(last_ring, RINGS - 1);
	assert_true(changed > 1);
	wire_rss_free(w);
}

/* Of a device that is gone and one in its place nothing is mixed up. */
static void test_another_wire(void **state)
{
	struct rte_eth_fp_ops *ops = &rte_eth_fp_ops[DEV];

	(void)state;
	for (unsigned r = 1; r < RINGS; r++) {
		struct wire_rss *w = wire_rss_new(ring, RINGS);
		struct rte_mbuf *m = &mbuf[0];
		void *out;
		ops->tx_pkt_burst = plain_send;
		set_ring(w, RTE_ETH_RSS_IPV4, r);
		assert_ptr_not_equal(ops->tx_pkt_burst, plain_send);
		assert_int_equal(ops->tx_pkt_burst(txqs[1], &m, 1), 1);
		assert_int_equal(rte_ring_sc_dequeue(ring[r], &out), 0);
		assert_ptr_equal(out, m);
		set_ring(w, 0, r);
		assert_ptr_equal(ops->tx_pkt_burst, plain_send);
		wire_rss_free(w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_changes_while_sending),
		cmocka_unit_test(test_another_wire),
	};

	for (unsigned r = 0; r < RINGS; r++) {
		size_t size = (size_t)rte_ring_get_memsize(128);
		ring[r] = aligned_alloc(RTE_CACHE_LINE_SIZE, size);
		if (ring[r] == NULL || rte_ring_init(ring[r], "ring", 128, RING_F_SC_DEQ) != 0)
			return 1;
	}
	frames_make();
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	for (unsigned r = 0; r < RINGS; r++)
		free(ring[r]);
	return failed;
}
