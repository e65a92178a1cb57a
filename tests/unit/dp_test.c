/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests kind gen and the worker's turn, by hand and against a device that refuses at random, and
 * plans that one thread hands to another. */
#include "dp_model.h"

#include <pthread.h>

#define HZ ((double)rte_get_tsc_hz())

static void test_count(void **state)
{
	static const uint64_t counts[] = {1, 2, 3, 31, 32, 33, 1000, 1001};

	(void)state;
	for (unsigned nq = 1; nq <= 4; nq++) {
		struct world *x = world_new(nq, 2047);
		struct mbox_event ev;
		uint64_t before[FAKE_QUEUES] = {0};

		for (unsigned c = 0; c < ARRAY_SIZE(counts); c++) {
			x->job.run = c + 1;
			x->group[0].limit = counts[c];
			adopt_now(x);
			run_to_end(x);
			for (unsigned q = 0; q < nq; q++) {
				uint64_t share = counts[c] > q ? (counts[c] - q - 1) / nq + 1 : 0;
				assert_int_equal(fake[q].frames - before[q], share);
				assert_int_equal(x->gen[q]->sent, share);
				before[q] = fake[q].frames;
				assert_true(mbox_event_next(&x->w->mbox, &ev));
				assert_int_equal(ev.kind, DP_EV_RUN_DONE);
				assert_int_equal(ev.value, c + 1);
			}
			assert_false(mbox_event_next(&x->w->mbox, &ev));
		}
		turns(x, 10); /* done is done */
		assert_int_equal(TOTAL(x, packets), 1 + 2 + 3 + 31 + 32 + 33 + 1000 + 1001);
		assert_int_equal(TOTAL(x, stalls) + TOTAL(x, dropped) + TOTAL(x, unsent), 0);
		world_free(x);
	}
}

static void test_burst(void **state)
{
	static const uint16_t bursts[] = {1, 7, 32, 64, 511, 512};

	(void)state;
	for (unsigned b = 0; b < ARRAY_SIZE(bursts); b++) {
		struct world *x = world_new(1, 2047);
		x->job.burst = bursts[b];
		x->group[0].limit = 1000;
		adopt_now(x);
		run_to_end(x);
		assert_int_equal(fake[0].frames, 1000);
		assert_int_equal(fake[0].calls, (1000 + bursts[b] - 1) / bursts[b]);
		world_free(x);
	}
}

static void test_random_device(void **state)
{
	(void)state;
	for (unsigned nq = 1; nq <= 3; nq++) {
		struct world *x = world_new(nq, 700);
		for (unsigned q = 0; q < nq; q++) {
			fake[q].take = TAKE_RANDOM;
			fake[q].hold = 400;
		}
		x->group[0].limit = 20001;
		adopt_now(x);
		run_to_end(x);
		assert_int_equal(TOTAL(x, packets), 20001);
		assert_int_equal(TOTAL(x, bytes), 20001 * 64);
		assert_true(TOTAL(x, stalls) > 0);
		assert_int_equal(TOTAL(x, dropped) + TOTAL(x, unsent), 0);
		world_free(x);
	}
}

static void test_stop_with_tail(void **state)
{
	struct world *x = world_new(2, 700);

	(void)state;
	adopt_now(x);
	turns(x, 9);
	fake[0].take = TAKE_NONE;
	turns(x, 5);
	uint64_t sent = TOTAL(x, packets);
	assert_int_equal(sent, 32 * (10 + 15));
	x->job.stop = true;
	adopt_now(x);
	assert_true(all_done(x));
	fake[0].nrefused = 0; /* these frames were ours, and are gone */
	turns(x, 5);
	assert_int_equal(TOTAL(x, packets), sent);
	assert_int_equal(x->txq[0]->cnt.dropped, 32);
	assert_int_equal(x->txq[1]->cnt.dropped, 0);
	assert_int_equal(x->gen[0]->sent + x->gen[1]->sent, sent);
	/* The next start begins at frame 0, with its own count. */
	x->job.stop = false;
	x->job.run = 2;
	x->group[0].limit = 100;
	fake[0].take = TAKE_ALL;
	adopt_now(x);
	run_to_end(x);
	assert_int_equal(x->gen[0]->sent, 50);
	assert_int_equal(TOTAL(x, packets), sent + 100);
	world_free(x);
}

/* One plan may bring a start and its stop. Then nothing is sent, and control hears of the end. */
static void test_stop_before_start(void **state)
{
	struct world *x = world_new(2, 127);

	(void)state;
	x->job.run = 7;
	x->job.stop = true;
	adopt_now(x);
	assert_true(all_done(x));
	assert_int_equal(TOTAL(x, packets), 0);
	assert_int_equal(x->gen[0]->sent, 0);
	world_free(x);
}

