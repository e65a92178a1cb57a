/* SPDX-License-Identifier: BSD-3-Clause */
/* What runs have come to, as a document. */
#pragma once
#include "stacks_end.h"

struct stacks_reading {
	struct stacks_sample asks, serves;
};
/* What a run has come to; NAN: nobody knows. */
struct stacks_found {
	double ns, moved, sent_bps, came_bps; /* moved: bytes that came */
	double done, bad, resent;
	double datagrams, lost, jitter_ns; /* of iperf3's UDP */
	double cpu_ns, cycles;             /* of both ends */
};
struct stacks_results;
struct stacks_results *stacks_results_new(const struct stacks_opts *);
void stacks_results_free(struct stacks_results *);
bool stacks_results_any(const struct stacks_results *);
void stacks_result_add(struct stacks_results *, const struct stacks_kind *, enum stacks_arm,
		       unsigned run, const char *device, const struct stacks_reading *first,
		       const struct stacks_reading *last);
/* The same of what has been found already. */
void stacks_result_put(struct stacks_results *, const struct stacks_kind *, enum stacks_arm,
		       unsigned run, const char *device, const struct stacks_found *);
json_t *stacks_results_json(const struct stacks_results *, bool complete);
