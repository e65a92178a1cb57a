/* SPDX-License-Identifier: BSD-3-Clause */
/* The server: one test at a time. Whoever comes while there is one is told so. */
#include "iperf_int.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MS 1000000ull
#define SECOND (1000 * MS)
#define CREATE_NS (30 * SECOND) /* all data connections are there within this */
#define BYE_NS (5 * SECOND)     /* the client's last word comes within this */
#define GRACE_NS (40 * SECOND)  /* a test may last so much longer than it is to */
#define PENDING 256             /* connections that have not said yet who they are */
#define DRAIN_NS (2 * MS)
#define DRAINS 250
#define QUIET 5           /* looks without anything new: nothing comes any more */
#define QUIET_COUNTED 100 /* where it is known that more must come */

struct pending {
	struct iperf *t;
	int fd, timer; /* fd: -1: free */
	uint8_t cookie[IPERF_COOKIE];
	unsigned have;
};

struct iperf_server {
	int listen_fd, udp_fd; /* udp_fd: the next UDP stream comes there; -1: none is expected */
	struct sock_addr at;
	struct pending pending[PENDING];
	bool busy, connecting; /* there is a test; its data connections come */
	unsigned tests;
	int next_timer, drain_timer, idle_timer;
	unsigned drains, quiet;
	uint64_t drained;
};

static const char udp_answer[4] = "6789";

/* ---- listening ---- */

static void on_accept(void *arg, short revents);

static void server_banner(struct iperf *t)
{
	static const char rule[] = "-----------------------------------------------------------\n";
	struct sbuf b = {0};

	if (t->o.json || t->o.json_stream)
		return;
	sbuf_addf(&b, "%sServer listening on %u (test #%u)\n", rule, t->o.port,
		  t->server->tests + 1);
	if (t->serving != NULL)
		sbuf_addf(&b, "Stack port, device %s\n", iperf_serving_device(t));
	sbuf_add(&b, rule);
	iperf_out(t, sbuf_str(&b));
	sbuf_free(&b);
}

static void on_idle(void *arg)
{
	struct iperf *t = arg;

	t->server->idle_timer = -1;
	if (t->server->busy)
		return;
	if (t->o.one_off && t->o.idle_is_fine) {
		t->over = true;
		return;
	}
	if (t->o.one_off) {
		iperf_fail(t, IPERF_PEER, "no client has come for %u s (--idle-timeout)",
			   t->o.idle_s);
		return;
	}
	t->server->idle_timer = loop_timer(t->loop, t->o.idle_s * SECOND, 0, on_idle, t);
}

static void server_idle(struct iperf *t)
{
	iperf_timer_end(t, &t->server->idle_timer);
	if (t->o.idle_s > 0)
		t->server->idle_timer = loop_timer(t->loop, t->o.idle_s * SECOND, 0, on_idle, t);
}

/* Any address is one socket for both families, or one for IPv4 where there is no IPv6. */
static int server_listen(struct iperf *t, struct err *e)
{
	struct iperf_server *v = t->server;
	const struct sock_tune tune = {.reuse_addr = true, .device = t->o.device};
	int family = t->o.bind == NULL && t->o.family == AF_UNSPEC ? AF_INET6 : t->o.family;

	for (;;) {
		int n = sock_resolve(t->o.bind, t->o.port, family, &v->at, 1, e);
		if (n < 0)
			return n;
		v->listen_fd = sock_listen(&v->at, &tune, e);
		if (v->listen_fd >= 0)
			return 0;
		if (v->listen_fd != -EAFNOSUPPORT && v->listen_fd != -EADDRNOTAVAIL)
			return v->listen_fd;
		if (family != AF_INET6 || t->o.family == AF_INET6 || t->o.bind != NULL)
			return v->listen_fd;
		family = AF_INET;
	}
}

void iperf_server_ready(struct iperf *t)
{
	server_banner(t);
	server_idle(t);
}

int iperf_server_start(struct iperf *t, enum iperf_end *end, struct err *e)
{
	struct iperf_server *v = xcalloc(1, sizeof(*v));
	int rc = 0;

	*end = IPERF_LACKS;
	t->server = v;
	v->listen_fd = v->udp_fd = -1;
	v->next_timer = v->drain_timer = v->idle_timer = -1;
	for (unsigned i = 0; i < PENDING; i++)
		v->pending[i] = (struct pending){.t = t, .fd = -1, .timer = -1};
	if (t->arm->ops->together) {
		rc = iperf_serving_start(t, e);
	} else {
		rc = server_listen(t, e);
		if (rc == -EADDRINUSE) /* as of neper */
			*end = IPERF_PEER;
	}
	if (rc < 0)
		return rc;
	if (!t->arm->ops->together) {
		loop_fd(t->loop, v->listen_fd, POLLIN, on_accept, t);
		iperf_server_ready(t);
	}
	return 0;
}

