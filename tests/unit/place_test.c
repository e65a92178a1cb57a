/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests where queues go: maps that the user wrote, which are also made at random, and places that
 * the program chooses itself. */
#include "place.h"

#include <errno.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* cmocka.h leaves it to its users to include what it needs before it. */
#include <cmocka.h>

static const struct place_lcore lcores[] = {{1, 1, 0}, {2, 2, 0},  {3, 3, 0}, {4, 4, 0},
					    {5, 5, 0}, {6, 6, 0},  {7, 7, 0}, {8, 8, 0},
					    {9, 9, 0}, {11, 11, 1}};
static const struct place_port ports[] = {{16, 16, -1, false, false},
					  {16, 16, -1, false, false},
					  {1, 1, -1, false, false},
					  {16, 0, -1, false, false}};
static const struct place_in in = {lcores, ARRAY_SIZE(lcores), 0, ports, ARRAY_SIZE(ports)};

/* Appends a placement as "0R0=1 0T0=1": port, side, queue and lcore, in the placement's order. */
static void describe(const struct placement *p, struct sbuf *b)
{
	sbuf_reset(b);
	for (unsigned i = 0; i < p->n; i++)
		sbuf_addf(b, "%s%u%c%u=%u", i ? " " : "", p->q[i].port, p->q[i].tx ? 'T' : 'R',
			  p->q[i].queue, p->q[i].lcore);
}

static void expect(const char *text, const char *want)
{
	struct placement p;
	struct sbuf got = {0};
	struct err e = {0};
	int rc = place_maps(&text, 1, &in, &p, NULL, &e);

	if (rc != 0)
		fail_msg("%s: %s", text, e.text);
	describe(&p, &got);
	if (strcmp(sbuf_str(&got), want) != 0)
		fail_msg("%s: got %s, want %s", text, sbuf_str(&got), want);
	sbuf_free(&got);
	placement_free(&p);
}

/* Checks that a text is refused at column col, with all of the words (separated by '|') in the
 * message, and with nothing left in the output. */
static void refused_in(const struct place_in *i, const char *text, int col, const char *words)
{
	struct placement p;
	struct err e = {.col = -2};
	int rc = place_maps(&text, 1, i, &p, NULL, &e);
	char copy[256], *save = NULL;

	if (rc != -EINVAL)
		fail_msg("%s: rc %d, want -EINVAL", text, rc);
	if (e.col != col)
		fail_msg("%s: column %d, want %d (%s)", text, e.col, col, e.text);
	snprintf(copy, sizeof(copy), "%s", words);
	for (char *w = strtok_r(copy, "|", &save); w != NULL; w = strtok_r(NULL, "|", &save))
		if (strstr(e.text, w) == NULL)
			fail_msg("%s: \"%s\" lacks \"%s\"", text, e.text, w);
	assert_int_equal(p.n, 0);
	assert_null(p.q);
}

static void refused(const char *text, int col, const char *words)
{
	refused_in(&in, text, col, words);
}

static void forms(void **state)
{
	(void)state;
	expect("1.0", "0R0=1 0T0=1");
	expect("1.0, 2.1", "0R0=1 0T0=1 1R0=2 1T0=2");
	expect("2-5:6-9.0", "0R0=2 0R1=3 0R2=4 0R3=5 0T0=6 0T1=7 0T2=8 0T3=9");
	expect("[1:3].0", "0R0=1 0T0=3");
	expect("{1:3}.0", "0R0=1 0T0=3");
	expect("[1/3-4].0", "0R0=1 0R1=3 0R2=4 0T0=1 0T1=3 0T2=4");
	expect("1/3.0", "0R0=1 0R1=3 0T0=1 0T1=3");
	expect("[1:2].[0-1]", "0R0=1 0T0=2 1R0=1 1T0=2");
	expect("[4:5-6].1", "1R0=4 1T0=5 1T1=6");
	expect("[1-2:3].0", "0R0=1 0R1=2 0T0=3");
	expect("[1:2].0, [4:6].[1/2]", "0R0=1 0T0=2 1R0=4 1T0=6 2R0=4 2T0=6");
}

