/* SPDX-License-Identifier: BSD-3-Clause */
/* The device of a port: its pools and queues, its start and restart, its mtu and its link. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log.h"
#include "port_int.h"

#define DEFAULT_MTU 1500
#define RSS_WANTED (RTE_ETH_RSS_IP | RTE_ETH_RSS_TCP | RTE_ETH_RSS_UDP | RTE_ETH_RSS_SCTP)

/* DPDK wants the name of a pool for each Rx queue, also for devices that never receive into a pool
 * of ours. They all name this one. */
static struct rte_mempool *dummy;

static unsigned pool_serial;

static int socket_of(int node)
{
	return node >= 0 ? node : SOCKET_ID_ANY;
}

/* Whether the user asked for an mtu, or had asked for one. */
static bool asks_mtu(const struct port *p)
{
	return p->cfg->mtu != DEFAULT_MTU || (p->applied.mtu != 0 && p->applied.mtu != DEFAULT_MTU);
}

uint64_t port_mtu(const struct port *p)
{
	if (p->dev_mtu != 0)
		return p->dev_mtu;
	return p->applied.mtu != 0 ? p->applied.mtu : p->cfg->mtu;
}

/* The mtu that buffers are made for: the setting, or that of the interface if it is larger. */
static uint64_t buffer_mtu(const struct port *p)
{
	return p->dev_mtu > p->cfg->mtu ? p->dev_mtu : p->cfg->mtu;
}

/* Makes a pool of mbufs. It does by hand what rte_pktmbuf_pool_create() does, because that takes no
 * flags. Without hugepages DPDK lets no object cross a 4 KB page unless a flag allows it, which
 * doubles the memory and puts all mbufs on the same few cache sets. The flag is set where I/O
 * addresses are virtual addresses, since memory is one range in both then. by_page: it is not set,
 * because the driver cuts the pool into pages itself. */
static struct rte_mempool *mbuf_pool(const char *name, unsigned n, unsigned cache, unsigned room,
				     int socket, bool by_page)
{
	struct rte_pktmbuf_pool_private priv = {.mbuf_data_room_size = (uint16_t)room};
	unsigned flags =
		by_page || rte_eal_iova_mode() != RTE_IOVA_VA ? 0 : RTE_MEMPOOL_F_NO_IOVA_CONTIG;
	struct rte_mempool *mp =
		rte_mempool_create_empty(name, n, (unsigned)sizeof(struct rte_mbuf) + room, cache,
					 sizeof(priv), socket, flags);
	int rc;

	if (mp == NULL)
		return NULL;
	rc = rte_mempool_set_ops_byname(mp, rte_mbuf_best_mempool_ops(), NULL);
	if (rc == 0) {
		rte_pktmbuf_pool_init(mp, &priv);
		rc = rte_mempool_populate_default(mp);
	}
	if (rc < 0) {
		rte_mempool_free(mp);
		rte_errno = -rc;
		return NULL;
	}
	rte_mempool_obj_iter(mp, rte_pktmbuf_init, NULL);
	return mp;
}

/* For rte_mempool_mem_iter(): adds the bytes of one piece of a pool's memory to *sum. */
static void add_held(struct rte_mempool *mp, void *sum, struct rte_mempool_memhdr *h, unsigned i)
{
	(void)mp, (void)i;
	*(uint64_t *)sum += h->len;
}

/* Makes the pool of n buffers for queue q, and adds its memory to that of the port. */
static struct rte_mempool *pool_new(struct port *p, const char *what, unsigned q, unsigned n,
				    unsigned room, bool by_page)
{
	char name[RTE_MEMPOOL_NAMESIZE];
	unsigned cache = DP_POOL_CACHE;

	/* The caches of sender and receiver together must leave a burst for the device. */
	while (cache > 0 && cache * 3 + DP_BURST_MAX > n)
		cache /= 2;
	snprintf(name, sizeof(name), "%s%u_%u_%u", what, p->id, q, pool_serial++);
	struct rte_mempool *mp = mbuf_pool(name, n, cache, room, socket_of(p->node), by_page);
	if (mp == NULL && p->node >= 0) /* without hugepages all memory is on one node */
		mp = mbuf_pool(name, n, cache, room, SOCKET_ID_ANY, by_page);
	if (mp != NULL)
		rte_mempool_mem_iter(mp, add_held, &p->memory_bytes);
	return mp;
}

