/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the pure parts of lb: how many tuples settings come to, which ones a trial gets, what
 * numbers a command has printed, and what counters say of a device. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>

#include "cmd/lb_device.h"
#include "cmd/lb_judge.h"
#include "cmd/lb_tuples.h"

#define S 1000000000ull

static struct lb_side side(const char *src, const char *sport, const char *dst, const char *dport)
{
	struct lb_side s = {0};

	sbuf_add(&s.src, src);
	sbuf_add(&s.sport, sport);
	sbuf_add(&s.dst, dst);
	sbuf_add(&s.dport, dport);
	return s;
}

static void test_how_many(void **state)
{
	static const struct {
		const char *src, *sport, *dst, *dport;
		uint64_t n;
	} of[] = {
		{"10.0.0.1", "1024..65535", "10.9.0.1", "80", 64512},
		{"10.0.0.1..10.0.0.16", "1024..65535", "10.9.0.1", "80", 16ull * 64512},
		{"10.0.0.0/24", "5", "10.9.0.1", "80", 256},
		{"2001:db8::1..2001:db8::4", "5", "2001:db8:9::1", "80", 4},
		{"10.0.0.1", "1..9 step 2", "list 10.9.0.1,10.9.0.7..10.9.0.9", "80,8080",
		 5ull * 4 * 2},
		{"10.0.0.1", "9..1", "10.9.0.1:2,10.9.0.2:1", "80:2,81:1", 9ull * 2 * 2},
		{"", "1..4", "", "80", 4},
		{"0.0.0.0/0", "1024..65535", "0.0.0.0/0", "1024..65535", UINT64_MAX},
	};

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(of); i++) {
		struct lb_side s = side(of[i].src, of[i].sport, of[i].dst, of[i].dport);
		assert_int_equal(lb_tuples(&s), of[i].n);
		lb_side_free(&s);
	}
}

static void nth_is(const char *text, unsigned i, const char *want)
{
	struct sbuf got = {0};

	assert_int_equal(lb_nth_value(text, i, &got), want != NULL);
	assert_string_equal(sbuf_str(&got), want != NULL ? want : "");
	sbuf_free(&got);
}

static void test_values(void **state)
{
	(void)state;
	nth_is("10.0.0.254..10.0.1.3", 0, "10.0.0.254");
	nth_is("10.0.0.254..10.0.1.3", 3, "10.0.1.1");
	nth_is("10.0.0.254..10.0.1.3", 6, NULL);
	nth_is("list 10.0.0.9:3,10.0.0.1..10.0.0.2,10.0.0.7", 0, "10.0.0.9");
	nth_is("list 10.0.0.9:3,10.0.0.1..10.0.0.2,10.0.0.7", 2, "10.0.0.2");
	nth_is("list 10.0.0.9:3,10.0.0.1..10.0.0.2,10.0.0.7", 3, "10.0.0.7");
	nth_is("2001:db8::fffe..2001:db8::1:3", 2, "2001:db8::1:0");
	nth_is("[2001:db8::1]:2,2001:db8::7", 0, "2001:db8::1");
	nth_is("[2001:db8::1]:2,2001:db8::7", 1, "2001:db8::7");
	nth_is("10.0.0.1..10.0.0.9 step 2", 0, "10.0.0.1");
	nth_is("10.0.0.1..10.0.0.9 step 2", 1, NULL);
	nth_is("", 0, NULL);
}