static void pending_end(struct pending *q, bool closes)
{
	if (q->fd < 0)
		return;
	loop_fd(q->t->loop, q->fd, 0, NULL, NULL);
	iperf_timer_end(q->t, &q->timer);
	if (closes)
		close(q->fd);
	q->fd = -1;
}

static void udp_end(struct iperf *t)
{
	struct iperf_server *v = t->server;

	if (v->udp_fd < 0)
		return;
	loop_fd(t->loop, v->udp_fd, 0, NULL, NULL);
	close(v->udp_fd);
	v->udp_fd = -1;
}

void iperf_server_free(struct iperf *t)
{
	struct iperf_server *v = t->server;

	if (v == NULL)
		return;
	iperf_serving_free(t);
	for (unsigned i = 0; i < PENDING; i++)
		pending_end(&v->pending[i], true);
	udp_end(t);
	iperf_timer_end(t, &v->next_timer);
	iperf_timer_end(t, &v->drain_timer);
	iperf_timer_end(t, &v->idle_timer);
	if (v->listen_fd >= 0) {
		loop_fd(t->loop, v->listen_fd, 0, NULL, NULL);
		close(v->listen_fd);
	}
	free(v);
	t->server = NULL;
}

/* ---- one test after the other ---- */

static void pending_said(struct pending *q);

/* Those who came when a test was as good as over. */
static void take_held(struct iperf *t)
{
	for (unsigned i = 0; i < PENDING; i++) {
		struct pending *q = &t->server->pending[i];
		if (q->fd >= 0 && q->have == IPERF_COOKIE)
			pending_said(q);
	}
	if (t->serving != NULL)
		iperf_serving_held(t);
}

static void on_next(void *arg)
{
	struct iperf *t = arg;
	struct iperf_server *v = t->server;

	v->next_timer = -1;
	if (t->why.text[0] != '\0' && !t->o.one_off && t->end != IPERF_INTERRUPTED) {
		struct sbuf b = {0};
		sbuf_addf(&b, "%s\n", t->why.text);
		t->print(t->arg, true, sbuf_str(&b));
		sbuf_free(&b);
	}
	udp_end(t);
	iperf_timer_end(t, &v->drain_timer);
	if (t->o.one_off) {
		t->over = true;
		return;
	}
	iperf_test_end(t);
	iperf_json_new(t);
	t->why.text[0] = '\0';
	t->end = IPERF_FINE;
	t->p = (struct iperf_params){0};
	v->busy = v->connecting = false;
	v->tests++;
	server_banner(t);
	server_idle(t);
	take_held(t);
}

/* Not at once: whoever calls this may be called by what it gives back. */
void iperf_server_next(struct iperf *t)
{
	t->server->connecting = false;
	if (t->server->next_timer < 0)
		t->server->next_timer = loop_timer(t->loop, 0, 0, on_next, t);
}

/* ---- data connections ---- */

bool iperf_server_sends(const struct iperf *t, unsigned nth)
{
	return t->p.bidir ? nth >= t->p.parallel : t->p.reverse;
}

static void on_quiet(void *arg)
{
	struct iperf *t = arg;
	uint64_t came = 0;

	iperf_data_look(t);
	for (unsigned i = 0; i < t->n; i++)
		came += t->stream[i].sends ? 0 : t->stream[i].now.bytes;
	if (came == t->came)
		iperf_fail(t, IPERF_PEER,
			   "no data has come from the client for %u ms (--rcv-timeout)",
			   t->o.rcv_ms);
	t->came = came;
}

static void on_too_long(void *arg)
{
	struct iperf *t = arg;

	t->end_timer = -1;
	iperf_fail(t, IPERF_PEER, "the client has not ended its test of %llu s in time",
		   (unsigned long long)t->p.time_s);
}

