/* SPDX-License-Identifier: BSD-3-Clause */
/* Texts about the program that need no port and no EAL: help, version, tables, manual page,
 * schema. */
#pragma once
#include "args.h"
#include "cmd.h"

/* Appends the text that `what` asks for to out. cmd holds the tables of the command language, which
 * ARGS_DUMP, ARGS_MAN, ARGS_LUA and ARGS_LUA_MANUAL need; for other texts it may be NULL. */
void about_text(enum args_what what, struct cmd *cmd, struct sbuf *out);
