/* SPDX-License-Identifier: BSD-3-Clause */
/* The remote session: sends the calls of a session to another process as JSON lines, one command at
 * a time. app/rpc/rpc.h describes the protocol. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "out.h"
#include "peer.h"
#include "queue.h"
#include "sess_int.h"

#define GREET_MS 5000
/* How long the prompt waits for a snapshot or for completions. What comes later is of no use to
 * it. */
#define SNAPSHOT_MS 300
#define LATE_MS 20 /* for a snapshot while an earlier one has not come */
#define WORDS_MS 500
#define OLD_NS 5000000000ull /* progress that the server told longer ago is not shown any more */

enum { EXIT_REFUSED = 2, EXIT_PEER = 5 };

struct remote {
	struct sess base;
	struct sess_remote_opts to;
	struct sess_opts opts;
	struct peer *peer;
	struct loop *loop;
	sess_event_fn *fn;
	void *arg;
	char *name;

	struct sess_queue queue;
	struct sess_item *running;
	/* Ids of requests: the last one, and those of the running command and of the snapshot that
	 * were not answered yet; 0: none. */
	json_int_t next_id, run_id, snap_id;
	char *snap_parts, *had_parts; /* the parts that are asked for, and those of *had */
	json_t *had;                  /* the last snapshot; NULL: none yet */
	/* The progress that the server told last. works: it says something. work_refused: the
	 * server does not know the request. work_ns: when it was told. work_run: run_id of the
	 * command that it was about, 0: no command of ours was running. ask_id: the request that is
	 * not answered yet, 0: none; ask_run: run_id when it was sent. */
	struct cmd_progress work;
	bool works, work_refused;
	uint64_t work_ns;
	json_int_t work_run, ask_id, ask_run;
	uint64_t snap_ns; /* if snap_id != 0: since when no snapshot has been answered */
	int exit_code;
	bool failed, in_poll, told_lost, ends; /* ends: the last command has ended the server */
};

static json_t *remote_request(struct remote *s, const char *key, json_t *value)
{
	json_t *o = json_object();

	json_object_set_new(o, "id", json_integer(++s->next_id));
	json_object_set_new(o, key, value);
	return o;
}

static json_t *text_json(const char *text)
{
	json_t *t = json_string(text);

	/* a line that is not UTF-8 becomes "?", of which the server says that there is no such
	 * command */
	return t != NULL ? t : json_string("?");
}

static void remote_tell(struct remote *s, enum sess_event_kind kind, const char *text,
			const struct sess_item *it, int rc, int exit_code, json_t *results)
{
	const struct sess_event ev = {.kind = kind,
				      .text = text,
				      .line = it != NULL ? it->line : "",
				      .rc = rc,
				      .exit_code = exit_code,
				      .results = results};

	if (kind == SESS_DONE || (text != NULL && *text != '\0'))
		s->fn(s->arg, &ev);
}

/* Ends a command and frees the item. e is why it was refused; NULL: it was not. */
static void remote_finish(struct remote *s, struct sess_item *it, int rc, int code,
			  const struct err *e, json_t *results)
{
	if (rc < 0 && rc != -ECANCELED) {
		if (!s->opts.keep_going && !it->goes_on) {
			s->failed = true;
			sess_queue_drop(&s->queue, s->opts.batch, it->group);
		}
		if (e != NULL)
			sess_tell_error(s->fn, s->arg, it, e, rc, code);
	}
	if (code > s->exit_code)
		s->exit_code = code;
	remote_tell(s, SESS_DONE, NULL, it, rc, code, results);
	sess_item_free(it);
}

/* Notes that no command is running. The progress of that command is dropped. Progress that was told
 * while no command ran is kept until there is something newer, so that it does not come and go with
 * each short command. */
static void no_command(struct remote *s)
{
	s->running = NULL;
	s->run_id = 0;
	if (s->work_run != 0)
		s->works = false;
}

static int error_code(const char *name)
{
	static const struct {
		const char *name;
		int code;
	} codes[] = {{"EBUSY", EBUSY},         {"ENOTSUP", ENOTSUP}, {"ENODEV", ENODEV},
		     {"ECANCELED", ECANCELED}, {"EACCES", EACCES},   {"EPERM", EPERM}};

	for (size_t i = 0; name != NULL && i < ARRAY_SIZE(codes); i++)
		if (strcmp(codes[i].name, name) == 0)
			return -codes[i].code;
	return -EINVAL;
}

