/* SPDX-License-Identifier: BSD-3-Clause */
/* os.execute(). The program blocks the signals that it waits for, and a command would inherit that.
 * Here the command gets an empty signal mask, so that signals reach it. */
#include "script_int.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* Starts a shell with this text: 0 or an errno. */
static int execute_start(const char *text, pid_t *pid)
{
	char *const argv[] = {"sh", "-c", (char *)text, NULL};
	posix_spawnattr_t attr;
	sigset_t none, dfl;

	int rc = posix_spawnattr_init(&attr);
	if (rc != 0)
		return rc;
	sigemptyset(&none);
	sigemptyset(&dfl);
	sigaddset(&dfl, SIGPIPE); /* the program ignores it, the command is not to */
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setsigdefault(&attr, &dfl);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	rc = posix_spawn(pid, "/bin/sh", NULL, &attr, argv, environ);
	posix_spawnattr_destroy(&attr);
	return rc;
}

/* execute(command) returns what system() does: the status of the command as wait() gives it, or -1
 * if it could not be started. Without a command it says whether there is a shell. */
static int execute_it(lua_State *L)
{
	const char *text = luaL_optstring(L, 1, NULL);
	int status = -1;
	pid_t pid;

	if (text == NULL) {
		lua_pushinteger(L, access("/bin/sh", X_OK) == 0);
		return 1;
	}
	if (execute_start(text, &pid) == 0)
		while (waitpid(pid, &status, 0) < 0)
			if (errno != EINTR) {
				status = -1;
				break;
			}
	lua_pushinteger(L, status);
	return 1;
}

void execute_open(lua_State *L)
{
	lua_getglobal(L, "os");
	lua_pushcfunction(L, execute_it);
	lua_setfield(L, -2, "execute");
	lua_pop(L, 1);
}
