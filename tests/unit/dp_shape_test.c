/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests kind gen where arrivals are not constant and where frames are late: what leaves when, by a
 * clock of the test's own, is compared with plain models. */
#include "dp_shape_model.h"

/* Makes frames of three sizes in turn, paced by their bytes on the wire; at 1e9 bytes/s a byte
 * takes 1 ns. */
static void mixed(struct world *x)
{
	struct tphase *p = phase_new(x);

	phase_add(p, 0, frames_of(x, 0, 64, 1, 1));
	phase_add(p, 0, frames_of(x, 0, 1500, 1, 1));
	phase_add(p, 0, frames_of(x, 0, 300, 1, 1));
	one_group(x, p)->by_bytes = true;
}

#define FRAMES 400

/* Frames leave on the cycle on which they are due, not one before, whatever the arrival and on any
 * number of queues; and at these rates they leave one by one although a burst may be long. */
static void test_exact(void **state)
{
	static uint64_t due[FRAMES + 512];

	(void)state;
	for (unsigned nq = 1; nq <= 3; nq++)
		for (unsigned i = 0; i < 2 * ARRAY_SIZE(patterns); i++) {
			const struct pattern *p = &patterns[i / 2];
			struct world *x = world_new(nq, 2047);
			if (i % 2 == 1 && p->a.kind == ARRIVAL_POISSON) {
				world_free(x);
				continue;
			}
			/* by bytes, at a rate at which frames come about as fast */
			if (i % 2 == 1) {
				mixed(x);
				shaped(&x->group[0], shape(0, &p->a, p->from * 641, p->to * 641,
							   p->step * 641, p->over_ns));
			} else {
				shaped(&x->group[0], pattern(i / 2));
			}
			x->job.start_tsc = x->now = T0;
			x->job.burst = 512;
			adopt_at(x);
			all_due(x, &x->group[0], due, FRAMES + 512);
			for (unsigned k = 0; k < FRAMES;) {
				unsigned n = 1;
				while (due[k + n] == due[k])
					n++;
				to(x, due[k] - 1);
				assert_int_equal(TOTAL(x, packets), k);
				to(x, due[k]);
				k += n;
				assert_int_equal(TOTAL(x, packets), k);
			}
			assert_int_equal(TOTAL(x, late), 0);
			world_free(x);
		}
}

/* In a bounded time the frames are sent that are due within it. A device that takes as many as it
 * likes gets all of them, each once and in order. */
static void test_all_go(void **state)
{
	static uint64_t due[FRAMES + 512];

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(patterns); i++) {
		struct world *x = world_new(1 + i % 3, 2047);
		unsigned n = 0;
		shaped(&x->group[0], pattern(i));
		x->job.start_tsc = x->now = T0;
		all_due(x, &x->group[0], due, FRAMES + 512);
		x->job.end_tsc = due[FRAMES / 2] + 1;
		while (due[n] < x->job.end_tsc)
			n++;
		for (unsigned q = 0; q < x->nq; q++)
			fake[q].take = TAKE_RANDOM;
		adopt_at(x);
		for (unsigned turn = 0; turn < 1000 && !all_done(x); turn++)
			to(x, x->now + any(10000));
		assert_true(all_done(x));
		assert_int_equal(TOTAL(x, packets), n);
		assert_int_equal(TOTAL(x, unsent), 0);
		world_free(x);
	}
}

/* ---- late ---- */

/* Exactly those frames are given up that are late by more than the limit when the sender looks. The
 * others are sent, and the run ends at its end. */
static void test_skip(void **state)
{
	static uint64_t due[3000];

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(patterns); i++)
		for (unsigned nq = 1; nq <= 3; nq += 2) {
			struct world *x = world_new(nq, 4095);
			uint64_t sent = 0, unsent = 0, end, at = 0, n = 0;
			vary(x);
			shaped(&x->group[0], pattern(i));
			x->job.start_tsc = x->now = T0;
			x->job.catchup = GEN_SKIP;
			x->job.lag_cycles = 15000;
			all_due(x, &x->group[0], due, ARRAY_SIZE(due));
			end = x->job.end_tsc = T0 + 1000000;
			while (n < ARRAY_SIZE(due) && due[n] < end)
				n++;
			assert_in_range(n, 50, ARRAY_SIZE(due) - 1);
			adopt_at(x);
			for (unsigned turn = 0; turn < 100000 && !all_done(x); turn++) {
				uint64_t now = x->now + any(turn % 50 == 49 ? 120000 : 3000);
				for (; at < n && due[at] <= now; at++) {
					sent += now - due[at] <= x->job.lag_cycles;
					unsent += now - due[at] > x->job.lag_cycles;
				}
				to(x, now);
				assert_int_equal(TOTAL(x, packets), sent);
				assert_int_equal(TOTAL(x, unsent), unsent);
			}
			assert_true(all_done(x));
			assert_int_equal(sent + unsent, n);
			assert_true(unsent > 0);
			world_free(x);
		}
}

