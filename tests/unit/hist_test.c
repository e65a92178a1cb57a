/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares histograms with sorted lists of the same values. All values come from fixed seeds.
 * tests/hist has the log read by another program. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "effort.h"
#include "hist.h"

#define MANY 100000

static const struct hist_shape shapes[] = {{1, 2},   {1, 63},  {4, 5},   {6, 36}, {7, 40},
					   {10, 36}, {10, 63}, {14, 20}, {14, 63}};

/* Returns a random number by splitmix64. */
static uint64_t next_random(uint64_t *seed)
{
	uint64_t z = *seed += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

static double unit(uint64_t *seed)
{
	return (double)(next_random(seed) >> 11) / 9007199254740992.0;
}

enum kind { CONSTANT, UNIFORM, EXPONENTIAL, LOGARITHMIC, TWO_PEAKS, RAMP, NKINDS };

static uint64_t sample(enum kind kind, unsigned top, uint64_t i, uint64_t *seed)
{
	uint64_t all = (1ull << top) - 1, v = 0;
	double u = unit(seed);

	switch (kind) {
	case CONSTANT:
		return all / 3;
	case UNIFORM:
		return next_random(seed) & all;
	case EXPONENTIAL:
		v = (uint64_t)(-log(1 - u) * (double)all / 50);
		break;
	case LOGARITHMIC:
		v = (uint64_t)exp2(u * top);
		break;
	case TWO_PEAKS:
		v = u < 0.99 ? all / 1000 + next_random(seed) % 100
			     : all - next_random(seed) % (all / 4 + 1);
		break;
	case RAMP:
		v = i;
		break;
	case NKINDS:
		break;
	}
	return v > all ? all : v;
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static struct hist *filled(struct hist_shape s, enum kind kind, uint64_t *values, uint64_t seed)
{
	struct hist *h = hist_new(s);

	for (uint64_t i = 0; i < MANY; i++) {
		values[i] = sample(kind, s.top, i, &seed);
		hist_add(h, values[i], 1);
		hist_add_sum(h, values[i]);
	}
	qsort(values, MANY, sizeof(*values), by_value);
	return h;
}

/* Checks that `got` stands for a bucket that holds v: it is not below v, and above v by less than
 * the stated error. */
static void stands_for(uint64_t got, uint64_t v, struct hist_shape s)
{
	if (got < v || (got - v) > v >> s.bits)
		fail_msg("bits %u top %u: %llu does not stand for %llu", s.bits, s.top,
			 (unsigned long long)got, (unsigned long long)v);
}

static void judge(const struct hist *h, const uint64_t *values, struct hist_shape s)
{
	/* Percentages, and the rank that each means among 100000. */
	static const struct {
		double percent;
		unsigned rank;
	} p[] = {
		{0.0001, 1},   {0.001, 1},     {0.0011, 2},      {1, 1000},         {10, 10000},
		{25, 25000},   {50, 50000},    {50.0001, 50001}, {90, 90000},       {99, 99000},
		{99.9, 99900}, {99.99, 99990}, {99.999, 99999},  {99.9991, 100000}, {100, 100000},
	};
	long double sum = 0, squares = 0, mean;
	unsigned __int128 exact = 0;

	for (unsigned i = 0; i < ARRAY_SIZE(p); i++)
		stands_for(hist_percentile(h, p[i].percent), values[p[i].rank - 1], s);
	assert_int_equal(hist_count(h), MANY);
	assert_true(hist_min(h) <= values[0] && hist_highest(h, hist_min(h)) >= values[0]);
	stands_for(hist_max(h), values[MANY - 1], s);
	for (unsigned i = 0; i < MANY; i++) {
		exact += values[i];
		sum += (long double)values[i];
	}
	mean = sum / MANY;
	for (unsigned i = 0; i < MANY; i++)
		squares += ((long double)values[i] - mean) * ((long double)values[i] - mean);
	assert_true(hist_sum(h) == exact);
	assert_true(fabsl(hist_mean(h) - mean) <= mean * 1e-15L);
	/* Each value is moved by at most half a bucket, so their standard deviation moves by no
	 * more than the largest such step. */
	long double half = (long double)(hist_highest(h, values[MANY - 1]) -
					 hist_lowest(h, values[MANY - 1])) /
			   2;
	assert_true(fabsl(hist_stdev(h) - sqrtl(squares / MANY)) <= half + 1e-9L * mean);
}

static void test_percentiles(void **state)
{
	uint64_t *values = xcalloc(MANY, sizeof(*values));

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(shapes); i++)
		for (enum kind k = 0; k < NKINDS; k++) {
			struct hist *h = filled(shapes[i], k, values, i * 100 + k);
			judge(h, values, shapes[i]);
			free(h);
		}
	free(values);
}

/* Buckets cover the range in order, without gap or overlap, each no wider than the stated error.
 * Values beside the edges are in the right buckets. */
static void test_edges(void **state)
{
	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(shapes); i++) {
		struct hist *h = hist_new(shapes[i]);
		unsigned bits = shapes[i].bits;
		uint64_t expect = 0;

		assert_int_equal(hist_size(shapes[i]) % CACHE_LINE, 0);
		assert_true(hist_size(shapes[i]) >= sizeof(*h) + h->nbuckets * sizeof(cell_t));
		for (uint32_t k = 0; k < h->nbuckets; k++) {
			uint64_t low = hist_bucket_begin(bits, k),
				 high = low + hist_bucket_width(bits, k) - 1;
			assert_true(low == expect);
			assert_int_equal(hist_bucket(bits, low), k);
			assert_int_equal(hist_bucket(bits, high), k);
			assert_int_equal(hist_bucket(bits, low + (high - low) / 2), k);
			assert_true(hist_lowest(h, high) == low && hist_highest(h, low) == high);
			assert_true(high - low <= low >> bits);
			expect = high + 1;
		}
		assert_true(expect == 1ull << shapes[i].top);
		assert_true(hist_lowest(h, expect) == expect &&
			    hist_highest(h, expect) == UINT64_MAX);
		assert_true(hist_lowest(h, UINT64_MAX) == expect);
		free(h);
	}
}

