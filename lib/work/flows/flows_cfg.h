/* SPDX-License-Identifier: BSD-3-Clause */
/* The settings of a stream that is a flow: plain bytes, which control, the rows of the program and
 * whoever makes a flow of them share. They are those of one stream (work_stream_cfg()). */
#pragma once
#include "arrival_text.h"
#include "value.h"

enum flows_role { FLOWS_OFF, FLOWS_CLIENT, FLOWS_SERVER };
/* AUTO: http on TCP, bytes on UDP. */
enum flows_app { FLOWS_AUTO, FLOWS_HTTP, FLOWS_BYTES, FLOWS_STREAM, FLOWS_DIALOG };
enum flows_direction { FLOWS_UP, FLOWS_DOWN, FLOWS_BOTH };
enum flows_congestion { FLOWS_CUBIC, FLOWS_NEWRENO, FLOWS_NONE };

/* What connections do: `app`. text: of a dialog. */
struct flows_app_value {
	uint32_t kind; /* enum flows_app */
	char text[VT_TEXT_MAX];
};

/* How connections end: `close`. */
struct flows_close_value {
	uint8_t keep, rst; /* nobody closes; else FIN or RST */
	uint8_t server;    /* it is the server who closes */
};

/* How many begin in a second: `cps`, `tps`. A steady rate has step and over_ns 0 and to = from. */
struct flows_per_second {
	uint8_t off, max; /* off: only of tps */
	double from, to, step;
	uint64_t over_ns;
};

/* The defaults stand here as text, as those of other settings do (cfg.h). */
#define FLOWS_DFLT_CPS "1k"
#define FLOWS_DFLT_WINDOW "262144"
#define FLOWS_DFLT_DRAIN "4s"
#define FLOWS_DFLT_TIMEWAIT "1s"
#define FLOWS_DFLT_RTO "200ms"
#define FLOWS_DFLT_RETRIES "5"
#define FLOWS_DFLT_TRANSACTIONS "1"
#define FLOWS_DFLT_SIZE ""  /* request, response: by the app */

/* Texts that lib/workload parses are kept as they were written, and are checked when they are
 * written. "" of those is the default of the app. */
struct flows_cfg {
	int role; /* enum flows_role */
	struct flows_app_value app;
	struct flows_per_second cps, tps;
	uint64_t connections;  /* open at once, most; 0: the fewer of tuples and 1 M */
	uint64_t transactions; /* of a connection; 0: without end (`forever`) */
	char think[VT_TEXT_MAX], request[VT_TEXT_MAX], response[VT_TEXT_MAX];
	int direction; /* enum flows_direction, of `stream` */
	struct flows_close_value close;
	uint64_t drain_ns, timewait_ns;
	uint64_t window; /* bytes */
	uint64_t mss;    /* bytes; 0: by the mtu */
	int congestion;  /* enum flows_congestion */
	uint64_t rto_ns;
	uint64_t retries;
	bool sack, verify;
	char method[16], path[VT_TEXT_MAX], host[VT_TEXT_MAX], header[VT_TEXT_MAX], status[VT_TEXT_MAX];
	bool chunked;
};
_Static_assert(sizeof(struct flows_cfg) <= 3584, "see STREAM_WORK_BYTES");
