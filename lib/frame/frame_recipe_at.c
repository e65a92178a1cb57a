/* SPDX-License-Identifier: BSD-3-Clause */
/* Any frame of a recipe by the plain way. */
#include "run_bits.h"

#include <stdlib.h>
#include <string.h>

void frame_recipe_at(const struct frame_recipe *recipe, uint64_t o, uint8_t *out)
{
	memcpy(out, recipe->bytes, recipe->len);
	if (recipe->random_payload) {
		uint8_t *block = xcalloc(1, FRAME_RANDOM_BLOCK);
		frame_random_block(recipe->fill_seed, block);
		memcpy(out + recipe->hdr_len, block + o * FRAME_RANDOM_STEP % FRAME_RANDOM_WINDOWS,
		       recipe->len - recipe->hdr_len);
		free(block);
	}
	for (unsigned i = 0; i < recipe->nvars; i++)
		bits_put(out, recipe->var[i].bit, recipe->var[i].bits,
			 vary_at(&recipe->var[i].v, o));
	for (unsigned i = 0; i < recipe->nsums; i++)
		recipe_sum(&recipe->sum[i], out);
}
