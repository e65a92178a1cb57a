/* SPDX-License-Identifier: BSD-3-Clause */
/* The search for a port's capacity against made devices whose limits are known: a link, a slot,
 * queues of so many frames/s, cores that need so many cycles for a frame, too few buffers, a slow
 * tester, a disturbed machine. */
#include "cmocka_names.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capacity.h"

#define HZ 2.5e9
#define FAST 1e12 /* no limit */

/* What a made device and its workers can do; each queue has a worker of its own. */
struct made {
	double queue_pps[CAPACITY_PORTS][CAPACITY_SIDES]; /* of the device, for each queue */
	double cycles[CAPACITY_PORTS][CAPACITY_SIDES];    /* of a worker, for each frame */
	double buffers_pps[CAPACITY_SIDES];               /* of the port that is measured */
	double path_loss;                                 /* share that is lost on the way */
	double disturbed_above;                           /* rates above are not measured well */
	unsigned disturb;                                 /* so many trials more are disturbed */
	unsigned disturb_trial;                           /* and this one; the first is 1 */
	bool mute;      /* the device does not count what it misses */
	double room;    /* the device counts so many frames/s more as sent than have left */
	unsigned looks; /* for a buffer that was not there, without any frame lost by it */
	bool deaf;      /* nothing arrives */
	bool shared;    /* one worker serves both ports */
	unsigned trials;
};

static struct made made_fast(void)
{
	struct made m = {.buffers_pps = {FAST, FAST}, .disturbed_above = (double)INFINITY};

	for (unsigned who = 0; who < CAPACITY_PORTS; who++)
		for (unsigned i = 0; i < CAPACITY_SIDES; i++) {
			m.queue_pps[who][i] = FAST;
			m.cycles[who][i] = 5;
		}
	return m;
}

static struct capacity_ask asked(double link_bps, bool told)
{
	struct capacity_ask a = {.nsizes = 1, .ncounts = 1, .size = {64}, .count = {1}};

	for (unsigned d = 0; d < CAPACITY_DIRECTIONS; d++)
		a.direction[d] = true;
	for (unsigned who = 0; who < CAPACITY_PORTS; who++)
		a.port[who] = (struct capacity_port){.port = who,
						     .nqueues = {4, 4},
						     .link_bps = link_bps,
						     .link_told = told};
	return a;
}

/* Frames/s that a sender gets out, and what its side shows. */
static double send_side(const struct made *m, const struct capacity_ask *ask, unsigned who,
			const struct capacity_trial *t, double taken, struct capacity_side *s)
{
	const struct capacity_port *p = &ask->port[who];
	double core = t->queues * HZ / m->cycles[who][CAPACITY_TX],
	       device = t->queues * m->queue_pps[who][CAPACITY_TX],
	       buffers = who == CAPACITY_OWN ? m->buffers_pps[CAPACITY_TX] : FAST, out = t->pps;

	device = fmin(device, taken);
	if (p->link_told)
		device = fmin(device, capacity_link_pps(p->link_bps, t->size));
	if (p->pcie_bps > 0)
		device = fmin(device, p->pcie_bps / 8 / capacity_pcie_bytes(t->size));
	out = fmin(fmin(out, core), fmin(device, buffers));
	*s = (struct capacity_side){.queues = t->queues,
				    .workers = t->queues,
				    .busiest = 1 + who,
				    .pps = out,
				    .cycles = m->cycles[who][CAPACITY_TX],
				    .busy = fmin(1, out / core),
				    .shared = m->shared};
	s->room = m->room;
	if (out >= device && t->pps > device) {
		s->pps += m->room;
		s->stall_share = 0.9;
		s->busy = 1; /* a worker that offers the same frames again is not idle */
	}
	if (out >= buffers && t->pps > buffers)
		s->starved_share = 2;
	return out;
}

