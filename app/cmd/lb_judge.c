/* SPDX-License-Identifier: BSD-3-Clause */
#include "lb_judge.h"

#include "rate_search.h"

#define GROWTH_MOST (2 * RATE_SEARCH_RESOLUTION)
#define GROWTH_FEW 64
/* What is read once a second is never the last state of all. */
#define CLOSE 0.99

bool lb_falls_behind(const struct lb_open *mid, const struct lb_open *end, double late)
{
	double opened = (double)end->begun - (double)mid->begun,
	       grown = (double)end->open - (double)mid->open;

	return mid->begun > 0 && grown > GROWTH_FEW + GROWTH_MOST * opened + late;
}

bool lb_full(const struct lb_said *said)
{
	return said->held >= CLOSE * said->room;
}

enum lb_hold lb_holds(double open, const struct lb_said *said)
{
	if (lb_full(said) && open > said->room)
		return LB_IS_FULL;
	return CLOSE * said->counted > open ? LB_FORGETS : LB_HOLDS;
}
