/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests ports that send many streams, with control's functions and real workers: counts, rates of
 * their own, sizes that differ, changes while sending, and what is said of it afterwards. Ports 0
 * and 1 are a wire, and port 2 is null. */
#include <poll.h>

#include "ctl_live.h"
#include "probe_int.h"

static void test_weights_and_count(void **state)
{
	struct portset all = only(0);

	(void)state;
	fresh(0, 3)->count = 4001;
	stream(0, 0)->weight = 2;
	fixed_size(0, 1, 200);
	stream(0, 2)->enabled = false;
	start(0, 0);
	assert_true(ctl_bounded(c, 0) || !ctl_sending(c, 0));
	settle(0);
	assert_int_equal(now(0).run.sent, 4001);
	assert_int_equal(now(1).rx.packets, 4001);
	assert_int_equal(sent(0, 0, "packets"), 2667);
	assert_int_equal(sent(0, 1, "packets"), 1334);
	assert_int_equal(sent(0, 1, "bytes"), 1334 * 200);
	assert_int_equal(sent(0, 2, "packets"), 0);
	assert_int_equal(now(0).run.bytes, 2667 * 64 + 1334 * 200);
	ctl_clear(c, &all);
	assert_int_equal(sent(0, 0, "packets"), 0);
	start(0, 0);
	settle(0);
	assert_int_equal(sent(0, 0, "packets"), 2667);
	assert_int_equal(sent(0, 0, "bytes"), 2667 * 64);
}

static void test_counts_of_streams(void **state)
{
	(void)state;
	fresh(0, 4)->count = 0;
	for (unsigned i = 0; i < 4; i++)
		stream(0, i)->count = 100 + 77 * i;
	own_pps(0, 3, 50000);
	start(0, 0);
	assert_true(ctl_bounded(c, 0) || !ctl_sending(c, 0));
	settle(0);
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(sent(0, i, "packets"), 100 + 77 * i);
	assert_int_equal(now(0).run.sent, 400 + 77 * 6);
	assert_int_equal(now(1).rx.packets, 400 + 77 * 6);
	stream(0, 1)->count = 0; /* one goes on for ever */
	start(0, 0);
	assert_false(ctl_bounded(c, 0));
	stop(0);
}

static void test_own_rates(void **state)
{
	(void)state;
	fresh(2, 4)->rate = (struct rate){.kind = RATE_PPS, .value = 3000};
	own_pps(2, 1, 1000);
	own_pps(2, 3, 7777);
	start(2, 100000000);
	assert_true(now(2).run.asked_pps == 11777);
	settle(2);
	assert_int_equal(sent(2, 0, "packets"), 150);
	assert_int_equal(sent(2, 2, "packets"), 150);
	assert_int_equal(sent(2, 1, "packets"), 100);
	assert_int_equal(sent(2, 3, "packets"), 778); /* ceil(777.7): the first is due at 0 */
	assert_int_equal(now(2).run.sent, 1178);
	/* The last frame of each stream has its own time. */
	assert_true(fabs(now(2).run.asked_pps - 11775.5) < 0.5);
	struct ctl_load l;
	assert_int_equal(ctl_load(c, 2, &l, NULL), 0);
	assert_true(l.pps == 11777 && l.l2_bps == 11777 * 64 * 8 && l.l1_bps == 11777 * 84 * 8 &&
		    l.mean_size == 64);
	assert_true(l.min_size == 64 && l.max_size == 64 && !l.is_max);
	assert_int_equal(ctl_stream_load(c, 2, 3, &l, NULL), 0);
	assert_true(l.pps == 7777 && l.l1_bps == 7777 * 84 * 8 && l.mean_size == 64 &&
		    l.link_bps == 1e10);
	/* this is the share of its turns in the port's rate */
	assert_int_equal(ctl_stream_load(c, 2, 2, &l, NULL), 0);
	assert_true(l.pps == 1500 && l.l2_bps == 1500 * 64 * 8 && !l.is_max);
	ctl_port_cfg(c, 2)->count = 10;
	refused(2, "stream 2/1 has a rate of its own", "set 2/1 count");
	start(2, 10000000);
	settle(2);
	assert_int_equal(sent(2, 0, "packets") + sent(2, 2, "packets"), 310);
}

