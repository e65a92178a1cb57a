/* SPDX-License-Identifier: BSD-3-Clause */
/* What a chunk may reach: everything of Lua, or only what cannot leave the state. */
#include "script_int.h"

#include <stdlib.h>
#include <string.h>

/* Where require() looks: the script's folder first, then the user's, then what came with the program. */
void sandbox_path(lua_State *L, struct script *s)
{
	const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
	struct sbuf path = {0};

	if (s->folder != NULL)
		sbuf_addf(&path, "%s/?.lua;%s/?/init.lua;", s->folder, s->folder);
	if (config != NULL && config[0] == '/')
		sbuf_addf(&path, "%s/wirerate/lua/?.lua;", config);
	else if (home != NULL && home[0] == '/')
		sbuf_addf(&path, "%s/.config/wirerate/lua/?.lua;", home);
	if (s->lua_dir != NULL)
		sbuf_addf(&path, "%s/?.lua;", s->lua_dir);
	lua_getglobal(L, "package");
	lua_getfield(L, LUA_REGISTRYINDEX, "wirerate.path");
	const char *rest = lua_tostring(L, -1);
	sbuf_add(&path, rest != NULL ? rest : "");
	lua_pop(L, 1);
	lua_pushlstring(L, sbuf_str(&path), path.len);
	lua_setfield(L, -2, "path");
	lua_pop(L, 1);
	sbuf_free(&path);
}

void sandbox_open(lua_State *L, struct script *s)
{
	lua_getglobal(L, "package");
	lua_getfield(L, -1, "path");
	lua_setfield(L, LUA_REGISTRYINDEX, "wirerate.path");
	lua_pop(L, 1);
	sandbox_path(L, s);
}
