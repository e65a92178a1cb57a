/* SPDX-License-Identifier: BSD-3-Clause */
/* A connection of control: TCP with bytes in and out, on the loop of control. Protocols are
 * machines without I/O, which are given what came and say what is to be sent. */
#pragma once
#include "loop.h"
#include "sock.h"

struct chan;
struct chan_ops {
	/* It goes to the network now; not called where it does at once, as a socket. NULL: no
	 * matter. */
	void (*begins)(void *arg);
	void (*opened)(void *arg); /* connected; not called of one that was accepted */
	/* n bytes wait. Returns how many of them were taken; with more that come it is called again
	 * for those that were not. */
	size_t (*in)(void *arg, const uint8_t *data, size_t n);
	void (*sent)(void *arg); /* all that was put is the kernel's; may be NULL */
	/* The peer sends nothing more (0), or the connection has failed or could not be made
	 * (errno). Called once; the channel stays until chan_free(), and may still send after 0. */
	void (*ended)(void *arg, int error);
};
/* What a channel is made of. Those of the kernel's sockets are made here; arm.h has others. Whoever
 * makes one begins it with this struct. */
struct chan_kind {
	int (*put)(struct chan *, const void *, size_t n);
	size_t (*waiting)(const struct chan *);
	size_t (*unread)(const struct chan *);
	void (*half_close)(struct chan *);
	void (*ends)(const struct chan *, struct sock_addr *own, struct sock_addr *peer);
	void (*free)(struct chan *);
};
struct chan {
	const struct chan_kind *kind;
};
/* What a peer may let lie in our memory: chan_put() fails above it. And the most that `in` may
 * leave untaken: the channel ends with ENOBUFS. */
#define CHAN_OUT_MOST (16u << 20)
#define CHAN_IN_MOST (64u << 20)

/* Begins to connect. NULL with *e. Nothing is called before it has returned. */
struct chan *chan_connect(struct loop *, const struct sock_addr *to, const struct sock_addr *from,
			  const struct sock_tune *, const struct chan_ops *, void *arg,
			  struct err *e);
/* A connected socket becomes a channel's. */
struct chan *chan_take(struct loop *, int fd, const struct chan_ops *, void *arg);
/* Sends at once as much as it can, in one segment if it fits, and keeps the rest. -ENOBUFS,
 * -EPIPE. */
int chan_put(struct chan *, const void *, size_t n);
size_t chan_waiting(const struct chan *); /* bytes not yet taken by the kernel */
size_t chan_unread(const struct chan *);  /* bytes that `in` has not taken */
void chan_half_close(struct chan *);      /* behind all that was put */
int chan_fd(const struct chan *);         /* of those of sockets */
/* The ends of the connection, of one that is connected. */
void chan_ends(const struct chan *, struct sock_addr *own, struct sock_addr *peer);
/* May be called from within its functions. NULL is allowed. */
void chan_free(struct chan *);

/* A listener of control: fn is called for each connection, whose fd is its own. */
struct chan_listener;
typedef void chan_accept_fn(void *arg, int fd, const struct sock_addr *peer);
struct chan_listener *chan_listen(struct loop *, const struct sock_addr *, const struct sock_tune *,
				  chan_accept_fn *, void *arg, struct err *e);
void chan_listener_free(struct chan_listener *);
