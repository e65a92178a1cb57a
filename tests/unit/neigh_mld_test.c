/* SPDX-License-Identifier: BSD-3-Clause */
/* How a host tells which groups it listens to: what it sends when addresses come and go, and when
 * it is asked. */
#include "neigh_world.h"

#include "neigh_mld_run.h"

/* Reports that were taken, and all other frames. */
struct taken {
	unsigned n, others;
	struct {
		unsigned type, record; /* record: of MLDv2 */
		uint8_t from[NEIGH_IP], to[NEIGH_IP], group[NEIGH_IP];
		uint64_t at;
	} report[64];
	bool report_first; /* the first frame of all IPv6 frames was one */
};

/* Judges a report by its bytes. */
static void take_report(struct taken *t, const uint8_t *f, unsigned len)
{
	const uint8_t *ip = f + 14, *icmp = ip + 48;
	unsigned n = (unsigned)ip[4] << 8 | ip[5];

	assert_int_equal(len, 14 + 40 + n);
	assert_memory_equal(f, "\x33\x33", 2);
	assert_memory_equal(f + 2, ip + 36, 4);
	assert_memory_equal(f + 6, mac_a, 6);
	assert_int_equal(ip[7], 1);
	/* RFC 2711: ICMPv6 behind it, router alert 0, PadN */
	assert_memory_equal(ip + 40, "\x3a\0\5\2\0\0\1\0", 8);
	assert_int_equal(sum_slow(icmp, n - 8, (sum_slow(ip + 8, 32, 0) ^ 0xffff) + n - 8 + 58), 0);
	assert_true(t->n < 64);
	t->report[t->n].type = icmp[0];
	t->report[t->n].at = w.now;
	memcpy(t->report[t->n].from, ip + 8, NEIGH_IP);
	memcpy(t->report[t->n].to, ip + 24, NEIGH_IP);
	if (icmp[0] == MLD_REPORT2) {
		assert_memory_equal(icmp + 4, "\0\0\0\1", 4);
		assert_memory_equal(icmp + 9, "\0\0\0", 3);
		t->report[t->n].record = icmp[8];
		memcpy(t->report[t->n].group, icmp + 12, NEIGH_IP);
		assert_int_equal(n, 8 + 28);
	} else {
		memcpy(t->report[t->n].group, icmp + 8, NEIGH_IP);
		assert_int_equal(n, 8 + 24);
	}
	t->n++;
}

static void take_all(struct taken *t)
{
	uint8_t f[NEIGH_FRAME_MAX];
	unsigned len;

	while ((len = neigh_take(w.a, f)) > 0) {
		bool report = f[12] == 0x86 && f[20] == 0;
		if (f[12] == 0x86 && t->n + t->others == 0)
			t->report_first = report;
		if (report)
			take_report(t, f, len);
		else
			t->others += f[12] == 0x86;
	}
}

/* Lets time go by, and takes what is sent. */
static struct taken listen(uint64_t ns)
{
	uint64_t until = w.now + ns;
	struct taken t = {0};

	neigh_turn(w.a, w.now);
	take_all(&t);
	while (w.now < until) {
		uint64_t due = neigh_due(w.a);
		assert_true(due > w.now);
		w.now = due < until ? due : until;
		neigh_turn(w.a, w.now);
		take_all(&t);
	}
	return t;
}

