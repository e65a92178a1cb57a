/* SPDX-License-Identifier: BSD-3-Clause */
/* TCP for a host that answers with RST what is of no connection. */
#include "neigh_world.h"

enum { FIN = 1, SYN = 2, RST = 4, PSH = 8, ACK = 16 };
#define SEQ 0xfffffff0u
#define ACKED 0x80000001u

static void resets(bool on)
{
	struct neigh_setup a = setup_of(mac_a, 1);

	if (on)
		a.answer |= NEIGH_ANSWER_RESET;
	a.nproxy = 1;
	a.proxy[0].bits = 96 + 24;
	memcpy(a.proxy[0].ip, (const uint8_t[NEIGH_IP]){[10] = 255, 255, 10, 9, 0, 0}, NEIGH_IP);
	neigh_set(w.a, &a, w.now);
	pass(2 * S);
}

static uint32_t word(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static void put_word(uint8_t *p, uint32_t v)
{
	memcpy(p,
	       (const uint8_t[4]){(uint8_t)(v >> 24), (uint8_t)(v >> 16), (uint8_t)(v >> 8),
				  (uint8_t)v},
	       4);
}

/* The checksum of n bytes of TCP, which stands in them; 0: it is right. */
static unsigned sum_tcp(const uint8_t *ip, bool six, const uint8_t *tcp, unsigned n)
{
	unsigned first = sum_slow(ip + (six ? 8 : 12), six ? 32 : 8, 0) ^ 0xffff;

	return sum_slow(tcp, n, first + n + 6);
}

static void sums(uint8_t *ip, bool six, uint8_t *tcp, unsigned n)
{
	unsigned sum;

	if (!six) {
		memset(ip + 10, 0, 2);
		sum = sum_slow(ip, (ip[0] & 15u) * 4, 0);
		ip[10] = (uint8_t)(sum >> 8);
		ip[11] = (uint8_t)sum;
	}
	memset(tcp + 16, 0, 2);
	sum = sum_tcp(ip, six, tcp, n);
	tcp[16] = (uint8_t)(sum >> 8);
	tcp[17] = (uint8_t)sum;
}

/* A segment from b to a with so many bytes of options and of data. */
static unsigned put_tcp(uint8_t *f, bool six, unsigned flags, unsigned options, unsigned data)
{
	uint8_t *ip = f + 14, *tcp = ip + (six ? 40 : 20);
	unsigned n = 20 + options + data;

	put_ping(f, six, n - 8);
	memset(tcp, 0x55, n);
	memcpy(tcp, (const uint8_t[4]){0x12, 0x34, 0, 81}, 4);
	put_word(tcp + 4, SEQ);
	put_word(tcp + 8, ACKED);
	tcp[12] = (uint8_t)((20 + options) / 4 << 4);
	tcp[13] = (uint8_t)flags;
	memset(tcp + 20, 1, options);
	ip[six ? 6 : 9] = 6;
	sums(ip, six, tcp, n);
	return (unsigned)(tcp - f) + n;
}

static enum neigh_fate fate_of(uint8_t *f, unsigned len)
{
	struct neigh_verdict v;

	assert_true(neigh_wants(self_of(w.a), f, len));
	neigh_judge(self_of(w.a), f, len, ROOM, &v);
	assert_int_equal(v.heard.said, NEIGH_NOTHING);
	assert_int_equal(v.answer > 0, v.fate == NEIGH_DID_RESET);
	return v.fate;
}

/* RFC 9293 3.10.7.1: the number that the segment acknowledges, or 0 and all that it has. */
static void test_numbers(void **state)
{
	static const struct {
		unsigned flags, options, data;
		uint32_t seq, ack;
	} is[] = {
		{SYN, 20, 0, 0, SEQ + 1},
		{SYN, 0, 5, 0, SEQ + 6},
		{SYN | FIN, 4, 100, 0, SEQ + 102},
		{FIN, 0, 0, 0, SEQ + 1},
		{0, 40, 1000, 0, SEQ + 1000},
		{PSH, 12, 1, 0, SEQ + 1},
		{ACK, 12, 0, ACKED, 0},
		{SYN | ACK, 20, 0, ACKED, 0},
		{FIN | PSH | ACK, 0, 1400, ACKED, 0},
	};
	uint8_t f[ROOM], was[ROOM];

	(void)state;
	resets(true);
	for (unsigned i = 0; i < 2 * sizeof(is) / sizeof(is[0]); i++) {
		bool six = i % 2 != 0;
		unsigned k = i / 2, head = six ? 40 : 20, at = 14 + head;
		unsigned len = put_tcp(f, six, is[k].flags, is[k].options, is[k].data);
		const uint8_t *ip = f + 14, *tcp = f + at;

		memcpy(was, f, len);
		assert_int_equal(give(w.a, f, len), six ? 74 : 60);
		assert_memory_equal(f, was + 6, 6);
		assert_memory_equal(f + 6, mac_a, 6);
		assert_memory_equal(f + 12, was + 12, 2);
		assert_memory_equal(ip + (six ? 8 : 12), was + 14 + (six ? 24 : 16), six ? 16 : 4);
		assert_memory_equal(ip + (six ? 24 : 16), was + 14 + (six ? 8 : 12), six ? 16 : 4);
		assert_int_equal(ip[six ? 6 : 9], 6);
		assert_int_equal(ip[six ? 5 : 3], six ? 20 : 40);
		assert_memory_equal(tcp, ((const uint8_t[4]){0, 81, 0x12, 0x34}), 4);
		assert_int_equal(word(tcp + 4), is[k].seq);
		assert_int_equal(word(tcp + 8), is[k].ack);
		assert_int_equal(tcp[12], 0x50);
		assert_int_equal(tcp[13], (is[k].flags & ACK) != 0 ? RST : RST | ACK);
		assert_int_equal(word(tcp + 16) & 0xffff, 0);
		assert_int_equal(sum_tcp(ip, six, tcp, 20), 0);
		/* what was behind its end does not go out */
		for (unsigned b = at + 20; b < 60; b++)
			assert_int_equal(f[b], 0);
		if (!six)
			assert_int_equal(sum_slow(ip, 20, 0), 0);
	}
	assert_int_equal(w.fate[0][NEIGH_DID_RESET], 18);
}

/* For whom there is one: also for addresses that it answers for, and behind options of IPv4. */
static void test_for_whom(void **state)
{
	uint8_t f[ROOM], was[ROOM];
	unsigned len;

	(void)state;
	resets(true);
	len = put_tcp(f, false, SYN, 20, 0);
	memcpy(f + 14 + 16, (const uint8_t[4]){10, 9, 0, 77}, 4);
	sums(f + 14, false, f + 34, 40);
	assert_int_equal(give(w.a, f, len), 60);
	assert_memory_equal(f + 14 + 12, ((const uint8_t[8]){10, 9, 0, 77, 10, 0, 0, 2}), 8);
	f[14 + 12] = 0;
	/* four bytes of options, of which the answer has none */
	len = put_tcp(was, false, SYN, 4, 0);
	memcpy(f, was, 34);
	memset(f + 34, 1, 4);
	memcpy(f + 38, was + 34, len - 34);
	f[14] = 0x46;
	f[17] = (uint8_t)(f[17] + 4);
	sums(f + 14, false, f + 38, 24);
	assert_int_equal(give(w.a, f, len + 4), 60);
	assert_int_equal(f[14], 0x45);
	assert_memory_equal(f + 34, ((const uint8_t[4]){0, 81, 0x12, 0x34}), 4);
	assert_int_equal(sum_tcp(f + 14, false, f + 34, 20), 0);
	assert_int_equal(sum_slow(f + 14, 20, 0), 0);
}

static void test_none_of_its_own(void **state)
{
	uint8_t f[ROOM];
	unsigned len;

	(void)state;
	resets(false);
	len = put_tcp(f, false, SYN, 20, 0);
	assert_false(neigh_wants(self_of(w.a), f, len));
	resets(true);
	assert_true(neigh_wants(self_of(w.a), f, len));
	/* to others, to all, to a group, in another VLAN, another protocol */
	for (unsigned last = 9; last < 256; last += 246) {
		len = put_tcp(f, false, SYN, 20, 0);
		f[14 + 19] = (uint8_t)last;
		assert_false(neigh_wants(self_of(w.a), f, len));
	}
	for (unsigned i = 0; i < 4; i++) {
		len = put_tcp(f, i == 3, SYN, 20, 0);
		if (i < 2)
			memset(f, i == 0 ? 0xff : 2, 6);
		else
			f[14 + (i == 3 ? 24 : 9)] = i == 3 ? 0xff : 132;
		assert_false(neigh_wants(self_of(w.a), f, len));
	}
	/* a RST has none: two of them would go on for ever */
	for (unsigned i = 0; i < 4; i++) {
		len = put_tcp(f, i % 2 != 0, i < 2 ? RST : RST | ACK, 0, 0);
		assert_false(neigh_wants(self_of(w.a), f, len));
	}
}

static void test_refused(void **state)
{
	uint8_t f[ROOM];
	struct neigh_verdict v;
	unsigned len;

	(void)state;
	resets(true);
	for (unsigned six = 0; six < 2; six++) {
		unsigned at = 14 + (six ? 40 : 20);
		len = put_tcp(f, six, SYN, 20, 10);
		f[at + 45] ^= 1;
		assert_int_equal(fate_of(f, len), NEIGH_CHECKSUM);
		for (unsigned cut = 1; cut <= len - at - 1; cut++) {
			len = put_tcp(f, six, SYN, 20, 10);
			assert_int_equal(fate_of(f, len - cut), NEIGH_TRUNCATED);
		}
		len = put_tcp(f, six, SYN, 20, 0);
		f[at + 12] = 0x40; /* shorter than its header */
		assert_int_equal(fate_of(f, len), NEIGH_MALFORMED);
		len = put_tcp(f, six, SYN, 20, 0);
		f[at + 12] = 0xf0; /* longer than what it is in */
		assert_int_equal(fate_of(f, len), NEIGH_TRUNCATED);
		/* from itself, and in a buffer that others read too */
		len = put_tcp(f, six, SYN, 20, 0);
		memcpy(f + 14 + (six ? 8 : 12), f + 14 + (six ? 24 : 16), six ? 16 : 4);
		sums(f + 14, six, f + at, 40);
		assert_int_equal(fate_of(f, len), NEIGH_SENDER);
		len = put_tcp(f, six, SYN, 20, 0);
		neigh_judge(self_of(w.a), f, len, 0, &v);
		assert_int_equal(v.fate, NEIGH_NO_ROOM);
		assert_int_equal(v.answer, 0);
		/* A kernel has left the checksum to the NIC. */
		len = put_tcp(f, six, SYN, 20, 0);
		unsigned sum = (sum_slow(f + 14 + (six ? 8 : 12), six ? 32 : 8, 0) ^ 0xffff) + 46;
		sum = (sum & 0xffff) + (sum >> 16);
		f[at + 16] = (uint8_t)(sum >> 8);
		f[at + 17] = (uint8_t)sum;
		assert_int_equal(fate_of(f, len), NEIGH_DID_RESET);
	}
	for (unsigned i = 0; i < 2; i++) { /* the first fragment, and a later one */
		len = put_tcp(f, false, SYN, 20, 0);
		f[20 + i] = 0x20;
		sums(f + 14, false, f + 34, 40);
		assert_int_equal(fate_of(f, len), NEIGH_FRAGMENT);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_numbers),
		TEST(test_for_whom),
		TEST(test_none_of_its_own),
		TEST(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
