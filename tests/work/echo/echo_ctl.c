/* SPDX-License-Identifier: BSD-3-Clause */
/* Control's half of the work echo: each queue whose Rx and Tx sides are one worker's gets a task
 * that sends frames back. */
#include <errno.h>
#include <stdlib.h>

#include "work.h"
#include "echo_cfg.h"
#include "echo_run.h"

extern const struct work work_echo;

/* What the echo has for each queue of a port whose Rx and Tx sides are one worker's. Elements of
 * other queues are NULL. */
struct echo_port {
	struct echo_state **state;
	struct dp_txq **share;
};

static struct echo_port *echo_of(const struct ctl_port *cp)
{
	return work_port(cp, &work_echo);
}

static void echo_cfg_init(void *cfg)
{
	struct echo_cfg *e = cfg;

	value_default(&vt_uint, ECHO_DFLT_DOORS, &e->ndoors);
	for (unsigned i = 0; i < ECHO_MAX_DOORS; i++) {
		value_default(&vt_uint, ECHO_DFLT_LISTEN, &e->door[i].listen);
		value_default(&vt_bool, ECHO_DFLT_OPEN, &e->door[i].open);
	}
}

static const struct echo_cfg *echo_settings(const struct ctl_port *cp)
{
	return work_cfg(&cp->cfg, &work_echo);
}

static bool echo_on(const struct ctl_port *cp)
{
	return echo_settings(cp)->on;
}

static bool both_sides(const struct ctl_port *cp, unsigned q)
{
	return q < cp->p.ntxq && q < cp->p.nrxq && cp->rx_worker[q] == cp->tx_worker[q];
}

static int echo_port_open(struct ctl *c, struct ctl_port *cp, struct err *e)
{
	struct echo_port *p = echo_of(cp);

	p->state = xcalloc(cp->p.nqueues + 1u, sizeof(*p->state));
	p->share = xcalloc(cp->p.nqueues + 1u, sizeof(*p->share));
	for (unsigned q = 0; q < cp->p.nqueues; q++) {
		if (!both_sides(cp, q))
			continue;
		int node = c->worker[cp->tx_worker[q]].node;
		p->state[q] = state_new(sizeof(*p->state[q]), node);
		p->share[q] = tx_share(&cp->p, q, node, true);
		if (p->state[q] == NULL || p->share[q] == NULL)
			return err_set(e, ENODEV, "no memory for echoes of port %u", cp->p.id);
	}
	return 0;
}

static void echo_port_close(struct ctl *c, struct ctl_port *cp)
{
	struct echo_port *p = echo_of(cp);

	(void)c;
	for (unsigned q = 0; q < cp->p.nqueues && p->state != NULL; q++)
		rte_free(p->state[q]);
	free(p->state);
	free(p->share);
}

static bool echo_writes(const struct ctl *c)
{
	for (unsigned i = 0; i < c->nports; i++)
		if (echo_on(c->port[i]))
			return true;
	return false;
}

/* Makes the list of UDP ports whose frames go back, in the memory of a plan. */
static const struct echo_ports *open_ports(const struct echo_cfg *cfg, struct plan_writer *w)
{
	struct echo_ports *open = plan_carve(w, sizeof(*open));

	for (unsigned i = 0; i < cfg->ndoors; i++)
		if (cfg->door[i].open)
			open->port[open->n++] = (uint16_t)cfg->door[i].listen;
	return open;
}

static void echo_fill(struct ctl *c, struct ctl_port *cp, struct plan_writer *w)
{
	struct echo_port *p = echo_of(cp);

	(void)c;
	for (unsigned q = 0; echo_on(cp) && q < cp->p.nqueues; q++) {
		struct dp_duty *duty = both_sides(cp, q) ? plan_duty(w, cp, q) : NULL;
		if (duty == NULL)
			continue;
		struct echo_job *j = plan_carve(w, sizeof(*j));
		j->q = p->share[q];
		unsigned task = plan_task(w,
					  &(struct dp_task){.kind = &dp_kind_echo,
							    .state = &p->state[q]->base,
							    .job = j},
					  NULL);
		plan_sort(duty, echo_claims, open_ports(echo_settings(cp), w), task);
	}
}

static bool echo_sizes(const struct ctl_port *cp, unsigned queue, struct cnt_sizes *sum)
{
	const struct echo_state *s = echo_of(cp)->state[queue];

	for (unsigned i = 0; s != NULL && i < CNT_NSIZES; i++)
		sum->n[i] += cell_get(&s->sizes.n[i]);
	return true;
}

const struct work work_echo = {
	.name = "echo",
	.port_bytes = sizeof(struct echo_port),
	.cfg_bytes = sizeof(struct echo_cfg),
	.cfg_init = echo_cfg_init,
	.port_open = echo_port_open,
	.port_close = echo_port_close,
	.writes = echo_writes,
	.fill = echo_fill,
	.sizes = echo_sizes,
};
