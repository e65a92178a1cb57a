/* SPDX-License-Identifier: BSD-3-Clause */
/* Kind gen and time: each frame at its deadline, rates that change, runs that end; by a clock of the test's own where the cycle matters. */
#include "dp_model.h"

#define HZ ((double)rte_get_tsc_hz())

/* Frames that went since the last look, all queues. */
static unsigned gone(struct world *x)
{
	static uint64_t before;
	uint64_t now = TOTAL(x, packets), n = now - before;

	before = now;
	return (unsigned)n;
}

static void to(struct world *x, uint64_t now)
{
	x->now = now;
	poll_at(x);
}

/* Each frame goes on the cycle that it is due, not one before. */
static void test_exact(void **state)
{
	static const struct pace_period periods[] = {{.cycles = 1000}, {.cycles = 672, .frac = 0x5555555555555555}, {.frac = 1ull << 62}};

	(void)state;
	for (unsigned nq = 1; nq <= 3; nq++)
		for (unsigned p = 0; p < ARRAY_SIZE(periods); p++) {
			struct world *x = world_new(nq, 2047);
			uint64_t t0 = x->job.start_tsc = x->now = 1000000;
			struct pace pace = {.period = periods[p], .t0 = t0};
			x->group[0].period = periods[p];
			adopt_at(x);
			gone(x);
			for (unsigned k = 0; k < 300;) {
				uint64_t due = pace_due(&pace, k);
				unsigned n = 1;
				while (pace_due(&pace, k + n) == due)
					n++;
				to(x, due - 1);
				assert_int_equal(gone(x), 0);
				to(x, due);
				assert_int_equal(gone(x), n);
				k += n;
			}
			world_free(x);
		}
}

/* Slow rates change between two frames: what is left of the wait is scaled, however often. */
static void test_rate_between_frames(void **state)
{
	struct world *x = world_new(3, 127);
	uint64_t at = 1000000, wait;

	(void)state;
	x->job.start_tsc = x->now = at;
	x->group[0].period = (struct pace_period){.cycles = 300000};
	adopt_at(x);
	poll_at(x);
	gone(x);
	wait = 300000; /* of queue 1; queue 2 waits for one period more */
	for (unsigned round = 0; round < 30; round++) {
		uint64_t was = x->group[0].period.cycles, next = 1000 + any(10000000), pass = 1 + any((unsigned)(wait / 2));
		to(x, x->now + pass);
		assert_int_equal(gone(x), 0);
		x->group[0].period.cycles = next;
		adopt_at(x);
		wait = (uint64_t)((long double)(wait - pass) * next / was);
		if (wait < 1000)
			break;
		to(x, x->now);
		assert_int_equal(gone(x), 0);
	}
	x->now += wait - 40;
	to(x, x->now);
	assert_int_equal(gone(x), 0);
	to(x, x->now + 80);
	assert_int_equal(gone(x), 1);
	assert_int_equal(fake[1].frames, 1); /* queues keep their order */
	to(x, x->now + x->group[0].period.cycles - 160);
	assert_int_equal(gone(x), 0);
	to(x, x->now + 160);
	assert_int_equal(gone(x), 1);
	assert_int_equal(fake[2].frames, 1);
	world_free(x);
}

/* A rate far above the one before brings no burst: only frames that the new rate makes due since the change. A lag is not carried over. */
static void test_rate_up_no_burst(void **state)
{
	struct world *x = world_new(1, 4095);

	(void)state;
	x->job.start_tsc = x->now = 1000000;
	x->job.forgive_cycles = 10000;
	x->group[0].period.cycles = 100000;
	adopt_at(x);
	poll_at(x);
	to(x, x->now + 50000);
	assert_int_equal(TOTAL(x, packets), 1);
	x->group[0].period.cycles = 100; /* half of the wait is left: 50 cycles */
	adopt_at(x);
	to(x, x->now + 48);
	assert_int_equal(TOTAL(x, packets), 1);
	to(x, x->now + 2);
	assert_int_equal(TOTAL(x, packets), 2);
	to(x, x->now + 1000);
	assert_int_equal(TOTAL(x, packets), 12);
	x->now += 5000; /* 50 frames late, which scheduling explains: they are sent */
	x->group[0].period.cycles = 1000;
	adopt_at(x);
	poll_at(x);
	assert_int_equal(TOTAL(x, packets), 12 + 5);
	x->now += 1000000; /* a debt */
	x->group[0].period.cycles = 100;
	adopt_at(x);
	poll_at(x);
	assert_int_equal(TOTAL(x, packets), 12 + 5 + 1);
	world_free(x);
}

