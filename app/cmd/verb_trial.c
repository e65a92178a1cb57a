/* SPDX-License-Identifier: BSD-3-Clause */
/* trial: runs one measurement and prints its result as a table. */
#include "event.h"
#include "trial.h"
#include "out.h"
#include "verbs.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { EXIT_FAILED = 1, EXIT_NOT_VALID = 4 };

struct trying {
	struct trial *trial;
	struct trial_cfg cfg;
	bool has_limit;
	uint64_t max_loss; /* parts per 10^9 */
};
_Static_assert(sizeof(struct trying) <= VERB_STATE_BYTES, "state of a verb");

static struct trying *trial_state(struct cmd_run *r)
{
	return (struct trying *)r->state;
}

static const struct out_col cols[] = {
	{"direction", "direction", OF_STR},
	{"verdict", "verdict", OF_STR},
	{"reasons", "reasons", OF_STR},
	{"intended_pps", "intended pps", OF_PPS},
	{"intended_l1_bps", "intended l1 bit/s", OF_BPS},
	{"intended_l2_bps", "intended l2 bit/s", OF_BPS},
	{"offered_pps", "offered pps", OF_PPS},
	{"offered_l1_bps", "offered l1 bit/s", OF_BPS},
	{"offered_l2_bps", "offered l2 bit/s", OF_BPS},
	{"duration_ns", "duration", OF_NS},
	{"intended_frames", "intended frames", OF_COUNT},
	{"unsent", "unsent", OF_COUNT, .some = true},
	{"behind", "sent > 1 ms late", OF_COUNT, .some = true},
	{"fates.sent", "sent", OF_COUNT},
	{"fates.received", "received", OF_COUNT},
	{"fates.lost", "lost: wire or device", OF_COUNT},
	{"fates.late", "late", OF_COUNT, .some = true},
	{"fates.unknown", "lost or unrecognised", OF_COUNT, .some = true},
	{"fates.corrupted", "corrupted", OF_COUNT, .some = true},
	{"fates.not_accepted", "tx not accepted", OF_COUNT, .some = true},
	{"fates.tx_errors", "tx errors", OF_COUNT, .some = true},
	{"fates.unconfirmed", "tx unconfirmed", OF_COUNT, .some = true},
	{"fates.rx_missed", "rx missed", OF_COUNT, .some = true},
	{"fates.rx_nombuf", "rx nombuf", OF_COUNT, .some = true},
	{"fates.rx_errors", "rx errors", OF_COUNT, .some = true},
	{"fates.excess", "excess", OF_COUNT, .some = true},
	{"fates.untold", "untold", OF_COUNT, .some = true},
	{"fates.duplicated", "duplicated", OF_COUNT, .some = true},
	{"fates.reordered", "reordered", OF_COUNT, .some = true},
	{"fates.others", "others' frames", OF_COUNT, .some = true},
	{"loss", "loss", OF_STR},
	{"told_by", "told by", OF_STR},
};
/* The table has a column for each direction and, if there are several, one for all of them
 * together. Lines that are marked `some` are left out where all numbers are 0. */
static const struct out_view view = {.rows = "rows",
				     .cols = cols,
				     .ncols = ARRAY_SIZE(cols),
				     .transpose = true};

/* Of connections, and of transactions: lines of the other kind are left out. */
static const struct out_col calls_cols[] = {
	{"direction", "direction", OF_STR},
	{"verdict", "verdict", OF_STR},
	{"reasons", "reasons", OF_STR},
	{"intended_cps", "intended connections/s", OF_PPS, .some = true},
	{"offered_cps", "offered connections/s", OF_PPS, .some = true},
	{"intended_tps", "intended transactions/s", OF_PPS, .some = true},
	{"offered_tps", "offered transactions/s", OF_PPS, .some = true},
	{"duration_ns", "duration", OF_NS},
	{"intended_connections", "intended connections", OF_COUNT, .some = true},
	{"intended_transactions", "intended transactions", OF_COUNT, .some = true},
	{"unsent", "not begun", OF_COUNT, .some = true},
	{"behind", "begun > 1 ms late", OF_COUNT, .some = true},
	{"connections.opened", "opened", OF_COUNT},
	{"connections.established", "established", OF_COUNT},
	{"connections.closed", "closed", OF_COUNT},
	{"connections.refused", "refused", OF_COUNT, .some = true},
	{"connections.connect_timeout", "connect timeout", OF_COUNT, .some = true},
	{"connections.unreachable", "unreachable", OF_COUNT, .some = true},
	{"connections.aborted_opening", "aborted opening", OF_COUNT, .some = true},
	{"connections.reset_by_us", "reset by us", OF_COUNT, .some = true},
	{"connections.reset_by_peer", "reset by peer", OF_COUNT, .some = true},
	{"connections.timed_out", "timed out", OF_COUNT, .some = true},
	{"connections.aborted", "aborted", OF_COUNT, .some = true},
	{"connections.no_tuple", "no tuple", OF_COUNT, .some = true},
	{"transactions.started", "transactions", OF_COUNT},
	{"transactions.done", "done", OF_COUNT},
	{"transactions.failed", "failed", OF_COUNT, .some = true},
	{"fates.succeeded", "succeeded", OF_COUNT},
	{"fates.excess", "excess", OF_COUNT, .some = true},
	{"loss", "loss", OF_STR},
	{"segments.retransmitted", "retransmitted", OF_COUNT},
	{"servers.segments.retransmitted", "retransmitted by servers", OF_COUNT},
	{"latency.connect.p99_ns", "connect 99%", OF_NS},
	{"latency.transaction.p50_ns", "transaction 50%", OF_NS},
	{"latency.transaction.p99_ns", "transaction 99%", OF_NS},
	{"latency.transaction.max_ns", "transaction max", OF_NS},
};
static const struct out_view calls_view = {.rows = "rows",
					   .cols = calls_cols,
					   .ncols = ARRAY_SIZE(calls_cols),
					   .transpose = true};

