/* SPDX-License-Identifier: BSD-3-Clause */
/* The worker's half of the lines of a protocol: flows of one connection each (flows_arm_run.h). */
#include "flows_own.h"

#define LINES_WALK 1024       /* cells of the machine that are looked at in a turn */
#define LINES_WALK_NS 5000000 /* from one walk to the next */

static const struct flows_held *line_held(const struct flows_line *l)
{
	return flows_on_of(l->flow)->held;
}

/* A record says by its first transaction that its connection is ready. */
static bool line_is_ready(const struct flows_line *l)
{
	return cell_get(&l->flow->transactions.started) > 0;
}

void flows_lines_open(struct flows_own *o, const struct flows_job *j)
{
	struct flows_arm_job *a = j->arm;
	struct flows_line *l = &a->line[a->begun];
	const struct flows_held *held;

	if (a->begun == a->nlines || (a->begun > 0 && !line_is_ready(l - 1)))
		return;
	held = line_held(l);
	if (held == NULL || flow_open(j->machine, held->number, 1, o->now_ns, 0, o->now_ns) == 0)
		return;
	a->begun++;
	cell_add(&l->flow->due, 1);
	cell_add(&l->flow->done, 1);
	cell_set(&l->flow->first_tsc, o->now);
	cell_set(&l->flow->last_tsc, o->now);
}

void flows_lines_go(struct flows_own *o, const struct flows_job *j)
{
	for (unsigned i = 0; i < j->arm->begun; i++) {
		struct flows_line *l = &j->arm->line[i];
		const struct flows_held *held = line_held(l);

		if (!l->begun && held != NULL)
			l->begun =
				flow_go(j->machine, held->number, 1, o->now_ns, 0, o->now_ns) > 0;
	}
}

static void line_note(const struct flows_arm_job *a, const struct flow_info *info)
{
	for (unsigned i = 0; i < a->begun; i++) {
		struct flows_line *l = (struct flows_line *)(uintptr_t)&a->line[i];
		const struct flows_held *held = line_held(l);

		if (held == NULL || held->number != info->version)
			continue;
		cell_set(&l->cwnd, info->cwnd);
		cell_set(&l->srtt_ns, info->srtt_ns);
		cell_set(&l->window, info->peer_window);
		cell_set(&l->mss, info->mss);
		cell_set(&l->unacked, info->unacked);
	}
}

void flows_lines_look(struct flows_own *o, const struct flows_job *j)
{
	struct flows_arm_job *a = j->arm;
	uint32_t from = a->walk_at;
	struct flow_info info;

	if (o->now_ns < a->walk_ns)
		return;
	while (a->walk_at - from < LINES_WALK) {
		if (!flow_walk(j->machine, &a->walk_at, LINES_WALK, &info)) {
			a->walk_at = 0;
			a->walk_ns = o->now_ns + LINES_WALK_NS;
			return;
		}
		if (info.state == FLOW_ESTABLISHED)
			line_note(a, &info);
	}
}
