/* SPDX-License-Identifier: BSD-3-Clause */
/* The kind "gen" from plan to plan: what a new plan starts, ends or changes, and how a group goes
 * from one phase to the next. */
#include "gen_own.h"

_Static_assert(sizeof(struct gen_own) <= sizeof(((struct gen_state *)NULL)->own),
	       "own part of a queue's state");

size_t gen_mem_size(unsigned ngroups)
{
	return GEN_LIVE_BYTES(ngroups) + GEN_RUN_BYTES + GEN_MORE_BYTES(ngroups) +
	       ngroups * sizeof(struct gen_arr);
}

/* ---- start and end ---- */

void gen_set_state(struct gen_state *g, enum gen_state_id id)
{
	__atomic_store_n(&g->state, id, __ATOMIC_RELEASE);
	g->base.next = id == GEN_SENDING || id == GEN_DRAINING ? DP_NOW : DP_NEVER;
}

/* Makes the numbers of the run final. */
static void close_run(struct gen_state *g, const struct dp_txq *q)
{
	uint64_t last = cell_get(&q->last_tsc);

	gen_fold_all(g);
	cell_set(&g->sent, cell_get(&q->cnt.packets) - cell_get(&g->base_packets));
	if (last > cell_get(&g->start_tsc))
		cell_set(&g->last_tsc, last);
	gen_set_state(g, GEN_DONE);
}

void gen_finish(struct dp_worker *w, const struct gen_job *j, struct gen_state *g)
{
	close_run(g, j->txq);
	dp_event_post(w, DP_EV_RUN_DONE, j->txq->port, j->queue, j->run);
}

void gen_drop(struct dp_worker *w, const struct dp_task *t, uint64_t now)
{
	const struct gen_job *j = t->job;
	struct gen_state *g = (struct gen_state *)t->state;

	(void)w, (void)now;
	gen_drop_tail(j, g);
	if (gen_is_on(g))
		close_run(g, j->txq);
}

/* ---- images ---- */

uint64_t gen_offload_flags(const struct frun_class *c)
{
	uint64_t flags = 0;

	if (!c->offload)
		return 0;
	if (c->ip4)
		flags |= RTE_MBUF_F_TX_IPV4 | RTE_MBUF_F_TX_IP_CKSUM;
	if (c->ip6)
		flags |= RTE_MBUF_F_TX_IPV6;
	if (c->udp)
		flags |= RTE_MBUF_F_TX_UDP_CKSUM;
	if (c->tcp)
		flags |= RTE_MBUF_F_TX_TCP_CKSUM;
	return flags;
}

/* Says which image all frames of the share have, by the mark that control gave it; 0: they have
 * several. Buffers with this image carry a mark of the share's own, which is a new one each time.
 * With an old mark, buffers that still carried it would not be filled, and so would not be taken
 * off `stale`: the check of every burst would never end. */
static void mark_queue(struct dp_txq *q, uint32_t image)
{
	if (q->image == image)
		return;
	q->image = image;
	q->mark = GEN_MARKS | (q->mark + 1);
	q->stale = image != 0 ? q->pool_size : 0;
	q->swept = 0;
}

/* See gen_own.one_mark; always true with one group. */
static bool one_mark(const struct gen_job *j)
{
	for (unsigned n = 0; j->ngroups > 1 && n < j->ngroups; n++)
		for (unsigned p = 0; p < j->group[n].nphases; p++) {
			const struct gen_phase *ph = &j->group[n].phase[p];
			if (frun_nclasses(ph->frun) > 1 ||
			    ph->mark[0] != j->group[0].phase[0].mark[0])
				return false;
		}
	return true;
}

/* ---- phases ---- */

