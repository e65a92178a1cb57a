/* SPDX-License-Identifier: BSD-3-Clause */
/* A device made of two functions, and a port of Tx queues on one worker that a test turns by hand. The device checks what no counter shows:
 * what it refused comes again first and in order, no buffer is handed over twice, none is written while the device holds it, each frame has
 * the bytes that the newest adopted plan says, and none comes before its deadline. */
#pragma once
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dp.h"
#include "eal_skip.h"

#define FAKE_DEV (RTE_MAX_ETHPORTS - 1)
#define FAKE_QUEUES 8
#define FAKE_HOLD 2048

enum fake_take { TAKE_ALL, TAKE_NONE, TAKE_RANDOM };

struct fake_q {
	enum fake_take take;
	bool keep;               /* give nothing back until fake_release() */
	bool drops;              /* a tail may be thrown away in between: what was refused need not come again */
	bool scribble;           /* somebody writes into frames before they come back, and says so */
	unsigned hold;           /* frames in flight before the oldest goes back to its pool */
	struct rte_mbuf *held[FAKE_HOLD];
	uint32_t sum[FAKE_HOLD];
	unsigned nheld;
	struct rte_mbuf *refused[DP_BURST_MAX];
	unsigned nrefused;
	const uint8_t *want;     /* bytes of every frame from now on, NULL: any */
	unsigned want_len;
	const struct pace *pace; /* frame at + i x step of it is due before it comes, NULL: any time */
	uint64_t at, step;
	uint64_t frames, bytes, calls;
};

static struct fake_q fake[FAKE_QUEUES];
static unsigned seed = 1;

static inline unsigned any(unsigned below)
{
	seed = seed * 1103515245u + 12345u;
	return (seed >> 8) % below;
}

static inline uint32_t sum_of(const struct rte_mbuf *m)
{
	const uint8_t *p = rte_pktmbuf_mtod(m, const uint8_t *);
	uint32_t h = m->data_len;

	for (unsigned i = 0; i < m->data_len; i++)
		h = h * 31 + p[i];
	return h;
}

static inline void fake_release(struct fake_q *f, unsigned keep)
{
	unsigned n = f->nheld > keep ? f->nheld - keep : 0;

	for (unsigned i = 0; i < n; i++) {
		struct rte_mbuf *m = f->held[i];
		assert_int_equal(sum_of(m), f->sum[i]); /* nobody wrote while the device had it */
		if (f->scribble && any(2) == 0) {
			memset(rte_pktmbuf_mtod(m, void *), 0xee, m->data_len);
			frame_touch(m);
		}
		rte_pktmbuf_free(m);
	}
	memmove(f->held, f->held + n, (f->nheld - n) * sizeof(f->held[0]));
	memmove(f->sum, f->sum + n, (f->nheld - n) * sizeof(f->sum[0]));
	f->nheld -= n;
}

static inline void fake_accept(struct fake_q *f, struct rte_mbuf *m)
{
	assert_int_equal(rte_mbuf_refcnt_read(m), 1);
	assert_int_equal(m->nb_segs, 1);
	assert_null(m->next);
	assert_int_equal(m->pkt_len, m->data_len);
	for (unsigned i = 0; i < f->nheld; i++)
		assert_ptr_not_equal(m, f->held[i]);
	if (f->want != NULL) {
		assert_int_equal(m->data_len, f->want_len);
		assert_memory_equal(rte_pktmbuf_mtod(m, void *), f->want, f->want_len);
	}
	if (f->pace != NULL)
		assert_true((int64_t)(rte_rdtsc() - pace_due(f->pace, f->at)) >= 0);
	f->at += f->step;
	assert_true(f->nheld < FAKE_HOLD);
	f->held[f->nheld] = m;
	f->sum[f->nheld++] = sum_of(m);
	f->frames++;
	f->bytes += m->pkt_len + RTE_ETHER_CRC_LEN;
}

