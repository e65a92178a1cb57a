/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares the calibrated clock with the kernel's, and tests conversions. No time is expected to be
 * short: a machine may stop any thread for long. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <time.h>

#include "clock.h"

static void pause_ms(long ms)
{
	nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}, NULL);
}

/* Cycles between two brackets lie between the inner and the outer span of raw time. */
static void test_frequency(void **state)
{
	struct clock_info i;

	(void)state;
	clock_init();
	uint64_t a0 = clock_raw_ns(), t0 = clock_tsc(), b0 = clock_raw_ns();
	pause_ms(60);
	uint64_t a1 = clock_raw_ns(), t1 = clock_tsc(), b1 = clock_raw_ns();
	clock_refine();
	clock_info(&i);
	assert_true(i.hz == clock_hz());
	assert_true(i.hz > 1e6 && i.hz < 1e11);
	assert_true(i.span_ns >= 60000000);
	assert_true(i.uncertainty_ppm >= 0);
	double slack = 1 + (i.uncertainty_ppm + 20) * 1e-6;
	assert_true((double)(t1 - t0) / i.hz * 1e9 * slack >= (double)(a1 - b0));
	assert_true((double)(t1 - t0) / i.hz * 1e9 <= (double)(b1 - a0) * slack);
}

/* A later reading lengthens the span; a reading too soon after the first is not taken. */
static void test_refine(void **state)
{
	struct clock_info a, b;

	(void)state;
	clock_init();
	clock_info(&a); /* waits for the shortest span */
	assert_true(a.span_ns >= 10000000);
	do { /* disturbed readings are not taken, except for one after several in a row */
		pause_ms(5);
		clock_refine();
		clock_info(&b);
	} while (b.readings == a.readings);
	assert_int_equal(b.restarts, a.restarts);
	assert_true(b.span_ns >= a.span_ns + 5000000);
	assert_true(fabs(b.hz / a.hz - 1) * 1e6 <= a.uncertainty_ppm + b.uncertainty_ppm + 100);
}

/* The time of day at a cycle count lies between those before and after it, if nobody set the clock:
 * then another try finds it. */
static void test_wall(void **state)
{
	uint64_t before, after, tsc0, tsc1, tsc, ns;
	unsigned tries = 0;

	(void)state;
	do {
		before = clock_wall_ns();
		tsc0 = clock_tsc();
		clock_wall_at(&tsc, &ns);
		tsc1 = clock_tsc();
		after = clock_wall_ns();
		assert_true(tsc >= tsc0 && tsc <= tsc1);
		assert_true(++tries < 100);
	} while (ns < before || ns > after);
}

static void test_conversions(void **state)
{
	static const uint64_t ns[] = {
		0, 1, 999, 1000, 1000000007, 3600000000000, 31536000000000000, INT64_MAX / 16};

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(ns); i++) {
		uint64_t back = clock_ns(clock_cycles(ns[i]));
		/* Half a cycle is rounded away there, and half a ns back. */
		double most = 1 + 0.5e9 / clock_hz();
		assert_true((double)(back > ns[i] ? back - ns[i] : ns[i] - back) <= most);
		if (i > 0)
			assert_true(clock_cycles(ns[i]) > clock_cycles(ns[i - 1]) ||
				    (double)(ns[i] - ns[i - 1]) < 1e9 / clock_hz());
	}
	assert_true(fabs((double)clock_ns((uint64_t)clock_hz()) - 1e9) <= 1e9 / clock_hz() + 1);
}

static void test_monotone(void **state)
{
	uint64_t t = clock_tsc(), r = clock_raw_ns();

	(void)state;
	for (unsigned i = 0; i < 200000; i++) {
		uint64_t t2 = clock_tsc();
		assert_true((int64_t)(t2 - t) >= 0);
		t = t2;
	}
	for (unsigned i = 0; i < 20000; i++) {
		uint64_t r2 = clock_raw_ns();
		assert_true(r2 >= r);
		r = r2;
	}
	assert_true(clock_wall_ns() > 1600000000ull * 1000000000ull);
}

static void test_waited(void **state)
{
	struct clock_wait w = {0};
	uint64_t now = 12345678901ull;

	(void)state;
	assert_int_equal(clock_waited(&w, now), 0);
	assert_int_equal(clock_waited(&w, now += 1000), 1000);
	assert_int_equal(clock_waited(&w, now), 1000);
	/* We stood still, and the others may have stood still too. */
	assert_int_equal(clock_waited(&w, now += 3000000000u), 1000 + CLOCK_LOOK_MAX_NS);
	assert_int_equal(clock_waited(&w, now += CLOCK_LOOK_MAX_NS), 1000 + 2 * CLOCK_LOOK_MAX_NS);
	assert_int_equal(clock_waited(&w, now - 5), 1000 + 2 * CLOCK_LOOK_MAX_NS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_frequency), cmocka_unit_test(test_refine),
		cmocka_unit_test(test_wall),      cmocka_unit_test(test_conversions),
		cmocka_unit_test(test_monotone),  cmocka_unit_test(test_waited),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
