/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests trials of connections and of transactions on real workers of a wire (ports 0 and 1). What
 * is looked at are counts and the course, never how fast the machine was. */
#include "cmocka_names.h"

#include "flows_ctl.h"
#include "port_spec.h"
#include "trial_live.h"

/* A trial that no stall of this machine makes another one. */
static struct trial_spec spec_of(unsigned ports, double per_s, uint64_t ns)
{
	struct trial_spec s = {.rate = {RATE_EACH, per_s}, .duration_ns = ns};

	for (unsigned i = 0; i < 2; i++)
		if ((ports >> i & 1) != 0)
			portset_add(&s.tx, i);
	trial_cfg_init(&s.cfg);
	s.cfg.overtime_ns = s.cfg.resolution_ns = s.cfg.max_stall_ns = 3600000000000ull;
	s.cfg.max_wait = 1000000000;
	return s;
}

/* Takes the trial on until it is over; what it says if it cannot go on. */
static const char *outcome(struct trial *t)
{
	static struct err e;

	e = (struct err){.text = ""};
	for (unsigned i = 0; i < 60000; i++) {
		ctl_turn(c);
		int rc = trial_poll(t, &e);
		if (rc < 0)
			return e.text;
		if (rc == 1)
			return "";
		pause_ms(1);
	}
	fail_msg("the trial does not end");
	return "";
}

/* Makes a stream a flow; it has its own addresses and ports then. */
static struct flows_cfg *flow(unsigned port, unsigned id, enum flows_role role)
{
	struct stream_cfg *cfg = stream(port, id);
	struct flows_cfg *f = work_stream_cfg_own(cfg, &work_flows);

	f->role = role;
	ctl_stream_frame_follow(cfg);
	return f;
}

static void fields(unsigned port, unsigned id, const char *src, const char *dst)
{
	struct stream_cfg *cfg = stream(port, id);

	assert_int_equal(frame_vals_parse(&cfg->frame.vals, "ipv4.src", src, NULL), 0);
	if (dst != NULL)
		assert_int_equal(frame_vals_parse(&cfg->frame.vals, "ipv4.dst", dst, NULL), 0);
}

/* A client on each port, and a server for the other one's. They finish even where a worker stands
 * still, unless drain_ns says otherwise. */
static void both_ways(uint64_t drain_ns)
{
	static const char *const server[] = {"10.9.0.0", "10.9.0.1"};

	for (unsigned p = 0; p < 2; p++) {
		fresh(p, 2);
		flow(p, 0, FLOWS_CLIENT)->drain_ns = drain_ns;
		fields(p, 0, p == 0 ? "10.1.0.1" : "10.2.0.1", server[!p]);
		flow(p, 1, FLOWS_SERVER)->drain_ns = drain_ns;
		fields(p, 1, server[p], NULL);
	}
}

/* Devices of which the test says what they lose. */
static uint64_t missed[2], nombuf[2];

static void losing_stats(struct port *p, struct snap_port *out)
{
	out->rx_missed = missed[p->id];
	out->rx_nombuf = nombuf[p->id];
}

static void own_losses(const char *text)
{
	struct trial_spec s = spec_of(3, 1000, 100000000);
	struct trial *t = begun(&s);

	for (unsigned p = 0; p < 2; p++) { /* behind the base of the trial */
		missed[p] *= 2;
		nombuf[p] *= 2;
	}
	assert_string_equal(outcome(t), "");
	const struct trial_result *r = trial_result(t);
	assert_int_equal(r->nflows, 2);
	assert_int_equal(r->sum.received, 200);
	assert_true(r->is[TRIAL_LIMITED] && r->receivers_limited && !r->senders_limited);
	assert_string_equal(r->why[TRIAL_LIMITED], text);
	trial_free(t);
	no_events();
}

/* Each port is an end of both directions, and its losses are said once. */
static void test_own_losses(void **state)
{
	const struct port_spec *wire = c->port[0]->p.spec;
	struct port_spec losing = *wire;

	(void)state;
	losing.stats = losing_stats;
	both_ways(3600000000000ull);
	c->port[0]->p.spec = c->port[1]->p.spec = &losing;
	missed[0] = 5;
	missed[1] = 7;
	own_losses("12 frames were lost in our own receivers (missed 12, no buffer 0)");
	missed[0] = missed[1] = 0;
	nombuf[0] = 2;
	nombuf[1] = 1;
	own_losses("our own receivers were without a free buffer 3 times");
	c->port[0]->p.spec = c->port[1]->p.spec = wire;
	memset(nombuf, 0, sizeof(nombuf));
}

/* Frames that came to another queue than the device says have no connection there, which is no
 * fault of who was measured. */
static void test_dealt_otherwise(void **state)
{
	struct trial_spec s = spec_of(1, 1000, 100000000);
	const struct trial_result *r;
	struct ctl_event ev;
	struct trial *t;
	bool said = false;

	(void)state;
	both_ways(3600000000000ull);
	t = begun(&s);
	cell_add(&flows_of(c->port[0])->engine->queue[0].state->other_queue, 3);
	assert_string_equal(outcome(t), "");
	r = trial_result(t);
	assert_int_equal(r->calls.strays.other_queue, 3);
	assert_int_equal(r->calls.strays_answered.other_queue, 0);
	assert_true(r->is[TRIAL_LIMITED] && r->receivers_limited && !r->senders_limited);
	assert_non_null(strstr(r->why[TRIAL_LIMITED], "3 came to others"));
	trial_free(t);
	while (ctl_event_next(c, &ev))
		said |= strstr(ev.text, "port 0: 3 frames came to other queues") != NULL;
	assert_true(said);
}

