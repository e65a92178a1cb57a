/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the worker's turn with kinds that are made for it: which task is asked when, and which task
 * is given what. */
#include "dp_fake.h"

#define HZ rte_get_tsc_hz()
#define MAX_TASKS 8

struct turner {
	struct dp_worker w;
	struct dp_plan plan;
	struct dp_task task[MAX_TASKS];
};

static struct turner *turner_new(void)
{
	struct turner *x = zeroed(sizeof(*x));
	static unsigned serial;
	char name[24];
	struct err e;

	fake_open();
	snprintf(name, sizeof(name), "t%u", serial++);
	assert_int_equal(mbox_open(&x->w.mbox, name, SOCKET_ID_ANY, &e), 0);
	x->plan = (struct dp_plan){.task = x->task};
	return x;
}

static void turner_free(struct turner *x)
{
	mbox_close(&x->w.mbox);
	free(x);
}

static void turns(struct turner *x, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		assert_true(dp_turn(&x->w));
}

static void add(struct dp_plan *p, const struct dp_kind *kind, struct dp_state *state)
{
	assert_true(p->ntasks < MAX_TASKS);
	p->task[p->ntasks++] = (struct dp_task){.kind = kind, .state = state};
}

static void use(struct turner *x, struct dp_plan *p)
{
	p->seq = x->w.cells.acked + 1;
	assert_true(mbox_post(&x->w.mbox, p));
	turns(x, 1);
	assert_int_equal(x->w.cells.acked, p->seq);
}

/* ---- when ---- */

/* The state of a task that is due at a moment, in every turn, or not by itself. */
struct alarm {
	struct dp_state base;
	uint64_t first, polled;
	unsigned polls, moved;
};

static void alarm_adopt(struct dp_worker *w, const struct dp_task *t, const void *old, uint64_t now)
{
	struct alarm *a = (struct alarm *)t->state;

	(void)w, (void)old, (void)now;
	assert_int_equal(a->base.next, DP_NEVER);
	a->base.next = a->first;
}

static unsigned alarm_poll(struct dp_worker *w, const struct dp_task *t, uint64_t now)
{
	struct alarm *a = (struct alarm *)t->state;

	(void)w;
	assert_true(now >= a->base.next);
	a->polls++;
	a->polled = now;
	if (a->base.next != DP_NOW)
		a->base.next = DP_NEVER;
	return a->moved;
}

static const struct dp_kind kind_alarm = {.name = "alarm",
					  .adopt = alarm_adopt,
					  .poll = alarm_poll};
static const struct dp_kind kind_silent = {.name = "silent", .poll = alarm_poll};

/* A task is asked at the time that it has said, not before, and its worker does not sleep past that
 * time. */
static void test_a_moment(void **state)
{
	const uint64_t near = HZ / 500;
	struct turner *x = turner_new();
	struct alarm a = {.first = rte_rdtsc() + 10 * near};

	(void)state;
	x->plan.may_sleep = true;
	add(&x->plan, &kind_alarm, &a.base);
	use(x, &x->plan);
	while (a.polls == 0) {
		bool soon = rte_rdtsc() + near > a.first;
		uint64_t slept = x->w.cells.sleeps;
		turns(x, 1);
		if (soon && a.polls == 0)
			assert_int_equal(x->w.cells.sleeps, slept);
	}
	assert_true(x->w.cells.sleeps > 0);
	assert_true(a.polled >= a.first);
	uint64_t slept = x->w.cells.sleeps;
	turns(x, 3); /* nothing is asked any more until a plan says so */
	assert_int_equal(x->w.cells.sleeps, slept + 3);
	assert_int_equal(a.polls, 1);
	turner_free(x);
}

static void test_every_turn(void **state)
{
	struct turner *x = turner_new();
	struct alarm a = {.base.next = DP_NEVER - 1, .first = DP_NOW};

	(void)state;
	x->plan.may_sleep = true;
	add(&x->plan, &kind_alarm, &a.base);
	use(x, &x->plan);
	turns(x, 4);
	assert_int_equal(a.polls, 5);
	a.moved = 1; /* turns that move something take another way */
	turns(x, 200);
	assert_int_equal(a.polls, 205);
	assert_int_equal(x->w.cells.sleeps, 0);
	a.base.next = DP_NEVER;
	turns(x, 5);
	assert_int_equal(a.polls, 205);
	assert_true(x->w.cells.sleeps > 0);
	turner_free(x);
}

/* A task that says nothing is never asked, whatever its memory was before. A plan that has it again
 * changes nothing. */
