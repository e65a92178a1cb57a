/* SPDX-License-Identifier: BSD-3-Clause */
/* The course of a measurement of latency under load, and what each of its trials told. */
#include "knee_run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "work.h"

struct knee_run {
	struct ctl *c;
	struct knee_run_spec spec;
	enum trial_of of;
	struct knee k;
	struct trial *trial; /* the one that goes on */
	/* For the estimate: the time of all trials that are over, and the begin of this one. */
	uint64_t gone_ns, began_ns;
	unsigned ntrials;
};

/* ---- what a trial told ---- */

static double ns_or_nan(uint64_t v)
{
	return v != UINT64_MAX ? (double)v : (double)NAN;
}

static void times_none(struct knee_times *out)
{
	out->samples = 0;
	out->max_ns = (double)NAN;
	for (unsigned i = 0; i < KNEE_RANKS; i++)
		out->ns[i] = (double)NAN;
}

/* Of frames, from their distribution. */
static void times_of_frames(const struct hist *h, struct knee_times *out)
{
	times_none(out);
	if (h == NULL || hist_count(h) == 0)
		return;
	out->samples = hist_count(h);
	out->max_ns = ns_or_nan(hist_max(h));
	for (unsigned i = 0; i < KNEE_RANKS; i++)
		if (out->samples >= knee_ranks[i].samples)
			out->ns[i] = ns_or_nan(hist_percentile(h, knee_ranks[i].percent));
}

static double number_or_nan(const json_t *o, const char *key)
{
	const json_t *v = json_object_get(o, key);

	return json_is_number(v) ? json_number_value(v) : (double)NAN;
}

/* Of calls, from what the work says of one of their times. */
static void times_of_calls(const json_t *time, struct knee_times *out)
{
	static const char *const keys[KNEE_RANKS] = {"p50_ns", "p90_ns", "p99_ns", "p999_ns",
						     "p9999_ns"};

	times_none(out);
	out->samples = (uint64_t)json_integer_value(json_object_get(time, "count"));
	out->max_ns = number_or_nan(time, "max_ns");
	for (unsigned i = 0; i < KNEE_RANKS; i++)
		if (out->samples >= knee_ranks[i].samples)
			out->ns[i] = number_or_nan(time, keys[i]);
}

static void read_times(const struct trial_result *r, struct knee_reading *out)
{
	const json_t *all = json_object_get(r->calls.made, "latency");

	for (unsigned t = 0; t < KNEE_TIMES; t++) {
		enum knee_time time = (enum knee_time)t;
		if (!knee_time_of(r->of, time))
			times_none(&out->time[t]);
		else if (r->of == TRIAL_FRAMES)
			times_of_frames(r->latency[t == KNEE_DUE ? LATENCY_DUE : LATENCY_SENT],
					&out->time[t]);
		else
			times_of_calls(json_object_get(all, knee_time_key(time)), &out->time[t]);
	}
}

/* Each second, of the slowest port that sends. A port may be several senders. */
static double knee_slowest(const struct trial_result *r)
{
	double least = (double)INFINITY;

	for (unsigned i = 0; i < r->ntx; i++) {
		double port = 0;
		for (unsigned j = 0; j < r->ntx; j++)
			if (r->tx[j].port == r->tx[i].port)
				port += r->tx[j].load.offered_pps;
		least = fmin(least, port);
	}
	return isfinite(least) ? least : 0;
}

/* Whether nothing else is wrong than that a sender sent less than it was to. */
static bool only_short(const struct trial_result *r)
{
	for (unsigned v = 1; v < TRIAL_NVERDICTS; v++)
		if (r->is[v] != (v == TRIAL_LIMITED))
			return false;
	if (r->receivers_limited || r->load.max)
		return false;
	return r->load.counted && r->load.offered < r->load.intended;
}

/* Of what both ends have sent. What was sent again because its answer was lost counts, too. */
static double knee_resent(const struct trial_result *r)
{
	const json_t *const ends[] = {r->calls.made, r->calls.answered};
	double sent = 0, again = 0;

	for (unsigned i = 0; i < RTE_DIM(ends); i++) {
		const json_t *s = json_object_get(ends[i], "segments");
		if (s == NULL)
			continue;
		sent += json_number_value(json_object_get(s, "tx"));
		again += json_number_value(json_object_get(s, "retransmitted"));
	}
	return sent > 0 ? again / sent : (double)NAN;
}

