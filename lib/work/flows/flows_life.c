/* SPDX-License-Identifier: BSD-3-Clause */
/* The lives of versions and of runs. */
#include "flows_own.h"

/* ---- versions ---- */

/* Which version of a flow the machine is to open by, or to listen to. A server that drains refuses
 * what comes. */
static const struct flows_version *life_wanted(const struct flows_job *j,
					       const struct flows_flow *f)
{
	if (unlikely(j->arm != NULL) && flows_arm_withholds(j, f))
		return NULL;
	return flows_on(f)->stage != FLOWS_IDLE || flows_opens(j, f) ? f->version : NULL;
}

static struct flows_held *life_place(struct flows_own *o)
{
	for (unsigned i = 0; i < o->nheld; i++)
		if (o->held[i].version == NULL)
			return &o->held[i];
	return o->nheld < ARRAY_SIZE(o->held) ? &o->held[o->nheld++] : NULL;
}

/* Gives the machine a version. NULL: it has no number for it now. */
static struct flows_held *life_adopt(struct flows_own *o, const struct flows_job *j,
				     const struct flows_flow *f, const struct flows_version *v)
{
	struct flows_held *h = life_place(o);
	int number;

	if (h == NULL)
		return NULL;
	h->spec = v->spec[j->queue];
	h->spec.wl->draining = flows_on(f)->stage != FLOWS_RUNNING;
	number = flow_adopt(j->machine, &h->spec);
	if (number < 0)
		return NULL;
	*h = (struct flows_held){.version = v, .of = f->state, .spec = h->spec, .number = number};
	cell_add(&v->handed[j->queue].given, 1);
	return h;
}

static bool life_is_current(const struct flows_job *j, const struct flows_held *h)
{
	for (unsigned i = 0; i < j->nflows; i++)
		if (flows_on(&j->flow[i])->held == h)
			return true;
	return false;
}

/* The new one comes before the old one goes, so that a server listens all the time. If the machine
 * has no number left, the old one stays until another's last connection has gone. */
void flows_versions(struct flows_own *o, const struct flows_job *j)
{
	o->waits = false;
	for (unsigned i = 0; i < j->nflows; i++) {
		const struct flows_flow *f = &j->flow[i];
		const struct flows_version *v = life_wanted(j, f);
		struct flows_on *on = flows_on(f);
		struct flows_held *h = NULL;
		bool waits = false;

		if (v != NULL && (on->held == NULL || on->held->version != v)) {
			h = life_adopt(o, j, f, v);
			waits = h == NULL;
		}
		if (v == NULL || h != NULL)
			on->held = h;
		cell_set(&f->state->waits, waits);
		o->waits |= waits;
	}
	for (unsigned i = 0; i < o->nheld; i++) {
		struct flows_held *h = &o->held[i];

		if (h->version == NULL || h->retired || life_is_current(j, h))
			continue;
		flow_retire(j->machine, h->number);
		h->retired = true;
		o->nretired++;
		if (flows_on_of(h->of)->held == h) /* of a flow that the plan has no more */
			flows_on_of(h->of)->held = NULL;
	}
}

void flows_versions_gone(struct flows_own *o, const struct flows_job *j)
{
	const struct flow_spec *spec;

	while (o->nretired > 0 && (spec = flow_released(j->machine)) != NULL) {
		struct flows_held *h = RTE_PTR_SUB(spec, offsetof(struct flows_held, spec));
		const struct flows_version *v = h->version;

		h->version = NULL;
		o->nretired--;
		o->again |= o->waits;
		struct flows_handed *handed = &v->handed[j->queue];
		__atomic_store_n(&handed->gone, handed->gone + 1, __ATOMIC_RELEASE);
	}
}

/* ---- runs ---- */

