/* SPDX-License-Identifier: BSD-3-Clause */
#include "host_run.h"
#include "txq.h"

/* The link that a frame belongs to. NULL: it is not for the host. */
static const struct host_job_link *link_of(const struct host_job *j, const struct rte_mbuf *m)
{
	for (unsigned i = 0; i < j->nlinks; i++)
		if (neigh_wants(&j->link[i].self, rte_pktmbuf_mtod(m, const uint8_t *),
				m->data_len))
			return &j->link[i];
	return NULL;
}

void host_claims(const void *arg, const struct dp_burst *b, struct rte_mbuf *const *m, unsigned n,
		 uint8_t *owner, uint8_t mine)
{
	(void)b;
	for (unsigned i = 0; i < n; i++)
		if (owner[i] == 0 && m[i]->nb_segs == 1 && link_of(arg, m[i]) != NULL)
			owner[i] = mine;
}

static struct host_state *host_of(const struct dp_task *t)
{
	return (struct host_state *)t->state;
}

static void host_heard_put(struct host_state *s, const struct neigh_heard *h, uint32_t link)
{
	if (h->said == NEIGH_NOTHING)
		return;
	if (!host_ring_room(&s->heard_ring, HOST_HEARD)) {
		cell_add(&s->cnt.unheard, 1);
		return;
	}
	s->heard[s->heard_ring.put % HOST_HEARD].what = *h;
	s->heard[s->heard_ring.put % HOST_HEARD].link = link;
	host_ring_step(&s->heard_ring.put);
}

/* Judges a frame. true: the buffer holds an answer now. */
static bool host_judge_one(struct host_state *s, const struct host_job *j, struct rte_mbuf *m,
			   uint64_t now)
{
	bool ours = rte_mbuf_refcnt_read(m) == 1 && RTE_MBUF_DIRECT(m);
	bool group = (rte_pktmbuf_mtod(m, const uint8_t *)[0] & 1) != 0; /* it is the answer soon */
	unsigned room = ours ? m->data_len + (unsigned)rte_pktmbuf_tailroom(m) : 0;
	const struct host_job_link *link = link_of(j, m); /* it has one, as it was claimed */
	struct neigh_verdict v = {.fate = NEIGH_RATE};

	if (!neigh_unreach_wants(&link->self, rte_pktmbuf_mtod(m, const uint8_t *), m->data_len) ||
	    neigh_rate_may(&s->errors_full, now, j->each, NEIGH_UNREACH_BURST))
		v = neigh_judge(&link->self, rte_pktmbuf_mtod(m, uint8_t *), m->data_len, room);
	cell_add(&s->cnt.fate[v.fate], 1);
	cell_add(&s->cnt.group, group);
	host_heard_put(s, &v.heard, link->id);
	if (v.answer == 0)
		return false;
	m->data_len = (uint16_t)v.answer;
	m->pkt_len = v.answer;
	m->ol_flags = 0;
	frame_touch(m);
	return true;
}

unsigned host_offer(struct host_state *s, struct dp_txq *q, unsigned n, uint64_t now)
{
	uint16_t size[DP_BURST_MAX];
	uint64_t bytes = 0;
	unsigned sent;

	if (n > 0) {
		q->head = 0;
		q->n = (uint16_t)n;
	}
	for (unsigned i = q->head; i < q->n; i++) /* read before the device owns them */
		size[i - q->head] = (uint16_t)(q->m[i]->pkt_len + RTE_ETHER_CRC_LEN);
	if (n > 0) {
		sent = txq_offer(q, n);
		for (unsigned i = 0; i < sent; i++)
			bytes += size[i];
		if (sent > 0)
			txq_count(q, sent, bytes, now);
		q->head = (uint16_t)sent;
		if (sent < n && q->edits == DP_EDITS_ALL) {
			cell_add(&s->cnt.dropped, n - sent);
			txq_drop_tail(q);
		}
	} else {
		sent = txq_flush(q, now);
	}
	for (unsigned i = 0; i < sent; i++)
		cell_add(&s->sizes.n[cnt_size_class(size[i])], 1);
	return sent;
}