static void test_property(void **state)
{
	uint64_t seed = 5;

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(shapes); i++) {
		struct hist *h = hist_new(shapes[i]);
		for (unsigned n = 0; n < 20000; n++) {
			uint64_t v = next_random(&seed) >> (1 + next_random(&seed) % 63);
			uint64_t low = hist_lowest(h, v), high = hist_highest(h, v);
			assert_true(low <= v && v <= high);
			if (v >> shapes[i].top != 0) {
				assert_true(high == UINT64_MAX);
				continue;
			}
			assert_true(high - low <= v >> shapes[i].bits);
			assert_true(hist_bucket(shapes[i].bits, v) < h->nbuckets);
		}
		free(h);
	}
}

static void same(const struct hist *a, const struct hist *b)
{
	assert_int_equal(a->nbuckets, b->nbuckets);
	assert_memory_equal(a, b, hist_size(a->shape));
}

/* (a + b) + c, a + (b + c) and c + b + a are the same, and are what one histogram of all values
 * would be. */
static void test_merge(void **state)
{
	struct hist_shape s = {6, 30};
	struct hist *part[3], *left = hist_new(s), *right, *tail, *back = hist_new(s),
			      *all = hist_new(s);
	uint64_t seed = 77;

	(void)state;
	for (unsigned k = 0; k < 3; k++) {
		part[k] = hist_new(s);
		for (unsigned i = 0; i < 5000; i++) {
			uint64_t v = sample(k, 31, i, &seed), times = 1 + i % 3;
			hist_add(part[k], v, times);
			hist_add(all, v, times);
			if (v >> s.top == 0) {
				hist_add_sum(part[k], v * times);
				hist_add_sum(all, v * times);
			}
		}
	}
	for (unsigned k = 0; k < 3; k++) {
		hist_merge(left, part[k]);
		hist_merge(back, part[2 - k]);
	}
	tail = hist_copy(part[1]);
	hist_merge(tail, part[2]);
	right = hist_copy(part[0]);
	hist_merge(right, tail);
	same(left, right);
	same(left, back);
	same(left, all);
	assert_true(left->above > 0 && hist_count(left) == hist_count(part[0]) +
								   hist_count(part[1]) +
								   hist_count(part[2]));
	/* And the tail is taken out again. */
	hist_subtract(left, tail);
	same(left, part[0]);
	hist_subtract(left, part[0]);
	assert_true(hist_count(left) == 0 && hist_sum(left) == 0);
	for (unsigned k = 0; k < 3; k++)
		free(part[k]);
	free(left), free(right), free(tail), free(back), free(all);
}

/* When histograms of different shapes are merged, counts stay, and percentiles are those of the
 * coarser shape. */
static void test_merge_shapes(void **state)
{
	struct hist_shape coarse = {6, 30}, fine = {10, 36}, low = {10, 20};
	struct hist *a = hist_new(coarse), *b = hist_new(fine), *c = hist_new(low);
	uint64_t seed = 3, n = 0;

	(void)state;
	for (unsigned i = 0; i < 20000; i++) {
		uint64_t v = sample(LOGARITHMIC, 30, i, &seed);
		hist_add(a, v, 1);
		hist_add_sum(a, v);
		n += hist_highest(a, v) >> low.top == 0;
	}
	hist_merge(b, a);
	hist_merge(c, a);
	assert_true(hist_sum(b) == hist_sum(a) && hist_count(b) == 20000 && hist_count(c) == 20000);
	for (double p = 0.5; p <= 100; p += 0.5)
		assert_true(hist_percentile(a, p) == hist_percentile(b, p));
	assert_true(n > 1000 && hist_count(c) - c->above == n);
	free(a), free(b), free(c);
}

