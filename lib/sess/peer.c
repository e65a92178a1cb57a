/* SPDX-License-Identifier: BSD-3-Clause */
/* The connection of a remote session: a socket that does not block, and lines of JSON on it. */
#include "peer.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define CONNECT_MS 5000
#define LINE_MOST (256u << 20) /* bytes; a snapshot of many streams has some megabytes */

struct peer {
	int fd;
	struct loop *loop;
	struct sbuf in, out;
	/* sent: bytes of out that are sent. looked: bytes of in that were searched for a
	 * newline. */
	size_t sent, looked;
	bool watches_out; /* the loop tells when more can be sent */
	json_t *lines;    /* lines that have arrived and were not taken */
	char *lost;       /* why the connection has ended; NULL: it has not */
};

static void peer_lose(struct peer *p, const char *why)
{
	if (p->lost != NULL)
		return;
	p->lost = xstrdup(why);
	loop_fd(p->loop, p->fd, 0, NULL, NULL);
}

static void take_line(struct peer *p, const char *text, size_t n)
{
	/* what Lua returns may hold zero bytes */
	json_t *o = json_loadb(text, n, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);

	if (json_is_object(o))
		json_array_append(p->lines, o);
	else
		peer_lose(p, "it does not speak the protocol of wirerate");
	json_decref(o);
}

static void take_lines(struct peer *p)
{
	size_t from = 0;
	char *nl;

	while (p->looked < p->in.len &&
	       (nl = memchr(p->in.s + p->looked, '\n', p->in.len - p->looked)) != NULL) {
		size_t end = (size_t)(nl - p->in.s);
		take_line(p, p->in.s + from, end - from);
		from = p->looked = end + 1;
	}
	if (from > 0) {
		memmove(p->in.s, p->in.s + from, p->in.len - from + 1);
		p->in.len -= from;
	}
	p->looked = p->in.len;
	if (p->in.len > LINE_MOST)
		peer_lose(p, "it sent a line without end");
}

static void peer_receive(struct peer *p)
{
	char bytes[65536];

	while (p->lost == NULL) {
		ssize_t n = read(p->fd, bytes, sizeof(bytes));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			break;
		if (n <= 0) {
			peer_lose(p, n == 0 ? "it has ended" : strerror(errno));
			break;
		}
		sbuf_addn(&p->in, bytes, (size_t)n);
		take_lines(p);
	}
}

static void on_ready(void *arg, short revents);

static void peer_push(struct peer *p)
{
	while (p->lost == NULL && p->sent < p->out.len) {
		ssize_t n = send(p->fd, p->out.s + p->sent, p->out.len - p->sent, MSG_NOSIGNAL);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			break;
		if (n <= 0) {
			peer_receive(p); /* the server may have said why before it closed */
			peer_lose(p, strerror(errno));
			return;
		}
		p->sent += (size_t)n;
	}
	if (p->lost != NULL)
		return;
	bool rest = p->sent < p->out.len;
	if (!rest) {
		sbuf_reset(&p->out);
		p->sent = 0;
	}
	if (rest != p->watches_out) {
		p->watches_out = rest;
		loop_fd(p->loop, p->fd, (short)(POLLIN | (rest ? POLLOUT : 0)), on_ready, p);
	}
}

static void on_ready(void *arg, short revents)
{
	struct peer *p = arg;

	if (revents & POLLOUT)
		peer_push(p);
	if (revents & ~POLLOUT)
		peer_receive(p);
}

/* Waits until a connection is made: 0 or an errno. */
static int finish_connect(int fd, int max_ms)
{
	struct pollfd pfd = {.fd = fd, .events = POLLOUT};
	socklen_t len = sizeof(int);
	int bad = 0;

	if (poll(&pfd, 1, max_ms) <= 0)
		return ETIMEDOUT;
	return getsockopt(fd, SOL_SOCKET, SO_ERROR, &bad, &len) != 0 ? errno : bad;
}

static int try_connect(int family, const struct sockaddr *to, socklen_t len, int *out)
{
	int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), bad;

	if (fd < 0)
		return errno;
	/* EAGAIN: the queue of a Unix socket is full, and poll() cannot wait for that */
	for (int ms = 0; (bad = connect(fd, to, len) == 0 ? 0 : errno) == EAGAIN && ms < CONNECT_MS;
	     ms += 20)
		poll(NULL, 0, 20);
	if (bad == EINPROGRESS)
		bad = finish_connect(fd, CONNECT_MS);
	if (bad == 0)
		*out = fd;
	else
		close(fd);
	return bad;
}

