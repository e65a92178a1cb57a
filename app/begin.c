/* SPDX-License-Identifier: BSD-3-Clause */
#include "begin.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ui/tty.h"
#include "userfile.h"
#include "visible.h"
#include "watchdog.h"

void begin_std_fds(void)
{
	/* Standard output is opened for reading, so that writing results to it fails with an error.
	 * A closed standard output must not lose them silently. */
	static const int how[] = {
		[STDIN_FILENO] = O_RDONLY, [STDOUT_FILENO] = O_RDONLY, [STDERR_FILENO] = O_WRONLY};

	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
			/* takes the lowest number that is free */
			(void)!open("/dev/null", how[fd]);
}

static bool not_ignored(int signo)
{
	struct sigaction old;

	return sigaction(signo, NULL, &old) == 0 && old.sa_handler != SIG_IGN;
}

/* Starts the watchdog, so that signals which are to end the program do so even while the loop
 * stands still. SIGHUP does not end a program that serves, and at a prompt SIGINT ends nothing. */
static int listen_anyway(struct loop *l, bool interactive, bool serves)
{
	sigset_t set;

	sigemptyset(&set);
	if (not_ignored(SIGTERM))
		sigaddset(&set, SIGTERM);
	if (!serves && not_ignored(SIGHUP))
		sigaddset(&set, SIGHUP);
	return watchdog_start(l, &set, !interactive && not_ignored(SIGINT) ? SIGINT : 0,
			      tty_die_at_once);
}

struct loop *begin_loop(bool interactive, bool serves)
{
	struct loop *l = loop_new();
	int rc = l == NULL ? -errno : listen_anyway(l, interactive, serves);

	if (rc == 0)
		return l;
	const char *hint = rc == -EMFILE   ? "; `ulimit -n 64` allows more"
			   : rc == -EAGAIN ? "; `ulimit -u` bounds a user's processes and threads"
					   : "";
	visible_print(stderr, "wirerate: cannot %s: %s%s\n",
		      rc == -EAGAIN ? "start a thread" : "make an event loop", strerror(-rc), hint);
	loop_free(l);
	return NULL;
}

/* Tells the program that it was started anew, and behind a 1 where what pipes have said is. */
#define AGAIN "WIRERATE_SMALL_PAGES"

void begin_again(char *const *argv)
{
	struct sbuf said = {0};
	sigset_t none, was;

	sbuf_add(&said, "1");
	bool ready = userfile_pipes_pass(&said) && setenv(AGAIN, said.s, 1) == 0;
	sbuf_free(&said);
	if (!ready)
		return;
	fflush(NULL);
	/* the loop has blocked some, and the new program would never get them */
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, &was);
	execv("/proc/self/exe", argv);
	int code = errno;
	sigprocmask(SIG_SETMASK, &was, NULL);
	unsetenv(AGAIN);
	errno = code;
}

bool begin_is_again(void)
{
	const char *again = getenv(AGAIN);

	if (again == NULL)
		return false;
	if (*again != '\0')
		userfile_pipes_take(again + 1);
	unsetenv(AGAIN); /* it is no business of what we start */
	return true;
}
