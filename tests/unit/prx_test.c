/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares receivers of probes with a model of plain arrays: several flows, queues, loss, copies,
 * delays, damage of any bit, numbers that wrap. */
#include <limits.h>
#include <math.h>

#include "effort.h"
#include "prx_frames.h"
#include "prx_merge.h"
#include "prx_own.h"

#define QUEUES 3
#define FLOWS 5
#ifdef EFFORT_PART
#define SENT 4000 /* frames of a flow */
#else
#define SENT 12000
#endif
#define BLOCKS 16
#define MAX_EVENTS (FLOWS * SENT * 2)

struct event {
	uint64_t time, sent, delay, no; /* no: 64 bits */
	uint8_t flow, queue;
	int bit; /* which bit is turned; -1: none */
};

static const struct {
	uint8_t port, stream, queue;
	uint64_t first;
} flow_of[FLOWS] = {
	{0, 0, 0, 0},          {0, 0, 1, 0xfffff000}, {0, 1, 0, 77},
	{0, 1, 1, 0xffffffff}, {2, 0, 0, 0x80000000},
};

static const uint8_t latency[3] = {1, 0, 1};
static struct prx_spec spec = {
	.nports = 3,
	.of = {{2, 2}, {0, 0}, {1, 1}},
	.latency = latency,
	.window_blocks = BLOCKS,
	.holes = 1024,
	.hz = 2000000000,
	.target_gap_cycles = 400,
	.ns_mult = NS_MULT,
};

static struct event event[MAX_EVENTS];
static unsigned nevents, nflows = FLOWS; /* how many flows send */

/* ---- the model ---- */

struct model_flow {
	uint8_t *seen; /* one element for each number, from first on */
	uint64_t first;
	uint64_t *order; /* numbers of different arrivals */
	uint64_t norder, received, duplicate, late, corrupted, reordered, extent_sum, extent_max,
		max, transit, last, tmin, tmax, timed;
	double jitter;     /* cycles */
	uint64_t unmerged; /* lowest number since the last merge + 1, 0: none */
};
struct model {
	struct model_flow f[FLOWS];
	uint64_t frames, damaged;
	uint64_t *ns, *ns_due, n; /* latencies */
};

static void model_extent(struct model_flow *f, uint64_t no)
{
	uint64_t j = 0;

	while (f->order[j] < no)
		j++;
	f->reordered++;
	f->extent_sum += f->norder - j;
	if (f->norder - j > f->extent_max)
		f->extent_max = f->norder - j;
}

/* Counts a number in the model. What arrives first with a number decides, and all others are
 * copies. */
static void model_number(struct model_flow *f, uint64_t no, bool whole)
{
	if (f->max != 0 && no / 64 + BLOCKS / 2 <= f->max / 64) {
		f->late++;
		return;
	}
	if (f->seen[no - f->first]) {
		f->received++;
		f->duplicate++;
		return;
	}
	f->received += whole;
	f->corrupted += !whole;
	if (no >= f->max)
		f->max = no;
	else if (whole)
		model_extent(f, no);
	f->seen[no - f->first] = 1;
	f->order[f->norder++] = no;
	f->unmerged = f->unmerged == 0 || no < f->unmerged - 1 ? no + 1 : f->unmerged;
}

static void model_arrival(struct model *m, const struct event *e)
{
	struct model_flow *f = &m->f[e->flow];
	uint64_t no = e->no + (1ull << 32), transit = e->time - e->sent;
	int byte = e->bit / 8;
	bool whole = e->bit < 0 || byte < 14;

	m->frames++;
	if (!whole && byte >= PRX_AT && byte < PRX_AT + 16) {
		m->damaged++;
		return;
	}
	if (!whole && f->max == 0) { /* the jitter of the next one is measured from it */
		f->transit = transit;
		f->last = e->time;
	}
	model_number(f, no, whole);
	if (!whole)
		return;
	if (f->last != 0) /* RFC 3550 6.4.1 */
		f->jitter +=
			((double)llabs((long long)transit - (long long)f->transit) - f->jitter) /
			16;
	f->tmin = f->timed++ == 0 || transit < f->tmin ? transit : f->tmin;
	f->tmax = transit > f->tmax ? transit : f->tmax;
	f->transit = transit;
	f->last = e->time;
	m->ns[m->n] = transit / 2;
	m->ns_due[m->n++] = (transit + e->delay) / 2;
}

