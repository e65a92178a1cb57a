/* SPDX-License-Identifier: BSD-3-Clause */
/* The kind "gen" with several groups: the port's schedule and streams with rates of their own share
 * a queue. A burst takes what is due from each group, the earliest first. */
#include "gen_own.h"

void gen_leave(struct gen_own *o)
{
	if (o->nlive == 0)
		return;
	if (--o->nlive > 0)
		gen_sift(o, 0, o->live[o->nlive]);
}

void gen_rewind(const struct gen_job *j, struct gen_state *g)
{
	struct gen_own *o = gen_own(g);

	gen_stamp_back(j, g);
	unsigned n = txq_return_tail(j->txq);

	if (n == 0)
		return;
	if (o->ngroups == 1) {
		o->first.i -= n;
		gen_place(j, &o->first);
		gen_seek(&o->first);
		return;
	}
	while (o->nruns > o->run_at) { /* backwards, because a group may have several runs */
		struct gen_run *r = &o->run[--o->nruns];
		struct gen_grp *gr = gen_grp(o, r->grp);
		gr->i = r->i + r->done;
		gen_place(j, gr);
		gen_seek(gr);
	}
}

bool gen_again(struct dp_worker *w, const struct gen_job *j, struct gen_state *g, uint64_t now)
{
	struct gen_own *o = gen_own(g);

	if (gen_overtime(w, j, g, now))
		return false;
	gen_rewind(j, g);
	if (o->ngroups > 1) /* the tail was of one group, which is the top one */
		gen_sift(o, 0,
			 (struct gen_live){.due = gen_due(gen_top(o), now), .grp = o->live[0].grp});
	return true;
}

/* Counts the next `sent` frames of the runs: the device has accepted them. */
static void credit_runs(struct gen_state *g, unsigned sent)
{
	struct gen_own *o = gen_own(g);

	while (sent > 0) {
		struct gen_run *r = &o->run[o->run_at];
		const struct gen_grp *gr = gen_grp(o, r->grp);
		unsigned n = r->n - r->done;

		n = n < sent ? n : sent;
		gen_credit(g, gr, r->i + r->done, n, gen_bytes(gr, r->i + r->done, n));
		r->done = (uint16_t)(r->done + n);
		o->run_at += r->done == r->n;
		sent -= n;
	}
}

/* Puts times into the frames of all runs, which have just been built. */
static __rte_noinline void put_stamps(const struct gen_job *j, struct gen_state *g)
{
	struct gen_own *o = gen_own(g);
	struct rte_mbuf *const *m = j->txq->m;

	for (unsigned at = 0; at < o->nruns; m += o->run[at++].n)
		gen_stamp_put(j, g, gen_grp(o, o->run[at].grp), o->run[at].i, m, o->run[at].n);
}

/* Puts probes into all frames of runs that are offered now: a new burst, or the tail. */
static void put_probes(const struct gen_job *j, struct gen_state *g)
{
	struct gen_own *o = gen_own(g);
	struct rte_mbuf *const *m = j->txq->m + j->txq->head;

	for (unsigned at = o->run_at; at < o->nruns; at++) {
		const struct gen_run *r = &o->run[at];
		const struct gen_grp *gr = gen_grp(o, r->grp);
		unsigned n = r->n - r->done;
		if (gr->probes)
			gen_probe_put(j, g, gr, r->i + r->done, m, n, false);
		m += n;
	}
}

/* Undoes that for the frames that the device has not accepted. */
static void take_probes_back(struct gen_state *g)
{
	struct gen_own *o = gen_own(g);

	for (unsigned at = o->nruns; at-- > o->run_at;) {
		const struct gen_run *r = &o->run[at];
		const struct gen_grp *gr = gen_grp(o, r->grp);
		if (gr->probes)
			gen_probe_back(g, gr, r->i + r->done, r->n - r->done);
	}
}

