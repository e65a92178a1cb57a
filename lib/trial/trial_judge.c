/* SPDX-License-Identifier: BSD-3-Clause */
/* Works out what the numbers of a trial say: what became of each frame, and whether the numbers may
 * be trusted. Pure. */
#include "trial.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#define S_NS 1000000000ull
#define MS_NS 1000000ull
#define PPB 1e9

void trial_cfg_init(struct trial_cfg *c)
{
	*c = (struct trial_cfg){0};
	value_default(&vt_rate_steady, TRIAL_DFLT_LEARN_RATE, &c->learn_rate);
	value_default(&vt_duration, TRIAL_DFLT_DRAIN, &c->drain_ns);
	value_default(&vt_duration, TRIAL_DFLT_DRAIN_MAX, &c->drain_max_ns);
	value_default(&vt_duration, TRIAL_DFLT_OVERTIME, &c->overtime_ns);
	value_default(&vt_share, TRIAL_DFLT_MAX_CLOCK, &c->max_clock);
	value_default(&vt_share, TRIAL_DFLT_MAX_WAIT, &c->max_wait);
	value_default(&vt_duration, TRIAL_DFLT_MAX_STALL, &c->max_stall_ns);
	value_default(&vt_share, TRIAL_DFLT_MAX_SHORT, &c->max_short);
	value_default(&vt_share, TRIAL_DFLT_MAX_RATE_ERROR, &c->max_rate_error);
	value_default(&vt_duration, TRIAL_DFLT_RESOLUTION, &c->resolution_ns);
	value_default(&vt_bool, TRIAL_DFLT_PROBES, &c->told);
}

void trial_cfg_rfc2544(struct trial_cfg *c)
{
	c->learn_wait_ns = 2 * S_NS;
	c->drain_min_ns = c->drain_max_ns = 2 * S_NS;
	c->settle_ns = 5 * S_NS;
}

const char *trial_verdict_name(enum trial_verdict v)
{
	static const char *const names[] = {
		[TRIAL_VALID] = "valid",         [TRIAL_COUNTERS] = "counters-disagree",
		[TRIAL_LINK] = "link-changed",   [TRIAL_CLOCK] = "clock-suspect",
		[TRIAL_PREEMPTED] = "preempted", [TRIAL_LIMITED] = "tester-limited",
	};

	return names[v];
}

const struct trial_words *trial_words(enum trial_of of)
{
	static const struct trial_words words[] = {
		[TRIAL_FRAMES] = {"frames", "frame", "pps", "sent", "its device took"},
		[TRIAL_CONNECTIONS] = {"connections", "connection", "cps", "opened", "it opened"},
		[TRIAL_TRANSACTIONS] = {"transactions", "transaction", "tps", "started",
					"it started"},
	};

	return &words[of];
}

uint64_t trial_accounted(const struct trial_fates *f)
{
	return f->received + f->not_accepted + f->tx_errors + f->unconfirmed + f->rx_missed +
	       f->rx_nombuf + f->rx_errors + f->corrupted + f->late + f->unknown + f->lost;
}

/* Takes n frames from the *left that have no fate yet, and returns how many it got. That may be
 * fewer than n, because devices may count frames of other senders, too. */
static uint64_t trial_judge_take(uint64_t *left, uint64_t n)
{
	uint64_t got = n < *left ? n : *left;

	*left -= got;
	return got;
}

/* Works out the fates where each frame said which one it was: the frames that arrived are known,
 * and counters only tell what became of the others. */
static void close_told(const struct trial_counts *c, struct trial_fates *f)
{
	uint64_t arrived = c->whole + c->whole_late + c->beyond + c->corrupted, left = c->accepted;

	f->received = c->whole;
	f->late = c->whole_late + c->beyond;
	f->corrupted = c->corrupted;
	f->duplicated = c->duplicated;
	f->reordered = c->reordered;
	f->excess = arrived > left ? arrived - left : 0;
	left -= arrived - f->excess;
	f->corrupted += trial_judge_take(&left, c->damaged);
	f->tx_errors = trial_judge_take(&left, f->tx_errors);
	f->unconfirmed = trial_judge_take(&left, f->unconfirmed);
	f->rx_missed = trial_judge_take(&left, c->missed);
	f->rx_nombuf = trial_judge_take(&left, c->nombuf);
	f->rx_errors = trial_judge_take(&left, c->rx_errors);
	/* a frame that workers counted and of which no probe of the trial tells is somebody else's,
	 * or has lost its probe */
	uint64_t told = arrived + c->duplicated + c->damaged,
		 counted = c->arrived + c->arrived_late;
	uint64_t group = c->unicast ? c->group : 0,
		 strange = c->plain > group ? c->plain - group : 0;
	f->others = counted > told ? counted - told : 0;
	f->untold = told > counted ? told - counted : 0;
	f->unknown = trial_judge_take(&left, strange < f->others ? strange : f->others);
	f->others -= f->unknown;
	f->lost = left;
}

