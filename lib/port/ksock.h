/* SPDX-License-Identifier: BSD-3-Clause */
/* What is common to sockets behind AF_PACKET and AF_XDP ports. The driver of AF_XDP does not tell
 * which ones it has, so they are found among the process's descriptors. No DPDK. Control thread
 * only, but for ksock_mark(). */
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
/* Returns how many frames have found the ring of an AF_PACKET socket full since the last call. */
uint64_t ksock_packet_drops(int fd);
/* Fills in *drops: the frames that an AF_XDP socket has dropped since it was opened (no buffer,
 * ring full). false: the kernel does not tell it. */
bool ksock_xdp_drops(int fd, uint64_t *drops);
/* Gives the socket so much room that a sender never waits for it. */
void ksock_no_wait(int fd);
void ksock_room(int fd, int bytes); /* of received frames that wait in the socket, at most */
/* From now on the frames that the socket sends are marked as ours: ksock_tap_sent() does not take
 * them for frames of the host. It is for frames that do not bypass the queueing discipline; those
 * that do are never counted. */
void ksock_mark(int fd);
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
