/* SPDX-License-Identifier: BSD-3-Clause */
/* What readers compute from histograms: see hist.h. */
#include "hist.h"

#include <math.h>

/* How many buckets a histogram of this shape has. */
static uint32_t hist_buckets(struct hist_shape s)
{
	return (uint32_t)(s.top - s.bits + 1) << s.bits;
}

size_t hist_size(struct hist_shape s)
{
	return (sizeof(struct hist) + hist_buckets(s) * sizeof(cell_t) + CACHE_LINE - 1) /
	       CACHE_LINE * CACHE_LINE;
}

void hist_init(struct hist *h, struct hist_shape s)
{
	h->shape = s;
	h->nbuckets = hist_buckets(s);
}

struct hist *hist_new(struct hist_shape s)
{
	struct hist *h = xcalloc(1, hist_size(s));

	hist_init(h, s);
	return h;
}

static void set_sum(struct hist *h, unsigned __int128 sum)
{
	cell_set(&h->sum_lo, (uint64_t)sum);
	cell_set(&h->sum_hi, (uint64_t)(sum >> 64));
}

/* If sum_hi has the same value before and after sum_lo is read, both halves belong together. If
 * HIST_CARRY is set in it, the writer was just making sum_lo wrap at 2^64. Then sum_lo itself says
 * whether it has wrapped already: one burst adds less than 2^63, so it is low after the wrap and
 * high before. */
unsigned __int128 hist_sum(const struct hist *h)
{
	uint64_t hi, lo;

	do {
		hi = __atomic_load_n(&h->sum_hi, __ATOMIC_ACQUIRE);
		lo = __atomic_load_n(&h->sum_lo, __ATOMIC_ACQUIRE);
	} while (hi != cell_get(&h->sum_hi)); /* it changes once in 2^64, so this loop ends */
	if ((hi & HIST_CARRY) != 0)
		hi = (hi & ~HIST_CARRY) + (lo < 1ull << 63);
	return (unsigned __int128)hi << 64 | lo;
}

struct hist *hist_copy(const struct hist *h)
{
	struct hist *c = hist_new(h->shape);

	hist_merge(c, h);
	return c;
}

static uint64_t bucket_highest(const struct hist *h, uint32_t i)
{
	return hist_bucket_begin(h->shape.bits, i) + hist_bucket_width(h->shape.bits, i) - 1;
}

void hist_merge(struct hist *to, const struct hist *from)
{
	unsigned __int128 sum = hist_sum(to) + hist_sum(from);
	bool same = to->shape.bits == from->shape.bits && to->shape.top == from->shape.top;

	for (uint32_t i = 0; i < from->nbuckets; i++) {
		uint64_t n = cell_get(&from->bucket[i]);
		if (n == 0)
			continue;
		if (same)
			cell_add(&to->bucket[i], n);
		else
			hist_add(to, bucket_highest(from, i), n);
	}
	cell_add(&to->above, cell_get(&from->above));
	set_sum(to, sum);
}

void hist_subtract(struct hist *from, const struct hist *base)
{
	for (uint32_t i = 0; i < from->nbuckets && i < base->nbuckets; i++)
		cell_set(&from->bucket[i], cell_get(&from->bucket[i]) - cell_get(&base->bucket[i]));
	cell_set(&from->above, cell_get(&from->above) - cell_get(&base->above));
	set_sum(from, hist_sum(from) - hist_sum(base));
}

static uint64_t in_range(const struct hist *h)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < h->nbuckets; i++)
		n += cell_get(&h->bucket[i]);
	return n;
}

uint64_t hist_count(const struct hist *h)
{
	return in_range(h) + cell_get(&h->above);
}

uint64_t hist_lowest(const struct hist *h, uint64_t v)
{
	return v >> h->shape.top != 0
		       ? 1ull << h->shape.top
		       : hist_bucket_begin(h->shape.bits, hist_bucket(h->shape.bits, v));
}

uint64_t hist_highest(const struct hist *h, uint64_t v)
{
	return v >> h->shape.top != 0 ? UINT64_MAX
				      : bucket_highest(h, hist_bucket(h->shape.bits, v));
}

uint64_t hist_min(const struct hist *h)
{
	for (uint32_t i = 0; i < h->nbuckets; i++)
		if (cell_get(&h->bucket[i]) != 0)
			return hist_bucket_begin(h->shape.bits, i);
	return cell_get(&h->above) != 0 ? 1ull << h->shape.top : 0;
}

uint64_t hist_max(const struct hist *h)
{
	if (cell_get(&h->above) != 0)
		return UINT64_MAX;
	for (uint32_t i = h->nbuckets; i-- > 0;)
		if (cell_get(&h->bucket[i]) != 0)
			return bucket_highest(h, i);
	return 0;
}

double hist_mean(const struct hist *h)
{
	uint64_t n = in_range(h);

	return n == 0 ? NAN : (double)((long double)hist_sum(h) / (long double)n);
}

static long double hist_middle(const struct hist *h, uint32_t i)
{
	return (long double)hist_bucket_begin(h->shape.bits, i) +
	       (long double)(hist_bucket_width(h->shape.bits, i) - 1) / 2;
}

double hist_stdev(const struct hist *h)
{
	long double sum = 0, squares = 0, n = 0;

	for (uint32_t i = 0; i < h->nbuckets; i++) {
		sum += (long double)cell_get(&h->bucket[i]) * hist_middle(h, i);
		n += (long double)cell_get(&h->bucket[i]);
	}
	if (n == 0)
		return NAN;
	for (uint32_t i = 0; i < h->nbuckets; i++) {
		long double away = hist_middle(h, i) - sum / n;
		squares += (long double)cell_get(&h->bucket[i]) * away * away;
	}
	return (double)sqrtl(squares / n);
}

/* A decimal number such as 99.9 is not exactly a double, and the nearest double may be larger. The
 * next smaller double is used, so that a rank that comes out whole (999 of 1000) is not rounded up
 * to the next one. */
uint64_t hist_percentile(const struct hist *h, double percent)
{
	uint64_t n = hist_count(h), seen = 0, rank;

	if (n == 0)
		return 0;
	rank = percent > 0
		       ? (uint64_t)ceill((long double)nextafter(percent > 100 ? 100 : percent, 0) /
					 100 * (long double)n)
		       : 0;
	if (rank == 0)
		rank = 1;
	for (uint32_t i = 0; i < h->nbuckets; i++) {
		seen += cell_get(&h->bucket[i]);
		if (seen >= rank)
			return bucket_highest(h, i);
	}
	return UINT64_MAX;
}

uint64_t hist_between(const struct hist *h, uint64_t from, uint64_t to)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < h->nbuckets; i++)
		if (hist_bucket_begin(h->shape.bits, i) >= from && bucket_highest(h, i) <= to)
			n += cell_get(&h->bucket[i]);
	return n;
}