/* Of frames of many sizes exactly those are sent whose first bit is due in the time. */
static void timed(enum rate_kind kind, double value, double bits_per_s, unsigned extra)
{
	static const unsigned size[] = {64, 64, 1518, 570};
	uint64_t k = 0, bytes = 0;
	double bits = bits_per_s * 0.05;

	fresh(2, 2)->rate = (struct rate){.kind = kind, .value = value};
	stream(2, 0)->sizes =
		(struct sizes){.kind = SIZES_LIST, .n = 2, .item = {{64, 1}, {1518, 1}}};
	stream(2, 1)->sizes =
		(struct sizes){.kind = SIZES_LIST, .n = 2, .item = {{64, 1}, {570, 1}}};
	for (double at = 0; at < bits - 1e-6; at += (size[(k - 1) % 4] + extra) * 8.0)
		bytes += size[k++ % 4];
	start(2, 50000000);
	settle(2);
	struct snap_port p = now(2);
	assert_int_equal(p.run.sent, k);
	assert_int_equal(p.run.bytes, bytes);
	assert_true(
		fabs(p.run.asked_pps - (double)k * bits_per_s / ((double)(bytes + k * extra) * 8)) <
		1e-4 * p.run.asked_pps);
	assert_true(p.run.duration_ns >= 49000000);
}

static void test_mixed_sizes_in_time(void **state)
{
	(void)state;
	timed(RATE_PERCENT, 1, 1e8, 20);
	timed(RATE_L1_BPS, 123456789, 123456789, 20);
	timed(RATE_L2_BPS, 77e6, 77e6, 0);
	/* A rate in frames does not depend on their size. */
	fresh(2, 1)->rate = (struct rate){.kind = RATE_PPS, .value = 20000};
	stream(2, 0)->sizes =
		(struct sizes){.kind = SIZES_LIST, .n = 2, .item = {{64, 2}, {1518, 1}}};
	start(2, 50000000);
	settle(2);
	assert_int_equal(now(2).run.sent, 1000);
}

/* Streams come, go, move and change, and every frame of the port counts for some stream. */
static void test_changes_while_sending(void **state)
{
	uint64_t gone = 0, sum = 0;

	(void)state;
	fresh(0, 8);
	start(0, 0);
	for (unsigned i = 0; i < 40; i++) {
		switch (i % 5) {
		case 0:
			assert_int_equal(ctl_stream_add(c, 0, 20 + (int)i, 2, -1, NULL), 20 + i);
			break;
		case 1:
			stream(0, 1)->weight = 1 + i % 7;
			break;
		case 2:
			fixed_size(0, 2, 64 + i);
			break;
		case 3:
			assert_int_equal(ctl_stream_move(c, 0, i == 3 ? 7 : 100 + i - 5, 100 + i,
							 NULL),
					 0);
			break;
		default:
			own_pps(0, 3, 1000 * i);
			ctl_stream_cfg(c, 0, 3)->rate.set = i % 2 == 0;
		}
		ctl_turn(c);
		pause_ms(2);
	}
	assert_true(ctl_sending(c, 0));
	json_int_t before = sent(0, 4, "packets");
	while (sent(0, 4, "packets") == before)
		ctl_turn(c);
	stop(0);
	gone = (uint64_t)sent(0, 2, "packets");
	for (unsigned i = 0; i < ctl_nstreams(c, 0); i++)
		if (ctl_stream_cfg(c, 0, i) != NULL)
			sum += (uint64_t)sent(0, i, "packets");
	struct snap_port p = now(0);
	assert_int_equal(sum, p.tx.packets);
	assert_int_equal(p.tx.packets, now(1).rx.packets + now(1).rx_missed);
	/* its frames still count for the port */
	assert_int_equal(ctl_stream_delete(c, 0, 2, NULL), 0);
	ctl_turn(c);
	assert_int_equal(now(0).tx.packets, sum);
	assert_int_equal(ctl_stream_add(c, 0, 2, 1, -1, NULL), 2);
	assert_int_equal(sent(0, 2, "packets"), 0);
	assert_true(gone > 0);
	ctl_port_cfg(c, 0)->count = 1000;
	start(0, 0);
	settle(0);
	assert_true(sent(0, 2, "packets") > 0);
}

