/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests time stamps of a device, with control's functions and real workers: what the device is
 * asked for, what the times of frames become, and what is said of it. */
#include "nic_latency.h"

static void test_asked_for(void **state)
{
	(void)state;
	assert_true(fake.rx_offloads[0] & RTE_ETH_RX_OFFLOAD_TIMESTAMP);
	assert_true(fake.rx_offloads[1] & RTE_ETH_RX_OFFLOAD_TIMESTAMP);
	/* Nobody has asked for it. */
	assert_false(fake.tx_offloads[0] & RTE_ETH_TX_OFFLOAD_SEND_ON_TIMESTAMP);
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
	/* The frames of a burst came at different times. */
	assert_int_equal(value(p, "gap", NULL, "samples"), COUNT - 1);
	latency_is_delay(p);
	json_decref(p);
}

/* Frames without a stamp, or with one that is impossible, are timed by our clock, which sees them
 * later. */
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
	assert_in_range(stamp_count(p, "odd"), COUNT / 5 - COUNT / 35 - 1,
			COUNT / 5 - COUNT / 35 + 1);
	assert_int_equal(stamp_count(p, "software"),
			 stamp_count(p, "unstamped") + stamp_count(p, "odd"));
	assert_int_equal(stamp_count(p, "nic") + stamp_count(p, "software"), COUNT);
	double error =
		json_number_value(json_object_get(json_object_get(p, "timestamps"), "error_ns"));
	assert_true(value(p, "latency", "actual", "min_ns") >= delay - error - delay / 1024 - 1);
	assert_int_equal(value(p, "latency", "actual", "samples"), COUNT);
	assert_int_equal(json_integer_value(json_object_get(p, "early")), 0);
	json_decref(p);
}

/* Somebody sets the device's clock while it is used. That is told, the error says by how much times
 * were off, and after a clear it is over. */
static void test_clock_set(void **state)
{
	struct portset all = only(1);
	struct ctl_event ev;
	bool told = false;

	(void)state;
	probing(50000);
	/* The next looks at the clock are far apart. */
	for (unsigned i = 0; i < 200; i++) {
		ctl_turn(c);
		pause_ms(1);
	}
	no_events();
	uint64_t steps = c->port[1]->p.stamps.cal.steps;
	fake.set -= 0.001 * fake.hz;
	for (unsigned i = 0; i < 5000 && c->port[1]->p.stamps.cal.steps == steps; i++) {
		ctl_turn(c);
		pause_ms(1);
	}
	assert_int_equal(c->port[1]->p.stamps.cal.steps, steps + 1);
	while (ctl_event_next(c, &ev))
		told |= strstr(ev.text, "has set the device's clock") != NULL;
	assert_true(told);
	assert_true(stamps_error_ns(&c->port[1]->p) >= 1e6 - 1000);
	ctl_clear(c, &all);
	run_all();
	json_t *p = latency();
	assert_int_equal(stamp_count(p, "nic"), COUNT);
	latency_is_delay(p);
	json_decref(p);
}

/* However far a clock was set, the stamps that come after it are not in doubt. */
static void test_clock_set_far(void **state)
{
	uint64_t steps = c->port[1]->p.stamps.cal.steps;

	(void)state;
	probing(50000);
	fake.set += 20 * fake.hz;
	for (unsigned i = 0; i < 5000 && c->port[1]->p.stamps.cal.steps == steps; i++) {
		ctl_turn(c);
		pause_ms(1);
	}
	assert_int_equal(c->port[1]->p.stamps.cal.steps, steps + 1);
	run_all();
	json_t *p = latency();
	assert_int_equal(stamp_count(p, "nic"), COUNT);
	assert_int_equal(stamp_count(p, "odd"), 0);
	json_decref(p);
}

static json_t *clock_said(unsigned port)
{
	json_t *doc = ctl_clock_json(c), *d = NULL, *o;
	size_t i;

	json_array_foreach(json_object_get(doc, "devices"), i, o)
		if (json_integer_value(json_object_get(o, "port")) == port)
			d = json_incref(o);
	json_decref(doc);
	assert_non_null(d);
	return d;
}