int port_dummy_pool(struct err *e)
{
	dummy = mbuf_pool("dummy", 63, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY, false);
	return dummy != NULL ? 0
			     : err_set(e, ENODEV, "no memory for the first buffer pool: %s",
				       rte_strerror(rte_errno));
}

static int no_memory(struct port *p, const char *what, unsigned n, struct err *e)
{
	return err_set(
		e, ENODEV,
		"port %u (%s): no memory for %u %s buffers of %u bytes (%s); %s need less; what an mtu of %llu "
		"takes must be reserved at the start",
		p->id, p->name, n, what, eal_data_room(p->cfg->mtu), rte_strerror(rte_errno),
		eal_less(), (unsigned long long)p->cfg->mtu);
}

static void pools_free(struct rte_mempool **mp, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (mp[i] != dummy)
			rte_mempool_free(mp[i]);
}

/* Makes a pool for each queue of either direction, so that no two workers share one. After a
 * failure no pool is left. */
static int make_pools(struct port *p, struct rte_mempool **rx, struct rte_mempool **tx,
		      struct err *e)
{
	unsigned nrx = eal_rx_frames(p->cfg, &p->need), ntx = eal_tx_frames(p->cfg, &p->need);
	int rc;

	p->memory_bytes = 0;
	for (unsigned q = 0; q < p->dev_nrxq; q++) {
		rx[q] = nrx == 0 ? dummy
				 : pool_new(p, "rx", q, nrx, eal_rx_room(buffer_mtu(p), &p->need),
					    eal_by_page(&p->need));
		if (rx[q] == NULL) {
			rc = no_memory(p, "receive", nrx, e);
			pools_free(rx, q);
			return rc;
		}
	}
	for (unsigned q = 0; q < p->ntxq; q++) {
		tx[q] = pool_new(p, "tx", q, ntx, eal_data_room(buffer_mtu(p)), false);
		if (tx[q] == NULL) {
			rc = no_memory(p, "transmit", ntx, e);
			pools_free(tx, q);
			pools_free(rx, p->dev_nrxq);
			return rc;
		}
	}
	return 0;
}

/* Makes the error of a call of DPDK that has failed with rc, -errno. Returns -ENODEV. */
static int setup_failed(struct port *p, int rc, const char *what, struct err *e)
{
	eal_log_drain();
	return err_set(e, ENODEV, "port %u (%s): %s failed: %s", p->id, p->spec_text, what,
		       rte_strerror(-rc));
}

/* These offloads are always asked for if the device has them. Whether it really makes the checksums
 * of a frame is said in each packet, as the recipe of the frame wants it. */
#define TX_CKSUMS \
	(RTE_ETH_TX_OFFLOAD_IPV4_CKSUM | RTE_ETH_TX_OFFLOAD_UDP_CKSUM | \
	 RTE_ETH_TX_OFFLOAD_TCP_CKSUM)
/* With FAST_FREE a driver gives all buffers of a Tx queue back to the pool of one of them. That
 * would be wrong where tasks send buffers of other pools as well. */
static uint64_t tx_wanted(const struct port *p)
{
	return TX_CKSUMS | (tx_foreign(p) ? 0 : RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE);
}