static void receive_side(const struct made *m, const struct capacity_ask *ask, unsigned who,
			 const struct capacity_trial *t, double comes, struct capacity_reading *r)
{
	struct capacity_side *s = &r->side[who][CAPACITY_RX];
	double core = t->queues * HZ / m->cycles[who][CAPACITY_RX],
	       device = t->queues * m->queue_pps[who][CAPACITY_RX],
	       buffers = who == CAPACITY_OWN ? m->buffers_pps[CAPACITY_RX] : FAST,
	       got = fmin(fmin(comes * (1 - m->path_loss), buffers), fmin(core, device));

	(void)ask;
	if (m->deaf)
		got = 0;
	*s = (struct capacity_side){.queues = t->queues,
				    .workers = t->queues,
				    .busiest = 11 + who,
				    .pps = got,
				    .cycles = m->cycles[who][CAPACITY_RX],
				    .busy = fmin(1, got / core),
				    .shared = m->shared};
	if (who != CAPACITY_OWN)
		return;
	r->sent_for = (uint64_t)comes;
	r->came = (uint64_t)got;
	uint64_t gone = r->sent_for - r->came;
	r->nobuffer = m->looks;
	if (gone == 0)
		return;
	if (got >= buffers)
		r->nobuffer = gone;
	else if (!m->mute && (got >= core || got >= device))
		r->missed = gone;
	else
		r->lost = gone;
}

/* Makes one trial on a made device. */
static void made_trial(struct made *m, const struct capacity_ask *ask,
		       const struct capacity_trial *t, struct capacity_reading *r)
{
	*r = (struct capacity_reading){.hz = HZ, .workers = t->queues};
	m->trials++;
	for (unsigned who = 0; who < CAPACITY_PORTS; who++) {
		if (t->direction == (who == CAPACITY_OWN ? CAPACITY_RECEIVE : CAPACITY_SEND))
			continue;
		double taken = ask->port[who].waits ? t->queues * HZ / m->cycles[!who][CAPACITY_RX]
						    : FAST,
		       out = send_side(m, ask, who, t, taken, &r->side[who][CAPACITY_TX]);
		if (!isinf(t->pps) && out < t->pps * 0.999)
			r->worth = CAPACITY_SHORT;
		receive_side(m, ask, !who, t, out, r);
	}
	if (m->disturb > 0 || t->pps > m->disturbed_above || m->trials == m->disturb_trial) {
		m->disturb -= m->disturb > 0;
		r->worth = CAPACITY_DISTURBED;
		snprintf(r->why, sizeof(r->why), "worker 1 waited");
	}
}

static struct capacity measured(struct made *m, const struct capacity_ask *ask)
{
	struct capacity k;
	struct capacity_trial t;
	struct capacity_reading r;

	m->trials = 0;
	capacity_begin(&k, ask);
	while (capacity_next(&k, &t)) {
		assert_true(m->trials < k.npoints * RATE_SEARCH_MOST);
		assert_true(capacity_rest(&k) > 0);
		made_trial(m, ask, &t, &r);
		capacity_feed(&k, &r);
	}
	assert_int_equal(capacity_rest(&k), 0);
	return k;
}

static double carried(const struct capacity_point *p)
{
	return p->at
		.side[CAPACITY_OWN][p->direction == CAPACITY_RECEIVE ? CAPACITY_RX : CAPACITY_TX]
		.pps;
}

/* Checks a point: its state, its limit, and frames/s to the resolution of the search. */
static void is(const struct capacity_point *p, enum capacity_state state, enum capacity_limit limit,
	       double pps)
{
	if (p->state != state || p->limit != limit)
		fail_msg("%s, queues %u: %s, %s: %s; wanted %s, %s",
			 capacity_direction_name(p->direction), p->queues,
			 capacity_state_name(p->state), capacity_limit_name(p->limit), p->why,
			 capacity_state_name(state), capacity_limit_name(limit));
	if (carried(p) > pps * 1.001 || carried(p) < pps * (1 - 1.5 * RATE_SEARCH_RESOLUTION))
		fail_msg("%s, queues %u: %.0f frames/s; wanted %.0f",
			 capacity_direction_name(p->direction), p->queues, carried(p), pps);
}

