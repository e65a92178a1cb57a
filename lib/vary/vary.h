/* SPDX-License-Identifier: BSD-3-Clause */
/* How a value changes from frame to frame: a pure function of the frame's ordinal in its stream. No state, no DPDK, any thread. */
#pragma once
#include "value.h"

__extension__ typedef unsigned __int128 vary_u;

enum vary_kind { VARY_FIXED, VARY_RANGE, VARY_LIST, VARY_RANDOM, VARY_MASK };

/* value(o), with p = o / div:
 * FIXED   first
 * RANGE   up: first, first + step, ... while <= hi, then lo, lo + step, ... while <= hi, again and again. down: first, first - step, ...
 *         while >= lo, then hi, hi - step, ... while >= lo, again and again. Both bounds are inclusive.
 * LIST    list[p mod n]
 * RANDOM  lo + (r * span >> 32 (w + 1)), with q = p mod repeat (p where repeat is 0), span = hi - lo + 1, w the least number with span <= 2^(32 w),
 *         and r = r32(seed, 0, q) .. r32(seed, w, q), word 0 the most significant: 64 random bits for up to 2^32 values, 96 for up to 2^64, 128 for
 *         up to 2^96, 160 above. So many of all r fall on each value as on any other, or one more: none is likelier by more than 2^-32 of itself,
 *         and where span is a power of two, all are equal and the last word decides nothing
 * MASK    (first & ~mask) | (r & mask) with r the low bits of r128 for fields above 64 bits, of (r32(0) << 32) + r32(1) above 32, else of r32(0);
 *         r128 = r32(0) .. r32(3) */
struct vary {
	uint8_t kind;
	uint8_t bits;         /* width of the field */
	bool down;            /* RANGE */
	vary_u first;         /* FIXED, MASK; RANGE: the value at ordinal 0, lo <= first <= hi */
	vary_u lo, hi;        /* RANGE, RANDOM; inclusive */
	vary_u step;          /* RANGE: > 0 */
	vary_u mask;          /* MASK: the random bits */
	uint64_t seed;        /* RANDOM, MASK; 0: not given, whoever owns the field puts a seed of its own there */
	uint64_t repeat;      /* RANDOM, MASK: starts over after so many values; 0: never */
	uint64_t div;         /* ordinals per value, >= 1: nesting */
	uint32_t n;           /* LIST */
	const vary_u *list;
};
#define VARY_LIST_MAX 1024

/* A random word: key = mix64(seed + w * 0x9e3779b97f4a7c15 + (o >> 32) * 0xd1b54a32d192ed03); x = (uint32)o + (uint32)key;
 * x ^= x >> 16; x *= 0x7feb352d; x ^= x >> 15; x *= 0x846ca68b; x ^= x >> 16; result x ^ (key >> 32).
 * mix64 is splitmix64's finalizer: z ^= z >> 30; z *= 0xbf58476d1ce4e5b9; z ^= z >> 27; z *= 0x94d049bb133111eb; z ^= z >> 31. */
static inline uint64_t vary_key(uint64_t seed, unsigned w, uint64_t o)
{
	uint64_t z = seed + w * 0x9e3779b97f4a7c15ull + (o >> 32) * 0xd1b54a32d192ed03ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}
static inline uint32_t vary_r32(uint64_t key, uint64_t o)
{
	uint32_t x = (uint32_t)o + (uint32_t)key;

	x = (x ^ x >> 16) * 0x7feb352du;
	x = (x ^ x >> 15) * 0x846ca68bu;
	return (x ^ x >> 16) ^ (uint32_t)(key >> 32);
}

/* One of span > 0 equally likely numbers below span, made of n random words of 32 bits, word 0 the most significant: their number * span >> 32 n.
 * Product by product from the last word on: the part that a division would round away never reaches the next one. */
static inline vary_u vary_below(const uint32_t *word, unsigned n, vary_u span)
{
	vary_u t = 0;

	while (n-- > 0) {
		vary_u low = (vary_u)word[n] * (uint64_t)span, high = (vary_u)word[n] * (uint64_t)(span >> 64);
		uint64_t carry = (uint64_t)(uint32_t)low + (uint32_t)t;
		t = (high << 32) + (low >> 32) + (t >> 32) + (carry >> 32);
	}
	return t;
}
/* Words of 32 bits that numbers from 0 to top need. */
static inline unsigned vary_words(vary_u top)
{
	return top <= UINT32_MAX ? 1 : top <= UINT64_MAX ? 2 : top >> 96 == 0 ? 3 : 4;
}

/* The value at ordinal o. */
vary_u vary_at(const struct vary *v, uint64_t o);
/* p > 0 with value(o + p) == value(o) for all o: the values until it starts over (of a range as many as it has, of a list n, of random
 * values repeat) times div, 1 for what never changes; 0: none (random without repeat, a range that begins off its own lattice) or above
 * 2^63. */
uint64_t vary_period(const struct vary *v);
/* From ordinal o in strides: *delta (mod 2^128) and the number of steps n >= 0 for which value(o + (i + 1) * stride) == value(o + i * stride)
 * + *delta holds for all i < n. n is as large as the kind's structure tells (to the next wrap of a range; UINT64_MAX: for ever). Random: 0. */
uint64_t vary_steps(const struct vary *v, uint64_t o, uint64_t stride, vary_u *delta);
/* Equal functions? Variations of different kinds are equal only where both never change. */
bool vary_equal(const struct vary *a, const struct vary *b);
/* A number that equal functions share (FNV-1a of what they say); never 0. */
uint64_t vary_hash(const struct vary *v);
/* New copy in one allocation (free() it), list included. */
struct vary *vary_copy(const struct vary *v);

/* Typed value of a setting that may vary: text <-> struct vary_val. vspec.of describes one value (vt_fuint, vt_mac, vt_ip4, vt_ip6,
 * vt_fflags). Forms beside one value V:
 *   A..B [step S] [from F]      up, or down when A > B; inclusive, wraps; from: the first value (default A)
 *   V/LEN [step S] [from F]     all addresses of the prefix, ascending (IPv4, IPv6). Where V has bits beside the prefix (192.168.0.1/24) it is
 *                               the one address, as interfaces are given theirs
 *   A,B,C  or  list A,B,C       in that order (flags need the word: their commas are their own, values joined by '|')
 *   random [A..B] [repeat N] [seed S]
 *   V mask M [repeat N] [seed S]    V with the bits of M random
 * A range of one value, a list of one are that value. Refused: empty ranges by limits, step 0, more than VARY_LIST_MAX values. MAC steps and
 * masks are MACs or numbers; address steps and masks are addresses or numbers. print(parse(t)) is canonical. */
struct vary_val {
	struct vary v;                 /* v.list points to list, or to memory of whoever filled it in */
	bool one_of_prefix;            /* parsed from an address with bits beside its prefix: worth a warning that it does not vary */
	vary_u list[VARY_LIST_MAX];
};
extern const struct vtype vt_vary;
/* One value of a vt_* field type (VT_FIELD_BYTES, big-endian) as a number and back. */
vary_u vary_load(const uint8_t v[VT_FIELD_BYTES]);
void vary_store(vary_u x, uint8_t v[VT_FIELD_BYTES]);
