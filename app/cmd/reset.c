/* SPDX-License-Identifier: BSD-3-Clause */
#include "verbs.h"

#include <errno.h>

int reset_ports(struct cmd_run *r, const struct portset *ports, struct err *e)
{
	struct app *app = app_of(r);

	/* Settings that restart the device are among those that are reset; a list applies to all or to none. */
	for (unsigned p = 0; p < ctl_nports(app->ctl); p++)
		if (portset_has(ports, p) && ctl_sending(app->ctl, p))
			return err_set(e, EBUSY, "port %u is sending; `stop %u` first", p, p);
	for (unsigned p = 0; p < ctl_nports(app->ctl); p++)
		if (portset_has(ports, p))
			ctl_reset(app->ctl, p);
	return 0;
}

static int run(struct cmd_run *r, const struct arg_val *args, struct err *e)
{
	struct portset ports;
	int rc = arg_ports(r, &args[0], &ports, e);

	return rc < 0 ? rc : reset_ports(r, &ports, e);
}

static const struct arg_spec args_reset[] = {{ARG_TARGETS, "ports"}, {ARG_END}};

const struct verb verb_reset = {
	.name = "reset", .args = args_reset, .run = run, .help = "All settings of the ports and their streams back to the defaults.",
};
