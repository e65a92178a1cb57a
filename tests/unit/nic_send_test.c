/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests frames that a device sends at the times that they carry, with control's functions and real
 * workers. */
#include "nic_latency.h"
#include "send_groups.h"

static void paced_says(const char *text)
{
	struct sbuf out = {0};

	pacing_text(&c->port[0]->p, &out);
	if (strstr(sbuf_str(&out), text) == NULL)
		fail_msg("'%s', wanted '%s'", sbuf_str(&out), text);
	sbuf_free(&out);
}

static double error_ticks(void)
{
	return clock_dev_error(&c->port[0]->p.stamps.cal, clock_tsc()) /
		       c->port[0]->p.stamps.cal.cycles_per_tick +
	       2;
}

/* Checks that the stamps are the frames' deadlines in the device's time. */
static void stamps_are_deadlines(uint64_t from, uint64_t n)
{
	struct pace pace = {.t0 = c->port[0]->run.start_tsc,
			    .period = send_of(c->port[0])->rate[0].period};
	double near = error_ticks();

	for (uint64_t k = 0; k < n; k++) {
		const struct fake_sent *s = &fake.sent[from + k];
		uint64_t due = pace_due(&pace, k);
		double off = fabs((double)(int64_t)(s->stamp - fake_ticks(due)));
		if (!s->flagged || off > near)
			fail_msg("frame %lu: flags %lx, off by %.0f ticks, allowed %.0f",
				 (unsigned long)k, (unsigned long)s->flagged, off, near);
	}
}

static struct port_cfg *stamping(double pps, uint64_t count)
{
	struct port_cfg *cfg = fresh(0, 1);

	cfg->rate = (struct rate){.kind = RATE_PPS, .value = pps};
	cfg->count = count;
	cfg->pacing = PACING_TIMESTAMP;
	cfg->lead_ns = 500000;
	ctl_touch(c, 0, WHY_ALL);
	fake.frames = 0;
	return cfg;
}

static void run_of(uint64_t n)
{
	start(0, 0);
	settle(0);
	assert_int_equal(fake.frames, n);
	assert_int_equal(now(0).run.sent, n);
}

static void test_send_on_stamp(void **state)
{
	struct err e = {.text = ""};
	unsigned before = fake.configured;

	(void)state;
	stamping(20000, 4000);
	assert_int_equal(ctl_pacing(c, 0, &e), 0);
	paced_says(
		"paced by software; the device offers sending at time stamps and does it from its next start on");
	run_of(4000);
	assert_int_equal(fake.configured, before + 1);
	assert_true(fake.tx_offloads[0] & RTE_ETH_TX_OFFLOAD_SEND_ON_TIMESTAMP);
	assert_non_null(strstr(c->port[0]->p.offloads, "send_on_timestamp"));
	stamps_are_deadlines(0, 4000);
	paced_says(
		"paced by the device, which sends frames at their time stamps and gets them 500 us before; it counts no misses");
	fake.missed = 3;
	paced_says("it missed some: tx_pp_timestamp_past_errors 3");
	struct portset one = only(0);
	ctl_clear(c, &one);
	paced_says("it counts no misses");
	assert_int_equal(ctl_pacing(c, 0, &e), 0);
}

/* Starts 8000 frames, and doubles the rate on the way. */
static struct port_cfg *doubled(void)
{
	struct port_cfg *cfg = stamping(20000, 8000);
	start(0, 0);
	pause_ms(50);
	cfg->rate.value = 40000;
	ctl_touch(c, 0, WHY_ALL);
	settle(0);
	assert_int_equal(fake.frames, 8000);
	return cfg;
}

/* Frames have other lengths, arrivals and rates than the simplest, and a rate changes on the
 * way. */
