/* SPDX-License-Identifier: BSD-3-Clause */
/* The life of a line, and the calls of its record. */
#include "sock_int.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- what the arm does for records ---- */

static void *arm_cell(struct wl_turn *turn, uint32_t *at);
static void arm_free_cell(struct wl_turn *turn, uint32_t *at);
static uint64_t arm_identity(struct wl_turn *turn);
static void arm_over(struct wl_turn *turn, uint64_t done, uint64_t failed);
static const struct wl_arm arm = {arm_cell, arm_free_cell, arm_identity, arm_over};

static struct sock_one *turn_one(const struct wl_turn *turn)
{
	return (struct sock_one *)((uint8_t *)turn->mem - offsetof(struct sock_one, mem));
}

/* Cells by numbers from 1 on; the free ones are a list through their first words. */
static void *arm_cell(struct wl_turn *turn, uint32_t *at)
{
	struct sock_thread *t = turn_one(turn)->l.thread;

	if (*at != 0)
		return t->cells[*at - 1];
	if (t->free_cell == 0) {
		if ((t->ncells & (t->ncells - 1)) == 0)
			t->cells = xrealloc(t->cells, (t->ncells == 0 ? 1 : 2 * t->ncells) *
							      sizeof(*t->cells));
		t->cells[t->ncells] = xcalloc(1, CACHE_LINE);
		*at = ++t->ncells;
	} else {
		*at = t->free_cell;
		memcpy(&t->free_cell, t->cells[*at - 1], sizeof(t->free_cell));
	}
	memset(t->cells[*at - 1], 0, WL_CELL);
	return t->cells[*at - 1];
}

static void arm_free_cell(struct wl_turn *turn, uint32_t *at)
{
	struct sock_thread *t = turn_one(turn)->l.thread;

	if (*at == 0)
		return;
	memcpy(t->cells[*at - 1], &t->free_cell, sizeof(t->free_cell));
	t->free_cell = *at;
	*at = 0;
}

static uint64_t arm_identity(struct wl_turn *turn)
{
	struct sock_one *o = turn_one(turn);
	struct sock_addr own = {.len = sizeof(own.sa)};
	bool client = turn->flow->client;
	const struct sock_addr *c = client ? &own : &o->l.to, *s = client ? &o->l.to : &own;
	int fd = o->server != NULL ? o->server->fd : o->l.fd;

	getsockname(fd, &own.sa.any, &own.len);
	if (o->l.to.sa.any.sa_family == AF_INET6)
		return wl_identity(&c->sa.v6.sin6_addr, &s->sa.v6.sin6_addr, 16,
				   (uint16_t)sock_addr_port(c), (uint16_t)sock_addr_port(s));
	return wl_identity(&c->sa.v4.sin_addr, &s->sa.v4.sin_addr, 4, (uint16_t)sock_addr_port(c),
			   (uint16_t)sock_addr_port(s));
}

static void arm_over(struct wl_turn *turn, uint64_t done, uint64_t failed)
{
	(void)turn;
	(void)done;
	(void)failed;
}

/* ---- calls ---- */

static struct wl_turn turn_of(struct sock_one *o)
{
	o->l.thread->now = sock_now_ns();
	return (struct wl_turn){.flow = &o->l.flow,
				.mem = o->mem,
				.arm = &arm,
				.now_ns = o->l.thread->now,
				.datagram = o->l.spec->tune.udp,
				.peer_done = o->peer_done,
				.closing = o->closing,
				.late_ns = o->late_ns};
}

static struct sock_message *last_message(struct sock_one *o)
{
	return o->queued == 0 ? NULL : &o->queue[(o->head + o->queued - 1) % SOCK_QUEUE];
}

static void push_message(struct sock_one *o, const struct wl_turn *turn)
{
	if (o->queued == SOCK_QUEUE) /* nobody asks for more: see sock_give(), sock_send() */
		return;
	o->queue[(o->head + o->queued++) % SOCK_QUEUE] =
		(struct sock_message){.left = turn->send,
				      .content = turn->content,
				      .stamped = turn->stamped,
				      .stamp = turn->stamp};
}

/* The transaction that go() began is over. */
static void budget_done(struct sock_one *o)
{
	struct sock_arm *a = o->l.thread->arm;

	if (!o->called)
		return;
	o->called = false;
	if (a->conf.budget != 0 && __atomic_sub_fetch(&a->budget_open, 1, __ATOMIC_ACQ_REL) == 0)
		sock_tell(a, SOCK_SPENT);
}

