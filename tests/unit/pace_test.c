/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares deadlines with exact rationals, the number of due frames with a loop, and wire
 * arithmetic with the published tables. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>

#include "pace.h"

typedef unsigned __int128 u128;

static uint64_t rnd_state = 88172645463325252ull;

static uint64_t rnd(void)
{
	rnd_state ^= rnd_state << 13;
	rnd_state ^= rnd_state >> 7;
	rnd_state ^= rnd_state << 17;
	return rnd_state;
}

/* Frame k of pps frames/s on a clock of hz cycles is due at floor(k x hz / pps), give or take the
 * last bit of the period. Both numbers are whole. */
static void test_deadline(void **state)
{
	static const uint64_t hz[] = {1000000000, 2099999957, 2599998137, 24000000, 4999999999};
	static const uint64_t pps[] = {1,        3,         7,          1000,      999983,
				       14880952, 148809524, 1190476190, 3000000001};
	static const uint64_t k[] = {
		0, 1, 2, 3, 1000, 123456789, 1000000007, 999999999999, 1000000000000};

	(void)state;
	for (unsigned h = 0; h < ARRAY_SIZE(hz); h++)
		for (unsigned r = 0; r < ARRAY_SIZE(pps); r++)
			for (unsigned i = 0; i < ARRAY_SIZE(k); i++) {
				struct pace p = {.period =
							 pace_period((double)hz[h], (double)pps[r]),
						 .t0 = 12345};
				uint64_t exact = (uint64_t)((u128)k[i] * hz[h] / pps[r]),
					 got = pace_due(&p, k[i]) - p.t0;
				/* this is a century and more */
				if ((u128)k[i] * hz[h] / pps[r] >> 63 != 0)
					continue;
				/* There is no drift after 10^12 frames. */
				assert_in_range(got + 1, exact, exact + 2);
			}
}

/* The fixed-point product itself is what long multiplication by hand of 64.64 by 64 bits gives,
 * with any period. */
static void test_product(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 200000; i++) {
		struct pace p = {.period = {.cycles = rnd() >> (20 + rnd() % 44), .frac = rnd()},
				 .k0 = rnd() >> 20,
				 .t0 = rnd()};
		uint64_t n = rnd() >> (24 + rnd() % 40);
		u128 lo = (u128)(uint32_t)p.period.frac * n, hi = (u128)(p.period.frac >> 32) * n;
		uint64_t want = p.t0 + n * p.period.cycles + (uint64_t)((hi + (lo >> 32)) >> 32);
		assert_int_equal(pace_due(&p, p.k0 + n), want);
		assert_true((int64_t)(pace_due(&p, p.k0 + n + 1) - pace_due(&p, p.k0 + n)) >=
			    (int64_t)p.period.cycles);
	}
}

static unsigned ready_by_loop(const struct pace *p, uint64_t k, uint64_t step, unsigned max,
			      uint64_t now)
{
	unsigned n = 0;

	while (n < max && (int64_t)(now - pace_due(p, k + n * step)) >= 0)
		n++;
	return n;
}

static void test_ready(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 200000; i++) {
		struct pace p = {.period = {.cycles = rnd() % 5000, .frac = rnd() | 1},
				 .k0 = rnd() % 1000,
				 .t0 = rnd()};
		uint64_t step = 1 + rnd() % 16, k = p.k0 + rnd() % 100000, now = pace_due(&p, k);
		unsigned max = (unsigned)(rnd() % 513);
		now += rnd() % 3 == 0 ? rnd() % 3
				      : rnd() % (1 + 600 * step * (p.period.cycles + 1));
		now -= rnd() % 4 == 0 ? 1 + rnd() % 10000 : 0;
		assert_int_equal(pace_ready(&p, k, step, max, now),
				 ready_by_loop(&p, k, step, max, now));
		/* This looks on the cycle of a deadline, and on the one before it. */
		unsigned j = (unsigned)(rnd() % 32);
		now = pace_due(&p, k + j * step);
		assert_true(pace_ready(&p, k, step, 32, now) >= j + 1);
		if (p.period.cycles > 1)
			assert_int_equal(pace_ready(&p, k, step, 32, now - 1), j);
	}
}

