/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares variations with a plain simulation of their definition. */
#include <errno.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "seed.h"
#include "vary.h"

static uint64_t state_of_rnd;

static uint64_t rnd(void)
{
	uint64_t *s = &state_of_rnd;

	*s ^= *s << 13;
	*s ^= *s >> 7;
	return *s ^= *s << 17;
}

static vary_u rnd_bits(unsigned bits)
{
	vary_u v = (vary_u)rnd() << 64 | rnd();

	return bits >= 128 ? v : v & (((vary_u)1 << bits) - 1);
}

/* Simulates what the header defines, one step after the other. */
struct sim {
	const struct vary *v;
	uint64_t turn, o;
	vary_u at;
};

static void sim_next(struct sim *s)
{
	const struct vary *v = s->v;

	if (++s->o % v->div != 0)
		return;
	s->turn++;
	if (v->kind == VARY_LIST)
		s->at = v->list[s->turn % v->n];
	else if (v->kind == VARY_RANGE && !v->down)
		s->at = v->hi - s->at >= v->step ? s->at + v->step : v->lo;
	else if (v->kind == VARY_RANGE)
		s->at = s->at - v->lo >= v->step ? s->at - v->step : v->hi;
}

static struct sim sim_start(const struct vary *v)
{
	return (struct sim){.v = v, .at = v->kind == VARY_LIST ? v->list[0] : v->first};
}

static vary_u numbers[64];

/* Makes any range or list. Small ones are more frequent, because they wrap. */
static struct vary any(void)
{
	struct vary v = {.bits = (uint8_t)(1 + rnd() % 128),
			 .div = rnd() % 3 == 0 ? 1 + rnd() % 7 : 1};
	vary_u a = rnd_bits(v.bits), b = rnd_bits(v.bits);

	if (rnd() % 4 == 0) {
		v.kind = VARY_LIST;
		v.n = (uint32_t)(1 + rnd() % ARRAY_SIZE(numbers));
		v.list = numbers;
		for (uint32_t i = 0; i < v.n; i++)
			numbers[i] = rnd_bits(v.bits);
		return v;
	}
	v.kind = VARY_RANGE;
	v.down = rnd() % 2;
	if (rnd() % 3 != 0) {
		vary_u top = v.bits == 128 ? ~(vary_u)0 : ((vary_u)1 << v.bits) - 1,
		       width = rnd() % 200;
		b = top - a < width ? top : a + width;
	}
	if (rnd() % 16 == 0)
		a = 0;
	if (rnd() % 16 == 0)
		b = v.bits == 128 ? ~(vary_u)0 : ((vary_u)1 << v.bits) - 1;
	v.lo = a < b ? a : b;
	v.hi = a < b ? b : a;
	v.step = rnd() % 2 == 0 ? 1 : 1 + rnd_bits(rnd() % 2 == 0 ? 5 : v.bits);
	if (v.step == 0)
		v.step = 1;
	vary_u span = v.hi - v.lo, off = rnd_bits(128);
	v.first = rnd() % 2 == 0 ? (v.down ? v.hi : v.lo)
				 : v.lo + (span + 1 != 0 ? off % (span + 1) : off);
	return v;
}

static void tell(const struct vary *v, const char *what, uint64_t o)
{
	fail_msg(
		"%s at %llu: kind %d down %d bits %d div %llu n %u lo %llx:%llx hi %llx:%llx first %llx:%llx step %llx:%llx",
		what, (unsigned long long)o, v->kind, v->down, v->bits, (unsigned long long)v->div,
		v->n, (unsigned long long)(v->lo >> 64), (unsigned long long)v->lo,
		(unsigned long long)(v->hi >> 64), (unsigned long long)v->hi,
		(unsigned long long)(v->first >> 64), (unsigned long long)v->first,
		(unsigned long long)(v->step >> 64), (unsigned long long)v->step);
}

/* W workers, each in strides of its own, make together what one would make: every ordinal once,
 * with its value. */
static void test_order(void **state)
{
	(void)state;
	for (int round = 0; round < 3000; round++) {
		struct vary v = any();
		struct sim s = sim_start(&v);
		unsigned n = 1 + (unsigned)(rnd() % 600), workers = 1 + (unsigned)(rnd() % 9);
		static vary_u got[600];
		static bool has[600];
		memset(has, 0, sizeof(has));
		for (unsigned w = 0; w < workers; w++) {
			for (unsigned o = w; o < n; o += workers) {
				got[o] = vary_at(&v, o);
				has[o] = true;
			}
		}
		for (unsigned o = 0; o < n; o++, sim_next(&s))
			if (!has[o] || got[o] != s.at)
				tell(&v, "the value is another", o);
	}
}

