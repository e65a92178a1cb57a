/* SPDX-License-Identifier: BSD-3-Clause */
/* Addresses and neighbours of hosts: what they try, learn, ask and forget. */
#include "neigh_world.h"

/* ---- addresses ---- */

static void test_nobody_else_has_them(void **state)
{
	uint8_t f[ROOM];

	(void)state;
	/* the group of the address first (neigh_mld_test.c), so that switches forward to it */
	assert_int_equal(neigh_take(w.a, f), 14 + 40 + 8 + 28);
	assert_int_equal(neigh_take(w.a, f), NEIGH_FRAME_MIN);
	/* RFC 5227: from nobody, for our address, to all */
	assert_memory_equal(f, everybody, 6);
	assert_memory_equal(f + 20, "\0\1\2\0\0\0\0\1\0\0\0\0\0\0\0\0\0\0\12\0\0\1", 22);
	/* RFC 4862: from ::, to the group of the address, without an option */
	assert_int_equal(neigh_take(w.a, f), 14 + 40 + 24);
	assert_memory_equal(f, "\x33\x33\xff\0\0\1", 6);
	assert_int_equal(f[21], 255);
	assert_int_equal(sum6_slow(f + 14), 0);
	assert_int_equal(neigh_take(w.a, f), 0);
	assert_false(self_of(w.a)->own[0].usable);
	assert_int_equal(give(w.a, f, put_arp(f, everybody, 1, mac_b, 2, 1)), 0);
	pass(S - 1);
	assert_int_equal(neigh_own_state(w.a, 0), NEIGH_TENTATIVE);
	pass(1);
	assert_int_equal(neigh_own_state(w.a, 0), NEIGH_USED);
	assert_int_equal(neigh_own_state(w.a, 1), NEIGH_USED);
	assert_int_equal(give(w.a, f, put_arp(f, everybody, 1, mac_b, 2, 1)), NEIGH_FRAME_MIN);
}

static void test_two_want_the_same(void **state)
{
	struct neigh_setup b = setup_of(mac_b, 1);
	struct neigh_news news;
	uint8_t f[ROOM];

	(void)state;
	pass(2 * S);
	neigh_set(w.b, &b, w.now);
	pass(2 * S);
	/* who was there before has answered, and keeps it */
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(neigh_own_state(w.a, i), NEIGH_USED);
		assert_int_equal(neigh_own_state(w.b, i), NEIGH_DUPLICATE);
		assert_true(neigh_news(w.b, &news));
		assert_int_equal(news.kind, NEIGH_NEWS_DUPLICATE);
		assert_memory_equal(news.mac, mac_a, 6);
	}
	assert_false(neigh_news(w.b, &news));
	assert_false(neigh_news(w.a, &news));
	assert_int_equal(give(w.b, f, put_arp(f, everybody, 1, mac_c, 3, 1)), 0);
	/* somebody who does not ask */
	for (unsigned i = 0; i < 100; i++)
		give(w.a, f, put_arp(f, everybody, 2, mac_c, 1, 1));
	assert_int_equal(w.fate[0][NEIGH_CLAIM], 100);
	assert_true(neigh_news(w.a, &news));
	assert_int_equal(news.kind, NEIGH_NEWS_CLAIM);
	assert_memory_equal(news.mac, mac_c, 6);
	assert_false(neigh_news(w.a, &news)); /* told once, and defended once */
	assert_int_equal(neigh_take(w.a, f), NEIGH_FRAME_MIN);
	assert_int_equal(neigh_take(w.a, f), 0);
	assert_int_equal(neigh_own_state(w.a, 0), NEIGH_USED);
}

