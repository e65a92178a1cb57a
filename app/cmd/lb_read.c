/* SPDX-License-Identifier: BSD-3-Clause */
/* What a trial of a figure tells, and what the trials of a figure come to. */
#include "lb_run.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BUSY 0.95 /* of a worker that can do no more */

/* ---- in words ---- */

/* Adds the members of an object that are numbers above 0: "refused 12, timed out 3". */
static void say_numbers(const json_t *o, const char *const *but, struct sbuf *out)
{
	const char *key;
	json_t *v;

	json_object_foreach((json_t *)(uintptr_t)o, key, v) {
		bool left = false;
		for (unsigned i = 0; but != NULL && but[i] != NULL; i++)
			left |= strcmp(key, but[i]) == 0;
		if (left || !json_is_integer(v) || json_integer_value(v) <= 0)
			continue;
		sbuf_addf(out, "%s", out->len > 0 ? ", " : "");
		for (const char *c = key; *c != '\0'; c++)
			sbuf_addc(out, *c == '_' ? ' ' : *c);
		sbuf_addf(out, " %" JSON_INTEGER_FORMAT, json_integer_value(v));
	}
}

static long long number_at(const json_t *doc, const char *path)
{
	return json_integer_value(out_get(doc, path));
}

/* Whether somebody was asked at this address, "10.0.0.1:80" or "[2001:db8::1]:80". */
static bool was_asked(const struct lb_run *b, const char *from)
{
	size_t skip = *from == '[', n = strlen(from) - strlen(strrchr(from, ':')) - 2 * skip;
	struct sbuf to = {0};
	bool asked = false;

	for (unsigned i = 0; !asked && lb_nth_value(sbuf_str(&b->client.dst), i, &to); i++) {
		asked = to.len == n && memcmp(from + skip, to.s, n) == 0;
		sbuf_reset(&to);
	}
	sbuf_free(&to);
	return asked;
}

/* What is wrong with the device, if that can be seen: nothing is guessed. */
static void say_cause(const struct lb_run *b, const json_t *doc, struct sbuf *out)
{
	const char *from = json_string_value(out_get(doc, "trial.strays.from"));
	long long bad = number_at(doc, "trial.segments.bad_checksum") +
			number_at(doc, "trial.strays.bad_checksum"),
		  bad_there = number_at(doc, "trial.servers.segments.bad_checksum") +
			      number_at(doc, "trial.servers_strays.bad_checksum"),
		  strays = number_at(doc, "trial.strays.no_match"),
		  lost_there = number_at(doc, "trial.servers_strays.no_match"),
		  others_there = number_at(doc, "trial.servers_strays.others");

	if (bad > 0)
		sbuf_addf(out, "wrong checksums of %lld frames that came to the clients; ", bad);
	if (bad_there > 0)
		sbuf_addf(out, "wrong checksums of %lld frames that came to the servers; ",
			  bad_there);
	if (strays > 0 && from != NULL && !was_asked(b, from))
		sbuf_addf(
			out,
			"answers from elsewhere: %lld frames of no connection came to the clients, "
			"such as from %s, which nobody had asked; ",
			strays, from);
	else if (strays > 0)
		sbuf_addf(out, "%lld frames of no connection came to the clients; ", strays);
	if (lost_there > 0)
		sbuf_addf(out, "%lld frames of no connection came to the servers; ", lost_there);
	if (number_at(doc, "trial.segments.rx") == 0 && bad == 0 && strays == 0)
		sbuf_add(out, "no answer: no frame came to the clients; ");
	if (number_at(doc, "trial.servers.segments.rx") == 0 && bad_there == 0 && lost_there == 0 &&
	    others_there == 0)
		sbuf_add(out, "no frame came to the servers; ");
	else if (number_at(doc, "trial.servers.segments.rx") == 0 && others_there > 0)
		sbuf_addf(out,
			  "%lld frames came to the servers, for addresses or ports that are none "
			  "of theirs; ",
			  others_there);
}

