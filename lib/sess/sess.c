/* SPDX-License-Identifier: BSD-3-Clause */
/* The local session: it runs commands in this process, one after the other, and polls the one that
 * is pending. */
#include "queue.h"
#include "sess_int.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* How often a pending verb is polled. It bounds how late `sleep` and `wait` end. */
#define POLL_NS 1000000ull

enum { EXIT_REFUSED = 2, EXIT_ENVIRONMENT = 3 };

struct local {
	struct sess base;
	struct cmd *cmd;
	void *host;
	sess_snapshot_fn *snapshot;
	struct loop *loop;
	struct sess_opts opts;
	sess_event_fn *fn;
	void *arg;

	struct sess_queue queue;
	struct sess_item *running; /* its verb is pending */
	struct cmd_run run;
	struct cmd_own own;
	struct sbuf out, note;
	int timer;
	int exit_code;
	bool failed, in_poll;
};

/* The timer only wakes the loop; the turn that follows polls. */
static void sess_wake(void *arg)
{
	(void)arg;
}

static void sess_hold(struct local *s, bool on)
{
	if (s->loop == NULL || on == (s->timer >= 0))
		return;
	if (on) {
		s->timer = loop_timer(s->loop, POLL_NS, POLL_NS, sess_wake, NULL);
	} else {
		loop_timer_del(s->loop, s->timer);
		s->timer = -1;
	}
}

/* Ends the question that the verb has asked, and drops its answer. */
static void forget_question(struct local *s)
{
	free(s->own.answer);
	s->own.answer = NULL;
	s->own.asks = false;
}

static void local_free(struct sess *base)
{
	struct local *s = (struct local *)base;
	if (s == NULL)
		return;
	if (s->running != NULL) {
		cmd_cancel(&s->run);
		json_decref(s->run.results);
		sess_item_free(s->running);
	}
	sess_hold(s, false);
	sess_queue_drop(&s->queue, true, 0);
	forget_question(s);
	if (s->own.free != NULL)
		s->own.free(s->own.p);
	sbuf_free(&s->out);
	sbuf_free(&s->note);
	free(s);
}

static void sess_tell(struct local *s, enum sess_event_kind kind, const char *text,
		      const struct sess_item *it, int rc, int exit_code)
{
	const struct sess_event ev = {
		.kind = kind,
		.text = text,
		.line = it->line,
		.rc = rc,
		.exit_code = exit_code,
		.results = kind == SESS_DONE || kind == SESS_RESULT ? s->run.results : NULL,
	};

	s->fn(s->arg, &ev);
}

static void sess_flush(struct local *s, const struct sess_item *it)
{
	if (s->out.len > 0)
		sess_tell(s, SESS_RESULT, sbuf_str(&s->out), it, 0, 0);
	sbuf_reset(&s->out);
	if (s->note.len > 0)
		sess_tell(s, SESS_NOTE, sbuf_str(&s->note), it, 0, 0);
	sbuf_reset(&s->note);
}

/* Reports that a command is done and releases its results. */
static void tell_done(struct local *s, const struct sess_item *it, int rc, int exit_code)
{
	sess_tell(s, SESS_DONE, NULL, it, rc, exit_code);
	json_decref(s->run.results);
	s->run.results = NULL;
}

/* Ends a command, and frees the item. rc is what cmd_exec() or cmd_poll() returned, which is not
 * VERB_PENDING. */
static void sess_finish(struct local *s, struct sess_item *it, int rc, const struct err *e)
{
	int code = s->run.exit_code;

	s->running = NULL;
	sess_hold(s, false);
	forget_question(s);
	sess_flush(s, it);
	if (rc < 0) {
		if (code == 0)
			code = rc == -ENODEV ? EXIT_ENVIRONMENT : EXIT_REFUSED;
		if (!s->opts.keep_going && !it->goes_on) {
			/* A file or a line stops at its first refused command. Lines that a person
			 * typed meanwhile are other groups and go on. */
			s->failed = true;
			sess_queue_drop(&s->queue, s->opts.batch, it->group);
		}
		sess_tell_error(s->fn, s->arg, it, e, rc, code);
	}
	if (code > s->exit_code)
		s->exit_code = code;
	tell_done(s, it, rc, code);
	sess_item_free(it);
}

static int run_one(struct local *s, struct sess_item *it, struct err *e)
{
	memset(&s->run, 0, sizeof(s->run));
	s->run.cmd = s->cmd;
	s->run.host = s->host;
	s->run.line = it->line;
	s->run.out_mode = s->opts.out_mode;
	s->run.out = &s->out;
	s->run.note = &s->note;
	s->run.batch = s->opts.batch;
	s->run.own = &s->own;
	return cmd_exec(s->cmd, &s->run, it->line, e);
}