/* Each trial goes on behind the last one, and nobody gets what was used within the timeout. */
static void test_turns(void **state)
{
	struct lb_side s = side("10.0.0.1..10.0.0.2", "1000..1999", "10.9.0.1", "80");
	struct lb_ring r;
	uint64_t from;

	(void)state;
	lb_ring_begin(&r, &s);
	assert_true(r.turns && r.n == 1000 && r.per == 2);
	assert_true(lb_ring_take(&r, 800, 10 * S, 60 * S, &from) && from == 1000);
	uint64_t first = r.given;
	assert_true(first * r.per >= 800 && first < 1000 && lb_ring_room(&r) >= 800);
	lb_ring_took(&r, 800, 12 * S);
	/* the next one begins behind those, and the third finds too few until the first are free */
	assert_true(lb_ring_take(&r, 400, 13 * S, 60 * S, &from) && from == 1000 + first);
	lb_ring_took(&r, 400, 20 * S);
	assert_false(lb_ring_take(&r, 800, 71 * S, 60 * S, &from));
	assert_true(lb_ring_take(&r, 800, 72 * S, 60 * S, &from));
	assert_true(from > 1000 + first);
	/* as it is in use, nothing of it is free, however late it is */
	assert_false(lb_ring_take(&r, 1200, 10000 * S, 60 * S, &from));
	lb_ring_took(&r, 800, 10000 * S);
	assert_true(lb_ring_take(&r, 1e9, 10060 * S, 60 * S, &from) && lb_ring_room(&r) == 2000);
	/* of all that were taken few were used: the others are for the next one at once */
	lb_ring_took(&r, 2, 10061 * S);
	assert_true(lb_ring_take(&r, 1500, 10061 * S, 60 * S, &from));
	lb_ring_took(&r, 1500, 10062 * S);
	/* somebody else has used all */
	lb_ring_all(&r, 20000 * S);
	assert_false(lb_ring_take(&r, 1, 20059 * S, 60 * S, &from));
	assert_true(lb_ring_take(&r, 1, 20060 * S, 60 * S, &from));
	lb_side_free(&s);
}

/* Places of any two takes that overlap in time, or lie within the timeout, are different. */
static void test_never_twice(void **state)
{
	struct lb_side s = side("10.0.0.1", "5000..5099", "10.9.0.1", "80");
	uint64_t last[100] = {0}, now = 1000 * S, from;
	struct lb_ring r;
	uint32_t x = 7;
	unsigned took = 0;

	(void)state;
	lb_ring_begin(&r, &s);
	for (unsigned i = 0; i < 100000; i++) {
		x = x * 1664525 + 1013904223;
		now += (x >> 8) % 3 * (S / 100);
		if (!lb_ring_take(&r, x >> 28, now, S, &from))
			continue;
		took++;
		unsigned used = 1 + (x >> 20 & 7);
		if (used > r.given)
			used = (unsigned)r.given;
		for (uint64_t k = 0; k < used; k++) {
			uint64_t place = (from - 5000 + k) % 100;
			assert_true(last[place] == 0 || now - last[place] >= S);
			last[place] = now + S / 100;
		}
		now += S / 100;
		lb_ring_took(&r, used, now);
	}
	assert_true(took > 1000);
	lb_side_free(&s);
}

/* What has no one order of source ports has no turns: all tuples are one place. */
static void test_no_turns(void **state)
{
	static const struct {
		const char *sport, *dst;
		bool nested;
	} of[] = {
		{"1000..1999 step 2", "10.9.0.1", false},
		{"1000,2000", "10.9.0.1", false},
		{"random 1000..1999", "10.9.0.1", false},
		{"1000", "10.9.0.1", false},
		{"1000..1999", "10.9.0.1", true},
		{"1000..1999", "10.9.0.1:2,10.9.0.2", false},
		{"1000..1999", "[2001:db8::1]:3", false},
	};
	uint64_t from;

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(of); i++) {
		struct lb_side s = side("10.0.0.1", of[i].sport, of[i].dst, "80");
		struct lb_ring r;
		s.nested = of[i].nested;
		lb_ring_begin(&r, &s);
		assert_false(r.turns);
		assert_true(lb_ring_take(&r, 1, S, 5 * S, &from));
		lb_ring_took(&r, 1, 2 * S);
		assert_false(lb_ring_take(&r, 1, 6 * S, 5 * S, &from));
		assert_true(lb_ring_take(&r, 1, 7 * S, 5 * S, &from));
		lb_side_free(&s);
	}
	struct lb_side s = side("2001:db8::1", "1000..1999", "2001:db8::9", "80");
	struct lb_ring r;
	lb_ring_begin(&r, &s);
	assert_true(r.turns);
	lb_side_free(&s);
}

