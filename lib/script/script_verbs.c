/* SPDX-License-Identifier: BSD-3-Clause */
/* Verbs as functions. If a verb takes time, the task that called its function waits; the verb is
 * polled, and the task gets its values when the verb is done. */
#include "script_int.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Returns what scripts get of a document. If the document has a single member and this is an
 * object, as in {"trial": {...}}, they get that object, else the document. */
static const json_t *verbs_inner(const json_t *doc)
{
	if (json_is_object(doc) && json_object_size(doc) == 1) {
		const json_t *v = json_object_iter_value(json_object_iter((json_t *)doc));
		if (json_is_object(v))
			return v;
	}
	return doc;
}

static void push_documents(lua_State *L, const json_t *results)
{
	size_t n = json_array_size(results);

	if (n == 0) {
		lua_pushboolean(L, true);
		return;
	}
	if (n == 1) {
		json_push(L, verbs_inner(json_array_get(results, 0)));
		return;
	}
	lua_createtable(L, (int)n, 0);
	for (size_t i = 0; i < n; i++) {
		json_push(L, verbs_inner(json_array_get(results, i)));
		lua_rawseti(L, -2, (int)i + 1);
	}
}

struct finished {
	const struct script_run *r;
	int rc;
	const struct err *e;
};

static int push_results(lua_State *L)
{
	const struct finished *f = lua_touserdata(L, 1);
	const struct script_run *r = f->r;

	if (f->rc < 0) {
		lua_pushboolean(L, false);
		script_push_error(L, sbuf_str(&r->where), sbuf_str(&r->line), f->e, f->rc);
		return 2;
	}
	lua_pushboolean(L, true);
	push_documents(L, r->run.results);
	lua_pushinteger(L, r->run.exit_code);
	if (!r->hushed)
		return 3;
	lua_pushlstring(L, sbuf_str(&r->note), r->note.len);
	return 4;
}

void verbs_prepare(lua_State *L)
{
	luaL_checkstack(L, 16, "too many values");
	lua_pushcfunction(L, push_results);
}

int verbs_results(lua_State *L, struct script_run *r, int rc, const struct err *e)
{
	struct script *s = script_of(L);
	struct finished f = {r, rc, e};
	int base = lua_gettop(L) - 1;

	if (rc >= 0 && r->run.exit_code > s->worst_code)
		s->worst_code = r->run.exit_code;
	lua_pushlightuserdata(L, &f);
	bool bad = lua_pcall(L, 1, LUA_MULTRET, 0) != 0;
	script_run_free(r);
	return bad ? -1 : lua_gettop(L) - base;
}

static int give_results(lua_State *L, struct script_run *r, int rc, const struct err *e)
{
	int n = verbs_results(L, r, rc, e);

	return n < 0 ? lua_error(L) : n;
}

enum verbs_mode { VERBS_PRINT, VERBS_SILENT, VERBS_HUSHED };

/* Runs a command. Its output is printed, or (silent) only given as values, or (hushed) given as
 * values together with its remarks. Pushes what verbs_results() pushes, or raises an error, or
 * yields while the command goes on. */
static int verbs_run(lua_State *L, const char *line, enum verbs_mode mode)
{
	struct script *s = script_of(L);
	struct err e = {.col = -1};

	script_room(L, s, 0);
	if (strlen(line) > SCRIPT_LINE_MAX)
		return luaL_error(L, "a command has at most %d bytes", SCRIPT_LINE_MAX);
	verbs_prepare(L);
	struct script_run *r = xcalloc(1, sizeof(*r));
	sbuf_add(&r->line, line);
	script_where(L, &r->where);
	r->prints = mode == VERBS_PRINT;
	r->hushed = mode == VERBS_HUSHED;
	r->run.host = s->host.cmd_host;
	r->run.out = r->prints ? s->out : &r->out;
	r->run.note = r->hushed ? &r->note : s->note;
	r->run.out_mode = r->prints ? s->opts.out_mode : OUT_JSON;
	r->run.batch = s->opts.batch;
	s->limited = false;
	int rc = cmd_exec(s->host.cmd, &r->run, sbuf_str(&r->line), &e);
	s->limited = true;
	bool can = s->now != NULL && lua_isyieldable(L);
	/* After a command that ended at once the script may have to give way too: otherwise a loop
	 * of such commands would hold up the program. */
	if (rc != VERB_PENDING && can && hold_over(s)) {
		r->ended = true;
		r->rc = rc;
		r->err = e;
		return task_wait(L, WAITS_RUN, 0, r);
	}
	if (rc != VERB_PENDING)
		return give_results(L, r, rc, &e);
	if (can)
		return task_wait(L, WAITS_RUN, 0, r);
	cmd_cancel(&r->run);
	err_set(&e, EINVAL,
		"this takes time, and nothing can wait inside a function that was called by one of the library's, like string.gsub");
	return give_results(L, r, -EINVAL, &e);
}

