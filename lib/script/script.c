/* SPDX-License-Identifier: BSD-3-Clause */
/* The life of a Lua state and of the chunks that it runs. */
#include "script_dialect.h"
#include "script_int.h"
#include "userfile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <luajit.h>

static char state_key; /* its address: where a state keeps its struct script */

uint64_t script_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

struct script *script_of(lua_State *L)
{
	lua_pushlightuserdata(L, &state_key);
	lua_rawget(L, LUA_REGISTRYINDEX);
	struct script *s = lua_touserdata(L, -1);
	lua_pop(L, 1);
	return s;
}

/* Allocates as the state's own allocator does, and counts. max_bytes only holds while code of the
 * script runs: what the program allocates for it is never refused. */
static void *count_alloc(void *arg, void *p, size_t osize, size_t nsize)
{
	struct script *s = arg;
	size_t most = s->opts.max_bytes;

	if (nsize > osize && s->limited && most > 0 && s->used_bytes + (nsize - osize) > most)
		return NULL;
	void *q = s->alloc(s->alloc_arg, p, osize, nsize);
	if (q == NULL && nsize > 0)
		return NULL;
	s->used_bytes = s->used_bytes - osize + nsize;
	hold_block(s, osize, nsize);
	return q;
}

size_t script_left(const struct script *s)
{
	size_t most = s->opts.max_bytes > 0 ? s->opts.max_bytes : SIZE_MAX / 2;

	return s->used_bytes < most ? most - s->used_bytes : 0;
}

void script_room(lua_State *L, const struct script *s, size_t bytes)
{
	size_t most = s->opts.max_out_bytes > 0 ? s->opts.max_out_bytes : s->opts.max_bytes;

	if (most > 0 && s->out->len + s->note->len + bytes > most)
		luaL_error(L, "not enough memory for what is printed");
}

int script_push_text(lua_State *L, struct sbuf *text)
{
	struct script *s = script_of(L);
	bool was = s->limited;

	s->limited = false;
	lua_pushlstring(L, sbuf_str(text), text->len);
	s->limited = was;
	sbuf_free(text);
	return 1;
}

static int open_all(lua_State *L)
{
	struct script *s = lua_touserdata(L, 1);

	lua_pushlightuserdata(L, &state_key);
	lua_pushlightuserdata(L, s);
	lua_rawset(L, LUA_REGISTRYINDEX);
	luaL_openlibs(L);
	if (!s->opts.jit)
		luaJIT_setmode(L, 0, LUAJIT_MODE_ENGINE | LUAJIT_MODE_OFF);
	module_open(L, s);
	sandbox_open(L, s);
	return 0;
}

struct script *script_new(const struct script_host *host, const struct script_opts *opts,
			  struct err *e)
{
	struct script *s = xcalloc(1, sizeof(*s));

	s->host = *host;
	s->opts = *opts;
	s->lua_dir = opts->lua_dir != NULL ? xstrdup(opts->lua_dir) : NULL;
	s->happened_tail = &s->happened;
	s->out = s->note = &s->spare;
	hold_open(s);
	s->L = luaL_newstate();
	if (s->L == NULL) {
		err_set(e, ENOMEM, "there is no memory for a Lua state");
		script_free(s);
		return NULL;
	}
	s->alloc = lua_getallocf(s->L, &s->alloc_arg);
	s->used_bytes = (size_t)lua_gc(s->L, LUA_GCCOUNT, 0) * 1024;
	lua_setallocf(s->L, count_alloc, s);
	if (lua_cpcall(s->L, open_all, s) != 0) {
		const char *why = lua_tostring(s->L, -1);
		err_set(e, EIO, "Lua: %.500s", why != NULL ? why : "it cannot begin");
		script_free(s);
		return NULL;
	}
	if (opts->max_bytes > 0)
		lua_gc(s->L, LUA_GCSETPAUSE, 120);
	return s;
}

void script_where(lua_State *L, struct sbuf *out)
{
	lua_Debug ar;

	for (int level = 0; lua_getstack(L, level, &ar); level++) {
		if (lua_getinfo(L, "Sl", &ar) == 0 || ar.currentline <= 0 ||
		    strcmp(ar.source, "=wirerate") == 0)
			continue;
		sbuf_addf(out, "%s:%d", ar.short_src, ar.currentline);
		return;
	}
}