static void test_pool_empty(void **state)
{
	struct world *x = world_new(1, 100);

	(void)state;
	fake[0].keep = true;
	x->group[0].limit = 500;
	adopt_now(x);
	turns(x, 50);
	assert_int_equal(TOTAL(x, packets), 96);
	assert_true(TOTAL(x, nombuf) > 0);
	assert_int_equal(gen_run_state(x->gen[0], 1), GEN_SENDING);
	fake[0].keep = false;
	fake_release(&fake[0], 0);
	run_to_end(x);
	assert_int_equal(TOTAL(x, packets), 500);
	world_free(x);
}

/* A changed rate, burst or bound keeps k and what remains. */
static void test_changes(void **state)
{
	struct world *x = world_new(3, 1500);

	(void)state;
	for (unsigned q = 0; q < 3; q++)
		fake[q].take = TAKE_RANDOM;
	x->group[0].limit = 200000;
	for (unsigned i = 0; i < 40; i++) {
		x->job.burst = (uint16_t)(1 + any(64));
		x->group[0].period = any(4) == 0 ? (struct pace_period){0}
						 : pace_period(HZ, 1e6 + any(1000000) * 1e3);
		adopt_now(x);
		turns(x, any(20));
		for (unsigned q = 0; q < 3; q++)
			assert_int_equal(x->built[q], x->txq[q]->cnt.packets);
	}
	assert_true(TOTAL(x, packets) > 0 && TOTAL(x, packets) < 200000);
	x->group[0].period = (struct pace_period){0};
	adopt_now(x);
	run_to_end(x);
	assert_int_equal(TOTAL(x, packets), 200000);
	world_free(x);
}

/* A bound below what was sent already ends the run, even with a tail. */
static void test_bound_lowered(void **state)
{
	struct world *x = world_new(2, 1000);

	(void)state;
	adopt_now(x);
	turns(x, 10);
	fake[1].take = TAKE_NONE;
	turns(x, 1);
	uint64_t sent = TOTAL(x, packets);
	x->group[0].limit = 100;
	adopt_now(x);
	turns(x, 3);
	assert_int_equal(gen_run_state(x->gen[0], 1), GEN_DONE);
	fake[1].take = TAKE_ALL;
	run_to_end(x);
	assert_int_equal(TOTAL(x, packets), sent);
	world_free(x);
}

/* Gives the port's one stream other frames, as large as before or larger. */
static void other_frames(struct world *x, unsigned n)
{
	struct tphase *p = phase_new(x);

	p->sched = x->group[0].phase[0]->sched;
	phase_add(p, 0, frames_of(x, 0, n % 2 ? 128 : 64, 1 + n, 1 + n));
	x->group[0].phase[0] = p;
}

static void test_template_change(void **state)
{
	struct world *x = world_new(2, 1500);

	(void)state;
	for (unsigned q = 0; q < 2; q++) {
		fake[q].take = TAKE_RANDOM;
		fake[q].hold = 300;
	}
	adopt_now(x);
	turns(x, 200);
	for (unsigned i = 0; i < 50; i++) {
		/* Once the plan is adopted only new frames leave, which holds for the tail too. */
		other_frames(x, i);
		adopt_now(x);
		turns(x, any(30));
	}
	for (unsigned i = 0; i < 100000 && x->txq[0]->stale + x->txq[1]->stale > 0; i++)
		turns(x, 1);
	assert_int_equal(x->txq[0]->stale + x->txq[1]->stale, 0);
	/* so many frames go without the check of marks */
	x->group[0].limit = TOTAL(x, packets) + 40000;
	adopt_now(x);
	run_to_end(x);
	world_free(x);
}

static void clean(struct world *x)
{
	for (unsigned i = 0; i < 100000 && x->txq[0]->stale > 0; i++)
		turns(x, 1);
	assert_int_equal(x->txq[0]->stale, 0);
}

/* Frames come again while some buffers still hold them. Nevertheless the check of every burst
 * ends. */
