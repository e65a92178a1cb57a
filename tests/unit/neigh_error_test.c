/* SPDX-License-Identifier: BSD-3-Clause */
/* ICMP errors about what a host has sent: what they say, whom they are about, which are refused. */
#include "neigh_world.h"

#include "neigh_error_run.h"

/* A frame of UDP, or of another protocol, from address 1 to `to`. Returns its length. */
static unsigned put_udp(uint8_t *f, bool six, unsigned to, unsigned proto, unsigned sport,
			unsigned dport)
{
	unsigned head = six ? 40 : 20;
	uint8_t *ip = f + 14;

	memset(f, 0, 14 + head + 26);
	memcpy(f + 6, mac_a, 6);
	memcpy(f + 12, six ? "\x86\xdd" : "\x08\0", 2);
	if (six) {
		memcpy(ip, (const uint8_t[8]){0x60, 0, 0, 0, 0, 26, (uint8_t)proto, 64}, 8);
		ip6(ip + 8, 1);
		ip6(ip + 24, to);
	} else {
		memcpy(ip,
		       (const uint8_t[20]){0x45, 0, 0, 46, [8] = 64, (uint8_t)proto, 0, 0, 10, 0, 0,
					   1, 10, 0, 0, (uint8_t)to},
		       20);
	}
	put_be16(ip + head, sport);
	put_be16(ip + head + 2, dport);
	return 14 + head + 26;
}

/* Mends the checksums of an ICMP message. */
static unsigned mend(uint8_t *f, unsigned len)
{
	bool six = f[12] == 0x86;
	uint8_t *ip = f + 14, *icmp = ip + (six ? 40 : 20);
	unsigned n = (unsigned)(f + len - icmp);
	uint16_t sum = 0;

	memcpy(icmp + 2, &sum, 2);
	if (!six) {
		memcpy(ip + 10, &sum, 2);
		sum = neigh_sum(ip, 20, 0);
		memcpy(ip + 10, &sum, 2);
	}
	sum = neigh_sum(icmp, n, six ? neigh_sum_ip6(ip, n) : 0);
	memcpy(icmp + 2, &sum, 2);
	return len;
}

/* An error of this type and code about the frame q, of which it quotes so many bytes. */
static unsigned put_error(uint8_t *f, bool six, unsigned type, unsigned code, const uint8_t *q,
			  unsigned quoted)
{
	unsigned len = put_ping(f, six, quoted);
	uint8_t *icmp = f + len - quoted - 8;

	memcpy(icmp, (const uint8_t[8]){(uint8_t)type, (uint8_t)code, [6] = 5}, 8);
	memcpy(icmp + 8, q + 14, quoted);
	return mend(f, len);
}

static enum neigh_fate judge(uint8_t *f, unsigned len, struct neigh_error *e)
{
	assert_true(neigh_error_wants(self_of(w.a), f, len));
	return neigh_error_judge(self_of(w.a), f, len, e);
}

