/* SPDX-License-Identifier: BSD-3-Clause */
#include "report.h"
#include "face.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app.h"
#include "clock.h"
#include "event.h"
#include "file.h"
#include "out.h"
#include "snapshot.h"

/* Trials, errors and failed checks are kept in memory for the document at the end. After a long run
 * it has only the newest KEPT of each, and their total. */
#define KEPT 1000
/* A line `interval` is left out when more bytes than this wait for their reader, because the next
 * interval has newer numbers. */
#define INTERVAL_BEHIND_BYTES (256u << 10)

struct kept {
	json_t *list;
	uint64_t total;
};

struct report {
	struct app *app;
	struct report_opts opts;
	struct app_listener *listener;
	uint64_t began_ns, began_wall_ns;
	uint64_t done, refused, failed, cancelled; /* commands */
	uint64_t passed, not_passed;               /* checks */
	struct kept trials, errors, misses;        /* misses: texts of checks that did not pass */
	/* lines `interval` that were left out since the last line */
	uint64_t left_out;
	/* the line `dropped` that will say so, with the times of the last of them */
	json_t *left_last;
};

static void report_keep(struct kept *k, json_t *v)
{
	k->total++;
	if (json_array_size(k->list) == KEPT)
		json_array_remove(k->list, 0);
	json_array_append_new(k->list, v);
}

static void report_put(json_t *o, const char *key, uint64_t v)
{
	json_object_set_new(o, key, json_integer((json_int_t)v));
}

static void put_text(json_t *o, const char *key, const char *text)
{
	size_t n = text != NULL ? strlen(text) : 0;
	struct sbuf b = {0};

	if (text == NULL)
		return;
	while (n > 0 && text[n - 1] == '\n')
		n--;
	sbuf_addn(&b, text, n);
	json_object_set_new(o, key, out_json_text(sbuf_str(&b)));
	sbuf_free(&b);
}

static json_t *report_event(const char *name)
{
	json_t *o = json_object();

	json_object_set_new(o, "event", json_string(name));
	report_put(o, "time_ns", clock_raw_ns());
	report_put(o, "wall_ns", clock_wall_ns());
	return o;
}

static void print_json(const struct report *r, const json_t *o)
{
	struct sbuf b = {0};

	out_write(OUT_JSON, o, NULL, &b);
	r->opts.print(r->opts.arg, sbuf_str(&b));
	sbuf_free(&b);
}

/* Prints the line `dropped` if intervals were left out. It stands where they are missing. */
static void tell_left_out(struct report *r)
{
	if (r->left_out == 0)
		return;
	report_put(r->left_last, "count", r->left_out);
	r->left_out = 0;
	print_json(r, r->left_last);
}

/* Prints an object as a line, if lines are wanted, and releases it. */
static void report_line(struct report *r, json_t *o)
{
	if (r->opts.lines) {
		tell_left_out(r);
		print_json(r, o);
	}
	json_decref(o);
}

static void tell_trial(struct report *r, const struct app_event *ev)
{
	json_t *o = report_event("trial"), *trial = json_object_get(ev->doc, "trial");

	json_object_set(o, "trial", trial);
	report_line(r, o);
	report_keep(&r->trials, json_incref(trial));
}

static void tell_check(struct report *r, const struct app_event *ev)
{
	json_t *o = report_event("check");
	bool passed = json_is_true(json_object_get(ev->doc, "passed"));

	json_object_set_new(o, "passed", json_boolean(passed));
	put_text(o, "text", ev->text != NULL ? ev->text : "");
	report_line(r, o);
	if (passed) {
		r->passed++;
	} else {
		r->not_passed++;
		report_keep(&r->misses, out_json_text(ev->text != NULL ? ev->text : ""));
	}
}

static void tell_port(struct report *r, const struct app_event *ev)
{
	bool link = ev->kind == APP_EVENT_LINK;
	json_t *o = report_event(link ? "link" : "state");

	report_put(o, "port", ev->port);
	if (link)
		put_text(o, "text", ev->text != NULL ? ev->text : "");
	else
		json_object_set_new(o, "state",
				    json_string(ev->kind == APP_EVENT_START ? "sending" : "idle"));
	report_line(r, o);
}

