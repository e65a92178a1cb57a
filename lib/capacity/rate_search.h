/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the highest rate that passes: as fast as possible first, then by bisection. It makes no
 * trials itself: it says which rate comes next, and is told what came of it. Only what a valid
 * trial says counts; any other is repeated a few times, and a rate that gets no valid trial has
 * neither passed nor failed. The number of trials is bounded. Pure. */
#pragma once
#include "base.h"

#define RATE_SEARCH_AGAIN 2 /* how often a trial that told nothing is repeated */
#define RATE_SEARCH_MOST 16 /* trials of one search */
/* After so many rates in a row without a valid trial it ends: what disturbs is not the rate. */
#define RATE_SEARCH_MUTE 2
/* A sender that is short of this share of what it has sent as fast as possible was disturbed. */
#define RATE_SEARCH_ABLE 0.9
/* How exactly the answer is wanted, as a share of the lowest rate that did not pass. */
#define RATE_SEARCH_RESOLUTION 0.02
/* The least rate that is tried, as a share of the first one behind as fast as possible. */
#define RATE_SEARCH_LEAST (1.0 / 1024)

/* What came of a trial. SHORT: it was valid but for this, that the sender did not send so fast;
 * there is no use in a repetition, unless the sender has been much faster before. UNTOLD: it was
 * not valid. */
enum rate_told { RATE_PASSED, RATE_FAILED, RATE_SHORT, RATE_UNTOLD };

struct rate_search {
	/* The highest rate that passed, 0: none has. The lowest above it that did not, INFINITY:
	 * there is none. */
	double low, high;
	enum rate_told high_by; /* why not */
	double first;           /* what left when frames were sent as fast as possible */
	double next;            /* INFINITY: as fast as possible */
	double from;            /* the rate that was tried behind it; 0: none */
	unsigned tries;         /* repetitions of this rate so far */
	unsigned mute;          /* rates in a row that got no valid trial */
	unsigned trials, untold;
	unsigned climbs; /* rates asked for by rate_search_climb() */
	bool over;
};

void rate_search_begin(struct rate_search *);
/* What came of the trial at `next`: the rate at which frames left, and the one at which they
 * passed, which is a good rate to try; 0: not known. */
void rate_search_feed(struct rate_search *, enum rate_told, double left, double passed);
/* As fast as possible was only as fast as answers came. So the same rate is tried once more,
 * whether answers come or not, and if it fails there, it never passed. Then higher rates are asked
 * for, until one does not pass, and it goes on by bisection. The first step is RATE_SEARCH_CLIMB,
 * and they grow up to RATE_SEARCH_LEAP: answers may have come far more slowly than they can. To be
 * called after each feed; does nothing where a rate has not passed, or trials have run out. */
#define RATE_SEARCH_CLIMB 1.25
#define RATE_SEARCH_LEAP 2.0
void rate_search_climb(struct rate_search *);
/* As fast as possible nothing came through at all. The next rate is far below it, and tells whether
 * that was the rate. To be called after the first feed. */
#define RATE_SEARCH_EASY (1.0 / 64)
void rate_search_ease(struct rate_search *);
/* Between the highest rate that passed and the lowest that did not is no more than the
 * resolution. */
bool rate_search_narrow(const struct rate_search *);
/* It is over, and low rates have been tried as well: none passes. */
bool rate_search_none(const struct rate_search *);
/* How many more trials are likely, the next one included; 0: it is over. */
unsigned rate_search_rest(const struct rate_search *);
