/* SPDX-License-Identifier: BSD-3-Clause */
/* The end of a state. A stranger's chunk may have used much memory, and control would be held up
 * while that is freed, so a thread does it. */
#include "script_int.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#define LITTLE_BYTES ((size_t)1 << 20) /* less memory than this is freed without a thread */
#define NICE 5                         /* the thread's nice value: control goes first */

struct script_closer {
	pthread_t thread;
	lua_State *L;
	atomic_bool done;
};

/* The thread that is closing a state; NULL: none. There is one at a time, because several would
 * take more of the CPU that control runs on. Only the thread of the scripts uses this. */
static struct script_closer *at_work;

/* Ends all that belongs to the script. From then on nothing of it but finalizers can run. */
static void leave_state(struct script *s)
{
	script_drop_all(s);
	s->note = &s->spare;
	script_run_at_end(s);
	s->limited = false;
	hold_end(s);
	hold_floor(s);
	if (s->alloc != NULL)
		lua_setallocf(s->L, s->alloc, s->alloc_arg);
}

static void *close_state(void *arg)
{
	struct script_closer *c = arg;

	setpriority(PRIO_PROCESS, (id_t)gettid(), NICE);
	lua_close(c->L);
	atomic_store_explicit(&c->done, true, memory_order_release);
	return NULL;
}

/* Starts the thread, with all signals blocked. Returns 0, or -errno if it cannot be started. */
static int close_start(struct script_closer *c)
{
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	int rc = -pthread_create(&c->thread, NULL, close_state, c);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return rc;
}

static void close_join(struct script *s)
{
	pthread_join(s->closer->thread, NULL);
	at_work = NULL;
	free(s->closer);
	s->closer = NULL;
}

bool script_let_go(struct script *s)
{
	if (s == NULL)
		return true;
	if (s->closer != NULL) {
		if (!atomic_load_explicit(&s->closer->done, memory_order_acquire))
			return false;
		close_join(s);
		return true;
	}
	/* The thread may only touch memory. That is sure in the sandbox alone, where scripts have
	 * no finalizers. */
	if (s->L == NULL || !s->opts.sandbox || s->used_bytes < LITTLE_BYTES)
		return true;
	if (at_work != NULL)
		return false;
	leave_state(s);
	struct script_closer *c = xcalloc(1, sizeof(*c));
	c->L = s->L;
	s->L = NULL;
	if (close_start(c) < 0) {
		lua_close(c->L);
		free(c);
		return true;
	}
	s->closer = at_work = c;
	return false;
}

void script_free(struct script *s)
{
	if (s == NULL)
		return;
	if (s->closer != NULL)
		close_join(s);
	if (s->L != NULL) {
		leave_state(s);
		lua_close(s->L);
	}
	json_decref(s->results);
	sbuf_free(&s->spare);
	sbuf_free(&s->warned);
	free(s->lua_dir);
	free(s->folder);
	free(s);
}
