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

#define DPDK_RSS_SORT_SINCE "23.11"
/* How a device hashes received frames. Before 23.11 nobody could ask, and devices hash by
 * Toeplitz. */
#if RTE_VERSION >= RTE_VERSION_NUM(23, 11, 0, 0)
static inline bool dpdk_rss_sorts(const struct rte_eth_dev_info *info)
{
	return (info->rss_algo_capa & RTE_ETH_HASH_ALGO_CAPA_MASK(SYMMETRIC_TOEPLITZ_SORT)) != 0;
}
static inline bool dpdk_rss_toeplitz(const struct rte_eth_rss_conf *conf)
{
	return conf->algorithm == RTE_ETH_HASH_FUNCTION_DEFAULT ||
	       conf->algorithm == RTE_ETH_HASH_FUNCTION_TOEPLITZ;
}
static inline bool dpdk_rss_sorted(const struct rte_eth_rss_conf *conf)
{
	return conf->algorithm == RTE_ETH_HASH_FUNCTION_SYMMETRIC_TOEPLITZ_SORT;
}
static inline void dpdk_rss_sort(struct rte_eth_rss_conf *conf)
{
	conf->algorithm = RTE_ETH_HASH_FUNCTION_SYMMETRIC_TOEPLITZ_SORT;
}
#else
static inline bool dpdk_rss_sorts(const struct rte_eth_dev_info *info)
{
	(void)info;
	return false;
}
static inline bool dpdk_rss_toeplitz(const struct rte_eth_rss_conf *conf)
{
	(void)conf;
	return true;
}
static inline bool dpdk_rss_sorted(const struct rte_eth_rss_conf *conf)
{
	(void)conf;
	return false;
}
static inline void dpdk_rss_sort(struct rte_eth_rss_conf *conf)
{
	(void)conf;
}
#endif

#if RTE_VERSION < RTE_VERSION_NUM(22, 11, 0, 0)
#error "wirerate needs DPDK 22.11 or newer"
#endif
