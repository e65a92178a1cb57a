/* SPDX-License-Identifier: BSD-3-Clause */
/* UDP for a host that says of it that nobody listens. */
#include "neigh_world.h"

static void unreachable(bool on)
{
	struct neigh_setup a = setup_of(mac_a, 1);

	if (on)
		a.answer |= NEIGH_ANSWER_UNREACHABLE;
	neigh_set(w.a, &a, w.now);
}

/* Sums n bytes behind the addresses, as UDP's checksum does. */
static unsigned sum_udp(const uint8_t *addr, unsigned bytes, const uint8_t *udp, unsigned n)
{
	return sum_slow(udp, n, (sum_slow(addr, bytes, 0) ^ 0xffff) + n + 17);
}

/* UDP from b to a with so many bytes of data. */
static unsigned put_udp(uint8_t *f, bool six, unsigned n)
{
	uint8_t *ip = f + 14, *udp = ip + (six ? 40 : 20);
	unsigned sum;

	put_ping(f, six, n);
	memcpy(udp,
	       (const uint8_t[8]){0x12, 0x34, 0x82, 0x9a, (uint8_t)((8 + n) >> 8),
				  (uint8_t)(8 + n)},
	       8);
	if (six) {
		ip[6] = 17;
		sum = sum_udp(ip + 8, 32, udp, 8 + n);
	} else {
		ip[9] = 17;
		memset(ip + 10, 0, 2);
		sum = sum_slow(ip, 20, 0);
		ip[10] = (uint8_t)(sum >> 8);
		ip[11] = (uint8_t)sum;
		sum = sum_udp(ip + 12, 8, udp, 8 + n);
	}
	udp[6] = (uint8_t)(sum >> 8);
	udp[7] = (uint8_t)sum;
	return (unsigned)(udp - f) + 8 + n;
}

static enum neigh_fate fate_of(uint8_t *f, unsigned len)
{
	assert_true(neigh_wants(self_of(w.a), f, len));
	struct neigh_verdict v;

	neigh_judge(self_of(w.a), f, len, ROOM, &v);
	assert_int_equal(v.heard.said, NEIGH_NOTHING);
	assert_int_equal(v.answer > 0, v.fate == NEIGH_DID_UNREACHABLE);
	return v.fate;
}

/* The error quotes as much as its RFC allows, from the IP header on, unchanged. */
static void test_nobody_listens(void **state)
{
	static const unsigned lens[] = {0, 1, 18, 520, 521, 1184, 1185, 1452};
	uint8_t f[ROOM], was[ROOM];

	(void)state;
	unreachable(true);
	pass(2 * S);
	for (unsigned six = 0; six < 2; six++)
		for (unsigned i = 0; i < sizeof(lens) / sizeof(lens[0]); i++) {
			unsigned len = put_udp(f, six, lens[i]), head = six ? 40 : 20;
			unsigned most = six ? 1280 : 576;
			memcpy(was, f, len);
			unsigned n = len - 14 < most - head - 8 ? len - 14 : most - head - 8;
			assert_int_equal(give(w.a, f, len), 14 + head + 8 + n);
			assert_memory_equal(f, was + 6, 6);
			assert_memory_equal(f + 6, mac_a, 6);
			assert_memory_equal(f + 12, was + 12, 2);
			const uint8_t *ip = f + 14, *icmp = ip + head;
			assert_int_equal(icmp[0], six ? 1 : 3);
			assert_int_equal(icmp[1], six ? 4 : 3);
			assert_memory_equal(icmp + 8, was + 14, n);
			assert_memory_equal(ip + (six ? 8 : 12), was + 14 + (six ? 24 : 16),
					    six ? 16 : 4);
			assert_memory_equal(ip + (six ? 24 : 16), was + 14 + (six ? 8 : 12),
					    six ? 16 : 4);
			assert_int_equal(ip[six ? 6 : 9], six ? 58 : 1);
			assert_int_equal(six ? sum6_slow(ip) : sum_slow(icmp, 8 + n, 0), 0);
			if (!six) {
				assert_int_equal(sum_slow(ip, 20, 0), 0);
				assert_int_equal((unsigned)ip[2] << 8 | ip[3], 28 + n);
			}
		}
	assert_int_equal(w.fate[0][NEIGH_DID_UNREACHABLE], 16);
}

static void test_in_a_vlan(void **state)
{
	struct neigh_setup a = setup_of(mac_a, 1);
	uint8_t f[ROOM], g[ROOM];
	unsigned len = put_udp(g, false, 10);

	(void)state;
	alone();
	a.tags = (struct neigh_tags){1, {{0x8100, 7}}};
	a.answer |= NEIGH_ANSWER_UNREACHABLE;
	neigh_set(w.a, &a, w.now);
	pass(2 * S);
	memcpy(f, g, 12);
	memcpy(f + 12, (const uint8_t[4]){0x81, 0, 0, 7}, 4);
	memcpy(f + 16, g + 12, len - 12);
	assert_int_equal(give(w.a, f, len + 4), len + 4 + 28);
	assert_memory_equal(f + 12, ((const uint8_t[6]){0x81, 0, 0, 7, 8, 0}), 6);
	assert_memory_equal(f + 18 + 28, g + 14, len - 14);
	assert_false(neigh_wants(self_of(w.a), g, len));
}

