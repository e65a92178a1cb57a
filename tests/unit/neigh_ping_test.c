/* SPDX-License-Identifier: BSD-3-Clause */
/* Pings: their way, their frames, what is taken for an answer, and what became of each request,
 * with made time. */
#include <math.h>

#include "neigh_ping.h"
#include "neigh_world.h"

#define MS 1000000ull

static struct neigh_ping ping_of(bool six, bool link)
{
	struct neigh_ping p = {.id = 0x1234, .link = link};

	(six ? ip6 : ip4)(p.from, 1);
	(six ? ip6 : ip4)(p.to, 2);
	return p;
}

/* ---- the way ---- */

static void test_the_way(void **state)
{
	struct neigh_setup s = setup_of(mac_a, 1);
	struct neigh_own own[3] = {{.bits = s.own[0].bits}, {.bits = s.own[1].bits}, {.bits = 64}};
	uint8_t gateway[2][NEIGH_IP], to[NEIGH_IP];
	struct neigh_way way;

	(void)state;
	ip4(own[0].ip, 1);
	ip6(own[1].ip, 1);
	memcpy(own[2].ip, (const uint8_t[NEIGH_IP]){0xfe, 0x80, [15] = 9}, NEIGH_IP);
	ip4(gateway[0], 254);
	memcpy(gateway[1], (const uint8_t[NEIGH_IP]){0xfe, 0x80, [15] = 1}, NEIGH_IP);
	ip4(to, 2);
	assert_int_equal(neigh_way_find(own, 3, gateway, 2, to, false, &way), NEIGH_WAY);
	assert_memory_equal(way.next, to, NEIGH_IP);
	assert_memory_equal(way.from, own[0].ip, NEIGH_IP);
	ip4(to, 1);
	assert_int_equal(neigh_way_find(own, 3, gateway, 2, to, false, &way), NEIGH_WAY_SELF);
	ip4(to, 255);
	assert_int_equal(neigh_way_find(own, 3, gateway, 2, to, false, &way), NEIGH_WAY_ALL);
	assert_int_equal(neigh_way_find(own, 3, gateway, 2, to, true, &way), NEIGH_WAY_ALL);
	ip4(to, 1);
	to[12] = 11; /* 11.0.0.1 */
	assert_int_equal(neigh_way_find(own, 3, gateway, 2, to, false, &way), NEIGH_WAY);
	assert_memory_equal(way.next, gateway[0], NEIGH_IP);
	assert_memory_equal(way.from, own[0].ip, NEIGH_IP);
	assert_int_equal(neigh_way_find(own, 3, gateway, 2, to, true, &way), NEIGH_WAY_NONE);
	assert_int_equal(neigh_way_find(own, 3, gateway, 0, to, false, &way), NEIGH_WAY_NONE);
	assert_int_equal(neigh_way_find(own + 1, 2, gateway, 2, to, false, &way), NEIGH_WAY_FAMILY);
	/* through a link-local gateway, from an address that the other end can answer */
	ip6(to, 7);
	to[0] = 0x20;
	assert_int_equal(neigh_way_find(own, 3, gateway, 2, to, false, &way), NEIGH_WAY);
	assert_memory_equal(way.next, gateway[1], NEIGH_IP);
	assert_memory_equal(way.from, own[1].ip, NEIGH_IP);
	memcpy(to, (const uint8_t[NEIGH_IP]){0xfe, 0x80, [15] = 3}, NEIGH_IP);
	assert_int_equal(neigh_way_find(own, 3, gateway, 2, to, true, &way), NEIGH_WAY);
	assert_memory_equal(way.from, own[2].ip, NEIGH_IP);
	assert_int_equal(neigh_way_find(own, 2, gateway, 2, to, false, &way), NEIGH_WAY_NONE);
}

/* ---- frames ---- */

