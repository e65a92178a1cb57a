/* SPDX-License-Identifier: BSD-3-Clause */
/* The client: it says what the test is, makes all connections, and ends it. */
#include "iperf_int.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#define MS 1000000ull
/* A server that has accepted the control connection answers within this, and data connections to
 * it open. */
#define ANSWER_NS (30000 * MS)
#define COUNT_NS MS          /* how often it looks whether -n or -k is reached */
#define ACKED_NS (3000 * MS) /* so long none of the last bytes may be acknowledged */
/* So long none of them waits for an acknowledgement: what is known of a port's connections is some
 * ms old, and who has acknowledged need not have read. */
#define SETTLE_NS (12 * MS)
#define HELLO_NS (1000 * MS) /* between two greetings of a UDP stream */
#define HELLOS 10
#define LEAVE_NS (1000 * MS) /* so long a server may take to close at the end */

/* What both say first on a UDP stream: numbers of little-endian hosts. */
static const char udp_hello[4] = "9876", udp_answer[4] = "6789";

static void client_leaves(void *arg)
{
	((struct iperf *)arg)->over = true;
}

/* On a port all that is open is reset when the test is no more: the server may first read what it
 * was told, and close. */
static void client_leave(struct iperf *t)
{
	t->end = IPERF_FINE;
	if (t->port == NULL) {
		t->over = true;
		return;
	}
	iperf_flush(t);
	chan_half_close(t->chan);
	t->leaving = true;
	iperf_timer_end(t, &t->wait_timer);
	t->retry_timer = loop_timer(t->loop, LEAVE_NS, 0, client_leaves, t);
}

static void client_done(struct iperf *t)
{
	if (t->o.json || t->o.json_stream) {
		iperf_json_end(t);
		iperf_json_print(t);
	} else {
		iperf_text_end(t);
		iperf_out(t, "\niperf Done.\n");
	}
	client_leave(t);
}

/* ---- waiting ---- */

static void wait_server(struct iperf *t, uint64_t ns, const char *what)
{
	struct sbuf b = {0};

	sbuf_addf(&b, "the server %s port %u has %s for %llu ms", t->o.host, t->o.port, what,
		  (unsigned long long)(ns / MS));
	iperf_wait(t, ns, sbuf_str(&b));
	sbuf_free(&b);
}

/* ---- streams ---- */

static void next_stream(struct iperf *t);

bool iperf_client_sends(const struct iperf *t, unsigned nth)
{
	return t->p.bidir ? nth < t->p.parallel : !t->p.reverse;
}

static void stream_failed(struct iperf *t, int error)
{
	struct sbuf b = {0};

	sock_addr_print(&t->ctl_peer, &b);
	iperf_fail(t, IPERF_PEER, "no data connection to %s: %s", sbuf_str(&b), strerror(error));
	sbuf_free(&b);
}

static void stream_ready(struct iperf *t)
{
	int fd = t->connecting_fd;

	loop_fd(t->loop, fd, 0, NULL, NULL);
	t->connecting_fd = -1;
	iperf_timer_end(t, &t->hello_timer);
	iperf_stream_add(t, fd, iperf_client_sends(t, t->n));
	next_stream(t);
}

static void on_tcp_stream(void *arg, short revents)
{
	struct iperf *t = arg;
	int code = 0;
	socklen_t n = sizeof(code);

	(void)revents;
	getsockopt(t->connecting_fd, SOL_SOCKET, SO_ERROR, &code, &n);
	if (code == 0 &&
	    send(t->connecting_fd, t->ctl.cookie, IPERF_COOKIE, MSG_NOSIGNAL) != IPERF_COOKIE)
		code = errno;
	if (code != 0)
		stream_failed(t, code);
	else
		stream_ready(t);
}

static void udp_greet(void *arg)
{
	struct iperf *t = arg;

	if (t->hellos++ == HELLOS) {
		stream_failed(t, ETIMEDOUT);
		return;
	}
	(void)!send(t->connecting_fd, udp_hello, sizeof(udp_hello), 0);
}

