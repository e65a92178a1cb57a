/* SPDX-License-Identifier: BSD-3-Clause */
/* The tasks of a script: coroutines for the chunk, and for each call of a timer's or a handler's
 * function. In each turn of the loop all tasks that can go on do so, one after the other. */
#include "script_int.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct script_task *task_new(struct script *s, int nargs)
{
	lua_State *co = lua_newthread(s->L);
	int ref = luaL_ref(s->L, LUA_REGISTRYINDEX);
	struct script_task *t = xcalloc(1, sizeof(*t)), **p = &s->tasks;

	t->co = co;
	t->ref = ref;
	t->nargs = nargs;
	lua_xmove(s->L, t->co, nargs + 1);
	while (*p != NULL)
		p = &(*p)->next;
	*p = t;
	return t;
}

void script_run_free(struct script_run *r)
{
	if (r == NULL)
		return;
	json_decref(r->run.results);
	sbuf_free(&r->line);
	sbuf_free(&r->out);
	sbuf_free(&r->note);
	sbuf_free(&r->where);
	free(r);
}

static void run_drop(struct script_run *r)
{
	if (r != NULL && !r->ended)
		cmd_cancel(&r->run);
	script_run_free(r);
}

/* Takes a task out of the list and frees it with its run. */
static void task_free(struct script *s, struct script_task *t)
{
	for (struct script_task **p = &s->tasks; *p != NULL; p = &(*p)->next)
		if (*p == t) {
			*p = t->next;
			break;
		}
	run_drop(t->run);
	if (t->timer != NULL)
		t->timer->busy = false;
	luaL_unref(s->L, LUA_REGISTRYINDEX, t->ref);
	if (s->main == t)
		s->main = NULL;
	free(t);
}

static void happened_free(struct script_happened *h)
{
	json_decref(h->doc);
	free(h->name);
	free(h->text);
	free(h);
}

/* Frees the timers and handlers that were stopped or, if all is set, every one. */
static void task_sweep(struct script *s, bool all)
{
	for (struct script_timer **p = &s->timers; *p != NULL;) {
		struct script_timer *t = *p;
		if (all || (t->fn == LUA_NOREF && !t->busy)) {
			*p = t->next;
			luaL_unref(s->L, LUA_REGISTRYINDEX, t->fn);
			free(t);
		} else {
			p = &t->next;
		}
	}
	for (struct script_handler **p = &s->handlers; *p != NULL;) {
		struct script_handler *h = *p;
		if (all || h->fn == LUA_NOREF) {
			*p = h->next;
			luaL_unref(s->L, LUA_REGISTRYINDEX, h->fn);
			free(h->event);
			free(h);
		} else {
			p = &h->next;
		}
	}
}

void script_drop_all(struct script *s)
{
	while (s->tasks != NULL)
		task_free(s, s->tasks);
	task_sweep(s, true);
	while (s->happened != NULL) {
		struct script_happened *h = s->happened;
		s->happened = h->next;
		happened_free(h);
	}
	s->happened_tail = &s->happened;
}

int task_wait(lua_State *L, enum waits w, uint64_t due_ns, struct script_run *run)
{
	struct script *s = script_of(L);

	s->now->waits = w;
	s->now->due_ns = due_ns;
	s->now->run = run;
	s->yielder = L;
	return lua_yield(L, 0);
}

/* ours(co) says whether the coroutine has yielded to the program, and not to the script. This is
 * asked once for each such yield, which is forgotten then. */
static int raw_ours(lua_State *L)
{
	struct script *s = script_of(L);
	lua_State *co = lua_tothread(L, 1);
	bool yes = co != NULL && s->yielder == co;

	if (yes)
		s->yielder = NULL;
	lua_pushboolean(L, yes);
	return 1;
}

/* giveway() yields to the program. */
static int raw_giveway(lua_State *L)
{
	script_of(L)->yielder = L;
	return lua_yield(L, 0);
}