/* Works out the fates from counters alone: frames that nobody counted were lost on the way. */
static void close_counters(const struct trial_counts *c, struct trial_fates *f)
{
	uint64_t others = c->unicast ? c->group : 0, arrived = c->arrived + c->arrived_late;

	f->others = others < arrived ? others : arrived;
	uint64_t late =
		c->arrived_late < arrived - f->others ? c->arrived_late : arrived - f->others;
	f->late = late;
	f->received = arrived - f->others - late;
	f->rx_missed = c->missed;
	f->rx_errors = c->rx_errors;
	uint64_t sum = trial_accounted(f);
	f->rx_nombuf = sum >= f->sent ? 0 : c->nombuf < f->sent - sum ? c->nombuf : f->sent - sum;
	sum += f->rx_nombuf;
	if (sum > f->sent)
		f->excess = sum - f->sent;
	else
		f->lost = f->sent - sum;
}

void trial_close(const struct trial_counts *c, struct trial_fates *f)
{
	*f = (struct trial_fates){.sent = c->accepted + c->dropped,
				  .not_accepted = c->dropped,
				  .told = c->told};
	/* an interface that confirms counts a failed frame in both numbers; others have tx_errors
	 * only */
	f->tx_errors = c->tx_errors;
	f->unconfirmed = c->unconfirmed > c->tx_errors ? c->unconfirmed - c->tx_errors : 0;
	if (c->told)
		close_told(c, f);
	else
		close_counters(c, f);
}

void trial_fates_add(struct trial_fates *to, const struct trial_fates *from)
{
	bool first = to->sent == 0 && trial_accounted(to) == 0;

	to->sent += from->sent;
	to->received += from->received;
	to->not_accepted += from->not_accepted;
	to->tx_errors += from->tx_errors;
	to->unconfirmed += from->unconfirmed;
	to->rx_missed += from->rx_missed;
	to->rx_nombuf += from->rx_nombuf;
	to->rx_errors += from->rx_errors;
	to->corrupted += from->corrupted;
	to->late += from->late;
	to->unknown += from->unknown;
	to->lost += from->lost;
	to->duplicated += from->duplicated;
	to->reordered += from->reordered;
	to->others += from->others;
	to->excess += from->excess;
	to->untold += from->untold;
	to->within += from->within;
	to->within_failed += from->within_failed;
	to->told = from->told && (first || to->told);
}

void trial_load_add(struct trial_load *to, const struct trial_load *from)
{
	to->max |= from->max;
	to->counted = from->counted && (to->counted || to->intended_pps == 0);
	to->stopped |= from->stopped;
	to->given_up += from->given_up;
	to->behind += from->behind;
	to->intended += from->intended;
	to->offered += from->offered;
	to->intended_pps += from->intended_pps;
	to->intended_l1_bps += from->intended_l1_bps;
	to->intended_l2_bps += from->intended_l2_bps;
	to->offered_pps += from->offered_pps;
	to->offered_l1_bps += from->offered_l1_bps;
	to->offered_l2_bps += from->offered_l2_bps;
	to->duration_ns = from->duration_ns > to->duration_ns ? from->duration_ns : to->duration_ns;
	to->due_ns = from->due_ns > to->due_ns ? from->due_ns : to->due_ns;
}

double trial_loss(const struct trial_fates *f)
{
	uint64_t out = f->sent - f->not_accepted - f->tx_errors - f->unconfirmed;

	double within = f->within > 0 ? (double)f->within_failed / (double)f->within : 0;

	return out > 0 && f->unknown == 0
		       ? fmax(1 - fmin((double)f->received / (double)out, 1), within)
		       : (double)NAN;
}

