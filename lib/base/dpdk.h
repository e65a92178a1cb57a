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
/* By which function a device hashes received frames is a number of enum rte_eth_hash_function.
 * Before 23.11 nobody could ask or tell, and devices hash by Toeplitz. */
#if RTE_VERSION >= RTE_VERSION_NUM(23, 11, 0, 0)
#define DPDK_RSS_SORT RTE_ETH_HASH_FUNCTION_SYMMETRIC_TOEPLITZ_SORT
/* Whether the device can be told to hash by this function. */
static inline bool dpdk_rss_takes(const struct rte_eth_dev_info *info, unsigned algorithm)
{
	return algorithm < 32 && (info->rss_algo_capa & RTE_ETH_HASH_ALGO_TO_CAPA(algorithm)) != 0;
}
static inline unsigned dpdk_rss_algorithm(const struct rte_eth_rss_conf *conf)
{
	return (unsigned)conf->algorithm;
}
static inline void dpdk_rss_hash_by(struct rte_eth_rss_conf *conf, unsigned algorithm)
{
	conf->algorithm = (enum rte_eth_hash_function)algorithm;
}
#else
#define DPDK_RSS_SORT RTE_ETH_HASH_FUNCTION_MAX /* no device has it */
static inline bool dpdk_rss_takes(const struct rte_eth_dev_info *info, unsigned algorithm)
{
	(void)info;
	return algorithm == RTE_ETH_HASH_FUNCTION_DEFAULT;
}
static inline unsigned dpdk_rss_algorithm(const struct rte_eth_rss_conf *conf)
{
	(void)conf;
	return RTE_ETH_HASH_FUNCTION_DEFAULT;
}
static inline void dpdk_rss_hash_by(struct rte_eth_rss_conf *conf, unsigned algorithm)
{
	(void)conf;
	(void)algorithm;
}
#endif

#if RTE_VERSION < RTE_VERSION_NUM(22, 11, 0, 0)
#error "wirerate needs DPDK 22.11 or newer"
#endif
