/* SPDX-License-Identifier: BSD-3-Clause */
/* Another order while streams with counts are sent, each exactly so often as its count says, in the whole run and by all queues together.
 *
 * Queues stand at different frames, and each of them begins the new order where it stands, so what is left of a stream is known only afterwards.
 * Therefore three steps. First queues are asked how far they will go by the old order at most: each has a share of every count up to there, and
 * does not stop meanwhile. Then a group is held: its queues begin the new order without ends. Whatever the others have sent by then, what their
 * shares do not take is left of a stream when a queue begins the new order, and it goes through no more passes than that has. When all have
 * begun, what each had sent is known. The order with its ends is made of what is left, as a continuation of the held one: its first phase has
 * at least those passes. */
#include <stdlib.h>
#include <string.h>

#include "ctl_int.h"

struct change {
	struct ctl *c;
	struct ctl_port *cp;
	const struct program *old;
	uint64_t limit;
	struct program *out;
	struct gen_cell *sent;     /* by cell, since open */
	bool *in_old;              /* by cell: old sends it */
	uint64_t *count;           /* by cell: that old sends it to; 0: without end */
	uint64_t *share;           /* [queue * CTL_CELLS + cell] frames since open that old has the queue send */
	struct group_member *idle; /* streams that the run has sent and that are not in a group now */
	unsigned nidle;
	bool breaks;               /* the rate of the whole run no longer follows from one number */
};

static uint64_t base_of(const struct ctl_port *cp, uint32_t cell)
{
	return cp->run_base != NULL ? cp->run_base[cell] : 0;
}

static uint64_t cell_at(const struct ctl_port *cp, unsigned q, uint32_t cell)
{
	return cp->cell != NULL ? cell_get(&cp->cell[q][cell].packets) : 0;
}

/* Frames of the run until now, at least. */
static uint64_t sent_of(const struct change *x, uint32_t cell)
{
	uint64_t sent = cell_get(&x->sent[cell].packets), base = base_of(x->cp, cell);

	return sent > base ? sent - base : 0;
}

void program_begins(struct ctl_port *cp)
{
	if (cp->run_base == NULL)
		cp->run_base = xcalloc(CTL_CELLS, sizeof(*cp->run_base));
	for (uint32_t s = 0; s < CTL_CELLS; s++) {
		cp->run_base[s] = 0;
		for (unsigned q = 0; q < cp->p.ntxq; q++)
			cp->run_base[s] += cell_at(cp, q, s);
	}
	for (unsigned i = 0; i < cp->program.ngroups; i++) {
		struct group *g = cp->program.group[i];
		for (unsigned q = 0; q < g->nqueues; q++)
			for (unsigned m = 0; m < g->n; m++)
				g->from[q * g->n + m] = cell_at(cp, q, g->member[m].cell);
	}
}

/* ---- what old has queues send ---- */

static void add_shares(struct change *x, const struct group *g, unsigned q)
{
	uint64_t *frames = xcalloc(2 * (size_t)(g->n + g->nidle), sizeof(*frames)), *share = x->share + (size_t)q * CTL_CELLS;
	unsigned np = g->sched.nphases, nq = g->nqueues;
	uint64_t reach = x->cp->braked ? cell_get(&g->reach[q]) : GEN_REACH_ASKED;

	for (unsigned m = 0; m < g->n; m++)
		share[g->member[m].cell] = g->from[q * g->n + m];
	for (unsigned p = 0; p < np; p++) {
		const struct sched_phase *ph = &g->sched.phase[p];
		uint64_t first = gen_own_frames(q, nq, ph->k0), end = gen_own_frames(q, nq, p + 1 < np ? ph->end : g->sched.total);
		end = end < reach ? end : reach;
		if (end <= first)
			continue;
		frun_count(g->prog[q * np + p].run, end - first, frames, frames + g->n + g->nidle); /* the idle ones are the last */
		for (unsigned s = 0; s < ph->nstreams; s++)
			share[g->member[ph->stream[s]].cell] += frames[s];
	}
	free(frames);
}

static void look_at_old(struct change *x)
{
	x->sent = stream_cells(x->cp);
	x->in_old = xcalloc(CTL_CELLS, sizeof(*x->in_old));
	x->count = xcalloc(CTL_CELLS, sizeof(*x->count));
	x->share = xcalloc((size_t)CTL_CELLS * x->cp->p.ntxq, sizeof(*x->share));
	for (unsigned i = 0; i < x->old->ngroups; i++) {
		const struct group *g = x->old->group[i];
		bool counts = false;
		for (unsigned m = 0; m < g->n; m++) {
			x->in_old[g->member[m].cell] = true;
			x->count[g->member[m].cell] = g->member[m].count;
			counts |= g->member[m].count != 0;
		}
		for (unsigned q = 0; q < g->nqueues && counts; q++)
			add_shares(x, g, q);
	}
}

