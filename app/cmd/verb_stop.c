/* SPDX-License-Identifier: BSD-3-Clause */
/* stop: stops ports, and waits until they are idle. */
#include "clock.h"
#include "verbs.h"

/* Workers take their new plans within milliseconds. The command does not wait longer than this for
 * a worker that does not. */
#define LIMIT_NS 1000000000ull

struct stopping {
	struct portset ports;
	struct clock_wait wait;
};
_Static_assert(sizeof(struct stopping) <= VERB_STATE_BYTES, "state of a verb");

/* Ends the command when the ports do not send any more, so that the next one finds them idle. */
int stop_poll(struct cmd_run *r, struct err *e)
{
	struct stopping *s = (struct stopping *)r->state;
	const struct ctl *ctl = app_of(r)->ctl;
	bool patient = clock_waited(&s->wait, verb_now_ns()) < LIMIT_NS;

	(void)e;
	for (unsigned p = 0; p < ctl_nports(ctl); p++)
		if (portset_has(&s->ports, p) && ctl_sending(ctl, p) && patient)
			return VERB_PENDING;
	return VERB_DONE;
}

int stop_ports(struct cmd_run *r, const struct portset *ports, struct err *e)
{
	struct stopping *s = (struct stopping *)r->state;

	s->ports = *ports;
	s->wait = (struct clock_wait){0};
	ctl_stop(app_of(r)->ctl, ports);
	return stop_poll(r, e);
}

static const struct arg_spec args_stop[] = {{ARG_TARGETS, "ports", ARG_OPT},
					    {ARG_WORD, "latsampler", ARG_OPT},
					    {ARG_END}};

static int stop_run(struct cmd_run *r, const struct arg_val *args, struct err *e)
{
	struct portset ports;
	int rc = arg_ports_or_all(r, &args[0], &ports, e);

	if (rc < 0)
		return rc;
	return args[1].given ? verb_turn(r, args_stop[1].name, &ports, false, e)
			     : stop_ports(r, &ports, e);
}

const struct verb verb_stop = {
	.name = "stop",
	.args = args_stop,
	.run = stop_run,
	.flags = VERB_NO_LOAD,
	.poll = stop_poll,
	.help = "Stop sending, on all ports where none is named. Does nothing on a port that is idle.\n"
		"latsampler stops the sampler instead, and writes its file: a line `Latency`, then a latency in ns on each.",
};
