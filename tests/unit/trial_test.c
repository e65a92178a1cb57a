/* SPDX-License-Identifier: BSD-3-Clause */
/* Trials: fates and verdicts from made numbers, and the engine on real workers of a wire (ports 0, 1) and of null (2). */
#include "ctl_live.h"
#include "probe_int.h"
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
	assert_int_equal(trial_accounted(&f), f.sent + f.excess); /* always */
	assert_int_equal(f.sent, n->accepted + n->dropped);
	assert_int_equal(f.probes, n->probes);
	return f;
}

static void test_fates_of_counters(void **state)
{
	struct trial_fates f;

	(void)state;
	f = closed(&(struct trial_counts){.accepted = 1000, .arrived = 1000});
	assert_int_equal(f.received, 1000);
	assert_int_equal(f.lost + f.excess, 0);
	f = closed(&(struct trial_counts){.accepted = 1000, .dropped = 10, .tx_errors = 3, .unconfirmed = 7, .arrived = 900, .arrived_late = 5,
					  .missed = 20, .nombuf = 2, .rx_errors = 1});
	assert_int_equal(f.sent, 1010);
	assert_int_equal(f.not_accepted, 10);
	assert_int_equal(f.tx_errors, 3);
	assert_int_equal(f.unconfirmed, 4); /* those with errors are not confirmed either */
	assert_int_equal(f.late, 5);
	assert_int_equal(f.rx_missed, 20);
	assert_int_equal(f.rx_nombuf, 2);
	assert_int_equal(f.rx_errors, 1);
	assert_int_equal(f.lost, 1010 - 10 - 7 - 905 - 23);
	assert_int_equal(f.excess, 0);
	/* more than was sent, which nobody hides */
	f = closed(&(struct trial_counts){.accepted = 100, .arrived = 103});
	assert_int_equal(f.received, 103);
	assert_int_equal(f.excess, 3);
	assert_int_equal(f.lost, 0);
	/* frames to groups are others' where the trial sends none; else nobody knows */
	f = closed(&(struct trial_counts){.accepted = 100, .arrived = 103, .group = 4, .unicast = true});
	assert_int_equal(f.received, 99);
	assert_int_equal(f.others, 4);
	assert_int_equal(f.lost, 1);
	f = closed(&(struct trial_counts){.accepted = 100, .arrived = 103, .group = 4});
	assert_int_equal(f.excess, 3);
	/* all that came late is others' */
	f = closed(&(struct trial_counts){.accepted = 10, .arrived_late = 4, .group = 4, .unicast = true});
	assert_int_equal(f.late + f.received, 0);
	assert_int_equal(f.others, 4);
	assert_int_equal(f.lost, 10);
}