static void tell_interval(struct report *r)
{
	struct err e;

	if (!r->opts.lines)
		return;
	if (r->opts.waiting(r->opts.arg) > INTERVAL_BEHIND_BYTES) {
		r->left_out++;
		json_decref(r->left_last);
		r->left_last = report_event("dropped");
		return;
	}
	struct sbuf parts = {0};
	sbuf_add(&parts, "stats");
	for (const struct face *const *f = faces; *f != NULL; f++) {
		const char *more = (*f)->interval != NULL ? (*f)->interval(r->app) : NULL;
		if (more != NULL)
			sbuf_addf(&parts, ",%s", more);
	}
	json_t *o = report_event("interval");
	json_object_set_new(o, "stats", app_snapshot(r->app, sbuf_str(&parts), &e));
	report_line(r, o);
	sbuf_free(&parts);
}

static void on_event(void *arg, const struct app_event *ev)
{
	struct report *r = arg;

	switch (ev->kind) {
	case APP_EVENT_TICK:
		tell_interval(r);
		break;
	case APP_EVENT_TRIAL:
		tell_trial(r, ev);
		break;
	case APP_EVENT_CHECK:
		tell_check(r, ev);
		break;
	case APP_EVENT_START:
	case APP_EVENT_END:
	case APP_EVENT_LINK:
		tell_port(r, ev);
		break;
	default:
		break; /* notes are in the log too, and report_log() tells them */
	}
}

static void report_begin(struct report *r)
{
	json_t *o = report_event("start"), *ports = json_array();
	struct err e;
	json_t *stats = app_snapshot(r->app, "stats", &e), *p;
	size_t i;

	json_array_foreach(json_object_get(stats, "ports"), i, p)
		json_array_append_new(ports, json_pack("{s:O, s:O, s:O}", "port",
						       json_object_get(p, "port"), "name",
						       json_object_get(p, "name"), "speed_mbps",
						       json_object_get(p, "speed_mbps")));
	json_decref(stats);
	json_object_set_new(o, "version", json_string(WR_VERSION));
	report_put(o, "pid", (uint64_t)getpid());
	json_object_set_new(o, "ports", ports);
	report_line(r, o);
}

struct report *report_new(struct app *app, const struct report_opts *opts)
{
	if (!opts->lines && opts->file == NULL)
		return NULL;
	struct report *r = xcalloc(1, sizeof(*r));
	*r = (struct report){.app = app,
			     .opts = *opts,
			     .began_ns = clock_raw_ns(),
			     .began_wall_ns = clock_wall_ns()};
	r->trials.list = json_array();
	r->errors.list = json_array();
	r->misses.list = json_array();
	r->listener = app_listen(app, on_event, r);
	report_begin(r);
	return r;
}

void report_free(struct report *r)
{
	if (r == NULL)
		return;
	app_unlisten(r->listener);
	json_decref(r->trials.list);
	json_decref(r->errors.list);
	json_decref(r->misses.list);
	json_decref(r->left_last);
	free(r);
}

static bool is_document(const char *line, size_t n)
{
	json_t *v = *line == '{' ? json_loadb(line, n, 0, NULL) : NULL;
	bool is = json_is_object(v);

	json_decref(v);
	return is;
}

/* Tells what a command has printed. Documents that are among its results are in the line `result`;
 * with --json they are printed as lines of their own too. Everything else becomes the text of a
 * line `output`, and so do documents that a script printed, unless --json asks for them as
 * lines. */
static void report_printed(struct report *r, const struct sess_event *ev)
{
	struct sbuf docs = {0}, rest = {0}, text = {0};

	sess_printed(ev, &docs, &rest);
	for (const char *p = sbuf_str(&rest); *p != '\0';) {
		size_t n = strcspn(p, "\n");
		bool doc = r->opts.documents && is_document(p, n);
		n += p[n] == '\n';
		sbuf_addn(doc ? &docs : &text, p, n);
		p += n;
	}
	sbuf_free(&rest);
	if (r->opts.lines && r->opts.documents && docs.len > 0) {
		tell_left_out(r);
		r->opts.print(r->opts.arg, docs.s);
	}
	if (text.len > 0) {
		json_t *o = report_event("output");
		put_text(o, "cmd", ev->line);
		put_text(o, "text", text.s);
		report_line(r, o);
	}
	sbuf_free(&docs);
	sbuf_free(&text);
}

static void report_said(struct report *r, const char *name, const struct sess_event *ev)
{
	json_t *o = report_event(name);

	put_text(o, "cmd", ev->line);
	put_text(o, "text", ev->text);
	if (ev->kind == SESS_ERROR)
		report_keep(&r->errors, json_incref(json_object_get(o, "text")));
	report_line(r, o);
}

