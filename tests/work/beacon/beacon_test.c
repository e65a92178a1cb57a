/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the beacon beside a sender of streams at full speed, on one queue of a device that takes as
 * many frames as it likes, with plans as control makes them. The beacon is offered at its time and
 * leaves before other frames do, and the frames of both are right, in order, and counted. */
#include "../../unit/dp_model.h"

#include "beacon_cfg.h"
#include "beacon_run.h"
#include "ctl_int.h"
#include "port_int.h"
#include "txq.h"

extern const struct work work_beacon;

#define OWN 1 /* fake[OWN] stands for the beacons' share, fake[0] for the sender's */
#define POOL 4095
/* bursts that others offer in a turn: one to the beacon's queue, one to another */
#define SENDERS 2
#define PERIOD (x.job->period)

/* For how many frames the device has room. It takes no more. */
enum room { ROOM_ENDLESS, ROOM_ANY, ROOM_HALF, ROOM_NONE };

static struct beacons {
	struct world *world;
	struct ctl *c;
	struct ctl_port *cp;
	struct ctl_worker cw;
	struct dp_plan *plan, *gen; /* gen: the model's plan, from which the sender's task is */
	const struct beacon_state *s;
	const struct beacon_job *job;
	enum room room;
	unsigned left;   /* frames for which it has room now */
	uint64_t step;   /* a call of the driver takes fewer cycles than this; 0: the real clock */
	uint64_t newest; /* number of the last beacon that was offered */
	uint64_t taken;  /* number of the last beacon that was taken */
	/* Bursts of others since the time of the next beacon came: how many were offered, and how
	 * many were taken at least in part. */
	unsigned offers, takes;
	/* how many were taken since the time of the beacon that waits */
	unsigned waits;
	unsigned most_offers, most_waits; /* the most of offers and of waits for any beacon */
} x;

static uint64_t clock_now(void)
{
	if (x.step == 0)
		return rte_rdtsc();
	x.world->now += any((unsigned)x.step);
	return x.world->now;
}

static unsigned room_for(unsigned n)
{
	unsigned take = x.room == ROOM_ENDLESS ? n : RTE_MIN(n, x.left);

	x.left -= RTE_MIN(take, x.left);
	return take;
}

/* Gives the device room, as if it had sent some frames between two turns. */
static void make_room(void)
{
	x.left = x.room == ROOM_ANY ? any(65) : x.room == ROOM_HALF ? 16 : 0;
}

static bool is_beacon(const struct rte_mbuf *m)
{
	return memcmp(rte_pktmbuf_mtod_offset(m, const uint8_t *, 12), "\x88\xb5", 2) == 0;
}

static uint64_t number_of(const struct rte_mbuf *m)
{
	uint64_t n;

	memcpy(&n, rte_pktmbuf_mtod_offset(m, const uint8_t *, BEACON_NUMBER_AT), sizeof(n));
	return rte_be_to_cpu_64(n);
}

static void judge_beacon(void *arg, const struct rte_mbuf *m)
{
	static const uint8_t zero[BEACON_LEN - BEACON_NUMBER_AT - 8];
	const uint8_t *f = rte_pktmbuf_mtod(m, const uint8_t *);

	(void)arg;
	assert_int_equal(m->data_len, BEACON_LEN);
	assert_int_equal(m->ol_flags, 0);
	assert_int_equal(m->tx_offload, 0);
	assert_memory_equal(f, "\xff\xff\xff\xff\xff\xff\x02\x00\x00\x00\x00\x03\x88\xb5",
			    BEACON_NUMBER_AT);
	assert_memory_equal(f + BEACON_NUMBER_AT + 8, zero, sizeof(zero));
	assert_true(number_of(m) > x.taken); /* in order, and once */
	x.taken = number_of(m);
}

