/* SPDX-License-Identifier: BSD-3-Clause */
/* A client: receives its lines, queues and answers its requests, sends what waits for it, and
 * disconnects it when it must. */
#include "rpc_in.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "log.h"
#include "out.h"

#define S 1000000000ull
#define AUTH_NS (5 * S) /* a client must give its token within this time */
#define DENY_NS S       /* a wrong token is answered after this time */
#define END_NS (2 * S)  /* a client that is disconnected may read its last line for this time */
/* a client that has read nothing for this time, though lines wait, is disconnected */
#define STUCK_NS (60 * S)
/* a client may send the requests of this time at once, but at least BURST */
#define BURST_S 0.25
#define BURST 1000
#define CHUNK 65536      /* bytes that are received at once */
#define AUTH_LINE 2048   /* most bytes of a line before the token was given */
#define KEEP_BYTES 65536 /* memory that is kept while no line waits */
/* requests that wait have together no more bytes than this many of the longest lines */
#define QUEUE_LINES 4

struct client *client_new(struct rpc *r, int fd, bool tcp, const char *name)
{
	struct client *c = xcalloc(1, sizeof(*c));
	uint64_t now = loop_now_ns();

	c->rpc = r;
	c->fd = fd;
	c->tcp = tcp;
	c->authed = !tcp;
	snprintf(c->name, sizeof(c->name), "%s", name);
	c->in.max = tcp ? AUTH_LINE : r->opts.limits.line_bytes;
	c->tail = &c->head;
	c->auth_ns = now + AUTH_NS;
	c->moved_ns = c->tokens_ns = now;
	c->tokens = BURST;
	lua_guest(c);
	view_init(&c->view);
	c->view.screen = false;
	c->next = r->clients;
	r->clients = c;
	r->nclients++;
	c->counted = true;
	send_object(c, json_pack("{s:s, s:i, s:b}", "wirerate", r->opts.version, "protocol",
				 RPC_PROTOCOL, "auth", tcp));
	return c;
}

static void drop_queue(struct client *c)
{
	while (c->head != NULL) {
		struct request *q = c->head;
		c->head = q->next;
		request_free(q);
	}
	c->tail = &c->head;
	c->waiting = 0;
	c->waiting_bytes = 0;
}

void client_hang_up(struct client *c)
{
	request_drop(c);
	if (c->fd < 0)
		return;
	loop_fd(c->rpc->app->loop, c->fd, 0, NULL, NULL);
	close(c->fd);
	c->fd = -1;
}

void client_free(struct client *c)
{
	struct rpc *r = c->rpc;
	struct client **p = &r->clients;

	while (*p != c)
		p = &(*p)->next;
	*p = c->next;
	r->nclients -= c->counted;
	client_hang_up(c);
	drop_queue(c);
	request_free(c->aside);
	sess_free(c->sess);
	script_free(c->script);
	lines_free(&c->in);
	sbuf_free(&c->out);
	free(c);
}

size_t client_backlog(const struct client *c)
{
	return c->out.len - c->sent;
}

/* Drops the lines that wait, but not the rest of a line that was sent in part. A client that does
 * not read them is about to be disconnected, and its last line needs room. */
static void client_cut(struct client *c)
{
	const char *nl = c->sent > 0 && c->sent < c->out.len && c->out.s[c->sent - 1] != '\n'
				 ? memchr(c->out.s + c->sent, '\n', c->out.len - c->sent)
				 : NULL;

	if (c->out.len == 0)
		return;
	c->out.len = nl != NULL ? (size_t)(nl + 1 - c->out.s) : c->sent;
	c->out.s[c->out.len] = '\0';
}

void client_end(struct client *c, const char *why)
{
	if (c->dead || c->end_ns != 0)
		return;
	if (why == NULL) {
		c->dead = true;
		return;
	}
	log_msg(LOG_LVL_DEBUG, "remote client %s: disconnected: %s", c->name, why);
	if (client_backlog(c) > c->rpc->opts.limits.out_bytes / 2)
		client_cut(c);
	json_t *doc = json_pack("{s:s, s:s}", "event", "closed", "text", why);
	out_json(doc, 0, &c->out);
	sbuf_addc(&c->out, '\n');
	json_decref(doc);
	c->end_ns = loop_now_ns() + END_NS;
}

static void too_many(struct client *c, const struct request *q)
{
	struct err e;

	int rc = err_set(&e, EAGAIN, "%u requests of %zu bytes wait already; wait for answers",
			 c->waiting, c->waiting_bytes);
	answer_error(c, q->id, rc, &e, NULL);
}