static void knee_read(const struct trial_result *r, struct knee_reading *out)
{
	*out = (struct knee_reading){
		.valid = r->verdict == TRIAL_VALID,
		.is_short = only_short(r),
		.intended = r->load.max ? (double)NAN : r->load.intended_pps,
		.offered = r->load.offered_pps,
		.each = knee_slowest(r),
		.loss = trial_loss(&r->sum),
		.resent = knee_resent(r),
	};
	snprintf(out->verdict, sizeof(out->verdict), "%s", trial_verdict_name(r->verdict));
	if (!out->valid)
		snprintf(out->why, sizeof(out->why), "%s", r->why[r->verdict]);
	out->passed = isfinite(out->loss) ? out->each * (1 - out->loss) : 0;
	read_times(r, out);
}
_Static_assert(sizeof(((struct knee_reading *)0)->why) ==
		       sizeof(((struct trial_result *)0)->why[0]),
	       "why");

/* ---- the course ---- */

static int knee_next_trial(struct knee_run *r, struct err *e)
{
	struct trial_spec spec = r->spec.trial;

	if (!knee_next(&r->k, &spec.rate))
		return 1;
	int rc = trial_start(r->c, &spec, &r->trial, e);
	r->began_ns = clock_raw_ns();
	return rc;
}

int knee_run_start(struct ctl *c, const struct knee_run_spec *spec, struct knee_run **out,
		   struct err *e)
{
	struct knee_run *r = xcalloc(1, sizeof(*r));
	struct trial_spec first = spec->trial;

	r->c = c;
	r->spec = *spec;
	knee_begin(&r->k, &spec->ask);
	first.rate = spec->ask.max;
	int rc = trial_would_be(c, &first, &r->of, e);
	if (rc == 0 && spec->ask.by_resent && r->of == TRIAL_FRAMES)
		rc = err_set(
			e, EINVAL,
			"`resent` is of flows, and these ports send frames, which nobody sends again; `loss SHARE` says how many may be lost");
	if (rc == 0)
		rc = knee_next_trial(r, e);
	if (rc < 0) {
		knee_run_free(r);
		return rc;
	}
	*out = r;
	return 0;
}

int knee_run_poll(struct knee_run *r, struct err *e)
{
	int rc = trial_poll(r->trial, e);

	if (rc <= 0)
		return rc;
	const struct trial_result *res = trial_result(r->trial);
	struct knee_reading *got = xcalloc(1, sizeof(*got));
	if (res->of != r->of)
		rc = err_set(
			e, EBUSY,
			"somebody else has set the ports anew: trials were of %s, and are of %s now; knee starts anew when nobody "
			"else sets them",
			trial_words(r->of)->noun, trial_words(res->of)->noun);
	knee_read(res, got);
	if (rc > 0 && r->spec.told != NULL)
		r->spec.told(r->spec.arg, res);
	if (rc > 0)
		knee_feed(&r->k, got);
	free(got);
	trial_free(r->trial);
	r->trial = NULL;
	r->gone_ns += clock_raw_ns() - r->began_ns;
	r->ntrials++;
	return rc < 0 ? rc : knee_next_trial(r, e);
}

const struct knee *knee_run_result(const struct knee_run *r)
{
	return &r->k;
}

enum trial_of knee_run_of(const struct knee_run *r)
{
	return r->of;
}

void knee_run_progress(const struct knee_run *r, uint64_t *gone_ns, uint64_t *all_ns)
{
	uint64_t each = r->ntrials > 0 ? r->gone_ns / r->ntrials
				       : r->spec.trial.duration_ns + KNEE_NS_AROUND,
		 in = r->trial != NULL ? clock_raw_ns() - r->began_ns : 0;

	*gone_ns = r->gone_ns + RTE_MIN(in, each);
	*all_ns = r->gone_ns + knee_rest(&r->k) * each;
}

void knee_run_free(struct knee_run *r)
{
	if (r == NULL)
		return;
	trial_free(r->trial);
	free(r);
}