/* ---- the way of frames ---- */

static int by_time(const void *a, const void *b)
{
	const struct event *x = a, *y = b;

	return x->time < y->time ? -1 : x->time > y->time ? 1 : (x->no > y->no) - (x->no < y->no);
}

/* Makes the events. spread: how far frames overtake each other. tick: frames come in bursts at
 * multiples of it. lost, copied and damaged: how many of 1000 frames are. */
static void make_events(unsigned tick, unsigned queues, unsigned lost, unsigned copied,
			unsigned spread, unsigned damaged)
{
	uint64_t t = 1ull << 37;

	nevents = 0;
	for (unsigned i = 0; i < SENT; i++)
		for (unsigned f = 0; f < nflows; f++) {
			t += 300 + any(200);
			if (lost > 0 && any(1000) < lost)
				continue;
			for (unsigned copies = any(1000) < copied ? 2 + any(2) : 1; copies > 0;
			     copies--) {
				uint64_t late =
					spread > 0 && any(10) == 0 ? any(spread) * 2000ull : 0;
				if (spread > 0 && any(500) == 0)
					late += 32 * BLOCKS * 2000ull;
				struct event *e = &event[nevents++];
				assert_true(nevents < MAX_EVENTS);
				*e = (struct event){.time = t + 5000 + any(3000) + late,
						    .sent = t,
						    .no = flow_of[f].first + i,
						    .flow = (uint8_t)f,
						    .delay = any(3) == 0 ? any(1u << 15) : 0,
						    .queue = (uint8_t)any(queues),
						    .bit = -1};
				if (i > 20 && any(1000) < damaged)
					e->bit = (int)any(PRX_LEN * 8);
			}
		}
	for (unsigned i = 0; i < nevents; i++)
		event[i].time = (event[i].time + tick - 1) / tick * tick;
	qsort(event, nevents, sizeof(event[0]), by_time);
}

/* What comes at one moment on a queue is one burst. */
static struct rte_mbuf *burst[QUEUES][DP_BURST_MAX];
static unsigned nburst[QUEUES];

static void flush(struct prx *const *x, uint64_t time)
{
	for (unsigned q = 0; q < QUEUES; q++) {
		struct dp_burst b =
			nburst[q] > 0 ? dp_look(burst[q], nburst[q]) : (struct dp_burst){0};
		if (nburst[q] > 0)
			prx_rx(x[q], &b, burst[q], nburst[q], time);
		/* The queue is seldom empty, so what was put off is done with the next burst. */
		if (any(4) == 0)
			prx_flush(x[q]);
		rte_pktmbuf_free_bulk(burst[q], nburst[q]);
		nburst[q] = 0;
	}
}

static void add(const struct event *e, struct rte_mempool *mp)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(mp);

	assert_non_null(m);
	uint8_t *p = (uint8_t *)rte_pktmbuf_append(m, PRX_LEN);
	assert_non_null(p);
	put_frame(p, (uint32_t)e->no, flow_of[e->flow].port, flow_of[e->flow].queue,
		  flow_of[e->flow].stream, e->sent, e->delay);
	if (e->bit >= 0)
		p[e->bit / 8] ^= (uint8_t)(1 << e->bit % 8);
	assert_true(nburst[e->queue] < DP_BURST_MAX);
	burst[e->queue][nburst[e->queue]++] = m;
}

/* ---- comparison ---- */

static int by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void check_hist(const struct hist *h, uint64_t *v, uint64_t n)
{
	static const double percent[] = {0.01, 10, 50, 90, 99, 99.9, 99.999, 100};

	qsort(v, n, sizeof(*v), by_number);
	assert_int_equal(hist_count(h), n);
	for (unsigned i = 0; n > 0 && i < ARRAY_SIZE(percent); i++) {
		uint64_t rank = (uint64_t)(percent[i] / 100 * (double)n + 0.9999999);
		assert_int_equal(hist_percentile(h, percent[i]), hist_highest(h, v[rank - 1]));
	}
}

