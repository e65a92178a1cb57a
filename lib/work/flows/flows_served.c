/* SPDX-License-Identifier: BSD-3-Clause */
/* The worker's half of connections of data that come to a server when its protocol lets them
 * (flows_arm_run.h). */
#include "flows_own.h"

#define SERVED_WALK 1024       /* cells of the machine that are looked at in a turn */
#define SERVED_WALK_NS 5000000 /* from one walk to the next */
/* So long those that are to end may take for it. */
#define SERVED_END_NS 2000000000ull
#define SERVED_SWEEPS 8 /* the machine has room for some at a time */

static void served_set(cell_t *c, uint64_t v)
{
	__atomic_store_n(c, v, __ATOMIC_RELEASE);
}

static bool served_is(const struct flows_arm_job *a, const struct flows_held *h)
{
	for (unsigned i = 0; h->version != NULL && i < a->nlines; i++)
		if (h->of == a->line[i].flow)
			return true;
	return false;
}

static bool served_alive(const struct flows_arm_job *a)
{
	uint64_t alive = 0;

	for (unsigned i = 0; i < a->nlines; i++)
		alive += a->line[i].flow->counts.opening + a->line[i].flow->counts.open;
	return alive > 0;
}

static void served_sweep(struct flows_own *o, const struct flows_job *j, bool all)
{
	for (unsigned i = 0; i < o->nheld && o->sweeps < SERVED_SWEEPS; i++) {
		struct flows_held *h = &o->held[i];

		if (!served_is(j->arm, h))
			continue;
		o->sweeps++;
		h->spec.wl->draining = true;
		if (all)
			flow_abort(j->machine, h->spec.wl);
		else
			flow_drain(j->machine, h->spec.wl);
	}
}

/* Whether nothing is left of connections of before; else it is reset, in this turn and the next. */
static bool served_is_clean(struct flows_own *o, const struct flows_job *j)
{
	if (flow_sweeping(j->machine))
		return false;
	if (!served_alive(j->arm))
		return true;
	served_sweep(o, j, true);
	return false;
}

static bool served_come(struct flows_own *o, const struct flows_job *j, unsigned which)
{
	struct flows_arm_job *a = j->arm;

	if (which >= a->nlines || !served_is_clean(o, j))
		return false;
	a->end_ns = 0;
	for (unsigned i = 0; i < FLOWS_PEERS; i++)
		served_set(&a->peer[i].identity, 0);
	a->walk_at = 0;
	a->listens = which + 1;
	flows_versions(o, j);
	return flows_on_of(a->line[which].flow)->held != NULL;
}

/* The newest version listens: as long as this one does, all that comes is for it, and behind it for
 * the connections of control again. */
static void served_no_more(struct flows_own *o, const struct flows_job *j)
{
	j->arm->listens = 0;
	flows_versions(o, j);
}

static bool served_follow(struct flows_own *o, const struct flows_job *j, uint64_t order)
{
	switch (FLOWS_LET_OF(order)) {
	case FLOWS_LET_COME:
		return served_come(o, j, FLOWS_LET_WHICH(order));
	case FLOWS_LET_STAY:
		served_no_more(o, j);
		return true;
	default:
		served_no_more(o, j);
		served_sweep(o, j, false);
		j->arm->end_ns = o->now_ns + SERVED_END_NS;
		return true;
	}
}

/* ---- how they are ---- */

static uint64_t served_identity(const struct flow_tuple *t)
{
	uint32_t local = __builtin_bswap32(t->local.v4), remote = __builtin_bswap32(t->remote.v4);

	return t->is6 ? wl_identity(t->remote.v6, t->local.v6, 16, t->remote_port, t->local_port)
		      : wl_identity(&remote, &local, 4, t->remote_port, t->local_port);
}

static void served_note(struct flows_arm_job *a, const struct flow_info *info)
{
	uint64_t identity = served_identity(&info->tuple);

	for (unsigned i = 0; i < FLOWS_PEERS; i++) {
		struct flows_peer *p = &a->peer[(identity + i) % FLOWS_PEERS];
		bool fresh = cell_get(&p->identity) == 0;

		if (!fresh && cell_get(&p->identity) != identity)
			continue;
		cell_set(&p->cwnd, info->cwnd);
		cell_set(&p->srtt_ns, info->srtt_ns);
		cell_set(&p->window, info->peer_window);
		cell_set(&p->mss, info->mss);
		cell_set(&p->resent, info->resent);
		if (fresh) {
			p->tuple = info->tuple;
			served_set(&p->identity, identity);
		}
		return;
	}
}

static void served_look(struct flows_own *o, const struct flows_job *j)
{
	struct flows_arm_job *a = j->arm;
	uint32_t from = a->walk_at;
	struct flow_info info;

	while (a->walk_at - from < SERVED_WALK) {
		if (!flow_walk(j->machine, &a->walk_at, SERVED_WALK, &info)) {
			a->walk_at = 0;
			a->walk_ns = o->now_ns + SERVED_WALK_NS;
			return;
		}
		if (info.state != FLOW_ESTABLISHED && info.state != FLOW_UDP)
			continue;
		for (unsigned i = 0; i < o->nheld; i++)
			if (o->held[i].number == info.version && served_is(a, &o->held[i])) {
				served_note(a, &info);
				break;
			}
	}
}

void flows_served_turn(struct flows_own *o, const struct flows_job *j)
{
	struct flows_arm_job *a = j->arm;
	uint64_t order = __atomic_load_n(&a->let, __ATOMIC_ACQUIRE);

	if (order != cell_get(&a->let_done) && served_follow(o, j, order))
		served_set(&a->let_done, order);
	if (a->end_ns != 0 && o->now_ns >= a->end_ns && served_is_clean(o, j))
		a->end_ns = 0;
	if (o->now_ns >= a->walk_ns)
		served_look(o, j);
}

void flows_served_go(struct flows_own *o, const struct flows_job *j)
{
	for (unsigned i = 0; i < o->nheld; i++)
		if (served_is(j->arm, &o->held[i]))
			flow_go(j->machine, o->held[i].number, FLOWS_PEERS, o->now_ns, 0,
				o->now_ns);
}
