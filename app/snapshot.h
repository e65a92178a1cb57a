/* SPDX-License-Identifier: BSD-3-Clause */
/* A snapshot as sessions hand it out: one JSON object, put together from parts that the reader asks for. Control thread.
 *
 * parts is a list "stats,streams:0,log". The result has the keys of `show stats` ("time_ns", "wall_ns", "ports", "workers", see
 * lib/count/snap.h) always, and those of each part; `show snapshot PARTS` prints all of it. Keys are only ever added. A part may be
 * named twice, but not of two ports. An unknown part, port or stream is refused as a whole.
 *
 * stats       nothing more
 * config      "config": [one object per port, as in `show ports`]; "map": as `show map`
 * brief       "brief": [one object per port]: what Pktgen's main page says, of the port's lowest enabled stream, or of its lowest. Texts
 *             ready to show, null where there is no such thing; only "port" and "stream" are numbers:
 *      mode        None: no stream is enabled. One is: Range (fields or sizes step, or `enable range`), Random (others change at
 *                  random), Single. Seq: streams 1 to k are, Pktgen's slots 0 to k - 1. Streams: any others
 *      flags       letters at their places in Pktgen's PEBILipRc, "-" for what is off or unknown here: P promiscuous, i random source
 *                  address, p random source port, R random bits
 *      encap       VLAN, QnQ, MPLS, GREip, GREet, VxLan, GTPu, blanks between
 *      frame       the stack; streams: how many are enabled
 *      size        as `set` takes it; that of the frame where it is auto
 *      count       "Forever" or a number; rate, burst, rxburst: the port's
 *      type        IPv4, IPv6, ARP; proto: TCP, UDP, ICMP, ICMPv6, IGMP, SCTP, ESP, AH; vlan: "5", with two tags "100/5"
 *      sport, dport, tcp_flags, ip_dst, ip_src, mac_dst, mac_src
 *                  of the outermost header that has it, as `set` takes it: "1..9" where it varies; "random": all bits are
 *      node, pci   NUMA node, PCI address with its domain
 *      error       why no frame can be built; the texts are then those of settings and defaults
 * streams:P   "streams": [as in `show streams`, at most 256, and "ranges": Pktgen's ranges are in use, "fields": [{"name", "value",
 *             "varies"}]: header fields that are set or vary, in the order of the frame, ranges included; then nest, pattern, random,
 *             rnd.N where they are not as they come]; "streams_total": of the port; "streams_before": those with lower ids than the
 *             first one here
 * streams:P/FIRST+N   N of them at most, from id FIRST on
 * streams:P/S~N       N of them around stream S, "fields" of S alone
 * frame:P/S   "frame": as an element of `show frame --json`: "varies": names of fields that change from frame to frame, "payload" and
 *             "size" among them; "follows": those that change with them, checksums, and lengths when sizes differ; "bytes" and
 *             "follows_bytes": [[offset, length], ...] where something of that changes. Where no frame can be built it is null and
 *             "frame_error" says why, else that is null
 * slots:P, slots:P/FIRST+N, slots:P/S~N
 *             "slots": [Pktgen's sequence: slot N is stream N + 1: "slot", "stream", "enabled", the texts of "brief" from encap to
 *             mac_src, "cos", "tos", "teid", "error"], at most 64 where no number is given; "slots_total": of the port; "slots_before":
 *             those before the first one here
 * ranges:P/S  "ranges": {"port", "stream", "on": they are in use, "frame": the stack once they are, "words": [each range, in the order of
 *             `show settings`: "name", "set": it was given, "fits": the frame has its header, "moves": inc is not 0 and the limits differ,
 *             "start", "min", "max", "inc"]}; tcp flags, type and proto have a start alone, and none where they were not given
 * wires       "wires": the "ports" of `show wire --json`, without their settings
 * xstats:P    "xstats": {"port", "name", "interval_ns", "values": [{"name", "value", "per_s"}]} in the device's order. value null: its
 *             driver does not count it. per_s: between the last two readings 0.1 s or more apart, whoever made them; interval_ns is
 *             the time between, both are null until then
 * cpu         "cpu": {"model", "kernel", "sockets", "cores", "threads", "cpus": [{"cpu", "socket", "core", "node", "isolated",
 *             "nohz_full", "governor", "khz", "max_khz", "lcore", "lcores", "role"}], "floating": {"lcore", "lcores", "role"}}; null
 *             for what the kernel does not tell. core: within its socket. lcores: pinned to that CPU, lcore is the first of them;
 *             floating: pinned to several. role: "control", "rx 0.0-2,1.0 tx 0.0" (port.queue), "unused"; "; " between lcores
 * log, log:N  "log": [as in `show log`, oldest first; the newest N]
 * head        "head": what every page says on top: {"left_ns": until the last of the ports that send ends, null: none does by itself, or nobody
 *             knows yet; "verdict": of the last trial, null: none has run}
 * help        "help": [{"name", "syntax", "help"}] of the verbs that `help` lists */
#pragma once
#include <jansson.h>
#include "base.h"

struct app;

/* For sess_local: host is a struct app. New reference; NULL with *e (column in parts) for what is refused. */
json_t *app_snapshot(void *host, const char *parts, struct err *e);
/* Free what snapshots keep between one and the next. */
void snapshot_forget(struct app *);
/* "stats, config, log[:N], ..." */
void snapshot_forms(struct sbuf *out);
