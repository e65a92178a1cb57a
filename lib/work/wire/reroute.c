/* SPDX-License-Identifier: BSD-3-Clause */
/* Kind "reroute": the worker of an Rx queue takes its frames from another device. */
#include "dut.h"

static size_t reroute_mem(void)
{
	return sizeof(struct dp_state);
}

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

static bool reroute_drained(const struct dp_task *t)
{
	(void)t;
	return true;
}

const struct dp_kind dp_kind_reroute = {
	.name = "reroute", .mem = reroute_mem, .adopt = reroute_adopt, .drained = reroute_drained, .drop = reroute_drop,
};
