/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests what workers do for the work flows: connections are opened at their times, none is lost
 * whatever devices do, runs end as they are told to, and nothing is left. */
#include "effort.h"
#include "flows_world.h"

static struct flows_state_of *of(unsigned end, unsigned flow)
{
	return &x.end[end].f[flow]->state;
}

static bool is_syn(const struct rte_mbuf *m)
{
	return (rte_pktmbuf_mtod(m, const uint8_t *)[47] & 0x12) == 2;
}

static void pace_of(unsigned flow, double per_s)
{
	x.end[0].flow[flow].cps.period = pace_period((double)HZ, per_s);
}

/* ---- times ---- */

/* Times of turns in which SYNs left, and of the turns before. */
#define SYNS 20000
static struct {
	uint64_t at[SYNS], before[SYNS], turn, last;
	unsigned n;
} syn;

static void syn_seen(const struct rte_mbuf *m)
{
	if (!is_syn(m))
		return;
	assert_in_range(syn.n, 0, SYNS - 1);
	syn.before[syn.n] = syn.last;
	syn.at[syn.n++] = x.now;
}

static void run_timed(uint64_t until)
{
	while (x.now < until) {
		syn.turn = x.now;
		world_turn();
		syn.last = syn.turn;
	}
}

/* The newest flow of a world with one, after its run: each open came in the first turn behind its
 * time. */
static void times_are(const struct pace_period *p, uint64_t t0, uint32_t first, uint32_t step,
		      unsigned n)
{
	const struct pace even = {.period = *p, .t0 = t0};

	assert_int_equal(syn.n, n);
	for (unsigned i = 0; i < n; i++) {
		uint64_t due = pace_due(&even, first + (uint64_t)i * step);

		assert_true(syn.before[i] < due && syn.at[i] >= due);
	}
}

static void test_times(void **state)
{
	(void)state;
	for (unsigned part = 0; part < 3; part++) {
		world_new(1, 2047, 10000);
		memset(&syn, 0, sizeof(syn));
		x.end[0].pipe.seen = syn_seen;
		struct flows_flow *f = &x.end[0].flow[0];
		f->start_tsc = f->cps.start_tsc = x.now + 3 * MS;
		f->end_tsc = f->start_tsc + 500 * MS;
		pace_of(0, 7000);
		f->cps.first = part % 2;
		f->cps.step = part + 1;
		world_start(1);
		syn.last = x.now;
		assert_int_equal(world_stage(0, 0), FLOWS_RUNNING);
		run_timed(f->end_tsc + 10 * MS);
		assert_int_equal(world_stage(0, 0), FLOWS_DONE);
		times_are(&f->cps.period, f->start_tsc, f->cps.first, part + 1,
			  part == 0   ? 3500
			  : part == 1 ? 1750
				      : 1167);
		assert_int_equal(of(0, 0)->due, syn.n);
		assert_int_equal(of(0, 0)->done, syn.n);
		assert_int_equal(of(0, 0)->late, 0);
		assert_true(of(0, 0)->late_max_ns < 3000);
		assert_int_equal(of(0, 0)->counts.closed, syn.n);
		assert_int_equal(of(0, 0)->transactions.done, syn.n);
		assert_int_equal(of(1, 0)->counts.closed, syn.n);
		assert_int_equal(of(1, 0)->transactions.done, syn.n);
		assert_true(of(0, 0)->drain_tsc >= f->end_tsc);
		world_stop(1);
		world_rest(x.now + 10 * MS);
		assert_int_equal(world_stage(1, 0), FLOWS_DONE);
		assert_int_equal(of(1, 0)->due + of(1, 0)->done, 0); /* a server opens none */
		world_free();
	}
}

/* ---- arrivals ---- */