/* The device takes less than it is asked for. Nothing is late by more than the limit and the bursts
 * that the device already had, what is missing is counted, and with a count all of it is accounted
 * for. */
static void test_skip_slow_device(void **state)
{
	struct world *x = world_new(1, 4095);
	uint64_t last = 0;

	(void)state;
	vary(x);
	shaped(&x->group[0], shape(0, &patterns[0].a, 1e6, 1e6, 0, 0));
	x->group[0].limit = 20000;
	x->job.start_tsc = x->now = T0;
	x->job.catchup = GEN_SKIP;
	x->job.lag_cycles = 100000;
	adopt_at(x);
	/* The device takes a burst each 64 us, which is half of what is asked for. */
	for (unsigned turn = 0; turn < 200000 && !all_done(x); turn++) {
		fake[0].take = turn % 128 == 0 ? TAKE_ALL : TAKE_NONE;
		x->now += 500;
		dp_kind_gen.poll(x->w, &x->w->plan->task[0], x->now);
		uint64_t through = TOTAL(x, packets) + TOTAL(x, unsent),
			 asked = (x->now - T0) / 1000 + 1;
		if (turn > 1000 && through < 20000)
			/* What is missing is the lag, and a burst that waits. */
			assert_in_range(asked - through, 0, 100 + 64 + 32 + 2);
		assert_true(TOTAL(x, unsent) >= last);
		last = TOTAL(x, unsent);
	}
	assert_true(all_done(x));
	assert_int_equal(TOTAL(x, packets) + TOTAL(x, unsent), 20000);
	assert_in_range(TOTAL(x, unsent), 9000, 11000);
	assert_int_equal(TOTAL(x, dropped), 0);
	world_free(x);
}

/* After a stall frames leave faster by at most the percentage that is allowed, until the schedule
 * is reached. None is lost on the way, and then the rate is as asked. */
static void test_overspeed(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 4; i++)
		for (unsigned percent = 10; percent <= 100; percent += 90) {
			unsigned nq = 1 + i % 2;
			struct world *x = world_new(nq, 4095);
			uint64_t stall = 200000, begin = T0 + 50000, back = begin + stall;
			/* As many as lie within the limit go at once. */
			uint64_t once = 20 * (100 + percent) / 100,
				 lag = back - 500 - (T0 + 51000) - once * 1000;
			uint64_t reached = back - 500 + lag * 100 / percent,
				 by = 3000 + 110000 / percent;
			shaped(&x->group[0], shape(0, &patterns[0].a, 1e6, 1e6, 0, 0));
			if (i / 2 != 0)
				x->group[0].shape = NULL;
			x->gives = true; /* this test looks at deadlines itself */
			x->job.start_tsc = x->now = T0;
			x->job.catchup = GEN_OVERSPEED;
			x->job.lag_cycles = 20000;
			x->job.slower = (uint64_t)(0x1p64 * 100 / (100 + percent));
			adopt_at(x);
			for (; x->now < begin;)
				to(x, x->now + 500);
			uint64_t sent = TOTAL(x, packets);
			assert_int_equal(sent, 51);
			to(x, back - 500);
			for (uint64_t first = TOTAL(x, packets); x->now < reached + 300000;
			     first = TOTAL(x, packets)) {
				to(x, x->now + 500);
				uint64_t now = TOTAL(x, packets), asked = (x->now - T0) / 1000 + 1;
				assert_true(now <= asked);
				if (x->now > back && x->now < reached - by) {
					/* Frames never go faster than allowed: at most this many
					 * since the stall ended, give or take the frame at each
					 * end. */
					double most = (double)(x->now - back + 1000) / 1000 *
							      (100 + percent) / 100 +
						      (double)once + 2 * nq;
					assert_true((double)(now - sent) <= most &&
						    (double)(now - sent) >= most - 5 * nq);
					assert_true(now < asked);
				}
				if (x->now > reached + by)
					assert_int_equal(now, asked);
				assert_true(now - first <= 2 * nq ||
					    (x->now == back && now - first <= once + 2 * nq));
			}
			assert_int_equal(TOTAL(x, unsent), 0);
			/* The run ends before it has caught up. The rest is not sent, and
			 * counted. */
			x->job.end_tsc = x->now + 300000;
			x->job.grace_cycles = 20000;
			adopt_at(x);
			to(x, x->now + 250000);
			for (unsigned turn = 0; turn < 2000 && !all_done(x); turn++)
				to(x, x->now + 500);
			assert_true(all_done(x));
			assert_int_equal(TOTAL(x, packets) + TOTAL(x, unsent),
					 (x->job.end_tsc - T0 + 999) / 1000);
			assert_true(TOTAL(x, unsent) > 0);
			assert_in_range(x->now - x->job.end_tsc, 0, x->job.grace_cycles + 6000);
			world_free(x);
		}
}

