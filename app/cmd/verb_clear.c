/* SPDX-License-Identifier: BSD-3-Clause */
/* clear: lets the counters of ports count from 0 again. */
#include "verbs.h"

static int clear_run(struct cmd_run *r, const struct arg_val *args, struct err *e)
{
	struct portset ports;
	int rc = arg_ports_or_all(r, &args[0], &ports, e);

	if (rc == 0)
		ctl_clear(app_of(r)->ctl, &ports);
	return rc;
}

static const struct arg_spec args_clear[] = {{ARG_TARGETS, "ports", ARG_OPT},
					     {ARG_WORD, "stats", ARG_OPT},
					     {ARG_END}};

const struct verb verb_clear = {
	.name = "clear",
	.args = args_clear,
	.run = clear_run,
	.flags = VERB_NO_LOAD,
	.help = "Counters of the ports, or of all ports, count from 0 again.\n"
		"Nothing stops, no setting changes; the device's own (`show xstats`) go on.",
};
