/* SPDX-License-Identifier: BSD-3-Clause */
/* The kind "gen" sends the frames k = queue, queue + nqueues, ... of each group of a port's run
 * through one Tx queue, each at its deadline. This file has the turn of a task with one group, and
 * all that builds and offers a burst of one group. */
#include "gen_own.h"

#define SWEEP 32 /* buffers that are looked at with each burst */

/* Writes the image into a buffer that did not hold it. */
static void gen_refill(struct dp_txq *q, const struct gen_grp *gr, struct rte_mbuf *m)
{
	gen_stamp(gr, m);
	if (q->stale > 0)
		q->stale--;
}

/* Returns what to compare buffers with. If the device changes nothing in a buffer, the mark alone
 * tells whether it holds the image. */
static struct gen_look look_of(const struct dp_txq *q, const struct gen_grp *gr)
{
	struct gen_look l = gen_look(gr->mark, gr->len);

	if (q->edits == DP_EDITS_NOTHING)
		l.mask = gen_words(0, 0, 0, 0, UINT32_MAX);
	return l;
}

/* While some buffers are not known to hold the image, a few more are taken through the pool's back
 * end with each burst. The pool hands out the same buffers again and again, so without this some
 * would never be looked at, and the check would never end. */
static __rte_noinline void gen_sweep(struct dp_txq *q, const struct gen_grp *gr)
{
	const struct gen_look l = look_of(q, gr);
	void *obj[SWEEP];

	if (rte_mempool_ops_dequeue_bulk(q->pool, obj, SWEEP) == 0) {
		for (unsigned i = 0; i < SWEEP; i++) {
			struct rte_mbuf *m = obj[i];
			if (!gen_holds(m, &l))
				gen_refill(q, gr, m);
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

/* If the device may have changed any byte, every buffer is filled, always. */
__rte_noinline void gen_clean(struct dp_txq *q, const struct gen_grp *gr, struct rte_mbuf **m,
			      unsigned n)
{
	const struct gen_look l = look_of(q, gr);

	if (q->edits == DP_EDITS_ALL) {
		for (unsigned i = 0; i < n; i++)
			gen_stamp(gr, m[i]);
		return;
	}
	for (unsigned i = 0; i < n; i++)
		if (!gen_holds(m[i], &l))
			gen_refill(q, gr, m[i]);
	if (q->stale > 0)
		gen_sweep(q, gr);
}

/* gen_stamp() for a class other than 0. */
static void stamp_class(const struct dp_txq *q, const struct gen_grp *gr, unsigned c,
			struct rte_mbuf *m)
{
	const struct frun_class *cls = frun_class(gr->frun, c);
	struct gen_grp one = {
		.ol_flags = gen_offload_flags(cls),
		.dst = gen_dst(q, cls),
		.mark = gr->phase->mark[c],
		.image = cls->bytes,
		.image_len = cls->len,
		.tx_offload = cls->offload ? rte_mbuf_tx_offload(cls->l2_len, cls->l3_len,
								 cls->l4_len, 0, 0, 0, 0)
					   : 0,
	};

	gen_stamp(&one, m);
}

/* gen_sort_out() for a device with DP_EDITS_SHAPE or DP_EDITS_ALL. */
static __rte_noinline void sort_out_edited(const struct dp_txq *q, const struct gen_grp *gr,
					   struct rte_mbuf **m, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		unsigned c = gr->nclasses > 1 ? frun_class_of(gr->frun, gr->i - gr->frun_i + i) : 0;
		const struct gen_look l = gen_look(c == 0 ? gr->mark : gr->phase->mark[c], gr->len);
		if (q->edits != DP_EDITS_ALL && gen_holds(m[i], &l))
			continue;
		if (c == 0)
			gen_stamp(gr, m[i]);
		else
			stamp_class(q, gr, c, m[i]);
	}
}

/* Buffers may hold images of several classes or groups, so each is looked at in every burst. */
__rte_noinline void gen_sort_out(const struct dp_txq *q, const struct gen_grp *gr,
				 struct rte_mbuf **m, unsigned n)
{
	if (unlikely(q->edits != DP_EDITS_NOTHING)) {
		sort_out_edited(q, gr, m, n);
		return;
	}
	for (unsigned i = 0; i < n; i++) {
		unsigned c = gr->nclasses > 1 ? frun_class_of(gr->frun, gr->i - gr->frun_i + i) : 0;
		if (c == 0 && m[i]->hash.usr != gr->mark)
			gen_stamp(gr, m[i]);
		else if (c > 0 && m[i]->hash.usr != gr->phase->mark[c])
			stamp_class(q, gr, c, m[i]);
	}
}

/* Writes headers anew from the image that the driver has changed while it prepared an earlier frame
 * in this buffer, and that frun_fill() does not write. */
static __rte_noinline void gen_mend(struct dp_txq *q, const struct gen_grp *gr, unsigned n)
{
	uint64_t at = gr->i - gr->frun_i;

	for (unsigned i = 0; i < n; i++) {
		unsigned c = gr->nclasses > 1 ? frun_class_of(gr->frun, at + i) : 0;
		const struct frun_class *cls = frun_class(gr->frun, c);
		memcpy(rte_pktmbuf_mtod(q->m[i], void *), cls->bytes, gen_mended(cls));
	}
}

/* Does the search of pace_ready() for frames of different lengths. */
__rte_noinline unsigned gen_ready_mixed(const struct gen_job *j, const struct gen_grp *gr,
					unsigned most, uint64_t now)
{
	uint64_t longest = (uint64_t)j->nqueues << PACE_FRAME_BITS;
	unsigned lo = 1, hi = most;

	if (gr->arr != NULL)
		return gen_ready_shaped(j, gr, most, now);
	now = gen_until(j, gr, now);
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

__rte_noinline void gen_arrive(struct dp_worker *w, const struct gen_job *j, struct gen_state *g,
			       uint64_t now)
{
	struct gen_own *o = gen_own(g);
	struct gen_grp *gr = gen_top(o);

	if (gr->i == gr->end_i && !gen_next_phase(j, g)) {
		gen_leave(o);
		if (o->nlive == 0)
			gen_run_out(w, j, g);
	} else if (o->ngroups > 1) {
		gen_sift(o, 0, (struct gen_live){.due = gen_due(gr, now), .grp = o->live[0].grp});
	}
}

void gen_late_tail(const struct gen_job *j, const struct gen_grp *gr, uint64_t i, unsigned sent,
		   uint64_t now)
{
	uint64_t late = gen_late(j, gen_due_at(j, gr, i), now);

	gen_note_late(j->txq, late);
	if (late > j->late_cycles)
		gen_count_late(j, gr, i, sent, now);
}

/* Offers the tail of a task with one group again. Returns how many frames were accepted. */
static __rte_noinline unsigned flush_tail(struct dp_worker *w, const struct gen_job *j,
					  struct gen_state *g, uint64_t now)
{
	struct gen_own *o = gen_own(g);
	uint64_t before = cell_get(&j->txq->cnt.bytes), i = o->first.i - (j->txq->n - j->txq->head);
	unsigned n = j->txq->n - j->txq->head;

	if (o->first.probes)
		gen_probe_put(j, g, &o->first, i, j->txq->m + j->txq->head, n, false);
	unsigned sent = txq_flush(j->txq, now);
	if (o->first.probes && sent < n)
		gen_probe_back(g, &o->first, i + sent, n - sent);
	if (sent > 0) {
		gen_credit(g, &o->first, i, sent, cell_get(&j->txq->cnt.bytes) - before);
		if (!pace_is_max(&o->first.pace))
			gen_late_tail(j, &o->first, i, sent, now);
	}
	if (txq_has_tail(j->txq))
		gen_overtime(w, j, g, now);
	else if (o->first.i == o->first.end_i)
		gen_arrive(w, j, g, now);
	return sent;
}

/* Puts into the group's next n frames, which are built, what is known only when they are offered:
 * their times and probes. fuses: the probes are put in while the frames are filled. */
static inline void gen_finish_frames(const struct gen_job *j, struct gen_state *g,
				     const struct gen_grp *gr, unsigned n, bool simple, bool fuses)
{
	struct dp_txq *q = j->txq;

	if (!simple && unlikely(j->stamp != NULL))
		gen_stamp_put(j, g, gr, gr->i, q->m, n);
	if (GEN_EXTRAS && unlikely(gr->probes))
		gen_probe_put(j, g, gr, gr->i, q->m, n, fuses);
}

/* Lets the driver prepare the frames for its device's checksums. Returns how many are ready: those
 * before the first frame that it refuses. That frame and those after it are built again for the
 * next burst; if it is the first, it is dropped. finished: frames have times and probes already. */
static __rte_noinline unsigned gen_prepare(struct dp_worker *w, const struct gen_job *j,
					   struct gen_state *g, struct gen_grp *gr, unsigned n,
					   uint64_t now, bool finished)
{
	struct dp_txq *q = j->txq;
	unsigned ok = rte_eth_tx_prepare(q->dev, q->queue, q->m, (uint16_t)n);

	if (likely(ok == n))
		return n;
	uint64_t bytes = gen_bytes(gr, gr->i + ok, 1);
	txq_give(q, q->m + ok, n - ok);
	if (finished && gr->probes)
		gen_probe_back(g, gr, gr->i + ok, n - ok);
	if (finished && j->stamp != NULL)
		g->stamps.last = g->stamps.before[ok];
	if (ok == 0) {
		cell_add(&q->cnt.dropped, 1);
		gen_skip(j, g, gr, bytes);
	}
	frun_seek(gr->frun, gr->state, gr->i + ok - gr->frun_i);
	if (ok == 0)
		gen_arrive(w, j, g, now);
	return ok;
}

/* txq_send() for a device that changes even what it refuses: mbufs that it was offered are not
 * read. */
static __rte_noinline unsigned send_edited(struct dp_txq *q, const struct gen_grp *gr, unsigned n,
					   uint64_t now)
{
	unsigned sent = txq_offer(q, n);

	if (sent > 0)
		txq_count(q, sent, gen_bytes(gr, gr->i, sent), now);
	q->again = sent < n;
	return sent;
}

/* Builds and offers the group's next n frames. Returns frames moved. simple: gr->simple, a literal:
 * this function is compiled twice, and for simple groups all that they cannot need is left out. */
static __rte_always_inline unsigned gen_one_burst(struct dp_worker *w, const struct gen_job *j,
						  struct gen_state *g, struct gen_grp *gr,
						  unsigned n, uint64_t now, const bool simple)
{
	struct gen_own *o = gen_own(g);
	struct dp_txq *q = j->txq;
	bool plain = simple || gr->plain, paced = gen_paced(gr);
	uint64_t late = 0;

	if (paced) {
		late = simple ? now - pace_due(&gr->pace, gr->unit)
			      : gen_late(j, gen_deadline(j, gr), now);
		if (unlikely(late > o->behind_cycles || (!simple && gr->chases))) {
			n = gen_chase(j, g, gr, n, gen_ahead(j, g, gr, now));
			if (n == 0) {
				gen_arrive(w, j, g, now);
				return 0;
			}
		}
	}
	/* With a literal count gcc unrolls and vectorises what is inside. */
	if (unlikely(!(n == 32   ? gen_take(q, gr, q->m, 32, plain)
		       : n == 64 ? gen_take(q, gr, q->m, 64, plain)
				 : gen_take(q, gr, q->m, n, plain)))) {
		gen_overtime(w, j, g, now);
		return 0;
	}
	if (!simple && gr->mends)
		gen_mend(q, gr, n);
	bool fuses = simple && gr->probes == GEN_PROBES_FUSED;
	if (GEN_EXTRAS && !gr->fixed && !fuses)
		frun_fill(gr->frun, gr->state, (void *const *)q->m, n);
	/* A driver with DP_EDITS_ALL may put other buffers into the array while it prepares them,
	 * so times and probes come first. */
	bool early = !simple && j->prepare && q->edits == DP_EDITS_ALL;
	if (early)
		gen_finish_frames(j, g, gr, n, false, false);
	if (!simple && j->prepare) {
		n = gen_prepare(w, j, g, gr, n, now, early);
		if (n == 0)
			return 1;
	}
	if (!early)
		gen_finish_frames(j, g, gr, n, simple, fuses);
	uint64_t before = cell_get(&q->cnt.bytes);
	unsigned sent = !simple && unlikely(q->edits == DP_EDITS_ALL)
				? send_edited(q, gr, n, now)
				: txq_send(q, n,
					   simple ? (uint64_t)n * (gr->len + GEN_FCS)
						  : gen_bytes(gr, gr->i, n),
					   now);
	if (simple) {
		gr->i += n;
		gr->unit += n * gr->step;
	} else {
		gen_advance(j, gr, n);
	}
	if (likely(sent > 0)) {
		if (simple)
			cell_add(&g->accepted, sent);
		else
			gen_credit(g, gr, gr->i - n, sent, cell_get(&q->cnt.bytes) - before);
		if (paced) {
			gen_note_late(q, late);
			if (unlikely(late > j->late_cycles))
				gen_count_late(j, gr, gr->i - n, sent, now);
		}
	}
	if (unlikely(sent < n)) {
		if (gr->probes)
			gen_probe_back(g, gr, gr->i - n + sent, n - sent);
		if (gr->i == gr->limit_i && o->nlive == 1)
			gen_set_state(g, GEN_DRAINING);
		if (!simple && o->ngroups > 1) {
			o->run[0] = (struct gen_run){.i = gr->i - n + sent,
						     .grp = o->live[0].grp,
						     .n = (uint16_t)(n - sent)};
			o->nruns = 1;
			o->run_at = 0;
		}
	} else if (unlikely(gr->i == gr->end_i) || (!simple && o->ngroups > 1)) {
		gen_arrive(w, j, g, now);
	}
	if (unlikely(now >= j->end_tsc) && late > j->late_cycles && gen_is_on(g) &&
	    !txq_has_tail(q))
		gen_overtime(w, j, g, now);
	return sent;
}

__rte_noinline unsigned gen_burst(struct dp_worker *w, const struct gen_job *j, struct gen_state *g,
				  struct gen_grp *gr, unsigned n, uint64_t now)
{
	return gen_one_burst(w, j, g, gr, n, now, false);
}

static unsigned gen_poll(struct dp_worker *w, const struct dp_task *t, uint64_t now)
{
	const struct gen_job *j = t->job;
	struct gen_state *g = (struct gen_state *)t->state;
	struct gen_own *o = gen_own(g);
	struct gen_grp *gr = &o->first;
	uint64_t ahead = now;
	bool over;

	if (GEN_EXTRAS && unlikely(o->detour)) {
		if (o->rest.on) {
			gen_rest_turn(w, j, g);
			return 1;
		}
		if (o->ngroups != 1)
			return gen_poll_groups(w, j, g, now);
		if (j->catchup == GEN_SKIP && !txq_has_tail(j->txq) && gen_give_late(w, j, g, now))
			return 1;
		if (!gen_is_on(g))
			return 0;
		ahead = gen_ahead(j, g, gr, now);
	}
	if (unlikely(txq_has_tail(j->txq))) {
		if (likely(j->txq->edits != DP_EDITS_ALL))
			return flush_tail(w, j, g, now);
		if (!gen_again(w, j, g, now))
			return 1;
	}
	unsigned n = gen_ready(j, gr, j->burst, ahead, &over);
	if (unlikely(over)) {
		gen_leave(o);
		gen_run_out(w, j, g);
		return 0;
	}
	if (n == 0) {
		if (unlikely(now >= j->end_tsc)) /* it catches up: frames are due, but wait */
			gen_overtime(w, j, g, now);
		return 0;
	}
	return !GEN_EXTRAS || likely(gr->simple) ? gen_one_burst(w, j, g, gr, n, now, true)
						 : gen_burst(w, j, g, gr, n, now);
}

const struct dp_kind dp_kind_gen = {
	.name = "gen",
	.adopt = gen_adopt,
	.poll = gen_poll,
	.drop = gen_drop,
};
