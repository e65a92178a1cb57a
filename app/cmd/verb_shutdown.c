/* SPDX-License-Identifier: BSD-3-Clause */
/* shutdown: lets a client end a program that serves. A client's `quit` only ends the client. */
#include "verbs.h"

#include <errno.h>

static int shutdown_run(struct cmd_run *r, const struct arg_val *args, struct err *e)
{
	struct app *app = app_of(r);

	(void)args;
	if (!app->serves)
		return err_at(
			e, EPERM, 0,
			"this program has somebody who runs it: `quit` there ends it; shutdown is for one that was started with "
			"--daemon or --serve");
	app->quit = true;
	loop_stop(app->loop);
	return 0;
}

static const struct arg_spec none[] = {{ARG_END}};

const struct verb verb_shutdown = {
	.name = "shutdown",
	.args = none,
	.run = shutdown_run,
	.flags = VERB_NO_LOAD | VERB_ENDS,
	.help = "End a program that was started with --daemon or --serve: ports stop, clients are told.\n"
		"From `wirerate attach`, where `quit` only detaches.",
};
