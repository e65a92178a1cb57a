/* SPDX-License-Identifier: BSD-3-Clause */
/* Puts into a worker's plan what it is to send: one task for each Tx queue, made of the port's
 * groups, its rates and its run. */
#include <stdlib.h>
#include <string.h>

#include "send_groups.h"
#include "send_cfg.h"

static unsigned phases_of(const struct groups *p)
{
	unsigned n = 0;

	for (unsigned i = 0; i < p->ngroups; i++)
		n += p->group[i]->sched.nphases;
	return n;
}

static unsigned shapes_of(const struct ctl_port *cp)
{
	const struct send_port *sp = send_of(cp);
	unsigned n = 0;

	for (unsigned i = 0; i < sp->groups.ngroups; i++)
		n += sp->rate[i].shaped;
	return n;
}

/* Fills group i for queue q. ph: memory for its phases. shape: memory for its shape, if it has
 * one. */
static void fill_group(const struct ctl_port *cp, unsigned q, unsigned i, struct gen_phase *ph,
		       struct pace_shape *shape, struct gen_group *out)
{
	const struct send_port *sp = send_of(cp);
	const struct group *g = sp->groups.group[i];
	const struct group_rate *a = &sp->rate[i];
	unsigned np = g->sched.nphases;

	for (unsigned p = 0; p < np; p++) {
		const struct queue_frun *from = &g->frun[q * np + p];
		ph[p] = (struct gen_phase){.k0 = g->sched.phase[p].k0,
					   .end = p + 1 < np ? g->sched.phase[p].end
							     : g->sched.total,
					   .frun = from->run,
					   .state = from->state,
					   .mark = from->mark};
	}
	*out = (struct gen_group){.stream = g->cell,
				  .nphases = (uint16_t)np,
				  .phase = ph,
				  .epoch = g->epoch,
				  .by_bytes = a->by_bytes,
				  .l2 = a->l2,
				  .period = a->period,
				  .shape = a->shaped ? memcpy(shape, &a->shape, sizeof(*shape))
						     : NULL,
				  .limit = rates_limit(cp, i)};
}

static void release_group(struct ctl *c, void *group)
{
	group_unref(c, group);
}

/* Rounds up to whole cache lines. */
static size_t send_fill_lines(size_t bytes)
{
	return RTE_ALIGN_CEIL(bytes, CACHE_LINE);
}

/* Cuts a part off the begin of a piece of memory. Parts begin on cache lines. */
static void *send_fill_part(uint8_t **mem, size_t bytes)
{
	void *at = *mem;

	*mem += send_fill_lines(bytes);
	return at;
}

/* Adds the task of queue q. All that the worker reads while it sends lies in one piece of memory,
 * in the order in which it is read. */
static void fill_queue(const struct ctl *c, const struct ctl_port *cp, unsigned q,
		       struct plan_writer *p)
{
	const struct send_port *sp = send_of(cp);
	const struct groups *pr = &sp->groups;
	const struct run *r = &cp->run;
	const struct send_cfg *cfg = work_cfg(&cp->cfg, &work_send);
	double hz = clock_hz();
	size_t groups = pr->ngroups * sizeof(struct gen_group),
	       phases = phases_of(pr) * sizeof(struct gen_phase),
	       shapes = shapes_of(cp) * sizeof(struct pace_shape), own = gen_mem_size(pr->ngroups);
	uint8_t *mem = plan_carve(p, send_fill_lines(sizeof(struct gen_job)) +
					     send_fill_lines(groups) + send_fill_lines(phases) +
					     send_fill_lines(shapes) + send_fill_lines(own));
	struct gen_job *j = send_fill_part(&mem, sizeof(*j));
	struct gen_group *g = send_fill_part(&mem, groups);
	struct gen_phase *ph = send_fill_part(&mem, phases);
	struct pace_shape *shape = send_fill_part(&mem, shapes);
	struct group **about = plan_carve(p, pr->ngroups * sizeof(*about));

	*j = (struct gen_job){
		.txq = port_txq(&cp->p, q),
		.ngroups = (uint16_t)pr->ngroups,
		.group = g,
		.mem = send_fill_part(&mem, own),
		.burst = (uint16_t)cp->cfg.burst,
		.queue = (uint16_t)q,
		.nqueues = (uint16_t)pr->nqueues,
		.stop = r->stop,
		.run = r->id,
		.start_tsc = r->start_tsc,
		.end_tsc = sp->run.end_tsc,
		.grace_cycles = (uint64_t)(hz * (double)r->grace_ns / 1e9),
		.forgive_cycles = (uint64_t)(hz * (double)cfg->forgive_ns / 1e9),
		.late_cycles = (uint64_t)(hz * CNT_LATE_NS / 1e9),
		.catchup = (enum gen_catchup)cp->cfg.catchup.kind,
		.lag_cycles = (uint64_t)(hz * (double)cp->cfg.lag_ns / 1e9),
		.slower = (uint64_t)(0x1p64 / (1 + cp->cfg.catchup.share) - 0x1p11),
	};
	j->rx_written = works_write(c);
	j->stamp = stamps_tx(&cp->p);
	j->lead_cycles = j->stamp != NULL ? (uint64_t)(hz * (double)cp->cfg.lead_ns / 1e9) : 0;
	for (unsigned i = 0; i < pr->ngroups; i++) {
		fill_group(cp, q, i, ph, shape, &g[i]);
		shape += sp->rate[i].shaped;
		ph += pr->group[i]->sched.nphases;
		j->prepare |= pr->group[i]->offload;
		about[i] = pr->group[i];
		group_ref(pr->group[i]);
		plan_keep(p, pr->group[i], release_group);
	}
	plan_task(p, &(struct dp_task){.kind = &dp_kind_gen, .state = &sp->gen[q]->base, .job = j},
		  about);
}

/* Returns whether the port has something to send. A run that is armed waits for its receivers and
 * has no times yet. */
static bool has_tasks(const struct ctl_port *cp)
{
	return send_of(cp)->groups.ngroups > 0 && cp->run.id != 0 &&
	       !(cp->run.active && cp->run.armed);
}

void send_fill(struct ctl *c, struct ctl_port *cp, struct plan_writer *p)
{
	bool followed = false;

	for (unsigned q = 0; q < cp->p.ntxq; q++) {
		if (cp->tx_worker[q] != (int)plan_worker(p))
			continue;
		/* A rate that has changed becomes periods here, but not while other changes of the
		 * port have to wait: all of them are taken over together. */
		if (!followed && cp->run.active && !cp->run.armed && cp->touched == 0)
			rates_follow(cp);
		followed = true;
		if (has_tasks(cp) && q < send_of(cp)->groups.nqueues)
			fill_queue(c, cp, q, p);
	}
}
