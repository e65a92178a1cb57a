/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside lib/ctl: a port and the contract of a port spec (one file per spec in port/). Uses DPDK. */
#pragma once
#include "dpdk.h"
#include "cfg.h"
#include "snap.h"

#define PORT_MAX_QUEUES 256

struct port;

/* What must be known before EAL starts (memory without hugepages never grows). */
struct port_need {
	unsigned nports;          /* ports this spec makes: 2 for wire */
	unsigned max_rxq, max_txq;/* most queues per side, as far as known before EAL */
	bool pci;                 /* EAL must probe the PCI bus */
	bool root;                /* needs CAP_NET_ADMIN/CAP_NET_RAW */
	bool rx_pool;             /* receives into a pool of ours (not wire, not null) */
	unsigned min_rxd, min_txd;/* rings of kernel ports hold at least 4096 frames */
	unsigned extra_mbufs;     /* further buffers per queue that the driver keeps (AF_XDP umem) */
	int node;                 /* NUMA node or -1 */
};

struct port_spec {            /* const, named port_spec_<file> */
	const char *prefix;       /* "wire", "null", "if", ... : text before ':' */
	const char *syntax, *help;
	/* Check the text after "prefix:" (or "" without ':'), before EAL. instance counts specs of this prefix from 0. -EINVAL usage,
	 * -ENODEV environment: what was tried, what was found, the one command that helps. */
	int (*parse)(const char *arg, bool take, struct port_need *need, struct err *e);
	/* After EAL: create the device(s). nrxq/ntxq[i] are the queues that the placement uses for port i of this spec (0 allowed). Fills p[i].dev,
	 * name, and private state. */
	int (*open)(const char *arg, struct port *const *p, unsigned n, struct err *e);
	/* All below may be NULL. */
	void (*started)(struct port *p);                 /* after rte_eth_dev_start: attach filters and the like */
	void (*link)(struct port *p, enum snap_link *link, uint64_t *speed_mbps); /* replaces rte_eth_link_get */
	void (*stats)(struct port *p, struct snap_port *s); /* after the generic fill: nic.*, missed, confirmed */
	int (*set_mtu)(struct port *p, uint16_t mtu, struct err *e);
	void (*close)(struct port *p);                   /* before rte_eth_dev_close: remove what we attached */
	void (*notes)(struct port *p, json_t *array);    /* sentences for `show ports` */
	bool virtual_speed;                              /* wire, null, pcap: speed is a setting, 10 Gbit/s by default */
	bool no_restart;                                 /* opened once: a restart would lose data (pcap) */
	bool no_offload_loss;
	bool always_stop_free;                           /* spare */
};

struct port {                 /* control owns it */
	unsigned id;              /* our number, 0.. */
	uint16_t dev;             /* DPDK port id */
	char name[64], spec_text[128];
	const struct port_spec *spec;
	void *priv;               /* the spec's own state, freed by its close() */
	uint16_t nrxq, ntxq;      /* queues in use */
	struct rte_ether_addr mac;
	int node;
	unsigned rxd, txd;        /* descriptors in use */
	struct port_cfg cfg;
};

/* Shared by the specs: hotplug a virtual device; every failure names the spec and what helps. */
int port_vdev_add(const char *devname, const char *args, uint16_t *dev, const char *spec, struct err *e);

/* List of all specs from the build's file list, ends with NULL. */
extern const struct port_spec *const port_specs[];
