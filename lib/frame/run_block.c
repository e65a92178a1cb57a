/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocks of random payload. They are large, and most streams use the same one, so fruns share them.
 * Control thread only. */
#include "run_new.h"

#include <stdlib.h>

static struct run_block *blocks;

struct run_block *run_block_take(uint64_t seed)
{
	struct run_block *b = blocks;

	while (b != NULL && b->seed != seed)
		b = b->next;
	if (b != NULL) {
		b->refs++;
		return b;
	}
	b = xcalloc(1, sizeof(*b));
	b->seed = seed;
	b->refs = 1;
	b->next = blocks;
	blocks = b;
	frame_random_block(seed, b->bytes);
	for (unsigned odd = 0; odd < 2; odd++)
		for (unsigned i = 0; i < FRAME_RANDOM_BLOCK / 2; i++) {
			unsigned at = 2 * i + odd,
				 low = at + 1 < FRAME_RANDOM_BLOCK ? b->bytes[at + 1] : 0;
			b->before[odd][i + 1] =
				b->before[odd][i] + ((uint32_t)b->bytes[at] << 8 | low);
		}
	return b;
}

void run_block_give(struct run_block *b)
{
	struct run_block **at = &blocks;

	if (--b->refs > 0)
		return;
	while (*at != b)
		at = &(*at)->next;
	*at = b->next;
	free(b);
}
