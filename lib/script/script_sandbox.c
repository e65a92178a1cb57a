/* SPDX-License-Identifier: BSD-3-Clause */
/* What a chunk may reach: everything that Lua has, or (in the sandbox) only functions that touch
 * nothing outside of the state. */
#include "script_dialect.h"
#include "script_int.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Sets where require() looks: first in the script's folder, then in the user's, then in that of the
 * files which came with the program. */
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
	lua_getfield(L, LUA_REGISTRYINDEX, "_LOADED");
	lua_getfield(L, -1, "package");
	lua_getfield(L, LUA_REGISTRYINDEX, "wirerate.path");
	const char *rest = lua_tostring(L, -1);
	sbuf_add(&path, rest != NULL ? rest : "");
	lua_pop(L, 1);
	if (lua_istable(L, -1)) {
		lua_pushlstring(L, sbuf_str(&path), path.len);
		lua_setfield(L, -2, "path");
	}
	lua_pop(L, 2);
	sbuf_free(&path);
}

/* The names that stay in the sandbox, by table; a table of NULL means the globals. Everything else
 * is removed from these tables, so that a function which a later Lua adds is not let through. */
static const struct {
	const char *table;
	const char *const names[32];
} kept[] = {
	{NULL,
	 {"assert",   "error",  "ipairs",       "next",         "pairs",    "pcall",    "print",
	  "rawequal", "rawget", "rawset",       "select",       "tonumber", "tostring", "type",
	  "unpack",   "xpcall", "getmetatable", "setmetatable", "_G",       "_VERSION", "string",
	  "table",    "math",   "bit",          "coroutine",    "os",       "wr"}},
	{"string",
	 {"byte", "char", "find", "format", "gmatch", "gsub", "len", "lower", "match", "rep",
	  "reverse", "sub", "upper"}},
	{"os", {"clock", "date", "difftime", "time", "exit"}},
	{"coroutine", {"create", "isyieldable", "resume", "running", "status", "wrap", "yield"}},
};

static bool is_kept(unsigned i, const char *name)
{
	for (unsigned k = 0; k < ARRAY_SIZE(kept[i].names) && kept[i].names[k] != NULL; k++)
		if (strcmp(kept[i].names[k], name) == 0)
			return true;
	return false;
}

static void keep_only(lua_State *L, unsigned i)
{
	if (kept[i].table == NULL)
		lua_pushvalue(L, LUA_GLOBALSINDEX);
	else
		lua_getglobal(L, kept[i].table);
	for (lua_pushnil(L); lua_next(L, -2) != 0;) {
		lua_pop(L, 1);
		if (lua_type(L, -1) == LUA_TSTRING && is_kept(i, lua_tostring(L, -1)))
			continue;
		/* removing a key does not disturb the walk over the table */
		lua_pushvalue(L, -1);
		lua_pushnil(L);
		lua_rawset(L, -4);
	}
	lua_pop(L, 1);
}

/* load(text or function, name, mode, environment) loads text only, whatever the mode is. */
static int safe_load(lua_State *L)
{
	size_t len, n;
	const char *name;

	lua_settop(L, 4);
	if (lua_isfunction(L, 1)) {
		lua_pushliteral(L, "");
		for (;;) {
			lua_pushvalue(L, 1);
			lua_call(L, 0, 1);
			if (lua_isnil(L, -1) || (lua_isstring(L, -1) && lua_objlen(L, -1) == 0))
				break;
			if (!lua_isstring(L, -1))
				return luaL_error(L, "the reader function must return strings");
			lua_concat(L, 2);
		}
		lua_pop(L, 1);
	} else {
		luaL_checkstring(L, 1);
		lua_pushvalue(L, 1);
	}
	const char *text = lua_tolstring(L, 5, &len);
	name = lua_isstring(L, 2) ? lua_tolstring(L, 2, &n) : "=chunk";
	if (memchr(text, '\033', len) == text) {
		lua_pushnil(L);
		lua_pushliteral(L, "compiled chunks are not taken, only text");
		return 2;
	}
	/* script_where() passes over lines of "=wirerate", so a chunk must not have this name */
	if (hold_load(L, text, len, strcmp(name, "=wirerate") == 0 ? "=chunk" : name) == 0) {
		if (lua_istable(L, 4)) {
			lua_pushvalue(L, 4);
			lua_setfenv(L, -2);
		}
		return 1;
	}
	dialect_explain(L, text, len);
	lua_pushnil(L);
	lua_insert(L, -2);
	return 2;
}

/* require() gives modules that are in the program already, and no files. */
static int safe_require(lua_State *L)
{
	static const char *const names[] = {"wirerate", "cjson", "string",    "table",
					    "math",     "bit",   "coroutine", "os"};
	const char *name = luaL_checkstring(L, 1);

	for (unsigned i = 0; i < ARRAY_SIZE(names); i++) {
		if (strcmp(names[i], name) != 0)
			continue;
		lua_getfield(L, LUA_REGISTRYINDEX, "_LOADED");
		lua_getfield(L, -1, name);
		return 1;
	}
	return luaL_error(L, "module '%s' is not for this script; there are wirerate and cjson",
			  name);
}

