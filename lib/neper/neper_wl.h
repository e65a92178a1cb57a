/* SPDX-License-Identifier: BSD-3-Clause */
/* The records of neper's workloads that those of lib/workload do not fit: datagrams of `bytes` and
 * `stream` begin with 8 bytes of their own, at least, and neper's are of any size and have none;
 * and each transaction is to be told in ns, for the exact minimum, maximum and deviation, and for
 * --log-rtt. tcp_stream is the record `stream`. */
#pragma once
#include "workload_run.h"

struct neper_epoch {
	uint64_t n, min, max, sum; /* ns */
	double squares;
};
struct neper_times {
	/* Since the beginning; since the last sample, and if connections are counted together that
	 * of the sample before, which control reads meanwhile: `at` says which one is added to. */
	struct neper_epoch all, now[2];
	cell_t at;
	struct hist *hist; /* in units of NEPER_TICK ns; NULL: not wanted */
	uint64_t last_ns;  /* when the last transaction was over */
	struct neper_rtt {
		uint64_t at, ns;
		uint32_t flow; /* of those that are counted together */
	} * log;
	uint64_t nlog, log_most;
	/* Of these, too: how many lines of the log each flow has, of flow_most; and the numbers
	 * that no connection has. NULL: they have none. */
	uint32_t *flow_log, *free;
	uint32_t flow_most, nfree;
	/* When the next transaction of all is due; 0: none was. This is number `slot` of `slots`
	 * that take them in turn. */
	uint64_t slot_ns;
	uint32_t slot, slots;
	/* Of connections that are counted together, to see in `flow.connect` how long this one
	 * took: the turn, and what others of it had added. */
	uint64_t turn_ns, turn_sum;
	cell_t excess; /* bytes that nobody had asked for */
	cell_t lost;   /* requests over UDP without an answer */
};
#define NEPER_TICK 10
#define NEPER_SHAPE ((struct hist_shape){.bits = 6, .top = 40})

struct neper_wl_conf {
	uint64_t request, response; /* bytes */
	uint32_t piece;             /* UDP: most bytes of a datagram */
	bool again;                 /* a connection for each transaction, timed from the last one */
	bool no_close;              /* it is not reset behind it, nor in the end, but closed */
	bool chain;                 /* go() begins the first transaction alone */
	uint64_t budget;            /* of all connections together; 0: without end */
	cell_t *taken;              /* and what they have begun of it */
	uint64_t timeout_ns;        /* UDP: a request without an answer is lost */
	/* The rest is for arms that know no sock_spec, where the record itself keeps the times that
	 * are there. piece: so many bytes are sent at a time over TCP, too. */
	uint64_t every_ns, slot_ns, gap_ns, byte_fraction, burst_ns;
	struct neper_split *split; /* each connection has one direction; NULL: it has both */
};
/* What connections that have one direction each know of each other, on all threads. */
struct neper_split {
	uint64_t opened;   /* a client's */
	uint64_t began_ns; /* when a server's first bytes came; 0: none have */
};
/* flow.own is a struct neper_times of a line. */
extern const struct workload neper_rr, neper_datagrams;
/* Messages of conf->piece bytes one way or both, without end, at the times of gap_ns and
 * byte_fraction. piece 0: this end sends none. With conf->split a client sends on every other
 * connection, and a server on those on which nothing comes. */
extern const struct workload neper_pieces;
