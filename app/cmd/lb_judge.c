/* SPDX-License-Identifier: BSD-3-Clause */
#include "lb_judge.h"

#include <math.h>

#include "rate_search.h"

#define GROWTH_MOST (2 * RATE_SEARCH_RESOLUTION)
#define GROWTH_FEW 64
#define UNSEEN_MOST 8 /* a part of so many of the second half may be unseen */
/* What is read once a second is never the last state of all. */
#define CLOSE 0.99

void lb_watch_look(struct lb_watch *w, const struct lb_open *now, uint64_t took_ns,
		   uint64_t asked_ns)
{
	if (took_ns > TRIAL_STALL_SEEN_NS)
		return;
	if (w->mid.ns == 0 && now->ns >= asked_ns / 2)
		w->mid = *now;
	w->end = *now;
}

bool lb_watched(const struct lb_watch *w, uint64_t asked_ns)
{
	uint64_t half = asked_ns / 2, unseen = half / UNSEEN_MOST + TRIAL_STALL_SEEN_NS;

	return half <= unseen || (w->mid.ns > 0 && w->end.ns - w->mid.ns + unseen >= half);
}

bool lb_falls_behind(const struct lb_open *mid, const struct lb_open *end, double late)
{
	double opened = (double)end->begun - (double)mid->begun,
	       grown = (double)end->open - (double)mid->open;

	return mid->begun > 0 && grown > GROWTH_FEW + GROWTH_MOST * opened + late;
}

double lb_busy_most(double busy, uint64_t span_ns, uint64_t asked_ns)
{
	return span_ns > asked_ns + TRIAL_STALL_SEEN_NS
		       ? fmin(busy * (double)span_ns / (double)asked_ns, 1)
		       : busy;
}

uint64_t lb_late_ns(const struct trial_result *res)
{
	uint64_t most = TRIAL_STALL_SEEN_NS; /* shorter stalls are not seen */

	for (unsigned i = 0; i < res->nworkers; i++) {
		uint64_t late = res->worker[i].longest_ns + res->worker[i].waited_ns;
		most = late > most ? late : most;
	}
	return most;
}

const struct trial_worker *lb_stood_still(const struct trial_result *res)
{
	const struct trial_worker *worst = NULL;

	for (unsigned i = 0; i < res->nworkers; i++)
		if (res->worker[i].longest_ns >
		    (worst != NULL ? worst->longest_ns : TRIAL_STALL_SEEN_NS))
			worst = &res->worker[i];
	return worst;
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