/* unwait() is for a coroutine that wanted to wait where it cannot. It goes on at once, and gets an
 * error if it had something to wait for. */
static int raw_unwait(lua_State *L)
{
	struct script *s = script_of(L);
	struct err e;

	if (s->ends != ENDS_NOT)
		return hold_raise_end(L, s);
	if (s->now == NULL || s->now->waits == WAITS_NOT)
		return 0;
	run_drop(s->now->run);
	s->now->run = NULL;
	s->now->waits = WAITS_NOT;
	err_set(&e, EINVAL,
		"nothing can wait here, inside a function that was called by one of the library's, like string.gsub");
	lua_pushboolean(L, false);
	script_push_error(L, "", NULL, &e, -EINVAL);
	return 2;
}

void task_open(lua_State *L)
{
	lua_pushcfunction(L, raw_ours);
	lua_setfield(L, -2, "ours");
	lua_pushcfunction(L, raw_giveway);
	lua_setfield(L, -2, "giveway");
	lua_pushcfunction(L, raw_unwait);
	lua_setfield(L, -2, "unwait");
}

/* Keeps the values that the chunk returned, which are on the stack, as documents. */
static int take_results(lua_State *L)
{
	struct script *s = script_of(L);
	struct err e;
	int n = lua_gettop(L);
	bool large;

	s->results = n > 0 ? json_array() : NULL;
	for (int i = 1; i <= n; i++) {
		json_t *v = json_take(L, i, &large, &e);
		if (large)
			return luaL_error(L, "%s", e.text);
		if (v == NULL)
			v = out_json_text(script_text(L, i, NULL));
		json_array_append_new(s->results, v);
	}
	return 0;
}

static int text_of_error(lua_State *L)
{
	script_text(L, 1, NULL);
	return 1;
}

/* Calls a function of the program that may call one of the script, such as __tostring, so the
 * limits of the script hold. */
static int call_limited(struct script *s, struct script_task *t, int nargs, int nresults)
{
	s->now = t;
	s->limited = true;
	int rc = lua_pcall(s->L, nargs, nresults, 0);
	s->limited = false;
	s->now = NULL;
	s->yielder = NULL;
	return rc;
}

/* Says whether the error is that of fail(): its text is meant for the person who called the script,
 * and no traceback is printed. */
static bool is_plain(lua_State *co)
{
	bool plain = false;

	if (lua_gettop(co) > 0 && lua_istable(co, -1) && lua_checkstack(co, 2)) {
		lua_pushliteral(co, "plain");
		lua_rawget(co, -2);
		plain = lua_toboolean(co, -1);
		lua_pop(co, 1);
	}
	return plain;
}

/* Appends a traceback without addresses: functions of C are named by them, and a stranger is not to
 * know them. */
static void add_trace(const char *trace, struct sbuf *note)
{
	for (const char *at; trace != NULL && (at = strstr(trace, ": at 0x")) != NULL;
	     trace = at + 7 + strspn(at + 7, "0123456789abcdef")) {
		sbuf_addn(note, trace, (size_t)(at - trace));
		sbuf_add(note, ": in ?");
	}
	sbuf_addf(note, "%s\n", trace != NULL ? trace : "");
}

static int task_failed(struct script *s, struct script_task *t, struct err *e)
{
	lua_State *co = t->co;

	/* The traceback is made first, while the stack is still as the error left it. */
	if (!is_plain(co)) {
		luaL_traceback(s->L, co, NULL, 0);
		add_trace(lua_tostring(s->L, -1), s->note);
		lua_pop(s->L, 1);
	}
	lua_pushcfunction(s->L, text_of_error);
	if (lua_gettop(co) > 0)
		lua_xmove(co, s->L, 1);
	else
		lua_pushnil(s->L);
	call_limited(s, t, 1, 1);
	const char *text = lua_tostring(s->L, -1);
	err_set(e, EINVAL, "%.1000s", text != NULL ? text : "an error without text");
	lua_pop(s->L, 1);
	if (s->ends == ENDS_NOT)
		s->ends = ENDS_ERROR;
	return -EINVAL;
}

