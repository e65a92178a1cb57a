/* SPDX-License-Identifier: BSD-3-Clause */
/* The workers' half of recorders, with a clock of the test: what the rings hold, what becomes of
 * frames that a device does not take, and when rings are handed over with which faults. */
#include "dp_fake.h"
#include "recorder_run.h"
#include "txq.h"

#define FRAMES 1024
#define SNAP 96
#define QUIET 10000

static struct rte_mempool *pool;
static struct recorder_group group;
static struct recorder_queue *rx, *tx;
static uint32_t next_id;

static struct recorder_ring *ring_new(uint32_t frames)
{
	struct recorder_ring *r = zeroed(sizeof(*r));

	r->frames = frames;
	r->snap = SNAP;
	r->stride = RTE_ALIGN_CEIL(SNAP, RECORDER_LINE);
	r->data = zeroed((size_t)frames * r->stride);
	r->run = zeroed(frames * sizeof(*r->run));
	return r;
}

static struct recorder_queue *queue_new(bool sends, uint32_t frames)
{
	struct recorder_queue *q = zeroed(sizeof(*q));

	q->group = &group;
	q->tx = sends;
	q->ring = ring_new(frames);
	q->spare = ring_new(frames);
	return q;
}

static void ring_free(struct recorder_ring *r)
{
	if (r == NULL)
		return;
	free(r->data);
	free(r->run);
	free(r);
}

static void queue_free(struct recorder_queue *q)
{
	ring_free(q->ring);
	ring_free(q->spare);
	ring_free(q->frozen);
	free(q);
}

static void begin(uint32_t frames)
{
	memset(&group, 0, sizeof(group));
	group.kinds = (1u << DP_FAULTS) - 1;
	group.quiet_cycles = QUIET;
	rx = queue_new(false, frames);
	tx = queue_new(true, frames);
	next_id = 0;
}

static void end(void)
{
	queue_free(rx);
	queue_free(tx);
}

/* A frame of that length, whose bytes follow from its number. */
static struct rte_mbuf *frame_of(uint32_t id, uint32_t len)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);

	assert_non_null(m);
	uint8_t *p = (uint8_t *)rte_pktmbuf_append(m, (uint16_t)len);
	assert_non_null(p);
	for (uint32_t i = 0; i < len; i++)
		p[i] = (uint8_t)(id * 7 + i * 13 + (i < 4 ? id >> 8 * i : 0));
	return m;
}

static void check_bytes(const uint8_t *p, uint32_t caplen, uint32_t id)
{
	for (uint32_t i = 0; i < caplen; i++)
		assert_int_equal(p[i], (uint8_t)(id * 7 + i * 13 + (i < 4 ? id >> 8 * i : 0)));
}

/* What the test expects of each frame that stays. */
struct want {
	uint32_t id, len;
	uint64_t tsc;
};

/* Compares a ring with the newest frames of want[0..n). */
static void check_ring(const struct recorder_ring *r, const struct want *want, uint64_t n)
{
	uint64_t first = recorder_ring_first(r),
		 run = first < n ? recorder_ring_run_of(r, first) : 0;

	assert_int_equal(r->count, n);
	assert_true(n - first >= RTE_MIN(n, (uint64_t)r->frames - DP_BURST_MAX));
	for (uint64_t i = first; i < n; i++) {
		while (run + 1 < r->nruns && recorder_ring_run(r, run + 1)->first <= i)
			run++;
		const struct recorder_run *of = recorder_ring_run(r, run);
		assert_true(of->first <= i);
		assert_int_equal(of->len, want[i].len);
		assert_int_equal(of->caplen, RTE_MIN(want[i].len, (uint32_t)SNAP));
		if (want[i].tsc != 0)
			assert_int_equal(of->tsc, want[i].tsc);
		check_bytes(r->data + (i % r->frames) * r->stride, of->caplen, want[i].id);
	}
}

static void give_rx(struct rte_mbuf **m, unsigned n, uint64_t now)
{
	struct dp_burst b = dp_look(m, n);

	recorder_rx(rx, &b, m, n, now);
}

