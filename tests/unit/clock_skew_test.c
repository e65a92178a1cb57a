/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests how the counters of two threads are compared, one of which is made to be ahead, and how the
 * results are judged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "clock_skew.h"

#define FOREVER ((uint64_t)INT64_MAX / 2)
/* This many cycles are longer than any thread waits for a CPU. */
#define FAR 1000000000000

static void *other(void *arg)
{
	clock_pong(arg);
	return NULL;
}

static bool compare(int64_t ahead, unsigned rounds, uint64_t cycles, struct clock_skew *out)
{
	struct clock_pingpong p = {.ahead = ahead};
	pthread_t t;

	assert_int_equal(pthread_create(&t, NULL, other, &p), 0);
	bool answered = clock_ping(&p, rounds, clock_tsc() + cycles, out);
	assert_int_equal(pthread_join(t, NULL), 0);
	return answered;
}

/* Threads may share a CPU here; then rounds are slow, and bounds are wide but right. The counters
 * of this machine are taken to be in step. */
static void test_rounds(void **state)
{
	static const int64_t ahead[] = {0, FAR, -FAR};
	struct clock_skew s;

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(ahead); i++) {
		assert_true(compare(ahead[i], 20, FOREVER, &s));
		assert_int_equal(s.rounds, 20);
		assert_true(s.lo <= ahead[i] && ahead[i] <= s.hi);
		int64_t proven = clock_skew_proven(&s);
		assert_true(ahead[i] == 0  ? proven == 0
			    : ahead[i] > 0 ? proven > FAR / 2 && proven <= FAR
					   : proven < -FAR / 2 && proven >= -FAR);
	}
}

/* If there is no time at all there is no answer, nothing is claimed, and the other thread is
 * released. */
static void test_no_answer(void **state)
{
	struct clock_pingpong p = {0};
	struct clock_skew s;

	(void)state;
	assert_false(clock_ping(&p, 10, clock_tsc(), &s));
	assert_int_equal(s.rounds, 0);
	assert_true(clock_skew_proven(&s) == 0);
	clock_pong(&p); /* it comes late, and returns at once */
}

static void test_proven(void **state)
{
	static const struct {
		struct clock_skew s;
		int64_t proven;
	} t[] = {
		{{-100, 120, 5}, 0}, {{0, 0, 5}, 0},        {{-100, 0, 5}, 0},
		{{30, 200, 5}, 30},  {{-200, -30, 5}, -30}, {{30, 200, 0}, 0},
		{{50, 20, 5}, 50},   {{5, -30, 5}, -30},    {{-5, -1000000, 5}, -1000000},
		{{70, -30, 5}, 70},
	};

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(t); i++)
		assert_true(clock_skew_proven(&t[i].s) == t[i].proven);
}

static void test_judge(void **state)
{
	/* The counters run at 2 GHz, so 100 ns are 200 cycles. */
	struct clock_cpu cpus[] = {
		/* This one shares control's CPU. */
		{.cpu = 0, .lcore = 1},
		{.cpu = 1, .lcore = 2, .skew = {-150, 140, 200}},
		/* This one is proven to be ahead, but not by much. */
		{.cpu = 2, .lcore = 3, .skew = {190, 500, 200}},
		{.cpu = -1, .lcore = 4, .unchecked = "its thread may run on several CPUs"},
		{.cpu = 4,
		 .lcore = 5,
		 .skew = {-90000, -80000, 200},
		 .unchecked = "its CPU was busy with something else"},
		{.cpu = 5, .lcore = 6, .skew = {-1000, 1000, 200}},
	};
	struct err e = {{0}};

	(void)state;
	assert_int_equal(clock_skew_judge(cpus, 0, 0, 2e9, &e), 0);
	assert_int_equal(clock_skew_judge(cpus, ARRAY_SIZE(cpus), 0, 2e9, &e), 0);
	assert_string_equal(e.text, "");
	cpus[5].skew = (struct clock_skew){2468, 2900, 200};
	assert_int_equal(clock_skew_judge(cpus, ARRAY_SIZE(cpus), 0, 2e9, &e), -ENODEV);
	assert_non_null(
		strstr(e.text,
		       "CPU 5 (lcore 6) is at least 1234 ns ahead of that of CPU 0 (control)"));
	assert_non_null(strstr(e.text, "(of those looked at: 0,1,2) with `-l LIST --`"));
	/* The worst one is named. */
	cpus[1].skew = (struct clock_skew){-90000, -80000, 200};
	assert_int_equal(clock_skew_judge(cpus, ARRAY_SIZE(cpus), 0, 2e9, &e), -ENODEV);
	assert_non_null(
		strstr(e.text, "CPU 1 (lcore 2) is at least 40000 ns behind that of CPU 0"));
	assert_non_null(strstr(e.text, "(of those looked at: 0,2)"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rounds),
		cmocka_unit_test(test_no_answer),
		cmocka_unit_test(test_proven),
		cmocka_unit_test(test_judge),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
