/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests kind sink and the receive side of a turn: what is counted, and that every buffer goes back
 * to its pool, even unusual ones. */
#include "count_run.h"
#include "dp_fake.h"

#define MAX_RX 4096

static struct rte_mbuf *line[MAX_RX]; /* what the device will deliver */
static unsigned at, ready, polls;
static bool takes_a_tick; /* whether each burst takes a tick of the counter, however slow that is */

static uint16_t fake_rx(void *queue, struct rte_mbuf **m, uint16_t n)
{
	unsigned k = ready - at < n ? ready - at : n;

	(void)queue;
	polls++;
	for (uint64_t t = rte_rdtsc(); takes_a_tick && k > 0 && rte_rdtsc() == t;)
		;
	memcpy(m, line + at, k * sizeof(*m));
	at += k;
	return (uint16_t)k;
}

static struct rte_mbuf *frame_of(struct rte_mempool *mp, unsigned len)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(mp);

	assert_non_null(m);
	assert_non_null(rte_pktmbuf_append(m, (uint16_t)len));
	return m;
}

struct sink_world {
	struct dp_worker w;
	struct dp_plan plan;
	struct dp_task task;
	struct dp_duty duty;
	struct dp_rxq rxq;
};

static struct sink_world *sink_new(unsigned burst)
{
	static void *data[FAKE_QUEUES], *none[FAKE_QUEUES];
	struct sink_world *x = zeroed(sizeof(*x));
	static unsigned serial;
	char name[24];
	struct err e;

	at = ready = polls = 0;
	rte_eth_fp_ops[FAKE_DEV].rx_pkt_burst = fake_rx;
	rte_eth_fp_ops[FAKE_DEV].rxq.data = data;
	rte_eth_fp_ops[FAKE_DEV].rxq.clbk = none;
	snprintf(name, sizeof(name), "s%u", serial++);
	assert_int_equal(mbox_open(&x->w.mbox, name, SOCKET_ID_ANY, &e), 0);
	x->rxq.dev = FAKE_DEV;
	x->task = (struct dp_task){.kind = &dp_kind_sink,
				   .state = zeroed(sizeof(struct count_state))};
	x->duty = (struct dp_duty){.q = &x->rxq, .burst = (uint16_t)burst};
	x->plan =
		(struct dp_plan){.seq = 1, .ntasks = 1, .nrx = 1, .task = &x->task, .rx = &x->duty};
	assert_true(mbox_post(&x->w.mbox, &x->plan));
	return x;
}

static void sink_free(struct sink_world *x)
{
	mbox_close(&x->w.mbox);
	free(x->task.state);
	free(x);
}

static void receive_all(struct sink_world *x)
{
	uint64_t barren = x->w.cells.barren;

	while (at < ready)
		assert_true(dp_turn(&x->w));
	assert_int_equal(x->w.cells.barren, barren); /* every turn has moved something */
	dp_turn(&x->w);
	assert_int_equal(x->w.cells.barren, barren + 1);
}

static void test_counts(void **state)
{
	static const unsigned bursts[] = {1, 31, 64, 512};

	(void)state;
	for (unsigned b = 0; b < ARRAY_SIZE(bursts); b++) {
		struct rte_mempool *mp = pool_of(1100);
		struct sink_world *x = sink_new(bursts[b]);
		uint64_t bytes = 0;

		for (ready = 0; ready < 1000; ready++) {
			unsigned len = 60 + any(1455);
			line[ready] = frame_of(mp, len);
			bytes += len + 4; /* with FCS */
		}
		receive_all(x);
		assert_int_equal(x->rxq.cnt.packets, 1000);
		assert_int_equal(x->rxq.cnt.bytes, bytes);
		assert_int_equal(x->rxq.cnt.full, 1000 / bursts[b]);
		assert_true(rte_mempool_full(mp));
		rte_mempool_free(mp);
		sink_free(x);
	}
}

