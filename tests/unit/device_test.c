/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests what follows from the settings of a wire: chances, times, distributions, room. */
#include "ctl_live.h"
#include "wire_ctl.h"

#define SPEED 10000000000ull

static struct wire_cfg plain(void)
{
	struct port_cfg cfg;

	ctl_cfg_init(&cfg);
	return *(struct wire_cfg *)work_cfg(&cfg, &work_wire);
}

static void parse(const struct vtype *t, const char *word, uint64_t min, uint64_t max,
		  const char *text, void *out)
{
	const char *const words[] = {word, NULL};
	struct vspec s = {.type = t,
			  .min = min,
			  .max = max,
			  .choices = word != NULL ? words : NULL};
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
	assert_false(wire_dut_acts(&w));
	w.seed = 7;
	assert_false(wire_dut_acts(&w));
	parse(&vt_hits, "burst", 1, 100, "0.1%", &w.loss);
	assert_true(wire_dut_acts(&w));
}

static void test_hits(void **state)
{
	struct wire_cfg w = plain();
	struct dut_job j;

	(void)state;
	wire_dut_job(&w, SPEED, &j);
	assert_true(j.loss.below == 0 && j.loss.every == 0 && j.loss_burst == 1 &&
		    j.reorder_by == 1 && j.corrupt_at == -1 && !j.limited);
	parse(&vt_hits, "burst", 1, 100, "0.1%", &w.loss);
	parse(&vt_hits, NULL, 0, 0, "100%", &w.duplicate);
	parse(&vt_hits, "by", 1, 100, "every 50 by 3", &w.reorder);
	parse(&vt_hits, "at", 0, 100, "50% at 0", &w.corrupt);
	wire_dut_job(&w, SPEED, &j);
	assert_true(fabs(share(&j.loss) - 0.001) < 1e-15);
	assert_int_equal(j.duplicate.every, 1);
	assert_int_equal(j.reorder.every, 50);
	assert_int_equal(j.reorder_by, 3);
	assert_int_equal(j.corrupt_at, 0);
	parse(&vt_hits, "burst", 1, 100, "10% burst 8", &w.loss);
	wire_dut_job(&w, SPEED, &j);
	assert_int_equal(j.loss_burst, 8);
	/* A frame is not lost when none of 8 frames begins a burst. */
	assert_true(fabs(pow(1 - share(&j.loss), 8) - 0.9) < 1e-12);
}

static void test_limit(void **state)
{
	static const struct {
		const char *text;
		double bytes;
		double frames;
		unsigned more;
	} all[] = {
		{"3Mpps queue 512", 0, 3e6, 24},   {"1Gbps queue 1", 125e6, 0, 24},
		{"1Gbps/l2 queue 9", 125e6, 0, 4}, {"10% queue 512", 125e6, 0, 24},
		{"0.5pps queue 512", 0, 0.5, 24},
	};
	double hz = clock_hz();

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(all); i++) {
		struct wire_cfg w = plain();
		struct dut_job j;
		parse(&vt_limit, NULL, 512, 1 << 20, all[i].text, &w.limit);
		wire_dut_job(&w, SPEED, &j);
		double cycles = hz / (all[i].bytes > 0 ? all[i].bytes : all[i].frames);
		assert_true(j.limited);
		assert_int_equal(j.by_bytes, all[i].bytes > 0);
		if (j.by_bytes)
			assert_int_equal(j.more_bytes, all[i].more);
		assert_true(fabs((double)j.unit_time / 0x1p32 / cycles - 1) < 1e-6);
		assert_int_equal(j.queue, w.limit.queue);
	}
}

/* Returns the table's value for a probability, as the worker reads it. */
static double law_ns(const struct dut_law *l, double p)
{
	const uint64_t *t = p < 1.0 / DUT_STEPS        ? l->low
			    : p >= 1 - 1.0 / DUT_STEPS ? l->high
						       : l->mid;
	double at = t == l->mid   ? p * DUT_STEPS
		    : t == l->low ? p * DUT_STEPS * DUT_STEPS
				  : (p - (1 - 1.0 / DUT_STEPS)) * DUT_STEPS * DUT_STEPS;
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
	wire_dut_law(&d, l);
	for (double p = 0.0005; p < 0.99999; p += 0.00013)
		assert_true(fabs(law_ns(l, p) / (-1e6 * log1p(-p)) - 1) <
			    0.01 + 1e9 / clock_hz() / (-1e6 * log1p(-p)));
	for (unsigned i = 0; i < 1000000; i++)
		sum += law_ns(l, (i + 0.5) / 1e6);
	assert_true(fabs(sum / 1e12 - 1) < 0.001);

	parse(&vt_delay, NULL, 0, 60000000000ull, "normal 1ms 100us", &d);
	wire_dut_law(&d, l);
	for (double x = -4; x <= 4; x += 0.01)
		assert_true(fabs(law_ns(l, erfc(-x / sqrt(2)) / 2) - (1e6 + x * 1e5)) < 0.02 * 1e5);
	/* Delays below 0 do not occur, since time does not go back. */
	parse(&vt_delay, NULL, 0, 60000000000ull, "normal 100us 1ms", &d);
	wire_dut_law(&d, l);
	for (unsigned i = 1; i <= DUT_STEPS; i++)
		assert_true(l->mid[i] >= l->mid[i - 1] && l->low[i] >= l->low[i - 1] &&
			    l->high[i] >= l->high[i - 1]);
	assert_int_equal(l->mid[0], 0);
	free(l);
}

