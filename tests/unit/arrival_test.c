/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests arrivals and rates that change: closed forms are compared with exact rationals, integrals
 * and published statistics. Tests their texts too. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OFFERED "[%s]"
#include "arrival_text.h"
#include "value_is.h"

#define HZ 3000000000.0
#define NS 1e9

static struct pace_shape shape(const struct arrival *a, double from, double to, double step,
			       uint64_t over_ns, double wire)
{
	struct pace_trend t = {.from = from, .to = to, .step = step, .over_ns = over_ns};
	struct pace_shape s;

	pace_shape_make(&s, a, &t, HZ, wire);
	return s;
}

/* Returns when frame k is due, where each frame is one unit long. */
static uint64_t due(const struct pace_shape *s, uint64_t k)
{
	struct pace_at at = {.k = k,
			     .x = PACE_POS(k),
			     .begin = s->burst != 0 ? k - k % s->burst : 0,
			     .slot = 1};

	return pace_shape_due(s, &at, k);
}

/* Returns how many frames are due before t: the number of the first one that is due at t or
 * later. */
static uint64_t frames_before(const struct pace_shape *s, uint64_t t)
{
	uint64_t lo = 0, hi = 1;

	while (due(s, hi) < t)
		hi *= 2;
	while (lo < hi) {
		uint64_t mid = (lo + hi) / 2;
		if (due(s, mid) >= t)
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}

static void near(double got, double want, double by)
{
	if (fabs(got - want) > by)
		fail_msg("%.9g is not %.9g +- %.3g", got, want, by);
}

/* With a steady rate frames have the deadlines of pace.h, to the cycle. Gaps do not vary but by the
 * cycle to which they are rounded. */
static void test_constant(void **state)
{
	static const double pps[] = {1, 10, 148.8, 1e3, 1e6, 14880952.380952};

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(pps); i++) {
		struct pace_shape s = shape(&(struct arrival){0}, pps[i], pps[i], 0, 0, 1e9);
		struct pace p = {.period = pace_period(HZ, pps[i])};
		double sum = 0, squares = 0;
		for (uint64_t k = 1; k <= 100000; k++) {
			double gap = (double)(due(&s, k) - due(&s, k - 1));
			assert_int_equal(due(&s, k), pace_due(&p, k));
			sum += gap;
			squares += (gap - HZ / pps[i]) * (gap - HZ / pps[i]);
		}
		double mean = sum / 1e5, cv = sqrt(squares / 1e5) / mean;
		print_message("constant %.10g pps: coefficient of variation of the gaps %.2e\n",
			      pps[i], cv);
		near(mean, HZ / pps[i], HZ / pps[i] * 1e-4);
		assert_true(cv <= 0.51 / mean); /* gaps are off by one cycle at most */
	}
}

static int up(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Returns Kolmogorov's distance of n gaps to the exponential distribution of their own mean. It has
 * to stay below the 1 % point of Lilliefors' table, 1.25 / sqrt(n) (for the exponential with a mean
 * from the sample 1.2 and more), and the mean within what chance gives, 4 / sqrt(n). */
static double ks_of(double *gap, unsigned n, double *mean)
{
	double sum = 0, most = 0;

	for (unsigned i = 0; i < n; i++)
		sum += gap[i];
	*mean = sum / n;
	qsort(gap, n, sizeof(*gap), up);
	for (unsigned i = 0; i < n; i++) {
		double f = 1 - exp(-gap[i] / *mean), above = (i + 1.0) / n - f,
		       below = f - (double)i / n;
		most = fmax(most, fmax(above, below));
	}
	return most;
}

#define GAPS 100000