static void beacon_offered(const struct rte_mbuf *m)
{
	uint64_t number = number_of(m);

	assert_int_equal(number, x.s->number); /* never an old one when a newer one is due */
	if (number == x.newest)
		return;
	x.newest = number;
	assert_in_range(x.offers, 0, SENDERS); /* those of the turn in which its time came */
	x.most_offers = RTE_MAX(x.most_offers, x.offers);
	x.waits = x.takes;
	x.offers = x.takes = 0;
}

static void beacon_taken(void)
{
	assert_in_range(x.waits, 0, 2);
	x.most_waits = RTE_MAX(x.most_waits, x.waits);
	x.waits = 0;
}

static void burst_offered(uint64_t at, bool taken)
{
	bool due = x.s->tm.at != NULL && at >= x.s->tm.due;

	x.offers += due;
	x.takes += due && taken;
	x.waits += !due && taken && x.s->base.next == DP_NOW;
}

/* Takes the place of fake_tx(), for two shares: the frames that were refused to one of them must be
 * offered again by that one. */
static uint16_t shared_tx(void *queue, struct rte_mbuf **m, uint16_t n)
{
	bool beacon = is_beacon(m[0]);
	struct fake_q *f = beacon ? &fake[OWN] : queue;
	uint64_t at = clock_now();
	unsigned take = room_for(n);

	assert_true(n > 0 && n <= DP_BURST_MAX);
	for (unsigned i = 0; i < n; i++)
		assert_true(is_beacon(m[i]) == beacon);
	if (beacon)
		beacon_offered(m[0]);
	else
		burst_offered(at, take > 0);
	if (f->nrefused > 0 && !f->drops) {
		assert_int_equal(n, f->nrefused);
		assert_memory_equal(m, f->refused, n * sizeof(*m));
	}
	fake_release(f, f->hold);
	for (unsigned i = 0; i < take; i++)
		fake_accept(f, m[i]);
	for (unsigned i = take; i < n && f->edit != NULL && f->edits_refused; i++)
		m[i] = f->edit(m[i]);
	f->nrefused = n - take;
	memcpy(f->refused, m + take, f->nrefused * sizeof(*m));
	if (beacon && take > 0)
		beacon_taken();
	return (uint16_t)take;
}

/* A task that offers a burst to another queue in each turn. It is in the plan before the beacon has
 * asked for the wheel, as the tasks of other ports are. */
static unsigned other_poll(struct dp_worker *w, const struct dp_task *t, uint64_t now)
{
	(void)w, (void)t, (void)now;
	burst_offered(clock_now(), false);
	return 1;
}

static void other_adopt(struct dp_worker *w, const struct dp_task *t, const void *old, uint64_t now)
{
	(void)w, (void)old, (void)now;
	t->state->next = DP_NOW;
}

static const struct dp_kind kind_other = {.name = "other",
					  .adopt = other_adopt,
					  .poll = other_poll};

static void other_fill(struct ctl *c, struct ctl_port *cp, struct plan_writer *w)
{
	static struct dp_state state;

	(void)c, (void)cp;
	plan_task(w, &(struct dp_task){.kind = &kind_other, .state = &state}, NULL);
}

/* The sender is the model's task. In plans it is behind the beacon, as the tasks of the product are
 * behind those of test works. */
static void sender_fill(struct ctl *c, struct ctl_port *cp, struct plan_writer *w)
{
	(void)c, (void)cp;
	plan_task(w, &x.gen->task[0], NULL);
}

static const struct work work_other = {.name = "other", .fill = other_fill},
			 work_sender = {.name = "sender", .fill = sender_fill};
/* The last work is asked first. */
const struct work *const works[] = {&work_sender, &work_beacon, &work_other, NULL};

static struct beacon_cfg *cfg(void)
{
	return work_cfg(&x.cp->cfg, &work_beacon);
}

