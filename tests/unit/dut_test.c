/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests kind dut: what happens to which frame, on a clock of the test's own. */
#include "dut_fake.h"

#define BELOW(percent) ((uint64_t)((percent) / 100.0 * 0x1p64))

static void test_plain(void **state)
{
	struct world *x = world_new(&(struct dut_job){.seed = 1}, 1, 1024);

	(void)state;
	for (unsigned i = 0; i < 3000; i++) {
		put(x, 60 + any(1455), x->now);
		if (i % 50 == 49)
			run_to(x, x->now + 10, 10);
	}
	run_to(x, x->now + 10, 10);
	assert_int_equal(x->ngot, 3000);
	for (unsigned i = 0; i < x->ngot; i++) {
		assert_int_equal(x->got[i].id, i);
		assert_false(x->got[i].spoilt);
	}
	assert_int_equal(counts(x).in, 3000);
	assert_int_equal(counts(x).out, 3000);
	assert_int_equal(counts(x).reordered, 0);
	world_free(x);
}

/* ---- the same seed, whatever the turns ---- */

struct result {
	struct dut_counts c;
	struct got *got;
	unsigned ngot;
};

static struct result mixed_run(uint64_t seed, uint64_t step)
{
	static const struct dut_job job = {
		.loss = {.below = BELOW(3)},
		.loss_burst = 2,
		.duplicate = {.below = BELOW(5)},
		.reorder = {.below = BELOW(2)},
		.reorder_by = 3,
		.corrupt = {.below = BELOW(4)},
		.corrupt_at = 40,
		.limited = true,
		.unit_time = (dut_time)120 << 32,
		.queue = 12,
		.delay = 500,
		.spread = 700,
		.max_len = 1200,
	};
	struct dut_job j = job;
	struct result r;
	struct world *x;
	uint64_t at = 8000;

	j.seed = seed;
	any_seed = 7;
	x = world_new(&j, 1, 1024);
	/* Turns end at a multiple of the step, and never before all that was sent until then is in
	 * the ring. */
	x->now = 4000;
	for (unsigned i = 0; i < 8000; i++) {
		at += 60 + any(60);
		put(x, 60 + any(1300), at);
		if (i % 16 == 15)
			run_to(x, at - at % step, step);
		closes(x);
	}
	x->job.sender_idle = true;
	run_to(x, (at / 4000 + 25) * 4000, step);
	closes(x);
	assert_int_equal(counts(x).waiting, 0);
	assert_int_equal(out_of_order(x), counts(x).reordered);
	r = (struct result){.c = counts(x), .got = x->got, .ngot = x->ngot};
	x->got = NULL;
	world_free(x);
	return r;
}

static void test_same_seed(void **state)
{
	struct result a = mixed_run(5, 10), b = mixed_run(5, 4000), c = mixed_run(6, 10);
	unsigned same = 0;

	(void)state;
	assert_int_equal(a.ngot, b.ngot);
	for (unsigned i = 0; i < a.ngot; i++) {
		assert_int_equal(a.got[i].id, b.got[i].id);
		assert_int_equal(a.got[i].spoilt, b.got[i].spoilt);
	}
	/* These numbers depend on when somebody looks. */
	a.c.most_waiting = b.c.most_waiting = a.c.most_cells = b.c.most_cells = 0;
	assert_memory_equal(&a.c, &b.c, sizeof(a.c));
	assert_true(a.c.lost > 0 && a.c.duplicated > 0 && a.c.reordered > 0 && a.c.corrupted > 0 &&
		    a.c.queue_drops > 0 && a.c.too_long > 0);
	for (unsigned i = 0; i < a.ngot && i < c.ngot; i++)
		same += a.got[i].id == c.got[i].id;
	assert_true(same < a.ngot / 2);
	assert_int_not_equal(a.c.lost, c.c.lost);
	free(a.got);
	free(b.got);
	free(c.got);
}

/* ---- which frames ---- */

static struct world *simple_run(const struct dut_job *job, unsigned n, unsigned len)
{
	struct world *x = world_new(job, 1, 1024);

