/* SPDX-License-Identifier: BSD-3-Clause */
/* What receivers of probes tell a watcher: each fault once, with the frame that shows it, whether
 * frames are counted one by one or in batches. A model of plain arrays knows what is wrong. */
#include "prx_frames.h"
#include "prx_own.h"

#define FLOWS 3
#define FRAMES 20000
#define LATE 5000 /* cycles */
#define USUAL 1000
#define GAP 20000 /* cycles between bursts */

static struct rte_mempool *pool;
static const struct {
	uint8_t port, stream, queue;
} flow_of[FLOWS] = {{0, 0, 0}, {0, 1, 1}, {2, 0, 0}};
static const struct prx_spec spec = {
	.nports = 3,
	.of = {{2, 2}, {0, 0}, {1, 1}},
	.window_blocks = 16,
	.holes = 64,
	.hz = 2000000000,
	.ns_mult = NS_MULT,
};

/* What came, in the order in which it came. */
struct sent {
	uint32_t seq;
	uint8_t flow;
	bool corrupt, damaged;
	uint64_t transit;
};
static struct sent sent[2 * FRAMES];
static unsigned nsent;

/* What was told, and of it what the model expects at each frame. */
struct told {
	uint64_t n[DP_FAULTS], missing;
	struct rte_mbuf *const *m;
	unsigned first; /* index in sent[] of m[0] */
	unsigned count;
	uint64_t since;                              /* of the newest LOSS */
	uint64_t at[DP_FAULTS][2 * FRAMES / 64 + 1]; /* a bit for each frame that was told of */
	uint32_t gap[2 * FRAMES];
};

static void on_fault(void *state, const struct dp_fault *f)
{
	struct told *t = state;
	unsigned i = 0;

	while (i < t->count && t->m[i] != f->m)
		i++;
	assert_true(i < t->count);
	const struct sent *s = &sent[t->first + i];
	uint64_t bit = 1ull << (t->first + i) % 64, *at = &t->at[f->kind][(t->first + i) / 64];
	assert_int_equal(f->known, !s->damaged);
	if (f->known) {
		assert_int_equal(f->seq, s->seq);
		assert_int_equal(f->port, flow_of[s->flow].port);
		assert_int_equal(f->stream, flow_of[s->flow].stream);
		assert_int_equal(f->txq, flow_of[s->flow].queue);
	}
	assert_int_equal(*at & bit, 0); /* each fault once */
	*at |= bit;
	t->n[f->kind]++;
	if (f->kind == DP_FAULT_LOSS) {
		assert_int_equal(f->expected + f->missing, f->seq);
		t->gap[t->first + i] = f->missing;
		t->missing += f->missing;
		t->since = f->since;
	}
	if (f->kind == DP_FAULT_LATENCY)
		assert_int_equal(f->transit, s->transit);
}

static bool was_told(const struct told *t, enum dp_fault_kind kind, unsigned i)
{
	return (t->at[kind][i / 64] >> i % 64 & 1) != 0;
}

/* Makes what comes. share: of 1000 frames, how many have each fault. */
static void make(unsigned share)
{
	uint32_t seq[FLOWS] = {0, 0xfffffff0u, 77};

	nsent = 0;
	for (unsigned i = 0; i < FRAMES; i++) {
		unsigned flow = i / 64 % 2 == 0 ? any(FLOWS) : 0;
		struct sent s = {.flow = (uint8_t)flow, .seq = seq[flow]++, .transit = USUAL};
		if (any(1000) < share && i > 100)
			continue;
		if (any(1000) < share)
			s.transit = LATE + 1 + any(100);
		s.corrupt = any(1000) < share && i > 100;
		s.damaged = !s.corrupt && any(1000) < share && i > 100;
		sent[nsent++] = s;
		if (any(1000) < share && !s.damaged)
			sent[nsent++] = s;
		if (any(1000) < share && nsent > 10) { /* it overtakes the one before */
			struct sent t = sent[nsent - 1];
			sent[nsent - 1] = sent[nsent - 2];
			sent[nsent - 2] = t;
		}
	}
}

static void receive(struct prx *x, struct told *t, unsigned burst)
{
	struct rte_mbuf *m[DP_BURST_MAX];
	uint64_t now = 1ull << 37;

	for (unsigned i = 0, n; i < nsent; i += n) {
		n = RTE_MIN(burst, nsent - i);
		now += GAP;
		for (unsigned k = 0; k < n; k++) {
			const struct sent *s = &sent[i + k];
			m[k] = rte_pktmbuf_alloc(pool);
			assert_non_null(m[k]);
			uint8_t *p = (uint8_t *)rte_pktmbuf_append(m[k], PRX_LEN);
			put_frame(p, s->seq, flow_of[s->flow].port, flow_of[s->flow].queue,
				  flow_of[s->flow].stream, now - s->transit, 0);
			if (s->corrupt)
				m[k]->ol_flags |= RTE_MBUF_F_RX_L4_CKSUM_BAD;
			if (s->damaged)
				p[PRX_AT + 3] ^= 1;
		}
		t->m = m;
		t->first = i;
		t->count = n;
		prx_burst(x, m, n, now);
		rte_pktmbuf_free_bulk(m, n);
	}
}