static void sides(void **state)
{
	(void)state;
	expect(":2.0", "0T0=2");
	expect("1:.0", "0R0=1");
	expect("[:2].0", "0T0=2");
	expect("[1:].0,:1.0", "0R0=1 0T0=1");
	expect("1:1.0", "0R0=1 0T0=1");
	/* The port list may have sides as well: here the core receives on port 0 and sends on port
	 * 1. */
	expect("1.[0:1]", "0R0=1 1T0=1");
	expect("[1:2].[0:1/2]", "0R0=1 1T0=2 2T0=2");
	expect("1.[0:]", "0R0=1");
}

static void written_order(void **state)
{
	(void)state;
	expect("[9/1/4-5].0", "0R0=9 0R1=1 0R2=4 0R3=5 0T0=9 0T1=1 0T2=4 0T3=5");
	expect("3:.0, 1:.0, :2.0", "0R0=3 0R1=1 0T0=2");
	expect(" [ 1 / 3 - 4 : 2 ] . 0 * 3\t", "0R0=1 0R1=3 0R2=4 0T0=2 0T1=2 0T2=2");
}

static void many_queues(void **state)
{
	(void)state;
	expect("1:2.0*4", "0R0=1 0R1=1 0R2=1 0R3=1 0T0=2 0T1=2 0T2=2 0T3=2");
	expect("1:2-4.0*4", "0R0=1 0R1=1 0R2=1 0R3=1 0T0=2 0T1=3 0T2=4 0T3=2");
	expect(":2/3.0*4", "0T0=2 0T1=3 0T2=2 0T3=3");
	expect("1:.0,:2.0*2", "0R0=1 0T0=2 0T1=2");
	expect("1.0*2", "0R0=1 0R1=1 0T0=1 0T1=1");
	expect(":1.[0-1]*2", "0T0=1 0T1=1 1T0=1 1T1=1");
}

static void several_texts(void **state)
{
	(void)state;
	const char *maps[] = {"1:2.0", "3:4.1,5.2", "6:.0"};
	struct placement p;
	struct sbuf got = {0};
	struct err e = {0};
	unsigned which = 99;

	assert_int_equal(place_maps(maps, 3, &in, &p, &which, &e), 0);
	describe(&p, &got);
	assert_string_equal(sbuf_str(&got), "0R0=1 0R1=6 0T0=2 1R0=3 1T0=4 2R0=5 2T0=5");
	assert_int_equal(p.nports, 4);
	assert_int_equal(p.port[0].nrxq, 2);
	assert_int_equal(p.port[0].ntxq, 1);
	assert_int_equal(p.port[3].nrxq + p.port[3].ntxq, 0);
	placement_free(&p);
	sbuf_free(&got);

	const char *bad[] = {"1.0", "2.1, 12.1"};
	assert_int_equal(place_maps(bad, 2, &in, &p, &which, &e), -EINVAL);
	assert_int_equal(which, 1);
	assert_int_equal(e.col, 5);
}

static void wrong_numbers(void **state)
{
	(void)state;
	refused("12.0", 0, "no lcore 12|1-9, 11");
	refused("1.0, 10.1", 5, "no lcore 10|1-9, 11");
	refused("[1/8-10].0", 3, "no lcore 10");
	refused("0.0", 0, "lcore 0 is control|1-9, 11");
	refused("0-2.0", 0, "lcore 0 is control");
	refused("1.4", 2, "no port 4|0-3");
	refused("1.[0-9]", 3, "no port 4");
	/* The range holds the core that is too many. */
	refused("1-4:5.2", 0, "port 2 has at most 1 Rx queue");
	refused("1/4:5.2", 2, "port 2 has at most 1 Rx queue|name fewer cores");
	refused("1.0,3:2.0*16", 10, "port 0 has at most 16 Rx queues|smaller *N");
	refused("1.3", 0, "port 3 has no Tx queues|1:.3");
	expect("1:.3", "3R0=1");
	refused("99999999999999999999999999999.0", 0, "999999999999999999999999...|too large|1023");
	refused("1.1024", 2, "1024|too large");
	refused("1.4294967296", 2, "too large");
	refused("1:2.0*257", 6, "257|256");
	refused("1:2.0*0", 6, "*0");
	refused("1-4:5.0*3", 8, "*3|4 Rx cores|*4 or more");
}

