/* SPDX-License-Identifier: BSD-3-Clause */
/* The module `wirerate`: its functions that are neither settings nor verbs, and how all of it is
 * put together. */
#include "script_dialect.h"
#include "script_int.h"

#include <errno.h>
#include <math.h>
#include <string.h>

enum { SAID_MAX = 65536 }; /* bytes of a text for expect(): every session that listens gets it */

static const char prelude[] = {
#include "prelude.inc"
};

static int module_stats(lua_State *L)
{
	struct script *s = script_of(L);
	const char *parts = luaL_optstring(L, 1, "stats");
	struct err e = {.col = -1};
	struct sbuf where = {0};

	if (s->host.snapshot == NULL)
		return luaL_error(L, "there are no statistics here");
	json_prepare(L);
	json_t *doc = s->host.snapshot(s->host.cmd_host, parts, &e);
	if (doc != NULL)
		return json_push_taken(L, doc);
	script_where(L, &where);
	script_push_text(L, &where);
	return script_raise(L, lua_tostring(L, -1), NULL, &e, -EINVAL);
}

static int module_ports(lua_State *L)
{
	struct script *s = script_of(L);
	struct target t = {.n = 1};

	lua_newtable(L);
	for (uint32_t p = 0; p <= TARGET_MAX_PORT; p++) {
		t.item[0].p0 = t.item[0].p1 = p;
		if (cmd_target_check(s->host.cmd, &t, NULL) != 0)
			break;
		lua_pushinteger(L, (lua_Integer)p);
		lua_rawseti(L, -2, (int)p + 1);
	}
	return 1;
}

/* tables() returns the settings and commands as --dump-commands prints them. */
static int module_tables(lua_State *L)
{
	json_prepare(L);
	return json_push_taken(L, cmd_dump(script_of(L)->host.cmd));
}

/* expect(cond, text) counts a check and reports it to the host. A check that failed is noted
 * too. */
static int raw_expect(lua_State *L)
{
	struct script *s = script_of(L);
	struct sbuf text = {0};
	bool passed = lua_toboolean(L, 1);
	size_t len = 0;
	const char *said = lua_isnoneornil(L, 2) ? NULL : script_text(L, 2, &len);

	if (len > SAID_MAX)
		return script_misuse(L, "what expect() says has at most %d bytes, not %d", SAID_MAX,
				     (int)len);
	script_room(L, s, len);
	s->expected++;
	script_where(L, &text);
	sbuf_add(&text, passed ? ": passed" : ": failed");
	if (said != NULL)
		sbuf_addf(&text, ": %s", said);
	if (s->host.check != NULL)
		s->host.check(s->host.arg, passed, text.s);
	if (!passed) {
		s->failed++;
		sbuf_addf(s->note, "%s\n", text.s);
	}
	sbuf_free(&text);
	return 0;
}

/* Ends the script with an exit code. */
static int module_leave(lua_State *L, int code)
{
	struct script *s = script_of(L);

	s->asked_code = code;
	s->ends = ENDS_EXIT;
	if (lua_isyieldable(L)) {
		s->yielder = L;
		return lua_yield(L, 0);
	}
	return hold_raise_end(L, s);
}

static int exit_code(lua_State *L)
{
	int code = (int)luaL_optinteger(L, 1, 0);

	if (code < 0 || code > 255)
		return luaL_error(L, "an exit code is 0 to 255");
	return module_leave(L, code);
}

static int os_exit(lua_State *L)
{
	if (lua_isboolean(L, 1))
		return module_leave(L, lua_toboolean(L, 1) ? 0 : 1);
	return exit_code(L);
}

static int module_print(lua_State *L)
{
	struct script *s = script_of(L);
	int n = lua_gettop(L);

	for (int i = 1; i <= n; i++) {
		size_t len;
		const char *text = script_text(L, i, &len);
		script_room(L, s, len);
		if (i > 1)
			sbuf_addc(s->out, '\t');
		sbuf_addn(s->out, text, len);
		lua_pop(L, 1);
	}
	sbuf_addc(s->out, '\n');
	return 0;
}

/* write(to_note, ...) writes strings and numbers as they are. */
static int raw_write(lua_State *L)
{
	struct script *s = script_of(L);
	struct sbuf *to = lua_toboolean(L, 1) ? s->note : s->out;
	int n = lua_gettop(L);

	for (int i = 2; i <= n; i++) {
		size_t len;
		const char *text = lua_tolstring(L, i, &len);
		if (text == NULL)
			return script_misuse(
				L, "bad argument #%d to 'write' (string expected, got %s)", i - 1,
				luaL_typename(L, i));
		script_room(L, s, len);
		sbuf_addn(to, text, len);
	}
	return 0;
}

static int module_digits(lua_State *L)
{
	double n = luaL_checknumber(L, 1);
	struct sbuf text = {0};

	if (!isfinite(n)) {
		lua_pushstring(L, isnan(n) ? "nan" : n > 0 ? "inf" : "-inf");
		return 1;
	}
	value_digits(n, &text);
	return script_push_text(L, &text);
}

