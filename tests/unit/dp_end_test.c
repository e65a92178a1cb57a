/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests kind gen at the end of a run's time, on devices that take less than they are asked for, by
 * a clock of the test's own. The run ends then, every frame that was due was sent or is counted as
 * unsent, and control is woken. */
#include <sys/eventfd.h>
#include <unistd.h>

#include "effort.h"
#include "dp_shape_model.h"

#define END (T0 + 400000u)
#define GRACE 100000u

/* Returns how many frames of the group are due before `at`, on all queues. */
static uint64_t due_before(const struct world *x, const struct tgroup *g, uint64_t at)
{
	struct follow f = {.t0 = x->job.start_tsc};
	uint64_t n = 0;

	for (uint64_t k = 0; k < g->limit && due_of(g, &f, k) < at; k++)
		n++;
	return n;
}

/* Turns each queue once, on a device that takes something in one turn of so many (slow 0:
 * never). */
static void slow_turn(struct world *x, unsigned turn, unsigned slow)
{
	for (unsigned q = 0; q < x->nq; q++) {
		fake[q].take = slow != 0 && turn % slow == 0 ? TAKE_RANDOM : TAKE_NONE;
		if (gen_is_on(x->gen[q]))
			dp_kind_gen.poll(x->w, &x->w->plan->task[q], x->now);
	}
}

/* Turns the queues to the end of the run, which comes in time, however much is left. */
static void run_slow(struct world *x, unsigned slow)
{
	for (unsigned turn = 1; !all_done(x) && turn < 10000; turn++) {
		x->now += 1000;
		slow_turn(x, turn, slow);
	}
	assert_true(all_done(x));
	assert_true(x->now <= END + GRACE + 20000);
	for (unsigned q = 0; q < x->nq; q++)
		fake[q].nrefused = 0;
}

static struct world *timed(unsigned nq, enum gen_catchup catchup)
{
	struct world *x = world_new(nq, 4095);

	x->gives = true;
	x->job.start_tsc = x->now = T0;
	x->job.end_tsc = END;
	x->job.grace_cycles = GRACE;
	x->job.catchup = catchup;
	x->job.lag_cycles = 15000;
	x->job.late_cycles = 15000;
	x->job.slower = (uint64_t)(0x1p64 * 100 / 110);
	return x;
}

static struct tphase *of_sizes(struct world *x, unsigned id, unsigned sizes)
{
	struct tphase *p = phase_new(x);

	for (unsigned i = 0; i < sizes; i++)
		phase_add(p, id, frames_of(x, id, 64 + 150 * i, 1, 60000));
	return p;
}

static void judge_all(struct world *x, uint64_t due)
{
	assert_int_equal(TOTAL(x, dropped), 0);
	if (TOTAL(x, packets) + TOTAL(x, unsent) != due)
		fail_msg("%lu due, %lu sent, %lu unsent", (unsigned long)due,
			 (unsigned long)TOTAL(x, packets), (unsigned long)TOTAL(x, unsent));
}

/* There is one schedule or several, by frames or by bytes, of one size or of many, with a count
 * that ends before the time does or after it. */
static void test_slow(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 3 * 2 * 2 * 2 * 3 * 3; i += (unsigned)effort(1, 5)) {
		unsigned nq = 1 + i % 3, slow = (unsigned[]){0, 4, 40}[i / 24 % 3], count = i / 72;
		bool bytes = i / 6 % 2 != 0, more = i / 12 % 2 != 0;
		struct world *x = timed(nq, i / 3 % 2 != 0 ? GEN_OVERSPEED : GEN_KEEP);
		one_group(x, of_sizes(x, 1, bytes ? 3 : 1));
		x->group[0].by_bytes = bytes;
		x->group[0].period = (struct pace_period){.cycles = bytes ? 2 : 600, .frac = 12345};
		x->group[0].limit = (uint64_t[]){UINT64_MAX, 100, 100000}[count];
		if (more) {
			x->ngroups = 2;
			x->group[1] = (struct tgroup){.stream = 2,
						      .limit = UINT64_MAX,
						      .nphases = 1,
						      .phase = {of_sizes(x, 2, 1)}};
			x->group[1].period.cycles = 1777;
		}
		uint64_t due = 0;
		for (unsigned g = 0; g < x->ngroups; g++)
			due += due_before(x, &x->group[g], END);
		adopt_at(x);
		run_slow(x, slow);
		judge_all(x, due);
		assert_true(slow != 0 || TOTAL(x, unsent) > 0);
		world_free(x);
	}
}

