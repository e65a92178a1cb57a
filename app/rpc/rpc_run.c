/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs the requests that are run one after the other, which are commands and chunks of Lua, and
 * collects their answers. */
#include "rpc_in.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "out.h"

enum { EXIT_REFUSED = 2 };

#define PIECE_BYTES ((size_t)256 << 10) /* bytes of a text that are written as JSON in one step */
#define UTF8_MOST 3                     /* most bytes of a UTF-8 character behind its first byte */

/* Called before something runs for the client: it becomes app->guest, and its page, theme and
 * screen settings take the place of the program's. request_leave() puts back what was there. */
static void request_enter(struct client *c, struct view *kept)
{
	struct view *v = &c->rpc->app->view;

	*kept = *v;
	*v = c->view;
	c->rpc->app->guest = &c->guest;
}

static void request_leave(struct client *c, const struct view *kept)
{
	struct view *v = &c->rpc->app->view;

	c->view = *v;
	*v = *kept;
	c->rpc->app->guest = NULL;
}

static void keep_error(struct client *c, int rc, const struct err *e, const char *line)
{
	if (c->rc < 0)
		return;
	c->rc = rc;
	c->err = *e;
	/* the line in which the error's column counts; it is left out when it is the whole
	 * request */
	if (line != NULL && strcmp(line, c->running->text) != 0)
		c->err_line = xstrdup(line);
}

/* Frees what was collected for the answer. */
static void drop_answer(struct client *c)
{
	sbuf_free(&c->results);
	sbuf_free(&c->text);
	sbuf_free(&c->note);
	sbuf_free(&c->text_json);
	sbuf_free(&c->note_json);
	c->packed = 0;
}

/* Says whether an answer of this many bytes is within the limit. If not, what was collected is
 * dropped and an error takes its place. */
static bool within_limit(struct client *c, size_t bytes)
{
	const size_t most = c->rpc->opts.limits.out_bytes;
	struct err e = {.col = -1};

	if (bytes <= most)
		return true;
	drop_answer(c);
	keep_error(c, answer_too_large(&e, most, true), &e, NULL);
	return false;
}

/* Writes results as JSON when they come. If a request of many commands wrote all its results at its
 * end, other clients would have to wait for that. */
static void keep_results(struct client *c, const json_t *results)
{
	for (size_t i = 0; i < json_array_size(results); i++) {
		if (c->results.len > 0)
			sbuf_addc(&c->results, ',');
		out_json(json_array_get(results, i), 0, &c->results);
	}
}

static void on_session(void *arg, const struct sess_event *ev)
{
	struct client *c = arg;
	bool json = c->running->mode == OUT_JSON;
	struct err gone;

	switch (ev->kind) {
	case SESS_RESULT:
		/* in mode JSON, documents are results, and everything else that was printed is
		 * text */
		if (json)
			sess_printed(ev, NULL, &c->text);
		else
			sbuf_add(&c->text, ev->text);
		break;
	case SESS_NOTE:
		sbuf_add(&c->note, ev->text);
		break;
	case SESS_ERROR:
		keep_error(c, ev->rc, ev->err, ev->line);
		break;
	case SESS_DONE:
		if (json)
			keep_results(c, ev->results);
		if (ev->exit_code > c->exit_code)
			c->exit_code = ev->exit_code;
		if (ev->rc == -ECANCELED && c->rc == 0) {
			err_set(&gone, ECANCELED, "cancelled");
			keep_error(c, -ECANCELED, &gone, NULL);
		}
		/* the limit is checked after each command, so that a request of very many commands
		 * cannot fill the memory */
		within_limit(c, c->results.len + c->text.len + c->note.len);
		break;
	}
}

static void open_session(struct client *c)
{
	struct rpc *r = c->rpc;
	const struct sess_opts opts = {.out_mode = OUT_JSON, .progress = r->progress};

	if (c->sess == NULL)
		c->sess = sess_local((c->tcp ? &r->strict : &r->open)->cmd, r->app, NULL,
				     r->app->loop, &opts, on_session, c);
}

/* Begins the next command of the request. A step does only one, so that a request of many commands
 * does not keep others waiting. */
static void next_command(struct client *c)
{
	struct sbuf one = {0};
	unsigned long line = 0, at;

	if (cmd_next_command(&c->rest, &line, &one, &at)) {
		sess_exec(c->sess, one.s, NULL);
		sess_poll(c->sess);
	} else {
		c->rest = NULL;
	}
	/* a refused command ends the request */
	if (c->rc < 0 || (c->rest != NULL && c->rest[strspn(c->rest, " \t\r\n;")] == '\0'))
		c->rest = NULL;
	sbuf_free(&one);
}

static void request_begin(struct client *c)
{
	struct request *q = c->running;
	struct err e = {.col = -1};

	if (q->kind == RPC_CMD) {
		open_session(c);
		sess_set_out_mode(c->sess, q->mode);
		c->rest = q->text;
		next_command(c);
		return;
	}
	int rc = lua_begin(c, q->text, q->args, q->nargs, &c->text, &c->note, &e);
	if (rc < 0) {
		keep_error(c, rc, &e, NULL);
		c->exit_code = EXIT_REFUSED;
	}
}

static bool request_over(const struct client *c)
{
	if (c->running->kind == RPC_CMD)
		return !sess_busy(c->sess) && (c->rest == NULL || c->rc < 0);
	return c->rc < 0 || !script_running(c->script);
}

static void request_clear(struct client *c)
{
	request_free(c->running);
	c->running = NULL;
	c->rest = NULL;
	free(c->err_line);
	c->err_line = NULL;
	drop_answer(c);
	c->rc = c->exit_code = 0;
}

/* The number of bytes of a text from `from` on that are taken in one step. No UTF-8 character is
 * cut in two. */