/* There is room for what waits at link speed in frames of any size, and for the queue in frames of
 * the largest size. */
static void test_room(void **state)
{
	static const unsigned sizes[] = {64, 65, 85, 128, 570, 1518};
	struct wire_cfg w = plain();

	(void)state;
	parse(&vt_delay, NULL, 0, 60000000000ull, "10ms", &w.delay);
	parse(&vt_limit, NULL, 512, 1 << 20, "1Mpps queue 2000", &w.limit);
	uint64_t room = wire_dut_room(&w, SPEED, 1500);
	for (unsigned i = 0; i < ARRAY_SIZE(sizes); i++) {
		double frames = 0.01 * SPEED / 8 / (sizes[i] + 20) + 2000;
		assert_true(frames * ceil((sizes[i] - 4 + 64) / 64.0) <= (double)room);
	}
	assert_true(room * DUT_CELL < 50u << 20);
}

/* The clock is refined while a link flaps. Periods that are over stay where they were, and no
 * change is told twice or left out. */
static void test_flap(void **state)
{
	struct wire_port w = {.flap_tsc = 1000, .flap_period = 100000000, .flap_down = 1000000};

	(void)state;
	/* The first period is not over. */
	assert_false(wire_dut_flap_follow(&w, 1000 + 99999999, 100001000, 1000010));
	w.flapped = 21;
	/* this figure of the clock is no better */
	assert_false(wire_dut_flap_follow(&w, 1000 + 1000000005, 100000100, 1000001));
	/* A change has not been told yet. */
	assert_false(wire_dut_flap_follow(&w, 1000 + 1100000005, 100001000, 1000010));
	assert_true(wire_dut_flap_follow(&w, 1000 + 1000000005, 100001000, 1000010));
	assert_int_equal(w.flap_tsc, 1000 + 1000000000);
	assert_int_equal(w.flapped, 1);
	assert_int_equal(w.flap_period, 100001000);
	assert_int_equal(w.flap_down, 1000010);
}

/* ---- with DPDK ---- */

static void changed(bool on)
{
	((struct wire_cfg *)work_cfg(ctl_port_cfg(c, 0), &work_wire))->loss =
		on ? (struct hits){.every = 100} : plain().loss;
	ctl_touch(c, 0, WHY_ALL);
	for (unsigned i = 0; i < 10000; i++) {
		ctl_turn(c);
		const struct wire_dut *d = wire_dut_of(c->port[1]);
		if (d != NULL && d->stage == (on ? WIRE_DUT_ON : WIRE_DUT_OFF))
			return;
		pause_ms(1);
	}
	fail_msg("the device does not %s", on ? "come" : "go");
}

static void hundred_lost(void)
{
	uint64_t sent = now(0).tx.packets, received = now(1).rx.packets;

	start(0, 0);
	settle(0);
	assert_int_equal(now(0).tx.packets - sent, 10000);
	assert_int_equal(now(1).rx.packets - received, 10000 - 100);
}

/* The parts of a device under test can be made again, after it was there and after it could not be
 * made. */
static void test_made_again(void **state)
{
	struct err e = {.text = ""};

	(void)state;
	fresh(0, 1)->count = 10000;
	fresh(1, 1);
	changed(true);
	hundred_lost();
	changed(false);
	struct wire_dut *d = wire_dut_of(c->port[1]);
	for (unsigned i = 0; i < 6; i++) {
		char name[RTE_RING_NAMESIZE];
		snprintf(name, sizeof(name), "%.16s_dut0", c->port[1]->p.name);
		wire_dut_unmake(d);
		/* The device cannot have a ring of this name then. */
		struct rte_ring *same = rte_ring_create(name, 64, SOCKET_ID_ANY, 0);
		assert_non_null(same);
		assert_true(wire_dut_make(d, &e) < 0);
		assert_non_null(strstr(e.text, "no memory for its rings"));
		wire_dut_unmake(d);
		rte_ring_free(same);
		if (wire_dut_make(d, &e) != 0)
			fail_msg("%s", e.text);
		changed(true);
		hundred_lost();
		changed(false);
	}
}

/* A smaller MTU that waits for a start leaves room for the frames that are sent now. */
static void test_smaller_mtu(void **state)
{
	struct wire_dut *d = wire_dut_of(c->port[1]);

	(void)state;
	wire_dut_unmake(d);
	ctl_port_cfg(c, 0)->mtu = 600;
	ctl_touch(c, 0, WHY_ALL | WHY_RESTART);
	changed(true);
	assert_true(d->line.max_len >= 1500 + 14);
	ctl_port_cfg(c, 0)->mtu = 1500;
	ctl_touch(c, 0, WHY_ALL | WHY_RESTART);
	hundred_lost();
	changed(false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_acts),  cmocka_unit_test(test_hits),
		cmocka_unit_test(test_limit), cmocka_unit_test(test_laws),
		cmocka_unit_test(test_room),  cmocka_unit_test(test_flap),
	};
	const struct CMUnitTest live[] = {cmocka_unit_test(test_made_again),
					  cmocka_unit_test(test_smaller_mtu)};

	clock_init();
	int failed = cmocka_run_group_tests_name("settings", tests, NULL, NULL);
	if (!live_open("device_test"))
		return failed != 0 ? 1 : 77;
	failed += cmocka_run_group_tests_name("devices", live, NULL, NULL);
	ctl_close(c);
	return failed != 0;
}
