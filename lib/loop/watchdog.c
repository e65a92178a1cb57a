/* SPDX-License-Identifier: BSD-3-Clause */
#include "watchdog.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#define LOOKS 20
#define LOOK_NS 100000000l
#define STACK_BYTES (256u << 10)

struct watchdog {
	int fd; /* tells that one is pending; the loop takes it */
	sigset_t signals;
	void (*end)(int signo);
};

/* 0: none */
static int pending(const struct watchdog *g)
{
	sigset_t now;

	sigpending(&now);
	for (int signo = 1; signo < NSIG; signo++)
		if (sigismember(&g->signals, signo) == 1 && sigismember(&now, signo) == 1)
			return signo;
	return 0;
}

static void *watch(void *arg)
{
	const struct timespec look = {.tv_nsec = LOOK_NS};
	const struct watchdog *g = arg;
	struct pollfd p = {.fd = g->fd, .events = POLLIN};
	int signo;

	for (unsigned looks = 0;;) {
		if (looks == 0)
			poll(&p, 1, -1);
		nanosleep(&look, NULL);
		signo = pending(g);
		/* looks are counted, not time: of a process that was stopped nobody expects an answer */
		looks = signo != 0 ? looks + 1 : 0;
		if (looks >= LOOKS)
			g->end(signo);
	}
	return NULL;
}

int watchdog_start(const sigset_t *signals, void (*end)(int signo))
{
	struct watchdog *g = xcalloc(1, sizeof(*g));
	pthread_attr_t attr;
	pthread_t thread;

	*g = (struct watchdog){.fd = signalfd(-1, signals, SFD_CLOEXEC | SFD_NONBLOCK), .signals = *signals, .end = end};
	if (g->fd < 0) {
		int rc = -errno;
		free(g);
		return rc;
	}
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	int rc = -pthread_create(&thread, &attr, watch, g);
	pthread_attr_destroy(&attr);
	if (rc != 0) {
		close(g->fd);
		free(g);
	}
	return rc;
}
