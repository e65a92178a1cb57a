/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests kind gen with schedules of many streams: order, counts, phases, groups with their own
 * rates, marks, offload, and plans that change at random moments. Each frame is compared with the
 * same frame made in the plain way. */
#include "dp_grace.h"
#include "dp_model.h"
#include "effort.h"

/* Makes a schedule of n streams from id on, which take turns at random. If sizes is 0 all frames
 * have 64 bytes, else a stream has up to so many more sizes. */
static struct tphase *some_phase(struct world *x, unsigned id, unsigned n, unsigned sizes,
				 bool fills)
{
	struct tphase *p = phase_new(x);
	const struct frame_recipe *plan[8][4];

	for (unsigned s = 0; s < n; s++) {
		unsigned lo = 10 + any(20), hi = any(3) == 0 ? 40000 : 40 + any(20);
		for (unsigned i = 0; i < 1 + sizes && i < 4; i++)
			plan[s][i] = filled_frames(x, id + s, sizes > 0 ? 64 + any(600) : 64, lo,
						   hi, fills && s % 2 ? FILL_INC : FILL_ABC);
	}
	for (unsigned s = 0; s < n; s++)
		phase_add(p, id + s, plan[s][0]);
	for (unsigned i = any(12); i > 0; i--) {
		unsigned s = any(n);
		phase_add(p, id + s, plan[s][any(1 + sizes)]);
	}
	return p;
}

/* Checks what a run of so many frames has sent of each stream. */
static void check_shares(const struct world *x, const struct tphase *p, uint64_t limit)
{
	for (unsigned s = 0; s < p->nstreams; s++)
		assert_int_equal(x->sent[p->id[s]][0], of_stream(p, s, limit));
}

static void test_schedules(void **state)
{
	(void)state;
	for (unsigned round = 0; round < 40; round += (unsigned)effort(1, 11)) {
		struct world *x = world_new(1 + round % 4, 700);
		struct tphase *p = some_phase(x, any(4), 1 + any(8), round % 3, round % 5 == 0);

		for (unsigned q = 0; q < x->nq; q++) {
			fake[q].take = round % 2 ? TAKE_RANDOM : TAKE_ALL;
			fake[q].hold = 300;
		}
		one_group(x, p)->limit = 3000 + any(3000);
		x->job.burst = (uint16_t)(1 + any(100));
		adopt_now(x);
		for (unsigned i = 0; i < 20 && !all_done(x); i++) {
			turns(x, 1 + any(5));
			check_counts(x);
		}
		run_to_end(x);
		check_shares(x, p, x->group[0].limit);
		world_free(x);
	}
}

/* The second and the third run begin with the first frame again, although their fruns were used
 * before. */
static void test_again(void **state)
{
	struct world *x = world_new(2, 700);
	struct tphase *p = some_phase(x, 0, 3, 2, true);

	(void)state;
	one_group(x, p)->limit = 1001;
	for (unsigned run = 1; run <= 3; run++) {
		x->job.run = run;
		memset(x->sent, 0, sizeof(x->sent));
		adopt_now(x);
		run_to_end(x);
		check_shares(x, p, 1001);
		for (unsigned s = 0; s < MAX_IDS; s++) { /* cells count on */
			x->sent[s][0] *= run;
			x->sent[s][1] *= run;
		}
		check_counts(x);
	}
	world_free(x);
}

/* Makes a group of four phases, as when streams that have sent their count leave the schedule.
 * Phases end at numbers of frames that are no multiples of a burst. */
static struct tgroup *phased(struct world *x, unsigned sizes)
{
	uint64_t ends[] = {7 + any(300), 400 + any(3), 401 + any(2000), UINT64_MAX}, k = 0;
	struct tgroup *g = one_group(x, NULL);
	uint64_t o0[MAX_IDS] = {0};

	g->nphases = 4;
	for (unsigned n = 0; n < 4; n++) {
		struct tphase *p = some_phase(x, n < 2 ? 0 : 1, 5 - n, sizes, false);
		g->phase[n] = p;
		p->k0 = k;
		p->end = ends[n] > k ? ends[n] : k + 1;
		for (unsigned s = 0; s < p->nstreams; s++) {
			p->o0[s] = o0[p->id[s]];
			o0[p->id[s]] += of_stream(p, s, p->end - k);
		}
		k = p->end;
	}
	return g;
}

