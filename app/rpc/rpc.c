/* SPDX-License-Identifier: BSD-3-Clause */
/* The server: it opens the sockets, lets clients in, and decides in each turn of the loop which
 * client does its next step. */
#include "rpc.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "log.h"
#include "rpc_in.h"
#include "snapshot.h"

#define TURN_NS 2000000ull     /* time of a turn of the loop for all clients together */
#define LOOK_NS 50000000ull    /* interval in which clients that wait for a time are looked at */
#define UNAUTHED 32            /* most connections that have not given a token yet */
#define UNAUTHED_HOST 8        /* most of these from one address */
#define PAUSE_NS 1000000000ull /* pause after no client could be let in */
#define SCRIPT_NS 1000000ull   /* interval in which scripts that wait are looked at */
#define ACCEPTS 32             /* most connections that are accepted at once */

/* Tells a connection why it is not let in, as far as the socket accepts that without waiting, and
 * closes it. */
static void turn_away(int fd, int code, const char *text)
{
	struct sbuf line = {0};

	sbuf_addf(
		&line,
		"{\"id\":null,\"ok\":false,\"error\":{\"code\":\"%s\",\"text\":\"%s\"}}\n{\"event\":\"closed\",\"text\":\"%s\"}\n",
		strerrorname_np(code), text, text);
	(void)!send(fd, line.s, line.len, MSG_DONTWAIT | MSG_NOSIGNAL);
	close(fd);
	sbuf_free(&line);
}

/* Counts the clients that have not given a token yet: those with the same address as name, or with
 * name NULL all of them. *oldest becomes the one that has been connected for longest. */
static unsigned rpc_unauthed(const struct rpc *r, const char *name, struct client **oldest)
{
	const char *blank = name != NULL ? strchr(name, ' ') : NULL;
	size_t host = blank != NULL ? (size_t)(blank - name) + 1 : 0;
	unsigned n = 0;

	/* the newest is first in the list, so the last one that fits is the oldest */
	for (struct client *c = r->clients; c != NULL; c = c->next) {
		if (c->authed || c->dead || (name != NULL && strncmp(c->name, name, host) != 0))
			continue;
		*oldest = c;
		n++;
	}
	return n;
}

/* Disconnects the oldest client without a token if there are too many of them, from the address of
 * the new one or from all. So connections that never give a token cannot keep others out. */
static void make_room(struct rpc *r, const char *name)
{
	struct client *oldest = NULL;

	if (rpc_unauthed(r, name, &oldest) < UNAUTHED_HOST &&
	    rpc_unauthed(r, NULL, &oldest) < UNAUTHED)
		return;
	int fd = oldest->fd;
	loop_fd(r->app->loop, fd, 0, NULL, NULL);
	oldest->fd = -1;
	oldest->dead = true;
	r->nclients--;
	oldest->counted = false;
	turn_away(fd, EAGAIN,
		  "others are about to give a token too, and this one took the longest; try again");
}

static void name_peer(int fd, char *name, size_t size)
{
	struct sockaddr_storage a;
	socklen_t n = sizeof(a);
	char host[NI_MAXHOST], port[NI_MAXSERV];

	snprintf(name, size, "?");
	if (getpeername(fd, (struct sockaddr *)&a, &n) == 0 &&
	    getnameinfo((struct sockaddr *)&a, n, host, sizeof(host), port, sizeof(port),
			NI_NUMERICHOST | NI_NUMERICSERV) == 0)
		snprintf(name, size, "%.45s port %.8s", host, port);
}

static void let_in(struct rpc *r, int fd, bool tcp)
{
	char name[64];
	struct ucred who = {.uid = (uid_t)-1};
	socklen_t n = sizeof(who);

	if (!tcp && (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &n) != 0 ||
		     (who.uid != geteuid() && who.uid != 0))) {
		turn_away(fd, EACCES, "this socket is for its owner");
		return;
	}
	if (tcp) {
		loop_tcp(fd);
		name_peer(fd, name, sizeof(name));
		make_room(r, name);
	}
	if (r->nclients >= r->opts.limits.clients) {
		turn_away(fd, EAGAIN,
			  "there are as many clients as there may be (--rpc-limit clients=N)");
		return;
	}
	if (!tcp) {
		snprintf(name, sizeof(name), "process %ld", (long)who.pid);
	}
	client_new(r, fd, tcp, name);
}