/* Gives up answers for which there is no room. Where that is the device's fault, the caller counts
 * them in the queue's drops, too. */
static void give_up(struct host_state *s, struct rte_mbuf **m, unsigned n)
{
	cell_add(&s->cnt.dropped, n);
	rte_pktmbuf_free_bulk(m, n);
}

/* Copies answers into buffers of the Tx queue's own pool, and frees those that they were received
 * in: the device may keep what it sends for as long as it likes, and an Rx queue whose buffers are
 * all kept receives no more. Returns how many lie at the head of the share's array. */
static unsigned host_copy(struct host_state *s, struct dp_txq *q, struct rte_mbuf **from,
			  unsigned n)
{
	unsigned room = rte_pktmbuf_data_room_size(q->pool), fit = 0;

	room -= RTE_MIN(room, (unsigned)RTE_PKTMBUF_HEADROOM);
	for (unsigned i = 0; i < n; i++)
		if (from[i]->data_len <= room)
			from[fit++] = from[i];
		else
			give_up(s, &from[i], 1);
	if (fit == 0)
		return 0;
	if (txq_take(q, q->m, fit) < 0) {
		cell_add(&q->cnt.nombuf, 1);
		give_up(s, from, fit);
		return 0;
	}
	for (unsigned i = 0; i < fit; i++) {
		struct rte_mbuf *m = q->m[i];
		rte_pktmbuf_reset(m);
		m->data_len = from[i]->data_len;
		m->pkt_len = from[i]->data_len;
		memcpy(rte_pktmbuf_mtod(m, uint8_t *), rte_pktmbuf_mtod(from[i], const uint8_t *),
		       from[i]->data_len);
		frame_touch(m);
	}
	rte_pktmbuf_free_bulk(from, fit);
	return fit;
}

/* Lets another worker send the answers. */
static void host_pass(struct host_state *s, struct rte_mbuf **m, unsigned n)
{
	struct host_passed *p = &s->passed;
	unsigned i;

	for (i = 0; i < n && host_ring_room(&p->ring, HOST_PASSED); i++) {
		p->m[p->ring.put % HOST_PASSED] = m[i];
		host_ring_step(&p->ring.put);
	}
	give_up(s, m + i, n - i);
}

static void host_rx(struct dp_worker *w, const struct dp_task *t, struct dp_rxq *rx,
		    struct rte_mbuf **m, unsigned n, const struct dp_burst *b, uint64_t now)
{
	struct host_state *s = host_of(t);
	const struct host_job *j = t->job;
	struct rte_mbuf *answer[DP_BURST_MAX];
	unsigned nanswers = 0;

	(void)w, (void)rx, (void)b;
	for (unsigned i = 0; i < n; i++) {
		if (host_judge_one(s, j, m[i], now))
			answer[nanswers++] = m[i];
		else
			rte_pktmbuf_free(m[i]);
	}
	if (nanswers == 0)
		return;
	if (j->q == NULL) {
		host_pass(s, answer, nanswers);
	} else if (txq_has_tail(j->q)) { /* the device is behind */
		cell_add(&j->q->cnt.dropped, nanswers);
		give_up(s, answer, nanswers);
	} else {
		nanswers = host_copy(s, j->q, answer, nanswers);
		if (nanswers > 0)
			host_offer(s, j->q, nanswers, now);
		if (txq_has_tail(j->q))
			s->base.next = DP_NOW;
	}
}

/* Sends what control has given, in buffers in which the sender of streams may have left its
 * image. */