/* Waits until the clock of port 1 tells of this trouble; NULL: of none. */
static void clock_until(const char *trouble)
{
	for (unsigned i = 0; i < 5000; i++) {
		json_t *d = clock_said(1);
		const char *text = json_string_value(json_object_get(d, "trouble"));
		bool same = trouble == NULL || text == NULL ? trouble == text
							    : strcmp(trouble, text) == 0;
		json_decref(d);
		if (same)
			return;
		ctl_turn(c);
		pause_ms(1);
	}
	fail_msg("it never said %s", trouble != NULL ? trouble : "nothing");
}

static bool port_1_says(const char *text)
{
	struct ctl_event ev;
	bool told = false;

	while (ctl_event_next(c, &ev))
		told |= ev.port == 1 && strstr(ev.text, text) != NULL;
	return told;
}

/* A clock that cannot be read for a while is not trusted, whatever stamps say. It is trusted again
 * when it has been measured anew, because it may have been set meanwhile. */
static void test_clock_lost(void **state)
{
	struct portset all = only(1);
	uint64_t steps = c->port[1]->p.stamps.cal.steps, failed = c->port[1]->p.stamps.cal.failed;

	(void)state;
	probing(100000);
	no_events();
	fake.clock_rc = -EIO;
	clock_until("it cannot be read: Input/output error");
	assert_true(port_1_says(
		"cannot be read (Input/output error): its time stamps are not used until it can"));
	json_t *d = clock_said(1);
	assert_true(json_integer_value(json_object_get(d, "failed")) > (json_int_t)failed);
	assert_true(json_is_null(json_object_get(d, "hz")) &&
		    json_is_null(json_object_get(d, "error_ns")));
	assert_false(json_is_true(json_object_get(d, "rx")));
	json_decref(d);
	run_all();
	json_t *p = latency();
	source_is(p, "software");
	assert_int_equal(stamp_count(p, "nic"), 0);
	assert_int_equal(value(p, "latency", "actual", "samples"), COUNT);
	json_decref(p);
	assert_false(port_1_says("cannot be read")); /* to say it once is enough */
	fake.set -= 7 * fake.hz;
	fake.clock_rc = 0;
	clock_until(NULL);
	assert_true(port_1_says("can be read again and was measured anew"));
	assert_int_equal(c->port[1]->p.stamps.cal.steps, steps);
	ctl_clear(c, &all);
	run_all();
	p = latency();
	source_is(p, "nic");
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
	ctl_touch(c, 1, WHY_ALL);
	run_all();
	assert_int_equal(fake.configured, before + 1); /* only the receiver was set up anew */
	assert_false(fake.rx_offloads[1] & RTE_ETH_RX_OFFLOAD_TIMESTAMP);
	json_t *p = latency();
	source_is(p, "software");
	assert_int_equal(stamp_count(p, "nic"), 0);
	assert_int_equal(stamp_count(p, "software"), COUNT);
	assert_true(json_is_null(json_object_get(json_object_get(p, "timestamps"), "error_ns")));
	json_decref(p);
	cfg->timestamps = TIMESTAMPS_NIC;
	assert_int_equal(ctl_timestamps(c, 1, &e), 0);
	ctl_touch(c, 1, WHY_ALL);
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

static bool corrected(const json_t *p, double *min_ns)
{
	*min_ns = value(p, "latency", "actual", "min_ns");
	return json_is_true(json_object_get(p, "corrected"));
}

static json_t *latency_corrected(void)
{
	struct portset one = only(1);
	json_t *doc = probe_latency_json(c, &one, LATENCY_CORRECTED),
	       *p = json_incref(json_array_get(json_object_get(doc, "ports"), 0));

	json_decref(doc);
	return p;
}

static void bias_is(const json_t *p, double ns, const char *clock, bool other)
{
	const char *word = json_string_value(json_object_get(p, "bias_clock"));

	assert_true(clock == NULL ? word == NULL : word != NULL && strcmp(word, clock) == 0);
	assert_true(clock == NULL ? json_is_null(json_object_get(p, "bias_ns"))
				  : json_number_value(json_object_get(p, "bias_ns")) == ns);
	assert_int_equal(json_is_true(json_object_get(p, "bias_other")), other);
}

/* The tester's own share of the latency belongs to the clock by which it was measured. It is
 * neither shown beside what another clock has timed nor subtracted from it. */
static void test_bias(void **state)
{
	static const struct {
		const char *word;
		int timestamps;
	} by[] = {{"software", TIMESTAMPS_SOFTWARE}, {"nic", TIMESTAMPS_AUTO}};
	struct probe_bias b[] = {
		{.known = true, .clock = PROBE_SOFTWARE, .median_ns = 7000, .frames = 9},
		{.known = true, .clock = PROBE_NIC, .median_ns = 300, .frames = 9}};
	double plain, less;

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		unsigned clock = i % 2;
		probing(200000);
		ctl_port_cfg(c, 1)->timestamps = by[clock].timestamps;
		ctl_touch(c, 1, WHY_ALL);
		run_all();
		if (i == 0)
			/* the share by the other clock is not known yet */
			probe_bias_set(c, 0, 1, &b[PROBE_NIC]);
		json_t *p = latency(), *q = latency_corrected();
		source_is(p, by[clock].word);
		bias_is(p, (double)b[clock].median_ns, i == 0 ? NULL : by[clock].word, i == 0);
		assert_false(corrected(p, &plain));
		assert_int_equal(corrected(q, &less), i != 0);
		assert_true(fabs(plain - less - (i == 0 ? 0 : (double)b[clock].median_ns)) <= 1);
		json_decref(p);
		json_decref(q);
		if (i == 1)
			probe_bias_set(c, 0, 1, &b[PROBE_SOFTWARE]);
	}
	fake.every = 7; /* with two clocks neither share is right */
	probing(200000);
	run_all();
	fake.every = 0;
	json_t *p = latency_corrected();
	source_is(p, "both");
	bias_is(p, 0, NULL, true);
	assert_false(corrected(p, &plain));
	json_decref(p);
	for (unsigned i = 0; i < 2; i++) {
		b[i].known = false;
		probe_bias_set(c, 0, 1, &b[i]);
	}
}