/* What became of what did not come through, as far as anybody counted. */
static void say_failed(const struct lb_run *b, const struct trial_result *res, const json_t *doc,
		       struct sbuf *out)
{
	static const char *const good[] = {"sent",      "received", "opened", "started",
					   "succeeded", "others",   NULL};
	static const char *const held[] = {"opened", "established", "closed", "open", NULL};
	static const char *const usual[] = {"ack_sent", "dup_ack", "rst_sent", NULL};
	const struct trial_words *w = trial_words(res->of);
	struct sbuf fates = {0}, more = {0};
	long long again = number_at(doc, "trial.segments.retransmitted"),
		  again_there = number_at(doc, "trial.servers.segments.retransmitted");

	if (res->of != TRIAL_FRAMES)
		say_cause(b, doc, out);
	if (again + again_there > 0)
		sbuf_addf(out,
			  "%lld segments were sent again by the clients and %lld by the servers; ",
			  again, again_there);
	say_numbers(out_get(doc, "trial.fates"), good, &fates);
	sbuf_addf(out, "of %" PRIu64 " %s %" PRIu64 " did not come through", res->sum.sent, w->noun,
		  res->sum.sent - res->sum.received);
	if (fates.len > 0)
		sbuf_addf(out, " (%s)", fates.s);
	sbuf_free(&fates);
	if (res->of == TRIAL_FRAMES)
		return;
	if (res->sum.within_failed > 0)
		sbuf_addf(out, ", and %" PRIu64 " of %" PRIu64 " %s", res->sum.within_failed,
			  res->sum.within,
			  trial_words(res->of == TRIAL_CONNECTIONS ? TRIAL_TRANSACTIONS
								   : TRIAL_CONNECTIONS)
				  ->noun);
	if (res->of == TRIAL_TRANSACTIONS) {
		struct sbuf ends = {0};
		say_numbers(out_get(doc, "trial.connections"), held, &ends);
		if (ends.len > 0)
			sbuf_addf(out, " (%s)", ends.s);
		sbuf_free(&ends);
	}
	say_numbers(out_get(doc, "trial.errors"), usual, &more);
	if (more.len > 0)
		sbuf_addf(out, "; clients: %s", more.s);
	sbuf_addf(out, "; the servers saw %lld connections",
		  number_at(doc, "trial.servers.connections.opened"));
	sbuf_free(&more);
}

/* ---- a trial ---- */

static bool falls_behind(const struct lb_run *b, const struct trial_result *res, struct sbuf *out)
{
	double late = res->load.offered_pps * (double)lb_late_ns(res) / 1e9;
	const struct lb_open *mid = &b->watch.mid, *end = &b->watch.end;

	if (b->point[b->now].figure != LB_CPS || !lb_falls_behind(mid, end, late))
		return false;
	sbuf_addf(out,
		  "it falls behind: of %" PRIu64 " connections %" PRIu64
		  " were open in the middle of the time, and of %" PRIu64 " %" PRIu64
		  " at its end: more were opened than came to their end",
		  mid->begun, mid->open, end->begun, end->open);
	return true;
}

/* Whether control itself had so little of a CPU that it cannot tell whether the device falls
 * behind. */
static bool not_watched(const struct lb_run *b, struct lb_trial *t)
{
	uint64_t seen = b->watch.mid.ns > 0 ? b->watch.end.ns - b->watch.mid.ns : 0;

	if (b->point[b->now].figure != LB_CPS || lb_watched(&b->watch, b->asked_ns))
		return false;
	snprintf(
		t->why, sizeof(t->why),
		"control had no CPU: it has watched the connections for %.3f of the last %.3f ms, so it is not known whether the device falls behind",
		(double)seen / 1e6, (double)b->asked_ns / 2e6);
	return true;
}

/* Whether the tester was too slow itself for what came late to be the device's fault. */
static bool tester_busy(const struct trial_result *res, const struct lb_trial *t)
{
	double busy = fmax(t->client_cpu, t->server_cpu);

	return res->senders_limited || lb_busy_most(busy, res->span_ns, res->asked_ns) >= BUSY;
}