/* When own number i of a flow is due by a shape, counted anew. */
static uint64_t shape_due(const struct flows_pace *p, unsigned i)
{
	const struct pace_shape *s = p->shape;
	uint64_t k = p->first + (uint64_t)i * p->step;
	struct pace_at at = {.k = k, .x = PACE_POS(k), .slot = 1};
	uint64_t seed = pace_queue_seed(s->seed, p->first);

	if (s->kind == ARRIVAL_BURST)
		at.begin = k - k % s->burst;
	if (s->kind == ARRIVAL_POISSON) {
		at.x = 0;
		for (unsigned g = 0; g <= i; g++)
			at.x += ((pace_pos)pace_poisson_gap(seed, g) << 32) * p->step;
	}
	return p->start_tsc + pace_shape_due(s, &at, k);
}

static void arrivals(const struct arrival *a, const struct pace_trend *t, uint32_t first,
		     uint32_t step)
{
	struct pace_shape shape;
	struct flows_flow *f = &x.end[0].flow[0];
	unsigned n = 0;

	world_new(1, 2047, 10000);
	memset(&syn, 0, sizeof(syn));
	x.end[0].pipe.seen = syn_seen;
	pace_shape_make(&shape, a, t, (double)HZ, 1e7);
	f->cps.shape = &shape;
	f->cps.period = shape.period;
	f->cps.first = first;
	f->cps.step = step;
	f->end_tsc = f->start_tsc + 300 * MS;
	world_start(1);
	syn.last = x.now - 1;
	run_timed(f->end_tsc + 10 * MS);
	assert_int_equal(world_stage(0, 0), FLOWS_DONE);
	for (; shape_due(&f->cps, n) < f->end_tsc; n++) {
		assert_true(n < syn.n);
		assert_true(syn.at[n] >= shape_due(&f->cps, n));
		/* those that are as close as the wire allows may have to wait for room */
		assert_true(syn.before[n] < shape_due(&f->cps, n) + 20 * US);
	}
	assert_int_equal(syn.n, n);
	assert_true(n > 100);
	assert_int_equal(of(0, 0)->due, n);
	assert_int_equal(of(0, 0)->done, n);
	assert_int_equal(of(0, 0)->counts.closed, n);
	world_stop(1);
	world_free();
}

static void test_arrivals(void **state)
{
	static const struct arrival kind[] = {
		{.kind = ARRIVAL_CONSTANT},
		{.kind = ARRIVAL_POISSON, .seed = 5},
		{.kind = ARRIVAL_BURST, .burst = 20},
		{.kind = ARRIVAL_BURST, .burst = 7, .gap_ns = 3000000},
		{.kind = ARRIVAL_JITTER, .share = 0.3, .seed = 6},
		{.kind = ARRIVAL_ONOFF, .on_ns = 10000000, .off_ns = 7000000},
	};
	static const struct pace_trend trend[] = {
		{.from = 3000, .to = 3000},
		{.from = 1000, .to = 6000, .over_ns = 200000000},
		{.from = 6000, .to = 1000, .step = 1000, .over_ns = 50000000},
	};

	(void)state;
	for (unsigned n = 0; n < ARRAY_SIZE(kind) * ARRAY_SIZE(trend);
	     n += (unsigned)effort(1, 5)) {
		unsigned i = n / ARRAY_SIZE(trend), k = n % ARRAY_SIZE(trend);

		arrivals(&kind[i], &trend[k], i % 2, 1 + i % 3);
	}
}

/* ---- rates that change ---- */

static void change(unsigned flow, double per_s, uint64_t start)
{
	struct flows_pace *p = &x.end[0].flow[flow].cps;

	p->epoch++;
	p->start_tsc = start;
	pace_of(flow, per_s);
	world_plan(0);
}

