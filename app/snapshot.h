/* SPDX-License-Identifier: BSD-3-Clause */
/* A snapshot as sessions hand it out: one JSON object, put together from parts that the reader asks for. Control thread.
 *
 * parts is a list "stats,streams:0,log". The result has the keys of `show stats` ("time_ns", "wall_ns", "ports", "workers", see lib/count/snap.h)
 * always, and one more key for each part:
 *
 *	stats       nothing more
 *	config      "config":  [one object per port, as in `show ports`]; and "map"
 *	brief       "brief":   [{"port", "mode", "flags", "frame", "streams", "count", "rate", "size", "burst", "rxburst", "sport",
 *	                    "dport", "type", "proto",
 *	                         "vlan", "tcp_flags", "ip_dst", "ip_src", "mac_dst", "mac_src", "node", "pci"}]: what Pktgen's main page says of a
 *	                        port's first stream, as text ready to show, null where the frame has no such thing
 *	streams:P   "streams": [as in `show streams`, with "fields": [{"name", "value", "varies"}] of those that are set or vary]
 *	streams:P/S~N  likewise N streams around stream S, "fields" of S alone
 *	frame:P/S   "frame":   as an element of `show frame`, with "varies": [names] and, for what varies, "bytes": [[offset, length], ...]; null
 *	                        and "frame_error" where none can be built
 *	xstats:P    "xstats":  {"port", "name", "values": [{"name", "value", "per_s"}]}; per_s null until it was read twice
 *	cpu         "cpu":     {"model", "kernel", "sockets", "cores", "threads", "cpus": [{"cpu", "socket", "core", "node", "lcore", "role"}]}
 *	log         "log":     [as in `show log`]
 *	help        "help":    [{"name", "help"}] of the verbs */
#pragma once
#include <jansson.h>
#include "base.h"

/* For sess_local: host is a struct app. New reference; NULL with *e for an unknown part, port or stream. */
json_t *app_snapshot(void *host, const char *parts, struct err *e);
/* Free what snapshots keep between one and the next. */
struct app;
void snapshot_forget(struct app *);
/* "stats, config, log[:N], ..." */
void snapshot_forms(struct sbuf *out);