/* At the slowest rates the sender does not look so far ahead of a burst that a comparison turns
 * over. */
static void test_slow(void **state)
{
	static const double pps[] = {1, 1e-3, 1e-6, 1e-9, 1e-12, 1e-30, 0};

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(pps); i++)
		for (uint64_t q = 1; q <= 256; q *= 2) {
			/* The clock may turn over too. */
			struct pace p = {.period = pace_period(2.6e9, pps[i]),
					 .t0 = UINT64_MAX - 1000};
			assert_false(pace_is_max(&p));
			for (uint64_t k = q - 1; k < q; k++) {
				assert_int_equal(pace_ready(&p, k, q, 512, pace_due(&p, k) - 1), 0);
				assert_int_equal(pace_ready(&p, k, q, 512, pace_due(&p, k)), 1);
				assert_int_equal(pace_ready(&p, k + q, q, 512, pace_due(&p, k)), 0);
			}
			assert_int_equal(pace_ready(&p, q, q, 512, p.t0), 0);
			assert_int_equal(pace_ready(&p, 0, q, 0, p.t0), 0);
		}
	/* The fastest rate is above the clock's, and still paced. */
	struct pace p = {.period = pace_period(1e9, 1e12)};
	assert_false(pace_is_max(&p));
	assert_int_equal(p.period.cycles, 0);
	assert_in_range(pace_due(&p, 1000000), 999, 1000);
	p.period = pace_period(1e9, INFINITY);
	assert_false(pace_is_max(&p));
	p.period = (struct pace_period){0};
	assert_true(pace_is_max(&p));
}

/* With rates of bytes a frame of n bytes is n units long, and many frames of one size are one long
 * product. */
static void test_bytes(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 200000; i++) {
		struct pace p = {.period = {.cycles = rnd() % 50, .frac = rnd()}, .t0 = rnd()};
		uint64_t size = 84 + rnd() % 16320, k = rnd() % 1000000000;
		struct pace frames = {.period = pace_times(&p.period, size), .t0 = p.t0};
		assert_int_equal(pace_due(&frames, k), pace_due(&p, k * size));
		uint64_t step = 1 + rnd() % 64,
			 now = pace_due(&frames, k) +
			       rnd() % (1 + 40 * step * frames.period.cycles);
		assert_int_equal(pace_ready(&frames, k, step, 32, now),
				 pace_ready(&p, k * size, step * size, 32, now));
	}
	/* 10 Gbit/s on a clock of 2.5 GHz are 84 bytes on the wire every 168 cycles. */
	struct pace p = {.period = pace_byte_period(2.5e9, 1.25e9)};
	assert_int_equal(pace_due(&p, 84 * 1000000), 168 * 1000000);
	/* At the slowest rate the next frame of 256 queues, however long, stays within a signed
	 * comparison. */
	p.period = pace_byte_period(1e9, 1e-30);
	assert_true((int64_t)pace_due(&p, 256 * 16404) > 0);
	assert_int_equal(pace_ready(&p, 256 * 16404, 256 * 16404, 512, pace_due(&p, 256 * 16404)),
			 1);
	assert_int_equal(pace_ready(&p, 256 * 16404, 256 * 16404, 512,
				    pace_due(&p, 256 * 16404) - 1),
			 0);
}

static void test_scale(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 20000; i++) {
		double a = (double)(1 + rnd() % 1000000), b = (double)(1 + rnd() % 1000000);
		struct pace_period pa = pace_period(1e9, a), pb = pace_period(1e9, b);
		uint64_t wait = rnd() % (pa.cycles + 1);
		double want = (double)wait * a / b;
		assert_true(fabs((double)pace_scale(wait, &pa, &pb) - want) <= 1 + want * 1e-9);
		assert_int_equal(pace_scale(wait, &pa, &pa), wait);
	}
	struct pace_period slow = pace_period(1e9, 0), fast = pace_period(1e9, 1e12);
	/* the result stays comparable */
	assert_true((int64_t)pace_scale(1ull << 62, &fast, &slow) > 0);
	assert_int_equal(pace_scale(0, &fast, &slow), 0);
}

