/* SPDX-License-Identifier: BSD-3-Clause */
/* Turns the arguments of a verb's function into the line that a person would have typed, so that
 * one parser reads both. */
#include "script_int.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The values that were given for the verb's arguments, by name or by position. */
struct given {
	lua_State *L;
	struct cmd *cmd;
	const struct verb *verb;
	const struct arg_spec *a;
	unsigned n;              /* arguments of the verb */
	int at[CMD_MAX_ARGS];    /* by name: the place of each value on the stack; 0: not given */
	bool word[CMD_MAX_ARGS]; /* by name: this literal word is to be written */
	int first, count;        /* by position: the place of the first value, and their number */
	int spec[LUA_MINSTACK * 4]; /* by position: which argument each value is */
	struct target targets;      /* the targets among the arguments */
	bool has_targets;
};

static const char *const reserved[] = {
	"and",      "break",  "do",   "else", "elseif", "end",   "false", "for",
	"function", "goto",   "if",   "in",   "local",  "nil",   "not",   "or",
	"repeat",   "return", "then", "true", "until",  "while",
};

void args_key(const char *name, struct sbuf *out)
{
	size_t from = out->len;

	sbuf_add(out, "");
	for (; *name != '\0'; name++)
		sbuf_addc(out, isalnum((unsigned char)*name) ? (char)tolower((unsigned char)*name)
							     : '_');
	for (size_t i = 0; i < ARRAY_SIZE(reserved); i++)
		if (strcmp(out->s + from, reserved[i]) == 0) {
			sbuf_addc(out, '_');
			return;
		}
}

void verb_key(const struct verb *v, struct sbuf *out)
{
	args_key(v->name, out);
}

static const char *spec_name(const struct arg_spec *a)
{
	return a->name != NULL          ? a->name
	       : a->kind == ARG_TARGETS ? "ports"
	       : a->kind == ARG_FILE    ? "file"
					: "value";
}

static bool args_begins(const char *word, const char *text)
{
	return text[0] != '\0' && strncmp(word, text, strlen(text)) == 0;
}

static bool fits_choice(const struct arg_spec *a, const char *text)
{
	for (unsigned i = 0; a->v.choices[i] != NULL; i++)
		if (args_begins(a->v.choices[i], text))
			return true;
	return false;
}

/* Says whether the value at idx may be this argument. Only its type and the beginning of its text
 * are looked at. */
static bool args_fits(const struct given *g, const struct arg_spec *a, int idx)
{
	lua_State *L = g->L;
	int type = lua_type(L, idx);
	const char *text = type == LUA_TSTRING ? lua_tostring(L, idx) : NULL;
	double n = type == LUA_TNUMBER ? lua_tonumber(L, idx) : -1;

	switch (a->kind) {
	case ARG_WORD:
		return text != NULL && args_begins(a->name, text);
	case ARG_TARGETS:
		return type == LUA_TTABLE || type == LUA_TUSERDATA || n >= 0 ||
		       (text != NULL &&
			(isdigit((unsigned char)text[0]) || strncmp(text, "all", 3) == 0));
	case ARG_CHOICE:
		return text != NULL && fits_choice(a, text);
	case ARG_VALUE:
		return type == LUA_TNUMBER || type == LUA_TBOOLEAN || text != NULL;
	case ARG_SETTING:
	case ARG_FILE:
		return text != NULL;
	default:
		return true;
	}
}

/* Assigns the values from k on to the arguments from i on, just as match.c does with words.
 * grouped: argument i belongs to an optional group whose word was given. false: they do not fit. */
static bool args_align(struct given *g, unsigned i, int k, bool grouped)
{
	if (i == g->n || k == g->count)
		return k == g->count;
	const struct arg_spec *a = &g->a[i];
	bool opt = a->flags & ARG_OPT, needed = !opt || (grouped && a->kind != ARG_WORD);
	if (args_fits(g, a, g->first + k)) {
		g->spec[k] = (int)i;
		if (a->kind == ARG_REST) {
			for (int j = k; j < g->count; j++)
				g->spec[j] = (int)i;
			return true;
		}
		if (args_align(g, i + 1, k + 1, opt && (a->kind == ARG_WORD || grouped)))
			return true;
	}
	return needed ? false : args_align(g, verb_group_end(g->a, i), k, false);
}