static void rpc_wake(void *arg)
{
	(void)arg;
}

/* Makes the loop turn at least in this interval. 0: turns it only when something happens. */
static void look_often(struct rpc *r, uint64_t every_ns)
{
	if (every_ns == r->timer_ns)
		return;
	if (r->timer >= 0)
		loop_timer_del(r->app->loop, r->timer);
	r->timer =
		every_ns != 0 ? loop_timer(r->app->loop, every_ns, every_ns, rpc_wake, NULL) : -1;
	r->timer_ns = every_ns;
}

static void on_unix(void *arg, short revents);
static void on_tcp(void *arg, short revents);

static void listen_on(struct rpc *r, bool on)
{
	if (r->unix_sock.fd >= 0)
		loop_fd(r->app->loop, r->unix_sock.fd, on ? POLLIN : 0, on_unix, r);
	if (r->tcp_fd >= 0)
		loop_fd(r->app->loop, r->tcp_fd, on ? POLLIN : 0, on_tcp, r);
}

static void accept_some(struct rpc *r, int listener, bool tcp)
{
	for (unsigned i = 0; i < ACCEPTS; i++) {
		int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (fd >= 0) {
			let_in(r, fd, tcp);
		} else if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED) {
			/* There are no file descriptors or there is no memory. The connections that
			 * wait would wake the loop again and again, so listening stops for a
			 * while. */
			log_msg(LOG_LVL_WARN, "remote socket: cannot let a client in: %s",
				strerror(errno));
			r->paused_ns = loop_now_ns() + PAUSE_NS;
			listen_on(r, false);
			look_often(r, LOOK_NS);
			return;
		} else if (errno == EAGAIN) {
			return;
		}
	}
}

static void on_unix(void *arg, short revents)
{
	struct rpc *r = arg;

	(void)revents;
	accept_some(r, r->unix_sock.fd, false);
}

static void on_tcp(void *arg, short revents)
{
	struct rpc *r = arg;

	(void)revents;
	accept_some(r, r->tcp_fd, true);
}

static void rpc_woken(void *arg)
{
	struct rpc *r = arg;

	r->more = false;
}

static void at_once(struct rpc *r)
{
	if (!r->more)
		loop_timer(r->app->loop, 0, 0, rpc_woken, r);
	r->more = true;
}

/* Does one step of each busy client, as far as there is time. In a round each of them has one step:
 * clients that were left out now come first in the next call. Returns true when there is more to
 * do. */
static bool work_busy(struct rpc *r, bool first, uint64_t end_ns)
{
	bool again = false;

	for (struct client *c = r->clients; c != NULL; c = c->next) {
		if (c->dead || !client_busy(c))
			continue;
		if (c->round == r->round) {
			again = true; /* in the next round */
			continue;
		}
		c->round = r->round;
		again |= client_work(c, first);
		if (loop_now_ns() >= end_ns)
			return true;
	}
	r->round++;
	return again;
}

/* Does one step of each client that is not busy, and sends its answer. Such a step is short: it
 * answers a line or queues it. Returns true if any client had something to do. */
static bool work_idle(struct rpc *r)
{
	bool any = false;

	for (struct client *c = r->clients; c != NULL; c = c->next) {
		if (c->dead || client_busy(c) || !client_work(c, false))
			continue;
		any = true;
		client_flush(c);
	}
	return any;
}

/* Does steps of clients until none has anything to do or the time of the turn is over. Clients that
 * are not busy come first. So a client that asks for something short waits for the end of the step
 * that was running when it asked, and for no other one. */
static void rpc_work(struct rpc *r)
{
	uint64_t end = loop_now_ns() + TURN_NS;
	bool again = true, first = true;

	while (again && !loop_stopped(r->app->loop)) {
		again = work_idle(r);
		again |= work_busy(r, first, end);
		first = false;
		if (again && loop_now_ns() >= end) {
			at_once(r);
			break;
		}
	}
}

