/* SPDX-License-Identifier: BSD-3-Clause */
/* Measurements of capacity on real workers: a wire (ports 0 and 1) with four queues, and null (port
 * 2), whose device is slowed down by functions in the place of its own. */
#include "ctl_live.h"

#include <math.h>

#include "capacity_run.h"

/* A machine that runs tests may stand still at any time, and that is not what is tested. */
static struct capacity_run_spec spec_of(unsigned port, uint64_t ns)
{
	struct capacity_run_spec s = {.port = port,
				      .duration_ns = ns,
				      .ask = {.nsizes = 1, .size = {128}}};

	trial_cfg_init(&s.cfg);
	s.cfg.max_wait = 1000000000;
	s.cfg.max_stall_ns = 60000000000;
	s.cfg.max_clock = 1000000000;
	s.cfg.drain_ns = 5000000;
	return s;
}

static struct capacity_run *measuring(const struct capacity_run_spec *s)
{
	struct capacity_run *r = NULL;
	struct err e = {.text = ""};

	if (capacity_run_start(c, s, &r, &e) != 0)
		fail_msg("%s", e.text);
	return r;
}

static const struct capacity *measured(struct capacity_run *r)
{
	struct err e = {.text = ""};

	for (unsigned i = 0; i < 120000; i++) {
		ctl_turn(c);
		int rc = capacity_run_poll(r, &e);
		if (rc < 0)
			fail_msg("%s", e.text);
		if (rc == 1)
			return capacity_run_result(r);
		pause_ms(1);
	}
	fail_msg("the measurement does not end");
	return NULL;
}

static void not_measured(const struct capacity_run_spec *s, const char *word, const char *help)
{
	struct capacity_run *r = NULL;
	struct err e = {.text = ""};

	if (capacity_run_start(c, s, &r, &e) >= 0 || r != NULL || strstr(e.text, word) == NULL ||
	    strstr(e.text, help) == NULL)
		fail_msg("'%s'; wanted '%s' and '%s'", e.text, word, help);
	for (unsigned p = 0; p < 3; p++)
		assert_false(ctl_sending(c, p));
}

/* Each port has two streams with sizes that cannot be mistaken. */
static void set_up(void)
{
	for (unsigned p = 0; p < 3; p++) {
		fresh(p, 2)->rate = (struct rate){RATE_PPS, 5};
		fixed_size(p, 0, 100 + p);
		fixed_size(p, 1, 200 + p);
	}
	no_events();
}

static void as_before(void)
{
	for (unsigned p = 0; p < 3; p++) {
		assert_true(ctl_port_cfg(c, p)->rate.value == 5);
		for (unsigned i = 0; i < 2; i++) {
			const struct sizes *s = &ctl_stream_cfg(c, p, i)->sizes;
			assert_int_equal(s->kind, SIZES_FIXED);
			assert_int_equal(s->item[0].size, 100 + 100 * i + p);
		}
	}
}

/* A run on the first queues only: they share all frames, and nothing is counted for the others. */
static void test_queues(void **state)
{
	const struct rate rate = {RATE_PPS, 20000};

	(void)state;
	for (unsigned n = 1; n <= 5; n++) {
		uint64_t before[4];
		struct portset s = only(0);
		struct err e = {.text = ""};
		fresh(0, 1);
		fresh(1, 1);
		for (unsigned q = 0; q < 4; q++)
			before[q] = cell_get(&port_txq(&c->port[0]->p, q)->cnt.packets);
		const struct run_ask ask = {.count = 1002,
					    .own_count = true,
					    .rate = &rate,
					    .queues = n};
		if (run_start(c, &s, &ask, &e) < 0)
			fail_msg("%s", e.text);
		settle(0);
		for (unsigned q = 0; q < 4; q++) {
			unsigned used = n < 4 ? n : 4;
			uint64_t sent =
				cell_get(&port_txq(&c->port[0]->p, q)->cnt.packets) - before[q];
			assert_int_equal(sent, q < used ? (1002 - q + used - 1) / used : 0);
		}
		struct run_result r;
		run_result(c->port[0], &r);
		assert_int_equal(r.sent, 1002);
	}
}