static enum rate_told told_by(const struct lb_run *b, const struct trial_result *res,
			      const json_t *doc, struct lb_trial *t)
{
	static const enum trial_verdict bad[] = {TRIAL_COUNTERS, TRIAL_LINK, TRIAL_CLOCK,
						 TRIAL_PREEMPTED};
	struct sbuf text = {0};

	for (unsigned i = 0; i < ARRAY_SIZE(bad); i++)
		if (res->is[bad[i]]) {
			snprintf(t->why, sizeof(t->why), "%s", res->why[bad[i]]);
			return RATE_UNTOLD;
		}
	if (res->sum.sent == 0) {
		snprintf(t->why, sizeof(t->why), "nothing was sent%s%s",
			 res->why[TRIAL_LIMITED][0] != '\0' ? ": " : "", res->why[TRIAL_LIMITED]);
		return RATE_UNTOLD;
	}
	snprintf(t->why, sizeof(t->why), "%s",
		 res->is[TRIAL_LIMITED] ? res->why[TRIAL_LIMITED] : "");
	if (res->receivers_limited) /* what was lost there is no fault of the device */
		return RATE_SHORT;
	bool lost = !(t->loss <= b->ask.max_loss);
	if (lost)
		say_failed(b, res, doc, &text);
	if (lost || falls_behind(b, res, &text)) {
		/* nothing failed, and what came late the tester may have been late for */
		bool ours = trial_loss(&res->sum) <= b->ask.max_loss && tester_busy(res, t);
		const struct trial_worker *still = lb_stood_still(res);
		if (still != NULL)
			snprintf(
				t->why, sizeof(t->why),
				"worker %u stood still for %.3f ms, so it is not known whose fault this is: %s",
				still->lcore, (double)still->longest_ns / 1e6, sbuf_str(&text));
		else
			snprintf(
				t->why, sizeof(t->why), "%s%s",
				ours ? "it was as busy as it can be, or short itself, so it is not known whose fault this is: "
				     : "",
				sbuf_str(&text));
		sbuf_free(&text);
		return isnan(t->loss) || still != NULL ? RATE_UNTOLD
		       : ours                          ? RATE_SHORT
						       : RATE_FAILED;
	}
	/* as fast as answers come is not as fast as possible: a device that pauses is slow */
	bool climbs = lb_about[b->point[b->now].figure].climbs;
	if (!res->senders_limited || (isinf(t->asked) && climbs))
		return not_watched(b, t) ? RATE_UNTOLD : RATE_PASSED;
	return isinf(t->asked) ? RATE_UNTOLD : RATE_SHORT;
}

/* The share that was lost. TCP hides what a device has lost by sending it again: of CPS that
 * counts, since its limit is where it begins to lose. CC is what was open and answered, no more:
 * whether all of it can be closed at once, in the time of flow.drain, is another question. */
static double loss_of(enum lb_figure f, const struct trial_result *res, const json_t *doc)
{
	double loss = trial_loss(&res->sum);

	if (f == LB_CPS) {
		double sent = (double)(number_at(doc, "trial.segments.tx") +
				       number_at(doc, "trial.servers.segments.tx")),
		       again = (double)(number_at(doc, "trial.segments.retransmitted") +
					number_at(doc, "trial.servers.segments.retransmitted"));
		return sent > 0 ? fmax(loss, again / sent) : loss;
	}
	if (f == LB_CC && !isnan(loss) && res->sum.within > 0) {
		struct trial_fates held = res->sum;
		uint64_t open = (uint64_t)number_at(doc, "trial.connections.aborted");
		held.within_failed -= open < held.within_failed ? open : held.within_failed;
		return trial_loss(&held);
	}
	return loss;
}

static double ns_at(const json_t *o, const char *path)
{
	const json_t *v = o != NULL ? out_get(o, path) : NULL;

	return json_is_number(v) ? json_number_value(v) : (double)NAN;
}