static void report_done(struct report *r, const struct sess_event *ev)
{
	json_t *o = report_event("result");

	if (ev->rc == -ECANCELED)
		r->cancelled++;
	else if (ev->rc < 0)
		r->refused++;
	else
		r->done++;
	if (ev->rc >= 0 && ev->exit_code != 0)
		r->failed++;
	put_text(o, "cmd", ev->line);
	json_object_set_new(o, "ok", json_boolean(ev->rc >= 0));
	if (ev->rc == -ECANCELED)
		json_object_set_new(o, "cancelled", json_true());
	report_put(o, "exit_code", (uint64_t)ev->exit_code);
	json_object_set_new(o, "results",
			    ev->results != NULL ? json_incref(ev->results) : json_array());
	report_line(r, o);
}

void report_session(struct report *r, const struct sess_event *ev)
{
	if (r == NULL)
		return;
	switch (ev->kind) {
	case SESS_RESULT:
		report_printed(r, ev);
		break;
	case SESS_NOTE:
		report_said(r, "note", ev);
		break;
	case SESS_ERROR:
		report_said(r, "error", ev);
		break;
	case SESS_DONE:
		report_done(r, ev);
		break;
	}
}

void report_log(struct report *r, const struct log_entry *m)
{
	static const char *const levels[] = {"error", "warning", "info", "debug"};

	if (r == NULL || m->level > LOG_LVL_INFO)
		return;
	json_t *o = report_event(m->level == LOG_LVL_ERROR ? "error" : "note");
	json_object_set_new(o, "level", json_string(levels[m->level]));
	put_text(o, "text", m->text);
	if (m->level == LOG_LVL_ERROR)
		report_keep(&r->errors, json_incref(json_object_get(o, "text")));
	report_line(r, o);
}

static void put_kept(json_t *o, const char *key, const char *total, const struct kept *k)
{
	json_object_set(o, key, k->list);
	report_put(o, total, k->total);
}

/* Says whether no port sends any more. A worker that got no CPU until now may still send; the
 * totals in the document are then not final. */
static bool all_idle(const json_t *stats)
{
	const json_t *p;
	size_t i;

	json_array_foreach(json_object_get(stats, "ports"), i, p)
		if (strcmp(json_string_value(json_object_get(json_object_get(p, "run"), "state")),
			   "idle") != 0)
			return false;
	return true;
}

static json_t *report_document(const struct report *r, int exit_code, json_t *signo)
{
	json_t *run = json_object(), *checks = json_object();
	struct err e;

	json_object_set_new(run, "version", json_string(WR_VERSION));
	report_put(run, "began_wall_ns", r->began_wall_ns);
	report_put(run, "ended_wall_ns", clock_wall_ns());
	report_put(run, "duration_ns", clock_raw_ns() - r->began_ns);
	report_put(run, "exit_code", (uint64_t)exit_code);
	json_object_set(run, "signal", signo);
	json_object_set_new(run, "commands",
			    json_pack("{s:I, s:I, s:I, s:I}", "done", (json_int_t)r->done, "failed",
				      (json_int_t)r->failed, "refused", (json_int_t)r->refused,
				      "cancelled", (json_int_t)r->cancelled));
	put_kept(run, "errors", "errors_total", &r->errors);
	report_put(checks, "passed", r->passed);
	report_put(checks, "failed", r->not_passed);
	json_object_set(checks, "texts", r->misses.list);
	json_object_set_new(run, "checks", checks);
	put_kept(run, "trials", "trials_total", &r->trials);
	json_t *stats = app_snapshot(r->app, "stats", &e);
	json_object_set_new(run, "final", json_boolean(all_idle(stats)));
	json_object_set_new(run, "stats", stats);
	return run;
}

static int report_save(const struct report *r, json_t *run, struct err *e)
{
	json_t *doc = json_object();
	struct sbuf b = {0};
	struct err why;

	json_object_set(doc, "run", run);
	out_write(OUT_JSON, doc, NULL, &b);
	int rc = file_replace(r->opts.file, sbuf_str(&b), b.len, &why);
	if (rc < 0)
		err_set(e, -rc, "option --report: %s", why.text);
	sbuf_free(&b);
	json_decref(doc);
	return rc;
}

int report_end(struct report *r, int exit_code, int signo, struct err *e)
{
	json_t *sig = signo != 0 ? json_integer(signo) : json_null();
	int code = signo != 0 ? 128 + signo : exit_code;
	json_t *run = report_document(r, code, sig), *o = report_event("end");
	int rc = r->opts.file != NULL ? report_save(r, run, e) : 0;

	report_put(o, "exit_code", (uint64_t)code);
	json_object_set(o, "signal", sig);
	json_object_set(o, "run", run);
	report_line(r, o);
	/* nothing follows the last line, although the loop still turns for its reader */
	r->opts.lines = false;
	json_decref(run);
	json_decref(sig);
	return rc;
}
