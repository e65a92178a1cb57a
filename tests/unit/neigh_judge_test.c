/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames for a host: what it answers, and which ones it refuses. */
#include "neigh_world.h"

/* ---- answers ---- */

static void test_pings(void **state)
{
	static const unsigned lens[] = {0, 1, 18, 56, 57, 1000, 1452, 1472};
	uint8_t f[ROOM], was[ROOM];

	(void)state;
	pass(2 * S);
	for (unsigned six = 0; six < 2; six++)
		for (unsigned i = 0; i < sizeof(lens) / sizeof(lens[0]); i++) {
			unsigned len = put_ping(f, six, lens[i]), at = 14 + (six ? 40 : 20);
			memcpy(was, f, len);
			assert_int_equal(give(w.a, f, len), len);
			assert_memory_equal(f, was + 6, 6);
			assert_memory_equal(f + 6, mac_a, 6);
			assert_int_equal(f[at], six ? 129 : 0);
			assert_memory_equal(f + at + 4, was + at + 4, len - at - 4);
			assert_memory_equal(f + at - (six ? 32 : 8), was + at - (six ? 16 : 4),
					    six ? 16 : 4);
			assert_int_equal(f[six ? 21 : 22], 64);
			assert_int_equal(six ? sum6_slow(f + 14) : sum_slow(f + at, len - at, 0),
					 0);
			if (!six)
				assert_int_equal(sum_slow(f + 14, 20, 0), 0);
		}
	assert_int_equal(w.fate[0][NEIGH_DID_PING], 16);
}

static void test_solicited(void **state)
{
	uint8_t f[ROOM], ip[NEIGH_IP];

	(void)state;
	pass(2 * S);
	assert_int_equal(give(w.a, f, put_nd(f, ND_SOLICIT, 0, mac_b, 2, 1, 1)), 14 + 40 + 32);
	assert_memory_equal(f, mac_b, 6);
	ip6(ip, 1);
	assert_memory_equal(f + 22, ip, NEIGH_IP);
	assert_int_equal(f[54], ND_ADVERT);
	assert_int_equal(f[58], 0x60); /* solicited, override */
	assert_int_equal(sum6_slow(f + 14), 0);
}

static void test_proxy_and_silence(void **state)
{
	struct neigh_setup a = setup_of(mac_a, 1);
	uint8_t f[ROOM];

	(void)state;
	alone();
	pass(2 * S);
	assert_int_equal(give(w.a, f, put_arp(f, everybody, 1, mac_b, 2, 130)), 0);
	a.nproxy = 1;
	ip4(a.proxy[0].ip, 128);
	a.proxy[0].bits = 96 + 25;
	neigh_set(w.a, &a, w.now);
	assert_int_equal(neigh_own_state(w.a, 0), NEIGH_USED); /* nothing began anew */
	assert_int_equal(give(w.a, f, put_arp(f, everybody, 1, mac_b, 2, 130)), NEIGH_FRAME_MIN);
	assert_memory_equal(f + 22, "\2\0\0\0\0\1\12\0\0\x82", 10);
	assert_int_equal(give(w.a, f, put_arp(f, everybody, 1, mac_b, 0, 130)), 0); /* tries it */
	assert_int_equal(give(w.a, f, put_arp(f, everybody, 1, mac_b, 130, 130)), 0);
	assert_int_equal(give(w.a, f, put_arp(f, everybody, 1, mac_b, 2, 127)), 0);
	a.answer = NEIGH_ANSWER_ND;
	neigh_set(w.a, &a, w.now);
	assert_int_equal(give(w.a, f, put_arp(f, everybody, 1, mac_b, 2, 1)), 0);
	assert_int_equal(give(w.a, f, put_ping(f, true, 10)), 0);
	assert_true(give(w.a, f, put_nd(f, ND_SOLICIT, 0, mac_b, 2, 1, 1)) > 0);
}

static void test_vlan(void **state)
{
	struct neigh_setup a = setup_of(mac_a, 1);
	uint8_t f[ROOM], tagged[ROOM];

	(void)state;
	alone();
	a.tags = (struct neigh_tags){1, {{0x8100, 100}}};
	neigh_set(w.a, &a, w.now);
	pass(2 * S);
	unsigned len = put_arp(f, everybody, 1, mac_b, 2, 1);
	memcpy(tagged, f, 12);
	memcpy(tagged + 12, "\x81\0\xe0\x64", 4); /* with a priority */
	memcpy(tagged + 16, f + 12, len - 12);
	assert_int_equal(give(w.a, f, len), 0);
	assert_int_equal(give(w.a, tagged, len + 4), len + 4);
	assert_memory_equal(tagged + 12, "\x81\0\xe0\x64\x08\x06", 6);
	assert_int_equal(tagged[25], 2);
	neigh_announce(w.a);
	assert_true(neigh_take(w.a, f) > 0);
	assert_memory_equal(f + 12, "\x81\0\0\x64\x08\x06", 6);
}