static void test_wire(void **state)
{
	struct capacity_run_spec s = spec_of(0, 20000000);

	(void)state;
	set_up();
	struct capacity_run *r = measuring(&s);
	const struct capacity *k = measured(r);
	/* three directions with 1, 2 and 4 queues */
	assert_int_equal(k->npoints, 9);
	unsigned valid = 0;
	for (unsigned i = 0; i < k->npoints; i++) {
		const struct capacity_point *p = &k->point[i];
		const struct capacity_side *own = p->at.side[CAPACITY_OWN],
					   *partner = p->at.side[CAPACITY_PARTNER];
		assert_int_equal(p->queues, 1u << i % 3);
		if (p->state == CAPACITY_INVALID)
			continue; /* the machine did not let it measure */
		valid++;
		assert_true(p->l1_bps > 0 && p->at.workers == 1);
		assert_false(k->ask.port[0].link_told);
		if (p->direction != CAPACITY_RECEIVE)
			assert_int_equal(own[CAPACITY_TX].queues, p->queues);
		if (p->direction != CAPACITY_SEND) {
			assert_int_equal(partner[CAPACITY_TX].queues, p->queues);
			assert_int_equal(own[CAPACITY_RX].queues, p->queues);
			assert_int_equal(p->at.came, p->at.sent_for);
		}
		assert_int_equal(p->at.nqueues, p->queues);
		assert_true(p->why[0] != '\0');
	}
	assert_true(valid > 0);
	as_before();
	capacity_run_free(r);
	as_before();
}

static void test_refused(void **state)
{
	struct capacity_run_spec s = spec_of(0, 20000000);

	(void)state;
	set_up();
	s.ask.ncounts = 1;
	s.ask.count[0] = 5;
	not_measured(&s, "port 0 has 4 Tx queues", "-m '1.0*5'");
	s.ask.ncounts = 0;
	s.ask.size[0] = 9000;
	not_measured(&s, "9000", "mtu");
	s.ask.size[0] = 64;
	ctl_stream_cfg(c, 1, 0)->count = 3;
	not_measured(&s, "1/0 ends after 3 frames", "count 0");
	ctl_stream_cfg(c, 1, 0)->count = 0;
	ctl_port_cfg(c, 1)->arrival.kind = ARRIVAL_POISSON;
	not_measured(&s, "port 1", "`set 1 arrival constant`");
	ctl_port_cfg(c, 1)->arrival.kind = ARRIVAL_CONSTANT;
	as_before();
	s = spec_of(2, 20000000);
	s.ask.direction[CAPACITY_RECEIVE] = true;
	not_measured(&s, "nobody sends to port 2", "direction send");
	start(1, 0);
	s = spec_of(0, 20000000);
	struct capacity_run *r = NULL;
	assert_true(capacity_run_start(c, &s, &r, NULL) < 0);
	assert_true(ctl_sending(c, 1));
	stop(1);
	as_before();
}

/* It is ended in the middle, and somebody has set a size meanwhile. */
static void test_cancel(void **state)
{
	struct capacity_run_spec s = spec_of(0, 3600000000000ull);

	(void)state;
	set_up();
	for (unsigned round = 0; round < 2; round++) {
		struct capacity_run *r = measuring(&s);
		for (unsigned i = 0; i < 20; i++) {
			ctl_turn(c);
			assert_int_equal(capacity_run_poll(r, NULL), 0);
			pause_ms(1);
		}
		if (round == 1)
			fixed_size(0, 1, 333);
		capacity_run_free(r);
		settle(0);
		settle(1);
		if (round == 1) {
			assert_int_equal(ctl_stream_cfg(c, 0, 1)->sizes.item[0].size, 333);
			fixed_size(0, 1, 200);
		}
		as_before();
		assert_false(ctl_sending(c, 0) || ctl_sending(c, 1));
	}
}

/* Somebody sets another size and leaves it: what is measured then is not what was asked for. */
static void test_other_sizes(void **state)
{
	struct capacity_run_spec s = spec_of(0, 20000000);
	struct err e = {.text = ""};
	int rc = 0;

	(void)state;
	set_up();
	struct capacity_run *r = measuring(&s);
	fixed_size(0, 1, 333);
	for (unsigned i = 0; i < 10000 && rc == 0; i++) {
		ctl_turn(c);
		rc = capacity_run_poll(r, &e);
		pause_ms(1);
	}
	assert_true(rc < 0);
	assert_non_null(strstr(e.text, "somebody else has changed the streams of port 0"));
	assert_non_null(strstr(e.text, "128 to 333 bytes"));
	capacity_run_free(r);
	fixed_size(0, 1, 200);
	as_before();
}

