/* SPDX-License-Identifier: BSD-3-Clause */
/* Inside lib/frame: reads and writes bits of a frame, and computes checksums over its bytes. */
#pragma once
#include "frame_recipe.h"

/* Writes the low `bits` bits of v at bit offset `bit`, the most significant one first. bits_get()
 * reads them. */
static inline void bits_put(uint8_t *frame, uint32_t bit, unsigned bits, vary_u v)
{
	uint32_t end = bit + bits;

	while (end > bit) {
		uint32_t byte = (end - 1) / 8, low = byte * 8 > bit ? byte * 8 : bit;
		unsigned n = end - low, up = (byte + 1) * 8 - end;
		uint8_t mask = (uint8_t)(((1u << n) - 1) << up);
		frame[byte] = (uint8_t)((frame[byte] & ~mask) | ((unsigned)v << up & mask));
		v >>= n;
		end = low;
	}
}

static inline vary_u bits_get(const uint8_t *frame, uint32_t bit, unsigned bits)
{
	vary_u v = 0;

	for (uint32_t i = bit; i < bit + bits; i++)
		v = v << 1 | (frame[i / 8] >> (7 - i % 8) & 1);
	return v;
}

/* What the field of s must hold, computed over a frame whose field holds 0. */
uint16_t recipe_rfc1071(const struct frame_sum *s, const uint8_t *frame);
