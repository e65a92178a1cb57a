/* SPDX-License-Identifier: BSD-3-Clause */
/* Control's half of the monitor: what it puts into plans. */
#include "monitor_ctl.h"

#include <stdlib.h>

/* The source of a queue and direction; NULL: it is not monitored. */
static struct monitor_source *monitor_source_of(const struct ctl_port *cp, bool tx, unsigned queue)
{
	const struct monitor *k = monitor_of_port(cp)->now;

	for (unsigned i = 0; k != NULL && k->armed && i < k->nsources; i++) {
		struct monitor_source *s = k->source[i];
		if (s->port == cp->p.id && s->tx == tx && s->queue == queue)
			return s;
	}
	return NULL;
}

static void fill_rx(struct ctl_port *cp, struct plan_writer *p)
{
	for (unsigned q = 0; q < cp->p.nrxq; q++) {
		struct dp_duty *duty = plan_duty(p, cp, q);
		const struct monitor_look look = {.source = monitor_source_of(cp, false, q),
						  .keeper = monitor_keeper_of(cp, q)};
		if (duty == NULL || (look.source == NULL && look.keeper == NULL))
			continue;
		struct monitor_look *l = plan_carve(p, sizeof(*l));
		*l = look;
		plan_tap(duty, &(struct dp_tap){.rx = monitor_rx, .state = l});
	}
}

static void fill_tx(struct ctl_port *cp, struct plan_writer *p)
{
	struct monitor_port *mp = monitor_of_port(cp);
	unsigned worker = plan_worker(p);
	struct monitor_job *j =
		plan_carve(p, sizeof(*j) + cp->p.ntxq * sizeof(struct monitor_job_source));

	for (unsigned q = 0; q < cp->p.ntxq; q++) {
		struct monitor_source *s = monitor_source_of(cp, true, q);
		if (s != NULL && cp->tx_worker[q] == (int)worker)
			j->source[j->nsources++] =
				(struct monitor_job_source){.source = s,
							    .nshares = cp->p.tx[q].n,
							    .share = cp->p.tx[q].share};
	}
	if (j->nsources > 0)
		plan_task(p,
			  &(struct dp_task){.kind = &dp_kind_monitor,
					    .state = &mp->state[worker]->base,
					    .job = j},
			  NULL);
}

static void monitor_fill(struct ctl *c, struct ctl_port *cp, struct plan_writer *p)
{
	struct monitor *k = monitor_of_port(cp)->now;

	(void)c;
	fill_rx(cp, p);
	if (k == NULL || !k->armed)
		return;
	fill_tx(cp, p);
	k->refs++;
	plan_keep(p, k, monitor_release);
}

/* A worker that sleeps takes frames late, and would give them that time. */
static bool monitor_awake(const struct ctl *c)
{
	for (const struct monitor *k = monitor_all_of(c)->first; k != NULL; k = k->next)
		if (k->armed)
			return true;
	return false;
}

#define LOOK_NS 2000000ull

static uint64_t monitor_next_ns(const struct ctl *c)
{
	return monitor_sweeps(c) ? LOOK_NS : UINT64_MAX;
}

static void monitor_port_close(struct ctl *c, struct ctl_port *cp)
{
	struct monitor_port *mp = monitor_of_port(cp);

	for (unsigned w = 0; w < c->nworkers && mp->state != NULL; w++)
		rte_free(mp->state[w]);
	free(mp->state);
	monitor_last_free(mp, cp);
}

static void monitor_end(struct ctl *c)
{
	for (struct monitor *k = monitor_all_of(c)->first; k != NULL; k = k->next)
		k->gone = true;
	monitor_sweep(c);
}

const struct work work_monitor = {
	.name = "monitor",
	.port_bytes = sizeof(struct monitor_port),
	.ctl_bytes = sizeof(struct monitor_all),
	.cfg_bytes = sizeof(struct monitor_cfg),
	.port_close = monitor_port_close,
	.ctl_end = monitor_end,
	.fill = monitor_fill,
	.awake = monitor_awake,
	.turn = monitor_sweep,
	.next_ns = monitor_next_ns,
};
