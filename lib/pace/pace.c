/* SPDX-License-Identifier: BSD-3-Clause */
#include "pace.h"

#include <math.h>

static struct pace_period period_of(double hz, double per_s, int max_bits)
{
	long double c = (long double)hz / (long double)per_s;

	if (!(c < ldexpl(1, max_bits)))
		return (struct pace_period){.cycles = 1ull << max_bits};
	long double whole = floorl(c), frac = (c - whole) * 0x1p64L;
	struct pace_period p = {.cycles = (uint64_t)whole, .frac = (uint64_t)frac};
	if ((p.cycles | p.frac) == 0)
		p.frac = 1; /* zero means "no pacing" */
	return p;
}

struct pace_period pace_period(double hz, double pps)
{
	return period_of(hz, pps, PACE_MAX_BITS);
}

struct pace_period pace_byte_period(double hz, double bytes_per_s)
{
	return period_of(hz, bytes_per_s, PACE_MAX_BITS - PACE_FRAME_BITS);
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

	/* If only the rounding of pps keeps the product from being a whole number, it is taken as
	 * one: the frame at that number lies on the end, which is excluded. */
	if (fabsl(n - near) <= 1e-15L * near)
		n = near;
	n = ceill(n);
	return n >= 0x1p64L ? UINT64_MAX : (uint64_t)n;
}