static void life_begin(struct flows_own *o, const struct flows_flow *f)
{
	struct flows_state_of *s = f->state;
	struct flows_on *on = flows_on(f);

	/* Whoever reads the cells of a run looks at `run` before and behind. */
	__atomic_store_n(&s->run, 0, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	for (cell_t *c = &s->due; c <= &s->done_tsc; c++)
		cell_set(c, 0);
	on->given_up = on->given_up_tps = 0;
	on->cps.late_max = on->tps.late_max = 0;
	flows_pace_begin(&on->cps, &f->cps);
	flows_pace_begin(&on->tps, &f->tps);
	for (unsigned i = 0; i < o->nheld; i++) {
		struct flows_held *h = &o->held[i];

		if (h->version == NULL || h->of != s)
			continue;
		h->told = FLOWS_TOLD_NOTHING;
		if (!h->retired)
			h->spec.wl->draining = false;
	}
	on->stage = FLOWS_RUNNING;
	cell_set(&s->stage, FLOWS_RUNNING);
	__atomic_store_n(&s->run, f->run, __ATOMIC_RELEASE);
}

void flows_run_follow(struct flows_own *o, const struct flows_flow *f)
{
	struct flows_on *on = flows_on(f);

	on->wake = DP_NOW;
	if (f->run == 0) {
		on->stage = FLOWS_IDLE;
	} else if (f->run != cell_get(&f->state->run)) {
		life_begin(o, f);
	} else if (on->stage == FLOWS_RUNNING) {
		on->given_up += flows_pace_follow(&on->cps, &f->cps, f->late_cycles, o->now);
		on->given_up_tps += flows_pace_follow(&on->tps, &f->tps, f->late_cycles, o->now);
	}
}

static void life_set_stage(const struct flows_flow *f, enum flows_stage stage)
{
	flows_on(f)->stage = (uint8_t)stage;
	__atomic_store_n(&f->state->stage, stage, __ATOMIC_RELEASE);
}

static void life_done(struct dp_worker *w, const struct flows_own *o, const struct flows_job *j,
		      const struct flows_flow *f)
{
	cell_set(&f->state->done_tsc, o->now);
	life_set_stage(f, FLOWS_DONE);
	dp_event_post(w, DP_EV_RUN_DONE, j->q->port, j->queue, f->run);
}

/* Whether the time of opens is over. What was due in it may still come for a while. */
bool flows_run_is_over(const struct flows_own *o, const struct flows_job *j,
		       const struct flows_flow *f)
{
	if (f->stop || f->abort)
		return true;
	if (o->now < f->end_tsc)
		return false;
	return o->now - f->end_tsc > f->grace_cycles || !flows_open_left(j, f);
}

static void life_drain(struct flows_own *o, const struct flows_job *j, const struct flows_flow *f)
{
	flows_open_end(j, f, RTE_MIN(o->now, f->end_tsc));
	cell_set(&f->state->drain_tsc, o->now);
	life_set_stage(f, FLOWS_DRAINING);
	for (unsigned i = 0; i < o->nheld; i++)
		if (o->held[i].version != NULL && o->held[i].of == f->state)
			o->held[i].spec.wl->draining = true;
}

/* The machine has room for some sweeps at a time. */
#define LIFE_SWEEPS 8

/* Lets the machine go through the connections of each version of the flow. */
static void life_sweep(struct flows_own *o, const struct flows_job *j, const struct flows_flow *f,
		       enum flows_told what)
{
	bool all = true;

	for (unsigned i = 0; i < o->nheld; i++) {
		struct flows_held *h = &o->held[i];

		if (h->version == NULL || h->of != f->state || h->told >= what)
			continue;
		all = false;
		if (o->sweeps == LIFE_SWEEPS)
			break;
		o->sweeps++;
		h->told = (uint8_t)what;
		if (what == FLOWS_TOLD_ABORT)
			flow_abort(j->machine, h->spec.wl);
		else
			flow_drain(j->machine, h->spec.wl);
	}
	/* Something is still open behind a sweep that ends all: once more. */
	for (unsigned i = 0; all && what == FLOWS_TOLD_ABORT && o->sweeps == 0 && i < o->nheld; i++)
		if (o->held[i].of == f->state)
			o->held[i].told = FLOWS_TOLD_DRAIN;
}

void flows_run_stage(struct dp_worker *w, struct flows_own *o, const struct flows_job *j,
		     const struct flows_flow *f)
{
	struct flows_on *on = flows_on(f);
	uint64_t alive = flows_alive(f), at;

	if (on->stage == FLOWS_RUNNING) {
		bool all = f->tps.off && cell_get(&f->state->done) >= f->opens;

		if (all && alive == 0) {
			flows_open_end(j, f, RTE_MIN(o->now, f->end_tsc));
			life_done(w, o, j, f);
			return;
		}
		if (!flows_run_is_over(o, j, f)) {
			at = o->now < f->end_tsc ? f->end_tsc : f->end_tsc + f->grace_cycles + 1;
			on->wake = RTE_MIN(on->wake, at);
			on->blocked |= all;
			return;
		}
		life_drain(o, j, f);
		on->wake = DP_NEVER;
	}
	if (on->stage != FLOWS_DRAINING)
		return;
	if (alive == 0) {
		life_done(w, o, j, f);
		return;
	}
	at = cell_get(&f->state->drain_tsc) + f->drain_cycles;
	if (f->abort || o->now >= at) {
		life_sweep(o, j, f, FLOWS_TOLD_ABORT);
	} else {
		life_sweep(o, j, f, FLOWS_TOLD_DRAIN);
		on->wake = RTE_MIN(on->wake, at);
	}
	on->blocked = true;
}