static void test_link(void **state)
{
	struct capacity_ask ask = asked(10e9, true);
	struct made m = made_fast();

	(void)state;
	ask.nsizes = 2;
	ask.size[1] = 1518;
	struct capacity k = measured(&m, &ask);
	assert_int_equal(k.npoints, 6);
	for (unsigned i = 0; i < k.npoints; i++) {
		const struct capacity_point *p = &k.point[i];
		is(p, CAPACITY_EXACT, CAPACITY_LINK, 10e9 / 8 / (p->size + 20));
		assert_true(fabs(p->l1_bps - 10e9) < 10e9 * 0.001);
		assert_non_null(strstr(p->why, "port 0 is full"));
	}
	capacity_free(&k);
}

/* The device takes what its queues hold at once, and that counts as sent although it has not
 * left. */
static void test_link_and_queues(void **state)
{
	struct capacity_ask ask = asked(1e9, true);
	struct made m = made_fast();

	(void)state;
	ask.size[0] = 1518;
	ask.direction[CAPACITY_RECEIVE] = ask.direction[CAPACITY_BOTH] = false;
	for (unsigned descriptors = 512; descriptors <= 4096; descriptors *= 2) {
		m.room = descriptors; /* in trials of 1 s */
		struct capacity k = measured(&m, &ask);
		is(&k.point[0], CAPACITY_EXACT, CAPACITY_LINK, capacity_link_pps(1e9, 1518));
		assert_true(k.point[0].l1_bps <= 1e9);
		capacity_free(&k);
	}
	/* a device that is slower than its link: nobody knows how full its queues were */
	m.queue_pps[CAPACITY_OWN][CAPACITY_TX] = 70000;
	m.room = 1024;
	struct capacity k = measured(&m, &ask);
	assert_int_equal(k.point[0].state, CAPACITY_INVALID);
	assert_non_null(strstr(k.point[0].why, "longer `for`"));
	assert_true(k.point[0].l1_bps == 0 && k.point[0].cores == 0);
	capacity_free(&k);
	m.room = 102;
	k = measured(&m, &ask);
	is(&k.point[0], CAPACITY_EXACT, CAPACITY_DEVICE, 70102);
	capacity_free(&k);
}

/* A queue of the device takes 3 M frames/s, whichever way they go. */
static void test_queue(void **state)
{
	struct capacity_ask ask = asked(100e9, true);
	struct made m = made_fast();

	(void)state;
	ask.ncounts = 3;
	ask.count[1] = 2;
	ask.count[2] = 4;
	m.queue_pps[CAPACITY_OWN][CAPACITY_TX] = m.queue_pps[CAPACITY_OWN][CAPACITY_RX] = 3e6;
	struct capacity k = measured(&m, &ask);
	assert_int_equal(k.npoints, 9);
	for (unsigned i = 0; i < k.npoints; i++)
		is(&k.point[i], CAPACITY_EXACT, CAPACITY_DEVICE, 3e6 * k.point[i].queues);
	/* how long a worker waits for the device is not what a frame costs */
	assert_int_equal(k.point[0].cores, 0);
	capacity_free(&k);
}