/* The other host answers what we build, and the answer is taken, byte by byte. */
static void test_asked_and_answered(void **state)
{
	uint8_t f[ROOM], was[ROOM];
	uint16_t first;

	(void)state;
	pass(2 * S);
	for (unsigned six = 0; six < 2; six++)
		for (unsigned more = 0; more < 40; more++) {
			struct neigh_ping p = ping_of(six, false);
			unsigned len = neigh_ping_least(self_of(w.a), p.to) + more;
			uint64_t number = 0xfedcba9800000000ull + 77 * more;
			unsigned at = neigh_ping_frame(self_of(w.a), &p, mac_b, 64, f, len, &first);
			neigh_ping_number(f + at, first, number);
			assert_int_equal(six ? sum6_slow(f + 14) : sum_slow(f + at, len - at, 0),
					 0);
			assert_false(neigh_pong_wants(self_of(w.a), &p, f, len));
			assert_int_equal(give(w.b, f, len), len);
			for (unsigned n = 0; n < len; n++)
				neigh_pong_wants(self_of(w.a), &p, f, n);
			assert_true(neigh_pong_wants(self_of(w.a), &p, f, len));
			struct neigh_pong got = neigh_pong_judge(self_of(w.a), &p, f, len);
			assert_int_equal(got.kind, NEIGH_PONG_ANSWER);
			assert_true(got.whole && got.number == number);
			assert_int_equal(got.hops, 64);
			assert_memory_equal(got.ip, p.to, NEIGH_IP);
			assert_memory_equal(got.mac, mac_b, 6);
			/* shorter than it says, and with a wrong bit behind the identifier */
			assert_int_equal(neigh_pong_judge(self_of(w.a), &p, f, at + 12).kind,
					 NEIGH_PONG_DAMAGED);
			for (unsigned i = at + 6; i < (more > 0 ? len : at + 16); i++) {
				memcpy(was, f, len);
				was[i] ^= 4;
				assert_int_equal(neigh_pong_judge(self_of(w.a), &p, was, len).kind,
						 NEIGH_PONG_DAMAGED);
			}
		}
}

/* What is not ours is left to others; what carries our identifier and is from elsewhere is told. */
static void test_of_others(void **state)
{
	struct neigh_ping p = ping_of(false, false), other = p;
	uint8_t f[ROOM];
	uint16_t first;

	(void)state;
	pass(2 * S);
	other.id++;
	unsigned len = neigh_ping_least(self_of(w.a), p.to);
	unsigned at = neigh_ping_frame(self_of(w.a), &other, mac_b, 64, f, len, &first);
	neigh_ping_number(f + at, first, 1);
	assert_int_equal(give(w.b, f, len), len);
	assert_false(neigh_pong_wants(self_of(w.a), &p, f, len));
	assert_true(neigh_pong_wants(self_of(w.a), &other, f, len));
	ip4(other.to, 3);
	assert_int_equal(neigh_pong_judge(self_of(w.a), &other, f, len).kind, NEIGH_PONG_FOREIGN);
	f[5]++; /* for another MAC address */
	assert_false(neigh_pong_wants(self_of(w.a), &other, f, len));
}

/* An ICMP error about a request that quotes so many bytes of it. */
static unsigned put_error(uint8_t *f, const struct neigh_ping *p, unsigned type, unsigned code,
			  unsigned quoted, uint64_t number)
{
	bool six = !neigh_is_ip4(p->to);
	uint8_t request[ROOM];
	uint16_t first;
	unsigned len = neigh_ping_least(self_of(w.a), p->to) + 8;
	unsigned at = neigh_ping_frame(self_of(w.a), p, mac_c, 64, request, len, &first);

	neigh_ping_number(request + at, first, number);
	unsigned n = put_ping(f, six, quoted);
	uint8_t *icmp = f + n - quoted - 8;
	memcpy(icmp, (const uint8_t[8]){(uint8_t)type, (uint8_t)code, 0, 0, 0, 0, 0x05, 0x00}, 8);
	memcpy(icmp + 8, request + 14, quoted);
	uint16_t sum = neigh_sum(icmp, 8 + quoted, six ? neigh_sum_ip6(f + 14, 8 + quoted) : 0);
	memcpy(icmp + 2, &sum, 2);
	return n;
}