	for (unsigned i = 0; i < n; i++) {
		put(x, len, x->now);
		run_to(x, x->now + 10, 10);
	}
	x->job.sender_idle = true;
	run_to(x, x->now + 10000, 1000);
	closes(x);
	assert_int_equal(counts(x).waiting, 0);
	return x;
}

static void test_loss(void **state)
{
	struct world *x = simple_run(&(struct dut_job){.seed = 1, .loss = {.every = 7}}, 7000, 60);
	uint64_t next = 0, longest = 0, bursts = 0;

	(void)state;
	assert_int_equal(counts(x).lost, 1000);
	for (unsigned i = 0; i < x->ngot; i++)
		assert_int_not_equal((x->got[i].id + 1) % 7, 0);
	world_free(x);

	x = simple_run(&(struct dut_job){.seed = 3, .loss = {.below = BELOW(1)}}, 20000, 60);
	assert_in_range(counts(x).lost, 200 - 70, 200 + 70); /* 5 standard deviations */
	world_free(x);

	x = simple_run(&(struct dut_job){.seed = 3,
					 .loss = {.below = BELOW(0.5)},
					 .loss_burst = 10},
		       20000, 60);
	for (unsigned i = 0; i < x->ngot; i++) {
		uint64_t gap = x->got[i].id - next;
		if (gap > 0) {
			assert_true(gap >= 10); /* two bursts may touch */
			bursts++;
		}
		longest = gap > longest ? gap : longest;
		next = x->got[i].id + 1;
	}
	assert_in_range(bursts, 50, 150);
	assert_true(longest < 40);
	world_free(x);

	x = simple_run(&(struct dut_job){.seed = 1, .fail = true}, 100, 60);
	assert_int_equal(counts(x).failed, 100);
	assert_int_equal(x->ngot, 0);
	world_free(x);
}

static void test_duplicate(void **state)
{
	struct world *x =
		simple_run(&(struct dut_job){.seed = 1, .duplicate = {.every = 5}}, 5000, 60);
	unsigned i = 0;

	(void)state;
	assert_int_equal(counts(x).duplicated, 1000);
	for (uint64_t id = 0; id < 5000; id++) {
		assert_int_equal(x->got[i++].id, id);
		if ((id + 1) % 5 == 0)
			assert_int_equal(x->got[i++].id, id);
	}
	assert_int_equal(counts(x).reordered, 0);
	world_free(x);
}

static void test_corrupt(void **state)
{
	struct world *x =
		simple_run(&(struct dut_job){.seed = 1, .corrupt = {.every = 4}, .corrupt_at = 50},
			   4000, 60);

	(void)state;
	assert_int_equal(counts(x).corrupted, 1000);
	for (unsigned i = 0; i < x->ngot; i++)
		assert_int_equal(x->got[i].spoilt, (x->got[i].id + 1) % 4 == 0);
	world_free(x);
	/* These frames have no such byte. */
	x = simple_run(&(struct dut_job){.seed = 1, .corrupt = {.every = 4}, .corrupt_at = 60}, 400,
		       60);
	assert_int_equal(counts(x).corrupted, 0);
	world_free(x);
}

static void test_mtu(void **state)
{
	struct world *x = world_new(&(struct dut_job){.seed = 1, .max_len = 1000}, 1, 1024);

	(void)state;
	put(x, 1014, x->now);
	put(x, 1015, x->now);
	/* What follows the tag fills the frame, and is no second tag. */
	put_type(x, 0, 0, 1018, x->now, 0x8100);
	put_type(x, 0, 0, 1019, x->now, 0x8100);
	put_type(x, 0, 0, 1018, x->now, 0x88a8);
	run_to(x, x->now + 10, 10);
	assert_int_equal(counts(x).too_long, 2);
	assert_int_equal(x->ngot, 3);
	assert_int_equal(x->got[0].len, 1014);
	assert_int_equal(x->got[1].len, 1018);
	world_free(x);
}

/* The link is up, and down at the end of each period. The time of sending decides, however late
 * anybody looks. */
