/* SPDX-License-Identifier: BSD-3-Clause */
#include "host_ping_run.h"
#include "txq.h"

/* Cycles until a request is tried again that the device did not take: 1 / AGAIN_PER_S s. */
#define AGAIN_PER_S 1000

static bool ping_wants(const struct host_ping_job *j, const struct rte_mbuf *m)
{
	return m->nb_segs == 1 &&
	       neigh_pong_wants(&j->self, &j->ping, rte_pktmbuf_mtod(m, const uint8_t *),
				m->data_len);
}

/* Tells control of a frame that has come back. */
static void ping_heard(const struct host_ping_job *j, const struct rte_mbuf *m, uint64_t now)
{
	struct host_ping_state *s = j->state;
	const struct neigh_pong pong =
		neigh_pong_judge(&j->self, &j->ping, rte_pktmbuf_mtod(m, const uint8_t *),
				 m->data_len);

	cell_add(&s->back, 1);
	if (pong.whole && pong.number >= cell_get(&s->newest))
		cell_set(&s->newest, pong.number + 1);
	if (!host_ring_room(&s->heard_ring, HOST_PING_HEARD)) {
		cell_add(&s->unread, 1);
		return;
	}
	s->heard[s->heard_ring.put % HOST_PING_HEARD] =
		(struct host_ping_heard){.tsc = now, .run = j->run, .pong = pong};
	host_ring_step(&s->heard_ring.put);
}

void host_ping_claims(const void *arg, const struct dp_burst *b, struct rte_mbuf *const *m,
		      unsigned n, uint8_t *owner, uint8_t mine)
{
	(void)b;
	for (unsigned i = 0; i < n; i++)
		if (owner[i] == 0 && ping_wants(arg, m[i]))
			owner[i] = mine;
}

static void ping_rx(struct dp_worker *w, const struct dp_task *t, struct dp_rxq *rx,
		    struct rte_mbuf **m, unsigned n, const struct dp_burst *b, uint64_t now)
{
	const struct host_ping_job *j = t->job;

	(void)w, (void)rx, (void)b;
	for (unsigned i = 0; i < n; i++)
		ping_heard(j, m[i], now);
	cell_add(&j->host->cnt.pongs, n);
	rte_pktmbuf_free_bulk(m, n);
}

void host_ping_look(void *state, const struct dp_burst *b, struct rte_mbuf *const *m, unsigned n,
		    uint64_t now)
{
	const struct host_ping_job *j = state;

	(void)b;
	for (unsigned i = 0; i < n; i++) {
		if (!ping_wants(j, m[i]))
			continue;
		ping_heard(j, m[i], now);
		cell_add(&j->host->cnt.pongs, 1);
	}
}

static void ping_tell(struct host_ping_state *s, const struct host_ping_job *j, uint64_t tsc,
		      bool taken)
{
	s->sent[s->sent_ring.put % HOST_PING_SENT] =
		(struct host_ping_sent){.tsc = tsc, .run = j->run, .taken = taken};
	host_ring_step(&s->sent_ring.put);
}

/* Sends the next request. Control is told before the device gets it, so that no answer is there
 * before its request. One that the device does not take is not left to wait: it would leave
 * later than was told. */