/* Sets all members of the group that follow from its phase. */
static void gen_adopt_enter(const struct gen_job *j, struct gen_state *g, struct gen_grp *gr,
			    const struct gen_phase *ph)
{
	const struct frun_class *cls = frun_class(ph->frun, 0);

	gr->phase = ph;
	gr->image = cls->bytes;
	if (cls->len <= sizeof(gr->small))
		gr->image = memcpy(gr->small, cls->bytes, cls->len);
	gr->image_len = cls->len;
	gr->ol_flags = gen_offload_flags(cls);
	gr->dst = gen_dst(j->txq, cls);
	gr->tx_offload = cls->offload ? rte_mbuf_tx_offload(cls->l2_len, cls->l3_len, cls->l4_len,
							    0, 0, 0, 0)
				      : 0;
	gr->frun = ph->frun;
	gr->state = ph->state;
	gr->frun_i = gr->epoch_i + gen_own_before(j, ph->k0);
	gr->end_i = gr->limit_i;
	if (ph->end != UINT64_MAX && gr->epoch_i + gen_own_before(j, ph->end) < gr->end_i)
		gr->end_i = gr->epoch_i + gen_own_before(j, ph->end);
	gr->len = (uint16_t)frun_len(ph->frun);
	gr->port_len = (uint16_t)frun_port_len(ph->frun);
	gr->nclasses = (uint16_t)frun_nclasses(ph->frun);
	gr->fixed = frun_is_fixed(ph->frun);
	gr->probes = frun_probes(ph->frun) != NULL ? GEN_PROBES : GEN_NO_PROBES;
	gen_own(g)->probe_frun = NULL;
	gr->mends = false;
	for (unsigned c = 0; j->prepare && j->txq->edits != DP_EDITS_ALL && c < gr->nclasses; c++)
		gr->mends |= gen_mended(frun_class(ph->frun, c)) > 0;
	gr->plain = gen_own(g)->one_mark && gr->nclasses == 1;
	gr->simple = gen_is_simple(j, gr) && !gr->chases;
	if (gen_is_simple(j, gr) && g->probes != NULL && frun_fuses(ph->frun))
		gr->probes = GEN_PROBES_FUSED;
	if (j->ngroups == 1 || gr->stream == j->group[0].stream)
		mark_queue(j->txq, gr->plain ? ph->mark[0] : 0);
	gr->mark = gr->plain ? j->txq->mark : ph->mark[0];
}

/* All frames of the phase are gone: enters the next phase in which this queue has frames. */
static void next_phase(const struct gen_job *j, struct gen_state *g, struct gen_grp *gr)
{
	const struct gen_phase *last = gr->group->phase + gr->group->nphases - 1;

	gen_unsettle(g);
	while (gr->i >= gr->end_i && gr->i < gr->limit_i && gr->phase < last) {
		const struct gen_phase *from = gr->phase;
		uint64_t ended = gen_phase_bytes(gr, from->end - from->k0);

		if (gr->stream < 0)
			gen_fold(g, from->frun, gr->i - gr->frun_i, 1);
		gen_seek(gr);
		frun_next(from->frun, from->state, from[1].frun, from[1].state);
		gr->off += gr->bytes ? ended : 0;
		gen_adopt_enter(j, g, gr, from + 1);
		if (gr->i != gr->frun_i)
			gen_seek(gr);
		if (gr->stream < 0) {
			gen_fold(g, gr->frun, gr->i - gr->frun_i, UINT64_MAX);
			gen_publish(g, gr->frun, gr->i - gr->frun_i);
		}
	}
	gen_settle(g);
	gen_set_units(j, gr);
}

bool gen_next_phase(const struct gen_job *j, struct gen_state *g)
{
	struct gen_grp *gr = gen_top(gen_own(g));

	if (gr->i < gr->limit_i)
		next_phase(j, g, gr);
	return gr->i < gr->end_i;
}

/* ---- groups ---- */

/* Sets where the group ends on this queue: by its limit or its schedule, whichever is first. */
static void set_limit(const struct gen_job *j, struct gen_grp *gr)
{
	uint64_t end = gr->group->phase[gr->group->nphases - 1].end;

	gr->limit_i =
		gr->group->limit == UINT64_MAX ? UINT64_MAX : gen_own_before(j, gr->group->limit);
	if (end != UINT64_MAX && gr->epoch_i + gen_own_before(j, end) < gr->limit_i)
		gr->limit_i = gr->epoch_i + gen_own_before(j, end);
	if (gr->limit_i < gr->i) /* more were sent already */
		gr->limit_i = gr->i;
}