/* A link of two tags takes nothing of links with one of them, others, or both the other way. */
static void test_two_tags(void **state)
{
	struct neigh_setup a = setup_of(mac_a, 1);
	uint8_t f[ROOM], tagged[ROOM];

	(void)state;
	alone();
	a.tags = (struct neigh_tags){2, {{0x88a8, 10}, {0x8100, 100}}};
	neigh_set(w.a, &a, w.now);
	pass(2 * S);
	unsigned len = put_arp(f, everybody, 1, mac_b, 2, 1);
	const char *const others[] = {"\x81\0\0\x0a\x81\0\0\x64", "\x88\xa8\0\x0b\x81\0\0\x64",
				      "\x88\xa8\0\x0a\x81\0\0\x65", "\x81\0\0\x64\x88\xa8\0\x0a",
				      "\x88\xa8\0\x0a\x81\0\0\x64"};
	for (unsigned i = 0; i < ARRAY_SIZE(others); i++) {
		memcpy(tagged, f, 12);
		memcpy(tagged + 12, others[i], 8);
		memcpy(tagged + 20, f + 12, len - 12);
		bool right = i == ARRAY_SIZE(others) - 1;
		assert_int_equal(give(w.a, tagged, len + 8), right ? len + 8 : 0);
	}
	assert_int_equal(give(w.a, tagged, 21), 0);
	neigh_announce(w.a);
	assert_true(neigh_take(w.a, f) > 0);
	assert_memory_equal(f + 12, "\x88\xa8\0\x0a\x81\0\0\x64\x08\x06", 10);
}

/* ---- hostile frames ---- */

/* Gives a frame that is to be refused, and looks that it is for this reason and changes nothing. */
static void refused(uint8_t *f, unsigned len, enum neigh_fate why)
{
	uint64_t before = w.fate[0][why];
	unsigned known = count(w.a);

	assert_int_equal(give(w.a, f, len), 0);
	assert_int_equal(w.fate[0][why], before + 1);
	assert_int_equal(count(w.a), known);
}

static void test_refused(void **state)
{
	uint8_t f[ROOM];
	unsigned len;

	(void)state;
	alone();
	pass(2 * S);
	len = put_arp(f, everybody, 1, mac_b, 2, 1);
	refused(f, 41, NEIGH_TRUNCATED);
	f[19] = 16; /* addresses of 16 bytes */
	refused(f, len, NEIGH_MALFORMED);
	refused(f, put_arp(f, everybody, 3, mac_b, 2, 1), NEIGH_MALFORMED);
	refused(f, put_arp(f, everybody, 1, everybody, 2, 1), NEIGH_SENDER);
	refused(f, put_arp(f, everybody, 1, mac_a, 2, 1), NEIGH_ECHOED);
	len = put_arp(f, everybody, 1, mac_b, 2, 1);
	f[22] = 3; /* a group within ARP alone */
	refused(f, len, NEIGH_SENDER);
	len = put_arp(f, everybody, 1, mac_b, 2, 1);
	f[28] = 224;
	refused(f, len, NEIGH_SENDER);
	len = put_nd(f, ND_SOLICIT, 0, mac_b, 2, 1, 1);
	f[21] = 254;
	refused(f, len, NEIGH_HOP_LIMIT);
	len = put_nd(f, ND_SOLICIT, 0, mac_b, 2, 1, 1);
	refused(f, len - 1, NEIGH_TRUNCATED);
	f[79] = 0; /* an option without a length */
	uint16_t sum = 0;
	memcpy(f + 56, &sum, 2);
	sum = neigh_sum(f + 54, 32, neigh_sum_ip6(f + 14, 32));
	memcpy(f + 56, &sum, 2);
	refused(f, len, NEIGH_MALFORMED);
	f[60] ^= 1;
	refused(f, len, NEIGH_CHECKSUM);
	len = put_ping(f, false, 56);
	f[60] ^= 1;
	refused(f, len, NEIGH_CHECKSUM);
	refused(f, put_ping(f, false, 56) - 1, NEIGH_TRUNCATED);
	len = put_ping(f, false, 56);
	f[26] = 255; /* from 255.0.0.2 */
	sum = 0;
	memcpy(f + 24, &sum, 2);
	sum = neigh_sum(f + 14, 20, 0);
	memcpy(f + 24, &sum, 2);
	refused(f, len, NEIGH_SENDER);
	len = put_ping(f, false, 56);
	f[20] |= 0x20; /* more fragments */
	sum = 0;
	memcpy(f + 24, &sum, 2);
	sum = neigh_sum(f + 14, 20, 0);
	memcpy(f + 24, &sum, 2);
	refused(f, len, NEIGH_FRAGMENT);
	/* a buffer that others read too */
	len = put_ping(f, false, 56);
	struct neigh_verdict v;
	neigh_judge(self_of(w.a), f, len, 0, &v);
	assert_int_equal(v.fate, NEIGH_NO_ROOM);
	/* not for us */
	len = put_ping(f, false, 56);
	f[5] = 9;
	assert_false(neigh_wants(self_of(w.a), f, len));
}

