/* SPDX-License-Identifier: BSD-3-Clause */
/* quit: ends the program, which stops all ports. */
#include "verbs.h"

static int quit_run(struct cmd_run *r, const struct arg_val *args, struct err *e)
{
	struct app *app = app_of(r);

	(void)args;
	(void)e;
	app->quit = true;
	loop_stop(app->loop);
	return 0;
}

static const struct arg_spec none[] = {{ARG_END}};

const struct verb verb_quit = {
	.name = "quit",
	.alias = "exit",
	.args = none,
	.run = quit_run,
	.flags = VERB_NO_LOAD | VERB_ENDS | VERB_HERE,
	.help = "Stop all ports and leave.",
};
