/* SPDX-License-Identifier: BSD-3-Clause */
/* The frame sizes of a stream: the text that a user writes, and the sequence of sizes that it
 * means. Sizes include the FCS. Pure, any thread. */
#pragma once
#include "value.h"

enum sizes_kind { SIZES_AUTO, SIZES_FIXED, SIZES_RANGE, SIZES_LIST, SIZES_RANDOM };

#define SIZES_MAX_ITEMS 128
#define SIZES_MAX_COUNT 65536 /* longest sequence before it starts over */
#define SIZES_RANDOM_REPEAT 4096

/* The size of the frame with ordinal o is entry o mod sizes_count() of this sequence:
 * RANGE   One lap: lo, lo + step, ... <= hi; when down, hi, hi - step, ... >= lo. With `first` the
 *         sequence begins with first, first + step, ... <= hi (when down, first - step, ... >= lo).
 *         If first is a size of the lap, the other sizes of the lap follow, so that each occurs
 *         once. If it is not, as many whole laps follow as fit into SIZES_MAX_COUNT
 * LIST    weighted round robin: round r = 0, 1, ... gives, in the order written, every size whose
 *         weight is above r. So `64:2,1518:1` is 64 1518 64, and with weights of 1 it is the list
 *         as it stands
 * RANDOM  lo + (r32(seed, 0, i) * (hi - lo + 1) >> 32) for i = 0 .. repeat - 1 (vary.h) */
struct sizes {
	uint8_t kind;
	bool down;
	uint16_t lo, hi, step;
	uint16_t first; /* RANGE: the first size; 0: the one with which laps begin */
	uint64_t seed, repeat;
	uint16_t n;
	struct {
		uint16_t size;
		uint16_t weight;
	} item[SIZES_MAX_ITEMS]; /* FIXED: item[0] */
};

unsigned sizes_count(const struct sizes *s); /* 1 for AUTO and FIXED */
/* Writes the sequence into out[sizes_count()]; for AUTO it is a 0. */
void sizes_expand(const struct sizes *s, uint16_t *out);
/* The smallest and the largest size that occur; 0 for AUTO. */
void sizes_bounds(const struct sizes *s, uint16_t *min, uint16_t *max);

/* The type of a setting of sizes: text <-> struct sizes. auto | N | A..B [step S] [from F] | A,B,C
 * | A:W,B:W | imix (64:7,570:4,1518:1) | random A..B [repeat N] [seed S] | imix LETTERS (RFC 6985:
 * a 64, b 128, c 256, d 512, e 1024, f 1280, g 1518, h 2112, in the order written; a letter may
 * repeat). Each size must be within the limits of the vspec, or 64 to 16384 if it has none. */
extern const struct vtype vt_sizes;