static void test_send_shapes(void **state)
{
	static const struct arrival ways[] = {
		{.kind = ARRIVAL_POISSON, .seed = 3},
		{.kind = ARRIVAL_BURST, .burst = 16},
		{.kind = ARRIVAL_JITTER, .share = 0.4, .seed = 4},
	};

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(ways); i++) {
		stamping(20000, 2000)->arrival = ways[i];
		run_of(2000);
		for (unsigned k = 0; k < 2000; k++) {
			assert_true(fake.sent[k].flagged);
			assert_true(k == 0 ||
				    (int64_t)(fake.sent[k].stamp - fake.sent[k - 1].stamp) >= 0);
		}
		/* the last frame of the others is due in the last slots */
		if (ways[i].kind != ARRIVAL_POISSON)
			assert_true(fabs((double)(int64_t)(fake.sent[1999].stamp -
							   fake_ticks(c->port[0]->run.start_tsc)) -
					 0.1 * fake.hz) < 0.002 * fake.hz);
	}
	doubled();
	for (unsigned k = 1; k < 8000; k++)
		assert_true(fake.sent[k].flagged &&
			    (int64_t)(fake.sent[k].stamp - fake.sent[k - 1].stamp) >= 0);
}

static uint64_t gap(uint64_t k)
{
	return fake.sent[k].stamp - fake.sent[k - 1].stamp;
}

/* Frames that the device already has stay as they are. Those of the new rate follow them without a
 * gap, and not all at once. */
static void test_send_rates(void **state)
{
	(void)state;
	struct port_cfg *cfg = doubled();
	double least = fake.hz / 40000 - 2 * error_ticks();
	for (unsigned k = 1; k < 8000; k++)
		if ((double)(int64_t)gap(k) < least)
			fail_msg("frame %u: %ld ticks behind the one before, at least %.0f", k,
				 (long)gap(k), least);
	cfg = stamping(20000, 0);
	start(0, 400000000);
	pause_ms(50);
	cfg->rate.value = 50;
	ctl_touch(c, 0, WHY_ALL);
	settle(0);
	for (uint64_t k = 1; k < fake.frames; k++)
		if ((double)(int64_t)gap(k) > 0.1 * fake.hz)
			fail_msg("frame %lu: %ld ticks behind the one before", (unsigned long)k,
				 (long)gap(k));
}

/* Returns the most frames that have the same moment. */
static unsigned most_at_once(void)
{
	unsigned most = 1, n = 1;

	for (uint64_t k = 1; k < fake.frames; k++) {
		n = gap(k) == 0 ? n + 1 : 1;
		most = n > most ? n : most;
	}
	return most;
}

/* Before the start there is time for the lead. A stream that gets a rate of its own on the way
 * begins after what the device already has. */
static void test_send_far_ahead(void **state)
{
	struct port_cfg *cfg = stamping(10000, 0);
	uint64_t before = clock_tsc();

	(void)state;
	cfg->lead_ns = 10000000;
	start(0, 0);
	for (unsigned i = 0; i < 10000 && c->port[0]->run.armed; i++) {
		pause_ms(1);
		ctl_turn(c);
	}
	assert_true(c->port[0]->run.start_tsc - before >= clock_cycles(cfg->lead_ns));
	while (now(0).run.sent < 100)
		ctl_turn(c);
	assert_int_equal(ctl_stream_add(c, 0, -1, 1, -1, NULL), 1);
	own_pps(0, 1, 3000);
	while (sent(0, 1, "packets") < 100)
		ctl_turn(c);
	stop(0);
	assert_in_range(most_at_once(), 1, 3);
}

/* Somebody sets the device's clock back. From the next look at the clock on stamps are right again,
 * and do not wait until the clock has caught up. */
static void test_send_clock_set(void **state)
{
	struct portset one = only(0);
	uint64_t steps = c->port[0]->p.stamps.cal.steps;

	(void)state;
	stamping(20000, 15000);
	start(0, 0);
	pause_ms(50);
	fake.set -= 0.01 * fake.hz;
	settle(0);
	assert_int_equal(fake.frames, 15000);
	assert_int_equal(c->port[0]->p.stamps.cal.steps, steps + 1);
	assert_in_range(most_at_once(), 1, 20);
	ctl_clear(c, &one);
}

