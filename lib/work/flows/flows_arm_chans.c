/* SPDX-License-Identifier: BSD-3-Clause */
/* Connections of control of the arm `port`: buffered connections of one stream. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "flows_arm_port.h"

/* So long one that its protocol has done with lives on, for what it put to be acknowledged, and for
 * what came to be. */
#define LINGER_NS 2000000000ull

struct port_chan {
	struct chan base;
	struct port_arm *of;
	const struct chan_ops *ops;
	void *arg;
	int number; /* -1: it has none yet */
	bool client, opened, ended, half_close, closed, unsent, busy, freed;
	struct sock_addr peer; /* of one that was accepted */
	struct sbuf in, out;
	size_t out_at;
	uint64_t until; /* of one that was freed; 0: at once */
	struct port_chan *next;
};

static void chan_give_back(struct port_chan *c)
{
	struct port_chan **at = &c->of->chans;

	while (*at != c)
		at = &(*at)->next;
	*at = c->next;
	if (c->number >= 0 && c->of->arm != NULL)
		flows_arm_forget(c->of->arm, (unsigned)c->number);
	sbuf_free(&c->in);
	sbuf_free(&c->out);
	free(c);
}

static int port_chan_put(struct chan *chan, const void *data, size_t n)
{
	struct port_chan *c = (struct port_chan *)chan;

	if (c->half_close || (c->ended && !c->opened))
		return -EPIPE;
	if (c->out.len - c->out_at + n > CHAN_OUT_MOST)
		return -ENOBUFS;
	sbuf_addn(&c->out, data, n);
	c->unsent = true;
	return 0;
}

static size_t port_chan_waiting(const struct chan *chan)
{
	const struct port_chan *c = (const struct port_chan *)chan;
	struct flows_arm_chan k = {0};

	if (c->number >= 0 && c->of->arm != NULL)
		flows_arm_chan(c->of->arm, (unsigned)c->number, &k);
	return c->out.len - c->out_at + (k.gone ? 0 : k.waiting);
}

static size_t port_chan_unread(const struct chan *chan)
{
	return ((const struct port_chan *)chan)->in.len;
}

static void port_chan_half_close(struct chan *chan)
{
	((struct port_chan *)chan)->half_close = true;
}

static void port_chan_ends(const struct chan *chan, struct sock_addr *own, struct sock_addr *peer)
{
	const struct port_chan *c = (const struct port_chan *)chan;
	const struct port_arm *a = c->of;

	*own = a->own;
	*peer = a->to;
	if (c->client)
		return;
	sock_addr_set_port(own, a->ask.control_port);
	*peer = c->peer;
}

/* It ends by FIN behind what was put, as that of a socket does. */
static void chan_let_go(struct port_chan *c)
{
	if (!c->opened || c->number < 0 || c->of->stage != PORT_RUNS) {
		chan_give_back(c);
		return;
	}
	c->half_close = true;
	c->until = sock_now_ns() + LINGER_NS;
}

static void port_chan_free(struct chan *chan)
{
	struct port_chan *c = (struct port_chan *)chan;

	c->freed = true;
	if (!c->busy)
		chan_let_go(c);
}

static const struct chan_kind port_chan_kind = {
	.put = port_chan_put,
	.waiting = port_chan_waiting,
	.unread = port_chan_unread,
	.half_close = port_chan_half_close,
	.ends = port_chan_ends,
	.free = port_chan_free,
};

static struct port_chan *port_chan_new(struct port_arm *a, int number, const struct chan_ops *ops,
				       void *arg)
{
	struct port_chan *c = xcalloc(1, sizeof(*c));

	*c = (struct port_chan){.base = {&port_chan_kind},
				.of = a,
				.ops = ops,
				.arg = arg,
				.number = number,
				.client = number < 0,
				.opened = number >= 0,
				.next = a->chans};
	a->chans = c;
	return c;
}

static void chan_end(struct port_chan *c, int error)
{
	if (c->ended)
		return;
	c->ended = true;
	c->ops->ended(c->arg, error);
}

static void chan_send(struct port_chan *c, const struct flows_arm_chan *k)
{
	if (c->out_at < c->out.len)
		c->out_at += flows_arm_put(c->of->arm, (unsigned)c->number, c->out.s + c->out_at,
					   c->out.len - c->out_at);
	if (c->out_at < c->out.len)
		return;
	sbuf_reset(&c->out);
	c->out_at = 0;
	if (c->half_close && !c->closed) {
		c->closed = true;
		flows_arm_close(c->of->arm, (unsigned)c->number);
	}
	if (c->unsent && k->waiting == 0 && port_chan_waiting(&c->base) == 0) {
		c->unsent = false;
		if (!c->freed && c->ops->sent != NULL)
			c->ops->sent(c->arg);
	}
}

static void chan_receive(struct port_chan *c)
{
	char bytes[4096];
	size_t n, took;

	while ((n = flows_arm_get(c->of->arm, (unsigned)c->number, bytes, sizeof(bytes))) > 0)
		sbuf_addn(&c->in, bytes, n);
	while (!c->freed && !c->ended && c->in.len > 0) {
		took = c->ops->in(c->arg, (const uint8_t *)c->in.s, c->in.len);
		if (took == 0)
			break;
		memmove(c->in.s, c->in.s + took, c->in.len - took);
		c->in.len -= took;
	}
	if (!c->freed && c->in.len > CHAN_IN_MOST)
		chan_end(c, ENOBUFS);
}

