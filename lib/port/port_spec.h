/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside lib/port: what a kind of port must provide. A kind is called a port spec here, and each
 * one is a file of this folder. Uses DPDK, control thread. */
#pragma once
#include "port.h"
#include "rss.h"

struct rss_ops;

/* A kind of port. The record is constant and is named port_spec_FILE. */
struct port_spec {
	const char *prefix; /* "wire", "null", "if", ... : text before ':' */
	const char *syntax, *help;
	/* It is called before EAL starts. It checks the text after "prefix:" ("" if there is no
	 * ':') and fills in *need. -EINVAL for a mistake in the text, -ENODEV where the environment
	 * lacks something; then e says what was tried, what was found, and the one command that
	 * helps. */
	int (*parse)(const char *arg, bool take, struct port_need *need, struct err *e);
	/* It is called after EAL has started, and makes the n = need.nports devices. Of p[i], the
	 * members id, nrxq and ntxq (queues that the placement uses, may be 0), rxd, txd and cfg
	 * are filled in already. It fills in dev, name, node, mac (all zero: the device is asked)
	 * and priv. After a failure nothing is left open. */
	int (*open)(const char *arg, struct port *const *p, unsigned n, struct err *e);

	/* All members below may be NULL. Their ports are those that open() has filled in. */

	/* It is called after rte_eth_dev_start(), before any worker polls the port. A spec whose
	 * queues are not those of an ethdev gives them their struct dp_io here, by port_io_rx() and
	 * port_io_tx(); its device is then one that only has the shape (net_null). */
	void (*started)(struct port *p);
	/* Its name for `show ports`. NULL: the device's. */
	const char *(*driver)(const struct port *p);
	/* Replaces rte_eth_xstats_get(): adds numbers since open to an object. false: the device
	 * knows them. */
	bool (*xstats)(struct port *p, json_t *o);
	/* port_undone(). It is called often. */
	void (*undone)(struct port *p, bool sums, bool super);
	/* Replaces rte_eth_link_get(). It is called in each tick and at other times. */
	void (*link)(struct port *p, enum snap_link *link, uint64_t *speed_mbps);
	/* It is called after *s was filled in with what DPDK says, and puts in what the spec knows
	 * better: nic.*, unconfirmed, rx_missed, rx_errors and tx_errors, all since open. s->tx and
	 * s->rx have the sums since open. The baselines of `clear` are subtracted afterwards;
	 * unconfirmed does not go below 0 then. */
	void (*stats)(struct port *p, struct snap_port *s);
	/* Replaces rte_eth_dev_set_mtu(). It is called only for an mtu that the user has set. */
	int (*set_mtu)(struct port *p, uint16_t mtu, struct err *e);
	/* Replaces rte_eth_promiscuous_enable() and _disable() where the kernel shall take the mode
	 * back by itself when the process dies. */
	int (*set_promisc)(struct port *p, bool on, struct err *e);
	/* It is called after rte_eth_dev_stop() and before pools are freed: gives back the frames
	 * that wait inside the device. No worker may poll this port or one that sends to it. */
	void (*drain)(struct port *p);
	/* It is called before rte_eth_dev_stop() and rte_eth_dev_close(): removes what we
	 * attached. */
	void (*close)(struct port *p);
	/* It is called after rte_eth_dev_close(): makes sure that the driver has left nothing
	 * behind, and frees priv if close() has not done so. When a worker does not answer at the
	 * end of the program, close() and this are called although the device stays open. */
	void (*closed)(struct port *p);
	/* The device could not be configured or given its queues: opens it in another way (`if`
	 * without AF_XDP). 0: dev, name and priv are new, and it is to be configured once more.
	 * -ENODEV: there is no other way, and e still has the reason of the first failure. */
	int (*fallback)(struct port *p, struct err *e);
	/* Replaces rte_eth_dev_set_mc_addr_list(): the device is to receive what is sent to this
	 * group, or no longer. It counts how often it was asked for. The groups stay over a
	 * restart. */
	void (*join)(struct port *p, const uint8_t mac[6], bool on);
	/* Whether the kernel uses the interface beside us and has this address there (IPv4 is
	 * written as ::ffff:a.b.c.d), or forwards what comes there and is for others. */
	bool (*carries)(const struct port *p, const uint8_t ip[16]);
	bool (*forwards)(const struct port *p, bool six);
	void (*notes)(struct port *p, json_t *array); /* adds sentences for `show ports` */
	/* For two ports of this process that are connected: peer() gives the other port (NULL: it
	 * is closed). rings() gives the rings that p receives from, one for each Rx queue, and
	 * their number. The caller may be their only reader while no worker polls p's device. */
	struct port *(*peer)(const struct port *p);
	unsigned (*rings)(const struct port *p, struct rte_ring **ring);
	const struct rss_ops *rss; /* replaces what DPDK has for RSS (rss_dev.c) */
	bool virtual_speed;        /* speed is a setting, by default 10 Gbit/s (wire, null, ...) */
	/* Addresses in frames do not matter, or nobody knows whose they are: wire, null, pcap,
	 * vdev. */
	bool unaddressed;
	bool deaf;       /* nobody is at its other end who could be answered: null, pcap */
	bool no_restart; /* the device cannot be set up twice: if, xdp, pcap */
};

/* What a device can be told of RSS. */
struct rss_caps {
	uint64_t hf;      /* RTE_ETH_RSS_*: kinds of frames that it can hash */
	unsigned key_len; /* bytes of its key; 0: it takes none */
	unsigned entries; /* of its table; 0: it takes none */
	bool toeplitz; /* it can be told to hash by Toeplitz; without, it may do so all the same */
	bool sort;     /* it can hash sorted addresses and ports */
};
/* How it is asked and told. All return 0 or -errno. */
struct rss_ops {
	int (*caps)(const struct port *p, struct rss_caps *out);
	int (*get)(const struct port *p, struct rss_setup *out);
	/* key: the key is another one, too. */
	int (*set_hash)(struct port *p, const struct rss_setup *to, bool key);
	int (*set_table)(struct port *p, const struct rss_setup *to);
};

/* Shared by the specs: add a device, virtual or on a bus, and give its DPDK port id in *dev.
 * -ENODEV or -EINVAL; e names the spec and what helps. */
int port_vdev_add(const char *devname, const char *args, uint16_t *dev, const char *spec,
		  struct err *e);
int port_dev_add(const char *bus, const char *devname, const char *args, uint16_t *dev,
		 const char *spec, struct err *e);
/* Removes a virtual device that was added. Its name stays taken. */
void port_vdev_remove(const char *devname);
/* Makes a name for a new virtual device: the driver's name and a number. It gives no name twice,
 * and none that port_vdev_add() has had: DPDK may keep the name of a removed device (since 26.07 it
 * does), and adding a device under it again fails with EEXIST. */
void port_dev_name(char *out, size_t size, const char *driver);
/* Gives the port a MAC address that follows from its number, 02:77:72:00:00:<port>, for ports whose
 * devices have none. */
void port_own_mac(struct port *p);

/* Makes all shares of a Tx queue, or an Rx queue, move frames by these functions. */
void port_io_tx(struct port *p, unsigned queue, const struct dp_io *io, void *io_q);
void port_io_rx(struct port *p, unsigned queue, const struct dp_io *io, void *io_q);

/* All specs, from the build's list of files. It ends with NULL. */
extern const struct port_spec *const port_specs[];
/* Finds the spec of the text of a -p, "prefix[:arg]"; *arg points behind the ':'. NULL: no spec has
 * this prefix, and e names those that there are. */
const struct port_spec *port_spec_find(const char *text, const char **arg, struct err *e);