static void test_ring(void **state)
{
	struct want *want = calloc(200000, sizeof(*want));
	struct rte_mbuf *m[DP_BURST_MAX];
	static const uint32_t lens[] = {60, 64, 65, 96, 97, 128, 200};

	(void)state;
	for (unsigned v = 0; recorder_copy_nth(v) != NULL; v++) {
		uint64_t n = 0;
		recorder_copy = recorder_copy_nth(v);
		begin(1000 + v * 37 + 512);
		for (unsigned turn = 0; turn < 300; turn++) {
			unsigned burst = 1 + any(any(4) == 0 ? 500 : 64);
			bool alike = any(2) == 0;
			uint32_t len = lens[any(ARRAY_SIZE(lens))];
			for (unsigned i = 0; i < burst; i++) {
				len = alike ? len : lens[any(ARRAY_SIZE(lens))];
				want[n + i] = (struct want){next_id, len, 1000 + turn};
				m[i] = frame_of(next_id++, len);
			}
			give_rx(m, burst, 1000 + turn);
			n += burst;
			rte_pktmbuf_free_bulk(m, burst);
			check_ring(rx->ring, want, n);
		}
		assert_int_equal(rx->seen_frames, n);
		end();
	}
	recorder_copy = recorder_copy_nth(0);
	free(want);
}

/* Frames of several segments, and of a buffer that ends with them. */
static void test_odd_buffers(void **state)
{
	struct want want[2] = {{5, 300, 7}, {9, 60, 7}};
	struct rte_mbuf *m[2];

	(void)state;
	begin(FRAMES);
	m[0] = frame_of(5, 300);
	struct rte_mbuf *tail = rte_pktmbuf_alloc(pool);
	memcpy(rte_pktmbuf_append(tail, 280), rte_pktmbuf_mtod_offset(m[0], uint8_t *, 20), 280);
	m[0]->data_len = 20;
	m[0]->pkt_len = 20;
	assert_int_equal(rte_pktmbuf_chain(m[0], tail), 0);
	m[1] = frame_of(9, 60);
	memmove((uint8_t *)m[1]->buf_addr + m[1]->buf_len - 60, rte_pktmbuf_mtod(m[1], uint8_t *),
		60);
	m[1]->data_off = (uint16_t)(m[1]->buf_len - 60);
	give_rx(m, 2, 7);
	check_ring(rx->ring, want, 2);
	rte_pktmbuf_free_bulk(m, 2);
	end();
}

/* Only what the device takes stays, whatever was offered before. */
static void test_taken(void **state)
{
	struct want *want = calloc(100000, sizeof(*want));
	struct rte_mbuf *m[DP_BURST_MAX];
	uint64_t n = 0;

	(void)state;
	begin(1024 + 33);
	for (unsigned turn = 0; turn < 1500; turn++) {
		unsigned burst = 1 + any(40), taken = any(3) == 0 ? burst : any(burst + 1);
		uint32_t len = 60;
		for (unsigned i = 0; i < burst; i++) {
			len = any(3) == 0 ? 60 + any(60) : len;
			m[i] = frame_of(next_id, len);
			want[n + i] = (struct want){next_id++, len, 0};
		}
		recorder_offered(tx, m, burst);
		recorder_taken(tx, taken);
		n += taken;
		rte_pktmbuf_free_bulk(m, burst);
		check_ring(tx->ring, want, n);
	}
	assert_int_equal(tx->seen_frames, n);
	end();
	free(want);
}

/* ---- faults ---- */

static uint64_t now;
static struct rte_mbuf *one[64];

/* A burst of n frames comes, and the fault is told of frame i; i = n: none is. */
static void burst_with(unsigned n, unsigned i, struct dp_fault f)
{
	now += 100;
	for (unsigned k = 0; k < n; k++)
		one[k] = frame_of(next_id++, 60);
	give_rx(one, n, now);
	if (i < n) {
		f.m = one[i];
		f.now = now;
		recorder_fault(rx, &f);
	}
	rte_pktmbuf_free_bulk(one, n);
}

static void frames_come(unsigned n)
{
	for (; n > 0; n -= RTE_MIN(n, 32u))
		burst_with(RTE_MIN(n, 32u), UINT32_MAX, (struct dp_fault){0});
}

static struct dp_fault loss(uint32_t seq, uint32_t missing)
{
	return (struct dp_fault){.kind = DP_FAULT_LOSS,
				 .known = true,
				 .seq = seq,
				 .missing = missing,
				 .expected = seq - missing};
}
static struct dp_fault of(enum dp_fault_kind kind, uint32_t seq)
{
	return (struct dp_fault){.kind = kind, .known = true, .seq = seq, .expected = seq + 1};
}

static uint64_t told_all(const struct recorder_queue *q)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < DP_FAULTS; i++)
		n += q->told[i];
	return n;
}
static uint64_t unwritten_all(const struct recorder_queue *q)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < RECORDER_WHYS; i++)
		n += q->unwritten[i];
	return n;
}