/* Bursts have frames that somebody else holds too, frames of several segments, frames of another
 * pool, and clones. Each goes where it belongs, whatever the burst is made of. */
static void test_odd_buffers(void **state)
{
	(void)state;
	for (unsigned kind = 0; kind < 5; kind++)
		for (unsigned place = 0; place < 3; place++) {
			struct rte_mempool *a = pool_of(127), *b = pool_of(63);
			struct sink_world *x = sink_new(32);
			struct rte_mbuf *m, *more, *kept = NULL;
			uint64_t bytes = 0;

			for (ready = 0; ready < 32; ready++)
				line[ready] = frame_of(a, 60 + ready);
			m = line[place * 15 + place / 2]; /* first, in between, last */
			switch (kind) {
			case 0:
				break;
			case 1:
				rte_mbuf_refcnt_update(m, 1);
				kept = m;
				break;
			case 2:
				more = frame_of(b, 500);
				assert_int_equal(rte_pktmbuf_chain(m, more), 0);
				break;
			case 3:
				rte_pktmbuf_free(m);
				m = line[place * 15 + place / 2] = frame_of(b, 99);
				break;
			case 4:
				kept = m;
				m = line[place * 15 + place / 2] = rte_pktmbuf_clone(kept, b);
				assert_non_null(m);
				break;
			}
			for (unsigned i = 0; i < ready; i++)
				bytes += line[i]->pkt_len + 4;
			receive_all(x);
			assert_int_equal(x->rxq.cnt.packets, 32);
			assert_int_equal(x->rxq.cnt.bytes, bytes);
			if (kept != NULL) {
				assert_int_equal(rte_mbuf_refcnt_read(kept), 1);
				assert_int_equal(rte_mempool_in_use_count(a), 1);
				rte_pktmbuf_free(kept);
			}
			assert_true(rte_mempool_full(a));
			assert_true(rte_mempool_full(b));
			/* Buffers come out of the pool as a driver may expect them. */
			for (unsigned i = 0; i < 127; i++) {
				line[i] = rte_mbuf_raw_alloc(a);
				assert_non_null(line[i]);
				assert_int_equal(rte_mbuf_refcnt_read(line[i]), 1);
				assert_int_equal(line[i]->nb_segs, 1);
				assert_null(line[i]->next);
			}
			for (unsigned i = 0; i < 127; i++)
				rte_mbuf_raw_free(line[i]);
			rte_mempool_free(a);
			rte_mempool_free(b);
			sink_free(x);
		}
}

static unsigned class_of(unsigned size)
{
	static const unsigned above[] = {63, 64, 127, 255, 511, 1023, 1522};
	unsigned c = 0;

	while (c < ARRAY_SIZE(above) && size > above[c])
		c++;
	return c;
}

static const uint8_t dst_of[4][6] = {{2, 0, 0, 0, 0, 1},
				     {1, 0, 0x5e, 0, 0, 1},
				     {255, 255, 255, 255, 255, 255},
				     {255, 255, 255, 255, 255, 254}};
static const uint32_t said_of[4] = {DP_DST_KNOWN, DP_DST_KNOWN | DP_DST_GROUP,
				    DP_DST_KNOWN | DP_DST_GROUP | DP_DST_BROADCAST,
				    DP_DST_KNOWN | DP_DST_GROUP};

/* Bursts have one size or many, and go to one address or to many, which the sender has noted or
 * not. Frames may begin elsewhere in their buffers. */