/* The deadlines in [0, D) are those with k < pps x D, so a deadline at the end does not count. */
static void test_frames(void **state)
{
	(void)state;
	assert_int_equal(pace_frames(1000, 1000000000), 1000);
	assert_int_equal(pace_frames(1000, 1000000001), 1001);
	assert_int_equal(pace_frames(1000, 999999999), 1000);
	assert_int_equal(pace_frames(1000, 1), 1);
	assert_int_equal(pace_frames(1, 1), 1);
	assert_int_equal(pace_frames(1e-6, 1000000000), 1);
	/* 0.1 is no binary number, but 3 frames are meant. */
	assert_int_equal(pace_frames(0.1, 30000000000), 3);
	assert_int_equal(pace_frames(1e12, UINT64_MAX), UINT64_MAX);
	for (unsigned i = 0; i < 100000; i++) {
		uint64_t pps = 1 + rnd() % 1000000, ns = 1 + rnd() % 500000000;
		u128 product = (u128)pps * ns;
		uint64_t want = (uint64_t)((product + 999999999) / 1000000000);
		assert_int_equal(pace_frames((double)pps, ns), want);
	}
	/* This holds for large numbers too, but for what a double cannot tell from a whole
	 * number. */
	for (unsigned i = 0; i < 100000; i++) {
		uint64_t pps = 1 + rnd() % 200000000, ns = 1 + rnd() % 100000000000ull,
			 most = 1000000000;
		u128 product = (u128)pps * ns;
		if (product % most * 10000 > most && (most - product % most) * 10000 > most)
			assert_int_equal(pace_frames((double)pps, ns),
					 (uint64_t)(product / most) + 1);
	}
	/* This is line rate: 100 % of 10 Gbit/s at 64 bytes for a minute. */
	assert_int_equal(pace_frames(1e10 / 672, 60000000000), 892857143);
}

/* Line rates are those of RFC 2544 appendix B (frames/s on 10 Mbit/s Ethernet) and of today's
 * links. Frame sizes include the FCS. */
static void test_wire(void **state)
{
	static const struct {
		uint64_t size;
		unsigned fps;
	} rfc[] = {
		{64, 14880}, {128, 8445},  {256, 4528}, {512, 2349},
		{768, 1586}, {1024, 1197}, {1280, 961}, {1518, 812},
	};
	static const uint64_t gbit[] = {10, 25, 40, 50, 100, 200, 400, 800},
			      size[] = {64, 128, 512, 1518};
	static const double mpps[][4] = {
		{14.881, 8.446, 2.350, 0.813},      {37.202, 21.115, 5.874, 2.032},
		{59.524, 33.784, 9.398, 3.251},     {74.405, 42.230, 11.748, 4.064},
		{148.810, 84.459, 23.496, 8.127},   {297.619, 168.919, 46.992, 16.255},
		{595.238, 337.838, 93.985, 32.510}, {1190.476, 675.676, 187.970, 65.020},
	};

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(rfc); i++)
		assert_int_equal(10000000 / pace_l1_bits(rfc[i].size), rfc[i].fps);
	for (unsigned g = 0; g < ARRAY_SIZE(gbit); g++)
		for (unsigned s = 0; s < ARRAY_SIZE(size); s++) {
			double pps = (double)gbit[g] * 1e9 / (double)pace_l1_bits(size[s]);
			assert_true(fabs(pps / 1e6 - mpps[g][s]) <= 0.0005000001);
			/* A second of line rate is paced to the frame. */
			struct pace p = {.period = pace_period(3e9, pps)};
			uint64_t n = pace_frames(pps, 1000000000);
			assert_true(pace_due(&p, n - 1) < 3000000000);
			assert_true(pace_due(&p, n) + 1 >= 3000000000);
		}
	for (uint64_t b = 64; b <= 16384; b++) {
		assert_int_equal(pace_l1_bits(b) - pace_l2_bits(b), 160);
		assert_int_equal(pace_l2_bits(b), 8 * b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_deadline), cmocka_unit_test(test_product),
		cmocka_unit_test(test_ready),    cmocka_unit_test(test_slow),
		cmocka_unit_test(test_bytes),    cmocka_unit_test(test_scale),
		cmocka_unit_test(test_frames),   cmocka_unit_test(test_wire),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
