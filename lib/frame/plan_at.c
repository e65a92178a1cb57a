/* SPDX-License-Identifier: BSD-3-Clause */
/* Any frame of a plan by the plain way. */
#include "run_bits.h"

#include <stdlib.h>
#include <string.h>

void frame_plan_at(const struct frame_plan *plan, uint64_t o, uint8_t *out)
{
	memcpy(out, plan->bytes, plan->len);
	if (plan->random_payload) {
		uint8_t *block = xcalloc(1, FRAME_RANDOM_BLOCK);
		frame_random_block(plan->fill_seed, block);
		memcpy(out + plan->hdr_len, block + o * FRAME_RANDOM_STEP % FRAME_RANDOM_WINDOWS,
		       plan->len - plan->hdr_len);
		free(block);
	}
	for (unsigned i = 0; i < plan->nvars; i++)
		bits_put(out, plan->var[i].bit, plan->var[i].bits, vary_at(&plan->var[i].v, o));
	for (unsigned i = 0; i < plan->nsums; i++)
		plan_sum(&plan->sum[i], out);
}
