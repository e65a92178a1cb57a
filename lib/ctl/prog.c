/* SPDX-License-Identifier: BSD-3-Clause */
/* Streams of a port -> programs for its Tx queues. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ctl_int.h"

#define MAX_SIZES 262144 /* of all streams of a port: each is a frame that is made */
#define MANY_PROGRAMS 16 /* of a queue: more of them share so many frames that are kept ready: */
#define MANY_LANES 65536

void group_ref(struct group *g)
{
	g->refs++;
}

static void prog_free(struct ctl *c, struct prog *p)
{
	unsigned n = p->run != NULL ? frun_nclasses(p->run) : 0;

	for (unsigned i = 0; i < n && p->entry != NULL; i++)
		tag_give(c, p->entry[i]);
	free(p->entry);
	free(p->tag);
	free(p->mem);
	if (p->run != NULL)
		frun_free(p->run);
}

void group_unref(struct ctl *c, struct group *g)
{
	if (g == NULL || --g->refs > 0)
		return;
	for (unsigned i = 0; i < g->nqueues * g->sched.nphases; i++)
		prog_free(c, &g->prog[i]);
	free(g->prog);
	free(g->l1);
	free(g->l2);
	free(g->in);
	free(g->member);
	sched_free(&g->sched);
	free(g);
}

void program_free(struct ctl *c, struct program *p)
{
	for (unsigned i = 0; i < p->ngroups; i++)
		group_unref(c, p->group[i]);
	free(p->group);
	*p = (struct program){0};
}

uint64_t group_wire(const struct group *g, uint64_t k, bool l2)
{
	unsigned p = g->sched.nphases - 1;

	while (p > 0 && g->sched.phase[p].k0 > k)
		p--;
	const struct frun *f = g->prog[p].run;
	k -= g->sched.phase[p].k0;
	return l2 ? g->l2[p] + frun_l2(f, k) : g->l1[p] + frun_wire(f, k);
}

/* ---- one group ---- */

/* The streams of a group in the order of its schedule's input. */
struct members {
	struct stream **s;
	struct sched_in *in;
	unsigned n;
	unsigned of; /* groups of the port */
};

static bool all_offload(const struct ctl_port *cp, const struct members *m)
{
	if (cp->tx_offloads == 0 || cp->p.cfg.no_offload)
		return false;
	for (unsigned i = 0; i < m->n; i++)
		for (unsigned k = 0; k < m->s[i]->nplans; k++) {
			const struct frame_plan *p = &m->s[i]->plan[k];
			uint64_t need = (p->offload_ip4 ? RTE_ETH_TX_OFFLOAD_IPV4_CKSUM : 0) |
					(p->offload_udp ? RTE_ETH_TX_OFFLOAD_UDP_CKSUM : 0) |
					(p->offload_tcp ? RTE_ETH_TX_OFFLOAD_TCP_CKSUM : 0);
			if (!p->offload || (need & ~cp->tx_offloads) != 0)
				return false;
		}
	return true;
}

/* Nothing that a group is made of has changed. */
static bool same_group(const struct group *g, const struct members *m, const struct sched *s, bool offload,
		       unsigned nqueues)
{
	if (g->n != m->n || g->offload != offload || g->nqueues != nqueues)
		return false;
	for (unsigned i = 0; i < m->n; i++)
		if (g->member[i].cell != m->s[i]->cell || g->member[i].version != m->s[i]->version ||
		    g->in[i].id != m->in[i].id)
			return false;
	return sched_equal(&g->sched, g->in, s, m->in);
}

static void equip(struct ctl *c, struct prog *p)
{
	unsigned n = frun_nclasses(p->run);

	p->mem = xrealloc(NULL, frun_state_size(p->run) + CACHE_LINE);
	p->state = RTE_PTR_ALIGN_CEIL(p->mem, CACHE_LINE);
	memset(p->state, 0, frun_state_size(p->run)); /* also so that no worker is the first to touch a page */
	p->tag = xcalloc(n, sizeof(*p->tag));
	p->entry = xcalloc(n, sizeof(*p->entry));
	for (unsigned i = 0; i < n; i++) {
		p->entry[i] = tag_take(c, p->run, frun_class(p->run, i));
		p->tag[i] = tag_number(p->entry[i]);
	}
}

