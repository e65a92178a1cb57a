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

/* Judges a frame that host_claims() has claimed. true: the buffer holds an answer now. */
static bool host_judge_one(struct host_state *s, const struct host_job *j, struct rte_mbuf *m,
			   uint64_t now)
{
	bool ours = rte_mbuf_refcnt_read(m) == 1 && RTE_MBUF_DIRECT(m);
	bool group = (rte_pktmbuf_mtod(m, const uint8_t *)[0] & 1) != 0; /* it is the answer soon */
	unsigned room = ours ? m->data_len + (unsigned)rte_pktmbuf_tailroom(m) : 0;
	const struct host_job_link *link = j->nlinks == 1 ? j->link : link_of(j, m);
	struct neigh_verdict v;

	if (!neigh_unreach_wants(&link->self, rte_pktmbuf_mtod(m, const uint8_t *), m->data_len) ||
	    neigh_rate_may(&s->errors_full, now, j->each, NEIGH_UNREACH_BURST))
		neigh_judge(&link->self, rte_pktmbuf_mtod(m, uint8_t *), m->data_len, room, &v);
	else
		v = (struct neigh_verdict){.fate = NEIGH_RATE};
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

/* Gives up answers for which there is no room. */
static void give_up(struct host_state *s, struct rte_mbuf **m, unsigned n)
{
	cell_add(&s->cnt.dropped, n);
	rte_pktmbuf_free_bulk(m, n);
}

/* Makes a buffer that was taken, in which a sender of streams may have left its image, a frame of
 * len bytes. false: it has no room for so many. */
static inline bool host_put(struct rte_mbuf *m, const uint8_t *frame, uint16_t len)
{
	rte_pktmbuf_reset(m);
	frame_touch(m);
	if (unlikely(rte_pktmbuf_tailroom(m) < len))
		return false;
	m->data_len = len;
	m->pkt_len = len;
	memcpy(rte_pktmbuf_mtod(m, uint8_t *), frame, len);
	return true;
}

/* Copies answers into buffers of the Tx queue's own pool: the device may keep what it sends for as
 * long as it likes, and an Rx queue whose buffers are all kept receives no more. The buffers that
 * they were received in stay the caller's. Returns how many there are in `to` now. */
static unsigned host_copy(struct host_state *s, struct dp_txq *q, struct rte_mbuf *const *from,
			  unsigned n, struct rte_mbuf **to)
{
	unsigned copied = 0;

	if (txq_take(q, to, n) < 0) {
		cell_add(&q->cnt.nombuf, 1);
		cell_add(&s->cnt.dropped, n);
		return 0;
	}
	for (unsigned i = 0; i < n; i++)
		copied += host_put(to[copied], rte_pktmbuf_mtod(from[i], const uint8_t *),
				   from[i]->data_len);
	if (unlikely(copied < n)) {
		cell_add(&s->cnt.dropped, n - copied);
		txq_give(q, to + copied, n - copied);
	}
	return copied;
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

/* Offers the answers that it holds, unless the device is behind: then they wait on. Returns how
 * many were accepted. */
static unsigned host_let_go(struct host_state *s, struct dp_txq *q, uint64_t now)
{
	unsigned n = s->nheld;

	if (n == 0 || txq_has_tail(q))
		return 0;
	s->nheld = 0;
	memcpy(q->m, s->held, n * sizeof(s->held[0]));
	return host_offer(s, q, n, now);
}

/* Holds answers, as many as there is room for. Others are given up: the device is far behind. */
static void host_hold(struct host_state *s, const struct host_job *j,
		      struct rte_mbuf *const *answer, unsigned n, uint64_t now)
{
	struct dp_txq *q = j->q;
	unsigned fit = RTE_MIN(n, HOST_WAITING - s->nheld);

	if (fit < n) {
		cell_add(&q->cnt.dropped, n - fit);
		cell_add(&s->cnt.dropped, n - fit);
	}
	if (s->nheld == 0)
		s->held_until = now + j->hold;
	s->nheld += host_copy(s, q, answer, fit, s->held + s->nheld);
	if (s->nheld >= HOST_HELD)
		host_let_go(s, q, now);
	if (s->nheld > 0)
		s->base.next = RTE_MIN(s->base.next, s->held_until);
}

/* Answers, in buffers that stay the caller's. Where they come fast, a device's call for each would
 * cost more than all the rest, and the sender of streams would find in each of its bursts a buffer
 * that an answer had been in. Where the device is behind, which it is again and again while streams
 * send all that the link carries, they wait until it has taken the ones before. */
static void host_answer(struct host_state *s, const struct host_job *j,
			struct rte_mbuf *const *answer, unsigned n, uint64_t now)
{
	struct dp_txq *q = j->q;
	bool dense = now - s->answered < j->hold;

	s->answered = now;
	if (!dense || s->nheld + n > HOST_HELD)
		host_let_go(s, q, now);
	if (txq_has_tail(q) || (dense && n <= HOST_HELD)) {
		host_hold(s, j, answer, n, now);
	} else {
		n = host_copy(s, q, answer, n, q->m);
		if (n > 0)
			host_offer(s, q, n, now);
	}
	if (txq_has_tail(q))
		s->base.next = DP_NOW;
}

static void host_rx(struct dp_worker *w, const struct dp_task *t, struct dp_rxq *rx,
		    struct rte_mbuf **m, unsigned n, const struct dp_burst *b, uint64_t now)
{
	struct host_state *s = host_of(t);
	const struct host_job *j = t->job;
	struct rte_mbuf *answer[DP_BURST_MAX], *rest[DP_BURST_MAX], **done = m;
	unsigned nanswers = 0, nrest = 0;

	(void)w, (void)rx;
	for (unsigned i = 0; i < n; i++)
		if (host_judge_one(s, j, m[i], now))
			answer[nanswers++] = m[i];
		else
			rest[nrest++] = m[i];
	if (nanswers > 0 && j->q != NULL) {
		host_answer(s, j, answer, nanswers, now);
	} else if (nanswers > 0) {
		host_pass(s, answer, nanswers);
		done = rest;
		n = nrest;
	}
	if (n > 0)
		dp_free_burst(done, n, b->plain);
}

/* Sends what control has given. */
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
		host_put(q->m[i], s->to_send[at].frame, s->to_send[at].len);
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
	if (n == 0)
		return 0;
	unsigned copied = host_copy(s, q, answer, n, q->m);
	rte_pktmbuf_free_bulk(answer, n);
	return copied > 0 ? host_offer(s, q, copied, now) : 0;
}

/* Gives up answers that were passed on when nobody sends them. Returns how many. */
static unsigned host_passed_drop(struct host_state *s, struct host_passed *p)
{
	unsigned n = 0;

	for (; host_ring_has(&p->ring) > 0; host_ring_step(&p->ring.got), n++)
		give_up(s, &p->m[p->ring.got % HOST_PASSED], 1);
	return n;
}

/* Sends what control and others have given. Returns how many frames the device accepted. */
static unsigned host_look(struct host_state *s, const struct host_job *j, uint64_t now)
{
	unsigned moved = 0;

	if (!txq_has_tail(j->q))
		moved += send_own(s, j->q, j->first, now);
	for (unsigned i = 0; i < j->nothers; i++)
		if (!txq_has_tail(j->q))
			moved += send_passed(s, j->q, j->other[i], now);
		else /* the device is behind */
			cell_add(&j->q->cnt.dropped, host_passed_drop(s, j->other[i]));
	if (moved > 0 && j->nothers > 0)
		s->busy_until = now + j->period;
	s->look_at = txq_has_tail(j->q) || now < s->busy_until ? DP_NOW : now + j->period;
	return moved;
}

static unsigned host_poll(struct dp_worker *w, const struct dp_task *t, uint64_t now)
{
	struct host_state *s = host_of(t);
	const struct host_job *j = t->job;
	unsigned moved = 0;

	(void)w;
	if (j->q != NULL && txq_has_tail(j->q))
		moved += host_offer(s, j->q, 0, now);
	if (s->nheld >= HOST_HELD || (s->nheld > 0 && now >= s->held_until))
		moved += host_let_go(s, j->q, now);
	if (j->speaks && now >= s->look_at)
		moved += host_look(s, j, now);
	s->base.next = j->speaks ? s->look_at : DP_NEVER;
	if (s->nheld > 0)
		s->base.next = RTE_MIN(s->base.next, s->held_until);
	if (j->q != NULL && txq_has_tail(j->q))
		s->base.next = DP_NOW;
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
	host_of(t)->look_at = DP_NOW;
	host_of(t)->base.next = DP_NOW;
}

static void host_drop(struct dp_worker *w, const struct dp_task *t, uint64_t now)
{
	struct host_state *s = host_of(t);
	struct dp_txq *q = ((const struct host_job *)t->job)->q;

	(void)w;
	if (q == NULL)
		return;
	host_let_go(s, q, now);
	if (txq_has_tail(q)) {
		cell_add(&s->cnt.dropped, (uint64_t)(q->n - q->head) + s->nheld);
		cell_add(&q->cnt.dropped, s->nheld);
		txq_drop_tail(q);
		txq_give(q, s->held, s->nheld);
		s->nheld = 0;
	}
}

const struct dp_kind dp_kind_host = {.name = "host",
				     .patient = true,
				     .adopt = host_adopt,
				     .rx = host_rx,
				     .poll = host_poll,
				     .drop = host_drop};
