/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the fates and verdicts of trials with made numbers. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "trial.h"

/* ---- fates ---- */

static unsigned any_seed = 1;

static uint64_t any(uint64_t below)
{
	any_seed = any_seed * 1103515245u + 12345u;
	return (any_seed >> 8) % below;
}

static struct trial_fates closed(const struct trial_counts *n)
{
	struct trial_fates f;

	trial_close(n, &f);
	assert_int_equal(trial_accounted(&f), f.sent + f.excess); /* this always holds */
	assert_int_equal(f.sent, n->accepted + n->dropped);
	assert_int_equal(f.told, n->told);
	return f;
}

static void test_fates_of_counters(void **state)
{
	struct trial_fates f;

	(void)state;
	f = closed(&(struct trial_counts){.accepted = 1000, .arrived = 1000});
	assert_int_equal(f.received, 1000);
	assert_int_equal(f.lost + f.excess, 0);
	f = closed(&(struct trial_counts){.accepted = 1000,
					  .dropped = 10,
					  .tx_errors = 3,
					  .unconfirmed = 7,
					  .arrived = 900,
					  .arrived_late = 5,
					  .missed = 20,
					  .nombuf = 2,
					  .rx_errors = 1});
	assert_int_equal(f.sent, 1010);
	assert_int_equal(f.not_accepted, 10);
	assert_int_equal(f.tx_errors, 3);
	assert_int_equal(f.unconfirmed, 4); /* frames with errors are not confirmed either */
	assert_int_equal(f.late, 5);
	assert_int_equal(f.rx_missed, 20);
	assert_int_equal(f.rx_nombuf, 2);
	assert_int_equal(f.rx_errors, 1);
	assert_int_equal(f.lost, 1010 - 10 - 7 - 905 - 23);
	assert_int_equal(f.excess, 0);
	/* More has arrived than was sent, which is not hidden. */
	f = closed(&(struct trial_counts){.accepted = 100, .arrived = 103});
	assert_int_equal(f.received, 103);
	assert_int_equal(f.excess, 3);
	assert_int_equal(f.lost, 0);
	/* Frames to groups are others' if the trial sends none. Else nobody knows. */
	f = closed(&(
		struct trial_counts){.accepted = 100, .arrived = 103, .group = 4, .unicast = true});
	assert_int_equal(f.received, 99);
	assert_int_equal(f.others, 4);
	assert_int_equal(f.lost, 1);
	f = closed(&(struct trial_counts){.accepted = 100, .arrived = 103, .group = 4});
	assert_int_equal(f.excess, 3);
	/* All that came late is others'. */
	f = closed(&(struct trial_counts){
		.accepted = 10, .arrived_late = 4, .group = 4, .unicast = true});
	assert_int_equal(f.late + f.received, 0);
	assert_int_equal(f.others, 4);
	assert_int_equal(f.lost, 10);
}

/* Each frame with a probe tells of itself. The devices' counters count others' frames too; they
 * divide what did not arrive among its causes. */