static void test_classes(void **state)
{
	static const unsigned bursts[] = {1, 7, 32, 512};

	(void)state;
	for (unsigned b = 0; b < 4 * ARRAY_SIZE(bursts); b++) {
		bool one_size = b & 4, one_dst = b & 8;
		struct rte_mempool *mp = pool_of(2100);
		struct sink_world *x = sink_new(bursts[b % 4]);
		uint64_t sizes[CNT_NSIZES] = {0}, groups[4] = {0};
		unsigned len = 60, dst = 0;

		for (ready = 0; ready < 2000; ready++) {
			if (!one_size || ready % 700 == 0)
				len = any(4) == 0 ? 59 + any(3) : 20 + any(1700);
			if (!one_dst || ready % 700 == 0)
				dst = any(4);
			struct rte_mbuf *m = line[ready] = rte_pktmbuf_alloc(mp);
			assert_non_null(m);
			if (any(100) == 0)
				m->data_off += 2;
			assert_non_null(rte_pktmbuf_append(m, (uint16_t)len));
			memcpy(rte_pktmbuf_mtod(m, void *), dst_of[dst], 6);
			if (any(one_dst ? 100 : 2) > 0)
				m->packet_type = said_of[dst];
			sizes[class_of(len + 4)]++;
			groups[dst == 3 ? 1 : dst]++;
		}
		receive_all(x);
		for (unsigned c = 0; c < CNT_NSIZES; c++)
			assert_int_equal(x->rxq.sizes.n[c], sizes[c]);
		assert_int_equal(x->rxq.cnt.broadcast, groups[2]);
		assert_int_equal(x->rxq.cnt.multicast, groups[1]);
		assert_int_equal(x->rxq.cnt.bursts, (2000 + bursts[b % 4] - 1) / bursts[b % 4]);
		assert_true(rte_mempool_full(mp));
		rte_mempool_free(mp);
		sink_free(x);
	}
}

/* Frames in whose buffer the destination is noted need not be read. If somebody has written into a
 * frame since, the note is gone. */
static void test_said_destinations(void **state)
{
	struct rte_mempool *mp = pool_of(1100);
	struct sink_world *x = sink_new(32);

	(void)state;
	for (ready = 0; ready < 32; ready++) {
		line[ready] = frame_of(mp, 60);
		memcpy(rte_pktmbuf_mtod(line[ready], void *), dst_of[2], 6);
		/* this note is wrong, which a look at the frame would show */
		line[ready]->packet_type = said_of[0];
	}
	receive_all(x);
	assert_int_equal(x->rxq.cnt.broadcast, 0);
	for (at = ready = 0; ready < 32; ready++) {
		line[ready] = frame_of(mp, 60);
		memcpy(rte_pktmbuf_mtod(line[ready], void *), dst_of[2], 6);
		line[ready]->packet_type = said_of[0];
		frame_touch(line[ready]);
	}
	receive_all(x);
	assert_int_equal(x->rxq.cnt.broadcast, 32);
	assert_int_equal(x->rxq.cnt.multicast, 0);
	rte_mempool_free(mp);
	sink_free(x);
}

/* Bursts after an idle turn are all timed. Later ones are timed now and then, and each stands for
 * several. */
static void test_times(void **state)
{
	struct rte_mempool *mp = pool_of(4000);
	struct sink_world *x = sink_new(1);

	(void)state;
	takes_a_tick = true;
	for (unsigned n = 1; n <= 20; n++) {
		dp_turn(&x->w); /* there is nothing */
		at = 0;
		ready = 1;
		line[0] = frame_of(mp, 60);
		uint64_t cycles = x->rxq.times.cycles, bursts = x->rxq.times.bursts;
		dp_turn(&x->w);
		assert_int_equal(x->rxq.times.bursts, bursts + 1);
		assert_true(x->rxq.times.cycles > cycles);
	}
	takes_a_tick = false;
	for (at = ready = 0; ready < 10 * DP_PUBLISH_TURNS; ready++)
		line[ready] = frame_of(mp, 60);
	uint64_t timed = x->rxq.times.bursts, all = x->rxq.cnt.bursts;
	receive_all(x);
	assert_int_equal(x->rxq.cnt.bursts - all, 10 * DP_PUBLISH_TURNS);
	timed = x->rxq.times.bursts - timed;
	assert_true(timed >= 9 * DP_PUBLISH_TURNS && timed <= 11 * DP_PUBLISH_TURNS);
	rte_mempool_free(mp);
	sink_free(x);
}