/* The frames of phases have different sizes. What is left of each phase has its own times. */
static void test_phases(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 12; i++) {
		struct world *x = timed(1 + i % 3, i / 6 != 0 ? GEN_OVERSPEED : GEN_KEEP);
		struct tphase *a = of_sizes(x, 1, 1), *b = phase_new(x), *c = phase_new(x);
		a->end = b->k0 = 211;
		b->end = c->k0 = 322;
		phase_add(b, 1, frames_of(x, 1, 1518, 1, 60000));
		phase_add(c, 1, frames_of(x, 1, 128, 1, 60000));
		b->o0[0] = 211;
		c->o0[0] = 322;
		x->group[0] = (struct tgroup){.stream = -1,
					      .limit = UINT64_MAX,
					      .nphases = 3,
					      .phase = {a, b, c}};
		x->group[0].by_bytes = true;
		x->group[0].period = (struct pace_period){.cycles = 1};
		uint64_t due = due_before(x, &x->group[0], END);
		assert_true(due > 322);
		adopt_at(x);
		run_slow(x, i / 3 % 2 != 0 ? 40 : 0);
		judge_all(x, due);
		assert_true(TOTAL(x, unsent) > 0);
		world_free(x);
	}
}

/* A run as fast as possible has no deadlines: nothing was due, so nothing is unsent. What the
 * device has refused to the end was built in vain. */
static void test_max(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 12; i++) {
		struct world *x = timed(1 + i % 3, GEN_OVERSPEED);
		unsigned slow = i / 3 % 2 != 0 ? 4 : 0;
		one_group(x, of_sizes(x, 1, 1));
		x->group[0].limit = i / 6 != 0 ? 100000 : UINT64_MAX;
		adopt_at(x);
		run_slow(x, slow);
		assert_int_equal(TOTAL(x, unsent), 0);
		assert_in_range(TOTAL(x, dropped), slow == 0, slow == 0 ? 32 * x->nq : 0);
		world_free(x);
	}
}

/* The rate changes in the middle. What is left until then is dropped, and what is due from then on
 * belongs to the new rate. */
static void test_changed(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		struct world *x = timed(1, i % 2 != 0 ? GEN_OVERSPEED : GEN_KEEP);
		one_group(x, of_sizes(x, 1, 1));
		x->group[0].period.cycles = 600;
		adopt_at(x);
		for (unsigned turn = 1; turn <= 200; turn++) {
			x->now += 1000;
			slow_turn(x, turn, 50);
		}
		uint64_t due = due_before(x, &x->group[0], x->now);
		x->group[0].period.cycles = 450;
		due += (END - x->now + 449) / 450;
		x->job.forgive_cycles = 100;
		adopt_at(x);
		run_slow(x, i / 2 != 0 ? 50 : 0);
		judge_all(x, due);
		assert_true(TOTAL(x, unsent) > 0);
		world_free(x);
	}
}

/* A worker that stood still at the end has its grace time when it goes on. With a device that takes
 * everything, nothing is missing. */
static void test_stood_still(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		struct world *x = timed(1 + i % 2, GEN_KEEP);
		one_group(x, of_sizes(x, 1, 1));
		x->group[0].period.cycles = 600;
		uint64_t due = due_before(x, &x->group[0], END);
		adopt_at(x);
		to(x, T0 + 100000);
		x->now = i / 2 == 0 ? END + 50 * GRACE : END - 1000;
		/* it makes a turn, and stands still again */
		for (unsigned turn = 0; turn < 4; turn++) {
			for (unsigned q = 0; q < x->nq; q++)
				if (gen_is_on(x->gen[q]))
					dp_kind_gen.poll(x->w, &x->w->plan->task[q], x->now);
			x->now += turn == 1 ? 10 * GRACE : 10;
		}
		for (unsigned turn = 0; turn < 1000 && !all_done(x); turn++)
			to(x, x->now + 1000);
		assert_int_equal(TOTAL(x, packets), due);
		assert_int_equal(TOTAL(x, unsent), 0);
		world_free(x);
	}
}