bool props_value_text(lua_State *L, int idx, const struct vspec *v, struct sbuf *out, struct err *e)
{
	size_t len;
	const char *text;
	double n;

	switch (lua_type(L, idx)) {
	case LUA_TNIL:
		sbuf_add(out, "default");
		return true;
	case LUA_TBOOLEAN:
		sbuf_add(out, lua_toboolean(L, idx) ? "on" : "off");
		return true;
	case LUA_TNUMBER:
		n = lua_tonumber(L, idx);
		if (!isfinite(n)) {
			err_set(e, EINVAL, "%s is no number", isnan(n) ? "nan" : "inf");
			return false;
		}
		if (v != NULL && v->type != NULL && v->type->number != NULL)
			v->type->number(v, n, out);
		else
			value_digits(n, out);
		return true;
	case LUA_TSTRING:
		text = lua_tolstring(L, idx, &len);
		if (strlen(text) != len) {
			err_set(e, EINVAL, "the text holds a zero byte");
			return false;
		}
		sbuf_addn(out, text, len);
		sbuf_add(out, "");
		return true;
	default:
		err_set(e, EINVAL,
			"a %s is no value; it takes text, numbers in base units, true, false, or nil for its default",
			luaL_typename(L, idx));
		return false;
	}
}

/* Appends a value as a list of ports: {0, "1/3", wr.port[2]} becomes 0,1/3,2. */
static int put_targets(struct given *g, int idx, struct sbuf *out, struct err *e)
{
	lua_State *L = g->L;

	if (lua_type(L, idx) == LUA_TTABLE) {
		int n = (int)lua_objlen(L, idx);
		if (n == 0)
			return err_set(e, EINVAL, "a list of ports is empty");
		for (int i = 1; i <= n; i++) {
			lua_rawgeti(L, idx, i);
			if (i > 1)
				sbuf_addc(out, ',');
			int rc = lua_type(L, -1) == LUA_TTABLE
					 ? err_set(e, EINVAL, "a list of ports holds a list")
					 : put_targets(g, lua_gettop(L), out, e);
			lua_pop(L, 1);
			if (rc != 0)
				return rc;
		}
		return 0;
	}
	if (props_target(L, idx, out))
		return 0;
	if (lua_type(L, idx) != LUA_TSTRING && lua_type(L, idx) != LUA_TNUMBER)
		return err_set(e, EINVAL,
			       "a %s is no port; a number is, text like \"0-3\", or wr.port[0]",
			       luaL_typename(L, idx));
	return props_value_text(L, idx, NULL, out, e) ? 0 : -EINVAL;
}

static int put_one(struct given *g, const struct arg_spec *a, const struct vspec *v, int idx,
		   struct sbuf *line, struct err *e)
{
	struct sbuf text = {0};
	int rc = 0;

	if (lua_type(g->L, idx) == LUA_TNIL)
		rc = err_set(e, EINVAL, "%s is nil", spec_name(a));
	else if (a->kind == ARG_TARGETS || props_target(g->L, idx, &text))
		rc = text.len > 0 ? 0 : put_targets(g, idx, &text, e);
	else if (!props_value_text(g->L, idx, v, &text, e))
		rc = -EINVAL;
	if (rc == 0 && text.len + line->len > SCRIPT_LINE_MAX)
		rc = err_set(e, EMSGSIZE, "a command has at most %d bytes", SCRIPT_LINE_MAX);
	if (rc == 0 && a->kind == ARG_TARGETS)
		g->has_targets = cmd_target_parse(g->cmd, sbuf_str(&text), &g->targets, NULL) == 0;
	if (rc == 0) {
		if (line->len > 0)
			sbuf_addc(line, ' ');
		/* The name of a setting may have several words, so it is not quoted. */
		if (a->kind == ARG_SETTING)
			sbuf_add(line, sbuf_str(&text));
		else
			cmd_quote(sbuf_str(&text), line);
	} else {
		struct err inner = *e;
		err_set(e, -rc, "%s: %.900s", spec_name(a), inner.text);
	}
	sbuf_free(&text);
	return rc;
}

/* Returns the type of argument i, because a number is written with the units of its type. The
 * argument is a value, or it is the value of a setting whose name is at `setting` on the stack.
 * NULL: the type is not known. */