/* Writes the Tx offloads in use as words, for `show ports`. */
static void offload_words(struct port *p)
{
	static const struct {
		uint64_t bit;
		const char *word;
	} words[] = {
		{RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE, "mbuf_fast_free"},
		{RTE_ETH_TX_OFFLOAD_IPV4_CKSUM, "ipv4_cksum"},
		{RTE_ETH_TX_OFFLOAD_UDP_CKSUM, "udp_cksum"},
		{RTE_ETH_TX_OFFLOAD_TCP_CKSUM, "tcp_cksum"},
		{RTE_ETH_TX_OFFLOAD_TCP_TSO, "tcp_tso"},
		{RTE_ETH_TX_OFFLOAD_MULTI_SEGS, "multi_segs"},
		{RTE_ETH_TX_OFFLOAD_SEND_ON_TIMESTAMP, "send_on_timestamp"},
	};
	struct sbuf b = {0};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if ((p->tx_offloads | p->io_offloads) & words[i].bit)
			sbuf_addf(&b, "%s%s", b.len > 0 ? " " : "", words[i].word);
	snprintf(p->offloads, sizeof(p->offloads), "%s", b.len > 0 ? b.s : "none");
	sbuf_free(&b);
}

static void rss_and_offloads(struct port *p, const struct rte_eth_dev_info *info,
			     struct rte_eth_conf *conf)
{
	/* A spec with functions of its own for RSS has nothing to ask of its device. */
	uint64_t hf = p->spec->rss != NULL ? 0 : RSS_WANTED & info->flow_type_rss_offloads;

	snprintf(p->rss, sizeof(p->rss), "off (one Rx queue)");
	if (p->nrxq > 1) {
		if (hf != 0) {
			conf->rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
			conf->rx_adv_conf.rss_conf.rss_hf = hf;
			conf->rx_adv_conf.rss_conf.rss_key_len = 0;
			snprintf(p->rss, sizeof(p->rss), "%s%s", hf & RTE_ETH_RSS_IP ? "ip " : "",
				 hf & (RTE_ETH_RSS_TCP | RTE_ETH_RSS_UDP) ? "l4" : "");
		} else {
			snprintf(p->rss, sizeof(p->rss), "not offered by the device");
		}
	}
	p->tx_offloads = info->tx_offload_capa & tx_wanted(p);
	conf->txmode.offloads |= p->tx_offloads;
	stamps_ask(p, info, conf);
}

static void flow_control_off(struct port *p)
{
	struct rte_eth_fc_conf fc = {0};
	int rc = rte_eth_dev_flow_ctrl_get(p->dev, &fc);

	if (rc == 0) {
		fc.mode = RTE_ETH_FC_NONE;
		rc = rte_eth_dev_flow_ctrl_set(p->dev, &fc);
	}
	snprintf(p->fc, sizeof(p->fc), "%s",
		 rc == 0                           ? "off"
		 : rc == -ENOTSUP || rc == -ENOSYS ? "not offered by the device"
						   : "cannot be turned off");
}

static int setup_queues(struct port *p, struct rte_mempool **rx, struct rte_eth_dev_info *info,
			struct err *e)
{
	uint16_t rxd = (uint16_t)(p->cfg->rxd > p->need.min_rxd ? p->cfg->rxd : p->need.min_rxd);
	uint16_t txd = (uint16_t)(p->cfg->txd > p->need.min_txd ? p->cfg->txd : p->need.min_txd);
	int socket = rte_eth_dev_socket_id(p->dev), rc;

	rc = rte_eth_dev_adjust_nb_rx_tx_desc(p->dev, &rxd, &txd);
	if (rc < 0 && rc != -ENOTSUP)
		return setup_failed(p, rc, "setting the number of descriptors", e);
	p->rxd = rxd;
	p->txd = txd;
	for (uint16_t q = 0; q < p->dev_nrxq; q++) {
		rc = rte_eth_rx_queue_setup(p->dev, q, rxd, (unsigned)socket, &info->default_rxconf,
					    rx[q]);
		if (rc < 0)
			return setup_failed(p, rc, "setting up an Rx queue", e);
	}
	for (uint16_t q = 0; q < p->dev_ntxq; q++) {
		struct rte_eth_txconf tc = info->default_txconf;
		tc.offloads = p->tx_offloads;
		rc = rte_eth_tx_queue_setup(p->dev, q, txd, (unsigned)socket, &tc);
		if (rc < 0)
			return setup_failed(p, rc, "setting up a Tx queue", e);
	}
	return 0;
}