void script_push_error(lua_State *L, const char *where, const char *line, const struct err *e,
		       int code)
{
	struct script *s = script_of(L);
	struct sbuf full = {0};
	bool was = s->limited;

	s->limited = false; /* `full` would leak if an error were raised below */
	lua_createtable(L, 0, 6);
	lua_pushstring(L, e->text);
	lua_setfield(L, -2, "text");
	const char *name = strerrorname_np(code < 0 ? -code : code);
	lua_pushstring(L, name != NULL ? name : "EINVAL");
	lua_setfield(L, -2, "code");
	if (line != NULL) {
		lua_pushstring(L, line);
		lua_setfield(L, -2, "command");
	}
	if (e->col >= 0) {
		lua_pushinteger(L, e->col);
		lua_setfield(L, -2, "col");
	}
	lua_pushstring(L, where);
	lua_setfield(L, -2, "where");
	sbuf_addf(&full, "%s%s%s", where, where[0] != '\0' ? ": " : "", e->text);
	if (line != NULL && e->col >= 0 && strchr(line, '\n') == NULL)
		sbuf_addf(&full, "\n  %s\n  %*s^", line, e->col, "");
	lua_pushlstring(L, full.s, full.len);
	lua_setfield(L, -2, "full");
	sbuf_free(&full);
	luaL_getmetatable(L, "wirerate.error");
	lua_setmetatable(L, -2);
	s->limited = was;
}

int script_raise(lua_State *L, const char *where, const char *line, const struct err *e, int code)
{
	script_push_error(L, where, line, e, code);
	return lua_error(L);
}

int script_misuse(lua_State *L, const char *fmt, ...)
{
	struct sbuf where = {0};
	va_list ap;

	script_where(L, &where);
	sbuf_add(&where, where.len > 0 ? ": " : "");
	script_push_text(L, &where);
	va_start(ap, fmt);
	lua_pushvfstring(L, fmt, ap);
	va_end(ap);
	lua_concat(L, 2);
	return lua_error(L);
}

const char *script_text(lua_State *L, int idx, size_t *len)
{
	hold_stack(L);
	if (luaL_callmeta(L, idx, "__tostring")) {
		if (!lua_isstring(L, -1))
			luaL_error(L, "__tostring must return a string");
	} else if (lua_isstring(L, idx)) {
		lua_pushvalue(L, idx);
	} else {
		lua_getfield(L, LUA_REGISTRYINDEX, "wirerate.tostring");
		lua_pushvalue(L, idx < 0 ? idx - 1 : idx);
		lua_call(L, 1, 1);
	}
	return lua_tolstring(L, -1, len);
}

bool script_running(const struct script *s)
{
	return s->running;
}

int script_exit_code(const struct script *s)
{
	if (s->asked_code >= 0)
		return s->asked_code;
	return s->worst_code > 0 ? s->worst_code : s->failed > 0;
}

json_t *script_results(struct script *s)
{
	return json_incref(s->results);
}

/* Passes over a first line that begins with #, which is for the kernel. Its newline stays, so that
 * lines keep their numbers. */
static const char *skip_hashbang(const char *text)
{
	return text[0] == '#' ? text + strcspn(text, "\n") : text;
}

/* Pushes the chunk as a function, or a message. A line at the prompt may be just an expression. The
 * sandbox refuses compiled code, which could do anything. */
static int script_compile(lua_State *L, const char *text, const char *name, bool sandbox)
{
	if (sandbox && text[0] == LUA_SIGNATURE[0]) {
		lua_pushliteral(L, "compiled chunks are not taken, only text");
		return LUA_ERRSYNTAX;
	}
	if (strcmp(name, "=lua") == 0) {
		lua_pushfstring(L, "return %s\n", text);
		if (hold_load(L, lua_tostring(L, -1), lua_objlen(L, -1), name) == 0) {
			lua_remove(L, -2);
			return 0;
		}
		lua_pop(L, 2);
	}
	text = skip_hashbang(text);
	int rc = hold_load(L, text, strlen(text), name);
	if (rc == LUA_ERRSYNTAX)
		dialect_explain(L, text, strlen(text));
	return rc;
}

struct starting {
	struct script *s;
	const char *text, *name;
	const char *const *args;
	unsigned nargs;
	int rc;
	struct err *e;
};