static bool in_flight(const struct client *c, const struct request *q)
{
	if (q->id == NULL || json_is_null(q->id))
		return false;
	if (c->running != NULL && c->running->id != NULL && json_equal(c->running->id, q->id))
		return true;
	for (const struct request *w = c->head; w != NULL; w = w->next)
		if (w->id != NULL && json_equal(w->id, q->id))
			return true;
	return false;
}

/* Puts a request into the queue, or refuses it; takes the request. It is not begun here: that is a
 * step of its own, and other clients have their steps before. */
static void client_enqueue(struct client *c, struct request *q)
{
	struct err e;

	if (in_flight(c, q)) {
		int rc = err_set(&e, EEXIST,
				 "a request with this id is not yet answered; give each its own");
		answer_error(c, q->id, rc, &e, NULL);
		request_free(q);
	} else if (client_busy(c) &&
		   (c->waiting >= c->rpc->opts.limits.queue ||
		    c->waiting_bytes + q->bytes > QUEUE_LINES * c->rpc->opts.limits.line_bytes)) {
		too_many(c, q);
		request_free(q);
	} else {
		*c->tail = q;
		c->tail = &q->next;
		c->waiting++;
		c->waiting_bytes += q->bytes;
	}
}

static void client_offer(void *arg, const char *word, const char *help)
{
	json_t *list = arg, *o = json_object();

	if (word != NULL)
		json_object_set_new(o, "word", out_json_text(word));
	if (help != NULL)
		json_object_set_new(o, "help", out_json_text(help));
	json_array_append_new(list, o);
}

static void do_complete(struct client *c, const struct request *q)
{
	json_t *words = json_array();
	int start = q->cursor;

	cmd_complete((c->tcp ? &c->rpc->strict : &c->rpc->open)->cmd, q->text, q->cursor, &start,
		     client_offer, words);
	answer_ok(c, q->id, json_pack("{s:i, s:o}", "start", start, "words", words));
}

static void do_snapshot(struct client *c, const struct request *q)
{
	struct err e = {.col = -1};
	json_t *doc = c->rpc->snapshot(c->rpc->app, q->text, &e);

	if (doc == NULL)
		answer_error(c, q->id, -EINVAL, &e, NULL);
	else
		answer_ok(c, q->id, json_pack("{s:o}", "snapshot", doc));
}

/* How far the command or chunk of this client has come. If none runs, it is the runs of ports,
 * which somebody else may have started. */
static bool progress_of(const struct client *c, struct cmd_progress *out)
{
	*out = (struct cmd_progress){.share = (double)NAN, .left_ns = CMD_LEFT_UNKNOWN};
	if (c->running != NULL && c->running->kind == RPC_CMD)
		return sess_progress(c->sess, out);
	if (c->running != NULL && c->script != NULL && script_progress(c->script, out))
		return true;
	return c->rpc->progress(c->rpc->app, out);
}

static void do_progress(struct client *c, const struct request *q)
{
	struct cmd_progress p;
	json_t *doc = progress_of(c, &p) ? json_object() : json_null();

	if (json_is_object(doc)) {
		if (!isnan(p.share))
			json_object_set_new(doc, "share", json_real(p.share));
		if (p.left_ns <= INT64_MAX)
			json_object_set_new(doc, "left_ns", json_integer((json_int_t)p.left_ns));
		if (p.text[0] != '\0')
			json_object_set_new(doc, "text", out_json_text(p.text));
	}
	answer_ok(c, q->id, json_pack("{s:o}", "progress", doc));
}

static void do_subscribe(struct client *c, const struct request *q)
{
	json_t *names = json_array();

	c->events = q->events;
	for (unsigned i = 0; i < APP_EVENTS; i++)
		if (c->events & 1u << i)
			json_array_append_new(names, json_string(app_event_names[i]));
	answer_ok(c, q->id, json_pack("{s:o}", "subscribed", names));
}

static void do_cancel(struct client *c, const struct request *q)
{
	unsigned n = c->running != NULL;
	struct err e;

	request_cancel(c);
	while (q->all && c->head != NULL) {
		struct request *w = c->head;
		c->head = w->next;
		int rc = err_set(&e, ECANCELED, "cancelled");
		answer_error(c, w->id, rc, &e, json_pack("{s:i}", "exit_code", 0));
		request_free(w);
		n++;
	}
	if (q->all)
		drop_queue(c);
	answer_ok(c, q->id, json_pack("{s:i}", "cancelled", (int)n));
}

/* Queues a request or answers it; takes the request. */
static void client_dispatch(struct client *c, struct request *q)
{
	switch (q->kind) {
	case RPC_CMD:
	case RPC_LUA:
		client_enqueue(c, q);
		return;
	case RPC_COMPLETE:
	case RPC_SNAPSHOT:
	case RPC_PROGRESS:
		c->aside = q;
		return;
	case RPC_SUBSCRIBE:
		do_subscribe(c, q);
		break;
	case RPC_CANCEL:
		do_cancel(c, q);
		break;
	default:
		answer_ok(c, q->id, NULL);
		break;
	}
	request_free(q);
}