static void test_template_comes_back(void **state)
{
	struct world *x = world_new(1, 1500);
	struct tphase *one = x->group[0].phase[0], *two;

	(void)state;
	fake[0].hold = 300;
	adopt_now(x);
	clean(x);
	other_frames(x, 1);
	two = x->group[0].phase[0];
	for (unsigned i = 0; i < 6; i++) {
		adopt_now(x);
		turns(x, any(5));
		x->group[0].phase[0] = i % 2 ? two : one;
	}
	adopt_now(x);
	clean(x);
	x->ngroups = 2; /* for some bursts there are frames of two kinds */
	x->group[1] = x->group[0];
	x->group[1].stream = 1;
	x->group[1].epoch = 77;
	x->group[1].phase[0] = phase_new(x);
	phase_add(x->group[1].phase[0], 1, frames_of(x, 1, 64, 5, 5));
	adopt_now(x);
	assert_int_equal(x->txq[0]->image, 0);
	turns(x, 3);
	x->ngroups = 1;
	adopt_now(x);
	assert_true(x->txq[0]->stale > 0);
	clean(x);
	x->group[0].limit = TOTAL(x, packets) + 4000;
	adopt_now(x);
	run_to_end(x);
	world_free(x);
}

/* Somebody writes into our frames before they come back, and clears their marks. */
static void test_touched_frames(void **state)
{
	struct world *x = world_new(1, 1500);

	(void)state;
	fake[0].hold = 500;
	fake[0].take = TAKE_RANDOM;
	fake[0].scribble = true;
	x->job.rx_written = true;
	adopt_now(x);
	turns(x, 3000);
	other_frames(x, 1);
	adopt_now(x);
	turns(x, 3000);
	/* A plan without the task in between must not hide that the marks were not exact. */
	struct dp_plan *none = plan_new(x, 0, 0);
	x->job.run = 2;
	assert_true(mbox_post(&x->w->mbox, none));
	turns(x, 1);
	fake[0].nrefused = 0;
	fake[0].scribble = false;
	fake_release(&fake[0], 0);
	x->job.rx_written = false;
	adopt_now(x);
	assert_true(x->txq[0]->stale > 0);
	turns(x, 3000);
	other_frames(x, 2); /* a new mark ends the check */
	adopt_now(x);
	for (unsigned i = 0; i < 100000 && x->txq[0]->stale > 0; i++)
		turns(x, 1);
	assert_int_equal(x->txq[0]->stale, 0);
	turns(x, 3000);
	fake[0].take = TAKE_ALL; /* then no tail is left */
	turns(x, 1);
	world_free(x);
}

static void test_give_up(void **state)
{
	struct world *x = world_new(2, 700);

	(void)state;
	x->group[0].period = (struct pace_period){.cycles = 100};
	x->job.end_tsc = x->job.start_tsc + 1000 * 100;
	x->group[0].limit = 1000;
	adopt_now(x);
	turns(x, 1);
	fake[0].take = fake[1].take = TAKE_NONE;
	run_to_end(x);
	fake[0].nrefused = fake[1].nrefused = 0;
	assert_true(TOTAL(x, unsent) > 0);
	assert_int_equal(TOTAL(x, packets) + TOTAL(x, dropped) + TOTAL(x, unsent), 1000);
	world_free(x);

	x = world_new(1, 100); /* the device keeps all buffers */
	fake[0].keep = true;
	x->job.end_tsc = x->job.start_tsc + 1000;
	x->group[0].period = (struct pace_period){.cycles = 1};
	x->group[0].limit = 1000;
	adopt_now(x);
	run_to_end(x);
	assert_int_equal(TOTAL(x, packets), 96);
	assert_int_equal(TOTAL(x, unsent), 904);
	world_free(x);
}

/* Plans are taken in order, one in each turn. A task that the next plan lacks gives back what it
 * holds, and quit ends the loop. */
static void test_adoption(void **state)
{
	struct world *x = world_new(1, 127);

	(void)state;
	assert_true(dp_turn(x->w)); /* there is no plan yet */
	assert_int_equal(x->w->cells.acked, 0);
	fake[0].take = TAKE_NONE;
	fake[0].drops = true; /* each plan builds the tail anew */
	for (unsigned i = 0; i < 5; i++)
		post(x);
	for (unsigned i = 1; i <= 5; i++) {
		turns(x, 1);
		assert_int_equal(x->w->cells.acked, i);
	}
	assert_int_equal(x->txq[0]->n - x->txq[0]->head, 32);
	struct dp_plan *p = plan_new(x, 0, 0);
	assert_true(mbox_post(&x->w->mbox, p));
	turns(x, 1);
	assert_int_equal(x->txq[0]->cnt.dropped, 32);
	assert_int_equal(gen_run_state(x->gen[0], 1), GEN_DONE);
	assert_true(rte_mempool_full(x->txq[0]->pool));
	p = plan_new(x, 0, 0);
	p->quit = true;
	assert_true(mbox_post(&x->w->mbox, p));
	assert_false(dp_turn(x->w));
	assert_int_equal(x->w->cells.acked, 7);
	world_free(x);
}