static void trial_judge_say(struct trial_result *r, enum trial_verdict v, const char *fmt, ...)
	WR_PRINTF(3, 4);
static void trial_judge_say(struct trial_result *r, enum trial_verdict v, const char *fmt, ...)
{
	va_list ap;

	if (r->is[v]) /* the first reason for a verdict is enough */
		return;
	r->is[v] = true;
	va_start(ap, fmt);
	vsnprintf(r->why[v], sizeof(r->why[v]), fmt, ap);
	va_end(ap);
}

static void judge_counters(struct trial_result *r, const struct trial_fates *f)
{
	const struct trial_words *w = trial_words(r->of);

	if (f->excess > 0)
		trial_judge_say(
			r, TRIAL_COUNTERS,
			"%" PRIu64 " %s more are accounted for than the %" PRIu64 " that were %s%s",
			f->excess, w->noun, f->sent, w->sent,
			f->told || r->of != TRIAL_FRAMES
				? ""
				: "; without probes duplicates and frames of others count as received");
	else if (f->untold > 0)
		trial_judge_say(r, TRIAL_COUNTERS,
				"probes tell of %" PRIu64 " frames more than the receivers counted",
				f->untold);
	else if (trial_accounted(f) != f->sent)
		trial_judge_say(r, TRIAL_COUNTERS,
				"the fates of %" PRIu64 " %s are known, and %" PRIu64 " were %s",
				trial_accounted(f), w->noun, f->sent, w->sent);
	else if (f->unknown > 0)
		trial_judge_say(
			r, TRIAL_COUNTERS,
			"%" PRIu64
			" frames are missing for which as many came without a probe that can be read: theirs, or those of "
			"others",
			f->unknown);
}

/* Did the frames of any flow say which ones they were? */
static bool told_by_frames(const struct trial_result *r)
{
	for (unsigned i = 0; i < r->nflows; i++)
		if (r->flow[i].fates.told)
			return true;
	return false;
}

static void judge_workers(struct trial_result *r, const struct trial_cfg *cfg)
{
	for (unsigned i = 0; i < r->nworkers; i++) {
		const struct trial_worker *w = &r->worker[i];
		/* the kernel counts a wait when it ends, so one that began before the trial may be
		 * longer than span_ns */
		double share =
			r->span_ns > 0 ? fmin((double)w->waited_ns / (double)r->span_ns, 1) : 0;
		if (w->waited_known && share > (double)cfg->max_wait / PPB)
			trial_judge_say(
				r, TRIAL_PREEMPTED,
				"worker %u waited for a CPU for %.1f%% of the time; the limit is %g%%",
				w->lcore, 100 * share, (double)cfg->max_wait / 1e7);
		if (w->longest_ns > cfg->max_stall_ns)
			trial_judge_say(r, TRIAL_PREEMPTED,
					"worker %u stood still for %.3f ms; the limit is %g ms",
					w->lcore, (double)w->longest_ns / 1e6,
					(double)cfg->max_stall_ns / 1e6);
	}
}

static void sender_name(const struct trial_tx *tx, char out[32])
{
	if (tx->by_stream)
		snprintf(out, 32, "flow %u/%u", tx->port, tx->stream);
	else
		snprintf(out, 32, "port %u", tx->port);
}

