/* SPDX-License-Identifier: BSD-3-Clause */
/* A fake NIC with RSS, made of two null ports and of functions of DPDK that the test has in the
 * place of the library's own. What port 0 sends, port 1 receives: the NIC hashes each frame bit by
 * bit by its own key, looks into its own table, and puts the frame into a queue. So what control
 * predicts and what workers count come from different hands. */
#pragma once
#include <dlfcn.h>

#include "ctl_live.h"

#define QUEUES 4
#define ENTRIES 128
#define KEY 52

static struct {
	uint8_t key[KEY];
	uint16_t table[ENTRIES];
	uint64_t hf, offered;
	unsigned key_len;            /* that it tells */
	int key_rc, hf_rc, table_rc; /* what it answers to changes */
	int get_rc;                  /* what it answers when asked what it works by */
	bool unhashed_by_table; /* where a frame goes that is not hashed: entry 0, or queue 0 */
	bool deaf;              /* it accepts changes and goes on as before */
	unsigned algorithm;     /* that it hashes by, RTE_ETH_HASH_FUNCTION_* */
	unsigned takes;         /* those that it can be told, as bits */
	bool forgets;           /* a start and another hash bring back a table of its own */
	unsigned changes;       /* that it has taken */
	struct rte_ring *queue[QUEUES];
	uint16_t sender; /* the device of port 0, which is started first */
	bool has_sender;
} nic = {.offered = RTE_ETH_RSS_IP | RTE_ETH_RSS_TCP | RTE_ETH_RSS_UDP, .key_len = KEY, .takes = 1};

static uint64_t rnd;

