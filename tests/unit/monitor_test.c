/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the workers' half of the monitor with times that the test gives: how many frames are
 * copied, what is counted, which of a burst count, and which frame is the last one. */
#include "dp_fake.h"
#include "monitor_run.h"
#include "txq.h"

#include <pthread.h>

#define SLOTS 16
#define INTERVAL 1000
#define QUOTA 10

static struct monitor_source *source_new(void)
{
	struct monitor_source *s = zeroed(sizeof(*s));

	s->nslots = SLOTS;
	s->slot = zeroed(SLOTS * sizeof(*s->slot));
	s->end_tsc = UINT64_MAX;
	s->limit = (struct monitor_limit){.quota = QUOTA, .interval = INTERVAL};
	return s;
}

static void source_free(struct monitor_source *s)
{
	free(s->slot);
	free(s);
}

/* A frame of so many bytes, of which each is `mark`. */
static struct rte_mbuf *marked(struct rte_mempool *mp, unsigned len, uint8_t mark)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(mp);

	assert_non_null(m);
	if (len > 0)
		memset(rte_pktmbuf_append(m, (uint16_t)len), mark, len);
	return m;
}

struct frames {
	struct rte_mempool *mp;
	unsigned n;
	struct rte_mbuf *m[DP_BURST_MAX];
};

/* The first byte of frame i is i. */
static struct frames *frames_new(unsigned n)
{
	struct frames *x = zeroed(sizeof(*x));

	x->mp = pool_of(1023);
	for (x->n = 0; x->n < n; x->n++)
		x->m[x->n] = marked(x->mp, 60, (uint8_t)x->n);
	return x;
}

static void frames_free(struct frames *x)
{
	rte_pktmbuf_free_bulk(x->m, x->n);
	rte_mempool_free(x->mp);
	free(x);
}

static void came(struct monitor_source *s, struct frames *x, unsigned n, uint64_t now)
{
	struct monitor_look l = {.source = s};
	struct dp_burst b = dp_look(x->m, n);

	monitor_rx(&l, &b, x->m, n, now);
}

/* Reads all, and returns how many there were. */
static unsigned read_all(struct monitor_source *s, uint64_t *last)
{
	const struct monitor_slot *slot;
	unsigned n = 0;

	for (; (slot = monitor_next(s)) != NULL; n++) {
		*last = slot->is.number;
		monitor_read(s);
	}
	return n;
}

/* Of any traffic no more than QUOTA frames are copied in INTERVAL, and no fewer where more
 * came. */
static void the_rate_is_exact(void **state)
{
	struct monitor_source *s = source_new();
	struct frames *x = frames_new(64);
	uint64_t now = 5000, number = 0, all = 0;

	(void)state;
	for (unsigned interval = 0; interval < 100; interval++) {
		unsigned copied = 0;
		uint64_t begin = now;
		while (now < begin + INTERVAL) {
			unsigned n = 1 + any(64);
			came(s, x, n, now);
			all += n;
			copied += read_all(s, &number);
			now += 1 + any(100);
		}
		assert_int_equal(copied, QUOTA);
		assert_int_equal(s->matched, all);
		assert_int_equal(s->full, 0);
		now = begin + INTERVAL;
	}
	frames_free(x);
	source_free(s);
}

/* Frames that come seldom are all copied, in their order. */
static void seldom_frames_all_pass(void **state)
{
	struct monitor_source *s = source_new();
	struct frames *x = frames_new(1);

	(void)state;
	for (uint64_t i = 1; i <= 200; i++) {
		came(s, x, 1, i * INTERVAL / QUOTA);
		const struct monitor_slot *slot = monitor_next(s);
		assert_non_null(slot);
		assert_int_equal(slot->is.number, i);
		assert_int_equal(slot->is.tsc, i * INTERVAL / QUOTA);
		monitor_read(s);
		assert_null(monitor_next(s));
	}
	frames_free(x);
	source_free(s);
}