static void test_flap(void **state)
{
	struct dut_job j = {.seed = 1, .flap_tsc = 2000, .flap_period = 1000, .flap_down = 300};
	struct world *x = world_new(&j, 1, 1024);
	unsigned n = 0;

	(void)state;
	for (uint64_t t = 2000; t < 7000; t += 10) {
		put(x, 60, t);
		if (++n % 100 == 0)
			run_to(x, t + 37, t + 37 - x->now);
	}
	assert_int_equal(counts(x).failed, 5 * 30);
	for (unsigned i = 0; i < x->ngot; i++)
		assert_true(x->got[i].id * 10 % 1000 < 700);
	world_free(x);
}

/* ---- order ---- */

/* Exactly the chosen frames are late, at any rate, and by as many frames as was asked for. */
static void test_reorder(void **state)
{
	(void)state;
	for (unsigned by = 1; by <= 5; by += 2) {
		struct world *x = world_new(&(struct dut_job){.seed = 1,
							      .reorder = {.every = 10},
							      .reorder_by = by},
					    1, 1024);
		for (unsigned i = 0; i < 2004; i++) { /* there is one frame in a very long time */
			put(x, 60, x->now);
			run_to(x, x->now + 1000000, 1000000);
		}
		assert_int_equal(counts(x).reordered, by == 5 ? 199 : 200);
		assert_int_equal(counts(x).held, by == 5);
		x->job.sender_idle = true;
		turn(x);
		receive(x);
		assert_int_equal(x->ngot, 2004);
		assert_int_equal(out_of_order(x), 200);
		assert_int_equal(counts(x).reordered, 200);
		for (unsigned i = 0; i < x->ngot; i++)
			if ((x->got[i].id + 1) % 10 == 0 && x->got[i].id < 1999)
				assert_int_equal(i, x->got[i].id + by);
		world_free(x);
	}
}

/* A frame of another Tx queue does not overtake one that waits. */
static void test_reorder_queues(void **state)
{
	struct world *x =
		world_new(&(struct dut_job){.seed = 1, .reorder = {.every = 1000}, .reorder_by = 1},
			  2, 1024);

	(void)state;
	for (unsigned i = 0; i < 999; i++)
		put_type(x, 0, 0, 60, x->now, 0x0800);
	put_type(x, 1, 1, 60, x->now + 1, 0x0800); /* the thousandth */
	for (unsigned i = 0; i < 100; i++)
		put_type(x, 0, 0, 60, x->now + 2, 0x0800);
	run_to(x, x->now + 100, 10);
	assert_int_equal(counts(x).held, 1);
	put_type(x, 1, 1, 60, x->now, 0x0800);
	run_to(x, x->now + 100, 10);
	assert_int_equal(counts(x).held, 0);
	assert_int_equal(counts(x).reordered, 1);
	assert_int_equal(x->got[x->ngot - 1].id, 999);
	world_free(x);
}

/* No frame comes on the queue of a frame that waits. Those of the other queue go through the
 * device, which has little room. */
static void test_reorder_waits_long(void **state)
{
	struct world *x = world_new(&(struct dut_job){.seed = 1,
						      .reorder = {.every = 10000},
						      .reorder_by = 2,
						      .room = 256},
				    2, 1024);

	(void)state;
	for (unsigned i = 0; i < 20000; i++) {
		put_type(x, i == 9999, i == 9999, 1500, x->now, 0x0800);
		run_to(x, x->now + 10, 10);
	}
	assert_int_equal(counts(x).overflow, 0);
	assert_int_equal(counts(x).held, 2); /* and the last one */
	assert_int_equal(x->ngot, 19998);
	x->job.sender_idle = true;
	turn(x);
	receive(x);
	assert_int_equal(x->ngot, 20000);
	assert_int_equal(out_of_order(x), 1);
	world_free(x);
}