static uint32_t next32(void)
{
	rnd ^= rnd << 13;
	rnd ^= rnd >> 7;
	rnd ^= rnd << 17;
	return (uint32_t)(rnd >> 16);
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

int rte_eth_dev_info_get(uint16_t port_id, struct rte_eth_dev_info *info)
{
	int rc = REAL(rte_eth_dev_info_get)(port_id, info);

	info->flow_type_rss_offloads = nic.offered;
	info->hash_key_size = (uint8_t)nic.key_len;
	info->reta_size = ENTRIES;
#if RTE_VERSION >= RTE_VERSION_NUM(23, 11, 0, 0)
	info->rss_algo_capa = nic.takes;
#endif
	return rc;
}

int rte_eth_dev_configure(uint16_t port_id, uint16_t nrxq, uint16_t ntxq,
			  const struct rte_eth_conf *conf)
{
	struct rte_eth_conf plain = *conf;

	if (nrxq > 1)
		nic.hf = conf->rx_adv_conf.rss_conf.rss_hf;
	plain.rxmode.mq_mode = RTE_ETH_MQ_RX_NONE; /* the null driver knows other kinds of frames */
	plain.rx_adv_conf.rss_conf = (struct rte_eth_rss_conf){0};
	return REAL(rte_eth_dev_configure)(port_id, nrxq, ntxq, &plain);
}

int rte_eth_dev_rss_hash_conf_get(uint16_t port_id, struct rte_eth_rss_conf *conf)
{
	(void)port_id;
	if (nic.get_rc != 0)
		return nic.get_rc;
	conf->rss_hf = nic.hf;
	assert_true(conf->rss_key_len >= KEY || conf->rss_key == NULL);
	if (conf->rss_key != NULL)
		memcpy(conf->rss_key, nic.key, KEY);
	dpdk_rss_hash_by(conf, nic.algorithm);
	return 0;
}

static void forget_table(void)
{
	for (unsigned i = 0; i < ENTRIES && nic.forgets; i++)
		nic.table[i] = (uint16_t)(i % 2);
}

int rte_eth_dev_rss_hash_update(uint16_t port_id, struct rte_eth_rss_conf *conf)
{
	(void)port_id;
	if (conf->rss_key != NULL && nic.key_rc != 0)
		return nic.key_rc;
	if (nic.hf_rc != 0)
		return nic.hf_rc;
	if (nic.deaf)
		return 0;
	if (conf->rss_key != NULL) {
		assert_int_equal(conf->rss_key_len, KEY);
		memcpy(nic.key, conf->rss_key, KEY);
	}
	nic.hf = conf->rss_hf;
	nic.algorithm = dpdk_rss_algorithm(conf);
	forget_table();
	nic.changes++;
	return 0;
}

int rte_eth_dev_rss_reta_query(uint16_t port_id, struct rte_eth_rss_reta_entry64 *conf,
			       uint16_t size)
{
	(void)port_id;
	for (unsigned i = 0; i < size; i++)
		if ((conf[i / 64].mask >> (i % 64) & 1) != 0)
			conf[i / 64].reta[i % 64] = nic.table[i];
	return 0;
}

int rte_eth_dev_rss_reta_update(uint16_t port_id, struct rte_eth_rss_reta_entry64 *conf,
				uint16_t size)
{
	(void)port_id;
	if (nic.table_rc != 0)
		return nic.table_rc;
	assert_int_equal(size, ENTRIES);
	for (unsigned i = 0; i < size && !nic.deaf; i++)
		if ((conf[i / 64].mask >> (i % 64) & 1) != 0)
			nic.table[i] = conf[i / 64].reta[i % 64];
	nic.changes++;
	return 0;
}

static uint32_t bitwise(const uint8_t *key, const uint8_t *in, unsigned n)
{
	uint32_t hash = 0;

	for (unsigned i = 0; i < 8 * n; i++)
		for (unsigned b = 0; b < 32 && (in[i / 8] >> (7 - i % 8) & 1) != 0; b++)
			hash ^= (uint32_t)(key[(i + b) / 8] >> (7 - (i + b) % 8) & 1) << (31 - b);
	return hash;
}

/* Frames are eth, IPv4 or IPv6, and UDP. */
static unsigned queue_of(const uint8_t *frame)
{
	bool six = frame[12] == 0x86;
	const uint8_t *addresses = frame + 14 + (six ? 8 : 12);
	unsigned n = six ? 32 : 8;
	uint64_t ports = six ? RTE_ETH_RSS_NONFRAG_IPV6_UDP : RTE_ETH_RSS_NONFRAG_IPV4_UDP,
		 any = six ? RTE_ETH_RSS_IPV6 : RTE_ETH_RSS_IPV4;

	if ((nic.hf & (ports | any)) == 0)
		return nic.unhashed_by_table ? nic.table[0] : 0;
	return nic.table[bitwise(nic.key, addresses, (nic.hf & ports) != 0 ? n + 4 : n) % ENTRIES];
}

static uint16_t nic_tx(void *q, struct rte_mbuf **m, uint16_t n)
{
	uint16_t i = 0;

	(void)q;
	while (i < n && rte_ring_mp_enqueue(nic.queue[queue_of(rte_pktmbuf_mtod(m[i], uint8_t *))],
					    m[i]) == 0)
		i++;
	return i;
}

static uint16_t nic_rx(void *q, struct rte_mbuf **m, uint16_t n)
{
	return (uint16_t)rte_ring_sc_dequeue_burst(q, (void **)m, n, NULL);
}

int rte_eth_dev_start(uint16_t port_id)
{
	int rc = REAL(rte_eth_dev_start)(port_id);
	struct rte_eth_fp_ops *f = &rte_eth_fp_ops[port_id];

	if (!nic.has_sender || nic.sender == port_id) {
		nic.sender = port_id;
		nic.has_sender = true;
		f->tx_pkt_burst = nic_tx;
		return rc;
	}
	forget_table();
	for (unsigned q = 0; q < QUEUES; q++) {
		char name[16];
		snprintf(name, sizeof(name), "nic%u", q);
		if (nic.queue[q] == NULL)
			nic.queue[q] = rte_ring_create(name, 1024, SOCKET_ID_ANY, RING_F_SC_DEQ);
		assert_non_null(nic.queue[q]);
		f->rxq.data[q] = nic.queue[q];
	}
	f->rx_pkt_burst = nic_rx;
	return rc;
}