static void twice(void **state)
{
	(void)state;
	refused("1/1.0", 2, "1 is named twice");
	refused("1-3/2.0", 4, "2 is named twice");
	refused("1.[0/0]", 5, "0 is named twice");
	refused("1.0, 1.0", 5, "lcore 1 is named twice for Rx of port 0|*N");
	refused("1:2.0, 3:2.0", 9, "lcore 2 is named twice for Tx of port 0");
	expect("1:2.0, 2:1.0", "0R0=1 0R1=2 0T0=2 0T1=1");
}

static void junk(void **state)
{
	(void)state;
	refused("", 0, "empty map|1.0");
	refused("  ", 2, "empty map");
	refused(",1.0", 0, "empty map");
	refused("1.0,", 4, "empty map");
	refused("1.0,,2.1", 4, "empty map");
	refused(".0", 0, "expected an lcore number");
	refused("1.", 2, "ends here|a port number");
	refused("1", 1, "ends here|'.'");
	refused("1.0x", 3, "'x'");
	refused("1.0 2.1", 4, "'2'");
	refused("abc", 0, "'a'|lcore number");
	refused("-1.0", 0, "'-'");
	refused("+1.0", 0, "'+'");
	refused("0x1.0", 1, "'x'");
	refused("1-.0", 2, "'.'|lcore number");
	refused("1/.0", 2, "'.'|lcore number");
	refused("1-2-3.0", 3, "'-'");
	refused("3-1.0", 0, "backwards|1-3");
	refused(":.0", 0, "both sides");
	refused("[:].0", 1, "both sides");
	refused("[].0", 1, "']'");
	refused("[1.0", 2, "'['|']'|not closed");
	refused("{1].0", 2, "'{'|'}'");
	refused("[1,3].0", 2, "','|'/'");
	refused("1].0", 1, "']'");
	refused("1:2:3.0", 3, "':'");
	refused("1:x.0", 2, "'x'|lcore number");
	refused("1..0", 2, "'.'|port number");
	/* A sign that stands between two things has nothing behind or before it. */
	refused("1:.0:", 5, "port number is missing behind|[PORT:]");
	refused("1.0:", 4, "port number is missing behind");
	refused("1.0:,2.1", 4, "port number is missing behind");
	refused("1.0:*2", 4, "port number is missing behind");
	refused("1.:0", 2, "port number is missing before|[:PORT]");
	refused(":1. :0", 4, "port number is missing before");
	refused("1.:", 2, "both sides");
	refused("1.[:]", 3, "both sides");
	refused("1.0::1", 4, "':'");
	refused("1.0/", 4, "ends here");
	refused("1./0", 2, "'/'");
	refused("1.0//1", 4, "'/'");
	refused("1.0-", 4, "ends here");
	refused("1.-0", 2, "'-'");
	refused("1.0--1", 4, "'-'");
	refused("1.0.", 3, "'.'");
	refused("1.[0", 4, "not closed");
	refused("1.0]", 3, "']'");
	refused("1.[0]]", 5, "']'");
	refused("1.[[0]]", 3, "'['");
	refused("1.[0}", 4, "'}'");
	refused("1.0**2", 4, "'*'");
	refused("1.0*2*2", 5, "'*'");
	refused("1.*2", 2, "'*'");
	refused("1 2.0", 2, "'2'");
	refused("1.0 0", 4, "'0'");
	refused("1.0*2 2", 6, "'2'");
	refused("1.0;2.1", 3, "';'");
	refused("99999999999999999999999999.0", 0, "too large");
	refused("1.99999999999999999999", 2, "too large");
	refused("1.0*99999999999", 4, "too large");
	refused("1.0*", 4, "ends here|number of queues");
	refused("1.0*x", 4, "'x'");
	refused("1\x80.0", 1, "0x80");
	refused("1:2.[0:]", 7, "lcore 2|Tx|no port");
	refused("1:.[0:1]", 2, "port 1|Tx|no lcore");
}