static unsigned ping_send(struct host_ping_state *s, const struct host_ping_job *j, uint64_t back)
{
	struct dp_txq *q = j->q;

	if (txq_has_tail(q) || !host_ring_room(&s->sent_ring, HOST_PING_SENT - 1))
		return 0;
	if (txq_take(q, q->m, 1) < 0) {
		cell_add(&q->cnt.nombuf, 1);
		return 0;
	}
	struct rte_mbuf *m = q->m[0];
	rte_pktmbuf_reset(m);
	RTE_ASSERT(j->len <= rte_pktmbuf_tailroom(m));
	uint8_t *f = rte_pktmbuf_mtod(m, uint8_t *);
	m->data_len = j->len;
	m->pkt_len = j->len;
	memcpy(f, j->frame, j->len);
	if (!j->ping.link)
		neigh_ping_number(f + j->icmp, j->first, s->number);
	if (j->probes > 0)
		neigh_ping_hops(f + j->ip, (unsigned)(s->number / j->probes) + 1);
	frame_touch(m);
	uint64_t now = rte_rdtsc();
	s->last = back;
	ping_tell(s, j, now, true);
	if (host_offer(j->host, q, 1, now) == 0) {
		if (txq_has_tail(q))
			txq_drop_tail(q);
		ping_tell(s, j, now, false);
		cell_set(&s->due, now + rte_get_tsc_hz() / AGAIN_PER_S);
		return 0;
	}
	cell_add(&j->host->cnt.sent, 1);
	s->number++;
	cell_set(&s->sent_at, now);
	/* After a time in which nobody ran, requests do not follow each other in a burst. */
	uint64_t due = cell_get(&s->due);
	cell_set(&s->due, (j->flood || due + j->period < now ? now : due) + j->period);
	return 1;
}

static uint64_t ping_back(const struct host_ping_job *j)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < j->nstates; i++)
		n += cell_get(&j->states[i]->back);
	return n;
}

/* Whether the next request may be sent. In a flood it follows the answer to the one before, however
 * often that comes. Answers on the link have no number, so that only one question is open there. */
static bool ping_is_due(const struct host_ping_state *s, const struct host_ping_job *j,
			uint64_t back, uint64_t now)
{
	if (s->number >= j->count)
		return false;
	if (s->number > 0 && j->flood)
		for (unsigned i = 0; i < j->nstates; i++)
			if (cell_get(&j->states[i]->newest) == s->number)
				return true;
	if (now < cell_get(&s->due))
		return false;
	return !j->ping.link || s->number == 0 || back != s->last ||
	       now - cell_get(&s->sent_at) >= j->wait;
}

/* A worker that may get an answer does not sleep: a sleep would be part of the answer's time. */
static uint64_t ping_sleeps(const struct host_ping_job *j, uint64_t now)
{
	uint64_t due = cell_get(&j->speaker->due), sent = cell_get(&j->speaker->sent_at);

	return j->awake || now >= due || (int64_t)(now - sent) < (int64_t)j->wait ? DP_NOW : due;
}

static unsigned host_ping_poll(struct dp_worker *w, const struct dp_task *t, uint64_t now)
{
	struct host_ping_state *s = (struct host_ping_state *)t->state;
	const struct host_ping_job *j = t->job;
	unsigned moved = 0;

	(void)w;
	if (!j->speaks) {
		s->base.next = ping_sleeps(j, now);
		return 0;
	}
	uint64_t back = ping_back(j);
	if (ping_is_due(s, j, back, now)) {
		moved = ping_send(s, j, back);
		now = moved > 0 ? cell_get(&s->sent_at) : now;
	}
	bool waits = (int64_t)(s->number - (back - s->first)) > 0 &&
		     (int64_t)(now - cell_get(&s->sent_at)) < (int64_t)j->wait;
	if (waits || ((j->awake || now >= cell_get(&s->due)) && s->number < j->count))
		s->base.next = DP_NOW;
	else
		s->base.next = s->number < j->count ? cell_get(&s->due) : DP_NEVER;
	return moved;
}

static void host_ping_adopt(struct dp_worker *w, const struct dp_task *t, const void *old,
			    uint64_t now)
{
	struct host_ping_state *s = (struct host_ping_state *)t->state;
	const struct host_ping_job *j = t->job;

	(void)w, (void)old;
	if (s->run != j->run) {
		s->run = j->run;
		s->number = 0;
		cell_set(&s->newest, 0);
		cell_set(&s->due, now);
		cell_set(&s->sent_at, now);
		s->first = s->last = ping_back(j);
	}
	s->base.next = DP_NOW;
}

const struct dp_kind dp_kind_host_ping = {.name = "ping",
					  .adopt = host_ping_adopt,
					  .rx = ping_rx,
					  .poll = host_ping_poll};
