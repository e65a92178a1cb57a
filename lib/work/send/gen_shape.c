/* SPDX-License-Identifier: BSD-3-Clause */
/* The kind "gen" where deadlines are not simply one period after the other, and where frames are
 * late: how groups catch up, and how frames are given up or counted. */
#include "gen_own.h"

/* ---- deadlines ---- */

/* Returns the gap before own frame i of Poisson arrivals; 1 is the mean gap of all queues. */
static pace_pos gap_before(const struct gen_job *j, const struct gen_arr *a, uint64_t i)
{
	return ((pace_pos)pace_poisson_gap(a->seed, i) << 32) * j->nqueues;
}

/* Makes a->x the sum of the gaps before own frame i. */
static void seek_poisson(const struct gen_job *j, struct gen_arr *a, uint64_t i)
{
	for (; a->x_i < i; a->x_i++)
		a->x += gap_before(j, a, a->x_i + 1);
	for (; a->x_i > i; a->x_i--)
		a->x -= gap_before(j, a, a->x_i);
}

/* Returns the units before the burst in which own frame i lies. The frame has u units before it and
 * is number `behind` of its burst. If bytes are counted and the burst began in an earlier phase,
 * the begin of this phase is taken instead. */
static uint64_t burst_begin(const struct gen_job *j, const struct gen_grp *gr, uint64_t i,
			    uint64_t u, uint64_t behind)
{
	if (!gr->bytes)
		return u - behind;
	uint64_t k = gen_phase_k(j, gr, i),
		 bytes = gen_phase_bytes(gr, k) - gen_phase_bytes(gr, behind < k ? k - behind : 0);
	return bytes < u ? u - bytes : 0;
}

/* Returns the deadline of own frame i of a group with a shape. */
static uint64_t shape_due(const struct gen_job *j, const struct gen_grp *gr, uint64_t i)
{
	const struct pace_shape *s = gr->group->shape;
	struct gen_arr *a = gr->arr;
	uint64_t number = j->queue + i * j->nqueues, u;
	struct pace_at at = {.k = number - a->k0, .slot = 1};

	if (s->kind == ARRIVAL_POISSON) {
		seek_poisson(j, a, i);
		at.x = a->x;
		return a->t0 + pace_shape_due(s, &at, number);
	}
	u = gen_unit(j, gr, i) - a->unit0;
	at.x = PACE_POS(u);
	if (s->kind == ARRIVAL_BURST && !s->gap)
		at.begin = burst_begin(j, gr, i, u, at.k % s->burst);
	if (s->kind == ARRIVAL_JITTER && gr->bytes) {
		uint64_t k = gen_phase_k(j, gr, i);
		at.slot = gen_phase_bytes(gr, k + 1) - gen_phase_bytes(gr, k);
	}
	return a->t0 + pace_shape_due(s, &at, number);
}

/* Returns the deadline of a frame by the rate that is asked for, in a group without a shape that
 * chases: its pace is faster. */
static __rte_noinline uint64_t due_as_asked(const struct gen_job *j, const struct gen_grp *gr,
					    uint64_t unit)
{
	const struct gen_arr *a = gen_arr_at(j, gr);
	const struct pace asked = {.period = gr->group->period, .t0 = a->t0, .k0 = a->unit0};

	return pace_due(&asked, unit);
}

uint64_t gen_due_at(const struct gen_job *j, const struct gen_grp *gr, uint64_t i)
{
	if (gr->arr != NULL)
		return shape_due(j, gr, i);
	uint64_t unit = gen_unit(j, gr, i);
	return likely(!gr->chases) ? pace_due(&gr->pace, unit) : due_as_asked(j, gr, unit);
}

static bool is_before(const struct gen_job *j, const struct gen_grp *gr, uint64_t i, uint64_t tsc)
{
	return (int64_t)(tsc - gen_due_at(j, gr, i)) > 0;
}

uint64_t gen_due_before(const struct gen_job *j, const struct gen_grp *gr, uint64_t i,
			uint64_t most, uint64_t tsc)
{
	uint64_t lo = 0, hi = 1;

	/* Deadlines of Poisson arrivals are sums, so frames are looked at one after the other. */
	if (gr->arr != NULL && gr->group->shape->kind == ARRIVAL_POISSON) {
		while (lo < most && is_before(j, gr, i + lo, tsc))
			lo++;
		return lo;
	}
	/* At least lo frames are due before tsc, and at most hi when the loop has ended. */
	for (; hi < most && hi >> 40 == 0 && is_before(j, gr, i + hi - 1, tsc); hi *= 2)
		lo = hi;
	hi = hi < most ? hi : most;
	while (lo < hi) {
		uint64_t mid = (lo + hi + 1) / 2;
		if (is_before(j, gr, i + mid - 1, tsc))
			lo = mid;
		else
			hi = mid - 1;
	}
	return lo;
}