static void needed_sides(void **state)
{
	(void)state;
	const struct place_port need[] = {{4, 4, -1, true, true}, {4, 4, -1, false, true}};
	const struct place_in n = {lcores, ARRAY_SIZE(lcores), 0, need, 2};

	refused_in(&n, ":2.0", 0, "port 0 has no Rx core|[RX:TX].0");
	refused_in(&n, "1.1, 2:.0", 7, "port 0 has no Tx core");
	refused_in(&n, "1:.1", 2, "port 1 has no Tx core");

	/* Two maps may be complete together, and a port that nobody names needs nothing. */
	const char *maps[] = {":2.0", "1:.0"};
	struct placement p;
	struct err e = {0};
	assert_int_equal(place_maps(maps, 2, &n, &p, NULL, &e), 0);
	placement_free(&p);
}

static void no_workers_no_ports(void **state)
{
	(void)state;
	const struct place_in none = {NULL, 0, 3, ports, 1}, noport = {lcores, 2, 0, NULL, 0};
	struct placement p;
	struct err e = {0};

	refused_in(&none, "1.0", 0, "no lcore 1|none");
	refused_in(&noport, "1.0", 2, "no port 0|-p");
	assert_int_equal(place_auto(&none, &p, &e), -EINVAL);
	assert_non_null(strstr(e.text, "lcore 3"));
	assert_int_equal(place_auto(&noport, &p, &e), 0);
	assert_int_equal(p.n, 0);
	placement_free(&p);
}

/* Lcore n is on the n-th CPU, up to the most that EAL takes; a single CPU is shared. */
static void usual_lcores(void **state)
{
	int cpu[PLACE_USUAL_LCORES + 7], of[PLACE_USUAL_LCORES];

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(cpu); i++)
		cpu[i] = (int)(2 * i + 3);
	assert_int_equal(place_usual(cpu, 0, of), 0);
	assert_int_equal(place_usual(cpu, 1, of), 2);
	assert_int_equal(of[0], 3);
	assert_int_equal(of[1], 3);
	assert_int_equal(place_usual(cpu, 2, of), 2);
	assert_int_equal(of[1], 5);
	assert_int_equal(place_usual(cpu, ARRAY_SIZE(cpu), of), PLACE_USUAL_LCORES);
	assert_memory_equal(of, cpu, sizeof(of));
}

static void lcore_options(void **state)
{
	static const char *const yes[] = {"-l",  "-l1,2",    "-c",        "-cff",
					  "-s3", "--lcores", "--lcores=1"};
	static const char *const no[] = {"",   "-",         "l",           "-a",
					 "--", "--lcoresx", "--log-level", "--socket-mem"};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(yes); i++)
		assert_true(place_is_lcore_option(yes[i]));
	for (size_t i = 0; i < ARRAY_SIZE(no); i++)
		assert_false(place_is_lcore_option(no[i]));
}

static void counts(void **state)
{
	(void)state;
	const char *maps[] = {"1-3:4.0", "2.2*5"}, *bad = "1.3";
	uint16_t nq[3][2] = {{9, 9}, {9, 9}, {9, 9}};
	const uint16_t want[3][2] = {{3, 1}, {0, 0}, {5, 5}};
	struct err e;

	assert_int_equal(place_count(maps, 2, 3, nq, NULL, &e), 0);
	assert_memory_equal(nq, want, sizeof(want));
	assert_int_equal(place_count(&bad, 1, 3, nq, NULL, &e), -EINVAL);
	assert_int_equal(e.col, 2);
	assert_memory_equal(nq, want, sizeof(want));
}

