/* SPDX-License-Identifier: BSD-3-Clause */
/* The scopes of rows that a test makes itself. Its host knows them by their addresses. */
#pragma once
#include "cmd.h"

static const struct cmd_scope scope_global = {.level = LEVEL_PROGRAM, .name = "global"},
			      scope_port = {.level = LEVEL_PORT, .name = "port"},
			      scope_stream = {.level = LEVEL_NUMBERED,
					      .name = "stream",
					      .bare = true};