/* After a stall, frames of many sizes and of several groups go faster than asked by what is allowed
 * and no more, none before its own time. Then they go as asked again. */
static void test_catches_up(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 24; i += (unsigned)effort(1, 11)) {
		struct world *x = timed(1 + i % 3, GEN_OVERSPEED);
		bool bytes = i / 3 % 2 != 0, more = i / 6 % 2 != 0, probes = i / 12 != 0;
		one_group(x, of_sizes(x, probes ? 5 : 1, bytes ? 3 : 1));
		x->group[0].by_bytes = bytes;
		x->group[0].period =
			(struct pace_period){.cycles = bytes ? 2 : 600, .frac = 1ull << 60};
		if (more) {
			x->ngroups = 2;
			x->group[1] = (struct tgroup){.stream = 7,
						      .limit = UINT64_MAX,
						      .nphases = 1,
						      .phase = {of_sizes(x, 7, 1)}};
			x->group[1].period.cycles = 1777;
		}
		x->job.end_tsc = UINT64_MAX;
		adopt_at(x);
		to(x, T0 + 50000);
		uint64_t sent = TOTAL(x, packets), back = T0 + 250000, asked = 0;
		for (x->now = back; asked == 0 || TOTAL(x, packets) < asked;) {
			assert_true(x->now < back + 40 * 200000);
			to(x, x->now + 500);
			asked = 0;
			for (unsigned g = 0; g < x->ngroups; g++)
				asked += due_before(x, &x->group[g], x->now + 1);
			assert_true(TOTAL(x, packets) <= asked);
			double rate = (double)asked / (double)(x->now - T0 + 1);
			double most = 1.1 * rate * (double)(x->now - back) + 60 * x->nq;
			if ((double)(TOTAL(x, packets) - sent) > most)
				fail_msg(
					"round %u, %lu cycles behind the stall: %lu sent, at most %.1f allowed",
					i, (unsigned long)(x->now - back),
					(unsigned long)(TOTAL(x, packets) - sent), most);
		}
		assert_true(x->now > back + 8 * 200000);
		x->job.stop = true;
		adopt_at(x);
		world_free(x);
	}
}

static uint64_t rung(int fd)
{
	uint64_t times = 0;

	return read(fd, &times, sizeof(times)) == sizeof(times) ? times : 0;
}

/* Control is woken once, after the last turn that moved frames, even if its event found no room. */
static void test_wake(void **state)
{
	struct world *x = world_new(1, 127);
	int fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);

	(void)state;
	x->w->wake_fd = &fd;
	x->group[0].limit = 10;
	adopt_now(x);
	turns(x, 20);
	assert_int_equal(gen_run_state(x->gen[0], 1), GEN_DONE);
	assert_int_equal(rung(fd), 1);
	turns(x, 20);
	assert_int_equal(rung(fd), 0);
	x->job.run = 2;
	x->group[0].limit = 1000000;
	adopt_now(x);
	turns(x, 20);
	for (unsigned i = 0; i < 2000; i++)
		dp_event_post(x->w, DP_EV_RUN_DONE, 1, 2, i);
	assert_true(x->w->cells.events_lost > 0);
	turns(x, 20); /* all of them move frames */
	assert_int_equal(rung(fd), 0);
	fake[0].take = TAKE_NONE;
	turns(x, 20);
	assert_int_equal(rung(fd), 1);
	fake[0].take = TAKE_ALL;
	run_to_end(x);
	world_free(x);
	close(fd);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_slow),        cmocka_unit_test(test_phases),
		cmocka_unit_test(test_max),         cmocka_unit_test(test_changed),
		cmocka_unit_test(test_stood_still), cmocka_unit_test(test_catches_up),
		cmocka_unit_test(test_wake),
	};
	int rc = eal_or_skip(argv[argc - 1]);

	return rc != 0 ? rc : cmocka_run_group_tests(tests, NULL, NULL);
}