static void test_fates_of_probes(void **state)
{
	struct trial_fates f;

	(void)state;
	f = closed(&(struct trial_counts){.told = true,
					  .accepted = 1000,
					  .dropped = 5,
					  .whole = 900,
					  .whole_late = 10,
					  .beyond = 2,
					  .corrupted = 8,
					  .duplicated = 50,
					  .reordered = 60,
					  .missed = 30,
					  .nombuf = 100,
					  .rx_errors = 3,
					  .arrived = 977});
	assert_int_equal(f.received, 900);
	assert_int_equal(f.late, 12);
	assert_int_equal(f.corrupted, 8);
	assert_int_equal(f.duplicated, 50);
	assert_int_equal(f.reordered, 60);
	assert_int_equal(f.rx_missed, 30);
	assert_int_equal(f.rx_nombuf, 50); /* no more frames were left */
	assert_int_equal(f.rx_errors, 0);
	assert_int_equal(f.others, 7);
	assert_int_equal(f.untold, 0);
	assert_int_equal(f.lost + f.excess, 0);
	/* Duplicates do not hide a loss. */
	f = closed(&(struct trial_counts){
		.told = true, .accepted = 100, .whole = 90, .duplicated = 10, .arrived = 100});
	assert_int_equal(f.lost, 10);
	/* A frame that is damaged beyond recognition is one of ours as long as some are missing. */
	f = closed(&(struct trial_counts){
		.told = true, .accepted = 100, .whole = 97, .damaged = 5, .arrived = 102});
	assert_int_equal(f.corrupted, 3);
	assert_int_equal(f.others, 0);
	/* What came without a probe may be what is missing. Nobody claims to know. */
	f = closed(&(struct trial_counts){
		.told = true, .accepted = 100, .whole = 90, .plain = 4, .arrived = 94});
	assert_int_equal(f.unknown, 4);
	assert_int_equal(f.lost, 6);
	assert_int_equal(f.others, 0);
	assert_true(isnan(trial_loss(&f)));
	f = closed(&(struct trial_counts){.told = true,
					  .accepted = 100,
					  .whole = 97,
					  .plain = 7,
					  .group = 2,
					  .unicast = true,
					  .arrived = 104});
	assert_int_equal(f.unknown, 3);
	assert_int_equal(f.lost, 0);
	assert_int_equal(f.others, 4);
	/* But here nothing is missing, or others sent them: to groups, or with probes of their
	 * own. */
	f = closed(&(struct trial_counts){
		.told = true, .accepted = 100, .whole = 100, .plain = 7, .arrived = 107});
	assert_int_equal(f.unknown + f.lost, 0);
	assert_int_equal(f.others, 7);
	f = closed(&(struct trial_counts){.told = true,
					  .accepted = 100,
					  .whole = 90,
					  .plain = 5,
					  .group = 5,
					  .unicast = true,
					  .arrived = 99});
	assert_int_equal(f.unknown, 0);
	assert_int_equal(f.lost, 10);
	assert_int_equal(f.others, 9);
	assert_true(trial_loss(&f) > 0.0999);
	/* Receivers counted fewer frames than told of themselves. */
	f = closed(
		&(struct trial_counts){.told = true, .accepted = 100, .whole = 97, .arrived = 96});
	assert_int_equal(f.untold, 1);
	/* More different frames came than were sent. */
	f = closed(&(
		struct trial_counts){.told = true, .accepted = 100, .whole = 101, .arrived = 101});
	assert_int_equal(f.excess, 1);
}

static void test_fates_close(void **state)
{
	struct trial_fates sum = {0};
	uint64_t accounted = 0;

	(void)state;
	for (unsigned i = 0; i < 100000; i++) {
		uint64_t n = 1 + any(50);
		struct trial_counts counts = {
			.accepted = any(n),
			.dropped = any(n),
			.tx_errors = any(n) / 4,
			.unconfirmed = any(n) / 4,
			.arrived = any(n),
			.arrived_late = any(n) / 4,
			.group = any(n) / 2,
			.unicast = any(2) != 0,
			.missed = any(n) / 4,
			.nombuf = any(n) / 4,
			.rx_errors = any(n) / 4,
			.told = any(2) != 0,
			.whole = any(n),
			.whole_late = any(n) / 4,
			.beyond = any(n) / 8,
			.corrupted = any(n) / 8,
			.duplicated = any(n),
			.reordered = any(n),
			.damaged = any(n) / 8,
			.plain = any(n),
		};
		struct trial_fates f = closed(&counts);
		double loss = trial_loss(&f);
		assert_true(f.lost + f.unknown == 0 || f.excess == 0);
		assert_true(isnan(loss) || (loss >= 0 && loss <= 1));
		accounted += trial_accounted(&f);
		trial_fates_add(&sum, &f);
	}
	assert_int_equal(trial_accounted(&sum), accounted);
	assert_int_equal(accounted, sum.sent + sum.excess);
}

/* ---- verdicts ---- */

struct made {
	struct trial_result r;
	struct trial_tx tx[2];
	struct trial_flow flow[2];
	struct trial_worker worker[2];
	struct trial_cfg cfg;
};

/* Makes a trial of two directions of 10^6 frames in 1 s, with nothing wrong. */
static void make(struct made *m)
{
	*m = (struct made){.r = {.ntx = 2,
				 .nflows = 2,
				 .nworkers = 2,
				 .link_changed = -1,
				 .span_ns = 1000000000}};
	trial_cfg_init(&m->cfg);
	m->r.tx = m->tx;
	m->r.flow = m->flow;
	m->r.worker = m->worker;
	for (unsigned i = 0; i < 2; i++) {
		m->tx[i] = (struct trial_tx){.port = i,
					     .load = {.counted = true,
						      .intended = 1000000,
						      .offered = 1000000,
						      .intended_pps = 1e6,
						      .offered_pps = 1e6,
						      .duration_ns = 999999000,
						      .due_ns = 999999000}};
		m->flow[i].counts = (struct trial_counts){.accepted = 1000000, .arrived = 1000000};
		m->worker[i] = (struct trial_worker){.lcore = i + 1, .waited_known = true};
	}
}

