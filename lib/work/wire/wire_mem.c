/* SPDX-License-Identifier: BSD-3-Clause */
/* The memory of a device under test. Most of it is mapped when it is needed, because the memory
 * that DPDK has without hugepages never grows. */
#include <errno.h>
#include <rte_mbuf_dyn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "wire_ctl.h"
#include "log.h"

#define MOST_CELLS (1u << 24) /* 1 GiB of addresses; only what frames have used takes memory */
#define STOCK 512             /* more buffers than the worker keeps in stock */

/* Where the stamp lies in an mbuf (a dynamic field of DPDK); below 0: there is no room. */
static int stamp_offset(void)
{
	static const struct rte_mbuf_dynfield field = {.name = "wirerate_sent",
						       .size = sizeof(struct dut_stamp),
						       .align = 8};

	return rte_mbuf_dynfield_register(&field);
}

static void *wire_dut_mem_map(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return p != MAP_FAILED ? p : NULL;
}

static void free_rings(struct wire_dut *d)
{
	for (unsigned i = 0; i < d->line.nrings; i++) {
		rte_ring_free(d->line.out[i]);
		d->line.out[i] = NULL;
	}
}

static int make_rings(struct wire_dut *d, struct err *e)
{
	struct ctl_port *to = d->to;
	unsigned size = rte_align32pow2(to->p.rxd > 0 ? to->p.rxd : 1024);

	d->line.nrings = (uint16_t)port_rings(&to->p, d->line.in);
	for (unsigned i = 0; i < d->line.nrings; i++) {
		char name[RTE_RING_NAMESIZE];
		snprintf(name, sizeof(name), "%.16s_dut%u", to->p.name, i);
		d->line.out[i] = rte_ring_create(name, size, to->p.node,
						 RING_F_SP_ENQ | RING_F_SC_DEQ | RING_F_EXACT_SZ);
		if (d->line.out[i] == NULL) {
			free_rings(d);
			return err_set(e, ENODEV, "no memory for its rings (%s)",
				       rte_strerror(rte_errno));
		}
	}
	return 0;
}

int wire_dut_make(struct wire_dut *d, struct err *e)
{
	unsigned n = d->to->p.nrxq + d->from->p.ntxq;

	d->line.stamp_at = stamp_offset();
	if (d->line.stamp_at < 0)
		return err_set(e, ENODEV, "no place in buffers for the time of sending (%s)",
			       rte_strerror(rte_errno));
	d->state = rte_zmalloc("dut", sizeof(*d->state), CACHE_LINE);
	d->route = rte_zmalloc("reroute", n * sizeof(*d->route), CACHE_LINE);
	if (d->state == NULL || d->route == NULL)
		return err_set(e, ENODEV, "no memory for its state");
	int rc = make_rings(d, e);
	if (rc == 0)
		rc = wire_dut_fill(d, e);
	d->ready = rc == 0;
	return rc;
}

/* The larger of the MTU that the next start asks for and the one in use: a smaller one may be asked
 * for and never come into use. */
static uint64_t most_mtu(const struct ctl_port *cp)
{
	return RTE_MAX(ctl_mtu(cp), cp->p.applied.mtu);
}

/* Makes the pool of buffers. It has no cache, because one worker takes buffers and others give them
 * back, all in bursts. */