static void test_core(void **state)
{
	struct capacity_ask ask = asked(100e9, true);
	struct made m = made_fast();

	(void)state;
	ask.ncounts = 2;
	ask.count[1] = 3;
	/* 148.8 M frames/s of 64 bytes x 50 cycles are 2.98 cores; x 170 are 10.1 */
	m.cycles[CAPACITY_OWN][CAPACITY_TX] = 50;
	m.cycles[CAPACITY_OWN][CAPACITY_RX] = 170;
	struct capacity k = measured(&m, &ask);
	is(&k.point[0], CAPACITY_EXACT, CAPACITY_CORE, HZ / 50);
	assert_int_equal(k.point[0].cores, 3);
	assert_non_null(
		strstr(k.point[0].need,
		       "port 0 needs 3 cores to send 100G at 64 bytes: 50 cycles per frame"));
	is(&k.point[1], CAPACITY_EXACT, CAPACITY_LINK, capacity_link_pps(100e9, 64));
	is(&k.point[2], CAPACITY_EXACT, CAPACITY_CORE, HZ / 170);
	assert_int_equal(k.point[2].cores, 11);
	is(&k.point[3], CAPACITY_EXACT, CAPACITY_CORE, 3 * HZ / 170);
	is(&k.point[4], CAPACITY_EXACT, CAPACITY_CORE, HZ / 170);
	assert_int_equal(k.point[4].cores, 14); /* 2.98 and 10.12 together */
	assert_true(k.point[2].at.side[CAPACITY_OWN][CAPACITY_RX].busy > 0.95);
	capacity_free(&k);
	/* the kernel's ports cost thousands of cycles */
	m.cycles[CAPACITY_OWN][CAPACITY_TX] = 4250;
	k = measured(&m, &ask);
	assert_non_null(strstr(k.point[0].need, " at 64 bytes: 4250 cycles per frame"));
	capacity_free(&k);
}

/* Many devices do not count the frames that they had no descriptor for. */
static void test_core_of_mute_device(void **state)
{
	struct capacity_ask ask = asked(100e9, true);
	struct made m = made_fast();

	(void)state;
	m.mute = true;
	m.cycles[CAPACITY_OWN][CAPACITY_RX] = 170;
	struct capacity k = measured(&m, &ask);
	is(&k.point[1], CAPACITY_EXACT, CAPACITY_CORE, HZ / 170);
	is(&k.point[2], CAPACITY_EXACT, CAPACITY_CORE, HZ / 170);
	capacity_free(&k);
}

/* A worker that serves another port as well: with one of its own, the port would carry more. */
static void test_shared(void **state)
{
	struct capacity_ask ask = asked(100e9, false);
	struct made m = made_fast();

	(void)state;
	m.shared = true;
	m.cycles[CAPACITY_OWN][CAPACITY_TX] = 50;
	struct capacity k = measured(&m, &ask);
	is(&k.point[0], CAPACITY_LEAST, CAPACITY_CORE, HZ / 50);
	assert_non_null(strstr(k.point[0].why, "serves another port as well"));
	capacity_free(&k);
}

static void test_slot(void **state)
{
	struct capacity_ask ask = asked(100e9, true);
	struct made m = made_fast();

	(void)state;
	ask.port[CAPACITY_OWN].pcie_bps = 63e9; /* 8 lanes of 8 GT/s */
	m.queue_pps[CAPACITY_OWN][CAPACITY_RX] = 63e9 / 8 / capacity_pcie_bytes(64);
	struct capacity k = measured(&m, &ask);
	for (unsigned i = 0; i < k.npoints; i++)
		is(&k.point[i], CAPACITY_EXACT, CAPACITY_PCIE, 63e9 / 8 / capacity_pcie_bytes(64));
	capacity_free(&k);
	/* an estimate does not come before what is sure: here the sender's core, the receiver's */
	m.queue_pps[CAPACITY_OWN][CAPACITY_RX] = FAST;
	for (unsigned i = 0; i < CAPACITY_SIDES; i++)
		m.cycles[CAPACITY_OWN][i] = HZ / (0.95 * 63e9 / 8 / capacity_pcie_bytes(64));
	k = measured(&m, &ask);
	for (unsigned i = 0; i < 2; i++)
		is(&k.point[i], CAPACITY_EXACT, CAPACITY_CORE,
		   HZ / m.cycles[CAPACITY_OWN][CAPACITY_TX]);
	assert_true(capacity_pcie_bytes(64) > 100 && capacity_pcie_bytes(64) < 140);
	assert_true(capacity_pcie_bytes(1518) > 1650 && capacity_pcie_bytes(1518) < 1750);
	capacity_free(&k);
}

