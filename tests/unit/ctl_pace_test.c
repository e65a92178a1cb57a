/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests pacing with control's functions and real workers: what a device is asked for, arrivals of
 * bounded times, changes while frames fly, lateness and its baseline. Ports 0 and 1 are a wire, and
 * port 2 is null. The device's rate limits are a function of this test. */
#include "ctl_live.h"

static struct {
	int rc;
	unsigned calls;
	uint16_t port, queue;
	uint32_t rate;
} asked;

int rte_eth_set_queue_rate_limit(uint16_t port_id, uint16_t queue_idx, uint32_t tx_rate)
{
	asked.calls++;
	asked.port = port_id;
	asked.queue = queue_idx;
	asked.rate = tx_rate;
	return asked.rc;
}

static struct port_cfg *paced(unsigned port, double pps)
{
	struct port_cfg *cfg = fresh(port, 1);

	cfg->rate = (struct rate){.kind = RATE_PPS, .value = pps};
	cfg->count = 0;
	return cfg;
}

static void says(unsigned port, const char *text)
{
	struct sbuf out = {0};

	pacing_text(&c->port[port]->p, &out);
	assert_string_equal(sbuf_str(&out), text);
	sbuf_free(&out);
}

/* A device that can limit the rate of its queues is asked to do so, follows the rate while it
 * sends, and has no limit afterwards. */
static void test_queue_limit(void **state)
{
	struct port_cfg *cfg = paced(2, 1000000);
	struct err e = {.text = ""};

	(void)state;
	asked.calls = 0;
	asked.rc = 0;
	cfg->pacing = PACING_QUEUE;
	assert_int_equal(ctl_pacing(c, 2, &e), 0);
	assert_int_equal(asked.calls, 1);
	assert_int_equal(asked.rate, 672); /* 1 Mpps of 84 bytes on the wire */
	assert_int_equal(asked.port, c->port[2]->p.dev);
	says(2, "paced by software, and by the device: 672 Mbit/s for each of its 1 queues");
	cfg->rate.value = 2000001;
	ctl_touch(c, 2, WHY_RATE);
	ctl_turn(c);
	assert_int_equal(asked.rate, 1345); /* never below what is asked */
	assert_int_equal(asked.calls, 2);
	ctl_touch(c, 2, WHY_ALL);
	ctl_turn(c);
	assert_int_equal(asked.calls, 2); /* nothing changed */
	struct portset two = only(2);
	const struct rate own = {.kind = RATE_PPS, .value = 3000000};
	assert_int_equal(run_start(c, &two,
				   &(struct run_ask){.duration_ns = 5000000,
						     .own_count = true,
						     .rate = &own},
				   &e),
			 0);
	ctl_turn(c);
	/* The limit of the setting's rate does not hold back a run with a rate of its own. */
	assert_int_equal(asked.rate, c->port[2]->p.link_mbps);
	settle(2);
	ctl_touch(c, 2, WHY_ALL);
	ctl_turn(c);
	assert_int_equal(asked.rate, 1345);
	stream(2, 0)->count = UINT64_MAX / 2;
	start(2, 0);
	own_pps(2, 0, 1000000);
	taken_up();
	assert_int_equal(asked.rate, 1345); /* that is for the next start */
	stop(2);
	ctl_touch(c, 2, WHY_ALL);
	ctl_turn(c);
	assert_int_equal(asked.rate, 672);
	stream(2, 0)->rate.set = false;
	stream(2, 0)->count = 0;
	cfg->arrival = (struct arrival){.kind = ARRIVAL_BURST, .burst = 64};
	assert_int_equal(ctl_pacing(c, 2, &e), 0);
	assert_int_equal(asked.rate, c->port[2]->p.link_mbps);
	cfg->pacing = PACING_SOFTWARE;
	assert_int_equal(ctl_pacing(c, 2, &e), 0);
	says(2, "paced by software");
}