static void print_results(struct remote *s, const struct sess_item *it, const json_t *results)
{
	const json_t *doc;
	size_t i;

	if (s->opts.out_mode != OUT_JSON)
		return;
	json_array_foreach(results, i, doc) {
		struct sbuf text = {0};
		out_write(OUT_JSON, doc, NULL, &text);
		remote_tell(s, SESS_RESULT, sbuf_str(&text), it, 0, 0, NULL);
		sbuf_free(&text);
	}
}

static void remote_answered(struct remote *s, const json_t *m)
{
	struct sess_item *it = s->running;
	const json_t *error = json_object_get(m, "error"), *col = json_object_get(error, "col");
	const char *text = json_string_value(json_object_get(error, "text"));
	int code = (int)json_integer_value(json_object_get(m, "exit_code"));
	struct err e;

	no_command(s);
	/* what a chunk of Lua printed stands before what it returned */
	remote_tell(s, SESS_RESULT, json_string_value(json_object_get(m, "text")), it, 0, 0, NULL);
	print_results(s, it, json_object_get(m, "results"));
	remote_tell(s, SESS_NOTE, json_string_value(json_object_get(m, "notes")), it, 0, 0, NULL);
	if (json_is_true(json_object_get(m, "ok"))) {
		s->ends = s->to.place(s->to.cmd_host, it->line) == SESS_THERE_ENDS;
		remote_finish(s, it, 0, code, NULL, json_object_get(m, "results"));
		return;
	}
	err_set(&e, EINVAL, "%s", text != NULL ? text : "the server refused it without a reason");
	e.col = json_is_integer(col) ? (int)json_integer_value(col) : -1;
	remote_finish(s, it, error_code(json_string_value(json_object_get(error, "code"))),
		      code != 0 ? code : EXIT_REFUSED, &e, NULL);
}

static void keep_snapshot(struct remote *s, json_t *m)
{
	json_t *snap = json_object_get(m, "snapshot");

	s->snap_id = 0;
	if (snap == NULL)
		return;
	json_decref(s->had);
	free(s->had_parts);
	s->had = json_incref(snap);
	s->had_parts = s->snap_parts;
	s->snap_parts = NULL;
}

/* Reads progress that a server told. The server may be anything, so values that cannot be are taken
 * as unknown. false: it says nothing. */
static bool read_work(const json_t *o, struct cmd_progress *out)
{
	const json_t *share = json_object_get(o, "share"), *left = json_object_get(o, "left_ns");
	const char *text = json_string_value(json_object_get(o, "text"));

	*out = (struct cmd_progress){.share = (double)NAN, .left_ns = CMD_LEFT_UNKNOWN};
	if (json_is_number(share) && json_number_value(share) >= 0 && json_number_value(share) <= 1)
		out->share = json_number_value(share);
	if (json_is_integer(left) && json_integer_value(left) >= 0)
		out->left_ns = (uint64_t)json_integer_value(left);
	snprintf(out->text, sizeof(out->text), "%s", text != NULL ? text : "");
	return !isnan(out->share) || out->left_ns != CMD_LEFT_UNKNOWN || out->text[0] != '\0';
}

static void keep_work(struct remote *s, const json_t *m)
{
	s->ask_id = 0;
	s->work_refused = !json_is_true(json_object_get(m, "ok"));
	if (s->ask_run != s->run_id)
		return; /* since the request another command has begun, or that one has ended */
	s->works = !s->work_refused && read_work(json_object_get(m, "progress"), &s->work);
	s->work_run = s->run_id;
	s->work_ns = loop_now_ns();
}

