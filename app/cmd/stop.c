/* SPDX-License-Identifier: BSD-3-Clause */
#include "verbs.h"

static int run(struct cmd_run *r, const struct arg_val *args, struct err *e)
{
	struct portset ports;
	int rc = arg_ports(r, &args[0], &ports, e);

	if (rc == 0)
		ctl_stop(app_of(r)->ctl, &ports);
	return rc;
}

static const struct arg_spec args_stop[] = {{ARG_TARGETS, "ports"}, {ARG_END}};

const struct verb verb_stop = {
	.name = "stop", .args = args_stop, .run = run, .help = "Stop sending. Does nothing on a port that is idle.",
};
