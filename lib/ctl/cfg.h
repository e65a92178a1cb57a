/* SPDX-License-Identifier: BSD-3-Clause */
/* The settings of a port and of its streams as plain structs, owned by control, control thread only. The rows of the setting
 * tables in app/set name their members. No DPDK. */
#pragma once
#include "arrival_text.h"
#include "frame.h"
#include "sizes.h"
#include "value.h"

#define CTL_MAX_STREAMS 4096

/* Rate of a stream: its own, or none: it takes its turns in the port's schedule. */
struct own_rate {
	bool set;
	struct rate rate;
};

/* A variation that is written down but not in use: Pktgen's `range` rows until `enable <ports> range`. One word of Pktgen's each. */
#define HELD_MAX 32
struct held_range {
	bool set;                       /* any of the four was given */
	uint8_t v[4][VT_FIELD_BYTES];   /* start, min, max, inc */
};

/* Defaults stand here, as text: stream_cfg_init() and port_cfg_init() read it for whoever uses control, and the rows of app/set show it to
 * people. A member that is not among them begins as zero. */
#define STREAM_DFLT_ENABLED "on"
#define STREAM_DFLT_WEIGHT "1"
#define STREAM_DFLT_FRAME "eth/ipv4/udp"
#define STREAM_DFLT_USER "0123456789abcde"
#define PORT_DFLT_RATE "100%"
#define PORT_DFLT_CATCHUP "overspeed 10%"
#define PORT_DFLT_LAG "1ms"
#define PORT_DFLT_LEAD "100us"
#define PORT_DFLT_BURST "32"
#define PORT_DFLT_RXBURST "64"
#define PORT_DFLT_MTU "1500"
#define PORT_DFLT_TXD "1024"
#define PORT_DFLT_RXD "1024"
#define CTL_DFLT_STALL "50us"

struct stream_cfg {
	uint32_t port, id;        /* where it is; not settings */
	bool enabled;             /* also of streams that are added */
	uint64_t weight;          /* turns per cycle of the port's schedule, 1..65535 */
	struct own_rate rate;
	struct arrival arrival;   /* of frames at a rate of its own */
	uint64_t count;           /* frames per start, 0: no bound of its own */
	bool latency;             /* a histogram of its own at the receiver */
	struct sizes sizes;
	struct frame_spec frame;  /* its size member is not used */
	char fill_file[VT_TEXT_MAX]; /* where frame.data came from; "": it was typed */
	struct frame_vals dflt;   /* the port's own defaults, MACs and addresses as Pktgen gives them to its ports; not settings */
	bool range_on;            /* the held ranges are in use */
	struct held_range held[HELD_MAX]; /* by the index of app/set's table of range words */
};

/* Who paces: the worker's clock, a rate limit of the device's queues below it, or time stamps by which the device sends. */
enum pacing { PACING_SOFTWARE, PACING_QUEUE, PACING_TIMESTAMP };

/* Who says when a frame arrived: the device where its stamps can be trusted, or always our clock. */
enum timestamps { TIMESTAMPS_AUTO, TIMESTAMPS_NIC, TIMESTAMPS_SOFTWARE };

/* Settings of works (lib/work/NAME/NAME_cfg.h) of one port: bytes that are copied and compared, one work's behind the other's. */
#define PORT_WORK_BYTES 1024
struct work;

struct port_cfg {
	struct rate rate;
	struct arrival arrival;   /* of the frames at that rate */
	struct catchup catchup;   /* what becomes of frames later than lag_ns */
	uint64_t lag_ns;
	int pacing;
	uint64_t lead_ns;         /* PACING_TIMESTAMP: frames are handed over so long before they are due */
	int timestamps;
	uint64_t count;           /* frames per start, 0: no bound */
	uint64_t burst, rxburst;  /* 1..512 */
	uint64_t speed_bps;       /* 0: what the device says, 10G on virtual ports */
	uint64_t mtu;             /* bytes without Ethernet header */
	uint64_t txd, rxd;        /* descriptors */
	uint64_t mbufs;           /* buffers per pool, 0: from descriptors and bursts */
	bool promiscuous;         /* -P turns it on */
	bool idle_busy;           /* idle: workers never sleep */
	bool no_offload;          /* checksums are made in software even where the device offers it */
	_Alignas(uint64_t) uint8_t work[PORT_WORK_BYTES]; /* see work_cfg() */
};

void stream_cfg_init(struct stream_cfg *);
void stream_cfg_free(struct stream_cfg *);
void stream_cfg_copy(struct stream_cfg *dst, const struct stream_cfg *src); /* deep; dst is overwritten, not freed first */
void port_cfg_init(struct port_cfg *);
void *work_cfg(const struct port_cfg *, const struct work *of); /* what a work has in it */
