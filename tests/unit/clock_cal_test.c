/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests calibration with made readings: those that a machine would give whose true frequency is
 * known. All come from fixed seeds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>

#include "clock_cal.h"

#define S 1000000000ull
#define TRUE_HZ 2596149800.0

/* A machine, with its counter and its clock at the same moment. */
struct machine {
	uint64_t seed, ns;
	double tsc, hz;
};

static uint64_t draw(struct machine *m, uint64_t below)
{
	m->seed = m->seed * 6364136223846793005u + 1442695040888963407u;
	return (m->seed >> 33) % below;
}

static void pass(struct machine *m, uint64_t ns)
{
	m->ns += ns;
	m->tsc += (double)ns * m->hz / 1e9;
}

/* Makes a reading: the clock is read anywhere in a bracket of that width. */
static struct clock_reading look(struct machine *m, uint64_t width)
{
	double inside = (double)draw(m, width + 1);

	return (struct clock_reading){.tsc = (uint64_t)(m->tsc - inside + (double)width / 2),
				      .ns = m->ns,
				      .width = width};
}

static void begin(struct clock_cal *c, struct machine *m, uint64_t seed)
{
	*m = (struct machine){.seed = seed, .ns = 77 * S, .tsc = 1e12, .hz = TRUE_HZ};
	clock_cal_begin(c, look(m, 130));
}

static double off_ppm(const struct clock_cal *c, double hz)
{
	return fabs(c->hz / hz - 1) * 1e6;
}

/* The uncertainty is a bound and shrinks with time. Nothing counts as moved. */
static void test_bound(void **state)
{
	struct clock_cal c;
	struct machine m;

	(void)state;
	for (uint64_t seed = 1; seed <= 200; seed++) {
		double before = 1e9;
		begin(&c, &m, seed);
		assert_true(c.hz == 0);
		for (unsigned i = 0; i < 60; i++) {
			pass(&m, i < 5 ? 15000000 : S);
			assert_true(clock_cal_add(&c, look(&m, 100 + draw(&m, 200))));
			assert_true(off_ppm(&c, TRUE_HZ) <= c.uncertainty_ppm);
			assert_true(i < 6 || c.uncertainty_ppm < before * 2);
			before = c.uncertainty_ppm;
		}
		assert_true(c.uncertainty_ppm < 0.01);
		assert_true(c.restarts == 0 && c.rejected == 0 && c.readings == 61);
		/* This is from when it was known to a bound of 0.2 ppm. */
		assert_true(clock_cal_moved(&c, 77 * S + 76000000) < 2);
		assert_true(clock_cal_moved(&c, m.ns) == 0);
	}
}

/* In one bracket of three the thread loses its CPU for up to 20 ms. These brackets are passed
 * over. */
static void test_preempted(void **state)
{
	struct clock_cal c;
	struct machine m;
	unsigned wide = 0;

	(void)state;
	begin(&c, &m, 5);
	for (unsigned i = 0; i < 300; i++) {
		bool lost = i > 0 && draw(&m, 3) == 0;
		pass(&m, S);
		wide += lost;
		assert_true(clock_cal_add(&c, look(&m, lost ? 2000 + draw(&m, 52000000) : 130)) ==
			    !lost);
		assert_true(off_ppm(&c, TRUE_HZ) <= c.uncertainty_ppm && c.uncertainty_ppm < 0.2);
	}
	assert_true(wide > 50 && c.rejected == wide && c.restarts == 0);
	assert_true(clock_cal_moved(&c, 0) < 0.2);
}

/* The kernel replaces its clock by one that is slow to read. Readings go on, and the bound stays a
 * bound. */
static void test_slow_clock(void **state)
{
	struct clock_cal c;
	struct machine m;
	unsigned used = 0;

	(void)state;
	begin(&c, &m, 6);
	for (unsigned i = 0; i < 10; i++) {
		pass(&m, S);
		clock_cal_add(&c, look(&m, 130));
	}
	for (unsigned i = 0; i < 60; i++) {
		pass(&m, S);
		used += clock_cal_add(&c, look(&m, 5000));
		assert_true(off_ppm(&c, TRUE_HZ) <= c.uncertainty_ppm);
	}
	assert_true(used >= 5 && c.rejected >= 8 && c.restarts == 0);
	assert_true(clock_cal_moved(&c, 0) < 0.5);
}

/* The frequency changes, as when a virtual machine moves to another host. The change is seen and
 * belongs to its time, and the new frequency is found. */
static void test_frequency_moves(void **state)
{
	struct clock_cal c;
	struct machine m;
	uint64_t when, settled;

	(void)state;
	for (int sign = -1; sign <= 1; sign += 2) {
		begin(&c, &m, 7);
		for (unsigned i = 0; i < 1000; i++) {
			pass(&m, S);
			clock_cal_add(&c, look(&m, 130));
		}
		when = m.ns;
		m.hz = TRUE_HZ * (1 + sign * 50e-6);
		for (unsigned i = 0; i < 3; i++) {
			pass(&m, S);
			clock_cal_add(&c, look(&m, 130));
		}
		settled = m.ns;
		for (unsigned i = 0; i < 30; i++) {
			pass(&m, S);
			clock_cal_add(&c, look(&m, 130));
		}
		assert_true(c.restarts == 1);
		assert_true(off_ppm(&c, m.hz) <= c.uncertainty_ppm && c.uncertainty_ppm < 0.1);
		assert_true(clock_cal_moved(&c, when) > 49 && clock_cal_moved(&c, when) < 51);
		assert_true(clock_cal_moved(&c, 0) > 49);
		assert_true(clock_cal_moved(&c, settled) < 0.2);
	}
}