static void test_phases(void **state)
{
	(void)state;
	for (unsigned round = 0; round < 40; round += (unsigned)effort(1, 5)) {
		struct world *x = world_new(1 + round % 4, 1500);
		struct tgroup *g = phased(x, round % 2);

		for (unsigned q = 0; q < x->nq; q++)
			fake[q].take = round % 3 ? TAKE_RANDOM : TAKE_ALL;
		g->limit = round % 7 == 0 ? 300 : 5000;
		adopt_now(x);
		for (unsigned i = 0; i < 30 && !all_done(x); i++) {
			turns(x, 1);
			check_counts(x);
		}
		run_to_end(x);
		assert_int_equal(TOTAL(x, packets), g->limit);
		world_free(x);
	}
}

/* ---- groups with rates of their own ---- */

static struct tgroup *add_group(struct world *x, int32_t stream, struct tphase *p)
{
	struct tgroup *g = &x->group[x->ngroups++];

	*g = (struct tgroup){.stream = stream, .limit = UINT64_MAX, .nphases = 1, .phase = {p}};
	return g;
}

static struct tphase *own_phase(struct world *x, unsigned id, unsigned sizes)
{
	struct tphase *p = phase_new(x);
	unsigned hi = 100 + any(500);

	for (unsigned i = 0; i <= sizes; i++)
		phase_add(p, id, frames_of(x, id, 64 + any(sizes * 200 + 1), 100, hi));
	return p;
}

/* Returns how many frames of the group are due at `now`, on all queues. */
static uint64_t due_count(const struct world *x, const struct tgroup *g, uint64_t now)
{
	struct follow f = {.t0 = x->job.start_tsc};
	uint64_t k = 0;

	while (k < g->limit && due_of(g, &f, k) <= now)
		k++;
	return k;
}

static uint64_t sent_of(const struct world *x, const struct tgroup *g)
{
	uint64_t n = 0;

	for (unsigned q = 0; q < x->nq; q++)
		for (unsigned i = 0; i < x->at[q].n; i++)
			n += x->at[q].f[i].stream == g->stream ? x->at[q].f[i].i : 0;
	return n;
}

/* There are a schedule and streams with rates of their own, by frames and by bytes of both layers,
 * in phases. Each frame leaves on its cycle, and no queue knows of the others. */
static void test_group_deadlines(void **state)
{
	(void)state;
	for (unsigned round = 0; round < 24; round += (unsigned)effort(1, 7)) {
		struct world *x = world_new(1 + round % 3, 2047);
		unsigned streams = round % 6;

		x->job.start_tsc = x->now = 1000000;
		phased(x, 1 + round % 2);
		for (unsigned n = 0; n < streams; n++)
			add_group(x, (int32_t)(20 + n), own_phase(x, 20 + n, n % 3));
		for (unsigned n = 0; n < x->ngroups; n++) {
			struct tgroup *g = &x->group[n];
			g->by_bytes = (round + n) % 2 == 0;
			g->l2 = (round + n) % 4 == 0;
			g->period = (struct pace_period){.cycles = g->by_bytes ? any(5)
									       : 200 + any(2000),
							 .frac = any(1000000) * 0x3333333333ull};
			/* A byte takes at least a sixteenth of a cycle, so that there are not
			 * millions of frames. */
			if (g->period.cycles == 0)
				g->period.frac |= 1ull << 60;
			g->limit = any(3) == 0 ? any(100) : UINT64_MAX;
		}
		x->job.burst = (uint16_t)(1 + any(64));
		adopt_at(x);
		for (unsigned step = 0; step < 150 && !all_done(x); step++) {
			poll_at(x);
			for (unsigned n = 0; n < x->ngroups; n++)
				assert_int_equal(sent_of(x, &x->group[n]),
						 due_count(x, &x->group[n], x->now));
			x->now += any(4000);
		}
		check_counts(x);
		x->job.stop = true;
		adopt_at(x);
		assert_true(all_done(x));
		world_free(x);
	}
}

/* All groups send the frames that are due before the end, and no others. */
static void test_group_end(void **state)
{
	(void)state;
	for (unsigned late = 0; late < 2; late++) {
		struct world *x = world_new(2, 2047);

		x->job.start_tsc = x->now = 1000000;
		x->job.end_tsc = x->now + 100000;
		one_group(x, some_phase(x, 0, 3, 2, false));
		for (unsigned n = 0; n < 30; n++)
			add_group(x, (int32_t)(20 + n), own_phase(x, 20 + n, 0));
		for (unsigned n = 0; n < x->ngroups; n++)
			x->group[n].period.cycles = 100 * (n + 3);
		x->group[0].by_bytes = true;
		x->group[0].period.cycles = 3;
		adopt_at(x);
		x->now += late ? 500000 : 30000;
		for (unsigned i = 0; i < 200 && !all_done(x); i++) {
			poll_at(x);
			x->now += 1000;
		}
		assert_true(all_done(x));
		for (unsigned n = 0; n < x->ngroups; n++)
			assert_int_equal(sent_of(x, &x->group[n]),
					 due_count(x, &x->group[n], x->job.end_tsc - 1));
		assert_int_equal(TOTAL(x, unsent), 0);
		world_free(x);
	}
}

