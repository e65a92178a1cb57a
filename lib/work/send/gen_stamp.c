/* SPDX-License-Identifier: BSD-3-Clause */
/* The kind "gen" on a device that sends each frame at the time that the frame carries, by the
 * device's clock. */
#include "gen_own.h"

/* Brings the view of the device's clock up to date. Returns whether times can be converted. */
static bool gen_stamp_usable(const struct gen_job *j, struct gen_state *g)
{
	struct dp_clock_view *v = &g->stamps.view;

	dp_clock_look(j->stamp, v);
	return v->version != 0 && v->slack != DP_CLOCK_UNKNOWN;
}

uint64_t gen_ahead_stamped(const struct gen_job *j, struct gen_state *g, uint64_t now)
{
	return gen_stamp_usable(j, g) ? now + j->lead_cycles : now;
}

/* Returns the device's time for a frame that is due at `due`. Drivers want times in ascending
 * order. With several groups a frame may be due before one that was handed over earlier; it then
 * gets the time of that one, which is within the lead. A new reading of the clock may also put
 * times back a little: then the time before is used again. If it is more than the clock's error,
 * somebody has set the clock. */
static uint64_t in_order(struct gen_state *g, uint64_t due)
{
	const struct dp_clock_view *v = &g->stamps.view;

	if ((int64_t)(g->stamps.last.due - due) > 0)
		due = g->stamps.last.due;
	uint64_t stamp = dp_clock_stamp(v, due), back = g->stamps.last.stamp - stamp;
	if ((int64_t)back > 0 && back <= dp_clock_scale(2 * v->slack, v->inverse) + 1)
		stamp = g->stamps.last.stamp;
	g->stamps.last = (struct gen_stamped){.due = due, .stamp = stamp};
	return stamp;
}

void gen_stamp_put(const struct gen_job *j, struct gen_state *g, const struct gen_grp *gr,
		   uint64_t i, struct rte_mbuf *const *m, unsigned n)
{
	bool none = pace_is_max(&gr->pace) || !gen_stamp_usable(j, g);
	struct gen_stamped *before = g->stamps.before + (m - j->txq->m);

	for (unsigned k = 0; k < n; k++) {
		before[k] = g->stamps.last;
		if (none) { /* the buffer may have a time from an earlier frame */
			m[k]->ol_flags &= ~j->stamp->flag;
			continue;
		}
		uint64_t stamp = in_order(g, gen_due_at(j, gr, i + k));
		memcpy((uint8_t *)m[k] + j->stamp->offset, &stamp, sizeof(stamp));
		m[k]->ol_flags |= j->stamp->flag;
	}
}

void gen_stamp_back(const struct gen_job *j, struct gen_state *g)
{
	if (j->stamp != NULL && txq_has_tail(j->txq))
		g->stamps.last = g->stamps.before[j->txq->head];
}

uint64_t gen_stamp_sent(const struct gen_job *j, const struct gen_state *g,
			const struct rte_mbuf *m, uint64_t tsc)
{
	uint64_t stamp;

	if ((m->ol_flags & j->stamp->flag) == 0)
		return tsc;
	memcpy(&stamp, (const uint8_t *)m + j->stamp->offset, sizeof(stamp));
	uint64_t at = dp_clock_cycles(&g->stamps.view, stamp);
	return (int64_t)(at - tsc) > 0 ? at : tsc;
}