static void on_udp_stream(void *arg, short revents)
{
	struct iperf *t = arg;
	char buffer[64];
	ssize_t n = recv(t->connecting_fd, buffer, sizeof(buffer), 0);

	(void)revents;
	if (n < 0 && errno != EAGAIN && errno != EINTR)
		stream_failed(t, errno);
	else if (n == sizeof(udp_answer) && memcmp(buffer, udp_answer, sizeof(udp_answer)) == 0)
		stream_ready(t);
	else if (n == 4 && t->p.udp) /* very old servers say another number */
		stream_ready(t);
}

static void next_stream(struct iperf *t)
{
	struct sock_tune tune;
	struct sock_addr to = t->ctl_peer, from = t->from;
	struct err e;

	if (t->n == t->want)
		return; /* the server says when it begins */
	iperf_tune(t, &tune);
	sock_addr_set_port(&to, t->o.port);
	if (t->o.cport != 0)
		sock_addr_set_port(&from, t->o.cport + t->n);
	t->connecting_fd = sock_connect(&to, from.len > 0 ? &from : NULL, &tune, &e);
	/* behind it, as a route may have another algorithm, which a socket has from connect() on */
	if (t->connecting_fd < 0 || sock_tune_open(t->connecting_fd, &tune, &e) != 0) {
		iperf_fail(t, IPERF_LACKS, "%s", e.text);
		return;
	}
	if (!t->p.udp) {
		loop_fd(t->loop, t->connecting_fd, POLLOUT, on_tcp_stream, t);
		return;
	}
	t->hellos = 0;
	loop_fd(t->loop, t->connecting_fd, POLLIN, on_udp_stream, t);
	t->hello_timer = loop_timer(t->loop, HELLO_NS, HELLO_NS, udp_greet, t);
	udp_greet(t);
}

static void create_streams(struct iperf *t)
{
	struct err e;

	t->want = t->p.parallel * (t->p.bidir ? 2 : 1);
	t->from = t->ctl_own;
	if (t->o.bind == NULL && t->o.cport == 0)
		t->from.len = 0;
	sock_addr_set_port(&t->from, 0);
	wait_server(t, ANSWER_NS, "not let the test begin");
	if (t->p.reverse && !t->o.json && !t->o.json_stream) {
		struct sbuf b = {0};
		sbuf_addf(&b, "Reverse mode, remote host %s is sending\n", t->o.host);
		iperf_out(t, sbuf_str(&b));
		sbuf_free(&b);
	}
	if (t->port == NULL)
		next_stream(t);
	else if (iperf_port_open(t, &e) != 0)
		iperf_fail(t, IPERF_LACKS, "%s", e.text);
}

/* ---- the test ---- */

/* What the peer has not read when it hears that the test is over is in none of its figures. */
static bool all_acked(struct iperf *t, uint64_t now)
{
	uint64_t left = iperf_data_unacked(t);

	if (left < t->unacked) {
		t->unacked = left;
		t->unacked_ns = now;
	}
	return now - t->unacked_ns >= (left == 0 ? SETTLE_NS : ACKED_NS);
}

static void on_count(void *arg)
{
	struct iperf *t = arg;
	uint64_t now = loop_now_ns();

	if (t->omitting)
		return;
	if (t->moved_ns == 0 && iperf_data_spent(t)) {
		t->moved_ns = t->unacked_ns = now;
		t->unacked = UINT64_MAX;
		iperf_timer_end(t, &t->line_timer);
	}
	if (t->moved_ns != 0 && all_acked(t, now))
		iperf_client_end(t);
}

/* Who receives gives up when nothing has come for --rcv-timeout. */
static void on_quiet(void *arg)
{
	struct iperf *t = arg;
	uint64_t came = 0;

	iperf_data_look(t);
	for (unsigned i = 0; i < t->n; i++)
		came += t->stream[i].sends ? 0 : t->stream[i].now.bytes;
	if (came == t->came)
		iperf_fail(t, IPERF_PEER,
			   "no data has come from the server for %u ms (--rcv-timeout)",
			   t->o.rcv_ms);
	t->came = came;
}

static void run_test(struct iperf *t)
{
	iperf_timer_end(t, &t->wait_timer);
	if (t->o.json || t->o.json_stream)
		iperf_json_start(t);
	else
		iperf_text_connected(t);
	iperf_begin(t);
	if (!t->running)
		return;
	t->came = UINT64_MAX;
	if (t->p.bytes != 0 || t->p.blocks != 0)
		t->end_timer = loop_timer(t->loop, COUNT_NS, COUNT_NS, on_count, t);
	if (t->o.rcv_ms > 0 && (t->p.reverse || t->p.bidir))
		t->wait_timer =
			loop_timer(t->loop, t->o.rcv_ms * MS, t->o.rcv_ms * MS, on_quiet, t);
}