/* The values of a range are all values of its lattice within the bounds, and no others. */
static void test_cover(void **state)
{
	(void)state;
	for (int round = 0; round < 300; round++) {
		struct vary v = any();
		if (v.kind != VARY_RANGE || v.hi - v.lo > 2000)
			continue;
		static unsigned seen[2001];
		unsigned n = 0;
		memset(seen, 0, sizeof(seen));
		v.div = 1;
		v.first = v.down ? v.hi : v.lo;
		uint64_t period = vary_period(&v);
		for (uint64_t o = 0; o < period; o++) {
			vary_u x = vary_at(&v, o);
			if (x < v.lo || x > v.hi)
				tell(&v, "outside", o);
			seen[(unsigned)(x - v.lo)]++;
		}
		for (vary_u x = 0; x <= v.hi - v.lo; x++) {
			vary_u from = v.down ? v.hi - v.lo - x : x;
			if (seen[(unsigned)x] != (from % v.step == 0 ? 1u : 0u))
				tell(&v, "not once", (uint64_t)x);
			n += seen[(unsigned)x];
		}
		assert_int_equal(n, period);
	}
}

static void test_period(void **state)
{
	(void)state;
	for (int round = 0; round < 3000; round++) {
		struct vary v = any();
		uint64_t p = vary_period(&v);
		if (p == 0) {
			vary_u base = v.down ? v.hi - v.first : v.first - v.lo;
			if (v.kind != VARY_RANGE ||
			    (base % v.step == 0 && (v.hi - v.lo) / v.step < 1ull << 60))
				tell(&v, "has a period", 0);
			continue;
		}
		for (int i = 0; i < 50; i++) {
			uint64_t o = rnd() >> (2 + rnd() % 60);
			if (vary_at(&v, o) != vary_at(&v, o + p))
				tell(&v, "not its period", o);
		}
		/* There is no shorter period: the first value comes once. */
		for (uint64_t o = v.div; v.kind == VARY_RANGE && p > 1 && o < p && o < 300;
		     o += v.div)
			if (vary_at(&v, o) == vary_at(&v, 0))
				tell(&v, "a shorter period", o);
	}
}

static void test_steps(void **state)
{
	unsigned many = 0;

	(void)state;
	for (int round = 0; round < 20000; round++) {
		struct vary v = any();
		uint64_t o = rnd() >> (8 + rnd() % 56), stride = 1 + (rnd() >> (40 + rnd() % 24));
		vary_u delta = 0;
		uint64_t n = vary_steps(&v, o, stride, &delta);
		for (uint64_t i = 0; i < n && i < 200; i++)
			if (vary_at(&v, o + (i + 1) * stride) - vary_at(&v, o + i * stride) !=
			    delta)
				tell(&v, "not that step", o + i * stride);
		/* This holds for the last of them too. */
		if (n > 200 && n < (1ull << 50) / stride &&
		    vary_at(&v, o + n * stride) - vary_at(&v, o + (n - 1) * stride) != delta)
			tell(&v, "not that step in the end", o);
		many += n > 20;
	}
	assert_true(many > 1000);
}

/* The steps of a range go on to its wrap, if nothing cuts them short. */
static void test_steps_reach(void **state)
{
	struct vary v = {.kind = VARY_RANGE,
			 .bits = 32,
			 .lo = 1000,
			 .hi = 60999,
			 .first = 1000,
			 .step = 1,
			 .div = 1};
	vary_u delta;

	(void)state;
	assert_int_equal(vary_steps(&v, 0, 1, &delta), 59999);
	assert_true(delta == 1);
	/* this is over the wrap, all the way back */
	assert_int_equal(vary_steps(&v, 59999, 1, &delta), 1);
	assert_true(delta == (vary_u)0 - 59999);
	assert_int_equal(vary_steps(&v, 60000, 4, &delta), 14999);
	assert_true(delta == 4);
	assert_true(vary_steps(&v, 17, 60000, &delta) == UINT64_MAX);
	assert_true(delta == 0);
	assert_int_equal(vary_steps(&v, 10, 59999, &delta), 10);
	assert_true(delta == (vary_u)0 - 1);
	v.div = 8;
	assert_int_equal(vary_steps(&v, 1, 2, &delta), 3);
	assert_true(delta == 0);
	assert_int_equal(vary_steps(&v, 3, 8, &delta), 59999);
	assert_true(delta == 1);
	struct vary fixed = {.kind = VARY_FIXED, .first = 5, .div = 1};
	assert_true(vary_steps(&fixed, 9, 3, &delta) == UINT64_MAX);
	assert_true(delta == 0);
	struct vary random = {.kind = VARY_RANDOM, .bits = 16, .hi = 9, .seed = 1, .div = 1};
	assert_int_equal(vary_steps(&random, 0, 1, &delta), 0);
	random.repeat = 12;
	assert_true(vary_steps(&random, 3, 24, &delta) == UINT64_MAX);
}