/* The same; but one that was lost is not done, and another one takes its place. */
static void budget_ready(struct sock_one *o)
{
	struct sock_arm *a = o->l.thread->arm;

	if (!o->called || a->conf.budget == 0 || cell_get(&o->l.counts.done) != o->done_before) {
		budget_done(o);
		return;
	}
	o->called = false;
	__atomic_add_fetch(&a->budget_left, 1, __ATOMIC_ACQ_REL);
}

static bool budget_take(struct sock_arm *a)
{
	uint64_t left;

	if (a->conf.budget == 0)
		return true;
	left = __atomic_load_n(&a->budget_left, __ATOMIC_RELAXED);
	while (left > 0)
		if (__atomic_compare_exchange_n(&a->budget_left, &left, left - 1, true,
						__ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			return true;
	return false;
}

/* The line waits for go(): at once, or when its time has come. */
static void line_ready(struct sock_one *o)
{
	const struct sock_spec *spec = o->l.spec;
	struct sock_thread *t = o->l.thread;
	uint64_t slots;

	budget_ready(o);
	o->ready = true;
	if (spec->slot_ns != 0) {
		/* thread i has the slots i, i + threads, ... */
		slots = t->slot_at + t->number * spec->slot_ns;
		t->slot_at += spec->slot_ns * t->arm->conf.threads;
		o->due_ns = slots;
	} else if (spec->every_ns != 0) {
		o->due_ns = o->due_ns == 0 ? t->now : o->due_ns + spec->every_ns;
	} else {
		o->due_ns = t->now;
	}
	/* never from within a call of the record */
	sock_wait_for(o, SOCK_WAIT_GO, o->due_ns);
}

static void line_after(struct sock_one *o, const struct wl_turn *turn)
{
	if (turn->on_time)
		o->late_ns = 0;
	if (turn->timer_ns != 0)
		sock_wait_for(o, SOCK_WAIT_TIMER,
			      turn->timer_ns == WL_NO_TIMER ? UINT64_MAX
							    : turn->now_ns + turn->timer_ns);
	if (turn->send != 0)
		push_message(o, turn);
	if (turn->close != WL_CLOSE_NOT) {
		struct sock_message *last = last_message(o);
		o->closing = o->closing || turn->close == WL_CLOSE_FIN;
		if (turn->close == WL_CLOSE_RST && turn->send == 0) {
			o->broken = true;
			o->broken_why = WL_END_RESET_BY_US;
		} else if (last != NULL && last->left != WL_ENDLESS) {
			last->close = turn->close;
		} else {
			o->queued = 0; /* what has no end ends now */
			push_message(o, &(struct wl_turn){0});
			last_message(o)->close = turn->close;
		}
	}
	if (turn->ready)
		line_ready(o);
	sock_activate(o);
}

void sock_call(struct sock_one *o, void (*fn)(struct wl_turn *))
{
	struct wl_turn turn;

	if (fn == NULL || o->state != SOCK_OPEN || o->broken)
		return;
	turn = turn_of(o);
	fn(&turn);
	line_after(o, &turn);
}

uint32_t sock_give(struct sock_one *o, const uint8_t *data, uint32_t n)
{
	const struct workload *wl = o->l.flow.wl;
	uint32_t done = 0;

	/* what is sent without end does not stand in the way of what comes */
	while (!o->broken && (done < n || (n == 0 && o->l.spec->tune.udp)) &&
	       o->queued < SOCK_QUEUE) {
		struct wl_turn turn = turn_of(o);
		turn.length = n;
		uint32_t took = wl->received(&turn, data == NULL ? NULL : data + done, n - done);
		done += o->l.spec->tune.udp ? n - done : took;
		line_after(o, &turn);
		if (n == 0)
			break;
	}
	return done;
}

/* ---- opening ---- */

struct sock_one *sock_one_new(struct sock_thread *t, const struct sock_spec *spec)
{
	struct sock_one *o = xcalloc_lines(sizeof(*o));

	o->l.spec = spec;
	o->l.thread = t;
	o->l.fd = -1;
	o->l.flow = spec->flow;
	o->l.flow.counts = &o->l.counts;
	o->l.flow.own = NULL;
	if (spec->flow.wl->own_bytes > 0)
		o->l.flow.own = xcalloc(1, spec->flow.wl->own_bytes);
	sock_link(t, o);
	return o;
}

void sock_one_free(struct sock_one *o)
{
	for (unsigned i = 0; i < SOCK_WAITS; i++)
		sock_wait_for(o, i, UINT64_MAX);
	free(o->rest);
	free(o->l.flow.own);
	free(o);
}

static void line_renew(struct sock_one *o)
{
	memset(o->mem, 0, sizeof(o->mem));
	o->head = o->queued = 0;
	o->can_read = o->can_write = o->may_end = o->peer_done = o->our_done = false;
	o->closing = o->begun = o->ready = o->called = o->idle_told = o->broken = false;
	o->preamble_left = o->l.spec->preamble_len;
	o->late_ns = 0;
	for (unsigned i = 0; i < SOCK_WAITS; i++)
		sock_wait_for(o, i, UINT64_MAX);
}

static void line_failed(struct sock_one *o, int code)
{
	struct sbuf text = {0};
	struct err e;

	sock_addr_print(&o->l.to, &text);
	err_set(&e, code, "cannot connect to %s: %s", sbuf_str(&text), strerror(code));
	sbuf_free(&text);
	sock_fail(o->l.thread->arm, &e);
	sock_close(o, code == ECONNREFUSED ? WL_END_REFUSED
		      : code == ETIMEDOUT  ? WL_END_CONNECT_TIMEOUT
					   : WL_END_UNREACHABLE);
}

void sock_open_line(struct sock_one *o)
{
	struct err e;
	int fd;

	line_renew(o);
	o->connect_ns = sock_now_ns();
	fd = sock_connect(&o->l.to, &o->l.from, &o->l.spec->tune, &e);
	o->state = SOCK_CONNECTING;
	o->l.thread->opening++;
	if (fd < 0) {
		sock_fail(o->l.thread->arm, &e);
		sock_close(o, WL_END_UNREACHABLE);
		return;
	}
	o->l.fd = fd;
	if (o->l.spec->tune.udp) {
		sock_settled(o);
		return;
	}
	sock_watch(o->l.thread, fd, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, o);
}

void sock_begin(struct sock_one *o)
{
	const struct workload *wl = o->l.flow.wl;

	o->begun = true;
	if (o->l.flow.client || !wl->client_opens)
		sock_call(o, wl->opened);
	sock_activate(o);
}

/* What the kernel said about an end that could not be told apart. */
static int socket_error(int fd)
{
	int code = 0;
	socklen_t n = sizeof(code);

	return getsockopt(fd, SOL_SOCKET, SO_ERROR, &code, &n) == 0 ? code : errno;
}

bool sock_settled(struct sock_one *o)
{
	struct sock_arm *a = o->l.thread->arm;
	bool was_connecting = o->state == SOCK_CONNECTING;
	const int on = 1;
	struct err e;
	int code = o->server != NULL ? 0 : socket_error(o->l.fd);

	if (code != 0) {
		line_failed(o, code);
		return false;
	}
	o->l.to.len = sizeof(o->l.to.sa);
	if (o->server == NULL)
		getpeername(o->l.fd, &o->l.to.sa.any, &o->l.to.len);
	if (!was_connecting)
		line_renew(o);
	o->state = SOCK_OPEN;
	o->l.thread->opening -= was_connecting;
	cell_add(&o->l.n.opened, 1);
	o->can_read = o->can_write = true;
	if (was_connecting)
		wl_timing_add(&o->l.flow.connect, sock_now_ns() - o->connect_ns);
	if (o->l.spec->zerocopy && o->server == NULL)
		setsockopt(o->l.fd, SOL_SOCKET, SO_ZEROCOPY, &on, sizeof(on));
	if (o->server == NULL && sock_tune_open(o->l.fd, &o->l.spec->tune, &e) != 0) {
		sock_fail(a, &e);
		sock_close(o, WL_END_ABORTED);
		return false;
	}
	if ((!was_connecting || o->l.spec->tune.udp) && o->server == NULL)
		sock_watch(o->l.thread, o->l.fd, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, o);
	if (o->l.n.opened == 1 && o->l.spec->opens != NULL &&
	    !o->l.spec->opens(&o->l, o->l.spec->arg)) {
		sock_close(o, WL_END_ABORTED);
		return false;
	}
	if (!was_connecting)
		sock_tell(a, SOCK_ACCEPTED);
	else if (o->l.n.opened == 1 &&
		 __atomic_add_fetch(&a->connected, 1, __ATOMIC_ACQ_REL) == a->clients)
		sock_tell(a, SOCK_CONNECTED);
	if (!o->l.flow.client || o->l.thread->gone)
		sock_begin(o);
	return o->state == SOCK_OPEN;
}

void sock_accepted(struct sock_thread *t, const struct sock_spec *spec, int fd)
{
	struct sock_one *o = sock_one_new(t, spec);

	o->l.fd = fd;
	sock_settled(o);
}

/* ---- being called by time ---- */

void sock_go_line(struct sock_one *o)
{
	if (o->state != SOCK_OPEN || !o->ready || !budget_take(o->l.thread->arm))
		return;
	o->ready = false;
	o->called = true;
	o->done_before = cell_get(&o->l.counts.done);
	o->late_ns = o->l.thread->now > o->due_ns ? o->l.thread->now - o->due_ns : 0;
	sock_call(o, o->l.flow.wl->go);
}

void sock_timer_line(struct sock_one *o)
{
	sock_call(o, o->l.flow.wl->timer);
}

/* ---- ends ---- */

enum wl_end sock_why(int error)
{
	if (error == ECONNRESET || error == EPIPE)
		return WL_END_RESET_BY_PEER;
	if (error == ECONNREFUSED)
		return WL_END_REFUSED;
	return error == ETIMEDOUT ? WL_END_TIMED_OUT : WL_END_UNREACHABLE;
}

void sock_peer_done(struct sock_one *o)
{
	if (o->peer_done)
		return;
	o->peer_done = true;
	if (o->l.flow.wl->ended != NULL)
		sock_call(o, o->l.flow.wl->ended);
	else
		line_after(o, &(struct wl_turn){.close = WL_CLOSE_FIN, .flow = &o->l.flow});
}

void sock_close_if_over(struct sock_one *o)
{
	if (o->broken)
		sock_close(o, o->broken_why);
	else if (o->our_done && (o->peer_done || o->l.spec->leave))
		sock_close(o, WL_END_CLOSED);
}

static void line_unmap(struct sock_one *o)
{
	if (o->mapped != NULL)
		munmap(o->mapped, SOCK_BUFFER);
	o->mapped = NULL;
}

static void line_close_fd(struct sock_one *o, enum wl_end why)
{
	const struct linger rst = {.l_onoff = 1, .l_linger = 0};

	if (o->l.fd < 0)
		return;
	if (why == WL_END_RESET_BY_US)
		setsockopt(o->l.fd, SOL_SOCKET, SO_LINGER, &rst, sizeof(rst));
	line_unmap(o);
	/* whoever walks along the lines asks the kernel about this descriptor */
	pthread_mutex_lock(&o->l.thread->lock);
	close(o->l.fd);
	o->l.fd = -1;
	pthread_mutex_unlock(&o->l.thread->lock);
}

void sock_close(struct sock_one *o, enum wl_end why)
{
	const struct sock_spec *spec = o->l.spec;
	struct sock_thread *t = o->l.thread;
	bool client = o->l.flow.client, opened = o->state == SOCK_OPEN;

	if (o->state == SOCK_CLOSED)
		return;
	t->opening -= o->state == SOCK_CONNECTING;
	o->state = SOCK_CLOSED;
	line_close_fd(o, why);
	if (o->server != NULL)
		sock_udp_forget(o);
	if (opened && o->l.flow.wl->closed != NULL) {
		struct wl_turn turn = turn_of(o);
		o->l.flow.wl->closed(&turn, why);
	}
	cell_add(&o->l.n.ended[why], 1);
	if (!opened)
		cell_add(&o->l.n.failed, 1);
	budget_done(o);
	free(o->rest);
	o->rest = NULL;
	o->rest_n = 0;
	for (unsigned i = 0; i < SOCK_WAITS; i++)
		sock_wait_for(o, i, UINT64_MAX);
	/* what closes as it should opens again; what fails would fail again and again */
	if (client && spec->again && (why == WL_END_CLOSED || why == WL_END_RESET_BY_US) &&
	    !__atomic_load_n(&t->arm->stop, __ATOMIC_ACQUIRE))
		o->state = SOCK_NEW; /* sock_move() opens it */
	else if (!__atomic_load_n(&t->arm->stop, __ATOMIC_ACQUIRE))
		sock_tell(t->arm, SOCK_ENDED);
	sock_activate(o);
}