/* Somebody sets another size during each trial and sets it back before the trial ends: no trial was
 * of the size that was asked for. */
static void test_sizes_within_trials(void **state)
{
	struct capacity_run_spec s = spec_of(0, 100000000);
	struct err e = {.text = ""};
	unsigned changed = 0;
	int rc = 0;

	(void)state;
	set_up();
	s.ask.direction[CAPACITY_SEND] = true;
	s.ask.ncounts = s.ask.count[0] = 1;
	struct capacity_run *r = measuring(&s);
	const struct capacity_point *p = &capacity_run_result(r)->point[0];
	while (rc == 0) {
		ctl_turn(c);
		if (changed == p->search.trials && ctl_sending(c, 0)) {
			for (unsigned size = 333; size != 0; size = size == 333 ? 128 : 0) {
				fixed_size(0, 1, size);
				for (unsigned i = 0; i < 10; i++) {
					ctl_turn(c);
					pause_ms(1);
				}
			}
			changed++;
		}
		rc = capacity_run_poll(r, &e);
		pause_ms(1);
	}
	if (rc < 0)
		fail_msg("%s", e.text);
	assert_true(changed >= 3 && p->search.untold == changed);
	assert_int_equal(p->state, CAPACITY_INVALID);
	if (strstr(p->why, "they were changed during the trial") == NULL)
		fail_msg("%s", p->why);
	capacity_run_free(r);
	as_before();
}

/* The worker of the port that is measured also sends for a port that is neither it nor its
 * partner. */
static void test_third_port(void **state)
{
	struct capacity_run_spec s = spec_of(2, 20000000);

	(void)state;
	for (unsigned third = 0; third < 2; third++) {
		set_up();
		if (third != 0) {
			ctl_port_cfg(c, 0)->rate = (struct rate){.kind = RATE_MAX};
			start(0, 0);
		}
		/* a machine that stands still does not let a trial count */
		enum capacity_state is = CAPACITY_INVALID;
		for (unsigned i = 0; i < 50 && is == CAPACITY_INVALID; i++) {
			struct capacity_run *r = measuring(&s);
			const struct capacity_point *p = &measured(r)->point[0];
			const struct capacity_side *own = &p->at.side[CAPACITY_OWN][CAPACITY_TX];
			/* nor, if it is short, a burst of it be timed */
			is = isnan(own->cycles) ? CAPACITY_INVALID : p->state;
			if (is != CAPACITY_INVALID) {
				assert_int_equal(own->shared, third);
				assert_true(own->cycles > 0);
				assert_int_equal(p->at.nqueues, 1);
				assert_int_equal(p->at.queue[0].tx_worker, own->busiest);
				assert_int_equal(p->at.queue[0].rx_worker, -1);
			}
			capacity_run_free(r);
		}
		assert_int_not_equal(is, CAPACITY_INVALID);
		stop(0);
		ctl_port_cfg(c, 0)->rate = (struct rate){RATE_PPS, 5};
		as_before();
	}
}

/* What null's device is to be like. */
static struct {
	eth_tx_burst_t tx;
	double pps;      /* it takes no more frames/s; 0: no limit */
	uint64_t cycles; /* its function takes so long for each frame */
	uint64_t begin, taken;
} slow;

static uint16_t slow_tx(void *q, struct rte_mbuf **m, uint16_t n)
{
	uint64_t now = clock_tsc();

	if (slow.pps > 0) {
		/* from its first frame on; what was not used in time is gone */
		uint64_t may = (uint64_t)((double)(now - slow.begin) / clock_hz() * slow.pps);
		if (slow.begin == 0 || may > slow.taken + 64) {
			slow.begin = now;
			slow.taken = may = 0;
		}
		n = (uint16_t)RTE_MIN((uint64_t)n, may > slow.taken ? may - slow.taken : 0);
		slow.taken += n;
	}
	uint16_t took = slow.tx(q, m, n);
	while (clock_tsc() - now < slow.cycles * took)
		rte_pause();
	return took;
}