static void test_kinds(void **state)
{
	static const struct {
		bool six;
		uint8_t type, code, kind;
	} cases[] = {
		{false, 3, 0, NEIGH_ERROR_NET},           {false, 3, 1, NEIGH_ERROR_HOST},
		{false, 3, 2, NEIGH_ERROR_PROTOCOL},      {false, 3, 3, NEIGH_ERROR_PORT},
		{false, 3, 4, NEIGH_ERROR_TOO_BIG},       {false, 3, 5, NEIGH_ERROR_UNREACHABLE},
		{false, 3, 7, NEIGH_ERROR_HOST},          {false, 3, 9, NEIGH_ERROR_PROHIBITED},
		{false, 3, 10, NEIGH_ERROR_PROHIBITED},   {false, 3, 11, NEIGH_ERROR_NET},
		{false, 3, 12, NEIGH_ERROR_HOST},         {false, 3, 13, NEIGH_ERROR_PROHIBITED},
		{false, 3, 255, NEIGH_ERROR_UNREACHABLE}, {false, 4, 0, NEIGH_ERROR_OTHER},
		{false, 5, 1, NEIGH_ERROR_OTHER},         {false, 11, 0, NEIGH_ERROR_HOP_LIMIT},
		{false, 11, 1, NEIGH_ERROR_REASSEMBLY},   {false, 11, 2, NEIGH_ERROR_OTHER},
		{false, 12, 0, NEIGH_ERROR_OTHER},        {true, 1, 0, NEIGH_ERROR_NET},
		{true, 1, 1, NEIGH_ERROR_PROHIBITED},     {true, 1, 2, NEIGH_ERROR_UNREACHABLE},
		{true, 1, 3, NEIGH_ERROR_HOST},           {true, 1, 4, NEIGH_ERROR_PORT},
		{true, 1, 5, NEIGH_ERROR_PROHIBITED},     {true, 1, 200, NEIGH_ERROR_UNREACHABLE},
		{true, 2, 0, NEIGH_ERROR_TOO_BIG},        {true, 3, 0, NEIGH_ERROR_HOP_LIMIT},
		{true, 3, 1, NEIGH_ERROR_REASSEMBLY},     {true, 4, 1, NEIGH_ERROR_OTHER},
	};
	uint8_t f[ROOM], q[ROOM], varies[ROOM] = {0};
	struct neigh_error e;
	struct neigh_sent sent;

	(void)state;
	pass(2 * S);
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		bool six = cases[i].six;
		unsigned n = put_udp(q, six, 9, 17, 1000, 53);
		assert_true(neigh_sent_read(q, varies, n, &sent));
		/* no more than RFC 792 demands, and all of it */
		for (unsigned quoted = six ? 48 : 28; quoted <= n - 14; quoted += n - 14 - quoted) {
			unsigned len = put_error(f, six, cases[i].type, cases[i].code, q, quoted);
			assert_false(neigh_wants(self_of(w.a), f, len));
			assert_int_equal(judge(f, len, &e), NEIGH_HEARD);
			assert_int_equal(e.kind, cases[i].kind);
			assert_int_equal(e.mtu, e.kind == NEIGH_ERROR_TOO_BIG ? 0x500 : 0);
			assert_true(neigh_error_about(&e, &sent));
			assert_int_equal(e.from[15], 2);
			if (quoted == n - 14)
				break;
		}
	}
}

/* Which of the streams it may be about: fixed bits of addresses, protocol and ports. */
static void test_about(void **state)
{
	uint8_t f[ROOM], q[ROOM], varies[ROOM] = {0};
	struct neigh_error e;
	struct neigh_sent sent;

	(void)state;
	pass(2 * S);
	for (unsigned six = 0; six < 2; six++) {
		unsigned n = put_udp(q, six, 9, 17, 1000, 53), ports = six ? 54 : 34;
		unsigned quoted = six ? 48 : 28, dst = six ? 53 : 33;
		memset(varies, 0, sizeof(varies));
		varies[ports + 1] = 0x0f; /* the source port, of 992 .. 1007 */
		assert_true(neigh_sent_read(q, varies, n, &sent));
		for (unsigned port = 980; port < 1020; port++) {
			put_udp(q, six, 9, 17, port, 53);
			assert_int_equal(judge(f, put_error(f, six, six ? 1 : 3, 3, q, quoted), &e),
					 NEIGH_HEARD);
			assert_int_equal(neigh_error_about(&e, &sent), port >= 992 && port < 1008);
		}
		put_udp(q, six, 9, 17, 1000, 54);
		judge(f, put_error(f, six, six ? 1 : 3, 3, q, quoted), &e);
		assert_false(neigh_error_about(&e, &sent));
		put_udp(q, six, 8, 17, 1000, 53);
		judge(f, put_error(f, six, six ? 1 : 3, 3, q, quoted), &e);
		assert_false(neigh_error_about(&e, &sent));
		varies[dst] = 1;
		put_udp(q, six, 9, 17, 1000, 53);
		neigh_sent_read(q, varies, n, &sent);
		assert_true(neigh_error_about(&e, &sent)); /* 8 and 9 */
		put_udp(q, six, 9, 6, 1000, 53);
		judge(f, put_error(f, six, six ? 1 : 3, 3, q, quoted), &e);
		assert_false(neigh_error_about(&e, &sent));
		/* without ports the first words of what is carried say nothing */
		put_udp(q, six, 9, 99, 1, 2);
		neigh_sent_read(q, varies, n, &sent);
		put_udp(q, six, 9, 99, 3, 4);
		judge(f, put_error(f, six, six ? 1 : 3, 3, q, quoted), &e);
		assert_true(neigh_error_about(&e, &sent));
		/* with a tag, and with something else */
		memmove(q + 18, q + 14, n - 14);
		memcpy(q + 12, "\x81\0\0\7", 4);
		memcpy(q + 16, six ? "\x86\xdd" : "\x08\0", 2);
		struct neigh_sent tagged;
		memset(varies, 0, sizeof(varies));
		assert_true(neigh_sent_read(q, varies, n + 4, &tagged));
		assert_true(neigh_error_about(&e, &tagged));
		memcpy(q + 16, "\x88\x47", 2);
		assert_false(neigh_sent_read(q, varies, n + 4, &tagged));
	}
	/* a fragment behind the first one has no ports */
	unsigned n = put_udp(q, false, 9, 17, 1000, 53);
	memset(varies, 0, sizeof(varies));
	neigh_sent_read(q, varies, n, &sent);
	put_udp(q, false, 9, 17, 7, 7);
	q[21] = 3;
	judge(f, put_error(f, false, 11, 1, q, 28), &e);
	assert_true(neigh_error_about(&e, &sent));
}