static void change_free(struct change *x)
{
	free(x->idle);
	free(x->sent);
	free(x->in_old);
	free(x->count);
	free(x->share);
}

/* Frames of a stream since open that the queue may have sent when it begins the new order, at most. */
static uint64_t bound_of(const struct change *x, unsigned q, uint32_t cell)
{
	if (!x->in_old[cell]) /* nobody sends it now */
		return cell_at(x->cp, q, cell);
	return x->count[cell] != 0 ? x->share[(size_t)q * CTL_CELLS + cell] : UINT64_MAX;
}

/* This, less what the queue has sent of the stream since open, is left of the count whichever queues still go by the old order. */
static uint64_t most_of(const struct change *x, unsigned q, uint32_t cell, uint64_t count)
{
	uint64_t most = base_of(x->cp, cell) + count;

	for (unsigned i = 0; i < x->cp->p.ntxq; i++) {
		uint64_t others = i != q ? bound_of(x, i, cell) : 0;
		most = most > others ? most - others : 0;
	}
	return most;
}

/* Streams that are off, or have sent their count before the order that comes: when they come back they go on where they stand. */
static void find_idle(struct change *x)
{
	struct ctl_port *cp = x->cp;
	struct err e;

	x->idle = xcalloc(cp->total, sizeof(*x->idle));
	for (unsigned i = 0; i < cp->nstreams; i++) {
		struct stream *s = cp->stream[i];
		if (s == NULL || sent_of(x, s->cell) == 0)
			continue;
		bool off = !s->cfg.enabled, over = !s->cfg.rate.set && s->cfg.count != 0 && sent_of(x, s->cell) >= s->cfg.count;
		if ((off || over) && stream_plans(x->c, cp, s, &e) == 0)
			x->idle[x->nidle++] = member_of(s);
	}
}

/* The port's schedule keeps those that are not its own. The caller frees. */
static struct group_member *idle_beside(const struct change *x, struct group_spec *spec)
{
	struct group_member *idle = xcalloc(x->nidle + 1, sizeof(*idle));

	if (spec->cell >= 0 || x->nidle == 0)
		return idle;
	bool *mine = xcalloc(CTL_CELLS, sizeof(*mine));
	for (unsigned m = 0; m < spec->n; m++)
		mine[spec->member[m].cell] = true;
	for (unsigned i = 0; i < x->nidle; i++)
		if (!mine[x->idle[i].cell])
			idle[spec->nidle++] = x->idle[i];
	spec->idle = idle;
	free(mine);
	return idle;
}

/* ---- an order that begins ---- */

static uint64_t turns_of(const struct group *g, unsigned m)
{
	for (unsigned i = 1; i < g->n; i++)
		if (g->in[i].weight != g->in[0].weight)
			return g->in[m].weight;
	return 1; /* equal weights are one */
}

static void hold(const struct change *x, struct group *g)
{
	struct group_hold *h = g->hold = xcalloc(1, sizeof(*h));
	unsigned nq = g->nqueues;
	uint64_t pass = 0;

	h->member = xcalloc(g->n, sizeof(*h->member));
	h->cap = xcalloc((size_t)g->n * nq, sizeof(*h->cap));
	h->had = xcalloc((size_t)g->n * nq, sizeof(*h->had));
	h->queue = xcalloc(nq, sizeof(*h->queue));
	for (unsigned m = 0; m < g->n; m++) {
		pass += turns_of(g, m);
		if (g->member[m].count != 0)
			h->member[h->ncaps++] = m;
	}
	for (unsigned q = 0; q < nq; q++) {
		struct gen_cap *cap = h->cap + (size_t)q * h->ncaps;
		h->queue[q] = (struct gen_hold){.ncaps = h->ncaps, .pass = pass, .cap = cap, .had = h->had + (size_t)q * h->ncaps};
		for (unsigned n = 0; n < h->ncaps; n++) {
			const struct group_member *m = &g->member[h->member[n]];
			cap[n] = (struct gen_cap){.cell = m->cell, .weight = (uint32_t)turns_of(g, h->member[n]),
						  .most = most_of(x, q, m->cell, m->count)};
		}
	}
}

/* Its first phase, without end. */
static void endless(struct sched *s)
{
	struct sched first = {.nphases = 1, .phase = xcalloc(1, sizeof(*first.phase)), .total = UINT64_MAX};

	first.phase[0] = s->phase[0];
	first.phase[0].end = UINT64_MAX;
	s->phase[0] = (struct sched_phase){0};
	sched_free(s);
	*s = first;
}

/* Streams and what they ask for; only those of which something may be left. */
struct asked {
	struct group_member *member;
	struct sched_in *in, *want;
	unsigned n, nwant;
};

static void asked_free(struct asked *p)
{
	free(p->member);
	free(p->in);
	free(p->want);
}