static uint32_t rnd_state;
static unsigned rnd(unsigned n)
{
	rnd_state = rnd_state * 1664525u + 1013904223u;
	return (rnd_state >> 8) % n;
}

static void random_list(struct sbuf *b, unsigned base, unsigned n)
{
	unsigned items = 1 + rnd(3);

	for (unsigned i = 0; i < items; i++) {
		unsigned from = base + rnd(n);

		sbuf_addf(b, "%s%u", i ? "/" : "", from);
		if (rnd(3) == 0)
			sbuf_addf(b, "-%u", from + rnd(3));
	}
}

static void random_part(struct sbuf *b, unsigned base, unsigned n)
{
	unsigned form = rnd(3), bracket = rnd(3);

	sbuf_add(b, bracket == 0 ? "" : bracket == 1 ? "[" : "{");
	if (form != 1)
		random_list(b, base, n);
	if (form != 0)
		sbuf_addc(b, ':');
	if (form == 1 || (form == 2 && rnd(2)))
		random_list(b, base, n);
	sbuf_add(b, bracket == 0 ? "" : bracket == 1 ? "]" : "}");
}

static void random_map(struct sbuf *b)
{
	sbuf_reset(b);
	for (unsigned i = 0, n = 1 + rnd(3); i < n; i++) {
		sbuf_add(b, i ? ", " : "");
		random_part(b, 1, 9);
		sbuf_addc(b, '.');
		if (rnd(3) == 0)
			random_part(b, 0, 4);
		else
			sbuf_addf(b, "%u", rnd(3));
		if (rnd(3) == 0)
			sbuf_addf(b, "*%u", 1 + rnd(6));
	}
}

/* Checks a placement: it is sorted, its queues are numbered 0, 1, 2 ... for each port and side,
 * each queue is there once, with a worker that exists, and the counts agree. */
static void check_placement(const struct place_in *i, const struct placement *p, const char *text)
{
	unsigned n = 0, at = 0;

	assert_int_equal(p->nports, i->nports);
	for (unsigned port = 0; port < p->nports; port++) {
		const struct place_port *dev = &i->port[port];

		assert_true(p->port[port].nrxq <= dev->max_rxq &&
			    p->port[port].ntxq <= dev->max_txq);
		for (int side = 0; side < 2; side++) {
			unsigned nq = side ? p->port[port].ntxq : p->port[port].nrxq;

			n += nq;
			for (unsigned q = 0; q < nq; q++, at++) {
				bool there = false;

				assert_true(at < p->n);
				if (p->q[at].port != port || p->q[at].tx != (side == 1) ||
				    p->q[at].queue != q)
					fail_msg("%s: entry %u is not port %u side %d queue %u",
						 text, at, port, side, q);
				for (unsigned k = 0; k < i->nlcores; k++)
					there |= i->lcore[k].lcore == p->q[at].lcore;
				assert_true(there);
			}
		}
	}
	assert_int_equal(n, p->n);
}

static void same(const struct placement *a, const struct placement *b)
{
	assert_int_equal(a->n, b->n);
	for (unsigned k = 0; k < a->n; k++)
		assert_true(a->q[k].port == b->q[k].port && a->q[k].queue == b->q[k].queue &&
			    a->q[k].tx == b->q[k].tx && a->q[k].lcore == b->q[k].lcore);
}

