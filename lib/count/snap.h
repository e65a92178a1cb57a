/* SPDX-License-Identifier: BSD-3-Clause */
/* A snapshot: all cells and device counters read in one pass, with its time, baselines of `clear` already subtracted. What pages, show,
 * CSV, JSON and Lua read. Plain data; the owner frees with snap_free(). No DPDK. */
#pragma once
#include <jansson.h>
#include "count.h"

/* LINK_GONE: the interface of the kernel was deleted, and its port has no other. */
enum snap_link { LINK_DOWN, LINK_UP, LINK_UNKNOWN, LINK_GONE };
const char *snap_link_name(enum snap_link);
enum snap_run { RUN_IDLE, RUN_SENDING, RUN_DRAINING };

struct snap_rate { double pps, l1_bps; };

/* Intervals of the 1 s timer. One that was late by whole seconds stands there as often. */
#define SNAP_HISTORY 60
#define SNAP_INTERVAL_NS 1000000000ull
struct snap_interval { struct snap_rate tx, rx; };

/* How long the first frame of each burst left after its deadline, in ns, to 1 / 64. count: bursts, 0: the others mean nothing. max UINT64_MAX: beyond
 * what is measured. */
struct snap_late { uint64_t count, p50, p99, max; double mean; };

struct snap_queue {
	bool has_tx, has_rx;
	struct cnt_tx tx;
	struct cnt_rx rx;
	struct snap_late late;
	struct snap_rate tx_rate, rx_rate; /* last full interval of the 1 s timer */
	double dropped_pps, stalls_per_s, nombuf_per_s; /* likewise, Tx */
	double tx_cycles, rx_cycles;       /* of a burst: building and sending it, receiving it and handing it over; NAN: none was sampled */
	int tx_worker, rx_worker;          /* lcore, -1: none */
};

/* The device's or the kernel's own numbers since open/clear. has_*: whether the source exists. */
struct snap_nic {
	const char *source;                 /* "device", "kernel", "software" (wire: counted by us) */
	uint64_t tx_packets, tx_bytes, tx_errors, rx_packets, rx_bytes, rx_errors;
	bool has_tx_packets, has_tx_bytes, has_rx_packets, has_rx_bytes;
	uint64_t unconfirmed;               /* kernel ports, after wait: handed over minus tx_packets */
	bool has_unconfirmed;
};

struct snap_port {
	unsigned port;
	char name[64];                      /* "wire0", "if:eth1" */
	bool used;                          /* named by the map */
	enum snap_link link;
	uint64_t speed_mbps;
	enum snap_run state;
	struct {
		uint64_t sent, duration_ns;
		double asked_pps, mean_pps;     /* asked 0: max */
		double asked_l1_bps, mean_l1_bps;
		bool asked_max;
		bool ramps;                     /* a rate is on its way to another one: asked is that of this moment */
		bool rate_changed;              /* while it was sending: one number does not tell what was asked of all of it */
		uint64_t steady_ns;             /* since the rate or the frame last changed, or since the start */
		uint64_t bytes;                 /* of the frames sent, with FCS */
		uint64_t unsent;                /* frames that were due in this run and did not go */
	} run;                              /* the current or last run */
	struct cnt_tx tx;                   /* sums over queues */
	struct cnt_rx rx;
	struct snap_late late;              /* of all queues */
	uint64_t tx_errors;                 /* the device's */
	uint64_t rx_missed, rx_nombuf, rx_errors; /* the device's or kernel's */
	struct snap_rate tx_rate, rx_rate;
	struct snap_interval max;           /* highest full interval or mean of a run since open or clear, each number for itself */
	struct cnt_sizes tx_sizes, rx_sizes;
	unsigned nhistory;
	struct snap_interval *history;      /* the last full intervals, oldest first */
	struct snap_nic nic;
	unsigned nqueues;                   /* max of Rx and Tx queues */
	struct snap_queue *queue;
};

struct snap_worker {
	unsigned lcore;
	int cpu;
	int node;                           /* NUMA, -1: not known */
	double busy;                        /* share of the last interval spent with work, 0..1 */
	double wait;                        /* share of it that the thread was ready and had no CPU, 0..1; NAN: the system does not tell */
	double loops_per_s, pps;            /* turns; frames received and sent */
	double cycles_per_packet;           /* of the busy time; NAN: no frames */
	double stalls_per_s;                /* of its Tx queues */
	bool asleep;
	uint64_t loops, sleeps, yields, events_lost;
	/* Turns that took longer than over_ns, since open or clear. */
	struct { uint64_t count, total_ns, longest_ns, over_ns; } stall;
	uint64_t waited_ns;                 /* for a CPU, since open or clear */
	bool waited_known;
	uint64_t plan;                      /* number of the plan in use */
	unsigned tasks, rx_queues;
};

struct snap {
	uint64_t time_ns, wall_ns;          /* CLOCK_MONOTONIC_RAW, CLOCK_REALTIME */
	unsigned nports, nworkers;
	struct snap_port *port;
	struct snap_worker *worker;
};

void snap_free(struct snap *);
/* The whole snapshot as `show stats` prints it as JSON; app/schema.json describes it, and keys are only ever added. It is
 * {"show":"stats","time_ns":..,"ports":[..],"workers":[..]}. Counter keys come from the counter tables. Rates are null where there is nothing to
 * tell. Beside the counters:
 *	ports[].run       "state", "sent", "bytes", "duration_ns", "asked_pps" and "asked_l1_bps" (null: max), "asked_max", "rate_changed",
 *	                  "mean_pps", "mean_l1_bps", "unsent"
 *	ports[].tx, .rx   "errors", rx "missed", "nombuf"; "pps", "l1_bps"; "sizes": {"0-63", "64", ..} as in cnt_sizes_table
 *	ports[].tx        "lateness_ns": {"bursts", "p50", "p99", "max", "mean"} of struct snap_late, null: nothing was paced; also in queues[].tx
 *	ports[].max       {"tx": {"pps", "l1_bps"}, "rx": {..}}
 *	ports[].history   {"interval_ns": 1000000000, "tx_pps": [..], "rx_pps": [..], "tx_l1_bps": [..], "rx_l1_bps": [..]}, at most
 *	                  SNAP_HISTORY, oldest first
 *	ports[].queues[]  "queue", and of the sides that it has: tx "pps", "l1_bps", "dropped_pps", "stalls_per_s", "nombuf_per_s",
 *	                  "cycles_per_burst" (null: none), "worker"; rx "pps", "l1_bps", "cycles_per_burst", "worker"
 *	workers[]         "lcore", "cpu", "node" and "wait" (null: not known), "busy", "loops_per_s", "pps", "cycles_per_packet" (null: none),
 *	                  "stalls_per_s", "asleep", "loops", "sleeps", "yields", "events_lost", "plan", "tasks", "rx_queues"; since open or
 *	                  clear "stall": {"count", "total_ns", "longest_ns"} of turns that took longer than its "over_ns", and "waited_ns" for a
 *	                  CPU (null: the system does not tell)
 * New reference. */
json_t *snap_json(const struct snap *);