/* Nobody reads: what was copied stays as it is, and the rest is counted. */
static void a_full_ring_keeps_the_oldest(void **state)
{
	struct monitor_source *s = source_new();
	struct frames *x = frames_new(64);
	uint64_t last = 0;

	(void)state;
	for (unsigned i = 0; i < 5; i++)
		came(s, x, 64, (i + 1) * INTERVAL);
	assert_int_equal(s->matched, 5 * 64);
	assert_int_equal(s->full, 5 * QUOTA - SLOTS);
	for (unsigned i = 0; i < SLOTS; i++) {
		const struct monitor_slot *slot = monitor_next(s);
		assert_int_equal(slot->is.number, i / QUOTA * 64 + i % QUOTA + 1);
		assert_int_equal(slot->bytes[0], i % QUOTA);
		monitor_read(s);
	}
	assert_null(monitor_next(s));
	came(s, x, 1, 6 * INTERVAL);
	assert_int_equal(read_all(s, &last), 1);
	assert_int_equal(last, 5 * 64 + 1);
	frames_free(x);
	source_free(s);
}

/* Of a burst that is offered the frames count that the device has taken; the others come again. */
static void refused_frames_do_not_count(void **state)
{
	struct monitor_source *s = source_new();
	struct frames *x = frames_new(64);
	uint64_t matched = 0, now = INTERVAL, last = 0;

	(void)state;
	for (unsigned round = 0; round < 2000; round++) {
		unsigned n = 1 + any(64), taken = any(n + 1);
		now += any(INTERVAL);
		uint32_t left = monitor_limit_left(&s->limit, now);
		monitor_see(s, x->m, n, now);
		assert_null(monitor_next(s)); /* nobody sees them before they count */
		monitor_settle(s, taken);
		uint64_t before = matched;
		matched += taken;
		assert_int_equal(s->matched, matched);
		unsigned got = 0, want = RTE_MIN(left, taken);
		for (const struct monitor_slot *slot; (slot = monitor_next(s)) != NULL; got++) {
			assert_int_equal(slot->is.number, before + got + 1);
			assert_int_equal(slot->bytes[0], got);
			last = slot->is.number;
			monitor_read(s);
		}
		assert_int_equal(got, want);
		assert_int_equal(monitor_limit_left(&s->limit, now), left - want);
	}
	assert_true(last <= matched);
	assert_int_equal(s->full, 0);
	frames_free(x);
	source_free(s);
}

/* Where no frame counts no interval begins. */
static void intervals_begin_with_a_frame(void **state)
{
	struct monitor_source *s = source_new();
	struct frames *x = frames_new(2 * QUOTA);
	uint64_t last;

	(void)state;
	monitor_see(s, x->m, QUOTA, 10 * INTERVAL);
	monitor_settle(s, 0);
	came(s, x, 2 * QUOTA, 10 * INTERVAL + INTERVAL / 2);
	assert_int_equal(read_all(s, &last), QUOTA);
	came(s, x, 2 * QUOTA, 11 * INTERVAL + INTERVAL / 2 - 1);
	assert_int_equal(read_all(s, &last), 0);
	came(s, x, 2 * QUOTA, 11 * INTERVAL + INTERVAL / 2);
	assert_int_equal(read_all(s, &last), QUOTA);
	assert_int_equal(last, 5 * QUOTA);
	frames_free(x);
	source_free(s);
}

/* A filter by the interpreter: the first byte is odd. */
static const struct filter_insn odd_insns[] = {
	{.code = 0x30},                  /* ldb [0] */
	{.code = 0x45, .jf = 1, .k = 1}, /* jset #1 */
	{.code = 0x06, .k = 1},          /* ret #1 */
	{.code = 0x06},                  /* ret #0 */
};

