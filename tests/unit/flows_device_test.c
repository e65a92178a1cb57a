/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the work flows on workers where something is in the way: devices that take what they like,
 * lose frames, or write into buffers; a pool that is empty; frames in pieces; and many versions of
 * a flow at once. */
#include "effort.h"
#include "flows_world.h"

static struct flows_state_of *of(unsigned end, unsigned flow)
{
	return &x.end[end].f[flow]->state;
}

static bool all_done(unsigned end)
{
	for (unsigned k = 0; k < x.end[end].job.nflows; k++)
		if (world_stage(end, k) != FLOWS_DONE)
			return false;
	return true;
}

/* ---- devices ---- */

static void set_devices(enum dp_edits edits, enum world_take take, unsigned loses, bool cuts)
{
	for (unsigned i = 0; i < 2; i++) {
		x.end[i].q->edits = (uint8_t)edits;
		x.end[i].pipe.edits = edits == DP_EDITS_ALL;
		x.end[i].pipe.take = take;
		x.end[i].pipe.loses = loses;
		x.end[i].pipe.cuts = cuts;
	}
}

/* Three flows beside each other, each of another kind; at the end everything has its fate, and both
 * ends have the same. */
static void devices(enum dp_edits edits, enum world_take take, unsigned loses, bool cuts)
{
	const uint64_t length = effort(60, 30) * MS;

	world_new(3, 2047, 10000);
	set_devices(edits, take, loses, cuts);
	for (unsigned k = 0; k < 3; k++) {
		struct flows_flow *f = &x.end[0].flow[k];
		f->end_tsc = f->start_tsc + length;
		f->most = 500;
		f->cps.max = k == 0;
		f->cps.period = pace_period((double)HZ, 20000);
		f->drain_cycles = 600 * SECOND;
		for (unsigned i = 0; i < 2; i++) {
			x.end[i].f[k]->conf.response =
				(struct wl_vary)WL_FIXED(k == 1 ? 9000 : 500);
			x.end[i].f[k]->conf.transactions = k + 1;
		}
	}
	world_start(1);
	world_run(x.now + length + 2 * MS);
	assert_true(x.end[0].q->cnt.stalls > 0 || take == TAKE_ALL);
	/* what is lost now comes again, until all is done */
	while (!all_done(0) && !world_rest(x.now + SECOND))
		world_sums();
	assert_true(all_done(0));
	/* a server does not know of those whose last frames were lost, until it ends */
	set_devices(edits, TAKE_ALL, 0, cuts);
	world_stop(1);
	world_rest(x.now + 300 * SECOND);
	assert_true(all_done(1));
	for (unsigned k = 0; k < 3; k++) {
		const struct flow_counts *c = &of(0, k)->counts, *s = &of(1, k)->counts;

		assert_in_range(c->opened, effort(k == 0 ? 201 : 301, 101), UINT32_MAX);
		assert_int_equal(c->open + c->opening + s->open + s->opening, 0);
		assert_int_equal(c->established,
				 c->closed + c->timed_out + c->reset_by_peer + c->aborted);
		assert_int_equal(of(0, k)->transactions.open, 0);
		if (loses == 0 && edits != DP_EDITS_ALL) {
			assert_int_equal(c->closed, c->opened);
			assert_int_equal(s->closed, c->opened);
			/* those that opened at the end had no time for theirs */
			assert_in_range(of(0, k)->transactions.done, (k + 1) * (c->opened - 500),
					(k + 1) * c->opened);
			assert_int_equal(of(1, k)->transactions.done, of(0, k)->transactions.done);
			assert_int_equal(of(0, k)->transactions.failed, 0);
			assert_int_equal(c->retransmitted, 0);
		}
		assert_int_equal(c->bad_checksum + s->bad_checksum, 0);
	}
	assert_int_equal(x.end[0].unclaimed + x.end[1].unclaimed, 0);
	assert_int_equal(x.end[0].state->dropped, x.end[0].q->cnt.dropped);
	assert_true(x.end[0].state->dropped == 0 || edits == DP_EDITS_ALL);
	world_free();
}

