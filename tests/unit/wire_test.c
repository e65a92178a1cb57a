/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests one load in all units, for RFC 2544's frame sizes on links of 10 Mbit/s to 800 Gbit/s, and
 * compares it with integers: frames/s are speed over bits on the wire. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>

#include "value.h"
#include "wire.h"

typedef unsigned __int128 u128;

static const uint64_t speed_mbps[] = {10,    100,   1000,   2500,   5000,   10000, 25000,
				      40000, 50000, 100000, 200000, 400000, 800000};
static const uint64_t size[] = {64, 128, 256, 512, 768, 1024, 1280, 1518};

static bool near(double got, double want)
{
	return fabs(got - want) <= 1e-15 * fabs(want) * 3;
}

/* RFC 2544 appendix B has whole frames/s on 10 Mbit/s. A second of 100 % sends all of them, and no
 * other link has another ratio. */
static void test_line_rate(void **state)
{
	static const uint64_t appendix_b[] = {14880, 8445, 4528, 2349, 1586, 1197, 961, 812};

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(size); i++)
		for (unsigned g = 0; g < ARRAY_SIZE(speed_mbps); g++) {
			uint64_t bps = speed_mbps[g] * 1000000, bits = (size[i] + 20) * 8;
			double pps = wire_most_pps((double)bps, (double)size[i]);
			if (bps == 10000000)
				assert_int_equal((uint64_t)pps, appendix_b[i]);
			assert_int_equal((uint64_t)pps, bps / bits);
			/* pps x bits is the speed, off by at most a bit in 2^52. */
			assert_true(fabsl((long double)pps * (long double)bits -
					  (long double)bps) <= (long double)bps * 0x1p-52L);
			assert_true(near(wire_gap_ns(pps),
					 (double)bits * 1000 / (double)speed_mbps[g]));
			/* The deadlines in [0, 1 s) and in a minute are those of frames k at k x
			 * bits / speed, exactly. */
			assert_int_equal(pace_frames(pps, 1000000000), (bps + bits - 1) / bits);
			assert_int_equal(pace_frames(pps, 60000000000),
					 (uint64_t)(((u128)bps * 60 + bits - 1) / bits));
		}
}

/* A value in any unit is the same load in any other, and back. */
static void test_round_trip(void **state)
{
	static const enum wire_unit unit[] = {WIRE_PPS, WIRE_PERCENT, WIRE_L1_BPS, WIRE_L2_BPS};
	static const double share[] = {0.001, 0.1, 1, 10, 33.3, 99.999, 100};

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(size); i++)
		for (unsigned g = 0; g < ARRAY_SIZE(speed_mbps); g++)
			for (unsigned p = 0; p < ARRAY_SIZE(share); p++) {
				double bps = (double)speed_mbps[g] * 1e6, n = (double)size[i],
				       l1 = bps * share[p] / 100;
				double want[] = {l1 / ((n + 20) * 8), share[p], l1,
						 l1 * n / (n + 20)};
				for (unsigned a = 0; a < ARRAY_SIZE(unit); a++)
					for (unsigned b = 0; b < ARRAY_SIZE(unit); b++) {
						double there = wire_value(unit[b],
									  wire_pps(unit[a], want[a],
										   bps, n),
									  bps, n);
						assert_true(near(there, want[b]));
						double back =
							wire_value(unit[a],
								   wire_pps(unit[b], there, bps, n),
								   bps, n);
						assert_true(near(back, want[a]));
					}
			}
}

/* This holds for text too: what a value prints is read as the same value, so it is the same
 * load. */
static void test_text(void **state)
{
	static const struct {
		enum rate_kind kind;
		enum wire_unit unit;
	} k[] = {
		{RATE_PPS, WIRE_PPS},
		{RATE_PERCENT, WIRE_PERCENT},
		{RATE_L1_BPS, WIRE_L1_BPS},
		{RATE_L2_BPS, WIRE_L2_BPS},
	};
	static const struct vspec spec = {.type = &vt_rate};

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(size); i++)
		for (unsigned g = 0; g < ARRAY_SIZE(speed_mbps); g++)
			for (unsigned u = 0; u < ARRAY_SIZE(k); u++) {
				double bps = (double)speed_mbps[g] * 1e6, n = (double)size[i],
				       pps = wire_most_pps(bps, n) / 3;
				struct rate r = {.kind = k[u].kind,
						 .value = wire_value(k[u].unit, pps, bps, n)},
					    back = {0};
				struct sbuf text = {0};
				vt_rate.print(&spec, &r, &text);
				assert_int_equal(vt_rate.parse(&spec, text.s, &back, NULL), 0);
				assert_true(back.kind == r.kind && back.value == r.value);
				assert_true(near(wire_pps(k[u].unit, back.value, bps, n), pps));
				sbuf_free(&text);
			}
}

/* Sizes may be means of several. */
static void test_means(void **state)
{
	(void)state;
	/* IMIX has 64, 570 and 1518 bytes in the ratio 7:4:1, with overhead on the wire for each of
	 * the 12 frames. */
	double mean = (7 * 64 + 4 * 570 + 1518) / 12.0, bits = (7 * 84 + 4 * 590 + 1538) * 8;

	assert_true(near(wire_most_pps(1e10, mean), 12e10 / bits));
	assert_true(near(wire_value(WIRE_L2_BPS, wire_most_pps(1e10, mean), 1e10, mean),
			 1e10 * (7 * 64 + 4 * 570 + 1518) * 8 / bits));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_line_rate),
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_means),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
