/* SPDX-License-Identifier: BSD-3-Clause */
#include "beacon_run.h"
#include "txq.h"

/* Builds the newest frame, in a buffer in which the sender of streams may have left its image.
 * Returns false when there is no buffer. */
static bool build(const struct beacon_state *s, const struct beacon_job *j)
{
	rte_be64_t number = rte_cpu_to_be_64(s->number);
	struct dp_txq *q = j->q;

	if (txq_take(q, q->m, 1) < 0) {
		cell_add(&q->cnt.nombuf, 1);
		return false;
	}
	rte_pktmbuf_reset(q->m[0]);
	q->m[0]->data_len = BEACON_LEN;
	q->m[0]->pkt_len = BEACON_LEN;
	uint8_t *f = memcpy(rte_pktmbuf_mtod(q->m[0], uint8_t *), j->frame, BEACON_LEN);
	memcpy(f + BEACON_NUMBER_AT, &number, sizeof(number));
	frame_touch(q->m[0]);
	return true;
}

/* Offers the newest frame. If the device refuses it, it is offered again in the next turn; for a
 * device that edits what it refuses it is built anew. */
static unsigned offer(struct beacon_state *s, const struct beacon_job *j, uint64_t now)
{
	struct dp_txq *q = j->q;
	unsigned sent = 0;

	if (q->edits == DP_EDITS_ALL)
		txq_return_tail(q);
	if (txq_has_tail(q))
		sent = txq_flush(q, now);
	else if (build(s, j))
		sent = txq_send(q, 1, BEACON_LEN + RTE_ETHER_CRC_LEN, now);
	cell_add(&s->sent, sent);
	s->base.next = sent > 0 ? DP_NEVER : DP_NOW;
	return sent;
}

/* Gives up the frame that waits, if there is one, and counts it. */
static void give_up(struct beacon_state *s, struct dp_txq *q)
{
	if (s->base.next == DP_NEVER)
		return;
	if (txq_has_tail(q))
		txq_drop_tail(q);
	else
		cell_add(&q->cnt.unsent, 1);
	s->base.next = DP_NEVER;
}

/* Is called when the time of a frame has come. A frame that still waits is given up for it. If the
 * worker had no CPU and several times have passed, only the newest frame is sent. */
static unsigned beacon_due(struct dp_worker *w, const struct dp_task *t, struct dp_timer *tm,
			   uint64_t now)
{
	struct beacon_state *s = (struct beacon_state *)t->state;
	const struct beacon_job *j = t->job;
	uint64_t missed = (now - tm->due) / j->period;

	give_up(s, j->q);
	cell_add(&j->q->cnt.unsent, missed);
	s->number += missed + 1;
	dp_timer_start(w, tm, tm->due + (missed + 1) * j->period);
	return offer(s, j, now);
}

static void beacon_adopt(struct dp_worker *w, const struct dp_task *t, const void *old,
			 uint64_t now)
{
	struct beacon_state *s = (struct beacon_state *)t->state;
	const struct beacon_job *j = t->job;

	(void)old;
	j->q->cache = rte_mempool_default_cache(j->q->pool, rte_lcore_id());
	s->tm.fn = beacon_due;
	s->tm.task = t;
	if (s->tm.at == NULL)
		dp_timer_start(w, &s->tm, now + j->period);
}

static unsigned beacon_poll(struct dp_worker *w, const struct dp_task *t, uint64_t now)
{
	(void)w;
	return offer((struct beacon_state *)t->state, t->job, now);
}

static void beacon_drop(struct dp_worker *w, const struct dp_task *t, uint64_t now)
{
	struct beacon_state *s = (struct beacon_state *)t->state;

	(void)now;
	dp_timer_stop(w, &s->tm);
	give_up(s, ((const struct beacon_job *)t->job)->q);
}

const struct dp_kind dp_kind_beacon = {.name = "beacon",
				       .adopt = beacon_adopt,
				       .poll = beacon_poll,
				       .drop = beacon_drop};
