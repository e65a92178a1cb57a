/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of hosts, asked for on a thread of their own: a name server may take its time. */
#include "sock_ask.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct sock_ask {
	struct loop *loop;
	sock_answer_fn *fn;
	void *arg;
	unsigned n;
	char *host[SOCK_ASK_MOST];
	struct sock_question q[SOCK_ASK_MOST];
	struct sock_answer a[SOCK_ASK_MOST];
	struct err err;
	int rc, wake;
	/* The thread, and whoever waits for it. */
	int owners;
};

static void ask_leave(struct sock_ask *k)
{
	if (__atomic_sub_fetch(&k->owners, 1, __ATOMIC_ACQ_REL) > 0)
		return;
	for (unsigned i = 0; i < k->n; i++)
		free(k->host[i]);
	close(k->wake);
	free(k);
}

static void ask_all(struct sock_ask *k)
{
	int family = AF_UNSPEC;

	for (unsigned i = 0; i < k->n && k->rc >= 0; i++) {
		const struct sock_question *q = &k->q[i];
		int of = q->as_first && family != AF_UNSPEC ? family : q->family;
		k->rc = sock_resolve(q->host, q->port, of, k->a[i].addr, q->most, &k->err);
		k->a[i].n = k->rc > 0 ? (unsigned)k->rc : 0;
		if (i == 0 && k->rc > 0)
			family = k->a[0].addr[0].sa.any.sa_family;
	}
}

static void *ask_main(void *arg)
{
	struct sock_ask *k = arg;
	const uint64_t one = 1;

	ask_all(k);
	(void)!write(k->wake, &one, sizeof(one));
	ask_leave(k);
	return NULL;
}

static void ask_answered(void *arg, short revents)
{
	struct sock_ask *k = arg;
	uint64_t one;

	(void)revents;
	(void)!read(k->wake, &one, sizeof(one)); /* what the thread wrote before is seen now */
	loop_fd(k->loop, k->wake, 0, NULL, NULL);
	k->fn(k->arg, k->rc < 0 ? NULL : k->a, &k->err);
	ask_leave(k);
}

static int ask_thread(struct sock_ask *k)
{
	pthread_attr_t detached;
	sigset_t all, before;
	pthread_t id;
	int rc;

	pthread_attr_init(&detached);
	pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(&id, &detached, ask_main, k);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&detached);
	return rc;
}

struct sock_ask *sock_ask(struct loop *loop, const struct sock_question *q, unsigned n,
			  sock_answer_fn *fn, void *arg, struct err *e)
{
	struct sock_ask *k = xcalloc(1, sizeof(*k));
	int rc;

	*k = (struct sock_ask){.loop = loop, .fn = fn, .arg = arg, .n = n, .owners = 2};
	for (unsigned i = 0; i < n; i++) {
		k->host[i] = xstrdup(q[i].host);
		k->q[i] = q[i];
		k->q[i].host = k->host[i];
	}
	k->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	rc = k->wake < 0 ? errno : ask_thread(k);
	if (rc == 0) {
		loop_fd(loop, k->wake, POLLIN, ask_answered, k);
		return k;
	}
	err_set(e, rc, "the name '%s' cannot be asked for: %s", q[n - 1].host, strerror(rc));
	k->owners = 1;
	ask_leave(k);
	return NULL;
}

void sock_ask_end(struct sock_ask *k)
{
	if (k == NULL)
		return;
	loop_fd(k->loop, k->wake, 0, NULL, NULL);
	ask_leave(k);
}