static void remote_take(struct remote *s, json_t *m)
{
	const json_t *id = json_object_get(m, "id"), *text;
	bool ours = s->running != NULL && json_integer_value(id) == s->run_id;

	/* The server refuses a line that is too long without giving its id. Of our requests only a
	 * command can be that long. */
	if (s->running != NULL && json_is_null(id) && json_is_false(json_object_get(m, "ok")))
		ours = true;
	if ((text = json_object_get(m, "out")) != NULL && ours)
		remote_tell(s, SESS_RESULT, json_string_value(text), s->running, 0, 0, NULL);
	else if ((text = json_object_get(m, "note")) != NULL && ours)
		remote_tell(s, SESS_NOTE, json_string_value(text), s->running, 0, 0, NULL);
	else if (json_object_get(m, "ok") != NULL && ours)
		remote_answered(s, m);
	else if (json_object_get(m, "ok") != NULL && s->snap_id != 0 &&
		 json_integer_value(id) == s->snap_id)
		keep_snapshot(s, m); /* it comes too late for the page that asked for it */
	else if (json_object_get(m, "ok") != NULL && s->ask_id != 0 &&
		 json_integer_value(id) == s->ask_id)
		keep_work(s, m);
	else if (json_object_get(m, "event") != NULL &&
		 strcmp(json_string_value(json_object_get(m, "event")) ?: "", "closed") == 0)
		remote_tell(s, SESS_NOTE,
			    s->ends ? NULL : json_string_value(json_object_get(m, "text")), NULL, 0,
			    0, NULL);
	/* anything else answers a request that nobody waits for any more */
}

static void run_here(struct remote *s, struct sess_item *it)
{
	struct sbuf out = {0}, note = {0};
	struct cmd_run r = {.cmd = s->to.cmd,
			    .host = s->to.cmd_host,
			    .line = it->line,
			    .out_mode = s->opts.out_mode,
			    .out = &out,
			    .note = &note,
			    .batch = s->opts.batch};
	struct err e = {.col = -1};
	int rc = cmd_exec(s->to.cmd, &r, it->line, &e);

	remote_tell(s, SESS_RESULT, sbuf_str(&out), it, 0, 0, NULL);
	remote_tell(s, SESS_NOTE, sbuf_str(&note), it, 0, 0, NULL);
	remote_finish(s, it, rc, rc < 0 ? EXIT_REFUSED : r.exit_code, &e, r.results);
	json_decref(r.results);
	sbuf_free(&out);
	sbuf_free(&note);
}

static void run_there(struct remote *s, struct sess_item *it)
{
	static const char *const modes[] = {
		[OUT_TEXT] = "text", [OUT_CSV] = "csv", [OUT_JSON] = "json"};
	json_t *o = remote_request(s, "cmd", text_json(it->line));

	json_object_set_new(o, "mode", json_string(modes[s->opts.out_mode]));
	s->running = it;
	s->run_id = s->next_id;
	peer_send(s->peer, o);
}

static void tell_lost(struct remote *s)
{
	struct sbuf text = {0};

	s->told_lost = true;
	sess_queue_drop(&s->queue, true, 0);
	if (s->ends && s->running == NULL)
		return; /* the server has ended because it was told to */
	s->failed = true;
	if (s->exit_code < EXIT_PEER)
		s->exit_code = EXIT_PEER;
	sbuf_addf(&text, "the connection to %s is lost: %s\n", s->name, peer_lost(s->peer));
	remote_tell(s, SESS_ERROR, sbuf_str(&text), s->running, -EPIPE, EXIT_PEER, NULL);
	sbuf_free(&text);
	if (s->running != NULL) {
		struct sess_item *it = s->running;
		no_command(s);
		remote_tell(s, SESS_DONE, NULL, it, -EPIPE, EXIT_PEER, NULL);
		sess_item_free(it);
	}
}

static void remote_poll(struct sess *base)
{
	struct remote *s = (struct remote *)base;
	json_t *m;

	if (s->in_poll)
		return;
	s->in_poll = true;
	for (;;) {
		while ((m = peer_next(s->peer)) != NULL) {
			remote_take(s, m);
			json_decref(m);
		}
		if (loop_stopped(s->loop))
			sess_queue_drop(&s->queue, true, 0); /* after `quit` nothing more is run */
		if (peer_lost(s->peer) != NULL || s->running != NULL || s->queue.head == NULL)
			break;
		struct sess_item *it = sess_queue_take(&s->queue);
		if (s->to.place(s->to.cmd_host, it->line) == SESS_HERE)
			run_here(s, it);
		else
			run_there(s, it);
	}
	if (peer_lost(s->peer) != NULL && !s->told_lost)
		tell_lost(s);
	s->in_poll = false;
}

static void remote_exec(struct sess *base, const char *text, const char *where)
{
	struct remote *s = (struct remote *)base;

	if ((s->failed && s->opts.batch) || s->told_lost)
		return;
	s->failed = false;
	sess_queue_add(&s->queue, text, where);
}