/* Handles the first line of a client that must give a token. If it has no token the client is
 * disconnected; a wrong one is answered later. */
static void client_authenticate(struct client *c, const struct request *q)
{
	struct err e;

	if (q != NULL && q->kind == RPC_AUTH && token_is(&c->rpc->token, q->text)) {
		c->authed = true;
		c->in.max = c->rpc->opts.limits.line_bytes;
		answer_ok(c, q->id, NULL);
		return;
	}
	if (q != NULL && q->kind == RPC_AUTH) {
		c->deny_ns = loop_now_ns() + DENY_NS;
		return;
	}
	int rc = err_set(&e, EACCES, "a token is wanted first: {\"auth\":\"TOKEN\"}");
	answer_error(c, q != NULL ? q->id : NULL, rc, &e, NULL);
	client_end(c, "it did not give a token");
}

static void client_denied(struct client *c, uint64_t now_ns)
{
	struct rpc *r = c->rpc;
	struct err e;

	c->deny_ns = 0;
	r->denied++;
	if (r->denied_ns == 0 || now_ns - r->denied_ns > 10 * S) {
		log_msg(LOG_LVL_WARN,
			"remote client %s gave a wrong token (%u since this was last told)",
			c->name, r->denied);
		r->denied_ns = now_ns;
		r->denied = 0;
	}
	int rc = err_set(&e, EACCES, "this is not the token");
	answer_error(c, NULL, rc, &e, NULL);
	client_end(c, "it gave a wrong token");
}

static void take_line(struct client *c, const char *line, size_t len)
{
	struct err e = {.col = -1};
	json_t *id = NULL;

	if (line[strspn(line, " \t\r")] == '\0' && strlen(line) == len)
		return;
	struct request *q = request_parse(line, len, &id, &e);
	if (!c->authed) {
		client_authenticate(c, q);
		request_free(q);
	} else if (q != NULL) {
		client_dispatch(c, q);
	} else {
		answer_error(c, id, -EINVAL, &e, NULL);
	}
	json_decref(id);
}

/* Says whether the client may make a request now. A client that makes more than its rate is read
 * later. */
static bool may_ask(struct client *c)
{
	double rate = (double)c->rpc->opts.limits.rate,
	       most = rate * BURST_S > BURST ? rate * BURST_S : BURST;
	uint64_t now = loop_now_ns();

	if (rate == 0)
		return true;
	c->tokens += (double)(now - c->tokens_ns) / 1e9 * rate;
	c->tokens = c->tokens < most ? c->tokens : most;
	c->tokens_ns = now;
	return c->tokens >= 1;
}

static bool client_blocked(const struct client *c)
{
	return c->dead || c->end_ns != 0 || c->deny_ns != 0 ||
	       client_backlog(c) > c->rpc->opts.limits.out_bytes / 4;
}

static bool next_line(struct client *c)
{
	struct err e;
	char *line;
	size_t len;

	if (c->aside != NULL || c->hungry || client_blocked(c) || !may_ask(c))
		return false;
	switch (lines_next(&c->in, &line, &len)) {
	case LINES_NONE:
		c->hungry = true;
		return false;
	case LINES_ONE:
		c->tokens--;
		take_line(c, line, len);
		/* If no whole line is left, the client is hungry now, so that the loop reads more
		 * from it. Otherwise that would show only in its next step, which may come after a
		 * long step of another client. */
		c->hungry = !lines_more(&c->in);
		return true;
	default:
		c->tokens--;
		err_set(&e, EMSGSIZE,
			"this line has more than %zu bytes; --rpc-limit line=BYTES is the limit",
			c->in.max);
		answer_error(c, NULL, -EMSGSIZE, &e, NULL);
		if (!c->authed)
			client_end(c, "it did not give a token");
		return true;
	}
}

bool client_busy(const struct client *c)
{
	return c->running != NULL || c->head != NULL || c->aside != NULL;
}

/* Answers a request that is answered while commands run. */
static void answer_aside(struct client *c)
{
	struct request *q = c->aside;

	c->aside = NULL;
	if (q->kind == RPC_COMPLETE)
		do_complete(c, q);
	else if (q->kind == RPC_SNAPSHOT)
		do_snapshot(c, q);
	else
		do_progress(c, q);
	request_free(q);
}

