/* SPDX-License-Identifier: BSD-3-Clause */
/* The queues of a tap interface of the kernel, by descriptors of /dev/net/tun. A frame is moved by
 * one system call, with a virtio-net header (linux/virtio_net.h) in front of it. */
#pragma once
#include "base.h"
#include "dp.h"

#define TUN_QUEUES 64

struct tun;

/* Opens `queues` queues of the tap `name`, and makes it if there is none. spec: the text for
 * messages. NULL: it could not be opened, and e says why. */
struct tun *tun_open(const char *name, unsigned queues, const char *spec, struct err *e);
/* Of all queues the first nrxq are to receive, each into its pool: the kernel gives frames to no
 * other one. Sets the interface up. 0 or -errno. */
int tun_start(struct tun *t, struct rte_mempool *const *pool, unsigned nrxq);
/* What the kernel may leave undone in frames that the port receives. sums: checksums of TCP and UDP
 * are only begun (RTE_MBUF_F_RX_L4_CKSUM_NONE). super: several segments come as one frame of up to
 * 64 KB (RTE_MBUF_F_RX_LRO, tso_segsz), for which sums must be on. Any time; frames that wait stay
 * as they are. 0 or -errno. */
int tun_offload(struct tun *t, bool sums, bool super);
/* Gives buffers back that queues have put ready. No worker polls them. */
void tun_stop(struct tun *t);
/* Closes all queues. If nobody else holds the interface, it is gone. */
void tun_close(struct tun *t);

/* How queues are used, by their workers: a struct dp_io with its io_q. A queue takes no frames
 * while the interface is down, or when it has been deleted. */
extern const struct dp_io tun_io;
void *tun_queue(struct tun *t, unsigned queue);

/* Sums over queues since they were opened; any thread. */
struct tun_counts {
	uint64_t nombuf;   /* looks for frames without a buffer to put one into */
	uint64_t cut;      /* received frames that had no room, and were thrown away */
	uint64_t rejected; /* frames that the kernel will never take: shorter than a header */
	/* Frames that the kernel took together with the one before them, and does not count: how
	 * many, and the bytes of headers that it did not get. */
	uint64_t joined, joined_bytes;
};
struct tun_counts tun_counts(const struct tun *t);