static void check_flow(const struct prx *x, unsigned i, const struct model_flow *want)
{
	const struct prx_flow *f =
		prx_flow(x, flow_of[i].port, flow_of[i].stream, flow_of[i].queue);

	assert_int_equal(f->received, want->received);
	assert_int_equal(f->duplicate, want->duplicate);
	assert_int_equal(f->late, want->late);
	assert_int_equal(f->corrupted, want->corrupted);
	assert_int_equal(f->reordered, want->reordered);
	assert_int_equal(f->extent_unknown, 0);
	assert_int_equal(f->extent_sum, want->extent_sum);
	assert_int_equal(f->extent_max, want->extent_max);
	assert_true(fabs(prx_jitter(f) - want->jitter) <= want->jitter * 1e-9 + 1e-6);
	if (want->timed > 0) {
		assert_int_equal(~f->transit_min, want->tmin);
		assert_int_equal(f->transit_max, want->tmax);
	}
	if (want->max > 0)
		assert_int_equal((uint32_t)(f->next - 1), (uint32_t)want->max);
}

static void check(const struct prx *x, struct model *m)
{
	const struct prx_port *p = prx_port(x);
	uint64_t probes = 0, near[PRX_NEARS + 1];

	for (unsigned i = 0; i < FLOWS; i++) {
		check_flow(x, i, &m->f[i]);
		probes += m->f[i].received + m->f[i].late + m->f[i].corrupted;
	}
	assert_int_equal(p->probes, probes);
	assert_int_equal(p->damaged, m->damaged);
	assert_int_equal(p->foreign, 0);
	assert_int_equal(p->plain, 0);
	assert_int_equal(p->early, 0);
	prx_nears(p, near);
	assert_int_equal(near[PRX_NEARS], m->frames > 0 ? m->frames - 1 : 0);
	assert_int_equal(p->probes + p->damaged + p->foreign + p->plain, m->frames);
	check_hist(prx_port_hist(x, PRX_ACTUAL), m->ns, m->n);
	check_hist(prx_port_hist(x, PRX_INTENDED), m->ns_due, m->n);
	for (unsigned w = PRX_ACTUAL; w <= PRX_INTENDED; w++) {
		assert_int_equal(hist_count(prx_stream_hist(x, 0, 0, (enum prx_hist)w)),
				 m->f[0].timed + m->f[1].timed);
		assert_null(prx_stream_hist(x, 0, 1, (enum prx_hist)w));
		assert_int_equal(hist_count(prx_stream_hist(x, 2, 0, (enum prx_hist)w)),
				 m->f[4].timed);
	}
}

static void model_new(struct model *m)
{
	memset(m, 0, sizeof(*m));
	m->ns = calloc(MAX_EVENTS, 8);
	m->ns_due = calloc(MAX_EVENTS, 8);
	for (unsigned i = 0; i < FLOWS; i++) {
		m->f[i].seen = calloc(SENT + 1, 1);
		m->f[i].first = flow_of[i].first + (1ull << 32);
		m->f[i].order = calloc(SENT, 8);
	}
}

static void model_free(struct model *m)
{
	for (unsigned i = 0; i < FLOWS; i++) {
		free(m->f[i].seen);
		free(m->f[i].order);
	}
	free(m->ns);
	free(m->ns_due);
}

static uint64_t seen_anywhere(const struct model *m, unsigned flow)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < SENT; i++) {
		bool any_queue = false;
		for (unsigned q = 0; q < QUEUES; q++)
			any_queue |= m[q].f[flow].seen[i] != 0;
		n += any_queue;
	}
	return n;
}

/* ---- tests ---- */

static struct rte_mempool *pool;

/* in events; half a window has numbers for more than twice as many */
#define IN_TIME (200 * nflows)

/* Merges the window of each queue and flow, or of some of them. lapsed[flow] is set when a window
 * had moved on over numbers that were not merged. */
static void merge(struct prx_merge *const *g, struct prx *const *x, struct model *m, bool all,
		  bool *lapsed)
{
	uint32_t n;

	for (unsigned f = 0; f < FLOWS; f++)
		for (unsigned q = 0; q < QUEUES; q++) {
			struct model_flow *mf = &m[q].f[f];
			if (!all && any(2) != 0)
				continue;
			lapsed[f] |= mf->unmerged != 0 &&
				     (mf->unmerged - 1) / 64 + BLOCKS <= mf->max / 64;
			mf->unmerged = 0;
			prx_merge_pass(g[f], q,
				       prx_flow(x[q], flow_of[f].port, flow_of[f].stream,
						flow_of[f].queue),
				       prx_window(x[q], flow_of[f].port, flow_of[f].stream,
						  flow_of[f].queue, &n));
		}
}