static void test_refused(void **state)
{
	uint8_t f[ROOM], q[ROOM], good[ROOM];
	struct neigh_error e;

	(void)state;
	pass(2 * S);
	for (unsigned six = 0; six < 2; six++) {
		unsigned type = six ? 1 : 3, head = six ? 40 : 20, icmp = 14 + head;
		put_udp(q, six, 9, 17, 1000, 53);
		unsigned len = put_error(good, six, type, 3, q, head + 8);
#define AGAIN memcpy(f, good, len)
		/* what is not for us */
		AGAIN;
		f[5]++;
		assert_false(neigh_error_wants(self_of(w.a), f, len));
		AGAIN;
		f[six ? 53 : 33] = 77;
		assert_false(neigh_error_wants(self_of(w.a), f, len));
		AGAIN;
		f[icmp] = six ? 128 : 8;
		assert_false(neigh_error_wants(self_of(w.a), f, len));
		/* what is damaged */
		AGAIN;
		f[len - 1]++;
		assert_int_equal(judge(f, len, &e), NEIGH_CHECKSUM);
		for (unsigned n = icmp + 1; n < len; n++) {
			uint8_t *cut = malloc(n);
			memcpy(cut, good, n);
			assert_int_equal(judge(cut, n, &e), NEIGH_TRUNCATED);
			free(cut);
		}
		for (unsigned n = 0; n <= icmp; n++) {
			uint8_t *cut = malloc(n + 1u);
			memcpy(cut, good, n);
			assert_false(neigh_error_wants(self_of(w.a), cut, n));
			free(cut);
		}
		assert_int_equal(judge(f, put_error(f, six, type, 3, q, head + 7), &e),
				 NEIGH_TRUNCATED);
		assert_int_equal(judge(f, put_error(f, six, type, 3, q, 0), &e), NEIGH_TRUNCATED);
		AGAIN;
		f[icmp + 8] = 0x35;
		assert_int_equal(judge(f, mend(f, len), &e), NEIGH_MALFORMED);
		/* who says it */
		AGAIN;
		memcpy(f + 6, mac_a, 6);
		assert_int_equal(judge(f, len, &e), NEIGH_ECHOED);
		f[6] = 1;
		assert_int_equal(judge(f, len, &e), NEIGH_SENDER);
		AGAIN;
		f[six ? 22 : 26] = 0xff;
		assert_int_equal(judge(f, mend(f, len), &e), NEIGH_SENDER);
		/* it quotes a frame of somebody else */
		AGAIN;
		f[icmp + 8 + (six ? 23 : 15)] = 77;
		assert_int_equal(judge(f, mend(f, len), &e), NEIGH_CLAIM);
	}
	unsigned len = put_error(f, false, 3, 3, q, 28);
	f[20] = 0x20;
	assert_int_equal(judge(f, mend(f, len), &e), NEIGH_FRAGMENT);
	f[20] = 0;
	f[25]++;
	assert_int_equal(judge(f, len, &e), NEIGH_CHECKSUM);
	len = put_error(f, false, 3, 3, q, 28);
	f[42] = 0x44; /* a header that is too short */
	assert_int_equal(judge(f, mend(f, len), &e), NEIGH_MALFORMED);
}

/* Errors for addresses that the host answers for are ours, too. */
static void test_proxied(void **state)
{
	struct neigh_setup a = setup_of(mac_a, 1);
	uint8_t f[ROOM], q[ROOM];
	struct neigh_error e;

	(void)state;
	a.nproxy = 1;
	ip4(a.proxy[0].ip, 64);
	a.proxy[0].bits = 96 + 26;
	neigh_set(w.a, &a, w.now);
	pass(2 * S);
	put_udp(q, false, 9, 17, 1, 2);
	q[29] = 77;
	unsigned len = put_error(f, false, 3, 3, q, 28);
	f[33] = 77;
	assert_int_equal(judge(f, mend(f, len), &e), NEIGH_HEARD);
	assert_int_equal(e.quoted.src[15], 77);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_kinds),
		TEST(test_about),
		TEST(test_refused),
		TEST(test_proxied),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