/* From "as fast as possible" to a rate: queues take their turns from the moment of the change. */
static void test_rate_from_max(void **state)
{
	for (unsigned bytes = 0; bytes < 2; bytes++) {
		struct world *x = world_new(3, 1000);

		(void)state;
		x->job.start_tsc = x->now = 1000;
		x->group[0].limit = 3000;
		adopt_at(x);
		for (unsigned q = 0; q < 3; q++)
			for (unsigned i = 0; i < 5; i++)
				dp_kind_gen.poll(x->w, &x->w->plan->task[q], x->now);
		x->group[0].by_bytes = bytes > 0;
		x->group[0].period.cycles = bytes > 0 ? 100 : 8400;
		adopt_at(x);
		gone(x);
		for (unsigned k = 0; k < 20; k++) {
			uint64_t frames = fake[k % 3].frames;
			to(x, 1000 + k * 8400 - (k > 0));
			assert_int_equal(gone(x), k == 0);
			to(x, 1000 + k * 8400);
			assert_int_equal(gone(x), k > 0);
			assert_int_equal(fake[k % 3].frames, frames + 1);
		}
		world_free(x);
	}
}

/* ---- by the real one ---- */

static void test_deadlines(void **state)
{
	(void)state;
	for (unsigned nq = 1; nq <= 3; nq++) {
		struct world *x = world_new(nq, 1500);
		struct pace pace = {.period = pace_period(HZ, 2e6)};
		x->group[0].period = pace.period;
		pace.t0 = x->job.start_tsc = rte_rdtsc() + (uint64_t)(HZ / 5); /* far enough for a slow machine to have the plan before */
		x->group[0].limit = 10001;
		for (unsigned q = 0; q < nq; q++)
			fake[q].take = TAKE_RANDOM;
		adopt_now(x);
		assert_int_equal(TOTAL(x, packets), 0);
		run_to_end(x);
		assert_int_equal(TOTAL(x, packets), 10001);
		for (unsigned q = 0; q < nq; q++)
			assert_true(x->gen[q]->last_tsc >= pace_due(&pace, 10000 - nq));
		world_free(x);
	}
}

/* Frames whose deadline lies before the end, all of them and no other, however late the worker is. */
static void test_timed(void **state)
{
	(void)state;
	for (unsigned nq = 1; nq <= 3; nq++) {
		for (unsigned late = 0; late < 2; late++) {
			struct world *x = world_new(nq, 1500);
			x->group[0].period = (struct pace_period){.cycles = 1000};
			x->job.start_tsc = late ? rte_rdtsc() - 3 * 1000 * 1000 : rte_rdtsc() + 100000;
			x->job.end_tsc = x->job.start_tsc + 1000 * 1000; /* frame 1000 is due at the end, not before it */
			adopt_now(x);
			run_to_end(x);
			assert_int_equal(TOTAL(x, packets), 1000);
			world_free(x);
		}
	}
	struct world *x = world_new(2, 1500); /* max */
	x->job.start_tsc = rte_rdtsc() + (uint64_t)(HZ / 5);
	x->job.end_tsc = x->job.start_tsc + (uint64_t)(HZ / 1000);
	adopt_now(x);
	assert_int_equal(TOTAL(x, packets), 0);
	run_to_end(x);
	assert_true(rte_rdtsc() >= x->job.end_tsc);
	world_free(x);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exact), cmocka_unit_test(test_rate_between_frames), cmocka_unit_test(test_rate_up_no_burst),
		cmocka_unit_test(test_rate_from_max), cmocka_unit_test(test_deadlines), cmocka_unit_test(test_timed),
	};
	int rc = eal_or_skip(argv[argc - 1]);

	return rc != 0 ? rc : cmocka_run_group_tests(tests, NULL, NULL);
}
