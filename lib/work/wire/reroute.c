/* SPDX-License-Identifier: BSD-3-Clause */
/* Kind "reroute": how the queues of a wire are read and sent on differently while a device under
 * test is between its ends. See dut.h. */
#include "dut.h"
#include "txq.h"

/* Takes frames from the device's ring, in place of the ethdev's rx burst. */
static uint16_t ring_rx(void *ring, struct rte_mbuf **m, uint16_t n)
{
	return (uint16_t)rte_ring_sc_dequeue_burst(ring, (void **)m, n, NULL);
}

/* Stamps frames and gives them to the ethdev. Frames that it does not take are stamped anew when
 * they are offered again. */
static uint16_t stamped_tx(void *sender, struct rte_mbuf **m, uint16_t n)
{
	const struct dut_sender *s = sender;
	struct dut_stamp stamp = {.tsc = rte_rdtsc(), .txq = s->queue};

	for (unsigned i = 0; i < n; i++)
		memcpy((uint8_t *)m[i] + s->stamp_at, &stamp, sizeof(stamp));
	return rte_eth_tx_burst(s->dev, s->queue, m, n);
}

static const struct dp_io through_device = {.rx = ring_rx, .tx = stamped_tx};

/* Makes the queue of the job use these functions; io NULL: those of its ethdev. */
static void reroute_turn(const struct reroute_job *j, const struct dp_io *io, void *q)
{
	if (j->rxq != NULL) {
		j->rxq->io = io;
		j->rxq->io_q = q;
	}
	for (unsigned i = 0; i < j->nshares; i++)
		txq_io(j->share[i], io, q);
}

static void reroute_adopt(struct dp_worker *w, const struct dp_task *t, const void *old,
			  uint64_t now)
{
	const struct reroute_job *j = t->job;

	(void)w, (void)old, (void)now;
	reroute_turn(j, &through_device, j->q);
}

static void reroute_drop(struct dp_worker *w, const struct dp_task *t, uint64_t now)
{
	(void)w, (void)now;
	reroute_turn(t->job, NULL, NULL);
}

const struct dp_kind dp_kind_reroute = {
	.name = "reroute",
	.adopt = reroute_adopt,
	.drop = reroute_drop,
};
