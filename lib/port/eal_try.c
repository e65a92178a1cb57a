/* SPDX-License-Identifier: BSD-3-Clause */
#include "eal_try.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "dpdk.h"

#define WORKER_FDS 4  /* two pipes between the main lcore and each other one */
#define EAL_FDS 8     /* its interrupt thread, its alarm, its memory; some are for a moment */
#define CAPTURE_FDS 4 /* of two standard streams: where each went, and where it goes now */
#define EAL_THREADS 2

/* Opens descriptors until there are `most` of them or the system refuses one, and closes them
 * again. Returns how many they were. *why: errno of the refusal, 0: there was none. */
static unsigned descriptors_left(unsigned most, int *why)
{
	int *fd = xcalloc(most, sizeof(*fd));
	unsigned n = 0;

	while (n < most && (fd[n] = memfd_create("try", MFD_CLOEXEC)) >= 0)
		n++;
	*why = n < most ? errno : 0;
	for (unsigned i = 0; i < n; i++)
		close(fd[i]);
	free(fd);
	return n;
}

/* A thread that ends as soon as it gets the lock. */
static void *wait_for_end(void *arg)
{
	pthread_mutex_t *end = arg;

	pthread_mutex_lock(end);
	pthread_mutex_unlock(end);
	return NULL;
}

/* Starts threads until there are `most` of them or the system refuses one, and ends them again.
 * Returns how many they were. *why: errno of the refusal, 0: there was none. */
static unsigned threads_left(unsigned most, int *why)
{
	pthread_t *thread = xcalloc(most, sizeof(*thread));
	pthread_mutex_t end = PTHREAD_MUTEX_INITIALIZER;
	unsigned n = 0;

	*why = 0;
	pthread_mutex_lock(&end);
	while (n < most && (*why = pthread_create(&thread[n], NULL, wait_for_end, &end)) == 0)
		n++;
	pthread_mutex_unlock(&end);
	for (unsigned i = 0; i < n; i++)
		pthread_join(thread[i], NULL);
	free(thread);
	return n;
}

/* A limit to suggest to the user, which allows n: a power of two. */
static uint64_t eal_try_enough(uint64_t n)
{
	uint64_t round = 64;

	while (round < n)
		round *= 2;
	return round;
}

int eal_wants_check(const struct eal_wants *w, struct err *e)
{
	unsigned fds = EAL_FDS + w->workers * WORKER_FDS + (unsigned)w->pages +
		       (w->own > CAPTURE_FDS ? w->own : CAPTURE_FDS);
	unsigned threads = EAL_THREADS + w->workers;
	struct rlimit lim;
	int why;

	if (getrlimit(RLIMIT_NOFILE, &lim) == 0 && lim.rlim_cur < lim.rlim_max) {
		lim.rlim_cur = lim.rlim_max;
		setrlimit(RLIMIT_NOFILE, &lim);
	}
	unsigned left = descriptors_left(fds, &why);
	if (why == EMFILE && getrlimit(RLIMIT_NOFILE, &lim) == 0)
		return err_set(
			e, ENODEV,
			"DPDK and the ports need %u file descriptors, and %u are left of the %" PRIu64
			" that this process may have; "
			"`ulimit -n %" PRIu64 "` allows more",
			fds, left, (uint64_t)lim.rlim_cur,
			eal_try_enough(lim.rlim_cur - left + fds));
	if (why != 0 && why != ENOSYS)
		return err_set(
			e, ENODEV,
			"DPDK and the ports need %u file descriptors, and the system gives %u: %s",
			fds, left, strerror(why));
	left = threads_left(threads, &why);
	if (why != 0)
		return err_set(
			e, ENODEV,
			"DPDK needs %u threads, and the system gives %u: %s; `ulimit -u` bounds a user's processes and threads, "
			"`ulimit -v` the memory that their stacks are in, a cgroup's pids.max both",
			threads, left, strerror(why));
	return 0;
}

/* A standard stream that goes to a file while EAL starts. Besides the log that it is given, EAL
 * prints its usage on stdout and alarms on stderr. */
struct captured {
	int fd, keep, file;
};

static void eal_try_capture(struct captured *c, int fd)
{
	*c = (struct captured){.fd = fd, .keep = dup(fd), .file = memfd_create("eal", MFD_CLOEXEC)};
	if (c->keep >= 0 && c->file >= 0)
		dup2(c->file, fd);
}

/* Gives the stream its descriptor back, and what was printed meanwhile to write(). */
static void eal_try_release(struct captured *c,
			    ssize_t (*write)(void *cookie, const char *text, size_t n))
{
	char buf[4096];
	ssize_t n;

	if (c->keep >= 0) {
		dup2(c->keep, c->fd);
		close(c->keep);
	}
	if (c->file < 0)
		return;
	lseek(c->file, 0, SEEK_SET);
	while ((n = read(c->file, buf, sizeof(buf))) > 0)
		write(NULL, buf, (size_t)n);
	close(c->file);
}

static sigjmp_buf before_init;
static pthread_t starter;
static atomic_bool panicked;

/* Handles SIGABRT while EAL starts: DPDK's panic logs its reason and aborts. On the thread that
 * starts EAL we go back to before the start. Any other thread stays here; the process ends soon. */
static void on_abort(int signo)
{
	(void)signo;
	atomic_store(&panicked, true);
	if (pthread_equal(pthread_self(), starter))
		siglongjmp(before_init, 1);
	for (;;)
		pause();
}

/* Newer versions of EAL call exit() at an option that they do not know, and what they have said
 * about it would be lost. So this exit() takes the place of the C library's: while EAL starts, on
 * the thread that starts it, it goes back to before the start. At all other times it calls the
 * library's. */
static atomic_bool starting;

void exit(int status)
{
	if (atomic_load(&starting) && pthread_equal(pthread_self(), starter)) {
		rte_errno = EINVAL;
		siglongjmp(before_init, 1);
	}
	void (*leave)(int) = NULL;
	*(void **)&leave = dlsym(RTLD_NEXT, "exit");
	if (leave != NULL)
		leave(status);
	_exit(status);
}

/* Returns what rte_eal_init() returns; -1 after a panic or an exit(). */
static int init_or_panic(int argc, char **argv)
{
	const struct sigaction sa = {.sa_handler = on_abort};
	struct sigaction old;
	volatile int rc = -1;

	starter = pthread_self();
	sigaction(SIGABRT, &sa, &old);
	if (sigsetjmp(before_init, 1) == 0) {
		atomic_store(&starting, true);
		rc = rte_eal_init(argc, argv);
	}
	atomic_store(&starting, false);
	sigaction(SIGABRT, &old, NULL);
	return rc;
}

int eal_try(int argc, char **argv, ssize_t (*write)(void *cookie, const char *text, size_t n),
	    bool *panic)
{
	struct captured out, err;
	FILE *log = fopencookie(NULL, "w", (cookie_io_functions_t){.write = write});

	if (log != NULL) {
		setvbuf(log, NULL, _IOLBF, 0);
		rte_openlog_stream(log);
	}
	fflush(stdout);
	fflush(stderr);
	eal_try_capture(&out, STDOUT_FILENO);
	eal_try_capture(&err, STDERR_FILENO);
	int rc = init_or_panic(argc, argv);
	fflush(stdout);
	fflush(stderr);
	eal_try_release(&out, write);
	eal_try_release(&err, write);
	*panic = atomic_load(&panicked);
	return rc;
}
