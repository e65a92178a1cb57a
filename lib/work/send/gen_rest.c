/* SPDX-License-Identifier: BSD-3-Clause */
/* The kind "gen" at the end of a run that has not sent everything: the frames that were due are
 * counted as unsent. This takes several turns, because the deadlines of Poisson arrivals are sums,
 * and each gap must be added. The number is published when all of it is known. If a plan comes
 * before that, counting begins anew, and a stop waits until it is done. */
#include "gen_own.h"

/* Poisson frames that are counted in one turn, each of which takes some tens of nanoseconds. It is
 * bounded for the sake of the worker's other queues. */
#define TURN_MOST 512
#define SEARCH 32 /* other arrivals are searched: a phase counts as so many frames */

/* Returns whether the group's frames must be counted one by one. */
static bool is_walked(const struct gen_grp *gr)
{
	return gr->arr != NULL && gr->group->shape->kind == ARRIVAL_POISSON;
}

/* Moves gr, a copy of a group, to own frame i, as far as deadlines are concerned. */
static void stand_at(const struct gen_job *j, struct gen_grp *gr, uint64_t i)
{
	const struct gen_phase *last = gr->group->phase + gr->group->nphases - 1, *ph = gr->phase;

	while (ph < last && gr->epoch_i + gen_own_before(j, ph->end) <= i) {
		gr->off += gr->bytes ? gen_phase_bytes(gr, ph->end - ph->k0) : 0;
		gr->phase = ++ph;
		gr->frun = ph->frun;
		gr->port_len = (uint16_t)frun_port_len(ph->frun);
		gr->frun_i = gr->epoch_i + gen_own_before(j, ph->k0);
	}
	gr->i = i;
	gr->end_i = ph->end == UINT64_MAX ? UINT64_MAX : gr->epoch_i + gen_own_before(j, ph->end);
	gr->end_i = gr->end_i < gr->limit_i ? gr->end_i : gr->limit_i;
}

/* Returns how many of the next `most` frames of gr, all of its phase, are due before the end of the
 * run. A group without pace has no frames that are due. */
static uint64_t gen_rest_left(const struct gen_job *j, struct gen_rest *r, struct gen_grp *gr,
			      uint64_t most)
{
	if (pace_is_max(&gr->pace))
		return 0;
	if (gr->arr != NULL) { /* the copy gets a gen_arr of its own */
		if (r->done == 0)
			r->arr = *gr->arr;
		gr->arr = &r->arr;
	}
	return gen_due_before(j, gr, gr->i, most, j->end_tsc);
}

void gen_rest_begin(struct gen_own *o)
{
	o->rest = (struct gen_rest){.on = true};
	o->detour = true;
}

__rte_noinline void gen_rest_turn(struct dp_worker *w, const struct gen_job *j, struct gen_state *g)
{
	struct gen_own *o = gen_own(g);
	struct gen_rest *r = &o->rest;

	for (uint64_t spent = 0; r->grp < o->ngroups;) {
		struct gen_grp gr = *gen_grp(o, r->grp);
		if (spent >= TURN_MOST)
			return;
		stand_at(j, &gr, gr.i + r->done);
		uint64_t phase = gr.end_i - gr.i, part = is_walked(&gr) && phase > TURN_MOST - spent
								 ? TURN_MOST - spent
								 : phase;
		uint64_t n = gen_rest_left(j, r, &gr, part);
		spent += is_walked(&gr) ? n + 1 : SEARCH;
		r->sum += n;
		r->done += n;
		if (n > 0 && n == part && gr.i + n < gr.limit_i) /* more may be due */
			continue;
		r->grp++;
		r->done = 0;
	}
	r->on = false;
	cell_add(&j->txq->cnt.unsent, r->sum);
	gen_finish(w, j, g);
}

/* Returns how many frames of the tail have no deadline. */
static unsigned max_in_tail(const struct gen_job *j, struct gen_own *o)
{
	unsigned n = 0;

	if (o->ngroups == 1)
		return pace_is_max(&o->first.pace) && txq_has_tail(j->txq)
			       ? (unsigned)(j->txq->n - j->txq->head)
			       : 0;
	for (unsigned at = o->run_at; txq_has_tail(j->txq) && at < o->nruns; at++)
		if (pace_is_max(&gen_grp(o, o->run[at].grp)->pace))
			n += o->run[at].n - o->run[at].done;
	return n;
}

__rte_noinline bool gen_overtime(struct dp_worker *w, const struct gen_job *j, struct gen_state *g,
				 uint64_t now)
{
	struct gen_own *o = gen_own(g);
	uint64_t step = now - o->over_tsc, most = j->grace_cycles / 4;

	if (now < j->end_tsc)
		return false;
	o->over_tsc = now;
	o->over_cycles += step < most ? step : most; /* longer than that: the worker stood still */
	if (o->over_cycles < j->grace_cycles)
		return false;
	cell_add(&j->txq->cnt.dropped, max_in_tail(j, o));
	gen_rewind(j, g);
	gen_rest_begin(o);
	gen_rest_turn(w, j, g);
	return true;
}

__rte_noinline void gen_run_out(struct dp_worker *w, const struct gen_job *j, struct gen_state *g)
{
	struct gen_own *o = gen_own(g);

	if (j->end_tsc == UINT64_MAX) {
		gen_finish(w, j, g);
		return;
	}
	gen_rest_begin(o);
	gen_rest_turn(w, j, g);
}
