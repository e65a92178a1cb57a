/* SPDX-License-Identifier: BSD-3-Clause */
/* Turns the streams of a port into its groups, and makes a frun of each of their phases for each
 * Tx queue. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "send_groups.h"

#define MAX_SIZES 262144 /* of all streams of a port together: each makes a frame recipe */
/* If a queue has more than MANY_PROGRAMS fruns, they share MANY_LANES lanes
 * (frun_spec.max_lanes). */
#define MANY_PROGRAMS 16
#define MANY_LANES 65536

void group_ref(struct group *g)
{
	g->refs++;
}

static void queue_frun_free(struct ctl *c, struct queue_frun *p)
{
	unsigned n = p->run != NULL ? frun_nclasses(p->run) : 0;

	for (unsigned i = 0; i < n && p->entry != NULL; i++)
		mark_give(c, p->entry[i]);
	free(p->entry);
	free(p->mark);
	free(p->mem);
	if (p->run != NULL)
		frun_free(p->run);
}

void group_unref(struct ctl *c, struct group *g)
{
	if (g == NULL || --g->refs > 0)
		return;
	for (unsigned i = 0; i < g->nqueues * g->sched.nphases; i++)
		queue_frun_free(c, &g->frun[i]);
	for (unsigned i = 0; i < g->n; i++)
		frames_unref(g->member[i].frames);
	free(g->frun);
	free(g->l1);
	free(g->l2);
	free(g->in);
	free(g->member);
	sched_free(&g->sched);
	free(g);
}

void groups_free(struct ctl *c, struct groups *p)
{
	for (unsigned i = 0; i < p->ngroups; i++)
		group_unref(c, p->group[i]);
	free(p->group);
	*p = (struct groups){0};
}

uint64_t group_wire(const struct group *g, uint64_t k, bool l2)
{
	unsigned p = g->sched.nphases - 1;

	while (p > 0 && g->sched.phase[p].k0 > k)
		p--;
	const struct frun *f = g->frun[p].run;
	k -= g->sched.phase[p].k0;
	return l2 ? g->l2[p] + frun_l2(f, k) : g->l1[p] + frun_wire(f, k);
}

/* ---- one group ---- */

/* Returns whether the device can make the checksums of all frames of the group. */
static bool all_offload(const struct ctl_port *cp, const struct group_spec *m)
{
	if (cp->p.tx_offloads == 0 || cp->cfg.no_offload)
		return false;
	for (unsigned i = 0; i < m->n; i++)
		for (unsigned k = 0; k < m->member[i].frames->nrecipes; k++) {
			const struct frame_recipe *p = &m->member[i].frames->recipe[k];
			uint64_t need = (p->offload_ip4 ? RTE_ETH_TX_OFFLOAD_IPV4_CKSUM : 0) |
					(p->offload_udp ? RTE_ETH_TX_OFFLOAD_UDP_CKSUM : 0) |
					(p->offload_tcp ? RTE_ETH_TX_OFFLOAD_TCP_CKSUM : 0);
			if (!p->offload || (need & ~cp->p.tx_offloads) != 0)
				return false;
		}
	return true;
}

/* Returns whether nothing has changed of what the group is made of. */
static bool same_group(const struct group *g, const struct group_spec *m, bool offload,
		       unsigned nqueues)
{
	if (g->n != m->n || g->offload != offload || g->nqueues != nqueues)
		return false;
	for (unsigned i = 0; i < m->n; i++)
		if (g->member[i].cell != m->member[i].cell ||
		    g->member[i].version != m->member[i].version || g->in[i].id != m->in[i].id ||
		    g->in[i].count != m->in[i].count)
			return false;
	return sched_equal(&g->sched, g->in, &m->sched, m->in);
}

/* Gives a new frun its state and its marks. */
static void queue_frun_equip(struct ctl *c, struct queue_frun *p)
{
	unsigned n = frun_nclasses(p->run);

	p->mem = xrealloc(NULL, frun_state_size(p->run) + CACHE_LINE);
	p->state = RTE_PTR_ALIGN_CEIL(p->mem, CACHE_LINE);
	/* This also touches each page, so that no worker has to be the first. */
	memset(p->state, 0, frun_state_size(p->run));
	p->mark = xcalloc(n, sizeof(*p->mark));
	p->entry = xcalloc(n, sizeof(*p->entry));
	for (unsigned i = 0; i < n; i++) {
		p->entry[i] = mark_take(c, p->run, frun_class(p->run, i));
		p->mark[i] = mark_number(p->entry[i]);
	}
}

/* What the fruns of one phase are made of, whatever their queue. */
struct phase_spec {
	struct frun_slot *cycle;
	const struct frame_recipe **recipe;
	uint32_t *cell;
	uint64_t *o0;
	unsigned nrecipes, nstreams;
};