static void test_never(void **state)
{
	struct turner *x = turner_new();
	struct dp_plan again;
	struct alarm a = {.base.next = DP_NOW};

	(void)state;
	x->plan.may_sleep = true;
	add(&x->plan, &kind_silent, &a.base);
	use(x, &x->plan);
	again = x->plan;
	use(x, &again);
	turns(x, 3);
	assert_int_equal(a.polls, 0);
	/* The turn that takes a plan may be too short to count as idle. */
	assert_in_range(x->w.cells.sleeps, 3, 5);
	a.base.next = DP_NOW;
	use(x, &x->plan);
	assert_int_equal(a.polls, 1);
	turner_free(x);
}

/* ---- who ---- */

#define FRAMES 20000
/* values of the low bits of a frame's number: 0 nobody claims it, 1 and 2 one sort each, 3 both */
#define CLAIMS 4

static struct rte_mempool *frames;
/* how many frames the device has given so far; the number of the next one */
static unsigned come;
static uint64_t came_tsc; /* the time before the newest burst was given */

static unsigned number_of(const struct rte_mbuf *m)
{
	return *rte_pktmbuf_mtod(m, const unsigned *);
}

static uint16_t any_rx(void *queue, struct rte_mbuf **m, uint16_t n)
{
	unsigned k = any(4) == 0 ? n : any(n + 1u);

	(void)queue;
	came_tsc = rte_rdtsc();
	for (unsigned i = 0; i < k; i++) {
		m[i] = rte_pktmbuf_alloc(frames);
		assert_non_null(m[i]);
		assert_non_null(rte_pktmbuf_append(m[i], 60));
		memset(rte_pktmbuf_mtod(m[i], void *), 0, 60);
		*rte_pktmbuf_mtod(m[i], unsigned *) = come++;
	}
	return (uint16_t)k;
}

struct keeper {
	struct dp_state base;
	struct dp_rxq *of;
	bool asked;     /* somebody asks for frames, so the keeper is told when the burst came */
	unsigned claim; /* the keeper gets frames of this class alone; CLAIMS: of all classes */
	unsigned next, got, calls;
};

static void keeper_rx(struct dp_worker *w, const struct dp_task *t, struct dp_rxq *q,
		      struct rte_mbuf **m, unsigned n, const struct dp_burst *b, uint64_t now)
{
	struct keeper *k = (struct keeper *)t->state;

	(void)w;
	assert_ptr_equal(q, k->of);
	assert_int_equal(b->len, 60);
	assert_true(b->plain);
	assert_true(now <= rte_rdtsc());
	assert_true(!k->asked || now >= came_tsc);
	for (unsigned i = 0; i < n; i++) {
		unsigned number = number_of(m[i]), class = number % CLAIMS;
		assert_true(number >= k->next); /* in order */
		assert_true(k->claim == CLAIMS || class == k->claim ||
			    (class == 3 && k->claim == 1));
		k->next = number + 1;
	}
	k->got += n;
	k->calls++;
	dp_free_burst(m, n, b->plain);
}

static const struct dp_kind kind_keeper = {.name = "keeper", .rx = keeper_rx};

static void claim(const void *arg, const struct dp_burst *b, struct rte_mbuf *const *m, unsigned n,
		  uint8_t *owner, uint8_t mine)
{
	const unsigned *bit = arg;

	assert_int_equal(b->len, 60);
	for (unsigned i = 0; i < n; i++)
		if ((number_of(m[i]) & *bit) != 0 && owner[i] == 0)
			owner[i] = mine;
}

static unsigned seen;
static const struct keeper *owners;
static unsigned nowners;

/* Checks that all frames that came before have been given to their owners, and none of this
 * burst. */
static void see(void *state, const struct dp_burst *b, struct rte_mbuf *const *m, unsigned n,
		uint64_t now)
{
	unsigned given = 0;

	(void)state, (void)b;
	assert_true(now >= came_tsc);
	for (unsigned i = 0; i < nowners; i++)
		given += owners[i].got;
	assert_int_equal(given, seen);
	for (unsigned i = 0; i < n; i++)
		assert_int_equal(number_of(m[i]), seen++);
}

static struct turner *keepers_new(struct dp_rxq *q, struct dp_duty *duty, struct keeper *k,
				  unsigned n, unsigned burst)
{
	static void *data[FAKE_QUEUES], *none[FAKE_QUEUES];
	struct turner *x = turner_new();

	rte_eth_fp_ops[FAKE_DEV].rx_pkt_burst = any_rx;
	rte_eth_fp_ops[FAKE_DEV].rxq.data = data;
	rte_eth_fp_ops[FAKE_DEV].rxq.clbk = none;
	frames = pool_of(1500);
	come = seen = 0;
	owners = k;
	nowners = n;
	*q = (struct dp_rxq){.dev = FAKE_DEV};
	*duty = (struct dp_duty){.q = q, .burst = (uint16_t)burst};
	x->plan.rx = duty;
	x->plan.nrx = 1;
	for (unsigned i = 0; i < n; i++) {
		k[i].of = q;
		add(&x->plan, &kind_keeper, &k[i].base);
	}
	return x;
}

