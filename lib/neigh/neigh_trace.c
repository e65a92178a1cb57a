/* SPDX-License-Identifier: BSD-3-Clause */
#include "neigh_trace.h"

#include <string.h>

void neigh_trace_init(struct neigh_trace *t, unsigned hops, unsigned probes)
{
	memset(t, 0, sizeof(*t));
	t->hops = hops;
	t->probes = probes;
}

void neigh_trace_hear(struct neigh_trace *t, const struct neigh_pings_news *news)
{
	static const enum neigh_trace_state states[] = {[NEIGH_PINGS_ANSWERED] =
								NEIGH_TRACE_REACHED,
							[NEIGH_PINGS_LATE] = NEIGH_TRACE_REACHED,
							[NEIGH_PINGS_ERROR] = NEIGH_TRACE_ERROR,
							[NEIGH_PINGS_LOST] = NEIGH_TRACE_LOST};

	if (news->kind == NEIGH_PINGS_DUPLICATE || news->number >= t->hops * t->probes)
		return;
	struct neigh_trace_probe *x = &t->probe[news->number];
	x->state = states[news->kind];
	x->rtt_ns = news->rtt_ns;
	if (news->pong != NULL)
		x->pong = *news->pong;
}

const struct neigh_trace_probe *neigh_trace_probe(const struct neigh_trace *t, unsigned hop,
						  unsigned probe)
{
	return &t->probe[hop * t->probes + probe];
}

bool neigh_pong_expired(const struct neigh_pong *p)
{
	return p->type == (neigh_is_ip4(p->ip) ? 11 : 3);
}

static bool trace_ends_at(const struct neigh_trace *t, unsigned hop)
{
	unsigned open = 0, expired = 0, refused = 0;

	for (unsigned i = 0; i < t->probes; i++) {
		const struct neigh_trace_probe *x = neigh_trace_probe(t, hop, i);
		if (x->state == NEIGH_TRACE_REACHED)
			return true;
		open += x->state == NEIGH_TRACE_OPEN;
		if (x->state == NEIGH_TRACE_ERROR)
			*(neigh_pong_expired(&x->pong) ? &expired : &refused) += 1;
	}
	return refused > 0 && open == 0 && expired == 0;
}

unsigned neigh_trace_end(const struct neigh_trace *t)
{
	for (unsigned hop = 0; hop < t->hops; hop++)
		if (trace_ends_at(t, hop))
			return hop + 1;
	return 0;
}

unsigned neigh_trace_count(const struct neigh_trace *t)
{
	unsigned end = neigh_trace_end(t);

	return (end > 0 ? end : t->hops) * t->probes;
}

unsigned neigh_trace_due(const struct neigh_trace *t)
{
	unsigned known = 0, count = neigh_trace_count(t);

	while (known < count && t->probe[known].state != NEIGH_TRACE_OPEN)
		known++;
	unsigned due = (known / t->probes + NEIGH_TRACE_AHEAD) * t->probes;
	return due < count ? due : count;
}

bool neigh_trace_reached(const struct neigh_trace *t)
{
	return neigh_trace_in(t, neigh_trace_count(t), NEIGH_TRACE_REACHED) > 0;
}

unsigned neigh_trace_in(const struct neigh_trace *t, unsigned n, enum neigh_trace_state state)
{
	unsigned found = 0;

	for (unsigned i = 0; i < n; i++)
		found += t->probe[i].state == state;
	return found;
}
