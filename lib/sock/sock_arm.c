/* SPDX-License-Identifier: BSD-3-Clause */
/* Control's side of the arm. */
#include "sock_int.h"

#include <errno.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

uint64_t sock_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

void sock_tell(struct sock_arm *a, enum sock_event what)
{
	const uint64_t one = 1;

	if ((__atomic_fetch_or(&a->events, what, __ATOMIC_ACQ_REL) & what) == 0 &&
	    write(a->event_fd, &one, sizeof(one)) < 0)
		return; /* it is readable already */
}

void sock_fail(struct sock_arm *a, const struct err *e)
{
	pthread_mutex_lock(&a->lock);
	if (!a->has_error)
		a->error = *e;
	a->has_error = true;
	pthread_mutex_unlock(&a->lock);
	sock_tell(a, SOCK_FAILED);
}

bool sock_error(struct sock_arm *a, struct err *e)
{
	pthread_mutex_lock(&a->lock);
	if (a->has_error)
		*e = a->error;
	pthread_mutex_unlock(&a->lock);
	return a->has_error;
}

int sock_event_fd(const struct sock_arm *a)
{
	return a->event_fd;
}

unsigned sock_events(struct sock_arm *a)
{
	uint64_t count;

	if (read(a->event_fd, &count, sizeof(count)) < 0)
		count = 0;
	return __atomic_exchange_n(&a->events, 0, __ATOMIC_ACQ_REL);
}

static void thread_wake(struct sock_thread *t)
{
	const uint64_t one = 1;

	if (write(t->wake, &one, sizeof(one)) < 0)
		return; /* it will wake */
}

struct sock_arm *sock_new(const struct sock_conf *c)
{
	struct sock_arm *a = xcalloc(1, sizeof(*a));

	a->conf = *c;
	a->thread = xcalloc_lines(c->threads * sizeof(*a->thread));
	a->event_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	a->budget_left = a->budget_open = c->budget;
	pthread_mutex_init(&a->lock, NULL);
	for (unsigned i = 0; i < c->threads; i++) {
		struct sock_thread *t = &a->thread[i];
		t->arm = a;
		t->number = i;
		t->buffer = xcalloc(1, SOCK_BUFFER_MOST);
		t->epoll = epoll_create1(EPOLL_CLOEXEC);
		t->wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
		t->orders_end = &t->orders;
		t->active_end = &t->active;
		pthread_mutex_init(&t->lock, NULL);
		sock_watch(t, t->wake, EPOLLIN, NULL);
	}
	return a;
}

struct sock_line *sock_add(struct sock_arm *a, unsigned thread, const struct sock_spec *spec,
			   const struct sock_addr *to, const struct sock_addr *from)
{
	struct sock_one *o = sock_one_new(&a->thread[thread], spec);

	o->l.to = *to;
	if (from != NULL)
		o->l.from = *from;
	a->clients++;
	return &o->l;
}

void sock_serve(struct sock_arm *a, unsigned thread, const struct sock_spec *spec, int fd)
{
	struct sock_thread *t = &a->thread[thread];
	struct sock_server *s = xcalloc(1, sizeof(*s));

	*s = (struct sock_server){.next = t->servers, .spec = spec, .thread = t, .fd = fd};
	t->servers = s;
	if (spec->tune.udp)
		s->peer = xcalloc(SOCK_HASH, sizeof(struct sock_one *));
	sock_watch(t, fd, EPOLLIN, (uint8_t *)s + SOCK_TAG_SERVER);
}

void sock_adopt(struct sock_arm *a, unsigned thread, const struct sock_spec *spec, int fd,
		const void *first, uint32_t n)
{
	struct sock_thread *t = &a->thread[thread];
	struct sock_order *o = xcalloc(1, sizeof(*o) + n);

	*o = (struct sock_order){.spec = spec, .fd = fd, .n = n};
	if (n > 0)
		memcpy(o->first, first, n);
	pthread_mutex_lock(&t->lock);
	*t->orders_end = o;
	t->orders_end = &o->next;
	pthread_mutex_unlock(&t->lock);
	thread_wake(t);
}

