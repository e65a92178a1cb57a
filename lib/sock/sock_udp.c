/* SPDX-License-Identifier: BSD-3-Clause */
/* A server of datagrams: one socket, and a line for each of its peers. */
#include "sock_int.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

/* Most datagrams of a server before it is others' turn. */
#define SOCK_UDP_TURN 256

static unsigned peer_hash(const struct sock_addr *a)
{
	uint64_t h = fnv1a_number(FNV_BASIS, sock_addr_port(a));

	if (a->sa.any.sa_family == AF_INET6)
		h = fnv1a(h, &a->sa.v6.sin6_addr, 16);
	else
		h = fnv1a(h, &a->sa.v4.sin_addr, 4);
	return (unsigned)(h ^ h >> 32) % SOCK_HASH;
}

static struct sock_one *peer_of(struct sock_server *s, const struct sock_addr *a)
{
	struct sock_one **chain = &s->peer[peer_hash(a)], *o = *chain;

	while (o != NULL && !sock_addr_same(&o->l.to, a))
		o = o->peer_next;
	if (o != NULL || s->npeers == SOCK_PEERS)
		return o;
	o = sock_one_new(s->thread, s->spec);
	o->server = s;
	o->l.to = *a;
	o->peer_next = *chain;
	*chain = o;
	s->npeers++;
	return sock_settled(o) ? o : NULL;
}

void sock_udp_forget(struct sock_one *o)
{
	struct sock_one **at = &o->server->peer[peer_hash(&o->l.to)];

	while (*at != NULL && *at != o)
		at = &(*at)->peer_next;
	if (*at == NULL)
		return;
	*at = o->peer_next;
	o->server->npeers--;
}

void sock_udp_in(struct sock_server *s)
{
	uint8_t *data = s->thread->buffer;
	struct sock_addr from;

	for (unsigned i = 0; i < SOCK_UDP_TURN; i++) {
		from.len = sizeof(from.sa);
		ssize_t n =
			recvfrom(s->fd, data, SOCK_BUFFER, MSG_DONTWAIT, &from.sa.any, &from.len);
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		struct sock_one *o = n < 0 ? NULL : peer_of(s, &from);
		if (o == NULL || o->state != SOCK_OPEN) /* an ICMP error, or too many peers */
			continue;
		if (o->l.first_ns == 0)
			o->l.first_ns = s->thread->now;
		cell_add(&o->l.n.rx_bytes, (uint64_t)n);
		cell_add(&o->l.n.rx_calls, 1);
		sock_give(o, data, (uint32_t)n);
		sock_send(o);
		sock_close_if_over(o);
	}
}

void sock_udp_watch(struct sock_server *s)
{
	struct epoll_event ev = {.events = EPOLLIN | (s->blocked ? EPOLLOUT : 0),
				 .data.u64 = (uint64_t)(uintptr_t)s + SOCK_TAG_SERVER};

	epoll_ctl(s->thread->epoll, EPOLL_CTL_MOD, s->fd, &ev);
}

void sock_udp_may_send(struct sock_server *s)
{
	if (!s->blocked)
		return;
	s->blocked = false;
	sock_udp_watch(s);
	for (unsigned i = 0; i < SOCK_HASH; i++)
		for (struct sock_one *o = s->peer[i]; o != NULL; o = o->peer_next) {
			o->can_write = true;
			sock_activate(o);
		}
}
