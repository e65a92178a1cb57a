/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests kind gen where streams go from group to group. */
#include "dp_model.h"

#define IDS 6
#define ALL ((1u << IDS) - 1)

static const struct frame_recipe *recipe_of[IDS];

static void make_recipes(struct world *x)
{
	for (unsigned s = 0; s < IDS; s++)
		recipe_of[s] = frames_of(x, s, 64 + 20 * (s % 2), 1, 60000);
}

/* Makes a phase with so many turns of each stream whose bit is set in mask. */
static struct tphase *pass_of(struct world *x, unsigned mask, const unsigned *turns)
{
	struct tphase *p = phase_new(x);

	for (unsigned r = 0; r < 4; r++)
		for (unsigned s = 0; s < IDS; s++)
			if ((mask >> s & 1) != 0 && turns[s] > r)
				phase_add(p, s, recipe_of[s]);
	return p;
}

/* A queue that has sent its share is done, whatever plans come later in the run. */
static void test_done_stays_done(void **state)
{
	unsigned turns[IDS] = {1, 1, 1, 1, 1, 1};
	struct world *x = world_new(2, 1500);

	(void)state;
	make_recipes(x);
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
	recipe_of[0] = frames_of(x, 0, 64, 77, 60000);
	struct tphase *now = pass_of(x, 3, turns);
	now->sched = p->sched;
	now->end = 600;
	x->group[0].phase[0] = now;
	adopt_now(x);
	assert_int_equal(gen_run_state(x->gen[0], 1), GEN_DONE);
	check_counts(x);
	fake[1].take = TAKE_ALL;
	run_to_end(x);
	assert_int_equal(TOTAL(x, packets), 600);
	world_free(x);
}

/* Streams get rates of their own and take turns again. Each queue goes on with the ordinal that
 * comes next, and so do its values. */
static void test_between_groups(void **state)
{
	(void)state;
	for (unsigned round = 0; round < 40; round++) {
		struct world *x = world_new(1 + round % 4, 1500);
		unsigned turns[IDS], mask = ALL;
		uint64_t epoch = 0, last = 0;

		make_recipes(x);
		for (unsigned q = 0; q < x->nq; q++)
			fake[q].take = round % 2 ? TAKE_RANDOM : TAKE_ALL;
		for (unsigned step = 0; step < 20; step++) {
			if (any(4) == 0) /* one of them gets another value */
				recipe_of[last % IDS] =
					frames_of(x, (unsigned)(last % IDS), 64 + 20 * (last % 2),
						  any(1000), 60000);
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
					phase_add(p, s, recipe_of[s]);
					x->group[x->ngroups++] =
						(struct tgroup){.stream = (int32_t)s,
								.limit = UINT64_MAX,
								.nphases = 1,
								.phase = {p},
								.epoch = ++epoch};
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
		cmocka_unit_test(test_done_stays_done),
		cmocka_unit_test(test_between_groups),
	};
	int rc = eal_or_skip(argv[argc - 1]);

	return rc != 0 ? rc : cmocka_run_group_tests(tests, NULL, NULL);
}