/* An advertisement need not say where its sender is; people are told whose frame it was. */
static void test_a_claim_without_an_option(void **state)
{
	struct neigh_news news;
	struct neigh_entry e;
	uint8_t f[ROOM], ip[NEIGH_IP];

	(void)state;
	pass(2 * S);
	while (neigh_news(w.a, &news))
		;
	put_nd(f, ND_ADVERT, 0x20, NULL, 3, 1, 1);
	give(w.a, f, 14 + 40 + 24);
	assert_true(neigh_news(w.a, &news));
	assert_int_equal(news.kind, NEIGH_NEWS_CLAIM);
	assert_memory_equal(news.mac, mac_c, 6);
	/* of a neighbour nothing is learned from it */
	ip6(ip, 7);
	put_nd(f, ND_ADVERT, 0x20, NULL, 7, 1, 7);
	give(w.a, f, 14 + 40 + 24);
	assert_false(find(w.a, ip, &e));
}

/* No address is used before the question for it had room to leave. */
static void test_none_is_used_unasked(void **state)
{
	struct neigh_setup a = setup_of(mac_a, 1);
	uint8_t f[ROOM];

	(void)state;
	alone();
	pass(2 * S);
	while (neigh_counts(w.a)->overtaken == 0) /* nobody takes what it says */
		neigh_announce(w.a);
	a.nown = 3;
	a.own[2].bits = 64;
	ip6(a.own[2].ip, 8);
	neigh_set(w.a, &a, w.now);
	for (unsigned i = 0; i < 30; i++) {
		w.now += S / 10;
		neigh_turn(w.a, w.now);
	}
	assert_int_equal(neigh_own_state(w.a, 2), NEIGH_TENTATIVE);
	while (neigh_take(w.a, f) > 0)
		;
	uint64_t before = neigh_counts(w.a)->probes;
	w.now += S / 10;
	neigh_turn(w.a, w.now);
	assert_int_equal(neigh_counts(w.a)->probes, before + 1);
	pass(S - 1);
	assert_int_equal(neigh_own_state(w.a, 2), NEIGH_TENTATIVE);
	pass(1);
	assert_int_equal(neigh_own_state(w.a, 2), NEIGH_USED);
}

/* Where we do not answer who tries our address, he takes it, and people are told. */
static void test_tried_in_silence(void **state)
{
	struct neigh_setup a = setup_of(mac_a, 1);
	struct neigh_news news;
	uint8_t f[ROOM];

	(void)state;
	pass(2 * S);
	assert_int_equal(give(w.a, f, put_arp(f, everybody, 1, mac_c, 0, 1)), NEIGH_FRAME_MIN);
	assert_false(neigh_news(w.a, &news));
	a.answer = NEIGH_ANSWER_ND;
	neigh_set(w.a, &a, w.now);
	assert_int_equal(give(w.a, f, put_arp(f, everybody, 1, mac_c, 0, 1)), 0);
	assert_true(neigh_news(w.a, &news));
	assert_int_equal(news.kind, NEIGH_NEWS_CLAIM);
	assert_memory_equal(news.mac, mac_c, 6);
}

/* While the link was away, somebody may have taken an address, or left one. */
static void test_the_link_was_away(void **state)
{
	struct neigh_setup b = setup_of(mac_b, 1);
	uint8_t f[ROOM];

	(void)state;
	pass(2 * S);
	w.cut = true;
	neigh_set(w.b, &b, w.now);
	pass(2 * S);
	w.cut = false;
	neigh_relink(w.a, w.now);
	assert_int_equal(give(w.a, f, put_arp(f, mac_a, 1, mac_c, 3, 1)), 0);
	pass(2 * S);
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(neigh_own_state(w.a, i), NEIGH_DUPLICATE);
	b = setup_of(mac_b, 2);
	neigh_set(w.b, &b, w.now);
	neigh_relink(w.a, w.now);
	uint64_t before = w.from_a;
	pass(2 * S);
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(neigh_own_state(w.a, i), NEIGH_USED);
	assert_int_equal(w.from_a - before, 2 + 2 + 2); /* asked, announced; its group, twice */
}

