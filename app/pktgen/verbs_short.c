/* SPDX-License-Identifier: BSD-3-Clause */
/* The verbs str, stp, clr and rst: short for start, stop, clear and reset of all ports. */
#include "cmd/verbs.h"
#include "pktgen.h"

static int str_run(struct cmd_run *r, const struct arg_val *args, struct err *e)
{
	struct portset ports;

	(void)args;
	app_all_ports(app_of(r), &ports);
	return start_ports(r, &ports, 0, e);
}

static int stp_run(struct cmd_run *r, const struct arg_val *args, struct err *e)
{
	struct portset ports;

	(void)args;
	app_all_ports(app_of(r), &ports);
	return stop_ports(r, &ports, e);
}

static int clr_run(struct cmd_run *r, const struct arg_val *args, struct err *e)
{
	struct portset ports;

	(void)args;
	(void)e;
	app_all_ports(app_of(r), &ports);
	ctl_clear(app_of(r)->ctl, &ports);
	return 0;
}

static int rst_run(struct cmd_run *r, const struct arg_val *args, struct err *e)
{
	struct portset ports;

	(void)args;
	app_all_ports(app_of(r), &ports);
	return reset_ports(r, &ports, true, e);
}

static const struct arg_spec none[] = {{ARG_END}};

const struct verb verb_str = {.name = "str",
			      .args = none,
			      .run = str_run,
			      .flags = VERB_NO_LOAD,
			      .poll = start_poll,
			      .cancel = start_cancel,
			      .progress = start_progress,
			      .help = "Short for `start all`."};
const struct verb verb_stp = {.name = "stp",
			      .args = none,
			      .run = stp_run,
			      .flags = VERB_NO_LOAD,
			      .poll = stop_poll,
			      .help = "Short for `stop all`."};
const struct verb verb_clr = {.name = "clr",
			      .args = none,
			      .run = clr_run,
			      .flags = VERB_NO_LOAD,
			      .help = "Short for `clear all`."};
const struct verb verb_rst = {.name = "rst",
			      .args = none,
			      .run = rst_run,
			      .help = "Short for `reset all`."};