static struct asked asked_of(const struct change *x, struct stream *const *s, unsigned n)
{
	struct asked p = {.member = xcalloc(n, sizeof(*p.member)), .in = xcalloc(n, sizeof(*p.in)), .want = xcalloc(n, sizeof(*p.want)), .nwant = n};

	for (unsigned i = 0; i < n; i++) {
		uint64_t count = s[i]->cfg.count, sent = sent_of(x, s[i]->cell);
		p.want[i] = sched_in_of(s[i]);
		if (count != 0 && sent >= count)
			continue;
		p.in[p.n] = p.want[i];
		p.in[p.n].count = count != 0 ? count - sent : 0; /* at most, until queues tell */
		p.member[p.n++] = member_of(s[i]);
	}
	return p;
}

static bool has_ended(const struct change *x, const struct group *g)
{
	for (unsigned m = 0; m < g->n; m++)
		if (g->member[m].count == 0 || sent_of(x, g->member[m].cell) < g->member[m].count)
			return false;
	return true;
}

static int named(const struct ctl_port *cp, int rc, const struct err *why, struct err *e)
{
	return rc < 0 ? err_set(e, -rc, "port %u: %s", cp->p.id, why->text) : 0;
}

static int begin(struct change *x, int32_t cell, const struct asked *p, unsigned of, struct err *e)
{
	const struct group *was = group_of(x->old, cell);
	uint64_t limit = cell < 0 ? x->limit : UINT64_MAX;
	struct group_spec spec = {.cell = cell, .n = p->n, .nwant = p->nwant, .of = of, .member = p->member, .in = p->in, .want = p->want,
				  .bounded = limit != UINT64_MAX};
	struct err why = {.text = ""};
	struct group *g;

	x->breaks |= was != NULL && has_ended(x, was);
	if (p->n == 0)
		return 0;
	struct group_member *idle = idle_beside(x, &spec);
	int rc = sched_make(p->in, p->n, limit, x->cp->p.id, &spec.sched, e);
	if (rc < 0) {
		free(idle);
		return rc;
	}
	endless(&spec.sched);
	bool all = true;
	for (unsigned i = 0; i < p->n; i++)
		all &= p->member[i].count != 0;
	spec.bounded |= all;
	rc = group_make(x->c, x->cp, &spec, &g, &why);
	free(idle);
	if (rc < 0)
		return named(x->cp, rc, &why, e);
	hold(x, g);
	program_add(x->out, g);
	return 0;
}

/* ---- an order that goes on ---- */

static bool same_order(const struct group *g, const struct sched_in *want, unsigned n)
{
	for (unsigned i = 0; i < n && n == g->nwant; i++)
		if (g->want[i].key != want[i].key || g->want[i].weight != want[i].weight || g->want[i].nsizes != want[i].nsizes ||
		    g->want[i].count != want[i].count)
			return false;
	return n == g->nwant;
}

/* The same streams with the frames that they have now. */
static int go_on(struct change *x, struct group *g, struct stream *const *s, const struct asked *p, struct err *e)
{
	struct group_spec spec = {.cell = g->cell, .n = g->n, .nwant = p->nwant, .of = g->of, .want = p->want,
				  .member = xcalloc(g->n, sizeof(*spec.member)), .in = xcalloc(g->n, sizeof(*spec.in)),
				  .like = g, .bounded = g->bounded};
	struct err why = {.text = ""};
	struct group *now;

	sched_copy(&spec.sched, &g->sched);
	for (unsigned m = 0, i = 0; m < g->n; m++, i++) {
		while (s[i]->cell != g->member[m].cell) /* it has sent its count: it is among those that are wanted, in their order */
			i++;
		spec.member[m] = member_of(s[i]);
		spec.in[m] = g->in[m];
		spec.in[m].id = p->want[i].id;
	}
	struct group_member *idle = idle_beside(x, &spec);
	int rc = group_make(x->c, x->cp, &spec, &now, &why);
	if (rc == 0)
		program_add(x->out, now);
	free(idle);
	free(spec.member);
	free(spec.in);
	return named(x->cp, rc, &why, e);
}

static int change_group(struct change *x, int32_t cell, struct stream *const *s, unsigned n, unsigned of, struct err *e)
{
	struct group *was = group_of(x->old, cell);
	struct asked p = asked_of(x, s, n);
	int rc = was != NULL && same_order(was, p.want, n) ? go_on(x, was, s, &p, e) : begin(x, cell, &p, of, e);

	asked_free(&p);
	return rc;
}