static void test_errors(void **state)
{
	static const struct {
		bool six;
		unsigned type, code, mtu;
		const char *name;
	} cases[] = {{false, 3, 1, 0, "host unreachable"}, {false, 3, 13, 0, "prohibited"},
		     {false, 3, 200, 0, "unreachable"},    {false, 3, 4, 1280, "too big"},
		     {false, 11, 0, 0, "time exceeded"},   {false, 12, 0, 0, "parameter problem"},
		     {true, 1, 0, 0, "no route"},          {true, 1, 3, 0, "host unreachable"},
		     {true, 2, 0, 1280, "too big"},        {true, 3, 0, 0, "time exceeded"}};
	uint8_t f[ROOM];

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct neigh_ping p = ping_of(cases[i].six, false);
		unsigned head = cases[i].six ? 40 : 20;
		/* as little as RFC 792 has a router quote, and enough for the whole number */
		for (unsigned more = 8; more <= 16; more += 8) {
			unsigned len = put_error(f, &p, cases[i].type, cases[i].code, head + more,
						 0x70005);
			assert_true(neigh_pong_wants(self_of(w.a), &p, f, len));
			struct neigh_pong got = neigh_pong_judge(self_of(w.a), &p, f, len);
			assert_int_equal(got.kind, NEIGH_PONG_ERROR);
			assert_int_equal(got.number, more == 16 ? 0x70005 : 5);
			assert_int_equal(got.whole, more == 16);
			assert_int_equal(got.mtu, cases[i].mtu);
			assert_string_equal(neigh_pong_error(&got), cases[i].name);
			for (unsigned n = 0; n <= len; n++)
				neigh_pong_wants(self_of(w.a), &p, f, n);
		}
		unsigned len = put_error(f, &p, cases[i].type, cases[i].code, head + 4, 5);
		assert_false(neigh_pong_wants(self_of(w.a), &p, f, len));
		struct neigh_ping other = p;
		other.id ^= 1;
		len = put_error(f, &p, cases[i].type, cases[i].code, head + 16, 5);
		assert_false(neigh_pong_wants(self_of(w.a), &other, f, len));
	}
}

static void test_of_the_link(void **state)
{
	uint8_t f[ROOM];

	(void)state;
	pass(2 * S);
	for (unsigned six = 0; six < 2; six++) {
		struct neigh_ping p = ping_of(six, true);
		unsigned len = neigh_ping_ask(self_of(w.a), &p, f);
		assert_false(neigh_pong_wants(self_of(w.a), &p, f, len));
		len = give(w.b, f, len);
		assert_true(len > 0 && neigh_pong_wants(self_of(w.a), &p, f, len));
		struct neigh_pong got = neigh_pong_judge(self_of(w.a), &p, f, len);
		assert_int_equal(got.kind, NEIGH_PONG_ANSWER);
		assert_memory_equal(got.mac, mac_b, 6);
		p.to[15] = 9; /* somebody else was asked for */
		assert_false(neigh_pong_wants(self_of(w.a), &p, f, len));
	}
}

/* ---- neighbours that are sought ---- */

static void test_a_neighbour_is_sought(void **state)
{
	struct neigh_entry e;
	uint8_t ip[NEIGH_IP];

	(void)state;
	alone();
	pass(2 * S);
	ip4(ip, 2);
	assert_false(neigh_find(w.a, ip, &e));
	for (unsigned round = 0; round < 2; round++) {
		uint64_t asked = neigh_counts(w.a)->probes;
		assert_true(neigh_wake(w.a, ip, w.now));
		assert_true(neigh_wake(w.a, ip, w.now)); /* which asks no more often */
		pass(S);
		assert_true(neigh_find(w.a, ip, &e) && e.state == NEIGH_INCOMPLETE);
		pass(3 * S);
		assert_true(neigh_find(w.a, ip, &e) && e.state == NEIGH_FAILED);
		assert_int_equal(neigh_counts(w.a)->probes, asked + 3);
		pass(10 * S);
		assert_int_equal(neigh_counts(w.a)->probes, asked + 3);
	}
}

static void test_a_stale_one_is_confirmed(void **state)
{
	struct neigh_entry e;
	uint8_t ip[NEIGH_IP];

	(void)state;
	pass(2 * S);
	ip4(ip, 2);
	assert_true(neigh_wake(w.a, ip, w.now));
	pass(1);
	assert_true(neigh_find(w.a, ip, &e) && e.state == NEIGH_REACHABLE);
	pass(60 * S);
	assert_true(neigh_find(w.a, ip, &e) && e.state == NEIGH_STALE && e.has_mac);
	assert_true(neigh_wake(w.a, ip, w.now));
	assert_true(neigh_find(w.a, ip, &e) && e.state == NEIGH_DELAY && e.has_mac);
	pass(6 * S);
	assert_true(neigh_find(w.a, ip, &e) && e.state == NEIGH_REACHABLE);
}

