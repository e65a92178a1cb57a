/* SPDX-License-Identifier: BSD-3-Clause */
/* loadfile(), dofile() and require(). They open files as the program opens all files that users
 * name: only regular files are taken, so that a pipe cannot hold up the program. The functions of
 * `io` are Lua's own: a script that opens a pipe with them means to wait. */
#include "script_dialect.h"
#include "script_int.h"
#include "userfile.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* Does what luaL_loadfilex() does: pushes the chunk and returns 0, or pushes a message and returns
 * the kind of the error. mode is that of load(); NULL: text and compiled chunks. */
static int load_path(lua_State *L, const char *path, const char *mode)
{
	const struct userfile_kind kind = {.guess = "no script has more",
					   .most_bytes = SCRIPT_FILE_MAX};
	struct sbuf text = {0};
	struct err e;

	lua_pushfstring(L, "@%s", path);
	if (userfile_read(path, &kind, &text, &e) < 0) {
		lua_pop(L, 1);
		lua_pushstring(L, e.text);
		sbuf_free(&text);
		return LUA_ERRFILE;
	}
	/* a first line with # is for the kernel; its newline stays, so that lines keep their
	 * numbers */
	const char *s = sbuf_str(&text), *from = s[0] == '#' ? memchr(s, '\n', text.len) : s;
	size_t len = from != NULL ? text.len - (size_t)(from - s) : 0;
	int rc = luaL_loadbufferx(L, from != NULL ? from : "", len, lua_tostring(L, -1), mode);
	if (rc == LUA_ERRSYNTAX && from != NULL)
		dialect_explain(L, from, len);
	sbuf_free(&text);
	lua_remove(L, -2);
	return rc;
}

/* loadfile(name, mode, environment). Without a name Lua's own function, which is the upvalue, reads
 * standard input. */
static int load_file(lua_State *L)
{
	if (lua_isnoneornil(L, 1)) {
		lua_pushvalue(L, lua_upvalueindex(1));
		lua_insert(L, 1);
		lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
		return lua_gettop(L);
	}
	const char *path = luaL_checkstring(L, 1), *mode = luaL_optstring(L, 2, NULL);
	bool has_env = lua_istable(L, 3);
	if (load_path(L, path, mode) != 0) {
		lua_pushnil(L);
		lua_insert(L, -2);
		return 2;
	}
	if (has_env) {
		lua_pushvalue(L, 3);
		lua_setfenv(L, -2);
	}
	return 1;
}

static int do_file(lua_State *L)
{
	hold_stack(L);
	if (lua_isnoneornil(L, 1)) {
		lua_pushvalue(L, lua_upvalueindex(1));
		lua_call(L, 0, LUA_MULTRET);
		return lua_gettop(L);
	}
	const char *path = luaL_checkstring(L, 1);
	lua_settop(L, 1);
	if (load_path(L, path, NULL) != 0)
		return lua_error(L);
	lua_call(L, 0, LUA_MULTRET);
	return lua_gettop(L) - 1;
}

/* The second of package.loaders, which require() calls: loads the first file along package.path
 * that exists, or returns a text that names all that do not. */
static int find_module(lua_State *L)
{
	const char *name = luaL_checkstring(L, 1), *path, *why;

	lua_getfield(L, LUA_REGISTRYINDEX, "_LOADED");
	lua_getfield(L, -1, "package");
	lua_getfield(L, -1, "path");
	path = lua_tostring(L, -1);
	if (path == NULL)
		return luaL_error(L, "'package.path' must be a string");
	const char *file = luaL_gsub(L, name, ".", "/");
	lua_pushliteral(L, ""); /* the text for require() */
	for (size_t n; *path != '\0'; path += n + (path[n] == ';')) {
		n = strcspn(path, ";");
		if (n == 0)
			continue;
		lua_pushlstring(L, path, n);
		const char *at = luaL_gsub(L, lua_tostring(L, -1), "?", file);
		int fd = userfile_open(at, O_RDONLY, 0, &why);
		if (fd >= 0) {
			close(fd);
			if (load_path(L, at, NULL) != 0)
				return luaL_error(L,
						  "error loading module '%s' from file '%s':\n\t%s",
						  name, at, lua_tostring(L, -1));
			return 1;
		}
		lua_pushfstring(L, fd == -EINVAL ? "%s\n\tno file '%s': %s" : "%s\n\tno file '%s'",
				lua_tostring(L, -3), at, why);
		lua_replace(L, -4);
		lua_pop(L, 2);
	}
	return 1;
}

static void files_replace(lua_State *L, const char *name, lua_CFunction fn)
{
	lua_getglobal(L, name);
	lua_pushcclosure(L, fn, 1);
	lua_setglobal(L, name);
}

void files_open(lua_State *L)
{
	files_replace(L, "loadfile", load_file);
	files_replace(L, "dofile", do_file);
	lua_getglobal(L, "package");
	lua_getfield(L, -1, "loaders");
	lua_pushcfunction(L, find_module);
	lua_rawseti(L, -2, 2);
	lua_pop(L, 2);
}
