/* SPDX-License-Identifier: BSD-3-Clause */
/* Connections over networks that lose, double, reorder, delay and damage frames. */
#include "flow_world.h"
#include "seed.h"

static uint64_t seed;

/* What a network does, in 1/1000 of the frames. */
struct weather {
	unsigned lose, twice, late, damage;
};

static bool bad_weather(struct world *w, unsigned from, struct world_frame *f)
{
	const struct weather *x = w->arg;
	struct world_frame copy;

	(void)from;
	if (world_random(w) % 1000 < x->lose)
		return false;
	if (world_random(w) % 1000 < x->late)
		f->when += world_random(w) % (10 * w->delay);
	if (world_random(w) % 1000 < x->twice) {
		copy = *f;
		copy.when += world_random(w) % (5 * w->delay);
		world_post(w, &copy);
	}
	if (world_random(w) % 1000 < x->damage)
		f->data[14 + world_random(w) % (f->len - 14)] ^=
			(uint8_t)(1 + world_random(w) % 255);
	return true;
}

static const struct wl_bytes_conf some = {.request = WL_FIXED(3000),
					  .response = WL_FIXED(40000),
					  .transactions = 3,
					  .close = WL_CLOSE_FIN};

/* All transactions end well, unless the network is so bad that connections time out. */
static void weather_run(struct weather x, bool sack, enum flow_congestion cc, unsigned n)
{
	struct world *w = world_new(&(struct world_setup){
		.wl = &wl_bytes, .conf = &some, .verify = true, .fill = WL_FILL_PATTERN});
	const struct flow_counts *c = &w->end[0].counts, *s = &w->end[1].counts;

	w->random = seed * 0x9e3779b97f4a7c15ull | 1;
	w->arg = &x;
	w->fault = bad_weather;
	for (unsigned i = 0; i < 2; i++) {
		w->end[i].spec.sack = sack;
		w->end[i].spec.congestion = cc;
		w->end[i].spec.rto_ns = 5 * MS;
		w->end[i].spec.retries = 14;
	}
	world_adopt(w);
	for (unsigned i = 0; i < n; i++) {
		assert_int_equal(flow_open(w->end[0].m, w->end[0].version, 1, w->now, 0, w->now),
				 1);
		world_run(w, w->now + 100000);
		world_sums(w);
	}
	assert_true(world_run(w, w->now + 10000 * SECOND));
	printf("rtx %lu/%lu rto %lu/%lu fast %lu/%lu tail %lu/%lu ooo %lu dup %lu bad %lu unkept %lu\n",
	       c->retransmitted, s->retransmitted, c->rto, s->rto, c->fast_recovery,
	       s->fast_recovery, c->tail_probe, s->tail_probe, c->out_of_order, c->duplicate,
	       c->bad_checksum, c->not_kept);
	assert_int_equal(w->end[0].transactions.mismatched, 0);
	assert_int_equal(w->end[1].transactions.mismatched, 0);
	assert_int_equal(w->end[0].transactions.failed, 0);
	assert_int_equal(w->end[0].transactions.done, 3 * n);
	assert_int_equal(c->closed, n);
	assert_int_equal(s->closed, s->established);
	world_empty(w);
	world_free(w);
}

#define WEATHER(name, ...) \
	static void name(void **state) \
	{ \
		const struct weather x = {__VA_ARGS__}; \
		(void)state; \
		weather_run(x, true, FLOW_CUBIC, 100); \
		weather_run(x, true, FLOW_NEWRENO, 100); \
		weather_run(x, false, FLOW_NEWRENO, 100); \
		weather_run(x, false, FLOW_NO_CONGESTION, 100); \
	}
WEATHER(test_loss_1, .lose = 10)
WEATHER(test_loss_10, .lose = 100)
WEATHER(test_twice, .twice = 100)
WEATHER(test_reorder, .late = 100)
WEATHER(test_damage, .damage = 20)
WEATHER(test_all, .lose = 20, .twice = 20, .late = 50, .damage = 10)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_loss_1), cmocka_unit_test(test_loss_10),
		cmocka_unit_test(test_twice),  cmocka_unit_test(test_reorder),
		cmocka_unit_test(test_damage), cmocka_unit_test(test_all),
	};

	seed = test_seed();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