static void open_port(enum dp_edits edits)
{
	static const struct port_spec plain = {.prefix = "plain"};
	static int first[1];
	struct err e;

	x.world = world_new(1, POOL);
	rte_eth_fp_ops[FAKE_DEV].tx_pkt_burst = shared_tx;
	fake[OWN].judge = judge_beacon;
	fake[OWN].drops = true; /* a newer beacon takes the place of one that was refused */
	x.c = ctl_new();
	x.cw = (struct ctl_worker){.w = x.world->w, .node = -1};
	x.c->worker = &x.cw;
	x.c->nworkers = 1;
	x.cp = x.c->port[x.c->nports++] = ctl_port_new();
	x.cp->p.spec = &plain;
	x.cp->p.id = 3;
	x.cp->p.dev = FAKE_DEV;
	x.cp->p.ntxq = 1;
	x.cp->p.nqueues = 1;
	x.cp->p.used = x.cp->p.started = true;
	x.cp->tx_worker = first;
	x.cp->p.tx = xcalloc(1, sizeof(*x.cp->p.tx));
	x.cp->p.tx[0] = (struct port_txq){.n = 1, .share = {x.world->txq[0]}};
	assert_int_equal(work_beacon.port_open(x.c, x.cp, &e), 0);
	assert_int_equal(x.cp->p.tx[0].n, 2);
	tx_shares_pool(&x.cp->p, 0, x.world->txq[0]->pool, edits);
	x.world->job.start_tsc = x.world->now = rte_rdtsc();
}

static struct dp_plan *plan_of(bool beacon)
{
	struct dp_plan *p;

	cfg()->on = beacon;
	x.world->job.rx_written = works_write(x.c);
	x.gen = plan_make(x.world);
	followed(x.world);
	p = plan_build(x.c, 0, false);
	assert_int_equal(p->ntasks, beacon ? 4 : 2);
	p->seq = x.world->seq;
	for (unsigned i = 0; i < p->ntasks; i++)
		if (p->task[i].kind == &dp_kind_beacon) {
			x.s = (const struct beacon_state *)p->task[i].state;
			x.job = p->task[i].job;
		}
	return p;
}

/* Closes the port, so that nothing is offered any more. The counters of both shares must have every
 * frame. */
static void close_port(void)
{
	struct dp_txq *own = x.cp->p.tx[0].share[1];
	const struct beacon_state *s = x.s;
	struct cnt_sizes sizes = {0};

	assert_null(s->tm.at);
	assert_false(txq_has_tail(own));
	assert_int_equal(own->cnt.packets, fake[OWN].frames);
	assert_int_equal(own->cnt.bytes, fake[OWN].bytes);
	assert_int_equal(s->number, own->cnt.packets + own->cnt.dropped + own->cnt.unsent);
	assert_true(work_beacon.sizes(x.cp, 0, &sizes));
	assert_int_equal(sizes.n[cnt_size_class(64)], own->cnt.packets);
	fake_release(&fake[OWN], 0);
	plan_free(x.c, x.plan);
	x.plan = NULL;
	work_beacon.port_close(x.c, x.cp);
	free(x.world->w->wheel);
	world_free(x.world);
	rte_free(own);
	free(x.cp->p.tx);
	ctl_port_free(x.cp);
	ctl_free(x.c);
}

/* ---- on a clock of the test ---- */

static const struct dp_task *same_task(const struct dp_plan *p, const struct dp_task *t)
{
	for (unsigned i = 0; p != NULL && i < p->ntasks; i++)
		if (p->task[i].state == t->state)
			return &p->task[i];
	return NULL;
}

/* Takes over a plan as a worker does. NULL: a plan without tasks. */
static void take_over_at(struct dp_plan *next)
{
	struct dp_worker *w = x.world->w;

	for (unsigned i = 0; x.plan != NULL && i < x.plan->ntasks; i++) {
		const struct dp_task *t = &x.plan->task[i];
		if (t->kind->drop != NULL && same_task(next, t) == NULL)
			t->kind->drop(w, t, x.world->now);
	}
	for (unsigned i = 0; next != NULL && i < next->ntasks; i++) {
		const struct dp_task *t = &next->task[i], *was = same_task(x.plan, t);
		if (was == NULL)
			t->state->next = DP_NEVER;
		t->kind->adopt(w, t, was != NULL ? was->job : NULL, x.world->now);
	}
	if (x.plan != NULL)
		plan_free(x.c, x.plan);
	x.plan = next;
	x.world->w->cells.acked = x.world->seq;
	reap(x.world);
}

