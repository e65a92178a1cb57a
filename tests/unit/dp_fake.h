/* SPDX-License-Identifier: BSD-3-Clause */
/* A fake device for tests, made of a few functions. It checks what no counter shows: frames that it
 * refused come again first and in order, no buffer is handed over twice, and none is written while
 * the device holds it. A function of the test judges each frame that it takes. */
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
#include "seed.h"

#define FAKE_DEV (RTE_MAX_ETHPORTS - 1)
#define FAKE_QUEUES 8
#define FAKE_HOLD 2048

enum fake_take { TAKE_ALL, TAKE_NONE, TAKE_RANDOM, TAKE_ROOM };

struct fake_q {
	enum fake_take take;
	unsigned room;    /* TAKE_ROOM: frames that it will still take */
	bool keep;        /* no frame goes back to its pool until fake_release() */
	bool drops;       /* frames that were refused need not come again */
	bool scribble;    /* somebody writes into frames before they go back, and says so */
	bool prepares;    /* the driver writes into headers first */
	unsigned rejects; /* one frame in so many is not fit for the device; 0: all are */
	uint64_t prepared;
	unsigned hold; /* most frames in flight; then the oldest goes back to its pool */
	struct rte_mbuf *held[FAKE_HOLD];
	uint32_t sum[FAKE_HOLD];
	unsigned nheld;
	struct rte_mbuf *refused[DP_BURST_MAX];
	unsigned nrefused;
	void (*judge)(void *arg, const struct rte_mbuf *m); /* NULL: any frame is right */
	/* Does what the driver does to a frame that it takes (or refuses: edits_refused), once the
	 * frame has been judged. Returns the buffer that lies in its place then. */
	struct rte_mbuf *(*edit)(struct rte_mbuf *m);
	bool edits_refused, edits_prepared;
	void (*rejected)(void *arg, const struct rte_mbuf *m);
	void *arg;
	uint64_t frames, bytes, calls;
};

static struct fake_q fake[FAKE_QUEUES];
static unsigned any_seed;

/* Returns a random number from 0 to below - 1. */
static inline unsigned any(unsigned below)
{
	any_seed = any_seed * 1103515245u + 12345u;
	return (any_seed >> 8) % below;
}

static inline uint32_t sum_of_bytes(const uint8_t *p, unsigned len)
{
	uint32_t h = len;

	for (unsigned i = 0; i < len; i++)
		h = h * 31 + p[i];
	return h;
}

static inline uint32_t sum_of(const struct rte_mbuf *m)
{
	return sum_of_bytes(rte_pktmbuf_mtod(m, const uint8_t *), m->data_len);
}

/* Returns true when the driver does not want a frame with that sum. The high bits of a product
 * decide. The remainder of the sum by a small number would be that of all bytes added up, which
 * stays the same when a field and the checksum over it change together. */
static inline bool unfit(uint32_t sum, unsigned rejects)
{
	return rejects > 0 && (sum * 0x9e3779b1u >> 16) % rejects == 0;
}

/* Gives the oldest frames back to their pools, all but the newest `keep`. */
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

/* Lets the device take a frame: checks the frame and holds it. */
static inline void fake_accept(struct fake_q *f, struct rte_mbuf *m)
{
	assert_int_equal(rte_mbuf_refcnt_read(m), 1);
	assert_int_equal(m->nb_segs, 1);
	assert_null(m->next);
	assert_int_equal(m->pkt_len, m->data_len);
	for (unsigned i = 0; i < f->nheld; i++)
		assert_ptr_not_equal(m, f->held[i]);
	if (f->judge != NULL)
		f->judge(f->arg, m);
	f->frames++;
	f->bytes += m->pkt_len + RTE_ETHER_CRC_LEN;
	if (f->edit != NULL)
		m = f->edit(m);
	assert_true(f->nheld < FAKE_HOLD);
	f->held[f->nheld] = m;
	f->sum[f->nheld++] = sum_of(m);
}

static uint16_t fake_tx(void *queue, struct rte_mbuf **m, uint16_t n)
{
	struct fake_q *f = queue;
	unsigned take = f->take == TAKE_ALL    ? n
			: f->take == TAKE_NONE ? 0
			: f->take == TAKE_ROOM ? RTE_MIN(f->room, (unsigned)n)
					       : any(n + 1u);

	f->calls++;
	assert_true(n > 0 && n <= DP_BURST_MAX);
	if (f->nrefused > 0 && !f->drops) { /* the tail must come first, alone and in order */
		assert_int_equal(n, f->nrefused);
		assert_memory_equal(m, f->refused, n * sizeof(*m));
	}
	if (!f->keep)
		fake_release(f, f->hold);
	for (unsigned i = 0; i < take; i++)
		fake_accept(f, m[i]);
	for (unsigned i = take; i < n && f->edit != NULL && f->edits_refused; i++)
		m[i] = f->edit(m[i]);
	f->room -= f->take == TAKE_ROOM ? take : 0;
	f->nrefused = n - take;
	memcpy(f->refused, m + take, f->nrefused * sizeof(*m));
	return (uint16_t)take;
}

/* Prepares frames as drivers do: writes into them what the device needs, and ends at the first
 * frame that is not fit. */
static uint16_t fake_prepare(void *queue, struct rte_mbuf **m, uint16_t n)
{
	struct fake_q *f = queue;

	for (uint16_t i = 0; i < n; i++) {
		uint8_t *p = rte_pktmbuf_mtod(m[i], uint8_t *);
		if (unfit(sum_of(m[i]), f->rejects)) {
			if (i == 0 && f->rejected != NULL)
				f->rejected(f->arg, m[i]);
			return i;
		}
		f->prepared++;
		if (!f->prepares)
			continue;
		assert_true((m[i]->ol_flags & RTE_MBUF_F_TX_UDP_CKSUM) != 0);
		assert_int_equal(p[m[i]->l2_len + m[i]->l3_len + 6] |
					 p[m[i]->l2_len + m[i]->l3_len + 7],
				 0);
		p[m[i]->l2_len + m[i]->l3_len + 6] = 0x5a; /* a pseudo-header sum */
	}
	return n;
}

/* Opens the device. Random numbers begin anew each time, because how many of them a test has used
 * may depend on the clock, and must not matter to the next test. */
static inline void fake_open(void)
{
	static void *data[FAKE_QUEUES], *none[FAKE_QUEUES];
	static unsigned first, serial;

	if (serial == 0)
		first = (unsigned)test_seed();
	any_seed = first + serial++ * 0x9e3779b1u;
	memset(fake, 0, sizeof(fake));
	for (unsigned q = 0; q < FAKE_QUEUES; q++)
		data[q] = &fake[q];
	rte_eth_fp_ops[FAKE_DEV].tx_pkt_burst = fake_tx;
	rte_eth_fp_ops[FAKE_DEV].tx_pkt_prepare = fake_prepare;
	rte_eth_fp_ops[FAKE_DEV].txq.data = data;
	rte_eth_fp_ops[FAKE_DEV].txq.clbk = none;
}

static inline struct rte_mempool *pool_of(unsigned n)
{
	static unsigned serial;
	char name[32];

	snprintf(name, sizeof(name), "t%u", serial++);
	struct rte_mempool *mp = rte_pktmbuf_pool_create(name, n, n >= 1024 ? DP_POOL_CACHE : 0, 0,
							 RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
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
