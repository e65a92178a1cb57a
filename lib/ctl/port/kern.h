/* SPDX-License-Identifier: BSD-3-Clause */
/* What the kernel knows of its interfaces: rtnetlink and ethtool. No DPDK; control thread only. */
#pragma once
#include "base.h"

#include <net/if.h>
#include <sys/socket.h>

/* Counters of an interface as the kernel keeps them. */
struct kern_stats {
	uint64_t tx_packets, tx_bytes, tx_errors, tx_dropped;
	uint64_t rx_packets, rx_bytes, rx_errors, rx_dropped;
};

/* One reading of an interface. */
struct kern_if {
	char name[IF_NAMESIZE];
	int ifindex;
	bool gone;                /* deleted or moved away; everything else keeps its last value */
	unsigned flags;           /* IFF_* */
	uint32_t mtu;
	uint8_t mac[6];
	int master;               /* ifindex of its bridge or bond, 0: none */
	uint32_t xdp_prog;        /* id of the attached XDP program, 0: none */
	uint8_t xdp_mode;         /* XDP_ATTACHED_* */
	char kind[16];            /* "veth", "tun", ...; "" for hardware */
	uint32_t carrier_changes; /* so far, as the kernel counts them */
	struct kern_stats st;
	struct kern_if *next;     /* of the watched ones */
};

/* Find by name. -ENODEV: e lists the nearest or all names. spec is the whole port spec, for the text. */
int kern_find(const char *name, struct kern_if *out, const char *spec, struct err *e);
/* Read again by ifindex; a deleted one is marked gone and returns -ENODEV. */
int kern_read(struct kern_if *);
bool kern_up(const struct kern_if *); /* administratively up and with carrier */

/* Hear of changes at once: deletion brings the last counters with it. Unwatch before freeing. */
void kern_watch(struct kern_if *);
void kern_unwatch(struct kern_if *);
int kern_event_fd(void);      /* -1: nothing is watched */
void kern_events(void);       /* take what has arrived; never waits */

/* Who uses the interface: writes "the address 10.0.0.1", "a route", "the bridge br0", ... and returns true; false: nobody. */
bool kern_in_use(const struct kern_if *, char *why, size_t size);

uint64_t kern_speed_mbps(const char *name);       /* 0: unknown */
int kern_channels(const char *name);              /* combined Rx/Tx channels, at least 1 */
bool kern_merges_frames(const char *name);        /* GRO or LRO is on */
int kern_node(const char *name);                  /* NUMA node, -1: unknown */
void kern_pci(const char *name, char *out, size_t size); /* PCI address of its device, "": none */
int kern_set_mtu(const char *name, unsigned mtu); /* 0 or -errno */
int kern_set_txqlen(const char *name, unsigned len);

/* Detach the XDP program `prog` (only that one) from the interface. 0 or -errno. */
int kern_xdp_detach(const struct kern_if *, uint32_t prog);

enum kern_cap { KERN_CAP_NET_ADMIN = 12, KERN_CAP_NET_RAW = 13, KERN_CAP_IPC_LOCK = 14, KERN_CAP_SYS_ADMIN = 21, KERN_CAP_BPF = 39 };
bool kern_cap(enum kern_cap);