void iperf_server_run(struct iperf *t)
{
	t->server->connecting = false;
	iperf_timer_end(t, &t->wait_timer);
	udp_end(t);
	if (t->o.json || t->o.json_stream)
		iperf_json_start(t);
	else
		iperf_text_connected(t);
	iperf_ctl_go(&t->ctl);
	iperf_flush(t);
	iperf_begin(t);
	if (!t->running)
		return;
	t->came = UINT64_MAX;
	if (t->o.rcv_ms > 0 && !t->p.reverse)
		t->wait_timer =
			loop_timer(t->loop, t->o.rcv_ms * MS, t->o.rcv_ms * MS, on_quiet, t);
	if (t->p.time_s != 0)
		t->end_timer = loop_timer(t->loop, (t->p.time_s + t->p.omit_s) * SECOND + GRACE_NS,
					  0, on_too_long, t);
}

static void server_stream(struct iperf *t, int fd)
{
	struct sock_tune tune;
	struct err e;

	iperf_tune(t, &tune);
	if (sock_tune_open(fd, &tune, &e) != 0) {
		close(fd);
		iperf_fail(t, IPERF_LACKS, "%s", e.text);
		return;
	}
	iperf_stream_add(t, fd, iperf_server_sends(t, t->n));
	if (t->n == t->want)
		iperf_server_run(t);
}

/* ---- UDP streams ---- */

static void on_udp_hello(void *arg, short revents);

static bool udp_open(struct iperf *t, struct err *e)
{
	struct iperf_server *v = t->server;
	struct sock_tune tune;

	iperf_tune(t, &tune);
	v->udp_fd = sock_bind(&v->at, &tune, e);
	if (v->udp_fd < 0)
		return false;
	loop_fd(t->loop, v->udp_fd, POLLIN, on_udp_hello, t);
	return true;
}

/* The socket on which a stream's first datagram came is the stream's from then on, and the next one
 * comes on another. */
static void on_udp_hello(void *arg, short revents)
{
	struct iperf *t = arg;
	struct iperf_server *v = t->server;
	struct sock_addr peer = {.len = sizeof(peer.sa)};
	char buffer[64];
	int fd = v->udp_fd;
	ssize_t n = recvfrom(fd, buffer, sizeof(buffer), 0, &peer.sa.any, &peer.len);
	struct err e;

	(void)revents;
	if (n != 4 || t->n == t->want || connect(fd, &peer.sa.any, peer.len) != 0)
		return;
	loop_fd(t->loop, fd, 0, NULL, NULL);
	v->udp_fd = -1;
	if (t->n + 1 < t->want && !udp_open(t, &e)) {
		close(fd);
		iperf_fail(t, IPERF_LACKS, "%s", e.text);
		return;
	}
	(void)!send(fd, udp_answer, sizeof(udp_answer), 0);
	server_stream(t, fd);
}

/* ---- the control connection ---- */

/* Sizes of buffers and the MSS are a listener's: what it accepts has them from the first segment
 * on. */
static void listener_tune(struct iperf *t)
{
	int fd = t->server->listen_fd, window = (int)t->p.window, mss = (int)t->p.mss;

	if (t->p.udp)
		return;
	if (window != 0) {
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &window, sizeof(window));
		setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &window, sizeof(window));
	}
	if (mss != 0)
		setsockopt(fd, IPPROTO_TCP, TCP_MAXSEG, &mss, sizeof(mss));
}

static bool congestion_there(const char *name)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool ok = fd < 0 ||
		  setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name, (socklen_t)strlen(name)) == 0;

	if (fd >= 0)
		close(fd);
	return ok;
}

void iperf_server_refuse(struct iperf *t, int code, int error, const char *text)
{
	iperf_ctl_refuse(&t->ctl, code, error);
	iperf_flush(t);
	iperf_fail(t, IPERF_PEER, "%s", text);
}

/* Whether sockets of this machine can be what the client asks for. */
static bool server_can(struct iperf *t)
{
	struct err e;

	if (!t->p.udp && t->p.congestion[0] != '\0' && !congestion_there(t->p.congestion)) {
		struct sbuf b = {0};
		sbuf_addf(
			&b,
			"the client asks for the congestion control '%s', which this kernel does not have",
			t->p.congestion);
		iperf_server_refuse(t, IPERF_E_CONGESTION, ENOENT, sbuf_str(&b));
		sbuf_free(&b);
		return false;
	}
	if (t->p.cpu != 0 && !iperf_cpu_there(t->p.cpu, &e)) {
		iperf_server_refuse(t, IPERF_E_AFFINITY, EINVAL,
				    "the client asks for a CPU that this process may not use (-A)");
		return false;
	}
	if (t->p.udp && !udp_open(t, &e)) {
		iperf_server_refuse(t, IPERF_E_STREAM_LISTEN, EADDRINUSE, e.text);
		return false;
	}
	listener_tune(t);
	return true;
}