static void set_up_anew(int configure_rc, int clock_rc)
{
	struct port_cfg *cfg = ctl_port_cfg(c, 1);

	for (unsigned i = 0; i < 2; i++) {
		fake.configure_rc = configure_rc;
		fake.clock_rc = clock_rc;
		cfg->timestamps = i == 0 ? TIMESTAMPS_SOFTWARE : TIMESTAMPS_AUTO;
		ctl_touch(c, 1, WHY_ALL);
		assert_int_equal(ctl_apply(c, 1, NULL), 0);
		fake.configure_rc = fake.clock_rc = 0;
	}
}

static void timed_says(const char *text)
{
	struct sbuf out = {0};

	stamps_text(&c->port[1]->p, &out);
	assert_string_equal(sbuf_str(&out), text);
	sbuf_free(&out);
}

/* If a device does not do what it offers, it is used without that. */
static void test_not_kept(void **state)
{
	(void)state;
	probing(200000);
	set_up_anew(-EINVAL, 0);
	timed_says(
		"by our clock (the device offers them and does not start with them: Invalid argument)");
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
	json_t *doc = ctl_clock_json(c), *list = json_object_get(doc, "devices"),
	       *ports = ctl_ports_json(c), *d = json_array_get(list, 1);
	const char *text = json_string_value(
		json_object_get(json_array_get(json_object_get(ports, "ports"), 1), "timestamps"));

	(void)state;
	assert_int_equal(json_array_size(list), 2);
	assert_int_equal(json_integer_value(json_object_get(d, "port")), 1);
	double ppm = json_number_value(json_object_get(d, "uncertainty_ppm")),
	       hz = json_number_value(json_object_get(d, "hz"));
	/* It has drifted by this much in ten minutes. */
	assert_true(fabs(hz / fake.hz - 1) * 1e6 < ppm + 30);
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
		cmocka_unit_test(test_asked_for),      cmocka_unit_test(test_latency),
		cmocka_unit_test(test_some_unstamped), cmocka_unit_test(test_clock_set),
		cmocka_unit_test(test_clock_set_far),  cmocka_unit_test(test_clock_lost),
		cmocka_unit_test(test_setting),        cmocka_unit_test(test_not_kept),
		cmocka_unit_test(test_bias),           cmocka_unit_test(test_said),
		cmocka_unit_test(test_close),
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
