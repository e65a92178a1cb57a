/* SPDX-License-Identifier: BSD-3-Clause */
/* Variations as functions of the ordinal. */
#include "vary.h"

#include <string.h>

/* Quotient, and below the remainder. Most values fit 64 bits, and a 128-bit division is a slow
 * call. */
static vary_u vary_quot(vary_u a, vary_u b)
{
	return (a | b) >> 64 == 0 ? (uint64_t)a / (uint64_t)b : a / b;
}

static vary_u vary_rest(vary_u a, vary_u b)
{
	return (a | b) >> 64 == 0 ? (uint64_t)a % (uint64_t)b : a % b;
}

/* A range as laps: index 0..last of the first lap, then 0..wrap of later laps again and again. They
 * are indexes and not counts, because a range of 2^128 values has a last index that fits. step is
 * signed (mod 2^128). */
struct lap {
	vary_u first, last; /* first lap: its first value and its last index */
	vary_u base, wrap;  /* later laps: their first value and their last index */
	vary_u step;
	bool on; /* first is a value of later laps, so that all is one cycle */
};

static struct lap lap_of(const struct vary *v)
{
	vary_u off = v->down ? v->hi - v->first : v->first - v->lo;

	return (struct lap){.first = v->first,
			    .last = vary_quot(v->down ? v->first - v->lo : v->hi - v->first,
					      v->step),
			    .base = v->down ? v->hi : v->lo,
			    .wrap = vary_quot(v->hi - v->lo, v->step),
			    .step = v->down ? -v->step : v->step,
			    .on = vary_rest(off, v->step) == 0};
}

/* The index of value number p within its lap, and that lap's first value and last index. */
static vary_u lap_index(const struct lap *l, uint64_t p, vary_u *base, vary_u *last)
{
	if (p <= l->last) {
		*base = l->first;
		*last = l->last;
		return p;
	}
	*base = l->base;
	*last = l->wrap;
	p -= (uint64_t)l->last + 1;
	return l->wrap >= UINT64_MAX ? p : p % ((uint64_t)l->wrap + 1);
}

static vary_u range_at(const struct vary *v, uint64_t p)
{
	struct lap l = lap_of(v);
	vary_u base, last, i = lap_index(&l, p, &base, &last);

	return base + i * l.step;
}

static uint32_t word_at(const struct vary *v, unsigned w, uint64_t q)
{
	return vary_r32(vary_key(v->seed, w, q), q);
}

static uint64_t pair_at(const struct vary *v, unsigned w, uint64_t q)
{
	return (uint64_t)word_at(v, w, q) << 32 | word_at(v, w + 1, q);
}

static vary_u quad_at(const struct vary *v, uint64_t q)
{
	return (vary_u)pair_at(v, 0, q) << 64 | pair_at(v, 2, q);
}

static vary_u random_at(const struct vary *v, uint64_t q)
{
	vary_u top = v->hi - v->lo;
	unsigned n = vary_words(top) + 1;
	uint32_t word[5];

	if (top + 1 == 0)
		return v->lo + quad_at(v, q);
	for (unsigned w = 0; w < n; w++)
		word[w] = word_at(v, w, q);
	return v->lo + vary_below(word, n, top + 1);
}

static vary_u mask_at(const struct vary *v, uint64_t q)
{
	vary_u r = v->bits > 64   ? quad_at(v, q)
		   : v->bits > 32 ? pair_at(v, 0, q)
				  : word_at(v, 0, q);

	return (v->first & ~v->mask) | (r & v->mask);
}

vary_u vary_at(const struct vary *v, uint64_t o)
{
	uint64_t p = v->div > 1 ? o / v->div : o;

	switch (v->kind) {
	case VARY_RANGE:
		return range_at(v, p);
	case VARY_LIST:
		return v->list[p % v->n];
	case VARY_RANDOM:
		return random_at(v, v->repeat != 0 ? p % v->repeat : p);
	case VARY_MASK:
		return mask_at(v, v->repeat != 0 ? p % v->repeat : p);
	default:
		return v->first;
	}
}

/* The number of values before a variation starts over; 1: it is constant, 0: it does not start
 * over, or the number needs more than 64 bits. */
static uint64_t vary_cycle(const struct vary *v)
{
	struct lap l;

	switch (v->kind) {
	case VARY_RANGE:
		l = lap_of(v);
		return !l.on || l.wrap >= UINT64_MAX ? 0 : (uint64_t)l.wrap + 1;
	case VARY_LIST:
		return v->n;
	case VARY_RANDOM:
		return v->lo == v->hi ? 1 : v->repeat;
	case VARY_MASK:
		return v->mask == 0 ? 1 : v->repeat;
	default:
		return 1;
	}
}

uint64_t vary_period(const struct vary *v)
{
	uint64_t n = vary_cycle(v), div = v->div > 1 ? v->div : 1;

	if (n <= 1)
		return n;
	return n > (1ull << 63) / div ? 0 : n * div;
}

/* How many values one stride from ordinal o moves on, and for how many strides that stays so. A
 * value lasts for `div` ordinals. */
