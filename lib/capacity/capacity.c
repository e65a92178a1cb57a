/* SPDX-License-Identifier: BSD-3-Clause */
/* The points that are measured one after the other, and what the trials of a point come to. */
#include "capacity.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define WIRE_OVERHEAD 20 /* preamble and gap, bytes of a frame on the wire beside its size */

const char *capacity_direction_name(enum capacity_direction d)
{
	static const char *const names[] = {"send", "receive", "both"};

	return names[d];
}

const char *capacity_limit_name(enum capacity_limit l)
{
	static const char *const names[] = {"unknown", "core",   "link",  "PCIe",
					    "device",  "memory", "tester"};

	return names[l];
}

const char *capacity_state_name(enum capacity_state s)
{
	static const char *const names[] = {"open", "exact", "at least", "nothing", "not valid"};

	return names[s];
}

double capacity_link_pps(double bps, unsigned size)
{
	return bps / 8 / (size + WIRE_OVERHEAD);
}

double capacity_l1_bps(double pps, unsigned size)
{
	return pps * 8 * (size + WIRE_OVERHEAD);
}

void capacity_begin(struct capacity *k, const struct capacity_ask *ask)
{
	*k = (struct capacity){.ask = *ask};
	k->point = xcalloc((size_t)CAPACITY_DIRECTIONS * ask->nsizes * ask->ncounts,
			   sizeof(*k->point));
	for (unsigned d = 0; d < CAPACITY_DIRECTIONS; d++)
		for (unsigned s = 0; ask->direction[d] && s < ask->nsizes; s++)
			for (unsigned c = 0; c < ask->ncounts; c++) {
				struct capacity_point *p = &k->point[k->npoints++];
				p->direction = (enum capacity_direction)d;
				p->size = ask->size[s];
				p->queues = ask->count[c];
				rate_search_begin(&p->search);
			}
}

void capacity_free(struct capacity *k)
{
	free(k->point);
	*k = (struct capacity){0};
}

bool capacity_next(const struct capacity *k, struct capacity_trial *out)
{
	if (k->now >= k->npoints)
		return false;
	const struct capacity_point *p = &k->point[k->now];
	*out = (struct capacity_trial){.direction = p->direction,
				       .size = p->size,
				       .queues = p->queues,
				       .pps = p->search.next};
	return true;
}

/* What a reading says about the rate. What is sent counts as carried when the device has taken it;
 * what the port is sent, when it came. */
static enum rate_told rate_told_by(const struct capacity_ask *ask, enum capacity_direction d,
				   const struct capacity_reading *r)
{
	if (r->worth == CAPACITY_DISTURBED)
		return RATE_UNTOLD;
	if (d != CAPACITY_SEND) {
		uint64_t gone = r->sent_for > r->came ? r->sent_for - r->came : 0;
		if (r->sent_for == 0)
			return RATE_UNTOLD;
		if ((double)gone > ask->max_loss * (double)r->sent_for)
			return RATE_FAILED;
	}
	return r->worth == CAPACITY_SHORT ? RATE_SHORT : RATE_PASSED;
}

/* Frames/s of a sender; of two, those of the slower one, which is what both can send. */
static double sender_pps(enum capacity_direction d, const struct capacity_reading *r)
{
	double own = r->side[CAPACITY_OWN][CAPACITY_TX].pps,
	       partner = r->side[CAPACITY_PARTNER][CAPACITY_TX].pps;

	return d == CAPACITY_SEND ? own : d == CAPACITY_RECEIVE ? partner : fmin(own, partner);
}

static void point_over(const struct capacity_ask *ask, struct capacity_point *p)
{
	const struct rate_search *s = &p->search;
	const struct capacity_side *own = p->at.side[CAPACITY_OWN];
	double pps = fmax(p->direction != CAPACITY_RECEIVE ? own[CAPACITY_TX].pps : 0,
			  p->direction != CAPACITY_SEND ? own[CAPACITY_RX].pps : 0);

	if (s->low <= 0) {
		p->state = rate_search_none(s) ? CAPACITY_NONE : CAPACITY_INVALID;
		if (p->state == CAPACITY_INVALID && s->high_by == RATE_FAILED)
			snprintf(
				p->why, sizeof(p->why),
				"frames were lost at each rate down to %.4g frames/s, and lower ones were not tried: %u of %u trials told nothing",
				s->high, s->untold, s->trials);
		else if (p->state == CAPACITY_INVALID)
			snprintf(p->why, sizeof(p->why), "no trial was valid: %s",
				 p->above.why[0] != '\0' ? p->above.why : "no frame was sent");
		else
			capacity_judge(ask, p);
		return;
	}
	p->l1_bps = capacity_l1_bps(pps, p->size);
	capacity_judge(ask, p);
	double queued;
	if (p->limit != CAPACITY_LINK && capacity_in_queues(p, &queued)) {
		p->state = CAPACITY_INVALID;
		p->l1_bps = 0;
		p->limit = CAPACITY_UNKNOWN;
		p->cores = 0;
		p->need[0] = '\0';
		snprintf(
			p->why, sizeof(p->why),
			"up to %.2g%% of the frames may only lie in the queues of the device, too many for so short a trial; give it a longer `for`",
			100 * queued);
		return;
	}
	/* trials may have run out before the two rates came near each other */
	bool lost = rate_search_narrow(s) && s->high_by == RATE_FAILED,
	     foreign = p->limit == CAPACITY_TESTER || p->limit == CAPACITY_UNKNOWN ||
		       (p->limit == CAPACITY_CORE &&
			(own[CAPACITY_TX].shared || own[CAPACITY_RX].shared));
	p->state = p->limit == CAPACITY_LINK || (!foreign && (lost || isinf(s->high)))
			   ? CAPACITY_EXACT
			   : CAPACITY_LEAST;
}

void capacity_feed(struct capacity *k, const struct capacity_reading *r)
{
	struct capacity_point *p = &k->point[k->now];
	struct rate_search *s = &p->search;
	enum rate_told what = rate_told_by(&k->ask, p->direction, r);
	double passed = p->direction == CAPACITY_SEND ? 0 : r->side[CAPACITY_OWN][CAPACITY_RX].pps;
	bool first = isinf(s->next);
	double high = s->high;

	rate_search_feed(s, what, sender_pps(p->direction, r), passed);
	/* a trial that is to be repeated says nothing of the rate */
	if (what == RATE_PASSED)
		p->at = *r;
	else if (s->high < high)
		p->above = *r;
	/* Not even one frame came: these ports are not joined, or do not hear each other. */
	bool deaf = first && what == RATE_FAILED && r->came == 0;
	/* A rate below the highest one says nothing of how fast a port can send. */
	bool mute = p->direction == CAPACITY_SEND && !isinf(s->next);
	if (!deaf && !mute && !s->over)
		return;
	s->over = true;
	if (deaf) {
		p->state = CAPACITY_INVALID;
		snprintf(
			p->why, sizeof(p->why),
			"of %" PRIu64
			" frames that port %u sent none came to port %u: are they joined, and their links up?",
			r->sent_for, k->ask.port[CAPACITY_PARTNER].port,
			k->ask.port[CAPACITY_OWN].port);
	} else {
		point_over(&k->ask, p);
	}
	k->now++;
}

unsigned capacity_rest(const struct capacity *k)
{
	unsigned rest = 0;

	for (unsigned i = k->now; i < k->npoints; i++)
		rest += k->point[i].direction == CAPACITY_SEND
				? 1
				: rate_search_rest(&k->point[i].search);
	return rest;
}
