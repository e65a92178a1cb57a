/* SPDX-License-Identifier: BSD-3-Clause */
#include "verbs.h"

static int stp_run(struct cmd_run *r, const struct arg_val *args, struct err *e)
{
	struct portset ports;

	(void)args;
	app_all_ports(app_of(r), &ports);
	return stop_ports(r, &ports, e);
}

static const struct arg_spec none[] = {{ARG_END}};

const struct verb verb_stp = {.name = "stp",
			      .args = none,
			      .run = stp_run,
			      .flags = VERB_NO_LOAD,
			      .poll = stop_poll,
			      .help = "Short for `stop all`."};