/* What the frun of each queue is made of in one phase. */
struct phase_spec {
	struct frun_slot *cycle;
	const struct frame_plan **plan;
	uint32_t *cell;
	unsigned nplans;
};

static int phase_spec(struct group *g, const struct members *m, const struct sched_phase *ph, struct phase_spec *out,
		      struct err *e)
{
	uint32_t *base = xcalloc(ph->nstreams, sizeof(*base)), n = 0;

	*out = (struct phase_spec){0};
	for (unsigned i = 0; i < ph->nstreams; i++) {
		base[i] = n;
		n += m->s[ph->stream[i]]->nplans;
	}
	if (n > UINT16_MAX + 1u) {
		free(base);
		return err_set(e, EINVAL, "its streams have %u different frames, at most %u; fewer sizes help", n,
			       UINT16_MAX + 1u);
	}
	*out = (struct phase_spec){.nplans = n,
				   .cycle = xcalloc(ph->ncycle, sizeof(*out->cycle)),
				   .plan = xcalloc(n, sizeof(*out->plan)),
				   .cell = xcalloc(ph->nstreams, sizeof(*out->cell))};
	for (unsigned i = 0; i < ph->nstreams; i++) {
		const struct stream *s = m->s[ph->stream[i]];
		out->cell[i] = s->cell;
		for (unsigned k = 0; k < s->nplans; k++)
			out->plan[base[i] + k] = &s->plan[k];
	}
	for (unsigned i = 0; i < ph->ncycle; i++) {
		const struct sched_slot *slot = &ph->slot[i];
		const struct stream *s = m->s[ph->stream[slot->stream]];
		out->cycle[i] = (struct frun_slot){.stream = slot->stream,
						   .plan = (uint16_t)(base[slot->stream] + s->item[slot->item])};
		g->sizes = (g->sizes ^ s->plan[s->item[slot->item]].len) * 0x100000001b3ull;
	}
	free(base);
	return 0;
}

static uint32_t lanes_of(const struct group *g)
{
	unsigned n = g->of * g->sched.nphases, lanes = n > 0 ? MANY_LANES / n : 0;

	return n <= MANY_PROGRAMS ? 0 : lanes > MANY_PROGRAMS ? lanes : MANY_PROGRAMS;
}

