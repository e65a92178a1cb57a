/* SPDX-License-Identifier: BSD-3-Clause */
/* How arrivals, and what is done about frames that are late, are said in text. */
#pragma once
#include "arrival.h"
#include "value.h"

/* struct arrival; constant | poisson | burst N [gap T] | jitter 20% | onoff T T; random ones take [seed N] */ extern const struct vtype vt_arrival;

/* Frames that are later than a limit: all are sent at full speed, they are given up, or they are sent at most share faster than asked. */
enum catchup_kind { CATCHUP_KEEP, CATCHUP_SKIP, CATCHUP_OVERSPEED };
struct catchup {
	uint64_t kind;
	double share;  /* OVERSPEED */
};
/* struct catchup; keep | skip | overspeed 10% */ extern const struct vtype vt_catchup;