static void test_devices(void **state)
{
	(void)state;
	devices(DP_EDITS_NOTHING, TAKE_ALL, 0, false);
	devices(DP_EDITS_NOTHING, TAKE_ANY, 0, false);
	devices(DP_EDITS_SHAPE, TAKE_ANY, 50, false);
	devices(DP_EDITS_ALL, TAKE_ANY, 0, false);
	devices(DP_EDITS_ALL, TAKE_ANY, 30, false);
}

static uint32_t pieces_received(struct wl_turn *t, const uint8_t *data, uint32_t n)
{
	assert_true(data != NULL || n == 0);
	return wl_bytes.received(t, data, n);
}

/* Frames come in many pieces, more for a burst than are told at a time: of each the record gets all
 * bytes, and none as if nobody had kept them. */
static void test_pieces(void **state)
{
	struct workload strict = wl_bytes;

	(void)state;
	strict.received = pieces_received;
	world_record = &strict;
	devices(DP_EDITS_NOTHING, TAKE_ALL, 0, true);
	world_record = &wl_bytes;
	devices(DP_EDITS_NOTHING, TAKE_ANY, 100, true);
}

/* The device takes nothing for a while: nothing is made that would have to be thrown away, and the
 * worker stays awake for it. */
static void test_stuck(void **state)
{
	(void)state;
	world_new(1, 2047, 10000);
	x.end[0].flow[0].cps.max = true;
	x.end[0].flow[0].most = 3000;
	world_start(1);
	world_run(x.now + 5 * MS);
	x.end[0].pipe.take = TAKE_NONE;
	world_run(x.now + 20 * MS);
	uint64_t opened = of(0, 0)->counts.opened, calls = x.end[0].pipe.calls;
	assert_int_equal(x.end[0].state->base.next, DP_NOW);
	world_run(x.now + 20 * MS);
	assert_int_equal(of(0, 0)->counts.opened, opened);
	/* twice in a turn at most: behind what was received, and in poll() */
	assert_true(x.end[0].pipe.calls - calls <= 2 * 20000 * 2);
	x.end[0].pipe.take = TAKE_ALL;
	world_run(x.now + 20 * MS);
	assert_true(of(0, 0)->counts.opened > opened + 1000);
	assert_int_equal(x.end[0].state->dropped, 0);
	/* Tuples were used again before their last acknowledgement had left. */
	world_stop(0);
	world_rest(x.now + 3 * SECOND);
	assert_true(all_done(0));
	/* the task goes while the device takes nothing: what it holds goes back, and counts */
	x.end[0].flow[0].stop = false;
	x.end[0].flow[0].run++;
	world_plan(0);
	world_run(x.now + 5 * MS);
	x.end[0].pipe.take = TAKE_NONE;
	world_run(x.now + 20 * MS);
	dp_kind_flows.drop(&x.w, &x.end[0].task, x.now);
	x.end[0].in_plan = false;
	assert_in_range(x.end[0].state->dropped, 64, 128);
	assert_int_equal(x.end[0].q->cnt.dropped, x.end[0].state->dropped);
	assert_int_equal(x.end[0].pipe.n + x.end[1].pipe.n, 0);
	x.end[0].pipe.nrefused = 0;
	x.end[0].pipe.take = TAKE_ALL;
	/* and it comes back */
	world_plan(0);
	world_run(x.now + 5 * MS);
	world_stop(0);
	world_rest(x.now + 3 * SECOND);
	assert_true(all_done(0));
	assert_int_equal(of(0, 0)->counts.closed, of(0, 0)->counts.opened);
	world_stop(1);
	world_free();
}

/* Far more opens are due than the server receives: it opens no more than can be answered, and each
 * connection comes to its end soon. */
static void test_slow_peer(void **state)
{
	uint64_t most = 0;

	(void)state;
	world_new(1, 2047, 50000);
	x.end[0].pipe.room = 256;
	x.end[0].pipe.burst = 8;
	x.end[0].flow[0].cps.period = pace_period((double)HZ, 20000000);
	x.end[0].flow[0].most = 50000;
	world_start(1);
	for (unsigned i = 0; i < 20; i++) {
		world_run(x.now + MS);
		most = RTE_MAX(most, of(0, 0)->counts.opening + of(0, 0)->counts.open);
	}
	/* a turn takes 1 us; four frames of each connection come to the server */
	assert_true(of(0, 0)->counts.closed > 20000 * 8 / 4 * 3 / 4);
	assert_true(most < 1000);
	uint64_t due = (x.now - x.end[0].flow[0].start_tsc) * 20 / US;
	assert_in_range(of(0, 0)->due, due - 5000, due); /* as of its last look */
	world_stop(0);
	world_rest(x.now + 10 * SECOND);
	assert_true(all_done(0));
	assert_int_equal(of(0, 0)->counts.closed, of(0, 0)->counts.opened);
	world_stop(1);
	world_free();
}