/* ---- what leaves when ---- */

__rte_noinline bool gen_over(const struct gen_job *j, const struct gen_grp *gr)
{
	return gen_deadline(j, gr) >= j->end_tsc;
}

/* Returns when a frame that is due at `due` may leave: at its deadline, or, while the group catches
 * up, as soon as the bounded speed allows. */
static uint64_t gen_shape_leaves(const struct gen_job *j, const struct gen_arr *a, uint64_t due)
{
	uint64_t since = due - a->chase_due,
		 at = a->chase_tsc + (uint64_t)((pace_pos)since * j->slower >> 64);

	return a->chasing && (int64_t)since >= 0 && (int64_t)(at - due) > 0 ? at : due;
}

void gen_place(const struct gen_job *j, struct gen_grp *gr)
{
	struct gen_arr *a = gr->arr;

	gr->unit = gen_unit(j, gr, gr->i);
	if (a == NULL)
		return;
	a->due = shape_due(j, gr, gr->i);
	gr->pace.k0 = gr->unit;
	gr->pace.t0 = gen_shape_leaves(j, a, a->due);
	a->chasing &= gr->pace.t0 != a->due;
}

void gen_anchor(const struct gen_job *j, struct gen_grp *gr, uint64_t t0, uint64_t unit0,
		uint64_t k0)
{
	*gr->arr = (struct gen_arr){.t0 = t0,
				    .unit0 = unit0,
				    .k0 = k0,
				    .x_i = gr->i,
				    .seed = pace_queue_seed(gr->group->shape->seed, j->queue)};
	if (gr->group->shape->kind == ARRIVAL_POISSON)
		gr->arr->x = gap_before(j, gr->arr, gr->i);
}

/* Returns whether own frame i of a group with a shape may leave now. */
static bool may_leave(const struct gen_job *j, const struct gen_grp *gr, uint64_t i, uint64_t now)
{
	uint64_t due = shape_due(j, gr, i);

	return due < j->end_tsc && (int64_t)(now - gen_shape_leaves(j, gr->arr, due)) >= 0;
}

/* ---- catching up after a stall, without a shape ---- */

/* Gives the group the pace back that is asked for. */
static void end_chase(struct gen_grp *gr, const struct gen_arr *a)
{
	gr->pace = (struct pace){.period = gr->group->period, .t0 = a->t0, .k0 = a->unit0};
	gr->chases = false;
}

/* Returns how many frames the group's present pace lets leave at `at`, at most `most`. */
static unsigned ready_at(const struct gen_job *j, const struct gen_grp *gr, unsigned most,
			 uint64_t at)
{
	return gr->step != 0 ? pace_ready(&gr->pace, gr->unit, gr->step, most, gen_until(j, gr, at))
			     : gen_ready_mixed(j, gr, most, at);
}

/* While it chases, the group has a faster pace. A frame leaves when both paces allow it, so none
 * leaves before its deadline. When the faster pace has reached the other one the chase is over. */
__rte_noinline unsigned gen_chase(const struct gen_job *j, struct gen_state *g, struct gen_grp *gr,
				  unsigned n, uint64_t at)
{
	struct gen_arr *a = gr->arr == NULL ? &gen_own(g)->arr[gr->group - j->group] : NULL;

	if (a == NULL)
		return n;
	if (!gr->chases) {
		*a = (struct gen_arr){.t0 = gr->pace.t0, .unit0 = gr->pace.k0};
		gr->pace.period = pace_share(&gr->pace.period, j->slower);
		gr->chases = true;
		gr->simple = false;
	}
	/* After a stall, the first one or another. What is within the lag leaves at once. */
	if (at - pace_due(&gr->pace, gr->unit) > j->lag_cycles) {
		gr->pace.t0 = at - j->lag_cycles;
		gr->pace.k0 = gr->unit;
		n = ready_at(j, gr, n, at);
	}
	struct pace fast = gr->pace;
	end_chase(gr, a);
	n = ready_at(j, gr, n, at);
	if (n == 0 || (int64_t)(pace_due(&gr->pace, gr->unit) - pace_due(&fast, gr->unit)) >= 0) {
		gr->simple = gen_is_simple(j, gr);
		return n;
	}
	gr->pace = fast;
	gr->chases = true;
	return n;
}

void gen_chase_end(struct gen_own *o)
{
	for (unsigned n = 0; n < o->ngroups; n++)
		if (gen_grp(o, n)->chases)
			end_chase(gen_grp(o, n), &o->arr[n]);
}