static void test_memory(void **state)
{
	struct capacity_ask ask = asked(100e9, true);
	struct made m = made_fast();

	(void)state;
	m.buffers_pps[CAPACITY_TX] = 1e6;
	m.buffers_pps[CAPACITY_RX] = 2e6;
	struct capacity k = measured(&m, &ask);
	is(&k.point[0], CAPACITY_EXACT, CAPACITY_MEMORY, 1e6);
	is(&k.point[1], CAPACITY_EXACT, CAPACITY_MEMORY, 2e6);
	assert_non_null(strstr(k.point[1].why, "`set 0 mbufs`"));
	capacity_free(&k);
}

/* The port that sends to it is the slower one, by its core or by its device. */
static void test_tester(void **state)
{
	struct capacity_ask ask = asked(100e9, true);
	struct made m = made_fast();

	(void)state;
	m.cycles[CAPACITY_PARTNER][CAPACITY_TX] = 100;
	struct capacity k = measured(&m, &ask);
	is(&k.point[1], CAPACITY_LEAST, CAPACITY_TESTER, HZ / 100);
	assert_non_null(strstr(k.point[1].why, "sends on port 1"));
	capacity_free(&k);
	m = made_fast();
	m.queue_pps[CAPACITY_PARTNER][CAPACITY_TX] = 5e6;
	k = measured(&m, &ask);
	is(&k.point[1], CAPACITY_LEAST, CAPACITY_TESTER, 5e6);
	assert_non_null(strstr(k.point[1].why, "device of port 1"));
	capacity_free(&k);
}

/* Both send, and the partner is the slower one: the own link is full one way only. */
static void test_both_slow_partner(void **state)
{
	struct capacity_ask ask = asked(100e9, true);
	struct made m = made_fast();

	(void)state;
	ask.direction[CAPACITY_SEND] = ask.direction[CAPACITY_RECEIVE] = false;
	m.cycles[CAPACITY_PARTNER][CAPACITY_TX] = 100;
	struct capacity k = measured(&m, &ask);
	assert_int_equal(k.point[0].state, CAPACITY_LEAST);
	assert_int_equal(k.point[0].limit, CAPACITY_TESTER);
	assert_true(k.point[0].search.low <= HZ / 100);
	assert_non_null(strstr(k.point[0].why, "sends on port 1"));
	capacity_free(&k);
	m = made_fast();
	m.queue_pps[CAPACITY_PARTNER][CAPACITY_TX] = 5e6;
	k = measured(&m, &ask);
	assert_int_equal(k.point[0].limit, CAPACITY_TESTER);
	assert_non_null(strstr(k.point[0].why, "device of port 1"));
	capacity_free(&k);
	/* it loses above a rate that only the faster sender reaches: no rate is tried in vain */
	m = made_fast();
	m.queue_pps[CAPACITY_OWN][CAPACITY_TX] = 40e6;
	m.queue_pps[CAPACITY_OWN][CAPACITY_RX] = 30e6;
	k = measured(&m, &ask);
	is(&k.point[0], CAPACITY_EXACT, CAPACITY_DEVICE, 30e6);
	assert_int_equal(k.point[0].search.untold, 0);
	capacity_free(&k);
}

/* On our own wire a sender waits for the workers that receive, and nothing is lost. */
static void test_wire(void **state)
{
	struct capacity_ask ask = asked(10e9, false);
	struct made m = made_fast();

	(void)state;
	ask.port[0].waits = ask.port[1].waits = true;
	m.cycles[CAPACITY_OWN][CAPACITY_RX] = 25;
	m.cycles[CAPACITY_PARTNER][CAPACITY_RX] = 20;
	struct capacity k = measured(&m, &ask);
	is(&k.point[0], CAPACITY_LEAST, CAPACITY_TESTER, HZ / 20);
	is(&k.point[1], CAPACITY_EXACT, CAPACITY_CORE, HZ / 25);
	capacity_free(&k);
}

