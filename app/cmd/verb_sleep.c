/* SPDX-License-Identifier: BSD-3-Clause */
/* sleep: lets time pass. `delay` uses its functions too. */
#include "verbs.h"

#include <stdio.h>
#include <time.h>

#define NS_PER_S 1000000000ull

uint64_t verb_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

struct pausing {
	uint64_t begin_ns, ns;
};
_Static_assert(sizeof(struct pausing) <= VERB_STATE_BYTES, "state of a verb");

int pause_start(struct cmd_run *r, uint64_t ns)
{
	*(struct pausing *)r->state = (struct pausing){.begin_ns = verb_now_ns(), .ns = ns};
	return ns == 0 ? VERB_DONE : VERB_PENDING;
}

int pause_poll(struct cmd_run *r, struct err *e)
{
	const struct pausing *p = (const struct pausing *)r->state;

	(void)e;
	return verb_now_ns() - p->begin_ns < p->ns ? VERB_PENDING : VERB_DONE;
}

bool pause_progress(const struct cmd_run *r, struct cmd_progress *out)
{
	const struct pausing *p = (const struct pausing *)r->state;
	struct sbuf text = {0};

	cmd_progress_time(out, verb_now_ns() - p->begin_ns, p->ns);
	cmd_progress_spans(p->ns - out->left_ns, p->ns, &text);
	snprintf(out->text, sizeof(out->text), "%s %s", r->verb->name, text.s);
	sbuf_free(&text);
	return true;
}

static void sleep_cancel(struct cmd_run *r)
{
	(void)r;
}

static int sleep_run(struct cmd_run *r, const struct arg_val *args, struct err *e)
{
	(void)e;
	return pause_start(r, args[0].v.u);
}

static const struct arg_spec args_sleep[] = {{ARG_VALUE, "DURATION", 0, {&vt_seconds}}, {ARG_END}};

const struct verb verb_sleep = {
	.name = "sleep",
	.args = args_sleep,
	.run = sleep_run,
	.flags = VERB_LOOKS | VERB_NO_LOAD,
	.poll = pause_poll,
	.cancel = sleep_cancel,
	.progress = pause_progress,
	.help = "Let time pass before the next command. A bare number is seconds, as in Pktgen.",
};
