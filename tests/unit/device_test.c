/* SPDX-License-Identifier: BSD-3-Clause */
/* What the settings of a wire come to: chances, times, distributions, room. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "device.h"

#define SPEED 10000000000ull

static struct wire_cfg plain(void)
{
	struct port_cfg c;

	port_cfg_init(&c);
	return c.wire;
}

static void parse(const struct vtype *t, const char *word, uint64_t min, uint64_t max, const char *text, void *out)
{
	const char *const words[] = {word, NULL};
	struct vspec s = {.type = t, .min = min, .max = max, .choices = word != NULL ? words : NULL};
	struct sbuf b = {0};
	struct err e;

	if (t->parse(&s, text, out, &e) != 0)
		fail_msg("%s", e.text);
	t->print(&s, out, &b);
	assert_string_equal(sbuf_str(&b), text);
	sbuf_free(&b);
}

static double share(const struct dut_hits *h)
{
	return (double)h->below / 0x1p64;
}

static void test_acts(void **state)
{
	struct wire_cfg w = plain();

	(void)state;
	assert_false(wire_cfg_acts(&w));
	w.seed = 7;
	assert_false(wire_cfg_acts(&w));
	parse(&vt_hits, "burst", 1, 100, "0.1%", &w.loss);
	assert_true(wire_cfg_acts(&w));
}

static void test_hits(void **state)
{
	struct wire_cfg w = plain();
	struct dut_job j;

	(void)state;
	device_job(&w, SPEED, &j);
	assert_true(j.loss.below == 0 && j.loss.every == 0 && j.loss_burst == 1 && j.reorder_by == 1 && j.corrupt_at == -1 && !j.limited);
	parse(&vt_hits, "burst", 1, 100, "0.1%", &w.loss);
	parse(&vt_hits, NULL, 0, 0, "100%", &w.duplicate);
	parse(&vt_hits, "by", 1, 100, "every 50 by 3", &w.reorder);
	parse(&vt_hits, "at", 0, 100, "50% at 0", &w.corrupt);
	device_job(&w, SPEED, &j);
	assert_true(fabs(share(&j.loss) - 0.001) < 1e-15);
	assert_int_equal(j.duplicate.every, 1);
	assert_int_equal(j.reorder.every, 50);
	assert_int_equal(j.reorder_by, 3);
	assert_int_equal(j.corrupt_at, 0);
	parse(&vt_hits, "burst", 1, 100, "10% burst 8", &w.loss);
	device_job(&w, SPEED, &j);
	assert_int_equal(j.loss_burst, 8);
	assert_true(fabs(pow(1 - share(&j.loss), 8) - 0.9) < 1e-12); /* a frame is not lost when none of 8 begins a burst */
}

static void test_limit(void **state)
{
	static const struct { const char *text; double bytes; double frames; unsigned more; } all[] = {
		{"3Mpps queue 512", 0, 3e6, 24}, {"1Gbps queue 1", 125e6, 0, 24}, {"1Gbps/l2 queue 9", 125e6, 0, 4}, {"10% queue 512", 125e6, 0, 24},
		{"0.5pps queue 512", 0, 0.5, 24},
	};
	double hz = clock_hz();

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(all); i++) {
		struct wire_cfg w = plain();
		struct dut_job j;
		parse(&vt_limit, NULL, 512, 1 << 20, all[i].text, &w.limit);
		device_job(&w, SPEED, &j);
		double cycles = hz / (all[i].bytes > 0 ? all[i].bytes : all[i].frames);
		assert_true(j.limited);
		assert_int_equal(j.by_bytes, all[i].bytes > 0);
		if (j.by_bytes)
			assert_int_equal(j.more_bytes, all[i].more);
		assert_true(fabs((double)j.unit_time / 0x1p32 / cycles - 1) < 1e-6);
		assert_int_equal(j.queue, w.limit.queue);
	}
}

/* The table's value for a probability, as the worker reads it. */
static double law_ns(const struct dut_law *l, double p)
{
	const uint64_t *t = p < 1.0 / DUT_STEPS ? l->low : p >= 1 - 1.0 / DUT_STEPS ? l->high : l->mid;
	double at = t == l->mid ? p * DUT_STEPS : t == l->low ? p * DUT_STEPS * DUT_STEPS : (p - (1 - 1.0 / DUT_STEPS)) * DUT_STEPS * DUT_STEPS;
	unsigned i = (unsigned)at;

	return ((double)t[i] + (double)(t[i + 1] - t[i]) * (at - i)) * 1e9 / clock_hz();
}

static void test_laws(void **state)
{
	struct dut_law *l = calloc(1, sizeof(*l));
	struct delay d;
	double sum = 0;

	(void)state;
	parse(&vt_delay, NULL, 0, 60000000000ull, "exponential 1ms", &d);
	device_law(&d, l);
	for (double p = 0.0005; p < 0.99999; p += 0.00013)
		assert_true(fabs(law_ns(l, p) / (-1e6 * log1p(-p)) - 1) < 0.01);
	for (unsigned i = 0; i < 1000000; i++)
		sum += law_ns(l, (i + 0.5) / 1e6);
	assert_true(fabs(sum / 1e12 - 1) < 0.001);

	parse(&vt_delay, NULL, 0, 60000000000ull, "normal 1ms 100us", &d);
	device_law(&d, l);
	for (double x = -4; x <= 4; x += 0.01)
		assert_true(fabs(law_ns(l, erfc(-x / sqrt(2)) / 2) - (1e6 + x * 1e5)) < 0.02 * 1e5);
	parse(&vt_delay, NULL, 0, 60000000000ull, "normal 100us 1ms", &d); /* time does not go back */
	device_law(&d, l);
	for (unsigned i = 1; i <= DUT_STEPS; i++)
		assert_true(l->mid[i] >= l->mid[i - 1] && l->low[i] >= l->low[i - 1] && l->high[i] >= l->high[i - 1]);
	assert_int_equal(l->mid[0], 0);
	free(l);
}

/* Room for what waits at link speed in frames of any size, and for the queue in the largest. */
static void test_room(void **state)
{
	static const unsigned sizes[] = {64, 65, 85, 128, 570, 1518};
	struct wire_cfg w = plain();

	(void)state;
	parse(&vt_delay, NULL, 0, 60000000000ull, "10ms", &w.delay);
	parse(&vt_limit, NULL, 512, 1 << 20, "1Mpps queue 2000", &w.limit);
	uint64_t room = device_room(&w, SPEED, 1500);
	for (unsigned i = 0; i < ARRAY_SIZE(sizes); i++) {
		double frames = 0.01 * SPEED / 8 / (sizes[i] + 20) + 2000;
		assert_true(frames * ceil((sizes[i] - 4 + 64) / 64.0) <= (double)room);
	}
	assert_true(room * DUT_CELL < 50u << 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_acts), cmocka_unit_test(test_hits), cmocka_unit_test(test_limit), cmocka_unit_test(test_laws),
		cmocka_unit_test(test_room),
	};

	clock_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
