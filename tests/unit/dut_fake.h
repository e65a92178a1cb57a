/* SPDX-License-Identifier: BSD-3-Clause */
/* A device under test between rings of the test, on a clock of the test's own. Frames carry
 * numbers, by which the test judges what comes out. */
#pragma once
#include "dp_fake.h"
#include "dut.h"

#define MOST 40000
#define CELLS (1u << 18)
#define HEAD 18 /* the number stands here, behind addresses and type */

struct got {
	uint64_t id, at;
	uint16_t len;
	uint8_t ring;
	bool spoilt;
};

struct world {
	struct dut_line line;
	struct dut_job job;
	struct dp_task task;
	struct dut_state *s;
	struct dp_worker w;
	struct rte_mempool *theirs;
	uint64_t now, sent;
	struct got *got;
	unsigned ngot;
};

static inline void turn(struct world *x)
{
	dp_kind_dut.poll(&x->w, &x->task, x->now);
}

static inline struct dut_counts counts(const struct world *x)
{
	struct dut_counts c;

	assert_true(dut_read(x->s, &c));
	return c;
}

static inline uint64_t dropped(const struct dut_counts *c)
{
	return c->lost + c->queue_drops + c->too_long + c->failed + c->overflow + c->flushed;
}

/* Checks that the account closes: every frame that came in has left, was dropped, or waits. */
static inline void closes(const struct world *x)
{
	struct dut_counts c = counts(x);

	assert_int_equal(c.in + c.duplicated, c.out + dropped(&c) + c.waiting);
}

static inline void world_job(struct world *x, const struct dut_job *job)
{
	const void *old = x->task.job;

	x->job = *job;
	x->job.line = &x->line;
	if (x->job.room == 0)
		x->job.room = CELLS;
	x->job.loss_burst += x->job.loss_burst == 0;
	x->job.reorder_by += x->job.reorder_by == 0;
	x->task.job = &x->job;
	dp_kind_dut.adopt(&x->w, &x->task, old, x->now);
}

/* Makes a pool without caches, so that all buffers that are free are in the pool. It is so small
 * that the memory of tests is enough with a page for each buffer. */
