/* SPDX-License-Identifier: BSD-3-Clause */
/* Control connections: what peers say, and what becomes of those that say something else. */
#include "neper_int.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GREET_NS (10 * SECOND) /* a client has so long for its HELLO */
#define PEERS_MOST 64          /* connections that have not sent their HELLO */

void neper_say(struct neper_peer *p, enum neper_type type, uint64_t rate)
{
	const struct neper_opts *o = p->run->opts;
	struct neper_message m = {.magic = (uint32_t)o->magic, .type = type, .rate = rate};
	uint8_t bytes[NEPER_BYTES];

	if (type == NEPER_HELLO)
		snprintf(m.secret, sizeof(m.secret), "%s", o->kind->secret);
	if (type == NEPER_HELLO || type == NEPER_ACK) {
		m.threads = (uint32_t)o->num_threads;
		m.flows = (uint32_t)o->num_flows;
		m.length = (int32_t)o->test_length;
	}
	if (type == NEPER_HELLO)
		m.pacing = o->max_pacing_rate;
	neper_message_put(&m, bytes);
	chan_put(p->chan, bytes, sizeof(bytes));
}

static void server_finish(struct neper *n);

void neper_peer_gone(struct neper_peer *p)
{
	struct neper *n = p->run;

	if (p->timer >= 0)
		loop_timer_del(n->loop, p->timer);
	p->timer = -1;
	chan_free(p->chan);
	p->chan = NULL;
}

static void server_refuses(struct neper_peer *p, const char *why)
{
	struct neper *n = p->run;
	struct sbuf text = {0};

	n->invalid_secrets++;
	sbuf_addf(&text, "%s: %s", sbuf_str(&p->name), why);
	n->out.note(n->out.arg, sbuf_str(&text));
	sbuf_free(&text);
	neper_peer_gone(p);
}

/* A client that was greeted is gone, or has said nonsense: the others go on. */
static void server_lost(struct neper_peer *p, const char *why)
{
	struct neper *n = p->run;
	struct err e;

	err_set(&e, EPIPE, "%s: %s", sbuf_str(&p->name), why);
	if (n->err.text[0] == '\0')
		n->err = e; /* it is told at the end */
	else
		n->out.note(n->out.arg, e.text);
	neper_peer_gone(p);
	p->over = true;
	n->over++;
	server_finish(n);
}

static void server_said_bye(struct neper *n)
{
	for (struct neper_peer *p = n->peers; p != NULL; p = p->next)
		if (p->chan != NULL && p->greeted && chan_waiting(p->chan) > 0)
			return;
	neper_end_run(n, n->err.text[0] == '\0' ? NEPER_GOOD : NEPER_PEER);
}

static void server_unread(void *arg)
{
	struct neper *n = arg;

	n->timer = -1;
	neper_failed(n, "a client does not read the last message");
}

/* A server's time begins with the first byte that comes, not with the connections. */
static void server_first(void *arg, struct sock_line *l)
{
	struct neper *n = arg;

	if (l->first_ns != 0 && l->first_ns < n->begin_ns)
		n->begin_ns = l->first_ns;
}

static void server_finish(struct neper *n)
{
	uint64_t rate;

	if (n->over < (unsigned)n->opts->num_clients || n->reported || n->end != NEPER_RUNNING)
		return;
	n->reported = true;
	neper_moment_now(n, &n->after);
	n->arm->ops->stop(n->data);
	neper_ended(n);
	n->begin_ns = n->end_ns;
	n->arm->ops->each(n->data, server_first, n);
	if (!neper_tell(n, &rate))
		return;
	neper_report_end(n, rate);
	for (struct neper_peer *p = n->peers; p != NULL; p = p->next)
		if (p->chan != NULL && p->greeted)
			neper_say(p, NEPER_BYE, rate);
	neper_timer_set(n, &n->timer, ANSWER_NS, server_unread, n);
	n->saying_bye = true;
	server_said_bye(n);
}

static void server_heard(struct neper_peer *p, const struct neper_message *m)
{
	struct neper *n = p->run;

	if (m->type == NEPER_DONE) {
		n->remote_rate = m->rate;
		p->over = true;
		n->over++;
		server_finish(n);
		return;
	}
	loop_timer_del(n->loop, p->timer);
	p->timer = -1;
	if (n->greeted == (unsigned)n->opts->num_clients) {
		server_refuses(p, "there are clients enough already");
		return;
	}
	p->greeted = true;
	n->greeted++;
	neper_say(p, NEPER_ACK, 0);
	if (n->greeted == (unsigned)n->opts->num_clients) {
		n->arm->ops->unlisten(n->arm, n->listener);
		n->listener = NULL;
	}
}

static void client_heard(struct neper_peer *p, const struct neper_message *m)
{
	struct neper *n = p->run;

	neper_timer_stop(n, &n->timer);
	if (m->type == NEPER_ACK) {
		neper_timer_set(n, &n->timer, (uint64_t)n->opts->wait_start * SECOND,
				neper_client_data, n);
		return;
	}
	n->remote_rate = m->rate;
	neper_report_end(n, n->rate);
	if (!neper_tell_excess(n))
		neper_end_run(n, NEPER_GOOD);
}

