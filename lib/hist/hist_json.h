/* SPDX-License-Identifier: BSD-3-Clause */
/* Histograms of times as JSON. No DPDK. */
#pragma once
#include <jansson.h>

#include "hist.h"

/* A histogram of values in ns: {"samples","error","above","min_ns","mean_ns","max_ns","stdev_ns",
 * "pdv_ns","percentiles_ns":{"p50",..,"p99_9",..}}. A member is null if there are too few samples
 * for it. less_ns is subtracted from each value, down to 0. h NULL: there are no samples. New
 * reference. */
json_t *hist_json(const struct hist *h, uint64_t less_ns);
/* Its values in bins of equal width on a logarithmic scale, for a drawing: {"from_ns",
 * "per_octave","counts":[...]}, null: there are none. New reference. */
json_t *hist_bins_json(const struct hist *h);

json_t *real_json(double v);    /* null for what is not finite */
json_t *whole_json(uint64_t v); /* null for UINT64_MAX */
