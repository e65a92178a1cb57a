/* SPDX-License-Identifier: BSD-3-Clause */
/* Shares of Tx queues. Tasks of several works may send on one Tx queue of a device. Each of them
 * has a share, a struct dp_txq with its own tail and counters; all shares of a queue have the same
 * pool. The first share belongs to the task that sends streams, and is always there. */
#include <assert.h>

#include "ctl_int.h"

struct dp_txq *tx_share(struct ctl_port *cp, unsigned queue, int node, bool foreign)
{
	struct tx_queue *of = &cp->tx[queue];
	struct dp_txq *q = state_new(sizeof(*q), node);

	if (q == NULL)
		return NULL;
	assert(of->n < WORK_MAX);
	q->port = (uint16_t)cp->p.id;
	q->dev = cp->p.dev;
	q->queue = (uint16_t)queue;
	q->foreign = foreign;
	of->share[of->n++] = q;
	return q;
}

void tx_shares_pool(struct ctl_port *cp, unsigned queue, struct rte_mempool *pool,
		    enum dp_edits edits)
{
	for (unsigned i = 0; i < cp->tx[queue].n; i++) {
		struct dp_txq *q = cp->tx[queue].share[i];
		q->pool = pool;
		q->pool_size = pool->size;
		q->edits = (uint8_t)edits;
		q->tag = 0; /* the buffers of a new pool hold no image yet */
	}
}

void tx_shares_dev(struct ctl_port *cp)
{
	for (unsigned queue = 0; queue < cp->p.ntxq; queue++)
		for (unsigned i = 0; i < cp->tx[queue].n; i++)
			cp->tx[queue].share[i]->dev = cp->p.dev;
}

bool tx_foreign(const struct ctl_port *cp)
{
	for (unsigned queue = 0; queue < cp->p.ntxq; queue++)
		for (unsigned i = 0; i < cp->tx[queue].n; i++)
			if (cp->tx[queue].share[i]->foreign)
				return true;
	return false;
}
