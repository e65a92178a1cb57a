/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests everything that turns ticks into time, or time into ticks, on the counters that machines
 * have: from the 25 MHz of small arm64 to 5 GHz. */
#include <math.h>

#include "arrival.h"
#include "clock.h"
#include "clock_cal.h"
#include "clock_dev.h"
#include "prx_frames.h"
#include "prx_own.h"

static const double clocks[] = {CLOCK_HZ_MIN, 19.2e6,   25e6,        31.25e6, 50e6,
				62.5e6,       62499981, 100e6,       1e9,     2.5e9,
				2596138473,   5e9,      CLOCK_HZ_MAX};

typedef unsigned __int128 u128;

static uint64_t rnd;

static uint64_t draw(void)
{
	rnd ^= rnd << 13;
	rnd ^= rnd >> 7;
	rnd ^= rnd << 17;
	return rnd;
}

/* ---- spans ---- */

static uint64_t exact(uint64_t v, uint64_t by, uint64_t of)
{
	u128 x = ((u128)v * by + of / 2) / of;

	return x >> 64 != 0 ? UINT64_MAX : (uint64_t)x;
}

/* Checks a value to one unit or, if it is centuries, to the last bits of a long double. */
static void near(uint64_t got, uint64_t want)
{
	assert_true((got > want ? got - want : want - got) <= 1 + (want >> 61));
}

static void test_spans(void **state)
{
	(void)state;
	for (unsigned c = 0; c < ARRAY_SIZE(clocks); c++) {
		uint64_t hz = (uint64_t)clocks[c];
		for (unsigned i = 0; i < 20000; i++) {
			uint64_t v = i < 64    ? 1ull << i
				     : i == 64 ? UINT64_MAX
					       : draw() >> draw() % 64;
			uint64_t ns = clock_ns_at(clocks[c], v),
				 cycles = clock_cycles_at(clocks[c], v);
			near(ns, exact(v, 1000000000, hz));
			near(cycles, exact(v, hz, 1000000000));
			/* There and back, half a tick is lost. */
			if (cycles < 1ull << 62 && v < 1ull << 53)
				assert_true(fabs((double)clock_ns_at(clocks[c], cycles) -
						 (double)v) <= 0.5e9 / clocks[c] + 1);
		}
	}
}

/* ---- deadlines ---- */

static void test_deadlines(void **state)
{
	static const double pps[] = {1, 999, 1e6, 14880952, 148809524};

	(void)state;
	for (unsigned c = 0; c < ARRAY_SIZE(clocks); c++)
		for (unsigned r = 0; r < ARRAY_SIZE(pps); r++) {
			struct pace p = {.period = pace_period(clocks[c], pps[r]), .t0 = 7};
			uint64_t hz = (uint64_t)clocks[c], n = (uint64_t)pps[r];
			assert_false(pace_is_max(&p));
			for (unsigned i = 0; i < 2000; i++) {
				uint64_t k = draw() >> (24 + draw() % 40),
					 due = pace_due(&p, k) - p.t0;
				u128 want = (u128)k * hz / n;
				/* A deadline lacks what is lost of a period, 2^-64 of a tick, once
				 * for each frame. */
				if (want >> 62 == 0)
					assert_true((u128)due <= want + 1 && want <= (u128)due + 2);
			}
			/* All frames of a second become due, even where several have the same
			 * tick. */
			unsigned ready = 0;
			for (uint64_t k = 0; k < n && k < 4096; k += ready) {
				uint64_t now = pace_due(&p, k + 31);
				ready = pace_ready(&p, k, 1, 64, now);
				assert_true(ready >= 32 &&
					    (ready == 64 || pace_due(&p, k + ready) > now));
			}
		}
}

static uint64_t shape_due(const struct pace_shape *s, uint64_t k)
{
	struct pace_at at = {.k = k,
			     .x = PACE_POS(k),
			     .begin = s->burst != 0 ? k - k % s->burst : 0,
			     .slot = 1};

	return pace_shape_due(s, &at, k);
}

/* Checks how many frames are due in the first second: as many as the shape has by arithmetic, give
 * or take those of one edge. */
static void shape_case(double hz, const struct arrival *a, double from, double to, uint64_t over_ns,
		       double want, double give)
{
	struct pace_trend t = {.from = from, .to = to, .over_ns = over_ns};
	struct pace_shape s;
	uint64_t lo = 0, hi = 1, second = (uint64_t)hz;

	pace_shape_make(&s, a, &t, hz, 14880952);
	while (shape_due(&s, hi) < second)
		hi *= 2;
	while (lo < hi) {
		uint64_t mid = (lo + hi) / 2;
		if (shape_due(&s, mid) >= second)
			hi = mid;
		else
			lo = mid + 1;
	}
	if (fabs((double)lo - want) > give)
		fail_msg(
			"on a clock of %.9g Hz %llu frames of kind %u are due in a second, not %.9g +- %g",
			hz, (unsigned long long)lo, a->kind, want, give);
	for (uint64_t k = 1; k < 3000; k++)
		assert_true(shape_due(&s, k) >= shape_due(&s, k - 1));
}

