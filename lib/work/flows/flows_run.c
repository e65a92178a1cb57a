/* SPDX-License-Identifier: BSD-3-Clause */
/* The kind "flows": what a task does in a turn. */
#include "flows_own.h"

size_t flows_mem_size(void)
{
	return RTE_ALIGN_CEIL(sizeof(struct flows_own), CACHE_LINE);
}

struct flow_sink *flows_sink(const struct flows_state *s)
{
	return &flows_own(s)->sink;
}

/* A flow, in the turn in which something of it is due, or may be. */
static void run_visit(struct dp_worker *w, struct flows_own *o, const struct flows_job *j,
		      const struct flows_flow *f)
{
	struct flows_on *on = flows_on(f);

	on->wake = DP_NEVER;
	on->blocked = false;
	if (on->stage == FLOWS_RUNNING && on->held != NULL && flows_opens(j, f) &&
	    !flows_run_is_over(o, j, f)) {
		/* Where the device is slower than the opens, connections would only begin and none
		 * would end. */
		if (unlikely(flows_sink_is_behind(o)))
			on->wake = DP_NOW;
		else if (unlikely(j->arm != NULL) && flows_arm_holds(j, f))
			on->wake = flows_arm_next(o, j);
		else
			flows_open_due(o, j, f);
	}
	flows_run_stage(w, o, j, f);
}

/* Another flow is the first one in each turn, so that none takes all room from the others. */
static void run_flows(struct dp_worker *w, struct flows_own *o, const struct flows_job *j)
{
	if (!flow_sweeping(j->machine))
		o->sweeps = 0;
	for (unsigned i = 0; i < j->nflows; i++) {
		const struct flows_flow *f = &j->flow[(o->turn + i) % j->nflows];
		const struct flows_on *on = flows_on(f);

		if (on->blocked || on->wake <= o->now)
			run_visit(w, o, j, f);
	}
	o->turn++;
}

/* Cells of the machine that are looked at in a turn. */
#define RUN_WALK 1024
/* Adds a connection if it is one of those that this walk looks for. */
static void run_sample(const struct flows_own *o, struct flows_samples *s,
		       const struct flow_info *info)
{
	if (info->state == FLOW_FREE || (info->state == FLOW_TIME_WAIT) != o->sample_rest)
		return;
	for (unsigned k = 0; k < o->nheld; k++)
		if (o->held[k].version != NULL && o->held[k].number == info->version) {
			s->sample[s->n++] =
				(struct flows_sample){.info = *info, .flow = o->held[k].of};
			return;
		}
}

/* Goes on with the walk. Returns whether it has come to an end, or has all that it wants. A second
 * walk looks for those that rest, which tell little. */
static bool run_walk(struct flows_own *o, const struct flows_job *j)
{
	struct flows_samples *s = j->samples;
	uint32_t from = o->sample_at;
	struct flow_info info;

	while (s->n < s->want && o->sample_at - from < RUN_WALK) {
		if (flow_walk(j->machine, &o->sample_at, RUN_WALK, &info)) {
			run_sample(o, s, &info);
			continue;
		}
		if (o->sample_rest)
			return true;
		o->sample_rest = true;
		o->sample_at = from = 0;
	}
	return s->n >= s->want;
}

/* Returns whether somebody still waits for samples. */
static bool run_samples(struct flows_own *o, const struct flows_job *j)
{
	struct flows_samples *s = j->samples;

	if (cell_get(&s->answered) == s->asked)
		return false;
	if (o->sampled != s->asked) {
		o->sampled = s->asked;
		o->sample_at = 0;
		o->sample_rest = false;
		s->n = 0;
		s->at_ns = o->now_ns;
	}
	if (!run_walk(o, j))
		return true;
	__atomic_store_n(&s->answered, s->asked, __ATOMIC_RELEASE);
	return false;
}