/* A duplicate is certain at once: the rings go when a quarter has come behind it, both of them. */
static void test_freeze(void **state)
{
	(void)state;
	begin(FRAMES);
	frames_come(320);
	burst_with(32, 7, of(DP_FAULT_DUPLICATE, 77));
	assert_int_equal(group.word, 1);
	assert_int_equal(rx->told[DP_FAULT_DUPLICATE], 1);
	frames_come(FRAMES / 4 - 32);
	assert_null(rx->frozen);
	frames_come(64);
	assert_non_null(rx->frozen);
	assert_int_equal(group.word, 2);
	const struct recorder_ring *r = rx->frozen;
	assert_int_equal(r->epoch, 2);
	assert_int_equal(r->nfaults, 1);
	assert_int_equal(r->fault[0].at, 327);
	assert_int_equal(r->fault[0].seq, 77);
	check_bytes(r->data + 327ul * r->stride, 60, 327);
	assert_true(r->count >= 327 + FRAMES / 4 && r->count <= 327 + FRAMES / 4 + 64);
	/* the sender's queue follows when it next looks, or sends */
	assert_null(tx->frozen);
	recorder_look(tx, now);
	assert_non_null(tx->frozen);
	assert_int_equal(tx->frozen->epoch, 2);
	/* until control opens the recorder again, faults are counted as unwritten */
	group.why = RECORDER_RATE;
	burst_with(32, 3, of(DP_FAULT_CORRUPT, 5));
	assert_int_equal(group.word, 2);
	assert_int_equal(rx->unwritten[RECORDER_RATE], 1);
	group.open = 2;
	rx->spare = rx->frozen;
	tx->spare = tx->frozen;
	rx->frozen = tx->frozen = NULL;
	burst_with(32, 3, of(DP_FAULT_CORRUPT, 6));
	assert_int_equal(group.word, 3);
	recorder_look(rx, now + QUIET); /* no frame comes any more */
	assert_int_equal(group.word, 4);
	assert_non_null(rx->frozen);
	assert_int_equal(rx->frozen->nfaults, 1);
	assert_int_equal(rx->frozen->fault[0].seq, 6);
	assert_int_equal(told_all(rx), 1 + unwritten_all(rx) + 1);
	end();
}

/* A missing number is a loss when an eighth of the ring has come without it, and the rings go when
 * a quarter has come. If it comes before, nothing was lost. */
static void test_gaps(void **state)
{
	(void)state;
	begin(FRAMES);
	group.kinds = DP_FAULT_BIT(LOSS);
	frames_come(64);
	burst_with(32, 4, loss(100, 2));
	burst_with(32, 4, of(DP_FAULT_REORDER, 98));
	burst_with(32, 4, of(DP_FAULT_REORDER, 99));
	frames_come(FRAMES);
	assert_int_equal(group.word, 0);
	assert_int_equal(told_all(rx), 0);
	uint64_t at = rx->ring->count + 4;
	burst_with(32, 4, loss(200, 2));
	burst_with(32, 4, of(DP_FAULT_REORDER, 198)); /* the other one does not come */
	frames_come(FRAMES / 8 - 64);
	assert_int_equal(told_all(rx), 0);
	frames_come(64);
	assert_int_equal(rx->told[DP_FAULT_LOSS], 1);
	assert_int_equal(group.word, 1);
	frames_come(FRAMES / 8 + 32);
	assert_int_equal(group.word, 2);
	assert_non_null(rx->frozen);
	assert_int_equal(rx->frozen->fault[0].at, at);
	assert_int_equal(rx->frozen->fault[0].missing, 2);
	end();

	/* silence settles it too, and a corrupt frame fills a gap like any other */
	begin(FRAMES);
	burst_with(32, 4, loss(100, 1));
	burst_with(32, 4, loss(110, 1));
	burst_with(32, 4, of(DP_FAULT_CORRUPT, 109));
	assert_int_equal(told_all(rx), 1);
	recorder_look(rx, now + QUIET - 1);
	assert_int_equal(rx->told[DP_FAULT_LOSS], 0);
	recorder_look(rx, now + QUIET);
	assert_int_equal(rx->told[DP_FAULT_LOSS], 1);
	assert_int_equal(rx->frozen->nfaults, 2);
	end();
}

/* Numbers that were missed shortly before the rings go may still come, and are settled in the next
 * ring; older ones are lost. */