static void random_maps(void **state)
{
	(void)state;
	struct sbuf b = {0};
	unsigned good = 0, bad = 0;

	rnd_state = 1;
	for (unsigned round = 0; round < 20000; round++) {
		struct placement p, again;
		uint16_t nq[ARRAY_SIZE(ports)][2];
		struct err e = {.col = -2}, e2 = {.col = -2};

		random_map(&b);
		int rc = place_maps((const char *const *)&b.s, 1, &in, &p, NULL, &e);
		int rc2 = place_maps((const char *const *)&b.s, 1, &in, &again, NULL, &e2);
		assert_int_equal(rc, rc2);
		if (rc == 0) {
			good++;
			check_placement(&in, &p, b.s);
			same(&p, &again);
			assert_int_equal(place_count((const char *const *)&b.s, 1, in.nports, nq,
						     NULL, &e),
					 0);
			for (unsigned k = 0; k < in.nports; k++)
				assert_true(nq[k][0] == p.port[k].nrxq &&
					    nq[k][1] == p.port[k].ntxq);
			placement_free(&p);
			placement_free(&again);
		} else {
			bad++;
			if (e.col < 0 || (size_t)e.col > b.len || e.text[0] == '\0')
				fail_msg("%s: column %d, text \"%s\"", b.s, e.col, e.text);
			assert_string_equal(e.text, e2.text);
		}
	}
	/* This means something only if the generator reaches both outcomes. */
	assert_true(good > 2000 && bad > 2000);
	sbuf_free(&b);
}

static void expect_auto(const struct place_in *i, const char *want)
{
	struct placement p;
	struct sbuf got = {0};
	struct err e = {0};

	assert_int_equal(place_auto(i, &p, &e), 0);
	check_placement(i, &p, "auto");
	describe(&p, &got);
	if (strcmp(sbuf_str(&got), want) != 0)
		fail_msg("auto with %u workers: got %s, want %s", i->nlcores, sbuf_str(&got), want);
	sbuf_free(&got);
	placement_free(&p);
}

static void chosen(void **state)
{
	(void)state;
	struct place_in i = {lcores, 10, 0, ports, 2};

	expect_auto(&i, "0R0=1 0T0=1 1R0=2 1T0=2");
	i.nlcores = 2;
	expect_auto(&i, "0R0=1 0T0=1 1R0=2 1T0=2");
	i.nlcores = 1;
	expect_auto(&i, "0R0=1 0T0=1 1R0=1 1T0=1");
	i.nports = 4; /* port 3 only receives */
	i.nlcores = 10;
	expect_auto(&i, "0R0=1 0T0=1 1R0=2 1T0=2 2R0=3 2T0=3 3R0=4");
	i.nlcores = 2;
	expect_auto(&i, "0R0=1 0T0=1 1R0=2 1T0=2 2R0=1 2T0=1 3R0=2");
}

static void chosen_near(void **state)
{
	(void)state;
	const struct place_lcore l[] = {{1, 1, 0}, {2, 2, 0}, {3, 3, 1}, {4, 4, 1}, {5, 5, 1}};
	const struct place_port far[] = {{4, 4, -1}, {4, 4, 1}};
	const struct place_port two[] = {{4, 4, 1}, {4, 4, 0}},
				one[] = {{4, 4, 1}, {4, 4, 1}, {4, 4, 1}};
	struct place_in i = {l, 5, 0, far, 2};

	expect_auto(&i, "0R0=1 0T0=1 1R0=3 1T0=3");
	i.port = two;
	i.nlcores = 3;
	expect_auto(&i, "0R0=3 0T0=3 1R0=1 1T0=1");
	/* three ports are on a node with one worker, and the other workers take what is left */
	i.port = one;
	i.nports = 3;
	expect_auto(&i, "0R0=3 0T0=3 1R0=1 1T0=1 2R0=2 2T0=2");
}

/* All queues of a port are on one worker, no worker has two ports while another one has none, and
 * a port without queues takes no worker from the others. */