/* Lets a task go on. Returns VERB_PENDING, VERB_DONE if it has ended, or -errno with *e. */
static int task_resume(struct script *s, struct script_task *t, struct err *e)
{
	int n = t->nargs;

	t->nargs = 0;
	t->waits = WAITS_NOT;
	t->begun = true;
	s->now = t;
	s->yielder = NULL;
	s->limited = true;
	hold_resume(s);
	int rc = lua_resume(t->co, n);
	s->limited = false;
	s->now = NULL;
	s->yielder = NULL;
	if (s->ends != ENDS_NOT)
		return VERB_DONE;
	if (rc == LUA_YIELD) {
		lua_settop(t->co, 0);
		return VERB_PENDING;
	}
	if (rc != 0)
		return task_failed(s, t, e);
	if (t == s->main) {
		s->main_done = true;
		n = lua_gettop(t->co);
		lua_pushcfunction(s->L, take_results);
		lua_xmove(t->co, s->L, n);
		if (call_limited(s, t, n, 0) != 0) {
			const char *text = lua_tostring(s->L, -1);
			err_set(e, EINVAL, "what the chunk returned: %.900s",
				text != NULL ? text : "an error without text");
			lua_settop(s->L, 0);
			s->ends = s->ends == ENDS_NOT ? ENDS_ERROR : s->ends;
			return -EINVAL;
		}
	}
	task_free(s, t);
	return VERB_DONE;
}

/* Says whether a task can go on. Then what it waited for is on its stack. */
static bool task_ready(struct script *s, struct script_task *t)
{
	struct err e = {.col = -1};

	if (t->waits == WAITS_TIME && script_now_ns() >= t->due_ns) {
		lua_pushboolean(t->co, true);
		t->nargs = 1;
		return true;
	}
	if (t->waits == WAITS_RUN) {
		struct script_run *r = t->run;
		int rc = r->ended ? r->rc : cmd_poll(&r->run, &e);
		if (rc == VERB_PENDING)
			return false;
		if (r->ended)
			e = r->err;
		t->run = NULL;
		/* The values are made on the stack of the state, where an error can be caught, and
		 * moved over. The stack of the coroutine may have no room for them. */
		verbs_prepare(s->L);
		s->limited = true;
		t->nargs = verbs_results(s->L, r, rc, &e);
		s->limited = false;
		if (t->nargs < 0) {
			lua_pushboolean(s->L, false);
			lua_insert(s->L, -2);
			t->nargs = 2;
		}
		lua_xmove(s->L, t->co, t->nargs);
		return true;
	}
	return t->waits == WAITS_NOT;
}

static void start_timers(struct script *s)
{
	uint64_t now = script_now_ns();

	for (struct script_timer *t = s->timers; t != NULL; t = t->next) {
		if (t->fn == LUA_NOREF || t->busy || now < t->due_ns)
			continue;
		/* Calls that were missed while the program was held up are skipped, and the times
		 * of the later ones stay multiples of the interval. */
		t->due_ns += (1 + (now - t->due_ns) / t->interval_ns) * t->interval_ns;
		t->busy = true;
		lua_rawgeti(s->L, LUA_REGISTRYINDEX, t->fn);
		struct script_task *call = task_new(s, 0);
		call->timer = t;
		call->id = t->id;
	}
}

static void push_happened(lua_State *L, const struct script_happened *h)
{
	if (h->doc != NULL)
		json_push(L, h->doc);
	else
		lua_newtable(L);
	lua_pushstring(L, h->name);
	lua_setfield(L, -2, "event");
	lua_pushinteger(L, h->port);
	lua_setfield(L, -2, "port");
	if (h->text != NULL) {
		lua_pushstring(L, h->text);
		lua_setfield(L, -2, "text");
	}
}

