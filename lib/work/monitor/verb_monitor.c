/* SPDX-License-Identifier: BSD-3-Clause */
/* monitor: frames as they come, a line for each. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "monitor_app.h"

#define DFLT_RATE 100
/* A client gets all of its lines at once, in one answer. */
#define CLIENT_LINES 1000
#define FILTER_SNAP 262144 /* a filter reads all of a frame, whatever is kept of it */
/* What nobody has taken yet takes no more than this; frames wait in their rings then. */
#define UNTAKEN_BYTES (1 << 20)

enum {
	A_PORTS,
	A_FILTER,
	A_EXPR,
	A_RX,
	A_TX,
	A_BOTH,
	A_FRAMES,
	A_FRAMES_N,
	A_FOR,
	A_FOR_NS,
	A_RATE,
	A_RATE_N,
	A_HEX
};

struct monitoring {
	struct monitor_spec spec;
	struct filter_job *job; /* the filter is being compiled; NULL: there is none, or it is */
	int filter_col;
	struct monitor *monitor;
	uint64_t begin_ns, frames; /* frames 0: any number */
	uint64_t shown;
	uint64_t told_missing; /* between those that were shown */
	bool hex, limited;     /* limited: frames is the limit of clients */
};
_Static_assert(sizeof(struct monitoring) <= VERB_STATE_BYTES, "state of a verb");

static struct monitoring *monitor_state_of(struct cmd_run *r)
{
	return (struct monitoring *)r->state;
}

/* ---- lines ---- */

static bool monitor_enough(const struct monitoring *x)
{
	return x->frames > 0 && x->shown >= x->frames;
}

static void monitor_flush(struct cmd_run *r, bool all)
{
	struct monitoring *x = monitor_state_of(r);
	struct monitor_line l;

	while (!monitor_enough(x) && (all || r->out->len < UNTAKEN_BYTES) &&
	       monitor_line_next(x->monitor, &l)) {
		monitor_print(r, &l, x->hex, x->shown == 0);
		x->told_missing += l.not_shown;
		x->shown++;
	}
}

/* ---- the end ---- */

static void monitor_end_text(const struct monitoring *x, const struct monitor_counts *n,
			     struct sbuf *note)
{
	sbuf_addf(note, "monitor: %" PRIu64 " frame%s shown", n->shown, n->shown == 1 ? "" : "s");
	if (n->not_shown > 0)
		sbuf_addf(note, ", %" PRIu64 " not shown, with `rate %u`", n->not_shown,
			  x->spec.rate);
	if (n->full > 0)
		sbuf_addf(note, ", %" PRIu64 " of them because the output was not taken", n->full);
	if (x->limited && monitor_enough(x))
		sbuf_addf(note, "; a client gets no more than %u", CLIENT_LINES);
	sbuf_addc(note, '\n');
}

/* Tells what was shown and what was not. Where the wanted number of frames ended it, what came
 * behind the last one does not count. */
static void monitor_end(struct cmd_run *r)
{
	struct monitoring *x = monitor_state_of(r);
	struct monitor_counts n;

	monitor_count(x->monitor, &n);
	if (monitor_enough(x)) {
		n.not_shown = x->told_missing;
		n.full = n.full < n.not_shown ? n.full : n.not_shown;
	}
	json_t *doc =
		json_pack("{s{so,sI,sI,sI}}", "monitored", "ports",
			  ctl_portset_json(&x->spec.ports), "shown", (json_int_t)n.shown,
			  "not_shown", (json_int_t)n.not_shown, "not_taken", (json_int_t)n.full);
	cmd_result(r, doc);
	if (r->out_mode == OUT_JSON)
		out_write(OUT_JSON, doc, NULL, r->out);
	else
		monitor_end_text(x, &n, r->note);
	json_decref(doc);
	monitor_free(app_of(r)->ctl, x->monitor);
	x->monitor = NULL;
}

static int monitor_begin(struct cmd_run *r, const struct filter_prog *prog, struct err *e)
{
	struct monitoring *x = monitor_state_of(r);
	int rc = monitor_start(app_of(r)->ctl, &x->spec, prog, &x->monitor, e);

	x->begin_ns = verb_now_ns();
	return rc < 0 ? rc : VERB_PENDING;
}

static int monitor_compiling(struct cmd_run *r, struct err *e)
{
	struct monitoring *x = monitor_state_of(r);
	struct filter_prog prog = {0};
	int rc = filter_poll(x->job, &prog, e);

	if (rc == -EAGAIN)
		return VERB_PENDING;
	filter_job_free(x->job);
	x->job = NULL;
	if (rc < 0) {
		e->col = x->filter_col;
		return rc;
	}
	rc = monitor_begin(r, &prog, e);
	filter_prog_free(&prog);
	return rc;
}

static int monitor_poll(struct cmd_run *r, struct err *e)
{
	struct monitoring *x = monitor_state_of(r);

	if (x->job != NULL)
		return monitor_compiling(r, e);
	bool over = monitor_over(x->monitor);
	monitor_flush(r, over);
	if (monitor_enough(x) || over) {
		monitor_end(r);
		return VERB_DONE;
	}
	if (x->spec.for_ns > 0 && verb_now_ns() - x->begin_ns >= x->spec.for_ns)
		monitor_stop(app_of(r)->ctl, x->monitor);
	return VERB_PENDING;
}

static void monitor_cancel(struct cmd_run *r)
{
	struct monitoring *x = monitor_state_of(r);

	filter_job_free(x->job);
	x->job = NULL;
	if (x->monitor == NULL)
		return;
	monitor_flush(r, true);
	monitor_end(r);
}