void rpc_turn(struct rpc *r)
{
	uint64_t often = 0;

	if (r == NULL || r->in_turn || (r->clients == NULL && r->paused_ns == 0))
		return;
	r->in_turn = true;
	uint64_t now = loop_now_ns();
	if (r->paused_ns != 0 && now >= r->paused_ns) {
		r->paused_ns = 0;
		listen_on(r, true);
	}
	for (struct client *c = r->clients; c != NULL; c = c->next)
		client_look(c, now);
	rpc_work(r);
	for (struct client *c = r->clients, *next; c != NULL; c = next) {
		next = c->next;
		client_flush(c);
		if (c->dead)
			client_hang_up(c);
		if (c->dead && script_let_go(c->script)) {
			client_free(c);
			continue;
		}
		if (client_waits(c) && often == 0)
			often = LOOK_NS;
		if (c->running != NULL && c->running->kind == RPC_LUA)
			often = SCRIPT_NS;
		if (request_ready(c))
			at_once(r);
	}
	look_often(r, often == 0 && r->paused_ns != 0 ? LOOK_NS : often);
	r->in_turn = false;
}

static int open_tcp(struct rpc *r, struct err *e)
{
	struct sbuf path = {0};
	int rc = 0;

	if (r->opts.token_file != NULL) {
		sbuf_add(&path, r->opts.token_file);
	} else {
		rc = rpc_runtime_dir(true, &path, e);
		sbuf_add(&path, "/token");
	}
	if (rc == 0)
		rc = token_read(path.s, true, &r->token, e);
	if (rc == 0)
		rc = tcp_listen(r->opts.listen, &r->address, e);
	if (rc >= 0) {
		r->tcp_fd = rc;
		log_msg(LOG_LVL_INFO, "remote socket: %s, token in %s", r->address.s, path.s);
		rc = 0;
	}
	sbuf_free(&path);
	return rc;
}

static int open_unix(struct rpc *r, struct err *e)
{
	int rc = unix_listen(r->opts.socket, &r->unix_sock, e);

	if (rc < 0)
		return rc;
	log_msg(LOG_LVL_INFO, "remote socket: %s", r->unix_sock.path);
	return 0;
}

int rpc_open(struct rpc **out, struct app *app, const struct rpc_opts *opts, struct err *e)
{
	struct rpc *r;
	int rc = 0;

	*out = NULL;
	if (opts->socket == NULL && opts->listen == NULL)
		return 0;
	r = rpc_new(app, opts);
	if (opts->socket != NULL)
		rc = open_unix(r, e);
	if (rc == 0 && opts->listen != NULL)
		rc = open_tcp(r, e);
	if (rc < 0) {
		rpc_close(r);
		return rc;
	}
	listen_on(r, true);
	*out = r;
	return 0;
}

struct rpc *rpc_new(struct app *app, const struct rpc_opts *opts)
{
	struct rpc *r = xcalloc(1, sizeof(*r));

	r->app = app;
	r->round = 1;
	r->snapshot = app_snapshot;
	r->progress = app_progress;
	r->opts = *opts;
	r->tcp_fd = r->timer = -1;
	r->unix_sock = (struct unix_socket){.fd = -1, .lock = -1};
	guard_open(&r->open, r, RPC_ALLOW_FILES | RPC_ALLOW_QUIT | RPC_ALLOW_LUA);
	guard_open(&r->strict, r, opts->allow);
	r->listener = app_listen(app, events_tell, r);
	return r;
}

void rpc_close(struct rpc *r)
{
	if (r == NULL)
		return;
	app_unlisten(r->listener);
	for (struct client *c = r->clients, *next; c != NULL; c = next) {
		next = c->next;
		client_end(c, "the program ends");
		client_flush(c);
		client_free(c);
	}
	listen_on(r, false);
	unix_close(&r->unix_sock);
	if (r->tcp_fd >= 0)
		close(r->tcp_fd);
	look_often(r, 0);
	guard_close(&r->open);
	guard_close(&r->strict);
	sbuf_free(&r->address);
	explicit_bzero(&r->token, sizeof(r->token));
	free(r);
}

const char *rpc_path(const struct rpc *r)
{
	return r->unix_sock.path;
}