/* Counts how many of the `sent` frames that leave now are late. */
static __rte_noinline void late_runs(const struct gen_job *j, struct gen_state *g, unsigned sent,
				     uint64_t now)
{
	struct gen_own *o = gen_own(g);

	for (unsigned at = o->run_at; sent > 0; at++) {
		const struct gen_run *r = &o->run[at];
		const struct gen_grp *gr = gen_grp(o, r->grp);
		unsigned n = r->n - r->done;

		n = n < sent ? n : sent;
		if (!pace_is_max(&gr->pace))
			gen_count_late(j, gr, r->i + r->done, n, now);
		sent -= n;
	}
}

/* The device has accepted `sent` frames: counts them. late: lateness of the first of them;
 * UINT64_MAX: it has no deadline, though others may have one. */
static void gen_groups_progress(const struct gen_job *j, struct gen_state *g, unsigned sent,
				uint64_t late, uint64_t now)
{
	if (sent == 0)
		return;
	if (late != UINT64_MAX)
		gen_note_late(j->txq, late);
	/* A frame of a group that catches up may be later than frames that were due before it. */
	if (unlikely(late > j->late_cycles || gen_own(g)->chased))
		late_runs(j, g, sent, now);
	credit_runs(g, sent);
}

/* Offers the tail again. Returns how many frames were accepted. */
static unsigned gen_groups_flush(struct dp_worker *w, const struct gen_job *j, struct gen_state *g,
				 uint64_t now)
{
	const struct gen_own *o = gen_own(g);
	const struct gen_run *r = &o->run[o->run_at];
	const struct gen_grp *gr = gen_grp(gen_own(g), r->grp);
	uint64_t late = pace_is_max(&gr->pace)
				? UINT64_MAX
				: gen_late(j, gen_due_at(j, gr, r->i + r->done), now);
	put_probes(j, g);
	unsigned sent = txq_flush(j->txq, now);
	gen_groups_progress(j, g, sent, late, now);
	if (txq_has_tail(j->txq))
		take_probes_back(g);
	if (!txq_has_tail(j->txq) && gen_own(g)->nlive > 0)
		gen_arrive(w, j, g, now);
	return sent;
}

/* Prefetches the group at a place of the heap, which may be the next one on top. */
static inline void gen_groups_fetch(struct gen_own *o, unsigned at)
{
	if (at < o->nlive) {
		const struct gen_grp *gr = gen_grp(o, o->live[at].grp);
		rte_prefetch0(gr);
		rte_prefetch0((const char *)gr + CACHE_LINE);
		rte_prefetch0(gr->small);
	}
}

/* Returns the time before which frames of the top group must be due to be handed over now. If the
 * device sends at time stamps, frames must be handed over in the order of their deadlines: those of
 * the top group only until the next group is due, which is one of the top's children. */
static inline uint64_t before_others(const struct gen_job *j, const struct gen_own *o,
				     uint64_t ahead)
{
	if (likely(j->stamp == NULL))
		return ahead;
	for (unsigned s = 1; s <= 4 && s < o->nlive; s++)
		if ((int64_t)(ahead - o->live[s].due) > 0)
			ahead = o->live[s].due;
	return ahead;
}

/* Builds frames of all groups that are due in the share's array, at most a burst. Returns their
 * number. *bytes: their bytes with FCS are added. *late: lateness of the first one, if it has a
 * deadline. A group that comes to the end of its phase ends the burst: it stays on top until its
 * frames are gone. */
