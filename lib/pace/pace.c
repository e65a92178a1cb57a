/* SPDX-License-Identifier: BSD-3-Clause */
#include "pace.h"

#include <math.h>

struct pace_period pace_period(double hz, double pps)
{
	long double c = (long double)hz / (long double)pps;

	if (!(c < ldexpl(1, PACE_MAX_BITS)))
		return (struct pace_period){.cycles = 1ull << PACE_MAX_BITS};
	long double whole = floorl(c), frac = (c - whole) * 0x1p64L;
	struct pace_period p = {.cycles = (uint64_t)whole, .frac = (uint64_t)frac};
	if ((p.cycles | p.frac) == 0)
		p.frac = 1; /* zero means "no pacing" */
	return p;
}

static long double cycles_of(const struct pace_period *p)
{
	return (long double)p->cycles + (long double)p->frac * 0x1p-64L;
}

uint64_t pace_scale(uint64_t cycles, const struct pace_period *from, const struct pace_period *to)
{
	long double c = (long double)cycles * (cycles_of(to) / cycles_of(from));

	return c < 0x1p63L ? (uint64_t)c : (1ull << 63) - 1;
}

uint64_t pace_frames(double pps, uint64_t duration_ns)
{
	long double n = (long double)pps * (long double)duration_ns / 1e9L;
	long double near = roundl(n);

	/* a product that is whole but for the rounding of pps is whole: its last frame lies on the excluded end */
	if (fabsl(n - near) <= 1e-15L * near)
		n = near;
	n = ceill(n);
	return n >= 0x1p64L ? UINT64_MAX : (uint64_t)n;
}
