/* SPDX-License-Identifier: BSD-3-Clause */
#include "verbs.h"

static int clr_run(struct cmd_run *r, const struct arg_val *args, struct err *e)
{
	struct portset ports;

	(void)args;
	(void)e;
	app_all_ports(app_of(r), &ports);
	ctl_clear(app_of(r)->ctl, &ports);
	return 0;
}

static const struct arg_spec none[] = {{ARG_END}};

const struct verb verb_clr = {.name = "clr",
			      .args = none,
			      .run = clr_run,
			      .flags = VERB_NO_LOAD,
			      .help = "Short for `clear all`."};
