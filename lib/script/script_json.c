/* SPDX-License-Identifier: BSD-3-Clause */
/* Turns the documents of commands into tables and back, and offers the functions of lua-cjson, made
 * with jansson. */
#include "script_int.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_DEPTH 200
#define NUMBERED_MAX 65536   /* the highest number of a port, queue, stream or worker in a table */
#define BYTES_MAX (1u << 30) /* most bytes of a document if the state has no limit of memory */
#define STRANGERS_MAX (32u << 20) /* most bytes if it has one, which takes some 50 ms */
/* An array with more than SPARSE_SAFE places may have SPARSE_RATIO places for each element, as in
 * lua-cjson. */
#define SPARSE_RATIO 2
#define SPARSE_SAFE 10

/* Arrays in documents whose elements have a number, and the key of that number. */
static const struct {
	const char *list, *key;
} numbered[] = {
	{"ports", "port"},
	{"queues", "queue"},
	{"streams", "stream"},
	{"workers", "lcore"},
};

static const char *number_key(const char *list)
{
	for (size_t i = 0; i < ARRAY_SIZE(numbered); i++)
		if (strcmp(numbered[i].list, list) == 0)
			return numbered[i].key;
	return NULL;
}

/* Says whether each element of a list has a number, and no two elements have the same one. The
 * numbers have to be in ascending order, as they are in documents. */
static bool by_numbers(const json_t *list, const char *key)
{
	const json_t *v;
	json_int_t last = -1;
	size_t i;

	json_array_foreach(list, i, v) {
		const json_t *n = json_object_get(v, key);
		if (!json_is_integer(n) || json_integer_value(n) <= last)
			return false;
		last = json_integer_value(n);
	}
	return true;
}

static void push_any(lua_State *L, const json_t *v, bool plain);

/* Pushes a whole number. One that no double holds exactly becomes a text of digits, which
 * arithmetic accepts, so that nothing is lost. */
static void push_integer(lua_State *L, json_int_t n)
{
	char text[32];

	if (n <= (json_int_t)VPLAIN_MAX && n >= -(json_int_t)VPLAIN_MAX) {
		lua_pushnumber(L, (lua_Number)n);
		return;
	}
	snprintf(text, sizeof(text), "%" JSON_INTEGER_FORMAT, n);
	lua_pushstring(L, text);
}

static void push_list(lua_State *L, const json_t *list, const char *key, bool plain)
{
	const json_t *v;
	size_t i, n = json_array_size(list);
	bool by = key != NULL && by_numbers(list, key);

	lua_createtable(L, (int)n + by, 0);
	json_array_foreach(list, i, v) {
		push_any(L, v, plain);
		lua_rawseti(L, -2,
			    by ? (int)json_integer_value(json_object_get(v, key)) : (int)i + 1);
	}
	luaL_getmetatable(L, by ? "wirerate.numbered" : "wirerate.array");
	if (by || (n == 0 && plain))
		lua_setmetatable(L, -2);
	else
		lua_pop(L, 1);
}

static void push_object(lua_State *L, const json_t *obj, bool plain)
{
	const char *key;
	json_t *v;

	lua_createtable(L, 0, (int)json_object_size(obj));
	json_object_foreach((json_t *)obj, key, v) {
		lua_pushstring(L, key);
		if (json_is_array(v))
			push_list(L, v, plain ? NULL : number_key(key), plain);
		else
			push_any(L, v, plain);
		lua_rawset(L, -3);
	}
}

static void push_any(lua_State *L, const json_t *v, bool plain)
{
	luaL_checkstack(L, 8, "a document is too deep");
	switch (json_typeof(v)) {
	case JSON_OBJECT:
		push_object(L, v, plain);
		break;
	case JSON_ARRAY:
		push_list(L, v, NULL, plain);
		break;
	case JSON_STRING:
		lua_pushlstring(L, json_string_value(v), json_string_length(v));
		break;
	case JSON_INTEGER:
		push_integer(L, json_integer_value(v));
		break;
	case JSON_REAL:
		lua_pushnumber(L, json_real_value(v));
		break;
	case JSON_TRUE:
	case JSON_FALSE:
		lua_pushboolean(L, json_is_true(v));
		break;
	default:
		if (plain)
			lua_pushlightuserdata(L, NULL);
		else
			lua_pushnil(L);
	}
}

void json_push(lua_State *L, const json_t *doc)
{
	push_any(L, doc, false);
}

