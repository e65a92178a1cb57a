/* SPDX-License-Identifier: BSD-3-Clause */
/* Questions to the person at the session, for input(). The script looks for the answer again and
 * again and sleeps in between, so that nothing is held up. */
#include "script_int.h"

#include <stdlib.h>

/* ask() asks for a line. It returns false if nobody can answer. */
static int raw_ask(lua_State *L)
{
	struct cmd_own *own = script_of(L)->opts.own;
	bool can = own != NULL && own->can_ask;

	if (can) {
		free(own->answer);
		own->answer = NULL;
		own->asks = true;
	}
	lua_pushboolean(L, can);
	return 1;
}

/* answer() returns the line, or nil as long as there is none. */
static int raw_answer(lua_State *L)
{
	struct cmd_own *own = script_of(L)->opts.own;

	if (own == NULL || own->answer == NULL)
		return 0;
	lua_pushstring(L, own->answer);
	free(own->answer);
	own->answer = NULL;
	return 1;
}

void ask_open(lua_State *L)
{
	lua_pushcfunction(L, raw_ask);
	lua_setfield(L, -2, "ask");
	lua_pushcfunction(L, raw_answer);
	lua_setfield(L, -2, "answer");
}
