/* SPDX-License-Identifier: BSD-3-Clause */
/* One load in all units. A frame of `size` bytes (with FCS) takes PACE_WIRE_OVERHEAD more on the wire (layer 1), itself on layer 2; percent is of
 * the link speed, by layer 1 (RFC 2544 appendix B). size may be a mean. Pure arithmetic, any thread. */
#pragma once
#include "pace.h"

enum wire_unit { WIRE_PPS, WIRE_PERCENT, WIRE_L1_BPS, WIRE_L2_BPS };

static inline double wire_l1_bits(double size) { return (size + PACE_WIRE_OVERHEAD) * 8; }

/* Frames/s that v of the unit are, and what so many are in it. */
static inline double wire_pps(enum wire_unit unit, double v, double speed_bps, double size)
{
	switch (unit) {
	case WIRE_PPS: return v;
	case WIRE_PERCENT: return speed_bps * v / 100 / wire_l1_bits(size);
	case WIRE_L1_BPS: return v / wire_l1_bits(size);
	case WIRE_L2_BPS: return v / (size * 8);
	}
	return 0;
}
static inline double wire_value(enum wire_unit unit, double pps, double speed_bps, double size)
{
	switch (unit) {
	case WIRE_PPS: return pps;
	case WIRE_PERCENT: return pps * wire_l1_bits(size) * 100 / speed_bps;
	case WIRE_L1_BPS: return pps * wire_l1_bits(size);
	case WIRE_L2_BPS: return pps * (size * 8);
	}
	return 0;
}

/* What the link carries at most. */
static inline double wire_most_pps(double speed_bps, double size) { return wire_pps(WIRE_PERCENT, 100, speed_bps, size); }
/* From the begin of one frame to that of the next. */
static inline double wire_gap_ns(double pps) { return 1e9 / pps; }