void iperf_client_end(struct iperf *t)
{
	if (!t->running)
		return;
	iperf_stop(t);
	wait_server(t, (uint64_t)t->o.rcv_ms * MS, "said nothing after the end of the test");
	iperf_ctl_end(&t->ctl);
	iperf_flush(t);
}

/* ---- the control connection ---- */

static void client_failed(struct iperf *t)
{
	iperf_fail(t, IPERF_PEER, "%s", t->ctl.why.text);
}

static void client_event(struct iperf *t, enum iperf_event ev)
{
	struct iperf_results own;

	switch (ev) {
	case IPERF_EV_CREATE:
		create_streams(t);
		break;
	case IPERF_EV_START:
		/* that it has the last UDP stream says as much as its answer on it, which may be
		 * lost, or behind data */
		if (t->p.udp && t->n + 1 == t->want && t->connecting_fd >= 0)
			stream_ready(t);
		if (t->port != NULL)
			iperf_port_there(t);
		if (t->n < t->want)
			iperf_fail(t, IPERF_PEER,
				   "the server begins the test with %u of %u data connections",
				   t->n, t->want);
		break;
	case IPERF_EV_RUN:
		run_test(t);
		break;
	case IPERF_EV_ASKED:
		iperf_results_make(t, &own);
		iperf_ctl_results(&t->ctl, iperf_results_text(&own));
		break;
	case IPERF_EV_RESULTS:
		iperf_results_take(t);
		break;
	case IPERF_EV_DONE:
		client_done(t);
		break;
	case IPERF_EV_FAILED:
		client_failed(t);
		break;
	default:
		break;
	}
}

static size_t client_in(void *arg, const uint8_t *data, size_t n)
{
	struct iperf *t = arg;
	enum iperf_event ev;
	size_t took = iperf_ctl_in(&t->ctl, data, n, &ev);

	if (!t->over) {
		client_event(t, ev);
		iperf_flush(t);
	}
	return took;
}

static void no_connection(struct iperf *t, int error)
{
	iperf_fail(t, IPERF_PEER, "cannot connect to %s port %u: %s%s", t->o.host, t->o.port,
		   strerror(error),
		   error == ECONNREFUSED ? "; no server listens there, or a firewall refuses it"
					 : "");
}

static void client_try(struct iperf *t);

static void client_gone(void *arg, int error)
{
	struct iperf *t = arg;

	t->over |= t->leaving;
	if (t->over)
		return;
	if (!t->connected_once && t->next_addr < t->naddr) {
		t->retry_timer = loop_timer(t->loop, 0, 0, (loop_fn *)client_try, t);
		return;
	}
	if (!t->connected_once)
		no_connection(t, error != 0 ? error : ECONNRESET);
	else if (iperf_ctl_gone(&t->ctl, error) == IPERF_EV_FAILED)
		client_failed(t);
}

static void connected_text(struct iperf *t)
{
	struct sbuf b = {0};

	if (t->o.json || t->o.json_stream)
		return;
	if (t->p.title[0] != '\0')
		sbuf_addf(&b, "%s:  ", t->p.title);
	sbuf_addf(&b, "Connecting to host %s, port %u\n", t->o.host, t->o.port);
	if (t->port != NULL)
		sbuf_addf(&b, "Stack port, device %s%s%s\n",
			  json_string_value(json_object_get(t->carrier, "device")),
			  t->p.udp ? "" : ", congestion ", t->p.udp ? "" : t->congestion);
	iperf_out(t, sbuf_str(&b));
	sbuf_free(&b);
}

static void client_mss(struct iperf *t, const struct chan *chan)
{
	unsigned mss = t->arm->ops->mss(t->arm, chan);

	t->ctl_mss = mss;
	if (t->p.blksize == 0) /* UDP: what fits into a packet */
		t->p.blksize = mss >= IPERF_UDP_LEAST && mss <= IPERF_UDP_MOST ? mss : 1460;
}

