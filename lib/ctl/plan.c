/* SPDX-License-Identifier: BSD-3-Clause */
/* Settings, placement and run life -> immutable plans, and their way to the workers and back. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ctl_int.h"

#define IDLE_NS 50000000ull     /* without work for so long: sleep */
#define GIVEUP_NS 1000000000ull /* after the end of a timed run without any accepted frame */
#define FORGIVE_NS 50000000ull

void stream_plans_free(struct stream *s)
{
	(void)s;
}

double plan_pps(const struct rate *r, uint64_t speed_bps, uint32_t size, bool *max)
{
	*max = r->kind == RATE_MAX;
	switch (r->kind) {
	case RATE_PERCENT:
		return (double)speed_bps * r->value / 100 / (double)pace_l1_bits(size);
	case RATE_PPS:
		return r->value;
	case RATE_L1_BPS:
		return r->value / (double)pace_l1_bits(size);
	case RATE_L2_BPS:
		return r->value / (double)pace_l2_bits(size);
	case RATE_MAX:
		break;
	}
	return 0;
}

uint64_t plan_speed(const struct ctl_port *cp)
{
	if (cp->p.cfg.speed_bps != 0)
		return cp->p.cfg.speed_bps;
	if (!cp->p.spec->virtual_speed && cp->link_mbps != 0)
		return cp->link_mbps * 1000000;
	return DEFAULT_SPEED_BPS;
}

unsigned plan_max_size(const struct ctl_port *cp)
{
	const struct stream_cfg *s = &stream_first(cp)->cfg;
	unsigned tags = 0;

	for (unsigned i = 0; i < s->frame.stack.n; i++) {
		const char *n = s->frame.stack.hdr[i]->name;
		tags += strcmp(n, "vlan") == 0 || strcmp(n, "qinq") == 0;
	}
	return (unsigned)dev_mtu(cp) + RTE_ETHER_HDR_LEN + RTE_ETHER_CRC_LEN + 4 * tags;
}

/* What a buffer takes: of the pools that there are, or of those that the next start makes. An interface's mtu may grow beyond both. */
static unsigned tx_room(const struct ctl_port *cp)
{
	bool remade = cp->restart && !cp->run.active;

	if (cp->started && !remade && cp->p.ntxq > 0)
		return rte_pktmbuf_data_room_size(cp->txq[0]->pool) - RTE_PKTMBUF_HEADROOM;
	return eal_data_room(dev_mtu(cp)) - RTE_PKTMBUF_HEADROOM;
}

int plan_template(struct ctl *c, struct ctl_port *cp, struct frame *out, struct err *e)
{
	const struct stream_cfg *s = &stream_first(cp)->cfg;
	struct err why;
	int rc = frame_build(&s->frame, &s->dflt, plan_max_size(cp), out, &why);

	(void)c;
	if (rc < 0)
		return err_set(e, -rc, "port %u: %s", cp->p.id, why.text);
	if (out->len > tx_room(cp))
		return err_set(e, EINVAL, "port %u: a frame of %u bytes does not fit a buffer; set %u mtu %u", cp->p.id, out->len + FRAME_FCS,
			       cp->p.id, out->len - RTE_ETHER_HDR_LEN);
	return 0;
}

/* A port's template follows its settings; while it sends, one that cannot be built is not taken over. */
void plan_refresh(struct ctl *c, struct ctl_port *cp)
{
	static struct frame f; /* 16 KB, control thread only */
	struct frame_plan plan;
	struct err e;
	struct template *t = &cp->tmpl;

	if (plan_template(c, cp, &f, &e) < 0) {
		if (cp->run.active)
			ctl_note(c, cp->p.id, "%s; the frames in flight stay as they were", e.text);
		return;
	}
	if (t->valid && t->frame.len == f.len && memcmp(t->frame.bytes, f.bytes, f.len) == 0)
		return;
	if (frame_compile(&cp->stream.frame, &cp->stream.dflt, plan_max_size(cp), &plan, &e) < 0) {
		ctl_note(c, cp->p.id, "%s", e.text);
		return;
	}
	if (t->valid)
		frame_plan_free(&t->plan);
	t->frame = f;
	t->plan = plan;
	t->valid = true;
	t->tag = ++c->tag_seq;
}

static uint64_t run_limit(const struct ctl_port *cp)
{
	uint64_t n = cp->run.count != 0 ? cp->run.count : UINT64_MAX;

	if (!cp->run.rate_changed && cp->run.frames < n)
		n = cp->run.frames;
	return n;
}