/* A rate that is told before it begins does so exactly then. */
static void test_change_ahead(void **state)
{
	(void)state;
	world_new(1, 2047, 10000);
	memset(&syn, 0, sizeof(syn));
	x.end[0].pipe.seen = syn_seen;
	struct flows_flow *f = &x.end[0].flow[0];
	uint64_t begin = x.now + 100 * MS + 13 * US;
	f->end_tsc = x.now + 200 * MS;
	pace_of(0, 1000);
	struct pace_period slow = f->cps.period;
	world_start(1);
	syn.last = x.now - 1;
	run_timed(x.now + 50 * MS);
	change(0, 5000, begin);
	run_timed(f->end_tsc + 10 * MS);
	assert_int_equal(world_stage(0, 0), FLOWS_DONE);
	unsigned n = syn.n;
	assert_int_equal(n, 101 + 500);
	syn.n = 101;
	times_are(&slow, f->start_tsc, 0, 1, 101);
	memmove(syn.at, syn.at + 101, sizeof(syn.at) - 101 * sizeof(syn.at[0]));
	memmove(syn.before, syn.before + 101, sizeof(syn.at) - 101 * sizeof(syn.at[0]));
	syn.n = 500;
	times_are(&f->cps.period, begin, 0, 1, 500);
	assert_int_equal(of(0, 0)->due, n);
	world_stop(1);
	world_free();
}

/* A rate that changes again and again does not add opens: their number is that of the rates. */
static void test_change_often(void **state)
{
	double wanted = 0;

	(void)state;
	world_new(1, 2047, 10000);
	pace_of(0, 100);
	world_start(1);
	for (unsigned i = 0; i < effort(1000, 200); i++) {
		double per_s = 50 + any(200);
		uint64_t at = x.now;

		change(0, per_s, x.now - any(MS));
		world_run(x.now + 1 + any(5 * MS));
		wanted += per_s * (double)(x.now - at) / (double)HZ;
	}
	assert_true((double)of(0, 0)->done > wanted - 3 && (double)of(0, 0)->done < wanted + 3);
	assert_int_equal(of(0, 0)->due, of(0, 0)->done);
	world_stop(0);
	world_run(x.now + 10 * MS);
	assert_int_equal(world_stage(0, 0), FLOWS_DONE);
	assert_int_equal(of(0, 0)->due, of(0, 0)->done);
	world_stop(1);
	world_free();
}

/* Between a rate, as fast as can be, and none. */
static void test_change_kind(void **state)
{
	(void)state;
	world_new(1, 2047, 10000);
	struct flows_flow *f = &x.end[0].flow[0];
	f->cps.max = true;
	f->most = 5000;
	world_start(1);
	world_run(x.now + 5 * MS);
	uint64_t n = of(0, 0)->done;
	assert_true(n > 5000);
	assert_int_equal(of(0, 0)->due, n);
	f->cps.max = false;
	change(0, 1000, x.now);
	n = of(0, 0)->done;
	world_run(x.now + 100 * MS);
	assert_in_range(of(0, 0)->done - n, 100, 101);
	f->cps.off = true;
	change(0, 1000, x.now);
	n = of(0, 0)->done;
	world_run(x.now + 100 * MS);
	assert_in_range(of(0, 0)->done - n, 0, 1);
	f->cps.off = false;
	change(0, 2000, x.now + MS);
	world_run(x.now + 101 * MS);
	assert_in_range(of(0, 0)->done - n, 200, 201);
	world_stop(0);
	world_run(x.now + 10 * MS);
	assert_int_equal(world_stage(0, 0), FLOWS_DONE);
	world_stop(1);
	world_free();
}

/* ---- late ---- */