static void judge_load(struct trial_result *r, const struct trial_tx *tx,
		       const struct trial_cfg *cfg)
{
	const struct trial_load *l = &tx->load;
	const struct trial_words *w = trial_words(r->of);
	char who[32];

	sender_name(tx, who);
	/* as fast as possible there is no rate to miss, but a device that stopped taking frames was
	 * not loaded all the time */
	if (l->max) {
		if (l->duration_ns < r->asked_ns &&
		    r->asked_ns - l->duration_ns > cfg->max_stall_ns)
			trial_judge_say(
				r, TRIAL_LIMITED,
				"%s: %s %" PRIu64
				" %s within %.3f ms and none in the rest of the time; the limit is %g ms",
				who, w->took, l->offered, w->noun, (double)l->duration_ns / 1e6,
				(double)cfg->max_stall_ns / 1e6);
		return;
	}
	uint64_t all = l->counted ? l->intended : l->offered + l->given_up,
		 few = all > l->offered ? all - l->offered : 0;
	if ((double)few > (double)cfg->max_short / PPB * (double)all)
		trial_judge_say(r, TRIAL_LIMITED,
				"%s %s %" PRIu64 " of %" PRIu64
				" %s, %.3f%% too few; the limit is %g%%%s%s",
				who, w->sent, l->offered, all, w->noun,
				100 * (double)few / (double)all, (double)cfg->max_short / 1e7,
				l->why[0] != '\0' ? "; " : "", l->why);
	if (l->stopped && !l->counted)
		trial_judge_say(r, TRIAL_LIMITED, "%s had not sent everything %g ms after its time",
				who, (double)cfg->overtime_ns / 1e6);
	uint64_t due = l->due_ns;
	/* random arrivals: all frames were due within the time that was asked for */
	if (due == 0 && !l->counted && l->duration_ns > r->asked_ns)
		due = r->asked_ns;
	if (due == 0)
		return;
	double off = fabs((double)l->duration_ns - (double)due), ppm = off / (double)due * 1e6;
	if (off > (double)cfg->resolution_ns && ppm > (double)cfg->max_rate_error / 1e3)
		trial_judge_say(
			r, TRIAL_LIMITED,
			"%s: the mean rate is off by %.1f ppm, %.3f ms between the first and the last %s; the limit is %g ppm",
			who, ppm, off / 1e6, w->one, (double)cfg->max_rate_error / 1e3);
}

static void judge_no_buffer(struct trial_result *r, uint64_t times)
{
	if (times == 0)
		return;
	r->receivers_limited = true;
	trial_judge_say(r, TRIAL_LIMITED,
			"our own receivers were without a free buffer %" PRIu64 " times", times);
}

/* Whether our own receivers lost frames. Those that carry connections are sent again, and what was
 * measured is our own loss. */
static void judge_receivers(struct trial_result *r)
{
	uint64_t missed = r->sum.rx_missed + r->calls.own.missed, nombuf = r->sum.rx_nombuf;

	judge_no_buffer(r, r->calls.own.nombuf);
	for (unsigned i = 0; i < r->nflows; i++)
		judge_no_buffer(r, r->flow[i].counts.nombuf);
	if (r->calls.strays.other_queue > 0) {
		r->receivers_limited = true;
		trial_judge_say(
			r, TRIAL_LIMITED,
			"the device said by which hash it deals frames to queues, and %" PRIu64
			" came to others, whose workers do not have their connections; from the next start on they hand over",
			r->calls.strays.other_queue);
	}
	if (missed + nombuf == 0)
		return;
	r->receivers_limited = true;
	trial_judge_say(r, TRIAL_LIMITED,
			"%" PRIu64 " frames were lost in our own receivers (missed %" PRIu64
			", no buffer %" PRIu64 ")",
			missed + nombuf, missed, nombuf);
}

void trial_judge(struct trial_result *r, const struct trial_cfg *cfg)
{
	for (unsigned v = 0; v < TRIAL_NVERDICTS; v++)
		r->is[v] = false;
	for (unsigned i = 0; i < r->nflows; i++)
		judge_counters(r, &r->flow[i].fates);
	if (r->inexact != NULL && told_by_frames(r))
		trial_judge_say(r, TRIAL_COUNTERS,
				"what became of the frames is not known exactly: %s", r->inexact);
	if (r->link_changed >= 0)
		trial_judge_say(r, TRIAL_LINK, "the link of port %d changed", r->link_changed);
	if (fabs(r->clock_moved_ppm) > (double)cfg->max_clock / 1e3)
		trial_judge_say(
			r, TRIAL_CLOCK,
			"the calibration of the clock moved by %.1f ppm; the limit is %g ppm",
			r->clock_moved_ppm, (double)cfg->max_clock / 1e3);
	judge_workers(r, cfg);
	for (unsigned i = 0; i < r->ntx; i++)
		judge_load(r, &r->tx[i], cfg);
	r->senders_limited = r->is[TRIAL_LIMITED];
	r->receivers_limited = false;
	judge_receivers(r);
	r->verdict = TRIAL_VALID;
	for (unsigned v = TRIAL_NVERDICTS; --v > 0;)
		if (r->is[v])
			r->verdict = (enum trial_verdict)v;
}
