/* SPDX-License-Identifier: BSD-3-Clause */
/* The device of a port: its pools and queues, its start and restart, its mtu and its link. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl_int.h"

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

bool dev_mtu_set(const struct ctl_port *cp)
{
	return cp->p.cfg.mtu != DEFAULT_MTU ||
	       (cp->applied.mtu != 0 && cp->applied.mtu != DEFAULT_MTU);
}

uint64_t dev_mtu(const struct ctl_port *cp)
{
	if (cp->restart && !cp->run.active && cp->p.cfg.mtu != cp->applied.mtu)
		return cp->p.cfg.mtu; /* from the next start on */
	if (cp->p.dev_mtu != 0)
		return cp->p.dev_mtu;
	return cp->applied.mtu != 0 ? cp->applied.mtu : cp->p.cfg.mtu;
}

/* The mtu that buffers are made for: the setting, or that of the interface if it is larger. */
static uint64_t buffer_mtu(const struct ctl_port *cp)
{
	return cp->p.dev_mtu > cp->p.cfg.mtu ? cp->p.dev_mtu : cp->p.cfg.mtu;
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
static struct rte_mempool *pool_new(struct ctl_port *cp, const char *what, unsigned q, unsigned n,
				    unsigned room, bool by_page)
{
	char name[RTE_MEMPOOL_NAMESIZE];
	unsigned cache = DP_POOL_CACHE;

	/* The caches of sender and receiver together must leave a burst for the device. */
	while (cache > 0 && cache * 3 + DP_BURST_MAX > n)
		cache /= 2;
	snprintf(name, sizeof(name), "%s%u_%u_%u", what, cp->p.id, q, pool_serial++);
	struct rte_mempool *mp = mbuf_pool(name, n, cache, room, socket_of(cp->p.node), by_page);
	if (mp == NULL && cp->p.node >= 0) /* without hugepages all memory is on one node */
		mp = mbuf_pool(name, n, cache, room, SOCKET_ID_ANY, by_page);
	if (mp != NULL)
		rte_mempool_mem_iter(mp, add_held, &cp->memory_bytes);
	return mp;
}

int dev_dummy_pool(struct err *e)
{
	dummy = mbuf_pool("dummy", 63, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY, false);
	return dummy != NULL ? 0
			     : err_set(e, ENODEV, "no memory for the first buffer pool: %s",
				       rte_strerror(rte_errno));
}

static int no_memory(struct ctl_port *cp, const char *what, unsigned n, struct err *e)
{
	return err_set(
		e, ENODEV,
		"port %u (%s): no memory for %u %s buffers of %u bytes (%s); start with smaller --mbufs/--txd/--rxd, or, when a larger "
		"mtu is wanted, with --mtu %llu so that memory is reserved for it",
		cp->p.id, cp->p.name, n, what, eal_data_room(cp->p.cfg.mtu),
		rte_strerror(rte_errno), (unsigned long long)cp->p.cfg.mtu);
}

static void pools_free(struct rte_mempool **mp, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (mp[i] != dummy)
			rte_mempool_free(mp[i]);
}

/* Makes a pool for each queue of either direction, so that no two workers share one. After a
 * failure no pool is left. */
static int make_pools(struct ctl_port *cp, struct rte_mempool **rx, struct rte_mempool **tx,
		      struct err *e)
{
	unsigned nrx = eal_rx_frames(&cp->p.cfg, &cp->need),
		 ntx = eal_tx_frames(&cp->p.cfg, &cp->need);
	int rc;

	cp->memory_bytes = 0;
	for (unsigned q = 0; q < cp->dev_nrxq; q++) {
		rx[q] = nrx == 0
				? dummy
				: pool_new(cp, "rx", q, nrx, eal_rx_room(buffer_mtu(cp), &cp->need),
					   eal_by_page(&cp->need));
		if (rx[q] == NULL) {
			rc = no_memory(cp, "receive", nrx, e);
			pools_free(rx, q);
			return rc;
		}
	}
	for (unsigned q = 0; q < cp->p.ntxq; q++) {
		tx[q] = pool_new(cp, "tx", q, ntx, eal_data_room(buffer_mtu(cp)), false);
		if (tx[q] == NULL) {
			rc = no_memory(cp, "transmit", ntx, e);
			pools_free(tx, q);
			pools_free(rx, cp->dev_nrxq);
			return rc;
		}
	}
	return 0;
}

/* Makes the error of a call of DPDK that has failed with rc, -errno. Returns -ENODEV. */
static int dev_fail(struct ctl_port *cp, int rc, const char *what, struct err *e)
{
	eal_log_drain();
	return err_set(e, ENODEV, "port %u (%s): %s failed: %s", cp->p.id, cp->p.spec_text, what,
		       rte_strerror(-rc));
}

/* These offloads are always asked for if the device has them. Whether it really makes the checksums
 * of a frame is said in each packet, as the plan of the frame wants it. */
#define TX_CKSUMS \
	(RTE_ETH_TX_OFFLOAD_IPV4_CKSUM | RTE_ETH_TX_OFFLOAD_UDP_CKSUM | \
	 RTE_ETH_TX_OFFLOAD_TCP_CKSUM)
/* With FAST_FREE a driver gives all buffers of a Tx queue back to the pool of one of them. That
 * would be wrong where tasks send buffers of other pools as well. */
static uint64_t tx_wanted(const struct ctl_port *cp)
{
	return TX_CKSUMS | (tx_foreign(cp) ? 0 : RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE);
}

/* Writes the Tx offloads in use as words, for `show ports`. */
static void offload_words(struct ctl_port *cp)
{
	static const struct {
		uint64_t bit;
		const char *word;
	} words[] = {
		{RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE, "mbuf_fast_free"},
		{RTE_ETH_TX_OFFLOAD_IPV4_CKSUM, "ipv4_cksum"},
		{RTE_ETH_TX_OFFLOAD_UDP_CKSUM, "udp_cksum"},
		{RTE_ETH_TX_OFFLOAD_TCP_CKSUM, "tcp_cksum"},
		{RTE_ETH_TX_OFFLOAD_SEND_ON_TIMESTAMP, "send_on_timestamp"},
	};
	struct sbuf b = {0};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (cp->tx_offloads & words[i].bit)
			sbuf_addf(&b, "%s%s", b.len > 0 ? " " : "", words[i].word);
	snprintf(cp->offloads, sizeof(cp->offloads), "%s", b.len > 0 ? b.s : "none");
	sbuf_free(&b);
}

static void rss_and_offloads(struct ctl_port *cp, const struct rte_eth_dev_info *info,
			     struct rte_eth_conf *conf)
{
	uint64_t hf = RSS_WANTED & info->flow_type_rss_offloads;

	snprintf(cp->rss, sizeof(cp->rss), "off (one Rx queue)");
	if (cp->p.nrxq > 1) {
		if (hf != 0) {
			conf->rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
			conf->rx_adv_conf.rss_conf.rss_hf = hf;
			conf->rx_adv_conf.rss_conf.rss_key_len = 0;
			snprintf(cp->rss, sizeof(cp->rss), "%s%s", hf & RTE_ETH_RSS_IP ? "ip " : "",
				 hf & (RTE_ETH_RSS_TCP | RTE_ETH_RSS_UDP) ? "l4" : "");
		} else {
			snprintf(cp->rss, sizeof(cp->rss), "not offered by the device");
		}
	}
	cp->tx_offloads = info->tx_offload_capa & tx_wanted(cp);
	conf->txmode.offloads |= cp->tx_offloads;
	stamps_ask(cp, info, conf);
}

static void flow_control_off(struct ctl_port *cp)
{
	struct rte_eth_fc_conf fc = {0};
	int rc = rte_eth_dev_flow_ctrl_get(cp->p.dev, &fc);

	if (rc == 0) {
		fc.mode = RTE_ETH_FC_NONE;
		rc = rte_eth_dev_flow_ctrl_set(cp->p.dev, &fc);
	}
	snprintf(cp->fc, sizeof(cp->fc), "%s",
		 rc == 0                           ? "off"
		 : rc == -ENOTSUP || rc == -ENOSYS ? "not offered by the device"
						   : "cannot be turned off");
}

static int setup_queues(struct ctl_port *cp, struct rte_mempool **rx, struct rte_eth_dev_info *info,
			struct err *e)
{
	uint16_t rxd =
		(uint16_t)(cp->p.cfg.rxd > cp->need.min_rxd ? cp->p.cfg.rxd : cp->need.min_rxd);
	uint16_t txd =
		(uint16_t)(cp->p.cfg.txd > cp->need.min_txd ? cp->p.cfg.txd : cp->need.min_txd);
	int socket = rte_eth_dev_socket_id(cp->p.dev), rc;

	rc = rte_eth_dev_adjust_nb_rx_tx_desc(cp->p.dev, &rxd, &txd);
	if (rc < 0 && rc != -ENOTSUP)
		return dev_fail(cp, rc, "setting the number of descriptors", e);
	cp->p.rxd = rxd;
	cp->p.txd = txd;
	for (uint16_t q = 0; q < cp->dev_nrxq; q++) {
		rc = rte_eth_rx_queue_setup(cp->p.dev, q, rxd, (unsigned)socket,
					    &info->default_rxconf, rx[q]);
		if (rc < 0)
			return dev_fail(cp, rc, "setting up an Rx queue", e);
	}
	for (uint16_t q = 0; q < cp->dev_ntxq; q++) {
		struct rte_eth_txconf tc = info->default_txconf;
		tc.offloads = cp->tx_offloads;
		rc = rte_eth_tx_queue_setup(cp->p.dev, q, txd, (unsigned)socket, &tc);
		if (rc < 0)
			return dev_fail(cp, rc, "setting up a Tx queue", e);
	}
	return 0;
}

static int set_mtu(struct ctl_port *cp, const struct rte_eth_dev_info *info, struct err *e)
{
	uint64_t mtu = cp->p.cfg.mtu;
	int rc;

	if (!dev_mtu_set(cp))
		return 0;
	if (cp->p.spec->set_mtu != NULL)
		return cp->p.spec->set_mtu(&cp->p, (uint16_t)mtu, e);
	if (info->max_mtu != 0 && mtu > info->max_mtu)
		return err_set(e, EINVAL,
			       "port %u (%s): mtu %llu is above the device's limit of %u", cp->p.id,
			       cp->p.name, (unsigned long long)mtu, info->max_mtu);
	rc = rte_eth_dev_set_mtu(cp->p.dev, (uint16_t)mtu);
	return rc == 0 ? 0 : dev_fail(cp, rc, "setting the mtu", e);
}

void dev_promiscuous(struct ctl *c, struct ctl_port *cp)
{
	bool on = cp->p.cfg.promiscuous;
	struct err why = {.text = ""};
	int rc;

	if (!cp->started || on == cp->promiscuous)
		return;
	cp->promiscuous = on;
	if (cp->p.spec->set_promisc != NULL)
		rc = cp->p.spec->set_promisc(&cp->p, on, &why);
	else
		rc = on ? rte_eth_promiscuous_enable(cp->p.dev)
			: rte_eth_promiscuous_disable(cp->p.dev);
	if (rc == 0)
		cp->applied.promiscuous = on;
	else
		ctl_note(c, cp->p.id, "port %u (%s): promiscuous mode: %s", cp->p.id, cp->p.name,
			 why.text[0] != '\0' ? why.text : rte_strerror(-rc));
}

/* Configures the device and makes pools and queues: all that may fail because the driver cannot do
 * it. After a failure no pool is left. */
static int dev_configure(struct ctl_port *cp, struct rte_eth_dev_info *info, struct err *e)
{
	struct rte_eth_conf conf = {0};
	struct rte_mempool *rx[PORT_MAX_QUEUES], *tx[PORT_MAX_QUEUES];
	uint16_t most = cp->p.nrxq > cp->p.ntxq ? cp->p.nrxq : cp->p.ntxq;
	int rc = rte_eth_dev_info_get(cp->p.dev, info);

	if (rc < 0)
		return dev_fail(cp, rc, "asking the device what it can do", e);
	if (cp->p.nrxq > info->max_rx_queues || cp->p.ntxq > info->max_tx_queues)
		return err_set(
			e, EINVAL,
			"port %u (%s): the map asks for %u Rx and %u Tx queues; the device has %u and %u",
			cp->p.id, cp->p.name, cp->p.nrxq, cp->p.ntxq, info->max_rx_queues,
			info->max_tx_queues);
	cp->dev_nrxq = cp->need.paired ? most : cp->p.nrxq;
	cp->dev_ntxq = cp->need.paired ? most : cp->p.ntxq;
	rss_and_offloads(cp, info, &conf);
	rc = rte_eth_dev_configure(cp->p.dev, cp->dev_nrxq, cp->dev_ntxq, &conf);
	if (rc < 0 && stamps_without(cp, rc, &conf))
		rc = rte_eth_dev_configure(cp->p.dev, cp->dev_nrxq, cp->dev_ntxq, &conf);
	offload_words(cp);
	if (rc < 0)
		return dev_fail(cp, rc, "configuring the device", e);
	rc = make_pools(cp, rx, tx, e);
	if (rc < 0)
		return rc;
	rc = setup_queues(cp, rx, info, e);
	if (rc < 0) {
		pools_free(rx, cp->dev_nrxq);
		pools_free(tx, cp->p.ntxq);
		return rc;
	}
	cp->rx_pool = xrealloc(cp->rx_pool, PORT_MAX_QUEUES * sizeof(*cp->rx_pool));
	memcpy(cp->rx_pool, rx, cp->dev_nrxq * sizeof(*rx));
	for (unsigned q = 0; q < cp->p.ntxq; q++)
		tx_shares_pool(cp, q, tx[q], dev_edits(info->driver_name, info->tx_offload_capa));
	return 0;
}

void dev_bus(struct ctl_port *cp)
{
	struct rte_eth_dev_info info = {0};
	unsigned domain, bus, slot, fn;
	int end = -1;

	if (cp->p.pci[0] != '\0' || rte_eth_dev_info_get(cp->p.dev, &info) != 0 ||
	    info.device == NULL)
		return;
	const char *name = rte_dev_name(info.device);
	if (sscanf(name, "%8x:%2x:%2x.%1x%n", &domain, &bus, &slot, &fn, &end) == 4 &&
	    name[end] == '\0')
		snprintf(cp->p.pci, sizeof(cp->p.pci), "%s", name);
}

/* The port has got another device: the objects of its queues are to use that one. */
static void rename_device(struct ctl_port *cp)
{
	for (unsigned q = 0; q < cp->p.nrxq; q++)
		cp->rxq[q]->dev = cp->p.dev;
	tx_shares_dev(cp);
	cp->promiscuous = cp->applied.promiscuous = false;
}

/* Notes which settings the device runs with now. The promiscuous mode is left as noted: it is asked
 * for on its own, and a device keeps it over a restart. */
static void apply_cfg(struct ctl_port *cp)
{
	bool promisc = cp->applied.promiscuous;

	cp->applied = cp->p.cfg;
	cp->applied.promiscuous = promisc;
}

int dev_setup(struct ctl *c, struct ctl_port *cp, struct err *e)
{
	struct rte_eth_dev_info info = {0};
	int rc = dev_configure(cp, &info, e);

	if (rc < 0 && cp->p.spec->fallback != NULL && cp->p.spec->fallback(&cp->p, e) == 0) {
		rename_device(cp);
		rc = dev_configure(cp, &info, e);
	}
	if (rc < 0)
		return rc;
	rc = set_mtu(cp, &info, e);
	if (rc < 0)
		return rc;
	flow_control_off(cp);
	rc = rte_eth_dev_start(cp->p.dev);
	if (rc < 0)
		return dev_fail(cp, rc, "starting the device", e);
	if (rte_is_zero_ether_addr(&cp->p.mac) &&
	    (rc = rte_eth_macaddr_get(cp->p.dev, &cp->p.mac)) != 0) {
		log_msg(LOG_LVL_WARN, "port %u (%s) tells no address of its own (%s) and gets one",
			cp->p.id, cp->p.name, rte_strerror(-rc));
		port_own_mac(&cp->p);
	}
	cp->started = true;
	apply_cfg(cp);
	dev_promiscuous(c, cp);
	if (cp->p.spec->started != NULL)
		cp->p.spec->started(&cp->p);
	stamps_started(c, cp);
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

void dev_leave(const struct ctl_port *cp, int rc, const char *what)
{
	if (rc != 0)
		log_msg(LOG_LVL_WARN, "port %u (%s): %s: %s", cp->p.id, cp->p.name, what,
			rte_strerror(-rc));
}

/* Stops the device, gives up its pools and sets it up with the settings of now. */
static int dev_reopen(struct ctl *c, struct ctl_port *cp, struct err *e)
{
	dev_leave(cp, rte_eth_dev_stop(cp->p.dev), "stopping the device");
	cp->started = false;
	if (cp->p.spec->drain != NULL)
		cp->p.spec->drain(&cp->p);
	for (unsigned q = 0; q < cp->dev_nrxq; q++)
		pool_retire(&cp->rx_pool[q]);
	for (unsigned q = 0; q < cp->p.ntxq; q++) {
		struct tx_queue *of = &cp->tx[q];
		pool_retire(&of->share[0]->pool); /* all shares send from it */
		for (unsigned i = 1; i < of->n; i++)
			of->share[i]->pool = NULL;
	}
	return dev_setup(c, cp, e);
}

int dev_restart(struct ctl *c, struct ctl_port *cp, struct err *e)
{
	struct port_cfg wanted = cp->p.cfg, had = cp->applied;
	int rc;

	rc = dev_reopen(c, cp, e);
	if (rc == 0)
		return 0;
	cp->p.cfg.mtu = had.mtu;
	cp->p.cfg.txd = had.txd;
	cp->p.cfg.rxd = had.rxd;
	cp->p.cfg.mbufs = had.mbufs;
	cp->p.cfg.timestamps = had.timestamps;
	cp->p.cfg.pacing = had.pacing;
	if (dev_reopen(c, cp, NULL) < 0)
		log_msg(LOG_LVL_ERROR,
			"port %u (%s) could not be brought back with its former values and is stopped",
			cp->p.id, cp->p.name);
	apply_cfg(cp);
	/* Settings stay as the user wrote them; the device runs with cp->applied. */
	cp->p.cfg = wanted;
	return rc;
}

void dev_close(struct ctl_port *cp)
{
	if (cp->p.spec != NULL && cp->p.spec->close != NULL)
		cp->p.spec->close(&cp->p);
	if (cp->used && cp->started)
		dev_leave(cp, rte_eth_dev_stop(cp->p.dev), "stopping the device");
	cp->started = false;
	dev_leave(cp, rte_eth_dev_close(cp->p.dev), "closing the device");
	if (cp->p.spec->closed != NULL)
		cp->p.spec->closed(&cp->p);
}

void dev_link(struct ctl_port *cp)
{
	if (cp->p.spec->link != NULL) {
		cp->p.spec->link(&cp->p, &cp->link, &cp->link_mbps);
	} else {
		struct rte_eth_link l = {0};
		if (rte_eth_link_get_nowait(cp->p.dev, &l) < 0) {
			cp->link = LINK_UNKNOWN;
			return;
		}
		cp->link = l.link_status == RTE_ETH_LINK_UP ? LINK_UP : LINK_DOWN;
		cp->link_mbps = l.link_speed == RTE_ETH_SPEED_NUM_UNKNOWN ? 0 : l.link_speed;
	}
}