static int start_protected(lua_State *L)
{
	struct starting *st = lua_touserdata(L, 1);
	struct script *s = st->s;

	if (!s->opts.sandbox)
		sandbox_path(L, s);
	luaL_checkstack(L, (int)st->nargs + 8, "too many arguments");
	if (script_compile(L, st->text, st->name, s->opts.sandbox) != 0) {
		const char *why = lua_tostring(L, -1);
		st->rc =
			err_set(st->e, EINVAL, "%.900s", why != NULL ? why : "it does not compile");
		return 0;
	}
	lua_createtable(L, (int)st->nargs, 1);
	lua_pushstring(L, st->name + (st->name[0] == '@' || st->name[0] == '='));
	lua_rawseti(L, -2, 0);
	for (unsigned i = 0; i < st->nargs; i++) {
		lua_pushstring(L, st->args[i]);
		lua_rawseti(L, -2, (int)i + 1);
	}
	lua_setglobal(L, "arg");
	for (unsigned i = 0; i < st->nargs; i++)
		lua_pushstring(L, st->args[i]);
	s->main = task_new(s, (int)st->nargs);
	return 0;
}

static void script_begin(struct script *s, struct sbuf *out, struct sbuf *note)
{
	s->out = out;
	s->note = note;
	s->running = true;
	s->main_done = false;
	s->ends = ENDS_NOT;
	s->worst_code = 0;
	sbuf_reset(&s->warned);
	s->asked_code = -1;
	s->expected = s->failed = 0;
	json_decref(s->results);
	s->results = NULL;
	s->says = (struct script_says){.text = ""};
	s->begin_ns = script_now_ns();
}

int script_start(struct script *s, const char *text, const char *name, const char *const *args,
		 unsigned nargs, struct sbuf *out, struct sbuf *note, struct err *e)
{
	struct starting st = {
		.s = s, .text = text, .name = name, .args = args, .nargs = nargs, .e = e};

	if (s->running)
		return err_set(e, EBUSY,
			       "a script runs already in this session; it must end first");
	if (name[0] != '@') {
		free(s->folder);
		s->folder = NULL;
	}
	/* Collect the garbage of earlier chunks: the collector itself might wait until there is
	 * more than max_bytes. */
	if (s->opts.max_bytes > 0 && s->used_bytes > s->opts.max_bytes / 4 * 3)
		lua_gc(s->L, LUA_GCCOLLECT, 0);
	int rc = lua_cpcall(s->L, start_protected, &st);
	if (rc != 0) {
		const char *why = lua_tostring(s->L, -1);
		st.rc = err_set(e, EINVAL, "%.900s", why != NULL ? why : "it does not begin");
	}
	lua_settop(s->L, 0);
	if (st.rc != 0)
		return st.rc;
	script_begin(s, out, note);
	hold_begin(s);
	return 0;
}

int script_start_file(struct script *s, const char *path, const char *const *args, unsigned nargs,
		      struct sbuf *out, struct sbuf *note, struct err *e)
{
	struct sbuf text = {0}, name = {0};
	const char *slash = strrchr(path, '/');
	int rc = s->running ? err_set(e, EBUSY,
				      "a script runs already in this session; it must end first")
			    : userfile_read(path,
					    &(struct userfile_kind){.what = "the script ",
								    .guess = "is it a text file?",
								    .most_bytes = SCRIPT_FILE_MAX,
								    .text = true},
					    &text, e);

	if (rc == 0) {
		free(s->folder);
		s->folder = slash == NULL   ? xstrdup(".")
			    : slash == path ? xstrdup("/")
					    : strndup(path, (size_t)(slash - path));
		sbuf_addf(&name, "@%s", path);
		rc = script_start(s, sbuf_str(&text), name.s, args, nargs, out, note, e);
	} else {
		e->col = 0;
	}
	sbuf_free(&text);
	sbuf_free(&name);
	return rc;
}

static void script_end(struct script *s)
{
	script_drop_all(s);
	script_run_at_end(s);
	hold_end(s);
	s->running = false;
	s->out = s->note = &s->spare;
	sbuf_reset(&s->spare);
}

int script_poll(struct script *s, struct err *e)
{
	if (!s->running)
		return VERB_DONE;
	hold_turn(s);
	int rc = task_turn(s, e);
	if (rc != VERB_PENDING)
		script_end(s);
	return rc;
}

bool script_ready(const struct script *s)
{
	for (const struct script_task *t = s->tasks; s->running && t != NULL; t = t->next)
		if (t->waits == WAITS_NOT)
			return true;
	return s->running && s->happened != NULL;
}

void script_cancel(struct script *s)
{
	if (s->running) {
		s->ends = ENDS_CANCEL;
		script_end(s);
	}
}