static void test_slow_device(void **state)
{
	struct capacity_run_spec s = spec_of(2, 50000000);
	struct rte_eth_fp_ops *f = &rte_eth_fp_ops[c->port[2]->p.dev];

	(void)state;
	set_up();
	s.cfg.max_short = 1000000000;
	slow.tx = f->tx_pkt_burst;
	f->tx_pkt_burst = slow_tx;
	c->port[2]->p.txd = 0; /* nothing lies in a queue of this device */
	for (unsigned round = 0; round < 2; round++) {
		slow.pps = round == 0 ? 100000 : 0;
		slow.cycles = round == 1 ? 20000 : 0;
		struct capacity_run *r = measuring(&s);
		const struct capacity *k = measured(r);
		assert_int_equal(k->npoints, 1); /* nobody sends to null, and it has one queue */
		const struct capacity_point *p = &k->point[0];
		const struct capacity_side *tx = &p->at.side[CAPACITY_OWN][CAPACITY_TX];
		if (p->state == CAPACITY_INVALID)
			fail_msg("%s", p->why);
		assert_int_equal(p->limit, round == 0 ? CAPACITY_DEVICE : CAPACITY_CORE);
		assert_int_equal(p->state, CAPACITY_EXACT);
		if (round == 0) {
			/* and the last burst of its time: 64 of 5000 frames */
			assert_true(tx->pps > 0 && tx->pps < 103000);
			assert_int_equal(p->cores, 0);
		} else {
			assert_true(tx->cycles >= 20000);
			/* A trial of 50 ms has time for some 5000 such frames, and begins and
			 * ends within bursts of up to 64. */
			assert_true(tx->pps * 20000 <= clock_hz() * 1.03);
			/* 8.446 M frames/s of 128 bytes on a link of 10 Gbit/s */
			assert_true(p->cores >= (unsigned)(8.44e6 * 20000 / clock_hz()));
		}
		capacity_run_free(r);
		as_before();
	}
	f->tx_pkt_burst = slow.tx;
}

/* A device that takes some frames at once and then no more sends nothing; trials so short that this
 * is no stall of a sender are no exception. */
static struct {
	eth_tx_burst_t tx;
	uint64_t taken, began;
} stuck;

static uint16_t stuck_tx(void *q, struct rte_mbuf **m, uint16_t n)
{
	uint64_t now = clock_tsc();

	if (stuck.began == 0 || (double)(now - stuck.began) > clock_hz() / 2) {
		stuck.began = now;
		stuck.taken = 0;
	}
	n = (uint16_t)RTE_MIN((uint64_t)n, 1024 - stuck.taken);
	stuck.taken += n;
	return stuck.tx(q, m, n);
}

static void test_stuck_device(void **state)
{
	struct capacity_run_spec s = spec_of(2, 10000000);
	struct rte_eth_fp_ops *f = &rte_eth_fp_ops[c->port[2]->p.dev];

	(void)state;
	set_up();
	stuck.tx = f->tx_pkt_burst;
	f->tx_pkt_burst = stuck_tx;
	struct capacity_run *r = measuring(&s);
	const struct capacity *k = measured(r);
	assert_int_equal(k->point[0].state, CAPACITY_INVALID);
	assert_non_null(strstr(k->point[0].why, "as fast as possible, sent for"));
	capacity_run_free(r);
	f->tx_pkt_burst = stuck.tx;
	as_before();
}

int main(void)
{
	static const char *const specs[] = {"wire", "null"};
	static const char *const maps[] = {"1.0*4", "1.1*4", "1.2"};
	const struct ctl_opts o = {
		.prog = "capacity_run_test", .ports = specs, .nports = 2, .maps = maps, .nmaps = 3};
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_queues),       cmocka_unit_test(test_wire),
		cmocka_unit_test(test_refused),      cmocka_unit_test(test_cancel),
		cmocka_unit_test(test_other_sizes),  cmocka_unit_test(test_slow_device),
		cmocka_unit_test(test_stuck_device), cmocka_unit_test(test_sizes_within_trials),
		cmocka_unit_test(test_third_port),
	};
	struct err e = {.text = ""};

	if (ctl_open(&c, &o, &e) < 0) {
		fprintf(stderr, "skipped: %s\n", e.text);
		return 77;
	}
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	ctl_close(c);
	return failed;
}