static void test_delay_order(void **state)
{
	struct dut_job j = {.seed = 2, .delay = 1000, .spread = 5000};
	struct world *x;
	uint64_t sum = 0;

	(void)state;
	for (unsigned keep_order = 0; keep_order < 2; keep_order++) {
		j.in_order = keep_order;
		x = world_new(&j, 1, 1024);
		for (unsigned i = 0; i < 5000; i++) {
			put(x, 60, x->now);
			run_to(x, x->now + 100, 10);
		}
		run_to(x, x->now + 10000, 10);
		assert_int_equal(x->ngot, 5000);
		for (unsigned i = 0; i < x->ngot; i++) {
			uint64_t sent = 1000 + x->got[i].id * 100, took = x->got[i].at - sent;
			assert_in_range(took, 1000, keep_order ? 6010 : 6010);
			sum += keep_order ? 0 : took;
		}
		assert_int_equal(counts(x).reordered, out_of_order(x));
		assert_true(keep_order ? counts(x).reordered == 0 : counts(x).reordered > 1000);
		world_free(x);
	}
	/* The bounds are 5 standard deviations of the mean, and a turn. */
	assert_in_range(sum / 5000, 3500 - 105, 3500 + 110);
}

/* A table says which share of the delays lies below which value. Each of its parts occurs as often
 * as it says. */
static void test_law(void **state)
{
	struct dut_law *law = zeroed(sizeof(*law));
	unsigned in[10] = {0};
	struct world *x;

	(void)state;
	for (unsigned i = 0; i <= DUT_STEPS; i++) {
		law->mid[i] = 1000 + i * 10;
		law->low[i] = 1000 + i * 10 / DUT_STEPS;
		law->high[i] = 1000 + (DUT_STEPS - 1) * 10 + i * 10 / DUT_STEPS;
	}
	x = world_new(&(struct dut_job){.seed = 2, .law = law}, 1, 1024);
	for (unsigned i = 0; i < 20000; i++) {
		put(x, 60, x->now);
		run_to(x, x->now + 100, 20);
	}
	run_to(x, x->now + 20000, 20);
	assert_int_equal(x->ngot, 20000);
	for (unsigned i = 0; i < x->ngot; i++) {
		uint64_t took = x->got[i].at - (1000 + x->got[i].id * 100);
		assert_in_range(took, 1000, 1000 + DUT_STEPS * 10 + 20);
		in[RTE_MIN((took - 1000) / (DUT_STEPS + 2), 9)]++;
	}
	for (unsigned i = 0; i < 10; i++)
		assert_in_range(in[i], 2000 - 215, 2000 + 215);
	world_free(x);
	free(law);
}

/* ---- the knee ---- */

/* Computes by itself what a queue does with a frame every `gap`, each served in `service`, and with
 * at most `queue` frames inside. Returns how many of n frames are lost; *first gets the first of
 * them. */
static uint64_t expected_loss(uint64_t gap, uint64_t service, uint64_t queue, uint64_t n,
			      uint64_t *first)
{
	uint64_t let_in = 0, lost = 0, *done = calloc(n, sizeof(*done)), served = 0;

	for (uint64_t k = 0; k < n; k++) {
		uint64_t t = k * gap;
		while (served < let_in && done[served] <= t)
			served++;
		if (let_in - served >= queue) {
			if (lost++ == 0)
				*first = k;
			continue;
		}
		done[let_in] =
			(let_in > 0 && done[let_in - 1] > t ? done[let_in - 1] : t) + service;
		let_in++;
	}
	free(done);
	return lost;
}

static void test_knee(void **state)
{
	static const struct {
		uint64_t gap, service, queue;
	} at[] = {{80, 100, 512}, {50, 100, 64}, {99, 100, 32}, {100, 100, 1}, {7, 100, 512}};
	const uint64_t n = 20000;

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(at); i++) {
		struct dut_job j = {.seed = 1,
				    .limited = true,
				    .unit_time = (dut_time)at[i].service << 32,
				    .queue = (uint32_t)at[i].queue};
		struct world *x = world_new(&j, 1, 1024);
		uint64_t t0 = x->now, first = n;
		for (uint64_t k = 0; k < n; k++) {
			put(x, 60, t0 + k * at[i].gap);
			if (k % 100 == 99) /* nobody looks during a hundred frames */
				run_to(x, t0 + k * at[i].gap, t0 + k * at[i].gap - x->now);
		}
		run_to(x, x->now + 1000000, 1000);
		uint64_t lost = expected_loss(at[i].gap, at[i].service, at[i].queue, n, &first);
		struct dut_counts c = counts(x);
		assert_int_equal(c.queue_drops, lost);
		assert_int_equal(c.out, n - lost);
		/* What is known of such a device: the loss is 1 - K/load, and the longest burst
		 * without loss is Q load / (load - K). */
		double load = 1.0 / (double)at[i].gap, knee = 1.0 / (double)at[i].service,
		       share = (double)lost / (double)n;
		double over = load > knee ? 1 - knee / load : 0;
		assert_true(share <= over + 1e-9 &&
			    share >= over - (double)(at[i].queue + 1) / (double)n);
		if (lost > 0) {
			double burst = (double)at[i].queue * load / (load - knee);
			unsigned gone = 0;
			while (gone < x->ngot && x->got[gone].id == gone)
				gone++;
			assert_int_equal(gone, first);
			assert_true((double)first >= burst - load / (load - knee) - 1 &&
				    (double)first <= burst + load / (load - knee) + 1);
		}
		world_free(x);
	}
}

