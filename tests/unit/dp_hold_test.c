/* SPDX-License-Identifier: BSD-3-Clause */
/* Kind gen where orders begin whose end is not known yet, and where streams go from group to group. */
#include "dp_model.h"

#define IDS 6
#define ALL ((1u << IDS) - 1)

/* What queues may do by themselves, as control says it. */
struct cap_world {
	struct gen_hold hold[FAKE_QUEUES];
	struct gen_cap cap[FAKE_QUEUES][IDS];
	uint64_t had[FAKE_QUEUES][IDS];
};

static const struct frame_plan *plan_of[IDS];

static void make_plans(struct world *x)
{
	for (unsigned s = 0; s < IDS; s++)
		plan_of[s] = frames_of(x, s, 64 + 20 * (s % 2), 1, 60000);
}

/* A pass with so many turns of each stream, or of those whose bit is set. */
static struct tphase *pass_of(struct world *x, unsigned mask, const unsigned *turns)
{
	struct tphase *p = phase_new(x);

	for (unsigned r = 0; r < 4; r++)
		for (unsigned s = 0; s < IDS; s++)
			if ((mask >> s & 1) != 0 && turns[s] > r)
				phase_add(p, s, plan_of[s]);
	return p;
}

static void set_caps(struct world *x, struct cap_world *cw, const struct tphase *p, const unsigned *turns, uint64_t most)
{
	for (unsigned q = 0; q < x->nq; q++) {
		cw->hold[q] = (struct gen_hold){.ncaps = p->nstreams, .pass = p->ncycle, .cap = cw->cap[q], .had = cw->had[q]};
		for (unsigned n = 0; n < p->nstreams; n++) {
			cw->cap[q][n] = (struct gen_cap){.cell = p->id[n], .weight = turns[p->id[n]], .most = most};
			cw->had[q][n] = UINT64_MAX;
		}
	}
}

static uint64_t cell_of(const struct world *x, unsigned q, uint32_t id)
{
	struct gen_cell sum[MAX_IDS] = {0};

	assert_true(gen_counts(x->gen[q], sum, MAX_IDS));
	return sum[id].packets;
}

/* An order begins, with these turns of each stream; no stream may pass `most` on any queue by itself. */
static struct tphase *begin_held(struct world *x, struct cap_world *cw, const unsigned *turns, uint64_t *most)
{
	struct tphase *p = pass_of(x, ALL, turns);

	*most = 0;
	for (unsigned q = 0; q < x->nq; q++)
		for (unsigned s = 0; s < IDS; s++)
			*most = cell_of(x, q, s) > *most ? cell_of(x, q, s) : *most;
	*most += 500 + any(500);
	set_caps(x, cw, p, turns, *most);
	one_group(x, p)->hold = cw->hold;
	x->group[0].epoch++;
	adopt_now(x);
	return p;
}

static void check_held(const struct world *x, const struct cap_world *cw, const struct tphase *p, const unsigned *turns, uint64_t most)
{
	for (unsigned q = 0; q < x->nq; q++) {
		const struct follow *f = &x->at[q].f[0];
		uint64_t passes = UINT64_MAX;
		assert_int_equal(gen_run_state(x->gen[q], 1), GEN_SENDING);
		for (unsigned n = 0; n < p->nstreams; n++) {
			assert_true(cw->had[q][n] <= most);
			uint64_t whole = (most - cw->had[q][n]) / turns[p->id[n]];
			passes = whole < passes ? whole : passes;
		}
		uint64_t k = passes * p->ncycle;
		assert_int_equal(f->i - f->epoch_i, k > q ? (k - q - 1) / x->nq + 1 : 0);
	}
}

/* The end of the order: two phases, the second without stream 0. Returns how often each stream is in it. */
static void end_it(struct world *x, const struct tphase *p, const unsigned *turns, uint64_t most, uint64_t *left)
{
	struct tphase *first = pass_of(x, ALL, turns), *second = pass_of(x, ALL & ~1u, turns);

	first->sched = p->sched;
	first->end = second->k0 = (most + any(200)) * p->ncycle;
	second->end = second->k0 + 1000 + any(1000);
	for (unsigned n = 0; n < first->nstreams; n++)
		left[first->id[n]] = of_stream(first, n, first->end);
	for (unsigned n = 0; n < second->nstreams; n++) {
		second->o0[n] = left[second->id[n]];
		left[second->id[n]] += of_stream(second, n, second->end - second->k0);
	}
	x->group[0].hold = NULL;
	x->group[0].nphases = 2;
	x->group[0].phase[0] = first;
	x->group[0].phase[1] = second;
	adopt_now(x);
}