static void test_refused(void **state)
{
	struct port_cfg *cfg = paced(2, 1000000);
	struct ctl_event ev;
	struct err e = {.text = ""};

	(void)state;
	cfg->pacing = PACING_QUEUE;
	asked.rc = -ENOTSUP;
	assert_int_equal(ctl_pacing(c, 2, &e), -ENOTSUP);
	assert_string_equal(
		e.text, "paced by software; the device does not offer rate limits of its queues");
	cfg->pacing = PACING_TIMESTAMP;
	assert_int_equal(ctl_pacing(c, 2, &e), -ENOTSUP);
	assert_string_equal(e.text,
			    "paced by software; the device does not offer sending at time stamps");
	/* When the device can limit a rate no more, that is said as soon as it is known. */
	cfg->pacing = PACING_QUEUE;
	asked.rc = 0;
	assert_int_equal(ctl_pacing(c, 2, &e), 0);
	no_events();
	asked.rc = -EINVAL;
	cfg->rate.value = 3000000;
	ctl_touch(c, 2, WHY_RATE);
	ctl_turn(c);
	assert_true(ctl_event_next(c, &ev));
	assert_non_null(strstr(ev.text, "the device refuses rate limits of its queues"));
	cfg->pacing = PACING_SOFTWARE;
	assert_int_equal(ctl_pacing(c, 2, &e), 0);
}

/* The rate that is told is the mean over the bounded time that was asked for. */
static void test_asked(void **state)
{
	struct port_cfg *cfg = paced(2, 100000);

	(void)state;
	cfg->arrival = (struct arrival){.kind = ARRIVAL_ONOFF, .on_ns = 1000000, .off_ns = 3000000};
	start(2, 80000000);
	assert_true(now(2).run.asked_pps == 25000);
	settle(2);
	assert_int_equal(now(2).run.sent, 2000);
	assert_true(fabs(now(2).run.asked_pps - 25000) < 1);
	cfg = paced(2, 10000);
	cfg->rate =
		(struct rate){.kind = RATE_PPS, .value = 10000, .to = 30000, .over_ns = 100000000};
	start(2, 100000000);
	assert_true(now(2).run.rate_changed); /* one number cannot tell the rate */
	settle(2);
	assert_int_equal(now(2).run.sent, 2000);
	cfg = paced(2, 100000);
	cfg->arrival = (struct arrival){.kind = ARRIVAL_POISSON, .seed = 5};
	start(2, 50000000);
	settle(2);
	assert_in_range(now(2).run.sent, 4500, 5500); /* seven standard deviations */
}

static struct run_result result(unsigned port)
{
	struct run_result r;

	run_result(c->port[port], &r);
	return r;
}

static void test_phases(void **state)
{
	struct portset two = only(2);

	(void)state;
	assert_int_equal(result(1).stage, RUN_STAGE_IDLE);
	assert_int_equal(result(1).sent, 0);
	paced(2, 1)->rate =
		(struct rate){.kind = RATE_PPS, .value = 1000, .to = 3000, .over_ns = 300000000};
	start(2, 0);
	assert_int_equal(result(2).stage, RUN_STAGE_RAMP);
	assert_int_equal(now(2).state, RUN_SENDING);
	for (unsigned i = 0; i < 60000 && result(2).stage == RUN_STAGE_RAMP; i++)
		pause_ms(1);
	assert_int_equal(result(2).stage, RUN_STAGE_RUNNING);
	assert_int_equal(now(2).state, RUN_SENDING);
	assert_false(ctl_bounded(c, 2));
	ctl_stop(c, &two);
	assert_true(ctl_bounded(c, 2));
	settle(2);
	assert_int_equal(result(2).stage, RUN_STAGE_DONE);
	assert_int_equal(now(2).state, RUN_IDLE);
}

/* What the run before was like is not told of the next one, not even before its first frame. */
static void test_a_run_begins_anew(void **state)
{
	struct portset two = only(2);
	struct err e = {.text = ""};

	(void)state;
	paced(2, 1)->rate = (struct rate){.kind = RATE_MAX};
	start(2, 0);
	assert_true(result(2).asked_max);
	ctl_port_cfg(c, 2)->rate = (struct rate){.kind = RATE_PPS, .value = 500};
	ctl_touch(c, 2, WHY_ALL);
	ctl_turn(c);
	assert_true(result(2).rate_changed);
	stop(2);
	ctl_port_cfg(c, 2)->rate = (struct rate){.kind = RATE_PPS, .value = 700};
	ctl_touch(c, 2, WHY_ALL);
	assert_int_equal(ctl_start(c, &two, 0, &e), 0);
	assert_false(result(2).rate_changed);
	assert_false(result(2).asked_max);
	assert_int_equal(result(2).changed_ns, 0);
	assert_true(result(2).asked_pps == 700);
	stop(2);
}

