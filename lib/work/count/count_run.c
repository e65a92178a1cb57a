/* SPDX-License-Identifier: BSD-3-Clause */
/* The worker's half of counting received frames: see count_run.h. */
#include "count_run.h"

/* count_sizes() counts in one number with a byte for each class of size, so that adding a frame
 * does not wait until a cell was written for the frame before. A byte holds at most 255, so the
 * bytes are added to the cells after this many frames. */
#define PACKED_MAX 248

/* Counts n frames by their sizes. Returns the sum of their bytes without FCS. */
static __rte_noinline uint64_t count_sizes(struct cnt_sizes *s, struct rte_mbuf *const *m,
					   unsigned n)
{
	uint64_t bytes = 0;

	for (unsigned at = 0, end; at < n; at = end) {
		uint64_t sum = 0;
		end = n - at > PACKED_MAX ? at + PACKED_MAX : n;
#pragma GCC unroll 4
		for (unsigned i = at; i < end; i++) {
			uint32_t len = m[i]->pkt_len;
			bytes += len;
			sum += 1ull << 8 * cnt_size_class(len + RTE_ETHER_CRC_LEN);
		}
		for (unsigned c = 0; c < CNT_NSIZES; c++)
			cell_add(&s->n[c], sum >> 8 * c & 0xff);
	}
	return bytes;
}

/* Counts which of n frames are for broadcast and which for other group addresses. */
static __rte_noinline void count_groups(struct cnt_rx *cnt, struct rte_mbuf *const *m, unsigned n)
{
	unsigned groups = 0, broadcast = 0;

	for (unsigned i = 0; i < n; i++) {
		uint64_t head;
		/* 8 bytes may be read even if the frame is shorter: the buffer goes on behind it */
		memcpy(&head, rte_pktmbuf_mtod(m[i], const void *), sizeof(head));
		head &= rte_cpu_to_be_64(0xffffffffffff0000);
		groups += (head & rte_cpu_to_be_64(1ull << 56)) != 0;
		broadcast += head == rte_cpu_to_be_64(0xffffffffffff0000);
	}
	cell_add(&cnt->broadcast, broadcast);
	cell_add(&cnt->multicast, groups - broadcast);
}

static __rte_always_inline void count_burst(struct dp_rxq *q, struct rte_mbuf *const *m, unsigned n,
					    const struct dp_burst *b)
{
	uint64_t bytes = (uint64_t)n * b->len;

	if (likely(b->len != 0))
		cell_add(&q->sizes.n[cnt_size_class(b->len + RTE_ETHER_CRC_LEN)], n);
	else
		bytes = count_sizes(&q->sizes, m, n);
	cell_add(&q->cnt.packets, n);
	cell_add(&q->cnt.bytes, bytes + (uint64_t)n * RTE_ETHER_CRC_LEN);
	if (unlikely(b->dst & DP_DST_GROUP))
		cell_add(b->dst & DP_DST_BROADCAST ? &q->cnt.broadcast : &q->cnt.multicast, n);
	else if (unlikely(b->group))
		count_groups(&q->cnt, m, n);
}

static void count_rx(struct dp_worker *w, const struct dp_task *t, struct dp_rxq *q,
		     struct rte_mbuf **m, unsigned n, const struct dp_burst *b, uint64_t now)
{
	(void)w, (void)now;
	count_burst(q, m, n, b);
	if (unlikely(t->job != NULL))
		count_sorts((struct count_state *)t->state, m, n);
	dp_free_burst(m, n, b->plain);
}

void count_see(void *rxq, const struct dp_burst *b, struct rte_mbuf *const *m, unsigned n,
	       uint64_t now)
{
	(void)now;
	count_burst(rxq, m, n, b);
}

static void count_free(struct dp_worker *w, const struct dp_task *t, struct dp_rxq *q,
		       struct rte_mbuf **m, unsigned n, const struct dp_burst *b, uint64_t now)
{
	(void)w, (void)q, (void)now;
	if (t->job != NULL)
		count_sorts((struct count_state *)t->state, m, n);
	dp_free_burst(m, n, b->plain);
}

const struct dp_kind dp_kind_rest = {.name = "rest", .rx = count_free};
const struct dp_kind dp_kind_sink = {
	.name = "sink",
	.rx = count_rx,
};
