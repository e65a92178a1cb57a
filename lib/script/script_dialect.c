/* SPDX-License-Identifier: BSD-3-Clause */
/* A small lexer of Lua: passes over strings, comments, numbers and names until it finds an operator
 * that LuaJIT does not have. */
#include "script_dialect.h"

#include <stdlib.h>
#include <string.h>

struct dialect {
	const char *op, *instead; /* "//", "math.floor(a / b)" */
	unsigned line, col;       /* from 1, bytes */
};

struct lexer {
	const char *text;
	size_t len, at, bol; /* bol: where the line begins */
	unsigned line;
	bool value; /* what was read last ends a value, so an operator that follows takes two */
};

static int dialect_peek(const struct lexer *l, size_t ahead)
{
	return l->at + ahead < l->len ? (unsigned char)l->text[l->at + ahead] : -1;
}

static void dialect_step(struct lexer *l)
{
	if (l->text[l->at++] == '\n') {
		l->line++;
		l->bol = l->at;
	}
}

static void dialect_steps(struct lexer *l, size_t n)
{
	while (n-- > 0 && l->at < l->len)
		dialect_step(l);
}

static bool is_name(int c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c >= 0x80;
}

static bool is_digit(int c)
{
	return c >= '0' && c <= '9';
}

/* Returns the level of the long bracket that begins here, at '[': the number of '=' in it. -1: no
 * long bracket begins here. */
static int long_bracket(const struct lexer *l)
{
	size_t n = 1;

	while (dialect_peek(l, n) == '=')
		n++;
	return dialect_peek(l, n) == '[' ? (int)n - 1 : -1;
}

static void skip_long(struct lexer *l, int level)
{
	dialect_steps(l, (size_t)level + 2);
	for (; l->at < l->len; dialect_step(l)) {
		size_t n = 1;
		if (dialect_peek(l, 0) != ']')
			continue;
		while (dialect_peek(l, n) == '=')
			n++;
		if ((int)n - 1 == level && dialect_peek(l, n) == ']') {
			dialect_steps(l, n + 1);
			return;
		}
	}
}

static void skip_comment(struct lexer *l)
{
	dialect_steps(l, 2);
	int level = dialect_peek(l, 0) == '[' ? long_bracket(l) : -1;
	if (level >= 0) {
		skip_long(l, level);
		return;
	}
	while (l->at < l->len && dialect_peek(l, 0) != '\n')
		dialect_step(l);
}

/* Passes over a string. The end of a line ends it too, except after \z: such a text does not
 * compile for another reason, and the next line is read as usual. */
static void skip_string(struct lexer *l)
{
	int quote = dialect_peek(l, 0);

	for (dialect_step(l);
	     l->at < l->len && dialect_peek(l, 0) != quote && dialect_peek(l, 0) != '\n';
	     dialect_step(l)) {
		if (dialect_peek(l, 0) != '\\')
			continue;
		dialect_step(l);
		if (dialect_peek(l, 0) != 'z')
			continue;
		while (dialect_peek(l, 1) != -1 &&
		       strchr(" \t\r\n\v\f", dialect_peek(l, 1)) != NULL)
			dialect_step(l);
	}
	if (dialect_peek(l, 0) == quote)
		dialect_step(l);
}

/* Passes over a number with all letters, points and signs of exponents in it. */
static void skip_number(struct lexer *l)
{
	bool hex = dialect_peek(l, 0) == '0' && (dialect_peek(l, 1) | 32) == 'x';

	for (dialect_step(l); is_name(dialect_peek(l, 0)) || dialect_peek(l, 0) == '.';
	     dialect_step(l)) {
		int c = dialect_peek(l, 0) | 32;
		if (c == (hex ? 'p' : 'e') &&
		    (dialect_peek(l, 1) == '+' || dialect_peek(l, 1) == '-'))
			dialect_step(l);
	}
}

static void read_name(struct lexer *l)
{
	static const char *const others[] = {"and",   "break",    "do",   "else",   "elseif",
					     "for",   "function", "goto", "if",     "in",
					     "local", "not",      "or",   "repeat", "return",
					     "then",  "until",    "while"};
	size_t from = l->at;

	while (is_name(dialect_peek(l, 0)))
		dialect_step(l);
	l->value = true;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (strlen(others[i]) == l->at - from &&
		    memcmp(others[i], l->text + from, l->at - from) == 0)
			l->value = false;
}

