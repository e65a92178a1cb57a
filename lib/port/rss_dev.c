/* SPDX-License-Identifier: BSD-3-Clause */
/* RSS of a device of DPDK: what it offers, what it works by, and how it is told something else. */
#include <errno.h>
#include <string.h>

#include "port_int.h"

#define RSS_GROUPS (RSS_TABLE_MAX / RTE_ETH_RETA_GROUP_SIZE)

static int dev_caps(const struct port *p, struct rss_caps *out)
{
	struct rte_eth_dev_info info = {0};
	int rc = rte_eth_dev_info_get(p->dev, &info);

	*out = (struct rss_caps){.hf = info.flow_type_rss_offloads,
				 .key_len = info.hash_key_size,
				 /* A longer table than there is room for is as good as unknown. */
				 .entries = info.reta_size <= RSS_TABLE_MAX ? info.reta_size : 0,
				 .toeplitz = dpdk_rss_takes(&info, RTE_ETH_HASH_FUNCTION_TOEPLITZ),
				 .sort = dpdk_rss_takes(&info, DPDK_RSS_SORT)};
	return rc;
}

static int read_table(const struct port *p, struct rss_setup *out)
{
	struct rte_eth_rss_reta_entry64 group[RSS_GROUPS] = {0};

	for (unsigned i = 0; i < out->entries; i++)
		group[i / RTE_ETH_RETA_GROUP_SIZE].mask |= 1ull << i % RTE_ETH_RETA_GROUP_SIZE;
	int rc = rte_eth_dev_rss_reta_query(p->dev, group, (uint16_t)out->entries);
	for (unsigned i = 0; i < out->entries; i++)
		out->table[i] =
			group[i / RTE_ETH_RETA_GROUP_SIZE].reta[i % RTE_ETH_RETA_GROUP_SIZE];
	return rc;
}

static enum rss_function function_of(unsigned algorithm)
{
	switch (algorithm) {
	case RTE_ETH_HASH_FUNCTION_DEFAULT:
	case RTE_ETH_HASH_FUNCTION_TOEPLITZ:
		return RSS_FUNCTION_TOEPLITZ;
	case DPDK_RSS_SORT:
		return RSS_FUNCTION_SORT;
	default:
		return RSS_FUNCTION_OTHER;
	}
}

static int dev_get(const struct port *p, struct rss_setup *out)
{
	struct rss_caps caps;
	int rc = dev_caps(p, &caps);

	*out = (struct rss_setup){0};
	if (rc != 0)
		return rc;
	out->key_len = caps.key_len;
	out->entries = caps.entries;
	/* Drivers that do not say how long their key is may write one of 40 bytes or longer. */
	struct rte_eth_rss_conf conf = {.rss_key = out->key,
					.rss_key_len = (uint8_t)(caps.key_len != 0 ? caps.key_len
										   : RSS_KEY_MAX)};
	rc = rte_eth_dev_rss_hash_conf_get(p->dev, &conf);
	if (rc != 0) {
		out->key_len = 0;
		out->entries = 0;
		return rc;
	}
	out->hf = conf.rss_hf;
	out->algorithm = dpdk_rss_algorithm(&conf);
	out->function = function_of(out->algorithm);
	if (out->entries == 0 || read_table(p, out) != 0)
		out->entries = 0;
	return 0;
}

static int dev_set_hash(struct port *p, const struct rss_setup *to, bool key)
{
	struct rte_eth_rss_conf conf = {.rss_hf = to->hf};
	struct rte_eth_dev_info info = {0};
	uint8_t bytes[RSS_KEY_MAX + 1];

	memcpy(bytes, to->key, sizeof(bytes));
	if (key) {
		conf.rss_key = bytes;
		conf.rss_key_len = (uint8_t)to->key_len;
	}
	/* A function that a driver tells of and does not take is left to the driver; what it makes
	 * of that is read afterwards. */
	if (rte_eth_dev_info_get(p->dev, &info) == 0 && dpdk_rss_takes(&info, to->algorithm))
		dpdk_rss_hash_by(&conf, to->algorithm);
	return rte_eth_dev_rss_hash_update(p->dev, &conf);
}

static int dev_set_table(struct port *p, const struct rss_setup *to)
{
	struct rte_eth_rss_reta_entry64 group[RSS_GROUPS] = {0};

	for (unsigned i = 0; i < to->entries; i++) {
		struct rte_eth_rss_reta_entry64 *g = &group[i / RTE_ETH_RETA_GROUP_SIZE];
		g->mask |= 1ull << i % RTE_ETH_RETA_GROUP_SIZE;
		g->reta[i % RTE_ETH_RETA_GROUP_SIZE] = to->table[i];
	}
	return rte_eth_dev_rss_reta_update(p->dev, group, (uint16_t)to->entries);
}

const struct rss_ops rss_dev_ops = {dev_caps, dev_get, dev_set_hash, dev_set_table};
