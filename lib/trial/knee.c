/* SPDX-License-Identifier: BSD-3-Clause */
#include "knee.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

/* As hist_json() has them. */
const struct knee_rank_words knee_ranks[KNEE_RANKS] = {
	{"p50", 50, 2},        {"p90", 90, 10},          {"p99", 99, 100},
	{"p99_9", 99.9, 1000}, {"p99_99", 99.99, 10000},
};

static const struct {
	const char *key, *name;
} time_words[KNEE_TIMES] = {
	[KNEE_DUE] = {"since_due", "since due"},       [KNEE_SENT] = {"since_sent", "since sent"},
	[KNEE_CONNECT] = {"connect", "connect"},       [KNEE_FIRST] = {"first_byte", "first byte"},
	[KNEE_WHOLE] = {"transaction", "transaction"}, [KNEE_CLOSE] = {"close", "close"},
};

const char *knee_time_key(enum knee_time t)
{
	return time_words[t].key;
}

const char *knee_time_name(enum knee_time t)
{
	return time_words[t].name;
}

bool knee_time_of(enum trial_of of, enum knee_time t)
{
	return t == KNEE_DUE || (of == TRIAL_FRAMES) == (t == KNEE_SENT);
}

/* Of a connection the time since it was due begins with its request. */
bool knee_time_decides(enum trial_of of, enum knee_time t)
{
	return t == KNEE_DUE || (of == TRIAL_CONNECTIONS && t == KNEE_CONNECT);
}

const char *knee_limit_name(enum knee_limit l)
{
	static const char *const names[] = {"searching", "given",   "exact",
					    "at least",  "nothing", "not valid"};

	return names[l];
}

const char *knee_found_name(enum knee_found f)
{
	static const char *const names[] = {"found", "beyond the limit", "unknown"};

	return names[f];
}

/* ---- the limit ---- */

static void limit_set(struct knee *k, enum knee_limit by, struct rate limit)
{
	k->limit_by = by;
	k->limit = limit;
	for (unsigned i = 0; i < k->ask.nloads; i++) {
		struct knee_load *l = &k->load[i];
		l->share = (double)(i + 1) / k->ask.nloads;
		l->rate = limit;
		l->rate.value = limit.value * (i + 1) / k->ask.nloads;
	}
}

static void limit_none(struct knee *k, enum knee_limit by)
{
	k->limit_by = by;
	k->now = k->ask.nloads;
}

void knee_begin(struct knee *k, const struct knee_ask *ask)
{
	*k = (struct knee){.ask = *ask};
	rate_search_begin(&k->search);
	if (ask->max.kind != RATE_MAX)
		limit_set(k, KNEE_GIVEN, ask->max);
}

/* A number of whatever is sent. */
static struct rate rate_each(double per_s)
{
	return (struct rate){.kind = RATE_EACH, .value = per_s};
}

/* Whether more is lost, or sent again, than may be. */
static bool lost_too_much(const struct knee *k, const struct knee_reading *r)
{
	return r->loss > k->ask.max_loss || (k->ask.by_resent && r->resent > k->ask.max_resent);
}

/* What of it, in words. */
static void say_lost(const struct knee *k, const struct knee_reading *r, char *out, size_t size)
{
	if (r->loss > k->ask.max_loss)
		snprintf(out, size, "%.6g%% is lost", 100 * r->loss);
	else
		snprintf(out, size, "%.6g%% of segments are sent again", 100 * r->resent);
}

static enum rate_told told_by(const struct knee *k, const struct knee_reading *r)
{
	/* what is lost is lost, even if the sender did not send all that it was to */
	if ((r->valid || r->is_short) && lost_too_much(k, r))
		return RATE_FAILED;
	if (r->is_short)
		return RATE_SHORT;
	return r->valid && isfinite(r->loss) ? RATE_PASSED : RATE_UNTOLD;
}

static void search_over(struct knee *k)
{
	const struct rate_search *s = &k->search;

	if (s->low <= 0) {
		limit_none(k, rate_search_none(s) ? KNEE_NOTHING : KNEE_INVALID);
		return;
	}
	bool lost = rate_search_narrow(s) && s->high_by == RATE_FAILED;
	limit_set(k, lost ? KNEE_EXACT : KNEE_LEAST,
		  rate_each(s->low * (lost ? 1 : 1 - KNEE_SPARE)));
	if (lost)
		k->why[0] = '\0';
}

