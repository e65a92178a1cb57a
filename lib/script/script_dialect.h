/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds operators of Lua 5.3 that LuaJIT does not have in a text that did not compile, so that the
 * error can say what to write instead. */
#pragma once
#include <lua.h>
#include <stdbool.h>
#include <stddef.h>

/* To be called when a load has failed and its message is on top of the stack. If the message is
 * about such an operator, at or before the line that it names, one that explains the operator takes
 * its place. */
void dialect_explain(lua_State *L, const char *text, size_t len);