static void test_number(void **state)
{
	static const char *const bad[] = {"",      "\n",      "-1",
					  "12 13", "12x",     "0x12",
					  "1e3",   "1.5",     "99999999999999999999",
					  "1 2 0", "1 2 3 4", "1 2 3 4 5",
					  "1 2 x", "1 of 3"};
	struct lb_told t;

	(void)state;
	assert_true(lb_device_numbers(" 12345\n", &t) && t.opened == 12345 && !t.holds);
	assert_true(lb_device_numbers("18446744073709551615", &t) && t.opened == UINT64_MAX);
	assert_true(lb_device_numbers("12345 400\n262144\n", &t) && t.opened == 12345 && t.holds &&
		    t.held == 400 && t.room == 262144);
	assert_true(lb_device_numbers("0 0 1", &t) && t.holds && t.held == 0 && t.room == 1);
	for (unsigned i = 0; i < ARRAY_SIZE(bad); i++)
		assert_false(lb_device_numbers(bad[i], &t));
}

/* 20,000 connections in the first half of a trial and as many in the second: the device keeps up as
 * long as those that are open do not become more, and a few more are on their way in any case. */
static void test_falls_behind(void **state)
{
	static const struct {
		uint64_t mid_open, end_open;
		double late;
		bool behind;
	} of[] = {
		{40, 40, 0, false},
		/* it was behind before, and is as far behind at the end */
		{8000, 8000, 0, false},
		{8000, 100, 0, false},
		/* 64 and 4 % of 20,000 */
		{100, 100 + 864, 0, false},
		{100, 100 + 865, 0, true},
		{10000, 20000, 0, true},
		/* our own workers stood still while 5,000 were due */
		{100, 100 + 5864, 5000, false},
		{100, 100 + 5865, 5000, true},
	};

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(of); i++) {
		struct lb_open mid = {.begun = 20000, .open = of[i].mid_open},
			       end = {.begun = 40000, .open = of[i].end_open};
		assert_int_equal(lb_falls_behind(&mid, &end, of[i].late), of[i].behind);
	}
	/* a few more in a short trial are none: 4 % of 100 would be 4 */
	struct lb_open mid = {.begun = 100, .open = 10}, end = {.begun = 200, .open = 78},
		       none = {0};
	assert_false(lb_falls_behind(&mid, &end, 0));
	end.open++;
	assert_true(lb_falls_behind(&mid, &end, 0));
	/* nobody looked in the middle */
	assert_false(lb_falls_behind(&none, &end, 0));
}

/* Control is to look every few milliseconds. Here it looks at these times, in milliseconds, at a
 * device that opens 20,000 connections per second and serves 10,000, for a second. */
static void watch(const unsigned *ms, unsigned n, struct lb_watch *w)
{
	*w = (struct lb_watch){0};
	for (unsigned i = 0; i < n; i++)
		lb_watch_look(w,
			      &(struct lb_open){.begun = 20ull * ms[i],
						.open = 10ull * ms[i],
						.ns = ms[i] * (S / 1000)},
			      0, S);
}

static void test_watched(void **state)
{
	static const struct {
		unsigned ms[4], n;
		bool watched, behind;
	} of[] = {
		{{0}, 0, false, false},
		{{499}, 1, false, false},
		/* it slept through the second half, or all of it but one moment */
		{{499, 999}, 2, false, false},
		/* an eighth of the second half and 10 ms may be unseen, wherever that is */
		{{500, 928}, 2, true, true},
		{{500, 927}, 2, false, true},
		{{100, 572, 999}, 3, false, true},
		{{100, 571, 999}, 3, true, true},
		{{100, 500, 700, 999}, 4, true, true},
	};
	struct lb_watch w;

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(of); i++) {
		watch(of[i].ms, of[i].n, &w);
		assert_int_equal(lb_watched(&w, S), of[i].watched);
		assert_int_equal(lb_falls_behind(&w.mid, &w.end, 0), of[i].behind);
	}
	/* a look that took too long is none: others ended while it was made */
	lb_watch_look(&w, &(struct lb_open){.begun = 20000, .open = 1, .ns = S}, 10000001, S);
	assert_int_equal(w.end.open, 9990);
	lb_watch_look(&w, &(struct lb_open){.begun = 20000, .open = 10000, .ns = S}, 10000000, S);
	assert_int_equal(w.end.open, 10000);
	/* in so short a trial there is nothing to see */
	w = (struct lb_watch){0};
	assert_true(lb_watched(&w, 22 * (S / 1000)));
	assert_false(lb_watched(&w, 24 * (S / 1000)));
}