/* What is set while the trial waits is what it is of, or it says that it cannot be. */
static void test_settings_change(void **state)
{
	struct trial_spec s = spec_of(1, 1000, 1000000000);

	(void)state;
	s.cfg.learn = 1;
	s.cfg.learn_wait_ns = 50000000;
	for (unsigned i = 0; i < 2; i++) {
		fresh(0, 1);
		fresh(1, 1);
		struct trial *t = begun(&s);
		flow(0, 0, FLOWS_CLIENT)->connections = 100;
		flow(1, 0, FLOWS_SERVER);
		fields(0, 0, "10.1.0.1", "10.9.0.1");
		fields(1, 0, "10.9.0.1", NULL);
		const char *why = outcome(t);
		if (i == 0 &&
		    (strstr(why, "is of connections") == NULL || strstr(why, "1kpps") == NULL))
			fail_msg("'%s'", why);
		for (unsigned p = 0; i == 0 && p < 2; p++)
			assert_false(ctl_sending(c, p));
		if (i == 1) {
			assert_string_equal(why, "");
			assert_int_equal(trial_result(t)->of, TRIAL_CONNECTIONS);
			assert_true(trial_result(t)->sum.sent > 0);
			assert_int_equal(trial_result(t)->sum.received, trial_result(t)->sum.sent);
		}
		trial_free(t);
		no_events();
		s.rate.kind = RATE_MAX;
	}
}

/* Transactions wait for connections, but not for those of a port that does not run any more. */
static void test_port_goes_while_others_wait(void **state)
{
	struct trial_spec s = spec_of(3, 100, 3600000000000ull);

	(void)state;
	both_ways(3600000000000ull);
	fields(1, 0, "10.2.0.1", "10.8.0.1"); /* nobody answers */
	for (unsigned p = 0; p < 2; p++) {
		struct flows_cfg *f = flow(p, 0, FLOWS_CLIENT);
		f->tps.on = true;
		f->tps.rate = (struct rate){RATE_PPS, 5};
		f->transactions = 0;
		f->connections = 10;
		f->drain_ns = 3600000000000ull;
		flow(p, 1, FLOWS_SERVER)->transactions = 0;
	}
	struct trial *t = begun(&s);
	struct err e = {.text = ""};
	for (unsigned i = 0; i < 200 || flows_of(c->port[0])->first == NULL; i++) {
		ctl_turn(c);
		assert_int_equal(trial_poll(t, &e), 0);
		pause_ms(1);
	}
	assert_true(flows_calls.begun_tsc(c->port[0]) == 0);
	c->port[1]->p.started = false;
	for (unsigned i = 0; i < 30000 && flows_calls.begun_tsc(c->port[0]) == 0; i++) {
		ctl_turn(c);
		assert_int_equal(trial_poll(t, &e), 0);
		pause_ms(1);
	}
	assert_true(flows_calls.begun_tsc(c->port[0]) != 0);
	c->port[1]->p.started = true;
	trial_free(t);
	settle(0);
	settle(1);
	no_events();
}

/* Takes a trial on until both ports have begun something, and then port `gone` out of all plans. */
static void go_away(struct trial *t, unsigned gone)
{
	struct err e = {.text = ""};

	for (unsigned i = 0; i < 30000 && (now(0).tx.packets < 8 || now(1).tx.packets < 8); i++) {
		ctl_turn(c);
		assert_int_equal(trial_poll(t, &e), 0);
		pause_ms(1);
	}
	c->port[gone]->p.started = false;
	ctl_touch(c, gone, WHY_ALL);
}

static void come_back(unsigned gone)
{
	c->port[gone]->p.started = true;
	ctl_touch(c, gone, WHY_ALL);
	taken_up();
	settle(0);
	settle(1);
	no_events();
}

/* A device that goes leaves a run without a task: the trial ends all the same, and says of the port
 * what one of frames does. */
static void test_port_goes(void **state)
{
	(void)state;
	for (unsigned flows = 0; flows < 2; flows++) {
		struct trial_spec s = spec_of(3, 2000, 1000000000);

		s.cfg.overtime_ns = 10000000;
		if (flows > 0) {
			both_ways(100000000);
		} else {
			fresh(0, 1);
			fresh(1, 1);
		}
		struct trial *t = begun(&s);
		go_away(t, 1);
		assert_string_equal(outcome(t), "");
		const struct trial_result *r = trial_result(t);
		assert_true(r->is[TRIAL_LIMITED] && r->senders_limited);
		assert_int_equal(r->sum.sent > 0, true);
		trial_free(t);
		come_back(1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_own_losses),
		cmocka_unit_test(test_dealt_otherwise),
		cmocka_unit_test(test_settings_change),
		cmocka_unit_test(test_port_goes_while_others_wait),
		cmocka_unit_test(test_port_goes),
	};

	if (!live_open("trial_calls_test"))
		return 77;
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	ctl_close(c);
	return failed;
}