/* Starts a group at t0. If the port's schedule was in an earlier plan of this run and comes again,
 * what it sent then counts for its bounds. */
static void start_group(const struct gen_job *j, struct gen_state *g, struct gen_grp *gr,
			const struct gen_group *group, uint64_t t0)
{
	uint64_t i = group->stream < 0 ? gen_own(g)->gone_i : 0;

	*gr = (struct gen_grp){.stream = group->stream,
			       .group = group,
			       .arr = gen_arr_of(gen_own(g), gr, group),
			       .i = i,
			       .epoch_i = i};
	set_limit(j, gr);
	gen_set_rate(gr, group);
	gr->pace.t0 = t0;
	gr->pace.k0 = gr->bytes ? 0 : i * j->nqueues;
	if (gr->arr != NULL)
		gen_anchor(j, gr, t0, gr->pace.k0, i * j->nqueues);
	frun_begin(group->phase->frun, group->phase->state);
	gen_adopt_enter(j, g, gr, group->phase);
	gen_set_units(j, gr);
}

/* Carries a group over into the new plan: from the next frame on it has the frames, the rate and
 * the bounds of that plan. */
static void lead_over(const struct gen_job *j, struct gen_state *g, struct gen_grp *gr,
		      const struct gen_group *group, uint64_t now)
{
	struct gen_grp was = *gr;
	const struct gen_phase *ph = group->phase;
	bool begins = group->epoch != was.group->epoch;
	/* The group has sent all frames that it may. If the new plan allows more, for example by a
	 * new rate, these are due from now on. */
	bool ended = was.i >= was.limit_i;

	gr->group = group;
	gr->arr = gen_arr_of(gen_own(g), gr, group);
	if (gr->arr != NULL && was.arr != NULL)
		*gr->arr = *was.arr;
	if (!begins && was.phase - was.group->phase < group->nphases)
		ph += was.phase - was.group->phase;
	if (ph->frun != was.frun) {
		gen_seek(&was);
		uint64_t pos = frun_move(was.frun, was.state, ph->frun, ph->state);
		if (begins)
			gr->epoch_i = gr->i - pos;
		if (gr->stream < 0)
			gen_fold(g, was.frun, was.i - was.frun_i, 1);
		set_limit(j, gr);
		gen_adopt_enter(j, g, gr, ph);
		if (gr->i - gr->frun_i != pos)
			gen_seek(gr);
		if (gr->stream < 0)
			gen_fold(g, gr->frun, gr->i - gr->frun_i, UINT64_MAX);
	} else {
		if (begins)
			gr->epoch_i = gr->frun_i;
		set_limit(j, gr);
		gen_adopt_enter(j, g, gr, ph);
	}
	if (!gen_same_rate(&was, group)) {
		/* Frames that are due before that time are with the device already. */
		gen_change_rate(j, &was, gr, gen_ahead(j, g, &was, now));
	} else { /* the next frame is due when it was, also if sizes have changed */
		gr->off = 0;
		gr->off = gr->bytes ? was.unit - gen_unit(j, gr, gr->i) : 0;
		gen_set_units(j, gr);
	}
	if (ended && !pace_is_max(&gr->pace) &&
	    (int64_t)(now - pace_due(&gr->pace, gr->unit)) > 0) {
		gr->pace.k0 = gr->unit;
		gr->pace.t0 = now;
		if (gr->arr != NULL) {
			gen_anchor(j, gr, now, gr->unit, j->queue + gr->i * j->nqueues);
			gen_place(j, gr);
		}
	}
}