static int make_phase(struct ctl *c, struct group *g, unsigned p, const struct members *m, struct err *e)
{
	const struct sched_phase *ph = &g->sched.phase[p];
	unsigned nq = g->nqueues;
	struct phase_spec ps;
	int rc = phase_spec(g, m, ph, &ps, e);

	if (rc < 0)
		return rc;
	for (unsigned q = 0; q < nq && rc == 0; q++) {
		struct prog *to = &g->prog[q * g->sched.nphases + p];
		struct frun_spec spec = {
			.cycle = ps.cycle,
			.ncycle = ph->ncycle,
			.plan = ps.plan,
			.nplans = ps.nplans,
			.stream_id = ps.cell,
			.o0 = ph->o0,
			.nstreams = ph->nstreams,
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
		equip(c, to);
		if (q == 0)
			g->bytes += frun_size(to->run) + frun_state_size(to->run);
	}
	if (rc == 0 && p + 1 < g->sched.nphases) {
		g->l1[p + 1] = g->l1[p] + frun_wire(g->prog[p].run, ph->end - ph->k0);
		g->l2[p + 1] = g->l2[p] + frun_l2(g->prog[p].run, ph->end - ph->k0);
	}
	free(ps.cycle);
	free(ps.plan);
	free(ps.cell);
	return rc;
}

static void group_sizes(struct group *g, const struct members *m)
{
	double sum = 0, weights = 0;

	g->size = m->s[0]->plan[0].len + FRAME_FCS;
	for (unsigned i = 0; i < m->n; i++) {
		for (unsigned k = 0; k < m->s[i]->nplans && g->size != 0; k++)
			if (m->s[i]->plan[k].len + (unsigned)FRAME_FCS != g->size)
				g->size = 0;
		sum += m->s[i]->mean_size * m->in[i].weight;
		weights += m->in[i].weight;
	}
	g->mean_size = sum / weights;
}

/* Takes sched. old: the group of the same cell before, or NULL. */
static int group_make(struct ctl *c, struct ctl_port *cp, int32_t cell, const struct members *m, struct sched *sched,
		      struct group *old, struct group **out, struct err *e)
{
	bool offload = all_offload(cp, m);
	int rc = 0;

	if (old != NULL && same_group(old, m, sched, offload, cp->p.ntxq)) {
		sched_free(sched);
		group_ref(old);
		*out = old;
		return 0;
	}
	struct group *g = xcalloc(1, sizeof(*g));
	*g = (struct group){.refs = 1,
			    .cell = cell,
			    .sched = *sched,
			    .n = m->n,
			    .of = m->of,
			    .nqueues = cp->p.ntxq,
			    .offload = offload,
			    .sizes = 1};
	*sched = (struct sched){0};
	unsigned np = g->sched.nphases;
	g->in = xcalloc(m->n, sizeof(*g->in));
	memcpy(g->in, m->in, m->n * sizeof(*g->in));
	g->member = xcalloc(m->n, sizeof(*g->member));
	for (unsigned i = 0; i < m->n; i++)
		g->member[i] = (struct group_member){.cell = m->s[i]->cell, .version = m->s[i]->version};
	if (old != NULL && sched_equal(&old->sched, old->in, &g->sched, g->in)) {
		g->epoch = old->epoch;
		g->sched_id = old->sched_id;
	} else {
		g->epoch = ++c->epoch_seq;
		g->sched_id = c->sched_seq + 1;
		c->sched_seq += np;
	}
	g->prog = xcalloc((size_t)np * g->nqueues, sizeof(*g->prog));
	g->l1 = xcalloc(np, sizeof(*g->l1));
	g->l2 = xcalloc(np, sizeof(*g->l2));
	group_sizes(g, m);
	for (unsigned p = 0; p < np && rc == 0; p++)
		rc = make_phase(c, g, p, m, e);
	if (rc < 0)
		group_unref(c, g);
	else
		*out = g;
	return rc;
}

/* ---- the groups of a port ---- */

static struct group *group_of(const struct program *p, int32_t cell)
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

static struct sched_in in_of(const struct stream *s)
{
	return (struct sched_in){.id = s->cfg.id,
				 .key = s->cell,
				 .weight = (uint32_t)s->cfg.weight,
				 .nsizes = stream_nsizes(s),
				 .count = s->cfg.count};
}

static int by_cell(const void *a, const void *b)
{
	const struct stream *const *x = a, *const *y = b;

	return (*x)->cell < (*y)->cell ? -1 : (*x)->cell > (*y)->cell;
}

/* The enabled streams: those of the schedule in ascending order of id, those with a rate of their own in that of their cell. */
struct picked {
	struct stream **turn, **own;
	struct sched_in *in;
	unsigned nturn, nown;
};

static int pick(const struct ctl_port *cp, struct picked *out, struct err *e)
{
	uint64_t sizes = 0;

	*out = (struct picked){.turn = xcalloc(cp->total, sizeof(*out->turn)),
			       .own = xcalloc(cp->total, sizeof(*out->own)),
			       .in = xcalloc(cp->total, sizeof(*out->in))};
	for (unsigned i = 0; i < cp->nstreams; i++) {
		struct stream *s = cp->stream[i];
		if (s == NULL || !s->cfg.enabled)
			continue;
		sizes += stream_nsizes(s);
		if (s->cfg.rate.set) {
			out->own[out->nown++] = s;
		} else {
			out->in[out->nturn] = in_of(s);
			out->turn[out->nturn++] = s;
		}
	}
	qsort(out->own, out->nown, sizeof(*out->own), by_cell);
	if (out->nturn + out->nown == 0)
		return err_set(e, EINVAL, "port %u: no stream is enabled; `set %u/%u enabled on` enables one", cp->p.id,
			       cp->p.id, stream_first(cp)->cfg.id);
	if (sizes > MAX_SIZES)
		return err_set(
			e, EINVAL,
			"port %u: its streams have %llu frame sizes in all, at most %d; fewer sizes or streams help",
			cp->p.id, (unsigned long long)sizes, MAX_SIZES);
	return 0;
}

static void picked_free(struct picked *p)
{
	free(p->turn);
	free(p->own);
	free(p->in);
}

static int compile_all(struct ctl *c, struct ctl_port *cp, struct stream *const *s, unsigned n, struct err *e)
{
	int rc = 0;

	for (unsigned i = 0; i < n && rc == 0; i++)
		rc = stream_plans(c, cp, s[i], e);
	return rc;
}

static int add_group(struct ctl *c, struct ctl_port *cp, struct program *to, int32_t cell, const struct members *m,
		     struct sched *sched, const struct program *old, struct err *e)
{
	struct err why = {.text = ""};
	int rc = group_make(c, cp, cell, m, sched, group_of(old, cell), &to->group[to->ngroups], &why);

	if (rc < 0)
		return err_set(e, -rc, "port %u: %s", cp->p.id, why.text);
	to->ngroups++;
	for (unsigned i = 0; i < m->n; i++)
		to->counted |= m->in[i].count != 0;
	return 0;
}

static int add_own(struct ctl *c, struct ctl_port *cp, struct program *to, struct stream *s, unsigned of,
		   const struct program *old, struct err *e)
{
	struct sched_in in = in_of(s);
	struct members m = {.s = &s, .in = &in, .n = 1, .of = of};
	struct sched sched;
	int rc = sched_make(&in, 1, UINT64_MAX, cp->p.id, &sched, e);

	return rc < 0 ? rc : add_group(c, cp, to, (int32_t)s->cell, &m, &sched, old, e);
}

int program_make(struct ctl *c, struct ctl_port *cp, const struct program *old, uint64_t limit, struct program *out,
		 struct err *e)
{
	struct sched sched = {0};
	struct picked p;
	int rc = pick(cp, &p, e);

	*out = (struct program){.group = xcalloc(p.nown + 1, sizeof(*out->group))};
	if (rc == 0 && p.nturn > 0)
		rc = sched_make(p.in, p.nturn, limit, cp->p.id, &sched, e);
	if (rc == 0)
		rc = compile_all(c, cp, p.turn, p.nturn, e);
	if (rc == 0)
		rc = compile_all(c, cp, p.own, p.nown, e);
	if (rc == 0 && p.nturn > 0)
		rc = add_group(c, cp, out, -1, &(struct members){.s = p.turn, .in = p.in, .n = p.nturn, .of = 1},
			       &sched, old, e);
	for (unsigned i = 0; i < p.nown && rc == 0; i++)
		rc = add_own(c, cp, out, p.own[i], p.nown, old, e);
	sched_free(&sched);
	picked_free(&p);
	if (rc < 0)
		program_free(c, out);
	return rc;
}

static int follow_group(struct ctl *c, struct ctl_port *cp, const struct program *old, const struct group *g,
			struct stream *const *of_cell, struct program *out, struct err *e)
{
	struct members m = {.s = xcalloc(g->n, sizeof(*m.s)), .in = g->in, .n = g->n, .of = g->of};
	struct sched sched;
	int rc = 0;

	for (unsigned i = 0; i < g->n && rc == 0; i++) {
		m.s[i] = of_cell[g->member[i].cell];
		if (m.s[i] == NULL || stream_nsizes(m.s[i]) != g->in[i].nsizes)
			rc = err_set(e, ESTALE, "port %u: another order of streams", cp->p.id);
		else
			rc = stream_plans(c, cp, m.s[i], e);
	}
	if (rc == 0) {
		sched_copy(&sched, &g->sched);
		rc = add_group(c, cp, out, g->cell, &m, &sched, old, e);
	}
	free(m.s);
	return rc;
}

int program_follow(struct ctl *c, struct ctl_port *cp, const struct program *old, struct program *out, struct err *e)
{
	struct stream **of_cell = xcalloc(CTL_CELLS, sizeof(struct stream *));
	int rc = 0;

	*out = (struct program){.group = xcalloc(old->ngroups + 1, sizeof(*out->group))};
	for (unsigned i = 0; i < cp->nstreams; i++)
		if (cp->stream[i] != NULL)
			of_cell[cp->stream[i]->cell] = cp->stream[i];
	for (unsigned i = 0; i < old->ngroups && rc == 0; i++)
		rc = follow_group(c, cp, old, old->group[i], of_cell, out, e);
	free(of_cell);
	if (rc < 0)
		program_free(c, out);
	return rc;
}

bool program_same_order(const struct program *a, const struct program *b)
{
	if (a->ngroups != b->ngroups)
		return false;
	for (unsigned i = 0; i < a->ngroups; i++)
		if (a->group[i]->cell != b->group[i]->cell || a->group[i]->epoch != b->group[i]->epoch)
			return false;
	return true;
}
