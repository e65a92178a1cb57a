/* SPDX-License-Identifier: BSD-3-Clause */
/* Log-linear histograms of non-negative integers, with the bucket mathematics of HdrHistogram.
 * Each value below 2^(bits + 1) has a bucket of its own. Above that, each power of two is divided
 * into 2^bits buckets, so that a value is known to 1 / 2^bits of itself. Buckets are plain cells:
 * one thread writes them (a worker), and any thread reads them. Histograms of one shape can be
 * added up bucket by bucket. No DPDK. */
#pragma once
#include "count.h"

struct hist_shape {
	uint8_t bits; /* 1..14: the stated error is 1 / 2^bits */
	uint8_t top;  /* bits + 1 .. 63: values from 2^top on are counted in `above` */
};

struct hist {
	struct hist_shape shape;
	uint32_t nbuckets;
	/* How many values were out of range. hist_count() counts them too, and a percentile that
	 * falls among them is UINT64_MAX. */
	cell_t above;
	cell_t sum_lo, sum_hi; /* exact sum of all values in range, 127 bits; see hist_sum() */
	cell_t bucket[];
};

/* The writer sets this bit in sum_hi while it makes sum_lo wrap at 2^64: as long as the bit is
 * set, sum_hi does not count that wrap yet. */
#define HIST_CARRY (1ull << 63)

size_t hist_size(struct hist_shape s); /* bytes of a struct hist, a multiple of a cache line */
/* Makes an empty histogram in h, which is zeroed memory of hist_size() bytes, aligned to a cache
 * line. */
void hist_init(struct hist *h, struct hist_shape s);
/* Returns an empty histogram on the heap, for sums that readers make. The caller frees it with
 * free(). */
struct hist *hist_new(struct hist_shape s);

/* The number of the bucket in which a value below 2^top is counted. */
static inline uint32_t hist_bucket(unsigned bits, uint64_t v)
{
	unsigned e = 63 - (unsigned)__builtin_clzll(v | (1ull << bits)); /* at least bits */

	return ((uint32_t)(e - bits) << bits) + (uint32_t)(v >> (e - bits));
}

/* Counts the value v so many times, but does not add it to the sum: see hist_add_sum(). Hot path,
 * on the writer's thread only. */
static inline void hist_add(struct hist *h, uint64_t v, uint64_t times)
{
	if (__builtin_expect(v >> h->shape.top != 0, 0)) {
		cell_add(&h->above, times);
		return;
	}
	cell_add(&h->bucket[hist_bucket(h->shape.bits, v)], times);
}
/* Adds to the sum of values. The writer calls it once per burst, with the sum of those values of
 * the burst that are in range; that sum must be below 2^63. */
static inline void hist_add_sum(struct hist *h, uint64_t sum)
{
	uint64_t lo = cell_get(&h->sum_lo) + sum, hi;

	if (__builtin_expect(lo < sum, 0)) {
		hi = cell_get(&h->sum_hi);
		cell_set(&h->sum_hi, hi | HIST_CARRY);
		__atomic_store_n(&h->sum_lo, lo, __ATOMIC_RELEASE);
		__atomic_store_n(&h->sum_hi, hi + 1, __ATOMIC_RELEASE);
		return;
	}
	cell_set(&h->sum_lo, lo);
}

/* Functions for readers, on any thread. A histogram that is only read may have a writer meanwhile:
 * then each bucket is right, but the buckets are not of one moment. Whoever needs several results
 * about the same values makes a copy first and asks the copy. A histogram that a function changes
 * (`to` of hist_merge(), `from` of hist_subtract()) must not have another writer. */

/* Returns a copy on the heap. The caller frees it with free(). */
struct hist *hist_copy(const struct hist *h);
/* Adds `from` to `to`. Among histograms of one shape the order of additions does not matter. If
 * `from` has another shape, the values of each of its buckets count as the highest value that the
 * bucket stands for; they are out of range if `to` does not reach that far. */
void hist_merge(struct hist *to, const struct hist *from);
/* Leaves in `from` what was counted since `base` was copied from it. Both have the same shape. */
void hist_subtract(struct hist *from, const struct hist *base);
/* How many values were counted, those out of range included. */
uint64_t hist_count(const struct hist *h);
/* The exact sum of the values in range. */
unsigned __int128 hist_sum(const struct hist *h);
/* The lowest and the highest value that the bucket of v stands for. If v is out of range they are
 * 2^top and UINT64_MAX. */
uint64_t hist_lowest(const struct hist *h, uint64_t v);
uint64_t hist_highest(const struct hist *h, uint64_t v);
/* The smallest and the largest value, as exactly as buckets tell: hist_min() is the lowest value
 * that the first bucket in use stands for (2^top if all values are out of range), hist_max() the
 * highest value that the last bucket in use stands for (UINT64_MAX if any value is out of range).
 * Both are 0 if there are no values. */
uint64_t hist_min(const struct hist *h);
uint64_t hist_max(const struct hist *h);
/* The mean of the values in range; it is exact. NAN: there are none. */
double hist_mean(const struct hist *h);
/* The standard deviation of the values in range about their mean, where each value counts as the
 * middle of its bucket. NAN: there are none. */
double hist_stdev(const struct hist *h);
/* The value at or below which `percent` (0..100] of all values lie. As HdrHistogram does, it is
 * the highest value of the bucket that holds the value of rank ceil(percent / 100 * count).
 * UINT64_MAX: that value is out of range. 0: there are no values. */
uint64_t hist_percentile(const struct hist *h, double percent);
/* How many values lie in buckets of which the whole lies in from..to. */
uint64_t hist_between(const struct hist *h, uint64_t from, uint64_t to);

/* How many values bucket i stands for, and the lowest of them. For callers that walk the
 * buckets. */
static inline uint64_t hist_bucket_width(unsigned bits, uint32_t i)
{
	return i >> bits == 0 ? 1 : 1ull << ((i >> bits) - 1);
}
static inline uint64_t hist_bucket_begin(unsigned bits, uint32_t i)
{
	return i >> bits == 0
		       ? i
		       : ((uint64_t)(i & ((1u << bits) - 1)) + (1ull << bits)) << ((i >> bits) - 1);
}
