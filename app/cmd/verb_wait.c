/* SPDX-License-Identifier: BSD-3-Clause */
/* wait: waits until ports have stopped sending, and tells of runs that were slower than asked. */
#include "out.h"
#include "verbs.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct waiting {
	struct portset ports;
	uint64_t limit_ns, deadline_ns; /* limit 0: none */
};
_Static_assert(sizeof(struct waiting) <= VERB_STATE_BYTES, "state of a verb");

static struct waiting *wait_state(struct cmd_run *r)
{
	return (struct waiting *)r->state;
}

/* Tells of a run that was slower than asked, because its numbers do not stand for the rate that was
 * asked. Such a run has taken at least 0.1 % and at least 1 ms longer than its frames should have:
 * a short run loses a millisecond to scheduling. Runs without one rate throughout are not
 * compared. */
static void tell_limited(const struct snap_port *p, struct sbuf *note)
{
	double asked = p->run.asked_pps, took = (double)p->run.duration_ns;

	if (p->run.unsent > 0) /* control has already said how this run ended */
		return;
	if (p->state != RUN_IDLE || p->run.asked_max || p->run.unasked || p->run.rate_changed ||
	    p->run.sent == 0 || asked <= 0)
		return;
	double due = (double)p->run.sent * 1e9 / asked;
	if (took < due * 1.001 || took < due + 1e6)
		return;
	sbuf_addf(note, "tester limited: port %u sent ", p->port);
	out_si(p->run.mean_pps, note);
	sbuf_add(note, "pps, asked ");
	out_si(asked, note);
	sbuf_addf(note, "pps; %" PRIu64 " frames took ", p->run.sent);
	out_duration(p->run.duration_ns, note);
	sbuf_add(note, " instead of ");
	out_duration((uint64_t)due, note);
	sbuf_add(note, "\n");
}

static void tell_all(struct cmd_run *r, const struct portset *ports)
{
	struct snap *s = ctl_snapshot(app_of(r)->ctl);

	for (unsigned i = 0; i < s->nports; i++)
		if (portset_has(ports, s->port[i].port))
			tell_limited(&s->port[i], r->note);
	snap_free(s);
	free(s);
}

static int poll_wait(struct cmd_run *r, struct err *e)
{
	struct waiting *w = wait_state(r);
	struct sbuf took = {0};

	(void)e;
	switch (ctl_settled(app_of(r)->ctl, &w->ports)) {
	case 1:
		tell_all(r, &w->ports);
		return VERB_DONE;
	case 0:
		break;
	default:
		app_tell_stuck(app_of(r), &w->ports, r->note);
		r->exit_code = 1;
		return VERB_DONE;
	}
	if (w->limit_ns == 0 || verb_now_ns() < w->deadline_ns)
		return VERB_PENDING;
	vt_duration.print(&(struct vspec){&vt_duration}, &w->limit_ns, &took);
	sbuf_addf(r->note, "wait: not done after %s, port ", sbuf_str(&took));
	ports_print(&w->ports, r->note);
	sbuf_add(r->note, "\n");
	sbuf_free(&took);
	r->exit_code = 1;
	return VERB_DONE;
}

static int wait_run(struct cmd_run *r, const struct arg_val *args, struct err *e)
{
	struct app *app = app_of(r);
	struct waiting *w = wait_state(r);
	int rc = arg_ports_or_all(r, &args[0], &w->ports, e);

	if (rc < 0)
		return rc;
	for (unsigned p = 0; r->batch && !args[1].given && p < ctl_nports(app->ctl); p++)
		if (portset_has(&w->ports, p) && ctl_sending(app->ctl, p) &&
		    !ctl_bounded(app->ctl, p))
			return err_at(
				e, EINVAL, args[0].col,
				"port %u sends without a bound, so this would never end; `wait %u 10s`, "
				"`start %u for 10s` or `set %u count N` before the start bound it",
				p, p, p, p);
	if (args[1].given && args[1].v.u == 0) {
		rc = ctl_settled(app->ctl, &w->ports);
		r->exit_code = rc == 1 ? 0 : 1;
		return VERB_DONE;
	}
	w->limit_ns = args[1].given ? args[1].v.u : 0;
	w->deadline_ns = verb_now_ns() + w->limit_ns;
	return VERB_PENDING;
}

static bool wait_progress(const struct cmd_run *r, struct cmd_progress *out)
{
	const struct waiting *w = (const struct waiting *)r->state;
	uint64_t now = verb_now_ns(), left = w->deadline_ns > now ? w->deadline_ns - now : 0;

	if (!app_progress_ports(r->host, &w->ports, out))
		snprintf(out->text, sizeof(out->text), "waiting for frames on their way");
	if (w->limit_ns == 0 || left >= out->left_ns)
		return true;
	struct sbuf text = {0};
	size_t n = strlen(out->text);
	cmd_progress_time(out, w->limit_ns - left, w->limit_ns);
	cmd_progress_span(w->limit_ns, &text);
	snprintf(out->text + n, sizeof(out->text) - n, "; waits %s at most", text.s);
	sbuf_free(&text);
	return true;
}

/* Ports that send go on. At the prompt somebody was tired of waiting: what has stopped and only
 * waits for connections that are open waits no longer. A client may just have been lost. */
static void wait_cancel(struct cmd_run *r)
{
	if (!r->batch && app_of(r)->guest == NULL)
		ctl_hurry(app_of(r)->ctl, &wait_state(r)->ports);
}

static const struct arg_spec args_wait[] = {
	{ARG_TARGETS, "ports", ARG_OPT},
	{ARG_VALUE, "DURATION", ARG_OPT, {&vt_seconds}},
	{ARG_END},
};

const struct verb verb_wait = {
	.name = "wait",
	.args = args_wait,
	.run = wait_run,
	.flags = VERB_LOOKS | VERB_NO_LOAD,
	.poll = poll_wait,
	.cancel = wait_cancel,
	.progress = wait_progress,
	.help = "Wait until the ports, or all ports, have stopped sending and their frames have arrived.\n"
		"They are taken as arrived when no Rx counter of any port has moved for 20 ms, at most 2 s after the last frame,\n"
		"or 10 s while a worker gets no CPU.\n"
		"If DURATION passes first, or a device takes no frame for 10 s, the exit code is 1. Ctrl-C ends the waiting, not the\n"
		"sending; flows that have stopped, and wait for open connections, reset them at the prompt.",
};
