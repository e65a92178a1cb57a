/* SPDX-License-Identifier: BSD-3-Clause */
/* A snapshot: all cells and device counters read in one pass, with its time, baselines of `clear` already subtracted. What pages, show,
 * CSV, JSON and Lua read. Plain data; the owner frees with snap_free(). No DPDK. */
#pragma once
#include <jansson.h>
#include "count.h"

enum snap_link { LINK_DOWN, LINK_UP, LINK_UNKNOWN };
enum snap_run { RUN_IDLE, RUN_SENDING, RUN_DRAINING };

struct snap_rate { double pps, l1_bps; };

struct snap_queue {
	bool has_tx, has_rx;
	struct cnt_tx tx;
	struct cnt_rx rx;
	struct snap_rate tx_rate, rx_rate; /* last full interval of the 1 s timer */
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
		bool asked_max;
		bool rate_changed;              /* while it was sending: one number does not tell what was asked of all of it */
		uint64_t steady_ns;             /* since the rate or the frame last changed */
		uint64_t bytes;                 /* of the frames sent, with FCS */
	} run;                              /* the current or last run */
	struct cnt_tx tx;                   /* sums over queues */
	struct cnt_rx rx;
	uint64_t tx_errors;                 /* the device's */
	uint64_t rx_missed, rx_nombuf, rx_errors; /* the device's or kernel's */
	struct snap_rate tx_rate, rx_rate;
	struct snap_nic nic;
	unsigned nqueues;                   /* max of Rx and Tx queues */
	struct snap_queue *queue;
};

struct snap_worker {
	unsigned lcore;
	int cpu;
	double busy;                        /* share of the last interval spent with work, 0..1 */
	bool asleep;
	uint64_t loops, sleeps, yields, events_lost;
	uint64_t plan;                      /* number of the plan in use */
	unsigned tasks, rx_queues;
};

struct snap {
	uint64_t time_ns, wall_ns;          /* CLOCK_MONOTONIC_RAW, CLOCK_REALTIME */
	unsigned nports, nworkers;
	struct snap_port *port;
	struct snap_worker *worker;
};

/* Further keys of the JSON form, on the way: present when their numbers are, so readers must take a missing one as "not known".
 *	ports[].max         {"tx":{"pps","l1_bps"},"rx":{"pps","l1_bps"}}: highest full interval since open or clear
 *	ports[].history     {"interval_ns":1000000000,"tx_pps":[..],"rx_pps":[..],"tx_l1_bps":[..],"rx_l1_bps":[..]}: the last 60 full
 *	                    intervals at most,
 *	                    oldest first
 *	ports[].rx.sizes, ports[].tx.sizes   {"0-63","64","65-127","128-255","256-511","512-1023","1024-1522","1523-"}: frames by size
 *	                    with FCS, counted
 *	                    by our workers; ports[].rx.broadcast, .multicast: likewise
 *	ports[].queues[].tx "bursts","cycles_per_burst" (mean of the last interval, null: none), "dropped_pps","stalls_per_s","nombuf_per_s"
 *	ports[].queues[].rx "bursts","cycles_per_burst","full" (bursts that came back full)
 *	workers[]           "loops_per_s","pps","cycles_per_packet" (null: none),"wait" (share of the last interval that the thread
 *	                    was ready and had no
 *	                    CPU, 0..1),"stalls_per_s","node" */
void snap_free(struct snap *);
/* The whole snapshot in the form of DESIGN 4 "show stats" (keys are only ever added): {"show":"stats","time_ns":..,"ports":[..],
 * "workers":[..]}. Counter keys come from the counter tables. New reference. */
json_t *snap_json(const struct snap *);