/* Runs the events. Between merges lie about `pause` moments, by chance; all windows are merged
 * after `most` events at the latest. Returns how many flows are inexact. */
static unsigned run(unsigned pause, unsigned most)
{
	struct prx *x[QUEUES];
	struct model *m = calloc(QUEUES, sizeof(*m));
	struct prx_merge *g[FLOWS];
	unsigned inexact = 0, merged = 0;
	static unsigned runs;
	bool lapsed[FLOWS] = {false};

	for (unsigned q = 0; q < QUEUES; q++) {
		x[q] = prx_new(&spec);
		x[q]->ops = ops_of(runs + q);
		model_new(&m[q]);
	}
	runs++;
	for (unsigned f = 0; f < FLOWS; f++) {
		g[f] = zeroed(prx_merge_size(QUEUES, BLOCKS));
		prx_merge_init(g[f], QUEUES, BLOCKS);
	}
	for (unsigned i = 0; i <= nevents; i++) {
		if (i < nevents) {
			add(&event[i], pool);
			model_arrival(&m[event[i].queue], &event[i]);
		}
		if (i + 1 < nevents && event[i + 1].time == event[i].time)
			continue;
		flush(x, event[i < nevents ? i : nevents - 1].time);
		bool all = i == nevents || i - merged >= most;
		if (!all && any(pause) != 0)
			continue;
		merge(g, x, m, all, lapsed);
		merged = all ? i : merged;
	}
	for (unsigned q = 0; q < QUEUES; q++) {
		prx_flush(x[q]);
		check(x[q], &m[q]);
	}
	for (unsigned f = 0; f < FLOWS; f++) {
		struct prx_merged r = prx_merge_result(g[f]);
		uint64_t distinct = 0;
		for (unsigned q = 0; q < QUEUES; q++)
			distinct += m[q].f[f].norder;
		uint64_t crossed = distinct - seen_anywhere(m, f);
		if (r.missed > 0)
			assert_true(r.crossed <= crossed);
		else
			assert_int_equal(r.crossed, crossed);
		assert_true(lapsed[f] || r.missed == 0); /* nothing is missed without a cause */
		inexact += r.missed > 0;
	}
	for (unsigned q = 0; q < QUEUES; q++) {
		free(x[q]);
		model_free(&m[q]);
	}
	for (unsigned f = 0; f < FLOWS; f++)
		free(g[f]);
	free(m);
	return inexact;
}

static void test_one_queue(void **state)
{
	(void)state;
	for (unsigned tick = 1; tick < 100000; tick *= 8) {
		spec.verify = true;
		make_events(tick, 1, 0, 0, 0, 0);
		assert_int_equal(run(100, UINT_MAX), 0);
		make_events(tick, 1, 20, 30, 30, 20);
		/* One queue alone is exact without merging. */
		assert_int_equal(run(1000000, UINT_MAX), 0);
		spec.verify = false;
		make_events(tick, 1, 0, 0, 0, 0);
		assert_int_equal(run(100, UINT_MAX), 0);
		make_events(tick, 1, 20, 30, 30, 0);
		assert_int_equal(run(100, UINT_MAX), 0);
	}
}

/* The frames of a burst are all of one port, or of one flow. */
static void test_alike(void **state)
{
	(void)state;
	spec.verify = false;
	for (nflows = 1; nflows <= 4; nflows += 3)
		for (unsigned tick = 100; tick < 100000; tick *= 6) {
			make_events(tick, 1, 0, 0, 0, 0);
			assert_int_equal(run(100, UINT_MAX), 0);
			make_events(tick, 1, 2, 2, 0, 0);
			assert_int_equal(run(100, UINT_MAX), 0);
			make_events(tick, 3, 10, 20, 20, 0);
			assert_int_equal(run(1, IN_TIME), 0);
		}
	nflows = FLOWS;
}

static void test_three_queues(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		spec.verify = i % 2;
		make_events(i < 2 ? 1 : 4000, 3, 20, 100, 30, spec.verify ? 20 : 0);
		assert_int_equal(run(20, IN_TIME), 0);
		make_events(i < 2 ? 1 : 8000, 3, 300, 300, 200, 0);
		assert_int_equal(run(10, IN_TIME), 0);
	}
}