/* Streams with rates of their own share the queue, and stamps are in order. Without a rate there
 * are none, even in buffers that have had one. */
static void test_send_groups(void **state)
{
	(void)state;
	stamping(10000, 0);
	assert_int_equal(ctl_stream_add(c, 0, -1, 1, -1, NULL), 1);
	own_pps(0, 1, 3000);
	start(0, 200000000);
	settle(0);
	assert_int_equal(fake.frames, 2600);
	for (unsigned k = 0; k < 2600; k++)
		assert_true(
			fake.sent[k].flagged &&
			(k == 0 || (int64_t)(fake.sent[k].stamp - fake.sent[k - 1].stamp) >= 0));
	assert_int_equal(sent(0, 1, "packets"), 600);
	fresh(0, 1)->count = 3000;
	stamping(1, 3000)->rate.kind = RATE_MAX;
	run_of(3000);
	for (unsigned k = 0; k < 3000; k++)
		assert_false(fake.sent[k].flagged);
}

/* Probes say when the device is to send them. Their latency includes the device's delay, and none
 * is late because it was handed over early. */
static void test_send_probes(void **state)
{
	(void)state;
	for (unsigned own = 0; own < 2; own++) {
		stamping(50000, COUNT);
		stream(0, 0)->frame.probe = 1;
		if (own == 1) {
			own_pps(0, 0, 50000);
			stream(0, 0)->count = COUNT;
			ctl_port_cfg(c, 0)->count = 0;
		}
		run_all();
		json_t *p = latency();
		assert_int_equal(value(p, "counts", NULL, "lost"), 0);
		assert_int_equal(value(p, "counts", NULL, "received"), COUNT);
		assert_int_equal(stamp_count(p, "nic"), COUNT);
		latency_is_delay(p);
		json_decref(p);
	}
}

static void test_send_over(void **state)
{
	struct err e = {.text = ""};

	(void)state;
	stamping(20000, 1000);
	run_of(1000);
	ctl_port_cfg(c, 0)->pacing = PACING_SOFTWARE;
	ctl_touch(c, 0, WHY_ALL);
	fake.frames = 0;
	run_of(1000);
	assert_false(fake.tx_offloads[0] & RTE_ETH_TX_OFFLOAD_SEND_ON_TIMESTAMP);
	for (unsigned k = 0; k < 1000; k++)
		assert_false(fake.sent[k].flagged);
	paced_says("paced by software");
	fake.clock_rc = -ENOTSUP; /* the device offers the offload, but its clock cannot be read */
	stamping(20000, 1000);
	run_of(1000);
	for (unsigned k = 0; k < 1000; k++)
		assert_false(fake.sent[k].flagged);
	assert_int_equal(ctl_pacing(c, 0, &e), -ENOTSUP);
	fake.clock_rc = 0;
	ctl_reset(c, 0);
}

static void test_close(void **state)
{
	(void)state;
	ctl_close(c);
}

int main(void)
{
	const struct CMUnitTest live[] = {
		cmocka_unit_test(test_send_on_stamp),  cmocka_unit_test(test_send_shapes),
		cmocka_unit_test(test_send_rates),     cmocka_unit_test(test_send_far_ahead),
		cmocka_unit_test(test_send_clock_set), cmocka_unit_test(test_send_groups),
		cmocka_unit_test(test_send_probes),    cmocka_unit_test(test_send_over),
		cmocka_unit_test(test_close),
	};

	clock_init();
	fake.since = clock_tsc();
	fake.delay = clock_cycles(50000);
	fake.rx_capa = RTE_ETH_RX_OFFLOAD_TIMESTAMP;
	fake.tx_capa = RTE_ETH_TX_OFFLOAD_SEND_ON_TIMESTAMP;
	if (!live_open("nic_send_test"))
		return 77;
	return cmocka_run_group_tests(live, NULL, NULL);
}