static unsigned send_own(struct host_state *s, struct dp_txq *q, uint32_t first, uint64_t now)
{
	/* What an earlier host of the port has left is not sent. */
	if ((int32_t)(first - s->sent_ring.got) > 0)
		__atomic_store_n(&s->sent_ring.got, first, __ATOMIC_RELEASE);
	unsigned n = host_ring_has(&s->sent_ring);
	if (n == 0)
		return 0;
	if (txq_take(q, q->m, n) < 0) {
		cell_add(&q->cnt.nombuf, 1);
		return 0;
	}
	for (unsigned i = 0; i < n; i++) {
		unsigned at = s->sent_ring.got % HOST_SENT;
		struct rte_mbuf *m = q->m[i];
		rte_pktmbuf_reset(m);
		m->data_len = s->to_send[at].len;
		m->pkt_len = s->to_send[at].len;
		memcpy(rte_pktmbuf_mtod(m, uint8_t *), s->to_send[at].frame, s->to_send[at].len);
		frame_touch(m);
		host_ring_step(&s->sent_ring.got);
	}
	cell_add(&s->cnt.sent, n);
	return host_offer(s, q, n, now);
}

/* Sends what another worker has answered. */
static unsigned send_passed(struct host_state *s, struct dp_txq *q, struct host_passed *p,
			    uint64_t now)
{
	struct rte_mbuf *answer[DP_BURST_MAX];
	unsigned n = host_ring_has(&p->ring);

	n = RTE_MIN(n, (unsigned)DP_BURST_MAX);
	for (unsigned i = 0; i < n; i++) {
		answer[i] = p->m[p->ring.got % HOST_PASSED];
		host_ring_step(&p->ring.got);
	}
	n = host_copy(s, q, answer, n);
	return n > 0 ? host_offer(s, q, n, now) : 0;
}

/* Gives up answers that were passed on when nobody sends them. Returns how many. */
static unsigned host_passed_drop(struct host_state *s, struct host_passed *p)
{
	unsigned n = 0;

	for (; host_ring_has(&p->ring) > 0; host_ring_step(&p->ring.got), n++)
		give_up(s, &p->m[p->ring.got % HOST_PASSED], 1);
	return n;
}

static unsigned host_poll(struct dp_worker *w, const struct dp_task *t, uint64_t now)
{
	struct host_state *s = host_of(t);
	const struct host_job *j = t->job;
	unsigned moved = 0;

	(void)w;
	if (j->q != NULL && txq_has_tail(j->q))
		moved += host_offer(s, j->q, 0, now);
	if (!j->speaks) {
		s->base.next = j->q != NULL && txq_has_tail(j->q) ? DP_NOW : DP_NEVER;
		return moved;
	}
	if (!txq_has_tail(j->q))
		moved += send_own(s, j->q, j->first, now);
	for (unsigned i = 0; i < j->nothers; i++)
		if (!txq_has_tail(j->q))
			moved += send_passed(s, j->q, j->other[i], now);
		else /* the device is behind */
			cell_add(&j->q->cnt.dropped, host_passed_drop(s, j->other[i]));
	if (moved > 0 && j->nothers > 0)
		s->busy_until = now + j->period;
	s->base.next = txq_has_tail(j->q) || now < s->busy_until ? DP_NOW : now + j->period;
	return moved;
}

static void host_adopt(struct dp_worker *w, const struct dp_task *t, const void *old, uint64_t now)
{
	const struct host_job *j = t->job;

	(void)w, (void)now;
	for (unsigned i = 0; old == NULL && i < j->nothers; i++)
		host_passed_drop(host_of(t), j->other[i]);
	if (j->q != NULL)
		j->q->cache = rte_mempool_default_cache(j->q->pool, rte_lcore_id());
	host_of(t)->base.next = DP_NOW;
}

static void host_drop(struct dp_worker *w, const struct dp_task *t, uint64_t now)
{
	struct host_state *s = host_of(t);
	struct dp_txq *q = ((const struct host_job *)t->job)->q;

	(void)w, (void)now;
	if (q != NULL && txq_has_tail(q)) {
		cell_add(&s->cnt.dropped, (uint64_t)(q->n - q->head));
		txq_drop_tail(q);
	}
}

const struct dp_kind dp_kind_host = {.name = "host",
				     .patient = true,
				     .adopt = host_adopt,
				     .rx = host_rx,
				     .poll = host_poll,
				     .drop = host_drop};
