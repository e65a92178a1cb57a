/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the conversion of a device's clock: it is within the error that it tells, whatever
 * brackets, frequencies and drift there are, and steps are seen. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "clock_dev.h"
#include "seed.h"

#define HZ 2.6e9

static uint64_t rnd;

static double any_real(void) /* 0..1 */
{
	rnd = rnd * 6364136223846793005ull + 1442695040888963407ull;
	return (double)(rnd >> 33) / 0x1p31;
}

struct dev {
	double hz, drift, offset;
};

static uint64_t ticks_at(const struct dev *v, double tsc)
{
	long double t = (long double)tsc / (long double)HZ;

	return (uint64_t)(int64_t)floorl((long double)v->offset +
					 (long double)v->hz *
						 (t + (long double)v->drift * t * t / 2));
}

/* Makes a reading: the device answers somewhere in the bracket. */
static struct clock_dev_reading reading(const struct dev *v, uint64_t tsc, uint64_t width)
{
	double inside = (double)tsc - (double)width / 2 + any_real() * (double)width;

	return (struct clock_dev_reading){.tsc = tsc, .ticks = ticks_at(v, inside), .width = width};
}

static double converted(const struct clock_dev *d, uint64_t ticks)
{
	const struct clock_dev_reading *last = clock_dev_last(d);

	return (double)last->tsc + (double)(int64_t)(ticks - last->ticks) * d->cycles_per_tick;
}

static void test_within(void **state)
{
	(void)state;
	for (unsigned round = 0; round < 200; round++) {
		struct dev v = {.hz = pow(10, 6 + 3.5 * any_real()),
				.drift = (any_real() - 0.5) * 1e-7,
				.offset = any_real() * 1e15};
		struct clock_dev d;
		uint64_t tsc = 1000000000;
		clock_dev_begin(&d, HZ);
		for (unsigned i = 0; i < 60; i++) {
			uint64_t width = (uint64_t)(200 + 3000 * any_real()),
				 next = clock_dev_next(&d);
			tsc = i == 0 ? tsc : next > tsc ? next : tsc + 1;
			/* Until now the error holds for stamps made at any time since the last
			 * reading, and shortly before it. */
			for (unsigned k = 0; clock_dev_known(&d) && k < 4; k++) {
				double at =
					(double)tsc -
					any_real() * 2 * (double)(tsc - clock_dev_last(&d)->tsc);
				double off = fabs(converted(&d, ticks_at(&v, at)) - at);
				if (off > clock_dev_error(&d, tsc) + 2e-7 * 2.6e9)
					fail_msg("round %u, %u: off by %f cycles, said %f", round,
						 i, off, clock_dev_error(&d, tsc));
			}
			assert_true(clock_dev_add(&d, reading(&v, tsc, width)) || d.rejected > 0);
		}
		assert_true(clock_dev_known(&d));
		assert_int_equal(d.steps, 0);
		assert_true(fabs(d.hz / d.cycles_per_tick / v.hz - 1) < d.slope_error + 60e-7);
	}
}

static void test_steps(void **state)
{
	struct dev v = {.hz = 1e9, .offset = 5e15};
	struct clock_dev d;
	uint64_t tsc = 0;

	(void)state;
	clock_dev_begin(&d, HZ);
	for (unsigned i = 0; i < 30; i++)
		clock_dev_add(&d, reading(&v, tsc = clock_dev_next(&d) + 1, 500));
	for (unsigned i = 0; i < 4; i++) {
		double by = i % 2 == 0 ? 1e5 : -1e5; /* 100 us */
		v.offset += by;
		d.missed = 0;
		assert_true(clock_dev_add(&d, reading(&v, tsc = clock_dev_next(&d) + 1, 500)));
		assert_int_equal(d.steps, i + 1);
		assert_true(clock_dev_error(&d, tsc) >= 1e5 * 2.6 - 1500);
		d.missed = 0;
		for (unsigned k = 0; k < 20; k++)
			clock_dev_add(&d, reading(&v, tsc = clock_dev_next(&d) + 1, 500));
		assert_true(clock_dev_error(&d, tsc) < 5000);
		assert_true(fabs(converted(&d, ticks_at(&v, (double)tsc)) - (double)tsc) <=
			    clock_dev_error(&d, tsc));
	}
	assert_int_equal(d.steps, 4);
}

/* A reading during which the thread lost its CPU is rejected. When all readings are slow they
 * count, and the error tells it. */
static void test_wide(void **state)
{
	struct dev v = {.hz = 25e6};
	struct clock_dev d;
	uint64_t tsc = 0;

	(void)state;
	clock_dev_begin(&d, HZ);
	assert_false(clock_dev_known(&d));
	assert_true(isinf(clock_dev_error(&d, 0)));
	for (unsigned i = 0; i < 10; i++)
		assert_true(clock_dev_add(&d, reading(&v, tsc = clock_dev_next(&d) + 1, 300)));
	uint64_t at = tsc;
	assert_false(clock_dev_add(&d, reading(&v, tsc + 1000, 300))); /* too soon */
	assert_false(clock_dev_add(&d, reading(&v, clock_dev_next(&d) + 1, 1000000)));
	assert_int_equal(d.rejected, 1);
	assert_int_equal(clock_dev_last(&d)->tsc, at);
	tsc = clock_dev_next(&d) + 1;
	for (unsigned i = 0; i < 8; i++)
		clock_dev_add(&d, reading(&v, tsc += 10000000, 1000000));
	assert_true(clock_dev_last(&d)->width == 1000000);
	assert_true(clock_dev_error(&d, tsc) >= 500000);
}

/* A clock that could not be read counts as another one afterwards: nothing that was known of it
 * holds, and the change is no step. */
static void test_lost(void **state)
{
	struct dev v = {.hz = 1e9, .offset = 5e15}, other = {.hz = 25e6, .offset = 17};
	struct clock_dev d;
	uint64_t tsc = 0;

	(void)state;
	clock_dev_begin(&d, HZ);
	for (unsigned i = 0; i < 30; i++)
		assert_true(
			clock_dev_add(&d, reading(&v, tsc = i == 0 ? 1000000 : clock_dev_next(&d),
						  300)));
	assert_true(clock_dev_known(&d));
	double missed = d.missed;
	clock_dev_lost(&d);
	assert_false(clock_dev_known(&d));
	assert_true(isinf(clock_dev_error(&d, tsc)) && isinf(clock_dev_slack(&d)));
	assert_int_equal(d.failed, 1);
	assert_int_equal(d.readings, 30);
	assert_true(d.missed == missed);
	tsc += (uint64_t)HZ;
	for (unsigned i = 0; i < 30; i++)
		/* Readings that are slow from the first one on are not rejected either. */
		assert_true(
			clock_dev_add(&d, reading(&other, tsc = i == 0 ? tsc : clock_dev_next(&d),
						  3000)));
	assert_true(clock_dev_known(&d));
	assert_int_equal(d.steps, 0);
	assert_true(fabs(d.hz / d.cycles_per_tick / other.hz - 1) < d.slope_error + 1e-9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_within),
					   cmocka_unit_test(test_steps),
					   cmocka_unit_test(test_wide),
					   cmocka_unit_test(test_lost)};

	rnd = test_seed();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