/* Below the limit nothing is done: all frames go at once, as without a policy. */
static void test_small_lag(void **state)
{
	(void)state;
	for (unsigned i = GEN_KEEP; i <= GEN_OVERSPEED + 1; i++) {
		struct world *x = world_new(1, 4095);
		unsigned c = i > GEN_OVERSPEED ? GEN_OVERSPEED : i;
		shaped(&x->group[0], shape(0, &patterns[0].a, 1e6, 1e6, 0, 0));
		if (i > GEN_OVERSPEED)
			x->group[0].shape = NULL;
		x->job.start_tsc = x->now = T0;
		x->job.catchup = c;
		x->job.lag_cycles = 20000;
		x->job.slower = 1ull << 63;
		adopt_at(x);
		to(x, T0 + 20000);
		assert_int_equal(TOTAL(x, packets), 21);
		to(x, T0 + 400000);
		/* The frames of 20000 cycles go at once, with overspeed those of twice as many. */
		assert_int_equal(TOTAL(x, packets), c == GEN_KEEP ? 401 : c == GEN_SKIP ? 42 : 62);
		assert_int_equal(TOTAL(x, unsent), c == GEN_SKIP ? 359 : 0);
		world_free(x);
	}
}

/* The port's schedule has two streams, in two phases, beside a stream with a rate of its own. Each
 * group gives up frames by itself, and the counts of streams say what was sent. */
static void test_skip_groups(void **state)
{
	for (unsigned round = 0; round < 20; round++) {
		struct world *x = world_new(1 + round % 2, 4095);
		struct tphase *a = phase_new(x), *b = phase_new(x), *c = phase_new(x);
		uint64_t sent = 0, unsent = 0, at[2] = {0, 0}, n[2] = {0, 0};

		(void)state;
		x->gives = true;
		phase_add(a, 1, frames_of(x, 1, 64, 1, 60000));
		phase_add(a, 2, frames_of(x, 2, 128, 1, 60000));
		a->end = 300;
		b->k0 = 300;
		phase_add(b, 1, x->phases->older->older->recipe[0]);
		b->o0[0] = 150;
		phase_add(c, 3, frames_of(x, 3, 256, 1, 60000));
		x->ngroups = 2;
		x->group[0] = (struct tgroup){.stream = -1,
					      .limit = UINT64_MAX,
					      .nphases = 2,
					      .phase = {a, b}};
		x->group[1] = (struct tgroup){.stream = 3,
					      .limit = UINT64_MAX,
					      .nphases = 1,
					      .phase = {c}};
		shaped(&x->group[0], shape(0, &patterns[0].a, 1e6, 1e6, 0, 0));
		shaped(&x->group[1], shape(1, &patterns[2].a, 3e5, 3e5, 0, 0));
		x->job.start_tsc = x->now = T0;
		x->job.catchup = GEN_SKIP;
		x->job.lag_cycles = 15000;
		x->job.end_tsc = T0 + 800000;
		for (unsigned g = 0; g < 2; g++)
			while (model_due(x, &x->group[g], n[g]) < x->job.end_tsc)
				n[g]++;
		adopt_at(x);
		for (unsigned turn = 0; turn < 100000 && !all_done(x); turn++) {
			uint64_t now = x->now + any(turn % 50 == 49 ? 120000 : 3000);
			for (unsigned g = 0; g < 2; g++)
				for (; at[g] < n[g]; at[g]++) {
					uint64_t due = model_due(x, &x->group[g], at[g]);
					if (due > now)
						break;
					sent += now - due <= x->job.lag_cycles;
					unsent += now - due > x->job.lag_cycles;
				}
			to(x, now);
			assert_int_equal(TOTAL(x, packets), sent);
			assert_int_equal(TOTAL(x, unsent), unsent);
			check_counts(x);
		}
		assert_true(all_done(x));
		assert_int_equal(sent + unsent, n[0] + n[1]);
		world_free(x);
	}
}