static void read_latency(const struct lb_run *b, const json_t *doc, struct lb_trial *t)
{
	enum lb_figure f = b->point[b->now].figure;
	const json_t *frames = out_get(doc, "trial.latency.actual"),
		     *calls = out_get(doc, f == LB_CPS ? "trial.latency.connect"
						       : "trial.latency.transaction");
	bool of_frames = lb_about[f].frames;

	t->p50_ns = of_frames ? ns_at(frames, "percentiles_ns.p50") : ns_at(calls, "p50_ns");
	t->p99_ns = of_frames ? ns_at(frames, "percentiles_ns.p99") : ns_at(calls, "p99_ns");
	t->max_ns = ns_at(of_frames ? frames : calls, "max_ns");
}

/* The busiest worker that serves one of the ports. */
static double busy_of(const struct lb_run *b, const struct trial_result *res,
		      const struct portset *ports)
{
	const struct placement *pl = ctl_placement(b->app->ctl);
	double most = (double)NAN;

	for (unsigned i = 0; i < res->nworkers; i++)
		for (unsigned q = 0; q < pl->n; q++)
			if (pl->q[q].lcore == res->worker[i].lcore &&
			    portset_has(ports, pl->q[q].port))
				most = fmax(most, res->worker[i].busy);
	return most;
}

void lb_read(const struct lb_run *b, const struct trial_result *res, struct lb_trial *t,
	     double *passed)
{
	enum lb_figure f = b->point[b->now].figure;
	json_t *doc = trial_json(res, &b->ask.cfg);
	double came = res->sum.sent > 0 ? (double)res->sum.received / (double)res->sum.sent : 0;

	*t = (struct lb_trial){.what = b->what,
			       .repeat = b->what == LB_SEARCH ? b->repeat : 0,
			       .asked = b->x};
	t->loss = loss_of(f, res, doc);
	t->carried = res->load.offered_pps;
	/* that of the whole time: the load had pauses */
	if (isinf(b->x) && lb_about[f].climbs)
		t->carried = fmin(t->carried, (double)res->sum.sent * 1e9 / (double)res->asked_ns);
	t->pps = f == LB_CPS ? (double)NAN : t->carried * lb_about[LB_PPS].per;
	if (f == LB_TWO_WAY || f == LB_CC)
		t->pps = t->carried * lb_about[LB_TWO_WAY].per;
	t->l1_bps = lb_about[f].frames ? res->load.offered_l1_bps : (double)NAN;
	*passed = t->carried * came;
	if (f == LB_CC) {
		t->carried = (double)res->sum.within;
		*passed = (double)(res->sum.within - res->sum.within_failed);
	}
	t->client_cpu = busy_of(b, res, &b->ask.client);
	t->server_cpu = busy_of(b, res, &b->ask.servers);
	t->told = told_by(b, res, doc, t);
	if (f == LB_CC && t->told == RATE_PASSED && !isinf(t->asked) &&
	    t->carried < floor(t->asked))
		t->told = RATE_SHORT;
	t->opened = lb_about[f].frames ? (double)NAN : (double)trial_opened(b->trial);
	if (b->ask.timeout_ns > 0 && t->told == RATE_PASSED &&
	    t->opened > lb_ring_room(&b->ring[b->tcp])) {
		t->told = RATE_SHORT;
		snprintf(
			t->why, sizeof(t->why),
			"%.0f connections were opened, and the device did not know %.0f of the %" PRIu64
			" tuples: more of `flow.src` allow more than %.0f connections/s",
			t->opened, lb_ring_room(&b->ring[b->tcp]), b->tuples, lb_cps_most(b));
	}
	read_latency(b, doc, t);
	lb_cpu_since(&b->mark, &b->mark_end, &t->cpu);
	json_decref(doc);
}

/* ---- a search, and a figure ---- */

/* The last trial of the search that came to this. A trial in which the tester was short tells
 * nothing, where it was not short at higher rates. */
static const struct lb_trial *trial_of(const struct lb_run *b, const struct lb_point *p,
				       enum rate_told told)
{
	for (unsigned i = p->ntrials; i > 0; i--) {
		const struct lb_trial *t = &p->trial[i - 1];
		if (t->what == LB_SEARCH && t->repeat == b->repeat &&
		    (t->told == told || (told == RATE_UNTOLD && t->told == RATE_SHORT)))
			return t;
	}
	return NULL;
}