/* Somebody else has nearly all buffers, and then all that are free: it goes on with those that come
 * back to it. */
static void test_no_buffers(void **state)
{
	struct rte_mbuf *all[2048];
	unsigned n = 0;

	(void)state;
	world_new(1, 2047, 10000);
	x.end[0].flow[0].cps.max = true;
	x.end[0].flow[0].most = 200;
	world_start(1);
	while (n < 2040 && (all[n] = rte_mbuf_raw_alloc(x.end[0].q->pool)) != NULL)
		n++;
	assert_int_equal(n, 2040);
	for (unsigned i = 0; i < 2; i++) {
		uint64_t none = x.end[0].q->cnt.nombuf, polls = x.end[0].polls;
		uint64_t closed = of(0, 0)->counts.closed;

		world_run(x.now + 20 * MS);
		assert_true(of(0, 0)->counts.closed > closed + 100);
		assert_true(x.end[0].q->cnt.nombuf > none);
		/* behind what was received, and in poll() */
		assert_true(x.end[0].q->cnt.nombuf - none <= 2 * (x.end[0].polls - polls));
		while (n < 2047 && (all[n] = rte_mbuf_raw_alloc(x.end[0].q->pool)) != NULL)
			n++;
	}
	for (unsigned i = 0; i < n; i++)
		rte_mbuf_raw_free(all[i]);
	world_stop(0);
	world_rest(x.now + 3 * SECOND);
	assert_true(all_done(0));
	assert_int_equal(of(0, 0)->counts.closed, of(0, 0)->counts.opened);
	world_stop(1);
	world_free();
}

/* ---- versions ---- */

/* Each connection lives for a while, and versions come faster than that. Each is given back once,
 * when its last connection has gone. */
static void test_versions(void **state)
{
	(void)state;
	world_new(1, 2047, 10000);
	struct world_flow *c = x.end[0].f[0], *s = x.end[1].f[0];
	x.end[0].flow[0].cps.period = pace_period((double)HZ, 5000);
	c->conf.transactions = s->conf.transactions = 3;
	c->conf.think = (struct wl_vary)WL_FIXED(10000000);
	world_start(1);
	for (unsigned i = 0; i < 300; i++) {
		unsigned end = any(2);

		x.end[end].flow[0].version = world_version(end, 0);
		world_plan(end);
		world_run(x.now + any(2 * MS));
	}
	assert_int_equal(of(0, 0)->waits + of(1, 0)->waits, 0);
	for (unsigned end = 0; end < 2; end++) {
		struct world_flow *f = x.end[end].f[0];
		unsigned live = 0;

		for (unsigned v = 0; v < f->nversions; v++) {
			assert_int_equal(f->handed[v].given, 1);
			assert_in_range(f->handed[v].gone, 0, 1);
			live += f->handed[v].gone == 0;
		}
		assert_in_range(live, 2, 60);
	}
	assert_int_equal(of(0, 0)->counts.refused, 0); /* there was always somebody who listens */
	assert_int_equal(of(0, 0)->due, of(0, 0)->done);
	world_stop(0);
	world_run(x.now + 200 * MS);
	assert_true(all_done(0));
	assert_int_equal(of(0, 0)->counts.closed, of(0, 0)->counts.opened);
	world_stop(1);
	world_free();
}

/* Connections of each version stay: numbers run out. The last version that had one goes on until
 * another has gone. */