/* The device takes nothing. What was due and not sent counts as unsent, with sizes that differ and
 * without a limit too. */
static void test_group_give_up(void **state)
{
	struct world *x = world_new(2, 2047);
	uint64_t due = 0;

	(void)state;
	x->job.start_tsc = x->now = 1000000;
	x->job.end_tsc = x->now + 100000;
	one_group(x, some_phase(x, 0, 3, 2, false));
	add_group(x, 20, own_phase(x, 20, 1));
	x->group[0].by_bytes = true;
	x->group[0].period.cycles = 3;
	x->group[1].period.cycles = 777;
	adopt_at(x);
	x->now += 40000;
	poll_at(x);
	fake[0].take = fake[1].take = TAKE_NONE;
	x->now += 20000;
	poll_at(x);
	to_last_grace(x);
	assert_false(all_done(x));
	poll_at(x);
	assert_true(all_done(x));
	for (unsigned n = 0; n < 2; n++)
		due += due_count(x, &x->group[n], x->job.end_tsc - 1);
	/* What the device has refused is unsent, like what was never built. */
	assert_int_equal(TOTAL(x, dropped), 0);
	assert_int_equal(TOTAL(x, packets) + TOTAL(x, unsent), due);
	fake[0].nrefused = fake[1].nrefused = 0;
	world_free(x);
}

/* Groups that send as fast as possible take turns, and one with a rate gets its rate. */
static void test_turns(void **state)
{
	struct world *x = world_new(1, 2047);

	(void)state;
	x->job.start_tsc = x->now = 1000000;
	for (unsigned n = 0; n < 3; n++)
		add_group(x, (int32_t)(20 + n), own_phase(x, 20 + n, 0));
	x->group[3].period.cycles = 1000;
	adopt_at(x);
	for (unsigned i = 0; i < 3000; i++) {
		dp_kind_gen.poll(x->w, &x->w->plan->task[0], x->now);
		x->now += 100;
	}
	uint64_t a = sent_of(x, &x->group[0]), b = sent_of(x, &x->group[1]),
		 c = sent_of(x, &x->group[2]), d = sent_of(x, &x->group[3]);
	assert_true(a > 25000 && b + 64 >= a && b <= a + 64 && c + 64 >= a && c <= a + 64);
	assert_in_range(d, 298, 300);
	check_counts(x);
	world_free(x);
}

/* ---- plans that change ---- */

/* Makes the same schedule with other values in some streams. */
static struct tphase *other_values(struct world *x, const struct tphase *was)
{
	struct tphase *p = phase_new(x);
	const struct frame_recipe *plan[MAX_IDS] = {0};

	unsigned lo = 5 + any(1000), hi = 2000 + any(1000);

	p->sched = was->sched;
	for (unsigned i = 0; i < was->ncycle; i++) {
		unsigned f = was->cycle[i].recipe, id = was->id[was->cycle[i].stream];
		if (plan[f] == NULL)
			plan[f] = id % 2 ? was->recipe[f]
					 : frames_of(x, id, was->recipe[f]->len + 4, lo, hi);
		phase_add(p, id, plan[f]);
	}
	return p;
}

static void change(struct world *x, uint64_t *epoch)
{
	struct tgroup port = x->group[0];

	switch (any(6)) {
	case 0: /* another schedule */
		x->group[0].phase[0] = some_phase(x, any(3), 1 + any(6), any(3), any(2));
		x->group[0].epoch = ++*epoch;
		break;
	case 1:
		x->group[0].phase[0] = other_values(x, port.phase[0]);
		break;
	case 2: /* streams get a rate of their own, or lose it */
		x->ngroups = 1;
		for (unsigned n = any(5), id = 20; n > 0; n--, id += 1 + any(3)) {
			struct tgroup *g = add_group(x, (int32_t)id, own_phase(x, id, any(3)));
			g->period.cycles = any(2) ? 0 : 1000 + any(5000);
			g->epoch = ++*epoch;
		}
		break;
	case 3: /* rates */
		for (unsigned n = 0; n < x->ngroups; n++) {
			x->group[n].by_bytes = any(2);
			x->group[n].l2 = any(2);
			x->group[n].period.cycles = any(3) == 0 ? 0 : 1 + any(300);
		}
		break;
	case 4:
		x->job.burst = (uint16_t)(1 + any(64));
		break;
	default: /* nothing changes, and fruns go on untouched */
		break;
	}
}

