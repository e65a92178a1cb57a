/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests counts of streams and of ports through changes of all settings. It uses control's
 * functions, with real workers. */
#include "ctl_live.h"

/* Makes the runs of port 2 begin slowly enough that they do not end before the test changes them,
 * on a machine that stands still now and then. */
static void begin_slowly(unsigned streams)
{
	fresh(2, streams)->rate = (struct rate){.kind = RATE_PPS, .value = 2000};
}

static void go_on(void)
{
	ctl_port_cfg(c, 2)->rate.value = 50000;
	ctl_touch(c, 2, WHY_RATE);
	taken_up();
}

/* Returns how many notes since the last look said that something is for the next start. */
static unsigned told(void)
{
	struct ctl_event ev;
	unsigned n = 0;

	while (ctl_event_next(c, &ev))
		n += strstr(ev.text, "until the next start") != NULL;
	return n;
}

/* Frames change at once, and weights and counts with the next start. Each of both runs sends what
 * was asked for when it began. */
static void test_counts_outlive_changes(void **state)
{
	(void)state;
	begin_slowly(3);
	for (unsigned i = 0; i < 3; i++)
		stream(2, i)->count = 5000;
	start(2, 0);
	no_events();
	while (now(2).run.sent < 300)
		ctl_turn(c);
	stream(2, 0)->count = 50; /* fewer than are sent by then */
	stream(2, 1)->weight = 9;
	taken_up();
	own_pps(2, 2, 20000);
	taken_up();
	assert_true(ctl_bounded(c, 2));
	assert_int_equal(ctl_stream_add(c, 2, -1, 1, -1, NULL), 3);
	stream(2, 3)->count = 777;
	fixed_size(2, 1, 100);
	taken_up();
	stream(2, 2)->rate.set = false;
	stream(2, 1)->count = 5500; /* more */
	taken_up();
	assert_int_equal(told(), 1);
	assert_in_range(sent(2, 0, "packets"), 100, 4999);
	go_on();
	settle(2);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(sent(2, i, "packets"), 5000);
	assert_int_equal(sent(2, 3, "packets"), 0);
	assert_int_equal(now(2).run.sent, 15000);
	start(2, 0);
	settle(2);
	assert_int_equal(sent(2, 0, "packets"), 5000 + 50);
	assert_int_equal(sent(2, 1, "packets"), 5000 + 5500);
	assert_int_equal(sent(2, 2, "packets"), 5000 + 5000);
	assert_int_equal(sent(2, 3, "packets"), 777);
	assert_int_equal(told(), 0);
}

/* When the counts go, the run still ends by those with which it began, and the next one does not
 * end. */
static void test_counts_go(void **state)
{
	(void)state;
	begin_slowly(2);
	stream(2, 0)->count = 100;
	stream(2, 1)->count = 6000;
	start(2, 0);
	no_events();
	while (sent(2, 1, "packets") < 200)
		ctl_turn(c);
	stream(2, 0)->count = stream(2, 1)->count = 0;
	taken_up();
	assert_int_equal(told(), 1);
	assert_true(ctl_bounded(c, 2));
	go_on();
	settle(2);
	assert_int_equal(sent(2, 0, "packets"), 100);
	assert_int_equal(sent(2, 1, "packets"), 6000);
	start(2, 0);
	assert_false(ctl_bounded(c, 2));
	while (sent(2, 0, "packets") < 100 + 6001)
		ctl_turn(c);
	assert_true(ctl_sending(c, 2));
	stop(2);
}

/* The count of a port is that of its schedule, even if meanwhile no stream takes turns. */
static void test_count_of_the_port(void **state)
{
	(void)state;
	begin_slowly(3);
	ctl_port_cfg(c, 2)->count = 5000;
	own_pps(2, 2, 100);
	stream(2, 1)->enabled = false;
	start(2, 600000000000ull); /* for the stream with a rate of its own */
	while (sent(2, 0, "packets") < 100)
		ctl_turn(c);
	stream(2, 0)->enabled = false;
	taken_up();
	json_int_t had = sent(2, 0, "packets");
	assert_in_range(had, 100, 4999);
	stream(2, 1)->enabled = true;
	taken_up();
	go_on();
	while (sent(2, 1, "packets") < 5000 - had)
		ctl_turn(c);
	pause_ms(30);
	assert_int_equal(sent(2, 1, "packets"), 5000 - had);
	assert_int_equal(sent(2, 0, "packets"), had);
	stop(2);
}

/* If a run has a time, this ends it, whether the counts are changed or not. */
static void test_time_comes_first(void **state)
{
	(void)state;
	fresh(2, 1)->rate = (struct rate){.kind = RATE_PPS, .value = 10000};
	stream(2, 0)->count = 100000;
	start(2, 200000000);
	while (now(2).run.sent < 100)
		ctl_turn(c);
	stream(2, 0)->count = 90000;
	taken_up();
	settle(2);
	assert_int_equal(now(2).run.sent, 2000);
}

static uint64_t all_sizes(const struct cnt_sizes *s)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < CNT_NSIZES; i++)
		sum += s->n[i];
	return sum;
}

/* Frames and their sizes are counted from the same frame on. */
static void test_clear_while_sending(void **state)
{
	struct portset p = only(2);

	(void)state;
	fresh(2, 2)->rate = (struct rate){.kind = RATE_MAX};
	fixed_size(2, 1, 200);
	for (unsigned i = 0; i < 20; i++) {
		start(2, 0);
		for (unsigned n = 0; n < 20; n++)
			ctl_turn(c);
		while (now(2).run.sent < 1000)
			ctl_turn(c);
		ctl_clear(c, &p);
		stop(2);
		settle(2);
		struct snap_port s = now(2);
		assert_int_equal(all_sizes(&s.tx_sizes), s.tx.packets);
		assert_int_equal(all_sizes(&s.rx_sizes), s.rx.packets);
	}
}

static void test_close(void **state)
{
	(void)state;
	ctl_close(c);
}

int main(void)
{
	const struct CMUnitTest live[] = {
		cmocka_unit_test(test_counts_outlive_changes),
		cmocka_unit_test(test_counts_go),
		cmocka_unit_test(test_count_of_the_port),
		cmocka_unit_test(test_time_comes_first),
		cmocka_unit_test(test_clear_while_sending),
		cmocka_unit_test(test_close),
	};

	if (!live_open("ctl_count_test"))
		return 77;
	return cmocka_run_group_tests(live, NULL, NULL);
}