static void phase_spec_free(struct phase_spec *ps)
{
	free(ps->cycle);
	free(ps->recipe);
	free(ps->cell);
	free(ps->o0);
}

/* Adds a stream and its frame recipes. Returns the index of the first of these. */
static unsigned add_stream(struct phase_spec *ps, const struct group_member *m, uint64_t o0)
{
	unsigned first = ps->nrecipes;

	ps->cell[ps->nstreams] = m->cell;
	ps->o0[ps->nstreams++] = o0;
	for (unsigned k = 0; k < m->frames->nrecipes; k++)
		ps->recipe[ps->nrecipes++] = &m->frames->recipe[k];
	return first;
}

static unsigned all_recipes(const struct group_spec *m)
{
	unsigned n = 0;

	for (unsigned i = 0; i < m->n; i++)
		n += m->member[i].frames->nrecipes;
	return n;
}

/* Fills *ps for a phase. After an error there is nothing to free. */
static int phase_spec(struct group *g, const struct group_spec *m, const struct sched_phase *ph,
		      struct phase_spec *ps, struct err *e)
{
	unsigned recipes = all_recipes(m), n = 0;
	uint32_t *base = xcalloc(ph->nstreams, sizeof(*base));

	*ps = (struct phase_spec){.cycle = xcalloc(ph->ncycle, sizeof(*ps->cycle)),
				  .recipe = xcalloc(recipes, sizeof(*ps->recipe)),
				  .cell = xcalloc(m->n, sizeof(*ps->cell)),
				  .o0 = xcalloc(m->n, sizeof(*ps->o0))};
	for (unsigned i = 0; i < ph->nstreams; i++) {
		base[i] = add_stream(ps, &m->member[ph->stream[i]], ph->o0[i]);
		n = ps->nrecipes;
	}
	for (unsigned i = 0; i < ph->ncycle && n <= UINT16_MAX + 1u; i++) {
		const struct sched_slot *slot = &ph->slot[i];
		const struct stream_frames *s = m->member[ph->stream[slot->stream]].frames;
		ps->cycle[i] = (struct frun_slot){.stream = slot->stream,
						  .recipe = (uint16_t)(base[slot->stream] +
								       s->item[slot->item])};
		g->sizes = fnv1a_number(g->sizes, s->recipe[s->item[slot->item]].len);
	}
	free(base);
	if (n > UINT16_MAX + 1u) {
		phase_spec_free(ps);
		return err_set(e, EINVAL,
			       "its streams have %u different frames, at most %u; fewer sizes help",
			       n, UINT16_MAX + 1u);
	}
	return 0;
}

/* Returns frun_spec.max_lanes for the fruns of a group. */
static uint32_t lanes_of(const struct group *g)
{
	unsigned n = g->of * g->sched.nphases, lanes = n > 0 ? MANY_LANES / n : 0;

	return n <= MANY_PROGRAMS ? 0 : lanes > MANY_PROGRAMS ? lanes : MANY_PROGRAMS;
}

/* Makes the fruns of phase p for all queues. */
static int make_phase(struct ctl *c, struct group *g, unsigned p, const struct group_spec *m,
		      struct err *e)
{
	const struct sched_phase *ph = &g->sched.phase[p];
	unsigned nq = g->nqueues;
	struct phase_spec ps;
	int rc = phase_spec(g, m, ph, &ps, e);

	if (rc < 0)
		return rc;
	for (unsigned q = 0; q < nq && rc == 0; q++) {
		struct queue_frun *to = &g->frun[q * g->sched.nphases + p];
		struct frun_spec spec = {
			.cycle = ps.cycle,
			.ncycle = ph->ncycle,
			.recipe = ps.recipe,
			.nrecipes = ps.nrecipes,
			.stream_id = ps.cell,
			.o0 = ps.o0,
			.nstreams = ps.nstreams,
			.first = (unsigned)((q + nq - ph->k0 % nq) % nq),
			.nqueues = nq,
			.sched_id = g->sched_id + p,
			.offload = g->offload,
			.data_off = GEN_DATA_OFF,
			.len16_off = GEN_LEN16_OFF,
			.len32_off = GEN_LEN32_OFF,
			.max_lanes = lanes_of(g),
		};
		to->run = frun_new(&spec, e);
		if (to->run == NULL) {
			rc = -EINVAL;
			break;
		}
		queue_frun_equip(c, to);
		if (q == 0)
			g->bytes += frun_size(to->run) + frun_state_size(to->run);
	}
	if (rc == 0 && p + 1 < g->sched.nphases) {
		g->l1[p + 1] = g->l1[p] + frun_wire(g->frun[p].run, ph->end - ph->k0);
		g->l2[p + 1] = g->l2[p] + frun_l2(g->frun[p].run, ph->end - ph->k0);
	}
	phase_spec_free(&ps);
	return rc;
}

