/* SPDX-License-Identifier: BSD-3-Clause */
/* The text that `save` writes, for tests that make it without a running program. */
#pragma once
#include "cmd.h"
#include "cfg.h"

/* Appends the commands that make all settings and streams of the host's ports again; the first one
 * is `reset all`. `start` has the settings that a reset gives a port. */
void save_text(struct cmd *cmd, const struct cmd_host *host, struct port_cfg *start,
	       struct sbuf *out);
