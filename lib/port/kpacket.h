/* SPDX-License-Identifier: BSD-3-Clause */
/* The queues of an interface of the kernel that is used by AF_PACKET. Received frames come through
 * a ring that is shared with the kernel; frames that do not fit into it are read one by one. Frames
 * to be sent are given to the kernel several at a time by one system call. Each has a virtio-net
 * header (PACKET_VNET_HDR), so that both sides may leave checksums and segments to the other. */
#pragma once
#include "base.h"
#include "dp.h"

struct kpacket;

/* How the queues are to be. */
struct kpacket_want {
	int ifindex;
	unsigned nrxq, ntxq;
	unsigned block_bytes, frame_bytes, frames; /* of the ring of each Rx queue */
};

/* Opens the sockets of an interface's queues, through which nothing comes yet. spec: the text for
 * messages. NULL: they could not be opened, and e says why. */
struct kpacket *kpacket_open(const struct kpacket_want *want, const char *spec, struct err *e);
/* Frames that are received from now on go into buffers of these pools, and say to be of this port.
 * No worker polls the queues. */
void kpacket_pools(struct kpacket *, struct rte_mempool *const *pool, uint16_t port);
void kpacket_receive(struct kpacket *); /* frames from outside fill the rings from now on */
/* Returns how many frames found no room in the rings since the last call. */
uint64_t kpacket_drops(struct kpacket *);
/* Whether super-frames go by the interface's queueing discipline, which cuts them: the interface
 * itself does not take them. */
bool kpacket_queued(const struct kpacket *);
void kpacket_close(struct kpacket *);

/* How queues are used, by their workers: a struct dp_io with its io_q. A queue takes no frames
 * while the interface is down, or when it has been deleted. */
extern const struct dp_io kpacket_io;
void *kpacket_rxq(struct kpacket *, unsigned queue);
void *kpacket_txq(struct kpacket *, unsigned queue);

/* Sums over queues since they were opened; any thread. */
struct kpacket_counts {
	uint64_t nombuf;   /* looks for frames without a buffer to put one into */
	uint64_t no_room;  /* frames that did not fit into the ring, and found no room beside it */
	uint64_t cut;      /* received frames that are too long, and were thrown away */
	uint64_t rejected; /* frames that the kernel will never take: too short or too long */
	uint64_t lost;     /* frames that the interface, or its other end, has thrown away */
};
struct kpacket_counts kpacket_counts(const struct kpacket *);