/* Goes through what came in a plain way. */
static void compare(const struct told *t, uint32_t kinds)
{
	static uint8_t seen[FLOWS][1 << 17];
	uint64_t next[FLOWS] = {0};

	memset(seen, 0, sizeof(seen));
	for (unsigned i = 0; i < nsent; i++) {
		const struct sent *s = &sent[i];
		/* numbers of the second flow wrap: those behind lie above those before */
		uint64_t no = (uint32_t)(s->seq + 64) + 1ull, gap = 0;
		bool want[DP_FAULTS] = {false};
		if (s->damaged) {
			want[DP_FAULT_CORRUPT] = true;
		} else {
			gap = next[s->flow] != 0 && no > next[s->flow] ? no - next[s->flow] : 0;
			want[DP_FAULT_LOSS] = gap > 0;
			want[DP_FAULT_DUPLICATE] = seen[s->flow][no] != 0;
			want[DP_FAULT_CORRUPT] = s->corrupt && !seen[s->flow][no];
			want[DP_FAULT_REORDER] =
				!s->corrupt && !seen[s->flow][no] && no < next[s->flow];
			want[DP_FAULT_LATENCY] = !s->corrupt && s->transit > LATE;
			next[s->flow] = RTE_MAX(next[s->flow], no + 1);
			seen[s->flow][no] = 1;
		}
		for (unsigned k = 0; k < DP_FAULTS; k++)
			assert_int_equal(was_told(t, (enum dp_fault_kind)k, i),
					 want[k] && (kinds >> k & 1) != 0);
		if ((kinds & DP_FAULT_BIT(LOSS)) != 0)
			assert_int_equal(t->gap[i], gap);
	}
}

static void test_told(void **state)
{
	static struct told t;
	const uint32_t all = (1u << DP_FAULTS) - 1;
	static const unsigned shares[] = {0, 1, 20, 300};
	static const unsigned bursts[] = {1, 32, 64, 200};

	(void)state;
	for (unsigned turn = 0; turn < 4 * 4 * 3; turn++) {
		uint32_t kinds = turn % 5 == 4 ? any(all + 1) : all;
		struct dp_watcher w = {kinds, LATE, on_fault, &t};
		struct prx *x = prx_new(&spec), *y = prx_new(&spec);
		x->ops = y->ops = ops_of(turn / 16);
		make(shares[turn % 4]);
		memset(&t, 0, sizeof(t));
		prx_set_watcher(x, &w);
		receive(x, &t, bursts[turn / 4 % 4]);
		compare(&t, kinds);
		if (shares[turn % 4] == 0)
			assert_int_equal(t.n[DP_FAULT_LOSS] + t.n[DP_FAULT_CORRUPT], 0);
		if (shares[turn % 4] >= 20 && kinds == all)
			for (unsigned k = 0; k < DP_FAULTS; k++)
				assert_true(t.n[k] > 0);
		/* watching changes nothing that is counted, and ends */
		receive(y, &t, bursts[turn / 4 % 4]);
		for (unsigned i = 0; i < FLOWS; i++) {
			const struct prx_flow *f = prx_flow(x, flow_of[i].port, flow_of[i].stream,
							    flow_of[i].queue),
					      *g = prx_flow(y, flow_of[i].port, flow_of[i].stream,
							    flow_of[i].queue);
			assert_memory_equal(f, g, sizeof(*f));
		}
		uint64_t before = t.n[DP_FAULT_LOSS];
		prx_set_watcher(x, NULL);
		receive(x, &t, 32);
		assert_int_equal(t.n[DP_FAULT_LOSS], before);
		free(x);
		free(y);
	}
}

/* A reordered number was first told as missing, and then when it comes. How long ago the frame
 * before came is told too. */
static void test_times(void **state)
{
	static struct told t;
	const struct dp_watcher w = {(1u << DP_FAULTS) - 1, UINT64_MAX, on_fault, &t};
	struct prx *x = prx_new(&spec);
	const struct sent frames[] = {{.seq = 5}, {.seq = 6}, {.seq = 9}, {.seq = 7}, {.seq = 7}};

	(void)state;
	memset(&t, 0, sizeof(t));
	memcpy(sent, frames, sizeof(frames));
	nsent = ARRAY_SIZE(frames);
	prx_set_watcher(x, &w);
	receive(x, &t, 1);
	assert_int_equal(t.n[DP_FAULT_LOSS], 1);
	assert_int_equal(t.gap[2], 2);
	assert_int_equal(t.since, GAP);
	assert_true(was_told(&t, DP_FAULT_REORDER, 3));
	assert_true(was_told(&t, DP_FAULT_DUPLICATE, 4));
	assert_int_equal(t.n[DP_FAULT_LATENCY], 0);
	free(x);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_told),
					   cmocka_unit_test(test_times)};
	int rc = eal_or_skip(argv[argc - 1]);

	if (rc != 0)
		return rc;
	any_seed = (unsigned)test_seed();
	pool = pool_of(1000);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
