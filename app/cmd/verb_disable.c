/* SPDX-License-Identifier: BSD-3-Clause */
#include "verbs.h"

static int disable_run(struct cmd_run *r, const struct arg_val *args, struct err *e)
{
	return feature_set(r, args, false, e);
}

const struct verb verb_disable = {
	.name = "disable",
	.args = feature_args,
	.run = disable_run,
	.help = "Turn a feature of ports off, in Pktgen's words; `help enable` tells more.",
};
