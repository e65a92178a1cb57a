/* SPDX-License-Identifier: BSD-3-Clause */
#include "chan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct chan_sock {
	struct chan base;
	struct loop *loop;
	const struct chan_ops *ops;
	void *arg;
	int fd;
	bool connecting, ended, half_close, half_closed;
	/* One of its functions runs: it is given back when that has returned. */
	bool busy, freed;
	struct sbuf in, out;
	size_t out_at;
};

static loop_fd_fn chan_event;
static const struct chan_kind chan_sock_kind;

static void chan_watch(struct chan_sock *c)
{
	short events = 0;

	if (!c->ended && !c->connecting)
		events |= POLLIN;
	if (c->connecting || c->out_at < c->out.len)
		events |= POLLOUT;
	loop_fd(c->loop, c->fd, events, chan_event, c);
}

static void chan_end(struct chan_sock *c, int code)
{
	if (c->ended)
		return;
	c->ended = true;
	if (code != 0) {
		c->out_at = c->out.len = 0;
		c->connecting = false;
	}
	c->ops->ended(c->arg, code);
}

static void chan_flush(struct chan_sock *c)
{
	while (c->out_at < c->out.len) {
		ssize_t n = send(c->fd, c->out.s + c->out_at, c->out.len - c->out_at, MSG_NOSIGNAL);
		if (n >= 0) {
			c->out_at += (size_t)n;
		} else if (errno == EAGAIN || errno == EINTR) {
			return;
		} else {
			chan_end(c, errno);
			return;
		}
	}
	sbuf_reset(&c->out);
	c->out_at = 0;
	if (c->half_close && !c->half_closed) {
		c->half_closed = true;
		shutdown(c->fd, SHUT_WR);
	}
}

static void chan_give(struct chan_sock *c)
{
	size_t took;

	while (!c->freed && c->in.len > 0) {
		took = c->ops->in(c->arg, (const uint8_t *)c->in.s, c->in.len);
		if (took == 0)
			break;
		memmove(c->in.s, c->in.s + took, c->in.len - took);
		c->in.len -= took;
	}
	if (!c->freed && c->in.len > CHAN_IN_MOST)
		chan_end(c, ENOBUFS);
}

static void chan_read(struct chan_sock *c)
{
	char buffer[16384];
	ssize_t n = recv(c->fd, buffer, sizeof(buffer), 0);

	if (n > 0) {
		sbuf_addn(&c->in, buffer, (size_t)n);
		chan_give(c);
	} else if (n == 0) {
		chan_end(c, 0);
	} else if (errno != EAGAIN && errno != EINTR) {
		chan_end(c, errno);
	}
}

static void chan_connected(struct chan_sock *c)
{
	int code = 0;
	socklen_t n = sizeof(code);

	getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &code, &n);
	c->connecting = false;
	if (code != 0) {
		chan_end(c, code);
		return;
	}
	loop_tcp(c->fd);
	c->ops->opened(c->arg);
}

static void chan_give_back(struct chan_sock *c)
{
	loop_fd(c->loop, c->fd, 0, NULL, NULL);
	close(c->fd);
	sbuf_free(&c->in);
	sbuf_free(&c->out);
	free(c);
}

static void chan_event(void *arg, short revents)
{
	struct chan_sock *c = arg;
	bool had = c->out_at < c->out.len;

	c->busy = true;
	if (c->connecting)
		chan_connected(c);
	else if (revents & (POLLIN | POLLHUP | POLLERR))
		chan_read(c);
	if (!c->freed && !c->connecting)
		chan_flush(c);
	if (!c->freed && had && c->out.len == 0 && c->ops->sent != NULL)
		c->ops->sent(c->arg);
	c->busy = false;
	if (c->freed)
		chan_give_back(c);
	else if (c->ended && (revents & (POLLHUP | POLLERR))) /* nothing more happens to it */
		loop_fd(c->loop, c->fd, 0, NULL, NULL);
	else
		chan_watch(c);
}

static struct chan_sock *chan_new(struct loop *loop, int fd, const struct chan_ops *ops, void *arg)
{
	struct chan_sock *c = xcalloc(1, sizeof(*c));

	*c = (struct chan_sock){
		.base = {&chan_sock_kind}, .loop = loop, .ops = ops, .arg = arg, .fd = fd};
	return c;
}

