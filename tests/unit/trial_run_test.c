/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests trials on real workers of a wire (ports 0 and 1) and of null (port 2). */
#include "probe_int.h"
#include "trial_live.h"

static struct trial_spec spec_of(unsigned port, double pps, uint64_t ns)
{
	struct trial_spec s = {.tx = only(port), .rate = {RATE_PPS, pps}, .duration_ns = ns};

	trial_cfg_init(&s.cfg);
	return s;
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
	ctl_port_cfg(c, 0)->count = 7; /* the trial does not use the port's own settings */
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
		assert_true(f->fates.sent <= 2000 &&
			    (f->fates.sent == 2000 || r->verdict != TRIAL_VALID));
		assert_int_equal(f->fates.received, f->fates.sent - f->fates.not_accepted);
		assert_int_equal(f->fates.lost + f->fates.excess, 0);
	}
	assert_int_equal(r->sum.sent, r->flow[0].fates.sent + r->flow[1].fates.sent);
	assert_false(r->is[TRIAL_COUNTERS]);
	assert_false(r->is[TRIAL_LINK]);
	assert_int_equal(ctl_port_cfg(c, 0)->count, 7);
	assert_true(ctl_port_cfg(c, 0)->rate.value == 5);
	json_t *doc = trial_json(r, &s.cfg), *o = json_object_get(doc, "trial"),
	       *fates = json_object_get(o, "fates");
	assert_int_equal(json_array_size(json_object_get(o, "directions")), 2);
	assert_int_equal(json_integer_value(json_object_get(fates, "sent")),
			 (json_int_t)r->sum.sent);
	/* The default frame of 64 bytes has room for a probe. */
	assert_true(json_is_integer(json_object_get(fates, "duplicated")));
	assert_string_equal(json_string_value(json_object_get(o, "told_by")), "probes");
	assert_string_equal(json_string_value(json_object_get(o, "verdict")),
			    trial_verdict_name(r->verdict));
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

/* Receivers that are named make one direction. Learning frames come from them and are not
 * counted. */
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

	if (trial_start(c, s, &t, &e) >= 0 || t != NULL || strstr(e.text, word) == NULL ||
	    strstr(e.text, help) == NULL)
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
	/* Only one trial runs at a time. */
	struct trial *t = begun(&s), *second = NULL;
	assert_true(trial_start(c, &other, &second, NULL) < 0);
	ended(t);
	trial_free(t);
	/* Traffic of others would be counted. */
	fresh(1, 1)->rate = (struct rate){RATE_PPS, 100};
	start(1, 0);
	assert_true(trial_start(c, &s, &second, NULL) < 0);
	assert_true(ctl_sending(c, 1));
	stop(1);
	fresh(0, 1);
	fresh(1, 1);
}

/* A trial is cancelled in the middle. Then nothing goes on, and the next trial is as good as the
 * first. */
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
	assert_int_equal(trial_result(t)->sum.received,
			 trial_result(t)->sum.sent - trial_result(t)->sum.not_accepted);
	trial_free(t);
}

/* What was disturbed before a trial does not count for it, and what is disturbed during the trial
 * does. */
static void test_own_time(void **state)
{
	struct trial_spec s = spec_of(0, 10000, 50000000);

	(void)state;
	for (unsigned during = 0; during < 2; during++) {
		fresh(0, 1);
		fresh(1, 1);
		fixed_size(0, 0, 128);
		probe_inexact(probes_of(c), 0, "of before");
		struct trial *t = begun(&s);
		if (during)
			probe_inexact(probes_of(c), 0, "of now");
		ended(t);
		const struct trial_result *r = trial_result(t);
		assert_true(r->sum.told);
		assert_int_equal(r->inexact != NULL, during);
		assert_int_equal(r->is[TRIAL_COUNTERS], during);
		if (during)
			assert_string_equal(r->inexact, "of now");
		trial_free(t);
	}
	fresh(0, 1);
}

/* The reason is that of the sender which was disturbed since, not of another that was before. */
static void test_whose_reason(void **state)
{
	struct portset both = only(0);
	struct witness_counts counts;

	(void)state;
	portset_add(&both, 1);
	fresh(0, 1);
	fresh(1, 1);
	probe_inexact(probes_of(c), 0, "of before");
	void *base = probe_witness.base(c, &both, &both);
	probe_inexact(probes_of(c), 1, "of now");
	probe_witness.read(c, &both, &both, base, &counts);
	assert_string_equal(counts.inexact, "of now");
	free(base);
	fresh(0, 1);
	fresh(1, 1);
}