static size_t peer_in(void *arg, const uint8_t *data, size_t bytes)
{
	struct neper_peer *p = arg;
	struct neper *n = p->run;
	struct neper_message m;
	struct err e;
	int rc =
		n->end != NEPER_RUNNING ? (int)bytes : neper_talk_in(&p->talk, data, bytes, &m, &e);

	if (n->end != NEPER_RUNNING || rc == 0)
		return (size_t)rc;
	if (rc < 0) {
		if (n->opts->client)
			neper_fail(n, &e);
		else if (p->greeted && !p->over)
			server_lost(p, e.text);
		else if (!p->greeted)
			server_refuses(p, e.text);
		return bytes;
	}
	if (n->opts->client)
		client_heard(p, &m);
	else
		server_heard(p, &m);
	return (size_t)rc;
}

static void peer_sent(void *arg)
{
	struct neper_peer *p = arg;

	if (p->run->saying_bye)
		server_said_bye(p->run);
}

static void peer_hello(void *arg)
{
	struct neper_peer *p = arg;

	neper_say(p, NEPER_HELLO, 0);
	neper_timer_set(p->run, &p->run->timer, ANSWER_NS, neper_unanswered, p->run);
}

/* The server cannot be reached: its next address, or once more in a second. */
static void client_unreached(struct neper *n, int code)
{
	struct sbuf at = {0};

	neper_peer_gone(n->peers);
	if (n->addr_at + 1 < n->naddrs) {
		n->addr_at++;
		neper_peer_connect(n);
		return;
	}
	if (code == ECONNREFUSED && n->retries > 0) {
		n->retries--;
		n->addr_at = 0;
		neper_timer_set(n, &n->timer, SECOND, neper_peer_connect, n);
		return;
	}
	sock_addr_print(&n->addr[n->addr_at], &at);
	neper_failed(n, "cannot connect to the server's control port at %s: %s%s", sbuf_str(&at),
		     strerror(code),
		     code == ECONNREFUSED ? "; no server runs there, or it is busy" : "");
	sbuf_free(&at);
}

static void peer_ended(void *arg, int error)
{
	struct neper_peer *p = arg;
	struct neper *n = p->run;
	struct err e;

	if (n->end != NEPER_RUNNING)
		return;
	if (n->opts->client && !p->greeted && error != 0 && p->talk.next == NEPER_ACK &&
	    n->timer < 0) {
		client_unreached(n, error);
		return;
	}
	if (error != 0)
		err_set(&e, error, "the control connection to the %s broke: %s",
			n->opts->client ? "server" : "client", strerror(error));
	else if (neper_talk_end(&p->talk, chan_unread(p->chan), &e) == 0)
		return;
	if (n->opts->client)
		neper_fail(n, &e);
	else if (!p->greeted)
		server_refuses(p, e.text);
	else if (!p->over)
		server_lost(p, e.text);
	else
		neper_peer_gone(p);
}

static const struct chan_ops peer_ops = {.opened = peer_hello,
					 .in = peer_in,
					 .sent = peer_sent,
					 .ended = peer_ended};

void neper_peer_connect(void *arg)
{
	struct neper *n = arg;
	const struct sock_tune tune = {.freebind = n->opts->freebind, .debug = n->opts->debug};
	struct neper_peer *p = n->peers;
	struct err e;

	n->timer = -1;
	neper_talk_init(&p->talk, true, n->opts->kind->secret, (uint32_t)n->opts->magic);
	p->chan =
		n->arm->ops->connect(n->arm, &n->addr[n->addr_at],
				     n->nlocal > 0 ? &n->local[0] : NULL, &tune, &peer_ops, p, &e);
	if (p->chan == NULL)
		neper_fail(n, &e);
}

static void server_impatient(void *arg)
{
	struct neper_peer *p = arg;

	p->timer = -1;
	server_refuses(p, "it has sent no whole HELLO for 10 s");
}

void neper_peer_accept(void *arg, arm_offer offer, const struct sock_addr *from)
{
	struct neper *n = arg;
	struct neper_peer *p;
	unsigned waiting = 0;

	for (p = n->peers; p != NULL; p = p->next)
		waiting += p->chan != NULL && !p->greeted;
	if (waiting >= PEERS_MOST) {
		n->arm->ops->refuse(n->arm, offer);
		return;
	}
	p = xcalloc(1, sizeof(*p));
	p->run = n;
	p->next = n->peers;
	n->peers = p;
	sock_addr_print(from, &p->name);
	neper_talk_init(&p->talk, false, n->opts->kind->secret, (uint32_t)n->opts->magic);
	p->timer = loop_timer(n->loop, GREET_NS, 0, server_impatient, p);
	p->chan = n->arm->ops->take(n->arm, offer, &peer_ops, p);
}