static size_t request_piece(const struct sbuf *text, size_t from)
{
	size_t left = text->len - from, n = left < PIECE_BYTES ? left : PIECE_BYTES;

	for (unsigned i = 0; i < UTF8_MOST && n < left && (text->s[from + n] & 0xc0) == 0x80; i++)
		n--;
	return n;
}

/* Writes a piece of the answer's texts as JSON. It is done in pieces because other clients wait
 * meanwhile. Returns false while there is more to write. */
static bool request_pack(struct client *c)
{
	const size_t both = c->text.len + c->note.len;

	if (c->packed < both) {
		bool note = c->packed >= c->text.len;
		const struct sbuf *from = note ? &c->note : &c->text;
		size_t at = note ? c->packed - c->text.len : c->packed, n = request_piece(from, at);
		out_json_inside(from->s + at, n, note ? &c->note_json : &c->text_json);
		c->packed += n;
	}
	return !within_limit(c, c->results.len + c->text_json.len + c->note_json.len) ||
	       c->packed == both;
}

static void request_answer(struct client *c)
{
	json_t *m = json_object();
	bool json = c->running->mode == OUT_JSON;
	struct answer_part part[3];
	unsigned n = 0;

	json_object_set_new(m, "exit_code", json_integer(c->exit_code));
	if (c->err_line != NULL) {
		json_t *line = out_json_text(c->err_line);
		json_object_set_new(m, "error", json_pack("{s:o}", "line", line));
	}
	if (json)
		part[n++] = (struct answer_part){"results", '[', ']', &c->results};
	if (c->text.len > 0 || !json)
		part[n++] = (struct answer_part){"text", '"', '"', &c->text_json};
	if (c->note.len > 0)
		part[n++] = (struct answer_part){"notes", '"', '"', &c->note_json};
	if (c->rc < 0)
		answer_failed(c, c->running->id, c->rc, &c->err, m, part, n);
	else
		answer_done(c, c->running->id, m, part, n);
	request_clear(c);
}

/* Goes on with the answer to a request that has ended. Returns true when it is answered. */
static bool request_conclude(struct client *c)
{
	if (!request_pack(c))
		return false;
	request_answer(c);
	return true;
}

/* Sends a piece of a text as a line of its own. */
static void stream_text(struct client *c, const char *key, struct sbuf *text)
{
	size_t n = request_piece(text, 0);

	if (n == 0)
		return;
	send_partial(c, c->running->id, key, text->s, n);
	text->len -= n;
	memmove(text->s, text->s + n, text->len + 1);
}

/* Sends what a request has printed while it runs. In mode JSON everything is in the answer. */
static void request_stream(struct client *c)
{
	if (c->running->mode == OUT_JSON || (c->running->kind == RPC_CMD && !sess_busy(c->sess)))
		return;
	stream_text(c, "out", &c->text);
	stream_text(c, "note", &c->note);
}

static void step_script(struct client *c)
{
	struct err e = {.col = -1};
	int rc = script_poll(c->script, &e);

	if (rc == VERB_PENDING)
		return;
	c->exit_code = script_exit_code(c->script);
	if (rc < 0) {
		keep_error(c, rc, &e, NULL);
		if (c->exit_code == 0)
			c->exit_code = EXIT_REFUSED;
		return;
	}
	json_t *results = script_results(c->script);
	keep_results(c, results);
	json_decref(results);
}

/* After a step: sends what it has printed, or the answer. Returns true when the request is
 * answered. */
static bool request_tell(struct client *c)
{
	if (request_over(c))
		return request_conclude(c);
	request_stream(c);
	return false;
}

void request_start(struct client *c, struct request *q)
{
	struct view kept;

	c->running = q;
	request_enter(c, &kept);
	request_begin(c);
	if (q->kind == RPC_LUA && !request_over(c))
		step_script(c);
	request_leave(c, &kept);
	request_tell(c);
}

bool request_poll(struct client *c)
{
	struct view kept;

	if (c->running == NULL)
		return false;
	if (request_over(c))
		return request_conclude(c);
	request_enter(c, &kept);
	if (c->running->kind == RPC_CMD && sess_busy(c->sess))
		sess_poll(c->sess);
	if (c->running->kind == RPC_CMD && !request_over(c) && !sess_busy(c->sess))
		next_command(c);
	else if (c->running->kind == RPC_LUA)
		step_script(c);
	request_leave(c, &kept);
	return request_tell(c);
}

bool request_ready(const struct client *c)
{
	if (c->running == NULL)
		return false;
	if (request_over(c) || (c->running->mode != OUT_JSON && c->text.len + c->note.len > 0))
		return true;
	if (c->running->kind == RPC_CMD)
		return c->rest != NULL && !sess_busy(c->sess);
	return c->script != NULL && script_running(c->script) && script_ready(c->script);
}

static void request_stop(struct client *c)
{
	struct view kept;
	struct err e;

	request_enter(c, &kept);
	if (c->running->kind == RPC_CMD) {
		sess_cancel(c->sess);
	} else {
		script_cancel(c->script);
		c->exit_code = EXIT_REFUSED;
	}
	request_leave(c, &kept);
	/* a command that was only queued tells no end by itself */
	err_set(&e, ECANCELED, "cancelled");
	keep_error(c, -ECANCELED, &e, NULL);
}

/* The answer to the cancelled request comes before the answer to `cancel`, so all of it is written
 * now. A request that has already ended by itself is answered as it ended. */
void request_cancel(struct client *c)
{
	if (c->running == NULL)
		return;
	if (!request_over(c))
		request_stop(c);
	while (!request_conclude(c))
		;
}

void request_drop(struct client *c)
{
	if (c->running == NULL)
		return;
	request_stop(c);
	request_clear(c);
}
