/* SPDX-License-Identifier: BSD-3-Clause */
/* How a value changes from frame to frame: as a pure function of the ordinal of the frame in its
 * stream. No state, no DPDK, any thread. */
#pragma once
#include "value.h"

__extension__ typedef unsigned __int128 vary_u;

enum vary_kind { VARY_FIXED, VARY_RANGE, VARY_LIST, VARY_RANDOM, VARY_MASK };

/* The value at ordinal o, where p = o / div:
 * FIXED   first
 * RANGE   Up: first, first + step, ... while <= hi, then lo, lo + step, ... while <= hi, and so on.
 *         Down: first, first - step, ... while >= lo, then hi, hi - step, ... while >= lo, and so
 *         on. Both bounds are inclusive.
 * LIST    list[p mod n]
 * RANDOM  lo + (r * span >> 32 (w + 1)), where q = p mod repeat (p if repeat is 0), span =
 *         hi - lo + 1, w is the least number with span <= 2^(32 w), and r is the number of the
 *         words r32(seed, 0, q) .. r32(seed, w, q), word 0 the most significant. So r has 64 random
 *         bits for up to 2^32 values, 96 for up to 2^64, 128 for up to 2^96, and 160 above. Of all
 *         r, each value gets as many as any other, or one more: none is likelier by more than
 *         2^-32 of itself. Where span is a power of two all are equally likely, and the last
 *         word decides nothing
 * MASK    (first & ~mask) | (r & mask), where r is the low bits of a random number: for fields
 *         above 64 bits that of the words r32(seed, 0, q) .. r32(seed, 3, q), word 0 the most
 *         significant, above 32 bits of words 0 and 1, else word 0 */
struct vary {
	uint8_t kind;
	uint8_t bits; /* width of the field */
	bool down;    /* RANGE */
	/* LIST: its values have weights. Each comes as often as it weighs, the n of one as evenly
	 * as they can be, and the first of each come first, in the order that was written. */
	bool weighted;
	vary_u first;    /* FIXED, MASK; RANGE: the value at ordinal 0, lo <= first <= hi */
	vary_u lo, hi;   /* RANGE, RANDOM; inclusive */
	vary_u step;     /* RANGE: > 0 */
	vary_u mask;     /* MASK: the random bits */
	uint64_t seed;   /* RANDOM, MASK; 0: not given, the owner of the field chooses one */
	uint64_t repeat; /* RANDOM, MASK: values until it starts over; 0: never */
	uint64_t div;    /* ordinals per value, >= 1; above 1 for nested fields */
	uint32_t n;      /* LIST */
	const vary_u *list;
};
#define VARY_LIST_MAX 1024

/* A random word. key = mix64(seed + w * 0x9e3779b97f4a7c15 + (o >> 32) * 0xd1b54a32d192ed03); x =
 * (uint32)o + (uint32)key; x ^= x >> 16; x *= 0x7feb352d; x ^= x >> 15; x *= 0x846ca68b; x ^= x >>
 * 16; the result is x ^ (key >> 32). mix64 is the finalizer of splitmix64: z ^= z >> 30; z *=
 * 0xbf58476d1ce4e5b9; z ^= z >> 27; z *= 0x94d049bb133111eb; z ^= z >> 31. */
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

/* One of `span` equally likely numbers below span > 0. It is made of n random words of 32 bits,
 * word 0 the most significant: number of the words * span >> 32 n. The products are added from the
 * last word on, so that the part that a division would round away is not carried along. */
static inline vary_u vary_below(const uint32_t *word, unsigned n, vary_u span)
{
	vary_u t = 0;

	while (n-- > 0) {
		vary_u low = (vary_u)word[n] * (uint64_t)span,
		       high = (vary_u)word[n] * (uint64_t)(span >> 64);
		uint64_t carry = (uint64_t)(uint32_t)low + (uint32_t)t;
		t = (high << 32) + (low >> 32) + (t >> 32) + (carry >> 32);
	}
	return t;
}
/* The number of 32-bit words that numbers from 0 to top need. */
static inline unsigned vary_words(vary_u top)
{
	return top <= UINT32_MAX ? 1 : top <= UINT64_MAX ? 2 : top >> 96 == 0 ? 3 : 4;
}

/* The value at ordinal o. */
vary_u vary_at(const struct vary *v, uint64_t o);
/* The period p > 0: value(o + p) == value(o) for all o. It is div times the number of values until
 * the variation starts over: of a range as many as it has, of a list n, of random values repeat. 1
 * for what never changes. 0: there is none (random without repeat, a range whose first value is not
 * one of its later laps), or it is above 2^63. */
uint64_t vary_period(const struct vary *v);
/* Straight segments: from ordinal o on, in steps of stride, the value grows by *delta (mod 2^128)
 * for n steps: value(o + (i + 1) * stride) == value(o + i * stride) + *delta for all i < n. Returns
 * n >= 0. It is as large as the kind can tell: for a range up to its next wrap, for random values
 * 0; UINT64_MAX: for ever. */
uint64_t vary_steps(const struct vary *v, uint64_t o, uint64_t stride, vary_u *delta);
/* True only if both are the same function. Two variations of different kinds are equal only where
 * both never change, and two lists only if they are written alike: 1,2 does not equal 1,2,1,2. */
bool vary_equal(const struct vary *a, const struct vary *b);
/* A hash (FNV-1a), which is the same for variations that vary_equal() finds equal; never 0. */
uint64_t vary_hash(const struct vary *v);
/* A new copy in one allocation with its list; free() it. */
struct vary *vary_copy(const struct vary *v);

/* The type of a setting that may vary: text <-> struct vary_val. vspec.of describes one value
 * (vt_fuint, vt_mac, vt_ip4, vt_ip6, vt_fflags). Beside one value V there are these forms:
 *   A..B [step S] [from F]      up, or down when A > B. Both are inclusive, and it starts over.
 *                               F is the first value (default A)
 *   V/LEN [step S] [from F]     all addresses of the prefix, ascending (IPv4, IPv6). If V has bits
 *                               beside the prefix (192.168.0.1/24) it is this one address, as
 *                               interfaces are given theirs
 *   A,B,C  or  list A,B,C       in that order. An item may be A..B or V/LEN, too. Flags need the
 *                               word, because commas are their own: the flags of one value are
 *                               joined by '|'
 *   A:W,B:W                     a list in which values come as often as they weigh; what has no
 *                               weight weighs 1. Of MACs and IPv6 the value is in brackets
 *   random [A..B] [repeat N] [seed S]
 *   V mask M [repeat N] [seed S]    V, with the bits of M random
 * A range or a list of one value is that value. Refused are ranges beyond the limits, a step of 0,
 * and more than VARY_LIST_MAX values. Steps and masks of MACs and addresses may be written as such
 * or as numbers. print(parse(t)) is canonical. */
struct vary_val {
	struct vary v; /* v.list is the list below, or memory of its owner */
	/* An address with bits beside its prefix: warn that it does not vary. */
	bool one_of_prefix;
	bool found; /* it is `auto`, which vspec.found allows */
	vary_u list[VARY_LIST_MAX];
};
extern const struct vtype vt_vary;
/* One value of a field type (VT_FIELD_BYTES, big-endian) as a number, and back. */
vary_u vary_load(const uint8_t v[VT_FIELD_BYTES]);
void vary_store(vary_u x, uint8_t v[VT_FIELD_BYTES]);
