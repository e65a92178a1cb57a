/* SPDX-License-Identifier: BSD-3-Clause */
#include "writer.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "ctl_int.h"

/* Workers do not wake the thread, which would be a system call. It looks again after a time that is
 * short while there is something to do. */
#define LOOK_NS 1000000ull
#define LOOK_IDLE_NS 5000000ull
#define IDLE_TURNS 100
#define HANG_S 3 /* at its end the thread is given up when it hangs for so long */

struct writer {
	pthread_t id;
	pthread_mutex_t lock; /* held for moments, never during a turn of a client */
	pthread_cond_t kicked;
	struct writer_client *first;
	bool kick, end;
	int wake_fd; /* a copy of control's, which may be gone first */
};

void writer_tell(const struct writer *t)
{
	uint64_t one = 1;

	(void)!write(t->wake_fd, &one, sizeof(one));
}

/* Waits until somebody kicks or ns have passed. The lock is held. */
static void writer_wait(struct writer *t, uint64_t ns)
{
	struct timespec at;

	clock_gettime(CLOCK_MONOTONIC, &at);
	ns += (uint64_t)at.tv_nsec;
	at.tv_sec += (time_t)(ns / 1000000000);
	at.tv_nsec = (long)(ns % 1000000000);
	while (!t->kick && pthread_cond_timedwait(&t->kicked, &t->lock, &at) == 0)
		;
	t->kick = false;
}

/* Asks each client once. The lock is held at the begin and at the end, and not in between: control
 * adds clients only at the head of the list. Returns whether one had something to do. */
static bool writer_round(struct writer *t)
{
	struct writer_client **at = &t->first, *c;
	bool moved = false;

	while ((c = *at) != NULL) {
		pthread_mutex_unlock(&t->lock);
		enum writer_turn did = c->turn(c);
		pthread_mutex_lock(&t->lock);
		moved |= did != WRITER_IDLE;
		if (did != WRITER_DONE) {
			at = &c->next;
			continue;
		}
		for (at = &t->first; *at != c; at = &(*at)->next)
			;
		*at = c->next;
		__atomic_store_n(&c->over, true, __ATOMIC_RELEASE);
		writer_tell(t);
	}
	return moved;
}

static void *writer_main(void *arg)
{
	struct writer *t = arg;
	unsigned idle = 0;

	pthread_mutex_lock(&t->lock);
	while (t->first != NULL || !t->end) {
		idle = writer_round(t) ? 0 : idle + 1;
		if (t->first == NULL && !t->end)
			writer_wait(t, 3600 * 1000000000ull);
		else if (idle > 0)
			writer_wait(t, idle > IDLE_TURNS ? LOOK_IDLE_NS : LOOK_NS);
	}
	pthread_mutex_unlock(&t->lock);
	return NULL;
}

struct writer *ctl_writer(struct ctl *c, struct err *e)
{
	struct writer *t = c->writer;
	pthread_condattr_t attr;
	sigset_t all, was;

	if (t != NULL)
		return t;
	t = xcalloc(1, sizeof(*t));
	t->wake_fd = fcntl(c->wake_fd, F_DUPFD_CLOEXEC, 0);
	pthread_mutex_init(&t->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&t->kicked, &attr);
	pthread_condattr_destroy(&attr);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &was);
	int rc = pthread_create(&t->id, NULL, writer_main, t);
	pthread_sigmask(SIG_SETMASK, &was, NULL);
	if (rc == 0) {
		pthread_setname_np(t->id, "writer");
		c->writer = t;
		return t;
	}
	pthread_cond_destroy(&t->kicked);
	pthread_mutex_destroy(&t->lock);
	close(t->wake_fd);
	free(t);
	err_set(e, ENODEV, "the thread that writes files of frames cannot be started: %s",
		strerror(rc));
	return NULL;
}

void writer_add(struct writer *t, struct writer_client *c)
{
	pthread_mutex_lock(&t->lock);
	c->over = false;
	c->next = t->first;
	t->first = c;
	t->kick = true;
	pthread_cond_signal(&t->kicked);
	pthread_mutex_unlock(&t->lock);
}

bool writer_over(const struct writer_client *c)
{
	return __atomic_load_n(&c->over, __ATOMIC_ACQUIRE);
}

void writer_kick(struct writer *t)
{
	pthread_mutex_lock(&t->lock);
	t->kick = true;
	pthread_cond_signal(&t->kicked);
	pthread_mutex_unlock(&t->lock);
}

bool writer_end(struct ctl *c)
{
	struct writer *t = c->writer;
	struct timespec at;

	if (t == NULL)
		return true;
	pthread_mutex_lock(&t->lock);
	t->end = t->kick = true;
	pthread_cond_signal(&t->kicked);
	pthread_mutex_unlock(&t->lock);
	clock_gettime(CLOCK_REALTIME, &at);
	at.tv_sec += HANG_S;
	if (pthread_timedjoin_np(t->id, NULL, &at) != 0)
		return false;
	pthread_cond_destroy(&t->kicked);
	pthread_mutex_destroy(&t->lock);
	close(t->wake_fd);
	free(t);
	c->writer = NULL;
	return true;
}