static void client_opened(void *arg)
{
	struct iperf *t = arg;

	t->connected_once = true;
	chan_ends(t->chan, &t->ctl_own, &t->ctl_peer);
	client_mss(t, t->chan);
	connected_text(t);
	iperf_ctl_client(&t->ctl, t->cookie, iperf_params_text(&t->p));
	wait_server(t, ANSWER_NS, "said nothing on the control connection");
	iperf_flush(t);
}

/* The clock of --connect-timeout. */
static void client_begins(void *arg)
{
	struct iperf *t = arg;

	if (t->o.connect_ms > 0)
		wait_server(t, t->o.connect_ms * MS, "not answered (--connect-timeout)");
}

static const struct chan_ops client_ops = {
	.begins = client_begins,
	.opened = client_opened,
	.in = client_in,
	.ended = client_gone,
};

/* Connects to the next address of the name. */
static void client_try(struct iperf *t)
{
	const struct sock_tune tune = {.no_delay = true, .device = t->o.device};
	struct err e;

	t->retry_timer = -1;
	chan_free(t->chan);
	t->chan =
		t->arm->ops->connect(t->arm, &t->addr[t->next_addr++],
				     t->from.len > 0 ? &t->from : NULL, &tune, &client_ops, t, &e);
	if (t->chan == NULL && t->next_addr < t->naddr)
		client_try(t);
	else if (t->chan == NULL)
		iperf_fail(t, IPERF_PEER, "%s", e.text);
}

/* All addresses are known. On a port only those count that it can reach, and all that data is made
 * of has to be there before the first connection. */
static int client_reach(struct iperf *t, struct err *e)
{
	int n = t->arm->ops->reach(t->arm, t->addr, t->naddr, e);

	if (n < 0)
		return n;
	t->naddr = (unsigned)n;
	if (!t->arm->ops->together)
		return 0;
	client_mss(t, NULL);
	return iperf_port_new(t, e);
}

static void client_go(struct iperf *t)
{
	struct err e;

	if (client_reach(t, &e) < 0) {
		iperf_fail(t, IPERF_LACKS, "%s", e.text);
		return;
	}
	client_try(t);
	/* a port first has to find its addresses and its neighbour: a second and more */
	if (!t->over && !t->arm->ops->together)
		client_begins(t);
}

static void client_answered(void *arg, const struct sock_answer *a, const struct err *e)
{
	struct iperf *t = arg;
	const struct sock_answer *host = a;

	t->ask = NULL;
	if (a == NULL) {
		iperf_fail(t, IPERF_PEER, "%s", e->text);
		return;
	}
	if (t->o.bind != NULL) {
		t->from = a->addr[0];
		host++;
	}
	t->naddr = host->n;
	memcpy(t->addr, host->addr, host->n * sizeof(*t->addr));
	client_go(t);
}

static int client_ask(struct iperf *t, struct err *e)
{
	struct sock_question q[2];
	unsigned n = 0;

	if (t->o.bind != NULL)
		q[n++] =
			(struct sock_question){.host = t->o.bind, .most = 1, .family = t->o.family};
	q[n++] = (struct sock_question){.host = t->o.host,
					.port = t->o.port,
					.most = IPERF_ADDRESSES,
					.family = t->o.family,
					.as_first = true};
	t->ask = sock_ask(t->loop, q, n, client_answered, t, e);
	return t->ask == NULL ? -EAGAIN : 0;
}

int iperf_client_start(struct iperf *t, enum iperf_end *end, struct err *e)
{
	t->p = t->o.p;
	snprintf(t->p.version, sizeof(t->p.version), "3.21");
	iperf_cookie(t->cookie);
	if (sock_is_name(t->o.bind) || sock_is_name(t->o.host))
		return client_ask(t, e);
	if (t->o.bind != NULL && sock_resolve(t->o.bind, 0, t->o.family, &t->from, 1, e) < 0)
		return -EINVAL;
	int family = t->from.len > 0 ? t->from.sa.any.sa_family : t->o.family;
	int n = sock_resolve(t->o.host, t->o.port, family, t->addr, IPERF_ADDRESSES, e);

	*end = IPERF_PEER;
	if (n < 0)
		return n;
	t->naddr = (unsigned)n;
	client_go(t);
	if (t->over) {
		*end = t->end;
		*e = t->why;
		return -EIO;
	}
	return 0;
}
