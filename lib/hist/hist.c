/* SPDX-License-Identifier: BSD-3-Clause */
#include "hist.h"

uint32_t hist_slots(struct hist_shape s)
{
	return (uint32_t)(s.top - s.bits + 1) << s.bits;
}

size_t hist_size(struct hist_shape s)
{
	return (sizeof(struct hist) + hist_slots(s) * sizeof(cell_t) + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
}

void hist_init(struct hist *h, struct hist_shape s)
{
	h->shape = s;
	h->nslots = hist_slots(s);
}
