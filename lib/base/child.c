/* SPDX-License-Identifier: BSD-3-Clause */
#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static int child_files(const struct child_ask *ask, posix_spawn_file_actions_t *files)
{
	int rc = 0;

	if (ask->out >= 0)
		rc = posix_spawn_file_actions_adddup2(files, ask->out, STDOUT_FILENO);
	if (rc == 0 && ask->err >= 0)
		rc = posix_spawn_file_actions_adddup2(files,
						      ask->err == ask->out ? STDOUT_FILENO
									   : ask->err,
						      STDERR_FILENO);
	if (rc == 0 && ask->no_input)
		rc = posix_spawn_file_actions_addopen(files, STDIN_FILENO, "/dev/null", O_RDONLY,
						      0);
	return rc;
}

int child_start(const struct child_ask *ask, pid_t *pid)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t none, dfl;
	short flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;

	if (posix_spawn_file_actions_init(&files) != 0)
		return ENOMEM;
	if (posix_spawnattr_init(&attr) != 0) {
		posix_spawn_file_actions_destroy(&files);
		return ENOMEM;
	}
	sigemptyset(&none);
	sigemptyset(&dfl);
	sigaddset(&dfl, SIGPIPE);
	if (ask->group) {
		sigfillset(&dfl);
		posix_spawnattr_setpgroup(&attr, 0);
		flags |= POSIX_SPAWN_SETPGROUP;
	}
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setsigdefault(&attr, &dfl);
	posix_spawnattr_setflags(&attr, flags);
	int rc = child_files(ask, &files);
	if (rc == 0)
		rc = posix_spawn(pid, ask->path, &files, &attr, ask->argv, environ);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&files);
	return rc;
}

bool child_over(pid_t pid, int *status)
{
	pid_t got = waitpid(pid, status, WNOHANG);

	if (got < 0 && errno != EINTR) {
		*status = -1;
		return true;
	}
	return got == pid;
}

int child_wait(pid_t pid)
{
	int status = -1;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -1;
	return status;
}