/* Does what a worker does in a turn. Time goes by with each burst. */
static void turn_at(void)
{
	uint64_t now = clock_now();

	make_room();
	for (const struct dp_task *t = x.plan->task; t < x.plan->task + x.plan->ntasks; t++)
		if (t->state->next <= now)
			t->kind->poll(x.world->w, t, now);
	assert_true(x.s->tm.at == NULL || x.s->tm.due > now);
}

static void run_at(unsigned turns, uint64_t first_due)
{
	for (unsigned i = 0; i < turns; i++) {
		turn_at();
		assert_int_equal((x.s->tm.due - first_due) % PERIOD, 0); /* no drift */
	}
}

/* Sends many beacons, while the room of the device changes and the worker loses its CPU now and
 * then. New plans come, and the beacon is switched off and on again. */
static void beside_streams(enum dp_edits edits, struct rte_mbuf *(*edit)(struct rte_mbuf *m))
{
	x = (struct beacons){.room = ROOM_ANY};
	open_port(edits);
	x.step = 1;
	fake[0].hold = fake[OWN].hold = 100;
	fake[0].edit = fake[OWN].edit = edit;
	fake[0].edits_refused = fake[OWN].edits_refused = fake[0].drops = edits == DP_EDITS_ALL;
	take_over_at(plan_of(true));
	x.step = PERIOD / 25;
	const struct dp_txq *own = x.cp->p.tx[0].share[1];
	uint64_t due = x.s->tm.due;
	assert_int_equal(due, x.world->now + PERIOD);
	for (unsigned i = 0; i < 60; i++) {
		x.room = (enum room)any(3);
		run_at(50 + any(150), due);
		switch (any(6)) {
		case 0:
			x.room = ROOM_NONE;
			run_at(100, due);
			break;
		case 1:
			x.world->now += PERIOD * any(5);
			break;
		case 2:
			take_over_at(plan_of(true));
			assert_int_equal((x.s->tm.due - due) % PERIOD, 0);
			break;
		case 3:
			x.room = any(2) == 0 ? ROOM_NONE : x.room;
			run_at(30, due);
			take_over_at(plan_of(false));
			assert_null(x.s->tm.at);
			x.waits = x.takes = x.offers = 0;
			for (unsigned n = 0; n < 50; n++)
				turn_at();
			take_over_at(plan_of(true));
			due = x.s->tm.due;
			break;
		default:
			break;
		}
	}
	x.room = ROOM_NONE;
	x.world->now += 3 * PERIOD;
	run_at(100, due);
	assert_true(txq_has_tail(own)); /* a beacon waits while the port is closed */
	assert_true(x.s->number > 100);
	assert_true(own->cnt.dropped > 0); /* the device kept them waiting for a period */
	assert_true(own->cnt.unsent > 0);  /* their times passed while the worker had no CPU */
	assert_true(own->cnt.stalls > 0);
	assert_true(x.most_offers == SENDERS && x.most_waits > 0); /* some came due within a turn */
	take_over_at(NULL);
	close_port();
}

static void test_kept(void **state)
{
	(void)state;
	beside_streams(DP_EDITS_NOTHING, NULL);
}

static struct rte_mbuf *shorten(struct rte_mbuf *m)
{
	assert_non_null(rte_pktmbuf_adj(m, (uint16_t)(1 + any(40))));
	return m;
}

static void test_shaped(void **state)
{
	(void)state;
	beside_streams(DP_EDITS_SHAPE, shorten);
}