static void test_versions_run_out(void **state)
{
	(void)state;
	world_new(1, 2047, 10000);
	struct world_flow *c = x.end[0].f[0];
	x.end[0].flow[0].cps.period = pace_period((double)HZ, 5000);
	c->conf.close = WL_CLOSE_NOT;
	world_start(1);
	for (unsigned i = 0; i < 300; i++) {
		world_run(x.now + MS);
		assert_int_equal(of(0, 0)->waits, i >= FLOW_VERSIONS);
		x.end[0].flow[0].version = world_version(0, 0);
		world_plan(0);
	}
	assert_int_equal(of(0, 0)->waits, 1);
	assert_int_equal(c->handed[FLOW_VERSIONS - 1].given, 1);
	assert_int_equal(c->handed[FLOW_VERSIONS].given, 0);
	uint64_t open = of(0, 0)->counts.open;
	assert_true(open > 1400 && open == of(0, 0)->counts.opened);
	assert_int_equal(of(0, 0)->due, of(0, 0)->done);
	/* what was never given is not gone either; all end with the run */
	world_stop(0);
	world_run(x.now + 100 * MS);
	assert_true(all_done(0));
	assert_int_equal(of(0, 0)->counts.closed, open);
	assert_int_equal(of(0, 0)->waits, 0);
	assert_int_equal(c->handed[300].given, 1);
	for (unsigned v = FLOW_VERSIONS; v < 300; v++)
		assert_int_equal(c->handed[v].given, 0);
	world_stop(1);
	world_free();
}

/* Flows that a plan has no more: their connections live on, their versions go with them. */
static void test_flow_goes(void **state)
{
	(void)state;
	world_new(2, 2047, 10000);
	for (unsigned k = 0; k < 2; k++) {
		x.end[0].flow[k].cps.period = pace_period((double)HZ, 5000);
		x.end[0].f[k]->conf.transactions = x.end[1].f[k]->conf.transactions = 3;
		x.end[0].f[k]->conf.think = (struct wl_vary)WL_FIXED(10000000);
	}
	world_start(1);
	world_run(x.now + 100 * MS);
	x.end[0].job.nflows = 1;
	world_plan(0);
	uint64_t opened = of(0, 1)->counts.opened;
	assert_true(of(0, 1)->counts.open > 10);
	world_run(x.now + 100 * MS);
	assert_int_equal(of(0, 1)->counts.opened, opened);
	assert_int_equal(of(0, 1)->counts.closed, opened);
	assert_int_equal(x.end[0].f[1]->handed[0].gone, 1);
	x.end[0].job.nflows = 2;
	x.end[0].flow[1].run++;
	world_plan(0);
	world_run(x.now + 100 * MS);
	assert_in_range(of(0, 1)->counts.opened, opened + 400, UINT64_MAX);
	world_stop(0);
	world_run(x.now + 100 * MS);
	assert_true(all_done(0));
	world_stop(1);
	world_free();
}

/* ---- anything ---- */

static void change_pace(struct flows_flow *f)
{
	unsigned kind = any(8);

	f->cps.epoch++;
	f->cps.max = kind == 0;
	f->cps.off = kind == 1;
	f->cps.period = pace_period((double)HZ, 100 + any(30000));
	f->cps.start_tsc = any(2) == 0 ? x.now + any(MS) : x.now - any(MS);
}

static void change_run(struct flows_flow *f)
{
	f->run++;
	f->stop = f->abort = false;
	f->start_tsc = f->cps.start_tsc = x.now + any(MS);
	f->end_tsc = any(2) == 0 ? UINT64_MAX : f->start_tsc + any(20 * MS);
	f->opens = any(3) == 0 ? any(300) : UINT64_MAX;
	f->drain_cycles = any(10 * MS);
}

static void change_something(unsigned end)
{
	unsigned k = any(2);
	struct flows_flow *f = &x.end[end].flow[k];

	switch (any(12)) {
	case 0:
	case 1:
		f->version = world_version(end, k);
		break;
	case 2:
		change_pace(f);
		break;
	case 3:
		f->stop = true;
		break;
	case 4:
		f->abort = true;
		break;
	case 5:
		x.end[end].job.nflows = (uint16_t)(1 + any(2));
		break;
	case 6:
		set_devices(DP_EDITS_NOTHING, (enum world_take)any(3), any(3) == 0 ? 20 : 0, false);
		break;
	case 7:
		dp_kind_flows.drop(&x.w, &x.end[end].task, x.now);
		x.end[end].in_plan = false;
		x.end[end].pipe.nrefused = 0;
		world_run(x.now + any(MS));
		break;
	default:
		change_run(f);
	}
	world_plan(end);
}

/* Plans, runs, paces and versions come and go in any order, while devices do what they like. Sums
 * hold all the time, and nothing is left in the end. */