/* A query; group 0: of all. old: of MLDv1. */
static unsigned put_query(uint8_t *f, unsigned group, unsigned delay, bool old)
{
	unsigned n = old ? 24 : 28;
	uint8_t *ip = f + 14, *icmp = ip + 48;

	memset(f, 0, 14 + 48 + n);
	memcpy(f, "\x33\x33\0\0\0\1", 6);
	memcpy(f + 6, mac_b, 6);
	memcpy(f + 12, "\x86\xdd", 2);
	memcpy(ip, (const uint8_t[8]){0x60, 0, 0, 0, 0, (uint8_t)(8 + n), 0, 1}, 8);
	memcpy(ip + 8, (const uint8_t[NEIGH_IP]){0xfe, 0x80, [15] = 2}, NEIGH_IP);
	memcpy(ip + 24, (const uint8_t[NEIGH_IP]){0xff, 2, [15] = 1}, NEIGH_IP);
	memcpy(ip + 40, "\x3a\0\5\2\0\0\1\0", 8);
	icmp[0] = MLD_QUERY;
	put_be16(icmp + 4, delay);
	if (group != 0)
		memcpy(icmp + 8,
		       (const uint8_t[NEIGH_IP]){0xff, 2, [11] = 1, 0xff, [15] = (uint8_t)group},
		       NEIGH_IP);
	uint16_t sum = neigh_sum(icmp, n, neigh_sum_ip6(ip, n));
	memcpy(icmp + 2, &sum, 2);
	return 14 + 48 + n;
}

static unsigned sum_again(uint8_t *f, unsigned len)
{
	uint8_t *icmp = f + 14 + 48;
	uint16_t sum = 0;

	memcpy(icmp + 2, &sum, 2);
	sum = neigh_sum(icmp, len - 62, neigh_sum_ip6(f + 14, len - 62));
	memcpy(icmp + 2, &sum, 2);
	return len;
}

static void group_of(unsigned last, uint8_t ip[NEIGH_IP])
{
	memcpy(ip, (const uint8_t[NEIGH_IP]){0xff, 2, [11] = 1, 0xff, [15] = (uint8_t)last},
	       NEIGH_IP);
}

static const uint8_t nobody[NEIGH_IP], routers2[NEIGH_IP] = {0xff, 2, [15] = 0x16};

/* An address fd00::1, and fe80::1 beside it, which is in the same group. */
static void begin_two(void)
{
	struct neigh_setup a = setup_of(mac_a, 1);

	alone();
	a.nown = 3;
	memcpy(a.own[2].ip, (const uint8_t[NEIGH_IP]){0xfe, 0x80, [15] = 1}, NEIGH_IP);
	a.own[2].bits = 64;
	neigh_set(w.a, &a, w.now);
}

/* Before an address is tried, switches are told where to forward the answer; twice, and once more
 * from an address. */
static void test_joined(void **state)
{
	uint8_t group[NEIGH_IP];

	(void)state;
	begin_two();
	struct taken t = listen(5 * S);
	group_of(1, group);
	assert_true(t.report_first);
	assert_true(t.n >= 3 && t.n <= 2 * NEIGH_WANTED_MAX);
	for (unsigned i = 0; i < t.n; i++) {
		assert_int_equal(t.report[i].type, MLD_REPORT2);
		assert_int_equal(t.report[i].record, 4); /* CHANGE_TO_EXCLUDE_MODE */
		assert_memory_equal(t.report[i].to, routers2, NEIGH_IP);
		assert_memory_equal(t.report[i].group, group, NEIGH_IP);
		assert_true(i == 0 || t.report[i].at - t.report[i - 1].at <= S);
	}
	assert_memory_equal(t.report[0].from, nobody, NEIGH_IP);
	assert_int_equal(t.report[t.n - 1].from[0], 0xfe);
	assert_int_equal(t.report[t.n - 2].from[0], 0xfe);
	assert_int_equal(listen(1000 * S).n, 0); /* nobody asks */
}

/* A group is left with the last of its addresses, and told as often. */
static void test_left(void **state)
{
	struct neigh_setup a = setup_of(mac_a, 1);
	uint8_t group[NEIGH_IP];

	(void)state;
	begin_two();
	listen(5 * S);
	neigh_set(w.a, &a, w.now); /* fe80::1 goes */
	assert_int_equal(listen(5 * S).n, 0);
	ip6(a.own[1].ip, 7);
	neigh_set(w.a, &a, w.now); /* fd00::1 as well, fd00::7 comes */
	struct taken t = listen(5 * S);
	unsigned left = 0, joined = 0;
	for (unsigned i = 0; i < t.n; i++) {
		bool leaves = t.report[i].record == 3;
		group_of(leaves ? 1 : 7, group);
		assert_memory_equal(t.report[i].group, group, NEIGH_IP);
		left += leaves;
		joined += t.report[i].record == 4;
	}
	assert_int_equal(left, 2);
	assert_int_equal(joined, 2);
	assert_int_equal(t.n, 4);
	a.nown = 1; /* and no IPv6 any more */
	neigh_set(w.a, &a, w.now);
	t = listen(5 * S);
	assert_int_equal(t.n, 2);
	assert_int_equal(t.report[1].record, 3);
}