/* string.rep(), which refuses a result for which there is no memory before it makes it. */
static int safe_rep(lua_State *L)
{
	size_t len;
	struct script *s = script_of(L);

	luaL_checklstring(L, 1, &len);
	double n = luaL_checknumber(L, 2);
	if (n > 0 && n * (double)len > (double)script_left(s))
		return luaL_error(L, "not enough memory");
	lua_pushvalue(L, lua_upvalueindex(1));
	lua_insert(L, 1);
	lua_call(L, lua_gettop(L) - 1, 1);
	return 1;
}

/* string.find() and its like, which refuse a search that would take long, since nothing can
 * interrupt one. */
static int safe_pattern(lua_State *L)
{
	enum pattern_use use = (enum pattern_use)lua_tointeger(L, lua_upvalueindex(2));
	size_t len, plen;
	const char *text = luaL_checklstring(L, 1, &len), *pattern = luaL_checklstring(L, 2, &plen);
	lua_Integer from = 1;
	int n = lua_gettop(L);

	if (use == PATTERN_FIRST) {
		from = luaL_optinteger(L, 3, 1);
		if (from < 0)
			from += (lua_Integer)len + 1;
		from = from < 1 ? 1 : from > (lua_Integer)len + 1 ? (lua_Integer)len + 1 : from;
	}
	if (lua_toboolean(L, lua_upvalueindex(3)) && lua_toboolean(L, 4))
		use = PATTERN_PLAIN;
	if (pattern_takes_long(text + from - 1, len - (size_t)(from - 1), pattern, plen, use))
		return luaL_error(
			L,
			"the pattern takes too long for a text of %d bytes: it has too many parts that repeat, or the text is too long",
			(int)len);
	lua_pushvalue(L, lua_upvalueindex(1));
	lua_insert(L, 1);
	lua_call(L, n, LUA_MULTRET);
	return lua_gettop(L);
}

/* Pushes a number for a value that Lua would show by its address. Addresses would tell a stranger
 * where the program is in memory. Numbers are not used again when their values are gone. */
static void push_number(lua_State *L, int idx)
{
	struct script *s = script_of(L);

	lua_getfield(L, LUA_REGISTRYINDEX, "wirerate.numbers");
	lua_pushvalue(L, idx);
	lua_rawget(L, -2);
	if (lua_isnil(L, -1)) {
		lua_pop(L, 1);
		lua_pushnumber(L, ++s->numbered);
		lua_pushvalue(L, idx);
		lua_pushvalue(L, -2);
		lua_rawset(L, -4);
	}
	double n = lua_tonumber(L, -1);
	char text[32];
	snprintf(text, sizeof(text), "0x%llx", (unsigned long long)n);
	lua_pop(L, 2);
	lua_pushstring(L, text);
}

static bool has_address(lua_State *L, int idx)
{
	int type = lua_type(L, idx);

	return type == LUA_TTABLE || type == LUA_TFUNCTION || type == LUA_TUSERDATA ||
	       type == LUA_TTHREAD;
}

/* tostring() with numbers in place of addresses. */
static int safe_tostring(lua_State *L)
{
	luaL_checkany(L, 1);
	lua_settop(L, 1);
	bool own = luaL_getmetafield(L, 1, "__tostring");
	lua_settop(L, 1);
	lua_pushvalue(L, lua_upvalueindex(1));
	lua_pushvalue(L, 1);
	lua_call(L, 1, 1);
	if (own || !has_address(L, 1) || strstr(lua_tostring(L, -1), ": 0x") == NULL)
		return 1;
	lua_pushfstring(L, "%s: ", luaL_typename(L, 1));
	push_number(L, 1);
	lua_concat(L, 2);
	return 1;
}

/* string.format(), whose %p and %s would show addresses: they are given texts with numbers. */
static int safe_format(lua_State *L)
{
	size_t len;
	const char *from = luaL_checklstring(L, 1, &len);
	int n = lua_gettop(L), arg = 1;
	char *format = lua_newuserdata(L, len + 1);

	luaL_checkstack(L, 8, "too many arguments");
	memcpy(format, from, len + 1);
	for (size_t i = 0; i < len; i++) {
		if (format[i] != '%')
			continue;
		if (format[++i] == '%')
			continue;
		i += strspn(format + i, "-+ #0123456789.");
		if (++arg > n)
			break;
		if (format[i] == 'p') {
			format[i] = 's';
			if (has_address(L, arg))
				push_number(L, arg);
			else
				lua_pushliteral(L, "NULL");
			lua_replace(L, arg);
		} else if (format[i] == 's' && has_address(L, arg)) {
			script_text(L, arg, NULL);
			lua_replace(L, arg);
		}
	}
	lua_pushlstring(L, format, len);
	lua_replace(L, 1);
	lua_pushvalue(L, lua_upvalueindex(1));
	lua_insert(L, 1);
	lua_pop(L, 1);
	lua_call(L, n, 1);
	return 1;
}