static void test_shapes(void **state)
{
	(void)state;
	for (unsigned c = 0; c < ARRAY_SIZE(clocks); c++) {
		double hz = clocks[c], tick = 1e9 / hz;
		shape_case(hz, &(struct arrival){0}, 1e6, 1e6, 0, 1e6, 1);
		shape_case(hz, &(struct arrival){0}, 1e6, 3e6, 1000000000, 2e6, 2);
		shape_case(hz, &(struct arrival){.kind = ARRIVAL_BURST, .burst = 64}, 1e6, 1e6, 0,
			   1e6, 64);
		shape_case(hz, &(struct arrival){.kind = ARRIVAL_JITTER, .share = 0.2, .seed = 3},
			   1e6, 1e6, 0, 1e6, 1);
		shape_case(hz,
			   &(struct arrival){.kind = ARRIVAL_ONOFF,
					     .on_ns = 10000000,
					     .off_ns = 90000000},
			   1e6, 1e6, 0, 1e5, 10);
		/* On and off are so few ticks that each is off by up to half a tick. The share of
		 * the time is known to that. */
		double on = fmax(round(250 / tick), 1), off = round(750 / tick);
		shape_case(hz,
			   &(struct arrival){.kind = ARRIVAL_ONOFF, .on_ns = 250, .off_ns = 750},
			   1e6, 1e6, 0, 1e6 * on / (on + off), 2);
		/* Times of less than a tick become one tick, and the first frame is in the first of
		 * them. */
		struct pace_trend t = {.from = 1e5, .to = 1e5};
		struct pace_shape s;
		pace_shape_make(
			&s, &(struct arrival){.kind = ARRIVAL_ONOFF, .on_ns = 1, .off_ns = 1000},
			&t, hz, 14880952);
		assert_int_equal(shape_due(&s, 0), 0);
	}
}

/* ---- probes ---- */

static struct prx_spec spec_at(double hz)
{
	static const uint8_t latency[1] = {1};

	return (struct prx_spec){.nports = 1,
				 .of = {{1, 1}},
				 .latency = latency,
				 .window_blocks = 2,
				 .holes = 1,
				 .hz = (uint64_t)hz,
				 .ns_mult = (uint64_t)(1e9 / hz * 0x1p32)};
}

static void receive(struct prx *x, uint32_t seq, uint64_t transit, uint64_t delay, uint64_t now)
{
	uint8_t bytes[PRX_LEN];
	struct rte_mbuf m = {.buf_addr = bytes,
			     .data_len = PRX_LEN,
			     .pkt_len = PRX_LEN,
			     .buf_len = PRX_LEN,
			     .nb_segs = 1},
			*list[1] = {&m};

	put_frame(bytes, seq, 0, 0, 0, now - transit, delay);
	prx_burst(x, list, 1, now);
}

/* Checks that the histogram holds this one value, but for what a slot of it and the last bit of the
 * factor leave open. */
static void holds(const struct hist *h, double ns)
{
	double most = ns * 1e-9 + 1;

	assert_int_equal(hist_count(h), 1);
	if (ns >= 0x1p36)
		assert_int_equal(h->above, 1);
	else
		assert_true((double)hist_min(h) <= ns + most &&
			    (double)hist_max(h) + most >= floor(ns));
}

static void test_probes(void **state)
{
	static const double ns[] = {0, 1, 20, 40, 41, 1000, 12345, 1e6, 1e9, 13e9, 60e9, 69e9};

	(void)state;
	for (unsigned c = 0; c < ARRAY_SIZE(clocks); c++)
		for (unsigned turn = 0; turn < 3; turn++)
			for (unsigned i = 0; i < ARRAY_SIZE(ns); i++) {
				struct prx_spec s = spec_at(clocks[c]);
				struct prx *x = prx_new(&s);
				uint64_t transit =
					(uint64_t)(ns[i] * clocks[c] / 1e9) & PROBE_SENT_MASK;
				uint64_t delay = (uint64_t)(clocks[c] / 1e4) >> 1 << 1;
				double tick = 1e9 / clocks[c];
				delay = delay < 1 << 15 ? delay : 1 << 14;
				x->ops = ops_of(turn);
				receive(x, 0, transit, delay, 1ull << 40);
				if (transit >= PRX_LATEST) {
					assert_int_equal(prx_port(x)->early, 1);
				} else {
					holds(prx_port_hist(x, PRX_ACTUAL), (double)transit * tick);
					holds(prx_port_hist(x, PRX_INTENDED),
					      (double)(transit + delay) * tick);
					holds(prx_stream_hist(x, 0, 0, PRX_ACTUAL),
					      (double)transit * tick);
					assert_int_equal(prx_flow(x, 0, 0, 0)->transit_max,
							 transit);
				}
				/* The gap to the next probe is right, and the number that it has
				 * after a silence counts as possible. */
				receive(x, (uint32_t)(uint64_t)(ns[i] / 3), 0, 0,
					(1ull << 40) + (uint64_t)(ns[i] * clocks[c] / 1e9));
				assert_int_equal(prx_port(x)->probes, 2);
				assert_int_equal(prx_port(x)->foreign, 0);
				holds(prx_port_hist(x, PRX_GAP),
				      (double)(uint64_t)(ns[i] * clocks[c] / 1e9) * tick);
				free(x);
			}
}