static int fmt_si(lua_State *L)
{
	struct sbuf text = {0};

	out_si(luaL_checknumber(L, 1), &text);
	return script_push_text(L, &text);
}

static int fmt_duration(lua_State *L)
{
	double ns = luaL_checknumber(L, 1);
	struct sbuf text = {0};

	if (!(ns >= 0 && ns < 18e18))
		return luaL_error(L, "a duration is a number of nanoseconds from 0 on");
	out_duration((uint64_t)ns, &text);
	return script_push_text(L, &text);
}

static void module_put(lua_State *L, int table, const char *name, lua_CFunction fn)
{
	lua_pushcfunction(L, fn);
	lua_setfield(L, table, name);
}

/* Fills the module with what is neither a setting nor a verb nor made by the prelude. */
static void open_values(lua_State *L, struct script *s, int module)
{
	module_put(L, module, "stats", module_stats);
	module_put(L, module, "ports", module_ports);
	module_put(L, module, "exit", exit_code);
	script_at_end_open(L, module);
	module_put(L, module, "tables", module_tables);
	lua_pushstring(L, s->host.version != NULL ? s->host.version : "");
	lua_setfield(L, module, "version");
	lua_pushstring(L, s->host.dpdk_version != NULL ? s->host.dpdk_version : "");
	lua_setfield(L, module, "dpdk_version");
	json_module(L);
	lua_setfield(L, module, "json");
	lua_newtable(L);
	module_put(L, lua_gettop(L), "si", fmt_si);
	module_put(L, lua_gettop(L), "duration", fmt_duration);
	module_put(L, lua_gettop(L), "digits", module_digits);
	lua_setfield(L, module, "fmt");
	lua_newtable(L);
	lua_setfield(L, module, "set");
}

/* explain(text, message) returns the message of a load that failed, or a better one if the text has
 * an operator of Lua 5.3. */
static int raw_explain(lua_State *L)
{
	size_t len;
	const char *text = luaL_checklstring(L, 1, &len);

	luaL_checkstring(L, 2);
	lua_settop(L, 2);
	dialect_explain(L, text, len);
	return 1;
}

static int raw_stack(lua_State *L)
{
	hold_stack(L);
	return 0;
}

static void open_raw(lua_State *L, struct script *s, int module)
{
	lua_newtable(L);
	int raw = lua_gettop(L);
	task_open(L);
	verbs_open(L, s, module);
	time_open(L, s, module);
	ask_open(L);
	progress_open(L, module);
	module_put(L, raw, "stack", raw_stack);
	module_put(L, raw, "expect", raw_expect);
	module_put(L, raw, "digits", module_digits);
	module_put(L, raw, "explain", raw_explain);
	module_put(L, raw, "write", raw_write);
	lua_pushboolean(L, s->opts.sandbox);
	lua_setfield(L, raw, "sandbox");
	module_put(L, raw, "global_get", props_global_get);
	module_put(L, raw, "global_set", props_global_set);
}

static void run_prelude(lua_State *L, int raw, int module)
{
	if (luaL_loadbuffer(L, prelude, sizeof(prelude), "=wirerate") != 0)
		lua_error(L);
	lua_pushvalue(L, raw);
	lua_pushvalue(L, module);
	lua_newtable(L);
	luaL_newmetatable(L, "wirerate.error");
	lua_setfield(L, -2, "error");
	lua_call(L, 3, 0);
}

void module_open(lua_State *L, struct script *s)
{
	if (s->opts.sandbox)
		sandbox_names(L);
	lua_getglobal(L, "tostring");
	lua_setfield(L, LUA_REGISTRYINDEX, "wirerate.tostring");
	json_open(L);
	lua_newtable(L);
	int module = lua_gettop(L);
	open_values(L, s, module);
	props_open(L, s);
	open_raw(L, s, module);
	int raw = lua_gettop(L);
	run_prelude(L, raw, module);
	lua_getfield(L, module, "verb");
	lua_setfield(L, LUA_REGISTRYINDEX, "wirerate.verb");
	/* settings that belong to no port are fields of the module too */
	lua_newtable(L);
	module_put(L, lua_gettop(L), "__index", props_global_get);
	module_put(L, lua_gettop(L), "__newindex", props_global_set);
	lua_setmetatable(L, module);
	lua_getfield(L, LUA_REGISTRYINDEX, "_LOADED");
	lua_pushvalue(L, module);
	lua_setfield(L, -2, "wirerate");
	lua_getfield(L, module, "json");
	lua_setfield(L, -2, "cjson");
	lua_pop(L, 1);
	lua_pushvalue(L, module);
	lua_setglobal(L, "wr");
	module_put(L, LUA_GLOBALSINDEX, "print", module_print);
	lua_getglobal(L, "os");
	module_put(L, lua_gettop(L), "exit", os_exit);
	execute_open(L);
	lua_settop(L, 0);
}
