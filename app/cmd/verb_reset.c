/* SPDX-License-Identifier: BSD-3-Clause */
/* reset: sets the settings of ports and their streams back to the defaults, and with `all` those of
 * the program too. */
#include "verbs.h"

#include <errno.h>

/* Resets the settings of the program, which belong to no port. */
static int reset_globals(struct cmd_run *r, struct err *e)
{
	int rc = 0;

	for (unsigned i = 0; i < cmd_nsettings(r->cmd) && rc == 0; i++) {
		const struct setting *row = cmd_setting_at(r->cmd, i);
		if (row->scope->level == LEVEL_PROGRAM && !(row->flags & SET_LATER) &&
		    row->resolve == NULL)
			rc = cmd_set(r->cmd, NULL, row, "default", NULL, e);
	}
	return rc;
}

int reset_ports(struct cmd_run *r, const struct portset *ports, bool all, struct err *e)
{
	struct app *app = app_of(r);

	/* Some of these settings restart the device, so no port may send. All ports are checked
	 * first: the command applies to all of them or to none. */
	for (unsigned p = 0; p < ctl_nports(app->ctl); p++)
		if (portset_has(ports, p) && ctl_sending(app->ctl, p))
			return err_set(e, EBUSY, "port %u is sending; `stop %u` first", p, p);
	for (unsigned p = 0; p < ctl_nports(app->ctl); p++)
		if (portset_has(ports, p))
			ctl_reset(app->ctl, p);
	return all ? reset_globals(r, e) : 0;
}

static bool says_all(const struct target *t)
{
	return t->n == 1 && !t->item[0].has_streams && t->item[0].p0 == 0 &&
	       t->item[0].p1 == UINT32_MAX;
}

static int reset_run(struct cmd_run *r, const struct arg_val *args, struct err *e)
{
	struct portset ports;
	int rc = arg_ports(r, &args[0], &ports, e);

	return rc < 0 ? rc : reset_ports(r, &ports, says_all(&args[0].target), e);
}

static const struct arg_spec args_reset[] = {{ARG_TARGETS, "ports"}, {ARG_END}};

const struct verb verb_reset = {
	.name = "reset",
	.args = args_reset,
	.run = reset_run,
	.help = "All settings of the ports and their streams back to the defaults.\n"
		"`reset all` takes the settings of no port with it: those of the screen's pages and of the tester.",
};