static uint64_t vary_advance(const struct vary *v, uint64_t o, uint64_t stride, uint64_t *strides)
{
	uint64_t div = v->div > 1 ? v->div : 1, in = o % div, more = stride % div;

	if (more == 0) {
		*strides = UINT64_MAX;
		return stride / div;
	}
	if (in < div - more) {
		*strides = (div - 1 - in) / more;
		return stride / div;
	}
	*strides = in / (div - more);
	return stride / div + 1;
}

/* As vary_steps(), for a range that moves on by adv values per stride. The shorter way round may be
 * backwards. */
static uint64_t range_steps(const struct vary *v, uint64_t p, uint64_t adv, vary_u *delta)
{
	struct lap l = lap_of(v);
	vary_u base, last, i = lap_index(&l, p, &base, &last), back = 0;

	if ((l.on || p > l.last) && l.wrap < UINT64_MAX) {
		i = p <= l.last ? l.wrap - l.last + i : i;
		last = l.wrap;
		adv %= (uint64_t)l.wrap + 1;
		back = l.wrap + 1 - adv;
	}
	*delta = 0;
	if (adv == 0)
		return UINT64_MAX;
	vary_u on = vary_quot(last - i, adv), off = back != 0 ? vary_quot(i, back) : 0;
	*delta = on >= off ? adv * l.step : -(back * l.step);
	if (off > on)
		on = off;
	return on < UINT64_MAX ? (uint64_t)on : UINT64_MAX;
}

uint64_t vary_steps(const struct vary *v, uint64_t o, uint64_t stride, vary_u *delta)
{
	uint64_t most, n = vary_cycle(v), adv = vary_advance(v, o, stride, &most);

	*delta = 0;
	if (n == 1)
		return UINT64_MAX;
	if (adv == 0 || (n != 0 && v->kind != VARY_RANGE && adv % n == 0))
		return most;
	if (v->kind != VARY_RANGE)
		return 0;
	n = range_steps(v, v->div > 1 ? o / v->div : o, adv, delta);
	return n < most ? n : most;
}

/* What defines a variation, but for the values of a list. It is compared byte by byte; what has no
 * meaning for the kind is 0. */
struct said {
	vary_u x[5];
	uint64_t seed, repeat, div, kind, width;
};

static bool vary_constant(const struct vary *v)
{
	if (v->kind == VARY_RANGE) {
		struct lap l = lap_of(v);
		return l.on && l.wrap == 0;
	}
	for (uint32_t i = 1; v->kind == VARY_LIST && i < v->n; i++)
		if (v->list[i] != v->list[0])
			return false;
	return v->kind == VARY_LIST || vary_cycle(v) == 1;
}

static void vary_say(const struct vary *v, struct said *s)
{
	memset(s, 0, sizeof(*s));
	if (vary_constant(v)) {
		s->x[0] = vary_at(v, 0);
		return;
	}
	s->kind = v->kind;
	s->div = v->div > 1 ? v->div : 1;
	if (v->kind == VARY_RANGE) {
		struct lap l = lap_of(v);
		s->x[0] = l.first;
		s->x[1] = l.last;
		s->x[2] = l.base;
		s->x[3] = l.wrap;
		s->x[4] = l.step;
	} else if (v->kind == VARY_LIST) {
		s->width = v->n;
	} else {
		s->seed = v->seed;
		s->repeat = v->repeat;
		bool mask = v->kind == VARY_MASK;
		s->x[0] = mask ? v->first & ~v->mask : v->lo;
		s->x[1] = mask ? v->mask : v->hi;
		s->width = !mask ? 0 : v->bits > 64 ? 4 : v->bits > 32 ? 2 : 1;
	}
}

bool vary_equal(const struct vary *a, const struct vary *b)
{
	struct said sa, sb;

	vary_say(a, &sa);
	vary_say(b, &sb);
	return memcmp(&sa, &sb, sizeof(sa)) == 0 &&
	       (sa.kind != VARY_LIST || memcmp(a->list, b->list, a->n * sizeof(*a->list)) == 0);
}

uint64_t vary_hash(const struct vary *v)
{
	struct said s;

	vary_say(v, &s);
	uint64_t h = fnv1a(FNV_BASIS, &s, sizeof(s));
	if (s.kind == VARY_LIST)
		h = fnv1a(h, v->list, v->n * sizeof(*v->list));
	return h != 0 ? h : 1;
}

struct vary *vary_copy(const struct vary *v)
{
	size_t list = v->kind == VARY_LIST ? v->n * sizeof(*v->list) : 0;
	struct vary *c = xcalloc(1, sizeof(*c) + list);

	*c = *v;
	c->list = NULL;
	if (list != 0)
		c->list = memcpy(c + 1, v->list, list);
	return c;
}

vary_u vary_load(const uint8_t v[VT_FIELD_BYTES])
{
	vary_u x = 0;

	for (int i = 0; i < VT_FIELD_BYTES; i++)
		x = x << 8 | v[i];
	return x;
}

void vary_store(vary_u x, uint8_t v[VT_FIELD_BYTES])
{
	for (int i = VT_FIELD_BYTES - 1; i >= 0; i--, x >>= 8)
		v[i] = (uint8_t)x;
}
