/* SPDX-License-Identifier: BSD-3-Clause */
/* The work "count" as control sees it: on each Rx queue of a started port, a task counts the
 * received frames that no other work takes, and gives their buffers back. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "count_ctl.h"

struct count_port *count_of(const struct ctl_port *cp)
{
	return work_port(cp, &work_count);
}

bool count_unclaimed(const struct ctl_port *cp)
{
	return ((const struct count_cfg *)work_cfg(&cp->cfg, &work_count))->unclaimed ||
	       streams_carried(cp);
}

void count_sum(const struct ctl_port *cp, uint64_t sum[COUNT_SORTS])
{
	const struct count_port *k = count_of(cp);

	memset(sum, 0, COUNT_SORTS * sizeof(sum[0]));
	for (unsigned q = 0; k->sink != NULL && q < cp->p.nrxq; q++)
		for (unsigned i = 0; k->sink[q] != NULL && i < COUNT_SORTS; i++)
			sum[i] += cell_get(&k->sink[q]->sort[i]);
}

static void count_cfg_init(void *cfg)
{
	value_default(&vt_bool, COUNT_DFLT_UNCLAIMED, &((struct count_cfg *)cfg)->unclaimed);
}

static int count_port_open(struct ctl *c, struct ctl_port *cp, struct err *e)
{
	struct count_port *k = count_of(cp);

	k->sink = xcalloc(cp->p.nrxq + 1u, sizeof(*k->sink));
	for (unsigned q = 0; q < cp->p.nrxq; q++) {
		k->sink[q] = state_new(sizeof(*k->sink[q]), c->worker[cp->rx_worker[q]].node);
		if (k->sink[q] == NULL)
			return err_set(e, ENODEV, "no memory for Rx queue %u of port %u", q,
				       cp->p.id);
	}
	return 0;
}

static void count_port_close(struct ctl *c, struct ctl_port *cp)
{
	struct count_port *k = count_of(cp);

	(void)c;
	for (unsigned q = 0; q < cp->p.nrxq && k->sink != NULL; q++)
		rte_free(k->sink[q]);
	free(k->sink);
}

static uint64_t count_received(const struct ctl_port *cp)
{
	uint64_t n = 0;

	for (unsigned q = 0; q < cp->p.nrxq; q++)
		n += cell_get(&cp->p.rxq[q]->cnt.packets);
	return n;
}

uint64_t count_before(const struct ctl_port *cp)
{
	const struct count_port *k = count_of(cp);

	return k->before + (k->counts ? 0 : count_received(cp) - k->seen);
}

/* Notes how many frames have come that it does not count. */
static void count_turn(const struct ctl_port *cp, struct count_port *k)
{
	bool counts = count_unclaimed(cp);

	if (counts == k->counts)
		return;
	k->before = count_before(cp);
	k->seen = count_received(cp);
	k->counts = counts;
}

static void count_fill(struct ctl *c, struct ctl_port *cp, struct plan_writer *p)
{
	struct count_port *k = count_of(cp);

	(void)c;
	count_turn(cp, k);
	for (unsigned q = 0; q < cp->p.nrxq; q++) {
		struct dp_duty *duty = plan_duty(p, cp, q);
		if (duty == NULL)
			continue;
		struct count_state *s = k->sink[q];
		bool shared = duty->nsorts > 0;
		if (shared)
			plan_tap(duty, &(struct dp_tap){.rx = count_see, .state = duty->q});
		plan_own(duty,
			 plan_task(p,
				   &(struct dp_task){.kind = shared ? &dp_kind_rest : &dp_kind_sink,
						     .state = &s->base,
						     .job = count_unclaimed(cp) ? s : NULL},
				   NULL));
	}
}

static void count_clear(struct ctl *c, const struct portset *ports)
{
	for (unsigned i = 0; i < c->nports; i++) {
		struct count_port *k = count_of(c->port[i]);
		if (!portset_has(ports, i))
			continue;
		count_sum(c->port[i], k->base);
		k->before = 0;
		k->seen = count_received(c->port[i]);
	}
}

const struct work work_count = {
	.name = "count",
	.port_bytes = sizeof(struct count_port),
	.cfg_bytes = sizeof(struct count_cfg),
	.cfg_init = count_cfg_init,
	.port_open = count_port_open,
	.port_close = count_port_close,
	.fill = count_fill,
	.clear = count_clear,
};
