/* SPDX-License-Identifier: BSD-3-Clause */
/* The one place for differences between DPDK 22.11 and 26.x. Included by lib/mbox, lib/dp and
 * lib/ctl only. */
#pragma once
#include <rte_version.h>

#include <rte_bus_vdev.h>
#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_lcore.h>
#include <rte_malloc.h>
#include <rte_mbuf.h>
#include <rte_mbuf_pool_ops.h>
#include <rte_mempool.h>
#include <rte_ring.h>

#if RTE_VERSION < RTE_VERSION_NUM(22, 11, 0, 0)
#error "wirerate needs DPDK 22.11 or newer"
#endif