static const struct vspec *value_spec(struct given *g, unsigned i, int setting)
{
	const struct setting *row;

	if (g->a[i].kind == ARG_VALUE)
		return &g->a[i].v;
	if (g->a[i].kind != ARG_REST || setting == 0 || lua_type(g->L, setting) != LUA_TSTRING)
		return NULL;
	row = cmd_setting_for(g->cmd, g->has_targets ? &g->targets : NULL,
			      lua_tostring(g->L, setting), NULL);
	return row != NULL ? &row->v : NULL;
}

static int args_positional(struct given *g, struct sbuf *line, struct err *e)
{
	static const struct arg_spec any = {ARG_VALUE, "argument"},
				     list = {ARG_TARGETS, "argument"};
	int setting = 0, rc = 0;

	sbuf_add(line, g->verb->name);
	for (int k = 0; k < g->count; k++)
		g->spec[k] = -1;
	if (!args_align(g, 0, 0, false))
		for (int k = 0; k < g->count; k++)
			g->spec[k] = -1;
	for (int k = 0; k < g->count && rc == 0; k++) {
		const struct arg_spec *a = g->spec[k] >= 0 ? &g->a[g->spec[k]] : &any;
		if (g->spec[k] < 0 && lua_type(g->L, g->first + k) == LUA_TTABLE)
			a = &list;
		if (a->kind == ARG_SETTING)
			setting = g->first + k;
		rc = put_one(g, a,
			     g->spec[k] >= 0 ? value_spec(g, (unsigned)g->spec[k], setting) : NULL,
			     g->first + k, line, e);
	}
	return rc;
}

/* Pushes the value that the table has for an argument and returns its place; 0: there is none. The
 * key may be the name in Lua, with or without the underscore of a reserved word, or the name
 * itself: "max_loss", "for_", "for", "DURATION". */
static int named_at(struct given *g, int table, const char *name)
{
	lua_State *L = g->L;
	struct sbuf made = {0};
	char key[64];

	args_key(name, &made);
	int n = snprintf(key, sizeof(key), "%s", sbuf_str(&made));
	sbuf_free(&made);
	/* reading a field may raise an error, so nothing may be allocated here */
	lua_getfield(L, table, key);
	if (lua_isnil(L, -1) && n > 0 && n < (int)sizeof(key) && key[n - 1] == '_') {
		lua_pop(L, 1);
		key[n - 1] = '\0';
		lua_getfield(L, table, key);
	}
	if (lua_isnil(L, -1)) {
		lua_pop(L, 1);
		lua_getfield(L, table, name);
	}
	if (!lua_isnil(L, -1))
		return lua_gettop(L);
	lua_pop(L, 1);
	return 0;
}

static bool same_key(const char *name, const char *key)
{
	struct sbuf made = {0};

	args_key(name, &made);
	size_t n = strlen(key);
	bool same = strcmp(sbuf_str(&made), key) == 0 || strcmp(name, key) == 0 ||
		    (made.len == n + 1 && made.s[n] == '_' && strncmp(made.s, key, n) == 0);
	sbuf_free(&made);
	return same;
}

/* Checks that every key of the table is a number or the name of an argument: 0 or -EINVAL with
 * *e. */
static int known_keys(struct given *g, int table, struct err *e)
{
	lua_State *L = g->L;

	for (lua_pushnil(L); lua_next(L, table) != 0; lua_pop(L, 1)) {
		bool known = lua_type(L, -2) == LUA_TNUMBER;
		const char *key = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : "";
		for (unsigned i = 0; i < g->n && !known; i++)
			known = same_key(spec_name(&g->a[i]), key);
		if (known)
			continue;
		struct sbuf all = {0}, syntax = {0};
		for (unsigned i = 0; i < g->n; i++) {
			/* `rate RATE`: the word and its value have one name */
			if (i > 0 && strcasecmp(spec_name(&g->a[i]), spec_name(&g->a[i - 1])) == 0)
				continue;
			sbuf_add(&all, i > 0 ? ", " : "");
			args_key(spec_name(&g->a[i]), &all);
		}
		cmd_verb_syntax(g->verb, &syntax);
		err_set(e, EINVAL, "%s: there is no argument \"%.60s\"; there are %s; syntax: %s",
			g->verb->name, key, all.len > 0 ? all.s : "none", sbuf_str(&syntax));
		sbuf_free(&all);
		sbuf_free(&syntax);
		return -EINVAL;
	}
	return 0;
}