/* The program of one queue, in use by one plan. */
static struct frun *program(const struct ctl_port *cp, unsigned q)
{
	static const struct frun_slot slot;
	static const uint32_t id;
	const struct frame_plan *plan = &cp->tmpl.plan;
	struct frun_spec spec = {
		.cycle = &slot, .ncycle = 1, .plan = &plan, .nplans = 1, .stream_id = &id, .nstreams = 1, .first = q, .nqueues = cp->p.ntxq,
		.sched_id = 1, .data_off = GEN_DATA_OFF, .len16_off = GEN_LEN16_OFF, .len32_off = GEN_LEN32_OFF,
	};
	struct err e;

	return frun_new(&spec, &e);
}

struct gen_mem {
	struct gen_job job;
	struct gen_group group;
	struct gen_phase phase;
	uint32_t tag;
};

/* One allocation, and the program: they live as long as the plan. */
static const struct gen_job *new_gen(const struct ctl_port *cp, unsigned q)
{
	const struct run *r = &cp->run;
	double hz = clock_hz();
	struct frun *f = program(cp, q);
	size_t head = RTE_ALIGN_CEIL(sizeof(struct gen_mem), CACHE_LINE), own = RTE_ALIGN_CEIL(gen_mem_size(1), CACHE_LINE);
	size_t all = f != NULL ? head + own + RTE_ALIGN_CEIL(frun_state_size(f), CACHE_LINE) : 0;
	uint8_t *mem = f != NULL ? aligned_alloc(CACHE_LINE, all) : NULL;
	struct gen_mem *m = (struct gen_mem *)mem;

	if (mem == NULL) {
		frun_free(f);
		return NULL;
	}
	memset(mem, 0, all);
	m->tag = cp->tmpl.tag;
	m->phase = (struct gen_phase){.end = UINT64_MAX, .prog = f, .state = mem + head + own, .tag = &m->tag};
	m->group = (struct gen_group){.stream = -1, .nphases = 1, .phase = &m->phase, .period = r->period, .limit = run_limit(cp)};
	m->job = (struct gen_job){
		.txq = cp->txq[q], .ngroups = 1, .group = &m->group, .mem = mem + head, .burst = (uint16_t)cp->p.cfg.burst,
		.queue = (uint16_t)q, .nqueues = cp->p.ntxq, .stop = r->stop, .run = r->id, .start_tsc = r->start_tsc,
		.end_tsc = r->end_tsc, .giveup_cycles = (uint64_t)(hz * GIVEUP_NS / 1e9),
		.forgive_cycles = (uint64_t)(hz * FORGIVE_NS / 1e9),
	};
	return &m->job;
}

void plan_free(struct dp_plan *p)
{
	for (unsigned t = 0; p != NULL && t < p->ntasks; t++) {
		if (p->task[t].kind != &dp_kind_gen)
			continue;
		struct gen_mem *m = (struct gen_mem *)(uintptr_t)p->task[t].job;
		frun_free((struct frun *)(uintptr_t)m->phase.prog);
		free(m);
	}
	free(p);
}

static bool gen_wanted(const struct ctl_port *cp)
{
	return cp->used && cp->started && cp->tmpl.valid && cp->run.id != 0;
}

struct dp_plan *plan_build(struct ctl *c, unsigned worker, bool without_ports)
{
	unsigned ntasks = 0, nrx = 0;

	for (unsigned i = 0; i < c->nports; i++) {
		struct ctl_port *cp = c->port[i];
		if (!cp->used || !cp->started || without_ports)
			continue;
		for (unsigned q = 0; q < cp->p.nrxq; q++)
			nrx += cp->rx_worker[q] == (int)worker;
		for (unsigned q = 0; q < cp->p.ntxq; q++)
			ntasks += cp->tx_worker[q] == (int)worker && gen_wanted(cp);
	}
	ntasks += nrx;
	size_t bytes = sizeof(struct dp_plan) + ntasks * sizeof(struct dp_task) + nrx * sizeof(struct dp_rx_slot);
	struct dp_plan *p = aligned_alloc(CACHE_LINE, RTE_ALIGN_CEIL(bytes, CACHE_LINE));
	if (p == NULL)
		return NULL;
	*p = (struct dp_plan){.seq = ++c->plan_seq, .may_sleep = true, .idle_cycles = (uint64_t)(clock_hz() * IDLE_NS / 1e9)};
	p->task = (struct dp_task *)(p + 1);
	p->rx = (struct dp_rx_slot *)(p->task + ntasks);
	for (unsigned i = 0; i < c->nports; i++) {
		struct ctl_port *cp = c->port[i];
		if (!cp->used || !cp->started || without_ports)
			continue;
		for (unsigned q = 0; q < cp->p.ntxq; q++) {
			if (cp->tx_worker[q] != (int)worker || !gen_wanted(cp))
				continue;
			const struct gen_job *j = new_gen(cp, q);
			if (j == NULL) {
				plan_free(p);
				return NULL;
			}
			p->task[p->ntasks++] = (struct dp_task){.kind = &dp_kind_gen, .state = &cp->gen[q]->base, .job = j};
		}
		for (unsigned q = 0; q < cp->p.nrxq; q++) {
			if (cp->rx_worker[q] != (int)worker)
				continue;
			p->may_sleep &= !cp->p.cfg.idle_busy;
			p->rx[p->nrx++] = (struct dp_rx_slot){.q = cp->rxq[q], .burst = (uint16_t)cp->p.cfg.rxburst, .owner = p->ntasks};
			p->task[p->ntasks++] = (struct dp_task){.kind = &dp_kind_sink, .state = &cp->sink[q]->base};
		}
	}
	return p;
}