static struct rte_mbuf *spoil(struct rte_mbuf *m)
{
	memset(rte_pktmbuf_mtod(m, void *), 0xee, m->data_len);
	m->ol_flags |= RTE_MBUF_F_TX_IP_CKSUM;
	m->tx_offload = UINT64_MAX;
	return shorten(m);
}

static void test_spoilt(void **state)
{
	(void)state;
	beside_streams(DP_EDITS_ALL, spoil);
}

/* The device always takes half a burst in each turn: no beacon is given up, and all leave in the
 * turn in which they are due. */
static void test_half_a_burst(void **state)
{
	const struct dp_txq *own;

	(void)state;
	x = (struct beacons){.room = ROOM_HALF};
	open_port(DP_EDITS_NOTHING);
	x.step = 1;
	take_over_at(plan_of(true));
	x.step = PERIOD / 25;
	own = x.cp->p.tx[0].share[1];
	run_at(10000, x.s->tm.due);
	assert_int_equal(own->cnt.packets, x.s->number);
	assert_true(own->cnt.packets >= 150);
	assert_int_equal(own->cnt.stalls, 0);
	assert_true(x.world->txq[0]->cnt.stalls > 1000);
	take_over_at(NULL);
	close_port();
}

/* The pool is empty: the frame waits for a buffer as it would for the device. */
static void test_no_buffer(void **state)
{
	struct rte_mbuf *all[POOL + 1]; /* and a NULL */
	unsigned n = 0;

	(void)state;
	x = (struct beacons){.room = ROOM_ENDLESS};
	open_port(DP_EDITS_NOTHING);
	x.step = 1;
	take_over_at(plan_of(true));
	const struct dp_txq *own = x.cp->p.tx[0].share[1];
	while ((all[n] = rte_mbuf_raw_alloc(own->pool)) != NULL)
		n++;
	x.world->now = x.s->tm.due;
	turn_at();
	turn_at();
	assert_int_equal(x.s->number, 1);
	assert_int_equal(own->cnt.nombuf, 3); /* by the timer, and by poll() in each turn */
	x.world->now = x.s->tm.due;
	turn_at();
	assert_int_equal(own->cnt.unsent, 1); /* the older one is given up, the newer one waits */
	for (unsigned i = 0; i < n; i++)
		rte_mbuf_raw_free(all[i]);
	turn_at();
	assert_int_equal(own->cnt.packets, 1);
	assert_int_equal(x.taken, 2);
	take_over_at(NULL);
	close_port();
}

/* ---- on a worker ---- */

static void take_over_in_turn(struct dp_plan *next)
{
	struct dp_plan *was = x.plan;

	x.plan = next;
	next->may_sleep = false;
	assert_true(mbox_post(&x.world->w->mbox, next));
	assert_true(dp_turn(x.world->w));
	assert_int_equal(x.world->w->cells.acked, next->seq);
	plan_free(x.c, was);
}

/* Does the same in turns of a real worker, with the real clock. The beacon's delay is counted in
 * bursts and not in time, since the machine may take the CPU away at any moment. */
static void test_in_turns(void **state)
{
	(void)state;
	x = (struct beacons){.room = ROOM_HALF};
	open_port(DP_EDITS_NOTHING);
	take_over_in_turn(plan_of(true));
	for (unsigned plans = 0; plans < 3; plans++) {
		uint64_t until = x.s->number + 10;
		while (x.s->number < until) {
			make_room();
			assert_true(dp_turn(x.world->w));
		}
		take_over_in_turn(plan_of(true));
	}
	take_over_in_turn(plan_of(false));
	assert_true(x.s->number >= 30);
	dp_kind_gen.drop(x.world->w, &x.plan->task[1], rte_rdtsc());
	close_port();
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kept),      cmocka_unit_test(test_shaped),
		cmocka_unit_test(test_spoilt),    cmocka_unit_test(test_half_a_burst),
		cmocka_unit_test(test_no_buffer), cmocka_unit_test(test_in_turns),
	};
	int rc = eal_or_skip(argv[argc - 1]);

	if (rc != 0)
		return rc;
	clock_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
