/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside lib/ctl: a port and the contract of a port spec (one file per spec in port/). Uses DPDK. */
#pragma once
#include "dpdk.h"
#include "cfg.h"
#include "snap.h"

#define PORT_MAX_QUEUES 256

struct port;

/* What must be known before EAL starts (memory without hugepages never grows). Zeroed by the caller; node is -1 when unknown. */
struct port_need {
	unsigned nports;          /* ports this spec makes: 2 for wire */
	unsigned max_rxq, max_txq;/* most queues per side; PORT_MAX_QUEUES when only the device knows */
	bool pci;                 /* EAL must scan the PCI bus; pci_addr is the device (probed by open, not by EAL) */
	char pci_addr[16];
	bool root;                /* needs CAP_NET_ADMIN/CAP_NET_RAW */
	bool rx_pool;             /* receives into a pool of ours (not wire, not null) */
	bool paired;              /* the driver wants as many Rx as Tx queues: configure and set up max(nrxq, ntxq) of both, each Rx
				   * queue with a pool of its own */
	unsigned min_rxd, min_txd;/* descriptors that the driver must be given */
	unsigned extra_mbufs;     /* buffers per Rx queue that the driver keeps or takes for itself (AF_XDP: umem) */
	unsigned min_data_room;   /* bytes behind the headroom that the driver asks of an Rx buffer, 0: none */
	unsigned max_data_room;   /* most that it can use, 0: no limit (AF_XDP: a buffer must fit into a page) */
	bool tx_frees_at_once;    /* the driver copies or drops what it sends: none of our Tx buffers stays with it */
	int node;                 /* NUMA node or -1 */
};

struct port_spec {            /* const, named port_spec_<file> */
	const char *prefix;       /* "wire", "null", "if", ... : text before ':' */
	const char *syntax, *help;
	/* Check the text after "prefix:" ("" when there is no ':'), before EAL. -EINVAL usage, -ENODEV environment: what was tried, what
	 * was found, the one command that helps. */
	int (*parse)(const char *arg, bool take, struct port_need *need, struct err *e);
	/* After EAL: create the device(s). p[i]->id, nrxq, ntxq (queues that the placement uses, 0 allowed), rxd, txd and cfg are filled. Fills
	 * dev, name, node, mac (all zero: ask the device) and priv. n is need.nports. After a failure nothing is left open. */
	int (*open)(const char *arg, struct port *const *p, unsigned n, struct err *e);
	/* All below may be NULL. They get ports that open() filled. */
	void (*started)(struct port *p);                 /* after rte_eth_dev_start, before any worker polls the port */
	void (*link)(struct port *p, enum snap_link *link, uint64_t *speed_mbps); /* replaces rte_eth_link_get; each tick */
	/* After the generic fill: nic.*, unconfirmed, rx_missed, rx_errors, tx_errors, all since open. s->tx and s->rx must hold
	 * the sums since open too; baselines of `clear` are subtracted afterwards, from unconfirmed down to 0 at least. */
	void (*stats)(struct port *p, struct snap_port *s);
	/* Replaces rte_eth_dev_set_mtu; then configure with rxmode.mtu 0. Called only for an mtu that the user set. */
	int (*set_mtu)(struct port *p, uint16_t mtu, struct err *e);
	/* Replaces rte_eth_promiscuous_enable/disable: what the kernel takes back by itself when the process dies. */
	int (*set_promisc)(struct port *p, bool on, struct err *e);
	/* After rte_eth_dev_stop and before pools are freed: give back frames that wait inside the device. No worker may poll this port nor one
	 * that sends to it. */
	void (*drain)(struct port *p);
	void (*close)(struct port *p);                   /* before rte_eth_dev_stop/close: remove what we attached */
	void (*closed)(struct port *p);                  /* after rte_eth_dev_close: make sure that the driver left nothing; frees priv */
	/* rte_eth_dev_configure or a queue setup failed: open the device in another way (`if` without AF_XDP). 0: dev, name and priv are
	 * new, configure once more; -ENODEV: e keeps the reason of the first failure. */
	int (*fallback)(struct port *p, struct err *e);
	void (*notes)(struct port *p, json_t *array);    /* sentences for `show ports` */
	/* Two ports of this process, connected: the other one (NULL: closed), and the rings that p receives from, one per Rx queue, of which
	 * the caller may be the only reader while no worker polls p's device. Their number. */
	struct port *(*peer)(const struct port *p);
	unsigned (*rings)(const struct port *p, struct rte_ring **ring);
	bool virtual_speed;                              /* wire, null, pcap: speed is a setting, 10 Gbit/s by default */
	bool unaddressed;                                /* addresses in frames do not matter, or nobody knows to whom: wire, null, pcap, vdev */
	bool no_restart;                                 /* opened once: a restart would lose data (pcap) */
};

struct port {                 /* control owns it */
	unsigned id;              /* our number, 0.. */
	uint16_t dev;             /* DPDK port id */
	char name[64];
	const char *spec_text;    /* the -p text, whole */
	const struct port_spec *spec;
	void *priv;               /* the spec's own state, freed by its close() */
	uint16_t nrxq, ntxq;      /* queues in use */
	uint64_t carrier_changes; /* kernel ports: how often the link went up or down so far, also between two looks at it */
	uint16_t dev_mtu;         /* kernel ports: the interface's MTU now, else 0 */
	struct rte_ether_addr mac;
	int node;
	char pci[24];             /* address with domain, "": none */
	unsigned rxd, txd;        /* descriptors in use */
	struct port_cfg cfg;
	bool link_down;           /* a wire's device under test says so */
};

/* Shared by the specs: hotplug a device; every failure names the spec and what helps. -ENODEV. */
int port_vdev_add(const char *devname, const char *args, uint16_t *dev, const char *spec, struct err *e);
int port_dev_add(const char *bus, const char *devname, const char *args, uint16_t *dev, const char *spec, struct err *e);
/* A virtual device that was added: it goes, its name stays taken. */
void port_vdev_remove(const char *devname);
/* Name "<driver><number>" for a new virtual device. No name is given twice, and none that port_vdev_add() has had: DPDK may keep the name of a device
 * that was removed (since 26.07 it does), and adding it again fails with EEXIST. */
void port_dev_name(char *out, size_t size, const char *driver);
/* MAC of ports that have none of their own: 02:77:72:00:00:<port>. */
void port_own_mac(struct port *p);

/* List of all specs from the build's file list, ends with NULL. */
extern const struct port_spec *const port_specs[];
/* The spec of a -p text "prefix[:arg]"; *arg points behind the ':'. NULL: unknown, e names the known ones. */
const struct port_spec *port_spec_find(const char *text, const char **arg, struct err *e);

/* Descriptor that turns readable when an interface of a kernel port changed (link, deletion), or -1. Then call spec->link of all ports. */
int port_event_fd(void);
