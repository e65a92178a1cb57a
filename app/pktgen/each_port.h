/* SPDX-License-Identifier: BSD-3-Clause */
/* A verb that stands for one command of each port, like `ping4 0-1` for two commands `ping`. They
 * are run at the same time, and what they print comes in the order of the ports. */
#pragma once
#include "cmd/verbs.h"

/* Appends the command of a port, or refuses it: -errno with *e. */
typedef int each_port_fn(struct cmd_run *r, unsigned port, struct sbuf *line, struct err *e);

/* Begins the commands of these ports; a verb's run() ends with it, and has the others as its
 * poll(), cancel() and progress(). Before anything is sent all ports are asked for their commands,
 * and all commands are begun: if one is refused, none is run. An error later on does not end the
 * others. The exit code is the highest of them. */
int each_port_begin(struct cmd_run *r, const struct portset *ports, each_port_fn *fn,
		    struct err *e);
int each_port_poll(struct cmd_run *r, struct err *e);
void each_port_cancel(struct cmd_run *r);
bool each_port_progress(const struct cmd_run *r, struct cmd_progress *out);