static bool remote_busy(const struct sess *base)
{
	const struct remote *s = (const struct remote *)base;

	return s->running != NULL || s->queue.head != NULL;
}

/* Gives what was told last, and asks the server again unless a request is not answered yet. Nothing
 * waits for the answer. */
static bool remote_progress(struct sess *base, struct cmd_progress *out)
{
	struct remote *s = (struct remote *)base;

	if (s->ask_id == 0 && !s->work_refused) {
		peer_send(s->peer, remote_request(s, "progress", json_true()));
		s->ask_id = s->next_id;
		s->ask_run = s->run_id;
	}
	if (peer_lost(s->peer) != NULL || !s->works || loop_now_ns() - s->work_ns > OLD_NS)
		return false;
	*out = s->work;
	if (s->work_run != 0)
		sess_queue_tell(&s->queue, out);
	return true;
}

/* Tells the server to cancel and does not wait for it: whatever it still says about the command is
 * ignored. */
static void remote_cancel(struct sess *base)
{
	struct remote *s = (struct remote *)base;
	struct sess_item *it = s->running;

	sess_queue_drop(&s->queue, true, 0);
	if (it == NULL)
		return;
	peer_send(s->peer, remote_request(s, "cancel", json_true()));
	no_command(s);
	remote_tell(s, SESS_DONE, NULL, it, -ECANCELED, 0, NULL);
	sess_item_free(it);
}

static bool has_id(void *arg, const json_t *m)
{
	return json_object_get(m, "ok") != NULL &&
	       json_integer_value(json_object_get(m, "id")) == *(const json_int_t *)arg;
}

static void remote_complete(struct sess *base, const char *line, int cursor, int *start,
			    void (*offer)(void *arg, const char *word, const char *help), void *arg)
{
	struct remote *s = (struct remote *)base;
	json_t *o = remote_request(s, "complete", text_json(line));
	const json_t *w, *at;
	json_int_t id = s->next_id;
	size_t i;

	json_object_set_new(o, "cursor", json_integer(cursor));
	peer_send(s->peer, o);
	json_t *m = peer_wait(s->peer, WORDS_MS, has_id, &id);
	at = json_object_get(m, "start");
	if (json_is_integer(at) && json_integer_value(at) >= 0 && json_integer_value(at) <= cursor)
		*start = (int)json_integer_value(at);
	json_array_foreach(json_object_get(m, "words"), i, w)
		offer(arg, json_string_value(json_object_get(w, "word")),
		      json_string_value(json_object_get(w, "help")) ?: "");
	json_decref(m);
}

/* Returns the last snapshot that came, if it has these parts; else NULL with *e. */
static json_t *remote_stale(struct remote *s, const char *parts, struct err *e)
{
	if (s->had != NULL && strcmp(s->had_parts, parts) == 0)
		return json_incref(s->had);
	err_set(e, EAGAIN, "%s has not answered yet", s->name);
	return NULL;
}

static json_t *remote_snapshot(struct sess *base, const char *parts, struct err *e)
{
	struct remote *s = (struct remote *)base;
	bool late = s->snap_id != 0, asked = late && strcmp(s->snap_parts, parts) == 0;

	if (peer_lost(s->peer) != NULL)
		return remote_stale(s, parts, e);
	if (!asked) {
		json_t *o = remote_request(s, "snapshot", text_json(parts));
		free(s->snap_parts);
		s->snap_parts = xstrdup(parts);
		if (!late)
			s->snap_ns = loop_now_ns();
		s->snap_id = s->next_id;
		peer_send(s->peer, o);
	}
	json_t *m = peer_wait(s->peer, late ? LATE_MS : SNAPSHOT_MS, has_id, &s->snap_id);
	if (m == NULL)
		return remote_stale(s, parts, e);
	const char *why = json_string_value(json_object_get(json_object_get(m, "error"), "text"));
	keep_snapshot(s, m);
	json_decref(m);
	if (why == NULL)
		return remote_stale(s, parts, e);
	err_set(e, EINVAL, "%s", why);
	return NULL;
}

static int remote_exit_code(const struct sess *base)
{
	return ((const struct remote *)base)->exit_code;
}

static bool remote_failed(const struct sess *base)
{
	return ((const struct remote *)base)->failed;
}

static void remote_keep_going(struct sess *base, bool on)
{
	((struct remote *)base)->queue.goes_on = on;
}

static void remote_set_out_mode(struct sess *base, int out_mode)
{
	((struct remote *)base)->opts.out_mode = out_mode;
}