/* It is noticed when merges are too rare. */
static void test_lapped(void **state)
{
	(void)state;
	make_events(1, 3, 0, 100, 0, 0);
	assert_int_equal(run(1000000, UINT_MAX), FLOWS);
	for (unsigned pause = 500; pause < 20000; pause *= 2)
		run(pause, UINT_MAX);
}

static void receive_at(struct prx *x, uint32_t seq, unsigned n, uint64_t sent, uint64_t stamp,
		       uint64_t now)
{
	struct rte_mbuf *m[8];

	for (unsigned i = 0; i < n; i++) {
		m[i] = rte_pktmbuf_alloc(pool);
		assert_non_null(m[i]);
		put_frame((uint8_t *)rte_pktmbuf_append(m[i], PRX_LEN), seq + i, 0, 0, 0, sent, 0);
		m[i]->ol_flags |= stamp != 0 ? 1ull << 40 : 0;
		m[i]->dynfield1[2] = (uint32_t)stamp;
		m[i]->dynfield1[3] = (uint32_t)(stamp >> 32);
	}
	prx_burst(x, m, n, now);
	rte_pktmbuf_free_bulk(m, n);
}

/* Gaps are compared with their target, and frames counted in windows of 1, 10, 100 us and 1 ms. A
 * ns has 2 cycles. */
static void test_arrivals(void **state)
{
	struct prx *x = prx_new(&spec); /* the target is 200 ns */
	const struct prx_port *p = prx_port(x);
	uint64_t near[PRX_NEARS + 1];

	(void)state;
	receive_at(x, 0, 2, 900000, 0, 1000000);
	receive_at(x, 2, 1, 900000, 0, 1000400);       /* 200 ns later */
	receive_at(x, 3, 1, 900000, 0, 1000400 + 530); /* 265 */
	receive_at(x, 4, 1, 900000, 0, 1001000 + 20000);
	prx_nears(p, near);
	assert_int_equal(near[0], 1);
	assert_int_equal(near[1], 2);
	assert_int_equal(near[2], 3); /* the two that came at the same time count too */
	assert_int_equal(near[3], 3);
	assert_int_equal(near[PRX_NEARS], 4);
	assert_int_equal(hist_count(prx_port_hist(x, PRX_GAP)), 4);
	/* Windows of 2000 cycles: one has 4 frames, and nine have none. */
	assert_int_equal(p->scale[0].windows, 10);
	assert_int_equal(p->scale[0].sum, 4);
	assert_int_equal(p->scale[0].sum_sq, 16);
	assert_int_equal(p->scale[1].windows, 1);
	assert_int_equal(p->scale[1].sum_sq, 16);
	assert_int_equal(p->scale[2].windows, 0);
	assert_int_equal(p->probes, 5);
	free(x);
}

/* Gaps are of each class from the nearest to the furthest. Without a target all gaps are far. */
static void test_nears(void **state)
{
	static const struct {
		int off;
		unsigned class;
	} gap[] = {
		{0, 0},   {1, 0},    {-64, 0}, {64, 0},  {-65, 1}, {65, 1},  {128, 1},
		{129, 2}, {-200, 2}, {256, 2}, {257, 3}, {512, 3}, {513, 4}, {1 << 20, 4},
	};
	struct prx *x = prx_new(&spec); /* the target is 200 ns */
	const struct prx_port *p = prx_port(x);
	uint64_t now = 1000000;
	uint32_t seq = 0;

	(void)state;
	receive_at(x, seq++, 1, now - 1000, 0, now);
	for (unsigned i = 0; i < 2 * ARRAY_SIZE(gap); i++) {
		unsigned k = i % ARRAY_SIZE(gap), class = i == k ? gap[k].class : PRX_NEARS;
		if (i == ARRAY_SIZE(gap))
			prx_set_target(x, 0);
		uint64_t want = p->near[class] + 1;
		now += (uint64_t)(2 * (200 + gap[k].off));
		receive_at(x, seq++, 1, now - 1000, 0, now);
		assert_int_equal(p->near[class], want);
	}
	free(x);
}

