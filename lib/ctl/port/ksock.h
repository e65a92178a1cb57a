/* SPDX-License-Identifier: BSD-3-Clause */
/* The sockets behind AF_PACKET and AF_XDP ports: the drivers keep them to themselves, so they are found among the process's descriptors.
 * No DPDK; control thread only. */
#pragma once
#include "base.h"

#define KSOCK_MAX 64

/* Descriptors of AF_PACKET sockets bound to ifindex, ascending. Returns how many. */
unsigned ksock_packet_fds(int ifindex, int *fds, unsigned max);
/* All AF_XDP sockets of the process; ascending. */
unsigned ksock_xdp_fds(int *fds, unsigned max);

/* Let frames in that come from outside (`in`), or none at all; frames that this host sends never count. 0 or -errno. */
int ksock_filter(int fd, bool in);
/* Frames dropped by a full ring since the last call. */
uint64_t ksock_packet_drops(int fd);
/* Frames dropped by an AF_XDP socket (no buffer, full ring) since it was opened; false: socket gone. */
bool ksock_xdp_drops(int fd, uint64_t *drops);
/* Make the Rx ring of an AF_PACKET socket (version 2) look full, for good: its fan-out group then gives frames to the others. */
int ksock_fill_rx(int fd, unsigned block_size, unsigned blocks, unsigned frame_size);
/* Never let a sender wait for room in the socket: the AF_PACKET driver would wait without limit. */
void ksock_no_wait(int fd);
/* Send what still waits in the Tx ring. */
void ksock_kick(int fd);

/* A socket of our own on the interface that counts frames sent by the host itself, and holds promiscuous mode (which ends with it).
 * Descriptor or -errno. */
int ksock_tap_open(int ifindex);
uint64_t ksock_tap_sent(int fd); /* since the last call */
int ksock_promisc(int fd, int ifindex, bool on);