/* Points to the parts of the new plan's memory, and sets what follows from the job alone. */
static void lay_out(const struct gen_job *j, struct gen_own *o)
{
	o->ngroups = j->ngroups;
	o->nlive = 0;
	o->nruns = o->run_at = 0;
	o->live = (struct gen_live *)(void *)((char *)j->mem + GEN_LIVE_OFF);
	o->run = (struct gen_run *)(void *)((char *)j->mem + GEN_LIVE_BYTES(j->ngroups));
	o->more = (struct gen_grp *)(void *)((char *)o->run + GEN_RUN_BYTES);
	o->arr = (struct gen_arr *)(void *)(o->more + (j->ngroups > 1 ? j->ngroups - 1 : 0));
	o->detour = j->ngroups != 1 || j->catchup == GEN_SKIP || j->stamp != NULL;
	o->behind_cycles = j->catchup == GEN_OVERSPEED && j->lag_cycles < INT64_MAX ? j->lag_cycles
										    : INT64_MAX;
	o->chased = false;
	o->one_mark = one_mark(j);
	o->rest.on = false;
}

/* All groups stand at their next frame: puts those that have one into the heap. */
static void line_up(const struct gen_job *j, struct gen_state *g, uint64_t now)
{
	struct gen_own *o = gen_own(g);

	for (unsigned n = 0; n < o->ngroups; n++) {
		struct gen_grp *gr = gen_grp(o, n);
		if (gr->i >= gr->end_i && gr->i < gr->limit_i)
			next_phase(j, g, gr);
		if (gr->i < gr->end_i)
			o->live[o->nlive++] = (struct gen_live){.due = gen_due(gr, now), .grp = n};
	}
	for (unsigned at = o->nlive / 4 + 1; at-- > 0;)
		if (at < o->nlive)
			gen_sift(o, at, o->live[at]);
	gen_set_state(g, GEN_SENDING);
}

/* Begins a run. */
static void gen_adopt_begin(const struct gen_job *j, struct gen_state *g, uint64_t now)
{
	struct gen_own *o = gen_own(g);

	lay_out(j, o);
	o->gone_i = 0;
	o->over_tsc = j->end_tsc;
	o->over_cycles = 0;
	for (unsigned n = 0; n < j->ngroups; n++)
		start_group(j, g, gen_grp(o, n), &j->group[n], j->start_tsc);
	if (j->ngroups > 0 && j->group[0].stream < 0)
		gen_publish(g, o->first.frun, 0);
	cell_set(&g->base_packets, cell_get(&j->txq->cnt.packets));
	cell_set(&g->sent, 0);
	cell_set(&g->start_tsc, j->start_tsc);
	cell_set(&g->last_tsc, j->start_tsc);
	cell_set(&j->txq->first_tsc, 0);
	line_up(j, g, (int64_t)(now - j->start_tsc) > 0 ? now : j->start_tsc);
	/* Last: whoever sees the new number must not see the state of the run before. */
	__atomic_store_n(&g->run, j->run, __ATOMIC_RELEASE);
}