static enum trial_verdict judged(struct made *m)
{
	m->r.sum = (struct trial_fates){0};
	for (unsigned i = 0; i < 2; i++) {
		trial_close(&m->flow[i].counts, &m->flow[i].fates);
		trial_fates_add(&m->r.sum, &m->flow[i].fates);
	}
	trial_judge(&m->r, &m->cfg);
	for (unsigned v = 1; v < TRIAL_NVERDICTS; v++)
		assert_true(!m->r.is[v] || m->r.why[v][0] != '\0');
	return m->r.verdict;
}

static void test_each_reason(void **state)
{
	struct made m;

	(void)state;
	make(&m);
	assert_int_equal(judged(&m), TRIAL_VALID);
	m.flow[0].counts.arrived = 0; /* if a device loses everything, that is no fault of ours */
	assert_int_equal(judged(&m), TRIAL_VALID);
	make(&m);
	m.flow[1].counts.arrived++;
	assert_int_equal(judged(&m), TRIAL_COUNTERS);
	make(&m);
	m.r.link_changed = 1;
	assert_int_equal(judged(&m), TRIAL_LINK);
	make(&m);
	m.r.clock_moved_ppm = -20.1;
	assert_int_equal(judged(&m), TRIAL_CLOCK);
	m.r.clock_moved_ppm = 20;
	assert_int_equal(judged(&m), TRIAL_VALID);
	make(&m);
	m.worker[1].waited_ns = 50000001;
	assert_int_equal(judged(&m), TRIAL_PREEMPTED);
	assert_non_null(strstr(m.r.why[TRIAL_PREEMPTED], "worker 2"));
	m.worker[1].waited_known = false; /* the system does not tell it */
	assert_int_equal(judged(&m), TRIAL_VALID);
	m.worker[1].longest_ns = 10000001;
	assert_int_equal(judged(&m), TRIAL_PREEMPTED);
	m.worker[1].longest_ns = 10000000;
	assert_int_equal(judged(&m), TRIAL_VALID);
	make(&m);
	m.tx[0].load.offered = 998999;
	assert_int_equal(judged(&m), TRIAL_LIMITED);
	m.tx[0].load.offered = 999000;
	assert_int_equal(judged(&m), TRIAL_VALID);
	m.tx[0].load.counted = false; /* with random arrivals only what was given up is known */
	m.tx[0].load.given_up = 1100;
	assert_int_equal(judged(&m), TRIAL_LIMITED);
	m.tx[0].load.given_up = 0;
	assert_int_equal(judged(&m), TRIAL_VALID);
	m.tx[0].load.stopped = true;
	assert_int_equal(judged(&m), TRIAL_LIMITED);
	make(&m);
	m.r.asked_ns = 1000000000;
	m.tx[0].load.max = true; /* the run goes as fast as possible, to the end of the time */
	m.tx[0].load.duration_ns = 990000000;
	assert_int_equal(judged(&m), TRIAL_VALID);
	m.tx[0].load.duration_ns = 989999999;
	assert_int_equal(judged(&m), TRIAL_LIMITED);
	m.tx[0].load.offered = m.tx[0].load.duration_ns = 0;
	assert_int_equal(judged(&m), TRIAL_LIMITED);
	make(&m);
	m.flow[0].counts.missed = 1;
	m.flow[0].counts.arrived--;
	assert_int_equal(judged(&m), TRIAL_LIMITED);
	make(&m);
	m.flow[0].counts.nombuf = 1; /* even if the frame waited and was taken later */
	assert_int_equal(judged(&m), TRIAL_LIMITED);
	assert_int_equal(m.flow[0].fates.rx_nombuf, 0);
}

/* What is not known is not claimed. */
static void test_not_known(void **state)
{
	struct made m;

	(void)state;
	make(&m);
	m.flow[1].counts = (struct trial_counts){.told = true,
						 .accepted = 1000000,
						 .whole = 999990,
						 .arrived = 999990};
	assert_int_equal(judged(&m), TRIAL_VALID);
	/* Nobody can read these ten, which have arrived or are lost. */
	m.flow[1].counts.arrived = m.flow[1].counts.accepted;
	m.flow[1].counts.plain = 10;
	assert_int_equal(judged(&m), TRIAL_COUNTERS);
	assert_non_null(strstr(m.r.why[TRIAL_COUNTERS], "10 frames are missing"));
	make(&m);
	m.r.inexact = "tables were made anew"; /* this is about probes that nobody asks */
	assert_int_equal(judged(&m), TRIAL_VALID);
	m.flow[0].counts = (struct trial_counts){.told = true,
						 .accepted = 1000000,
						 .whole = 1000000,
						 .arrived = 1000000};
	assert_int_equal(judged(&m), TRIAL_COUNTERS);
	assert_non_null(strstr(m.r.why[TRIAL_COUNTERS], "made anew"));
}

