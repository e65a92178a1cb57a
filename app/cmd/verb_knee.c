/* SPDX-License-Identifier: BSD-3-Clause */
/* knee: latency at several loads up to the limit, and where it begins to rise. */
#include "event.h"
#include "file.h"
#include "knee_doc.h"
#include "knee_run.h"
#include "measuring.h"
#include "verbs.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { EXIT_FAILED = 1, EXIT_NOT_VALID = 4 };

enum {
	A_PORTS,
	A_TO = 2,
	A_OF = 4,
	A_MAX = 6,
	A_LOADS = 8,
	A_LOSS = 10,
	A_FOR = 12,
	A_HTML = 14,
	A_RESENT = 16,
};

struct kneeing {
	struct measuring base; /* must be first: its run is a struct knee_run */
	struct portset ports;
	uint64_t duration_ns;
};
_Static_assert(sizeof(struct kneeing) <= VERB_STATE_BYTES, "state of a verb");

static struct kneeing *kneeing_of(struct cmd_run *r)
{
	return (struct kneeing *)r->state;
}

static int knee_go_on(struct cmd_run *r, void *run, struct err *e)
{
	(void)r;
	return knee_run_poll(run, e);
}

static bool knee_any(const void *run)
{
	const struct knee *k = knee_run_result(run);

	return k->search.trials > 0 || knee_measured(k) > 0;
}

static json_t *knee_doc(struct cmd_run *r, void *run, bool complete)
{
	const struct kneeing *m = kneeing_of(r);
	const struct knee_about about = {.of = knee_run_of(run),
					 .ports = &m->ports,
					 .duration_ns = m->duration_ns,
					 .complete = complete};

	return knee_json(knee_run_result(run), &about);
}

static void knee_print(struct cmd_run *r, void *run, json_t *doc)
{
	const struct knee *k = knee_run_result(run);

	if (k->limit_by == KNEE_NOTHING)
		r->exit_code = EXIT_FAILED;
	if (k->limit_by == KNEE_INVALID)
		r->exit_code = EXIT_NOT_VALID;
	for (unsigned i = 0; i < knee_measured(k); i++)
		if (!k->load[i].at.valid)
			r->exit_code = EXIT_NOT_VALID;
	if (r->out_mode == OUT_TEXT) {
		cmd_result(r, doc);
		knee_text(doc, r->out);
	} else {
		verb_out(r, r->out_mode, doc, knee_csv(doc));
	}
}

static void knee_free(struct cmd_run *r, void *run)
{
	(void)r;
	knee_run_free(run);
}

static const struct measuring_kind knee_measuring = {
	.name = "knee",
	.poll = knee_go_on,
	.any = knee_any,
	.doc = knee_doc,
	.print = knee_print,
	.page = knee_html,
	.free = knee_free,
};

static int knee_poll(struct cmd_run *r, struct err *e)
{
	return measuring_poll(r, &knee_measuring, e);
}

static void knee_cancel(struct cmd_run *r)
{
	measuring_cancel(r, &knee_measuring);
}

static bool knee_tells(const struct cmd_run *r, struct cmd_progress *out)
{
	const struct kneeing *m = (const struct kneeing *)r->state;
	const struct knee *k = knee_run_result(m->base.run);
	uint64_t gone, all;

	knee_run_progress(m->base.run, &gone, &all);
	cmd_progress_time(out, gone, all);
	if (k->limit_by == KNEE_SEARCHING)
		snprintf(out->text, sizeof(out->text), "knee, the limit is searched, trial %u",
			 k->search.trials + 1);
	else
		snprintf(out->text, sizeof(out->text), "knee, load %u of %u", k->now + 1,
			 k->ask.nloads);
	return true;
}