static void test_poisson(void **state)
{
	static double gap[GAPS], both[GAPS];
	double mean, d;

	(void)state;
	for (uint64_t seed = 1; seed <= 5; seed++) {
		for (unsigned i = 0; i < GAPS; i++) {
			uint64_t g = pace_poisson_gap(seed, i);
			gap[i] = (double)g / 0x1p32;
			/* The series is compared with the library, to the last bits of 32.32. */
			double u = ((double)(pace_random(seed, i) >> 11) + 0.5) * 0x1p-53;
			near(gap[i], -log(u), 2 * 0x1p-32);
		}
		d = ks_of(gap, GAPS, &mean);
		print_message("poisson, seed %u: mean %.5f, D sqrt(n) = %.3f\n", (unsigned)seed,
			      mean, d * sqrt(GAPS));
		near(mean, 1, 4 / sqrt(GAPS));
		assert_true(d < 1.25 / sqrt(GAPS));
	}
	/* Two queues of half the rate have exponential gaps of the whole rate together. */
	uint64_t seed[2] = {pace_queue_seed(7, 0), pace_queue_seed(7, 1)}, i[2] = {0, 0};
	double at[2], last = 0;
	for (unsigned q = 0; q < 2; q++)
		at[q] = 2 * (double)pace_poisson_gap(seed[q], 0) / 0x1p32;
	for (unsigned n = 0; n < GAPS; n++) {
		unsigned q = at[1] < at[0];
		both[n] = at[q] - last;
		last = at[q];
		at[q] += 2 * (double)pace_poisson_gap(seed[q], ++i[q]) / 0x1p32;
	}
	d = ks_of(both, GAPS, &mean);
	print_message("poisson, two queues: mean %.5f, D sqrt(n) = %.3f\n", mean, d * sqrt(GAPS));
	near(mean, 1, 4 / sqrt(GAPS));
	assert_true(d < 1.25 / sqrt(GAPS));
}

/* Bursts begin as far apart as the rate says; inside them frames are as close as the wire lets
 * them. */
static void test_burst(void **state)
{
	struct pace_shape s =
		shape(&(struct arrival){.kind = ARRIVAL_BURST, .burst = 64}, 1e6, 1e6, 0, 0, 15e6);

	(void)state;
	for (uint64_t k = 0; k < 6400; k++)
		assert_int_equal(due(&s, k), k / 64 * 64 * 3000 + k % 64 * 200);
	/* A rate above the wire's is the rate inside a burst too, so bursts touch. */
	s = shape(&(struct arrival){.kind = ARRIVAL_BURST, .burst = 64}, 20e6, 20e6, 0, 0, 15e6);
	for (uint64_t k = 0; k < 6400; k++)
		assert_int_equal(due(&s, k), k * 150);
	/* If a gap is given, the rate is that inside of a burst. */
	s = shape(&(struct arrival){.kind = ARRIVAL_BURST, .burst = 10, .gap_ns = 1000000}, 1e6,
		  1e6, 0, 0, 15e6);
	for (uint64_t k = 0; k < 1000; k++)
		assert_int_equal(due(&s, k), k * 3000 + k / 10 * 3000000);
	/* A burst of one frame is none. */
	s = shape(&(struct arrival){.kind = ARRIVAL_BURST, .burst = 1}, 1e6, 1e6, 0, 0, 15e6);
	for (uint64_t k = 0; k < 100; k++)
		assert_int_equal(due(&s, k), k * 3000);
}

/* Frames stay within their share of the slot, reach all of it, and never change order. */
static void test_jitter(void **state)
{
	static const double shares[] = {0.01, 0.2, 0.5};

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(shares); i++) {
		struct pace_shape s = shape(&(struct arrival){.kind = ARRIVAL_JITTER,
							      .share = shares[i],
							      .seed = 3},
					    1e5, 1e5, 0, 0, 15e6);
		double width = 2 * shares[i] * 30000, lo = 1e9, hi = 0, sum = 0;
		for (uint64_t k = 0; k < 200000; k++) {
			uint64_t t = due(&s, k);
			double off = (double)(t - k * 30000);
			assert_true(t >= k * 30000 && off <= width);
			assert_true(k == 0 || t >= due(&s, k - 1));
			lo = fmin(lo, off);
			hi = fmax(hi, off);
			sum += off;
		}
		assert_true(lo < width / 100 && hi > width * 0.99);
		near(sum / 200000, width / 2, width / 2 * 0.01);
	}
}

