/* SPDX-License-Identifier: BSD-3-Clause */
#include "rate_search.h"

#include <math.h>

void rate_search_begin(struct rate_search *s)
{
	*s = (struct rate_search){.high = (double)INFINITY, .next = (double)INFINITY};
}

bool rate_search_narrow(const struct rate_search *s)
{
	return s->low > 0 && s->high - s->low <= RATE_SEARCH_RESOLUTION * s->high;
}

/* As fast as possible has told something. */
static void feed_first(struct rate_search *s, enum rate_told told, double left, double passed)
{
	s->first = left;
	if (told == RATE_PASSED) {
		s->low = left;
		s->over = true;
		return;
	}
	s->high = left;
	s->high_by = told;
	s->over = !(left > 0);
	/* a little less than what passed: at that rate itself the queues still run over */
	s->next = passed > 0 && passed < left ? passed * (1 - RATE_SEARCH_RESOLUTION) : left / 2;
	s->from = s->next;
}

static void feed_rate(struct rate_search *s, enum rate_told told)
{
	if (told == RATE_PASSED) {
		s->low = s->next;
	} else {
		s->high = s->next;
		s->high_by = told;
		if (told == RATE_FAILED && s->low >= s->high)
			s->low = 0;
	}
	s->next = s->low > 0 ? (s->low + s->high) / 2 : s->high / 2;
	s->over = s->low > 0 ? rate_search_narrow(s) : s->next < s->from * RATE_SEARCH_LEAST;
}

void rate_search_feed(struct rate_search *s, enum rate_told told, double left, double passed)
{
	if (told == RATE_SHORT && s->next < RATE_SEARCH_ABLE * s->first)
		told = RATE_UNTOLD;
	s->trials++;
	s->untold += told == RATE_UNTOLD;
	if (told == RATE_UNTOLD && s->tries < RATE_SEARCH_AGAIN && s->trials < RATE_SEARCH_MOST) {
		s->tries++;
		return;
	}
	s->tries = 0;
	s->mute = told == RATE_UNTOLD ? s->mute + 1 : 0;
	if (isinf(s->next))
		feed_first(s, told, left, passed);
	else
		feed_rate(s, told);
	s->over |= s->trials >= RATE_SEARCH_MOST || s->mute >= RATE_SEARCH_MUTE;
}

void rate_search_climb(struct rate_search *s)
{
	if (!(s->low > 0) || !isinf(s->high) || s->trials >= RATE_SEARCH_MOST ||
	    s->mute >= RATE_SEARCH_MUTE)
		return;
	s->next = s->low * fmin(pow(RATE_SEARCH_CLIMB, s->climbs++), RATE_SEARCH_LEAP);
	s->from = s->next;
	s->over = false;
}

void rate_search_ease(struct rate_search *s)
{
	s->next = s->first * RATE_SEARCH_EASY;
	s->from = s->next;
}

bool rate_search_none(const struct rate_search *s)
{
	return s->over && s->low <= 0 && s->high_by == RATE_FAILED &&
	       s->next < s->from * RATE_SEARCH_LEAST;
}

unsigned rate_search_rest(const struct rate_search *s)
{
	/* from half of the first rate to the resolution */
	const unsigned most = (unsigned)ceil(log2(0.5 / RATE_SEARCH_RESOLUTION)) + 1;

	if (s->over)
		return 0;
	if (isinf(s->next))
		return 1 + most;
	double wide = (s->high - s->low) / (RATE_SEARCH_RESOLUTION * s->high);
	unsigned rest = s->low > 0 && wide > 1 ? (unsigned)ceil(log2(wide)) : most;
	return rest > 0 ? rest : 1;
}