/* Returns how many bytes a document may take. This memory comes on top of that of the state. */
static size_t room_for_document(const struct script *s)
{
	size_t half = script_left(s) / 2;

	if (s->opts.max_bytes == 0)
		return BYTES_MAX;
	return half < STRANGERS_MAX ? half : STRANGERS_MAX;
}

/* The bound of a document that is made of a table. A table that stands in others many times is
 * written as many times, so the document may be far larger than the memory of the state. */
struct taking {
	unsigned depth;
	size_t room; /* bytes that may still be taken */
	bool large;  /* room was not enough */
};

static bool script_spend(struct taking *k, size_t bytes, struct err *e)
{
	k->large = bytes > k->room;
	if (k->large)
		err_set(e, ENOMEM,
			"not enough memory: it is too large; tables that are in it several times count as often");
	else
		k->room -= bytes;
	return !k->large;
}

static json_t *script_take(lua_State *L, int idx, struct taking *k, struct err *e);

static json_t *take_number(double n, struct err *e)
{
	if (!isfinite(n)) {
		err_set(e, EINVAL, "JSON has no number %s",
			isnan(n) ? "nan"
			: n > 0  ? "inf"
				 : "-inf");
		return NULL;
	}
	if (n == floor(n) && fabs(n) <= VPLAIN_MAX)
		return json_integer((json_int_t)n);
	return json_real(n);
}

/* Returns how many bytes a text has as JSON, without its quotes. */
static size_t json_length(const char *text, size_t len)
{
	size_t n = len;

	for (size_t i = 0; i < len; i++) {
		if ((unsigned char)text[i] < 0x20)
			n += 5;
		else
			n += text[i] == '"' || text[i] == '\\';
	}
	return n;
}

static json_t *take_string(lua_State *L, int idx, struct taking *k, struct err *e)
{
	size_t len;
	const char *text = lua_tolstring(L, idx, &len);

	if (!script_spend(k, OUT_JSON_STRING + json_length(text, len), e))
		return NULL;
	json_t *v = json_stringn(text, len);

	if (v == NULL)
		err_set(e, EINVAL, "a string is not UTF-8, and JSON has no other");
	return v;
}

/* What the keys of a table are like. */
struct shape {
	size_t n;     /* keys */
	size_t ints;  /* keys that are whole numbers from 1 on */
	size_t zeros; /* keys that are whole numbers from 0 on */
	double top;   /* the highest of these */
};

static void script_look(lua_State *L, int idx, struct shape *sh)
{
	*sh = (struct shape){0};
	for (lua_pushnil(L); lua_next(L, idx) != 0; lua_pop(L, 1)) {
		sh->n++;
		if (lua_type(L, -2) != LUA_TNUMBER)
			continue;
		double k = lua_tonumber(L, -2);
		if (k != floor(k) || k < 0 || k > INT32_MAX - 1)
			continue;
		sh->zeros++;
		sh->ints += k >= 1;
		sh->top = fmax(sh->top, k);
	}
}

static bool has_meta(lua_State *L, int idx, const char *name)
{
	if (!lua_getmetatable(L, idx))
		return false;
	luaL_getmetatable(L, name);
	bool same = lua_rawequal(L, -1, -2);
	lua_pop(L, 2);
	return same;
}

static json_t *take_list(lua_State *L, int idx, int first, int last, bool holes, struct taking *k,
			 struct err *e)
{
	json_t *list = json_array();

	for (int i = first; i <= last; i++) {
		lua_rawgeti(L, idx, i);
		json_t *v = lua_isnil(L, -1) && holes ? NULL : script_take(L, lua_gettop(L), k, e);
		bool skip = lua_isnil(L, -1) && holes;
		lua_pop(L, 1);
		if (v == NULL && !skip) {
			json_decref(list);
			return NULL;
		}
		if (v != NULL)
			json_array_append_new(list, v);
	}
	return list;
}

