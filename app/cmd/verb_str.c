/* SPDX-License-Identifier: BSD-3-Clause */
#include "verbs.h"

static int str_run(struct cmd_run *r, const struct arg_val *args, struct err *e)
{
	struct portset ports;

	(void)args;
	app_all_ports(app_of(r), &ports);
	return start_ports(r, &ports, 0, e);
}

static const struct arg_spec none[] = {{ARG_END}};

const struct verb verb_str = {.name = "str",
			      .args = none,
			      .run = str_run,
			      .flags = VERB_NO_LOAD,
			      .help = "Short for `start all`."};
