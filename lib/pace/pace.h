/* SPDX-License-Identifier: BSD-3-Clause */
/* Rate -> absolute deadlines in cycles. What is paced is counted in units: frames, or bytes where a rate is one of bits. The frame before which
 * k units lie is due at t0 + (k - k0) x period; periods are 64.64 fixed point and are multiplied, never added up, so that nothing drifts.
 * No clock inside; pure arithmetic, any thread. */
#pragma once
#include "base.h"

/* RFC 2544 / IEEE 802.3: preamble 7, SFD 1, inter-frame gap 12. */
#define PACE_WIRE_OVERHEAD 20

struct pace_period {
	uint64_t cycles, frac; /* cycles + frac / 2^64 per unit; both 0: no pacing, as fast as possible */
};

struct pace {
	struct pace_period period;
	uint64_t k0, t0; /* anchor: unit k0 is due at t0 cycles */
};

/* Periods of frames are below 2^PACE_MAX_BITS cycles, 50 days and more on any clock, and those of bytes lower by the bits of a frame's
 * length: the frame that comes next on one of 256 queues is within reach of a signed comparison. */
#define PACE_MAX_BITS 54
#define PACE_FRAME_BITS 15 /* bytes of a frame on the wire */
/* Cycles from one frame of a queue to its next beyond which a look ahead by a burst would leave the range of the clock. */
#define PACE_FAR (1ull << 48)

static inline bool pace_is_max(const struct pace *p) { return (p->period.cycles | p->period.frac) == 0; }

/* When unit k >= k0 is due, in cycles. */
static inline uint64_t pace_due(const struct pace *p, uint64_t k)
{
	uint64_t n = k - p->k0;

	return p->t0 + n * p->period.cycles + (uint64_t)((unsigned __int128)n * p->period.frac >> 64);
}

/* How many of the frames at k, k + step, ... (at most max) are due at `now`. */
static inline unsigned pace_ready(const struct pace *p, uint64_t k, uint64_t step, unsigned max, uint64_t now)
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

/* Cycles per frame at pps frames/s (> 0) on a clock of hz. Periods above 2^PACE_MAX_BITS cycles saturate. */
struct pace_period pace_period(double hz, double pps);
/* Cycles per byte at so many bytes/s (> 0); saturates 2^PACE_FRAME_BITS lower. */
struct pace_period pace_byte_period(double hz, double bytes_per_s);
/* The period of n units together, exact; below 2^64 cycles. */
static inline struct pace_period pace_times(const struct pace_period *p, uint64_t n)
{
	unsigned __int128 frac = (unsigned __int128)p->frac * n;

	return (struct pace_period){.cycles = p->cycles * n + (uint64_t)(frac >> 64), .frac = (uint64_t)frac};
}
/* So many 2^-64 of the period. */
static inline struct pace_period pace_share(const struct pace_period *p, uint64_t share)
{
	unsigned __int128 whole = (unsigned __int128)p->cycles * share + ((unsigned __int128)p->frac * share >> 64);

	return (struct pace_period){.cycles = (uint64_t)(whole >> 64), .frac = (uint64_t)whole};
}
/* What a wait of so many cycles at one period becomes at another one (neither is "no pacing"). */
uint64_t pace_scale(uint64_t cycles, const struct pace_period *from, const struct pace_period *to);
/* Bits of a frame of size bytes (with FCS) on the wire, and without preamble, SFD and gap (layer 2). */
static inline uint64_t pace_l1_bits(uint64_t size) { return (size + PACE_WIRE_OVERHEAD) * 8; }
static inline uint64_t pace_l2_bits(uint64_t size) { return size * 8; }
/* Frames whose deadline k / pps lies in [0, duration_ns). */
uint64_t pace_frames(double pps, uint64_t duration_ns);