static void knee_announce(struct cmd_run *r)
{
	const struct kneeing *m = kneeing_of(r);
	const struct knee *k = knee_run_result(m->base.run);
	bool searches = k->limit_by == KNEE_SEARCHING;
	unsigned trials = k->ask.nloads * (1 + KNEE_AGAIN) + (searches ? RATE_SEARCH_MOST : 0);
	uint64_t gone, all;
	char what[64];

	knee_run_progress(m->base.run, &gone, &all);
	snprintf(what, sizeof(what), "%u loads%s", k->ask.nloads,
		 searches ? " behind the search of the limit" : "");
	measuring_announce(r, &knee_measuring, what, all,
			   (m->duration_ns + KNEE_NS_AROUND) * trials,
			   "; Ctrl-C ends it with those that are measured");
}

/* Each trial is told as one of `trial` is. */
static void knee_told(void *arg, const struct trial_result *res)
{
	struct app *app = arg;
	json_t *doc = trial_json(res, &app->tester.trial);

	app_tell(app, &(struct app_event){.kind = APP_EVENT_TRIAL, .doc = doc});
	json_decref(doc);
}

static const char *const units[] = {"pps", "cps", "tps", NULL};
static const char *const units_about[] = {"frames of streams",
					  "connections, which clients of flows open",
					  "transactions, which clients with a tps start", NULL};

static const struct arg_spec args_knee[] = {
	{ARG_TARGETS, "ports"},
	{ARG_WORD, "to", ARG_OPT | ARG_MIXED},
	{ARG_TARGETS, "receivers", ARG_OPT},
	{ARG_WORD, "of", ARG_OPT | ARG_MIXED},
	{ARG_CHOICE, "UNIT", ARG_OPT, {.choices = units}, units_about},
	{ARG_WORD, "max", ARG_OPT | ARG_MIXED},
	{ARG_VALUE, "RATE", ARG_OPT, {&vt_rate_load}},
	{ARG_WORD, "loads", ARG_OPT | ARG_MIXED},
	{ARG_VALUE, "N", ARG_OPT, {.type = &vt_uint, .min = 2, .max = KNEE_MOST_LOADS}},
	{ARG_WORD, "loss", ARG_OPT | ARG_MIXED},
	{ARG_VALUE, "SHARE", ARG_OPT, {&vt_share}},
	{ARG_WORD, "for", ARG_OPT | ARG_MIXED},
	{ARG_VALUE, "DURATION", ARG_OPT, {&vt_seconds}},
	{ARG_WORD, "html", ARG_OPT | ARG_MIXED},
	{ARG_FILE, "FILE", ARG_OPT},
	{ARG_WORD, "resent", ARG_OPT | ARG_MIXED},
	{ARG_VALUE, "SHARE", ARG_OPT, {&vt_share}},
	{ARG_END},
};

static int take_max(const struct arg_val *a, struct rate *out, struct err *e)
{
	*out = (struct rate){.kind = RATE_MAX};
	if (!a->given)
		return 0;
	memcpy(out, a->v.raw, sizeof(*out));
	if (out->kind == RATE_MAX)
		return err_at(e, EINVAL, a->col,
			      "the limit is a rate, like 10kpps, 10kcps, 10ktps or 50%%; without "
			      "`max RATE` it is searched for");
	if (out->over_ns != 0)
		return err_at(e, EINVAL, a->col,
			      "the limit is one rate, and this one changes with time; allowed are "
			      "rates like 10kpps, 10kcps, 10ktps and 50%%");
	return 0;
}

/* Refuses another unit than that of what the ports do. */
static int check_unit(struct ctl *c, const struct trial_spec *trial, const struct arg_val *a,
		      struct err *e)
{
	static const char *const help[3][3] = {
		[TRIAL_FRAMES] = {NULL, "flow client` opens connections",
				  "flow client` and a `tps` start transactions"},
		[TRIAL_CONNECTIONS] = {"flow off` sends frames", NULL,
				       "tps 1k` starts transactions on them"},
		[TRIAL_TRANSACTIONS] = {"flow off` sends frames",
					"tps off` opens connections instead", NULL},
	};
	struct trial_spec spec = *trial;
	enum trial_of of;
	unsigned port = 0;