/* Of any length, and however much is carried. UINT64_MAX is 0 in ones' complement. */
static void test_sum(void **state)
{
	uint8_t p[200];

	(void)state;
	for (unsigned fill = 0; fill < 3; fill++)
		for (unsigned n = 1; n <= sizeof(p); n++) {
			for (unsigned i = 0; i < n; i++)
				p[i] = fill == 0 ? 0xff : fill == 1 ? (uint8_t)(i * 37 + 1) : 0x80;
			uint16_t sum = neigh_sum(p, n, 0), more = neigh_sum(p, n, UINT64_MAX);
			assert_int_equal(get_be16((const uint8_t *)&sum), sum_slow(p, n, 0));
			assert_int_equal(more, sum);
		}
	assert_int_equal(neigh_sum(p, 0, 0), 0xffff);
}

/* Damages frames that are all right, at random, and gives each in memory of its own, so that the
 * sanitizer sees a byte too many. A right answer is never longer than its buffer. */
static void test_damaged(void **state)
{
	uint64_t refusals = 0, answers = 0;

	(void)state;
	alone();
	pass(2 * S);
	srandom(7);
	for (unsigned i = 0; i < 200000; i++) {
		uint8_t f[ROOM];
		unsigned len = 0;
		switch (random() % 5) {
		case 0:
			len = put_arp(f, everybody, 1 + i % 2, mac_b, i % 5, 1);
			break;
		case 1:
			len = put_nd(f, ND_SOLICIT, 0, mac_b, 2, 1, 1);
			break;
		case 2:
			len = put_nd(f, ND_ADVERT, 0x60, mac_b, 2, 1, 2);
			break;
		default:
			len = put_ping(f, i % 2, (unsigned)random() % 80);
			break;
		}
		for (long n = random() % 4; n > 0; n--)
			f[(unsigned)random() % len] = (uint8_t)random();
		if (random() % 4 == 0)
			len = (unsigned)random() % len + 1;
		unsigned room = len + (unsigned)random() % 20;
		uint8_t *own = malloc(room);
		memcpy(own, f, len);
		if (neigh_wants(self_of(w.a), own, len)) {
			struct neigh_verdict v;

			neigh_judge(self_of(w.a), own, len, room, &v);
			assert_true(v.answer <= room);
			assert_int_equal(v.answer > 0, v.fate < NEIGH_ANSWERED);
			if (v.fate >= NEIGH_TRUNCATED && v.fate != NEIGH_NO_ROOM)
				assert_int_equal(v.heard.said, NEIGH_NOTHING);
			neigh_hear(w.a, &v.heard, w.now);
			refusals += v.fate >= NEIGH_TRUNCATED;
			answers += v.answer > 0;
		}
		free(own);
		w.now += S / 1000;
		neigh_turn(w.a, w.now);
		while (neigh_take(w.a, f) > 0)
			;
	}
	assert_true(refusals > 10000 && answers > 10000);
	assert_true(count(w.a) < 300);
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(neigh_own_state(w.a, i), NEIGH_USED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_pings),   TEST(test_solicited), TEST(test_proxy_and_silence),
		TEST(test_vlan),    TEST(test_two_tags),  TEST(test_refused),
		TEST(test_damaged), TEST(test_sum),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