/* A stream with a rate of its own and without an end may be added to a port that has a count. */
static void test_bound_goes(void **state)
{
	(void)state;
	fresh(2, 1)->count = 1000000000;
	ctl_port_cfg(c, 2)->rate = (struct rate){.kind = RATE_PPS, .value = 1000};
	start(2, 0);
	assert_true(ctl_bounded(c, 2));
	assert_int_equal(ctl_stream_add(c, 2, 1, 1, -1, NULL), 1);
	own_pps(2, 1, 100);
	ctl_turn(c);
	assert_false(ctl_bounded(c, 2));
	stream(2, 1)->enabled = false;
	ctl_turn(c);
	assert_true(ctl_bounded(c, 2));
	stop(2);
	fresh(2, 1);
}

/* Before the first frame nobody knows when a count will be reached. */
static void test_no_end_before_the_first_frame(void **state)
{
	struct portset all = only(2);
	struct ctl_progress p;

	(void)state;
	fresh(2, 1)->count = 1000000000;
	ctl_port_cfg(c, 2)->rate = (struct rate){.kind = RATE_PPS, .value = 1000};
	assert_int_equal(ctl_start(c, &all, 0, NULL), 0);
	ctl_progress(c, &all, &p);
	assert_true(p.sending && p.bounded);
	assert_true(p.sent > 0 || p.left_ns == UINT64_MAX);
	while (now(2).run.sent == 0)
		ctl_turn(c);
	ctl_progress(c, &all, &p);
	assert_true(p.sent > 0 && p.left_ns > 0 && p.left_ns < UINT64_MAX);
	stop(2);
	fresh(2, 1);
}

static void test_own_rates_come_and_go(void **state)
{
	(void)state;
	fresh(2, 4)->rate = (struct rate){.kind = RATE_PPS, .value = 100000};
	own_pps(2, 1, 100);
	own_pps(2, 2, 200);
	own_pps(2, 3, 300);
	start(2, 0);
	while (now(2).run.sent < 1000)
		ctl_turn(c);
	assert_true(now(2).run.asked_pps == 100600);
	assert_int_equal(ctl_stream_delete(c, 2, 1, NULL), 0);
	taken_up();
	assert_true(now(2).run.asked_pps == 100500);
	stream(2, 2)->rate.set = false;
	taken_up();
	assert_true(now(2).run.asked_pps == 100300);
	own_pps(2, 2, 250);
	taken_up();
	assert_true(now(2).run.asked_pps == 100550);
	stop(2);
	/* With a count the order stays, and so do the streams that have a rate of their own; but
	 * their rates change. */
	stream(2, 3)->count = 1000000;
	start(2, 0);
	assert_int_equal(ctl_stream_delete(c, 2, 2, NULL), 0);
	fixed_size(2, 0, 200);
	taken_up();
	assert_true(now(2).run.asked_pps == 100550);
	own_pps(2, 3, 400);
	taken_up();
	assert_true(now(2).run.asked_pps == 100650);
	struct ctl_load l;
	assert_int_equal(ctl_load(c, 2, &l, NULL), 0);
	assert_true(l.pps == 100650 && l.l2_bps == 8 * (100000 * 200 + 650 * 64));
	stop(2);
	assert_int_equal(ctl_load(c, 2, &l, NULL), 0);
	assert_true(l.pps == 100400);
	fresh(2, 1);
}