	if (!a->given)
		return 0;
	spec.rate = (struct rate){.kind = RATE_MAX};
	int rc = trial_would_be(c, &spec, &of, e);
	if (rc < 0 || (int)of == a->choice)
		return rc;
	while (!portset_has(&spec.tx, port))
		port++;
	return err_at(e, EINVAL, a->col,
		      "a trial of port %u is of %s, in %s, and not in %s; `set %u %s", port,
		      trial_words(of)->noun, trial_words(of)->per_s, units[a->choice], port,
		      help[of][a->choice]);
}

static int knee_verb(struct cmd_run *r, const struct arg_val *args, struct err *e)
{
	struct kneeing *m = kneeing_of(r);
	struct app *app = app_of(r);
	struct knee_run_spec spec = {.trial.cfg = app->tester.trial,
				     .trial.duration_ns = MEASURING_DFLT_NS,
				     .ask.nloads = KNEE_DFLT_LOADS,
				     .told = knee_told,
				     .arg = app};
	int rc = arg_ports(r, &args[A_PORTS], &spec.trial.tx, e);

	if (rc == 0 && args[A_TO].given)
		rc = arg_ports(r, &args[A_TO], &spec.trial.rx, e);
	if (rc == 0)
		rc = take_max(&args[A_MAX], &spec.ask.max, e);
	if (rc == 0)
		rc = measuring_time(&args[A_FOR], &spec.trial.duration_ns, e);
	if (rc == 0)
		rc = check_unit(app->ctl, &spec.trial, &args[A_OF], e);
	if (rc == 0 && args[A_HTML].given)
		rc = file_creatable(args[A_HTML].text, e);
	if (rc < 0)
		return rc;
	if (args[A_LOADS].given)
		spec.ask.nloads = (unsigned)args[A_LOADS].v.u;
	spec.ask.max_loss = (double)(args[A_LOSS].given ? args[A_LOSS].v.u : 0) / 1e9;
	spec.ask.by_resent = args[A_RESENT].given;
	spec.ask.max_resent = (double)(args[A_RESENT].given ? args[A_RESENT].v.u : 0) / 1e9;
	struct knee_run *run;
	rc = knee_run_start(app->ctl, &spec, &run, e);
	if (rc < 0)
		return rc;
	m->ports = spec.trial.tx;
	m->duration_ns = spec.trial.duration_ns;
	measuring_begin(r, run, &args[A_HTML]);
	app_tell_reach(app, &spec.trial.tx, r->note);
	knee_announce(r);
	return VERB_PENDING;
}

const struct verb verb_knee = {
	.name = "knee",
	.args = args_knee,
	.run = knee_verb,
	.flags = VERB_NO_LOAD,
	.poll = knee_poll,
	.cancel = knee_cancel,
	.progress = knee_tells,
	.help = "Measure latency at N (10) loads up to the limit, and say at which of them it begins to rise.\n"
		"The limit is RATE or, without it, the highest rate at which no more than SHARE (0) is lost, found by trials. Then\n"
		"a trial is made at each of 1/N, 2/N, ... of it, of DURATION (1s), with 50% to 99.99% of the times since frames,\n"
		"connections or transactions were due. A trial that is not valid is repeated twice, and else its load is marked.\n"
		"Ports and receivers are as for `trial`. UNIT says what must be meant: pps of streams, cps of flows, tps of flows\n"
		"with `tps`. resent: no more than SHARE of TCP's segments may be sent again, else connections are lost when they fail.\n"
		"The knee is the highest load before the first one at which 99% is more than twice that of the lowest.\n"
		"FILE gets a page with charts; a file that is there already is refused. Ctrl-C ends it with what is measured.\n"
		"Exit code 1: no rate passes; 4: the limit or some loads have no valid trial.",
};