static json_t *take_object(lua_State *L, int idx, struct taking *k, struct err *e)
{
	json_t *obj = json_object();

	for (lua_pushnil(L); lua_next(L, idx) != 0; lua_pop(L, 1)) {
		json_t *v = NULL;
		struct sbuf key = {0};
		if (lua_type(L, -2) == LUA_TSTRING) {
			size_t len;
			const char *text = lua_tolstring(L, -2, &len);
			sbuf_addn(&key, text, len);
			if (strlen(sbuf_str(&key)) != len)
				err_set(e, EINVAL, "a key holds a zero byte");
			else if (script_spend(k, OUT_JSON_MEMBER + len, e))
				v = script_take(L, lua_gettop(L), k, e);
		} else if (lua_type(L, -2) == LUA_TNUMBER && isfinite(lua_tonumber(L, -2))) {
			value_digits(lua_tonumber(L, -2), &key);
			if (script_spend(k, OUT_JSON_MEMBER + key.len, e))
				v = script_take(L, lua_gettop(L), k, e);
		} else {
			err_set(e, EINVAL,
				"a key of a table is a %s: JSON takes strings and numbers",
				luaL_typename(L, -2));
		}
		int rc = v != NULL ? json_object_set_new(obj, sbuf_str(&key), v) : -1;
		if (v != NULL && rc != 0)
			err_set(e, EINVAL, "a key is not UTF-8, and JSON has no other");
		sbuf_free(&key);
		if (rc != 0) {
			lua_pop(L, 2);
			json_decref(obj);
			return NULL;
		}
	}
	return obj;
}

static json_t *table_at(lua_State *L, int idx, struct taking *k, struct err *e)
{
	struct shape sh;

	script_look(L, idx, &sh);
	if (has_meta(L, idx, "wirerate.numbered") && sh.zeros == sh.n && sh.top <= NUMBERED_MAX)
		return take_list(L, idx, 0, sh.n > 0 ? (int)sh.top : -1, true, k, e);
	if (sh.n == 0)
		return has_meta(L, idx, "wirerate.array") ? json_array() : json_object();
	if (sh.ints != sh.n)
		return take_object(L, idx, k, e);
	if (sh.top > SPARSE_SAFE && sh.top > (double)sh.ints * SPARSE_RATIO) {
		err_set(e, EINVAL,
			"an array has %.0f places and %zu elements: it is too sparse for JSON",
			sh.top, sh.ints);
		return NULL;
	}
	/* places without an element become null */
	return take_list(L, idx, 1, (int)sh.top, false, k, e);
}

static json_t *take_table(lua_State *L, int idx, struct taking *k, struct err *e)
{
	if (k->depth >= MAX_DEPTH) {
		err_set(e, EINVAL, "tables are nested more than %d deep, or contain themselves",
			MAX_DEPTH);
		return NULL;
	}
	k->depth++;
	/* It is not known yet whether this becomes an array or an object. The larger of both is
	 * counted. */
	json_t *v = script_spend(k, OUT_JSON_OBJECT, e) ? table_at(L, idx, k, e) : NULL;
	k->depth--;
	return v;
}

/* Takes a 64-bit number of LuaJIT's ffi, which prints as 5LL or 5ULL. Nothing else of ffi is
 * taken. */
static json_t *take_cdata(lua_State *L, int idx, struct err *e)
{
	const char *text = script_text(L, idx, NULL);
	char *end;
	json_t *v = NULL;

	errno = 0;
	long long n = strtoll(text, &end, 10);
	if (errno == 0 && end > text && (strcmp(end, "LL") == 0 || strcmp(end, "ULL") == 0))
		v = json_integer(n);
	else
		err_set(e, EINVAL, "JSON has no %.60s", text);
	lua_pop(L, 1);
	return v;
}

static json_t *script_take(lua_State *L, int idx, struct taking *k, struct err *e)
{
	if (!script_spend(k, OUT_JSON_NUMBER + OUT_JSON_ELEMENT, e))
		return NULL;
	switch (lua_type(L, idx)) {
	case LUA_TNIL:
		return json_null();
	case LUA_TBOOLEAN:
		return json_boolean(lua_toboolean(L, idx));
	case LUA_TNUMBER:
		return take_number(lua_tonumber(L, idx), e);
	case LUA_TSTRING:
		return take_string(L, idx, k, e);
	case LUA_TTABLE:
		return take_table(L, idx, k, e);
	case LUA_TLIGHTUSERDATA:
		if (lua_touserdata(L, idx) == NULL)
			return json_null();
		break;
	case 10: /* cdata */
		return take_cdata(L, idx, e);
	}
	err_set(e, EINVAL, "JSON has no %s", luaL_typename(L, idx));
	return NULL;
}

json_t *json_take(lua_State *L, int idx, bool *large, struct err *e)
{
	const struct script *s = script_of(L);
	struct taking k = {.room = room_for_document(s)};

	/* All of the stack is reserved here: an error in the middle would leak what was made before
	 * it. */
	luaL_checkstack(L, MAX_DEPTH * 4 + 40, "a table is too deep");
	json_t *v = script_take(L, idx < 0 ? lua_gettop(L) + idx + 1 : idx, &k, e);
	if (large != NULL)
		*large = k.large;
	return v;
}