static void start_handlers(struct script *s)
{
	while (s->happened != NULL) {
		struct script_happened *h = s->happened;
		for (struct script_handler *f = s->handlers; f != NULL; f = f->next) {
			if (f->fn == LUA_NOREF || strcmp(f->event, h->name) != 0)
				continue;
			lua_rawgeti(s->L, LUA_REGISTRYINDEX, f->fn);
			push_happened(s->L, h);
			task_new(s, 1)->id = f->id;
		}
		s->happened = h->next;
		if (s->happened == NULL)
			s->happened_tail = &s->happened;
		happened_free(h);
	}
}

static int start_due(lua_State *L)
{
	struct script *s = lua_touserdata(L, 1);

	s->limited = true;
	start_timers(s);
	start_handlers(s);
	return 0;
}

/* Says whether a call has not begun yet and its timer or handler was stopped meanwhile. */
static bool called_off(const struct script *s, const struct script_task *t)
{
	if (t->begun || t->id == 0)
		return false;
	for (const struct script_timer *i = s->timers; i != NULL; i = i->next)
		if (i->id == t->id)
			return i->fn == LUA_NOREF;
	for (const struct script_handler *h = s->handlers; h != NULL; h = h->next)
		if (h->id == t->id)
			return h->fn == LUA_NOREF;
	return true;
}

static bool has_timers(const struct script *s)
{
	for (const struct script_timer *t = s->timers; t != NULL; t = t->next)
		if (t->fn != LUA_NOREF)
			return true;
	return false;
}

static int task_ended(const struct script *s, int rc, struct err *e)
{
	switch (s->ends) {
	case ENDS_TIME:
		return err_set(e, ETIMEDOUT, "the script was ended: it may run for %g s",
			       (double)s->opts.max_ns / 1e9);
	case ENDS_HELD:
		return err_set(
			e, ETIMEDOUT,
			"the script was ended: a function that one of the library's calls, like string.gsub, took %g s of "
			"CPU, and nothing else runs meanwhile",
			(double)SCRIPT_HOLD_NS / 1e9);
	case ENDS_CANCEL:
		return err_set(e, ECANCELED, "interrupted");
	default:
		return rc;
	}
}

int task_turn(struct script *s, struct err *e)
{
	struct script_task *next;
	int rc = 0;

	if (hold_interrupted(s))
		return VERB_PENDING; /* the program handles the signal before the script goes on */
	if (s->opts.max_ns > 0 && script_now_ns() - s->begin_ns > s->opts.max_ns)
		s->ends = ENDS_TIME;
	bool begun = s->ends != ENDS_NOT || lua_cpcall(s->L, start_due, s) == 0;
	s->limited = false;
	if (!begun) {
		rc = err_set(e, ENOMEM, "%.500s", lua_tostring(s->L, -1));
		lua_settop(s->L, 0);
		return rc;
	}
	/* Only the task at hand can leave the list during this loop, so `next` stays valid. */
	for (struct script_task *t = s->tasks; t != NULL && s->ends == ENDS_NOT; t = next) {
		next = t->next;
		if (called_off(s, t)) {
			task_free(s, t);
			continue;
		}
		rc = task_ready(s, t) ? task_resume(s, t, e) : VERB_PENDING;
	}
	task_sweep(s, false);
	if (s->ends != ENDS_NOT)
		return task_ended(s, rc, e);
	return s->main_done && s->tasks == NULL && !has_timers(s) ? VERB_DONE : VERB_PENDING;
}

void script_event(struct script *s, const char *name, unsigned port, const char *text, json_t *doc)
{
	bool wanted = false;

	for (const struct script_handler *f = s->handlers; f != NULL; f = f->next)
		wanted |= f->fn != LUA_NOREF && strcmp(f->event, name) == 0;
	if (!s->running || !wanted)
		return;
	struct script_happened *h = xcalloc(1, sizeof(*h));
	h->name = xstrdup(name);
	h->text = text != NULL ? xstrdup(text) : NULL;
	h->port = port;
	h->doc = json_incref(doc);
	*s->happened_tail = h;
	s->happened_tail = &h->next;
}
