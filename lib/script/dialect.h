/* SPDX-License-Identifier: BSD-3-Clause */
/* Operators of Lua 5.3 that LuaJIT does not have: found in a text that did not compile, so that the error says what to write. */
#pragma once
#include <lua.h>
#include <stdbool.h>
#include <stddef.h>

struct dialect {
	const char *op, *instead; /* "//", "math.floor(a / b)" */
	unsigned line, col;       /* from 1, bytes */
};
/* The first such operator outside of strings and comments, in a text of any bytes. False: there is none. */
bool dialect_find(const char *text, size_t len, struct dialect *out);

/* The message of a failed load is on top of the stack: where such an operator stands at or before the line that it names, a message about that
 * one takes its place. */
void dialect_explain(lua_State *L, const char *text, size_t len);
