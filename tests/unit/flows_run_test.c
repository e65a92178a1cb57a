/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests what workers do for the work flows: connections are opened at their times, none is lost
 * whatever devices do, runs end as they are told to, and nothing is left. */
#include "flows_world.h"

static struct flows_state_of *of(unsigned end, unsigned flow)
{
	return &x.end[end].f[flow]->state;
}

static bool is_syn(const struct rte_mbuf *m)
{
	return (rte_pktmbuf_mtod(m, const uint8_t *)[47] & 0x12) == 2;
}

static void pace_of(unsigned flow, double per_s)
{
	x.end[0].flow[flow].cps.period = pace_period((double)HZ, per_s);
}

/* ---- times ---- */

/* Times of turns in which SYNs left, and of the turns before. */
#define SYNS 20000
static struct {
	uint64_t at[SYNS], before[SYNS], turn, last;
	unsigned n;
} syn;

static void syn_seen(const struct rte_mbuf *m)
{
	if (!is_syn(m))
		return;
	assert_in_range(syn.n, 0, SYNS - 1);
	syn.before[syn.n] = syn.last;
	syn.at[syn.n++] = x.now;
}

static void run_timed(uint64_t until)
{
	while (x.now < until) {
		syn.turn = x.now;
		world_turn();
		syn.last = syn.turn;
	}
}

/* The newest flow of a world with one, after its run: each open came in the first turn behind its
 * time. */
static void times_are(const struct pace_period *p, uint64_t t0, uint32_t first, uint32_t step,
		      unsigned n)
{
	const struct pace even = {.period = *p, .t0 = t0};

	assert_int_equal(syn.n, n);
	for (unsigned i = 0; i < n; i++) {
		uint64_t due = pace_due(&even, first + (uint64_t)i * step);

		assert_true(syn.before[i] < due && syn.at[i] >= due);
	}
}

static void test_times(void **state)
{
	(void)state;
	for (unsigned part = 0; part < 3; part++) {
		world_new(1, 2047, 10000);
		memset(&syn, 0, sizeof(syn));
		x.end[0].pipe.seen = syn_seen;
		struct flows_flow *f = &x.end[0].flow[0];
		f->start_tsc = f->cps.start_tsc = x.now + 3 * MS;
		f->end_tsc = f->start_tsc + 500 * MS;
		pace_of(0, 7000);
		f->cps.first = part % 2;
		f->cps.step = part + 1;
		world_start(1);
		syn.last = x.now;
		assert_int_equal(world_stage(0, 0), FLOWS_RUNNING);
		run_timed(f->end_tsc + 10 * MS);
		assert_int_equal(world_stage(0, 0), FLOWS_DONE);
		times_are(&f->cps.period, f->start_tsc, f->cps.first, part + 1,
			  part == 0   ? 3500
			  : part == 1 ? 1750
				      : 1167);
		assert_int_equal(of(0, 0)->due, syn.n);
		assert_int_equal(of(0, 0)->done, syn.n);
		assert_int_equal(of(0, 0)->late, 0);
		assert_true(of(0, 0)->late_max_ns < 3000);
		assert_int_equal(of(0, 0)->counts.closed, syn.n);
		assert_int_equal(of(0, 0)->transactions.done, syn.n);
		assert_int_equal(of(1, 0)->counts.closed, syn.n);
		assert_int_equal(of(1, 0)->transactions.done, syn.n);
		assert_true(of(0, 0)->drain_tsc >= f->end_tsc);
		world_stop(1);
		world_free();
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_times),
	};
	int rc = eal_or_skip(argv[argc - 1]);

	return rc != 0 ? rc : cmocka_run_group_tests(tests, NULL, NULL);
}
