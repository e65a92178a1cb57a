/* SPDX-License-Identifier: BSD-3-Clause */
/* The settings of a stream that is a flow: plain bytes, which control, the rows of the program and
 * whoever makes a flow of them share. They are those of one stream (work_stream_cfg()). */
#pragma once
#include "value.h"

enum flows_role { FLOWS_OFF, FLOWS_CLIENT, FLOWS_SERVER };
/* AUTO: http on TCP, bytes on UDP. */
enum flows_app { FLOWS_AUTO, FLOWS_HTTP, FLOWS_BYTES, FLOWS_STREAM, FLOWS_DIALOG };
enum flows_direction { FLOWS_UP, FLOWS_DOWN, FLOWS_BOTH };
enum flows_congestion { FLOWS_CUBIC, FLOWS_NEWRENO, FLOWS_NONE };
enum flows_sums { FLOWS_SUMS_VERIFY, FLOWS_SUMS_TRUST };

/* What connections do: `app`. text: of a dialog (wl_dialog_parse()). */
struct flows_app_value {
	uint32_t kind; /* enum flows_app */
	char text[VT_TEXT_MAX];
};

/* How connections end: `close`. */
struct flows_close_value {
	uint8_t keep, rst; /* nobody closes; else FIN or RST */
	uint8_t server;    /* it is the server who closes */
};

/* Servers that answer nothing: `flow.dead`. IPv4 as ::ffff:A.B.C.D; what is behind n addresses is
 * 0. */
#define FLOWS_DEAD_MOST 8
struct flows_dead_value {
	uint32_t n;
	uint8_t address[FLOWS_DEAD_MOST][16];
};

/* Transactions per second: `tps`. off: whoever may start one does so. */
struct flows_tps_value {
	bool on;
	struct rate rate;
};

/* The defaults stand here as text, as those of other settings do (cfg.h). All others begin as
 * zero. */
#define FLOWS_DFLT_CPS "1k"
#define FLOWS_DFLT_TRANSACTIONS "1"
#define FLOWS_DFLT_DRAIN "4s"
#define FLOWS_DFLT_TIMEWAIT "1s"
#define FLOWS_DFLT_RTO "200ms"
#define FLOWS_DFLT_RETRIES "5"
#define FLOWS_DFLT_SACK "on"
#define FLOWS_DFLT_PIPELINE "1"

#define FLOWS_HEADER_MAX 1024

/* Rates are of kind RATE_PPS or RATE_MAX, and what they count are connections or transactions.
 * Texts are those of settings of lib/workload. They are kept as they were written, and are checked
 * when they are written; "" is the default. */
struct flows_cfg {
	int role; /* enum flows_role */
	struct flows_app_value app;
	struct rate cps;
	struct flows_tps_value tps;
	uint64_t connections;  /* open at once, most; 0: the fewer of tuples and 1 M */
	uint64_t transactions; /* of a connection; 0: without end (`forever`) */
	char think[VT_TEXT_MAX], request[VT_TEXT_MAX], response[VT_TEXT_MAX];
	int direction; /* enum flows_direction, of `stream` */
	struct flows_close_value close;
	uint64_t drain_ns, timewait_ns;
	uint64_t window; /* bytes; 0: auto */
	uint64_t mss;    /* bytes; 0: by the mtu */
	int congestion;  /* enum flows_congestion */
	uint64_t rto_ns;
	uint64_t retries;
	bool sack, verify, by_dst;
	int sums; /* enum flows_sums, of checksums that no device has judged */
	char method[VT_TEXT_MAX], path[VT_TEXT_MAX], host[VT_TEXT_MAX], status[VT_TEXT_MAX];
	char header[FLOWS_HEADER_MAX];
	bool chunked;
	uint64_t pipeline, bytes_pipeline; /* of http, and of bytes over UDP */
	struct flows_dead_value dead;      /* of a server */
};
_Static_assert(sizeof(struct flows_cfg) <= 3584, "see STREAM_WORK_BYTES");