static void test_extremes(void **state)
{
	const vary_u top = ~(vary_u)0;
	struct vary all = {.kind = VARY_RANGE,
			   .bits = 128,
			   .lo = 0,
			   .hi = top,
			   .first = 0,
			   .step = 1,
			   .div = 1},
		    v = all;
	vary_u delta;

	(void)state;
	assert_true(vary_at(&all, UINT64_MAX) == UINT64_MAX);
	assert_int_equal(vary_period(&all), 0);
	assert_true(vary_steps(&all, 5, 3, &delta) == UINT64_MAX && delta == 3);
	v.first = top;
	assert_true(vary_at(&v, 0) == top && vary_at(&v, 1) == 0 &&
		    vary_at(&v, UINT64_MAX) == UINT64_MAX - 1);
	v.down = true;
	assert_true(vary_at(&v, 1) == top - 1 && vary_at(&v, UINT64_MAX) == top - UINT64_MAX);
	v.first = 0;
	assert_true(vary_at(&v, 0) == 0 && vary_at(&v, 1) == top);
	v = all;
	v.step = (vary_u)1 << 127;
	assert_true(vary_at(&v, 1) == (vary_u)1 << 127 && vary_at(&v, 2) == 0);
	assert_int_equal(vary_period(&v), 2);
	v.step = top;
	assert_int_equal(vary_period(&v), 2);
	v.hi = UINT64_MAX;
	v.step = 1;
	assert_int_equal(vary_period(&v), 0); /* 2^64 */
	assert_true(vary_at(&v, UINT64_MAX) == UINT64_MAX);
	v.first = UINT64_MAX;
	assert_true(vary_at(&v, UINT64_MAX) == UINT64_MAX - 1);
	v.hi = (1ull << 63) - 1;
	v.first = 0;
	assert_true(vary_period(&v) == 1ull << 63);
	v.div = 2;
	assert_int_equal(vary_period(&v), 0);
	struct vary one = {
		.kind = VARY_RANGE, .bits = 8, .lo = 7, .hi = 7, .first = 7, .step = 1, .div = 3};
	assert_true(vary_at(&one, 99) == 7);
	assert_int_equal(vary_period(&one), 1);
	/* The start is not on the lattice of the bounds: 5 9, then 2 6 10 2 6 10. */
	struct vary off = {
		.kind = VARY_RANGE, .bits = 8, .lo = 2, .hi = 10, .first = 5, .step = 4, .div = 1};
	static const unsigned want[] = {5, 9, 2, 6, 10, 2, 6, 10};
	for (unsigned o = 0; o < ARRAY_SIZE(want); o++)
		assert_true(vary_at(&off, o) == want[o]);
	assert_int_equal(vary_period(&off), 0);
}

/* These are known values, worked out apart from this code, because the same settings must mean the
 * same in every version. */