static int set_mtu(struct port *p, const struct rte_eth_dev_info *info, struct err *e)
{
	uint64_t mtu = p->cfg->mtu;
	int rc;

	if (!asks_mtu(p))
		return 0;
	if (p->spec->set_mtu != NULL)
		return p->spec->set_mtu(p, (uint16_t)mtu, e);
	if (info->max_mtu != 0 && mtu > info->max_mtu)
		return err_set(e, EINVAL,
			       "port %u (%s): mtu %llu is above the device's limit of %u", p->id,
			       p->name, (unsigned long long)mtu, info->max_mtu);
	rc = rte_eth_dev_set_mtu(p->dev, (uint16_t)mtu);
	return rc == 0 ? 0 : setup_failed(p, rc, "setting the mtu", e);
}

void port_promiscuous(struct port *p)
{
	bool on = p->cfg->promiscuous;
	struct err why = {.text = ""};
	int rc;

	if (!p->started || on == p->promiscuous)
		return;
	p->promiscuous = on;
	if (p->spec->set_promisc != NULL)
		rc = p->spec->set_promisc(p, on, &why);
	else
		rc = on ? rte_eth_promiscuous_enable(p->dev) : rte_eth_promiscuous_disable(p->dev);
	if (rc == 0)
		p->applied.promiscuous = on;
	else
		port_note(p, "port %u (%s): promiscuous mode: %s", p->id, p->name,
			  why.text[0] != '\0' ? why.text : rte_strerror(-rc));
}

/* Configures the device and makes pools and queues: all that may fail because the driver cannot do
 * it. After a failure no pool is left. */
static int configure_device(struct port *p, struct rte_eth_dev_info *info, struct err *e)
{
	struct rte_eth_conf conf = {0};
	struct rte_mempool *rx[PORT_MAX_QUEUES], *tx[PORT_MAX_QUEUES];
	uint16_t most = p->nrxq > p->ntxq ? p->nrxq : p->ntxq;
	int rc = rte_eth_dev_info_get(p->dev, info);

	if (rc < 0)
		return setup_failed(p, rc, "asking the device what it can do", e);
	if (p->nrxq > info->max_rx_queues || p->ntxq > info->max_tx_queues)
		return err_set(
			e, EINVAL,
			"port %u (%s): the map asks for %u Rx and %u Tx queues; the device has %u and %u",
			p->id, p->name, p->nrxq, p->ntxq, info->max_rx_queues, info->max_tx_queues);
	p->dev_nrxq = p->need.paired ? most : p->nrxq;
	p->dev_ntxq = p->need.paired ? most : p->ntxq;
	rss_and_offloads(p, info, &conf);
	rc = rte_eth_dev_configure(p->dev, p->dev_nrxq, p->dev_ntxq, &conf);
	if (rc < 0 && stamps_without(p, rc, &conf))
		rc = rte_eth_dev_configure(p->dev, p->dev_nrxq, p->dev_ntxq, &conf);
	offload_words(p);
	if (rc < 0)
		return setup_failed(p, rc, "configuring the device", e);
	rc = make_pools(p, rx, tx, e);
	if (rc < 0)
		return rc;
	rc = setup_queues(p, rx, info, e);
	if (rc < 0) {
		pools_free(rx, p->dev_nrxq);
		pools_free(tx, p->ntxq);
		return rc;
	}
	p->rx_pool = xrealloc(p->rx_pool, PORT_MAX_QUEUES * sizeof(*p->rx_pool));
	memcpy(p->rx_pool, rx, p->dev_nrxq * sizeof(*rx));
	for (unsigned q = 0; q < p->ntxq; q++)
		tx_shares_pool(p, q, tx[q], dev_edits(info->driver_name, info->tx_offload_capa));
	return 0;
}