static void a_filter_says_which_frames_count(void **state)
{
	static const struct filter_exec odd = {.insns = odd_insns};
	struct monitor_source *s = source_new();
	struct frames *x = frames_new(200);
	uint64_t number = 0;

	(void)state;
	s->filter = &odd;
	for (unsigned round = 1; round < 500; round++) {
		unsigned n = 1 + any(200), taken = any(n + 1), got = 0;
		monitor_see(s, x->m, n, round * INTERVAL);
		monitor_settle(s, taken);
		assert_int_equal(s->matched, number + taken / 2);
		for (const struct monitor_slot *slot; (slot = monitor_next(s)) != NULL; got++) {
			assert_int_equal(slot->is.number, number + got + 1);
			assert_int_equal(slot->bytes[0], 2 * got + 1);
			monitor_read(s);
		}
		assert_int_equal(got, RTE_MIN((unsigned)QUOTA, taken / 2));
		number += taken / 2;
	}
	frames_free(x);
	source_free(s);
}

/* ---- a worker and control at the same time ---- */

#define BURSTS 200000

struct both {
	struct monitor_source *s;
	struct monitor_keeper k;
	struct frames *x;
	uint32_t over;
};

/* Time is the number of the burst, so that every frame is let through. */
static void *both_write(void *arg)
{
	struct both *w = arg;

	for (uint64_t i = 1; i <= BURSTS; i++) {
		struct monitor_look l = {.source = w->s, .keeper = &w->k};
		struct dp_burst b = {0};
		unsigned first = (unsigned)(i % 60);
		monitor_rx(&l, &b, w->x->m + first, 4, i * INTERVAL);
	}
	__atomic_store_n(&w->over, 1, __ATOMIC_RELEASE);
	return NULL;
}

static void must_be_kept(const struct monitor_kept *kept, uint64_t *last)
{
	if (kept == NULL)
		return;
	uint64_t i = kept->is.tsc / INTERVAL;
	assert_true(i >= *last && i <= BURSTS);
	for (unsigned k = 0; k < 60; k++)
		assert_int_equal(kept->bytes[k], i % 60 + 3);
	*last = i;
}

/* What control reads was written as a whole, in order, and what is lost is counted. */
static void control_reads_while_a_worker_writes(void **state)
{
	struct both w = {.s = source_new(), .x = frames_new(64)};
	uint64_t number = 0, last = 0, read = 0;
	pthread_t t;

	(void)state;
	w.k = (struct monitor_keeper){.place = zeroed(3 * sizeof(*w.k.place)),
				      .middle = 1,
				      .front = 2};
	assert_int_equal(pthread_create(&t, NULL, both_write, &w), 0);
	for (bool over = false;;) {
		const struct monitor_slot *slot;
		over = __atomic_load_n(&w.over, __ATOMIC_ACQUIRE) != 0;
		while ((slot = monitor_next(w.s)) != NULL) {
			assert_true(slot->is.number > number);
			number = slot->is.number;
			uint64_t i = (number - 1) / 4 + 1;
			assert_int_equal(slot->is.tsc, i * INTERVAL);
			for (unsigned k = 0; k < 60; k++)
				assert_int_equal(slot->bytes[k], i % 60 + (number - 1) % 4);
			monitor_read(w.s);
			read++;
		}
		must_be_kept(monitor_newest(&w.k), &last);
		if (over)
			break;
	}
	pthread_join(t, NULL);
	assert_int_equal(last, BURSTS);
	assert_int_equal(w.s->matched, 4ull * BURSTS);
	assert_int_equal(read + w.s->full, 4ull * BURSTS);
	free(w.k.place);
	frames_free(w.x);
	source_free(w.s);
}

static void after_its_end_nothing_is_seen(void **state)
{
	struct monitor_source *s = source_new();
	struct frames *x = frames_new(4);
	uint64_t last;

	(void)state;
	s->end_tsc = 2 * INTERVAL;
	came(s, x, 4, 2 * INTERVAL - 1);
	came(s, x, 4, 2 * INTERVAL);
	came(s, x, 4, 9 * INTERVAL);
	assert_int_equal(s->matched, 4);
	assert_int_equal(read_all(s, &last), 4);
	frames_free(x);
	source_free(s);
}

