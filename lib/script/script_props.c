/* SPDX-License-Identifier: BSD-3-Clause */
/* Settings as properties: of the module for those that belong to no port, of port[N], and of
 * objects of a port that have numbers, such as port[N].stream[S]. */
#include "script_int.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What stands in Lua for a port or for an object of it that has a number, such as a stream. */
struct place {
	uint32_t port, id;             /* UINT32_MAX: all of them */
	const struct cmd_scope *scope; /* of the object; NULL: this is a port */
	bool list; /* this is wr.port[N].stream: all the port's objects of scope */
};

#define PLACE "wirerate.place"

static struct place *place_new(lua_State *L, const struct place *p)
{
	struct place *n = lua_newuserdata(L, sizeof(*n));

	*n = *p;
	luaL_getmetatable(L, PLACE);
	lua_setmetatable(L, -2);
	return n;
}

static struct place *place_at(lua_State *L, int idx)
{
	struct place *p = lua_touserdata(L, idx);

	if (p == NULL || lua_type(L, idx) != LUA_TUSERDATA || !lua_getmetatable(L, idx))
		return NULL;
	luaL_getmetatable(L, PLACE);
	bool same = lua_rawequal(L, -1, -2);
	lua_pop(L, 2);
	return same ? p : NULL;
}

static void number_text(uint32_t n, struct sbuf *out)
{
	if (n == UINT32_MAX)
		sbuf_add(out, "all");
	else
		sbuf_addf(out, "%u", n);
}

static void place_text(const struct place *p, struct sbuf *out)
{
	number_text(p->port, out);
	if (p->scope == NULL || p->list)
		return;
	sbuf_addc(out, '/');
	cmd_scope_word(p->scope, out);
	number_text(p->id, out);
}

bool props_target(lua_State *L, int idx, struct sbuf *out)
{
	const struct place *p = place_at(L, idx);

	if (p != NULL)
		place_text(p, out);
	return p != NULL;
}

static void place_target(const struct place *p, struct target *t)
{
	*t = (struct target){.n = 1};
	t->item[0].p0 = p->port == UINT32_MAX ? 0 : p->port;
	t->item[0].p1 = p->port;
	if (p->scope == NULL)
		return;
	t->kind = p->scope->bare ? NULL : p->scope->name;
	t->item[0].has_streams = true;
	t->item[0].s0 = p->id == UINT32_MAX ? 0 : p->id;
	t->item[0].s1 = p->id;
}

/* Raises an error at the line of the script that is running. line is the command that a person
 * would have typed, and is freed; NULL: there is none. Does not return. */
static int props_refuse(lua_State *L, const struct err *e, int code, struct sbuf *line)
{
	struct sbuf where = {0};

	script_where(L, &where);
	script_push_error(L, sbuf_str(&where), line != NULL ? sbuf_str(line) : NULL, e, code);
	sbuf_free(&where);
	if (line != NULL)
		sbuf_free(line);
	return lua_error(L);
}

/* Pushes the table of the rows that were found by their names at places of this sort. They are kept
 * apart by sort, because the same name may mean different rows. */
static void push_found(lua_State *L, const struct place *p)
{
	static const char of_module, of_port;
	const void *sort = p == NULL ? &of_module : p->scope == NULL ? &of_port : (void *)p->scope;

	lua_pushlightuserdata(L, (void *)sort);
	lua_rawget(L, LUA_REGISTRYINDEX);
	if (lua_type(L, -1) == LUA_TTABLE)
		return;
	lua_pop(L, 1);
	lua_newtable(L);
	lua_pushlightuserdata(L, (void *)sort);
	lua_pushvalue(L, -2);
	lua_rawset(L, LUA_REGISTRYINDEX);
}

/* Finds a row by its name. The table is large, so rows that were found are remembered. */
static const struct setting *props_find(lua_State *L, const struct place *p, const char *name,
					struct err *e)
{
	struct script *s = script_of(L);
	struct target t;

	push_found(L, p);
	lua_getfield(L, -1, name);
	const struct setting *row = lua_touserdata(L, -1);
	lua_pop(L, 1);
	if (row == NULL) {
		if (p != NULL)
			place_target(p, &t);
		row = cmd_setting_for(s->host.cmd, p != NULL ? &t : NULL, name, e);
		if (row != NULL) {
			lua_pushlightuserdata(L, (void *)row);
			lua_setfield(L, -2, name);
		}
	}
	lua_pop(L, 1);
	return row;
}

