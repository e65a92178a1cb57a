/* SPDX-License-Identifier: BSD-3-Clause */
/* Kind "reroute": the worker of an Rx queue takes its frames from a ring of a device under test. */
#include "dut.h"

static uint16_t ring_rx(void *ring, struct rte_mbuf **m, uint16_t n)
{
	return (uint16_t)rte_ring_sc_dequeue_burst(ring, (void **)m, n, NULL);
}

static const struct dp_io out_of_device = {.rx = ring_rx};

static void reroute_adopt(struct dp_worker *w, const struct dp_task *t, const void *old, uint64_t now)
{
	const struct reroute_job *j = t->job;

	(void)w, (void)old, (void)now;
	j->q->io_q = j->ring;
	j->q->io = &out_of_device;
}

static void reroute_drop(struct dp_worker *w, const struct dp_task *t, uint64_t now)
{
	const struct reroute_job *j = t->job;

	(void)w, (void)now;
	j->q->io = NULL;
	j->q->io_q = NULL;
}

const struct dp_kind dp_kind_reroute = {
	.name = "reroute", .adopt = reroute_adopt, .drop = reroute_drop,
};