/* ---- what became of requests ---- */

static struct {
	struct neigh_pings *p;
	unsigned told[5];
	uint64_t number, rtt_ns; /* of the last */
} q;

static uint64_t as_it_is(uint64_t ticks)
{
	return ticks;
}

static void told(void *arg, const struct neigh_pings_news *n)
{
	(void)arg;
	q.told[n->kind]++;
	q.number = n->number;
	q.rtt_ns = n->rtt_ns;
}

static int pings_begin(void **state)
{
	(void)state;
	memset(&q, 0, sizeof(q));
	q.p = neigh_pings_new(S, as_it_is, told, NULL);
	return 0;
}

static int pings_end(void **state)
{
	(void)state;
	neigh_pings_free(q.p);
	return 0;
}

static void answer(uint64_t number, uint64_t at)
{
	neigh_pings_heard(q.p,
			  &(struct neigh_pong){.kind = NEIGH_PONG_ANSWER,
					       .whole = true,
					       .number = number},
			  true, at);
}

static void error(uint64_t number, bool whole, uint64_t at)
{
	neigh_pings_heard(q.p,
			  &(struct neigh_pong){.kind = NEIGH_PONG_ERROR,
					       .whole = whole,
					       .number = whole ? number : (uint16_t)number},
			  true, at);
}

/* All members of the sum, and those beside it. */
static void check(uint64_t sent, uint64_t received, uint64_t late, uint64_t errors, uint64_t lost,
		  uint64_t duplicates, uint64_t foreign)
{
	const struct neigh_pings_counts *k = neigh_pings_counts(q.p);

	assert_int_equal(k->sent, sent);
	assert_int_equal(k->received, received);
	assert_int_equal(k->late, late);
	assert_int_equal(k->errors, errors);
	assert_int_equal(k->lost, lost);
	assert_int_equal(k->open, sent - received - late - errors - lost);
	assert_int_equal(k->duplicates, duplicates);
	assert_int_equal(k->foreign, foreign);
}

static void test_each_request_has_one_fate(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 5; i++)
		neigh_pings_sent(q.p, i * 100 * MS);
	answer(1, 100 * MS + 7);
	assert_int_equal(q.rtt_ns, 7);
	answer(0, 300 * MS);
	check(5, 2, 0, 0, 0, 0, 0);
	answer(1, 200 * MS);
	answer(1, 5 * S);
	assert_int_equal(q.told[NEIGH_PINGS_DUPLICATE], 2);
	check(5, 2, 0, 0, 0, 2, 0);
	error(2, true, 250 * MS);
	answer(2, 260 * MS); /* after all; it has its fate already */
	check(5, 2, 0, 1, 0, 3, 0);
	neigh_pings_turn(q.p, 300 * MS + S - 1);
	check(5, 2, 0, 1, 0, 3, 0);
	neigh_pings_turn(q.p, 300 * MS + S);
	check(5, 2, 0, 1, 1, 3, 0);
	assert_int_equal(q.number, 3);
	answer(3, 3 * S);
	assert_int_equal(q.told[NEIGH_PINGS_LATE], 1);
	check(5, 2, 1, 1, 0, 3, 0);
	/* Control saw it late, but it had come in time. */
	neigh_pings_turn(q.p, 9 * S);
	check(5, 2, 1, 1, 1, 3, 0);
	answer(4, 400 * MS + S - 1);
	check(5, 3, 1, 1, 0, 3, 0);
	const struct neigh_pings_counts *k = neigh_pings_counts(q.p);
	assert_true(k->min_ns == 7 && k->max_ns == S - 1);
	assert_int_equal(hist_count(neigh_pings_rtt(q.p)), 3);
	assert_true(fabs(hist_mean(neigh_pings_rtt(q.p)) - (7 + 300 * MS + S - 1) / 3.0) < 1);
}

static void test_what_was_not_asked(void **state)
{
	(void)state;
	answer(0, 1);
	error(0, false, 1);
	neigh_pings_sent(q.p, 100);
	answer(1, 200);
	answer(0, 99); /* before it was asked */
	neigh_pings_heard(q.p, &(struct neigh_pong){.kind = NEIGH_PONG_FOREIGN, .whole = true},
			  true, 200);
	check(1, 0, 0, 0, 0, 0, 5);
	neigh_pings_heard(q.p, &(struct neigh_pong){.kind = NEIGH_PONG_DAMAGED}, true, 200);
	assert_int_equal(neigh_pings_counts(q.p)->damaged, 1);
	error(0, false, 200);
	check(1, 0, 0, 1, 0, 0, 5);
}

