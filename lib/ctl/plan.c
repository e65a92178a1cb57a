/* SPDX-License-Identifier: BSD-3-Clause */
/* Settings, placement and run life -> immutable plans, and their way to the workers and back. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ctl_int.h"

#define IDLE_NS 50000000ull     /* without work for so long: sleep */
#define FORGIVE_NS 50000000ull

/* What a worker is given, with what must live as long. */
struct ctl_plan {
	struct dp_plan p;
	unsigned nrefs;
	struct group **ref;
	struct probe_arm *arm;     /* tables of its taps; NULL: none */
};

void plan_free(struct ctl *c, struct dp_plan *p)
{
	struct ctl_plan *cpl = (struct ctl_plan *)p;

	if (p == NULL)
		return;
	for (unsigned i = 0; i < cpl->nrefs; i++)
		group_unref(c, cpl->ref[i]);
	free(cpl->ref);
	probe_arm_unref(cpl->arm);
	free(cpl);
}

struct group *const *plan_groups(const struct dp_plan *p)
{
	return ((const struct ctl_plan *)p)->ref;
}

/* Said once, not at each plan in which it still holds. */
static void say(struct ctl *c, struct ctl_port *cp, const char *text)
{
	if (strcmp(cp->said, text) == 0)
		return;
	snprintf(cp->said, sizeof(cp->said), "%s", text);
	if (text[0] != '\0')
		ctl_note(c, cp->p.id, "%s", text);
}

/* Does some enabled stream end by a count of its own? */
static bool streams_count(const struct ctl_port *cp)
{
	for (unsigned i = 0; i < cp->nstreams; i++)
		if (cp->stream[i] != NULL && cp->stream[i]->cfg.enabled && cp->stream[i]->cfg.count != 0)
			return true;
	return false;
}

bool plan_waits(const struct ctl *c)
{
	for (unsigned i = 0; i < c->nports; i++)
		if (c->port[i]->used && c->port[i]->touched)
			return true;
	return devices_wait(c);
}

/* The program of a port that sends follows its settings; one that cannot be made is not taken over. While a stream with a count is sent, the
 * order stays. */
void plan_refresh(struct ctl *c, struct ctl_port *cp)
{
	struct program now;
	struct err e;
	char text[sizeof(cp->said)] = "";
	uint64_t limit = cp->run.count != 0 ? cp->run.count : UINT64_MAX;
	bool other = false;
	int rc;

	if (!cp->run.armed && (cp->program.counted || streams_count(cp)))
		rc = program_follow(c, cp, &cp->program, limit, &now, &other, &e);
	else
		rc = program_make(c, cp, &cp->program, limit, &now, &e);
	if (rc < 0)
		snprintf(text, sizeof(text), "%s; the frames in flight stay as they were", e.text);
	else if (other)
		snprintf(text, sizeof(text),
			 "port %u: a stream has a count, so who sends how often stays as it is until the next start (weights, counts, rates of "
			 "their own, set of streams)", cp->p.id);
	say(c, cp, text);
	if (rc == 0) {
		plan_take(c, cp, &now);
		cp->order_waits = other;
	}
	cp->run.bounded = all_counted(&cp->program);
}

/* Takes p. */
void plan_take(struct ctl *c, struct ctl_port *cp, struct program *p)
{
	bool other = p->ngroups != cp->program.ngroups;

	for (unsigned i = 0; i < p->ngroups && !other; i++)
		other = p->group[i] != cp->program.group[i];
	program_free(c, &cp->program);
	cp->program = *p;
	if (!other)
		return;
	cp->run.changed_ns = clock_raw_ns();
}

static uint8_t *carve(uint8_t **mem, size_t bytes)
{
	uint8_t *p = *mem;

	*mem += RTE_ALIGN_CEIL(bytes, CACHE_LINE);
	return p;
}

