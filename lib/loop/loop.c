/* SPDX-License-Identifier: BSD-3-Clause */
/* The poll loop of control. */
#include "loop.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S 1000000000ull

struct watch {
	loop_fd_fn *fn;
	void *arg;
};

struct timer {
	bool used;
	uint64_t due_ns, interval_ns;
	loop_fn *fn;
	void *arg;
};

struct turn {
	loop_fn *fn;
	void *arg;
};

struct loop {
	/* pfd[0] is the signalfd. A removed entry has fd -1 and is taken out between turns, because
	 * a callback may remove any entry while the array is walked. */
	struct pollfd *pfd;
	struct watch *watch;
	unsigned nfds, fd_cap;
	bool holes;
	struct timer *timer;
	unsigned ntimers;
	struct turn *turn;
	unsigned nturns;
	struct {
		loop_sig_fn *fn;
		void *arg;
	} sig[NSIG];
	sigset_t sigs, old;
	bool stopped;
};

static const int loop_signals[] = {SIGINT, SIGTERM, SIGHUP, SIGWINCH, SIGTSTP, SIGCONT};

uint64_t loop_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

static void signals_arrived(void *arg, short revents)
{
	struct loop *l = arg;
	struct signalfd_siginfo si;

	(void)revents;
	while (read(l->pfd[0].fd, &si, sizeof(si)) == (ssize_t)sizeof(si))
		if (si.ssi_signo < NSIG && l->sig[si.ssi_signo].fn != NULL)
			l->sig[si.ssi_signo].fn(l->sig[si.ssi_signo].arg, (int)si.ssi_signo);
}

struct loop *loop_new(void)
{
	struct loop *l = xcalloc(1, sizeof(*l));

	sigemptyset(&l->sigs);
	for (size_t i = 0; i < ARRAY_SIZE(loop_signals); i++)
		sigaddset(&l->sigs, loop_signals[i]);
	int fd = signalfd(-1, &l->sigs, SFD_NONBLOCK | SFD_CLOEXEC);
	if (fd < 0) {
		free(l);
		return NULL;
	}
	pthread_sigmask(SIG_BLOCK, &l->sigs, &l->old);
	loop_fd(l, fd, POLLIN, signals_arrived, l);
	return l;
}

void loop_free(struct loop *l)
{
	if (l == NULL)
		return;
	close(l->pfd[0].fd);
	pthread_sigmask(SIG_SETMASK, &l->old, NULL);
	free(l->pfd);
	free(l->watch);
	free(l->timer);
	free(l->turn);
	free(l);
}

int loop_fd(struct loop *l, int fd, short events, loop_fd_fn *fn, void *arg)
{
	unsigned i;

	if (fd < 0)
		return -EBADF;
	for (i = 0; i < l->nfds && l->pfd[i].fd != fd; i++)
		;
	if (events == 0) {
		if (i < l->nfds) {
			l->pfd[i].fd = -1;
			l->holes = true;
		}
		return 0;
	}
	if (i == l->nfds) {
		if (l->nfds == l->fd_cap) {
			l->fd_cap = l->fd_cap ? 2 * l->fd_cap : 8;
			l->pfd = xrealloc(l->pfd, l->fd_cap * sizeof(*l->pfd));
			l->watch = xrealloc(l->watch, l->fd_cap * sizeof(*l->watch));
		}
		l->nfds++;
		l->pfd[i].revents = 0;
	}
	l->pfd[i].fd = fd;
	l->pfd[i].events = events;
	l->watch[i] = (struct watch){fn, arg};
	return 0;
}

/* Takes removed entries out of the arrays. */
static void loop_squeeze(struct loop *l)
{
	unsigned n = 0;

	for (unsigned i = 0; i < l->nfds; i++) {
		if (l->pfd[i].fd < 0)
			continue;
		l->pfd[n] = l->pfd[i];
		l->watch[n] = l->watch[i];
		n++;
	}
	l->nfds = n;
	l->holes = false;
}

int loop_timer(struct loop *l, uint64_t first_ns, uint64_t interval_ns, loop_fn *fn, void *arg)
{
	unsigned i;

	for (i = 0; i < l->ntimers && l->timer[i].used; i++)
		;
	if (i == l->ntimers)
		l->timer = xrealloc(l->timer, ++l->ntimers * sizeof(*l->timer));
	l->timer[i] = (struct timer){true, loop_now_ns() + first_ns, interval_ns, fn, arg};
	return (int)i;
}

void loop_timer_del(struct loop *l, int id)
{
	if (id >= 0 && (unsigned)id < l->ntimers)
		l->timer[id].used = false;
}

int loop_signal(struct loop *l, int signo, loop_sig_fn *fn, void *arg)
{
	if (sigismember(&l->sigs, signo) != 1)
		return -EINVAL;
	l->sig[signo].fn = fn;
	l->sig[signo].arg = arg;
	return 0;
}

void loop_each_turn(struct loop *l, loop_fn *fn, void *arg)
{
	l->turn = xrealloc(l->turn, (l->nturns + 1) * sizeof(*l->turn));
	l->turn[l->nturns++] = (struct turn){fn, arg};
}

static uint64_t time_to_wait(const struct loop *l, uint64_t max_ns)
{
	uint64_t now = loop_now_ns();

	for (unsigned i = 0; i < l->ntimers; i++) {
		if (!l->timer[i].used)
			continue;
		uint64_t left = l->timer[i].due_ns > now ? l->timer[i].due_ns - now : 0;
		if (left < max_ns)
			max_ns = left;
	}
	return max_ns;
}

static void run_timers(struct loop *l)
{
	uint64_t now = loop_now_ns();

	/* Indexes, not pointers: a callback may add timers and move the array. */
	for (unsigned i = 0; i < l->ntimers; i++) {
		struct timer *t = &l->timer[i];
		if (!t->used || t->due_ns > now)
			continue;
		if (t->interval_ns == 0) {
			t->used = false;
		} else {
			/* After a long gap (the process was stopped) missed deadlines are skipped;
			 * later ones stay where they were. */
			t->due_ns += (1 + (now - t->due_ns) / t->interval_ns) * t->interval_ns;
		}
		t->fn(t->arg);
	}
}

void loop_turn(struct loop *l, uint64_t max_ns)
{
	struct timespec ts, *tsp = NULL;
	uint64_t wait = time_to_wait(l, max_ns);

	if (wait != UINT64_MAX) {
		ts.tv_sec = (time_t)(wait / NS_PER_S);
		ts.tv_nsec = (long)(wait % NS_PER_S);
		tsp = &ts;
	}
	int n = ppoll(l->pfd, l->nfds, tsp, NULL);
	unsigned nfds = l->nfds; /* entries added by callbacks have no result yet */
	for (unsigned i = 0; n > 0 && i < nfds; i++) {
		short revents = l->pfd[i].revents;
		l->pfd[i].revents = 0;
		if (l->pfd[i].fd >= 0 && revents != 0)
			l->watch[i].fn(l->watch[i].arg, revents);
	}
	if (l->holes)
		loop_squeeze(l);
	run_timers(l);
	for (unsigned i = 0; i < l->nturns; i++)
		l->turn[i].fn(l->turn[i].arg);
}

void loop_stop(struct loop *l)
{
	l->stopped = true;
}

bool loop_stopped(const struct loop *l)
{
	return l->stopped;
}

void loop_run(struct loop *l)
{
	while (!l->stopped)
		loop_turn(l, UINT64_MAX);
}

void loop_tcp(int fd)
{
	const int on = 1, idle_s = 30, every_s = 10, probes = 3;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof(idle_s));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &every_s, sizeof(every_s));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof(probes));
}