/* The clock jumps once by 100 us against the counter. That is 100 ppm in that second, and the
 * frequency is still what it was. */
static void test_jump(void **state)
{
	struct clock_cal c;
	struct machine m;
	uint64_t when, after = 0;

	(void)state;
	begin(&c, &m, 8);
	for (unsigned i = 0; i < 40; i++) {
		pass(&m, S);
		clock_cal_add(&c, look(&m, 130));
	}
	when = m.ns;
	m.ns += 100000;
	for (unsigned i = 0; i < 20; i++) {
		pass(&m, S);
		clock_cal_add(&c, look(&m, 130));
		if (i == 1)
			after = m.ns;
	}
	assert_true(c.restarts == 1 && off_ppm(&c, TRUE_HZ) <= c.uncertainty_ppm);
	assert_true(clock_cal_moved(&c, when) > 99 && clock_cal_moved(&c, when) < 101);
	assert_true(clock_cal_moved(&c, after) < 0.2);
}

static void test_set_back(void **state)
{
	struct clock_cal c;
	struct machine m;

	(void)state;
	begin(&c, &m, 9);
	pass(&m, S);
	clock_cal_add(&c, look(&m, 130));
	pass(&m, S);
	m.tsc = 1e9; /* the machine slept, and its counter began anew */
	assert_true(clock_cal_add(&c, look(&m, 130)));
	assert_true(c.restarts == 1 && clock_cal_moved(&c, 0) > 1e5);
	for (unsigned i = 0; i < 3; i++) {
		pass(&m, S);
		clock_cal_add(&c, look(&m, 130));
		assert_true(off_ppm(&c, TRUE_HZ) <= c.uncertainty_ppm);
	}
	assert_true(c.restarts == 1);
}

/* The first figure is poor, as with a clock that is slow to read. Those who used it can learn by
 * how much it was off. */
static void test_first_figure(void **state)
{
	struct clock_cal c;
	struct machine m = {.seed = 3, .ns = S, .tsc = 1e12, .hz = TRUE_HZ};

	(void)state;
	clock_cal_begin(&c, (struct clock_reading){.tsc = (uint64_t)m.tsc + 1000,
						   .ns = m.ns,
						   .width = 2000});
	pass(&m, 10000000);
	assert_true(clock_cal_add(&c, (struct clock_reading){.tsc = (uint64_t)m.tsc - 1000,
							     .ns = m.ns,
							     .width = 2000}));
	assert_true(off_ppm(&c, TRUE_HZ) > 70 && off_ppm(&c, TRUE_HZ) <= c.uncertainty_ppm);
	uint64_t since = m.ns;
	pass(&m, 10 * S);
	assert_true(clock_cal_add(&c, look(&m, 130)));
	assert_true(clock_cal_moved(&c, since) > 70 && clock_cal_moved(&c, since) < 85 &&
		    c.restarts == 0);
}

static void test_too_soon(void **state)
{
	struct clock_cal c;
	struct machine m;

	(void)state;
	begin(&c, &m, 4);
	pass(&m, CLOCK_MIN_SPAN_NS - 1);
	assert_false(clock_cal_add(&c, look(&m, 130)));
	assert_true(c.hz == 0 && c.readings == 1);
	pass(&m, 1);
	assert_true(clock_cal_add(&c, look(&m, 130)));
	pass(&m, CLOCK_MIN_STEP_NS - 1);
	assert_false(clock_cal_add(&c, look(&m, 130)));
	m.ns -= S; /* a clock that goes back gives no reading */
	assert_false(clock_cal_add(&c, look(&m, 130)));
	assert_true(c.readings == 2 && off_ppm(&c, TRUE_HZ) <= c.uncertainty_ppm);
}

/* There are far more readings than are kept. What moved long ago is still known, and does not count
 * for the time after it. */
static void test_long(void **state)
{
	struct clock_cal c;
	struct machine m;
	uint64_t when = 0;

	(void)state;
	begin(&c, &m, 10);
	for (unsigned i = 0; i < 20 * CLOCK_MARKS; i++) {
		if (i == 100) {
			when = m.ns;
			m.ns += 40000;
		}
		pass(&m, S);
		clock_cal_add(&c, look(&m, 130));
	}
	assert_true(c.nmarks <= CLOCK_MARKS);
	assert_true(clock_cal_moved(&c, when) > 39 && clock_cal_moved(&c, 0) > 39);
	assert_true(clock_cal_moved(&c, when + 1000 * S) < 0.2);
	assert_true(clock_cal_moved(&c, m.ns - 30 * S) < 0.01);
}

static uint64_t reads, read_every, moved_by;

static uint64_t stepping(void)
{
	return reads++ / read_every * moved_by;
}

/* Counters move by one or by more at once, each time that they are read, seldom, or never while
 * they are watched. */
static void test_step(void **state)
{
	static const struct {
		uint64_t every, by, want;
	} cases[] = {{1, 1, 1},     {7, 1, 1},   {20, 40, 40},
		     {900, 63, 63}, {1, 26, 26}, {100000, 5, 1}};

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
		reads = 3;
		read_every = cases[i].every;
		moved_by = cases[i].by;
		assert_int_equal(clock_cal_step(stepping), cases[i].want);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bound),        cmocka_unit_test(test_preempted),
		cmocka_unit_test(test_slow_clock),   cmocka_unit_test(test_frequency_moves),
		cmocka_unit_test(test_jump),         cmocka_unit_test(test_set_back),
		cmocka_unit_test(test_first_figure), cmocka_unit_test(test_too_soon),
		cmocka_unit_test(test_long),         cmocka_unit_test(test_step),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
