/* SPDX-License-Identifier: BSD-3-Clause */
/* Turns a rate into deadlines: absolute times in cycles of a clock. What is paced is counted in
 * units: a unit is a frame, or a byte where the rate is one of bits. A frame with k units before it
 * is due at t0 + (k - k0) x period. Periods are fixed point numbers (64.64) and are multiplied,
 * never added up, so that errors do not grow. No clock is read: pure arithmetic, any thread. */
#pragma once
#include "base.h"

/* Bytes that a frame takes on the wire beside its own size (RFC 2544, IEEE 802.3): preamble 7, SFD
 * 1, inter-frame gap 12. */
#define PACE_WIRE_OVERHEAD 20

/* The time of one unit. */
struct pace_period {
	/* cycles + frac / 2^64 per unit; both 0: no pacing, as fast as possible */
	uint64_t cycles, frac;
};

/* When units are due. */
struct pace {
	struct pace_period period;
	uint64_t k0, t0; /* unit k0 is due at t0 cycles; the others follow from it */
};

/* A period of frames is at most 2^PACE_MAX_BITS cycles, about 50 days at 4 GHz. A period of bytes
 * is at most 2^(PACE_MAX_BITS - PACE_FRAME_BITS), so that whole frames have the same bound. With up
 * to 256 queues the next frame of a queue is then less than 2^63 cycles ahead, and deadlines can be
 * compared by the sign of their difference. */
#define PACE_MAX_BITS 54
#define PACE_FRAME_BITS 15 /* a frame has less than 2^15 bytes on the wire */
/* If the frames of a queue are more cycles apart than this, the end of a burst would lie too far
 * ahead for such a comparison: only the next frame is looked at. */
#define PACE_FAR (1ull << 48)

static inline bool pace_is_max(const struct pace *p)
{
	return (p->period.cycles | p->period.frac) == 0;
}

/* Returns when unit k >= k0 is due, in cycles. */
static inline uint64_t pace_due(const struct pace *p, uint64_t k)
{
	uint64_t n = k - p->k0;

	return p->t0 + n * p->period.cycles +
	       (uint64_t)((unsigned __int128)n * p->period.frac >> 64);
}

/* Returns how many of the frames at the units k, k + step, ... are due at `now`, at most max. */
static inline unsigned pace_ready(const struct pace *p, uint64_t k, uint64_t step, unsigned max,
				  uint64_t now)
{
	if (max == 0 || (int64_t)(now - pace_due(p, k)) < 0)
		return 0;
	if (__builtin_expect(p->period.cycles * step > PACE_FAR, 0))
		max = 1;
	if ((int64_t)(now - pace_due(p, k + (uint64_t)(max - 1) * step)) >= 0)
		return max;
	unsigned lo = 1, hi = max - 1; /* at least lo are due, at most hi */
	while (lo < hi) {
		unsigned mid = (lo + hi + 1) / 2;
		if ((int64_t)(now - pace_due(p, k + (uint64_t)(mid - 1) * step)) >= 0)
			lo = mid;
		else
			hi = mid - 1;
	}
	return lo;
}

/* Returns cycles per frame at pps frames/s (> 0) on a clock of hz. A longer period than
 * 2^PACE_MAX_BITS cycles becomes that. */
struct pace_period pace_period(double hz, double pps);
/* Returns cycles per byte at bytes_per_s (> 0), at most 2^(PACE_MAX_BITS - PACE_FRAME_BITS). */
struct pace_period pace_byte_period(double hz, double bytes_per_s);
/* Returns the time of n units together, exactly. It must be below 2^64 cycles. */
static inline struct pace_period pace_times(const struct pace_period *p, uint64_t n)
{
	unsigned __int128 frac = (unsigned __int128)p->frac * n;

	return (struct pace_period){.cycles = p->cycles * n + (uint64_t)(frac >> 64),
				    .frac = (uint64_t)frac};
}
/* Returns the period times share / 2^64. */
static inline struct pace_period pace_share(const struct pace_period *p, uint64_t share)
{
	unsigned __int128 whole =
		(unsigned __int128)p->cycles * share + ((unsigned __int128)p->frac * share >> 64);

	return (struct pace_period){.cycles = (uint64_t)(whole >> 64), .frac = (uint64_t)whole};
}
/* Converts a wait of `cycles` from one period to another. Neither may be "no pacing". */
uint64_t pace_scale(uint64_t cycles, const struct pace_period *from, const struct pace_period *to);
/* Bits of a frame of `size` bytes (with FCS): on the wire (layer 1), and without preamble, SFD and
 * gap (layer 2). */
static inline uint64_t pace_l1_bits(uint64_t size)
{
	return (size + PACE_WIRE_OVERHEAD) * 8;
}
static inline uint64_t pace_l2_bits(uint64_t size)
{
	return size * 8;
}
/* Returns the number of frames k = 0, 1, ... whose deadline k / pps lies in [0, duration_ns). */
uint64_t pace_frames(double pps, uint64_t duration_ns);
