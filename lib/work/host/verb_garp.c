/* SPDX-License-Identifier: BSD-3-Clause */
/* garp: a host tells everybody where its addresses are. */
#include "host_app.h"
#include "host_face.h"

static int garp_run(struct cmd_run *r, const struct arg_val *args, struct err *e)
{
	struct portset ports;
	int rc = arg_ports_or_all(r, &args[0], &ports, e);

	return rc < 0 ? rc : host_announce(app_of(r)->ctl, &ports, e);
}

static const struct arg_spec args_garp[] = {{ARG_TARGETS, "ports", ARG_OPT}, {ARG_END}};

const struct verb verb_garp = {
	.name = "garp",
	.args = args_garp,
	.run = garp_run,
	.flags = VERB_NO_LOAD,
	.help = "Send gratuitous ARP and unsolicited neighbour advertisements for the addresses of ports.\n"
		"Only addresses that are in use are told (`show host`). A port does so by itself when it begins to use one.",
};
