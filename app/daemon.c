/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon.h"
#include "visible.h"
#include "userfile.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

struct daemon {
	int fd; /* of the pipe to the parent */
};

/* Waits until the child has written a byte, which says that it is ready, or has ended. Returns the
 * exit code for the parent: 0, or the child's own. */
static int wait_child(int fd, pid_t pid)
{
	char byte;
	ssize_t n;
	int status = 0;

	do
		n = read(fd, &byte, 1);
	while (n < 0 && errno == EINTR);
	if (n == 1)
		return 0;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (!WIFSIGNALED(status))
		return WEXITSTATUS(status);
	visible_print(stderr, "wirerate: the daemon was ended by signal %d before it was ready\n",
		      WTERMSIG(status));
	return 128 + WTERMSIG(status);
}

void daemon_close_fds(void)
{
	(void)!close_range(STDERR_FILENO + 1, ~0u, 0);
}

static void to_null(int fd, int flags)
{
	int null = open("/dev/null", flags | O_CLOEXEC);

	if (null >= 0) {
		dup2(null, fd);
		close(null);
	}
}

int daemon_fork(struct daemon **out, int *code, struct err *e)
{
	int fd[2];

	*out = NULL;
	if (pipe2(fd, O_CLOEXEC) != 0)
		return err_set(e, errno, "cannot make a daemon: %m");
	fflush(NULL);
	pid_t pid = fork();
	if (pid < 0) {
		int rc = err_set(e, errno, "cannot make a daemon: %m");
		close(fd[0]);
		close(fd[1]);
		return rc;
	}
	if (pid > 0) {
		close(fd[1]);
		*code = wait_child(fd[0], pid);
		close(fd[0]);
		return 1;
	}
	close(fd[0]);
	setsid();
	to_null(STDIN_FILENO, O_RDONLY);
	*out = xcalloc(1, sizeof(**out));
	(*out)->fd = fd[1];
	return 0;
}

bool daemon_ready(struct daemon *d)
{
	if (d == NULL)
		return true;
	fflush(NULL);
	bool heard = write(d->fd, "", 1) == 1;
	if (heard) {
		to_null(STDOUT_FILENO, O_WRONLY);
		to_null(STDERR_FILENO, O_WRONLY);
	}
	close(d->fd);
	d->fd = -1;
	return heard;
}

void daemon_free(struct daemon *d)
{
	if (d == NULL)
		return;
	if (d->fd >= 0)
		close(d->fd);
	free(d);
}

/* Opens and locks the file. Its last owner may have removed it between the opening and the lock;
 * then the lock is on a file that has no name any more, and it is opened anew. */
static int open_locked(const char *path, struct err *e)
{
	struct stat a, b;

	for (;;) {
		const char *why;
		int fd = userfile_open(path, O_RDWR | O_CREAT | O_NOFOLLOW, 0644, &why);
		if (fd < 0)
			return err_set(e, -fd,
				       "file of the process's number: cannot write '%.400s': %s",
				       path, why);
		if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
			close(fd);
			return err_set(
				e, EBUSY,
				"file of the process's number: '%.400s' belongs to a program that runs",
				path);
		}
		if (fstat(fd, &a) == 0 && lstat(path, &b) == 0 && a.st_ino == b.st_ino &&
		    a.st_dev == b.st_dev)
			return fd;
		close(fd);
	}
}

/* Refuses a file whose content is neither empty nor a number. Such a file was not left by a process
 * with this option, so the user has named it by mistake. */
static int check_replaceable(int fd, const char *path, struct err *e)
{
	char text[32];
	ssize_t n = pread(fd, text, sizeof(text), 0), digits = 0;

	if (n < 0)
		return err_set(e, errno, "file of the process's number: cannot read '%.400s': %m",
			       path);
	while (digits < n && text[digits] >= '0' && text[digits] <= '9')
		digits++;
	if (n == 0 || (digits > 0 && (digits == n || (digits + 1 == n && text[digits] == '\n')) &&
		       n < (ssize_t)sizeof(text)))
		return 0;
	return err_set(
		e, EEXIST,
		"file of the process's number: '%.400s' holds something else than the number of a process, and is left as it is; "
		"give another name, or remove it",
		path);
}

int pid_file_make(const char *path, struct err *e)
{
	int fd = open_locked(path, e), rc = 0;

	if (fd < 0)
		return fd;
	rc = check_replaceable(fd, path, e);
	if (rc == 0 && (ftruncate(fd, 0) != 0 || dprintf(fd, "%ld\n", (long)getpid()) < 0))
		rc = err_set(e, errno, "file of the process's number: cannot write '%.400s': %m",
			     path);
	if (rc == 0)
		return fd;
	close(fd);
	return rc;
}

void pid_file_remove(int fd, const char *path)
{
	if (fd < 0)
		return;
	unlink(path);
	close(fd);
}
