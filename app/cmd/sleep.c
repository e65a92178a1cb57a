/* SPDX-License-Identifier: BSD-3-Clause */
#include "verbs.h"

#include <string.h>
#include <time.h>

#define NS_PER_S 1000000000ull

uint64_t verb_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

int pause_start(struct cmd_run *r, uint64_t ns)
{
	uint64_t until = verb_now_ns() + ns;

	memcpy(r->state, &until, sizeof(until));
	return ns == 0 ? VERB_DONE : VERB_PENDING;
}

int pause_poll(struct cmd_run *r, struct err *e)
{
	uint64_t until;

	(void)e;
	memcpy(&until, r->state, sizeof(until));
	return verb_now_ns() < until ? VERB_PENDING : VERB_DONE;
}

static void cancel(struct cmd_run *r)
{
	(void)r;
}

static int run(struct cmd_run *r, const struct arg_val *args, struct err *e)
{
	(void)e;
	return pause_start(r, args[0].v.u);
}

static const struct arg_spec args_sleep[] = {{ARG_VALUE, "DURATION", 0, {&vt_seconds}}, {ARG_END}};

const struct verb verb_sleep = {
	.name = "sleep", .args = args_sleep, .run = run, .flags = VERB_LOOKS | VERB_NO_LOAD, .poll = pause_poll, .cancel = cancel,
	.help = "Let time pass before the next command. A bare number is seconds, as in Pktgen.",
};
