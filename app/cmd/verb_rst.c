/* SPDX-License-Identifier: BSD-3-Clause */
#include "verbs.h"

static int rst_run(struct cmd_run *r, const struct arg_val *args, struct err *e)
{
	struct portset ports;

	(void)args;
	app_all_ports(app_of(r), &ports);
	return reset_ports(r, &ports, true, e);
}

static const struct arg_spec none[] = {{ARG_END}};

const struct verb verb_rst = {.name = "rst",
			      .args = none,
			      .run = rst_run,
			      .help = "Short for `reset all`."};
