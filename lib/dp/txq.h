/* SPDX-License-Identifier: BSD-3-Clause */
/* Sending through a share of a Tx queue: each function calls the driver at most once and never
 * waits. Everything runs on the queue's worker and is inline, because it is the hot path. */
#pragma once
#include "dp.h"

/* Makes the bursts of a share go by these functions; io NULL: by those of its ethdev. */
static inline void txq_io(struct dp_txq *q, const struct dp_io *io, void *io_q)
{
	q->io = io;
	q->io_q = io_q;
	q->detour = io != NULL || q->ntaps > 0;
}

/* Lets a tap look at what the share offers, until txq_untap(). *tap stays the caller's. */
static inline void txq_tap(struct dp_txq *q, const struct dp_tx_tap *tap)
{
	RTE_ASSERT(q->ntaps < DP_MAX_TX_TAPS);
	q->tap[q->ntaps++] = tap;
	q->detour = true;
}

/* Nothing happens if the tap is not there. */
static inline void txq_untap(struct dp_txq *q, const struct dp_tx_tap *tap)
{
	unsigned n = 0;

	for (unsigned i = 0; i < q->ntaps; i++)
		if (q->tap[i] != tap)
			q->tap[n++] = q->tap[i];
	q->ntaps = (uint8_t)n;
	q->detour = q->io != NULL || n > 0;
}

static inline bool txq_has_tail(const struct dp_txq *q)
{
	return q->head < q->n;
}

/* Takes n buffers of the pool into m. Returns 0 or -ENOENT. It does what rte_mempool_generic_get()
 * does, but if the worker's cache holds the whole burst, this is a plain copy, of constant length
 * where n is a literal (DPDK 22.11 tests every object). */
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

/* Counts frames that the device has accepted in one call. bytes: theirs, with FCS. */
static inline void txq_count(struct dp_txq *q, unsigned sent, uint64_t bytes, uint64_t now)
{
	cell_add(&q->cnt.packets, sent);
	cell_add(&q->cnt.bytes, bytes);
	cell_add(&q->cnt.bursts, 1);
	cell_set(&q->last_tsc, now);
	if (unlikely(cell_get(&q->first_tsc) == 0))
		cell_set(&q->first_tsc, now);
}

/* Returns the bytes of frames, with FCS. The frames must still be the caller's. */
static inline uint64_t txq_bytes(struct rte_mbuf *const *m, unsigned n)
{
	uint64_t bytes = (uint64_t)n * RTE_ETHER_CRC_LEN;

	for (unsigned i = 0; i < n; i++)
		bytes += m[i]->pkt_len;
	return bytes;
}

/* The frames q->m[sent..n) were not accepted and become the tail. Counts a stall, or a retry if
 * they had been refused before. */
static __rte_noinline void txq_keep_tail(struct dp_txq *q, unsigned sent, unsigned n)
{
	q->head = (uint16_t)sent;
	q->n = (uint16_t)n;
	cell_add(q->again ? &q->retries : &q->cnt.stalls, 1);
}

/* Offers q->m[0..n) to the device; what it does not accept stays as the tail. Returns how many
 * frames it accepted, which the caller is to count. */
static inline unsigned txq_offer(struct dp_txq *q, unsigned n)
{
	unsigned sent = dp_tx_burst(q, q->m, (uint16_t)n);

	if (unlikely(sent < n))
		txq_keep_tail(q, sent, n);
	return sent;
}

/* Does the same and counts the frames that were accepted. bytes: of all n frames, with FCS. Not for
 * devices with DP_EDITS_ALL. */
static inline unsigned txq_send(struct dp_txq *q, unsigned n, uint64_t bytes, uint64_t now)
{
	unsigned sent = txq_offer(q, n);

	if (unlikely(sent < n))
		bytes -= txq_bytes(q->m + sent, n - sent);
	if (likely(sent > 0))
		txq_count(q, sent, bytes, now);
	return sent;
}

/* Offers the tail again. Returns how many frames were accepted; they are counted. Not for devices
 * with DP_EDITS_ALL. */
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

/* Gives buffers back to the pool that were taken and not sent. If the device has DP_EDITS_ALL,
 * other buffers may lie there now, of other pools, chained or shared; they go back one by one. */
static inline void txq_give(struct dp_txq *q, struct rte_mbuf **m, unsigned n)
{
	if (unlikely(q->edits == DP_EDITS_ALL || q->foreign))
		rte_pktmbuf_free_bulk(m, n);
	else if (n > 0)
		rte_mempool_generic_put(q->pool, (void **)m, n, q->cache);
}

/* Gives the buffers of the tail back: its frames will be built anew. Returns their number. */
static inline unsigned txq_return_tail(struct dp_txq *q)
{
	unsigned n = q->n - q->head;

	txq_give(q, q->m + q->head, n);
	q->head = q->n = 0;
	return n;
}

/* Gives up the tail: its frames count as dropped. */
static inline void txq_drop_tail(struct dp_txq *q)
{
	cell_add(&q->cnt.dropped, txq_return_tail(q));
}
