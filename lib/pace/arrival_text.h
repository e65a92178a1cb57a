/* SPDX-License-Identifier: BSD-3-Clause */
/* Types of values for two settings: the distribution of arrivals, and what is done about frames
 * that are late. They parse, print and complete their text (value.h). In front of each type stand
 * the struct of its values and its syntax. */
#pragma once
#include "arrival.h"
#include "value.h"

/* struct arrival; constant | poisson | burst N [gap T] | jitter 20% | onoff T T; random ones take
 * [seed N] */
extern const struct vtype vt_arrival;

/* What becomes of frames that are later than a limit. KEEP: all are sent, as fast as possible.
 * SKIP: they are given up. OVERSPEED: they are sent, at most `share` faster than asked. */
enum catchup_kind { CATCHUP_KEEP, CATCHUP_SKIP, CATCHUP_OVERSPEED };
struct catchup {
	uint64_t kind;
	double share; /* OVERSPEED; 1 is 100 % */
};
/* struct catchup; keep | skip | overspeed 10% */ extern const struct vtype vt_catchup;
