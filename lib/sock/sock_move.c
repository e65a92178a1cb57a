/* SPDX-License-Identifier: BSD-3-Clause */
/* Bytes in and out. */
#include "sock_int.h"

#include <errno.h>
#include <linux/errqueue.h>
#include <linux/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>

#define MUCH 16384 /* bytes of one read: as a stream has, and not a request */

static uint32_t buffer_of(const struct sock_one *o)
{
	uint32_t n = o->l.spec->buffer;

	return n == 0 ? SOCK_BUFFER : n < SOCK_BUFFER_MOST ? n : SOCK_BUFFER_MOST;
}

/* ---- out ---- */

/* Bytes that are sent by one call. */
struct out {
	struct iovec piece[SOCK_BUFFER_MOST / WL_REST];
	unsigned n;
};

/* The next bytes of a message, at most n. Returns how many. Filling lies there already, in pieces
 * of WL_REST; a head is put together. */
static uint32_t message_bytes(struct sock_one *o, const struct sock_message *m, uint32_t n,
			      struct out *out)
{
	const struct wl_content *c = &o->l.flow.content[m->content];
	uint8_t *buffer = o->l.thread->buffer;

	if (m->left < n)
		n = (uint32_t)m->left;
	out->n = 0;
	if (m->offset >= c->head_len && c->chunk == 0 && !m->stamped) {
		for (uint32_t at = 0, piece; at < n; at += piece) {
			piece = n - at < WL_REST ? n - at : WL_REST;
			out->piece[out->n++] =
				(struct iovec){wl_rest + wl_content_rest(c, m->offset + at), piece};
		}
		return n;
	}
	if (n > SOCK_BUFFER)
		n = SOCK_BUFFER; /* what wl_content_put() takes, and one datagram has */
	wl_content_put(c, m->offset, buffer, n);
	if (m->stamped && m->offset == 0)
		memcpy(buffer, &m->stamp, n < sizeof(m->stamp) ? n : sizeof(m->stamp));
	out->piece[out->n++] = (struct iovec){buffer, n};
	return n;
}

static ssize_t out_call(int fd, const struct out *out, const struct sock_addr *to, int flags)
{
	struct msghdr m = {.msg_iov = (struct iovec *)(uintptr_t)out->piece, .msg_iovlen = out->n};

	if (to == NULL && out->n == 1) /* the shortest way, by which small messages go */
		return send(fd, out->piece[0].iov_base, out->piece[0].iov_len, flags);
	if (to != NULL) {
		m.msg_name = (void *)(uintptr_t)&to->sa;
		m.msg_namelen = to->len;
	}
	return sendmsg(fd, &m, flags);
}

static ssize_t out_bytes(struct sock_one *o, const struct out *out, int flags)
{
	ssize_t sent;

	flags |= MSG_NOSIGNAL | MSG_DONTWAIT;
	if (o->server != NULL)
		return out_call(o->server->fd, out, &o->l.to, flags);
	sent = out_call(o->l.fd, out, NULL, flags);
	if (sent < 0 && errno == ENOBUFS && (flags & MSG_ZEROCOPY))
		sent = out_call(o->l.fd, out, NULL, flags & ~MSG_ZEROCOPY);
	return sent;
}

/* Returns whether to go on: false when the socket is full, or broken. */
static bool out_failed(struct sock_one *o)
{
	int code = errno;

	if (code == EINTR)
		return true;
	if (code == EAGAIN || code == ENOBUFS) {
		o->can_write = false;
		if (o->server != NULL) {
			o->server->blocked = true;
			sock_udp_watch(o->server);
		}
		return false;
	}
	o->broken = true;
	o->broken_why = (uint8_t)sock_why(code);
	if (o->l.spec->tune.udp || (code != EPIPE && code != ECONNRESET)) {
		struct sbuf text = {0};
		struct err e;
		sock_addr_print(&o->l.to, &text);
		err_set(&e, code, "cannot send to %s: %s", sbuf_str(&text), strerror(code));
		sbuf_free(&text);
		sock_fail(o->l.thread->arm, &e);
	}
	return false;
}

static bool send_preamble(struct sock_one *o)
{
	const struct sock_spec *s = o->l.spec;
	struct out out;
	ssize_t n;

	out.n = 1;
	if (o->preamble_left == 0)
		return true;
	out.piece[0].iov_base =
		(uint8_t *)(uintptr_t)s->preamble + s->preamble_len - o->preamble_left;
	out.piece[0].iov_len = o->preamble_left;
	n = out_bytes(o, &out, 0);
	if (n < 0)
		return out_failed(o) && false;
	o->preamble_left -= (uint32_t)n;
	return o->preamble_left == 0;
}