bool program_reorders(const struct ctl_port *cp, const struct program *old)
{
	struct sched_in *want;
	struct picked p;
	struct err e;
	bool other = false;

	if (streams_pick(cp, &p, &e) == 0) {
		want = xcalloc(p.nturn + 1, sizeof(*want));
		for (unsigned i = 0; i < p.nturn; i++)
			want[i] = sched_in_of(p.turn[i]);
		const struct group *was = group_of(old, -1);
		other = p.nturn > 0 && (was == NULL || !same_order(was, want, p.nturn));
		for (unsigned i = 0; i < p.nown && !other; i++) {
			want[0] = sched_in_of(p.own[i]);
			was = group_of(old, (int32_t)p.own[i]->cell);
			other = was == NULL || !same_order(was, want, 1);
		}
		free(want);
	}
	picked_free(&p);
	return other;
}

int program_change(struct ctl *c, struct ctl_port *cp, const struct program *old, uint64_t limit, struct program *out,
		   struct err *e)
{
	struct change x = {.c = c, .cp = cp, .old = old, .limit = limit, .out = out};
	struct picked p;
	int rc = streams_pick(cp, &p, e);

	*out = (struct program){.group = xcalloc(p.nown + 1, sizeof(*out->group))};
	if (rc == 0)
		rc = streams_compile(c, cp, &p, e);
	if (rc == 0) {
		look_at_old(&x);
		find_idle(&x);
	}
	if (rc == 0 && p.nturn > 0)
		rc = change_group(&x, -1, p.turn, p.nturn, 1, e);
	for (unsigned i = 0; i < p.nown && rc == 0; i++)
		rc = change_group(&x, (int32_t)p.own[i]->cell, &p.own[i], 1, p.nown, e);
	if (rc == 0 && out->held && (x.breaks || out->ngroups > 1))
		cp->run.rate_changed = true;
	change_free(&x);
	picked_free(&p);
	if (rc < 0)
		program_free(c, out);
	return rc;
}

/* ---- what is left ---- */

/* Of a held group that all queues have taken up: what they had sent before. */
static void took_up(struct group *g)
{
	const struct group_hold *h = g->hold;

	for (unsigned q = 0; q < g->nqueues; q++)
		for (unsigned n = 0; n < h->ncaps; n++)
			g->from[q * g->n + h->member[n]] = h->had[(size_t)q * h->ncaps + n];
}

static uint64_t left_of(const struct ctl_port *cp, const struct group *g, unsigned m)
{
	uint64_t had = 0, base = base_of(cp, g->member[m].cell), count = g->member[m].count;

	for (unsigned q = 0; q < g->nqueues; q++)
		had += g->from[q * g->n + m];
	had = had > base ? had - base : 0;
	return count > had ? count - had : 0;
}

static int settle(struct ctl *c, struct ctl_port *cp, struct group *g, uint64_t limit, struct program *out, struct err *e)
{
	struct asked p = {.member = xcalloc(g->n, sizeof(*p.member)), .in = xcalloc(g->n, sizeof(*p.in))};
	struct group_member *idle = xcalloc(g->n + g->nidle, sizeof(*idle));
	unsigned nidle = g->nidle;
	struct err why = {.text = ""};
	struct group *now;
	int rc = 0;

	took_up(g);
	memcpy(idle, g->idle, nidle * sizeof(*idle));
	for (unsigned m = 0; m < g->n; m++) {
		uint64_t left = g->member[m].count != 0 ? left_of(cp, g, m) : 0;
		if (g->member[m].count != 0 && left == 0) {
			idle[nidle++] = g->member[m];
			continue;
		}
		p.member[p.n] = g->member[m];
		p.in[p.n] = g->in[m];
		p.in[p.n++].count = left;
	}
	struct group_spec spec = {.cell = g->cell, .n = p.n, .nwant = g->nwant, .of = g->of, .member = p.member, .in = p.in, .want = g->want,
				  .idle = idle, .nidle = nidle, .like = g};
	if (p.n > 0)
		rc = sched_make(p.in, p.n, g->cell < 0 ? limit : UINT64_MAX, cp->p.id, &spec.sched, e);
	if (p.n > 0 && rc == 0) {
		spec.bounded = spec.sched.total != UINT64_MAX;
		rc = named(cp, group_make(c, cp, &spec, &now, &why), &why, e);
		if (rc == 0)
			program_add(out, now);
	}
	asked_free(&p);
	free(idle);
	return rc;
}

int program_settle(struct ctl *c, struct ctl_port *cp, const struct program *old, uint64_t limit, struct program *out,
		   struct err *e)
{
	int rc = 0;

	*out = (struct program){.group = xcalloc(old->ngroups + 1, sizeof(*out->group))};
	for (unsigned i = 0; i < old->ngroups && rc == 0; i++) {
		struct group *g = old->group[i];
		if (g->hold != NULL) {
			rc = settle(c, cp, g, limit, out, e);
		} else {
			group_ref(g);
			program_add(out, g);
		}
	}
	if (rc < 0)
		program_free(c, out);
	return rc;
}