/* The rate of a run that goes on; one that is over keeps what it was asked. */
static void ask_rate(struct ctl_port *cp, bool other_frame)
{
	struct run *r = &cp->run;
	bool max;
	double pps = plan_pps(&cp->p.cfg.rate, plan_speed(cp), cp->tmpl.frame.len + FRAME_FCS, &max);

	if (other_frame)
		r->changed_ns = clock_raw_ns();
	if (!r->armed && pps == r->asked_pps && max == r->asked_max)
		return;
	r->asked_pps = pps;
	r->asked_max = max;
	r->period = max ? (struct pace_period){0} : pace_period(clock_hz(), pps);
	r->rate_changed = true;
	r->changed_ns = clock_raw_ns();
}

bool plan_post(struct ctl *c, struct ctl_worker *cw, struct dp_plan *p)
{
	if (!mbox_post(&cw->w->mbox, p))
		return false;
	if (cw->posted != NULL) {
		if (c->nold == c->cap_old) {
			c->cap_old = c->cap_old ? 2 * c->cap_old : 16;
			c->old = xrealloc(c->old, c->cap_old * sizeof(*c->old));
		}
		c->old[c->nold++] = (struct old_plan){.plan = cw->posted, .w = cw};
	}
	cw->posted = p;
	return true;
}

void plan_post_all(struct ctl *c)
{
	for (unsigned i = 0; i < c->nports; i++) {
		struct ctl_port *cp = c->port[i];
		if (!cp->touched || !cp->used)
			continue;
		cp->touched = false;
		uint32_t tag = cp->tmpl.tag;
		dev_promiscuous(c, cp);
		if (cp->started)
			plan_refresh(c, cp);
		if (cp->run.active && cp->tmpl.valid)
			ask_rate(cp, cp->tmpl.tag != tag);
		for (unsigned q = 0; q < cp->p.nrxq; q++)
			c->worker[cp->rx_worker[q]].dirty = true;
		for (unsigned q = 0; q < cp->p.ntxq; q++)
			c->worker[cp->tx_worker[q]].dirty = true;
	}
	run_arm(c);
	for (unsigned w = 0; w < c->nworkers; w++) {
		struct ctl_worker *cw = &c->worker[w];
		if (!cw->dirty)
			continue;
		struct dp_plan *p = plan_build(c, w, false);
		if (p != NULL && plan_post(c, cw, p))
			cw->dirty = false;
		else /* ring full: next turn */
			plan_free(p);
	}
}

void plan_reap(struct ctl *c)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < c->nold; i++) {
		struct old_plan *o = &c->old[i];
		if (o->plan->seq < __atomic_load_n(&o->w->w->cells.acked, __ATOMIC_ACQUIRE))
			plan_free(o->plan);
		else
			c->old[kept++] = *o;
	}
	c->nold = kept;
}

bool plan_wait_acks(struct ctl *c, uint64_t max_ns)
{
	uint64_t until = clock_raw_ns() + max_ns;

	for (;;) {
		bool all = true, dirty = false;
		for (unsigned w = 0; w < c->nworkers; w++) {
			struct ctl_worker *cw = &c->worker[w];
			dirty |= cw->dirty;
			all &= !cw->launched || cw->posted == NULL ||
			       __atomic_load_n(&cw->w->cells.acked, __ATOMIC_ACQUIRE) >= cw->posted->seq;
		}
		if (dirty) { /* what the worker shall let go of has not been told to it */
			plan_post_all(c);
			all = false;
		}
		if (all || clock_raw_ns() > until)
			return all;
		nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
	}
}