/* The message in front has been sent. */
static void message_over(struct sock_one *o)
{
	uint8_t close = o->queue[o->head].close;

	o->head = (uint8_t)((o->head + 1) % SOCK_QUEUE);
	o->queued--;
	if (close == WL_CLOSE_FIN) {
		o->our_done = true;
		if (o->server == NULL && !o->l.spec->leave)
			shutdown(o->l.fd, SHUT_WR);
		if (o->l.spec->tune.udp) /* there is no other end to wait for */
			o->peer_done = true;
	} else if (close == WL_CLOSE_RST) {
		o->broken = true;
		o->broken_why = WL_END_RESET_BY_US;
	}
}

static void pace_send(struct sock_one *o, uint64_t now, uint32_t n)
{
	const struct sock_spec *s = o->l.spec;
	uint64_t step = s->gap_ns + (uint64_t)((unsigned __int128)n * s->byte_fraction >> 32);

	if (o->send_at_ns + s->burst_ns < now)
		o->send_at_ns = now - s->burst_ns;
	o->send_at_ns += step;
}

/* Sends once. false: no more for now. */
static bool send_once(struct sock_one *o)
{
	const struct sock_spec *s = o->l.spec;
	struct sock_message *m = &o->queue[o->head];
	uint32_t n = s->tune.udp ? SOCK_BUFFER : buffer_of(o);
	bool endless = m->left == WL_ENDLESS, paced = (s->gap_ns | s->byte_fraction) != 0;
	uint64_t now = paced ? sock_now_ns() : 0;
	struct out out;
	ssize_t sent;
	int flags;

	if (paced && now < o->send_at_ns) {
		sock_wait_for(o, SOCK_WAIT_SEND, o->send_at_ns);
		return false;
	}
	if (m->left > 0) {
		n = message_bytes(o, m, n, &out);
		flags = s->more || (!endless && n < m->left) ? MSG_MORE : 0;
		sent = out_bytes(o, &out, flags | (s->zerocopy ? MSG_ZEROCOPY : 0));
		if (sent < 0)
			return out_failed(o);
		cell_add(&o->l.n.tx_bytes, (uint64_t)sent);
		cell_add(&o->l.n.tx_calls, 1);
		o->idle_told = false;
		m->offset += (uint64_t)sent;
		if (!endless)
			m->left -= (uint64_t)sent;
		if (paced)
			pace_send(o, now, (uint32_t)sent);
		if (m->left > 0)
			return true;
	}
	message_over(o);
	return true;
}

void sock_send(struct sock_one *o)
{
	unsigned n = 0;

	if (!send_preamble(o))
		return;
	while (o->can_write && !o->broken && !o->our_done) {
		if (o->queued == 0) {
			if (o->idle_told || !o->begun)
				return;
			o->idle_told = true;
			sock_call(o, o->l.flow.wl->may_send);
			if (o->queued == 0)
				return;
		}
		if (n++ == SOCK_TURN_SENDS) {
			o->more = true; /* others first */
			return;
		}
		if (!send_once(o))
			return;
	}
}

void sock_errors(struct sock_one *o)
{
	uint8_t control[128];
	struct msghdr m = {.msg_control = control, .msg_controllen = sizeof(control)};

	while (recvmsg(o->l.fd, &m, MSG_ERRQUEUE | MSG_DONTWAIT) >= 0)
		m.msg_controllen = sizeof(control);
}

/* ---- in ---- */

/* Maps what has come in place of copying it. Returns how many bytes, 0: none can be mapped now. */
static uint32_t in_mapped(struct sock_one *o)
{
	struct tcp_zerocopy_receive z = {.length = SOCK_BUFFER};
	socklen_t n = sizeof(z);

	if (o->mapped == NULL) {
		void *at = mmap(NULL, SOCK_BUFFER, PROT_READ, MAP_SHARED, o->l.fd, 0);
		if (at == MAP_FAILED)
			return 0;
		o->mapped = at;
	}
	z.address = (uint64_t)(uintptr_t)o->mapped;
	if (getsockopt(o->l.fd, IPPROTO_TCP, TCP_ZEROCOPY_RECEIVE, &z, &n) != 0)
		return 0;
	cell_add(&o->mapped_bytes, z.length);
	return z.length;
}

