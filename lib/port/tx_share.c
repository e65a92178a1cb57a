/* SPDX-License-Identifier: BSD-3-Clause */
/* Shares of Tx queues. Tasks of several works may send on one Tx queue of a device. Each of them
 * has a share, a struct dp_txq with its own tail and counters; all shares of a queue have the same
 * pool. The first share belongs to the task that sends streams, and is always there. This file also
 * has the memory for queues' objects and for states of works. */
#include <assert.h>

#include "port_int.h"
#include "txq.h"

void *state_new(size_t size, int node)
{
	void *p = rte_zmalloc_socket("state", size, CACHE_LINE, node >= 0 ? node : SOCKET_ID_ANY);

	return p != NULL ? p : rte_zmalloc("state", size, CACHE_LINE);
}

struct dp_txq *tx_share(struct port *p, unsigned queue, int node, bool foreign)
{
	struct port_txq *of = &p->tx[queue];
	struct dp_txq *q = state_new(sizeof(*q), node);

	if (q == NULL)
		return NULL;
	assert(of->n < PORT_MAX_SHARES);
	q->port = (uint16_t)p->id;
	q->dev = p->dev;
	q->queue = (uint16_t)queue;
	q->foreign = foreign;
	of->share[of->n++] = q;
	return q;
}

void tx_shares_pool(struct port *p, unsigned queue, struct rte_mempool *pool, enum dp_edits edits)
{
	for (unsigned i = 0; i < p->tx[queue].n; i++) {
		struct dp_txq *q = p->tx[queue].share[i];
		q->pool = pool;
		q->pool_size = pool->size;
		q->edits = (uint8_t)edits;
		q->image = 0; /* the buffers of a new pool hold no image yet */
	}
}

void tx_shares_dev(struct port *p)
{
	for (unsigned queue = 0; queue < p->ntxq; queue++)
		for (unsigned i = 0; i < p->tx[queue].n; i++)
			p->tx[queue].share[i]->dev = p->dev;
}

void port_io_tx(struct port *p, unsigned queue, const struct dp_io *io, void *io_q)
{
	for (unsigned i = 0; i < p->tx[queue].n; i++)
		txq_io(p->tx[queue].share[i], io, io_q);
}

void port_io_rx(struct port *p, unsigned queue, const struct dp_io *io, void *io_q)
{
	p->rxq[queue]->io = io;
	p->rxq[queue]->io_q = io_q;
}

bool tx_foreign(const struct port *p)
{
	for (unsigned queue = 0; queue < p->ntxq; queue++)
		for (unsigned i = 0; i < p->tx[queue].n; i++)
			if (p->tx[queue].share[i]->foreign)
				return true;
	return false;
}
