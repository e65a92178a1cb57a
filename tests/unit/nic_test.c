/* SPDX-License-Identifier: BSD-3-Clause */
/* Time stamps of a device, by control's face with real workers: what it is asked for, what frames' times become, and what is said of it. */
#include "fake_nic.h"
#include "probe.h"

#define COUNT 20000

static struct port_cfg *probing(double pps)
{
	struct port_cfg *cfg = fresh(0, 1);

	cfg->rate = (struct rate){.kind = RATE_PPS, .value = pps};
	cfg->count = COUNT;
	stream(0, 0)->frame.probe = 1;
	return cfg;
}

static void run_all(void)
{
	start(0, 0);
	settle(0);
	for (unsigned i = 0; i < 10000 && now(1).rx.packets < COUNT; i++)
		pause_ms(1);
}

static json_t *latency(void)
{
	struct portset one = only(1);
	json_t *doc = ctl_latency_json(c, &one, 0), *p = json_incref(json_array_get(json_object_get(doc, "ports"), 0));

	json_decref(doc);
	return p;
}

static json_int_t stamp_count(const json_t *p, const char *key)
{
	return json_integer_value(json_object_get(json_object_get(p, "timestamps"), key));
}

static void source_is(const json_t *p, const char *source)
{
	assert_string_equal(json_string_value(json_object_get(json_object_get(p, "timestamps"), "source")), source);
}

static double value(const json_t *p, const char *of, const char *kind, const char *key)
{
	const json_t *o = json_object_get(p, of);

	return json_number_value(json_object_get(kind != NULL ? json_object_get(o, kind) : o, key));
}

/* All latencies are the device's delay, within the error that is stated and the step of a histogram. */
static void latency_is_delay(const json_t *p)
{
	double delay = (double)fake.delay / clock_hz() * 1e9;
	double error = json_number_value(json_object_get(json_object_get(p, "timestamps"), "error_ns"));

	assert_true(error > 0 && error < 1e6);
	double near = error + delay / 1024 + 1;
	if (fabs(value(p, "latency", "actual", "min_ns") - delay) > near || fabs(value(p, "latency", "actual", "max_ns") - delay) > near ||
	    fabs(value(p, "latency", "actual", "mean_ns") - delay) > near)
		fail_msg("%.0f .. %.0f ns, mean %.0f, for %.0f within %.0f", value(p, "latency", "actual", "min_ns"),
			 value(p, "latency", "actual", "max_ns"), value(p, "latency", "actual", "mean_ns"), delay, near);
}

static void test_asked_for(void **state)
{
	(void)state;
	assert_true(fake.rx_offloads[0] & RTE_ETH_RX_OFFLOAD_TIMESTAMP);
	assert_true(fake.rx_offloads[1] & RTE_ETH_RX_OFFLOAD_TIMESTAMP);
	assert_false(fake.tx_offloads[0] & RTE_ETH_TX_OFFLOAD_SEND_ON_TIMESTAMP); /* nobody has asked for it */
}

static void test_latency(void **state)
{
	(void)state;
	probing(50000);
	run_all();
	json_t *p = latency();
	source_is(p, "nic");
	assert_int_equal(stamp_count(p, "nic"), COUNT);
	assert_int_equal(stamp_count(p, "software"), 0);
	assert_int_equal(stamp_count(p, "unstamped") + stamp_count(p, "odd"), 0);
	assert_int_equal(value(p, "latency", "actual", "samples"), COUNT);
	assert_int_equal(value(p, "gap", NULL, "samples"), COUNT - 1); /* frames of one burst came at different times */
	latency_is_delay(p);
	json_decref(p);
}

/* Frames without a stamp, or with one that cannot be, are timed by our clock, which sees them later. */
static void test_some_unstamped(void **state)
{
	double delay = (double)fake.delay / clock_hz() * 1e9;

	(void)state;
	probing(50000);
	fake.every = 7;
	fake.wrong = 5;
	run_all();
	fake.every = fake.wrong = 0;
	json_t *p = latency();
	source_is(p, "both");
	assert_in_range(stamp_count(p, "unstamped"), COUNT / 7, COUNT / 7 + 1);
	assert_in_range(stamp_count(p, "odd"), COUNT / 5 - COUNT / 35 - 1, COUNT / 5 - COUNT / 35 + 1);
	assert_int_equal(stamp_count(p, "software"), stamp_count(p, "unstamped") + stamp_count(p, "odd"));
	assert_int_equal(stamp_count(p, "nic") + stamp_count(p, "software"), COUNT);
	double error = json_number_value(json_object_get(json_object_get(p, "timestamps"), "error_ns"));
	assert_true(value(p, "latency", "actual", "min_ns") >= delay - error - delay / 1024 - 1);
	assert_int_equal(value(p, "latency", "actual", "samples"), COUNT);
	assert_int_equal(json_integer_value(json_object_get(p, "early")), 0);
	json_decref(p);
}

/* Somebody sets the device's clock while it is used: that is told, the error says by how much times were off, and after a clear it is over. */
static void test_clock_set(void **state)
{
	struct portset all = only(1);
	struct ctl_event ev;
	bool told = false;

	(void)state;
	probing(50000);
	for (unsigned i = 0; i < 200; i++) { /* the next looks at the clock are far from each other */
		ctl_turn(c);
		pause_ms(1);
	}
	no_events();
	uint64_t steps = c->port[1]->stamps.cal.steps;
	fake.set -= 0.001 * fake.hz;
	for (unsigned i = 0; i < 5000 && c->port[1]->stamps.cal.steps == steps; i++) {
		ctl_turn(c);
		pause_ms(1);
	}
	assert_int_equal(c->port[1]->stamps.cal.steps, steps + 1);
	while (ctl_event_next(c, &ev))
		told |= strstr(ev.text, "has set the device's clock") != NULL;
	assert_true(told);
	assert_true(stamps_error_ns(c->port[1]) >= 1e6 - 1000);
	ctl_clear(c, &all);
	run_all();
	json_t *p = latency();
	assert_int_equal(stamp_count(p, "nic"), COUNT);
	latency_is_delay(p);
	json_decref(p);
}