static bool remote_lost(const struct sess *base)
{
	return ((const struct remote *)base)->told_lost;
}

static uint64_t remote_unanswered_ns(const struct sess *base)
{
	const struct remote *s = (const struct remote *)base;

	return s->snap_id != 0 ? loop_now_ns() - s->snap_ns : 0;
}

static void remote_free(struct sess *base)
{
	struct remote *s = (struct remote *)base;

	peer_close(s->peer);
	sess_queue_drop(&s->queue, true, 0);
	sess_item_free(s->running);
	json_decref(s->had);
	free(s->snap_parts);
	free(s->had_parts);
	free(s->name);
	free(s);
}

static bool remote_any(void *arg, const json_t *m)
{
	(void)arg;
	(void)m;
	return true;
}

/* For peer_wait(): any answer. A client that is refused gets an answer without the id of its
 * request. */
static bool has_ok(void *arg, const json_t *m)
{
	(void)arg;
	return json_object_get(m, "ok") != NULL;
}

static int no_answer(const struct remote *s, struct err *e)
{
	const char *why = peer_lost(s->peer);

	return err_set(e, ECONNREFUSED, "%s does not answer: %s", s->name,
		       why != NULL ? why : "nothing came for some seconds");
}

/* Reads the greeting of the server, which must speak version 1 of the protocol, and sends the token
 * if the server wants one. 0 or -errno with *e. */
static int remote_greet(struct remote *s, const char *token, struct err *e)
{
	json_t *m = peer_wait(s->peer, GREET_MS, remote_any, NULL);
	int rc = 0;

	if (m == NULL)
		return no_answer(s, e);
	const json_t *version = json_object_get(m, "wirerate"),
		     *protocol = json_object_get(m, "protocol");
	const char *closed = json_string_value(json_object_get(m, "text"));
	if (json_object_get(m, "event") != NULL)
		rc = err_set(e, ECONNREFUSED, "%s does not let us in: %s", s->name,
			     closed != NULL ? closed : "it is closed");
	else if (!json_is_string(version) || json_integer_value(protocol) != 1)
		rc = err_set(
			e, EPROTO,
			"%s speaks protocol %d, this program speaks 1; use programs of the same version",
			s->name, (int)json_integer_value(protocol));
	bool auth = json_is_true(json_object_get(m, "auth"));
	json_decref(m);
	if (rc < 0 || !auth)
		return rc;
	if (token == NULL)
		return err_set(
			e, EACCES,
			"%s wants a token: --token-file FILE names the file that holds it (none is sent without)",
			s->name);
	peer_send(s->peer, remote_request(s, "auth", text_json(token)));
	m = peer_wait(s->peer, GREET_MS, has_ok, NULL);
	if (m == NULL)
		return no_answer(s, e);
	if (!json_is_true(json_object_get(m, "ok")))
		rc = err_set(e, EACCES, "%s refuses the token of --token-file", s->name);
	json_decref(m);
	return rc;
}

static const struct sess_ops remote_ops = {
	.free = remote_free,
	.exec = remote_exec,
	.busy = remote_busy,
	.progress = remote_progress,
	.cancel = remote_cancel,
	.poll = remote_poll,
	.exit_code = remote_exit_code,
	.failed = remote_failed,
	.complete = remote_complete,
	.snapshot = remote_snapshot,
	.keep_going = remote_keep_going,
	.set_out_mode = remote_set_out_mode,
	.lost = remote_lost,
	.unanswered_ns = remote_unanswered_ns,
};

struct sess *sess_remote(const struct sess_remote_opts *to, struct loop *loop,
			 const struct sess_opts *opts, sess_event_fn *fn, void *arg, struct err *e)
{
	struct peer *peer = peer_open(to->path, to->host, to->port, to->name, loop, e);

	if (peer == NULL)
		return NULL;
	struct remote *s = xcalloc(1, sizeof(*s));
	*s = (struct remote){.base = {&remote_ops},
			     .to = *to,
			     .opts = *opts,
			     .peer = peer,
			     .loop = loop,
			     .fn = fn,
			     .arg = arg,
			     .name = xstrdup(to->name)};
	sess_queue_init(&s->queue);
	if (remote_greet(s, to->token, e) < 0) {
		remote_free(&s->base);
		return NULL;
	}
	return &s->base;
}