static int call_verb(lua_State *L)
{
	const struct verb *v = lua_touserdata(L, lua_upvalueindex(1));
	struct script *s = script_of(L);
	struct sbuf line = {0}, where = {0};
	struct err e;

	hold_stack(L); /* reading arguments by name may call a metamethod */
	luaL_checkstack(L, 2 * CMD_MAX_ARGS, "too many arguments");
	s->limited = false; /* so that no allocation fails while `line` is to be freed */
	int rc = args_line(L, s->host.cmd, v, 1, lua_gettop(L), &line, &e);
	s->limited = true;
	lua_settop(L, 0);
	if (rc == 0) {
		script_push_text(L, &line);
		return verbs_run(L, lua_tostring(L, 1), VERBS_SILENT);
	}
	script_where(L, &where);
	lua_pushboolean(L, false);
	script_push_error(L, sbuf_str(&where), NULL, &e, rc);
	sbuf_free(&where);
	sbuf_free(&line);
	return 2;
}

static const char *line_at(lua_State *L)
{
	size_t len;
	const char *line = lua_tolstring(L, 1, &len);

	if (line == NULL)
		script_misuse(L, "a command is text, not %s", luaL_typename(L, 1));
	if (strlen(line) != len)
		script_misuse(L, "the command holds a zero byte");
	return line;
}

/* cmd(line) runs a command and prints its output. */
static int raw_cmd(lua_State *L)
{
	return verbs_run(L, line_at(L), VERBS_PRINT);
}

/* run(line) does the same without printing, and gives the command's remarks after its exit code. */
static int raw_run(lua_State *L)
{
	return verbs_run(L, line_at(L), VERBS_HUSHED);
}

/* Fills R, which is on the stack: R.verbs has the functions of all verbs by name, and R.groups
 * those of verbs with two words, {stream = {add = "stream_add"}}. */
void verbs_open(lua_State *L, struct script *s, int module)
{
	(void)module;
	lua_newtable(L);
	lua_newtable(L);
	for (unsigned i = 0; i < cmd_nverbs(s->host.cmd); i++) {
		const struct verb *v = cmd_verb_at(s->host.cmd, i);
		const char *blank = strchr(v->name, ' ');
		struct sbuf key = {0}, first = {0}, second = {0};
		verb_key(v, &key);
		lua_pushlightuserdata(L, (void *)(uintptr_t)v);
		lua_pushcclosure(L, call_verb, 1);
		lua_setfield(L, -3, key.s);
		if (blank != NULL) {
			char *head = xstrdup(v->name);
			head[blank - v->name] = '\0';
			args_key(head, &first);
			args_key(blank + 1, &second);
			free(head);
			lua_getfield(L, -1, first.s);
			if (lua_isnil(L, -1)) {
				lua_pop(L, 1);
				lua_newtable(L);
				lua_pushvalue(L, -1);
				lua_setfield(L, -3, first.s);
			}
			lua_pushstring(L, key.s);
			lua_setfield(L, -2, second.s);
			lua_pop(L, 1);
		}
		sbuf_free(&key);
		sbuf_free(&first);
		sbuf_free(&second);
	}
	lua_setfield(L, -3, "groups");
	lua_setfield(L, -2, "verbs");
	lua_pushcfunction(L, raw_cmd);
	lua_setfield(L, -2, "cmd");
	lua_pushcfunction(L, raw_run);
	lua_setfield(L, -2, "run");
}