/* Below the knee all frames take the same time: delay and service. */
static void test_latency(void **state)
{
	struct dut_job j = {.seed = 1,
			    .limited = true,
			    .unit_time = (dut_time)100 << 32,
			    .queue = 512,
			    .delay = 5000};
	struct world *x = world_new(&j, 1, 1024);

	(void)state;
	for (unsigned k = 0; k < 2000; k++) {
		put(x, 60, x->now);
		run_to(x, x->now + 120, 1);
	}
	run_to(x, x->now + 10000, 1);
	assert_int_equal(x->ngot, 2000);
	for (unsigned i = 0; i < x->ngot; i++)
		assert_int_equal(x->got[i].at - (1000 + x->got[i].id * 120), 5100);
	world_free(x);
}

/* A limit in bits counts the bytes that a frame takes on the wire. No fraction is lost, as with 1/3
 * of a cycle for a byte. */
static void test_bits(void **state)
{
	struct dut_job j = {.seed = 1,
			    .limited = true,
			    .by_bytes = true,
			    .unit_time = ((dut_time)1 << 32) / 3,
			    .more_bytes = 24,
			    .queue = 4096};
	struct world *x = world_new(&j, 1, 1024);
	uint64_t bytes = 0, t0 = x->now;

	(void)state;
	for (unsigned i = 0; i < 1000; i++) {
		unsigned len = 60 + any(1000);
		put(x, len, t0);
		bytes += len + 24;
		run_to(x, t0 + bytes / 3, 1);
		if (bytes / 3 > x->now - t0)
			fail();
		/* At most a third of a cycle is rounded away in 1000 frames. */
		assert_true(x->ngot + 1 >= i);
	}
	run_to(x, t0 + bytes / 3 + 2, 1);
	assert_int_equal(x->ngot, 1000);
	world_free(x);
}

/* ---- memory ---- */

/* A slow receiver loses nothing, because the sender has to wait. */
static void test_blocked(void **state)
{
	struct world *x = world_new(&(struct dut_job){.seed = 1}, 2, 64);
	unsigned sent = 0;

	(void)state;
	while (x->ngot < 6000) {
		while (sent < 6000 && rte_ring_free_count(x->line.in[sent % 2]) > 0 &&
		       rte_mempool_avail_count(x->theirs) > 10) {
			put_type(x, sent % 2, sent % 2, 60 + any(500), x->now, 0x0800);
			sent++;
		}
		x->now += 10;
		turn(x);
		turn(x);
		closes(x);
		if (any(3) == 0)
			receive(x);
	}
	assert_int_equal(counts(x).out, 6000);
	assert_int_equal(counts(x).overflow, 0);
	for (unsigned i = 0; i < x->ngot; i++) {
		assert_int_equal(x->got[i].ring, x->got[i].id % 2);
		assert_false(x->got[i].spoilt);
	}
	world_free(x);
}

/* There is little room, which changes while frames of all sizes and times are inside. No byte of
 * another frame comes out, and each loss is counted. */
