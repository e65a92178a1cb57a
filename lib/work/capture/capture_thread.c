/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture_thread.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Workers do not wake the thread, which would be a system call. It looks again after a time that is
 * short while there is something to do. */
#define LOOK_NS 1000000ull
#define LOOK_IDLE_NS 5000000ull
#define IDLE_TURNS 100

struct capture_thread {
	pthread_t id;
	pthread_mutex_t lock; /* held for moments, never during a turn of a client */
	pthread_cond_t kicked;
	struct capture_client *first;
	bool kick, end;
	const int *wake_fd;
};

void capture_thread_tell(const struct capture_thread *t)
{
	uint64_t one = 1;

	(void)!write(*t->wake_fd, &one, sizeof(one));
}

/* Waits until somebody kicks or ns have passed. The lock is held. */
static void thread_wait(struct capture_thread *t, uint64_t ns)
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
static bool thread_round(struct capture_thread *t)
{
	struct capture_client **at = &t->first, *c;
	bool moved = false;

	while ((c = *at) != NULL) {
		pthread_mutex_unlock(&t->lock);
		enum capture_turn did = c->turn(c);
		pthread_mutex_lock(&t->lock);
		moved |= did != CAPTURE_IDLE;
		if (did != CAPTURE_DONE) {
			at = &c->next;
			continue;
		}
		for (at = &t->first; *at != c; at = &(*at)->next)
			;
		*at = c->next;
		__atomic_store_n(&c->over, true, __ATOMIC_RELEASE);
		capture_thread_tell(t);
	}
	return moved;
}

static void *thread_main(void *arg)
{
	struct capture_thread *t = arg;
	unsigned idle = 0;

	pthread_mutex_lock(&t->lock);
	while (t->first != NULL || !t->end) {
		idle = thread_round(t) ? 0 : idle + 1;
		if (t->first == NULL && !t->end)
			thread_wait(t, 3600 * 1000000000ull);
		else if (idle > 0)
			thread_wait(t, idle > IDLE_TURNS ? LOOK_IDLE_NS : LOOK_NS);
	}
	pthread_mutex_unlock(&t->lock);
	return NULL;
}

struct capture_thread *capture_thread_start(const int *wake_fd, struct err *e)
{
	struct capture_thread *t = xcalloc(1, sizeof(*t));
	pthread_condattr_t attr;
	sigset_t all, was;

	t->wake_fd = wake_fd;
	pthread_mutex_init(&t->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&t->kicked, &attr);
	pthread_condattr_destroy(&attr);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &was);
	int rc = pthread_create(&t->id, NULL, thread_main, t);
	pthread_sigmask(SIG_SETMASK, &was, NULL);
	if (rc == 0) {
		pthread_setname_np(t->id, "capture");
		return t;
	}
	pthread_cond_destroy(&t->kicked);
	pthread_mutex_destroy(&t->lock);
	free(t);
	err_set(e, ENODEV, "the thread that writes captures cannot be started: %s", strerror(rc));
	return NULL;
}

void capture_thread_add(struct capture_thread *t, struct capture_client *c)
{
	pthread_mutex_lock(&t->lock);
	c->over = false;
	c->next = t->first;
	t->first = c;
	t->kick = true;
	pthread_cond_signal(&t->kicked);
	pthread_mutex_unlock(&t->lock);
}

bool capture_client_over(const struct capture_client *c)
{
	return __atomic_load_n(&c->over, __ATOMIC_ACQUIRE);
}

void capture_thread_kick(struct capture_thread *t)
{
	pthread_mutex_lock(&t->lock);
	t->kick = true;
	pthread_cond_signal(&t->kicked);
	pthread_mutex_unlock(&t->lock);
}

bool capture_thread_end(struct capture_thread *t, uint64_t max_ns)
{
	struct timespec at;

	pthread_mutex_lock(&t->lock);
	t->end = t->kick = true;
	pthread_cond_signal(&t->kicked);
	pthread_mutex_unlock(&t->lock);
	clock_gettime(CLOCK_REALTIME, &at);
	max_ns += (uint64_t)at.tv_nsec;
	at.tv_sec += (time_t)(max_ns / 1000000000);
	at.tv_nsec = (long)(max_ns % 1000000000);
	if (pthread_timedjoin_np(t->id, NULL, &at) != 0)
		return false;
	pthread_cond_destroy(&t->kicked);
	pthread_mutex_destroy(&t->lock);
	free(t);
	return true;
}
