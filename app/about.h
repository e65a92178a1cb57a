/* SPDX-License-Identifier: BSD-3-Clause */
/* Texts about the program that need no port and no EAL: help, version, tables, manual page, schema. */
#pragma once
#include "args.h"
#include "cmd.h"

/* cmd: the tables, for those that are about the command language (ARGS_DUMP, ARGS_MAN, ARGS_LUA, ARGS_LUA_MANUAL). */
void about_text(enum args_what what, struct cmd *cmd, struct sbuf *out);