static void test_gaps_at_the_end(void **state)
{
	(void)state;
	begin(FRAMES);
	burst_with(32, 0, of(DP_FAULT_DUPLICATE, 1));
	frames_come(FRAMES / 4 - 32 - 96);
	burst_with(32, 0, loss(50, 1));
	frames_come(32);
	burst_with(32, 31, loss(60, 1));
	burst_with(32, UINT32_MAX, of(DP_FAULT_REORDER, 0));
	frames_come(32);
	assert_non_null(rx->frozen);
	assert_int_equal(rx->frozen->nfaults, 2);
	assert_int_equal(rx->frozen->fault[1].seq, 50);
	assert_int_equal(rx->ngaps, 1);
	burst_with(32, 5, of(DP_FAULT_REORDER, 59));
	frames_come(FRAMES);
	assert_int_equal(rx->told[DP_FAULT_LOSS], 1);
	assert_int_equal(rx->unwritten[RECORDER_BUSY], 1); /* that it was reordered */
	end();
}

/* More faults than a ring can note, more gaps than are remembered: each is counted once. */
static void test_many(void **state)
{
	(void)state;
	begin(1u << 16);
	for (uint32_t i = 0; i < RECORDER_FAULTS + 100; i++)
		burst_with(1, 0, of(DP_FAULT_DUPLICATE, i));
	assert_int_equal(rx->ring->nfaults, RECORDER_FAULTS);
	assert_int_equal(rx->unwritten[RECORDER_FULL], 100);
	for (uint32_t i = 0; i < RECORDER_GAPS + 10; i++)
		burst_with(1, 0, loss(100000 + 2 * i, 1));
	assert_int_equal(rx->told[DP_FAULT_LOSS], 10);
	recorder_look(rx, now + QUIET);
	assert_int_equal(rx->told[DP_FAULT_LOSS], RECORDER_GAPS + 10);
	assert_int_equal(told_all(rx), RECORDER_FAULTS + unwritten_all(rx));
	end();
}

/* Kinds that are not asked for are not told, and gaps of flows that come on several queues are no
 * losses. */
static void test_kinds(void **state)
{
	struct dp_fault f = loss(100, 1);

	(void)state;
	begin(FRAMES);
	group.kinds = DP_FAULT_BIT(LOSS);
	burst_with(32, 0, of(DP_FAULT_DUPLICATE, 1));
	burst_with(32, 0, of(DP_FAULT_LATENCY, 1));
	assert_int_equal(told_all(rx), 0);
	rx->several = true;
	f.numbers = 1000;
	f.came = 500;
	burst_with(32, 0, f);
	assert_int_equal(rx->spread, 1);
	f.came = 990;
	burst_with(32, 0, f);
	recorder_look(rx, now + QUIET);
	assert_int_equal(told_all(rx), 1);
	assert_int_equal(rx->spread, 1);
	end();
}

/* A queue without faults of its own keeps what it had at the time of the fault: when half of its
 * ring has come since, all rings go. Without a spare ring, it begins anew. */
static void test_members(void **state)
{
	struct rte_mbuf *m[32];

	(void)state;
	begin(FRAMES);
	burst_with(32, 0, of(DP_FAULT_DUPLICATE, 1));
	for (unsigned i = 0; i < FRAMES / 2 / 32 + 2; i++) {
		for (unsigned k = 0; k < 32; k++)
			m[k] = frame_of(k, 60);
		recorder_offered(tx, m, 32);
		recorder_taken(tx, 32);
		rte_pktmbuf_free_bulk(m, 32);
	}
	assert_int_equal(group.word, 2);
	assert_non_null(tx->frozen);
	assert_true(tx->frozen->count >= FRAMES / 2);
	assert_null(rx->frozen);
	ring_free(rx->spare);
	rx->spare = NULL;
	burst_with(32, 32, (struct dp_fault){0});
	assert_null(rx->frozen);
	assert_int_equal(rx->ring->count, 32);
	assert_int_equal(rx->ring->nfaults, 0);
	assert_int_equal(told_all(rx), unwritten_all(rx));
	end();
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ring),   cmocka_unit_test(test_odd_buffers),
		cmocka_unit_test(test_taken),  cmocka_unit_test(test_freeze),
		cmocka_unit_test(test_gaps),   cmocka_unit_test(test_gaps_at_the_end),
		cmocka_unit_test(test_many),   cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_members)};
	int rc = eal_or_skip(argv[argc - 1]);

	if (rc != 0)
		return rc;
	any_seed = (unsigned)test_seed();
	pool = pool_of(2000);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
