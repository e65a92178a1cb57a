/* SPDX-License-Identifier: BSD-3-Clause */
/* Bounded transmit through a queue object. Inline: hot path. Runs on the queue's worker. */
#pragma once
#include "dp.h"

static inline bool txq_has_tail(const struct dp_txq *q) { return q->head < q->n; }

/* Take n buffers of the queue's pool into m; 0 or -ENOENT. What rte_mempool_generic_get() does, but a burst that
 * the worker's cache holds whole is one copy of constant length (DPDK 22.11 tests every object). Call it with a
 * literal n where possible. */
static __rte_always_inline int txq_take(struct dp_txq *q, struct rte_mbuf **m, unsigned n)
{
#if !defined(RTE_LIBRTE_MEMPOOL_DEBUG) && !defined(RTE_LIBRTE_MEMPOOL_STATS)
	struct rte_mempool_cache *c = q->cache;

	if (likely(c != NULL && c->len >= n)) {
		uint32_t left = c->len - n;
		void *const *restrict from = &c->objs[left];
		struct rte_mbuf **restrict to = m;

		for (unsigned i = 0; i < n; i++)
			to[i] = from[i];
		c->len = left;
		return 0;
	}
#endif
	return rte_mempool_generic_get(q->pool, (void **)m, n, q->cache);
}

static inline void txq_count(struct dp_txq *q, unsigned sent, uint64_t bytes, uint64_t now)
{
	cell_add(&q->cnt.packets, sent);
	cell_add(&q->cnt.bytes, bytes);
	cell_add(&q->cnt.bursts, 1);
	cell_set(&q->last_tsc, now);
	if (unlikely(cell_get(&q->first_tsc) == 0))
		cell_set(&q->first_tsc, now);
}

/* Bytes with FCS of frames that are ours. */
static inline uint64_t txq_bytes(struct rte_mbuf *const *m, unsigned n)
{
	uint64_t bytes = (uint64_t)n * RTE_ETHER_CRC_LEN;

	for (unsigned i = 0; i < n; i++)
		bytes += m[i]->pkt_len;
	return bytes;
}

static __rte_noinline void txq_keep_tail(struct dp_txq *q, unsigned sent, unsigned n)
{
	q->head = (uint16_t)sent;
	q->n = (uint16_t)n;
	cell_add(q->again ? &q->retries : &q->cnt.stalls, 1);
}

/* Offer q->m[0..n); what the device does not take stays as the tail. Returns frames accepted, which are to be counted. */
static inline unsigned txq_offer(struct dp_txq *q, unsigned n)
{
	unsigned sent = dp_tx_burst(q, q->m, (uint16_t)n);

	if (unlikely(sent < n))
		txq_keep_tail(q, sent, n);
	return sent;
}

/* The same of frames of so many bytes with FCS in all, which are counted. Not where the device edits them. */
static inline unsigned txq_send(struct dp_txq *q, unsigned n, uint64_t bytes, uint64_t now)
{
	unsigned sent = txq_offer(q, n);

	if (unlikely(sent < n))
		bytes -= txq_bytes(q->m + sent, n - sent);
	if (likely(sent > 0))
		txq_count(q, sent, bytes, now);
	return sent;
}

/* Offer the tail again. Not where the device edits frames. */
static inline unsigned txq_flush(struct dp_txq *q, uint64_t now)
{
	unsigned n = q->n - q->head;
	uint64_t bytes = txq_bytes(q->m + q->head, n);
	unsigned sent = dp_tx_burst(q, q->m + q->head, (uint16_t)n);

	q->head = (uint16_t)(q->head + sent);
	if (sent > 0)
		txq_count(q, sent, bytes - txq_bytes(q->m + q->head, n - sent), now);
	if (sent < n)
		cell_add(&q->retries, 1);
	else
		q->head = q->n = 0;
	return sent;
}

/* Give buffers that were taken back to the pool. Those that a device edits may have become others, of other pools, chained or shared. */
static inline void txq_give(struct dp_txq *q, struct rte_mbuf **m, unsigned n)
{
	if (unlikely(q->edits == DP_EDITS_ALL || q->foreign))
		rte_pktmbuf_free_bulk(m, n);
	else if (n > 0)
		rte_mempool_generic_put(q->pool, (void **)m, n, q->cache);
}

/* The tail's frames will be built anew. Returns how many. */
static inline unsigned txq_return_tail(struct dp_txq *q)
{
	unsigned n = q->n - q->head;

	txq_give(q, q->m + q->head, n);
	q->head = q->n = 0;
	return n;
}

/* Give up the tail: its frames were built and are not sent. */
static inline void txq_drop_tail(struct dp_txq *q)
{
	cell_add(&q->cnt.dropped, txq_return_tail(q));
}
