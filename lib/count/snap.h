/* SPDX-License-Identifier: BSD-3-Clause */
/* A snapshot: all cells and device counters, read in one pass, with the time of that pass. The
 * baselines of the last `clear` are already subtracted. Pages, `show`, CSV, JSON and Lua read
 * snapshots. A snapshot is plain data, and its owner frees it with snap_free(). No DPDK. */
#pragma once
#include <jansson.h>
#include "count.h"

/* LINK_GONE: the kernel's interface was deleted, and the port has no other one. */
enum snap_link { LINK_DOWN, LINK_UP, LINK_UNKNOWN, LINK_GONE };
const char *snap_link_name(enum snap_link); /* "down", "up", "unknown" or "deleted" */
enum snap_run { RUN_IDLE, RUN_SENDING, RUN_DRAINING };

struct snap_rate {
	double pps, l1_bps;
};

/* Rates in one interval of the 1 s timer. A history has one entry for each second: if the timer
 * came late, so that the interval lasted several seconds, it is entered once for each of them. */
#define SNAP_HISTORY 60
#define SNAP_INTERVAL_NS 1000000000ull
struct snap_interval {
	struct snap_rate tx, rx;
};

/* The rates of a queue in the last full interval of the 1 s timer. A member that is not in tx or rx
 * has a row in one of the tables below. */
struct snap_queue_rates {
	struct snap_rate tx, rx;
	double dropped_pps, stalls_per_s, nombuf_per_s;
	/* Cycles that a burst costs: tx_cycles to build and send it, rx_cycles to receive it and
	 * hand it to its owner. NAN: no burst was sampled. */
	double tx_cycles, rx_cycles;
};
/* A row describes one of these rates: its name in JSON and CSV, its place in struct
 * snap_queue_rates, and what it is made from: the counter at `of` in struct cnt_queue, divided by
 * the one at `per`, or by the seconds of the interval. */
struct snap_rate_row {
	const char *name;
	uint32_t offset, of, per;
};
#define SNAP_SECONDS UINT32_MAX /* as `per` */
/* What a queue tells of each direction. Each table ends with a row whose name is NULL. */
extern const struct snap_rate_row snap_tx_rates[], snap_rx_rates[];
/* Works out all rates that have rows, from what a queue counted in an interval. Without anything to
 * divide by a rate is NAN. */
void snap_queue_rates(struct snap_queue_rates *out, const struct cnt_queue *counted,
		      double seconds);

/* How long after its deadline the first frame of each burst left, in ns, known to 1 / 64. count is
 * the number of bursts; if it is 0 the other members mean nothing. max is UINT64_MAX if some burst
 * was later than can be measured. */
struct snap_late {
	uint64_t count, p50, p99, max;
	double mean;
};

struct snap_queue {
	bool has_tx, has_rx;
	struct cnt_tx tx;
	struct cnt_rx rx;
	struct cnt_times tx_times, rx_times;
	struct snap_late late;
	struct snap_queue_rates rates;
	int tx_worker, rx_worker; /* lcores; -1: none */
};

/* The device's or the kernel's own numbers since open or the last `clear`. has_*: whether the
 * source tells this number. */
struct snap_nic {
	/* "device", "kernel", "software" (wire: counted by us) */
	const char *source;
	uint64_t tx_packets, tx_bytes, tx_errors, rx_packets, rx_bytes, rx_errors;
	bool has_tx_packets, has_tx_bytes, has_rx_packets, has_rx_bytes;
	/* Frames that were handed to the kernel and that tx_packets does not count. The number
	 * means something after `wait`. Only ports of the kernel have it. */
	uint64_t unconfirmed;
	bool has_unconfirmed;
};

struct snap_port {
	unsigned port;
	char name[64]; /* "wire0", "if:eth1" */
	bool used;     /* named by the map */
	enum snap_link link;
	uint64_t speed_mbps;
	enum snap_run state;
	struct {
		uint64_t sent, duration_ns;
		double asked_pps, mean_pps; /* asked_pps 0: as fast as possible */
		double asked_l1_bps, mean_l1_bps;
		bool asked_max; /* as fast as possible is asked for */
		bool unasked;   /* frames of connections, too: nobody asked for a rate of them */
		/* A rate is moving to another one; asked_* are what is asked at this moment. */
		bool ramps;
		/* The rate changed while the port was sending: asked_* do not hold for the whole
		 * run. */
		bool rate_changed;
		uint64_t steady_ns; /* since a start or a change of rate or frame */
		uint64_t bytes;     /* of the frames sent, with FCS */
		uint64_t unsent;    /* frames that were due in this run and not sent */
	} run;                      /* the current run, or the last one */
	struct cnt_tx tx;           /* sums over queues */
	struct cnt_rx rx;
	struct snap_late late;                    /* of all queues */
	uint64_t tx_errors;                       /* the device's */
	uint64_t rx_missed, rx_nombuf, rx_errors; /* the device's or kernel's */
	struct snap_rate tx_rate, rx_rate;
	/* The highest rates since open or clear. Each number is a maximum of its own, over all full
	 * intervals and the means of all runs. */
	struct snap_interval max;
	struct cnt_sizes tx_sizes, rx_sizes;
	unsigned nhistory;
	struct snap_interval *history; /* the last full intervals, oldest first */
	struct snap_nic nic;
	/* Errors about frames of its streams; known false: it is no host, or they are not told. */
	struct cnt_icmp icmp;
	bool icmp_known;
	unsigned nqueues; /* max of Rx and Tx queues */
	struct snap_queue *queue;
};