static void test_random(void **state)
{
	struct vary v = {.kind = VARY_RANDOM, .bits = 16, .lo = 10, .hi = 19, .seed = 42, .div = 1};
	unsigned seen[10] = {0};

	(void)state;
	for (uint64_t o = 0; o < 10000; o++) {
		vary_u x = vary_at(&v, o);
		assert_true(x >= 10 && x <= 19);
		seen[(unsigned)(x - 10)]++;
		uint64_t r = (uint64_t)vary_r32(vary_key(42, 0, o), o) << 32 |
			     vary_r32(vary_key(42, 1, o), o);
		assert_true(x == 10 + ((vary_u)r * 10 >> 64));
	}
	for (unsigned i = 0; i < 10; i++)
		assert_true(seen[i] > 850 && seen[i] < 1150);
	v.repeat = 7;
	for (uint64_t o = 0; o < 70; o++)
		assert_true(vary_at(&v, o) == vary_at(&v, o % 7));
	assert_int_equal(vary_period(&v), 7);
	v.div = 5;
	assert_int_equal(vary_period(&v), 35);
	assert_true(vary_at(&v, 4) == vary_at(&v, 0));
	/* Bits of every width reach both ends. */
	for (unsigned bits = 1; bits <= 128; bits++) {
		struct vary w = {.kind = VARY_RANDOM, .bits = (uint8_t)bits, .seed = 9, .div = 1};
		w.hi = bits == 128 ? ~(vary_u)0 : ((vary_u)1 << bits) - 1;
		struct vary m = {.kind = VARY_MASK,
				 .bits = (uint8_t)bits,
				 .seed = 9,
				 .div = 1,
				 .mask = w.hi,
				 .first = 0};
		vary_u ones = 0, zeros = 0, mones = 0, mzeros = 0;
		for (uint64_t o = 0; o < 200; o++) {
			vary_u x = vary_at(&w, o), y = vary_at(&m, o);
			assert_true(x <= w.hi && y <= w.hi);
			ones |= x, zeros |= ~x & w.hi;
			mones |= y, mzeros |= ~y & w.hi;
		}
		assert_true(ones == w.hi && zeros == w.hi && mones == w.hi && mzeros == w.hi);
	}
}

/* Multiplies the number of n words of 32 bits by span, as on paper, and returns the product without
 * its last n words. */
static vary_u product(const uint32_t *word, unsigned n, vary_u span)
{
	uint32_t p[10] = {0}; /* the least word first */

	for (unsigned i = 0; i < n; i++) {
		uint64_t carry = 0;
		for (unsigned k = 0; k < 4; k++) {
			carry += (uint64_t)word[n - 1 - i] * (uint32_t)(span >> 32 * k) + p[i + k];
			p[i + k] = (uint32_t)carry;
			carry >>= 32;
		}
		p[i + 4] = (uint32_t)carry;
	}
	vary_u x = 0;
	for (unsigned k = 4; k-- > 0;)
		x = x << 32 | p[n + k];
	return x;
}

/* All inputs of few bits are mapped onto each number of values. No value gets more than one input
 * more than another. */
static void test_map(void **state)
{
	(void)state;
	for (unsigned bits = 1; bits <= 10; bits++)
		for (uint32_t span = 1; span <= 1u << bits; span++) {
			unsigned of[1 << 10] = {0}, least = UINT_MAX, most = 0;
			for (uint32_t x = 0; x < 1u << bits; x++) {
				uint32_t word[2] = {x << (32 - bits), 0};
				vary_u v = vary_below(word, 2, span);
				assert_true(v == x * span >> bits);
				of[(unsigned)v]++;
			}
			for (uint32_t v = 0; v < span; v++) {
				least = of[v] < least ? of[v] : least;
				most = of[v] > most ? of[v] : most;
			}
			assert_true(least >= 1 && most - least <= 1);
		}
}

/* The code does this map at every width. It is tested with few bits anywhere in the words that make
 * a value, times as few anywhere in its span, and with any words. */
static void test_map_of_words(void **state)
{
	(void)state;
	for (unsigned n = 2; n <= 5; n++)
		for (unsigned at = 0; at + 8 <= 32 * n; at++)
			for (unsigned round = 0; round < 64; round++) {
				/* Here x * m << (at + up) is x * m << (32 n - 8). */
				unsigned up = 32 * n - 8 - at;
				uint32_t word[5] = {0}, x = (uint32_t)rnd() & 255,
					 m = 1 + ((uint32_t)rnd() & 255);
				if (up + 9 > 32 * (n - 1) || (up + 9 > 128))
					continue;
				for (unsigned b = 0; b < 8; b++)
					word[n - 1 - (at + b) / 32] |= (x >> b & 1)
								       << (at + b) % 32;
				assert_true(vary_below(word, n, (vary_u)m << up) == x * m >> 8);
			}
	for (unsigned round = 0; round < 200000; round++) {
		unsigned n = 2 + round % 4;
		vary_u span = 0;
		uint32_t word[5];
		for (unsigned w = 0; w < n; w++)
			word[w] = rnd() % 8 == 0 ? UINT32_MAX : (uint32_t)rnd();
		for (unsigned w = 1; w < n; w++)
			span = span << 32 | (rnd() % 8 == 0 ? UINT32_MAX : (uint32_t)rnd());
		span >>= rnd() % (32 * (n - 1));
		span += span == 0;
		assert_true(vary_below(word, n, span) == product(word, n, span));
		assert_true(vary_below(word, n, span) < span);
	}
}