static void test_none_of_its_own(void **state)
{
	uint8_t f[ROOM];
	unsigned len;

	(void)state;
	/* off unless it is asked for, and not for addresses that are not used yet */
	pass(2 * S);
	len = put_udp(f, false, 10);
	assert_false(neigh_wants(self_of(w.a), f, len));
	unreachable(true);
	assert_true(neigh_wants(self_of(w.a), f, len));
	neigh_relink(w.a, w.now);
	assert_false(neigh_wants(self_of(w.a), f, len));
	pass(2 * S);
	/* to others, to all and to groups, by MAC address or by IP address */
	f[5] = 9;
	assert_false(neigh_wants(self_of(w.a), f, len));
	memset(f, 0xff, 6);
	assert_false(neigh_wants(self_of(w.a), f, len));
	for (unsigned last = 9; last < 256; last += 246) {
		len = put_udp(f, false, 10);
		f[14 + 19] = (uint8_t)last;
		assert_false(neigh_wants(self_of(w.a), f, len));
	}
	len = put_udp(f, true, 10);
	f[14 + 24] = 0xff;
	assert_false(neigh_wants(self_of(w.a), f, len));
	/* an ICMP error, which no error answers, and TCP */
	for (unsigned proto = 1; proto < 7; proto += 5) {
		len = put_udp(f, false, 10);
		f[14 + 9] = (uint8_t)proto;
		f[34] = 3;
		assert_false(neigh_wants(self_of(w.a), f, len));
	}
}

static void test_refused(void **state)
{
	uint8_t f[ROOM];
	unsigned len;

	(void)state;
	unreachable(true);
	pass(2 * S);
	for (unsigned six = 0; six < 2; six++) {
		unsigned at = 14 + (six ? 40 : 20);
		len = put_udp(f, six, 20);
		f[at + 12] ^= 1;
		assert_int_equal(fate_of(f, len), NEIGH_CHECKSUM);
		len = put_udp(f, six, 20);
		assert_int_equal(fate_of(f, len - 1), NEIGH_TRUNCATED);
		len = put_udp(f, six, 20);
		f[at + 5] = 7; /* shorter than its header */
		assert_int_equal(fate_of(f, len), NEIGH_TRUNCATED);
		len = put_udp(f, six, 20);
		f[at + 5] = 29; /* longer than what it is in */
		assert_int_equal(fate_of(f, len), NEIGH_TRUNCATED);
		len = put_udp(f, six, 20);
		f[14] ^= 0x20;
		assert_int_equal(fate_of(f, len), NEIGH_MALFORMED);
		/* no room for the error */
		len = put_udp(f, six, 20);
		struct neigh_verdict v;

		neigh_judge(self_of(w.a), f, len, len, &v);
		assert_int_equal(v.fate, NEIGH_NO_ROOM);
		/* from a group, and from ourselves */
		len = put_udp(f, six, 20);
		f[14 + (six ? 8 : 12)] = 0xff;
		if (six)
			assert_int_equal(fate_of(f, len), NEIGH_SENDER);
		len = put_udp(f, six, 20);
		memcpy(f + 6, mac_a, 6);
		assert_int_equal(fate_of(f, len), NEIGH_ECHOED);
	}
	/* The checksum may be missing in IPv4, and not in IPv6. */
	for (unsigned six = 0; six < 2; six++) {
		len = put_udp(f, six, 20);
		memset(f + 14 + (six ? 40 : 20) + 6, 0, 2);
		assert_int_equal(fate_of(f, len), six ? NEIGH_CHECKSUM : NEIGH_DID_UNREACHABLE);
	}
	/* A kernel has left the checksum to the NIC. */
	for (unsigned six = 0; six < 2; six++) {
		uint8_t *udp = f + 14 + (six ? 40 : 20);
		len = put_udp(f, six, 20);
		memset(udp + 6, 0, 2);
		unsigned sum = (sum_slow(f + 14 + (six ? 8 : 12), six ? 32 : 8, 0) ^ 0xffff) + 45;
		sum = (sum & 0xffff) + (sum >> 16);
		udp[6] = (uint8_t)(sum >> 8);
		udp[7] = (uint8_t)sum;
		assert_int_equal(fate_of(f, len), NEIGH_DID_UNREACHABLE);
	}
	/* fragments: the first one, and a later one; and a header with a wrong checksum */
	for (unsigned i = 0; i < 3; i++) {
		static const uint8_t bits[3][2] = {{0x20, 0}, {0, 5}, {0, 0}};
		len = put_udp(f, false, 20);
		memcpy(f + 20, bits[i], 2);
		memset(f + 24, 0, 2);
		unsigned sum = sum_slow(f + 14, 20, 0) ^ (i == 2);
		f[24] = (uint8_t)(sum >> 8);
		f[25] = (uint8_t)sum;
		assert_int_equal(fate_of(f, len), i == 2 ? NEIGH_CHECKSUM : NEIGH_FRAGMENT);
	}
}

/* So many at once, and then as many as time allows: never more in any while. */
static void test_no_faster(void **state)
{
	uint64_t full = 0, each = S / NEIGH_UNREACH_PER_S, now = 1;
	unsigned n = 0;

	(void)state;
	while (neigh_rate_may(&full, now, each, NEIGH_UNREACH_BURST))
		n++;
	assert_int_equal(n, NEIGH_UNREACH_BURST);
	for (unsigned i = 0; i < 100000; i++) { /* ten seconds at 10 kpps */
		now += S / 10000;
		n += neigh_rate_may(&full, now, each, NEIGH_UNREACH_BURST);
	}
	assert_in_range(n, NEIGH_UNREACH_BURST + 9998, NEIGH_UNREACH_BURST + 10001);
	now += 100 * S; /* what was not used is not saved beyond the burst */
	for (n = 0; neigh_rate_may(&full, now, each, NEIGH_UNREACH_BURST); n++)
		;
	assert_int_equal(n, NEIGH_UNREACH_BURST);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_nobody_listens), TEST(test_in_a_vlan), TEST(test_none_of_its_own),
		TEST(test_refused),        TEST(test_no_faster),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