/* Takes the values of a table. First come the names of arguments. Then come those of literal words:
 * true or false says whether the word is written, any other value is that of the argument after the
 * word. Then the values by position fill what is left. */
static void take_named(struct given *g, int table)
{
	lua_State *L = g->L;
	int next = 1;

	for (unsigned i = 0; i < g->n; i++)
		if (g->a[i].kind != ARG_WORD)
			g->at[i] = named_at(g, table, spec_name(&g->a[i]));
	for (unsigned i = 0; i < g->n; i++) {
		if (g->a[i].kind != ARG_WORD)
			continue;
		bool taken = false;
		for (unsigned k = 0; k < g->n; k++)
			taken |= g->at[k] != 0 && g->a[k].kind != ARG_WORD &&
				 same_key(g->a[i].name, "") == false &&
				 same_key(spec_name(&g->a[k]), g->a[i].name);
		int at = taken ? 0 : named_at(g, table, g->a[i].name);
		bool behind = i + 1 < g->n && g->a[i + 1].kind != ARG_WORD && g->at[i + 1] == 0;
		if (at == 0)
			continue;
		if (lua_isboolean(L, at) && (!behind || !lua_toboolean(L, at)))
			g->word[i] = lua_toboolean(L, at);
		else if (behind)
			g->at[i + 1] = at;
		else
			g->word[i] = true;
	}
	for (unsigned i = 0; i < g->n; i++) {
		if (g->a[i].kind == ARG_WORD || g->at[i] != 0)
			continue;
		lua_rawgeti(L, table, next);
		if (lua_isnil(L, -1)) {
			lua_pop(L, 1);
			break;
		}
		g->at[i] = lua_gettop(L);
		next++;
	}
}

static int by_name(struct given *g, int table, struct sbuf *line, struct err *e)
{
	int rc = known_keys(g, table, e), setting = 0;

	if (rc != 0)
		return rc;
	take_named(g, table);
	sbuf_add(line, g->verb->name);
	for (unsigned i = 0; i < g->n && rc == 0; i++) {
		const struct arg_spec *a = &g->a[i];
		if (a->kind != ARG_WORD) {
			if (a->kind == ARG_SETTING)
				setting = g->at[i];
			if (g->at[i] != 0)
				rc = put_one(g, a, value_spec(g, i, setting), g->at[i], line, e);
			continue;
		}
		bool given = g->word[i];
		for (unsigned k = i + 1; k < verb_group_end(g->a, i); k++)
			given |= g->at[k] != 0;
		/* A word that is not optional is written if any argument after it is given. */
		for (unsigned k = i + 1; k < g->n && !(a->flags & ARG_OPT); k++)
			given |= g->at[k] != 0;
		if (given)
			sbuf_addf(line, "%s%s", line->len > 0 ? " " : "", a->name);
	}
	return rc;
}

static bool is_named(lua_State *L, int idx)
{
	bool named = false;

	if (lua_type(L, idx) != LUA_TTABLE)
		return false;
	for (lua_pushnil(L); lua_next(L, idx) != 0; lua_pop(L, 1))
		named |= lua_type(L, -2) == LUA_TSTRING;
	return named;
}

int args_line(lua_State *L, struct cmd *cmd, const struct verb *v, int first, int n,
	      struct sbuf *line, struct err *e)
{
	struct given g = {.L = L,
			  .cmd = cmd,
			  .verb = v,
			  .a = v->args,
			  .n = verb_nargs(v),
			  .first = first,
			  .count = n};

	e->col = -1;
	while (g.count > 0 && lua_isnil(L, first + g.count - 1))
		g.count--;
	if (g.count > (int)ARRAY_SIZE(g.spec))
		return err_set(e, EINVAL, "%s: these are too many arguments", v->name);
	luaL_checkstack(L, CMD_MAX_ARGS + 8, "too many arguments");
	if (g.count == 1 && is_named(L, first))
		return by_name(&g, first, line, e);
	return args_positional(&g, line, e);
}