/* The value of a field is that of its words. */
static void test_random_words(void **state)
{
	(void)state;
	for (unsigned bits = 1; bits <= 128; bits++)
		for (unsigned o = 0; o < 200; o++) {
			vary_u all = bits == 128 ? ~(vary_u)0 : ((vary_u)1 << bits) - 1,
			       top = ((vary_u)rnd() << 64 | rnd()) & all;
			struct vary v = {.kind = VARY_RANDOM,
					 .bits = (uint8_t)bits,
					 .hi = top,
					 .seed = 7 + o,
					 .div = 1};
			unsigned n = top >> 96 != 0   ? 5
				     : top >> 64 != 0 ? 4
				     : top >> 32 != 0 ? 3
						      : 2;
			uint32_t word[5];
			for (unsigned w = 0; w < n; w++)
				word[w] = vary_r32(vary_key(v.seed, w, o), o);
			assert_true(vary_at(&v, o) ==
				    (top + 1 == 0 ? vary_at(&v, o) : product(word, n, top + 1)));
			assert_true(vary_at(&v, o) <= top);
		}
}

/* Checks Pearson's sum over n draws into equally likely cells. The limit is so high that chance
 * would have to be six standard deviations off. */
static void judge(const uint32_t *cell, unsigned ncells, uint64_t n, vary_u span, const char *what,
		  unsigned by)
{
	double want = (double)n / ncells, sum = 0, free = ncells - 1.0;

	for (unsigned i = 0; i < ncells; i++)
		sum += ((double)cell[i] - want) * ((double)cell[i] - want) / want;
	sum -= free + 20;
	if (sum > 0 && sum * sum > 36 * 2 * free)
		fail_msg("random of %.6g values: %s %u: chi-square %.1f of %u cells", (double)span,
			 what, by, sum + free + 20, ncells);
}

#define DRAWS 200000

/* Values are uniform by their residues by small primes and by powers of two and by their place,
 * each value alone and together with the next one. */
static void test_uniform(void **state)
{
	static const unsigned by[] = {2, 3, 5, 7, 11, 13, 16, 64, 251};
	static const unsigned odd[] = {3, 5, 7, 11, 13, 15, 201, 1021};
	static const unsigned widths[] = {4,  8,  12, 16, 20, 24, 29, 30, 31, 32,  33,  40,
					  47, 48, 56, 63, 64, 65, 80, 96, 97, 112, 127, 128};
	static vary_u x[DRAWS];

	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(widths); i++) {
		unsigned m = odd[i % ARRAY_SIZE(odd)], digits = 32 - (unsigned)__builtin_clz(m);
		/* 0..191.255.255.255 is 3 << 30 values. Others have odd numbers of values just
		 * below a power of two. */
		vary_u span = digits < widths[i] ? ((vary_u)m << (widths[i] - digits)) - i % 2 : 3;
		struct vary v = {.kind = VARY_RANDOM,
				 .bits = (uint8_t)widths[i],
				 .lo = 0,
				 .hi = span - 1,
				 .seed = 1000 + i,
				 .div = 1};
		for (unsigned o = 0; o < DRAWS; o++)
			x[o] = vary_at(&v, o);
		for (unsigned b = 0; b < ARRAY_SIZE(by); b++) {
			uint32_t rest[251] = {0}, place[251] = {0}, pair[251] = {0}, n = by[b];
			unsigned side = n < 16 ? n : 15;
			/* The residues of few values are not equally likely. */
			if (span < 4096 * (vary_u)n)
				continue;
			for (unsigned o = 0; o < DRAWS; o++) {
				rest[(unsigned)(x[o] % n)]++;
				place[(unsigned)(widths[i] <= 64 ? x[o] * n / span
								 : x[o] / (span / n + 1))]++;
				if (o % 2 == 1)
					pair[(unsigned)(x[o - 1] % side) * side +
					     (unsigned)(x[o] % side)]++;
			}
			judge(rest, n, DRAWS, span, "rest by", n);
			judge(place, n, DRAWS, span, "place of", n);
			judge(pair, side * side, DRAWS / 2, span, "pairs of rests by", side);
		}
	}
}

