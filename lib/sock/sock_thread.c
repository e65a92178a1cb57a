/* SPDX-License-Identifier: BSD-3-Clause */
/* The loop of a thread, and what lines wait for. */
#include "sock_int.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

int sock_watch(struct sock_thread *t, int fd, uint32_t events, void *what)
{
	struct epoll_event ev = {.events = events, .data.u64 = (uint64_t)(uintptr_t)what};

	return epoll_ctl(t->epoll, EPOLL_CTL_ADD, fd, &ev);
}

/* ---- the heap of what lines wait for ---- */

static void heap_put(struct sock_thread *t, uint32_t i, struct sock_due d)
{
	t->heap[i] = d;
	d.one->wait_at[d.what] = i + 1;
}

static void heap_up(struct sock_thread *t, uint32_t i, struct sock_due d)
{
	while (i > 0 && t->heap[(i - 1) / 2].at > d.at) {
		heap_put(t, i, t->heap[(i - 1) / 2]);
		i = (i - 1) / 2;
	}
	heap_put(t, i, d);
}

static void heap_down(struct sock_thread *t, uint32_t i, struct sock_due d)
{
	for (;;) {
		uint32_t child = 2 * i + 1;
		if (child + 1 < t->nheap && t->heap[child + 1].at < t->heap[child].at)
			child++;
		if (child >= t->nheap || t->heap[child].at >= d.at)
			break;
		heap_put(t, i, t->heap[child]);
		i = child;
	}
	heap_put(t, i, d);
}

static void heap_remove(struct sock_thread *t, uint32_t i)
{
	struct sock_due last = t->heap[--t->nheap];

	t->heap[i < t->nheap ? i : t->nheap].one->wait_at[t->heap[i].what] = 0;
	if (i == t->nheap)
		return;
	if (i > 0 && t->heap[(i - 1) / 2].at > last.at)
		heap_up(t, i, last);
	else
		heap_down(t, i, last);
}

void sock_wait_for(struct sock_one *o, enum sock_wait what, uint64_t at)
{
	struct sock_thread *t = o->l.thread;

	if (o->wait_at[what] != 0)
		heap_remove(t, o->wait_at[what] - 1);
	if (at == UINT64_MAX)
		return;
	if (t->nheap == t->heap_size) {
		t->heap_size = t->heap_size == 0 ? 64 : 2 * t->heap_size;
		t->heap = xrealloc(t->heap, t->heap_size * sizeof(*t->heap));
	}
	heap_up(t, t->nheap++, (struct sock_due){at, o, (uint8_t)what});
}

static void thread_due(struct sock_thread *t)
{
	while (t->nheap > 0 && t->heap[0].at <= t->now) {
		struct sock_due d = t->heap[0];
		heap_remove(t, 0);
		if (d.what == SOCK_WAIT_TIMER)
			sock_timer_line(d.one);
		else if (d.what == SOCK_WAIT_GO)
			sock_go_line(d.one);
		else
			sock_activate(d.one);
	}
}

/* ---- lists ---- */

void sock_activate(struct sock_one *o)
{
	struct sock_thread *t = o->l.thread;

	if (o->active)
		return;
	o->active = true;
	o->active_next = NULL;
	*t->active_end = o;
	t->active_end = &o->active_next;
}

void sock_link(struct sock_thread *t, struct sock_one *o)
{
	pthread_mutex_lock(&t->lock);
	o->prev = t->last;
	if (t->last != NULL)
		t->last->next = o;
	else
		t->first = o;
	t->last = o;
	o->l.number = t->nlines++;
	pthread_mutex_unlock(&t->lock);
}

void sock_unlink(struct sock_thread *t, struct sock_one *o)
{
	pthread_mutex_lock(&t->lock);
	if (o->prev != NULL)
		o->prev->next = o->next;
	else
		t->first = o->next;
	if (o->next != NULL)
		o->next->prev = o->prev;
	else
		t->last = o->prev;
	if (t->unopened == o)
		t->unopened = o->next;
	pthread_mutex_unlock(&t->lock);
}

/* ---- the loop ---- */

