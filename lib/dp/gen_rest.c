/* SPDX-License-Identifier: BSD-3-Clause */
/* Kind "gen" at the end of a run that has not sent everything: what is left is counted, a part in each turn, since the deadlines of random arrivals
 * are sums that must be walked. Until all of it is counted nothing of it is told: a plan that comes meanwhile begins anew, and a stop waits. */
#include "gen_own.h"

/* Of one turn, for the sake of the worker's other queues: frames that are walked through, each some tens of nanoseconds. */
#define TURN_MOST 512
#define SEARCH 32 /* a group that is searched instead counts as so many */

static bool is_walked(const struct gen_grp *gr)
{
	return gr->arr != NULL && gr->group->shape->kind == ARRIVAL_POISSON;
}

/* Frames of the group from own frame i on that are due before the end and were not built, at most so many. */
static uint64_t left(const struct gen_job *j, struct gen_rest *r, const struct gen_grp *gr, uint64_t i, uint64_t most)
{
	struct gen_grp walk = *gr;

	if (pace_is_max(&gr->pace))
		return r->all && gr->limit_i != UINT64_MAX ? most : 0;
	if (!r->all && gr->arr == NULL)
		return 0;
	if (gr->arr != NULL) { /* the group itself stays where it is */
		if (r->done == 0)
			r->arr = *gr->arr;
		walk.arr = &r->arr;
	}
	return gen_due_before(j, &walk, i, most, j->end_tsc);
}

void gen_rest_begin(struct gen_own *o, bool all)
{
	o->rest = (struct gen_rest){.on = true, .all = all};
	o->detour = true;
}

__rte_noinline void gen_rest_turn(struct dp_worker *w, const struct gen_job *j, struct gen_state *g)
{
	struct gen_own *o = gen_own(g);
	struct gen_rest *r = &o->rest;

	for (uint64_t spent = 0; r->grp < o->ngroups;) {
		const struct gen_grp *gr = gen_grp(o, r->grp);
		uint64_t most = gr->limit_i - gr->i - r->done, part = most;
		if (spent >= TURN_MOST)
			return;
		if (is_walked(gr) && part > TURN_MOST - spent)
			part = TURN_MOST - spent;
		uint64_t n = left(j, r, gr, gr->i + r->done, part);
		spent += is_walked(gr) ? n + 1 : SEARCH;
		r->sum += n;
		r->done += n;
		if (n == part && part < most)
			return;
		r->grp++;
		r->done = 0;
	}
	r->on = false;
	cell_add(&j->txq->cnt.unsent, r->sum);
	gen_drop_tail(j, g);
	gen_finish(w, j, g);
}

__rte_noinline void gen_give_up(struct dp_worker *w, const struct gen_job *j, struct gen_state *g, uint64_t now)
{
	if (now < j->end_tsc || now - gen_own(g)->progress_tsc <= j->giveup_cycles)
		return;
	gen_rest_begin(gen_own(g), true);
	gen_rest_turn(w, j, g);
}

__rte_noinline void gen_run_out(struct dp_worker *w, const struct gen_job *j, struct gen_state *g)
{
	struct gen_own *o = gen_own(g);

	if (o->held)
		return;
	if (j->catchup != GEN_OVERSPEED || j->end_tsc == UINT64_MAX) {
		gen_finish(w, j, g);
		return;
	}
	gen_rest_begin(o, false);
	gen_rest_turn(w, j, g);
}