/* The mean rate from the first to the last frame may be off by 20 ppm of the time. Times are known
 * to 200 us. */
static void test_mean_rate(void **state)
{
	static const struct {
		uint64_t due, took;
		bool off;
	} cases[] = {
		{1000000000, 1000199000, false},    {1000000000, 1000201000, true},
		{1000000000, 999799000, true},      {10000000000, 10000199000, false},
		{10000000000, 10000201000, true},   {100000000000, 100001900000, false},
		{100000000000, 100002100000, true}, {0, 5000000000, false},
	};
	struct made m;

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
		make(&m);
		m.tx[1].load.due_ns = cases[i].due;
		m.tx[1].load.duration_ns = cases[i].took;
		assert_int_equal(judged(&m), cases[i].off ? TRIAL_LIMITED : TRIAL_VALID);
		m.tx[1].load.max = true; /* a run as fast as possible has no rate to miss */
		m.tx[1].load.offered = 1;
		assert_int_equal(judged(&m), TRIAL_VALID);
	}
	make(&m);
	m.r.asked_ns = 1000000000;
	/* With random arrivals all frames are due within the time that was asked for. */
	m.tx[1].load.counted = false;
	m.tx[1].load.due_ns = 0;
	m.tx[1].load.duration_ns = 900000000;
	assert_int_equal(judged(&m), TRIAL_VALID);
	m.tx[1].load.duration_ns = 1000199000;
	assert_int_equal(judged(&m), TRIAL_VALID);
	m.tx[1].load.duration_ns = 1009000000;
	assert_int_equal(judged(&m), TRIAL_LIMITED);
}

/* The verdict is the first that applies, in the order of the enum, and all reasons are told. */
static void test_order_of_verdicts(void **state)
{
	(void)state;
	for (unsigned set = 0; set < 1u << (TRIAL_NVERDICTS - 1); set++) {
		struct made m;
		enum trial_verdict first = TRIAL_VALID;
		make(&m);
		if (set & 1)
			m.flow[0].counts.arrived += 5;
		if (set & 2)
			m.r.link_changed = 0;
		if (set & 4)
			m.r.clock_moved_ppm = 100;
		if (set & 8)
			m.worker[0].longest_ns = 200000000;
		if (set & 16)
			m.tx[0].load.offered = 500000;
		for (unsigned v = 1; v < TRIAL_NVERDICTS && first == TRIAL_VALID; v++)
			first = set >> (v - 1) & 1 ? (enum trial_verdict)v : TRIAL_VALID;
		assert_int_equal(judged(&m), first);
		for (unsigned v = 1; v < TRIAL_NVERDICTS; v++)
			assert_int_equal(m.r.is[v], set >> (v - 1) & 1);
	}
	assert_string_equal(trial_verdict_name(TRIAL_VALID), "valid");
	assert_string_equal(trial_verdict_name(TRIAL_COUNTERS), "counters-disagree");
	assert_string_equal(trial_verdict_name(TRIAL_LINK), "link-changed");
	assert_string_equal(trial_verdict_name(TRIAL_CLOCK), "clock-suspect");
	assert_string_equal(trial_verdict_name(TRIAL_PREEMPTED), "preempted");
	assert_string_equal(trial_verdict_name(TRIAL_LIMITED), "tester-limited");
}

static void test_limits_are_settings(void **state)
{
	struct made m;

	(void)state;
	make(&m);
	m.r.clock_moved_ppm = 100;
	m.worker[0].longest_ns = 20000000;
	m.worker[0].waited_ns = 500000000;
	m.tx[0].load.offered = 900000;
	m.tx[0].load.duration_ns += 1000000;
	m.cfg.max_clock = 100000;
	m.cfg.max_stall_ns = 20000000;
	m.cfg.max_wait = 500000000;
	m.cfg.max_short = 100000000;
	m.cfg.resolution_ns = 1000000;
	assert_int_equal(judged(&m), TRIAL_VALID);
	m.cfg.max_short = 99999999;
	assert_int_equal(judged(&m), TRIAL_LIMITED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fates_of_counters),
		cmocka_unit_test(test_fates_of_probes),
		cmocka_unit_test(test_fates_close),
		cmocka_unit_test(test_each_reason),
		cmocka_unit_test(test_not_known),
		cmocka_unit_test(test_mean_rate),
		cmocka_unit_test(test_order_of_verdicts),
		cmocka_unit_test(test_limits_are_settings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
