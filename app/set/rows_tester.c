/* SPDX-License-Identifier: BSD-3-Clause */
/* Settings of the program that are about measuring: stalls and trials (struct tester). */
#include "rows.h"
#include "app.h"

#include <errno.h>
#include <string.h>

#define AT(member) offsetof(struct app, tester.member)
#define S 1000000000ull
#define HOUR (3600 * S)

void tester_init(struct tester *t)
{
	value_default(&vt_duration, CTL_DFLT_STALL, &t->stall_ns);
	trial_cfg_init(&t->trial);
}

void tester_apply(const struct app *app)
{
	if (app->ctl != NULL)
		ctl_set_stall(app->ctl, app->tester.stall_ns);
}

/* ---- `set trial NAME`: all waits of trials at once ---- */

enum waits { WAITS_DEFAULT, WAITS_RFC2544, WAITS_OTHER };
static const char *const waits_words[] = {"default", "rfc2544", "other", NULL};

static void waits_make(enum waits w, struct trial_cfg *c)
{
	struct trial_cfg made;

	trial_cfg_init(&made);
	if (w == WAITS_RFC2544)
		trial_cfg_rfc2544(&made);
	c->learn_wait_ns = made.learn_wait_ns;
	c->drain_ns = made.drain_ns;
	c->drain_min_ns = made.drain_min_ns;
	c->drain_max_ns = made.drain_max_ns;
	c->settle_ns = made.settle_ns;
}

static void waits_put(const struct setting *row, const struct set_obj *obj, const void *val)
{
	(void)row;
	waits_make((enum waits) * (const int *)val, &((struct app *)obj->cfg)->tester.trial);
}

static bool waits_get(const struct setting *row, const struct set_obj *obj, void *val)
{
	const struct trial_cfg *now = &((const struct app *)obj->cfg)->tester.trial;
	int w = WAITS_DEFAULT;

	(void)row;
	for (; w < WAITS_OTHER; w++) {
		struct trial_cfg named = *now;
		waits_make((enum waits)w, &named);
		if (named.learn_wait_ns == now->learn_wait_ns && named.drain_ns == now->drain_ns &&
		    named.drain_min_ns == now->drain_min_ns &&
		    named.drain_max_ns == now->drain_max_ns && named.settle_ns == now->settle_ns)
			break;
	}
	*(int *)val = w;
	return w != WAITS_DEFAULT;
}

static void waits_unset(const struct setting *row, const struct set_obj *obj)
{
	(void)row;
	waits_make(WAITS_DEFAULT, &((struct app *)obj->cfg)->tester.trial);
}

static int waits_may(const struct setting *row, const struct set_obj *obj, const void *val,
		     struct err *e)
{
	(void)obj;
	if (*(const int *)val != WAITS_OTHER)
		return 0;
	return err_set(
		e, EINVAL,
		"%s: other waits are set one by one: trial.drain, trial.settle, ... (`help trial.drain`)",
		row->name);
}

static const struct setting_store waits_store = {waits_put, waits_get, waits_unset, waits_may};

static bool check_drain(const struct setting *row, const struct set_obj *obj, struct err *warn)
{
	const struct trial_cfg *c = &((const struct app *)obj->cfg)->tester.trial;

	(void)row;
	if (c->drain_min_ns > c->drain_max_ns)
		err_set(warn, EINVAL,
			"trial.drain-min is more than trial.drain-max: no trial starts with that");
	return true;
}

#define TRIAL(name_, type_, lo, hi, dflt_, member, help_) \
	{ \
		.name = "trial." name_, .alias = "trial " name_, .scope = &scope_global, \
		.v = {&type_, lo, hi}, .dflt = dflt_, .offset = AT(trial.member), .help = help_ \
	}
#define DRAIN(name_, lo, dflt_, member, help_) \
	{ \
		.name = "trial." name_, .alias = "trial " name_, .scope = &scope_global, \
		.v = {&vt_duration, lo, HOUR}, .dflt = dflt_, .offset = AT(trial.member), \
		.help = help_, .check = check_drain \
	}

const struct setting set_tester_rows[] = {
	{.name = "stall",
	 .scope = &scope_global,
	 .v = {&vt_duration, 1000, 10 * S},
	 .dflt = CTL_DFLT_STALL,
	 .offset = AT(stall_ns),
	 .help = "a turn of a worker that takes longer is a stall: counted, and the longest one kept (page cpu, `show stats --json`)"},
	{0},
};

const struct setting set_trial_rows[] = {
	{.name = "trial",
	 .scope = &scope_global,
	 .v = {&vt_enum, .choices = waits_words},
	 .store = &waits_store,
	 .flags = SET_DERIVED,
	 .help = "all waits of trials at once: rfc2544 is 2 s after learning, 2 s for frames on their way, 5 s to settle"},
	TRIAL("learn", vt_uint, 0, 1000000, "0", learn,
	      "frames that each receiving port sends before a trial, its own, so that switches know it"),
	TRIAL("learn-rate", vt_rate_steady, 0, 0, TRIAL_DFLT_LEARN_RATE, learn_rate,
	      "rate of these frames"),
	TRIAL("learn-wait", vt_duration, 0, HOUR, "0s", learn_wait_ns,
	      "time between these frames and the trial"),
	DRAIN("drain", 1000000, TRIAL_DFLT_DRAIN, drain_ns,
	      "a trial that has sent waits for its frames until none has come for so long"),
	DRAIN("drain-min", 0, "0s", drain_min_ns,
	      "and for so long in any case, also when all have come"),
	DRAIN("drain-max", 0, TRIAL_DFLT_DRAIN_MAX, drain_max_ns, "and not longer than this"),
	TRIAL("settle", vt_duration, 0, HOUR, "0s", settle_ns,
	      "time after that until counters are read; frames that come in it are late"),
	TRIAL("overtime", vt_duration, 0, HOUR, TRIAL_DFLT_OVERTIME, overtime_ns,
	      "a port that has not sent everything so long after its time is stopped"),
	TRIAL("max-clock", vt_share, 0, 0, TRIAL_DFLT_MAX_CLOCK, max_clock,
	      "clock-suspect: the calibration of the clock moved by more"),
	TRIAL("max-wait", vt_share, 0, 0, TRIAL_DFLT_MAX_WAIT, max_wait,
	      "preempted: a worker waited for a CPU for a larger share of the time"),
	TRIAL("max-stall", vt_duration, 1000, HOUR, TRIAL_DFLT_MAX_STALL, max_stall_ns,
	      "preempted: one turn of a worker took longer"),
	TRIAL("max-short", vt_share, 0, 0, TRIAL_DFLT_MAX_SHORT, max_short,
	      "tester-limited: a larger share of the frames was not sent"),
	TRIAL("max-rate-error", vt_share, 0, 0, TRIAL_DFLT_MAX_RATE_ERROR, max_rate_error,
	      "tester-limited: the mean rate, first to last frame, was off by more (and by more than trial.resolution of the time)"),
	TRIAL("probes", vt_bool, 0, 0, TRIAL_DFLT_PROBES, told,
	      "a probe goes into every frame of a trial, where the smallest has room; off counts by counters alone"),
	TRIAL("resolution", vt_duration, 0, HOUR, TRIAL_DFLT_RESOLUTION, resolution_ns,
	      "to which the times of the first and the last frame count"),
	{0},
};
