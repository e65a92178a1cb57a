/* SPDX-License-Identifier: BSD-3-Clause */
/* The workers' half of the work beacon: a frame leaves each 10 ms at its time, whatever else the
 * queue sends. It is a test work, which shows how a task uses a timer. */
#pragma once
#include "dp.h"
#include "wheel.h"

#define BEACON_PER_S 100
#define BEACON_LEN 60       /* without FCS */
#define BEACON_NUMBER_AT 14 /* eight bytes, big endian, behind the header */

/* base.next is DP_NOW while a frame waits, either as the tail of the share or for a buffer. */
struct beacon_state {
	struct dp_state base;
	struct dp_timer tm;
	uint64_t number; /* of the newest frame: how many times have come so far */
	cell_t sent;     /* frames that devices accepted */
};

struct beacon_job {
	struct dp_txq *q;          /* the work's share of the Tx queue */
	uint64_t period;           /* cycles */
	uint8_t frame[BEACON_LEN]; /* the frame without its number */
};

extern const struct dp_kind dp_kind_beacon;