static void test_events(void **state)
{
	struct world *x = world_new(1, 127);
	struct mbox_event ev;
	unsigned n = 0;

	(void)state;
	for (unsigned i = 0; i < 2000; i++)
		dp_event_post(x->w, DP_EV_RUN_DONE, 1, 2, i);
	for (; mbox_event_next(&x->w->mbox, &ev); n++)
		assert_int_equal(ev.value, n);
	assert_int_equal(n + x->w->cells.events_lost, 2000);
	assert_true(n >= 512 && x->w->cells.events_lost > 0);
	world_free(x);
}

static void turn_after(struct world *x, uint64_t cycles)
{
	x->w->turn_tsc = rte_rdtsc() - cycles;
	dp_turn(x->w);
}

/* Turns that took too long are counted. A sleep does not count as one, and each mark has a longest
 * turn of its own. */
static void test_stalls(void **state)
{
	const uint64_t second = (uint64_t)HZ;
	struct world *x = world_new(1, 127);
	struct dp_stalls *s = &x->w->stalls;
	uint64_t slept = 0;

	(void)state;
	x->job.start_tsc = UINT64_MAX / 2;
	adopt_now(x);
	turn_after(x, 40 * second); /* nothing was asked for */
	assert_int_equal(s->count, 0);
	struct dp_plan *p = x->plan[x->nplans - 1];
	p->stall_cycles = 10 * second;
	turn_after(x, 2 * second);
	assert_int_equal(s->count, 0);
	turn_after(x, 30 * second);
	turn_after(x, 20 * second);
	assert_int_equal(s->count, 2);
	assert_in_range(s->cycles, 50 * second, 59 * second);
	for (unsigned m = 0; m < DP_MARKS; m++)
		assert_in_range(dp_stall_longest(s, m), 30 * second, 39 * second);
	s->asked[DP_MARK_TRIAL]++;
	assert_int_equal(dp_stall_longest(s, DP_MARK_TRIAL), 0);
	turn_after(x, 12 * second);
	assert_in_range(dp_stall_longest(s, DP_MARK_TRIAL), 12 * second, 19 * second);
	assert_in_range(dp_stall_longest(s, DP_MARK_CLEAR), 30 * second, 39 * second);
	assert_int_equal(s->count, 3);
	/* The turn in which a plan is found belongs to the plan before. */
	x->w->turn_tsc = rte_rdtsc() - 15 * second;
	adopt_now(x);
	assert_int_equal(s->count, 4);
	assert_in_range(dp_stall_longest(s, DP_MARK_TRIAL), 15 * second, 24 * second);
	/* The worker sleeps until the next millisecond, five times in a row. */
	x->job.stop = true;
	adopt_now(x);
	x->plan[x->nplans - 1]->may_sleep = true;
	for (unsigned i = 0; i < 5; i++) {
		uint64_t before = rte_rdtsc(), n = x->w->cells.sleeps;
		dp_turn(x->w);
		assert_int_equal(x->w->cells.sleeps, n + 1);
		slept += x->w->turn_tsc - before;
	}
	assert_true(slept > 3 * second / 1000);
	world_free(x);
}

/* A worker with nothing to do sleeps. With a task that waits for its time it does not, and beside
 * another thread it yields. */
static void test_idle(void **state)
{
	struct world *x = world_new(1, 127);

	(void)state;
	struct dp_plan *p = plan_new(x, 0, 0);
	p->may_sleep = true;
	assert_true(mbox_post(&x->w->mbox, p));
	turns(x, 5);
	assert_true(x->w->cells.sleeps >= 4);
	assert_int_equal(x->w->cells.asleep, 0);
	assert_int_equal(x->w->cells.barren, 5);
	uint64_t slept = x->w->cells.sleeps;
	x->w->shares_cpu = true;
	x->job.start_tsc = rte_rdtsc() + 3600 * rte_get_tsc_hz();
	post(x);
	x->plan[x->nplans - 1]->may_sleep = true;
	turns(x, 1000);
	assert_int_equal(x->w->cells.sleeps, slept);
	assert_in_range(x->w->cells.yields, 10, 16);
	assert_true(x->w->cells.loops > 900);
	world_free(x);
}

/* ---- two threads ---- */

static void *worker_thread(void *w)
{
	dp_worker_main(w);
	return NULL;
}

/* Control posts plans, reads what streams have sent, and frees the plans that were acknowledged,
 * while the worker sends by them. */