static void server_params(struct iperf *t)
{
	struct err e;
	int code;

	if (iperf_params_read(t->ctl.json.s, t->ctl.json.len, &t->p, &code, &e) < 0) {
		iperf_server_refuse(t, code, 0, e.text);
		return;
	}
	if (!(t->serving != NULL ? iperf_serving_can(t) : server_can(t)))
		return;
	t->want = t->p.parallel * (t->p.bidir ? 2 : 1);
	t->server->connecting = true;
	iperf_wait(t, CREATE_NS, "the client has not made all data connections within 30 s");
	if (t->serving != NULL)
		iperf_serving_prepare(t);
	else
		iperf_ctl_streams(&t->ctl);
}

static void server_exchange(struct iperf *t)
{
	iperf_stop(t);
	/* a client that still waits for the rest of a block does not look at the control
	 * connection before that */
	iperf_data_free(t->data);
	t->data = NULL;
	iperf_wait(t, CREATE_NS, "the client has given no results within 30 s");
	iperf_ctl_exchange(&t->ctl);
	iperf_flush(t);
}

/* Whether all bytes of -n or -k are there; false where nobody knows how many come. */
static bool all_there(const struct iperf *t, uint64_t came)
{
	uint64_t wanted = t->p.blocks != 0 ? t->p.blocks * t->p.blksize : t->p.bytes;

	return wanted != 0 && came >= wanted;
}

/* What was sent before the end of the test and is on its way still counts, as long as some of it
 * comes. The test has lasted until the last of it. */
static void on_drain(void *arg)
{
	struct iperf *t = arg;
	struct iperf_server *v = t->server;
	bool counted = t->p.bytes != 0 || t->p.blocks != 0;
	uint64_t came = 0;

	if (t->running)
		iperf_data_look(t);
	for (unsigned i = 0; i < t->n; i++)
		came += t->stream[i].sends ? 0 : t->stream[i].now.bytes;
	if (came != v->drained) {
		v->drained = came;
		v->quiet = 0;
		t->moved_ns = loop_now_ns();
	}
	if (t->running && !all_there(t, came) && v->drains++ < DRAINS &&
	    v->quiet++ < (counted ? QUIET_COUNTED : QUIET))
		return;
	iperf_timer_end(t, &v->drain_timer);
	if (t->running)
		server_exchange(t);
}

static void server_end(struct iperf *t)
{
	struct iperf_server *v = t->server;

	iperf_timer_end(t, &t->end_timer);
	iperf_timer_end(t, &t->wait_timer);
	iperf_timer_end(t, &t->line_timer);
	v->drains = v->quiet = 0;
	v->drained = UINT64_MAX;
	if (t->p.reverse || t->p.bidir)
		server_exchange(t);
	else
		v->drain_timer = loop_timer(t->loop, 0, DRAIN_NS, on_drain, t);
}

static void server_results(struct iperf *t)
{
	struct iperf_results own;
	bool json = t->o.json || t->o.json_stream;

	iperf_results_take(t);
	if (t->why.text[0] != '\0')
		return;
	if (json)
		iperf_json_end(t);
	else
		iperf_text_end(t);
	iperf_results_make(t, &own);
	if (t->p.get_output && json)
		own.output_json = iperf_json_document(t);
	else if (t->p.get_output)
		own.output_text = xstrdup(sbuf_str(&t->output));
	iperf_ctl_results(&t->ctl, iperf_results_text(&own));
	iperf_results_free(&own);
	iperf_wait(t, BYE_NS, "the client has not said that it is done within 5 s");
}

static void server_done(struct iperf *t)
{
	if (t->o.json || t->o.json_stream)
		iperf_json_print(t);
	t->end = IPERF_FINE;
	iperf_timer_end(t, &t->wait_timer);
	iperf_server_next(t);
}

static void server_event(struct iperf *t, enum iperf_event ev)
{
	switch (ev) {
	case IPERF_EV_PARAMS:
		server_params(t);
		break;
	case IPERF_EV_END:
		server_end(t);
		break;
	case IPERF_EV_RESULTS:
		server_results(t);
		break;
	case IPERF_EV_DONE:
		server_done(t);
		break;
	case IPERF_EV_FAILED:
		iperf_flush(t);
		iperf_fail(t, IPERF_PEER, "%s", t->ctl.why.text);
		break;
	default:
		break;
	}
}

size_t iperf_server_in(struct iperf *t, const uint8_t *data, size_t n)
{
	enum iperf_event ev;
	size_t took = iperf_ctl_in(&t->ctl, data, n, &ev);

	if (t->server->next_timer < 0) {
		server_event(t, ev);
		iperf_flush(t);
	}
	return took;
}