static void chosen_random(void **state)
{
	(void)state;
	rnd_state = 7;
	for (unsigned round = 0; round < 5000; round++) {
		struct place_lcore l[12];
		struct place_port p[6];
		struct place_in i = {l, 1 + rnd(12), 0, p, rnd(7)};
		struct placement a, b;
		unsigned sides = 0, busy = 0, max = 0, load[13] = {0}, of[6] = {0};

		for (unsigned k = 0; k < i.nlcores; k++)
			l[k] = (struct place_lcore){k + 1, (int)k, (int)rnd(3) - 1};
		for (unsigned k = 0; k < i.nports; k++) {
			p[k] = (struct place_port){rnd(3), rnd(3), (int)rnd(3) - 1, false, false};
			sides += (p[k].max_rxq > 0) + (p[k].max_txq > 0);
			busy += p[k].max_rxq > 0 || p[k].max_txq > 0;
		}
		assert_int_equal(place_auto(&i, &a, NULL), 0);
		assert_int_equal(place_auto(&i, &b, NULL), 0);
		check_placement(&i, &a, "auto");
		same(&a, &b);
		assert_int_equal(a.n, sides);
		for (unsigned k = 0; k < a.n; k++) {
			unsigned lcore = a.q[k].lcore, *its = &of[a.q[k].port];

			assert_true(*its == 0 || *its == lcore);
			load[lcore] += *its == 0;
			*its = lcore;
			max = load[lcore] > max ? load[lcore] : max;
		}
		assert_int_equal(max, (busy + i.nlcores - 1) / i.nlcores);
		placement_free(&a);
		placement_free(&b);
	}
}

static const char *port_name(void *arg, unsigned port)
{
	const char *const *names = arg;

	return names[port];
}

static void picture(void **state)
{
	(void)state;
	const char *names[] = {"wire0", "wire1", "enp129s0f0np0"}, *map = "1-2:3.0*3, 11.2";
	const struct place_port dev[] = {{4, 4, -1}, {4, 4, -1}, {4, 4, 0}};
	const struct place_lcore l[] = {{1, 1, 0}, {2, 2, 0}, {3, 3, 0}, {4, -1, -1}, {11, 27, 1}};
	const struct place_in i = {l, 5, 0, dev, 3};
	struct placement p;
	struct sbuf b = {0};
	struct err e = {0};

	assert_int_equal(place_maps(&map, 1, &i, &p, NULL, &e), 0);
	place_draw(&p, &i, port_name, names, &b);
	assert_string_equal(
		b.s,
		"+- port 0  wire0 -----------------+\n"
		"|  Rx 0                           |----> lcore 1  CPU 1  node 0\n"
		"|  Rx 1                           |----> lcore 2  CPU 2  node 0\n"
		"|  Rx 2                           |----> lcore 1  CPU 1  node 0\n"
		"|  Tx 0                           |<---- lcore 3  CPU 3  node 0\n"
		"|  Tx 1                           |<---- lcore 3  CPU 3  node 0\n"
		"|  Tx 2                           |<---- lcore 3  CPU 3  node 0\n"
		"+---------------------------------+\n"
		"\n"
		"+- port 1  wire1 -----------------+\n"
		"|  unused                         |\n"
		"+---------------------------------+\n"
		"\n"
		"+- port 2  enp129s0f0np0  node 0 -+\n"
		"|  Rx 0                           |----> lcore 11  CPU 27  node 1  (far: the port is on node 0)\n"
		"|  Tx 0                           |<---- lcore 11  CPU 27  node 1  (far: the port is on node 0)\n"
		"+---------------------------------+\n"
		"\n"
		"lcore 0  control\n"
		"lcore 1  CPU 1  node 0  port 0 Rx 0,2\n"
		"lcore 2  CPU 2  node 0  port 0 Rx 1\n"
		"lcore 3  CPU 3  node 0  port 0 Tx 0-2\n"
		"lcore 4  idle\n"
		"lcore 11  CPU 27  node 1  port 2 Rx 0 Tx 0\n");
	placement_free(&p);
	sbuf_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(forms),         cmocka_unit_test(sides),
		cmocka_unit_test(written_order), cmocka_unit_test(many_queues),
		cmocka_unit_test(several_texts), cmocka_unit_test(wrong_numbers),
		cmocka_unit_test(twice),         cmocka_unit_test(junk),
		cmocka_unit_test(needed_sides),  cmocka_unit_test(no_workers_no_ports),
		cmocka_unit_test(usual_lcores),  cmocka_unit_test(lcore_options),
		cmocka_unit_test(counts),        cmocka_unit_test(random_maps),
		cmocka_unit_test(chosen),        cmocka_unit_test(chosen_near),
		cmocka_unit_test(chosen_random), cmocka_unit_test(picture),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
