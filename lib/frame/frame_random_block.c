/* SPDX-License-Identifier: BSD-3-Clause */
/* The block that random payloads are pieces of. */
#include "frame_recipe.h"

void frame_random_block(uint64_t seed, uint8_t *out)
{
	uint64_t key = vary_key(seed, 0, 0);

	for (unsigned i = 0; i < FRAME_RANDOM_BLOCK / 4; i++) {
		uint32_t r = vary_r32(key, i);
		for (unsigned b = 0; b < 4; b++)
			out[4 * i + b] = (uint8_t)(r >> (24 - 8 * b));
	}
}
