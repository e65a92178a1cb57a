/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares the timers of a worker with a list that says of each when it is due, by a clock of the
 * test's own. Tests a worker that sleeps until a timer is due, and how control puts the wheel into
 * plans. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>

#include "ctl_int.h"
#include "port_int.h"
#include "eal_skip.h"
#include "seed.h"
#include "wheel.h"

static uint64_t rng;

static uint64_t any(void)
{
	rng ^= rng << 13;
	rng ^= rng >> 7;
	rng ^= rng << 17;
	return rng;
}

/* Returns a random span below 2^bits; all lengths in bits are equally likely. */
static uint64_t any_span(unsigned bits)
{
	return any() >> (64 - 1 - any() % bits);
}

struct watched {
	struct dp_timer tm;
	uint64_t due;        /* when it is due by the list, if it runs */
	bool runs, expected; /* expected: the timer must fire in this turn */
};

struct world {
	struct dp_worker *w;
	struct dp_task wheel, task;
	struct watched *x;
	unsigned n;
	uint64_t now;
	unsigned fired, polls;
	bool meddles;  /* timers that fire start and stop others and themselves */
	unsigned bits; /* how far ahead they do so, as a power of two */
};

static struct world world; /* there is one at a time, so that fn finds it */

static void start(struct world *o, struct watched *x, uint64_t due)
{
	dp_timer_start(o->w, &x->tm, due);
	x->due = due;
	x->runs = true;
	x->expected = false;
}

static void stop(struct world *o, struct watched *x)
{
	dp_timer_stop(o->w, &x->tm);
	x->runs = x->expected = false;
}

static uint64_t any_due(const struct world *o)
{
	uint64_t span = any_span(o->bits);

	return any() % 8 == 0 ? o->now - RTE_MIN(span, o->now) : o->now + span;
}

static unsigned fire(struct dp_worker *w, const struct dp_task *t, struct dp_timer *tm,
		     uint64_t now)
{
	struct world *o = &world;
	struct watched *x = container_of(tm, struct watched, tm);

	assert_ptr_equal(w, o->w);
	assert_ptr_equal(t, &o->task);
	assert_int_equal(now, o->now);
	assert_null(tm->at);
	assert_true(x->runs && x->expected);
	x->runs = x->expected = false;
	o->fired++;
	for (unsigned i = 0; o->meddles && i < any() % 4; i++) {
		struct watched *y = any() % 4 == 0 ? x : &o->x[any() % o->n];
		if (any() % 2 == 0)
			stop(o, y);
		else
			start(o, y, any_due(o));
	}
	return 1;
}

static struct world *world_new(unsigned n, uint64_t now)
{
	struct world *o = &world;

	*o = (struct world){.w = xcalloc_lines(sizeof(*o->w)),
			    .x = xcalloc(n, sizeof(*o->x)),
			    .n = n,
			    .now = now};
	o->w->wheel = xcalloc_lines(sizeof(*o->w->wheel));
	o->wheel = (struct dp_task){.kind = &dp_kind_wheel, .state = &o->w->wheel->base};
	o->wheel.state->next = DP_NEVER;
	dp_kind_wheel.adopt(o->w, &o->wheel, NULL, now);
	assert_int_equal(o->wheel.state->next, DP_NEVER);
	for (unsigned i = 0; i < n; i++)
		o->x[i].tm = (struct dp_timer){.fn = fire, .task = &o->task};
	return o;
}

static void world_free(struct world *o)
{
	free(o->w->wheel);
	free(o->w);
	free(o->x);
}

static uint64_t first_due(const struct world *o)
{
	uint64_t first = DP_NEVER;

	for (unsigned i = 0; i < o->n; i++)
		if (o->x[i].runs)
			first = RTE_MIN(first, o->x[i].due);
	return first;
}