static void run_all(struct local *s)
{
	for (;;) {
		struct err e = {.col = -1};
		struct sess_item *it = s->running;
		int rc;

		if (s->opts.holds != NULL && s->opts.holds(s->arg))
			break;
		if (it != NULL) {
			rc = cmd_poll(&s->run, &e);
		} else {
			/* After `quit` nothing more is run. */
			if (s->loop != NULL && loop_stopped(s->loop))
				sess_queue_drop(&s->queue, true, 0);
			it = sess_queue_take(&s->queue);
			if (it == NULL)
				break;
			rc = run_one(s, it, &e);
		}
		if (rc == VERB_PENDING) {
			s->running = it;
			sess_hold(s, true);
			sess_flush(s, it);
			break;
		}
		sess_finish(s, it, rc, &e);
	}
}

static bool local_busy(const struct sess *base)
{
	const struct local *s = (const struct local *)base;
	return s->running != NULL || s->queue.head != NULL;
}

static void local_poll(struct sess *base)
{
	struct local *s = (struct local *)base;
	bool tell = s->opts.runs != NULL && local_busy(base);

	if (s->in_poll)
		return;
	s->in_poll = true;
	if (tell)
		s->opts.runs(true);
	run_all(s);
	if (tell)
		s->opts.runs(false);
	s->in_poll = false;
}

static void local_exec(struct sess *base, const char *text, const char *where)
{
	struct local *s = (struct local *)base;

	if (s->own.asks && where == NULL) {
		size_t n = strcspn(text, "\n");
		s->own.answer = memcpy(xcalloc(n + 1, 1), text, n);
		s->own.asks = false;
		text += n + (text[n] == '\n');
		/* the lines after the answer are commands */
		if (*text == '\0')
			return;
	}
	if (s->failed && s->opts.batch)
		return;
	s->failed = false;
	sess_queue_add(&s->queue, text, where);
}

static void local_keep_going(struct sess *base, bool on)
{
	((struct local *)base)->queue.goes_on = on;
}

static bool local_asks(const struct sess *base)
{
	return ((const struct local *)base)->own.asks;
}

static bool local_progress(struct sess *base, struct cmd_progress *out)
{
	const struct local *s = (const struct local *)base;

	if (s->own.asks)
		return false;
	if (s->running == NULL || !cmd_run_progress(&s->run, out))
		return s->opts.progress != NULL && s->opts.progress(s->host, out);
	sess_queue_tell(&s->queue, out);
	return true;
}

static void local_cancel(struct sess *base)
{
	struct local *s = (struct local *)base;
	struct sess_item *it = s->running;

	sess_queue_drop(&s->queue, true, 0);
	if (it == NULL)
		return;
	cmd_cancel(&s->run);
	s->running = NULL;
	sess_hold(s, false);
	forget_question(s);
	sess_flush(s, it);
	tell_done(s, it, -ECANCELED, s->run.exit_code);
	sess_item_free(it);
}

static int local_exit_code(const struct sess *base)
{
	const struct local *s = (const struct local *)base;
	return s->exit_code;
}

static bool local_failed(const struct sess *base)
{
	const struct local *s = (const struct local *)base;
	return s->failed;
}

static void local_complete(struct sess *base, const char *line, int cursor, int *start,
			   void (*offer)(void *arg, const char *word, const char *help), void *arg)
{
	struct local *s = (struct local *)base;
	cmd_complete(s->cmd, line, cursor, start, offer, arg);
}

static json_t *local_snapshot(struct sess *base, const char *parts, struct err *e)
{
	struct local *s = (struct local *)base;
	if (s->snapshot != NULL)
		return s->snapshot(s->host, parts, e);
	err_set(e, ENOTSUP, "this session has no snapshots");
	return NULL;
}

static void local_set_out_mode(struct sess *base, int out_mode)
{
	struct local *s = (struct local *)base;
	s->opts.out_mode = out_mode;
}

static const struct sess_ops local_ops = {
	.free = local_free,
	.exec = local_exec,
	.busy = local_busy,
	.asks = local_asks,
	.progress = local_progress,
	.cancel = local_cancel,
	.poll = local_poll,
	.exit_code = local_exit_code,
	.failed = local_failed,
	.complete = local_complete,
	.snapshot = local_snapshot,
	.keep_going = local_keep_going,
	.set_out_mode = local_set_out_mode,
};

struct sess *sess_local(struct cmd *cmd, void *host, sess_snapshot_fn *snapshot, struct loop *loop,
			const struct sess_opts *opts, sess_event_fn *fn, void *arg)
{
	struct local *s = xcalloc(1, sizeof(*s));

	s->base.ops = &local_ops;
	s->cmd = cmd;
	s->host = host;
	s->snapshot = snapshot;
	s->loop = loop;
	s->opts = *opts;
	s->fn = fn;
	s->arg = arg;
	sess_queue_init(&s->queue);
	s->timer = -1;
	s->own.can_ask = opts->person;
	return &s->base;
}