/* Returns the group with that stream (-1: the schedule). NULL: the old plan has no such group. */
static const struct gen_grp *find_group(struct gen_own *o, int32_t stream)
{
	unsigned lo = 0, hi = o->ngroups;

	while (lo < hi) {
		unsigned mid = (lo + hi) / 2;
		if (gen_grp(o, mid)->stream < stream)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < o->ngroups && gen_grp(o, lo)->stream == stream ? gen_grp(o, lo) : NULL;
}

/* Lets a stream of gr go on where it stands in the group `from`, which may be NULL. */
static void take_stream(const struct gen_grp *from, struct gen_grp *gr, uint32_t id)
{
	if (from == NULL)
		return;
	gen_seek(from);
	frun_take(from->frun, from->state, gr->frun, gr->state, id);
}

/* A stream that gets a rate of its own or loses it moves between groups: it goes on in gr where it
 * stands in the group that it leaves. */
static void take_over(struct gen_own *old, struct gen_grp *gr)
{
	if (gr->stream >= 0) {
		take_stream(find_group(old, -1), gr, (uint32_t)gr->stream);
		return;
	}
	/* The old plan had no stream with a rate of its own. */
	if (old->ngroups == 0 || gen_grp(old, old->ngroups - 1u)->stream < 0)
		return;
	for (unsigned s = 0; s < frun_nstreams(gr->frun); s++) {
		uint32_t id = frun_stream_id(gr->frun, s);
		take_stream(find_group(old, (int32_t)id), gr, id);
	}
}

/* Groups that the old plan and the new one have go on; the others start or end here. Both plans
 * have them in the same order. */
static void gen_adopt_regroup(const struct gen_job *j, struct gen_state *g, uint64_t now)
{
	struct gen_own *o = gen_own(g), old = *o;
	uint64_t ahead = j->stamp != NULL ? gen_ahead_stamped(j, g, now) : now;
	unsigned was = 0;

	lay_out(j, o);
	for (unsigned n = 0; n <= j->ngroups; n++) {
		const struct gen_group *group = n < j->ngroups ? &j->group[n] : NULL;
		for (; was < old.ngroups &&
		       (group == NULL || gen_grp(&old, was)->stream < group->stream);
		     was++)
			if (gen_grp(&old, was)->stream < 0) {
				gen_fold(g, gen_grp(&old, was)->frun,
					 gen_grp(&old, was)->i - gen_grp(&old, was)->frun_i, 1);
				o->gone_i = gen_grp(&old, was)->i;
			}
		if (group == NULL)
			break;
		struct gen_grp *gr = gen_grp(o, n);
		if (was < old.ngroups && gen_grp(&old, was)->stream == group->stream) {
			*gr = *gen_grp(&old, was);
			lead_over(j, g, gr, group, now);
			const struct gen_grp *from = gen_grp(&old, was++);
			if (gr->frun != from->frun)
				take_over(&old, gr);
		} else {
			start_group(j, g, gr, group,
				    (int64_t)(ahead - j->start_tsc) > 0 ? ahead : j->start_tsc);
			take_over(&old, gr);
		}
	}
	if (j->ngroups > 0 && j->group[0].stream < 0)
		gen_publish(g, o->first.frun, o->first.i - o->first.frun_i);
	else
		gen_publish(g, NULL, 0);
}

/* Takes over a new plan for the run that is going on. */
static void gen_adopt_follow(const struct gen_job *j, struct gen_state *g, uint64_t now)
{
	gen_chase_end(gen_own(g));
	gen_rewind(j, g);
	gen_unsettle(g);
	gen_adopt_regroup(j, g, now);
	gen_settle(g);
	line_up(j, g, now);
}

/* Returns whether the time of the run and its grace are over. rest.on alone does not say so: a plan
 * that came since has made it false, and there may have been no turn to set it again. */
static bool is_over(const struct gen_job *j, const struct gen_own *o, uint64_t now)
{
	return o->rest.on || (now >= j->end_tsc && o->over_cycles >= j->grace_cycles);
}

void gen_adopt(struct dp_worker *w, const struct dp_task *t, const void *old, uint64_t now)
{
	const struct gen_job *j = t->job;
	struct gen_state *g = (struct gen_state *)t->state;
	struct dp_txq *q = j->txq;
	bool written = j->rx_written || q->edits != DP_EDITS_NOTHING;

	(void)old;
	/* While buffers could be written to, the same buffer may have been filled and taken off
	 * `stale` more than once. The image 0 makes the count start anew. */
	if (q->written && !written)
		q->image = 0;
	q->written = written;
	q->cache = rte_mempool_default_cache(q->pool, rte_lcore_id());
	if (j->run == 0)
		return;
	if (j->run != cell_get(&g->run)) {
		gen_drop_tail(j, g);
		gen_fold_all(g);
		gen_adopt_begin(j, g, now);
	} else if (!gen_is_on(g)) {
		return; /* this queue has sent all its frames */
	} else if (j->stop && is_over(j, gen_own(g), now)) { /* what is left is counted first */
		gen_adopt_follow(j, g, now);
		gen_rest_begin(gen_own(g));
		return;
	} else if (!j->stop) {
		gen_adopt_follow(j, g, now);
	}
	if (j->stop) { /* also if this is the first plan with that run */
		gen_drop_tail(j, g);
		gen_finish(w, j, g);
	}
}
