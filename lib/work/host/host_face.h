/* SPDX-License-Identifier: BSD-3-Clause */
/* What control tells the program about ports that are hosts. */
#pragma once
#include "ctl.h"
#include "host_cfg.h"

/* Whether the port can be a host. -ENOTSUP: nobody is at its other end, and e says so. */
int host_may(const struct ctl *c, unsigned port, struct err *e);
/* Whether the port can have these addresses. -EADDRINUSE: the kernel has one of them on the port's
 * interface, and e says so. */
int host_may_have(const struct ctl *c, unsigned port, const struct host_addrs *ip, struct err *e);
/* Whether the kernel forwards frames for addresses of the port; e says it then. */
bool host_forwarded(const struct ctl *c, unsigned port, const struct host_addrs *ip, struct err *e);
/* The port's addresses and what it has answered, since open or the last clear; a new reference.
 * Ports without an address are left out. {"show":"host","ports":[{"port","name","addresses":
 * [{"address","vlans","state"}],"answered":{"arp","nd","ping","unreachable"},"heard","claims",
 * "pongs","errors","refused":{reason: n},"unasked","errors_unasked": ICMP errors among
 * those,"probes","sent","dropped","unheard"}]} */
json_t *host_json(struct ctl *c, const struct portset *ports);
/* The neighbours: {"show":"neighbours","ports":[{"port","name","evicted","no_room",
 * "neighbours":[{"address","vlans","mac","state","age_ns","gateway"}]}]}. "mac" is null where it is not
 * known. */
json_t *host_neighbours_json(struct ctl *c, const struct portset *ports);
/* The error of a command that found no host: -EINVAL with *e. */
int host_none(struct err *e);
/* Forgets the neighbours of these ports, but static ones. Returns how many. */
unsigned host_forget(struct ctl *c, const struct portset *ports);
/* Sends gratuitous ARP and unsolicited advertisements for the addresses of these ports. The
 * error is host_none(). */
int host_announce(struct ctl *c, const struct portset *ports, struct err *e);
/* Append an IPv4 or IPv6 address, and a MAC address, as text. */
void host_print_ip(const uint8_t ip[16], struct sbuf *out);
void host_print_mac(const uint8_t mac[6], struct sbuf *out);
