/* SPDX-License-Identifier: BSD-3-Clause */
/* What `save` writes, for those who look at it without a program around. */
#pragma once
#include "cmd.h"
#include "cfg.h"

/* All settings and streams of the host's ports as commands that make them, `reset all` first. start: what a reset gives a port. */
void save_text(struct cmd *cmd, const struct cmd_host *host, struct port_cfg *start, struct sbuf *out);