static void feed_search(struct knee *k, const struct knee_reading *r)
{
	enum rate_told what = told_by(k, r);
	bool first = isinf(k->search.next);
	double passed = r->passed;

	char lost[64];

	say_lost(k, r, lost, sizeof(lost));
	if (what == RATE_FAILED)
		snprintf(k->why, sizeof(k->why), "%s at %.0f each second", lost,
			 first ? r->each : k->search.next);
	else if (what != RATE_PASSED)
		snprintf(k->why, sizeof(k->why), "%s",
			 r->why[0] != '\0' ? r->why : "nothing was sent");
	else if (first)
		snprintf(k->why, sizeof(k->why), "faster than %.0f each second nothing is sent",
			 r->each);
	if (first && what == RATE_PASSED) {
		/* it was not paced, which loads are: the same rate is to pass with deadlines */
		what = RATE_SHORT;
		passed = r->each * (1 - 1e-9);
	}
	rate_search_feed(&k->search, what, r->each, passed);
	if (k->search.over)
		search_over(k);
}

/* ---- the loads ---- */

bool knee_next(const struct knee *k, struct rate *out)
{
	if (k->now >= k->ask.nloads)
		return false;
	if (k->limit_by != KNEE_SEARCHING)
		*out = k->load[k->now].rate;
	else if (isinf(k->search.next))
		*out = (struct rate){.kind = RATE_MAX};
	else
		*out = rate_each(k->search.next);
	return true;
}

void knee_feed(struct knee *k, const struct knee_reading *r)
{
	if (k->limit_by == KNEE_SEARCHING) {
		feed_search(k, r);
		return;
	}
	struct knee_load *l = &k->load[k->now];
	l->at = *r;
	l->trials++;
	if (r->valid || l->trials > KNEE_AGAIN)
		k->now++;
}

unsigned knee_rest(const struct knee *k)
{
	unsigned loads = k->ask.nloads - k->now;

	return k->limit_by == KNEE_SEARCHING ? loads + rate_search_rest(&k->search) : loads;
}

unsigned knee_measured(const struct knee *k)
{
	unsigned n = 0;

	while (n < k->ask.nloads && k->load[n].trials > 0)
		n++;
	return n;
}

/* ---- the knee ---- */

/* Whether the load tells anything of each time that decides and that the lowest load has. */
static bool load_tells(const struct knee *k, enum trial_of of, unsigned i, const unsigned *base)
{
	const struct knee_reading *r = &k->load[i].at;
	bool any = false;

	if (!r->valid)
		return false;
	for (unsigned t = 0; t < KNEE_TIMES; t++) {
		if (!knee_time_decides(of, (enum knee_time)t))
			continue;
		bool has = isfinite(r->time[t].ns[KNEE_P99]);
		if (base != NULL && !has && isfinite(k->load[*base].at.time[t].ns[KNEE_P99]) &&
		    !lost_too_much(k, r))
			return false;
		any |= has;
	}
	return any || (base != NULL && lost_too_much(k, r));
}

/* Whether the load is beyond the knee; *out says why. */
static bool load_beyond(const struct knee *k, unsigned base, unsigned i, enum trial_of of,
			struct knee_place *out)
{
	const struct knee_reading *r = &k->load[i].at, *b = &k->load[base].at;

	if (lost_too_much(k, r)) {
		say_lost(k, r, out->why, sizeof(out->why));
		return true;
	}
	for (unsigned t = 0; t < KNEE_TIMES; t++) {
		double was = b->time[t].ns[KNEE_P99], is = r->time[t].ns[KNEE_P99];
		if (!knee_time_decides(of, (enum knee_time)t) || !(is > KNEE_FACTOR * was))
			continue;
		snprintf(out->why, sizeof(out->why),
			 "%s 99%% is %.3g times that of the lowest load",
			 knee_time_name((enum knee_time)t), is / was);
		return true;
	}
	return false;
}

void knee_find(const struct knee *k, enum trial_of of, struct knee_place *out)
{
	unsigned n = knee_measured(k), i = 0;

	*out = (struct knee_place){.found = KNEE_UNKNOWN};
	while (i < n && !(load_tells(k, of, i, NULL) && !lost_too_much(k, &k->load[i].at)))
		i++;
	if (i == n) {
		snprintf(out->why, sizeof(out->why),
			 "no load has a valid trial with %" PRIu64 " samples and without loss",
			 knee_ranks[KNEE_P99].samples);
		return;
	}
	out->base = out->at = i;
	for (i++; i < n; i++) {
		if (!load_tells(k, of, i, &out->base))
			continue;
		if (load_beyond(k, out->base, i, of, out)) {
			out->found = KNEE_FOUND;
			out->above = i;
			return;
		}
		out->at = i;
	}
	if (out->at == out->base) {
		snprintf(out->why, sizeof(out->why),
			 "only one load has a valid trial with %" PRIu64 " samples",
			 knee_ranks[KNEE_P99].samples);
		return;
	}
	if (n < k->ask.nloads) {
		snprintf(out->why, sizeof(out->why),
			 "no load up to %.4g%% is worse, and those above were not measured",
			 100 * k->load[out->at].share);
		return;
	}
	out->found = KNEE_BEYOND;
}