static void test_random_changes(void **state)
{
	(void)state;
	for (unsigned round = 0; round < 12; round++) {
		struct world *x = world_new(1 + round % 3, 1500);
		uint64_t epoch = 0;

		for (unsigned q = 0; q < x->nq; q++) {
			fake[q].take = TAKE_RANDOM;
			fake[q].hold = 300;
			fake[q].scribble = round % 4 == 3;
		}
		x->job.rx_written = round % 4 == 3;
		one_group(x, some_phase(x, 0, 4, round % 3, round % 2));
		adopt_now(x);
		for (unsigned i = 0; i < 40 && x->nframes < 200; i++) {
			turns(x, any(20));
			check_counts(x);
			change(x, &epoch);
			adopt_now(x);
			check_counts(x);
		}
		assert_int_equal(TOTAL(x, dropped), 0);
		x->job.stop = true;
		adopt_now(x);
		assert_true(all_done(x));
		for (unsigned q = 0; q < x->nq; q++) {
			assert_null(x->gen[q]->frun);
			assert_int_equal(x->gen[q]->epoch % 2, 0);
			assert_int_equal(x->gen[q]->sent, x->txq[q]->cnt.packets);
		}
		world_free(x);
	}
}

/* The limit counts from the start, whatever schedules there were in between. A queue ends when it
 * has sent its share. */
static void test_limit_over_schedules(void **state)
{
	struct world *x = world_new(3, 1500);

	(void)state;
	one_group(x, some_phase(x, 0, 3, 1, false))->limit = 5000;
	for (unsigned i = 1; i < 20; i++) {
		adopt_now(x);
		turns(x, 1);
		x->group[0].phase[0] = some_phase(x, 0, 1 + any(4), 1, false);
		x->group[0].epoch = i;
	}
	adopt_now(x);
	run_to_end(x);
	for (unsigned q = 0; q < 3; q++)
		assert_int_equal(fake[q].frames, (5000 - q - 1) / 3 + 1);
	world_free(x);
}

/* A pace over bytes goes on from frame to frame when schedule and sizes change. */
static void test_pace_over_changes(void **state)
{
	struct world *x = world_new(1, 1500);
	uint64_t next;

	(void)state;
	x->job.start_tsc = x->now = 1000000;
	x->group[0].by_bytes = true;
	x->group[0].period.cycles = 100;
	next = x->now;
	adopt_at(x);
	for (unsigned i = 0; i < 50; i++) {
		unsigned size = 64 + any(200);
		uint64_t sent = fake[0].frames;
		x->now = next;
		poll_at(x);
		assert_int_equal(fake[0].frames, sent + 1);
		next += (x->group[0].phase[0]->recipe[0]->len + 24u) * 100;
		/* The next frame has another size, but not another time. */
		struct tphase *p = phase_new(x);
		phase_add(p, 0, frames_of(x, 0, size, 1, 1));
		x->group[0].phase[0] = p;
		x->group[0].epoch = i % 2 ? i : x->group[0].epoch;
		p->sched = i % 2 ? p->sched : x->adopted[0].phase[0]->sched;
		adopt_at(x);
		x->now = next - 1;
		poll_at(x);
		assert_int_equal(fake[0].frames, sent + 1);
	}
	world_free(x);
}

/* ---- classes, offload ---- */

static void test_classes(void **state)
{
	(void)state;
	for (unsigned round = 0; round < 8; round += (unsigned)effort(1, 3)) {
		struct world *x = world_new(2, 1500);
		struct tphase *p = phase_new(x);

		for (unsigned s = 0; s < 6; s++) {
			static const enum frame_fill fill[] = {FILL_ABC, FILL_ZERO, FILL_INC};
			phase_add(p, s,
				  filled_frames(x, s, 300 + (round % 2) * 30 * s, 1,
						1 + 500 * (s % 2), fill[s % 3]));
		}
		for (unsigned q = 0; q < 2; q++) {
			fake[q].take = TAKE_RANDOM;
			fake[q].hold = 400;
			fake[q].scribble = round >= 4;
		}
		x->job.rx_written = round >= 4;
		one_group(x, p)->limit = 20000;
		adopt_now(x);
		assert_true(frun_nclasses(p->frun[0]) > 1);
		run_to_end(x);
		/* One class comes after several, and nothing of these is left. */
		x->job.run = 2;
		one_group(x, some_phase(x, 0, 1, 0, false))->limit = 20000;
		adopt_now(x);
		run_to_end(x);
		world_free(x);
	}
}