/* Returns the operator of Lua 5.3 that stands here, and in *instead what to write; NULL: none. */
static const char *dialect_foreign(const struct lexer *l, const char **instead)
{
	static const struct {
		const char op[3], *instead;
	} ops[] = {
		{"//", "math.floor(a / b)"}, {"<<", "bit.lshift(a, n)"}, {">>", "bit.rshift(a, n)"},
		{"&", "bit.band(a, b)"},     {"|", "bit.bor(a, b)"},     {"~", "bit.bxor(a, b)"},
	};

	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		if (dialect_peek(l, 0) != ops[i].op[0] ||
		    (ops[i].op[1] != '\0' && dialect_peek(l, 1) != ops[i].op[1]))
			continue;
		*instead = ops[i].op[0] == '~' && !l->value ? "bit.bnot(a)" : ops[i].instead;
		return ops[i].op;
	}
	return NULL;
}

static void skip_mark(struct lexer *l)
{
	static const char *const two[] = {"~=", "==", "<=", ">=", "::", "..", NULL};
	int c = dialect_peek(l, 0);

	for (size_t i = 0; two[i] != NULL; i++) {
		if (c == two[i][0] && dialect_peek(l, 1) == two[i][1]) {
			bool dots = strcmp(two[i], "..") == 0 && dialect_peek(l, 2) == '.';
			dialect_steps(l, dots ? 3 : 2);
			l->value = dots; /* "..." is a value, ".." joins two */
			return;
		}
	}
	l->value = c == ')' || c == ']' || c == '}';
	dialect_step(l);
}

/* Finds the first such operator outside of strings and comments. The text may have any bytes.
 * false: there is none. */
static bool dialect_find(const char *text, size_t len, struct dialect *out)
{
	struct lexer l = {.text = text, .len = len, .line = 1};

	if (dialect_peek(&l, 0) == '#')
		while (l.at < len && dialect_peek(&l, 0) != '\n')
			dialect_step(&l);
	while (l.at < len) {
		int c = dialect_peek(&l, 0), level = c == '[' ? long_bracket(&l) : -1;
		const char *instead, *op;
		if (strchr(" \t\r\n\v\f", c) != NULL && c != '\0') {
			dialect_step(&l);
		} else if (c == '-' && dialect_peek(&l, 1) == '-') {
			skip_comment(&l);
		} else if (level >= 0) {
			skip_long(&l, level);
			l.value = true;
		} else if (c == '"' || c == '\'') {
			skip_string(&l);
			l.value = true;
		} else if (is_digit(c) || (c == '.' && is_digit(dialect_peek(&l, 1)))) {
			skip_number(&l);
			l.value = true;
		} else if (is_name(c)) {
			read_name(&l);
		} else if (!(c == '~' && dialect_peek(&l, 1) == '=') &&
			   (op = dialect_foreign(&l, &instead)) != NULL) {
			*out = (struct dialect){op, instead, l.line, (unsigned)(l.at - l.bol) + 1};
			return true;
		} else {
			skip_mark(&l);
		}
	}
	return false;
}

/* Says whether a message of the compiler is about the operator that begins with c: such a message
 * names the character at its end. A message about something before the operator names that. */
static bool dialect_near(const char *message, char c)
{
	const char tail[] = {' ', '\'', c, '\'', '\0'};
	size_t n = strlen(message);

	return n >= 4 && strcmp(message + n - 4, tail) == 0;
}

/* Finds ":LINE: " in a message and sets *line; NULL: it names no line. */
static const char *line_in(const char *message, unsigned *line)
{
	for (const char *p = strchr(message, ':'); p != NULL; p = strchr(p + 1, ':')) {
		char *end;
		if (!is_digit((unsigned char)p[1]))
			continue;
		unsigned long n = strtoul(p + 1, &end, 10);
		if (end[0] == ':' && end[1] == ' ') {
			*line = n > 0xffffffff ? 0xffffffff : (unsigned)n;
			return p;
		}
	}
	return NULL;
}

void dialect_explain(lua_State *L, const char *text, size_t len)
{
	const char *message = lua_tostring(L, -1), *at;
	struct dialect d;
	unsigned line;

	if (message == NULL || (at = line_in(message, &line)) == NULL ||
	    !dialect_find(text, len, &d))
		return;
	if (d.line > line || !dialect_near(message, d.op[0]))
		return;
	lua_pushlstring(L, message, (size_t)(at - message));
	lua_pushfstring(
		L,
		":%d:%d: '%s' is an operator of Lua 5.3, and this is LuaJIT, which has Lua 5.1's; write %s",
		(int)d.line, (int)d.col, d.op, d.instead);
	lua_concat(L, 2);
	lua_remove(L, -2);
}