static void push_value(void *arg, const struct setting *row, const void *val)
{
	lua_State *L = arg;
	struct sbuf text = {0};
	double n = 0;

	switch (row->v.type->plain != NULL ? row->v.type->plain(&row->v, val, &n) : VPLAIN_TEXT) {
	case VPLAIN_NUMBER:
		lua_pushnumber(L, n);
		return;
	case VPLAIN_BOOL:
		lua_pushboolean(L, n != 0);
		return;
	default:
		row->v.type->print(&row->v, val, &text);
		script_push_text(L, &text);
	}
}

/* The number of the object that a place is; 0: it has none, or it is all of them. */
static unsigned place_id(const struct place *p)
{
	return p->scope != NULL && p->id != UINT32_MAX ? p->id : 0;
}

/* Checks that a place is one port or one object, and not all: 0 or -EINVAL with *e. */
static int props_single(const struct place *p, struct err *e)
{
	if (p == NULL || (p->port != UINT32_MAX && (p->scope == NULL || p->id != UINT32_MAX)))
		return 0;
	return err_set(e, EINVAL, "which one? Values of all of them are read one by one");
}

static int props_get(lua_State *L, const struct place *p, const char *name)
{
	struct script *s = script_of(L);
	struct err e = {.col = -1};
	const struct setting *row = props_find(L, p, name, &e);
	int rc = row != NULL ? props_single(p, &e) : -EINVAL;

	if (rc == 0)
		rc = cmd_setting_value(s->host.cmd, row, p != NULL ? p->port : 0,
				       p != NULL ? place_id(p) : 0, push_value, L, &e);
	if (rc == 0)
		return 1;
	e.col = -1;
	return props_refuse(L, &e, rc, NULL);
}

static void type_of(void *arg, const struct setting *row, const void *val)
{
	(void)val;
	*(const struct vspec **)arg = &row->v;
}

/* Returns the type of a row; for an alias row the type of the row that it stands for at this place.
 * NULL: unknown. */
static const struct vspec *spec_at(struct script *s, const struct place *p,
				   const struct setting *row)
{
	const struct vspec *v = row->v.type != NULL ? &row->v : NULL;

	if (row->resolve != NULL && p != NULL)
		cmd_setting_value(s->host.cmd, row, p->port == UINT32_MAX ? 0 : p->port,
				  place_id(p), type_of, &v, NULL);
	return v;
}

/* Removes what a setting has noted, from byte `from` on, if it is the same text as the last time.
 * Otherwise a loop would give the same warning again and again. */
static void say_once(struct script *s, size_t from)
{
	const char *said = sbuf_str(s->note) + from;

	if (s->note->len == from)
		return;
	if (strcmp(sbuf_str(&s->warned), said) == 0) {
		s->note->len = from;
		s->note->s[from] = '\0';
		return;
	}
	sbuf_reset(&s->warned);
	sbuf_add(&s->warned, said);
}

/* Writes the value at idx to a row, and makes *line the command that does the same. 0 or -errno
 * with *e, whose column is one of *line. */
static int props_write(lua_State *L, const struct place *p, const struct setting *row, int idx,
		       struct sbuf *line, struct err *e)
{
	struct script *s = script_of(L);
	struct sbuf text = {0};
	struct target t;
	int rc = -EINVAL;

	sbuf_add(line, "set ");
	if (p != NULL) {
		place_text(p, line);
		place_target(p, &t);
		sbuf_addc(line, ' ');
	}
	sbuf_addf(line, "%s ", row->name);
	size_t at = line->len;
	e->col = -1;
	if (props_value_text(L, idx, spec_at(s, p, row), &text, e)) {
		sbuf_add(line, sbuf_str(&text));
		size_t noted = s->note->len;
		rc = cmd_set(s->host.cmd, p != NULL ? &t : NULL, row, sbuf_str(&text), s->note, e);
		say_once(s, noted);
		if (rc < 0 && e->col >= 0)
			e->col += (int)at;
	}
	sbuf_free(&text);
	return rc;
}

static int props_set(lua_State *L, const struct place *p, const char *name, int idx)
{
	struct err e = {.col = -1};
	const struct setting *row = props_find(L, p, name, &e);
	struct sbuf line = {0};
	int rc = -EINVAL;

	script_room(L, script_of(L), 0);
	if (row != NULL)
		rc = props_write(L, p, row, idx, &line, &e);
	else
		e.col = -1;
	if (rc != 0)
		return props_refuse(L, &e, rc, row != NULL ? &line : NULL);
	sbuf_free(&line);
	return 0;
}