static void test_anything(void **state)
{
	uint64_t closed = 0;

	(void)state;
	for (unsigned part = 0; part < effort(4, 1); part++) {
		world_new(2, 2047, 10000);
		for (unsigned k = 0; k < 2; k++) {
			x.end[0].flow[k].most = 1000;
			x.end[0].f[k]->conf.transactions = 1 + k * 3;
			x.end[1].f[k]->conf.transactions = 1 + k * 3;
			x.end[0].f[k]->conf.think = (struct wl_vary)WL_FIXED(k * 1000000);
		}
		world_start(1);
		for (unsigned i = 0; i < 300; i++) {
			change_something(any(2));
			world_run(x.now + any(MS));
		}
		set_devices(DP_EDITS_NOTHING, TAKE_ALL, 0, false);
		for (unsigned i = 0; i < 2; i++) {
			x.end[i].job.nflows = 2;
			for (unsigned k = 0; k < 2; k++) {
				change_run(&x.end[i].flow[k]);
				x.end[i].flow[k].stop = x.end[i].flow[k].abort = true;
			}
			world_plan(i);
		}
		world_rest(x.now + SECOND);
		assert_true(all_done(0) && all_done(1));
		for (unsigned k = 0; k < 2; k++)
			closed += of(0, k)->counts.closed;
		world_free();
	}
	assert_true(closed > effort(100, 10));
}

/* ---- many, and what is asked about them ---- */

/* Connections that do nothing cost nothing: the worker may sleep. */
static void test_idle(void **state)
{
	(void)state;
	world_new(1, 2047, 50000);
	struct flows_flow *f = &x.end[0].flow[0];
	f->cps.max = true;
	f->most = 50000;
	x.end[0].f[0]->conf.close = WL_CLOSE_NOT;
	world_start(1);
	world_run(x.now + 20 * MS);
	assert_int_equal(of(0, 0)->counts.open, 50000);
	/* entries of the wheel that are stale come due once */
	world_rest(x.now + 5 * SECOND);
	assert_int_equal(x.end[0].state->base.next, DP_NEVER);
	assert_int_equal(x.end[1].state->base.next, DP_NEVER);
	uint64_t polls = x.end[0].polls + x.end[1].polls;
	world_rest(x.now + 100 * SECOND);
	assert_int_equal(x.end[0].polls + x.end[1].polls, polls);
	/* with one open each ms it wakes for that, and for what follows */
	f->cps.max = false;
	f->cps.epoch++;
	f->cps.period = pace_period((double)HZ, 10);
	f->cps.start_tsc = x.now;
	f->most = 50100;
	world_plan(0);
	uint64_t at = x.now;
	polls = x.end[0].polls;
	while (x.now < at + SECOND)
		world_rest(at + SECOND);
	assert_in_range(of(0, 0)->counts.open, 50010, 50011);
	assert_true(x.end[0].polls - polls < 2000);
	f->drain_cycles = 0;
	world_stop(0);
	world_run(x.now + 100 * MS);
	assert_true(all_done(0));
	assert_int_equal(of(0, 0)->counts.closed + of(0, 0)->counts.aborted,
			 of(0, 0)->counts.opened);
	world_stop(1);
	world_free();
}

/* As many are held as are wanted, and transactions begin on them by a rate of their own. */
static void test_held(void **state)
{
	(void)state;
	world_new(1, 2047, 10000);
	struct flows_flow *f = &x.end[0].flow[0];
	f->tps = (struct flows_pace){.step = 1,
				     .start_tsc = f->start_tsc,
				     .period = pace_period((double)HZ, 20000)};
	f->cps.period = pace_period((double)HZ, 10000);
	f->most = 300;
	f->end_tsc = f->start_tsc + 200 * MS;
	x.end[0].f[0]->conf.transactions = x.end[1].f[0]->conf.transactions = 0;
	world_start(1);
	world_run(x.now + 100 * MS);
	assert_int_equal(of(0, 0)->counts.open, 300);
	assert_int_equal(of(0, 0)->done, 300);
	assert_int_equal(of(0, 0)->due, 300);
	assert_in_range(of(0, 0)->done_tps, 1999, 2001);
	/* the next version's connections come when others have gone; these still have theirs */
	f->version = world_version(0, 0);
	world_plan(0);
	world_run(f->end_tsc + 20 * MS);
	assert_true(all_done(0));
	assert_int_equal(of(0, 0)->done_tps, 4000);
	assert_int_equal(of(0, 0)->due_tps, 4000);
	assert_int_equal(of(0, 0)->transactions.done, 4000);
	assert_int_equal(of(1, 0)->transactions.done, 4000);
	assert_int_equal(of(0, 0)->counts.closed, 300);
	assert_true(of(0, 0)->late_tps < 30); /* while there were few connections */
	world_stop(1);
	world_free();
}