struct chan *chan_connect(struct loop *loop, const struct sock_addr *to,
			  const struct sock_addr *from, const struct sock_tune *tune,
			  const struct chan_ops *ops, void *arg, struct err *e)
{
	int fd = sock_connect(to, from, tune, e);
	struct chan_sock *c;

	if (fd < 0)
		return NULL;
	c = chan_new(loop, fd, ops, arg);
	c->connecting = true;
	chan_watch(c);
	return &c->base;
}

struct chan *chan_take(struct loop *loop, int fd, const struct chan_ops *ops, void *arg)
{
	struct chan_sock *c = chan_new(loop, fd, ops, arg);

	loop_tcp(fd);
	chan_watch(c);
	return &c->base;
}

static int sock_chan_put(struct chan *chan, const void *data, size_t n)
{
	struct chan_sock *c = (struct chan_sock *)chan;

	if (c->half_close || (c->ended && c->connecting))
		return -EPIPE;
	if (c->out.len - c->out_at + n > CHAN_OUT_MOST)
		return -ENOBUFS;
	sbuf_addn(&c->out, data, n);
	if (!c->connecting)
		chan_flush(c);
	if (!c->busy)
		chan_watch(c);
	return 0;
}

static size_t sock_chan_waiting(const struct chan *chan)
{
	const struct chan_sock *c = (const struct chan_sock *)chan;

	return c->out.len - c->out_at;
}

static size_t sock_chan_unread(const struct chan *chan)
{
	return ((const struct chan_sock *)chan)->in.len;
}

static void sock_chan_half_close(struct chan *chan)
{
	struct chan_sock *c = (struct chan_sock *)chan;

	c->half_close = true;
	if (!c->connecting)
		chan_flush(c);
	if (!c->busy)
		chan_watch(c);
}

int chan_fd(const struct chan *chan)
{
	return ((const struct chan_sock *)chan)->fd;
}

static void sock_chan_ends(const struct chan *c, struct sock_addr *own, struct sock_addr *peer)
{
	sock_ends(chan_fd(c), own, peer);
}

static void sock_chan_free(struct chan *chan)
{
	struct chan_sock *c = (struct chan_sock *)chan;

	c->freed = true;
	if (!c->busy)
		chan_give_back(c);
}

static const struct chan_kind chan_sock_kind = {
	.put = sock_chan_put,
	.waiting = sock_chan_waiting,
	.unread = sock_chan_unread,
	.half_close = sock_chan_half_close,
	.ends = sock_chan_ends,
	.free = sock_chan_free,
};

/* ---- any ---- */

int chan_put(struct chan *c, const void *data, size_t n)
{
	return c->kind->put(c, data, n);
}

size_t chan_waiting(const struct chan *c)
{
	return c->kind->waiting(c);
}

size_t chan_unread(const struct chan *c)
{
	return c->kind->unread(c);
}

void chan_half_close(struct chan *c)
{
	c->kind->half_close(c);
}

void chan_ends(const struct chan *c, struct sock_addr *own, struct sock_addr *peer)
{
	c->kind->ends(c, own, peer);
}

void chan_free(struct chan *c)
{
	if (c != NULL)
		c->kind->free(c);
}

/* ---- listeners ---- */

struct chan_listener {
	struct loop *loop;
	int fd;
	chan_accept_fn *fn;
	void *arg;
	bool busy, freed;
};

static void listener_give_back(struct chan_listener *l)
{
	loop_fd(l->loop, l->fd, 0, NULL, NULL);
	close(l->fd);
	free(l);
}

static void listener_event(void *arg, short revents)
{
	struct chan_listener *l = arg;
	struct sock_addr peer = {.len = sizeof(peer.sa)};
	int fd = accept4(l->fd, &peer.sa.any, &peer.len, SOCK_NONBLOCK | SOCK_CLOEXEC);

	(void)revents;
	if (fd < 0)
		return;
	l->busy = true;
	l->fn(l->arg, fd, &peer);
	l->busy = false;
	if (l->freed)
		listener_give_back(l);
}

struct chan_listener *chan_listen(struct loop *loop, const struct sock_addr *at,
				  const struct sock_tune *tune, chan_accept_fn *fn, void *arg,
				  struct err *e)
{
	int fd = sock_listen(at, tune, e);
	struct chan_listener *l;

	if (fd < 0)
		return NULL;
	l = xcalloc(1, sizeof(*l));
	*l = (struct chan_listener){.loop = loop, .fd = fd, .fn = fn, .arg = arg};
	loop_fd(loop, fd, POLLIN, listener_event, l);
	return l;
}

void chan_listener_free(struct chan_listener *l)
{
	if (l == NULL)
		return;
	l->freed = true;
	if (!l->busy)
		listener_give_back(l);
}