static unsigned tapped;
static bool put_off;
static uint64_t tap_bytes;

static void tap(void *state, const struct dp_burst *b, struct rte_mbuf *const *m, unsigned n,
		uint64_t now)
{
	bool alike = true;

	(void)now;
	assert_ptr_equal(state, &tapped);
	tapped += n;
	put_off = true;
	for (unsigned i = 0; i < n; i++) {
		tap_bytes += m[i]->pkt_len + 4;
		alike &= m[i]->data_len == m[0]->data_len && m[i]->data_off == m[0]->data_off &&
			 m[i]->ol_flags == m[0]->ol_flags;
	}
	assert_int_equal(b->alike, alike);
}

static void flush(void *state)
{
	assert_ptr_equal(state, &tapped);
	put_off = false;
}

/* Taps see every frame before the owner gives it back. What they have put off is done once no frame
 * is there, and before their plan goes. */
static void test_taps(void **state)
{
	struct rte_mempool *mp = pool_of(1100);
	struct sink_world *x = sink_new(64);

	(void)state;
	x->duty.ntaps = 2;
	x->duty.tap[0] = x->duty.tap[1] = (struct dp_tap){tap, &tapped, flush};
	for (ready = 0; ready < 500; ready++)
		line[ready] = frame_of(mp, 60 + any(1000));
	receive_all(x);
	assert_int_equal(tapped, 1000);
	assert_false(put_off);
	assert_int_equal(tap_bytes, 2 * x->rxq.cnt.bytes);
	line[ready++] = frame_of(mp, 60);
	dp_turn(&x->w);
	assert_true(put_off);
	struct dp_plan end = {.seq = 2, .quit = true};
	assert_true(mbox_post(&x->w.mbox, &end));
	assert_false(dp_turn(&x->w));
	assert_false(put_off);
	assert_true(rte_mempool_full(mp));
	rte_mempool_free(mp);
	sink_free(x);
}

/* If others claim frames, a tap counts them, with the same numbers as their owner. */
static void test_seen(void **state)
{
	struct rte_mempool *mp = pool_of(1100);
	struct sink_world *a = sink_new(64), *b = sink_new(64);
	struct rte_mbuf *copy[1000];

	(void)state;
	b->duty.ntaps = 1;
	b->duty.tap[0] = (struct dp_tap){.rx = count_see, .state = &b->rxq};
	b->task.kind = &dp_kind_rest;
	for (unsigned round = 0; round < 20; round++) {
		at = 0;
		for (ready = 0; ready < 300; ready++) {
			line[ready] = frame_of(mp, 60 + any(round % 2 ? 1 : 1000));
			rte_pktmbuf_mtod(line[ready], uint8_t *)[0] =
				(uint8_t)(round % 3 ? any(2) : 0xff * any(2));
			copy[ready] = rte_pktmbuf_copy(line[ready], mp, 0, UINT32_MAX);
			assert_non_null(copy[ready]);
		}
		unsigned n = ready;
		receive_all(a);
		memcpy(line, copy, n * sizeof(copy[0]));
		at = 0;
		ready = n;
		receive_all(b);
		assert_memory_equal(&a->rxq.cnt, &b->rxq.cnt, sizeof(a->rxq.cnt));
		assert_memory_equal(&a->rxq.sizes, &b->rxq.sizes, sizeof(a->rxq.sizes));
	}
	assert_int_equal(b->rxq.cnt.packets, 20 * 300);
	assert_true(rte_mempool_full(mp));
	rte_mempool_free(mp);
	sink_free(a);
	sink_free(b);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counts),  cmocka_unit_test(test_odd_buffers),
		cmocka_unit_test(test_taps),    cmocka_unit_test(test_seen),
		cmocka_unit_test(test_classes), cmocka_unit_test(test_said_destinations),
		cmocka_unit_test(test_times),
	};
	int rc = eal_or_skip(argv[argc - 1]);

	return rc != 0 ? rc : cmocka_run_group_tests(tests, NULL, NULL);
}
