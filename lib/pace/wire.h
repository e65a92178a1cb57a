/* SPDX-License-Identifier: BSD-3-Clause */
/* Converts a load between its units: frames/s, percent of the link's speed, and bits/s at layers 1
 * and 2. `size` is in bytes with FCS and may be a mean. At layer 2 a frame counts with its size, at
 * layer 1 with PACE_WIRE_OVERHEAD bytes more. Percent is of the link's speed at layer 1 (RFC 2544
 * appendix B). Pure arithmetic, any thread. */
#pragma once
#include "pace.h"

enum wire_unit { WIRE_PPS, WIRE_PERCENT, WIRE_L1_BPS, WIRE_L2_BPS };

static inline double wire_l1_bits(double size)
{
	return (size + PACE_WIRE_OVERHEAD) * 8;
}

/* wire_pps() returns how many frames/s the value v of a unit is; wire_value() is its inverse.
 * speed_bps is the speed of the link, which only WIRE_PERCENT needs. */
static inline double wire_pps(enum wire_unit unit, double v, double speed_bps, double size)
{
	switch (unit) {
	case WIRE_PPS:
		return v;
	case WIRE_PERCENT:
		return speed_bps * v / 100 / wire_l1_bits(size);
	case WIRE_L1_BPS:
		return v / wire_l1_bits(size);
	case WIRE_L2_BPS:
		return v / (size * 8);
	}
	return 0;
}
static inline double wire_value(enum wire_unit unit, double pps, double speed_bps, double size)
{
	switch (unit) {
	case WIRE_PPS:
		return pps;
	case WIRE_PERCENT:
		return pps * wire_l1_bits(size) * 100 / speed_bps;
	case WIRE_L1_BPS:
		return pps * wire_l1_bits(size);
	case WIRE_L2_BPS:
		return pps * (size * 8);
	}
	return 0;
}

/* Frames/s that the link carries at most. */
static inline double wire_most_pps(double speed_bps, double size)
{
	return wire_pps(WIRE_PERCENT, 100, speed_bps, size);
}
/* Time from the begin of one frame to the begin of the next. */
static inline double wire_gap_ns(double pps)
{
	return 1e9 / pps;
}
