/* SPDX-License-Identifier: BSD-3-Clause */
/* Kind "gen": frames k = queue, queue + nqueues, ... of each group of a port's run, each at its deadline, through one Tx queue. */
#include "gen_own.h"

#define SWEEP 32

static size_t gen_mem(void)
{
	return sizeof(struct gen_state);
}

static void refill(struct dp_txq *q, const struct gen_grp *gr, struct rte_mbuf *m)
{
	gen_refill(gr, 0, m);
	if (q->stale > 0)
		q->stale--;
}

/* While some buffers are not known to be clean, take a few more through the pool's back end each turn: the pool hands out the same
 * buffers again and again, so that without this the check would never end. */
static __rte_noinline void sweep(struct dp_txq *q, const struct gen_grp *gr)
{
	void *obj[SWEEP];

	if (rte_mempool_ops_dequeue_bulk(q->pool, obj, SWEEP) == 0) {
		for (unsigned i = 0; i < SWEEP; i++) {
			struct rte_mbuf *m = obj[i];
			if (m->hash.usr != gr->tag)
				refill(q, gr, m);
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

/* Fill those of q->m[0..n) that do not hold the image. */
static __rte_noinline void clean(struct dp_txq *q, const struct gen_grp *gr, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (q->m[i]->hash.usr != gr->tag)
			refill(q, gr, q->m[i]);
	if (q->stale > 0)
		sweep(q, gr);
}

/* Images of several classes take turns in the buffers: each is looked at, always. */
static __rte_noinline void sort_out(struct dp_txq *q, const struct gen_grp *gr, unsigned n)
{
	const uint32_t *tag = gr->phase->tag;
	uint64_t at = gr->i - gr->prog_i;

	for (unsigned i = 0; i < n; i++) {
		unsigned c = gr->nclasses > 1 ? frun_class_of(gr->prog, at + i) : 0;
		if (q->m[i]->hash.usr != tag[c])
			gen_refill(gr, c, q->m[i]);
	}
}

/* Drivers write into headers while they prepare them; where nobody writes these anew, the image does. */
static __rte_noinline void mend(struct dp_txq *q, const struct gen_grp *gr, unsigned n)
{
	uint64_t at = gr->i - gr->prog_i;

	for (unsigned i = 0; i < n; i++) {
		unsigned c = gr->nclasses > 1 ? frun_class_of(gr->prog, at + i) : 0;
		const struct frun_class *cls = frun_class(gr->prog, c);
		memcpy(rte_pktmbuf_mtod(q->m[i], void *), cls->bytes, gen_mended(cls));
	}
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

/* Take n buffers that hold the images of the group's next frames into q->m. */
static __rte_always_inline bool take(struct dp_txq *q, const struct gen_job *j, const struct gen_grp *gr, unsigned n, bool plain)
{
	if (unlikely(txq_take(q, n) < 0)) {
		cell_add(&q->cnt.nombuf, 1);
		return false;
	}
	if (!plain)
		sort_out(q, gr, n);
	else if (unlikely(q->stale > 0))
		clean(q, gr, n);
	else if (j->rx_written && unlikely(!marked(q->m, gr->tag, n)))
		clean(q, gr, n);
	return true;
}

/* The same search as pace_ready() makes, where frames have different lengths. */
static __rte_noinline unsigned ready_mixed(const struct gen_job *j, const struct gen_grp *gr, unsigned most, uint64_t now)
{
	uint64_t longest = (uint64_t)j->nqueues << PACE_FRAME_BITS;
	unsigned lo = 1, hi = most;

	if (most == 0 || (int64_t)(now - pace_due(&gr->pace, gr->unit)) < 0)
		return 0;
	if (gr->pace.period.cycles * longest > PACE_FAR)
		return 1;
	for (unsigned mid = most; lo < hi; mid = (lo + hi + 1) / 2) {
		if ((int64_t)(now - pace_due(&gr->pace, gen_unit(j, gr, gr->i + mid - 1))) >= 0)
			lo = mid;
		else
			hi = mid - 1;
	}
	return lo;
}

/* Frames of the group that may leave now: due, inside the phase and the run's bounds, at most a burst. *over: no more will come. */
static __rte_always_inline unsigned ready(const struct gen_job *j, const struct gen_grp *gr, uint64_t now, bool *over)
{
	uint64_t left = gr->end_i - gr->i;
	unsigned most = left < j->burst ? (unsigned)left : j->burst, n;

	*over = left == 0;
	if (pace_is_max(&gr->pace)) {
		if (unlikely((int64_t)(now - j->start_tsc) < 0))
			return 0;
		if (unlikely(now >= j->end_tsc)) {
			*over = true;
			return 0;
		}
		return most;
	}
	uint64_t until = unlikely(now >= j->end_tsc) ? j->end_tsc - 1 : now;
	if (likely(gr->step != 0))
		n = pace_ready(&gr->pace, gr->unit, gr->step, most, until);
	else
		n = ready_mixed(j, gr, most, until);
	if (unlikely(n == 0 && now >= j->end_tsc))
		*over = true;
	return n;
}

/* The time of a bounded run is over and the device takes nothing: what is left will not be sent. */
static void give_up(struct dp_worker *w, const struct gen_job *j, struct gen_state *g)
{
	cell_add(&j->txq->cnt.unsent, gen_left(j, gen_own(g)));
	txq_drop_tail(j->txq);
	gen_finish(w, j, g);
}

static bool gives_up(const struct gen_job *j, struct gen_state *g, uint64_t now)
{
	return now >= j->end_tsc && now - gen_own(g)->progress_tsc > j->giveup_cycles;
}

/* The top group's burst is gone. */
static __rte_noinline void arrive(struct dp_worker *w, const struct gen_job *j, struct gen_state *g, uint64_t now)
{
	struct gen_own *o = gen_own(g);
	struct gen_grp *gr = gen_top(o);

	if (gr->i == gr->end_i && !gen_next_phase(j, g)) {
		gen_leave(o);
		if (o->nlive == 0)
			gen_finish(w, j, g);
	} else if (o->ngroups > 1) {
		o->slot[1].due = gen_due(gr, now);
		gen_sift(o, 1);
	}
}

/* Frames that the device took: the schedule's follow from their number, those of a stream with its own rate are counted here. */
static __rte_always_inline void credit(struct gen_state *g, const struct gen_grp *gr, unsigned sent, uint64_t bytes)
{
	if (likely(gr->stream < 0)) {
		cell_add(&g->accepted, sent);
	} else {
		cell_add(&g->cell[gr->stream].packets, sent);
		cell_add(&g->cell[gr->stream].bytes, bytes);
	}
}

static __rte_noinline unsigned flush_tail(struct dp_worker *w, const struct gen_job *j, struct gen_state *g, uint64_t now)
{
	struct gen_own *o = gen_own(g);
	uint64_t before = cell_get(&j->txq->cnt.bytes);
	unsigned sent = txq_flush(j->txq, now);

	if (sent > 0) {
		o->progress_tsc = now;
		credit(g, gen_top(o), sent, cell_get(&j->txq->cnt.bytes) - before);
	}
	if (!txq_has_tail(j->txq))
		arrive(w, j, g, now);
	else if (gives_up(j, g, now))
		give_up(w, j, g);
	return sent;
}

/* The driver makes the frames ready for its device's checksums. Those behind one that it refuses are built again for the next burst; the
 * refused one is thrown away when it is the first. Returns how many are ready. */
static __rte_noinline unsigned prepare(struct dp_worker *w, const struct gen_job *j, struct gen_state *g, struct gen_grp *gr, unsigned n,
				       uint64_t now)
{
	struct dp_txq *q = j->txq;
	unsigned ok = rte_eth_tx_prepare(q->dev, q->queue, q->m, (uint16_t)n);

	if (likely(ok == n))
		return n;
	uint64_t bytes = txq_bytes(q->m + ok, 1);
	txq_give(q, q->m + ok, n - ok);
	if (ok == 0) {
		cell_add(&q->cnt.dropped, 1);
		gen_own(g)->progress_tsc = now;
		gen_skip(j, g, gr, bytes);
	}
	frun_seek(gr->prog, gr->state, gr->i + ok - gr->prog_i);
	if (ok == 0)
		arrive(w, j, g, now);
	return ok;
}

/* The group to be served, NULL: none is due. */
static __rte_noinline struct gen_grp *due_group(struct dp_worker *w, const struct gen_job *j, struct gen_state *g, uint64_t now)
{
	struct gen_own *o = gen_own(g);

	if (unlikely(o->nlive == 0)) {
		gen_finish(w, j, g);
		return NULL;
	}
	if ((int64_t)(now - o->slot[1].due) < 0 && now < j->end_tsc)
		return NULL;
	return gen_top(o);
}

/* No frame of the group is left to be built. */
static __rte_noinline unsigned group_over(struct dp_worker *w, const struct gen_job *j, struct gen_state *g)
{
	gen_leave(gen_own(g));
	if (gen_own(g)->nlive == 0)
		gen_finish(w, j, g);
	return 0;
}

/* The group's next n frames. simple: a literal; the port sends one schedule of frames of one length and class, which the driver takes as
 * they are. Everything else is looked at where it is not so. */
static __rte_always_inline unsigned burst(struct dp_worker *w, const struct gen_job *j, struct gen_state *g, struct gen_grp *gr, unsigned n,
					  uint64_t now, const bool simple)
{
	struct gen_own *o = gen_own(g);
	struct dp_txq *q = j->txq;
	bool plain = simple || gr->plain;

	/* a constant count makes gcc unroll and vectorise what lies inside */
	if (unlikely(!(n == 32 ? take(q, j, gr, 32, plain) : n == 64 ? take(q, j, gr, 64, plain) : take(q, j, gr, n, plain)))) {
		if (gives_up(j, g, now))
			give_up(w, j, g);
		return 0;
	}
	if (!simple && gr->mends)
		mend(q, gr, n);
	if (!gr->fixed)
		frun_fill(gr->prog, gr->state, (void *const *)q->m, n);
	if (!simple && j->prepare) {
		n = prepare(w, j, g, gr, n, now);
		if (n == 0)
			return 1;
	}
	uint64_t before = cell_get(&q->cnt.bytes);
	uint64_t bytes = simple || gr->len != 0 ? (uint64_t)n * (gr->len + GEN_FCS) : frun_bytes(gr->prog, gr->i - gr->prog_i, n);
	unsigned sent = txq_send(q, n, bytes, now);
	gr->i += n;
	gr->unit = simple || gr->step != 0 ? gr->unit + n * gr->step : gen_unit(j, gr, gr->i);
	if (likely(sent > 0)) {
		o->progress_tsc = now;
		if (simple)
			cell_add(&g->accepted, sent);
		else
			credit(g, gr, sent, cell_get(&q->cnt.bytes) - before);
	}
	if (unlikely(sent < n)) {
		if (gr->i == gr->limit_i && o->nlive == 1)
			gen_set_state(g, GEN_DRAINING);
	} else if (unlikely(gr->i == gr->end_i) || (!simple && o->ngroups > 1)) {
		arrive(w, j, g, now);
	}
	return sent;
}

static __rte_noinline unsigned any_burst(struct dp_worker *w, const struct gen_job *j, struct gen_state *g, struct gen_grp *gr, unsigned n,
					 uint64_t now)
{
	return burst(w, j, g, gr, n, now, false);
}

static unsigned gen_poll(struct dp_worker *w, const struct dp_task *t, uint64_t now)
{
	const struct gen_job *j = t->job;
	struct gen_state *g = (struct gen_state *)t->state;
	struct gen_own *o = gen_own(g);
	struct gen_grp *gr = &o->first;
	bool over;

	if (unlikely(txq_has_tail(j->txq)))
		return flush_tail(w, j, g, now);
	if (unlikely(o->ngroups != 1)) {
		gr = due_group(w, j, g, now);
		if (gr == NULL)
			return 0;
	}
	unsigned n = ready(j, gr, now, &over);
	if (unlikely(over))
		return group_over(w, j, g);
	if (n == 0)
		return 0;
	return likely(gr->simple) ? burst(w, j, g, gr, n, now, true) : any_burst(w, j, g, gr, n, now);
}

static bool gen_drained(const struct dp_task *t)
{
	const struct gen_job *j = t->job;

	return !((const struct gen_state *)t->state)->base.active && !txq_has_tail(j->txq);
}

const struct dp_kind dp_kind_gen = {
	.name = "gen", .mem = gen_mem, .adopt = gen_adopt, .poll = gen_poll, .drained = gen_drained, .drop = gen_drop,
};