static void test_not_taken_by_the_device(void **state)
{
	(void)state;
	neigh_pings_unsent(q.p);
	neigh_pings_sent(q.p, 100);
	neigh_pings_unsent(q.p);
	check(0, 0, 0, 0, 0, 0, 0);
	neigh_pings_sent(q.p, 200);
	answer(0, 210);
	assert_int_equal(q.rtt_ns, 10);
	check(1, 1, 0, 0, 0, 0, 0);
}

/* The 16 bits of a header are used again and again. */
static void test_numbers_wrap(void **state)
{
	(void)state;
	for (uint64_t i = 0; i < 200000; i++) {
		neigh_pings_sent(q.p, i * 20000);
		if (i % 1000 == 999)
			continue;
		answer(i, i * 20000 + 5);
		assert_int_equal(q.rtt_ns, 5);
		neigh_pings_turn(q.p, i * 20000 + 5);
	}
	/* of the last second, 51 are still waited for */
	check(200000, 199800, 0, 0, 149, 0, 0);
	answer(200000 - 65536 - 1, 200000ull * 20000); /* it is not remembered */
	check(200000, 199800, 0, 0, 149, 0, 1);
	/* An error that quotes 16 bits is about the newest request that has them. */
	error(199999, false, 200000ull * 20000);
	assert_int_equal(q.number, 199999);
	check(200000, 199800, 0, 1, 149, 0, 1);
	error(199999 - 65535, false, 200000ull * 20000);
	assert_int_equal(q.number, 199999 - 65535);
	check(200000, 199800, 0, 1, 149, 1, 1);
	neigh_pings_turn(q.p, 100 * S);
	check(200000, 199800, 0, 1, 199, 1, 1);
}

/* Requests that nobody answers, so many in the wait that their numbers come back. */
static void test_numbers_come_back_too_soon(void **state)
{
	(void)state;
	for (uint64_t i = 0; i < 65536 + 10; i++)
		neigh_pings_sent(q.p, i);
	check(65546, 0, 0, 0, 10, 0, 0);
	neigh_pings_turn(q.p, 9 * S);
	check(65546, 0, 0, 0, 65546, 0, 0);
}

/* Answers of ARP have no number: each is to the newest question before it. */
static void test_without_numbers(void **state)
{
	const struct neigh_pong pong = {.kind = NEIGH_PONG_ANSWER};

	(void)state;
	neigh_pings_heard(q.p, &pong, false, 50);
	for (unsigned i = 0; i < 3; i++)
		neigh_pings_sent(q.p, 100 + i * 100);
	neigh_pings_heard(q.p, &pong, false, 50);
	neigh_pings_heard(q.p, &pong, false, 110);
	assert_true(q.number == 0 && q.rtt_ns == 10);
	neigh_pings_heard(q.p, &pong, false, 120); /* two have the address */
	neigh_pings_heard(q.p, &pong, false, 399);
	assert_int_equal(q.number, 2);
	check(3, 2, 0, 0, 0, 1, 2);
}

/* Headers that a frame has in front of an IP packet, whose bytes say nothing of it. */
static unsigned put_behind(uint8_t *f, const uint8_t *ip, unsigned len, unsigned outer)
{
	for (unsigned i = 0; i < outer; i++)
		f[i] = (uint8_t)(i * 7 + 1);
	memcpy(f + outer, ip, len);
	return outer + len;
}