/* The worker stands still: what is late is counted exactly, and still comes. */
static void test_late(void **state)
{
	struct hist_shape shape = {.bits = 7, .top = 40};
	struct hist *h = xcalloc_lines(hist_size(shape));

	(void)state;
	hist_init(h, shape);
	world_new(1, 2047, 10000);
	of(0, 0)->since_due = h;
	struct flows_flow *f = &x.end[0].flow[0];
	f->end_tsc = f->start_tsc + 200 * MS;
	pace_of(0, 10000);
	world_start(1);
	world_run(x.now + 10 * MS + 50 * US);
	assert_int_equal(of(0, 0)->late, 0);
	x.now += 30 * MS; /* 300 come due; all but the last 10 are late by more than 1 ms */
	world_run(x.now + 5 * MS);
	assert_in_range(of(0, 0)->late, 290, 291);
	assert_in_range(of(0, 0)->late_max_ns, 29900000, 30000000);
	world_run(f->end_tsc + 10 * MS);
	assert_int_equal(of(0, 0)->due, 2000);
	assert_int_equal(of(0, 0)->done, 2000);
	assert_int_equal(hist_count(h), 2000);
	assert_in_range(hist_max(h), 29900000, 30500000);
	world_stop(1);
	world_free();
	free(h);
}

/* What is due shortly before the end comes even if the worker is late then; what is very late does
 * not, but counts as due. */
static void test_late_end(void **state)
{
	(void)state;
	for (unsigned part = 0; part < 2; part++) {
		world_new(1, 2047, 10000);
		struct flows_flow *f = &x.end[0].flow[0];
		f->end_tsc = f->start_tsc + 100 * MS;
		pace_of(0, 10000);
		world_start(1);
		world_run(x.now + 90 * MS);
		uint64_t before = of(0, 0)->done;
		x.now = f->end_tsc + (part == 0 ? MS / 2 : 2 * MS);
		world_run(x.now + 10 * MS);
		assert_int_equal(world_stage(0, 0), FLOWS_DONE);
		assert_int_equal(of(0, 0)->due, 1000);
		assert_int_equal(of(0, 0)->done, part == 0 ? 1000 : before);
		world_stop(1);
		world_free();
	}
}

/* ---- ends ---- */

/* Runs by count: over when those have gone by themselves. */
static void test_count(void **state)
{
	(void)state;
	world_new(1, 2047, 10000);
	struct flows_flow *f = &x.end[0].flow[0];
	f->opens = 777;
	f->cps.max = true;
	x.end[0].f[0]->conf.transactions = x.end[1].f[0]->conf.transactions = 5;
	world_start(1);
	world_run(x.now + 20 * MS);
	assert_int_equal(world_stage(0, 0), FLOWS_DONE);
	assert_int_equal(of(0, 0)->counts.opened, 777);
	assert_int_equal(of(0, 0)->counts.closed, 777);
	assert_int_equal(of(0, 0)->transactions.done, 5 * 777);
	assert_int_equal(of(0, 0)->drain_tsc, 0);
	/* and once more */
	world_start(2);
	world_run(x.now + 20 * MS);
	assert_int_equal(world_stage(0, 0), FLOWS_DONE);
	assert_int_equal(of(0, 0)->counts.opened, 2 * 777);
	assert_int_equal(of(0, 0)->done, 777);
	assert_int_equal(world_stage(1, 0), FLOWS_RUNNING);
	world_stop(1);
	world_free();
}

/* Connections that nobody closes: `drain` ends those that do nothing, */
static void test_drain(void **state)
{
	(void)state;
	world_new(1, 2047, 10000);
	struct flows_flow *f = &x.end[0].flow[0];
	f->opens = 500;
	f->cps.max = true;
	x.end[0].f[0]->conf.transactions = x.end[1].f[0]->conf.transactions = 0;
	x.end[0].f[0]->conf.think = (struct wl_vary)WL_FIXED(1000000);
	world_start(1);
	world_run(x.now + 50 * MS);
	assert_int_equal(world_stage(0, 0), FLOWS_RUNNING);
	assert_int_equal(of(0, 0)->counts.open, 500);
	world_stop(0);
	assert_int_equal(world_stage(0, 0), FLOWS_RUNNING); /* not before a turn */
	world_turn();
	assert_int_equal(world_stage(0, 0), FLOWS_DRAINING);
	world_run(x.now + 50 * MS);
	assert_int_equal(world_stage(0, 0), FLOWS_DONE);
	assert_int_equal(of(0, 0)->counts.closed, 500);
	assert_int_equal(of(1, 0)->counts.closed, 500);
	world_stop(1);
	world_free();
}