static unsigned phases_of(const struct program *p)
{
	unsigned n = 0;

	for (unsigned i = 0; i < p->ngroups; i++)
		n += p->group[i]->sched.nphases;
	return n;
}

static unsigned shapes_of(const struct ctl_port *cp)
{
	unsigned n = 0;

	for (unsigned i = 0; i < cp->program.ngroups; i++)
		n += cp->rate[i].shaped;
	return n;
}

static size_t gen_bytes(const struct ctl_port *cp)
{
	const struct program *p = &cp->program;

	return RTE_ALIGN_CEIL(sizeof(struct gen_job), CACHE_LINE) +
	       RTE_ALIGN_CEIL(p->ngroups * sizeof(struct gen_group), CACHE_LINE) +
	       RTE_ALIGN_CEIL(phases_of(p) * sizeof(struct gen_phase), CACHE_LINE) +
	       RTE_ALIGN_CEIL(shapes_of(cp) * sizeof(struct pace_shape), CACHE_LINE) +
	       RTE_ALIGN_CEIL(gen_mem_size(p->ngroups), CACHE_LINE);
}

static void fill_group(const struct ctl_port *cp, unsigned q, unsigned i, struct gen_phase *ph, struct pace_shape *shape, struct gen_group *out)
{
	const struct group *g = cp->program.group[i];
	const struct group_rate *a = &cp->rate[i];
	unsigned np = g->sched.nphases;

	for (unsigned p = 0; p < np; p++) {
		const struct prog *from = &g->prog[q * np + p];
		ph[p] = (struct gen_phase){.k0 = g->sched.phase[p].k0,
					   .end = p + 1 < np ? g->sched.phase[p].end : g->sched.total,
					   .prog = from->run,
					   .state = from->state,
					   .tag = from->tag};
	}
	*out = (struct gen_group){.stream = g->cell,
				  .nphases = (uint16_t)np,
				  .phase = ph,
				  .epoch = g->epoch,
				  .by_bytes = a->by_bytes,
				  .l2 = a->l2,
				  .period = a->period,
				  .shape = a->shaped ? memcpy(shape, &a->shape, sizeof(*shape)) : NULL,
				  .limit = rate_limit(cp, i)};
}

static struct gen_job *fill_gen(const struct ctl_port *cp, unsigned q, uint8_t **mem, struct ctl_plan *plan)
{
	const struct program *pr = &cp->program;
	const struct run *r = &cp->run;
	double hz = clock_hz();
	struct gen_job *j = (struct gen_job *)carve(mem, sizeof(*j));
	struct gen_group *g = (struct gen_group *)carve(mem, pr->ngroups * sizeof(*g));
	struct gen_phase *ph = (struct gen_phase *)carve(mem, phases_of(pr) * sizeof(*ph));
	struct pace_shape *shape = (struct pace_shape *)carve(mem, shapes_of(cp) * sizeof(*shape));
	void *own = carve(mem, gen_mem_size(pr->ngroups));

	memset(own, 0, gen_mem_size(pr->ngroups));
	*j = (struct gen_job){
		.txq = cp->txq[q],
		.ngroups = (uint16_t)pr->ngroups,
		.group = g,
		.mem = own,
		.burst = (uint16_t)cp->p.cfg.burst,
		.queue = (uint16_t)q,
		.nqueues = cp->p.ntxq,
		.stop = r->stop,
		.run = r->id,
		.start_tsc = r->start_tsc,
		.end_tsc = r->end_tsc,
		.grace_cycles = (uint64_t)(hz * (double)r->grace_ns / 1e9),
		.forgive_cycles = (uint64_t)(hz * FORGIVE_NS / 1e9),
		.late_cycles = (uint64_t)(hz * CNT_LATE_NS / 1e9),
		.catchup = (enum gen_catchup)cp->p.cfg.catchup.kind,
		.lag_cycles = (uint64_t)(hz * (double)cp->p.cfg.lag_ns / 1e9),
		.slower = (uint64_t)(0x1p64 / (1 + cp->p.cfg.catchup.share) - 0x1p11),
	};
	j->stamp = stamps_tx(cp);
	j->lead_cycles = j->stamp != NULL ? (uint64_t)(hz * (double)cp->p.cfg.lead_ns / 1e9) : 0;
	for (unsigned i = 0; i < pr->ngroups; i++) {
		fill_group(cp, q, i, ph, shape, &g[i]);
		shape += cp->rate[i].shaped;
		ph += pr->group[i]->sched.nphases;
		j->prepare |= pr->group[i]->offload;
		group_ref(pr->group[i]);
		plan->ref[plan->nrefs++] = pr->group[i];
	}
	return j;
}