/* Sets g->size and g->mean_size. */
static void group_sizes(struct group *g, const struct group_spec *m)
{
	double sum = 0, weights = 0;

	g->size = m->member[0].frames->recipe[0].len + FRAME_FCS;
	for (unsigned i = 0; i < m->n; i++) {
		const struct stream_frames *f = m->member[i].frames;
		for (unsigned k = 0; k < f->nrecipes && g->size != 0; k++)
			if (f->recipe[k].len + (unsigned)FRAME_FCS != g->size)
				g->size = 0;
		sum += f->mean_size * m->in[i].weight;
		weights += m->in[i].weight;
	}
	g->mean_size = sum / weights;
}

static void *copy_of(const void *p, size_t bytes)
{
	void *to = xcalloc(1, bytes > 0 ? bytes : 1);

	return bytes > 0 ? memcpy(to, p, bytes) : to;
}

/* Gives the group the numbers of its order: those of `like` if the order goes on, else new ones. */
static void group_number(struct ctl *c, struct group *g, const struct group *like)
{
	if (like != NULL) {
		g->epoch = like->epoch;
		g->sched_id = like->sched_id;
		return;
	}
	g->epoch = ++send_ctl(c)->epoch_seq;
	g->sched_id = send_ctl(c)->sched_seq + 1;
	/* One number for each phase. The same order with other sizes has as many phases. */
	send_ctl(c)->sched_seq += g->sched.nphases;
}

int group_make(struct ctl *c, struct ctl_port *cp, struct group_spec *spec, struct group **out,
	       struct err *e)
{
	bool offload = all_offload(cp, spec);
	struct group *like = spec->like;
	int rc = 0;

	if (like != NULL && same_group(like, spec, offload, spec->nqueues)) {
		sched_free(&spec->sched);
		group_ref(like);
		*out = like;
		return 0;
	}
	struct group *g = xcalloc(1, sizeof(*g));
	*g = (struct group){.refs = 1,
			    .cell = spec->cell,
			    .sched = spec->sched,
			    .n = spec->n,
			    .of = spec->of,
			    .nqueues = spec->nqueues,
			    .offload = offload,
			    .sizes = 1};
	spec->sched = (struct sched){0};
	unsigned np = g->sched.nphases;
	g->in = copy_of(spec->in, g->n * sizeof(*g->in));
	g->member = copy_of(spec->member, g->n * sizeof(*g->member));
	for (unsigned i = 0; i < g->n; i++)
		frames_ref(g->member[i].frames);
	group_number(c, g, like);
	g->frun = xcalloc((size_t)np * g->nqueues, sizeof(*g->frun));
	g->l1 = xcalloc(np, sizeof(*g->l1));
	g->l2 = xcalloc(np, sizeof(*g->l2));
	group_sizes(g, spec);
	for (unsigned p = 0; p < np && rc == 0; p++)
		rc = make_phase(c, g, p, spec, e);
	if (rc < 0)
		group_unref(c, g);
	else
		*out = g;
	return rc;
}

/* ---- the groups of a port ---- */

struct group *group_of(const struct groups *p, int32_t cell)
{
	unsigned lo = 0, hi = p != NULL ? p->ngroups : 0;

	while (lo < hi) {
		unsigned mid = (lo + hi) / 2;
		if (p->group[mid]->cell < cell)
			lo = mid + 1;
		else
			hi = mid;
	}
	return p != NULL && lo < p->ngroups && p->group[lo]->cell == cell ? p->group[lo] : NULL;
}

struct sched_in sched_in_of(const struct stream *s)
{
	return (struct sched_in){.id = s->cfg.id,
				 .key = s->cell,
				 .weight = (uint32_t)s->cfg.weight,
				 .nsizes = stream_nsizes(s),
				 .count = s->cfg.count};
}

struct group_member group_member_of(const struct stream *s)
{
	return (struct group_member){.cell = s->cell, .version = s->version, .frames = s->frames};
}

static int by_cell(const void *a, const void *b)
{
	const struct stream *const *x = a, *const *y = b;

	return (*x)->cell < (*y)->cell ? -1 : (*x)->cell > (*y)->cell;
}

int groups_sizes_check(const struct ctl_port *cp, uint64_t sizes, struct err *e)
{
	if (sizes <= MAX_SIZES)
		return 0;
	return err_set(
		e, EINVAL,
		"port %u: its streams have %llu frame sizes in all, at most %d; fewer sizes or streams help",
		cp->p.id, (unsigned long long)sizes, MAX_SIZES);
}