static void chan_turn(struct port_chan *c)
{
	struct flows_arm_chan k;

	if (c->number < 0) {
		c->number = flows_arm_connect(c->of->arm);
		if (c->number == -ENOSPC)
			chan_end(c, ENOBUFS);
		else if (c->number >= 0 && c->ops->begins != NULL)
			c->ops->begins(c->arg);
		return;
	}
	flows_arm_chan(c->of->arm, (unsigned)c->number, &k);
	if (k.open && !c->opened) {
		c->opened = true;
		c->ops->opened(c->arg);
	}
	if (!c->freed && c->opened && !k.gone)
		chan_send(c, &k);
	if (!c->freed)
		chan_receive(c);
	if (c->freed || c->ended)
		return;
	if (k.gone && !c->opened)
		chan_end(c, k.error != 0 ? k.error : ECONNABORTED);
	else if (k.ended)
		chan_end(c, k.error);
}

/* Of one that its protocol has done with. */
static void chan_lingers(struct port_chan *c)
{
	struct flows_arm_chan k;
	char bytes[4096];

	flows_arm_chan(c->of->arm, (unsigned)c->number, &k);
	if (!k.gone)
		chan_send(c, &k);
	while (flows_arm_get(c->of->arm, (unsigned)c->number, bytes, sizeof(bytes)) > 0)
		;
	if (k.gone || sock_now_ns() > c->until)
		chan_give_back(c);
}

void flows_chans_turn(struct port_arm *a)
{
	struct port_chan *next;

	for (struct port_chan *c = a->chans; c != NULL; c = next) {
		if (c->until != 0) {
			next = c->next;
			chan_lingers(c);
			continue;
		}
		c->busy = true;
		if (a->stage == PORT_RUNS)
			chan_turn(c);
		c->busy = false;
		next = c->next;
		if (c->freed)
			chan_let_go(c);
	}
}

void flows_chans_wait(struct arm *arm, bool (*over)(const void *arg), const void *arg,
		      uint64_t most_ns)
{
	const struct timespec little = {.tv_nsec = 50000};
	uint64_t until = sock_now_ns() + most_ns;

	while (!over(arg) && sock_now_ns() < until) {
		flows_chans_turn(port_of(arm));
		nanosleep(&little, NULL);
	}
}

static bool chans_are_over(const void *arg)
{
	return ((const struct port_arm *)arg)->chans == NULL;
}

void flows_chans_finish(struct port_arm *a, uint64_t most_ns)
{
	flows_chans_wait(&a->base, chans_are_over, a, most_ns);
}

void flows_chans_free(struct port_arm *a)
{
	struct port_chan *next;

	for (struct port_chan *c = a->chans; c != NULL; c = next) {
		next = c->next;
		if (c->freed)
			chan_give_back(c);
	}
}

static bool chan_is_known(const struct port_arm *a, unsigned number)
{
	for (const struct port_chan *c = a->chans; c != NULL; c = c->next)
		if (c->number == (int)number)
			return true;
	return false;
}

static void chan_peer(const struct port_arm *a, unsigned number, struct sock_addr *out)
{
	uint8_t ip[16];
	unsigned port, n = flows_arm_peer(a->arm, number, ip, &port);

	flows_addr_make(out, ip, n, port);
}

void flows_chans_accept(struct port_arm *a)
{
	for (unsigned i = 0; i < flows_arm_chans(a->arm); i++) {
		struct sock_addr peer;
		struct flows_arm_chan k;
		flows_arm_chan(a->arm, i, &k);
		if (!(k.open || k.gone) || a->accept == NULL || chan_is_known(a, i)) {
			if ((k.open || k.gone) && !chan_is_known(a, i))
				flows_arm_forget(a->arm, i);
			continue;
		}
		chan_peer(a, i, &peer);
		a->accept(a->accept_arg, (arm_offer)i, &peer);
	}
}

static void port_begin(struct port_arm *a)
{
	if (a->stage == PORT_NEW)
		a->stage = PORT_ASKED;
}

struct chan *flows_chan_connect(struct arm *arm, const struct sock_addr *to,
				const struct sock_addr *from, const struct sock_tune *tune,
				const struct chan_ops *ops, void *arg, struct err *e)
{
	struct port_arm *a = port_of(arm);

	(void)to, (void)from, (void)tune, (void)e;
	port_begin(a);
	return &port_chan_new(a, -1, ops, arg)->base;
}

struct arm_listener *flows_chan_listen(struct arm *arm, const struct sock_addr *at,
				       const struct sock_tune *tune, arm_accept_fn *fn, void *arg,
				       struct err *e)
{
	struct port_arm *a = port_of(arm);

	(void)at, (void)tune, (void)e;
	port_begin(a);
	a->accept = fn;
	a->accept_arg = arg;
	return (struct arm_listener *)a;
}

struct chan *flows_chan_take(struct arm *arm, arm_offer number, const struct chan_ops *ops,
			     void *arg)
{
	struct port_chan *c = port_chan_new(port_of(arm), number, ops, arg);

	chan_peer(c->of, (unsigned)number, &c->peer);
	return &c->base;
}

void flows_chan_refuse(struct arm *arm, arm_offer number)
{
	flows_arm_forget(port_of(arm)->arm, (unsigned)number);
}

void flows_chan_unlisten(struct arm *arm, struct arm_listener *l)
{
	if (l != NULL)
		port_of(arm)->accept = NULL;
}
