/* SPDX-License-Identifier: BSD-3-Clause */
/* Control's half of the work beacon: it makes the frame, and gives the first Tx queue of a port
 * that has the beacon on a task that sends it. */
#include <errno.h>

#include "beacon_cfg.h"
#include "beacon_run.h"
#include "clock.h"
#include "work.h"

extern const struct work work_beacon;

/* What the beacon has for the first Tx queue of a port. For a port without Tx queues it has
 * nothing. */
struct beacon_port {
	struct beacon_state *state;
	struct dp_txq *share;
};

static struct beacon_port *beacon_of(const struct ctl_port *cp)
{
	return work_port(cp, &work_beacon);
}

static bool beacon_on(const struct ctl_port *cp)
{
	return ((const struct beacon_cfg *)work_cfg(&cp->cfg, &work_beacon))->on;
}

static int beacon_port_open(struct ctl *c, struct ctl_port *cp, struct err *e)
{
	struct beacon_port *p = beacon_of(cp);

	if (cp->p.ntxq == 0)
		return 0;
	int node = c->worker[cp->tx_worker[0]].node;
	p->state = state_new(sizeof(*p->state), node);
	p->share = tx_share(&cp->p, 0, node, false);
	if (p->state == NULL || p->share == NULL)
		return err_set(e, ENODEV, "no memory for beacons of port %u", cp->p.id);
	return 0;
}

static void beacon_port_close(struct ctl *c, struct ctl_port *cp)
{
	(void)c;
	rte_free(beacon_of(cp)->state);
}

static bool beacon_writes(const struct ctl *c)
{
	for (unsigned i = 0; i < c->nports; i++)
		if (beacon_on(c->port[i]))
			return true;
	return false;
}

/* The frame goes from a locally administered address to all; its type, 0x88b5, is for local
 * experiments (IEEE 802). */
static void make_frame(const struct ctl_port *cp, uint8_t frame[BEACON_LEN])
{
	memcpy(frame, "\xff\xff\xff\xff\xff\xff\2\0\0\0\0\0\x88\xb5", BEACON_NUMBER_AT);
	frame[10] = (uint8_t)(cp->p.id >> 8);
	frame[11] = (uint8_t)cp->p.id;
}

static void beacon_fill(struct ctl *c, struct ctl_port *cp, struct plan_writer *w)
{
	struct beacon_port *p = beacon_of(cp);

	(void)c;
	if (!beacon_on(cp) || p->state == NULL || cp->tx_worker[0] != (int)plan_worker(w))
		return;
	struct beacon_job *j = plan_carve(w, sizeof(*j));
	j->q = p->share;
	j->period = (uint64_t)(clock_hz() / BEACON_PER_S);
	make_frame(cp, j->frame);
	plan_wheel(w);
	plan_task(w, &(struct dp_task){.kind = &dp_kind_beacon, .state = &p->state->base, .job = j},
		  NULL);
}

static bool beacon_sizes(const struct ctl_port *cp, unsigned queue, struct cnt_sizes *sum)
{
	if (queue == 0)
		sum->n[cnt_size_class(BEACON_LEN + RTE_ETHER_CRC_LEN)] +=
			cell_get(&beacon_of(cp)->state->sent);
	return true;
}

const struct work work_beacon = {
	.name = "beacon",
	.port_bytes = sizeof(struct beacon_port),
	.cfg_bytes = sizeof(struct beacon_cfg),
	.port_open = beacon_port_open,
	.port_close = beacon_port_close,
	.writes = beacon_writes,
	.fill = beacon_fill,
	.sizes = beacon_sizes,
};