static void in_keep(struct sock_one *o, const uint8_t *data, uint32_t n)
{
	o->rest = xcalloc(1, n);
	if (data != NULL)
		memcpy(o->rest, data, n);
	o->rest_n = n;
}

/* What could not be given before. true: all of it has been now. */
static bool in_rest(struct sock_one *o)
{
	uint32_t took;
	uint8_t *rest = o->rest;

	if (o->rest_n == 0)
		return true;
	took = sock_give(o, rest, o->rest_n);
	o->rest_n -= took;
	if (o->rest_n > 0) {
		memmove(rest, rest + took, o->rest_n);
		return false;
	}
	free(rest);
	o->rest = NULL;
	return true;
}

static void in_failed(struct sock_one *o)
{
	int code = errno;

	if (code == EAGAIN || code == EINTR) {
		o->can_read = code == EINTR;
		return;
	}
	o->broken = true;
	o->broken_why = (uint8_t)sock_why(code);
	if (o->l.spec->tune.udp) {
		struct sbuf text = {0};
		struct err e;
		sock_addr_print(&o->l.to, &text);
		err_set(&e, code, "%s answers datagrams with: %s", sbuf_str(&text), strerror(code));
		sbuf_free(&text);
		sock_fail(o->l.thread->arm, &e);
	}
}

/* Receives once. false: no more for now. */
static bool receive_once(struct sock_one *o)
{
	const struct sock_spec *s = o->l.spec;
	uint8_t *data = o->l.thread->buffer;
	uint32_t want = s->tune.udp ? SOCK_BUFFER : buffer_of(o), took, n;
	bool skip = s->skip_receive && !s->tune.udp;
	ssize_t got = 0;

	if (s->map_receive && !s->tune.udp)
		got = in_mapped(o);
	if (got > 0)
		data = o->mapped;
	else
		got = recv(o->l.fd, skip ? NULL : data, want,
			   MSG_DONTWAIT | (skip ? MSG_TRUNC : 0));
	if (got < 0) {
		in_failed(o);
		return o->can_read && !o->broken;
	}
	n = (uint32_t)got;
	if (n == 0 && !s->tune.udp) {
		o->can_read = false;
		sock_peer_done(o);
		return false;
	}
	if (WL_RARE(o->l.first_ns == 0))
		o->l.first_ns = sock_now_ns();
	cell_add(&o->l.n.rx_bytes, n);
	cell_add(&o->l.n.rx_calls, 1);
	/* a read that did not fill the buffer has emptied the socket, if no end stands behind it;
	 * where much comes, more has come while this was copied */
	if (n < want && n < MUCH && !o->may_end && !s->map_receive && !s->tune.udp)
		o->can_read = false;
	took = sock_give(o, skip ? NULL : data, n);
	if (took < n && !o->broken)
		in_keep(o, skip ? NULL : data + took, n - took);
	return o->can_read && took == n && !o->broken;
}

/* A closed line of a server goes, one that opens again does so. */
static enum sock_moved move_closed(struct sock_one *o)
{
	if (o->state == SOCK_NEW) {
		sock_open_line(o);
		return SOCK_WAITS_ON;
	}
	if (o->l.flow.client || o->l.spec->keep)
		return SOCK_WAITS_ON;
	if (o->l.spec->closes != NULL)
		o->l.spec->closes(&o->l, o->l.spec->arg);
	sock_unlink(o->l.thread, o);
	sock_one_free(o);
	return SOCK_GONE;
}

/* Whether a message with an end waits, and may go. */
static bool move_has_message(const struct sock_one *o)
{
	return o->queued > 0 && o->can_write && !o->broken && o->queue[o->head].left != WL_ENDLESS;
}

enum sock_moved sock_move(struct sock_one *o)
{
	if (o->state == SOCK_NEW || o->state == SOCK_CLOSED)
		return move_closed(o);
	if (o->state != SOCK_OPEN || !o->begun)
		return SOCK_WAITS_ON;
	o->more = false;
	sock_send(o);
	for (unsigned i = 0; o->server == NULL && !o->broken && in_rest(o) && o->can_read; i++) {
		if (i == SOCK_TURN_SENDS) {
			o->more = true;
			break;
		}
		if (o->queued == SOCK_QUEUE || !receive_once(o))
			break;
		/* answers at once; what has no end waits for its turn */
		if (move_has_message(o))
			sock_send(o);
	}
	if (move_has_message(o))
		sock_send(o);
	sock_close_if_over(o);
	return o->more || o->state == SOCK_NEW || o->state == SOCK_CLOSED ? SOCK_MORE
									  : SOCK_WAITS_ON;
}