bool client_work(struct client *c, bool first)
{
	if (c->dead || c->end_ns != 0)
		return false;
	if (c->aside != NULL) {
		answer_aside(c);
		return true;
	}
	if (c->running != NULL && (first || request_ready(c)) && request_poll(c))
		return true;
	bool more = request_ready(c);
	if (c->running == NULL && c->head != NULL && !client_blocked(c)) {
		struct request *q = c->head;
		c->head = q->next;
		if (c->head == NULL)
			c->tail = &c->head;
		c->waiting--;
		c->waiting_bytes -= q->bytes;
		q->next = NULL;
		request_start(c, q);
		return true;
	}
	/* lines are read also while a request runs, because one may cancel it */
	return next_line(c) || more;
}

void client_input(struct client *c, const char *bytes, size_t n)
{
	lines_add(&c->in, bytes, n);
	c->hungry = false;
}

static void client_receive(struct client *c)
{
	static char chunk[CHUNK];

	ssize_t n = recv(c->fd, chunk, sizeof(chunk), MSG_DONTWAIT);
	if (n > 0)
		client_input(c, chunk, (size_t)n);
	else if (n == 0)
		c->eof = true;
	else if (errno != EAGAIN && errno != EINTR)
		c->eof = c->gone = true;
}

static void on_ready(void *arg, short revents)
{
	struct client *c = arg;

	if (revents & POLLIN)
		client_receive(c);
	/* The connection is closed on both sides or broken. Nobody reads answers, but requests that
	 * came before are still handled. */
	else if (revents & (POLLERR | POLLHUP | POLLNVAL))
		c->eof = c->gone = true;
	/* POLLOUT needs nothing here: client_flush() sends in each turn */
}

static void client_give(struct client *c)
{
	while (client_backlog(c) > 0) {
		ssize_t n = send(c->fd, c->out.s + c->sent, client_backlog(c),
				 MSG_DONTWAIT | MSG_NOSIGNAL);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			if (errno != EAGAIN)
				c->eof = c->gone = true;
			break;
		}
		c->sent += (size_t)n;
		c->moved_ns = loop_now_ns();
	}
	if (client_backlog(c) == 0) {
		c->moved_ns = loop_now_ns();
		c->sent = 0;
		if (c->out.cap > KEEP_BYTES)
			sbuf_free(&c->out);
		else
			sbuf_reset(&c->out);
	} else if (c->sent > CHUNK && c->sent > c->out.len / 2) {
		c->out.len -= c->sent;
		memmove(c->out.s, c->out.s + c->sent, c->out.len + 1);
		c->sent = 0;
	}
}

/* Does what is left for a client that reads nothing any more. Its requests are still handled if
 * each ends at once; as soon as one runs on, or all are done, the client is dead. */
static void flush_gone(struct client *c)
{
	if (c->polled != 0)
		loop_fd(c->rpc->app->loop, c->fd, 0, NULL, NULL);
	c->polled = 0;
	c->sent = 0;
	c->events = 0;
	sbuf_free(&c->out);
	if (c->end_ns != 0 || c->running != NULL || (c->hungry && !client_busy(c)))
		c->dead = true;
}

void client_flush(struct client *c)
{
	short events = 0;

	if (c->fd < 0 || c->dead)
		return;
	events_missed(c);
	if (!c->gone)
		client_give(c);
	if (c->gone) {
		flush_gone(c);
		return;
	}
	if (client_backlog(c) > 0)
		events |= POLLOUT;
	else if (c->end_ns != 0 || (c->eof && c->hungry && !client_busy(c)))
		c->dead = true;
	if (c->hungry && !c->eof && !client_blocked(c))
		events |= POLLIN;
	/* With no events the loop would not watch it at all, and a client that goes away would not
	 * be noticed. */
	if (events == 0)
		events = POLLPRI;
	if (events != c->polled)
		loop_fd(c->rpc->app->loop, c->fd, events, on_ready, c);
	c->polled = events;
}

void client_look(struct client *c, uint64_t now_ns)
{
	struct err e;

	if (c->end_ns != 0 && now_ns >= c->end_ns)
		c->dead = true;
	if (c->dead || c->end_ns != 0)
		return;
	if (c->deny_ns != 0 && now_ns >= c->deny_ns)
		client_denied(c, now_ns);
	else if (!c->authed && c->deny_ns == 0 && now_ns >= c->auth_ns) {
		int rc = err_set(&e, ETIMEDOUT, "no token came in %llu s", AUTH_NS / S);
		answer_error(c, NULL, rc, &e, NULL);
		client_end(c, "it did not give a token");
	} else if (client_backlog(c) > 0 && now_ns - c->moved_ns > STUCK_NS) {
		client_end(c, "it read nothing for a minute");
	}
}

bool client_waits(const struct client *c)
{
	/* a dead client stays, and is counted, until its script can be freed */
	return c->dead || !c->authed || c->end_ns != 0 || client_backlog(c) > 0 ||
	       (!c->hungry && !client_blocked(c));
}