/* Many streams with different sizes take turns. Frames that are given up are missing from the right
 * streams. */
static void test_skip_streams(void **state)
{
	for (unsigned gap = 3000; gap <= 60000; gap *= 20) {
		struct world *x = world_new(2, 4095);
		struct tphase *p = phase_new(x);

		(void)state;
		x->gives = true;
		for (unsigned id = 0; id < 60; id++)
			phase_add(p, id, frames_of(x, id, 64 + 10 * id, 1, 60000));
		one_group(x, p);
		shaped(&x->group[0], shape(0, &patterns[0].a, 1e6, 1e6, 0, 0));
		x->group[0].limit = 20000;
		x->job.start_tsc = x->now = T0;
		x->job.catchup = GEN_SKIP;
		x->job.lag_cycles = 10;
		adopt_at(x);
		for (unsigned turn = 0; turn < 100000 && !all_done(x); turn++) {
			to(x, x->now + any(gap));
			if (turn % 16 == 0)
				check_counts(x);
		}
		assert_true(all_done(x));
		assert_int_equal(TOTAL(x, packets) + TOTAL(x, unsent), 20000);
		assert_true(TOTAL(x, unsent) > 15000);
		world_free(x);
	}
}

/* ---- changes ---- */

/* Arrivals change from any kind to any other while frames fly. No frame is lost, doubled or out of
 * order, and none goes before the change lets it. */
static void test_changes(void **state)
{
	(void)state;
	for (unsigned round = 0; round < 60; round++) {
		struct world *x = world_new(1 + round % 3, 4095);
		unsigned slot = 0;
		x->job.start_tsc = x->now = T0;
		x->group[0].period = (struct pace_period){.cycles = 1000};
		x->group[0].limit = 3000;
		x->job.slower = 3ull << 62;
		x->job.lag_cycles = 10000;
		x->job.forgive_cycles = 50000;
		for (unsigned q = 0; q < x->nq; q++)
			fake[q].take = round % 2 == 0 ? TAKE_ALL : TAKE_RANDOM;
		adopt_at(x);
		for (unsigned turn = 0; turn < 20000 && !all_done(x); turn++) {
			to(x, x->now + any(4000));
			if (any(40) != 0)
				continue;
			const struct pattern *p = &patterns[any(ARRAY_SIZE(patterns))];
			uint64_t before = TOTAL(x, packets);
			slot = (slot + 1) % ARRAY_SIZE(shapes);
			x->group[0].shape = NULL;
			x->job.catchup = any(2) * GEN_OVERSPEED;
			if (any(5) == 0)
				x->group[0].period =
					(struct pace_period){.cycles = 500 + any(2000)};
			else
				shaped(&x->group[0],
				       shape(slot, &p->a, p->from, p->to, p->step, p->over_ns));
			adopt_at(x);
			to(x, x->now);
			/* these are frames that were due before, and the first one of each queue */
			if (round % 2 == 0)
				assert_in_range(TOTAL(x, packets) - before, 0, x->nq * 12);
		}
		assert_true(all_done(x));
		assert_int_equal(TOTAL(x, packets), 3000);
		world_free(x);
	}
}

/* Deadlines of random arrivals are sums of gaps. A change to them after very many frames needs no
 * gap from before it. */
static void test_change_far(void **state)
{
	const struct arrival a = {.kind = ARRIVAL_POISSON, .seed = 5},
			     constant = {.kind = ARRIVAL_CONSTANT};
	const uint64_t many = 1ull << 36;

	(void)state;
	for (unsigned nq = 1; nq <= 2; nq++) {
		struct world *x = world_new(nq, 4095);
		x->job.start_tsc = x->now = T0;
		x->job.catchup = GEN_SKIP;
		shaped(&x->group[0], shape(0, &constant, 1e6, 1e6, 0, 0));
		adopt_at(x);
		to(x, T0 + many * 1000 - 500);
		assert_int_equal(TOTAL(x, unsent), many);
		shaped(&x->group[0], shape(1, &a, 1e6, 1e6, 0, 0));
		adopt_at(x);
		assert_int_equal(TOTAL(x, unsent), many);
		for (unsigned q = 0; q < nq; q++)
			assert_int_equal(gen_is_on(x->gen[q]), true);
		world_free(x);
	}
}