static void test_disturbed(void **state)
{
	struct capacity_ask ask = asked(100e9, false);
	struct made m = made_fast();

	(void)state;
	m.cycles[CAPACITY_OWN][CAPACITY_RX] = m.cycles[CAPACITY_OWN][CAPACITY_TX] = 100;
	m.disturb = 2;
	struct capacity k = measured(&m, &ask);
	is(&k.point[0], CAPACITY_EXACT, CAPACITY_CORE, HZ / 100);
	assert_int_equal(k.point[0].search.trials, 3);
	assert_int_equal(k.point[0].search.untold, 2);
	capacity_free(&k);
	/* above 10 M nothing is measured well: the port carries at least that */
	m.disturbed_above = 10e6;
	k = measured(&m, &ask);
	assert_int_equal(k.point[0].state, CAPACITY_INVALID);
	assert_int_equal(k.point[1].state, CAPACITY_INVALID);
	assert_true(k.point[0].l1_bps == 0 && k.point[0].cores == 0 && k.point[0].need[0] == '\0');
	assert_non_null(strstr(k.point[0].why, "worker 1 waited"));
	assert_true(k.point[1].search.trials <= 6);
	capacity_free(&k);
	m.disturbed_above = 20e6;
	m.cycles[CAPACITY_PARTNER][CAPACITY_TX] = 80;
	m.cycles[CAPACITY_OWN][CAPACITY_RX] = 50;
	k = measured(&m, &ask);
	is(&k.point[1], CAPACITY_LEAST, CAPACITY_UNKNOWN, 20e6);
	assert_non_null(strstr(k.point[1].why, "no trial above this rate was valid"));
	capacity_free(&k);
}

/* One disturbed trial, whichever it is, changes neither the rate nor the limit and its words. */
static void test_disturbed_once(void **state)
{
	struct capacity_ask ask = asked(100e9, false);
	struct made m = made_fast();

	(void)state;
	ask.direction[CAPACITY_SEND] = ask.direction[CAPACITY_BOTH] = false;
	m.queue_pps[CAPACITY_OWN][CAPACITY_RX] = 300e6;
	struct capacity k = measured(&m, &ask);
	const unsigned trials = k.point[0].search.trials;
	is(&k.point[0], CAPACITY_EXACT, CAPACITY_DEVICE, 300e6);
	for (unsigned i = 1; i <= trials + 1; i++) {
		m.disturb_trial = i;
		struct capacity d = measured(&m, &ask);
		assert_int_equal(d.point[0].search.trials, trials + (i <= trials));
		is(&d.point[0], CAPACITY_EXACT, CAPACITY_DEVICE, carried(&k.point[0]));
		assert_string_equal(d.point[0].why, k.point[0].why);
		capacity_free(&d);
	}
	capacity_free(&k);
}

static void test_deaf(void **state)
{
	struct capacity_ask ask = asked(100e9, true);
	struct made m = made_fast();

	(void)state;
	m.deaf = true;
	struct capacity k = measured(&m, &ask);
	is(&k.point[0], CAPACITY_EXACT, CAPACITY_LINK, capacity_link_pps(100e9, 64));
	for (unsigned i = 1; i < 3; i++) {
		assert_int_equal(k.point[i].state, CAPACITY_INVALID);
		assert_int_equal(k.point[i].search.trials, 1);
		assert_non_null(strstr(k.point[i].why, "none came to port 0"));
	}
	capacity_free(&k);
}

/* A path that loses one of 200 frames at any rate. */
static void test_loss(void **state)
{
	struct capacity_ask ask = asked(10e9, true);
	struct made m = made_fast();

	(void)state;
	m.path_loss = 0.005;
	struct capacity k = measured(&m, &ask);
	assert_int_equal(k.point[1].state, CAPACITY_NONE);
	assert_int_equal(k.point[1].limit, CAPACITY_DEVICE);
	assert_non_null(strstr(k.point[1].why, "no queue has counted"));
	capacity_free(&k);
	/* one look for a buffer did not lose all of them */
	m.looks = 1;
	k = measured(&m, &ask);
	assert_int_equal(k.point[1].limit, CAPACITY_DEVICE);
	capacity_free(&k);
	m.looks = 0;
	ask.max_loss = 0.01;
	k = measured(&m, &ask);
	assert_int_equal(k.point[1].state, CAPACITY_EXACT);
	assert_int_equal(k.point[1].search.trials, 1);
	capacity_free(&k);
}

