/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests kind gen where frames are not sent: every slot that was asked for is sent or counted,
 * exactly once. It uses a clock of its own. */
#include "effort.h"
#include "dp_grace.h"
#include "dp_shape_model.h"

/* A lag that a new rate does not take over is not made up for. Its slots are counted. */
static void test_dropped_lag(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 2 * ARRAY_SIZE(patterns) * ARRAY_SIZE(patterns);
	     i += (unsigned)effort(1, 5)) {
		unsigned a = i / 2 % ARRAY_SIZE(patterns), b = i / 2 / ARRAY_SIZE(patterns), n = 0;
		static uint64_t due[3000];
		struct world *x = world_new(1 + i % 2, 4095);
		const struct pattern *p = &patterns[b];
		vary(x);
		shaped(&x->group[0], pattern(a));
		x->job.start_tsc = x->now = T0;
		x->job.lag_cycles = UINT64_MAX / 4;
		x->job.forgive_cycles = 50000;
		all_due(x, &x->group[0], due, ARRAY_SIZE(due));
		adopt_at(x);
		to(x, T0 + 30000);
		uint64_t sent = TOTAL(x, packets);
		x->now = T0 + 700000;
		while (due[n] < x->now)
			n++;
		assert_in_range(n, sent + 10, ARRAY_SIZE(due) - 1);
		shaped(&x->group[0],
		       shape(1, &p->a, p->from * 1.5, p->to * 1.5, p->step, p->over_ns));
		adopt_at(x);
		assert_int_equal(TOTAL(x, unsent), n - sent);
		to(x, x->now);
		assert_in_range(TOTAL(x, packets), sent, sent + 64 * x->nq);
		world_free(x);
	}
}

/* If the schedule ends by counts of streams, no frame is given up; frames go later. */
static void test_lag_of_counts(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 2 * ARRAY_SIZE(patterns); i++) {
		struct world *x = world_new(1 + i % 2, 4095);
		const struct pattern *p = &patterns[i / 2];
		vary(x);
		x->group[0].phase[0]->end = 2000;
		shaped(&x->group[0], pattern(i / 2));
		x->job.start_tsc = x->now = T0;
		x->job.lag_cycles = UINT64_MAX / 4;
		x->job.forgive_cycles = 50000;
		adopt_at(x);
		to(x, T0 + 30000);
		assert_in_range(TOTAL(x, packets), 1, 1000);
		x->now = T0 + 700000;
		shaped(&x->group[0],
		       shape(1, &p->a, p->from * 1.5, p->to * 1.5, p->step, p->over_ns));
		adopt_at(x);
		for (unsigned turn = 0; turn < 100000 && !all_done(x); turn++)
			to(x, x->now + 3000);
		assert_true(all_done(x));
		assert_int_equal(TOTAL(x, packets), 2000);
		assert_int_equal(TOTAL(x, unsent), 0);
		world_free(x);
	}
}

#define WALKED 16384 /* frames of random arrivals that are looked at one by one */

/* The lag is as many frames as are walked through at most, and the next one is not due yet. All of
 * them are counted, and no more. */
static void test_dropped_lag_walked(void **state)
{
	const struct arrival a = {.kind = ARRIVAL_POISSON, .seed = 5};
	static uint64_t due[WALKED + 1000];
	struct world *x = world_new(1, 4095);
	const struct pace_shape *s = shape(0, &a, 1e6, 1e6, 0, 0);
	struct pace_at at = {.slot = 1};

	(void)state;
	vary(x);
	shaped(&x->group[0], s);
	x->job.start_tsc = x->now = T0;
	x->job.lag_cycles = UINT64_MAX / 4;
	x->job.forgive_cycles = 50000;
	for (unsigned k = 0; k < ARRAY_SIZE(due); k++) {
		at.k = k;
		at.x += (pace_pos)pace_poisson_gap(pace_queue_seed(s->seed, 0), k) << 32;
		due[k] = T0 + pace_shape_due(s, &at, k);
	}
	adopt_at(x);
	to(x, T0 + 30000);
	uint64_t sent = TOTAL(x, packets), last = sent + WALKED - 1;
	assert_in_range(sent, 1, ARRAY_SIZE(due) - WALKED - 1);
	x->now = due[last] + 1;
	assert_true(due[last + 1] > x->now); /* this is so with this seed */
	shaped(&x->group[0], shape(1, &a, 2e6, 2e6, 0, 0));
	adopt_at(x);
	assert_int_equal(TOTAL(x, unsent), WALKED);
	world_free(x);
}

/* The device takes nothing for a while or to the end, with every arrival and every policy, and with
 * one group or several. What was asked for is sent or counted as unsent, each frame once. */