struct snap_worker {
	unsigned lcore;
	int cpu;
	int node;    /* NUMA node; -1: not known */
	double busy; /* share of the last interval spent with work, 0..1 */
	/* Share of the last interval in which the thread was ready to run and had no CPU, 0..1.
	 * NAN: the system does not tell. */
	double wait;
	double loops_per_s, pps;  /* turns; frames received and sent */
	double cycles_per_packet; /* busy cycles for each frame; NAN: no frames */
	double stalls_per_s;      /* of its Tx queues */
	bool asleep;
	uint64_t loops, sleeps, yields, events_lost;
	/* Turns that took longer than over_ns, since open or clear. */
	struct {
		uint64_t count, total_ns, longest_ns, over_ns;
	} stall;
	uint64_t waited_ns; /* how long it waited for a CPU, since open or clear */
	bool waited_known;  /* false: the system does not tell waited_ns */
	uint64_t plan;      /* number of the plan in use */
	unsigned tasks, rx_queues;
};

struct snap {
	uint64_t time_ns, wall_ns; /* CLOCK_MONOTONIC_RAW, CLOCK_REALTIME */
	unsigned nports, nworkers;
	struct snap_port *port;
	struct snap_worker *worker;
};

/* Frees all that the snapshot owns and zeroes it; the struct itself is the caller's. NULL is
 * allowed. */
void snap_free(struct snap *);
/* Returns the whole snapshot as JSON, as `show stats --json` prints it; a new reference.
 * app/schema.json describes it, and keys are only ever added. It is
 * {"show":"stats","time_ns":..,"wall_ns":..,"ports":[..],"workers":[..]}. The keys of counters are
 * the names in the tables of count.h. A rate is null where there is nothing to tell. These keys
 * are there beside the counters:
 *	ports[]           "port", "name", "link", "speed_mbps", "used"
 *	ports[].run       "state", "sent", "bytes", "duration_ns", "steady_ns", "asked_pps" and
 *	                  "asked_l1_bps" (null: as fast as possible, or nobody asked for a
 *	                  rate of all frames), "asked_max", "rate_changed",
 *	                  "mean_pps", "mean_l1_bps", "unsent"
 *	ports[].tx, .rx   "errors", "pps", "l1_bps", "sizes": {"0-63", "64", ..} as in
 *	                  cnt_sizes_table; rx has "missed" and "nombuf" too
 *	ports[].tx        "lateness_ns": {"bursts", "p50", "p99", "max", "mean"} of struct snap_late
 *	                  (null: nothing was paced); queues[].tx has it too
 *	ports[].max       {"tx": {"pps", "l1_bps"}, "rx": {..}}
 *	ports[].history   {"interval_ns": 1000000000, "tx_pps": [..], "rx_pps": [..],
 *	                  "tx_l1_bps": [..], "rx_l1_bps": [..]}, at most SNAP_HISTORY values each,
 *	                  the oldest first
 *	ports[].nic       of struct snap_nic: "source", "tx" and "rx" with "packets", "bytes" and
 *	                  "errors", "unconfirmed"; what the source does not tell is left out
 *	ports[].icmp_errors  the names in cnt_icmp_table; null: the port is no host, or has more
 *	                  streams than errors are told of
 *	ports[].queues[]  "queue", and for each direction that the queue has: tx and rx with "pps",
 *	                  "l1_bps", "worker", and the names in snap_tx_rates and snap_rx_rates
 *	                  (null: nothing was sampled)
 *	workers[]         "lcore", "cpu", "node" and "wait" (null: not known), "busy",
 *	                  "loops_per_s", "pps", "cycles_per_packet" (null: no frames),
 *	                  "stalls_per_s", "asleep", "loops", "sleeps", "yields", "events_lost",
 *	                  "plan", "tasks", "rx_queues"; and, since open or clear, "stall":
 *	                  {"count", "total_ns", "longest_ns"} of turns that took longer than its
 *	                  "over_ns", and "waited_ns" for a CPU (null: the system does not tell) */
json_t *snap_json(const struct snap *);