static uint16_t fake_tx(void *queue, struct rte_mbuf **m, uint16_t n)
{
	struct fake_q *f = queue;
	unsigned take = f->take == TAKE_ALL ? n : f->take == TAKE_NONE ? 0 : any(n + 1u);

	f->calls++;
	assert_true(n > 0 && n <= DP_BURST_MAX);
	if (f->nrefused > 0 && !f->drops) { /* the tail first, alone and in order */
		assert_int_equal(n, f->nrefused);
		assert_memory_equal(m, f->refused, n * sizeof(*m));
	}
	if (!f->keep)
		fake_release(f, f->hold);
	for (unsigned i = 0; i < take; i++)
		fake_accept(f, m[i]);
	f->nrefused = n - take;
	memcpy(f->refused, m + take, f->nrefused * sizeof(*m));
	return (uint16_t)take;
}

static inline void fake_open(void)
{
	static void *data[FAKE_QUEUES], *none[FAKE_QUEUES];

	memset(fake, 0, sizeof(fake));
	for (unsigned q = 0; q < FAKE_QUEUES; q++)
		data[q] = &fake[q];
	rte_eth_fp_ops[FAKE_DEV].tx_pkt_burst = fake_tx;
	rte_eth_fp_ops[FAKE_DEV].txq.data = data;
	rte_eth_fp_ops[FAKE_DEV].txq.clbk = none;
}

static inline struct rte_mempool *pool_of(unsigned n)
{
	static unsigned serial;
	char name[32];

	snprintf(name, sizeof(name), "t%u", serial++);
	struct rte_mempool *mp = rte_pktmbuf_pool_create(name, n, n >= 1024 ? DP_POOL_CACHE : 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
	assert_non_null(mp);
	return mp;
}

static inline void *zeroed(size_t n)
{
	void *p = aligned_alloc(CACHE_LINE, RTE_ALIGN_CEIL(n, CACHE_LINE));

	assert_non_null(p);
	memset(p, 0, RTE_ALIGN_CEIL(n, CACHE_LINE));
	return p;
}

/* ---- a port of nq Tx queues, all on one worker ---- */

struct world {
	struct dp_worker *w;
	unsigned nq;
	struct dp_txq *txq[FAKE_QUEUES];
	struct gen_state *gen[FAKE_QUEUES];
	struct gen_job job;      /* of queue 0; the next plan says this */
	uint64_t seq;
	struct dp_plan *plan[256];
	unsigned nplans;
};

static inline struct dp_plan *plan_new(struct world *x, unsigned ntasks, size_t extra)
{
	struct dp_plan *p = zeroed(sizeof(*p) + ntasks * sizeof(struct dp_task) + extra);

	p->seq = ++x->seq;
	p->task = (struct dp_task *)(p + 1);
	p->ntasks = (uint16_t)ntasks;
	assert_true(x->nplans < ARRAY_SIZE(x->plan));
	x->plan[x->nplans++] = p;
	return p;
}

/* Plans that a later one has replaced go, as control does it: a worker that looks into one is caught by the address sanitizer. */
static inline void reap(struct world *x)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < x->nplans; i++) {
		if (x->plan[i]->seq < __atomic_load_n(&x->w->cells.acked, __ATOMIC_ACQUIRE))
			free(x->plan[i]);
		else
			x->plan[kept++] = x->plan[i];
	}
	x->nplans = kept;
}

static inline void post(struct world *x)
{
	struct dp_plan *p = plan_new(x, x->nq, x->nq * (sizeof(struct gen_job) + x->job.len));
	struct gen_job *j = (struct gen_job *)(p->task + x->nq);
	uint8_t *bytes = (uint8_t *)(j + x->nq);

	for (unsigned q = 0; q < x->nq; q++, bytes += x->job.len) {
		j[q] = x->job;
		j[q].txq = x->txq[q];
		j[q].queue = (uint16_t)q;
		j[q].nqueues = (uint16_t)x->nq;
		j[q].frame = memcpy(bytes, x->job.frame, x->job.len);
		p->task[q] = (struct dp_task){.kind = &dp_kind_gen, .state = &x->gen[q]->base, .job = &j[q]};
	}
	assert_true(mbox_post(&x->w->mbox, p));
}

