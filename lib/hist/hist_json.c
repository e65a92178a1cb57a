/* SPDX-License-Identifier: BSD-3-Clause */
#include "hist_json.h"

#include <math.h>

#include "base.h"

json_t *real_json(double v)
{
	return isfinite(v) ? json_real(v) : json_null();
}

json_t *whole_json(uint64_t v)
{
	return v != UINT64_MAX ? json_integer((json_int_t)v) : json_null();
}

/* The percentiles that are given, and how many samples each one needs. */
static const struct {
	const char *name;
	double percent;
	uint64_t samples;
} percentiles[] = {
	{"p50", 50, 2},
	{"p90", 90, 10},
	{"p95", 95, 20},
	{"p99", 99, 100},
	{"p99_9", 99.9, 1000},
	{"p99_99", 99.99, 10000},
	{"p99_999", 99.999, 100000},
};

/* Subtracts the tester's own share from a value. UINT64_MAX, which is beyond the range of the
 * histogram, stays. */
static uint64_t hist_json_less(uint64_t v, uint64_t less_ns)
{
	return v == UINT64_MAX ? v : v > less_ns ? v - less_ns : 0;
}

json_t *hist_json(const struct hist *h, uint64_t less_ns)
{
	json_t *o = json_object(), *pct = json_object();
	uint64_t n = h != NULL ? hist_count(h) : 0;

	for (size_t i = 0; i < ARRAY_SIZE(percentiles); i++)
		json_object_set_new(pct, percentiles[i].name,
				    n < percentiles[i].samples
					    ? json_null()
					    : whole_json(hist_json_less(
						      hist_percentile(h, percentiles[i].percent),
						      less_ns)));
	json_object_set_new(o, "samples", json_integer((json_int_t)n));
	json_object_set_new(o, "error",
			    h != NULL ? json_real(1.0 / (double)(1u << h->shape.bits))
				      : json_null());
	json_object_set_new(o, "above",
			    json_integer(h != NULL ? (json_int_t)cell_get(&h->above) : 0));
	json_object_set_new(o, "min_ns",
			    n > 0 ? whole_json(hist_json_less(hist_min(h), less_ns)) : json_null());
	json_object_set_new(o, "mean_ns",
			    n > 0 ? real_json(fmax(hist_mean(h) - (double)less_ns, 0))
				  : json_null());
	json_object_set_new(o, "max_ns",
			    n > 0 ? whole_json(hist_json_less(hist_max(h), less_ns)) : json_null());
	json_object_set_new(o, "stdev_ns", n > 1 ? real_json(hist_stdev(h)) : json_null());
	/* RFC 5481 4.2 and 6.5: the variation is measured from the smallest delay. */
	uint64_t high = n >= 1000 ? hist_percentile(h, 99.9) : UINT64_MAX;
	json_object_set_new(o, "pdv_ns",
			    high != UINT64_MAX ? whole_json(high - hist_min(h)) : json_null());
	json_object_set_new(o, "percentiles_ns", pct);
	return o;
}

#define BINS_PER_OCTAVE 16
#define BINS_MOST 1024

json_t *hist_bins_json(const struct hist *h)
{
	uint64_t bin[BINS_MOST] = {0};
	uint32_t last = 0;

	if (h == NULL || hist_count(h) == cell_get(&h->above))
		return json_null();
	uint64_t low = hist_min(h) > 0 ? hist_min(h) : 1;
	for (uint32_t i = 0; i < h->nbuckets; i++) {
		uint64_t n = cell_get(&h->bucket[i]), v = hist_bucket_begin(h->shape.bits, i);
		if (n == 0)
			continue;
		double at = v > low ? log2((double)v / (double)low) * BINS_PER_OCTAVE : 0;
		uint32_t to = at < BINS_MOST ? (uint32_t)at : BINS_MOST - 1;
		bin[to] += n;
		last = to;
	}
	json_t *counts = json_array();
	for (uint32_t i = 0; i <= last; i++)
		json_array_append_new(counts, json_integer((json_int_t)bin[i]));
	return json_pack("{s:I, s:i, s:o}", "from_ns", (json_int_t)low, "per_octave",
			 BINS_PER_OCTAVE, "counts", counts);
}