static void test_stuck(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 18 * (ARRAY_SIZE(patterns) + 1); i += (unsigned)effort(1, 5)) {
		unsigned policy = i % 3, more = i / 3 % 3;
		/* the device takes nothing to the end; else for a while */
		bool stuck = i / 9 % 2 != 0;
		static uint64_t due[3000];
		struct world *x = world_new(1 + i % 2, 4095);
		struct tphase *a = phase_new(x), *b = phase_new(x);
		uint64_t asked = 0;
		x->gives = true;
		phase_add(a, 1, frames_of(x, 1, 64, 1, 60000));
		phase_add(b, 2, frames_of(x, 2, 128, 1, 60000));
		x->ngroups = 1 + (more > 0);
		x->group[0] = (struct tgroup){.stream = -1,
					      .limit = UINT64_MAX,
					      .nphases = 1,
					      .phase = {a}};
		x->group[1] = (struct tgroup){.stream = 2,
					      .limit = UINT64_MAX,
					      .nphases = 1,
					      .phase = {b}};
		/* this one has no shape */
		bool plain = i / 18 == ARRAY_SIZE(patterns) && policy != GEN_SKIP;
		shaped(&x->group[0], pattern(i / 18 % ARRAY_SIZE(patterns)));
		shaped(&x->group[1], shape(1, &patterns[more].a, 3e5, 3e5, 0, 0));
		x->job.start_tsc = x->now = T0;
		x->job.end_tsc = T0 + 1000000;
		x->job.catchup = policy;
		x->job.lag_cycles = 15000;
		x->job.slower = (uint64_t)(0x1p64 * 100 / 110);
		x->job.grace_cycles = 100000;
		for (unsigned g = 0; g < x->ngroups; g++) {
			all_due(x, &x->group[g], due, ARRAY_SIZE(due));
			for (unsigned k = 0; due[k] < x->job.end_tsc; k++)
				asked++;
		}
		x->group[0].shape = plain ? NULL : x->group[0].shape;
		x->group[1].shape = plain && more == 0 ? NULL : x->group[1].shape;
		adopt_at(x);
		for (unsigned turn = 0; turn < 100000 && !all_done(x); turn++) {
			for (unsigned q = 0; q < x->nq; q++)
				fake[q].take =
					x->now - T0 < 200000 || (!stuck && x->now - T0 > 400000)
						? TAKE_RANDOM
						: TAKE_NONE;
			to(x, x->now + any(turn % 50 == 49 ? 120000 : 3000));
		}
		assert_true(all_done(x));
		assert_true(stuck || policy != GEN_KEEP
				    ? TOTAL(x, unsent) > 0 || policy == GEN_OVERSPEED
				    : TOTAL(x, unsent) == 0);
		if (TOTAL(x, packets) + TOTAL(x, unsent) != asked || TOTAL(x, dropped) != 0)
			fail_msg(
				"pattern %u, %u more, policy %u: %lu asked, %lu sent, %lu dropped, %lu unsent",
				i / 18, more, policy, (unsigned long)asked,
				(unsigned long)TOTAL(x, packets), (unsigned long)TOTAL(x, dropped),
				(unsigned long)TOTAL(x, unsent));
		world_free(x);
	}
}

/* Most frames that are looked at one by one in a turn, because other queues of the worker wait
 * meanwhile. */
#define PER_TURN 1024

/* Sends groups with random arrivals on a device that takes nothing to the end of the run and
 * through its grace time. Returns how many frames were asked for. */
static uint64_t stuck(struct world *x, unsigned ngroups, uint64_t each)
{
	const struct arrival a = {.kind = ARRIVAL_POISSON, .seed = 5};

	x->ngroups = ngroups;
	for (unsigned n = 0; n < ngroups; n++) {
		struct tphase *p = phase_new(x);
		phase_add(p, n, frames_of(x, n, 64, 1, 60000));
		x->group[n] = (struct tgroup){.stream = n == 0 ? -1 : (int)n,
					      .limit = each,
					      .nphases = 1,
					      .phase = {p}};
		shaped(&x->group[n], shape(0, &a, 1e6, 1e6, 0, 0));
	}
	x->job.start_tsc = x->now = T0;
	x->job.end_tsc = T0 + 2000 * each;
	fake[0].take = TAKE_NONE;
	adopt_at(x);
	to(x, T0 + 100000);
	to_last_grace(x);
	return ngroups * each;
}

/* Turns the worker so many times, or to the end of the run. No frame counts as unsent before all
 * are counted. Returns the number of turns. */
static unsigned turned(struct world *x, unsigned most)
{
	unsigned n = 0;

	while (n < most && gen_is_on(x->gen[0])) {
		assert_int_equal(TOTAL(x, unsent), 0);
		dp_kind_gen.poll(x->w, &x->w->plan->task[0], x->now);
		n++;
	}
	return n;
}

