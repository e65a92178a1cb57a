/* SPDX-License-Identifier: BSD-3-Clause */
/* The settings of a port and of its streams as plain structs. Control owns them, and only the
 * control thread uses them. The rows of the setting tables in app/set name their members. No
 * DPDK. */
#pragma once
#include "arrival_text.h"
#include "frame.h"
#include "rss_value.h"
#include "sizes.h"
#include "value.h"

#define CTL_MAX_STREAMS 4096

/* The rate of a stream. If it is not set, the stream takes its turns in the port's schedule. */
struct own_rate {
	bool set;
	struct rate rate;
};

/* The defaults stand here as text. stream_cfg_init() and port_cfg_init() parse them, and the rows
 * of app/set show them to people. All other members begin as zero. */
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

#define CFG_OVERLAY_BYTES 2304

/* Room for the settings that works have for one stream. They are plain bytes, as those of ports
 * below. */
#define STREAM_WORK_BYTES 4096

struct stream_cfg {
	uint32_t port, id; /* where the stream is; not settings */
	bool enabled;
	uint64_t weight; /* turns per cycle of the port's schedule, 1..65535 */
	struct own_rate rate;
	struct arrival arrival; /* of its frames, if it has a rate of its own */
	uint64_t count;         /* frames per start; 0: no bound of its own */
	bool latency;           /* the receiver keeps a histogram of this stream alone */
	struct sizes sizes;
	struct frame_spec frame; /* its size member is not used */
	/* Somebody has set frame.stack. If not, it is the default of a stream with these settings:
	 * see ctl_stream_frame_follow(). */
	bool frame_set;
	char fill_file[VT_TEXT_MAX]; /* the file that frame.data came from; "": it was typed */
	/* The port's own defaults: MAC and IP addresses as Pktgen gives them to its ports. Not
	 * settings. */
	struct frame_vals dflt;
	bool overlay_on; /* the overlay is in use */
	/* The settings of the overlay (struct cfg_overlay): plain bytes, which may be copied and
	 * compared, and begin as zero. */
	_Alignas(uint64_t) uint8_t overlay[CFG_OVERLAY_BYTES];
	/* STREAM_WORK_BYTES, see work_stream_cfg(). NULL: all of them are the defaults, as they are
	 * of most streams. */
	uint8_t *work;
	/* The files that are the requests and the responses of a flow, each held by this stream.
	 * NULL: none. */
	struct filebytes *request_file, *response_file;
};

/* Who paces: the worker by its clock; the worker and, below it, a rate limit of the device's
 * queues; or the device, which sends each frame at the time stamp that it carries. */
enum pacing { PACING_SOFTWARE, PACING_QUEUE, PACING_TIMESTAMP };

/* Who says when a frame arrived. AUTO and NIC: the device where its stamps can be used, else our
 * clock, and with NIC there is a warning then. SOFTWARE: always our clock. */
enum timestamps { TIMESTAMPS_AUTO, TIMESTAMPS_NIC, TIMESTAMPS_SOFTWARE };

/* Room for the settings that works have for one port (lib/work/NAME/NAME_cfg.h). They are plain
 * bytes, which may be copied and compared, and those of one work follow those of another. */
#define PORT_WORK_BYTES 4096

struct port_cfg {
	struct rate rate;
	struct arrival arrival; /* of the frames at that rate */
	struct catchup catchup; /* what becomes of frames that are later than lag_ns */
	uint64_t lag_ns;
	int pacing;
	/* With PACING_TIMESTAMP, how long before they are due the device gets the frames. */
	uint64_t lead_ns;
	int timestamps;
	uint64_t count;          /* frames per start; 0: no bound */
	uint64_t burst, rxburst; /* 1..512 */
	uint64_t speed_bps;      /* of the link; 0: what the device says, 10G on virtual ports */
	uint64_t mtu;            /* bytes without Ethernet header */
	uint64_t txd, rxd;       /* descriptors */
	uint64_t mbufs;          /* buffers per pool; 0: computed from descriptors and bursts */
	uint64_t dperf_held;     /* for page dperf: its frames are of so many; 0: of one each */
	bool promiscuous;        /* -P turns it on */
	bool idle_busy;          /* `idle busy`: workers that receive here never sleep */
	bool no_offload;         /* software makes checksums even where the device offers to */
	struct rss_cfg rss;
	_Alignas(uint64_t) uint8_t work[PORT_WORK_BYTES]; /* see work_cfg() */
};

/* Gives all settings of a stream their defaults. What was in it is overwritten and not freed. */
void stream_cfg_init(struct stream_cfg *);
/* Frees what a stream's settings point to, and sets them to zero. */
void stream_cfg_free(struct stream_cfg *);
/* Makes dst a deep copy of src. What was in dst is overwritten and not freed. */
void stream_cfg_copy(struct stream_cfg *dst, const struct stream_cfg *src);
/* Gives all settings of a port their defaults. Those of works become zero; control knows their
 * defaults (ctl_cfg_init()). */
void port_cfg_init(struct port_cfg *);

/* An overlay is a set of settings of a stream that one module keeps beside the others, and that
 * change the frames which the others ask for while stream_cfg.overlay_on is set. */
struct cfg_overlay {
	/* Puts them into *spec, a deep copy of cfg->frame, and *sizes, a copy of cfg->sizes. 0, or
	 * -EINVAL, and e names the smallest change that helps. */
	int (*apply)(const struct stream_cfg *cfg, struct frame_spec *spec, struct sizes *sizes,
		     struct err *e);
	/* Calls add() with the name of each of them that makes frames differ. */
	void (*varies)(const struct stream_cfg *cfg, void (*add)(void *arg, const char *name),
		       void *arg);
};
/* From now on, this is the overlay of all streams. To be called before there are any. */
void cfg_overlay_set(const struct cfg_overlay *);
/* These do what the overlay does where it is in use, and nothing where it is not. */
int cfg_overlay_apply(const struct stream_cfg *cfg, struct frame_spec *spec, struct sizes *sizes,
		      struct err *e);
void cfg_overlay_varies(const struct stream_cfg *cfg, void (*add)(void *arg, const char *name),
			void *arg);