static void test_behind_other_headers(void **state)
{
	uint8_t f[ROOM], g[ROOM];
	uint16_t first;

	(void)state;
	pass(2 * S);
	for (unsigned six = 0; six < 2; six++) {
		struct neigh_ping p = ping_of(six, false), other;
		unsigned len = neigh_ping_least(self_of(w.a), p.to) + 3;
		unsigned at = neigh_ping_frame(self_of(w.a), &p, mac_b, 64, f, len, &first);
		neigh_ping_number(f + at, first, 70000);
		assert_int_equal(give(w.b, f, len), len);
		p.inside = true;
		other = p;
		other.id++;
		for (unsigned outer = 14; outer < NEIGH_PONG_SEARCH + 8; outer++) {
			unsigned n = put_behind(g, f + 14, len - 14, outer);
			bool seen = outer + (six ? 40 : 20) <= NEIGH_PONG_SEARCH;
			assert_int_equal(neigh_pong_wants(self_of(w.a), &p, g, n), seen);
			assert_false(neigh_pong_wants(self_of(w.a), &other, g, n));
			if (!seen)
				continue;
			struct neigh_pong got = neigh_pong_judge(self_of(w.a), &p, g, n);
			assert_int_equal(got.kind, NEIGH_PONG_ANSWER);
			assert_int_equal(got.number, 70000);
			assert_memory_equal(got.ip, p.to, NEIGH_IP);
			g[n - 1] ^= 1;
			assert_int_equal(neigh_pong_judge(self_of(w.a), &p, g, n).kind,
					 NEIGH_PONG_DAMAGED);
		}
		for (unsigned n = 0; n < len; n++)
			neigh_pong_wants(self_of(w.a), &p, f, n);
	}
}

/* A router on the way has no use for the outer header, and quotes it with the request. */
static void test_an_error_about_the_outer_header(void **state)
{
	struct neigh_ping p = ping_of(true, false);
	uint8_t f[ROOM] = {0}, request[ROOM];
	uint16_t first;

	(void)state;
	pass(2 * S);
	p.inside = true;
	unsigned n = neigh_ping_least(self_of(w.a), p.to);
	unsigned at = neigh_ping_frame(self_of(w.a), &p, mac_b, 64, request, n, &first);
	neigh_ping_number(request + at, first, 7);
	n -= 14;
	/* IPv4 and ICMP, port unreachable, IPv4 and GRE, and the request */
	unsigned len = 14 + 20 + 8 + 20 + 4 + n;
	memcpy(f, mac_a, 6);
	memcpy(f + 6, mac_b, 6);
	f[12] = 8;
	memcpy(f + 14, (const uint8_t[20]){0x45, 0, 0, (uint8_t)(len - 14),
					   0,    0, 0, 0,
					   64,   1, 0, 0,
					   10,   0, 0, 9,
					   10,   0, 0, 1},
	       20);
	f[34] = 3;
	f[35] = 2;
	memcpy(f + 42, (const uint8_t[24]){0x45, 0,  0,    (uint8_t)(24 + n),
					   0,    0,  0,    0,
					   64,   47, 0,    0,
					   10,   0,  0,    1,
					   10,   0,  0,    9,
					   0,    0,  0x86, 0xdd},
	       24);
	memcpy(f + 66, request + 14, n);
	uint16_t sum = neigh_sum(f + 34, len - 34, 0);
	memcpy(f + 36, &sum, 2);
	assert_true(neigh_pong_wants(self_of(w.a), &p, f, len));
	struct neigh_pong got = neigh_pong_judge(self_of(w.a), &p, f, len);
	assert_int_equal(got.kind, NEIGH_PONG_ERROR);
	assert_true(got.type == 3 && got.code == 2 && got.whole && got.number == 7);
	assert_int_equal(got.ip[15], 9);
	p.inside = false;
	assert_false(neigh_pong_wants(self_of(w.a), &p, f, len));
	p.inside = true;
	p.id++;
	assert_false(neigh_pong_wants(self_of(w.a), &p, f, len));
	p.id--;
	f[34] = 0; /* it is no error */
	assert_false(neigh_pong_wants(self_of(w.a), &p, f, len));
}

#define PINGS(t) cmocka_unit_test_setup_teardown(t, pings_begin, pings_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_the_way),
		TEST(test_asked_and_answered),
		TEST(test_of_others),
		TEST(test_errors),
		TEST(test_of_the_link),
		TEST(test_behind_other_headers),
		TEST(test_an_error_about_the_outer_header),
		TEST(test_a_neighbour_is_sought),
		TEST(test_a_stale_one_is_confirmed),
		PINGS(test_each_request_has_one_fate),
		PINGS(test_what_was_not_asked),
		PINGS(test_not_taken_by_the_device),
		PINGS(test_numbers_wrap),
		PINGS(test_numbers_come_back_too_soon),
		PINGS(test_without_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