static void test_hand_over(void **state)
{
	struct world *x = world_new(2, 1500);
	static struct cnt_stream sum[MAX_IDS];
	struct tphase *p[6];
	struct dp_plan *quit;
	pthread_t t;

	(void)state;
	for (unsigned q = 0; q < 2; q++) {
		fake[q].take = TAKE_RANDOM;
		/* What the judge knows would be changed by one thread and read by the other. */
		fake[q].judge = NULL;
		fake[q].drops = true;
	}
	probing = true;
	for (unsigned i = 0; i < ARRAY_SIZE(p); i++) {
		p[i] = phase_new(x);
		for (unsigned s = 0; s <= i; s++)
			phase_add(p[i], s,
				  frames_of(x, s, 64 + 10 * (s % (i + 1)), 1, 1 + 100 * (i % 2)));
	}
	one_group(x, p[0]);
	post(x);
	assert_int_equal(pthread_create(&t, NULL, worker_thread, x->w), 0);
	for (uint32_t i = 2; i < 3000; i++) {
		struct gen_job *j = &x->job;
		one_group(x, p[i % ARRAY_SIZE(p)])->epoch = i;
		x->group[0].period = (struct pace_period){.cycles = i % 7 * 100};
		j->burst = (uint16_t)(1 + i % 64);
		j->run = i / 10;
		j->stop = i % 10 == 9;
		while (x->nplans > 40 ||
		       __atomic_load_n(&x->w->cells.acked, __ATOMIC_ACQUIRE) + 40 < x->seq)
			reap(x);
		/* The same group must not begin anew while the worker still uses it, so only one
		 * plan at a time has it. */
		while (__atomic_load_n(&x->w->cells.acked, __ATOMIC_ACQUIRE) + 4 < x->seq)
			sched_yield();
		post(x);
		for (unsigned q = 0; q < 2; q++) { /* this is how control reads them */
			(void)gen_run_state(x->gen[q], j->run);
			(void)cell_get(&x->gen[q]->sent);
			(void)cell_get(&x->txq[q]->cnt.packets);
			(void)gen_counts(x->gen[q], sum, MAX_IDS);
			(void)gen_sizes(x->gen[q], &(struct cnt_sizes){0});
			(void)gen_probes_sent(x->gen[q], i % 6);
		}
	}
	x->job.stop = true;
	post(x);
	while (!all_done(x))
		sched_yield();
	quit = plan_new(x, 0, 0);
	quit->quit = true;
	while (!mbox_post(&x->w->mbox, quit))
		sched_yield();
	pthread_join(t, NULL);
	assert_int_equal(x->w->cells.acked, quit->seq);
	memset(sum, 0, sizeof(sum));
	struct cnt_sizes sizes = {0};
	for (unsigned q = 0; q < 2; q++) {
		assert_true(gen_counts(x->gen[q], sum, MAX_IDS));
		assert_true(gen_sizes(x->gen[q], &sizes));
	}
	uint64_t all = 0;
	for (unsigned c = 0; c < CNT_NSIZES; c++)
		all += x->sizes[c] = sizes.n[c];
	assert_int_equal(all, TOTAL(x, packets));
	/* nobody has judged the frames; the sums are the device's */
	for (unsigned s = 0; s < MAX_IDS; s++) {
		x->sent[s][0] = sum[s].packets;
		x->sent[s][1] = sum[s].bytes;
		for (unsigned q = 0; q < 2; q++)
			x->probe[q].sent[s] = gen_probes_sent(x->gen[q], s);
		sum[0].packets += s > 0 ? sum[s].packets : 0;
		sum[0].bytes += s > 0 ? sum[s].bytes : 0;
	}
	assert_true(TOTAL(x, packets) > 0);
	assert_int_equal(sum[0].packets, TOTAL(x, packets));
	assert_int_equal(sum[0].bytes, TOTAL(x, bytes));
	world_free(x);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_count),
		cmocka_unit_test(test_burst),
		cmocka_unit_test(test_random_device),
		cmocka_unit_test(test_stop_with_tail),
		cmocka_unit_test(test_stop_before_start),
		cmocka_unit_test(test_pool_empty),
		cmocka_unit_test(test_changes),
		cmocka_unit_test(test_bound_lowered),
		cmocka_unit_test(test_template_change),
		cmocka_unit_test(test_template_comes_back),
		cmocka_unit_test(test_touched_frames),
		cmocka_unit_test(test_give_up),
		cmocka_unit_test(test_adoption),
		cmocka_unit_test(test_events),
		cmocka_unit_test(test_idle),
		cmocka_unit_test(test_stalls),
		cmocka_unit_test(test_hand_over),
	};
	int rc = eal_or_skip(argv[argc - 1]);

	return rc != 0 ? rc : cmocka_run_group_tests(tests, NULL, NULL);
}
