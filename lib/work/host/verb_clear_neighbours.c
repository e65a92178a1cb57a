/* SPDX-License-Identifier: BSD-3-Clause */
/* clear neighbours: a host forgets where others are. */
#include "host_app.h"
#include "host_face.h"

static int clear_neighbours_run(struct cmd_run *r, const struct arg_val *args, struct err *e)
{
	struct portset ports;
	int rc = arg_ports_or_all(r, &args[0], &ports, e);

	if (rc == 0)
		host_forget(app_of(r)->ctl, &ports);
	return rc;
}

static const struct arg_spec args_clear_neighbours[] = {{ARG_TARGETS, "ports", ARG_OPT}, {ARG_END}};

const struct verb verb_clear_neighbours = {
	.name = "clear neighbours",
	.args = args_clear_neighbours,
	.run = clear_neighbours_run,
	.flags = VERB_NO_LOAD,
	.help = "Forget the neighbours of ports, or of all ports; those of `host.neighbours` stay.\n"
		"Gateways are asked for at once.",
};