static void say_fastest(const struct lb_run *b, const struct lb_point *p, struct sbuf *out)
{
	const struct lb_trial *t = trial_of(b, p, RATE_PASSED);
	double busy = t != NULL ? fmax(t->client_cpu, t->server_cpu) : 0;
	char room[96] = "";

	if (isfinite(b->room))
		snprintf(room, sizeof(room), "; the device says that it has room for %.0f",
			 b->room);

	if (b->search.trials >= RATE_SEARCH_MOST)
		sbuf_addf(out, "the search has ended after %u trials, and none has failed",
			  b->search.trials);
	else if (p->figure == LB_CC)
		sbuf_addf(out,
			  "tester: all connections that it can open were held; it has %" PRIu64
			  " tuples, and was to open no more than %" PRIu64 "%s",
			  b->tuples, b->ask.held_most, room);
	else if (busy >= BUSY)
		sbuf_addf(out, "tester: its worker was busy for %.0f%% of the time", 100 * busy);
	else if (lb_about[p->figure].frames)
		sbuf_add(out, "tester: its port took no more frames");
	else
		sbuf_add(out,
			 "nothing failed as fast as the answers came; the tester waits for them");
}

static void say_limit(const struct lb_run *b, struct lb_point *p, enum capacity_state found)
{
	const struct rate_search *s = &b->search;
	const struct lb_trial *t = trial_of(b, p, isinf(s->high) ? RATE_UNTOLD : s->high_by);
	const char *why = t != NULL ? t->why : "";
	struct sbuf text = {0};

	if (s->low > 0 && isinf(s->high))
		say_fastest(b, p, &text);
	else if (found == CAPACITY_INVALID && s->high_by != RATE_FAILED)
		sbuf_addf(&text, "no trial was valid: %s", why);
	else if (s->high_by == RATE_FAILED)
		sbuf_addf(&text, "device: %s", why);
	else if (s->high_by == RATE_SHORT)
		sbuf_addf(&text, "tester: %s", why);
	else
		sbuf_addf(&text, "trials above were not valid: %s", why);
	snprintf(p->why, sizeof(p->why), "%s", sbuf_str(&text));
	sbuf_free(&text);
}

void lb_search_over(const struct lb_run *b, struct lb_point *p)
{
	const struct rate_search *s = &b->search;
	enum capacity_state found;

	if (s->low > 0)
		found = rate_search_narrow(s) && s->high_by == RATE_FAILED ? CAPACITY_EXACT
									   : CAPACITY_LEAST;
	else
		found = rate_search_none(s) ? CAPACITY_NONE : CAPACITY_INVALID;
	say_limit(b, p, found);
	if (s->low <= 0) {
		if (p->nvalues == 0)
			p->state = found;
		return;
	}
	const struct lb_trial *t = trial_of(b, p, RATE_PASSED);
	p->found[p->nvalues] = found;
	p->value[p->nvalues++] = t != NULL ? fmin(s->low, t->carried) : s->low;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

void lb_point_over(const struct lb_run *b, struct lb_point *p)
{
	double v[LB_REPEATS];
	unsigned n = p->nvalues;

	if (n == 0)
		return;
	memcpy(v, p->value, n * sizeof(*v));
	qsort(v, n, sizeof(*v), by_value);
	p->least = v[0];
	p->most = v[n - 1];
	p->median = n % 2 > 0 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
	p->state = CAPACITY_EXACT;
	for (unsigned i = 0; i < n; i++)
		if (p->found[i] != CAPACITY_EXACT)
			p->state = CAPACITY_LEAST;
	p->device = p->state == CAPACITY_EXACT;
	if (n < b->ask.repeats)
		snprintf(p->note, sizeof(p->note), "%u of %u searches told a number", n,
			 b->ask.repeats);
	else if (p->figure == LB_CPS && b->ask.timeout_ns == 0 &&
		 p->most * (double)b->ask.duration_ns / 1e9 > (double)b->tuples)
		snprintf(
			p->note, sizeof(p->note),
			"tuples were used again within a trial, of which there are %" PRIu64
			": to a device that still knew them they were no new connections; device-timeout forbids it",
			b->tuples);
}