static void test_onoff(void **state)
{
	struct pace_shape s = shape(&(struct arrival){.kind = ARRIVAL_ONOFF,
						      .on_ns = 10000000,
						      .off_ns = 90000000},
				    3e6 + 1, 3e6 + 1, 0, 0, 15e6);

	(void)state;
	/* These are frame 0 and the frames of a bit less than 10 ms. */
	assert_int_equal(frames_before(&s, (uint64_t)(0.1 * HZ)), 30001);
	/* If a period has a whole number of frames, each period has as many, rounding or not. */
	static const double pps[] = {1e3, 1e5, 3e6, 7e6, 1.1e6};
	for (unsigned i = 0; i < ARRAY_SIZE(pps); i++) {
		s = shape(&(struct arrival){.kind = ARRIVAL_ONOFF,
					    .on_ns = 10000000,
					    .off_ns = 90000000},
			  pps[i], pps[i], 0, 0, 15e6);
		for (unsigned n = 0; n < 50; n++) {
			uint64_t begin = n * (uint64_t)(0.1 * HZ);
			assert_int_equal(frames_before(&s, begin + (uint64_t)(0.05 * HZ)),
					 (uint64_t)(pps[i] / 100 * (n + 1)));
			assert_int_equal(frames_before(&s, begin), (uint64_t)(pps[i] / 100 * n));
		}
	}
}

/* Returns the integral of the rate over [0, t). The frames in [0, t) are this number, rounded up,
 * since frame 0 is at 0. */
static double integral(double from, double to, double step, double over, double t)
{
	double n = 0;

	if (step == 0) {
		double in = fmin(t, over);
		return from * in + (to - from) / over * in * in / 2 + to * fmax(0, t - over);
	}
	for (double r = from, at = 0;; at += over) {
		bool last = to > from ? r >= to : r <= to;
		if (last)
			return n + to * (t - at);
		if (t < at + over)
			return n + r * (t - at);
		n += r * over;
		r += to > from ? step : -step;
	}
}

static void test_trends(void **state)
{
	static const struct {
		double from, to, step;
		uint64_t over_ns;
	} trends[] = {
		{1e3, 1e6, 0, 1000000000},    {1e6, 1e3, 0, 1000000000},
		{1, 1e7, 0, 30000000000},     {1e6, 1e6 + 1, 0, 10000000000},
		{1e6, 1e7, 1e6, 500000000},   {1e7, 1e6, 1e6, 500000000},
		{1e3, 10500, 1e3, 100000000}, {10500, 1e3, 1e3, 100000000},
		{1e4, 2e4, 1e4, 100000000},   {1, 10, 1, 2000000000},
		{1e3, 5e3, 2e3, 200000000},   {1e3, 13e3, 4e3, 200000000},
		{1e6, 1e7, 9e6, 100000000},   {1, 1e6, 1e5, 50000000},
	};

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(trends); i++) {
		double from = trends[i].from, to = trends[i].to, step = trends[i].step,
		       over = (double)trends[i].over_ns / NS;
		struct pace_shape s =
			shape(&(struct arrival){0}, from, to, step, trends[i].over_ns, 15e6);
		for (unsigned n = 1; n <= 400; n++) {
			double t = (step > 0 ? over * (fabs(to - from) / step + 2) : over * 2) * n /
				   400;
			double want = integral(from, to, step, over, t);
			near((double)frames_before(&s, (uint64_t)(t * HZ)), ceil(want - 1e-6),
			     want < 1e7 ? 1 : 2);
		}
		/* Frames keep their order, and the last rate is the one that was asked for. */
		for (uint64_t k = 0; k < 100000; k++)
			assert_true(due(&s, k + 1) > due(&s, k));
		uint64_t far = (uint64_t)(integral(from, to, step, over, over * 30) * 2);
		near((double)(due(&s, far + 1000) - due(&s, far)), 1000 * HZ / to, 2);
	}
}

/* A trend bends the time, whatever the arrival: bursts begin where constant frames with the same
 * trend would be. */
static void test_together(void **state)
{
	struct pace_shape flat = shape(&(struct arrival){0}, 1e5, 1e6, 0, 1000000000, 15e6);
	struct pace_shape burst = shape(&(struct arrival){.kind = ARRIVAL_BURST, .burst = 16}, 1e5,
					1e6, 0, 1000000000, 15e6);
	struct pace_shape jitter =
		shape(&(struct arrival){.kind = ARRIVAL_JITTER, .share = 0.5, .seed = 9}, 1e5, 1e6,
		      0, 1000000000, 15e6);

	(void)state;
	for (uint64_t k = 0; k < 100000; k++) {
		assert_int_equal(due(&burst, k), due(&flat, k / 16 * 16) + k % 16 * 200);
		assert_in_range(due(&jitter, k), due(&flat, k), due(&flat, k + 1));
	}
}