/* ---- lateness ---- */

/* The first frame of each burst is in the histogram with the time for which it waited. Frames
 * beyond the limit are counted one by one. */
static void test_lateness(void **state)
{
	static _Alignas(CACHE_LINE) uint8_t mem[65536];

	(void)state;
	for (unsigned i = 0; i < 2 * ARRAY_SIZE(patterns); i++) {
		static uint64_t due[3000];
		struct world *x = world_new(1, 4095);
		struct hist *h = memset(mem, 0, sizeof(mem));
		uint64_t late = 0, bursts = 0, most = 0, sum = 0, at = 0;
		assert_true(hist_size(GEN_LATE_SHAPE) <= sizeof(mem));
		hist_init(h, GEN_LATE_SHAPE);
		shaped(&x->group[0], pattern(i / 2));
		all_due(x, &x->group[0], due, 1);
		if (i == 0) /* this is the code without a shape */
			x->group[0].shape = NULL;
		x->txq[0]->lateness = h;
		x->group[0].limit = 2000;
		x->job.start_tsc = x->now = T0;
		x->job.late_cycles = 9000;
		x->job.burst = 16;
		for (unsigned k = 0; k < ARRAY_SIZE(due); k++) {
			shaped(&x->group[0], pattern(i / 2));
			due[k] = model_due(x, &x->group[0], k);
		}
		if (i == 0)
			x->group[0].shape = NULL;
		fake[0].take = i % 2 == 0 ? TAKE_ALL : TAKE_RANDOM;
		adopt_at(x);
		while (!all_done(x)) {
			uint64_t now = x->now + any(20000);
			x->now = now;
			for (unsigned idle = 0; idle < 3;) {
				uint64_t before = TOTAL(x, packets);
				unsigned n = dp_kind_gen.poll(x->w, &x->w->plan->task[0], now);
				assert_int_equal(TOTAL(x, packets) - before, n);
				idle = n > 0 ? 0 : idle + 1;
				if (n == 0)
					continue;
				bursts++;
				sum += now - due[at];
				most = now - due[at] > most ? now - due[at] : most;
				for (; n > 0; n--, at++)
					late += now - due[at] > x->job.late_cycles;
			}
		}
		assert_int_equal(TOTAL(x, late), late);
		assert_int_equal(hist_count(h), bursts);
		assert_int_equal(hist_max(h), hist_highest(h, most));
		assert_true(hist_mean(h) > (double)sum / (double)bursts - 0.5 &&
			    hist_mean(h) < (double)sum / (double)bursts + 0.5);
		assert_true(late > 0);
		x->txq[0]->lateness = NULL;
		world_free(x);
	}
}

/* A frame without a deadline cannot be late. */
static void test_max(void **state)
{
	static _Alignas(CACHE_LINE) uint8_t mem[65536];
	struct world *x = world_new(1, 4095);
	struct hist *h = (void *)mem;

	(void)state;
	hist_init(h, GEN_LATE_SHAPE);
	x->txq[0]->lateness = h;
	x->group[0].limit = 1000;
	run_to_end((adopt_now(x), x));
	assert_int_equal(TOTAL(x, packets), 1000);
	assert_int_equal(TOTAL(x, late), 0);
	assert_int_equal(hist_count(h), 0);
	x->txq[0]->lateness = NULL;
	world_free(x);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exact),       cmocka_unit_test(test_all_go),
		cmocka_unit_test(test_skip),        cmocka_unit_test(test_skip_slow_device),
		cmocka_unit_test(test_overspeed),   cmocka_unit_test(test_small_lag),
		cmocka_unit_test(test_skip_groups), cmocka_unit_test(test_skip_streams),
		cmocka_unit_test(test_changes),     cmocka_unit_test(test_change_far),
		cmocka_unit_test(test_lateness),    cmocka_unit_test(test_max),
	};
	int rc = eal_or_skip(argv[argc - 1]);

	return rc != 0 ? rc : cmocka_run_group_tests(tests, NULL, NULL);
}