/* and when its time is over the others are reset; `abort` does so at once. */
static void test_abort(void **state)
{
	const uint64_t drain = effort(30, 8) * MS;

	(void)state;
	for (unsigned part = 0; part < 2; part++) {
		world_new(1, 2047, 10000);
		struct flows_flow *f = &x.end[0].flow[0];
		f->opens = 500;
		f->cps.max = true;
		f->drain_cycles = drain;
		/* a response that takes too long */
		x.end[0].f[0]->conf.response = (struct wl_vary)WL_FIXED(1 << 30);
		x.end[1].f[0]->conf.response = (struct wl_vary)WL_FIXED(1 << 30);
		world_start(1);
		world_run(x.now + drain + 10 * MS);
		assert_int_equal(of(0, 0)->counts.opened, 500);
		assert_in_range(of(0, 0)->counts.open, 490,
				500); /* SYNs beside much data may be lost */
		uint64_t open = of(0, 0)->counts.open;
		f->stop = true;
		f->abort = part == 1;
		world_plan(0);
		uint64_t at = x.now;
		world_run(x.now + drain - MS);
		assert_int_equal(world_stage(0, 0), part == 0 ? FLOWS_DRAINING : FLOWS_DONE);
		world_run(x.now + 10 * MS);
		assert_int_equal(world_stage(0, 0), FLOWS_DONE);
		assert_in_range(of(0, 0)->counts.aborted, open, 500);
		assert_int_equal(of(0, 0)->counts.aborted + of(0, 0)->counts.aborted_opening, 500);
		assert_int_equal(of(0, 0)->transactions.failed, of(0, 0)->counts.aborted);
		assert_in_range(of(1, 0)->counts.reset_by_peer, open, 500);
		assert_true(part == 0 || of(0, 0)->done_tsc < at + 10 * MS);
		assert_true(part == 1 || of(0, 0)->done_tsc >= at + drain);
		world_stop(1);
		world_free();
	}
}

/* The server's end comes first: its connections are drained, and new ones are refused. */
static void test_server_ends(void **state)
{
	(void)state;
	world_new(1, 2047, 10000);
	pace_of(0, 5000);
	world_start(1);
	world_run(x.now + 50 * MS);
	world_stop(1);
	world_run(x.now + 50 * MS);
	assert_int_equal(world_stage(1, 0), FLOWS_DONE);
	assert_in_range(of(0, 0)->counts.refused, 248, 251);
	assert_int_equal(world_stage(0, 0), FLOWS_RUNNING);
	/* and it begins again, with the version that it had */
	x.end[1].flow[0].stop = false;
	x.end[1].flow[0].run++;
	world_plan(1);
	uint64_t closed = of(1, 0)->counts.closed;
	world_run(x.now + 50 * MS);
	assert_true(of(1, 0)->counts.closed >= closed + 240);
	world_stop(0);
	world_stop(1);
	world_rest(x.now + 10 * SECOND);
	assert_int_equal(world_stage(0, 0), FLOWS_DONE);
	assert_int_equal(world_stage(1, 0), FLOWS_DONE);
	world_free();
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_times),        cmocka_unit_test(test_arrivals),
		cmocka_unit_test(test_change_ahead), cmocka_unit_test(test_change_often),
		cmocka_unit_test(test_change_kind),  cmocka_unit_test(test_late),
		cmocka_unit_test(test_late_end),     cmocka_unit_test(test_count),
		cmocka_unit_test(test_drain),        cmocka_unit_test(test_abort),
		cmocka_unit_test(test_server_ends),
	};
	int rc = eal_or_skip(argv[argc - 1]);

	return rc != 0 ? rc : cmocka_run_group_tests(tests, NULL, NULL);
}