/* Does what a worker's turn does. Exactly those timers that are due fire. */
static void turn(struct world *o, uint64_t now)
{
	unsigned before = o->fired;

	assert_true(now >= o->now);
	o->now = now;
	assert_true(o->wheel.state->next <= first_due(o));
	for (unsigned i = 0; i < o->n; i++)
		o->x[i].expected = o->x[i].runs && o->x[i].due <= now;
	if (o->wheel.state->next <= now) {
		o->polls++;
		unsigned moved = dp_kind_wheel.poll(o->w, &o->wheel, now);
		assert_int_equal(moved, o->fired - before);
	}
	for (unsigned i = 0; i < o->n; i++)
		assert_false(o->x[i].expected);
	assert_true(o->wheel.state->next <= first_due(o));
	assert_true(first_due(o) != DP_NEVER || o->wheel.state->next == DP_NEVER ||
		    o->wheel.state->next > now);
}

static void test_random(void **state)
{
	static const unsigned bits[] = {6, 13, 20, 26, 34, 55};

	(void)state;
	for (unsigned b = 0; b < ARRAY_SIZE(bits); b++)
		for (unsigned n = 1; n <= 300; n = n * 4 + 1) {
			struct world *o = world_new(n, any_span(50));
			o->bits = bits[b];
			for (unsigned i = 0; i < 6000; i++) {
				struct watched *x = &o->x[any() % n];
				o->meddles = any() % 2 == 0;
				switch (any() % 4) {
				case 0:
					stop(o, x);
					break;
				case 1:
					turn(o, o->now + any_span(bits[b]) / 4);
					break;
				case 2: /* time moves to the moment for which the wheel asks */
					if (o->wheel.state->next != DP_NEVER)
						turn(o, RTE_MAX(o->now, o->wheel.state->next));
					break;
				default:
					start(o, x, any_due(o));
				}
				assert_true(o->wheel.state->next <= first_due(o));
			}
			assert_true(o->fired > 100);
			for (unsigned i = 0; i < n; i++)
				stop(o, &o->x[i]);
			turn(o,
			     RTE_MAX(o->now,
				     o->wheel.state->next == DP_NEVER ? 0 : o->wheel.state->next));
			/* Nobody is woken for nothing any more. */
			assert_int_equal(o->wheel.state->next, DP_NEVER);
			world_free(o);
		}
}

/* A timer runs alone or with another one, at each distance and where levels wrap. It fires at its
 * time, and few turns are asked for before. */
static void test_far(void **state)
{
	(void)state;
	for (unsigned from = 0; from < 60; from += 3)
		for (unsigned far = 0; far < 63; far++)
			for (unsigned company = 0; company < 2; company++) {
				struct world *o = world_new(3, (1ull << from) - any() % 2);
				uint64_t due = o->now + (1ull << far) - any() % 2;
				start(o, &o->x[0], due);
				if (company > 0)
					start(o, &o->x[1], due + 1);
				/* This makes the wheel compute its next moment anew. */
				start(o, &o->x[2], o->now);
				turn(o, o->now);
				while (o->x[0].runs)
					turn(o, o->wheel.state->next);
				assert_int_equal(o->now, RTE_MAX(due, (1ull << from) - 1));
				assert_in_range(o->polls, 1, DP_WHEEL_LEVELS + 2);
				if (company == 0)
					assert_in_range(o->polls, 1, 2);
				world_free(o);
			}
}

static uint64_t period;

static unsigned again(struct dp_worker *w, const struct dp_task *t, struct dp_timer *tm,
		      uint64_t now)
{
	(void)t, (void)now;
	world.fired++;
	dp_timer_start(w, tm, tm->due + period);
	return 0;
}

/* A timer that starts itself again fires once in a turn, does not drift, and catches up turn by
 * turn. */
static void test_again(void **state)
{
	struct world *o = world_new(1, 1000000);
	struct dp_timer tm = {.fn = again};
	struct dp_state *s = o->wheel.state;
	unsigned turns = 0;

	(void)state;
	period = 25000;
	dp_timer_start(o->w, &tm, 1000000 + period);
	for (uint64_t now = 1000000; now < 1000000 + 1000 * period; now += 333)
		if (s->next <= now)
			dp_kind_wheel.poll(o->w, &o->wheel, now);
	assert_int_equal(o->fired, 999);
	assert_int_equal(tm.due, 1000000 + 1000 * period);
	for (uint64_t now = 1000000 + 1009 * period; s->next <= now; turns++) {
		unsigned before = o->fired;
		dp_kind_wheel.poll(o->w, &o->wheel, now);
		assert_int_equal(o->fired, before + 1);
	}
	assert_int_equal(turns, 10);
	period = 0;
	o->fired = 0;
	for (unsigned i = 0; i < 10; i++) {
		uint64_t now = 1000000 + 1010 * (uint64_t)25000 + i;
		assert_true(s->next <= now);
		dp_kind_wheel.poll(o->w, &o->wheel, now);
		assert_int_equal(o->fired, i + 1);
	}
	world_free(o);
}

