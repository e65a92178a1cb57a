/* SPDX-License-Identifier: BSD-3-Clause */
/* Looks ten times a second whether a signal waits that nobody takes. */
#include "watchdog.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#define LOOKS 20
#define LOOK_NS 100000000l
#define STACK_BYTES (256u << 10)

struct watchdog {
	int fd; /* a signalfd, only to wait until a signal is pending: the loop takes it */
	sigset_t signals;
	int interrupt;
	void (*end)(int signo);
};
static atomic_bool kept;  /* an interrupt was taken and is to be given back */
static atomic_uint turns; /* turns that the loop has made */
static pthread_t watcher;
static bool watches;

static void on_turn(void *arg)
{
	(void)arg;
	atomic_fetch_add_explicit(&turns, 1, memory_order_relaxed);
}

/* A signal of the set that is pending; 0: none is. */
static int watchdog_pending(const sigset_t *signals)
{
	sigset_t now;

	sigpending(&now);
	for (int signo = 1; signo < NSIG; signo++)
		if (sigismember(signals, signo) == 1 && sigismember(&now, signo) == 1)
			return signo;
	return 0;
}

void watchdog_give_back(void)
{
	if (atomic_exchange(&kept, false))
		kill(getpid(), SIGINT); /* it is blocked, so it becomes pending */
}

/* Takes the interrupt that is pending and remembers it. As long as it is pending, a second one
 * would leave no trace. */
static void watchdog_keep(const sigset_t *interrupt)
{
	const struct timespec now = {0};

	atomic_store(&kept, true);
	if (sigtimedwait(interrupt, NULL, &now) < 0)
		atomic_store(&kept, false); /* the loop was faster */
}

static void *watchdog_watch(void *arg)
{
	const struct timespec look = {.tv_nsec = LOOK_NS};
	const struct watchdog *g = arg;
	struct pollfd p = {.fd = g->fd, .events = POLLIN};
	unsigned looks = 0, interrupt_looks = 0, before = 0;
	sigset_t interrupt;

	sigemptyset(&interrupt);
	if (g->interrupt != 0)
		sigaddset(&interrupt, g->interrupt);
	for (;;) {
		if (looks == 0 && interrupt_looks == 0 && !atomic_load(&kept))
			poll(&p, 1, -1);
		nanosleep(&look, NULL);
		/* looks are counted and not time: a process that is stopped cannot answer */
		int signo = watchdog_pending(&g->signals), again = watchdog_pending(&interrupt);
		looks = signo != 0 ? looks + 1 : 0;
		interrupt_looks = again != 0 ? interrupt_looks + 1 : 0;
		if (looks >= LOOKS || (again != 0 && atomic_load(&kept)))
			g->end(signo != 0 ? signo : again);
		unsigned now = atomic_load_explicit(&turns, memory_order_relaxed);
		if (interrupt_looks >= LOOKS) {
			watchdog_keep(&interrupt);
			before = now;
			interrupt_looks = 0;
		} else if (now != before) {
			watchdog_give_back();
		}
	}
	return NULL;
}

int watchdog_start(struct loop *l, const sigset_t *signals, int interrupt, void (*end)(int signo))
{
	struct watchdog *g = xcalloc(1, sizeof(*g));
	sigset_t all = *signals;
	pthread_attr_t attr;

	if (interrupt != 0)
		sigaddset(&all, interrupt);
	*g = (struct watchdog){.fd = signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK),
			       .signals = *signals,
			       .interrupt = interrupt,
			       .end = end};
	if (g->fd < 0) {
		int rc = -errno;
		free(g);
		return rc;
	}
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	int rc = -pthread_create(&watcher, &attr, watchdog_watch, g);
	pthread_attr_destroy(&attr);
	if (rc != 0) {
		close(g->fd);
		free(g);
		return rc;
	}
	watches = true;
	loop_each_turn(l, on_turn, NULL);
	return 0;
}

void watchdog_come_along(void)
{
	cpu_set_t cpus;

	if (watches && pthread_getaffinity_np(pthread_self(), sizeof(cpus), &cpus) == 0)
		pthread_setaffinity_np(watcher, sizeof(cpus), &cpus);
}
