/* SPDX-License-Identifier: BSD-3-Clause */
/* The state of a port on an interface of the kernel. It is shared by kport.c and knotes.c alone. */
#pragma once
#include "kpacket.h"
#include "kport.h"
#include "ksock.h"

enum how { HOW_PACKET, HOW_XDP, HOW_TAP };

struct kport {
	struct kern_if k;       /* as last read */
	struct kern_stats base; /* counters when the port was ready to receive */
	enum how how;
	bool based;
	int fds[KSOCK_MAX]; /* AF_XDP: the driver's sockets, queue by queue */
	unsigned nfds;
	uint64_t drops;                 /* frames that found no room in our rings, since base */
	uint64_t drops_base[KSOCK_MAX]; /* AF_XDP: what the sockets had counted at base */
	int tap;                        /* from ksock_tap_open(); < 0: there is none */
	uint64_t host_sent;             /* frames that the host itself sent, since base */
	bool was_promisc, promisc;
	bool own_mac;           /* AF_PACKET: the port's MAC is not the interface's */
	uint32_t was_mtu;       /* before the user set ours, 0: untouched */
	int lock;               /* AF_XDP: lock file, -1: none */
	struct tun *tun;        /* its queues, if it is a tap */
	struct kpacket *packet; /* its queues, if it is used by AF_PACKET */
	char why[256];          /* `if`: why it is used in this way */
};