int groups_pick(const struct ctl_port *cp, struct picked *out, struct err *e)
{
	uint64_t sizes = 0;

	*out = (struct picked){.turn = xcalloc(cp->total, sizeof(*out->turn)),
			       .own = xcalloc(cp->total, sizeof(*out->own))};
	for (unsigned i = 0; i < cp->nstreams; i++) {
		struct stream *s = cp->stream[i];
		if (!stream_scheduled(s))
			continue;
		sizes += stream_nsizes(s);
		if (s->cfg.rate.set)
			out->own[out->nown++] = s;
		else
			out->turn[out->nturn++] = s;
	}
	qsort(out->own, out->nown, sizeof(*out->own), by_cell);
	if (out->nturn + out->nown == 0 && !streams_carried(cp))
		return err_set(e, EINVAL,
			       "port %u: no stream is enabled; `set %u/%u enabled on` enables one",
			       cp->p.id, cp->p.id, stream_first(cp)->cfg.id);
	return groups_sizes_check(cp, sizes, e);
}

void groups_picked_free(struct picked *p)
{
	free(p->turn);
	free(p->own);
}

/* Makes the frame recipes of these streams, where they are not made yet. Returns 0 or -errno with
 * *e. */
static int groups_compile(struct ctl *c, struct ctl_port *cp, const struct picked *p, struct err *e)
{
	int rc = 0;

	for (unsigned i = 0; i < p->nturn && rc == 0; i++)
		rc = stream_recipes(c, cp, p->turn[i], e);
	for (unsigned i = 0; i < p->nown && rc == 0; i++)
		rc = stream_recipes(c, cp, p->own[i], e);
	return rc;
}

void groups_add(struct groups *p, struct group *g)
{
	p->group[p->ngroups++] = g;
	for (unsigned i = 0; i < g->n; i++)
		p->counted |= g->in[i].count != 0;
}

/* Adds to `to` the group of the streams s[0..n). It takes their schedule. */
static int add_group(struct ctl *c, struct ctl_port *cp, struct groups *to, int32_t cell,
		     struct stream *const *s, const struct sched_in *in, unsigned n, unsigned of,
		     struct sched *sched, const struct groups *old, struct err *e)
{
	struct group_spec spec = {.cell = cell,
				  .n = n,
				  .of = of,
				  .in = (struct sched_in *)(uintptr_t)in,
				  .member = xcalloc(n, sizeof(*spec.member)),
				  .sched = *sched,
				  .nqueues = to->nqueues};
	struct group *had = group_of(old, cell), *g;
	struct err why = {.text = ""};

	*sched = (struct sched){0};
	for (unsigned i = 0; i < n; i++)
		spec.member[i] = group_member_of(s[i]);
	if (had != NULL && sched_equal(&had->sched, had->in, &spec.sched, in))
		spec.like = had;
	int rc = group_make(c, cp, &spec, &g, &why);
	free(spec.member);
	if (rc < 0)
		return err_set(e, -rc, "port %u: %s", cp->p.id, why.text);
	groups_add(to, g);
	return 0;
}

/* Adds to `to` the group of a stream with a rate of its own. of: how many of these there are. */
static int add_own(struct ctl *c, struct ctl_port *cp, struct groups *to, struct stream *s,
		   unsigned of, const struct groups *old, struct err *e)
{
	struct sched_in in = sched_in_of(s);
	struct sched sched;
	int rc = sched_make(&in, 1, UINT64_MAX, cp->p.id, &sched, e);

	return rc < 0 ? rc : add_group(c, cp, to, (int32_t)s->cell, &s, &in, 1, of, &sched, old, e);
}

int groups_make(struct ctl *c, struct ctl_port *cp, const struct groups *old, unsigned nqueues,
		uint64_t limit, struct groups *out, struct err *e)
{
	struct sched sched = {0};
	struct picked p;
	int rc = groups_pick(cp, &p, e);
	struct sched_in *in = xcalloc(p.nturn + 1, sizeof(*in));

	*out = (struct groups){.group = xcalloc(p.nown + 1, sizeof(*out->group)),
			       .nqueues = nqueues};
	for (unsigned i = 0; i < p.nturn; i++)
		in[i] = sched_in_of(p.turn[i]);
	if (rc == 0 && p.nturn > 0)
		rc = sched_make(in, p.nturn, limit, cp->p.id, &sched, e);
	if (rc == 0)
		rc = groups_compile(c, cp, &p, e);
	if (rc == 0 && p.nturn > 0)
		rc = add_group(c, cp, out, -1, p.turn, in, p.nturn, 1, &sched, old, e);
	for (unsigned i = 0; i < p.nown && rc == 0; i++)
		rc = add_own(c, cp, out, p.own[i], p.nown, old, e);
	sched_free(&sched);
	groups_picked_free(&p);
	free(in);
	if (rc < 0)
		groups_free(c, out);
	return rc;
}
