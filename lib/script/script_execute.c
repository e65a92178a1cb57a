/* SPDX-License-Identifier: BSD-3-Clause */
/* os.execute(). The program blocks the signals that it waits for, and a command would inherit that.
 * Here signals reach it. */
#include "script_int.h"

#include <unistd.h>

#include "child.h"

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
	const struct child_ask ask = {.path = "/bin/sh",
				      .argv = (char *[]){"sh", "-c", (char *)(uintptr_t)text, NULL},
				      .out = -1,
				      .err = -1};
	if (child_start(&ask, &pid) == 0)
		status = child_wait(pid);
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