static void test_both_begin_at_once(void **state)
{
	struct neigh_setup b = setup_of(mac_b, 1);

	(void)state;
	neigh_set(w.b, &b, w.now);
	pass(3 * S);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(neigh_own_state(w.a, i), NEIGH_DUPLICATE);
		assert_int_equal(neigh_own_state(w.b, i), NEIGH_DUPLICATE);
	}
}

static void test_link_local(void **state)
{
	uint8_t ip[NEIGH_IP], other[NEIGH_IP];

	(void)state;
	neigh_link_local(mac_a, ip);
	neigh_link_local(mac_b, other);
	assert_memory_equal(ip, "\xfe\x80\0\0\0\0\0\0", 8);
	assert_memory_not_equal(ip, other, NEIGH_IP);
	assert_int_equal(ip[8] & 2, 0);
	assert_memory_not_equal(ip + 11, "\xff\xfe", 2); /* what a kernel puts there */
}

/* ---- neighbours ---- */

static void want_b(unsigned nfixed)
{
	struct neigh_setup a = setup_of(mac_a, 1);

	a.nwanted = 2;
	ip4(a.wanted[0], 2);
	ip6(a.wanted[1], 2);
	a.nstatic = nfixed;
	ip4(a.fixed[0].ip, 9);
	memcpy(a.fixed[0].mac, mac_c, 6);
	neigh_set(w.a, &a, w.now);
}

static void each_state(unsigned which)
{
	struct neigh_setup a = setup_of(mac_a, 1);
	struct neigh_news news;
	struct neigh_entry e;

	struct neigh_setup wants = a;
	const uint8_t *b = self_of(w.b)->own[which].ip;

	pass(2 * S);
	wants.nwanted = 1;
	memcpy(wants.wanted[0], b, NEIGH_IP);
	neigh_set(w.a, &wants, w.now);
	assert_true(find(w.a, b, &e));
	assert_int_equal(e.state, NEIGH_INCOMPLETE);
	pass(S);
	assert_true(find(w.a, b, &e));
	assert_int_equal(e.state, NEIGH_REACHABLE);
	assert_memory_equal(e.mac, mac_b, 6);
	/* 15 to 45 s later it is stale, in use, and asked 5 s after that */
	pass(15 * S - (w.now - e.since));
	assert_int_equal(state_of(w.a, b), NEIGH_REACHABLE);
	while (state_of(w.a, b) == NEIGH_REACHABLE)
		pass(S / 10);
	assert_true(w.now - e.since <= 45 * S + S / 5);
	assert_int_equal(state_of(w.a, b), NEIGH_DELAY);
	w.cut = true;
	pass(5 * S);
	assert_int_equal(state_of(w.a, b), NEIGH_PROBE);
	pass(2 * S);
	assert_int_equal(state_of(w.a, b), NEIGH_PROBE);
	w.cut = false;
	pass(S / 2);
	assert_int_equal(state_of(w.a, b), NEIGH_PROBE); /* its third question is yet to come */
	assert_false(neigh_news(w.a, &news));
	w.cut = true;
	while (state_of(w.a, b) != NEIGH_FAILED)
		pass(S / 10);
	assert_true(neigh_news(w.a, &news));
	assert_int_equal(news.kind, NEIGH_NEWS_FAILED);
	/* one question a second for as long as it is wanted */
	uint64_t before = w.from_a;
	pass(100 * S);
	assert_in_range(w.from_a - before, 99, 101);
	w.cut = false;
	pass(2 * S);
	assert_int_equal(state_of(w.a, b), NEIGH_REACHABLE);
	/* when nobody wants it, it is asked no more */
	neigh_set(w.a, &a, w.now);
	pass(60 * S);
	before = w.from_a;
	pass(600 * S);
	assert_int_equal(state_of(w.a, b), NEIGH_STALE);
	assert_int_equal(w.from_a, before);
}

static void test_states_of_arp(void **state)
{
	(void)state;
	each_state(0);
}

