/* SPDX-License-Identifier: BSD-3-Clause */
/* The worker's turn with kinds made for it: who is asked when, and who is given what. */
#include "dp_fake.h"

#define HZ rte_get_tsc_hz()
#define MAX_TASKS 8

struct turner {
	struct dp_worker w;
	struct dp_plan plan;
	struct dp_task task[MAX_TASKS];
};

static struct turner *turner_new(void)
{
	struct turner *x = zeroed(sizeof(*x));
	static unsigned serial;
	char name[24];
	struct err e;

	fake_open();
	snprintf(name, sizeof(name), "t%u", serial++);
	assert_int_equal(mbox_open(&x->w.mbox, name, SOCKET_ID_ANY, &e), 0);
	x->plan = (struct dp_plan){.task = x->task};
	return x;
}

static void turner_free(struct turner *x)
{
	mbox_close(&x->w.mbox);
	free(x);
}

static void turns(struct turner *x, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		assert_true(dp_turn(&x->w));
}

static void add(struct dp_plan *p, const struct dp_kind *kind, struct dp_state *state)
{
	assert_true(p->ntasks < MAX_TASKS);
	p->task[p->ntasks++] = (struct dp_task){.kind = kind, .state = state};
}

static void use(struct turner *x, struct dp_plan *p)
{
	p->seq = x->w.cells.acked + 1;
	assert_true(mbox_post(&x->w.mbox, p));
	turns(x, 1);
	assert_int_equal(x->w.cells.acked, p->seq);
}

/* ---- when ---- */

/* Due at a moment, in every turn, or not by itself. */
struct alarm {
	struct dp_state base;
	uint64_t first, polled;
	unsigned polls, moved;
};

static void alarm_adopt(struct dp_worker *w, const struct dp_task *t, const void *old, uint64_t now)
{
	struct alarm *a = (struct alarm *)t->state;

	(void)w, (void)old, (void)now;
	assert_int_equal(a->base.next, DP_NEVER);
	a->base.next = a->first;
}

static unsigned alarm_poll(struct dp_worker *w, const struct dp_task *t, uint64_t now)
{
	struct alarm *a = (struct alarm *)t->state;

	(void)w;
	assert_true(now >= a->base.next);
	a->polls++;
	a->polled = now;
	if (a->base.next != DP_NOW)
		a->base.next = DP_NEVER;
	return a->moved;
}

static const struct dp_kind kind_alarm = {.name = "alarm", .adopt = alarm_adopt, .poll = alarm_poll};
static const struct dp_kind kind_silent = {.name = "silent", .poll = alarm_poll};

/* A task is asked when it said, not before, and its worker does not sleep past that. */
static void test_a_moment(void **state)
{
	const uint64_t near = HZ / 500;
	struct turner *x = turner_new();
	struct alarm a = {.first = rte_rdtsc() + 10 * near};

	(void)state;
	x->plan.may_sleep = true;
	add(&x->plan, &kind_alarm, &a.base);
	use(x, &x->plan);
	while (a.polls == 0) {
		bool soon = rte_rdtsc() + near > a.first;
		uint64_t slept = x->w.cells.sleeps;
		turns(x, 1);
		if (soon && a.polls == 0)
			assert_int_equal(x->w.cells.sleeps, slept);
	}
	assert_true(x->w.cells.sleeps > 0);
	assert_true(a.polled >= a.first);
	uint64_t slept = x->w.cells.sleeps;
	turns(x, 3); /* until a plan says more */
	assert_int_equal(x->w.cells.sleeps, slept + 3);
	assert_int_equal(a.polls, 1);
	turner_free(x);
}

static void test_every_turn(void **state)
{
	struct turner *x = turner_new();
	struct alarm a = {.base.next = DP_NEVER - 1, .first = DP_NOW};

	(void)state;
	x->plan.may_sleep = true;
	add(&x->plan, &kind_alarm, &a.base);
	use(x, &x->plan);
	turns(x, 4);
	assert_int_equal(a.polls, 5);
	a.moved = 1; /* turns that move something go another way */
	turns(x, 200);
	assert_int_equal(a.polls, 205);
	assert_int_equal(x->w.cells.sleeps, 0);
	a.base.next = DP_NEVER;
	turns(x, 5);
	assert_int_equal(a.polls, 205);
	assert_true(x->w.cells.sleeps > 0);
	turner_free(x);
}

/* One that says nothing is never asked, whatever its memory was before; a plan that has it again changes nothing. */
static void test_never(void **state)
{
	struct turner *x = turner_new();
	struct dp_plan again;
	struct alarm a = {.base.next = DP_NOW};

	(void)state;
	x->plan.may_sleep = true;
	add(&x->plan, &kind_silent, &a.base);
	use(x, &x->plan);
	again = x->plan;
	use(x, &again);
	turns(x, 3);
	assert_int_equal(a.polls, 0);
	assert_in_range(x->w.cells.sleeps, 3, 5); /* the turn that takes a plan may be too short to be idle */
	a.base.next = DP_NOW;
	use(x, &x->plan);
	assert_int_equal(a.polls, 1);
	turner_free(x);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_moment), cmocka_unit_test(test_every_turn), cmocka_unit_test(test_never),
	};
	int rc = eal_or_skip(argv[argc - 1]);

	return rc != 0 ? rc : cmocka_run_group_tests(tests, NULL, NULL);
}