/* The device makes the checksums. Its driver writes into frames before it sends them, and again
 * into the same buffers the next time. */
static void test_prepare(void **state)
{
	(void)state;
	for (unsigned round = 0; round < 12; round++) {
		struct world *x = world_new(1 + round % 2, 700);
		struct tphase *p = round % 3 == 0 ? own_phase(x, 0, 0)
						  : some_phase(x, 0, 3, round % 3, round % 2);

		if (round % 3 == 0)
			phase_add(p, 1, frames_of(x, 1, 64, 7, 7));
		if (round == 6) {
			p = phase_new(x);
			phase_add(p, 0, frames_of(x, 0, 64, 7, 7));
		}
		p->offload = true;
		for (unsigned q = 0; q < x->nq; q++) {
			fake[q].prepares = true;
			fake[q].take = TAKE_RANDOM;
			fake[q].hold = 200;
		}
		x->job.prepare = true;
		one_group(x, p)->limit = 5000;
		adopt_now(x);
		run_to_end(x);
		uint64_t prepared = 0;
		for (unsigned q = 0; q < x->nq; q++)
			prepared += fake[q].prepared;
		assert_int_equal(prepared, 5000); /* the tail was not prepared twice */
		check_shares(x, p, 5000);
		world_free(x);
	}
}

/* Returns how many of the frames that the group sends up to its limit the driver does not want. */
static uint64_t unfit_frames(struct world *x, const struct tgroup *g, unsigned rejects)
{
	uint8_t bytes[FRAME_MAX_LEN];
	const struct frame_recipe *plan;
	uint64_t n = 0;

	for (uint64_t k = 0; k < g->limit; k++) {
		struct follow f = {.stream = g->stream, .i = k / x->nq};
		expected(x, (unsigned)(k % x->nq), &f, bytes, &plan);
		n += unfit(sum_of_bytes(bytes, plan->len), rejects);
	}
	return n;
}

/* Frames that the driver does not want are thrown away and counted. The others go in order. */
static void test_rejected(void **state)
{
	(void)state;
	for (unsigned round = 0; round < 12; round++) {
		struct world *x = world_new(1 + round % 2, 700);
		unsigned rejects = 1 + round % 3; /* 1: every frame */
		uint64_t refused = 0, all = round % 4 == 1 ? 3000 : 2000;

		for (unsigned q = 0; q < x->nq; q++) {
			fake[q].rejects = rejects;
			fake[q].take = TAKE_RANDOM;
			fake[q].hold = 200;
		}
		x->job.prepare = true;
		one_group(x, some_phase(x, 0, 3, round % 3, false))->limit = 2000;
		if (round % 4 == 1)
			add_group(x, 30, own_phase(x, 30, 1))->limit = 1000;
		adopt_now(x);
		for (unsigned n = 0; n < x->ngroups; n++)
			refused += unfit_frames(x, &x->group[n], rejects);
		assert_true(refused > 0 && (refused == all) == (rejects == 1));
		for (unsigned i = 0; i < 50 && !all_done(x); i++) {
			turns(x, 1);
			check_counts(x);
		}
		run_to_end(x);
		assert_int_equal(TOTAL(x, packets) + TOTAL(x, dropped), all);
		assert_int_equal(TOTAL(x, dropped), refused);
		world_free(x);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_schedules),
		cmocka_unit_test(test_again),
		cmocka_unit_test(test_phases),
		cmocka_unit_test(test_group_deadlines),
		cmocka_unit_test(test_group_end),
		cmocka_unit_test(test_group_give_up),
		cmocka_unit_test(test_turns),
		cmocka_unit_test(test_random_changes),
		cmocka_unit_test(test_limit_over_schedules),
		cmocka_unit_test(test_pace_over_changes),
		cmocka_unit_test(test_classes),
		cmocka_unit_test(test_prepare),
		cmocka_unit_test(test_rejected),
	};
	int rc = eal_or_skip(argv[argc - 1]);

	return rc != 0 ? rc : cmocka_run_group_tests(tests, NULL, NULL);
}