/* Tells the device all its groups. One that cannot choose, or has no room for all of them, is to
 * receive every group. */
static void ask_groups(struct port *p)
{
	struct rte_ether_addr list[PORT_MAX_GROUPS];

	for (unsigned i = 0; i < p->ngroups; i++)
		memcpy(list[i].addr_bytes, p->group[i], sizeof(p->group[i]));
	int rc = rte_eth_dev_set_mc_addr_list(p->dev, p->ngroups > 0 ? list : NULL, p->ngroups);
	if (p->ngroups == 0 || rc == 0) {
		if (p->all_groups && rte_eth_allmulticast_disable(p->dev) == 0)
			p->all_groups = false;
		return;
	}
	/* Where somebody else has turned it on, it is not ours to turn off. */
	bool had = rte_eth_allmulticast_get(p->dev) == 1 && !p->all_groups;
	rc = rte_eth_allmulticast_enable(p->dev);
	p->all_groups = rc == 0 && !had;
	if (rc != 0)
		log_msg(LOG_LVL_WARN,
			"port %u (%s) cannot be told which groups to receive (%s): `set %u promiscuous on` receives all",
			p->id, p->name, rte_strerror(-rc), p->id);
}

void port_groups(struct port *p, const uint8_t (*mac)[6], unsigned n)
{
	uint8_t was[PORT_MAX_GROUPS][6];
	unsigned nwas = p->ngroups;

	if (nwas == n && (n == 0 || memcmp(p->group, mac, n * sizeof(mac[0])) == 0))
		return;
	memcpy(was, p->group, sizeof(was));
	p->ngroups = n;
	if (n > 0)
		memcpy(p->group, mac, n * sizeof(mac[0]));
	if (p->spec->unaddressed || !p->started)
		return;
	if (p->spec->join == NULL) {
		ask_groups(p);
		return;
	}
	for (unsigned i = 0; i < n; i++)
		p->spec->join(p, p->group[i], true);
	for (unsigned i = 0; i < nwas; i++)
		p->spec->join(p, was[i], false);
}

/* The port has got another device: the objects of its queues are to use that one. */
static void rename_device(struct port *p)
{
	for (unsigned q = 0; q < p->nrxq; q++)
		p->rxq[q]->dev = p->dev;
	tx_shares_dev(p);
	p->promiscuous = p->applied.promiscuous = p->all_groups = false;
}

/* Notes which settings the device runs with now. The promiscuous mode is left as noted: it is asked
 * for on its own, and a device keeps it over a restart. */
static void apply_cfg(struct port *p)
{
	bool promisc = p->applied.promiscuous;

	p->applied = *p->cfg;
	p->applied.promiscuous = promisc;
}

int port_setup(struct port *p, struct err *e)
{
	struct rte_eth_dev_info info = {0};
	int rc = configure_device(p, &info, e);

	if (rc < 0 && p->spec->fallback != NULL && p->spec->fallback(p, e) == 0) {
		rename_device(p);
		rc = configure_device(p, &info, e);
	}
	if (rc < 0)
		return rc;
	rc = set_mtu(p, &info, e);
	if (rc < 0)
		return rc;
	flow_control_off(p);
	rc = rte_eth_dev_start(p->dev);
	if (rc < 0)
		return setup_failed(p, rc, "starting the device", e);
	if (rte_is_zero_ether_addr(&p->mac) && (rc = rte_eth_macaddr_get(p->dev, &p->mac)) != 0) {
		log_msg(LOG_LVL_WARN, "port %u (%s) tells no address of its own (%s) and gets one",
			p->id, p->name, rte_strerror(-rc));
		port_own_mac(p);
	}
	p->started = true;
	apply_cfg(p);
	port_promiscuous(p);
	if (p->ngroups > 0 && p->spec->join == NULL && !p->spec->unaddressed)
		ask_groups(p);
	if (p->spec->started != NULL)
		p->spec->started(p);
	stamps_started(p);
	rss_started(p);
	eal_log_drain();
	return 0;
}

