/* SPDX-License-Identifier: BSD-3-Clause */
/* The workers' half of ICMP errors about what the port has sent: each is judged, given to whom it
 * is about, and counted. Those about pings were claimed before. */
#pragma once
#include "host_run.h"
#include "neigh_error_run.h"

#define HOST_ERROR_SENT 256 /* streams that errors are told from each other of */

/* A sort of what errors say, for counts of streams. */
enum host_error_sort {
	HOST_ERROR_UNREACHABLE,
	HOST_ERROR_TOO_BIG,
	HOST_ERROR_EXCEEDED,
	HOST_ERROR_OTHER,
	HOST_ERROR_SORTS
};

struct host_error_stream {
	cell_t n[HOST_ERROR_SORTS];
	cell_t shared; /* errors that are about frames of other streams, too */
};

struct host_error_state {
	struct dp_state base;
	cell_t kind[NEIGH_ERROR_KINDS];    /* errors about streams */
	struct host_error_stream stream[]; /* by cell */
};

struct host_error_job {
	unsigned nlinks;
	const struct host_job_link *link;
	struct host_state *host; /* of this worker: what is refused is counted there */
	unsigned nsent;
	struct neigh_sent sent[HOST_ERROR_SENT]; /* of: the cell of the stream */
};

extern const struct dp_kind dp_kind_host_error;
dp_sort_fn host_error_claims; /* arg: struct host_error_job */