/* What must be freed even if an error is raised meanwhile; in that case the garbage collector frees
 * it. */
struct held {
	json_t *doc;
	char *text;
};

static void let_go(struct held *h)
{
	json_decref(h->doc);
	free(h->text);
	*h = (struct held){0};
}

static int held_gc(lua_State *L)
{
	let_go(lua_touserdata(L, 1));
	return 0;
}

static struct held *script_hold(lua_State *L)
{
	struct held *h = lua_newuserdata(L, sizeof(*h));

	*h = (struct held){0};
	luaL_getmetatable(L, "wirerate.held");
	lua_setmetatable(L, -2);
	return h;
}

static int script_encode(lua_State *L)
{
	const size_t how = JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(17);
	struct err e;

	luaL_checkany(L, 1);
	struct held *h = script_hold(L);
	h->doc = json_take(L, 1, NULL, &e);
	if (h->doc == NULL)
		return luaL_error(L, "Cannot serialise: %s", e.text);
	/* The length is found out first, because a text that grows would need up to twice the
	 * memory. */
	size_t len = json_dumpb(h->doc, NULL, 0, how);
	if (len == 0 || 2 * len + 4096 > script_left(script_of(L)) ||
	    (h->text = malloc(len)) == NULL) {
		let_go(h);
		return luaL_error(L, "not enough memory");
	}
	json_dumpb(h->doc, h->text, len, how);
	json_decref(h->doc);
	h->doc = NULL;
	lua_pushlstring(L, h->text, len);
	let_go(h);
	return 1;
}

static int push_plain(lua_State *L)
{
	/* In a plain document null becomes cjson.null. In documents of commands it becomes nil. */
	push_any(L, lua_touserdata(L, 1), true);
	return 1;
}

static int push_document(lua_State *L)
{
	push_any(L, lua_touserdata(L, 1), false);
	return 1;
}

void json_prepare(lua_State *L)
{
	luaL_checkstack(L, 8, "too many values");
	lua_pushcfunction(L, push_document);
}

int json_push_taken(lua_State *L, json_t *doc)
{
	lua_pushlightuserdata(L, doc);
	int rc = lua_pcall(L, 1, 1, 0);
	json_decref(doc);
	return rc == 0 ? 1 : lua_error(L);
}

static int script_decode(lua_State *L)
{
	size_t len;
	const char *text = luaL_checklstring(L, 1, &len);
	const struct script *s = script_of(L);
	json_error_t why;

	size_t values, bytes = out_json_bytes(text, len, &values), room = room_for_document(s);
	if (bytes > room)
		return luaL_error(
			L,
			"not enough memory: what this text says takes %d KB, and there is room for %d",
			(int)(bytes >> 10), (int)(room >> 10));
	lua_pushcfunction(L, push_plain);
	json_t *doc = json_loadb(text, len, JSON_DECODE_ANY | JSON_ALLOW_NUL, &why);
	if (doc == NULL)
		return luaL_error(L, "line %d, column %d: %s", why.line, why.column, why.text);
	return json_push_taken(L, doc);
}

void json_open(lua_State *L)
{
	luaL_newmetatable(L, "wirerate.held");
	lua_pushcfunction(L, held_gc);
	lua_setfield(L, -2, "__gc");
	lua_pop(L, 1);
	luaL_newmetatable(L, "wirerate.numbered");
	lua_pushboolean(L, false);
	lua_setfield(L, -2, "__metatable");
	lua_pop(L, 1);
	luaL_newmetatable(L, "wirerate.array");
	lua_pop(L, 1);
}

int json_module(lua_State *L)
{
	lua_newtable(L);
	lua_pushcfunction(L, script_encode);
	lua_setfield(L, -2, "encode");
	lua_pushcfunction(L, script_decode);
	lua_setfield(L, -2, "decode");
	lua_pushlightuserdata(L, NULL);
	lua_setfield(L, -2, "null");
	luaL_getmetatable(L, "wirerate.array");
	lua_setfield(L, -2, "empty_array_mt");
	lua_newtable(L);
	luaL_getmetatable(L, "wirerate.array");
	lua_setmetatable(L, -2);
	lua_setfield(L, -2, "empty_array");
	lua_pushliteral(L, "wirerate");
	lua_setfield(L, -2, "_NAME");
	return 1;
}