/* Checks that an impossible number among others of its burst counts as foreign and nowhere else. */
static void foreign_among_others(bool verify)
{
	struct rte_mbuf *m[20];

	spec.verify = verify;
	struct prx *x = prx_new(&spec);
	receive_at(x, 0, 1, 900000, 0, 1000000);
	for (unsigned i = 0; i < 20; i++) {
		m[i] = rte_pktmbuf_alloc(pool);
		assert_non_null(m[i]);
		put_frame((uint8_t *)rte_pktmbuf_append(m[i], PRX_LEN),
			  i < 13    ? i + 1
			  : i == 13 ? 0x50000000
				    : i,
			  0, 0, 0, 1000000 + i, 100);
	}
	prx_burst(x, m, 20, 1001000);
	rte_pktmbuf_free_bulk(m, 20);
	assert_int_equal(prx_port(x)->foreign, 1);
	assert_int_equal(prx_port(x)->probes, 20);
	assert_int_equal(prx_flow(x, 0, 0, 0)->received, 20);
	assert_int_equal(prx_flow(x, 0, 0, 0)->next, (1ull << 32) + 20);
	for (unsigned i = PRX_ACTUAL; i <= PRX_INTENDED; i++)
		assert_int_equal(hist_count(prx_port_hist(x, (enum prx_hist)i)), 20);
	for (unsigned i = PRX_ACTUAL; i <= PRX_INTENDED; i++)
		assert_int_equal(hist_count(prx_stream_hist(x, 0, 0, (enum prx_hist)i)), 20);
	/* 19 of the frames were sent 100 cycles late, which are 50 ns. */
	uint64_t late = (uint64_t)(hist_sum(prx_stream_hist(x, 0, 0, PRX_INTENDED)) -
				   hist_sum(prx_stream_hist(x, 0, 0, PRX_ACTUAL)));
	assert_int_equal(late, 19 * 50);
	free(x);
}

static void test_foreign(void **state)
{
	(void)state;
	foreign_among_others(true);
	foreign_among_others(false);
}

/* After a silence a number may be far ahead, whatever came from elsewhere meanwhile. */
static void test_foreign_in_a_silence(void **state)
{
	(void)state;
	for (unsigned verify = 0; verify < 2; verify++) {
		spec.verify = verify != 0;
		struct prx *x = prx_new(&spec);
		receive_at(x, 0, 1, 900000, 0, 1000000);
		/* This comes 1 s later, and at most 5e8 frames can have been sent. */
		receive_at(x, 0x50000000, 1, 2000900000, 0, 2001000000);
		assert_int_equal(prx_port(x)->foreign, 1);
		receive_at(x, 400000000, 2, 2000901000, 0, 2001001000);
		assert_int_equal(prx_port(x)->foreign, 1);
		assert_int_equal(prx_flow(x, 0, 0, 0)->received, 3);
		free(x);
	}
}

/* Frames carry the device's time, and probes may come from the future. */
static void test_stamps(void **state)
{
	struct dp_clock clock = {.offset = offsetof(struct rte_mbuf, dynfield1) + 8,
				 .flag = 1ull << 40,
				 .version = 2,
				 .at = 5000,
				 .tsc = 1000000,
				 .mult = 2ull << DP_CLOCK_SHIFT};
	struct prx *x = prx_new(&spec);
	const struct prx_flow *f = prx_flow(x, 0, 0, 0);

	(void)state;
	prx_set_clock(x, &clock);
	receive_at(x, 0, 1, 1000000, 5100, 1009999);
	assert_int_equal(f->last_transit, 200);
	/* this is before the moment that both clocks know */
	receive_at(x, 1, 1, 999000, 4900, 1009999);
	assert_int_equal(f->last_transit, 800);
	receive_at(x, 2, 1, 1000000, 0, 1009999);
	assert_int_equal(f->last_transit, 9999);
	prx_set_clock(x, NULL);
	receive_at(x, 3, 1, 1010000, 5100, 1010500);
	assert_int_equal(f->last_transit, 500);
	receive_at(x, 4, 1, 1020000, 0, 1010600);
	assert_int_equal(prx_port(x)->early, 1);
	assert_int_equal(~f->transit_min, 0);
	assert_int_equal(f->received, 5);
	free(x);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_one_queue),
					   cmocka_unit_test(test_alike),
					   cmocka_unit_test(test_three_queues),
					   cmocka_unit_test(test_lapped),
					   cmocka_unit_test(test_arrivals),
					   cmocka_unit_test(test_nears),
					   cmocka_unit_test(test_stamps),
					   cmocka_unit_test(test_foreign),
					   cmocka_unit_test(test_foreign_in_a_silence)};
	int rc = eal_or_skip(argv[argc - 1]);

	if (rc != 0)
		return rc;
	any_seed = (unsigned)test_seed();
	pool = pool_of(4000);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