/* A timer that is due when it is started waits for the next turn, and not longer. */
static void test_past(void **state)
{
	static const uint64_t ago[] = {0, 1, 4096, 1ull << 20, 1ull << 40};

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(ago); i++) {
		struct world *o = world_new(2, 1ull << 41);
		start(o, &o->x[0], o->now + 1);
		turn(o, o->now + 1);
		start(o, &o->x[1], o->now - ago[i]);
		assert_true(o->wheel.state->next <= o->now);
		assert_int_equal(o->fired, 1);
		turn(o, o->now);
		assert_int_equal(o->fired, 2);
		start(o, &o->x[1], 0);
		stop(o, &o->x[1]);
		stop(o, &o->x[1]);
		turn(o, o->now);
		assert_int_equal(o->fired, 2);
		world_free(o);
	}
}

/* A task that is adopted before the wheel is has started its timers by then. */
static void test_started_early(void **state)
{
	struct world *o = world_new(2, 0);

	(void)state;
	start(o, &o->x[0], 1ull << 30);
	start(o, &o->x[1], (1ull << 30) + 5);
	/* The worker does this for each state that is new to it. */
	o->wheel.state->next = DP_NEVER;
	dp_kind_wheel.adopt(o->w, &o->wheel, NULL, 0);
	turn(o, 1ull << 30);
	assert_int_equal(o->fired, 1);
	turn(o, (1ull << 30) + 5);
	assert_int_equal(o->fired, 2);
	world_free(o);
}

#define MILLION 1000000u
#define SPAN_BITS 34
#define STEP 2500

static uint64_t turn_before;
static unsigned nfired;

static unsigned in_time(struct dp_worker *w, const struct dp_task *t, struct dp_timer *tm,
			uint64_t now)
{
	(void)w, (void)t;
	assert_true(tm->due <= now && tm->due > turn_before);
	nfired++;
	return 1;
}

static void test_many(void **state)
{
	struct world *o = world_new(0, 0);
	struct dp_timer *tm = xcalloc(MILLION, sizeof(*tm));
	unsigned left = MILLION, moved = 0;

	(void)state;
	nfired = 0;
	for (unsigned i = 0; i < MILLION; i++) {
		tm[i] = (struct dp_timer){.fn = in_time};
		dp_timer_start(o->w, &tm[i], 1 + (any() >> (64 - SPAN_BITS)));
	}
	for (unsigned i = 0; i < MILLION; i += 3) {
		dp_timer_stop(o->w, &tm[i]);
		left--;
	}
	turn_before = 0;
	for (uint64_t now = 0; o->wheel.state->next != DP_NEVER; turn_before = now) {
		now = RTE_MAX(now + STEP, o->wheel.state->next);
		moved += dp_kind_wheel.poll(o->w, &o->wheel, now);
	}
	assert_int_equal(nfired, left);
	assert_int_equal(moved, left);
	for (unsigned i = 0; i < MILLION; i++)
		assert_null(tm[i].at);
	free(tm);
	world_free(o);
}

static uint64_t came_tsc;

static unsigned came(struct dp_worker *w, const struct dp_task *t, struct dp_timer *tm,
		     uint64_t now)
{
	(void)w, (void)t;
	assert_true(now >= tm->due);
	came_tsc = now;
	return 0;
}

/* A worker with nothing else to do sleeps until shortly before a timer is due, and for good when
 * none is. */