static void test_states_of_nd(void **state)
{
	(void)state;
	each_state(1);
}

/* A gateway that does not answer and is taken away is asked no more. */
static void test_failed_and_unwanted(void **state)
{
	struct neigh_setup a = setup_of(mac_a, 1);
	struct neigh_news news;
	uint8_t ip[NEIGH_IP];

	(void)state;
	alone();
	pass(2 * S);
	want_b(0);
	pass(10 * S);
	ip4(ip, 2);
	assert_int_equal(state_of(w.a, ip), NEIGH_FAILED);
	while (neigh_news(w.a, &news))
		assert_int_equal(news.kind, NEIGH_NEWS_FAILED);
	neigh_set(w.a, &a, w.now);
	uint64_t before = neigh_counts(w.a)->probes;
	pass(100 * S);
	assert_int_equal(neigh_counts(w.a)->probes, before);
	assert_int_equal(neigh_due(w.a), NEIGH_NEVER);
	want_b(0); /* and asked at once when it is wanted again */
	pass(1);
	assert_int_equal(neigh_counts(w.a)->probes, before + 2);
}

/* 24 h: it is asked now and then, never twice within a second, and is never lost. */
static void test_a_day(void **state)
{
	struct neigh_news news;

	(void)state;
	pass(2 * S);
	want_b(0);
	pass(S);
	uint64_t before = neigh_counts(w.a)->probes, end_of_day = w.now + 86400 * S;
	while (w.now < end_of_day) {
		uint64_t minute = neigh_counts(w.a)->probes;
		pass(60 * S);
		assert_true(neigh_counts(w.a)->probes - minute <= 2 * 4);
	}
	/* from 15 + 5 to 45 + 5 s between two questions, for each of both */
	assert_in_range(neigh_counts(w.a)->probes - before, 2 * 86400 / 51, 2 * 86400 / 20);
	assert_false(neigh_news(w.a, &news));
}

static void test_it_has_moved(void **state)
{
	struct neigh_news news;
	struct neigh_entry e;
	uint8_t f[ROOM], b[NEIGH_IP];

	(void)state;
	pass(2 * S);
	want_b(0);
	pass(2 * S);
	give(w.a, f, put_arp(f, everybody, 1, mac_c, 2, 2)); /* gratuitous */
	ip4(b, 2);
	assert_true(find(w.a, b, &e));
	assert_memory_equal(e.mac, mac_c, 6);
	assert_true(neigh_news(w.a, &news));
	assert_int_equal(news.kind, NEIGH_NEWS_MOVED);
	ip6(b, 2);
	give(w.a, f, put_nd(f, ND_ADVERT, 0, mac_c, 2, 1, 2)); /* does not override */
	assert_true(find(w.a, b, &e));
	assert_memory_equal(e.mac, mac_b, 6);
	assert_int_equal(e.state, NEIGH_DELAY); /* but it is in doubt */
	give(w.a, f, put_nd(f, ND_ADVERT, 0x20, mac_c, 2, 1, 2));
	assert_true(find(w.a, b, &e));
	assert_memory_equal(e.mac, mac_c, 6);
	/* Nobody answers there. After three questions all are asked, and it is found. */
	pass(7 * S);
	assert_int_equal(state_of(w.a, b), NEIGH_PROBE);
	pass(2 * S);
	assert_true(find(w.a, b, &e));
	assert_int_equal(e.state, NEIGH_REACHABLE);
	assert_memory_equal(e.mac, mac_b, 6);
}