/* Nothing is carried at any rate only if low rates have been tried. */
static void test_search_none(void **state)
{
	struct rate_search s;

	(void)state;
	/* of the first trial nearly nothing came: one rate far below is not all */
	rate_search_begin(&s);
	rate_search_feed(&s, RATE_FAILED, 1e6, 1e3);
	rate_search_feed(&s, RATE_FAILED, 980, 0);
	assert_false(s.over || rate_search_none(&s));
	while (!s.over)
		rate_search_feed(&s, RATE_FAILED, s.next, 0);
	assert_true(rate_search_none(&s) && s.high < 2.1 && s.trials < RATE_SEARCH_MOST);
	/* all trials are used up by repetitions */
	rate_search_begin(&s);
	for (unsigned i = 0; !s.over; i++)
		rate_search_feed(&s, i % 2 == 0 ? RATE_UNTOLD : RATE_FAILED,
				 isinf(s.next) ? 1e6 : s.next, 0);
	assert_int_equal(s.trials, RATE_SEARCH_MOST);
	assert_true(s.high_by == RATE_FAILED && !rate_search_none(&s));
}

static void test_not_none(void **state)
{
	struct capacity_ask ask = asked(10e9, true);
	struct made m = made_fast();
	struct capacity k;
	struct capacity_trial t;
	struct capacity_reading r;

	(void)state;
	ask.direction[CAPACITY_SEND] = ask.direction[CAPACITY_BOTH] = false;
	m.path_loss = 0.005;
	capacity_begin(&k, &ask);
	while (capacity_next(&k, &t)) {
		m.disturb = m.trials % 2 == 0;
		made_trial(&m, &ask, &t, &r);
		capacity_feed(&k, &r);
	}
	assert_int_equal(k.point[0].state, CAPACITY_INVALID);
	assert_non_null(strstr(k.point[0].why, "lower ones were not tried: 8 of 16 trials"));
	capacity_free(&k);
}

/* Whatever comes of its trials, a search ends, and its answer is a rate that passed, below one that
 * did not. */
static void test_search_ends(void **state)
{
	uint32_t x = 12345;

	(void)state;
	for (unsigned i = 0; i < 20000; i++) {
		struct rate_search s;
		double best = 0;
		rate_search_begin(&s);
		while (!s.over) {
			x = x * 1664525 + 1013904223;
			enum rate_told told = (enum rate_told)(x >> 30);
			double rate = isinf(s.next) ? 1e6 : s.next;
			assert_true(rate > 0 && s.trials < RATE_SEARCH_MOST);
			assert_true(rate_search_rest(&s) > 0);
			rate_search_feed(&s, told, rate, (x & 64) != 0 ? rate / 3 : 0);
			if (told == RATE_PASSED)
				best = fmax(best, rate);
		}
		assert_int_equal(rate_search_rest(&s), 0);
		assert_true(s.low == best && s.low < s.high);
	}
}

/* As fast as possible is only as fast as answers come: that rate is tried once more, then higher
 * ones until one fails, and the answer is then found between the last two. */
