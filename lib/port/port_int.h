/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside lib/port: what its files have for each other. */
#pragma once
#include "clock.h"
#include "port_spec.h"

/* Tells people something about the port. */
void port_note(struct port *p, const char *fmt, ...) WR_PRINTF(2, 3);

/* eal.c */
/* Whether buffers of the port's Rx pools may not cross a page, because its driver maps page by
 * page. */
bool eal_by_page(const struct port_need *need);
/* What takes less memory, for errors: "smaller --mbufs, --txd ...". */
const char *eal_less(void);
/* The end of an error that EAL's log says more of: "; -l FILE keeps the whole log", or "". */
const char *eal_log_hint(void);
/* Whether EAL itself has found the device, and no port has added it. */
bool eal_found(uint16_t dev);
/* Bytes of a buffer of an Rx pool, headroom included. */
unsigned eal_rx_room(uint64_t mtu, const struct port_need *need);
/* How many buffers the pool of a Tx queue has, and that of an Rx queue (0: it needs no pool). */
unsigned eal_tx_frames(const struct port_cfg *cfg, const struct port_need *need);
unsigned eal_rx_frames(const struct port_cfg *cfg, const struct port_need *need);

/* linked.c */
/* Whether there is a driver for this name of a virtual device. -ENODEV: e says what helps. */
int linked_driver(const char *devname, const char *spec, struct err *e);

/* tx_share.c */
/* The device was set up: all shares of this queue send from this pool from now on. */
void tx_shares_pool(struct port *p, unsigned queue, struct rte_mempool *pool, enum dp_edits edits);
bool tx_foreign(const struct port *p); /* some task sends buffers of other pools */
/* The port has got another device, and its shares send there from now on. */
void tx_shares_dev(struct port *p);

/* edits.c */
/* What a device of this driver that offers these Tx offloads may do to the buffers of frames that
 * it sends. */
enum dp_edits dev_edits(const char *driver, uint64_t tx_offload_capa);

/* rss_dev.c */
/* RSS by the functions of DPDK. */
extern const struct rss_ops rss_dev_ops;

/* rss_port.c */
/* The device was started: notes what it works by, and asks it for what is set. */
void rss_started(struct port *p);

/* setup.c */
/* Reads link and link_mbps from the device. */
void setup_read_link(struct port *p);

/* stamps.c */
/* Before the device is configured: puts the offloads for time stamps that settings ask for and the
 * device offers into conf and p->tx_offloads. */
void stamps_ask(struct port *p, const struct rte_eth_dev_info *info, struct rte_eth_conf *conf);
/* The device refused conf with rc: takes the offloads for time stamps out again, so that the caller
 * can try once more. false: there were none in it. */
bool stamps_without(struct port *p, int rc, struct rte_eth_conf *conf);
void stamps_started(struct port *p);
/* Sending at time stamps: 0: the device does it. -ENOTSUP: it does not offer it. -EAGAIN: it does
 * it from its next start on. Others: the device refused, or its clock cannot be read. */
int stamps_tx_state(const struct port *p);
/* Adds a text: what the device has counted, since the last clear, as not sent at its time. */
void stamps_missed(const struct port *p, struct sbuf *out);