/* When a copy is subtracted, only what came after it remains. */
static void test_subtract(void **state)
{
	struct hist *h = hist_new((struct hist_shape){10, 36}), *base, *later = hist_new(h->shape);
	uint64_t seed = 9;

	(void)state;
	for (unsigned i = 0; i < 3000; i++) {
		uint64_t v = next_random(&seed) >> 27; /* half of the values are out of range */
		hist_add(h, v, 1);
		hist_add_sum(h, v >> 36 == 0 ? v : 0);
	}
	base = hist_copy(h);
	for (unsigned i = 0; i < 3000; i++) {
		uint64_t v = next_random(&seed) >> 27;
		hist_add(h, v, 2);
		hist_add(later, v, 2);
		hist_add_sum(h, v >> 36 == 0 ? 2 * v : 0);
		hist_add_sum(later, v >> 36 == 0 ? 2 * v : 0);
	}
	hist_subtract(h, base);
	same(h, later);
	free(h), free(base), free(later);
}

static void test_out_of_range(void **state)
{
	struct hist *h = hist_new((struct hist_shape){6, 20});

	(void)state;
	assert_true(hist_count(h) == 0 && hist_min(h) == 0 && hist_max(h) == 0 &&
		    hist_percentile(h, 50) == 0);
	assert_true(isnan(hist_mean(h)) && isnan(hist_stdev(h)));
	hist_add(h, 1 << 20, 1);
	assert_true(hist_count(h) == 1 && hist_min(h) == 1 << 20 && hist_max(h) == UINT64_MAX &&
		    isnan(hist_mean(h)));
	assert_true(hist_percentile(h, 1) == UINT64_MAX && hist_between(h, 0, UINT64_MAX) == 0);
	hist_add(h, 100, 98);
	hist_add_sum(h, 9800);
	hist_add(h, UINT64_MAX, 1);
	assert_true(hist_count(h) == 100 && hist_min(h) == 100 && hist_max(h) == UINT64_MAX);
	assert_true(hist_percentile(h, 98) == 100 && hist_percentile(h, 98.1) == UINT64_MAX &&
		    hist_percentile(h, 100) == UINT64_MAX);
	assert_true(hist_mean(h) == 100 && hist_stdev(h) == 0);
	/* A percentage that has no meaning stands for the nearest one that has. */
	assert_true(hist_percentile(h, -5) == 100 && hist_percentile(h, 0) == 100 &&
		    hist_percentile(h, 1000) == UINT64_MAX);
	free(h);
}

static void test_between(void **state)
{
	struct hist *h = hist_new((struct hist_shape){6, 30});

	(void)state;
	for (uint64_t v = 900; v < 1100; v++) /* buckets are 8 wide up to 1024, and 16 above */
		hist_add(h, v, 1);
	assert_int_equal(hist_between(h, 0, UINT64_MAX), 200);
	assert_int_equal(hist_between(h, 904, 911), 8);
	assert_int_equal(hist_between(h, 905, 911), 0);
	assert_int_equal(hist_between(h, 904, 910), 0);
	assert_int_equal(hist_between(h, 1016, 1047), 8 + 16);
	assert_int_equal(hist_between(h, 1040, 1039), 0);
	free(h);
}

/* The sum may have more than 64 bits, and a reader gets it right while its halves are changing. */
static void test_sum(void **state)
{
	struct hist *h = hist_new((struct hist_shape){14, 63}), *twice;
	unsigned __int128 exact = 0;
	uint64_t seed = 21;

	(void)state;
	for (unsigned i = 0; i < 1000; i++) {
		uint64_t v = next_random(&seed) >> 1;
		hist_add(h, v, 1);
		hist_add_sum(h, v);
		exact += v;
		assert_true(hist_sum(h) == exact);
	}
	assert_true(exact >> 64 > 100);
	assert_true(fabs(hist_mean(h) - (double)(exact / 1000)) <= 4096);
	twice = hist_copy(h);
	hist_merge(twice, h);
	assert_true(hist_sum(twice) == 2 * exact);
	hist_subtract(twice, h);
	assert_true(hist_sum(twice) == exact);
	/* The writer is between its stores: it adds 30 to 5 x 2^64 + 2^64 - 10. */
	h->sum_hi = 5 | HIST_CARRY;
	h->sum_lo = UINT64_MAX - 9;
	assert_true(hist_sum(h) == ((unsigned __int128)5 << 64 | (UINT64_MAX - 9)));
	h->sum_lo = 20;
	assert_true(hist_sum(h) == ((unsigned __int128)6 << 64 | 20));
	free(h), free(twice);
}

/* Ranks are exact even if no double is exactly the percentage. */
static void test_ranks(void **state)
{
	struct hist *h = hist_new((struct hist_shape){14, 30});

	(void)state;
	for (uint64_t v = 1; v <= 10000; v++)
		hist_add(h, v, 1);
	for (unsigned k = 1; k <= 10000; k += (unsigned)effort(1, 7))
		assert_int_equal(hist_percentile(h, k / 100.0), k);
	free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_percentiles),  cmocka_unit_test(test_edges),
		cmocka_unit_test(test_property),     cmocka_unit_test(test_merge),
		cmocka_unit_test(test_merge_shapes), cmocka_unit_test(test_subtract),
		cmocka_unit_test(test_out_of_range), cmocka_unit_test(test_between),
		cmocka_unit_test(test_sum),          cmocka_unit_test(test_ranks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