static bool gen_wanted(const struct ctl_port *cp)
{
	/* one that waits for its receivers has no times yet */
	return cp->used && cp->started && cp->program.ngroups > 0 && cp->run.id != 0 && !(cp->run.active && cp->run.armed);
}

/* What a plan takes: tasks and memory behind its head. */
struct extent {
	unsigned ntasks, nrx, nrefs;
	size_t bytes;
};

static struct extent measure(const struct ctl *c, unsigned worker)
{
	struct extent x = {0};

	for (unsigned i = 0; i < c->nports; i++) {
		const struct ctl_port *cp = c->port[i];
		if (!cp->used || !cp->started)
			continue;
		for (unsigned q = 0; q < cp->p.nrxq; q++)
			x.nrx += cp->rx_worker[q] == (int)worker;
		for (unsigned q = 0; q < cp->p.ntxq; q++)
			if (cp->tx_worker[q] == (int)worker && gen_wanted(cp)) {
				x.ntasks++;
				x.nrefs += cp->program.ngroups;
				x.bytes += gen_bytes(cp);
			}
		devices_measure(c, cp, worker, &x.ntasks, &x.bytes);
	}
	x.ntasks += x.nrx;
	return x;
}

static void add_port(struct ctl *c, struct ctl_port *cp, unsigned worker, struct ctl_plan *plan, uint8_t **mem)
{
	struct dp_plan *p = &plan->p;

	for (unsigned q = 0; q < cp->p.ntxq; q++)
		if (cp->tx_worker[q] == (int)worker && gen_wanted(cp))
			p->task[p->ntasks++] = (struct dp_task){.kind = &dp_kind_gen,
								.state = &cp->gen[q]->base,
								.job = fill_gen(cp, q, mem, plan)};
	devices_add(c, cp, worker, p, mem);
	for (unsigned q = 0; q < cp->p.nrxq; q++) {
		if (cp->rx_worker[q] != (int)worker)
			continue;
		p->may_sleep &= !cp->p.cfg.idle_busy && !cp->awake && !probes_awake(c);
		struct dp_rx_slot *slot = &p->rx[p->nrx++];
		*slot = (struct dp_rx_slot){.q = cp->rxq[q], .burst = (uint16_t)cp->p.cfg.rxburst, .owner = p->ntasks};
		probe_tap_add(c, cp->p.id, q, slot);
		if (slot->ntaps > 0 && plan->arm == NULL)
			plan->arm = probe_arm_ref(probes_now(c));
		p->task[p->ntasks++] = (struct dp_task){.kind = &dp_kind_sink, .state = &cp->sink[q]->base};
	}
}

static uint64_t stall_ns(const struct ctl *c)
{
	return c->trial_stall_ns != 0 ? RTE_MIN(c->trial_stall_ns, c->stall_ns) : c->stall_ns;
}

struct dp_plan *plan_build(struct ctl *c, unsigned worker, bool without_ports)
{
	struct extent x = without_ports ? (struct extent){0} : measure(c, worker);
	size_t head = RTE_ALIGN_CEIL(sizeof(struct ctl_plan) + x.ntasks * sizeof(struct dp_task) +
					     x.nrx * sizeof(struct dp_rx_slot),
				     CACHE_LINE);
	struct ctl_plan *plan = aligned_alloc(CACHE_LINE, head + x.bytes);