/* All addresses are exchanged again and again: nothing grows. */
static void test_many_left(void **state)
{
	struct neigh_setup a = setup_of(mac_a, 1);
	uint8_t f[NEIGH_FRAME_MAX];

	(void)state;
	alone();
	a.nown = NEIGH_OWN_MAX;
	for (unsigned round = 0; round < 100; round++) {
		for (unsigned i = 0; i < NEIGH_OWN_MAX; i++) {
			memcpy(a.own[i].ip,
			       (const uint8_t[NEIGH_IP]){
				       0xfd, [14] = (uint8_t)round, [15] = (uint8_t)i},
			       NEIGH_IP);
			a.own[i].bits = 64;
		}
		neigh_set(w.a, &a, w.now);
		w.now += S / 100;
		neigh_turn(w.a, w.now);
		assert_true(neigh_due(w.a) > w.now);
		while (round % 2 != 0 && neigh_take(w.a, f) > 0)
			;
	}
	for (unsigned i = 0; i < 100; i++) {
		w.now += S;
		neigh_turn(w.a, w.now);
		while (neigh_take(w.a, f) > 0)
			;
	}
	for (unsigned i = 0; i < NEIGH_OWN_MAX; i++)
		assert_int_equal(neigh_own_state(w.a, i), NEIGH_USED);
}

/* Answers come within the time of the query, at different moments, for the groups that it names. */
static void test_queries(void **state)
{
	struct neigh_setup a = setup_of(mac_a, 1);
	uint8_t f[ROOM], group[NEIGH_IP];

	(void)state;
	alone();
	a.nown = 3;
	a.own[2].bits = 64;
	ip6(a.own[2].ip, 9);
	neigh_set(w.a, &a, w.now);
	listen(5 * S);
	uint64_t asked = w.now;
	give(w.a, f, put_query(f, 0, 10000, false));
	struct taken t = listen(10 * S);
	assert_int_equal(t.n, 2);
	assert_true(t.report[0].at > asked && t.report[0].at != t.report[1].at);
	assert_int_equal(t.report[0].record, 2); /* MODE_IS_EXCLUDE */
	assert_memory_equal(t.report[0].to, routers2, NEIGH_IP);
	asked = w.now;
	give(w.a, f, put_query(f, 9, 1000, false));
	t = listen(10 * S);
	group_of(9, group);
	assert_int_equal(t.n, 1);
	assert_memory_equal(t.report[0].group, group, NEIGH_IP);
	assert_true(t.report[0].at - asked <= S);
	give(w.a, f, put_query(f, 5, 1000, false)); /* not ours */
	assert_int_equal(listen(10 * S).n, 0);
	/* the longest time is 8387.584 s */
	give(w.a, f, put_query(f, 0, 0xffff, false));
	t = listen(8388 * S);
	assert_int_equal(t.n, 2);
	assert_true(t.report[1].at - t.report[0].at > 0);
	/* a later query may hasten what is due, and does not put it off */
	give(w.a, f, put_query(f, 9, 0, false));
	give(w.a, f, put_query(f, 9, 60000, false));
	t = listen(S);
	assert_int_equal(t.n, 1);
	assert_int_equal(w.fate[0][NEIGH_HEARD], 6);
}

/* However many ask, a group is told ten times a second at most. */
static void test_a_flood_of_queries(void **state)
{
	uint8_t f[ROOM];
	unsigned n = 0;

	(void)state;
	begin_two();
	listen(5 * S);
	for (unsigned i = 0; i < 10000; i++) {
		give(w.a, f, put_query(f, i % 2, 0, false));
		n += listen(S / 1000).n;
	}
	assert_true(n >= 90 && n <= 101);
}