/* Random arrivals that a device has not taken for very long are walked through in parts, those of
 * many groups as well as those of one. */
static void test_stuck_for_long(void **state)
{
	static const struct {
		unsigned ngroups;
		uint64_t each;
	} way[] = {{1, 1000000}, {32, 15000}};

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(way); i++) {
		struct world *x = world_new(1, 4095);
		uint64_t asked = stuck(x, way[i].ngroups, way[i].each);
		unsigned n = turned(x, 100000);
		assert_true(all_done(x));
		assert_int_equal(TOTAL(x, dropped) + TOTAL(x, unsent), asked);
		assert_in_range(n, asked / PER_TURN, 5000);
		world_free(x);
	}
}

/* A stop or another plan comes while such frames are counted. Each of them still counts, once. */
static void test_stuck_and_changed(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 12; i++) {
		struct world *x = world_new(1, 4095);
		uint64_t asked = stuck(x, 1 + i % 2, 40000);
		turned(x, 2 + any(30));
		assert_true(gen_is_on(x->gen[0]));
		bool stop = i / 2 % 3 != 0, other = i / 2 % 3 != 1;
		if (other) {
			x->job.burst = 16;
			adopt_at(x);
			turned(x, i < 6 ? 0 : any(20)); /* the next one may come at once */
		}
		if (stop) {
			x->job.stop = true;
			adopt_at(x);
		}
		turned(x, 100000);
		assert_true(all_done(x));
		assert_int_equal(TOTAL(x, dropped) + TOTAL(x, unsent), asked);
		assert_int_equal(TOTAL(x, packets), 0);
		world_free(x);
	}
}

/* Random arrivals that are too late are given up in parts, and none of them is sent between two
 * parts. */
static void test_given_up_in_parts(void **state)
{
	const struct arrival a = {.kind = ARRIVAL_POISSON, .seed = 5};
	const unsigned late = 12000;
	struct world *x = world_new(1, 4095);
	const struct pace_shape *s = shape(0, &a, 1e6, 1e6, 0, 0);
	struct pace_at at = {.slot = 1};
	uint64_t sent, given = 0, asked = 0;

	(void)state;
	vary(x);
	shaped(&x->group[0], s);
	x->job.start_tsc = x->now = T0;
	x->job.catchup = GEN_SKIP;
	x->job.lag_cycles = 15000;
	adopt_at(x);
	to(x, T0 + 14000);
	sent = TOTAL(x, packets);
	assert_true(sent > 0 && TOTAL(x, unsent) == 0);
	x->now = T0 + late * 1000;
	for (unsigned k = 0; k < 2 * late; k++) {
		at.k = k;
		at.x += (pace_pos)pace_poisson_gap(pace_queue_seed(s->seed, 0), k) << 32;
		asked += T0 + pace_shape_due(s, &at, k) < x->now - x->job.lag_cycles;
	}
	assert_in_range(asked, late / 2, 2 * late - 1);
	while (TOTAL(x, packets) == sent) {
		dp_kind_gen.poll(x->w, &x->w->plan->task[0], x->now);
		assert_in_range(TOTAL(x, unsent) - given, 0, PER_TURN);
		given = TOTAL(x, unsent);
	}
	assert_int_equal(given, asked - sent);
	world_free(x);
}

/* A new rate after the end of the run drops what is left until the end, but not what would have
 * come after it. */
static void test_dropped_behind_end(void **state)
{
	struct world *x = world_new(1, 4095);

	(void)state;
	x->group[0].period.cycles = 1000;
	x->job.start_tsc = x->now = T0;
	x->job.end_tsc = T0 + 500000;
	x->job.grace_cycles = x->job.forgive_cycles = 50000;
	fake[0].take = TAKE_NONE;
	adopt_at(x);
	to(x, T0 + 200000);
	x->now = x->job.end_tsc + 40000;
	x->group[0].period.cycles = 500;
	adopt_at(x);
	to(x, x->now);
	to(x, x->now + 500000);
	assert_true(all_done(x));
	assert_int_equal(TOTAL(x, dropped) + TOTAL(x, unsent), 500);
	world_free(x);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_dropped_lag),
		cmocka_unit_test(test_lag_of_counts),
		cmocka_unit_test(test_dropped_lag_walked),
		cmocka_unit_test(test_stuck),
		cmocka_unit_test(test_stuck_for_long),
		cmocka_unit_test(test_stuck_and_changed),
		cmocka_unit_test(test_given_up_in_parts),
		cmocka_unit_test(test_dropped_behind_end),
	};
	int rc = eal_or_skip(argv[argc - 1]);

	return rc != 0 ? rc : cmocka_run_group_tests(tests, NULL, NULL);
}