void iperf_server_gone(struct iperf *t, int error)
{
	if (t->server->next_timer < 0)
		server_event(t, iperf_ctl_gone(&t->ctl, error));
}

static size_t control_in(void *arg, const uint8_t *data, size_t n)
{
	return iperf_server_in(arg, data, n);
}

static void control_gone(void *arg, int error)
{
	iperf_server_gone(arg, error);
}

static const struct chan_ops server_ops = {
	.in = control_in,
	.ended = control_gone,
};

void iperf_server_control(struct iperf *t, const uint8_t *cookie)
{
	struct sbuf b = {0};
	enum iperf_event ev;
	char host[64];

	t->server->busy = true;
	iperf_timer_end(t, &t->server->idle_timer);
	iperf_ctl_server(&t->ctl);
	chan_ends(t->chan, &t->ctl_own, &t->ctl_peer);
	iperf_host(&t->ctl_peer, host, sizeof(host));
	sbuf_addf(&b, "Accepted connection from %s, port %u\n", host, sock_addr_port(&t->ctl_peer));
	if (!t->o.json && !t->o.json_stream) {
		/* what is before the parameters belongs to the client's output, too */
		t->p.get_output = true;
		iperf_out(t, sbuf_str(&b));
		t->p.get_output = false;
	}
	sbuf_free(&b);
	iperf_wait(t, CREATE_NS, "the client has not said what the test is within 30 s");
	iperf_ctl_in(&t->ctl, cookie, IPERF_COOKIE, &ev);
	server_event(t, ev);
	iperf_flush(t);
}

enum iperf_who iperf_server_who(const struct iperf *t, const uint8_t *cookie)
{
	const struct iperf_server *v = t->server;

	if (v->busy && (v->next_timer >= 0 || iperf_ctl_gave(&t->ctl)))
		return IPERF_WHO_WAITS;
	if (!iperf_cookie_is(cookie))
		return IPERF_WHO_ODD;
	if (!v->busy && v->next_timer < 0)
		return IPERF_WHO_CLIENT;
	return v->connecting && !t->p.udp && t->n < t->want &&
			       memcmp(cookie, t->ctl.cookie, IPERF_COOKIE) == 0
		       ? IPERF_WHO_STREAM
		       : IPERF_WHO_LATE;
}

/* Whoever has said its cookie: a client that comes, a data connection of the test, or somebody who
 * has to come again. */
static void pending_said(struct pending *q)
{
	struct iperf *t = q->t;
	enum iperf_who who = iperf_server_who(t, q->cookie);
	const int8_t denied = IPERF_ACCESS_DENIED;
	int fd = q->fd;

	if (who == IPERF_WHO_WAITS) {
		loop_fd(t->loop, fd, 0, NULL, NULL);
		return;
	}
	pending_end(q, false);
	if (who == IPERF_WHO_CLIENT) {
		t->chan = t->arm->ops->take(t->arm, fd, &server_ops, t);
		iperf_server_control(t, q->cookie);
	} else if (who == IPERF_WHO_STREAM) {
		server_stream(t, fd);
	} else {
		if (who == IPERF_WHO_LATE)
			(void)!send(fd, &denied, 1, MSG_NOSIGNAL);
		close(fd);
	}
}

static void on_pending(void *arg, short revents)
{
	struct pending *q = arg;
	ssize_t n = recv(q->fd, q->cookie + q->have, IPERF_COOKIE - q->have, 0);

	(void)revents;
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		pending_end(q, true);
		return;
	}
	q->have += (unsigned)n;
	if (q->have == IPERF_COOKIE)
		pending_said(q);
}

static void on_pending_late(void *arg)
{
	struct pending *q = arg;

	q->timer = -1;
	pending_end(q, true);
}

static void on_accept(void *arg, short revents)
{
	struct iperf *t = arg;
	struct pending *q = t->server->pending;
	int fd = accept4(t->server->listen_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

	(void)revents;
	if (fd < 0)
		return;
	for (; q < t->server->pending + PENDING && q->fd >= 0; q++)
		;
	if (q == t->server->pending + PENDING) { /* too many say nothing */
		close(fd);
		return;
	}
	q->fd = fd;
	q->have = 0;
	q->timer = loop_timer(t->loop, IPERF_COOKIE_NS, 0, on_pending_late, q);
	loop_fd(t->loop, fd, POLLIN, on_pending, q);
	on_pending(q, POLLIN);
}