/* ---- texts ---- */

static const struct vspec v_arrival = {.type = &vt_arrival}, v_catchup = {.type = &vt_catchup};

static void test_text(void **state)
{
	(void)state;
	is(&v_arrival, "constant", "constant");
	is(&v_arrival, "poisson", "poisson");
	is(&v_arrival, "poisson seed 7", "poisson seed 7");
	is(&v_arrival, "burst 64", "burst 64");
	is(&v_arrival, "burst  64  gap 1500us", "burst 64 gap 1.5ms");
	is(&v_arrival, "jitter 20%", "jitter 20%");
	is(&v_arrival, "jitter 12.50 seed 18446744073709551615",
	   "jitter 12.5% seed 18446744073709551615");
	is(&v_arrival, "jitter 0.01%", "jitter 0.01%");
	is(&v_arrival, "jitter 33.333333%", "jitter 33.333333%");
	is(&v_arrival, "onoff 10ms 90ms", "onoff 10ms 90ms");
	not(&v_arrival, "", -EINVAL, 0, "is empty");
	not(&v_arrival, "gauss", -EINVAL, 0, "is no distribution");
	not(&v_arrival, "poisson 7", -EINVAL, 8, "more after");
	not(&v_arrival, "poisson seed", -EINVAL, 12, "which seed");
	not(&v_arrival, "poisson seed 0", -ERANGE, 13, "0");
	not(&v_arrival, "burst", -EINVAL, 5, "how many frames");
	not(&v_arrival, "burst 0", -ERANGE, 6, "0");
	not(&v_arrival, "burst 2M", -ERANGE, 6, "2M");
	not(&v_arrival, "burst 64 gap", -EINVAL, 12, "how long the gap");
	not(&v_arrival, "burst 64 gap 5", -EINVAL, 14, "unit");
	not(&v_arrival, "burst 64 seed 5", -EINVAL, 9, "more after");
	not(&v_arrival, "jitter", -EINVAL, 6, "how much");
	not(&v_arrival, "jitter 51%", -EINVAL, 7, "out of range");
	not(&v_arrival, "jitter 0%", -EINVAL, 7, "out of range");
	not(&v_arrival, "jitter x", -EINVAL, 7, "not a number");
	not(&v_arrival, "jitter 1.2345678%", -EINVAL, 7, "not a number");
	not(&v_arrival, "onoff 10ms", -EINVAL, 10, "how long not");
	not(&v_arrival, "onoff 0s 1s", -ERANGE, 6, "0s");
	is(&v_catchup, "keep", "keep");
	is(&v_catchup, "skip", "skip");
	is(&v_catchup, "overspeed 10%", "overspeed 10%");
	is(&v_catchup, "overspeed 10000", "overspeed 10000%");
	not(&v_catchup, "drop", -EINVAL, 0, "no way to catch up");
	not(&v_catchup, "skip 5%", -EINVAL, 5, "more after");
	not(&v_catchup, "overspeed", -EINVAL, 9, "how much faster");
	not(&v_catchup, "overspeed 0%", -EINVAL, 10, "out of range");
}

static void test_completion(void **state)
{
	(void)state;
	completes(&v_arrival, "", "[constant][poisson][burst][jitter][onoff]");
	completes(&v_arrival, "p", "[poisson]");
	completes(&v_arrival, "burst ", "");
	completes(&v_arrival, "burst 64 ", "[burst 64 gap]");
	completes(&v_arrival, "jitter 20% s", "[jitter 20% seed]");
	completes(&v_arrival, "poisson ", "[poisson seed]");
	completes(&v_arrival, "poisson seed 5 ", "");
	completes(&v_catchup, "", "[keep][skip][overspeed]");
	completes(&v_catchup, "skip ", "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_constant),   cmocka_unit_test(test_poisson),
		cmocka_unit_test(test_burst),      cmocka_unit_test(test_jitter),
		cmocka_unit_test(test_onoff),      cmocka_unit_test(test_trends),
		cmocka_unit_test(test_together),   cmocka_unit_test(test_text),
		cmocka_unit_test(test_completion),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