static inline void turns(struct world *x, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		assert_true(dp_turn(x->w));
	reap(x);
}

/* The plan that was posted is in use afterwards. */
static inline void adopt_now(struct world *x)
{
	post(x);
	turns(x, 1);
	assert_int_equal(x->w->cells.acked, x->seq);
}

static inline bool all_done(const struct world *x)
{
	for (unsigned q = 0; q < x->nq; q++)
		if (gen_run_state(x->gen[q], x->job.run) != GEN_DONE)
			return false;
	return true;
}

static inline void run_to_end(struct world *x)
{
	for (unsigned i = 0; i < 50000000 && !all_done(x); i++)
		dp_turn(x->w);
	assert_true(all_done(x));
	for (unsigned q = 0; q < x->nq; q++)
		assert_false(x->gen[q]->base.active);
	reap(x);
}

static inline uint64_t total(const struct world *x, size_t offset)
{
	uint64_t sum = 0;

	for (unsigned q = 0; q < x->nq; q++)
		sum += *(const uint64_t *)((const char *)&x->txq[q]->cnt + offset);
	return sum;
}
#define TOTAL(x, counter) total(x, offsetof(struct cnt_tx, counter))

static const uint8_t frame_a[60] = {0x02, 0x77, 0x72, 0, 0, 1, 0x02, 0x77, 0x72, 0, 0, 0, 0x08, 0x00, 0xaa};
static const uint8_t frame_b[124] = {0x02, 0x77, 0x72, 0, 0, 9, 0x02, 0x77, 0x72, 0, 0, 8, 0x86, 0xdd, 0xbb};

static inline void want(struct world *x, const uint8_t *frame, unsigned len, uint32_t tag)
{
	x->job.frame = frame;
	x->job.len = (uint16_t)len;
	x->job.tag = tag;
	for (unsigned q = 0; q < x->nq; q++) {
		fake[q].want = frame;
		fake[q].want_len = len;
	}
}

static inline struct world *world_new(unsigned nq, unsigned pool)
{
	struct world *x = zeroed(sizeof(*x));
	static unsigned serial;
	char name[24];
	struct err e;

	fake_open();
	x->nq = nq;
	x->w = zeroed(sizeof(*x->w));
	snprintf(name, sizeof(name), "w%u", serial++);
	assert_int_equal(mbox_open(&x->w->mbox, name, SOCKET_ID_ANY, &e), 0);
	for (unsigned q = 0; q < nq; q++) {
		x->txq[q] = zeroed(sizeof(*x->txq[q]));
		x->txq[q]->dev = FAKE_DEV;
		x->txq[q]->queue = (uint16_t)q;
		x->txq[q]->pool = pool_of(pool);
		x->txq[q]->pool_size = pool;
		x->gen[q] = zeroed(dp_kind_gen.mem());
	}
	x->job = (struct gen_job){.burst = 32, .run = 1, .start_tsc = rte_rdtsc(), .end_tsc = UINT64_MAX, .limit = UINT64_MAX,
				  .giveup_cycles = rte_get_tsc_hz() / 1000, .forgive_cycles = rte_get_tsc_hz() / 20};
	want(x, frame_a, sizeof(frame_a), 1);
	return x;
}

/* Nothing is lost and nothing is held: every buffer is back in its pool. */
static inline void world_free(struct world *x)
{
	for (unsigned q = 0; q < x->nq; q++) {
		fake_release(&fake[q], 0);
		assert_int_equal(fake[q].frames, x->txq[q]->cnt.packets);
		assert_int_equal(fake[q].bytes, x->txq[q]->cnt.bytes);
		assert_true(rte_mempool_full(x->txq[q]->pool));
		rte_mempool_free(x->txq[q]->pool);
		free(x->txq[q]);
		free(x->gen[q]);
	}
	for (unsigned i = 0; i < x->nplans; i++)
		free(x->plan[i]);
	mbox_close(&x->w->mbox);
	free(x->w);
	free(x);
}