/* Frees a pool if all its buffers are back in it. If not, the pool is never freed, since its
 * buffers may still lie in a ring between two ports. */
static void pool_retire(struct rte_mempool **from)
{
	struct rte_mempool *mp = *from;

	*from = NULL; /* what follows may fail, and then it is retired once more */
	if (mp == NULL || mp == dummy)
		return;
	if (rte_mempool_full(mp))
		rte_mempool_free(mp);
	else
		log_msg(LOG_LVL_DEBUG, "pool %s is kept: %u buffers are in flight", mp->name,
			rte_mempool_in_use_count(mp));
}

/* For a device that is stopped or closed: what DPDK refuses then changes nothing for us, so it
 * is only written to the log. rc: 0 or -errno of what was done. what: its name, "closing the
 * device". */
static void leave_device(const struct port *p, int rc, const char *what)
{
	if (rc != 0)
		log_msg(LOG_LVL_WARN, "port %u (%s): %s: %s", p->id, p->name, what,
			rte_strerror(-rc));
}

/* Stops the device, gives up its pools and sets it up with the settings of now. */
static int reopen_device(struct port *p, struct err *e)
{
	leave_device(p, rte_eth_dev_stop(p->dev), "stopping the device");
	p->started = false;
	if (p->spec->drain != NULL)
		p->spec->drain(p);
	for (unsigned q = 0; q < p->dev_nrxq; q++)
		pool_retire(&p->rx_pool[q]);
	for (unsigned q = 0; q < p->ntxq; q++) {
		struct port_txq *of = &p->tx[q];
		pool_retire(&of->share[0]->pool); /* all shares send from it */
		for (unsigned i = 1; i < of->n; i++)
			of->share[i]->pool = NULL;
	}
	return port_setup(p, e);
}

int port_restart(struct port *p, struct err *e)
{
	const struct port_cfg *wanted = p->cfg;
	struct port_cfg had = *wanted;
	int rc;

	had.mtu = p->applied.mtu;
	had.txd = p->applied.txd;
	had.rxd = p->applied.rxd;
	had.mbufs = p->applied.mbufs;
	had.timestamps = p->applied.timestamps;
	had.pacing = p->applied.pacing;
	rc = reopen_device(p, e);
	if (rc == 0)
		return 0;
	p->cfg = &had;
	if (reopen_device(p, NULL) < 0)
		log_msg(LOG_LVL_ERROR,
			"port %u (%s) could not be brought back with its former values and is stopped",
			p->id, p->name);
	apply_cfg(p);
	/* Settings stay as the user wrote them; the device runs with p->applied. */
	p->cfg = wanted;
	return rc;
}

void port_close(struct port *p)
{
	if (p->spec != NULL && p->spec->close != NULL)
		p->spec->close(p);
	if (p->used && p->started)
		leave_device(p, rte_eth_dev_stop(p->dev), "stopping the device");
	p->started = false;
	leave_device(p, rte_eth_dev_close(p->dev), "closing the device");
	if (p->spec->closed != NULL)
		p->spec->closed(p);
}

void setup_read_link(struct port *p)
{
	if (p->spec->link != NULL) {
		p->spec->link(p, &p->link, &p->link_mbps);
	} else {
		struct rte_eth_link l = {0};
		if (rte_eth_link_get_nowait(p->dev, &l) < 0) {
			p->link = LINK_UNKNOWN;
			return;
		}
		p->link = l.link_status == RTE_ETH_LINK_UP ? LINK_UP : LINK_DOWN;
		p->link_mbps = l.link_speed == RTE_ETH_SPEED_NUM_UNKNOWN ? 0 : l.link_speed;
	}
}