static void test_search_climbs(void **state)
{
	const double limit = 300e3;
	struct rate_search s;

	(void)state;
	rate_search_begin(&s);
	for (double rate, last = 0; !s.over; last = rate) {
		rate = isinf(s.next) ? 100e3 : s.next;
		enum rate_told told = rate <= limit ? RATE_PASSED : RATE_FAILED;
		assert_true(!isinf(s.high) || rate > last || (s.trials == 1 && rate >= last));
		rate_search_feed(&s, told, rate, fmin(rate, limit));
		if (told == RATE_PASSED)
			rate_search_climb(&s);
	}
	assert_true(rate_search_narrow(&s) && s.high_by == RATE_FAILED);
	assert_true(s.low <= limit && s.high > limit && s.trials < RATE_SEARCH_MOST);
	/* what has failed is climbed over no more, and what never passed is no place to begin */
	double next = s.next;
	rate_search_climb(&s);
	assert_true(s.over && s.next == next);
	rate_search_begin(&s);
	rate_search_feed(&s, RATE_FAILED, 100e3, 0);
	next = s.next;
	rate_search_climb(&s);
	assert_true(s.next == next && next < 100e3);
	/* answers came far more slowly than they can */
	rate_search_begin(&s);
	while (!s.over) {
		double rate = isinf(s.next) ? 1e3 : s.next;
		enum rate_told told = rate <= limit ? RATE_PASSED : RATE_FAILED;
		rate_search_feed(&s, told, rate, 0);
		if (told == RATE_PASSED)
			rate_search_climb(&s);
	}
	assert_true(s.high_by == RATE_FAILED && s.low > limit / 1.2 && s.low <= limit);
	/* what passed as fast as answers came fails when it is asked for */
	rate_search_begin(&s);
	while (!s.over) {
		double rate = isinf(s.next) ? 2 * limit : s.next;
		enum rate_told told = isinf(s.next) || rate <= limit ? RATE_PASSED : RATE_FAILED;
		rate_search_feed(&s, told, rate, 0);
		if (told == RATE_PASSED)
			rate_search_climb(&s);
	}
	assert_true(rate_search_narrow(&s) && s.low > limit * 0.97 && s.low <= limit);
	/* but where the sender is short of it, it stays what has passed */
	rate_search_begin(&s);
	rate_search_feed(&s, RATE_PASSED, 100e3, 0);
	rate_search_climb(&s);
	rate_search_feed(&s, RATE_SHORT, 90e3, 0);
	assert_true(s.over && s.low == 100e3 && s.high_by == RATE_SHORT);
	/* nothing ever fails: it ends with its trials */
	rate_search_begin(&s);
	while (!s.over) {
		rate_search_feed(&s, RATE_PASSED, isinf(s.next) ? 1 : s.next, 0);
		rate_search_climb(&s);
	}
	assert_true(isinf(s.high) && s.trials == RATE_SEARCH_MOST);
}

/* As fast as possible nothing comes through. Far below there may be something. */
static void test_search_eases(void **state)
{
	static const double limits[] = {0, 2e3, 50e3};

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(limits); i++) {
		struct rate_search s;
		rate_search_begin(&s);
		rate_search_feed(&s, RATE_FAILED, 100e3, 0);
		rate_search_ease(&s);
		assert_true(s.next == 100e3 / 64 && !s.over);
		while (!s.over)
			rate_search_feed(&s, s.next <= limits[i] ? RATE_PASSED : RATE_FAILED,
					 s.next, 0);
		assert_true(limits[i] > 0 ? rate_search_narrow(&s) && s.low <= limits[i] &&
						    s.high > limits[i]
					  : rate_search_none(&s));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_link),           cmocka_unit_test(test_link_and_queues),
		cmocka_unit_test(test_queue),          cmocka_unit_test(test_core),
		cmocka_unit_test(test_shared),         cmocka_unit_test(test_core_of_mute_device),
		cmocka_unit_test(test_slot),           cmocka_unit_test(test_memory),
		cmocka_unit_test(test_tester),         cmocka_unit_test(test_both_slow_partner),
		cmocka_unit_test(test_wire),           cmocka_unit_test(test_disturbed),
		cmocka_unit_test(test_disturbed_once), cmocka_unit_test(test_deaf),
		cmocka_unit_test(test_loss),           cmocka_unit_test(test_search_ends),
		cmocka_unit_test(test_search_none),    cmocka_unit_test(test_not_none),
		cmocka_unit_test(test_search_climbs),  cmocka_unit_test(test_search_eases),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