int props_global_get(lua_State *L)
{
	if (lua_type(L, 2) != LUA_TSTRING) {
		lua_pushnil(L);
		return 1;
	}
	return props_get(L, NULL, lua_tostring(L, 2));
}

int props_global_set(lua_State *L)
{
	return props_set(L, NULL, luaL_checkstring(L, 2), 3);
}

/* Several settings that are written together, all of them or none. */
struct undo {
	const struct setting *row;
	char *old; /* the text of the value before; NULL: it has not been written yet */
};
struct many {
	struct undo *u;
	unsigned n;
};

static int many_gc(lua_State *L)
{
	struct many *m = lua_touserdata(L, 1);

	for (unsigned i = 0; i < m->n; i++)
		free(m->u[i].old);
	free(m->u);
	*m = (struct many){0};
	return 0;
}

/* Returns the place of a row in the table. Settings are written in this order, whatever the order
 * in a Lua table is. */
static unsigned row_place(struct cmd *cmd, const struct setting *row)
{
	unsigned n = cmd_nsettings(cmd), i = 0;

	while (i < n && cmd_setting_at(cmd, i) != row)
		i++;
	return i;
}

static void many_add(lua_State *L, struct many *m, struct cmd *cmd, const struct setting *row,
		     int key)
{
	unsigned at = m->n;

	for (unsigned i = 0; i < m->n; i++)
		if (m->u[i].row == row)
			luaL_error(L, "%s is given twice: \"%s\" is another name of it", row->name,
				   lua_tostring(L, key));
	m->u = xrealloc(m->u, (m->n + 1) * sizeof(*m->u));
	while (at > 0 && row_place(cmd, m->u[at - 1].row) > row_place(cmd, row)) {
		m->u[at] = m->u[at - 1];
		at--;
	}
	m->u[at] = (struct undo){.row = row};
	m->n++;
}

/* Returns the text that would set the row to the value that it has now, in new memory. */
static char *old_text(struct script *s, const struct place *p, const struct setting *row)
{
	struct sbuf text = {0};
	bool differs = cmd_setting_text(s->host.cmd, row, p->port, place_id(p), &text);
	char *old =
		xstrdup(row->resolve == NULL && row->store != NULL && !differs ? "default"
									       : sbuf_str(&text));

	sbuf_free(&text);
	return old;
}

static void props_undo(struct script *s, const struct place *p, struct many *m, unsigned done)
{
	struct target t;

	place_target(p, &t);
	while (done-- > 0)
		cmd_set(s->host.cmd, &t, m->u[done].row, m->u[done].old, NULL, NULL);
}

/* place:set{...}, with the table at 2 on the stack. First all rows are found, and then they are
 * written. If one is refused, those that were written before it get their old values back. */
static int set_many(lua_State *L)
{
	struct place *p = place_at(L, 1);
	struct script *s = script_of(L);
	struct err e = {.col = -1};
	struct sbuf line = {0};
	int rc = 0;

	luaL_argcheck(L, p != NULL && !p->list, 1, "a port or a stream is wanted");
	luaL_checktype(L, 2, LUA_TTABLE);
	lua_settop(L, 2);
	if (props_single(p, &e) != 0)
		return props_refuse(L, &e, -EINVAL, NULL);
	struct many *m = lua_newuserdata(L, sizeof(*m));
	*m = (struct many){0};
	luaL_getmetatable(L, "wirerate.many");
	lua_setmetatable(L, -2);
	lua_newtable(L); /* 4: row -> value */
	for (lua_pushnil(L); lua_next(L, 2) != 0; lua_pop(L, 1)) {
		if (lua_type(L, -2) != LUA_TSTRING)
			return luaL_error(L, "names of settings are text, not a %s",
					  luaL_typename(L, -2));
		const struct setting *row = props_find(L, p, lua_tostring(L, -2), &e);
		e.col = -1;
		if (row == NULL)
			return props_refuse(L, &e, -EINVAL, NULL);
		many_add(L, m, s->host.cmd, row, -2);
		lua_pushlightuserdata(L, (void *)row);
		lua_pushvalue(L, -2);
		lua_rawset(L, 4);
	}
	unsigned i = 0;
	for (; i < m->n && rc == 0; i++) {
		lua_pushlightuserdata(L, (void *)m->u[i].row);
		lua_rawget(L, 4);
		m->u[i].old = old_text(s, p, m->u[i].row);
		sbuf_reset(&line);
		rc = props_write(L, p, m->u[i].row, lua_gettop(L), &line, &e);
		lua_pop(L, 1);
	}
	if (rc == 0) {
		sbuf_free(&line);
		lua_pushvalue(L, 1);
		return 1;
	}
	props_undo(s, p, m, i - 1);
	return props_refuse(L, &e, rc, &line);
}