/* When the task has something to do, if nothing comes. */
static uint64_t run_next(const struct flows_own *o, const struct flows_job *j)
{
	uint64_t next = DP_NEVER, ns;

	if (unlikely(j->errors != NULL))
		next = o->now + flows_cycles(j, FLOWS_HEAR_NS);
	if (unlikely(j->arm != NULL))
		next = RTE_MIN(next, flows_arm_next(o, j));
	for (unsigned i = 0; i < j->nflows; i++)
		next = RTE_MIN(next, flows_on(&j->flow[i])->wake);
	ns = flow_next_ns(j->machine);
	if (ns == UINT64_MAX || next <= o->now)
		return next;
	if (ns <= o->now_ns)
		return DP_NOW;
	return RTE_MIN(next, o->now + flows_cycles(j, ns - o->now_ns) + 1);
}

static unsigned run_poll(struct dp_worker *w, const struct dp_task *t, uint64_t now)
{
	struct flows_state *s = (struct flows_state *)t->state;
	struct flows_own *o = flows_own(s);
	const struct flows_job *j = t->job;
	bool behind = flows_sink_is_behind(o);
	unsigned polled = 0, moved;

	flows_now(o, j, now);
	o->refused = o->nobuf = o->again = false;
	if (unlikely(j->errors != NULL))
		flows_hear_others(s, j);
	/* As a rule transactions begin before the machine acknowledges what came, so that one frame
	 * does both. What could not be sent before is sent before anything begins. */
	if (unlikely(behind)) {
		o->moved += flows_sink_send(o);
		polled = flow_poll(j->machine, o->now_ns);
	}
	if (unlikely(j->arm != NULL))
		flows_arm_turn(o, j);
	run_flows(w, o, j);
	polled += flow_poll(j->machine, o->now_ns);
	moved = o->moved + flows_sink_send(o);
	o->moved = 0;
	if (o->nretired > 0)
		flows_versions_gone(o, j);
	if (unlikely(o->waits && o->again))
		flows_versions(o, j);
	if (unlikely(j->samples != NULL))
		o->again |= run_samples(o, j);
	/* What has moved may have made room for more, or ended a run. */
	s->base.next = moved > 0 || polled > 0 || o->again || flows_sink_waits(o) ? DP_NOW
										  : run_next(o, j);
	return moved;
}

static void run_adopt(struct dp_worker *w, const struct dp_task *t, const void *old, uint64_t now)
{
	struct flows_state *s = (struct flows_state *)t->state;
	struct flows_own *o = flows_own(s);
	const struct flows_job *j = t->job;

	(void)w, (void)old;
	o->state = s;
	flows_now(o, j, now);
	if (j->hand != NULL)
		flows_hand_begin(j);
	flows_sink_begin(o, j);
	for (unsigned i = 0; i < j->nflows; i++)
		flows_run_follow(o, &j->flow[i]);
	flows_versions(o, j);
	s->base.next = DP_NOW;
}

/* The next task of a flow may have another machine. */
static void run_drop(struct dp_worker *w, const struct dp_task *t, uint64_t now)
{
	struct flows_own *o = flows_own((struct flows_state *)t->state);

	const struct flows_job *j = t->job;
	bool alive = false;

	(void)w;
	for (unsigned i = 0; i < o->nheld; i++)
		alive |= o->held[i].version != NULL &&
			 o->held[i].of->counts.opening + o->held[i].of->counts.open > 0;
	/* A run ends with nothing open, unless its device is gone: that ends them. */
	if (alive && ((struct flows_state *)t->state)->over) {
		flows_now(o, j, now);
		flow_lost(j->machine, o->now_ns);
	}
	if (j->hand != NULL)
		flows_hand_end(j->hand);
	flows_sink_end(o);
	for (unsigned i = 0; i < o->nheld; i++)
		if (o->held[i].version != NULL && flows_on_of(o->held[i].of)->held == &o->held[i])
			flows_on_of(o->held[i].of)->held = NULL;
}

const struct dp_kind dp_kind_flows = {
	.name = "flows", .adopt = run_adopt, .rx = flows_rx, .poll = run_poll, .drop = run_drop};