static int connect_unix(const char *path, const char *name, struct err *e)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	int fd = -1;

	if (strlen(path) >= sizeof(to.sun_path))
		return err_set(e, EINVAL,
			       "'%.200s' is too long for the path of a socket: at most %zu bytes",
			       path, sizeof(to.sun_path) - 1);
	memcpy(to.sun_path, path, strlen(path) + 1);
	int bad = try_connect(AF_UNIX, (const struct sockaddr *)&to, sizeof(to), &fd);
	if (bad == ENOENT || bad == ECONNREFUSED)
		return err_set(
			e, ECONNREFUSED,
			"no program serves at '%.300s' (%s): `wirerate --daemon` starts one, `--socket` lets any serve",
			path, strerror(bad));
	if (bad != 0)
		return err_set(e, ECONNREFUSED, "cannot connect to %s at '%.300s': %s", name, path,
			       strerror(bad));
	return fd;
}

static int connect_tcp(const char *host, const char *port, struct err *e)
{
	const struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
	struct addrinfo *list = NULL;
	int rc = getaddrinfo(host, port, &hints, &list), bad = ENOENT, fd = -1;

	if (rc != 0)
		return err_set(e, EINVAL, "cannot find '%.200s' port '%.40s': %s", host, port,
			       gai_strerror(rc));
	for (const struct addrinfo *a = list; a != NULL && fd < 0; a = a->ai_next)
		bad = try_connect(a->ai_family, a->ai_addr, a->ai_addrlen, &fd);
	freeaddrinfo(list);
	if (fd < 0)
		return err_set(e, ECONNREFUSED, "cannot connect to %.200s:%.40s: %s", host, port,
			       strerror(bad));
	loop_tcp(fd);
	return fd;
}

struct peer *peer_open(const char *path, const char *host, const char *port, const char *name,
		       struct loop *loop, struct err *e)
{
	int fd = path != NULL ? connect_unix(path, name, e) : connect_tcp(host, port, e);

	if (fd < 0)
		return NULL;
	struct peer *p = xcalloc(1, sizeof(*p));
	*p = (struct peer){.fd = fd, .loop = loop, .lines = json_array()};
	loop_fd(loop, fd, POLLIN, on_ready, p);
	return p;
}

void peer_close(struct peer *p)
{
	if (p == NULL)
		return;
	if (p->lost == NULL)
		loop_fd(p->loop, p->fd, 0, NULL, NULL);
	close(p->fd);
	json_decref(p->lines);
	sbuf_free(&p->in);
	sbuf_free(&p->out);
	free(p->lost);
	free(p);
}

void peer_send(struct peer *p, json_t *o)
{
	char *text = json_dumps(o, JSON_COMPACT);

	json_decref(o);
	if (text != NULL && p->lost == NULL) {
		sbuf_add(&p->out, text);
		sbuf_addc(&p->out, '\n');
		peer_push(p);
	}
	free(text);
}

static json_t *peer_take(struct peer *p, size_t i)
{
	json_t *o = json_incref(json_array_get(p->lines, i));

	json_array_remove(p->lines, i);
	return o;
}

json_t *peer_next(struct peer *p)
{
	return json_array_size(p->lines) > 0 ? peer_take(p, 0) : NULL;
}

json_t *peer_wait(struct peer *p, int max_ms, bool (*has)(void *arg, const json_t *line), void *arg)
{
	const uint64_t until = loop_now_ns() + (uint64_t)max_ms * 1000000;
	size_t seen = 0;

	for (;;) {
		for (; seen < json_array_size(p->lines); seen++)
			if (has(arg, json_array_get(p->lines, seen)))
				return peer_take(p, seen);
		uint64_t now = loop_now_ns();
		if (p->lost != NULL || now >= until)
			return NULL;
		struct pollfd pfd = {.fd = p->fd,
				     .events = (short)(POLLIN |
						       (p->sent < p->out.len ? POLLOUT : 0))};
		if (poll(&pfd, 1, (int)((until - now + 999999) / 1000000)) > 0)
			on_ready(p, pfd.revents);
	}
}

const char *peer_lost(const struct peer *p)
{
	return p->lost;
}
