/* SPDX-License-Identifier: BSD-3-Clause */
/* Snapshots as sessions give them to pages, clients and scripts: one JSON object, made of the
 * parts that the reader asks for. Control thread.
 *
 * `parts` is a list like "stats,streams:0,log". The result always has the keys of `show stats`
 * ("time_ns", "wall_ns", "ports", "workers", see lib/count/snap.h), and the keys of each part.
 * `show snapshot PARTS` prints it. New versions only add keys. A part may be named twice only with
 * the same port, stream and numbers. One unknown part, port or stream makes the whole request
 * fail.
 *
 * In the table of parts P stands for a port, S, FIRST and N for numbers.
 *
 * stats       no keys but those that are always there
 * config      "config": [one object per port, as in `show ports`]; "map": as `show map`
 * brief       "brief": [one object per port]: what Pktgen's main page says about a port. It
 *             describes the port's lowest enabled stream, or its lowest stream if none is enabled.
 *             All values but "port" and "stream" are texts ready to show, or null where there is
 *             nothing to say:
 *      mode        None: no stream is enabled. Seq: streams 1 to k are (k may be 1), which are
 *                  Pktgen's slots 0 to k - 1. Range, Random, Single: one other stream is; in Range
 *                  fields or sizes step or `enable range` was given, else in Random something
 *                  changes at random, else it is Single. Streams: any other set of streams is
 *      flags       letters at their places in Pktgen's PEBILipRc, "-" for what is off or unknown
 *                  here: P promiscuous, i random source address, p random source port, R random
 *                  bits
 *      encap       VLAN, QnQ, MPLS, GREip, GREet, VxLan, GTPu, with blanks between them
 *      frame       the stack; streams: how many are enabled
 *      size        as `set` takes it; where it is auto, the size of the frame
 *      count       "Forever" or a number; rate, burst, rxburst: those of the port
 *      type        IPv4, IPv6, ARP; proto: TCP, UDP, ICMP, ICMPv6, IGMP, SCTP, ESP, AH; vlan: "5",
 *                  with two tags "100/5"
 *      sport, dport, tcp_flags, ip_dst, ip_src, mac_dst, mac_src
 *                  the field in the outermost header that has it, as `set` takes it: "1..9" where
 *                  it varies, "random" where all of its bits are random
 *      node, pci   NUMA node, PCI address with its domain
 *      error       why no frame can be built; the texts then come from settings and defaults
 * streams:P   "streams": [as in `show streams`, at most 256 of them, and also
 *                  "ranges": whether Pktgen's ranges are in use,
 *                  "fields": [{"name", "value", "varies"}]: first the header fields that are set
 *                  or vary, in the order of the frame, ranges included; then those of nest,
 *                  pattern, random and rnd.N that differ from their defaults];
 *             "streams_total": the number of streams of the port; "streams_before": how many of
 *             them have lower ids than the first one listed
 * streams:P/FIRST+N   the same of at most N streams, from id FIRST on
 * streams:P/S~N       the same of N streams around stream S; only S has "fields"
 * frame:P/S   "frame": as an element of `show frame --json`. "varies": names of the fields that
 *             change from frame to frame, "payload" and "size" among them; "follows": names of the
 *             fields that change as a consequence, which are checksums, and lengths when sizes
 *             differ; "bytes" and "follows_bytes": [[offset, length], ...], the places of both
 *             kinds of change. Where no frame can be built, "frame" is null and "frame_error" says
 *             why; else "frame_error" is null
 * slots:P, slots:P/FIRST+N, slots:P/S~N
 *             "slots": [Pktgen's sequence, in which slot N is stream N + 1: "slot", "stream",
 *             "enabled", the texts of "brief" from encap to mac_src, "cos", "tos", "teid",
 *             "error"], at most 64 where no number is given;
 *             "slots_total": the number of slots of the port; "slots_before": how many come before
 *             the first one listed
 * ranges:P/S  "ranges": {"port", "stream", "on": whether they are in use, "frame": the stack as it
 *             is when they are, "words": [one object per range, in the order of `show settings`:
 *             "name", "set": whether it was given, "fits": whether the frame has its header,
 *             "moves": whether inc is not 0 and the limits differ, "start", "min", "max", "inc"]}.
 *             tcp flags, type and proto have only a start, and none where they were not given
 * flows       "flows": the "flows" of `show flows --json`
 * flows_by_dst  "flows_by_dst": the "servers" of `show flows by dst --json`
 * flow_counts "flow_counts": the counters of all flows by the names that they have in tables
 *             (flows_counts_json() in lib/work/flows/flows_face.h)
 * hosts       "hosts": the "ports" of `show host --json`
 * dperf       "dperf": what dperf prints of its clients and servers, as app/part/part_dperf.c says
 * flow:P/S    "flow": the one of this stream, null if it has never run as a flow. Each of its
 *             "latency" also has "bins" and "percentiles_ns", as those of the part latency have
 * captures    "captures": the "ports" of `show capture --json`
 * wires       "wires": the "ports" of `show wire --json`, without their settings
 * xstats:P    "xstats": {"port", "name", "interval_ns", "values": [{"name", "value", "per_s"}]} in
 *             the device's order. value is null where the driver does not count it. per_s is the
 *             rate between the last two readings that were 0.1 s or more apart, whoever asked for
 *             them, and interval_ns is the time between these. Both are null until there are two
 * cpu         "cpu": {"model", "kernel", "sockets", "cores", "threads", "cpus": [{"cpu", "socket",
 *             "core", "node", "isolated", "nohz_full", "governor", "khz", "max_khz", "lcore",
 *             "lcores", "role"}], "floating": {"lcore", "lcores", "role"}}; null for what the
 *             kernel does not tell. core counts within its socket. lcores are those pinned to this
 *             CPU, and lcore is the first of them; floating has those pinned to several CPUs.
 *             role: "control", "rx 0.0-2,1.0 tx 0.0" (port.queue) or "unused", with "; " between
 *             lcores
 * log, log:N  "log": [as in `show log`, oldest first; only the newest N]
 * head        "head": what every page says at its top: {"left_ns": the time until the last of the
 *             sending ports ends, null: none ends by itself, or the time is not known yet;
 *             "verdict": of the last trial, null: none has run}
 * help        "help": [{"name", "syntax", "help"}] of the verbs that `help` lists */
#pragma once
#include <jansson.h>
#include "base.h"

struct app;

/* Takes a snapshot with these parts. host is a struct app. Returns a new reference, or NULL with
 * *e, whose column is one of parts. Sessions call it as their sess_snapshot_fn. */
json_t *app_snapshot(void *host, const char *parts, struct err *e);
/* Frees what is kept from one snapshot to the next (app.xstats). */
void snapshot_forget(struct app *);