/* Runts, frames of several segments, and frames that are longer than what is copied. */
static void odd_frames_are_copied_right(void **state)
{
	struct monitor_source *s = source_new();
	struct rte_mempool *mp = pool_of(63);
	struct rte_mbuf *m[5];
	struct dp_burst b = {0};
	struct monitor_look l = {.source = s};

	(void)state;
	m[0] = marked(mp, 1, 1);
	m[1] = marked(mp, 100, 2);
	assert_int_equal(rte_pktmbuf_chain(m[1], marked(mp, 50, 3)), 0);
	assert_int_equal(rte_pktmbuf_chain(m[1], marked(mp, 200, 4)), 0);
	m[2] = marked(mp, 1000, 5);
	m[3] = marked(mp, 0, 0);
	m[4] = marked(mp, 60, 6);
	m[4]->ol_flags |= RTE_MBUF_F_RX_VLAN | RTE_MBUF_F_RX_VLAN_STRIPPED;
	m[4]->vlan_tci = 0x2007;
	monitor_rx(&l, &b, m, ARRAY_SIZE(m), INTERVAL);
	static const struct {
		uint32_t len, have;
	} want[] = {{1, 1}, {350, MONITOR_SNAP}, {1000, MONITOR_SNAP}, {0, 0}, {60, 60}};
	for (unsigned i = 0; i < ARRAY_SIZE(m); i++) {
		const struct monitor_slot *slot = monitor_next(s);
		assert_non_null(slot);
		assert_int_equal(slot->is.len, want[i].len);
		assert_int_equal(slot->is.have, want[i].have);
		uint8_t all[1000];
		const uint8_t *is = rte_pktmbuf_read(m[i], 0, want[i].have, all);
		assert_memory_equal(slot->bytes, is, want[i].have);
		assert_int_equal(slot->is.ntags, i == 4);
		assert_int_equal(slot->is.tci, i == 4 ? 0x2007 : 0);
		monitor_read(s);
	}
	rte_pktmbuf_free_bulk(m, ARRAY_SIZE(m));
	assert_true(rte_mempool_full(mp));
	rte_mempool_free(mp);
	source_free(s);
}

/* The last frame of the newest burst, however many came since somebody looked. */
static void the_last_frame_is_kept(void **state)
{
	struct monitor_keeper k = {.place = zeroed(3 * sizeof(*k.place)), .middle = 1, .front = 2};
	struct monitor_look l = {.keeper = &k};
	struct frames *x = frames_new(64);
	unsigned newest = 0;

	(void)state;
	assert_null(monitor_newest(&k));
	for (unsigned i = 1; i < 1000; i++) {
		unsigned n = 1 + any(64);
		struct dp_burst b = dp_look(x->m, n);
		monitor_rx(&l, &b, x->m, n, i);
		newest = n - 1;
		if (any(3) != 0)
			continue;
		for (unsigned again = 0; again < 2; again++) {
			const struct monitor_kept *kept = monitor_newest(&k);
			assert_non_null(kept);
			assert_int_equal(kept->is.tsc, i);
			assert_int_equal(kept->is.len, 60);
			assert_int_equal(kept->bytes[59], newest);
		}
	}
	frames_free(x);
	free(k.place);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_rate_is_exact),
		cmocka_unit_test(seldom_frames_all_pass),
		cmocka_unit_test(a_full_ring_keeps_the_oldest),
		cmocka_unit_test(refused_frames_do_not_count),
		cmocka_unit_test(intervals_begin_with_a_frame),
		cmocka_unit_test(a_filter_says_which_frames_count),
		cmocka_unit_test(control_reads_while_a_worker_writes),
		cmocka_unit_test(after_its_end_nothing_is_seen),
		cmocka_unit_test(odd_frames_are_copied_right),
		cmocka_unit_test(the_last_frame_is_kept),
	};
	int rc = eal_or_skip(argv[argc - 1]);

	return rc != 0 ? rc : cmocka_run_group_tests(tests, NULL, NULL);
}