static void keepers_free(struct turner *x)
{
	assert_true(rte_mempool_full(frames));
	rte_mempool_free(frames);
	turner_free(x);
}

static void test_owners(void **state)
{
	static const unsigned bursts[] = {1, 7, 32, 512}, bit[] = {1, 2};

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(bursts); i++) {
		struct keeper k[] = {{.claim = 2, .asked = true},
				     {.claim = 0, .asked = true},
				     {.claim = 1, .asked = true}};
		struct dp_rxq q;
		struct dp_duty duty;
		struct turner *x = keepers_new(&q, &duty, k, ARRAY_SIZE(k), bursts[i]);
		duty.owner = 1;
		duty.sort[duty.nsorts++] = (struct dp_sort){claim, &bit[0], 2};
		duty.sort[duty.nsorts++] = (struct dp_sort){claim, &bit[1], 0};
		duty.tap[duty.ntaps++] = (struct dp_tap){.rx = see};
		use(x, &x->plan);
		while (come < FRAMES)
			turns(x, 1);
		assert_int_equal(seen, come);
		assert_int_equal(k[0].got + k[1].got + k[2].got, come);
		assert_in_range(k[0].got, come / CLAIMS, come / CLAIMS + 1);
		assert_in_range(k[1].got, come / CLAIMS, come / CLAIMS + 1);
		assert_in_range(k[2].got, come / CLAIMS * 2, come / CLAIMS * 2 + 2);
		assert_true(q.cnt.full > 0 && q.cnt.full <= q.cnt.bursts &&
			    k[1].calls <= q.cnt.bursts);
		duty.nsorts = 1; /* what nobody claims any more goes to the queue's owner */
		k[1].claim = CLAIMS;
		while (come < 2 * FRAMES)
			turns(x, 1);
		assert_int_equal(k[0].got + k[1].got + k[2].got, come);
		keepers_free(x);
	}
}

/* If nobody asks for frames, each burst goes to the owner as it came. So it does if somebody only
 * looks. */
static void test_one_owner(void **state)
{
	(void)state;
	for (unsigned taps = 0; taps < 2; taps++) {
		struct keeper k[] = {{.claim = CLAIMS, .asked = taps > 0}, {.claim = CLAIMS}};
		struct dp_rxq q;
		struct dp_duty duty;
		struct turner *x = keepers_new(&q, &duty, k, ARRAY_SIZE(k), 32);
		if (taps > 0)
			duty.tap[duty.ntaps++] = (struct dp_tap){.rx = see};
		use(x, &x->plan);
		while (come < FRAMES)
			turns(x, 1);
		assert_int_equal(seen, taps > 0 ? come : 0);
		assert_int_equal(k[0].got, come);
		assert_int_equal(k[0].calls, q.cnt.bursts);
		assert_int_equal(k[1].got, 0);
		keepers_free(x);
	}
}

/* ---- from where and to where ---- */

static unsigned pair_q, pair_calls, dev_calls;

static uint16_t pair_rx(void *q, struct rte_mbuf **m, uint16_t n)
{
	assert_ptr_equal(q, &pair_q);
	assert_int_equal(n, 32);
	pair_calls++;
	return any_rx(NULL, m, n);
}

static uint16_t dev_rx(void *q, struct rte_mbuf **m, uint16_t n)
{
	dev_calls++;
	return any_rx(q, m, n);
}

/* A queue with a pair of functions is read through it alone. One without is read from its
 * device. */
static void test_made_rx(void **state)
{
	static const struct dp_io pair = {.rx = pair_rx};
	struct keeper k = {.claim = CLAIMS};
	struct dp_rxq q;
	struct dp_duty duty;
	struct turner *x = keepers_new(&q, &duty, &k, 1, 32);

	(void)state;
	rte_eth_fp_ops[FAKE_DEV].rx_pkt_burst = dev_rx;
	pair_calls = dev_calls = 0;
	use(x, &x->plan);
	for (unsigned i = 0; i < 4; i++) {
		unsigned paired = pair_calls, own = dev_calls;
		bool made = i % 2 == 0;
		q.io = made ? &pair : NULL;
		q.io_q = made ? &pair_q : NULL;
		turns(x, 1000);
		assert_int_equal(pair_calls - paired, made ? 1000 : 0);
		assert_int_equal(dev_calls - own, made ? 0 : 1000);
		assert_int_equal(k.got, come);
		assert_int_equal(k.calls, q.cnt.bursts);
	}
	keepers_free(x);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_moment),  cmocka_unit_test(test_every_turn),
		cmocka_unit_test(test_never),     cmocka_unit_test(test_owners),
		cmocka_unit_test(test_one_owner), cmocka_unit_test(test_made_rx),
	};
	int rc = eal_or_skip(argv[argc - 1]);

	return rc != 0 ? rc : cmocka_run_group_tests(tests, NULL, NULL);
}
