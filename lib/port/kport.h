/* SPDX-License-Identifier: BSD-3-Clause */
/* Ports on an interface of the kernel (if, packet, xdp, tap). They have one kind of state and one
 * set of functions. Link and counters are those of the kernel, because the drivers always report
 * "up, 10 Gbit/s" and count retries as errors. */
#pragma once
#include "port_spec.h"
#include "kern.h"

#define RING_FRAMES 4096u /* of a queue; enough that a sleeping worker loses no frames */
#define BLOCK_SIZE 65536u /* of an AF_PACKET ring */
#define FRAME_MAX 16384u
#define FRAME_HEAD 80u     /* bytes of an AF_PACKET frame that the kernel writes before its data */
#define XDP_ROOM_MAX 3072u /* of a buffer, behind the headroom: all of it must fit into a page */
#define XDP_FILL 2048u     /* buffers that the AF_XDP driver gives to the kernel */

/* Returns the size of an AF_PACKET frame that holds the largest frame of the interface with two
 * VLAN tags, but FRAME_MAX at most. It is a power of two, so that frames fill a block of the ring
 * without a gap. */
unsigned kport_frame_size(uint32_t mtu);
/* May the interface be opened in this way? 0 or -errno; e says what is wrong and what helps. Both
 * are called before EAL starts, fill in *k and *need, and remove an XDP program that a killed
 * process of ours has left. take: AF_XDP may take an interface that the host uses (--take). */
int kport_check_packet(const char *name, const char *spec, struct kern_if *k,
		       struct port_need *need, struct err *e);
int kport_check_xdp(const char *name, const char *spec, bool take, struct kern_if *k,
		    struct port_need *need, struct err *e);

/* These open the interface `name`, and do what port_spec.h says of `open`. spec is
 * the text for messages, and becomes the port's name. */
int kport_open_packet(const char *name, const char *spec, struct port *p, struct err *e);
int kport_open_xdp(const char *name, const char *spec, struct port *p, struct err *e);
int kport_open_tap(const char *name, const char *spec, struct port *p, struct err *e);
struct tun *kport_tun(const struct port *p); /* the queues of a tap; else NULL */
bool kport_is_xdp(const struct port *p);
/* A sentence for `show ports`: how the interface is used, and why so. */
void kport_because(struct port *p, const char *why);

/* Members of struct port_spec, which KPORT_HOOKS puts into a spec; port_spec.h says what each
 * does. */
void kport_started(struct port *p);
void kport_link(struct port *p, enum snap_link *link, uint64_t *speed_mbps);
void kport_stats(struct port *p, struct snap_port *s);
bool kport_xstats(struct port *p, json_t *o);
const char *kport_driver(const struct port *p);
extern const struct rss_ops kport_rss; /* krss.c: the kernel chooses the queue of a frame */
int kport_set_mtu(struct port *p, uint16_t mtu, struct err *e);
int kport_set_promisc(struct port *p, bool on, struct err *e);
bool kport_carries(const struct port *p, const uint8_t ip[16]);
bool kport_forwards(const struct port *p, bool six);
void kport_join(struct port *p, const uint8_t mac[6], bool on);
void kport_close(struct port *p);
void kport_closed(struct port *p);
void kport_notes(struct port *p, json_t *array);

#define KPORT_HOOKS \
	.started = kport_started, .link = kport_link, .stats = kport_stats, \
	.set_mtu = kport_set_mtu, .set_promisc = kport_set_promisc, .join = kport_join, \
	.carries = kport_carries, .forwards = kport_forwards, .close = kport_close, \
	.closed = kport_closed, .notes = kport_notes, .driver = kport_driver, \
	.xstats = kport_xstats