void sandbox_names(lua_State *L)
{
	lua_newtable(L);
	lua_newtable(L);
	lua_pushliteral(L, "k");
	lua_setfield(L, -2, "__mode");
	lua_setmetatable(L, -2);
	lua_setfield(L, LUA_REGISTRYINDEX, "wirerate.numbers");
	lua_getglobal(L, "tostring");
	lua_pushcclosure(L, safe_tostring, 1);
	lua_setglobal(L, "tostring");
	lua_getglobal(L, "string");
	lua_getfield(L, -1, "format");
	lua_pushcclosure(L, safe_format, 1);
	lua_setfield(L, -2, "format");
	lua_pop(L, 1);
}

/* getmetatable(), for tables alone, so that nobody gets at that of strings. A metatable with
 * __metatable stays hidden. */
static int safe_getmetatable(lua_State *L)
{
	luaL_checkany(L, 1);
	if (lua_type(L, 1) != LUA_TTABLE || !lua_getmetatable(L, 1)) {
		lua_pushnil(L);
		return 1;
	}
	lua_getfield(L, -1, "__metatable");
	if (lua_isnil(L, -1))
		lua_pop(L, 1);
	return 1;
}

/* setmetatable(), which refuses finalizers: they would run without any limit. */
static int safe_setmetatable(lua_State *L)
{
	luaL_checktype(L, 1, LUA_TTABLE);
	if (lua_istable(L, 2)) {
		lua_pushliteral(L, "__gc");
		lua_rawget(L, 2);
		if (!lua_isnil(L, -1))
			return luaL_error(L, "metatables with __gc are not taken here");
	}
	lua_settop(L, 2);
	lua_pushvalue(L, lua_upvalueindex(1));
	lua_insert(L, 1);
	lua_call(L, 2, 1);
	return 1;
}

static void sandbox_wrap(lua_State *L, int table, const char *name, lua_CFunction fn, int how,
			 bool plain)
{
	lua_getfield(L, table, name);
	lua_pushinteger(L, how);
	lua_pushboolean(L, plain);
	lua_pushcclosure(L, fn, 3);
	lua_setfield(L, table, name);
}

static void put_global(lua_State *L, const char *name, lua_CFunction fn)
{
	lua_pushcfunction(L, fn);
	lua_setglobal(L, name);
}

static void close_state(lua_State *L)
{
	static const char *const gone[] = {"io",        "ffi",         "jit",           "jit.opt",
					   "jit.util",  "jit.profile", "debug",         "package",
					   "table.new", "table.clear", "string.buffer", "_G"};

	for (unsigned i = 0; i < ARRAY_SIZE(kept); i++)
		keep_only(L, i);
	lua_getfield(L, LUA_REGISTRYINDEX, "_LOADED");
	for (unsigned i = 0; i < ARRAY_SIZE(gone); i++) {
		lua_pushnil(L);
		lua_setfield(L, -2, gone[i]);
	}
	lua_pop(L, 1);
	lua_getfield(L, LUA_REGISTRYINDEX, "_PRELOAD");
	if (lua_istable(L, -1)) {
		lua_newtable(L);
		lua_setfield(L, LUA_REGISTRYINDEX, "_PRELOAD");
	}
	lua_pop(L, 1);
	put_global(L, "load", safe_load);
	put_global(L, "loadstring", safe_load);
	put_global(L, "require", safe_require);
	put_global(L, "getmetatable", safe_getmetatable);
	sandbox_wrap(L, LUA_GLOBALSINDEX, "setmetatable", safe_setmetatable, 0, false);
	lua_getglobal(L, "string");
	int string = lua_gettop(L);
	sandbox_wrap(L, string, "rep", safe_rep, 0, false);
	sandbox_wrap(L, string, "find", safe_pattern, PATTERN_FIRST, true);
	sandbox_wrap(L, string, "match", safe_pattern, PATTERN_FIRST, false);
	sandbox_wrap(L, string, "gmatch", safe_pattern, PATTERN_ALL, false);
	sandbox_wrap(L, string, "gsub", safe_pattern, PATTERN_ALL, false);
	lua_settop(L, 0);
}

void sandbox_open(lua_State *L, struct script *s)
{
	lua_getglobal(L, "package");
	lua_getfield(L, -1, "path");
	lua_setfield(L, LUA_REGISTRYINDEX, "wirerate.path");
	lua_pop(L, 1);
	if (s->opts.sandbox) {
		close_state(L);
	} else {
		files_open(L);
		sandbox_path(L, s);
	}
}
