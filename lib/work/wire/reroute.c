/* SPDX-License-Identifier: BSD-3-Clause */
/* Kind "reroute": the worker of an Rx queue takes its frames from another device. */
#include "dut.h"

static void reroute_adopt(struct dp_worker *w, const struct dp_task *t, const void *old, uint64_t now)
{
	const struct reroute_job *j = t->job;

	(void)w, (void)old, (void)now;
	j->q->dev = j->dev;
}

static void reroute_drop(struct dp_worker *w, const struct dp_task *t, uint64_t now)
{
	const struct reroute_job *j = t->job;

	(void)w, (void)now;
	j->q->dev = j->home;
}

const struct dp_kind dp_kind_reroute = {
	.name = "reroute", .adopt = reroute_adopt, .drop = reroute_drop,
};