/* If there are few values, each is counted by itself. */
static void test_uniform_few(void **state)
{
	(void)state;
	for (unsigned span = 2; span <= 700; span += 1 + span / 9) {
		struct vary v = {.kind = VARY_RANDOM,
				 .bits = 16,
				 .lo = 5,
				 .hi = 4 + span,
				 .seed = span,
				 .div = 1};
		uint32_t cell[700] = {0};
		for (unsigned o = 0; o < DRAWS; o++)
			cell[(unsigned)vary_at(&v, o) - 5]++;
		judge(cell, span, DRAWS, span, "values", 1);
	}
}

static void test_mask(void **state)
{
	struct vary v = {.kind = VARY_MASK,
			 .bits = 48,
			 .first = 0x020000000000,
			 .mask = 0xffffff,
			 .seed = 3,
			 .div = 1};

	(void)state;
	for (uint64_t o = 0; o < 1000; o++) {
		vary_u x = vary_at(&v, o);
		uint64_t r = (uint64_t)vary_r32(vary_key(3, 0, o), o) << 32 |
			     vary_r32(vary_key(3, 1, o), o);
		assert_true(x == (0x020000000000 | (r & 0xffffff)));
	}
	v.repeat = 3;
	assert_int_equal(vary_period(&v), 3);
	v.mask = 0;
	assert_int_equal(vary_period(&v), 1);
}

static void test_equal(void **state)
{
	(void)state;
	for (int round = 0; round < 3000; round++) {
		struct vary v = any(), w = v;
		struct vary *c = vary_copy(&v);
		assert_true(vary_equal(&v, c));
		assert_true(vary_hash(&v) == vary_hash(c) && vary_hash(c) != 0);
		for (uint64_t o = 0; o < 50; o++)
			assert_true(vary_at(&v, o) == vary_at(c, o));
		if (v.kind == VARY_RANGE && vary_period(&v) != 1) {
			w.first = v.first == v.lo ? v.lo + 1 : v.first - 1;
			assert_false(vary_equal(&v, &w));
			assert_true(vary_hash(&v) != vary_hash(&w));
			w = v;
			w.div++;
			assert_false(vary_equal(&v, &w));
		} else if (v.kind == VARY_LIST && v.n > 1) {
			w.n--;
			assert_false(vary_equal(&v, &w) && vary_at(&v, 0) != vary_at(&v, v.div));
		}
		free(c);
	}
	struct vary a = {.kind = VARY_RANGE, .hi = 10, .step = 4, .div = 1}, b = a,
		    f = {.kind = VARY_FIXED, .first = 7};
	b.hi = 8;
	assert_true(vary_equal(&a, &b) && vary_hash(&a) == vary_hash(&b));
	struct vary one = {.kind = VARY_RANGE, .lo = 7, .hi = 7, .first = 7, .step = 9, .div = 4};
	assert_true(vary_equal(&one, &f) && vary_hash(&one) == vary_hash(&f));
	assert_false(vary_equal(&a, &f));
}

static void test_bytes(void **state)
{
	uint8_t b[VT_FIELD_BYTES];

	(void)state;
	vary_store((vary_u)0x0102030405060708 << 64 | 0x090a0b0c0d0e0f10, b);
	for (unsigned i = 0; i < sizeof(b); i++)
		assert_int_equal(b[i], i + 1);
	assert_true(vary_load(b) == ((vary_u)0x0102030405060708 << 64 | 0x090a0b0c0d0e0f10));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),        cmocka_unit_test(test_cover),
		cmocka_unit_test(test_period),       cmocka_unit_test(test_steps),
		cmocka_unit_test(test_steps_reach),  cmocka_unit_test(test_extremes),
		cmocka_unit_test(test_random),       cmocka_unit_test(test_map),
		cmocka_unit_test(test_map_of_words), cmocka_unit_test(test_random_words),
		cmocka_unit_test(test_uniform),      cmocka_unit_test(test_uniform_few),
		cmocka_unit_test(test_mask),         cmocka_unit_test(test_equal),
		cmocka_unit_test(test_bytes),
	};

	state_of_rnd = test_seed_not_0();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
