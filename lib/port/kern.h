/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads and changes what the kernel knows of its interfaces, by rtnetlink, ethtool and sysfs, and
 * reads the capabilities of this process. No DPDK. Control thread only. */
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
	bool gone;      /* deleted or moved away; the other members keep their values */
	unsigned flags; /* IFF_* */
	uint32_t mtu;
	uint8_t mac[6];
	int master;               /* ifindex of its bridge or bond, 0: none */
	uint32_t xdp_prog;        /* id of the attached XDP program, 0: none */
	uint8_t xdp_mode;         /* XDP_ATTACHED_* */
	char kind[16];            /* "veth", "tun", ...; "" for hardware */
	uint32_t carrier_changes; /* so far, as the kernel counts them */
	struct kern_stats st;
	struct kern_if *next; /* in the list of watched interfaces */
};

/* Finds an interface by name and reads it into *out. spec is the whole text of -p, for messages.
 * -EINVAL: this cannot be a name. -ENODEV: there is no such interface, and e says the nearest name
 * and which ones there are; or the kernel does not tell of it. */
int kern_find(const char *name, struct kern_if *out, const char *spec, struct err *e);
/* Reads an interface again, by its ifindex. 0 or -errno. -ENODEV: it was deleted, and is marked as
 * gone. */
int kern_read(struct kern_if *);
bool kern_up(const struct kern_if *); /* administratively up and with carrier */

/* Watches an interface, until it is unwatched, which must be before *k is freed. When it is
 * deleted, *k gets its last counters, which cannot be read later. */
void kern_watch(struct kern_if *);
void kern_unwatch(struct kern_if *);
/* Returns the descriptor that turns readable when some interface has changed; -1: nothing is
 * watched. */
int kern_event_fd(void);
/* Takes the kernel's messages of changes so far, and never waits. Of these it notes deletions only;
 * kern_read() reads everything else. */
void kern_events(void);

/* Does the host use the interface? If so, why says by what: "the address 10.0.0.1", "the route
 * 10.0.0.0/8", "the bridge or bond br0", ... */
bool kern_in_use(const struct kern_if *, char *why, size_t size);
/* The same without the link-local addresses that the kernel gives to every interface. */
bool kern_in_use_beyond_link(const struct kern_if *);

/* Does the interface carry this address? IPv4 is written as ::ffff:a.b.c.d. */
bool kern_has_addr(const struct kern_if *, const uint8_t ip[16]);
/* Does the kernel forward what comes by the interface and is for others, in the network namespace
 * of this process? */
bool kern_forwards(const struct kern_if *, bool six);

uint64_t kern_speed_mbps(const char *name);              /* 0: unknown */
int kern_channels(const char *name);                     /* that receive and send; at least 1 */
bool kern_merges_frames(const char *name);               /* GRO or LRO is on */
int kern_node(const char *name);                         /* NUMA node, -1: unknown */
void kern_pci(const char *name, char *out, size_t size); /* PCI address of its device, "": none */
int kern_set_mtu(const char *name, unsigned mtu);        /* 0 or -errno */
int kern_set_txqlen(const char *name, unsigned len);

/* Detaches the XDP program with id `prog`, and no other one, from the interface. 0 or -errno. */
int kern_xdp_detach(const struct kern_if *, uint32_t prog);

/* Capabilities of this process, by their numbers in linux/capability.h. */
enum kern_cap {
	KERN_CAP_NET_ADMIN = 12,
	KERN_CAP_NET_RAW = 13,
	KERN_CAP_IPC_LOCK = 14,
	KERN_CAP_SYS_ADMIN = 21,
	KERN_CAP_BPF = 39
};
bool kern_cap(enum kern_cap);
