/* SPDX-License-Identifier: BSD-3-Clause */
/* The settings of a port and of its streams as plain structs, owned by control, control thread only. The rows of the setting
 * tables in app/set name their members. No DPDK. */
#pragma once
#include "frame.h"
#include "value.h"

struct stream_cfg {
	bool enabled;
	struct frame_spec frame;
	struct frame_vals dflt;   /* the port's own defaults: MACs and addresses (reference: Pktgen 4.2); not settings */
};

struct port_cfg {
	struct rate rate;         /* default 100% */
	uint64_t count;           /* frames per start, 0: no bound */
	uint64_t burst, rxburst;  /* 1..512; 32, 64 */
	uint64_t speed_bps;       /* 0: what the device says, 10G on virtual ports */
	uint64_t mtu;             /* bytes without Ethernet header; 1500 */
	uint64_t txd, rxd;        /* descriptors; 1024 */
	uint64_t mbufs;           /* buffers per pool, 0: from descriptors and bursts */
	bool promiscuous;         /* default off, -P turns it on */
	bool idle_busy;           /* idle: workers never sleep */
};

void stream_cfg_init(struct stream_cfg *);
void stream_cfg_free(struct stream_cfg *);
void port_cfg_init(struct port_cfg *);
