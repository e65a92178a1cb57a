/* SPDX-License-Identifier: BSD-3-Clause */
/* Frame sizes of a stream as the user writes them, and the sequence that they mean. Sizes include the FCS. Pure, any thread. */
#pragma once
#include "value.h"

enum sizes_kind { SIZES_AUTO, SIZES_FIXED, SIZES_RANGE, SIZES_LIST, SIZES_RANDOM };

#define SIZES_MAX_ITEMS 128
#define SIZES_MAX_COUNT 65536  /* longest sequence before it starts over */
#define SIZES_RANDOM_REPEAT 4096

/* The size of a stream's frame with ordinal o is item number o mod sizes_count():
 * RANGE   lo, lo + step, ... <= hi (hi, hi - step, ... >= lo when down), each once. With a first, that one, first + step, ... <= hi, and then as
 *         above: as often as the same repeats, which is one lap where first is one of the sizes without it, else as many as fit SIZES_MAX_COUNT
 * LIST    weighted round robin: round r = 0, 1, ... gives, in the order written, every size whose weight is above r. So `64:2,1518:1` is
 *         64 1518 64, and weights of 1 are the list as it stands
 * RANDOM  lo + (r32(seed, 0, i) * (hi - lo + 1) >> 32) for i = 0 .. repeat - 1 (vary.h) */
struct sizes {
	uint8_t kind;
	bool down;
	uint16_t lo, hi, step;
	uint16_t first; /* RANGE: 0, or another size than the one that comes first without it */
	uint64_t seed, repeat;
	uint16_t n;
	struct { uint16_t size; uint16_t weight; } item[SIZES_MAX_ITEMS]; /* FIXED: item[0] */
};

unsigned sizes_count(const struct sizes *s); /* 1 for AUTO and FIXED */
/* All of them in order into out[sizes_count()]; AUTO gives 0. */
void sizes_expand(const struct sizes *s, uint16_t *out);
/* Smallest and largest; 0 for AUTO. */
void sizes_bounds(const struct sizes *s, uint16_t *min, uint16_t *max);

/* Typed value: struct sizes. auto | N | A..B [step S] [from F] | A,B,C | A:W,B:W | imix (64:7,570:4,1518:1) | random A..B [repeat N] [seed S] |
 * imix LETTERS (RFC 6985: a 64, b 128, c 256, d 512, e 1024, f 1280, g 1518, h 2112, in the order written, a letter may repeat).
 * Each size is one of the spec's limits, or 64 to 16384. */
extern const struct vtype vt_sizes;
