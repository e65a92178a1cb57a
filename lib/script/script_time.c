/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions sleep, every, on, stop and now. A script that waits by them does not hold up the
 * program. */
#include "script_int.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <time.h>

enum { WAITING_MAX = 1000 };
#define WAIT_MAX_S 1000000000 /* 31 years: added to the clock's time in ns it still fits 64 bits */

/* Reads a time, which is a text like "100ms" or a number of seconds, and returns it in ns. */
static uint64_t time_at(lua_State *L, int idx)
{
	static const struct vspec spec = {.type = &vt_duration};
	struct err e;
	uint64_t ns;

	if (lua_type(L, idx) == LUA_TNUMBER) {
		double s = lua_tonumber(L, idx);
		if (!(s >= 0 && s <= WAIT_MAX_S))
			script_misuse(
				L,
				"%f seconds are no time to wait; 0 to %d are, or text like \"100ms\"",
				s, WAIT_MAX_S);
		return (uint64_t)llround(s * 1e9);
	}
	if (lua_type(L, idx) != LUA_TSTRING)
		script_misuse(L, "a time is text like \"100ms\" or a number of seconds, not %s",
			      luaL_typename(L, idx));
	if (vt_duration.parse(&spec, lua_tostring(L, idx), &ns, &e) != 0)
		script_misuse(L, "%s", e.text);
	if (ns > WAIT_MAX_S * 1000000000ull)
		script_misuse(L, "%s is too long to wait; at most %ds are possible",
			      lua_tostring(L, idx), WAIT_MAX_S);
	return ns;
}

static int raw_sleep(lua_State *L)
{
	uint64_t ns = time_at(L, 1);

	if (script_of(L)->now == NULL || !lua_isyieldable(L))
		return script_misuse(
			L,
			"nothing can wait here, inside a function that was called by one of the library's, like string.gsub");
	return task_wait(L, WAITS_TIME, script_now_ns() + ns, NULL);
}

/* Raises an error if there are too many timers and handlers. They are bounded because they are not
 * counted as memory of the state, and all of them are looked at in each turn. */
static void check_number(lua_State *L, const struct script *s)
{
	unsigned n = 0;

	for (const struct script_timer *t = s->timers; t != NULL; t = t->next)
		n++;
	for (const struct script_handler *h = s->handlers; h != NULL; h = h->next)
		n++;
	if (n >= WAITING_MAX)
		luaL_error(
			L,
			"%d functions wait for a time or an event already; handle:stop() ends one",
			WAITING_MAX);
}

static int raw_every(lua_State *L)
{
	struct script *s = script_of(L);
	uint64_t ns = time_at(L, 1);

	if (!lua_isfunction(L, 2))
		return script_misuse(L, "every() calls a function, not %s", luaL_typename(L, 2));
	check_number(L, s);
	if (ns == 0)
		return script_misuse(L, "an interval of no time is none");
	lua_settop(L, 2);
	int fn = luaL_ref(L, LUA_REGISTRYINDEX);
	struct script_timer *t = xcalloc(1, sizeof(*t));
	*t = (struct script_timer){.next = s->timers,
				   .fn = fn,
				   .due_ns = script_now_ns() + ns,
				   .interval_ns = ns,
				   .id = ++s->last_id};
	s->timers = t;
	lua_pushinteger(L, (lua_Integer)t->id);
	return 1;
}

static int raw_on(lua_State *L)
{
	struct script *s = script_of(L);
	const char *event = lua_type(L, 1) == LUA_TSTRING ? lua_tostring(L, 1) : "";
	bool known = s->host.events == NULL && event[0] != '\0';

	if (!lua_isfunction(L, 2))
		return script_misuse(L, "on() calls a function, not %s", luaL_typename(L, 2));
	check_number(L, s);
	for (unsigned i = 0; !known && s->host.events != NULL && s->host.events[i] != NULL; i++)
		known = strcmp(s->host.events[i], event) == 0;
	if (!known) {
		lua_pushliteral(L, "");
		for (unsigned i = 0; s->host.events != NULL && s->host.events[i] != NULL; i++) {
			lua_pushfstring(L, "%s%s", i > 0 ? ", " : "", s->host.events[i]);
			lua_concat(L, 2);
		}
		return script_misuse(L, "there is no event \"%s\"; there are %s", event,
				     lua_tostring(L, -1));
	}
	lua_settop(L, 2);
	int fn = luaL_ref(L, LUA_REGISTRYINDEX);
	struct script_handler *h = xcalloc(1, sizeof(*h)), **p = &s->handlers;
	*h = (struct script_handler){.event = xstrdup(event), .fn = fn, .id = ++s->last_id};
	while (*p != NULL)
		p = &(*p)->next;
	*p = h;
	lua_pushinteger(L, (lua_Integer)h->id);
	return 1;
}

/* stop(id) ends a timer or a handler. It does nothing if that has ended already. */
static int raw_stop(lua_State *L)
{
	struct script *s = script_of(L);
	unsigned id = (unsigned)luaL_checkinteger(L, 1);

	for (struct script_timer *t = s->timers; t != NULL; t = t->next)
		if (t->id == id) {
			luaL_unref(L, LUA_REGISTRYINDEX, t->fn);
			t->fn = LUA_NOREF;
		}
	for (struct script_handler *h = s->handlers; h != NULL; h = h->next)
		if (h->id == id) {
			luaL_unref(L, LUA_REGISTRYINDEX, h->fn);
			h->fn = LUA_NOREF;
		}
	return 0;
}

static int time_now(lua_State *L)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	lua_pushnumber(L, (lua_Number)t.tv_sec * 1e9 + (lua_Number)t.tv_nsec);
	return 1;
}

void time_open(lua_State *L, struct script *s, int module)
{
	static const luaL_Reg raw[] = {{"sleep", raw_sleep},
				       {"every", raw_every},
				       {"on", raw_on},
				       {"stop", raw_stop},
				       {NULL, NULL}};

	(void)s;
	for (const luaL_Reg *r = raw; r->name != NULL; r++) {
		lua_pushcfunction(L, r->func);
		lua_setfield(L, -2, r->name);
	}
	lua_pushcfunction(L, time_now);
	lua_setfield(L, module, "now");
}
