/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds and uses the sockets behind AF_PACKET and AF_XDP ports. The drivers do not tell which ones
 * they are, so they are found among the process's descriptors. No DPDK. Control thread only. */
#pragma once
#include "base.h"

#define KSOCK_MAX 64

/* Writes the descriptors of the AF_PACKET sockets that are bound to ifindex into fds, ascending, at
 * most max. Returns how many there are in fds. */
unsigned ksock_packet_fds(int ifindex, int *fds, unsigned max);
/* Does the same with all AF_XDP sockets of the process. */
unsigned ksock_xdp_fds(int *fds, unsigned max);

/* Lets the socket receive all frames that come from outside (`in`), or none. It never receives
 * frames that this host sends. 0 or -errno. */
int ksock_filter(int fd, bool in);
/* Returns how many frames have found the ring of an AF_PACKET socket full since anybody last read
 * this count: we or the driver. */
uint64_t ksock_packet_drops(int fd);
/* Fills in *drops: the frames that an AF_XDP socket has dropped since it was opened (no buffer,
 * ring full). false: the kernel does not tell it. */
bool ksock_xdp_drops(int fd, uint64_t *drops);
/* Makes the Rx ring of an AF_PACKET socket (version 2) look full for ever, so that its fan-out
 * group gives frames to the other sockets. 0 or -errno. */
int ksock_fill_rx(int fd, unsigned block_size, unsigned blocks, unsigned frame_size);
/* Gives the socket so much room that a sender never waits for it: the AF_PACKET driver would wait
 * without limit. */
void ksock_no_wait(int fd);
/* Makes the kernel send what still waits in the Tx ring. */
void ksock_kick(int fd);

/* Opens a socket of our own on the interface, and returns its descriptor or -errno. It counts
 * frames that the host itself sends. It can also hold promiscuous mode, which then ends when the
 * socket is closed. */
int ksock_tap_open(int ifindex);
uint64_t ksock_tap_sent(int fd); /* frames that the host has sent since the last call */
/* Switches promiscuous mode of the interface by way of that socket. 0 or -errno. */
int ksock_promisc(int fd, int ifindex, bool on);
/* Joins the group of an Ethernet address with it, or leaves it. 0 or -errno. */
int ksock_join(int fd, int ifindex, const uint8_t mac[6], bool on);