static void test_a_bad_change_waits(void **state)
{
	struct ctl_event ev = {.port = 9};

	(void)state;
	fresh(2, 2);
	start(2, 0);
	no_events();
	fixed_size(2, 1, 3000);
	ctl_turn(c);
	assert_true(ctl_event_next(c, &ev));
	assert_non_null(strstr(ev.text, "stream 2/1"));
	assert_non_null(strstr(ev.text, "stay as they were"));
	stream(2, 0)->enabled = false; /* with it no groups can be made, so this waits too */
	ctl_turn(c);
	json_int_t before = sent(2, 0, "packets");
	while (sent(2, 0, "packets") == before)
		ctl_turn(c);
	fixed_size(2, 1, 300);
	ctl_turn(c);
	while (sent(2, 1, "bytes") < 2 * 64 * sent(2, 1, "packets") &&
	       sent(2, 1, "packets") < 1 << 30)
		ctl_turn(c);
	stream(2, 1)->enabled = false;
	ctl_turn(c);
	no_events();
	assert_true(ctl_sending(c, 2));
	stop(2);
	refused(2, "no stream is enabled", "set 2/0 enabled on");
}

static void test_what_is_said(void **state)
{
	json_t *all, *row, *plan, *task, *groups;

	(void)state;
	fresh(2, 3)->count = 10;
	stream(2, 1)->weight = 3;
	assert_int_equal(frame_vals_parse(&stream(2, 1)->frame.vals, "udp.src", "9", NULL), 0);
	frame_vals_vary(&stream(2, 1)->frame.vals, proto_find("udp"), 1,
			proto_field(proto_find("udp"), "src"),
			&(struct vary){.kind = VARY_RANGE,
				       .bits = 16,
				       .lo = 1,
				       .first = 1,
				       .hi = 9,
				       .step = 1,
				       .div = 1});
	own_pps(2, 2, 1e5);
	stream(2, 2)->count = 4;
	start(2, 0);
	settle(2);
	all = streams_of(2);
	assert_string_equal(json_string_value(json_object_get(all, "show")), "streams");
	assert_int_equal(json_array_size(json_object_get(all, "streams")), 3);
	row = json_array_get(json_object_get(all, "streams"), 1);
	assert_string_equal(json_string_value(json_object_get(row, "frame")), "eth/ipv4/udp");
	assert_string_equal(json_string_value(json_object_get(row, "size")), "auto");
	assert_true(json_is_null(json_object_get(row, "rate")));
	assert_true(json_real_value(json_object_get(row, "share")) == 0.75);
	assert_string_equal(json_string_value(json_array_get(json_object_get(row, "varies"), 0)),
			    "udp.src");
	assert_true(json_is_string(json_object_get(row, "engine")));
	row = json_array_get(json_object_get(all, "streams"), 2);
	assert_string_equal(json_string_value(json_object_get(row, "rate")), "100kpps");
	assert_true(json_is_null(json_object_get(row, "share")));
	assert_int_equal(json_integer_value(json_object_get(row, "count")), 4);
	json_decref(all);
	plan = ctl_plan_json(c);
	bool seen = false;
	for (size_t w = 0; w < json_array_size(json_object_get(plan, "workers")); w++) {
		json_t *tasks = json_object_get(json_array_get(json_object_get(plan, "workers"), w),
						"tasks");
		size_t t;
		json_array_foreach(tasks, t, task) {
			groups = json_object_get(task, "groups");
			if (groups == NULL ||
			    json_integer_value(json_object_get(task, "port")) != 2)
				continue;
			seen = true;
			assert_int_equal(json_array_size(groups), 2);
			assert_int_equal(json_integer_value(json_object_get(task, "streams")), 2);
			assert_int_equal(json_integer_value(json_object_get(task, "frames")), 10);
			assert_int_equal(json_integer_value(
						 json_object_get(json_array_get(groups, 1),
								 "stream")),
					 2);
			assert_true(json_is_string(json_object_get(task, "engine")) &&
				    json_is_string(json_object_get(task, "sums")));
			assert_true(json_integer_value(json_object_get(task, "memory_bytes")) > 0);
		}
	}
	assert_true(seen);
	json_decref(plan);
}