static int make_pool(struct wire_dut *d, struct err *e)
{
	static unsigned serial;
	struct rte_pktmbuf_pool_private priv = {.mbuf_data_room_size =
							(uint16_t)eal_data_room(most_mtu(d->from))};
	unsigned n =
		d->line.nrings * (rte_ring_get_capacity(d->line.out[0]) + DP_BURST_MAX) + STOCK;
	uint32_t elt = (uint32_t)sizeof(struct rte_mbuf) + priv.mbuf_data_room_size;
	size_t bytes =
		(size_t)n * rte_mempool_calc_obj_size(elt, RTE_MEMPOOL_F_NO_IOVA_CONTIG, NULL) +
		4096;
	char name[RTE_MEMPOOL_NAMESIZE];

	snprintf(name, sizeof(name), "dut%u_%u", d->to->p.id, serial++);
	struct rte_mempool *mp =
		rte_mempool_create_empty(name, n, elt, 0, sizeof(priv), SOCKET_ID_ANY,
					 RTE_MEMPOOL_F_NO_IOVA_CONTIG);
	void *mem = mp != NULL ? wire_dut_mem_map(bytes) : NULL;
	if (mem == NULL || rte_mempool_set_ops_byname(mp, rte_mbuf_best_mempool_ops(), NULL) != 0) {
		rte_mempool_free(mp);
		if (mem != NULL)
			munmap(mem, bytes);
		return err_set(e, ENODEV, "no memory for %u buffers", n);
	}
	rte_pktmbuf_pool_init(mp, &priv);
	d->pool_mem = mem;
	d->pool_bytes = bytes;
	d->line.pool = mp;
	if (rte_mempool_populate_iova(mp, mem, RTE_BAD_IOVA, bytes, NULL, NULL) < 0 ||
	    mp->populated_size < n)
		return err_set(e, ENODEV, "no memory for %u buffers", n);
	rte_mempool_obj_iter(mp, rte_pktmbuf_init, NULL);
	d->line.max_len = priv.mbuf_data_room_size - RTE_PKTMBUF_HEADROOM;
	return 0;
}

int wire_dut_fill(struct wire_dut *d, struct err *e)
{
	size_t cells, late = (MOST_CELLS / 2 + 1) * sizeof(struct dut_late);

	for (uint16_t q = 0; q < d->from->p.ntxq; q++)
		d->sender[q] = (struct dut_sender){.dev = d->from->p.dev,
						   .queue = q,
						   .stamp_at = d->line.stamp_at};
	if (d->line.pool == NULL) {
		int rc = make_pool(d, e);
		if (rc < 0)
			return rc;
	}
	if (d->mem != NULL)
		return 0;
	d->line.ncells = MOST_CELLS;
	cells = (size_t)dut_cells(&d->line) * DUT_CELL;
	d->mem_bytes = cells + late + DUT_QUEUE_MAX * sizeof(uint64_t);
	d->mem = wire_dut_mem_map(d->mem_bytes);
	if (d->mem == NULL)
		return err_set(e, ENODEV, "no addresses for the frames inside (%s)",
			       strerror(errno));
	d->line.cells = d->mem;
	d->line.late = (struct dut_late *)((uint8_t *)d->mem + cells);
	d->line.service = (uint64_t *)((uint8_t *)d->mem + cells + late);
	return 0;
}

void wire_dut_empty(struct wire_dut *d)
{
	if (d->mem != NULL)
		munmap(d->mem, d->mem_bytes);
	d->mem = NULL;
}

/* Gives the buffers back, because their size may no longer be right. If some are still in use, the
 * pool is left as it is. */
static void free_pool(struct wire_dut *d)
{
	struct rte_mempool *mp = d->line.pool;

	for (unsigned i = 0; i < d->line.nrings && d->line.out[i] != NULL; i++) {
		void *m;
		while (rte_ring_sc_dequeue(d->line.out[i], &m) == 0)
			rte_pktmbuf_free(m);
	}
	if (mp != NULL && !rte_mempool_full(mp)) {
		log_msg(LOG_LVL_DEBUG, "pool %s is kept: %u buffers are in flight", mp->name,
			rte_mempool_in_use_count(mp));
	} else if (mp != NULL) {
		rte_mempool_free(mp);
		munmap(d->pool_mem, d->pool_bytes);
	}
	d->line.pool = NULL;
}

void wire_dut_unfill(struct wire_dut *d)
{
	wire_dut_empty(d);
	free_pool(d);
}

void wire_dut_unmake(struct wire_dut *d)
{
	wire_dut_unfill(d);
	free_rings(d);
	rte_free(d->state);
	rte_free(d->route);
	d->state = NULL;
	d->route = NULL;
	d->ready = false;
}