/* Each frame with a probe tells of itself; the devices' counters hold others' frames too and share out what did not arrive. */
static void test_fates_of_probes(void **state)
{
	struct trial_fates f;

	(void)state;
	f = closed(&(struct trial_counts){.probes = true, .accepted = 1000, .dropped = 5, .whole = 900, .whole_late = 10, .beyond = 2,
					  .corrupted = 8, .duplicated = 50, .reordered = 60, .missed = 30, .nombuf = 100, .rx_errors = 3,
					  .arrived = 977});
	assert_int_equal(f.received, 900);
	assert_int_equal(f.late, 12);
	assert_int_equal(f.corrupted, 8);
	assert_int_equal(f.duplicated, 50);
	assert_int_equal(f.reordered, 60);
	assert_int_equal(f.rx_missed, 30);
	assert_int_equal(f.rx_nombuf, 50); /* no more were left */
	assert_int_equal(f.rx_errors, 0);
	assert_int_equal(f.others, 7);
	assert_int_equal(f.untold, 0);
	assert_int_equal(f.lost + f.excess, 0);
	/* duplicates do not hide a loss */
	f = closed(&(struct trial_counts){.probes = true, .accepted = 100, .whole = 90, .duplicated = 10, .arrived = 100});
	assert_int_equal(f.lost, 10);
	/* what is damaged beyond its name is one of ours as long as some are missing */
	f = closed(&(struct trial_counts){.probes = true, .accepted = 100, .whole = 97, .damaged = 5, .arrived = 102});
	assert_int_equal(f.corrupted, 3);
	assert_int_equal(f.others, 0);
	/* what came without a probe may be what is missing: nobody claims to know */
	f = closed(&(struct trial_counts){.probes = true, .accepted = 100, .whole = 90, .plain = 4, .arrived = 94});
	assert_int_equal(f.unknown, 4);
	assert_int_equal(f.lost, 6);
	assert_int_equal(f.others, 0);
	assert_true(isnan(trial_loss(&f)));
	f = closed(&(struct trial_counts){.probes = true, .accepted = 100, .whole = 97, .plain = 7, .group = 2, .unicast = true, .arrived = 104});
	assert_int_equal(f.unknown, 3);
	assert_int_equal(f.lost, 0);
	assert_int_equal(f.others, 4);
	/* but nothing is missing, or others sent them: to groups, or with probes of their own */
	f = closed(&(struct trial_counts){.probes = true, .accepted = 100, .whole = 100, .plain = 7, .arrived = 107});
	assert_int_equal(f.unknown + f.lost, 0);
	assert_int_equal(f.others, 7);
	f = closed(&(struct trial_counts){.probes = true, .accepted = 100, .whole = 90, .plain = 5, .group = 5, .unicast = true, .arrived = 99});
	assert_int_equal(f.unknown, 0);
	assert_int_equal(f.lost, 10);
	assert_int_equal(f.others, 9);
	assert_true(trial_loss(&f) > 0.0999);
	/* receivers counted fewer than told of themselves */
	f = closed(&(struct trial_counts){.probes = true, .accepted = 100, .whole = 97, .arrived = 96});
	assert_int_equal(f.untold, 1);
	/* more different frames than were sent */
	f = closed(&(struct trial_counts){.probes = true, .accepted = 100, .whole = 101, .arrived = 101});
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
			.accepted = any(n), .dropped = any(n), .tx_errors = any(n) / 4, .unconfirmed = any(n) / 4, .arrived = any(n),
			.arrived_late = any(n) / 4, .group = any(n) / 2, .unicast = any(2) != 0, .missed = any(n) / 4, .nombuf = any(n) / 4,
			.rx_errors = any(n) / 4, .probes = any(2) != 0, .whole = any(n), .whole_late = any(n) / 4, .beyond = any(n) / 8,
			.corrupted = any(n) / 8, .duplicated = any(n), .reordered = any(n), .damaged = any(n) / 8, .plain = any(n),
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

/* Two directions of 10^6 frames in 1 s, and nothing wrong. */
static void make(struct made *m)
{
	*m = (struct made){.r = {.ntx = 2, .nflows = 2, .nworkers = 2, .link_changed = -1, .span_ns = 1000000000}};
	trial_cfg_init(&m->cfg);
	m->r.tx = m->tx;
	m->r.flow = m->flow;
	m->r.worker = m->worker;
	for (unsigned i = 0; i < 2; i++) {
		m->tx[i] = (struct trial_tx){.port = i, .load = {.counted = true, .intended = 1000000, .offered = 1000000,
								 .intended_pps = 1e6, .offered_pps = 1e6,
								 .duration_ns = 999999000, .due_ns = 999999000}};
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
	m.flow[0].counts.arrived = 0; /* a device that loses everything is no fault of ours */
	assert_int_equal(judged(&m), TRIAL_VALID);
	make(&m);
	m.flow[1].counts.arrived++;
	assert_int_equal(judged(&m), TRIAL_COUNTERS);
	make(&m);
	m.flow[1].counts = (struct trial_counts){.probes = true, .accepted = 1000000, .whole = 999990, .arrived = 999990};
	assert_int_equal(judged(&m), TRIAL_VALID);
	m.flow[1].counts.arrived = m.flow[1].counts.accepted; /* ten that nobody can read: arrived or lost */
	m.flow[1].counts.plain = 10;
	assert_int_equal(judged(&m), TRIAL_COUNTERS);
	assert_non_null(strstr(m.r.why[TRIAL_COUNTERS], "10 frames are missing"));
	make(&m);
	m.r.inexact = "tables were made anew"; /* of probes that nobody asks */
	assert_int_equal(judged(&m), TRIAL_VALID);
	m.flow[0].counts = (struct trial_counts){.probes = true, .accepted = 1000000, .whole = 1000000, .arrived = 1000000};
	assert_int_equal(judged(&m), TRIAL_COUNTERS);
	assert_non_null(strstr(m.r.why[TRIAL_COUNTERS], "made anew"));
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
	m.worker[1].waited_known = false; /* the system does not tell */
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
	m.tx[0].load.counted = false; /* random arrivals: only what was given up is known */
	m.tx[0].load.given_up = 1100;
	assert_int_equal(judged(&m), TRIAL_LIMITED);
	m.tx[0].load.given_up = 0;
	assert_int_equal(judged(&m), TRIAL_VALID);
	m.tx[0].load.stopped = true;
	assert_int_equal(judged(&m), TRIAL_LIMITED);
	make(&m);
	m.flow[0].counts.missed = 1;
	m.flow[0].counts.arrived--;
	assert_int_equal(judged(&m), TRIAL_LIMITED);
	make(&m);
	m.flow[0].counts.nombuf = 1; /* also where the frame waited and was taken later */
	assert_int_equal(judged(&m), TRIAL_LIMITED);
	assert_int_equal(m.flow[0].fates.rx_nombuf, 0);
}

/* The mean, first to last frame: 20 ppm of the time, and times are known to 200 us. */
static void test_mean_rate(void **state)
{
	static const struct { uint64_t due, took; bool off; } cases[] = {
		{1000000000, 1000199000, false}, {1000000000, 1000201000, true}, {1000000000, 999799000, true},
		{10000000000, 10000199000, false}, {10000000000, 10000201000, true},
		{100000000000, 100001900000, false}, {100000000000, 100002100000, true}, {0, 5000000000, false},
	};
	struct made m;

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
		make(&m);
		m.tx[1].load.due_ns = cases[i].due;
		m.tx[1].load.duration_ns = cases[i].took;
		assert_int_equal(judged(&m), cases[i].off ? TRIAL_LIMITED : TRIAL_VALID);
		m.tx[1].load.max = true; /* as fast as possible has no rate to miss */
		m.tx[1].load.offered = 1;
		assert_int_equal(judged(&m), TRIAL_VALID);
	}
	make(&m);
	m.r.asked_ns = 1000000000;
	m.tx[1].load.counted = false; /* random arrivals: all of them are due within the time that was asked for */
	m.tx[1].load.due_ns = 0;
	m.tx[1].load.duration_ns = 900000000;
	assert_int_equal(judged(&m), TRIAL_VALID);
	m.tx[1].load.duration_ns = 1000199000;
	assert_int_equal(judged(&m), TRIAL_VALID);
	m.tx[1].load.duration_ns = 1009000000;
	assert_int_equal(judged(&m), TRIAL_LIMITED);
}

/* The first that applies in the order of the enum, and all of them are told. */
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

/* ---- the engine ---- */

static struct trial_spec spec_of(unsigned port, double pps, uint64_t ns)
{
	struct trial_spec s = {.tx = only(port), .rate = {RATE_PPS, pps}, .duration_ns = ns};

	trial_cfg_init(&s.cfg);
	return s;
}

static struct trial *begun(const struct trial_spec *s)
{
	struct trial *t = NULL;
	struct err e = {.text = ""};

	if (trial_start(c, s, &t, &e) != 0)
		fail_msg("%s", e.text);
	return t;
}

static void ended(struct trial *t)
{
	struct err e = {.text = ""};

	for (unsigned i = 0; i < 60000; i++) {
		ctl_turn(c);
		int rc = trial_poll(t, &e);
		if (rc < 0)
			fail_msg("%s", e.text);
		if (rc == 1)
			return;
		pause_ms(1);
	}
	fail_msg("the trial does not end");
}

static void test_wire(void **state)
{
	struct trial_spec s = spec_of(0, 20000, 100000000);

	(void)state;
	fresh(0, 1)->rate = (struct rate){RATE_PPS, 5};
	ctl_port_cfg(c, 0)->count = 7; /* the port's own are not the trial's */
	fresh(1, 1);
	portset_add(&s.tx, 1);
	struct trial *t = begun(&s);
	assert_null(trial_result(t));
	ended(t);
	const struct trial_result *r = trial_result(t);
	assert_int_equal(r->ntx, 2);
	assert_int_equal(r->nflows, 2);
	for (unsigned i = 0; i < 2; i++) {
		const struct trial_flow *f = &r->flow[i];
		assert_true(portset_has(&f->from, i) && portset_has(&f->to, !i));
		assert_int_equal(f->load.intended, 2000);
		assert_true(f->fates.sent <= 2000 && (f->fates.sent == 2000 || r->verdict != TRIAL_VALID));
		assert_int_equal(f->fates.received, f->fates.sent - f->fates.not_accepted);
		assert_int_equal(f->fates.lost + f->fates.excess, 0);
	}
	assert_int_equal(r->sum.sent, r->flow[0].fates.sent + r->flow[1].fates.sent);
	assert_false(r->is[TRIAL_COUNTERS]);
	assert_false(r->is[TRIAL_LINK]);
	assert_int_equal(ctl_port_cfg(c, 0)->count, 7);
	assert_true(ctl_port_cfg(c, 0)->rate.value == 5);
	json_t *doc = trial_json(r, &s.cfg), *o = json_object_get(doc, "trial"), *fates = json_object_get(o, "fates");
	assert_int_equal(json_array_size(json_object_get(o, "directions")), 2);
	assert_int_equal(json_integer_value(json_object_get(fates, "sent")), (json_int_t)r->sum.sent);
	assert_true(json_is_null(json_object_get(fates, "duplicated"))); /* a TCP frame of 64 bytes has no room for a probe */
	assert_string_equal(json_string_value(json_object_get(o, "verdict")), trial_verdict_name(r->verdict));
	json_decref(doc);
	trial_free(t);
	fresh(0, 1);
	no_events();
}

/* A port without partner receives on itself, and null gives nothing back. */
static void test_null(void **state)
{
	struct trial_spec s = spec_of(2, 1000, 50000000);

	(void)state;
	fresh(2, 1);
	s.cfg.drain_ns = 5000000;
	struct trial *t = begun(&s);
	ended(t);
	const struct trial_result *r = trial_result(t);
	assert_true(portset_has(&r->flow[0].to, 2));
	assert_int_equal(r->sum.received, 0);
	assert_int_equal(r->sum.lost, r->sum.sent);
	assert_true(trial_loss(&r->sum) == 1);
	trial_free(t);
}

/* Named receivers are one direction; learning frames come from them and are not counted. */
static void test_learning(void **state)
{
	struct trial_spec s = spec_of(0, 1000, 50000000);

	(void)state;
	fresh(0, 1);
	fresh(1, 1);
	s.rx = only(1);
	s.cfg.learn = 10;
	s.cfg.learn_wait_ns = 1000000;
	s.cfg.settle_ns = 1000000;
	uint64_t before = now(0).rx.packets;
	struct trial *t = begun(&s);
	ended(t);
	const struct trial_result *r = trial_result(t);
	assert_int_equal(now(0).rx.packets - before, 10);
	assert_int_equal(r->nflows, 1);
	assert_int_equal(r->sum.received, r->sum.sent - r->sum.not_accepted);
	assert_int_equal(r->sum.late, 0);
	trial_free(t);
}

static void not_begun(const struct trial_spec *s, const char *word, const char *help)
{
	struct trial *t = NULL;
	struct err e = {.text = ""};

	if (trial_start(c, s, &t, &e) >= 0 || t != NULL || strstr(e.text, word) == NULL || strstr(e.text, help) == NULL)
		fail_msg("'%s'; wanted '%s' and '%s'", e.text, word, help);
	for (unsigned p = 0; p < 3; p++)
		assert_false(ctl_sending(c, p));
}

static void test_refused(void **state)
{
	struct trial_spec s = spec_of(0, 1000, 50000000), other = spec_of(2, 1000, 50000000);

	(void)state;
	fresh(0, 2);
	fresh(1, 1);
	own_pps(0, 1, 10);
	not_begun(&s, "0/1 has a rate of its own", "rate none");
	stream(0, 1)->rate.set = false;
	stream(0, 1)->count = 5;
	not_begun(&s, "0/1 ends after 5 frames", "count 0");
	stream(0, 1)->enabled = false;
	s.duration_ns = 0;
	not_begun(&s, "no time", "10s");
	s.duration_ns = 50000000;
	s.tx = (struct portset){0};
	not_begun(&s, "needs a port", "");
	s.tx = only(0);
	s.cfg.drain_min_ns = 3000000000;
	not_begun(&s, "drain-min", "drain-max");
	s.cfg.drain_min_ns = 0;
	/* one after the other */
	struct trial *t = begun(&s), *second = NULL;
	assert_true(trial_start(c, &other, &second, NULL) < 0);
	ended(t);
	trial_free(t);
	/* somebody else's traffic would be counted */
	fresh(1, 1)->rate = (struct rate){RATE_PPS, 100};
	start(1, 0);
	assert_true(trial_start(c, &s, &second, NULL) < 0);
	assert_true(ctl_sending(c, 1));
	stop(1);
	fresh(0, 1);
	fresh(1, 1);
}

/* Cancelled in the middle: nothing goes on, and the next one is as good as the first. */
static void test_cancel(void **state)
{
	struct trial_spec s = spec_of(0, 1000, 3600000000000ull);

	(void)state;
	fresh(0, 1);
	for (unsigned learn = 0; learn < 2; learn++) {
		s.cfg.learn = learn * 1000000;
		struct trial *t = begun(&s);
		for (unsigned i = 0; i < 20; i++) {
			ctl_turn(c);
			assert_int_equal(trial_poll(t, NULL), 0);
			pause_ms(1);
		}
		trial_free(t);
		settle(0);
		settle(1);
		assert_false(ctl_sending(c, 0) || ctl_sending(c, 1));
	}
	s.cfg.learn = 0;
	s.duration_ns = 20000000;
	struct trial *t = begun(&s);
	ended(t);
	assert_int_equal(trial_result(t)->sum.received, trial_result(t)->sum.sent - trial_result(t)->sum.not_accepted);
	trial_free(t);
}

/* What was disturbed before a trial is not its; what is meanwhile, is. */
static void test_own_time(void **state)
{
	struct trial_spec s = spec_of(0, 10000, 50000000);

	(void)state;
	for (unsigned during = 0; during < 2; during++) {
		fresh(0, 1);
		fresh(1, 1);
		fixed_size(0, 0, 128);
		probe_inexact(c->probes, "of before");
		struct trial *t = begun(&s);
		if (during)
			probe_inexact(c->probes, "of now");
		ended(t);
		const struct trial_result *r = trial_result(t);
		assert_true(r->sum.probes);
		assert_int_equal(r->inexact != NULL, during);
		assert_int_equal(r->is[TRIAL_COUNTERS], during);
		if (during)
			assert_string_equal(r->inexact, "of now");
		trial_free(t);
	}
	fresh(0, 1);
}

/* As if the port had heard the same frames as port 1, which has one Rx queue. */
static void hears_too(unsigned port)
{
	const struct probe_arm *a = c->probes->now;
	const struct probe_tap *from = NULL, *to = NULL;

	for (unsigned i = 0; i < a->ntaps; i++) {
		from = a->tap[i].port == 1 && from == NULL ? &a->tap[i] : from;
		to = a->tap[i].port == port && to == NULL ? &a->tap[i] : to;
	}
	assert_true(from != NULL && to != NULL);
	for (unsigned q = 0; q < a->spec.of[0].nqueues; q++) {
		uint32_t n;
		memcpy((void *)(uintptr_t)prx_flow(to->prx, 0, 0, q), prx_flow(from->prx, 0, 0, q), sizeof(struct prx_flow));
		const struct prx_block *window = prx_window(from->prx, 0, 0, q, &n);
		memcpy((void *)(uintptr_t)prx_window(to->prx, 0, 0, q, &n), window, n * sizeof(*window));
	}
}

static struct probe_counts heard_on(unsigned ports)
{
	struct portset s = {{0}};
	struct probe_counts n;

	for (unsigned p = 0; p < 3; p++)
		if (ports >> p & 1)
			portset_add(&s, p);
	assert_true(ctl_probe_counts(c, 0, -1, &s, &n));
	return n;
}

/* Copies that come in on two of the receivers are copies, and are not told apart only where a third port heard some, too. */
static void test_copies_on_two_receivers(void **state)
{
	struct portset all = only(0);
	struct probe_counts n;

	(void)state;
	fresh(0, 1)->count = 500;
	fresh(1, 1);
	fresh(2, 1);
	fixed_size(0, 0, 128);
	stream(0, 0)->frame.probe = 1;
	portset_add(&all, 1);
	portset_add(&all, 2);
	for (unsigned round = 0; round < 2; round++) { /* what was before is the same on all of them, and cleared */
		if (round > 0) {
			hears_too(2);
			hears_too(0);
			ctl_clear(c, &all);
		}
		start(0, 0);
		settle(0);
	}
	n = heard_on(1 << 1);
	assert_true(n.received == 500 && n.duplicated == 0 && !n.inexact);
	hears_too(2);
	n = heard_on(1 << 1 | 1 << 2);
	assert_true(n.received == 500 && n.duplicated == 500 && n.lost == 0 && !n.inexact);
	for (unsigned p = 1; p <= 2; p++) {
		n = heard_on(1 << p);
		assert_true(n.received == 500 && n.duplicated == 0 && !n.inexact);
	}
	hears_too(0);
	n = heard_on(7);
	assert_true(n.received == 500 && n.duplicated == 1000 && !n.inexact);
	n = heard_on(1 << 1 | 1 << 2);
	assert_true(n.inexact && strstr(n.why, "several receivers") != NULL);
	ctl_clear(c, &all);
	n = heard_on(1 << 1 | 1 << 2);
	assert_true(n.received == 0 && n.duplicated == 0 && !n.inexact);
	fresh(0, 1);
}

int main(void)
{
	const struct CMUnitTest pure[] = {
		cmocka_unit_test(test_fates_of_counters), cmocka_unit_test(test_fates_of_probes), cmocka_unit_test(test_fates_close),
		cmocka_unit_test(test_each_reason), cmocka_unit_test(test_mean_rate), cmocka_unit_test(test_order_of_verdicts),
		cmocka_unit_test(test_limits_are_settings),
	};
	const struct CMUnitTest live[] = {
		cmocka_unit_test(test_wire), cmocka_unit_test(test_null), cmocka_unit_test(test_learning), cmocka_unit_test(test_refused),
		cmocka_unit_test(test_cancel), cmocka_unit_test(test_own_time), cmocka_unit_test(test_copies_on_two_receivers),
	};
	int failed = cmocka_run_group_tests_name("verdicts", pure, NULL, NULL);

	if (!live_open("trial_test"))
		return failed != 0 ? 1 : 77;
	failed += cmocka_run_group_tests_name("trials", live, NULL, NULL);
	ctl_close(c);
	return failed != 0;
}