/* Each queue stops where the first stream could run out, says what it had sent before, and goes on as soon as it is told where the end is. */
static void test_hold(void **state)
{
	(void)state;
	for (unsigned round = 0; round < 30; round++) {
		struct world *x = world_new(1 + round % 4, 1500);
		unsigned turns[IDS];
		struct cap_world cw;
		uint64_t most, left[IDS], all_sent = 0;

		make_plans(x);
		for (unsigned s = 0; s < IDS; s++)
			turns[s] = 1 + any(3);
		for (unsigned q = 0; q < x->nq; q++)
			fake[q].take = round % 2 ? TAKE_RANDOM : TAKE_ALL;
		one_group(x, pass_of(x, ALL, turns));
		adopt_now(x);
		for (unsigned i = any(30); i > 0; i--)
			assert_true(dp_turn(x->w));
		for (unsigned s = 0; s < IDS; s++)
			turns[s] = 1 + any(3);
		struct tphase *p = begin_held(x, &cw, turns, &most);
		for (unsigned i = 0; i < 20000; i++)
			assert_true(dp_turn(x->w));
		check_held(x, &cw, p, turns, most);
		end_it(x, p, turns, most, left);
		run_to_end(x);
		for (unsigned n = 0; n < p->nstreams; n++) {
			uint64_t before = 0;
			for (unsigned q = 0; q < x->nq; q++)
				before += cw.had[q][n];
			assert_int_equal(x->sent[p->id[n]][0], before + left[p->id[n]]);
			all_sent += before + left[p->id[n]];
		}
		assert_int_equal(TOTAL(x, packets), all_sent);
		world_free(x);
	}
}

/* A queue that had sent its share sends again, and one that was stopped does not. */
static void test_again_after_the_end(void **state)
{
	unsigned turns[IDS] = {1, 1, 1, 1, 1, 1};
	struct world *x = world_new(2, 1500);
	struct cap_world cw;

	(void)state;
	make_plans(x);
	struct tphase *p = pass_of(x, 3, turns);
	p->end = 600;
	one_group(x, p);
	fake[1].take = TAKE_NONE;
	adopt_now(x);
	for (unsigned i = 0; i < 100; i++)
		assert_true(dp_turn(x->w));
	assert_int_equal(gen_run_state(x->gen[0], 1), GEN_DONE);
	assert_int_equal(gen_run_state(x->gen[1], 1), GEN_SENDING);
	check_counts(x);
	adopt_now(x); /* the same again: what is done stays so */
	assert_int_equal(gen_run_state(x->gen[0], 1), GEN_DONE);
	check_counts(x);
	struct tphase *more = pass_of(x, 3, turns);
	set_caps(x, &cw, more, turns, 0); /* nothing is known */
	one_group(x, more)->hold = cw.hold;
	x->group[0].epoch = 1;
	adopt_now(x);
	check_counts(x);
	assert_int_equal(gen_run_state(x->gen[0], 1), GEN_SENDING);
	assert_true(x->gen[0]->base.active && x->gen[1]->base.active);
	assert_int_equal(cw.had[0][0] + cw.had[0][1], 300);
	assert_int_equal(cw.had[1][0] + cw.had[1][1], 0);
	struct tphase *last = pass_of(x, 3, turns);
	last->sched = more->sched;
	last->end = 500;
	x->group[0].hold = NULL;
	x->group[0].phase[0] = last;
	fake[1].take = TAKE_ALL;
	adopt_now(x);
	run_to_end(x);
	assert_int_equal(TOTAL(x, packets), 800);
	x->job.stop = true;
	adopt_now(x);
	one_group(x, pass_of(x, 3, turns))->hold = cw.hold;
	x->group[0].epoch = 9;
	adopt_now(x);
	assert_true(all_done(x));
	world_free(x);
}

/* Streams get rates of their own and take turns again: each queue goes on with the ordinal that comes next, and so do its values. */
static void test_between_groups(void **state)
{
	(void)state;
	for (unsigned round = 0; round < 40; round++) {
		struct world *x = world_new(1 + round % 4, 1500);
		unsigned turns[IDS], mask = ALL;
		uint64_t epoch = 0, last = 0;

		make_plans(x);
		for (unsigned q = 0; q < x->nq; q++)
			fake[q].take = round % 2 ? TAKE_RANDOM : TAKE_ALL;
		for (unsigned step = 0; step < 20; step++) {
			if (any(4) == 0) /* another value for one of them */
				plan_of[last % IDS] = frames_of(x, (unsigned)(last % IDS), 64 + 20 * (last % 2), any(1000), 60000);
			for (unsigned s = 0; s < IDS; s++)
				turns[s] = 1 + any(3);
			x->ngroups = 0;
			if (mask != 0) {
				one_group(x, pass_of(x, mask, turns));
				x->group[0].epoch = ++epoch;
			}
			for (unsigned s = 0; s < IDS; s++)
				if ((mask >> s & 1) == 0) {
					struct tphase *p = phase_new(x);
					phase_add(p, s, plan_of[s]);
					x->group[x->ngroups++] = (struct tgroup){.stream = (int32_t)s, .limit = UINT64_MAX, .nphases = 1,
										 .phase = {p}, .epoch = ++epoch};
				}
			adopt_now(x);
			check_counts(x);
			for (unsigned i = any(20); i > 0; i--)
				assert_true(dp_turn(x->w));
			check_counts(x);
			reap(x);
			last = any(1000);
			mask = any(5) == 0 ? ALL : any(7) == 0 ? 0 : any(ALL + 1);
		}
		x->job.stop = true;
		adopt_now(x);
		world_free(x);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hold), cmocka_unit_test(test_again_after_the_end), cmocka_unit_test(test_between_groups),
	};
	int rc = eal_or_skip(argv[argc - 1]);

	return rc != 0 ? rc : cmocka_run_group_tests(tests, NULL, NULL);
}