static void thread_go(struct sock_thread *t)
{
	if (t->gone || !__atomic_load_n(&t->arm->go, __ATOMIC_ACQUIRE))
		return;
	t->gone = true;
	t->tick_at = t->arm->go_ns + t->arm->conf.tick_ns;
	t->slot_at = t->arm->go_ns;
	for (struct sock_one *o = t->first, *next; o != NULL; o = next) {
		next = o->next;
		if (o->state == SOCK_OPEN && !o->begun)
			sock_begin(o);
	}
}

static void thread_orders(struct sock_thread *t)
{
	struct sock_order *o, *next;
	uint64_t count;

	if (read(t->wake, &count, sizeof(count)) < 0)
		return;
	pthread_mutex_lock(&t->lock);
	o = t->orders;
	t->orders = NULL;
	t->orders_end = &t->orders;
	pthread_mutex_unlock(&t->lock);
	for (; o != NULL; o = next) {
		struct sock_one *one = sock_one_new(t, o->spec);
		next = o->next;
		one->l.fd = o->fd;
		one->rest_n = o->n;
		one->rest = o->n > 0 ? xcalloc(1, o->n) : NULL;
		if (o->n > 0)
			memcpy(one->rest, o->first, o->n);
		sock_settled(one);
		free(o);
	}
	thread_go(t);
}