	if (plan == NULL)
		return NULL;
	*plan = (struct ctl_plan){.p = {.seq = ++c->plan_seq,
					.may_sleep = true,
					.idle_cycles = (uint64_t)(clock_hz() * IDLE_NS / 1e9),
					.stall_cycles = (uint64_t)(clock_hz() * (double)stall_ns(c) / 1e9)},
				  .ref = xcalloc(x.nrefs + 1, sizeof(struct group *))};
	plan->p.task = (struct dp_task *)(plan + 1);
	plan->p.rx = (struct dp_rx_slot *)(plan->p.task + x.ntasks);
	uint8_t *mem = (uint8_t *)plan + head;
	for (unsigned i = 0; i < c->nports && !without_ports; i++)
		if (c->port[i]->used && c->port[i]->started)
			add_port(c, c->port[i], worker, plan, &mem);
	return &plan->p;
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
	bool touched = false, hold = probes_hold(c);

	for (unsigned i = 0; i < c->nports; i++) {
		struct ctl_port *cp = c->port[i];
		if (hold && cp->run.active && cp->run.armed)
			continue; /* it stays touched */
		if (!cp->touched || !cp->used)
			continue;
		if (probes_wait(c, cp)) {
			cp->touched = true;
			continue;
		}
		cp->touched = false;
		touched = true;
		dev_promiscuous(c, cp);
		devices_touched(c, cp);
		if (cp->started && cp->run.active && !cp->run.stop)
			plan_refresh(c, cp);
		if (cp->run.active)
			rates_follow(cp);
		pacing_follow(c, cp);
		for (unsigned q = 0; q < cp->p.nrxq; q++)
			c->worker[cp->rx_worker[q]].dirty = true;
		for (unsigned q = 0; q < cp->p.ntxq; q++)
			c->worker[cp->tx_worker[q]].dirty = true;
	}
	devices_turn(c);
	if (!hold)
		run_arm(c);
	if (touched)
		probes_targets(c);
	for (unsigned w = 0; w < c->nworkers; w++) {
		struct ctl_worker *cw = &c->worker[w];
		if (!cw->dirty)
			continue;
		struct dp_plan *p = plan_build(c, w, false);
		if (p != NULL && plan_post(c, cw, p))
			cw->dirty = false;
		else /* ring full: next turn */
			plan_free(c, p);
	}
}

void plan_reap(struct ctl *c)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < c->nold; i++) {
		struct old_plan *o = &c->old[i];
		if (o->plan->seq < __atomic_load_n(&o->w->w->cells.acked, __ATOMIC_ACQUIRE))
			plan_free(c, o->plan);
		else
			c->old[kept++] = *o;
	}
	c->nold = kept;
}

static bool has_plan(const struct ctl_worker *cw)
{
	return !cw->launched || cw->posted == NULL || __atomic_load_n(&cw->w->cells.acked, __ATOMIC_ACQUIRE) >= cw->posted->seq;
}

const struct ctl_worker *plan_behind(const struct ctl *c)
{
	for (unsigned w = 0; w < c->nworkers; w++)
		if (!has_plan(&c->worker[w]) || c->worker[w].dirty)
			return &c->worker[w];
	return NULL;
}

bool plan_wait_acks(struct ctl *c, uint64_t max_ns)
{
	struct clock_wait wait = {0};

	for (;;) {
		bool all = true, dirty = false;
		for (unsigned w = 0; w < c->nworkers; w++) {
			struct ctl_worker *cw = &c->worker[w];
			dirty |= cw->dirty;
			all &= has_plan(cw);
		}
		if (dirty) { /* what the worker shall let go of has not been told to it */
			plan_post_all(c);
			all = false;
		}
		if (all || clock_waited(&wait, clock_raw_ns()) > max_ns)
			return all;
		nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
	}
}