/* Neighbours of streams: looked for at a start, kept while frames go to them, and then let go. */
static void test_sought_and_used(void **state)
{
	struct neigh_news news;
	struct neigh_entry e;
	uint8_t f[ROOM], b[NEIGH_IP], nobody[NEIGH_IP];

	(void)state;
	ip4(b, 2);
	ip4(nobody, 77);
	assert_false(neigh_find(w.a, b, &e));
	/* Its question waits until it has an address to come from. */
	assert_true(neigh_seek(w.a, b, w.now) && neigh_seek(w.a, nobody, w.now));
	pass(S / 2);
	assert_true(neigh_find(w.a, b, &e));
	assert_int_equal(e.state, NEIGH_INCOMPLETE);
	pass(3 * S);
	assert_true(neigh_find(w.a, b, &e));
	assert_true(e.has_mac);
	assert_memory_equal(e.mac, mac_b, 6);
	assert_int_equal(state_of(w.a, nobody), NEIGH_INCOMPLETE);
	pass(S);
	assert_int_equal(state_of(w.a, nobody), NEIGH_FAILED);
	assert_false(neigh_news(w.a, &news)); /* the start tells it */
	uint64_t before = neigh_counts(w.a)->probes;
	pass(60 * S);
	assert_int_equal(neigh_counts(w.a)->probes, before);
	assert_int_equal(state_of(w.a, b), NEIGH_STALE);
	/* One that was asked in vain is asked anew by whoever has something for it. */
	assert_true(neigh_wake(w.a, nobody, w.now));
	assert_int_equal(state_of(w.a, nobody), NEIGH_INCOMPLETE);
	pass(4 * S);
	assert_int_equal(state_of(w.a, nobody), NEIGH_FAILED);
	neigh_use(w.a, nobody, w.now);
	assert_int_equal(state_of(w.a, nobody), NEIGH_INCOMPLETE);
	neigh_release(w.a);
	pass(4 * S);
	/* What was known is not believed at the next start. */
	w.cut = true;
	assert_true(neigh_seek(w.a, b, w.now));
	assert_true(neigh_find(w.a, b, &e));
	assert_false(e.has_mac);
	w.cut = false;
	pass(2 * S);
	assert_int_equal(state_of(w.a, b), NEIGH_REACHABLE);
	neigh_use(w.a, b, w.now);
	before = neigh_counts(w.a)->probes;
	pass(120 * S);
	assert_true(neigh_counts(w.a)->probes > before);
	assert_true(neigh_find(w.a, b, &e));
	assert_true(e.has_mac && !e.wanted);
	give(w.a, f, put_arp(f, everybody, 1, mac_c, 2, 2)); /* gratuitous */
	assert_true(neigh_news(w.a, &news));
	assert_int_equal(news.kind, NEIGH_NEWS_MOVED);
	alone();
	while (state_of(w.a, b) != NEIGH_FAILED)
		pass(S / 10);
	assert_true(neigh_news(w.a, &news));
	assert_int_equal(news.kind, NEIGH_NEWS_FAILED);
	neigh_release(w.a);
	pass(5 * S);
	before = neigh_counts(w.a)->probes;
	pass(60 * S);
	assert_int_equal(neigh_counts(w.a)->probes, before);
}

/* As many as a port may send to are asked within a second of the first question, although few wait
 * to be sent at a time; and each is asked no more than three times. */
static void test_thousands_are_sought(void **state)
{
	struct neigh_setup a = setup_of(mac_a, 1), b = setup_of(mac_b, 2);
	uint8_t ip[NEIGH_IP];
	struct neigh_entry e;
	unsigned known = 0;

	(void)state;
	a.own[0].bits = b.own[0].bits = 96 + 16;
	b.nproxy = 1;
	ip4(b.proxy[0].ip, 0);
	b.proxy[0].ip[14] = 8;
	b.proxy[0].bits = 96 + 21; /* 10.0.8.0/21 */
	neigh_set(w.a, &a, w.now);
	neigh_set(w.b, &b, w.now);
	pass(2 * S);
	uint64_t probes = neigh_counts(w.a)->probes, moves = neigh_moves(w.a);
	for (unsigned i = 0; i < 4096; i++) { /* half of them have nobody who answers */
		ip4(ip, i);
		ip[14] = (uint8_t)(8 + (i >> 8));
		assert_true(neigh_seek(w.a, ip, w.now));
	}
	pass(S);
	for (unsigned i = 0; i < NEIGH_MAX; i++)
		known += neigh_entry(w.a, i, &e) && e.has_mac;
	assert_int_equal(known, 2048);
	assert_int_equal(neigh_moves(w.a), moves + 2048);
	pass(5 * S);
	assert_int_equal(neigh_counts(w.a)->probes - probes, 2048 + 3 * 2048);
	ip4(ip, 255);
	ip[14] = 8 + 15;
	assert_int_equal(state_of(w.a, ip), NEIGH_FAILED);
}

