/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests kind gen and time: each frame at its deadline, rates that change, runs that end. Where the
 * cycle matters, the clock is the test's own. */
#include "dp_model.h"

#define HZ ((double)rte_get_tsc_hz())

/* Returns how many frames have left since the last look, on all queues. */
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

/* Each frame leaves on the cycle on which it is due, not one before. */
static void test_exact(void **state)
{
	static const struct pace_period periods[] = {{.cycles = 1000},
						     {.cycles = 672, .frac = 0x5555555555555555},
						     {.frac = 1ull << 62}};

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

/* Slow rates change between two frames. What is left of the wait is scaled, however often that
 * happens. */
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
	wait = 300000; /* this is the wait of queue 1; queue 2 waits for one period more */
	for (unsigned round = 0; round < 30; round++) {
		uint64_t was = x->group[0].period.cycles, next = 1000 + any(10000000),
			 pass = 1 + any((unsigned)(wait / 2));
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

/* A rate far above the one before brings no burst: only frames are sent that the new rate makes due
 * since the change. A lag is not carried over. */
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
	x->now += 5000; /* 50 frames are late, which scheduling explains, so they are sent */
	x->group[0].period.cycles = 1000;
	adopt_at(x);
	poll_at(x);
	assert_int_equal(TOTAL(x, packets), 12 + 5);
	x->now += 1000000; /* this is a lag that is not made up for */
	x->group[0].period.cycles = 100;
	adopt_at(x);
	poll_at(x);
	assert_int_equal(TOTAL(x, packets), 12 + 5 + 1);
	world_free(x);
}

/* When the rate changes from "as fast as possible" to a number, queues take their turns from the
 * moment of the change. */
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
		/* This is far enough ahead for a slow machine to have the plan before. */
		pace.t0 = x->job.start_tsc = rte_rdtsc() + (uint64_t)(HZ / 5);
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

/* All frames are sent whose deadline lies before the end, and no others, however late the worker
 * is. */
static void test_timed(void **state)
{
	(void)state;
	for (unsigned nq = 1; nq <= 3; nq++) {
		for (unsigned late = 0; late < 2; late++) {
			struct world *x = world_new(nq, 1500);
			x->group[0].period = (struct pace_period){.cycles = 1000};
			/* However slow sanitizers make it, everything is sent. */
			x->job.grace_cycles = (uint64_t)HZ * 10;
			x->job.start_tsc =
				late ? rte_rdtsc() - 3 * 1000 * 1000 : rte_rdtsc() + 100000;
			/* Frame 1000 is due at the end, not before it. */
			x->job.end_tsc = x->job.start_tsc + 1000 * 1000;
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

/* ---- frames that the device sends at their times ---- */

#define STAMP_AT 0 /* dynfield1 of the mbuf */
#define FLAG (1ull << 40)
#define AHEAD 7000u /* ticks of the device's clock, which runs as ours does */

static struct {
	uint64_t stamp[4000];
	unsigned n;
} carried;

static void note(void *arg, const struct rte_mbuf *m)
{
	assert_true((m->ol_flags & FLAG) != 0 && carried.n < ARRAY_SIZE(carried.stamp));
	memcpy(&carried.stamp[carried.n++], &m->dynfield1[STAMP_AT], sizeof(uint64_t));
	struct rte_mbuf plain = *m;
	plain.ol_flags = 0;
	judge(arg, &plain);
}

static struct world *stamping(unsigned ngroups, uint64_t period)
{
	static struct dp_clock clock;
	struct world *x = world_new(1, 2047);

	clock = (struct dp_clock){.offset = offsetof(struct rte_mbuf, dynfield1) + STAMP_AT * 4,
				  .flag = FLAG};
	dp_clock_set(&clock, &(struct dp_clock_view){.at = AHEAD,
						     .mult = 1ull << DP_CLOCK_SHIFT,
						     .inverse = 1ull << DP_CLOCK_SHIFT});
	probing = false; /* this test looks at when a frame is due */
	x->ngroups = ngroups;
	for (unsigned n = 0; n < ngroups; n++) {
		struct tphase *p = phase_new(x);
		phase_add(p, n, frames_of(x, n, 64, 1, 60000));
		x->group[n] = (struct tgroup){.stream = n == 0 ? -1 : (int)n,
					      .limit = UINT64_MAX,
					      .nphases = 1,
					      .phase = {p}};
		x->group[n].period.cycles = period + 37 * n;
	}
	fake[0].judge = note;
	carried.n = 0;
	x->job.start_tsc = x->now = 1000000;
	x->job.stamp = &clock;
	x->job.lead_cycles = 64 * period;
	return x;
}

/* Lets a new plan come in the middle of bursts of which the device has taken a part. */
static void adopt_amid(struct world *x)
{
	adopt_at(x);
	for (unsigned n = 0; n < x->at[0].n; n++)
		x->at[0].f[n].timed = false; /* they leave before they are due */
}

static void polled(struct world *x, enum fake_take take)
{
	fake[0].take = take;
	dp_kind_gen.poll(x->w, &x->w->plan->task[0], x->now);
}

/* Frames that are built again for a new plan carry their own times, not that of the last one that
 * was built before. */
static void test_stamps_of_tails(void **state)
{
	(void)state;
	for (unsigned ngroups = 1; ngroups <= 2; ngroups++) {
		struct world *x = stamping(ngroups, 1000);
		uint64_t due[2] = {x->job.start_tsc, x->job.start_tsc};
		adopt_amid(x);
		for (unsigned round = 0; round < 60; round++) {
			for (unsigned i = 0; i < 3; i++)
				polled(x, i == 0 ? TAKE_RANDOM : TAKE_NONE);
			x->now += any(40000);
			if (round % 2 != 0)
				adopt_amid(x);
		}
		assert_in_range(carried.n, 100, ARRAY_SIZE(carried.stamp) - 1);
		for (unsigned k = 0; k < carried.n; k++) {
			unsigned g = ngroups > 1 && due[1] < due[0];
			assert_int_equal(carried.stamp[k], due[g] + AHEAD);
			due[g] += x->group[g].period.cycles;
		}
		world_free(x);
	}
}

/* The new plan has another rate. Its frames are a period of that rate apart, and follow what the
 * device has. */
static void test_stamps_of_new_rates(void **state)
{
	struct world *x = stamping(1, 1000);
	uint64_t least = 1000;

	(void)state;
	adopt_amid(x);
	for (unsigned round = 0; round < 60; round++) {
		unsigned had = carried.n > 0 ? carried.n : 1;
		for (unsigned i = 0; i < 3; i++)
			polled(x, i == 0 ? TAKE_RANDOM : TAKE_NONE);
		for (unsigned k = had; k < carried.n; k++)
			if (carried.stamp[k] - carried.stamp[k - 1] < least)
				fail_msg(
					"round %u: frame %u is due %lu cycles after the one before",
					round, k,
					(unsigned long)(carried.stamp[k] - carried.stamp[k - 1]));
		x->now += any(20000);
		uint64_t next = 300 + any(1000);
		least = next < x->group[0].period.cycles ? next : x->group[0].period.cycles;
		x->group[0].period.cycles = next;
		adopt_amid(x);
	}
	assert_in_range(carried.n, 100, ARRAY_SIZE(carried.stamp) - 1);
	world_free(x);
}

/* A tail that a stop throws away was never sent. A run that begins at once has its own times. */
static void test_stamps_after_stop(void **state)
{
	struct world *x = stamping(1, 1000);

	(void)state;
	adopt_amid(x);
	polled(x, TAKE_NONE);
	x->job.stop = true;
	adopt_amid(x);
	x->job.stop = false;
	x->job.run++;
	x->job.lead_cycles = 2000;
	x->job.start_tsc = x->now + 2000;
	adopt_amid(x);
	x->now += 10000;
	polled(x, TAKE_ALL);
	assert_in_range(carried.n, 5, 20);
	for (unsigned k = 0; k < carried.n; k++)
		assert_int_equal(carried.stamp[k], x->job.start_tsc + k * 1000 + AHEAD);
	world_free(x);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exact),
		cmocka_unit_test(test_rate_between_frames),
		cmocka_unit_test(test_rate_up_no_burst),
		cmocka_unit_test(test_rate_from_max),
		cmocka_unit_test(test_deadlines),
		cmocka_unit_test(test_timed),
		cmocka_unit_test(test_stamps_of_tails),
		cmocka_unit_test(test_stamps_of_new_rates),
		cmocka_unit_test(test_stamps_after_stop),
	};
	int rc = eal_or_skip(argv[argc - 1]);

	return rc != 0 ? rc : cmocka_run_group_tests(tests, NULL, NULL);
}
