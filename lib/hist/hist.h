/* SPDX-License-Identifier: BSD-3-Clause */
/* Log-linear histograms of non-negative integers, with the bucket mathematics of HdrHistogram: values below 2^(bits + 1) have a slot each, above
 * that each power of two is divided into 2^bits slots, so that a value is known to 1 / 2^bits of itself. Slots are plain cells: one writer
 * (a worker), any reader. Sums of histograms of one shape are histograms. No DPDK. */
#pragma once
#include "count.h"

struct hist_shape {
	uint8_t bits;     /* 1..14: the stated error is 1 / 2^bits */
	uint8_t top;      /* bits + 1 .. 63: values from 2^top on are counted in `above` */
};

struct hist {
	struct hist_shape shape;
	uint32_t nslots;
	cell_t above;     /* values that are out of range: they count in hist_count(), and percentiles that fall among them say so */
	cell_t sum_lo, sum_hi; /* exact sum of all values in range, 127 bits; see hist_sum() */
	cell_t slot[];
};

/* In sum_hi while sum_lo passes 2^64: hi does not count it yet. */
#define HIST_CARRY (1ull << 63)

uint32_t hist_slots(struct hist_shape s);
size_t hist_size(struct hist_shape s);             /* bytes of a struct hist, a multiple of a cache line */
void hist_init(struct hist *h, struct hist_shape s); /* in zeroed memory of that size, aligned to a cache line */
struct hist *hist_new(struct hist_shape s);        /* empty, on the heap, for sums that readers make; free() it */

/* Slot of a value below 2^top. */
static inline uint32_t hist_slot(unsigned bits, uint64_t v)
{
	unsigned e = 63 - (unsigned)__builtin_clzll(v | (1ull << bits)); /* at least bits */

	return ((uint32_t)(e - bits) << bits) + (uint32_t)(v >> (e - bits));
}

/* Hot path: the writer's thread only. */
static inline void hist_add(struct hist *h, uint64_t v, uint64_t times)
{
	if (__builtin_expect(v >> h->shape.top != 0, 0)) {
		cell_add(&h->above, times);
		return;
	}
	cell_add(&h->slot[hist_slot(h->shape.bits, v)], times);
}
/* Sums are the writer's to add, once per burst, of the values in range alone; below 2^63: */
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

/* Readers, any thread. What is read may have a writer, except where it is `to` or `from` below that changes: then each slot is right and the slots
 * are not of one moment. A copy is: of it, the functions below all speak of the same values. */
struct hist *hist_copy(const struct hist *h);      /* new, free() it */
/* to += from. Associative and commutative among histograms of one shape. From another shape, each slot counts at its highest value (or above). */
void hist_merge(struct hist *to, const struct hist *from);
void hist_subtract(struct hist *from, const struct hist *base); /* what came since base was copied of it; same shape */
uint64_t hist_count(const struct hist *h);         /* values, those above included */
unsigned __int128 hist_sum(const struct hist *h);  /* of the values in range */
/* Lowest and highest value that the slot of v stands for; of those out of range 2^top and UINT64_MAX. */
uint64_t hist_lowest(const struct hist *h, uint64_t v);
uint64_t hist_highest(const struct hist *h, uint64_t v);
/* By slots: lowest value of the lowest, highest value of the highest one in use; UINT64_MAX from hist_max(): some are above. 0 values: 0. */
uint64_t hist_min(const struct hist *h);
uint64_t hist_max(const struct hist *h);
double hist_mean(const struct hist *h);            /* exact, of values in range; NAN: none */
double hist_stdev(const struct hist *h);           /* from the middles of slots, of values in range, about their mean; NAN: none */
/* The value that percent (0..100] of all values are at or below, as HdrHistogram counts: highest value of the slot in which the
 * ceil(percent / 100 * count)th lies. UINT64_MAX: among those above. No values: 0. */
uint64_t hist_percentile(const struct hist *h, double percent);
uint64_t hist_between(const struct hist *h, uint64_t from, uint64_t to); /* values in slots that lie in from..to as a whole */

/* Where slot i begins, and how many values it stands for. For those who walk slots. */
static inline uint64_t hist_slot_width(unsigned bits, uint32_t i) { return i >> bits == 0 ? 1 : 1ull << ((i >> bits) - 1); }
static inline uint64_t hist_slot_begin(unsigned bits, uint32_t i)
{
	return i >> bits == 0 ? i : ((uint64_t)(i & ((1u << bits) - 1)) + (1ull << bits)) << ((i >> bits) - 1);
}
