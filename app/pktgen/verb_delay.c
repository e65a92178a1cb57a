/* SPDX-License-Identifier: BSD-3-Clause */
/* delay: Pktgen's pause in milliseconds. It does what `sleep` does. */
#include "cmd/verbs.h"
#include "pktgen.h"

#define NS_PER_MS 1000000ull

static int delay_run(struct cmd_run *r, const struct arg_val *args, struct err *e)
{
	(void)e;
	return pause_start(r, args[0].v.u * NS_PER_MS);
}

static void delay_cancel(struct cmd_run *r)
{
	(void)r;
}

/* A pause is at most a day. A larger number is taken for a typing error. */
static const struct arg_spec args_delay[] = {
	{ARG_VALUE, "MILLISECONDS", 0, {&vt_uint, 0, 86400000}}, {ARG_END}};

const struct verb verb_delay = {
	.name = "delay",
	.args = args_delay,
	.run = delay_run,
	.flags = VERB_LOOKS | VERB_NO_LOAD,
	.poll = pause_poll,
	.cancel = delay_cancel,
	.progress = pause_progress,
	.help = "Pktgen's pause in milliseconds; `sleep 100ms` is the same.",
};
