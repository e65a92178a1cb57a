/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests what is made anew when a setting of a port that sends changes, by what the rows say of
 * themselves. Port 2 is null. */
#include "ctl_live.h"
#include "app.h"
#include "send_groups.h"
#include "send_cfg.h"
#include "set/set.h"

static struct app app;
static struct cmd_host host;

/* Rows that make no new frames and no new order. All others may do so. */
static const char *const no_program[] = {
	"rate",    "pps",    "count",      "burst",  "rxburst",   "speed",       "arrival",
	"catchup", "lag",    "forgive",    "pacing", "lead",      "promiscuous", "idle",
	"verify",  "jitter", "latsampler", "wire.*", "wire",      "ip",          "gateway",
	"host.*",  "answer", "answer.for", "rss.*",  "capture.*", "dperf.*",     "unclaimed",
};
static const char *const no_program_of_streams[] = {
	"arrival",   "latency",      "app",    "cps",      "connections",
	"tps",       "transactions", "think",  "request*", "response*",
	"direction", "close",        "flow.*", "http.*",   "bytes.*",
};

static bool listed(const char *const *list, unsigned n, const char *name)
{
	for (unsigned i = 0; i < n; i++) {
		size_t len = strlen(list[i]);
		if (list[i][len - 1] == '*' ? strncmp(list[i], name, len - 1) == 0
					    : strcmp(list[i], name) == 0)
			return true;
	}
	return false;
}

/* Returns whether the port's groups were made anew. */
static bool made(void)
{
	struct group **was = send_of(c->port[2])->groups.group;

	ctl_turn(c);
	return send_of(c->port[2])->groups.group != was;
}

static void test_rows(void **state)
{
	unsigned n, seen[2] = {0};

	(void)state;
	fresh(2, 2)->rate = (struct rate){.kind = RATE_PPS, .value = 1000};
	start(2, 0);
	taken_up();
	const struct setting *const *row = set_rows(&n);
	for (unsigned i = 0; i < n; i++) {
		bool port = row[i]->scope == &scope_port;
		if (row[i]->scope == &scope_global || row[i]->resolve != NULL ||
		    (row[i]->flags & SET_LATER) != 0)
			continue;
		bool none = port ? listed(no_program, ARRAY_SIZE(no_program), row[i]->name)
				 : listed(no_program_of_streams, ARRAY_SIZE(no_program_of_streams),
					  row[i]->name);
		assert_false(made());
		host.changed(&app, row[i], 2, 1);
		assert_int_not_equal(c->port[2]->touched, 0);
		if (made() == none)
			fail_msg("'%s' of a %s: %s", row[i]->name, port ? "port" : "stream",
				 none ? "frames are made" : "no frames are made");
		seen[none]++;
	}
	assert_true(seen[0] > 100 &&
		    seen[1] > ARRAY_SIZE(no_program) + ARRAY_SIZE(no_program_of_streams));
	stop(2);
}

/* Returns the lag that the worker of Tx queue 0 drops when the rate changes, in ns. */
static double forgiven(void)
{
	const struct dp_plan *p = c->worker[c->port[2]->tx_worker[0]].posted;

	for (unsigned i = 0; i < p->ntasks; i++)
		if (p->task[i].kind == &dp_kind_gen)
			return (double)((const struct gen_job *)p->task[i].job)->forgive_cycles /
			       clock_hz() * 1e9;
	fail_msg("nobody sends");
	return 0;
}

/* Settings that make no frames come into force too. */
static void test_in_force(void **state)
{
	struct port_cfg *cfg = fresh(2, 1);
	unsigned rx = (unsigned)c->port[2]->rx_worker[0];

	(void)state;
	cfg->rate = (struct rate){.kind = RATE_PPS, .value = 1000};
	start(2, 0);
	taken_up();
	cfg->rate.value = 2000;
	ctl_touch(c, 2, WHY_RATE);
	assert_false(made());
	taken_up();
	assert_true(now(2).run.asked_pps == 2000);
	assert_true(fabs(forgiven() - 50e6) < 1e3);
	((struct send_cfg *)work_cfg(cfg, &work_send))->forgive_ns = 2000000;
	ctl_touch(c, 2, WHY_WORK);
	assert_false(made());
	taken_up();
	assert_true(fabs(forgiven() - 2e6) < 1e3);
	cfg->rxburst = 7;
	cfg->idle_busy = true;
	assert_true(c->worker[rx].posted->may_sleep);
	ctl_touch(c, 2, WHY_PORT);
	assert_false(made());
	assert_false(c->worker[rx].posted->may_sleep);
	assert_false(c->worker[rx].dirty);
	unsigned slots = 0;
	for (unsigned i = 0; i < c->worker[rx].posted->nrx; i++)
		slots += c->worker[rx].posted->rx[i].burst == 7;
	assert_int_equal(slots, 1);
	stream(2, 0)->rate =
		(struct own_rate){.set = true, .rate = {.kind = RATE_PPS, .value = 500}};
	taken_up();
	assert_true(now(2).run.asked_pps == 500);
	ctl_stream_cfg(c, 2, 0)->rate.rate.value = 300;
	ctl_touch_stream(c, 2, 0, WHY_RATE);
	assert_false(made());
	taken_up();
	assert_true(now(2).run.asked_pps == 300);
	stop(2);
	fresh(2, 1);
}

/* Frames are made anew if they have changed, and not with each setting of their stream. */
static void test_frames(void **state)
{
	(void)state;
	fresh(2, 2)->rate = (struct rate){.kind = RATE_PPS, .value = 1000};
	start(2, 0);
	taken_up();
	struct stream *s = stream_at(c->port[2], 1);
	uint64_t version = s->version;
	s->cfg.weight = 3;
	ctl_touch_stream(c, 2, 1, WHY_ORDER);
	assert_true(made());
	assert_int_equal(s->version, version);
	s->cfg.sizes = (struct sizes){.kind = SIZES_FIXED, .n = 1, .item = {{200, 1}}};
	ctl_touch_stream(c, 2, 1, WHY_FRAMES);
	assert_true(made());
	assert_int_not_equal(s->version, version);
	stop(2);
}

static void test_close(void **state)
{
	(void)state;
	ctl_close(c);
}

int main(void)
{
	const struct CMUnitTest live[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_in_force),
		cmocka_unit_test(test_frames),
		cmocka_unit_test(test_close),
	};

	if (!live_open("why_test"))
		return 77;
	app.ctl = c;
	app_host(&app, &host);
	return cmocka_run_group_tests(live, NULL, NULL);
}