/* While somebody asks by MLDv1, it is spoken. */
static void test_old_queries(void **state)
{
	struct neigh_setup a = setup_of(mac_a, 7);
	uint8_t f[ROOM], group[NEIGH_IP];

	(void)state;
	begin_two();
	listen(5 * S);
	uint64_t asked = w.now;
	give(w.a, f, put_query(f, 0, 10000, true));
	struct taken t = listen(10 * S);
	assert_int_equal(t.n, 1);
	assert_int_equal(t.report[0].type, MLD_REPORT1);
	group_of(1, group);
	assert_memory_equal(t.report[0].to, group, NEIGH_IP);
	assert_memory_equal(t.report[0].group, group, NEIGH_IP);
	assert_true(t.report[0].at - asked <= 10 * S);
	neigh_set(w.a, &a, w.now);
	t = listen(5 * S);
	assert_int_equal(t.n, 3); /* it leaves once, and joins twice */
	unsigned done = t.report[0].type == MLD_DONE1 ? 0 : 1;
	assert_int_equal(t.report[done].type, MLD_DONE1);
	assert_memory_equal(t.report[done].group, group, NEIGH_IP);
	assert_memory_equal(t.report[done].to, ((const uint8_t[NEIGH_IP]){0xff, 2, [15] = 2}), 16);
	assert_int_equal(t.report[2].type, MLD_REPORT1);
	give(w.a, f, put_query(f, 0, 1000, false));
	assert_int_equal(listen(2 * S).report[0].type, MLD_REPORT1);
	w.now += 260 * S;
	neigh_turn(w.a, w.now);
	give(w.a, f, put_query(f, 0, 1000, false));
	assert_int_equal(listen(2 * S).report[0].type, MLD_REPORT2);
}

/* What its RFC forbids changes nothing; no byte beyond the end is read. */
static void test_refused(void **state)
{
	uint8_t f[ROOM];
	unsigned len;

	(void)state;
	begin_two();
	listen(5 * S);
	len = put_query(f, 0, 0, false);
	for (unsigned n = 14; n < len; n++) {
		uint8_t *cut = malloc(n);
		memcpy(cut, f, n);
		give(w.a, cut, n);
		free(cut);
	}
	assert_int_equal(w.fate[0][NEIGH_TRUNCATED], len - 63);
	f[65]++;
	give(w.a, f, len);
	assert_int_equal(w.fate[0][NEIGH_CHECKSUM], 1);
	len = put_query(f, 0, 0, false);
	f[21] = 64;
	give(w.a, f, len);
	assert_int_equal(w.fate[0][NEIGH_HOP_LIMIT], 1);
	len = put_query(f, 0, 0, false);
	memcpy(f + 56, "\1\4\0\0\0\0", 6); /* no router alert */
	give(w.a, f, len);
	len = put_query(f, 0, 0, false);
	f[70] = 0xfd; /* no group */
	give(w.a, f, sum_again(f, len));
	assert_int_equal(w.fate[0][NEIGH_MALFORMED], 2);
	len = put_query(f, 0, 0, false);
	f[22] = 0xfd; /* not of the link */
	give(w.a, f, sum_again(f, len));
	assert_int_equal(w.fate[0][NEIGH_SENDER], 1);
	assert_int_equal(listen(10 * S).n, 0);
	assert_int_equal(w.fate[0][NEIGH_HEARD], 0);
	/* reports of others are heard, so that nobody takes them for frames of streams */
	len = put_query(f, 1, 0, true);
	f[62] = MLD_REPORT1;
	give(w.a, f, sum_again(f, len));
	assert_int_equal(w.fate[0][NEIGH_HEARD], 1);
	assert_int_equal(listen(10 * S).n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_joined),
		TEST(test_left),
		TEST(test_many_left),
		TEST(test_queries),
		TEST(test_a_flood_of_queries),
		TEST(test_old_queries),
		TEST(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
