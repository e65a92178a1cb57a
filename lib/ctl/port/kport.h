/* SPDX-License-Identifier: BSD-3-Clause */
/* Ports on an interface of the kernel (if, packet, xdp, tap): one state, one set of functions. They show the kernel's truth, because their
 * drivers report "up, 10 Gbit/s" for ever and count retries as errors. */
#pragma once
#include "port.h"
#include "kern.h"

#define RING_FRAMES 4096u   /* a sleeping worker must not lose frames */
#define BLOCK_SIZE 65536u   /* of an AF_PACKET ring */
#define FRAME_MAX 16384u
#define FRAME_HEAD 32u      /* of an AF_PACKET frame: what the driver's data starts behind */
#define XDP_ROOM_MAX 3072u  /* buffer behind the headroom: with its head it must fit into a page */
#define XDP_FILL 2048u      /* buffers that the AF_XDP driver gives to the kernel */

/* AF_PACKET frame that holds the interface's largest frame with two tags; a power of two, so that blocks are filled. */
unsigned kport_frame_size(uint32_t mtu);
/* What the interface lets us do, found before EAL. All fill need and name what is wrong. */
int kport_check_packet(const char *name, const char *spec, struct kern_if *k, struct port_need *need, struct err *e);
int kport_check_xdp(const char *name, const char *spec, bool take, struct kern_if *k, struct port_need *need, struct err *e);

int kport_open_packet(const char *name, const char *spec, struct port *p, struct err *e);
int kport_open_xdp(const char *name, const char *spec, struct port *p, struct err *e);
int kport_open_tap(const char *name, const char *spec, struct port *p, struct err *e);
bool kport_is_xdp(const struct port *p);

void kport_started(struct port *p);
void kport_link(struct port *p, enum snap_link *link, uint64_t *speed_mbps);
void kport_stats(struct port *p, struct snap_port *s);
int kport_set_mtu(struct port *p, uint16_t mtu, struct err *e);
int kport_set_promisc(struct port *p, bool on, struct err *e);
void kport_close(struct port *p);
void kport_closed(struct port *p);
void kport_notes(struct port *p, json_t *array);

#define KPORT_HOOKS                                                                                                              \
	.started = kport_started, .link = kport_link, .stats = kport_stats, .set_mtu = kport_set_mtu,                            \
	.set_promisc = kport_set_promisc, .close = kport_close, .closed = kport_closed, .notes = kport_notes