static inline struct rte_mempool *small_pool(void)
{
	static unsigned serial;
	char name[32];

	snprintf(name, sizeof(name), "p%u", serial++);
	struct rte_mempool *mp =
		rte_pktmbuf_pool_create(name, 2047, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
	assert_non_null(mp);
	return mp;
}

static inline struct world *world_new(const struct dut_job *job, unsigned nrings,
				      unsigned ring_size)
{
	struct world *x = zeroed(sizeof(*x));
	static unsigned serial;
	char name[32];

	x->line = (struct dut_line){.nrings = (uint16_t)nrings,
				    .pool = small_pool(),
				    .stamp_at = offsetof(struct rte_mbuf, dynfield1),
				    .max_len = 2048,
				    .ncells = CELLS};
	x->line.cells = zeroed((size_t)dut_cells(&x->line) * DUT_CELL);
	x->line.late = zeroed((CELLS / 2 + 1) * sizeof(*x->line.late));
	x->line.service = zeroed(DUT_QUEUE_MAX * sizeof(uint64_t));
	for (unsigned i = 0; i < nrings; i++) {
		snprintf(name, sizeof(name), "in%u", serial);
		x->line.in[i] =
			rte_ring_create(name, 2048, SOCKET_ID_ANY, RING_F_SP_ENQ | RING_F_SC_DEQ);
		snprintf(name, sizeof(name), "out%u", serial++);
		x->line.out[i] = rte_ring_create(name, ring_size, SOCKET_ID_ANY,
						 RING_F_SP_ENQ | RING_F_SC_DEQ | RING_F_EXACT_SZ);
		assert_non_null(x->line.in[i]);
		assert_non_null(x->line.out[i]);
	}
	x->theirs = small_pool();
	x->now = 1000;
	x->s = zeroed(sizeof(*x->s));
	x->task = (struct dp_task){.kind = &dp_kind_dut, .state = &x->s->base};
	x->got = zeroed(MOST * sizeof(*x->got));
	world_job(x, job);
	return x;
}

/* Frees the world. Every buffer of both sides must be back in its pool. */
static inline void world_free(struct world *x)
{
	dp_kind_dut.drop(&x->w, &x->task, x->now);
	closes(x);
	assert_int_equal(counts(x).waiting, 0);
	assert_true(rte_mempool_full(x->line.pool));
	assert_true(rte_mempool_full(x->theirs));
	rte_mempool_free(x->line.pool);
	rte_mempool_free(x->theirs);
	for (unsigned i = 0; i < x->line.nrings; i++) {
		rte_ring_free(x->line.in[i]);
		rte_ring_free(x->line.out[i]);
	}
	free(x->line.cells);
	free(x->line.late);
	free(x->line.service);
	free(x->s);
	free(x->got);
	free(x);
}

static inline uint8_t filling(uint64_t id, unsigned at)
{
	return (uint8_t)(id * 7 + at * 13 + 1);
}

/* Puts a frame of len bytes without FCS into a ring, sent at that time. type: its EtherType. */
static inline void put_type(struct world *x, unsigned ring, unsigned txq, unsigned len,
			    uint64_t tsc, uint16_t type)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(x->theirs);
	struct dut_stamp stamp = {.tsc = tsc, .txq = txq};

	assert_non_null(m);
	uint8_t *p = (uint8_t *)rte_pktmbuf_append(m, (uint16_t)len);
	for (unsigned i = 0; i < len; i++)
		p[i] = filling(x->sent, i);
	p[12] = (uint8_t)(type >> 8);
	p[13] = (uint8_t)type;
	memcpy(p + HEAD, &x->sent, 8);
	memcpy((uint8_t *)m + x->line.stamp_at, &stamp, sizeof(stamp));
	x->sent++;
	assert_int_equal(rte_ring_sp_enqueue(x->line.in[ring], m), 0);
}

static inline void put(struct world *x, unsigned len, uint64_t tsc)
{
	put_type(x, 0, 0, len, tsc, 0x0800);
}

/* Notes a frame that came out. */
static inline void keep(struct world *x, unsigned ring, const struct rte_mbuf *m)
{
	const uint8_t *p = rte_pktmbuf_mtod(m, const uint8_t *);
	struct got *g = &x->got[x->ngot++];

	assert_true(x->ngot <= MOST);
	*g = (struct got){.at = x->now, .len = m->data_len, .ring = (uint8_t)ring};
	memcpy(&g->id, p + HEAD, 8);
	assert_int_equal(m->pkt_len, m->data_len);
	for (unsigned i = 0; i < m->data_len; i++)
		g->spoilt |= i != 12 && i != 13 && (i < HEAD || i >= HEAD + 8) &&
			     p[i] != filling(g->id, i);
}

static inline void receive(struct world *x)
{
	void *m;

	for (unsigned r = 0; r < x->line.nrings; r++)
		while (rte_ring_sc_dequeue(x->line.out[r], &m) == 0) {
			keep(x, r, m);
			rte_pktmbuf_free(m);
		}
}

/* Turns the device in steps of that length until then, and receives at once what comes out. */
static inline void run_to(struct world *x, uint64_t then, uint64_t step)
{
	while (x->now < then) {
		x->now += step;
		turn(x);
		receive(x);
	}
}

/* Returns how many of all frames that came out were out of order. By RFC 4737, 4.1, a frame is out
 * of order when its number is below one that came before. */
static inline uint64_t out_of_order(const struct world *x)
{
	uint64_t next = 0, n = 0;

	for (unsigned i = 0; i < x->ngot; i++) {
		if (x->got[i].id + 1 < next)
			n++;
		else
			next = x->got[i].id + 1;
	}
	return n;
}