static int push_verb(lua_State *L, const char *name)
{
	lua_getfield(L, LUA_REGISTRYINDEX, "wirerate.verb");
	lua_getfield(L, -1, name);
	lua_remove(L, -2);
	return 1;
}

/* The iterator that streams() returns, and the like of other scopes. It gives the ids of a port's
 * objects in ascending order, each with its object. Its state is the list of them and the last
 * id. */
static int next_object(lua_State *L)
{
	struct script *s = script_of(L);
	struct place *p = place_at(L, 1);
	lua_Number last = luaL_optnumber(L, 2, -1);
	struct err e;

	luaL_argcheck(L, p != NULL && p->list, 1, "a port is wanted");
	for (uint32_t id = (uint32_t)(last + 1); id <= TARGET_MAX_STREAM; id++) {
		struct place one = {.port = p->port, .id = id, .scope = p->scope};
		struct target t;
		place_target(&one, &t);
		if (cmd_target_check(s->host.cmd, &t, &e) != 0) {
			t.item[0].s1 = UINT32_MAX;
			if (cmd_target_check(s->host.cmd, &t, &e) != 0)
				break;
			continue;
		}
		lua_pushinteger(L, (lua_Integer)id);
		place_new(L, &one);
		return 2;
	}
	return 0;
}

/* port[N]:streams(), and the like of other scopes: the scope is the upvalue. */
static int props_objects(lua_State *L)
{
	const struct cmd_scope *scope = lua_touserdata(L, lua_upvalueindex(1));
	struct place *p = place_at(L, 1);

	if (p == NULL || p->port == UINT32_MAX)
		return luaL_argerror(L, 1,
				     lua_pushfstring(L, "one port is wanted: wr.port[0]:%ss()",
						     scope->name));
	lua_pushcfunction(L, next_object);
	place_new(L, &(struct place){.port = p->port, .scope = scope, .list = true});
	lua_pushinteger(L, -1);
	return 3;
}

/* Reads a number or "all" that stands in brackets; false: it is neither. */
static bool index_at(lua_State *L, int idx, uint32_t most, uint32_t *out)
{
	if (lua_type(L, idx) == LUA_TSTRING && strcmp(lua_tostring(L, idx), "all") == 0) {
		*out = UINT32_MAX;
		return true;
	}
	if (lua_type(L, idx) != LUA_TNUMBER)
		return false;
	double n = lua_tonumber(L, idx);
	if (n != floor(n) || n < 0 || n > most)
		return false;
	*out = (uint32_t)n;
	return true;
}

/* Pushes a place that exists. Raises an error if it does not. */
static int checked_place(lua_State *L, const struct place *p)
{
	struct target t;
	struct err e;

	place_target(p, &t);
	int rc = cmd_target_check(script_of(L)->host.cmd, &t, &e);
	e.col = -1;
	if (rc != 0)
		return props_refuse(L, &e, rc, NULL);
	place_new(L, p);
	return 1;
}

/* port[0]: __index of the table of ports. */
static int ports_index(lua_State *L)
{
	struct place p = {0};

	if (!index_at(L, 2, TARGET_MAX_PORT, &p.port))
		return luaL_error(L, "ports are numbers from 0 on, or \"all\"");
	return checked_place(L, &p);
}

static int list_index(lua_State *L, const struct place *p)
{
	struct place one = {.port = p->port, .scope = p->scope};

	if (!index_at(L, 2, TARGET_MAX_STREAM, &one.id))
		return luaL_error(L, "%ss are numbers from 0 on, or \"all\"", p->scope->name);
	return checked_place(L, &one);
}

static const struct {
	const char *name, *verb;
	bool of_stream;
} methods[] = {
	{"start", "start", false},     {"stop", "stop", false},
	{"wait", "wait", false},       {"clear", "clear", false},
	{"reset", "reset", false},     {"add", "stream_add", false},
	{"copy", "stream_copy", true}, {"delete", "stream_delete", true},
	{"move", "stream_move", true},
};

/* Pushes what a port has for each scope whose objects have numbers: the list `stream` and the
 * function streams(). false: the key is neither of any scope. */