/* The wire carries first what ctl_frame() shows. */
static void test_first_frame(void **state)
{
	static struct frame f;
	struct err e = {.text = ""};

	(void)state;
	fresh(2, 2);
	stream(2, 1)->sizes =
		(struct sizes){.kind = SIZES_LIST, .n = 2, .item = {{99, 1}, {64, 1}}};
	assert_int_equal(ctl_frame(c, 2, 1, &f, &e), 0);
	assert_int_equal(f.len, 95);
	assert_int_equal(f.n, 3);
	assert_int_equal(ctl_frame(c, 2, 0, &f, &e), 0);
	assert_int_equal(f.len, 60);
	assert_int_equal(ctl_frame(c, 2, 7, &f, &e), -EINVAL);
	assert_int_equal(ctl_frame(c, 9, 0, &f, &e), -EINVAL);
	fixed_size(2, 1, 1519);
	assert_int_equal(ctl_frame(c, 2, 1, &f, &e), -EINVAL);
	assert_non_null(strstr(e.text, "stream 2/1"));
}

static void test_many(void **state)
{
	(void)state;
	fresh(2, CTL_MAX_STREAMS)->count = 3 * CTL_MAX_STREAMS + 5;
	start(2, 0);
	settle(2);
	assert_int_equal(now(2).run.sent, 3 * CTL_MAX_STREAMS + 5);
	json_t *all = streams_of(2);
	for (unsigned i = 0; i < CTL_MAX_STREAMS; i++) {
		json_t *row = json_array_get(json_object_get(all, "streams"), i);
		assert_int_equal(json_integer_value(
					 json_object_get(json_object_get(row, "tx"), "packets")),
				 i < 5 ? 4 : 3);
	}
	json_decref(all);
	for (unsigned i = 0; i < CTL_MAX_STREAMS; i++) /* each stream alone */
		own_pps(2, i, 20);
	ctl_port_cfg(c, 2)->count = 0;
	start(2, 100000000);
	settle(2);
	assert_int_equal(now(2).run.sent, 2 * CTL_MAX_STREAMS);
}

/* A worker that another program keeps from its CPU for long must not miss the first frames. So
 * sending starts when all receivers look for probes. */
static void test_probes_are_awaited(void **state)
{
	struct portset s = only(0);
	struct probe_counts n;
	struct err e;

	(void)state;
	for (unsigned round = 0; round < 30; round++) {
		fresh(0, 1)->count = 500;
		/* Now and then no probes are sent, so nobody looks for them. */
		stream(0, 0)->frame.probe = round % 3 == 2 ? 0 : 1;
		assert_int_equal(ctl_start(c, &s, 0, &e), 0);
		for (unsigned i = 0; i < 10000 && c->port[0]->run.armed; i++) {
			ctl_turn(c);
			for (unsigned q = 0; !c->port[0]->run.armed && probes_of(c)->now != NULL &&
					     q < c->port[1]->p.nrxq;
			     q++)
				assert_true(
					__atomic_load_n(
						&c->worker[c->port[1]->rx_worker[q]].w->cells.acked,
						__ATOMIC_ACQUIRE) > probes_of(c)->now->seq);
			pause_ms(c->port[0]->run.armed);
		}
		assert_false(c->port[0]->run.armed);
		settle(0);
		assert_int_equal(now(1).rx.packets, 500);
		if (round % 3 == 2)
			continue;
		assert_true(probe_counts(c, 0, -1, NULL, &n));
		assert_true(n.sent == 500 && n.received == 500 && n.lost == 0 && !n.inexact);
	}
}