static void test_samples(void **state)
{
	static struct flows_samples s;

	(void)state;
	world_new(2, 2047, 10000);
	for (unsigned k = 0; k < 2; k++) {
		x.end[0].flow[k].opens = 100;
		x.end[0].flow[k].cps.max = true;
		x.end[0].f[k]->conf.close = WL_CLOSE_NOT;
	}
	world_start(1);
	world_run(x.now + 10 * MS);
	for (unsigned want = 150, k = 0; k < 3; want += 51, k++) {
		unsigned of0 = 0;

		s.want = want;
		s.asked++;
		x.end[0].job.samples = &s;
		world_plan(0);
		world_run(x.now + MS);
		assert_int_equal(s.answered, s.asked);
		assert_int_equal(s.n, RTE_MIN(want, 200u));
		for (unsigned i = 0; i < s.n; i++) {
			assert_int_equal(s.sample[i].info.state, FLOW_ESTABLISHED);
			of0 += s.sample[i].flow == of(0, 0);
			assert_true(s.sample[i].flow == of(0, 0) || s.sample[i].flow == of(0, 1));
			assert_int_equal(s.sample[i].info.tuple.remote_port,
					 s.sample[i].flow == of(0, 0) ? 80 : 81);
		}
		assert_in_range(of0, 50, 100);
	}
	x.end[0].job.samples = NULL;
	world_stop(0);
	world_run(x.now + 100 * MS);
	assert_true(all_done(0));
	world_stop(1);
	world_free();
}

/* The task of an end goes while connections live, as where a device has gone and the next start
 * makes another machine: they have ended then. */
static void test_gone(void **state)
{
	const struct flow_counts *k;

	(void)state;
	world_new(1, 2047, 100);
	x.end[0].flow[0].opens = 30;
	for (unsigned i = 0; i < 2; i++)
		x.end[i].f[0]->conf.transactions = 0;
	world_start(1);
	k = &x.end[0].f[0]->state.counts;
	while (k->open < 20)
		world_turn();
	x.end[1].pipe.loses = 1; /* no answer any more */
	world_run(x.now + 20 * MS);
	assert_int_equal(k->opened, 30);
	assert_true(k->opening > 0 && k->open >= 20);
	uint64_t open = k->open, opening = k->opening;
	x.end[0].state->over = true;
	dp_kind_flows.drop(&x.w, &x.end[0].task, x.now);
	world_sums();
	assert_int_equal(k->aborted, open);
	assert_int_equal(k->aborted_opening, opening);
	assert_int_equal(k->open + k->opening, 0);
	assert_int_equal(x.end[0].f[0]->state.transactions.open, 0);
	dp_kind_flows.adopt(&x.w, &x.end[0].task, NULL, x.now);
	x.end[1].pipe.loses = 0;
	world_run(x.now + 20 * MS);
	assert_int_equal(world_stage(0, 0), FLOWS_DONE);
	x.end[1].flow[0].abort = true;
	world_stop(1);
	world_free();
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_devices),
		cmocka_unit_test(test_pieces),
		cmocka_unit_test(test_stuck),
		cmocka_unit_test(test_slow_peer),
		cmocka_unit_test(test_no_buffers),
		cmocka_unit_test(test_versions),
		cmocka_unit_test(test_versions_run_out),
		cmocka_unit_test(test_flow_goes),
		cmocka_unit_test(test_idle),
		cmocka_unit_test(test_held),
		cmocka_unit_test(test_samples),
		cmocka_unit_test(test_anything),
		cmocka_unit_test(test_gone),
	};
	int rc = eal_or_skip(argv[argc - 1]);

	return rc != 0 ? rc : cmocka_run_group_tests(tests, NULL, NULL);
}