__rte_noinline unsigned gen_ready_shaped(const struct gen_job *j, const struct gen_grp *gr,
					 unsigned most, uint64_t now)
{
	const struct pace_shape *s = gr->group->shape;
	struct gen_arr *a = gr->arr;
	uint64_t lag = now - gr->pace.t0;
	unsigned n = 1, hi = most;

	if (most == 0 || a->due >= j->end_tsc || (int64_t)lag < 0)
		return 0;
	if (j->catchup == GEN_OVERSPEED && lag > j->lag_cycles) {
		a->chasing = true;
		a->chase_tsc = now - j->lag_cycles;
		a->chase_due = a->due;
	}
	if (s->slow > PACE_FAR / j->nqueues)
		return 1;
	if (s->kind == ARRIVAL_POISSON) {
		while (n < most && may_leave(j, gr, gr->i + n, now))
			n++;
		return n;
	}
	for (unsigned mid = most; n < hi; mid = (n + hi + 1) / 2) {
		if (may_leave(j, gr, gr->i + mid - 1, now))
			n = mid;
		else
			hi = mid - 1;
	}
	return n;
}

/* ---- late ---- */

/* Bounds for giving up frames, for the sake of the worker's other queues. */
#define GIVE_TIMES 64 /* in one turn: how often frames of a group are given up */
#define GIVE_MOST 512 /* in one turn: frames of Poisson arrivals, some tens of nanoseconds each */
/* After so many turns in a row that only gave up Poisson frames, frames are sent: else none would
 * leave where there is only time for giving up. */
#define GIVE_TURNS 32

/* The schedule's next n frames count as through, but are not sent: takes them off their streams'
 * cells. */
static void take_off(struct gen_state *g, const struct gen_grp *gr, uint64_t n)
{
	uint64_t at = gr->i - gr->frun_i;

	gen_unsettle(g);
	cell_add(&g->accepted, n);
	if (n < frun_nstreams(gr->frun) / 4) { /* few frames of many streams: one by one */
		for (uint64_t i = at; i < at + n; i++) {
			uint64_t bytes = frun_bytes(gr->frun, i, 1);
			struct cnt_stream *c =
				&g->cell[frun_stream_id(gr->frun, frun_stream_at(gr->frun, i))];
			cell_add(&c->packets, UINT64_MAX);
			cell_add(&c->bytes, -bytes);
			cell_add(&g->sizes.n[cnt_size_class(bytes)], UINT64_MAX);
		}
	} else {
		gen_fold(g, gr->frun, at + n, UINT64_MAX);
		gen_fold(g, gr->frun, at, 1);
	}
	gen_settle(g);
}

/* Gives up the group's next n frames. */
static void gen_shape_give(const struct gen_job *j, struct gen_state *g, struct gen_grp *gr,
			   uint64_t n)
{
	if (gr->stream < 0)
		take_off(g, gr, n);
	cell_add(&j->txq->cnt.unsent, n);
	gr->i += n;
	gen_seek(gr);
	gen_place(j, gr);
}

bool gen_give_late(struct dp_worker *w, const struct gen_job *j, struct gen_state *g, uint64_t now)
{
	struct gen_own *o = gen_own(g);
	uint64_t walk = GIVE_MOST;

	for (unsigned times = 0; times < GIVE_TIMES && o->nlive > 0 && gen_is_on(g); times++) {
		struct gen_grp *gr = gen_top(o);
		uint64_t limit = now - j->lag_cycles, most = gr->end_i - gr->i;

		if (gr->arr == NULL || (int64_t)(limit - gr->arr->due) <= 0)
			break;
		limit = (int64_t)(limit - j->end_tsc) > 0 && j->end_tsc != UINT64_MAX ? j->end_tsc
										      : limit;
		bool walked = gr->group->shape->kind == ARRIVAL_POISSON;
		uint64_t n =
			gen_due_before(j, gr, gr->i, walked && most > walk ? walk : most, limit);
		if (n == 0)
			break;
		gen_shape_give(j, g, gr, n);
		gen_arrive(w, j, g, now);
		walk -= walked ? n : 0;
		if (walk == 0 && ++o->gave < GIVE_TURNS)
			return true;
		if (walk == 0)
			break;
	}
	o->gave = 0;
	return false;
}

__rte_noinline void gen_count_late(const struct gen_job *j, const struct gen_grp *gr, uint64_t i,
				   uint64_t n, uint64_t now)
{
	uint64_t before = now - j->late_cycles;

	/* Where a port cannot send as fast as is asked for, all frames are late: no search then. */
	cell_add(&j->txq->cnt.late,
		 is_before(j, gr, i + n - 1, before) ? n : gen_due_before(j, gr, i, n, before));
}