static bool monitor_progress(const struct cmd_run *r, struct cmd_progress *out)
{
	const struct monitoring *x = (const struct monitoring *)r->state;

	out->share = (double)NAN;
	out->left_ns = CMD_LEFT_UNKNOWN;
	if (x->spec.for_ns > 0)
		cmd_progress_time(out, verb_now_ns() - x->begin_ns, x->spec.for_ns);
	else if (x->frames > 0)
		out->share = (double)x->shown / (double)x->frames;
	snprintf(out->text, sizeof(out->text), "monitoring, %" PRIu64 " frames shown", x->shown);
	return true;
}

/* ---- the beginning ---- */

static int monitor_rules(const struct cmd_run *r, const struct arg_val *a, struct monitoring *x,
			 struct err *e)
{
	bool client = app_of(r)->guest != NULL;

	if (a[A_RX].given + a[A_TX].given + a[A_BOTH].given > 1)
		return err_at(e, EINVAL, a[a[A_BOTH].given ? A_BOTH : A_TX].col,
			      "say one of rx, tx and both; without any it is rx");
	if (a[A_FOR_NS].given && x->spec.for_ns == 0)
		return err_at(
			e, EINVAL, a[A_FOR_NS].col,
			"in no time no frame comes; allowed are durations above 0, like 10s or 1.5ms");
	if (client && x->frames > CLIENT_LINES)
		return err_at(e, ERANGE, a[A_FRAMES_N].col,
			      "a client gets all lines in one answer, and no more than %u",
			      CLIENT_LINES);
	if ((r->batch || client) && x->frames == 0 && x->spec.for_ns == 0)
		return err_at(
			e, EINVAL, a[A_PORTS].col,
			"this would never end; say when, `frames 10` or `for 5s` (at the prompt Ctrl-C ends it)");
	x->limited = client && x->frames == 0;
	if (x->limited)
		x->frames = CLIENT_LINES;
	return 0;
}

static int monitor_run(struct cmd_run *r, const struct arg_val *a, struct err *e)
{
	struct monitoring *x = monitor_state_of(r);
	int rc = arg_ports(r, &a[A_PORTS], &x->spec.ports, e);

	if (rc < 0)
		return rc;
	x->spec.rx = !a[A_TX].given;
	x->spec.tx = a[A_TX].given || a[A_BOTH].given;
	x->spec.rate = a[A_RATE_N].given ? (unsigned)a[A_RATE_N].v.u : DFLT_RATE;
	x->spec.for_ns = a[A_FOR_NS].given ? a[A_FOR_NS].v.u : 0;
	x->frames = a[A_FRAMES_N].given ? a[A_FRAMES_N].v.u : 0;
	x->hex = a[A_HEX].given;
	rc = monitor_rules(r, a, x, e);
	if (rc < 0)
		return rc;
	rc = monitor_may_start(app_of(r)->ctl, &x->spec, e);
	if (rc < 0)
		e->col = a[A_PORTS].col;
	else if (!a[A_EXPR].given)
		return monitor_begin(r, NULL, e);
	if (rc < 0)
		return rc;
	x->filter_col = a[A_EXPR].col;
	rc = filter_start(a[A_EXPR].text, FILTER_SNAP, FILTER_ETHERNET, &x->job, e);
	if (rc < 0)
		e->col = x->filter_col;
	return rc < 0 ? rc : VERB_PENDING;
}

static const struct arg_spec args_monitor[] = {
	[A_PORTS] = {ARG_TARGETS, "ports", ARG_ALL},
	[A_FILTER] = {ARG_WORD, "filter", ARG_OPT},
	[A_EXPR] = {ARG_VALUE, "EXPRESSION", ARG_OPT, {&vt_text}},
	[A_RX] = {ARG_WORD, "rx", ARG_OPT},
	[A_TX] = {ARG_WORD, "tx", ARG_OPT},
	[A_BOTH] = {ARG_WORD, "both", ARG_OPT},
	[A_FRAMES] = {ARG_WORD, "frames", ARG_OPT},
	[A_FRAMES_N] = {ARG_VALUE, "N", ARG_OPT, {&vt_uint, 1, 1000000000000000}},
	[A_FOR] = {ARG_WORD, "for", ARG_OPT},
	[A_FOR_NS] = {ARG_VALUE, "DURATION", ARG_OPT, {&vt_seconds}},
	[A_RATE] = {ARG_WORD, "rate", ARG_OPT},
	[A_RATE_N] = {ARG_VALUE, "LINES", ARG_OPT, {&vt_uint, 1, MONITOR_RATE_MOST}},
	[A_HEX] = {ARG_WORD, "hex", ARG_OPT},
	{ARG_END},
};

const struct verb verb_monitor = {
	.name = "monitor",
	.args = args_monitor,
	.run = monitor_run,
	.flags = VERB_NO_LOAD,
	.poll = monitor_poll,
	.cancel = monitor_cancel,
	.progress = monitor_progress,
	.help = "Print frames as they come, one line each: time, port, direction, queue, size with FCS, and what the headers say.\n"
		"rx (the default), tx or both. filter takes what tcpdump takes. It shows at most LINES (100) frames a second, the first\n"
		"ones of each tenth of it, and tells how many others came between. It ends after N frames, after DURATION or by\n"
		"Ctrl-C. hex: with the first 256 bytes of each frame.",
};