static void test_setting(void **state)
{
	struct port_cfg *cfg = ctl_port_cfg(c, 1);
	struct err e = {.text = ""};
	unsigned before = fake.configured;

	(void)state;
	probing(200000);
	cfg->timestamps = TIMESTAMPS_SOFTWARE;
	ctl_touch(c, 1, false);
	run_all();
	assert_int_equal(fake.configured, before + 1); /* the receiver alone was set up anew */
	assert_false(fake.rx_offloads[1] & RTE_ETH_RX_OFFLOAD_TIMESTAMP);
	json_t *p = latency();
	source_is(p, "software");
	assert_int_equal(stamp_count(p, "nic"), 0);
	assert_int_equal(stamp_count(p, "software"), COUNT);
	assert_true(json_is_null(json_object_get(json_object_get(p, "timestamps"), "error_ns")));
	json_decref(p);
	cfg->timestamps = TIMESTAMPS_NIC;
	assert_int_equal(ctl_timestamps(c, 1, &e), 0);
	ctl_touch(c, 1, false);
	probing(200000);
	cfg->timestamps = TIMESTAMPS_NIC;
	run_all();
	assert_int_equal(fake.configured, before + 2);
	p = latency();
	source_is(p, "nic");
	latency_is_delay(p);
	json_decref(p);
	ctl_port_cfg(c, 2)->timestamps = TIMESTAMPS_NIC;
	assert_int_equal(ctl_timestamps(c, 2, &e), -ENOTSUP);
	assert_string_equal(e.text, "arrivals are timed by our clock: the device offers none");
	ctl_port_cfg(c, 2)->timestamps = TIMESTAMPS_AUTO;
}

static void set_up_anew(int configure_rc, int clock_rc)
{
	struct port_cfg *cfg = ctl_port_cfg(c, 1);

	for (unsigned i = 0; i < 2; i++) {
		fake.configure_rc = configure_rc;
		fake.clock_rc = clock_rc;
		cfg->timestamps = i == 0 ? TIMESTAMPS_SOFTWARE : TIMESTAMPS_AUTO;
		ctl_touch(c, 1, false);
		assert_int_equal(ctl_apply(c, 1, NULL), 0);
		fake.configure_rc = fake.clock_rc = 0;
	}
}

static void timed_says(const char *text)
{
	struct sbuf out = {0};

	stamps_text(c->port[1], &out);
	assert_string_equal(sbuf_str(&out), text);
	sbuf_free(&out);
}

/* A device that does not keep what it offers is used without. */
static void test_not_kept(void **state)
{
	(void)state;
	probing(200000);
	set_up_anew(-EINVAL, 0);
	timed_says("by our clock (the device offers them and does not start with them: Invalid argument)");
	run_all();
	json_t *p = latency();
	source_is(p, "software");
	json_decref(p);
	set_up_anew(0, -ENOTSUP);
	timed_says("by our clock (its clock cannot be read: Operation not supported)");
	set_up_anew(0, 0);
	probing(200000);
	run_all();
	p = latency();
	source_is(p, "nic");
	latency_is_delay(p);
	json_decref(p);
}

static void test_said(void **state)
{
	json_t *doc = ctl_clock_json(c), *list = json_object_get(doc, "devices"), *ports = ctl_ports_json(c), *d = json_array_get(list, 1);
	const char *text = json_string_value(json_object_get(json_array_get(json_object_get(ports, "ports"), 1), "timestamps"));

	(void)state;
	assert_int_equal(json_array_size(list), 2);
	assert_int_equal(json_integer_value(json_object_get(d, "port")), 1);
	double ppm = json_number_value(json_object_get(d, "uncertainty_ppm")), hz = json_number_value(json_object_get(d, "hz"));
	assert_true(fabs(hz / fake.hz - 1) * 1e6 < ppm + 30); /* it has drifted by so much in ten minutes */
	assert_true(json_is_true(json_object_get(d, "rx")));
	assert_false(json_is_true(json_object_get(d, "tx")));
	assert_memory_equal(text, "by the device's time stamps, known to ", 38);
	json_decref(doc);
	json_decref(ports);
}

static void test_close(void **state)
{
	(void)state;
	ctl_close(c);
}

int main(void)
{
	const struct CMUnitTest live[] = {
		cmocka_unit_test(test_asked_for), cmocka_unit_test(test_latency), cmocka_unit_test(test_some_unstamped), cmocka_unit_test(test_clock_set),
		cmocka_unit_test(test_setting), cmocka_unit_test(test_not_kept), cmocka_unit_test(test_said), cmocka_unit_test(test_close),
	};

	clock_init();
	fake.since = clock_tsc();
	fake.delay = clock_cycles(50000);
	fake.rx_capa = RTE_ETH_RX_OFFLOAD_TIMESTAMP;
	fake.tx_capa = RTE_ETH_TX_OFFLOAD_SEND_ON_TIMESTAMP;
	if (!live_open("nic_test"))
		return 77;
	return cmocka_run_group_tests(live, NULL, NULL);
}