static bool probes_exact(unsigned port)
{
	struct probe_counts n;

	assert_true(probe_counts(c, port, -1, NULL, &n));
	assert_true(n.inexact == (n.why != NULL));
	return !n.inexact;
}

/* A clear while probes are on their way makes the counts of its own ports inexact, and only a later
 * clear of the same port takes that back. */
static void test_each_sender_is_exact_by_itself(void **state)
{
	struct portset one = only(0), other = only(1);

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		fresh(i, 1)->count = 50;
		stream(i, 0)->frame.probe = 1;
		start(i, 0);
		settle(i);
	}
	assert_true(probes_exact(0) && probes_exact(1));
	ctl_port_cfg(c, 0)->count = 0;
	start(0, 0);
	ctl_clear(c, &one);
	assert_false(probes_exact(0));
	assert_true(probes_exact(1));
	stop(0);
	ctl_clear(c, &other);
	assert_false(probes_exact(0));
	ctl_clear(c, &one);
	assert_true(probes_exact(0));
	stream(1, 0)->frame.probe = 0;
}

/* Whoever waits for the descriptor learns of the end of a run without looking otherwise. */
static void test_workers_wake(void **state)
{
	struct pollfd fd = {.fd = ctl_wake_fd(c), .events = POLLIN};

	(void)state;
	ctl_events(c);
	fresh(2, 1)->count = 300;
	ctl_port_cfg(c, 2)->rate = (struct rate){.kind = RATE_PPS, .value = 3000};
	start(2, 0);
	assert_true(ctl_sending(c, 2));
	for (unsigned i = 0; ctl_sending(c, 2) && i < 10; i++) {
		assert_int_equal(poll(&fd, 1, 60000), 1);
		ctl_events(c);
	}
	assert_false(ctl_sending(c, 2));
	assert_int_equal(now(2).run.sent, 300);
}

/* A worker that had no CPU since the end may hold frames that nobody has counted: that the time for
 * frames of others is over says nothing about it. It is not waited for for ever either. */
static void test_a_worker_without_a_cpu(void **state)
{
	struct portset s = only(0);

	(void)state;
	fresh(0, 1)->count = 100;
	start(0, 0);
	settle(0);
	c->ended_ns -= 3000000000;
	assert_int_equal(ctl_settled(c, &s), 1);
	for (unsigned w = 0; w < c->nworkers; w++) { /* nobody has turned since */
		c->worker[w].ended.barren = UINT64_MAX / 2;
		c->worker[w].ended.loops = UINT64_MAX / 2;
	}
	assert_int_equal(ctl_settled(c, &s), 0);
	c->rx_moved_ns = 0;
	c->ended_ns -= 7000000000;
	assert_int_equal(ctl_settled(c, &s), 1);
}

static void test_close(void **state)
{
	(void)state;
	fresh(0, 5);
	start(0, 0);
	pause_ms(5);
	ctl_close(c);
}

int main(void)
{
	const struct CMUnitTest live[] = {
		cmocka_unit_test(test_weights_and_count),
		cmocka_unit_test(test_counts_of_streams),
		cmocka_unit_test(test_own_rates),
		cmocka_unit_test(test_mixed_sizes_in_time),
		cmocka_unit_test(test_changes_while_sending),
		cmocka_unit_test(test_bound_goes),
		cmocka_unit_test(test_no_end_before_the_first_frame),
		cmocka_unit_test(test_own_rates_come_and_go),
		cmocka_unit_test(test_a_bad_change_waits),
		cmocka_unit_test(test_what_is_said),
		cmocka_unit_test(test_first_frame),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_probes_are_awaited),
		cmocka_unit_test(test_each_sender_is_exact_by_itself),
		cmocka_unit_test(test_workers_wake),
		cmocka_unit_test(test_a_worker_without_a_cpu),
		cmocka_unit_test(test_close),
	};

	if (!live_open("ctl_run_test"))
		return 77;
	return cmocka_run_group_tests(live, NULL, NULL);
}
