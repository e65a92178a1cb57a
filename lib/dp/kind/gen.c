/* SPDX-License-Identifier: BSD-3-Clause */
/* Kind "gen": frames k = queue, queue + nqueues, ... of a port's run, each at its deadline, through one Tx queue. */
#include "dp.h"
#include "txq.h"

#define SWEEP 32

static size_t gen_mem(void)
{
	return sizeof(struct gen_state);
}

static void set_state(struct gen_state *g, enum gen_state_id id)
{
	__atomic_store_n(&g->state, id, __ATOMIC_RELEASE);
	g->base.active = id == GEN_SENDING || id == GEN_DRAINING;
}

static uint64_t sent_so_far(const struct gen_state *g, const struct dp_txq *q)
{
	return cell_get(&q->cnt.packets) - cell_get(&g->base_packets);
}

static void close_run(struct gen_state *g, const struct dp_txq *q)
{
	uint64_t last = cell_get(&q->last_tsc);

	cell_set(&g->sent, sent_so_far(g, q));
	if (last > cell_get(&g->start_tsc))
		cell_set(&g->last_tsc, last);
	set_state(g, GEN_DONE);
}

static void finish(struct dp_worker *w, const struct gen_job *j, struct gen_state *g)
{
	close_run(g, j->txq);
	dp_event_post(w, DP_EV_RUN_DONE, j->txq->port, j->queue, j->run);
}

static void begin(const struct gen_job *j, struct gen_state *g, uint64_t now)
{
	g->i = 0;
	g->k = j->queue;
	g->pace = (struct pace){.period = j->period, .k0 = 0, .t0 = j->start_tsc};
	cell_set(&g->base_packets, cell_get(&j->txq->cnt.packets));
	g->progress_tsc = now;
	cell_set(&g->sent, 0);
	cell_set(&g->start_tsc, j->start_tsc);
	cell_set(&g->last_tsc, j->start_tsc);
	set_state(g, GEN_SENDING);
	/* last: who sees the number must not see the state of the run before */
	__atomic_store_n(&g->run, j->run, __ATOMIC_RELEASE);
}

/* A new rate scales what is left of the wait for the next frame: the rate changes at this moment, without a gap or a frame too many, and
 * queues keep their order. Frames that are due already stay due; a lag beyond what scheduling explains is a debt of the old rate and
 * not carried into the new one. */
static void change_rate(const struct gen_job *j, struct gen_state *g, uint64_t now)
{
	struct pace was = g->pace;
	uint64_t from = (int64_t)(now - j->start_tsc) > 0 ? now : j->start_tsc;

	g->pace.period = j->period;
	if (pace_is_max(&g->pace))
		return;
	if (pace_is_max(&was)) {
		g->pace.k0 = g->k - j->queue;
		g->pace.t0 = from;
		return;
	}
	uint64_t due = pace_due(&was, g->k);
	int64_t wait = (int64_t)(due - from);
	if (wait > 0)
		due = from + pace_scale((uint64_t)wait, &was.period, &j->period);
	else if (-wait > (int64_t)j->forgive_cycles)
		due = from;
	g->pace.k0 = g->k;
	g->pace.t0 = due;
}

static __rte_noinline void refill(struct dp_txq *q, const struct gen_job *j, struct rte_mbuf *m)
{
	m->data_off = RTE_PKTMBUF_HEADROOM;
	m->nb_segs = 1;
	m->next = NULL;
	m->ol_flags = 0;
	m->data_len = j->len;
	m->pkt_len = j->len;
	m->hash.usr = j->tag;
	memcpy(rte_pktmbuf_mtod(m, void *), j->frame, j->len);
	if (q->stale > 0)
		q->stale--;
}

/* The device has not taken the tail: its frames are still ours and follow the plan. */
static void refresh_tail(struct dp_txq *q, const struct gen_job *j)
{
	for (unsigned i = q->head; i < q->n; i++)
		if (q->m[i]->hash.usr != j->tag)
			refill(q, j, q->m[i]);
	q->frame_bytes = j->len + RTE_ETHER_CRC_LEN;
}

static void gen_adopt(struct dp_worker *w, const struct dp_task *t, const void *old, uint64_t now)
{
	const struct gen_job *j = t->job;
	struct gen_state *g = (struct gen_state *)t->state;
	struct dp_txq *q = j->txq;

	(void)old;
	/* a buffer that somebody wrote to is counted twice when it is filled again: start over when that ends */
	if (q->tag != j->tag || (q->written && !j->rx_written)) {
		q->tag = j->tag;
		q->stale = q->pool_size;
		q->swept = 0;
	}
	q->written = j->rx_written;
	q->cache = rte_mempool_default_cache(q->pool, rte_lcore_id());
	if (j->run == 0)
		return;
	if (j->run != cell_get(&g->run)) {
		txq_drop_tail(q);
		begin(j, g, now);
	} else if (!g->base.active) {
		return;
	}
	if (j->stop) { /* also of a run that no plan before this one had */
		txq_drop_tail(q);
		finish(w, j, g);
		return;
	}
	if (g->pace.period.cycles != j->period.cycles || g->pace.period.frac != j->period.frac)
		change_rate(j, g, now);
	if (txq_has_tail(q))
		refresh_tail(q, j);
	g->limit_i = j->limit > j->queue ? (j->limit - j->queue - 1) / j->nqueues + 1 : 0;
	if (j->limit == UINT64_MAX)
		g->limit_i = UINT64_MAX;
	if (g->limit_i < g->i) /* a bound below what was sent already */
		g->limit_i = g->i;
}

static void gen_drop(const struct dp_task *t)
{
	const struct gen_job *j = t->job;
	struct gen_state *g = (struct gen_state *)t->state;

	txq_drop_tail(j->txq);
	if (g->base.active)
		close_run(g, j->txq);
}

