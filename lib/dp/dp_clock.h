/* SPDX-License-Identifier: BSD-3-Clause */
/* The clock of a device that puts time stamps into mbufs, and how to convert between its time and
 * cycles. Control updates the conversion while workers use it. Each worker keeps a view of its own
 * and never waits: while control is writing, it goes on with the view that it has. */
#pragma once
#include "count.h"
#include "dpdk.h"

#define DP_CLOCK_SHIFT 40
#define DP_CLOCK_UNKNOWN UINT64_MAX /* as slack: the conversion does not hold any more */

/* A conversion, mod 2^64: cycles = tsc + (stamp - at) * mult >> DP_CLOCK_SHIFT, and stamp = at +
 * (cycles - tsc) * inverse >> DP_CLOCK_SHIFT. */
struct dp_clock_view {
	uint64_t version; /* 0: nothing is known */
	uint64_t at, tsc, mult, inverse;
	uint64_t slack; /* cycles by which a conversion may be off */
};

/* One direction of a device, in control's memory; control is the only writer. */
struct dp_clock {
	int offset;     /* of the time stamp in the mbuf (dynamic field) */
	uint64_t flag;  /* in ol_flags: the mbuf has a time stamp */
	cell_t version; /* odd: the cells below are being written */
	cell_t at, tsc, mult, inverse, slack;
};

/* Control: sets another conversion. v->version is not used. */
static inline void dp_clock_set(struct dp_clock *c, const struct dp_clock_view *v)
{
	uint64_t version = cell_get(&c->version);

	__atomic_store_n(&c->version, version + 1, __ATOMIC_RELAXED);
	/* The release keeps each store after the ones before it. */
	__atomic_store_n(&c->at, v->at, __ATOMIC_RELEASE);
	__atomic_store_n(&c->tsc, v->tsc, __ATOMIC_RELEASE);
	__atomic_store_n(&c->mult, v->mult, __ATOMIC_RELEASE);
	__atomic_store_n(&c->inverse, v->inverse, __ATOMIC_RELEASE);
	__atomic_store_n(&c->slack, v->slack, __ATOMIC_RELEASE);
	__atomic_store_n(&c->version, version + 2, __ATOMIC_RELEASE);
}

/* Worker: brings its view up to date, unless control is writing. */
static inline void dp_clock_look(const struct dp_clock *c, struct dp_clock_view *v)
{
	uint64_t version = __atomic_load_n(&c->version, __ATOMIC_ACQUIRE);

	if (likely(version == v->version) || (version & 1) != 0)
		return;
	struct dp_clock_view now = {.version = version,
				    .at = __atomic_load_n(&c->at, __ATOMIC_ACQUIRE),
				    .tsc = __atomic_load_n(&c->tsc, __ATOMIC_ACQUIRE),
				    .mult = __atomic_load_n(&c->mult, __ATOMIC_ACQUIRE),
				    .inverse = __atomic_load_n(&c->inverse, __ATOMIC_ACQUIRE),
				    .slack = __atomic_load_n(&c->slack, __ATOMIC_ACQUIRE)};
	if (__atomic_load_n(&c->version, __ATOMIC_RELAXED) == version)
		*v = now;
}

/* Converts a span, which is taken as signed, by mult or inverse. */
static inline uint64_t dp_clock_scale(uint64_t span, uint64_t mult)
{
	return (uint64_t)((__int128)(int64_t)span * (__int128)mult >> DP_CLOCK_SHIFT);
}

/* Returns the cycles at which the device's clock showed `stamp`. */
static inline uint64_t dp_clock_cycles(const struct dp_clock_view *v, uint64_t stamp)
{
	return v->tsc + dp_clock_scale(stamp - v->at, v->mult);
}

/* Returns what the device's clock shows at `cycles`. */
static inline uint64_t dp_clock_stamp(const struct dp_clock_view *v, uint64_t cycles)
{
	return v->at + dp_clock_scale(cycles - v->tsc, v->inverse);
}