#define HELD 512 /* these are whole batches */

/* Makes port 1's receiver get nothing before it is told to, and holds it up after the last
 * frame. */
static struct {
	eth_rx_burst_t rx;
	bool open, was;
	unsigned came;
} held;

static uint16_t held_rx(void *q, struct rte_mbuf **m, uint16_t n)
{
	if (!__atomic_load_n(&held.open, __ATOMIC_ACQUIRE))
		return 0;
	if (held.came == HELD && !held.was)
		pause_ms(300);
	held.was = held.came == HELD;
	uint16_t got = held.rx(q, m, n);
	held.came += got;
	return got;
}

/* A trial ends when the last latencies are in the histograms, not as soon as all frames are
 * counted. */
static void test_held_up(void **state)
{
	struct trial_spec s = spec_of(0, 10240, 50000000);
	struct rte_eth_fp_ops *f = &rte_eth_fp_ops[c->port[1]->p.dev];
	struct err e = {.text = ""};

	(void)state;
	fresh(0, 1);
	fresh(1, 1);
	fixed_size(0, 0, 128);
	s.cfg.overtime_ns = 10000000000;
	held.rx = f->rx_pkt_burst;
	f->rx_pkt_burst = held_rx;
	struct trial *t = begun(&s);
	do {
		pause_ms(1);
		ctl_turn(c);
		assert_int_equal(trial_poll(t, &e), 0);
	} while (ctl_sending(c, 0));
	__atomic_store_n(&held.open, true, __ATOMIC_RELEASE);
	ended(t);
	f->rx_pkt_burst = held.rx;
	const struct trial_result *r = trial_result(t);
	assert_true(held.was && r->sum.told);
	assert_int_equal(r->sum.received, HELD);
	assert_int_equal(hist_count(r->latency[LATENCY_SENT]), HELD);
	assert_int_equal(hist_count(r->latency[LATENCY_DUE]), HELD);
	trial_free(t);
	fresh(0, 1);
}

/* Acts as if the port had heard the same frames as port 1, which has one Rx queue. */
static void hears_too(unsigned port)
{
	const struct probe_arm *a = probes_of(c)->now;
	const struct probe_tap *from = NULL, *to = NULL;

	for (unsigned i = 0; i < a->ntaps; i++) {
		from = a->tap[i].port == 1 && from == NULL ? &a->tap[i] : from;
		to = a->tap[i].port == port && to == NULL ? &a->tap[i] : to;
	}
	assert_true(from != NULL && to != NULL);
	for (unsigned q = 0; q < a->spec.of[0].nqueues; q++) {
		uint32_t n;
		memcpy((void *)(uintptr_t)prx_flow(to->prx, 0, 0, q), prx_flow(from->prx, 0, 0, q),
		       sizeof(struct prx_flow));
		const struct prx_block *window = prx_window(from->prx, 0, 0, q, &n);
		memcpy((void *)(uintptr_t)prx_window(to->prx, 0, 0, q, &n), window,
		       n * sizeof(*window));
	}
}

static struct probe_counts heard_on(unsigned ports)
{
	struct portset s = {{0}};
	struct probe_counts n;

	for (unsigned p = 0; p < 3; p++)
		if (ports >> p & 1)
			portset_add(&s, p);
	assert_true(probe_counts(c, 0, -1, &s, &n));
	return n;
}

/* Copies that come in on two of the receivers count as copies. They cannot be told apart only if a
 * third port has heard some too. */
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
	/* What was counted before is the same on all of them, and is cleared. */
	for (unsigned round = 0; round < 2; round++) {
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
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wire),
		cmocka_unit_test(test_null),
		cmocka_unit_test(test_learning),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_cancel),
		cmocka_unit_test(test_own_time),
		cmocka_unit_test(test_whose_reason),
		cmocka_unit_test(test_held_up),
		cmocka_unit_test(test_copies_on_two_receivers),
	};

	if (!live_open("trial_run_test"))
		return 77;
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	ctl_close(c);
	return failed;
}