/* The shortest windows are a microsecond, to half a tick. The windows of all scales fit into each
 * other. */
static void test_windows(void **state)
{
	(void)state;
	for (unsigned c = 0; c < ARRAY_SIZE(clocks); c++) {
		struct prx_spec s = spec_at(clocks[c]);
		struct prx *x = prx_new(&s);
		assert_true(fabs((double)prx_port(x)->scale[0].cycles - clocks[c] / 1e6) <= 0.5);
		for (unsigned i = 1; i < PRX_SCALES; i++)
			assert_int_equal(prx_port(x)->scale[i].cycles,
					 10 * prx_port(x)->scale[i - 1].cycles);
		free(x);
	}
	struct prx_spec slow = spec_at(3e6);
	assert_int_equal(prx_size(&slow), 0);
}

/* ---- readings of other clocks, by a counter that shows whole ticks ---- */

static double part(void)
{
	return (double)(draw() >> 33) * 0x1p-31;
}

/* Makes a bracket: the other clock is read somewhere between two readings of the counter, which
 * show only ticks that have ended. */
static void bracket(double hz, double at_s, double width_s, uint64_t *tsc, uint64_t *width)
{
	double before = width_s * part();
	uint64_t a = (uint64_t)((at_s - before) * hz),
		 b = (uint64_t)((at_s - before + width_s) * hz);

	*tsc = a + (b - a) / 2;
	*width = b - a;
}

static void test_calibration(void **state)
{
	(void)state;
	for (unsigned c = 0; c < ARRAY_SIZE(clocks); c++)
		for (unsigned round = 0; round < 50; round++) {
			struct clock_cal cal;
			struct clock_reading r;
			uint64_t begin = 100000000 + draw() % 1000000;
			for (unsigned i = 0; i < 30; i++) {
				r.ns = begin + i * 20000000ull;
				bracket(clocks[c], (double)r.ns * 1e-9, 20e-9 + 60e-9 * part(),
					&r.tsc, &r.width);
				if (i == 0)
					clock_cal_begin(&cal, r);
				else
					assert_true(clock_cal_add(&cal, r));
				assert_true(i == 0 || fabs(cal.hz / clocks[c] - 1) * 1e6 <=
							      cal.uncertainty_ppm * (1 + 1e-6));
			}
			assert_true(cal.restarts == 0 && cal.rejected == 0);
			assert_true(clock_cal_moved(&cal, begin) >= 0);
			/* On each of the clocks a reading that was interrupted for 20 us is not
			 * used. */
			r.ns += 20000000;
			bracket(clocks[c], (double)r.ns * 1e-9, 20e-6, &r.tsc, &r.width);
			assert_false(clock_cal_add(&cal, r));
			assert_int_equal(cal.rejected, 1);
		}
}

/* The clocks of devices may be faster or slower than the counter. */
static void test_devices(void **state)
{
	static const double device_hz[] = {1e6, 125e6, 1e9};

	(void)state;
	for (unsigned c = 0; c < ARRAY_SIZE(clocks); c++)
		for (unsigned v = 0; v < ARRAY_SIZE(device_hz); v++) {
			struct clock_dev d;
			double now = 1;
			clock_dev_begin(&d, clocks[c]);
			for (unsigned i = 0; i < 60; i++, now += 0.02) {
				struct clock_dev_reading r = {
					.ticks = (uint64_t)(now * device_hz[v])};
				bracket(clocks[c], now, 100e-9 + 200e-9 * part(), &r.tsc, &r.width);
				assert_true(clock_dev_add(&d, r));
				for (unsigned k = 0; clock_dev_known(&d) && k < 8; k++) {
					double at = now + 0.02 * part(), tsc = at * clocks[c];
					double got =
						(double)clock_dev_last(&d)->tsc +
						(double)(int64_t)((uint64_t)(at * device_hz[v]) -
								  clock_dev_last(&d)->ticks) *
							d.cycles_per_tick;
					assert_true(fabs(got - tsc) <=
						    clock_dev_error(&d, (uint64_t)tsc));
				}
			}
			assert_int_equal(d.steps, 0);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_spans),   cmocka_unit_test(test_deadlines),
		cmocka_unit_test(test_shapes),  cmocka_unit_test(test_probes),
		cmocka_unit_test(test_windows), cmocka_unit_test(test_calibration),
		cmocka_unit_test(test_devices),
	};

	rnd = test_seed_not_0();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
