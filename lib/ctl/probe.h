/* SPDX-License-Identifier: BSD-3-Clause */
/* What the receivers of this process make of the probes that its ports send: counts per (port, stream), latency. Control thread only. */
#pragma once
#include "ctl.h"
#include "hist.h"

/* Of one port's probes, or of one stream's; since the counters were cleared, exact when nothing is sending. */
struct probe_counts {
	uint64_t sent;        /* accepted by the device */
	uint64_t received;    /* different ones, whole */
	uint64_t lost;        /* sent - received - corrupted - late, not below 0 */
	uint64_t duplicated;  /* further copies */
	uint64_t reordered;   /* RFC 4737, of those received */
	uint64_t late;        /* older than the window when they came */
	uint64_t corrupted;   /* known by their probe; a checksum is wrong */
	uint64_t extent_max;  /* RFC 4737 4.2.2 */
	double extent_mean;
	double jitter_ns;     /* RFC 3550, the largest of its flows */
	unsigned nrxq;        /* Rx queues on which they came: order is judged on each alone */
	bool inexact;         /* windows could not be merged in time: duplicates across queues may be missing */
};
/* stream: its id, -1: all streams of the port. receivers: only what came in there; NULL: anywhere. false: the port sends no probes. */
bool ctl_probe_counts(struct ctl *, unsigned port, int stream, const struct portset *receivers, struct probe_counts *out);
/* Frames on the receivers with probes that are damaged beyond telling whose they are. */
uint64_t ctl_probe_damaged(struct ctl *, const struct portset *receivers);
/* Latency in ns of all that came in on these ports (histograms of their queues added up); new, free() it; NULL: nothing is armed. */
enum probe_latency { PROBE_ACTUAL, PROBE_INTENDED, PROBE_GAP };
struct hist *ctl_probe_hist(struct ctl *, const struct portset *receivers, enum probe_latency which);

/* {"show":"latency","ports":[{"port", ...}]}: see latency_json() in probe_json.c */
json_t *ctl_latency_json(struct ctl *, const struct portset *ports);

/* Inside lib/ctl. Arms and disarms taps when plans are built; merges windows each turn that needs it. */
struct ctl_port;
int probes_arm(struct ctl *c, struct err *e);   /* at start: memory for all receivers; -ENOMEM names what it would take and the limit */
void probes_turn(struct ctl *c);
void probes_clear(struct ctl *c, const struct portset *ports);
