/* SPDX-License-Identifier: BSD-3-Clause */
/* What runs have come to, as a document. */
#pragma once
#include "stacks_end.h"

struct stacks_reading {
	struct stacks_sample asks, serves;
};
struct stacks_results;
struct stacks_results *stacks_results_new(const struct stacks_opts *);
void stacks_results_free(struct stacks_results *);
bool stacks_results_any(const struct stacks_results *);
void stacks_result_add(struct stacks_results *, const struct stacks_kind *, enum stacks_arm,
		       unsigned run, const char *device, const struct stacks_reading *first,
		       const struct stacks_reading *last);
json_t *stacks_results_json(const struct stacks_results *, bool complete);
