/* SPDX-License-Identifier: BSD-3-Clause */
/* A frame each 10 ms at its time, whatever else the queue sends. */
#pragma once
#include "dp.h"
#include "wheel.h"

#define BEACON_PER_S 100
#define BEACON_LEN 60          /* without FCS */
#define BEACON_NUMBER_AT 14    /* eight bytes, big endian, behind the header */

/* base.next: DP_NOW while a frame waits, either in the share's array or for a buffer. */
struct beacon_state {
	struct dp_state base;
	struct dp_timer tm;
	uint64_t number;        /* times so far, which is the number of the newest frame */
	cell_t sent;            /* frames that devices accepted */
};

struct beacon_job {
	struct dp_txq *q;       /* its share of the Tx queue */
	uint64_t period;        /* cycles */
	uint8_t frame[BEACON_LEN]; /* all but its number */
};

extern const struct dp_kind dp_kind_beacon;