/* What fails is not held against the device where a worker of ours stood still for longer than
 * anybody sees otherwise, and what it may have left lying does not count as the device's. */
static void test_stood_still(void **state)
{
	struct trial_worker w[] = {{.lcore = 1}, {.lcore = 2}};
	struct trial_result res = {.nworkers = ARRAY_SIZE(w), .worker = w};

	(void)state;
	assert_null(lb_stood_still(&res));
	assert_int_equal(lb_late_ns(&res), 10000000);
	w[0].longest_ns = 10000000;
	w[1].waited_ns = 3 * S;
	assert_null(lb_stood_still(&res));
	assert_int_equal(lb_late_ns(&res), 3 * S);
	w[0].longest_ns++;
	assert_ptr_equal(lb_stood_still(&res), &w[0]);
	w[1].longest_ns = 2 * S;
	assert_ptr_equal(lb_stood_still(&res), &w[1]);
	assert_int_equal(lb_late_ns(&res), 5 * S);
}

/* A worker that was busy all the time is known as that although control looked late. */
static void test_busy(void **state)
{
	(void)state;
	assert_float_equal(lb_busy_most(0.9, S, S), 0.9, 1e-9);
	assert_float_equal(lb_busy_most(0.9, S + 10000000, S), 0.9, 1e-9);
	assert_float_equal(lb_busy_most(0.8, S + S / 4, S), 1, 1e-9);
	assert_float_equal(lb_busy_most(0.4, S + S / 4, S), 0.5, 1e-9);
	assert_float_equal(lb_busy_most(0.9, 2 * S, S), 1, 1e-9);
	assert_true(isnan(lb_busy_most(NAN, S, S)));
}

static void test_holds(void **state)
{
	static const struct {
		double open, counted, held, room;
		enum lb_hold is;
	} of[] = {
		/* nobody says anything */
		{1000, NAN, NAN, NAN, LB_HOLDS},
		{1000, 1000, NAN, NAN, LB_HOLDS},
		/* one of a hundred may be somebody else's */
		{1000, 1010, NAN, NAN, LB_HOLDS},
		{1000, 1011, NAN, NAN, LB_FORGETS},
		{1000, 900, NAN, NAN, LB_HOLDS},
		/* with a table: as many as it has room for, and one more */
		{262144, 262144, 262144, 262144, LB_HOLDS},
		{262145, 262145, 262144, 262144, LB_IS_FULL},
		{262145, 262145, 260000, 262144, LB_IS_FULL},
		{262145, 300000, 262144, 262144, LB_IS_FULL},
		{200000, 300000, 262144, 262144, LB_FORGETS},
		/* it was never full: what it says is not about these connections */
		{300000, 300000, 5, 262144, LB_HOLDS},
		{300000, 400000, 5, 262144, LB_FORGETS},
	};

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(of); i++) {
		struct lb_said said = {.counted = of[i].counted,
				       .held = of[i].held,
				       .room = of[i].room};
		assert_int_equal(lb_holds(of[i].open, &said), of[i].is);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_how_many),     cmocka_unit_test(test_values),
		cmocka_unit_test(test_turns),        cmocka_unit_test(test_never_twice),
		cmocka_unit_test(test_no_turns),     cmocka_unit_test(test_number),
		cmocka_unit_test(test_falls_behind), cmocka_unit_test(test_watched),
		cmocka_unit_test(test_stood_still),  cmocka_unit_test(test_busy),
		cmocka_unit_test(test_holds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
