/* SPDX-License-Identifier: BSD-3-Clause */
/* Settings that change while a stream with a count is sent. All queues of the port together send
 * each stream as often as its count says, because all of them know which frame of the port belongs
 * to which stream. Queues stand at different frames, so that order cannot change while the run goes
 * on: another order waits for the next start. Frames change at once: every stream goes on with the
 * frames that its settings say now. */
#include <stdlib.h>

#include "send_groups.h"

static bool equal_weights(const struct sched_in *in, unsigned n)
{
	for (unsigned i = 1; i < n; i++)
		if (in[i].weight != in[0].weight)
			return false;
	return true;
}

/* Returns whether the settings of these streams ask for the order that the group has. If all
 * weights are equal the order does not depend on their value. */
static bool same_order(const struct group *g, struct stream *const *s, unsigned n)
{
	struct sched_in *want = xcalloc(n, sizeof(*want));
	bool same = n == g->n;

	for (unsigned i = 0; i < n; i++)
		want[i] = sched_in_of(s[i]);
	for (unsigned i = 0; i < n && same; i++)
		same = g->in[i].key == want[i].key && g->in[i].count == want[i].count;
	if (same && !(equal_weights(g->in, n) && equal_weights(want, n)))
		for (unsigned i = 0; i < n && same; i++)
			same = g->in[i].weight == want[i].weight;
	free(want);
	return same;
}

/* Returns whether the settings ask for another order than that of `old`. */
static bool other_order(const struct groups *old, const struct picked *p)
{
	const struct group *turn = group_of(old, -1);

	if (p->nown + (p->nturn > 0) != old->ngroups ||
	    (p->nturn > 0 && (turn == NULL || !same_order(turn, p->turn, p->nturn))))
		return true;
	for (unsigned i = 0; i < p->nown; i++) {
		const struct group *own = group_of(old, (int32_t)p->own[i]->cell);
		if (own == NULL || !same_order(own, &p->own[i], 1))
			return true;
	}
	return false;
}

/* Adds to `out` the group with the same streams in the same order, and with the frames that they
 * have now. A stream that is deleted or not enabled any more, or that has lost its own rate by
 * which it is sent, goes on with the frames that it had. */
static int follow_group(struct ctl *c, struct ctl_port *cp, struct group *g, uint64_t limit,
			struct groups *out, struct err *e)
{
	struct group_spec spec = {.cell = g->cell,
				  .n = g->n,
				  .of = g->of,
				  .member = xcalloc(g->n, sizeof(*spec.member)),
				  .in = xcalloc(g->n, sizeof(*spec.in)),
				  .like = g,
				  .nqueues = out->nqueues};
	bool sizes = false;
	struct group *now;
	struct err why;
	int rc = 0;

	for (unsigned m = 0; m < g->n && rc == 0; m++) {
		struct stream *s = stream_of_cell(cp, g->member[m].cell, g->in[m].id);
		spec.member[m] = g->member[m];
		spec.in[m] = g->in[m];
		if (s == NULL || !s->cfg.enabled || (g->cell >= 0 && !s->cfg.rate.set))
			continue;
		rc = stream_recipes(c, cp, s, e);
		if (rc < 0)
			break;
		spec.member[m] = group_member_of(s);
		spec.in[m].id = s->cfg.id;
		spec.in[m].nsizes = stream_nsizes(s);
		sizes |= spec.in[m].nsizes != g->in[m].nsizes;
	}
	if (rc == 0 && sizes)
		rc = sched_make(spec.in, spec.n, g->cell < 0 ? limit : UINT64_MAX, cp->p.id,
				&spec.sched, e);
	else if (rc == 0)
		sched_copy(&spec.sched, &g->sched);
	if (rc == 0) {
		rc = group_make(c, cp, &spec, &now, &why);
		if (rc == 0)
			groups_add(out, now);
		else
			err_set(e, -rc, "port %u: %s", cp->p.id, why.text);
	}
	free(spec.member);
	free(spec.in);
	return rc;
}

int groups_follow(struct ctl *c, struct ctl_port *cp, const struct groups *old, uint64_t limit,
		  struct groups *out, bool *other, struct err *e)
{
	struct picked p;
	uint64_t sizes = 0;
	int rc = 0;

	*out = (struct groups){.group = xcalloc(old->ngroups + 1, sizeof(*out->group)),
			       .nqueues = old->nqueues};
	groups_pick(cp, &p, e); /* an error in the settings matters for the next start only */
	*other = other_order(old, &p);
	groups_picked_free(&p);
	for (unsigned i = 0; i < old->ngroups && rc == 0; i++)
		rc = follow_group(c, cp, old->group[i], limit, out, e);
	for (unsigned i = 0; i < out->ngroups; i++)
		for (unsigned m = 0; m < out->group[i]->n; m++)
			sizes += out->group[i]->in[m].nsizes;
	if (rc == 0)
		rc = groups_sizes_check(cp, sizes, e);
	if (rc < 0)
		groups_free(c, out);
	return rc;
}