/* While some buffers are not known to be clean, take a few more through the pool's back end each turn: the pool hands out the same
 * buffers again and again, so that without this the check would never end. */
static __rte_noinline void sweep(struct dp_txq *q, const struct gen_job *j)
{
	void *obj[SWEEP];

	if (rte_mempool_ops_dequeue_bulk(q->pool, obj, SWEEP) == 0) {
		for (unsigned i = 0; i < SWEEP; i++) {
			struct rte_mbuf *m = obj[i];
			if (m->hash.usr != j->tag)
				refill(q, j, m);
		}
		rte_mempool_ops_enqueue_bulk(q->pool, obj, SWEEP);
		q->swept += SWEEP;
	} else {
		q->swept = q->pool_size;
	}
	if (q->swept >= q->pool_size) {
		if (q->cache != NULL)
			rte_mempool_cache_flush(q->cache, q->pool);
		q->swept = 0;
	}
}

/* Fill those of q->m[0..n) that do not hold the template. */
static __rte_noinline void clean(struct dp_txq *q, const struct gen_job *j, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (q->m[i]->hash.usr != j->tag)
			refill(q, j, q->m[i]);
	if (q->stale > 0)
		sweep(q, j);
}

/* Whether all of m[0..n) carry the mark. A branch each, unrolled: cheaper than any way to join the tests. */
static __rte_always_inline bool marked(struct rte_mbuf *const *m, uint32_t tag, unsigned n)
{
#pragma GCC unroll 16
	for (unsigned i = 0; i < n; i++)
		if (unlikely(m[i]->hash.usr != tag))
			return false;
	return true;
}

/* Take n clean buffers of this template into q->m. */
static __rte_always_inline bool fill(struct dp_txq *q, const struct gen_job *j, unsigned n)
{
	if (unlikely(txq_take(q, n) < 0)) {
		cell_add(&q->cnt.nombuf, 1);
		return false;
	}
	if (unlikely(q->stale > 0))
		clean(q, j, n);
	else if (j->rx_written && unlikely(!marked(q->m, j->tag, n)))
		clean(q, j, n);
	return true;
}

/* Frames of this queue that may leave now: due, inside the run's bounds, at most a burst. *over: no more will come. */
static __rte_always_inline unsigned ready(const struct gen_job *j, struct gen_state *g, uint64_t now, bool *over)
{
	uint64_t left = g->limit_i - g->i;
	unsigned most = left < j->burst ? (unsigned)left : j->burst;

	*over = left == 0;
	if (pace_is_max(&g->pace)) {
		if (unlikely((int64_t)(now - j->start_tsc) < 0))
			return 0;
		if (unlikely(now >= j->end_tsc)) {
			*over = true;
			return 0;
		}
		return most;
	}
	uint64_t until = unlikely(now >= j->end_tsc) ? j->end_tsc - 1 : now;
	unsigned n = pace_ready(&g->pace, g->k, j->nqueues, most, until);
	if (unlikely(n == 0 && now >= j->end_tsc))
		*over = true;
	return n;
}

/* The time of a bounded run is over and the device takes nothing: what is left will not be sent. */
static void give_up(struct dp_worker *w, const struct gen_job *j, struct gen_state *g)
{
	uint64_t left = g->limit_i == UINT64_MAX ? 0 : g->limit_i - g->i;

	cell_add(&j->txq->cnt.unsent, left);
	txq_drop_tail(j->txq);
	finish(w, j, g);
}

static __rte_noinline unsigned flush_tail(struct dp_worker *w, const struct gen_job *j, struct gen_state *g, uint64_t now)
{
	unsigned sent = txq_flush(j->txq, now);

	if (sent > 0)
		g->progress_tsc = now;
	if (txq_has_tail(j->txq)) {
		if (now >= j->end_tsc && now - g->progress_tsc > j->giveup_cycles)
			give_up(w, j, g);
	} else if (cell_get(&g->state) == GEN_DRAINING) {
		finish(w, j, g);
	}
	return sent;
}

static unsigned gen_poll(struct dp_worker *w, const struct dp_task *t, uint64_t now)
{
	const struct gen_job *j = t->job;
	struct gen_state *g = (struct gen_state *)t->state;
	struct dp_txq *q = j->txq;
	bool over;

	if (unlikely(txq_has_tail(q)))
		return flush_tail(w, j, g, now);
	unsigned n = ready(j, g, now, &over);
	if (unlikely(over)) {
		finish(w, j, g);
		return 0;
	}
	if (n == 0)
		return 0;
	/* a constant count makes gcc unroll and vectorise what lies inside */
	if (unlikely(!(n == 32 ? fill(q, j, 32) : n == 64 ? fill(q, j, 64) : fill(q, j, n)))) {
		if (now >= j->end_tsc && now - g->progress_tsc > j->giveup_cycles)
			give_up(w, j, g);
		return 0;
	}
	unsigned sent = txq_send(q, n, j->len + RTE_ETHER_CRC_LEN, now);
	g->i += n;
	g->k += (uint64_t)n * j->nqueues;
	if (likely(sent > 0))
		g->progress_tsc = now;
	if (unlikely(g->i == g->limit_i)) {
		if (txq_has_tail(q))
			set_state(g, GEN_DRAINING);
		else
			finish(w, j, g);
	}
	return sent;
}

static bool gen_drained(const struct dp_task *t)
{
	const struct gen_job *j = t->job;

	return !((const struct gen_state *)t->state)->base.active && !txq_has_tail(j->txq);
}

const struct dp_kind dp_kind_gen = {
	.name = "gen", .mem = gen_mem, .adopt = gen_adopt, .poll = gen_poll, .drained = gen_drained, .drop = gen_drop,
};
