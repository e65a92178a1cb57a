/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of pktperf: its options and ports, its frames, and what it prints. */
#pragma once
#include "ctl.h"

struct perf {
	struct ctl_opts opts;
	const char **map, **port; /* of -m and -p; the caller frees map, port lies behind it */
	uint64_t burst, size, every_ns;
	struct rate rate; /* value 0 and not RATE_MAX: nothing is sent */
	bool help;
	struct ctl *ctl;        /* NULL: not open */
	struct portset senders; /* ports that are to send */
	unsigned prints;        /* how many blocks of rates there were */
};
/* Reads the options and checks them. 0, or -EINVAL with *e. */
int perf_args(struct perf *p, int argc, char **argv, struct err *e);
extern const char perf_help[];
/* Opens control as the options ask, and gives its ports their settings. Errors: see ctl_open(). */
int perf_open(struct perf *p, struct err *e);
/* Makes *spec the frames of one Tx queue: the last byte of their destination is the number of the
 * queue, and source ports run, so that a receiver spreads them. */
int perf_frame(struct frame_spec *spec, unsigned queue, struct err *e);

/* The rows of the table of queues, and what n queues together counted between two readings: counts
 * divided by seconds, and cycles by bursts (NAN: there were none). */
enum { PERF_RX, PERF_TX, PERF_FULL, PERF_DROP, PERF_NOMBUF, PERF_RX_TIME, PERF_TX_TIME, PERF_ROWS };
void perf_figures(const struct snap_queue *from, const struct snap_queue *to, unsigned n,
		  double seconds, double out[PERF_ROWS]);
/* Appends a block for each port that is used, of what happened between two snapshots: rates, or
 * counts where these are the totals. */
void perf_text(struct perf *p, const struct snap *from, const struct snap *to, bool totals,
	       struct sbuf *out);
