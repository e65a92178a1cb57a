/* SPDX-License-Identifier: BSD-3-Clause */
/* The kind "gen": the rate of a group, and what happens when it changes. */
#include "gen_own.h"

struct gen_arr *gen_arr_of(struct gen_own *o, const struct gen_grp *gr,
			   const struct gen_group *group)
{
	bool max = (group->period.cycles | group->period.frac) == 0;

	return group->shape == NULL || max ? NULL : &o->arr[gr == &o->first ? 0 : gr - o->more + 1];
}

void gen_set_units(const struct gen_job *j, struct gen_grp *gr)
{
	if (gr->arr != NULL)
		gr->step = 0;
	else if (!gr->bytes)
		gr->step = j->nqueues;
	else
		gr->step = gr->port_len != 0 ? gen_phase_bytes(gr, j->nqueues) : 0;
	gen_place(j, gr);
}

bool gen_same_rate(const struct gen_grp *gr, const struct gen_group *group)
{
	bool bytes = group->by_bytes && (group->period.cycles | group->period.frac) != 0;
	const struct pace_shape *was = gr->group->shape, *now = group->shape;

	return gr->pace.period.cycles == group->period.cycles &&
	       gr->pace.period.frac == group->period.frac && gr->bytes == bytes &&
	       (!bytes || gr->l2 == group->l2) &&
	       (was == NULL || now == NULL ? was == now : memcmp(was, now, sizeof(*now)) == 0);
}

void gen_set_rate(struct gen_grp *gr, const struct gen_group *group)
{
	gr->pace.period = group->period;
	gr->bytes = group->by_bytes && !pace_is_max(&gr->pace);
	gr->l2 = group->l2;
}

/* Returns the time of 512 frames, for the ratio of two rates. If sizes differ, one frame is not
 * enough for that. */
static struct pace_period mean_period(const struct gen_grp *gr)
{
	return pace_times(&gr->pace.period, gr->bytes ? gen_phase_bytes(gr, 512) : 512);
}

/* Poisson arrivals are counted one by one, some nanoseconds each, but not more than these. */
#define WALK_MOST 16384

/* The new rate counts from `from` on. Frames that were due before by the old rate and have not left
 * are given up and count as unsent. If the group has a limit none is given up: they only leave
 * later. With Poisson arrivals that are very far behind, the number is an estimate: what the rate
 * makes in that time. */
static void drop_lag(const struct gen_job *j, const struct gen_grp *was, uint64_t from)
{
	uint64_t most = was->limit_i - was->i, n;

	/* No frame is due after the end of the run. */
	from = (int64_t)(from - j->end_tsc) > 0 && j->end_tsc != UINT64_MAX ? j->end_tsc : from;
	if (was->limit_i != UINT64_MAX || pace_is_max(&was->pace))
		return;
	bool walked = was->arr != NULL && was->group->shape->kind == ARRIVAL_POISSON;
	n = gen_due_before(j, was, was->i, walked && most > WALK_MOST ? WALK_MOST : most, from);
	if (walked && n == WALK_MOST) {
		struct pace_period p = pace_times(&was->pace.period, j->nqueues);
		int64_t more = (int64_t)(from - gen_due_at(j, was, was->i + n));
		n += more > 0 ? (uint64_t)((double)more /
					   ((double)p.cycles + (double)p.frac * 0x1p-64))
			      : 0;
	}
	cell_add(&j->txq->cnt.unsent, n);
}

/* The rate changes, and the arrivals are a pattern before or after that: a new pattern begins. Its
 * first frame waits as long as it would have by the old rate, but not longer than a slot of the new
 * rate. Gaps of Poisson arrivals do not depend on what was before, so they begin at once. */
static void change_shape(const struct gen_job *j, const struct gen_grp *was, struct gen_grp *gr,
			 uint64_t from)
{
	uint64_t k = j->queue + gr->i * j->nqueues, due = pace_due(&was->pace, was->unit);
	struct pace_period slots = mean_period(gr);
	uint64_t most = slots.cycles / 512 * (j->queue + 1ull);

	if ((int64_t)(due - from) > 0) {
		due = due - from < most ? due : from + most;
	} else if (from - due > j->forgive_cycles ||
		   (gr->arr != NULL && gr->group->shape->kind == ARRIVAL_POISSON)) {
		drop_lag(j, was, from);
		due = from;
	}
	if (gr->arr == NULL) {
		gr->pace.k0 = gr->unit;
		gr->pace.t0 = due;
		return;
	}
	gen_anchor(j, gr, gr->group->shape->kind == ARRIVAL_POISSON ? from : due, gr->unit, k);
	gen_place(j, gr);
}

/* Returns whether deadlines are other than one period after the other. */
static bool gen_rate_patterned(const struct gen_grp *gr)
{
	return gr->arr != NULL && (gr->group->shape->kind != ARRIVAL_CONSTANT ||
				   gr->group->shape->trend != TREND_STEADY);
}

/* What is left of the wait for the next frame is scaled by the ratio of the rates. So the rate
 * changes at this moment without a gap or a frame too many, and queues keep their order. Frames
 * that are due already stay due, unless the lag is longer than forgive_cycles: then it is dropped
 * (drop_lag()) and not carried into the new rate. */
void gen_change_rate(const struct gen_job *j, const struct gen_grp *was, struct gen_grp *gr,
		     uint64_t now)
{
	uint64_t from = (int64_t)(now - j->start_tsc) > 0 ? now : j->start_tsc;

	gen_set_rate(gr, gr->group);
	gr->off = 0;
	/* Its pattern begins below; the gaps before, maybe very many, are not added up. */
	if (gr->arr != NULL)
		gr->arr->x_i = gr->i;
	gen_set_units(j, gr);
	if (pace_is_max(&gr->pace))
		return;
	if (pace_is_max(&was->pace)) { /* queues had no pace; they take turns from here on */
		uint64_t before = j->queue;
		if (gr->bytes) {
			uint64_t k = gen_phase_k(j, gr, gr->i);
			before = gen_phase_bytes(gr, k) -
				 gen_phase_bytes(gr, k > j->queue ? k - j->queue : 0);
		}
		gr->pace.k0 = gr->unit - before;
		gr->pace.t0 = from;
		if (gr->arr != NULL) {
			gen_anchor(j, gr, from, gr->unit - before, gr->i * j->nqueues);
			gen_place(j, gr);
		}
		return;
	}
	if (gen_rate_patterned(was) || gen_rate_patterned(gr)) {
		change_shape(j, was, gr, from);
		return;
	}
	uint64_t due = pace_due(&was->pace, was->unit);
	int64_t wait = (int64_t)(due - from);
	if (wait > 0) {
		struct pace_period a = mean_period(was), b = mean_period(gr);
		bool alike = was->bytes == gr->bytes && was->l2 == gr->l2;
		due = from + pace_scale((uint64_t)wait, alike ? &was->pace.period : &a,
					alike ? &gr->pace.period : &b);
	} else if (-wait > (int64_t)j->forgive_cycles) {
		drop_lag(j, was, from);
		due = from;
	}
	gr->pace.k0 = gr->unit;
	gr->pace.t0 = due;
	if (gr->arr != NULL) {
		gen_anchor(j, gr, due, gr->unit, j->queue + gr->i * j->nqueues);
		gen_place(j, gr);
	}
}