static bool of_frames(const json_t *trial)
{
	return strcmp(json_string_value(json_object_get(trial, "of")),
		      trial_words(TRIAL_FRAMES)->noun) == 0;
}

static void put_ports(const json_t *list, struct sbuf *out)
{
	const json_t *p;
	size_t i;

	json_array_foreach(list, i, p)
		sbuf_addf(out, "%s%" JSON_INTEGER_FORMAT, i > 0 ? "," : "", json_integer_value(p));
}

/* Adds a row to the table: a direction, or the whole trial. It gives the document of the row the
 * keys that the table needs beside its own: its name, the verdict with its reasons, and the loss as
 * text. Takes over the reference to row. */
static void add_row(json_t *rows, json_t *row, const char *name, const json_t *trial)
{
	const json_t *loss = json_object_get(row, "loss_ratio"), *reason;
	struct sbuf b = {0};
	size_t i;

	json_object_set_new(row, "direction", json_string(name));
	json_object_set(row, "verdict", json_object_get(trial, "verdict"));
	json_array_foreach(json_object_get(trial, "reasons"), i, reason)
		sbuf_addf(&b, "%s%s", i > 0 ? " " : "", json_string_value(reason));
	json_object_set_new(row, "reasons", b.len > 0 ? json_string(b.s) : json_null());
	sbuf_reset(&b);
	if (json_is_number(loss))
		sbuf_addf(&b, "%.6g%%", 100 * json_number_value(loss));
	json_object_set_new(row, "loss", b.len > 0 ? json_string(b.s) : json_null());
	sbuf_free(&b);
	json_array_append_new(rows, row);
}

void trial_print(struct cmd_run *r, const json_t *trial)
{
	const json_t *list = json_object_get(trial, "directions"), *d, *why;
	json_t *doc = json_object(), *rows = json_array();
	size_t i;

	json_array_foreach(list, i, d) {
		struct sbuf name = {0};
		put_ports(json_object_get(d, "from"), &name);
		sbuf_add(&name, " -> ");
		put_ports(json_object_get(d, "to"), &name);
		add_row(rows, json_copy((json_t *)d), name.s, trial);
		sbuf_free(&name);
	}
	if (json_array_size(list) > 1)
		add_row(rows, json_copy((json_t *)trial), "all", trial);
	json_object_set_new(doc, "rows", rows);
	out_write((enum out_mode)r->out_mode, doc, of_frames(trial) ? &view : &calls_view, r->out);
	json_decref(doc);
	if (r->out_mode != OUT_TEXT)
		return;
	if (json_array_size(json_object_get(trial, "why")) == 0)
		sbuf_add(r->out, "valid\n");
	json_array_foreach(json_object_get(trial, "why"), i, why)
		sbuf_addf(r->out, "%s: %s\n",
			  json_string_value(json_array_get(json_object_get(trial, "reasons"), i)),
			  json_string_value(why));
	if (json_integer_value(json_object_get(trial, "inside")) > 0)
		sbuf_addf(
			r->out,
			"about %" JSON_INTEGER_FORMAT
			" frames were still inside the device under test of our own wire when the wait for "
			"them was over (trial.drain-max)\n",
			json_integer_value(json_object_get(trial, "inside")));
	const json_t *corrupted = json_object_get(json_object_get(trial, "fates"), "corrupted");
	if (json_is_false(json_object_get(trial, "verified")) && json_integer_value(corrupted) > 0)
		sbuf_add(
			r->out,
			"corrupted: only frames whose probe is damaged; `set <receivers> verify on` finds damage in all of a frame\n");
	if (json_is_string(json_object_get(trial, "no_probes")))
		sbuf_addf(r->out, "no probes: %s\n",
			  json_string_value(json_object_get(trial, "no_probes")));
	if (json_is_string(json_object_get(trial, "inexact")))
		sbuf_addf(r->out, "inexact: %s\n",
			  json_string_value(json_object_get(trial, "inexact")));
}

