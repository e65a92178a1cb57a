/* SPDX-License-Identifier: BSD-3-Clause */
/* What control tells the program about flows. */
#pragma once
#include "ctl.h"
#include "flows_cfg.h"

/* All flows of these ports, {"show":"flows","flows":[..]}, as docs/flows.md says; a new reference.
 * Totals are since the last clear, rates are those of the last full second. */
json_t *flows_json(struct ctl *c, const struct portset *ports);
/* The same by their servers, {"show":"flows_by_dst","flows":[..],"servers":[..]}, as docs/flows.md
 * says. */
json_t *flows_by_dst_json(struct ctl *c, const struct portset *ports);
/* Whether there is any of them, and any that counts by servers. */
bool flows_any(const struct ctl *c);
bool flows_any_by_dst(const struct ctl *c);
/* An array with the counters of each flow by the names that they have in tables, those of flows
 * whose streams were deleted, too: {"port","stream","role","protocol": "tcp", "udp" or null,"http": whether
 * it has that workload,"method": null if it is not known,"connections": of flow_counts_table,
 * "transactions":{"started","done","failed","mismatched"},"responses":{"2xx","other"},"numbers": of
 * wl_numbers_table,"first_trip": {"count","sum_ns"} of a client with one transaction on each
 * connection: from the SYN to its answer, over UDP from the request to the response; else null}. */
json_t *flows_counts_json(struct ctl *c);
/* One of them, in which each of "latency" also has "bins" (hist_bins_json()) and "percentiles_ns"
 * (hist_json()). NULL: the stream has never run as a flow. */
json_t *flows_one_json(struct ctl *c, unsigned port, unsigned stream);

/* Samples of connections take workers a moment: flows_ask() begins to ask the port's workers for n
 * of them, at most FLOWS_SAMPLES_MOST, and flows_answered() says whether all have answered; it is
 * to be asked after each ctl_turn(). -EINVAL with *e: the port has no flow that has ever run. */
#define FLOWS_SAMPLES_MOST 256
int flows_ask(struct ctl *c, unsigned port, unsigned n, struct err *e);
bool flows_answered(const struct ctl *c, unsigned port);
/* What was answered last, a new reference: {"show":"connections","port":N,"connections":[{"stream",
 * "queue","state","src","sport","dst","dport","protocol","cwnd","ssthresh": null if none,"rtt_ns":
 * null if not measured,"rto_ns","unacked","unsent": null: without end,"peer_window","mss",
 * "retries","number"}]} */
json_t *flows_connections_json(struct ctl *c, unsigned port);

/* The values that a port of TCP or UDP has in connections of this stream if nobody has set it.
 * false: what is sent is what all streams send. nth: which of the headers of this protocol. */
bool flows_field_default(const struct stream_cfg *cfg, const struct proto *p, unsigned nth,
			 const struct field *f, struct vary *out);
