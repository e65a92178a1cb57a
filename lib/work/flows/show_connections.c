/* SPDX-License-Identifier: BSD-3-Clause */
/* The verb show connections: some of the connections that a port has now. Workers are asked for
 * them, and answer within a moment. */
#include <errno.h>
#include <stdio.h>

#include "flows_app.h"
#include "flows_face.h"

#define CONNECTIONS_USUAL 20
#define CONNECTIONS_WAIT_NS 2000000000ull

static const struct out_col connection_cols[] = {
	{"stream", "stream", OF_COUNT},
	{"queue", "queue", OF_COUNT},
	{"src", "src", OF_STR},
	{"sport", "sport", OF_STR},
	{"dst", "dst", OF_STR},
	{"dport", "dport", OF_STR},
	{"state", "state", OF_STR},
	{"age_ns", "age", OF_NS},
	{"rtt_ns", "rtt", OF_NS},
	{"rto_ns", "rto", OF_NS},
	{"cwnd", "cwnd", OF_COUNT},
	{"ssthresh", "ssthresh", OF_COUNT},
	{"unacked", "unacked", OF_COUNT},
	{"unsent", "unsent", OF_COUNT},
	{"peer_window", "window", OF_COUNT},
	{"mss", "mss", OF_COUNT},
	{"retries", "retries", OF_COUNT},
};
static const struct out_view connection_view = {.rows = "connections",
						.cols = connection_cols,
						.ncols = ARRAY_SIZE(connection_cols)};

struct asking {
	unsigned port;
	uint64_t begin_ns;
};
_Static_assert(sizeof(struct asking) <= VERB_STATE_BYTES, "state of a verb");

static int connections_poll(struct cmd_run *r, struct err *e)
{
	const struct asking *x = (const struct asking *)r->state;
	struct ctl *ctl = app_of(r)->ctl;

	if (!flows_answered(ctl, x->port)) {
		if (verb_now_ns() - x->begin_ns < CONNECTIONS_WAIT_NS)
			return VERB_PENDING;
		return err_set(
			e, ETIMEDOUT,
			"port %u: a worker has not answered for 2 s; `show plan` says which it is",
			x->port);
	}
	json_t *doc = flows_connections_json(ctl, x->port);
	if (r->out_mode == OUT_TEXT && json_array_size(json_object_get(doc, "connections")) == 0) {
		sbuf_addf(r->out, "port %u has no connections now\n", x->port);
		cmd_result(r, doc);
		json_decref(doc);
		return 0;
	}
	return show_out(r, doc, &connection_view);
}

enum { CONNECTIONS_PORT, CONNECTIONS_N };

static int connections_run(struct cmd_run *r, const struct arg_val *args, struct err *e)
{
	struct asking *x = (struct asking *)r->state;
	unsigned n = args[CONNECTIONS_N].given ? (unsigned)args[CONNECTIONS_N].v.u
					       : CONNECTIONS_USUAL,
		 ports = 0;
	struct portset set;
	int rc = arg_ports(r, &args[CONNECTIONS_PORT], &set, e);

	if (rc < 0)
		return rc;
	for (unsigned p = 0; p < ctl_nports(app_of(r)->ctl); p++) {
		if (!portset_has(&set, p))
			continue;
		x->port = p;
		ports++;
	}
	if (ports != 1)
		return err_at(e, EINVAL, args[CONNECTIONS_PORT].col,
			      "connections of one port are shown at a time; name one");
	rc = flows_ask(app_of(r)->ctl, x->port, n, e);
	if (rc < 0) {
		e->col = args[CONNECTIONS_PORT].col;
		return rc;
	}
	x->begin_ns = verb_now_ns();
	return connections_poll(r, e);
}

/* Nothing is printed; what workers answer later is passed over. */
static void connections_cancel(struct cmd_run *r)
{
	(void)r;
}

static bool connections_progress(const struct cmd_run *r, struct cmd_progress *out)
{
	const struct asking *x = (const struct asking *)r->state;

	snprintf(out->text, sizeof(out->text), "asking the workers of port %u", x->port);
	cmd_progress_time(out, verb_now_ns() - x->begin_ns, CONNECTIONS_WAIT_NS);
	return true;
}

static const struct arg_spec args_connections[] = {
	[CONNECTIONS_PORT] = {ARG_TARGETS, "port"},
	[CONNECTIONS_N] = {ARG_VALUE, "N", ARG_OPT, {&vt_uint, 1, FLOWS_SAMPLES_MOST}},
	{ARG_END},
};

const struct verb verb_show_connections = {
	.name = "show connections",
	.args = args_connections,
	.run = connections_run,
	.poll = connections_poll,
	.cancel = connections_cancel,
	.progress = connections_progress,
	.flags = VERB_LOOKS | VERB_NO_LOAD,
	.help = "Some connections of a port as they are now: 20, or so many as N says.\n"
		"src and sport are the port's own end. rtt is the smoothed round trip time, rto the time after which a segment is\n"
		"sent again, cwnd the congestion window, unsent what the workload still has to send.",
};