/* Sets the exit code. The limit max-loss is applied to a valid trial only. */
static void trial_judged(struct cmd_run *r, const struct trial_result *res)
{
	const struct trying *t = trial_state(r);
	double loss = trial_loss(&res->sum);

	if (res->verdict != TRIAL_VALID) {
		r->exit_code = EXIT_NOT_VALID;
	} else if (t->has_limit && !(loss <= (double)t->max_loss / 1e9)) {
		struct sbuf limit = {0};
		vt_share.print(&(struct vspec){&vt_share}, &t->max_loss, &limit);
		sbuf_addf(r->note, "trial: the loss of %.6g%% is more than %s\n", 100 * loss,
			  sbuf_str(&limit));
		sbuf_free(&limit);
		r->exit_code = EXIT_FAILED;
	}
}

static void trial_end(struct cmd_run *r)
{
	trial_free(trial_state(r)->trial);
	trial_state(r)->trial = NULL;
}

static int poll_trial(struct cmd_run *r, struct err *e)
{
	struct trying *t = trial_state(r);
	int rc = trial_poll(t->trial, e);

	if (rc == 0)
		return VERB_PENDING;
	if (rc > 0) {
		json_t *doc = trial_json(trial_result(t->trial), &t->cfg);
		cmd_result(r, doc);
		if (r->out_mode == OUT_JSON)
			out_write(OUT_JSON, doc, NULL, r->out);
		else
			trial_print(r, json_object_get(doc, "trial"));
		json_decref(app_of(r)->trial);
		app_of(r)->trial = json_incref(json_object_get(doc, "trial"));
		app_tell(app_of(r), &(struct app_event){.kind = APP_EVENT_TRIAL, .doc = doc});
		json_decref(doc);
		trial_judged(r, trial_result(t->trial));
		rc = VERB_DONE;
	}
	trial_end(r);
	return rc;
}

static bool trial_tells(const struct cmd_run *r, struct cmd_progress *out)
{
	struct trial_progress p;
	struct sbuf text = {0};

	trial_progress(((const struct trying *)r->state)->trial, &p);
	cmd_progress_time(out, p.gone_ns, p.all_ns);
	cmd_progress_spans(p.gone_ns, p.all_ns, &text);
	snprintf(out->text, sizeof(out->text), "trial, %s, %s", p.doing, text.s);
	sbuf_free(&text);
	return true;
}

static int trial_run(struct cmd_run *r, const struct arg_val *args, struct err *e)
{
	const struct arg_val *to = &args[2], *rate = &args[4], *time = &args[6], *loss = &args[8];
	struct app *app = app_of(r);
	struct trying *t = trial_state(r);
	struct trial_spec spec = {.duration_ns = time->v.u, .cfg = app->tester.trial};
	int rc = arg_ports(r, &args[0], &spec.tx, e);

	if (rc == 0 && to->given)
		rc = arg_ports(r, to, &spec.rx, e);
	if (rc < 0)
		return rc;
	memcpy(&spec.rate, rate->v.raw, sizeof(spec.rate));
	if (spec.duration_ns == 0)
		return err_at(
			e, EINVAL, time->col,
			"a trial of no time sends nothing; allowed are durations above 0, like 10s or 1.5ms");
	t->cfg = spec.cfg;
	t->has_limit = loss->given;
	t->max_loss = loss->v.u;
	rc = trial_start(app->ctl, &spec, &t->trial, e);
	if (rc == 0)
		app_tell_reach(app, &spec.tx, r->note);
	return rc < 0 ? rc : VERB_PENDING;
}

static const struct arg_spec args_trial[] = {
	{ARG_TARGETS, "ports"},
	{ARG_WORD, "to", ARG_OPT},
	{ARG_TARGETS, "receivers", ARG_OPT},
	{ARG_WORD, "rate"},
	{ARG_VALUE, "RATE", 0, {&vt_rate_load}},
	{ARG_WORD, "for"},
	{ARG_VALUE, "DURATION", 0, {&vt_seconds}},
	{ARG_WORD, "max-loss", ARG_OPT},
	{ARG_VALUE, "SHARE", ARG_OPT, {&vt_share}},
	{ARG_END},
};

const struct verb verb_trial = {
	.name = "trial",
	.args = args_trial,
	.run = trial_run,
	.flags = VERB_NO_LOAD,
	.poll = poll_trial,
	.cancel = trial_end,
	.progress = trial_tells,
	.help = "Send for a time, account for every frame, and say whether the numbers may be trusted.\n"
		"The ports send what is set for them at RATE each, whatever their own rate and count are. What one sends is looked\n"
		"for on its partner (0-1, 2-3; a port without partner receives on itself), or on the receivers that are named. Then\n"
		"Tx is stopped, frames on their way are waited for, and the counters are read once.\n"
		"Ports whose streams are flows open connections at RATE, or start transactions if `tps` is set: 10kcps, 10ktps.\n"
		"Servers at the other end start with them. What has begun may finish within `flow.drain`.\n"
		"The verdict is the first that applies: counters-disagree, link-changed, clock-suspect, preempted, tester-limited,\n"
		"valid. Waits and limits are the settings trial.drain and so on; `set trial rfc2544` sets that standard's waits.\n"
		"In batch the exit code is 0 (valid), 1 (valid, but the loss is more than max-loss), 4 (not valid). Ctrl-C ends it.\n"
		"`show trial` shows the last result again.",
};