static void thread_accept(struct sock_server *s)
{
	struct sock_thread *t = s->thread;
	struct err e;

	for (unsigned i = 0; i < 64; i++) {
		int fd = accept4(s->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (fd >= 0) {
			sock_accepted(t, s->spec, fd);
			continue;
		}
		if (errno == ECONNABORTED || errno == EINTR)
			continue;
		if (errno == EAGAIN)
			return;
		err_set(&e, errno, "connections cannot be accepted: %s%s", strerror(errno),
			errno == EMFILE ? "; `ulimit -n` allows more" : "");
		sock_fail(t->arm, &e);
		/* not again and again, as long as nothing can change */
		epoll_ctl(t->epoll, EPOLL_CTL_DEL, s->fd, NULL);
		s->resting = true;
		t->rest_until = t->now + 100000000;
		return;
	}
}

static void thread_rested(struct sock_thread *t)
{
	if (t->rest_until == 0 || t->now < t->rest_until)
		return;
	t->rest_until = 0;
	for (struct sock_server *s = t->servers; s != NULL; s = s->next)
		if (s->resting) {
			s->resting = false;
			sock_watch(t, s->fd, EPOLLIN, (uint8_t *)s + SOCK_TAG_SERVER);
		}
}

static void thread_server_event(struct sock_server *s, uint32_t events)
{
	if (!s->spec->tune.udp) {
		thread_accept(s);
		return;
	}
	if (events & EPOLLOUT)
		sock_udp_may_send(s);
	if (events & (EPOLLIN | EPOLLERR))
		sock_udp_in(s);
}

static void thread_event(struct sock_thread *t, const struct epoll_event *ev)
{
	uint64_t tag = ev->data.u64;
	struct sock_one *o;

	if (tag == 0) {
		thread_orders(t);
		return;
	}
	if (tag & SOCK_TAG_SERVER) {
		thread_server_event((struct sock_server *)(uintptr_t)(tag - SOCK_TAG_SERVER),
				    ev->events);
		return;
	}
	o = (struct sock_one *)(uintptr_t)tag;
	if (o->l.fd < 0) /* closed by what came before it */
		return;
	if (ev->events & EPOLLERR && o->l.spec->zerocopy)
		sock_errors(o);
	if (ev->events & (EPOLLOUT | EPOLLERR | EPOLLHUP))
		o->can_write = true;
	if (ev->events & (EPOLLIN | EPOLLERR | EPOLLHUP | EPOLLRDHUP))
		o->can_read = true;
	if (ev->events & (EPOLLERR | EPOLLHUP | EPOLLRDHUP))
		o->may_end = true;
	if (o->state != SOCK_CONNECTING || sock_settled(o))
		sock_activate(o);
}

static void thread_active(struct sock_thread *t)
{
	struct sock_one *o = t->active, *next;

	t->active = NULL;
	t->active_end = &t->active;
	for (; o != NULL; o = next) {
		next = o->active_next;
		/* what it asks for in its turn is done in its turn */
		enum sock_moved moved = sock_move(o);
		if (moved == SOCK_GONE)
			continue;
		o->active = false;
		if (moved == SOCK_MORE)
			sock_activate(o);
	}
}

static uint64_t thread_next(const struct sock_thread *t)
{
	uint64_t next = t->nheap > 0 ? t->heap[0].at : UINT64_MAX;

	if (t->arm->conf.tick != NULL && t->gone && t->tick_at < next)
		next = t->tick_at;
	if (t->rest_until != 0 && t->rest_until < next)
		next = t->rest_until;
	return next;
}

/* Nothing is due: looks for a moment before it sleeps, if that has been worth it. */
static int thread_spin(struct sock_thread *t, struct epoll_event *ev, int n)
{
	uint64_t now = sock_now_ns();
	int got;

	for (; sock_spin_looks(&t->spin, now); now = sock_now_ns()) {
		got = epoll_wait(t->epoll, ev, n, 0);
		if (got != 0) {
			sock_spin_came(&t->spin);
			return got;
		}
	}
	got = epoll_wait(t->epoll, ev, n, -1);
	sock_spin_slept(&t->spin, sock_now_ns() - now);
	return got;
}

static int thread_poll(struct sock_thread *t, struct epoll_event *ev, int n)
{
	uint64_t next = thread_next(t), left;
	struct timespec wait = {0};

	if (t->active != NULL || next <= t->now)
		return epoll_wait(t->epoll, ev, n, 0);
	if (next == UINT64_MAX)
		return t->arm->conf.spins ? thread_spin(t, ev, n) : epoll_wait(t->epoll, ev, n, -1);
	left = next - t->now;
	wait.tv_sec = (time_t)(left / 1000000000);
	wait.tv_nsec = (long)(left % 1000000000);
	int got = epoll_pwait2(t->epoll, ev, n, &wait, NULL);
	if (got < 0 && errno == ENOSYS)
		got = epoll_wait(t->epoll, ev, n, (int)((left + 999999) / 1000000));
	return got;
}

static void thread_tick(struct sock_thread *t)
{
	const struct sock_conf *c = &t->arm->conf;

	if (c->tick == NULL || !t->gone || t->now < t->tick_at)
		return;
	c->tick(c->arg, t, t->now, false);
	/* times that have passed unseen are left out */
	t->tick_at += ((t->now - t->tick_at) / c->tick_ns + 1) * c->tick_ns;
}

/* A listener takes only so many at once, and what it does not take is tried again a second
 * later. */
static void thread_open(struct sock_thread *t)
{
	while (t->unopened != NULL && t->opening < SOCK_OPENING) {
		struct sock_one *o = t->unopened;
		t->unopened = o->next;
		if (o->state == SOCK_NEW && o->l.flow.client && o->l.fd < 0)
			sock_open_line(o);
	}
}

void *sock_thread_main(void *arg)
{
	struct sock_thread *t = arg;
	const struct sock_conf *c = &t->arm->conf;
	unsigned n = c->epoll_events != 0 ? c->epoll_events : 1000;
	struct epoll_event *ev = xcalloc(n, sizeof(*ev));
	struct timespec used;

	t->now = sock_now_ns();
	t->unopened = t->first;
	thread_open(t);
	thread_go(t);
	while (!__atomic_load_n(&t->arm->stop, __ATOMIC_ACQUIRE)) {
		int got = thread_poll(t, ev, (int)n);
		t->now = sock_now_ns();
		for (int i = 0; i < got; i++)
			thread_event(t, &ev[i]);
		thread_due(t);
		thread_active(t);
		thread_open(t);
		thread_rested(t);
		thread_tick(t);
	}
	t->now = sock_now_ns();
	if (c->tick != NULL && t->gone)
		c->tick(c->arg, t, t->now, true);
	free(ev);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
	t->cpu_ns = (uint64_t)used.tv_sec * 1000000000 + (uint64_t)used.tv_nsec;
	return NULL;
}