static unsigned gen_groups_gather(const struct gen_job *j, struct gen_state *g, uint64_t now,
				  uint64_t *bytes, uint64_t *late)
{
	struct gen_own *o = gen_own(g);
	struct dp_txq *q = j->txq;
	unsigned n = 0;

	o->nruns = o->run_at = 0;
	o->chased = false;
	while (n < j->burst && o->nlive > 0) {
		struct gen_grp *gr = gen_top(o);
		uint64_t ahead = gen_ahead(j, g, gr, now);
		bool over;

		if ((int64_t)(ahead - o->live[0].due) < 0 && ahead < j->end_tsc)
			break;
		for (unsigned s = 1; s <= 4; s++)
			gen_groups_fetch(o, s);
		unsigned part = gen_ready(j, gr, j->burst - n, before_others(j, o, ahead), &over);
		if (over) {
			gen_leave(o);
			continue;
		}
		if (unlikely(gr->chases ||
			     (int64_t)(now - o->live[0].due) > (int64_t)o->behind_cycles) &&
		    part > 0 && gen_paced(gr)) {
			part = gen_chase(j, g, gr, part, before_others(j, o, ahead));
			o->chased = true;
			if (part == 0) {
				gen_sift(o, 0,
					 (struct gen_live){.due = gen_due(gr, now),
							   .grp = o->live[0].grp});
				continue;
			}
		}
		o->chased |= unlikely(gr->step == 0) && gr->arr != NULL && gr->arr->chasing;
		if (part == 0 || !gen_take(q, gr, q->m + n, part, gr->plain))
			break;
		if (!gr->fixed)
			frun_fill(gr->frun, gr->state, (void *const *)(q->m + n), part);
		o->run[o->nruns++] =
			(struct gen_run){.i = gr->i, .grp = o->live[0].grp, .n = (uint16_t)part};
		*bytes += gen_bytes(gr, gr->i, part);
		if (n == 0 && !pace_is_max(&gr->pace))
			*late = gen_late(j, gen_deadline(j, gr), now);
		n += part;
		gen_advance(j, gr, part);
		if (gr->i == gr->end_i)
			break;
		gen_sift(o, 0, (struct gen_live){.due = gen_due(gr, now), .grp = o->live[0].grp});
	}
	return n;
}

/* Sends a burst of the top group alone. This is for devices for which frames may have to be built
 * again: their driver may refuse to prepare a frame, or changes frames that it refuses. */
static unsigned one_burst(struct dp_worker *w, const struct gen_job *j, struct gen_state *g,
			  uint64_t now)
{
	struct gen_own *o = gen_own(g);
	struct gen_grp *gr = gen_top(o);
	uint64_t ahead = gen_ahead(j, g, gr, now);
	bool over;

	if ((int64_t)(ahead - o->live[0].due) < 0 && ahead < j->end_tsc)
		return 0;
	unsigned n = gen_ready(j, gr, j->burst, before_others(j, o, ahead), &over);
	if (over)
		gen_leave(o);
	return n > 0 ? gen_burst(w, j, g, gr, n, now) : 0;
}

unsigned gen_poll_groups(struct dp_worker *w, const struct gen_job *j, struct gen_state *g,
			 uint64_t now)
{
	struct gen_own *o = gen_own(g);
	uint64_t bytes = 0, late = UINT64_MAX;

	if (unlikely(now >= j->end_tsc) && gen_overtime(w, j, g, now))
		return 1;
	if (txq_has_tail(j->txq)) {
		if (likely(j->txq->edits != DP_EDITS_ALL))
			return gen_groups_flush(w, j, g, now);
		if (!gen_again(w, j, g, now))
			return 1;
	}
	if (unlikely(j->catchup == GEN_SKIP)) {
		if (gen_give_late(w, j, g, now))
			return 1;
		if (!gen_is_on(g))
			return 0;
	}
	if (o->nlive == 0) {
		gen_run_out(w, j, g);
		return 0;
	}
	if (j->prepare || j->txq->edits == DP_EDITS_ALL)
		return one_burst(w, j, g, now);
	unsigned n = gen_groups_gather(j, g, now, &bytes, &late);
	if (n == 0)
		return 0;
	if (unlikely(j->stamp != NULL))
		put_stamps(j, g);
	put_probes(j, g);
	unsigned sent = txq_send(j->txq, n, bytes, now);
	gen_groups_progress(j, g, sent, late, now);
	if (sent < n) {
		take_probes_back(g);
		if (o->nlive == 0 || (o->nlive == 1 && gen_top(o)->i == gen_top(o)->limit_i))
			gen_set_state(g, GEN_DRAINING);
	} else if (o->nlive > 0 && gen_top(o)->i == gen_top(o)->end_i) {
		gen_arrive(w, j, g, now);
	}
	return sent;
}