/* Trials can read the result of a run when it is over. */
static void test_result(void **state)
{
	struct run_result r;

	(void)state;
	paced(2, 2000);
	start(2, 50000000);
	assert_int_equal(result(2).due_cycles, 0); /* the run is not over */
	settle(2);
	r = result(2);
	assert_true(r.intended == 100 && r.sent == 100 && r.unsent == 0 && r.dropped == 0 &&
		    r.count == 0);
	assert_true(r.bytes == 6400 && r.mean_size == 64 && r.intended_pps == 2000 &&
		    r.asked_pps == 2000);
	assert_in_range(clock_ns(r.due_cycles), 49499990, 49500010);
	assert_in_range(clock_ns(r.slot_cycles), 49999990, 50000010);
	assert_true(r.first_tsc != 0 && r.last_tsc - r.first_tsc <= clock_cycles(r.duration_ns));
	assert_true(r.duration_ns >= 49999990);
	paced(2, 20000)->count = 50;
	start(2, 0);
	assert_int_equal(result(2).count, 50);
	assert_true(ctl_bounded(c, 2));
	settle(2);
	r = result(2);
	assert_true(r.sent == 50 && r.intended == UINT64_MAX);
}

/* Arrival, trend and policy change to any other while a count goes on, and as many frames are sent
 * as were asked for. */
static void test_changes(void **state)
{
	static const struct arrival ways[] = {
		{.kind = ARRIVAL_POISSON, .seed = 3},
		{.kind = ARRIVAL_BURST, .burst = 32},
		{.kind = ARRIVAL_CONSTANT},
		{.kind = ARRIVAL_JITTER, .share = 0.4, .seed = 4},
		{.kind = ARRIVAL_ONOFF, .on_ns = 1000000, .off_ns = 500000},
		{.kind = ARRIVAL_BURST, .burst = 16, .gap_ns = 100000},
	};

	(void)state;
	for (unsigned port = 0; port <= 2; port += 2) {
		struct port_cfg *cfg = paced(port, 40000);
		cfg->count = 6000;
		start(port, 0);
		for (unsigned i = 0; i < 3 * ARRAY_SIZE(ways); i++) {
			cfg->arrival = ways[i % ARRAY_SIZE(ways)];
			cfg->catchup = (struct catchup){.kind = i % 2 == 0 ? CATCHUP_KEEP
									   : CATCHUP_OVERSPEED,
							.share = 0.5};
			bool ramp = i % 3 == 0;
			cfg->rate = (struct rate){.kind = RATE_PPS,
						  .value = 40000,
						  .to = ramp ? 60000 : 0,
						  .over_ns = ramp ? 5000000 : 0};
			ctl_touch(c, port, WHY_RATE);
			taken_up();
			pause_ms(2);
		}
		settle(port);
		assert_int_equal(now(port).run.sent, 6000);
		assert_int_equal(now(port).tx.unsent, 0);
		if (port == 0)
			assert_int_equal(now(1).rx.packets, 6000);
	}
}

static void test_lateness(void **state)
{
	struct portset all = only(2);
	struct snap_port p;

	(void)state;
	paced(2, 100000);
	ctl_clear(c, &all);
	assert_int_equal(now(2).late.count, 0);
	start(2, 50000000);
	settle(2);
	p = now(2);
	assert_int_equal(p.late.count, p.tx.bursts);
	assert_true(p.late.p50 <= p.late.p99 && p.late.p99 <= p.late.max);
	assert_true(p.late.mean <= (double)p.late.max + 1);
	assert_true(p.tx.late > 0 || p.late.max <= 1000000 + 1000000 / 64 + 1);
	ctl_clear(c, &all);
	assert_int_equal(now(2).late.count, 0);
	assert_int_equal(now(2).tx.late, 0);
	paced(2, 1)->rate = (struct rate){.kind = RATE_MAX};
	ctl_port_cfg(c, 2)->count = 10000;
	start(2, 0);
	settle(2);
	assert_int_equal(now(2).late.count, 0);
}

static void test_close(void **state)
{
	(void)state;
	ctl_close(c);
}

int main(void)
{
	const struct CMUnitTest live[] = {
		cmocka_unit_test(test_queue_limit),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_asked),
		cmocka_unit_test(test_phases),
		cmocka_unit_test(test_a_run_begins_anew),
		cmocka_unit_test(test_result),
		cmocka_unit_test(test_changes),
		cmocka_unit_test(test_lateness),
		cmocka_unit_test(test_close),
	};

	if (!live_open("ctl_pace_test"))
		return 77;
	return cmocka_run_group_tests(live, NULL, NULL);
}