static void test_in_turns(void **state)
{
	const uint64_t near = rte_get_tsc_hz() / 500;
	struct world *o = world_new(0, 0);
	struct dp_plan plan = {.seq = 1, .may_sleep = true, .task = &o->wheel, .ntasks = 1};
	struct dp_timer tm = {.fn = came};
	struct err e;

	(void)state;
	assert_int_equal(mbox_open(&o->w->mbox, "wheel", SOCKET_ID_ANY, &e), 0);
	assert_true(mbox_post(&o->w->mbox, &plan));
	assert_true(dp_turn(o->w));
	assert_int_equal(o->w->cells.acked, 1);
	came_tsc = 0;
	dp_timer_start(o->w, &tm, rte_rdtsc() + 10 * near);
	while (came_tsc == 0) {
		uint64_t slept = o->w->cells.sleeps;
		bool soon = rte_rdtsc() + near > tm.due;
		assert_true(dp_turn(o->w));
		if (soon && came_tsc == 0)
			assert_int_equal(o->w->cells.sleeps, slept);
	}
	uint64_t slept = o->w->cells.sleeps;
	assert_true(slept > 0);
	for (unsigned i = 0; i < 3; i++)
		assert_true(dp_turn(o->w));
	assert_int_equal(o->w->cells.sleeps, slept + 3);
	mbox_close(&o->w->mbox);
	world_free(o);
}

static const struct dp_kind kind_a = {.name = "a"}, kind_b = {.name = "b"};

/* However often and by whom the wheel is asked for, it is the first task of that plan, and one and
 * the same in all plans of the worker. */
static void test_plans(void **state)
{
	static const struct port_spec plain = {.prefix = "plain"};
	struct ctl *c = ctl_new();
	struct ctl_port *cp = c->port[c->nports++] = ctl_port_new();
	struct dp_rxq rxq[2] = {0}, *rxqs[] = {&rxq[0], &rxq[1]};
	struct ctl_worker cw = {.w = xcalloc_lines(sizeof(*cw.w))};
	struct dp_state a = {0}, b = {0};
	int none[2] = {0};
	const struct dp_wheel *first = NULL;

	(void)state;
	c->worker = &cw;
	c->nworkers = 1;
	cp->p.spec = &plain;
	cp->p.used = cp->p.started = true;
	cp->p.nrxq = ARRAY_SIZE(rxqs);
	cp->p.rxq = rxqs;
	cp->rx_worker = none;
	for (unsigned asks = 0; asks < 8; asks++) {
		bool wheel = asks != 0;
		struct plan_writer *p = plan_begin(c, 0, false);
		if ((asks & 1) != 0)
			plan_wheel(p);
		unsigned ta = plan_task(p, &(struct dp_task){.kind = &kind_a, .state = &a}, &a);
		if ((asks & 2) != 0)
			plan_wheel(p);
		unsigned tb = plan_task(p, &(struct dp_task){.kind = &kind_b, .state = &b}, &b);
		if ((asks & 4) != 0)
			plan_wheel(p);
		plan_own(plan_duty(p, cp, 0), tb);
		plan_own(plan_duty(p, cp, 1), ta);
		struct dp_plan *plan = plan_end(p);
		assert_int_equal(plan->ntasks, 2 + wheel);
		if (wheel) {
			assert_ptr_equal(plan->task[0].kind, &dp_kind_wheel);
			assert_ptr_equal(plan->task[0].state, &cw.w->wheel->base);
			assert_null(plan_about(plan, 0));
			first = first != NULL ? first : cw.w->wheel;
		}
		assert_ptr_equal(cw.w->wheel, first);
		assert_ptr_equal(plan->task[wheel].kind, &kind_a);
		assert_ptr_equal(plan_about(plan, wheel), &a);
		assert_ptr_equal(plan->task[wheel + 1].kind, &kind_b);
		assert_ptr_equal(plan_about(plan, wheel + 1u), &b);
		assert_int_equal(plan->rx[0].owner, wheel + 1);
		assert_int_equal(plan->rx[1].owner, wheel);
		plan_free(c, plan);
	}
	free(cw.w->wheel);
	free(cw.w);
	ctl_port_free(cp);
	ctl_free(c);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),        cmocka_unit_test(test_far),
		cmocka_unit_test(test_again),         cmocka_unit_test(test_past),
		cmocka_unit_test(test_started_early), cmocka_unit_test(test_many),
		cmocka_unit_test(test_in_turns),      cmocka_unit_test(test_plans),
	};
	int rc = eal_or_skip(argv[argc - 1]);

	if (rc != 0)
		return rc;
	rng = test_seed_not_0();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