int sock_start(struct sock_arm *a, struct err *e)
{
	sigset_t all, before;
	int rc = 0;

	if (!a->conf.gather) {
		a->go_ns = sock_now_ns();
		a->go = true;
	}
	a->started = true;
	if (a->clients == 0)
		sock_tell(a, SOCK_CONNECTED);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	for (unsigned i = 0; rc == 0 && i < a->conf.threads; i++) {
		struct sock_thread *t = &a->thread[i];
		rc = pthread_create(&t->id, NULL, sock_thread_main, t);
		t->running = rc == 0;
		if (rc == 0 && a->conf.cpu != NULL) {
			cpu_set_t set;
			CPU_ZERO(&set);
			CPU_SET((size_t)a->conf.cpu[i], &set);
			pthread_setaffinity_np(t->id, sizeof(set), &set);
		}
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (rc == 0)
		return 0;
	sock_stop(a);
	return err_set(e, rc, "no further thread can be made: %s", strerror(rc));
}

void sock_go(struct sock_arm *a)
{
	if (a->go)
		return;
	a->go_ns = sock_now_ns();
	__atomic_store_n(&a->go, true, __ATOMIC_RELEASE);
	for (unsigned i = 0; i < a->conf.threads; i++)
		thread_wake(&a->thread[i]);
}

void sock_stop(struct sock_arm *a)
{
	if (a == NULL)
		return;
	__atomic_store_n(&a->stop, true, __ATOMIC_RELEASE);
	for (unsigned i = 0; i < a->conf.threads; i++)
		if (a->thread[i].running)
			thread_wake(&a->thread[i]);
	for (unsigned i = 0; i < a->conf.threads; i++)
		if (a->thread[i].running) {
			pthread_join(a->thread[i].id, NULL);
			a->thread[i].running = false;
		}
}

static void server_free(struct sock_server *s)
{
	close(s->fd);
	free(s->peer);
	free(s);
}

static void thread_free(struct sock_thread *t)
{
	for (struct sock_one *o = t->first; o != NULL; o = o->next)
		sock_close(o, WL_END_ABORTED);
	for (struct sock_one *o = t->first, *next; o != NULL; o = next) {
		next = o->next;
		if (o->l.spec->closes != NULL)
			o->l.spec->closes(&o->l, o->l.spec->arg);
		sock_one_free(o);
	}
	for (struct sock_server *s = t->servers, *next; s != NULL; s = next) {
		next = s->next;
		server_free(s);
	}
	for (struct sock_order *o = t->orders, *next; o != NULL; o = next) {
		next = o->next;
		close(o->fd);
		free(o);
	}
	for (uint32_t i = 0; i < t->ncells; i++)
		free(t->cells[i]);
	free(t->cells);
	free(t->heap);
	free(t->buffer);
	close(t->epoll);
	close(t->wake);
	pthread_mutex_destroy(&t->lock);
}

void sock_free(struct sock_arm *a)
{
	if (a == NULL)
		return;
	sock_stop(a);
	for (unsigned i = 0; i < a->conf.threads; i++)
		thread_free(&a->thread[i]);
	close(a->event_fd);
	pthread_mutex_destroy(&a->lock);
	free(a->thread);
	free(a);
}

/* ---- looking ---- */

unsigned sock_thread_number(const struct sock_thread *t)
{
	return t->number;
}

struct sock_line *sock_line_next(const struct sock_thread *t, const struct sock_line *before)
{
	struct sock_one *o = before == NULL ? t->first : ((const struct sock_one *)before)->next;

	return o == NULL ? NULL : &o->l;
}

void sock_each(struct sock_arm *a, void (*fn)(void *arg, struct sock_line *), void *arg)
{
	for (unsigned i = 0; i < a->conf.threads; i++) {
		struct sock_thread *t = &a->thread[i];
		pthread_mutex_lock(&t->lock);
		for (struct sock_one *o = t->first; o != NULL; o = o->next)
			fn(arg, &o->l);
		pthread_mutex_unlock(&t->lock);
	}
}

bool sock_line_info(const struct sock_line *l, struct sock_info *out)
{
	struct tcp_info i = {0};
	socklen_t n = sizeof(i);
	int unacked = 0;

	if (l->fd < 0 || l->spec->tune.udp || getsockopt(l->fd, IPPROTO_TCP, TCP_INFO, &i, &n) != 0)
		return false;
	(void)ioctl(l->fd, SIOCOUTQ, &unacked);
	*out = (struct sock_info){.retransmits = i.tcpi_total_retrans,
				  .cwnd_bytes = i.tcpi_snd_cwnd * i.tcpi_snd_mss,
				  .rtt_us = i.tcpi_rtt,
				  .rttvar_us = i.tcpi_rttvar,
				  .pmtu = i.tcpi_pmtu,
				  .mss = i.tcpi_snd_mss,
				  .reordering = i.tcpi_reord_seen,
				  .snd_wnd = i.tcpi_snd_wnd,
				  .unacked = (uint32_t)unacked};
	return true;
}

uint64_t sock_line_mapped(const struct sock_line *l)
{
	return cell_get(&((const struct sock_one *)l)->mapped_bytes);
}

uint64_t sock_thread_cpu_ns(const struct sock_arm *a, unsigned thread)
{
	struct timespec ts;
	clockid_t id;

	if (!a->thread[thread].running)
		return a->thread[thread].cpu_ns;
	if (pthread_getcpuclockid(a->thread[thread].id, &id) != 0 || clock_gettime(id, &ts) != 0)
		return 0;
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}