static void test_static_and_cleared(void **state)
{
	struct neigh_entry e;
	uint8_t f[ROOM], ip[NEIGH_IP];

	(void)state;
	pass(2 * S);
	want_b(1);
	pass(2 * S);
	give(w.a, f, put_arp(f, everybody, 1, mac_b, 9, 1));
	ip4(ip, 9);
	assert_true(find(w.a, ip, &e));
	assert_int_equal(e.state, NEIGH_STATIC);
	assert_memory_equal(e.mac, mac_c, 6);
	assert_int_equal(neigh_forget(w.a, w.now), 2);
	assert_true(find(w.a, ip, &e));
	ip4(ip, 2);
	assert_int_equal(state_of(w.a, ip), NEIGH_INCOMPLETE);
	pass(S);
	assert_int_equal(state_of(w.a, ip), NEIGH_REACHABLE);
	want_b(0);
	assert_int_equal(count(w.a), 2);
}

static void test_a_flood_is_bounded(void **state)
{
	struct neigh_setup a = setup_of(mac_a, 1);
	uint8_t f[ROOM], ip[NEIGH_IP];

	(void)state;
	a.own[0].bits = 96 + 8;
	alone();
	neigh_set(w.a, &a, w.now);
	pass(2 * S);
	a.nwanted = 1;
	ip4(a.wanted[0], 2);
	neigh_set(w.a, &a, w.now);
	/* answers that nobody has asked for teach nothing */
	for (unsigned i = 0; i < 5000; i++) {
		put_arp(f, mac_a, 2, mac_c, 3, 1);
		f[29] = (uint8_t)(i >> 8);
		f[30] = (uint8_t)i;
		f[31] = 77;
		give(w.a, f, NEIGH_FRAME_MIN);
	}
	assert_int_equal(count(w.a), 1);
	assert_int_equal(neigh_counts(w.a)->unasked, 5000);
	for (unsigned i = 0; i < 50000; i++) {
		put_arp(f, everybody, 1, mac_c, 3, 1);
		f[29] = (uint8_t)(1 + (i >> 16));
		f[30] = (uint8_t)(i >> 8);
		f[31] = (uint8_t)i;
		give(w.a, f, NEIGH_FRAME_MIN);
	}
	assert_int_equal(count(w.a), NEIGH_MAX);
	assert_int_equal(neigh_counts(w.a)->evicted, 50000 - (NEIGH_MAX - 1));
	ip4(ip, 2);
	assert_int_not_equal(state_of(w.a, ip), NEIGH_STALE); /* who is wanted stays */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_nobody_else_has_them),
		TEST(test_two_want_the_same),
		TEST(test_a_claim_without_an_option),
		TEST(test_none_is_used_unasked),
		TEST(test_tried_in_silence),
		TEST(test_the_link_was_away),
		TEST(test_both_begin_at_once),
		TEST(test_link_local),
		TEST(test_states_of_arp),
		TEST(test_states_of_nd),
		TEST(test_failed_and_unwanted),
		TEST(test_a_day),
		TEST(test_it_has_moved),
		TEST(test_sought_and_used),
		TEST(test_thousands_are_sought),
		TEST(test_static_and_cleared),
		TEST(test_a_flood_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