static void test_room(void **state)
{
	struct dut_job j = {.seed = 1, .delay = 200, .spread = 3000, .room = 300};
	struct world *x = world_new(&j, 1, 1024);

	(void)state;
	for (unsigned i = 0; i < 30000; i++) {
		put(x, 60 + any(any(4) == 0 ? 1400 : 100), x->now);
		if (i % 64 == 63)
			x->job.room = 40 + any(600);
		run_to(x, x->now + 20, 20);
		closes(x);
		assert_true(counts(x).most_cells <= 640);
	}
	run_to(x, x->now + 10000, 20);
	struct dut_counts c = counts(x);
	assert_int_equal(c.waiting, 0);
	assert_true(c.overflow > 100 && c.out > 10000);
	for (unsigned i = 0; i < x->ngot; i++)
		assert_false(x->got[i].spoilt);
	assert_int_equal(x->s->used, 0);
	world_free(x);
}

/* What is inside when the device is closed is counted, and its buffers are back in their pool,
 * which world_free() checks. */
static void test_closed(void **state)
{
	struct world *x =
		world_new(&(struct dut_job){.seed = 1, .delay = 1000000, .reorder = {.every = 10}},
			  1, 1024);

	(void)state;
	for (unsigned i = 0; i < 500; i++)
		put(x, 60, x->now);
	run_to(x, x->now + 10, 10);
	run_to(x, x->now + 10, 10);
	assert_int_equal(counts(x).waiting, 500);
	dp_kind_dut.drop(&x->w, &x->task, x->now);
	assert_int_equal(counts(x).flushed, 500);
	assert_int_equal(counts(x).waiting, 0);
	world_free(x);
}

/* A new delay holds for the frames that come. Frames that are inside keep theirs. */
static void test_change(void **state)
{
	struct dut_job j = {.seed = 1, .delay = 10000};
	struct world *x = world_new(&j, 1, 1024);

	(void)state;
	put(x, 60, x->now);
	run_to(x, x->now + 10, 10);
	j.delay = 100;
	world_job(x, &j);
	put(x, 60, x->now);
	run_to(x, x->now + 200, 10);
	assert_int_equal(x->ngot, 1);
	assert_int_equal(x->got[0].id, 1);
	run_to(x, x->now + 10000, 10);
	assert_int_equal(x->got[1].id, 0);
	assert_int_equal(x->got[1].at, 11000);
	assert_int_equal(counts(x).reordered, 1);
	world_free(x);
}

/* Frames come out of several rings in the order of their sending, so that they share a queue as
 * they would on a wire. */
static void test_merge(void **state)
{
	struct dut_job j = {.seed = 1,
			    .limited = true,
			    .unit_time = (dut_time)10 << 32,
			    .queue = 4096};
	struct world *x = world_new(&j, 4, 1024);

	(void)state;
	for (unsigned i = 0; i < 1000; i++) {
		unsigned r = any(4);
		put_type(x, r, r, 60, 2000 + i, 0x0800);
	}
	run_to(x, 20000, 1);
	assert_int_equal(x->ngot, 1000);
	for (unsigned i = 0; i < 1000; i++) {
		assert_int_equal(x->got[i].id, i);
		assert_int_equal(x->got[i].at, 2000 + (i + 1) * 10);
	}
	world_free(x);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain),          cmocka_unit_test(test_same_seed),
		cmocka_unit_test(test_loss),           cmocka_unit_test(test_duplicate),
		cmocka_unit_test(test_corrupt),        cmocka_unit_test(test_mtu),
		cmocka_unit_test(test_flap),           cmocka_unit_test(test_reorder),
		cmocka_unit_test(test_reorder_queues), cmocka_unit_test(test_reorder_waits_long),
		cmocka_unit_test(test_delay_order),    cmocka_unit_test(test_law),
		cmocka_unit_test(test_knee),           cmocka_unit_test(test_latency),
		cmocka_unit_test(test_bits),           cmocka_unit_test(test_blocked),
		cmocka_unit_test(test_room),           cmocka_unit_test(test_closed),
		cmocka_unit_test(test_change),         cmocka_unit_test(test_merge),
	};
	int rc = eal_or_skip(argv[argc - 1]);

	return rc != 0 ? rc : cmocka_run_group_tests(tests, NULL, NULL);
}