static bool objects_index(lua_State *L, const struct place *p, const char *key)
{
	struct cmd *cmd = script_of(L)->host.cmd;

	for (unsigned i = 0; i < cmd_nscopes(cmd); i++) {
		const struct cmd_scope *scope = cmd_scope_at(cmd, i);
		size_t len = strlen(scope->name);
		if (scope->level != LEVEL_NUMBERED || strncmp(key, scope->name, len) != 0)
			continue;
		if (key[len] == '\0') {
			place_new(L,
				  &(struct place){.port = p->port, .scope = scope, .list = true});
			return true;
		}
		if (strcmp(key + len, "s") == 0) {
			lua_pushlightuserdata(L, (void *)scope);
			lua_pushcclosure(L, props_objects, 1);
			return true;
		}
	}
	return false;
}

static int place_index(lua_State *L)
{
	struct place *p = place_at(L, 1);

	luaL_argcheck(L, p != NULL, 1, "a port or a stream is wanted");
	if (p->list)
		return list_index(L, p);
	if (lua_type(L, 2) != LUA_TSTRING)
		return luaL_error(L, "names of settings are text, not a %s", luaL_typename(L, 2));
	const char *key = lua_tostring(L, 2);
	if (strcmp(key, "set") == 0) {
		lua_pushcfunction(L, set_many);
		return 1;
	}
	if (p->scope == NULL && objects_index(L, p, key))
		return 1;
	if (strcmp(key, p->scope != NULL ? "id" : "number") == 0) {
		lua_pushinteger(L, (lua_Integer)(p->scope != NULL ? p->id : p->port));
		return 1;
	}
	if (p->scope != NULL && strcmp(key, "port") == 0) {
		place_new(L, &(struct place){.port = p->port});
		return 1;
	}
	for (size_t i = 0; i < ARRAY_SIZE(methods); i++)
		if (methods[i].of_stream ? p->scope != NULL && p->scope->bare : p->scope == NULL)
			if (strcmp(methods[i].name, key) == 0)
				return push_verb(L, methods[i].verb);
	return props_get(L, p, key);
}

static int place_newindex(lua_State *L)
{
	struct place *p = place_at(L, 1);

	luaL_argcheck(L, p != NULL && !p->list, 1, "a port or a stream is wanted");
	if (lua_type(L, 2) != LUA_TSTRING)
		return luaL_error(L, "names of settings are text, not a %s", luaL_typename(L, 2));
	return props_set(L, p, lua_tostring(L, 2), 3);
}

static int place_eq(lua_State *L)
{
	const struct place *a = place_at(L, 1), *b = place_at(L, 2);

	lua_pushboolean(L, a != NULL && b != NULL && a->port == b->port && a->scope == b->scope &&
				   a->list == b->list && a->id == b->id);
	return 1;
}

static int place_tostring(lua_State *L)
{
	struct place *p = place_at(L, 1);
	struct sbuf text = {0};

	luaL_argcheck(L, p != NULL, 1, "a port or a stream is wanted");
	place_text(p, &text);
	return script_push_text(L, &text);
}

static int ports_newindex(lua_State *L)
{
	return luaL_error(
		L,
		"ports are there or not; their settings are set one by one, wr.port[0].rate = ..., or with wr.port[0]:set{...}");
}

static void props_put(lua_State *L, const char *name, lua_CFunction fn)
{
	lua_pushcfunction(L, fn);
	lua_setfield(L, -2, name);
}

/* Adds the field `port` to the module, which is on top of the stack. */
void props_open(lua_State *L, struct script *s)
{
	(void)s;
	luaL_newmetatable(L, PLACE);
	props_put(L, "__index", place_index);
	props_put(L, "__newindex", place_newindex);
	props_put(L, "__eq", place_eq);
	props_put(L, "__tostring", place_tostring);
	props_put(L, "__call", set_many);
	lua_pushboolean(L, false);
	lua_setfield(L, -2, "__metatable");
	lua_pop(L, 1);
	luaL_newmetatable(L, "wirerate.many");
	props_put(L, "__gc", many_gc);
	lua_pop(L, 1);
	lua_newtable(L); /* port */
	lua_newtable(L);
	props_put(L, "__index", ports_index);
	props_put(L, "__newindex", ports_newindex);
	lua_pushboolean(L, false);
	lua_setfield(L, -2, "__metatable");
	lua_setmetatable(L, -2);
	lua_setfield(L, -2, "port");
}
